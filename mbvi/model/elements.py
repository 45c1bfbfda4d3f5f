"""What the user describes: bodies, joints and the Model that holds them, the same in YAML and Python.

Forces and constraints are elements too, in files of their own; all are names of this one.

Every number may be an expression ("pi/3", "60 deg", names of parameters). A Model checks everything when it is made;
every error is a ModelError of one line that begins with the keys that lead to its place, as `joints.crank.axis: …`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, cast

import numpy as np
from pydantic import Field, PrivateAttr, StrictBool, model_validator

import mbvi
from mbvi.errors import ModelError
from mbvi.model import shapes
from mbvi.model.base import Element, one_line, validation_error
from mbvi.model.constraints import AnyConstraint
from mbvi.model.constraints import CoincidentFrames as CoincidentFrames
from mbvi.model.constraints import CoincidentPoints as CoincidentPoints
from mbvi.model.constraints import Coupling as Coupling
from mbvi.model.constraints import Distance as Distance
from mbvi.model.constraints import PointOnCurve as PointOnCurve
from mbvi.model.constraints import PointOnLine as PointOnLine
from mbvi.model.constraints import PointOnPlane as PointOnPlane
from mbvi.model.constraints import PrescribedCoordinate as PrescribedCoordinate
from mbvi.model.constraints import PrescribedPoint as PrescribedPoint
from mbvi.model.directions import (
    direction_problems,
    is_parallel,
    orientation_problems,
    orientation_roundings,
    quaternion,
    unit,
)
from mbvi.model.expressions import Problem, nearest, placed, show, wrong
from mbvi.model.fields import (
    BodyName,
    Coordinates,
    Direction,
    FrameRef,
    Inertia,
    JointPlace,
    Kind,
    Name,
    OptionalScalar,
    OptionalVector,
    Orientation,
    ParameterName,
    Place,
    Points,
    RotationCoordinates,
    Scalar,
    Text,
    Title,
    TwoDirections,
    Vector,
    kinds,
)
from mbvi.model.fields import Table as Table  # an element too, which stands with the fields that accept it
from mbvi.model.forces import AnyForce
from mbvi.model.forces import Between as Between
from mbvi.model.forces import Damper as Damper
from mbvi.model.forces import Force as Force
from mbvi.model.forces import JointDamper as JointDamper
from mbvi.model.forces import JointForce as JointForce
from mbvi.model.forces import JointSpring as JointSpring
from mbvi.model.forces import OnJoint as OnJoint
from mbvi.model.forces import Spring as Spring
from mbvi.model.forces import Torque as Torque
from mbvi.model.graph import summary
from mbvi.model.meshes import Files
from mbvi.model.resolve import Parts, resolve
from mbvi.schemes.catalog import find_scheme

MAX_STEPS = 1e15


class Posed(Element):
    """The common part of shapes.

    Parameters
    ----------
    position : vector
        The shape's place in the body frame [m].
    orientation : vector or quaternion
        The shape's orientation in the body frame: rotation vector (axis times angle) [rad] or unit quaternion (w, x,
        y, z).
    density : number
        Density of the material [kg/m³]. With neither density nor mass the shape is for viewing only.
    mass : number
        Mass, instead of density [kg].
    """

    position: Vector = (0.0, 0.0, 0.0)
    orientation: Orientation = (0.0, 0.0, 0.0)
    density: OptionalScalar = None
    mass: OptionalScalar = None

    def problems(self) -> Iterator[Problem]:
        """Density or mass, not both, and a unit quaternion."""
        yield from orientation_problems(self.orientation)
        if self.density is not None and self.mass is not None:
            yield Problem(("mass",), wrong("density or mass", "both", "remove one of them"))

    def roundings(self) -> Iterator[Problem]:
        """A rounded quaternion."""
        yield from orientation_roundings(self.orientation)

    def canonical(self) -> dict[str, Any]:
        """The orientation as a unit quaternion."""
        return {"orientation": quaternion(self.orientation)}


class Box(Posed):
    """A box with its centre at the shape's place.

    Parameters
    ----------
    size : vector
        Lengths of the edges along x, y, z [m].
    """

    type: Literal["box"] = "box"
    size: Vector


class Sphere(Posed):
    """A sphere with its centre at the shape's place.

    Parameters
    ----------
    radius : number
        Radius [m].
    """

    type: Literal["sphere"] = "sphere"
    radius: Scalar


class Cylinder(Posed):
    """A cylinder along z with its centre at the shape's place.

    Parameters
    ----------
    radius : number
        Radius [m].
    length : number
        Length along z [m].
    """

    type: Literal["cylinder"] = "cylinder"
    radius: Scalar
    length: Scalar


class Capsule(Posed):
    """A cylinder along z, closed by two half spheres, with its centre at the shape's place.

    Parameters
    ----------
    radius : number
        Radius [m].
    length : number
        Length of the cylinder; the capsule is longer by two radii [m].
    """

    type: Literal["capsule"] = "capsule"
    radius: Scalar
    length: Scalar


class Cone(Posed):
    """A cone with the centre of its base at the shape's place and its apex at +z.

    Parameters
    ----------
    radius : number
        Radius of the base [m].
    height : number
        Height, from base to apex [m].
    """

    type: Literal["cone"] = "cone"
    radius: Scalar
    height: Scalar


class Mesh(Posed):
    """A triangle mesh from a file. To have mass it must be closed (watertight), with its faces outward.

    Parameters
    ----------
    file : str
        Path of an STL, OBJ, PLY, OFF or GLB file, relative to the folder of the model file. Materials and textures do not
        matter; the buffers of a GLB must be in it, and not compressed.
    scale : number
        Factor from the file's unit of length to the metre; 1 if left out, and then a mesh of more than 10 m or 100 000 kg
        gives a warning, since many files are in millimetres.
    max_bytes : number
        Size up to which the file is read, in bytes; its triangles are counted too, with 50 bytes each.
    """

    type: Literal["mesh"] = "mesh"
    file: str
    scale: OptionalScalar = None
    max_bytes: Scalar = 1e8

    @property
    def factor(self) -> float:
        """The scale as a number."""
        return 1.0 if self.scale is None else float(self.scale)

    def canonical(self) -> dict[str, Any]:
        """The orientation as a unit quaternion, and a scale."""
        return {**super().canonical(), "scale": self.factor}


Shape = Annotated[Box | Sphere | Cylinder | Capsule | Cone | Mesh, Field(discriminator="type")]


class PointMass(Element):
    """A mass at a point of a body.

    Parameters
    ----------
    mass : number
        Mass [kg].
    position : vector or str
        Place in the body frame [m], or the name of one of the body's points.
    """

    mass: Scalar
    position: Annotated[Place, Kind("place")]


class Body(Element):
    """A rigid body: the sum of its explicit mass properties, its point masses and its shapes.

    Parameters
    ----------
    mass : number
        Explicit mass [kg].
    center_of_mass : vector
        Centre of the explicit mass, in the body frame [m].
    inertia : list
        Inertia of the explicit mass: [Ixx, Iyy, Izz], or [Ixx, Iyy, Izz, Ixy, Ixz, Iyz] with the products as they
        stand in the inertia matrix, signs included, or the matrix of 3 rows [kg m²].
    inertia_about : str
        The point that the inertia is about: center_of_mass (of the explicit mass), origin (of the body frame), or one
        of points.
    points : mapping
        Named points of the body, in the body frame [m].
    point_masses : mapping
        Named point masses.
    shapes : list
        Shapes, with a density or a mass, or for viewing only.
    """

    mass: Scalar = 0.0
    center_of_mass: Vector = (0.0, 0.0, 0.0)
    inertia: Inertia = (0.0, 0.0, 0.0)
    inertia_about: str = "center_of_mass"
    points: Points = Field(default={})
    point_masses: dict[Name, PointMass] = Field(default={})
    shapes: tuple[Shape, ...] = ()

    def problems(self) -> Iterator[Problem]:
        """A body's masses, inertia and shapes."""
        places = ["center_of_mass", "origin", *self.points]
        if self.inertia_about not in places:
            remedy = nearest(self.inertia_about, places)
            yield Problem(("inertia_about",), wrong("a point", show(self.inertia_about), remedy))
            return
        yield from shapes.problems(self)
        for i, shape in enumerate(self.shapes):
            yield from placed(shape.problems(), "shapes", i)

    def roundings(self) -> Iterator[Problem]:
        """Rounded inertias and quaternions."""
        yield from shapes.roundings(self)
        for i, shape in enumerate(self.shapes):
            yield from placed(shape.roundings(), "shapes", i)

    def canonical(self) -> dict[str, Any]:
        """Inertia as a matrix, that of a rigid body, and shapes with unit quaternions."""
        inertia = shapes.mended_inertia(self).tolist()
        turned = tuple(shape.replaced(shape.canonical()) for shape in self.shapes)
        return {"inertia": tuple(map(tuple, inertia)), "shapes": turned}


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


class Initial(Element):
    """Initial coordinates and rates of a joint, in the order of its coordinates; a number will do for one coordinate.

    Parameters
    ----------
    position : number or list
        The coordinates; zero if left out (the identity, for a quaternion). Of a point mass on a free joint x, y and z
        will do [rad, m, -].
    velocity : number or list
        Their rates; zero if left out. For a quaternion, its 4 rates or the 3 components of the angular velocity along
        the axes of the child. Of a point mass on a free joint those of x, y and z will do [rad/s, m/s, 1/s].
    hold : bool
        Whether to keep these coordinates as given when the start is moved onto the constraints.
    """

    position: Annotated[Coordinates, Kind("numbers", unit="position")] = None
    velocity: Annotated[Coordinates, Kind("numbers", unit="velocity")] = None
    hold: StrictBool = False


def count_steps(ratio: float) -> int:
    """The least number of steps, at least one, that reach a duration of `ratio` steps, a whole number but for rounding or not."""
    nearest = round(ratio)
    return max(1, nearest if abs(nearest - ratio) <= 1e-12 * ratio else math.ceil(ratio))


class Simulation(Element):
    """What is run if nothing else is asked for.

    Parameters
    ----------
    scheme : str
        Name of the integration scheme.
    step : number
        Step size [s].
    duration : number
        Length of the simulated time [s].
    project : bool
        Whether a start that violates the constraints is moved onto them; if not, it is an error.
    """

    scheme: str = "simpson"
    step: Scalar = 0.01
    duration: Scalar = 10.0
    project: StrictBool = True

    def problems(self) -> Iterator[Problem]:
        """A scheme that there is, positive times, and not too many steps."""
        try:
            find_scheme(self.scheme)
        except ModelError as error:
            yield Problem(("scheme",), str(error).removeprefix("scheme: "))
        step, duration = float(self.step), float(self.duration)
        for key, value, example in (("step", step, "0.01"), ("duration", duration, "10")):
            if value <= 0:
                yield Problem((key,), wrong("a time greater than 0", show(value), f"write for example {example} [s]"))
        if min(step, duration) > 0 and duration / step > MAX_STEPS:
            found = f"steps of {step:g} s for {duration:g} s"
            yield Problem(("step",), wrong("at most 1e15 steps", found, "a larger step or a shorter duration"))


class Model(Element):
    """A system of bodies, joints, forces and constraints, with initial values and what to run.

    Parameters
    ----------
    name : str
        A short name.
    description : str
        What it is, in words.
    formulation : str
        tree: generalized coordinates of the joints, of which those that close loops become constraints; embedding:
        every body is a point or a position and a unit quaternion, every joint a set of constraints.
    parameters : mapping
        Named numbers, which every expression may use; they may use each other in any order.
    gravity : vector
        Acceleration of gravity, in the world frame [m/s²].
    bodies : mapping
        Named bodies, at least one.
    joints : mapping
        Named joints, which tie every body to the world; they may close loops.
    forces : mapping
        Named forces, springs and dampers.
    constraints : mapping
        Named constraints other than joints.
    initial : mapping
        Initial coordinates and rates, by the names of joints.
    simulation : mapping
        Scheme, step and duration.

    Raises
    ------
    ModelError
        If anything is wrong, save meshes, which are read only when a file is loaded or a system is assembled.

    Examples
    --------
    >>> bob = Body(mass=1, center_of_mass=(0, 0, "-length"))
    >>> pivot = Revolute(parent="world", child="bob", axis=(0, 1, 0))
    >>> model = Model(name="pendulum", parameters={"length": 2}, bodies={"bob": bob}, joints={"pivot": pivot})
    >>> model.resolved().bodies["bob"].center_of_mass
    (0.0, 0.0, -2.0)
    """

    name: Title
    description: Text = ""
    formulation: Literal["tree", "embedding"] = "tree"
    parameters: dict[ParameterName, Scalar] = Field(default={})
    gravity: Vector = (0.0, 0.0, -9.81)
    bodies: dict[BodyName, Body]
    joints: dict[Name, AnyJoint] = Field(default={})
    forces: dict[Name, AnyForce] = Field(default={})
    constraints: dict[Name, AnyConstraint] = Field(default={})
    initial: dict[str, Initial] = Field(default={})
    simulation: Simulation = Simulation()

    _files: Files = PrivateAttr(default_factory=Files)
    _is_resolved: bool = PrivateAttr(False)
    _resolved: Model | None = PrivateAttr(None)
    _parts: Parts = PrivateAttr(default_factory=dict)
    _mended: tuple[str, ...] = PrivateAttr(())

    @property
    def folder(self) -> Path | None:
        """The folder that mesh files are relative to; None, the working directory, if the model is not from a file."""
        return self._files.folder

    @property
    def files(self) -> Files:
        """The model's mesh files, as `mass_properties` takes them."""
        return self._files

    @property
    def mended(self) -> tuple[str, ...]:
        """What was mended of rounded numbers, a line each: inertias and quaternions that miss by 5e-4 at most.

        Examples
        --------
        >>> rod = Body(mass=1, inertia=(0.0833, 0.0833, 0.1666))
        >>> free = Free(parent="world", child="rod", orientation=(0.7071, 0.7071, 0, 0))
        >>> for line in Model(name="rod", bodies={"rod": rod}, joints={"free": free}).mended:
        ...     print(line)
        joints.free.orientation: the norm of [0.7071, 0.7071, 0, 0] is 1 - 9.6e-06; taken as rounded, and divided by it
        """
        return self.resolved()._mended

    def resolved(self) -> Model:
        """The same model in numbers: what a solver reads.

        Returns
        -------
        Model
            Every expression is a float, save functions of the time t and curves, which are postfix programs (tuples,
            see `expressions.postfix`). Orientations are unit quaternions (w, x, y, z), axes unit vectors, inertias
            3×3, named points coordinates, initial positions and velocities tuples (or None), and whatever is on a
            coordinate of a joint names it.

        Raises
        ------
        ModelError
            If a value is wrong.
        """
        if self._is_resolved:
            return self
        if self._resolved is None:
            resolved, self._parts, problems = resolve(self, self._parts)
            if problems:
                raise ModelError(one_line(problems))
            self._resolved = resolved
        return self._resolved

    def replaced(self, values: Mapping[str, Any], deep: bool = False) -> Model:
        """A copy with other values of some fields, which are not checked."""
        copied = super().replaced(values, deep)
        copied._resolved = None
        if not set(values) <= {"formulation", "parameters"}:
            copied._parts = {}
        return copied

    def with_parameters(self, values: Mapping[str, float | str]) -> Model:
        """The same model with other values of some parameters.

        Parameters
        ----------
        values : mapping of str to number or expression
            New values of parameters that the model has.

        Raises
        ------
        ModelError
            If the model has no such parameter or the new values make it wrong.
        """
        if self._is_resolved:
            raise ModelError(
                "a resolved model has no parameters left to change; change those of the model it came from"
            )
        if not isinstance(values, Mapping):
            raise ModelError(f"parameters: {wrong('a mapping of names to values', show(values))}")
        for name in values:
            if name not in self.parameters:
                text = wrong("a parameter", show(name), nearest(str(name), self.parameters))
                raise ModelError(str(Problem(("parameters", name), text)))
        model = Model(**(dict(self) | {"parameters": self.parameters | dict(values)}))
        model._files = self._files
        return model

    def __repr__(self) -> str:
        """Name and what it is made of."""
        return f"<Model {self.name!r}: {summary(self)}>"

    __str__ = __repr__

    def _repr_svg_(self) -> str | None:
        """The graph of bodies and joints, for notebooks; None without matplotlib."""
        try:
            return cast(str | None, getattr(mbvi.draw_graph(self), "_repr_svg_", lambda: None)())
        except ModelError:
            return None

    def __eq__(self, other: object) -> bool:
        """True if all fields are equal; mesh files do not count."""
        if not isinstance(other, Model):
            return NotImplemented
        return dict(self) == dict(other)

    __hash__ = None  # type: ignore[assignment]

    @model_validator(mode="after")
    def _check(self) -> Model:
        _, self._parts, problems = resolve(self, {})
        if problems:
            raise validation_error(problems)
        return self
