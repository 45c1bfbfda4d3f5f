"""The stops and dry frictions of a model, and what may be wrong with all of them together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mbvi.errors import ModelError
from mbvi.model.constraints import Coupling, PrescribedCoordinate
from mbvi.model.contacts import DistanceStop, DryFriction, ExpressionStop, Friction, PlaneStop, Stop, Stopping
from mbvi.model.description import Description
from mbvi.model.expressed import by_expression
from mbvi.model.expressions import Problem, show, wrong
from mbvi.recording import plain


def has_contacts(model: Description) -> bool:
    """Whether a model has stops or dry friction that act."""
    limits = (each for joint in model.joints.values() for each in joint.limits.values())
    return bool(model.contacts) or any(each.restitution is not None for each in limits)


def has_moving_stops(model: Description) -> bool:
    """Whether a stop of a resolved model moves as a function of time, and so may do work."""
    moving = [each for each in model.contacts.values() if isinstance(each, DistanceStop | PlaneStop)]
    given = [getattr(each, key, None) for each in moving for key in ("lower", "upper", "height")]
    texts = [each.gap for each in model.contacts.values() if isinstance(each, ExpressionStop)]
    return any(not isinstance(each, float | None) for each in given) or any(
        "t" in by_expression(each, model).program for each in texts
    )


def stops_of(model: Description) -> Iterator[Stop]:
    """The stops of a resolved model: limits of coordinates that have a restitution, and those among its contacts."""
    for name, joint in model.joints.items():
        for short, limits in joint.limits.items():
            if limits.restitution is None:
                continue
            for key, sign in (("lower", 1.0), ("upper", -1.0)):
                if (value := getattr(limits, key)) is not None:
                    held = PrescribedCoordinate.model_construct(joint=name, coordinate=short, value=value)
                    numbers = plain(limits.restitution), plain(limits.rest_speed)
                    yield Stop(f"{name}.{short}.{key}", sign, held, *numbers, _unit(model, name, short))
    for name, element in model.contacts.items():
        if isinstance(element, ExpressionStop):
            numbers = plain(element.restitution), plain(element.rest_speed)
            yield Stop(name, 1.0, by_expression(element.gap, model), *numbers, "N")
        elif isinstance(element, Stopping):
            yield from (_with_unit(model, each) for each in element.stops(name))


def frictions_of(model: Description) -> Iterator[Friction]:
    """The dry frictions of a resolved model; one of 0 is none, as that of a stop."""
    for name, element in model.contacts.items():
        if isinstance(element, DryFriction):
            own = model.joints[element.joint].friction if element.kinetic is None else element.kinetic
            static = own if element.static is None else element.static
            if not plain(static) > 0:
                continue
            held = PrescribedCoordinate(joint=element.joint, coordinate=element.coordinate, value=0.0)
            yield Friction(name, held, plain(own), plain(static), _unit(model, element.joint, str(element.coordinate)))


def _with_unit(model: Description, stop: Stop) -> Stop:
    """A stop of coordinates with the unit of its force."""
    if not isinstance(stop.held, Coupling):
        return stop
    return stop._replace(unit=_unit(model, stop.held.joint_b, str(stop.held.coordinate_b)))


def _unit(model: Description, joint: str, coordinate: str) -> str:
    own = model.joints[joint]
    return "N m" if dict(zip(own.coordinate_names, own.coordinate_units, strict=True))[coordinate] == "rad" else "N"


def friction_name(stop: Stop) -> str:
    """The name of a stop's friction."""
    return f"{stop.name}.friction"


def _given_twice(model: Description) -> Iterator[Problem]:
    """Contacts with the name that a limit, a bound or a friction of a stop has already."""
    stops = list(stops_of(model))
    taken = [each.name for each in stops] + [friction_name(each) for each in stops if each.friction[1] > 0]
    taken += [each.name for each in frictions_of(model)]
    for name in model.contacts:
        if taken.count(name) > 1:
            found = f"{name!r}, that of a limit, a bound or a friction of a stop"
            yield Problem(("contacts", name), wrong("a name of its own", found, "rename it"))


def contact_problems(model: Description) -> Iterator[Problem]:
    """Contacts that are twice, friction of joints that have none, and names that something else has."""
    frictions: dict[Any, str] = {}
    are_known = True  # all gaps, without which stops have no names
    for name, element in model.contacts.items():
        if name in model.joints or name in model.constraints:
            found = f"{name!r}, that of a joint or constraint"
            yield Problem(("contacts", name), wrong("a name of its own", found, "rename one of them"))
        if isinstance(element, ExpressionStop):
            try:
                by_expression(element.gap, model)
            except ModelError as error:
                are_known = False
                yield Problem(("contacts", name, "gap"), str(error))
        if not isinstance(element, DryFriction):
            continue
        place = element.joint, element.coordinate
        if place in frictions:
            expected = f"one friction of each coordinate, which {frictions[place]!r} is"
            yield Problem(("contacts", name), wrong(expected, "another", "add them"))
        frictions[place] = name
        joint = model.joints[element.joint]
        if element.kinetic is None and not plain(joint.friction) > 0:
            found = f"none, and {element.joint!r} has no friction"
            yield Problem(("contacts", name, "kinetic"), wrong("a friction", found, "write for example kinetic: 0.1"))
        elif element.kinetic is None and element.static is not None and plain(element.static) < plain(joint.friction):
            found = f"{show(element.static)} below {show(joint.friction)}, that of the joint"
            yield Problem(("contacts", name, "static"), wrong("at least the kinetic friction", found))
    if are_known:
        yield from _given_twice(model)
