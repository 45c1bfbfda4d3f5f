"""MJCF files against MuJoCo itself: joints, constraints, meshes, motions; which files may be read, and what is refused."""

import sys

import numpy as np
import pytest
import trimesh

import mbvi
from mbvi.animation.geometry import body_geometry
from mbvi.model.expressions import evaluate
from mbvi.system.exchange import from_mujoco, to_mujoco

mujoco = pytest.importorskip("mujoco")

from tests.campaigns import mjcf  # noqa: E402

TREE = """
<mujoco model="tree">
  <compiler angle="radian"/>
  <option gravity="0.3 -0.2 -5"/>
  <default><joint damping="0.2"/><geom rgba="0.2 0.4 0.6 1"/></default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="a/1" pos="0.1 0.2 0.3" quat="1 0.2 0.3 0.4">
      <joint name="slide" type="slide" axis="1 2 -1" ref="0.2" range="-1 1" stiffness="3" springref="0.1" armature="0.4"/>
      <joint type="hinge" axis="0 1 1" pos="0.1 0 0.2" ref="0.4" frictionloss="0.3" armature="0.03"/>
      <geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0.1" quat="1 1 0 0"/>
      <site name="tool" pos="1 2 3" quat="1 0 0 1"/>
      <body name="b" pos="0 0.5 0">
        <joint name="ball" type="ball" pos="0.1 0.1 0" damping="0"/>
        <geom type="capsule" size="0.05 0.2"/>
        <body name="c" pos="0 0 0.4"><geom type="cylinder" size="0.1 0.05"/></body>
      </body>
    </body>
    <body name="d" pos="1 2 3" quat="1 0 1 0"><freejoint name="free"/><geom type="sphere" size="0.2"/></body>
  </worldbody>
  <actuator>
    <motor name="pull" joint="slide" gear="20" armature="0.002" damping="0.001"/>
    <adhesion name="glue" body="b" ctrlrange="0 1" gain="3"/>
  </actuator>
</mujoco>
"""


def load(folder, text, **options):
    path = folder / "robot.xml"
    path.write_text(text)
    return mbvi.load(path, **options)


def test_bodies_joints_and_forces(tmp_path):
    model = load(tmp_path, TREE)
    assert list(model.bodies) == ["a/1", "a/1 after slide", "b", "c", "d"]
    assert {name: joint.type for name, joint in model.joints.items()} == {
        "slide": "prismatic",
        "joint 1": "revolute",
        "ball": "ball",
        "c fixed": "weld",
        "free": "free",
    }
    assert (model.joints["joint 1"].friction, model.joints["slide"].limits["displacement"].upper) == (0.3, 1)
    assert model.gravity == (0.3, -0.2, -5)
    spring = model.forces["slide spring"]
    assert (spring.stiffness, spring.rest, model.forces["joint 1 damping"].damping) == (3, 0.1, 0.2)
    assert dict(model.initial["joint 1"])["position"] == 0.4 and len(model.initial["free"].position) == 7
    assert model.bodies["a/1"].shapes[0].color == "#336699" and list(model.bodies["a/1"].frames) == ["tool"]
    report = str(model.import_report)
    assert "frictionloss: kept with the joint, and acts only on import with stops (joint 'joint 1')" in report
    assert "actuator: mbvi has them on single coordinates, tendons and sites (glue)" in report
    pull = model.forces["pull"]
    assert (pull.type, pull.joint, pull.gear, pull.input, pull.effort) == ("motor", "slide", 20, 0, None)
    assert model.joints["slide"].armatures == {"displacement": pytest.approx(0.4 + 0.002 * 400)}
    assert model.forces["slide damping"].damping == pytest.approx(0.2 + 0.001 * 400)
    assert mbvi.from_yaml(mbvi.to_yaml(model)) == model


def test_mass_matrix_and_bias(tmp_path):
    load(tmp_path, TREE)
    row = mjcf.compared(tmp_path / "robot.xml", tmp_path, states=3)
    assert row.motions == 11 and row.worst < 1e-13


def test_places_of_frames_and_a_motion(tmp_path):
    """By MuJoCo's RK4 with a small step, whose error is about 1e-9 here."""
    text = TREE.replace("<option ", '<option integrator="RK4" timestep="0.0005" ').replace(
        'size="1 1 1"', 'size="1 1 1" contype="0"'
    )
    text = (
        text.replace('range="-1 1"', "")
        .replace('frictionloss="0.3"', "")
        .replace("<geom ", '<geom contype="0" conaffinity="0" ')
    )
    text = text.replace(
        'contype="0" conaffinity="0" type="plane" size="1 1 1" contype="0"', 'contype="0" type="plane" size="1 1 1"'
    )
    model = load(tmp_path, text)
    robot = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    data, system = mujoco.MjData(robot), mbvi.assemble(model)
    data.qvel[:] = np.linspace(-1, 1, robot.nv)
    mujoco.mj_forward(robot, data)
    q, v = from_mujoco(system, robot, data.qpos, data.qvel)
    run = mbvi.simulate(system, "gauss3", step=0.01, duration=0.5, initial_q=q, initial_v=v)
    for _ in range(1000):
        mujoco.mj_step(robot, data)
    mujoco.mj_forward(robot, data)
    places, rotations = run.pose("a/1.tool")
    np.testing.assert_allclose(places[-1], data.site("tool").xpos, rtol=0, atol=1e-8)
    np.testing.assert_allclose(rotations[-1].ravel(), data.site("tool").xmat, rtol=0, atol=1e-8)
    np.testing.assert_allclose(run.pose("c")[0][-1], data.body("c").xpos, rtol=0, atol=1e-8)


ACTUATORS = """
<mujoco>
  <worldbody>
    <body><joint name="a" axis="0 1 0" armature="0.2"/><geom size=".1" pos="1 0 0"/>
      <body pos="1 0 0"><joint name="b" type="slide" axis="1 0 0" actuatorfrcrange="-30 20"/><geom size=".1"/>
        <body pos="0 1 0"><joint name="c" axis="1 0 0"/><geom size=".1" pos="0 0 1"/></body>
      </body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="both"><joint joint="a" coef="0.5"/><joint joint="b" coef="0"/><joint joint="c" coef="-2"/></fixed>
    <spatial name="rope"><site site="s"/><site site="t"/></spatial>
  </tendon>
  <actuator>
    <motor name="motor" joint="a" gear="3" forcerange="-4 2"/>
    <position name="position" joint="b" kp="50" kv="4" ctrlrange="0.2 1"/>
    <velocity name="velocity" joint="c" kv="0.7" gear="-2" forcerange="-1 1"/>
    <general name="general" joint="a" gear="2" gainprm="3" biastype="affine" biasprm="1 -4 -0.3"/>
    <motor name="tendon" tendon="both" gear="5"/>
    <position name="held" tendon="both" kp="5"/>
    <motor name="rope" tendon="rope"/>
    <cylinder name="air" joint="a" timeconst="1"/>
  </actuator>
  <keyframe><key name="home" qpos="0.3 -0.4 0.5" ctrl="0.7 0.1 3 0.2 0.6 0.1 0 0"/></keyframe>
</mujoco>
""".replace("<worldbody>", '<worldbody><site name="s"/><site name="t" pos="0 0 1"/>', 1)


def test_actuators_exert_what_those_of_mujoco_do(tmp_path):
    """On the coordinates, at random states, within and beyond their ranges."""
    model = load(tmp_path, ACTUATORS, start="home")
    assert {name: force.type for name, force in model.forces.items()} == {
        "motor": "motor",
        "position": "position_servo",
        "velocity": "velocity_servo",
        "general": "actuator",
        "tendon": "tendon_actuator",
        "held": "tendon_actuator",
    }
    report = str(model.import_report)
    for text in (
        "ropes over several bodies, not around geoms (rope)",
        "a state of its own, which mbvi lacks (air)",
    ):
        assert text in report
    system = mbvi.assemble(model)
    without = mbvi.assemble(model.model_copy(update={"forces": {}}))
    robot = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    data, random = mujoco.MjData(robot), np.random.default_rng(2)
    sizes = []
    for scale in (0.1, 1, 1, 10):
        data.qpos[:], data.qvel[:] = scale * random.normal(size=3), scale * random.normal(size=3)
        data.ctrl[:] = robot.key_ctrl[0]
        data.ctrl[7] = 0.0
        mujoco.mj_forward(robot, data)
        q, v = from_mujoco(system, robot, data.qpos, data.qvel)
        force = system.gradient(q, v)[1] - without.gradient(q, v)[1]
        np.testing.assert_allclose(force, data.qfrc_actuator, rtol=0, atol=1e-12 * max(1, np.abs(force).max()))
        sizes.append(np.abs(force).max())
    assert max(sizes) > 10


def test_what_the_file_disables_is_left_out(tmp_path):
    off = "".join(
        f' {flag}="disable"' for flag in "equality frictionloss limit spring damper gravity actuation".split()
    )
    body = '<body name="b"><joint name="j" damping="1" stiffness="1" frictionloss="1" range="-1 1"/><geom size=".1"/></body>'
    more = """<tendon><fixed name="t" stiffness="1" damping="1" limited="true" range="0 1">
      <joint joint="j" coef="1"/></fixed></tendon>
      <equality><joint joint1="j"/></equality><actuator><motor joint="j"/></actuator>"""
    whole = load(tmp_path, f"<mujoco><worldbody>{body}</worldbody>{more}</mujoco>", stops=True)
    assert (len(whole.forces), len(whole.constraints), len(whole.contacts), len(whole.joints["j"].limits)) == (
        5,
        1,
        3,
        1,
    )
    text = f"<mujoco><option><flag {off}/></option><worldbody>{body}</worldbody>{more}</mujoco>"
    model = load(tmp_path, text, stops=True)
    assert not (model.forces or model.constraints or model.contacts or model.joints["j"].limits or any(model.gravity))
    assert (
        "flags of <option>: what the file disables is left out: equality, frictionloss, limit, spring, damper, gravity, actuation"
        in str(model.import_report)
    )


def test_geoms_that_mujoco_does_not_show(tmp_path):
    geoms = '<geom size=".1" rgba="1 0 0 .5"/><geom size=".2" rgba="1 0 0 0"/><geom size=".3" group="3"/>'
    geoms += '<geom size=".4" contype="0" conaffinity="0"/>'
    text = f'<mujoco><worldbody><body name="b"><joint/>{geoms}</body></worldbody></mujoco>'
    for geometry, expected in (("visual", [0.1, 0.4]), ("collision", [0.1, 0.2, 0.3]), ("none", [])):
        model = load(tmp_path, text, geometry=geometry)
        assert [shape.radius for shape in model.bodies["b"].shapes] == expected
        report = str(model.import_report)
        assert ("geom: not asked for (body 'b')" in report) == (geometry != "visual")
        assert ("geom: MuJoCo does not show it either; geometry='collision' draws" in report) == (geometry == "visual")
        assert ("transparent geom: drawn opaque (body 'b')" in report) == (geometry != "none")


def test_a_keyframe_is_a_start(tmp_path):
    key = '<keyframe><key name="home" qpos="{}" qvel="{}"/></keyframe></mujoco>'
    numbers = ["0.3 0.5 0.5 0.1 -0.7 0.5 1 2 3 0.5 0.5 0.5 0.5", "1 2 3 4 5 6 7 8 9 10 11"]
    model = load(tmp_path, TREE.replace("</mujoco>", key.format(*numbers)), start="home")
    robot = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    system = mbvi.assemble(model)
    q, v = to_mujoco(system, robot, system.initial_q, system.initial_v)
    np.testing.assert_allclose(q, robot.key_qpos[0], rtol=0, atol=1e-14)
    np.testing.assert_allclose(v, robot.key_qvel[0], rtol=0, atol=1e-13)
    with pytest.raises(mbvi.ModelError, match=r"expected the name of a keyframe, found 'hom'; did you mean 'home'\?$"):
        mbvi.load(tmp_path / "robot.xml", start="hom")
    with pytest.raises(mbvi.ModelError, match=r"expected the name of a keyframe, found ''; known: home$"):
        mbvi.load(tmp_path / "robot.xml", start="")


LOOP = """
<mujoco>
  <worldbody>
    <body name="a"><joint name="a" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 1" size=".02"/>
      <body name="b" pos="0 0 1"><joint name="b" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 1 0 0" size=".02"/></body>
    </body>
    <body name="c" pos="1 0 0"><joint name="c" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 1" size=".02"/></body>
    <body name="d" pos="0 2 0"><freejoint/><geom size=".1"/></body>
    <body name="e" pos="0 3 0" quat="1 0 0.3 0"><joint name="e" ref="10" axis="1 0 0"/><geom size=".1" pos="0 0 1"/></body>
    <body name="f" pos="0 4 0"><joint name="f" axis="1 0 0"/><geom size=".1" pos="0 0 1"/></body>
  </worldbody>
  <equality>
    <connect name="pin" body1="b" body2="c" anchor="1 0 0"/>
    <weld body1="c" body2="d" anchor="0.1 0.2 0.3"/>
    <joint joint1="f" joint2="e" polycoef="0.1 2 0 0 0"/>
    <joint joint1="a" joint2="e" polycoef="0 0.5 1 -2 0.3"/>
    <connect body1="e" body2="f" anchor="0 0 0" active="false"/>
  </equality>
</mujoco>
"""


def test_constraints_hold_where_those_of_mujoco_do(tmp_path):
    model = load(tmp_path, LOOP)
    assert list(model.constraints) == ["pin", "equality 1", "equality 2", "equality 3"]
    report = str(model.import_report)
    assert "equality: not active at the start (equality 4)" in report
    coupling = model.constraints["equality 2"]
    assert (coupling.joint_a, coupling.joint_b, coupling.ratio) == ("e", "f", 2)
    start = np.deg2rad(10)
    assert evaluate(model.constraints["equality 3"].function, {"x": start + 0.7}) == pytest.approx(
        0.5 * 0.7 + 0.7**2 - 2 * 0.7**3 + 0.3 * 0.7**4, rel=1e-14
    )
    run = mbvi.simulate(model, step=0.005, duration=0.3)
    assert run.constraint_residual().max() < 1e-12
    robot = mujoco.MjModel.from_xml_string(LOOP)
    data = mujoco.MjData(robot)
    data.qpos[:], data.qvel[:] = to_mujoco(run.system, robot, run.q[-1], run.v[-1])
    mujoco.mj_forward(robot, data)
    is_equality = data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    assert is_equality.sum() == 11
    np.testing.assert_allclose(data.efc_pos[is_equality], 0, rtol=0, atol=1e-12)


@pytest.fixture
def package(tmp_path):
    (tmp_path / "scene" / "meshes").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    trimesh.creation.box((1, 2, 3)).apply_translation((5, 0, 1)).export(tmp_path / "scene" / "meshes" / "box.stl")
    trimesh.creation.box((1, 2, 3)).export(tmp_path / "outside" / "box.stl")
    (tmp_path / "scene" / "package.xml").write_text("<package/>")
    return tmp_path / "scene"


def mesh_scene(file="box.stl", more=""):
    return f"""<mujoco><compiler meshdir="meshes"/>{more}
    <asset><mesh file="{file}" scale="0.1 0.2 -0.1"/><texture name="t" type="2d" file="none.png"/></asset>
    <worldbody><body name="a"><freejoint/><geom type="mesh" mesh="box" pos="1 2 3" quat="1 2 3 4"/></body></worldbody></mujoco>"""


def test_a_mesh_lies_where_mujoco_has_it(package):
    model = load(package, mesh_scene())
    (shape,) = model.bodies["a"].shapes
    assert shape.file.endswith("box.stl") and shape.mass is None
    ours = body_geometry(model.resolved().bodies["a"], [np.zeros(3)], model.files, 0.01).vertices
    text = mesh_scene().replace('type="2d" file="none.png"', 'builtin="flat" width="1" height="1"')
    content = (package / "meshes" / "box.stl").read_bytes()
    robot = mujoco.MjModel.from_xml_string(text, {"meshes/box.stl": content})
    data = mujoco.MjData(robot)
    mujoco.mj_forward(robot, data)
    theirs = robot.mesh_vert @ data.geom_xmat[0].reshape(3, 3).T + data.geom_xpos[0]
    np.testing.assert_allclose(np.ptp(ours, axis=0), np.ptp(theirs, axis=0), rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.min(axis=0), theirs.min(axis=0), rtol=0, atol=1e-6)


def test_files_are_found_by_the_rule(package):
    (package / "more.xml").write_text("<mujocoinclude><option gravity='0 0 -3'/></mujocoinclude>")
    assert load(package, mesh_scene(more='<include file="more.xml"/>')).gravity == (0, 0, -3)
    with pytest.raises(
        mbvi.ModelError, match=r"robot\.xml:2: <mesh.*>: expected a file in the package .*name its folder by search"
    ):
        load(package, mesh_scene("../../outside/box.stl"))
    with pytest.raises(
        mbvi.ModelError, match=r"robot\.xml:2: <mesh.*>: expected a file, found none of the name 'meshes/none.stl'"
    ):
        load(package, mesh_scene("none.stl"))
    (package / "more.xml").write_text("<mujocoinclude><include file='more.xml'/></mujocoinclude>")
    with pytest.raises(
        mbvi.ModelError, match=r"more\.xml:1: <include>: expected at most 100 included files, found more"
    ):
        load(package, mesh_scene(more='<include file="more.xml"/>'))


def test_warnings_of_mujoco_are_reported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    body = "<body><joint/><geom size='.1'/></body>"
    model = load(tmp_path, f"<mujoco><compiler settotalmass='3'/><worldbody>{body}</worldbody></mujoco>")
    assert "a warning of MuJoCo: compiler attribute 'settotalmass' is deprecated" in str(model.import_report)
    assert [path.name for path in tmp_path.iterdir()] == ["robot.xml"]


@pytest.mark.parametrize(
    ("body", "more", "message"),
    [
        ('pos="nan 0 0"', "", r"body 'b': expected finite numbers of size at most 1e\+50 as pos, found \[nan, 0, 0\]$"),
        ('pos="1e60 0 0"', "", r"body 'b': expected finite numbers of size at most 1e\+50 as pos, found \[1e\+60, 0, 0\]$"),
        ('><joint ref="nan"/><geom size="1"/></body><body', "", "joint 0: expected a finite number .* as ref, found nan"),
        ("", '<equality><joint joint1="j" polycoef="nan 0 0 0 0"/></equality>', "equality 0: expected finite numbers of"),
        ("", '<actuator><general name="m" joint="j" gainprm="nan"/></actuator>', "actuator 'm': gain: expected a finite number"),
    ],
)  # fmt: skip
def test_numbers_that_are_none_are_refused_by_name(body, more, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = f'<body name="b" {body}><joint name="j"/><geom size=".1"/></body>'
    with pytest.raises(mbvi.ModelError, match=rf"robot\.xml: {message}"):
        load(tmp_path, f"<mujoco><worldbody>{text}</worldbody>{more}</mujoco>")


def test_empty_values_are_refused(tmp_path):
    """That of this anchor lets MuJoCo 4.0 throw with a lock held, so that all that is compiled later waits for ever."""
    bodies = "".join(f'<body name="{name}"><joint/><geom size=".1"/></body>' for name in "ab")
    text = f'<mujoco model=""><worldbody>{bodies}</worldbody>{{}}</mujoco>'
    anchor = '<equality><connect body1="a" body2="b" anchor="{}"/></equality>'
    with pytest.raises(
        mbvi.ModelError, match=r"robot\.xml:1: <connect>: expected a value of anchor, found an empty one; write"
    ):
        load(tmp_path, text.format(anchor.format(" ")))
    assert load(tmp_path, text.format(anchor.format("0 0 1"))).constraints


def test_what_mujoco_refuses(tmp_path, monkeypatch):
    with pytest.raises(
        mbvi.ModelError, match=r"robot\.xml:1: expected a file that MuJoCo compiles, found .*unrecognized"
    ):
        load(tmp_path, "<mujoco><worldbody><body><jiont/></body></worldbody></mujoco>")
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(mbvi.ModelError, match=r"expected the package mujoco, found none; pip install 'mbvi\[mjcf\]'"):
        load(tmp_path, "<mujoco/>")
