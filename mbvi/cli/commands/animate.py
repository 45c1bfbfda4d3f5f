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
        say(animated(file, path, speed, trail, whole_number(rate, "--rate"), triangles, force))


def animated(
    file: Path,
    path: Path,
    speed: str | None,
    trails: list[str] | None,
    pictures: int | None,
    triangles: str | None,
    force: bool,
) -> str:
    """Write an animation, and say so."""
    from mbvi.animation.animate import checked_triangles, picture_rate, speed_report
    from mbvi.animation.motion import check, fastest_spin, natural_speed
    from mbvi.model.expressions import as_number
    from mbvi.text import file_size

    most = checked_triangles(triangles and (as_number(triangles) or triangles), "--triangles")
    trajectory = mbvi.read(file)
    check(trajectory)
    spin, rate = fastest_spin(trajectory), picture_rate(path, pictures)
    given = number_of(speed, "--speed", None, unit="")
    factor = natural_speed(spin, rate) if given is None else given
    options: dict[str, Any] = {"speed": factor, "trails": trails or None, "rate": pictures, "triangles": most or "all"}
    mbvi.animate(trajectory, path, **options, force=force, progress=progress_of(trajectory.system.name, "pictures"))
    written = f"{path} written ({file_size(path.stat().st_size)}): {speed_report(factor, spin, rate)}"
    return f"{written}{_simplified(trajectory.system.model, most)}"


def _simplified(model: Model | None, most: int | None) -> str:
    """What became of large meshes."""
    from mbvi.animation.scene import triangles_of

    total = 0 if model is None else triangles_of(model)
    if most is None or total <= most:
        return ""
    return f"\nits meshes, of {total} triangles, are simplified to about {most}: --triangles all shows them as they are"
