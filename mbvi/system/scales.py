"""Scales that take the units from a system's unknowns, so that pivots of masses, moments of inertia and directions compare."""

import numpy as np

from mbvi.kernels import layout
from mbvi.kernels.mechanics import lagrangian as kernels
from mbvi.system.closures import scales_by_size
from mbvi.system.system import System

Array = np.ndarray
POSITIONS, AWAY = (
    3,
    0.3,
)  # at one of which alone a row of the constraint Jacobian may vanish, and angles between them [rad]
SMALL = 1e-2  # rows of a loop, relative to the largest in its size, that say the same as others but for rounding
LIGHT = 1e-6  # masses and moments of inertia, relative to the system's, below which they may be the rounding of none


def set_scales(system: System) -> None:
    """Fill System.scales: 1/√M_jj of a coordinate and 1/√(Σ_j G_ij²/M_jj) of a constraint, by the largest at the initial position
    and at some that are turned from it; 1 where these are 0 or not finite.
    """
    arrays, random = system.arrays, np.random.default_rng(7)
    is_length = np.array([unit == "m" for unit in system.coordinate_units])
    turns = AWAY * random.standard_normal((POSITIONS - 1, arrays.n)) * ~is_length
    sizes = np.max([_sizes(system, system.given_q + turn, is_length) for turn in [0.0, *turns]], axis=0)
    _raise_small_rows(system, sizes[arrays.n :])
    arrays.scales[arrays.places] = 1.0 / np.sqrt(np.where(sizes > 0, sizes, 1.0))


def _raise_small_rows(system: System, sizes: Array) -> None:
    """Let no row of loops whose joints' numbers were moved be less than SMALL of the largest: it is what is left of rounding."""
    moved = None if system.model is None else system.model.resolved()._moved_loops
    if moved:
        squares = scales_by_size(system, max(loop.size for loop in moved))[0] ** 2
        rows = np.isin(system.arrays.constraints[:, layout.CONSTRAINT_KIND], layout.GEOMETRIC) & (sizes > 0)
        least = SMALL**2 * (sizes * squares)[rows].max(initial=0.0)
        sizes[rows] = np.maximum(sizes, least / squares)[rows]


def _sizes(system: System, q: Array, is_length: Array) -> Array:
    """M_jj and Σ_j G_ij²/M_jj at q, (n + k,), 0 where they are not finite.

    No M_jj is less than LIGHT of the system's mass or moment of inertia, and those of coordinates in loops, which are of light
    bodies, are these. The system's mass is the largest M_jj of a length, its moment of inertia the largest other M_jj, or that of
    the mass at the longest lever.
    """
    arrays = system.arrays
    G = np.abs(_finite(system._constraint_entries(q, 0.0)[1]))
    row = np.repeat(np.arange(arrays.k), arrays.constraints[:, layout.ENTRIES])
    M = _masses(system, q)
    of_length, lengths = is_length[arrays.entries], np.zeros(arrays.k)
    np.maximum.at(lengths, row[of_length], G[of_length])
    has_lever = ~of_length & (lengths[row] > 0)
    lever = (G[has_lever] / lengths[row[has_lever]]).max(initial=0.0)
    mass = M[is_length].max(initial=0.0)
    moment = max(M[~is_length].max(initial=0.0), mass * lever**2)
    of_system = np.where(is_length, mass, moment)
    in_loop = arrays.reference[arrays.coordinate_nodes[:, 0]] > 0
    M = np.where(in_loop, of_system, np.maximum(M, LIGHT * of_system))
    return np.concatenate([M, np.bincount(row, G**2 / np.where(M > 0, M, 1.0)[arrays.entries], minlength=arrays.k)])


def _masses(system: System, q: Array) -> Array:
    """|M_jj| at q, (n,); of a quaternion the largest for all four, since one of them vanishes."""
    arrays = system.arrays
    stored = np.zeros(arrays.second_size)
    kernels.fill_mass_matrix(stored, arrays, system.work, 0.0, q)
    node, local = arrays.coordinate_nodes.T
    width = arrays.nodes[node, layout.NODE_COORDINATES]
    M = np.abs(_finite(stored[arrays.nodes[node, layout.SECOND_DIAGONAL] + local * (width + 1)]))
    for quaternion in arrays.constraints[arrays.constraints[:, layout.CONSTRAINT_KIND] == layout.UNIT_QUATERNION]:
        four = arrays.entries[quaternion[layout.FIRST_ENTRY] :][:4]
        M[four] = M[four].max()
    return M


def _finite(x: Array) -> Array:
    return np.where(np.isfinite(x), x, 0.0)
