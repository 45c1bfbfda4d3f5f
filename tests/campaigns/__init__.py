"""Campaigns: thousands of random cases, each a command of its own, of which a small sample is part of the tests."""
