"""Scales that take the units from a system's unknowns, so that pivots of masses, moments of inertia and directions compare."""

import numpy as np

from mbvi.kernels import lagrangian as kernels
from mbvi.kernels import layout
from mbvi.system.system import System

Array = np.ndarray
LIGHT = 1e-6  # masses and moments of inertia, relative to the system's, below which they may be the rounding of none


def set_scales(system: System) -> None:
    """Fill System.scales, at the initial position: 1/√M_jj of a coordinate and 1/√(Σ_j G_ij²/M_jj) of a constraint.

    Of a quaternion the largest M_jj counts for all four, since one of them vanishes.
    """
    arrays = system.arrays
    _, G, _ = system._constraint_entries(system.initial_q, 0.0)
    row = np.repeat(np.arange(arrays.k), arrays.constraints[:, layout.ENTRIES])
    M = _masses(system, row, np.abs(G))
    sizes = np.concatenate([M, np.bincount(row, G**2 / M[arrays.entries], minlength=arrays.k)])
    arrays.scales[arrays.places] = 1.0 / np.sqrt(np.where(sizes > 0, sizes, 1.0))


def _masses(system: System, row: Array, G: Array) -> Array:
    """M_jj at the initial position (n,), no less than LIGHT of the system's mass or moment of inertia; of coordinates in loops,
    which are those of light bodies, these themselves.

    The system's mass is the largest M_jj of a length, its moment of inertia that of another coordinate or of the mass at the
    longest lever.

    row, G   row and size of the entries of the constraint Jacobian
    """
    arrays = system.arrays
    stored = np.zeros(arrays.second_size)
    kernels.fill_mass_matrix(stored, arrays, system.work, 0.0, system.initial_q)
    node, local = arrays.coordinate_nodes.T
    width = arrays.nodes[node, layout.NODE_COORDINATES]
    M = np.abs(stored[arrays.nodes[node, layout.SECOND_DIAGONAL] + local * (width + 1)])
    for quaternion in arrays.constraints[arrays.constraints[:, layout.CONSTRAINT_KIND] == layout.UNIT_QUATERNION]:
        four = arrays.entries[quaternion[layout.FIRST_ENTRY] :][:4]
        M[four] = M[four].max()
    is_length = np.array([unit == "m" for unit in system.coordinate_units])
    of_length = is_length[arrays.entries]
    lengths = np.zeros(arrays.k)
    np.maximum.at(lengths, row[of_length], G[of_length])
    has_lever = ~of_length & (lengths[row] > 0)
    lever = (G[has_lever] / lengths[row[has_lever]]).max(initial=0.0)
    mass = M[is_length].max(initial=0.0)
    moment = max(M[~is_length].max(initial=0.0), mass * lever**2)
    of_system = np.where(is_length, mass, moment)
    found = np.where(arrays.reference[node] > 0, of_system, np.maximum(M, LIGHT * of_system))
    return np.where(found > 0, found, 1.0)
