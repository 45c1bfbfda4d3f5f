"""Joints: how a body may move in the frame of another one, and the coordinates of that motion.

A joint is its class here. Its fields are what a user writes; `motions` says how the child moves, and gives the coordinates,
their units and their number; `holds` says which constraints the joint is where it has no coordinates. All else follows: how it
is assembled, started, drawn and described.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool

from mbvi.errors import ModelError
from mbvi.model.base import Element
from mbvi.model.directions import (
    cross,
    direction_problems,
    is_parallel,
    orientation_problems,
    orientation_roundings,
    quaternion,
    unit,
)
from mbvi.model.expressions import Problem, nearest, placed, show, wrong
from mbvi.model.fields import (
    ByCoordinate,
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
from mbvi.model.holds import AXES, Aligned, Angle, Hold, Parallel, on_line, on_plane, together
from mbvi.model.limits import Limits
from mbvi.model.motions import EULER_ANGLES, ElementaryMotion, rotation, screw, slide, turn
from mbvi.recording import array, dot, is_zero, plain

__all__ = [
    "Ball",
    "Cylindrical",
    "Free",
    "Joint",
    "Planar",
    "Prismatic",
    "Revolute",
    "Screw",
    "Slot",
    "Universal",
    "Weld",
]


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
    limits : mapping
        Limits of its coordinates, by their short names, as angle.
    armature : number or mapping
        Inertia of rotors and gears, which the joint's coordinate has besides that of the bodies: ½ armature × rate² is added
        to the kinetic energy. A rotor behind a gear counts with the square of its ratio. A joint with several coordinates has
        it by their short names, as {angle: 0.1} [kg m² or kg].
    friction : number
        Dry friction: the largest torque or force with which it resists a motion [N m or N]. It acts where a dry_friction among
        the contacts of the model names the joint.
    """

    type: str
    parent: FrameRef
    child: FrameRef
    position: JointPlace = (0.0, 0.0, 0.0)
    orientation: Orientation = (0.0, 0.0, 0.0)
    offset: JointPlace = (0.0, 0.0, 0.0)
    cut: StrictBool | None = None
    limits: dict[str, Limits] = Field(default={})
    armature: ByCoordinate = Field(default={})
    friction: Scalar = 0.0

    def motions(self) -> list[ElementaryMotion]:
        """The elementary motions of the child, each in the frame that those before it have moved.

        Their names are known of every joint, their axes of joints in numbers, as in `Model.resolved`.
        """
        raise ModelError(f"joints: {wrong('a type of joint that says its motions', type(self).__name__)}")

    def holds(self) -> list[Hold] | None:
        """What the joint holds where it becomes constraints, of a joint in numbers: as many rows as `constraint_count`.

        By default None: then its coordinates stay, as those of a massless frame that is welded to the child.
        """
        return None

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Short names of the coordinates, in order."""
        return tuple(name for motion in self.motions() for name in motion.names)

    @property
    def coordinate_units(self) -> tuple[str, ...]:
        """Units of the coordinates: "rad", "m", or "-" for components of a quaternion."""
        return tuple(motion.unit for motion in self.motions() for _ in motion.names)

    @property
    def constraint_count(self) -> int:
        """How many constraints it takes to hold the two bodies together without the joint's coordinates."""
        return 6 - sum(motion.freedoms for motion in self.motions())

    @property
    def is_free(self) -> bool:
        """Whether it holds nothing."""
        return self.constraint_count == 0

    @property
    def is_pivot(self) -> bool:
        """Whether the child turns about the joint's place in more than one way, and does not move from there."""
        motions = self.motions()
        return all(motion.kind in ("turn", "quaternion") for motion in motions) and self.constraint_count < 5

    @property
    def has_euler_angles(self) -> bool:
        """Whether its last three coordinates are Euler angles."""
        return self.coordinate_names[-3:] == EULER_ANGLES

    def problems(self) -> Iterator[Problem]:
        """Axes that have a direction, a unit quaternion, limits of coordinates that there are, and friction that resists."""
        yield from orientation_problems(self.orientation)
        for key in _directions(type(self)):
            yield from direction_problems(getattr(self, key), key)
        for name, limits in self.limits.items():
            yield from placed(self._name_problems(name), "limits")
            yield from placed(limits.problems(), "limits", name)
        yield from placed(self._armature_problems(), "armature")
        if plain(self.friction) < 0:
            yield Problem(("friction",), wrong("a friction of at least 0", show(self.friction), "change its sign"))

    def _name_problems(self, name: str) -> Iterator[Problem]:
        """A name of no coordinate, or of one of a quaternion."""
        known = [each for each, unit in zip(self.coordinate_names, self.coordinate_units, strict=True) if unit != "-"]
        if name not in known:
            yield Problem((name,), wrong("an angle or a displacement", show(name), nearest(name, known)))

    def _armature_problems(self) -> Iterator[Problem]:
        """Inertias of coordinates that there are not, without the coordinate's name, or less than 0."""
        if not isinstance(self.armature, dict):
            names = self.coordinate_names
            if self.armature and len(names) != 1:
                found = f"{show(self.armature)} for {', '.join(names) or 'a joint without coordinates'}"
                remedy = (
                    "name those that have some, as {angle: 0.1}" if "rad" in self.coordinate_units else "leave it out"
                )
                yield Problem((), wrong("the inertia of one coordinate", found, remedy))
                return
        for name, value in self.armatures.items():
            yield from self._name_problems(name)
            if plain(value) < 0:
                yield Problem((name,), wrong("an inertia of at least 0", show(value), "change its sign"))

    @property
    def armatures(self) -> dict[str, Any]:
        """The inertias of coordinates by their short names, those that are 0 left out."""
        given = self.armature
        if not isinstance(given, dict):
            given = dict.fromkeys(self.coordinate_names[:1], given)
        return {name: value for name, value in given.items() if value != 0}

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

    def motions(self) -> list[ElementaryMotion]:
        """No motions: the child does not move."""
        return []

    def holds(self) -> list[Hold]:
        """Place and orientation."""
        return [together(), Parallel()]


class Revolute(Joint):
    """Rotation about an axis. Coordinate: angle [rad].

    Parameters
    ----------
    axis : vector
        Direction in the joint frame; normalised.
    """

    type: Literal["revolute"] = "revolute"
    axis: Direction

    def motions(self) -> list[ElementaryMotion]:
        """A turn about the axis."""
        return [turn("angle", self.axis)]

    def holds(self) -> list[Hold]:
        """The place, and the direction of the axis."""
        return [together(), Aligned(self.axis)]


class Prismatic(Joint):
    """Translation along an axis. Coordinate: displacement [m].

    Parameters
    ----------
    axis : vector
        Direction in the joint frame; normalised.
    """

    type: Literal["prismatic"] = "prismatic"
    axis: Direction

    def motions(self) -> list[ElementaryMotion]:
        """A slide along the axis."""
        return [slide("displacement", self.axis)]

    def holds(self) -> list[Hold]:
        """The orientation, and the place on the axis."""
        return [Parallel(), on_line(self.axis)]


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

    def motions(self) -> list[ElementaryMotion]:
        """A turn about the axis that advances along it."""
        return [screw("angle", self.axis, self.pitch)]


class Cylindrical(Joint):
    """Rotation about an axis and translation along it. Coordinates: angle [rad], displacement [m].

    Parameters
    ----------
    axis : vector
        Direction in the joint frame; normalised.
    """

    type: Literal["cylindrical"] = "cylindrical"
    axis: Direction

    def motions(self) -> list[ElementaryMotion]:
        """A turn about the axis, and a slide along it."""
        return [turn("angle", self.axis), slide("displacement", self.axis)]

    def holds(self) -> list[Hold]:
        """The place on the axis, and its direction."""
        return [on_line(self.axis), Aligned(self.axis)]


class Universal(Joint):
    """Rotation about an axis fixed in the parent, then one fixed in the child. Coordinates: angle1, angle2 [rad].

    Parameters
    ----------
    axes : list
        Two directions in the joint frame at zero coordinates, not parallel; normalised.
    """

    type: Literal["universal"] = "universal"
    axes: TwoDirections

    def motions(self) -> list[ElementaryMotion]:
        """A turn about each of the two axes."""
        return [turn("angle1", self.axes[0]), turn("angle2", self.axes[1])]

    def holds(self) -> list[Hold]:
        """The place, and the angle between the axes."""
        return [together(), Angle(*self.axes)]

    def problems(self) -> Iterator[Problem]:
        """Two axes that have directions and are not parallel."""
        yield from super().problems()
        for i, axis in enumerate(self.axes):
            yield from direction_problems(axis, "axes", i)
        if not any(map(is_zero, self.axes)) and is_parallel(*self.axes):
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

    def motions(self) -> list[ElementaryMotion]:
        """Slides along x and y, and a turn about the normal."""
        return [slide("x", self.x_axis), slide("y", self.y_axis), turn("angle", self.normal)]

    def holds(self) -> list[Hold]:
        """The place in the plane, and the direction of its normal."""
        return [on_plane(self.normal), Aligned(self.normal)]

    @property
    def y_axis(self) -> tuple[float, ...] | None:
        """The direction of y in the joint frame; None before the joint is in numbers."""
        if self.x_axis is None or any(isinstance(each, str) for each in (*self.normal, *self.x_axis)):
            return None
        return tuple(cross(array(self.normal), array(self.x_axis)).tolist())

    def problems(self) -> Iterator[Problem]:
        """A normal and, if given, an x axis across it."""
        yield from super().problems()
        if self.x_axis is not None and not is_zero(self.normal) and is_parallel(self.normal, self.x_axis):
            remedy = "choose a direction in the plane"
            expected = f"a direction across the normal {show(self.normal)}"
            yield Problem(("x_axis",), wrong(expected, show(self.x_axis), remedy))

    def canonical(self) -> dict[str, Any]:
        """Unit directions of normal and x at a right angle, and the orientation as a unit quaternion."""
        normal = array(unit(self.normal))
        default = (1.0, 0.0, 0.0) if abs(normal[0]) < 0.9 else (0.0, 1.0, 0.0)
        x = array(self.x_axis or default)
        return {**super().canonical(), "x_axis": unit(x - dot(x, normal) * normal)}


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

    def motions(self) -> list[ElementaryMotion]:
        """Any rotation."""
        return rotation(self.coordinates)

    def holds(self) -> list[Hold]:
        """The place."""
        return [together()]


class Slot(Joint):
    """Translation of a point along an axis, and any rotation about it. Coordinates: displacement [m], then those of a ball joint.

    Parameters
    ----------
    axis : vector
        Direction in the joint frame; normalised.
    coordinates : str
        quaternion, or the axes of three successive rotations, each about an axis of the frame already turned, as zxz.
    """

    type: Literal["slot"] = "slot"
    axis: Direction
    coordinates: RotationCoordinates = "quaternion"

    def motions(self) -> list[ElementaryMotion]:
        """A slide along the axis, and any rotation."""
        return [slide("displacement", self.axis), *rotation(self.coordinates)]

    def holds(self) -> list[Hold]:
        """The place on the axis."""
        return [on_line(self.axis)]


class Free(Joint):
    """Free motion. Coordinates: x, y, z [m], then those of the rotation as in a ball joint.

    Parameters
    ----------
    coordinates : str
        quaternion, or the axes of three successive rotations, each about an axis of the frame already turned, as zxz.
    """

    type: Literal["free"] = "free"
    coordinates: RotationCoordinates = "quaternion"

    def motions(self) -> list[ElementaryMotion]:
        """Slides along the three axes, and any rotation."""
        return [*(slide(name, axis) for name, axis in zip("xyz", AXES, strict=True)), *rotation(self.coordinates)]

    def holds(self) -> list[Hold]:
        """An empty list: a free body is held by nothing."""
        return []


AnyJoint = Annotated[
    Weld | Revolute | Prismatic | Screw | Universal | Cylindrical | Planar | Ball | Slot | Free,
    Field(discriminator="type"),
]
