"""Systems with a quadratic Lagrangian, L = ½ vᵀM v − ½ qᵀK q + fᵀq: told from others, and their constants."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mbvi.errors import ModelError
from mbvi.system.system import System

Array = np.ndarray
TOLERANCE = 1e-9
REACH = 0.7  # how far from the initial position the Lagrangian is looked at [rad, m, –]


class QuadraticLagrangian(NamedTuple):
    """L = ½ vᵀM v − ½ qᵀK q + fᵀq.

    M, K   (n, n)   symmetric  [kg m²/unit²], [J/unit²]
    f      (n,)     constant forces  [J/unit]
    """

    M: Array
    K: Array
    f: Array


def quadratic_lagrangian(system: System) -> QuadraticLagrangian:
    """The constants of a system whose Lagrangian is quadratic.

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
    if system.constraint_count:
        raise _not_quadratic(system, f"constraints, as {system.constraint_names[0]}")
    if not system.is_conservative:
        raise _not_quadratic(system, "dampers, functions of time or forces of your own")
    q0 = system.initial_q
    M, f0 = system.mass_matrix(q0), _force(system, q0)
    units = np.eye(system.dimension)
    K = -np.array([_force(system, q0 + each) - f0 for each in units]).T
    _check(system, M, K, f0)
    K = 0.5 * (K + K.T)
    return QuadraticLagrangian(M, K, f0 + K @ q0)


def _force(system: System, q: Array, v: Array | None = None) -> Array:
    """∂L/∂q (n,)."""
    return system.gradient(q, 0 * q if v is None else v)[1]


def _check(system: System, M: Array, K: Array, f0: Array) -> None:
    """Compare with the Lagrangian at other states: away along each coordinate, and at random ones, moving."""
    names, random = system.coordinate_names, np.random.default_rng(8)
    sizes = np.abs(M).max(), max(np.abs(K).max(), np.abs(f0).max())
    n = system.dimension
    places = [*(REACH * each for each in np.eye(n)), *random.standard_normal((3, n))]
    for i, away in enumerate(places):
        q = system.initial_q + away
        changes = np.abs(system.mass_matrix(q) - M), np.abs(_force(system, q) - (f0 - K @ away))
        on = names[i] if i < n else "several coordinates together"
        if not changes[0].max() <= TOLERANCE * sizes[0]:
            row, column = np.unravel_index(np.argmax(changes[0]), M.shape)
            what = names[row] if row == column else f"{names[row]} with {names[column]}"
            raise _not_quadratic(system, f"the inertia of {what}, which depends on {on}")
        if not changes[1].max() <= TOLERANCE * sizes[1] * max(1.0, np.abs(away).max()):
            what = names[int(np.argmax(changes[1]))]
            raise _not_quadratic(system, f"the force on {what}, which is not linear in {on}")


def _not_quadratic(system: System, found: str) -> ModelError:
    return ModelError(
        f"{system.name}: expected a quadratic Lagrangian, with constant mass matrix, forces that are linear in the coordinates "
        f"and nothing else, found {found}; take scheme midpoint or simpson, which run any system, or mbvi.linearize"
    )
