"""M⁻¹ times a vector in O(n): the articulated-body recursion on a tree of one-coordinate joints.

With the articulated inertia Iᴬ of every link (what a subtree resists with when its joints are free),

    inward    U = Iᴬ S,  d = Sᵀ U,  Iᴬ_parent += X* (Iᴬ − U Uᵀ/d) X            (factor: once per configuration)
    inward    u = r − Sᵀ b,  b_parent += X* (b + U u/d)                         (solve: once per right-hand side)
    outward   a = X a_parent,  x = (u − Uᵀ a)/d,  a += S x

gives M x = r. Inertias are blocks J, H, C with [N; P] = [J H; Hᵀ C] [ω; v], in the frames of the links.

Source: Featherstone, Rigid Body Dynamics Algorithms (2008), section 7.3.
"""

import math

from mbvi.kernels.layout import (
    DOF,
    INERTIA,
    KIND,
    MASS,
    MOMENT,
    PARENT,
    PITCH,
    PLACE,
    PRISMATIC,
    REVOLUTE,
    ROTATION,
    solver_kernel,
)
from mbvi.kernels.rotation import cross, rotate, rotate_back

# Columns of a row (L, 64): the blocks J, H, C (9 each), U (6), 1/d, rotation link to parent (9), its place in the parent (3),
# bias b (6), acceleration a (6), u.
J, H, C, U, INVERSE, TURN, SHIFT, BIAS, ACCELERATION, FORCE_LEFT = 0, 9, 18, 27, 33, 34, 43, 46, 52, 58
ARTICULATED_WIDTH = 64


@solver_kernel
def factor_articulated(row, links, geometry, q):
    """Articulated inertias of all links at q; False if the mass matrix is not positive definite in rounded numbers.

    row       (L, 64)   out
    """
    for i in range(links.shape[0]):
        fill_rigid_blocks(row, i, geometry)
        fill_turn(row, i, links, geometry, q)
    for i in range(links.shape[0] - 1, -1, -1):
        kind = links[i, KIND]
        turn = 0.0 if kind == PRISMATIC else 1.0
        slide = 0.0 if kind == REVOLUTE else geometry[i, PITCH]
        for a in range(3):
            row[i, U + a] = turn * row[i, J + 3 * a + 2] + slide * row[i, H + 3 * a + 2]
            row[i, U + 3 + a] = turn * row[i, H + 6 + a] + slide * row[i, C + 3 * a + 2]
        d = turn * row[i, U + 2] + slide * row[i, U + 5]
        size = turn * (row[i, J] + row[i, J + 4] + row[i, J + 8])
        size += slide * slide * (row[i, C] + row[i, C + 4] + row[i, C + 8])
        if not d > 1e-15 * size:
            return False
        row[i, INVERSE] = 1.0 / d
        if links[i, PARENT] >= 0:
            add_to_parent(row, i, links[i, PARENT])
    return True


@solver_kernel
def fill_rigid_blocks(row, i, geometry):
    """J = I, H = [h]×, C = m 1 of the link alone."""
    Ixx, Iyy, Izz = geometry[i, INERTIA], geometry[i, INERTIA + 1], geometry[i, INERTIA + 2]
    Ixy, Ixz, Iyz = geometry[i, INERTIA + 3], geometry[i, INERTIA + 4], geometry[i, INERTIA + 5]
    hx, hy, hz = geometry[i, MOMENT], geometry[i, MOMENT + 1], geometry[i, MOMENT + 2]
    row[i, J], row[i, J + 1], row[i, J + 2] = Ixx, Ixy, Ixz
    row[i, J + 3], row[i, J + 4], row[i, J + 5] = Ixy, Iyy, Iyz
    row[i, J + 6], row[i, J + 7], row[i, J + 8] = Ixz, Iyz, Izz
    row[i, H], row[i, H + 1], row[i, H + 2] = 0.0, -hz, hy
    row[i, H + 3], row[i, H + 4], row[i, H + 5] = hz, 0.0, -hx
    row[i, H + 6], row[i, H + 7], row[i, H + 8] = -hy, hx, 0.0
    for a in range(9):
        row[i, C + a] = 0.0
    row[i, C] = row[i, C + 4] = row[i, C + 8] = geometry[i, MASS]


@solver_kernel
def fill_turn(row, i, links, geometry, q):
    """Rotation of a link's frame in its parent's, and its place there."""
    kind, x = links[i, KIND], q[links[i, DOF]]
    c, s = (1.0, 0.0) if kind == PRISMATIC else (math.cos(x), math.sin(x))
    slide = 0.0 if kind == REVOLUTE else geometry[i, PITCH] * x
    for a in range(3):
        f0, f1, f2 = geometry[i, ROTATION + 3 * a], geometry[i, ROTATION + 3 * a + 1], geometry[i, ROTATION + 3 * a + 2]
        row[i, TURN + 3 * a], row[i, TURN + 3 * a + 1], row[i, TURN + 3 * a + 2] = c * f0 + s * f1, c * f1 - s * f0, f2
        row[i, SHIFT + a] = geometry[i, PLACE + a] + slide * f2


@solver_kernel
def add_to_parent(row, i, parent):
    """Add Iᴬ − U Uᵀ/d of a link, turned and shifted by t, to its parent's Iᴬ.

    J + [t]× Hᵀ − H [t]× − [t]× C [t]×,   H + [t]× C,   C.
    """
    inverse = row[i, INVERSE]
    for a in range(3):
        for b in range(3):
            row[i, J + 3 * a + b] -= row[i, U + a] * row[i, U + b] * inverse
            row[i, H + 3 * a + b] -= row[i, U + a] * row[i, U + 3 + b] * inverse
            row[i, C + 3 * a + b] -= row[i, U + 3 + a] * row[i, U + 3 + b] * inverse
    turn_block(row, i, J)
    turn_block(row, i, H)
    turn_block(row, i, C)
    x, y, z = row[i, SHIFT], row[i, SHIFT + 1], row[i, SHIFT + 2]
    for a in range(3):
        # Row a of H [t]× and of C [t]×: the row crossed with t.
        hx, hy, hz = cross(row[i, H + 3 * a], row[i, H + 3 * a + 1], row[i, H + 3 * a + 2], x, y, z)
        row[parent, J + 3 * a] += row[i, J + 3 * a] - hx
        row[parent, J + 3 * a + 1] += row[i, J + 3 * a + 1] - hy
        row[parent, J + 3 * a + 2] += row[i, J + 3 * a + 2] - hz
    for b in range(3):
        # Column b of [t]× (Hᵀ − C [t]×) and of [t]× C: t crossed with the column.
        h0, h1, h2 = row[i, H + 3 * b], row[i, H + 3 * b + 1], row[i, H + 3 * b + 2]
        e0, e1, e2 = cross(1.0 * (b == 0), 1.0 * (b == 1), 1.0 * (b == 2), x, y, z)
        e0, e1, e2 = -e0, -e1, -e2  # column b of [t]×
        k0, k1, k2 = rotate(row, i, C, e0, e1, e2)
        jx, jy, jz = cross(x, y, z, h0 - k0, h1 - k1, h2 - k2)
        row[parent, J + b] += jx
        row[parent, J + 3 + b] += jy
        row[parent, J + 6 + b] += jz
        hx, hy, hz = cross(x, y, z, row[i, C + b], row[i, C + 3 + b], row[i, C + 6 + b])
        row[parent, H + b] += row[i, H + b] + hx
        row[parent, H + 3 + b] += row[i, H + 3 + b] + hy
        row[parent, H + 6 + b] += row[i, H + 6 + b] + hz
    for a in range(9):
        row[parent, C + a] += row[i, C + a]


@solver_kernel
def turn_block(row, i, block):
    """B ← R B Rᵀ of a 3 × 3 block, R the rotation of the row."""
    for b in range(3):
        x, y, z = rotate(row, i, TURN, row[i, block + b], row[i, block + 3 + b], row[i, block + 6 + b])
        row[i, block + b], row[i, block + 3 + b], row[i, block + 6 + b] = x, y, z
    for a in range(3):
        x, y, z = rotate(row, i, TURN, row[i, block + 3 * a], row[i, block + 3 * a + 1], row[i, block + 3 * a + 2])
        row[i, block + 3 * a], row[i, block + 3 * a + 1], row[i, block + 3 * a + 2] = x, y, z


@solver_kernel
def solve_articulated(row, links, geometry, x):
    """Overwrite x (n,) by M⁻¹ x, with the rows of `factor_articulated`."""
    for i in range(links.shape[0]):
        for a in range(6):
            row[i, BIAS + a] = 0.0
    for i in range(links.shape[0] - 1, -1, -1):
        kind, parent = links[i, KIND], links[i, PARENT]
        left = x[links[i, DOF]]
        if kind != PRISMATIC:
            left -= row[i, BIAS + 2]
        if kind != REVOLUTE:
            left -= geometry[i, PITCH] * row[i, BIAS + 5]
        row[i, FORCE_LEFT] = left
        if parent >= 0:
            factor = left * row[i, INVERSE]
            Nx, Ny, Nz = rotate(
                row, i, TURN, row[i, BIAS] + factor * row[i, U], row[i, BIAS + 1] + factor * row[i, U + 1],
                row[i, BIAS + 2] + factor * row[i, U + 2],
            )  # fmt: skip
            Px, Py, Pz = rotate(
                row, i, TURN, row[i, BIAS + 3] + factor * row[i, U + 3], row[i, BIAS + 4] + factor * row[i, U + 4],
                row[i, BIAS + 5] + factor * row[i, U + 5],
            )  # fmt: skip
            sx, sy, sz = cross(row[i, SHIFT], row[i, SHIFT + 1], row[i, SHIFT + 2], Px, Py, Pz)
            row[parent, BIAS] += Nx + sx
            row[parent, BIAS + 1] += Ny + sy
            row[parent, BIAS + 2] += Nz + sz
            row[parent, BIAS + 3] += Px
            row[parent, BIAS + 4] += Py
            row[parent, BIAS + 5] += Pz
    for i in range(links.shape[0]):
        kind, parent = links[i, KIND], links[i, PARENT]
        wx = wy = wz = vx = vy = vz = 0.0
        if parent >= 0:
            wx, wy, wz = row[parent, ACCELERATION], row[parent, ACCELERATION + 1], row[parent, ACCELERATION + 2]
            vx, vy, vz = cross(wx, wy, wz, row[i, SHIFT], row[i, SHIFT + 1], row[i, SHIFT + 2])
            vx += row[parent, ACCELERATION + 3]
            vy += row[parent, ACCELERATION + 4]
            vz += row[parent, ACCELERATION + 5]
            wx, wy, wz = rotate_back(row, i, TURN, wx, wy, wz)
            vx, vy, vz = rotate_back(row, i, TURN, vx, vy, vz)
        taken = row[i, U] * wx + row[i, U + 1] * wy + row[i, U + 2] * wz
        taken += row[i, U + 3] * vx + row[i, U + 4] * vy + row[i, U + 5] * vz
        rate = (row[i, FORCE_LEFT] - taken) * row[i, INVERSE]
        x[links[i, DOF]] = rate
        if kind != PRISMATIC:
            wz += rate
        if kind != REVOLUTE:
            vz += geometry[i, PITCH] * rate
        row[i, ACCELERATION], row[i, ACCELERATION + 1], row[i, ACCELERATION + 2] = wx, wy, wz
        row[i, ACCELERATION + 3], row[i, ACCELERATION + 4], row[i, ACCELERATION + 5] = vx, vy, vz
