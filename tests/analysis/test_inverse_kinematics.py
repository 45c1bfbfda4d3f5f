"""Inverse kinematics: closed forms, loops, rotations, weights, limits, several starts, and what cannot be reached."""

import numpy as np
import pytest

import mbvi
from mbvi.analysis import inverse_kinematics
from mbvi.system.projection import project_position
from tests.folders import ROOT

ARM = """
name: arm
bodies:
  upper: {mass: 1, inertia: [1, 1, 1]}
  fore: {mass: 1, inertia: [1, 1, 1], frames: {tool: {position: [0.8, 0, 0]}}}
joints:
  shoulder: {type: revolute, parent: world, child: upper, axis: [0, 0, 1]}
  elbow: {type: revolute, parent: upper, child: fore, axis: [0, 0, 1], position: [1, 0, 0]}
initial: {elbow: {position: 0.5}}
"""


def test_an_arm_of_two_links():
    """The angles by the law of cosines, of the bend of the start."""
    system = mbvi.assemble(mbvi.from_yaml(ARM))
    for x, y in ((1.2, 0.5), (0.4, 0.3), (-0.5, 1.1)):
        elbow = np.arccos((x * x + y * y - 1 - 0.64) / 1.6)
        shoulder = np.arctan2(y, x) - np.arctan2(0.8 * np.sin(elbow), 1 + 0.8 * np.cos(elbow))
        found = system.inverse_kinematics({"fore.tool": (x, y, 0)})
        turns = np.exp(1j * found.q) / np.exp(1j * np.array([shoulder, elbow]))
        np.testing.assert_allclose(turns, 1, atol=1e-8)
        assert found.is_reached and found.misses[0].distance < 1e-9


def test_what_is_missed_and_by_how_much():
    system = mbvi.assemble(mbvi.from_yaml(ARM))
    with pytest.raises(mbvi.ModelError) as caught:
        inverse_kinematics(system, {"fore.tool": (3, 0, 0)})
    assert str(caught.value).startswith(
        "targets: expected frames that reach their targets, found fore.tool by 1.2 m and 0 deg missed"
    )
    limited = mbvi.from_yaml(
        ARM.replace("position: [1, 0, 0]}", "position: [1, 0, 0], limits: {angle: {lower: 0, upper: 0.6}}}")
    )
    near = inverse_kinematics(mbvi.assemble(limited), {"fore.tool": (1, 0.5, 0)}, nearest_if_missed=True)
    assert near.at_limits == ("elbow.angle",) and near.q[1] == 0.6
    reach = np.sqrt(1 + 0.64 + 1.6 * np.cos(0.6))
    assert near.misses[0].distance == pytest.approx(reach - np.hypot(1, 0.5), rel=1e-7)
    both = {"fore.tool": {"place": (1, 0.5, 0), "rotation": (0, 0, 0.3)}}
    heavy = {"fore.tool": {**both["fore.tool"], "place_weight": 1e3}}
    placed, mixed = (inverse_kinematics(system, each, nearest_if_missed=True).misses[0] for each in (heavy, both))
    assert placed.distance < 1e-5 < 0.01 < mixed.distance and placed.angle > mixed.angle > 0.01


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_loops_stay_closed(formulation):
    """The rocker of a four-bar linkage, to where it is at another angle of the crank; with quaternions in the embedding."""
    model = mbvi.load(ROOT / "models" / "four_bar.yaml")
    tree, system = mbvi.assemble(model), mbvi.assemble(model, formulation)
    fixed = np.array([name == "shaft.angle" for name in tree.coordinate_names])
    there = project_position(tree, tree.initial_q + 0.4 * fixed, fixed=fixed)
    rotation = tree.frame_pose("rocker", there)[1]
    found = system.inverse_kinematics({"rocker": {"rotation": rotation}})
    assert found.is_reached and np.abs(system.frame_pose("rocker", system.initial_q)[1] - rotation).max() > 0.01
    assert np.abs(system.constraint(found.q)).max() < 1e-12
    expected = tree.frame_pose("coupler", there)[0]
    np.testing.assert_allclose(system.frame_pose("coupler", found.q)[0], expected, atol=1e-8)


def test_several_starts():
    """From the singular start, in which the arm is stretched and cannot shorten to first order, random ones help."""
    system = mbvi.assemble(mbvi.from_yaml(ARM.replace("initial: {elbow: {position: 0.5}}", "")))
    target = {"fore.tool": (1.0, 0.0, 0)}
    with pytest.raises(mbvi.ModelError, match="take more starts"):
        inverse_kinematics(system, target)
    found = inverse_kinematics(system, target, starts=5, seed=2)
    again = inverse_kinematics(system, target, starts=5, seed=2)
    assert found.is_reached and found.starts > 1 and np.array_equal(found.q, again.q)


FIVE_BAR = """
name: five-bar
bodies:
  left crank: {mass: 1, inertia: [1, 1, 1]}
  right crank: {mass: 1, inertia: [1, 1, 1]}
  left rod: {mass: 1, inertia: [1, 1, 1], frames: {pen: {position: [0.7, 0, 0.1]}}}
  right rod: {mass: 1, inertia: [1, 1, 1]}
joints:
  left: {type: revolute, parent: world, child: left crank, axis: [0, -1, 0]}
  right: {type: revolute, parent: world, child: right crank, axis: [0, -1, 0], position: [0.5, 0, 0]}
  left elbow: {type: revolute, parent: left crank, child: left rod, axis: [0, -1, 0], position: [0.4, 0, 0]}
  right elbow: {type: revolute, parent: right crank, child: right rod, axis: [0, -1, 0], position: [0.4, 0, 0]}
  pin: {type: revolute, parent: left rod, child: right rod, axis: [0, -1, 0], position: [0.7, 0, 0], offset: [0.7, 0, 0]}
initial:
  left: {position: 120 deg}
  right: {position: 60 deg}
  left elbow: {position: -70 deg}
  right elbow: {position: 70 deg}
"""


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_random_starts_of_a_loop(formulation):
    """Below the line of its drives, where a five-bar comes from above only by passing it."""
    system, target = mbvi.assemble(mbvi.from_yaml(FIVE_BAR), formulation), {"left rod.pen": (0.25, 0, -0.4)}
    assert not system.inverse_kinematics(target, nearest_if_missed=True).is_reached
    for seed in range(3):
        found = system.inverse_kinematics(target, starts=20, seed=seed)
        np.testing.assert_allclose(
            system.frame_pose("left rod.pen", found.q)[0], target["left rod.pen"], rtol=0, atol=1e-9
        )
        np.testing.assert_allclose(system.constraint(found.q), 0.0, rtol=0, atol=1e-12)


def test_wrong_arguments():
    system = mbvi.assemble(mbvi.from_yaml(ARM))

    def message(targets, **more):
        with pytest.raises(mbvi.ModelError) as caught:
            inverse_kinematics(system, targets, **more)
        return str(caught.value)

    assert message({}).startswith(
        "targets: expected a mapping of frames to places or rotations, found an empty mapping"
    )
    assert "did you mean 'fore.tool'?" in message({"fore.toll": (1, 0, 0)})
    assert message({"fore": {}}) == "targets.fore: expected a place, a rotation or both, found neither"
    assert (
        message({"fore": {"plaice": 1}}) == "targets.fore: expected known keys, found 'plaice'; did you mean 'place'?"
    )
    assert "targets.fore.rotation: expected a rotation vector (3,)" in message({"fore": {"rotation": [1, 2]}})
