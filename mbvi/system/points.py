"""Bodies that are points: a mass at one place, and nothing that needs an orientation of the body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from mbvi.model.constraints import CoincidentFrames, PointOnCurve, PointOnLine, PointOnPlane
from mbvi.model.fields import WORLD
from mbvi.model.forces import Torque
from mbvi.model.graph import Plan, is_cut
from mbvi.model.joints import Ball, Free, Joint, Universal
from mbvi.model.mass_properties import MassProperties
from mbvi.model.model import Model

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
    return m > 0 and float(np.abs(inertia).max()) <= NO_INERTIA * m * (1.0 + float(c @ c))


def _is_free_flight(joint: Joint) -> bool:
    return isinstance(joint, Free) and joint.parent == WORLD


def _is_off(place: Any, properties: MassProperties) -> bool:
    return not np.allclose(place, properties.center_of_mass, rtol=1e-12, atol=1e-14)


def _uses(model: Model, plan: Plan, name: str, properties: MassProperties) -> Iterator[bool | None]:
    """Whether each thing that acts on a body acts off its mass; None if it needs an orientation."""
    acted_on = {getattr(each, key, None) for each in _others(model) for key in ("joint", "joint_a", "joint_b")}
    for key, joint in model.joints.items():
        if name not in (joint.parent, joint.child):
            continue
        is_free = _is_free_flight(joint)
        is_usable = is_free or isinstance(joint, Ball | Universal)
        if not is_usable or key in acted_on or not (is_free or is_cut(model, key, plan)):
            yield None
        elif not is_free:
            yield _is_off(joint.position if joint.parent == name else joint.offset, properties)
    for each in _others(model):
        for key, point in (("body", "point"), ("body_a", "point_a"), ("body_b", "point_b")):
            if getattr(each, key, WORLD) == name:
                is_directed = getattr(each, "frame", "world") == "body" or isinstance(each, Torque | CoincidentFrames)
                is_guide = key == "body_a" and isinstance(each, PointOnLine | PointOnPlane | PointOnCurve)
                is_off = not hasattr(each, point) or _is_off(getattr(each, point), properties)
                yield None if is_directed or is_guide or is_off else False


def _others(model: Model) -> Iterator[Any]:
    yield from model.forces.values()
    yield from model.constraints.values()
