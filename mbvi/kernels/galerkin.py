"""All Galerkin variational schemes in one kernel: residual, Jacobian, Newton's method, one step, the loop over steps.

On one step of size h, with increments Y_l = Q_l − q_k of the control points (Y_0 = 0), node states

    q_i = q_k + Σ_l A_il Y_l,     v_i = (1/h) Σ_l B_il Y_l,     p_i = ∂L/∂v,   f_i = ∂L/∂q + F   at (t_i, q_i, v_i)

the discrete Euler–Lagrange equations for Y_1 … Y_s and the impulses Λ_j = h w_j λ_j, j = 0 … s−1, are

    R_j = [j = 0] p_k + Σ_i b_i (h A_ij f_i + B_ij p_i) + G(Q_j)ᵀ Λ_j = 0,     g(Q_l) = 0,  l = 1 … s.

Their sum gives the discrete momentum p_{k+1} = p_k + h Σ_i b_i f_i + Σ_j G_jᵀ Λ_j. The momentum given out is p + Gᵀ(Q_s) μ, with
μ such that G v + ∂g/∂t = 0 at the step's end; the motion does not depend on μ, which would be a part of the next step's Λ_0.

Two iterations solve them. The simplified one, Y ← Y − h (K⁻¹ ⊗ M⁻¹) R with M factored at the predicted middle, is cheap and
linear. With constraints it takes M and G of one place for all control points, so that one factor, of a single stage, serves all s
of them: that of the predicted middle where n + k is small and there are no loops, whose inverse is formed and applied to four
control points at once, else that of the step's start, which serves the momentum given out as well:

    M δY_l/h + Gᵀ μ_l = −Σ_j K⁻¹_lj R_j,     G δY_l/h = −g(Q_l)/h,     δΛ_j = Σ_l K_jl μ_l.

In an open tree, whose only constraints are those of unit quaternions, each is solved for by itself (`articulated`): with a_j that
of Q_j, δΛ_j = −a_jᵀR_j/|a_j|², the corrections of quaternions are turns of the a_l, and M and K act on torques and turns.

Schemes of Gauss have velocities at the nodes for unknowns instead, where there are no constraints: `velocities`.

Newton's iteration uses the whole Jacobian, of few coordinates with constraints by coordinate partitioning (`partition`), else by
elimination along the graph (`saddle`). Both continue until the error left is below round-off. The start is the polynomial
extrapolation in k of the unknowns themselves, of the order that would have served best on the last step, which is best where
steps are short, or that in time through the last control points, which is best where they are long; or free flight where
none would have served.

Increment Y_l of coordinate a stands at a s + l − 1 of the unknowns, and impulse Λ_j of constraint b at b s + j behind them, from
`Space.behind` on; residuals likewise. Four numbers are read and written at once (`lanes`); each part ends with zeros.

q and p are summed with compensation (Kahan), so that round-off grows as a random walk; whole turns of angles are counted
apart, so that their rounding does not grow with their number.

Sources: Marsden & West 2001 (Galerkin variational integrators); Hairer, McLachlan & Razakarivony 2008 (round-off).
"""

import math

import numpy as np

from mbvi.kernels.articulated import SOLUTION_WIDTH, factor_articulated, solve_articulated, to_rate, to_torque
from mbvi.kernels.compensated import add_compensated
from mbvi.kernels.constraints import (
    add_own_curvature,
    add_tree_curvature,
    fill_constraint_geometry,
    fill_constraints,
    fill_functions_at_points,
    fill_rows,
    fill_values,
)
from mbvi.kernels.dense import invert, multiply_symmetric
from mbvi.kernels.lagrangian import (
    Work,
    add_forces,
    factor_mass_saddle,
    fill_angles,
    fill_gradient,
    fill_gradients,
    fill_hessian,
    fill_hessians,
    fill_mass_matrix,
    has_forces,
    make_lane_work,
    make_wide_work,
    quaternion_place,
    solve_mass_saddle,
    solve_velocity_saddle,
    solve_velocity_tree,
)
from mbvi.kernels.lanes import (
    WIDE,
    WIDTH,
    first_halves,
    lanes,
    lanes_at,
    larger,
    part,
    put_lanes,
    total,
    wide_lanes,
    widest,
)
from mbvi.kernels.late import late_kernel
from mbvi.kernels.layout import (
    ENTRIES,
    FIRST_ENTRY,
    NODE_COORDINATES,
    NODE_LANES,
    NODE_ROWS,
    NODE_START,
    NOT_CONVERGED,
    NOT_FINITE,
    OK,
    SINGULAR,
    Scheme,
    System,
    copied_kernel,
    inlined_kernel,
    kernel,
    solver_kernel,
)
from mbvi.kernels.packed import Packed, call
from mbvi.kernels.partition import (
    add_blocks,
    add_diagonal,
    choose_pivots,
    fill_borders,
    invert_borders,
    reduce_blocks,
    solve_reduced,
)
from mbvi.kernels.planar import fill_directions, fill_gradient_planar, fill_masses_planar, turn_directions
from mbvi.kernels.saddle import (
    JACOBIAN,
    MASS,
    ONE_SIDE,
    ONE_STAGE,
    UNCACHED,
    add_jacobian,
    add_stages,
    eliminate,
    products_size,
    scales_size,
    solve_saddle,
)
from mbvi.kernels.sines import ANGLE_WIDTH, KNOWN
from mbvi.kernels.tree import SWEEP_WIDTH, fill_cosines, fill_gradient_tree, turn_cosines
from mbvi.kernels.velocities import (
    are_far_velocities,
    factor_by_fours,
    factor_eight,
    fill_impulse,
    fill_step_residual,
    fill_velocity_nodes,
    fill_velocity_residual,
    increment,
    put_at_nodes,
    put_step_correction,
    solve_velocities,
    solve_with_derivatives,
)

EPS = 2.220446049250313e-16
MAX_ORDER = 8  # highest order of the extrapolation that starts a step
BELOW_ROUNDING = (
    1e-4  # the error left by the iteration, in units of round-off: a larger one of constant sign would drift
)
MAX_ITERATIONS = 50
MAX_HALVINGS = 12
GROWING = 4.0  # what Newton's contraction may grow by from one iteration to the next
STEADY, NOISIEST, FALLING = 8.0, 100.0, 0.8  # see may_fall
MAX_STALLS, SMALL = 3, 1e-8  # so many small corrections that do not shrink are the rounding of the forces themselves
SHRINKING = 0.3  # ratio of corrections below which an iteration converges, whatever residuals do
WELL = 0.02  # contraction up to which Broyden's updates of it cost more than they gain, where it is Newton's but for a square
ASTRAY = 0.1  # relative correction from which second derivatives were those of places too far from the solution
CLOSER = 0.3  # part of it from which on they are formed anew
CONVERGING = 0.1  # ratio of residuals below which it converges, whatever corrections do: noise wavers by less
PATIENCE = 2  # slow iterations in a row that the simplified iteration may make
MAX_UPDATES = 5  # Broyden updates before they begin anew
ARTICULATED_FROM = 12  # coordinates from which the articulated-body recursion is faster than a dense factor
SMALL_SADDLE = 16  # coordinates and constraints, without loops, up to which the inverse of M and G is formed
PARTITIONED = 16  # coordinates and constraints up to which Newton's direction is found by coordinate partitioning
MAX_AGE = 20  # steps that one factor may serve
SERVED = (
    2  # steps that one serves at least if it contracts, of schemes with one control point, whose iterations are cheap
)
STEPS_ANEW = 16  # steps that begin with a new Jacobian after one where that of the step before had to be formed anew
FAR = 0.1  # distance of a solution from its start, relative to its size, from which the start is not trusted
BY_PLACE = (
    0.05  # part of what the rounding of positions in g would move momenta by that Newton's Jacobian, if old, leaves
)
HELD = 1e-9  # largest |g|, relative to the coordinates, before the last correction: rows left out may contradict others
LEFT = 1e-3  # error that the simplified iteration may leave with constraints, relative to a correction that is rounding
CLOSE = 1e-11  # expected correction, relative, from which on all angles are found anew, lest their rounding drifts
ROUGH = 30.0  # roundings of the residual below which a correction is noise in part, and no longer tells of the Jacobian
ROUGH_CORRECTIONS = 2  # such corrections that a step of an open tree ends with: the first leaves an error of one sign
MORE = 2  # iterations that it may add for that to those which end in rounding
NOISE = 100.0  # roundings of the residual below which corrections may be those of the rounding of positions
FADING = 0.999  # part of the impulses of redundant constraints that the next step starts with (they grew by 5e-5)
SEVERAL = 3  # control points from which their constraints are evaluated four at once
FIRST_RETRY, LAST_RETRY = 4, 64  # steps with Newton's iteration after which the simplified one is tried again
SIMPLIFIED, NEWTON = 0, 1
FIRST_ROW, ONE, NO_STAGES = np.int64(0), np.int64(1), np.int64(0)  # numba would compile what takes literals once more

# Columns of Space.count: totals of a run, then what the solver remembers from step to step.
ITERATIONS, SIMPLIFIED_FACTORS, NEWTON_FACTORS, WORST, MODE, AGE, LAST, SINCE = 0, 1, 2, 3, 4, 5, 6, 7
RETRY, IS_FACTORED, HAS_JACOBIAN, ANEW, IS_REDUCED = 8, 9, 10, 11, 12
# Columns of Space.history: how many differences are known, the order of their extrapolation that served best on the last step
# (-1: none), and whether that along the polynomials of the last steps served better, for increments and for impulses.
AVAILABLE, ORDER, MOVES_AHEAD, PUSHES_AHEAD = 0, 1, 2, 3
# Columns of Space.measure: contraction of either iteration, residual of the last step, step of Newton's last factor,
# largest node momentum or constraint impulse (the size of the terms that cancel in the residual), stiffness (see
# is_below_rounding; with constraints what the increments contract by), residual in units of rounding, largest |g| relative to the
# coordinates, last correction of the increments, relative, size of the coordinates (see place_size).
THETA_SIMPLIFIED, THETA_NEWTON, RESIDUAL, FACTOR_STEP = 0, 1, 2, 3
MOMENTUM_SIZE, STIFFNESS, ROUNDINGS, VIOLATION, CORRECTION, PLACE_SIZE = 4, 5, 6, 7, 8, 9
# Columns of Space.limits: iterations still needed beyond which the simplified iteration gives way to Newton's, and
# beyond which Newton's Jacobian is formed anew; contraction up to which the first needs no more, whatever its correction.
SIMPLIFIED_LIMIT, NEWTON_LIMIT, CONTRACTING = 0, 1, 2


class Space(Packed):
    """What a run overwrites; made once."""


def make_space(system: System, scheme: Scheme) -> Space:
    """Workspace of a run with s (n + k) unknowns per substep."""
    n, k = system.n, system.k
    m, s, r = len(scheme.b), len(scheme.K), len(scheme.fractions)
    room = WIDTH if m > 1 else 0
    behind, increment_rows = with_zeros(n * s, room), -(-n * s // WIDTH)
    N = behind + with_zeros(k * s, room)
    groups = -(-s // WIDTH)  # of control points
    has_velocities = k == 0 and len(scheme.a) > 1
    if has_velocities:
        N = behind = n * groups * WIDTH
        increment_rows = n * groups
    node_groups = -(-m // WIDTH)
    has_wide_nodes = has_velocities and WIDTH < m <= WIDE and system.is_tree == 1
    wide = n if has_wide_nodes else 0
    second, width = system.second_size, WIDTH * int(system.nodes[:, NODE_LANES].max(initial=0))
    entries, size = s * len(system.entries), s * s * system.matrix_size
    is_small = k > 0 and system.is_open == 0 and m > 1 and n + k <= SMALL_SADDLE and not system.reference.any()
    small = n + k if is_small else 0
    used = np.flatnonzero(system.row_nodes[:, 0] >= 0)
    is_partitioned = k > 0 and system.is_open == 0 and system.is_tree == 1 and m > 1 and SEVERAL <= s <= WIDTH
    is_partitioned = is_partitioned and len(used) < n <= PARTITIONED - len(used)
    used = used if is_partitioned else used[:0]
    dependent, free = len(used), n - len(used) if is_partitioned else 0
    few = n if is_partitioned else 0
    is_wide = system.is_tree == 1 and m > 1 and system.second_size < UNCACHED
    hessian_lanes = WIDTH if is_wide else 1
    has_lane_work = is_wide or (system.is_tree == 1 and k > 0 and s > 1)
    has_node_masses = has_velocities and not (system.is_open == 1 and n >= ARTICULATED_FROM)
    has_derivatives = has_node_masses and system.is_tree == 1 and system.second_size < UNCACHED
    by_eights = n * n if has_derivatives and has_wide_nodes else 0
    by_fours = n * n if has_node_masses and not by_eights else 0
    derivatives = by_fours if has_derivatives else 0
    has_series = has_derivatives and (node_groups == 1 or has_wide_nodes)
    first_retry = 0 if has_series else FIRST_RETRY  # what is Newton's but for a square seldom fails twice in a row
    # About [ns], as measured; M⁻¹ times a vector of a tree is a dense product, or the articulated-body recursion.
    evaluation = (30.0 * m + 10.0 * m * s) * n
    is_open = system.is_open == 1 or k == 0
    solution = (0.3 * s * small**2 if is_small else 0.25 * size) + 5.0 * entries
    evaluation += min(2.0 * n, 12.0) * s * n if is_open else solution
    jacobian = m * (150.0 * n + (9.0 + 2.5 * s * s) * second) + 50.0 * entries + 0.1 * s * width * size
    ratio = jacobian / evaluation
    limit = 4.0 * (3.0 + ratio) if is_open else 1.5 * (3.0 + ratio) if is_small else 2.0 + ratio
    a, b = (on_grid(scheme.a), on_grid(scheme.b)) if has_velocities else (scheme.a, scheme.b)
    ahead = scheme.ahead_of_velocities if has_velocities else scheme.ahead
    return Space(
        q=np.zeros(n),
        q_low=np.zeros(n),
        turns=np.zeros(n, np.int64),
        p=np.zeros(n),
        p_low=np.zeros(n),
        z=np.zeros(N),
        z_kept=np.zeros(N),
        start=np.zeros(N),
        delta=np.zeros(N),
        steps=np.zeros((MAX_UPDATES, N)),
        step_products=np.zeros((MAX_UPDATES, MAX_UPDATES)),
        inverse_squares=np.zeros(MAX_UPDATES),
        along=np.zeros(MAX_UPDATES),
        update=np.zeros(MAX_UPDATES),
        R=np.zeros(N),
        points=np.zeros((groups, n, WIDTH)),
        mixed=np.zeros((groups, n, WIDTH)),
        solved=np.zeros((len(system.links), SOLUTION_WIDTH, WIDTH)),
        node_q=np.zeros(n),
        node_v=np.zeros(n),
        node_p=np.zeros(n),
        node_f=np.zeros(n),
        impulse=np.zeros(n),
        lane_q=np.zeros((n, WIDTH)),
        lane_v=np.zeros((n, WIDTH)),
        momenta=np.zeros((node_groups * n, WIDTH)),
        forces=np.zeros((node_groups * n, WIDTH)),
        angles=np.zeros((node_groups, len(system.links), ANGLE_WIDTH, WIDTH)),
        has_velocities=int(has_velocities),
        has_series=int(has_series),
        first_retry=first_retry,
        a_columns=by_points(with_rows_of_zeros(a.T)).ravel(),
        a_rows=by_points(with_rows_of_zeros(a - b[: len(a)])).ravel(),
        has_wide_nodes=int(has_wide_nodes),
        wide_q=np.zeros((wide, WIDE)),
        wide_v=np.zeros((wide, WIDE)),
        wide_angles=np.zeros((len(system.links) if wide else 0, ANGLE_WIDTH, WIDE)),
        wide_masses=np.zeros((by_eights, WIDE)),
        wide_Lvq=np.zeros((by_eights, WIDE)),
        wide_Lqv=np.zeros((by_eights, WIDE)),
        wide_Lqq=np.zeros((by_eights, WIDE)),
        wide_work=make_wide_work(system, by_eights > 0),
        wide_row=np.zeros((len(system.links) if wide else 0, SWEEP_WIDTH, WIDE)),
        b_inverse=by_points(1.0 / b),
        pivot_rows=np.zeros(2 * n * WIDE),
        node_masses=np.zeros((groups, by_fours, WIDTH)),
        node_Lvq=np.zeros((groups, derivatives, WIDTH)),
        node_Lqv=np.zeros((derivatives, WIDTH)),
        node_Lqq=np.zeros((groups, derivatives, WIDTH)),
        moves=np.zeros(N),
        impulses=np.zeros(N),
        A=in_lanes(scheme.A),
        B=in_lanes(scheme.B),
        b=in_lanes(b),
        A_points=by_points(with_rows_of_zeros(scheme.A[:, 1:])),
        B_points=by_points(with_rows_of_zeros(scheme.B[:, 1:])),
        K=by_points(scheme.K.T),
        K_inverse=by_points(scheme.K_inverse.T),
        d=by_points(scheme.d[1:]),
        is_point=by_points(np.ones(s)),
        is_inner=by_points(np.arange(1.0, s + 1) < s),
        ahead_both=by_points(np.moveaxis(ahead[:, :, :s] + ahead[:, :, s:], 1, -1)),
        ahead_before=by_points(np.moveaxis(ahead[:, :, s:], 1, -1)),
        t=np.zeros(m),
        g=np.zeros(k),
        g_t=np.zeros(k),
        G=np.zeros((s + 1, len(system.entries))),
        point_g=np.zeros((groups, k, WIDTH)),
        lane_work=make_lane_work(system, has_lane_work),
        hessian_lanes=hessian_lanes,
        quaternions=np.ones((2, groups, len(system.entries) if is_open else 0, WIDTH)),  # of a_j and of a_l
        point_impulses=np.zeros(k),
        M=np.zeros(system.second_size),
        Lvv=np.zeros(system.second_size * hessian_lanes),
        Lvq=np.zeros(system.second_size * hessian_lanes),
        Kqv=np.zeros(system.second_size * hessian_lanes),
        Kqq=np.zeros(system.second_size * hessian_lanes),
        sums=np.zeros((WIDTH, WIDTH)),
        J=np.zeros(s * s * system.matrix_size),
        pivots=np.zeros((s * width, 2), np.int64),
        above=np.zeros(s * width),
        products=np.zeros(s * s * products_size(system)),
        scales=np.zeros(scales_size(system, s)),
        ranks=np.zeros(len(system.nodes), np.int64),
        places=stage_places(system, s),
        inverse=np.zeros((small, small)),
        small_sides=np.zeros((groups, small, WIDTH)),
        small_solutions=np.zeros((groups, small, WIDTH)),
        is_partitioned=int(is_partitioned),
        used=used,
        row_order=np.zeros(dependent, np.int64),
        column_order=np.zeros(few, np.int64),
        row_sizes=np.zeros(dependent),
        pivoting=np.zeros(dependent * few),
        borders=np.zeros((2, dependent * few, WIDTH)),
        inverses=np.zeros((2, dependent**2, WIDTH)),
        ties=np.zeros((2, dependent * free, WIDTH)),
        A_rows=by_points(with_rows_of_zeros(scheme.A[:, :-1])),
        B_rows=by_points(with_rows_of_zeros(scheme.B[:, :-1])),
        units=np.eye(WIDTH),
        blocks=np.zeros((few**2 * WIDTH, WIDTH)),
        curvatures=np.zeros(few**2 * WIDTH),
        free_rows=np.zeros((free * few * WIDTH, WIDTH)),
        reduced=np.zeros((WIDTH * free) ** 2),
        reduced_pivots=np.zeros((WIDTH * free, 2), np.int64),
        reduced_above=np.zeros(WIDTH * free),
        unknowns=np.zeros((few, WIDTH)),
        multipliers=np.zeros((dependent, WIDTH)),
        rights=np.zeros((free, WIDTH)),
        sides=np.zeros(s * system.side_size),
        solutions=np.zeros(s * system.side_size),
        permuted=np.zeros(s * system.side_size),
        eliminated=np.zeros(s * system.side_size),
        table=np.zeros((r, MAX_ORDER + 2, N)),
        ahead=np.zeros(N),
        behind=behind,
        increment_rows=increment_rows,
        rows=N // WIDTH if k else increment_rows,
        history=np.full((r, 4), [-1, -1, 0, 0]),
        is_polynomial=int(scheme.ahead.size > 0),
        count=np.array([0, 0, 0, 0, SIMPLIFIED, MAX_AGE, 0, 0, first_retry, 0, 0, 0, 0]),
        measure=np.array([0.1, 1e-3, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0]),
        limits=np.array([limit, 1.0 + ratio, math.exp(math.log(BELOW_ROUNDING * EPS) / limit)]),
        **{each.name: each for each in LATE},
    )


def on_grid(x: np.ndarray) -> np.ndarray:
    """Coefficients rounded to multiples of 2⁻⁵³: between −1 and 1 differences of these are exact."""
    return np.round(x * 2.0**53) * 2.0**-53


def with_zeros(count: int, room: int) -> int:
    """Room for so many numbers and some after them, if there are any: a multiple of four."""
    return -(-(count + room) // WIDTH) * WIDTH if count else 0


def in_lanes(rows: np.ndarray) -> np.ndarray:
    """Rows (m, …) of quadrature nodes in groups of lanes, (groups, …, 4); lanes left over take the first row, of no weight."""
    groups = -(-len(rows) // WIDTH)
    rest = groups * WIDTH - len(rows)
    filled = np.concatenate([rows, np.repeat(rows[:1] if rows.ndim > 1 else [0.0], rest, axis=0)])
    return np.moveaxis(filled.reshape(groups, WIDTH, *rows.shape[1:]), 1, -1).copy()


def with_rows_of_zeros(rows: np.ndarray) -> np.ndarray:
    """Rows (m, …) of quadrature nodes, and zeros for the lanes that are left over."""
    return np.concatenate([rows, np.zeros((-len(rows) % WIDTH, *rows.shape[1:]))])


def by_points(rows: np.ndarray) -> np.ndarray:
    """Rows (…, s) of control points in groups of lanes, (…, groups, 4), with zeros in those left over."""
    s = rows.shape[-1]
    groups = -(-s // WIDTH)
    filled = np.zeros((*rows.shape[:-1], groups * WIDTH))
    filled[..., :s] = rows
    return filled.reshape(*rows.shape[:-1], groups, WIDTH)


def stage_places(system: System, s: int) -> np.ndarray:
    """Place in the order of elimination of every unknown of s stages: increments, then impulses, (s (n + k),)."""
    behind = s * (system.side_size - WIDTH)

    def places(of: np.ndarray, first: np.ndarray, count: int) -> np.ndarray:
        node, local = of.T
        found = [(first + l * system.nodes[:, count])[node] + local for l in range(s)]
        return np.array([np.where(node < 0, behind, each) for each in found]).T.ravel()

    first = s * system.nodes[:, NODE_START]
    rows = first + s * system.nodes[:, NODE_COORDINATES]
    return np.concatenate(
        [places(system.coordinate_nodes, first, NODE_COORDINATES), places(system.row_nodes, rows, NODE_ROWS)]
    )


@kernel
def copy(out, x):
    """out = x, (N,)."""
    for a in range(x.shape[0]):
        out[a] = x[a]


@copied_kernel
def fill_node(node_q, node_v, space, A, B, s, h):
    """State at a quadrature node of the polynomial through the control points, with its A, B (s+1,); or at four, in lanes."""
    z, q, q_low = space.z, space.q, space.q_low
    for a in range(q.shape[0]):
        place, move = q_low[a] + A[1] * z[a * s], B[1] * z[a * s]
        for l in range(2, s + 1):
            place += A[l] * z[a * s + l - 1]
            move += B[l] * z[a * s + l - 1]
        node_q[a] = place + q[a]
        node_v[a] = move / h


@copied_kernel
def fill_nodes(space, g, s, h):
    """States at group g of four quadrature nodes, in lanes into space.lane_q and space.lane_v."""
    node_q, node_v = lanes(space.lane_q), lanes(space.lane_v)
    if space.has_velocities == 1:
        groups = space.b.shape[0]
        fill_velocity_nodes(node_q, node_v, lanes(space.z), lanes(space.a_columns), space, g, groups, h)
    else:
        fill_node(node_q, node_v, space, lanes(space.A[g]), lanes(space.B[g]), s, h)


@kernel
def add_nodes(space, g, h):
    """Add what four quadrature nodes give, without p_k, to R_1 … R_s in space.points and to space.impulse = h Σ b_i f_i; the
    largest momentum. R_s is that of the step's end.

    The products are ordered so that every rounding error depends on the state: a rounded coefficient b_i B_ij or h b_i, or
    A_i0 and B_i0 that are not exactly 1 − Σ A_il and −Σ B_il, would make an error of the same sign at every step.
    """
    p, f, weight, impulse = lanes(space.momenta), lanes(space.forces), lanes(space.b)[g], space.impulse
    A, B, values = lanes(space.A_points), lanes(space.B_points), lanes(space.points)
    size = 0.0 * weight
    for a in range(impulse.shape[0]):
        at = g * impulse.shape[0] + a
        size = larger(size, p[at])
        momentum, force = weight * p[at], h * (weight * f[at])
        impulse[a] += total(force)
        for c in range(space.points.shape[0]):
            value = 0.0 * weight
            if g > 0:
                value = values[c, a]
            for i in range(WIDTH):  # small terms first
                value = value + A[g * WIDTH + i, c] * part(force, i)
            for i in range(WIDTH):
                value = value + B[g * WIDTH + i, c] * part(momentum, i)
            values[c, a] = value
    return widest(size)


@kernel
def fill_first_rows(space, s):
    """R_1 … R_{s−1} of space.points into space.R, and R_0, of which the sum of all is p_k + space.impulse.

    R_s is written too, and R_0 of the next coordinate then in its place.
    """
    R, values, n = space.R, lanes(space.points), space.p.shape[0]
    for a in range(n):
        others = 0.0
        for c in range(space.points.shape[0]):
            others += total(values[c, a])
            put_lanes(R, a * s + 1 + c * WIDTH, values[c, a])
        R[a * s] = (space.p[a] - others) + (space.impulse[a] + space.p_low[a])  # nearly equal ones first
    R[n * s] = 0.0


@copied_kernel
def fill_only_rows(space, A, B, weight, h):
    """R_0 of a scheme with one quadrature node and one control point, and space.impulse; the largest momentum."""
    size = 0.0
    for a in range(space.p.shape[0]):
        size = max(size, abs(space.node_p[a]))
        momentum, force = weight * space.node_p[a], h * (weight * space.node_f[a])
        space.impulse[a] = force
        space.R[a] = (space.p[a] - (A * force + B * momentum)) + (force + space.p_low[a])
    return size


@kernel
def fill_at_only_node(system, scheme, work, space, t, h):
    """The residual of a scheme with one quadrature node and one control point, without constraints; the largest momentum.

    Here and below: each path of `fill_residual` in a kernel of its own, which begins with its own constants alone.
    """
    fill_node(space.node_q, space.node_v, space, scheme.A[0], scheme.B[0], scheme.K.shape[0], h)
    fill_gradient(space.node_p, space.node_f, system, work, t + scheme.c[0] * h, space.node_q, space.node_v)
    return fill_only_rows(space, scheme.A[0, 1], scheme.B[0, 1], scheme.b[0], h)


@kernel
def fill_in_plane(system, work, space, g, s, h):
    """Momenta and forces at group g of four quadrature nodes, of a planar tree under gravity alone."""
    n = system.n
    fill_nodes(space, g, s, h)
    p, f = lanes(space.momenta[g * n : (g + 1) * n]), lanes(space.forces[g * n : (g + 1) * n])
    angles, q = lanes(space.angles[g]), lanes(space.lane_q)
    if not turn_directions(angles, system, q):
        fill_directions(angles, system, q)
    fill_gradient_planar(p, f, lanes(work.lane_row), angles, system, lanes(space.lane_v))


@kernel
def fill_at_nodes(system, scheme, work, space, t, g, h):
    """The same of any system."""
    m, n = scheme.b.shape[0], system.n
    for i in range(m):
        space.t[i] = t + scheme.c[i] * h
    fill_nodes(space, g, scheme.K.shape[0], h)
    p, f = space.momenta[g * n : (g + 1) * n], space.forces[g * n : (g + 1) * n]
    times = space.t[g * WIDTH : min((g + 1) * WIDTH, m)]
    fill_gradients(p, f, space.angles[g], system, work, times, space.lane_q, space.lane_v)


@kernel
def fill_sums_of_velocities(space, h):
    """What `fill_residual` does where velocities are the unknowns, from momenta and forces."""
    R, momenta, forces = lanes(space.R), lanes(space.momenta), lanes(space.forces)
    rows, b, inverse = lanes(space.a_rows), lanes(space.b), lanes(space.b_inverse)
    size, momentum = fill_velocity_residual(R, momenta, forces, rows, b, inverse, space, space.b.shape[0], h)
    return keep_roundings(space, size, momentum)


@kernel
def fill_residual(system, scheme, work, space, t, h):
    """Residual of the step equations at space.z into space.R (constraints divided by h); returns its size.

    Also fills space.impulse, G(Q_j) and what `residual_size` does.
    """
    m, s = scheme.b.shape[0], scheme.K.shape[0]
    size = 0.0
    if space.has_wide_nodes == 1:
        return call(space.fill_wide_residual, t, (system, scheme, work, space, h))
    if m == 1:
        size = fill_at_only_node(system, scheme, work, space, t, h)
    else:
        if space.has_velocities == 0:
            for a in range(system.n):
                space.impulse[a] = 0.0
        for g in range(space.A.shape[0]):
            if system.is_planar == 1 and not has_forces(system):
                fill_in_plane(system, work, space, g, s, h)
            else:
                fill_at_nodes(system, scheme, work, space, t, g, h)
            if space.has_velocities == 0:
                size = max(size, add_nodes(space, g, h))
        if space.has_velocities == 1:
            return fill_sums_of_velocities(space, h)
        fill_first_rows(space, s)
    if has_saddle(system):
        size = max(size, call(space.fill_constraint_residual, t, (system, scheme, work, space, h)))
    elif system.k > 0:
        size = max(size, fill_quaternion_residual(system, scheme, space, h))
    return residual_size(system, space, size, h)


@late_kernel(System, Scheme, Work, Space)
def fill_wide_residual(t, system, scheme, work, space, h):
    """What `fill_residual` does of a tree, at up to eight nodes at once."""
    if system.is_planar == 1:
        fill_wide_in_plane(system, space, h)
    else:
        fill_wide_in_space(system, space, h)
    if has_forces(system):
        add_wide_forces(system, scheme, work, space, t, h)
    return fill_wide_sums(space, h)


@kernel
def fill_wide_in_plane(system, space, h):
    """Momenta and forces at up to eight nodes, of a planar tree under gravity."""
    q, v, V = wide_lanes(space.wide_q), wide_lanes(space.wide_v), wide_lanes(space.z)
    p, f, angles = wide_lanes(space.momenta), wide_lanes(space.forces), wide_lanes(space.wide_angles)
    fill_velocity_nodes(q, v, V, wide_lanes(space.a_columns), space, FIRST_ROW, ONE, h)
    if not turn_directions(angles, system, q):
        fill_directions(angles, system, q)
    fill_gradient_planar(p, f, wide_lanes(space.wide_row), angles, system, v)


@kernel
def fill_wide_in_space(system, space, h):
    """The same of any tree."""
    q, v, V = wide_lanes(space.wide_q), wide_lanes(space.wide_v), wide_lanes(space.z)
    p, f, angles = wide_lanes(space.momenta), wide_lanes(space.forces), wide_lanes(space.wide_angles)
    fill_velocity_nodes(q, v, V, wide_lanes(space.a_columns), space, FIRST_ROW, ONE, h)
    if not turn_cosines(angles, system.links, q):
        fill_cosines(angles, system.links, q)
    fill_gradient_tree(p, f, wide_lanes(space.wide_row), angles, system, q, v)


@kernel
def add_wide_forces(system, scheme, work, space, t, h):
    """Add forces besides gravity at up to eight nodes."""
    for node in range(scheme.c.shape[0]):
        group, lane = node // WIDTH, node % WIDTH
        for a in range(system.n):
            work.lane_q[a], work.lane_v[a] = space.wide_q[a, node], space.wide_v[a, node]
            work.side[a] = space.forces[2 * a + group, lane]
        add_forces(work.side, system, work, t + scheme.c[node] * h, work.lane_q, work.lane_v)
        for a in range(system.n):
            space.forces[2 * a + group, lane] = work.side[a]


@kernel
def fill_wide_sums(space, h):
    """What `fill_sums_of_velocities` does, of up to eight nodes."""
    R, p, f = wide_lanes(space.R), wide_lanes(space.momenta), wide_lanes(space.forces)
    rows, b, inverse = wide_lanes(space.a_rows), wide_lanes(space.b), wide_lanes(space.b_inverse)
    size, momentum = fill_velocity_residual(R, p, f, rows, b, inverse, space, ONE, h)
    return keep_roundings(space, size, momentum)


@late_kernel(System, Scheme, Work, Space)
def factor_nodes(t, system, scheme, work, space, h):
    """Second derivatives at the nodes, and inverses of M; 0.0 if one is not positive definite."""
    return 1.0 if factor_by_fours(system, space, h) else 0.0


@late_kernel(System, Scheme, Work, Space)
def factor_wide(t, system, scheme, work, space, h):
    """The same at up to eight nodes at once."""
    return 1.0 if factor_eight(system, space, h) else 0.0


@late_kernel(System, Scheme, Work, Space)
def solve_wide(t, system, scheme, work, space, h):
    """What `solve_velocities` does with these."""
    R, delta, b, inverse = (
        wide_lanes(space.R),
        wide_lanes(space.delta),
        wide_lanes(space.b),
        wide_lanes(space.b_inverse),
    )
    M, Lvq, Lqq = wide_lanes(space.wide_masses), wide_lanes(space.wide_Lvq), wide_lanes(space.wide_Lqq)
    columns, rows = wide_lanes(space.a_columns), wide_lanes(space.a_rows)
    moves, impulses = wide_lanes(space.moves), wide_lanes(space.impulses)
    solve_with_derivatives(delta, R, M, Lvq, Lqq, columns, rows, b, inverse, moves, impulses, system.n, h)
    return 1.0


@copied_kernel
def keep_roundings(space, size, momentum):
    """The size of a residual, after what `residual_size` fills besides of one without constraints."""
    space.measure[MOMENTUM_SIZE] = momentum
    space.measure[ROUNDINGS] = size / (EPS * max(momentum, 1e-290))
    return size


@copied_kernel
def largest(x, first, end):
    """Largest |x| of the lanes of an array (N,) from `first` to `end`; not of those that are not a number."""
    rows = lanes(x)
    size = 0.0 * rows[0]
    for a in range(first, end):
        size = larger(size, rows[a])
    return widest(size)


@kernel
def residual_size(system, space, momentum, h):
    """Largest entry of the residual, inf if one is not finite.

    Also fills space.measure: the size of the momenta that cancel in it, the largest |g|, and the largest entry in units of its
    own rounding, that of the momenta or that of the positions, which moves them by the constraints.
    """
    R = lanes(space.R)
    check = sizes = constraints = 0.0 * R[0]
    for a in range(space.increment_rows):
        check = check + 0.0 * R[a]
        sizes = larger(sizes, R[a])
    size, place, by_place = widest(sizes), space.measure[PLACE_SIZE], 1.0
    if system.is_geometric == 1:
        by_place += BY_PLACE * place / max(largest(space.z, FIRST_ROW, space.increment_rows), 1e-290)
    roundings = size / (EPS * by_place * max(momentum, 1e-290))
    if system.k > 0:
        for a in range(space.behind // WIDTH, space.rows):
            check = check + 0.0 * R[a]
            constraints = larger(constraints, R[a])
        constraint = widest(constraints)
        space.measure[VIOLATION] = constraint * abs(h) / place
        roundings = max(roundings, space.measure[VIOLATION] / EPS)
        size = max(size, constraint)
    space.measure[MOMENTUM_SIZE], space.measure[ROUNDINGS] = momentum, roundings
    return size if total(check) == 0.0 else math.inf


@kernel
def place_size(system, space):
    """Size of the coordinates that constraints depend on: of unit quaternions 1, else of the largest coordinate."""
    size = 1.0
    if system.is_geometric == 1 or system.is_tree == 0:
        for a in range(system.n):
            if system.anchored[a] == 0:
                size = max(size, abs(space.q[a]))
    return size


@late_kernel(System, Scheme, Work, Space)
def fill_constraint_residual(t, system, scheme, work, space, h):
    """Add G(Q_j)ᵀ Λ_j to the momentum rows of the residual, and write its constraint rows g(Q_l)/h; the largest term added.

    G(Q_0) was filled when the step began, and of the last control point the values alone are needed.
    """
    s, behind = scheme.K.shape[0], space.behind
    R, z = space.R, space.z
    size = add_constraint_force(R, FIRST_ROW, s, space.G[0], system, z, behind, s)
    if s >= SEVERAL and system.constraint == 0:
        return max(size, fill_point_residuals(system, scheme, work, space, t, h))
    for j in range(1, s + 1):
        fill_control_point(work, space, j, s)
        if j < s:
            fill_constraints(space.g, space.G[j], space.g_t, system, work, t + scheme.d[j] * h, space.node_q)
            size = max(size, add_constraint_force(R, j, s, space.G[j], system, z, behind + j, s))
        else:
            fill_values(space.g, space.G[j], space.g_t, system, work, t + scheme.d[j] * h, space.node_q)
        for b in range(system.k):
            R[behind + b * s + j - 1] = space.g[b] / h
    return size


@kernel
def fill_point_residuals(system, scheme, work, space, t, h):
    """The same of the control points behind the first, of a tree: four at once."""
    s, behind, at_points = scheme.K.shape[0], space.behind, space.lane_work
    R, groups = space.R, space.points.shape[0]
    size = 0.0 * lanes(space.is_inner)[0]
    for c in range(groups):
        fill_points(system, scheme, work, space, c, t, h)
        fill_rows(lanes(space.point_g[c]), at_points.G, at_points.g_t, system, at_points, at_points.q)
        for a in range(system.n):
            at_points.force[a] = 0.0
        for b in range(system.k):
            first = system.constraints[b, FIRST_ENTRY]
            for e in range(first, first + system.constraints[b, ENTRIES]):
                term = at_points.G[e] * at_points.impulse[b]
                size = larger(size, term)
                at_points.force[system.entries[e]] += term
        for a in range(system.n):
            at = a * s + 1 + c * WIDTH
            put_lanes(R, at, lanes_at(R, at) + at_points.force[a])
        for e in range(system.entries.shape[0]):
            for j in range(c * WIDTH + 1, min((c + 1) * WIDTH, s) + 1):
                space.G[j, e] = part(at_points.G[e], j - 1 - c * WIDTH)
    for b in range(system.k):
        for c in range(groups):
            put_lanes(R, behind + b * s + c * WIDTH, lanes(space.point_g[c])[b] / h)
    put_lanes(R, behind + system.k * s, 0.0 * size)
    return widest(size)


@copied_kernel
def fill_points(system, scheme, work, space, c, t, h):
    """Poses and columns at group c of four control points behind the first, and the impulses at those before the step's end, in
    lanes into space.lane_work. Lanes left over have the step's start and no impulse.
    """
    s, at_points = scheme.K.shape[0], space.lane_work
    for a in range(system.n):
        y = space.q_low[a] + lanes(space.is_point)[c] * lanes_at(space.z, a * s + c * WIDTH)
        place = space.q[a] + y
        at_points.q[a] = place
        at_points.low[a] = (space.q[a] - place) + y
    for b in range(system.k):
        impulse = lanes_at(space.z, space.behind + b * s + 1 + c * WIDTH)
        at_points.impulse[b] = lanes(space.is_inner)[c] * impulse
    times = t + h * lanes(space.d)[c]
    fill_functions_at_points(system, at_points, work.stack, times, at_points.q)
    fill_constraint_geometry(system, at_points, at_points.q)


@kernel
def fill_quaternion_residual(system, scheme, space, h):
    """What `fill_constraint_residual` does for an open tree: G is the quaternions, here also in lanes of a_j and of a_l."""
    s, behind = scheme.K.shape[0], space.behind
    R, z, beside = space.R, space.z, space.quaternions
    size = 0.0
    for b in range(system.k):
        first, entry = quaternion_place(system, b), system.constraints[b, FIRST_ENTRY]
        for j in range(s + 1):
            value = -1.0
            for c in range(4):
                a = space.q[first + c] + control_increment(space, first + c, j, s)
                value += a * a
                space.G[j, entry + c] = a
                if j < s:
                    beside[0, j // WIDTH, entry + c, j % WIDTH] = a
                    term = a * z[behind + b * s + j]
                    R[(first + c) * s + j] += term
                    size = max(size, abs(term))
                if j > 0:
                    beside[1, (j - 1) // WIDTH, entry + c, (j - 1) % WIDTH] = a
            if j > 0:
                R[behind + b * s + j - 1] = 0.5 * value / h
    return size


@copied_kernel
def control_increment(space, a, j, s):
    """What is to be added to q_k for coordinate a of control point j."""
    return space.q_low[a] + (space.z[a * s + j - 1] if j > 0 else 0.0)


@copied_kernel
def fill_control_point(work, space, j, s):
    """Q_j = q_k + Y_j into space.node_q, and what rounding leaves of it into work.low."""
    for a in range(space.node_q.shape[0]):
        y = control_increment(space, a, j, s)
        place = space.q[a] + y
        space.node_q[a] = place
        work.low[a] = (space.q[a] - place) + y


@copied_kernel
def add_constraint_force(out, first, stride, G, system, impulses, start, step):
    """Add Gᵀ Λ to out[first :: stride], Λ = impulses[start :: step]; the largest term added."""
    size = 0.0
    for b in range(system.k):
        impulse = impulses[start + b * step]
        entry = system.constraints[b, FIRST_ENTRY]
        for e in range(entry, entry + system.constraints[b, ENTRIES]):
            term = G[e] * impulse
            out[first + system.entries[e] * stride] += term
            size = max(size, abs(term))
    return size


@kernel
def is_articulated(system):
    """Whether M is inverted by the articulated-body recursion, O(n), and not as a dense matrix."""
    return system.is_open == 1 and (system.k > 0 or system.n >= ARTICULATED_FROM)


@copied_kernel
def has_saddle(system):
    """Whether constraints are solved for with M, and not, as those of unit quaternions in an open tree, each for itself."""
    return system.k > 0 and system.is_open == 0


@kernel
def factor_simplified(system, scheme, work, space, t, h):
    """Invert M at the middle of the predicted polynomial, or factor it for the articulated-body recursion; with constraints,
    M and G, there or at the step's start.
    """
    n = system.n
    if has_saddle(system) and space.inverse.shape[0] == 0:
        return call(space.factor_start, t, (system, scheme, work, space, h)) == 1.0
    s = scheme.K.shape[0]
    for a in range(n):
        move = increment(space, a, h) if space.has_velocities == 1 else space.z[a * s + s - 1]
        space.node_q[a] = space.q[a] + 0.5 * move
    if has_saddle(system):
        return call(space.invert_middle, t, (system, scheme, work, space, h)) == 1.0
    space.count[SIMPLIFIED_FACTORS] += 1
    if is_articulated(system):
        return factor_articulated(work.articulated, system.links, system.geometry, space.node_q)
    if space.wide_Lvq.shape[0] > 0:
        return call(space.factor_wide, t, (system, scheme, work, space, h)) == 1.0
    if space.node_Lvq.shape[1] > 0:
        return call(space.factor_nodes, t, (system, scheme, work, space, h)) == 1.0
    if system.is_planar == 1:
        fill_angles(work.angles, system, space.node_q)
        fill_masses_planar(space.M, work.inertia, work.angles, system)
    else:
        fill_mass_matrix(space.M, system, work, t + 0.5 * h, space.node_q)
    is_regular = invert(space.M, space.pivot_rows, n)
    if space.has_velocities == 1:
        put_at_nodes(space)
    return is_regular


@late_kernel(System, Scheme, Work, Space)
def factor_start(t, system, scheme, work, space, h):
    """Factor [M Gᵀ; G 0] at the step's start, unless it is factored; 0.0 if it is singular. Fills G(Q_0)."""
    if space.count[IS_FACTORED] == 0:
        space.count[SIMPLIFIED_FACTORS] += 1
        space.count[HAS_JACOBIAN] = 1
        is_regular = factor_mass_saddle(system, work, t, space.q)
        copy(space.G[0], work.G)
        if not is_regular:
            return 0.0
        space.count[IS_FACTORED] = 1
    return 1.0


@late_kernel(System, Scheme, Work, Space)
def invert_middle(t, system, scheme, work, space, h):
    """Invert [M Gᵀ; G 0] at space.node_q, the middle, into space.inverse; 0.0 if it is singular. Fills G(Q_0)."""
    size = space.inverse.shape[0]
    call(space.fill_start_jacobian, t, (system, scheme, work, space, h))
    space.count[SIMPLIFIED_FACTORS] += 1
    space.count[IS_FACTORED] = 0
    if not factor_mass_saddle(system, work, t + 0.5 * h, space.node_q):
        return 0.0
    for i in range(size):
        for j in range(size):
            work.solution[j] = 1.0 * (j == i)
        solve_mass_saddle(system, work)
        for j in range(size):
            space.inverse[j, i] = work.solution[j]
    return 1.0


@late_kernel(System, Scheme, Work, Space)
def fill_start_jacobian(t, system, scheme, work, space, h):
    """Fill G(Q_0), unless it is filled."""
    if space.count[HAS_JACOBIAN] == 0:
        space.count[HAS_JACOBIAN] = 1
        fill_constraints(space.g, space.G[0], space.g_t, system, work, t, space.q)
    return 1.0


@late_kernel(System, Scheme, Work, Space)
def solve_small_saddle(t, system, scheme, work, space, h):
    """What `solve_simplified_saddle` does by space.inverse, for four control points at once."""
    n, s, behind, size = system.n, scheme.K.shape[0], space.behind, space.inverse.shape[0]
    R, delta, inverse, groups = space.R, space.delta, space.inverse, space.points.shape[0]
    columns, impulse_columns = lanes(space.K_inverse), lanes(space.K)
    x, y = lanes(space.small_sides), lanes(space.small_solutions)
    for c in range(groups):
        for a in range(n):
            value = columns[0, c] * R[a * s]
            for j in range(1, s):
                value = value + columns[j, c] * R[a * s + j]
            x[c, a] = -1.0 * value
        for b in range(system.k):
            x[c, n + b] = -1.0 * lanes_at(R, behind + b * s + c * WIDTH)
        for i in range(size):
            value = inverse[i, 0] * x[c, 0]
            for j in range(1, size):
                value = value + inverse[i, j] * x[c, j]
            y[c, i] = value
    for a in range(n):
        for c in range(groups):
            put_lanes(delta, a * s + c * WIDTH, h * y[c, a])
    put_lanes(delta, n * s, 0.0 * columns[0, 0])
    for b in range(system.k):
        for c in range(groups):
            value = 0.0 * columns[0, 0]
            for l in range(s):
                value = value + impulse_columns[l, c] * space.small_solutions[l // WIDTH, n + b, l % WIDTH]
            put_lanes(delta, behind + b * s + c * WIDTH, value)
    put_lanes(delta, behind + system.k * s, 0.0 * columns[0, 0])
    return 1.0


@late_kernel(System, Scheme, Work, Space)
def solve_simplified_saddle(t, system, scheme, work, space, h):
    """The correction of the simplified iteration with constraints, by the equations at the head of this file."""
    n, k, s, behind = system.n, system.k, scheme.K.shape[0], space.behind
    R, delta, x, y, places, size = space.R, space.delta, space.sides, space.solutions, system.places, system.side_size
    for l in range(s):
        for a in range(n):
            value = 0.0
            for j in range(s):
                value -= scheme.K_inverse[l, j] * R[a * s + j]
            x[l * size + places[a]] = value
        for b in range(k):
            x[l * size + places[n + b]] = -R[behind + b * s + l]
    solve_saddle(y, x, work.saddle, system, MASS, ONE_STAGE, s)
    for l in range(s):
        for a in range(n):
            delta[a * s + l] = h * y[l * size + places[a]]
    for j in range(s):
        for b in range(k):
            value = 0.0
            for l in range(s):
                value += scheme.K[j, l] * y[l * size + places[n + b]]
            delta[behind + b * s + j] = value
    return 1.0


@solver_kernel
def solve_simplified(system, scheme, work, space, t, h):
    """delta = −h (K⁻¹ ⊗ M⁻¹) R."""
    if space.inverse.shape[0] > 0:
        call(space.solve_small_saddle, t, (system, scheme, work, space, h))
    elif has_saddle(system):
        call(space.solve_simplified_saddle, t, (system, scheme, work, space, h))
    elif scheme.K.shape[0] == 1:
        solve_only_stage(system, scheme, work, space, h)
    elif space.has_velocities == 1:
        if space.wide_Lvq.shape[0] > 0:
            call(space.solve_wide, t, (system, scheme, work, space, h))
        else:
            solve_velocities(system, work, space, h)
    elif system.k > 0:
        solve_quaternion_stages(system, work, space, scheme.K.shape[0], h)
    else:
        solve_stages(system, work, space, scheme.K.shape[0], h)


@solver_kernel
def solve_only_stage(system, scheme, work, space, h):
    """The same of a scheme with one control point."""
    n, behind, factor = system.n, space.behind, -h * scheme.K_inverse[0, 0]
    R, delta = space.R, space.delta
    if not is_articulated(system):
        for a in range(n):
            value = 0.0
            for b in range(n):
                value += space.M[a * n + b] * R[b]
            delta[a] = factor * value
        return
    for a in range(n):
        delta[a] = R[a]
    for b in range(system.k):
        first = quaternion_place(system, b)
        to_torque(delta, space.G[0], system.constraints[b, FIRST_ENTRY], first, system)
        delta[behind + b] = -delta[first]
    solve_articulated(delta, work.solved, work.articulated, system.links)
    for a in range(n):
        delta[a] *= factor
    for b in range(system.k - 1, -1, -1):
        first = quaternion_place(system, b)
        delta[first] = -h * R[behind + b]
        to_rate(delta, space.G[1], system.constraints[b, FIRST_ENTRY], first, system)


@solver_kernel
def solve_stages(system, work, space, s, h):
    """The same for all control points, four at once."""
    R, M, delta, columns, x = space.R, space.M, space.delta, lanes(space.K_inverse), lanes(space.points)
    n, groups = system.n, space.points.shape[0]
    for c in range(groups):
        for a in range(n):
            value = columns[0, c] * R[a * s]
            for j in range(1, s):
                value = value + columns[j, c] * R[a * s + j]
            x[c, a] = -h * value
    if is_articulated(system):
        for c in range(groups):
            solve_articulated(lanes(space.points[c]), lanes(space.solved), work.articulated, system.links)
        put_points(delta, x, n, s)
        return
    solved = lanes(space.mixed)
    for a in range(n):
        for c in range(groups):
            value = M[a * n] * x[c, 0]
            for b in range(1, n):
                value = value + M[a * n + b] * x[c, b]
            solved[c, a] = value
    put_points(delta, solved, n, s)


@copied_kernel
def put_points(out, x, n, s):
    """Numbers of s control points in lanes x, (groups, n), to where unknowns stand.

    Two coordinates at once where they fill the lanes: what two writes share cannot be read before both are done.
    """
    if s == 2:
        for a in range(0, n - 1, 2):
            put_lanes(out, 2 * a, first_halves(x[0, a], x[0, a + 1]))
        if n % 2 == 1:
            put_lanes(out, 2 * n - 2, x[0, n - 1])
        return
    for a in range(n):
        for first in range(0, s, WIDTH):
            put_lanes(out, a * s + first, x[first // WIDTH, a])


@solver_kernel
def solve_quaternion_stages(system, work, space, s, h):
    """The same where there are quaternions, of which Q_j have torques and Q_l turns."""
    n, behind, groups = system.n, space.behind, space.points.shape[0]
    for c in range(groups):
        x, quaternions = lanes(space.points[c]), lanes(space.quaternions[0, c])
        for a in range(n):
            x[a] = lanes_at(space.R, a * s + c * WIDTH)
        for b in range(system.k):
            to_torque(x, quaternions, system.constraints[b, FIRST_ENTRY], quaternion_place(system, b), system)
        solve_articulated(x, lanes(space.solved), work.articulated, system.links)
    for b in range(system.k):
        for j in range(s):
            space.delta[behind + b * s + j] = -space.points[j // WIDTH, quaternion_place(system, b), j % WIDTH]
    columns, mixed = lanes(space.K_inverse), lanes(space.mixed)
    for a in range(n):
        for c in range(groups):
            value = columns[0, c] * space.points[0, a, 0]
            for j in range(1, s):
                value = value + columns[j, c] * space.points[j // WIDTH, a, j % WIDTH]
            mixed[c, a] = -h * value
    for c in range(groups):
        x, quaternions = lanes(space.mixed[c]), lanes(space.quaternions[1, c])
        for b in range(system.k - 1, -1, -1):
            first = quaternion_place(system, b)
            x[first] = -h * lanes_at(space.R, behind + b * s + c * WIDTH)
            to_rate(x, quaternions, system.constraints[b, FIRST_ENTRY], first, system)
    put_points(space.delta, mixed, n, s)
    put_lanes(space.delta, n * s, 0.0 * lanes(space.delta)[0])


@copied_kernel
def fill_node_hessians(system, work, space, first, end, s, h):
    """Second derivatives at up to four quadrature nodes at once, from node `first` on."""
    fill_nodes(space, first // WIDTH, s, h)
    fill_hessians(
        space.Lvv, space.Lvq, space.Kqv, space.Kqq, system, work, space.lane_work, space.t[first:end], space.lane_q,
        space.lane_v,
    )  # fmt: skip


@late_kernel(System, Scheme, Work, Space)
def factor_partitioned(t, system, scheme, work, space, h):
    """What `factor_newton` does, by coordinate partitioning; 0.0 where that has to do it.

    Poses and columns at the control points are those of the residual, until second derivatives overwrite them.
    """
    m, n, s, points = scheme.b.shape[0], system.n, scheme.K.shape[0], space.lane_work
    for a in range(system.nodes.shape[0]):
        if system.redundant[a] != 0:
            return 0.0
    fill_borders(space, system, s)
    if not (choose_pivots(space, n, s) and invert_borders(space, n)):
        return 0.0
    space.curvatures[:] = 0.0
    add_tree_curvature(
        space.curvatures, system, points, points.q, points.impulse, h, NO_STAGES, FIRST_ROW, FIRST_ROW, ONE
    )
    space.blocks[:] = 0.0
    for i in range(m):
        space.t[i] = t + scheme.c[i] * h
    for first in range(0, m, WIDTH):
        end = min(first + WIDTH, m)
        fill_node_hessians(system, work, space, first, end, s, h)
        A, B = scheme.A[first:end], scheme.B[first:end]
        A_rows, B_rows = space.A_rows[first:end], space.B_rows[first:end]
        add_blocks(space, system, A, B, A_rows, B_rows, scheme.b[first:end], h)
    add_diagonal(space, n, s)
    if not reduce_blocks(space, n, s):
        return 0.0
    space.count[NEWTON_FACTORS] += 1
    space.measure[FACTOR_STEP] = h
    return 1.0


@late_kernel(System, Scheme, Work, Space)
def solve_partitioned(t, system, scheme, work, space, h):
    """What `solve_newton` does, by the factors of `factor_partitioned`."""
    solve_reduced(space, system, scheme.K.shape[0], h)
    return 1.0


@late_kernel(System, Scheme, Work, Space)
def factor_newton(t, system, scheme, work, space, h):
    """Assemble and factor the whole Jacobian, with respect to Y/h and Λ, at space.z: what the residual was computed at.

    Its borders are G(Q_j)ᵀ and G(Q_l), and the curvature h ∂²(Λ_jᵀ g)/∂q² is part of the diagonal blocks.
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
            fill_node_hessians(system, work, space, first, end, s, h)
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
            return 0.0
    return 1.0


@kernel
def add_curvatures(J, system, scheme, work, space, t, h):
    """Add the curvatures of the constraints at the control points between a step's ends, and fill G(Q_s), unless it is filled."""
    s = scheme.K.shape[0]
    if s < SEVERAL or system.constraint != 0:
        fill_control_point(work, space, s, s)
        fill_constraints(space.g, space.G[s], space.g_t, system, work, t + scheme.d[s] * h, space.node_q)
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


@late_kernel(System, Scheme, Work, Space)
def solve_newton(t, system, scheme, work, space, h):
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
        return 1.0
    for a in range(increments):
        delta[a] = -h * y[places[a]]
    for b in range(s * system.k):
        delta[behind + b] = -y[places[increments + b]]
    return 1.0


@solver_kernel
def accelerate(space, iteration, is_known):
    """Broyden's rank-one updates of the simplified iteration, from the corrections s_0 … s_{n−1} of this step alone; the factor
    1/(1 − c_{n−1}), which `correct` applies.

    z_0 = delta,  z_{j+1} = z_j + c_j s_{j+1},  c_j = s_jᵀ z_j/|s_j|² in turn,  delta ← s_n = z_{n−1}/(1 − c_{n−1}),

    with products of increments. With those of corrections known, s_iᵀ s_j, those with delta alone are needed. Without
    `is_known`, delta is noise in part: it becomes z_{n−1}, by the updates that are known, and no s_n.

    Source: Kelley, Iterative Methods for Linear and Nonlinear Equations (1995), section 7.3 (algorithm brsol).
    """
    delta, products, along, c = lanes(space.delta), space.step_products, space.along, space.update
    count, increments, last, inverses = space.rows, space.increment_rows, iteration - 1, space.inverse_squares
    for j in range(iteration):
        along[j] = product_of(lanes(space.steps[j]), delta, increments)
    for j in range(iteration):
        product = along[j]
        for i in range(j):
            product += c[i] * products[j, i + 1]
        c[j] = product * inverses[j]
    scale = 1.0 / (1.0 - c[last]) if iteration > 0 and c[last] < 0.5 else 1.0
    for j in range(last):
        step = lanes(space.steps[j + 1])
        for a in range(count):
            delta[a] = delta[a] + c[j] * step[a]
        for i in range(iteration):
            along[i] += c[j] * products[i, j + 1]
    if not is_known:
        return 1.0
    for j in range(iteration):
        products[j, iteration] = products[iteration, j] = scale * along[j]
    return scale


@copied_kernel
def product_of(x, y, count):
    """xᵀ y of so many lanes, in two sums, of which each has to wait for what was added to it last."""
    one = other = 0.0 * x[0]
    for a in range(0, count - 1, 2):
        one = one + x[a] * y[a]
        other = other + x[a + 1] * y[a + 1]
    if count % 2 == 1:
        one = one + x[count - 1] * y[count - 1]
    return total(one + other)


@solver_kernel
def correct(space, scale, kept):
    """Add the correction, times a scale, to the unknowns, and keep it in `kept` (N,); its size, relative, whether that of the
    increments is the positions' rounding, and the square of the increments'.

    The size is the larger of the increments' correction by the largest increment and the impulses' by the momenta.
    """
    z, delta, out = lanes(space.z), lanes(space.delta), lanes(kept)
    step = move = impulse = square = 0.0 * z[0]
    for a in range(space.increment_rows):
        change = scale * delta[a]
        out[a] = change
        step = larger(step, change)
        square = square + change * change
        z[a] = z[a] + change
        move = larger(move, z[a])
    for a in range(space.behind // WIDTH, space.rows):
        change = scale * delta[a]
        out[a] = change
        impulse = larger(impulse, change)
        z[a] = z[a] + change
    place, moved, largest_step = space.measure[PLACE_SIZE], widest(move), widest(step)
    size = largest_step / max(moved, 1e-290)
    space.measure[CORRECTION] = size
    if space.behind // WIDTH < space.rows:
        size = max(size, widest(impulse) / max(space.measure[MOMENTUM_SIZE], 1e-290))
    return size, largest_step <= 16.0 * EPS * max(place, moved), total(square)


@kernel
def is_below_rounding(system, space, size, theta):
    """Whether the error left is far below round-off after a correction of relative size `size`.

    That in q is about theta · size; that in p, which was evaluated before the correction, about stiffness · size, where the
    stiffness, h² ∂f/∂q against M, is what the simplified iteration contracts by before it is accelerated.
    """
    stiffness = 1.0 if has_saddle(system) else space.measure[STIFFNESS]
    return theta * size <= BELOW_ROUNDING * EPS and stiffness * size <= 100.0 * BELOW_ROUNDING * EPS


@kernel
def is_converged(system, space, size, size_before, ratio, is_below, is_rounding):
    """Whether the step is solved to round-off after a correction of relative size `size`: where `is_below` says so, where the
    residual is round-off, or where corrections that round-off explains no longer shrink.

    Constraints between links hold to the rounding of positions, and corrections are of that size at last. With velocities for
    unknowns a residual is the difference of two momenta, which is 0 to rounding while the error left has one sign.

    ratio   of the residual to that before: while it falls fast, corrections that happen not to shrink are no round-off
    """
    roundings = space.measure[ROUNDINGS]
    if space.measure[VIOLATION] > HELD:
        return False
    if is_below or (roundings <= 2.0 and space.has_velocities == 0):
        return True
    is_stalled = size_before > 0.0 and size > 0.5 * size_before and ratio > CONVERGING
    if system.is_geometric == 1:
        return is_rounding and (roundings <= 4.0 or (roundings <= NOISE and is_stalled))
    return is_stalled and (roundings <= 1e3 or is_rounding)


@kernel
def is_noise(system, space):
    """Whether corrections may be the rounding of positions, and tell nothing of the contraction."""
    return system.is_geometric == 1 and space.measure[ROUNDINGS] <= NOISE


@kernel
def may_fall(system, space, ratio):
    """Whether the residual of an open tree with quaternions may fall further, after it became `ratio` of that before.

    They contract slower, so that accelerated corrections may grow once on their way, as they do at their end.
    """
    roundings = space.measure[ROUNDINGS]
    is_falling = roundings > STEADY and (ratio <= FALLING or roundings > NOISIEST)
    return system.k > 0 and system.is_open == 1 and is_falling


@kernel
def iterations_left(system, space, size, theta):
    """Iterations until round-off at contraction theta."""
    if is_noise(system, space):
        return 0.0
    if not theta < 0.9:
        return 1e9
    return math.log(BELOW_ROUNDING * EPS / size) / math.log(theta)


@kernel
def forget_angles(space):
    """No angle is known: what a step gives does not depend on where those before it left their angles."""
    angles = space.angles
    for g in range(angles.shape[0]):
        for i in range(angles.shape[1]):
            for lane in range(WIDTH):
                angles[g, i, KNOWN, lane] = math.inf
    for i in range(space.wide_angles.shape[0]):
        for lane in range(WIDE):
            space.wide_angles[i, KNOWN, lane] = math.inf


@inlined_kernel
def iterate_simplified(system, scheme, work, space, t, h):
    """Simplified iteration from space.z; NOT_CONVERGED where Newton's would be cheaper.

    Rounding hides in the last corrections what the iteration leaves, which has the same sign at every step: `left` follows it
    from the contraction before.
    """
    count, measure = space.count, space.measure
    served = SERVED if scheme.K.shape[0] == 1 else 1
    is_fresh = has_saddle(system) or count[AGE] >= MAX_AGE or (count[LAST] > 3 and count[AGE] >= served)
    if is_fresh and not factor_simplified(system, scheme, work, space, t, h):
        return NOT_CONVERGED if has_saddle(system) else SINGULAR
    left = math.inf
    theta = measure[THETA_SIMPLIFIED]
    size_before = residual_before = step_before = first_step = first_residual = expected = 0.0
    updates = known = rough = slow = more = 0
    for iteration in range(MAX_ITERATIONS):
        residual = fill_residual(system, scheme, work, space, t, h)
        measure[RESIDUAL] = residual
        if not residual < math.inf:
            return NOT_FINITE
        solve_simplified(system, scheme, work, space, t, h)
        is_rough = not has_saddle(system) and measure[ROUNDINGS] <= ROUGH
        if space.has_series == 1 and theta <= WELL:
            known = 0
        update = known % MAX_UPDATES
        scale = accelerate(space, update, not is_rough)
        size, is_rounding, square = correct(space, scale, space.steps[update])
        if not is_rough:
            space.step_products[update, update] = square = max(square, 1e-290)
            space.inverse_squares[update] = 1.0 / square
        rough += is_rough
        known += not is_rough
        step = measure[CORRECTION]
        count[ITERATIONS] += 1
        count[LAST] = iteration + 1
        if updates > 0:
            growth = residual / residual_before
            is_growing = residual > first_residual and size > SHRINKING * size_before
            if is_growing and measure[ROUNDINGS] > 1e4:
                return NOT_CONVERGED  # it diverges, and may lead to another solution
            if not is_noise(system, space):
                theta = size / size_before
                if size > 1e3 * EPS:
                    measure[THETA_SIMPLIFIED] = theta
                    if updates == 1 and not has_saddle(system):
                        measure[STIFFNESS] = growth
            if has_saddle(system) and step < 0.5 * step_before:
                kept = 0.5 * measure[STIFFNESS] if updates == 1 else 0.0
                measure[STIFFNESS] = max((step / first_step) ** (1.0 / updates), kept)
        if has_saddle(system):
            expected, left = left, measure[STIFFNESS] * min(left, step)
            is_below = is_below_rounding(system, space, size, theta)
        else:
            left = max(measure[STIFFNESS], measure[THETA_SIMPLIFIED]) * min(left, size)
            is_below = rough >= ROUGH_CORRECTIONS and left <= 100.0 * BELOW_ROUNDING * EPS
        is_solved = left <= 100.0 * BELOW_ROUNDING * EPS or (left <= LEFT * step and step > 10.0 * expected)
        ratio = residual / residual_before if updates > 0 else 0.0
        is_end = is_converged(system, space, size, size_before, ratio, is_below, is_rounding)
        if is_end and not may_fall(system, space, ratio):
            more += 1
            if is_solved or more > MORE or not has_saddle(system):
                if is_fresh:
                    count[AGE] = 0
                return OK
        if updates == 0:
            first_step, first_residual = step, residual
        updates += 1
        size_before, residual_before, step_before = size, residual, step
        if theta * size < CLOSE:
            forget_angles(space)
        is_fast = iteration == 0 or (theta <= space.limits[CONTRACTING] and size <= 1.0)
        is_slow = not is_fast and iterations_left(system, space, size, theta) > space.limits[SIMPLIFIED_LIMIT]
        slow = slow + 1 if is_slow else 0
        is_astray = space.has_series == 1 and first_step > ASTRAY and size < CLOSER * first_step
        if is_astray or (slow > 0 and not is_fresh) or slow > PATIENCE:
            if is_fresh and not is_astray:
                return NOT_CONVERGED
            is_fresh = True
            updates = known = rough = slow = 0
            if not factor_simplified(system, scheme, work, space, t, h):
                return SINGULAR
    return NOT_CONVERGED


@kernel
def is_far_from_start(space):
    """Whether the increments have moved away from their start by more than a part of the largest."""
    if space.has_velocities == 1:
        return are_far_velocities(space, FAR)
    miss = largest_difference(space.z, space.start, FIRST_ROW, space.increment_rows)
    return miss > FAR * largest(space.z, FIRST_ROW, space.increment_rows)


@inlined_kernel
def iterate_newton(system, scheme, work, space, t, h, is_flight):
    """Newton's iteration from space.z: the Jacobian is kept while it contracts well, the step halved while it is too long.

    From an extrapolation it ends where the first correction leads far away: `advance` would not take the solution.

    Rounding of positions hides in the corrections what the iteration leaves: `left` follows it from their contraction before.
    """
    count, measure, z = space.count, space.measure, space.z
    patience = 3.0 + 0.5 * space.limits[NEWTON_LIMIT] if system.is_geometric == 1 else 3.0
    needs_factor = count[AGE] >= MAX_AGE or measure[FACTOR_STEP] != h or count[LAST] > patience or count[ANEW] > 0
    count[ANEW] = max(count[ANEW] - 1, 0)
    is_stale = True
    is_chord = False
    residual_before = left = math.inf
    size_before = 0.0
    halvings = iteration = stalls = 0
    if system.k > 0:
        call(space.fill_start_jacobian, t, (system, scheme, work, space, h))
    while iteration < MAX_ITERATIONS:
        residual = fill_residual(system, scheme, work, space, t, h)
        measure[RESIDUAL] = residual
        if space.has_velocities == 1 and residual < math.inf:
            residual = fill_step_residual(scheme, space)
        if iteration > 0 and not (residual <= residual_before or measure[ROUNDINGS] <= 1e4):
            if is_stale and residual < math.inf:
                needs_factor = True
            elif halvings < MAX_HALVINGS:
                halvings += 1
                for a in range(z.shape[0]):
                    space.delta[a] *= 0.5
                    z[a] = space.z_kept[a] + space.delta[a]
                continue
        if not residual < math.inf:
            return NOT_FINITE
        if needs_factor:
            if iteration > 0 and is_stale:
                count[ANEW] = STEPS_ANEW
            count[IS_REDUCED] = 0
            if space.is_partitioned == 1:
                count[IS_REDUCED] = call(space.factor_partitioned, t, (system, scheme, work, space, h)) == 1.0
            if count[IS_REDUCED] == 0 and call(space.factor_newton, t, (system, scheme, work, space, h)) != 1.0:
                return SINGULAR
            is_stale = needs_factor = is_chord = False
        ratio, residual_before = residual / residual_before, residual
        copy(space.z_kept, z)
        if count[IS_REDUCED] == 1:
            call(space.solve_partitioned, t, (system, scheme, work, space, h))
        else:
            call(space.solve_newton, t, (system, scheme, work, space, h))
        size, is_rounding, _ = correct(space, 1.0, space.delta)
        iteration += 1
        count[ITERATIONS] += 1
        count[LAST] = iteration
        if iteration == 1 and not is_flight and is_far_from_start(space):
            return NOT_CONVERGED
        theta = measure[THETA_NEWTON]
        if is_chord and halvings == 0 and not is_noise(system, space):
            theta = size / size_before
            if size > 1e3 * EPS:
                measure[THETA_NEWTON] = theta
        left = GROWING * theta * min(left, size) if is_chord and halvings == 0 else math.inf
        is_held = measure[ROUNDINGS] <= NOISE and measure[VIOLATION] <= HELD
        is_solved = is_held and is_rounding and left <= BELOW_ROUNDING * EPS
        is_small = size < SMALL or (system.is_geometric == 1 and measure[ROUNDINGS] < 1e3)
        stalls += size_before > 0.0 and size > 0.5 * size_before and is_small
        is_stuck = stalls >= MAX_STALLS and measure[VIOLATION] <= HELD
        is_below = is_below_rounding(system, space, size, theta)
        if is_stuck or is_solved or is_converged(system, space, size, size_before, ratio, is_below, is_rounding):
            if not is_stale:
                count[AGE] = 0
            return OK
        if not is_chord or theta * size < CLOSE:  # without a chord it may contract by much
            forget_angles(space)
        needs_factor = halvings > 0 or (
            is_chord and iterations_left(system, space, size, theta) > space.limits[NEWTON_LIMIT]
        )
        is_chord = True
        size_before = size
        halvings = 0
    return NOT_CONVERGED


@inlined_kernel
def solve_step(system, scheme, work, space, t, h, is_flight):
    """Solve the step equations from the start in space.z, free flight or an extrapolation; a status."""
    count, z = space.count, space.z
    if count[MODE] == NEWTON and count[SINCE] >= count[RETRY]:
        count[MODE] = SIMPLIFIED
        count[AGE] = MAX_AGE
        space.measure[THETA_SIMPLIFIED] = 0.1
    count[SINCE] += 1
    count[AGE] += 1
    if count[MODE] == SIMPLIFIED:
        status = iterate_simplified(system, scheme, work, space, t, h)
        if status == OK:
            count[RETRY] = space.first_retry
            return OK
        copy(z, space.start)
        count[RETRY] = max(1, min(2 * count[RETRY], LAST_RETRY))
        count[MODE] = NEWTON
        count[SINCE] = 0
        count[AGE] = MAX_AGE
    return iterate_newton(system, scheme, work, space, t, h, is_flight)


@kernel
def fill_ahead(system, scheme, space, r):
    """Extrapolation of the unknowns of substep r along the polynomials of the last two steps into space.ahead."""
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
    """Start of substep r in space.z: extrapolation of the unknowns of the last steps.

    Where constraints are redundant, no equation determines a part of their impulses, which extrapolation would let grow, and so
    would what rounding leaves of it as other rows are left out: they start from a part of those of the last step.
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
                space.z[a] = FADING * space.table[r, 0, a]


@kernel
def fill_free_flight(system, scheme, work, space, t, h):
    """Start without a past: Y_l = d_l h v, no impulses."""
    n, s = system.n, scheme.K.shape[0]
    if system.is_planar == 1 and n < ARTICULATED_FROM and system.k == 0:
        fill_angles(work.angles, system, space.q)
        fill_masses_planar(space.M, work.inertia, work.angles, system)
        invert(space.M, space.pivot_rows, n)
        multiply_symmetric(work.solution, space.M, space.p)
    elif system.is_open == 1:
        solve_velocity_tree(system, work, space.q, space.p)
    else:
        call(space.fill_start_velocity, t, (system, scheme, work, space, h))
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
    space.count[AGE] = MAX_AGE


@copied_kernel
def take_difference(row, delta, first, end):
    """Exchange a row of differences for the new ones in delta, and these for those of the next order; the largest new one."""
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


@copied_kernel
def largest_difference(x, y, first, end):
    """Largest |x − y| of the lanes of two arrays (N,) from `first` to `end`."""
    if first >= end:
        return 0.0
    one, other = lanes(x), lanes(y)
    size = 0.0 * one[0]
    for a in range(first, end):
        size = larger(size, one[a] - other[a])
    return widest(size)


@kernel
def update_history(space, r):
    """Backward differences of the unknowns of substep r, and the extrapolation that was best for them.

    table[r, i] = ∇ⁱ z; the extrapolation Σ_{i ≤ order} ∇ⁱ of the step before missed by ∇^{order+1}, that along polynomials by
    z − space.ahead. Increments, which are the first unknowns, and impulses may each take the latter; at first both do, where
    two steps are alike.
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
    best, best_order = FAR * largest(z, FIRST_ROW, end), -1  # an extrapolation that misses by more is not used
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
    for a in range(n):
        add_compensated(space.p, space.p_low, a, impulse[a])
        move = increment(space, a, h) if space.has_velocities == 1 else z[a * s + s - 1]
        add_compensated(space.q, space.q_low, a, move)
        if system.periodic[a] == 1 and abs(space.q[a]) > math.pi:
            turns = round(space.q[a] / (2.0 * math.pi))
            space.turns[a] += turns
            space.q[a] -= turns * (2.0 * math.pi)
    space.count[IS_FACTORED] = space.count[HAS_JACOBIAN] = 0


@late_kernel(System, Scheme, Work, Space)
def fill_start_velocity(t, system, scheme, work, space, h):
    """v and μ of the momentum space.p on the constraints into work.solution; 0.0 where that is singular."""
    if call(space.factor_start, t, (system, scheme, work, space, h)) != 1.0:
        return 0.0
    solve_velocity_saddle(system, work, space.p)
    return 1.0


@kernel
def project_quaternions(p, system, space):
    """What `fill_projected_momentum` does for an open tree, to p (n,): no momentum along a quaternion a, p − a aᵀp/|a|²."""
    for b in range(system.k):
        first = quaternion_place(system, b)
        along = size = 0.0
        for a in range(first, first + 4):
            along += space.q[a] * p[a]
            size += space.q[a] * space.q[a]
        for a in range(first, first + 4):
            p[a] -= space.q[a] * (along / size)


@late_kernel(System, Scheme, Work, Space)
def fill_projected_momentum(t, system, scheme, work, space, h):
    """The momentum that satisfies the hidden constraint G v + ∂g/∂t = 0, p − Gᵀμ, into space.node_p; 0.0 where singular."""
    if call(space.fill_start_velocity, t, (system, scheme, work, space, h)) != 1.0:
        return 0.0
    copy(space.node_p, space.p)
    for b in range(system.k):
        work.solution[system.n + b] *= -1.0
    add_constraint_force(space.node_p, FIRST_ROW, ONE, work.G, system, work.solution, system.n, ONE)
    return 1.0


LATE = (
    factor_newton, solve_newton, factor_partitioned, solve_partitioned, factor_start, invert_middle, fill_start_jacobian,
    solve_simplified_saddle, solve_small_saddle, fill_constraint_residual, fill_wide_residual, factor_nodes, factor_wide,
    solve_wide, fill_start_velocity, fill_projected_momentum,
)  # fmt: skip


@inlined_kernel
def advance(system, scheme, work, space, t, h, r):
    """Substep r of a step, from space.q, space.p; a status.

    The step equations may have several solutions when the step is long. That which the extrapolation leads to is taken only
    if the extrapolation was close to it; otherwise that which free flight leads to.
    """
    status = NOT_CONVERGED
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
        status = solve_step(system, scheme, work, space, t, h, is_flight)
        if is_flight or (status == OK and not is_far_from_start(space)):
            break
    if status == OK:
        finish_step(system, scheme, space, h)
    update_history(space, r)
    space.count[WORST] = max(space.count[WORST], space.count[LAST])
    return status


@kernel
def store_state(q, p, system, space):
    """The state of the workspace, with all turns, into q and p (n,)."""
    for a in range(system.n):
        q[a] = space.q[a] + space.turns[a] * (2.0 * math.pi)
    copy(p, space.p)


@inlined_kernel
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
                if call(space.fill_projected_momentum, t0 + (step + 1) * h, (system, scheme, work, space, h)) != 1.0:
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
    _advance_runs(
        system, scheme, work, space, t0, h, first, last, every, *runs, NOTHING, *np.empty((2, 0, system.n)), *ends
    )
    return int(ends[0, 0]), int(ends[1, 0])


def run_all(system, scheme, work, space, h, steps, every, renewed, q, p):
    """Runs of so many steps from t = 0 and from each of many states q, p (runs, n), in workspaces that are as new.

    renewed   pairs of memory and what it held when it was new

    Returns the states q, p (runs, stored, n) after every so-manyth step, the first among them, and the status (runs,) of each.
    """
    out, others = np.empty((2, len(q), steps // every, system.n)), np.empty((2, 0, system.n))
    ends = np.zeros((2, len(q)), np.int64)
    _advance_runs(system, scheme, work, space, 0.0, h, 0, steps, every, *out, *others, renewed, q, p, *ends)
    return *np.concatenate([np.stack([q, p])[:, :, None], out], axis=2), ends[0]


def _advance_runs(*arguments):
    """What compiling a kernel raised during it is raised here."""
    advance_runs(*arguments)
    for each in LATE:
        each.raise_error()
