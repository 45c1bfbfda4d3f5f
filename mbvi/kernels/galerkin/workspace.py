"""The arrays that a run of a Galerkin scheme overwrites, and the places of their numbers.

Increment Y_l of coordinate a stands at a s + l − 1 of the unknowns, and impulse Λ_j of constraint b at b s + j behind
them, from `Space.behind` on; residuals likewise. Velocities for unknowns stand as the head of `velocities` says. Four
numbers are read and written at once (`lanes`); each part ends with zeros.

In the shapes below N is the number of unknowns with these zeros, L that of links, E that of entries of the constraint
Jacobian, r that of substeps, and `groups` of four control points, or four nodes, stand behind each other. `.` is a
length that depends on the path that the step takes, 0 where an array is not needed.

This module makes arrays, and has no formula of its own: the formulas of their numbers stand in the modules that fill
them.

Units of the kernels: out, x, y [any unit].

Sources: those of `mbvi.kernels.galerkin.steps`, and of the modules that it names.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from mbvi.kernels.algebra.saddle import UNCACHED, products_size, scales_size
from mbvi.kernels.compiler.decorators import copied_kernel, kernel
from mbvi.kernels.compiler.lanes import WIDE, WIDTH, lanes, larger, widest
from mbvi.kernels.compiler.packed import Packed, read_only
from mbvi.kernels.galerkin.tolerances import (
    ASSUMED,
    BELOW_ROUNDING,
    EPS,
    EXPENSIVE,
    FIRST_RETRY,
    LONG_GROWTH,
    LONG_MOST,
    MAX_AGE,
    SHORT,
    VALUES,
)
from mbvi.kernels.layout import NODE_COORDINATES, NODE_LANES, NODE_ROWS, NODE_START, Scheme, System
from mbvi.kernels.mechanics.articulated import SOLUTION_WIDTH
from mbvi.kernels.mechanics.lagrangian import make_lane_work, make_wide_work
from mbvi.kernels.mechanics.sines import ANGLE_WIDTH
from mbvi.kernels.mechanics.tree import SWEEP_WIDTH

Array = np.ndarray
MAX_ORDER = 8  # highest order of the extrapolation that starts a step
# Broyden updates before they begin anew: usually, and where Newton's matrix is expensive, in so many numbers of memory.
MAX_UPDATES, MANY_UPDATES, ROOM = 5, 100, 10**6
ARTICULATED_FROM = 12  # coordinates from which the articulated-body recursion is faster than a dense factor
SMALL_SADDLE = 16  # coordinates and constraints, without loops, up to which the inverse of M and G is formed
PARTITIONED = 16  # coordinates and constraints up to which Newton's direction is found by coordinate partitioning
SEVERAL = 3  # control points from which their constraints are evaluated four at once, where nothing rolls or touches
SIMPLIFIED, NEWTON = 0, 1
FIRST_ROW, ONE, NO_STAGES = np.int64(0), np.int64(1), np.int64(0)  # numba would compile kernels once more for literals
# Columns of Space.count: totals of a run, then what the solver remembers from step to step.
ITERATIONS, SIMPLIFIED_FACTORS, NEWTON_FACTORS, WORST, MODE, AGE, LAST, SINCE = 0, 1, 2, 3, 4, 5, 6, 7
RETRY, IS_FACTORED, HAS_JACOBIAN, ANEW, IS_REDUCED, IS_FLIGHT = 8, 9, 10, 11, 12, 13
# Columns of Space.history: number of differences that are known, the order of the extrapolation that served best on the last step
# (-1: none), and whether the extrapolation along the last polynomials served better, for increments and for impulses.
AVAILABLE, ORDER, MOVES_AHEAD, PUSHES_AHEAD = 0, 1, 2, 3
# Columns of Space.measure: contraction of either iteration, residual of the last step, step of Newton's last factor,
# largest node momentum or constraint impulse (the size of the terms that cancel in the residual), stiffness (the
# contraction of the simplified iteration before it is accelerated: in an open tree h² ∂f/∂q relative to M, with
# constraints that of the increments), residual in units of its rounding, largest |g| relative to the coordinates, last
# correction of the increments relative to these, and size of the coordinates (see place_size).
THETA_SIMPLIFIED, THETA_NEWTON, RESIDUAL, FACTOR_STEP = 0, 1, 2, 3
MOMENTUM_SIZE, STIFFNESS, ROUNDINGS, VIOLATION, CORRECTION, PLACE_SIZE = 4, 5, 6, 7, 8, 9
# Columns of Space.trace, what an iteration has observed in this step: relative size of the correction, and of the one before;
# correction of the increments before, and first; residual before, and first; contraction; error that is left, and the error
# that was expected to be left; numbers of corrections with this Jacobian, of those that determine its contraction, of those in
# a row that stalled, of slow ones in a row, and how often the step seemed to have ended.
SIZE, SIZE_BEFORE, STEP_BEFORE, FIRST_STEP, RESIDUAL_BEFORE, FIRST_RESIDUAL = range(6)
THETA, LEFT_OVER, EXPECTED, CORRECTIONS, KNOWN, STALLS, SLOW, ENDS = range(6, 14)
# Columns of Space.limits: number of iterations still needed from which Newton's iteration replaces the simplified one,
# and from which Newton's Jacobian is formed anew; contraction up to which the simplified iteration needs no more than
# that, whatever its correction; the largest number of its iterations, and of slow ones in a row; the factor by which its
# residual may exceed the first one; and the part of a correction that may be along the one before, where Broyden's
# updates lengthen it.
SIMPLIFIED_LIMIT, NEWTON_LIMIT, CONTRACTING, MOST, PATIENCE, GROWTH, PARALLEL = 0, 1, 2, 3, 4, 5, 6
# The last four are the thresholds SHORT; where Newton's matrix is expensive LONG_MOST, LONG_GROWTH, and no limit of the others.


class Space(Packed):
    """The arrays that a run overwrites. `make_space` makes them once; its parts list them."""


class Sizes(NamedTuple):
    """Sizes of a workspace, and the ways that a step of a system by a scheme may go.

    n, k, m, s               coordinates, constraints, quadrature nodes, control points
    groups, node_groups      groups of four control points, and of four nodes
    behind, N                place of the first impulse among the unknowns, and number of all, with the zeros behind
                             each part
    increment_rows           lanes of increments, or of velocities
    has_velocities           whether velocities at the nodes are the unknowns (`velocities`)
    has_node_masses          whether M of each node is inverted as a dense matrix
    has_derivatives          whether second derivatives of each node are at hand
    has_wide_nodes           whether up to eight nodes are evaluated at once
    is_small                 whether the inverse of M and G is formed
    is_partitioned           whether Newton's direction is found by coordinate partitioning
    has_wide_hessians        whether second derivatives are those of four nodes at once
    """

    n: int
    k: int
    m: int
    s: int
    groups: int
    node_groups: int
    behind: int
    N: int
    increment_rows: int
    has_velocities: bool
    has_node_masses: bool
    has_derivatives: bool
    has_wide_nodes: bool
    is_small: bool
    is_partitioned: bool
    has_wide_hessians: bool

    @property
    def has_series(self) -> bool:
        """Whether the correction of velocities takes the next term of the series of Newton's matrix."""
        return self.has_derivatives and (self.node_groups == 1 or self.has_wide_nodes)


def find_sizes(system: System, scheme: Scheme) -> Sizes:
    """Sizes of a run with s (n + k) unknowns per substep."""
    n, k, m, s = system.n, system.k, len(scheme.b), len(scheme.K)
    groups, room = -(-s // WIDTH), WIDTH if m > 1 else 0
    has_velocities = k == 0 and len(scheme.a) > 1
    behind, increment_rows = with_zeros(n * s, room), -(-n * s // WIDTH)
    if has_velocities:
        behind, increment_rows = n * groups * WIDTH, n * groups
    is_tree, has_loops = system.is_tree == 1, bool(system.reference.any())
    has_saddle = k > 0 and system.is_open == 0 and m > 1
    used, are_together = (
        np.count_nonzero(system.row_nodes[:, 0] >= 0),
        is_tree and s >= SEVERAL and not len(system.touches) + len(system.expressions),
    )
    has_wide_hessians = is_tree and m > 1 and system.second_size < UNCACHED
    has_node_masses = has_velocities and not (system.is_open == 1 and n >= ARTICULATED_FROM)
    if (
        k == 0 and n < ARTICULATED_FROM and system.second_size != n * n
    ):  # else the inversion of M would write behind its array
        raise ValueError(f"expected a mass matrix of one block, found {system.second_size} numbers of {n} coordinates")
    return Sizes(
        n=n,
        k=k,
        m=m,
        s=s,
        groups=groups,
        node_groups=-(-m // WIDTH),
        behind=behind,
        N=behind + with_zeros(k * s, room),
        increment_rows=increment_rows,
        has_velocities=has_velocities,
        has_node_masses=has_node_masses,
        has_derivatives=has_node_masses and has_wide_hessians,
        has_wide_nodes=has_velocities and WIDTH < m <= WIDE and is_tree,
        is_small=has_saddle and n + k <= SMALL_SADDLE and not has_loops,
        is_partitioned=has_saddle and are_together and s <= WIDTH and used < n <= PARTITIONED - used,
        has_wide_hessians=has_wide_hessians,
    )


def make_space(system: System, scheme: Scheme) -> Space:
    """Workspace of a run."""
    sizes = find_sizes(system, scheme)
    limits = _limits(system, sizes)
    return Space(
        **_state(sizes),
        **_solver_state(scheme, sizes, limits),
        **_unknowns(sizes),
        **_broyden(sizes, limits),
        **_extrapolation(scheme, sizes),
        **_coefficients(scheme, sizes),
        **_nodes(system, sizes),
        **_eight_nodes(system, sizes),
        **_velocities(sizes),
        **_constraints(system, sizes),
        **_simplified(system, sizes),
        **_partition(system, scheme, sizes),
        **_newton(system, sizes),
    )


def _state(sizes: Sizes) -> dict[str, Any]:
    """The state between steps.

    q, p           (n,)    coordinates, without whole turns, and discrete momenta
    q_low, p_low   (n,)    their rounding errors
    turns          (n,)    whole turns of angles
    impulse        (n,)    what p gains in the step
    """
    n = sizes.n
    turns = np.zeros(n, np.int64)
    return {"turns": turns} | {name: np.zeros(n) for name in ("q", "q_low", "p", "p_low", "impulse")}


def _solver_state(scheme: Scheme, sizes: Sizes, limits: Array) -> dict[str, Any]:
    """What the solver counts and remembers, in columns that are named above, and the limits by which it decides.

    count                         (14,)     see the names of the columns
    measure                       (10,)     see the names of the columns
    trace                         (14,)     see the names of the columns
    limits                        (7,)      of this system, see the names of the columns
    tolerances                    (.,)      of all systems, see `tolerances`
    history                       (r, 4)    of each substep
    has_velocities … has_series   int       1 or 0, see `Sizes`
    first_retry                   int       steps with Newton's iteration after which the simplified one is tried first
    """
    # An iteration that is Newton's except for a term of second order seldom fails twice in a row.
    first_retry = 0 if sizes.has_series or _is_expensive(limits) else int(VALUES[FIRST_RETRY])
    return {
        "count": np.array([0, 0, 0, 0, SIMPLIFIED, int(VALUES[MAX_AGE]), 0, 0, first_retry, 0, 0, 0, 0, 0]),
        "trace": np.zeros(14),
        "measure": np.array([VALUES[ASSUMED], 1e-3, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0]),
        **read_only(limits=limits, tolerances=VALUES),
        "history": np.full((len(scheme.fractions), 4), [-1, -1, 0, 0]),
        "has_velocities": int(sizes.has_velocities),
        "has_wide_nodes": int(sizes.has_wide_nodes),
        "has_series": int(sizes.has_series),
        "is_partitioned": int(sizes.is_partitioned),
        "first_retry": first_retry,
    }


def _limits(system: System, sizes: Sizes) -> Array:
    """Space.limits, from about what evaluations, solutions and Jacobians take [ns], as measured.

    M⁻¹ times a vector of a tree is a dense product, or the articulated-body recursion.
    """
    n, m, s = sizes.n, sizes.m, sizes.s
    width = WIDTH * int(system.nodes[:, NODE_LANES].max(initial=0))
    size, entries = s * s * system.matrix_size, s * len(system.entries)
    is_open = system.is_open == 1 or sizes.k == 0
    solution = (0.3 * s * (n + sizes.k) ** 2 if sizes.is_small else 0.25 * size) + 5.0 * entries
    evaluation = (30.0 * m + 10.0 * m * s) * n + (min(2.0 * n, 12.0) * s * n if is_open else solution)
    jacobian = m * (150.0 * n + (9.0 + 2.5 * s * s) * system.second_size) + 50.0 * entries + 0.1 * s * width * size
    ratio = jacobian / evaluation
    limit = 4.0 * (3.0 + ratio) if is_open else 1.5 * (3.0 + ratio) if sizes.is_small else 2.0 + ratio
    contracting = math.exp(math.log(VALUES[BELOW_ROUNDING] * EPS) / limit)
    is_expensive = is_open and ratio > VALUES[EXPENSIVE]
    ends = (VALUES[LONG_MOST], math.inf, VALUES[LONG_GROWTH], math.inf) if is_expensive else VALUES[SHORT]
    return np.array([limit, 1.0 + ratio, contracting, *ends])


def _is_expensive(limits: Array) -> bool:
    """Whether Newton's matrix costs so much that the simplified iteration may take more iterations."""
    return bool(limits[MOST] == VALUES[LONG_MOST])


def _unknowns(sizes: Sizes) -> dict[str, Any]:
    """The unknowns of a step and what changes them.

    z, start, z_kept                (N,)    unknowns, where they started, and those before the last correction of
                                            Newton's iteration
    R, delta                        (N,)    residual and correction
    behind, increment_rows, rows    int     place of the first impulse; lanes of increments, and of all
    """
    arrays = {name: np.zeros(sizes.N) for name in ("z", "start", "z_kept", "R", "delta")}
    rows = sizes.N // WIDTH if sizes.k else sizes.increment_rows
    return arrays | {"behind": sizes.behind, "increment_rows": sizes.increment_rows, "rows": rows}


def _broyden(sizes: Sizes, limits: Array) -> dict[str, Any]:
    """Corrections of a step, for `broyden`, of which there may be c.

    steps             (c, N)    s_j
    step_products     (c, c)    s_iᵀ s_j
    inverse_squares   (c,)      1/|s_j|²
    along, update     (c,)      s_jᵀ z, and c_j
    """
    count = max(MAX_UPDATES, min(MANY_UPDATES, ROOM // sizes.N)) if _is_expensive(limits) else MAX_UPDATES
    arrays = {name: np.zeros(count) for name in ("inverse_squares", "along", "update")}
    return arrays | {"steps": np.zeros((count, sizes.N)), "step_products": np.zeros((count, count))}


def _extrapolation(scheme: Scheme, sizes: Sizes) -> dict[str, Any]:
    """What `predictor` extrapolates from.

    table                       (r, MAX_ORDER + 2, N)    backward differences of the unknowns of each substep
    ahead                       (N,)                     extrapolation along the polynomials of the last two steps
    ahead_both, ahead_before    (2, s, groups, 4)        its coefficients of the last unknowns, and of their last change
                                                         (subtracted)
    is_polynomial               int                      1 or 0: whether there is one
    """
    ahead, s = scheme.ahead_of_velocities if sizes.has_velocities else scheme.ahead, sizes.s
    return {
        "table": np.zeros((len(scheme.fractions), MAX_ORDER + 2, sizes.N)),
        "ahead": np.zeros(sizes.N),
        **read_only(
            ahead_both=by_points(np.moveaxis(ahead[:, :, :s] + ahead[:, :, s:], 1, -1)),
            ahead_before=by_points(np.moveaxis(ahead[:, :, s:], 1, -1)),
        ),
        "is_polynomial": int(scheme.ahead.size > 0),
    }


def _coefficients(scheme: Scheme, sizes: Sizes) -> dict[str, Any]:
    """The scheme's coefficients in lanes of nodes or of control points; those without one hold zeros.

    A, B                  (node_groups, s+1, 4)      of four nodes side by side
    b, b_inverse          (node_groups, 4)           weights, and 1/b
    A_points, B_points    (4 node_groups, groups, 4) of l = 1 … s
    A_rows, B_rows        (4 node_groups, groups, 4) of j = 0 … s−1
    a_columns, a_rows     (16 node_groups²,)         a_ij by columns, and a_ji − b_i by rows
    K, K_inverse          (s, groups, 4)             transposed
    d                     (groups, 4)                control points 1 … s
    is_point              (groups, 4)                1 in lanes of control points
    is_inner              (groups, 4)                1 in lanes of those before the step's end
    """
    s = sizes.s
    a, b = (on_grid(scheme.a), on_grid(scheme.b)) if sizes.has_velocities else (scheme.a, scheme.b)
    return read_only(
        A=in_lanes(scheme.A),
        B=in_lanes(scheme.B),
        b=in_lanes(b),
        b_inverse=by_points(1.0 / b),
        A_points=by_points(with_rows_of_zeros(scheme.A[:, 1:])),
        B_points=by_points(with_rows_of_zeros(scheme.B[:, 1:])),
        A_rows=by_points(with_rows_of_zeros(scheme.A[:, :-1])),
        B_rows=by_points(with_rows_of_zeros(scheme.B[:, :-1])),
        a_columns=by_points(with_rows_of_zeros(a.T)).ravel(),
        a_rows=by_points(with_rows_of_zeros(a - b[: len(a)])).ravel(),
        K=by_points(scheme.K.T),
        K_inverse=by_points(scheme.K_inverse.T),
        d=by_points(scheme.d[1:]),
        is_point=by_points(np.ones(s)),
        is_inner=by_points(np.arange(1.0, s + 1) < s),
    )


def _nodes(system: System, sizes: Sizes) -> dict[str, Any]:
    """Quadrature nodes.

    t                                 (m,)                      their times [s]
    node_q, node_v, node_p, node_f    (n,)                      state, momentum and force at one; q and p at other
                                                                places too
    lane_q, lane_v                    (n, 4)                    states at four
    momenta, forces                   (node_groups n, 4)        at all
    angles                            (node_groups, L, 6, 4)    cosines and sines, see `sines`
    points, mixed                     (groups, n, 4)            numbers of control points, before and after what mixes
                                                                coordinates
    """
    n, links = sizes.n, len(system.links)
    return {name: np.zeros(n) for name in ("node_q", "node_v", "node_p", "node_f")} | {
        "t": np.zeros(sizes.m),
        "lane_q": np.zeros((n, WIDTH)),
        "lane_v": np.zeros((n, WIDTH)),
        "momenta": np.zeros((sizes.node_groups * n, WIDTH)),
        "forces": np.zeros((sizes.node_groups * n, WIDTH)),
        "angles": np.full((sizes.node_groups, links, ANGLE_WIDTH, WIDTH), math.inf),  # no angle is known
        "points": np.zeros((sizes.groups, n, WIDTH)),
        "mixed": np.zeros((sizes.groups, n, WIDTH)),
    }


def _eight_nodes(system: System, sizes: Sizes) -> dict[str, Any]:
    """States, angles, sweeps, inverses of M and second derivatives at up to eight nodes, side by side.

    wide_q, wide_v                             (n, 8)        states
    wide_angles                                (L, 6, 8)     cosines and sines, see `sines`
    wide_row                                   (L, 27, 8)    work of the sweeps
    wide_masses, wide_Lvq, wide_Lqv, wide_Lqq  (n², 8)       inverses of M and second derivatives; (0, 8) where they are
                                                             not needed
    wide_work                                  WideWork      work of second derivatives
    """
    n, links = (sizes.n, len(system.links)) if sizes.has_wide_nodes else (0, 0)
    second = n * n if sizes.has_derivatives else 0
    arrays = {f"wide_{name}": np.zeros((second, WIDE)) for name in ("masses", "Lvq", "Lqv", "Lqq")}
    return arrays | {
        "wide_q": np.zeros((n, WIDE)),
        "wide_v": np.zeros((n, WIDE)),
        "wide_angles": np.full((links, ANGLE_WIDTH, WIDE), math.inf),
        "wide_row": np.zeros((links, SWEEP_WIDTH, WIDE)),
        "wide_work": make_wide_work(system, second > 0),
    }


def _velocities(sizes: Sizes) -> dict[str, Any]:
    """Velocities as unknowns, see `velocities`.

    Lengths n² are 0 where M is not of each node, or second derivatives are not.

    node_masses                (groups, n², 4)    inverses of M at the nodes
    node_Lvq, node_Lqq         (groups, n², 4)    second derivatives there
    node_Lqv                   (n², 4)            of one group
    pivot_rows                 (16 n,)            work of inversion
    moves, impulses            (N,)               y, and the impulses of E
    """
    is_by_fours = sizes.has_node_masses and not (sizes.has_derivatives and sizes.has_wide_nodes)
    masses = sizes.n**2 if is_by_fours else 0
    derivatives = masses if sizes.has_derivatives else 0
    return {
        "node_masses": np.zeros((sizes.groups, masses, WIDTH)),
        "node_Lvq": np.zeros((sizes.groups, derivatives, WIDTH)),
        "node_Lqv": np.zeros((derivatives, WIDTH)),
        "node_Lqq": np.zeros((sizes.groups, derivatives, WIDTH)),
        "pivot_rows": np.zeros(2 * sizes.n * WIDE),
        "moves": np.zeros(sizes.N),
        "impulses": np.zeros(sizes.N),
    }


def _constraints(system: System, sizes: Sizes) -> dict[str, Any]:
    """Constraints at the control points.

    g, g_t            (k,)                 at one
    G                 (s + 1, E)           entries of the Jacobian at Q_0 … Q_s
    point_g           (groups, k, 4)       at four
    point_impulses    (k,)                 Λ_j
    quaternions       (2, groups, E, 4)    of open trees: a_j and a_l
    lane_work         LaneWork             of four places at once
    """
    k, entries = sizes.k, len(system.entries)
    is_open = system.is_open == 1 or k == 0
    has_lane_work = sizes.has_wide_hessians or (system.is_tree == 1 and k > 0 and sizes.s > 1)
    return {
        "g": np.zeros(k),
        "g_t": np.zeros(k),
        "G": np.zeros((sizes.s + 1, entries)),
        "point_g": np.zeros((sizes.groups, k, WIDTH)),
        "point_impulses": np.zeros(k),
        "quaternions": np.ones((2, sizes.groups, entries if is_open else 0, WIDTH)),
        "lane_work": make_lane_work(system, has_lane_work),
    }


def _simplified(system: System, sizes: Sizes) -> dict[str, Any]:
    """The simplified iteration.

    M                                 (second_size,)          inverse at the middle
    solved                            (L, 10, 4)              of the articulated-body recursion
    inverse                           (n + k, n + k)          of [M Gᵀ; G 0] where it is small, else (0, 0)
    small_sides, small_solutions      (groups, n + k, 4)      what it is applied to, and the results
    sides, solutions                  (s side_size,)          the same by the factors of [M Gᵀ; G 0]
    """
    small, size = (sizes.n + sizes.k if sizes.is_small else 0), sizes.s * system.side_size
    return {
        "M": np.zeros(system.second_size),
        "solved": np.zeros((len(system.links), SOLUTION_WIDTH, WIDTH)),
        "inverse": np.zeros((small, small)),
        "small_sides": np.zeros((sizes.groups, small, WIDTH)),
        "small_solutions": np.zeros((sizes.groups, small, WIDTH)),
        "sides": np.zeros(size),
        "solutions": np.zeros(size),
    }


def _partition(system: System, scheme: Scheme, sizes: Sizes) -> dict[str, Any]:
    """Newton's direction by coordinate partitioning, see `partition`.

    There are d constraints in use, and f = n − d free coordinates; all lengths are 0 where there is no partitioning.

    used                       (d,)                constraints
    row_order, column_order    (d,), (n,)          of G by its pivots
    row_sizes, pivoting        (d,), (d n,)        sizes of the rows of G, and work
    borders, inverses          (2, d n, 4), (2, d², 4)    G and G_D⁻¹ at the control points of rows, and of columns
    ties                       (2, d f, 4)         T there
    blocks, curvatures         (4 n², 4), (4 n²,)  A_jl, and curvatures at the control points
    units                      (4, 4)              rows of the identity
    free_rows, reduced         (4 f n, 4), (16 f²,)    rows of the free coordinates, Â and its inverse
    reduced_pivots             (4 f, 2)            work of the inversion
    reduced_above              (4 f,)              work of the inversion
    unknowns, multipliers      (n, 4), (d, 4)      x and λ
    rights                     (f, 4)              right sides of the free coordinates
    """
    used = np.flatnonzero(system.row_nodes[:, 0] >= 0) if sizes.is_partitioned else np.zeros(0, np.int64)
    dependent, few = len(used), sizes.n if sizes.is_partitioned else 0
    free = few - dependent
    return {
        **read_only(used=used, units=np.eye(WIDTH)),
        "row_order": np.zeros(dependent, np.int64),
        "column_order": np.zeros(few, np.int64),
        "row_sizes": np.zeros(dependent),
        "pivoting": np.zeros(dependent * few),
        "borders": np.zeros((2, dependent * few, WIDTH)),
        "inverses": np.zeros((2, dependent**2, WIDTH)),
        "ties": np.zeros((2, dependent * free, WIDTH)),
        "blocks": np.zeros((few**2 * WIDTH, WIDTH)),
        "curvatures": np.zeros(few**2 * WIDTH),
        "free_rows": np.zeros((free * few * WIDTH, WIDTH)),
        "reduced": np.zeros((WIDTH * free) ** 2),
        "reduced_pivots": np.zeros((WIDTH * free, 2), np.int64),
        "reduced_above": np.zeros(WIDTH * free),
        "unknowns": np.zeros((few, WIDTH)),
        "multipliers": np.zeros((dependent, WIDTH)),
        "rights": np.zeros((free, WIDTH)),
    }


def _newton(system: System, sizes: Sizes) -> dict[str, Any]:
    """Newton's direction by elimination, see `saddle`.

    Lvv, Lvq, Kqv, Kqq     (hessian_lanes second_size,)    second derivatives at so many nodes side by side
    J                      (s² matrix_size,)               the Jacobian and its factors
    pivots, above          (w, 2), (w,)                    work of elimination, w the unknowns of the widest node in s
                                                           stages
    products, scales       (.,), (.,)                      work of elimination, see `saddle.products_size` and
                                                           `saddle.scales_size`
    ranks                  (nodes,)                        ranks of the nodes
    sums                   (4, 4)                          work of `saddle.add_stages`
    places                 (s (n + k),)                    of the unknowns in the order of elimination
    permuted, eliminated   (s side_size,)                  right side and solution in that order
    """
    s, lanes_of_second = sizes.s, WIDTH if sizes.has_wide_hessians else 1
    width, size = WIDTH * int(system.nodes[:, NODE_LANES].max(initial=0)), s * system.side_size
    return {name: np.zeros(system.second_size * lanes_of_second) for name in ("Lvv", "Lvq", "Kqv", "Kqq")} | {
        "hessian_lanes": lanes_of_second,
        "J": np.zeros(s * s * system.matrix_size),
        "pivots": np.zeros((s * width, 2), np.int64),
        "above": np.zeros(s * width),
        "sums": np.zeros((WIDTH, WIDTH)),
        "products": np.zeros(s * s * products_size(system)),
        "scales": np.zeros(scales_size(system, s)),
        "ranks": np.zeros(len(system.nodes), np.int64),
        **read_only(places=stage_places(system, s)),
        "permuted": np.zeros(size),
        "eliminated": np.zeros(size),
    }


def on_grid(x: np.ndarray) -> np.ndarray:
    """Coefficients rounded to multiples of 2⁻⁵³: differences of those between −1 and 1 are exact."""
    return np.round(x * 2.0**53) * 2.0**-53


def with_zeros(count: int, room: int) -> int:
    """Room for `count` numbers and some after them, if there are any: a multiple of four."""
    return -(-(count + room) // WIDTH) * WIDTH if count else 0


def in_lanes(rows: np.ndarray) -> np.ndarray:
    """Rows (m, …) of quadrature nodes in groups of lanes, (groups, …, 4).

    Lanes without a node take the first row, or 0 of an array (m,), which holds weights.
    """
    groups = -(-len(rows) // WIDTH)
    rest = groups * WIDTH - len(rows)
    filled = np.concatenate([rows, np.repeat(rows[:1] if rows.ndim > 1 else [0.0], rest, axis=0)])
    return np.moveaxis(filled.reshape(groups, WIDTH, *rows.shape[1:]), 1, -1).copy()


def with_rows_of_zeros(rows: np.ndarray) -> np.ndarray:
    """Rows (m, …) of quadrature nodes, and zeros for the lanes without a node."""
    return np.concatenate([rows, np.zeros((-len(rows) % WIDTH, *rows.shape[1:]))])


def by_points(rows: np.ndarray) -> np.ndarray:
    """Rows (…, s) of control points in groups of lanes, (…, groups, 4), with zeros in lanes without a control point."""
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
    """out = x.

    out, x    (N,)    out: written; x: read
    """
    for a in range(x.shape[0]):
        out[a] = x[a]


@copied_kernel
def largest(x, first, end):
    """The largest |x| of the lanes from `first` to `end` − 1; entries that are not a number do not count.

    x         (N,)    in whole lanes
    """
    rows = lanes(x)
    size = 0.0 * rows[0]
    for a in range(first, end):
        size = larger(size, rows[a])
    return widest(size)


@copied_kernel
def largest_difference(x, y, first, end):
    """The largest |x − y| of the lanes from `first` to `end` − 1.

    x, y      (N,)    in whole lanes
    """
    if first >= end:
        return 0.0
    one, other = lanes(x), lanes(y)
    size = 0.0 * one[0]
    for a in range(first, end):
        size = larger(size, one[a] - other[a])
    return widest(size)
