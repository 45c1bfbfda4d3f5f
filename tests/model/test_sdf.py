"""SDF files: poses, joints, gears and screws against closed forms, loops, included files, and what is refused."""

import re
import runpy

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from typer.testing import CliRunner

import mbvi
from mbvi.cli import app
from tests.folders import MODELS

INERTIAL = "<inertial><mass>2</mass><inertia><ixx>0.3</ixx><iyy>0.4</iyy><izz>0.5</izz></inertia></inertial>"


def sdf(*parts, version="1.9"):
    return f'<sdf version="{version}"><model name="m">{"".join(parts)}</model></sdf>'


def link(name, pose="0 0 0 0 0 0", more=INERTIAL, attributes=""):
    return f'<link name="{name}"><pose {attributes}>{pose}</pose>{more}</link>'


def joint(name, kind, parent, child, more=""):
    return f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{more}</joint>'


def axis(xyz, more="", tag="axis", attributes=""):
    return f"<{tag}><xyz {attributes}>{xyz}</xyz>{more}</{tag}>"


def gear(parent, child, ratio, reference):
    given = f"<gearbox_ratio>{ratio}</gearbox_ratio><gearbox_reference_body>{reference}</gearbox_reference_body>"
    return joint("gear", "gearbox", parent, child, given + axis("0 0 1") + axis("0 0 1", tag="axis2"))


def load(folder, text, **options):
    path = folder / "robot.sdf"
    path.write_text(text)
    return mbvi.load(path, **options)


def placed(*steps):
    """Place and rotation matrix of poses x y z roll pitch yaw that follow each other."""
    place, turned = np.zeros(3), np.eye(3)
    for step in steps:
        place = place + turned @ np.array(step[:3], float)
        turned = turned @ Rotation.from_euler("xyz", step[3:]).as_matrix()
    return place, turned


def start(model, body):
    system = mbvi.assemble(model)
    place, turned = system.poses(body, system.initial_q[None])
    return place[0], turned[0]


def at(model, body, *steps):
    for found, expected in zip(start(model, body), placed(*steps), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-14)


# ---------------------------------------------------------------------------------------------------- poses


def test_poses_in_each_other(tmp_path):
    """A model in a model, a frame on a link, and poses that are relative to all of them."""
    a, b, c = (0.1, 0.2, 0.3, 0.4, -0.5, 0.6), (1, 0, 0, 0.7, 0, 0), (0, 2, 0, 0, 0.3, 0)
    d, e = (0, 0, 3, 0, 0, 1), (4, 5, 6, 1, 0.5, 0.25)
    text = {key: " ".join(map(str, value)) for key, value in zip("abcde", (a, b, c, d, e), strict=True)}
    degrees = " ".join(map(str, (*e[:3], *np.degrees(e[3:]))))
    quaternion = " ".join(map(str, (*e[:3], *Rotation.from_euler("xyz", e[3:]).as_quat())))
    grip = f'<frame name="grip" attached_to="palm"><pose>{text["c"]}</pose></frame>'
    hand = f'<pose relative_to="tip">{text["a"]}</pose>{link("palm", text["b"])}{grip}'
    model = load(
        tmp_path,
        sdf(
            f"<pose>{text['a']}</pose>",
            link("arm", text["b"]),
            f'<frame name="tip" attached_to="arm"><pose>{text["c"]}</pose></frame>',
            f'<model name="hand" placement_frame="grip">{hand}</model>',
            link("last", text["d"], attributes='relative_to="hand::palm"'),
            f'<frame name="end" attached_to="last"><pose relative_to="tip">{text["e"]}</pose></frame>',
            joint("j", "fixed", "arm", "end", f"<pose>{text['d']}</pose>"),
            link("degrees", degrees, attributes='relative_to="j" degrees="true"'),
            link("quaternion", quaternion, attributes='relative_to="hand" rotation_format="quat_xyzw"'),
        ),
    )
    at(model, "arm", a, b)
    at(model, "degrees", a, b, c, e, d, e)
    place, turned = placed(a, b, c, a)  # of the frame grip, which the pose of the hand places
    turned = turned @ placed(c)[1].T
    palm = place - turned @ placed(c)[0]
    for body, where, rotation in (("hand::palm", palm, turned), ("last", palm + turned @ d[:3], turned @ placed(d)[1])):
        found = start(model, body)
        np.testing.assert_allclose(found[0], where, atol=1e-14)
        np.testing.assert_allclose(found[1], rotation, atol=1e-14)
    own = turned @ placed(b)[1].T  # of the frame of the hand
    expected = palm - own @ b[:3] + own @ e[:3]
    np.testing.assert_allclose(start(model, "quaternion")[0], expected, atol=1e-14)
    assert (model.joints["j"].type, model.joints["j"].parent, model.joints["j"].child) == ("weld", "arm", "last")
    frames = {name: list(body.frames) for name, body in model.bodies.items() if body.frames}
    assert frames == {"arm": ["tip"], "hand::palm": ["hand::grip"], "last": ["end"]}
    assert mbvi.from_yaml(mbvi.to_yaml(model)) == model


@pytest.mark.parametrize(
    ("version", "attributes", "more", "expected"),
    [
        ("1.9", "", "", (0, 0, 1)),  # the z axis of the joint, which is turned about x in the child
        ("1.9", 'expressed_in="a"', "", (1, 0, 0)),
        ("1.9", 'expressed_in="__model__"', "", (0, 1, 0)),
        ("1.6", "", "<use_parent_model_frame>1</use_parent_model_frame>", (0, 1, 0)),
        ("1.4", "", "", (0, 1, 0)),
    ],
)
def test_axes_in_the_frames_that_versions_have(version, attributes, more, expected, tmp_path):
    """In the parent's frame, where z of the child, turned by −90° about x, is y; link a is turned by 90° about z."""
    half = np.pi / 2
    a, b = link("a", f"0 0 0 0 0 {half}"), link("b", f"1 0 0 0 0 {half}")
    vector = {(0, 0, 1): "0 1 0", (1, 0, 0): "1 0 0", (0, 1, 0): "-1 0 0"}[expected]
    place = f"<pose>0 0 0 {half} 0 0</pose>"
    model = load(
        tmp_path,
        sdf(a, b, joint("j", "revolute", "a", "b", place + axis(vector, more, "axis", attributes)), version=version),
    )
    np.testing.assert_allclose(model.joints["j"].axis, expected, atol=1e-15)


# --------------------------------------------------------------------------------------------------- joints


def test_joints_with_their_springs_dampers_and_limits(tmp_path):
    dynamics = (
        "<dynamics><damping>0.2</damping><spring_stiffness>3</spring_stiffness><spring_reference>0.5</spring_reference>"
    )
    dynamics += "<friction>0.1</friction></dynamics>"
    limit = "<limit><lower>-1e16</lower><upper>2</upper><velocity>-1</velocity><effort>5</effort></limit>"
    names = "abcdefg"
    kinds = "revolute", "continuous", "prismatic", "fixed", "ball", "universal"
    parts = [
        joint("a", "revolute", "world", "a", axis("0 0 2", limit + dynamics)),
        joint("b", "continuous", "a", "b", axis("1 0 0", limit)),
        joint("c", "prismatic", "b", "c", axis("0 1 0", "<limit><lower>-inf</lower><upper>inf</upper></limit>")),
        joint("d", "fixed", "c", "d"),
        joint("e", "ball", "d", "e", axis("1 0 0", "<dynamics><damping>1</damping></dynamics>")),
        joint("f", "universal", "e", "f", axis("1 0 0") + axis("0 1 1", dynamics, "axis2")),
    ]
    model = load(tmp_path, sdf(*(link(name) for name in names[:6]), *parts))
    types = {"continuous": "revolute", "fixed": "weld"}
    assert [each.type for each in model.joints.values()] == [types.get(kind, kind) for kind in kinds]
    limits = {key: value for key, value in model.joints["a"].limits["angle"] if value is not None}
    assert limits == {"upper": 2, "effort": 5, "rest_speed": 1e-6}
    assert dict(model.joints["b"].limits["angle"])["upper"] is None and not model.joints["c"].limits
    assert (model.joints["a"].friction, model.joints["a"].axis) == (0.1, (0, 0, 1))
    forces = {name: (each.type, each.coordinate) for name, each in model.forces.items()}
    assert forces == {
        "a spring": ("joint_spring", None),
        "a damping": ("joint_damper", None),
        "f angle2 spring": ("joint_spring", "angle2"),
        "f angle2 damping": ("joint_damper", "angle2"),
    }
    assert (model.forces["a spring"].stiffness, model.forces["a spring"].rest) == (3, 0.5)
    report = str(model.import_report)
    assert "<axis>: the joint has none, nor damping about it (joint 'e')" in report
    assert "friction: that of both coordinates is the larger one, 0.1 (joint 'f')" in report
    np.testing.assert_allclose(model.joints["f"].axes, [(1, 0, 0), (0, 0.5**0.5, 0.5**0.5)])


@pytest.mark.parametrize("kind", ["universal", "revolute2"])
def test_a_joint_with_two_axes_turns_about_the_first_and_then_about_the_second(kind, tmp_path):
    parts = joint("j", kind, "world", "a", axis("1 0 0") + axis("0 0.6 0.8", tag="axis2"))
    system = mbvi.assemble(load(tmp_path, sdf(link("a"), parts)))
    turned = system.poses("a", np.array([[0.3, -0.8]]))[1][0]
    np.testing.assert_allclose(
        turned,
        Rotation.from_rotvec([0.3, 0, 0]).as_matrix() @ Rotation.from_rotvec([0, -0.48, -0.64]).as_matrix(),
        atol=1e-15,
    )


@pytest.mark.parametrize(
    "pitch", ["<screw_thread_pitch>0.02</screw_thread_pitch>", f"<thread_pitch>{-2 * np.pi / 0.02}</thread_pitch>"]
)
def test_a_nut_falls_along_a_right_handed_screw(pitch, tmp_path):
    """z = −g t² / 2 / (1 + I (2π/p)² / m), while it turns by 2π z / p."""
    model = load(tmp_path, sdf(link("nut"), joint("j", "screw", "world", "nut", axis("0 0 1") + pitch)))
    run = mbvi.simulate(model, "midpoint", step=0.01, duration=0.5)
    rate = 2 * np.pi / 0.02
    fall = -9.81 * 0.5**2 / 2 / (1 + 0.5 * rate**2 / 2)
    place, turned = (each[-1] for each in run.pose("nut"))
    np.testing.assert_allclose(place, [0, 0, fall], rtol=1e-9)
    np.testing.assert_allclose(Rotation.from_matrix(turned).as_rotvec(), [0, 0, rate * fall], rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize(("ratio", "sign"), [(3, 1), (-0.25, 1), (3, -1)])
def test_a_gearbox_couples_two_angles(ratio, sign, tmp_path):
    """theta_2 = −ratio theta_1: the spring on shaft 1 drives both about its reference, with ω² = k / (I₁ + ratio² I₂)."""
    spring = "<dynamics><spring_stiffness>8</spring_stiffness><spring_reference>0.4</spring_reference></dynamics>"
    parts = [
        joint("one", "revolute", "case", "a", axis("0 0 1", spring)),
        joint("two", "revolute", "case", "b", axis(f"0 0 {sign}")),
        gear("a", "b", ratio, "case"),
        joint("held", "fixed", "world", "case"),
    ]
    model = load(tmp_path, sdf(link("case"), link("a"), link("b", "1 0 0 0 0 0"), *parts))
    run = mbvi.simulate(model, "gauss4", step=0.01, duration=1)
    angle = 0.4 * (1 - np.cos(np.sqrt(8 / (0.5 + ratio**2 * 0.5)) * run.t))
    np.testing.assert_allclose(run.q, np.stack([angle, -sign * ratio * angle], axis=1), atol=1e-7)


def test_a_joint_mimics_another(tmp_path):
    mimic = '<mimic joint="one" axis="axis"><multiplier>2</multiplier><offset>0.5</offset><reference>0.1</reference></mimic>'
    parts = [
        joint("one", "revolute", "world", "a", axis("0 0 1")),
        joint("two", "revolute", "a", "b", axis("0 0 1", mimic)),
    ]
    model = load(tmp_path, sdf(link("a"), link("b"), *parts, version="1.11"))
    coupling = model.constraints["two mimics one"]
    assert (coupling.joint_a, coupling.joint_b, coupling.ratio, coupling.offset) == ("one", "two", 2, 0.3)
    assert model.initial["two"].position == 0.3


# ------------------------------------------------------------------------------------------- loops and bases

BARS = [link("crank", "0 0 0 0 0 0"), link("rod", "0 0 1 0 0 0"), link("rocker", "2 0 0 0 0 0")]
SPRING = "<dynamics><spring_stiffness>8</spring_stiffness></dynamics>"
FOUR = [
    joint("a", "revolute", "world", "crank", axis("0 1 0")),
    joint("b", "revolute", "crank", "rod", axis("0 1 0")),
    joint("c", "revolute", "world", "rocker", axis("0 1 0")),
    joint("d", "revolute", "rocker", "rod", f"<pose>2 0 0.5 0 0 0</pose>{axis('0 1 0', SPRING)}"),
]


def test_a_loop_is_cut_where_nothing_needs_the_coordinate(tmp_path):
    model = load(tmp_path, sdf(*BARS, *FOUR))
    assert {name: joint.cut for name, joint in model.joints.items()} == {"a": None, "b": None, "c": True, "d": None}
    assert "1 loop" in model.import_report.summary and "base" not in model.joints
    run = mbvi.simulate(model, "midpoint", step=0.01, duration=0.5)
    assert run.constraint_residual().max() < 1e-13
    with_springs = [each.replace("</xyz></axis>", f"</xyz>{SPRING}</axis>") for each in FOUR]
    report = str(load(tmp_path, sdf(*BARS, *with_springs)).import_report)
    assert (
        "spring or damper: the joint closes a loop in which all joints have one, so that it has no coordinate" in report
    )


def test_what_nothing_ties_to_the_world_is_free(tmp_path):
    parts = link("a", "1 2 3 0 0 0.5"), link("b"), link("c"), joint("j", "revolute", "b", "c", axis("0 0 1"))
    model = load(tmp_path, sdf(*parts))
    ties = {joint.child: joint.type for joint in model.joints.values() if joint.parent == "world"}
    assert ties == {"a": "free", "b": "free"}
    at(model, "a", (1, 2, 3, 0, 0, 0.5))
    held = load(tmp_path, sdf(*parts), floating=False)
    assert {joint.type for joint in held.joints.values()} == {"weld", "revolute"}
    at(held, "a", (1, 2, 3, 0, 0, 0.5))
    standing = load(tmp_path, sdf("<static>true</static>", *parts))
    assert [joint.type for joint in standing.joints.values()] == ["weld"] * 3


def test_a_world_of_models(tmp_path):
    arm = f'<model name="arm">{link("a")}</model>'
    world = f"<gravity>0 0 -2</gravity>{arm}{arm.replace('arm', 'other')}<light name='sun'/>"
    model = load(tmp_path, f'<sdf version="1.9"><world name="lab">{world}</world></sdf>')
    assert (model.name, model.gravity, list(model.bodies)) == ("lab", (0, 0, -2), ["arm::a", "other::a"])
    report = str(model.import_report)
    assert "<light>: mbvi has its own" in report and "<gravity>" not in report


# --------------------------------------------------------------------------------------- masses and shapes


def test_a_link_without_inertia_has_that_of_the_format(tmp_path):
    model = load(tmp_path, sdf(link("a", more="")))
    assert (model.bodies["a"].mass, model.bodies["a"].inertia[:3]) == (1, (1, 1, 1))
    assert "<inertial>: not given: a mass of 1 kg and moments of inertia of 1 kg m²" in str(model.import_report)


def test_an_inertia_that_follows_from_collisions(tmp_path):
    """Of a box of steel and a ball: masses, centre and moments by hand, or scaled to a mass."""
    shape = "<collision name='{}'>{}<pose>{} 0 0 0 0 0</pose><geometry>{}</geometry></collision>"
    solids = shape.format("c", "<density>7800</density>", 0, "<box><size>0.1 0.2 0.3</size></box>")
    solids += shape.format("d", "", 1, "<sphere><radius>0.1</radius></sphere>")
    model = load(tmp_path, sdf(link("a", more=f'<inertial auto="true"/>{solids}'), version="1.11"))
    box, ball = 7800 * 0.006, 1000 * 4 / 3 * np.pi * 0.001
    center = ball / (box + ball)
    found = model.bodies["a"]
    assert found.mass == pytest.approx(box + ball) and found.center_of_mass[0] == pytest.approx(center)
    yy = box * (0.01 + 0.09) / 12 + box * center**2 + 0.4 * ball * 0.01 + ball * (1 - center) ** 2
    assert found.inertia[1] == pytest.approx(yy)
    scaled = load(
        tmp_path, sdf(link("a", more=f'<inertial auto="true"><mass>3</mass></inertial>{solids}'), version="1.11")
    )
    assert (scaled.bodies["a"].mass, scaled.bodies["a"].inertia[1]) == pytest.approx((3, yy * 3 / (box + ball)))


@pytest.mark.parametrize("has_visual", [False, True])
def test_collisions_are_drawn_if_nothing_else_is(has_visual, tmp_path):
    part = "<{0} name='p'><geometry><{1}><radius>1</radius>{2}</{1}></geometry></{0}>"
    visual = part.format("visual", "cylinder", "<length>1</length>") if has_visual else ""
    links = link("a", more=INERTIAL + visual), link("b", more=INERTIAL + part.format("collision", "sphere", ""))
    model = load(tmp_path, sdf(*links))
    drawn = [shape.type for body in model.bodies.values() for shape in body.shapes]
    assert drawn == (["cylinder"] if has_visual else ["sphere"])
    reported = "<collision>: drawn, since no link has a <visual> (link 'b')" in str(model.import_report)
    assert reported != has_visual


def test_the_mass_of_an_ellipsoid(tmp_path):
    """4/3 π a b c and m (b² + c²)/5."""
    geometry = "<geometry><ellipsoid><radii>0.1 0.2 0.3</radii></ellipsoid></geometry>"
    solid = f"<collision name='c'><density>500</density>{geometry}</collision>"
    body = load(tmp_path, sdf(link("a", more=f'<inertial auto="true"/>{solid}'), version="1.11")).bodies["a"]
    mass = 500 * 4 / 3 * np.pi * 0.006
    assert (body.mass, body.inertia[0]) == pytest.approx((mass, mass * (0.04 + 0.09) / 5), rel=1e-12)


def test_what_the_report_says_of_a_static_model(tmp_path):
    more = INERTIAL + "<kinematic>true</kinematic><sensor name='s' type='imu'/>"
    report = str(load(tmp_path, sdf("<static>true</static>", link("a", more=more))).import_report)
    for line in (
        "  - <inertial>: its model is static, and welded to the world (link 'a')",
        "  - <kinematic>: all bodies move by what acts on them (link 'a')",
        "  - <sensor>: models of mbvi have sensors of their own (link 'a')",
    ):
        assert line in report


def test_shapes_and_colours(tmp_path):
    pose, material = (
        "<pose>0 0 1 0 0 0</pose>",
        "<material><ambient>0 0 0 1</ambient><diffuse>0.2 0.4 0.6 1</diffuse></material>",
    )
    kinds = {
        "box": "<size>1 2 3</size>", "sphere": "<radius>1</radius>", "cylinder": "<radius>1</radius><length>2</length>",
        "capsule": "<radius>1</radius><length>2</length>", "cone": "<radius>1</radius><length>2</length>",
        "ellipsoid": "<radii>1 2 3</radii>", "plane": "<normal>0 0 1</normal>",
    }  # fmt: skip
    visuals = [
        f'<visual name="{kind}">{pose}<geometry><{kind}>{each}</{kind}></geometry>{material}</visual>'
        for kind, each in kinds.items()
    ]
    model = load(tmp_path, sdf(link("a", more=INERTIAL + "".join(visuals)), version="1.11"))
    shapes = model.bodies["a"].shapes
    assert [shape.type for shape in shapes] == ["box", "sphere", "cylinder", "capsule", "cone", "ellipsoid"]
    assert {shape.color for shape in shapes} == {"#336699"}
    assert [shape.position[2] for shape in shapes] == [1, 1, 1, 1, 0, 1] and shapes[-1].semi_axes == (1, 2, 3)
    assert "<plane>: mbvi draws no such shape" in str(model.import_report)


# --------------------------------------------------------------------------------------------------- files


@pytest.fixture
def package(tmp_path):
    """A folder with a model of two files, one of which is a folder with a model.config, and a mesh that this one names."""
    import trimesh

    folder = tmp_path / "package"
    (folder / "hand" / "meshes").mkdir(parents=True)
    (folder / "robot").mkdir()
    trimesh.creation.box((0.1, 0.1, 0.1)).export(folder / "hand" / "meshes" / "palm.stl")
    visual = '<visual name="v"><geometry><mesh><uri>meshes/palm.stl</uri></mesh></geometry></visual>'
    (folder / "hand" / "hand.sdf").write_text(sdf(link("palm", more=INERTIAL + visual)))
    (folder / "hand" / "model.config").write_text(
        '<model><sdf version="1.5">old.sdf</sdf><sdf version="1.9">hand.sdf</sdf></model>'
    )
    return folder


@pytest.mark.parametrize("uri", ["model://hand", "../hand/hand.sdf", "package://hand/hand.sdf"])
def test_files_are_included(uri, package):
    include = f'<include><uri>{uri}</uri><name>left</name><pose relative_to="a">0 0 1 0 0 0</pose></include>'
    text = sdf(link("a", "1 0 0 0 0 0"), include, joint("j", "fixed", "a", "left::palm"))
    model = load(package / "robot", text)
    at(model, "left::palm", (1, 0, 1, 0, 0, 0))
    assert model.bodies["left::palm"].shapes[0].file.endswith("palm.stl")


def test_files_elsewhere_need_to_be_named(package, tmp_path):
    """Neither an included model nor a mesh that it names is read from a folder that is not allowed."""
    (package / "robot" / "deep").mkdir()
    text = sdf("<include><uri>../../hand/hand.sdf</uri></include>")
    with pytest.raises(
        mbvi.ModelError, match=r"robot\.sdf:1: <include>: expected a file in the package .*; name its folder by"
    ):
        load(package / "robot" / "deep", text)
    assert list(load(package / "robot" / "deep", text, search=[package / "hand"]).bodies) == ["m::palm"]
    hand = package / "hand" / "hand.sdf"
    hand.write_text(hand.read_text().replace("meshes/", "../robot/"))
    (package / "hand" / "meshes" / "palm.stl").rename(package / "robot" / "palm.stl")
    with pytest.raises(mbvi.ModelError, match=r"hand\.sdf:1: <mesh>: expected a file in the package"):
        load(package / "hand" / "meshes", sdf("<include><uri>../hand.sdf</uri></include>"), search=[])


def test_a_file_that_includes_itself_ends(tmp_path):
    with pytest.raises(
        mbvi.ModelError, match=r"expected at most 100 (included files|models in each other), found more"
    ):
        load(tmp_path, sdf("<include><uri>robot.sdf</uri></include>"))


def test_the_commands_take_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bars.txt").write_text(f"<?xml version='1.0'?>\n<!-- bars -->\n{sdf(*BARS, *FOUR)}")
    result = CliRunner().invoke(app, ["convert", "bars.txt", "-o", "bars.yaml"])
    assert "SDF: 1 loop, 3 links, 4 joints (4 revolute), 1 spring" in result.stdout
    assert mbvi.load("bars.yaml").joints == mbvi.load("bars.txt").joints
    assert CliRunner().invoke(app, ["convert", "bars.txt", "-o", "b.yaml", "--floating"]).exit_code == 2


# -------------------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<sdf version="2.0"/>', ":1: <sdf>: expected a version of SDF from 1.4 to 1.12, found '2.0'"),
        ("<sdf/>", ":1: <sdf>: expected an attribute version, found none"),
        (sdf(), ":1: <sdf>: expected a <link> in it, found none"),
        (sdf(link("world")), "<link name='world'>: expected another name of a link, found 'world'; it is that of the fixed"),
        (sdf(link("a"), link("a")), "expected a name that no other link has, found 'a', as in line 1"),
        (sdf(link("a", attributes='relative_to="b"')), "expected the name of a link, joint, frame or model, found 'b'"),
        (sdf(link("a", attributes='relative_to="a"')), "expected a pose that leads to the model, found a circle through <link"),
        (sdf(link("a", "1 2 3")), "<pose>: expected 6 numbers in it, found '1 2 3'; write decimal points, and blanks"),
        (sdf(link("a"), joint("j", "hinge", "world", "a")), "screw, gearbox, found 'hinge'"),
        (sdf(link("a"), joint("j", "fixed", "a", "world")), "expected a link as <child>, found the world; exchange"),
        (sdf(link("a"), joint("j", "fixed", "a", "a")), "expected two links, found 'a' twice"),
        (sdf(link("a"), joint("j", "fixed", "b", "a")), "expected the name of a link, joint, frame or model, found 'b'"),
        (sdf(link("a"), joint("j", "revolute", "world", "a")), "expected an element <axis> in it, found none"),
        (sdf(link("a"), joint("j", "revolute", "world", "a", axis("0 0 0"))), "<xyz>: expected an axis other than 0"),
        (
            sdf(link("a"), joint("j", "universal", "world", "a", axis("1 0 0") + axis("1 0 0", tag="axis2"))),
            "expected two axes that are not parallel",
        ),
        (
            sdf(link("a"), link("b"), gear("a", "b", 2, "world")),
            "expected a revolute joint of 'a' on 'world', about the axis of the gearbox, found none; mbvi couples",
        ),
        (sdf(link("a", more=INERTIAL.replace("<mass>2", "<mass>0"))), "<mass>: expected a mass greater than 0, found 0"),
        (sdf("<include><uri>model://x</uri></include>"), "expected a file, or a folder with a model.config, found none of the"),
        (sdf('<include merge="true"><uri>x</uri></include>'), "expected a model that stays one, found merge='true', which"),
        (
            sdf('<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>', link("a"), joint("j", "fixed", "a", "f")),
            "expected frames that are attached to links, found a circle through",
        ),
        (
            sdf(link("b::c"), f"<model name='b'>{link('c')}</model>"),
            "<link name='c'>: expected a name that no other link has, found 'b::c' twice; rename it, without '::'",
        ),
        (
            sdf(
                link("a"),
                joint("b::j", "fixed", "world", "a"),
                f"<model name='b'>{link('c')}{joint('j', 'fixed', 'world', 'c')}</model>",
            ),
            "<joint name='j'>: expected a name that no other joint has, found 'b::j' twice; rename it, without '::'",
        ),
    ],
)  # fmt: skip
def test_faults_of_the_file(text, message, tmp_path):
    with pytest.raises(mbvi.ModelError, match=f"^{re.escape(str(tmp_path / 'robot.sdf'))}.*{re.escape(message)}"):
        load(tmp_path, text)


def test_the_gripper_is_what_its_script_writes():
    make = runpy.run_path(str(MODELS / "gripper" / "make.py"))
    assert (MODELS / "gripper" / "gripper.sdf").read_text() == make["gripper"]()
    model = mbvi.load(MODELS / "gripper" / "gripper.sdf")
    assert mbvi.assemble(model).mobility.degrees_of_freedom == 1
    assert model.constraints["gears"].ratio == -1 and list(model.bodies["palm"].frames) == ["between"]


def test_a_long_chain_of_poses(tmp_path):
    frames = "".join(f'<frame name="f{i}"><pose relative_to="f{i + 1}">0 0 1 0 0 0</pose></frame>' for i in range(1500))
    model = load(tmp_path, sdf(frames, '<frame name="f1500"/>', link("a", attributes='relative_to="f0"')))
    at(model, "a", (0, 0, 1500, 0, 0, 0))
