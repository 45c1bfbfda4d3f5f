"""Tendons, springs of ball and free joints, forces on sites, and geoms of the world, of MJCF files against MuJoCo itself."""

import numpy as np
import pytest

import mbvi
from mbvi.system.exchange import from_mujoco, to_mujoco

mujoco = pytest.importorskip("mujoco")

from tests.campaigns.mjcf import accelerations  # noqa: E402
from tests.campaigns.urdf import forces  # noqa: E402

PENDULUM = """
<body name="{0}" pos="{1} 0 0"><joint name="{0}" type="{2}" axis="0 1 0" ref="{3}"/>
  <geom size=".1" pos="0 0 -.5"/><site name="{0}" pos="0 0.1 -1" quat="1 0.3 -0.2 0.4"/></body>
"""
THREE = (
    PENDULUM.format("a", 0, "hinge", 0) + PENDULUM.format("b", 1, "hinge", 0.3) + PENDULUM.format("c", 2, "slide", -0.2)
)


def scene(bodies=THREE, more="", extra=""):
    head = '<mujoco><compiler angle="radian"/><option gravity="6 3 -9"><flag contact="disable"/></option>'
    return f'{head}<worldbody><site name="w" pos="0 1 0"/>{bodies}{extra}</worldbody>{more}</mujoco>'


def load(folder, text, **options):
    path = folder / "robot.xml"
    path.write_text(text)
    return mbvi.load(path, **options)


def fixed(name, more="", **factors):
    joints = "".join(f'<joint joint="{joint}" coef="{factor}"/>' for joint, factor in factors.items())
    return f'<fixed name="{name}" {more}>{joints}</fixed>'


def over(name, sites, more=""):
    return f'<spatial name="{name}" {more}>' + "".join(f'<site site="{site}"/>' for site in sites) + "</spatial>"


def over_pulley(name, first, divisor, second, more=""):
    """A tendon over sites, then with a divisor over others."""
    parts = [*(f'<site site="{site}"/>' for site in first), f'<pulley divisor="{divisor}"/>']
    return f'<spatial name="{name}" {more}>{"".join(parts)}' + over("", second)[len('<spatial name="" >') :]


def acting(folder, text, kind, turn=1.0, **options):
    """The forces on the coordinates of MuJoCo in both programs, at random states."""
    model = load(folder, text, **options)
    robot = mujoco.MjModel.from_xml_string(text)
    data, random = mujoco.MjData(robot), np.random.default_rng(5)
    system, without = (mbvi.assemble(each) for each in (model, model.model_copy(update={"forces": {}})))
    found = []
    for _ in range(3):
        mujoco.mj_resetDataKeyframe(robot, data, 0) if robot.nkey else mujoco.mj_resetData(robot, data)
        data.qvel[:] = random.normal(size=robot.nv)
        mujoco.mj_integratePos(robot, data.qpos, turn * random.normal(size=robot.nv), 1.0)
        mujoco.mj_forward(robot, data)
        q, v = from_mujoco(system, robot, data.qpos, data.qvel)
        rates = np.array([from_mujoco(system, robot, data.qpos, unit)[1] for unit in np.eye(robot.nv)])
        a = accelerations(system, q, v)
        found.append((rates @ (forces(without, q, v, a) - forces(system, q, v, a)), getattr(data, kind).copy()))
    own, theirs = map(np.array, zip(*found, strict=True))
    assert np.abs(theirs).max() > 0.1
    return own, theirs


def test_springs_and_dampers_of_tendons(tmp_path):
    tendons = (
        fixed("one", 'stiffness="3" damping=".2" springlength=".4"', b=-2)
        + over("two", "ab", 'stiffness="5" damping=".3" springlength=".8"')
        + over("to the world", "wc", 'stiffness="7" damping=".1"')
    )
    own, theirs = acting(tmp_path, scene(more=f"<tendon>{tendons}</tendon>"), "qfrc_passive")
    np.testing.assert_allclose(own, theirs, rtol=0, atol=1e-12 * np.abs(theirs).max())


def test_parts_of_a_tendon_over_pulleys_are_drawn(tmp_path):
    """But for the way from one branch to the next; what begins behind a pulley has its divisor too."""
    branches = over_pulley("tackle", "aw", 2, "bca", 'stiffness="4"')
    model = load(tmp_path, scene(more=f"<tendon>{branches}</tendon>"))
    spans = model.forces["tackle spring"].spans()
    assert [(a, b) for (a, _), (b, _) in spans] == [("a", "world"), ("b", "c"), ("c", "a")]
    assert [each.factor for each in model.forces["tackle spring"].points] == [1, 1, 0, 0.5, 0.5]


def test_springs_and_dampers_along_sums_and_over_sites(tmp_path):
    """Of several coordinates, over several sites, and with a range of lengths without force, on both sides of it."""
    tendons = (
        fixed("sum", 'stiffness="3" damping=".2" springlength=".4"', a=0.5, b=-2, c=1.5)
        + fixed("loose sum", 'stiffness="4" springlength="-.2 .3"', a=1, c=0.7)
        + fixed("loose one", 'stiffness="4" springlength="-.2 .3"', a=-2)
        + over("rope", "wabc", 'stiffness="5" damping=".3" springlength="1.8"')
        + over("loose rope", "wab", 'stiffness="5" springlength="1.8 2.2"')
        + over("loose between", "wb", 'stiffness="5" springlength="1.8 2.2"')
        + over_pulley("tackle", "aw", 2.5, "bca", 'stiffness="4" damping=".3" springlength="2"')
    )
    text = scene(more=f"<tendon>{tendons}</tendon>")
    own, theirs = acting(tmp_path, text, "qfrc_passive")
    np.testing.assert_allclose(own, theirs, rtol=0, atol=1e-12 * np.abs(theirs).max())
    kinds = {name: each.type for name, each in load(tmp_path, text).forces.items()}
    assert kinds == {
        "sum spring": "tendon_spring",
        "sum damping": "tendon_damper",
        "loose sum spring": "tendon_potential",
        "loose one spring": "joint_potential",
        "rope spring": "tendon_spring",
        "rope damping": "tendon_damper",
        "loose rope spring": "tendon_potential",
        "loose between spring": "distance_potential",
        "tackle spring": "tendon_spring",
        "tackle damping": "tendon_damper",
    }


def test_tendons_of_locked_joints_keep_what_these_add(tmp_path):
    """The force on a joint is that of the whole model where the locked one stands at 0.3."""
    tendon = fixed("sum", 'stiffness="3" springlength=".4"', a=0.5, b=-2, c=1.5)
    text = scene(more=f"<tendon>{tendon}</tendon>")
    whole, held = mbvi.assemble(load(tmp_path, text)), mbvi.assemble(load(tmp_path, text, locked={"b": 0.3}))
    force = mbvi.model.from_yaml(mbvi.model.to_yaml(held.model)).forces["sum spring"]
    assert force.length == "(0.5)*q('a') + (1.5)*q('c') + (-0.6)"
    f, g = whole.gradient([0.1, 0.3, 0.2], np.zeros(3))[1], held.gradient([0.1, 0.2], np.zeros(2))[1]
    length = 0.5 * 0.1 - 2 * 0.3 + 1.5 * 0.2
    free = {key: mbvi.assemble(each.model.replaced({"forces": {}})) for key, each in {"f": whole, "g": held}.items()}
    f -= free["f"].gradient([0.1, 0.3, 0.2], np.zeros(3))[1]
    g -= free["g"].gradient([0.1, 0.2], np.zeros(2))[1]
    assert g == pytest.approx(-3 * (length - 0.4) * np.array([0.5, 1.5]), abs=1e-13)
    assert f == pytest.approx(-3 * (length - 0.4) * np.array([0.5, -2, 1.5]), abs=1e-13)
    none = load(tmp_path, text, locked={"a": 0.0, "b": 0.0, "c": 0.0})
    assert "force along a tendon: none of its joints moves (sum)" in str(none.import_report) and not none.forces


ALONG = """
<actuator>
  <position name="hoist" tendon="tackle" kp="2" kv=".1" gear="2"/>
  <position name="both" tendon="sum" kp="5" kv=".3" gear="3"/>
  <motor name="winch" tendon="rope" gear="2"/>
  <general name="spring" tendon="rope" gainprm="3" biastype="affine" biasprm=".4 -2 -.3" forcerange="-2 1"/>
  <motor name="away" site="a" refsite="w" gear="1 2 3 0 0 0"/>
  <position name="to" site="c" refsite="turned" kp="7" kv=".2" gear=".5 -.2 .3 0 0 0"/>
  <motor name="twist" site="c" refsite="turned" gear="0 0 0 0 0 1"/><motor name="free" site="c" refsite="a"/>
  <motor name="idle" tendon="sum" gear="0"/>
</actuator>
"""
REFERENCE = """
<body pos="1 2 3" quat="1 2 -3 1"><site name="turned" pos=".3 .2 .1" quat="3 1 2 1"/><geom size=".1"/></body>
"""


def test_actuators_along_tendons_and_from_sites_that_rest_exert_what_those_of_mujoco_do(tmp_path):
    """On sums, over sites, and along the axes of sites of the world, with one input each, within and beyond a range."""
    tendons = fixed("sum", "", a=0.5, b=-2, c=1.5) + over("rope", "wabc") + over_pulley("tackle", "aw", 2.5, "bc")
    key = '<keyframe><key name="k" ctrl=".8 .3 -.7 .4 .9 -.6 0 0 0"/></keyframe>'
    text = scene(more=f"<tendon>{tendons}</tendon>{ALONG}{key}", extra=REFERENCE)
    own, theirs = acting(tmp_path, text, "qfrc_actuator", start="k")
    np.testing.assert_allclose(own, theirs, rtol=0, atol=1e-12 * np.abs(theirs).max())
    model = load(tmp_path, text, start="k")
    assert mbvi.assemble(model).input_names == ("hoist", "winch", "spring", "away", "to", "both")
    assert [each.type for each in model.forces.values()] == ["tendon_actuator"] * 6
    report = str(model.import_report)
    for line in (
        "its reference site moves, where MuJoCo's force follows from no length (free)",
        "it turns relative to a reference site, where MuJoCo's torque follows from no length (twist)",
        "its gear is 0, so that it exerts nothing (idle)",
    ):
        assert f"actuator: {line}" in report


TURNED = '<body pos="1 2 3" quat="1 .2 .3 .4"><joint type="{}" {}/><geom size=".1" pos=".1 .2 .3" mass="1"/></body>'


@pytest.mark.parametrize(("kind", "more"), [("ball", 'damping=".7"'), ("free", 'damping=".7"')])
def test_dampers_of_ball_and_free_joints(kind, more, tmp_path):
    own, theirs = acting(tmp_path, scene(TURNED.format(kind, more)), "qfrc_passive")
    np.testing.assert_allclose(own, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["ball", "free"])
def test_springs_of_ball_and_free_joints_are_those_of_small_turns(kind, tmp_path):
    text = scene(TURNED.format(kind, 'stiffness="1e4"'))
    own, theirs = acting(tmp_path, text, "qfrc_passive", turn=1e-3)
    np.testing.assert_allclose(own, theirs, rtol=0, atol=1e-5 * np.abs(theirs).max())
    assert "stiffness × sin a, as for small ones" in str(mbvi.load(tmp_path / "robot.xml").import_report)


TIES = (
    fixed("ab", "", a=0.5, b=2)
    + fixed("abc", "", a=1, b=-0.5, c=2)
    + fixed("c", "", c=3)
    + fixed("a", "", a=-2)
    + over("rope", "wabc")
    + over("rod", "wc")
    + over_pulley("tackle", "wa", 0.5, "wc")
)


@pytest.mark.parametrize(
    ("equality", "kinds"),
    [
        ('<tendon tendon1="ab" polycoef=".1 0 0 0 0"/>', ["coupling"]),
        ('<tendon tendon1="ab" tendon2="c" polycoef=".1 -.4 0 0 0"/>', ["differential"]),
        ('<tendon tendon1="abc"/>', ["differential"]),
        ('<tendon tendon1="abc" tendon2="a" polycoef="0 -.5 0 0 0"/>', ["coupling"]),
        ('<tendon tendon1="c" polycoef=".2 0 0 0 0"/>', ["prescribed_coordinate"]),
        ('<tendon tendon1="c" tendon2="a" polycoef=".1 .3 -.2 .1 .05"/>', ["coupling"]),
        ('<tendon tendon1="rope"/><tendon tendon1="ab"/>', ["rope", "coupling"]),
        ('<tendon tendon1="rod" polycoef=".01 0 0 0 0"/>', ["distance"]),
        ('<tendon tendon1="tackle"/>', ["rope"]),
    ],
)
def test_equalities_of_tendons_hold_where_those_of_mujoco_do(equality, kinds, tmp_path):
    text = scene(more=f"<tendon>{TIES}</tendon><equality>{equality}</equality>")
    model = load(tmp_path, text)
    assert [each.type for each in model.constraints.values()] == kinds
    run = mbvi.simulate(model, step=0.01, duration=0.2)
    robot = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(robot)
    data.qpos[:], data.qvel[:] = to_mujoco(run.system, robot, run.q[-1], run.v[-1])
    mujoco.mj_forward(robot, data)
    assert np.abs(data.qvel).max() > 0.1
    is_equality = data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    assert is_equality.sum() == len(kinds)
    np.testing.assert_allclose(data.efc_pos[is_equality], 0, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("tendon", "limits"),
    [
        (fixed("both", 'limited="true" range="-.1 .2"', a=0.5, b=2), {"both lower", "both upper"}),
        (over("rope", "wab", 'limited="true" range="0 {}"'), {"rope"}),
        (over("rod", "wb", 'limited="true" range="{} {}"'), {"rod"}),
        (over_pulley("tackle", "wa", 2, "wb", 'limited="true" range="0 {}"'), {"tackle"}),
    ],
)
def test_limits_of_tendons_stop_if_they_are_asked_to(tendon, limits, tmp_path):
    bounds = {"rope": ["2.7"], "rod": ["1.7", "1.9"], "tackle": ["2.4"]}.get(next(iter(limits)), [])
    text = scene(more=f"<tendon>{tendon.format(*bounds)}</tendon>")
    assert "limits of a tendon: they act only on import with stops" in str(load(tmp_path, text).import_report)
    model = load(tmp_path, text, stops=True)
    assert set(model.contacts) == limits
    start = {"a": mbvi.Initial(velocity=3), "b": mbvi.Initial(position=0.0 if bounds else 0.05, velocity=2)}
    model = model.model_copy(update={"initial": start})
    robot = mujoco.MjModel.from_xml_string(text)
    data, lengths = mujoco.MjData(robot), []
    run = mbvi.simulate(model, "lobatto3", step=0.01, duration=0.8)
    for q, v in zip(run.q, run.v, strict=True):
        data.qpos[:], _ = to_mujoco(run.system, robot, q, v)
        mujoco.mj_forward(robot, data)
        lengths.append(data.ten_length[0])
    low, high = robot.tendon_range[0]
    assert min(lengths) > low - 1e-10 and max(lengths) < high + 1e-10
    assert "impact" in str(run.contacts)


ON_SITES = """
<actuator>
  <general name="jet" site="a" gear="1 2 3 -.4 .5 .6" gainprm="2" biastype="affine" biasprm=".3 -7 0" forcerange="-1 3"/>
  <motor name="up" site="c" gear="0 0 5 0 0 0"/>
  <velocity name="fin" site="free" kv=".7" gear=".1 -.2 .3 2 1 -1" forcerange="-2 1.5"/>
  <position name="brake" site="tip" kp="3" kv=".4" gear="0 0 0 0 0 2"/>
  <motor name="still" site="a" gear="0"/><motor name="fixed" site="w"/><motor name="held" site="a" refsite="b"/>
</actuator>
"""
FREE = """
<body name="free" pos="0 3 0"><freejoint/><geom size=".2 .1 .3" type="box"/><site name="free" pos=".1 .2 .3" quat="1 2 3 4"/>
  <body name="tip" pos="0 0 1"><joint type="ball"/><geom size=".1" pos=".1 .2 0"/><site name="tip" pos="0 .5 .5"/></body>
</body>
"""


def test_actuators_on_sites_exert_what_those_of_mujoco_do(tmp_path):
    """On a tree with hinges, a slide, a free and a ball joint, at random states and inputs, within and beyond their ranges."""
    text = scene(bodies=THREE + FREE, more=ON_SITES)
    model, robot = load(tmp_path, text), mujoco.MjModel.from_xml_string(text)
    taken = ["jet", "up", "fin", "brake"]
    assert list(model.forces) == taken
    report = str(model.import_report)
    assert "actuator: its gear is 0, so that it exerts nothing (still)" in report
    assert "actuator: it pushes the world, which does not move (fixed)" in report
    assert "actuator: its reference site moves, where MuJoCo's force follows from no length (held)" in report
    data, random, saturated = mujoco.MjData(robot), np.random.default_rng(8), 0
    system, without = (mbvi.assemble(each) for each in (model, model.model_copy(update={"forces": {}})))
    for _ in range(20):
        data.qpos[:] = robot.qpos0
        data.qvel[:], data.ctrl[:4] = random.normal(size=robot.nv), 2 * random.normal(size=4)
        mujoco.mj_integratePos(robot, data.qpos, random.normal(size=robot.nv), 1.0)
        mujoco.mj_forward(robot, data)
        saturated += np.isin(data.actuator_force[[0, 2]], (-1, 3, -2, 1.5)).sum()
        q, v = from_mujoco(system, robot, data.qpos, data.qvel)
        rates = np.array([from_mujoco(system, robot, data.qpos, unit)[1] for unit in np.eye(robot.nv)])
        system.arrays.inputs[:] = data.ctrl[:4]
        a = accelerations(system, q, v)
        own = rates @ (forces(without, q, v, a) - forces(system, q, v, a))
        # of the gravity and the inertia that are subtracted from each other too
        size = max(np.abs(data.qfrc_actuator).max(), np.abs(data.qfrc_bias).max())
        np.testing.assert_allclose(own, data.qfrc_actuator, rtol=0, atol=1e-12 * size)
    assert 10 < saturated < 30


def test_the_input_of_an_actuator_on_a_site_is_live(tmp_path):
    """A keyframe gives it, a run may take it from a table, a loop and a controller may tell it: all are the same motion."""
    text = scene(bodies=THREE + FREE, more=ON_SITES + '<keyframe><key name="k" ctrl="0 2 0 0 0 0 0"/></keyframe>')
    assert load(tmp_path, text, start="k").forces["up"].input == 2
    model = load(tmp_path, text)
    held = mbvi.simulate(model, step=0.01, duration=0.2, inputs={"up": 2.0, "jet": 1.0})
    live = mbvi.Simulator(model, step=0.01)
    for _ in range(20):
        live.step({"up": 2.0, "jet": 1.0})
    law = mbvi.Controller(lambda t, q, v: (2.0, 1.0), period=0.01, inputs=("up", "jet"))
    driven = mbvi.simulate(model, step=0.01, duration=0.2, controllers={"law": law})
    still = mbvi.simulate(model, step=0.01, duration=0.2)
    assert np.abs(held.q[-1] - still.q[-1]).max() > 1e-2
    np.testing.assert_array_equal(live.q, held.q[-1])
    np.testing.assert_array_equal(driven.q, held.q)


def test_a_servo_on_a_tendon_of_one_joint(tmp_path):
    tendon = f"<tendon>{fixed('one', '', b=-2)}</tendon>"
    servo = '<actuator><position name="servo" tendon="one" kp="5" kv=".3" gear="3"/></actuator>'
    own, theirs = acting(tmp_path, scene(more=tendon + servo), "qfrc_actuator")
    np.testing.assert_allclose(own, theirs, rtol=0, atol=1e-12 * np.abs(theirs).max())


def test_what_tendons_drop_is_reported(tmp_path):
    tendons = (
        fixed("sum", 'stiffness="1" damping="1" frictionloss="1" armature="1"', a=1, b=1)
        + over("long", "wab", 'stiffness="1" limited="true" range=".1 5"')
        + over("loose", "ab", 'stiffness="1" springlength=".5 2"')
        + '<spatial name="bend" stiffness="1"><site site="a"/><geom geom="ball"/><site site="w"/></spatial>'
        + '<spatial name="around" damping="1"><site site="a"/><geom geom="ball"/><site site="b"/></spatial>'
    )
    equality = '<equality><tendon tendon1="long" tendon2="sum"/></equality>'
    equality += '<actuator><motor name="wire" tendon="around"/></actuator>'
    text = scene(extra='<geom name="ball" size=".1" pos="0 5 0"/>', more=f"<tendon>{tendons}</tendon>{equality}")
    report = str(load(tmp_path, text, stops=True).import_report)
    for line in (
        "  - geoms and sites of the world: those of a body 'scene', welded to the world",
        "  - spring of a tendon: mbvi has the lengths of sums of coordinates and of ropes over several bodies, not around geoms "
        "(bend)",
        "  - damper of a tendon: mbvi has the lengths of sums of coordinates and of ropes over several bodies, not around geoms "
        "(around)",
        "  - actuator: mbvi has the lengths of sums of coordinates and of ropes over several bodies, not around geoms (wire)",
        "  - frictionloss of a tendon: mbvi has friction of single coordinates (sum)",
        "  - armature of a tendon: mbvi has inertias of single coordinates (sum)",
        "  - lower limit of a tendon: a rope stops where it is taut alone (long)",
        "  - equality of tendons: mbvi has those of one to three coordinates, and of one rope over points (equality 0)",
        "  - 4 × look of a spatial tendon: what it becomes is drawn",
    ):
        assert line in report


def test_what_stands_in_the_world_is_a_body(tmp_path):
    extra = '<geom type="box" size="1 .5 .1" pos="0 0 -2" rgba="1 0 0 1"/><geom type="plane" size="1 1 1"/>'
    model = load(tmp_path, scene(extra=extra))
    body = model.bodies["scene"]
    assert [(shape.type, shape.color) for shape in body.shapes] == [("box", "#FF0000")] and list(body.frames) == ["w"]
    assert model.joints["scene fixed"].type == "weld"
    assert "plane or height field: mbvi has no contacts between shapes, and draws a floor of its own" in str(
        model.import_report
    )


def test_a_keyframe_with_coupled_joints(tmp_path):
    equality = '<equality><joint joint1="b" joint2="a" polycoef="0 2 0 0 0"/></equality>'
    key = '<keyframe><key name="k" qpos=".2 .9 .1" qvel="1 2 0"/></keyframe>'
    model = load(tmp_path, scene(more=equality + key), start="k")
    assert (model.initial["a"].position, model.initial["b"].position) == (0.2, pytest.approx(0.3 + 2 * 0.2))


@pytest.mark.parametrize("joint", ["a", "b", "c"])
def test_a_locked_joint_of_a_differential(joint, tmp_path):
    """Of q_a − q_b/2 + 2 q_c = what it is at the start, with one of them locked there or where it is asked to be."""
    text = scene(
        more=f'<tendon>{fixed("abc", "", a=1, b=-0.5, c=2)}</tendon><equality><tendon tendon1="abc"/></equality>'
    )
    whole = load(tmp_path, text).constraints["equality 0"]
    model = load(tmp_path, text, locked={joint: 0.1})
    (held,) = model.constraints.values()
    assert held.type == "coupling" and joint not in (held.joint_a, held.joint_b)
    values = {joint: 0.1, held.joint_a: 0.7}
    values[held.joint_b] = held.ratio * 0.7 + held.offset
    third = whole.ratio_a * values[whole.joint_a] + whole.ratio_b * values[whole.joint_b] + whole.offset
    assert values[whole.joint_c] == pytest.approx(third, rel=1e-14)
