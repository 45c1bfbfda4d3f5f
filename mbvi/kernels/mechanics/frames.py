"""Pose, velocity, acceleration and Jacobian of a frame of a link, and their derivatives, along its path to the world.

With J_k the twist [angular; linear] of the frame, along its own axes, for a unit of velocity k alone, of the path from
the world to the frame,

    V = Σ J_k v_k,    J̇_k = J_k × (V − V_k),    A = dV/dt = Σ J_k a_k + J̇_k v_k,

where V_k is the twist of the link that velocity k moves, of its own motion too, as if the frame were fixed to it, and ×
is the product of twists, (ω, u) × (ω', u') = (ω × ω', ω × u' + u × ω'). V_λ and A_λ are those of the link before. A
change of the configuration along the tangent j moves what hangs on that link, and so

    ∂V/∂q_j = V_λ × J_j,    ∂A/∂q_j = A_λ × J_j + (V_λ × J_j) × (V − V_λ),    ∂A/∂v_j = V_λ × J_j + J_j × (V − V_j).

Of references other than the frame's own: *aligned* twists have the frame's origin and the world's axes, R V; *world*
twists have the world's origin too. Their rates follow from Ṙ = R [ω]×, so that the acceleration of an aligned frame is
that of its origin.

Of a row of work.columns the first twelve columns: J_k and J̇_k. Of work.frame (24): rotation R, frame to the link that has
been reached, from its end on to the world (9), place of the frame's origin there (3), V (6) and A (6).

Arguments of the kernels:

link      int            link that the frame is fixed to, −1 for the world
frame     (12,)          rotation of the frame in its link, row by row, and place  [1, m]
q, v, a   (nq,), (nv,), (nv,)    configuration, velocity and acceleration

Units, with u the unit of a coordinate, rad of a ball joint: q [u]; v [u/s]; a [u/s²]; world [1, m, m/s, rad/s]; links [1];
geometry, F, out [mixed]; rows [any unit]; x, y, z [m]; w0 … w2, u0 … u2, a0 … b5, x0 … x5 [mixed].

Sources: Featherstone 2008, chapters 2 and 4; the derivatives follow from those of J_k, which turns with the links
between.
"""

from mbvi.kernels.compiler.decorators import copied_kernel, kernel
from mbvi.kernels.layout import (
    ALIGNED,
    DOF,
    KIND,
    PARENT,
    PITCH,
    PLACE,
    PRISMATIC,
    QUATERNION,
    REVOLUTE,
    ROTATION,
    TRANSLATION,
)
from mbvi.kernels.mechanics.rotation import cross, quaternion_matrix, rotate
from mbvi.kernels.mechanics.sines import cosine_and_sine
from mbvi.kernels.mechanics.tangent import FINE, KINDS, NOT_FINITE, is_finite

# References, and what is asked for.
WORLD, BODY, WORLD_ALIGNED = 0, 1, 2
POSE, VELOCITY, ACCELERATION, JACOBIAN, JACOBIAN_RATE, JACOBIAN_BY_Q, VELOCITY_BY_Q = 0, 1, 2, 3, 4, 5, 6
ACCELERATION_BY_Q, ACCELERATION_BY_V = 7, 8
ORIGIN, TWIST, RATE = 9, 12, 18  # columns of work.frame
OF_RATE = 6  # of a row of work.columns


@kernel
def fill_frame_quantities(out, system, work, link, frame, reference, what, q, v, a):
    """One quantity of a frame in many states.

    out       (states, .)    out: of a pose, place (3) and rotation (9), row by row; of a velocity or an acceleration,
                             linear (3) and angular (3); of a Jacobian, its rate, or a derivative, six rows of nv; of
                             the derivative of a Jacobian, nv rows of that
    link      int            link that the frame is fixed to
    frame     (12,)          the frame in its link  [1, m]
    reference, what    int   see the names above
    q, v, a   (states, nq), (states, nv), (states, nv)

    Returns FINE, or the first state that has a number that is not finite.
    """
    for i in range(q.shape[0]):
        if not is_finite(q[i], v[i], a[i]):
            return NOT_FINITE + KINDS * i
        out[i, :] = 0.0
        has_rates = what != POSE and what != JACOBIAN and what != JACOBIAN_BY_Q
        fill_path(system, work, link, frame, q[i], v[i], has_rates)
        if what == POSE:
            for c in range(3):
                out[i, c] = work.frame[ORIGIN + c]
            for c in range(9):
                out[i, 3 + c] = work.frame[c]
            continue
        if what == JACOBIAN:
            fill_columns(out[i], system, work, link, reference)
        elif what == JACOBIAN_BY_Q:
            fill_columns_by_q(out[i], system, work, link, reference)
        else:
            fill_of_motion(out[i], system, work, link, reference, what, v[i], a[i])
    return FINE


@copied_kernel
def width_of_link(links, i):
    """Number of velocities of the joint of link i.

    links     (L, 7)    System.links
    """
    kind = links[i, KIND]
    return 3 if kind == QUATERNION or kind == TRANSLATION else 1


@copied_kernel
def twist_product(a0, a1, a2, a3, a4, a5, b0, b1, b2, b3, b4, b5):
    """The product of two twists [angular; linear]."""
    x, y, z = cross(a0, a1, a2, b0, b1, b2)
    lx, ly, lz = cross(a0, a1, a2, b3, b4, b5)
    mx, my, mz = cross(a3, a4, a5, b0, b1, b2)
    return x, y, z, lx + mx, ly + my, lz + mz


@copied_kernel
def velocity_column(world, geometry, kind, i, c, x, y, z):
    """Twist [angular; linear] in the world by velocity c of link i, of the point from which the link's origin is at (x, y, z).

    world     (L, 24)    the first nine columns: rotations to the world
    geometry  (L, 24)    System.geometry
    """
    if kind == TRANSLATION:
        return 0.0, 0.0, 0.0, world[i, c], world[i, 3 + c], world[i, 6 + c]
    e0 = e1 = e2 = l0 = l1 = l2 = 0.0
    if kind != PRISMATIC:
        axis = c if kind == QUATERNION else 2
        e0, e1, e2 = world[i, axis], world[i, 3 + axis], world[i, 6 + axis]
        l0, l1, l2 = cross(x, y, z, e0, e1, e2)
    if kind != REVOLUTE and kind != QUATERNION:
        d = geometry[i, PITCH]
        l0, l1, l2 = l0 + d * world[i, 2], l1 + d * world[i, 5], l2 + d * world[i, 8]
    return e0, e1, e2, l0, l1, l2


@copied_kernel
def six_of(rows, i, column):
    """The six numbers of row i from a column on.

    rows      (., columns)
    """
    return (
        rows[i, column], rows[i, column + 1], rows[i, column + 2],
        rows[i, column + 3], rows[i, column + 4], rows[i, column + 5],
    )  # fmt: skip


@copied_kernel
def put_six(rows, i, column, x0, x1, x2, x3, x4, x5):
    """Write six numbers into row i from a column on.

    rows      (., columns)    out, six columns of row i alone
    """
    rows[i, column], rows[i, column + 1], rows[i, column + 2] = x0, x1, x2
    rows[i, column + 3], rows[i, column + 4], rows[i, column + 5] = x3, x4, x5


@copied_kernel
def fill_column(work, k, x, y, z, lx, ly, lz):
    """J_k = Rᵀ of a twist in the axes of the link.

    x, y, z       float    its angular part  [rad/u]
    lx, ly, lz    float    its linear part  [m/u]
    """
    R = work.frame
    w0 = R[0] * x + R[3] * y + R[6] * z
    w1 = R[1] * x + R[4] * y + R[7] * z
    w2 = R[2] * x + R[5] * y + R[8] * z
    u0 = R[0] * lx + R[3] * ly + R[6] * lz
    u1 = R[1] * lx + R[4] * ly + R[7] * lz
    u2 = R[2] * lx + R[5] * ly + R[8] * lz
    put_six(work.columns, k, 0, w0, w1, w2, u0, u1, u2)


@copied_kernel
def fill_rates_of_columns(work, first, end, v, r0, r1, r2, r3, r4, r5):
    """J̇_k = J_k × r of the velocities of a link, with the twist r of the frame relative to it; returned is r + Σ J_k v_k.

    v         (nv,)
    """
    n0, n1, n2, n3, n4, n5 = r0, r1, r2, r3, r4, r5
    for k in range(first, end):
        w0, w1, w2, u0, u1, u2 = six_of(work.columns, k, 0)
        d0, d1, d2, d3, d4, d5 = twist_product(w0, w1, w2, u0, u1, u2, r0, r1, r2, r3, r4, r5)
        put_six(work.columns, k, OF_RATE, d0, d1, d2, d3, d4, d5)
        n0, n1, n2 = n0 + w0 * v[k], n1 + w1 * v[k], n2 + w2 * v[k]
        n3, n4, n5 = n3 + u0 * v[k], n4 + u1 * v[k], n5 + u2 * v[k]
    return n0, n1, n2, n3, n4, n5


@kernel
def fill_path(system, work, link, frame, q, v, has_rates):
    """J_k of the path and, if has_rates, J̇_k into work.columns, and the frame's pose and V into work.frame.

    Arguments: see the head of this file.
    """
    links, geometry, F = system.links, system.geometry, work.frame
    for c in range(12):
        F[c] = frame[c]
    r0 = r1 = r2 = r3 = r4 = r5 = 0.0
    i = link
    while i >= 0:
        kind, dof, k = links[i, KIND], links[i, DOF], work.first[i]
        x, y, z = F[ORIGIN], F[ORIGIN + 1], F[ORIGIN + 2]
        if kind == QUATERNION:
            fill_column(work, k, 1.0, 0.0, 0.0, 0.0, -z, y)
            fill_column(work, k + 1, 0.0, 1.0, 0.0, z, 0.0, -x)
            fill_column(work, k + 2, 0.0, 0.0, 1.0, -y, x, 0.0)
        elif kind == TRANSLATION:
            for c in range(3):
                fill_column(work, k + c, 0.0, 0.0, 0.0, 1.0 * (c == 0), 1.0 * (c == 1), 1.0 * (c == 2))
        else:
            turns = 0.0 if kind == PRISMATIC else 1.0
            slides = 0.0 if kind == REVOLUTE else geometry[i, PITCH]
            fill_column(work, k, 0.0, 0.0, turns, -turns * y, turns * x, slides)
        if has_rates:
            end = k + width_of_link(links, i)
            r0, r1, r2, r3, r4, r5 = fill_rates_of_columns(work, k, end, v, r0, r1, r2, r3, r4, r5)
        move_before_joint(work, geometry, i, kind, q, dof)
        move_to_parent(F, links, geometry, i)
        i = links[i, PARENT]
    F[TWIST], F[TWIST + 1], F[TWIST + 2] = r0, r1, r2
    F[TWIST + 3], F[TWIST + 4], F[TWIST + 5] = r3, r4, r5


@copied_kernel
def move_before_joint(work, geometry, i, kind, q, dof):
    """See the frame from before the joint of link i: rotation and place in work.frame. Arguments: see the head of this file.

    geometry  (L, 24)    System.geometry

    The rotation of a quaternion is made in row i of work.row.
    """
    F = work.frame
    if kind == QUATERNION:
        quaternion_matrix(work.row, i, 0, q[dof], q[dof + 1], q[dof + 2], q[dof + 3])
        for c in range(3):
            F[c], F[3 + c], F[6 + c] = rotate(work.row, i, 0, F[c], F[3 + c], F[6 + c])
        F[ORIGIN], F[ORIGIN + 1], F[ORIGIN + 2] = rotate(work.row, i, 0, F[ORIGIN], F[ORIGIN + 1], F[ORIGIN + 2])
    elif kind == TRANSLATION:
        F[ORIGIN] += q[dof]
        F[ORIGIN + 1] += q[dof + 1]
        F[ORIGIN + 2] += q[dof + 2]
    else:
        if kind != PRISMATIC:
            c, s = cosine_and_sine(q[dof])
            for b in range(3):
                F[b], F[3 + b] = c * F[b] - s * F[3 + b], s * F[b] + c * F[3 + b]
            F[ORIGIN], F[ORIGIN + 1] = c * F[ORIGIN] - s * F[ORIGIN + 1], s * F[ORIGIN] + c * F[ORIGIN + 1]
        if kind != REVOLUTE:
            F[ORIGIN + 2] += geometry[i, PITCH] * q[dof]


@copied_kernel
def move_to_parent(F, links, geometry, i):
    """See the frame from the parent of link i.

    F         (24,)      in and out: work.frame
    links, geometry    (L, 7), (L, 24)
    """
    if links[i, ALIGNED] == 0:
        for c in range(3):
            F[c], F[3 + c], F[6 + c] = rotate(geometry, i, ROTATION, F[c], F[3 + c], F[6 + c])
        F[ORIGIN], F[ORIGIN + 1], F[ORIGIN + 2] = rotate(geometry, i, ROTATION, F[ORIGIN], F[ORIGIN + 1], F[ORIGIN + 2])
    F[ORIGIN] += geometry[i, PLACE]
    F[ORIGIN + 1] += geometry[i, PLACE + 1]
    F[ORIGIN + 2] += geometry[i, PLACE + 2]


@copied_kernel
def in_reference(F, reference, w0, w1, w2, u0, u1, u2):
    """A twist along the frame's axes at its origin, in another reference; linear part first.

    F         (24,)    work.frame
    """
    if reference == BODY:
        return u0, u1, u2, w0, w1, w2
    x, y, z = F[0] * w0 + F[1] * w1 + F[2] * w2, F[3] * w0 + F[4] * w1 + F[5] * w2, F[6] * w0 + F[7] * w1 + F[8] * w2
    lx, ly, lz = F[0] * u0 + F[1] * u1 + F[2] * u2, F[3] * u0 + F[4] * u1 + F[5] * u2, F[6] * u0 + F[7] * u1 + F[8] * u2
    if reference == WORLD:
        mx, my, mz = cross(F[ORIGIN], F[ORIGIN + 1], F[ORIGIN + 2], x, y, z)
        lx, ly, lz = lx + mx, ly + my, lz + mz
    return lx, ly, lz, x, y, z


@copied_kernel
def turned_with(reference, w0, w1, w2, u0, u1, u2, x0, x1, x2, y0, y1, y2):
    """What the axes of a reference add to the change of a twist (x, y) where the frame moves by the twist (w, u)."""
    if reference == BODY:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if reference == WORLD:
        return twist_product(w0, w1, w2, u0, u1, u2, x0, x1, x2, y0, y1, y2)
    return twist_product(w0, w1, w2, 0.0, 0.0, 0.0, x0, x1, x2, y0, y1, y2)


@copied_kernel
def put_column(out, at, stride, F, reference, w0, w1, w2, u0, u1, u2):
    """Write a twist into a column of six rows, in a reference.

    out       (.,)     out: six numbers from `at` on, `stride` apart
    F         (24,)    work.frame
    """
    lx, ly, lz, x, y, z = in_reference(F, reference, w0, w1, w2, u0, u1, u2)
    out[at], out[at + stride], out[at + 2 * stride] = lx, ly, lz
    out[at + 3 * stride], out[at + 4 * stride], out[at + 5 * stride] = x, y, z


@kernel
def fill_columns(out, system, work, link, reference):
    """The Jacobian in a reference, after `fill_path`.

    out       (6 nv,)    out, row by row, zero before
    """
    i = link
    while i >= 0:
        for k in range(work.first[i], work.first[i] + width_of_link(system.links, i)):
            w0, w1, w2, u0, u1, u2 = six_of(work.columns, k, 0)
            put_column(out, k, work.nv, work.frame, reference, w0, w1, w2, u0, u1, u2)
        i = system.links[i, PARENT]


@kernel
def fill_columns_by_q(out, system, work, link, reference):
    """The derivatives of the Jacobian along all tangents: J_k × J_j of the frame's own axes for k before j, and else 0.

    out       (6 nv²,)    out: entry (row, k, j) is that of ∂J[row, k]/∂q_j; zero before
    """
    nv, links = work.nv, system.links
    i = link
    while i >= 0:
        for j in range(work.first[i], work.first[i] + width_of_link(links, i)):
            w0, w1, w2, u0, u1, u2 = six_of(work.columns, j, 0)
            other, is_before = link, 0.0
            while other >= 0:
                if other == links[i, PARENT]:
                    is_before = 1.0
                for k in range(work.first[other], work.first[other] + width_of_link(links, other)):
                    x0, x1, x2, y0, y1, y2 = six_of(work.columns, k, 0)
                    c0, c1, c2, c3, c4, c5 = twist_product(x0, x1, x2, y0, y1, y2, w0, w1, w2, u0, u1, u2)
                    t0, t1, t2, t3, t4, t5 = turned_with(reference, w0, w1, w2, u0, u1, u2, x0, x1, x2, y0, y1, y2)
                    put_column(
                        out, k * nv + j, nv * nv, work.frame, reference,
                        is_before * c0 + t0, is_before * c1 + t1, is_before * c2 + t2,
                        is_before * c3 + t3, is_before * c4 + t4, is_before * c5 + t5,
                    )  # fmt: skip
                other = links[other, PARENT]
        i = links[i, PARENT]


@kernel
def fill_of_motion(out, system, work, link, reference, what, v, a):
    """A velocity, an acceleration, the rate of a Jacobian, or a derivative of these, after `fill_path`.

    Arguments: see the head of this file.

    out       (6,) or (6 nv,)    out, zero before
    """
    F, nv = work.frame, work.nv
    w0, w1, w2, u0, u1, u2 = F[TWIST], F[TWIST + 1], F[TWIST + 2], F[TWIST + 3], F[TWIST + 4], F[TWIST + 5]
    if what == VELOCITY:
        put_column(out, 0, 1, F, reference, w0, w1, w2, u0, u1, u2)
        return
    if what == JACOBIAN_RATE:
        i = link
        while i >= 0:
            for k in range(work.first[i], work.first[i] + width_of_link(system.links, i)):
                x0, x1, x2, y0, y1, y2 = six_of(work.columns, k, 0)
                d0, d1, d2, d3, d4, d5 = six_of(work.columns, k, OF_RATE)
                t0, t1, t2, t3, t4, t5 = turned_with(reference, w0, w1, w2, u0, u1, u2, x0, x1, x2, y0, y1, y2)
                put_column(out, k, nv, F, reference, d0 + t0, d1 + t1, d2 + t2, d3 + t3, d4 + t4, d5 + t5)
            i = system.links[i, PARENT]
        return
    if what != VELOCITY_BY_Q:
        fill_acceleration_twist(system, work, link, v, a)
    if what == ACCELERATION:
        x0, x1, x2, y0, y1, y2 = F[RATE], F[RATE + 1], F[RATE + 2], F[RATE + 3], F[RATE + 4], F[RATE + 5]
        t0, t1, t2, t3, t4, t5 = turned_with(reference, w0, w1, w2, u0, u1, u2, w0, w1, w2, u0, u1, u2)
        put_column(out, 0, 1, F, reference, x0 + t0, x1 + t1, x2 + t2, y0 + t3, y1 + t4, y2 + t5)
        return
    fill_motion_derivative(out, system, work, link, reference, what, v, a)


@kernel
def fill_acceleration_twist(system, work, link, v, a):
    """A = Σ J_k a_k + J̇_k v_k into work.frame, after `fill_path`. Arguments: see the head of this file."""
    x0 = x1 = x2 = x3 = x4 = x5 = 0.0
    i = link
    while i >= 0:
        for k in range(work.first[i], work.first[i] + width_of_link(system.links, i)):
            s0, s1, s2, s3, s4, s5 = six_of(work.columns, k, 0)
            d0, d1, d2, d3, d4, d5 = six_of(work.columns, k, OF_RATE)
            x0, x1, x2 = x0 + s0 * a[k] + d0 * v[k], x1 + s1 * a[k] + d1 * v[k], x2 + s2 * a[k] + d2 * v[k]
            x3, x4, x5 = x3 + s3 * a[k] + d3 * v[k], x4 + s4 * a[k] + d4 * v[k], x5 + s5 * a[k] + d5 * v[k]
        i = system.links[i, PARENT]
    F = work.frame
    F[RATE], F[RATE + 1], F[RATE + 2], F[RATE + 3], F[RATE + 4], F[RATE + 5] = x0, x1, x2, x3, x4, x5


@kernel
def fill_motion_derivative(out, system, work, link, reference, what, v, a):
    """∂V/∂q, ∂A/∂q or ∂A/∂v in a reference, by the formulas at the head of this file.

    Arguments: see the head of this file.

    out       (6 nv,)    out, zero before

    The value y of an aligned frame is (A_ω, A_u + ω × V_u), so that its change is (∂A_ω, ∂A_u + ∂ω × V_u + ω × ∂V_u),
    and of a frame that a change of q turns by J_j, J_j's angular part × y in addition. That of the world is A, moved by
    the whole of J_j.
    """
    F, links = work.frame, system.links
    w0, w1, w2, u0, u1, u2 = F[TWIST], F[TWIST + 1], F[TWIST + 2], F[TWIST + 3], F[TWIST + 4], F[TWIST + 5]
    a0, a1, a2, a3, a4, a5 = F[RATE], F[RATE + 1], F[RATE + 2], F[RATE + 3], F[RATE + 4], F[RATE + 5]
    y0, y1, y2, y3, y4, y5 = w0, w1, w2, u0, u1, u2
    if what != VELOCITY_BY_Q:
        t0, t1, t2, t3, t4, t5 = turned_with(reference, w0, w1, w2, u0, u1, u2, w0, w1, w2, u0, u1, u2)
        y0, y1, y2, y3, y4, y5 = a0 + t0, a1 + t1, a2 + t2, a3 + t3, a4 + t4, a5 + t5
    b0, b1, b2, b3, b4, b5 = w0, w1, w2, u0, u1, u2  # V_λ of the link that is reached, at first V
    i = link
    while i >= 0:
        first, end = work.first[i], work.first[i] + width_of_link(links, i)
        o0, o1, o2, o3, o4, o5 = b0, b1, b2, b3, b4, b5  # V of the link itself
        for k in range(first, end):
            s0, s1, s2, s3, s4, s5 = six_of(work.columns, k, 0)
            b0, b1, b2 = b0 - s0 * v[k], b1 - s1 * v[k], b2 - s2 * v[k]
            b3, b4, b5 = b3 - s3 * v[k], b4 - s4 * v[k], b5 - s5 * v[k]
        for k in range(first, end):
            s0, s1, s2, s3, s4, s5 = six_of(work.columns, k, 0)
            c0, c1, c2, c3, c4, c5 = twist_product(b0, b1, b2, b3, b4, b5, s0, s1, s2, s3, s4, s5)
            a0, a1, a2 = a0 - s0 * a[k] - c0 * v[k], a1 - s1 * a[k] - c1 * v[k], a2 - s2 * a[k] - c2 * v[k]
            a3, a4, a5 = a3 - s3 * a[k] - c3 * v[k], a4 - s4 * a[k] - c4 * v[k], a5 - s5 * a[k] - c5 * v[k]
        for j in range(first, end):
            s0, s1, s2, s3, s4, s5 = six_of(work.columns, j, 0)
            c0, c1, c2, c3, c4, c5 = twist_product(b0, b1, b2, b3, b4, b5, s0, s1, s2, s3, s4, s5)  # ∂V/∂q_j
            d0, d1, d2, d3, d4, d5 = c0, c1, c2, c3, c4, c5
            n0, n1, n2, n3, n4, n5 = c0, c1, c2, c3, c4, c5  # how V changes
            if what == ACCELERATION_BY_Q:
                d0, d1, d2, d3, d4, d5 = twist_product(a0, a1, a2, a3, a4, a5, s0, s1, s2, s3, s4, s5)
                x0, x1, x2, x3, x4, x5 = twist_product(
                    c0, c1, c2, c3, c4, c5, w0 - b0, w1 - b1, w2 - b2, u0 - b3, u1 - b4, u2 - b5
                )
                d0, d1, d2, d3, d4, d5 = d0 + x0, d1 + x1, d2 + x2, d3 + x3, d4 + x4, d5 + x5
            elif what == ACCELERATION_BY_V:
                n0, n1, n2, n3, n4, n5 = s0, s1, s2, s3, s4, s5
                x0, x1, x2, x3, x4, x5 = twist_product(
                    s0, s1, s2, s3, s4, s5, w0 - o0, w1 - o1, w2 - o2, u0 - o3, u1 - o4, u2 - o5
                )
                d0, d1, d2, d3, d4, d5 = d0 + x0, d1 + x1, d2 + x2, d3 + x3, d4 + x4, d5 + x5
            if what != VELOCITY_BY_Q and reference == WORLD_ALIGNED:
                lx, ly, lz = cross(n0, n1, n2, u0, u1, u2)
                mx, my, mz = cross(w0, w1, w2, n3, n4, n5)
                d3, d4, d5 = d3 + lx + mx, d4 + ly + my, d5 + lz + mz
            if what != ACCELERATION_BY_V:
                t0, t1, t2, t3, t4, t5 = turned_with(reference, s0, s1, s2, s3, s4, s5, y0, y1, y2, y3, y4, y5)
                d0, d1, d2, d3, d4, d5 = d0 + t0, d1 + t1, d2 + t2, d3 + t3, d4 + t4, d5 + t5
            put_column(out, j, work.nv, F, reference, d0, d1, d2, d3, d4, d5)
        i = links[i, PARENT]
