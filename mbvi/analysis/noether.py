"""Discrete momenta on pairs of positions, and the momentum maps that linear symmetries conserve.

The discrete Lagrangian of a scheme of one stage, L_d(q, q') = h Σ_i b_i L(q + c_i (q' − q), (q' − q)/h), has the two momenta

    p⁻ = −∂L_d/∂q,   p⁺ = ∂L_d/∂q'

If L_d is invariant under q → exp(sξ) q, then p⁻·ξ(q) = p⁺·ξ(q'), and by the discrete Euler–Lagrange equations, in which
constraints that are invariant add nothing, this J is the same for every pair of a motion. It differs from the momentum of the
continuous motion by O(hʳ), with the order r of the scheme, or less.

Source: Marsden & Wendlandt 1997, sections 5 and 6, whose J is −1/h times this one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbvi.analysis.symmetry import Invariant
from mbvi.errors import ModelError
from mbvi.floats import as_floats
from mbvi.model.arguments import check_kind, checked_number
from mbvi.model.expressions import show, wrong
from mbvi.schemes.galerkin import find_tableau
from mbvi.schemes.method import Method
from mbvi.schemes.tableau import Tableau
from mbvi.system.system import System

Array = np.ndarray


def linear_generator(matrix: ArrayLike, shift: ArrayLike | None = None, name: str = "momentum") -> Invariant:
    """The momentum map of a linear symmetry ξ(q) = A q + b: its `value(q, p)` is p·ξ(q), its `rate` dJ/dt.

    Parameters
    ----------
    matrix : (n, n)
        The turn A.
    shift : (n,), optional
        The shift b.
    name : str

    Raises
    ------
    ModelError
        If the sizes do not fit, or a number is not finite.

    Examples
    --------
    >>> turn = linear_generator([[0, -1], [1, 0]])
    >>> float(turn.value(np.array([2.0, 0.0]), np.array([0.0, 3.0])))
    6.0
    """
    A = as_floats(matrix)
    b = None if A is None else as_floats(np.zeros(len(A) if A.ndim else 0) if shift is None else shift)
    if A is None or b is None or not A.ndim:
        raise ModelError(f"generator: expected a square matrix and a vector, found {matrix!r} and {shift!r}")
    if (
        A.ndim != 2
        or b.shape != A.shape[:1]
        or A.shape != (len(b), len(b))
        or not (np.isfinite(A).all() and np.isfinite(b).all())
    ):
        raise ModelError(
            f"generator: expected a square matrix and a vector of finite numbers, found shapes {A.shape} and {b.shape}"
        )
    if not isinstance(name, str):
        raise ModelError(f"name: {wrong('text', show(name))}")
    return Invariant(name, ((0, A.copy()), (0, b.copy())))


def discrete_momenta(
    system: System, scheme: str | Tableau | Method, step: float, before: ArrayLike, after: ArrayLike, t: float = 0.0
) -> tuple[Array, Array]:
    """The momenta p⁻ = −∂L_d/∂q and p⁺ = ∂L_d/∂q' of pairs (q, q') of positions a step apart.

    Parameters
    ----------
    system : System
    scheme : str or Tableau
        A scheme of one stage, such as midpoint or shake.
    step : float
        Step size h [s].
    before, after : (n,) or (pairs, n)
        q and q'.
    t : float
        Time of the first position [s]; of pairs, that of the first.

    Returns
    -------
    p_minus, p_plus : ndarray like `before`

    Raises
    ------
    ModelError
        If the scheme has more than one stage, or is no Galerkin scheme, the step is not greater than 0, or the positions do not
        fit the system or each other.

    Examples
    --------
    >>> import mbvi, sympy
    >>> x, y = sympy.symbols("x y")
    >>> system = mbvi.from_sympy([x, y], sympy.eye(2), (x**2 + y**2) ** 2, initial_q=[1, 0], initial_v=[0, 1])
    >>> run = mbvi.simulate(system, "midpoint", step=0.1, duration=10)
    >>> p_minus, p_plus = discrete_momenta(system, "midpoint", run.step, run.q[:-1], run.q[1:])
    >>> J = linear_generator([[0, -1], [1, 0]]).value(run.q[:-1], p_minus)
    >>> bool(np.ptp(J) < 1e-13)
    True
    """
    check_kind(system, System, "system", "make one by assemble")
    tableau = find_tableau(scheme)
    if tableau.stages != 1 or len(tableau.fractions) != 1:
        raise ModelError(
            f"scheme: expected a scheme of one stage, as midpoint or shake, found {tableau.name!r}; the momenta of others are "
            "those of the trajectory"
        )
    step = checked_number(step, "step", "a time greater than 0", above=0.0)
    t = checked_number(t, "t", "a finite number of seconds")
    starts, ends = (np.atleast_2d(_positions(each, what)) for each, what in ((before, "before"), (after, "after")))
    if starts.shape != ends.shape or starts.shape[1:] != (system.dimension,):
        raise ModelError(
            f"after: expected {system.dimension} coordinates before and after, of each pair, found shapes {starts.shape} and "
            f"{ends.shape}"
        )
    minus, plus = np.zeros_like(starts), np.zeros_like(starts)
    for k, (x, y) in enumerate(zip(starts, ends, strict=True)):
        for c, b, A, B in zip(tableau.nodes, tableau.weights, tableau.A, tableau.B, strict=True):
            p, f = system.gradient(x + A[1] * (y - x), B[1] * (y - x) / step, t + (k + c) * step)
            minus[k] -= b * (step * A[0] * f + B[0] * p)
            plus[k] += b * (step * A[1] * f + B[1] * p)
    shape = np.shape(before)
    return minus.reshape(shape), plus.reshape(shape)


def _positions(values: ArrayLike, what: str) -> Array:
    array = as_floats(values)
    if array is None or not np.isfinite(array).all():
        raise ModelError(f"{what}: {wrong('finite coordinates', show(values))}")
    return array
