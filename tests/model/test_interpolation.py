"""Splines that leave the values of their tables."""

import itertools

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import mbvi
from mbvi.model.interpolation import find_overshoot

PULSE = (0, 1, 1.001, 2, 2.001, 3), (0, 0, 5, 5, 0, 0)


def spline(times, values, interpolation="spline"):
    return mbvi.Table(times=tuple(times), values=tuple(values), interpolation=interpolation)


@pytest.mark.parametrize("points", [PULSE, ((0, 1, 2, 3), (0, 1, 1, 0)), ((0, 1, 2, 3, 4, 5), (0, 0, 0, -1, -1, -1))])
def test_overshoot_is_where_the_spline_is_farthest_out(points):
    found, (times, values) = find_overshoot(spline(*points)), np.array(points, float)
    fine = np.unique(np.concatenate([np.linspace(a, b, 20001) for a, b in itertools.pairwise(times)]))
    cubic = CubicSpline(times, values)
    at = np.clip(np.searchsorted(times, fine, "right") - 1, 0, len(times) - 2)
    beyond = np.maximum(
        cubic(fine) - np.maximum(values[at], values[at + 1]), np.minimum(values[at], values[at + 1]) - cubic(fine)
    )
    worst = np.argmax(beyond)
    assert found.size() == pytest.approx(beyond[worst], rel=1e-6)
    assert found.value == pytest.approx(cubic(fine[worst]), rel=1e-6)
    assert found.time == pytest.approx(fine[worst], abs=1e-4)
    assert found.rate == pytest.approx(abs(cubic(fine, 1)).max(), rel=1e-6)
    assert (found.before[0], found.after[0]) == (times[at[worst]], times[at[worst] + 1])


@pytest.mark.parametrize("count", [8, 10, 13, 20, 100])
def test_spline_through_a_smooth_motion_does_not_overshoot(count):
    for shift in np.linspace(0, 1, 7):
        times = (np.arange(3 * count) + shift) / count
        assert find_overshoot(spline(times, np.sin(2 * np.pi * times))) is None


@pytest.mark.parametrize(
    "points", [((0, 1), (0, 1)), ((0, 1, 2), (0, 1, 0)), (range(9), [5.1] * 9), (range(9), np.arange(9) ** 2.0)]
)
def test_what_keeps_between_its_neighbours_does_not_overshoot(points):
    assert find_overshoot(spline(*points)) is None


def test_only_splines_overshoot():
    assert all(find_overshoot(spline(*PULSE, kind)) is None for kind in ("linear", "hold", "smooth"))


def test_a_jump_in_a_table_that_holds():
    """Also at its first entry, before which its first value holds, as with the other interpolations."""
    table = {"times": [1, 1, 2, 3, 3], "values": [5, 1, -2, -2, 4], "interpolation": "hold"}
    joint = mbvi.Prismatic(parent="world", child="cart", axis=(1, 0, 0))
    motor = mbvi.JointForce(joint="rail", value=table)
    cart = mbvi.Model(
        name="cart",
        gravity=(0, 0, 0),
        bodies={"cart": mbvi.Body(mass=2)},
        joints={"rail": joint},
        forces={"motor": motor},
    )
    run = mbvi.simulate(cart, "lobatto4", step=0.5, duration=4.0)
    assert run.p[::2, 0] == pytest.approx([0, 5, 6, 4, 8], abs=1e-14)


def model(**constraints):
    joint = mbvi.Prismatic(parent="world", child="cart", axis=(1, 0, 0))
    return mbvi.Model(
        name="cart",
        gravity=(0, 0, 0),
        bodies={"cart": mbvi.Body(mass=2)},
        joints={"rail": joint},
        constraints=constraints,
    )


def test_run_warns_of_a_spline_that_swings():
    drive = mbvi.PrescribedCoordinate(joint="rail", value={"times": PULSE[0], "values": PULSE[1]})
    with pytest.warns(
        mbvi.errors.ModelWarning, match=r"constraints\.drive\.value: the spline through its table reaches"
    ) as warned:
        mbvi.simulate(model(drive=drive), step=0.01, duration=0.1)
    assert warned[0].filename == __file__
    assert issubclass(mbvi.errors.ModelWarning, mbvi.errors.MbviWarning)


def test_ensemble_warns_once_of_a_spline_that_swings():
    drive = mbvi.PrescribedCoordinate(joint="rail", value={"times": PULSE[0], "values": PULSE[1]})
    varied = model(drive=drive).replaced({"parameters": {"load": 2}, "bodies": {"cart": mbvi.Body(mass="load")}})
    with pytest.warns(
        mbvi.errors.ModelWarning, match=r"constraints\.drive\.value: the spline through its table"
    ) as warned:
        mbvi.ensemble(varied, {"load": [1, 2, 3]}, step=0.01, duration=0.1)
    assert [each.filename for each in warned] == [__file__]


def test_motion_follows_its_spline_and_has_its_acceleration():
    times, places = (0, 0.4, 1.1, 2), (0, 0.5, 0.7, 0.8)
    drive = mbvi.PrescribedCoordinate(joint="rail", value={"times": times, "values": places})
    run = mbvi.simulate(model(drive=drive), "gauss3", step=0.05, duration=2)
    cubic = CubicSpline(times, places)
    np.testing.assert_allclose(run.q[:, 0], cubic(run.t), atol=1e-14)
    force = run.multipliers[:, 0]  # of m a = λ, with the one sign or the other
    np.testing.assert_allclose(np.abs(force), np.abs(2 * cubic(run.t, 2)), rtol=1e-9, atol=1e-9)
