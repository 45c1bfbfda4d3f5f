"""What `simulate` refuses before a run, and what it says of prescribed motions that leave the reach of a mechanism."""

import math
import re

import numpy as np
import pytest

import mbvi
from mbvi.measure.bench import bench

CRANK, BAR, GROUND = 0.8, 1.0, 2.0


def four_bar(value, formulation="tree"):
    """Crank, coupler and rocker in a plane; the crank's angle is prescribed."""

    def bar(length):
        return mbvi.Body(mass=1, center_of_mass=(length / 2, 0, 0), inertia=(0.01, 0.01, 0.01))

    def hinge(parent, child, x, offset=0.0):
        return mbvi.Revolute(parent=parent, child=child, axis=(0, -1, 0), position=(x, 0, 0), offset=(offset, 0, 0))

    return mbvi.Model(
        name="four-bar",
        formulation=formulation,
        bodies={"crank": bar(CRANK), "coupler": bar(BAR), "rocker": bar(BAR)},
        joints={
            "shaft": hinge("world", "crank", 0),
            "pin": hinge("crank", "coupler", CRANK),
            "support": hinge("world", "rocker", GROUND),
            "end": hinge("coupler", "rocker", BAR, BAR),
        },
        constraints={"motor": mbvi.PrescribedCoordinate(joint="shaft", value=value)},
        initial={
            name: mbvi.Initial(position=f"{angle} deg")
            for name, angle in (("shaft", 40), ("pin", -20), ("support", 120))
        },
    )


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize("scheme", ["midpoint", "simpson"])
def test_a_prescribed_motion_that_leaves_the_reach(scheme, formulation):
    """Coupler and rocker are in line where crank² + ground² − 2 crank ground cos(angle) = (coupler + rocker)²."""
    rate, step = math.pi / 2, 0.01
    end = math.acos((CRANK**2 + GROUND**2 - (2 * BAR) ** 2) / (2 * CRANK * GROUND))
    last = math.floor((end - math.radians(40)) / rate / step)
    with pytest.raises(mbvi.StepError) as caught:
        mbvi.simulate(four_bar("40 deg + 90 deg/s * t", formulation), scheme, step=step, duration=1.0)
    message = str(caught.value)
    assert message.startswith(f"step {last} (t = {step * last:.6g} s): ")
    assert (
        f"no position near satisfies the constraints at t = {step * (last + 1):.6g} s; the motions prescribed by motor leave the "
        "reach of the mechanism, or contradict each other. The stored states before it are in error.trajectory. "
        "Prescribe smaller motions, or change lengths."
    ) in message
    assert len(caught.value.trajectory) == last + 1


def test_a_prescribed_motion_within_the_reach():
    """The angle between coupler and rocker follows from the law of cosines."""
    run = mbvi.simulate(four_bar("40 deg + 30 deg * sin(t)"), "simpson", step=0.01, duration=2.0)
    angle = math.radians(40) + math.radians(30) * np.sin(run.t)
    across = CRANK**2 + GROUND**2 - 2 * CRANK * GROUND * np.cos(angle)  # from the pin to the support, squared
    (coupler, turned), (rocker, other) = run.pose("coupler"), run.pose("rocker")
    np.testing.assert_allclose(((coupler - rocker) ** 2).sum(axis=1), across, rtol=1e-12)
    between = (turned[:, :, 0] * other[:, :, 0]).sum(axis=1)
    np.testing.assert_allclose(between, (across - 2 * BAR**2) / (-2 * BAR**2), rtol=0, atol=1e-12)


def on_a_rod(length):
    return mbvi.Model(
        name="rod",
        bodies={"bob": mbvi.Body(mass=1, inertia=(1, 1, 1))},
        joints={"free": mbvi.Free(parent="world", child="bob")},
        constraints={"rod": mbvi.Distance(body_a="world", body_b="bob", length=length)},
        initial={"free": mbvi.Initial(position=(0, 0, -1, 1, 0, 0, 0))},
    )


@pytest.mark.parametrize(
    ("length", "found"),
    [
        ("1 - t", "0 at t = 1 s"),
        ("cos(t)", "-0.0291995 at t = 1.6 s"),
        ("t - 1", "-1 at t = 0 s"),
    ],
)
def test_a_length_that_vanishes_in_the_run(length, found):
    with pytest.raises(mbvi.ModelError) as caught:
        mbvi.simulate(on_a_rod(length), "simpson", step=0.1, duration=2.0)
    assert str(caught.value) == (
        f"constraints.rod.length: expected a length greater than 0 all the time, found {found}; end the run before, or change "
        "the function"
    )


@pytest.mark.parametrize(
    ("constraint", "message"),
    [
        (
            {"type": "distance", "body_a": "world", "body_b": "bob", "length": "1 + sqrt(1 - t)"},
            "c.length: expected a length greater than 0 all the time, found the rate -inf at t = 1 s",
        ),
        (
            {"type": "prescribed_point", "body": "bob", "position": (0, "sqrt(t - 1)", -1)},
            "c.y: expected finite values all the time, found nan at t = 0 s",
        ),
        (
            {"type": "prescribed_coordinate", "joint": "free", "coordinate": "x", "value": "t/(t - 1.5)"},
            "c: expected finite values all the time, found inf at t = 1.5 s",
        ),
        (
            {"type": "prescribed_coordinate", "joint": "free", "coordinate": "x", "value": "1e13*t"},
            "c: expected values of size at most 1e+12 all the time, found 2e+12 at t = 0.2 s",
        ),
    ],
)
def test_functions_of_constraints_that_are_not_finite(constraint, message):
    model = mbvi.Model(**(dict(on_a_rod(1)) | {"constraints": {"c": constraint}}))
    with pytest.raises(mbvi.ModelError, match=re.escape(f"constraints.{message}; ")):
        mbvi.simulate(model, "simpson", step=0.1, duration=2.0)


@pytest.mark.parametrize(
    ("value", "corner"),
    [
        ("abs(t - 0.505)", "jumps from -1 to 1 per second at t = 0.505 s"),
        ("abs(t - 0.5)", "jumps from -1 to 1 per second at t = 0.5 s"),
        ("max(0, 2*(t - 1)) + t", "jumps from 1 to 3 per second at t = 1 s"),
        ("min(sin(t), 0.5)", "jumps from 0.866 to 0 per second at t = 0.523599 s"),
        ("max(0, t - 1)**3", None),
        ("max(0, t - 1)**2", None),
        ("abs(t - 0.505)*(t - 0.505)", None),
        ("t + abs(t + 1)", None),
        ("100 + 0*abs(t - 1)", None),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_prescribed_motion_whose_rate_jumps_is_reported(value, corner):
    joints = {"rail": mbvi.Prismatic(parent="world", child="cart", axis=(1, 0, 0))}
    drive = mbvi.PrescribedCoordinate(joint="rail", value=value)
    model = mbvi.Model(name="driven", bodies={"cart": mbvi.Body(mass=1)}, joints=joints, constraints={"drive": drive})
    if corner is None:
        mbvi.simulate(model, step=0.01, duration=2)
        return
    with pytest.raises(
        mbvi.errors.ModelWarning, match=rf"^constraints\.drive: the rate of .* {corner}, as in an impact, which no"
    ):
        mbvi.simulate(model, step=0.01, duration=2)
    mbvi.simulate(model, step=0.01, duration=0.4)


def test_a_length_that_vanishes_after_the_run():
    run = mbvi.simulate(on_a_rod("1 - t"), "simpson", step=0.01, duration=0.5)
    np.testing.assert_allclose(np.linalg.norm(run.q[:, :3], axis=1), 1 - run.t, rtol=1e-12)


@pytest.mark.parametrize("key", ["step", "duration"])
def test_a_time_in_degrees(key):
    message = f"{key}: expected a value in s, found '30 deg', which is in rad; a number alone is in s"
    with pytest.raises(mbvi.ModelError, match=re.escape(message)):
        mbvi.simulate(on_a_rod(1), **{"step": 0.01, "duration": 1.0, key: "30 deg"})


@pytest.mark.parametrize("is_file", [False, True])
def test_how_far_the_given_state_was_off(is_file, tmp_path):
    """By the gap between coupler and rocker, along the coupler and across it."""
    model = four_bar("40 deg + 90 deg/s * t")
    path = tmp_path / "run.h5" if is_file else None
    found = mbvi.simulate(model, step=0.01, duration=0.1, path=path)
    crank, coupler, rocker = np.deg2rad([40, 20, 120])
    gap = CRANK * np.exp(1j * crank) + BAR * np.exp(1j * coupler) - GROUND - BAR * np.exp(1j * rocker)
    gap *= np.exp(-1j * coupler)
    assert found.start.violation == pytest.approx(max(abs(gap.real), abs(gap.imag)), abs=1e-12)
    np.testing.assert_array_equal(found.start.q, found.q[0])
    np.testing.assert_allclose(found.start.shift, np.abs(found.q[0] - found.system.given_q).max(), rtol=1e-14)
    np.testing.assert_array_equal(found.system.initial_q, found.q[0])
    again = mbvi.simulate(found.system, step=0.01, duration=0.1, initial_q=found.q[0], initial_v=found.v[0])
    assert max(again.start.violation, again.start.rate, again.start.shift) < 1e-12
    if is_file:
        assert mbvi.read(path).start is None


@pytest.mark.parametrize(("formulation", "name", "count"), [("tree", "ball", 4), ("embedding", "rod", 7)])
@pytest.mark.parametrize("scale", [0.0, 1e-8])
def test_a_quaternion_of_zero(formulation, name, count, scale):
    """It has no unit quaternion along it."""
    ball = mbvi.Ball(parent="world", child="rod")
    body = mbvi.Body(mass=1, inertia=(1, 1, 1))
    model = mbvi.Model(name="one", formulation=formulation, bodies={"rod": body}, joints={"ball": ball})
    q = np.zeros(count)
    q[-4:] = np.array([0.6, 0.0, 0.8, 0.0]) * scale
    message = rf"^initial_q: expected a unit quaternion \(qw, qx, qy, qz\) of {name}, found the zero quaternion; write "
    with pytest.raises(mbvi.ModelError, match=message):
        mbvi.simulate(model, step=0.01, duration=0.1, initial_q=q)


@pytest.mark.parametrize(("formulation", "name", "count"), [("tree", "ball", 4), ("embedding", "rod", 7)])
def test_a_rounded_quaternion_is_moved_and_another_refused(formulation, name, count):
    ball = mbvi.Ball(parent="world", child="rod")
    body = mbvi.Body(mass=1, inertia=(1, 1, 1))
    model = mbvi.Model(name="one", formulation=formulation, bodies={"rod": body}, joints={"ball": ball})
    q, rounded = np.zeros(count), np.array([0.5774, 0.5774, 0.0, 0.5774])
    q[-4:] = rounded
    with pytest.warns(
        mbvi.errors.ModelWarning,
        match=rf"^initial_q: the norm of the quaternion of {name} is 1 \+ 8\.6e-05; taken as rounded",
    ):
        found = mbvi.simulate(model, step=0.01, duration=0.1, initial_q=q)
    np.testing.assert_allclose(found.q[0, -4:], rounded / np.linalg.norm(rounded), rtol=0, atol=1e-9)
    assert found.start.violation == pytest.approx((rounded @ rounded - 1) / 2, rel=1e-9)
    assert found.start.shift == pytest.approx(0.5774 * (1 - 1 / np.linalg.norm(rounded)), rel=1e-4)
    q[-4:] = (2, 0, 0, 0)
    message = (
        rf"^initial_q: expected a unit quaternion \(qw, qx, qy, qz\) of {name}, found one of norm 2; divide it by that$"
    )
    with pytest.raises(mbvi.ModelError, match=message):
        mbvi.simulate(model, step=0.01, duration=0.1, initial_q=q)


@pytest.mark.parametrize("call", [mbvi.simulate, mbvi.compare, bench])
def test_a_formulation_of_a_system(call):
    """A system has one already."""
    message = "^formulation: expected none of a System, which has one, found 'embedding'$"
    with pytest.raises(mbvi.ModelError, match=message):
        call(mbvi.assemble(on_a_rod(1)), formulation="embedding")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("step", 1e300, "step: expected at most 1e+20 s, found 1e+300"),
        ("step", "1e150", "step: expected at most 1e+20 s, found 1e+150"),
        ("step", 10**400, "step: expected a time greater than 0, found 1000"),
        ("start_time", -(10**400), "start_time: expected a number of seconds, found -1000"),
        ("step", np.complex128(1), "step: expected a time greater than 0, found "),
        ("initial_q", [10**400], "initial_q: expected 1 number, found [1000"),
        ("project", "false", "project: expected True or False, found 'false'"),
        ("force", "no", "force: expected True or False, found 'no'"),
    ],
)
def test_arguments_of_a_wrong_kind_or_size(key, value, message, models, tmp_path):
    given = {"step": 0.01, "duration": 0.1, "path": tmp_path / "a.h5", key: value}
    with pytest.raises(mbvi.ModelError, match=f"^{re.escape(message)}"):
        mbvi.simulate(mbvi.load(models / "pendulum.yaml"), **given)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("start_time", "step", "found", "least"),
    [(1e17, 0.01, "16", "1.6e+03"), (-1e17, [0.1, 0.01], "16", "1.6e+03"), (1.0, 1e-30, "2.2e-16", "2.2e-14")],
)
def test_steps_that_the_time_does_not_resolve(start_time, step, found, least, models):
    """After 1e17 s the next time that a floating-point number can be is 16 s later."""
    given = {"step": step} | ({} if isinstance(step, list) else {"duration": step})
    smallest = np.min(step)
    scheme = "rk4" if isinstance(step, list) else "midpoint"
    with pytest.raises(mbvi.ModelError) as caught:
        mbvi.simulate(mbvi.load(models / "pendulum.yaml"), scheme, start_time=start_time, **given)
    assert str(caught.value) == (
        f"start_time: expected one near which times differ by far less than steps of {smallest:g} s, found {start_time:g}, "
        f"where they differ by {found} s; start nearer to 0, or take steps of at least {least} s"
    )


def test_the_number_of_steps_that_have_no_room(models):
    """10 s/1e-12 s is a little less than 1e13 in floating-point numbers."""
    message = "^every: expected a trajectory of at most 8 GB, found 10000000000000 steps of 1 coordinate "
    with pytest.raises(mbvi.ModelError, match=message):
        mbvi.simulate(mbvi.load(models / "pendulum.yaml"), step=1e-12, duration=10)
