"""Where commands write values over time, which are a table or a picture by the suffix of a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbvi.cli.terminal import states_written

if TYPE_CHECKING:
    from mbvi.results.tables import Table
    from mbvi.results.trajectory import Trajectory

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
    path: Path, force: bool, trajectory: Trajectory, table: Table, draw: Callable[[], Any], is_picture: bool
) -> None:
    """Write the table or the picture of a trajectory, and say where."""
    from mbvi.pictures.style import save

    if is_picture:
        save(draw(), path, force)
        typer.echo(f"\nwritten to {path}")
    else:
        table.export(path, force)
        typer.echo(f"\n{states_written(trajectory, path)}")
