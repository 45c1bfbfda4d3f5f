"""URDF files: what is taken, what the report says, which files may be read, and what is refused."""

import os
import re
import warnings

import numpy as np
import pytest
import trimesh
from typer.testing import CliRunner

import mbvi
from mbvi.cli import app
from mbvi.model.imports.mesh_colors import mesh_color
from mbvi.model.mesh_files import read_mesh
from mbvi.system.exchange import from_joint_state, from_pinocchio, joint_state, to_pinocchio
from tests.folders import MODELS

ARM = MODELS / "robot_arm" / "arm.urdf"
INERTIA = '<inertia ixx="1" iyy="2" izz="2.5" ixy="0.1" ixz="-0.2" iyz="0.3"/>'
INERTIAL = f'<inertial><origin xyz="0.1 0.2 0.3" rpy="1 2 3"/><mass value="2"/>{INERTIA}</inertial>'
LINKS = "".join(f'<link name="{name}">{INERTIAL}</link>' for name in "abcde")
VISUAL_BOX = '<visual><geometry><box size="1 1 1"/></geometry></visual>'
ORIGIN = '<origin xyz="0.1 -0.2 0.3" rpy="0.3 -0.2 0.9"/>'


def joint(kind, parent, child, more=""):
    return f'<joint name="{child}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{ORIGIN}{more}</joint>'


def robot(*parts):
    return f'<robot name="r">{"".join(parts)}</robot>'


def load(folder, text, **options):
    path = folder / "robot.urdf"
    path.write_text(text)
    return mbvi.load(path, **options)


@pytest.fixture(scope="module")
def arm():
    return mbvi.load(ARM)


# ------------------------------------------------------------------------------------------- what is taken


def test_what_an_arm_becomes(arm):
    hand = arm.joints["roll"]
    assert list(arm.bodies) == [
        "base_link",
        "shoulder",
        "upper_arm",
        "forearm",
        "wrist",
        "hand",
        "finger.left",
        "finger.right",
        "tool",
    ]
    assert (arm.joints["base"].type, hand.type, arm.joints["flange"].type) == ("weld", "revolute", "weld")
    for name, bounds in (("lift", {"lower": -1.8, "upper": 1.8}), ("turn", {})):
        limits = {key: value for key, value in arm.joints[name].limits["angle"] if value is not None}
        assert limits == {**bounds, "speed": 3, "effort": 40, "rest_speed": 1e-6}
    assert (arm.joints["lift"].friction, arm.forces["lift damping"].damping) == (0.3, 2)
    assert dict(arm.initial["elbow"]) == {"position": pytest.approx(1.3), "velocity": None, "hold": False}
    coupling = arm.constraints["grip_other mimics grip"]
    assert (coupling.joint_a, coupling.joint_b, coupling.ratio, coupling.offset) == ("grip", "grip_other", 1, 0)
    finger = arm.bodies["finger.right"].shapes[0]
    assert (finger.file, finger.scale, finger.color, finger.mass) == (
        os.path.join("meshes", "finger.stl"),
        (1, -1, 1),
        "#59616B",
        None,
    )


def test_the_report_of_an_arm(arm):
    assert arm.import_report.summary == (
        "URDF: 9 links, 8 joints (1 continuous, 4 revolute, 2 prismatic, 1 fixed), 1 coupling, 6 dampers, 1 motor; 2 things "
        "approximated, 2 things dropped"
    )
    assert arm.import_report.reductions == {"lift": 100}
    assert (arm.forces["lift_motor"].gear, arm.forces["lift_motor"].input) == (100, 0)
    assert str(arm.import_report).splitlines()[9:] == [
        "Approximated",
        "  - friction: kept with the joint, and acts only on import with stops (joint 'lift')",
        "  - start: 0 is beyond the limits of the joint; it starts between them ('elbow')",
        "",
        "Dropped",
        "  - <collision>: mbvi has no contacts between shapes; geometry='collision' draws it (link 'base_link', link "
        "'upper_arm')",
        "  - <gazebo>: what it says is for the simulator Gazebo",
    ]
    assert mbvi.load(MODELS / "pendulum.yaml").import_report is None


def test_limits_stop_and_friction_acts_if_they_are_asked_to(arm):
    stopping = mbvi.load(ARM, stops=True)
    assert "12 stops of limits, 1 friction of joints" in stopping.import_report.summary
    assert dict(stopping.joints["lift"].limits["angle"]) | {"restitution": None} == dict(
        arm.joints["lift"].limits["angle"]
    )
    run = mbvi.simulate(stopping, "simpson", step=0.01, duration=1.5)
    assert {each.name for each in run.contacts} == {"friction of lift", "lift.angle.upper"}
    assert min(gap.min() for gap in run.gaps().values()) > -1e-12


def test_an_imported_model_is_a_model_file(arm, tmp_path):
    (tmp_path / "here").mkdir()
    result = CliRunner().invoke(app, ["convert", str(ARM), "-o", str(tmp_path / "here" / "arm.yaml")])
    assert result.exit_code == 0 and arm.import_report.summary in result.stdout
    again = mbvi.load(tmp_path / "here" / "arm.yaml")
    assert {key: getattr(again, key) for key in ("joints", "forces", "constraints", "initial")} == {
        key: getattr(arm, key) for key in ("joints", "forces", "constraints", "initial")
    }
    np.testing.assert_array_equal(
        mbvi.assemble(again).mass_matrix(np.ones(7)), mbvi.assemble(arm).mass_matrix(np.ones(7))
    )
    mbvi.save(arm, tmp_path / "arm.yaml")
    assert mbvi.load(tmp_path / "arm.yaml").bodies["wrist"].shapes[0].file.endswith("wrist.stl")


def test_commands_take_a_robot(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["run", str(ARM), "--duration", "0.1"])
    assert result.exit_code == 0 and "imported     URDF: 9 links" in result.stdout
    assert "Imported\n" in CliRunner().invoke(app, ["check", str(ARM)]).stdout


def test_a_robot_may_float_and_show_other_geometry():
    floating = mbvi.load(ARM, floating=True, geometry="collision")
    assert floating.joints["base"].type == "free"
    assert [shape.type for shape in floating.bodies["base_link"].shapes] == ["cylinder"]
    assert not any(body.shapes for body in mbvi.load(ARM, geometry="none").bodies.values())


def test_all_joints_against_pinocchio(tmp_path):
    """Kinetic energy, gravity, and states there and back, of every type of joint."""
    pin = pytest.importorskip("pinocchio")
    axis = '<axis xyz="0.3 -0.4 0.5"/>'
    limit = '<limit lower="-4" upper="4" effort="1" velocity="1"/>'
    text = robot(
        LINKS,
        joint("floating", "a", "b"),
        joint("planar", "b", "c", '<axis xyz="0 0 1"/>'),
        joint("continuous", "c", "d", axis),
        joint("prismatic", "c", "e", axis + limit),
    )
    model = load(tmp_path, text)
    assert [each.type for each in model.joints.values()] == ["weld", "free", "planar", "revolute", "prismatic"]
    system, there, random = mbvi.assemble(model), pin.buildModelFromXML(text), np.random.default_rng(4)
    data = there.createData()
    for _ in range(5):
        q_pin = pin.integrate(there, pin.neutral(there), random.normal(size=there.nv))
        v_pin = random.normal(size=there.nv)
        q, v = from_pinocchio(system, there, q_pin, v_pin)
        assert system.kinetic_energy(q, v) == pytest.approx(
            pin.computeKineticEnergy(there, data, q_pin, v_pin), rel=1e-13
        )
        units = [from_pinocchio(system, there, q_pin, unit)[1] for unit in np.eye(there.nv)]
        gravity = pin.computeGeneralizedGravity(there, data, q_pin)
        np.testing.assert_allclose(
            -(units @ system.gradient(q, 0 * v)[1]), gravity, rtol=0, atol=1e-12 * abs(gravity).max()
        )
        q_back, v_back = to_pinocchio(system, there, q, v)
        np.testing.assert_allclose(pin.difference(there, q_pin, q_back), 0, rtol=0, atol=1e-14)
        np.testing.assert_allclose(v_back, v_pin, rtol=0, atol=1e-14)


def test_states_of_joints_by_names(arm):
    system = mbvi.assemble(arm)
    q, v = from_joint_state(system, ["roll", "lift"], [0.1, 0.2], [3, 4])
    state = joint_state(system, q, v)
    assert dict(zip(state.name, state.position, strict=True)) == pytest.approx(
        {"turn": 0, "lift": 0.2, "elbow": 1.3, "bend": 0, "roll": 0.1, "grip": 0, "grip_other": 0}
    )
    assert state.velocity.tolist() == [0, 4, 0, 0, 3, 0, 0]
    with pytest.raises(
        mbvi.ModelError, match=r"^name: expected a joint with one coordinate, found 'rol'; did you mean 'roll'"
    ):
        from_joint_state(system, ["rol"], [0])


@pytest.mark.parametrize(
    ("text", "bodies"),
    [
        ('<link name="world"/>' + LINKS[: len(LINKS) // 5] + joint("fixed", "world", "a"), ["a"]),
        (f'<link name="world">{INERTIAL}</link>', ["world link"]),
        (LINKS[: len(LINKS) // 5] + '<link name="world"/>' + joint("fixed", "a", "world"), ["a", "world link"]),
    ],
)
def test_a_link_may_be_called_world(text, bodies, tmp_path):
    assert list(load(tmp_path, robot(text)).bodies) == bodies


def test_joints_that_move_nothing_with_mass_are_welded(tmp_path):
    text = robot('<link name="a"/><link name="b"/>', joint("continuous", "a", "b", "<dynamics damping='1'/>"))
    model = load(tmp_path, text)
    assert model.joints["b"].type == "weld" and not model.forces
    assert "joint: welded: nothing that it moves has mass or inertia" in str(model.import_report)


def test_the_nearest_inertia_is_taken_with_a_warning(tmp_path):
    """The moments 1, 1, 3 are 1/3 in each from 4/3, 4/3, 8/3, the nearest of a body, of a disc with ∫ r² dm = 8/3."""
    inertial = '<inertial><mass value="2"/><inertia ixx="1" iyy="3" izz="1"/></inertial>'
    text = robot(f'<link name="disc">{inertial}</link>')
    with pytest.warns(
        mbvi.errors.ModelWarning,
        match=r"robot.urdf: 1 inertia .* that of 'disc' changed most, by 1[23] % of mass × size²$",
    ):
        model = load(tmp_path, text)
    np.testing.assert_allclose(model.bodies["disc"].inertia, [4 / 3, 8 / 3, 4 / 3, 0, 0, 0], rtol=1e-12, atol=1e-12)
    assert model.import_report.mended == {"disc": pytest.approx(0.125)}
    with pytest.raises(
        mbvi.ModelError, match=r"robot.urdf:1: <inertial>: expected principal moments of which none .* mend=False"
    ):
        load(tmp_path, text, mend=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(tmp_path, text.replace('iyy="3"', 'iyy="2.0000000000001"'))


# ------------------------------------------------------------------------------------- files that may be read


def with_mesh(name, scale="1 1 1"):
    return robot(
        f'<link name="a"><visual><geometry><mesh filename="{name}" scale="{scale}"/></geometry></visual></link>'
    )


@pytest.fixture
def package(tmp_path):
    """A package with a robot, a mesh beside it, and a mesh outside."""
    for folder in ("inside/urdf", "inside/meshes", "other/meshes"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "inside" / "package.xml").write_text("<package/>")
    for folder in ("inside", "other"):
        trimesh.creation.box((1, 2, 3)).export(tmp_path / folder / "meshes" / "box.stl")
    (tmp_path / "inside" / "meshes" / "link.stl").symlink_to(tmp_path / "other" / "meshes" / "box.stl")
    return tmp_path / "inside" / "urdf"


@pytest.mark.parametrize(
    "name", ["../meshes/box.stl", "package://inside/meshes/box.stl", "model://inside/meshes/box.stl"]
)
def test_files_of_the_package_are_read(name, package):
    (shape,) = load(package, with_mesh(name)).bodies["a"].shapes
    assert shape.file == os.path.join("..", "meshes", "box.stl")


@pytest.mark.parametrize(
    "name", ["../../other/meshes/box.stl", "package://other/meshes/box.stl", "../meshes/link.stl", "file"]
)
def test_files_outside_need_to_be_named(name, package, monkeypatch):
    other = package.parents[1] / "other"
    text = with_mesh((other / "meshes" / "box.stl").as_uri() if name == "file" else name)
    with pytest.raises(
        mbvi.ModelError, match=r"robot\.urdf:1: <mesh>: expected a file in the package .*; name its folder by"
    ):
        load(package, text)
    assert load(package, text, search=[other]).bodies["a"].shapes
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/nowhere{os.pathsep}{other}")
    assert load(package, text).bodies["a"].shapes


@pytest.mark.parametrize(
    "command",
    [
        ["check"],
        ["run", "--duration", "0.01", "-o", "run.h5"],
        ["graph", "-o", "graph.svg"],
        ["convert", "-o", "r.yaml"],
        ["equations", "--parts", "potential"],
        *([each] for each in ("warmup", "compare", "ensemble", "bench")),
    ],
    ids=lambda command: command[0],
)
def test_commands_take_the_folders_to_search(command, package, monkeypatch):
    """Without them, all that read a robot say which option names its folder; with them, quick ones do their work."""
    monkeypatch.chdir(package)
    mesh = with_mesh("package://other/meshes/box.stl").replace("</robot>", "")
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    joint = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
    (package / "robot.urdf").write_text(f'{mesh}<link name="b">{inertial}</link>{joint}</robot>')
    name, *more = command
    result = CliRunner().invoke(app, [name, "robot.urdf", *more])
    assert result.exit_code == 2 and "or --search in a command, if it may be read" in result.stderr
    if name in ("check", "run", "graph", "convert", "equations"):
        result = CliRunner().invoke(app, [name, "robot.urdf", *more, "--search", str(package.parents[1] / "other")])
        assert result.exit_code == 0, result.stderr


def test_meshes_that_cannot_be_had_are_reported(package):
    (package / "bad.stl").write_text("solid")
    report = load(package, with_mesh("missing.stl")).import_report
    assert "mesh 'missing.stl': no such file; its folder may be named by search (link 'a')" in str(report)
    (package / "box.3ds").write_bytes(b"")
    report = load(package, with_mesh("box.3ds")).import_report
    reported = "mesh of the type '.3ds': mbvi reads .stl, .obj, .ply, .off, .glb, .dae, .msh (link 'a', box.3ds)"
    assert reported in str(report)
    report = load(package, with_mesh("bad.stl")).import_report
    assert "mesh 'bad.stl': expected an STL text with its endsolid" in str(report)


def test_large_meshes_are_in_millimetres(package):
    (shape,) = (model := load(package, with_mesh("../meshes/box.stl", "10 10 -10"))).bodies["a"].shapes
    assert shape.scale == pytest.approx((0.01, 0.01, -0.01))
    assert "mesh 'box.stl': taken as millimetres, since it would be 30 m long in metres" in str(model.import_report)


OBJ = """mtllib parts.mtl
v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1
usemtl steel\nf 1 2 3
usemtl red paint\nf 1 2 4\nf 1 3 4\nf 2 3 4
"""
MTL = "newmtl steel\nKd 0.5 0.5 0.6\nnewmtl red paint\nKa 1 1 1\nKd 0.8 0.1 0\n"


def test_a_mesh_has_the_colour_of_most_of_its_faces(package):
    (package / "part.obj").write_text(OBJ)
    assert load(package, with_mesh("part.obj")).bodies["a"].shapes[0].color is None
    (package / "parts.mtl").write_text(MTL)
    (shape,) = (model := load(package, with_mesh("part.obj"))).bodies["a"].shapes
    assert shape.color == "#CC1A00"
    why = "materials of 'part.obj': 2 colours in the file; drawn in that of most of its faces (link 'a')"
    assert why in str(model.import_report)
    material = '</geometry><material name="own"><color rgba="0 0 1 1"/></material>'
    given = with_mesh("part.obj").replace("</geometry>", material)
    assert load(package, given).bodies["a"].shapes[0].color == "#0000FF"
    (package / "part.obj").write_text(OBJ.replace("parts.mtl", "../../other/meshes/box.stl"))
    assert "materials of 'part.obj': expected a file in the package" in str(
        load(package, with_mesh("part.obj")).import_report
    )


DAE = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<library_effects><effect id="e"><profile_COMMON><technique sid="c"><phong><ambient><color>1 1 1 1</color></ambient>
<diffuse><color sid="diffuse">0 0.4 0.2 1</color></diffuse></phong></technique></profile_COMMON></effect>
<effect id="image"><profile_COMMON><technique sid="c"><phong><diffuse><texture texture="i"/></diffuse></phong></technique>
</profile_COMMON></effect></library_effects>
<library_materials><material id="green"><instance_effect url="#e"/></material>
<material id="photo"><instance_effect url="#image"/></material></library_materials>
<library_geometries><geometry id="g"><mesh><source id="s"><float_array id="f" count="3">0 0 &lt; 0</float_array></source>
<triangles count="2" material="first"><p>0 1 2</p></triangles><polylist count="9" material="second"><p>0</p></polylist>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="v"><node><instance_geometry url="#g"><bind_material><technique_common>
<instance_material symbol="first" target="#green"/><instance_material symbol="second" target="#photo"/>
</technique_common></bind_material></instance_geometry></node></visual_scene></library_visual_scenes></COLLADA>"""


def test_a_material_may_be_given_after_it_is_named(tmp_path):
    visual = '<visual><geometry><sphere radius="1"/></geometry><material name="{}">{}</material></visual>'
    parts = [("top", ""), ("late", ""), ("none", ""), ("", ""), ("late", GREEN), ("late", BLUE), ("", BLUE)]
    top = f'<material name="top">{GREEN}</material>'
    model = load(tmp_path, robot(f'<link name="a">{"".join(visual.format(*each) for each in parts)}</link>', top))
    assert [shape.color for shape in model.bodies["a"].shapes] == [
        *("#00FF00", "#00FF00", None, None),
        *("#00FF00", "#0000FF", "#0000FF"),
    ]
    report = str(model.import_report)
    assert report.endswith("Dropped\n  - material 'none': no colour of that name is in the file (link 'a')")


def test_colours_of_a_dae_file(tmp_path):
    """Textures have none."""
    (tmp_path / "part.dae").write_text(DAE)
    assert mesh_color(tmp_path / "part.dae", lambda name: None) == ((0, 0.4, 0.2), 1)
    assert mesh_color(tmp_path / "part.stl", lambda name: None) == (None, 0)
    (tmp_path / "part.dae").write_text('<!DOCTYPE a [<!ENTITY b "c">]>' + DAE)
    with pytest.raises(mbvi.ModelError, match="expected XML without entities"):
        mesh_color(tmp_path / "part.dae", lambda name: None)


@pytest.mark.parametrize("axis", ["Y_UP", "Z_UP"])
def test_the_up_axis_of_a_dae_file_is_not_used(axis, package):
    pytest.importorskip("collada")
    text = trimesh.exchange.dae.export_collada(trimesh.creation.box((1, 2, 3))).decode()
    text, found = re.subn("<up_axis>[XYZ]_UP</up_axis>", f"<up_axis>{axis}</up_axis>", text)
    (package / "box.dae").write_text(text)
    model = load(package, with_mesh("box.dae"))
    sizes = read_mesh(model.bodies["a"].shapes[0], model.files).vertices.max(0)
    assert found == 1 and sizes.tolist() == [0.5, 1, 1.5]
    reported = "<up_axis> of DAE files: Y_UP is not used, as ROS does not; turn the mesh if it lies wrong ('box.dae')"
    assert (reported in str(model.import_report)) == (axis == "Y_UP")


@pytest.mark.parametrize(("visual", "drawn"), [("", ["sphere"]), (VISUAL_BOX, ["box"])])
def test_collisions_are_drawn_if_nothing_else_is(visual, drawn, tmp_path):
    solid = '<collision><geometry><sphere radius="1"/></geometry></collision>'
    text = robot(f'<link name="a">{visual}</link>', f'<link name="b">{solid}</link>', joint("fixed", "a", "b"))
    model = load(tmp_path, text)
    assert [shape.type for body in model.bodies.values() for shape in body.shapes] == drawn
    report = str(model.import_report)
    assert ("<collision>: drawn, since no link has a <visual> (link 'b')" in report) != bool(visual)
    assert ("<collision>: mbvi has no contacts between shapes" in report) == bool(visual)


# --------------------------------------------------------------------------------------------- what is refused


GREEN, BLUE = (f'<color rgba="{each} 1"/>' for each in ("0 1 0", "0 0 1"))
LINK = '<link name="a"/>'
HEAVY = f'<link name="a">{INERTIAL}</link>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<robot>", ":1: expected XML, found the end of the file before that of its elements"),
        ("", ": expected a file of a robot, in XML, found an empty file; export it again; models of mbvi end in .yaml"),
        ("name: a", ": expected a file of a robot, in XML, found text that does not begin with <; export it again; models"),
        ("<robot/>", ":1: <robot>: expected an element <link> in it, found none"),
        (robot(LINK, LINK), ":1: <link name='a'>: expected a name that no other link has, found 'a', as in line 1"),
        (robot("<link/>"), ":1: <link>: expected an attribute name, found none"),
        (robot(LINK, '<link name="b"/>'), "expected one link that is no joint's child, found 'a', 'b'; connect all links"),
        (robot(LINK, joint("fixed", "a", "a")), "expected one link that is no joint's child, found none, since they hang"),
        (robot(LINK, joint("fixed", "a", "x")), ":1: <child>: expected the name of a link, found 'x'; known: a"),
        (
            robot(LINKS, *(joint("fixed", a, b) for a, b in ("ab", "cd", "de", "ec"))),
            "expected links that hang on the root, found a circle through 'c'",
        ),
        (robot(LINK, '<link name="b"/>', joint("fixd", "a", "b")), "floating, planar, found 'fixd'; did you mean 'fixed'?"),
        (
            robot(LINK, '<link name="b"/>', joint("revolute", "a", "b", '<axis xyz="0 0 0"/>')),
            ":1: <axis>: expected an axis other than 0, found [0, 0, 0]",
        ),
        (robot(HEAVY.replace("1 2 3", "1,2,3")), ":1: <origin>: expected 3 numbers as rpy, found '1,2,3'"),
        (robot(HEAVY.replace('value="2"', 'value="-2"')), ":1: <mass>: expected a mass of at least 0, found -2"),
        (robot("<xacro:arm/>"), ":1: <xacro:arm>: expected a URDF file without macros, found one for xacro; expand"),
        (robot('<link name="${name}"/>'), "found one for xacro; expand its macros first: ros2 run xacro xacro robot.urdf"),
        (f'<!DOCTYPE r [<!ENTITY b "b">]>{robot(LINK)}', ": expected XML without entities, found declarations of some; write"),
        ('<?xml version="1.0" encoding="klingon"?><robot/>', ": expected XML in an encoding that is known, found unknown"),
        ('<?xml version="1.0" encoding="utf-7"?><robot/>', "found multi-byte encodings are not supported; save it as UTF-8"),
        (robot(HEAVY.replace('value="2"', 'value=""')), ":1: <mass>: expected an attribute value, found an empty one"),
        ("<a>" * 101, ":1: <a>: expected at most 100 elements in each other, found more"),
    ],
)  # fmt: skip
def test_faults_of_the_file(text, message, tmp_path):
    with pytest.raises(mbvi.ModelError, match=f"^{re.escape(str(tmp_path / 'robot.urdf'))}.*{re.escape(message)}"):
        load(tmp_path, text)


def test_options_are_for_robots():
    with pytest.raises(
        mbvi.ModelError, match=r"pendulum\.yaml: expected a robot to import with options, found a model file"
    ):
        mbvi.load(MODELS / "pendulum.yaml", floating=True)
    with pytest.raises(mbvi.ModelError, match=r"^search: expected a list of folders, found 'folder'"):
        mbvi.load(ARM, search="folder")
    with pytest.raises(
        mbvi.ModelError, match=r"^search\[1\]: expected a folder, found '.*nowhere', which is not there$"
    ):
        mbvi.load(ARM, search=[MODELS, MODELS / "nowhere"])
    with pytest.raises(mbvi.ModelError, match=r"^search\[0\]: expected a folder, found '.*urdf', which is a file$"):
        mbvi.load(ARM, search=[ARM])


def test_many_links_without_mass_are_one_line_of_the_check(tmp_path):
    links = "".join(f'<link name="s{i}"/>' for i in range(5))
    text = robot(HEAVY, links, *(joint("fixed", "a", f"s{i}") for i in range(5)))
    load(tmp_path, text)
    shown = CliRunner().invoke(app, ["check", str(tmp_path / "robot.urdf")]).stdout
    assert (
        "bodies: no mass of s0, s1, s2 and 2 more; their motion follows from that of the bodies they are connected to"
        in shown
    )


def test_joints_may_be_locked():
    """At their start or elsewhere, with what is coupled to them; the robot stands as it does with free joints."""
    free, random = mbvi.assemble(mbvi.load(ARM)), np.random.default_rng(1)
    angle, place = random.normal(size=2)
    model = mbvi.load(ARM, locked={"elbow": angle, "grip": place, "turn": None})
    assert [name for name, joint in model.joints.items() if joint.type == "weld"] == [
        "base",
        "turn",
        "elbow",
        "grip",
        "flange",
    ]
    assert dict(model.constraints["grip_other mimics grip"])["value"] == place
    system, given = (
        mbvi.assemble(model),
        {"elbow.angle": angle, "grip.displacement": place, "grip_other.displacement": place},
    )
    assert system.coordinate_names == ("lift.angle", "bend.angle", "roll.angle", "grip_other.displacement")
    q = np.array([given.get(name, 0.1 * i) for i, name in enumerate(free.coordinate_names)])
    q[0] = 0.0
    own = np.array([q[free.coordinate_names.index(name)] for name in system.coordinate_names])
    for body in ("tool", "finger.left", "finger.right"):
        for found, expected in zip(system.poses(body, own[None]), free.poses(body, q[None]), strict=True):
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)
    with pytest.raises(mbvi.ModelError, match="locked: expected a joint, found 'elbo'; did you mean 'elbow'"):
        mbvi.load(ARM, locked=["elbo"])
    with pytest.raises(mbvi.ModelError, match=r"locked.elbow: expected 1 number \(angle\), found \[1, 2\]"):
        mbvi.load(ARM, locked={"elbow": [1, 2]})


def test_motors_of_transmissions_with_rotors(tmp_path):
    """In the words of Drake: ratio and inertia of the rotor."""
    drive = """<transmission><type>transmission_interface/SimpleTransmission</type><joint name="j"/><actuator name="drive">
    <drake:gear_ratio value="-30"/><drake:rotor_inertia value="1e-4"/></actuator></transmission>
    <transmission><joint name="j"/><joint name="k"/><actuator name="both"/></transmission>"""
    text = """<robot name="a" xmlns:drake="http://drake.mit.edu"><link name="a"/><link name="b"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1"/></inertial></link>
    <joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>{}</robot>"""
    (tmp_path / "a.urdf").write_text(text.format(drive))
    model = mbvi.load(tmp_path / "a.urdf")
    assert model.joints["j"].armatures == {"angle": pytest.approx(0.09)}
    assert {name: dict(each)["gear"] for name, each in model.forces.items()} == {"drive": -30}
    assert "<transmission>: mbvi has motors on one joint with one coordinate each (joint 'j', 'k')" in str(
        model.import_report
    )
