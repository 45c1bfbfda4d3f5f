"""Discrete Euler-Lagrange equations in any number of digits: a reference for the compiled kernels.

The discrete Lagrangian S of one step is a function of the points Q_0 … Q_s of a straight line or a parabola. Its derivatives D_j
by Q_j come from S itself by complex steps, D = Im S(Q + iε)/ε, which cancel nothing, and

    p_0 + D_0 = 0,    D_j = 0 (0 < j < s),    p_1 = D_s

are solved by Newton's iteration. Nothing is derived by hand, and nothing of mbvi is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from mpmath import mp

Real = Any  # a number of mpmath, or what it makes one of: 1, 0.1, "0.1"
Point = Sequence[Real]
Action = Callable[..., Real]  # of the points of a step
Scheme = Callable[
    ["Lagrangian", Real], tuple[Action, int]
]  # the action of a step of length h, and how many points it has

DIGITS = 64  # of the states; GUARD more are carried
GUARD = 16


class Lagrangian(NamedTuple):
    """L(q, v) = 1/2 vᵀ M(q) v − V(q), of functions that take lists of numbers of mpmath."""

    mass_matrix: Callable[[Point], list[list[Real]]]
    potential: Callable[[Point], Real]

    def __call__(self, q: Point, v: Point) -> Real:
        """The value of the Lagrangian."""
        M, n = self.mass_matrix(q), range(len(q))
        return sum(v[i] * M[i][j] * v[j] for i in n for j in n) / 2 - self.potential(q)

    def energy(self, q: Point, p: Point) -> Real:
        """The energy 1/2 pᵀ M⁻¹ p + V."""
        with mp.workdps(DIGITS + GUARD):
            v = mp.lu_solve(mp.matrix(self.mass_matrix(q)), mp.matrix(p))
            return mp.fdot(p, v) / 2 + self.potential(q)


def double_pendulum(mass: Real = 1, gravity: Real = "9.81", frequency: Real = None) -> Lagrangian:
    """Two equal points on massless rods of length g/ω², ω = 2π unless given, by their angles from the vertical."""
    with mp.workdps(DIGITS + GUARD):
        g = mp.mpf(gravity)
        length = g / (frequency or 2 * mp.pi) ** 2

    def mass_matrix(q: Point) -> list[list[Real]]:
        c = mp.cos(q[0] - q[1])
        return [[2 * mass * length**2, mass * length**2 * c], [mass * length**2 * c, mass * length**2]]

    return Lagrangian(mass_matrix, lambda q: -mass * g * length * (2 * mp.cos(q[0]) + mp.cos(q[1])))


def top(inertia: Real, axial_inertia: Real, weight_moment: Real) -> Lagrangian:
    """A heavy symmetric top in the angles φ, θ, ψ."""
    I, I3, w = map(mp.mpf, (inertia, axial_inertia, weight_moment))

    def mass_matrix(q: Point) -> list[list[Real]]:
        c, s = mp.cos(q[1]), mp.sin(q[1])
        return [[I * s**2 + I3 * c**2, 0, I3 * c], [0, I, 0], [I3 * c, 0, I3]]

    return Lagrangian(mass_matrix, lambda q: w * mp.cos(q[1]))


def midpoint(L: Lagrangian, h: Real) -> tuple[Action, int]:
    """S of a straight line by the midpoint rule."""

    def S(a: Point, b: Point) -> Real:
        return h * L(
            [(x + y) / 2 for x, y in zip(a, b, strict=True)],
            [(y - x) / h for x, y in zip(a, b, strict=True)],
        )

    return S, 2


def simpson(L: Lagrangian, h: Real) -> tuple[Action, int]:
    """S of a parabola by Simpson's rule."""

    def S(a: Point, m: Point, b: Point) -> Real:
        start = [(-3 * x + 4 * y - z) / h for x, y, z in zip(a, m, b, strict=True)]
        middle = [(z - x) / h for x, z in zip(a, b, strict=True)]
        end = [(x - 4 * y + 3 * z) / h for x, y, z in zip(a, m, b, strict=True)]
        return h / 6 * (L(a, start) + 4 * L(m, middle) + L(b, end))

    return S, 3


def derivatives(S: Action, points: Sequence[Point], which: Iterable[int]) -> list[list[Real]]:
    """D_j for the points numbered, a list of lists."""
    epsilon = mp.mpf(10) ** (-DIGITS - GUARD)

    def shifted(j: int, k: int) -> list[list[Real]]:
        return [[x + 1j * epsilon if (i, l) == (j, k) else x for l, x in enumerate(Q)] for i, Q in enumerate(points)]

    return [[mp.im(S(*shifted(j, k))) / epsilon for k in range(len(points[j]))] for j in which]


def step(scheme: Scheme, L: Lagrangian, q: Point, p: Point, h: Real) -> tuple[list[Point], list[Real]]:
    """The points Q_0 … Q_s of one step, and the momenta at its end."""
    with mp.workdps(DIGITS + GUARD):
        q, p, h = [mp.mpf(x) for x in q], [mp.mpf(x) for x in p], mp.mpf(h)
        (S, count), n = scheme(L, h), len(q)
        v = mp.lu_solve(mp.matrix(L.mass_matrix(q)), mp.matrix(p))

        def points(unknown: Sequence[Real]) -> list[Point]:
            return [q, *(list(unknown[i : i + n]) for i in range(0, len(unknown), n))]

        def residual(*unknown: Real) -> list[Real]:
            D = derivatives(S, points(unknown), range(count - 1))
            return [a + b for a, b in zip(p, D[0], strict=True)] + [x for inner in D[1:] for x in inner]

        guess = [x + h * j * w / (count - 1) for j in range(1, count) for x, w in zip(q, v, strict=True)]
        solution = mp.findroot(residual, guess, tol=mp.mpf(10) ** (-2 * DIGITS), maxsteps=20)
        Q = points(list(solution))
        return Q, derivatives(S, Q, [count - 1])[0]


def run(scheme: Scheme, L: Lagrangian, q: Point, p: Point, h: Real, steps: int) -> list[tuple[Point, Point]]:
    """Coordinates and momenta of steps + 1 states."""
    with mp.workdps(DIGITS + GUARD):
        states: list[tuple[Point, Point]] = [([mp.mpf(x) for x in q], [mp.mpf(x) for x in p])]
    for _ in range(steps):
        Q, p = step(scheme, L, states[-1][0], p, h)
        states.append((Q[-1], p))
    return states


def energy_rate(scheme: Scheme, L: Lagrangian, q: Point, p: Point, h: Real) -> Real:
    """|ΔH/H| in one step over its length h: falls with h as the order of the scheme does."""
    with mp.workdps(DIGITS + GUARD):
        Q, end = step(scheme, L, q, p, h)
        start = L.energy([mp.mpf(x) for x in q], [mp.mpf(x) for x in p])
        return abs((L.energy(Q[-1], end) - start) / start) / mp.mpf(h)
