"""Systems with a quadratic Lagrangian, L = ½ vᵀM v − ½ qᵀK q + fᵀq: how they are recognized, and their constants."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mbvi.errors import ModelError
from mbvi.system.system import System
from mbvi.system.work import what_does_work

Array = np.ndarray
TOLERANCE = 1e-9  # size of a change, relative to the same coordinate's own inertia, stiffness or force
ROUNDING = 1e-13  # size of a change, relative to the largest of all coordinates
REACH = 0.7  # how far from the initial position the Lagrangian is looked at [rad, m, –]


class QuadraticLagrangian(NamedTuple):
    """L = ½ vᵀM v − ½ qᵀK q + fᵀq.

    M, K   (n, n)   symmetric  [kg m²/unit²], [J/unit²]
    f      (n,)     constant forces  [J/unit]
    """

    M: Array
    K: Array
    f: Array


def quadratic_lagrangian(system: System, scheme: str = "") -> QuadraticLagrangian:
    """The constants of a system whose Lagrangian is quadratic, which the scheme of that name asks for.

    Raises
    ------
    ModelError
        If it is not: the message names what depends on the state, and on which coordinate.

    Examples
    --------
    >>> import sympy
    >>> from mbvi import from_sympy
    >>> x = sympy.Symbol("x")
    >>> quadratic_lagrangian(from_sympy([x], [[2]], 8 * x**2 - 3 * x))
    QuadraticLagrangian(M=array([[2.]]), K=array([[16.]]), f=array([3.]))
    """
    where = f"{system.name}: scheme {scheme}" if scheme else system.name
    if system.constraint_count:
        raise _not_quadratic(where, f"constraints, as {system.constraint_names[0]}")
    if not system.is_conservative:
        raise _not_quadratic(where, what_does_work(system))
    if system.arrays.vector_potential:
        raise _not_quadratic(where, "a potential that depends on velocities")
    q0 = system.given_q
    M, f0 = system.mass_matrix(q0), _force(system, q0)
    units = np.eye(system.dimension)
    K = -np.array([_force(system, q0 + each) - f0 for each in units]).T
    _check(system, M, K, f0, where)
    K = 0.5 * (K + K.T)
    return QuadraticLagrangian(M, K, f0 + K @ q0)


def _force(system: System, q: Array) -> Array:
    """∂L/∂q (n,), at rest."""
    return system.gradient(q, 0 * q)[1]


def _check(system: System, M: Array, K: Array, f0: Array, where: str) -> None:
    """Compare with the Lagrangian at other places: away along each coordinate, and at random ones."""
    names, random = system.coordinate_names, np.random.default_rng(8)
    inertias = np.sqrt(np.outer(np.diag(M), np.diag(M)))
    forces = np.maximum(np.abs(K).max(axis=1), np.abs(f0))
    inertia_bounds, force_bounds = (TOLERANCE * each + ROUNDING * each.max() for each in (inertias, forces))
    n = system.dimension
    places = [*(REACH * each for each in np.eye(n)), *random.standard_normal((3, n))]
    for i, away in enumerate(places):
        q = system.given_q + away
        inertia = np.abs(system.mass_matrix(q) - M) - inertia_bounds
        force = np.abs(_force(system, q) - (f0 - K @ away)) - force_bounds * max(1.0, np.abs(away).max())
        on = names[i] if i < n else "several coordinates together"
        if not inertia.max() <= 0:
            row, column = np.unravel_index(np.argmax(inertia), M.shape)
            what = names[row] if row == column else f"{names[row]} with {names[column]}"
            raise _not_quadratic(where, f"the inertia of {what}, which depends on {on}")
        if not force.max() <= 0:
            raise _not_quadratic(where, f"the force on {names[int(np.argmax(force))]}, which is not linear in {on}")


def _not_quadratic(where: str, found: str) -> ModelError:
    return ModelError(
        f"{where}: expected a quadratic Lagrangian, with constant mass matrix, forces that are linear in the coordinates "
        f"and nothing else, found {found}; take midpoint or simpson, which run any system, or mbvi.linearize"
    )
