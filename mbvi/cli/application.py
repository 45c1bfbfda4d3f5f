"""The application: its name, its options, and what happens to what no command handles."""

from __future__ import annotations

import gc
import os
import sys
import warnings
from contextlib import suppress
from importlib import import_module
from pkgutil import iter_modules
from typing import Annotated

import typer

import mbvi
from mbvi.cli import commands
from mbvi.cli.terminal import INTERRUPTED, WRONG, complain
from mbvi.errors import said_by_system

app = typer.Typer(
    help="Structure-preserving dynamics of multibody systems: variational integrators from a model file.",
    epilog="Start with: mbvi run models/lagrange_top.yaml",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _add_commands() -> None:
    """Add what every file of `commands` has under its own name."""
    for module in iter_modules(commands.__path__):
        command = getattr(import_module(f"{commands.__name__}.{module.name}"), module.name)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=module.name)
        else:
            app.command(module.name)(command)


_add_commands()


def main() -> None:
    """Run the command line."""
    warnings.formatwarning = lambda message, *_, **__: f"{message}\n"  # not where in the package it arose
    gc.set_threshold(100_000)  # modules stay: to search them for garbage while they load takes a tenth of a second
    try:
        app(prog_name="mbvi")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except OSError as error:  # mostly of standard output, which has no name, since files have messages of their own
        where = (
            f"{error.filename}: expected a file"
            if error.filename
            else "standard output: expected a file that can be written"
        )
        with suppress(OSError):
            complain(f"{where}, found {said_by_system(error)}")
        for stream in filter(None, (sys.stdout, sys.stderr)):  # else the interpreter tries again to write what is left
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        sys.exit(WRONG)


def _show_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"mbvi {mbvi.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass
