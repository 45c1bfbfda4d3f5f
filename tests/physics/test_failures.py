"""States and steps that cannot be run say so; odd ones that can be run are right."""

import re

import numpy as np
import pytest

import mbvi
from mbvi.kernels.galerkin.workspace import EPS
from mbvi.system.causes import almost_no_inertia
from tests.marks import coarse, pairs

from . import systems


def one_body(joint, body=None, **rest):
    body = body or mbvi.Body(mass=1, center_of_mass=(0, 0, 1), inertia=(1, 1, 2))
    return mbvi.Model(name="one body", bodies={"body": body}, joints={"joint": joint}, **rest)


def ball(coordinates="quaternion"):
    return mbvi.Ball(parent="world", child="body", coordinates=coordinates)


def model_error(*args, **kwargs):
    with pytest.raises(mbvi.ModelError) as caught:
        mbvi.simulate(*args, **{"step": 0.01, "duration": 0.1, **kwargs})
    return str(caught.value)


def infinite_at_half_a_second(t, q, v, F):
    F[0] += 1.0 / (t - 0.5)


# ------------------------------------------------------------------------------------------------ steps


def test_step_too_large():
    with pytest.raises(mbvi.StepError) as caught:
        mbvi.simulate(systems.model("chain_10"), "simpson", step=0.1, duration=10.0)
    message, found = str(caught.value), caught.value.trajectory
    step = len(found) - 1
    assert message.startswith(f"step {step} (t = {0.1 * step:.6g} s): Newton's iteration did not converge: residual ")
    assert re.search(r"largest at hinge\d+\.angle\. ", message)
    assert message.endswith("A smaller step may help: try step=0.05.")
    assert found.t[-1] == pytest.approx(0.1 * step)
    assert np.all(np.isfinite(found.q)) and np.all(np.isfinite(found.energy()))
    again = mbvi.simulate(systems.model("chain_10"), "simpson", step=0.1, duration=max(0.1, 0.1 * step))
    np.testing.assert_array_equal(again.q[: len(found)], found.q)


def test_long_chain_in_the_coordinates_of_its_joints():
    """The step equations have a solution to about h² N ω = 2.5 I, that is h = 0.2 ms, from where two solutions have merged."""
    model = systems.model("necklace_50")
    with pytest.raises(mbvi.StepError) as caught:
        mbvi.simulate(model, "midpoint", formulation="tree", step=1e-3, duration=0.01)
    assert str(caught.value).endswith("try step=0.0005, or formulation: embedding, or scheme: simpson.")
    assert len(mbvi.simulate(model, "midpoint", formulation="tree", step=1e-4, duration=2e-3)) == 21
    for options in ({"scheme": "midpoint", "formulation": "embedding"}, {"scheme": "simpson", "formulation": "tree"}):
        assert len(mbvi.simulate(model, **options, step=1e-3, duration=0.01)) == 11


def test_infinite_force():
    system = mbvi.assemble(systems.model("pendulum"), force=infinite_at_half_a_second)
    with pytest.raises(mbvi.StepError, match=r"step 4 \(t = 0\.4 s\): a force or momentum became infinite"):
        mbvi.simulate(system, "simpson", step=0.1, duration=1.0)


def failed(system, *arguments, **options):
    with pytest.raises(mbvi.StepError) as caught:
        mbvi.simulate(system, *arguments, **options)
    return caught.value.reason


@coarse
@pytest.mark.parametrize("scheme", ["symplectic_euler", "lie_trotter", "simpson"])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_run_that_diverges_until_numbers_end(scheme):
    """A stiff spring and a step of 2 s: the distance grows a hundredfold in every step, to 1e150 and beyond."""
    spring = mbvi.Spring(body_a="world", body_b="bob", stiffness=500, rest_length=1)
    model = mbvi.Model(
        name="elastic pendulum",
        bodies={"bob": mbvi.Body(mass=1)},
        joints={"fly": mbvi.Free(parent="world", child="bob")},
        forces={"rod": spring},
        initial={"fly": {"position": [0.8, 0, -0.6]}},
    )
    assert re.fullmatch(
        r"step \d+ \(t = \d+ s\): (a force or momentum became infinite or not a number|Newton's iteration did not converge), "
        r"largest at bob.[xz]. A smaller step may help: try step=1.",
        failed(model, scheme, step=2.0, duration=1000.0),
    )


@pytest.mark.parametrize(
    "force",
    [
        mbvi.Damper(body_a="a", body_b="b", damping=2),
        mbvi.Spring(body_a="a", body_b="b", stiffness=2, rest_length=1),
    ],
)
def test_ends_that_meet(force):
    """Two carts on one rail, at the same place at the start; another force is none of the cause."""
    joints = {f"r{each}": mbvi.Prismatic(parent="world", child=each, axis=(1, 0, 0)) for each in "ab"}
    forces = {"brake": mbvi.JointDamper(joint="ra", damping=1), "d": force}
    bodies = {each: mbvi.Body(mass=1) for each in "ab"}
    start = {"rb": mbvi.Initial(velocity=1)}
    model = mbvi.Model(name="carts", bodies=bodies, joints=joints, forces=forces, initial=start)
    assert failed(model, "simpson", step=0.01, duration=1) == (
        "step 0 (t = 0 s): a force or momentum became infinite or not a number: a force is not a finite number there, or within "
        "the step: the ends of forces.d meet, where it has no direction. Set its points so that they pass each other at a "
        "distance; on one joint, take a joint_spring or joint_damper."
    )


def test_frame_that_is_far_from_its_body():
    """Turning about a frame 100 km away has an inertia beside which that about the center of mass is lost."""
    body = mbvi.Body(mass=1, center_of_mass=(1e5, 0, 0), inertia=(1, 1, 1))
    start = {"fly": {"position": [0, 0, 0, 1, 0, 0, 0], "velocity": [0, 0, 0, 0.1, 0.2, 0.3]}}
    joints = {"fly": mbvi.Free(parent="world", child="far")}
    model = mbvi.Model(name="far", bodies={"far": body}, joints=joints, initial=start)
    assert (
        "since the frame of far lies 1e+05 m from its center of mass, 8.16e+04 times its radius of gyration, and its inertia is "
        "lost in rounding"
    ) in failed(model, "simpson", step=0.01, duration=1)


def test_masses_that_are_far_apart():
    """A rod of 1 kg with one of 1000 t at its end, which come in line."""
    bodies = {
        name: mbvi.Body(mass=m, center_of_mass=(0, 0, -1), inertia=(m, m, m)) for name, m in (("a", 1), ("b", 1e6))
    }
    joints = {"one": mbvi.Revolute(parent="world", child="a", axis=(0, 1, 0))}
    joints["two"] = mbvi.Revolute(parent="a", child="b", axis=(0, 1, 0), position=(0, 0, -1))
    system = mbvi.assemble(mbvi.Model(name="rods", bodies=bodies, joints=joints))
    assert almost_no_inertia(system, ["one", "two"]) == (
        ", since masses are far apart: a has 1 kg and b 1e+06 kg",
        "What is light turns as much faster there: take a smaller step, or masses that are nearer to each other.",
    )
    assert almost_no_inertia(mbvi.assemble(one_body(ball("zxz"))), ["joint"]) == (
        ", as in gimbal lock",
        "Instead of Euler angles, take a quaternion.",
    )


@pytest.mark.parametrize("value", ["sqrt(1 - t)", "asin(t)", "log(1 - t)", "(1 - t)**0.5", "max(0, sqrt(1 - t))"])
def test_a_force_that_ends_is_found_before_the_run(value):
    model = systems.model("pendulum")
    ends = mbvi.JointForce(joint=next(iter(model.joints)), value=value)
    model = model.replaced({"forces": {"ends": ends}})
    with pytest.raises(
        mbvi.ModelError, match=r"^forces\.ends: .* found no value of .* at t = 1 s; end the run before, or"
    ):
        mbvi.simulate(model, step=0.01, duration=2.0)
    assert mbvi.simulate(model, "midpoint", step=0.01, duration=1.0).t[-1] == 1.0


@pytest.mark.parametrize("scheme", ["midpoint", "simpson"])
@pytest.mark.parametrize(
    ("value", "found"),
    [("sqrt((t - 1.005)**2 - 1e-8)", "has no value"), ("sin(2*(t - 1.005))/(t - 1.005)", "is 0/0")],
)
def test_a_force_without_a_value_at_a_node(scheme, value, found):
    """It is without one for so short a time that nothing else falls there."""
    model = systems.model("pendulum")
    gap = mbvi.JointForce(joint=next(iter(model.joints)), value=value)
    with pytest.raises(
        mbvi.StepError,
        match=rf"t = 1 s\).*: a force is not a finite number there, or within the step: forces\.gap {found}\. ",
    ):
        mbvi.simulate(model.replaced({"forces": {"gap": gap}}), scheme, step=0.01, duration=2.0)


@pytest.mark.parametrize(
    ("name", "scheme"),
    pairs(
        ["top, quaternion", "tree with springs", "tree with dampers"],
        ["yoshida4", "suzuki4", "gauss2", "simpson", "kahan_li6"],
    ),
)
@pytest.mark.parametrize("steps", [1024, 2560, 4096])
def test_small_steps_converge(name, scheme, steps):
    system, duration = systems.case(name)
    run = mbvi.simulate(system, scheme, step=duration / steps, duration=duration)
    assert run.statistics.steps == steps
    assert run.statistics.most_iterations < 12


LARGE = {"lagrange_top": ("gauss8", 0.2), "elastic pendulum": ("gauss8", 0.5)}


@coarse
@pytest.mark.parametrize("name", LARGE)
def test_large_steps_fail_rather_than_leave_the_motion(name):
    """The step equations have other solutions, far from the motion: a step must not take one of them.

    The energies of these runs are right to 1e-6 where the solution nearest the motion is taken.
    """
    system = systems.elastic_pendulum() if name == "elastic pendulum" else mbvi.assemble(systems.model(name))
    scheme, step = LARGE[name]
    try:
        run = mbvi.simulate(system, scheme, step=step, duration=10.0)
    except mbvi.StepError as error:
        run = error.trajectory
    energy = run.energy()
    kinetic = system.energies(run.t, run.q, run.v)[0]
    assert np.abs(energy - energy[0]).max() < 0.01 * np.median(kinetic[:8])


def massless_drive(angle):
    """A mass on a guide, drawn by massless rods of 0.3 m and 1 m; the first at an angle."""
    joints = {
        "shaft": hinge("world", "crank"),
        "pin": hinge("crank", "rod", 0.3),
        "wrist": hinge("rod", "slider", 1),
        "guide": mbvi.Prismatic(parent="world", child="slider", axis=(1, 0, 0)),
    }
    bodies = {"crank": mbvi.Body(), "rod": mbvi.Body(), "slider": mbvi.Body(mass=1, inertia=(1, 1, 1))}
    initial = {
        "shaft": mbvi.Initial(position=angle, velocity=2, hold=True),
        "pin": mbvi.Initial(position=-1.3 * angle),
        "guide": mbvi.Initial(position=1.1 if angle else 1.3),
    }
    return mbvi.Model(name="drive", bodies=bodies, joints=joints, initial=initial)


def hinge(parent, child, x=0):
    return mbvi.Revolute(parent=parent, child=child, axis=(0, -1, 0), position=(x, 0, 0))


@pytest.mark.parametrize(("formulation", "names"), [("tree", "shaft, pin"), ("embedding", "crank, rod, shaft")])
def test_dead_point_of_a_massless_drive(formulation, names):
    """The mass comes with some speed to the end of its way, where the rods would have to turn infinitely fast."""
    with pytest.raises(mbvi.StepError) as caught:
        mbvi.simulate(massless_drive(1.0), "simpson", step=0.01, duration=2, formulation=formulation)
    message, places = str(caught.value), caught.value.trajectory.pose("slider")[0][:, 0]
    assert f": near a position in which {names} can move almost without inertia, as at a dead point" in message
    assert places.min() - 0.7 < 0.02  # of the way from 0.7 m to 1.3 m


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_start_at_a_dead_point(formulation):
    message = model_error(massless_drive(0.0), formulation=formulation)
    assert (
        "expected a regular mass matrix at the start, found a singular one, along shaft.angle and pin.angle" in message
    )


# ----------------------------------------------------------------------------------------------- starts


def test_rod_without_inertia_about_its_axis_beside_a_loop():
    """Where constraints that close loops are counted before the mass matrix is looked at."""
    model = systems.model("four_bar")
    model = model.model_copy(
        update={
            "bodies": {**model.bodies, "rod": mbvi.Body(mass=1, inertia=(0, 1, 1))},
            "joints": {**model.joints, "place": mbvi.Free(parent="world", child="rod")},
            "constraints": {"wire": mbvi.PointOnLine(body_a="world", direction=(1, 0, -1), body_b="rod")},
        }
    )
    assert model_error(model).startswith(
        "joints.place: expected a regular mass matrix at the start, found a singular one"
    )


def test_gimbal_lock():
    assert model_error(one_body(ball("zxz"))) == (
        "joints.joint: expected a regular mass matrix at the start, found a singular one, along joint.phi and joint.psi; "
        "this is gimbal lock; write coordinates: quaternion, or another sequence of Euler angles"
    )


def test_gimbal_lock_of_a_sequence_of_three_axes():
    model = one_body(ball("xyz"), initial={"joint": mbvi.Initial(position=(0.3, np.pi / 2, 0.1))})
    assert "along joint.phi and joint.psi; this is gimbal lock" in model_error(model)


def test_no_gimbal_lock_in_quaternions():
    mbvi.simulate(one_body(ball()), step=0.01, duration=0.1)


@pytest.mark.parametrize(
    "joint", [mbvi.Revolute(parent="world", child="body", axis=(0, 0, 1)), ball()], ids=["revolute", "ball"]
)
def test_point_mass_about_its_own_axis(joint):
    bead = mbvi.Body(point_masses={"bead": mbvi.PointMass(mass=1, position=(0, 0, 1))})
    message = model_error(one_body(joint, bead))
    assert message.startswith("joints.joint: expected a regular mass matrix at the start, found a singular one, along ")
    assert "no mass or inertia moves" in message


@pytest.mark.parametrize("key", ["initial_q", "initial_v"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_start_that_is_not_finite(key, value):
    message = model_error(systems.model("pendulum"), **{key: [value]})
    assert message == f"{key}: expected finite numbers, found {value} for pivot.angle"


def test_start_off_the_constraints():
    body = systems.model("free_rigid_body")
    with pytest.warns(mbvi.errors.ModelWarning, match="is 1 \\+ 0.0002; taken as rounded"):
        message = model_error(body, initial_q=[1, 0.02, 0, 0], project=False)
    assert message.startswith(
        "initial_q: expected a position on the constraints, found |g| = 0.0002, largest of center"
    )
    assert model_error(body, initial_q=[1, 0.1, 0, 0], project=False).startswith(
        "initial_q: expected a unit quaternion (qw, qx, qy, qz) of center, found one of norm 1.00499"
    )
    assert model_error(body, initial_v=[0.1, 1, 0, 0], project=False).startswith(
        "initial_v: expected a velocity along the constraints"
    )


@pytest.mark.parametrize(("digits", "off"), [(5, "1 - 1.7e-07"), (4, "1 - 1.1e-05")])
def test_a_start_whose_quaternion_is_rounded_is_said_to_be(digits, off):
    """As the same numbers in a model are."""
    body, q = (
        systems.model("free_rigid_body"),
        np.round([0.8, 0.6 / np.sqrt(3), 0.6 / np.sqrt(3), 0.6 / np.sqrt(3)], digits),
    )
    text = f"initial_q: the norm of the quaternion of center is {off}; taken as rounded, and divided by it"
    with pytest.warns(mbvi.errors.ModelWarning, match=f"^{re.escape(text)}$") as warned:
        found = mbvi.simulate(body, step=0.01, duration=0.01, initial_q=q)
    assert [each.filename for each in warned] == [__file__]
    np.testing.assert_allclose(found.q[0], q / np.linalg.norm(q), rtol=1e-14)


def test_start_of_another_size():
    message = model_error(systems.model("pendulum"), initial_q=[0.1, 0.2])
    assert message == "initial_q: expected 1 number, found an array of shape (2,)"


@pytest.mark.parametrize(
    ("key", "value"),
    [*((key, value) for key in ("step", "duration") for value in (0, -0.1, np.nan, np.inf, True)), ("duration", ())],
)
def test_times_that_are_no_times(key, value):
    message = model_error(systems.model("pendulum"), **{key: value})
    assert message.startswith(f"{key}: expected a time greater than 0, found {value!r}")


def test_sizes_of_steps_where_the_scheme_has_one():
    message = model_error(systems.model("pendulum"), step=())
    assert message.startswith("step: expected one number of seconds with scheme simpson, found tuple")


def test_time_that_is_no_expression():
    message = model_error(systems.model("pendulum"), step="soon")
    assert message.startswith("step: expected a parameter or a constant, found 'soon'")


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize("second", ["3*t", "2*t + 3*t**2", "2*t + t**3"])
def test_motions_that_contradict_each_other(formulation, second):
    """In velocity, in acceleration, in its rate: the second wheel turns twice as fast as the first, and as it is prescribed."""
    joints = {f"j{i}": mbvi.Revolute(parent="world", child=f"b{i}", axis=(0, 0, 1)) for i in (0, 1)}
    values = {"first": ("j0", "t"), "second": ("j1", second)}
    drives = {name: mbvi.PrescribedCoordinate(joint=joint, value=value) for name, (joint, value) in values.items()}
    mesh = mbvi.Coupling(joint_a="j0", joint_b="j1", ratio=2)
    body = mbvi.Body(mass=1, inertia=(1, 1, 1))
    model = mbvi.Model(
        name="wheels", bodies={"b0": body, "b1": body}, joints=joints, constraints=drives | {"mesh": mesh}
    )
    message = model_error(model, formulation=formulation)
    assert message.startswith(("constraints.first: expected ", "constraints.mesh: expected "))
    assert "contradict each other" in message


def test_point_at_a_cusp():
    """The curve (s², 0, s³) has no direction at s = 0."""
    wire = {"wire": mbvi.PointOnCurve(curve=("s**2", 0, "s**3"), body_b="body")}
    message = model_error(one_body(mbvi.Free(parent="world", child="body"), mbvi.Body(mass=1), constraints=wire))
    assert message == (
        "constraints.wire: expected a regular mass matrix at the start, found a singular one, along wire.s; the curve has no "
        "direction there; choose another start, or another parameter"
    )


# ------------------------------------------------------------------------------------------- odd but right


def test_free_body_without_gravity():
    """Its centre of mass moves on a line, and its momenta stay."""
    joint = mbvi.Free(parent="world", child="body")
    initial = {"joint": mbvi.Initial(velocity=(1, 2, 3, 0.1, 2, 0.3))}
    body = mbvi.Body(mass=2, center_of_mass=(0.1, 0.2, 0.3), inertia=(1, 2, 2.5))
    run = mbvi.simulate(one_body(joint, body, gravity=(0, 0, 0), initial=initial), "gauss4", step=0.05, duration=20.0)
    places, rotations = run.pose("body")
    center = places + rotations @ body.center_of_mass
    line = center[0] + np.outer(run.t / run.t[-1], center[-1] - center[0])
    np.testing.assert_allclose(center, line, rtol=0, atol=1e-9)
    assert np.ptp(run.energy()) < 1e-9
    momenta = run.momenta()
    assert list(momenta) == [f"{kind} momentum ({axis})" for kind in ("linear", "angular") for axis in "xyz"]
    for name, values in momenta.items():
        assert np.ptp(values) < 1e-12, name
    linear = body.mass * (np.array([1, 2, 3]) + np.cross((0.1, 2, 0.3), body.center_of_mass))
    np.testing.assert_allclose([momenta[f"linear momentum ({axis})"][0] for axis in "xyz"], linear, rtol=1e-14)


def test_long_chain():
    count = 300
    rod = mbvi.Body(mass=1, center_of_mass=(0.05, 0, 0), inertia=(0, 1e-3, 1e-3))
    joints = {
        f"hinge{i}": mbvi.Revolute(
            parent=f"rod{i - 1}" if i else "world",
            child=f"rod{i}",
            axis=(0, 1, 0),
            position=(0.1 if i else 0, 0, 0),
        )
        for i in range(count)
    }
    model = mbvi.Model(name="long chain", bodies={f"rod{i}": rod for i in range(count)}, joints=joints)
    run = mbvi.simulate(model, "midpoint", step=1e-4, duration=1e-3)
    assert np.ptp(run.energy()) < 1e-10
    # released from a line, all but the last few hinges are still straight: the first one begins as of one rigid rod
    system = run.system
    assert run.v[-1] == pytest.approx(
        1e-3 * system.acceleration(system.initial_q, system.initial_v), rel=1e-2, abs=1e-6
    )


def test_tiny_steps():
    """A thousand steps of a nanosecond add up to what one step of a microsecond does."""
    model = systems.model("double_pendulum")
    many = mbvi.simulate(model, "simpson", step=1e-9, duration=1e-6)
    once = mbvi.simulate(model, "simpson", step=1e-6, duration=1e-6)
    assert len(many) == 1001
    np.testing.assert_allclose(many.q[-1], once.q[-1], rtol=4 * EPS)
    np.testing.assert_allclose(many.p[-1], once.p[-1], rtol=1e-12)


def test_duration_shorter_than_a_step():
    assert mbvi.simulate(systems.model("pendulum"), step=0.1, duration=0.01).t.tolist() == [0.0, 0.1]


@pytest.mark.parametrize("far", [1e3, 1e6])
def test_far_from_the_origin(far):
    """The motion, to the rounding of the place, is that at the origin."""

    def run(x):
        body = mbvi.Body(mass=1, center_of_mass=(0, 0, -1), inertia=(0.1, 0.2, 0.25))
        model = mbvi.Model(
            name="far",
            bodies={"a": body, "b": body, "c": body},
            joints={
                "free": mbvi.Free(parent="world", child="a"),
                "ball": mbvi.Ball(parent="a", child="b", position=(0, 0, -2)),
                "hinge": mbvi.Revolute(parent="world", child="c", axis=(0, 1, 0), position=(x, 0, 0)),
            },
            forces={"spring": mbvi.Spring(body_a="b", body_b="c", stiffness=5, rest_length=1)},
            initial={
                "free": mbvi.Initial(position=(x, 1, 0, 1, 0, 0, 0), velocity=(1, 0, 0, 0.2, 0.1, 0.5)),
                "hinge": mbvi.Initial(position=1.0),
            },
        )
        return mbvi.simulate(model, "simpson", step=0.01, duration=2.0)

    near, away = run(0.0), run(far)
    tolerance = 1e-13 + 200 * EPS * far  # 200 steps
    assert np.abs(near.q[:, 1:] - away.q[:, 1:]).max() < tolerance
    assert np.abs(near.q[:, 0] + far - away.q[:, 0]).max() < tolerance
    assert np.abs(near.p - away.p).max() < 10 * tolerance


@pytest.mark.parametrize("far", [0.0, 1e3, 1e7])
def test_constraints_between_bodies_far_from_the_origin(far):
    """They are solved to the rounding of what is between the bodies, not of their places."""
    body = mbvi.Body(mass=1, inertia=(1, 1, 1))
    places = {"a": (far, 0, 0), "b": (far + 1, 0, 0)}
    rates = {"a": (0, 1, 0.3), "b": (0, -0.5, 0)}
    model = mbvi.Model(
        name="dumbbell",
        gravity=(0, 0, 0),
        bodies=dict.fromkeys(places, body),
        joints={f"free {name}": mbvi.Free(parent="world", child=name) for name in places},
        constraints={"rod": mbvi.Distance(body_a="a", body_b="b", length=1)},
        initial={
            f"free {name}": mbvi.Initial(position=(*places[name], 1, 0, 0, 0), velocity=(*rates[name], 0, 0, 0))
            for name in places
        },
    )
    run = mbvi.simulate(model, "midpoint", step=0.01, duration=5.0, formulation="embedding")
    energy = run.energy()
    assert np.abs(energy - energy[0]).max() < 1e-14
    assert np.abs(run.constraint_residual()).max() < 2 * EPS * max(1.0, far)


def test_a_point_mass_on_a_ball_joint():
    """Nothing resists its turning about the line to the joint."""
    bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))
    model = mbvi.Model(
        name="bob",
        bodies={"bob": bob},
        joints={"hook": mbvi.Ball(parent="world", child="bob", orientation=(0.3, 0.2, 0))},
    )
    assert model_error(model).endswith(
        "no inertia turns about one axis there; give the body some about it, or take a universal joint"
    ), model_error(model)


def test_two_joints_that_turn_a_body_about_the_same_axis():
    bucket = mbvi.Body(mass=1, center_of_mass=(0, 0, -1), inertia=(1, 1, 1))
    sheave = mbvi.Revolute(parent="world", child="hook", axis=(0, 1, 0))
    model = mbvi.Model(
        name="crane",
        bodies={"hook": mbvi.Body(), "bucket": bucket},
        joints={"sheave": sheave, "chain": mbvi.Ball(parent="hook", child="bucket")},
    )
    assert model_error(model) == (
        "joints.chain: expected a regular mass matrix at the start, found a singular one, along sheave.angle and chain.qy; "
        "they move the same masses in the same way; give what is between them some, or remove one"
    )


def in_line(**initial):
    """A rhombus with all bars in line, of which one is on the ground."""
    bar = mbvi.Body(mass=1, center_of_mass=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    joints = {
        "A": hinge("world", "a"),
        "B": hinge("a", "b", 1),
        "C": hinge("world", "c", 1),
        "D": hinge("b", "c", 1).model_copy(update={"offset": (1.0, 0.0, 0.0)}),
    }
    return mbvi.Model(name="in line", bodies=dict.fromkeys("abc", bar), joints=joints, initial=initial)


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_a_loop_that_starts_in_line(formulation):
    with pytest.raises(
        mbvi.StepError, match=r"the loops start in a singular configuration.* Start near it, but not in it"
    ) as caught:
        mbvi.simulate(in_line(A=mbvi.Initial(velocity=1)), step=0.01, duration=1, formulation=formulation)
    assert "Another step" not in str(caught.value)
    beside = {
        name: mbvi.Initial(position=angle, velocity=angle) for name, angle in (("A", 0.1), ("B", -0.1), ("C", 0.1))
    }
    assert len(mbvi.simulate(in_line(**beside), step=0.01, duration=0.5, formulation=formulation)) == 51


def straight_line(side, x, turn):
    """A Scott Russell linkage, whose end goes up and down on a line at x exactly: joints, initial coordinates and bodies."""
    long, short, foot = (f"{side}_{name}" for name in ("long", "short", "foot"))
    bodies = {long: mbvi.Body(mass=2, center_of_mass=(0.5, 0, 0), inertia=(0, 0.17, 0.17)), foot: mbvi.Body(mass=0.5)}
    bodies |= {short: mbvi.Body(mass=1, center_of_mass=(0.25, 0, 0), inertia=(0, 0.02, 0.02))}
    joints = {
        f"{side} rail": mbvi.Prismatic(parent="world", child=foot, axis=(1, 0, 0)),
        f"{side} foot": hinge(foot, long),
        f"{side} pivot": hinge("world", short, x),
        f"{side} mid": hinge(short, long, 0.5).model_copy(update={"offset": (0.5, 0.0, 0.0)}),
    }
    rail, rise = x + np.cos(turn), np.pi - turn
    initial = {f"{side} rail": mbvi.Initial(position=rail), f"{side} foot": mbvi.Initial(position=rise)}
    return bodies, joints, initial | {f"{side} pivot": mbvi.Initial(position=turn)}


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_a_loop_that_is_singular_wherever_it_goes(formulation):
    """A platform on two ends that go up and down on lines as far apart as its hinges: their heights can not differ, to first
    order they can. No step passes that.
    """
    parts = [straight_line("left", 0.0, 0.6), straight_line("right", 1.6, 0.6)]
    bodies, joints, initial = ({key: each for part in parts for key, each in part[i].items()} for i in range(3))
    bodies["platform"] = mbvi.Body(mass=20, inertia=(1, 1, 1))
    level = mbvi.Revolute(
        parent="left_long", child="platform", axis=(0, -1, 0), position=(1, 0, 0), orientation=(0, np.pi - 0.6, 0)
    )
    joints |= {
        "left top": level,
        "right top": hinge("right_long", "platform", 1).model_copy(update={"offset": (1.6, 0.0, 0.0)}),
    }
    joints["right top"] = joints["right top"].model_copy(update={"orientation": (0.0, np.pi - 0.6, 0.0)})
    model = mbvi.Model(name="lift", bodies=bodies, joints=joints, initial=initial)
    assert "right top" in mbvi.assemble(model, formulation).mobility.first_order
    with pytest.raises(
        mbvi.StepError, match=r"wherever they can go, .*right top.* No step passes that; let one of them"
    ) as caught:
        mbvi.simulate(model, step=0.01, duration=1, formulation=formulation)
    assert "Another step" not in str(caught.value)
