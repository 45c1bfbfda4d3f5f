"""Copies of a system: as a run takes it, with another start, and with workspaces that two systems share."""

from __future__ import annotations

from copy import copy
from typing import TypeVar

import numpy as np

from mbvi.kernels import layout
from mbvi.model.model import Model
from mbvi.system.base import BaseSystem

Array = np.ndarray
ASystem = TypeVar("ASystem", bound=BaseSystem)


def as_run(system: ASystem) -> ASystem:
    """The system as a run takes it: with its own counts of redundant constraints, which a start changes, and as it was made;
    itself where there is neither.
    """
    arrays, own = system.arrays, system._as_made()
    if not (arrays.reference.any() or (arrays.k and not arrays.is_tree)):
        return own
    own = copy(own)
    own.arrays = layout.System(**{name: getattr(arrays, name) for name in arrays._numba_type_.layout})
    return own


def starting(system: ASystem, q: Array, v: Array, model: Model | None = None) -> ASystem:
    """The system with other initial coordinates and velocities (n,): those of a model that differs in these alone, or of none."""
    other = copy(system)
    other._start_elsewhere(q, v, model)
    return other


def is_like(system: BaseSystem, other: BaseSystem) -> bool:
    """Whether two systems differ in floating-point numbers alone, so that both fit into the same workspaces."""
    one, two = system.arrays, other.arrays
    return one._numba_type_ == two._numba_type_ and all(
        np.array_equal(getattr(one, name), getattr(two, name))
        for name in one._numba_type_.layout
        if name != "redundant" and not _is_of_floats(getattr(one, name))
    )


def share_work(system: BaseSystem, other: BaseSystem) -> None:
    """Let a system use the workspaces of another that is like it."""
    system._local = other._local


def _is_of_floats(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"
