"""Momenta that linear symmetries conserve, found from the system itself by Noether's theorem.

A linear vector field ξ(q) = A q + b is a symmetry when L_q·ξ + L_v·(A v) + F·ξ = 0 for all (q, v); then J = p·ξ(q) is
conserved, by the motion and, exactly, by every Galerkin variational scheme (they are equivariant under linear maps).
The candidates are translations of every coordinate; for every unit quaternion a, its rotations in the frame it hangs in
(a → e ⋆ a) and in its own (a → a ⋆ e); and for every free or planar joint the rotations e × x of its place, which become
symmetries together with those of its orientation. The symmetries are the linear combinations that vanish at random states.

Source: Marsden & West, Acta Numerica 10 (2001), section 1.3.3 (discrete Noether theorem).
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np

from mbvi.kernels import layout
from mbvi.system.system import System

Array = np.ndarray
TOLERANCE = 1e-9
MOST_COMBINED = 300
"""Beyond so many candidates, only each by itself is tried."""
SMALLEST_PART = 1e-4
"""Rates are judged against at least this part of the kinetic energy."""


@dataclass(frozen=True, eq=False)
class Invariant:
    """A conserved momentum J = Σ p_part·ξ(q_part).

    Attributes
    ----------
    name : str
    parts : tuple of (int, ndarray)
        First coordinate and, for a translation, a vector (1,): ξ = b; for a rotation, of a quaternion or a place, a matrix:
        ξ = A q.
    """

    name: str
    parts: tuple[tuple[int, Array], ...]

    def value(self, q: Array, p: Array) -> Array:
        """J at states q, p (..., n)."""
        total = np.zeros(q.shape[:-1])
        for first, factor in self.parts:
            place = slice(first, first + len(factor))
            field = q[..., place] @ factor.T if factor.ndim == 2 else factor
            total = total + np.sum(p[..., place] * field, axis=-1)
        return total

    def rate(self, q: Array, v: Array, p: Array, f: Array) -> float:
        """dJ/dt = f·ξ(q) + p·A v at one state, f = ∂L/∂q + F."""
        total = 0.0
        for first, factor in self.parts:
            place = slice(first, first + len(factor))
            if factor.ndim == 1:
                total += f[place] @ factor
            else:
                total += f[place] @ factor @ q[place] + p[place] @ factor @ v[place]
        return float(total)


def find_invariants(system: System) -> tuple[Invariant, ...]:
    """The conserved momenta of a system, as few and as simple combinations of the candidates as there are.

    Examples
    --------
    >>> import mbvi
    >>> body = mbvi.Body(mass=1, inertia=(1, 2, 2))
    >>> joint = mbvi.Ball(parent="world", child="rotor", coordinates="zxz")
    >>> model = mbvi.Model(name="rotor", bodies={"rotor": body}, joints={"joint": joint})
    >>> [invariant.name for invariant in find_invariants(mbvi.assemble(model))]
    ['p(joint.phi)']
    """
    candidates = _candidates(system)
    rates, sizes = _rates(_with_any_forces(system), candidates)
    if not len(rates):
        return ()
    found = []
    for weights in _combinations(rates / sizes) / sizes:
        used = np.flatnonzero(weights)
        weights = weights / weights[used[0]]
        name = " + ".join(_term(weights[i], candidates[i].name) for i in used).replace("+ -", "- ")
        parts = tuple((part[0], weights[i] * part[1]) for i in used for part in candidates[i].parts)
        found.append(Invariant(name, parts))
    return tuple(found)


def _with_any_forces(system: System) -> System:
    """The system with arbitrary constants for all functions of time: what these conserve, no function of time changes."""
    arrays = system.arrays
    depends = arrays.time_functions[:, 0] != layout.CONSTANT
    if not depends.any():
        return system
    functions, first = arrays.time_functions.copy(), len(arrays.numbers)
    functions[depends] = [[layout.CONSTANT, first + i, 1] for i in range(depends.sum())]
    numbers = np.concatenate([arrays.numbers, np.random.default_rng(2).uniform(1.0, 2.0, depends.sum())])
    fields = {name: getattr(arrays, name) for name in arrays.numba_type.layout}
    other = copy(system)
    other.arrays = layout.System(**(fields | {"time_functions": functions, "numbers": numbers}))
    return other


def _combinations(rates: Array) -> Array:
    """Weights (rows) of the combinations of candidates whose rates (states, candidates) vanish."""
    count = rates.shape[1]
    if count <= MOST_COMBINED:
        return _null_space(rates)
    return np.eye(count)[np.abs(rates).max(axis=0) <= TOLERANCE]


def _term(weight: float, name: str) -> str:
    if abs(weight - 1) < 1e-9:
        return name
    if abs(weight + 1) < 1e-9:
        return f"-{name}"
    return f"{weight:.6g} {name}"


def _candidates(system: System) -> list[Invariant]:
    quaternions = _quaternions(system)
    inside = {first + i for first in quaternions for i in range(4)}
    found = [
        Invariant(f"p({name})", ((i, np.ones(1)),)) for i, name in enumerate(system.coordinate_names) if i not in inside
    ]
    for first in quaternions:
        joint = system.coordinate_names[first].split(".")[0]
        for axis in range(3):
            for side, frame in (("left", "fixed"), ("right", "body")):
                name = f"angular momentum ({joint}, {frame} {'xyz'[axis]})"
                found.append(Invariant(name, ((first, 0.5 * _product_matrix(axis, side)),)))
    return found + _orbital_candidates(system)


def _orbital_candidates(system: System) -> list[Invariant]:
    """Rotations of the place x, y, z of every free joint, and of x, y of every planar one."""
    found = []
    names = system.coordinate_names
    for first, name in enumerate(names):
        joint, _, short = name.rpartition(".")
        if short != "x" or not joint:
            continue
        size = 3 if f"{joint}.z" in names else 2
        for axis in range(3) if size == 3 else [2]:
            matrix = _cross_matrix(np.eye(3)[axis])[:size, :size]
            found.append(Invariant(f"orbital momentum ({joint}, {'xyz'[axis]})", ((first, matrix),)))
    return found


def _cross_matrix(e: Array) -> Array:
    """Matrix of x → e × x, (3, 3)."""
    return np.array([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]])


def _quaternions(system: System) -> list[int]:
    rows = system.arrays.constraints
    firsts = rows[rows[:, layout.CONSTRAINT_KIND] == layout.UNIT_QUATERNION, layout.FIRST_ENTRY]
    return [int(first) for first in system.arrays.entries[firsts, layout.COORDINATE]]


def _product_matrix(axis: int, side: str) -> Array:
    """Matrix of a → e ⋆ a (left) or a → a ⋆ e (right) for the imaginary unit e of an axis, (4, 4)."""
    e = np.eye(3)[axis]
    cross = _cross_matrix(e)
    matrix = np.zeros((4, 4))
    matrix[0, 1:], matrix[1:, 0] = -e, e
    matrix[1:, 1:] = cross if side == "left" else -cross
    return matrix


def _rates(system: System, candidates: list[Invariant]) -> tuple[Array, Array]:
    """d/dt (p·ξ) for every candidate at random states, (states, candidates), and the size of its terms, (candidates,).

    The size is at least a small part of the kinetic energy, since the terms themselves may be rounding.
    """
    random = np.random.default_rng(1)
    n = system.dimension
    magnitudes = [Invariant(each.name, tuple((i, np.abs(factor)) for i, factor in each.parts)) for each in candidates]
    rates, sizes = [], []
    for _ in range(min(2 * len(candidates) + 4, 2 * MOST_COMBINED)):
        q = system.initial_q + random.standard_normal(n)
        v = random.standard_normal(n)
        t = random.uniform(0.0, 10.0)
        for first in _quaternions(system):
            q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
            v[first : first + 4] -= (q[first : first + 4] @ v[first : first + 4]) * q[first : first + 4]
        p, f = system.gradient(q, v, t)
        if np.all(np.isfinite(f)):  # at some states a force may be undefined
            rates.append([each.rate(q, v, p, f) for each in candidates])
            part = SMALLEST_PART * np.abs(p) @ np.abs(v)
            sizes.append([max(part, each.rate(*map(np.abs, (q, v, p, f)))) for each in magnitudes])
    return np.array(rates), np.array(sizes).max(axis=0, initial=0.0)


def _null_space(matrix: Array) -> Array:
    """Basis (rows) of the vectors that a matrix (rows, columns) annihilates, in reduced echelon form."""
    _, singular, right = np.linalg.svd(matrix)
    rank = int(np.sum(singular > TOLERANCE * max(1.0, singular.max(initial=0.0))))
    basis = right[rank:]
    row = 0
    for column in range(basis.shape[1]):
        if row == len(basis):
            break
        best = row + int(np.argmax(np.abs(basis[row:, column])))
        if abs(basis[best, column]) < 1e-6:
            continue
        basis[[row, best]] = basis[[best, row]]
        basis[row] /= basis[row, column]
        for other in range(len(basis)):
            if other != row:
                basis[other] -= basis[other, column] * basis[row]
        row += 1
    basis[np.abs(basis) < 1e-8] = 0.0
    return basis
