"""`mbvi animate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import mbvi
from mbvi.animation.formats import ENDINGS
from mbvi.cli.options import MostTriangles, Speed, Trails, TrajectoryPath, number_of, whole_number
from mbvi.cli.progress import progress_of
from mbvi.cli.terminal import one_line_errors, say

if TYPE_CHECKING:
    from mbvi.model import Model

LARGE = 20e6  # bytes of meshes


def animate(
    file: TrajectoryPath,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help=f"A file that ends in {', '.join(ENDINGS)}; by default FILE's name with .html, here.",
        ),
    ] = None,
    speed: Speed = None,
    trail: Trails = None,
    rate: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Pictures per second of an .mp4; by default 30.")
    ] = None,
    triangles: MostTriangles = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write a trajectory as a page with a 3D view and plots, a 3D file, or a video."""
    with one_line_errors():
        path = out or Path(f"{file.stem}.html")
        numbers = whole_number(rate, "--rate"), whole_number(triangles, "--triangles")
        say(animated(file, path, speed, trail, *numbers, force))


def animated(
    file: Path,
    path: Path,
    speed: str | None,
    trails: list[str] | None,
    pictures: int | None,
    triangles: int | None,
    force: bool,
) -> str:
    """Write an animation, and say so."""
    from mbvi.animation.animate import picture_rate, speed_report
    from mbvi.animation.motion import check, fastest_spin, natural_speed
    from mbvi.text import file_size

    trajectory = mbvi.read(file)
    check(trajectory)
    spin, rate = fastest_spin(trajectory), picture_rate(path, pictures)
    given = number_of(speed, "--speed", None, unit="")
    factor = natural_speed(spin, rate) if given is None else given
    options: dict[str, Any] = {"speed": factor, "trails": trails or None, "rate": pictures, "triangles": triangles}
    mbvi.animate(trajectory, path, **options, force=force, progress=progress_of(trajectory.system.name, "pictures"))
    written = f"{path} written ({file_size(path.stat().st_size)}): {speed_report(factor, spin, rate)}"
    return f"{written}{_hint(trajectory.system.model, triangles)}"


def _hint(model: Model | None, triangles: int | None) -> str:
    """What to do where meshes are large."""
    from mbvi.model.meshes import mesh_files

    if model is None or triangles is not None or sum(map(len, mesh_files(model).values())) < LARGE:
        return ""
    return "\nits meshes are large: if it opens or turns slowly, --triangles 200000 simplifies them"
