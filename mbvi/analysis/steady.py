"""Small deviations from a steady motion: ẋ = A x along the constraints, also those on velocities, and the eigenvalues of A.

A motion with constant rates v along which nothing that follows changes, as that of a bicycle that runs straight, may deviate by
δq and δv. With p = ∂L/∂v, f = ∂L/∂q + F, and G the constraints' Jacobian, or A of those on velocities,

    M δv̇ = (∂f/∂q + ∂(Gᵀλ)/∂q) δq + (∂f/∂v − ∂p/∂q) δv + Gᵀ δλ,     G δv + D δq = 0,

with D = ∂(A v)/∂q of constraints on velocities, and 0 of those on positions, for which G δq = 0: δq = H y with a basis H.
With N a basis of the null space of G, X = −G⁺ D and δv = N w + X δq, the state x = (y, w) has a matrix A of numbers. Directions
along which the motion goes on alike, such as the place where it started, have eigenvalues 0, of Jordan blocks; they are taken
out, one null space after the other.

Source: Meijaard, Papadopoulos, Ruina & Schwab, Proc. R. Soc. A 463 (2007), for the bicycle; Neimark & Fufaev, Dynamics of
Nonholonomic Systems (1972), chapter 4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mbvi.analysis.autonomous import check_autonomous
from mbvi.errors import ModelError
from mbvi.model.expressions import wrong
from mbvi.model.model import Model
from mbvi.system.assemble import assemble
from mbvi.system.initial import find_start
from mbvi.system.redundancy import RANK, null_space
from mbvi.system.system import System

Array = np.ndarray
STEADY = 1e-8  # acceleration, relative to the square of the rates, and change of the matrices, relative to their size
NEUTRAL = 1e-9  # singular value of A, relative to the largest, that counts as 0
AHEAD = 0.37  # how far along the motion the matrices are looked at again [rad, m, –]


@dataclass(frozen=True, eq=False)
class SteadyMotion:
    """The linear equations of small deviations from a steady motion.

    Attributes
    ----------
    name : str
    q, v : ndarray (n,)
        Coordinates and rates of the motion at the start.
    multipliers : ndarray (k,)
        λ of the motion.
    matrix : ndarray (m, m)
        A of ẋ = A x, without the directions along which the motion goes on alike [1/s].
    neutral : int
        How many of these there are.
    eigenvalues : ndarray (m,) of complex
        The eigenvalues of A, by increasing real part [1/s].
    """

    name: str
    q: Array
    v: Array
    multipliers: Array
    matrix: Array
    neutral: int
    eigenvalues: Array

    def __repr__(self) -> str:
        """The eigenvalues."""
        values = ", ".join(f"{each.real:.6g}{f'{each.imag:+.6g}j' if each.imag else ''}" for each in self.eigenvalues)
        return f"<SteadyMotion of {self.name!r}: eigenvalues {values} 1/s>"

    @property
    def is_stable(self) -> bool:
        """Whether no deviation grows."""
        largest = np.abs(self.eigenvalues).max(initial=0.0)
        return bool(self.eigenvalues.real.max(initial=0.0) <= NEUTRAL * largest)


def linearize_motion(model: Model | System, q: ArrayLike | None = None, v: ArrayLike | None = None) -> SteadyMotion:
    """The linear equations of small deviations from a steady motion, and their eigenvalues.

    Parameters
    ----------
    model : Model or System
    q, v : (n,), optional
        Coordinates and rates of the motion; by default the initial ones. They are moved onto constraints as the start of a run.

    Returns
    -------
    SteadyMotion

    Raises
    ------
    ModelError
        If rates change along the motion, or what acts on deviations does, or something depends on time.

    Examples
    --------
    A disc that rolls straight on is stable from the speed √(g r/3) on, here 1.8083 m/s:

    >>> import mbvi
    >>> disc = mbvi.Body(mass=1, inertia=(0.25, 0.5, 0.25))
    >>> free = mbvi.Free(parent="world", child="disc", coordinates="zxy")
    >>> rolling = mbvi.RollingWheel(body_a="world", body_b="disc", radius=1, axis=(0, 1, 0))
    >>> model = mbvi.Model(
    ...     name="disc", bodies={"disc": disc}, joints={"free": free}, constraints={"rolling": rolling}, gravity=(0, 0, -9.81)
    ... )
    >>> at = [0, 0, 1, 0, 0, 0]
    >>> [linearize_motion(model, at, [speed, 0, 0, 0, 0, speed]).is_stable for speed in (1.80, 1.82)]
    [False, True]
    """
    system = model if isinstance(model, System) else assemble(model)
    start = find_start(system, q, v)
    check_autonomous(system, start.q, start.v)
    state = np.zeros(1), start.q[None], start.v[None]
    a, lam = (each[0] for each in system.accelerations_and_multipliers(*state))
    _check_rates(system, a, start.v)
    parts = _parts(system, start.q, start.v, lam)
    ahead = AHEAD / max(float(np.abs(start.v).max(initial=0.0)), 1e-300)
    _check_parts(system, parts, _parts(system, start.q + ahead * start.v, start.v, lam))
    matrix, neutral = _without_neutral(_matrix(system, *parts))
    values = np.linalg.eigvals(matrix)
    values = values[np.lexsort((values.imag, values.real))]
    return SteadyMotion(system.name, start.q, start.v, lam, matrix, neutral, values)


def _parts(system: System, q: Array, v: Array, lam: Array) -> tuple[Array, Array, Array, Array, Array]:
    """M, the matrices (n, n) of δq and δv on the right side, G (k, n) and D (k, n)."""
    M, p_q, f_v, f_q = system.second_derivatives(q, v)
    G, D = system.constraint_jacobian(q), np.zeros((system.constraint_count, system.dimension))
    for i in system.arrays.rates:
        D[i] = system.constraint_curvature(q, np.eye(len(lam))[i]).T @ v
    for k in range(system.dimension if system.arrays.time_rates else 0):
        D[:, k] += system._time_rates(0.0, q, np.eye(system.dimension)[k])[1]  # of a(q)
    return M, f_q + system.constraint_curvature(q, lam), f_v - p_q, G, D


def _matrix(system: System, M: Array, by_q: Array, by_v: Array, G: Array, D: Array) -> Array:
    """A of the state (y, w)."""
    positions = np.delete(G, system.arrays.rates, axis=0)
    N, H = null_space(G).T, null_space(positions).T
    X = -np.linalg.pinv(G, rcond=RANK) @ D @ H
    upper = np.hstack([H.T @ X, H.T @ N])
    lower = np.hstack([by_q @ H + by_v @ X, by_v @ N]) - M @ X @ upper
    return np.vstack([upper, np.linalg.solve(N.T @ M @ N, N.T @ lower)])


def _without_neutral(A: Array) -> tuple[Array, int]:
    """A on what is left beside its null space, and again beside that of the result, as long as there is one; and the number."""
    size, count = np.abs(A).max(initial=0.0), len(A)
    while len(A):
        _, singular, right = np.linalg.svd(A)
        kept = right[: int(np.sum(singular > NEUTRAL * size))]
        if len(kept) == len(A):
            break
        A = kept @ A @ kept.T
    return A, count - len(A)


def _check_rates(system: System, a: Array, v: Array) -> None:
    """The rates must be constant."""
    worst = int(np.argmax(np.abs(a)))
    if not np.abs(a[worst]) <= STEADY * max(1.0, float(np.abs(v).max()) ** 2):
        remedy = "give coordinates and rates of one, and angles instead of quaternions for what turns"
        found = f"an acceleration of {a[worst]:.6g} of {system.coordinate_names[worst]}"
        raise ModelError(f"{system.name}: {wrong('a motion with constant rates', found, remedy)}")


def _check_parts(system: System, now: tuple[Array, ...], later: tuple[Array, ...]) -> None:
    """What acts on deviations must be the same along the motion."""
    for before, after in zip(now, later, strict=True):
        change = np.abs(after - before)
        if not change.max(initial=0.0) <= STEADY * max(np.abs(before).max(initial=0.0), 1e-300):
            column = system.coordinate_names[int(np.argmax(change.max(axis=0)))]
            expected = "a motion along which what acts on deviations does not change"
            remedy = "choose coordinates whose rates move nothing else, as the angle of a round wheel about its axis"
            raise ModelError(f"{system.name}: {wrong(expected, f'a change at {column}', remedy)}")
