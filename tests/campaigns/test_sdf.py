"""A sample of the campaigns: SDF files against Drake, where it is installed, and robots with loops beside MuJoCo."""

import pytest

from tests.folders import MODELS
from tests.marks import coarse

from . import robot_loops, sdf

BALLS = """<sdf version="1.9"><model name="m"><pose>1 2 3 0.1 0.2 0.3</pose>
<link name="a"><pose>0 0 0 1 0 0</pose>{0}</link><link name="b"><pose>1 0 0 0 0.5 0</pose>{0}</link>
<link name="c"><pose>1 1 0 0 0 2</pose>{0}</link><link name="d"><pose>0 1 1 0 0 2</pose>{0}</link>
<joint name="j" type="ball"><parent>a</parent><child>b</child><pose>0.1 0.2 0.3 1 2 3</pose></joint>
<joint name="k" type="prismatic"><parent>b</parent><child>c</child><axis><xyz>1 2 3</xyz></axis></joint>
<joint name="l" type="screw"><parent>c</parent><child>d</child><screw_thread_pitch>0.4</screw_thread_pitch>
<axis><xyz expressed_in="a">1 0 1</xyz></axis></joint></model></sdf>"""
INERTIAL = """<inertial><pose>0.1 0.2 0.3 1 2 3</pose><mass>2</mass>
<inertia><ixx>0.3</ixx><iyy>0.4</iyy><izz>0.5</izz><ixy>0.05</ixy></inertia></inertial>"""


def test_trees_agree_with_drake(tmp_path):
    pytest.importorskip("pydrake")
    path = tmp_path / "m.sdf"
    path.write_text(BALLS.format(INERTIAL))
    for each in (path, MODELS / "gripper" / "gripper.sdf"):
        row = sdf.compared(each, states=3)
        assert row.worst < sdf.TOLERANCE


@coarse
@pytest.mark.parametrize("name", ["gripper", "delta"])
def test_loops_stay_closed(name):
    pytest.importorskip("mujoco")
    row = robot_loops.measured(name, seconds=0.1)
    assert max(row.tree, row.embedding) < 1e-14 and row.reactions < robot_loops.EQUAL
    assert row.mujoco > 1e-4
