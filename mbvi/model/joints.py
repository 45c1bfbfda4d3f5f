"""Joints: how a body may move in the frame of another one, and the coordinates of that motion."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, StrictBool

from mbvi.model.base import Element
from mbvi.model.directions import (
    direction_problems,
    is_parallel,
    orientation_problems,
    orientation_roundings,
    quaternion,
    unit,
)
from mbvi.model.expressions import Problem, show, wrong
from mbvi.model.fields import (
    Direction,
    FrameRef,
    JointPlace,
    Kind,
    OptionalVector,
    Orientation,
    RotationCoordinates,
    Scalar,
    TwoDirections,
    kinds,
)


class Joint(Element):
    """The common part of all joints.

    At zero coordinates the joint's places in parent and child coincide, and the child is turned by `orientation`.
    Axes are given in the joint frame, which is parallel to the parent's body frame.

    Parameters
    ----------
    parent : str
        The body, or world, in whose frame the joint and its axes are.
    child : str
        The body, or world, that the joint moves in that frame.
    position : vector
        The joint's place in the parent's frame [m].
    orientation : vector or quaternion
        Orientation of the child's frame in the parent's at zero coordinates: rotation vector (axis times angle) [rad]
        or unit quaternion (w, x, y, z).
    offset : vector
        The joint's place in the child's frame [m].
    cut : bool
        Whether the joint becomes constraints instead of coordinates; by default in the embedding all do, in the tree
        formulation those that close loops. A loop is closed by joints with true before those without cut.
    """

    type: str
    parent: FrameRef
    child: FrameRef
    position: JointPlace = (0.0, 0.0, 0.0)
    orientation: Orientation = (0.0, 0.0, 0.0)
    offset: JointPlace = (0.0, 0.0, 0.0)
    cut: StrictBool | None = None

    fixed_names: ClassVar[tuple[str, ...]] = ()
    """Short names of the coordinates of all joints of a type; ball and free joints have a choice instead."""
    constraint_count: ClassVar[int]
    """How many constraints it takes to hold the two bodies together without the joint's coordinates."""

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Short names of the coordinates, in order."""
        return self.fixed_names

    @property
    def coordinate_units(self) -> tuple[str, ...]:
        """Units of the coordinates: "rad", "m", or "-" for components of a quaternion."""
        angular = ("angle", "angle1", "angle2", "phi", "theta", "psi")
        return tuple("rad" if name in angular else "-" if name[0] == "q" else "m" for name in self.coordinate_names)

    def problems(self) -> Iterator[Problem]:
        """Axes that have a direction, and a unit quaternion."""
        yield from orientation_problems(self.orientation)
        for key in _directions(type(self)):
            yield from direction_problems(getattr(self, key), key)

    def roundings(self) -> Iterator[Problem]:
        """A rounded quaternion."""
        yield from orientation_roundings(self.orientation)

    def canonical(self) -> dict[str, Any]:
        """Unit axes, and the orientation as a unit quaternion."""
        axes = {key: unit(getattr(self, key)) for key in _directions(type(self))}
        return {"orientation": quaternion(self.orientation), **axes}


@cache
def _directions(joint: type[Joint]) -> tuple[str, ...]:
    """The fields that hold an axis."""
    return tuple(key for key, kind in kinds(joint).items() if kind == Kind("direction"))


class Weld(Joint):
    """A rigid connection, without coordinates."""

    type: Literal["weld"] = "weld"
    constraint_count: ClassVar[int] = 6


class Revolute(Joint):
    """Rotation about an axis. Coordinate: angle [rad].

    Parameters
    ----------
    axis : vector
        Direction in the joint frame; normalised.
    """

    type: Literal["revolute"] = "revolute"
    axis: Direction
    fixed_names: ClassVar[tuple[str, ...]] = ("angle",)
    constraint_count: ClassVar[int] = 5


class Prismatic(Joint):
    """Translation along an axis. Coordinate: displacement [m].

    Parameters
    ----------
    axis : vector
        Direction in the joint frame; normalised.
    """

    type: Literal["prismatic"] = "prismatic"
    axis: Direction
    fixed_names: ClassVar[tuple[str, ...]] = ("displacement",)
    constraint_count: ClassVar[int] = 5


class Screw(Joint):
    """Rotation about an axis with a proportional translation along it. Coordinate: angle [rad].

    Parameters
    ----------
    axis : vector
        Direction in the joint frame; normalised.
    pitch : number
        Translation per angle [m/rad].
    """

    type: Literal["screw"] = "screw"
    axis: Direction
    pitch: Scalar
    fixed_names: ClassVar[tuple[str, ...]] = ("angle",)
    constraint_count: ClassVar[int] = 5


class Cylindrical(Joint):
    """Rotation about an axis and translation along it. Coordinates: angle [rad], displacement [m].

    Parameters
    ----------
    axis : vector
        Direction in the joint frame; normalised.
    """

    type: Literal["cylindrical"] = "cylindrical"
    axis: Direction
    fixed_names: ClassVar[tuple[str, ...]] = ("angle", "displacement")
    constraint_count: ClassVar[int] = 4


class Universal(Joint):
    """Rotation about an axis fixed in the parent, then one fixed in the child. Coordinates: angle1, angle2 [rad].

    Parameters
    ----------
    axes : list
        Two directions in the joint frame at zero coordinates, not parallel; normalised.
    """

    type: Literal["universal"] = "universal"
    axes: TwoDirections
    fixed_names: ClassVar[tuple[str, ...]] = ("angle1", "angle2")
    constraint_count: ClassVar[int] = 4

    def problems(self) -> Iterator[Problem]:
        """Two axes that have directions and are not parallel."""
        yield from super().problems()
        for i, axis in enumerate(self.axes):
            yield from direction_problems(axis, "axes", i)
        if all(map(np.any, self.axes)) and is_parallel(*self.axes):
            remedy = "turn one of them, or use the type revolute"
            yield Problem(("axes",), wrong("two axes that are not parallel", show(self.axes), remedy))

    def canonical(self) -> dict[str, Any]:
        """Unit axes, and the orientation as a unit quaternion."""
        return {**super().canonical(), "axes": tuple(unit(axis) for axis in self.axes)}


class Planar(Joint):
    """Translation in a plane, then rotation about its normal. Coordinates: x, y [m], angle [rad].

    Parameters
    ----------
    normal : vector
        Direction of the plane's normal in the joint frame; normalised.
    x_axis : vector
        Direction of x in the joint frame; its part along the normal is removed. By default that of the frame's x
        axis, or of its y axis if the normal is within 26 degrees of x. The direction of y is normal × x.
    """

    type: Literal["planar"] = "planar"
    normal: Direction
    x_axis: OptionalVector = None
    fixed_names: ClassVar[tuple[str, ...]] = ("x", "y", "angle")
    constraint_count: ClassVar[int] = 3

    def problems(self) -> Iterator[Problem]:
        """A normal and, if given, an x axis across it."""
        yield from super().problems()
        if self.x_axis is not None and np.any(self.normal) and is_parallel(self.normal, self.x_axis):
            remedy = "choose a direction in the plane"
            expected = f"a direction across the normal {show(self.normal)}"
            yield Problem(("x_axis",), wrong(expected, show(self.x_axis), remedy))

    def canonical(self) -> dict[str, Any]:
        """Unit directions of normal and x at a right angle, and the orientation as a unit quaternion."""
        normal = np.array(unit(self.normal))
        default = (1.0, 0.0, 0.0) if abs(normal[0]) < 0.9 else (0.0, 1.0, 0.0)
        x = np.array(self.x_axis or default, dtype=float)
        return {**super().canonical(), "x_axis": unit(x - (x @ normal) * normal)}


def _rotation_names(coordinates: str) -> tuple[str, ...]:
    return ("qw", "qx", "qy", "qz") if coordinates == "quaternion" else ("phi", "theta", "psi")


class Ball(Joint):
    """Rotation about a point. Coordinates: a unit quaternion qw, qx, qy, qz, or the Euler angles phi, theta, psi [rad].

    Parameters
    ----------
    coordinates : str
        quaternion, or the axes of three successive rotations, each about an axis of the frame already turned, as zxz.
        Euler angles have singular positions; the quaternion has none.
    """

    type: Literal["ball"] = "ball"
    coordinates: RotationCoordinates = "quaternion"
    constraint_count: ClassVar[int] = 3

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The components of the quaternion, or the three angles."""
        return _rotation_names(self.coordinates)


class Free(Joint):
    """Free motion. Coordinates: x, y, z [m], then those of the rotation as in a ball joint.

    Parameters
    ----------
    coordinates : str
        quaternion, or the axes of three successive rotations, each about an axis of the frame already turned, as zxz.
    """

    type: Literal["free"] = "free"
    coordinates: RotationCoordinates = "quaternion"
    constraint_count: ClassVar[int] = 0

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The place, and the components of the quaternion or the three angles."""
        return ("x", "y", "z", *_rotation_names(self.coordinates))


AnyJoint = Annotated[
    Weld | Revolute | Prismatic | Screw | Universal | Cylindrical | Planar | Ball | Free, Field(discriminator="type")
]
