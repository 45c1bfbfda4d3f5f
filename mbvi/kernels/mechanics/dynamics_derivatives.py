"""Exact derivatives of the forces of a motion along the tangent space: τ(q, v, a) = M(q) a + …, of a tree of links.

All in world axes, about one origin of a tree. With the columns S_k of the velocities, V and A the twist and its rate of
every link, −g of the world in A, and λ the link before,

    Ψ_k = V_λ × S_k,    Ψ'_k = A_λ × S_k + V_λ × Ψ_k,    D_k = Ψ_k + V × S_k

are how S_k moves with the link before, and with its own. Of a subtree Iᶜ is the inertia, f the wrench that its motion
needs, P its momentum and

    Q = Σ m ṙ rᵀ,    2B (ω, u) = 2 (tr(Q) ω − Q ω, ω × P)

what its velocities ṙ add to a wrench where a twist (ω, u) is added to them: Σ m [r × (ω × ṙ); ω × ṙ], twice. Then for a
velocity j, and k before it on its path or of the same link,

    ∂τ_j/∂q_k = S_jᵀ (2B Ψ_k + Iᶜ Ψ'_k)      ∂τ_k/∂q_j = S_kᵀ (2B Ψ_j + Iᶜ Ψ'_j + S_j ×* f)   (k of a link before)
    ∂τ_j/∂v_k = S_jᵀ (2B S_k + Iᶜ D_k)       ∂τ_k/∂v_j = S_kᵀ (2B S_j + Iᶜ D_j)
    M_jk = S_jᵀ Iᶜ S_k,  and M_jj += A_j with the armature A of rotors on the joint

with B, Iᶜ and f of what hangs on j. Four of these products are made at once, in lanes.

Units, with u the unit of a coordinate, rad of a ball joint: q [u]; v [u/s]; a [u/s²]; by_q [J/u²]; by_v [J s/u²]; M
[J s²/u²]; x, y, z [m]; w0 … w2 [rad/s]; u0 … u2 [m/s]; h [kg m]; e0 … e2 [kg m²].

Sources: Carpentier & Mansard, Robotics: Science and Systems (2018); Singh, Russo & Wensing, IEEE Robotics and Automation
Letters 7 (2022), of which B is written here by the first and second moments.
"""

import numpy as np

from mbvi.kernels.compiler.decorators import copied_kernel, kernel
from mbvi.kernels.compiler.lanes import lanes, of_four, part
from mbvi.kernels.layout import (
    ALIGNED,
    ANCHOR,
    DOF,
    KIND,
    LAST_LINK,
    MASS,
    MOMENT,
    PARENT,
    PITCH,
    PLACE,
    PRISMATIC,
    QUATERNION,
    REVOLUTE,
    ROTATION,
)
from mbvi.kernels.mechanics.frames import put_six, six_of, twist_product, velocity_column, width_of_link
from mbvi.kernels.mechanics.rotation import apply_inertia, cross, quaternion_matrix, rotate, rotate_back
from mbvi.kernels.mechanics.sines import cosine_and_sine
from mbvi.kernels.mechanics.tree import turned_inertia

# Columns of own.world (L, 24): rotation to the world (9), place from the anchor (3), V (6), A (6).
AT, TWIST, RATE = 9, 12, 18
# Columns of own.composite (L, 28): mass, first moment, second moments (10), Q (9), P (3), f (6).
MOMENTS, MOMENTUM, WRENCH, COMPOSITE = 10, 19, 22, 28
# Columns of own.columns (nv, 24): S, Ψ, Ψ', D.
S, PSI, BEND, D = 0, 6, 12, 18


@kernel
def fill_dynamics_derivatives(by_q, by_v, M, system, own, q, v, a):
    """∂τ/∂q, ∂τ/∂v and M of one state of a tree under gravity, by the formulas at the head of this file.

    by_q, by_v, M    (nv, nv)    out; row τ_i
    q, v, a          (nq,), (nv,), (nv,)
    """
    links, columns, composite = system.links, own.columns, own.composite
    fill_poses_of_links(system, own, q)
    fill_motion_columns(system, own, v, a)
    nv = own.nv
    for i in range(nv):
        for j in range(nv):
            by_q[i, j] = by_v[i, j] = M[i, j] = 0.0
    pairs = lanes(own.pairs)
    for i in range(links.shape[0] - 1, -1, -1):
        first, end, parent = own.first[i], own.first[i] + width_of_link(links, i), links[i, PARENT]
        for j in range(first, end):
            f0, f1, f2, f3, f4, f5, w0, w1, w2 = factors_of(own, i, j)
            z0, z1, z2 = part(f0, 2), part(f1, 2), part(f2, 2)
            z3, z4, z5 = part(f3, 2), part(f4, 2), part(f5, 2)
            k = end - 1
            while k >= 0:
                c = np.uintp(k)  # since for other indices numba tests whether they count from an array's end
                products = pairs[c, 0] * f0 + pairs[c, 1] * f1 + pairs[c, 2] * f2
                products += pairs[c, 3] * f3 + pairs[c, 4] * f4 + pairs[c, 5] * f5
                products += pairs[c, 6] * w0 + pairs[c, 7] * w1 + pairs[c, 8] * w2
                mass = columns[c, 0] * z0 + columns[c, 1] * z1 + columns[c, 2] * z2
                mass += columns[c, 3] * z3 + columns[c, 4] * z4 + columns[c, 5] * z5
                row = np.uintp(j)
                by_q[row, c], by_v[row, c] = part(products, 2), part(products, 3)
                M[row, c] = M[c, row] = mass
                if k < first:
                    by_q[c, row], by_v[c, row] = part(products, 0), part(products, 1)
                k = own.before[c]
            if system.armature.shape[0] > 0 and links[i, KIND] != QUATERNION:
                M[j, j] += system.armature[links[i, DOF] + j - first]
        if parent >= 0:
            above, here = np.uintp(parent), np.uintp(i)
            for c in range(COMPOSITE):
                composite[above, c] += composite[here, c]


@kernel
def fill_poses_of_links(system, own, q):
    """Rotation to the world and place from the anchor of every link, into own.world.

    q         (nq,)
    """
    links, geometry, world = system.links, system.geometry, own.world
    for i in range(links.shape[0]):
        parent, kind, dof = links[i, PARENT], links[i, KIND], links[i, DOF]
        x = y = z = 0.0
        if parent >= 0:
            x, y, z = rotate(world, parent, 0, geometry[i, PLACE], geometry[i, PLACE + 1], geometry[i, PLACE + 2])
            x, y, z = x + world[parent, AT], y + world[parent, AT + 1], z + world[parent, AT + 2]
        if kind == QUATERNION:
            quaternion_matrix(world, i, TWIST, q[dof], q[dof + 1], q[dof + 2], q[dof + 3])  # not yet written
        c, s = (cosine_and_sine(q[dof])) if kind != PRISMATIC and kind < QUATERNION else (1.0, 0.0)
        for r in range(3):
            f0, f1, f2 = geometry[i, 3 * r], geometry[i, 3 * r + 1], geometry[i, 3 * r + 2]
            if parent >= 0:
                f0, f1, f2 = world[parent, 3 * r], world[parent, 3 * r + 1], world[parent, 3 * r + 2]
                if links[i, ALIGNED] == 0:
                    f0, f1, f2 = rotate_back(geometry, i, ROTATION, f0, f1, f2)
            if kind == QUATERNION:
                f0, f1, f2 = rotate_back(world, i, TWIST, f0, f1, f2)
            world[i, 3 * r], world[i, 3 * r + 1], world[i, 3 * r + 2] = c * f0 + s * f1, c * f1 - s * f0, f2
        if kind != REVOLUTE and kind < QUATERNION and (kind != PRISMATIC or links[i, ANCHOR] != i):
            d = geometry[i, PITCH] * q[dof]
            x, y, z = x + d * world[i, 2], y + d * world[i, 5], z + d * world[i, 8]
        world[i, AT], world[i, AT + 1], world[i, AT + 2] = x, y, z


@kernel
def fill_motion_columns(system, own, v, a):
    """Columns and lanes of all velocities, and of every link V, A and what its own mass adds, from the poses in own.world.

    v, a      (nv,), (nv,)
    """
    links, geometry, world, gravity = system.links, system.geometry, own.world, system.gravity
    for i in range(links.shape[0]):
        parent, kind, first, last = links[i, PARENT], links[i, KIND], own.first[i], links[i, LAST_LINK]
        x, y, z = (
            world[i, AT] - world[last, AT],
            world[i, AT + 1] - world[last, AT + 1],
            world[i, AT + 2] - world[last, AT + 2],
        )
        v0 = v1 = v2 = v3 = v4 = v5 = a0 = a1 = a2 = 0.0
        a3, a4, a5 = -gravity[0], -gravity[1], -gravity[2]
        if parent >= 0:
            v0, v1, v2, v3, v4, v5 = six_of(world, parent, TWIST)
            a0, a1, a2, a3, a4, a5 = six_of(world, parent, RATE)
        p0, p1, p2, p3, p4, p5 = v0, v1, v2, v3, v4, v5
        b0, b1, b2, b3, b4, b5 = a0, a1, a2, a3, a4, a5
        for c in range(width_of_link(links, i)):
            k = first + c
            e0, e1, e2, l0, l1, l2 = velocity_column(world, geometry, kind, i, c, x, y, z)
            s0, s1, s2, s3, s4, s5 = twist_product(p0, p1, p2, p3, p4, p5, e0, e1, e2, l0, l1, l2)
            c0, c1, c2, c3, c4, c5 = twist_product(b0, b1, b2, b3, b4, b5, e0, e1, e2, l0, l1, l2)
            d0, d1, d2, d3, d4, d5 = twist_product(p0, p1, p2, p3, p4, p5, s0, s1, s2, s3, s4, s5)
            put_six(own.columns, k, S, e0, e1, e2, l0, l1, l2)
            put_six(own.columns, k, PSI, s0, s1, s2, s3, s4, s5)
            put_six(own.columns, k, BEND, c0 + d0, c1 + d1, c2 + d2, c3 + d3, c4 + d4, c5 + d5)
            r, g = v[k], a[k]
            v0, v1, v2, v3, v4, v5 = v0 + e0 * r, v1 + e1 * r, v2 + e2 * r, v3 + l0 * r, v4 + l1 * r, v5 + l2 * r
            a0, a1, a2 = a0 + e0 * g + s0 * r, a1 + e1 * g + s1 * r, a2 + e2 * g + s2 * r
            a3, a4, a5 = a3 + l0 * g + s3 * r, a4 + l1 * g + s4 * r, a5 + l2 * g + s5 * r
        put_six(world, i, TWIST, v0, v1, v2, v3, v4, v5)
        put_six(world, i, RATE, a0, a1, a2, a3, a4, a5)
        for k in range(first, first + width_of_link(links, i)):
            e0, e1, e2, l0, l1, l2 = six_of(own.columns, k, S)
            s0, s1, s2, s3, s4, s5 = six_of(own.columns, k, PSI)
            d0, d1, d2, d3, d4, d5 = twist_product(v0, v1, v2, v3, v4, v5, e0, e1, e2, l0, l1, l2)
            put_six(own.columns, k, D, d0 + s0, d1 + s1, d2 + s2, d3 + s3, d4 + s4, d5 + s5)
            fill_lanes(own, k)
        fill_own_composite(system, own, i, x, y, z)


@copied_kernel
def fill_lanes(own, k):
    """The columns of velocity k side by side, (S, S, Ψ', D), and the angular parts (0, 0, Ψ, S), into own.pairs."""
    columns, pairs = own.columns, lanes(own.pairs)
    for c in range(6):
        pairs[k, c] = of_four(columns[k, S + c], columns[k, S + c], columns[k, BEND + c], columns[k, D + c])
    for c in range(3):
        pairs[k, 6 + c] = of_four(0.0, 0.0, columns[k, PSI + c], columns[k, S + c])


@copied_kernel
def fill_own_composite(system, own, i, x, y, z):
    """Inertia, Q, P and f of link i alone, about the origin of its tree, from which it is at (x, y, z)."""
    geometry, row, world = system.geometry, own.composite, own.world
    m = geometry[i, MASS]
    hx, hy, hz = rotate(world, i, 0, geometry[i, MOMENT], geometry[i, MOMENT + 1], geometry[i, MOMENT + 2])
    xx, yy, zz, xy, xz, yz = turned_inertia(world, geometry, i)
    trace = 2.0 * (x * hx + y * hy + z * hz) + m * (x * x + y * y + z * z)
    xx, yy = xx + trace - 2.0 * hx * x - m * x * x, yy + trace - 2.0 * hy * y - m * y * y
    zz, xy = zz + trace - 2.0 * hz * z - m * z * z, xy - hx * y - x * hy - m * x * y
    xz, yz = xz - hx * z - x * hz - m * x * z, yz - hy * z - y * hz - m * y * z
    hx, hy, hz = hx + m * x, hy + m * y, hz + m * z
    row[i, 0], row[i, 1], row[i, 2], row[i, 3] = m, hx, hy, hz
    put_six(row, i, 4, xx, yy, zz, xy, xz, yz)
    w0, w1, w2, u0, u1, u2 = six_of(world, i, TWIST)
    half = 0.5 * (xx + yy + zz)  # second moments Σ m r rᵀ are ½ tr(J) 1 − J
    put_moments(row, i, 0, w0, w1, w2, u0, u1, u2, hx, half - xx, -xy, -xz)
    put_moments(row, i, 1, w0, w1, w2, u0, u1, u2, hy, -xy, half - yy, -yz)
    put_moments(row, i, 2, w0, w1, w2, u0, u1, u2, hz, -xz, -yz, half - zz)
    pair = own.pair
    put_six(pair, 0, 0, w0, w1, w2, u0, u1, u2)
    a0, a1, a2, a3, a4, a5 = six_of(world, i, RATE)
    put_six(pair, 1, 0, a0, a1, a2, a3, a4, a5)
    apply_inertia(pair, 2, row, i, pair, 0)
    apply_inertia(pair, 3, row, i, pair, 1)
    f0, f1, f2, f3, f4, f5 = wrench_product(
        w0, w1, w2, u0, u1, u2, pair[2, 0], pair[2, 1], pair[2, 2], pair[2, 3], pair[2, 4], pair[2, 5]
    )
    row[i, MOMENTUM], row[i, MOMENTUM + 1], row[i, MOMENTUM + 2] = pair[2, 3], pair[2, 4], pair[2, 5]
    put_six(
        row,
        i,
        WRENCH,
        f0 + pair[3, 0],
        f1 + pair[3, 1],
        f2 + pair[3, 2],
        f3 + pair[3, 3],
        f4 + pair[3, 4],
        f5 + pair[3, 5],
    )


@copied_kernel
def wrench_product(w0, w1, w2, u0, u1, u2, n0, n1, n2, p0, p1, p2):
    """How a twist (w, u) moves a wrench (n, p): (w × n + u × p, w × p)."""
    x, y, z = cross(w0, w1, w2, n0, n1, n2)
    lx, ly, lz = cross(u0, u1, u2, p0, p1, p2)
    mx, my, mz = cross(w0, w1, w2, p0, p1, p2)
    return x + lx, y + ly, z + lz, mx, my, mz


@copied_kernel
def put_moments(row, i, c, w0, w1, w2, u0, u1, u2, h, e0, e1, e2):
    """Column c of Q, u h + ω × e, e the column of second moments, into row i.

    row       (L, 28)    out, three columns of row i alone  [kg m²/s]
    """
    x, y, z = cross(w0, w1, w2, e0, e1, e2)
    row[i, MOMENTS + c], row[i, MOMENTS + 3 + c], row[i, MOMENTS + 6 + c] = u0 * h + x, u1 * h + y, u2 * h + z


@copied_kernel
def factors_of(own, i, j):
    """What the columns of velocities before are multiplied with, for velocity j of link i: nine lanes.

    Six are (X, Y, Z, Z) with X = 2B Ψ + Iᶜ Ψ' + S ×* f, Y = 2B S + Iᶜ D and Z = Iᶜ S, and three (0, 0, W, W) with
    W the angular part of (2B)ᵀ S. The composites of link i are complete.
    """
    columns, row, pair = own.columns, own.composite, own.pair
    e0, e1, e2, l0, l1, l2 = six_of(columns, j, S)
    s0, s1, s2, s3, s4, s5 = six_of(columns, j, PSI)
    b0, b1, b2, b3, b4, b5 = six_of(columns, j, BEND)
    d0, d1, d2, d3, d4, d5 = six_of(columns, j, D)
    put_six(pair, 0, 0, b0, b1, b2, b3, b4, b5)
    put_six(pair, 1, 0, d0, d1, d2, d3, d4, d5)
    apply_inertia(pair, 2, row, i, columns, j)
    apply_inertia(pair, 3, row, i, pair, 0)
    apply_inertia(pair, 4, row, i, pair, 1)
    px, py, pz = 2.0 * row[i, MOMENTUM], 2.0 * row[i, MOMENTUM + 1], 2.0 * row[i, MOMENTUM + 2]
    trace = 2.0 * (row[i, MOMENTS] + row[i, MOMENTS + 4] + row[i, MOMENTS + 8])
    f0, f1, f2, f3, f4, f5 = six_of(row, i, WRENCH)
    x0, x1, x2, x3, x4, x5 = wrench_product(e0, e1, e2, l0, l1, l2, f0, f1, f2, f3, f4, f5)
    qx, qy, qz = rotate(row, i, MOMENTS, s0, s1, s2)
    cx, cy, cz = cross(s0, s1, s2, px, py, pz)
    x0, x1, x2 = x0 + trace * s0 - 2.0 * qx, x1 + trace * s1 - 2.0 * qy, x2 + trace * s2 - 2.0 * qz
    x3, x4, x5 = x3 + cx, x4 + cy, x5 + cz
    qx, qy, qz = rotate(row, i, MOMENTS, e0, e1, e2)
    cx, cy, cz = cross(e0, e1, e2, px, py, pz)
    y0, y1, y2 = trace * e0 - 2.0 * qx, trace * e1 - 2.0 * qy, trace * e2 - 2.0 * qz
    rx, ry, rz = rotate_back(row, i, MOMENTS, e0, e1, e2)
    gx, gy, gz = cross(px, py, pz, l0, l1, l2)
    w0, w1, w2 = trace * e0 - 2.0 * rx + gx, trace * e1 - 2.0 * ry + gy, trace * e2 - 2.0 * rz + gz
    return (
        of_four(x0 + pair[3, 0], y0 + pair[4, 0], pair[2, 0], pair[2, 0]),
        of_four(x1 + pair[3, 1], y1 + pair[4, 1], pair[2, 1], pair[2, 1]),
        of_four(x2 + pair[3, 2], y2 + pair[4, 2], pair[2, 2], pair[2, 2]),
        of_four(x3 + pair[3, 3], cx + pair[4, 3], pair[2, 3], pair[2, 3]),
        of_four(x4 + pair[3, 4], cy + pair[4, 4], pair[2, 4], pair[2, 4]),
        of_four(x5 + pair[3, 5], cz + pair[4, 5], pair[2, 5], pair[2, 5]),
        of_four(0.0, 0.0, w0, w0),
        of_four(0.0, 0.0, w1, w1),
        of_four(0.0, 0.0, w2, w2),
    )
