"""What a run starts from: what the model gives is kept, and directions stand as they are meant."""

import re
from typing import Literal

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mbvi
from mbvi.model.forces import Between
from mbvi.model.holds import together
from mbvi.model.joints import Joint
from mbvi.model.motions import X, Z, turn
from mbvi.system import ties
from mbvi.system.assemble import Builder
from mbvi.system.given import Motion, joint_motion, nearest_joint_state
from mbvi.system.initial import find_start
from mbvi.system.tables import Tables
from tests.folders import MODELS

FORMULATIONS = ["tree", "embedding"]
AXIS = np.array([1.0, 2.0, 2.0]) / 3
TURN = Rotation.from_rotvec((0.3, -0.5, 0.2))
ROD = mbvi.Body(mass=0.3, center_of_mass=(0, 0, 0.25), inertia=(0.01, 0.01, 0.001))


# ----------------------------------------------------------------------------------------- what is kept


def on_a_rail(value, **initial):
    """A pendulum on a cart whose place is prescribed."""
    joints = {
        "rail": mbvi.Prismatic(parent="world", child="cart", axis=(0, 0, 1)),
        "pivot": mbvi.Revolute(parent="cart", child="rod", axis=(0, 1, 0)),
    }
    drive = mbvi.PrescribedCoordinate(joint="rail", value=value)
    return mbvi.Model(
        name="shaken",
        bodies={"cart": mbvi.Body(mass=1, inertia=(1, 1, 1)), "rod": ROD},
        joints=joints,
        constraints={"shaker": drive},
        initial=initial,
    )


def moved(start):
    return {(move.name, move.is_rate): (move.given, move.reached) for move in start.moves}


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_prescribed_coordinate_takes_its_value_alone(formulation):
    given = mbvi.Initial(position="170 deg", velocity=0.3)
    system = mbvi.assemble(on_a_rail("0.02*cos(400*t) + 4*t", pivot=given), formulation)
    start = find_start(system)
    assert moved(start) == {
        ("rail.displacement", False): (0.0, 0.02),
        ("rail.displacement", True): (0.0, pytest.approx(4)),
    }
    (place,), (R,) = system.poses("rod", start.q[None])
    np.testing.assert_allclose(place, (0, 0, 0.02), rtol=0, atol=1e-15)
    np.testing.assert_allclose(R[:, 2], (np.sin(np.radians(170)), 0, np.cos(np.radians(170))), rtol=0, atol=1e-15)
    if formulation == "tree":
        np.testing.assert_allclose(start.v, (4, 0.3), rtol=1e-14)


def test_what_is_prescribed_at_another_time():
    start = find_start(mbvi.assemble(on_a_rail("t**2", pivot=mbvi.Initial(position=1))), t=3.0)
    np.testing.assert_array_equal([start.q, start.v], [[9, 1], [6, 0]])


def test_a_coordinate_that_is_held_and_prescribed_elsewhere():
    model = on_a_rail("0.02 + 0*t", rail=mbvi.Initial(position=0.01, hold=True))
    with pytest.raises(
        mbvi.ModelError, match=r"^constraints\.shaker: expected constraints that can be satisfied, .* held"
    ):
        find_start(mbvi.assemble(model))


@pytest.mark.parametrize(
    ("joint", "value", "left"),
    [(mbvi.Prismatic, "0.02 + 0*t", r"0\.01 m"), (mbvi.Revolute, "31 deg + 0*t", r"30\.4 deg")],
)
def test_what_is_left_of_a_prescribed_coordinate_has_its_unit(joint, value, left):
    rail = joint(parent="world", child="rod", axis=(0, 0, 1))
    drive = mbvi.PrescribedCoordinate(joint="rail", value=value)
    model = mbvi.Model(
        name="held",
        bodies={"rod": ROD},
        joints={"rail": rail},
        constraints={"c": drive},
        initial={"rail": mbvi.Initial(position=0.01, hold=True)},
    )
    with pytest.raises(
        mbvi.ModelError, match=rf"^constraints\.c: expected .*, found {left} left; check lengths, .*held"
    ):
        find_start(mbvi.assemble(model))


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize(
    ("value", "what"), [("1/t", "value inf"), ("sqrt(t)", "value 0 and the rate inf"), ("log(t)", "value -inf")]
)
@pytest.mark.filterwarnings("error")
def test_what_is_prescribed_without_a_finite_value_is_named(value, what, formulation):
    system = mbvi.assemble(on_a_rail(value), formulation)
    distance = mbvi.Distance(body_a="cart", body_b="rod", point_b=(0, 0, 1), length=value)
    model = on_a_rail(0).replaced({"constraints": {"shaker": distance}})
    for ask in (
        lambda: system.mobility,
        lambda: system.initial_q,
        lambda: system.initial_v,
        lambda: find_start(system),
        lambda: mbvi.linearize(system),
        lambda: mbvi.assemble(model, formulation).initial_v,
    ):
        with pytest.raises(mbvi.ModelError, match=rf"^constraints\.shaker: expected a finite value and rate .*{what}"):
            ask()


def test_a_force_on_the_joint_of_a_point_mass_is_to_be_one_on_its_body():
    """Without it the point has no orientation, and the model runs."""
    joints = {"air": mbvi.Free(parent="world", child="hook")}
    model = mbvi.Model(name="flying", bodies={"hook": mbvi.Body(mass=5)}, joints=joints)
    assert find_start(mbvi.assemble(model)).q.shape == (3,)
    pushed = model.replaced({"forces": {"f": mbvi.JointForce(joint="air", coordinate="x", value=1)}})
    with pytest.raises(
        mbvi.ModelError, match=r"^joints\.air: .*; hook is a point mass, .* act on the body hook instead$"
    ):
        find_start(mbvi.assemble(pushed))


# --------------------------------------------------------------------------------------- rounded numbers


def tilted_four_bar(axis, end="0.3*cos(20 deg)"):
    """A four-bar linkage whose plane is turned by 20 deg about z; B and C, of the bars, turn about their y."""
    turned = {"axis": axis, "orientation": ["0", "0", "20 deg"]}
    places = {"B": (0.1, 0, 0), "C": (0.3, 0, 0), "D": (end, "0.3*sin(20 deg)", 0)}
    bar = mbvi.Body(mass=1, center_of_mass=(0.1, 0, 0), inertia=(0, 0.01, 0.01))
    joints = {
        "A": mbvi.Revolute(parent="world", child="crank", **turned),
        "B": mbvi.Revolute(parent="crank", child="coupler", axis=(0, -1, 0), position=places["B"]),
        "C": mbvi.Revolute(
            parent="coupler", child="rocker", axis=(0, -1, 0), position=places["C"], offset=(0.25, 0, 0)
        ),
        "D": mbvi.Revolute(parent="world", child="rocker", position=places["D"], **turned),
    }
    initial = {"A": mbvi.Initial(position="30 deg", hold=True)}
    bodies = dict.fromkeys(("crank", "coupler", "rocker"), bar)
    return mbvi.Model(name="tilted", bodies=bodies, joints=joints, initial=initial)


ROUNDED = "; numbers rounded to some digits may leave as much: write them with all digits"


def test_a_loop_of_rounded_axes_is_reported_so():
    exact = ("sin(20 deg)", "-cos(20 deg)", 0)
    assert find_start(mbvi.assemble(tilted_four_bar(exact))).violation < 1
    rounded = tilted_four_bar((0.3420, -0.9397, 0))
    with pytest.raises(
        mbvi.ModelError, match=r"^joints\.C: expected a loop that moves, .* write loop_tolerance: 2e-04"
    ):
        mbvi.assemble(rounded)
    assert find_start(mbvi.assemble(rounded.model_copy(update={"loop_tolerance": 2e-4}))).violation < 1
    with pytest.raises(mbvi.ModelError, match=r"^joints\.C: .* found \S*e-0[56] m left in the loop ") as caught:
        find_start(mbvi.assemble(rounded.model_copy(update={"loop_tolerance": 0})))
    assert ROUNDED in str(caught.value)
    with pytest.raises(
        mbvi.ModelError, match=r"found 0\.\d+ m left in the loop .*; check lengths, places, axes and "
    ) as caught:
        find_start(mbvi.assemble(tilted_four_bar((0.3420, -0.9397, 0.1))))
    assert ROUNDED not in str(caught.value)


def frame(turn):
    """Three welded bars that hang on a ball joint."""
    bar = mbvi.Body(mass=1, inertia=(0.001, 0.1, 0.1))

    def weld(parent, child, turn):
        return mbvi.Weld(
            parent=parent, child=child, position=(0.5, 0, 0), offset=(-0.5, 0, 0), orientation=(0, turn, 0)
        )

    joints = {"ab": weld("a", "b", turn), "bc": weld("b", "c", turn), "ca": weld("c", "a", turn)}
    joints["hang"] = mbvi.Ball(parent="world", child="a")
    return mbvi.Model(name="frame", bodies=dict.fromkeys("abc", bar), joints=joints)


def test_a_welded_loop_tells_what_is_left_in_metres_or_degrees():
    assert find_start(mbvi.assemble(frame("2*pi/3"))).violation < 1e-15
    head = r"expected a constraint that holds between parts that are welded together, found "
    with pytest.raises(mbvi.ModelError, match=rf"^joints\.\w\w: {head}\S+e-06 m left of \w\w\.x{ROUNDED}"):
        mbvi.assemble(frame(2.0944))
    whole = frame("2*pi/3")
    joints = {
        name: mbvi.Weld(parent="a", child="b", orientation=(0, turn, 0)) for name, turn in (("ab", 0), ("ba", "10 deg"))
    }
    bodies, joints = {name: whole.bodies[name] for name in "ab"}, {"hang": whole.joints["hang"], **joints}
    twice = whole.replaced({"bodies": bodies, "joints": joints})
    with pytest.raises(mbvi.ModelError, match=rf"^joints\.\w+: {head}10 deg left of \w+\.turn_\w\w; correct lengths"):
        mbvi.assemble(twice)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_point_in_a_hand(formulation):
    """The body goes where the hand is, and does not turn, though its centre of mass is elsewhere."""
    rod = mbvi.Body(mass=1, center_of_mass=(0.1, 0, -0.4), inertia=(0.05, 0.05, 0.01))
    spin = mbvi.Initial(velocity=(0, 0, 0, 1, 2, 3))
    hand = mbvi.PrescribedPoint(body="rod", position=("0.3*cos(4*t)", "0.3*sin(4*t)", 0))
    model = mbvi.Model(
        name="hand",
        bodies={"rod": rod},
        joints={"place": mbvi.Free(parent="world", child="rod")},
        constraints={"hand": hand},
        initial={"place": spin},
    )
    run = mbvi.simulate(model, step=1e-4, duration=1e-3, formulation=formulation)
    assert moved(run.start) == {("place.x", False): (0, 0.3), ("place.y", True): (0, pytest.approx(1.2))}
    places, R = run.pose("rod")
    np.testing.assert_allclose(places[0], (0.3, 0, 0), rtol=0, atol=1e-15)
    np.testing.assert_allclose(R[0], np.eye(3), rtol=0, atol=1e-15)
    turned = Rotation.from_matrix(R[0].T @ R[1]).as_rotvec() / 1e-4
    np.testing.assert_allclose(turned, (1, 2, 3), rtol=0.02)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_what_hangs_on_a_loop_keeps_its_joint(formulation):
    """A loop that does not close moves its own joints, and not a pendulum that hangs on it, nor its rate."""
    hinge = {"axis": (0, -1, 0)}
    joints = {
        "A": mbvi.Revolute(parent="world", child="a", **hinge),
        "B": mbvi.Revolute(parent="a", child="b", position=(1, 0, 0), **hinge),
        "C": mbvi.Revolute(parent="world", child="c", position=(1, 0, 0), **hinge),
        "D": mbvi.Revolute(parent="b", child="c", position=(1, 0, 0), offset=(1, 0, 0), **hinge),
        "hook": mbvi.Ball(parent="b", child="rod", position=(0.5, 0, 0)),
    }
    bar = mbvi.Body(mass=1, center_of_mass=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    turn = Rotation.from_rotvec((0.4, 0, 0.2)).as_quat()[[3, 0, 1, 2]]
    initial = {
        "A": mbvi.Initial(position=1, velocity=2),
        "B": mbvi.Initial(position=-1.1),
        "C": mbvi.Initial(position=1),
        "hook": mbvi.Initial(position=turn, velocity=(1, -2, 3)),
    }
    model = mbvi.Model(name="loop", bodies={**dict.fromkeys("abc", bar), "rod": ROD}, joints=joints, initial=initial)
    run = mbvi.simulate(model, step=1e-4, duration=1e-3, formulation=formulation)
    names = {move.name for move in run.start.moves}
    assert names == {"A.angle", "B.angle", "C.angle"}
    R = {name: run.pose(name)[1] for name in ("b", "rod")}
    relative = Rotation.from_matrix(R["b"].transpose(0, 2, 1) @ R["rod"])
    np.testing.assert_allclose(relative[0].as_rotvec(), (0.4, 0, 0.2), rtol=0, atol=1e-14)
    np.testing.assert_allclose((relative[0].inv() * relative[1]).as_rotvec() / 1e-4, (1, -2, 3), rtol=0.02)


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "bricard", "stewart_platform", "heavy_top_quaternion"])
def test_a_system_shows_what_runs_start_from(name, formulation):
    system = mbvi.assemble(mbvi.load(MODELS / f"{name}.yaml"), formulation)
    run = mbvi.simulate(system, step=0.001, duration=0.001)
    np.testing.assert_array_equal(system.initial_q, run.q[0])
    np.testing.assert_allclose(system.initial_v, run.v[0], rtol=0, atol=1e-13 * np.abs(run.v[0]).max())
    with pytest.raises(ValueError, match="read-only"):
        system.initial_q[0] = 1.0


def test_another_start_of_a_system():
    """Set as a whole, it is what runs start from; also in the embedding of a loop, where joints gave the old one."""
    system = mbvi.assemble(mbvi.load(MODELS / "four_bar.yaml"), "embedding")
    later = mbvi.simulate(system, step=0.01, duration=0.1)
    system.initial_q, system.initial_v = later.q[-1], later.v[-1]
    again = mbvi.simulate(system, step=0.01, duration=0.1)
    np.testing.assert_allclose(again.q[0], later.q[-1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(again.v[0], later.v[-1], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(system.initial_q, again.q[0])


# ------------------------------------------------------------------------------------------- directions

KEYS = {
    "parent": "a", "child": "b", "position": (0.3, 0, 0), "offset": (-0.2, 0.1, 0), "orientation": (0.3, -0.5, 0.2),
    "cut": True,
}  # fmt: skip
CUT = {
    "weld": mbvi.Weld(**KEYS),
    "revolute": mbvi.Revolute(axis=AXIS, **KEYS),
    "prismatic": mbvi.Prismatic(axis=AXIS, **KEYS),
    "cylindrical": mbvi.Cylindrical(axis=AXIS, **KEYS),
    "screw": mbvi.Screw(axis=AXIS, pitch=0.1, **KEYS),
    "planar": mbvi.Planar(normal=AXIS, **KEYS),
    "frames": mbvi.CoincidentFrames(
        body_a="a", point_a=(0.3, 0, 0), body_b="b", point_b=(-0.2, 0.1, 0), orientation=(0.3, -0.5, 0.2)
    ),
}


def tied(name, turn, formulation="tree"):
    """Two bodies in flight, tied by a joint that is cut or an element, b turned from where that would have it."""
    a = np.array([2.0, -1.0, 0.0]) / np.sqrt(5)
    axes = {"along": AXIS, "across": np.cross(AXIS, a) / np.linalg.norm(np.cross(AXIS, a)), "aslant": a}
    axis, angle = turn
    start = (Rotation.from_rotvec(np.radians(angle) * axes[axis]) * TURN).as_quat()[[3, 0, 1, 2]]
    joints = {key: mbvi.Free(parent="world", child=key[1]) for key in ("fa", "fb")}
    element = CUT[name]
    is_joint = hasattr(element, "parent")
    return mbvi.Model(
        name="tied",
        gravity=(0, 0, 0),
        bodies={
            "a": mbvi.Body(mass=2, inertia=(0.02, 0.03, 0.04)),
            "b": mbvi.Body(mass=1, inertia=(0.01, 0.02, 0.025)),
        },
        joints=joints | ({"tie": element} if is_joint else {}),
        constraints={} if is_joint else {"tie": element},
        initial={"fb": mbvi.Initial(position=(0.6, 0.1, 0, *start))},
        formulation=formulation,
    )


def apart(name, system, q):
    """By which angle directions are apart that a tie holds together [deg]."""
    R = {body: system.poses(body, q[None])[1][0] for body in "ab"}
    relative = Rotation.from_matrix(R["a"].T @ R["b"]) * TURN.inv()
    if name in ("weld", "prismatic", "frames"):
        return np.degrees(relative.magnitude())
    turned = relative.apply(AXIS)
    return np.degrees(np.arctan2(np.linalg.norm(np.cross(AXIS, turned)), AXIS @ turned))


@pytest.mark.parametrize("turn", [("across", 180), ("aslant", 180), ("along", 180), ("aslant", 120), ("across", 91)])
@pytest.mark.parametrize("name", CUT)
def test_directions_start_as_they_are_meant(name, turn):
    system = mbvi.assemble(tied(name, turn))
    start = find_start(system)
    assert np.abs(system.constraint(start.q)).max() < 1e-12
    assert apart(name, system, start.q) < 1e-6


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("name", ["weld", "revolute"])
def test_a_given_state_on_constraints_that_stands_upside_down(name, formulation):
    """All residuals are 0; only the angle tells."""
    system = mbvi.assemble(tied(name, ("along", 0), formulation))
    q = find_start(system).q
    first = system.coordinate_names.index("fb.qw" if formulation == "tree" else "b.qw")
    across = np.cross(AXIS, (0, 0, 1))
    a = across / np.linalg.norm(across) if name == "revolute" else np.array([1.0, 0, 0])
    before = Rotation.from_quat(q[first : first + 4][[1, 2, 3, 0]])
    of_a = Rotation.from_quat(q[3:7][[1, 2, 3, 0]])
    flipped = of_a * Rotation.from_rotvec(np.pi * a) * of_a.inv() * before
    q[first : first + 4] = flipped.as_quat()[[3, 0, 1, 2]]
    q[first - 3 : first] += (before.as_matrix() - flipped.as_matrix()) @ (-0.2, 0.1, 0)
    assert np.abs(system.constraint(q)).max() < 1e-12
    found = find_start(system, q, np.zeros_like(q))
    assert apart(name, system, found.q) < 1e-6
    with pytest.raises(
        mbvi.ModelError, match=r"^initial_q: expected a position on the constraints, found directions 180 deg apart"
    ):
        find_start(system, q, np.zeros_like(q), project=False)


def test_directions_that_can_not_be_turned():
    """A planar loop whose last hinge has its axis the other way, and two bodies that are held."""
    hinge = {"axis": (0, -1, 0)}
    joints = {
        "A": mbvi.Revolute(parent="world", child="a", **hinge),
        "B": mbvi.Revolute(parent="world", child="b", position=(1, 0, 0), **hinge),
        "C": mbvi.Revolute(
            parent="a", child="b", position=(1, 0, 0), offset=(1, 0, 0), orientation=(np.pi, 0, 0), **hinge
        ),
    }
    bar = mbvi.Body(mass=1, center_of_mass=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    initial = {"A": mbvi.Initial(position=1), "B": mbvi.Initial(position=2)}
    flat = mbvi.Model(name="flat", bodies={"a": bar, "b": bar}, joints=joints, initial=initial)
    expected = "joints.C: expected axes that can be turned alike, found 180 deg left in the loop a - world - b - a; "
    for formulation in FORMULATIONS:
        with pytest.raises(mbvi.ModelError, match=re.escape(expected)):
            find_start(mbvi.assemble(flat, formulation))
    model = tied("frames", ("across", 180))
    still = {name: model.initial.get(name, mbvi.Initial()).model_copy(update={"hold": True}) for name in ("fa", "fb")}
    with pytest.raises(mbvi.ModelError, match=r"^constraints\.tie: expected constraints that can be satisfied, found"):
        find_start(mbvi.assemble(mbvi.Model(**{**dict(model), "initial": still})))


@pytest.mark.parametrize("angle", [179, 180, -180, 200])
def test_coordinates_of_a_joint_half_a_turn_away(angle):
    joint = mbvi.Revolute(parent="a", child="b", axis=(0, 0, 1)).model_copy(update={"orientation": (1.0, 0, 0, 0)})
    turned = Rotation.from_rotvec((0, 0, np.radians(angle))).as_matrix()
    motion = Motion(turned, np.zeros(3), np.array([0, 0, 2.0]), np.zeros(3))
    near = mbvi.Initial(position=(np.radians(angle) - 0.5,))
    q, v = nearest_joint_state(joint, motion, near)
    np.testing.assert_allclose([q, v], [[np.radians(angle)], [2.0]], rtol=1e-12)


class Rope(Between):
    """A constraint whose class says nothing of what it holds."""

    type: Literal["rope"] = "rope"

    def holds(self):
        return []


class NoHold(Between):
    """A constraint whose class has no method that says what it holds."""

    type: Literal["no_hold"] = "no_hold"


class Hook(Joint):
    """A joint that has two coordinates and holds three points."""

    type: Literal["hook"] = "hook"

    def motions(self):
        return [turn("first", X), turn("second", Z)]

    def holds(self):
        return [together()]


def test_kinds_whose_constraints_are_not_known():
    """Whatever kinds come to be, none is without constraints in silence."""
    body = mbvi.Body(mass=1, inertia=(1, 1, 1))
    model = mbvi.Model(name="known", bodies={"a": body}, joints={"j": mbvi.Free(parent="world", child="a")})

    def message(**parts):
        with pytest.raises(mbvi.ModelError) as caught:
            Builder(model.resolved().replaced(parts)).build()
        return str(caught.value)

    rope = Rope(body_a="world", body_b="a")
    assert message(constraints={"x": rope}) == (
        "constraints.x: expected what the constraint holds, found nothing, for the type rope"
    )
    assert message(constraints={"x": NoHold(body_a="world", body_b="a")}) == (
        "constraints.x: expected what the constraint holds, found nothing, for the type no_hold"
    )
    hook = Hook(parent="world", child="a", cut=True)
    assert message(joints={"x": hook}) == (
        "joints.x: expected 4 constraints of what a joint of the type hook holds, found 3"
    )
    end = ties.End(-1, np.zeros(3), np.eye(3))
    with pytest.raises(mbvi.ModelError, match=r"^x: expected what is known to follow from it, found 'glue'"):
        list(ties.rows(Tables(), "x", ["glue"], (end, end), None))

    class Silent(Joint):
        type: Literal["silent"] = "silent"

    with pytest.raises(mbvi.ModelError, match=r"^joints: expected a type of joint that says its motions, found Silent"):
        Silent(parent="world", child="a").coordinate_names  # noqa: B018


# --------------------------------------------------------------------------------- models that do not move


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("value", ["30 deg", "30 deg + 0*t"])
def test_an_arm_that_is_held(value, formulation):
    arm = mbvi.Body(mass=10, center_of_mass=(1, 0, 0), inertia=(0.1, 3, 3))
    model = mbvi.Model(
        name="arm",
        bodies={"arm": arm},
        joints={"pivot": mbvi.Revolute(parent="world", child="arm", axis=(0, -1, 0))},
        constraints={"brake": mbvi.PrescribedCoordinate(joint="pivot", value=value)},
    )
    run = mbvi.simulate(model, step=0.01, duration=0.1, formulation=formulation)
    assert run.system.degrees_of_freedom == 0
    assert np.ptp(run.q, axis=0).max() < 1e-15
    force, torque = run.reaction("pivot")
    np.testing.assert_allclose(force, np.tile((0, 0, 98.1), (11, 1)), rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.abs(torque[:, 1]), 98.1 * np.cos(np.radians(30)), rtol=1e-12)
    assert np.abs(torque[:, [0, 2]]).max() < 1e-12


POST = mbvi.Body(mass=5, center_of_mass=(0, 0, 0.5), inertia=(0.4, 0.4, 0.01))
BEAM = mbvi.Body(mass=3, center_of_mass=(0.5, 0, 0), inertia=(0.01, 0.3, 0.3))


@pytest.mark.parametrize("cut", [None, False])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_frame_whose_bodies_are_welded(formulation, cut):
    joints = {
        "foot": mbvi.Weld(parent="world", child="post", cut=cut),
        "corner": mbvi.Weld(parent="post", child="beam", position=(0, 0, 1), cut=cut),
    }
    model = mbvi.Model(name="frame", bodies={"post": POST, "beam": BEAM}, joints=joints)
    run = mbvi.simulate(model, step=0.01, duration=0.1, formulation=formulation)
    g = 9.81
    for name, weight, moment in (("foot", 8 * g, -1.5 * g), ("corner", 3 * g, -1.5 * g)):
        force, torque = run.reaction(name)
        np.testing.assert_allclose(force[-1], (0, 0, weight), rtol=0, atol=1e-11)
        np.testing.assert_allclose(torque[-1], (0, moment, 0), rtol=0, atol=1e-11)


def ring(height=1.0, **first):
    """Two posts and a beam, all welded; the first post on a joint of its own."""
    joints = {
        "A": first.get("joint", mbvi.Weld(parent="world", child="a")),
        "B": mbvi.Weld(parent="a", child="b", position=(0, 0, 1)),
        "C": mbvi.Weld(parent="world" if not first else "a", child="c", position=(1, 0, 0)),
        "D": mbvi.Weld(parent="b", child="c", position=(1, 0, 0), offset=(0, 0, height)),
    }
    return mbvi.Model(name="ring", bodies={"a": POST, "b": BEAM, "c": POST}, joints=joints)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_ring_of_welds(formulation):
    run = mbvi.simulate(ring(), step=0.01, duration=0.1, formulation=formulation)
    assert (run.system.mobility.degrees_of_freedom, run.system.mobility.redundant) == (0, 6)
    total = sum(run.reaction(name)[0][-1] for name in ("A", "C"))
    np.testing.assert_allclose(total, (0, 0, 13 * 9.81), rtol=0, atol=1e-11)
    with pytest.raises(mbvi.ModelError, match=r"^joints\..: expected .*constraint.* 0\.\d+ m left"):
        mbvi.simulate(ring(1.1), step=0.01, duration=0.1, formulation=formulation)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_ring_of_welds_that_swings(formulation):
    """As one rigid body does."""
    hinge = mbvi.Revolute(parent="world", child="a", axis=(0, 1, 0))
    run = mbvi.simulate(ring(joint=hinge), "gauss3", step=0.01, duration=0.5, formulation=formulation)
    tree = {name: joint for name, joint in ring(joint=hinge).joints.items() if name != "D"}
    one = mbvi.simulate(mbvi.Model(**{**dict(ring()), "joints": tree}), "gauss3", step=0.01, duration=0.5)
    np.testing.assert_allclose(run.pose("c")[1], one.pose("c")[1], rtol=0, atol=1e-7)


def test_a_function_of_time_between_parts_that_are_welded():
    rope = mbvi.Distance(body_a="world", body_b="post", point_b=(0, 0, 1), length="1 + t")
    with pytest.raises(mbvi.ModelError, match=r"^constraints\.rope: expected bodies that move against each other"):
        mbvi.assemble(
            mbvi.Model(
                name="post",
                bodies={"post": POST},
                joints={"foot": mbvi.Weld(parent="world", child="post")},
                constraints={"rope": rope},
            )
        )


# ----------------------------------------------------------------------------------------- point masses


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("coordinates", ["quaternion", "xyz"])
@pytest.mark.parametrize("offset", [0.0, 0.2])
def test_three_numbers_for_a_point_mass(formulation, coordinates, offset):
    """Its place and its velocity, whether the mass is at the origin of its body or not."""
    bead = mbvi.Body(point_masses={"m": mbvi.PointMass(mass=2, position=(offset, 0, 0))})
    model = mbvi.Model(
        name="bead",
        gravity=(0, 0, 0),
        bodies={"bead": bead},
        joints={"flight": mbvi.Free(parent="world", child="bead", position=(0, 0, 1), coordinates=coordinates)},
        initial={"flight": mbvi.Initial(position=("1", "2/100", 1e-3), velocity=(0, 2, -1))},
    )
    assert not model.mended
    run = mbvi.simulate(model, step=0.01, duration=0.1, formulation=formulation)
    places, _ = run.pose("bead")
    np.testing.assert_allclose(places[0], (1, 0.02, 1.001), rtol=0, atol=1e-15)
    np.testing.assert_allclose(places[-1] - places[0], (0, 0.2, -0.1), rtol=0, atol=1e-14)


def test_three_numbers_are_not_enough_for_a_body():
    free = {"joints": {"flight": mbvi.Free(parent="world", child="rod")}, "bodies": {"rod": ROD}}
    with pytest.raises(
        mbvi.ModelError, match=r"^initial\.flight\.position: expected 7 numbers \(x, y, z, qw, qx, qy, qz\)"
    ):
        mbvi.Model(name="rod", **free, initial={"flight": mbvi.Initial(position=(1, 2, 3))})


@pytest.mark.parametrize("angle", [0.3, 3.4, -2.9, 25.0, -11.0])
def test_a_screw_that_closes_a_loop_has_the_angle_of_its_displacement(angle):
    """Of a rotation alone whole turns are not known, and from half a turn on it would be turned the other way."""
    screw = mbvi.Screw(parent="world", child="b", axis=(1, 2, 2), pitch=0.4, position=(0.1, 0.2, 0.3), offset=(0, 1, 0))
    q, v = nearest_joint_state(screw, joint_motion(screw, np.array([angle]), np.array([0.7])))
    assert q == pytest.approx([angle], abs=1e-12) and v == pytest.approx([0.7], abs=1e-12)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_angles_of_which_no_digits_are_left_are_refused(formulation):
    """1e17 rad are known to 16 rad; sums of turns that are formed in steps would be wrong without a word."""
    pivot = mbvi.Revolute(parent="world", child="rod", axis=(0, 1, 0))

    def model(angle):
        start = {"pivot": mbvi.Initial(position=angle)}
        return mbvi.Model(
            name="rod", formulation=formulation, bodies={"rod": ROD}, joints={"pivot": pivot}, initial=start
        )

    with pytest.raises(mbvi.ModelError, match=r"initial\.pivot\.position: expected angles of size at most 1e\+12 rad"):
        mbvi.assemble(model(1e17))
    run = mbvi.simulate(model(1e6), step=0.01, duration=0.1)
    height = run.pose("rod")[0][0] + run.pose("rod")[1][0] @ [0, 0, 0.25]
    assert height[2] == pytest.approx(0.25 * np.cos(1e6), abs=1e-9)
    if formulation == "tree":
        with pytest.raises(
            mbvi.ModelError, match=r"pivot\.angle: expected an angle of size at most 1e\+12 rad at the start"
        ):
            mbvi.simulate(model(0.0), step=0.01, duration=0.1, initial_q=[-1e13])
