"""Bodies that are points: a mass at one place, and nothing that needs an orientation of the body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from mbvi.model.fields import WORLD
from mbvi.model.forces import Bushing, FrameActuator
from mbvi.model.graph import Plan, is_cut
from mbvi.model.holds import turning_sides
from mbvi.model.joints import Joint
from mbvi.model.mass_properties import MassProperties
from mbvi.model.model import Model
from mbvi.model.tendons import length_of, tendons_of
from mbvi.recording import array, decide, dot

NO_INERTIA = 1e-14


def point_bodies(model: Model, plan: Plan, properties: Mapping[str, MassProperties]) -> set[str]:
    """The bodies that have a place for coordinates, but no orientation.

    All mass is at one place c, the body is tied by ball and universal joints alone, and all of them, all forces and all
    constraints but at most one act at c; that one is a ball or universal joint, about whose place c swings.
    """
    roots = {
        branch.outer
        for branch in plan.branches
        if is_cut(model, branch.joint, plan) or _is_free_flight(model.joints[branch.joint])
    }
    uses = {
        name: list(_uses(model, plan, name, properties[name])) for name in roots if _is_concentrated(properties[name])
    }
    found = {name for name, places in uses.items() if None not in places and sum(map(bool, places)) <= 1}
    for joint in model.joints.values():  # a joint about which both bodies swing has no distance
        ends = ((joint.parent, joint.position), (joint.child, joint.offset))
        swinging = [body for body, place in ends if body in found and _is_off(place, properties[body])]
        if len(swinging) == 2:
            found.discard(swinging[1])
    return found


def _is_concentrated(properties: MassProperties) -> bool:
    m, c, inertia = properties
    least = NO_INERTIA * m * (1.0 + dot(c, c)) if m > 0 else -1.0
    return all(abs(each) <= least for each in inertia.flat)


def _is_free_flight(joint: Joint) -> bool:
    return joint.is_free and joint.parent == WORLD


def _is_off(place: Any, properties: MassProperties) -> bool:
    return not decide(_are_close, array(place), properties.center_of_mass)


def _are_close(a: np.ndarray, b: np.ndarray) -> Any:
    """Whether points (…, 3) are the same, but for round-off."""
    return np.isclose(a, b, rtol=1e-12, atol=1e-14).all(-1)


def _uses(model: Model, plan: Plan, name: str, properties: MassProperties) -> Iterator[bool | None]:
    """Whether each thing that acts on a body acts off its mass; None if it needs an orientation."""
    acted_on = {
        getattr(each, key, None) for each in _others(model) for key in ("joint", "joint_a", "joint_b", "joint_c")
    }
    lengths = [length_of(each, model) for _, each in tendons_of(model)]
    acted_on.update(joint for each in (*model.constraints.values(), *lengths) for joint in getattr(each, "joints", ()))
    acted_on.update(name for name, joint in model.joints.items() if joint.armatures)
    for key, joint in model.joints.items():
        if name not in (joint.parent, joint.child):
            continue
        is_free = _is_free_flight(joint)
        is_usable = is_free or joint.is_pivot
        if not is_usable or key in acted_on or not (is_free or is_cut(model, key, plan)):
            yield None
        elif not is_free:
            yield _is_off(joint.position if joint.parent == name else joint.offset, properties)
    for force in model.forces.values():
        for key, point in (("body", "point"), ("body_a", "point_a"), ("body_b", "point_b")):
            if getattr(force, key, WORLD) == name:
                is_directed = getattr(force, "frame", "world") == "body" or isinstance(force, Bushing | FrameActuator)
                is_off = not hasattr(force, point) or _is_off(getattr(force, point), properties)
                yield None if is_directed or is_off else False
    for constraint in model.constraints.values():
        if hasattr(constraint, "ends"):
            for (body, place), turns in zip(constraint.ends(), turning_sides(constraint.holds()), strict=True):
                if body == name:
                    yield None if turns or _is_off(place, properties) else False
    for each in (*model.constraints.values(), *lengths):
        for body, place in getattr(each, "places", ()):
            if body == name:
                yield None if _is_off(place, properties) else False


def _others(model: Model) -> Iterator[Any]:
    yield from model.forces.values()
    yield from model.constraints.values()
