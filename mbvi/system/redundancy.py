"""Constraints that follow from others: how many there are, and where loops are singular."""

from __future__ import annotations

import numpy as np

from mbvi.errors import ModelError
from mbvi.kernels import layout
from mbvi.kernels.compiler.lanes import WIDTH
from mbvi.kernels.mechanics import lagrangian as kernels
from mbvi.system.base import BaseSystem
from mbvi.system.closures import scales_by_size
from mbvi.system.projection import (
    LARGE,
    project_position,
)

Array = np.ndarray
BESIDE = 1e-2  # how far away redundant constraints are counted again [rad, m, –]
RANK = 1e-9  # singular value below which constraints are redundant, relative to the largest
NEARLY = 1e-2  # smallest singular value, relative to the largest, that is near a singular configuration


def forget_counts(system: BaseSystem) -> None:
    """References and counts of redundant rows of loops as when the system was made, so that no start depends on one before."""
    if system.arrays.is_tree and system.arrays.reference.any():
        system.arrays.redundant[:] = 0
        system.arrays.reference[:] = system.arrays.reference > 0


def count_redundant(system: BaseSystem, q: Array, t: float) -> None:
    """Count the redundant constraints of every loop, or of a system's own constraints, at q and, since q may be singular, at
    two positions near it.

    Then the reference of a loop becomes its smallest pivot, the largest such of these positions.
    """
    forget_counts(system)
    if len(_nodes_with_redundant_rows(system)):
        random = np.random.default_rng(5)
        beside = [position_beside(system, q, t, random) for _ in range(2)]
        leave_out_rows(system, [q, *(each for each in beside if each is not None)], t)


def count_redundant_anywhere(system: BaseSystem) -> None:
    """Count the constraints of a system's own that are redundant at all positions, also off the constraints: near the initial."""
    random = np.random.default_rng(5)
    positions = [system.given_q + BESIDE * random.standard_normal(system.dimension) for _ in range(3)]
    if all(np.isfinite(system.constraint_jacobian(q)).all() for q in positions):
        leave_out_rows(system, positions, 0.0)


def _nodes_with_redundant_rows(system: BaseSystem) -> Array:
    """The nodes of elimination whose constraints may follow from others: of loops, and of own constraints."""
    arrays = system.arrays
    return np.flatnonzero((arrays.reference > 0) | ((arrays.is_tree == 0) & (arrays.nodes[:, layout.NODE_ROWS] > 0)))


def leave_out_rows(system: BaseSystem, positions: list[Array], t: float) -> None:
    """Set how many rows of every loop are left out, and its reference; nodes with masses have one only if rows are."""
    arrays, nodes = system.arrays, _nodes_with_redundant_rows(system)
    arrays.redundant[nodes] = np.min([_redundant_rows(system, nodes, q, t) for q in positions], axis=0)
    if not arrays.is_tree:
        nodes = np.flatnonzero(arrays.redundant)
        arrays.reference[:] = 0.0
    arrays.reference[nodes] = np.finfo(float).tiny  # nothing else is left out
    smallest = [smallest_loop_pivots(system, nodes, q, t) for q in positions]
    arrays.reference[nodes] = np.maximum(np.max(smallest, axis=0), np.finfo(float).tiny)


def _redundant_rows(system: BaseSystem, loops: Array, q: Array, t: float) -> Array:
    """How many rows of each of these nodes depend at q on rows of the nodes before it, or on other rows of its own."""
    arrays = system.arrays
    if arrays.is_tree and system.dimension + system.constraint_count > LARGE:
        arrays.redundant[loops] = -1
        kernels.factor_mass_saddle(arrays, system.work, t, q)
        return (node_widths(arrays) - system.work.ranks)[loops]
    G, tolerance = _scaled_jacobian(system, q, t)
    node = arrays.row_nodes[:, 0]
    counts = []
    for loop in loops:
        is_tree = ~np.isin(node, loops)
        rows = (is_tree | np.isin(node, loops[loops <= last]) for last in (loop - 1, loop))
        before, through = (_rank_of(G[each], tolerance) for each in rows)
        counts.append(int(np.sum(node == loop)) - (through - before))
    return np.array(counts)


def _scaled_jacobian(system: BaseSystem, q: Array, t: float) -> tuple[Array, float]:
    """The constraint Jacobian, and the least singular value that counts; where the numbers of loops' joints were moved, scaled
    by the size of these, and the tolerance of that: without other loops, rows of one may be as small as what its numbers missed.
    """
    G, model = system.constraint_jacobian(q, t), None if system.model is None else system.model.resolved()
    if model is None or not model._moved_loops:
        return G, 0.0
    rows, columns = scales_by_size(system, max(loop.size for loop in model._moved_loops))
    return rows[:, None] * G * columns, float(model.loop_tolerance)


def _rank_of(G: Array, tolerance: float) -> int:
    singular = np.linalg.svd(G, compute_uv=False)
    return int(np.sum(singular > max(tolerance, RANK * singular.max(initial=0.0))))


def smallest_loop_pivots(system: BaseSystem, loops: Array, q: Array, t: float) -> Array:
    """About the smallest pivot of each of these nodes that is not left out, at q: of the largest entry of the inverse."""
    arrays, work = system.arrays, system.work
    if not kernels.factor_mass_saddle(arrays, work, t, q):
        return np.zeros(len(loops))  # the mass matrix is singular, which is reported later
    found = []
    for loop in loops:
        width, at = int(node_widths(arrays)[loop]), int(arrays.nodes[loop, layout.DIAGONAL])
        stride = WIDTH * int(arrays.nodes[loop, layout.NODE_LANES])
        scales = arrays.scales[arrays.nodes[loop, layout.NODE_START] :][:width]
        inverse = np.abs(work.saddle[at : at + width * stride].reshape(width, stride)[:, :width])
        inverse /= scales * scales[:, None]
        found.append(1.0 / float(inverse.max()) if work.ranks[loop] > 0 else 0.0)
    return np.array(found)


def position_beside(system: BaseSystem, q: Array, t: float, random: np.random.Generator) -> Array | None:
    """A position on the constraints near q, in a random direction along them; None if there is none."""
    v = random.standard_normal(system.dimension)
    if system.dimension + system.constraint_count <= LARGE:
        free = null_space(system.constraint_jacobian(q, t))
        direction = v @ free.T @ free
    elif kernels.solve_velocity(system.arrays, system.work, t, q, v):
        direction = system.work.solution[: system.dimension].copy()
    else:
        return None
    size = float(np.abs(direction).max(initial=0.0))
    try:
        return project_position(system, q + BESIDE * direction / size, t) if size > 1e-9 else None
    except ModelError:
        return None


def null_space(G: Array) -> Array:
    """An orthonormal basis of the velocities with G v = 0, as rows (n − rank G, n)."""
    _, singular, right = np.linalg.svd(G)
    return right[int(np.sum(singular > RANK * singular.max(initial=0.0))) :]


def is_nearly_singular(system: BaseSystem, q: Array, t: float) -> bool:
    """Whether loops are near a position in which more of their constraints depend on each other than elsewhere."""
    if not np.any(system.arrays.reference > 0) or system.dimension + system.constraint_count > LARGE:
        return False
    return singularity(system, q, t) < NEARLY


def singularity(system: BaseSystem, q: Array, t: float) -> float:
    """Smallest singular value of the constraint Jacobian that is not 0 everywhere, relative to the largest; 0 if singular."""
    singular = np.linalg.svd(system.constraint_jacobian(q, t), compute_uv=False)
    rank = independent_rows(system)
    return float(singular[rank - 1] / singular[0]) if 0 < rank <= len(singular) else 1.0


def independent_rows(system: BaseSystem) -> int:
    """How many constraints are independent almost everywhere."""
    return int(np.sum(system.arrays.row_nodes[:, 0] >= 0) - system.arrays.redundant.sum())


def node_widths(arrays: layout.System) -> Array:
    """Numbers of coordinates and constraints of the nodes of elimination, (nodes,)."""
    return arrays.nodes[:, layout.NODE_COORDINATES] + arrays.nodes[:, layout.NODE_ROWS]
