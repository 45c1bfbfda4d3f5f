"""The acceleration that forces cause, M a = τ − τ(q, v, 0), of a tree of links, and its derivatives along the tangent space.

The acceleration itself by articulated bodies, in O(n). Its derivatives follow from those of the forces at that
acceleration,

    ∂a/∂q = −M⁻¹ ∂τ/∂q,    ∂a/∂v = −M⁻¹ ∂τ/∂v,    ∂a/∂τ = M⁻¹,

with M = Lᵀ diag(d) L, of which L has an entry only where one velocity is before another on a path.

Source: Featherstone 2008, sections 6.5 (the factors of a tree) and 7.3 (articulated bodies).
"""

import math

from mbvi.kernels.compiler.decorators import kernel, solver_kernel
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
from mbvi.kernels.mechanics.tangent import FINE, KINDS, NOT_FINITE, SINGULAR_MASS, is_finite


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

    by_q, by_v, last    (states, nv, nv)    out; last: M, or M⁻¹ of forward dynamics
    work      Work            of the system
    own       DynamicsWork
    forces    int             1: with the forces of the model other than gravity, 0: without
    is_forward    int         whether those of the acceleration are asked for
    t         (states, 1)     times  [s]; or (1, 1), one of all
    q, v      (states, nq), (states, nv)
    a         (states, nv)    accelerations, or the forces of forward dynamics

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
        if is_forward == 1:
            for k in range(own.nv):
                for j in range(own.nv):
                    own.M[k, j] = last[i, k, j]
            if not solve_derivatives(by_q[i], by_v[i], last[i], own):
                return SINGULAR_MASS + KINDS * i
    return FINE


@kernel
def solve_derivatives(by_q, by_v, inverse, own):
    """−M⁻¹ times what by_q and by_v have, and M⁻¹; False where M is singular. M is in own.M, and is overwritten.

    by_q, by_v, inverse    (nv, nv)    in and out; inverse: out
    """
    M, nv = own.M, own.nv
    if not factor_tree(M, own.before):
        return False
    for i in range(nv):
        for j in range(nv):
            inverse[i, j] = 1.0 * (i == j)
            by_q[i, j] = -by_q[i, j]
            by_v[i, j] = -by_v[i, j]
    solve_tree(by_q, M, own.before)
    solve_tree(by_v, M, own.before)
    solve_tree(inverse, M, own.before)
    return True


@solver_kernel
def factor_tree(M, before):
    """Overwrite a mass matrix by d, on its diagonal, and L, below it; False if it is not positive definite in rounded numbers.

    M         (nv, nv)    in and out
    before    (nv,)       entry before each on its path
    """
    for k in range(M.shape[0] - 1, -1, -1):
        size = M[k, k]
        i = before[k]
        while i >= 0:
            factor = M[k, i] / size
            j = i
            while j >= 0:
                M[i, j] -= factor * M[k, j]
                j = before[j]
            M[k, i] = factor
            i = before[i]
    for k in range(M.shape[0]):
        if not M[k, k] > 0.0:
            return False
    return True


@solver_kernel
def solve_tree(X, M, before):
    """Overwrite X by M⁻¹ X, with the factors of `factor_tree`.

    X         (nv, m)     in and out
    M         (nv, nv)    factors
    before    (nv,)       entry before each on its path
    """
    count = X.shape[1]
    for i in range(X.shape[0] - 1, -1, -1):
        j = before[i]
        while j >= 0:
            subtract_row(X[j], M[i, j], X[i], count)
            j = before[j]
        inverse = 1.0 / M[i, i]
        for c in range(count):
            X[i, c] *= inverse
    for i in range(X.shape[0]):
        j = before[i]
        while j >= 0:
            subtract_row(X[i], M[i, j], X[j], count)
            j = before[j]


@solver_kernel
def subtract_row(x, factor, y, count):
    """x −= factor y.

    x, y      (m,)    x: in and out
    """
    for c in range(count):
        x[c] -= factor * y[c]
