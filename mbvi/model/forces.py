"""Forces, springs and dampers: what acts on bodies, between two points and on the coordinates of joints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from mbvi.model.base import Element
from mbvi.model.expressions import Problem, show, wrong
from mbvi.model.fields import BodyRef, CoordinateRef, FrameRef, JointRef, Kind, Place, Scalar, TimeFunction, TimeVector

Look = Literal["", "coil", "thick rod", "thin rod"]
"""How what acts between two points looks in animations; empty if nothing is drawn."""


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


class Spring(Between):
    """A linear spring between two points: the force stiffness × (distance − rest_length) pulls them together.

    Parameters
    ----------
    stiffness : number
        Force per elongation [N/m].
    rest_length : number
        The distance at which there is no force [m].
    """

    type: Literal["spring"] = "spring"
    drawn_as: ClassVar[Look] = "coil"
    stiffness: Scalar
    rest_length: Scalar = 0.0

    def problems(self) -> Iterator[Problem]:
        """Two different bodies and a length."""
        yield from super().problems()
        if float(self.rest_length) < 0:
            yield Problem(("rest_length",), wrong("a length of at least 0", show(self.rest_length)))


class Damper(Between):
    """A linear damper between two points: the force damping × (rate of their distance) resists.

    Parameters
    ----------
    damping : number
        Force per rate of the distance; negative values drive [N s/m].
    """

    type: Literal["damper"] = "damper"
    drawn_as: ClassVar[Look] = "thick rod"
    damping: Scalar


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


class JointSpring(OnJoint):
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


class JointDamper(OnJoint):
    """A linear damper on a joint coordinate: −damping × its rate.

    Parameters
    ----------
    damping : number
        Torque per angular rate or force per speed; negative values drive [N m s/rad or N s/m].
    """

    type: Literal["joint_damper"] = "joint_damper"
    damping: Scalar


class JointForce(OnJoint):
    """A torque on an angle or a force on a displacement.

    Parameters
    ----------
    value : number, str or table
        A number, an expression of the time t, or a table [N m or N].
    """

    type: Literal["joint_force"] = "joint_force"
    value: TimeFunction


AnyForce = Annotated[
    Force | Torque | Spring | Damper | JointSpring | JointDamper | JointForce, Field(discriminator="type")
]
