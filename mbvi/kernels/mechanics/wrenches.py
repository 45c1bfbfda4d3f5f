"""The wrenches of constraints between two links: points, columns and how both change with the coordinates.

A constraint between a point x_a of link a and a point x_b of link b has a wrench W on link b, and −W on link a; its Jacobian is
∂g/∂q_j = ± W·D_j with D_j the displacement column of coordinate j, + on the side of b and − on that of a. The moment of W and
the columns of a link's tree are about the origin of the tree's last link, for each side about its own.

Arguments of the kernels, on numbers or on lanes, with u the unit of a coordinate:

q          (n,)       configuration  [u]
world      (L, 18)    poses of links, by `tree.fill_world`  [1, m, m/s, rad/s]
D          (n, 6)     displacement columns, by `tree.fill_screws`  [rad/u, m/u]
wrench     (9,)       moment about the origin of b's columns, force, moment about that of a's columns, for a multiplier of
                      1  [unit of g, unit of g/m, unit of g] (or longer)

Work.wrench_of, the columns of which are named below, has what the constraint that was evaluated last consists of.

Units of numbers: x, y, z [m], or of a direction [1]; mx … nz [mixed].

Source: Wendlandt & Marsden 1997, the section on the rigid body.
"""

import numpy as np

from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.layout import DOF, KIND, POINT_A, POINT_B, QUATERNION
from mbvi.kernels.mechanics.rotation import cross, rotate
from mbvi.kernels.mechanics.tree import (
    WORLD_PLACE,
    WORLD_ROTATION,
    anchor_place,
    columns_origin,
    displacement_derivative,
    from_last,
    slide,
)

# Columns of Work.wrench_of (25): moment about the origin of b's columns, force, moment about that of a's, x_a and x_b from the
# origins of their columns, u (of a distance r/f), w, r, and 1/f. Of the first nine, Work.wrench_rate holds derivatives.
MOMENT, FORCE, MOMENT_A, AT_A, AT_B, TURN_U, TURN_W, GAP, SCALE = 0, 3, 6, 9, 12, 15, 18, 21, 24
WRENCH_PARTS, WRENCH_WIDTH = 25, 9


@kernel
def world_direction(world, link, x, y, z):
    """World components of a direction fixed in a link. Arguments: see the head of this file."""
    if link < 0:
        return x, y, z
    return rotate(world, link, WORLD_ROTATION, x, y, z)


@kernel
def place_from_anchor(world, link, x, y, z):
    """A point of a link, from its anchor [m]; a point of the world is its own anchor.

    Arguments: see the head of this file.
    """
    if link < 0:
        return 0.0, 0.0, 0.0
    x, y, z = world_direction(world, link, x, y, z)
    return x + world[link, WORLD_PLACE], y + world[link, WORLD_PLACE + 1], z + world[link, WORLD_PLACE + 2]


@kernel
def anchor_of_point(system, world, i, link, point, q):
    """The anchor of a point of constraint i [m].

    Columns of System.constraint_data from `point` on have the point's components. Arguments: see the head of this file.
    """
    if link < 0:
        data = system.constraint_data
        return data[i, point], data[i, point + 1], data[i, point + 2]
    return anchor_place(system.links, system.geometry, world, link, q)


@kernel
def fill_points(system, work, i, a, b, q):
    """The points x_a and x_b of constraint i and r between them, into work.wrench_of.

    Arguments: see the head of this file.

    work.low is the rounding error of q.
    """
    row, data, world = work.wrench_of, system.constraint_data, work.world
    ax, ay, az = place_from_anchor(world, a, data[i, POINT_A], data[i, POINT_A + 1], data[i, POINT_A + 2])
    bx, by, bz = place_from_anchor(world, b, data[i, POINT_B], data[i, POINT_B + 1], data[i, POINT_B + 2])
    px, py, pz = anchor_of_point(system, world, i, a, POINT_A, q)
    x, y, z = anchor_of_point(system, world, i, b, POINT_B, q)
    kx, ky, kz = slide(system.links, system.geometry, world, a, work.low)
    lx, ly, lz = slide(system.links, system.geometry, world, b, work.low)
    row[GAP] = bx - ax + ((x - px) + (lx - kx))
    row[GAP + 1] = by - ay + ((y - py) + (ly - ky))
    row[GAP + 2] = bz - az + ((z - pz) + (lz - kz))
    x, y, z = columns_origin(system.links, world, a)
    row[AT_A], row[AT_A + 1], row[AT_A + 2] = ax - x, ay - y, az - z
    x, y, z = columns_origin(system.links, world, b)
    row[AT_B], row[AT_B + 1], row[AT_B + 2] = bx - x, by - y, bz - z


@kernel
def set_nine(row, mx, my, mz, fx, fy, fz, nx, ny, nz):
    """Write the moment about the origin of b, the force, and the moment about the origin of a.

    row       (9,)    out  [mixed] (or longer)
    """
    row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8] = mx, my, mz, fx, fy, fz, nx, ny, nz


@kernel
def times_column(wrench, D, j, sign):
    """± W·D_j, about the origin of the side that coordinate j is on. Arguments: see the head of this file."""
    j = np.uintp(j)
    moment = MOMENT if sign > 0.0 else MOMENT_A
    return sign * (
        wrench[moment] * D[j, 0] + wrench[moment + 1] * D[j, 1] + wrench[moment + 2] * D[j, 2]
        + wrench[FORCE] * D[j, 3] + wrench[FORCE + 1] * D[j, 4] + wrench[FORCE + 2] * D[j, 5]
    )  # fmt: skip


@kernel
def column_rate(system, work, q, j_entry, k_entry):
    """W·∂D_j/∂q_k of the wrench in work.wrench_of, for two entries of its constraint.

    Arguments: see the head of this file.
    """
    row, D, world = work.wrench_of, work.D, work.world
    if system.signs[j_entry] != system.signs[k_entry]:
        return 0.0
    j, k = system.entries[j_entry], system.entries[k_entry]
    link = system.coordinate_links[j]
    if system.coordinate_links[k] > link:
        return 0.0
    ax, ay, az = cross(D[k, 0], D[k, 1], D[k, 2], D[j, 0], D[j, 1], D[j, 2])
    if system.coordinate_links[k] < link:
        lx, ly, lz = cross(D[k, 0], D[k, 1], D[k, 2], D[j, 3], D[j, 4], D[j, 5])
        mx, my, mz = cross(D[k, 3], D[k, 4], D[k, 5], D[j, 0], D[j, 1], D[j, 2])
        lx, ly, lz = lx + mx, ly + my, lz + mz
    elif system.links[link, KIND] == QUATERNION:
        dof = system.links[link, DOF]
        cx, cy, cz = displacement_derivative(q, dof, j - dof, k - dof)
        cx, cy, cz = rotate(world, link, WORLD_ROTATION, cx, cy, cz)
        ax, ay, az = ax + cx, ay + cy, az + cz
        x, y, z = from_last(system.links, world, link)
        lx, ly, lz = cross(x, y, z, ax, ay, az)
    else:
        return 0.0
    moment = MOMENT if system.signs[j_entry] > 0.0 else MOMENT_A
    turning = row[moment] * ax + row[moment + 1] * ay + row[moment + 2] * az
    return turning + row[FORCE] * lx + row[FORCE + 1] * ly + row[FORCE + 2] * lz
