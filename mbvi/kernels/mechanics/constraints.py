"""Holonomic constraints g(t, q) = 0: values, Jacobian and the second derivatives of λᵀg.

With r = x_b − x_a between a point of link a and one of link b, u fixed in link a, w fixed in link b, and f a function
of time or of one coordinate:

    along        g = u·r − f                      across    g = u·w − c
    distance     g = (|r|² − f²)/(2 f)            coordinates   g = Σ α_j q_j − f
    unit quaternion a    g = (|a|² − 1)/2

The Jacobian of the first three is a wrench W on link b, and −W on link a: ∂g/∂q_j = ± W·D_j with D_j the displacement
column of coordinate j, + on the side of b and − on that of a; what carries both links has no part in it. W is

    along: force u at x_b       across: moment w × u       distance: force r/f at x_b.

Its moment and the columns of a link's tree are about the origin of the tree's last link. Each of two trees has its own
such origin, near its bodies, and r contains the distance of their anchors: nothing is rounded to the distance from the
world's origin.

For the second derivatives, ∂D_j/∂q_k = D_k × D_j for k nearer the root than j, and W turns and moves with either side.

An *idle* constraint has no entries: it holds whatever the coordinates are, as the one that would keep a planar loop in
its plane.

Arguments of the kernels, on numbers or on lanes, with u the unit of a coordinate and E entries of the Jacobian:

q, v       (n,)       configuration and velocity  [u, u/s]
g, g_t     (k,)       out: values and ∂g/∂t  [unit of g, unit of g/s]
G          (E,)       out: entries of the Jacobian, see System.entries  [unit of g/u]
lam        (k,)       λ  [J/unit of g], or impulses  [J s/unit of g]
world      (L, 18)    poses of links, by `tree.fill_world`  [1, m, m/s, rad/s]
D          (n, 6)     displacement columns, by `tree.fill_screws`  [rad/u, m/u]
wrench     (9,)       moment about the origin of b's columns, force, moment about that of a's columns, for a multiplier of
                      1  [unit of g, unit of g/m, unit of g] (or longer)
twists     (2, 6)     twists of the side of b, and of the side of a  [rad/s, m/s]
stack      (STACK_SIZE, 3)    work of functions
J          (.,)       in and out: a matrix of s stages (s² matrix_size numbers), or blocks, see `add_to_blocks`
                      [mixed]: the unit of λ g/u² times that of `factor`
t          float      time  [s]

Work.wrench_of, the columns of which are named in `wrenches`, has what the constraint that was evaluated last consists of.
Contacts, and constraints on velocities alone, stand in `rolling`.

Units of numbers: factor [1], or h [s]; weight [J/unit of g]; mx … nz, value [mixed].

Sources: Wendlandt & Marsden 1997, eq. 58 and its section on the rigid body; Nikravesh 1988, chapter 6.
"""

import numpy as np

from mbvi.kernels.algebra.saddle import JACOBIAN, block_place, place_in_order
from mbvi.kernels.compiler.decorators import copied_kernel, kernel
from mbvi.kernels.compiler.lanes import WIDTH, lanes_at, of_four, part, put_lanes
from mbvi.kernels.compiler.late import late_kernel
from mbvi.kernels.compiler.packed import call
from mbvi.kernels.layout import (
    ACROSS,
    ALONG,
    ARGUMENT,
    CONSTRAINT_KIND,
    COORDINATES,
    DIRECTION_U,
    DIRECTION_W,
    DISTANCE,
    ENTRIES,
    FIRST_ENTRY,
    FUNCTION,
    GEOMETRIC,
    HAS_SAME_POINTS,
    LINK_A,
    LINK_B,
    NODE_COORDINATES,
    OFFSET,
    UNIT_QUATERNION,
)
from mbvi.kernels.mechanics.expressed import (
    fill_expressed_curvature_rates,
    fill_expressed_rows,
    fill_expressed_values,
)
from mbvi.kernels.mechanics.functions import function_of
from mbvi.kernels.mechanics.rolling import fill_touch_curvature_rates, fill_touch_rows, fill_touch_values
from mbvi.kernels.mechanics.rotation import cross
from mbvi.kernels.mechanics.tree import fill_screws, fill_world
from mbvi.kernels.mechanics.wrenches import (
    AT_A,
    AT_B,
    FORCE,
    GAP,
    MOMENT,
    MOMENT_A,
    SCALE,
    TURN_U,
    TURN_W,
    WRENCH_WIDTH,
    column_rate,
    fill_points,
    set_nine,
    times_column,
    world_direction,
)


@kernel
def fill_functions(system, work, t, q):
    """f, f' and f'' of every constraint that has a function, at (t, q), into work.functions.

    Arguments: see the head of this file.
    """
    for i in range(system.k):
        if system.constraints[i, FUNCTION] >= 0:
            at = system.constraints[i, ARGUMENT]
            value, slope, curve = function_at(system, work.stack, i, t if at < 0 else q[at])
            work.functions[i, 0], work.functions[i, 1], work.functions[i, 2] = value, slope, curve


@kernel
def fill_functions_at_points(system, work, stack, t, q):
    """What `fill_functions` does, in lanes at four points. Arguments: see the head of this file."""
    for i in range(system.k):
        if system.constraints[i, FUNCTION] >= 0:
            at = system.constraints[i, ARGUMENT]
            x = t if at < 0 else q[at]
            a, slope_a, curve_a = function_at(system, stack, i, part(x, 0))
            b, slope_b, curve_b = function_at(system, stack, i, part(x, 1))
            c, slope_c, curve_c = function_at(system, stack, i, part(x, 2))
            d, slope_d, curve_d = function_at(system, stack, i, part(x, 3))
            work.functions[i, 0] = of_four(a, b, c, d)
            work.functions[i, 1] = of_four(slope_a, slope_b, slope_c, slope_d)
            work.functions[i, 2] = of_four(curve_a, curve_b, curve_c, curve_d)


@kernel
def function_at(system, stack, i, x):
    """(f, f', f'') of the function of constraint i at x. Arguments: see the head of this file."""
    return function_of(
        system.time_functions, system.operations, system.numbers, stack, system.constraints[i, FUNCTION], x
    )


@kernel
def fill_constraint_geometry(system, work, q):
    """Poses and columns of all links at q into work, for the kernels below. Arguments: see the head of this file."""
    if system.is_geometric == 1:
        fill_world(system, work, q, work.zero)
        fill_screws(system, work, q)


@copied_kernel
def fill_parts(system, work, i, q, is_next):
    """(g, f', f'') of constraint i, f its function, without the part of its own coordinates.

    Arguments: see the head of this file.

    What its wrench consists of is left in work.wrench_of.

    is_next   bool   whether constraint i − 1 was evaluated before, at the same q: what both have in common is there
    """
    row, data, world = work.wrench_of, system.constraint_data, work.world
    kind, a, b = system.constraints[i, CONSTRAINT_KIND], system.constraints[i, LINK_A], system.constraints[i, LINK_B]
    f, slope, curve = data[i, OFFSET], 0.0, 0.0
    if system.constraints[i, FUNCTION] >= 0:
        f, slope, curve = work.functions[i, 0], work.functions[i, 1], work.functions[i, 2]
    if kind == COORDINATES:
        return -f, slope, curve
    if kind != ACROSS and not (is_next and system.constraints[i, HAS_SAME_POINTS] == 1):
        fill_points(system, work, i, a, b, q)
    rx, ry, rz = row[GAP], row[GAP + 1], row[GAP + 2]
    if kind == DISTANCE:
        scale = 1.0 / f
        ux, uy, uz = rx * scale, ry * scale, rz * scale
        row[SCALE] = scale
        row[TURN_U], row[TURN_U + 1], row[TURN_U + 2] = ux, uy, uz
        slope *= 0.5 * (ux * ux + uy * uy + uz * uz + 1.0)  # −∂g/∂t = f' (|r|² + f²)/(2 f²)
        return 0.5 * (rx * ux + ry * uy + rz * uz - f), slope, curve
    ux, uy, uz = world_direction(world, a, data[i, DIRECTION_U], data[i, DIRECTION_U + 1], data[i, DIRECTION_U + 2])
    row[TURN_U], row[TURN_U + 1], row[TURN_U + 2] = ux, uy, uz
    if kind == ALONG:
        return ux * rx + uy * ry + uz * rz - f, slope, curve
    wx, wy, wz = world_direction(world, b, data[i, DIRECTION_W], data[i, DIRECTION_W + 1], data[i, DIRECTION_W + 2])
    row[TURN_W], row[TURN_W + 1], row[TURN_W + 2] = wx, wy, wz
    return ux * wx + uy * wy + uz * wz - f, slope, curve


@copied_kernel
def fill_wrench(system, work, i):
    """The wrench of constraint i, after `fill_parts`, into the first columns of work.wrench_of."""
    row, kind = work.wrench_of, system.constraints[i, CONSTRAINT_KIND]
    ux, uy, uz = row[TURN_U], row[TURN_U + 1], row[TURN_U + 2]
    if kind == ACROSS:
        mx, my, mz = cross(row[TURN_W], row[TURN_W + 1], row[TURN_W + 2], ux, uy, uz)
        set_nine(row, mx, my, mz, 0.0, 0.0, 0.0, mx, my, mz)
    elif kind != COORDINATES:
        x, y, z = row[AT_A] + row[GAP], row[AT_A + 1] + row[GAP + 1], row[AT_A + 2] + row[GAP + 2]
        mx, my, mz = cross(row[AT_B], row[AT_B + 1], row[AT_B + 2], ux, uy, uz)
        nx, ny, nz = cross(x, y, z, ux, uy, uz)
        set_nine(row, mx, my, mz, ux, uy, uz, nx, ny, nz)


@copied_kernel
def fill_constraints(g, G, g_t, system, work, t, q):
    """Constraint values, Jacobian and explicit time derivative at (t, q). Arguments: see the head of this file."""
    fill_constraint_geometry(system, work, q)
    fill_all_rows(g, G, g_t, system, work, t, q)


@late_kernel()
def fill_all_rows(g, G, g_t, system, work, t, q):
    """What `fill_constraints` does where poses and columns of all links at q are in work.

    Arguments: see the head of this file.
    """
    if system.constraint != 0:
        call(system.constraint, t, (q, g, G, g_t))
        return
    fill_functions(system, work, t, q)
    fill_rows(g, G, g_t, system, work, q)
    if system.touches.shape[0] > 0:
        fill_touch_rows(g, G, system, work, q)
    if system.expressions.shape[0] > 0:
        fill_expressed_rows(g, G, g_t, system, work, t, q)


@copied_kernel
def fill_rows(g, G, g_t, system, work, q):
    """What `fill_all_rows` does for a tree without contacts, where functions, poses and columns at q are in work.

    Arguments: see the head of this file.
    """
    for i in range(system.k):
        g[i], slope = fill_value(system, work, i, q)
        fill_row(G, system, work, i, slope, q)
        g_t[i] = -slope if system.constraints[i, ARGUMENT] < 0 else 0.0


@kernel
def fill_values(g, G, g_t, system, work, t, q):
    """Constraint values alone, into g. Arguments: see the head of this file.

    G         (E,)    work, of a user's function, which fills all three
    g_t       (k,)    work
    """
    if system.constraint != 0:
        call(system.constraint, t, (q, g, G, g_t))
        return
    fill_functions(system, work, t, q)
    if system.is_geometric == 1:
        fill_world(system, work, q, work.zero)
    for i in range(system.k):
        g[i], _ = fill_value(system, work, i, q)
    if system.touches.shape[0] > 0:
        fill_touch_values(g, system, work, q)
    if system.expressions.shape[0] > 0:
        fill_expressed_values(g, system, work, t, q)


@copied_kernel
def fill_value(system, work, i, q):
    """(g, f') of constraint i, f its function, evaluated after i − 1. Arguments: see the head of this file.

    What its wrench consists of is left in work.wrench_of.
    """
    kind, first, count = (
        system.constraints[i, CONSTRAINT_KIND],
        system.constraints[i, FIRST_ENTRY],
        system.constraints[i, ENTRIES],
    )
    value, slope = -1.0, 0.0
    if count == 0:
        return 0.0, slope
    if kind == UNIT_QUATERNION:
        for e in range(first, first + count):
            value += q[system.entries[e]] * q[system.entries[e]]
        return 0.5 * value, slope
    value, slope, _ = fill_parts(system, work, i, q, i > 0)
    if kind == COORDINATES:
        for e in range(first, own_end(system, i)):
            value += system.signs[e] * q[system.entries[e]]
    return value, slope


@kernel
def own_end(system, i):
    """The end of the entries of constraint i without that of its function's argument."""
    return system.constraints[i, FIRST_ENTRY] + system.constraints[i, ENTRIES] - (system.constraints[i, ARGUMENT] >= 0)


@copied_kernel
def fill_row(G, system, work, i, slope, q):
    """The entries of constraint i, after `fill_value`, which returned `slope`. Arguments: see the head of this file."""
    kind, first, end = system.constraints[i, CONSTRAINT_KIND], system.constraints[i, FIRST_ENTRY], own_end(system, i)
    if system.constraints[i, ENTRIES] == 0:
        return
    if kind == UNIT_QUATERNION:
        for e in range(first, end):
            G[e] = q[system.entries[e]]
    elif kind == COORDINATES:
        for e in range(first, end):
            G[e] = system.signs[e]
    else:
        fill_wrench(system, work, i)
        for entry in range(first, end):
            e = np.uintp(entry)
            G[e] = times_column(work.wrench_of, work.D, system.entries[e], system.signs[e])
    if system.constraints[i, ARGUMENT] >= 0:
        G[end] = -slope


@kernel
def fill_wrench_rate(system, work, i, e):
    """Derivative of the wrench of constraint i with respect to the coordinate of entry e, into work.wrench_rate."""
    row, rate, D = work.wrench_of, work.wrench_rate, work.D
    kind, j = system.constraints[i, CONSTRAINT_KIND], system.entries[e]
    is_b = system.signs[e] > 0.0
    tx, ty, tz = D[j, 0], D[j, 1], D[j, 2]
    if kind == ACROSS:
        if is_b:
            wx, wy, wz = cross(tx, ty, tz, row[TURN_W], row[TURN_W + 1], row[TURN_W + 2])
            mx, my, mz = cross(wx, wy, wz, row[TURN_U], row[TURN_U + 1], row[TURN_U + 2])
        else:
            ux, uy, uz = cross(tx, ty, tz, row[TURN_U], row[TURN_U + 1], row[TURN_U + 2])
            mx, my, mz = cross(row[TURN_W], row[TURN_W + 1], row[TURN_W + 2], ux, uy, uz)
        set_nine(rate, mx, my, mz, 0.0, 0.0, 0.0, mx, my, mz)
    elif kind == ALONG and not is_b:
        fx, fy, fz = cross(tx, ty, tz, row[TURN_U], row[TURN_U + 1], row[TURN_U + 2])
        set_force_rate(rate, row, 1.0, fx, fy, fz)
    else:
        at = AT_B if is_b else AT_A
        dx, dy, dz = cross(tx, ty, tz, row[at], row[at + 1], row[at + 2])
        dx, dy, dz = dx + D[j, 3], dy + D[j, 4], dz + D[j, 5]
        if kind == ALONG:
            mx, my, mz = cross(dx, dy, dz, row[TURN_U], row[TURN_U + 1], row[TURN_U + 2])
            set_nine(rate, mx, my, mz, 0.0, 0.0, 0.0, mx, my, mz)
        elif is_b:
            set_force_rate(rate, row, 0.0, dx * row[SCALE], dy * row[SCALE], dz * row[SCALE])
        else:
            set_force_rate(rate, row, 1.0, -dx * row[SCALE], -dy * row[SCALE], -dz * row[SCALE])


@kernel
def set_force_rate(rate, row, part, fx, fy, fz):
    """Write the rate of a wrench whose force changes by f on a line through x_b (part = 1) or x_a (part = 0).

    rate      (9,)     out  [mixed]
    row       (25,)    work.wrench_of, of which the points are read  [mixed]
    """
    bx, by, bz = row[AT_B], row[AT_B + 1], row[AT_B + 2]
    ax, ay, az = row[AT_A], row[AT_A + 1], row[AT_A + 2]
    rx, ry, rz = row[GAP], row[GAP + 1], row[GAP + 2]
    back = 1.0 - part
    mx, my, mz = cross(bx - back * rx, by - back * ry, bz - back * rz, fx, fy, fz)
    nx, ny, nz = cross(ax + part * rx, ay + part * ry, az + part * rz, fx, fy, fz)
    set_nine(rate, mx, my, mz, fx, fy, fz, nx, ny, nz)


@kernel
def group_end(system, i):
    """The first constraint after i that is between other links, of other coordinates, or of another argument."""
    rows, end = system.constraints, i + 1
    while end < system.k and rows[end, CONSTRAINT_KIND] in GEOMETRIC:
        for column in (LINK_A, LINK_B, ARGUMENT, ENTRIES):
            if rows[end, column] != rows[i, column] and rows[end, ENTRIES] > 0:
                return end
        end += 1
    return end


@kernel
def fill_group(system, work, i, end, q, weights, factor):
    """Sums over the constraints i … end − 1, of the same links and coordinates: Σ w W, and for every entry Σ w ∂W/∂q.

    They go into work.wrench_of (first nine columns) and work.wrench_rates; work.wrench_sum and work.wrench_rate are
    overwritten. Returns the second derivative with respect to the argument, Σ −w f''. Arguments: see the head of this
    file.

    weights   (k,)    w/factor  [J/unit of g]
    """
    total, rates = work.wrench_sum, work.wrench_rates
    first = system.constraints[i, FIRST_ENTRY]
    count = system.constraints[i, ENTRIES] - (1 if system.constraints[i, ARGUMENT] >= 0 else 0)
    curvature = 0.0 * weights[i]
    for c in range(WRENCH_WIDTH):
        total[c] = 0.0
        for e in range(count):
            rates[e, c] = 0.0
    for row in range(i, end):
        if system.constraints[row, ENTRIES] == 0:
            continue
        weight = factor * weights[row]
        _, _, curve = fill_parts(system, work, row, q, row > i)
        fill_wrench(system, work, row)
        if system.constraints[row, ARGUMENT] >= 0:
            curvature -= weight * curve
        for e in range(count):
            fill_wrench_rate(system, work, row, first + e)
            for c in range(WRENCH_WIDTH):
                rates[e, c] += weight * work.wrench_rate[c]
        for c in range(WRENCH_WIDTH):
            total[c] += weight * work.wrench_of[c]
    for c in range(WRENCH_WIDTH):
        work.wrench_of[c] = total[c]
    return curvature


@kernel
def second_entry(system, work, q, first, j_entry, k_entry):
    """Σ w ∂²g/∂q_j∂q_k of the constraints of `fill_group`, for two entries counted from the first.

    Arguments: see the head of this file.
    """
    sign = system.signs[first + j_entry]
    value = sign * column_rate(system, work, q, first + j_entry, first + k_entry)
    return value + times_column(work.wrench_rates[k_entry], work.D, system.entries[first + j_entry], sign)


@kernel
def add_curvature_product(out, system, work, q, v, weights):
    """Add (∂²(λᵀg)/∂q²) v of geometric constraints without functions, as the rate at which Gᵀλ changes along v.

    Poses and columns at q are in work; no link hangs on a ball joint. With the twist V of what carries coordinate j,
    relative to what carries both sides, D_j changes by V × D_j, and a wrench changes with its points and directions.
    Arguments: see the head of this file.

    out       (n,)   in and out  [J/(u s)]
    weights   (k,)   λ  [J/unit of g]
    """
    D, total, rate, twists = work.D, work.wrench_sum, work.wrench_rate, work.twists
    i = np.int64(0)
    while i < system.k:
        first, entries, end = system.constraints[i, FIRST_ENTRY], system.constraints[i, ENTRIES], i + 1
        if entries > 0 and system.constraints[i, CONSTRAINT_KIND] in GEOMETRIC:
            end = group_end(system, i)
            forget_twists(twists)
            for e in range(first, first + entries):
                add_twist(twists, D, system.entries[e], system.signs[e], v)
            for c in range(WRENCH_WIDTH):
                total[c] = rate[c] = 0.0
            for row in range(i, end):
                if system.constraints[row, ENTRIES] > 0:
                    fill_parts(system, work, row, q, row > i)
                    fill_wrench(system, work, row)
                    add_wrench_and_rate(system, work, row, weights[row])
            forget_twists(twists)
            for e in range(first, first + entries):
                j, sign = system.entries[e], system.signs[e]
                out[j] = out[j] + times_column(rate, D, j, sign) + times_turned_column(total, twists, D, j, sign)
                add_twist(twists, D, j, sign, v)
        i = end


@kernel
def forget_twists(twists):
    """Set the twists of both sides to zero.

    twists    (2, 6)    out  [rad/s, m/s]
    """
    for side in range(2):
        for c in range(6):
            twists[side, c] = 0.0


@kernel
def add_twist(twists, D, j, sign, v):
    """Add D_j v_j to the twist of the side that coordinate j is on: b in row 0, a in row 1.

    Arguments: see the head of this file.

    twists    (2, 6)    in and out
    """
    side = 0 if sign > 0.0 else 1
    for c in range(6):
        twists[side, c] = twists[side, c] + D[j, c] * v[j]


@kernel
def times_turned_column(wrench, twists, D, j, sign):
    """± W·(V × D_j) with the twist V of the side that coordinate j is on. Arguments: see the head of this file."""
    side, moment = (0, MOMENT) if sign > 0.0 else (1, MOMENT_A)
    wx, wy, wz = twists[side, 0], twists[side, 1], twists[side, 2]
    ux, uy, uz = twists[side, 3], twists[side, 4], twists[side, 5]
    ax, ay, az = cross(wx, wy, wz, D[j, 0], D[j, 1], D[j, 2])
    lx, ly, lz = cross(wx, wy, wz, D[j, 3], D[j, 4], D[j, 5])
    mx, my, mz = cross(ux, uy, uz, D[j, 0], D[j, 1], D[j, 2])
    turning = wrench[moment] * ax + wrench[moment + 1] * ay + wrench[moment + 2] * az
    moving = wrench[FORCE] * (lx + mx) + wrench[FORCE + 1] * (ly + my) + wrench[FORCE + 2] * (lz + mz)
    return sign * (turning + moving)


@kernel
def add_wrench_and_rate(system, work, i, weight):
    """Add the weighted wrench of constraint i to work.wrench_sum, and its rate to work.wrench_rate.

    The rate is that at the twists of both sides. The wrench, and what it consists of, is in work.wrench_of, the twists
    are in work.twists.
    """
    row, twists, total, rate = work.wrench_of, work.twists, work.wrench_sum, work.wrench_rate
    for c in range(WRENCH_WIDTH):
        total[c] = total[c] + weight * row[c]
    ux, uy, uz = row[TURN_U], row[TURN_U + 1], row[TURN_U + 2]
    bx, by, bz, ax, ay, az = twists[0, 0], twists[0, 1], twists[0, 2], twists[1, 0], twists[1, 1], twists[1, 2]
    fx, fy, fz = cross(ax, ay, az, ux, uy, uz)
    if system.constraints[i, CONSTRAINT_KIND] == ACROSS:
        wx, wy, wz = row[TURN_W], row[TURN_W + 1], row[TURN_W + 2]
        rx, ry, rz = cross(bx, by, bz, wx, wy, wz)
        mx, my, mz = cross(rx, ry, rz, ux, uy, uz)
        nx, ny, nz = cross(wx, wy, wz, fx, fy, fz)
        mx, my, mz = mx + nx, my + ny, mz + nz
        add_nine(rate, weight, mx, my, mz, 0.0 * mx, 0.0 * mx, 0.0 * mx, mx, my, mz)
        return
    x, y, z = cross(bx, by, bz, row[AT_B], row[AT_B + 1], row[AT_B + 2])
    x, y, z = x + twists[0, 3], y + twists[0, 4], z + twists[0, 5]  # velocity of x_b
    if system.constraints[i, CONSTRAINT_KIND] == DISTANCE:
        fx, fy, fz = cross(ax, ay, az, row[AT_A], row[AT_A + 1], row[AT_A + 2])
        fx, fy, fz = fx + twists[1, 3], fy + twists[1, 4], fz + twists[1, 5]
        fx, fy, fz = row[SCALE] * (x - fx), row[SCALE] * (y - fy), row[SCALE] * (z - fz)
    mx, my, mz = cross(x, y, z, ux, uy, uz)
    px, py, pz = cross(row[AT_B], row[AT_B + 1], row[AT_B + 2], fx, fy, fz)
    nx, ny, nz = cross(row[AT_A] + row[GAP], row[AT_A + 1] + row[GAP + 1], row[AT_A + 2] + row[GAP + 2], fx, fy, fz)
    add_nine(rate, weight, mx + px, my + py, mz + pz, fx, fy, fz, mx + nx, my + ny, mz + nz)


@kernel
def add_nine(row, weight, mx, my, mz, fx, fy, fz, nx, ny, nz):
    """Add a weighted wrench.

    row       (9,)    in and out  [mixed]
    """
    row[0], row[1], row[2] = row[0] + weight * mx, row[1] + weight * my, row[2] + weight * mz
    row[3], row[4], row[5] = row[3] + weight * fx, row[4] + weight * fy, row[5] + weight * fz
    row[6], row[7], row[8] = row[6] + weight * nx, row[7] + weight * ny, row[8] + weight * nz


@kernel
def momentum_place(system, j, k, s, row_stage, column_stage):
    """Place in a matrix of s stages of the entry in the momentum row of coordinate j and the column of coordinate k."""
    a, b = system.coordinate_nodes[j, 0], system.coordinate_nodes[k, 0]
    row = row_stage * system.nodes[a, NODE_COORDINATES] + system.coordinate_nodes[j, 1]
    column = column_stage * system.nodes[b, NODE_COORDINATES] + system.coordinate_nodes[k, 1]
    place, down, across = block_place(system, JACOBIAN, s, a, b)
    return place + row * down + column * across


@kernel
def add_curvature(J, system, work, t, q, lam, factor, s, row_stage, column_stage):
    """Add factor · ∂²(λᵀg)/∂q² to blocks of a matrix of s stages. Arguments: see the head of this file."""
    if system.constraint != 0:
        add_own_curvature(J, system, work, t, q, lam, factor, s, row_stage, column_stage)
        return
    fill_functions(system, work, t, q)
    fill_constraint_geometry(system, work, q)
    add_tree_curvature(J, system, work, q, lam, factor, s, row_stage, column_stage, 1)


@kernel
def add_own_curvature(J, system, work, t, q, lam, factor, s, row_stage, column_stage):
    """What `add_curvature` does for a user's constraints. Arguments: see the head of this file."""
    n = system.n
    work.curvature[:] = 0.0
    call(system.curvature, t, (q, lam, work.curvature))
    for a in range(n):
        for b in range(n):
            J[momentum_place(system, a, b, s, row_stage, column_stage)] += factor * work.curvature[a * n + b]


@kernel
def add_tree_curvature(J, system, work, q, lam, factor, s, row_stage, column_stage, count):
    """What `add_curvature` does for a tree, where functions, poses and columns at q are in work.

    Arguments: see the head of this file.

    In lanes, q and λ are those of `count` control points, whose blocks follow each other along the diagonal; J may have
    no stages, see `add_to_blocks`.
    """
    i = np.int64(0)  # numba would compile kernels once more for a literal 0
    while i < system.k:
        kind, first, entries = (
            system.constraints[i, CONSTRAINT_KIND],
            system.constraints[i, FIRST_ENTRY],
            system.constraints[i, ENTRIES],
        )
        argument, end = system.constraints[i, ARGUMENT], i + 1
        curvature = 0.0 * lam[i]
        if kind == UNIT_QUATERNION:
            for e in range(first, first + entries):
                j = system.entries[e]
                add_to_blocks(J, system, j, j, s, row_stage, column_stage, count, factor * lam[i])
        elif kind == COORDINATES:
            _, _, curve = fill_parts(system, work, i, q, False)
            curvature = -factor * lam[i] * curve
        elif entries > 0 and kind in GEOMETRIC:
            end = group_end(system, i)
            curvature = fill_group(system, work, i, end, q, lam, factor)
            entries -= 1 if argument >= 0 else 0
            add_group_curvature(J, system, work, q, first, entries, s, row_stage, column_stage, count)
        if argument >= 0:
            add_to_blocks(J, system, argument, argument, s, row_stage, column_stage, count, curvature)
        i = end


@kernel
def add_to_blocks(J, system, j, k, s, row_stage, column_stage, count, value):
    """Add the parts of a value to the momentum rows of coordinate j and the columns of coordinate k in `count` stages.

    With no stages, s = 0, the value itself is added to J, which has four numbers for every two coordinates in the order
    of elimination.

    J         (s² matrix_size,)    in and out; (4 n²,) where s = 0
    """
    if s == 0:
        at = (place_in_order(system, j) * system.n + place_in_order(system, k)) * WIDTH
        put_lanes(J, at, lanes_at(J, at) + value)
        return
    for i in range(count):
        J[momentum_place(system, j, k, s, row_stage + i, column_stage + i)] += part(value, i)


@kernel
def add_group_curvature(J, system, work, q, first, entries, s, row_stage, column_stage, count):
    """Add the second derivatives of the constraints of `fill_group` to blocks of a matrix of s stages.

    Arguments: see the head of this file.
    """
    for k_entry in range(entries):
        k = system.entries[first + k_entry]
        for j_entry in range(k_entry + 1):
            j = system.entries[first + j_entry]
            value = second_entry(system, work, q, first, j_entry, k_entry)
            add_to_blocks(J, system, j, k, s, row_stage, column_stage, count, value)
            if j != k:
                add_to_blocks(J, system, k, j, s, row_stage, column_stage, count, value)


@kernel
def fill_curvature_rate(out, system, work, t, q, v):
    """vᵀ (∂²g_i/∂q²) v of every constraint, or of one on velocities vᵀ (∂A_i/∂q) v. Arguments: see the head of this file.

    out       (k,)    out  [unit of g/s²]
    """
    n = system.n
    if system.constraint != 0:
        for i in range(system.k):
            work.unit[i] = 1.0
            work.curvature[:] = 0.0
            call(system.curvature, t, (q, work.unit, work.curvature))
            work.unit[i] = 0.0
            out[i] = 0.0
            for a in range(n):
                for b in range(n):
                    out[i] += v[a] * work.curvature[a * n + b] * v[b]
        return
    fill_functions(system, work, t, q)
    fill_constraint_geometry(system, work, q)
    for i in range(system.k):
        kind, first, count = (
            system.constraints[i, CONSTRAINT_KIND],
            system.constraints[i, FIRST_ENTRY],
            system.constraints[i, ENTRIES],
        )
        argument = system.constraints[i, ARGUMENT]
        out[i] = curvature = 0.0
        if kind == UNIT_QUATERNION:
            for e in range(first, first + count):
                out[i] += v[system.entries[e]] ** 2
        elif kind == COORDINATES:
            _, _, curve = fill_parts(system, work, i, q, False)
            curvature = -curve
        elif count > 0 and kind in GEOMETRIC:
            work.unit[i] = 1.0
            curvature = fill_group(system, work, i, i + 1, q, work.unit, 1.0)
            work.unit[i] = 0.0
            for k_entry in range(count - (1 if argument >= 0 else 0)):
                for j_entry in range(count - (1 if argument >= 0 else 0)):
                    product = v[system.entries[first + j_entry]] * v[system.entries[first + k_entry]]
                    out[i] += product * second_entry(system, work, q, first, j_entry, k_entry)
        if argument >= 0:
            out[i] += curvature * v[argument] ** 2
    if system.touches.shape[0] > 0:
        fill_touch_curvature_rates(out, system, work, q, v)
    if system.expressions.shape[0] > 0:
        fill_expressed_curvature_rates(out, system, work, t, q, v)
