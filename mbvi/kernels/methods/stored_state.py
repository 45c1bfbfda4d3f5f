"""States of the methods on coordinates and velocities, as they are stored during a run.

This module has no formula of its own: p is the momentum of `mbvi.kernels.mechanics.lagrangian`.

Units: t [s].

Sources: those of `mbvi.kernels.mechanics.lagrangian`.
"""

from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.mechanics.lagrangian import fill_gradient


@kernel
def store_state(out_q, out_p, stored, system, work, t, q, v):
    """q and p = ∂L/∂v at (t, q, v) into a row of out_q and out_p; work.side is overwritten.

    out_q, out_p   (rows, n)    out, row `stored` alone  [u, J s/u], u the unit of a coordinate
    q, v           (n,)         [u, u/s]
    """
    for a in range(system.n):
        out_q[stored, a] = q[a]
    fill_gradient(out_p[stored], work.side, system, work, t, q, v)
