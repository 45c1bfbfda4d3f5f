"""Rotations, quaternions, twists and wrenches, on numbers or on lanes.

The nine entries of a rotation stand row by row in neighbouring columns of a row of an array. Twists and wrenches are
six numbers, [angular; linear] and [moment; force].

Units: rows [1]; a, b, a0 … a3, b0 … b3, x, y, z, ax … bz [any unit].

Sources: Featherstone 2008, chapter 2 (twists, wrenches, inertias); Wendlandt & Marsden 1997, the section on the rigid
body (quaternions).
"""

from mbvi.kernels.compiler.decorators import kernel


@kernel
def cross(ax, ay, az, bx, by, bz):
    """The cross product a × b."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@kernel
def rotate(rows, i, column, x, y, z):
    """R x, with R in nine columns of row i.

    rows      (., columns)    R from column `column` of row i on
    """
    return (
        rows[i, column] * x + rows[i, column + 1] * y + rows[i, column + 2] * z,
        rows[i, column + 3] * x + rows[i, column + 4] * y + rows[i, column + 5] * z,
        rows[i, column + 6] * x + rows[i, column + 7] * y + rows[i, column + 8] * z,
    )


@kernel
def rotate_back(rows, i, column, x, y, z):
    """Rᵀ x, with R in nine columns of row i.

    rows      (., columns)    R from column `column` of row i on
    """
    return (
        rows[i, column] * x + rows[i, column + 3] * y + rows[i, column + 6] * z,
        rows[i, column + 1] * x + rows[i, column + 4] * y + rows[i, column + 7] * z,
        rows[i, column + 2] * x + rows[i, column + 5] * y + rows[i, column + 8] * z,
    )


@kernel
def quaternion_matrix(rows, i, column, a0, a1, a2, a3):
    """Write the rotation of a/|a| into nine columns of row i.

    rows      (., columns)    out, from column `column` of row i on, nine entries alone
    a0 … a3   float           a, scalar part first
    """
    scale = 2.0 / (a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3)
    rows[i, column] = 1.0 - scale * (a2 * a2 + a3 * a3)
    rows[i, column + 1] = scale * (a1 * a2 - a0 * a3)
    rows[i, column + 2] = scale * (a1 * a3 + a0 * a2)
    rows[i, column + 3] = scale * (a1 * a2 + a0 * a3)
    rows[i, column + 4] = 1.0 - scale * (a1 * a1 + a3 * a3)
    rows[i, column + 5] = scale * (a2 * a3 - a0 * a1)
    rows[i, column + 6] = scale * (a1 * a3 - a0 * a2)
    rows[i, column + 7] = scale * (a2 * a3 + a0 * a1)
    rows[i, column + 8] = 1.0 - scale * (a1 * a1 + a2 * a2)


@kernel
def conjugate_product_vector(a0, a1, a2, a3, b0, b1, b2, b3):
    """The vector part of ā b: a0 b − b0 a − a × b."""
    return (
        a0 * b1 - a1 * b0 - a2 * b3 + a3 * b2,
        a0 * b2 - a2 * b0 - a3 * b1 + a1 * b3,
        a0 * b3 - a3 * b0 - a1 * b2 + a2 * b1,
    )


@kernel
def product_with_vector(a0, a1, a2, a3, x, y, z):
    """The four numbers of a (0, x).

    They are also the products of x with the vector parts of ā e_α, e_α the unit quaternions.
    """
    return (
        -(a1 * x + a2 * y + a3 * z),
        a0 * x + a2 * z - a3 * y,
        a0 * y + a3 * x - a1 * z,
        a0 * z + a1 * y - a2 * x,
    )


@kernel
def product_conjugate_vector(a0, a1, a2, a3, b0, b1, b2, b3):
    """The vector part of a b̄: b0 a − a0 b − a × b."""
    return (
        a1 * b0 - a0 * b1 - a2 * b3 + a3 * b2,
        a2 * b0 - a0 * b2 - a3 * b1 + a1 * b3,
        a3 * b0 - a0 * b3 - a1 * b2 + a2 * b1,
    )


@kernel
def vector_product(x, y, z, a0, a1, a2, a3):
    """The four numbers of (0, x) a."""
    return (
        -(a1 * x + a2 * y + a3 * z),
        a0 * x + a3 * y - a2 * z,
        a0 * y + a1 * z - a3 * x,
        a0 * z + a2 * x - a1 * y,
    )


@kernel
def dot6(a, i, b, j):
    """The product of the first six columns of row i of a and row j of b.

    a, b      (., columns)    at least six columns
    """
    return (
        a[i, 0] * b[j, 0] + a[i, 1] * b[j, 1] + a[i, 2] * b[j, 2]
        + a[i, 3] * b[j, 3] + a[i, 4] * b[j, 4] + a[i, 5] * b[j, 5]
    )  # fmt: skip


@kernel
def apply_inertia(out, j, inertia, i, twist, k):
    """The momentum [angular; linear] of a twist, out[j] = I_i twist[k].

    out       (., 6)     out, row j alone  [kg m²/s, kg m/s]
    inertia   (., 10)    mass, first moment (3), second moments xx yy zz xy xz yz (6)  [kg, kg m, kg m²]
    twist     (., 6)     [angular; linear]  [rad/s, m/s]
    """
    m, hx, hy, hz = inertia[i, 0], inertia[i, 1], inertia[i, 2], inertia[i, 3]
    wx, wy, wz, ux, uy, uz = twist[k, 0], twist[k, 1], twist[k, 2], twist[k, 3], twist[k, 4], twist[k, 5]
    Ixx, Iyy, Izz, Ixy, Ixz, Iyz = (
        inertia[i, 4], inertia[i, 5], inertia[i, 6], inertia[i, 7], inertia[i, 8], inertia[i, 9],
    )  # fmt: skip
    out[j, 0] = Ixx * wx + Ixy * wy + Ixz * wz + hy * uz - hz * uy
    out[j, 1] = Ixy * wx + Iyy * wy + Iyz * wz + hz * ux - hx * uz
    out[j, 2] = Ixz * wx + Iyz * wy + Izz * wz + hx * uy - hy * ux
    out[j, 3] = m * ux + wy * hz - wz * hy
    out[j, 4] = m * uy + wz * hx - wx * hz
    out[j, 5] = m * uz + wx * hy - wy * hx
