"""The handful of functions that every scheme needs of a system: L_v, L_q + F, their derivatives, V, g.

One dispatch for both kinds of systems: trees of joints, and a user's own functions.
"""

import numpy as np

from mbvi.kernels.articulated import ARTICULATED_WIDTH, factor_articulated, solve_articulated
from mbvi.kernels.constraints import fill_constraints
from mbvi.kernels.dense import lu, lu_solve
from mbvi.kernels.forces import STACK_SIZE, add_body_forces, add_force_hessian, add_joint_forces, force_potential
from mbvi.kernels.layout import System, kernel
from mbvi.kernels.packed import Packed, call
from mbvi.kernels.tree import (
    SWEEP_WIDTH,
    WORLD_PLACE,
    WORLD_WIDTH,
    accumulate,
    fill_gradient_tree,
    fill_hessian_tree,
    fill_inertia,
    fill_mass_matrix_tree,
    fill_screws,
    fill_world,
    gravity_potential,
)


class Work(Packed):
    """Arrays that the evaluation of a system overwrites; see the kernels of a tree."""


def make_work(system: System) -> Work:
    """Workspace for the evaluation of a system."""
    n, k, count = system.n, system.k, len(system.links)
    return Work(
        row=np.full((count, SWEEP_WIDTH), np.nan),
        world=np.zeros((count, WORLD_WIDTH)),
        wrench=np.zeros((count, 6)),
        S=np.zeros((n, 6)),
        D=np.zeros((n, 6)),
        U=np.zeros((n, 6)),
        inertia=np.zeros((count, 10)),
        momentum=np.zeros((count, 6)),
        pair=np.zeros((4, 6)),
        stack=np.zeros(STACK_SIZE),
        base=np.zeros(n),
        side=np.zeros(n),
        zero=np.zeros(n),
        articulated=np.zeros((count, ARTICULATED_WIDTH)),
        M=np.zeros((n, n)),
        g=np.zeros(k),
        g_t=np.zeros(k),
        G=np.zeros((k, n)),
        saddle=np.zeros((n + k, n + k)),
        saddle_pivots=np.zeros(n + k, np.int64),
        saddle_x=np.zeros(n + k),
    )


@kernel
def fill_gradient(p, f, row, system, work, t, q, v):
    """p = ∂L/∂v and f = ∂L/∂q + F, both (n,), at (t, q, v); row (L, 32) is work of the sweep, work.row or a node's own."""
    if system.is_tree == 1:
        fill_gradient_tree(p, f, row, system.links, system.geometry, system.gravity, q, v)
        if system.joint_forces.shape[0] > 0:
            add_joint_forces(f, system, work.stack, t, q, v)
        if system.body_forces.shape[0] > 0:
            fill_world(work.world, system.links, system.geometry, q, v)
            add_body_forces(f, system, work.wrench, work.world, work.stack, t, q)
    else:
        call(system.gradient, t, (q, v, p, f))
    if system.force != 0:
        call(system.force, t, (q, v, f))


@kernel
def fill_hessian(Lvv, Lvq, Kqv, Kqq, system, work, t, q, v):
    """Derivatives of p = ∂L/∂v and of f = ∂L/∂q + F.

    Lvv, Lvq  (n, n)    out: ∂p/∂v (the mass matrix), ∂p/∂q
    Kqv, Kqq  (n, n)    out: ∂f/∂v, ∂f/∂q
    """
    n = system.n
    if system.is_tree == 1:
        fill_world(work.world, system.links, system.geometry, q, v)
        fill_hessian_tree(
            Lvv, Lvq, Kqq, work.S, work.D, work.U, work.inertia, work.momentum, work.pair,
            system.links, system.geometry, system.gravity, work.world, q, v,
        )  # fmt: skip
        for i in range(n):
            for j in range(n):
                Kqv[i, j] = Lvq[j, i]
        add_force_hessian(Kqv, Kqq, system, work.S, work.D, work.U, work.world, work.stack, t, q, v)
    else:
        call(system.hessian, t, (q, v, Lvv, Lvq, Kqv, Kqq))
    if system.force != 0:
        add_force_function_hessian(Kqv, Kqq, system, work, t, q, v)


@kernel
def add_force_function_hessian(Kqv, Kqq, system, work, t, q, v):
    """Derivatives of a user's force function by forward differences.

    They steer Newton's method only: the converged step does not depend on them.
    """
    n = system.n
    base, side = work.base, work.side
    base[:] = 0.0
    call(system.force, t, (q, v, base))
    for j in range(2 * n):
        x = q if j < n else v
        K = Kqq if j < n else Kqv
        column = j if j < n else j - n
        kept = x[column]
        step = 1.5e-8 * max(1.0, abs(kept))
        x[column] = kept + step
        side[:] = 0.0
        call(system.force, t, (q, v, side))
        x[column] = kept
        for i in range(n):
            K[i, column] += (side[i] - base[i]) / step


@kernel
def fill_mass_matrix(M, system, work, t, q):
    """M(q) = ∂²L/∂v², (n, n)."""
    if system.is_tree == 1:
        fill_world(work.world, system.links, system.geometry, q, work.zero)
        fill_inertia(work.inertia, system.links, system.geometry, work.world)
        accumulate(work.inertia, system.links)
        fill_screws(work.S, work.D, system.links, system.geometry, work.world, q)
        fill_mass_matrix_tree(M, work.S, work.inertia, work.pair, system.links)
    else:
        for j in range(system.n):
            work.zero[j] = 1.0
            call(system.gradient, t, (q, work.zero, work.base, work.side))
            work.zero[j] = 0.0
            for i in range(system.n):
                M[i, j] = work.base[i]


@kernel
def potential(system, work, t, q):
    """V(t, q) [J]: gravity, springs and constant forces, or the user's own."""
    if system.is_tree == 1:
        fill_world(work.world, system.links, system.geometry, q, work.zero)
        return gravity_potential(system.links, system.geometry, system.gravity, work.world) + force_potential(
            system, work.world, work.stack, q
        )
    return call(system.potential, t, (q,))


@kernel
def fill_energies(kinetic, potentials, p, system, work, t, q, v):
    """Kinetic and potential energy, and momentum, of many states.

    kinetic, potentials   (states,)      out  [J]
    p                     (states, n)    out  [kg m²/s, kg m/s]
    t                     (states,)      [s]
    q, v                  (states, n)
    """
    for i in range(q.shape[0]):
        fill_gradient(p[i], work.base, work.row, system, work, t[i], q[i], v[i])
        total = 0.0
        for a in range(system.n):
            total += v[i, a] * p[i, a]
        kinetic[i] = 0.5 * total
        potentials[i] = potential(system, work, t[i], q[i])


@kernel
def fill_poses(places, rotations, system, work, link, q):
    """Place and rotation of one link's frame in many states.

    places     (states, 3)       out  [m]
    rotations  (states, 3, 3)    out, link to world
    """
    for i in range(q.shape[0]):
        fill_world(work.world, system.links, system.geometry, q[i], work.zero)
        for a in range(3):
            places[i, a] = work.world[link, WORLD_PLACE + a]
            for b in range(3):
                rotations[i, a, b] = work.world[link, 3 * a + b]


@kernel
def solve_velocity(system, work, t, q, p):
    """Solve M v + Gᵀμ = p, G v + ∂g/∂t = 0 into work.saddle_x = (v, μ); False where the matrix is singular."""
    if system.is_tree == 1 and system.k == 0:
        for a in range(system.n):
            work.saddle_x[a] = p[a]
        if not factor_articulated(work.articulated, system.links, system.geometry, q):
            return False
        solve_articulated(work.articulated, system.links, system.geometry, work.saddle_x)
        return True
    n, k = system.n, system.k
    A, x = work.saddle, work.saddle_x
    A[:, :] = 0.0
    fill_mass_matrix(work.M, system, work, t, q)
    if k > 0:
        fill_constraints(work.g, work.G, work.g_t, system, t, q)
    for a in range(n):
        x[a] = p[a]
        for b in range(n):
            A[a, b] = work.M[a, b]
        for b in range(k):
            A[a, n + b] = A[n + b, a] = work.G[b, a]
    for b in range(k):
        x[n + b] = -work.g_t[b]
    if not lu(A, work.saddle_pivots):
        return False
    lu_solve(A, work.saddle_pivots, x)
    return True


@kernel
def fill_velocities(v, system, work, t, q, p):
    """v = M⁻¹ p on the constraints for many states; False where M is singular.

    v, q, p   (states, n)
    t         (states,)    [s]
    """
    for i in range(q.shape[0]):
        if not solve_velocity(system, work, t[i], q[i], p[i]):
            return False
        for a in range(system.n):
            v[i, a] = work.saddle_x[a]
    return True


@kernel
def fill_constraint_residuals(out, system, work, t, q):
    """Largest |g| at each of many states.

    out   (states,)      out
    t     (states,)      [s]
    q     (states, n)
    """
    if system.k == 0:
        return
    for i in range(q.shape[0]):
        fill_constraints(work.g, work.G, work.g_t, system, t[i], q[i])
        for b in range(system.k):
            out[i] = max(out[i], abs(work.g[b]))
