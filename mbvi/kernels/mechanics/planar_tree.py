"""Trees whose joints all turn about parallel axes: what `tree` does, without the terms that are zero for these.

All vectors stand in the axes of the frame of a tree's root, about each link's own joint. Of twists ω_z and u_x, u_y
matter, of momenta N_z and P_x, P_y, of gravity and first moments the parts in the plane; with composite quantities,

    p_j = N_z,     ∂L/∂q_j = P_x u_y − P_y u_x + h_x g_y − h_y g_x,

and with places r of the joints and composite mass m, first moment H and second moment J about the root's origin,

    M_kj = J_j − (r_k + r_j)·H_j + m_j r_k·r_j,     k an ancestor of j or j itself,

and for these k, with h_j = H_j − m_j r_j and W_j = P_j − m_j ṙ_j,

    ∂p_k/∂q_j = r_j·P_j − H_j·ṙ_j − r_k·W_j,     ∂p_j/∂q_k = −h_j·ṙ_k,     ∂²L/∂q_k∂q_j = −ṙ_k·W_j − h_j·g.

All coordinates are angles, so that there are as many as links: L = n. Every kernel works on numbers or on lanes.

Units: angles [rad, 1], see `sines`; row [mixed]: m, m/s, kg, kg m and kg m² with their rates.

Source: the formulas at the head of `tree` (Featherstone 2008, chapter 6), written out for rotations about one
direction.
"""

import numpy as np

from mbvi.kernels.compiler.decorators import copied_kernel, kernel
from mbvi.kernels.compiler.lanes import larger, widest
from mbvi.kernels.layout import (
    ALIGNED,
    ANCHOR,
    DOF,
    INERTIA,
    LAST_OF_RUN,
    MASS,
    MOMENT,
    PARENT,
    PLACE,
    ROTATION,
    SUBTREE_MASS,
)
from mbvi.kernels.mechanics.rotation import rotate_back
from mbvi.kernels.mechanics.sines import (
    COSINE,
    KNOWN,
    KNOWN_COSINE,
    KNOWN_SINE,
    NEAR,
    SINE,
    TURN,
    cosine_and_sine,
    turned,
)
from mbvi.kernels.mechanics.tree import add_rotor_momenta

# Columns of a sweep's row: ω, u, place from the parent's joint, composite N, P and first moment.
OMEGA, LINEAR, ARM, ANGULAR_MOMENTUM, MOMENTUM, FIRST_MOMENT = 0, 1, 3, 5, 6, 8
# Columns of a row of second derivatives: place of the link's joint in the root's frame, composite first and second moment, ω, the
# joint's velocity, composite P.
ORIGIN, FIRST, SECOND, RATE, VELOCITY, SUM = 0, 2, 4, 5, 6, 8


@copied_kernel
def fill_directions(angles, system, q):
    """Cosine and sine of the angle of every link against the root of its tree, known from now on.

    angles    (L, 6)    out, see the column names of `sines`
    q         (n,)      [rad]
    """
    links, geometry = system.links, system.geometry
    for link in range(links.shape[0]):
        i = np.uintp(link)
        parent, angle = links[i, PARENT], q[links[i, DOF]]
        c, s = cosine_and_sine(angle)
        if parent >= 0:
            if links[i, ALIGNED] == 0:
                a, b = geometry[i, ROTATION], geometry[i, ROTATION + 3]
                c, s = a * c - b * s, a * s + b * c
            a, b = angles[np.uintp(parent), COSINE], angles[np.uintp(parent), SINE]
            c, s = a * c - b * s, a * s + b * c
        angles[i, KNOWN], angles[i, KNOWN_COSINE], angles[i, KNOWN_SINE] = angle, c, s
        angles[i, COSINE], angles[i, SINE] = c, s


@copied_kernel
def turn_directions(angles, system, q):
    """Cosines and sines of the angles of all links, from those known; False if one is too far from that.

    angles    (L, 6)    in and out: known angles are read, the last three columns are written
    q         (n,)      [rad]
    """
    links = system.links
    turn = far = 0.0 * q[0]
    for link in range(links.shape[0]):
        i = np.uintp(link)
        parent = links[i, PARENT]
        if parent < 0:
            turn = 0.0 * far
        elif parent != link - 1:
            turn = angles[np.uintp(parent), TURN]
        turn = turn + (q[links[i, DOF]] - angles[i, KNOWN])
        far = larger(far, turn)
        angles[i, TURN] = turn
        angles[i, COSINE], angles[i, SINE] = turned(angles[i, KNOWN_COSINE], angles[i, KNOWN_SINE], turn)
    return widest(far) <= NEAR


@copied_kernel
def fill_gradient_planar(p, f, row, angles, system, v):
    """p = ∂L/∂v and f = ∂L/∂q under gravity.

    p, f      (n,)        out  [kg m²/s, N m]
    row       (R, 10)     work, or with more columns, for the R links of the largest run of whole trees
    angles    (L, 6)      cosines and sines by `fill_directions`
    v         (n,)        [rad/s]
    """
    links, geometry, gravity = system.links, system.geometry, system.gravity
    first = 0  # indices are made unsigned, since for others numba tests whether they count from an array's end
    while first < links.shape[0]:
        last = links[first, LAST_OF_RUN]
        w = ux = uy = c = s = 0.0 * v[0]
        for link in range(first, last + 1):
            i, k = np.uintp(link), np.uintp(link - first)
            parent, dof = links[i, PARENT], links[i, DOF]
            if parent < 0:
                w = ux = uy = 0.0
            else:
                if parent != link - 1:
                    above = np.uintp(parent - first)
                    w, ux, uy = row[above, OMEGA], row[above, LINEAR], row[above, LINEAR + 1]
                    c, s = angles[np.uintp(parent), COSINE], angles[np.uintp(parent), SINE]
                x = c * geometry[i, PLACE] - s * geometry[i, PLACE + 1]
                y = s * geometry[i, PLACE] + c * geometry[i, PLACE + 1]
                row[k, ARM], row[k, ARM + 1] = x, y
                ux, uy = ux - w * y, uy + w * x
            c, s = angles[i, COSINE], angles[i, SINE]
            w = w + v[dof]
            row[k, OMEGA], row[k, LINEAR], row[k, LINEAR + 1] = w, ux, uy
            m = geometry[i, MASS]
            hx = c * geometry[i, MOMENT] - s * geometry[i, MOMENT + 1]
            hy = s * geometry[i, MOMENT] + c * geometry[i, MOMENT + 1]
            row[k, ANGULAR_MOMENTUM] = geometry[i, INERTIA + 2] * w + hx * uy - hy * ux
            row[k, MOMENTUM], row[k, MOMENTUM + 1] = m * ux - hy * w, m * uy + hx * w
            row[k, FIRST_MOMENT], row[k, FIRST_MOMENT + 1] = hx, hy
        N = Px = Py = hx = hy = 0.0 * v[0]
        gx = gy = 0.0
        root = -1
        for link in range(last, first - 1, -1):
            i, k = np.uintp(link), np.uintp(link - first)
            parent, dof = links[i, PARENT], links[i, DOF]
            if links[i, ANCHOR] != root:
                root = links[i, ANCHOR]
                gx, gy, _ = rotate_back(geometry, root, ROTATION, gravity[0], gravity[1], gravity[2])
            N, Px, Py = N + row[k, ANGULAR_MOMENTUM], Px + row[k, MOMENTUM], Py + row[k, MOMENTUM + 1]
            hx, hy = hx + row[k, FIRST_MOMENT], hy + row[k, FIRST_MOMENT + 1]
            p[dof] = N
            f[dof] = (Px * row[k, LINEAR + 1] - Py * row[k, LINEAR]) + (hx * gy - hy * gx)
            if parent >= 0:
                x, y, m = row[k, ARM], row[k, ARM + 1], geometry[i, SUBTREE_MASS]
                N = N + (x * Py - y * Px)
                hx, hy = hx + m * x, hy + m * y
            if parent < 0 or parent != link - 1:
                if parent >= 0:
                    above = np.uintp(parent - first)
                    row[above, ANGULAR_MOMENTUM] += N
                    row[above, MOMENTUM] += Px
                    row[above, MOMENTUM + 1] += Py
                    row[above, FIRST_MOMENT] += hx
                    row[above, FIRST_MOMENT + 1] += hy
                N = Px = Py = hx = hy = 0.0 * N
        first = last + 1
    add_rotor_momenta(p, system, v)


@copied_kernel
def place_links(row, angles, system):
    """Places of the joints, and first and second moments of the links, about the root's origin.

    row       (L, 5)    out, or with more columns
    angles    (L, 6)    cosines and sines by `fill_directions`
    """
    links, geometry = system.links, system.geometry
    for i in range(system.n):
        parent = links[i, PARENT]
        x = y = 0.0 * angles[i, COSINE]
        c, s = angles[i, COSINE], angles[i, SINE]
        if parent >= 0:
            a, b = angles[parent, COSINE], angles[parent, SINE]
            x = row[parent, ORIGIN] + (a * geometry[i, PLACE] - b * geometry[i, PLACE + 1])
            y = row[parent, ORIGIN + 1] + (b * geometry[i, PLACE] + a * geometry[i, PLACE + 1])
        m, hx, hy = geometry[i, MASS], geometry[i, MOMENT], geometry[i, MOMENT + 1]
        hx, hy = c * hx - s * hy, s * hx + c * hy
        row[i, ORIGIN], row[i, ORIGIN + 1] = x, y
        row[i, FIRST], row[i, FIRST + 1] = hx + m * x, hy + m * y
        row[i, SECOND] = geometry[i, INERTIA + 2] + (2.0 * (x * hx + y * hy) + m * (x * x + y * y))


@copied_kernel
def add_to_parents_moments(row, i, parent):
    """Add the composite moments of link i to those of its parent, if it has one.

    row       (L, 5)    in and out, the row of the parent, columns FIRST and SECOND; or with more columns
    """
    if parent >= 0:
        row[parent, FIRST] += row[i, FIRST]
        row[parent, FIRST + 1] += row[i, FIRST + 1]
        row[parent, SECOND] += row[i, SECOND]


@kernel
def fill_masses_planar(M, row, angles, system):
    """M of few coordinates.

    M         (n²,)     out, row by row  [kg m²]
    row       (L, 5)    work, or with more columns
    angles    (L, 6)    cosines and sines by `fill_directions`
    """
    links, geometry, n = system.links, system.geometry, system.n
    place_links(row, angles, system)
    for i in range(n * n):
        M[i] = 0.0
    for i in range(n - 1, -1, -1):
        parent, j, m = links[i, PARENT], links[i, DOF], geometry[i, SUBTREE_MASS]
        x, y = row[i, ORIGIN], row[i, ORIGIN + 1]
        hx, hy = row[i, FIRST], row[i, FIRST + 1]
        along = row[i, SECOND] - (x * hx + y * hy)
        hx, hy = hx - m * x, hy - m * y
        above = i
        while above >= 0:
            k = links[above, DOF]
            value = along - (row[above, ORIGIN] * hx + row[above, ORIGIN + 1] * hy)
            M[k * n + j] = value
            M[j * n + k] = value
            above = links[above, PARENT]
        add_to_parents_moments(row, i, parent)
    add_rotor_inertias_planar(M, system)


@copied_kernel
def add_rotor_inertias_planar(M, system):
    """M += diag(A) with armature A of the joints.

    M         (n²,)    in and out, row by row  [kg m²]
    """
    for j in range(system.armature.shape[0]):
        place = j * (system.n + 1)
        M[place] = M[place] + system.armature[j]


@kernel
def fill_hessian_planar(Lvv, Lvq, Lqq, row, angles, system, v):
    """All second derivatives of the Lagrangian of few coordinates under gravity.

    Lvv, Lvq, Lqq   (n²,)      out, row by row [kg m², kg m²/s, J]; Lqv is the transpose of Lvq. Of the last two,
                               entries between branches, which are always zero, are not written
    row             (L, 10)    work, or with more columns
    angles          (L, 6)     cosines and sines by `fill_directions`
    v               (n,)       [rad/s]
    """
    links, geometry, gravity, n = system.links, system.geometry, system.gravity, system.n
    place_links(row, angles, system)
    for i in range(n):
        parent, m = links[i, PARENT], geometry[i, MASS]
        w, ux, uy = v[links[i, DOF]], 0.0 * v[0], 0.0 * v[0]
        x, y = row[i, ORIGIN], row[i, ORIGIN + 1]
        if parent >= 0:
            turn = row[parent, RATE]
            ux = row[parent, VELOCITY] - turn * (y - row[parent, ORIGIN + 1])
            uy = row[parent, VELOCITY + 1] + turn * (x - row[parent, ORIGIN])
            w = w + turn
        row[i, RATE], row[i, VELOCITY], row[i, VELOCITY + 1] = w, ux, uy
        row[i, SUM], row[i, SUM + 1] = m * ux - w * (row[i, FIRST + 1] - m * y), m * uy + w * (row[i, FIRST] - m * x)
    for i in range(n * n):
        Lvv[i] = 0.0
    gx = gy = 0.0
    root = -1
    for i in range(n - 1, -1, -1):
        parent, j, m = links[i, PARENT], links[i, DOF], geometry[i, SUBTREE_MASS]
        if links[i, ANCHOR] != root:
            root = links[i, ANCHOR]
            gx, gy, _ = rotate_back(geometry, root, ROTATION, gravity[0], gravity[1], gravity[2])
        x, y, ux, uy = row[i, ORIGIN], row[i, ORIGIN + 1], row[i, VELOCITY], row[i, VELOCITY + 1]
        hx, hy, Px, Py = row[i, FIRST], row[i, FIRST + 1], row[i, SUM], row[i, SUM + 1]
        along = row[i, SECOND] - (x * hx + y * hy)
        turned = (x * Px + y * Py) - (hx * ux + hy * uy)
        hx, hy, Px, Py = hx - m * x, hy - m * y, Px - m * ux, Py - m * uy
        weight = hx * gx + hy * gy
        above = i
        while above >= 0:
            k = links[above, DOF]
            x, y, ux, uy = row[above, ORIGIN], row[above, ORIGIN + 1], row[above, VELOCITY], row[above, VELOCITY + 1]
            Lvv[k * n + j] = Lvv[j * n + k] = along - (x * hx + y * hy)
            Lvq[k * n + j] = turned - (x * Px + y * Py)
            Lvq[j * n + k] = -1.0 * (hx * ux + hy * uy)
            Lqq[k * n + j] = Lqq[j * n + k] = -1.0 * (ux * Px + uy * Py) - weight
            above = links[above, PARENT]
        add_to_parents_moments(row, i, parent)
        if parent >= 0:
            row[parent, SUM] += row[i, SUM]
            row[parent, SUM + 1] += row[i, SUM + 1]
    add_rotor_inertias_planar(Lvv, system)
