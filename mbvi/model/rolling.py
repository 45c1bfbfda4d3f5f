"""Constraints of rolling bodies and of edges: velocities that are held, and the gap that a rolling body keeps closed.

An element is its class here. Its fields are what a user writes; what it `holds` says which equations follow.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from mbvi.model.directions import direction_problems, orientation_problems, orientation_roundings, quaternion, unit
from mbvi.model.expressions import Problem, show, wrong
from mbvi.model.fields import Direction, OptionalScalar, Orientation, Scalar, Vector
from mbvi.model.forces import Between
from mbvi.model.holds import Edge, Hold, Rolls
from mbvi.model.rotations import rotation_matrix
from mbvi.recording import array, dot, plain

__all__ = ["KnifeEdge", "RollingBall", "RollingEllipsoid", "RollingWheel"]


def _positive(value: Any, *where: str | int) -> Iterator[Problem]:
    if not plain(value) > 0:
        yield Problem(where, wrong("a length greater than 0", show(value)))


class RollingBall(Between):
    """A ball that rolls without slip on a plane, or on or in a cylinder or a sphere.

    Parameters
    ----------
    radius : number
        The radius of the ball, whose centre is point_b [m].
    surface : str
        What it rolls on: plane, cylinder or sphere. Point_a is a point of the plane or of the axis, or the centre.
    direction : vector
        The plane's normal, towards the ball, or the cylinder's axis, in the frame of body_a; normalised.
    surface_radius : number
        The radius of the cylinder or the sphere [m].
    inside : bool
        Whether the ball rolls on the inside of the cylinder or the sphere.
    slips : bool
        Whether it slips without friction: then only the gap is held.
    """

    type: Literal["rolling_ball"] = "rolling_ball"
    radius: Scalar
    surface: Literal["plane", "cylinder", "sphere"] = "plane"
    direction: Direction = (0.0, 0.0, 1.0)
    surface_radius: OptionalScalar = None
    inside: bool = False
    slips: bool = False

    def holds(self) -> list[Hold]:
        """The gap, and the velocity at the point of contact, unless it slips."""
        sign = -1.0 if self.inside else 1.0
        R = 0.0 if self.surface_radius is None else sign * plain(self.surface_radius)
        return [Rolls(self.surface, self.direction, R, np.zeros((3, 3)), plain(self.radius), self.slips)]

    def problems(self) -> Iterator[Problem]:
        """Two different bodies, radii that fit, and a direction."""
        yield from super().problems()
        yield from _positive(self.radius, "radius")
        yield from direction_problems(self.direction, "direction")
        R = self.surface_radius
        if self.surface == "plane":
            if R is not None or self.inside:
                found = "that of a plane" if R is not None else "inside: true of a plane"
                remedy = "remove it, or write surface: cylinder"
                where = "surface_radius" if R is not None else "inside"
                yield Problem((where,), wrong("the radius of a cylinder or a sphere", found, remedy))
        elif R is None or not plain(R) > 0:
            yield Problem(("surface_radius",), wrong(f"the radius of the {self.surface}, greater than 0", show(R)))
        elif self.inside and plain(self.radius) >= plain(R):
            found = f"{show(self.radius)} in one of {show(R)}"
            yield Problem(("radius",), wrong(f"a ball smaller than the {self.surface}", found))

    def canonical(self) -> dict[str, Any]:
        """A unit direction."""
        return {"direction": unit(self.direction)}


class RollingWheel(Between):
    """A wheel or a disc that rolls without slip on a plane of body_a, which goes through point_a.

    Parameters
    ----------
    radius : number
        The radius of the wheel, from its centre, which is point_b, to the tread [m].
    axis : vector
        The wheel's axis in the frame of body_b; normalised.
    tyre : number
        Radius of the tyre's cross-section, which is round; 0 of a thin disc [m].
    normal : vector
        The plane's normal, towards the wheel, in the frame of body_a; normalised.
    slips : bool
        Whether it slips without friction: then only the gap is held.
    """

    type: Literal["rolling_wheel"] = "rolling_wheel"
    radius: Scalar
    axis: Direction
    tyre: Scalar = 0.0
    normal: Direction = (0.0, 0.0, 1.0)
    slips: bool = False

    def holds(self) -> list[Hold]:
        """The gap, and the velocity at the point of contact, unless it slips."""
        w, rim = array(self.axis), plain(self.radius) - plain(self.tyre)
        shape = rim * rim * (np.eye(3) - np.outer(w, w))
        return [Rolls("plane", self.normal, 0.0, shape, plain(self.tyre), self.slips)]

    def problems(self) -> Iterator[Problem]:
        """Two different bodies, directions, and a tyre that is smaller than the wheel."""
        yield from super().problems()
        yield from _positive(self.radius, "radius")
        yield from direction_problems(self.axis, "axis")
        yield from direction_problems(self.normal, "normal")
        if not 0.0 <= plain(self.tyre) < plain(self.radius):
            expected = f"the radius of a cross-section, from 0 to below {show(self.radius)}"
            yield Problem(("tyre",), wrong(expected, show(self.tyre), "of a ball write rolling_ball"))

    def canonical(self) -> dict[str, Any]:
        """Unit directions."""
        return {"axis": unit(self.axis), "normal": unit(self.normal)}


class RollingEllipsoid(Between):
    """An ellipsoid that rolls without slip on a plane of body_a, which goes through point_a.

    Parameters
    ----------
    semi_axes : vector
        Three lengths from its centre, which is point_b, to the surface [m].
    orientation : vector or quaternion
        Orientation of its axes in the frame of body_b: rotation vector (axis times angle) [rad] or unit quaternion
        (w, x, y, z).
    normal : vector
        The plane's normal, towards the ellipsoid, in the frame of body_a; normalised.
    slips : bool
        Whether it slips without friction: then only the gap is held.
    """

    type: Literal["rolling_ellipsoid"] = "rolling_ellipsoid"
    semi_axes: Vector
    orientation: Orientation = (0.0, 0.0, 0.0)
    normal: Direction = (0.0, 0.0, 1.0)
    slips: bool = False

    def holds(self) -> list[Hold]:
        """The gap, and the velocity at the point of contact, unless it slips."""
        turned = rotation_matrix(self.orientation)
        squares = array([plain(each) * plain(each) for each in self.semi_axes])
        shape = dot(turned * squares, turned.T)
        return [Rolls("plane", self.normal, 0.0, shape, 0.0, self.slips)]

    def problems(self) -> Iterator[Problem]:
        """Two different bodies, lengths, a direction and a unit quaternion."""
        yield from super().problems()
        for i, length in enumerate(self.semi_axes):
            yield from _positive(length, "semi_axes", i)
        yield from orientation_problems(self.orientation)
        yield from direction_problems(self.normal, "normal")

    def roundings(self) -> Iterator[Problem]:
        """A rounded quaternion."""
        yield from orientation_roundings(self.orientation)

    def canonical(self) -> dict[str, Any]:
        """The orientation as a unit quaternion, and a unit normal."""
        return {"orientation": quaternion(self.orientation), "normal": unit(self.normal)}


class KnifeEdge(Between):
    """A point of body_b that does not move across an edge, as of a skate or a keel, against body_a.

    Parameters
    ----------
    across : vector
        The direction across the edge in the frame of body_b; normalised.
    """

    type: Literal["knife_edge"] = "knife_edge"
    across: Direction

    def holds(self) -> list[Hold]:
        """The velocity across the edge."""
        return [Edge(self.across)]

    def problems(self) -> Iterator[Problem]:
        """Two different bodies and a direction."""
        yield from super().problems()
        yield from direction_problems(self.across, "across")

    def canonical(self) -> dict[str, Any]:
        """A unit direction."""
        return {"across": unit(self.across)}
