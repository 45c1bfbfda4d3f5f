"""`mbvi plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import mbvi
from mbvi.cli.options import Overwrite, Picture, list_of
from mbvi.cli.terminal import one_line_errors, say


def plot(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A trajectory file.", show_default=False)],
    out: Picture = None,
    what: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Instead of an overview, some of: coordinates, velocities, momenta, energy, energy_error, invariants, "
            "constraints, phase, multipliers, reactions, forces, powers, works, "
            "places, speeds, accelerations, measurements.",
        ),
    ] = None,
    names: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Of these coordinates, joints, constraints, forces or frames only."),
    ] = None,
    section: Annotated[
        str | None, typer.Option(metavar="TEXT", help='A Poincaré section, such as "elbow.angle=0".')
    ] = None,
    force: Overwrite = False,
) -> None:
    """Draw a trajectory: an overview, or some of its quantities; by default into FILE's name with .png, here."""
    with one_line_errors():
        from mbvi.pictures.style import check_picture, save

        trajectory = mbvi.read(file)
        path = check_picture(out or Path(f"{file.stem}.png"), force)
        quantities, chosen = list_of(what, "--what"), list_of(names, "--names") or None
        figure = mbvi.plot(trajectory, *quantities, names=chosen, section=section)
        save(figure, path, force)
        say(f"written to {path}")
