"""Forces, springs and dampers: what acts on bodies, between two points and on the coordinates of joints.

A force between two points, or on a coordinate, is its class here. Its fields are what a user writes, and its law is an expression
of them and of x: the `potential` of a distance or coordinate x, or the `force_of_rate` of its rate x. From that follow the
equations of motion, whether the energy is conserved, and how the force is described.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from mbvi.errors import ModelError
from mbvi.model.base import Element
from mbvi.model.expressions import Problem, postfix, show, wrong
from mbvi.model.fields import BodyRef, CoordinateRef, FrameRef, JointRef, Kind, Place, Scalar, TimeFunction, TimeVector
from mbvi.recording import plain

__all__ = [
    "Damper",
    "Force",
    "InverseSquare",
    "JointDamper",
    "JointDrag",
    "JointForce",
    "JointSpring",
    "Spring",
    "Torque",
]

Look = Literal["", "coil", "thick rod", "thin rod"]
"""How what acts between two points looks in animations; empty if nothing is drawn."""


class Law(NamedTuple):
    """How a force depends on the distance of its points, or on its coordinate, as kernels take it.

    kind             spring, damper; or a function: potential of x, force of the rate, force of the time
    constant, rest   of a spring or damper
    function         a number, a postfix program or a table
    """

    kind: Literal["spring", "damper", "potential", "force of rate", "force of time"]
    constant: Any = 0.0
    rest: Any = 0.0
    function: Any = None


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
        if self.potential:
            return Law("potential", function=self.function(self.potential))
        if self.force_of_rate:
            return Law("force of rate", function=self.function(self.force_of_rate))
        expected = "a type of force with a potential or a force_of_rate"
        raise ModelError(f"forces: {wrong(expected, type(self).__name__)}")

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
    """How it looks in animations; nothing is drawn by default."""

    type: str
    body_a: FrameRef
    point_a: Annotated[Place, Kind("place", "body_a")] = (0.0, 0.0, 0.0)
    body_b: FrameRef
    point_b: Annotated[Place, Kind("place", "body_b")] = (0.0, 0.0, 0.0)

    def ends(self) -> tuple[tuple[str, Any], tuple[str, Any]]:
        """The two bodies, each with its point."""
        return (self.body_a, self.point_a), (self.body_b, self.point_b)

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


AnyForce = Annotated[
    Force | Torque | Spring | Damper | InverseSquare | JointSpring | JointDamper | JointDrag | JointForce,
    Field(discriminator="type"),
]
