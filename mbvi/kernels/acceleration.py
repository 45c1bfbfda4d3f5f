"""Acceleration of a system without constraints: M a = ∂L/∂q + F − (∂p/∂q) v − ∂p/∂t."""

from mbvi.kernels.lagrangian import fill_gradient, solve_acceleration, solve_mass_saddle
from mbvi.kernels.layout import kernel

REACH = 0.1  # of a difference in time, of the step


@kernel
def fill_acceleration(a, system, work, t, q, v, h):
    """a (n,) out, at (t, q, v), for a step of size h; False where the mass matrix is singular."""
    if not solve_acceleration(system, work, t, q, v, work.rate):
        return False
    for i in range(system.n):
        a[i] = work.solution[i]
    if system.is_tree == 0 and has_momentum_rate(system, work, t, q, v, REACH * h):
        for i in range(system.n):
            work.solution[i] = -work.low[i]
        solve_mass_saddle(system, work)
        for i in range(system.n):
            a[i] += work.solution[i]
    return True


@kernel
def has_momentum_rate(system, work, t, q, v, reach):
    """∂p/∂t into work.low, where a user's mass matrix depends on time; False where it does not.

    A difference of order 4, (4 D(s) − D(2s))/3 with D(s) = (p(t + s) − p(t − s))/2s, over a part s of the step: its error falls
    as that of the steps, however fast the mass changes.
    """
    is_moving = False
    for k in range(1, 3):
        after, before = t + k * reach, t - k * reach
        factor = 4.0 / 3.0 if k == 1 else -1.0 / 3.0
        fill_gradient(work.base, work.solution, work.row, system, work, after, q, v)
        fill_gradient(work.side, work.solution, work.row, system, work, before, q, v)
        for i in range(system.n):
            rate = factor * (work.base[i] - work.side[i]) / (after - before)
            work.low[i] = rate if k == 1 else work.low[i] + rate
            is_moving = is_moving or rate != 0.0
        if not is_moving:
            return False
    return True
