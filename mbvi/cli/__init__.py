"""The command line: the application, and a file for each of its commands in `mbvi.cli.commands`.

Each command is a call of the API, and perhaps one of a report.
"""

from mbvi.cli.application import app, main

__all__ = ["app", "main"]
