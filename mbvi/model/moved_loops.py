"""What was done to loops in rounded numbers, so that they move exactly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class MovedLoop(NamedTuple):
    """A loop whose joints' numbers were moved, since some of its constraints follow from others but for rounding.

    where       joint or constraint that closes it, by the keys that lead there
    bodies      its bodies in words, as " of the loop a - b - a"; empty where several loops share joints
    redundant   how many of its constraints follow from others
    gap         by how much they contradicted these: an angle [rad], or a part of the loop's size
    moved       largest change of a number: of an axis or orientation [rad], or of a place in parts of the loop's size
    size        how far apart its joints are [m]
    changes     by joint and field, the number given and that taken, as in `Model.resolved`
    """

    where: str
    bodies: str
    redundant: int
    gap: float
    moved: float
    size: float
    changes: Mapping[tuple[str, str], tuple[Any, Any]]

    def __str__(self) -> str:
        """A line of what was found and done."""
        some = "a constraint" if self.redundant == 1 else f"{self.redundant} constraints"
        verb = "follows" if self.redundant == 1 else "follow"
        return (
            f"{self.where}: {some}{self.bodies} {verb} from others but for {self.gap:.2g}; taken as rounded, and places, axes "
            f"and orientations of its joints moved by at most {self.moved:.2g} (rad, or parts of {self.size:.3g} m)"
        )
