"""Kinds of fields: what an element's field accepts, as a validator and as JSON Schema, and how it becomes numbers.

Every number may be an expression ("pi/3", "60 deg", names of parameters), so validators pass text on; `resolve` turns
it into numbers, as the Kind in a field's annotation says.
"""

from __future__ import annotations

import functools
import math
import numbers
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, PlainValidator, ValidationError, WithJsonSchema

from mbvi.errors import ModelError
from mbvi.model.base import Element, problems_of, refusal
from mbvi.model.expressions import Problem, as_number, check_parameter_name, names_in, show, wrong

WORLD = "world"
"""The name of the fixed frame, in which a model stands."""


@dataclass(frozen=True)
class Kind:
    """How a field becomes numbers.

    It holds `numbers`, a `direction`, a `place`, a function of `time` or `times` several, a `curve`, a `law` of a
    coordinate, the `name` of a body or joint, or a `coordinate`. `of` is, for a place, the field that names the body it lies
    on; for a coordinate, the field that names its joint; for a name, the mapping of the Model that has it. Functions of time
    may be those of a prescribed motion (`is_motion`). `unit` is "rad" if it is an angle, "rad/s" if it is a rate of one; or,
    if it is that of a coordinate, the field that names this, or its rate; or, for an Initial, `position` or `velocity`; or,
    for Limits, which a joint has by the names of coordinates, `limit` or `rate of limit`; of a `tendon`, any.
    """

    name: Literal["numbers", "direction", "place", "time", "times", "curve", "law", "name", "coordinate"]
    of: str = ""
    or_world: bool = False
    unit: Literal[
        "",
        "rad",
        "rad/s",
        "coordinate",
        "coordinate_b",
        "rate of coordinate",
        "position",
        "velocity",
        "limit",
        "rate of limit",
        "tendon",
    ] = ""
    is_motion: bool = False


VARIABLES: dict[str, Literal["t", "s", "x"]] = {"time": "t", "times": "t", "curve": "s", "law": "x"}
"""What the variable of a function is called, by the kind of the field."""


@functools.cache
def kinds(element: type[Element]) -> dict[str, Kind | None]:
    """The fields of an element, each with its kind (the outermost), or None for text and for other elements."""
    return {
        key: next((item for item in reversed(field.metadata) if isinstance(item, Kind)), None)
        for key, field in element.model_fields.items()
    }


def expressions(element: Any) -> Iterator[str]:
    """All texts that are expressions in an element, or in a mapping or tuple of elements; those of parameters left out."""
    if isinstance(element, dict):
        element = tuple(element.values())
    if isinstance(element, tuple):
        for item in element:
            yield from expressions(item)
    for key, kind in kinds(type(element)).items() if isinstance(element, Element) else ():
        value = getattr(element, key)
        if kind is None:
            yield from expressions(value)
        elif kind.name not in ("name", "coordinate") and not (kind.name == "place" and isinstance(value, str)):
            yield from _texts(value)


def _texts(value: Any) -> Iterator[str]:
    """All texts in a value, or in a nested tuple or mapping."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
    else:
        yield from expressions(value)


def idle_parameters(model: Any, used_elsewhere: Iterable[str] = ()) -> list[str]:
    """The parameters of a model, not resolved, that nothing uses, or only others that nothing uses."""
    used: set[str] = set()
    found = {name for text in expressions(model) for name in names_in(text)} & model.parameters.keys() | {
        *used_elsewhere
    }
    while found:
        used |= found
        found = {name for each in found for name in names_in(model.parameters[each])} & model.parameters.keys() - used
    return [name for name in model.parameters if name not in used]


# ------------------------------------------------------------------------------------------ JSON Schemas


def _list_schema(items: dict[str, Any], *sizes: int) -> dict[str, Any]:
    """Lists with one of these sizes (any, if none is given)."""
    limits = {"minItems": min(sizes), "maxItems": max(sizes)} if sizes else {}
    return {"type": "array", "items": items, **limits}


def _any_schema(*options: dict[str, Any]) -> WithJsonSchema:
    return WithJsonSchema({"anyOf": list(options)})


_NULL_SCHEMA = {"type": "null"}
_NUMBER_SCHEMA: dict[str, Any] = {"type": ["number", "string"]}
_VECTOR_SCHEMA = _list_schema(_NUMBER_SCHEMA, 3)
_UNIT_NUMBERS_SCHEMA = _list_schema({"type": "number", "minimum": 0, "maximum": 1}, 3)


def _table_schema(times: str, interpolations: Sequence[str], default: str) -> dict[str, Any]:
    lists = {
        key: {"type": "array", "items": _NUMBER_SCHEMA, "minItems": 2, "description": text}
        for key, text in (("times", times), ("values", "The value at each time."))
    }
    between = f"How to go on between the times; {default} if left out."
    return {
        "type": "object",
        "description": "Values [their unit] at increasing times [s].",
        "properties": lists | {"interpolation": {"enum": list(interpolations), "description": between}},
        "required": ["times", "values"],
        "additionalProperties": False,
    }


_TABLE_SCHEMA = _table_schema(
    "Increasing times [s]; where one stands twice, the value jumps.", ("linear", "hold", "smooth", "spline"), "smooth"
)
_MOTION_TABLE_SCHEMA = _table_schema("Increasing times [s].", ("smooth", "spline"), "spline")
_TIME_SCHEMA = {"anyOf": [_NUMBER_SCHEMA, _TABLE_SCHEMA]}
_MOTION_SCHEMA = {"anyOf": [_NUMBER_SCHEMA, _MOTION_TABLE_SCHEMA]}

SHARED_SCHEMAS: dict[str, dict[str, Any]] = {
    "Number": _NUMBER_SCHEMA,
    "Vector": _VECTOR_SCHEMA,
    "Table": _TABLE_SCHEMA,
    "MotionTable": _MOTION_TABLE_SCHEMA,
    "TimeFunction": _TIME_SCHEMA,
    "Motion": _MOTION_SCHEMA,
}
"""JSON Schemas of kinds of fields that many elements have."""

# ----------------------------------------------------------------------------------------------- numbers


DATA_FILE = r"(?i)[^*+(),]*\.(csv|tsv|txt|dat|xlsx?|json|ya?ml|h5|npy|npz|mat)"
COPY = "copy its numbers in, those of a function of time as {times: […], values: […]}"
VECTOR = "write for example [0, 0, 1]"
AXES = {"x": "[1, 0, 0]", "y": "[0, 1, 0]", "z": "[0, 0, 1]"}


def _scalar(value: Any, *at: int | str) -> float | str:
    if isinstance(value, str) and value.strip():
        if re.fullmatch(DATA_FILE, value.strip()):
            raise refusal(wrong("a number or an expression", f"the name of a file, {show(value)}", COPY), *at)
        number = as_number(value.strip())
        return value.strip() if number is None else _scalar(number, *at)
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise refusal(wrong("a number or an expression", show(value)), *at)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise refusal(wrong("a finite number", show(value), "write for example 1.5 or 1e-3"), *at)
    return number


def _items(value: Any) -> list[Any] | None:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return list(value) if isinstance(value, list | tuple) else None


def _optional(validate: Callable[..., Any]) -> Callable[[Any], Any]:
    """A validator of what another one accepts, or None."""
    return lambda value: None if value is None else validate(value)


def _tuple(item: Callable[..., Any], expected: str, *sizes: int, remedy: str = "") -> Callable[..., tuple[Any, ...]]:
    """A validator of tuples of such items with one of these sizes (any, if none is given)."""

    def validate(value: Any, *at: int) -> tuple[Any, ...]:
        items = _items(value)
        if items is None or (sizes and len(items) not in sizes):
            raise refusal(wrong(expected, show(value), _remedy(value, sizes, remedy)), *at)
        return tuple(item(part, *at, i) for i, part in enumerate(items))

    return validate


def _remedy(value: Any, sizes: Sequence[int], otherwise: str) -> str:
    """What to write instead of a value that is no list or of another size: numbers without brackets or commas with them."""
    text = value[0] if isinstance(value, list | tuple) and len(value) == 1 else value
    words = re.findall(r"[^\s,]+", text) if isinstance(text, str) else []
    is_list = len(words) in sizes and all(as_number(word) is not None for word in words)
    return f"write [{', '.join(words)}]" if is_list else otherwise


_numbers = _tuple(_scalar, "numbers")
_vector = _tuple(_scalar, "3 numbers", 3, remedy=VECTOR)
_joint_place = _tuple(_scalar, "3 numbers", 3, remedy=f"{VECTOR}; names of points are for forces and point masses")
_moments = _tuple(
    _scalar,
    "[Ixx, Iyy, Izz], [Ixx, Iyy, Izz, Ixy, Ixz, Iyz] or 3 rows of 3 numbers",
    3,
    6,
    remedy="write for example [0.1, 0.1, 0.2], in kg m²",
)
_row = _tuple(_scalar, "3 rows of 3 numbers", 3)
_matrix = _tuple(_row, "3 rows of 3 numbers", 3)
_factors = _tuple(_scalar, "a number or 3 numbers", 3, remedy="write for example 0.001, or [1, 1, -1]")


def _direction(value: Any) -> tuple[float | str, ...]:
    if isinstance(value, str) and value.strip().lower() in AXES:
        raise refusal(wrong("3 numbers", show(value), f"write {AXES[value.strip().lower()]}"))
    return _vector(value)


def _inertia(value: Any) -> tuple[Any, ...]:
    items = _items(value) or []
    is_matrix = len(items) == 3 and all(_items(row) is not None for row in items)
    return _matrix(items) if is_matrix else _moments(value)


def _scale(value: Any) -> Any:
    return _scalar(value) if _items(value) is None else _factors(value)


def _color(value: Any) -> str | None:
    """A colour as #RRGGBB; None if there is none."""
    if value is None:
        return None
    if isinstance(value, str) and re.fullmatch("#[0-9a-fA-F]{6}", value):
        return value.upper()
    items = _items(value) or []
    if len(items) == 3 and all(isinstance(item, int | float) and 0 <= item <= 1 for item in items):
        return "#" + "".join(f"{round(255 * item):02X}" for item in items)
    expected = "a colour as '#RRGGBB' or three numbers from 0 to 1"
    raise refusal(wrong(expected, show(value), "write for example '#0072B2', in quotes"))


def _coordinates(value: Any) -> Any:
    return _scalar(value) if _items(value) is None else _numbers(value)


_range = _tuple(_scalar, "a number or 2 numbers", 2, remedy="write for example 10, or [-5, 10]")


def _number_or_range(value: Any) -> Any:
    return _scalar(value) if _items(value) is None else _range(value)


def _by_coordinate(value: Any) -> Any:
    """A number, or a mapping of short names of coordinates to numbers."""
    if not isinstance(value, Mapping):
        return _scalar(value)
    return {str(key): _scalar(item, str(key)) for key, item in value.items()}


_NUMBERS = Kind("numbers")
Scalar = Annotated[float | str, PlainValidator(_scalar), WithJsonSchema(_NUMBER_SCHEMA), _NUMBERS]
"""A finite number or an expression."""
OptionalScalar = Annotated[
    float | str | None,
    PlainValidator(_optional(_scalar)),
    WithJsonSchema({"type": ["number", "string", "null"]}),
    _NUMBERS,
]
Scalars = Annotated[
    tuple[float | str, ...],
    PlainValidator(_tuple(_scalar, "a list of numbers", remedy="write them here, as [0, 1.5, 2]")),
    WithJsonSchema(_list_schema(_NUMBER_SCHEMA)),
    _NUMBERS,
]
Triple = tuple[float | str, float | str, float | str]
Vector = Annotated[Triple, PlainValidator(_vector), WithJsonSchema(_VECTOR_SCHEMA), _NUMBERS]
JointPlace = Annotated[Triple, PlainValidator(_joint_place), WithJsonSchema(_VECTOR_SCHEMA), _NUMBERS]
"""3 numbers; unlike a Place, never the name of a point."""
OptionalVector = Annotated[
    Triple | None, PlainValidator(_optional(_vector)), _any_schema(_VECTOR_SCHEMA, _NULL_SCHEMA), _NUMBERS
]
Scale = Annotated[
    float | str | Triple | None,
    PlainValidator(_optional(_scale)),
    _any_schema(_NUMBER_SCHEMA, _VECTOR_SCHEMA, _NULL_SCHEMA),
    _NUMBERS,
]
"""A factor of lengths, or one for each axis."""
Color = Annotated[
    str | None,
    PlainValidator(_color),
    _any_schema({"type": "string", "pattern": "^#[0-9a-fA-F]{6}$"}, _UNIT_NUMBERS_SCHEMA, _NULL_SCHEMA),
]
"""A colour in sRGB; once validated as #RRGGBB."""
Direction = Annotated[Triple, PlainValidator(_direction), WithJsonSchema(_VECTOR_SCHEMA), Kind("direction")]
"""A vector that is not zero; resolved: a unit vector."""
TWO_AXES = "write for example [[1, 0, 0], [0, 1, 0]]"
_axis = _tuple(_scalar, "2 axes of 3 numbers", 3, remedy=TWO_AXES)
TwoDirections = Annotated[
    tuple[Triple, Triple],
    PlainValidator(_tuple(_axis, "2 axes of 3 numbers", 2, remedy=TWO_AXES)),
    WithJsonSchema(_list_schema(_VECTOR_SCHEMA, 2)),
    _NUMBERS,
]
_orientation = _tuple(
    _scalar,
    "a rotation vector of 3 numbers or a unit quaternion of 4 (w, x, y, z)",
    3,
    4,
    remedy="write for example [0, 0, 90 deg]",
)
Orientation = Annotated[
    tuple[float | str, ...],
    PlainValidator(_orientation),
    WithJsonSchema(_list_schema(_NUMBER_SCHEMA, 3, 4)),
    Kind("numbers", unit="rad"),
]
Inertia = Annotated[
    tuple[Any, ...],
    PlainValidator(_inertia),
    _any_schema(_VECTOR_SCHEMA, _list_schema(_NUMBER_SCHEMA, 6), _list_schema(_VECTOR_SCHEMA, 3)),
    _NUMBERS,
]
Coordinates = Annotated[
    float | str | tuple[float | str, ...] | None,
    PlainValidator(_optional(_coordinates)),
    _any_schema(_NUMBER_SCHEMA, _list_schema(_NUMBER_SCHEMA), _NULL_SCHEMA),
    _NUMBERS,
]
Range = Annotated[
    float | str | tuple[float | str, float | str] | None,
    PlainValidator(_optional(_number_or_range)),
    _any_schema(_NUMBER_SCHEMA, _list_schema(_NUMBER_SCHEMA, 2), _NULL_SCHEMA),
    _NUMBERS,
]
"""The largest size of a number, or its lowest and highest value."""
ByCoordinate = Annotated[
    float | str | dict[str, float | str],
    PlainValidator(_by_coordinate),
    _any_schema(_NUMBER_SCHEMA, {"type": "object", "additionalProperties": _NUMBER_SCHEMA}),
    _NUMBERS,
]
"""A number for the only coordinate of a joint, or numbers by the short names of its coordinates."""

# ------------------------------------------------------------------------------------- functions of time


class Table(Element):
    """A function of time given by its values at times.

    Of a force, it has its first value before the first time, and its last value after the last. Of a prescribed motion, it
    continues at the rates that it has there.

    Parameters
    ----------
    times : list
        Increasing times, at least 2; a force jumps where one stands twice [s].
    values : list
        The value at each time, in the unit of what the table stands for.
    interpolation : str
        Between the times: linear; hold, each value until the next time; smooth, which keeps between its neighbours (PCHIP), the
        default of forces; or spline, a cubic spline, the default of prescribed motions, which are smooth or spline.
    """

    times: Scalars
    values: Scalars
    interpolation: Literal["linear", "hold", "smooth", "spline"] | None = None

    def problems(self) -> Iterator[Problem]:
        """Two or more points at increasing times, of which one may stand twice."""
        steps = np.diff(self.times)
        if len(self.times) < 2:
            yield Problem(("times",), wrong("at least 2 times", f"{len(self.times)}"))
        elif len(self.values) != len(self.times):
            yield Problem(("values",), wrong(f"as many values as times ({len(self.times)})", f"{len(self.values)}"))
        elif np.any(steps < 0):
            yield Problem(("times",), wrong("increasing times", show(self.times)))
        elif not np.any(steps > 0):
            yield Problem(("times",), wrong("at least 2 different times", show(self.times)))
        elif np.any((steps[1:] == 0) & (steps[:-1] == 0)):
            remedy = "give the values before and after a jump, and none between"
            yield Problem(("times",), wrong("each time at most twice", show(self.times), remedy))
        elif self.interpolation == "hold" and (lost := self._never_held()) is not None:
            remedy = "remove the first of the two"
            time, value = show(self.times[lost]), show(self.values[lost])
            found = f"{time} s twice, of which the first value, {value}, is never held"
            yield Problem(("times",), wrong("each time once where values are held", found, remedy))

    def _never_held(self) -> int | None:
        """The first entry, if there is one, that another at the same time replaces at once, and that no time before it had."""
        steps, values = np.diff(self.times), np.array(self.values)
        return next((int(i) for i in np.flatnonzero(steps == 0) if i > 0 and values[i] != values[i - 1]), None)

    def motion_problems(self) -> Iterator[Problem]:
        """What a prescribed motion must not be."""
        if self.interpolation in ("linear", "hold"):
            what = "velocity" if self.interpolation == "linear" else "place"
            found = f"{self.interpolation}, by which the {what} would jump"
            remedy = "choose smooth or spline"
            yield Problem(("interpolation",), wrong("a motion that can be differentiated twice", found, remedy))
        elif np.any(np.diff(self.times) == 0):
            found = f"{show(self.times)}, with which the place would jump"
            yield Problem(("times",), wrong("each time once in a prescribed motion", found, "give the way some time"))


def _time(value: Any, *at: int) -> Any:
    if isinstance(value, Table):
        return value
    if isinstance(value, Mapping):
        try:
            return Table.model_validate(value)
        except ValidationError as error:
            problem = problems_of(error, Table)[0]
            raise refusal(problem.text, *at, *problem.where) from None
    return _scalar(value, *at)


TimeFunction = Annotated[Any, PlainValidator(_time), WithJsonSchema(_TIME_SCHEMA), Kind("time")]
"""A number, an expression that may use the time t [s], or a Table; resolved: a float, a postfix program or a Table."""
_times = _tuple(_time, "3 components, each a number, an expression of t or a table", 3, remedy=VECTOR)
TimeVector = Annotated[
    tuple[Any, Any, Any],
    PlainValidator(_times),
    WithJsonSchema(_list_schema(_TIME_SCHEMA, 3)),
    Kind("times"),
]
Motion = Annotated[Any, PlainValidator(_time), WithJsonSchema(_MOTION_SCHEMA), Kind("time", is_motion=True)]
"""A `TimeFunction` of a prescribed motion, which needs two derivatives."""
OptionalMotion = Annotated[
    Any,
    PlainValidator(_optional(_time)),
    _any_schema(_MOTION_SCHEMA, _NULL_SCHEMA),
    Kind("time", is_motion=True),
]
MotionVector = Annotated[
    tuple[Any, Any, Any],
    PlainValidator(_times),
    WithJsonSchema(_list_schema(_MOTION_SCHEMA, 3)),
    Kind("times", is_motion=True),
]

Curve = Annotated[
    tuple[Any, Any, Any],
    PlainValidator(
        _tuple(
            _scalar, "3 components, each a number or an expression of s", 3, remedy="write for example [cos(s), s, 0]"
        )
    ),
    WithJsonSchema(_VECTOR_SCHEMA),
    Kind("curve"),
]
"""3 numbers or expressions of the curve's parameter s; resolved: floats or postfix programs, whose "t" is s."""

Law = Annotated[
    Any, PlainValidator(_optional(_scalar)), WithJsonSchema({"type": ["number", "string", "null"]}), Kind("law")
]
"""A number or an expression of a coordinate x, or none; resolved: a float, a postfix program, whose "t" is x, or None."""

Potential = Annotated[Any, PlainValidator(_scalar), WithJsonSchema({"type": "string"}), Kind("law")]
"""An expression of a coordinate or distance x; resolved: a postfix program, whose "t" is x, or a float."""

# -------------------------------------------------------------------------------------- names and places


def _title(value: str) -> str:
    if not value.strip() or not value.isprintable():
        raise refusal(wrong("a name of printable characters", show(value), "write for example 'pendulum'"))
    return value


def _text(value: str) -> str:
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", value):
        raise refusal(wrong("text without control characters", show(value), "remove them"))
    return value


def _name(value: str) -> str:
    if not value.isprintable() or value.strip() != value or not value:
        raise refusal(wrong("a name of printable characters, without blanks at its ends", show(value), "rename it"))
    return value


def _body_name(value: str) -> str:
    if value == WORLD:
        raise refusal(wrong("a name of its own", "'world', which is the fixed frame", "rename the body"))
    return _name(value)


def _point_name(value: str) -> str:
    if value in ("origin", "center_of_mass"):
        raise refusal(wrong("a name of its own", f"{value!r}, which is predefined", "rename the point"))
    return _name(value)


def _parameter_name(value: str) -> str:
    try:
        return check_parameter_name(value)
    except ModelError as error:
        raise refusal(str(error)) from None


_place_numbers = _tuple(_scalar, "3 numbers or the name of a point", 3, remedy=VECTOR)


def _place(value: Any) -> tuple[float | str, ...] | str:
    return value if isinstance(value, str) else _place_numbers(value)


Title = Annotated[str, AfterValidator(_title)]
"""What a model is called: any text of one line."""
Text = Annotated[str, AfterValidator(_text)]
"""Any text of any lines, which a terminal only shows."""
Name = Annotated[str, AfterValidator(_name)]
BodyName = Annotated[str, AfterValidator(_body_name)]
PointName = Annotated[str, AfterValidator(_point_name)]
ParameterName = Annotated[str, AfterValidator(_parameter_name)]

BodyRef = Annotated[str, Kind("name", "bodies")]
FrameRef = Annotated[str, Kind("name", "bodies", or_world=True)]
JointRef = Annotated[str, Kind("name", "joints")]
CoordinateRef = Annotated[str | None, Kind("coordinate", "joint")]
"""The short name of a coordinate of the element's joint; None for its only one; resolved: always the name."""

Points = Annotated[dict[PointName, Vector], _NUMBERS]
Place = Annotated[Triple | str, PlainValidator(_place), _any_schema(_VECTOR_SCHEMA, {"type": "string"})]
"""3 numbers or the name of a point, on the body that a Kind of the same element names; resolved: 3 numbers."""

RotationCoordinates = Literal[
    "quaternion", "xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "xzx", "yxy", "yzy", "zxz", "zyz"
]
