"""Sums over many steps, with the rounding error of each sum kept apart."""

from mbvi.kernels.compiler.decorators import kernel


@kernel
def add_compensated(x, low, a, increment):
    """Add an increment to the sum x[a] + low[a], whose second part is the rounding error of the first.

    x, low      (n,)      in and out, entry a alone
    increment   float     in the unit of x

    Sources: Kahan, Commun. ACM 8 (1965), page 40; Higham, Accuracy and Stability of Numerical Algorithms (2002),
    section 4.3.
    """
    y = low[a] + increment
    total = x[a] + y
    low[a] = (x[a] - total) + y
    x[a] = total
