"""The start of the iteration of a step: an extrapolation from the steps before, or free flight.

The extrapolation is that of the unknowns themselves as polynomials in k, of the order that would have served best on
the last step, which is best where steps are short, or that in time along the polynomials of the last two steps, which
is best where they are long. Free flight is taken where none would have served.

Units: t, h [s]; row, delta [mixed], which are increments [u], u the unit of a coordinate, or velocities [u/s], and impulses
[J s/unit of g].

Source: Hairer, Lubich & Wanner 2006, section VIII.6.1 (starting approximations).
"""

from numba import types

from mbvi.kernels.algebra.dense import invert, multiply_symmetric
from mbvi.kernels.compiler.decorators import copied_kernel, kernel
from mbvi.kernels.compiler.lanes import WIDTH, lanes, larger, put_lanes, widest
from mbvi.kernels.compiler.late import late_kernel
from mbvi.kernels.galerkin.simplified import factor_start
from mbvi.kernels.galerkin.tolerances import FADING, FAR, MAX_AGE
from mbvi.kernels.galerkin.velocities import are_far_velocities
from mbvi.kernels.galerkin.workspace import (
    AGE,
    ARTICULATED_FROM,
    AVAILABLE,
    FIRST_ROW,
    MAX_ORDER,
    MOVES_AHEAD,
    ORDER,
    PUSHES_AHEAD,
    copy,
    largest,
    largest_difference,
)
from mbvi.kernels.mechanics.lagrangian import fill_angles, solve_velocity_saddle, solve_velocity_tree
from mbvi.kernels.mechanics.planar_tree import fill_masses_planar


@kernel
def is_far_from_start(space):
    """Whether the increments have moved away from their start by more than a part of the largest increment."""
    if space.has_velocities == 1:
        return are_far_velocities(space, space.tolerances[FAR])
    miss = largest_difference(space.z, space.start, FIRST_ROW, space.increment_rows)
    return miss > space.tolerances[FAR] * largest(space.z, FIRST_ROW, space.increment_rows)


@kernel
def fill_ahead(system, scheme, space, r):
    """Extrapolation of the unknowns of substep r along the polynomials of the last two steps, into space.ahead."""
    s, last, change, out = scheme.K.shape[0], space.table[r, 0], space.table[r, 1], space.ahead
    for section in range(2):
        both, before = lanes(space.ahead_both[section]), lanes(space.ahead_before[section])
        first, count = (0, system.n) if section == 0 else (space.behind, system.k)
        stride = space.points.shape[0] * WIDTH if space.has_velocities == 1 else s
        for at in range(first, first + count * stride, stride):
            for c in range(space.points.shape[0]):
                value = 0.0 * both[0, c]
                for m in range(s):
                    value = value + (both[m, c] * last[at + m] - before[m, c] * change[at + m])
                put_lanes(out, at + c * WIDTH, value)


@kernel
def fill_start(system, scheme, space, r):
    """The start of substep r into space.z: an extrapolation of the unknowns of the last steps.

    Where constraints are redundant, no equation determines a part of their impulses. Extrapolation would let that part
    grow, and so would the rounding errors that remain of it when other rows are left out: they start from a part of
    those of the last step.
    """
    s, history = scheme.K.shape[0], space.history[r]
    behind, z = space.behind // WIDTH, lanes(space.z)
    copy(space.z, space.table[r, 0])
    for i in range(1, history[ORDER] + 1):
        row = lanes(space.table[r, i])
        for a in range(space.rows):
            z[a] = z[a] + row[a]
    if history[MOVES_AHEAD] == 1:
        for a in range(space.increment_rows):
            z[a] = lanes(space.ahead)[a]
    if history[PUSHES_AHEAD] == 1:
        for a in range(behind, space.rows):
            z[a] = lanes(space.ahead)[a]
    for b in range(system.k):
        node = system.row_nodes[b, 0]
        if node >= 0 and system.reference[node] > 0.0 and system.redundant[node] > 0:
            at = space.behind + b * s
            for a in range(at, at + s):
                space.z[a] = space.tolerances[FADING] * space.table[r, 0, a]


@kernel
def fill_free_flight(system, scheme, work, space, t, h):
    """A start without a past: Y_l = d_l h v, no impulses; at rest where M does not determine the velocity."""
    n, s = system.n, scheme.K.shape[0]
    if system.is_planar == 1 and n < ARTICULATED_FROM and system.k == 0:
        fill_angles(work.angles, system, space.q)
        fill_masses_planar(space.M, work.inertia, work.angles, system)
        is_regular = invert(space.M, space.pivot_rows, n)
        multiply_symmetric(work.solution, space.M, space.p)
    elif system.is_open == 1:
        is_regular = solve_velocity_tree(system, work, space.q, space.p)
    else:
        is_regular = fill_start_velocity(system, scheme, work, space, t, h)
    if not is_regular:
        work.solution[:] = 0.0
    if space.has_velocities == 1:
        z, is_point, groups = lanes(space.z), lanes(space.is_point), space.points.shape[0]
        for a in range(n):
            for c in range(groups):
                z[a * groups + c] = work.solution[a] * is_point[c]
    else:
        space.z[:] = 0.0
        for a in range(n):
            for l in range(s):
                space.z[a * s + l] = scheme.d[l + 1] * h * work.solution[a]
    space.count[AGE] = int(space.tolerances[MAX_AGE])


@copied_kernel
def take_difference(row, delta, first, end):
    """Replace a row of differences by new ones, and these by those of the next order; returns the largest new one.

    row       (N,)    in and out: lanes first … end − 1 become those of delta
    delta     (N,)    in and out: the same lanes become the differences delta − row
    """
    if first >= end:
        return 0.0
    rows, new = lanes(row), lanes(delta)
    size = 0.0 * new[0]
    for a in range(first, end):
        kept = new[a]
        new[a] = kept - rows[a]
        rows[a] = kept
        size = larger(size, kept)
    return widest(size)


@kernel
def update_history(space, r):
    """Backward differences of the unknowns of substep r, and the extrapolation that was best for them.

    table[r, i] = ∇ⁱ z; the extrapolation Σ_{i ≤ order} ∇ⁱ of the step before missed by ∇^{order+1}, that along
    polynomials by z − space.ahead. Increments, which are the first unknowns, and impulses may each take the latter; at
    first both do, where two steps are alike.
    """
    history, table, z = space.history[r], space.table[r], space.z
    increments, behind, end = space.increment_rows, space.behind // WIDTH, space.rows
    had = history[AVAILABLE]
    available = min(had + 1, MAX_ORDER + 1, history[ORDER] + 3)
    moved = pushed = 0.0
    copy(space.delta, z)
    has_ahead = space.is_polynomial == 1 and had >= 1
    if has_ahead:
        moved = largest_difference(z, space.ahead, FIRST_ROW, increments)
        pushed = largest_difference(z, space.ahead, behind, end)
    best, best_order = (
        space.tolerances[FAR] * largest(z, FIRST_ROW, end),
        -1,
    )  # an extrapolation that misses by more is not used
    best_move = best_push = best
    for i in range(available + 1):
        move = take_difference(table[i], space.delta, FIRST_ROW, increments)
        push = take_difference(table[i], space.delta, behind, end)
        if i > 0 and max(move, push) < best:
            best, best_move, best_push = max(move, push), move, push
            best_order = i - 1
    is_first = space.is_polynomial == 1 and had == 0 and best_order >= 0  # not yet compared
    history[AVAILABLE], history[ORDER] = available, best_order
    history[MOVES_AHEAD] = is_first or (has_ahead and moved < best_move)
    history[PUSHES_AHEAD] = is_first or (has_ahead and pushed < best_push)


@late_kernel(types.boolean)
def fill_start_velocity(system, scheme, work, space, t, h):
    """v and μ of the momentum space.p on the constraints into work.solution; returns False where they are not determined."""
    if not factor_start(system, scheme, work, space, t, h):
        return False
    solve_velocity_saddle(system, work, t, space.q, space.p)
    return True
