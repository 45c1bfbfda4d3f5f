"""Actuators: their laws, saturation, motions against closed forms, and inputs that may be set."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mbvi
from mbvi.control import PD
from mbvi.kernels import layout
from mbvi.results.limits import exceeded_limits

LAWS = {
    "motor": (mbvi.Motor(joint="j", input="2 + t", gear=3), lambda x, v, t: 3 * (2 + t)),
    "position": (
        mbvi.PositionServo(joint="j", input=0.4, gear=2, stiffness=5, damping=0.3),
        lambda x, v, t: 2 * (5 * (0.4 - 2 * x) - 0.3 * 2 * v),
    ),
    "velocity": (
        mbvi.VelocityServo(joint="j", input="cos(t)", gear=-2, damping=0.7),
        lambda x, v, t: -2 * 0.7 * (np.cos(t) + 2 * v),
    ),
    "actuator": (
        mbvi.Actuator(joint="j", input=2, gain=3, bias=0.2, stiffness=0.4, damping=0.5, gear=1.5, effort=4.5),
        lambda x, v, t: 1.5 * np.clip(6 + 0.2 - 0.6 * x - 0.75 * v, -4.5, 4.5),
    ),
    "one side": (
        mbvi.PositionServo(joint="j", input=1, gear=-1, stiffness=5, effort=[-1, 2]),
        lambda x, v, t: -np.clip(5 * (1 + x), -1, 2),
    ),
}


def slide(actuators, mass=2.0, formulation="tree", **initial):
    """A mass on a slide without gravity, that actuators drive."""
    joint = mbvi.Prismatic(parent="world", child="b", axis=(1, 2, 0), **initial.pop("joint", {}))
    return mbvi.Model(
        name="slide",
        formulation=formulation,
        gravity=(0, 0, 0),
        bodies={"b": mbvi.Body(mass=mass, inertia=(1, 1, 1))},
        joints={"j": joint},
        forces=actuators,
        initial={"j": mbvi.Initial(**initial)},
    )


@pytest.mark.parametrize("kind", LAWS)
@pytest.mark.parametrize("state", [(0.3, -0.2, 0.7), (-2.5, 1.4, 0.1), (4.0, 2.0, 2.0)])
def test_forces_and_their_derivatives(kind, state):
    element, law = LAWS[kind]
    x, v, t = state
    system = mbvi.assemble(slide({"a": element}))
    assert system.gradient([x], [v], t)[1][0] == pytest.approx(law(x, v, t), rel=1e-14)
    _, _, by_v, by_q = system.second_derivatives([x], [v], t)
    h = 1e-6
    assert by_q[0, 0] == pytest.approx((law(x + h, v, t) - law(x - h, v, t)) / (2 * h), abs=1e-8)
    assert by_v[0, 0] == pytest.approx((law(x, v + h, t) - law(x, v - h, t)) / (2 * h), abs=1e-8)
    assert not system.is_conservative and not system.unforced.gradient([x], [v], t)[1].any()


def test_a_motor_without_input_leaves_the_energy():
    assert mbvi.assemble(slide({"a": mbvi.Motor(joint="j")})).is_conservative


def servo(formulation="tree", **fields):
    """A servo that pulls a mass of 2 kg from 1 m to 0, with a spring of 8 N/m, so that it swings with 2 rad/s."""
    return slide({"a": mbvi.PositionServo(joint="j", stiffness=8, **fields)}, formulation=formulation, position=1.0)


def saturated(t):
    """The motion with forces up to 2 N, until it first passes 0: from rest at 1 m, within 0.25 m it is a spring."""
    end = np.sqrt(1.5)
    swing = np.maximum(t - end, 0.0)
    return np.where(t < end, 1 - t**2 / 2, 0.25 * np.cos(2 * swing) - end / 2 * np.sin(2 * swing))


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_a_servo_swings_as_a_spring(formulation):
    run = mbvi.simulate(servo(formulation), "gauss4", step=0.05, duration=1)
    place = run.pose("b")[0] @ np.array([1, 2, 0]) / np.sqrt(5)
    np.testing.assert_allclose(place, np.cos(2 * run.t), rtol=0, atol=1e-11)


def test_saturation_leaves_order_2():
    """Where it begins and ends within steps; steps that end there keep all orders."""
    errors = []
    for steps in (23, 46, 92, 184):
        run = mbvi.simulate(servo(effort=2), "gauss3", step=1.4 / steps, duration=1.4)
        errors.append(np.abs(run.q[:, 0] - saturated(run.t)).max())
    assert errors[0] < 1e-3 and errors[-1] < errors[0] / 16
    run = mbvi.simulate(servo(effort=2), "gauss3", step=np.sqrt(1.5) / 40, duration=44 * np.sqrt(1.5) / 40)
    np.testing.assert_allclose(run.q[:, 0], saturated(run.t), rtol=0, atol=1e-10)


def test_inputs_may_be_set_between_steps():
    system = mbvi.assemble(slide({"a": mbvi.Motor(joint="j", input=3, gear=2), "b": mbvi.Motor(joint="j", input="t")}))
    assert system.arrays.inputs.tolist() == [3, 0] and system.input_names == ("a", "b")
    system.arrays.inputs[0] = 5
    assert system.gradient([0], [0], 1.0)[1][0] == 11
    assert system.arrays.joint_forces[:, layout.INPUT].tolist() == [0, 1]


def test_efforts_are_what_actuators_exert():
    limits = {"displacement": mbvi.Limits(effort=1.5)}
    model = slide({"a": mbvi.PositionServo(joint="j", stiffness=8, effort=2)}, position=1.0, joint={"limits": limits})
    with pytest.warns(
        mbvi.errors.LimitWarning, match="up to 2 N, beyond the largest effort of 1.5 N, first at t = 0 s"
    ):
        run = mbvi.simulate(model, "midpoint", step=0.1, duration=0.2)
    assert [each.limit for each in exceeded_limits(run)] == ["largest effort"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"gear": 0}, "forces.a.gear: expected a gear other than 0, found 0; leave it out for a direct drive"),
        ({"effort": -1}, "forces.a.effort: expected a range of forces, found -1; write a number greater than 0, or"),
        (
            {"effort": [2, 1]},
            "forces.a.effort: expected a range of forces, found [2, 1]; write a number greater than 0",
        ),
        ({"effort": [2]}, "effort: expected a number or 2 numbers, found [2]; write for example 10, or [-5, 10]"),
        ({"input": "30 deg"}, "forces.a.input: expected no unit, found '30 deg', which is in rad"),
    ],
)
def test_what_is_no_actuator(fields, message):
    with pytest.raises(mbvi.ModelError) as error:
        slide({"a": mbvi.Motor(joint="j", **fields)})
    assert str(error.value).startswith(message)


PROPELLER = mbvi.FrameActuator(
    body="b",
    point=(0.3, -0.2, 0.5),
    orientation=(0.2, 0.4, -0.3),
    force=(1, 2, 3),
    torque=(0.3, -0.1, 0.2),
    gain=2,
    bias=0.5,
)


def floating(actuator, parent="world", formulation="tree"):
    """A body that flies freely without gravity, or is welded to the world beside one that does."""
    bodies = {"b": mbvi.Body(mass=2, center_of_mass=(0.1, 0, 0), inertia=(1, 2, 2.5))}
    joints = {"j": mbvi.Free(parent="world", child="b") if parent == "world" else mbvi.Weld(parent="world", child="b")}
    if parent != "world":
        bodies["c"], joints["c"] = mbvi.Body(mass=1, inertia=(1, 1, 1)), mbvi.Free(parent="world", child="c")
    return mbvi.Model(
        name="drone", formulation=formulation, gravity=(0, 0, 0), bodies=bodies, joints=joints, forces={"a": actuator}
    )


@pytest.mark.parametrize(("u", "damping", "effort"), [(1.5, 0, None), (1.5, 0.7, None), (4, 0.7, [-1, 3])])
def test_an_actuator_of_a_frame_exerts_a_wrench(u, damping, effort):
    """Newton's and Euler's equations of a free body, at a random state."""
    actuator = PROPELLER.replaced({"damping": float(damping), "effort": effort and tuple(map(float, effort))})
    system, random = mbvi.assemble(floating(actuator)), np.random.default_rng(3)
    system.arrays.inputs[0] = u
    q, v = random.normal(size=(2, 7))
    q[3:] /= np.linalg.norm(q[3:])
    v[3:] -= (q[3:] @ v[3:]) * q[3:]
    R, point = Rotation.from_quat(np.roll(q[3:], -1)).as_matrix(), np.array(actuator.point)
    w, x, y, z = q[3:]
    omega = 2 * np.array([[-x, w, -z, y], [-y, z, w, -x], [-z, -y, x, w]]) @ v[3:]  # along the world's axes
    axes = R @ Rotation.from_rotvec(actuator.orientation).as_matrix()
    force, torque = axes @ np.array(actuator.force), axes @ np.array(actuator.torque)
    rate = force @ (v[:3] + np.cross(omega, R @ point)) + torque @ omega
    pull = 2 * u + 0.5 - damping * rate
    pull = pull if effort is None else np.clip(pull, *effort)
    a = system.acceleration(q, v)
    alpha = 2 * np.array([[-x, w, -z, y], [-y, z, w, -x], [-z, -y, x, w]]) @ a[3:]
    center, J = R @ np.array([0.1, 0, 0]), R @ np.diag([1, 2, 2.5]) @ R.T
    of_center = a[:3] + np.cross(alpha, center) + np.cross(omega, np.cross(omega, center))
    np.testing.assert_allclose(2 * of_center, pull * force, rtol=1e-12, atol=1e-12)
    moment = pull * (torque + np.cross(R @ point - center, force))
    np.testing.assert_allclose(J @ alpha + np.cross(omega, J @ omega), moment, rtol=1e-12, atol=1e-12)


def test_an_actuator_of_a_frame_on_a_body_that_does_not_move():
    model = floating(PROPELLER.replaced({"input": 3.0}), parent="welded")
    run = mbvi.simulate(model, step=0.1, duration=0.2)
    assert not run.v.any()
    found = run.forces(["a"])["a"]
    axes = Rotation.from_rotvec(PROPELLER.orientation).as_matrix()
    np.testing.assert_allclose(found.values[0, :3], 6.5 * axes @ (1, 2, 3), rtol=1e-14)
    np.testing.assert_allclose(found.values[0, 3:], 6.5 * axes @ (0.3, -0.1, 0.2), rtol=1e-14)
    assert not found.power.any() and found.energy is None


def test_an_actuator_of_a_frame_in_both_formulations():
    driven = PROPELLER.replaced({"input": "sin(3*t)", "damping": 0.2})
    tree, embedding = (
        mbvi.simulate(floating(driven, formulation=name), "gauss3", step=0.02, duration=1)
        for name in ("tree", "embedding")
    )
    np.testing.assert_allclose(tree.pose("b")[0], embedding.pose("b")[0], rtol=0, atol=1e-10)
    given, found = tree.energy()[-1] - tree.energy()[0], tree.forces(["a"])["a"].work[-1]
    assert given > 1 and found == pytest.approx(given, rel=1e-6)


def test_ranges_of_inputs_of_actuators_of_frames():
    assert PROPELLER.input_range is None
    assert PROPELLER.replaced({"effort": (-1.0, 3.0)}).input_range == (-0.75, 1.25)
    assert PROPELLER.replaced({"effort": 3.0, "damping": 0.1}).input_range is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"force": (0, 0, 0), "torque": (0, 0, 0)},
            "forces.a.force: expected a force or a torque other than 0, found [0, 0, 0]; write for example force: [0, 0, 1]",
        ),
        ({"effort": 0}, "forces.a.effort: expected a range of forces, found 0; write a number greater than 0, or"),
        ({"orientation": (2, 0, 0, 0)}, "forces.a.orientation: expected"),
        ({"body": "c"}, "forces.a.body: expected a body, found 'c'; known: b"),
    ],
)
def test_what_is_no_actuator_of_a_frame(fields, message):
    with pytest.raises(mbvi.ModelError) as error:
        floating(mbvi.FrameActuator(**dict(PROPELLER) | fields))
    assert str(error.value).startswith(message)


def test_laws_of_controllers_are_for_actuators_on_coordinates():
    model = floating(PROPELLER)
    law = mbvi.Controller(PD(["a"], 0.0, stiffness=1, damping=1), period=0.1)
    with pytest.raises(mbvi.ModelError) as error:
        mbvi.simulate(model, step=0.1, duration=0.1, controllers={"law": law})
    assert "expected actuators on coordinates, found 'a', which acts at a frame" in str(error.value)
    tendon = mbvi.TendonActuator(points=[{"body": "world"}, {"body": "b", "point": (1, 0, 0)}])
    with pytest.raises(mbvi.ModelError) as error:
        mbvi.simulate(floating(tendon), step=0.1, duration=0.1, controllers={"law": law})
    assert "expected actuators on coordinates, found 'a', which acts along a tendon; write a law of your own" in str(
        error.value
    )
