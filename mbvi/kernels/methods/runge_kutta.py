"""Explicit Runge–Kutta methods for q' = v, v' = a(t, q, v).

With the rates k_i = (v_i, a_i) of stage i, at the time t + c_i h and the state y_i,

    y_i = y + h Σ_{j < i} A_ij k_j,     y' = y + h Σ_i b_i k_i,     y = (q, v).

Units, with u the unit of a coordinate: t, h [s]; q [u]; v [u/s].

Source: Hairer, Nørsett & Wanner, Solving Ordinary Differential Equations I, section II.1.
"""

import numpy as np

from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.compiler.packed import Packed, read_only
from mbvi.kernels.layout import NOT_FINITE, OK, SINGULAR, System
from mbvi.kernels.mechanics.acceleration import fill_acceleration
from mbvi.kernels.methods.stored_state import store_state

FARTHEST = 1e16  # angle from which a rounding may be a turn [rad]


class Space(Packed):
    """A method of s stages, and the arrays that a run overwrites.

    A                 (s, s)    coefficients of the method
    b, c              (s,)      its weights and nodes
    q, v              (n,)      the state  [u, u/s], u the unit of a coordinate
    rate_q, rate_v    (s, n)    rates of the stages
    node_q, node_v    (n,)      state of a stage
    """


def make_space(system: System, A: np.ndarray, b: np.ndarray, c: np.ndarray, q: np.ndarray, v: np.ndarray) -> Space:
    """Workspace of a run from q, v (n,) with a method A (s, s), b (s,), c (s,)."""
    s, n = len(b), system.n
    return Space(
        **read_only(A=A, b=b, c=c),
        q=q.copy(),
        v=v.copy(),
        rate_q=np.zeros((s, n)),
        rate_v=np.zeros((s, n)),
        node_q=np.zeros(n),
        node_v=np.zeros(n),
    )


@kernel
def advance(system, work, space, t, h):
    """One step of size h from the time t; returns a status."""
    n, s = system.n, space.b.shape[0]
    work.step[0], work.step[1] = t, t + h
    q, v, node_q, node_v, rate_q, rate_v = space.q, space.v, space.node_q, space.node_v, space.rate_q, space.rate_v
    for i in range(s):
        for a in range(n):
            move = gain = 0.0
            for j in range(i):
                move += space.A[i, j] * rate_q[j, a]
                gain += space.A[i, j] * rate_v[j, a]
            node_q[a] = q[a] + h * move
            node_v[a] = rate_q[i, a] = v[a] + h * gain
        if not fill_acceleration(rate_v[i], system, work, t + space.c[i] * h, node_q, node_v):
            return SINGULAR if is_near(node_q) else NOT_FINITE
    check = 0.0
    for a in range(n):
        move = gain = 0.0
        for i in range(s):
            move += space.b[i] * rate_q[i, a]
            gain += space.b[i] * rate_v[i, a]
        q[a] += h * move
        v[a] += h * gain
        check += 0.0 * (q[a] + v[a])
    return OK if check == 0.0 else NOT_FINITE


@kernel
def is_near(q):
    """Whether numbers still determine angles: their rounding is less than a turn.

    q         (n,)    [rad]
    """
    for a in range(q.shape[0]):
        if not abs(q[a]) < FARTHEST:
            return False
    return True


@kernel
def run(system, work, space, t, h, every, out_q, out_p):
    """Advance through steps of sizes h, storing every `every`-th state; returns a status and the number of steps done.

    t, h           (steps,)       times at which the steps begin, and sizes [s]
    out_q, out_p   (stored, n)    out: coordinates and momenta  [u, J s/u]
    """
    for step in range(h.shape[0]):
        status = advance(system, work, space, t[step], h[step])
        if status != OK:
            return status, step
        if (step + 1) % every == 0:
            store_state(out_q, out_p, step // every, system, work, t[step] + h[step], space.q, space.v)
    return OK, h.shape[0]
