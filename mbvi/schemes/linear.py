"""One step of a quadratic Lagrangian, L = ½ vᵀM v − ½ qᵀK q + fᵀq with constant M, K and f, as matrices.

Newmark's scheme (straight segments, midpoint rule) and Simpson's (parabolas, Simpson's rule), the internal point eliminated, are

    p' + p = X (q' − q),     p' − p = 2y − Y (q' + q)

    Newmark   X = (2/h) M                 Y = (h/2) K                   y = (h/2) f
    Simpson   X = (2/h) M − (h/6) K       Y = (h/3) (K L⁻¹ + ½ K)       y = (h/2) f + (h³/24) K L⁻¹M⁻¹ f

with L = 1 − (h²/8) M⁻¹K. With ξ = (X + Y)⁻¹, that is a kick, a drift and a kick:

    p½ = p + y − Y q,     q' = q + 2ξ p½,     p' = p½ + y − Y q'

For symmetric Y and ξ each of the three is symplectic however their entries are rounded, so that rounding does not make the
motion grow or fade. What is conserved is φ = ½ pᵀξ p + ½ qᵀζ q − qᵀXξ y with ζ = Xξ Y = (X⁻¹ + Y⁻¹)⁻¹.

For a mode let z = (h ω)². Newmark's scheme is stable for all z, Simpson's for z < 8 (and again, far from any accuracy, from
12 to 24). For a mode that grows by itself, z < 0, there are steps down to z = −4 and z = −24.

Source: Rojas-Quintero, Dubois & Cabrera-Díaz 2024, sections 2 to 4, for f = 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

Array = np.ndarray
SIMPSON_LIMIT = 2.0 * math.sqrt(2.0)
"""Limit of h ω of the fastest mode."""


@dataclass(frozen=True, eq=False)
class LinearStep:
    """The matrices of a step, built once.

    Attributes
    ----------
    X, Y : ndarray (n, n)
        Symmetric.
    y : ndarray (n,)
        What constant forces add.
    """

    X: Array
    Y: Array
    y: Array

    @cached_property
    def xi(self) -> Array:
        """ξ = (X + Y)⁻¹, (n, n)."""
        return _symmetric(np.linalg.inv(self.X + self.Y))

    @cached_property
    def zeta(self) -> Array:
        """ζ = Xξ Y, (n, n), which is (X⁻¹ + Y⁻¹)⁻¹ where both have inverses."""
        return _symmetric(self.X @ self.xi @ self.Y)

    @cached_property
    def matrix(self) -> Array:
        """Φ (2n, 2n) of η' = Φ η + d, with η = (p, q)."""
        one = np.eye(len(self.y))
        kick = np.block([[one, -self.Y], [0 * one, one]])
        drift = np.block([[one, 0 * one], [2 * self.xi, one]])
        return kick @ drift @ kick

    @cached_property
    def shift(self) -> Array:
        """d (2n,) of η' = Φ η + d, with η = (p, q)."""
        moved = 2 * self.xi @ self.y
        return np.concatenate([2 * self.y - self.Y @ moved, moved])

    def form(self, q: Array, p: Array) -> Array:
        """The conserved quadratic form φ(p, q) [J s] of states q, p (..., n)."""
        quadratic = np.sum(p @ self.xi * p, axis=-1) + np.sum(q @ self.zeta * q, axis=-1)
        return 0.5 * quadratic - q @ (self.X @ self.xi @ self.y)


def newmark(M: Array, K: Array, f: Array, h: float) -> LinearStep:
    """Newmark's scheme, of order 2, for M, K (n, n), f (n,) and a step h [s]."""
    return LinearStep(2 / h * M, h / 2 * K, h / 2 * f)


def simpson(M: Array, K: Array, f: Array, h: float) -> LinearStep:
    """Simpson's scheme, of order 4, for M, K (n, n), f (n,) and a step h [s], its internal point eliminated.

    Raises
    ------
    numpy.linalg.LinAlgError
        If h ω = 2√2 for some mode, where L is singular.
    """
    half = M - h**2 / 8 * K  # M L
    condensed = _symmetric(K @ np.linalg.solve(half, M))  # K L⁻¹
    y = h / 2 * f + h**3 / 24 * K @ np.linalg.solve(half, f)
    return LinearStep(2 / h * M - h / 6 * K, h / 3 * (condensed + K / 2), y)


def simpson_with_internal_point(M: Array, K: Array, f: Array, h: float) -> Array:
    """Simpson's scheme as one matrix C (3n, 2n + 1): (q½, p', q') = C (p, q, 1), in extended precision.

    It solves, with M L = M − (h²/8) K,

        M L q½ − ½ M q'                      =  ½ M q − (h²/8) f
        p' − ((2/h) M − (h/6) K) q'          = −p − ((2/h) M − (h/6) K) q
        (2h/3) K q½ + p' + (h/6) K q'        =  p − (h/6) K q + h f

    and is regular at h ω = 2√2 too.

    Source: Rojas-Quintero, Dubois & Cabrera-Díaz 2024, equations 26 to 29.
    """
    one = np.eye(len(M))
    none, X, zero = 0 * one, 2 / h * M - h / 6 * K, 0 * f[:, None]
    A = np.block([[M - h**2 / 8 * K, none, -M / 2], [none, one, -X], [2 * h / 3 * K, one, h / 6 * K]])
    B = np.block(
        [[none, M / 2, -(h**2) / 8 * f[:, None]], [-one, -X, zero], [one, -h / 6 * K, h * f[:, None]]],
    )
    return _solve_extended(A, B)


STEPS: dict[str, Callable[[Array, Array, Array, float], LinearStep]] = {
    "newmark": newmark,
    "midpoint": newmark,
    "simpson_linear": simpson,
    "simpson_condensed": simpson,
    "simpson": simpson,
}
"""The steps of all schemes that have the form above on a quadratic Lagrangian: Galerkin schemes coincide with linear ones."""


def _symmetric(A: Array) -> Array:
    return 0.5 * (A + A.T)


def _solve_extended(A: Array, B: Array) -> Array:
    """A⁻¹B by iterative refinement, to extended precision where the machine has it."""
    exact = np.longdouble
    solution = np.linalg.solve(A, B).astype(exact)
    for _ in range(3):
        left = B.astype(exact) - A.astype(exact) @ solution
        solution = solution + np.linalg.solve(A, left.astype(float))
    return solution
