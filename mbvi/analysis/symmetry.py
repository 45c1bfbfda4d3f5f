"""Momenta that linear symmetries conserve, found from the system itself by Noether's theorem.

A linear vector field ξ(q) = A q + b is a symmetry when L_q·ξ + L_v·(A v) + F·ξ = 0 for all (q, v); then J = p·ξ(q) is
conserved, by the motion and, exactly, by every Galerkin variational scheme (they are equivariant under linear maps).
The candidates are translations of every coordinate and, for every unit quaternion a, its rotations in the frame it hangs in
(a → e ⋆ a) and in its own (a → a ⋆ e). The symmetries are the linear combinations that vanish at random states.

Source: Marsden & West, Acta Numerica 10 (2001), section 1.3.3 (discrete Noether theorem).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbvi.kernels import layout
from mbvi.system.system import System

Array = np.ndarray
TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Invariant:
    """A conserved momentum J = p·(A q + b).

    Attributes
    ----------
    name : str
    A : ndarray (n, n)
    b : ndarray (n,)
    """

    name: str
    A: Array
    b: Array

    def value(self, q: Array, p: Array) -> Array:
        """J at states q, p (..., n)."""
        return np.einsum("...i,...i->...", p, q @ self.A.T + self.b)


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
    rates = _rates(system, candidates)
    scale = np.abs(rates).max(axis=0)
    combinations = _null_space(rates / np.where(scale > 0, np.abs(rates).max(), 1.0))
    found = []
    for weights in combinations:
        used = np.flatnonzero(weights)
        terms = [_term(weights[i], candidates[i].name) for i in used]
        name = " + ".join(terms).replace("+ -", "- ")
        A = sum(weights[i] * candidates[i].A for i in used)
        b = sum(weights[i] * candidates[i].b for i in used)
        found.append(Invariant(name, A, b))
    return tuple(found)


def _term(weight: float, name: str) -> str:
    if abs(weight - 1) < 1e-9:
        return name
    if abs(weight + 1) < 1e-9:
        return f"-{name}"
    return f"{weight:.6g} {name}"


def _candidates(system: System) -> list[Invariant]:
    n = system.dimension
    quaternions = _quaternions(system)
    inside = {first + i for first in quaternions for i in range(4)}
    zero = np.zeros((n, n))
    found = [
        Invariant(f"p({name})", zero, np.eye(n)[i]) for i, name in enumerate(system.coordinate_names) if i not in inside
    ]
    for first in quaternions:
        joint = system.coordinate_names[first].split(".")[0]
        for axis in range(3):
            for side, frame in (("left", "fixed"), ("right", "body")):
                A = np.zeros((n, n))
                A[first : first + 4, first : first + 4] = 0.5 * _product_matrix(axis, side)
                found.append(Invariant(f"angular momentum ({joint}, {frame} {'xyz'[axis]})", A, np.zeros(n)))
    return found


def _quaternions(system: System) -> list[int]:
    return [int(first) for kind, first in system.arrays.constraints if kind == layout.UNIT_QUATERNION]


def _product_matrix(axis: int, side: str) -> Array:
    """Matrix of a → e ⋆ a (left) or a → a ⋆ e (right) for the imaginary unit e of an axis, (4, 4)."""
    e = np.eye(3)[axis]
    cross = np.array([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]])
    matrix = np.zeros((4, 4))
    matrix[0, 1:], matrix[1:, 0] = -e, e
    matrix[1:, 1:] = cross if side == "left" else -cross
    return matrix


def _rates(system: System, candidates: list[Invariant]) -> Array:
    """d/dt (p·ξ) along the motion for every candidate at random states and times, (states, candidates)."""
    random = np.random.default_rng(1)
    n = system.dimension
    rows = []
    for _ in range(2 * len(candidates) + 4):
        q = system.initial_q + random.standard_normal(n)
        v = random.standard_normal(n)
        t = random.uniform(0.0, 10.0)
        for first in _quaternions(system):
            q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
            v[first : first + 4] -= (q[first : first + 4] @ v[first : first + 4]) * q[first : first + 4]
        p, f = system.gradient(q, v, t)
        rows.append([f @ (each.A @ q + each.b) + p @ (each.A @ v) for each in candidates])
    return np.array(rows)


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
