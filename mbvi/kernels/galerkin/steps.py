"""All Galerkin variational schemes in one kernel: the equations of a step, one step, the loop over steps.

On one step of size h, with increments Y_l = Q_l − q_k of the control points (Y_0 = 0), node states

    q_i = q_k + Σ_l A_il Y_l,     v_i = (1/h) Σ_l B_il Y_l,     p_i = ∂L/∂v,   f_i = ∂L/∂q + F   at (t_i, q_i, v_i)

the discrete Euler–Lagrange equations for Y_1 … Y_s and the impulses Λ_j = h w_j λ_j, j = 0 … s−1, are

    R_j = [j = 0] p_k + Σ_i b_i (h A_ij f_i + B_ij p_i) + G(Q_j)ᵀ Λ_j = 0,     g(Q_l) = 0,  l = 1 … s.

Their sum gives the discrete momentum p_{k+1} = p_k + h Σ_i b_i f_i + Σ_j G_jᵀ Λ_j. The momentum given out is p + Gᵀ(Q_s) μ, with
μ such that G v + ∂g/∂t = 0 at the step's end; the motion does not depend on μ, which would be a part of the next step's Λ_0.

Schemes of Gauss have velocities at the nodes for unknowns instead, where there are no constraints: `velocities`.

A step starts from a guess (`predictor`), and repeats corrections of it (`iterations`), that of the `simplified` iteration or that
of `newton`, of the residual of these equations (`step_equations`), until the error left is below round-off. Forces and G are then
evaluated once more: in those from before the last correction, the error before it would move p, which has the same sign at every
step. So has the error left in impulses of constraints, which the residual found then corrects in schemes of one control point;
in others momenta drifted 3 to 5 times less, and the correction takes as long as 6 % of a step, so that only the impulses of
unit quaternions are corrected, which takes next to no time.

The rounding errors of the sums q and p are kept (`compensated`), so that round-off grows as a random walk; whole turns of
angles are counted apart, so that their rounding does not grow with their number.

Units, with u the unit of a coordinate: t, t0, h [s]; q, out_q, all_q [u]; p, out_p, all_p [J s/u]; status, done [1].

Sources: Marsden & West 2001 (Galerkin variational integrators); Hairer, McLachlan & Razakarivony 2008 (round-off).
"""

import math

import numpy as np
from numba import types

from mbvi.kernels.algebra.compensated import add_compensated
from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.compiler.late import late_kernel
from mbvi.kernels.galerkin.equations import (
    add_constraint_force,
    add_force_of_rounding,
    fill_residual,
    has_saddle,
    place_size,
)
from mbvi.kernels.galerkin.iterations import forget_angles, solve_step
from mbvi.kernels.galerkin.predictor import (
    fill_ahead,
    fill_free_flight,
    fill_start,
    fill_start_velocity,
    is_far_from_start,
    update_history,
)
from mbvi.kernels.galerkin.simplified import correct_impulses, correct_quaternion_impulses
from mbvi.kernels.galerkin.velocities import fill_impulse, increment
from mbvi.kernels.galerkin.workspace import (
    AVAILABLE,
    FIRST_ROW,
    HAS_JACOBIAN,
    IS_FACTORED,
    IS_FLIGHT,
    LAST,
    MODE,
    MOVES_AHEAD,
    ONE,
    ORDER,
    PLACE_SIZE,
    SIMPLIFIED,
    WORST,
    copy,
)
from mbvi.kernels.layout import NOT_CONVERGED, OK, SINGULAR
from mbvi.kernels.mechanics.lagrangian import quaternion_place


@kernel
def finish_step(system, scheme, space, h):
    """q and p at the step's end from the solved unknowns.

    p is the discrete momentum D_2 L_d, without the constraint force at the step's end: that is part of the next step's Λ_0.
    """
    n, s = system.n, scheme.K.shape[0]
    z, impulse = space.z, space.impulse
    if space.has_velocities == 1:
        fill_impulse(space, h)
    for j in range(s):
        add_constraint_force(impulse, FIRST_ROW, ONE, space.G[j], system, z, space.behind + j, s)
    add_force_of_rounding(space.p_low, system, scheme, space, h)
    for a in range(n):
        add_compensated(space.p, space.p_low, a, impulse[a])
        move = increment(space, a, h) if space.has_velocities == 1 else z[a * s + s - 1]
        add_compensated(space.q, space.q_low, a, move)
        if system.periodic[a] == 1 and abs(space.q[a]) > math.pi:
            turns = round(space.q[a] / (2.0 * math.pi))
            space.turns[a] += turns
            space.q[a] -= turns * (2.0 * math.pi)
    space.count[IS_FACTORED] = space.count[HAS_JACOBIAN] = 0


@kernel
def project_quaternions(p, system, space):
    """What `fill_projected_momentum` does for an open tree: no momentum along a quaternion a, p − a aᵀp/|a|².

    p         (n,)    in and out
    """
    for b in range(system.k):
        first = quaternion_place(system, b)
        along = size = 0.0
        for a in range(first, first + 4):
            along += space.q[a] * p[a]
            size += space.q[a] * space.q[a]
        for a in range(first, first + 4):
            p[a] -= space.q[a] * (along / size)


@late_kernel(types.boolean)
def fill_projected_momentum(system, scheme, work, space, t, h):
    """The momentum that satisfies the hidden constraint G v + ∂g/∂t = 0, p − Gᵀμ, into space.node_p; False where singular."""
    if not fill_start_velocity(system, scheme, work, space, t, h):
        return False
    copy(space.node_p, space.p)
    for b in range(system.k):
        work.solution[system.n + b] *= -1.0
    add_constraint_force(space.node_p, FIRST_ROW, ONE, work.G, system, work.solution, system.n, ONE)
    return True


@kernel
def advance(system, scheme, work, space, t, h, r):
    """Substep r of a step, from space.q, space.p; a status.

    The step equations may have several solutions when the step is long. That which the extrapolation leads to is taken only
    if the extrapolation was close to it; otherwise that which free flight leads to.
    """
    status = NOT_CONVERGED
    work.step[0], work.step[1] = t, t + h
    history = space.history[r]
    space.measure[PLACE_SIZE] = place_size(system, space) / (abs(h) if space.has_velocities == 1 else 1.0)
    if space.is_polynomial == 1 and history[AVAILABLE] >= 1:
        fill_ahead(system, scheme, space, r)
    forget_angles(space)
    for attempt in range(2):
        is_flight = attempt == 1 or (history[ORDER] < 0 and history[MOVES_AHEAD] == 0)
        if is_flight:
            fill_free_flight(system, scheme, work, space, t, h)
        else:
            fill_start(system, scheme, space, r)
        copy(space.start, space.z)
        space.count[IS_FLIGHT] = is_flight
        status = solve_step(system, scheme, work, space, t, h)
        if is_flight or (status == OK and not is_far_from_start(space)):
            break
    if status == OK:
        forget_angles(space)
        fill_residual(system, scheme, work, space, t, h)
        if has_saddle(system) and scheme.K.shape[0] == 1 and space.count[MODE] == SIMPLIFIED:
            correct_impulses(system, scheme, work, space, t, h)
        else:
            correct_quaternion_impulses(system, scheme, space)
        finish_step(system, scheme, space, h)
    update_history(space, r)
    space.count[WORST] = max(space.count[WORST], space.count[LAST])
    return status


@kernel
def store_state(q, p, system, space):
    """The state of the workspace, with all turns, into q and p.

    q, p      (n,)    out
    """
    for a in range(system.n):
        q[a] = space.q[a] + space.turns[a] * (2.0 * math.pi)
    copy(p, space.p)


@kernel
def advance_steps(system, scheme, work, space, t0, h, first, last, every, out_q, out_p, all_q, all_p):
    """Advance from step `first` to step `last`, storing every `every`-th state; (status, steps done).

    t0, h         start time and step [s]
    out_q, out_p  (stored, n)   out: states after those steps whose number is a multiple of `every`
    all_q, all_p  (steps, n)    out: states after all steps, momenta as the steps leave them; (0, n) where they are not wanted
    """
    stored = 0
    for step in range(first, last):
        t = t0 + step * h
        done = 0.0
        for r in range(scheme.fractions.shape[0]):
            part = scheme.fractions[r] * h
            status = advance(system, scheme, work, space, t + done, part, r)
            if status != OK:
                return status, step
            done += part
        if all_q.shape[0] > 0:
            store_state(all_q[step - first], all_p[step - first], system, space)
        if (step + 1) % every == 0:
            store_state(out_q[stored], out_p[stored], system, space)
            if system.is_open == 1 and scheme.is_projected == 1:
                project_quaternions(out_p[stored], system, space)
            elif system.k > 0 and scheme.is_projected == 1:
                if not fill_projected_momentum(system, scheme, work, space, t0 + (step + 1) * h, h):
                    return SINGULAR, step
                copy(out_p[stored], space.node_p)
            stored += 1
    return OK, last


@kernel
def begin(space, renewed, q, p):
    """Make workspaces as new, and let them begin from q, p (n,)."""
    for own, new in renewed:
        for i in range(new.shape[0]):
            own[i] = new[i]
    copy(space.q, q)
    copy(space.p, p)


@kernel
def advance_runs(
    system, scheme, work, space, t0, h, first, last, every, out_q, out_p, all_q, all_p, renewed, q, p, status, done
):
    """`advance_steps` of several runs, one after another, each from its own state in workspaces that are as new.

    out_q, out_p   (runs, stored, n)   out
    renewed        pairs of memory and what it held when it was new
    q, p           (runs, n)           where they begin; (0, n) for one run that goes on from where the workspace is
    all_q, all_p   (steps, n)          out: of one run; (0, n) of several
    status, done   (runs,)             out: how each ended (OK, NOT_CONVERGED, SINGULAR, NOT_FINITE), and after how many steps
    """
    for i in range(status.shape[0]):
        if q.shape[0] > 0:
            begin(space, renewed, q[i], p[i])
        status[i], done[i] = advance_steps(
            system, scheme, work, space, t0, h, first, last, every, out_q[i], out_p[i], all_q, all_p
        )


NOTHING = ((np.empty(0, np.uint8),) * 2,) * 2


def run(system, scheme, work, space, t0, h, first, last, every, out_q, out_p, all_q, all_p):
    """`advance_steps` as Python calls it: go on from where the workspace is; (status, steps done)."""
    runs, ends = (out_q[None], out_p[None], all_q, all_p), np.zeros((2, 1), np.int64)
    advance_runs(
        system, scheme, work, space, t0, h, first, last, every, *runs, NOTHING, *np.empty((2, 0, system.n)), *ends
    )
    return int(ends[0, 0]), int(ends[1, 0])


def run_all(system, scheme, work, space, h, steps, every, renewed, q, p):
    """Runs of so many steps from t = 0 and from each of many states q, p (runs, n), in workspaces that are as new.

    renewed   pairs of memory and what it held when it was new

    Returns the states q, p (runs, stored, n) after every so many steps, the first among them, and the status (runs,) of each.
    """
    out, others = np.empty((2, len(q), steps // every, system.n)), np.empty((2, 0, system.n))
    ends = np.zeros((2, len(q)), np.int64)
    advance_runs(system, scheme, work, space, 0.0, h, 0, steps, every, *out, *others, renewed, q, p, *ends)
    return *np.concatenate([np.stack([q, p])[:, :, None], out], axis=2), ends[0]
