"""Sums whose rounding errors are kept."""

from fractions import Fraction

import numpy as np

from mbvi.kernels.algebra.compensated import add_compensated


def test_rounding_errors_of_sums_are_kept_to_rounding():
    """Also those of increments that are far smaller than others: each alone is lost in the rounding of the next."""
    random = np.random.default_rng(1)
    x, low, exact = np.array([0.3]), np.zeros(1), Fraction(0.3)
    for _ in range(200):
        for increment in (random.normal(), 1e-18 * random.random()):
            add_compensated(x, low, 0, increment)
            exact += Fraction(increment)
    assert abs(Fraction(x[0]) + Fraction(low[0]) - exact) < 1e-29
