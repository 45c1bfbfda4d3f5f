"""Contacts of rolling bodies, which hold a gap and two velocities, and edges, which hold one velocity.

A body b, of centre x_b, touches a surface of link a at the point x where it is farthest along −n, n the surface's normal on
its side. With the matrix S of an ellipsoid, which is farthest along n at the distance √(nᵀ S n), and a rounding ρ around it,

    s = x − x_b = −S n/√(nᵀ S n) − ρ n,        g = h − √(nᵀ S n) − ρ,

where h is the height of x_b above the surface. S = r² (1 − w wᵀ) is a disc of radius r about the axis w, S = 0 a ball of radius
ρ. With r = x_b − x_a, R the surface's radius and σ = 1 outside of it, −1 inside,

    plane      n fixed in a                                            h = n·r
    cylinder   n = σ r⊥/|r⊥|, r⊥ = r − u (u·r), u the axis             h = σ (|r⊥| − R)
    sphere     n = σ r/|r|                                             h = σ (|r| − R)

the last two for balls alone. Rolling holds the velocity of the point of b at x against that of a, along two tangents d of the
surface; g = 0 holds it along n. So all three have the wrench W = (x × d, d) on b. Tangents of a plane are fixed in a, those of
a cylinder are u and n × u, those of a sphere e × n and n × (e × n), e the axis of a that is farthest from n. An edge holds the
velocity of a point of b along a direction d fixed in b.

For the derivatives ∂A_j/∂q_k, W and the columns D_j change with either side. A turn τ of b changes S n by
τ × S n + S (δn − τ × n).

Work.touch, the columns of which are named below, has what the contact that was evaluated last consists of, and Work.touch_matrix
the derivatives of its row.

Arguments of the kernels, with u the unit of a coordinate and E entries of the Jacobian:

c         int           row of System.touches
q, v      (n,)          configuration and velocity  [u, u/s]
g         (k,)          in and out: values, of contacts alone  [m]
G         (E,)          in and out: entries of the Jacobian, of contacts and edges alone  [m/u]

Poses and columns at q are in work.

Units of numbers: x, y, z, ux, uy, uz [1]; tx, ty, tz [rad/u]; mx, my, mz [m/u]; nx, ny, nz, ax, ay, az, rx, ry, rz [1/u].

Sources: Neimark & Fufaev, Dynamics of Nonholonomic Systems (1972), chapter 2; Featherstone 2008, chapter 2 (wrenches).
"""

import math

from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.compiler.late import late_kernel
from mbvi.kernels.layout import (
    CYLINDER,
    DIRECTION_U,
    DIRECTION_W,
    EDGE,
    ENTRIES,
    FIRST_ENTRY,
    LINK_A,
    LINK_B,
    OF_GAP,
    PART,
    PLANE,
    POINT_B,
    ROUNDING,
    SECOND_TANGENT,
    SPHERE,
    SURFACE,
    SURFACE_RADIUS,
    TOUCH_ROW,
)
from mbvi.kernels.mechanics.rotation import cross, rotate_back
from mbvi.kernels.mechanics.tree import WORLD_ROTATION, columns_origin
from mbvi.kernels.mechanics.wrenches import (
    AT_A,
    AT_B,
    GAP,
    anchor_of_point,
    column_rate,
    fill_points,
    set_nine,
    times_column,
    world_direction,
)

# Columns of Work.touch (24): n, the direction d of the row, s, S n, √(nᵀ S n), the plane's normal, the cylinder's axis u or the
# sphere's e, r⊥/|r⊥|, |r⊥|, the first tangent, u·r.
NORMAL, ALONG_ROW, FROM_CENTRE, OUTLINE, ROOT, AXIS, RADIAL, LENGTH, TANGENT, HEIGHT = (
    0,
    3,
    6,
    9,
    12,
    13,
    16,
    19,
    20,
    23,
)
TOUCH_WIDTH = 24


@kernel
def put_three(row, at, x, y, z):
    """Write a vector into three columns.

    row       (.,)    out, columns at … at + 2 alone  [mixed]
    """
    row[at], row[at + 1], row[at + 2] = x, y, z


@kernel
def apply_shape(system, work, c, x, y, z):
    """S x of the shape of body b, in the world. Arguments: see the head of this file."""
    data, world, b = system.touch_data, work.world, system.constraints[system.touches[c, TOUCH_ROW], LINK_B]
    if b >= 0:
        x, y, z = rotate_back(world, b, WORLD_ROTATION, x, y, z)
    x, y, z = (
        data[c, 0] * x + data[c, 3] * y + data[c, 4] * z,
        data[c, 3] * x + data[c, 1] * y + data[c, 5] * z,
        data[c, 4] * x + data[c, 5] * y + data[c, 2] * z,
    )
    return world_direction(world, b, x, y, z)


@kernel
def fill_touch(system, work, c, q):
    """The contact or edge c into work.touch; its gap, 0 of what holds a velocity. Arguments: see the head of this file."""
    i, surface, row, data = system.touches[c, TOUCH_ROW], system.touches[c, SURFACE], work.touch, system.constraint_data
    a, b, world = system.constraints[i, LINK_A], system.constraints[i, LINK_B], work.world
    fill_points(system, work, i, a, b, q)
    side = b if surface == EDGE else a
    ux, uy, uz = world_direction(world, side, data[i, DIRECTION_U], data[i, DIRECTION_U + 1], data[i, DIRECTION_U + 2])
    if surface == EDGE:
        put_three(row, ALONG_ROW, ux, uy, uz)
        put_three(row, FROM_CENTRE, 0.0, 0.0, 0.0)
        return 0.0
    height = fill_normal(system, work, c, ux, uy, uz)
    nx, ny, nz = row[NORMAL], row[NORMAL + 1], row[NORMAL + 2]
    x, y, z = apply_shape(system, work, c, nx, ny, nz)
    put_three(row, OUTLINE, x, y, z)
    root, rounding = math.sqrt(nx * x + ny * y + nz * z), system.touch_data[c, ROUNDING]
    row[ROOT] = root
    scale = 1.0 / root if root > 0.0 else 0.0
    put_three(row, FROM_CENTRE, -x * scale - rounding * nx, -y * scale - rounding * ny, -z * scale - rounding * nz)
    part = system.touches[c, PART]
    if part == OF_GAP:
        put_three(row, ALONG_ROW, nx, ny, nz)
        return height - root - rounding
    tx, ty, tz = row[AXIS], row[AXIS + 1], row[AXIS + 2]
    if surface == PLANE:
        tx, ty, tz = world_direction(world, a, data[i, DIRECTION_W], data[i, DIRECTION_W + 1], data[i, DIRECTION_W + 2])
    elif surface == SPHERE:
        tx, ty, tz = cross(tx, ty, tz, nx, ny, nz)
    put_three(row, TANGENT, tx, ty, tz)
    if part == SECOND_TANGENT:
        tx, ty, tz = cross(nx, ny, nz, tx, ty, tz)
    put_three(row, ALONG_ROW, tx, ty, tz)
    return 0.0


@kernel
def fill_normal(system, work, c, ux, uy, uz):
    """The normal of the surface, and what it follows from, into work.touch; the height of x_b above the surface.

    Arguments: see the head of this file.

    ux … uz   float    the plane's normal or the cylinder's axis
    """
    row, arm, surface, R = work.touch, work.wrench_of, system.touches[c, SURFACE], system.touch_data[c, SURFACE_RADIUS]
    x, y, z = arm[GAP], arm[GAP + 1], arm[GAP + 2]
    along = ux * x + uy * y + uz * z
    put_three(row, AXIS, ux, uy, uz)
    row[HEIGHT] = along
    if surface == PLANE:
        put_three(row, NORMAL, ux, uy, uz)
        return along
    if surface == CYLINDER:
        x, y, z = x - along * ux, y - along * uy, z - along * uz
    length, sign = math.sqrt(x * x + y * y + z * z), 1.0 if R > 0.0 else -1.0
    x, y, z = x / length, y / length, z / length
    put_three(row, RADIAL, x, y, z)
    put_three(row, NORMAL, sign * x, sign * y, sign * z)
    row[LENGTH] = length
    if surface == SPHERE:
        ux, uy, uz = farthest_axis(system, work, c, x, y, z)
        put_three(row, AXIS, ux, uy, uz)
    return sign * length - R


@kernel
def farthest_axis(system, work, c, x, y, z):
    """The axis of link a, in the world, that is farthest from a direction. Arguments: see the head of this file."""
    a, world = system.constraints[system.touches[c, TOUCH_ROW], LINK_A], work.world
    if a >= 0:
        x, y, z = rotate_back(world, a, WORLD_ROTATION, x, y, z)
    least = min(abs(x), abs(y), abs(z))
    if abs(x) == least:
        return world_direction(world, a, 1.0, 0.0, 0.0)
    if abs(y) == least:
        return world_direction(world, a, 0.0, 1.0, 0.0)
    return world_direction(world, a, 0.0, 0.0, 1.0)


@kernel
def fill_touch_wrench(work):
    """The wrench of the row in work.touch, into the first columns of work.wrench_of."""
    row, arm = work.touch, work.wrench_of
    dx, dy, dz = row[ALONG_ROW], row[ALONG_ROW + 1], row[ALONG_ROW + 2]
    sx, sy, sz = row[FROM_CENTRE], row[FROM_CENTRE + 1], row[FROM_CENTRE + 2]
    mx, my, mz = cross(arm[AT_B] + sx, arm[AT_B + 1] + sy, arm[AT_B + 2] + sz, dx, dy, dz)
    x, y, z = arm[AT_A] + arm[GAP] + sx, arm[AT_A + 1] + arm[GAP + 1] + sy, arm[AT_A + 2] + arm[GAP + 2] + sz
    nx, ny, nz = cross(x, y, z, dx, dy, dz)
    set_nine(arm, mx, my, mz, dx, dy, dz, nx, ny, nz)


@late_kernel()
def fill_touch_rows(g, G, system, work, q):
    """Values and rows of the Jacobian. Arguments: see the head of this file."""
    for c in range(system.touches.shape[0]):
        i = system.touches[c, TOUCH_ROW]
        g[i] = fill_touch(system, work, c, q)
        fill_touch_wrench(work)
        first = system.constraints[i, FIRST_ENTRY]
        for e in range(first, first + system.constraints[i, ENTRIES]):
            G[e] = times_column(work.wrench_of, work.D, system.entries[e], system.signs[e])


@late_kernel()
def fill_touch_values(g, system, work, q):
    """Values alone, of which columns are not needed. Arguments: see the head of this file."""
    for c in range(system.touches.shape[0]):
        g[system.touches[c, TOUCH_ROW]] = fill_touch(system, work, c, q)


@kernel
def fill_touch_rate(system, work, c, e):
    """Derivative of the wrench of row c with respect to the coordinate of entry e, into work.wrench_rate.

    Arguments: see the head of this file.
    """
    row, arm, D, j, is_b = work.touch, work.wrench_of, work.D, system.entries[e], system.signs[e] > 0.0
    tx, ty, tz = D[j, 0], D[j, 1], D[j, 2]
    at = AT_B if is_b else AT_A
    mx, my, mz = cross(tx, ty, tz, arm[at], arm[at + 1], arm[at + 2])
    mx, my, mz = mx + D[j, 3], my + D[j, 4], mz + D[j, 5]  # how the point of this side moves
    dx, dy, dz = row[ALONG_ROW], row[ALONG_ROW + 1], row[ALONG_ROW + 2]
    if system.touches[c, SURFACE] == EDGE:
        if not is_b:
            tx = ty = tz = mx = my = mz = 0.0
        rx, ry, rz = cross(tx, ty, tz, dx, dy, dz)
        set_touch_rate(work, mx, my, mz, rx, ry, rz)
        return
    nx, ny, nz, ax, ay, az = normal_rate(system, work, c, is_b, tx, ty, tz, mx, my, mz)
    sx, sy, sz = centre_rate(system, work, c, is_b, tx, ty, tz, nx, ny, nz)
    rx, ry, rz = nx, ny, nz
    if system.touches[c, PART] != OF_GAP:
        rx, ry, rz = tangent_rate(system, work, c, is_b, tx, ty, tz, nx, ny, nz, ax, ay, az)
    if not is_b:
        mx = my = mz = 0.0
    set_touch_rate(work, mx + sx, my + sy, mz + sz, rx, ry, rz)


@kernel
def set_touch_rate(work, mx, my, mz, rx, ry, rz):
    """Write the rate of the wrench in work.touch whose point moves by m and whose direction changes by r."""
    row, arm = work.touch, work.wrench_of
    dx, dy, dz = row[ALONG_ROW], row[ALONG_ROW + 1], row[ALONG_ROW + 2]
    bx, by, bz = (
        arm[AT_B] + row[FROM_CENTRE],
        arm[AT_B + 1] + row[FROM_CENTRE + 1],
        arm[AT_B + 2] + row[FROM_CENTRE + 2],
    )
    x, y, z = bx - arm[AT_B] + arm[AT_A], by - arm[AT_B + 1] + arm[AT_A + 1], bz - arm[AT_B + 2] + arm[AT_A + 2]
    x, y, z = x + arm[GAP], y + arm[GAP + 1], z + arm[GAP + 2]
    ox, oy, oz = cross(mx, my, mz, dx, dy, dz)
    px, py, pz = cross(bx, by, bz, rx, ry, rz)
    qx, qy, qz = cross(x, y, z, rx, ry, rz)
    set_nine(work.wrench_rate, ox + px, oy + py, oz + pz, rx, ry, rz, ox + qx, oy + qy, oz + qz)


@kernel
def normal_rate(system, work, c, is_b, tx, ty, tz, mx, my, mz):
    """Derivatives of the normal and of the axis u or e, where a side turns by t and its point moves by m.

    Arguments: see the head of this file.
    """
    row, arm, surface = work.touch, work.wrench_of, system.touches[c, SURFACE]
    ux, uy, uz = row[AXIS], row[AXIS + 1], row[AXIS + 2]
    ax, ay, az = cross(tx, ty, tz, ux, uy, uz)
    if is_b:
        ax = ay = az = 0.0
    else:
        mx, my, mz = -mx, -my, -mz
    if surface == PLANE:
        return ax, ay, az, ax, ay, az
    if surface == CYLINDER:
        along = row[HEIGHT]
        change = mx * ux + my * uy + mz * uz + arm[GAP] * ax + arm[GAP + 1] * ay + arm[GAP + 2] * az
        mx, my, mz = mx - change * ux - along * ax, my - change * uy - along * ay, mz - change * uz - along * az
    x, y, z = row[RADIAL], row[RADIAL + 1], row[RADIAL + 2]
    change = mx * x + my * y + mz * z
    scale = (1.0 if system.touch_data[c, SURFACE_RADIUS] > 0.0 else -1.0) / row[LENGTH]
    return scale * (mx - change * x), scale * (my - change * y), scale * (mz - change * z), ax, ay, az


@kernel
def centre_rate(system, work, c, is_b, tx, ty, tz, nx, ny, nz):
    """Derivative of s where b turns by t, if `is_b`, and the normal changes by n. Arguments: see the head of this file."""
    row, rounding = work.touch, system.touch_data[c, ROUNDING]
    if row[ROOT] == 0.0:
        return -rounding * nx, -rounding * ny, -rounding * nz
    ox, oy, oz = row[OUTLINE], row[OUTLINE + 1], row[OUTLINE + 2]
    px = py = pz = 0.0
    fx, fy, fz = nx, ny, nz
    if is_b:
        px, py, pz = cross(tx, ty, tz, ox, oy, oz)
        x, y, z = cross(tx, ty, tz, row[NORMAL], row[NORMAL + 1], row[NORMAL + 2])
        fx, fy, fz = nx - x, ny - y, nz - z
    x, y, z = apply_shape(system, work, c, fx, fy, fz)
    px, py, pz = px + x, py + y, pz + z
    square = nx * ox + ny * oy + nz * oz + row[NORMAL] * px + row[NORMAL + 1] * py + row[NORMAL + 2] * pz
    scale = 1.0 / row[ROOT]
    change = 0.5 * square * scale**3
    return (
        change * ox - scale * px - rounding * nx,
        change * oy - scale * py - rounding * ny,
        change * oz - scale * pz - rounding * nz,
    )


@kernel
def tangent_rate(system, work, c, is_b, tx, ty, tz, nx, ny, nz, ax, ay, az):
    """Derivative of the direction of row c, a tangent, where the normal changes by n and the axis by a.

    Arguments: see the head of this file.
    """
    row, surface = work.touch, system.touches[c, SURFACE]
    ox, oy, oz = row[NORMAL], row[NORMAL + 1], row[NORMAL + 2]
    x, y, z = row[TANGENT], row[TANGENT + 1], row[TANGENT + 2]
    if surface == PLANE:
        fx, fy, fz = cross(tx, ty, tz, x, y, z)
        if is_b:
            fx = fy = fz = 0.0
    elif surface == CYLINDER:
        fx, fy, fz = ax, ay, az
    else:
        fx, fy, fz = cross(ax, ay, az, ox, oy, oz)
        px, py, pz = cross(row[AXIS], row[AXIS + 1], row[AXIS + 2], nx, ny, nz)
        fx, fy, fz = fx + px, fy + py, fz + pz
    if system.touches[c, PART] != SECOND_TANGENT:
        return fx, fy, fz
    px, py, pz = cross(nx, ny, nz, x, y, z)
    fx, fy, fz = cross(ox, oy, oz, fx, fy, fz)
    return px + fx, py + fy, pz + fz


@kernel
def fill_touch_matrix(system, work, c, q):
    """The derivatives ∂A_j/∂q_k of row c, of its entries j and k, into work.touch_matrix.

    Arguments: see the head of this file.
    """
    i = system.touches[c, TOUCH_ROW]
    first, count = system.constraints[i, FIRST_ENTRY], system.constraints[i, ENTRIES]
    fill_touch(system, work, c, q)
    fill_touch_wrench(work)
    for k in range(count):
        fill_touch_rate(system, work, c, first + k)
        for j in range(count):
            sign = system.signs[first + j]
            value = sign * column_rate(system, work, q, first + j, first + k)
            value += times_column(work.wrench_rate, work.D, system.entries[first + j], sign)
            work.touch_matrix[j * count + k] = value


@late_kernel()
def fill_touch_curvature_rates(out, system, work, q, v):
    """vᵀ (∂A/∂q) v of contacts and edges. Arguments: see the head of this file.

    out       (k,)    in and out, rows of contacts and edges alone  [m/s²]
    """
    for c in range(system.touches.shape[0]):
        i = system.touches[c, TOUCH_ROW]
        first, count = system.constraints[i, FIRST_ENTRY], system.constraints[i, ENTRIES]
        fill_touch_matrix(system, work, c, q)
        out[i] = 0.0
        for j in range(count):
            for k in range(count):
                product = v[system.entries[first + j]] * v[system.entries[first + k]]
                out[i] += product * work.touch_matrix[j * count + k]


@late_kernel()
def fill_touch_derivatives(out, system, work, c, q):
    """∂A_j/∂q_k of row c, of its entries j and k. Arguments: see the head of this file.

    out       (n, n)    in and out: entries of the row alone are written  [m/u²]
    """
    i = system.touches[c, TOUCH_ROW]
    first, count = system.constraints[i, FIRST_ENTRY], system.constraints[i, ENTRIES]
    fill_touch_matrix(system, work, c, q)
    for j in range(count):
        for k in range(count):
            out[system.entries[first + j], system.entries[first + k]] = work.touch_matrix[j * count + k]


@late_kernel()
def add_touch_curvature(out, system, work, q, lam):
    """Add ∂(Aᵀλ)/∂q of contacts and edges, which is symmetric of gaps alone. Arguments: see the head of this file.

    out       (n, n)    in and out: row j of the force on coordinate j  [J/u²]
    lam       (k,)      [N]
    """
    for c in range(system.touches.shape[0]):
        i = system.touches[c, TOUCH_ROW]
        first, count = system.constraints[i, FIRST_ENTRY], system.constraints[i, ENTRIES]
        fill_touch_matrix(system, work, c, q)
        for j in range(count):
            for k in range(count):
                out[system.entries[first + j], system.entries[first + k]] += lam[i] * work.touch_matrix[j * count + k]


@late_kernel()
def fill_touch_borders(G, system, work, q, z):
    """Derivatives by a step's end of what constraints on velocities hold at its middle q, A + ½ ∂(A z)/∂q, z its increments.

    Arguments: see the head of this file.

    G         (E,)    in and out: has A; entries of contacts and edges on velocities alone are written
    z         (n,)    [u] (or longer)
    """
    for c in range(system.touches.shape[0]):
        if system.touches[c, PART] == OF_GAP:
            continue
        i = system.touches[c, TOUCH_ROW]
        first, count = system.constraints[i, FIRST_ENTRY], system.constraints[i, ENTRIES]
        fill_touch_matrix(system, work, c, q)
        for k in range(count):
            for j in range(count):
                G[first + k] += 0.5 * work.touch_matrix[j * count + k] * z[system.entries[first + j]]


@kernel
def touch_place(system, work, c, q):
    """Where contact c touches, in the world [m]. Arguments: see the head of this file."""
    i, row = system.touches[c, TOUCH_ROW], work.touch
    b = system.constraints[i, LINK_B]
    fill_touch(system, work, c, q)
    x, y, z = columns_origin(system.links, work.world, b)
    ax, ay, az = anchor_of_point(system, work.world, i, b, POINT_B, q)
    return x + ax + row[FROM_CENTRE], y + ay + row[FROM_CENTRE + 1], z + az + row[FROM_CENTRE + 2]


@late_kernel()
def fill_touch_wrenches(out, system, work, q):
    """The wrenches of contacts and edges on their links b, for multipliers of 1. Arguments: see the head of this file.

    out       (k, 6)    in and out, rows of contacts and edges alone: moment about the world's origin [m], force [1]
    """
    row = work.wrench_of
    for c in range(system.touches.shape[0]):
        i = system.touches[c, TOUCH_ROW]
        b = system.constraints[i, LINK_B]
        fill_touch(system, work, c, q)
        fill_touch_wrench(work)
        x, y, z = columns_origin(system.links, work.world, b)
        ax, ay, az = anchor_of_point(system, work.world, i, b, POINT_B, q)
        mx, my, mz = cross(x + ax, y + ay, z + az, row[3], row[4], row[5])
        out[i, 0], out[i, 1], out[i, 2] = row[0] + mx, row[1] + my, row[2] + mz
        out[i, 3], out[i, 4], out[i, 5] = row[3], row[4], row[5]
