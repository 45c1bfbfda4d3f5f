"""The power of what changes the energy of a system: forces that derive from no potential, and prescribed motions.

    d/dt (T + V) = v·F − λ·∂g/∂t,

since constraint forces Gᵀλ do the work λ·(G v) = −λ·∂g/∂t.

Units, with u the unit of a coordinate: t [s]; q [u]; lam [J/unit of g]; side [1].

Source: Goldstein, Poole & Safko, Classical Mechanics (2002), section 2.7 (the energy function).
"""

import math

from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.mechanics.constraints import fill_constraints
from mbvi.kernels.mechanics.lagrangian import fill_gradient


@kernel
def fill_powers(out, system, unforced, work, side, t, q, v):
    """v·F of many states: the power of all forces less that of the forces that derive from a potential.

    out        (states,)      out  [W]
    unforced   System         the same system without the other forces
    side       float          side from which a table is read that jumps at t: −1 before t, 1 after it
    t          (states,)      [s]
    q, v       (states, n)    [u, u/s], u the unit of a coordinate
    """
    for i in range(q.shape[0]):
        out[i] = 0.0
        work.step[0], work.step[1] = t[i], t[i] + side
        fill_gradient(work.base, work.side, system, work, t[i], q[i], v[i])
        for a in range(system.n):
            out[i] += v[i, a] * work.side[a]
        fill_gradient(work.base, work.side, unforced, work, t[i], q[i], v[i])
        for a in range(system.n):
            out[i] -= v[i, a] * work.side[a]
    work.step[0] = work.step[1] = math.nan


@kernel
def subtract_drive_powers(out, system, work, t, q, lam):
    """Subtract the power λ·∂g/∂t of prescribed motions in many states.

    out       (states,)      in and out  [W]
    t         (states,)      [s]
    q, lam    (states, n), (states, k)
    """
    for i in range(q.shape[0]):
        fill_constraints(work.g, work.G, work.g_t, system, work, t[i], q[i])
        for b in range(system.k):
            out[i] -= lam[i, b] * work.g_t[b]
