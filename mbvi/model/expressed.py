"""Constraints by an expression of the time, of coordinates, and of places of bodies and frames along the axes of the world."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mbvi.errors import ModelError
from mbvi.model.description import Description
from mbvi.model.expressions import nearest, show, wrong
from mbvi.model.holds import ByExpression, Variable
from mbvi.model.quantities import Quantity, measure
from mbvi.recording import plain


def by_expression(text: str, model: Description) -> ByExpression:
    """What a text means in a resolved model.

    Raises
    ------
    ModelError
        If it is no expression of quantities, takes rates, or names what the model does not have.
    """
    found = measure(text, {name: float(plain(value)) for name, value in model.parameters.items()})
    if len(found.quantities) == 1:
        raise ModelError(wrong("an expression of coordinates or places", show(text), "write for example z('ball')"))
    return ByExpression(found.program, tuple(_variable(each, model) for each in found.quantities))


def _variable(quantity: Quantity, model: Description) -> Variable:
    kind, name, coordinate = quantity
    if kind == "t":
        return Variable("t")
    if kind == "v":
        raise ModelError(wrong("coordinates and places", f"a rate, v({name!r})", "write q for a coordinate"))
    if kind != "q":
        return Variable(kind, "", "", *_place(name, model))
    if name not in model.joints:
        raise ModelError(f"q({name!r}): {wrong('a joint', show(name), nearest(name, model.joints))}")
    own = model.joints[name].coordinate_names
    chosen = own[0] if coordinate is None and len(own) == 1 else coordinate
    if chosen not in own:
        raise ModelError(f"q({name!r}): {wrong('one of its coordinates', show(coordinate), ', '.join(own) or 'none')}")
    return Variable("q", name, chosen)


def _place(name: str, model: Description) -> tuple[str, Any]:
    """The body and the point of a body's or frame's name."""
    if name in model.bodies:
        return name, (0.0, 0.0, 0.0)
    for end in (i for i, letter in enumerate(name) if letter == "."):
        body, frame = name[:end], name[end + 1 :]
        if body in model.bodies and frame in model.bodies[body].frames:
            return body, model.bodies[body].frames[frame].position
    raise ModelError(wrong("a body, or a frame as BODY.FRAME", show(name), frame_remedy(name, model, model.bodies)))


def frame_remedy(name: str, model: Description, known: Iterable[str]) -> str:
    """What to write instead of a name of no body and no frame: the nearest of those known, or a frame where a point is meant."""
    body, _, point = name.rpartition(".")
    if body in model.bodies and point in model.bodies[body].points:
        place = ", ".join(f"{plain(x):g}" for x in model.bodies[body].points[point])
        return f"make the point a frame: frames: {{{point}: {{position: [{place}]}}}} in bodies.{body}"
    return nearest(name, known)
