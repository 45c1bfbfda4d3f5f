"""What one step of a Galerkin scheme solves for: the control points of its polynomial, and what the constraints do at each.

The step equations are those of `mbvi.kernels.galerkin`, with impulses Λ_j at control points Q_j. From a momentum p to another p',
both along the constraints, with forces f_i at the nodes,

    p' = p + h Σ_i b_i f_i + Σ_j G(Q_j)ᵀ Λ_j,     Λ_j = h w_j λ_j,     j = 0 … s.

Λ_s is what p' needs to satisfy G v + ∂g/∂t = 0. Where two steps meet, the whole impulse is the last of one and the first of the
next together.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mbvi.errors import StepError
from mbvi.kernels import layout
from mbvi.kernels.galerkin import steps as galerkin
from mbvi.kernels.galerkin.workspace import make_space
from mbvi.kernels.mechanics.lagrangian import make_work
from mbvi.model.arguments import check_kind, checked_number
from mbvi.schemes.galerkin import find_tableau
from mbvi.schemes.tableau import Tableau
from mbvi.system.redundancy import count_redundant, node_widths
from mbvi.system.scheme import scheme_arrays
from mbvi.system.system import System

Array = np.ndarray
REDUNDANT = 1e-9  # singular value of the constraint Jacobian that counts as zero, relative to the largest


class ControlPoints(NamedTuple):
    """The control points of one step, its start and its end among them; of a composition, those of all substeps.

    t         (c,)      times [s]
    q         (c, n)    coordinates
    impulses  (c, k)    Λ of the constraints, in the order of system.constraint_names and the units of the multipliers times s
    weights   (c,)      what impulses are of the multipliers: h w_j [s]
    """

    t: Array
    q: Array
    impulses: Array
    weights: Array

    @property
    def multipliers(self) -> Array:
        """λ = Λ/(h w_j) (c, k), in the units ``system.constraint_units``; not a number at points of weight 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.impulses / np.where(self.weights, self.weights, np.nan)[:, None]


def solve_control_points(system: System, tableau: Tableau, h: float, t: float, q: Array, p: Array) -> ControlPoints:
    """Solve the step of size h from the state q, p (n,) at time t, on the constraints.

    Raises
    ------
    StepError
        If the step does not converge.
    """
    check_kind(system, System, "system", "make one by assemble")
    tableau = find_tableau(tableau)
    h = checked_number(h, "h", "a time greater than 0", above=0.0)
    t = checked_number(t, "t", "a finite number of seconds")
    q, p = system._vector(q, "q"), system._vector(p, "p")
    arrays, scheme = system.arrays, scheme_arrays(replace(tableau, is_projected=True))
    v = system.velocities(np.array([t]), q[None], p[None])[0]
    if not arrays.redundant.any() and np.any(system.work.ranks < node_widths(arrays)):
        count_redundant(system, q, t)  # no run of the system did so
    space, work = make_space(arrays, scheme), make_work(arrays)
    space.q[:], space.p[:] = q, system.momentum(q, v, t)
    ends, others = np.zeros((2, 1, arrays.n)), np.zeros((2, 0, arrays.n))
    status, _ = galerkin.run(arrays, scheme, work, space, t, h, 0, 1, 1, *ends, *others)
    if status != layout.OK:
        raise StepError(f"control points: the step from t = {t:.6g} s did not converge; a smaller one may")
    last = work.solution[arrays.n :]  # of the projection of the end's momentum
    if arrays.is_open:  # where no momentum is along a quaternion
        G = system.constraint_jacobian(space.q, t + h)
        last = -np.linalg.solve(G @ G.T, G @ space.p)
    s, behind = tableau.stages, space.behind
    unknowns, substeps = space.table[:, 0], len(tableau.fractions)
    if space.has_velocities:
        rates = unknowns.reshape(substeps, arrays.n, -1)[:, :, :s]
        moves = np.array(tableau.fractions)[:, None, None] * h * (rates @ np.linalg.inv(tableau.B[:, 1:]).T)
    else:
        moves = unknowns[:, : arrays.n * s].reshape(substeps, arrays.n, s)
    impulses = unknowns[:, behind : behind + arrays.k * s].reshape(substeps, arrays.k, s)
    points = _joined(tableau, moves, impulses, h, t, q, last)
    if np.any(arrays.redundant > 0):
        for each in range(len(points.t)):
            G = system.constraint_jacobian(points.q[each], points.t[each])
            points.impulses[each] = np.linalg.lstsq(G.T, G.T @ points.impulses[each], rcond=REDUNDANT)[0]
    return points


def _joined(tableau: Tableau, moves: Array, pushes: Array, h: float, t: float, q: Array, last: Array) -> ControlPoints:
    """All points of the substeps, of which `moves` (substeps, n, s) are increments and `pushes` (substeps, k, s) impulses."""
    s, d, w = tableau.stages, np.array(tableau.control_points), tableau.control_weights
    count = len(moves) * s + 1
    times, places, impulses, weights = [t], [q], np.zeros((count, pushes.shape[1])), np.zeros(count)
    for r, fraction in enumerate(tableau.fractions):
        part, first = fraction * h, r * s
        places += list(places[first] + moves[r].T)
        times += list(times[first] + part * d[1:])
        impulses[first : first + s] = pushes[r].T
        weights[first : first + s + 1] += part * w
    impulses[-1] = last
    return ControlPoints(np.array(times), np.array(places), impulses, weights)
