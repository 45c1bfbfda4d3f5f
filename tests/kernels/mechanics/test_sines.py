"""Cosine and sine by polynomials, against those of mpmath with forty digits."""

import mpmath
import numpy as np
import pytest
from numba import njit

from mbvi.kernels.compiler.lanes import lanes
from mbvi.kernels.mechanics.sines import NEAR, cosine_and_sine, turned

ROUNDING = 2.0**-53  # of numbers between 1/2 and 1


@njit
def values(x, cosines, sines):
    for i in range(x.shape[0]):
        cosines[i], sines[i] = cosine_and_sine(x[i])


@njit
def values_in_lanes(x, cosines, sines):
    c, s = lanes(cosines), lanes(sines)
    for i in range(x.shape[0] // 4):
        c[i], s[i] = cosine_and_sine(lanes(x)[i])


def computed(x, kernel=values):
    found = np.full((2, len(x)), np.nan)
    kernel(x, *found)
    return found


def exact(x):
    with mpmath.workdps(40):
        return [(mpmath.cos(each), mpmath.sin(each)) for each in map(float, x)]


def errors(x):
    """In roundings of numbers between 1/2 and 1."""
    with mpmath.workdps(40):
        pairs = zip(computed(x).T, exact(x), strict=True)
        return (
            np.array([[float(mpmath.mpf(float(a)) - b) for a, b in zip(*pair, strict=True)] for pair in pairs])
            / ROUNDING
        )


QUARTERS = np.arange(-40, 41) * (np.pi / 4)


@pytest.mark.parametrize(
    "x",
    [
        np.random.default_rng(1).uniform(-np.pi, np.pi, 4000),
        np.random.default_rng(2).uniform(-1e6, 1e6, 4000),
        np.concatenate([np.nextafter(QUARTERS, -np.inf), QUARTERS, np.nextafter(QUARTERS, np.inf)]),
        np.concatenate([np.logspace(-300, 0, 500), -np.logspace(-300, 0, 500)]),
    ],
    ids=["a turn", "many turns", "quarters", "small"],
)
def test_cosine_and_sine_are_right_to_a_rounding(x):
    assert np.abs(errors(x)).max() < 1.0


def test_the_error_of_many_angles_has_no_sign():
    x = np.random.default_rng(3).uniform(-np.pi, np.pi, 20000)
    found = errors(x)
    assert np.abs(found.mean(axis=0)).max() < 4.0 * found.std() / np.sqrt(len(x))


def test_far_angles_are_those_of_a_neighbour():
    x = np.array([3e6, -2e7, 1e9, 5e11])
    with mpmath.workdps(40):
        wrong = np.abs(errors(x)).max(axis=1) * ROUNDING
    assert np.all(wrong < 2.0 * np.spacing(np.abs(x)))


def test_small_angles_keep_their_digits():
    x = np.logspace(-300, -1, 300)
    _, sines = computed(x)
    assert np.all(np.abs(sines - [float(s) for _, s in exact(x)]) <= np.spacing(x))


def test_zero_and_no_number():
    cosines, sines = computed(np.array([0.0, np.inf, -np.inf, np.nan]))
    assert (cosines[0], sines[0]) == (1.0, 0.0)
    assert np.isnan(cosines[1:]).all()
    assert np.isnan(sines[1:]).all()


@pytest.mark.parametrize("size", [NEAR, 1e-2, 1e-5, 1e-12, 0.0])
def test_angles_turned_are_right_to_a_rounding_and_a_half(size):
    random = np.random.default_rng(5)
    x, d = random.uniform(-np.pi, np.pi, 4000), size * np.append(random.uniform(-1, 1, 3998), [1, -1])
    cosines, sines = computed(x)
    found = np.array([turned(*each) for each in zip(cosines, sines, d, strict=True)])
    with mpmath.workdps(40):
        sums = [mpmath.mpf(a) + mpmath.mpf(b) for a, b in zip(map(float, x), map(float, d), strict=True)]
        wrong = [(float(c - mpmath.cos(y)), float(s - mpmath.sin(y))) for (c, s), y in zip(found, sums, strict=True)]
    assert np.abs(wrong).max() < 1.6 * ROUNDING


def test_lanes_hold_what_numbers_do():
    x = np.random.default_rng(4).uniform(-1e3, 1e3, 400)
    np.testing.assert_allclose(computed(x, values_in_lanes), computed(x), rtol=0, atol=2 * ROUNDING)
