"""Gauss's schemes in independent coordinates of a system with loops: no multipliers, and constraints hold at all nodes.

The d constraints in use determine d of the n coordinates, q_D, by the others, q_I. With G = (G_D, G_I) the velocities are
v_D = T v_I, T = −G_D⁻¹ G_I, and the Lagrangian of q_I alone, L̂(q_I, v_I) = L(q, v), has with μ = G_D⁻ᵀ p_D and H = ∂²(μᵀg)/∂q²

    p̂ = p_I + Tᵀ p_D,     f̂ = ∂L̂/∂q_I = w_I + Tᵀ w_D,     w = f − H v,

since L − μᵀ G v has the value of L on the constraints, and its derivative in v_D is zero. A force F adds F_I + Tᵀ F_D to f̂. The
equations of a step are those of `velocities`, of p̂ and f̂:

    r_i = b_i (p̂_i − p̂_k) + h Σ_j (a_ji − b_i) b_j f̂_j = 0,     p̂_{k+1} = p̂_k + h Σ_j b_j f̂_j.

They are solved by V_i ← V_i − M̂_i⁻¹ r_i/b_i, with M̂ of each node where the step is predicted, and q_D at the nodes by Newton's
iteration along with it: at every evaluation q_D ← q_D − G_D⁻¹ g once. M̂ is found column by column: p̂ is linear in v_I.

Which coordinates are dependent is chosen by the pivots of G, and anew where a step starts and one of them has become small.
As a covector on the constraints, p̂ with zeros for q_D is a momentum of all coordinates, and so leads to those of other ones:
p̂' = p_I' + T'ᵀ p_D'. The momentum given out is p = M v.

All nodes of a step, up to eight, stand side by side in the lanes of a vector. Matrices are dense, for few loops.

Units, with u the unit of a coordinate: t, h [s]; q, out_q [u]; v [u/s]; p, out_p [J s/u]; x [J s/u or J/u]; G, pivots
[unit of g/u]; border [mixed]; order [1].

Sources: Wehage & Haug, J. Mech. Des. 104 (1982) (partitioning of coordinates); Marsden & West 2001, section 2.6.
"""

import math

import numpy as np
from numba import types

from mbvi.kernels.algebra.compensated import add_compensated
from mbvi.kernels.algebra.dense import invert
from mbvi.kernels.algebra.partition import find_pivots
from mbvi.kernels.compiler.decorators import copied_kernel, copied_solver_kernel, kernel
from mbvi.kernels.compiler.lanes import WIDE, larger, part, total, wide_lanes, widest
from mbvi.kernels.compiler.late import late_kernel
from mbvi.kernels.compiler.packed import Packed, read_only
from mbvi.kernels.galerkin.tolerances import (
    CLOSE,
    CLOSED,
    ENOUGH,
    EPS,
    FAR_OFF,
    FAR_VELOCITIES,
    LEAST_PIVOT,
    LEFT,
    MANY,
    MAX_ITERATIONS,
    MAX_STALLS,
    NO_LONGER,
    OF_PLACES,
    ROUGH,
    SHRINKING,
    TELLING,
    VALUES,
    WEAK,
)
from mbvi.kernels.galerkin.workspace import on_grid
from mbvi.kernels.layout import ENTRIES, FIRST_ENTRY, NOT_CONVERGED, NOT_FINITE, OK, SINGULAR, Scheme, System
from mbvi.kernels.mechanics.constraints import (
    add_curvature_product,
    fill_constraint_geometry,
    fill_constraints,
    fill_rows,
)
from mbvi.kernels.mechanics.lagrangian import (
    add_forces,
    fill_angles,
    fill_gradient_links,
    has_forces,
    turn_angles,
)
from mbvi.kernels.mechanics.planar_loops import (
    PLANE_WIDTH,
    add_curvature_in_plane,
    fill_rows_in_plane,
    move_in_plane,
    place_in_plane,
)
from mbvi.kernels.mechanics.planar_tree import fill_directions, fill_gradient_planar, turn_directions
from mbvi.kernels.mechanics.sines import ANGLE_WIDTH, KNOWN
from mbvi.kernels.mechanics.tree import SWEEP_WIDTH, WORLD_WIDTH
from mbvi.kernels.mechanics.wrenches import WRENCH_PARTS, WRENCH_WIDTH

CLOSURES = 4  # iterations of Newton's method for q_D at the nodes of free flight, before velocities are corrected
# Columns of Space.count: iterations, the most of a step, inversions of M̂, steps known to extrapolate from, and whether M̂ of this
# step is inverted.
ITERATIONS, WORST, INVERSIONS, KNOWN_STEPS, IS_INVERTED = 0, 1, 2, 3, 4


class Nodes(Packed):
    """What stands in lanes of the nodes, (…, 8); names of the tree's arrays are those of `Work`.

    V, ended, before (n,)   velocities, those of the last step and of the one before it
    y (n,)                  moves of the dependent coordinates from the step's start, in the places of their own
    q, v, p, f (n,)         states, momenta and forces
    curved (n,), mu (k,)    H v and μ, by constraints
    border (d n,)           (G_D⁻¹, −T), row by row, in the order of the coordinates
    M (m²,)                 inverse of M̂, m = n − d; pivot_rows: work
    R, delta (m,)           r_i/b_i and corrections of V
    g, g_t (k,), G (.,)     constraints and the entries of their Jacobian
    a_columns, a_rows (8,)  a_ij by columns, and a_ji − b_i by rows
    b, b_inverse (1,)       weights, and 1/b
    last, earlier (8,)      what extrapolates velocities, of the last step and of the one before it
    """

    width = WIDE


class Space(Packed):
    """What a run overwrites.

    q, q_low (n,), turns (n,)      coordinates without whole turns, what rounding leaves of them, and whole turns
    p, p_low (n,)                  p̂ in the places of the independent coordinates, zero in the others, and what rounding leaves
    order, places (n,)             coordinates, the dependent first, and the place of each in that order
    rows (k,)                      constraints, those in use first
    pivots (d,), sizes (k,)        of G when the coordinates were chosen; largest entries of its rows
    matrix (k n,), border (d n,)   G, and (G_D⁻¹, −T), at the step's start
    v, node_p, node_f (n,)         velocity, momentum and force there
    moves (n,)                     what q_D moves in the step
    M (m²,), rows_of_M (2 m,)      M̂⁻¹ there, and work
    G (.,), g, g_t (k,)            constraints there
    frames, plane_rows, plane      of a mechanism in a plane, else (0, .): see `plane`
    forces (n, 8)                  those besides gravity at the nodes
    contraction (1,)               of the iteration in the last step
    tolerances (.,)                what the iteration decides by, see `galerkin.tolerances`

    Units, with u that of a coordinate: q, moves [u]; V, v [u/s]; p, μᵀG, r/b [J s/u]; f, H v [J/u]; M̂⁻¹ [u²/(J s²)].
    """


def make_space(system: System, scheme: Scheme, used: int, frames: np.ndarray, plane_rows: np.ndarray) -> Space:
    """Workspace of a run of a scheme of Gauss, on a tree of which so many constraints are independent."""
    n, k, d, links = system.n, system.k, used, len(system.links)
    m, entries = n - d, len(system.entries)
    a, b, ahead = on_grid(scheme.a), on_grid(scheme.b), scheme.ahead_of_velocities[0].T
    s = len(b)

    def wide(*shape: int) -> np.ndarray:
        return np.zeros((*shape, WIDE))

    def by_rows(rows: np.ndarray) -> np.ndarray:
        found = wide(WIDE)
        found[:s, :s] = rows
        return found

    def in_one(row: np.ndarray) -> np.ndarray:
        found = wide(1)
        found[0, :s] = row
        return found

    nodes = Nodes(
        **{name: wide(n) for name in ("V", "ended", "before", "y", "q", "v", "p", "f", "curved", "low", "zero")},
        **{name: wide(k) for name in ("g", "g_t", "mu")},
        **{name: wide(m) for name in ("R", "delta")},
        world=wide(links, WORLD_WIDTH),
        S=wide(n, 6),
        D=wide(n, 6),
        plane=wide(len(frames), PLANE_WIDTH),
        G=wide(entries),
        border=wide(d * n),
        M=wide(m * m),
        pivot_rows=wide(2 * m),
        angles=np.full((links, ANGLE_WIDTH, WIDE), math.inf),
        row=wide(links, SWEEP_WIDTH),
        functions=wide(k, 3),
        wrench_of=wide(WRENCH_PARTS),
        wrench_rate=wide(WRENCH_WIDTH),
        wrench_sum=wide(WRENCH_WIDTH),
        twists=wide(2, 6),
        **read_only(
            a_columns=by_rows(a.T),
            a_rows=by_rows(a - b),
            b=in_one(b),
            b_inverse=in_one(1.0 / b),
            last=by_rows(ahead[:s]),
            earlier=by_rows(ahead[s:]),
        ),
    )
    return Space(
        nodes=nodes,
        **read_only(frames=frames, plane_rows=plane_rows, tolerances=VALUES),
        plane=np.zeros((len(frames), PLANE_WIDTH)),
        fill_gradient_in_plane=fill_gradient_in_plane,
        fill_gradient_in_space=fill_gradient_in_space,
        turns=np.zeros(n, np.int64),
        order=np.arange(n),
        places=np.arange(n),
        rows=np.arange(k),
        **{name: np.zeros(n) for name in ("q", "q_low", "p", "p_low", "v", "moves", "node_p", "node_f")},
        pivots=np.zeros(d),
        sizes=np.zeros(k),
        matrix=np.zeros(k * n),
        border=np.zeros(d * n),
        M=np.zeros(m * m),
        rows_of_M=np.zeros(2 * m),
        G=np.zeros(entries),
        g=np.zeros(k),
        g_t=np.zeros(k),
        count=np.zeros(5, np.int64),
        forces=wide(n),
        contraction=np.array([0.1]),
    )


@copied_solver_kernel
def fill_border(border, G, system, space):
    """G of the constraints in use, row by row in the order of the coordinates, from its entries; on numbers or on
    lanes.

    border    (d n,)    out
    G         (E,)      entries of the constraint Jacobian
    """
    n = system.n
    for r in range(space.pivots.shape[0]):
        for a in range(n):
            border[r * n + a] = 0.0
        first = system.constraints[space.rows[r], FIRST_ENTRY]
        for e in range(first, first + system.constraints[space.rows[r], ENTRIES]):
            border[r * n + space.places[system.entries[e]]] += G[e]


@copied_solver_kernel
def solve_border(border, pivots, n, d):
    """Overwrite (G_D, G_I) by (G_D⁻¹, G_D⁻¹ G_I), by Gauss–Jordan elimination without exchanges; on numbers or on
    lanes.

    Returns how many times smaller than `pivots` one has become, infinity where one has another sign: between two signs
    G_D is singular, and q_D would be on another branch of the motion.

    border    (d n,)    in and out, row by row
    pivots    (d,)      those of G when the coordinates were chosen
    """
    weakness = turned = 0.0 * border[0]
    for p in range(d):
        scale = 1.0 / border[p * n + p]
        ratio = pivots[p] * scale
        weakness = larger(weakness, ratio)
        turned = larger(turned, larger(0.0 * ratio, ratio) - ratio)
        border[p * n + p] = 1.0
        for a in range(n):
            border[p * n + a] = scale * border[p * n + a]
        for r in range(d):
            if r != p:
                factor = border[r * n + p]
                border[r * n + p] = 0.0
                for a in range(n):
                    border[r * n + a] = border[r * n + a] - factor * border[p * n + a]
    return widest(weakness) if widest(turned) == 0.0 else math.inf


@copied_solver_kernel
def fill_dependent(v, border, order, n, d):
    """v_D = T v_I, in the places of the dependent coordinates; on numbers or on lanes.

    v         (n,)      in and out: v_I is read, v_D is written
    border    (d n,)    (G_D⁻¹, −T)
    order     (n,)      coordinates, the dependent first
    """
    for r in range(d):
        value = border[r * n + d] * v[order[d]]
        for a in range(d + 1, n):
            value = value + border[r * n + a] * v[order[a]]
        v[order[r]] = -1.0 * value


@copied_kernel
def reduced(x, border, order, n, d, b):
    """x_I + Tᵀ x_D of independent coordinate b; on numbers or on lanes.

    x         (n,)      a covector
    border    (d n,)    (G_D⁻¹, −T)
    order     (n,)      coordinates, the dependent first
    """
    value = x[order[d + b]]
    for r in range(d):
        value = value - border[r * n + d + b] * x[order[r]]
    return value


@copied_kernel
def fill_moves(nodes, a, h):
    """h Σ_j a_ij V_j of coordinate a."""
    V, columns = h * nodes.V[a], nodes.a_columns
    move = columns[0] * part(V, 0)
    for j in range(1, WIDE):
        move = move + columns[j] * part(V, j)
    return move


@kernel
def fill_momentum(p, system, work, space):
    """p = M v of the state between steps, from p̂, and v into space.v; False if M̂ is singular.

    p         (n,)      out  [J s/u]
    """
    order, n, d, v = space.order, system.n, space.pivots.shape[0], space.v
    m = n - d
    fill_angles(work.angles, system, space.q)
    for b in range(m):
        for c in range(m):
            v[order[d + c]] = 1.0 * (b == c)
        fill_dependent(v, space.border, order, n, d)
        fill_gradient_links(space.node_p, space.node_f, work.row, work.angles, system, space.q, v)
        for c in range(m):
            space.M[c * m + b] = reduced(space.node_p, space.border, order, n, d, c)
    if not invert(space.M, space.rows_of_M, m):
        return False
    for c in range(m):
        v[order[d + c]] = 0.0
        for b in range(m):
            v[order[d + c]] += space.M[c * m + b] * space.p[order[d + b]]
    fill_dependent(v, space.border, order, n, d)
    fill_gradient_links(p, space.node_f, work.row, work.angles, system, space.q, v)
    return True


@kernel
def extrapolate(system, space, h):
    """Start of a step along the polynomials of the last two."""
    nodes = space.nodes
    for a in range(system.n):
        V, before = nodes.ended[a], nodes.before[a]
        ahead = nodes.last[0] * part(V, 0) + nodes.earlier[0] * part(before, 0)
        for j in range(1, WIDE):
            ahead = ahead + (nodes.last[j] * part(V, j) + nodes.earlier[j] * part(before, j))
        nodes.V[a] = ahead
    for r in range(space.pivots.shape[0]):
        nodes.y[space.order[r]] = fill_moves(nodes, space.order[r], h)


@kernel
def fly(system, scheme, work, space, t, h):
    """Start of a step with the velocity at its start, and q_D on the constraints; False where M̂ or G_D is singular."""
    nodes = space.nodes
    if not fill_momentum(space.node_p, system, work, space):
        return False
    for a in range(system.n):
        nodes.V[a] = space.v[a]
    for r in range(space.pivots.shape[0]):
        nodes.y[space.order[r]] = fill_moves(nodes, space.order[r], h)
    space.count[IS_INVERTED] = 1
    for _ in range(CLOSURES):
        if fill_reduced_gradient(system, scheme, work, space, t, h) < 0.0:
            return False
    return True


@copied_kernel
def forget_angles(nodes, links):
    """No angle is known: what a step gives does not depend on where those before it left their angles."""
    for i in range(links):
        nodes.angles[i, KNOWN] = math.inf


@kernel
def fill_places(space, h):
    """Coordinates at the nodes: the independent ones from their velocities, the others from where they were moved."""
    nodes, order, d = space.nodes, space.order, space.pivots.shape[0]
    for i in range(order.shape[0]):
        a = order[i]
        move = nodes.y[a] if i < d else fill_moves(nodes, a, h)
        nodes.q[a] = (space.q_low[a] + move) + space.q[a]


@kernel
def use_constraints(system, space):
    """(G_D⁻¹, −T), q_D nearer to the constraints and v_D, from g and G at the nodes; False where G_D is singular."""
    nodes, order, n, d = space.nodes, space.order, system.n, space.pivots.shape[0]
    fill_border(nodes.border, nodes.G, system, space)
    weakness = solve_border(nodes.border, space.pivots, n, d)
    for r in range(d):
        correction = nodes.border[r * n] * nodes.g[space.rows[0]]
        for i in range(1, d):
            correction = correction + nodes.border[r * n + i] * nodes.g[space.rows[i]]
        nodes.y[order[r]] = nodes.y[order[r]] - correction
    for a in range(n):
        nodes.v[a] = nodes.V[a]
    fill_dependent(nodes.v, nodes.border, order, n, d)
    return weakness < math.inf


@kernel
def fill_multipliers(system, space):
    """μ = G_D⁻ᵀ p_D of all constraints, 0 of those not in use; and no H v yet."""
    nodes, order, n, d = space.nodes, space.order, system.n, space.pivots.shape[0]
    for i in range(system.k):
        nodes.mu[i] = 0.0
    for i in range(d):
        multiplier = nodes.border[i] * nodes.p[order[0]]
        for r in range(1, d):
            multiplier = multiplier + nodes.border[r * n + i] * nodes.p[order[r]]
        nodes.mu[space.rows[i]] = multiplier
    for a in range(n):
        nodes.curved[a] = 0.0


@late_kernel(types.boolean)
def fill_gradient_in_plane(system, scheme, work, space, t, h):
    """p, f without forces and H v at the nodes, of a planar tree; False where G_D or M̂, which is inverted first, is singular."""
    nodes, frames, rows = space.nodes, space.frames, space.plane_rows
    fill_places(space, h)
    if not turn_directions(nodes.angles, system, nodes.q):
        fill_directions(nodes.angles, system, nodes.q)
    place_in_plane(nodes.plane, frames, nodes.angles, system)
    fill_rows_in_plane(nodes.g, nodes.G, nodes.plane, frames, rows, system, nodes.q)
    if not use_constraints(system, space):
        return False
    if space.count[IS_INVERTED] == 0:
        for b in range(free_count(system, space)):
            fill_unit_velocity(system, space, b)
            fill_gradient_planar(nodes.p, nodes.f, nodes.row, nodes.angles, system, nodes.curved)
            fill_mass_column(system, space, b)
        if not invert(nodes.M, nodes.pivot_rows, free_count(system, space)):
            return False
        space.count[INVERSIONS] += 1
    fill_gradient_planar(nodes.p, nodes.f, nodes.row, nodes.angles, system, nodes.v)
    fill_multipliers(system, space)
    move_in_plane(nodes.plane, frames, system, nodes.v)
    add_curvature_in_plane(nodes.curved, nodes.plane, frames, rows, system, nodes.mu)
    return True


@late_kernel(types.boolean)
def fill_gradient_in_space(system, scheme, work, space, t, h):
    """Fill p, f without forces and H v at the nodes of any tree, as `fill_gradient_in_plane` does for a planar one."""
    nodes = space.nodes
    fill_places(space, h)
    fill_constraint_geometry(system, nodes, nodes.q)
    fill_rows(nodes.g, nodes.G, nodes.g_t, system, nodes, nodes.q)
    if not use_constraints(system, space):
        return False
    if not turn_angles(nodes.angles, system, nodes.q):
        fill_angles(nodes.angles, system, nodes.q)
    if space.count[IS_INVERTED] == 0:
        for b in range(free_count(system, space)):
            fill_unit_velocity(system, space, b)
            fill_gradient_links(nodes.p, nodes.f, nodes.row, nodes.angles, system, nodes.q, nodes.curved)
            fill_mass_column(system, space, b)
        if not invert(nodes.M, nodes.pivot_rows, free_count(system, space)):
            return False
        space.count[INVERSIONS] += 1
    fill_gradient_links(nodes.p, nodes.f, nodes.row, nodes.angles, system, nodes.q, nodes.v)
    fill_multipliers(system, space)
    add_curvature_product(nodes.curved, system, nodes, nodes.q, nodes.v, nodes.mu)
    return True


@copied_kernel
def free_count(system, space):
    """The number of independent coordinates."""
    return system.n - space.pivots.shape[0]


@copied_kernel
def fill_unit_velocity(system, space, b):
    """The velocity of all coordinates at 1 of independent coordinate b and 0 of the others, at the nodes, into nodes.curved."""
    nodes, n, d = space.nodes, system.n, space.pivots.shape[0]
    for c in range(n - d):
        nodes.curved[space.order[d + c]] = 1.0 * (b == c)
    fill_dependent(nodes.curved, nodes.border, space.order, n, d)


@copied_kernel
def fill_mass_column(system, space, b):
    """Column b of M̂ from the momenta of that velocity."""
    nodes, n, d = space.nodes, system.n, space.pivots.shape[0]
    for c in range(n - d):
        nodes.M[c * (n - d) + b] = reduced(nodes.p, nodes.border, space.order, n, d, c)


@kernel
def fill_reduced_gradient(system, scheme, work, space, t, h):
    """p and f − H v at the nodes, with forces; the largest momentum, negative where the equations are singular."""
    nodes = space.nodes
    if space.frames.shape[0] > 0:
        is_regular = fill_gradient_in_plane(system, scheme, work, space, t, h)
    else:
        is_regular = fill_gradient_in_space(system, scheme, work, space, t, h)
    if not is_regular:
        return -1.0
    if has_forces(system):
        add_node_forces(system, scheme, work, space, t, h)
    size = 0.0 * nodes.b[0]
    for a in range(system.n):
        size = larger(size, nodes.p[a])
        nodes.f[a] = nodes.f[a] - nodes.curved[a]
    return widest(size)


@kernel
def add_node_forces(system, scheme, work, space, t, h):
    """Add forces besides gravity."""
    nodes = space.nodes
    for node in range(scheme.c.shape[0]):
        for a in range(system.n):
            work.lane_q[a], work.lane_v[a], work.side[a] = part(nodes.q[a], node), part(nodes.v[a], node), 0.0
        add_forces(work.side, system, work, t + scheme.c[node] * h, work.lane_q, work.lane_v)
        for a in range(system.n):
            space.forces[a, node] = work.side[a]
    for a in range(system.n):
        nodes.f[a] = nodes.f[a] + wide_lanes(space.forces)[a]


@kernel
def fill_residual(system, space, h):
    """r_i/b_i from p and f at the nodes; the largest, inf if one is not finite."""
    nodes, order, n, d = space.nodes, space.order, system.n, space.pivots.shape[0]
    b, inverse, rows = nodes.b[0], nodes.b_inverse[0], nodes.a_rows
    check = size = 0.0 * b
    for c in range(n - d):
        a = order[d + c]
        force = h * (b * reduced(nodes.f, nodes.border, order, n, d, c))
        value = rows[0] * part(force, 0)
        for i in range(1, WIDE):
            value = value + rows[i] * part(force, i)
        momentum = reduced(nodes.p, nodes.border, order, n, d, c)
        value = inverse * (b * ((momentum - space.p[a]) - space.p_low[a]) + value)
        nodes.R[c] = value
        size = larger(size, value)
        check = check + 0.0 * value
    return widest(size) if total(check) == 0.0 else math.inf


@kernel
def correct(system, space, h):
    """V_i ← V_i − M̂_i⁻¹ r_i/b_i, and q_D with it to first order; the largest correction, and the largest velocity."""
    nodes, order, n, d = space.nodes, space.order, system.n, space.pivots.shape[0]
    m = n - d
    size = speed = 0.0 * nodes.b[0]
    for c in range(m):
        change = nodes.M[c * m] * nodes.R[0]
        for b in range(1, m):
            change = change + nodes.M[c * m + b] * nodes.R[b]
        nodes.delta[c] = -1.0 * change
    for c in range(m):
        a = order[d + c]
        nodes.V[a] = nodes.V[a] + nodes.delta[c]
        size, speed = larger(size, nodes.delta[c]), larger(speed, nodes.V[a])
        change = h * nodes.delta[c]
        move = nodes.a_columns[0] * part(change, 0)
        for j in range(1, WIDE):
            move = move + nodes.a_columns[j] * part(change, j)
        for r in range(d):
            nodes.y[order[r]] = nodes.y[order[r]] - nodes.border[r * n + d + c] * move
    return widest(size), widest(speed)


@kernel
def solve_step(system, scheme, work, space, t, h, is_flight):
    """Solve the equations of a step, from an extrapolation or from free flight; a status.

    The iteration goes on until the error left, which follows from how corrections shrink, is below round-off, or until
    corrections are that of the forces and shrink no longer.
    """
    tol = space.tolerances
    count, theta, left = space.count, space.contraction[0], math.inf
    size_before = largest_before = 0.0
    rough = stalls = 0
    count[IS_INVERTED] = 0
    forget_angles(space.nodes, system.links.shape[0])
    for iteration in range(int(tol[MAX_ITERATIONS])):
        momentum = fill_reduced_gradient(system, scheme, work, space, t, h)
        if momentum < 0.0:
            return SINGULAR
        residual = fill_residual(system, space, h)
        if not residual < math.inf:
            return NOT_FINITE
        roundings = residual / (EPS * max(momentum, 1e-290))
        change, speed = correct(system, space, h)
        size, is_rounding = change / max(speed, 1e-290), abs(h) * change <= tol[OF_PLACES] * EPS
        count[ITERATIONS] += 1
        count[WORST] = max(count[WORST], iteration + 1)
        if not is_flight and size > tol[FAR_VELOCITIES]:
            return NOT_CONVERGED
        is_growing = residual > largest_before and roundings > tol[FAR_OFF]
        if iteration > 0 and is_growing and size > tol[SHRINKING] * size_before:
            return NOT_CONVERGED
        largest_before = max(largest_before, residual)
        if iteration > 0 and size > tol[TELLING]:
            theta = size / size_before
        is_stalled = iteration > 0 and size > tol[NO_LONGER] * size_before and (roundings <= tol[MANY] or is_rounding)
        stalls = stalls + 1 if is_stalled else 0
        rough += roundings <= tol[ROUGH]
        left = theta * min(left, size)
        if (rough >= tol[ENOUGH] and left <= tol[LEFT] * EPS) or stalls >= tol[MAX_STALLS]:
            space.contraction[0] = theta
            return OK
        if theta * size < tol[CLOSE]:
            forget_angles(space.nodes, system.links.shape[0])
        count[IS_INVERTED] = 1
        size_before = size
    return NOT_CONVERGED


@kernel
def finish_step(system, work, space, t, h):
    """q and p̂ at the step's end, which is at time t; a status."""
    nodes, order, n, d = space.nodes, space.order, system.n, space.pivots.shape[0]
    b = nodes.b[0]
    for a in range(n):
        nodes.before[a] = nodes.ended[a]
        nodes.ended[a] = nodes.v[a]
    for c in range(n - d):
        a = order[d + c]
        nodes.ended[a] = nodes.V[a]
        add_compensated(space.p, space.p_low, a, total(h * (b * reduced(nodes.f, nodes.border, order, n, d, c))))
        add_compensated(space.q, space.q_low, a, total(b * (h * nodes.V[a])))
    for r in range(d):
        a = order[r]
        space.moves[a] = total(b * (h * nodes.v[a]))
        space.q[a] += space.moves[a]
    for a in range(n):
        if system.periodic[a] == 1 and abs(space.q[a]) > math.pi:
            turns = round(space.q[a] / (2.0 * math.pi))
            space.turns[a] += turns
            space.q[a] -= turns * (2.0 * math.pi)
    space.count[KNOWN_STEPS] = min(space.count[KNOWN_STEPS] + 1, 2)
    return close(system, work, space, t)


@kernel
def fill_start_constraints(system, work, space, t):
    """g and G between steps."""
    if space.frames.shape[0] > 0:
        fill_directions(work.angles, system, space.q)
        place_in_plane(space.plane, space.frames, work.angles, system)
        fill_rows_in_plane(space.g, space.G, space.plane, space.frames, space.plane_rows, system, space.q)
    else:
        fill_constraints(space.g, space.G, space.g_t, system, work, t, space.q)


@kernel
def close(system, work, space, t):
    """Move q_D onto the constraints and fill (G_D⁻¹, −T) there, of other coordinates where a pivot has become small; a status."""
    tol = space.tolerances
    order, n, d = space.order, system.n, space.pivots.shape[0]
    size_before = math.inf
    for a in range(n):
        work.low[a] = space.q_low[a]
    for _ in range(int(tol[MAX_ITERATIONS])):
        fill_start_constraints(system, work, space, t)
        fill_border(space.border, space.G, system, space)
        weakness = solve_border(space.border, space.pivots, n, d)
        size, is_closed = 0.0, True
        for r in range(d):
            correction = 0.0
            for i in range(d):
                correction += space.border[r * n + i] * space.g[space.rows[i]]
            space.q[order[r]] -= correction
            size = max(size, abs(correction))
            is_closed = is_closed and abs(correction) <= tol[CLOSED] * abs(space.moves[order[r]])
        if not size < math.inf:
            return SINGULAR
        if is_closed or size >= tol[NO_LONGER] * size_before:
            if weakness < math.inf and (weakness <= tol[WEAK] or choose(system, space)):
                return OK
            return SINGULAR
        size_before = size
    return NOT_CONVERGED


@kernel
def choose(system, space):
    """Choose the dependent coordinates by the pivots of G, whose entries are in space.G, and let p̂ be that of the others; False
    where G is singular.
    """
    tol = space.tolerances
    n, d, matrix, rows, order = system.n, space.pivots.shape[0], space.matrix, space.rows, space.order
    for i in range(system.k):
        rows[i], space.sizes[i] = i, 0.0
        for a in range(n):
            matrix[i * n + a] = 0.0
        for e in range(
            system.constraints[i, FIRST_ENTRY], system.constraints[i, FIRST_ENTRY] + system.constraints[i, ENTRIES]
        ):
            matrix[i * n + system.entries[e]] += space.G[e]
            space.sizes[i] = max(space.sizes[i], abs(matrix[i * n + system.entries[e]]))
    for a in range(n):
        order[a] = a
    if not find_pivots(matrix, rows, order, space.sizes, n, d, tol[LEAST_PIVOT]):
        return False
    for p in range(d):
        space.pivots[p] = matrix[rows[p] * n + order[p]]
    for i in range(n):
        space.places[order[i]] = i
    fill_border(space.border, space.G, system, space)
    solve_border(space.border, space.pivots, n, d)
    for p in (space.p, space.p_low):
        for c in range(n - d):
            p[order[d + c]] = reduced(p, space.border, order, n, d, c)
        for r in range(d):
            p[order[r]] = 0.0
    for r in range(d):
        space.q_low[order[r]] = 0.0
    return True


@kernel
def begin(system, work, space, t):
    """Choose coordinates at the start of a run, whose q, v and p are in the workspace; a status."""
    fill_start_constraints(system, work, space, t)
    return OK if choose(system, space) else SINGULAR


@kernel
def advance(system, scheme, work, space, t, h):
    """Solve the equations of a step from an extrapolation, or free flight, or with coordinates chosen anew; a status."""
    work.step[0], work.step[1] = t, t + h
    if space.count[KNOWN_STEPS] > 1:
        extrapolate(system, space, h)
        if solve_step(system, scheme, work, space, t, h, False) == OK:
            return OK
    status = SINGULAR
    for attempt in range(2):
        if attempt == 1 and not choose(system, space):
            return SINGULAR
        if fly(system, scheme, work, space, t, h):
            status = solve_step(system, scheme, work, space, t, h, True)
            if status == OK:
                return OK
    return status


@kernel
def advance_steps(system, scheme, work, space, t, h, first, last, every, out_q, out_p):
    """Advance from step `first` to step `last`, storing every `every`-th state; (status, steps done).

    t, h          start time of the run and step [s]
    out_q, out_p  (stored, n)   out: states after the steps first + every, first + 2 every, …
    """
    stored = 0
    for step in range(first, last):
        begins, ends = t + step * h, t + (step + 1) * h
        status = advance(system, scheme, work, space, begins, h)
        if status == OK:
            status = finish_step(system, work, space, ends, h)
        if status != OK:
            return status, step
        if (step + 1) % every == 0:
            for a in range(system.n):
                out_q[stored, a] = space.q[a] + space.turns[a] * (2.0 * math.pi)
            if not fill_momentum(out_p[stored], system, work, space):
                return SINGULAR, step
            stored += 1
    return OK, last
