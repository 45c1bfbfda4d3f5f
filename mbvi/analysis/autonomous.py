"""Whether forces, inertias and constraints of a system are the same at all times, as small deviations from a motion ask."""

from __future__ import annotations

import numpy as np

from mbvi.errors import ModelError
from mbvi.model.expressions import wrong
from mbvi.system.system import System
from mbvi.system.tables import functions_of_time

Array = np.ndarray
TIMES = (1.2345, 7.89)  # at which forces must be what they are at t = 0 [s]


def check_autonomous(system: System, q: Array, rest: Array) -> None:
    """Neither forces, inertias nor constraints may depend on time."""
    if system.is_conservative:
        return
    now = _parts(system, q, rest, 0.0)
    for t in TIMES:
        for before, after, names in zip(
            now, _parts(system, q, rest, t), (system.coordinate_names, system.constraint_names), strict=True
        ):
            change = np.abs(after - before).max(axis=1)
            if change.any():
                raise ModelError(_time_message(system, f"a change at {names[int(np.argmax(change))]}"))
    if len(functions_of_time(system.arrays)):
        raise ModelError(_time_message(system, "functions of time"))


def _time_message(system: System, found: str) -> str:
    expected = "forces and constraints that do not depend on time"
    return f"{system.name}: {wrong(expected, found, 'replace functions of time by numbers')}"


def _parts(system: System, q: Array, rest: Array, t: float) -> tuple[Array, Array]:
    """Force and inertias of every coordinate, (n, 1 + n), and value and Jacobian of every constraint, (k, 1 + n)."""
    f, M = system.gradient(q, rest, t)[1], system.mass_matrix(q, t)
    return np.column_stack([f, M]), np.column_stack([system.constraint(q, t), system.constraint_jacobian(q, t)])
