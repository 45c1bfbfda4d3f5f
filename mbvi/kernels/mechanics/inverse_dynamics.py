"""The forces of a motion: the recursive algorithm of Newton and Euler on a tree of links, with velocities in the tangent space.

Outward, for the frame of every link in its own axes, with α = dω/dt and the acceleration b = ẍ − g of its origin:

    b = b_λ + α × r + ω × (ω × r)  at the joint's place r,  turned into the frame before the joint, then

    slide d e₃        b += α × d e₃ + ω × (ω × d e₃) + 2 ω × ḋ e₃ + d̈ e₃
    turn about e₃     α += ω × q̇ e₃ + q̈ e₃,   ω += q̇ e₃      (ball joint: ω' and its rate for q̇ e₃ and q̈ e₃)
    translation       b += v̇

and what its mass m, first moment h and inertia I need: F = m b + α × h + ω × (ω × h), N = I α + ω × I ω + h × b. Inward
these are summed, N_λ += R N + r × R F, and the force of a joint is what acts along its motions: N₃, F₃, or N. A rotor of
armature A on the joint needs A q̈ besides.

Velocities of places are not needed. On numbers or on lanes.

Units, with u the unit of a coordinate, rad of a ball joint: t [s]; q [u]; v [u/s]; a [u/s²]; tau [J/u]; by_q [J/u²]; by_v
[J s/u²]; first [1]; row, geometry [mixed]; x, y, z [m]; wx, wy, wz [rad/s]; ax, ay, az [rad/s²]; bx, by, bz [m/s²].

Source: Featherstone 2008, section 5.3; Luh, Walker & Paul, J. Dyn. Syst. Meas. Control 102 (1980).
"""

import math

import numpy as np

from mbvi.kernels.compiler.decorators import copied_kernel, kernel
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
    SCREW,
    TRANSLATION,
)
from mbvi.kernels.mechanics.frames import width_of_link
from mbvi.kernels.mechanics.lagrangian import acts_on_links, add_forces, add_hessian_of_forces, has_forces
from mbvi.kernels.mechanics.rotation import cross, quaternion_matrix, rotate
from mbvi.kernels.mechanics.sines import cosine_and_sine
from mbvi.kernels.mechanics.tangent import (
    FINE,
    KINDS,
    NOT_FINITE,
    add_product,
    add_turn_of_covector,
    fill_dense,
    fill_product,
    fill_rates,
    fill_tangents,
    is_finite,
    subtract_covector,
)
from mbvi.kernels.mechanics.tree import fill_convective, fill_screws, fill_world, into_frame, nine_of, put_nine

# Columns of a row (L, 33): ω, α, b (9), N and F (6), cosine and sine (2), and the nine entries of a quaternion's rotation.
MOTION, MOMENT_OF, FORCE_OF, COSINE, SINE, TURN = 0, 9, 12, 15, 16, 17
WITH_FORCES, WITHOUT_FORCES = 1, 0


@kernel
def fill_inverse_dynamics(tau, system, work, own, forces, t, q, v, a):
    """The forces that a motion needs beside gravity and, if these count, the other forces of the model, in many states.

    tau       (states, nv)    out  [J/u], u the unit of a coordinate
    work      Work            of the system, which its forces need
    own       DynamicsWork
    forces    int             1: with the forces of the model other than gravity, 0: without
    t         (states, 1)     times  [s]; or (1, 1), one of all
    q, v, a   (states, nq), (states, nv), (states, nv)

    Returns FINE, or the first state that has a number that is not finite.
    """
    for i in range(q.shape[0]):
        if not is_finite(q[i], v[i], a[i]) or not math.isfinite(t[min(i, t.shape[0] - 1), 0]):
            return NOT_FINITE + KINDS * i
        fill_forces_of_motion(tau[i], own.row, system, own.first, q[i], v[i], a[i])
        if forces == WITH_FORCES and has_forces(system):
            subtract_forces(tau[i], system, work, own, t[min(i, t.shape[0] - 1), 0], q[i], v[i])
    return FINE


@kernel
def subtract_forces(tau, system, work, own, t, q, v):
    """Subtract the forces of the model other than gravity, as a covector of the tangent space.

    tau       (nv,)    in and out
    q, v      (nq,), (nv,)
    """
    fill_rates(own.rates, system, q, v)
    own.force[:] = 0.0
    add_forces(own.force, system, work, t, q, own.rates)
    subtract_covector(tau, system, q, own.force)


@kernel
def subtract_force_derivatives(by_q, by_v, system, work, own, t, q, v):
    """Subtract the derivatives of what `subtract_forces` subtracts, along the tangents and with v.

    They are exact, but for a user's own force function, of which they are central differences.

    by_q, by_v    (nv, nv)    in and out
    q, v          (nq,), (nv,)
    """
    rates = own.rates
    fill_rates(rates, system, q, v)
    fill_tangents(own, system, q, v)
    own.force[:] = 0.0
    add_forces(own.force, system, work, t, q, rates)
    add_turn_of_covector(by_q, -1.0, system, q, own.force)
    if acts_on_links(system):
        fill_world(system, work, q, rates)
        fill_screws(system, work, q)
        fill_convective(system, work, q, rates)
    work.Kqv[:] = 0.0
    work.Kqq[:] = 0.0
    add_hessian_of_forces(work.Kqv, work.Kqq, system, work, t, q, rates)
    fill_dense(own.by_place, work.Kqq, system)
    fill_dense(own.by_rate, work.Kqv, system)
    fill_product(own, system, own.by_place, own.B)
    add_product(by_q, -1.0, own, system)
    fill_product(own, system, own.by_rate, own.turned)
    add_product(by_q, -1.0, own, system)
    fill_product(own, system, own.by_rate, own.B)
    add_product(by_v, -1.0, own, system)


@kernel
def fill_forces_of_motion(tau, row, system, first, q, v, a):
    """The forces of a motion under gravity: one sweep out, one sweep in. On numbers or on lanes.

    tau       (nv,)      out  [J/u]
    row       (L, 33)    work
    first     (L,)       first entry of v of every link
    q, v, a   (nq,), (nv,), (nv,)

    Entries of coordinates without a link, as of points on curves, are 0.
    """
    links, geometry, gravity = system.links, system.geometry, system.gravity
    for k in range(tau.shape[0]):
        tau[k] = 0.0 * q[0]
    for link in range(links.shape[0]):
        i = np.uintp(link)
        kind = links[i, KIND]
        if kind == REVOLUTE or kind == SCREW:
            row[i, COSINE], row[i, SINE] = cosine_and_sine(q[links[i, DOF]])
    wx = wy = wz = ax = ay = az = bx = by = bz = 0.0 * q[0]
    for link in range(links.shape[0]):
        i = np.uintp(link)
        parent, kind, dof, k = links[i, PARENT], links[i, KIND], links[i, DOF], first[i]
        if parent < 0:
            wx = wy = wz = ax = ay = az = 0.0 * q[0]
            bx, by, bz = -gravity[0] + 0.0 * q[0], -gravity[1] + 0.0 * q[0], -gravity[2] + 0.0 * q[0]
        else:
            if parent != link - 1:
                wx, wy, wz, ax, ay, az, bx, by, bz = nine_of(row, np.uintp(parent), MOTION)
            bx, by, bz = acceleration_at(
                geometry[i, PLACE], geometry[i, PLACE + 1], geometry[i, PLACE + 2],
                wx, wy, wz, ax, ay, az, bx, by, bz,
            )  # fmt: skip
        if links[i, ALIGNED] == 0:
            wx, wy, wz, ax, ay, az, bx, by, bz = into_frame(
                geometry, link, ROTATION, wx, wy, wz, ax, ay, az, bx, by, bz
            )
        if kind == QUATERNION:
            quaternion_matrix(row, link, TURN, q[dof], q[dof + 1], q[dof + 2], q[dof + 3])
            wx, wy, wz, ax, ay, az, bx, by, bz = into_frame(row, link, TURN, wx, wy, wz, ax, ay, az, bx, by, bz)
            rx, ry, rz = cross(wx, wy, wz, v[k], v[k + 1], v[k + 2])
            ax, ay, az = ax + rx + a[k], ay + ry + a[k + 1], az + rz + a[k + 2]
            wx, wy, wz = wx + v[k], wy + v[k + 1], wz + v[k + 2]
        elif kind == TRANSLATION:
            bx, by, bz = bx + a[k], by + a[k + 1], bz + a[k + 2]
        else:
            if kind != REVOLUTE:
                d, rate, bend = geometry[i, PITCH] * q[dof], geometry[i, PITCH] * v[k], geometry[i, PITCH] * a[k]
                bx += d * (ay + wx * wz) + 2.0 * rate * wy
                by += d * (wy * wz - ax) - 2.0 * rate * wx
                bz += bend - d * (wx * wx + wy * wy)
            if kind != PRISMATIC:
                c, s = row[i, COSINE], row[i, SINE]
                wx, wy = c * wx + s * wy, c * wy - s * wx
                ax, ay = c * ax + s * ay, c * ay - s * ax
                bx, by = c * bx + s * by, c * by - s * bx
                ax, ay, az = ax + wy * v[k], ay - wx * v[k], az + a[k]
                wz += v[k]
        put_nine(row, i, MOTION, wx, wy, wz, ax, ay, az, bx, by, bz)
        put_wrench(row, i, geometry, wx, wy, wz, ax, ay, az, bx, by, bz)
    Nx = Ny = Nz = Fx = Fy = Fz = 0.0 * q[0]
    for link in range(links.shape[0] - 1, -1, -1):
        i = np.uintp(link)
        parent, kind, dof, k = links[i, PARENT], links[i, KIND], links[i, DOF], first[i]
        Nx, Ny, Nz = Nx + row[i, MOMENT_OF], Ny + row[i, MOMENT_OF + 1], Nz + row[i, MOMENT_OF + 2]
        Fx, Fy, Fz = Fx + row[i, FORCE_OF], Fy + row[i, FORCE_OF + 1], Fz + row[i, FORCE_OF + 2]
        if kind == QUATERNION:
            tau[k], tau[k + 1], tau[k + 2] = Nx, Ny, Nz
            if parent >= 0:
                Nx, Ny, Nz = rotate(row, link, TURN, Nx, Ny, Nz)
                Fx, Fy, Fz = rotate(row, link, TURN, Fx, Fy, Fz)
        elif kind == TRANSLATION:
            tau[k], tau[k + 1], tau[k + 2] = Fx, Fy, Fz
        elif kind == REVOLUTE:
            tau[k] = Nz
        elif kind == PRISMATIC:
            tau[k] = geometry[i, PITCH] * Fz
        else:
            tau[k] = Nz + geometry[i, PITCH] * Fz
        if parent >= 0:
            if kind != QUATERNION:
                if kind != PRISMATIC:
                    c, s = row[i, COSINE], row[i, SINE]
                    Nx, Ny = c * Nx - s * Ny, s * Nx + c * Ny
                    Fx, Fy = c * Fx - s * Fy, s * Fx + c * Fy
                if kind != REVOLUTE:
                    d = geometry[i, PITCH] * q[dof]
                    Nx, Ny = Nx - d * Fy, Ny + d * Fx
            if links[i, ALIGNED] == 0:
                Nx, Ny, Nz = rotate(geometry, link, ROTATION, Nx, Ny, Nz)
                Fx, Fy, Fz = rotate(geometry, link, ROTATION, Fx, Fy, Fz)
            x, y, z = geometry[i, PLACE], geometry[i, PLACE + 1], geometry[i, PLACE + 2]
            Nx, Ny, Nz = Nx + (y * Fz - z * Fy), Ny + (z * Fx - x * Fz), Nz + (x * Fy - y * Fx)
        if parent < 0 or parent != link - 1:
            if parent >= 0:
                above = np.uintp(parent)
                row[above, MOMENT_OF] += Nx
                row[above, MOMENT_OF + 1] += Ny
                row[above, MOMENT_OF + 2] += Nz
                row[above, FORCE_OF] += Fx
                row[above, FORCE_OF + 1] += Fy
                row[above, FORCE_OF + 2] += Fz
            Nx = Ny = Nz = Fx = Fy = Fz = 0.0 * Nx
    if system.armature.shape[0] > 0:
        add_rotors(tau, system, first, a)


@kernel
def add_rotors(tau, system, first, a):
    """τ += A a of the rotors on the joints, of armature A. On numbers or on lanes.

    tau       (nv,)    in and out
    first     (L,)     first entry of v of every link
    a         (nv,)
    """
    links = system.links
    for i in range(links.shape[0]):
        if links[i, KIND] != QUATERNION:
            for c in range(width_of_link(links, i)):
                k = first[i] + c
                tau[k] = tau[k] + system.armature[links[i, DOF] + c] * a[k]


@copied_kernel
def acceleration_at(x, y, z, wx, wy, wz, ax, ay, az, bx, by, bz):
    """b + α × r + ω × (ω × r) at the place r = (x, y, z)."""
    cx, cy, cz = wy * z - wz * y, wz * x - wx * z, wx * y - wy * x
    return (
        bx + (ay * z - az * y) + (wy * cz - wz * cy),
        by + (az * x - ax * z) + (wz * cx - wx * cz),
        bz + (ax * y - ay * x) + (wx * cy - wy * cx),
    )


@copied_kernel
def put_wrench(row, i, geometry, wx, wy, wz, ax, ay, az, bx, by, bz):
    """N and F that the mass of link i needs, into its row; see the head of this file.

    row       (L, 33)    out, six columns of row i alone
    geometry  (L, 24)    System.geometry
    """
    m = geometry[i, MASS]
    Ixx, Iyy, Izz = geometry[i, INERTIA], geometry[i, INERTIA + 1], geometry[i, INERTIA + 2]
    if m == 0.0 and Ixx == 0.0 and Iyy == 0.0 and Izz == 0.0:  # a link between the joints of a sequence
        for c in range(MOMENT_OF, COSINE):
            row[i, c] = 0.0 * wx
        return
    hx, hy, hz = geometry[i, MOMENT], geometry[i, MOMENT + 1], geometry[i, MOMENT + 2]
    Ixy, Ixz, Iyz = geometry[i, INERTIA + 3], geometry[i, INERTIA + 4], geometry[i, INERTIA + 5]
    Lx, Ly, Lz = Ixx * wx + Ixy * wy + Ixz * wz, Ixy * wx + Iyy * wy + Iyz * wz, Ixz * wx + Iyz * wy + Izz * wz
    Nx, Ny, Nz = Ixx * ax + Ixy * ay + Ixz * az, Ixy * ax + Iyy * ay + Iyz * az, Ixz * ax + Iyz * ay + Izz * az
    row[i, MOMENT_OF] = Nx + (wy * Lz - wz * Ly) + (hy * bz - hz * by)
    row[i, MOMENT_OF + 1] = Ny + (wz * Lx - wx * Lz) + (hz * bx - hx * bz)
    row[i, MOMENT_OF + 2] = Nz + (wx * Ly - wy * Lx) + (hx * by - hy * bx)
    row[i, FORCE_OF], row[i, FORCE_OF + 1], row[i, FORCE_OF + 2] = acceleration_at(
        hx, hy, hz, wx, wy, wz, ax, ay, az, m * bx, m * by, m * bz
    )
