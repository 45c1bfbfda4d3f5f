"""Trees of joints: momentum and force of the Lagrangian in O(n), all second derivatives in O(n · depth).

T = 1/2 Σ V_iᵀ I_i V_i and V = −Σ m_i gᵀ c_i, with the twist V_i of link i, S_j the screw axis of joint j, composite
momentum F_j = Σ_{i ⪰ j} I_i V_i and composite inertia Iᶜ_j = Σ_{i ⪰ j} I_i (i ⪰ j: link i hangs on joint j):

    p_j  = S_jᵀ F_j                      ∂T/∂q_j = F_jᵀ U_j,     U_j = V_j × S_j
    −∂V/∂q_j = S_jᵀ (gravity wrench of the subtree)

and for k an ancestor of j or j itself, with X_j = Iᶜ_j U_j + S_j ×* F_j,

    T_vv[k,j] = S_kᵀ Iᶜ_j S_j     T_vq[k,j] = S_kᵀ X_j     T_vq[j,k] = U_kᵀ Iᶜ_j S_j     T_qq[k,j] = U_kᵀ X_j.

A unit-quaternion ball joint a has the body angular velocity ω = 2 vec(ā ȧ), also off the unit sphere, and the rotation
of a/|a|. Its velocity columns S_α = 2 vec(ā e_α) and its displacement columns D_α = S_α/|a|² differ off the sphere; in
the link's frame U_α = [(ω − 2 vec(ā ȧ)) × D_α + 2 vec(ē_α ȧ); u × D_α].

Twists are [angular; linear]. The O(n) sweep works in link frames, each at its own joint; the second derivatives in
world axes about the origin of the last link of the same tree.

A rotor on a joint adds ½ A v_j² to T, with its armature A: A v_j to p_j and A to T_vv[j,j], and nothing else. No coordinate
of a quaternion has one.

A link's *anchor* is the first joint of its tree, carried along by the sliders or translation that the link's path from
the world begins with. Places stand relative to the anchor: what all that hangs on it shares, as the place of a free
body, is added where it matters, so that no rounding of it spoils the rest.

Arguments of the kernels, with u the unit of a coordinate (rad, m, or 1 of a quaternion's):

links       (L, 7)           System.links  [1]
geometry    (L, 24)          System.geometry  [mixed]
gravity     (3,)             System.gravity  [m/s²]
world       (L, 18)          poses and velocities of the links' frames, by `fill_world`  [1, m, m/s, rad/s]
q, v        (n,)             configuration and velocity  [u, u/s]

In lanes every entry of these is a vector, except those of links, geometry and gravity.

Units of others: angles [rad, 1], see `sines`; row [mixed]; rows [1 or mixed]; p [J s/u]; f [J/u]; M, Lvv [J s²/u²]; Lvq, Lqv
[J s/u²]; Lqq [J/u²]; S, D [rad/u, m/u]; inertia [kg, kg m, kg m²]; momentum [kg m²/s, kg m/s]; m [kg]; Nx, Ny, Nz [kg m²/s];
Px, Py, Pz [kg m/s]; hx, hy, hz [kg m]; wx, wy, wz [rad/s]; ux, uy, uz [m/s]; x, rate [u, u/s]; gx, gy, gz [m/s²]; angle
[rad]; ax … cz [any unit].

Sources: Featherstone, Rigid Body Dynamics Algorithms (2008), chapters 2 (twists and wrenches) and 6 (composite inertias
and the mass matrix). The other derivatives follow from ∂S_j/∂q_k = S_k × S_j for an ancestor k of j.
"""

import numpy as np

from mbvi.kernels.algebra.saddle import second_block
from mbvi.kernels.compiler.decorators import copied_kernel, kernel
from mbvi.kernels.compiler.lanes import lanes, larger, part, widest
from mbvi.kernels.layout import (
    ALIGNED,
    ANCHOR,
    DOF,
    INERTIA,
    KIND,
    LAST_LINK,
    LAST_OF_RUN,
    MASS,
    MOMENT,
    NODE_COORDINATES,
    PARENT,
    PITCH,
    PLACE,
    PRISMATIC,
    QUATERNION,
    REVOLUTE,
    ROTATION,
    SECOND_DIAGONAL,
    SUBTREE_MASS,
    TRANSLATION,
)
from mbvi.kernels.mechanics.rotation import (
    apply_inertia,
    conjugate_product_vector,
    cross,
    dot6,
    product_with_vector,
    quaternion_matrix,
    rotate,
    rotate_back,
)
from mbvi.kernels.mechanics.sines import COSINE, KNOWN, KNOWN_COSINE, KNOWN_SINE, NEAR, SINE, cosine_and_sine, turned

# Columns of a sweep's row: twist, gravity in the link's frame, composite momentum [angular; linear], composite first moment, and
# the nine entries of a quaternion's rotation.
OMEGA, LINEAR, GRAVITY, ANGULAR_MOMENTUM, MOMENTUM, FIRST_MOMENT, QUATERNION_ROTATION = 0, 3, 6, 9, 12, 15, 18
SWEEP_WIDTH = 27


@copied_kernel
def has_angle(links, i):
    """Whether the joint of link i turns by an angle. Arguments: see the head of this file."""
    kind = links[i, KIND]
    return kind != PRISMATIC and kind != QUATERNION and kind != TRANSLATION


@copied_kernel
def fill_cosines(angles, links, q):
    """Cosine and sine of every joint angle, known from now on; on numbers or on lanes.

    Arguments: see the head of this file.

    angles    (L, 6)    out, see the column names of `sines`; rows of joints without an angle are not written
    """
    for link in range(links.shape[0]):
        i = np.uintp(link)
        if has_angle(links, i):
            angle = q[links[i, DOF]]
            c, s = cosine_and_sine(angle)
            angles[i, KNOWN], angles[i, KNOWN_COSINE], angles[i, KNOWN_SINE] = angle, c, s
            angles[i, COSINE], angles[i, SINE] = c, s


@copied_kernel
def turn_cosines(angles, links, q):
    """Cosines and sines of all joint angles, from those known; False if one is too far from that.

    Arguments: see the head of this file. On numbers or on lanes.

    angles    (L, 6)    in and out: known angles are read, the last two columns are written
    """
    far = 0.0 * q[0]
    for link in range(links.shape[0]):
        i = np.uintp(link)
        if has_angle(links, i):
            turn = q[links[i, DOF]] - angles[i, KNOWN]
            far = larger(far, turn)
            angles[i, COSINE], angles[i, SINE] = turned(angles[i, KNOWN_COSINE], angles[i, KNOWN_SINE], turn)
    return widest(far) <= NEAR


@copied_kernel
def nine_of(row, k, column):
    """The nine numbers of row k from a column on.

    row       (R, 27)    see the column names above
    """
    return (
        row[k, column], row[k, column + 1], row[k, column + 2],
        row[k, column + 3], row[k, column + 4], row[k, column + 5],
        row[k, column + 6], row[k, column + 7], row[k, column + 8],
    )  # fmt: skip


@copied_kernel
def put_nine(row, k, column, ax, ay, az, bx, by, bz, cx, cy, cz):
    """Write three vectors into row k from a column on.

    row       (R, 27)    out, nine columns of row k alone
    """
    row[k, column], row[k, column + 1], row[k, column + 2] = ax, ay, az
    row[k, column + 3], row[k, column + 4], row[k, column + 5] = bx, by, bz
    row[k, column + 6], row[k, column + 7], row[k, column + 8] = cx, cy, cz


@copied_kernel
def plus_nine(row, k, column, ax, ay, az, bx, by, bz, cx, cy, cz):
    """Three vectors plus those of row k from a column on.

    row       (R, 27)    see the column names above
    """
    x, y, z, u, v, w, l, m, n = nine_of(row, k, column)
    return ax + x, ay + y, az + z, bx + u, by + v, bz + w, cx + l, cy + m, cz + n


@copied_kernel
def add_nine(row, k, column, ax, ay, az, bx, by, bz, cx, cy, cz):
    """Add three vectors to row k from a column on.

    row       (R, 27)    in and out, nine columns of row k alone
    """
    row[k, column] += ax
    row[k, column + 1] += ay
    row[k, column + 2] += az
    row[k, column + 3] += bx
    row[k, column + 4] += by
    row[k, column + 5] += bz
    row[k, column + 6] += cx
    row[k, column + 7] += cy
    row[k, column + 8] += cz


@copied_kernel
def into_frame(rows, i, column, ax, ay, az, bx, by, bz, cx, cy, cz):
    """Rᵀ a, Rᵀ b, Rᵀ c of three vectors, with R in nine columns of row i.

    rows      (., columns)    R from column `column` of row i on
    """
    ax, ay, az = rotate_back(rows, i, column, ax, ay, az)
    bx, by, bz = rotate_back(rows, i, column, bx, by, bz)
    cx, cy, cz = rotate_back(rows, i, column, cx, cy, cz)
    return ax, ay, az, bx, by, bz, cx, cy, cz


@copied_kernel
def out_of_frame(rows, i, column, ax, ay, az, bx, by, bz, cx, cy, cz):
    """R a, R b, R c of three vectors, with R in nine columns of row i.

    rows      (., columns)    R from column `column` of row i on
    """
    ax, ay, az = rotate(rows, i, column, ax, ay, az)
    bx, by, bz = rotate(rows, i, column, bx, by, bz)
    cx, cy, cz = rotate(rows, i, column, cx, cy, cz)
    return ax, ay, az, bx, by, bz, cx, cy, cz


@copied_kernel
def velocity_at_joint(geometry, i, wx, wy, wz, ux, uy, uz):
    """u + ω × r, the parent's velocity at the place r of the joint of link i. Arguments: see the head of this file."""
    x, y, z = geometry[i, PLACE], geometry[i, PLACE + 1], geometry[i, PLACE + 2]
    return ux + (wy * z - wz * y), uy + (wz * x - wx * z), uz + (wx * y - wy * x)


@copied_kernel
def add_ball_rate(q, v, dof, wx, wy, wz):
    """ω + 2 vec(ā ȧ) in the frame of a ball joint's link. Arguments: see the head of this file."""
    x, y, z = conjugate_product_vector(
        q[dof], q[dof + 1], q[dof + 2], q[dof + 3], v[dof], v[dof + 1], v[dof + 2], v[dof + 3]
    )
    return wx + 2.0 * x, wy + 2.0 * y, wz + 2.0 * z


@copied_kernel
def past_screw(geometry, angles, i, kind, x, rate, wx, wy, wz, ux, uy, uz, gx, gy, gz):
    """Twist ω, u and gravity behind a joint with an axis, of coordinate x and its rate, in the axes of its link.

    The link slides by d = pitch x along the axis, u ← u + ω × d e₃ + ḋ e₃, and turns about it, ω ← Rᵀ ω + ẋ e₃.

    angles    (L, 6)    cosines and sines

    Arguments: see the head of this file.
    """
    if kind != REVOLUTE:
        d = x * geometry[i, PITCH]
        ux += wy * d
        uy -= wx * d
        uz += rate * geometry[i, PITCH]
    if kind != PRISMATIC:
        c, s = angles[i, COSINE], angles[i, SINE]
        wx, wy, wz = c * wx + s * wy, c * wy - s * wx, wz + rate
        ux, uy = c * ux + s * uy, c * uy - s * ux
        gx, gy = c * gx + s * gy, c * gy - s * gx
    return wx, wy, wz, ux, uy, uz, gx, gy, gz


@copied_kernel
def turn_back(angles, i, Nx, Ny, Px, Py, hx, hy):
    """R N, R P and R h of momenta and a first moment before a joint that turns about e₃, of which the third components stay.

    angles    (L, 6)    cosines and sines
    """
    c, s = angles[i, COSINE], angles[i, SINE]
    return c * Nx - s * Ny, s * Nx + c * Ny, c * Px - s * Py, s * Px + c * Py, c * hx - s * hy, s * hx + c * hy


@copied_kernel
def slide_back(geometry, i, x, m, Nx, Ny, Px, Py, hz):
    """N + d e₃ × P and h + m d e₃ before a joint that slides by d = pitch x along e₃; the other components stay.

    Arguments: see the head of this file.
    """
    d = x * geometry[i, PITCH]
    return Nx - d * Py, Ny + d * Px, hz + m * d


@copied_kernel
def moments_at_parent(geometry, i, m, Nx, Ny, Nz, Px, Py, Pz, hx, hy, hz):
    """N + r × P and h + m r about the parent's joint, r the place of the joint of link i.

    Arguments: see the head of this file.
    """
    x, y, z = geometry[i, PLACE], geometry[i, PLACE + 1], geometry[i, PLACE + 2]
    return (
        Nx + y * Pz - z * Py, Ny + z * Px - x * Pz, Nz + x * Py - y * Px,
        hx + m * x, hy + m * y, hz + m * z,
    )  # fmt: skip


@copied_kernel
def put_momentum(row, k, geometry, i, wx, wy, wz, ux, uy, uz):
    """Momentum I_i V_i of link i, and its first moment h, into row k: N = I ω + h × u, P = m u + ω × h.

    row       (R, 27)    out, the columns of momenta and first moment of row k alone

    Arguments: see the head of this file.
    """
    m = geometry[i, MASS]
    Ixx, Iyy, Izz = geometry[i, INERTIA], geometry[i, INERTIA + 1], geometry[i, INERTIA + 2]
    if m == 0.0 and Ixx == 0.0 and Iyy == 0.0 and Izz == 0.0:  # a link between the joints of a sequence
        for a in range(ANGULAR_MOMENTUM, QUATERNION_ROTATION):
            row[k, a] = 0.0
        return
    hx, hy, hz = geometry[i, MOMENT], geometry[i, MOMENT + 1], geometry[i, MOMENT + 2]
    Ixy, Ixz, Iyz = geometry[i, INERTIA + 3], geometry[i, INERTIA + 4], geometry[i, INERTIA + 5]
    row[k, ANGULAR_MOMENTUM] = Ixx * wx + Ixy * wy + Ixz * wz + hy * uz - hz * uy
    row[k, ANGULAR_MOMENTUM + 1] = Ixy * wx + Iyy * wy + Iyz * wz + hz * ux - hx * uz
    row[k, ANGULAR_MOMENTUM + 2] = Ixz * wx + Iyz * wy + Izz * wz + hx * uy - hy * ux
    row[k, MOMENTUM] = m * ux + wy * hz - wz * hy
    row[k, MOMENTUM + 1] = m * uy + wz * hx - wx * hz
    row[k, MOMENTUM + 2] = m * uz + wx * hy - wy * hx
    row[k, FIRST_MOMENT], row[k, FIRST_MOMENT + 1], row[k, FIRST_MOMENT + 2] = hx, hy, hz


@copied_kernel
def fill_gradient_screw(p, f, row, k, geometry, i, kind, dof, m, Nx, Ny, Nz, Px, Py, Pz, hx, hy):
    """p and f of a joint with an axis e₃, from the composite momenta N, P, first moment h and mass m of its link.

    p = N₃ + pitch P₃ and f = (N × ω + P × u + h × g)₃ + pitch (P × ω + m g)₃, without the first where the joint does not turn.

    p, f      (n,)       out, entry dof alone
    row       (R, 27)    of which row k has the twist and gravity of the link

    Arguments: see the head of this file.
    """
    wx, wy = row[k, OMEGA], row[k, OMEGA + 1]
    ux, uy = row[k, LINEAR], row[k, LINEAR + 1]
    gx, gy = row[k, GRAVITY], row[k, GRAVITY + 1]
    turn = shift = turn_force = shift_force = 0.0
    if kind != PRISMATIC:
        turn = Nz
        turn_force = Nx * wy - Ny * wx + Px * uy - Py * ux + hx * gy - hy * gx
    if kind != REVOLUTE:
        shift = geometry[i, PITCH] * Pz
        shift_force = geometry[i, PITCH] * (Px * wy - Py * wx + m * row[k, GRAVITY + 2])
    p[dof] = turn + shift
    f[dof] = turn_force + shift_force


@copied_kernel
def past_joint(row, k, angles, geometry, link, kind, dof, q, v, wx, wy, wz, ux, uy, uz, gx, gy, gz):
    """Twist ω, u and gravity behind the joint of a link, in the axes of the link, from those before it in its own axes.

    row       (R, 27)    out, the rotation by a quaternion in row k alone
    angles    (L, 6)     cosines and sines

    Arguments: see the head of this file.
    """
    if kind == QUATERNION:
        quaternion_matrix(row, k, QUATERNION_ROTATION, q[dof], q[dof + 1], q[dof + 2], q[dof + 3])
        wx, wy, wz, ux, uy, uz, gx, gy, gz = into_frame(row, k, QUATERNION_ROTATION, wx, wy, wz, ux, uy, uz, gx, gy, gz)
        wx, wy, wz = add_ball_rate(q, v, dof, wx, wy, wz)
    elif kind == TRANSLATION:  # relative to the world
        ux, uy, uz = v[dof], v[dof + 1], v[dof + 2]
    else:
        wx, wy, wz, ux, uy, uz, gx, gy, gz = past_screw(
            geometry, angles, np.uintp(link), kind, q[dof], v[dof], wx, wy, wz, ux, uy, uz, gx, gy, gz
        )
    return wx, wy, wz, ux, uy, uz, gx, gy, gz


@copied_kernel
def sweep_out(row, angles, system, q, v, first, last):
    """Twist and gravity of links first … last, a run of whole trees, in their frames, and the momentum of each link alone.

    Arguments are those of `fill_gradient_tree`.

    row       (R, 27)    out
    """
    links, geometry, gravity = system.links, system.geometry, system.gravity
    wx = wy = wz = ux = uy = uz = gx = gy = gz = 0.0 * v[0]
    for link in range(first, last + 1):
        i, k = np.uintp(link), np.uintp(link - first)
        parent = links[i, PARENT]
        if parent < 0:
            wx = wy = wz = ux = uy = uz = 0.0
            gx, gy, gz = gravity[0], gravity[1], gravity[2]
        else:
            if parent != link - 1:
                wx, wy, wz, ux, uy, uz, gx, gy, gz = nine_of(row, np.uintp(parent - first), OMEGA)
            ux, uy, uz = velocity_at_joint(geometry, i, wx, wy, wz, ux, uy, uz)
        if links[i, ALIGNED] == 0:
            wx, wy, wz, ux, uy, uz, gx, gy, gz = into_frame(
                geometry, link, ROTATION, wx, wy, wz, ux, uy, uz, gx, gy, gz
            )
        kind, dof = links[i, KIND], links[i, DOF]
        wx, wy, wz, ux, uy, uz, gx, gy, gz = past_joint(
            row, link - first, angles, geometry, link, kind, dof, q, v, wx, wy, wz, ux, uy, uz, gx, gy, gz
        )
        put_nine(row, k, OMEGA, wx, wy, wz, ux, uy, uz, gx, gy, gz)
        put_momentum(row, k, geometry, i, wx, wy, wz, ux, uy, uz)


@copied_kernel
def fill_gradient_joint(p, f, row, k, gravity, geometry, i, kind, dof, q, v, m, Nx, Ny, Nz, Px, Py, Pz, hx, hy, hz):
    """p and f of the joint of link i, from the composite momenta N, P, first moment h and mass m of the link.

    p, f      (n,)       out, entries of the joint alone
    row       (R, 27)    of which row k has the twist and gravity of the link

    Arguments: see the head of this file.
    """
    if kind == QUATERNION:
        fill_gradient_quaternion(p, f, row, k, q, v, dof, Nx, Ny, Nz, Px, Py, Pz, hx, hy, hz)
    elif kind == TRANSLATION:
        p[dof], p[dof + 1], p[dof + 2] = Px, Py, Pz
        f[dof], f[dof + 1], f[dof + 2] = m * gravity[0], m * gravity[1], m * gravity[2]
    else:
        fill_gradient_screw(p, f, row, np.uintp(k), geometry, i, kind, dof, m, Nx, Ny, Nz, Px, Py, Pz, hx, hy)


@copied_kernel
def before_joint(row, k, angles, geometry, links, link, q, v, m, Nx, Ny, Nz, Px, Py, Pz, hx, hy, hz):
    """Momenta N, P and first moment h of a link's subtree, of mass m, about its parent's joint and in the parent's axes.

    What a body has of P by the velocity ẋ of its place, m ẋ, is not turned out of its frame, into which ẋ was turned: rounded
    rotations are not quite orthogonal, which moved angular momenta in proportion to time.

    row       (R, 27)    of which row k has the rotation by a quaternion, and the velocity
    angles    (L, 6)     cosines and sines

    Arguments: see the head of this file.
    """
    i = np.uintp(link)
    kind, parent = links[i, KIND], links[i, PARENT]
    is_body = kind == QUATERNION and links[parent, KIND] == TRANSLATION
    if is_body:
        Px, Py, Pz = Px - m * row[k, LINEAR], Py - m * row[k, LINEAR + 1], Pz - m * row[k, LINEAR + 2]
    if kind == QUATERNION:
        Nx, Ny, Nz, Px, Py, Pz, hx, hy, hz = out_of_frame(
            row, k, QUATERNION_ROTATION, Nx, Ny, Nz, Px, Py, Pz, hx, hy, hz
        )
    elif kind != TRANSLATION:
        if kind != PRISMATIC:
            Nx, Ny, Px, Py, hx, hy = turn_back(angles, i, Nx, Ny, Px, Py, hx, hy)
        if kind != REVOLUTE:
            Nx, Ny, hz = slide_back(geometry, i, q[links[i, DOF]], m, Nx, Ny, Px, Py, hz)
    if links[i, ALIGNED] == 0:
        Nx, Ny, Nz, Px, Py, Pz, hx, hy, hz = out_of_frame(geometry, link, ROTATION, Nx, Ny, Nz, Px, Py, Pz, hx, hy, hz)
    if is_body:
        dof = links[parent, DOF]
        Px, Py, Pz = Px + m * v[dof], Py + m * v[dof + 1], Pz + m * v[dof + 2]
    Nx, Ny, Nz, hx, hy, hz = moments_at_parent(geometry, i, m, Nx, Ny, Nz, Px, Py, Pz, hx, hy, hz)
    return Nx, Ny, Nz, Px, Py, Pz, hx, hy, hz


@copied_kernel
def sweep_in(p, f, row, angles, system, q, v, first, last):
    """p and f of links first … last, a run of whole trees, from twist, gravity and momentum of each link by `sweep_out`.

    Arguments are those of `fill_gradient_tree`.

    p, f      (n,)       out, entries of these links alone
    row       (R, 27)    in; the momenta of links with several children are overwritten
    """
    links, geometry = system.links, system.geometry
    Nx = Ny = Nz = Px = Py = Pz = hx = hy = hz = 0.0 * v[0]
    for link in range(last, first - 1, -1):
        i, k, at = np.uintp(link), np.uintp(link - first), link - first
        parent, kind, dof = links[i, PARENT], links[i, KIND], links[i, DOF]
        m = geometry[i, SUBTREE_MASS]
        Nx, Ny, Nz, Px, Py, Pz, hx, hy, hz = plus_nine(row, k, ANGULAR_MOMENTUM, Nx, Ny, Nz, Px, Py, Pz, hx, hy, hz)
        fill_gradient_joint(
            p, f, row, at, system.gravity, geometry, i, kind, dof, q, v, m, Nx, Ny, Nz, Px, Py, Pz, hx, hy, hz
        )
        if parent >= 0:
            Nx, Ny, Nz, Px, Py, Pz, hx, hy, hz = before_joint(
                row, at, angles, geometry, links, link, q, v, m, Nx, Ny, Nz, Px, Py, Pz, hx, hy, hz
            )
        if parent < 0 or parent != link - 1:
            if parent >= 0:
                above = np.uintp(parent - first)
                add_nine(row, above, ANGULAR_MOMENTUM, Nx, Ny, Nz, Px, Py, Pz, hx, hy, hz)
            Nx = Ny = Nz = Px = Py = Pz = hx = hy = hz = 0.0 * Nx


@copied_kernel
def fill_gradient_tree(p, f, row, angles, system, q, v):
    """p = ∂L/∂v and f = ∂L/∂q of a tree under gravity: one sweep out, one sweep in; on numbers or on lanes.

    What goes from a link to its neighbour in number stays in variables, whose sums are all that the next link waits
    for.

    p, f      (n,)         out  [J s/u, J/u]
    row       (R, 27)      work, see the column names above, for the R links of the largest run of whole trees, which
                           are swept in turn
    angles    (L, 6)       cosines and sines by `fill_cosines`
    q, v      (n,)         configuration and velocity  [u, u/s]

    Indices of links are made unsigned in the sweeps, since for others numba tests whether they count from an array's end.
    """
    first = 0
    while first < system.links.shape[0]:
        last = system.links[first, LAST_OF_RUN]
        sweep_out(row, angles, system, q, v, first, last)
        sweep_in(p, f, row, angles, system, q, v, first, last)
        first = last + 1
    add_rotor_momenta(p, system, v)


@copied_kernel
def add_rotor_momenta(p, system, v):
    """p += A v, the momenta of rotors of armature A on the joints; on numbers or on lanes.

    p, v      (n,)    p: in and out  [J s/u]; v: read  [u/s]
    """
    for j in range(system.armature.shape[0]):
        p[j] = p[j] + system.armature[j] * v[j]


@copied_kernel
def add_rotor_inertias(M, system):
    """M += diag(A), the inertias of rotors of armature A on the joints; on numbers or on lanes.

    M         (second_size,)    in and out, in blocks of second derivatives
    """
    for j in range(system.armature.shape[0]):
        node, local = system.coordinate_nodes[j, 0], system.coordinate_nodes[j, 1]
        place = system.nodes[node, SECOND_DIAGONAL] + local * (system.nodes[node, NODE_COORDINATES] + 1)
        M[place] = M[place] + system.armature[j]


@copied_kernel
def fill_gradient_quaternion(p, f, row, i, q, v, dof, Nx, Ny, Nz, Px, Py, Pz, hx, hy, hz):
    """p and f of a unit-quaternion ball joint, from the composite momenta and first moment of its link.

    With ŵ = ω − 2 vec(ā ȧ) and τ = h × g the moment of the subtree's weight, p_α = N·S_α and f_α = N·U_α(angular) +
    P·U_α(linear) + D_α·τ are products of quaternions,

        p = 2 a N,     f = (2/|a|²) a (N × ŵ + P × u + τ) − 2 ȧ N.

    p, f      (n,)       out, entries dof … dof + 3 alone
    row       (R, 27)    of which row i has the twist and gravity of the link
    q, v      (n,)       configuration and velocity
    """
    a0, a1, a2, a3 = q[dof], q[dof + 1], q[dof + 2], q[dof + 3]
    b0, b1, b2, b3 = v[dof], v[dof + 1], v[dof + 2], v[dof + 3]
    scale = 2.0 / (a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3)
    rx, ry, rz = conjugate_product_vector(a0, a1, a2, a3, b0, b1, b2, b3)
    wx, wy, wz = row[i, OMEGA] - 2.0 * rx, row[i, OMEGA + 1] - 2.0 * ry, row[i, OMEGA + 2] - 2.0 * rz
    tx, ty, tz = cross(hx, hy, hz, row[i, GRAVITY], row[i, GRAVITY + 1], row[i, GRAVITY + 2])
    rx, ry, rz = cross(Nx, Ny, Nz, wx, wy, wz)
    tx, ty, tz = tx + rx, ty + ry, tz + rz
    rx, ry, rz = cross(Px, Py, Pz, row[i, LINEAR], row[i, LINEAR + 1], row[i, LINEAR + 2])
    tx, ty, tz = tx + rx, ty + ry, tz + rz
    p0, p1, p2, p3 = product_with_vector(a0, a1, a2, a3, Nx, Ny, Nz)
    p[dof], p[dof + 1], p[dof + 2], p[dof + 3] = 2.0 * p0, 2.0 * p1, 2.0 * p2, 2.0 * p3
    f0, f1, f2, f3 = product_with_vector(a0, a1, a2, a3, tx, ty, tz)
    p0, p1, p2, p3 = product_with_vector(b0, b1, b2, b3, Nx, Ny, Nz)
    f[dof], f[dof + 1] = scale * f0 - 2.0 * p0, scale * f1 - 2.0 * p1
    f[dof + 2], f[dof + 3] = scale * f2 - 2.0 * p2, scale * f3 - 2.0 * p3


# Columns of a world row (L, 18): rotation link to world, place of the link's origin from its anchor, its velocity, angular
# velocity.
WORLD_ROTATION, WORLD_PLACE, WORLD_LINEAR, WORLD_OMEGA = 0, 9, 12, 15
WORLD_WIDTH = 18
SCREW_WIDTH, INERTIA_WIDTH = np.int64(6), np.int64(10)  # numba would compile kernels once more for literals


@copied_kernel
def place_on_parent(world, geometry, i, parent):
    """Place, velocity and angular velocity of the frame of joint i on its parent, whose rotation goes into row i.

    x = R_parent r + x_parent,   u = ω × R_parent r + u_parent,   R = R_parent R_joint. Arguments: see the head of this file.

    world     (L, 18)    in and out: the row of the parent is read, the rotation of row i is written
    """
    x, y, z = rotate(world, parent, WORLD_ROTATION, geometry[i, PLACE], geometry[i, PLACE + 1], geometry[i, PLACE + 2])
    wx, wy, wz = world[parent, WORLD_OMEGA], world[parent, WORLD_OMEGA + 1], world[parent, WORLD_OMEGA + 2]
    ux, uy, uz = cross(wx, wy, wz, x, y, z)
    x += world[parent, WORLD_PLACE]
    y += world[parent, WORLD_PLACE + 1]
    z += world[parent, WORLD_PLACE + 2]
    ux += world[parent, WORLD_LINEAR]
    uy += world[parent, WORLD_LINEAR + 1]
    uz += world[parent, WORLD_LINEAR + 2]
    for r in range(3):
        Rx, Ry, Rz = rotate_back(
            geometry, i, ROTATION, world[parent, 3 * r], world[parent, 3 * r + 1], world[parent, 3 * r + 2]
        )
        world[i, 3 * r], world[i, 3 * r + 1], world[i, 3 * r + 2] = Rx, Ry, Rz
    return x, y, z, ux, uy, uz, wx, wy, wz


@copied_kernel
def turn_by_quaternion(world, i, q, dof):
    """R ← R R(a) of link i, with a ball joint's quaternion a. Arguments: see the head of this file.

    world     (L, 18)    in and out, the rotation of row i; its columns of places are work
    """
    a0, a1, a2, a3 = q[dof], q[dof + 1], q[dof + 2], q[dof + 3]
    for r in range(3):
        jx, jy, jz = world[i, 3 * r], world[i, 3 * r + 1], world[i, 3 * r + 2]
        quaternion_matrix(world, i, WORLD_PLACE, a0, a1, a2, a3)  # these columns are not yet written
        jx, jy, jz = rotate_back(world, i, WORLD_PLACE, jx, jy, jz)
        world[i, 3 * r], world[i, 3 * r + 1], world[i, 3 * r + 2] = jx, jy, jz


@copied_kernel
def ball_rate(world, i, q, v, dof):
    """2 R vec(ā ȧ), the angular velocity of a ball joint's link relative to its parent, in world axes.

    Arguments: see the head of this file.
    """
    x, y, z = conjugate_product_vector(
        q[dof], q[dof + 1], q[dof + 2], q[dof + 3], v[dof], v[dof + 1], v[dof + 2], v[dof + 3]
    )
    return rotate(world, i, WORLD_ROTATION, 2.0 * x, 2.0 * y, 2.0 * z)


@copied_kernel
def turn_about_axis(world, i, angle):
    """R ← R R₃(angle) of link i, about the axis of its joint.

    world     (L, 18)    in and out, the rotation of row i
    """
    c, s = cosine_and_sine(angle)
    for r in range(3):
        jx, jy = world[i, 3 * r], world[i, 3 * r + 1]
        world[i, 3 * r], world[i, 3 * r + 1] = c * jx + s * jy, c * jy - s * jx


@kernel
def fill_world(system, work, q, v):
    """Pose and velocity of every link's frame, in world axes, into work.world. Arguments: see the head of this file.

    work.world has for every link: rotation to the world (9), place from the anchor [m] (3), velocity of the frame's
    origin [m/s] (3), angular velocity [rad/s] (3). On numbers or on lanes.
    """
    world, links, geometry = work.world, system.links, system.geometry
    for i in range(links.shape[0]):
        parent = links[i, PARENT]
        kind = links[i, KIND]
        dof = links[i, DOF]
        x = y = z = wx = wy = wz = ux = uy = uz = 0.0
        if parent >= 0:
            x, y, z, ux, uy, uz, wx, wy, wz = place_on_parent(world, geometry, i, parent)
        else:
            for r in range(9):
                world[i, r] = geometry[i, ROTATION + r]
        if kind == QUATERNION:
            turn_by_quaternion(world, i, q, dof)
            rx, ry, rz = ball_rate(world, i, q, v, dof)
            wx, wy, wz = wx + rx, wy + ry, wz + rz
        elif kind == TRANSLATION:
            ux, uy, uz = v[dof], v[dof + 1], v[dof + 2]
        else:
            ax, ay, az = world[i, 2], world[i, 5], world[i, 8]
            if kind != REVOLUTE:
                d, rate = geometry[i, PITCH] * q[dof], geometry[i, PITCH] * v[dof]
                if kind != PRISMATIC or links[i, ANCHOR] != i:
                    x, y, z = x + d * ax, y + d * ay, z + d * az
                sx, sy, sz = cross(wx, wy, wz, ax, ay, az)
                ux, uy, uz = ux + d * sx + rate * ax, uy + d * sy + rate * ay, uz + d * sz + rate * az
            if kind != PRISMATIC:
                turn_about_axis(world, i, q[dof])
                wx, wy, wz = wx + v[dof] * ax, wy + v[dof] * ay, wz + v[dof] * az
        world[i, WORLD_PLACE], world[i, WORLD_PLACE + 1], world[i, WORLD_PLACE + 2] = x, y, z
        world[i, WORLD_LINEAR], world[i, WORLD_LINEAR + 1], world[i, WORLD_LINEAR + 2] = ux, uy, uz
        world[i, WORLD_OMEGA], world[i, WORLD_OMEGA + 1], world[i, WORLD_OMEGA + 2] = wx, wy, wz


@kernel
def slide(links, geometry, world, link, q):
    """How far sliders or a translation carry a link's anchor, in world axes [m]; 0 for link −1, the world.

    Arguments: see the head of this file.
    """
    x = y = z = 0.0
    i = links[link, ANCHOR] if link >= 0 else -1
    if i >= 0 and links[i, KIND] == TRANSLATION:
        dof = links[i, DOF]
        return q[dof], q[dof + 1], q[dof + 2]
    while i >= 0 and links[i, KIND] == PRISMATIC:
        d = geometry[i, PITCH] * q[links[i, DOF]]
        x, y, z = x + d * world[i, 2], y + d * world[i, 5], z + d * world[i, 8]
        i = links[i, PARENT]
    return x, y, z


@kernel
def anchor_place(links, geometry, world, link, q):
    """Place of a link's anchor, in world axes [m]; 0 for link −1, the world. Arguments: see the head of this file."""
    x, y, z = slide(links, geometry, world, link, q)
    i = links[link, ANCHOR] if link >= 0 else -1
    while i >= 0 and links[i, PARENT] >= 0:
        i = links[i, PARENT]
    if i >= 0:
        x, y, z = x + geometry[i, PLACE], y + geometry[i, PLACE + 1], z + geometry[i, PLACE + 2]
    return x, y, z


@kernel
def columns_origin(links, world, link):
    """The origin of the columns of a link's tree, from the link's anchor; 0 for link −1, the world.

    It is the origin of the tree's last link. Arguments: see the head of this file.
    """
    if link < 0:
        return 0.0, 0.0, 0.0
    last = links[link, LAST_LINK]
    return world[last, WORLD_PLACE], world[last, WORLD_PLACE + 1], world[last, WORLD_PLACE + 2]


@kernel
def from_last(links, world, i):
    """Place of a link's origin from that of the last link of its tree. Arguments: see the head of this file."""
    x, y, z = columns_origin(links, world, i)
    return world[i, WORLD_PLACE] - x, world[i, WORLD_PLACE + 1] - y, world[i, WORLD_PLACE + 2] - z


@kernel
def gravity_potential(links, geometry, gravity, world, q):
    """V = −Σ m gᵀ c of the links' poses [J]. Arguments: see the head of this file."""
    V = 0.0
    for i in range(links.shape[0]):
        m = geometry[i, MASS]
        hx, hy, hz = rotate(
            world, i, WORLD_ROTATION, geometry[i, MOMENT], geometry[i, MOMENT + 1], geometry[i, MOMENT + 2]
        )
        x, y, z = anchor_place(links, geometry, world, i, q)
        V -= gravity[0] * (m * (world[i, WORLD_PLACE] + x) + hx)
        V -= gravity[1] * (m * (world[i, WORLD_PLACE + 1] + y) + hy)
        V -= gravity[2] * (m * (world[i, WORLD_PLACE + 2] + z) + hz)
    return V


@copied_kernel
def turned_inertia(world, geometry, i):
    """R I Rᵀ of link i, its second moments xx yy zz xy xz yz in world axes. Arguments: see the head of this file."""
    Ixx, Iyy, Izz = geometry[i, INERTIA], geometry[i, INERTIA + 1], geometry[i, INERTIA + 2]
    Ixy, Ixz, Iyz = geometry[i, INERTIA + 3], geometry[i, INERTIA + 4], geometry[i, INERTIA + 5]
    a0, a1, a2 = rotate(world, i, WORLD_ROTATION, Ixx, Ixy, Ixz)  # rows of R I
    b0, b1, b2 = rotate(world, i, WORLD_ROTATION, Ixy, Iyy, Iyz)
    c0, c1, c2 = rotate(world, i, WORLD_ROTATION, Ixz, Iyz, Izz)
    xx, xy, xz = rotate(world, i, WORLD_ROTATION, a0, b0, c0)
    _, yy, yz = rotate(world, i, WORLD_ROTATION, a1, b1, c1)
    _, _, zz = rotate(world, i, WORLD_ROTATION, a2, b2, c2)
    return xx, yy, zz, xy, xz, yz


@copied_kernel
def fill_inertia(system, work):
    """Inertia of every link, in world axes about the origin of its tree's last link, into work.inertia.

    work.inertia has for every link: mass, first moment (3), second moments xx yy zz xy xz yz (6); it takes the poses in
    work.world.
    """
    inertia, links, geometry, world = work.inertia, system.links, system.geometry, work.world
    for i in range(links.shape[0]):
        m = geometry[i, MASS]
        x, y, z = from_last(links, world, i)
        hx, hy, hz = rotate(
            world, i, WORLD_ROTATION, geometry[i, MOMENT], geometry[i, MOMENT + 1], geometry[i, MOMENT + 2]
        )
        xx, yy, zz, xy, xz, yz = turned_inertia(world, geometry, i)
        # Shifted by x = (x, y, z): J = R I Rᵀ + (2 x·h + m x·x) 1 − h xᵀ − x hᵀ − m x xᵀ.
        trace = 2.0 * (x * hx + y * hy + z * hz) + m * (x * x + y * y + z * z)
        inertia[i, 0] = m
        inertia[i, 1], inertia[i, 2], inertia[i, 3] = hx + m * x, hy + m * y, hz + m * z
        inertia[i, 4] = xx + trace - 2.0 * hx * x - m * x * x
        inertia[i, 5] = yy + trace - 2.0 * hy * y - m * y * y
        inertia[i, 6] = zz + trace - 2.0 * hz * z - m * z * z
        inertia[i, 7] = xy - hx * y - x * hy - m * x * y
        inertia[i, 8] = xz - hx * z - x * hz - m * x * z
        inertia[i, 9] = yz - hy * z - y * hz - m * y * z


@kernel
def accumulate(rows, links, width):
    """Add to every link's row those of its whole subtree: a link's own quantities become composite ones.

    rows      (L, columns)    in and out, the first `width` columns alone
    links     (L, 7)          System.links
    """
    for i in range(links.shape[0] - 1, -1, -1):
        parent = links[i, PARENT]
        if parent >= 0:
            for j in range(width):
                rows[parent, j] += rows[i, j]


@copied_kernel
def fill_momentum(system, work):
    """Momentum I_i V_i of every link, [angular; linear], into work.momentum.

    It is in world axes about the origin of the tree's last link; units are kg m²/s and kg m/s. The kernel takes
    work.world, and in work.inertia the inertias of the links themselves; work.pair is overwritten.
    """
    momentum, inertia, pair, links, world = work.momentum, work.inertia, work.pair, system.links, work.world
    for i in range(links.shape[0]):
        wx, wy, wz = world[i, WORLD_OMEGA], world[i, WORLD_OMEGA + 1], world[i, WORLD_OMEGA + 2]
        x, y, z = from_last(links, world, i)
        rx, ry, rz = cross(wx, wy, wz, x, y, z)
        pair[0, 0], pair[0, 1], pair[0, 2] = wx, wy, wz
        pair[0, 3] = world[i, WORLD_LINEAR] - rx
        pair[0, 4] = world[i, WORLD_LINEAR + 1] - ry
        pair[0, 5] = world[i, WORLD_LINEAR + 2] - rz
        apply_inertia(momentum, i, inertia, i, pair, 0)


@kernel
def link_width(links, i):
    """Number of coordinates of the joint of link i. Arguments: see the head of this file."""
    kind = links[i, KIND]
    return 4 if kind == QUATERNION else 3 if kind == TRANSLATION else 1


@copied_kernel
def fill_ball_screws(S, D, world, i, q, dof, x, y, z):
    """S_α = [2 R vec(ā e_α); x × that] and D_α = S_α/|a|² of a ball joint at x. Arguments: see the head of this file.

    S, D      (n, 6)    out, rows dof … dof + 3 alone
    """
    a0, a1, a2, a3 = q[dof], q[dof + 1], q[dof + 2], q[dof + 3]
    scale = 1.0 / (a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3)
    for alpha in range(4):
        sx, sy, sz = conjugate_product_vector(
            a0, a1, a2, a3, 1.0 * (alpha == 0), 1.0 * (alpha == 1), 1.0 * (alpha == 2), 1.0 * (alpha == 3)
        )
        sx, sy, sz = rotate(world, i, WORLD_ROTATION, 2.0 * sx, 2.0 * sy, 2.0 * sz)
        lx, ly, lz = cross(x, y, z, sx, sy, sz)
        S[dof + alpha, 0], S[dof + alpha, 1], S[dof + alpha, 2] = sx, sy, sz
        S[dof + alpha, 3], S[dof + alpha, 4], S[dof + alpha, 5] = lx, ly, lz
        for j in range(6):
            D[dof + alpha, j] = scale * S[dof + alpha, j]


@copied_kernel
def fill_axis_screw(S, D, world, geometry, i, kind, dof, x, y, z):
    """S = D = [e; x × e + pitch e] of a joint at x with the axis e, [0; pitch e] of a slider.

    Arguments: see the head of this file.

    S, D      (n, 6)    out, row dof alone
    """
    ax, ay, az = world[i, 2], world[i, 5], world[i, 8]
    sx = sy = sz = lx = ly = lz = 0.0
    if kind != PRISMATIC:
        sx, sy, sz = ax, ay, az
        lx, ly, lz = cross(x, y, z, ax, ay, az)
    if kind != REVOLUTE:
        pitch = geometry[i, PITCH]
        lx, ly, lz = lx + pitch * ax, ly + pitch * ay, lz + pitch * az
    S[dof, 0], S[dof, 1], S[dof, 2], S[dof, 3], S[dof, 4], S[dof, 5] = sx, sy, sz, lx, ly, lz
    for j in range(6):
        D[dof, j] = S[dof, j]


@copied_kernel
def fill_screws(system, work, q):
    """Velocity columns S and displacement columns D of every coordinate, into work.S and work.D.

    Columns are [angular; linear], in world axes about the origin of the tree's last link. Poses at q are in work.world.
    Arguments: see the head of this file.
    """
    S, D, links, geometry, world = work.S, work.D, system.links, system.geometry, work.world
    for i in range(links.shape[0]):
        kind = links[i, KIND]
        dof = links[i, DOF]
        x, y, z = from_last(links, world, i)
        if kind == QUATERNION:
            fill_ball_screws(S, D, world, i, q, dof, x, y, z)
        elif kind == TRANSLATION:
            for a in range(3):
                for j in range(6):
                    S[dof + a, j] = D[dof + a, j] = 1.0 * (j == 3 + a)
        else:
            fill_axis_screw(S, D, world, geometry, i, kind, dof, x, y, z)


@copied_kernel
def ball_convection(world, i, q, v, dof, j, dx, dy, dz):
    """2 vec(ē_α ȧ) − 2 vec(ā ȧ) × D_α of a ball joint, in world axes, α = j − dof and d the angular part of D_α.

    Arguments: see the head of this file.
    """
    e0, e1, e2, e3 = 1.0 * (j == dof), 1.0 * (j == dof + 1), 1.0 * (j == dof + 2), 1.0 * (j == dof + 3)
    kx, ky, kz = conjugate_product_vector(e0, e1, e2, e3, v[dof], v[dof + 1], v[dof + 2], v[dof + 3])
    kx, ky, kz = rotate(world, i, WORLD_ROTATION, 2.0 * kx, 2.0 * ky, 2.0 * kz)
    rx, ry, rz = ball_rate(world, i, q, v, dof)
    rx, ry, rz = cross(rx, ry, rz, dx, dy, dz)
    return kx - rx, ky - ry, kz - rz


@copied_kernel
def fill_convective(system, work, q, v):
    """Columns U of every coordinate, into work.U.

    U is the twist by which the subtree's velocity changes, seen from the turned subtree: V × D, and in a quaternion's
    angular part 2 vec(ē_α ȧ) − 2 vec(ā ȧ) × D_α in addition. Poses and velocities are in work.world, D in work.D.
    Arguments: see the head of this file.
    """
    U, D, links, world = work.U, work.D, system.links, work.world
    for i in range(links.shape[0]):
        kind = links[i, KIND]
        dof = links[i, DOF]
        x, y, z = from_last(links, world, i)
        wx, wy, wz = world[i, WORLD_OMEGA], world[i, WORLD_OMEGA + 1], world[i, WORLD_OMEGA + 2]
        rx, ry, rz = cross(wx, wy, wz, x, y, z)
        ux, uy, uz = world[i, WORLD_LINEAR] - rx, world[i, WORLD_LINEAR + 1] - ry, world[i, WORLD_LINEAR + 2] - rz
        for j in range(dof, dof + link_width(links, i)):
            dx, dy, dz, lx, ly, lz = D[j, 0], D[j, 1], D[j, 2], D[j, 3], D[j, 4], D[j, 5]
            U[j, 0], U[j, 1], U[j, 2] = cross(wx, wy, wz, dx, dy, dz)
            rx, ry, rz = cross(wx, wy, wz, lx, ly, lz)
            lx, ly, lz = cross(ux, uy, uz, dx, dy, dz)
            U[j, 3], U[j, 4], U[j, 5] = rx + lx, ry + ly, rz + lz
            if kind == QUATERNION:
                kx, ky, kz = ball_convection(world, i, q, v, dof, j, dx, dy, dz)
                lx, ly, lz = cross(x, y, z, kx, ky, kz)
                U[j, 0], U[j, 1], U[j, 2] = U[j, 0] + kx, U[j, 1] + ky, U[j, 2] + kz
                U[j, 3], U[j, 4], U[j, 5] = U[j, 3] + lx, U[j, 4] + ly, U[j, 5] + lz


@copied_kernel
def blocks_of(system, above_node, node, local):
    """Places of column `local` of block (above_node, node), and of row `local` of block (node, above_node)."""
    up = second_block(system, above_node, node) + local
    return up, second_block(system, node, above_node) + local * system.nodes[above_node, NODE_COORDINATES]


@kernel
def fill_mass_matrix_tree(M, system, work):
    """M[k, j] = S_kᵀ Iᶜ_j S_j for k an ancestor of j or j itself (composite-rigid-body algorithm), and inertias of rotors.

    M         (second_size,)    out, in blocks of second derivatives  [kg m², kg m or kg]

    It takes work.S and the composite inertias in work.inertia; work.pair is overwritten.

    Source: Featherstone 2008, section 6.2.
    """
    S, inertia, pair, links = work.S, work.inertia, work.pair, system.links
    for place in range(system.second_size):
        M[place] = 0.0
    for i in range(links.shape[0]):
        first = links[i, DOF]
        node = system.coordinate_nodes[first, 0]
        width = system.nodes[node, NODE_COORDINATES]
        for j in range(first, first + link_width(links, i)):
            local = system.coordinate_nodes[j, 1]
            apply_inertia(pair, 0, inertia, i, S, j)
            k, above_node, up, down = first + link_width(links, i) - 1, -1, 0, 0
            while k >= 0:
                if system.coordinate_nodes[k, 0] != above_node:
                    above_node = system.coordinate_nodes[k, 0]
                    up, down = blocks_of(system, above_node, node, local)
                above_local = system.coordinate_nodes[k, 1]
                value = dot6(S, k, pair, 0)
                M[up + above_local * width] = value
                M[down + above_local] = value
                k = system.before[k]
    add_rotor_inertias(M, system)


@copied_kernel
def fill_composites(system, work, q, v):
    """The columns S, D and U, and composite inertias and momenta, into work.

    Poses and velocities at q, v are in work.world. Arguments: see the head of this file.
    """
    fill_screws(system, work, q)
    fill_convective(system, work, q, v)
    fill_inertia(system, work)
    fill_momentum(system, work)
    accumulate(work.inertia, system.links, INERTIA_WIDTH)
    accumulate(work.momentum, system.links, SCREW_WIDTH)


@kernel
def fill_pair(system, work, i, j):
    """Iᶜ S_j and X_j of coordinate j of link i into the first rows of work.pair.

    Returns how the moment of the subtree's weight changes with q_j, (d × h + m l) × g.
    """
    gravity, D, inertia, momentum, pair = system.gravity, work.D, work.inertia, work.momentum, work.pair
    Nx, Ny, Nz = momentum[i, 0], momentum[i, 1], momentum[i, 2]
    Px, Py, Pz = momentum[i, 3], momentum[i, 4], momentum[i, 5]
    m, hx, hy, hz = inertia[i, 0], inertia[i, 1], inertia[i, 2], inertia[i, 3]
    dx, dy, dz, lx, ly, lz = D[j, 0], D[j, 1], D[j, 2], D[j, 3], D[j, 4], D[j, 5]
    apply_inertia(pair, 0, inertia, i, work.S, j)
    apply_inertia(pair, 1, inertia, i, work.U, j)
    ax, ay, az = cross(dx, dy, dz, Nx, Ny, Nz)
    bx, by, bz = cross(lx, ly, lz, Px, Py, Pz)
    pair[1, 0] += ax + bx
    pair[1, 1] += ay + by
    pair[1, 2] += az + bz
    ax, ay, az = cross(dx, dy, dz, Px, Py, Pz)
    pair[1, 3] += ax
    pair[1, 4] += ay
    pair[1, 5] += az
    ax, ay, az = cross(dx, dy, dz, hx, hy, hz)
    return cross(ax + m * lx, ay + m * ly, az + m * lz, gravity[0], gravity[1], gravity[2])


@copied_kernel
def fill_hessian_tree(Lvv, Lvq, Lqv, Lqq, system, work, q, v):
    """All second derivatives of the Lagrangian of a tree under gravity, in O(n · depth).

    Poses and velocities at q, v are in work.world. The columns S, D and U, and composite inertias and momenta, are left
    in work.

    Lvv, Lvq, Lqv, Lqq   (second_size,)    out: ∂p/∂v, ∂p/∂q, ∂f/∂v, ∂f/∂q in blocks
    q, v                 (n,)              configuration and velocity

    The four products of two coordinates are made at once, in lanes.

    Source: the formulas at the head of this file.
    """
    links, S, D, U, pair = system.links, work.S, work.D, work.U, work.pair
    columns, factors = work.columns, work.factors  # lanes S, S, U, U, and their factors
    fill_composites(system, work, q, v)
    for j in range(system.n):
        for a in range(6):
            columns[j, a, 0] = columns[j, a, 1] = S[j, a]
            columns[j, a, 2] = columns[j, a, 3] = U[j, a]
    Lvv[:] = 0.0
    Lvq[:] = 0.0
    Lqv[:] = 0.0
    Lqq[:] = 0.0
    column, factor = lanes(columns), lanes(factors)
    for i in range(links.shape[0]):
        first, end = links[i, DOF], links[i, DOF] + link_width(links, i)
        node = system.coordinate_nodes[first, 0]
        width = system.nodes[node, NODE_COORDINATES]
        for j in range(first, end):
            local = system.coordinate_nodes[j, 1]
            wx, wy, wz = fill_pair(system, work, i, j)
            for a in range(6):
                factors[a, 0] = factors[a, 2] = pair[0, a]
                factors[a, 1] = factors[a, 3] = pair[1, a]
            # Variables stay in registers.
            f0, f1, f2, f3, f4, f5 = factor[0], factor[1], factor[2], factor[3], factor[4], factor[5]
            k, above_node, up, down = end - 1, -1, 0, 0
            while k >= 0:
                c = np.uintp(k)  # since for other indices numba tests whether they count from an array's end
                if system.coordinate_nodes[c, 0] != above_node:
                    above_node = system.coordinate_nodes[c, 0]
                    up, down = blocks_of(system, above_node, node, local)
                above_local = system.coordinate_nodes[c, 1]
                kj, jk = np.uintp(up + above_local * width), np.uintp(down + above_local)
                products = column[c, 0] * f0 + column[c, 1] * f1 + column[c, 2] * f2
                products += column[c, 3] * f3 + column[c, 4] * f4 + column[c, 5] * f5
                Lvv[kj] = Lvv[jk] = part(products, 0)
                Lvq[kj] = Lqv[jk] = part(products, 1)
                Lqq[kj] = Lqq[jk] = part(products, 3) + (D[c, 0] * wx + D[c, 1] * wy + D[c, 2] * wz)
                if k < first or k >= end:
                    Lvq[jk] = Lqv[kj] = part(products, 2)
                k = system.before[c]
        if links[i, KIND] == QUATERNION:
            fill_hessian_quaternion(Lvq, Lqv, Lqq, system, work, q, v, i)
    add_rotor_inertias(Lvv, system)


@kernel
def fill_hessians_tree(Lvv, Lvq, Lqv, Lqq, system, work, q, v):
    """What `fill_hessian_tree` does, at as many states as there are lanes.

    Arguments are those of `fill_hessian_tree`, all in lanes.
    """
    links, S, D, U, pair = system.links, work.S, work.D, work.U, work.pair
    fill_composites(system, work, q, v)
    for place in range(system.second_size):
        Lvv[place] = Lvq[place] = Lqv[place] = Lqq[place] = 0.0
    for i in range(links.shape[0]):
        first, end = links[i, DOF], links[i, DOF] + link_width(links, i)
        node = system.coordinate_nodes[first, 0]
        width = system.nodes[node, NODE_COORDINATES]
        for j in range(first, end):
            local = system.coordinate_nodes[j, 1]
            wx, wy, wz = fill_pair(system, work, i, j)
            k, above_node, up, down = end - 1, -1, 0, 0
            while k >= 0:
                if system.coordinate_nodes[k, 0] != above_node:
                    above_node = system.coordinate_nodes[k, 0]
                    up, down = blocks_of(system, above_node, node, local)
                above_local = system.coordinate_nodes[k, 1]
                kj, jk = up + above_local * width, down + above_local
                Lvv[kj] = Lvv[jk] = dot6(S, k, pair, 0)
                Lvq[kj] = Lqv[jk] = dot6(S, k, pair, 1)
                Lqq[kj] = Lqq[jk] = dot6(U, k, pair, 1) + (D[k, 0] * wx + D[k, 1] * wy + D[k, 2] * wz)
                if k < first or k >= end:
                    Lvq[jk] = Lqv[kj] = dot6(U, k, pair, 0)
                k = system.before[k]
        if links[i, KIND] == QUATERNION:
            fill_hessian_quaternion(Lvq, Lqv, Lqq, system, work, q, v, i)
    add_rotor_inertias(Lvv, system)


@copied_kernel
def composites_at_link(links, world, inertia, momentum, i):
    """Composite momenta N, P and first moment h of link i about its own origin. Arguments: see the head of this file.

    inertia   (L, 10)    composite inertias, about the origin of the tree's last link
    momentum  (L, 6)     composite momenta, about that too
    """
    x, y, z = from_last(links, world, i)
    m = inertia[i, 0]
    hx, hy, hz = inertia[i, 1] - m * x, inertia[i, 2] - m * y, inertia[i, 3] - m * z
    Px, Py, Pz = momentum[i, 3], momentum[i, 4], momentum[i, 5]
    sx, sy, sz = cross(x, y, z, Px, Py, Pz)
    return momentum[i, 0] - sx, momentum[i, 1] - sy, momentum[i, 2] - sz, Px, Py, Pz, hx, hy, hz


@copied_kernel
def fill_hessian_quaternion(Lvq, Lqv, Lqq, system, work, q, v, i):
    """The 4 × 4 diagonal blocks of Lvq, Lqv and Lqq of a unit-quaternion ball joint.

    Arguments are those of `fill_hessian_tree`.

    In the frame of the link, where the composite quantities of the subtree do not depend on the joint's own
    coordinates, with ŵ = ω − 2 vec(ā ȧ), S_αβ = ∂S_α/∂a_β = 2 vec(ē_β e_α), D_αβ = ∂D_α/∂a_β = S_αβ/|a|² − 2 a_β
    S_α/|a|⁴:

        Lvq[α,β] = S_α·Iᶜ U_β + N·S_αβ
        Lqq[α,β] = U_α·Iᶜ U_β + N·((ŵ×D_β)×D_α + ŵ×D_αβ) + P·((u×D_β)×D_α + u×D_αβ)
                   + D_αβ·(h×g) + D_α·(h×(g×D_β))

    where x·S_αβ = 2 (e_β x)_α and x·S_α = 2 (a x)_α are products of quaternions, and N×(ŵ×D) = ŵ (N·D) − D (N·ŵ).
    """
    links, gravity, world, S, D, U = system.links, system.gravity, work.world, work.S, work.D, work.U
    inertia, momentum, pair = work.inertia, work.momentum, work.pair
    dof = links[i, DOF]
    node = system.coordinate_nodes[dof, 0]
    at, width = system.nodes[node, SECOND_DIAGONAL], system.nodes[node, NODE_COORDINATES]
    a0, a1, a2, a3 = q[dof], q[dof + 1], q[dof + 2], q[dof + 3]
    Nx, Ny, Nz, Px, Py, Pz, hx, hy, hz = composites_at_link(links, world, inertia, momentum, i)
    ux, uy, uz = world[i, WORLD_LINEAR], world[i, WORLD_LINEAR + 1], world[i, WORLD_LINEAR + 2]
    gx, gy, gz = gravity[0], gravity[1], gravity[2]
    rx, ry, rz = ball_rate(world, i, q, v, dof)
    wx, wy, wz = world[i, WORLD_OMEGA] - rx, world[i, WORLD_OMEGA + 1] - ry, world[i, WORLD_OMEGA + 2] - rz
    # N·(ŵ×D_αβ) + P·(u×D_αβ) + D_αβ·(h×g) = D_αβ·K.
    kx, ky, kz = cross(Nx, Ny, Nz, wx, wy, wz)
    rx, ry, rz = cross(Px, Py, Pz, ux, uy, uz)
    tx, ty, tz = cross(hx, hy, hz, gx, gy, gz)
    scale = 2.0 / (a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3)
    kx, ky, kz = rotate_back(world, i, WORLD_ROTATION, kx + rx + tx, ky + ry + ty, kz + rz + tz)
    kx, ky, kz = scale * kx, scale * ky, scale * kz
    nx, ny, nz = rotate_back(world, i, WORLD_ROTATION, 2.0 * Nx, 2.0 * Ny, 2.0 * Nz)
    along = Nx * wx + Ny * wy + Nz * wz + Px * ux + Py * uy + Pz * uz + hx * gx + hy * gy + hz * gz
    k0, k1, k2, k3 = product_with_vector(a0, a1, a2, a3, scale * kx, scale * ky, scale * kz)
    for beta in range(4):
        e0, e1, e2, e3 = 1.0 * (beta == 0), 1.0 * (beta == 1), 1.0 * (beta == 2), 1.0 * (beta == 3)
        bx, by, bz = D[dof + beta, 0], D[dof + beta, 1], D[dof + beta, 2]
        Nb, Pb, hb = Nx * bx + Ny * by + Nz * bz, Px * bx + Py * by + Pz * bz, hx * bx + hy * by + hz * bz
        yx = wx * Nb + ux * Pb + gx * hb - along * bx
        yy = wy * Nb + uy * Pb + gy * hb - along * by
        yz = wz * Nb + uz * Pb + gz * hb - along * bz
        c0, c1, c2, c3 = product_with_vector(e0, e1, e2, e3, kx, ky, kz)
        factor = q[dof + beta]
        pair[2, 0], pair[2, 1], pair[2, 2], pair[2, 3] = product_with_vector(e0, e1, e2, e3, nx, ny, nz)
        pair[3, 0], pair[3, 1] = c0 - factor * k0, c1 - factor * k1
        pair[3, 2], pair[3, 3] = c2 - factor * k2, c3 - factor * k3
        apply_inertia(pair, 1, inertia, i, U, dof + beta)
        for alpha in range(4):
            j = dof + alpha
            row, column = system.coordinate_nodes[j, 1], system.coordinate_nodes[dof + beta, 1]
            place = at + row * width + column
            Lvq[place] = Lqv[at + column * width + row] = dot6(S, j, pair, 1) + pair[2, alpha]
            Lqq[place] = dot6(U, j, pair, 1) + yx * D[j, 0] + yy * D[j, 1] + yz * D[j, 2] + pair[3, alpha]


@kernel
def displacement_derivative(q, dof, alpha, beta):
    """∂D_α/∂a_β of a unit-quaternion ball joint, in the frame of its link: S_αβ/|a|² − 2 a_β S_α/|a|⁴.

    q         (n,)    configuration, whose entries dof … dof + 3 are the quaternion
    """
    a0, a1, a2, a3 = q[dof], q[dof + 1], q[dof + 2], q[dof + 3]
    scale = 2.0 / (a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3)
    e0, e1, e2, e3 = 1.0 * (alpha == 0), 1.0 * (alpha == 1), 1.0 * (alpha == 2), 1.0 * (alpha == 3)
    sx, sy, sz = conjugate_product_vector(a0, a1, a2, a3, e0, e1, e2, e3)
    cx, cy, cz = conjugate_product_vector(
        1.0 * (beta == 0), 1.0 * (beta == 1), 1.0 * (beta == 2), 1.0 * (beta == 3), e0, e1, e2, e3
    )
    factor = q[dof + beta] * scale
    return scale * (cx - factor * sx), scale * (cy - factor * sy), scale * (cz - factor * sz)
