"""Where commands write values over time, which are a table or a picture by the suffix of a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbvi.cli.terminal import rows_written, say

if TYPE_CHECKING:
    from mbvi.results.tables import Table

TableOrPicture = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", help="Also write the values: a .csv or .nc, or a .png, .svg or .pdf."),
]


def check_table_or_picture(path: Path | None, force: bool) -> bool:
    """Whether a file is to be a picture; it is tried out, before what takes long."""
    from mbvi.pictures.style import SUFFIXES, check_picture
    from mbvi.results.output import check_output
    from mbvi.results.tables import WRITERS

    if path is None:
        return False
    if path.suffix[1:].lower() in SUFFIXES:
        check_picture(path, force)
        return True
    check_output(path, force, (*WRITERS, *(f".{suffix}" for suffix in SUFFIXES)))
    return False


def write_table_or_picture(
    path: Path, force: bool, table: Table | None, draw: Callable[[], Any], row: str = "state"
) -> None:
    """Write a table, or a picture where there is none, and say where, and how many of what are its rows."""
    from mbvi.pictures.style import save

    if table is None:
        save(draw(), path, force)
        say(f"\nwritten to {path}")
    else:
        table.export(path, force)
        say(f"\n{rows_written(len(table.t), row, path)}")
