"""Acceleration of a system without constraints: M a = ∂L/∂q + F − (∂p/∂q) v − ∂p/∂t; and what the explicit time adds to it."""

from mbvi.kernels.lagrangian import solve_acceleration, solve_mass_saddle
from mbvi.kernels.layout import kernel
from mbvi.kernels.packed import call


@kernel
def fill_acceleration(a, system, work, t, q, v):
    """a (n,) out, at (t, q, v); False where the mass matrix is singular."""
    if not solve_acceleration(system, work, t, q, v, work.rate):
        return False
    for i in range(system.n):
        a[i] = work.solution[i]
    if system.time_rates != 0:
        fill_time_rates(work.low, work.g, system, t, q, v)
        for i in range(system.n):
            work.solution[i] = -work.low[i]
        solve_mass_saddle(system, work)
        for i in range(system.n):
            a[i] += work.solution[i]
    return True


@kernel
def fill_time_rates(p_t, g_tt, system, t, q, v):
    """∂p/∂t (n,) and 2 (∂G/∂t) v + ∂²g/∂t² (k,) of a user's M and g that depend on time; nothing where they do not."""
    if system.time_rates != 0:
        call(system.time_rates, t, (q, v, p_t, g_tt))
