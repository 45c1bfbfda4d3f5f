"""Models put onto frames of others, in Python and in model files; which files may be attached."""

import numpy as np
import pytest
import trimesh
from typer.testing import CliRunner

import mbvi
from mbvi.cli import app

ARM = """
name: arm
parameters: {length: 0.8}
bodies:
  arm:
    mass: 2
    center_of_mass: [0, 0, length/2]
    inertia: [0.1, 0.1, 0.01]
    frames: {tool.1: {position: [0, 0, length], orientation: [0, 90 deg, 0]}}
joints:
  shoulder: {type: revolute, parent: world, child: arm, axis: [0, 1, 0]}
initial: {shoulder: {position: 30 deg}}
"""
GRIPPER = """
name: gripper
parameters: {length: 0.1}
gravity: [0, 0, 0]
bodies:
  finger: {mass: 0.2, center_of_mass: [length, 0, 0.05], inertia: [0.01, 0.02, 0.03]}
  other: {mass: 0.1, center_of_mass: [0, 0.02, 0.1], inertia: [0.01, 0.01, 0.01]}
joints:
  hinge: {type: revolute, parent: world, child: finger, axis: [1, 0, 0], position: [0, 0, length]}
  slide: {type: prismatic, parent: finger, child: other, axis: [0, 1, 1]}
forces:
  pull: {type: spring, body_a: world, point_a: [0, 0.2, 0], body_b: other, stiffness: 30}
  motor: {type: motor, joint: hinge, input: 0.1*sin(t)}
constraints:
  line: {type: point_on_plane, body_a: world, body_b: other, normal: [1, 0, 0]}
initial: {hinge: {position: 0.2}}
"""
WHOLE = (
    ARM
    + """
attach:
  left: {file: parts/gripper.yaml, to: arm.tool.1}
  right: {file: parts/gripper.yaml, position: [0, 2, length], prefix: "r "}
"""
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "gripper.yaml").write_text(GRIPPER)
    (tmp_path / "whole.yaml").write_text(WHOLE)
    return tmp_path


def test_a_gripper_on_an_arm_moves_as_one_that_is_written_there(folder):
    """Its world is a massless body on the frame; gravity is that of the arm."""
    model = mbvi.load(folder / "whole.yaml")
    assert list(model.bodies) == ["arm", "left/world", "left/finger", "left/other", "r world", "r finger", "r other"]
    assert list(model.forces) == ["left/pull", "left/motor", "r pull", "r motor"]
    assert model.forces["left/pull"].body_a == "left/world" and list(model.parameters) == ["length"]
    system = mbvi.assemble(model)
    assert system.coordinate_names[:3] == ("shoulder.angle", "left/hinge.angle", "left/slide.displacement")
    places, rotations = system.poses("left/finger", system.given_q[None])
    tool, turned = (each[0] for each in system.poses("arm.tool.1", system.given_q[None]))
    np.testing.assert_allclose(places[0], tool + turned @ [0, 0, 0.1], rtol=0, atol=1e-15)
    c, s = np.cos(0.2), np.sin(0.2)
    np.testing.assert_allclose(rotations[0], turned @ [[1, 0, 0], [0, c, -s], [0, s, c]], rtol=0, atol=1e-15)
    np.testing.assert_allclose(system.poses("r finger", system.given_q[None])[0][0], [0, 2, 0.9], rtol=0, atol=1e-15)
    assert mbvi.from_yaml(mbvi.to_yaml(model)).resolved() == model.resolved()


def test_the_same_in_python(folder):
    arm, gripper = mbvi.from_yaml(ARM), mbvi.load(folder / "parts" / "gripper.yaml")
    two = mbvi.attach(arm, gripper, to="arm.tool.1", prefix="left/")
    two = mbvi.attach(two, gripper, prefix="r ", position=(0, 2, "length"))
    assert two == mbvi.load(folder / "whole.yaml")
    alone = mbvi.attach(arm, gripper)
    assert "mount" in alone.bodies and alone.joints["hinge"].parent == "mount"


URDF = """<robot name="hand"><link name="palm"><inertial><mass value="1"/><inertia ixx="{}" iyy="1" izz="1"/></inertial></link>
  <link name="f"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link><gazebo/>
  <joint name="j" type="continuous"><parent link="palm"/><child link="f"/><safety_controller/></joint>
  <transmission><joint name="j"/><actuator name="m"><mechanicalReduction>7</mechanicalReduction></actuator></transmission>
  </robot>"""


@pytest.mark.filterwarnings("ignore:.*1 inertia that no rigid body has")
def test_the_reports_of_robots_are_that_of_the_whole(folder, monkeypatch):
    (folder / "hand.urdf").write_text(URDF.format(3))
    both = "attach: {l: {file: hand.urdf}, r: {file: hand.urdf, prefix: 'r '}, p: {file: parts/gripper.yaml}}"
    (folder / "two.yaml").write_text(f"name: two\nbodies: {{}}\n{both}")
    report = mbvi.load(folder / "two.yaml").import_report
    assert report.summary.startswith(
        "URDF: 2 links, 1 joint (1 continuous), 1 motor, 2 links, 1 joint (1 continuous), 1 motor;"
    )
    assert report.source == str(folder / "hand.urdf")
    assert "  - 2 links (l)\n" in str(report) and "  - 2 links (r)\n" in str(report)
    assert "<safety_controller>: soft limits of a controller (r: joint 'j')" in str(report)
    assert report.reductions == {"l/j": 7, "r j": 7} and list(report.mended) == ["l/palm", "r palm"]
    assert mbvi.load(folder / "whole.yaml").import_report is None
    hand = mbvi.load(folder / "hand.urdf")
    two = mbvi.attach(hand, hand, to="f", prefix="second ")
    assert len(two.import_report.of_kind("dropped")) == 4 and list(two.import_report.reductions) == ["j", "second j"]
    assert "<gazebo>: what it says is for the simulator Gazebo (second)" in str(two.import_report)
    monkeypatch.chdir(folder)
    shown = "things dropped\n  --report shows them all\n\nwritten to out.yaml"
    for name, said in (("two", shown), ("whole", "written to out.yaml")):
        result = CliRunner().invoke(app, ["convert", f"{name}.yaml", "-o", "out.yaml", "--force"])
        assert result.exit_code == 0 and result.stdout.strip().endswith(said)
        assert mbvi.load("out.yaml").resolved() == mbvi.load(f"{name}.yaml").resolved()
    result = CliRunner().invoke(app, ["convert", "parts/gripper.yaml"])
    assert result.exit_code and "found a model file (YAML), which is one already" in result.output


def test_meshes_are_found_from_where_the_whole_is(folder):
    (folder / "parts" / "meshes").mkdir()
    trimesh.creation.box((1, 2, 3)).export(folder / "parts" / "meshes" / "box.stl")
    (folder / "parts" / "box.yaml").write_text(
        "name: box\nbodies: {box: {shapes: [{type: mesh, file: meshes/box.stl, density: 2}]}}\n"
        "joints: {free: {type: free, parent: world, child: box}}"
    )
    (folder / "a.yaml").write_text("name: a\nbodies: {}\nattach: {box: {file: parts/box.yaml}}\n")
    model = mbvi.load(folder / "a.yaml")
    assert model.bodies["box/box"].shapes[0].file.replace("\\", "/") == "parts/meshes/box.stl"
    assert mbvi.mass_properties(model.resolved().bodies["box/box"], model.files).mass == pytest.approx(12)
    mbvi.save(model, folder / "parts" / "b.yaml")
    assert (
        mbvi.load(folder / "parts" / "b.yaml").bodies["box/box"].shapes[0].file.replace("\\", "/") == "meshes/box.stl"
    )


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{file: ../a.yaml}", "attach.x: file: expected a file in the folder of the model, or below, found '../a.yaml'"),
        ("{file: /etc/passwd}", "attach.x: file: expected a file in the folder of the model, or below, found '/etc/passwd'"),
        ("{file: whole.yaml}", "attach.x: file: expected a model that does not attach itself, found 'whole.yaml'"),
        ("{file: no.yaml}", "no.yaml: expected a model file, found no such file; check the path"),
        ("{file: parts/gripper.yaml, to: arm.tol}", "attach.x: to: expected world, a body or a frame as BODY.FRAME, found"),
        ("{file: parts/gripper.yaml, two: arm}", "attach.x.two: expected a known key, found 'two'; did you mean"),
        ("{file: parts/gripper.yaml, to: arm.tool.1, position: [1, 0, 0]}", "attach.x: expected a position and orientation on"),
        ("3", "attach.x: expected a mapping of keys to values, found 3"),
    ],
)  # fmt: skip
def test_what_cannot_be_attached(entry, message, folder):
    (folder / "whole.yaml").write_text(ARM + f"attach:\n  x: {entry}\n")
    with pytest.raises(mbvi.ModelError) as error:
        mbvi.load(folder / "whole.yaml")
    assert message in str(error.value) and "whole.yaml:14:" in str(error.value)


def test_names_in_both_and_circles(folder):
    (folder / "whole.yaml").write_text(ARM + 'attach: {x: {file: arm.yaml, prefix: ""}}')
    (folder / "arm.yaml").write_text(ARM)
    with pytest.raises(
        mbvi.ModelError, match=r"bodies\.arm: expected a name of its own, found 'arm' in both models; give"
    ):
        mbvi.load(folder / "whole.yaml")
    (folder / "arm.yaml").write_text(ARM + "attach: {y: {file: whole.yaml}}")
    with pytest.raises(mbvi.ModelError, match=r"attach\.y: file: expected a model that does not attach itself"):
        mbvi.load(folder / "whole.yaml")
    point = mbvi.PrescribedPoint(body="arm", position=(0, 0, "t"))
    driven = mbvi.from_yaml(ARM).model_copy(update={"constraints": {"hand": point}})
    with pytest.raises(
        mbvi.ModelError, match=r"constraints\.hand: expected a model that can be put anywhere, found 'hand', "
    ):
        mbvi.attach(mbvi.from_yaml(ARM), driven, prefix="x")


def test_stops_frictions_and_sensors_come_along():
    """With the prefix before their names and all that they are on, and with numbers for parameters."""
    gripper = mbvi.from_yaml(
        GRIPPER
        + """
contacts:
  rub: {type: dry_friction, joint: hinge, kinetic: length}
  end: {type: coordinate_stop, joint_a: hinge, joint_b: slide, upper: 0.3 + length*x}
sensors:
  turn: {type: gyroscope, frame: finger, noise: length}
  sum: {type: expression_sensor, expression: "length*q('hinge') + v('slide')"}
"""
    )
    both = mbvi.attach(mbvi.from_yaml(ARM), gripper, "arm.tool.1", "g/").resolved()
    rub, end = both.contacts["g/rub"], both.contacts["g/end"]
    assert (rub.joint, rub.kinetic, end.joint_a, end.joint_b) == ("g/hinge", 0.1, "g/hinge", "g/slide")
    assert (both.sensors["g/turn"].frame, both.sensors["g/turn"].noise) == ("g/finger", 0.1)
    assert both.sensors["g/sum"].expression == "(0.1)*q('g/hinge') + v('g/slide')"
