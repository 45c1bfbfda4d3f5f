"""`Simulator.lock` and `unlock`: joints that are stopped where they are, by plastic impacts."""

import numpy as np
import pytest

import mbvi

START = {"initial_q": [1.0, 0.5], "initial_v": [1.0, -4.0]}


def swinging(models, scheme="gauss4"):
    return mbvi.Simulator(mbvi.load(models / "double_pendulum.yaml"), scheme, step=0.01, **START)


@pytest.mark.parametrize("scheme", ["simpson", "gauss4"])
def test_a_joint_is_stopped_by_a_plastic_impact(models, scheme):
    """M v⁺ = M v⁻ + Gᵀ λ with v⁺ = 0 there; the energy lost is that of the velocity lost, by Carnot's theorem."""
    simulator = swinging(models, scheme)
    simulator.run(0.1)
    q, p, v, M = simulator.q, simulator.p, simulator.v, simulator.system.mass_matrix(simulator.q)
    impact = simulator.lock("elbow")
    assert np.allclose(impact.after, [p[0] / M[0, 0], 0.0], rtol=1e-12, atol=1e-14)
    assert np.array_equal(simulator.v, impact.after) and np.array_equal(simulator.q, q) and simulator.t == 0.1
    assert abs(impact.momentum[0]) < 1e-14 and impact.momentum[1] == pytest.approx(p[1] - M[1, 0] * impact.after[0])
    lost = v - impact.after
    assert impact.energy == pytest.approx(0.5 * lost @ M @ lost, rel=1e-11) and impact.energy > 0.05
    simulator.run(0.2)
    assert abs(simulator.q[1] - q[1]) < 1e-14 and abs(simulator.q[0] - q[0]) > 0.1 and simulator.locked == ("elbow",)


def test_a_locked_pendulum_swings_as_one_body(models):
    """Against the same bodies welded together."""
    simulator = swinging(models)
    simulator.lock("elbow")
    simulator.run(1.0)
    model = mbvi.load(models / "double_pendulum.yaml")
    elbow = model.joints["elbow"]
    weld = mbvi.Weld(parent=elbow.parent, child=elbow.child, position=elbow.position, orientation=(0, -0.5, 0))
    whole = mbvi.Model(**dict(model) | {"joints": {**model.joints, "elbow": weld}, "initial": {}})
    start = simulator.trajectory()
    run = mbvi.simulate(whole, "gauss4", step=0.01, duration=1.0, initial_q=start.q[0, :1], initial_v=start.v[0, :1])
    assert abs(run.q[-1, 0] - simulator.q[0]) < 1e-12
    place, rotation = simulator.pose("lower")
    assert abs(place - run.pose("lower")[0][-1]).max() < 1e-12
    assert abs(rotation - run.pose("lower")[1][-1]).max() < 1e-12


def test_saved_states_know_where_joints_are_locked(models):
    """Also of another simulator whose joint is locked elsewhere; and what is unlocked moves again, from the same state."""
    simulator, other = swinging(models), swinging(models)
    simulator.run(0.1)
    simulator.lock("elbow")
    simulator.run(0.1)
    state = simulator.state()
    with pytest.raises(mbvi.ModelError, match="state: expected the scheme, coordinates and locked joints"):
        other.set_state(state)
    other.lock("elbow")
    other.set_state(state)
    for each in (simulator, other):
        each.run(0.1)
    assert np.array_equal(simulator.q, other.q)
    q, v = simulator.q, simulator.v
    simulator.unlock("elbow")
    assert np.array_equal(simulator.q, q) and abs(simulator.v - v).max() < 1e-14 and simulator.locked == ()
    simulator.run(0.1)
    assert abs(simulator.q[1] - q[1]) > 1e-3
    simulator.lock("elbow")
    simulator.set_parameters({"mass": 2.0})
    assert simulator.locked == ("elbow",) and abs(simulator.v[1]) < 1e-14
    simulator.reset()
    assert simulator.locked == () and np.array_equal(simulator.q, START["initial_q"])


def test_joints_that_cannot_be_locked(models):
    """The simulator goes on as it was."""
    simulator = swinging(models)
    simulator.lock("elbow")
    for joint, found in (("elbo", "'elbo'"), ("elbow", "'elbow', which is locked"), (3, "3")):
        expected = f"joint: expected a joint with coordinates that can be held, found {found}; known: shoulder"
        with pytest.raises(mbvi.ModelError, match=f"^{expected}$"):
            simulator.lock(joint)
    with pytest.raises(mbvi.ModelError, match=r"^joint: expected a locked joint, found 'shoulder'; known: elbow$"):
        simulator.unlock("shoulder")
    free = mbvi.Simulator(mbvi.load(models / "double_pendulum.yaml"), "rk4", step=0.01, **START)
    with pytest.raises(mbvi.ModelError, match="expected a system without constraints for scheme rk4"):
        free.lock("elbow")
    free.run(0.1)
    assert free.locked == () and free.steps == 10
