"""A sample of the campaign: the arm that comes with mbvi."""

import pytest

from tests.folders import MODELS

pytest.importorskip("pinocchio")  # which has no wheels for Windows

from . import robot_functions, robot_motions, urdf


@pytest.mark.parametrize("floating", [False, True])
def test_the_arm_agrees_with_pinocchio(floating):
    row = urdf.compared(MODELS / "robot_arm" / "arm.urdf", floating, states=3)
    assert (row.bodies, row.motions) == (9, 7 + 6 * floating)
    assert row.worst < urdf.TOLERANCE


@pytest.mark.filterwarnings("ignore::mbvi.errors.LimitWarning")
@pytest.mark.parametrize("floating", [False, True])
def test_the_arm_moves_as_in_pinocchio(floating):
    assert robot_motions.difference(MODELS / "robot_arm" / "arm.urdf", floating, True, seconds=0.1, step=0.001) < 1e-11


@pytest.mark.parametrize("floating", [False, True])
def test_every_function_is_that_of_pinocchio(floating):
    differences = robot_functions.compared(MODELS / "robot_arm" / "arm.urdf", floating, states=1)
    assert len(differences) == 35
    assert max(differences.values()) < robot_functions.TOLERANCE
