"""Constraints other than joints: between two points or frames, between two coordinates, and prescribed motion.

A constraint is its class here. Its fields are what a user writes; `holds` says what they hold, and `ends` between which points;
the equations follow from that, and how it is drawn and described.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from mbvi.model.base import Element
from mbvi.model.directions import direction_problems, orientation_problems, orientation_roundings, quaternion, unit
from mbvi.model.expressions import Problem, infix, show, value_at, wrong
from mbvi.model.fields import (
    WORLD,
    BodyRef,
    Curve,
    Direction,
    FrameRef,
    JointRef,
    Kind,
    Law,
    Motion,
    MotionVector,
    OptionalScalar,
    Orientation,
    Place,
    Scalar,
    Table,
)
from mbvi.model.forces import Between, OnJoint, same_body
from mbvi.model.holds import (
    Above,
    Apart,
    Follow,
    Follows,
    Hold,
    OnCurve,
    Parallel,
    Related,
    on_line,
    on_plane,
    together,
)
from mbvi.model.rolling import KnifeEdge, RollingBall, RollingEllipsoid, RollingWheel
from mbvi.model.ropes import Look, Rope, RopePoint
from mbvi.recording import is_finite, plain

__all__ = [
    "CoincidentFrames",
    "CoincidentPoints",
    "Coupling",
    "Differential",
    "Distance",
    "KnifeEdge",
    "PointOnCurve",
    "PointOnLine",
    "PointOnPlane",
    "PrescribedCoordinate",
    "PrescribedPoint",
    "RollingBall",
    "RollingEllipsoid",
    "RollingWheel",
    "Rope",
    "RopePoint",
]

ORIGIN = (0.0, 0.0, 0.0)
FARTHEST = 1e12
"""Size of prescribed places and lengths [m or rad] beyond which numbers of 16 digits no longer resolve tenths of a millimetre."""
BESIDE = 1e-6
"""How far a curve must go on, on both sides of its start."""


class Distance(Between):
    """Two points at a distance, as by a massless rod.

    Parameters
    ----------
    length : number, str or table
        The distance, greater than 0: a number, an expression of the time t, or a table [m].
    """

    type: Literal["distance"] = "distance"
    drawn_as: ClassVar[Look] = "thin rod"
    length: Motion

    def holds(self) -> list[Hold]:
        """The length."""
        return [Apart(self.length)]

    def problems(self) -> Iterator[Problem]:
        """Two different bodies and lengths, as far as they are numbers."""
        yield from super().problems()
        lengths = self.length.values if isinstance(self.length, Table) else (self.length,)
        if any(isinstance(length, float) and length <= 0 for length in lengths):
            yield Problem(("length",), wrong("a length greater than 0", show(min(lengths)), "or use coincident_points"))
        yield from far_problems(self.length, "length")


def far_problems(value: Any, *where: str | int) -> Iterator[Problem]:
    """A prescribed value, as far as it is a number or a table of numbers, that is too large for its digits."""
    found = value.values if isinstance(value, Table) else (value,)
    far = [number for number in found if isinstance(number, float) and abs(number) > FARTHEST]
    if far:
        remedy = "beyond, too few digits are left of a position; check its unit"
        yield Problem(where, wrong(f"a number of size at most {FARTHEST:g}", show(far[0]), remedy))


class CoincidentPoints(Between):
    """Two points at the same place."""

    type: Literal["coincident_points"] = "coincident_points"

    def holds(self) -> list[Hold]:
        """The place."""
        return [together()]


class CoincidentFrames(Between):
    """Two points at the same place, and one body turned in the frame of the other by a constant orientation.

    Parameters
    ----------
    orientation : vector or quaternion
        Orientation of the frame of body_b in that of body_a: rotation vector (axis times angle) [rad] or unit
        quaternion (w, x, y, z).
    """

    type: Literal["coincident_frames"] = "coincident_frames"
    orientation: Orientation = (0.0, 0.0, 0.0)

    def holds(self) -> list[Hold]:
        """Place and orientation."""
        return [together(), Parallel(self.orientation)]

    def problems(self) -> Iterator[Problem]:
        """Two different bodies and a unit quaternion."""
        yield from super().problems()
        yield from orientation_problems(self.orientation)

    def roundings(self) -> Iterator[Problem]:
        """A rounded quaternion."""
        yield from orientation_roundings(self.orientation)

    def canonical(self) -> dict[str, Any]:
        """The orientation as a unit quaternion."""
        return {"orientation": quaternion(self.orientation)}


class PointOnLine(Between):
    """A point of body_b on a line of body_a, which goes through point_a.

    Parameters
    ----------
    direction : vector
        Direction of the line in the frame of body_a; normalised.
    """

    type: Literal["point_on_line"] = "point_on_line"
    direction: Direction

    def holds(self) -> list[Hold]:
        """The place on the line."""
        return [on_line(self.direction)]

    def problems(self) -> Iterator[Problem]:
        """Two different bodies and a direction."""
        yield from super().problems()
        yield from direction_problems(self.direction, "direction")

    def canonical(self) -> dict[str, Any]:
        """A unit direction."""
        return {"direction": unit(self.direction)}


class PointOnPlane(Between):
    """A point of body_b on a plane of body_a, which goes through point_a.

    Parameters
    ----------
    normal : vector
        Direction of the plane's normal in the frame of body_a; normalised.
    height : number, str or table
        How far the point is from the plane, along the normal; or, as a function of the time t, how the plane moves [m].
    """

    type: Literal["point_on_plane"] = "point_on_plane"
    normal: Direction
    height: Motion = 0.0

    def holds(self) -> list[Hold]:
        """The place on the plane, or above it."""
        return [on_plane(self.normal) if self.height == 0.0 else Above(self.normal, self.height)]

    def problems(self) -> Iterator[Problem]:
        """Two different bodies and a normal."""
        yield from super().problems()
        yield from direction_problems(self.normal, "normal")

    def canonical(self) -> dict[str, Any]:
        """A unit normal."""
        return {"normal": unit(self.normal)}


class PointOnCurve(Element):
    """A point of body_b on a curve of body_a.

    Parameters
    ----------
    body_a : str
        The body of the curve, or world.
    curve : list
        The curve's x, y and z in the frame of body_a, expressions of its parameter s [m].
    body_b : str
        The body of the point, or world.
    point_b : vector or str
        Place in its frame [m], or the name of one of its points.
    start : number
        The parameter s near the point at the start; it may be an angle.
    start_rate : number
        Its rate at the start, which the bodies' velocities are then made to fit; if left out, it follows from these.
    """

    type: Literal["point_on_curve"] = "point_on_curve"
    body_a: FrameRef = WORLD
    curve: Curve
    body_b: FrameRef
    point_b: Annotated[Place, Kind("place", "body_b")] = (0.0, 0.0, 0.0)
    start: Annotated[Scalar, Kind("numbers", unit="rad")] = 0.0
    start_rate: Annotated[OptionalScalar, Kind("numbers", unit="rad/s")] = None

    def ends(self) -> tuple[tuple[str, Any], tuple[str, Any]]:
        """The frame of the curve, and the point."""
        return (self.body_a, ORIGIN), (self.body_b, self.point_b)

    def holds(self) -> list[Hold]:
        """The place on the curve."""
        return [OnCurve(self.curve, self.start, self.start_rate)]

    def problems(self) -> Iterator[Problem]:
        """Two different bodies and a curve that is not a point."""
        yield from same_body(self.body_a, self.body_b)
        if all(isinstance(component, float) for component in self.curve):
            remedy = "write for example [cos(s), sin(s), 0], or use coincident_points"
            yield Problem(("curve",), wrong("a curve that depends on its parameter s", show(self.curve), remedy))
        start = plain(self.start)
        for i, component in enumerate(self.curve):
            values = [
                value_at(component, start + beside) for beside in (0.0, -BESIDE, BESIDE) if isinstance(component, tuple)
            ]
            if not all(map(is_finite, values)):
                found = f"{infix(component, 's')} without a finite value there"
                yield Problem(
                    ("curve", i), wrong(f"a curve around its start, s = {start:g}", found, "choose another start")
                )


class Coupling(Element):
    """Gears, racks, screws: coordinate_b = ratio × coordinate_a + offset; or cams: coordinate_b = function of coordinate_a.

    Parameters
    ----------
    joint_a : str
        The first joint.
    coordinate_a : str
        Short name of its coordinate, as angle; may be left out where the joint has only one.
    joint_b : str
        The second joint.
    coordinate_b : str
        Short name of its coordinate, as angle; may be left out where the joint has only one.
    ratio : number
        Rate of the second coordinate per rate of the first, not 0 [1, m/rad or rad/m].
    offset : number
        The second coordinate where the first is 0 [rad or m].
    function : str
        The second coordinate as an expression of the first, x, instead of ratio and offset [rad or m].
    """

    type: Literal["coupling"] = "coupling"
    joint_a: JointRef
    coordinate_a: Annotated[str | None, Kind("coordinate", "joint_a")] = None
    joint_b: JointRef
    coordinate_b: Annotated[str | None, Kind("coordinate", "joint_b")] = None
    ratio: OptionalScalar = None
    offset: Annotated[Scalar, Kind("numbers", unit="coordinate_b")] = 0.0
    function: Annotated[Law, Kind("law", unit="coordinate_b")] = None

    def holds(self) -> list[Hold]:
        """The second coordinate, less ratio times the first, or less the function of the first."""
        if self.ratio is None:
            return [Follows((self.joint_b, self.coordinate_b), (self.joint_a, self.coordinate_a), self.function)]
        terms = (self.joint_b, self.coordinate_b, 1.0), (self.joint_a, self.coordinate_a, -plain(self.ratio))
        return [Related(terms, self.offset)]

    def problems(self) -> Iterator[Problem]:
        """Two different coordinates, and a ratio or a function."""
        if (self.joint_a, self.coordinate_a) == (self.joint_b, self.coordinate_b):
            found = f"{f'{self.joint_b}.{self.coordinate_b}'!r} twice"
            yield Problem(("joint_b",), wrong("two different coordinates", found, "choose another joint"))
        if (self.ratio is None) == (self.function is None):
            found = "none" if self.ratio is None else "both"
            yield Problem((), wrong("either a ratio or a function", found, "write for example ratio: 2"))
        if isinstance(self.function, float):
            remedy = "write for example x**2/2, or use prescribed_coordinate"
            yield Problem(("function",), wrong("a function of x", show(self.function), remedy))
        if self.function is not None and self.offset:
            yield Problem(
                ("offset",), wrong("no offset besides a function", show(self.offset), "add it to the function")
            )
        if self.ratio == 0:
            remedy = "to prescribe the second coordinate use prescribed_coordinate"
            yield Problem(("ratio",), wrong("a ratio other than 0", "0", remedy))


class Differential(Element):
    """Differential and planetary gears: coordinate_c = ratio_a × coordinate_a + ratio_b × coordinate_b + offset.

    With both ratios 1/2 it is a differential whose cage, c, turns at the mean rate of its two shafts. A planetary gear with z
    times as many teeth on the ring b as on the sun a has a carrier c with the ratios 1/(1 + z) and z/(1 + z).

    Parameters
    ----------
    joint_a : str
        The first joint, as that of one shaft, or of the sun.
    coordinate_a : str
        Short name of its coordinate, as angle; may be left out where the joint has only one.
    joint_b : str
        The second joint, as that of the other shaft, or of the ring.
    coordinate_b : str
        Short name of its coordinate, as angle; may be left out where the joint has only one.
    joint_c : str
        The third joint, as that of the cage, or of the carrier.
    coordinate_c : str
        Short name of its coordinate, as angle; may be left out where the joint has only one.
    ratio_a : number
        Rate of the third coordinate per rate of the first, not 0 [1, m/rad or rad/m].
    ratio_b : number
        Rate of the third coordinate per rate of the second, not 0 [1, m/rad or rad/m].
    offset : number
        The third coordinate where the others are 0 [rad or m].
    """

    type: Literal["differential"] = "differential"
    joint_a: JointRef
    coordinate_a: Annotated[str | None, Kind("coordinate", "joint_a")] = None
    joint_b: JointRef
    coordinate_b: Annotated[str | None, Kind("coordinate", "joint_b")] = None
    joint_c: JointRef
    coordinate_c: Annotated[str | None, Kind("coordinate", "joint_c")] = None
    ratio_a: Scalar = 0.5
    ratio_b: Scalar = 0.5
    offset: Annotated[Scalar, Kind("numbers", unit="coordinate_c")] = 0.0

    def holds(self) -> list[Hold]:
        """The third coordinate, less what follows from the others."""
        terms = [(self.joint_c, self.coordinate_c, 1.0)]
        terms += [(self.joint_a, self.coordinate_a, -plain(self.ratio_a))]
        terms += [(self.joint_b, self.coordinate_b, -plain(self.ratio_b))]
        return [Related(terms, self.offset)]

    def problems(self) -> Iterator[Problem]:
        """Three different coordinates and two ratios."""
        ends = [(getattr(self, f"joint_{x}"), getattr(self, f"coordinate_{x}")) for x in "abc"]
        for i, end in enumerate(ends):
            if end in ends[:i]:
                found = f"{'.'.join(map(str, end))!r} twice"
                where = (f"joint_{'abc'[i]}",)
                yield Problem(where, wrong("three different coordinates", found, "choose another joint"))
        for key in ("ratio_a", "ratio_b"):
            if getattr(self, key) == 0:
                yield Problem((key,), wrong("a ratio other than 0", "0", "for two coordinates use coupling"))


class PrescribedCoordinate(OnJoint):
    """A joint coordinate that follows a function of time.

    Parameters
    ----------
    value : number, str or table
        The coordinate: a number, an expression of the time t, or a table [rad or m].
    """

    type: Literal["prescribed_coordinate"] = "prescribed_coordinate"
    value: Annotated[Motion, Kind("time", unit="coordinate", is_motion=True)]

    def holds(self) -> list[Hold]:
        """The coordinate."""
        return [Related([(self.joint, self.coordinate, 1.0)], self.value)]

    def problems(self) -> Iterator[Problem]:
        """A value that is too large."""
        yield from far_problems(self.value, "value")


class PrescribedPoint(Element):
    """A point of a body whose place in the world follows functions of time.

    Parameters
    ----------
    body : str
        The body.
    point : vector or str
        Place in its frame [m], or the name of one of its points.
    position : list
        The point's place in the world frame: three components, each a number, an expression of the time t, or a table
        [m].
    """

    type: Literal["prescribed_point"] = "prescribed_point"
    body: BodyRef
    point: Annotated[Place, Kind("place", "body")] = (0.0, 0.0, 0.0)
    position: MotionVector

    def ends(self) -> tuple[tuple[str, Any], tuple[str, Any]]:
        """The world, and the point."""
        return (WORLD, ORIGIN), (self.body, self.point)

    def holds(self) -> list[Hold]:
        """The place."""
        return [Follow(self.position)]

    def problems(self) -> Iterator[Problem]:
        """Components that are too large."""
        for i, component in enumerate(self.position):
            yield from far_problems(component, "position", i)


AnyConstraint = Annotated[
    Distance
    | CoincidentPoints
    | CoincidentFrames
    | PointOnLine
    | PointOnPlane
    | PointOnCurve
    | Coupling
    | Differential
    | PrescribedCoordinate
    | PrescribedPoint
    | RollingBall
    | RollingWheel
    | RollingEllipsoid
    | KnifeEdge
    | Rope,
    Field(discriminator="type"),
]


def prescribed_twice(constraints: Mapping[str, AnyConstraint]) -> Iterator[Problem]:
    """Constraints, of numbers, that prescribe a coordinate or a point that another one prescribes."""
    first: dict[str, str] = {}
    for name, constraint in constraints.items():
        match constraint:
            case PrescribedCoordinate(joint=joint, coordinate=coordinate):
                what = f"the coordinate {f'{joint}.{coordinate}'!r}"
            case PrescribedPoint(body=body, point=point):
                what = f"the point {show(point)} of {body!r}"
            case _:
                continue
        other = first.setdefault(what, name)
        if other != name:
            found = f"{what}, which {other!r} prescribes already"
            yield Problem(
                ("constraints", name), wrong("one constraint that prescribes it", found, "remove one of them")
            )
