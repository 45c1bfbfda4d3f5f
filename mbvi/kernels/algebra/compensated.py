"""Sums over many steps, with what rounding leaves of them."""

from mbvi.kernels.compiler.decorators import kernel


@kernel
def add_compensated(x, low, a, increment):
    """x[a] + low[a] += increment, with the rounding error kept in low[a].

    Source: Kahan, Commun. ACM 8 (1965).
    """
    y = low[a] + increment
    total = x[a] + y
    low[a] = (x[a] - total) + y
    x[a] = total
