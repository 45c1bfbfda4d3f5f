"""Limits of a coordinate of a joint, of which a run reports where it exceeds them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from mbvi.model.base import Element
from mbvi.model.expressions import Problem, show, wrong
from mbvi.model.fields import Kind, OptionalScalar, Scalar
from mbvi.recording import plain

REST_SPEED = 1e-6
"""Speed [m/s or rad/s] below which what bounces comes to rest, if nothing else is said."""


def stopping_problems(element: Any) -> Iterator[Problem]:
    """A restitution that is no part, and a speed of rest that is not greater than 0."""
    if not 0.0 <= plain(element.restitution) <= 1.0:
        expected = "a part from 0 to 1 of the speed"
        yield Problem(("restitution",), wrong(expected, show(element.restitution), "write for example 0.5"))
    if not plain(element.rest_speed) > 0.0:
        yield Problem(("rest_speed",), wrong("a speed greater than 0", show(element.rest_speed), "write 1e-6"))


class Limits(Element):
    """What a coordinate of a joint, its rate and what drives it should keep within. A run reports where they are exceeded; with
    a restitution, lower and upper limit are stops.

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
    restitution : number
        Where it is given, lower and upper limit stop the motion: the part of the rate that an impact leaves, from 0 to 1.
    rest_speed : number
        Rate after an impact below which what is pressed against the limit stays there [rad/s or m/s].
    """

    lower: Annotated[OptionalScalar, Kind("numbers", unit="limit")] = None
    upper: Annotated[OptionalScalar, Kind("numbers", unit="limit")] = None
    speed: Annotated[OptionalScalar, Kind("numbers", unit="rate of limit")] = None
    effort: OptionalScalar = None
    restitution: OptionalScalar = None
    rest_speed: Annotated[Scalar, Kind("numbers", unit="rate of limit")] = REST_SPEED

    def problems(self) -> Iterator[Problem]:
        """A lower limit above the upper one, and speeds and efforts that are not greater than 0."""
        if self.lower is not None and self.upper is not None and plain(self.lower) > plain(self.upper):
            found = f"{show(self.lower)} above the upper limit {show(self.upper)}"
            yield Problem(("lower",), wrong("a lower limit", found, "exchange them"))
        if self.restitution is not None:
            yield from stopping_problems(self)
            if self.lower is None and self.upper is None:
                yield Problem(("restitution",), wrong("a lower or an upper limit that stops", "neither", "write one"))
            if self.lower is not None and self.lower == self.upper:
                found = f"{show(self.lower)} for both"
                yield Problem(
                    ("lower",), wrong("stops with a motion between them", found, "take a prescribed_coordinate")
                )
        for key in ("speed", "effort"):
            value = getattr(self, key)
            if value is not None and value <= 0:
                yield Problem(
                    (key,), wrong(f"a {key} greater than 0", show(value), "leave it out if there is no limit")
                )
