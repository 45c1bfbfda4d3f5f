"""Forces, springs and dampers: what acts on bodies, between two points and on the coordinates of joints.

A force between two points, or on a coordinate, is its class here. Its fields are what a user writes, and its law is an expression
of them and of x: the `potential` of a distance or coordinate x, or the `force_of_rate` of its rate x. From that follow the
equations of motion, whether the energy is conserved, and how the force is described.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from mbvi.errors import ModelError
from mbvi.model.base import Element
from mbvi.model.directions import orientation_problems, orientation_roundings, quaternion
from mbvi.model.expressions import Problem, postfix, show, wrong
from mbvi.model.fields import (
    BodyRef,
    CoordinateRef,
    FrameRef,
    JointRef,
    Kind,
    Orientation,
    Place,
    Potential,
    Range,
    Scalar,
    TimeFunction,
    TimeVector,
    Vector,
)
from mbvi.model.ropes import Look, RopePoint, Span, point_problems, spans
from mbvi.model.rotations import rotation_matrix
from mbvi.model.rounding import quaternion_problems
from mbvi.recording import plain

if TYPE_CHECKING:
    from mbvi.model.joints import Joint

__all__ = [
    "Actuator",
    "BallSpring",
    "Bushing",
    "Damper",
    "DistancePotential",
    "Force",
    "FrameActuator",
    "InverseSquare",
    "JointDamper",
    "JointDrag",
    "JointForce",
    "JointPotential",
    "JointSpring",
    "Motor",
    "PositionServo",
    "Spring",
    "TendonActuator",
    "TendonDamper",
    "TendonPotential",
    "TendonSpring",
    "Torque",
    "VelocityServo",
]

NONE = (0.0, 0.0, 0.0)


class Law(NamedTuple):
    """How a force depends on the distance of its points, or on its coordinate, as kernels take it.

    kind             spring, damper; or a function: potential of x, force of the rate, force of the time
    constant, rest   of a spring or damper
    function         a number, a postfix program or a table
    factors          of an actuator: force per input, without input, per coordinate and per rate, lowest and highest force
    """

    kind: Literal["spring", "damper", "potential", "force of rate", "force of time", "actuator"]
    constant: Any = 0.0
    rest: Any = 0.0
    function: Any = None
    factors: tuple[float, ...] = ()


class HasLaw:
    """The common part of forces between two points and on coordinates: one of the two expressions."""

    potential: ClassVar[str] = ""
    """The potential V [J], an expression of the fields and of x: the distance [m], or the coordinate [rad or m]."""
    force_of_rate: ClassVar[str] = ""
    """The force [N] apart between the points, or on the coordinate [N m or N]; x is the rate of distance or coordinate."""

    @property
    def derives_from_potential(self) -> bool:
        """Whether the force is part of the potential."""
        return bool(self.potential)

    def law(self) -> Law:
        """The law of a force in numbers."""
        expected, own = "a type of force with a potential or a force_of_rate", type(self).__name__
        if self.potential and self.force_of_rate:
            raise ModelError(wrong(expected, f"both in {own}", "make two forces of it"))
        if self.potential:
            return Law("potential", function=self.function(self.potential))
        if self.force_of_rate:
            return Law("force of rate", function=self.function(self.force_of_rate))
        raise ModelError(wrong(expected, f"none in {own}"))

    def function(self, text: str) -> Any:
        """The postfix program of an expression of the fields and of x."""
        fields = {key: value for key, value in vars(self).items() if isinstance(value, float)}
        return postfix(text, fields, "x")


class Force(Element):
    """A force on a point of a body.

    Parameters
    ----------
    body : str
        The body that the force acts on.
    point : vector or str
        Where it acts: a place in the body frame [m] or the name of one of the body's points.
    vector : list
        Three components, each a number, an expression of the time t, or a table [N].
    frame : str
        The frame of the components: world, or body, which turns with the body.
    """

    type: Literal["force"] = "force"
    body: BodyRef
    point: Annotated[Place, Kind("place", "body")] = (0.0, 0.0, 0.0)
    vector: TimeVector
    frame: Literal["world", "body"] = "world"

    @property
    def derives_from_potential(self) -> bool:
        """Whether it is constant along the world's axes."""
        return self.frame == "world" and all(isinstance(component, float) for component in self.vector)


class Torque(Element):
    """A torque on a body.

    Parameters
    ----------
    body : str
        The body that the torque acts on.
    vector : list
        Three components, each a number, an expression of the time t, or a table [N m].
    frame : str
        The frame of the components: world, or body, which turns with the body.
    """

    type: Literal["torque"] = "torque"
    body: BodyRef
    vector: TimeVector
    frame: Literal["world", "body"] = "world"
    derives_from_potential: ClassVar[bool] = False


def same_body(body_a: str, body_b: str) -> Iterator[Problem]:
    """One body where two are needed."""
    if body_a == body_b:
        yield Problem(("body_b",), wrong("two different bodies", f"{body_b!r} twice", "choose another body"))


class Between(Element):
    """The common part of what acts between two points.

    Parameters
    ----------
    body_a : str
        The first body, or world.
    point_a : vector or str
        Place in its frame [m], or the name of one of its points.
    body_b : str
        The second body, or world.
    point_b : vector or str
        Place in its frame [m], or the name of one of its points.
    """

    drawn_as: ClassVar[Look] = ""
    """How such elements look in animations; nothing is drawn by default."""

    type: str
    body_a: FrameRef
    point_a: Annotated[Place, Kind("place", "body_a")] = (0.0, 0.0, 0.0)
    body_b: FrameRef
    point_b: Annotated[Place, Kind("place", "body_b")] = (0.0, 0.0, 0.0)

    def ends(self) -> tuple[tuple[str, Any], tuple[str, Any]]:
        """The two bodies, each with its point."""
        return (self.body_a, self.point_a), (self.body_b, self.point_b)

    def look(self) -> Look:
        """How this one looks in animations."""
        return self.drawn_as

    def problems(self) -> Iterator[Problem]:
        """Two different bodies."""
        yield from same_body(self.body_a, self.body_b)


class Spring(HasLaw, Between):
    """A linear spring between two points: the force stiffness × (distance − rest_length) pulls them together.

    Parameters
    ----------
    stiffness : number
        Force per elongation [N/m].
    rest_length : number
        The distance at which there is no force [m].
    """

    type: Literal["spring"] = "spring"
    stiffness: Scalar
    rest_length: Scalar = 0.0
    potential: ClassVar[str] = "stiffness / 2 * (x - rest_length)**2"
    drawn_as: ClassVar[Look] = "coil"

    def law(self) -> Law:
        """A kind of its own, which is fast."""
        return Law("spring", self.stiffness, self.rest_length)

    def problems(self) -> Iterator[Problem]:
        """Two different bodies and a length."""
        yield from super().problems()
        if plain(self.rest_length) < 0:
            yield Problem(("rest_length",), wrong("a length of at least 0", show(self.rest_length)))


class Damper(HasLaw, Between):
    """A linear damper between two points: the force damping × (rate of their distance) resists.

    Parameters
    ----------
    damping : number
        Force per rate of the distance; negative values drive [N s/m].
    """

    type: Literal["damper"] = "damper"
    damping: Scalar
    force_of_rate: ClassVar[str] = "-damping * x"
    drawn_as: ClassVar[Look] = "thick rod"

    def law(self) -> Law:
        """A kind of its own, which is fast."""
        return Law("damper", self.damping)


class InverseSquare(HasLaw, Between):
    """A force between two points in proportion to the inverse square of their distance, as of gravity or of charges.

    Parameters
    ----------
    strength : number
        Force times the square of the distance: it pulls together, or pushes apart if negative [N m²].
    """

    type: Literal["inverse_square"] = "inverse_square"
    strength: Scalar
    potential: ClassVar[str] = "-strength / x"


class OnJoint(Element):
    """The common part of what acts on one coordinate of a joint.

    Parameters
    ----------
    joint : str
        The joint.
    coordinate : str
        Short name of the coordinate, as angle; may be left out where the joint has only one.
    """

    type: str
    joint: JointRef
    coordinate: CoordinateRef = None


class JointSpring(HasLaw, OnJoint):
    """A linear spring on a joint coordinate q: −stiffness × (q − rest).

    Parameters
    ----------
    stiffness : number
        Torque per angle or force per displacement [N m/rad or N/m].
    rest : number
        The coordinate at which there is no torque or force [rad or m].
    """

    type: Literal["joint_spring"] = "joint_spring"
    stiffness: Scalar
    rest: Annotated[Scalar, Kind("numbers", unit="coordinate")] = 0.0
    potential: ClassVar[str] = "stiffness / 2 * (x - rest)**2"

    def law(self) -> Law:
        """A kind of its own, which is fast."""
        return Law("spring", self.stiffness, self.rest)


class JointDamper(HasLaw, OnJoint):
    """A linear damper on a joint coordinate: −damping × its rate.

    Parameters
    ----------
    damping : number
        Torque per angular rate or force per speed; negative values drive [N m s/rad or N s/m].
    """

    type: Literal["joint_damper"] = "joint_damper"
    damping: Scalar
    force_of_rate: ClassVar[str] = "-damping * x"

    def law(self) -> Law:
        """A kind of its own, which is fast."""
        return Law("damper", self.damping)


class JointDrag(HasLaw, OnJoint):
    """A resistance on a joint coordinate in proportion to the square of its rate, as of a fluid.

    Parameters
    ----------
    coefficient : number
        Torque per square of the angular rate, or force per square of the speed [N m s²/rad² or N s²/m²].
    """

    type: Literal["joint_drag"] = "joint_drag"
    coefficient: Scalar
    force_of_rate: ClassVar[str] = "-coefficient * abs(x) * x"


class HasPotential(Element):
    """The common part of forces whose potential is an expression of the user's.

    Parameters
    ----------
    potential : str
        The potential [J], an expression of x, the coordinate [rad or m] or distance [m], with two continuous derivatives.
    """

    potential: Potential
    derives_from_potential: ClassVar[bool] = True

    def law(self) -> Law:
        """The expression, which has no fields."""
        return Law("potential", function=self.potential)

    def problems(self) -> Iterator[Problem]:
        """What is constant exerts no force."""
        if isinstance(self.potential, float):
            remedy = "write for example 10*x**2 + x**4"
            yield Problem(("potential",), wrong("an expression of x", show(self.potential), remedy))
        yield from getattr(super(), "problems", tuple)()


class DistancePotential(HasPotential, Between):
    """A force between two points that derives from a potential of your own, an expression of their distance x."""

    type: Literal["distance_potential"] = "distance_potential"


class JointPotential(HasPotential, OnJoint):
    """A force on a joint coordinate that derives from a potential of your own, an expression of the coordinate x."""

    type: Literal["joint_potential"] = "joint_potential"


class JointForce(HasLaw, OnJoint):
    """A torque on an angle or a force on a displacement.

    Parameters
    ----------
    value : number, str or table
        A number, an expression of the time t, or a table [N m or N].
    """

    type: Literal["joint_force"] = "joint_force"
    value: TimeFunction

    def law(self) -> Law:
        """The value, whatever the coordinate."""
        return Law("force of time", function=self.value)


class HasInput(Element):
    """The common part of actuators: their input, and how hard they push at most.

    Parameters
    ----------
    input : number, str or table
        What a controller says: a number, an expression of the time t, or a table, in the unit that the type says.
    effort : number or list
        Largest size of the force, or [lowest, highest], at the motor; beyond, the actuator is saturated [N m or N].
    """

    type: str
    input: TimeFunction = 0.0
    effort: Range = None

    def factors(self) -> tuple[float, float, float, float]:
        """The force at the motor per input, without input, and per place and rate of the motor."""
        raise ModelError(f"forces: {wrong('an actuator that says its factors', type(self).__name__)}")

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest force at the motor, of an actuator in numbers."""
        if self.effort is None:
            return -math.inf, math.inf
        if isinstance(self.effort, tuple):
            return plain(self.effort[0]), plain(self.effort[1])
        return -plain(self.effort), plain(self.effort)

    @property
    def input_range(self) -> tuple[float, float] | None:
        """The inputs beyond which none has more effect, of an actuator in numbers; None where none are known."""
        return None

    @property
    def derives_from_potential(self) -> bool:
        """Whether it never pushes: without input, gains and bias."""
        return self.input == 0.0 and not any(self.factors()[1:])

    def problems(self) -> Iterator[Problem]:
        """An effort that leaves something."""
        low, high = self.bounds
        if not low < high:
            remedy = "write a number greater than 0, or [lowest, highest]"
            yield Problem(("effort",), wrong("a range of forces", show(self.effort), remedy))
        yield from super().problems()


class OnGear(HasInput, OnJoint):
    """The common part of actuators on coordinates: motors that drive one through a gear.

    A coordinate x and its rate are gear × x and gear × rate at the motor, and its force f is gear × f at the coordinate.

    Parameters
    ----------
    gear : number
        How far the motor moves per coordinate.
    """

    gear: Scalar = 1.0

    def law(self) -> Law:
        """The force on the coordinate."""
        return geared(self, plain(self.gear))

    def problems(self) -> Iterator[Problem]:
        """A gear that moves, and an effort that leaves something."""
        yield from gear_problems(self.gear)
        yield from super().problems()


def geared(actuator: HasInput, g: float) -> Law:
    """The law of an actuator of numbers behind a gear."""
    by_input, bias, by_place, by_rate = actuator.factors()
    lowest, highest = sorted(g * bound for bound in actuator.bounds)
    factors = g * by_input, g * bias, g * g * by_place, g * g * by_rate, lowest, highest
    return Law("actuator", function=actuator.input, factors=factors)


def gear_problems(gear: Any) -> Iterator[Problem]:
    """A gear that does not move."""
    if gear == 0:
        yield Problem(("gear",), wrong("a gear other than 0", "0", "leave it out for a direct drive"))


def range_of_inputs(actuator: Any) -> tuple[float, float] | None:
    """The inputs at which an actuator with gain and bias reaches its effort; None where there is none, or it has a damping."""
    gain, bias = plain(actuator.gain), plain(actuator.bias)
    if plain(actuator.damping) or not gain or not all(map(math.isfinite, actuator.bounds)):
        return None
    low, high = sorted((bound - bias) / gain for bound in actuator.bounds)
    return low, high


class Motor(OnGear):
    """A motor whose torque or force is its input [N m or N]."""

    type: Literal["motor"] = "motor"

    @property
    def input_range(self) -> tuple[float, float] | None:
        """Its effort, if it has one."""
        return self.bounds if all(map(math.isfinite, self.bounds)) else None

    def factors(self) -> tuple[float, float, float, float]:
        """The input alone."""
        return 1.0, 0.0, 0.0, 0.0


class PositionServo(OnGear):
    """A motor that holds a position, its input [rad or m]: stiffness × (input − position) − damping × rate.

    Parameters
    ----------
    stiffness : number
        Torque per angle or force per displacement [N m/rad or N/m].
    damping : number
        Torque per angular rate or force per speed [N m s/rad or N s/m].
    """

    type: Literal["position_servo"] = "position_servo"
    input: Annotated[TimeFunction, Kind("time", unit="coordinate")] = 0.0
    stiffness: Scalar
    damping: Scalar = 0.0

    def factors(self) -> tuple[float, float, float, float]:
        """A spring to the input, and a damper."""
        return plain(self.stiffness), 0.0, -plain(self.stiffness), -plain(self.damping)


class VelocityServo(OnGear):
    """A motor that holds a rate, its input [rad/s or m/s]: damping × (input − rate).

    Parameters
    ----------
    damping : number
        Torque per angular rate or force per speed [N m s/rad or N s/m].
    """

    type: Literal["velocity_servo"] = "velocity_servo"
    input: Annotated[TimeFunction, Kind("time", unit="rate of coordinate")] = 0.0
    damping: Scalar

    def factors(self) -> tuple[float, float, float, float]:
        """A damper against the input."""
        return plain(self.damping), 0.0, 0.0, -plain(self.damping)


class Actuator(OnGear):
    """A motor of any linear law: gain × input + bias − stiffness × position − damping × rate.

    Parameters
    ----------
    gain : number
        Torque or force per input.
    bias : number
        Torque or force without input [N m or N].
    stiffness : number
        Torque per angle or force per displacement [N m/rad or N/m].
    damping : number
        Torque per angular rate or force per speed [N m s/rad or N s/m].
    """

    type: Literal["actuator"] = "actuator"
    gain: Scalar = 1.0
    bias: Scalar = 0.0
    stiffness: Scalar = 0.0
    damping: Scalar = 0.0

    def factors(self) -> tuple[float, float, float, float]:
        """What its fields say."""
        return plain(self.gain), plain(self.bias), -plain(self.stiffness), -plain(self.damping)


class OnTendon(Element):
    """The common part of what acts along a tendon, which is a length that depends on coordinates or on places.

    Its force drives the length apart where it is positive, and acts on every coordinate q by force × ∂length/∂q.

    Parameters
    ----------
    length : str
        The length [m], or a sum of angles [rad], as 0.02*q('knuckle') + 0.01*q('tip'): q('JOINT') or q('JOINT', 'x') is a
        coordinate, x('BODY'), y and z are places of bodies, or of frames as BODY.FRAME, along the axes of the world.
    points : list
        Instead of a length, two or more points from one end to the other: it is that of a rope over them.
    """

    type: str
    length: str | None = None
    points: tuple[RopePoint, ...] = ()
    drawn_as: ClassVar[Look] = "thin rod"

    def spans(self) -> list[Span]:
        """The ends of every straight part over points; none of a length that is an expression."""
        return spans(self.points)

    def problems(self) -> Iterator[Problem]:
        """A length or points, and points of several bodies of which none follows itself."""
        if (self.length is None) != bool(self.points):
            found = "neither" if self.length is None else "both"
            remedy = "write for example length: 0.02*q('knuckle') + 0.01*q('tip')"
            yield Problem(("length",), wrong("a length or points", found, remedy))
        elif self.length is None:
            yield from point_problems(self.points)
        yield from super().problems()


class TendonSpring(HasLaw, OnTendon):
    """A linear spring along a tendon: the force stiffness × (length − rest_length) shortens it.

    Parameters
    ----------
    stiffness : number
        Force per elongation [N/m], or torque per angle [N m/rad].
    rest_length : number
        The length at which there is no force [m or rad].
    """

    type: Literal["tendon_spring"] = "tendon_spring"
    stiffness: Scalar
    rest_length: Annotated[Scalar, Kind("numbers", unit="tendon")] = 0.0
    potential: ClassVar[str] = "stiffness / 2 * (x - rest_length)**2"

    def law(self) -> Law:
        """A kind of its own, which is fast."""
        return Law("spring", self.stiffness, self.rest_length)


class TendonDamper(HasLaw, OnTendon):
    """A linear damper along a tendon: the force damping × (rate of its length) resists.

    Parameters
    ----------
    damping : number
        Force per rate of the length [N s/m], or torque per angular rate [N m s/rad]; negative values drive.
    """

    type: Literal["tendon_damper"] = "tendon_damper"
    damping: Scalar
    force_of_rate: ClassVar[str] = "-damping * x"

    def law(self) -> Law:
        """A kind of its own, which is fast."""
        return Law("damper", self.damping)


class TendonPotential(HasPotential, OnTendon):
    """A force along a tendon by a potential of its length x, as of a rope that pulls where it is longer than it was made."""

    type: Literal["tendon_potential"] = "tendon_potential"


class TendonActuator(HasInput, OnTendon):
    """A motor along a tendon, of any linear law: gain × input + bias − stiffness × place − damping × rate.

    Its place and rate are gear × length and gear × rate of the length, and its force f is gear × f along the tendon.

    Parameters
    ----------
    gear : number
        How far the motor moves per length.
    gain : number
        Force of the motor per input.
    bias : number
        Force of the motor without input [N].
    stiffness : number
        Force of the motor per place [N/m].
    damping : number
        Force of the motor per rate [N s/m].
    """

    type: Literal["tendon_actuator"] = "tendon_actuator"
    gear: Scalar = 1.0
    gain: Scalar = 1.0
    bias: Scalar = 0.0
    stiffness: Scalar = 0.0
    damping: Scalar = 0.0

    @property
    def input_range(self) -> tuple[float, float] | None:
        """The inputs that its effort bounds, if it has one and its force follows from its input alone."""
        return None if plain(self.stiffness) else range_of_inputs(self)

    def factors(self) -> tuple[float, float, float, float]:
        """What its fields say."""
        return plain(self.gain), plain(self.bias), -plain(self.stiffness), -plain(self.damping)

    def law(self) -> Law:
        """The force along the tendon."""
        return geared(self, plain(self.gear))

    def problems(self) -> Iterator[Problem]:
        """A gear that moves, and those of tendons and of inputs."""
        yield from gear_problems(self.gear)
        yield from super().problems()


class FrameActuator(HasInput):
    """A motor that pushes and turns a body along axes fixed in it, as a propeller or a thruster: of any linear law of its rate.

    Its force is p = gain × input + bias − damping × rate, and the body gets the force p × force and the torque p × torque. The
    rate is that at which these do work per p: force · velocity of the point + torque · angular velocity.

    Parameters
    ----------
    body : str
        The body.
    point : vector or str
        Where it acts: a place in the body frame [m] or the name of one of the body's points.
    orientation : vector or quaternion
        Orientation of the axes in the body frame: rotation vector (axis times angle) [rad] or unit quaternion (w, x, y, z).
    force : vector
        Force on the body per force of the motor, along the axes.
    torque : vector
        Torque on the body per force of the motor, about the axes [m].
    gain : number
        Force of the motor per input.
    bias : number
        Force of the motor without input [N].
    damping : number
        Force of the motor per rate [N s/m].
    """

    type: Literal["frame_actuator"] = "frame_actuator"
    body: BodyRef
    point: Annotated[Place, Kind("place", "body")] = (0.0, 0.0, 0.0)
    orientation: Orientation = NONE
    force: Vector = NONE
    torque: Vector = NONE
    gain: Scalar = 1.0
    bias: Scalar = 0.0
    damping: Scalar = 0.0

    @property
    def input_range(self) -> tuple[float, float] | None:
        """The inputs that its effort bounds, if it has one and its force follows from its input alone."""
        return range_of_inputs(self)

    def factors(self) -> tuple[float, float, float, float]:
        """What its fields say."""
        return plain(self.gain), plain(self.bias), 0.0, -plain(self.damping)

    def law(self) -> Law:
        """The force of the motor."""
        return Law("actuator", function=self.input, factors=(*self.factors(), *self.bounds))

    def problems(self) -> Iterator[Problem]:
        """A force or a torque, a unit quaternion, and an effort that leaves something."""
        if not any([*self.force, *self.torque]):
            remedy = "write for example force: [0, 0, 1]"
            yield Problem(("force",), wrong("a force or a torque other than 0", show(self.force), remedy))
        yield from orientation_problems(self.orientation)
        yield from super().problems()

    def roundings(self) -> Iterator[Problem]:
        """A rounded quaternion."""
        yield from orientation_roundings(self.orientation)

    def canonical(self) -> dict[str, Any]:
        """The orientation as a unit quaternion."""
        return {"orientation": quaternion(self.orientation)}


class Bushing(Between):
    """Springs and dampers in six directions, as of a rubber bushing, along and about axes fixed in body_a.

    A turn by an angle a about an axis has the torque turning_stiffness × sin a: linear for small turns, 0 at 180 degrees.

    Parameters
    ----------
    orientation : vector or quaternion
        Orientation of the axes in the frame of body_a: rotation vector (axis times angle) [rad] or unit quaternion
        (w, x, y, z).
    rest_orientation : vector or quaternion
        Orientation of the frame of body_b in that of body_a at which there is no torque.
    stiffness : vector
        Forces per displacement of point_b from point_a along the axes [N/m].
    damping : vector
        Forces per velocity of point_b against body_a along the axes; negative values drive [N s/m].
    turning_stiffness : vector
        Torques per small angle about the axes [N m/rad].
    turning_damping : vector
        Torques per angular velocity of body_b against body_a about the axes; negative values drive [N m s/rad].
    """

    type: Literal["bushing"] = "bushing"
    orientation: Orientation = NONE
    rest_orientation: Orientation = NONE
    stiffness: Vector = NONE
    damping: Vector = NONE
    turning_stiffness: Vector = NONE
    turning_damping: Vector = NONE

    @property
    def derives_from_potential(self) -> bool:
        """Whether it has no damping."""
        return not any([*self.damping, *self.turning_damping])

    def problems(self) -> Iterator[Problem]:
        """Two different bodies and unit quaternions."""
        yield from super().problems()
        yield from orientation_problems(self.orientation)
        if len(self.rest_orientation) == 4:
            yield from quaternion_problems(self.rest_orientation, "rest_orientation")

    def roundings(self) -> Iterator[Problem]:
        """A rounded quaternion."""
        yield from orientation_roundings(self.orientation)

    def canonical(self) -> dict[str, Any]:
        """Orientations as unit quaternions."""
        return {key: quaternion(getattr(self, key)) for key in ("orientation", "rest_orientation")}


class BallSpring(Element):
    """A spring and a damper against turns of a joint's child in any direction, as of a ball joint.

    A turn by an angle a has the torque stiffness × sin a: linear for small turns, 0 at 180 degrees.

    Parameters
    ----------
    joint : str
        The joint.
    stiffness : number
        Torque per small angle [N m/rad].
    damping : number
        Torque per angular velocity of the child against the parent; negative values drive [N m s/rad].
    rest : vector or quaternion
        Turn of the child from where it is at zero coordinates to where there is no torque: rotation vector (axis times
        angle) [rad] or unit quaternion (w, x, y, z).
    """

    type: Literal["ball_spring"] = "ball_spring"
    joint: JointRef
    stiffness: Scalar = 0.0
    damping: Scalar = 0.0
    rest: Orientation = NONE

    @property
    def derives_from_potential(self) -> bool:
        """Whether it has no damping."""
        return not self.damping

    def bushing(self, joint: Joint) -> Bushing:
        """The bushing between the joint's bodies that it is."""
        rest = rotation_matrix(self.rest) @ rotation_matrix(joint.orientation)
        return Bushing(
            body_a=joint.parent,
            body_b=joint.child,
            rest_orientation=rotation_vector(rest),
            turning_stiffness=(plain(self.stiffness),) * 3,
            turning_damping=(plain(self.damping),) * 3,
        )

    def problems(self) -> Iterator[Problem]:
        """A unit quaternion."""
        if len(self.rest) == 4:
            yield from quaternion_problems(self.rest, "rest")

    def canonical(self) -> dict[str, Any]:
        """The orientation as a unit quaternion."""
        return {"rest": quaternion(self.rest)}


def rotation_vector(rotation: np.ndarray) -> tuple[float, ...]:
    """Axis times angle of a rotation (3, 3) [rad]."""
    from scipy.spatial.transform import Rotation  # takes a tenth of a second to import

    return tuple(Rotation.from_matrix(rotation).as_rotvec().tolist())


AnyForce = Annotated[
    Force
    | Torque
    | Spring
    | Damper
    | InverseSquare
    | DistancePotential
    | Bushing
    | JointSpring
    | JointDamper
    | JointDrag
    | JointPotential
    | JointForce
    | Motor
    | PositionServo
    | VelocityServo
    | Actuator
    | FrameActuator
    | TendonSpring
    | TendonDamper
    | TendonPotential
    | TendonActuator
    | BallSpring,
    Field(discriminator="type"),
]
