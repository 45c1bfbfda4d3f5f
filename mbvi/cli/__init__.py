"""The command line: the application, and a file for each of its commands in `mbvi.cli.commands`.

Each command is a call of the API, and perhaps one of a report.
"""

from importlib import import_module
from pkgutil import iter_modules

from mbvi.cli import commands
from mbvi.cli.application import app, main

__all__ = ["app", "main"]

for _module in iter_modules(commands.__path__):
    import_module(f"{commands.__name__}.{_module.name}")
