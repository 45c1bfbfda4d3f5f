"""Dynamics on constraints, with velocities in the tangent space: which drives make a motion, and which motion forces cause.

Constraints leave the velocities v with G v + ∂g/∂t = 0 and the accelerations with G a + γ = 0,

    γ = q̇ᵀ (∂²g/∂q²) q̇ + (∂g/∂q) Ḃ v + 2 (∂G/∂t) v + ∂²g/∂t²,      q̇ = B v,

where Ḃ v is −¼ |ω|² a for a quaternion a, and 0 else. Of the forces τ of a motion of the tree, constraints carry Gᵀ λ and
drives of *actuated* velocities the rest. Elimination of the other velocities, by the largest pivots, brings G to

    [1  −T]      rows of pivots: v_passive = T v_actuated
    [0   C]      rows that are left: C v_actuated = 0

A passive velocity without a pivot is a motion without a drive. Else the drives' forces are τ_actuated + Tᵀ τ_passive,
less their part along the rows of C, which is what drives may do against each other: so they have the least norm.

Units, with u the unit of a coordinate, rad of a ball joint: t [s]; q [u]; v [u/s]; a, rates [u/s²]; tau, out [J/u]; lam
[J/unit of g]; G, row [unit of g/u]; W [mixed]; by_q [J/u²]; by_v [J s/u²]; by_a, M [J s²/u²]; D [any unit]; tolerance [1];
factor [mixed].

Source: Featherstone 2008, sections 8.5 to 8.7 (closed loops and their actuators).
"""

import math

import numpy as np

from mbvi.kernels.algebra.saddle import place_in_order
from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.compiler.lanes import WIDTH as LANES
from mbvi.kernels.compiler.packed import Packed
from mbvi.kernels.layout import (
    ARGUMENT,
    CONSTRAINT_KIND,
    DISTANCE,
    ENTRIES,
    FIRST_ENTRY,
    FUNCTION,
    NODE_COORDINATES,
    NODE_ROWS,
    UNIT_QUATERNION,
    System,
)
from mbvi.kernels.mechanics.acceleration import refine
from mbvi.kernels.mechanics.constraints import add_curvature, fill_constraints, fill_curvature_rate, function_at
from mbvi.kernels.mechanics.dynamics_derivatives import fill_dynamics_derivatives
from mbvi.kernels.mechanics.expressed import add_expressed_curvature
from mbvi.kernels.mechanics.inverse_dynamics import (
    fill_forces_of_motion,
    subtract_force_derivatives,
    subtract_forces,
)
from mbvi.kernels.mechanics.lagrangian import has_forces, solve_acceleration
from mbvi.kernels.mechanics.rolling import add_touch_curvature
from mbvi.kernels.mechanics.rotation import conjugate_product_vector, product_with_vector
from mbvi.kernels.mechanics.tangent import (
    FINE,
    KINDS,
    NOT_FINITE,
    OFF_CONSTRAINTS,
    OVERDRIVEN,
    UNDRIVEN,
    add_product,
    add_turn_of_covector,
    fill_product,
    fill_rates,
    fill_tangents,
    is_ball,
    is_finite,
)

RANK = 1e-9  # a pivot, relative to the largest entry of its row of G, that is none
POSITION, VELOCITY, ACCELERATION = 0, 1, 2  # what of a state constraints do not allow


class LoopWork(Packed):
    """Arrays for dynamics on constraints.

    G, W (k, nv)   the rows of the constraints, and what elimination makes of them
    R (k, k)       combinations of rows of G that the rows of W are
    gap, gap_rate, gamma, driven, size (k,)    g, G v + ∂g/∂t, γ, its last two terms, and the largest entry of a row of G
    column (k,)    the velocity of every row's pivot
    pivot (nv,)    the row of every velocity's pivot, or −1
    is_actuated (nv,)
    drives (1, nv)        forces of drives
    curvature (4 nq²,)    ∂²(λᵀg)/∂q², see `constraints.add_to_blocks`
    found (4,)     what is wrong with a state: what it violates or a velocity without a drive, and by how much
    """


def make_loop_work(system: System, nv: int) -> LoopWork:
    """Workspace for dynamics on the constraints of a system."""
    k = system.k
    vectors = {name: np.zeros(k) for name in ("gap", "gap_rate", "gamma", "driven", "size")}
    return LoopWork(
        G=np.zeros((k, nv)),
        W=np.zeros((k, nv)),
        R=np.zeros((k, k)),
        **vectors,
        column=np.zeros(k, np.int64),
        pivot=np.zeros(nv, np.int64),
        is_actuated=np.zeros(nv, np.int64),
        drives=np.zeros((1, nv)),
        curvature=np.zeros(LANES * system.n**2),
        found=np.zeros(4),
    )


@kernel
def fill_loops(loops, own, system, work, t, q, v):
    """G, g, G v + ∂g/∂t and γ of all constraints of a state, of those of unit quaternions 0.

    q, v      (nq,), (nv,)
    """
    rates, G = own.rates, loops.G
    fill_rates(rates, system, q, v)
    fill_constraints(work.g, work.G, work.g_t, system, work, t, q)
    fill_curvature_rate(work.rate, system, work, t, q, rates)
    for b in range(system.k):
        kind, first = system.constraints[b, CONSTRAINT_KIND], system.constraints[b, FIRST_ENTRY]
        for i in range(own.nv):
            G[b, i] = 0.0
        loops.gap[b] = loops.gap_rate[b] = loops.gamma[b] = loops.size[b] = loops.driven[b] = 0.0
        if kind == UNIT_QUATERNION or system.constraints[b, ENTRIES] == 0:
            continue
        own.force[:] = 0.0
        for e in range(first, first + system.constraints[b, ENTRIES]):
            own.force[system.entries[e]] += work.G[e]
        loops.gap[b] = work.g[b]
        loops.gamma[b] = work.rate[b] + fill_tangent_row(G[b], system, q, v, own.force)
        total = 0.0
        for i in range(own.nv):
            total += G[b, i] * v[i]
            loops.size[b] = max(loops.size[b], abs(G[b, i]))
        loops.gap_rate[b] = total + work.g_t[b]
        if system.constraints[b, FUNCTION] >= 0 and system.constraints[b, ARGUMENT] < 0:
            f, slope, curve = function_at(system, work.stack, b, t)
            if kind == DISTANCE:  # g = (|r|²/f − f)/2 of a length f(t)
                square = 1.0 + 2.0 * work.g[b] / f
                loops.driven[b] = -0.5 * curve * (square + 1.0) + (slope * square - 2.0 * total) * slope / f
            else:
                loops.driven[b] = -curve
            loops.gamma[b] += loops.driven[b]


@kernel
def fill_tangent_row(row, system, q, v, f):
    """A covector of all rates as one of the tangent space; its product with Ḃ v is returned.

    row       (nv,)    out  [unit of f]
    q, v, f   (nq,), (nv,), (nq,)    f: [J/u or unit of g/u]
    """
    product = 0.0
    c = i = 0
    while c < system.n:
        if is_ball(system, c):
            x, y, z = conjugate_product_vector(q[c], q[c + 1], q[c + 2], q[c + 3], f[c], f[c + 1], f[c + 2], f[c + 3])
            size = q[c] * q[c] + q[c + 1] * q[c + 1] + q[c + 2] * q[c + 2] + q[c + 3] * q[c + 3]
            along = q[c] * f[c] + q[c + 1] * f[c + 1] + q[c + 2] * f[c + 2] + q[c + 3] * f[c + 3]
            row[i], row[i + 1], row[i + 2] = 0.5 * x / size, 0.5 * y / size, 0.5 * z / size
            product -= 0.25 * (v[i] * v[i] + v[i + 1] * v[i + 1] + v[i + 2] * v[i + 2]) * along / size
            c, i = c + 4, i + 3
        else:
            row[i] = f[c]
            c, i = c + 1, i + 1
    return product


@kernel
def is_on_constraints(loops, system, own, v, a, tolerance, with_acceleration):
    """Whether constraints allow a state; if not, what they do not allow, the constraint, and by how much, in loops.found.

    Velocities and accelerations may be off by the tolerance relative to the terms that they consist of.

    v, a      (nv,), (nv,)
    """
    for b in range(system.k):
        of_v = of_a = 1.0
        bend = loops.gamma[b]
        for i in range(own.nv):
            of_v += abs(loops.G[b, i] * v[i])
            of_a += abs(loops.G[b, i] * a[i])
            bend += loops.G[b, i] * a[i]
        of_a += abs(loops.gamma[b])
        for what in range(3):
            gap = loops.gap[b] if what == POSITION else loops.gap_rate[b] if what == VELOCITY else bend
            size = 1.0 if what == POSITION else of_v if what == VELOCITY else of_a
            if (what < ACCELERATION or with_acceleration) and not abs(gap) <= tolerance * size:
                loops.found[0], loops.found[1], loops.found[2] = what, b, gap
                return False
    return True


@kernel
def eliminate_passive(loops, system, own):
    """Bring G to the form at the head of this file; the number of pivots, or −1 − i where velocity i has no drive."""
    rank = take_pivots(loops, system, own)
    for i in range(own.nv):
        if loops.is_actuated[i] == 0 and loops.pivot[i] < 0:
            return -1 - i
    return rank


@kernel
def take_pivots(loops, system, own):
    """Eliminate the velocities that are not actuated from G, by the largest pivots; the number of pivots."""
    W, R, G, nv, k = loops.W, loops.R, loops.G, own.nv, system.k
    for b in range(k):
        scale = 1.0 / loops.size[b] if loops.size[b] > 0.0 else 0.0
        for i in range(nv):
            W[b, i] = scale * G[b, i]
        for c in range(k):
            R[b, c] = scale * (b == c)
    for i in range(nv):
        loops.pivot[i] = -1
    rank = 0
    while rank < k:
        row, column, best = -1, -1, RANK
        for b in range(rank, k):
            for i in range(nv):
                if loops.is_actuated[i] == 0 and abs(W[b, i]) > best:
                    row, column, best = b, i, abs(W[b, i])
        if row < 0:
            break
        swap_rows(W, rank, row)
        swap_rows(R, rank, row)
        inverse = 1.0 / W[rank, column]
        scale_row(W, rank, inverse)
        scale_row(R, rank, inverse)
        for b in range(k):
            factor = W[b, column]
            if b != rank and factor != 0.0:
                subtract_row(W, b, rank, factor)
                subtract_row(R, b, rank, factor)
                W[b, column] = 0.0
        loops.column[rank], loops.pivot[column] = column, rank
        rank += 1
    return rank


@kernel
def is_none_lost(loops, system, work, own):
    """Whether elimination of [M Gᵀ; G 0] has left out no more than the rows of G that follow from others.

    What moves without inertia has no pivot either, and would get no acceleration whatever acts on it; nor have some rows near a
    singular configuration. `fill_loops` and `solve_acceleration` were called at the same state.
    """
    left_out = dependent = 0
    for a in range(system.nodes.shape[0]):
        left_out += system.nodes[a, NODE_COORDINATES] + system.nodes[a, NODE_ROWS] - work.ranks[a]
    if left_out == 0:
        return True
    for b in range(system.k):
        if system.constraints[b, CONSTRAINT_KIND] != UNIT_QUATERNION and system.row_nodes[b, 0] >= 0:
            dependent += 1
    loops.is_actuated[:] = 0
    return left_out <= dependent - take_pivots(loops, system, own)


@kernel
def swap_rows(W, i, j):
    """Exchange two rows.

    W         (., columns)    in and out
    """
    for c in range(W.shape[1]):
        W[i, c], W[j, c] = W[j, c], W[i, c]


@kernel
def scale_row(W, i, factor):
    """Multiply a row by a factor.

    W         (., columns)    in and out
    """
    for c in range(W.shape[1]):
        W[i, c] *= factor


@kernel
def subtract_row(W, i, j, factor):
    """Subtract a multiple of row j from row i.

    W         (., columns)    in and out
    """
    for c in range(W.shape[1]):
        W[i, c] -= factor * W[j, c]


@kernel
def fill_drives(out, lam, tau, loops, system, own, rank):
    """Forces of the drives and multipliers of the forces τ of a motion, after `eliminate_passive`; how many drives are too many.

    out       (nv,)    out, 0 where nothing is driven
    lam       (k,)     out: without what drives do against each other
    tau       (nv,)
    """
    W, nv, k = loops.W, own.nv, system.k
    for b in range(k):
        lam[b] = 0.0
    for i in range(nv):
        out[i] = tau[i] if loops.is_actuated[i] == 1 else 0.0
    for p in range(rank):
        force = tau[loops.column[p]]
        for b in range(k):
            lam[b] += force * loops.R[p, b]
        for i in range(nv):
            if loops.is_actuated[i] == 1:
                out[i] -= force * W[p, i]
    return take_least(out, lam, loops, nv, rank, k)


@kernel
def take_least(out, lam, loops, nv, rank, k):
    """Take from forces their part along the rows of C, made orthonormal from the longest on; the rank of C.

    out       (nv,)    in and out
    lam       (k,)     in and out: constraints carry what is taken
    """
    W, R, count = loops.W, loops.R, 0
    for p in range(rank, k):
        longest, best = -1, RANK
        for b in range(p, k):
            size = 0.0
            for i in range(nv):
                size += W[b, i] * W[b, i]
            if math.sqrt(size) > best:
                longest, best = b, math.sqrt(size)
        if longest < 0:
            break
        swap_rows(W, p, longest)
        swap_rows(R, p, longest)
        scale_row(W, p, 1.0 / best)
        scale_row(R, p, 1.0 / best)
        along = 0.0
        for i in range(nv):
            along += W[p, i] * out[i]
        for i in range(nv):
            out[i] -= along * W[p, i]
        for b in range(k):
            lam[b] += along * R[p, b]
        for b in range(p + 1, k):
            along = 0.0
            for i in range(nv):
                along += W[p, i] * W[b, i]
            subtract_row(W, b, p, along)
            subtract_row(R, b, p, along)
        count += 1
    return count


@kernel
def fill_driven_motion(out, lam, system, work, own, loops, tolerance, t, q, v, a):
    """The forces of the drives of a motion on constraints, in many states.

    out       (states, nv)    out, 0 where nothing is driven
    lam       (states, k)     out
    work, own, loops    Work, DynamicsWork, LoopWork
    tolerance float           by which a state may be off the constraints
    t         (states, 1)     times  [s]; or (1, 1), one of all
    q, v, a   (states, nq), (states, nv), (states, nv)

    loops.found[3] is how many drives are more than needed. Returns FINE, or what is wrong with the first bad state.
    """
    loops.found[3] = 0.0
    for i in range(q.shape[0]):
        now = t[min(i, t.shape[0] - 1), 0]
        if not is_finite(q[i], v[i], a[i]) or not math.isfinite(now):
            return NOT_FINITE + KINDS * i
        fill_loops(loops, own, system, work, now, q[i], v[i])
        if not is_on_constraints(loops, system, own, v[i], a[i], tolerance, True):
            return OFF_CONSTRAINTS + KINDS * i
        rank = eliminate_passive(loops, system, own)
        if rank < 0:
            loops.found[0] = -1 - rank
            return UNDRIVEN + KINDS * i
        fill_forces_of_motion(own.acceleration, own.row, system, own.first, q[i], v[i], a[i])
        if has_forces(system):
            subtract_forces(own.acceleration, system, work, own, now, q[i], v[i])
        excess = fill_drives(out[i], lam[i], own.acceleration, loops, system, own, rank)
        loops.found[3] = max(loops.found[3], excess)
    return FINE


@kernel
def fill_driven_derivatives(by_q, by_v, by_a, lam, system, work, own, loops, tolerance, t, q, v, a):
    """How the forces of drives change along motions that the constraints allow, in many states.

    With the multipliers λ of the motion, Tᵀ (∂τ/∂q − ∂(Gᵀλ)/∂q), Tᵀ ∂τ/∂v and Tᵀ M in the rows of what is driven, and 0
    elsewhere: as the constraints hold λ, T moves as Gᵀ does.

    by_q, by_v, by_a    (states, nv, nv)    out
    lam       (states, k)     out
    work, own, loops    Work, DynamicsWork, LoopWork
    tolerance float           by which a state may be off the constraints
    t         (states, 1)     times  [s]; or (1, 1), one of all
    q, v, a   (states, nq), (states, nv), (states, nv)

    Returns FINE, or what is wrong with the first bad state, as `fill_driven_motion` does.
    """
    for i in range(q.shape[0]):
        now = t[min(i, t.shape[0] - 1), 0]
        one = slice(i, i + 1)
        status = fill_driven_motion(
            loops.drives,
            lam[one],
            system,
            work,
            own,
            loops,
            tolerance,
            t[min(i, t.shape[0] - 1) :],
            q[one],
            v[one],
            a[one],
        )
        if status != FINE:
            return status + KINDS * i
        if loops.found[3] > 0.0:
            return OVERDRIVEN + KINDS * i
        fill_dynamics_derivatives(by_q[i], by_v[i], by_a[i], system, own, q[i], v[i], a[i])
        if has_forces(system):
            subtract_force_derivatives(by_q[i], by_v[i], system, work, own, now, q[i], v[i])
        subtract_curvature(by_q[i], loops, system, work, own, now, q[i], v[i], lam[i])
        for D in (by_q[i], by_v[i], by_a[i]):
            reduce_rows(D, loops, own.nv)
    return FINE


@kernel
def fill_equation_derivatives(by_q, by_v, M, G, a, lam, system, work, own, loops, t, q, v):
    """How the forces of a motion of the tree less those of constraints change, in many states on the constraints.

    by_q, by_v, M    (states, nv, nv)    out: ∂τ/∂q − ∂(Gᵀλ)/∂q, ∂τ/∂v, M
    G         (states, k, nv)     out
    a, lam    (states, nv), (states, k)    the motion, with multipliers that become 0 for unit quaternions
    work, own, loops    Work, DynamicsWork, LoopWork
    t         (states, 1)     times  [s]; or (1, 1), one of all
    q, v      (states, nq), (states, nv)

    Returns FINE.
    """
    for i in range(q.shape[0]):
        now = t[min(i, t.shape[0] - 1), 0]
        fill_loops(loops, own, system, work, now, q[i], v[i])
        for b in range(system.k):
            for c in range(own.nv):
                G[i, b, c] = loops.G[b, c]
            if system.constraints[b, CONSTRAINT_KIND] == UNIT_QUATERNION:
                lam[i, b] = 0.0
        fill_dynamics_derivatives(by_q[i], by_v[i], M[i], system, own, q[i], v[i], a[i])
        if has_forces(system):
            subtract_force_derivatives(by_q[i], by_v[i], system, work, own, now, q[i], v[i])
        subtract_curvature(by_q[i], loops, system, work, own, now, q[i], v[i], lam[i])
    return FINE


@kernel
def subtract_curvature(by_q, loops, system, work, own, t, q, v, lam):
    """Subtract ∂(Gᵀλ)/∂q along all tangents.

    by_q      (nv, nv)    in and out
    q, v, lam (nq,), (nv,), (k,)
    """
    n, dense, stored = system.n, own.by_place, loops.curvature
    fill_tangents(own, system, q, v)
    stored[:] = 0.0
    add_curvature(stored, system, work, t, q, lam, 1.0, 0, 0, 0)
    for a in range(n):
        for b in range(n):
            dense[a, b] = stored[(place_in_order(system, a) * n + place_in_order(system, b)) * LANES]
    if system.touches.shape[0] > 0:
        add_touch_curvature(dense, system, work, q, lam)
    if system.expressions.shape[0] > 0:
        add_expressed_curvature(dense, system, work, t, q, lam)
    fill_product(own, system, dense, own.B)
    add_product(by_q, -1.0, own, system)
    own.force[:] = 0.0
    for b in range(system.k):
        first = system.constraints[b, FIRST_ENTRY]
        for e in range(first, first + system.constraints[b, ENTRIES]):
            own.force[system.entries[e]] += lam[b] * work.G[e]
    add_turn_of_covector(by_q, -1.0, system, q, own.force)


@kernel
def reduce_rows(D, loops, nv):
    """Overwrite D by Tᵀ D in the rows of what is driven, and by 0 in others.

    D         (nv, nv)    in and out
    """
    for i in range(nv):
        if loops.is_actuated[i] == 1:
            for column in range(nv):
                p = loops.pivot[column]
                if p >= 0:
                    for c in range(nv):
                        D[i, c] -= loops.W[p, i] * D[column, c]
    for i in range(nv):
        if loops.is_actuated[i] == 0:
            for c in range(nv):
                D[i, c] = 0.0


@kernel
def fill_constrained_motion(a, lam, system, work, own, loops, tolerance, t, q, v, tau):
    """The accelerations that forces cause on constraints, in many states.

    a         (states, nv)    out, not a number where elimination loses what `system.null_motions` may find
    lam       (states, k)     out: multipliers, with M a + bias = τ + Gᵀ λ; not a number there
    work, own, loops    Work, DynamicsWork, LoopWork
    tolerance float           by which a state may be off the constraints
    t         (states, 1)     times  [s]; or (1, 1), one of all
    q, v, tau (states, nq), (states, nv), (states, nv)

    Returns FINE, or what is wrong with the first bad state.
    """
    x, n = work.solution, system.n
    for i in range(q.shape[0]):
        now = t[min(i, t.shape[0] - 1), 0]
        if not is_finite(q[i], v[i], tau[i]) or not math.isfinite(now):
            return NOT_FINITE + KINDS * i
        fill_loops(loops, own, system, work, now, q[i], v[i])
        if not is_on_constraints(loops, system, own, v[i], own.zero, tolerance, False):
            return OFF_CONSTRAINTS + KINDS * i
        is_solved = solve_acceleration(system, work, now, q[i], own.rates, loops.driven)
        if not is_solved or not is_none_lost(loops, system, work, own):
            a[i, :], lam[i, :] = np.nan, np.nan
            continue
        for c in range(n):
            own.force[c] = x[c]
        for b in range(system.k):
            lam[i, b] = -x[n + b]
            work.rate[b] += loops.driven[b]
        fill_covector(x, system, q[i], tau[i])
        for c in range(n):
            work.side[c] += x[c]
        for _ in range(2):  # forces are added by the first
            refine(own.force, lam[i], system, work)
        fill_tangent_acceleration(a[i], system, q[i], own.force)
    return FINE


@kernel
def fill_covector(f, system, q, tau):
    """A covector of all rates of one of the tangent space: f = 2 a N of a quaternion a and a torque N.

    f         (nq,)    out  [J/u] (or longer)
    q, tau    (nq,), (nv,)
    """
    c = i = 0
    while c < system.n:
        if is_ball(system, c):
            x, y, z = 2.0 * tau[i], 2.0 * tau[i + 1], 2.0 * tau[i + 2]
            f0, f1, f2, f3 = product_with_vector(q[c], q[c + 1], q[c + 2], q[c + 3], x, y, z)
            f[c], f[c + 1], f[c + 2], f[c + 3] = f0, f1, f2, f3
            c, i = c + 4, i + 3
        else:
            f[c] = tau[i]
            c, i = c + 1, i + 1


@kernel
def fill_tangent_acceleration(a, system, q, rates):
    """Accelerations in the tangent space of the second rates of all coordinates: dω/dt = 2 vec(ā ä).

    a         (nv,)    out
    q, rates  (nq,), (nq,)
    """
    c = i = 0
    while c < system.n:
        if is_ball(system, c):
            x, y, z = conjugate_product_vector(
                q[c], q[c + 1], q[c + 2], q[c + 3], rates[c], rates[c + 1], rates[c + 2], rates[c + 3]
            )
            a[i], a[i + 1], a[i + 2] = 2.0 * x, 2.0 * y, 2.0 * z
            c, i = c + 4, i + 3
        else:
            a[i] = rates[c]
            c, i = c + 1, i + 1
