"""Errors of an oscillation in the interaction picture."""

import numpy as np
import pytest

from mbvi.analysis.interaction import oscillation_errors
from mbvi.errors import ModelError
from mbvi.exact import DampedOscillator

OSCILLATOR = DampedOscillator(mass=2.0, damping=-0.3, stiffness=5.0, position=1.0, velocity=0.5)
TIMES = np.linspace(3.0, 23.0, 101)


def test_states_taken_back_by_the_exact_motion():
    """Equation 92 state by state: from any position and velocity, back to the start by the closed form."""
    x, v = OSCILLATOR(TIMES - 3.0)
    x, v = x * (1 + 0.01 * np.sin(TIMES)), v + 0.02 * np.sqrt(TIMES - 3.0) * np.abs(v).max()
    rho, omega = OSCILLATOR.decay, 2 * np.pi / OSCILLATOR.period
    taken = []
    for t, position, velocity in zip(TIMES, x, v, strict=True):
        state = DampedOscillator(mass=2.0, damping=-0.3, stiffness=5.0, position=position, velocity=velocity)
        back, rate = state(3.0 - t)
        taken.append(complex(back, -(rate + rho * back) / omega))
    errors = oscillation_errors(OSCILLATOR, TIMES, x, v)
    np.testing.assert_allclose(errors.amplitude, np.abs(taken) / abs(taken[0]) - 1, rtol=0, atol=1e-12)
    turned = np.exp(1j * errors.phase) - np.array(taken) / np.abs(taken) * abs(taken[0]) / taken[0]
    assert np.abs(turned).max() < 1e-12


def test_a_faster_oscillation_that_grows_more():
    """Phase and amplitude of e^(−σt) cos(νt) against e^(−ρt) cos(ωt), beyond a turn."""
    rho, omega = OSCILLATOR.decay, 2 * np.pi / OSCILLATOR.period
    t = np.linspace(0, 200, 4001)
    growth, gain = 1e-3, 0.05
    x = np.exp((growth - rho) * t) * np.cos((omega + gain) * t)
    # the velocity that has this complex amplitude: x − i (v + ρ x)/ω = e^((growth − ρ + i (ω + gain)) t)
    v = -omega * np.exp((growth - rho) * t) * np.sin((omega + gain) * t) - rho * x
    errors = oscillation_errors(OSCILLATOR, t, x, v)
    np.testing.assert_allclose(errors.phase, gain * t, rtol=0, atol=1e-10)
    np.testing.assert_allclose(errors.amplitude, np.exp(growth * t) - 1, rtol=0, atol=1e-11)


@pytest.mark.parametrize(
    ("oscillator", "states", "message"),
    [
        (
            OSCILLATOR,
            ([0, 1], [1, 2], [1]),
            r"x: expected a position and a velocity for each time, found shapes \(2,\)",
        ),
        (OSCILLATOR, ([], [], []), "x: expected a position and a velocity for each time"),
        (OSCILLATOR, ([0, 1], [0, 1], [0, 1]), "x: expected a motion that starts away from rest"),
        (
            DampedOscillator(mass=1, damping=3, stiffness=1, position=1),
            ([0, 1], [1, 1], [0, 0]),
            "oscillator: expected an underdamped one, found damping 3 N s/m",
        ),
        (OSCILLATOR, ([0, 1], [1, np.nan], [0, 0]), "x: expected finite times, positions and velocities"),
    ],
)
def test_refused(oscillator, states, message):
    with pytest.raises(ModelError, match=message):
        oscillation_errors(oscillator, *states)
