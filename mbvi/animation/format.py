"""What a format of animations says of itself, and what it is asked to show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from mbvi.animation.motion import Spin
from mbvi.results.trajectory import Trajectory

Progress = Callable[[int, int], Any]


@dataclass(frozen=True, eq=False)
class Show:
    """What an animation shows.

    Attributes
    ----------
    trajectory : Trajectory
    speed : float
        Simulated seconds per second.
    spin : Spin
        The fastest turning body.
    rate : int
        Pictures per second.
    trails : sequence of str or None
        Points whose way is shown; None where the format chooses.
    triangles : int or None
        About how many triangles all meshes may have together; None if all are shown.
    progress : callable or None
        Called with the numbers of pictures that are done and that there are in all.
    """

    trajectory: Trajectory
    speed: float
    spin: Spin
    rate: int
    trails: Sequence[str] | None
    triangles: int | None
    progress: Progress | None


class Format(NamedTuple):
    """How files of a format are written.

    write            writes a show into a file
    rate             pictures per second
    has_other_rates  whether another rate may be asked for
    """

    write: Callable[[Show, Path], None]
    rate: int
    has_other_rates: bool = False
