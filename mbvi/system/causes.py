"""What in a model makes a step fail: forces without a value, ropes without a direction, motions that have almost no inertia."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbvi.model.forces import Between, OnTendon
from mbvi.model.mass_properties import checked_properties
from mbvi.model.poles import is_empty_quotient, programs
from mbvi.model.ropes import OverPoints
from mbvi.system.assemble import assemble
from mbvi.system.system import System

Array = np.ndarray
APART = "Set its points so that they pass each other at a distance; on one joint, take a joint_spring or joint_damper."
BENT = "Set its points so that they pass each other at a distance, or look for a pole of its length."
PULLEY = "End the run before, or stop the body before its pulley, by a limit of its joint with a restitution or a distance_stop."
FAR = 1e3  # ratio of masses from which it is reported
AWAY = 1e4  # distance of a body's frame from its center of mass, in radii of gyration, from which it is reported


def force_without_value(system: System, q: Array, times: Array) -> tuple[str, str]:
    """Which force is not finite at q, at some of these times, as the end of a sentence, and what to do."""
    for name in [] if system.model is None else system.model.forces:
        alone = assemble(system.model.replaced({"forces": {name: system.model.forces[name]}}))  # type: ignore[union-attr]
        if alone.dimension == system.dimension and not _is_finite(alone, q, times):
            if isinstance(system.model.forces[name], Between):  # type: ignore[union-attr]
                return f": the ends of forces.{name} meet, where it has no direction", APART
            if isinstance(system.model.forces[name], OnTendon):  # type: ignore[union-attr]
                return f": the length of forces.{name} has no direction or no value", BENT
            own = programs(system.model.resolved().forces[name])  # type: ignore[union-attr]
            if any(is_empty_quotient(each, t) for each in own for t in times):
                return f": forces.{name} is 0/0", "Write it with its limit there, or start at another time."
            return f": forces.{name} has no value", "Look for a time at which its expression has none, as at a pole."
    if system.arrays.force and _is_finite(system.unforced, q, times):
        return ": your own force has no value", "Look for a pole of it, or an error that it raises."
    return "", "Look for a pole, or an error that a function of yours raises."


def _is_finite(system: System, q: Array, times: Array) -> bool:
    rest = np.zeros(system.dimension)
    return all(np.isfinite(system.gradient(q, rest, t)[1]).all() for t in times)


def rope_without_direction(system: System, q: Array, move: Array) -> str:
    """The rope of which two consecutive points would meet within two moves of a step from q (n,); empty if there is none."""
    model, states = system.model, np.stack([q, q + 2.0 * move])
    ropes: dict[str, Any] = {} if model is None else {"constraints": model.constraints, "contacts": model.contacts}
    for section, elements in ropes.items():
        for name, element in elements.items():
            for ends in element.spans() if isinstance(element, OverPoints) else ():
                start, end = (_places(system, *each, states) for each in ends)
                before, after = end - start
                if before @ after <= 0.0:
                    return f"{section}.{name}"
    return ""


def _places(system: System, body: str, point: Any, q: Array) -> Array:
    """Places (states, 3) of a point of a body."""
    places, rotations = system.poses(body, q)
    return places + rotations @ np.array(point)


def almost_no_inertia(system: System, names: list[str]) -> tuple[str, str]:
    """Why joints or bodies move almost without inertia at some position, as the end of a sentence, and what to do."""
    model = system.model
    if model is None:
        return "", "Look for a singular mass matrix near there."
    joints = [model.joints[name] for name in names if name in model.joints]
    if any(joint.has_euler_angles for joint in joints):
        return ", as in gimbal lock", "Instead of Euler angles, take a quaternion."
    resolved = model.resolved()
    properties = {name: checked_properties(body, model.files) for name, body in resolved.bodies.items()}
    masses = {name: float(each.mass) for name, each in properties.items()}
    light, heavy = (pick(masses, key=masses.__getitem__) for pick in (min, max))
    if 0 < masses[light] * FAR < masses[heavy]:
        pair = f"{light} has {masses[light]:.3g} kg and {heavy} {masses[heavy]:.3g} kg"
        return f", since masses are far apart: {pair}", (
            "What is light turns as much faster there: take a smaller step, or masses that are nearer to each other."
        )
    for name, each in properties.items():
        distance = float(np.linalg.norm(each.center_of_mass))
        radius = float(np.sqrt(0.5 * np.trace(each.inertia) / masses[name])) if masses[name] > 0 else 0.0
        if 0 < radius * AWAY < distance:
            lengths = f"{distance:.3g} m from its center of mass, {distance / radius:.3g} times its radius of gyration"
            return f", since the frame of {name} lies {lengths}, and its inertia is lost in rounding", (
                "Place the frame near the center of mass, and let the joint's offset say where the joint is."
            )
    return ", as at a dead point", "Give what moves there some inertia."
