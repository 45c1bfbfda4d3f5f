"""The free rotation of a rigid body by kernels, beside its closed form."""

import numpy as np
import pytest

from mbvi.exact import FreeBody
from mbvi.kernels.mechanics.free_rotation import SERIES, turn_freely
from mbvi.model.rotations import rotation_matrix

EPS = np.finfo(float).eps
IDENTITY = (1.0, 0.0, 0.0, 0.0)


def turned(inertia, omega, h, start=IDENTITY):
    """Quaternion and angular velocity after the time h."""
    y, low = np.concatenate([start, np.array(inertia) * omega]), np.zeros(7)
    turn_freely(y, low, 1 / np.array(inertia), np.zeros(SERIES), h)
    return y[:4], y[4:] / inertia


CASES = {
    "three moments": ((5.0, 10.0, 13.0), (0.3, -1.0, 2.0)),
    "beside the middle axis": ((5.0, 10.0, 13.0), (0.01, 2.0, 0.0)),
    "against the first axis": ((5.0, 10.0, 13.0), (-3.0, 0.8, -0.5)),
    "against the middle axis": ((5.0, 10.0, 13.0), (0.4, -2.0, 0.3)),
    "separatrix": ((5.0, 10.0, 13.0), (np.sqrt(0.75 / 10.0), 0.5, np.sqrt(0.15 / 5.2))),
    "about the first axis": ((5.0, 10.0, 13.0), (3.0, 0.0, 0.0)),
    "symmetric, flat": ((1.0, 1.0, 1.9), (0.4, -0.3, 5.0)),
    "symmetric, long": ((1.0, 1.0, 0.05), (0.4, 0.3, 20.0)),
    "nearly symmetric": ((1.0, 1.0 + 1e-9, 0.5), (0.4, 0.3, 2.0)),
    "sphere": ((2.0, 2.0, 2.0), (1.0, -2.0, 0.5)),
    "rest": ((5.0, 10.0, 13.0), (0.0, 0.0, 0.0)),
    "slow": ((5.0, 10.0, 13.0), (1e-9, 2e-9, -1e-9)),
}


@pytest.mark.parametrize("h", [0.01, 0.7, -1.3, 25.0])
@pytest.mark.parametrize(("inertia", "omega"), CASES.values(), ids=CASES)
def test_closed_form(inertia, omega, h):
    exact = FreeBody(inertia, omega)
    x, w = turned(inertia, omega, h)
    bound = 10 * EPS * (1 + abs(h) * np.linalg.norm(omega))
    np.testing.assert_allclose(rotation_matrix(tuple(x)), exact.rotation(np.array(h)), atol=bound)
    np.testing.assert_allclose(w, exact(np.array(h))[1], atol=bound * max(np.linalg.norm(omega), 1e-300))
    assert abs(np.linalg.norm(x) - 1) <= 2 * EPS


def test_a_turn_in_parts_is_the_turn():
    inertia, omega = CASES["three moments"]
    start = np.array([0.5, -0.5, 0.5, 0.5])
    whole, parts = turned(inertia, omega, 3.0, start), (start, np.array(omega))
    for _ in range(6):
        parts = turned(inertia, parts[1], 0.5, parts[0])
    np.testing.assert_allclose(np.concatenate(parts), np.concatenate(whole), atol=1e-14)


def test_what_a_step_does_a_step_back_undoes():
    inertia, omega = CASES["three moments"]
    x, w = turned(inertia, omega, 2.0)
    back, rate = turned(inertia, w, -2.0, x)
    np.testing.assert_allclose(np.concatenate([back, rate]), [*IDENTITY, *omega], atol=1e-14)


@pytest.mark.parametrize("h", [np.nan, np.inf, 1e9])
def test_a_turn_too_long_is_not_a_number(h):
    x, w = turned((5.0, 10.0, 13.0), (0.3, -1.0, 2.0), h)
    assert np.isnan(x).all()
    assert np.isnan(w).all()
