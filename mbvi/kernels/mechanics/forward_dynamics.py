"""The acceleration that forces cause, M a = τ − τ(q, v, 0), of a tree of links, and its derivatives along the tangent space.

The acceleration itself by articulated bodies, in O(n). Its derivatives follow from those of the forces at that
acceleration,

    ∂a/∂q = −M⁻¹ ∂τ/∂q,    ∂a/∂v = −M⁻¹ ∂τ/∂v,    ∂a/∂τ = M⁻¹,

with M = Lᵀ diag(d) L, of which L has an entry only where one velocity is before another on a path.

Units, with u the unit of a coordinate, rad of a ball joint: t [s]; q [u]; v [u/s]; a [u/s²]; tau [J/u]; inverse [u²/(J s²)];
before [1]; X, x [any unit]; factor, b, c, d [any unit].

Source: Featherstone 2008, sections 6.5 (the factors of a tree) and 7.3 (articulated bodies).
"""

import math

import numpy as np

from mbvi.kernels.compiler.decorators import copied_solver_kernel, kernel, solver_kernel
from mbvi.kernels.compiler.lanes import WIDTH, lanes_at, put_lanes
from mbvi.kernels.layout import ALIGNED, DOF, KIND, PARENT, QUATERNION, ROTATION
from mbvi.kernels.mechanics.articulated import factor_articulated, solve_articulated, turn
from mbvi.kernels.mechanics.dynamics_derivatives import fill_dynamics_derivatives
from mbvi.kernels.mechanics.frames import width_of_link
from mbvi.kernels.mechanics.inverse_dynamics import (
    WITH_FORCES,
    fill_forces_of_motion,
    subtract_force_derivatives,
    subtract_forces,
)
from mbvi.kernels.mechanics.lagrangian import has_forces
from mbvi.kernels.mechanics.rotation import rotate, rotate_back
from mbvi.kernels.mechanics.tangent import FINE, KINDS, NOT_FINITE, SINGULAR_MASS, TOGETHER, columns_of, is_finite


@kernel
def fill_forward_dynamics(a, system, work, own, forces, t, q, v, tau):
    """The accelerations of a tree in many states.

    a         (states, nv)    out  [u/s²]
    work      Work            of the system
    own       DynamicsWork
    forces    int             1: with the forces of the model other than gravity, 0: without
    t         (states, 1)     times  [s]; or (1, 1), one of all
    q, v      (states, nq), (states, nv)
    tau       (states, nv)    forces beside those  [J/u]

    Returns FINE, or the first state with a number that is not finite, or of a singular mass matrix.
    """
    for i in range(q.shape[0]):
        if not is_finite(q[i], v[i], tau[i]) or not math.isfinite(t[min(i, t.shape[0] - 1), 0]):
            return NOT_FINITE + KINDS * i
        if not fill_acceleration_of_tree(
            a[i], system, work, own, forces, t[min(i, t.shape[0] - 1), 0], q[i], v[i], tau[i]
        ):
            return SINGULAR_MASS + KINDS * i
    return FINE


@kernel
def fill_acceleration_of_tree(a, system, work, own, forces, t, q, v, tau):
    """The acceleration in one state; False where the mass matrix is singular.

    a         (nv,)    out
    q, v, tau    (nq,), (nv,), (nv,)

    What acts on a coordinate without a link is not counted.
    """
    fill_forces_of_motion(a, own.row, system, own.first, q, v, own.zero)
    if forces == WITH_FORCES and has_forces(system):
        subtract_forces(a, system, work, own, t, q, v)
    for k in range(own.nv):
        a[k] = tau[k] - a[k]
    if not factor_articulated(work.articulated, system.links, system.geometry, system.armature, q):
        return False
    x, links = work.solution, system.links
    for i in range(links.shape[0]):
        dof, k, is_ball = links[i, DOF], own.first[i], links[i, KIND] == QUATERNION
        for c in range(width_of_link(links, i)):
            x[dof + c + is_ball] = a[k + c]
    for i in range(links.shape[0]):  # of balls that hang on balls, torques are between links that are not neighbours
        parent = links[i, PARENT]
        if parent >= 0 and links[i, KIND] == QUATERNION and links[parent, KIND] == QUATERNION:
            k, dof, at = own.first[i], links[i, DOF], links[parent, DOF]
            a0, a1, a2, a3 = q[dof], q[dof + 1], q[dof + 2], q[dof + 3]
            scale = 2.0 / (a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3)
            Nx, Ny, Nz = turn(scale, a0, a1, a2, a3, a[k], a[k + 1], a[k + 2])
            if links[i, ALIGNED] == 0:
                Nx, Ny, Nz = rotate(system.geometry, i, ROTATION, Nx, Ny, Nz)
            x[at + 1] -= Nx
            x[at + 2] -= Ny
            x[at + 3] -= Nz
    solve_articulated(x, work.solved, work.articulated, links)
    for i in range(links.shape[0]):
        dof, k, is_ball = links[i, DOF], own.first[i], links[i, KIND] == QUATERNION
        for c in range(width_of_link(links, i)):
            a[k + c] = x[dof + c + is_ball]
        parent = links[i, PARENT]
        if parent >= 0 and is_ball and links[parent, KIND] == QUATERNION:
            of = links[parent, DOF]
            yx, yy, yz = x[of + 1], x[of + 2], x[of + 3]
            if links[i, ALIGNED] == 0:
                yx, yy, yz = rotate_back(system.geometry, i, ROTATION, yx, yy, yz)
            a0, a1, a2, a3 = q[dof], q[dof + 1], q[dof + 2], q[dof + 3]
            scale = 2.0 / (a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3)
            yx, yy, yz = turn(scale, a0, -a1, -a2, -a3, yx, yy, yz)
            a[k], a[k + 1], a[k + 2] = a[k] - yx, a[k + 1] - yy, a[k + 2] - yz
    return True


@kernel
def fill_derivatives(by_q, by_v, last, system, work, own, forces, is_forward, t, q, v, a):
    """Derivatives of the forces of a motion, or of the acceleration that forces cause, in many states.

    by_q, by_v, last    (states, nv, nv)    out: of forces with M  [J/u², J s/u², J s²/u²], or of accelerations with M⁻¹
                                        [1/s², 1/s, u²/(J s²)]
    work      Work            of the system
    own       DynamicsWork
    forces    int             1: with the forces of the model other than gravity, 0: without
    is_forward    int         whether those of the acceleration are asked for
    t         (states, 1)     times  [s]; or (1, 1), one of all
    q, v      (states, nq), (states, nv)
    a         (states, nv)    accelerations, or the forces of forward dynamics  [u/s² or J/u]

    Returns FINE, or the first state with a number that is not finite, or of a singular mass matrix.
    """
    for i in range(q.shape[0]):
        if not is_finite(q[i], v[i], a[i]) or not math.isfinite(t[min(i, t.shape[0] - 1), 0]):
            return NOT_FINITE + KINDS * i
        now, acceleration = t[min(i, t.shape[0] - 1), 0], a[i]
        if is_forward == 1:
            acceleration = own.acceleration
            if not fill_acceleration_of_tree(acceleration, system, work, own, forces, now, q[i], v[i], a[i]):
                return SINGULAR_MASS + KINDS * i
        fill_dynamics_derivatives(by_q[i], by_v[i], last[i], system, own, q[i], v[i], acceleration)
        if forces == WITH_FORCES and has_forces(system):
            subtract_force_derivatives(by_q[i], by_v[i], system, work, own, now, q[i], v[i])
        if is_forward == 1 and not solve_derivatives(by_q[i], by_v[i], last[i], own):
            return SINGULAR_MASS + KINDS * i
    return FINE


@kernel
def solve_derivatives(by_q, by_v, inverse, own):
    """−M⁻¹ times what by_q and by_v have, and M⁻¹ in place of M; False where M is singular.

    by_q, by_v, inverse    (nv, nv)    in and out  [in: J/u², J s/u², J s²/u²; out: 1/s², 1/s, u²/(J s²)]

    Columns are solved sixteen at a time. In columns of M⁻¹ only rows up to the last of their numbers are found: rows behind
    are 0 before they are solved from the world on, and the mirror of what is found.
    """
    M, X, nv = own.M, own.solved, own.nv
    lanes_of_row, width = columns_of(nv, WIDTH), columns_of(3 * nv, TOGETHER)
    for i in range(nv):
        row, at, of = np.uintp(i), np.uintp(i * width), np.uintp(i * lanes_of_row)
        for j in range(nv):
            c = np.uintp(j)  # numba tests whether other indices count from an array's end
            M[of + c] = inverse[row, c]
            X[at + c] = -by_q[row, c]
            X[at + np.uintp(nv) + c] = -by_v[row, c]
            X[at + np.uintp(2 * nv) + c] = 1.0 * (i == j)
    if not factor_tree(M, own.before, lanes_of_row):
        return False
    for first in range(0, width, TOGETHER):
        last = nv - 1 if first < 2 * nv else min(nv - 1, first + TOGETHER - 1 - 2 * nv)
        solve_columns(X, M, own.before, width, lanes_of_row, first, last)
    for i in range(nv):
        row, at = np.uintp(i), np.uintp(i * width)
        for j in range(nv):
            c = np.uintp(j)
            by_q[row, c] = X[at + c]
            by_v[row, c] = X[at + np.uintp(nv) + c]
        for j in range(i, nv):
            c = np.uintp(j)
            inverse[row, c] = inverse[c, row] = X[at + np.uintp(2 * nv) + c]
    return True


@solver_kernel
def factor_tree(M, before, width):
    """Overwrite a mass matrix by 1/d, on its diagonal, and L, below it; False if it is not positive definite in rounded numbers.

    M         (nv width,)    in and out, row by row  [in: J s²/u²; out: mixed]
    before    (nv,)          entry before each on its path
    width     int            of a row, a multiple of four

    Entries off a path are 0, above the diagonal anything.
    """
    for k in range(before.shape[0] - 1, -1, -1):
        of = k * width
        if not M[of + k] > 0.0:
            return False
        inverse = 1.0 / M[of + k]
        i = before[k]
        while i >= 0:
            factor, to = M[of + i] * inverse, i * width
            for c in range(0, i + 1, WIDTH):
                put_lanes(M, to + c, lanes_at(M, to + c) - factor * lanes_at(M, of + c))
            i = before[np.uintp(i)]
        for c in range(0, k, WIDTH):
            put_lanes(M, of + c, inverse * lanes_at(M, of + c))
        M[of + k] = inverse
    return True


@solver_kernel
def solve_columns(X, M, before, width, width_of_M, first, last):
    """Overwrite sixteen columns by M⁻¹ times them, of rows up to the last that is not 0 or is asked for.

    Two rows that follow each other on a path are taken at once, so that others are read and written half as often.

    X         (nv width,)         in and out, row by row
    M         (nv width_of_M,)    factors of `factor_tree`  [mixed]
    before    (nv,)               entry before each on its path
    first     int                 column
    last      int                 row
    """
    i = last
    while i >= 0:
        at, of = i * width + first, i * width_of_M
        a, b, c, d = sixteen_at(X, at)
        i, j = i - 1, before[i]
        if j >= 0 and j == i:
            e, f, g, h = less(sixteen_at(X, at - width), M[of + j], a, b, c, d)
            put_sixteen(X, at - width, e, f, g, h)
            i, j, of_j = i - 1, before[i], of - width_of_M
            while j >= 0:
                to, factor, other = j * width + first, M[np.uintp(of + j)], M[np.uintp(of_j + j)]
                x, y, z, w = less(less(sixteen_at(X, to), factor, a, b, c, d), other, e, f, g, h)
                put_sixteen(X, to, x, y, z, w)
                j = before[np.uintp(j)]
        while j >= 0:
            to = j * width + first
            x, y, z, w = less(sixteen_at(X, to), M[np.uintp(of + j)], a, b, c, d)
            put_sixteen(X, to, x, y, z, w)
            j = before[np.uintp(j)]
    i = 0
    while i <= last:
        at, of = i * width + first, i * width_of_M
        a, b, c, d = times(sixteen_at(X, at), M[of + i])
        j = before[i]
        if i < last and before[i + 1] == i:
            behind = of + width_of_M
            e, f, g, h = times(sixteen_at(X, at + width), M[behind + i + 1])
            while j >= 0:
                x, y, z, w = sixteen_at(X, j * width + first)
                a, b, c, d = less((a, b, c, d), M[np.uintp(of + j)], x, y, z, w)
                e, f, g, h = less((e, f, g, h), M[np.uintp(behind + j)], x, y, z, w)
                j = before[np.uintp(j)]
            e, f, g, h = less((e, f, g, h), M[behind + i], a, b, c, d)
            put_sixteen(X, at + width, e, f, g, h)
            i += 1
        while j >= 0:
            x, y, z, w = sixteen_at(X, j * width + first)
            a, b, c, d = less((a, b, c, d), M[np.uintp(of + j)], x, y, z, w)
            j = before[np.uintp(j)]
        put_sixteen(X, at, a, b, c, d)
        i += 1


@copied_solver_kernel
def sixteen_at(X, at):
    """Sixteen numbers from a place on, as four lanes.

    X         (size,)
    """
    return lanes_at(X, at), lanes_at(X, at + 4), lanes_at(X, at + 8), lanes_at(X, at + 12)


@copied_solver_kernel
def put_sixteen(X, at, a, b, c, d):
    """Write sixteen numbers from a place on.

    X         (size,)    in and out, those sixteen alone
    """
    put_lanes(X, at, a)
    put_lanes(X, at + 4, b)
    put_lanes(X, at + 8, c)
    put_lanes(X, at + 12, d)


@copied_solver_kernel
def less(x, factor, a, b, c, d):
    """Four lanes less a multiple of others.

    x         (4,)    tuple of lanes
    """
    return x[0] - factor * a, x[1] - factor * b, x[2] - factor * c, x[3] - factor * d


@copied_solver_kernel
def times(x, factor):
    """A multiple of four lanes.

    x         (4,)    tuple of lanes
    """
    return factor * x[0], factor * x[1], factor * x[2], factor * x[3]
