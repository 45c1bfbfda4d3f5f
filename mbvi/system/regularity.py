"""Whether the mass matrix is regular on the constraints, and what can move almost without inertia."""

from __future__ import annotations

import numpy as np

from mbvi.errors import ModelError
from mbvi.kernels.mechanics import lagrangian as kernels
from mbvi.model.mass_properties import is_point_mass
from mbvi.system.base import BaseSystem
from mbvi.system.projection import (
    LARGE,
)
from mbvi.system.redundancy import NEARLY, null_space

Array = np.ndarray
BASIS_ROUNDING = 1e-15  # rounding of an orthonormal basis
SINGULAR = 1e-13  # smallest pivot of the mass matrix, scaled, that is not 0


def check_regular(system: BaseSystem, q: Array, t: float) -> None:
    """The mass matrix, on the constraints, must be positive definite.

    Its condition number says nothing: that of a chain grows as the fourth power of its length. The pivots do: eliminated from
    the leaves to the root, each is the inertia that a joint feels when those after it are free, against that when they are
    locked.
    """
    if system.dimension + system.constraint_count > LARGE:
        if not kernels.solve_velocity(system.arrays, system.work, t, q, np.zeros(system.dimension)):
            raise ModelError(
                "joints: expected a regular mass matrix at the start, found a singular one; some body lacks mass or inertia"
            )
        return
    M, basis = free_mass(system, q, t)
    if len(M) and smallest_pivot(M) <= SINGULAR:
        raise ModelError(_singular_message(system, M, basis))


def free_mass(system: BaseSystem, q: Array, t: float) -> tuple[Array, Array]:
    """The mass matrix Bᵀ M B of velocities B u along the constraints, and their basis B (n, n − rank G)."""
    M, basis = system.mass_matrix(q, t), np.eye(system.dimension)
    if system.constraint_count:
        basis = null_space(system.constraint_jacobian(q, t)).T
        size = np.abs(M).max()
        M = basis.T @ M @ basis
        M[np.abs(M) <= BASIS_ROUNDING**2 * size] = 0.0  # what the basis's rounding leaves of a motion without inertia
    return M, basis


def least_inertia(system: BaseSystem, q: Array, t: float) -> float:
    """Least eigenvalue of the mass matrix of the velocities along the constraints; infinite if there are none."""
    return float(min(np.linalg.eigvalsh(free_mass(system, q, t)[0]), default=np.inf))


def weightless_near(system: BaseSystem, start: tuple[Array, float], q: Array, move: Array, t: float) -> list[str]:
    """Joints, bodies or coordinates of what moves almost without inertia at q, or after at most two of a step's moves, but not at
    the start, a position and its time: near a dead point of a drive without mass, or gimbal lock.
    """
    if system.dimension + system.constraint_count > LARGE:
        return []
    least = NEARLY * min(np.linalg.eigvalsh(free_mass(system, *start)[0]), default=0.0)
    for part in np.linspace(0.0, 2.0, 9):
        try:
            M, basis = free_mass(system, q + part * move, t)
            inertias, directions = np.linalg.eigh(M)
        except np.linalg.LinAlgError:  # not finite, so far off is the step
            return []
        if min(inertias, default=np.inf) < least:
            direction = np.abs(basis @ directions[:, 0])
            names = [system.coordinate_names[i] for i in np.flatnonzero(direction > 0.1 * direction.max())]
            return list(dict.fromkeys(name.rsplit(".", 1)[0] for name in names))
    return []


def smallest_pivot(M: Array) -> float:
    """Smallest pivot of symmetric matrices (…, n, n), eliminated from the last row to the first, relative to the diagonal."""
    diagonal = np.diagonal(M, axis1=-2, axis2=-1)
    if diagonal.min(initial=1.0) <= 0:
        return 0.0
    try:
        factor = np.linalg.cholesky(M[..., ::-1, ::-1])
    except np.linalg.LinAlgError:
        return 0.0
    pivots = np.diagonal(factor, axis1=-2, axis2=-1) ** 2
    return float(np.min(pivots / diagonal[..., ::-1], initial=1.0))


def _singular_message(system: BaseSystem, M: Array, basis: Array) -> str:
    """Which coordinates move without inertia, and what to do."""
    scale = np.sqrt(np.maximum(np.diag(M), 1e-300))
    vectors = np.linalg.eigh(M / scale[:, None] / scale)[1] / scale[:, None]
    direction = np.abs(basis @ vectors[:, 0])
    names = [system.coordinate_names[i] for i in np.flatnonzero(direction > 0.1 * direction.max())]
    if system.model is None:
        found = f"one by which motion along {' and '.join(names)} has no kinetic energy greater than 0"
        return f"mass_matrix: expected a positive definite matrix at the start, found {found}"
    owners = sorted({name.rsplit(".", 1)[0] for name in names})
    joints = [owner for owner in owners if owner in system.model.joints]
    is_curve = len(names) == 1 and owners[0] in system.model.constraints
    where = f"joints.{joints[0]}" if joints else f"{'constraints' if is_curve else 'bodies'}.{owners[0]}"
    is_euler = any(system.model.joints[joint].has_euler_angles for joint in joints)
    bodies = [system.model.joints[joint].child for joint in joints if system.model.joints[joint].is_free]
    points = [
        body for body in bodies if body in system.model.bodies and is_point_mass(system.model.resolved().bodies[body])
    ]
    if points:
        remedy = (
            f"{points[0]} is a point mass, which has no orientation unless something acts on the coordinates of its joint; let a "
            f"force or constraint act on the body {points[0]} instead"
        )
    elif is_curve:
        remedy = "the curve has no direction there; choose another start, or another parameter"
    elif len(names) == 1:
        remedy = "no mass or inertia moves along it; give the body some, or remove the joint"
    elif is_euler:
        remedy = "this is gimbal lock; write coordinates: quaternion, or another sequence of Euler angles"
    elif owners == joints and len(joints) == 1:
        remedy = "no inertia turns about one axis there; give the body some about it, or take a universal joint"
    else:
        remedy = "they move the same masses in the same way; give what is between them some, or remove one"
    return f"{where}: expected a regular mass matrix at the start, found a singular one, along {' and '.join(names)}; {remedy}"


def independence(system: BaseSystem, q: Array, t: float) -> float:
    """Least eigenvalue of the mass matrix of the velocities along the constraints, scaled to a diagonal of 1.

    Near 0 some motion has almost no inertia next to those that it is made of, and its velocity few true digits; where only one of
    the inertias is small, as at a small radius of polar coordinates, it is 1.
    """
    M = free_mass(system, q, t)[0]
    scale = np.sqrt(np.maximum(np.diag(M), np.finfo(float).tiny))
    return float(min(np.linalg.eigvalsh(M / scale[:, None] / scale), default=1.0))
