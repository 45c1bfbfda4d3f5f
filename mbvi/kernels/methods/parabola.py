"""Steps along the parabola whose action is stationary.

A parabola from q with the velocity v over the time 2τ is determined by one unknown u: its acceleration, or its place in
the middle less q. With h = 2τ c at the nodes of a quadrature, the chord q₀ from end to end and the variation σ with
fixed ends,

    place q + C_q v + A u,    velocity C_v v + B u,    place − q₀ = C_d v + D u

                u = a                          u = x₂ − q,  φ = 4c (1 − c),  χ = c (2c − 1)
    C_q, A      h,  h²/2                       −2τ χ,  φ + 4χ
    C_v, B      1,  h                          −2τ χ̇,  φ̇ + 4χ̇
    C_d, D      0,  h (h − 2τ)/2               τ φ,  −φ
    σ           3h (2τ − h)/4τ³                φ

the step solves R = Σ w [σ f + σ̇ p] = 0, or with forces that contribute to the action

    R = Σ w [σ f + σ̇ p + (σ F_qᵀ + σ̇ F_vᵀ)(place − q₀)] = 0

by Newton's iteration with its derivative with respect to u, without the second derivatives of F.

Units, with u the unit of a coordinate: t, tau, h [s]; c [1]; R [J/u], or of three points [J s/u].

Source: Mutze, A simple variational integrator for general holonomic mechanical systems, sections 3 and 4.
"""

import math

import numpy as np

from mbvi.kernels.algebra.saddle import (
    JACOBIAN,
    ONE_SIDE,
    ONE_STAGE,
    add_second,
    factor_saddle,
    fill_transposed,
    products_size,
    solve_saddle,
)
from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.compiler.packed import Packed, read_only
from mbvi.kernels.galerkin import tolerances
from mbvi.kernels.galerkin.tolerances import EPS
from mbvi.kernels.layout import NOT_CONVERGED, NOT_FINITE, OK, SINGULAR, System
from mbvi.kernels.mechanics.lagrangian import fill_gradient, fill_hessian, subtract_second_product
from mbvi.kernels.methods.stored_state import store_state

MAX_ITERATIONS = 30
SLOW = 0.1  # ratio of successive corrections from which the derivative is formed anew
# So many corrections of this size that do not shrink are the rounding of the forces themselves.
MAX_STALLS, SMALL = tolerances.VALUES[[tolerances.MAX_STALLS, tolerances.SMALL]].tolist()
# Columns of Space.count: totals of a run, and the iterations of the last step.
ITERATIONS, WORST, FACTORS, LAST = 0, 1, 2, 3


class Space(Packed):
    """The arrays that a run overwrites, and how it steps.

    points, weights                       (m,)              of the quadrature on [0, 1]
    is_three_point                        int               1: u is the place in the middle; 0: the acceleration
    is_force_varied                       int               1: forces contribute to the action
    q, v, a                               (n,)              the state, and the last acceleration
    u, R                                  (n,)              the unknown, and the residual
    node_q, node_v, node_p, node_f        (n,)              state, momentum and force at a node
    off                                   (n,)              place − q₀ at a node
    Lvv, Lvq, Kqv, Kqq                    (second_size,)    second derivatives of the whole system
    own_vv, own_vq, own_qv, own_qq        (second_size,)    those of its Lagrangian alone
    J                                     (matrix_size,)    ∂R/∂u, factored
    products                              (.,)              work of elimination
    count                                 (4,)              see the columns above
    """


def make_space(
    system: System, points: np.ndarray, weights: np.ndarray, q: np.ndarray, v: np.ndarray, *, is_three_point: bool = False,
    is_force_varied: bool = False,
) -> Space:  # fmt: skip
    """Workspace of a run from q, v (n,), with a quadrature of points and weights (m,)."""
    vectors = {key: np.zeros(system.n) for key in ("a", "u", "R", "node_q", "node_v", "node_p", "node_f", "off")}
    names = ("Lvv", "Lvq", "Kqv", "Kqq", "own_vv", "own_vq", "own_qv", "own_qq")
    return Space(
        **read_only(points=points, weights=weights),
        is_three_point=int(is_three_point),
        is_force_varied=int(is_force_varied),
        q=q.copy(),
        v=v.copy(),
        **vectors,
        **{key: np.zeros(system.second_size) for key in names},
        J=np.zeros(system.matrix_size),
        products=np.zeros(products_size(system)),
        count=np.zeros(4, np.int64),
    )


@kernel
def coefficients(c, tau, is_three_point):
    """(C_q, C_v, C_d, A, B, D, σ, σ̇) at the node c."""
    h = 2.0 * tau * c
    if is_three_point == 1:
        phi, chi = 4.0 * c * (1.0 - c), c * (2.0 * c - 1.0)
        phi_rate, chi_rate = (4.0 - 8.0 * c) / (2.0 * tau), (4.0 * c - 1.0) / (2.0 * tau)
        own = -2.0 * tau * chi, -2.0 * tau * chi_rate, tau * phi
        return (*own, phi + 4.0 * chi, phi_rate + 4.0 * chi_rate, -phi, phi, phi_rate)
    scale = 1.5 / tau**3
    off = 0.5 * h * (h - 2.0 * tau)
    return h, 1.0, 0.0, 0.5 * h * h, h, off, -scale * off, scale * (tau - h)


@kernel
def fill_variation(system, own, work, space, t, tau, has_derivative):
    """R into space.R, and with has_derivative ∂R/∂u, factored, into space.J; False if that is singular.

    own       System    the same system without forces that have no potential
    """
    R, u, off, J = space.R, space.u, space.off, space.J
    for a in range(system.n):
        R[a] = 0.0
    if has_derivative:
        J[:] = 0.0
    for i in range(space.points.shape[0]):
        time, weight = t + space.points[i] * (2.0 * tau), 2.0 * tau * space.weights[i]
        C_q, C_v, C_d, A, B, D, sigma, rate = coefficients(space.points[i], tau, space.is_three_point)
        for a in range(system.n):
            space.node_q[a] = space.q[a] + (C_q * space.v[a] + A * u[a])
            space.node_v[a] = C_v * space.v[a] + B * u[a]
            off[a] = C_d * space.v[a] + D * u[a]
        fill_gradient(space.node_p, space.node_f, system, work, time, space.node_q, space.node_v)
        for a in range(system.n):
            R[a] += weight * (sigma * space.node_f[a] + rate * space.node_p[a])
        if has_derivative or space.is_force_varied == 1:
            fill_hessian(space.Lvv, space.Lvq, space.Kqv, space.Kqq, system, work, time, space.node_q, space.node_v)
        if space.is_force_varied == 1:
            add_force_variation(R, system, own, work, space, time, weight * sigma, weight * rate)
        if has_derivative:
            x, y = weight * sigma, weight * rate
            add_second(J, system, y * B, y * A, x * B, x * A, space.Lvv, space.Lvq, space.Kqv, space.Kqq)
            if space.is_force_varied == 1:
                add_second(J, system, 0.0, 0.0, y * D, x * D, space.Lvv, space.Lvq, space.own_vv, space.own_vq)
    return not has_derivative or factor_saddle(
        J, space.products, work.scales, work.pivots, work.above, work.ranks, system, JACOBIAN, ONE_STAGE
    )


@kernel
def add_force_variation(R, system, own, work, space, t, x, y):
    """R += (x F_qᵀ + y F_vᵀ) off; F_vᵀ is left in space.own_vv and F_qᵀ in space.own_vq.

    R         (n,)      in and out
    own       System    the same system without forces that have no potential
    """
    fill_hessian(space.own_vv, space.own_vq, space.own_qv, space.own_qq, own, work, t, space.node_q, space.node_v)
    for e in range(space.own_qv.shape[0]):
        space.own_qv[e] = space.Kqv[e] - space.own_qv[e]
        space.own_qq[e] = space.Kqq[e] - space.own_qq[e]
    fill_transposed(space.own_vv, space.own_qv, system)
    fill_transposed(space.own_vq, space.own_qq, system)
    for a in range(system.n):
        space.node_f[a] = -x * space.off[a]
        space.node_p[a] = -y * space.off[a]
    subtract_second_product(R, space.own_vq, system, space.node_f)
    subtract_second_product(R, space.own_vv, system, space.node_p)


@kernel
def solve(system, own, work, space, t, tau):
    """The unknown of a step, starting from the last acceleration, into space.u; returns a status."""
    n, u = system.n, space.u
    scale = tau if space.is_three_point == 1 else 1.0 / tau  # unit of u, divided by that of a velocity
    for a in range(n):
        u[a] = tau * (space.v[a] + 0.5 * tau * space.a[a]) if space.is_three_point == 1 else space.a[a]
    before, stalls, is_stale = math.inf, 0, True
    for _ in range(MAX_ITERATIONS):
        if not fill_variation(system, own, work, space, t, tau, is_stale):
            return SINGULAR
        space.count[FACTORS] += is_stale
        space.count[LAST] += 1
        for a in range(n):
            work.permuted[system.places[a]] = space.R[a]
        solve_saddle(work.eliminated, work.permuted, space.J, system, JACOBIAN, ONE_STAGE, ONE_SIDE)
        change = size = check = 0.0
        for a in range(n):
            correction = work.eliminated[system.places[a]]
            u[a] -= correction
            change = max(change, abs(correction))
            size = max(size, abs(u[a]), abs(space.v[a]) * scale)
            check += 0.0 * u[a]
        if check != 0.0:
            return NOT_FINITE
        stalls += change > 0.5 * before and change <= SMALL * size
        if change <= EPS * size or stalls >= MAX_STALLS:
            return OK
        is_stale = change > SLOW * before
        before = change
    return NOT_CONVERGED


@kernel
def advance(system, own, work, space, t, h):
    """One step of size h from the time t; returns a status."""
    q, v, u, tau, count = space.q, space.v, space.u, 0.5 * h, space.count
    count[LAST] = 0
    work.step[0], work.step[1] = t, t + h
    status = solve(system, own, work, space, t, tau)
    if status != OK:
        return status
    for a in range(system.n):
        if space.is_three_point == 1:
            move = 4.0 * u[a] - h * v[a]
            space.a[a] = (move - 2.0 * u[a]) / tau**2
            q[a] += move
            v[a] = (1.5 * (move - u[a]) - 0.5 * u[a]) / tau
        else:
            space.a[a] = u[a]
            q[a] += h * (v[a] + tau * u[a])
            v[a] += h * u[a]
    count[ITERATIONS] += count[LAST]
    count[WORST] = max(count[WORST], count[LAST])
    return OK


@kernel
def run(system, own, work, space, t, h, every, out_q, out_p):
    """Advance through steps of sizes h, storing every `every`-th state; returns a status and the number of steps done.

    t, h           (steps,)       times at which the steps begin, and sizes [s]
    out_q, out_p   (stored, n)    out: coordinates and momenta  [u, J s/u], u the unit of a coordinate
    """
    for step in range(h.shape[0]):
        status = advance(system, own, work, space, t[step], h[step])
        if status != OK:
            return status, step
        if (step + 1) % every == 0:
            store_state(out_q, out_p, step // every, system, work, t[step] + h[step], space.q, space.v)
    return OK, h.shape[0]
