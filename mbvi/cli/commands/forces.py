"""`mbvi forces`."""

from __future__ import annotations

from typing import Annotated

import typer

import mbvi
from mbvi.cli.options import Overwrite, TrajectoryPath, list_of
from mbvi.cli.outputs import TableOrPicture, check_table_or_picture, write_table_or_picture
from mbvi.cli.terminal import one_line_errors, say


def forces(
    file: TrajectoryPath,
    names: Annotated[
        str | None, typer.Option(metavar="LIST", help="Of these forces, constraints, joints or contacts only.")
    ] = None,
    out: TableOrPicture = None,
    force: Overwrite = False,
) -> None:
    """Show what springs, dampers, drives, constraints, joints and contacts exert in a run, with their power and work."""
    with one_line_errors():
        from mbvi.cli.tables_of import force_report
        from mbvi.results.force_table import force_table

        is_picture = check_table_or_picture(out, force)
        trajectory, chosen = mbvi.read(file), list_of(names, "--names") or None
        found = trajectory.forces(chosen)
        say(force_report(trajectory, found))
        if out is not None:
            table = force_table(trajectory.system.name, trajectory.t, found)
            write_table_or_picture(
                out,
                force,
                None if is_picture else table,
                lambda: mbvi.plot(trajectory, "forces", "powers", "works", names=chosen),
            )
