"""Reactions, multipliers, accelerations and forces in runs with stops and friction: those of what is closed in each state."""

import numpy as np
import pytest

import mbvi
from tests.folders import MODELS

MASS, GRAVITY = 2.0, 9.81


@pytest.fixture(scope="module")
def beam():
    """A beam on a hinge, whose far end falls by 0.1 m onto a floor, and rests there."""
    drop = np.arcsin(0.1)
    body = mbvi.Body(mass=MASS, center_of_mass=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    floor = mbvi.PlaneStop(
        body_a="world", body_b="beam", point_a=(0, 0, -0.1), point_b=(1, 0, 0), normal=(0, 0, 1), rest_speed=1e-3
    )
    model = mbvi.Model(
        name="beam",
        bodies={"beam": body},
        joints={"hinge": mbvi.Revolute(parent="world", child="beam", axis=(0, 1, 0))},
        contacts={"floor": floor},
    )
    return mbvi.simulate(model, "lobatto4", step=0.01, duration=1.0), drop


def test_reactions_and_accelerations_of_what_rests(beam):
    """A hinge carries half the weight while the other end rests; before, the beam falls as a pendulum."""
    run, drop = beam
    (rest,) = run.contacts.of("floor", "rest").t
    rests = run.t > rest
    assert 0.1 < rest < 0.3 and rests.any()
    force, _ = run.reaction("hinge")
    np.testing.assert_allclose(force[rests], [[0, 0, MASS * GRAVITY / 2]] * rests.sum(), atol=1e-10)
    np.testing.assert_allclose(run.contact_forces()["floor"][rests], MASS * GRAVITY / 2, rtol=1e-10)
    motion = run.kinematics(["beam"])["angular_acceleration"][:, 0, 1]
    assert abs(motion[rests]).max() < 1e-10
    about_hinge = 0.1 + MASS * 0.25
    falling = MASS * GRAVITY * 0.5 * np.cos(run.q[~rests, 0]) / about_hinge
    np.testing.assert_allclose(motion[~rests], falling, rtol=1e-10)
    assert run.q[-1, 0] == pytest.approx(drop, abs=1e-12)


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_forces_of_what_sticks_and_slips(formulation, tmp_path):
    """The motor of a belt pulls as its friction pulls the block, whose acceleration is that of spring and friction."""
    model = mbvi.load(MODELS / "stick_slip.yaml")
    run = mbvi.simulate(model, formulation=formulation, duration=4.0, path=tmp_path / "a.h5")
    friction = run.contact_forces()["rubbing"]
    assert len(np.unique(np.sign(np.diff(friction)))) == 3  # it sticks, and slips
    for each in (run, mbvi.read(tmp_path / "a.h5")):
        motor = each.forces(["motor"])["motor"]
        column = motor.components.index("drive.displacement") if len(motor.components) > 1 else 0
        np.testing.assert_allclose(motor.values[:, column], friction, atol=1e-10)
        np.testing.assert_allclose(motor.power, 0.1 * friction, atol=1e-10)
        spring = each.forces(["spring"])["spring"].values[:, 0]
        block = each.kinematics(["block"])["acceleration"][:, 0, 0]
        np.testing.assert_allclose(block, spring + friction, atol=1e-9)
