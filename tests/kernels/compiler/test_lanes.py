"""Lanes compute four times what a number computes once, by the same code."""

import numpy as np
import pytest
from numba import njit

from mbvi.kernels.compiler.lanes import (
    first_halves,
    lanes,
    lanes_at,
    larger,
    part,
    put_lanes,
    total,
    wide_lanes,
    widest,
    width_of,
)


@njit
def formula(x, y, out):
    """Every operation, of numbers and of elements of arrays of one axis and of two."""
    for i in range(2):
        a, b = x[i], y[i, 1]
        result = 0.0
        if i > 0:
            result = 2.0 * a
        result += (a - b) / (3.0 + b * b) - 1.0 / a
        result *= 0.5
        result -= -a
        result /= 2
        y[i, 0] += result
        out[i] = y[i, 0] - 1


@njit
def formula_in_lanes(x, y, out):
    formula(lanes(x), lanes(y), lanes(out))


@njit
def formula_in_wide_lanes(x, y, out):
    formula(wide_lanes(x), wide_lanes(y), wide_lanes(out))


@njit
def measures(x):
    a = lanes(x)
    size = larger(0.0 * a[0], a[0])
    size = larger(size, a[1])
    return total(a[0]), widest(size), part(a[1], 2), total(2.5), widest(larger(1.0, -4.0))


@njit
def measures_of_eight(x):
    a = wide_lanes(x)
    return total(a[0]), widest(larger(0.0 * a[0], a[0])), part(a[0], 6), width_of(a), width_of(lanes(x))


@pytest.mark.parametrize(("in_lanes", "width"), [(formula_in_lanes, 4), (formula_in_wide_lanes, 8)])
def test_a_formula_in_lanes_is_that_of_numbers(in_lanes, width):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, width)), rng.normal(size=(2, 3, width))
    out, seen = np.zeros((2, width)), y.copy()
    in_lanes(x, seen, out)
    for lane in range(width):
        expected, changed = np.zeros(2), y[:, :, lane].copy()
        formula(x[:, lane].copy(), changed, expected)
        np.testing.assert_allclose(out[:, lane], expected, rtol=0, atol=1e-15)
        np.testing.assert_allclose(seen[:, :, lane], changed, rtol=0, atol=1e-15)


@njit
def subtract_from_third(x, factor):
    rows = lanes(x)
    rows[2] = rows[2] - factor * rows[0]


def test_lanes_of_one_axis_are_four_numbers_one_after_the_other():
    x = np.arange(16.0)
    subtract_from_third(x, 3.0)
    assert x.tolist() == [*range(8), 8, 6, 4, 2, *range(12, 16)]


def test_measures_of_lanes():
    x = np.array([[1.0, -7.0, 0.25, 2.0], [3.0, 5.0, -0.5, -6.0]])
    assert measures(x) == (-3.75, 7.0, -0.5, 2.5, 4.0)


def test_measures_of_eight():
    x = np.array([1.0, -7.0, 0.25, 2.0, 3.0, 5.0, -0.5, -16.0])
    assert measures_of_eight(x) == (-12.25, 16.0, -0.5, 8, 4)


@njit
def four_from_anywhere(x, out):
    put_lanes(out, 2, 2 * lanes_at(x, 1))
    put_lanes(out, 7, first_halves(lanes_at(x, 0), lanes_at(x, 4)))


def test_lanes_from_any_place_on():
    out = np.zeros(12)
    four_from_anywhere(np.arange(8.0), out)
    assert out.tolist() == [0, 0, 2, 4, 6, 8, 0, 0, 1, 4, 5, 0]
