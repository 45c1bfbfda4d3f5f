"""Loops of planar trees: what `constraints` does, without the terms that are zero for these.

All links turn about parallel axes, and g of each constraint that is not idle is u·r − f with u in the plane, r between
points of links b and a, or Σ α_j q_j − f. In the axes of the plane, with X_j the place of the joint of coordinate j,
σ_j its sense of rotation about the plane's normal, and a × b = a_x b_y − a_y b_x,

    ∂g/∂q_j = ± σ_j (x_b − X_j) × u,     + on the side of b and − on that of a, with which u turns,

and along a motion these change at the rate ± σ_j ((ẋ_b − Ẋ_j) × u + (x_b − X_j) × u̇).

Arguments of the kernels, on numbers or on lanes:

plane     (L, 7)    links in the plane, see the column names below: places and directions by `place_in_plane`,
                    velocities by `move_in_plane`  [m, 1, m/s, rad/s]
frames    (L, 5)    constants of the links, see the column names below  [m, 1]
rows      (k, 6)    constants of the constraints, see the column names below  [m, 1]
angles    (L, 6)    cosines and sines by `planar_tree.fill_directions`  [rad, 1]
q, v      (n,)      configuration and velocity  [rad, rad/s]

Units of numbers: x, y [m], or of a direction [1].

Source: Nikravesh, Computer-Aided Analysis of Mechanical Systems (1988), chapter 4 (planar joints).
"""

from mbvi.kernels.compiler.decorators import copied_kernel
from mbvi.kernels.layout import (
    ALONG,
    CONSTRAINT_KIND,
    COORDINATES,
    DOF,
    ENTRIES,
    FIRST_ENTRY,
    HAS_SAME_POINTS,
    LINK_A,
    LINK_B,
    OFFSET,
    PARENT,
    PLACE,
)
from mbvi.kernels.mechanics.sines import COSINE, SINE

# Columns of a link in the plane's axes: place of its joint, direction of its x axis, velocity of the joint, angular velocity.
JOINT, DIRECTION, SPEED, RATE = 0, 2, 4, 6
PLANE_WIDTH = 7
# Columns of a frame (L, 5), of every link: place of the joint of its tree's root, direction of the x axis of the root's frame at
# rest, and the sense of the link's rotation about the normal.
ROOT, AXIS, SENSE = 0, 2, 4
# Columns of a constraint (k, 6): its points in links a and b, or in the plane, and u in link a. The second component of a
# vector in a link is that along the normal times the link's x axis, not along its y axis.
FROM, TO, ALONG_U = 0, 2, 4


@copied_kernel
def point_in_plane(plane, link, x, y):
    """A point of a link in the plane's axes, a point of the plane itself for link −1 [m].

    Arguments: see the head of this file.
    """
    if link < 0:
        return x + 0.0 * plane[0, JOINT], y + 0.0 * plane[0, JOINT]
    u, v = direction_in_plane(plane, link, x, y)
    return plane[link, JOINT] + u, plane[link, JOINT + 1] + v


@copied_kernel
def direction_in_plane(plane, link, x, y):
    """A direction of a link in the plane's axes, one of the plane itself for link −1.

    Arguments: see the head of this file.
    """
    if link < 0:
        return x + 0.0 * plane[0, JOINT], y + 0.0 * plane[0, JOINT]
    c, s = plane[link, DIRECTION], plane[link, DIRECTION + 1]
    return c * x - s * y, s * x + c * y


@copied_kernel
def place_in_plane(plane, frames, angles, system):
    """Places and directions of all links. Arguments: see the head of this file.

    plane     (L, 7)    out, the first four columns alone  [m, 1]
    """
    links, geometry = system.links, system.geometry
    for i in range(links.shape[0]):
        parent, sense = links[i, PARENT], frames[i, SENSE]
        c, s, turned = frames[i, AXIS], frames[i, AXIS + 1], sense * angles[i, SINE]
        x, y = frames[i, ROOT] + 0.0 * turned, frames[i, ROOT + 1] + 0.0 * turned
        if parent >= 0:
            x, y = point_in_plane(plane, parent, geometry[i, PLACE], sense * geometry[i, PLACE + 1])
        plane[i, JOINT], plane[i, JOINT + 1] = x, y
        plane[i, DIRECTION] = c * angles[i, COSINE] - s * turned
        plane[i, DIRECTION + 1] = s * angles[i, COSINE] + c * turned


@copied_kernel
def move_in_plane(plane, frames, system, v):
    """Velocities of all links, which are placed. Arguments: see the head of this file.

    plane     (L, 7)    in and out: places are read, the last three columns are written
    """
    links = system.links
    for i in range(links.shape[0]):
        parent = links[i, PARENT]
        x = y = w = 0.0 * v[0]
        if parent >= 0:
            w = plane[parent, RATE]
            x = plane[parent, SPEED] - w * (plane[i, JOINT + 1] - plane[parent, JOINT + 1])
            y = plane[parent, SPEED + 1] + w * (plane[i, JOINT] - plane[parent, JOINT])
        plane[i, SPEED], plane[i, SPEED + 1], plane[i, RATE] = x, y, w + frames[i, SENSE] * v[links[i, DOF]]


@copied_kernel
def fill_rows_in_plane(g, G, plane, frames, rows, system, q):
    """Values and Jacobian of the constraints, where links are placed in the plane.

    Arguments: see the head of this file.

    g         (k,)      out  [m or rad]; of idle constraints their offset alone, which has no meaning
    G         (E,)      out, the entries of the Jacobian, see System.entries  [unit of g/rad]
    """
    constraints = system.constraints
    bx = by = rx = ry = 0.0 * q[0]
    for i in range(system.k):
        kind, first, count = constraints[i, CONSTRAINT_KIND], constraints[i, FIRST_ENTRY], constraints[i, ENTRIES]
        a, b = constraints[i, LINK_A], constraints[i, LINK_B]
        value = system.constraint_data[i, OFFSET] + 0.0 * q[0]
        if kind == COORDINATES:
            value = -1.0 * value
            for e in range(first, first + count):
                value = value + system.signs[e] * q[system.entries[e]]
                G[e] = system.signs[e]
        elif kind == ALONG and count > 0:
            if constraints[i, HAS_SAME_POINTS] == 0:
                ax, ay = point_in_plane(plane, a, rows[i, FROM], rows[i, FROM + 1])
                bx, by = point_in_plane(plane, b, rows[i, TO], rows[i, TO + 1])
                rx, ry = bx - ax, by - ay
            ux, uy = direction_in_plane(plane, a, rows[i, ALONG_U], rows[i, ALONG_U + 1])
            value = (ux * rx + uy * ry) - value
            for e in range(first, first + count):
                link = system.coordinate_links[system.entries[e]]
                x, y = bx - plane[link, JOINT], by - plane[link, JOINT + 1]
                G[e] = (system.signs[e] * frames[link, SENSE]) * (x * uy - y * ux)
        g[i] = value


@copied_kernel
def add_curvature_in_plane(out, plane, frames, rows, system, weights):
    """Add the rate of Gᵀλ along the motion, where links are placed and move in the plane.

    Arguments: see the head of this file.

    out       (n,)    in and out  [J/(rad s)]
    weights   (k,)    λ  [J/unit of g]
    """
    constraints = system.constraints
    bx = by = px = py = 0.0 * out[0]
    for i in range(system.k):
        a, b = constraints[i, LINK_A], constraints[i, LINK_B]
        first, count = constraints[i, FIRST_ENTRY], constraints[i, ENTRIES]
        if count == 0 or constraints[i, CONSTRAINT_KIND] != ALONG:
            continue
        if constraints[i, HAS_SAME_POINTS] == 0:
            bx, by = point_in_plane(plane, b, rows[i, TO], rows[i, TO + 1])
            px = py = 0.0 * bx
            if b >= 0:
                px = plane[b, SPEED] - plane[b, RATE] * (by - plane[b, JOINT + 1])
                py = plane[b, SPEED + 1] + plane[b, RATE] * (bx - plane[b, JOINT])
        ux, uy = direction_in_plane(plane, a, rows[i, ALONG_U], rows[i, ALONG_U + 1])
        ux, uy = weights[i] * ux, weights[i] * uy
        tx = ty = 0.0 * bx
        if a >= 0:
            tx, ty = -1.0 * (plane[a, RATE] * uy), plane[a, RATE] * ux
        for e in range(first, first + count):
            j = system.entries[e]
            link = system.coordinate_links[j]
            x, y = bx - plane[link, JOINT], by - plane[link, JOINT + 1]
            sx, sy = px - plane[link, SPEED], py - plane[link, SPEED + 1]
            rate = (sx * uy - sy * ux) + (x * ty - y * tx)
            out[j] = out[j] + (system.signs[e] * frames[link, SENSE]) * rate
