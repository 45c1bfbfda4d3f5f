"""`mbvi kinematics`."""

from __future__ import annotations

from typing import Annotated

import typer

import mbvi
from mbvi.cli.options import Overwrite, TrajectoryPath
from mbvi.cli.outputs import TableOrPicture, check_table_or_picture, write_table_or_picture
from mbvi.cli.terminal import one_line_errors, say


def kinematics(
    file: TrajectoryPath,
    frame: Annotated[
        list[str],
        typer.Option("--frame", metavar="FRAME", help="A body, or BODY.FRAME; may be repeated.", show_default=False),
    ],
    out: TableOrPicture = None,
    force: Overwrite = False,
) -> None:
    """Show where frames are in a run, how fast they move and turn, and their accelerations."""
    with one_line_errors():
        from mbvi.cli.tables_of import column_report

        is_picture = check_table_or_picture(out, force)
        trajectory = mbvi.read(file)
        table = trajectory.kinematics(frame)
        say(column_report(trajectory, table))
        if out is not None:
            names = list(table.labels["frame"])

            def draw() -> object:
                return mbvi.plot(trajectory, "places", "speeds", "accelerations", names=names)

            write_table_or_picture(out, force, None if is_picture else table, draw)
