"""What the recomputations of papers share: tables and figures as data, and their report."""
