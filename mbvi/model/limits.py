"""Limits of a coordinate of a joint, of which a run tells where it exceeds them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from mbvi.model.base import Element
from mbvi.model.expressions import Problem, show, wrong
from mbvi.model.fields import Kind, OptionalScalar
from mbvi.recording import plain


class Limits(Element):
    """What a coordinate of a joint, its rate and what drives it should keep within. Nothing stops it there: a run reports it.

    Parameters
    ----------
    lower : number
        Least value of the coordinate [rad or m].
    upper : number
        Largest value of the coordinate [rad or m].
    speed : number
        Largest size of its rate [rad/s or m/s].
    effort : number
        Largest size of the torque or force that joint_force, actuators and prescribed_coordinate exert on it [N m or N].
    """

    lower: Annotated[OptionalScalar, Kind("numbers", unit="limit")] = None
    upper: Annotated[OptionalScalar, Kind("numbers", unit="limit")] = None
    speed: Annotated[OptionalScalar, Kind("numbers", unit="rate of limit")] = None
    effort: OptionalScalar = None

    def problems(self) -> Iterator[Problem]:
        """A lower limit above the upper one, and speeds and efforts that are not greater than 0."""
        if self.lower is not None and self.upper is not None and plain(self.lower) > plain(self.upper):
            found = f"{show(self.lower)} above the upper limit {show(self.upper)}"
            yield Problem(("lower",), wrong("a lower limit", found, "exchange them"))
        for key in ("speed", "effort"):
            value = getattr(self, key)
            if value is not None and value <= 0:
                yield Problem(
                    (key,), wrong(f"a {key} greater than 0", show(value), "leave it out if there is no limit")
                )
