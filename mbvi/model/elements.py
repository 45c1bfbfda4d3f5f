"""What the user describes: bodies, joints, forces and the Model that holds them, the same in YAML and Python.

Every number may be an expression ("pi/3", "60 deg", names of parameters). A Model checks everything when it is made;
every error is a ModelError of one line that begins with the keys that lead to its place, as `joints.crank.axis: …`.

The file has four parts: kinds of fields, elements, the Model, and what turns expressions into numbers and checks them.
"""

from __future__ import annotations

import functools
import math
import numbers
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args, get_origin

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    PrivateAttr,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from mbvi.errors import ModelError
from mbvi.model import graph, shapes
from mbvi.model.expressions import (
    Problem,
    as_number,
    check_parameter_name,
    evaluate,
    nearest,
    postfix,
    resolve_parameters,
    show,
    wrong,
)

WORLD = graph.WORLD
UNIT_TOLERANCE = 1e-6
"""How far the norm of a unit quaternion in a model may be from 1."""

# ------------------------------------------------------------------------------------- kinds of fields


@dataclass(frozen=True)
class Kind:
    """How a field becomes numbers: it holds `numbers`, a `place`, a function of `time` or `times` several, or a `name`.

    `of` is, for a place, the field that names the body it lies on; for a name, the mapping of the Model that has it.
    """

    name: Literal["numbers", "place", "time", "times", "name"]
    of: str = ""
    or_world: bool = False


def _error(text: str, *at: str | int) -> PydanticCustomError:
    return PydanticCustomError("mbvi", "{text}", {"text": text, "at": at})


def _scalar(value: Any, *at: int) -> float | str:
    if isinstance(value, str) and value.strip():
        number = as_number(value.strip())
        return value.strip() if number is None else _scalar(number, *at)
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise _error(wrong("a number or an expression", show(value)), *at)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _error(wrong("a finite number", show(value)), *at)
    return number


def _optional(value: Any) -> float | str | None:
    return None if value is None else _scalar(value)


def _items(value: Any) -> list[Any] | None:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return list(value) if isinstance(value, list | tuple) else None


def _scalars(expected: str, *sizes: int) -> Callable[[Any], tuple[float | str, ...]]:
    """A validator of tuples of scalars with one of these sizes (any, if none is given)."""

    def validate(value: Any) -> tuple[float | str, ...]:
        items = _items(value)
        if items is None or (sizes and len(items) not in sizes):
            raise _error(wrong(expected, show(value)))
        return tuple(_scalar(item, i) for i, item in enumerate(items))

    return validate


def _place(value: Any) -> tuple[float | str, ...] | str:
    if isinstance(value, str):
        return value
    return _scalars("3 numbers or the name of a point", 3)(value)


def _inertia(value: Any) -> tuple[Any, ...]:
    items = _items(value) or []
    if len(items) == 3 and all(_items(row) is not None for row in items):
        return tuple(_scalars("3 rows of 3 numbers", 3)(row) for row in items)
    return _scalars("[Ixx, Iyy, Izz], [Ixx, Iyy, Izz, Ixy, Ixz, Iyz] or 3 rows of 3 numbers", 3, 6)(value)


def _coordinates(value: Any) -> Any:
    if value is None or _items(value) is None:
        return _optional(value)
    return _scalars("numbers")(value)


def _time(value: Any, *at: int) -> Any:
    if isinstance(value, Table):
        return value
    if isinstance(value, Mapping):
        try:
            return Table.model_validate(value)
        except ValidationError as error:
            problem = problems_of(error, Table)[0]
            raise _error(problem.text, *at, *problem.where) from None
    return _scalar(value, *at)


def _times(value: Any) -> tuple[Any, ...]:
    items = _items(value)
    if items is None or len(items) != 3:
        raise _error(wrong("3 components, each a number, an expression of t or a table", show(value)))
    return tuple(_time(item, i) for i, item in enumerate(items))


def _name(value: str) -> str:
    if not re.fullmatch(r"\w([\w +-]*\w)?", value):
        raise _error(wrong("a name of letters, digits, _, +, - and blanks", show(value), "rename it"))
    return value


def _body_name(value: str) -> str:
    if value == WORLD:
        raise _error(wrong("a name of its own", "'world', which is the fixed frame", "rename the body"))
    return _name(value)


def _point_name(value: str) -> str:
    if value in ("origin", "center_of_mass"):
        raise _error(wrong("a name of its own", f"{value!r}, which is predefined", "rename the point"))
    return _name(value)


def _parameter_name(value: str) -> str:
    try:
        return check_parameter_name(value)
    except ModelError as error:
        raise _error(str(error)) from None


_NUMBER_SCHEMA: dict[str, Any] = {"type": ["number", "string"]}


def _list_schema(*sizes: int) -> dict[str, Any]:
    return {"type": "array", "items": _NUMBER_SCHEMA, "minItems": min(sizes), "maxItems": max(sizes)}


def _any_schema(*options: dict[str, Any]) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": list(options)})


_ROW_SCHEMA = {"type": "array", "items": _list_schema(3), "minItems": 3, "maxItems": 3}
_TABLE_SCHEMA = {
    "type": "object",
    "description": "Values [their unit] at increasing times [s], interpolated smoothly.",
    "properties": {
        key: {"type": "array", "items": _NUMBER_SCHEMA, "minItems": 2, "description": text}
        for key, text in (("times", "Strictly increasing times [s]."), ("values", "The value at each time."))
    },
    "required": ["times", "values"],
    "additionalProperties": False,
}
_TIME_SCHEMA = {"anyOf": [_NUMBER_SCHEMA, _TABLE_SCHEMA]}

SHARED_SCHEMAS: dict[str, dict[str, Any]] = {
    "Number": _NUMBER_SCHEMA,
    "Vector": _list_schema(3),
    "Table": _TABLE_SCHEMA,
    "TimeFunction": _TIME_SCHEMA,
}
"""JSON Schemas of kinds of fields that many elements have."""

_NUMBERS = Kind("numbers")
Scalar = Annotated[float | str, PlainValidator(_scalar), WithJsonSchema(_NUMBER_SCHEMA), _NUMBERS]
"""A finite number or an expression."""
OptionalScalar = Annotated[
    float | str | None, PlainValidator(_optional), WithJsonSchema({"type": ["number", "string", "null"]}), _NUMBERS
]
Scalars = Annotated[
    tuple[float | str, ...],
    PlainValidator(_scalars("a list of numbers")),
    WithJsonSchema({"type": "array", "items": _NUMBER_SCHEMA}),
    _NUMBERS,
]
Triple = tuple[float | str, float | str, float | str]
Vector = Annotated[Triple, PlainValidator(_scalars("3 numbers", 3)), WithJsonSchema(_list_schema(3)), _NUMBERS]
OptionalVector = Annotated[
    Triple | None,
    PlainValidator(lambda value: None if value is None else _scalars("3 numbers", 3)(value)),
    _any_schema(_list_schema(3), {"type": "null"}),
    _NUMBERS,
]
Orientation = Annotated[
    tuple[float | str, ...],
    PlainValidator(_scalars("a rotation vector of 3 numbers or a unit quaternion of 4 (w, x, y, z)", 3, 4)),
    WithJsonSchema(_list_schema(3, 4)),
    _NUMBERS,
]
Inertia = Annotated[
    tuple[Any, ...], PlainValidator(_inertia), _any_schema(_list_schema(3), _list_schema(6), _ROW_SCHEMA), _NUMBERS
]
Coordinates = Annotated[
    float | str | tuple[float | str, ...] | None,
    PlainValidator(_coordinates),
    _any_schema(_NUMBER_SCHEMA, {"type": "array", "items": _NUMBER_SCHEMA}, {"type": "null"}),
    _NUMBERS,
]
Place = Annotated[Triple | str, PlainValidator(_place), _any_schema(_list_schema(3), {"type": "string"})]
TimeFunction = Annotated[Any, PlainValidator(_time), WithJsonSchema(_TIME_SCHEMA), Kind("time")]
"""A number, an expression that may use the time t [s], or a Table; resolved: a float, a postfix program or a Table."""
TimeVector = Annotated[
    tuple[Any, Any, Any],
    PlainValidator(_times),
    WithJsonSchema({"type": "array", "items": _TIME_SCHEMA, "minItems": 3, "maxItems": 3}),
    Kind("times"),
]
Name = Annotated[str, AfterValidator(_name)]
BodyRef = Annotated[str, Kind("name", "bodies")]
FrameRef = Annotated[str, Kind("name", "bodies", or_world=True)]
JointRef = Annotated[str, Kind("name", "joints")]

RotationCoordinates = Literal[
    "quaternion", "xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "xzx", "yxy", "yzy", "zxz", "zyz"
]

# -------------------------------------------------------------------------------------------- elements


class Element(BaseModel):
    """The common root of all elements: frozen, without unknown keys, and with one-line errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __init__(self, /, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise ModelError(one_line(problems_of(error, type(self)))) from None

    # Of nested elements with an __init__ of their own pydantic loses the place, so this one is marked as pydantic's.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    def problems(self) -> Iterator[Problem]:
        """What is wrong with the numbers of this element, which are resolved; places are relative to the element."""
        yield from ()

    def canonical(self) -> dict[str, Any]:
        """The fields that a resolved element has in another form: unit axes, unit quaternions, inertia matrices."""
        return {}


class Table(Element):
    """A function of time given by its values at times, interpolated smoothly.

    Parameters
    ----------
    times : list
        Strictly increasing times, at least 2 [s].
    values : list
        The value at each time, in the unit of what the table stands for.
    """

    times: Scalars
    values: Scalars

    def problems(self) -> Iterator[Problem]:
        """Two or more points at increasing times."""
        if len(self.times) < 2:
            yield Problem(("times",), wrong("at least 2 times", f"{len(self.times)}"))
        elif len(self.values) != len(self.times):
            yield Problem(("values",), wrong(f"as many values as times ({len(self.times)})", f"{len(self.values)}"))
        elif np.any(np.diff(self.times) <= 0):
            yield Problem(("times",), wrong("strictly increasing times", show(self.times)))


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
        yield from _orientation_problems(self.orientation)
        if self.density is not None and self.mass is not None:
            yield Problem(("mass",), wrong("density or mass", "both", "remove one of them"))

    def canonical(self) -> dict[str, Any]:
        """The orientation as a unit quaternion."""
        return {"orientation": _quaternion(self.orientation)}


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
        Path of an STL, OBJ, PLY, OFF or GLB file, relative to the folder of the model file.
    scale : number
        Factor from the file's unit of length to the metre.
    """

    type: Literal["mesh"] = "mesh"
    file: str
    scale: Scalar = 1.0


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
    points: Annotated[dict[Annotated[str, AfterValidator(_point_name)], Vector], _NUMBERS] = {}
    point_masses: dict[Name, PointMass] = {}
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
            yield from _placed(shape, ("shapes", i))

    def canonical(self) -> dict[str, Any]:
        """Inertia as a matrix, and point masses at coordinates."""
        masses = {name: _located(point, "position", self) for name, point in self.point_masses.items()}
        turned = tuple(shape.model_copy(update=shape.canonical()) for shape in self.shapes)
        return {"inertia": _tuples(shapes.inertia_matrix(self.inertia)), "point_masses": masses, "shapes": turned}


class Joint(Element):
    """The common part of all joints.

    At zero coordinates the joint's places in parent and child coincide, and the child is turned by `orientation`.
    Axes are given in the joint frame, which is parallel to the parent's body frame.

    Parameters
    ----------
    parent : str
        The body, or world, that the joint hangs on.
    child : str
        The body that the joint moves.
    position : vector
        The joint's place in the parent's frame [m].
    orientation : vector or quaternion
        Orientation of the child's frame in the parent's at zero coordinates: rotation vector (axis times angle) [rad]
        or unit quaternion (w, x, y, z).
    offset : vector
        The joint's place in the child's frame [m].
    """

    type: str
    parent: FrameRef
    child: FrameRef
    position: Vector = (0.0, 0.0, 0.0)
    orientation: Orientation = (0.0, 0.0, 0.0)
    offset: Vector = (0.0, 0.0, 0.0)

    directions: ClassVar[tuple[str, ...]] = ()
    """The fields that hold an axis."""

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Short names of the coordinates, in order."""
        return ()

    @property
    def coordinate_units(self) -> tuple[str, ...]:
        """Units of the coordinates: "rad", "m", or "-" for components of a quaternion."""
        angular = ("angle", "angle1", "angle2", "phi", "theta", "psi")
        return tuple("rad" if name in angular else "-" if name[0] == "q" else "m" for name in self.coordinate_names)

    def problems(self) -> Iterator[Problem]:
        """Axes that have a direction, and a unit quaternion."""
        yield from _orientation_problems(self.orientation)
        for key in self.directions:
            if not np.any(getattr(self, key)):
                remedy = "write for example [0, 0, 1]"
                yield Problem((key,), wrong("a non-zero 3-vector", show(getattr(self, key)), remedy))

    def canonical(self) -> dict[str, Any]:
        """Unit axes, and the orientation as a unit quaternion."""
        axes = {key: _unit(getattr(self, key)) for key in self.directions}
        return {"orientation": _quaternion(self.orientation), **axes}


class Weld(Joint):
    """A rigid connection, without coordinates."""

    type: Literal["weld"] = "weld"


class Axial(Joint):
    """The common part of joints with one axis.

    Parameters
    ----------
    axis : vector
        Direction in the joint frame; normalised.
    """

    type: str
    axis: Vector
    directions: ClassVar[tuple[str, ...]] = ("axis",)


class Revolute(Axial):
    """Rotation about an axis. Coordinate: angle [rad]."""

    type: Literal["revolute"] = "revolute"

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The angle."""
        return ("angle",)


class Prismatic(Axial):
    """Translation along an axis. Coordinate: displacement [m]."""

    type: Literal["prismatic"] = "prismatic"

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The displacement."""
        return ("displacement",)


class Screw(Axial):
    """Rotation about an axis with a proportional translation along it. Coordinate: angle [rad].

    Parameters
    ----------
    pitch : number
        Translation per angle [m/rad].
    """

    type: Literal["screw"] = "screw"
    pitch: Scalar

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The angle."""
        return ("angle",)


class Cylindrical(Axial):
    """Rotation about an axis and translation along it. Coordinates: angle [rad], displacement [m]."""

    type: Literal["cylindrical"] = "cylindrical"

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The angle and the displacement."""
        return ("angle", "displacement")


def _two_axes(value: Any) -> tuple[Any, ...]:
    items = _items(value)
    if items is None or len(items) != 2:
        raise _error(wrong("2 axes of 3 numbers", show(value)))
    return tuple(_scalars("2 axes of 3 numbers", 3)(item) for item in items)


class Universal(Joint):
    """Rotation about an axis fixed in the parent, then one fixed in the child. Coordinates: angle1, angle2 [rad].

    Parameters
    ----------
    axes : list
        Two directions in the joint frame at zero coordinates, not parallel; normalised.
    """

    type: Literal["universal"] = "universal"
    axes: Annotated[
        tuple[Triple, Triple],
        PlainValidator(_two_axes),
        WithJsonSchema({"type": "array", "items": _list_schema(3), "minItems": 2, "maxItems": 2}),
        _NUMBERS,
    ]

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The two angles."""
        return ("angle1", "angle2")

    def problems(self) -> Iterator[Problem]:
        """Two axes that have directions and are not parallel."""
        yield from super().problems()
        for i, axis in enumerate(self.axes):
            if not np.any(axis):
                remedy = "write for example [0, 0, 1]"
                yield Problem(("axes", i), wrong("a non-zero 3-vector", show(axis), remedy))
        if all(map(np.any, self.axes)) and _is_parallel(*self.axes):
            remedy = "turn one of them, or use the type revolute"
            yield Problem(("axes",), wrong("two axes that are not parallel", show(self.axes), remedy))

    def canonical(self) -> dict[str, Any]:
        """Unit axes, and the orientation as a unit quaternion."""
        return {**super().canonical(), "axes": tuple(_unit(axis) for axis in self.axes)}


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
    normal: Vector
    x_axis: OptionalVector = None
    directions: ClassVar[tuple[str, ...]] = ("normal",)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The place in the plane and the angle."""
        return ("x", "y", "angle")

    def problems(self) -> Iterator[Problem]:
        """A normal and, if given, an x axis across it."""
        yield from super().problems()
        if self.x_axis is not None and np.any(self.normal) and _is_parallel(self.normal, self.x_axis):
            remedy = "choose a direction in the plane"
            expected = f"a direction across the normal {show(self.normal)}"
            yield Problem(("x_axis",), wrong(expected, show(self.x_axis), remedy))

    def canonical(self) -> dict[str, Any]:
        """Unit directions of normal and x at a right angle, and the orientation as a unit quaternion."""
        normal = np.array(_unit(self.normal))
        default = (1.0, 0.0, 0.0) if abs(normal[0]) < 0.9 else (0.0, 1.0, 0.0)
        x = np.array(self.x_axis or default, dtype=float)
        return {**super().canonical(), "x_axis": _unit(x - (x @ normal) * normal)}


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

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """The place, and the components of the quaternion or the three angles."""
        return ("x", "y", "z", *_rotation_names(self.coordinates))


AnyJoint = Annotated[
    Weld | Revolute | Prismatic | Screw | Universal | Cylindrical | Planar | Ball | Free, Field(discriminator="type")
]


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

    type: str
    body_a: FrameRef
    point_a: Annotated[Place, Kind("place", "body_a")] = (0.0, 0.0, 0.0)
    body_b: FrameRef
    point_b: Annotated[Place, Kind("place", "body_b")] = (0.0, 0.0, 0.0)

    def problems(self) -> Iterator[Problem]:
        """Two different bodies."""
        if self.body_a == self.body_b:
            yield Problem(("body_b",), wrong("two different bodies", f"{self.body_b!r} twice", "choose another body"))


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
    coordinate: str | None = None


class JointSpring(OnJoint):
    """A linear spring on a joint coordinate q: −stiffness × (q − rest).

    Parameters
    ----------
    stiffness : number
        Torque per angle [N m/rad] or force per displacement [N/m].
    rest : number
        The coordinate at which there is no torque or force [rad or m].
    """

    type: Literal["joint_spring"] = "joint_spring"
    stiffness: Scalar
    rest: Scalar = 0.0


class JointDamper(OnJoint):
    """A linear damper on a joint coordinate: −damping × its rate.

    Parameters
    ----------
    damping : number
        Torque per angular rate [N m s/rad] or force per speed [N s/m]; negative values drive.
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


class Initial(Element):
    """Initial coordinates and rates of a joint, in the order of its coordinates; a number will do for one coordinate.

    Parameters
    ----------
    position : number or list
        The coordinates; zero if left out (the identity, for a quaternion) [rad, m, -].
    velocity : number or list
        Their rates; zero if left out. For a quaternion, its 4 rates or the 3 components of the angular velocity along
        the axes of the child [rad/s, m/s, 1/s].
    """

    position: Coordinates = None
    velocity: Coordinates = None


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
    """

    scheme: str = "simpson"
    step: Scalar = 0.01
    duration: Scalar = 10.0

    def problems(self) -> Iterator[Problem]:
        """Positive times."""
        for key in ("step", "duration"):
            if getattr(self, key) <= 0:
                yield Problem((key,), wrong("a time greater than 0", show(getattr(self, key))))


# ------------------------------------------------------------------------------------------- the Model


class Model(Element):
    """A system of bodies, joints and forces, with initial values and what to run.

    Parameters
    ----------
    name : str
        A short name.
    description : str
        What it is, in words.
    parameters : mapping
        Named numbers, which every expression may use; they may use each other in any order.
    gravity : vector
        Acceleration of gravity, in the world frame [m/s²].
    bodies : mapping
        Named bodies, at least one.
    joints : mapping
        Named joints, which tie every body to the world as a tree.
    forces : mapping
        Named forces, springs and dampers.
    initial : mapping
        Initial coordinates and rates, by the names of joints.
    simulation : mapping
        Scheme, step and duration.

    Raises
    ------
    ModelError
        If anything is wrong, save meshes, which are read only when a file is loaded or mass properties are asked for.

    Examples
    --------
    >>> bob = Body(mass=1, center_of_mass=(0, 0, "-length"))
    >>> pivot = Revolute(parent="world", child="bob", axis=(0, 1, 0))
    >>> model = Model(name="pendulum", parameters={"length": 2}, bodies={"bob": bob}, joints={"pivot": pivot})
    >>> model.resolved().bodies["bob"].center_of_mass
    (0.0, 0.0, -2.0)
    """

    name: str
    description: str = ""
    parameters: dict[Annotated[str, AfterValidator(_parameter_name)], Scalar] = {}
    gravity: Vector = (0.0, 0.0, -9.81)
    bodies: dict[Annotated[str, AfterValidator(_body_name)], Body]
    joints: dict[Name, AnyJoint] = {}
    forces: dict[Name, AnyForce] = {}
    initial: dict[str, Initial] = {}
    simulation: Simulation = Simulation()

    _folder: Path | None = PrivateAttr(None)
    _is_resolved: bool = PrivateAttr(False)

    @property
    def folder(self) -> Path | None:
        """The folder that mesh files are relative to; None, the working directory, if the model is not from a file."""
        return self._folder

    def resolved(self) -> Model:
        """The same model in numbers: what a solver reads.

        Returns
        -------
        Model
            Every expression is a float, save functions of the time t, which are postfix programs (tuples, see
            `expressions.postfix`). Orientations are unit quaternions (w, x, y, z), axes unit vectors, inertias 3×3,
            named points coordinates, initial positions and velocities tuples (or None), and every joint force names
            its coordinate.

        Raises
        ------
        ModelError
            If a value is wrong.
        """
        if self._is_resolved:
            return self
        resolved, problems = _resolve(self)
        if problems:
            raise ModelError(one_line(problems))
        return resolved

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
        for name in values:
            if name not in self.parameters:
                raise ModelError(
                    str(Problem(("parameters", name), wrong("a parameter", show(name), nearest(name, self.parameters))))
                )
        fields = {key: getattr(self, key) for key in type(self).model_fields}
        model = Model(**(fields | {"parameters": self.parameters | dict(values)}))
        model._folder = self._folder
        return model

    def __eq__(self, other: object) -> bool:
        """True if all fields are equal; the folder does not count."""
        if not isinstance(other, Model):
            return NotImplemented
        return all(getattr(self, key) == getattr(other, key) for key in type(self).model_fields)

    __hash__ = None  # type: ignore[assignment]

    @model_validator(mode="after")
    def _check(self) -> Model:
        problems = _resolve(self)[1]
        if problems:
            details = [
                InitErrorDetails(type=_error(problem.text, *problem.where), loc=(), input=None) for problem in problems
            ]
            raise ValidationError.from_exception_data("Model", details)
        return self


# ---------------------------------------------------------------------------------- numbers and checks


def _quaternion(orientation: Sequence[Any]) -> tuple[float, ...]:
    return tuple(shapes.quaternion(orientation).tolist())


def _unit(vector: Any) -> tuple[float, ...]:
    values = np.array(vector, dtype=float)
    values = values / np.abs(values).max()
    return tuple((values / np.linalg.norm(values)).tolist())


def _tuples(matrix: Any) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, matrix.tolist()))


def _is_parallel(a: Any, b: Any) -> bool:
    """True if the directions differ by less than 1e-6 rad, or b is zero."""
    return not np.any(b) or float(np.linalg.norm(np.cross(_unit(a), _unit(b)))) < 1e-6


def _rotation_names(coordinates: str) -> tuple[str, ...]:
    return ("qw", "qx", "qy", "qz") if coordinates == "quaternion" else ("phi", "theta", "psi")


def _located(element: Any, key: str, body: Body | None) -> Any:
    """The element with the name of a point replaced by its coordinates."""
    place = getattr(element, key)
    if isinstance(place, str) and body is not None:
        return element.model_copy(update={key: body.points[place]})
    return element


def _orientation_problems(orientation: Sequence[Any]) -> Iterator[Problem]:
    if len(orientation) == 4:
        yield from _quaternion_problems("orientation", orientation)


def _quaternion_problems(key: str, values: Sequence[Any]) -> Iterator[Problem]:
    norm = math.hypot(*values)
    if abs(norm - 1) > UNIT_TOLERANCE:
        found = f"{show(values)} of norm {norm:.6g}" if norm else "the zero quaternion"
        yield Problem((key,), wrong("a unit quaternion (w, x, y, z)", found, "write for example [1, 0, 0, 0]"))


@functools.cache
def _kinds(element: type[Element]) -> tuple[tuple[str, Kind | None], ...]:
    """The fields of an element, each with its kind, or None for text and for other elements."""
    return tuple(
        (key, next((item for item in field.metadata if isinstance(item, Kind)), None))
        for key, field in element.model_fields.items()
    )


AnElement = TypeVar("AnElement", bound=Element)
Where = tuple[str | int, ...]


class _Resolver:
    """Turns the expressions of a model into numbers, looks up its names, and collects what is wrong."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.parameters, self.problems = resolve_parameters(model.parameters)

    def element(self, element: AnElement, where: Where = ()) -> AnElement:
        """The element with floats for expressions."""
        values = {}
        for key, kind in _kinds(type(element)):
            value = getattr(element, key)
            if kind is None:
                values[key] = self.elements(value, (*where, key))
            elif kind.name == "place" and isinstance(value, str):
                body = getattr(element, kind.of) if kind.of else where[1]
                values[key] = self.point(value, body, (*where, key))
            elif kind.name == "name":
                values[key] = self.known(value, kind, (*where, key))
            elif kind.name == "times":
                values[key] = tuple(self.time(item, (*where, key, i)) for i, item in enumerate(value))
            else:
                values[key] = (self.time if kind.name == "time" else self.value)(value, (*where, key))
        return element.model_copy(update=values)

    def elements(self, value: Any, where: Where) -> Any:
        """The same for an element, a mapping or a tuple of elements; anything else is returned as it is."""
        if isinstance(value, Element):
            return self.element(value, where)
        if isinstance(value, dict):
            return {key: self.elements(item, (*where, key)) for key, item in value.items()}
        if isinstance(value, tuple):
            return tuple(self.elements(item, (*where, i)) for i, item in enumerate(value))
        return value

    def value(self, value: Any, where: Where) -> Any:
        """The number of an expression, or those of a nested tuple or mapping."""
        if value is None or isinstance(value, float):
            return value
        if isinstance(value, dict):
            return {key: self.value(item, (*where, key)) for key, item in value.items()}
        if isinstance(value, tuple):
            return tuple(self.value(item, (*where, i)) for i, item in enumerate(value))
        try:
            return evaluate(value, self.parameters)
        except ModelError as error:
            self.problems.append(Problem(where, str(error)))
            return math.nan

    def time(self, value: Any, where: Where) -> Any:
        """The number or program of a function of time, or the table of numbers; what is a program already stays."""
        if isinstance(value, float | tuple):
            return value
        if isinstance(value, Table):
            table = self.element(value, where)
            self.problems += () if self.problems else _placed(table, where)
            return table
        try:
            program = postfix(value, self.parameters)
        except ModelError as error:
            self.problems.append(Problem(where, str(error)))
            return math.nan
        return program[0] if len(program) == 1 and isinstance(program[0], float) else program

    def known(self, name: str, kind: Kind, where: Where) -> str:
        """The name, of which it is noted if nothing has it."""
        known = getattr(self.model, kind.of)
        if name not in known and not (kind.or_world and name == WORLD):
            names = ([WORLD] if kind.or_world else []) + list(known)
            remedy = nearest(name, names) if len(self.problems) < 10 else ""  # each takes a while among many names
            what = {"bodies": "a body", "joints": "a joint"}[kind.of] + (" or world" if kind.or_world else "")
            self.problems.append(Problem(where, wrong(what, show(name), remedy)))
        return name

    def point(self, name: str, body: Any, where: Where) -> str:
        """The name, of which it is noted if the body has no such point."""
        if body == WORLD:
            self.problems.append(Problem(where, wrong("3 numbers", show(name), "the world has no named points")))
        elif body in self.model.bodies and name not in self.model.bodies[body].points:
            points = self.model.bodies[body].points
            text = wrong(f"3 numbers or a point of {body!r}", show(name), nearest(name, points))
            self.problems.append(Problem(where, text))
        return name


def _resolve(model: Model) -> tuple[Model, list[Problem]]:
    """The resolved model, or the model itself and what is wrong with it. Later checks need that earlier ones passed."""
    resolver = _Resolver(model)
    if resolver.problems:
        return model, resolver.problems
    if not model.bodies:
        return model, [Problem(("bodies",), wrong("at least one body", "none"))]
    resolved = resolver.element(model).model_copy(update={"parameters": resolver.parameters})
    problems = resolver.problems or list(_coordinate_problems(model))
    problems = problems or list(_element_problems(resolved))
    if not problems:
        resolved = _canonical(resolved)
        problems = list(graph.problems(resolved)) or list(graph.massless_leaves(resolved))
    return (model, problems) if problems else (resolved, [])


def _placed(element: Element, where: Where) -> Iterator[Problem]:
    return (Problem((*where, *problem.where), problem.text) for problem in element.problems())


def _element_problems(model: Model) -> Iterator[Problem]:
    """What is wrong with the numbers of a model without expressions."""
    groups: tuple[tuple[str, Mapping[str, Element]], ...] = (
        ("bodies", model.bodies),
        ("joints", model.joints),
        ("forces", model.forces),
    )
    for group, elements in groups:
        for name, element in elements.items():
            yield from _placed(element, (group, name))
    for name, initial in model.initial.items():
        for problem in _initial_problems(initial, model.joints[name]):
            yield Problem(("initial", name, *problem.where), problem.text)
    yield from _placed(model.simulation, ("simulation",))


def _coordinate_problems(model: Model) -> Iterator[Problem]:
    """What is wrong with the joints named in initial, and with the coordinates that joint forces act on."""
    for name in model.initial:
        if name not in model.joints:
            yield Problem(("initial", name), wrong("a joint", show(name), nearest(name, model.joints)))
    for name, force in model.forces.items():
        if isinstance(force, OnJoint):
            yield from _on_joint_problems(force, model.joints[force.joint], ("forces", name, "coordinate"))


def _on_joint_problems(force: OnJoint, joint: Joint, where: Where) -> Iterator[Problem]:
    names = joint.coordinate_names
    on = f"of joint {force.joint!r}"
    if not names:
        yield Problem((*where[:-1], "joint"), wrong("a joint that moves", f"{force.joint!r}, a weld"))
    elif force.coordinate is None and len(names) > 1:
        yield Problem(where, wrong(f"one of the coordinates {', '.join(names)} {on}", "nothing", "name one"))
    elif force.coordinate is not None and force.coordinate not in names:
        yield Problem(where, wrong(f"a coordinate {on}", show(force.coordinate), nearest(force.coordinate, names)))
    elif (force.coordinate or names[0]).startswith("q"):
        remedy = "give the joint Euler coordinates, as coordinates: xyz, or use a torque or a spring"
        yield Problem(where, wrong("an angle or a displacement", f"the quaternion {on}", remedy))


def _canonical(model: Model) -> Model:
    """A model of numbers in the form that `Model.resolved` promises."""
    forces = {}
    for name, force in model.forces.items():
        if isinstance(force, OnJoint):
            key = force.coordinate or model.joints[force.joint].coordinate_names[0]
            force = force.model_copy(update={"coordinate": key})
        for kind_of, key in (("body", "point"), ("body_a", "point_a"), ("body_b", "point_b")):
            if hasattr(force, key):
                force = _located(force, key, model.bodies.get(getattr(force, kind_of)))
        forces[name] = force
    resolved = model.model_copy(
        update={
            "bodies": {name: body.model_copy(update=body.canonical()) for name, body in model.bodies.items()},
            "joints": {name: joint.model_copy(update=joint.canonical()) for name, joint in model.joints.items()},
            "forces": forces,
            "initial": {name: _initial(initial, model.joints[name]) for name, initial in model.initial.items()},
        }
    )
    resolved._is_resolved = True
    return resolved


def _initial(initial: Initial, joint: Joint) -> Initial:
    """Positions and velocities as tuples, quaternions of norm 1."""
    values: dict[str, Any] = {}
    for key in ("position", "velocity"):
        value = getattr(initial, key)
        values[key] = (value,) if isinstance(value, float) else value
    if values["position"] is not None and _has_quaternion(joint):
        *place, w, x, y, z = values["position"]
        values["position"] = (*place, *_quaternion((w, x, y, z)))
    return Initial.model_construct(**values)


def _has_quaternion(joint: Joint) -> bool:
    return "qw" in joint.coordinate_names


def _initial_problems(initial: Initial, joint: Joint) -> Iterator[Problem]:
    """Wrong numbers of coordinates, and quaternions that are not of norm 1."""
    count, names = len(joint.coordinate_names), ", ".join(joint.coordinate_names) or "none, for a weld"
    for key, sizes in (("position", {count}), ("velocity", {count, count - _has_quaternion(joint)})):
        value = getattr(initial, key)
        size = 1 if isinstance(value, float) else len(value or ())
        if value is not None and size not in sizes:
            plural = "" if sizes == {1} else "s"
            expected = f"{' or '.join(map(str, sorted(sizes)))} number{plural} ({names})"
            yield Problem((key,), wrong(expected, show(value)))
    if initial.position is not None and _has_quaternion(joint) and np.size(initial.position) == count:
        yield from _quaternion_problems("position", np.ravel(initial.position)[-4:].tolist())


# ----------------------------------------------------------------------------------- pydantic's errors


def one_line(problems: Sequence[Problem]) -> str:
    """The first problem, and how many more there are."""
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{problems[0]}{more}"


def problems_of(error: ValidationError, element: type[Element]) -> list[Problem]:
    """What pydantic found wrong in an element's data; unknown keys and types first, since others follow from them."""
    details = error.errors(include_url=False)
    details.sort(key=lambda detail: detail["type"] not in ("extra_forbidden", "union_tag_invalid"))
    return [_problem(dict(detail), element) for detail in details]


def _problem(detail: dict[str, Any], element: type[Element]) -> Problem:
    where, owners = _descend(detail["loc"], element)
    found, context = show(detail["input"]), detail.get("ctx", {})
    match detail["type"]:
        case "mbvi":
            return Problem((*where, *context["at"]), context["text"])
        case "extra_forbidden":
            key, known = str(where[-1]), [name for owner in owners for name in owner.model_fields]
            return Problem(where, wrong("a known key", show(key), nearest(key, known)))
        case "missing":
            return Problem(where, wrong("a value", "nothing", f"add the key {where[-1]!r}"))
        case "union_tag_invalid" | "union_tag_not_found":
            known = [str(owner.model_fields["type"].default) for owner in owners]
            tag = context.get("tag")
            remedy = nearest(tag, known) if tag else f"add the key 'type'; known: {', '.join(known)}"
            return Problem((*where, "type"), wrong("a known type", show(tag) if tag else "nothing", remedy))
        case "literal_error":
            return Problem(where, wrong(context["expected"], found))
        case "string_type":
            return Problem(where, wrong("text", found))
        case "tuple_type":
            return Problem(where, wrong("a list", found))
        case "dict_type" | "model_type" | "model_attributes_type":
            return Problem(where, wrong("a mapping of keys to values", found))
    return Problem(where, wrong("a valid value", f"{found} ({detail['msg']})"))


def _descend(loc: Sequence[str | int], element: type[Element]) -> tuple[Where, list[type[Element]]]:
    """Where pydantic's loc leads, without the tags of unions, and the elements that may own its last key."""
    owners, skip = [element], 0
    where: list[str | int] = []
    for key in loc:
        if key == "[key]":
            continue
        if skip == 0 and len(owners) > 1:
            owners = [owner for owner in owners if owner.model_fields["type"].default == key]
            continue
        where.append(key)
        if skip:
            skip -= 1
        elif owners and key in owners[0].model_fields:
            annotation = owners[0].model_fields[str(key)].annotation
            inside = _elements_in(annotation)
            skip = 1 if get_origin(annotation) in (dict, tuple) else 0
            owners = inside or owners[:0]
    return tuple(where), owners


def _elements_in(annotation: Any) -> list[type[Element]]:
    if isinstance(annotation, type) and issubclass(annotation, Element):
        return [annotation]
    return [found for part in get_args(annotation) for found in _elements_in(part)]
