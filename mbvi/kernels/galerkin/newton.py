"""The correction of Newton's iteration, from the whole Jacobian of the equations of a step in Y/h and Λ:

    h ∂R_j/∂Y_l = Σ_i b_i (B_ij B_il ∂p/∂v + h B_ij A_il ∂p/∂q + h A_ij B_il ∂f/∂v + h² A_ij A_il ∂f/∂q)
                  + h [j = l] ∂²(Λ_jᵀ g)/∂q²,

bordered by G(Q_j)ᵀ and G(Q_l). Few coordinates with constraints are solved for by coordinate partitioning
(`partition`), others by elimination along the graph (`saddle`). Arrays are those of `workspace.Space`, whose functions
give their shapes.

Units, with u the unit of a coordinate: t, h [s]; q, z [u]; J [J s²/u²], with the borders G [unit of g/u].

Source: the derivatives of the equations at the head of `steps` (Marsden & West 2001, section 2.6).
"""

from numba import types

from mbvi.kernels.algebra.partition import (
    add_blocks,
    add_diagonal,
    choose_pivots,
    fill_borders,
    invert_borders,
    reduce_blocks,
    solve_reduced,
)
from mbvi.kernels.algebra.saddle import JACOBIAN, ONE_SIDE, add_jacobian, add_stages, eliminate, solve_saddle
from mbvi.kernels.compiler.decorators import copied_kernel, kernel
from mbvi.kernels.compiler.lanes import WIDTH
from mbvi.kernels.compiler.late import late_kernel
from mbvi.kernels.compiler.packed import call
from mbvi.kernels.galerkin.equations import fill_control_point, fill_middle, fill_nodes, fill_points
from mbvi.kernels.galerkin.velocities import fill_step_residual, put_step_correction
from mbvi.kernels.galerkin.workspace import FACTOR_STEP, FIRST_ROW, NEWTON_FACTORS, NO_STAGES, ONE, SEVERAL
from mbvi.kernels.layout import ENTRIES, FIRST_ENTRY
from mbvi.kernels.mechanics.constraints import add_own_curvature, add_tree_curvature, fill_constraints
from mbvi.kernels.mechanics.lagrangian import fill_hessian, fill_hessians
from mbvi.kernels.mechanics.rolling import fill_touch_borders


@copied_kernel
def fill_hessians_at_nodes(system, work, space, first, end, s, h):
    """Second derivatives at up to four quadrature nodes at once, from node `first` to node `end` − 1, into space."""
    fill_nodes(space, first // WIDTH, s, h)
    fill_hessians(
        space.Lvv, space.Lvq, space.Kqv, space.Kqq, system, work, space.lane_work, space.t[first:end], space.lane_q,
        space.lane_v,
    )  # fmt: skip


@late_kernel(types.boolean)
def factor_partitioned(system, scheme, work, space, t, h):
    """What `factor_newton` does, by coordinate partitioning; returns False where `factor_newton` has to do it.

    Poses and columns at the control points are those of the residual, until second derivatives overwrite them.
    """
    m, n, s, points = scheme.b.shape[0], system.n, scheme.K.shape[0], space.lane_work
    for a in range(system.nodes.shape[0]):
        if system.redundant[a] != 0:
            return False
    fill_borders(space, system, s)
    if not (choose_pivots(space, n, s) and invert_borders(space, n)):
        return False
    space.curvatures[:] = 0.0
    add_tree_curvature(
        space.curvatures, system, points, points.q, points.impulse, h, NO_STAGES, FIRST_ROW, FIRST_ROW, ONE
    )
    space.blocks[:] = 0.0
    for i in range(m):
        space.t[i] = t + scheme.c[i] * h
    for first in range(0, m, WIDTH):
        end = min(first + WIDTH, m)
        fill_hessians_at_nodes(system, work, space, first, end, s, h)
        A, B = scheme.A[first:end], scheme.B[first:end]
        A_rows, B_rows = space.A_rows[first:end], space.B_rows[first:end]
        add_blocks(space, system, A, B, A_rows, B_rows, scheme.b[first:end], h)
    add_diagonal(space, n, s)
    if not reduce_blocks(space, n, s):
        return False
    space.count[NEWTON_FACTORS] += 1
    space.measure[FACTOR_STEP] = h
    return True


@late_kernel()
def solve_partitioned(system, scheme, work, space, t, h):
    """What `solve_newton` does, by the factors of `factor_partitioned`."""
    solve_reduced(space, system, scheme.K.shape[0], h)


@late_kernel(types.boolean)
def factor_newton(system, scheme, work, space, t, h):
    """Assemble and factor the whole Jacobian, with respect to Y/h and Λ, at space.z, where the residual was computed.

    Its borders are G(Q_j)ᵀ and G(Q_l), and the curvature h ∂²(Λ_jᵀ g)/∂q² is part of the diagonal blocks. Returns 0.0
    where the Jacobian is singular.
    """
    m, s = scheme.b.shape[0], scheme.K.shape[0]
    J = space.J
    J[:] = 0.0
    for i in range(m):
        space.t[i] = t + scheme.c[i] * h
    for first in range(0, m, space.hessian_lanes):
        end = min(first + space.hessian_lanes, m)
        if space.hessian_lanes == 1:
            fill_nodes(space, first // WIDTH, s, h)
            for a in range(system.n):
                space.node_q[a], space.node_v[a] = space.lane_q[a, first % WIDTH], space.lane_v[a, first % WIDTH]
            fill_hessian(
                space.Lvv, space.Lvq, space.Kqv, space.Kqq, system, work, space.t[first], space.node_q, space.node_v
            )
        else:
            fill_hessians_at_nodes(system, work, space, first, end, s, h)
        add_stages(
            J, system, scheme.A[first:end], scheme.B[first:end], space.A_points[first:end], space.B_points[first:end],
            scheme.b[first:end], h, space.Lvv, space.Lvq, space.Kqv, space.Kqq, space.hessian_lanes, space.sums,
        )  # fmt: skip
    if system.k > 0:
        add_curvatures(J, system, scheme, work, space, t, h)
    space.count[NEWTON_FACTORS] += 1
    space.measure[FACTOR_STEP] = h
    for a in range(system.nodes.shape[0]):
        for j in range(s):
            add_jacobian(J, space.G[j], space.G[j + 1], system, JACOBIAN, s, j, j, a)
        if not eliminate(
            J, space.products, space.scales, space.pivots, space.above, space.ranks, system, JACOBIAN, s, a
        ):
            return False
    return True


@kernel
def add_curvatures(J, system, scheme, work, space, t, h):
    """Add the curvatures of the constraints at the control points between a step's ends.

    G(Q_s) is filled, unless it is.

    J         (s² matrix_size,)    in and out
    """
    s = scheme.K.shape[0]
    if s < SEVERAL or system.constraint != 0 or system.touches.shape[0] + system.expressions.shape[0] > 0:
        fill_control_point(work, space, s, s)
        fill_constraints(space.g, space.G[s], space.g_t, system, work, t + scheme.d[s] * h, space.node_q)
    if system.rates.shape[0] > 0:
        fill_rate_borders(system, work, space, t, h)
    if system.constraint == 0:
        for c in range(space.points.shape[0] if s > 1 else 0):
            fill_points(system, scheme, work, space, c, t, h)
            at_points, first = space.lane_work, c * WIDTH
            count = min(WIDTH, s - 1 - first)
            add_tree_curvature(J, system, at_points, at_points.q, at_points.impulse, h, s, first + 1, first, count)
        return
    for j in range(1, s):
        fill_control_point(work, space, j, s)
        for b in range(system.k):
            space.point_impulses[b] = space.z[space.behind + b * s + j]
        add_own_curvature(J, system, work, t + scheme.d[j] * h, space.node_q, space.point_impulses, h, s, j, j - 1)


@late_kernel()
def fill_rate_borders(system, work, space, t, h):
    """The derivatives A + ½ ∂(A Y)/∂q at the middle of what constraints on velocities hold, into their entries of G(Q_s)."""
    fill_middle(system, work, space)
    fill_constraints(work.g, work.G, work.g_t, system, work, t + 0.5 * h, space.node_q)
    if system.constraint == 0:
        fill_touch_borders(work.G, system, work, space.node_q, space.z)
    for r in range(system.rates.shape[0]):
        b = system.rates[r]
        first, count = system.constraints[b, FIRST_ENTRY], system.constraints[b, ENTRIES]
        if system.constraint != 0:
            add_own_border(work.G, system, work, t + 0.5 * h, space.node_q, space.z, b)
        for e in range(first, first + count):
            space.G[1, e] = work.G[e]


@kernel
def add_own_border(G, system, work, t, q, z, b):
    """Add ½ ∂(A z)/∂q of a user's constraint b on velocities to its entries.

    G         (E,)    in and out
    q, z      (n,)    z: or longer
    """
    n, first = system.n, system.constraints[b, FIRST_ENTRY]
    work.curvature[:] = 0.0
    work.unit[b] = 1.0
    call(system.curvature, t, (q, work.unit, work.curvature))
    work.unit[b] = 0.0
    for j in range(n):
        for k in range(n):
            G[first + k] += 0.5 * work.curvature[j * n + k] * z[j]


@late_kernel()
def solve_newton(system, scheme, work, space, t, h):
    """delta = −J⁻¹ R, in increments and impulses."""
    s, behind, increments = scheme.K.shape[0], space.behind, scheme.K.shape[0] * system.n
    y, places, delta = space.eliminated, space.places, space.delta
    if space.has_velocities == 1:
        fill_step_residual(scheme, space)
    else:
        for a in range(increments):
            space.permuted[places[a]] = space.R[a]
    for b in range(s * system.k):
        space.permuted[places[increments + b]] = space.R[behind + b]
    solve_saddle(y, space.permuted, space.J, system, JACOBIAN, s, ONE_SIDE)
    if space.has_velocities == 1:
        put_step_correction(scheme, space)
        return
    for a in range(increments):
        delta[a] = -h * y[places[a]]
    for b in range(s * system.k):
        delta[behind + b] = -y[places[increments + b]]
