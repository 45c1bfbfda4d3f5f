"""Steps that fall on a singular configuration of loops are done in two parts."""

import warnings

import numpy as np
import pytest

import mbvi

from ..benchmarks.systems import load

ALIKE = {
    "A0.angle": -1,
    "A1.angle": -1,
    "A2.angle": -1,
    "B0.angle": 1,
    "B1 left.angle": -1,
    "B1 right.angle": 1,
    "B2.angle": -1,
}
STEP, SPEED = 0.005, 4.0  # [s], [rad/s]


def start():
    """The system of two four-bars, and coordinates and rates half a step before all bars are in line: a node falls on that."""
    system = mbvi.assemble(load("n_four_bars"))
    turns = np.array([ALIKE[name] for name in system.coordinate_names])
    return system, turns * (np.pi / 2 - SPEED * STEP / 2), turns * SPEED


def run(step, duration, **options):
    system, q, v = start()
    return mbvi.simulate(system, "simpson", step=step, duration=duration, initial_q=q, initial_v=v, **options)


def test_a_step_on_a_singular_configuration_is_passed():
    """With steps that miss it there are no parts, and the motion is the same to what steps err."""
    with pytest.warns(mbvi.errors.SingularityWarning, match=r"^step 0 \(t = 0 s\): falls on a singular configuration"):
        passed = run(STEP, 20 * STEP)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other = run(STEP / 9.7, 20 * STEP, every=194)
    assert abs(passed.q[-1] - other.q[-1]).max() < 1e-8
    assert np.ptp(passed.energy()) < 1e-8 * passed.kinetic_energy().max()
    assert passed.constraint_residual().max() < 1e-14


def test_states_are_those_of_any_number_stored():
    with pytest.warns(mbvi.errors.SingularityWarning):
        every, second, last = (run(STEP, 20 * STEP, every=k) for k in (1, 2, 20))
    assert np.array_equal(every.q[::2], second.q) and np.array_equal(every.p[::2], second.p)
    assert np.array_equal(every.q[::20], last.q) and np.array_equal(every.p[::20], last.p)


def test_members_of_ensembles_pass_too():
    names = [name.removesuffix(".angle") for name in ALIKE]
    values = {f"q.{name}.angle": ALIKE[f"{name}.angle"] * (np.pi / 2 - SPEED * STEP / 2) for name in names}
    values |= {f"v.{name}.angle": ALIKE[f"{name}.angle"] * SPEED for name in names}
    with pytest.warns(mbvi.errors.SingularityWarning):
        members = mbvi.ensemble(load("n_four_bars"), values | {"mass": [1.0]}, "simpson", STEP, 20 * STEP)
    assert members["status"].item() == 0
