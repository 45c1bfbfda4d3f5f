"""Joints of a system that are held where they are: by constraints on their coordinates."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mbvi.model.constraints import PrescribedCoordinate
from mbvi.system.system import System

Array = np.ndarray


def free_joints(system: System) -> tuple[str, ...]:
    """The joints with coordinates of their own, of which none is part of a quaternion."""
    if system.model is None or system.homes is None:
        return ()
    return tuple(name for name in system.homes.joints if "qw" not in system.model.joints[name].coordinate_names)


def held_coordinates(system: System, joint: str, q: Array) -> Array:
    """The coordinates (m,) of a joint in a state q (n,)."""
    assert system.model is not None and system.homes is not None
    first = system.homes.joints[joint]
    return q[first : first + len(system.model.joints[joint].coordinate_names)].copy()


def with_held_joints(system: System, held: Mapping[str, Array]) -> System:
    """The system in which some joints, by name, have the coordinates (m,) that they are held at."""
    if not held:
        return system
    model = system.model
    assert model is not None
    locks = {
        f"lock of {joint}.{name}": PrescribedCoordinate(joint=joint, coordinate=name, value=float(value))
        for joint, values in held.items()
        for name, value in zip(model.joints[joint].coordinate_names, values, strict=True)
    }
    return system._of_model(model.replaced({"constraints": {**model.constraints, **locks}}))
