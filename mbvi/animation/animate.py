"""A trajectory made visible: as a 3D file, a page, a video."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from mbvi.animation.format import Progress, Show
from mbvi.animation.formats import ENDINGS, format_of
from mbvi.animation.motion import MOST_TURN, Spin, check, check_gaps, fastest_spin, natural_speed
from mbvi.animation.scene import MOST_SHOWN
from mbvi.errors import ModelError
from mbvi.model.arguments import check_ending, check_progress, checked_names, is_number
from mbvi.model.expressions import show, wrong
from mbvi.results.output import check_output
from mbvi.results.trajectory import Trajectory

MOST_RATE = 240
"""Pictures per second of a video, at most: more than screens show."""

MOST_TRIANGLES = 2**32  # that the indices of a page reach


def animate(
    trajectory: Trajectory,
    path: str | os.PathLike[str],
    *,
    speed: float | None = None,
    trails: Sequence[str] | None = None,
    rate: int | None = None,
    triangles: int | Literal["all"] | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Write an animation of a trajectory.

    Parameters
    ----------
    trajectory : Trajectory
        A run of a model, with at least two states.
    path : str or path
        The file; its ending says what it is: .glb, a 3D file (glTF 2.0) with a node for every body, in a unit of 1 m; .html, a
        page with three.js, plots and arrows that needs no network; .mp4 or .gif, a video.
    speed : float, optional
        Simulated seconds per second; by default 1, or as much less as it takes that no body turns by more than 120° from
        picture to picture, of which there are 60 per second on a screen.
    trails : sequence of str, optional
        Points whose way is shown: the name of a body for its centre of mass, or ``"body.point"``. By default, a page and a
        video show the way of the end of the body that goes furthest, a 3D file shows none.
    rate : int, optional
        Pictures per second of an .mp4, by default 30. A .gif has 25.
    triangles : int or str, optional
        About how many triangles all meshes may have together, by default 200 000. If they have more, they are simplified, so that
        robots with large meshes make small files that move smoothly; ``"all"`` shows them as they are.
    force : bool
        Whether an existing file is overwritten.
    progress : function, optional
        Called with the numbers of pictures of a video that are done and that there are in all.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ModelError
        If the ending is unknown, the file exists or cannot be written, the trajectory has no bodies, fewer than two states, one
        that is not a number, or too few to show how bodies turn, a point of `trails` is unknown, `rate` is no such number or not
        of an .mp4, or a library is missing that comes with the extra `viz`.

    Examples
    --------
    >>> import mbvi, tempfile
    >>> bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))
    >>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    >>> model = mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot})
    >>> trajectory = mbvi.simulate(model, "simpson", step=0.01, duration=1.0, initial_q=[0.5])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mbvi.animate(trajectory, folder + "/pendulum.html", trails=["bob"]).name
    'pendulum.html'
    """
    path = check_output(path, force, ENDINGS)
    pictures_per_second = picture_rate(path, rate)
    if trails is not None:
        trails = checked_names(trails, "trails", "a list of names of bodies and of points of bodies")
    most = checked_triangles(triangles, "triangles")
    check_progress(progress)
    check(trajectory)
    spin = fastest_spin(trajectory)
    check_gaps(trajectory, spin)
    speed = check_speed(natural_speed(spin, pictures_per_second) if speed is None else speed)
    shown = Show(trajectory, speed, spin, pictures_per_second, trails, most, progress)
    format_of(path.suffix.lower()).write(shown, path)
    return path


def checked_triangles(given: Any, where: str) -> int | None:
    """How many triangles all meshes may have together, by default `MOST_SHOWN`; None if they are shown as they are.

    Raises
    ------
    ModelError
        If it is no such number, nor all.
    """
    if given is None:
        return MOST_SHOWN
    if isinstance(given, str) and given == "all":
        return None
    expected = f"a whole number from 1 to {MOST_TRIANGLES}, or all"
    if not is_number(given) or given != int(given) or not 1 <= given <= MOST_TRIANGLES:
        raise ModelError(f"{where}: {wrong(expected, show(given))}")
    return int(given)


def check_speed(speed: float) -> float:
    """The speed, checked."""
    if not (is_number(speed) and speed > 0):
        raise ModelError(f"speed: {wrong('simulated seconds per second, greater than 0', show(speed))}")
    return float(speed)


def picture_rate(path: Path, rate: int | None = None) -> int:
    """Pictures per second: those that are asked for, or by default those of the format of a file.

    Raises
    ------
    ModelError
        If it is no such number, the format has no others than its own, or the ending of the file is unknown.
    """
    own = format_of(check_ending(path, ENDINGS))
    if rate is None:
        return own.rate
    if not own.has_other_rates:
        allowed = " or ".join(f"an {ending}" for ending in ENDINGS if format_of(ending).has_other_rates)
        raise ModelError(f"rate: {wrong(f'none but of {allowed}', f'{show(rate)} of {path.name}', 'leave it out')}")
    if not is_number(rate) or rate != int(rate) or not 1 <= rate <= MOST_RATE:
        raise ModelError(f"rate: {wrong(f'whole pictures per second, from 1 to {MOST_RATE}', show(rate))}")
    return int(rate)


def speed_report(speed: float, spin: Spin, rate: float) -> str:
    """How fast the animation plays, and why, or what cannot be seen at that speed."""
    turn, natural = math.degrees(spin.rate * speed / rate), natural_speed(spin, rate)
    text = "real time" if speed == 1 else f"{speed:g} × real time"
    if turn > math.degrees(MOST_TURN) * (1 + 1e-9):
        return f"{text}; {spin.body!r} turns by {turn:.3g}° from picture to picture: --speed {natural:g} shows how it turns"
    if speed == natural < 1:
        return f"{text}, which shows how {spin.body!r} turns: by {turn:.0f}° from picture to picture"
    return text
