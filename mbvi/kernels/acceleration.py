"""Acceleration of a system without constraints: M a = ∂L/∂q + F − (∂p/∂q) v − ∂p/∂t."""

from mbvi.kernels.lagrangian import fill_gradient, solve_acceleration, solve_mass_saddle
from mbvi.kernels.layout import kernel

TIME_DIFFERENCE = 1e-5  # [s]


@kernel
def fill_acceleration(a, system, work, t, q, v):
    """a (n,) out, at (t, q, v); False where the mass matrix is singular."""
    if not solve_acceleration(system, work, t, q, v, work.rate):
        return False
    for i in range(system.n):
        a[i] = work.solution[i]
    if system.is_tree == 0 and has_momentum_rate(system, work, t, q, v):
        for i in range(system.n):
            work.solution[i] = -work.low[i]
        solve_mass_saddle(system, work)
        for i in range(system.n):
            a[i] += work.solution[i]
    return True


@kernel
def has_momentum_rate(system, work, t, q, v):
    """∂p/∂t into work.low, where a user's mass matrix depends on time; False where it does not. A difference, exact to 1e-10."""
    after, before = t + TIME_DIFFERENCE, t - TIME_DIFFERENCE
    fill_gradient(work.base, work.solution, work.row, system, work, after, q, v)
    fill_gradient(work.side, work.solution, work.row, system, work, before, q, v)
    is_moving = False
    for i in range(system.n):
        work.low[i] = (work.base[i] - work.side[i]) / (after - before)
        is_moving = is_moving or work.low[i] != 0.0
    return is_moving
