"""Schemes compared: errors against a closed form, orders, runs that fail, and what is refused."""

import io

import numpy as np
import pytest

import mbvi
from mbvi.exact import Pendulum

STEPS = (0.04, 0.02, 0.01)
BOB = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))


def pendulum(**simulation):
    pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    start, run = {"pivot": mbvi.Initial(position=2)}, mbvi.Simulation(**simulation)
    return mbvi.Model(name="pendulum", bodies={"bob": BOB}, joints={"pivot": pivot}, initial=start, simulation=run)


@pytest.fixture(scope="module")
def found():
    return mbvi.compare(pendulum(), ["midpoint", "simpson", "gauss3"], STEPS, duration=2)


def test_errors_are_those_against_the_closed_form(found):
    exact = float(Pendulum(length=1, gravity=9.81, angle=2, rate=0)(2.0)[0])
    for scheme, errors in zip(found.schemes, found.errors, strict=True):
        ends = [mbvi.simulate(pendulum(), scheme, step=h, duration=2).q[-1, 0] for h in STEPS]
        np.testing.assert_allclose(errors, np.abs(np.array(ends) - exact), rtol=0, atol=1e-12)
    assert found.uncertainty < 1e-13


def test_measured_orders(found):
    for scheme, order in zip(found.schemes, found.orders, strict=True):
        assert order == {"midpoint": 2, "simpson": 4, "gauss3": 6}[scheme]
        assert found.measured_order(scheme) == pytest.approx(order, abs=0.15)


def test_the_table_and_the_picture_hold_the_numbers(found):
    lines = repr(found).splitlines()
    assert lines[2].split() == "scheme step [s] error order time [ms] per step [µs] iterations".split()
    assert lines[3].split()[:3] == ["midpoint", "0.04", f"{found.errors[0, 0]:.2e}"]
    assert float(lines[4].split()[2]) == pytest.approx(2, abs=0.15)
    assert np.all(found.seconds > 0) and np.all(found.iterations >= 1)
    figure = found.plot()
    figure.savefig(io.BytesIO(), format="png")
    for k, line in enumerate(figure.axes[0].lines):
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([found.steps, found.errors[k]]))
    for k, line in enumerate(figure.axes[1].lines):
        np.testing.assert_array_equal(line.get_ydata(), found.errors[k])


def test_errors_at_round_off_are_not_fitted():
    small = mbvi.compare(pendulum(), ["gauss8"], (0.02, 0.01, 0.005), duration=1)
    assert np.isnan(small.measured_order("gauss8"))
    assert "gauss8  order 16, too few errors above those of the reference" in repr(small)


def test_a_run_that_fails_is_missing_and_the_others_go_on(models):
    model = mbvi.load(models / "double_pendulum.yaml")
    found = mbvi.compare(model, ["simpson", "midpoint"], (1, 0.02, 0.01), duration=2)
    assert np.isnan(found.errors[:, 0]).all() and np.isfinite(found.errors[:, 1:]).all()
    assert set(found.failures) == {("simpson", 1.0), ("midpoint", 1.0)}
    text = repr(found)
    assert "error.trajectory" not in text
    assert "\nsimpson, step 1 s: step 1 (t = 1 s): Newton's iteration did not converge" in text
    assert text.splitlines()[3].split() == ["simpson", "1", "failed"]
    assert found.measured_order("simpson") == pytest.approx(4, abs=0.2)
    found.plot().savefig(io.BytesIO(), format="png")


def test_a_scheme_that_does_not_apply_is_missing_and_the_others_go_on(models):
    found = mbvi.compare(mbvi.load(models / "four_bar.yaml"), ["midpoint", "rk4"], (0.01, 0.005), duration=0.05)
    assert found.schemes == ("midpoint",) and found.errors.shape == (1, 2)
    reason = "four-bar linkage: expected a system without constraints for scheme rk4"
    assert found.unsuited.keys() == {"rk4"} and found.unsuited["rk4"].startswith(reason)
    assert f"\n\ndo not apply:\n  rk4  {reason}" in repr(found)


def test_steps_by_default_are_those_of_the_model():
    found = mbvi.compare(pendulum(step=0.05, duration=0.5), ["midpoint"])
    np.testing.assert_allclose(found.steps, [0.05, 0.025, 0.0125, 0.00625], rtol=1e-15)
    assert found.duration == 0.5


@pytest.mark.parametrize(
    ("schemes", "steps", "keys", "message"),
    [
        (["simpso"], STEPS, {}, "scheme: expected the name of a scheme, found 'simpso'; did you mean 'simpson'?"),
        (None, STEPS, {}, "schemes: expected a list, found nothing"),
        ([["simpson"]], STEPS, {}, "scheme: expected the name of a scheme, found ['simpson']; did you mean 'simpson'?"),
        (["simpson"], STEPS, {"reference": []}, "scheme: expected the name of a scheme, found []; choose one of "),
        (["simpson"], "text", {}, "steps: expected a list, found 'text'"),
        (["simpson"], [0.1, []], {}, "steps: expected a number of seconds, found []; write for example 0.01 [s]"),
        ([], STEPS, {}, "schemes: expected one or more names of schemes, found none"),
        (["newmark"], STEPS, {}, "newmark: pendulum: scheme newmark: expected a quadratic Lagrangian, "),
        (["simpson"], (0.01,), {}, "steps: expected two or more, found 1; write for example 0.02, 0.01, 0.005 [s]"),
        (["simpson"], (0.01, 0.02), {}, "steps: expected steps greater than 0, descending, found 0.02 after 0.01"),
        (["simpson"], (0.01, -1), {}, "steps: expected steps greater than 0, descending, found -1"),
        (["simpson"], (0.03, 0.01), {}, "steps: expected steps of which whole numbers make 1 s, so that all runs end "),
        (["simpson"], STEPS, {"duration": -1}, "duration: expected a time greater than 0, found -1; write for exam"),
        (["simpson"], STEPS, {"reference": "gaus6"}, "scheme: expected the name of a scheme, found 'gaus6'; did you"),
    ],
)
def test_what_cannot_be_compared_is_one_line(schemes, steps, keys, message):
    with pytest.raises(mbvi.ModelError) as error:
        mbvi.compare(pendulum(), schemes, steps, **{"duration": 1, **keys})
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_no_order_is_fitted_to_round_off(models):
    """The pendulum ends near 0, where the rounding of its place is small beside that of the way there."""
    steps = [0.2 / 2**k for k in range(6)]
    found = mbvi.compare(mbvi.load(models / "pendulum.yaml"), ["simpson", "gauss8"], steps, duration=2)
    assert found.uncertainty == np.spacing(2 * np.pi / 3)
    assert found.measured_order("simpson") == pytest.approx(4, abs=0.05) and np.isnan(found.measured_order("gauss8"))
    assert "gauss8   order 16, too few errors above those of the reference" in repr(found)
    places = [line.get_xydata() for line in found.plot().axes[0].lines]
    assert len(places[0]) == 6 and all(np.all(np.diff(each[:, 1]) < 0) for each in places)


def test_a_reference_that_fails_is_named(models):
    model = mbvi.load(models / "chain_10.yaml")
    with pytest.raises(mbvi.StepError, match=r"^the reference, gauss6 with step 0.5 s: step 0 "):
        mbvi.compare(model, ["midpoint"], (2, 1), duration=2)
