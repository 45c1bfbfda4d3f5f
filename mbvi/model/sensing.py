"""What may be wrong with the sensors of a model, and which coordinates, frames and joints their names mean."""

from __future__ import annotations

from collections.abc import Iterator

from mbvi.errors import ModelError
from mbvi.model.contacts import ExpressionStop
from mbvi.model.description import Description
from mbvi.model.expressed import frame_remedy
from mbvi.model.expressions import Problem, nearest, show, wrong
from mbvi.model.quantities import Quantity, measure, names_in_measure
from mbvi.model.sensors import ExpressionSensor, InJoint, OnFrame
from mbvi.model.tendons import tendons_of


def sensor_problems(model: Description) -> Iterator[Problem]:
    """Frames that there are not, joints that hold nothing, and expressions that are none, of a resolved model."""
    for name, sensor in model.sensors.items():
        if isinstance(sensor, OnFrame):
            known = [*frames_of(model)]
            if sensor.frame not in known:
                text = wrong("a body or BODY.FRAME", show(sensor.frame), frame_remedy(sensor.frame, model, known))
                yield Problem(("sensors", name, "frame"), text)
        elif isinstance(sensor, InJoint) and model.joints[sensor.joint].is_free:
            text = wrong("a joint that holds its child", f"{sensor.joint!r}, which is free")
            yield Problem(("sensors", name, "joint"), text)
        elif isinstance(sensor, ExpressionSensor):
            try:
                for quantity in measure(sensor.expression, model.parameters).quantities:  # type: ignore[arg-type]
                    check_quantity(model, quantity)
            except ModelError as error:
                yield Problem(("sensors", name, "expression"), str(error))


def names_in_texts(model: Description) -> set[str]:
    """The names that expressions of quantities use: those of sensors, stops and tendons."""
    texts = [each.expression for each in model.sensors.values() if isinstance(each, ExpressionSensor)]
    texts += [each.gap for each in model.contacts.values() if isinstance(each, ExpressionStop)]
    texts += [each.length for _, each in tendons_of(model) if each.length is not None]
    return {name for text in texts for name in names_in_measure(text)}


def frames_of(model: Description) -> Iterator[str]:
    """The names of all bodies, and of their frames as BODY.FRAME."""
    for body, element in model.bodies.items():
        yield body
        yield from (f"{body}.{frame}" for frame in element.frames)


def check_quantity(model: Description, quantity: Quantity) -> None:
    """Refuse a quantity whose name is of nothing in a model.

    Raises
    ------
    ModelError
        Naming the nearest.
    """
    kind, name, coordinate = quantity
    if kind in ("x", "y", "z"):
        if name not in (known := [*frames_of(model)]):
            raise ModelError(
                f"{kind}({name!r}): {wrong('a body or BODY.FRAME', show(name), frame_remedy(name, model, known))}"
            )
    elif kind != "t":
        if name not in model.joints:
            raise ModelError(f"{kind}({name!r}): {wrong('a joint', show(name), nearest(name, model.joints))}")
        own = model.joints[name].coordinate_names
        if coordinate not in own and not (coordinate is None and len(own) == 1):
            listed = ", ".join(own) or "none: it is a weld"
            raise ModelError(f"{kind}({name!r}): {wrong('one of its coordinates', show(coordinate), listed)}")
