"""The examples run and show what they say."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

import mbvi
from mbvi.pictures.bundles import plot_bundle
from tests.folders import ROOT


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_double_pendulum():
    first, second, distance = load("double_pendulum").main()
    assert distance[0] == pytest.approx(0.5 * np.radians(1e-6), rel=1e-3)
    assert distance.max() > 0.1
    for run in (first, second):
        assert np.abs(run.energy() - run.energy()[0]).max() < 1e-5 * run.kinetic_energy().max()


def test_cart_pole_lqr():
    """A regulator that knows its delay balances the pole, one that does not lets it fall."""
    known, unknown = load("cart_pole_lqr").main()
    assert np.abs(known.q[:, 1]).max() < np.radians(18) and np.abs(known.q[-1, 1]) < np.radians(0.1)
    assert np.abs(unknown.q[:, 1]).max() > np.pi
    assert known.samples["regulator"].acts[0] == pytest.approx(0.1)


def test_delta_robot_control():
    """From beside its path the platform comes onto it, but for what held torques leave."""
    run, errors = load("delta_robot_control").main(duration=0.5)
    assert errors[0] > 0.1 and errors[-1] < 1e-4
    assert run.constraint_residual().max() < 1e-12 and len(run.samples["path"]) == 250


def test_arm_without_weight():
    held, falling = load("arm_without_weight").main()
    assert np.abs(held.q - held.q[0]).max() < 1e-9 and np.abs(falling.q - falling.q[0]).max() > 0.5


def test_top_as_lagrangian():
    from_model, from_lagrangian = load("top_as_lagrangian").main()
    assert np.abs(from_model.q - from_lagrangian.q).max() < 1e-10
    assert np.allclose(from_model.p, from_lagrangian.p, rtol=1e-9, atol=1e-13)
    theta = np.degrees(from_model.q[:, 1])
    assert theta.max() == pytest.approx(60, abs=0.1)
    assert theta.min() == pytest.approx(2.7, abs=0.2)


def test_convergence():
    example = load("convergence")
    errors = example.main()
    assert set(errors) == set(example.SCHEMES)
    for name, values in errors.items():
        if values[1] > 1e-12:  # above round-off
            order = np.log2(values[0] / values[1])
            assert order == pytest.approx(mbvi.SCHEMES[name].order, abs=0.2), name
    assert sum(values[1] > 1e-12 for values in errors.values()) == 4


def test_slider_crank_reactions():
    example = load("slider_crank_reactions")
    run = example.main()
    crank_x = run.pose("crank")[1][:, :, 0]
    assert np.ptp(np.unwrap(np.arctan2(crank_x[:, 2], crank_x[:, 0]))) > 2 * np.pi  # a whole turn
    model = run.system.model.resolved()
    momentum = np.zeros((len(run), 3))
    weight = np.zeros(3)
    for name, body in model.bodies.items():
        properties = mbvi.mass_properties(body)
        places, rotations = run.pose(name)
        momentum += properties.mass * np.gradient(places + rotations @ properties.center_of_mass, run.t, axis=0)
        weight += properties.mass * np.array(model.gravity)
    ground = run.reaction("shaft")[0] + run.reaction("guide")[0]
    inside = slice(5, -5)  # differences at the ends are less exact
    expected = np.gradient(momentum, run.t, axis=0) - weight
    assert np.abs(ground - expected)[inside].max() < 0.01 * np.abs(expected).max()


def test_flip_map(tmp_path):
    """Energy forbids turns inside a curve; that of a rod let go nearly upright comes soon; the mirrored start turns mirrored."""
    example = load("flip_map")
    runs = example.main(20, 4.0)
    is_low = 2 * np.cos(runs.upper) + np.cos(runs.lower) > 1
    assert 40 < is_low.sum() < 200 and np.isnan(runs.turn.values[is_low.values]).all()
    assert 50 < runs.turn.count() < 400 - is_low.sum()
    early = runs.turn.values[runs.turn.values < 1.0]
    mirrored = runs.turn.values[::-1, ::-1][runs.turn.values < 1.0]
    assert len(early) > 20 and np.array_equal(early, mirrored)
    example.draw(runs, tmp_path / "map.png")
    assert (tmp_path / "map.png").stat().st_size > 10_000


def test_monte_carlo(tmp_path):
    """In threads here; the angles of 64 starts come apart, as those of double pendulums do."""
    example = load("monte_carlo")
    with example.main(64, path=tmp_path / "runs.h5") as runs:
        assert (runs.status == 0).all() and dict(runs.status.sizes) == {"member": 32, "mass": 2} and "q" not in runs
        spread = np.sqrt([np.diag(runs.q_covariance[i]) for i in (0, -1)])
        np.testing.assert_allclose(spread[0], np.radians(1), rtol=0.3)
        assert (spread[1] > 10 * spread[0]).all()
        assert plot_bundle(runs).axes


def test_four_bar_tolerances():
    """Every stroke by the law of cosines, and the bars' parts of its variance, which is that of a nearly linear function."""
    example = load("four_bar_tolerances")
    runs, indices = example.main(8)
    expected = [
        example.closed_form(**{name: float(runs[name][i]) for name in example.DEVIATIONS})
        for i in range(runs.stroke.size)
    ]
    np.testing.assert_allclose(runs.stroke, expected, rtol=0, atol=5e-5)  # a parabola over 0.03 rad of the crank
    parts = example.parts()
    assert sum(parts.values()) == pytest.approx(1) and max(parts, key=parts.get) == "crank"
    np.testing.assert_allclose(indices.total, [parts[str(name)] for name in indices.parameter.values], atol=0.15)


def test_all_examples_are_tested():
    assert all(f"test_{path.stem}" in globals() for path in (ROOT / "examples").glob("*.py"))


def test_they_run_as_scripts():
    result = subprocess.run(
        [sys.executable, ROOT / "examples" / "convergence.py"], capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[0].endswith("order")
    assert len(result.stdout.splitlines()) == 6


def test_pendulum_period():
    found = load("pendulum_period").main()
    assert all(abs(error) < 1e-11 for _, error in found.values())
    periods = [period for period, _ in found.values()]
    assert periods == sorted(periods) and periods[0] == pytest.approx(2 * np.pi / np.sqrt(9.81), rel=2e-3)


def test_equations_of_models():
    found = load("equations_of_models").main(("pendulum", "four_bar", "gyroscope"))
    assert [len(each.q) for each in found.values()] == [1, 3, 3]
    assert str(found["pendulum"].potential) == "-981*length*mass*cos(pivot.angle)/100"


def test_arm_draws_circle():
    system, circle, postures = load("arm_draws_circle").main(9)
    tips, rotations = system.frame_pose("pen.tip", postures)
    np.testing.assert_allclose(tips, circle, atol=1e-8)
    np.testing.assert_allclose(rotations[:, :, 0], np.tile([0, 0, -1], (9, 1)), atol=1e-8)
    assert np.abs(np.diff(postures, axis=0)).max() < 0.6


def test_delta_robot_torques():
    """Over a turn the motors do no work; the torques of a motor follow those of the one before a third of a turn later."""
    times, torques, powers = load("delta_robot_torques").main(13)
    assert abs(np.mean(powers[:-1])) < 1e-4 * np.abs(powers).max()
    np.testing.assert_allclose(torques[4:, 1], torques[:-4, 0], atol=1e-5 * np.abs(torques).max())
    np.testing.assert_allclose(torques[0], torques[-1], atol=1e-6 * np.abs(torques).max())
    assert times[-1] == 1.0


def test_impact_oscillator(tmp_path):
    """Its motion of one impact per period, and the multipliers of that, which a run measures, have closed forms."""
    example = load("impact_oscillator")
    for rate in (2.3, 2.6, 2.7):  # with complex multipliers, and with one beyond −1
        speed, phase, multipliers = example.orbit(rate)
        after = example.RESTITUTION * speed
        np.testing.assert_allclose(example.impact_speeds(rate, 6, after, phase), after, rtol=0, atol=1e-10)
        np.testing.assert_allclose(np.sort(example.measured_multipliers(rate)), np.sort(multipliers), rtol=0, atol=1e-6)
    assert example.measured_doubling() == pytest.approx(example.first_doubling(), abs=1e-8)
    assert example.first_doubling() == pytest.approx(2.6533, abs=5e-5)
    found = example.main(3, 2.6, 2.7, periods=90)
    kinds = [len(np.unique(np.round(speeds, 4))) for speeds in found.values()]
    assert kinds == [1, 1, 2]  # at 2.6, 2.65 and 2.7
    example.draw(found, tmp_path / "map.png")
    assert (tmp_path / "map.png").stat().st_size > 10_000


def test_learn_cart_pole():
    """Ten rounds of 24 episodes hold the pole within 12° for 10 s from fresh starts; at first it fell."""
    found = load("learn_cart_pole").main(rounds=10, seconds=10.0)
    assert found["history"][0] < 150 and found["history"][-1] > 195
    assert found["balanced"].min() > 0.99
