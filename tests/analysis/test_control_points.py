"""Impulses of constraints at the control points of steps, against the multipliers of the equations of motion."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.integrate import simpson

import mbvi
from mbvi.analysis.convergence import convergence_order
from mbvi.system.reactions import reactions
from tests.marks import pairs

from ..benchmarks.systems import hung_chain
from ..physics import systems

FINE = 512  # steps, from which on multipliers are integrated by Simpson's rule to 1e-11


@cache
def exact(name, formulation):
    """Times and multipliers of a run that is exact to 1e-10, and their integral over 1 s."""
    run = mbvi.simulate(systems.model(name), "gauss4", step=1 / FINE, duration=1, formulation=formulation)
    return run.multipliers, simpson(run.multipliers, x=run.t, axis=0)


def summed(run):
    """All control points of a run, their impulses summed over it."""
    points = [run.control_points(i) for i in range(len(run) - 1)]
    for i, each in enumerate(points):
        residuals = run.system.constraint_residuals(each.t, each.q)
        assert residuals.max() < 1e-14
        np.testing.assert_allclose(each.q[[0, -1]], run.q[i : i + 2], rtol=0, atol=1e-12)
        assert each.weights.sum() == pytest.approx(run.step, rel=1e-13)
    return points, sum(each.impulses.sum(axis=0) for each in points)


MECHANISMS = {
    "double spherical pendulum": ("double_spherical_pendulum", "embedding"),
    "bricard, embedding": ("bricard", "embedding"),
    "bricard, tree": ("bricard", "tree"),
    "free rigid body": ("free_rigid_body", "tree"),
}
ORDERS = {"midpoint": 2, "shake": 2, "simpson": 4, "yoshida4": 4}


@pytest.mark.parametrize(("mechanism", "scheme"), pairs(MECHANISMS, ORDERS, whole=("free rigid body",)))
def test_their_sum_is_the_integral_of_the_multipliers(mechanism, scheme):
    """Also where constraints are redundant: both are of least norm."""
    name, formulation = MECHANISMS[mechanism]
    _, integral = exact(name, formulation)
    steps, errors = [1 / 16, 1 / 32, 1 / 64], []
    for step in steps:
        run = mbvi.simulate(systems.model(name), scheme, step=step, duration=1, formulation=formulation)
        errors.append(np.abs(summed(run)[1] - integral).max())
    assert convergence_order(errors, steps) == pytest.approx(ORDERS[scheme], abs=0.2)


@pytest.mark.parametrize("scheme", ["simpson", "gauss3"])
def test_multipliers_of_single_points(scheme):
    """They tend to those of the equations of motion, at the order s for s + 1 points or better."""
    multipliers, _ = exact("double_spherical_pendulum", "embedding")
    steps, errors = [1 / 32, 1 / 64, 1 / 128], []
    for step in steps:
        run = mbvi.simulate(
            systems.model("double_spherical_pendulum"), scheme, step=step, duration=1, formulation="embedding"
        )
        points = run.control_points(len(run) // 2)
        ends = multipliers[[FINE // 2, FINE // 2 + round(FINE * step)]]
        errors.append(np.abs(points.multipliers[[0, -1]] - ends).max())
    assert convergence_order(errors, steps) > {"simpson": 1.8, "gauss3": 2.8}[scheme]


def test_momenta_change_by_forces_and_impulses():
    """A weight on a rod: p' − p is the impulse of the weight and of the rod, on straight segments to round-off."""
    run = mbvi.simulate(systems.model("spherical_pendulum"), "midpoint", step=0.05, duration=1, formulation="embedding")
    mass = run.system.mass_matrix(run.q[0])[0, 0]
    for i in range(len(run) - 1):
        points = run.control_points(i)
        change = sum(
            run.system.constraint_jacobian(q).T @ impulse for q, impulse in zip(points.q, points.impulses, strict=True)
        ) - 0.05 * mass * np.array([0, 0, 9.81])
        np.testing.assert_allclose(run.p[i + 1] - run.p[i], change, rtol=0, atol=1e-12)


def test_reactions_at_control_points():
    """What takes multipliers at stored states takes those of control points."""
    run = mbvi.simulate(systems.model("four_bar"), "gauss3", step=0.002, duration=0.5)
    points = run.control_points(100)
    force, torque = reactions(
        run.system, ["rocker pin"], points.t, points.q, np.zeros_like(points.q), points.multipliers
    )[0]
    at_states = [each[100:102] for each in run.reaction("rocker pin")]
    np.testing.assert_allclose(force[[0, -1]], at_states[0], rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(torque[[0, -1]], at_states[1], rtol=1e-3, atol=1e-6)


def test_a_run_that_was_read(tmp_path):
    run = mbvi.simulate(systems.model("bricard"), "simpson", step=0.01, duration=0.1)
    run.save(tmp_path / "run.h5")
    again, points = mbvi.read(tmp_path / "run.h5").control_points(4), run.control_points(4)
    np.testing.assert_allclose(again.impulses, points.impulses, rtol=0, atol=1e-12)


def test_without_constraints():
    points = mbvi.simulate(systems.model("pendulum"), "gauss2", step=0.1, duration=1).control_points(-1)
    assert points.t == pytest.approx([1.0, 1.05, 1.1])
    assert points.impulses.shape == points.multipliers.shape == (3, 0)


@pytest.mark.parametrize(
    ("scheme", "state", "message"),
    [
        ("simpson", 11, "control_points: expected the number of one of 11 states, found 11"),
        ("simpson", 1.5, "control_points: expected the number of one of 11 states, found 1.5"),
        ("rk4", 0, "control_points: expected a run of a Galerkin scheme, as midpoint or simpson, found one of rk4"),
    ],
)
def test_what_it_cannot_give(scheme, state, message):
    run = mbvi.simulate(systems.model("pendulum"), scheme, step=0.1, duration=1)
    with pytest.raises(mbvi.ModelError, match=f"^{message}$"):
        run.control_points(state)


def test_a_step_that_cannot_be_done():
    """From where a run ended with a StepError, its last step cannot be solved again either."""
    with pytest.raises(mbvi.StepError) as caught:
        mbvi.simulate(systems.model("chain_10"), "simpson", step=0.1, duration=10)
    with pytest.raises(mbvi.StepError, match=r"^control points: the step from t = .* s did not converge"):
        caught.value.trajectory.control_points(-1)


def test_the_last_impulses_of_balls_in_a_tree():
    """They take from the momentum of the step equations what is along quaternions."""
    system = mbvi.assemble(hung_chain(3, "ball"))
    discrete = replace(mbvi.SCHEMES["simpson"], name="discrete", is_projected=False)
    run, other = (mbvi.simulate(system, scheme, step=0.005, duration=0.1) for scheme in ("simpson", discrete))
    np.testing.assert_allclose(other.q, run.q, rtol=0, atol=1e-13)
    for i in (3, 17):
        impulse = system.constraint_jacobian(run.q[i + 1]).T @ run.control_points(i).impulses[-1]
        assert np.abs(impulse).max() > 1e-5
        np.testing.assert_allclose(other.p[i + 1] + impulse, run.p[i + 1], rtol=0, atol=1e-14)
