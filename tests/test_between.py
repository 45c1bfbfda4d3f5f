"""States of a run at any time: by steps that end there, to the order of the scheme, or on cubics."""

import numpy as np
import pytest

import mbvi
from mbvi.errors import StepError
from mbvi.exact.pendulum import Pendulum
from mbvi.steppers.part_step import PartStep

TIMES = [0.017, 0.333, 0.81, 1.3971]


@pytest.mark.parametrize(
    ("scheme", "order"), [("simpson", 4), ("lobatto4", 6), ("gauss4", 8), ("rk4", 4), ("midpoint", 2), ("suzuki4", 4)]
)
def test_states_between_have_the_order_of_the_scheme(scheme, order, models):
    """Coordinates and momenta, against the closed form; the stored states themselves where their times are asked for."""
    model = mbvi.load(models / "pendulum.yaml")
    exact = Pendulum(1.0, 9.81, 2 * np.pi / 3)
    errors, steps = [], [0.1, 0.05] if order > 2 else [0.02, 0.01]
    for step in steps:
        run = mbvi.simulate(model, scheme, step=step, duration=1.6)
        found = run.at(TIMES)
        q, v = exact(np.array(TIMES))
        errors.append(max(abs(found.q[:, 0] - q).max(), abs(found.p[:, 0] - v).max()))
        assert np.array_equal(run.at(run.t[3:9]).q, run.q[3:9])
        assert np.array_equal(run.at(run.t[-1]).p, run.p[-1:])
    assert np.log2(errors[0] / errors[1]) > order - 0.6


def test_with_loops_and_of_every_third_state(models):
    """The same states by the steps between those that are stored, on the constraints."""
    model = mbvi.load(models / "four_bar.yaml")
    all_states, some = (mbvi.simulate(model, "gauss3", step=0.01, duration=0.6, every=every) for every in (1, 3))
    times = np.linspace(0.0, 0.6, 23)
    found = some.at(times)
    assert np.allclose(all_states.at(times).q, found.q, rtol=0, atol=1e-13)
    assert found.constraint_residual().max() < 1e-13
    assert np.array_equal(found.t, times) and np.allclose(found.step_sizes, times[1])


def test_cubics_err_by_the_fourth_power(models):
    """As their documentation says: by at most H⁴ |d⁴q/dt⁴|/384 in q."""
    model = mbvi.load(models / "pendulum.yaml")
    times, errors = np.linspace(0.005, 1.6, 77), []
    for step in (0.04, 0.02):
        run = mbvi.simulate(model, "gauss6", step=step, duration=1.6)
        errors.append([abs(getattr(run.at(times, fast=True), key) - getattr(run.at(times), key)).max() for key in "qv"])
    orders = np.log2(np.array(errors[0]) / errors[1])
    assert 3.8 < orders[0] < 4.2 and 2.8 < orders[1] < 3.2


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ([0.1, 0.1], "times: expected increasing times, found 0.1 after 0.1; sort them"),
        ([0.1, 1.2], "times: expected times from 0 s to 1 s, as the trajectory has, found 1.2 s"),
        ([[0.1]], "times: expected finite numbers of seconds"),
        ("soon", "times: expected finite numbers of seconds, found 'soon'"),
        ([], "times: expected finite numbers of seconds"),
    ],
)
def test_times_that_are_none(times, message, models):
    run = mbvi.simulate(mbvi.load(models / "pendulum.yaml"), step=0.1, duration=1.0)
    with pytest.raises(mbvi.ModelError, match=message):
        run.at(times)


def test_a_part_of_a_step_that_fails_says_where(models, monkeypatch):
    def fail(*_):
        raise StepError(
            "Newton's iteration did not converge. The stored states before it are in error.trajectory. Try less."
        )

    run = mbvi.simulate(mbvi.load(models / "pendulum.yaml"), "gauss4", step=0.1, duration=0.4)
    monkeypatch.setattr(PartStep, "__call__", fail)
    expected = r"^the part of a step from t = 0\.2 s to 0\.25 s: Newton's iteration did not converge\. Try less\.$"
    with pytest.raises(StepError, match=expected):
        run.at(0.25)
