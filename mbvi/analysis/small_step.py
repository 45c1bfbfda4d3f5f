"""The action of a parabola over a small step, and its variations.

On a step from t to t + 2τ the path is q(h) = x + h v + ½ h² a. With its ends fixed it varies by δq = e σ(h) alone,
σ = 3h (2τ − h)/4τ³, whose integral is 1. With the chord q₀ from end to end, q − q₀ = ½ h (h − 2τ) a, and integrals from 0 to 2τ,

    D S_L + W_F = ∫ [σ (∂L/∂q + F) + σ̇ ∂L/∂v] dh                               the principle of Lagrange and d'Alembert
    D S = D S_L + W_F + ∫ [σ (∂F/∂q)ᵀ + σ̇ (∂F/∂v)ᵀ] (q − q₀) dh                 S = ∫ L dh + ∫ F·(q − q₀) dh

where D = 3/(2τ³) (τ ∇_v − ∇_a). Both are the negative of the guiding force in the middle of the step, to O(τ²). In the
three-point form, with x₂ in the middle and x₃ at the end, D = 3/(4τ) ∂/∂x₂.

F are the forces that derive from no potential. Integrals are by Gauss's rule of NODES points.

Source: Mutze, A simple variational integrator for general holonomic mechanical systems, sections 3 to 5.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mbvi.schemes.tableau import gauss
from mbvi.system.system import System

Array = np.ndarray
NODES = 4
POINTS, WEIGHTS = (np.array(each) for each in gauss(NODES))  # on [0, 1]


class Parabolas(NamedTuple):
    """The parabolas of a step by one unknown u (n,), at the nodes: q = x + q_0 + A u, v = v_0 + B u, q − q₀ = d_0 + D u.

    t, weights             (m,)      times of the nodes [s], weights of the quadrature [s]
    x                      (n,)      start of the step
    q_0, v_0, d_0          (m, n)
    A, B, D                (m,)
    sigma, sigma_rate      (m,)      variation of the path, and its rate
    """

    t: Array
    weights: Array
    x: Array
    q_0: Array
    v_0: Array
    d_0: Array
    A: Array
    B: Array
    D: Array
    sigma: Array
    sigma_rate: Array


def by_acceleration(t: float, x: Array, v: Array, tau: float) -> Parabolas:
    """The parabolas from x, v (n,) as functions of their acceleration a, u = a."""
    h = 2 * tau * POINTS
    offset = 0.5 * h * (h - 2 * tau)
    scale = 3 / (2 * tau**3)
    return Parabolas(
        t=t + h,
        weights=2 * tau * WEIGHTS,
        x=x,
        q_0=np.outer(h, v),
        v_0=np.tile(v, (NODES, 1)),
        d_0=np.zeros((NODES, len(x))),
        A=h**2 / 2,
        B=h,
        D=offset,
        sigma=-scale * offset,
        sigma_rate=scale * (tau - h),
    )


def by_middle(t: float, x: Array, v: Array, tau: float) -> Parabolas:
    """The parabolas from x, v (n,) as functions of their place in the middle, u = x₂ − x: x₃ − x = 4u − 2τ v."""
    c, end = POINTS, -2 * tau * v
    middle, last = 4 * c * (1 - c), c * (2 * c - 1)
    middle_rate, last_rate = (4 - 8 * c) / (2 * tau), (4 * c - 1) / (2 * tau)
    return Parabolas(
        t=t + 2 * tau * c,
        weights=2 * tau * WEIGHTS,
        x=x,
        q_0=np.outer(last, end),
        v_0=np.outer(last_rate, end),
        d_0=np.outer(-middle / 2, end),
        A=middle + 4 * last,
        B=middle_rate + 4 * last_rate,
        D=-middle,
        sigma=middle,
        sigma_rate=middle_rate,
    )


def variation(system: System, paths: Parabolas, u: Array, is_force_varied: bool) -> Array:
    """D S of the parabola of u (n,), or D S_L + W_F where the force is not varied, times 4τ/3 in the three-point form; (n,)."""
    total = np.zeros(len(u))
    for i, weight in enumerate(paths.weights):
        q, v = paths.x + (paths.q_0[i] + paths.A[i] * u), paths.v_0[i] + paths.B[i] * u
        p, f = system.gradient(q, v, paths.t[i])
        total += weight * (paths.sigma[i] * f + paths.sigma_rate[i] * p)
        if is_force_varied and system.unforced is not system:
            of_q, of_v = force_derivatives(system, q, v, paths.t[i])
            off = paths.d_0[i] + paths.D[i] * u
            total += weight * (paths.sigma[i] * of_q.T + paths.sigma_rate[i] * of_v.T) @ off
    return total


def variation_derivative(system: System, paths: Parabolas, u: Array, is_force_varied: bool) -> Array:
    """The derivative by u, (n, n), of `variation`, without second derivatives of F: to steer Newton's iteration."""
    total = np.zeros((len(u), len(u)))
    for i, weight in enumerate(paths.weights):
        q, v = paths.x + (paths.q_0[i] + paths.A[i] * u), paths.v_0[i] + paths.B[i] * u
        M, p_q, f_v, f_q = system.second_derivatives(q, v, paths.t[i])
        sigma, rate = weight * paths.sigma[i], weight * paths.sigma_rate[i]
        total += sigma * (f_q * paths.A[i] + f_v * paths.B[i]) + rate * (p_q * paths.A[i] + M * paths.B[i])
        if is_force_varied and system.unforced is not system:
            of_q, of_v = force_derivatives(system, q, v, paths.t[i])
            total += (sigma * of_q.T + rate * of_v.T) * paths.D[i]
    return total


def force_derivatives(system: System, q: Array, v: Array, t: float) -> tuple[Array, Array]:
    """∂F/∂q and ∂F/∂v (n, n) of the forces that derive from no potential."""
    whole, lagrangian = (each.second_derivatives(q, v, t) for each in (system, system.unforced))
    return whole[3] - lagrangian[3], whole[2] - lagrangian[2]


def action_variation(
    system: System, t: float, x: ArrayLike, v: ArrayLike, a: ArrayLike, tau: float, *, is_force_varied: bool = True
) -> Array:
    """D S (n,) of the parabola from x with velocity v and acceleration a (n,) over the time from t to t + 2τ.

    Parameters
    ----------
    system : System
        Constraints are not looked at.
    t, tau : float
        Start and half of the step [s].
    x, v, a : (n,)
        Coordinates and velocities at the start, and the acceleration.
    is_force_varied : bool
        Whether forces enter by their own action, with their variation (D S), or by their virtual work (D S_L + W_F).

    Raises
    ------
    ModelError
        If the numbers do not fit the system.

    Examples
    --------
    >>> import mbvi, sympy
    >>> x = sympy.Symbol("x")
    >>> spring = mbvi.from_sympy([x], [[2]], x**2)
    >>> float(action_variation(spring, 0.0, [1.0], [0.0], [-1.0], tau=0.1)[0].round(12))  # −(m + 3/5 k τ²) a − k x
    0.012

    Source: Mutze, equations 54 and 44.
    """
    start, speed, rate = (system._vector(each, name) for each, name in ((x, "x"), (v, "v"), (a, "a")))
    return variation(system, by_acceleration(float(t), start, speed, float(tau)), rate, is_force_varied)
