"""Discrete Euler-Lagrange equations in as many digits as one likes: a reference for the compiled kernels.

The discrete Lagrangian S of one step is a function of the points Q_0 … Q_s of a straight line or a parabola. Its derivatives D_j
by Q_j come from S itself by complex steps, D = Im S(Q + iε)/ε, which cancel nothing, and

    p_0 + D_0 = 0,    D_j = 0 (0 < j < s),    p_1 = D_s

are solved by Newton's iteration. Nothing is derived by hand, and nothing of mbvi is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mpmath import mp

DIGITS = 64  # of the states; GUARD more are carried
GUARD = 16


class Lagrangian(NamedTuple):
    """L(q, v) = 1/2 vᵀ M(q) v − V(q), of functions that take lists of numbers of mpmath."""

    mass_matrix: Callable[[Sequence], list[list]]
    potential: Callable[[Sequence], object]

    def __call__(self, q, v):
        """L."""
        M, n = self.mass_matrix(q), range(len(q))
        return sum(v[i] * M[i][j] * v[j] for i in n for j in n) / 2 - self.potential(q)

    def energy(self, q, p):
        """1/2 pᵀ M⁻¹ p + V."""
        with mp.workdps(DIGITS + GUARD):
            v = mp.lu_solve(mp.matrix(self.mass_matrix(q)), mp.matrix(p))
            return mp.fdot(p, v) / 2 + self.potential(q)


def double_pendulum(mass=1, gravity="9.81", frequency=None):
    """Two equal points on massless rods of length g/ω², ω = 2π unless given, by their angles from the vertical."""
    with mp.workdps(DIGITS + GUARD):
        g = mp.mpf(gravity)
        length = g / (frequency or 2 * mp.pi) ** 2

    def mass_matrix(q):
        c = mp.cos(q[0] - q[1])
        return [[2 * mass * length**2, mass * length**2 * c], [mass * length**2 * c, mass * length**2]]

    return Lagrangian(mass_matrix, lambda q: -mass * g * length * (2 * mp.cos(q[0]) + mp.cos(q[1])))


def top(inertia, axial_inertia, weight_moment):
    """A heavy symmetric top in the angles φ, θ, ψ."""
    I, I3, w = map(mp.mpf, (inertia, axial_inertia, weight_moment))

    def mass_matrix(q):
        c, s = mp.cos(q[1]), mp.sin(q[1])
        return [[I * s**2 + I3 * c**2, 0, I3 * c], [0, I, 0], [I3 * c, 0, I3]]

    return Lagrangian(mass_matrix, lambda q: w * mp.cos(q[1]))


def midpoint(L, h):
    """S of a straight line by the midpoint rule."""

    def S(a, b):
        return h * L(
            [(x + y) / 2 for x, y in zip(a, b, strict=True)],
            [(y - x) / h for x, y in zip(a, b, strict=True)],
        )

    return S, 2


def simpson(L, h):
    """S of a parabola by Simpson's rule."""

    def S(a, m, b):
        start = [(-3 * x + 4 * y - z) / h for x, y, z in zip(a, m, b, strict=True)]
        middle = [(z - x) / h for x, z in zip(a, b, strict=True)]
        end = [(x - 4 * y + 3 * z) / h for x, y, z in zip(a, m, b, strict=True)]
        return h / 6 * (L(a, start) + 4 * L(m, middle) + L(b, end))

    return S, 3


def derivatives(S, points, which):
    """D_j for the points numbered, a list of lists."""
    epsilon = mp.mpf(10) ** (-DIGITS - GUARD)

    def shifted(j, k):
        return [[x + 1j * epsilon if (i, l) == (j, k) else x for l, x in enumerate(Q)] for i, Q in enumerate(points)]

    return [[mp.im(S(*shifted(j, k))) / epsilon for k in range(len(points[j]))] for j in which]


def step(scheme, L, q, p, h):
    """The points Q_0 … Q_s of one step, and the momenta at its end."""
    with mp.workdps(DIGITS + GUARD):
        q, p, h = [mp.mpf(x) for x in q], [mp.mpf(x) for x in p], mp.mpf(h)
        (S, count), n = scheme(L, h), len(q)
        v = mp.lu_solve(mp.matrix(L.mass_matrix(q)), mp.matrix(p))

        def points(unknown):
            return [q, *(list(unknown[i : i + n]) for i in range(0, len(unknown), n))]

        def residual(*unknown):
            D = derivatives(S, points(unknown), range(count - 1))
            return [a + b for a, b in zip(p, D[0], strict=True)] + [x for inner in D[1:] for x in inner]

        guess = [x + h * j * w / (count - 1) for j in range(1, count) for x, w in zip(q, v, strict=True)]
        solution = mp.findroot(residual, guess, tol=mp.mpf(10) ** (-2 * DIGITS), maxsteps=20)
        Q = points(list(solution))
        return Q, derivatives(S, Q, [count - 1])[0]


def run(scheme, L, q, p, h, steps):
    """Coordinates and momenta of steps + 1 states."""
    with mp.workdps(DIGITS + GUARD):
        states = [([mp.mpf(x) for x in q], [mp.mpf(x) for x in p])]
    for _ in range(steps):
        Q, p = step(scheme, L, states[-1][0], p, h)
        states.append((Q[-1], p))
    return states


def energy_rate(scheme, L, q, p, h):
    """|ΔH/H| in one step over its length h: falls with h as the order of the scheme does."""
    with mp.workdps(DIGITS + GUARD):
        Q, end = step(scheme, L, q, p, h)
        start = L.energy([mp.mpf(x) for x in q], [mp.mpf(x) for x in p])
        return abs((L.energy(Q[-1], end) - start) / start) / mp.mpf(h)
