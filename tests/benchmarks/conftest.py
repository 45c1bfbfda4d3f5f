"""Peers that may be missing are not looked through for doctests."""

collect_ignore_glob = ["peers/*.py"]
