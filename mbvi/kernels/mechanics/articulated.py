"""M⁻¹ times vectors in O(n): the articulated-body recursion on a tree of joints and of points of their own.

With the articulated inertia Iᴬ of every link (the resistance of a subtree whose joints are free),

    inward    U = Iᴬ S,  d = Sᵀ U,  Iᴬ_parent += X* (Iᴬ − U Uᵀ/d) X            (factor: once per configuration)
    inward    u = r − Sᵀ b,  b_parent += X* b + V u                             (solve: once per right-hand side)
    outward   x = u/d − Vᵀ a_parent,  a = X a_parent + S x

with V = X* U/d gives M x = r. A rotor on a joint adds its armature to d. All is in world axes, of every link about its own
origin, so that X is the shift by the link's place t from its parent. Inertias are blocks J, H, C with [N; P] = [J H; Hᵀ
C] [ω; v]; S = [turn a; slide a] with the joint's axis a.

A ball joint's motions S are all rotations about the link's origin: d is J, and of Iᴬ the parent feels C − Hᵀ J⁻¹ H
alone. Its unit quaternion a has |a|² = 1 for a constraint, with M a = 0: what solves M v + a μ = p, aᵀ v = g is v = a
(g, ½ ω)/|a|², with ω from the torques N = ½ vec(ā p)/|a|², and μ = aᵀp/|a|². Where balls hang on balls, angular
velocities are not relative to the parent, but to the link that the first of them hangs on,

    y = ω + Rᵀ y_parent,    N_parent −= R N,    in the link's axes, R link to parent,

so that the rate of a link that spins about its axis, with what hangs on it at rest, is one number and not a difference:
an iteration may then take ω and N at other configurations than M.

Arguments of the kernels:

row         (L, 46)    the factors, columns are named below  [mixed]
links       (L, 7)     System.links  [1]
geometry    (L, 24)    System.geometry  [mixed]
q, Q        (n,)       configuration  [u], u the unit of a coordinate

Units of numbers: x, y, z, xx … yz [any unit]; n0, n1, n2 [kg m² or kg m]; p0, p1, p2 [kg m or kg]; scale, a0 … a3 [1].

Source: Featherstone, Rigid Body Dynamics Algorithms (2008), section 7.3.
"""

from mbvi.kernels.compiler.decorators import copied_solver_kernel, solver_kernel
from mbvi.kernels.layout import (
    ALIGNED,
    DOF,
    INERTIA,
    KIND,
    MASS,
    MOMENT,
    PARENT,
    PITCH,
    PLACE,
    PRISMATIC,
    QUATERNION,
    REVOLUTE,
    ROTATION,
    TRANSLATION,
)
from mbvi.kernels.mechanics.rotation import (
    conjugate_product_vector,
    cross,
    product_with_vector,
    quaternion_matrix,
    rotate,
    rotate_back,
)
from mbvi.kernels.mechanics.sines import cosine_and_sine

# Columns of a row (L, 46): V (6), 1/d, place from the parent's origin (3), turn a, slide a, rotation link to world (9),
# J (xx yy zz xy xz yz), H (9, row by row), C (as J). A ball joint has J⁻¹ and J⁻¹ H for J and H in the end.
V, INVERSE, SHIFT, ANGULAR, LINEAR, TURN, J, H, C = 0, 6, 7, 10, 13, 16, 25, 31, 40
ARTICULATED_WIDTH = 46
# Columns of a solution's row (L, 10): bias b, or later acceleration a (6); u; for a ball the sum of N of all balls from it on, or
# later the angular velocity of the link that the first of them hangs on.
BIAS, RATES, FORCE_LEFT, CARRIED = 0, 0, 6, 7
SOLUTION_WIDTH = 10


@solver_kernel
def factor_articulated(row, links, geometry, armature, q):
    """Articulated inertias of all links at q; False if the mass matrix is not positive definite in rounded numbers.

    Arguments: see the head of this file.

    row       (L, 46)          out; of translations only 1/d is written
    armature  (n,)             System.armature  [kg m² or kg], or (0,)
    """
    for i in range(links.shape[0]):
        if links[i, KIND] == TRANSLATION:
            continue
        fill_frame(row, i, links, geometry, q)
        fill_rigid_blocks(row, i, geometry)
    for i in range(links.shape[0] - 1, -1, -1):
        if links[i, KIND] == TRANSLATION:  # a point, on which nothing hangs
            if not geometry[i, MASS] > 0.0:
                return False
            row[i, INVERSE] = 1.0 / geometry[i, MASS]
            continue
        if links[i, KIND] == QUATERNION:
            if not eliminate_ball(row, i, links[i, PARENT]):
                return False
            continue
        sx, sy, sz = row[i, ANGULAR], row[i, ANGULAR + 1], row[i, ANGULAR + 2]
        lx, ly, lz = row[i, LINEAR], row[i, LINEAR + 1], row[i, LINEAR + 2]
        Nx, Ny, Nz = multiply_block(row, i, J, sx, sy, sz)
        Px, Py, Pz = multiply_block(row, i, C, lx, ly, lz)
        hx, hy, hz = rotate(row, i, H, lx, ly, lz)
        kx, ky, kz = rotate_back(row, i, H, sx, sy, sz)
        Nx, Ny, Nz, Px, Py, Pz = Nx + hx, Ny + hy, Nz + hz, Px + kx, Py + ky, Pz + kz
        d = sx * Nx + sy * Ny + sz * Nz + lx * Px + ly * Py + lz * Pz
        if armature.shape[0] > 0:
            d += armature[links[i, DOF]]
        size = (sx * sx + sy * sy + sz * sz) * (row[i, J] + row[i, J + 1] + row[i, J + 2])
        size += (lx * lx + ly * ly + lz * lz) * (row[i, C] + row[i, C + 1] + row[i, C + 2])
        if not d > 1e-15 * size:
            return False
        inverse = 1.0 / d
        tx, ty, tz = cross(row[i, SHIFT], row[i, SHIFT + 1], row[i, SHIFT + 2], Px, Py, Pz)
        row[i, V], row[i, V + 1], row[i, V + 2] = inverse * (Nx + tx), inverse * (Ny + ty), inverse * (Nz + tz)
        row[i, V + 3], row[i, V + 4], row[i, V + 5] = inverse * Px, inverse * Py, inverse * Pz
        row[i, INVERSE] = inverse
        if links[i, PARENT] >= 0:
            add_to_parent(row, i, links[i, PARENT], Nx, Ny, Nz, Px, Py, Pz)
    return True


@solver_kernel
def fill_frame(row, i, links, geometry, q):
    """Rotation of a link's frame, its place from its parent's origin and its joint's screw, in world axes.

    Arguments: see the head of this file.

    row       (L, 46)   out, row i; its columns H are work
    """
    parent, kind, x = links[i, PARENT], links[i, KIND], q[links[i, DOF]]
    c, s = (1.0, 0.0) if kind == PRISMATIC else cosine_and_sine(x)
    if kind == QUATERNION:
        dof = links[i, DOF]
        quaternion_matrix(row, i, H, q[dof], q[dof + 1], q[dof + 2], q[dof + 3])  # H is not yet written
    slide = 0.0 if kind == REVOLUTE else geometry[i, PITCH]
    turn = 0.0 if kind == PRISMATIC else 1.0
    for a in range(3):
        f0, f1, f2 = geometry[i, ROTATION + 3 * a], geometry[i, ROTATION + 3 * a + 1], geometry[i, ROTATION + 3 * a + 2]
        if parent >= 0:
            f0, f1, f2 = row[parent, TURN + 3 * a], row[parent, TURN + 3 * a + 1], row[parent, TURN + 3 * a + 2]
            if links[i, ALIGNED] == 0:
                f0, f1, f2 = rotate_back(geometry, i, ROTATION, f0, f1, f2)
        if kind == QUATERNION:
            f0, f1, f2 = rotate_back(row, i, H, f0, f1, f2)
            row[i, TURN + 3 * a], row[i, TURN + 3 * a + 1], row[i, TURN + 3 * a + 2] = f0, f1, f2
            row[i, SHIFT + a] = 0.0
            continue
        row[i, TURN + 3 * a], row[i, TURN + 3 * a + 1], row[i, TURN + 3 * a + 2] = c * f0 + s * f1, c * f1 - s * f0, f2
        row[i, ANGULAR + a], row[i, LINEAR + a] = turn * f2, slide * f2
        row[i, SHIFT + a] = slide * x * f2
    if parent >= 0:
        tx, ty, tz = rotate(row, parent, TURN, geometry[i, PLACE], geometry[i, PLACE + 1], geometry[i, PLACE + 2])
        row[i, SHIFT] += tx
        row[i, SHIFT + 1] += ty
        row[i, SHIFT + 2] += tz


@solver_kernel
def fill_rigid_blocks(row, i, geometry):
    """J = R I Rᵀ, H = [R h]×, C = m 1 of link i alone. Arguments: see the head of this file.

    row       (L, 46)   out, row i, whose rotation is read
    """
    Ixx, Iyy, Izz = geometry[i, INERTIA], geometry[i, INERTIA + 1], geometry[i, INERTIA + 2]
    Ixy, Ixz, Iyz = geometry[i, INERTIA + 3], geometry[i, INERTIA + 4], geometry[i, INERTIA + 5]
    a0, a1, a2 = rotate(row, i, TURN, Ixx, Ixy, Ixz)
    b0, b1, b2 = rotate(row, i, TURN, Ixy, Iyy, Iyz)
    c0, c1, c2 = rotate(row, i, TURN, Ixz, Iyz, Izz)
    row[i, J], row[i, J + 3], row[i, J + 4] = rotate(row, i, TURN, a0, b0, c0)
    _, row[i, J + 1], row[i, J + 5] = rotate(row, i, TURN, a1, b1, c1)
    _, _, row[i, J + 2] = rotate(row, i, TURN, a2, b2, c2)
    hx, hy, hz = rotate(row, i, TURN, geometry[i, MOMENT], geometry[i, MOMENT + 1], geometry[i, MOMENT + 2])
    row[i, H], row[i, H + 1], row[i, H + 2] = 0.0, -hz, hy
    row[i, H + 3], row[i, H + 4], row[i, H + 5] = hz, 0.0, -hx
    row[i, H + 6], row[i, H + 7], row[i, H + 8] = -hy, hx, 0.0
    m = geometry[i, MASS]
    row[i, C], row[i, C + 1], row[i, C + 2] = m, m, m
    row[i, C + 3], row[i, C + 4], row[i, C + 5] = 0.0, 0.0, 0.0


@solver_kernel
def multiply_block(row, i, block, x, y, z):
    """B x of the symmetric 3 × 3 block B that begins at column `block` of row i. Arguments: see the head of this file."""
    B = row[i, block : block + 6]
    return multiply_symmetric(B[0], B[1], B[2], B[3], B[4], B[5], x, y, z)


@solver_kernel
def multiply_symmetric(xx, yy, zz, xy, xz, yz, x, y, z):
    """B x of a symmetric 3 × 3 matrix B."""
    return xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z


@solver_kernel
def invert_symmetric(xx, yy, zz, xy, xz, yz):
    """Whether a symmetric B is positive definite in rounded numbers, and B⁻¹ = L⁻ᵀ D⁻¹ L⁻¹ of B = L D Lᵀ."""
    smallest = 1e-15 * (xx + yy + zz)
    first = 1.0 / xx
    l, m = xy * first, xz * first
    d = yy - l * xy
    second = 1.0 / d
    e = yz - l * xz
    k = e * second
    f = zz - m * xz - k * e
    third = 1.0 / f
    m = l * k - m
    is_positive = xx > smallest and d > smallest and f > smallest
    xx, yy, zz = first + l * l * second + m * m * third, second + k * k * third, third
    return is_positive, xx, yy, zz, -l * second - k * m * third, m * third, -k * third


@solver_kernel
def eliminate_ball(row, i, parent):
    """Replace J and H of a ball joint by J⁻¹ and J⁻¹ H, and add C − Hᵀ J⁻¹ H to its parent's inertia.

    Returns False if J is not positive definite in rounded numbers.

    row       (L, 46)   in and out, rows i and `parent`
    """
    B, H_i = row[i, J : J + 6], row[i, H : H + 9]
    is_positive, xx, yy, zz, xy, xz, yz = invert_symmetric(B[0], B[1], B[2], B[3], B[4], B[5])
    if not is_positive:
        return False
    h0, h1, h2, h3, h4, h5, h6, h7, h8 = (
        H_i[0], H_i[1], H_i[2], H_i[3], H_i[4], H_i[5], H_i[6], H_i[7], H_i[8],
    )  # fmt: skip
    ax, ay, az = multiply_symmetric(xx, yy, zz, xy, xz, yz, h0, h3, h6)
    bx, by, bz = multiply_symmetric(xx, yy, zz, xy, xz, yz, h1, h4, h7)
    cx, cy, cz = multiply_symmetric(xx, yy, zz, xy, xz, yz, h2, h5, h8)
    row[i, C] -= h0 * ax + h3 * ay + h6 * az
    row[i, C + 1] -= h1 * bx + h4 * by + h7 * bz
    row[i, C + 2] -= h2 * cx + h5 * cy + h8 * cz
    row[i, C + 3] -= h0 * bx + h3 * by + h6 * bz
    row[i, C + 4] -= h0 * cx + h3 * cy + h6 * cz
    row[i, C + 5] -= h1 * cx + h4 * cy + h7 * cz
    B[:] = 0.0
    H_i[:] = 0.0
    row[i, INVERSE] = 0.0
    if parent >= 0:
        add_to_parent(row, i, parent, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    B[0], B[1], B[2], B[3], B[4], B[5] = xx, yy, zz, xy, xz, yz
    H_i[0], H_i[1], H_i[2], H_i[3], H_i[4], H_i[5] = ax, bx, cx, ay, by, cy
    H_i[6], H_i[7], H_i[8] = az, bz, cz
    return True


@solver_kernel
def add_to_parent(row, i, parent, n0, n1, n2, p0, p1, p2):
    """Add Iᴬ − U Uᵀ/d of link i, shifted by t, to its parent's Iᴬ; U = [n; p].

    The blocks of the shifted inertia are C,   H' = H + [t]× C,   J + [t]× Hᵀ − H' [t]×.

    row       (L, 46)   in and out: row i is read, J, H and C of row `parent` are added to
    """
    inverse = row[i, INVERSE]
    m0, m1, m2 = inverse * n0, inverse * n1, inverse * n2
    s0, s1, s2 = inverse * p0, inverse * p1, inverse * p2
    x, y, z = row[i, SHIFT], row[i, SHIFT + 1], row[i, SHIFT + 2]
    Cxx, Cyy, Czz = row[i, C] - s0 * p0, row[i, C + 1] - s1 * p1, row[i, C + 2] - s2 * p2
    Cxy, Cxz, Cyz = row[i, C + 3] - s0 * p1, row[i, C + 4] - s0 * p2, row[i, C + 5] - s1 * p2
    # Rows of H and of H', and columns of [t]× C. Row b of H and row a of H', crossed by t, make columns and rows of J's shift.
    h0 = row[i, H] - m0 * p0, row[i, H + 1] - m0 * p1, row[i, H + 2] - m0 * p2
    h1 = row[i, H + 3] - m1 * p0, row[i, H + 4] - m1 * p1, row[i, H + 5] - m1 * p2
    h2 = row[i, H + 6] - m2 * p0, row[i, H + 7] - m2 * p1, row[i, H + 8] - m2 * p2
    c0, c1, c2 = cross(x, y, z, Cxx, Cxy, Cxz), cross(x, y, z, Cxy, Cyy, Cyz), cross(x, y, z, Cxz, Cyz, Czz)
    k0 = h0[0] + c0[0], h0[1] + c1[0], h0[2] + c2[0]
    k1 = h1[0] + c0[1], h1[1] + c1[1], h1[2] + c2[1]
    k2 = h2[0] + c0[2], h2[1] + c1[2], h2[2] + c2[2]
    a0, a1, a2 = (
        cross(x, y, z, h0[0], h0[1], h0[2]),
        cross(x, y, z, h1[0], h1[1], h1[2]),
        cross(x, y, z, h2[0], h2[1], h2[2]),
    )
    b0, b1, b2 = (
        cross(x, y, z, k0[0], k0[1], k0[2]),
        cross(x, y, z, k1[0], k1[1], k1[2]),
        cross(x, y, z, k2[0], k2[1], k2[2]),
    )
    row[parent, J] += row[i, J] - m0 * n0 + a0[0] + b0[0]
    row[parent, J + 1] += row[i, J + 1] - m1 * n1 + a1[1] + b1[1]
    row[parent, J + 2] += row[i, J + 2] - m2 * n2 + a2[2] + b2[2]
    row[parent, J + 3] += row[i, J + 3] - m0 * n1 + a1[0] + b0[1]
    row[parent, J + 4] += row[i, J + 4] - m0 * n2 + a2[0] + b0[2]
    row[parent, J + 5] += row[i, J + 5] - m1 * n2 + a2[1] + b1[2]
    for b in range(3):
        row[parent, H + b] += k0[b]
        row[parent, H + 3 + b] += k1[b]
        row[parent, H + 6 + b] += k2[b]
    row[parent, C] += Cxx
    row[parent, C + 1] += Cyy
    row[parent, C + 2] += Czz
    row[parent, C + 3] += Cxy
    row[parent, C + 4] += Cxz
    row[parent, C + 5] += Cyz


@solver_kernel
def solve_articulated(x, solution, row, links):
    """Overwrite x by M⁻¹ x, with the rows of `factor_articulated`; on numbers, or on four vectors in lanes.

    A quaternion has four numbers in x: one that is left as it is, and the torque N, or angular velocity y, in the
    link's axes.

    x           (n,)       in and out  [in: J/u or J s/u; out: u/s² or u/s] (or longer)
    solution    (L, 10)    work
    row         (L, 46)    factors
    links       (L, 7)     System.links

    What goes from a link to its neighbour in number stays in variables, whose sums are all that the next link waits
    for.
    """
    count = links.shape[0]
    for i in range(count):
        for a in range(6):
            solution[i, BIAS + a] = 0.0 * x[0]
        if links[i, KIND] == QUATERNION:
            for a in range(3):
                solution[i, CARRIED + a] = 0.0 * x[0]
    nx = ny = nz = px = py = pz = 0.0 * x[0]
    for i in range(count - 1, -1, -1):
        parent, dof, kind = links[i, PARENT], links[i, DOF], links[i, KIND]
        if kind == TRANSLATION:
            for a in range(3):
                x[dof + a] = x[dof + a] * row[i, INVERSE]
            continue
        nx, ny, nz = nx + solution[i, BIAS], ny + solution[i, BIAS + 1], nz + solution[i, BIAS + 2]
        px, py, pz = px + solution[i, BIAS + 3], py + solution[i, BIAS + 4], pz + solution[i, BIAS + 5]
        if kind == QUATERNION:
            mx, my, mz = rotate(row, i, TURN, x[dof + 1], x[dof + 2], x[dof + 3])
            ux, uy, uz = mx - nx, my - ny, mz - nz
            solution[i, BIAS], solution[i, BIAS + 1], solution[i, BIAS + 2] = ux, uy, uz
            tx, ty, tz = rotate_back(row, i, H, ux, uy, uz)
            px, py, pz = px + tx, py + ty, pz + tz
            nx, ny, nz = cross(row[i, SHIFT], row[i, SHIFT + 1], row[i, SHIFT + 2], px, py, pz)
            mx, my = mx + solution[i, CARRIED], my + solution[i, CARRIED + 1]
            mz = mz + solution[i, CARRIED + 2]
            if parent >= 0 and links[parent, KIND] == QUATERNION:
                solution[parent, CARRIED] += mx
                solution[parent, CARRIED + 1] += my
                solution[parent, CARRIED + 2] += mz
            else:
                nx, ny, nz = nx + mx, ny + my, nz + mz
        else:
            left = x[dof] - (row[i, ANGULAR] * nx + row[i, ANGULAR + 1] * ny + row[i, ANGULAR + 2] * nz)
            left -= row[i, LINEAR] * px + row[i, LINEAR + 1] * py + row[i, LINEAR + 2] * pz
            solution[i, FORCE_LEFT] = left
            tx, ty, tz = cross(row[i, SHIFT], row[i, SHIFT + 1], row[i, SHIFT + 2], px, py, pz)
            nx, ny, nz = nx + tx + row[i, V] * left, ny + ty + row[i, V + 1] * left, nz + tz + row[i, V + 2] * left
            px, py, pz = px + row[i, V + 3] * left, py + row[i, V + 4] * left, pz + row[i, V + 5] * left
        if parent != i - 1 or parent < 0:
            if parent >= 0:
                solution[parent, BIAS] += nx
                solution[parent, BIAS + 1] += ny
                solution[parent, BIAS + 2] += nz
                solution[parent, BIAS + 3] += px
                solution[parent, BIAS + 4] += py
                solution[parent, BIAS + 5] += pz
            nx = ny = nz = px = py = pz = 0.0 * x[0]
    wx = wy = wz = vx = vy = vz = 0.0 * x[0]
    for i in range(count):
        parent, dof, kind = links[i, PARENT], links[i, DOF], links[i, KIND]
        if kind == TRANSLATION:
            continue
        if parent < 0:
            wx = wy = wz = vx = vy = vz = 0.0 * x[0]
        elif parent != i - 1:
            wx, wy, wz = solution[parent, RATES], solution[parent, RATES + 1], solution[parent, RATES + 2]
            vx, vy, vz = solution[parent, RATES + 3], solution[parent, RATES + 4], solution[parent, RATES + 5]
        if kind == QUATERNION:
            cx, cy, cz = wx, wy, wz
            if parent >= 0 and links[parent, KIND] == QUATERNION:
                cx, cy = solution[parent, CARRIED], solution[parent, CARRIED + 1]
                cz = solution[parent, CARRIED + 2]
            solution[i, CARRIED], solution[i, CARRIED + 1], solution[i, CARRIED + 2] = cx, cy, cz
            tx, ty, tz = cross(wx, wy, wz, row[i, SHIFT], row[i, SHIFT + 1], row[i, SHIFT + 2])
            vx, vy, vz = vx + tx, vy + ty, vz + tz
            ax, ay, az = multiply_block(row, i, J, solution[i, BIAS], solution[i, BIAS + 1], solution[i, BIAS + 2])
            bx, by, bz = rotate(row, i, H, vx, vy, vz)
            wx, wy, wz = ax - bx, ay - by, az - bz
            x[dof + 1], x[dof + 2], x[dof + 3] = rotate_back(row, i, TURN, wx - cx, wy - cy, wz - cz)
        else:
            rate = solution[i, FORCE_LEFT] * row[i, INVERSE]
            rate -= row[i, V] * wx + row[i, V + 1] * wy + row[i, V + 2] * wz
            rate -= row[i, V + 3] * vx + row[i, V + 4] * vy + row[i, V + 5] * vz
            x[dof] = rate
            tx, ty, tz = cross(wx, wy, wz, row[i, SHIFT], row[i, SHIFT + 1], row[i, SHIFT + 2])
            wx, wy = wx + row[i, ANGULAR] * rate, wy + row[i, ANGULAR + 1] * rate
            wz = wz + row[i, ANGULAR + 2] * rate
            vx, vy = vx + tx + row[i, LINEAR] * rate, vy + ty + row[i, LINEAR + 1] * rate
            vz = vz + tz + row[i, LINEAR + 2] * rate
        solution[i, RATES], solution[i, RATES + 1], solution[i, RATES + 2] = wx, wy, wz
        solution[i, RATES + 3], solution[i, RATES + 4], solution[i, RATES + 5] = vx, vy, vz


@copied_solver_kernel
def to_torque(x, Q, at, first, system):
    """Overwrite the covector of a quaternion x[first : first + 4] by (aᵀx, ½ vec(ā x))/|a|².

    These are the multiplier and the torque N. Where quaternions hang on quaternions, the parent's is taken first.

    x         (n,)    in and out, also the torque of the parent where that is a ball  [J/u or J s/u] (or longer)
    Q         (.,)    Q[at : at + 4] is the quaternion a
    """
    a0, a1, a2, a3 = Q[at], Q[at + 1], Q[at + 2], Q[at + 3]
    scale = 1.0 / (a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3)
    x0, x1, x2, x3 = x[first], x[first + 1], x[first + 2], x[first + 3]
    Nx, Ny, Nz = conjugate_product_vector(a0, a1, a2, a3, x0, x1, x2, x3)
    Nx, Ny, Nz = 0.5 * scale * Nx, 0.5 * scale * Ny, 0.5 * scale * Nz
    x[first] = scale * (a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3)
    x[first + 1], x[first + 2], x[first + 3] = Nx, Ny, Nz
    link = system.coordinate_links[first]
    parent = system.links[link, PARENT]
    if parent >= 0 and system.links[parent, KIND] == QUATERNION:
        to = system.links[parent, DOF]
        Nx, Ny, Nz = turn(2.0 * scale, a0, a1, a2, a3, Nx, Ny, Nz)
        if system.links[link, ALIGNED] == 0:
            Nx, Ny, Nz = rotate(system.geometry, link, ROTATION, Nx, Ny, Nz)
        x[to + 1] -= Nx
        x[to + 2] -= Ny
        x[to + 3] -= Nz


@copied_solver_kernel
def to_rate(x, Q, at, first, system):
    """Overwrite (g, y) at x[first : first + 4] by the rate a (g, ½ ω)/|a|² of a quaternion.

    Where quaternions hang on quaternions, the parent's is taken last.

    x         (n,)    in and out, these four numbers alone  [u/s² or u/s] (or longer)
    Q         (.,)    Q[at : at + 4] is the quaternion a
    """
    a0, a1, a2, a3 = Q[at], Q[at + 1], Q[at + 2], Q[at + 3]
    scale = 1.0 / (a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3)
    wx, wy, wz = x[first + 1], x[first + 2], x[first + 3]
    link = system.coordinate_links[first]
    parent = system.links[link, PARENT]
    if parent >= 0 and system.links[parent, KIND] == QUATERNION:
        of = system.links[parent, DOF]
        yx, yy, yz = x[of + 1], x[of + 2], x[of + 3]
        if system.links[link, ALIGNED] == 0:
            yx, yy, yz = rotate_back(system.geometry, link, ROTATION, yx, yy, yz)
        yx, yy, yz = turn(2.0 * scale, a0, -a1, -a2, -a3, yx, yy, yz)
        wx, wy, wz = wx - yx, wy - yy, wz - yz
    along, half = scale * x[first], 0.5 * scale
    y0, y1, y2, y3 = product_with_vector(a0, a1, a2, a3, half * wx, half * wy, half * wz)
    x[first], x[first + 1] = y0 + along * a0, y1 + along * a1
    x[first + 2], x[first + 3] = y2 + along * a2, y3 + along * a3


@copied_solver_kernel
def turn(scale, a0, a1, a2, a3, x, y, z):
    """R x of the quaternion a, with scale = 2/|a|²: x + scale (a0 + a×) (a × x)."""
    cx, cy, cz = cross(a1, a2, a3, x, y, z)
    dx, dy, dz = cross(a1, a2, a3, cx, cy, cz)
    return x + scale * (a0 * cx + dx), y + scale * (a0 * cy + dy), z + scale * (a0 * cz + dz)
