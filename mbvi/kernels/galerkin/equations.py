"""The residual of the equations of a step, which `steps` states: R_j of the momenta, and g(Q_l)/h.

With one node, velocities are increments times the rate 1/h, rounded, and impulses are forces over it. With increments over h and
forces times h, rounding at 5 ms, which is 1/200, moves the energy of a free body by 3e-21 of it at every step, to one side.

Constraints on velocities, A(q) v = a, are those of one straight segment: A(q_k)ᵀ Λ_0 acts at its start, and A Y/h = a holds
at its middle.

Quadrature nodes, and control points with their constraints, are evaluated four at once (`lanes`), up to eight nodes of
schemes of Gauss in one vector. Arrays are those of `workspace.Space`, whose functions give their shapes.

Units, with u the unit of a coordinate: t, h [s]; rate [1/s]; A, B, weight [1]; size, momentum, out, low [J s/u]; G
[unit of g/u]; impulses [J s/unit of g].

Sources: Marsden & West 2001, section 2.6 (Galerkin variational integrators), and part 3 (constraints); Cortés & Martínez 2001
(constraints on velocities).
"""

import math

from numba import types

from mbvi.kernels.compiler.decorators import copied_kernel, kernel
from mbvi.kernels.compiler.lanes import WIDTH, lanes, lanes_at, larger, part, put_lanes, total, wide_lanes, widest
from mbvi.kernels.compiler.late import late_kernel
from mbvi.kernels.galerkin.tolerances import BY_PLACE, EPS
from mbvi.kernels.galerkin.velocities import fill_velocity_nodes, fill_velocity_residual
from mbvi.kernels.galerkin.workspace import (
    FIRST_ROW,
    MOMENTUM_SIZE,
    ONE,
    PLACE_SIZE,
    ROUNDINGS,
    SEVERAL,
    VIOLATION,
    largest,
)
from mbvi.kernels.layout import CONSTRAINT_KIND, ENTRIES, FIRST_ENTRY, UNIT_QUATERNION
from mbvi.kernels.mechanics.constraints import (
    fill_constraint_geometry,
    fill_constraints,
    fill_functions_at_points,
    fill_rows,
    fill_values,
)
from mbvi.kernels.mechanics.lagrangian import (
    add_forces,
    fill_gradient,
    fill_gradients,
    has_forces,
    quaternion_place,
)
from mbvi.kernels.mechanics.planar_tree import fill_directions, fill_gradient_planar, turn_directions
from mbvi.kernels.mechanics.rotation import product_conjugate_vector, vector_product
from mbvi.kernels.mechanics.tree import fill_cosines, fill_gradient_tree, turn_cosines


@copied_kernel
def fill_node(node_q, node_v, space, A, B, s, h):
    """The states at four quadrature nodes of the polynomial through the control points, in lanes.

    node_q, node_v   (n,)      out  [u, u/s], u the unit of a coordinate
    A, B             (s+1,)    coefficients of the nodes
    """
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
    """The states at group g of four quadrature nodes, in lanes into space.lane_q and space.lane_v."""
    node_q, node_v = lanes(space.lane_q), lanes(space.lane_v)
    if space.has_velocities == 1:
        groups = space.b.shape[0]
        fill_velocity_nodes(node_q, node_v, lanes(space.z), lanes(space.a_columns), space, g, groups, h)
    else:
        fill_node(node_q, node_v, space, lanes(space.A[g]), lanes(space.B[g]), s, h)


@kernel
def add_nodes(space, g, h):
    """Add the contributions of four quadrature nodes to R_1 … R_s and to the impulse; returns the largest momentum.

    R_1 … R_s are in space.points, without p_k, with R_s that of the step's end; space.impulse is h Σ b_i f_i.

    The products are ordered so that every rounding error depends on the state: a rounded coefficient b_i B_ij or h b_i,
    or A_i0 and B_i0 that are not exactly 1 − Σ A_il and −Σ B_il, would make an error of the same sign at every step.
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
            for i in range(WIDTH):  # small terms are added first
                value = value + A[g * WIDTH + i, c] * part(force, i)
            for i in range(WIDTH):
                value = value + B[g * WIDTH + i, c] * part(momentum, i)
            values[c, a] = value
    return widest(size)


@kernel
def fill_first_rows(space, s):
    """R_1 … R_{s−1} of space.points into space.R, and R_0, which follows from the sum of all rows, p_k + space.impulse.

    R_s is written too, and then overwritten by R_0 of the next coordinate.
    """
    R, values, n = space.R, lanes(space.points), space.p.shape[0]
    for a in range(n):
        others = 0.0
        for c in range(space.points.shape[0]):
            others += total(values[c, a])
            put_lanes(R, a * s + 1 + c * WIDTH, values[c, a])
        R[a * s] = (space.p[a] - others) + (space.impulse[a] + space.p_low[a])  # nearly equal terms are combined first
    R[n * s] = 0.0


@copied_kernel
def fill_only_node(space, A, B, rate):
    """The state at the quadrature node of a scheme that has one, and one control point, into space.node_q and space.node_v.

    rate   float   1/h [1/s]
    """
    for a in range(space.q.shape[0]):
        space.node_q[a] = (space.q_low[a] + A * space.z[a]) + space.q[a]
        space.node_v[a] = rate * (B * space.z[a])


@copied_kernel
def fill_only_rows(space, A, B, weight, rate):
    """R_0 of a scheme with one quadrature node and one control point, and space.impulse; returns the largest momentum.

    rate   float   1/h [1/s]
    """
    size = 0.0
    for a in range(space.p.shape[0]):
        size = max(size, abs(space.node_p[a]))
        momentum, force = weight * space.node_p[a], (weight * space.node_f[a]) / rate
        space.impulse[a] = force
        space.R[a] = (space.p[a] - (A * force + B * momentum)) + (force + space.p_low[a])
    return size


@late_kernel(types.float64)
def fill_at_only_node(system, scheme, work, space, t, h):
    """The residual of a scheme with one node and one control point, without constraints; returns the largest momentum.

    Here and below, each path of `fill_residual` is a late kernel, since most runs take one alone.
    """
    fill_only_node(space, scheme.A[0, 1], scheme.B[0, 1], 1.0 / h)
    fill_gradient(space.node_p, space.node_f, system, work, t + scheme.c[0] * h, space.node_q, space.node_v)
    return fill_only_rows(space, scheme.A[0, 1], scheme.B[0, 1], scheme.b[0], 1.0 / h)


@late_kernel()
def fill_in_plane(system, work, space, g, s, h):
    """Momenta and forces at group g of four quadrature nodes, for a planar tree under gravity alone."""
    n = system.n
    fill_nodes(space, g, s, h)
    p, f = lanes(space.momenta[g * n : (g + 1) * n]), lanes(space.forces[g * n : (g + 1) * n])
    angles, q = lanes(space.angles[g]), lanes(space.lane_q)
    if not turn_directions(angles, system, q):
        fill_directions(angles, system, q)
    fill_gradient_planar(p, f, lanes(work.lane_row), angles, system, lanes(space.lane_v))


@late_kernel()
def fill_at_nodes(system, scheme, work, space, t, g, h):
    """Momenta and forces at group g of four quadrature nodes, for any system."""
    m, n = scheme.b.shape[0], system.n
    for i in range(m):
        space.t[i] = t + scheme.c[i] * h
    fill_nodes(space, g, scheme.K.shape[0], h)
    p, f = space.momenta[g * n : (g + 1) * n], space.forces[g * n : (g + 1) * n]
    times = space.t[g * WIDTH : min((g + 1) * WIDTH, m)]
    fill_gradients(p, f, space.angles[g], system, work, times, space.lane_q, space.lane_v)


@kernel
def fill_sums_of_velocities(space, h):
    """The residual where velocities are the unknowns, from momenta and forces; returns its size."""
    R, momenta, forces = lanes(space.R), lanes(space.momenta), lanes(space.forces)
    rows, b, inverse = lanes(space.a_rows), lanes(space.b), lanes(space.b_inverse)
    size, momentum = fill_velocity_residual(R, momenta, forces, rows, b, inverse, space, space.b.shape[0], h)
    return keep_roundings(space, size, momentum)


@late_kernel(types.float64)
def fill_residual(system, scheme, work, space, t, h):
    """The residual of the step equations at space.z into space.R (constraints divided by h); returns its size.

    space.impulse, G(Q_j) and what `residual_size` measures are filled too.
    """
    m, s = scheme.b.shape[0], scheme.K.shape[0]
    size = 0.0
    if space.has_wide_nodes == 1:
        return fill_wide_residual(system, scheme, work, space, t, h)
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
        size = max(size, fill_constraint_residual(system, scheme, work, space, t, h))
    elif system.k > 0:
        size = max(size, fill_quaternion_residual(system, scheme, work, space, t, h))
    return residual_size(system, space, size, h)


@late_kernel(types.float64)
def fill_wide_residual(system, scheme, work, space, t, h):
    """What `fill_residual` does, for a tree at up to eight nodes at once."""
    if system.is_planar == 1:
        fill_wide_in_plane(system, space, h)
    else:
        fill_wide_in_space(system, space, h)
    if has_forces(system):
        add_wide_forces(system, scheme, work, space, t, h)
    return fill_wide_sums(space, h)


@kernel
def fill_wide_in_plane(system, space, h):
    """Momenta and forces at up to eight nodes, for a planar tree under gravity."""
    q, v, V = wide_lanes(space.wide_q), wide_lanes(space.wide_v), wide_lanes(space.z)
    p, f, angles = wide_lanes(space.momenta), wide_lanes(space.forces), wide_lanes(space.wide_angles)
    fill_velocity_nodes(q, v, V, wide_lanes(space.a_columns), space, FIRST_ROW, ONE, h)
    if not turn_directions(angles, system, q):
        fill_directions(angles, system, q)
    fill_gradient_planar(p, f, wide_lanes(space.wide_row), angles, system, v)


@kernel
def fill_wide_in_space(system, space, h):
    """Momenta and forces at up to eight nodes, for any tree under gravity."""
    q, v, V = wide_lanes(space.wide_q), wide_lanes(space.wide_v), wide_lanes(space.z)
    p, f, angles = wide_lanes(space.momenta), wide_lanes(space.forces), wide_lanes(space.wide_angles)
    fill_velocity_nodes(q, v, V, wide_lanes(space.a_columns), space, FIRST_ROW, ONE, h)
    if not turn_cosines(angles, system.links, q):
        fill_cosines(angles, system.links, q)
    fill_gradient_tree(p, f, wide_lanes(space.wide_row), angles, system, q, v)


@kernel
def add_wide_forces(system, scheme, work, space, t, h):
    """Add the forces other than gravity at up to eight nodes."""
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
    """What `fill_sums_of_velocities` does, for up to eight nodes."""
    R, p, f = wide_lanes(space.R), wide_lanes(space.momenta), wide_lanes(space.forces)
    rows, b, inverse = wide_lanes(space.a_rows), wide_lanes(space.b), wide_lanes(space.b_inverse)
    size, momentum = fill_velocity_residual(R, p, f, rows, b, inverse, space, ONE, h)
    return keep_roundings(space, size, momentum)


@copied_kernel
def keep_roundings(space, size, momentum):
    """Keep the largest momentum and the residual in units of its rounding; returns the size of the residual.

    It is what `residual_size` does where there are no constraints.
    """
    space.measure[MOMENTUM_SIZE] = momentum
    space.measure[ROUNDINGS] = size / (EPS * max(momentum, 1e-290))
    return size


@kernel
def residual_size(system, space, momentum, h):
    """The largest entry of the residual, inf if one is not finite.

    space.measure is filled too: the size of the momenta that cancel in the residual, the largest |g|, and the largest
    entry in units of its own rounding, that of the momenta or that of the positions, which changes momenta by way of
    the constraints.
    """
    R = lanes(space.R)
    check = sizes = constraints = 0.0 * R[0]
    for a in range(space.increment_rows):
        check = check + 0.0 * R[a]
        sizes = larger(sizes, R[a])
    size, place, by_place = widest(sizes), space.measure[PLACE_SIZE], 1.0
    if system.is_geometric == 1:
        by_place += space.tolerances[BY_PLACE] * place / max(largest(space.z, FIRST_ROW, space.increment_rows), 1e-290)
    roundings = size / (EPS * by_place * max(momentum, 1e-290))
    if system.k > 0:
        for a in range(space.behind // WIDTH, space.rows):
            check = check + 0.0 * R[a]
            constraints = larger(constraints, R[a])
        constraint = widest(constraints)
        space.measure[VIOLATION] = constraint * abs(h) / place
        roundings = max(roundings, space.measure[VIOLATION] / EPS)
        size = max(size, constraint)
    if total(check) != 0.0:  # `larger` ignores what is not a number
        size = roundings = math.inf
    space.measure[MOMENTUM_SIZE], space.measure[ROUNDINGS] = momentum, roundings
    return size


@kernel
def place_size(system, space):
    """The size of the coordinates that constraints depend on: at least 1, that of unit quaternions."""
    size = 1.0
    if system.is_geometric == 1 or system.is_tree == 0:
        for a in range(system.n):
            if system.anchored[a] == 0:
                size = max(size, abs(space.q[a]))
    return size


@late_kernel(types.float64)
def fill_constraint_residual(system, scheme, work, space, t, h):
    """Add G(Q_j)ᵀ Λ_j to the momentum rows of the residual, and write its constraint rows g(Q_l)/h.

    Returns the largest term added. G(Q_0) was filled when the step began, and at the last control point the values
    alone are needed.
    """
    s, behind = scheme.K.shape[0], space.behind
    R, z = space.R, space.z
    size = add_constraint_force(R, FIRST_ROW, s, space.G[0], system, z, behind, s)
    if s >= SEVERAL and system.constraint == 0 and system.touches.shape[0] + system.expressions.shape[0] == 0:
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
    if system.rates.shape[0] > 0:
        fill_rate_residual(system, scheme, work, space, t, h)
    return size


@copied_kernel
def fill_middle(system, work, space):
    """The middle of the only segment of a step into space.node_q, and its rounding error into work.low."""
    for a in range(system.n):
        y = space.q_low[a] + 0.5 * space.z[a]
        place = space.q[a] + y
        space.node_q[a] = place
        work.low[a] = (space.q[a] - place) + y


@late_kernel()
def fill_rate_residual(system, scheme, work, space, t, h):
    """Overwrite the rows of constraints on velocities by A Y/h − a at the middle of a step of one segment."""
    fill_middle(system, work, space)
    fill_constraints(space.g, space.G[1], space.g_t, system, work, t + 0.5 * h, space.node_q)
    for r in range(system.rates.shape[0]):
        b = system.rates[r]
        value, first = 0.0, system.constraints[b, FIRST_ENTRY]
        for e in range(first, first + system.constraints[b, ENTRIES]):
            value += space.G[1, e] * space.z[system.entries[e]]
        space.R[space.behind + b] = value / h + space.g_t[b]


@kernel
def fill_point_residuals(system, scheme, work, space, t, h):
    """What `fill_constraint_residual` does at the control points behind the first, for a tree: four at once."""
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
    """Poses, columns and impulses at group c of four control points behind the first, in lanes into space.lane_work.

    Impulses are those at points before the step's end. Lanes without a control point have the step's start and no
    impulse.
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


@late_kernel(types.float64)
def fill_quaternion_residual(system, scheme, work, space, t, h):
    """What `fill_constraint_residual` does for an open tree, whose G are the quaternions.

    They also go into space.quaternions, in lanes of a_j and of a_l.
    """
    s, behind = scheme.K.shape[0], space.behind
    R, z, quaternions = space.R, space.z, space.quaternions
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
                    quaternions[0, j // WIDTH, entry + c, j % WIDTH] = a
                    term = a * z[behind + b * s + j]
                    R[(first + c) * s + j] += term
                    size = max(size, abs(term))
                if j > 0:
                    quaternions[1, (j - 1) // WIDTH, entry + c, (j - 1) % WIDTH] = a
            if j > 0:
                R[behind + b * s + j - 1] = 0.5 * value / h
    return size


@copied_kernel
def control_increment(space, a, j, s):
    """What is added to q_k to give coordinate a of control point j."""
    return space.q_low[a] + (space.z[a * s + j - 1] if j > 0 else 0.0)


@copied_kernel
def fill_control_point(work, space, j, s):
    """Q_j = q_k + Y_j into space.node_q, and its rounding error into work.low."""
    for a in range(space.node_q.shape[0]):
        y = control_increment(space, a, j, s)
        place = space.q[a] + y
        space.node_q[a] = place
        work.low[a] = (space.q[a] - place) + y


@copied_kernel
def add_constraint_force(out, first, stride, G, system, impulses, start, step):
    """Add Gᵀ Λ to out[first :: stride], Λ = impulses[start :: step]; returns the largest term added.

    out         (.,)    in and out, n entries that are `stride` apart
    G           (E,)    entries of the constraint Jacobian
    impulses    (.,)    k entries that are `step` apart
    """
    size = 0.0
    for b in range(system.k):
        impulse = impulses[start + b * step]
        entry = system.constraints[b, FIRST_ENTRY]
        for e in range(entry, entry + system.constraints[b, ENTRIES]):
            term = G[e] * impulse
            out[first + system.entries[e] * stride] += term
            size = max(size, abs(term))
    return size


@copied_kernel
def node_increment(space, scheme, a, i):
    """What is added to q_k to give coordinate a at quadrature node i."""
    s = scheme.K.shape[0]
    move = space.q_low[a]
    for l in range(s):
        move += scheme.A[i, l + 1] * space.z[a * s + l]
    return move


@copied_kernel
def node_force(space, scheme, a, i):
    """What f at quadrature node i is for coordinate a."""
    if scheme.b.shape[0] == 1:
        return space.node_f[a]
    return space.forces[(i // WIDTH) * space.q.shape[0] + a, i % WIDTH]


@copied_kernel
def rounded_sum(x, y):
    """x + y, and what it loses by rounding; |y| is at most |x|, or the loss is that of much smaller numbers."""
    place = x + y
    return place, (x - place) + y


@kernel
def add_force_of_rounding(low, system, scheme, space, h):
    """Take back what rounding does to momenta since forces act where unit quaternions are rounded.

    A turn about e moves a quaternion a by ½ e a, and a force f on it changes the momentum about e by f·½ e a. Evaluated at a
    rounded, a − ρ, but acting at a, it adds f·½ e ρ = ½ e·vec(f ρ̄), as a force vec(f ρ̄) a would. In steady turns rounding was
    measured to have a mean along the motion, of some thousandths of the last digit, so that momenta changed in proportion to
    time.

    low       (n,)    in and out
    """
    s, m = scheme.K.shape[0], scheme.b.shape[0]
    for b in range(system.k):
        if system.constraints[b, CONSTRAINT_KIND] != UNIT_QUATERNION:
            continue
        first = quaternion_place(system, b)
        second, third, fourth = first + 1, first + 2, first + 3
        ux = uy = uz = 0.0
        for j in range(s):
            a0, r0 = rounded_sum(space.q[first], control_increment(space, first, j, s))
            a1, r1 = rounded_sum(space.q[second], control_increment(space, second, j, s))
            a2, r2 = rounded_sum(space.q[third], control_increment(space, third, j, s))
            a3, r3 = rounded_sum(space.q[fourth], control_increment(space, fourth, j, s))
            x, y, z = product_conjugate_vector(a0, a1, a2, a3, r0, r1, r2, r3)
            impulse = space.z[space.behind + b * s + j]
            ux, uy, uz = ux + impulse * x, uy + impulse * y, uz + impulse * z
        for i in range(m):
            a0, r0 = rounded_sum(space.q[first], node_increment(space, scheme, first, i))
            a1, r1 = rounded_sum(space.q[second], node_increment(space, scheme, second, i))
            a2, r2 = rounded_sum(space.q[third], node_increment(space, scheme, third, i))
            a3, r3 = rounded_sum(space.q[fourth], node_increment(space, scheme, fourth, i))
            f0, f1 = node_force(space, scheme, first, i), node_force(space, scheme, second, i)
            f2, f3 = node_force(space, scheme, third, i), node_force(space, scheme, fourth, i)
            x, y, z = product_conjugate_vector(f0, f1, f2, f3, r0, r1, r2, r3)
            weight = h * scheme.b[i]
            ux, uy, uz = ux + weight * x, uy + weight * y, uz + weight * z
        a0, a1 = space.q[first] + space.z[second * s - 1], space.q[second] + space.z[third * s - 1]
        a2, a3 = space.q[third] + space.z[fourth * s - 1], space.q[fourth] + space.z[(fourth + 1) * s - 1]
        p0, p1, p2, p3 = vector_product(ux, uy, uz, a0, a1, a2, a3)
        low[first] -= p0
        low[second] -= p1
        low[third] -= p2
        low[fourth] -= p3


@copied_kernel
def has_saddle(system):
    """Whether constraints are solved for together with M.

    The constraints of unit quaternions in an open tree are solved for one by one.
    """
    return system.k > 0 and system.is_open == 0
