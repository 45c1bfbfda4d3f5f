"""Bushings: springs and dampers in six directions between a frame of link a and one of link b.

With E the axes e_m of the bushing, fixed in a, E′ the axes e′_m that b carries along, r = x_b − x_a, and w and Ω the velocity
of x_b and the angular velocity of b against a, the potential and the force and torque on b at x_b are

    V = Σ ½ k_m (e_m·r)² + Σ s_m (1 − e_m·e′_m),             s_m = ½ Σ κ − κ_m,
    F = −Σ (k_m e_m·r + c_m e_m·w) e_m,      T = Σ (s_m e′_m × e_m − γ_m e_m·Ω e_m),

and −F and −T at the same point on a. A turn by θ about e_m has the potential κ_m (1 − cos θ) and the torque κ_m sin θ: V is the
only one that is κ_m θ²/2 for small turns and linear in the rotation matrix, and smooth at all of them.

For the derivatives, a coordinate k turns a and b by τ_a and τ_b and moves their points; δE = τ_a × E, δE′ = τ_b × E′, and

    δw = δẋ_b − δẋ_a − δω_a × r − ω_a × δr,     δẋ = θ_k × ẋ + U_k(x),     δω = θ_k × ω + U_k,

D_j at x_b changes along with both.

Arguments of the kernels:

i            int               the bushing
q, v         (n,)              configuration and velocity  [u, u/s], u the unit of a coordinate
wrench       (L, 6)            in and out: [moment; force] on each link, about its origin  [N m, N]
Kqv, Kqq     (second_size,)    in and out: ∂f/∂v, ∂f/∂q, in blocks of second derivatives  [J s/u², J/u²]

Poses and velocities at q, v are in work.world, and for second derivatives the columns S, D and U. Work.bushing, the columns of
which are named below, has what the bushing that was evaluated last consists of.

Units of numbers: factor, x, y, z [any unit].

Sources: Featherstone 2008, chapter 2 (forces as wrenches); Bullo & Murray, Automatica 35 (1999) (the potential of a rotation).
"""

from numba import types

from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.compiler.late import late_kernel
from mbvi.kernels.layout import DOF, PARENT
from mbvi.kernels.mechanics.forces import (
    add_wrench,
    at_point,
    between_anchors,
    column_derivative,
    from_columns_origin,
    point_motion,
    second_place,
)
from mbvi.kernels.mechanics.rotation import cross, rotate
from mbvi.kernels.mechanics.tree import WORLD_OMEGA, WORLD_ROTATION, link_width

# Columns of System.bushing_data: points in links a and b, axes in them as columns, k, c, κ and γ along the axes.
POINT_A, POINT_B, AXES_A, AXES_B, STIFFNESS, DAMPING, TURNING_STIFFNESS, TURNING_DAMPING = 0, 3, 6, 15, 24, 27, 30, 33
# Columns of Work.bushing: x_a and x_b from their anchors and their velocities, r, w, Ω, ω_a, ω_b, e_m and e′_m, F, T.
AT_A, AT_B, GAP, MOVING, TURNING, OMEGA_A, OMEGA_B, AXES, AXES_CARRIED, FORCE, TORQUE = (
    0,
    6,
    12,
    15,
    18,
    21,
    24,
    27,
    36,
    45,
    48,
)
BUSHING_WIDTH = 51
# Columns of Work.bushing_change: δr, δw, δΩ, τ_a, τ_b, then δF, δT.
CHANGE_WIDTH = 21


@kernel
def put(row, at, x, y, z):
    """Write a vector into three columns.

    row       (.,)    out, columns at … at + 2 alone  [mixed]
    """
    row[at], row[at + 1], row[at + 2] = x, y, z


@kernel
def part(row, at, x, y, z):
    """The scalar product of three columns with a vector.

    row       (.,)    [mixed]
    """
    return row[at] * x + row[at + 1] * y + row[at + 2] * z


@kernel
def world_axis(system, work, i, link, first, m):
    """Axis m of a side of a bushing, in the world. Arguments: see the head of this file."""
    data = system.bushing_data
    x, y, z = data[i, first + m], data[i, first + 3 + m], data[i, first + 6 + m]
    return (x, y, z) if link < 0 else rotate(work.world, link, WORLD_ROTATION, x, y, z)


@kernel
def omega_of(world, link):
    """The angular velocity of a link.

    world     (L, 18)    poses and velocities of links  [1, m, m/s, rad/s]
    """
    if link < 0:
        return 0.0, 0.0, 0.0
    return world[link, WORLD_OMEGA], world[link, WORLD_OMEGA + 1], world[link, WORLD_OMEGA + 2]


@kernel
def turning_weight(data, i, m):
    """s_m of a bushing [N m].

    data      (B, 36)    System.bushing_data  [mixed]
    """
    at = TURNING_STIFFNESS
    return 0.5 * (data[i, at] + data[i, at + 1] + data[i, at + 2]) - data[i, at + m]


@kernel
def fill_bushing(system, work, i, q):
    """Points, axes, velocities, force and torque of a bushing into work.bushing. Arguments: see the head of this file."""
    row, data, world = work.bushing, system.bushing_data, work.world
    a, b = system.bushings[i, 0], system.bushings[i, 1]
    ends = point_motion(world, a, data[i, 0], data[i, 1], data[i, 2])
    other = point_motion(world, b, data[i, 3], data[i, 4], data[i, 5])
    for c in range(6):
        row[AT_A + c], row[AT_B + c] = ends[c], other[c]
    x, y, z = between_anchors(system, world, a, b, q)
    rx, ry, rz = other[0] - ends[0] + x, other[1] - ends[1] + y, other[2] - ends[2] + z
    put(row, GAP, rx, ry, rz)
    ax, ay, az = omega_of(world, a)
    bx, by, bz = omega_of(world, b)
    put(row, OMEGA_A, ax, ay, az)
    put(row, OMEGA_B, bx, by, bz)
    put(row, TURNING, bx - ax, by - ay, bz - az)
    x, y, z = cross(ax, ay, az, rx, ry, rz)
    put(row, MOVING, other[3] - ends[3] - x, other[4] - ends[4] - y, other[5] - ends[5] - z)
    put(row, FORCE, 0.0, 0.0, 0.0)
    put(row, TORQUE, 0.0, 0.0, 0.0)
    for m in range(3):
        ex, ey, ez = world_axis(system, work, i, a, AXES_A, m)
        ox, oy, oz = world_axis(system, work, i, b, AXES_B, m)
        put(row, AXES + 3 * m, ex, ey, ez)
        put(row, AXES_CARRIED + 3 * m, ox, oy, oz)
        along = data[i, STIFFNESS + m] * part(row, GAP, ex, ey, ez) + data[i, DAMPING + m] * part(
            row, MOVING, ex, ey, ez
        )
        about = data[i, TURNING_DAMPING + m] * part(row, TURNING, ex, ey, ez)
        weight = turning_weight(data, i, m)
        x, y, z = cross(ox, oy, oz, ex, ey, ez)
        add(row, FORCE, -along, ex, ey, ez)
        add(row, TORQUE, weight, x, y, z)
        add(row, TORQUE, -about, ex, ey, ez)


@kernel
def add(row, at, factor, x, y, z):
    """Add a multiple of a vector to three columns.

    row       (.,)    in and out, columns at … at + 2 alone  [mixed]
    """
    row[at], row[at + 1], row[at + 2] = row[at] + factor * x, row[at + 1] + factor * y, row[at + 2] + factor * z


@late_kernel()
def add_bushing_wrenches(wrench, system, work, q):
    """Add the wrenches of all bushings to those on their links. Arguments: see the head of this file."""
    row, world = work.bushing, work.world
    for i in range(system.bushings.shape[0]):
        fill_bushing(system, work, i, q)
        a, b = system.bushings[i, 0], system.bushings[i, 1]
        fx, fy, fz = row[FORCE], row[FORCE + 1], row[FORCE + 2]
        x, y, z = row[AT_A] + row[GAP], row[AT_A + 1] + row[GAP + 1], row[AT_A + 2] + row[GAP + 2]
        add_wrench(wrench, world, b, row[AT_B], row[AT_B + 1], row[AT_B + 2], fx, fy, fz)
        add_wrench(wrench, world, a, x, y, z, -fx, -fy, -fz)
        for c in range(3):
            if b >= 0:
                wrench[b, c] += row[TORQUE + c]
            if a >= 0:
                wrench[a, c] -= row[TORQUE + c]


@late_kernel(types.float64)
def bushing_potential(system, work, q):
    """The potential energy of all bushings [J]. Arguments: see the head of this file."""
    V = 0.0
    for i in range(system.bushings.shape[0]):
        fill_bushing(system, work, i, q)
        V += energy_of_bushing(system, work, i)
    return V


@kernel
def energy_of_bushing(system, work, i):
    """The potential energy of the bushing that was filled last [J]. Arguments: see the head of this file."""
    V, row, data = 0.0, work.bushing, system.bushing_data
    for m in range(3):
        at, carried = AXES + 3 * m, AXES_CARRIED + 3 * m
        gap = part(row, GAP, row[at], row[at + 1], row[at + 2])
        V += 0.5 * data[i, STIFFNESS + m] * gap * gap
        x, y, z = row[at] - row[carried], row[at + 1] - row[carried + 1], row[at + 2] - row[carried + 2]
        V += 0.5 * turning_weight(data, i, m) * (x * x + y * y + z * z)  # 1 − e·e′, to all digits
    return V


@kernel
def carries(system, link, other):
    """Whether a link is another one, or carries it. Link −1, the world, carries none of the coordinates."""
    while other >= 0:
        if other == link:
            return True
        other = system.links[other, PARENT]
    return False


@kernel
def fill_change(system, work, i, k, k_link):
    """How the parts of a bushing change with coordinate k of a link, into work.bushing_change.

    Arguments: see the head of this file.
    """
    row, change, D, U, links = work.bushing, work.bushing_change, work.D, work.U, system.links
    for c in range(CHANGE_WIDTH):
        change[c] = 0.0
    tx, ty, tz = D[k, 0], D[k, 1], D[k, 2]
    if carries(system, k_link, system.bushings[i, 1]):
        put(change, 12, tx, ty, tz)
        x, y, z = from_columns_origin(
            links, work.world, system.bushings[i, 1], (row[AT_B], row[AT_B + 1], row[AT_B + 2])
        )
        dx, dy, dz = at_point(D, k, x, y, z)
        add(change, 0, 1.0, dx, dy, dz)
        dx, dy, dz = at_point(U, k, x, y, z)
        x, y, z = cross(tx, ty, tz, row[AT_B + 3], row[AT_B + 4], row[AT_B + 5])
        add(change, 3, 1.0, dx + x, dy + y, dz + z)
        x, y, z = cross(tx, ty, tz, row[OMEGA_B], row[OMEGA_B + 1], row[OMEGA_B + 2])
        add(change, 6, 1.0, x + U[k, 0], y + U[k, 1], z + U[k, 2])
    if carries(system, k_link, system.bushings[i, 0]):
        put(change, 9, tx, ty, tz)
        x, y, z = from_columns_origin(
            links, work.world, system.bushings[i, 0], (row[AT_A], row[AT_A + 1], row[AT_A + 2])
        )
        dx, dy, dz = at_point(D, k, x, y, z)
        add(change, 0, -1.0, dx, dy, dz)
        dx, dy, dz = at_point(U, k, x, y, z)
        x, y, z = cross(tx, ty, tz, row[AT_A + 3], row[AT_A + 4], row[AT_A + 5])
        add(change, 3, -1.0, dx + x, dy + y, dz + z)
        x, y, z = cross(tx, ty, tz, row[OMEGA_A], row[OMEGA_A + 1], row[OMEGA_A + 2])
        dx, dy, dz = x + U[k, 0], y + U[k, 1], z + U[k, 2]
        add(change, 6, -1.0, dx, dy, dz)
        x, y, z = cross(dx, dy, dz, row[GAP], row[GAP + 1], row[GAP + 2])
        add(change, 3, -1.0, x, y, z)
    x, y, z = cross(row[OMEGA_A], row[OMEGA_A + 1], row[OMEGA_A + 2], change[0], change[1], change[2])
    add(change, 3, -1.0, x, y, z)


@kernel
def fill_rate_change(system, work, i, k, k_link):
    """How the parts of a bushing change with the rate of coordinate k of a link, into work.bushing_change.

    Arguments: see the head of this file.
    """
    row, change, S, links = work.bushing, work.bushing_change, work.S, system.links
    for c in range(CHANGE_WIDTH):
        change[c] = 0.0
    if carries(system, k_link, system.bushings[i, 1]):
        x, y, z = from_columns_origin(
            links, work.world, system.bushings[i, 1], (row[AT_B], row[AT_B + 1], row[AT_B + 2])
        )
        dx, dy, dz = at_point(S, k, x, y, z)
        add(change, 3, 1.0, dx, dy, dz)
        add(change, 6, 1.0, S[k, 0], S[k, 1], S[k, 2])
    if carries(system, k_link, system.bushings[i, 0]):
        x, y, z = from_columns_origin(
            links, work.world, system.bushings[i, 0], (row[AT_A], row[AT_A + 1], row[AT_A + 2])
        )
        dx, dy, dz = at_point(S, k, x + row[GAP], y + row[GAP + 1], z + row[GAP + 2])
        add(change, 3, -1.0, dx, dy, dz)
        add(change, 6, -1.0, S[k, 0], S[k, 1], S[k, 2])


@kernel
def fill_force_change(system, work, i):
    """δF and δT from the other columns of work.bushing_change, into its last. Arguments: see the head of this file."""
    row, change, data = work.bushing, work.bushing_change, system.bushing_data
    for m in range(3):
        at, carried = AXES + 3 * m, AXES_CARRIED + 3 * m
        ex, ey, ez = row[at], row[at + 1], row[at + 2]
        ox, oy, oz = row[carried], row[carried + 1], row[carried + 2]
        dx, dy, dz = cross(change[9], change[10], change[11], ex, ey, ez)
        px, py, pz = cross(change[12], change[13], change[14], ox, oy, oz)
        k, c, damping = data[i, STIFFNESS + m], data[i, DAMPING + m], data[i, TURNING_DAMPING + m]
        along = k * part(row, GAP, ex, ey, ez) + c * part(row, MOVING, ex, ey, ez)
        more = k * (part(row, GAP, dx, dy, dz) + part(change, 0, ex, ey, ez))
        more += c * (part(row, MOVING, dx, dy, dz) + part(change, 3, ex, ey, ez))
        add(change, 15, -more, ex, ey, ez)
        add(change, 15, -along, dx, dy, dz)
        about = damping * part(row, TURNING, ex, ey, ez)
        more = damping * (part(row, TURNING, dx, dy, dz) + part(change, 6, ex, ey, ez))
        add(change, 18, -more, ex, ey, ez)
        add(change, 18, -about, dx, dy, dz)
        weight = turning_weight(data, i, m)
        x, y, z = cross(px, py, pz, ex, ey, ez)
        add(change, 18, weight, x, y, z)
        x, y, z = cross(ox, oy, oz, dx, dy, dz)
        add(change, 18, weight, x, y, z)


@late_kernel()
def add_bushing_hessian(Kqv, Kqq, system, work, q, v):
    """Add the derivatives of the generalized forces of all bushings. Arguments: see the head of this file."""
    links = system.links
    for i in range(system.bushings.shape[0]):
        fill_bushing(system, work, i, q)
        for k_end in range(2):
            k_link = system.bushings[i, k_end]
            while k_link >= 0:
                if k_end == 1 or not carries(system, k_link, system.bushings[i, 1]):  # once, if it carries both
                    for k in range(links[k_link, DOF], links[k_link, DOF] + link_width(links, k_link)):
                        add_column(Kqv, Kqq, system, work, i, k, k_link, q)
                k_link = links[k_link, PARENT]


@kernel
def add_column(Kqv, Kqq, system, work, i, k, k_link, q):
    """Add the derivatives of the generalized forces of a bushing by coordinate k of a link, and by its rate.

    Arguments: see the head of this file.
    """
    row, change, D, links, world = work.bushing, work.bushing_change, work.D, system.links, work.world
    b = system.bushings[i, 1]
    fill_rate_change(system, work, i, k, k_link)
    fill_force_change(system, work, i)
    for c in range(6):
        work.bushing_rate[c] = change[15 + c]
    fill_change(system, work, i, k, k_link)
    fill_force_change(system, work, i)
    moves_b = carries(system, k_link, b)
    sx = sy = sz = 0.0  # how x_b moves
    if moves_b:
        x, y, z = from_columns_origin(links, world, b, (row[AT_B], row[AT_B + 1], row[AT_B + 2]))
        sx, sy, sz = at_point(D, k, x, y, z)
    for end in range(2):
        link = system.bushings[i, end]
        sign = 2.0 * end - 1.0
        at = AT_A if end == 0 else AT_B
        x, y, z = from_columns_origin(links, world, link, (row[at], row[at + 1], row[at + 2]))
        if end == 0:
            x, y, z = x + row[GAP], y + row[GAP + 1], z + row[GAP + 2]
        is_carried, j_link = carries(system, k_link, link), link
        while j_link >= 0:
            for j in range(links[j_link, DOF], links[j_link, DOF] + link_width(links, j_link)):
                lx, ly, lz = at_point(D, j, x, y, z)
                place = second_place(system, j, k)
                value = part(change, 15, lx, ly, lz) + part(change, 18, D[j, 0], D[j, 1], D[j, 2])
                px, py, pz = cross(D[j, 0], D[j, 1], D[j, 2], sx, sy, sz)
                if is_carried:
                    ax, ay, az, bx, by, bz = column_derivative(system, D, world, q, j_link, j, k_link, k, x, y, z)
                    dx, dy, dz = at_point(D, k, x, y, z)
                    dx, dy, dz = cross(D[j, 0], D[j, 1], D[j, 2], dx, dy, dz)
                    px, py, pz = px + bx - dx, py + by - dy, pz + bz - dz
                    value += part(row, TORQUE, ax, ay, az)
                value += part(row, FORCE, px, py, pz)
                Kqq[place] += sign * value
                rate = part(work.bushing_rate, 0, lx, ly, lz) + part(work.bushing_rate, 3, D[j, 0], D[j, 1], D[j, 2])
                Kqv[place] += sign * rate
            j_link = links[j_link, PARENT]
