"""The step equations of `steps` with velocities for unknowns.

This is for schemes with as many nodes as control points, as those of Gauss. Velocities V_i at the nodes then determine
the polynomial, and so, where the weights are those of its integral, the node states

    q_i = q_k + h Σ_j a_ij V_j,     q_{k+1} = q_k + h Σ_j b_j V_j,     a_ij = ∫_0^{c_i} ℓ_j,  ℓ_j(c_l) = δ_jl.

Without constraints Σ_i b_i h L(q_i, V_i) + p_kᵀ q_k − p_{k+1}ᵀ q_{k+1} is stationary where, with p_i = ∂L/∂v and f_i =
∂L/∂q + F,

    r_i = b_i (p_i − p_k) + h Σ_j (a_ji − b_i) b_j f_j = 0,     p_{k+1} = p_k + h Σ_j b_j f_j.

That holds for rounded a and b, so that their rounding leaves the step symplectic, if the differences a_ji − b_i are
exact: a and b are multiples of 2⁻⁵³. It holds for products h V_j and h b_j f_j that are rounded once, in all places
where they occur: the rounding errors of those with an h as 0.05 have a mean that is not zero, which would otherwise be
a drift. In terms of `steps`

    V_i = (1/h) Σ_l B_il Y_l,     R_j = Σ_i B_ij r_i,

the simplified iteration needs no K: V_i ← V_i − M⁻¹ r_i/b_i, with an M of each node where it is inverted as a dense
matrix. The residual is r_i/b_i, which has the size of momenta. Its derivatives in the V are, with y_i = h Σ_j a_ij
δV_j,

    δr_i/b_i = M_i δV_i + (E δV)_i,     (E δV)_i = ∂p_i/∂q y_i + (1/b_i) Σ_j (a_ji − b_i) h b_j (∂f_j/∂v δV_j + ∂f_j/∂q y_j),

and where M is of each node, so are they, and their inverse takes two terms of its series, M⁻¹ − M⁻¹ E M⁻¹: the error
after such a correction is about the square of that after M⁻¹ alone.

V_i of coordinate a is lane i of the `groups` lanes from a · groups on; lanes without a node are zero. In the shapes
below `width` is the number of lanes in a vector, 4 or 8, and an element is one vector.

Units, with u the unit of a coordinate: h [s]; q, node_q, moves [u]; V, node_v, delta [u/s]; p, R, impulses [J s/u]; f [J/u];
columns, rows, b, inverse [1]; M [u²/(J s²)], inverses; Lvq [J s/u²]; Lqq [J/u²]; limit [1].

Sources: Marsden & West 2001, section 2.6 (symplectic partitioned Runge–Kutta methods); Hairer, Lubich & Wanner 2006,
VI.6.
"""

import math

from mbvi.kernels.algebra.dense import invert
from mbvi.kernels.compiler.decorators import copied_kernel, copied_solver_kernel, kernel, solver_kernel
from mbvi.kernels.compiler.lanes import WIDTH, lanes, larger, part, total, wide_lanes, widest, width_of
from mbvi.kernels.mechanics.articulated import solve_articulated
from mbvi.kernels.mechanics.lagrangian import fill_node_hessians


@copied_kernel
def fill_velocity_nodes(node_q, node_v, V, columns, space, g, groups, h):
    """The states at group g of as many nodes as there are lanes, from velocities.

    node_q, node_v   (n,)                   out
    V                (groups n,)            velocities
    columns          (groups² width,)       a_ij by columns
    """
    width = width_of(V)
    for a in range(space.q.shape[0]):
        move = 0.0 * V[0]
        for c in range(groups):
            moves = h * V[a * groups + c]
            for j in range(width):
                move = move + columns[(c * width + j) * groups + g] * part(moves, j)
        node_q[a] = (space.q_low[a] + move) + space.q[a]
        node_v[a] = V[a * groups + g]


@copied_kernel
def fill_velocity_residual(R, p, f, rows, b, inverse, space, groups, h):
    """r_i/b_i; returns the largest, inf if one is not finite, and the largest momentum.

    R            (groups n,)          out, in the places of V
    p, f         (groups n,)          momenta and forces at the nodes, one group behind the other
    rows         (groups² width,)     a_ji − b_i by rows
    b, inverse   (groups,)            weights and 1/b
    """
    width, n = width_of(R), space.p.shape[0]
    check = size = momentum = 0.0 * b[0]
    for a in range(n):
        for c in range(groups):
            value = 0.0 * b[0]
            for g in range(groups):
                force = h * (b[g] * f[g * n + a])
                for i in range(width):
                    value = value + rows[(g * width + i) * groups + c] * part(force, i)
            momentum = larger(momentum, p[c * n + a])
            value = inverse[c] * (b[c] * ((p[c * n + a] - space.p[a]) - space.p_low[a]) + value)
            R[a * groups + c] = value
            size = larger(size, value)
            check = check + 0.0 * value
    return widest(size) if total(check) == 0.0 else math.inf, widest(momentum)


@kernel
def fill_impulse(space, h):
    """h Σ b_j f_j into space.impulse, by pairs of the nodes.

    Terms that are added one after another would have rounding errors with a mean.
    """
    f, b, n, groups = lanes(space.forces), lanes(space.b), space.p.shape[0], space.b.shape[0]
    along, across = (groups, 1) if space.has_wide_nodes == 1 else (1, n)
    for a in range(n):
        impulse = 0.0
        for g in range(groups):
            impulse += total(h * (b[g] * f[a * along + g * across]))
        space.impulse[a] = impulse


@kernel
def factor_by_fours(system, space, h):
    """Second derivatives at the nodes of the polynomial of space.z, and inverses of M; False if one is not positive
    definite.

    They go into space.node_Lvq, space.node_Lqq and space.node_masses.
    """
    q, v, V, groups = lanes(space.lane_q), lanes(space.lane_v), lanes(space.z), space.node_masses.shape[0]
    for g in range(groups):
        fill_velocity_nodes(q, v, V, lanes(space.a_columns), space, g, groups, h)
        M, Lvq, Lqq = lanes(space.node_masses[g]), lanes(space.node_Lvq[g]), lanes(space.node_Lqq[g])
        fill_node_hessians(M, Lvq, lanes(space.node_Lqv), Lqq, lanes(space.angles[g]), system, space.lane_work, q, v)
        if not invert(M, lanes(space.pivot_rows), system.n):
            return False
    return True


@kernel
def factor_eight(system, space, h):
    """What `factor_by_fours` does, at up to eight nodes at once.

    They go into space.wide_Lvq, space.wide_Lqq and space.wide_masses.
    """
    q, v, V = wide_lanes(space.wide_q), wide_lanes(space.wide_v), wide_lanes(space.z)
    fill_velocity_nodes(q, v, V, wide_lanes(space.a_columns), space, 0, 1, h)
    M, Lvq, Lqq = wide_lanes(space.wide_masses), wide_lanes(space.wide_Lvq), wide_lanes(space.wide_Lqq)
    Lqv, angles = wide_lanes(space.wide_Lqv), wide_lanes(space.wide_angles)
    fill_node_hessians(M, Lvq, Lqv, Lqq, angles, system, space.wide_work, q, v)
    return invert(M, wide_lanes(space.pivot_rows), system.n)


@kernel
def put_at_nodes(space):
    """Take the inverse space.M of the middle for all nodes: for a user's own functions, which do not work on lanes."""
    for g in range(space.node_masses.shape[0]):
        M = lanes(space.node_masses[g])
        for i in range(space.node_masses.shape[1]):
            M[i] = space.M[i]


@solver_kernel
def solve_series(space, n, h):
    """space.delta = −(M⁻¹ − M⁻¹ E M⁻¹) r_i/b_i of up to four nodes."""
    M, Lvq, Lqq = lanes(space.node_masses[0]), lanes(space.node_Lvq[0]), lanes(space.node_Lqq[0])
    columns, rows, b, inverse = lanes(space.a_columns), lanes(space.a_rows), lanes(space.b), lanes(space.b_inverse)
    delta, R, moves, impulses = lanes(space.delta), lanes(space.R), lanes(space.moves), lanes(space.impulses)
    solve_with_derivatives(delta, R, M, Lvq, Lqq, columns, rows, b, inverse, moves, impulses, n, h)


@solver_kernel
def solve_velocities(system, work, space, h):
    """space.delta = −M⁻¹ r_i/b_i, with the next term of the series where there are second derivatives of each node."""
    R, delta, x = lanes(space.R), lanes(space.delta), lanes(space.points)
    n, groups = system.n, space.b.shape[0]
    if space.has_series == 1:
        solve_series(space, n, h)
        return
    if space.node_masses.shape[1] == 0:
        for c in range(groups):
            for a in range(n):
                x[c, a] = -1.0 * R[a * groups + c]
            solve_articulated(lanes(space.points[c]), lanes(space.solved), work.articulated, system.links)
            for a in range(n):
                delta[a * groups + c] = x[c, a]
        return
    for c in range(groups):
        multiply_by_masses(delta, lanes(space.node_masses[c]), R, n, c, groups)


@copied_solver_kernel
def solve_with_derivatives(delta, R, M, Lvq, Lqq, columns, rows, b, inverse, moves, impulses, n, h):
    """delta = −(M⁻¹ − M⁻¹ E M⁻¹) R of as many nodes as there are lanes.

    delta, R             (n,)        delta: out; R: read
    M, Lvq, Lqq          (n²,)       inverses of M, ∂p/∂q and ∂f/∂q at the nodes; without forces ∂f/∂v is the transpose
                                     of ∂p/∂q
    columns, rows        (width,)    a_ij by columns, a_ji − b_i by rows
    b, inverse           (1,)        weights and 1/b
    moves, impulses      (n,)        work
    """
    width = width_of(R)
    multiply_by_masses(delta, M, R, n, 0, 1)
    for a in range(n):
        move = columns[0] * part(delta[a], 0)
        for j in range(1, width):
            move = move + columns[j] * part(delta[a], j)
        moves[a] = h * move
    weight = h * b[0]
    for a in range(n):
        force, other = Lvq[a] * delta[0], Lqq[a * n] * moves[0]
        for k in range(1, n):
            force = force + Lvq[k * n + a] * delta[k]
            other = other + Lqq[a * n + k] * moves[k]
        impulses[a] = weight * (force + other)
    for a in range(n):
        value, other = rows[0] * part(impulses[a], 0), Lvq[a * n] * moves[0]
        for i in range(1, width):
            value = value + rows[i] * part(impulses[a], i)
        for k in range(1, n):
            other = other + Lvq[a * n + k] * moves[k]
        impulses[a] = (R[a] + other) + inverse[0] * value
    multiply_by_masses(delta, M, impulses, n, 0, 1)


@copied_solver_kernel
def multiply_by_masses(delta, M, R, n, c, groups):
    """delta = −M R at group c of nodes.

    delta, R     (groups n,)    delta: out, of group c alone; R: read
    M            (n²,)          inverses of M at the nodes of the group, row by row
    """
    for a in range(0, n, 2):  # two rows at once; where n is odd, the last row twice
        other = min(a + 1, n - 1)
        one, two = M[a * n] * R[c], M[other * n] * R[c]
        for b in range(1, n):
            one = one + M[a * n + b] * R[b * groups + c]
            two = two + M[other * n + b] * R[b * groups + c]
        delta[a * groups + c], delta[other * groups + c] = -1.0 * one, -1.0 * two


@copied_kernel
def increment(space, a, h):
    """Σ_i b_i h V_i of coordinate a."""
    V, b, groups = lanes(space.z), lanes(space.b), space.b.shape[0]
    move = b[0] * (h * V[a * groups])
    for g in range(1, groups):
        move = move + b[g] * (h * V[a * groups + g])
    return total(move)


@kernel
def fill_step_residual(scheme, space):
    """R_j = Σ_i B_ij r_i into space.permuted, where Newton's iteration takes them from; returns the largest.

    That iteration is judged by these: by r_i, long steps more often fail, or lead to other solutions.
    """
    s, stride, size = scheme.K.shape[0], space.b.shape[0] * WIDTH, 0.0
    for a in range(space.q.shape[0]):
        for j in range(s):
            value = 0.0
            for i in range(s):
                value += scheme.B[i, j] * scheme.b[i] * space.R[a * stride + i]
            space.permuted[space.places[a * s + j]] = value
            size = max(size, abs(value))
    return size


@kernel
def are_far_velocities(space, limit):
    """Whether places at the nodes have moved away from those of the start by more than a part of the largest increment."""
    V, start, columns, groups = lanes(space.z), lanes(space.start), lanes(space.a_columns), space.b.shape[0]
    size = miss = 0.0 * V[0]
    for a in range(space.q.shape[0]):
        for g in range(groups):
            move = change = 0.0 * V[0]
            for c in range(groups):
                at = a * groups + c
                for j in range(WIDTH):
                    column = columns[(c * WIDTH + j) * groups + g]
                    move = move + column * part(V[at], j)
                    change = change + column * part(V[at] - start[at], j)
            size, miss = larger(size, move), larger(miss, change)
    return widest(miss) > limit * widest(size)


@kernel
def put_step_correction(scheme, space):
    """space.delta of velocities from the correction of increments, −h times space.eliminated."""
    s, stride = scheme.K.shape[0], space.b.shape[0] * WIDTH
    for a in range(space.q.shape[0]):
        for i in range(s):
            value = 0.0
            for l in range(s):
                value -= scheme.B[i, l + 1] * space.eliminated[space.places[a * s + l]]
            space.delta[a * stride + i] = value
