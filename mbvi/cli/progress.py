"""One line on stderr, if that is a terminal, that says what a command does, and what is compiled meanwhile.

It goes when the report comes, and stands there before anything large is imported: for imports and compilation a new user
waits.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress

COMPILING = "mbvi.kernels.compiler.compiling"  # the module that knows what is compiled, once it is imported
_line: Progress | None = None


def begin_progress() -> None:
    """Show the line, and no messages of how far compilation is, which it shows itself."""
    global _line
    if not sys.stderr.isatty():
        return
    from rich.console import Console
    from rich.progress import Progress

    end_progress()
    logging.getLogger("mbvi.compiling.progress").disabled = True
    _line = Progress(*_columns(), console=Console(stderr=True), transient=True, redirect_stdout=False)
    _line.start()
    show_title("starting")


def end_progress() -> None:
    """Take the line away, if it is there."""
    global _line
    if _line is not None:
        _line.stop()
        _line = None


def progress_of(name: str, unit: str = "steps") -> Callable[[int, int], Any] | None:
    """A function of the steps done and all steps, or another unit, that moves the bar; none where no line is shown."""
    line = show_title(name, unit)
    return None if line is None else lambda done, steps: line.update(line.task_ids[0], completed=done, total=steps)


def show_title(title: str, unit: str = "") -> Progress | None:
    """Say what is computed now; the line, if it is shown."""
    if _line is not None:
        for earlier in _line.task_ids:
            _line.remove_task(earlier)
        _line.add_task(title, total=None, unit=unit)
    return _line


def _columns() -> tuple[Any, ...]:
    from rich.progress import BarColumn, ProgressColumn, SpinnerColumn, TimeRemainingColumn
    from rich.table import Column
    from rich.text import Text

    class Title(ProgressColumn):
        def render(self, task: Any) -> Text:
            name = getattr(sys.modules.get(COMPILING), "COMPILING", None)
            return Text(f"compiling {name.name}, once" if name and name.name else task.description)

    class Done(ProgressColumn):
        def render(self, task: Any) -> Text:
            return Text("" if task.total is None else f"{task.completed:.0f}/{task.total:.0f} {task.fields['unit']}")

    title = Title(table_column=Column(no_wrap=True, overflow="ellipsis"))
    return SpinnerColumn(), title, BarColumn(), Done(), TimeRemainingColumn()
