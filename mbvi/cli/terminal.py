"""What commands show: their reports, errors in one line, and where a file was written; and their exit codes.

Exit codes: 0; 2 for what the user can correct (a ModelError, wrong options); 3 for a step that failed, or an ensemble of which no
member is done; 130 for Ctrl-C.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mbvi.cli.progress import begin_progress, end_progress
from mbvi.errors import ModelError, StepError

if TYPE_CHECKING:
    from mbvi.results.trajectory import Trajectory

WRONG, FAILED, INTERRUPTED = 2, 3, 130


def states_written(trajectory: Trajectory, path: Path) -> str:
    """How many states were written, and where."""
    return rows_written(len(trajectory), "state", path)


def rows_written(number: int, row: str, path: Path) -> str:
    """How many rows of what were written, and where."""
    from mbvi.text import count, file_size

    return f"{count(number, row)} written to {path} ({file_size(path.stat().st_size)})"


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Show a command's progress; end it with a line on stderr and an exit code where an error is raised inside."""
    begin_progress()
    try:
        yield
    except ModelError as error:
        complain(str(error))
        raise typer.Exit(WRONG) from None
    except KeyboardInterrupt as error:
        complain(f"interrupted; {error}" if str(error) else "interrupted; nothing was written")
        raise typer.Exit(INTERRUPTED) from None
    finally:
        end_progress()


def say(text: object) -> None:
    """Write what a command has found to stdout."""
    end_progress()
    typer.echo(text)


def complain(message: str) -> None:
    """Write a line to stderr."""
    end_progress()
    typer.echo(message, err=True)


@contextmanager
def failed_run() -> Iterator[None]:
    """Report a step that failed in a run of which no states are kept."""
    try:
        yield
    except StepError as error:
        complain(error.reason)
        raise typer.Exit(FAILED) from None
