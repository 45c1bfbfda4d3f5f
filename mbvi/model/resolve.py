"""A model in numbers: expressions evaluated, names looked up, and everything that is wrong.

The order is: parameters; then every field as its Kind says, which needs the parameters; then what the elements say of
their own numbers; then, of numbers in their canonical form, the graph of joints. Each step needs that those before it
found nothing wrong.

Of a copy of a model with other parameters, parts that depend on none with another value are what they were.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain, repeat
from typing import Any, NamedTuple, TypeVar

import numpy as np

from mbvi.errors import ModelError
from mbvi.model import graph
from mbvi.model.base import Element, documented_unit, one_line
from mbvi.model.constraints import FARTHEST, prescribed_twice
from mbvi.model.description import Description, Initial
from mbvi.model.directions import quaternion
from mbvi.model.expressions import (
    Problem,
    Where,
    evaluate,
    names_in,
    nearest,
    placed,
    postfix,
    resolve_parameters,
    show,
    wrong,
)
from mbvi.model.fields import VARIABLES, WORLD, Kind, Table, kinds
from mbvi.model.interpolation import rate_problems
from mbvi.model.joints import Joint
from mbvi.model.mass_properties import is_point_mass
from mbvi.model.rounding import quaternion_problems, quaternion_roundings
from mbvi.model.sensing import sensor_problems
from mbvi.model.tendons import tendon_problems
from mbvi.model.touching import contact_problems
from mbvi.model.units import ANGULAR, check_unit, unit_of
from mbvi.recording import is_finite

LARGEST = 1e50
WHOLE_TURNS = "beyond, too few digits are left of an angle: take whole turns off"
"""Size of numbers up to which the mass properties of bodies, products of six of them, are finite."""
MOST_TOLERANCE = 0.01
"""Largest tolerance of loops, far above what rounding explains."""
AnElement = TypeVar("AnElement", bound=Element)
AModel = TypeVar("AModel", bound=Description)
Unit = str | None
"""The unit of a value, empty if it has none; None if it is not known."""


class Part(NamedTuple):
    """A field of a resolved model or an entry of one, and the parameters that it depends on, with their values and units.

    Besides, what was mended of its numbers.
    """

    value: Any
    parameters: dict[str, tuple[float | None, Unit]]
    mended: tuple[Problem, ...] = ()


ANGLES = "write a unit quaternion, or give the joint coordinates: xyz, of which the angles are written"
Parts = dict[Where, Part]


def resolve(model: AModel, known: Parts) -> tuple[AModel, Parts, list[Problem]]:
    """The resolved model and its parts, or the model itself and what is wrong with it.

    known   parts of a model that differs in its parameters alone, if there is one
    """
    resolver = _Resolver(model)
    if resolver.problems:
        return model, known, resolver.problems
    if not model.bodies:
        return model, known, [Problem(("bodies",), wrong("at least one body", "none"))]
    parts = resolver.parts(known)
    resolved = _with_parts(model, parts).replaced({"parameters": resolver.parameters})
    for name in model.initial:
        resolver.known(name, Kind("name", "joints"), ("initial", name))
    new = {where for where, part in parts.items() if part is not known.get(where)}
    problems = list(dict.fromkeys(resolver.problems)) or list(_element_problems(resolved, new))
    if not problems:
        parts |= {where: _canonical_part(resolved, where, parts[where]) for where in new}
        resolved = _with_parts(resolved, parts)
        problems = list(graph.problems(resolved))
    return (model, known, problems) if problems else (resolved, parts, [])


def _with_parts(model: AModel, parts: Parts) -> AModel:
    """The model with these parts."""
    update: dict[str, Any] = {}
    for where, part in parts.items():
        key, *name = map(str, where)
        if name:
            update.setdefault(key, {})[name[0]] = part.value
        else:
            update[key] = part.value
    return model.replaced(update)


class _Resolver:
    """Turns the expressions of a model into numbers, looks up its names, and collects what is wrong."""

    def __init__(self, model: Description) -> None:
        self.model = model
        self.parameters, self.problems = resolve_parameters(model.parameters)
        self.numbers: dict[tuple[Any, Unit], float] = {}
        self.units: dict[str, str] = {}
        self.used: set[str] = set()  # parameters on which what was resolved since it was emptied depends
        for name in self.parameters:  # each after those that it uses
            try:
                unit = unit_of(model.parameters[name], self.units)
            except ModelError as error:
                self.note(("parameters", name), str(error))
            else:
                self.units |= {name: unit} if unit in ANGULAR else {}

    def note(self, where: Where, text: str) -> None:
        """Collect a problem."""
        self.problems.append(Problem(where, text))

    def parts(self, known: Parts) -> Parts:
        """All parts of the model; those that are known, if they depend on no parameter that has changed."""
        return {where: self.part(where, known.get(where)) for where in _places(self.model)}

    def part(self, where: Where, known: Part | None) -> Part:
        """A part of the model."""
        if known is not None and all(self.state(name) == state for name, state in known.parameters.items()):
            return known
        self.used = set()
        key, *name = map(str, where)
        if name:
            value = self.elements(getattr(self.model, key)[name[0]], where)
        else:
            value = self.field(self.model, key, kinds(type(self.model))[key], where)
        return Part(value, {name: self.state(name) for name in self.used})

    def state(self, name: str) -> tuple[float | None, Unit]:
        """Value and unit of a parameter; none where there is no such parameter any more."""
        return self.parameters.get(name), self.units.get(name)

    def element(self, element: AnElement, where: Where) -> AnElement:
        """The element with floats for expressions."""
        values = {key: self.field(element, key, kind, (*where, key)) for key, kind in kinds(type(element)).items()}
        return element.replaced(values)

    def field(self, element: Element, key: str, kind: Kind | None, where: Where) -> Any:
        """The value of a field, resolved as its kind says."""
        value = getattr(element, key)
        if kind is None:
            return self.elements(value, where)
        if _is_plain(value) or (value is None and kind.name not in ("name", "coordinate")):
            return value
        match kind:
            case Kind("place", of) if isinstance(value, str):
                return self.point(value, getattr(element, of) if of else where[1], where)
            case Kind("name"):
                return self.known(value, kind, where)
            case Kind("coordinate", of):
                return self.coordinate(value, getattr(element, of), where, of)
            case Kind(unit="position" | "velocity"):
                return self.initial(value, where, kind.unit)
            case Kind(unit="limit" | "rate of limit"):
                unit = _units(self.model.joints[str(where[1])]).get(str(where[3]))
                return self.value(value, where, unit if kind.unit == "limit" or not unit else f"{unit}/s")
        unit = self.unit(element, key, kind)
        match kind:
            case Kind("time" | "law"):
                return self.function(value, where, unit, kind)
            case Kind("times" | "curve"):
                return tuple(self.function(item, (*where, i), unit, kind) for i, item in enumerate(value))
        return self.value(value, where, unit)

    def unit(self, element: Element, key: str, kind: Kind) -> Unit:
        """The unit of a field's values."""
        if kind.unit == "tendon":
            return None
        if kind.unit in ("", "rad", "rad/s"):
            return kind.unit or documented_unit(type(element), key)
        if kind.unit == "rate of coordinate":
            unit = self.unit(element, key, replace(kind, unit="coordinate"))
            return f"{unit}/s" if unit else unit
        joint = self.model.joints.get(getattr(element, kind.unit.replace("coordinate", "joint")))
        units = _units(joint) if joint else {}
        name = getattr(element, kind.unit)
        return next(iter(units.values())) if name is None and len(units) == 1 else units.get(name)

    def initial(self, value: Any, where: Where, key: str) -> Any:
        """The numbers of the coordinates of a joint, or of their rates."""
        joint = self.model.joints.get(str(where[1]))
        is_of_joint = joint is not None and np.size(value) in _sizes(joint, key, joint.is_free)
        units = list(_units(joint).values()) if joint and is_of_joint else []  # others: their number
        if joint and key == "velocity":
            if _has_quaternion(joint) and np.size(value) < len(units):
                units[-4:] = ["rad"] * 3
            units = [f"{unit or 1}/s" for unit in units]
        if not isinstance(value, tuple):
            return self.value(value, where, next(iter(units), None))
        known = zip(value, chain(units, repeat(None)), strict=False)
        return tuple(self.value(item, (*where, i), unit) for i, (item, unit) in enumerate(known))

    def elements(self, value: Any, where: Where) -> Any:
        """An element, a mapping or a tuple of elements with floats for expressions; anything else is returned as it is."""
        if isinstance(value, Element):
            return self.element(value, where)
        if isinstance(value, dict):
            return {key: self.elements(item, (*where, key)) for key, item in value.items()}
        if isinstance(value, tuple):
            return tuple(self.elements(item, (*where, i)) for i, item in enumerate(value))
        return value

    def value(self, value: Any, where: Where, unit: Unit) -> Any:
        """The number of an expression, or those of a nested tuple or mapping."""
        if value is None or _is_plain(value):
            return value
        if isinstance(value, dict):
            return {key: self.value(item, (*where, key), unit) for key, item in value.items()}
        if isinstance(value, tuple):
            return tuple(self.value(item, (*where, i), unit) for i, item in enumerate(value))
        try:
            number = value if isinstance(value, float) and is_finite(value) else self.number(value, unit)
        except ModelError as error:
            self.note(where, str(error))
            return math.nan
        if abs(number) > LARGEST and unit != "s":  # times have limits of their own
            self.note(where, wrong(f"a number of size at most {LARGEST:g}", show(number)))
        return number

    def number(self, value: Any, unit: Unit) -> float:
        """The number of an expression in a unit; the same for all that have the same text."""
        self.note_names(value)
        if (value, unit) not in self.numbers:
            number = evaluate(value, self.parameters)
            check_unit(value, self.units, unit)
            self.numbers[value, unit] = number
        return self.numbers[value, unit]

    def note_names(self, text: str | float) -> None:
        """Note that what is resolved depends on the parameters in a text."""
        with suppress(ModelError):  # of what is refused next
            self.used |= names_in(text) & self.parameters.keys()

    def function(self, value: Any, where: Where, unit: Unit, kind: Kind) -> Any:
        """The number, program or table of numbers of a function of one variable; what is a program already stays."""
        if isinstance(value, float):
            return self.value(value, where, unit)
        if isinstance(value, tuple):
            return value
        if isinstance(value, Table):
            return self.table(value, where, unit, kind.is_motion)
        self.note_names(value)
        try:
            program = postfix(value, self.parameters, VARIABLES[kind.name])
            check_unit(value, self.units, unit)
        except ModelError as error:
            self.note(where, str(error))
            return math.nan
        return self.value(program[0], where, unit) if len(program) == 1 and isinstance(program[0], float) else program

    def table(self, table: Table, where: Where, unit: Unit, is_motion: bool) -> Table:
        """The table of numbers, with the interpolation that it has by default."""
        update = {
            "times": self.value(table.times, (*where, "times"), "s"),
            "values": self.value(table.values, (*where, "values"), unit),
            "interpolation": table.interpolation or ("spline" if is_motion else "smooth"),
        }
        table = table.replaced(update)
        if not self.problems:
            problems = list(table.problems()) or list(rate_problems(table))
            problems = problems or (list(table.motion_problems()) if is_motion else [])
            self.problems += placed(problems, *where)
        return table

    def known(self, name: str, kind: Kind, where: Where) -> str:
        """The name, of which it is noted if nothing has it."""
        known = getattr(self.model, kind.of)
        if name not in known and not (kind.or_world and name == WORLD):
            names = ([WORLD] if kind.or_world else []) + list(known)
            remedy = nearest(name, names) if len(self.problems) < 10 else ""  # each takes a while among many names
            what = {"bodies": "a body", "joints": "a joint"}[kind.of] + (" or world" if kind.or_world else "")
            self.note(where, wrong(what, show(name), remedy))
        return name

    def point(self, name: str, body: Any, where: Where) -> Any:
        """The coordinates of a point of a body, or its name, of which it is noted that the body has no such point."""
        if body == WORLD:
            self.note(where, wrong("3 numbers", show(name), "the world has no named points"))
        elif body in self.model.bodies:
            points, frames = self.model.bodies[body].points, self.model.bodies[body].frames
            if name in points:
                return self.value(points[name], ("bodies", body, "points", name), "m")
            if name in frames:
                return self.value(frames[name].position, ("bodies", body, "frames", name, "position"), "m")
            self.note(where, wrong(f"3 numbers or a point of {body!r}", show(name), nearest(name, [*points, *frames])))
        return name

    def coordinate(self, name: str | None, joint: str, where: Where, key: str) -> str | None:
        """The name of a coordinate of the joint at that key, by default its only one; it is noted if there is none."""
        if joint not in self.model.joints:
            return name
        names, on = self.model.joints[joint].coordinate_names, f"of joint {joint!r}"
        chosen = names[0] if name is None and len(names) == 1 else name
        if not names:
            self.note((*where[:-1], key), wrong("a joint that moves", f"{joint!r}, a weld"))
        elif chosen is None:
            self.note(where, wrong(f"one of the coordinates {', '.join(names)} {on}", "nothing", "name one"))
        elif chosen not in names:
            self.note(where, wrong(f"a coordinate {on}", show(chosen), nearest(chosen, names)))
        elif chosen.startswith("q"):
            remedy = "give the joint Euler coordinates, as coordinates: xyz"
            self.note(where, wrong("an angle or a displacement", f"the quaternion {on}", remedy))
        return chosen


def _places(model: Description) -> Iterator[Where]:
    """Where the parts of a model are: entries of its mappings, and other fields with numbers."""
    for key, kind in kinds(type(model)).items():
        value = getattr(model, key)
        if key != "parameters" and isinstance(value, dict):
            yield from ((key, name) for name in value)
        elif kind is not None or isinstance(value, Element):
            yield (key,)


def _is_plain(value: Any) -> bool:
    """Whether a value is a number that needs no more looking at."""
    return type(value) is float and abs(value) <= LARGEST


def _element_problems(model: Description, parts: set[Where]) -> Iterator[Problem]:
    """What is wrong with the numbers of some parts of a model without expressions, and of all that belongs together."""
    for group in ("bodies", "joints", "forces", "constraints", "contacts", "sensors"):
        for name, element in getattr(model, group).items():
            if (group, name) in parts:
                yield from placed(element.problems(), group, name)
    for name in model.constraints:
        if name in model.joints:
            yield Problem(
                ("constraints", name), wrong("a name that no joint has", f"{name!r}, a joint", "rename one of them")
            )
    yield from prescribed_twice(model.constraints)
    yield from tendon_problems(model)
    yield from contact_problems(model)
    yield from sensor_problems(model)
    for name, initial in model.initial.items():
        if ("initial", name) in parts:
            yield from placed(_initial_problems(initial, *_moved_by(model, name)), "initial", name)
    if not 0 <= float(model.loop_tolerance) <= MOST_TOLERANCE:
        expected = f"a number between 0 and {MOST_TOLERANCE:g}, as 4 times the rounding of lengths and directions"
        yield Problem(("loop_tolerance",), wrong(expected, show(model.loop_tolerance)))
    if ("simulation",) in parts:
        yield from placed(model.simulation.problems(), "simulation")


def _moved_by(model: Description, name: str) -> tuple[Joint, bool]:
    """A joint of a model of numbers, and whether what it moves is a point mass in flight, whose place alone matters."""
    joint = model.joints[name]
    return joint, joint.is_free and joint.child in model.bodies and is_point_mass(model.bodies[joint.child])


def _initial_problems(initial: Initial, joint: Joint, is_point: bool = False) -> Iterator[Problem]:
    """Wrong numbers of coordinates, and quaternions that are not of norm 1."""
    count, names = len(joint.coordinate_names), ", ".join(joint.coordinate_names) or "none, for a weld"
    for key in ("position", "velocity"):
        value, sizes = getattr(initial, key), _sizes(joint, key, is_point)
        size = 1 if isinstance(value, float) else len(value or ())
        if value is not None and size not in sizes:
            plural = "" if sizes == {1} else "s"
            expected = f"{' or '.join(map(str, sorted(sizes)))} number{plural} ({names})"
            is_of_angles = key == "position" and _has_quaternion(joint) and size == count - 1
            yield Problem((key,), wrong(expected, show(value), ANGLES if is_of_angles else ""))
    if isinstance(initial.position, tuple) and _has_quaternion(joint) and len(initial.position) == count:
        yield from quaternion_problems(initial.position[-4:], "position")
    places = initial.position if isinstance(initial.position, tuple) else (initial.position,)
    for value, unit in zip(places, joint.coordinate_units, strict=False):
        if unit == "rad" and isinstance(value, float) and abs(value) > FARTHEST:
            yield Problem(("position",), wrong(f"angles of size at most {FARTHEST:g} rad", show(value), WHOLE_TURNS))


def _sizes(joint: Joint, key: str, is_point: bool) -> set[int]:
    """How many numbers of initial positions or velocities a joint may have."""
    count = len(joint.coordinate_names)
    rates = {count - _has_quaternion(joint)} if key == "velocity" else set()
    return {count} | rates | ({3} if is_point else set())


def checked_initial(name: str, initial: Initial, joint: Joint) -> Initial:
    """Initial coordinates and rates, numbers all, of a resolved joint in their canonical form.

    Raises
    ------
    ModelError
        If their number is wrong, or a quaternion is not of norm 1.
    """
    problems = list(placed(_initial_problems(initial, joint), "initial", name))
    if problems:
        raise ModelError(one_line(problems))
    return _initial(initial, joint)


def _canonical_part(model: Description, where: Where, part: Part) -> Part:
    """A part in canonical form, and what was mended of it."""
    mended: Iterable[Problem] = ()
    match where:
        case ("bodies" | "joints" | "constraints", _):
            mended = part.value.roundings()
        case ("initial", str(joint)) if _has_quaternion(model.joints[joint]) and len(part.value.position or ()) > 3:
            mended = quaternion_roundings(part.value.position[-4:], "position")
    return part._replace(value=_canonical(model, where, part.value), mended=tuple(placed(mended, *where)))


def _canonical(model: Description, where: Where, value: Any) -> Any:
    """A part of a model of numbers in the form that `Model.resolved` promises."""
    match where:
        case ("bodies" | "joints" | "constraints" | "contacts", _):
            return value.replaced(value.canonical())
        case ("initial", str(joint)):
            return _initial(value, model.joints[joint])
    return value


def _initial(initial: Initial, joint: Joint) -> Initial:
    """Positions and velocities as tuples, of all coordinates, quaternions of norm 1."""
    position, velocity = (
        (value,) if isinstance(value, float) else value for value in (initial.position, initial.velocity)
    )
    if joint.is_free:  # a point mass, of which the place is enough
        still = (1.0, 0.0, 0.0, 0.0) if _has_quaternion(joint) else (0.0, 0.0, 0.0)
        position = (*position, *still) if position is not None and len(position) == 3 else position
        velocity = (*velocity, 0.0, 0.0, 0.0) if velocity is not None and len(velocity) == 3 else velocity
    if position is not None and _has_quaternion(joint):
        position = (*position[:-4], *quaternion(position[-4:]))
    return initial.replaced({"position": position, "velocity": velocity})


def _units(joint: Joint) -> dict[str, str]:
    """The units of a joint's coordinates, empty for components of a quaternion."""
    units = ("" if unit == "-" else unit for unit in joint.coordinate_units)
    return dict(zip(joint.coordinate_names, units, strict=True))


def _has_quaternion(joint: Joint) -> bool:
    return "qw" in joint.coordinate_names
