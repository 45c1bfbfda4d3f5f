"""What ties two frames a and b together, in words from which the constraints follow: of joints that are cut, and of constraints.

The frames are those of a joint in its parent and in its child, turned alike at zero coordinates, or those of two bodies with
their origins at two points. With the origins x_a and x_b, directions u of a and w of b,

    across     u·(x_b − x_a) = 0  for some u           apart      |x_b − x_a| = a length
    aligned    an axis of b has the direction of that of a          follow     x_b − x_a = functions of time, along the axes of a
    parallel   all axes of b have the directions of those of a      on curve   x_b − x_a = functions of a parameter of its own
    angle      u·w stays what it is                                 rolls      b touches a surface of a, and does not slip
    edge       u·(ẋ_b − ẋ_a) = 0 for a direction u of b            above      u·(x_b − x_a) = a number or a function of time

and of coordinates of joints, `related`: Σ factor × coordinate = a number or a function of time; `follows`: a coordinate is a
function of another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mbvi.model.directions import cross
from mbvi.recording import array, norm

AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class Across(NamedTuple):
    """The point of b does not move against that of a along these directions of a."""

    directions: Sequence[Any]


class Above(NamedTuple):
    """The point of b is at a height, a number or a function of time, above the plane of a with a normal."""

    normal: Any
    height: Any


class Aligned(NamedTuple):
    """An axis of b has the direction of the same axis of a."""

    axis: Any


class Parallel(NamedTuple):
    """All axes of b have the directions of those of a; b is turned by an orientation (unit quaternion), if one is given."""

    orientation: Any = (1.0, 0.0, 0.0, 0.0)


class Angle(NamedTuple):
    """The angle between a direction u of a and a direction w of b is that at zero coordinates."""

    u: Any
    w: Any


class Apart(NamedTuple):
    """The points are at a distance, a number or a function of time."""

    length: Any


class Follow(NamedTuple):
    """The point of b has a place in the frame of a, three numbers or functions of time."""

    position: Sequence[Any]


class OnCurve(NamedTuple):
    """The point of b is on a curve in the frame of a, three numbers or functions of a parameter s that is a coordinate.

    start        s at the start
    start_rate   its rate at the start, which is then kept; None if it follows from the bodies' velocities
    """

    curve: Sequence[Any]
    start: Any = 0.0
    start_rate: Any = None


class Related(NamedTuple):
    """Σ factor × coordinate = value, for terms (joint, coordinate, factor), and a number or a function of time."""

    terms: Sequence[tuple[str, str | None, float]]
    value: Any


class Follows(NamedTuple):
    """A coordinate (joint, coordinate) = a function of another one."""

    follower: tuple[str, str | None]
    leader: tuple[str, str | None]
    function: Any

    @property
    def terms(self) -> tuple[tuple[str, str | None, float], ...]:
        """The follower, and the leader, which the function takes, as those of `Related`."""
        return (*self.follower, 1.0), (*self.leader, 0.0)


class Rolls(NamedTuple):
    """A body b touches a surface of a, and does not slip on it.

    surface          plane, cylinder or sphere, which goes through the origin of a or is around it
    direction        the plane's normal or the cylinder's axis
    surface_radius   of the cylinder or the sphere, negative where b is inside
    shape            S of an ellipsoid around the origin of b, on whose surface √(nᵀ S n) is farthest along n (3, 3)
    rounding         radius of what is rolled around it
    slips            whether only the gap is held
    """

    surface: str
    direction: Any
    surface_radius: float
    shape: Any
    rounding: float
    slips: bool = False


class Expressed(NamedTuple):
    """An expression of variables is zero, see `ByExpression`."""

    program: Any
    variables: Any


class Edge(NamedTuple):
    """The point of b does not move along a direction of b against a."""

    direction: Any


Hold = (
    Across
    | Above
    | Aligned
    | Parallel
    | Angle
    | Apart
    | Follow
    | OnCurve
    | Related
    | Follows
    | Rolls
    | Edge
    | Expressed
)


class Variable(NamedTuple):
    """A variable of an expression.

    kind                 t, q, x, y or z
    joint, coordinate    of q
    body, point          of a place
    """

    kind: str
    joint: str = ""
    coordinate: str = ""
    body: str = ""
    point: Any = (0.0, 0.0, 0.0)


class ByExpression(NamedTuple):
    """A constraint: an expression of variables is zero.

    program      postfix program, as `mbvi.model.quantities.measure` gives it
    variables    the time first
    """

    program: Any
    variables: tuple[Variable, ...]
    type: str = "expression"

    def holds(self) -> list[Hold]:
        """The expression."""
        return [Expressed(self.program, self.variables)]

    @property
    def joints(self) -> tuple[str, ...]:
        """Joints whose coordinates it takes."""
        return tuple(each.joint for each in self.variables if each.kind == "q")

    @property
    def places(self) -> list[tuple[str, Any]]:
        """Bodies whose points it takes, and these."""
        return [(each.body, each.point) for each in self.variables if each.kind in ("x", "y", "z")]


def together() -> Across:
    """The two points are at the same place."""
    return Across(AXES)


def on_line(axis: Any) -> Across:
    """The point of b is on the line of a along the axis, a unit vector."""
    return Across(normals(axis))


def on_plane(normal: Any) -> Across:
    """The point of b is on the plane of a with that normal, a unit vector."""
    return Across([normal])


def turning_sides(holds: Sequence[Hold]) -> tuple[bool, bool]:
    """Whether what ties two frames needs the axes of a, and those of b, and not their points alone."""
    a = [isinstance(hold, OnCurve | Above) or (isinstance(hold, Across) and len(hold.directions) < 3) for hold in holds]
    both = [isinstance(hold, Aligned | Parallel | Angle | Rolls | Edge) for hold in holds]
    return any(a + both), any(both)


def normals(axis: Any) -> list[np.ndarray]:
    """Two unit vectors at right angles to a unit vector and to each other."""
    axis = array(axis)
    sizes = list(map(abs, axis.tolist()))
    first = cross(np.array(AXES[sizes.index(min(sizes))]), axis)
    first = first / norm(first)
    return [first, cross(axis, first)]
