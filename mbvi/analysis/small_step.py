"""The variation of the action of a parabola over a small step.

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

import numpy as np
from numpy.typing import ArrayLike

from mbvi.kernels.methods import parabola
from mbvi.model.arguments import check_flag, check_kind, checked_number
from mbvi.schemes.tableau import gauss
from mbvi.system.system import System

Array = np.ndarray
NODES = 4
POINTS, WEIGHTS = (np.array(each) for each in gauss(NODES))  # on [0, 1]


def action_variation(
    system: System, t: float, x: ArrayLike, v: ArrayLike, a: ArrayLike, tau: float, *, is_force_varied: bool = True
) -> Array:
    """D S (n,) of the parabola from x with velocity v and acceleration a (n,) over the time from t to t + 2τ.

    Parameters
    ----------
    system : System
        Constraints are not looked at.
    t, tau : float
        Start and half of the step, τ > 0 [s].
    x, v, a : (n,)
        Coordinates and velocities at the start, and the acceleration.
    is_force_varied : bool
        Whether forces enter by their own action, with their variation (D S), or by their virtual work (D S_L + W_F).

    Raises
    ------
    ModelError
        If the numbers do not fit the system, or τ is not greater than 0.

    Examples
    --------
    >>> import mbvi, sympy
    >>> x = sympy.Symbol("x")
    >>> spring = mbvi.from_sympy([x], [[2]], x**2)
    >>> float(action_variation(spring, 0.0, [1.0], [0.0], [-1.0], tau=0.1)[0].round(12))  # −(m + 3/5 k τ²) a − k x
    0.012

    Source: Mutze, equations 54 and 44.
    """
    check_kind(system, System, "system", "make one by assemble")
    check_flag(is_force_varied, "is_force_varied")
    t = checked_number(t, "t", "a finite number of seconds")
    tau = checked_number(tau, "tau", "a time greater than 0", above=0.0)
    is_varied = is_force_varied and system.unforced is not system
    own = system.unforced.arrays if is_varied else system.arrays
    q, rate = system._vector(x, "x"), system._vector(v, "v")
    space = parabola.make_space(system.arrays, POINTS, WEIGHTS, q, rate, is_force_varied=is_varied)
    space.u[:] = system._vector(a, "a")
    parabola.fill_variation(system.arrays, own, system.work, space, t, tau, False)
    return space.R
