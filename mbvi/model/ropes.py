"""Ropes over several points: Σ f_{i+1} |x_{i+1} − x_i|, with factors f that are mostly 1, is a length, or at most that."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

from mbvi.model.base import Element
from mbvi.model.expressions import MARK, Problem, show, wrong
from mbvi.model.fields import WORLD, FrameRef, Kind, Place, Scalar
from mbvi.model.holds import ByExpression, Hold, Variable
from mbvi.recording import plain

__all__ = ["Rope", "RopePoint"]
Look = Literal["", "coil", "thick rod", "thin rod"]
"""How what acts between two points looks in animations; empty if nothing is drawn."""
Span = tuple[tuple[str, Any], tuple[str, Any]]
"""Two bodies, each with a point."""


class RopePoint(Element):
    """A point over which a rope goes, or at which it ends.

    Parameters
    ----------
    body : str
        The body, or world.
    point : vector or str
        Place in its frame [m], or the name of one of its points.
    factor : number
        How much the part from the point before counts in the length, by default 1; with 0 there is none, and another branch
        begins here.
    """

    body: FrameRef
    point: Annotated[Place, Kind("place", "body")] = (0.0, 0.0, 0.0)
    factor: Scalar = 1.0

    @property
    def begins(self) -> bool:
        """Whether a branch begins here, so that no part comes from the point before."""
        return self.factor == 0


class OverPoints(Element):
    """The common part of ropes: they have no mass, and slip over their points without friction.

    Parameters
    ----------
    points : list
        Two or more points, from one end to the other; a pulley is a point, over which the rope goes twice if it comes back.
    length : number
        From end to end, greater than 0 [m].
    """

    drawn_as: ClassVar[Look] = "thin rod"
    points: tuple[RopePoint, ...]
    length: Scalar

    @property
    def places(self) -> list[tuple[str, Any]]:
        """The bodies and their points, of a resolved rope."""
        return [(each.body, each.point) for each in self.points]

    def spans(self) -> list[Span]:
        """The ends of every straight part of the rope."""
        return spans(self.points)

    def slack(self) -> ByExpression:
        """What is left of the length: length − Σ f_{i+1} |x_{i+1} − x_i|."""
        return over_points(self.points, self.length, "-")

    def problems(self) -> Iterator[Problem]:
        """A length, and points of several bodies of which none follows itself."""
        if not plain(self.length) > 0:
            yield Problem(("length",), wrong("a length greater than 0", show(self.length)))
        yield from point_problems(self.points)


def parts(points: tuple[RopePoint, ...]) -> Iterator[tuple[RopePoint, RopePoint]]:
    """The points at both ends of every straight part that counts."""
    return ((a, b) for a, b in pairwise(points) if not b.begins)


def spans(points: tuple[RopePoint, ...]) -> list[Span]:
    """The ends, bodies and their points, of every straight part of a rope over points."""
    return [((a.body, a.point), (b.body, b.point)) for a, b in parts(points)]


def over_points(points: tuple[RopePoint, ...], start: Any, sign: Literal["+", "-"]) -> ByExpression:
    """start ± Σ f_{i+1} |x_{i+1} − x_i|."""
    found: dict[Any, Variable] = {"t": Variable("t")}
    program: list[Any] = [start]
    for a, b in parts(points):
        for axis, after in (("x", ()), ("y", ("+",)), ("z", ("+", "sqrt"))):
            ends = (_coordinate(found, axis, end.body, end.point) for end in (b, a))
            program += [*ends, "-", 2.0, "**", *after]
        program += [sign] if b.factor == 1 else [b.factor, "*", sign]
    return ByExpression(tuple(program), tuple(found.values()))


def point_problems(points: tuple[RopePoint, ...]) -> Iterator[Problem]:
    """Points of one body alone, a point that follows itself, and factors that are negative or of no part."""
    for i, each in enumerate(points):
        if plain(each.factor) < 0:
            found = show(plain(each.factor))
            yield Problem(("points", i, "factor"), wrong("a factor of at least 0", found, "change its sign"))
    if points and plain(points[0].factor) != 1:
        found, remedy = show(plain(points[0].factor)), "give it to the point at the end of the part"
        yield Problem(("points", 0, "factor"), wrong("no factor at the first point, which ends no part", found, remedy))
    if not any(a.body != b.body for a, b in parts(points)):
        found = f"{len(points)} of {points[0].body!r}" if len({each.body for each in points}) == 1 else "none"
        remedy = "write for example [{body: world}, {body: load}]"
        yield Problem(("points",), wrong("points of two or more bodies", found, remedy))
    for i, (a, b) in enumerate(pairwise(points)):
        if (a.body, a.point) == (b.body, b.point) and not b.begins:
            remedy = "name it once; where the rope comes back, another point is between"
            yield Problem(("points", i + 1), wrong("another point than the one before", "the same", remedy))


def _coordinate(found: dict[Any, Variable], axis: str, body: str, point: Any) -> Any:
    """A coordinate of a point in a program: a number of a fixed point, or else a variable, which is added to those found."""
    if body == WORLD:
        return point["xyz".index(axis)]
    key = axis, body, tuple(map(plain, point))
    variable = found.setdefault(key, Variable(axis, body=body, point=point))
    return f"{MARK}{list(found.values()).index(variable)}"


class Rope(OverPoints):
    """A rope over several points that is always taut: the distances between consecutive points add up to its length.

    Its multiplier is its tension, which may become negative: a rope that goes slack is a `rope_stop`, one of the contacts.

    Parameters are those of `rope_stop` without a restitution.
    """

    type: Literal["rope"] = "rope"

    def holds(self) -> list[Hold]:
        """The length."""
        return self.slack().holds()
