"""Lengths of tendons: what an expression or a path over points means in a model, and what may be wrong with it."""

from __future__ import annotations

from collections.abc import Iterator

from mbvi.errors import ModelError
from mbvi.model.description import Description
from mbvi.model.expressed import by_expression
from mbvi.model.expressions import Problem, wrong
from mbvi.model.forces import OnTendon
from mbvi.model.holds import ByExpression
from mbvi.model.ropes import over_points


def length_of(tendon: OnTendon, model: Description) -> ByExpression:
    """The length of a tendon of a resolved model, as a program of its variables, the time first.

    Raises
    ------
    ModelError
        If it is no expression of coordinates and places.
    """
    if tendon.length is None:
        return over_points(tendon.points, 0.0, "+")
    found = by_expression(tendon.length, model)
    if "t" in found.program:
        raise ModelError(wrong("a length of coordinates and places alone", "one with the time t", "leave it out"))
    for each in found.variables:
        if each.kind == "q" and _is_of_quaternion(model, each.joint, each.coordinate):
            of, remedy = (
                f"that of a quaternion, q({each.joint!r}, {each.coordinate!r})",
                "give the joint Euler coordinates",
            )
            raise ModelError(wrong("angles and displacements", of, f"{remedy}, as coordinates: xyz"))
    return found


def length_unit(length: ByExpression, model: Description) -> str:
    """The unit of a length: rad if it is of angles alone, or else m."""
    units = {
        dict(zip(joint.coordinate_names, joint.coordinate_units, strict=True))[each.coordinate]
        for each in length.variables
        if each.kind == "q" and (joint := model.joints[each.joint])
    }
    return "rad" if units == {"rad"} and not length.places else "m"


def tendons_of(model: Description) -> Iterator[tuple[str, OnTendon]]:
    """The forces along tendons, by their names."""
    yield from ((name, force) for name, force in model.forces.items() if isinstance(force, OnTendon))


def tendon_problems(model: Description) -> Iterator[Problem]:
    """The problems of a resolved model's tendons whose lengths cannot be read as expressions."""
    for name, tendon in tendons_of(model):
        try:
            if tendon.length is not None:
                length_of(tendon, model)
        except ModelError as error:
            yield Problem(("forces", name, "length"), str(error))


def _is_of_quaternion(model: Description, joint: str, coordinate: str) -> bool:
    own = model.joints[joint]
    return dict(zip(own.coordinate_names, own.coordinate_units, strict=True))[coordinate] == "-"
