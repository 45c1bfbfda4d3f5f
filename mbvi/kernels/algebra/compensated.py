"""Sums over many steps, with the rounding error of each sum kept apart.

Units: x, low, increment [any unit].
"""

from mbvi.kernels.compiler.decorators import kernel


@kernel
def add_compensated(x, low, a, increment):
    """Add an increment to the sum x[a] + low[a], whose second part is the rounding error of the first.

    The error e of x + increment is exact, and low + e loses half a unit of the place of low's last digit: an increment as small
    as low counts beside a large one. Were low + increment added to x, what is below the rounding of the increment would be lost.

    x, low      (n,)      in and out, entry a alone
    increment   float     in the unit of x

    Sources: Knuth, The Art of Computer Programming 2 (1998), section 4.2.2, theorem B (the error of a sum); Dekker, Numer. Math.
    18 (1971) (sums of two numbers each).
    """
    total = x[a] + increment
    part = total - x[a]
    rest = low[a] + ((x[a] - (total - part)) + (increment - part))
    x[a] = total + rest
    low[a] = rest - (x[a] - total)
