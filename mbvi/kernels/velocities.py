"""The step equations of `galerkin` with velocities for unknowns, of schemes with as many nodes as control points, as Gauss's.

Velocities V_i at the nodes then determine the polynomial, and so, where the weights are those of its integral, the node states

    q_i = q_k + h Σ_j a_ij V_j,     q_{k+1} = q_k + h Σ_j b_j V_j,     a_ij = ∫_0^{c_i} ℓ_j,  ℓ_j(c_l) = δ_jl.

Without constraints Σ_i b_i h L(q_i, V_i) + p_kᵀ q_k − p_{k+1}ᵀ q_{k+1} is stationary where, with p_i = ∂L/∂v and f_i = ∂L/∂q + F,

    r_i = b_i (p_i − p_k) + h Σ_j (a_ji − b_i) b_j f_j = 0,     p_{k+1} = p_k + h Σ_j b_j f_j.

That holds for rounded a and b, so that their rounding leaves the step symplectic, if the differences a_ji − b_i are exact: a and
b are multiples of 2⁻⁵³. It holds for products h V_j and h b_j f_j that are rounded once, for all that they are part of: those
with an h as 0.05 have rounding errors whose mean is not zero, which would else be a drift. In terms of `galerkin`

    V_i = (1/h) Σ_l B_il Y_l,     R_j = Σ_i B_ij r_i,

the simplified iteration needs no K: V_i ← V_i − M⁻¹ r_i/b_i, with an M of each node where it is inverted as a dense matrix. The
residual is r_i/b_i, which has the size of momenta.

V_i of coordinate a is lane i of the `groups` lanes from a `groups` on; lanes left over are zero.

Sources: Marsden & West 2001, section 2.6 (symplectic partitioned Runge–Kutta methods); Hairer, Lubich & Wanner 2006, VI.6.
"""

import math

from mbvi.kernels.articulated import solve_articulated
from mbvi.kernels.dense import invert
from mbvi.kernels.lagrangian import fill_mass_matrices
from mbvi.kernels.lanes import WIDTH, lanes, larger, part, total, widest
from mbvi.kernels.layout import copied_kernel, kernel, solver_kernel


@copied_kernel
def fill_velocity_nodes(node_q, node_v, space, g, h):
    """States at group g of four nodes, in lanes."""
    V, columns, groups = lanes(space.z), lanes(space.a_columns), space.momenta.shape[0]
    for a in range(space.q.shape[0]):
        move = 0.0 * V[0]
        for c in range(groups):
            moves = h * V[a * groups + c]
            for j in range(WIDTH):
                move = move + columns[c * WIDTH + j, g] * part(moves, j)
        node_q[a] = (space.q_low[a] + move) + space.q[a]
        node_v[a] = V[a * groups + g]


@copied_kernel
def fill_velocity_residual(space, h):
    """r_i/b_i into space.R; the largest, inf if one is not finite, and the largest momentum."""
    R, p, f, b = lanes(space.R), lanes(space.momenta), lanes(space.forces), lanes(space.b)
    rows, inverse, groups = lanes(space.a_rows), lanes(space.b_inverse), space.momenta.shape[0]
    check = size = momentum = 0.0 * b[0]
    for a in range(space.p.shape[0]):
        for c in range(groups):
            value = 0.0 * b[0]
            for g in range(groups):
                force = h * (b[g] * f[g, a])
                for i in range(WIDTH):
                    value = value + rows[g * WIDTH + i, c] * part(force, i)
            momentum = larger(momentum, p[c, a])
            value = inverse[c] * (b[c] * ((p[c, a] - space.p[a]) - space.p_low[a]) + value)
            R[a * groups + c] = value
            size = larger(size, value)
            check = check + 0.0 * value
    return widest(size) if total(check) == 0.0 else math.inf, widest(momentum)


@kernel
def fill_impulse(space, h):
    """h Σ b_j f_j into space.impulse."""
    f, b = lanes(space.forces), lanes(space.b)
    for a in range(space.p.shape[0]):
        impulse = 0.0
        for g in range(space.momenta.shape[0]):
            impulse += total(h * (b[g] * f[g, a]))
        space.impulse[a] = impulse


@kernel
def invert_node_masses(system, space, h):
    """Inverses of M at the nodes of the predicted polynomial; False if one is not positive definite."""
    for g in range(space.node_masses.shape[0]):
        fill_velocity_nodes(lanes(space.lane_q), lanes(space.lane_v), space, g, h)
        M = lanes(space.node_masses[g])
        fill_mass_matrices(M, lanes(space.angles[g]), system, space.lane_work, lanes(space.lane_q))
        if not invert(M, lanes(space.pivot_rows), system.n):
            return False
    return True


@kernel
def put_at_nodes(space):
    """The inverse space.M of the middle for all nodes: of a user's own functions, which do not work on lanes."""
    for g in range(space.node_masses.shape[0]):
        M = lanes(space.node_masses[g])
        for i in range(space.node_masses.shape[1]):
            M[i] = space.M[i]


@solver_kernel
def solve_velocities(system, work, space):
    """delta = −M⁻¹ r_i/b_i."""
    R, delta, M, groups = lanes(space.R), lanes(space.delta), lanes(space.node_masses), space.momenta.shape[0]
    n, x = system.n, lanes(space.points)
    if space.node_masses.shape[1] == 0:
        for c in range(groups):
            for a in range(n):
                x[c, a] = -1.0 * R[a * groups + c]
            solve_articulated(lanes(space.points[c]), lanes(space.solved), work.articulated, system.links)
            for a in range(n):
                delta[a * groups + c] = x[c, a]
        return
    for c in range(groups):
        for a in range(0, n, 2):  # two rows at once; of an odd number the last twice
            other = min(a + 1, n - 1)
            one, two = M[c, a * n] * R[c], M[c, other * n] * R[c]
            for b in range(1, n):
                one = one + M[c, a * n + b] * R[b * groups + c]
                two = two + M[c, other * n + b] * R[b * groups + c]
            delta[a * groups + c], delta[other * groups + c] = -1.0 * one, -1.0 * two


@copied_kernel
def increment(space, a, h):
    """Σ_i b_i h V_i of coordinate a."""
    V, b, groups = lanes(space.z), lanes(space.b), space.momenta.shape[0]
    move = b[0] * (h * V[a * groups])
    for g in range(1, groups):
        move = move + b[g] * (h * V[a * groups + g])
    return total(move)


@kernel
def fill_step_residual(scheme, space):
    """R_j = Σ_i B_ij r_i into space.permuted, where Newton's iteration takes them from; the largest.

    By these that iteration is judged: with r_i, long steps more often fail, or lead to other solutions.
    """
    s, stride, size = scheme.K.shape[0], space.momenta.shape[0] * WIDTH, 0.0
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
    V, start, columns, groups = lanes(space.z), lanes(space.start), lanes(space.a_columns), space.momenta.shape[0]
    size = miss = 0.0 * V[0]
    for a in range(space.q.shape[0]):
        for g in range(groups):
            move = change = 0.0 * V[0]
            for c in range(groups):
                at = a * groups + c
                for j in range(WIDTH):
                    move = move + columns[c * WIDTH + j, g] * part(V[at], j)
                    change = change + columns[c * WIDTH + j, g] * part(V[at] - start[at], j)
            size, miss = larger(size, move), larger(miss, change)
    return widest(miss) > limit * widest(size)


@kernel
def put_step_correction(scheme, space):
    """delta of velocities from that of increments, −h times space.eliminated."""
    s, stride = scheme.K.shape[0], space.momenta.shape[0] * WIDTH
    for a in range(space.q.shape[0]):
        for i in range(s):
            value = 0.0
            for l in range(s):
                value -= scheme.B[i, l + 1] * space.eliminated[space.places[a * s + l]]
            space.delta[a * stride + i] = value
