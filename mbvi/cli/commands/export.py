"""`mbvi export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import mbvi
from mbvi.cli.terminal import one_line_errors, say, states_written


def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A trajectory file (.h5).", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="A .csv or .nc file; by default FILE's name with .csv."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write a trajectory for other tools: states, energies, multipliers and poses of all bodies, with names and units."""
    with one_line_errors():
        path = out or Path(f"{file.stem}.csv")
        trajectory = mbvi.read(file)
        trajectory.export(path, force)
        say(states_written(trajectory, path))
