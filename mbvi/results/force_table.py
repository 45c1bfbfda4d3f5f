"""Forces, powers, works and energies of the elements of a run as one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mbvi.results.tables import Quantity, Table
from mbvi.system.element_forces import ElementForce

Array = np.ndarray


def force_table(name: str, t: Array, found: Mapping[str, ElementForce]) -> Table:
    """The table of what elements exert at times t (states,) in the system of that name."""
    elements = list(found.values())
    stored = [each for each in elements if each.energy is not None]
    quantities = [
        Quantity("force", "forces and torques", ("force_of",), "force_of_unit", _columns(elements, "values", len(t))),
        Quantity("power", "power given to the motion", ("element",), "W", _columns(elements, "power", len(t))),
        Quantity("work", "work since the first state", ("element",), "J", _columns(elements, "work", len(t))),
        Quantity("energy", "potential energies", ("element_with_energy",), "J", _columns(stored, "energy", len(t))),
    ]
    labels = {
        "force_of": tuple(label for each in elements for label in each.labels),
        "element": tuple(found),
        "element_with_energy": tuple(each.name for each in stored),
    }
    units = {"force_of": tuple(unit for each in elements for unit in each.units)}
    return Table(t, tuple(each for each in quantities if each.values.shape[1]), labels, units, {"name": name})


def _columns(elements: Sequence[ElementForce], what: str, states: int) -> Array:
    """An attribute of elements as the columns of one array (states, columns)."""
    return np.column_stack([np.empty((states, 0)), *(getattr(each, what) for each in elements)])
