"""Gaps of stops: values of constraints in many states.

Units, with u the unit of a coordinate: rows, signs [1]; t [s]; q [u]; v [u/s].
"""

from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.mechanics.constraints import fill_curvature_rate, fill_values


@kernel
def fill_gaps(out, rows, signs, g, G, g_t, system, work, t, q):
    """σ g of some constraints, which is positive where the stop that they belong to is open.

    out        (states, m)    out  [m or rad]
    rows       (m,)           rows of the constraints
    signs      (m,)           σ
    g, G, g_t  (k,), (E,), (k,)    work
    t, q       (states,), (states, n)
    """
    for i in range(q.shape[0]):
        fill_values(g, G, g_t, system, work, t[i], q[i])
        for j in range(rows.shape[0]):
            out[i, j] = signs[j] * g[rows[j]]


@kernel
def fill_gap_curvatures(out, system, work, t, q, v):
    """vᵀ (∂²g/∂q²) v of all constraints in one state.

    out   (k,)    out  [m/s² or rad/s²]
    t     [s]
    q, v  (n,)
    """
    fill_curvature_rate(out, system, work, t, q, v)
