"""`mbvi sensors`."""

from __future__ import annotations

from typing import Annotated

import typer

import mbvi
from mbvi.cli.options import Overwrite, TrajectoryPath, list_of
from mbvi.cli.outputs import TableOrPicture, check_table_or_picture, write_table_or_picture
from mbvi.cli.terminal import one_line_errors, say


def sensors(
    file: TrajectoryPath,
    names: Annotated[str | None, typer.Option(metavar="LIST", help="Of these sensors only.")] = None,
    out: TableOrPicture = None,
    force: Overwrite = False,
) -> None:
    """Show what the sensors of a model measured in a run."""
    with one_line_errors():
        from mbvi.cli.tables_of import sensor_report

        is_picture = check_table_or_picture(out, force)
        trajectory, chosen = mbvi.read(file), list_of(names, "--names") or None
        say(sensor_report(trajectory, trajectory.measurements(chosen)))
        if out is not None:
            table = None if is_picture else trajectory.measurement_table(chosen)
            write_table_or_picture(
                out, force, table, lambda: mbvi.plot(trajectory, "measurements", names=chosen), "sample"
            )
