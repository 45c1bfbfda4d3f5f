"""What commands show besides their reports: errors in one line, progress, and where a file was written; and their exit codes.

Exit codes: 0; 2 for what the user can correct (a ModelError, wrong options); 3 for a step that failed, or an ensemble of which no
member is done; 130 for Ctrl-C.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

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
    """End the command with a line on stderr and an exit code where an error is raised inside."""
    try:
        yield
    except ModelError as error:
        complain(str(error))
        raise typer.Exit(WRONG) from None
    except KeyboardInterrupt as error:
        complain(f"interrupted; {error}" if str(error) else "interrupted; nothing was written")
        raise typer.Exit(INTERRUPTED) from None


def complain(message: str) -> None:
    """Write a line to stderr."""
    typer.echo(message, err=True)


@contextmanager
def progress_bar(name: str, unit: str = "steps") -> Iterator[Callable[[int, int], Any] | None]:
    """A progress bar on stderr, if that is a terminal; a function of steps done and steps, or another unit, that moves it."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    from mbvi.kernels.compiler.compiling import COMPILING, told_otherwise

    class Title(ProgressColumn):
        def render(self, task: Any) -> Text:
            note = f" (compiling {COMPILING.name}, once)" if COMPILING.name else ""
            return Text(f"{task.description}{note}")

    text = Title(), BarColumn(), MofNCompleteColumn(), TextColumn(unit)
    with told_otherwise(), Progress(*text, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, steps: bar.update(task, completed=done, total=steps)


@contextmanager
def status_line() -> Iterator[Callable[[str], Any]]:
    """A function that shows on stderr, if that is a terminal, what is being computed."""
    if not sys.stderr.isatty():
        yield lambda title: None
        return
    from rich.console import Console

    with Console(stderr=True).status("") as status:
        yield status.update


@contextmanager
def failed_run() -> Iterator[None]:
    """Tell of a step that failed in a run of which no states are kept."""
    try:
        yield
    except StepError as error:
        complain(error.reason)
        raise typer.Exit(FAILED) from None
