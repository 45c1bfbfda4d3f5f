"""The state a run starts from: coordinates, velocities and momenta that can be started from, or an error that says why not."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError
from mbvi.system.system import System

Array = np.ndarray
SINGULAR = 1e-13
CONSTRAINT_TOLERANCE = 1e-9


def initial_momentum(system: System, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> tuple[Array, Array, Array]:
    """Checked initial coordinates, velocities and momenta, (n,) each.

    Raises
    ------
    ModelError
        If the numbers do not fit, the state violates a constraint, or the mass matrix is singular (as at a gimbal lock).
    """
    q, v = system._vector(q, "initial_q"), system._vector(v, "initial_v")
    _check_constraints(system, q, v, t)
    _check_mass_matrix(system, q, t)
    p = system.momentum(q, v, t)
    with np.errstate(over="ignore"):
        energy = system.energy(q, v, t)
    if not np.isfinite(energy):
        raise ModelError("initial_v: expected a state of finite energy, found one that is not a finite number [J]")
    return q, v, p


def _check_constraints(system: System, q: Array, v: Array, t: float) -> None:
    if not system.constraint_count:
        return
    g, G, g_t = system._constraints(q, t)
    if np.abs(g).max() > CONSTRAINT_TOLERANCE:
        raise ModelError(
            f"initial_q: expected a position on the constraints, found |g| = {np.abs(g).max():.3g}"
            + ("; unit quaternions have norm 1" if system.model is not None else "")
        )
    rate = G @ v + g_t
    if np.abs(rate).max() > CONSTRAINT_TOLERANCE * max(1.0, float(np.abs(v).max())):
        raise ModelError(
            f"initial_v: expected a velocity along the constraints, found |G v + ∂g/∂t| = {np.abs(rate).max():.3g}"
            + ("; the rates of a unit quaternion are orthogonal to it" if system.model is not None else "")
        )


def _smallest_pivot(M: Array) -> float:
    """Smallest pivot of a symmetric matrix, eliminated from the last row to the first, relative to the diagonal."""
    diagonal = np.diag(M)
    if len(M) and diagonal.min() <= 0:
        return 0.0
    try:
        factor = np.linalg.cholesky(M[::-1, ::-1])
    except np.linalg.LinAlgError:
        return 0.0
    return float(np.min(np.diag(factor) ** 2 / diagonal[::-1], initial=1.0))


def _check_mass_matrix(system: System, q: Array, t: float) -> None:
    """The mass matrix, on the constraints, must be positive definite.

    Its condition number says nothing: that of a chain grows as the fourth power of its length. The pivots do: eliminated from
    the leaves to the root, each is the inertia that a joint feels when those after it are free, against that when they are
    locked.
    """
    n = system.dimension
    if n == 0:
        return
    M = system.mass_matrix(q, t)
    basis = np.eye(n)
    if system.constraint_count:
        _, singular, right = np.linalg.svd(system.constraint_jacobian(q, t))
        basis = right[int(np.sum(singular > 1e-12)) :].T
        M = basis.T @ M @ basis
    if _smallest_pivot(M) > SINGULAR:
        return
    scale = np.sqrt(np.maximum(np.diag(M), 1e-300))
    vectors = np.linalg.eigh(M / np.outer(scale, scale))[1] / scale[:, None]
    direction = np.abs(basis @ vectors[:, 0])
    names = [system.coordinate_names[i] for i in np.flatnonzero(direction > 0.1 * direction.max())]
    joints = sorted({name.split(".")[0] for name in names})
    where = f"joints.{joints[0]}" if system.model is not None else "mass_matrix"
    is_euler = system.model is not None and any(
        getattr(system.model.joints[joint], "coordinates", "quaternion") != "quaternion" for joint in joints
    )
    if len(names) == 1:
        remedy = "no mass or inertia moves along it; give the body some, or remove the joint"
    elif is_euler:
        remedy = "this is gimbal lock; write coordinates: quaternion, or another sequence of Euler angles"
    else:
        remedy = "they move the same masses in the same way; give what is between them some, or remove one"
    raise ModelError(
        f"{where}: expected a regular mass matrix at the start, found a singular one, along {' and '.join(names)}; {remedy}"
    )
