"""Accelerations along the motions that constraints leave, of which the singular value decomposition of G gives a basis.

    M a − Gᵀ λ = f,      G a = r:      a = P f + H r,      P = N (Nᵀ M N)⁻¹ Nᵀ,      H = (1 − P M) G⁺,

where the columns of N span the velocities v with G v = 0. Elimination of [M Gᵀ; G 0] meets the square of a small singular value
of G, and within some 1e-5 of a singular configuration takes a row for one that follows from the others, which frees a motion.
Here the singular values themselves count, of G with rows of one size and velocities of one kinetic energy.

One below 1e-8 is none. Places are on constraints to rounding ε only, and within √ε of a singular configuration nothing shows in
which of its directions they leave it.

Source: García de Jalón & Bayo, Kinematic and Dynamic Simulation of Multibody Systems (1994), chapter 5.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray
RANK = 1e-8  # a singular value, relative to the largest, that is none
LEAST_ROW = 1e-3  # size of a row of G, relative to the largest, from which on it is brought to that of others
MASSLESS = 1e-12  # an inertia, relative to the largest, that is none
SINGULAR = 1e-13  # an inertia along the motions, in these units, that is none
TINY = np.finfo(float).tiny
NONE = np.zeros((0, 4), int)


class Motions(NamedTuple):
    """The motions that constraints leave at some states.

    P            (…, n, n)   accelerations along them per force
    H            (…, n, k)   accelerations per r in G a = r
    G_plus       (…, n, k)   G⁺
    rank         (…)         of G
    is_regular   (…)         whether every motion has inertia; else P and H mean nothing
    """

    P: Array
    H: Array
    G_plus: Array
    rank: Array
    is_regular: Array


def null_motions(M: Array, G: Array, quaternions: Array = NONE) -> Motions:
    """The motions that constraints leave.

    M             (…, n, n)   mass matrices
    G             (…, k, n)   Jacobians of the constraints, k > 0
    quaternions   (b, 4)      the coordinates that are quaternions
    """
    scale = unit_rates(M, quaternions)
    largest = np.abs(G * scale[..., None, :]).max(axis=-1)
    weight = 1.0 / np.maximum(largest, LEAST_ROW * largest.max(axis=-1, keepdims=True) + TINY)
    left, sizes, right = np.linalg.svd(weight[..., :, None] * G * scale[..., None, :])
    basis = scale[..., :, None] * _transposed(right)
    held = np.zeros(scale.shape, bool)
    count = sizes.shape[-1]
    held[..., :count] = sizes > RANK * sizes[..., :1]
    inverse = np.where(held[..., :count], 1.0 / np.maximum(sizes, TINY), 0.0)
    G_plus = (basis[..., :count] * inverse[..., None, :]) @ _transposed(left[..., :count]) * weight[..., None, :]
    P, is_regular = _mobility(M, np.where(held[..., None, :], 0.0, basis), held)
    return Motions(P, G_plus - P @ M @ G_plus, G_plus, held.sum(axis=-1), is_regular)


def _mobility(M: Array, N: Array, held: Array) -> tuple[Array, Array]:
    """N (Nᵀ M N)⁻¹ Nᵀ, where the columns of N that are held are 0, and whether Nᵀ M N is regular."""
    values, vectors = np.linalg.eigh(_transposed(N) @ M @ N + held[..., None] * np.eye(M.shape[-1]))
    turned = N @ vectors
    return turned / np.maximum(values, SINGULAR)[..., None, :] @ _transposed(turned), values[..., 0] > SINGULAR


def null_acceleration(M: Array, G: Array, f: Array, r: Array, quaternions: Array = NONE) -> tuple[Array, Array] | None:
    """The acceleration a (n,) with M a − Gᵀ λ = f and G a = r, and the least λ (k,); None where some motion has no inertia."""
    if not (np.isfinite(M).all() and np.isfinite(G).all()):
        return None
    found = null_motions(M, G, quaternions)
    if not found.is_regular:
        return None
    a = found.P @ f + found.H @ r
    left = np.linalg.svd(G * unit_rates(M, quaternions))[0]
    rows = left[:, : int(found.rank)]  # span those of which the least λ consists
    return a, rows @ (rows.T @ (found.G_plus.T @ (M @ a - f)))


def unit_rates(M: Array, quaternions: Array = NONE) -> Array:
    """Rates (…, n) of about one kinetic energy each, alike in a quaternion; of what has no mass, as of the largest inertia."""
    inertias = np.diagonal(M, axis1=-2, axis2=-1).copy()
    for four in quaternions:
        inertias[..., four] = inertias[..., four].max(axis=-1, keepdims=True)
    largest = inertias.max(axis=-1, keepdims=True)
    return 1.0 / np.sqrt(np.maximum(np.where(inertias > MASSLESS * largest, inertias, largest), TINY))


def _transposed(array: Array) -> Array:
    return np.swapaxes(array, -1, -2)
