"""Holonomic constraints g(t, q) = 0: values, Jacobian rows and the second derivatives of λᵀg.

    unit quaternion at coordinates a:   g = (|a|² − 1)/2,   G = aᵀ,   ∂²(λ g)/∂a² = λ 1

Source: Wendlandt & Marsden 1997, section on the rigid body in quaternions.
"""

from mbvi.kernels.layout import kernel
from mbvi.kernels.packed import call


@kernel
def fill_constraints(g, G, g_t, system, t, q):
    """Constraint values, Jacobian and explicit time derivative.

    g, g_t    (k,)      out
    G         (k, n)    out
    """
    for i in range(system.constraints.shape[0]):
        first = system.constraints[i, 1]
        total = -1.0
        G[i, :] = 0.0
        for j in range(first, first + 4):
            total += q[j] * q[j]
            G[i, j] = q[j]
        g[i] = 0.5 * total
        g_t[i] = 0.0
    if system.constraint != 0:
        call(system.constraint, t, (q, g, G, g_t))


@kernel
def add_curvature(out, system, t, q, lam):
    """Add ∂²(λᵀg)/∂q² to out (n, n)."""
    for i in range(system.constraints.shape[0]):
        first = system.constraints[i, 1]
        for j in range(first, first + 4):
            out[j, j] += lam[i]
    if system.constraint != 0:
        call(system.curvature, t, (q, lam, out))
