"""What touches and lets go: stops, ropes that go slack, and dry friction.

A stop keeps a gap φ(q) ≥ 0. While it is closed it is a constraint of the kind that the model has anyway, whose force may only
push; so a stop is a constraint and the sign by which its value is the gap. Dry friction holds its coordinate, as a constraint
does, up to a largest force.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from mbvi.model.base import Element
from mbvi.model.constraints import Coupling, Distance, PointOnPlane, PrescribedCoordinate
from mbvi.model.directions import direction_problems, unit
from mbvi.model.expressions import Problem, show, wrong
from mbvi.model.fields import Direction, JointRef, Kind, Law, Motion, OptionalMotion, OptionalScalar, Scalar
from mbvi.model.forces import Between, OnJoint
from mbvi.model.limits import REST_SPEED, stopping_problems
from mbvi.model.rolling import RollingBall, RollingEllipsoid, RollingWheel
from mbvi.model.ropes import Look, OverPoints
from mbvi.recording import plain

__all__ = [
    "BallStop",
    "CoordinateStop",
    "DistanceStop",
    "DryFriction",
    "EllipsoidStop",
    "ExpressionStop",
    "PlaneStop",
    "RopeStop",
    "WheelStop",
]


class Stopping(Element):
    """The common part of stops.

    Parameters
    ----------
    restitution : number
        Part of the speed with which an impact ends, from 0 to 1: with 1 it takes no energy, with 0 nothing bounces.
    rest_speed : number
        Speed after an impact below which what is pressed against the stop stays there [m/s].
    """

    restitution: Scalar = 0.0
    rest_speed: Scalar = REST_SPEED

    def stops(self, name: str) -> Iterator[Stop]:
        """The stops of a resolved element of this name."""
        raise NotImplementedError


class Rubbing(Stopping):
    """The common part of stops that may have friction.

    Parameters
    ----------
    friction : number
        Coefficient of the kinetic friction: its force is this part of the stop's force, against the slip.
    static_friction : number
        Coefficient of the static friction, which is at most this part of the stop's force while nothing slips; at least the
        kinetic one, which it is by default.
    """

    friction: Scalar = 0.0
    static_friction: OptionalScalar = None

    def coefficients(self) -> tuple[float, float]:
        """The coefficients of the kinetic and of the static friction."""
        kinetic = plain(self.friction)
        return kinetic, kinetic if self.static_friction is None else plain(self.static_friction)


def rubbing_problems(element: Rubbing) -> Iterator[Problem]:
    """Coefficients less than 0, and a static friction below the kinetic one."""
    for key in ("friction", "static_friction"):
        value = getattr(element, key)
        if value is not None and plain(value) < 0:
            yield Problem((key,), wrong("a coefficient of at least 0", show(value), "change its sign"))
    if element.static_friction is not None and plain(element.static_friction) < plain(element.friction):
        found = f"{show(element.static_friction)} below {show(element.friction)}"
        yield Problem(
            ("static_friction",), wrong("a static friction of at least the kinetic one", found, "exchange them")
        )


class DistanceStop(Stopping, Between):
    """Two points whose distance stays within bounds: a rope that goes slack (upper alone), a bumper (lower alone), or both.

    Parameters
    ----------
    lower : number, str or table
        Least distance, greater than 0; a number, or a function of the time t [m].
    upper : number, str or table
        Largest distance, likewise [m].
    """

    type: Literal["distance_stop"] = "distance_stop"
    lower: OptionalMotion = None
    upper: OptionalMotion = None

    def problems(self) -> Iterator[Problem]:
        """Two different bodies, and bounds that leave something between them."""
        yield from super().problems()
        yield from stopping_problems(self)
        if self.lower is None and self.upper is None:
            yield Problem(
                (), wrong("a lower or an upper bound of the distance", "neither", "write for example upper: 1")
            )
        for key in ("lower", "upper"):
            value = getattr(self, key)
            if isinstance(value, float) and not value > 0:
                yield Problem((key,), wrong("a distance greater than 0", show(value), "leave it out"))
        if isinstance(self.lower, float) and isinstance(self.upper, float) and self.lower >= self.upper:
            remedy = "exchange them; a rod is a constraint of the type distance"
            yield Problem(("lower",), wrong("a lower bound below the upper one", f"{show(self.lower)}", remedy))

    def look(self) -> Look:
        """A cable; nothing if it only keeps the points apart."""
        return "" if self.upper is None else "thin rod"

    def stops(self, name: str) -> Iterator[Stop]:
        """The stops of its bounds."""
        points: dict[str, Any] = {key: getattr(self, key) for key in ("body_a", "point_a", "body_b", "point_b")}
        for key, sign in (("lower", 1.0), ("upper", -1.0)):
            if (length := getattr(self, key)) is not None:
                held = Distance.model_construct(length=length, **points)
                yield Stop(f"{name}.{key}", sign, held, plain(self.restitution), plain(self.rest_speed), "N")


class RopeStop(Stopping, OverPoints):
    """A rope over several points that goes slack, and becomes taut with an impact: it pulls, and never pushes."""

    type: Literal["rope_stop"] = "rope_stop"

    def problems(self) -> Iterator[Problem]:
        """Problems of the rope, and of stops."""
        yield from super().problems()
        yield from stopping_problems(self)

    def stops(self, name: str) -> Iterator[Stop]:
        """The length."""
        yield Stop(name, 1.0, self.slack(), plain(self.restitution), plain(self.rest_speed), "N")


class PlaneStop(Rubbing, Between):
    """A point of body_b that stays above a plane of body_a, which goes through point_a.

    Parameters
    ----------
    normal : vector
        Direction of the plane's normal in the frame of body_a, to the side on which the point may be; normalised.
    radius : number
        How far the point stays above the plane, as the centre of a ball of this radius [m].
    height : number, str or table
        How far above point_a the plane is, along the normal; a number, or a function of the time t: a plane that moves [m].
    """

    type: Literal["plane_stop"] = "plane_stop"
    normal: Direction
    radius: Scalar = 0.0
    height: Motion = 0.0

    def problems(self) -> Iterator[Problem]:
        """Two different bodies, a direction, and a radius that is not negative."""
        yield from super().problems()
        yield from stopping_problems(self)
        yield from direction_problems(self.normal, "normal")
        yield from rubbing_problems(self)
        if plain(self.radius) < 0:
            yield Problem(("radius",), wrong("a radius of at least 0", show(self.radius), "change its sign"))
        if plain(self.radius) > 0 and plain(self.friction) > 0:
            found = f"{show(self.radius)} with friction, which turns what is round"
            yield Problem(("radius",), wrong("a point, of radius 0", found, "take a ball_stop"))

    def canonical(self) -> dict[str, Any]:
        """A unit normal."""
        return {"normal": unit(self.normal)}

    def stops(self, name: str) -> Iterator[Stop]:
        """Its one stop, at the plane."""
        place, normal, radius = (getattr(self, key) for key in ("point_a", "normal", "radius"))
        at = tuple(x + radius * n for x, n in zip(place, normal, strict=True))
        bodies: dict[str, Any] = {"body_a": self.body_a, "body_b": self.body_b}
        held = PointOnPlane.model_construct(
            normal=normal, point_a=at, point_b=self.point_b, height=self.height, **bodies
        )
        yield Stop(name, 1.0, held, plain(self.restitution), plain(self.rest_speed), "N", self.coefficients())


class BallStop(Rubbing, RollingBall):
    """A ball that stays above a plane, or outside or inside of a cylinder or a sphere, and slips on it.

    Parameters are those of `rolling_ball`, besides restitution, rest_speed, friction and static_friction.
    """

    type: Literal["ball_stop"] = "ball_stop"  # type: ignore[assignment]
    slips: Literal[True] = True

    def problems(self) -> Iterator[Problem]:
        """Problems of the ball, and of stops."""
        yield from super().problems()
        yield from stopping_problems(self)
        yield from rubbing_problems(self)

    def stops(self, name: str) -> Iterator[Stop]:
        """The surface."""
        yield _of_surface(name, self, RollingBall)


class WheelStop(Rubbing, RollingWheel):
    """A wheel, a disc or a coin whose edge stays above a plane, and slips on it.

    Parameters are those of `rolling_wheel`, besides restitution, rest_speed, friction and static_friction.
    """

    type: Literal["wheel_stop"] = "wheel_stop"  # type: ignore[assignment]
    slips: Literal[True] = True

    def problems(self) -> Iterator[Problem]:
        """Problems of the wheel, and of stops."""
        yield from super().problems()
        yield from stopping_problems(self)
        yield from rubbing_problems(self)

    def stops(self, name: str) -> Iterator[Stop]:
        """Its one stop, at the plane."""
        yield _of_surface(name, self, RollingWheel)


class EllipsoidStop(Rubbing, RollingEllipsoid):
    """An ellipsoid that stays above a plane, and slips on it.

    Parameters are those of `rolling_ellipsoid`, besides restitution, rest_speed, friction and static_friction.
    """

    type: Literal["ellipsoid_stop"] = "ellipsoid_stop"  # type: ignore[assignment]
    slips: Literal[True] = True

    def problems(self) -> Iterator[Problem]:
        """Problems of the ellipsoid, and of stops."""
        yield from super().problems()
        yield from stopping_problems(self)
        yield from rubbing_problems(self)

    def stops(self, name: str) -> Iterator[Stop]:
        """Its one stop, at the plane."""
        yield _of_surface(name, self, RollingEllipsoid)


def _of_surface(name: str, element: Any, rolling: Any) -> Stop:
    """The stop of what rolls, where it slips."""
    given = {key: value for key, value in element if key in rolling.model_fields and key not in ("type", "slips")}
    held = rolling.model_construct(**given, slips=True)
    return Stop(name, 1.0, held, plain(element.restitution), plain(element.rest_speed), "N", element.coefficients())


class CoordinateStop(Stopping):
    """A coordinate that stays within bounds that depend on another one, as a follower on one side of a cam, or a ball in a bowl.

    Parameters
    ----------
    joint_a : str
        The joint of the coordinate x that the bounds depend on.
    coordinate_a : str
        Short name of that, as angle; may be left out where the joint has only one.
    joint_b : str
        The joint of the coordinate that stays within them.
    coordinate_b : str
        Short name of that; may be left out where the joint has only one.
    lower : str
        Least value, an expression of x [rad or m].
    upper : str
        Largest value, an expression of x [rad or m].
    """

    type: Literal["coordinate_stop"] = "coordinate_stop"
    joint_a: JointRef
    coordinate_a: Annotated[str | None, Kind("coordinate", "joint_a")] = None
    joint_b: JointRef
    coordinate_b: Annotated[str | None, Kind("coordinate", "joint_b")] = None
    lower: Annotated[Law, Kind("law", unit="coordinate_b")] = None
    upper: Annotated[Law, Kind("law", unit="coordinate_b")] = None

    def problems(self) -> Iterator[Problem]:
        """Two different coordinates, and a bound that depends on the first."""
        yield from stopping_problems(self)
        if (self.joint_a, self.coordinate_a) == (self.joint_b, self.coordinate_b):
            found = f"{f'{self.joint_b}.{self.coordinate_b}'!r} twice"
            yield Problem(("joint_b",), wrong("two different coordinates", found, "choose another one"))
        if self.lower is None and self.upper is None:
            yield Problem((), wrong("a lower or an upper bound", "neither", "write for example lower: x**2"))
        for key in ("lower", "upper"):
            if isinstance(getattr(self, key), float):
                remedy = "write constant ones as limits of the joint, with a restitution"
                yield Problem((key,), wrong("a bound that depends on x", show(getattr(self, key)), remedy))

    def stops(self, name: str) -> Iterator[Stop]:
        """The stops of its bounds."""
        joints: dict[str, Any] = {
            key: getattr(self, key) for key in ("joint_a", "coordinate_a", "joint_b", "coordinate_b")
        }
        for key, sign in (("lower", 1.0), ("upper", -1.0)):
            if (function := getattr(self, key)) is not None:
                held = Coupling.model_construct(function=function, **joints)
                yield Stop(f"{name}.{key}", sign, held, plain(self.restitution), plain(self.rest_speed), "")


class ExpressionStop(Stopping):
    """An expression of the time, of coordinates and of places that stays above 0: a wall of any shape.

    Parameters
    ----------
    gap : str
        What is not below 0, as 1 - x('ball')**2/4 - y('ball')**2: q('JOINT') or q('JOINT', 'x') is a coordinate, x('BODY'), y and
        z are places of bodies, or of frames as BODY.FRAME, along the axes of the world, and t is the time.
    """

    type: Literal["expression_stop"] = "expression_stop"
    gap: str

    def problems(self) -> Iterator[Problem]:
        """Problems of stops."""
        yield from stopping_problems(self)


class DryFriction(OnJoint):
    """Dry friction on a joint coordinate: it sticks while less than the static friction is needed to hold it, and then slides
    against a constant kinetic friction.

    Parameters
    ----------
    kinetic : number
        Friction that resists sliding; by default the joint's `friction` [N m or N].
    static : number
        Largest friction that holds the coordinate, at least the kinetic one; by default as large [N m or N].
    """

    type: Literal["dry_friction"] = "dry_friction"
    kinetic: OptionalScalar = None
    static: OptionalScalar = None

    def problems(self) -> Iterator[Problem]:
        """Frictions less than 0, and a static friction below the kinetic one."""
        for key in ("kinetic", "static"):
            value = getattr(self, key)
            if value is not None and plain(value) < 0:
                yield Problem((key,), wrong("a friction of at least 0", show(value), "change its sign"))
        if self.kinetic is not None and self.static is not None and plain(self.static) < plain(self.kinetic):
            found = f"{show(self.static)} below {show(self.kinetic)}"
            yield Problem(("static",), wrong("a static friction of at least the kinetic one", found, "exchange them"))


AnyContact = Annotated[
    DistanceStop
    | RopeStop
    | PlaneStop
    | BallStop
    | WheelStop
    | EllipsoidStop
    | CoordinateStop
    | ExpressionStop
    | DryFriction,
    Field(discriminator="type"),
]


class Stop(NamedTuple):
    """A gap that stays open, or closed by a force that pushes.

    name          of its element, with lower or upper; or of a coordinate's limit, as elbow.angle.upper
    sign          that of the constraint's value where the gap is open
    held          the constraint that it is while it is closed
    restitution   part of the speed after an impact
    rest_speed    speed below which it stays closed [m/s or rad/s]
    unit          of its force
    friction      coefficients of its kinetic and static friction
    """

    name: str
    sign: float
    held: Any
    restitution: float
    rest_speed: float
    unit: str
    friction: tuple[float, float] = (0.0, 0.0)


class Friction(NamedTuple):
    """Dry friction of a coordinate.

    name              of its element
    held              the constraint that it is while it sticks
    kinetic, static   [N m or N]
    unit              of it
    """

    name: str
    held: PrescribedCoordinate
    kinetic: float
    static: float
    unit: str
