"""States of the methods on coordinates and velocities, stored while they run."""

from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.mechanics.lagrangian import fill_gradient


@kernel
def store_state(out_q, out_p, stored, system, work, t, q, v):
    """q and p = ∂L/∂v at (t, q, v) into a row of out_q and out_p (., n)."""
    for a in range(system.n):
        out_q[stored, a] = q[a]
    fill_gradient(out_p[stored], work.side, system, work, t, q, v)
