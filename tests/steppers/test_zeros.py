"""Zeros and extrema of functions in a step, also of those that are rounding there."""

import numpy as np
import pytest

from mbvi.steppers.zeros import find_least, find_zero


@pytest.mark.parametrize("place", [1e-9, 0.1, 1 / 3, 0.9])
def test_a_zero_is_found_to_rounding(place):
    assert find_zero(lambda x: np.expm1(x - place), 0.0, 1.0) == pytest.approx(place, rel=1e-15, abs=2e-15)


@pytest.mark.parametrize("flat", [1e-12, 1e-13, 1e-14])
def test_a_zero_at_the_end_of_a_plateau_is_found(flat):
    """Values of a run may be the same rounding over many places, along which the method creeps."""
    root = find_zero(lambda x: 6e-19 if 0.0 <= x - 0.0384 <= flat else 1e-3 * (0.0384 - x), 0.0, 1.0)
    assert 0.0384 - 1e-15 <= root <= 0.0384 + flat + 1e-15


def test_the_least_is_found_to_the_root_of_rounding():
    assert find_least(lambda x: (x - 0.3) ** 2, 0.0, 1.0) == pytest.approx(0.3, rel=0, abs=1e-8)
