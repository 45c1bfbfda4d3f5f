"""The derivative of one step, exact by the implicit function theorem, and how far it is from symplectic.

The step equations of a system without constraints (`mbvi.kernels.galerkin`), R_j(Y; q, p) = 0 for j = 0 … s−1 with

    R_j = [j = 0] p + Σ_i b_i (h A_ij f_i + B_ij p_i),     q' = q + Y_s,     p' = Σ_i b_i (h A_is f_i + B_is p_i)

give, with x = (q, p), the derivative ∂Y/∂x = −(∂R/∂Y)⁻¹ ∂R/∂x and from it that of the step (q, p) → (q', p'). The second
derivatives of L and the first ones of F are the system's own; the step equations are solved again here, by Newton's method,
so that this also checks the solver of the kernels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError, StepError
from mbvi.floats import as_floats
from mbvi.model.arguments import check_kind, checked_number
from mbvi.model.expressions import show, wrong
from mbvi.schemes.galerkin import find_tableau
from mbvi.schemes.tableau import Tableau
from mbvi.system.system import System

Array = np.ndarray
MAX_ITERATIONS = 30


class _Equations(NamedTuple):
    """The step equations, j = 0 … s (p' for j = s), and their derivatives, at control increments Y (s, n)."""

    value: Array  # (s + 1, n)
    by_Y: Array  # (s + 1, n, s, n)
    by_q: Array  # (s + 1, n, n)


def step_map_jacobian(
    system: System, scheme: str | Tableau, step: float, q: ArrayLike, p: ArrayLike, t: float = 0.0
) -> Array:
    """The derivative of the step (q, p) → (q', p') of a system without constraints.

    Parameters
    ----------
    system : System
    scheme : str or Tableau
    step : float
        Step size [s].
    q, p : (n,)
        Coordinates and momenta at the step's start.
    t : float
        Time at the step's start [s].

    Returns
    -------
    ndarray (2n, 2n)
        ∂(q', p')/∂(q, p).

    Raises
    ------
    ModelError
        If the system has constraints.
    StepError
        If the step equations cannot be solved.

    Examples
    --------
    >>> import mbvi
    >>> rail = mbvi.Prismatic(parent="world", child="mass", axis=(1, 0, 0))
    >>> model = mbvi.Model(name="drift", bodies={"mass": mbvi.Body(mass=2)}, joints={"rail": rail})
    >>> step_map_jacobian(mbvi.assemble(model), "midpoint", 0.1, [0.0], [1.0]).round(12)
    array([[1.  , 0.05],
           [0.  , 1.  ]])

    Source: Marsden & West, Acta Numerica 10 (2001), section 1.5.
    """
    check_kind(system, System, "system", "make one by assemble")
    step = checked_number(step, "step", "a time greater than 0", above=0.0)
    t = checked_number(t, "t", "a finite number of seconds")
    if system.constraint_count:
        raise ModelError(
            f"system: expected one without constraints, found {system.constraint_count} in {system.name!r}"
        )
    tableau = find_tableau(scheme)
    q, p = system._vector(q, "q"), system._vector(p, "p")
    J = np.eye(2 * len(q))
    for fraction in tableau.fractions:
        q, p, part = _substep(system, tableau, fraction * step, q, p, t)
        J = part @ J
        t += fraction * step
    return J


def symplecticity_defect(J: ArrayLike) -> float:
    """The largest entry of JᵀΩJ − Ω, Ω the canonical form of (q, p): zero for a symplectic map.

    Parameters
    ----------
    J : (2n, 2n)
        Derivative of a map (q, p) → (q', p').

    Raises
    ------
    ModelError
        If it is no such matrix.

    Examples
    --------
    >>> symplecticity_defect([[2.0, 0.0], [0.0, 0.5]])
    0.0
    """
    matrix = as_floats(J)
    if matrix is None or matrix.ndim != 2 or len(set(matrix.shape)) > 1 or len(matrix) % 2 or not matrix.size:
        raise ModelError(f"J: {wrong('a matrix (2n, 2n)', show(J))}")
    n = len(matrix) // 2
    omega = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
    return float(np.abs(matrix.T @ omega @ matrix - omega).max())


def _substep(system: System, scheme: Tableau, h: float, q: Array, p: Array, t: float) -> tuple[Array, Array, Array]:
    """q', p' and ∂(q', p')/∂(q, p) of one step without substeps."""
    n, s = len(q), scheme.stages
    v = system.velocities(np.array([t]), q[None], p[None])[0]
    Y = h * np.outer(scheme.control_points[1:], v)
    size = np.inf
    for _ in range(MAX_ITERATIONS):
        equations = _equations(system, scheme, h, q, Y, t)
        R = equations.value[:s].copy()
        R[0] += p
        by_Y = equations.by_Y[:s].reshape(s * n, s * n)
        correction = np.linalg.solve(by_Y, R.ravel()).reshape(s, n)
        Y -= correction
        size, before = np.abs(correction).max(), size
        if size <= 1e-15 * np.abs(Y).max() or (size < 1e-10 * np.abs(Y).max() and size >= 0.5 * before):
            break
    else:
        raise StepError(f"step equations of {scheme.name}: Newton's iteration did not converge at step {h:g} s")
    equations = _equations(system, scheme, h, q, Y, t)
    by_x = np.zeros((s, n, 2 * n))
    by_x[:, :, :n] = equations.by_q[:s]
    by_x[0, :, n:] = np.eye(n)
    Y_by_x = -np.linalg.solve(equations.by_Y[:s].reshape(s * n, s * n), by_x.reshape(s * n, 2 * n))
    J = np.zeros((2 * n, 2 * n))
    J[:n] = Y_by_x[-n:]
    J[:n, :n] += np.eye(n)
    J[n:] = equations.by_Y[s].reshape(n, s * n) @ Y_by_x
    J[n:, :n] += equations.by_q[s]
    return q + Y[-1], equations.value[s], J


def _equations(system: System, scheme: Tableau, h: float, q: Array, Y: Array, t: float) -> _Equations:
    A, B = scheme.A, scheme.B
    n, s = len(q), scheme.stages
    value, by_Y, by_q = np.zeros((s + 1, n)), np.zeros((s + 1, n, s, n)), np.zeros((s + 1, n, n))
    for b, c, a, slope in zip(scheme.weights, scheme.nodes, A, B / h, strict=True):
        state = q + a[1:] @ Y, slope[1:] @ Y, t + c * h
        p, f = system.gradient(*state)
        Lvv, Lvq, Kqv, Kqq = system.second_derivatives(*state)
        of_f, of_p = b * h * a, b * h * slope
        value += np.outer(of_f, f) + np.outer(of_p, p)
        f_by_Y = np.einsum("l,ab->alb", a[1:], Kqq) + np.einsum("l,ab->alb", slope[1:], Kqv)
        p_by_Y = np.einsum("l,ab->alb", a[1:], Lvq) + np.einsum("l,ab->alb", slope[1:], Lvv)
        by_Y += np.multiply.outer(of_f, f_by_Y) + np.multiply.outer(of_p, p_by_Y)
        by_q += np.multiply.outer(of_f, Kqq) + np.multiply.outer(of_p, Lvq)
    return _Equations(value, by_Y, by_q)
