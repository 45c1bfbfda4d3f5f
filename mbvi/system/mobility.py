"""How many ways a system can move: its degrees of freedom, and which of its constraints follow from others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mbvi.errors import ModelError
from mbvi.system.base import BaseSystem
from mbvi.system.copies import as_run
from mbvi.system.initial import found_start, starts_from_tree, tree_system
from mbvi.system.projection import (
    owner_of,
    project_position,
)
from mbvi.system.redundancy import (
    RANK,
    count_redundant,
    independent_rows,
    is_nearly_singular,
    null_space,
    position_beside,
    singularity,
)

Array = np.ndarray
EVERYWHERE = (
    1e-4  # smallest singular value, relative to the largest, by the distance from a singular position, at another one
)


class Mobility(NamedTuple):
    """How many ways a system can move.

    degrees_of_freedom   coordinates less independent constraints
    redundant            constraints that follow from others
    origins              names of the joints and elements that they come from
    is_singular          whether fewer constraints are independent at the start than at positions near it
    first_order          names of joints and constraints, if that is so wherever the loops can go
    """

    degrees_of_freedom: int
    redundant: int
    origins: tuple[str, ...]
    is_singular: bool
    first_order: tuple[str, ...] = ()


def find_mobility(system: BaseSystem) -> Mobility:
    """Degrees of freedom and redundant constraints at the start; of a model, in the coordinates of its spanning tree.

    Raises
    ------
    ModelError
        If the start cannot be moved onto the constraints.
    """
    n, k = system.dimension, system.constraint_count
    has_loops = system.homes is None or bool(system.homes.plan.chords or (system.model and system.model.constraints))
    if not has_loops or not k:
        return Mobility(n - k, 0, (), False)
    if starts_from_tree(system):
        return find_mobility(tree_system(system))
    q = found_start(system, None, None, 0.0, True, None).q
    G = system.constraint_jacobian(q)
    rank, origins = _rank(system, G)
    is_singular = _nearby_rank(system, q, G) > rank
    return Mobility(n - rank, k - rank, origins, is_singular, _tied_to_first_order(system, q) if is_singular else ())


def _rank(system: BaseSystem, G: Array) -> tuple[int, tuple[str, ...]]:
    """Rank of the constraint Jacobian, and the owners of the rows that depend on others."""
    left, singular, _ = np.linalg.svd(G)
    rank = int(np.sum(singular > RANK * singular.max(initial=0.0)))
    rows = np.flatnonzero(np.abs(left[:, rank:]).max(axis=1, initial=0.0) > 1e-6)
    return rank, tuple(dict.fromkeys(owner_of(system, int(i)) for i in rows))


def _nearby_rank(system: BaseSystem, q: Array, G: Array) -> int:
    """Largest rank of the constraint Jacobian at some positions near q on the constraints."""
    random, largest = np.random.default_rng(0), 0
    free = null_space(G)
    for _ in range(3):
        away = q + 1e-3 * random.standard_normal(len(free)) @ free if len(free) else q
        try:
            near = project_position(system, away)
        except ModelError:
            continue
        largest = max(largest, _rank(system, system.constraint_jacobian(near))[0])
    return largest


def _tied_to_first_order(system: BaseSystem, q: Array) -> tuple[str, ...]:
    """Joints and constraints of loops that are in a singular configuration at q, and at all positions near that they can reach;
    none of other loops.

    Where a position is singular for a moment, what is lost there grows in proportion to the distance from it.
    """
    system, random, found = as_run(system), np.random.default_rng(5), []
    count_redundant(system, q, 0.0)
    if not is_nearly_singular(system, q, 0.0):
        return ()
    for _ in range(2):
        near = position_beside(system, q, 0.0, random)
        if near is None or singularity(system, near, 0.0) > EVERYWHERE * np.abs(near - q).max():
            return ()
        dependence = np.abs(np.linalg.svd(system.constraint_jacobian(near))[0][:, independent_rows(system) - 1])
        found += [owner_of(system, int(row)) for row in np.flatnonzero(dependence > 0.1 * dependence.max())]
    return tuple(dict.fromkeys(found))
