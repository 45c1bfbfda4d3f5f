"""Systems of a model in which some stops are closed and frictions hold: each is assembled once, and every run has a copy.

Copies of a system share them. They are those of its model and of its force: a copy with other ones finds its own. Of the
constraints that follow from others, the counts are kept too, which belong to a start: that of the last run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from threading import local
from typing import Any

import numpy as np

from mbvi.errors import ModelError
from mbvi.kernels import layout
from mbvi.model.contacts import Friction, Stop
from mbvi.model.expressions import wrong
from mbvi.system.forms import Held, with_held
from mbvi.system.redundancy import count_redundant
from mbvi.system.system import System

Array = np.ndarray


class HeldSystem:
    """One of these systems, as it was assembled.

    Parameters
    ----------
    system : System
        Which no run uses.
    belongs_to : tuple
        The model and the force of which it is.
    """

    def __init__(self, system: System, belongs_to: tuple[Any, ...]) -> None:
        self._system, self.belongs_to = system, belongs_to
        self._counts: tuple[tuple[bytes, float], Array, Array] | None = None

    def copy(self) -> System:
        """A copy with tables and workspaces of its own."""
        own, arrays = copy(self._system), self._system.arrays
        own.arrays = layout.System(**{name: getattr(arrays, name) for name in arrays._numba_type_.layout})
        own._local = local()
        return own

    def count_redundant(self, own: System, q: Array, t: float) -> None:
        """Count the redundant constraints of a copy from a start q (n,) at time t, unless they were counted there before."""
        start, counts = (q.tobytes(), t), self._counts
        if counts is None or counts[0] != start:
            counted = self.copy()
            count_redundant(counted, q, t)
            counts = self._counts = start, counted.arrays.redundant.copy(), counted.arrays.reference.copy()
        _, own.arrays.redundant[:], own.arrays.reference[:] = counts


def held_system(
    system: System, held: Sequence[Stop | Friction | Held], forces: Mapping[str, Any] | None = None
) -> HeldSystem:
    """The system in which some stops and frictions are constraints, with some more forces, assembled unless it is kept.

    Parameters
    ----------
    system : System
        The system of a model.
    held : sequence of Stop, Friction or Held
    forces : mapping of str to force, optional
        The forces by their names.

    Raises
    ------
    ModelError
        If it has other coordinates.
    """
    own, model, forces = system._own_force, system.model, forces or {}
    assert model is not None
    belongs_to = model, own and own.function
    key = (*map(id, belongs_to), tuple((each.name, each.held) for each in held), tuple(forces.items()))
    found: HeldSystem = system._held_systems.get(
        key, lambda: HeldSystem(_assembled(system, with_held(model.resolved(), held, forces)), belongs_to)
    )
    return found


def _assembled(system: System, model: Any) -> System:
    """The system of a model of the same coordinates, with the same force."""
    assert system._assemble is not None
    other: System = system._assemble(model, force=system._own_force)
    if other.coordinate_names != system.coordinate_names:
        expected = f"the coordinates {', '.join(system.coordinate_names)}"
        raise ModelError(f"contacts: {wrong(expected, ', '.join(other.coordinate_names))}")
    return other
