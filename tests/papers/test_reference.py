"""The compiled kernels against the same schemes in 64 digits, and those below 1e-16."""

import numpy as np
import pytest
from mpmath import mp

import mbvi
from mbvi.papers import reference
from tests.marks import campaign

from ..physics import systems

SCHEMES = {"midpoint": (2, reference.midpoint), "simpson": (4, reference.simpson)}
CASES = {
    "double pendulum": (reference.double_pendulum, systems.double_pendulum_in_absolute_angles),
    "top": (lambda: reference.top("0.002329969592394382", "0.000125", "0.14715"), systems.lagrange_top_in_sympy),
}


@pytest.mark.parametrize("steps", [8, pytest.param(40, marks=campaign)])
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("case", CASES)
def test_kernels_match_to_round_off(case, scheme, steps):
    """At most forty steps, which end before the axis of the top nears the vertical, where its angles magnify rounding.

    Half a rounding in each step, of the largest value of the coordinate or momentum.
    """
    L, system = (each() for each in CASES[case])
    step = 0.01 if case == "double pendulum" else 0.005
    run = mbvi.simulate(system, scheme, step=step, duration=steps * step)
    states = reference.run(SCHEMES[scheme][1], L, run.q[0], run.p[0], step, steps)
    for values, exact in ((run.q, [q for q, _ in states]), (run.p, [p for _, p in states])):
        exact = np.array([[float(x) for x in each] for each in exact])
        for found, true in zip(values.T, exact.T, strict=True):
            assert np.abs(found - true).max() < steps / 2 * np.finfo(float).eps * np.abs(true).max()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("case", CASES)
def test_orders_below_double_precision(case, scheme):
    """The energy that a step adds, over its length: three steps, with errors from 1e-16 down."""
    L, (order, method) = CASES[case][0](), SCHEMES[scheme]
    q, p = ([1, 0.3], [0.07, -0.02]) if case == "double pendulum" else ([0, 1, 0], [0.032, 0.003, 0.03])
    steps = [mp.mpf(10) ** -k for k in ((8, 9, 10) if order == 2 else (4, 5, 6))]
    errors = [reference.energy_rate(method, L, q, p, h) for h in steps]
    assert errors[-1] < 1e-17
    assert errors[0] / errors[1] == pytest.approx(10**order, rel=1e-2)
    assert errors[1] / errors[2] == pytest.approx(10**order, rel=1e-3)


def test_the_reference_conserves_momenta_to_its_own_digits():
    L = reference.top("0.002329969592394382", "0.000125", "0.14715")
    states = reference.run(reference.simpson, L, ["0", "1", "0"], ["0.032", "0.003", "0.03"], "0.01", 4)
    assert max(abs(p[i] - states[0][1][i]) for _, p in states for i in (0, 2)) < mp.mpf(10) ** -60
