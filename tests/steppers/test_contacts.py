"""Stops and dry friction against closed forms, and their orders."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import mbvi
from mbvi.errors import AccuracyWarning, ModelError, StepError
from mbvi.model import Model, from_yaml
from mbvi.steppers.contact_laws import bounded
from tests.folders import load

BALL = """
name: ball
gravity: [0, 0, -10]
bodies: {ball: {mass: 1}}
joints:
  fall: {type: prismatic, parent: world, child: ball, axis: [0, 0, 1], limits: {displacement: {lower: 0, restitution: bounce}}}
parameters: {bounce: 0.8}
initial: {fall: {position: 1}}
"""
DOUBLE = """
name: double
bodies:
  a: {mass: 1, center_of_mass: [0, 0, -1], inertia: [0.1, 0.1, 0.1]}
  b: {mass: 1, center_of_mass: [0, 0, -1], inertia: [0.1, 0.1, 0.1]}
joints:
  pivot: {type: revolute, parent: world, child: a, axis: [0, 1, 0]}
  elbow: {type: revolute, parent: a, child: b, axis: [0, 1, 0], position: [0, 0, -1]}
"""
STOP = "{angle: {lower: -0.2, upper: 0.3, restitution: %s}}"
BOUNCING = DOUBLE.replace("position: [0, 0, -1]}", f"position: [0, 0, -1], limits: {STOP % 0.7}}}")
RESTING = DOUBLE.replace("position: [0, 0, -1]}", f"position: [0, 0, -1], limits: {STOP % 0}}}")
RUBBING = (
    DOUBLE
    + """
contacts:
  rub: {type: dry_friction, joint: elbow, kinetic: 2, static: 2.5}
  drag: {type: dry_friction, joint: pivot, kinetic: 0.5}
initial: {elbow: {position: 0.6}}
"""
)
FOUR_BAR = """
name: four_bar
bodies:
  crank: {mass: 1, center_of_mass: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1]}
  coupler: {mass: 1, center_of_mass: [1, 0, 0], inertia: [0.3, 0.3, 0.3]}
  rocker: {mass: 1, center_of_mass: [0, 0, -1], inertia: [0.3, 0.3, 0.3]}
joints:
  a: {type: revolute, parent: world, child: crank, axis: [0, 1, 0], limits: {angle: {upper: 0.4, lower: -0.3, restitution: 0.6}}}
  b: {type: revolute, parent: crank, child: coupler, axis: [0, 1, 0], position: [1, 0, 0]}
  d: {type: revolute, parent: world, child: rocker, axis: [0, 1, 0], position: [3, 0, 3]}
  c: {type: revolute, parent: coupler, child: rocker, axis: [0, 1, 0], position: [2, 0, 1], offset: [0, 0, -2], cut: true}
contacts: {rub: {type: dry_friction, joint: d, kinetic: 0.3}}
"""


def cradle(balls: int) -> Model:
    """Balls in a row, which touch, each on a spring."""
    names = range(balls)
    bodies = {f"b{i}": mbvi.Body(mass=1) for i in names}
    joints = {f"j{i}": mbvi.Prismatic(parent="world", child=f"b{i}", axis=(1, 0, 0), position=(i, 0, 0)) for i in names}
    forces = {f"s{i}": mbvi.JointSpring(joint=f"j{i}", stiffness=10) for i in names}
    contacts = {
        f"c{i}": mbvi.DistanceStop(body_a=f"b{i}", body_b=f"b{i + 1}", lower=1, restitution=1) for i in names[:-1]
    }
    return Model(name="cradle", bodies=bodies, joints=joints, forces=forces, contacts=contacts)


def test_bounces_come_when_they_should():
    run = mbvi.simulate(from_yaml(BALL), "simpson", step=0.01, duration=5)
    bounces = run.contacts.of("fall.displacement.lower", "impact").t[:50]
    k = np.arange(50)
    assert bounces == pytest.approx(math.sqrt(0.2) * (1 + 8 * (1 - 0.8**k)), abs=1e-12)
    assert run.contacts[-1].kind == "rest"
    assert run.q[-1] == 0.0
    energy = run.energy() + run.energy_taken()
    assert np.ptp(energy) < 1e-13
    assert not run.findings


def test_bounces_without_loss_keep_the_energy():
    run = mbvi.simulate(from_yaml(BALL).with_parameters({"bounce": 1}), "lobatto4", step=0.02, duration=40)
    assert len(run.contacts) == 45
    assert np.ptp(run.energy()) < 1e-13
    assert run.energy_taken().max() < 1e-13


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_a_row_of_balls_passes_an_impact_on(formulation):
    start = {"j0": {"position": -0.5}}
    model = Model(**(dict(cradle(5)) | {"initial": start}))
    run = mbvi.simulate(model, "lobatto4", step=0.02, duration=0.6, formulation=formulation)
    speed = 0.5 * math.sqrt(10)
    assert run.contacts.impulse == pytest.approx(np.full(4, speed), abs=1e-11)
    x = np.array([run.pose(f"b{i}")[0][-1, 0] - i for i in range(5)])
    late = 0.6 - 0.5 * math.pi / math.sqrt(10)
    assert x == pytest.approx([0, 0, 0, 0, 0.5 * math.sin(math.sqrt(10) * late)], abs=1e-9)


def test_a_symmetric_collision_stays_symmetric():
    start = {"j0": {"position": -0.5}, "j2": {"position": 0.5}}
    model = Model(**(dict(cradle(3)) | {"initial": start}))
    run = mbvi.simulate(model, "lobatto4", step=0.02, duration=0.9)
    assert len(run.contacts) == 2
    assert run.q[-1, 1] == 0.0
    assert run.q[-1, 0] == -run.q[-1, 2]


@pytest.mark.parametrize(
    ("angle", "speed", "way"),
    [
        (0.2, 0.0, 0.0),
        (0.35, 0.0, 0.5 * 9.81 * (math.sin(0.35) - 0.3 * math.cos(0.35))),
        (0.2, 0.05, 0.05**2 / 2 / (9.81 * (0.3 * math.cos(0.2) - math.sin(0.2)))),
    ],
)
def test_a_block_on_an_incline_sticks_or_slides(angle, speed, way):
    model = Model(
        name="block",
        gravity=(9.81 * math.sin(angle), 0, -9.81 * math.cos(angle)),
        bodies={"block": mbvi.Body(mass=2)},
        joints={"slide": mbvi.Prismatic(parent="world", child="block", axis=(1, 0, 0))},
        contacts={"rub": mbvi.DryFriction(joint="slide", kinetic=0.3 * 2 * 9.81 * math.cos(angle))},
    )
    run = mbvi.simulate(model, "simpson", step=0.05, duration=1, initial_v=[speed])
    assert run.q[-1, 0] == pytest.approx(way, abs=1e-13)
    assert np.ptp(run.energy() + run.energy_taken()) < 1e-13


def test_a_block_on_a_belt_sticks_and_slips():
    model = load("stick_slip")
    run = mbvi.simulate(model, "lobatto5", step=0.05, duration=8)
    omega, v, drop = math.sqrt(10), 0.1, 0.04  # (static − kinetic)/stiffness
    slip = 2 * (math.pi - math.atan(omega * drop / v)) / omega
    period = slip + 2 * drop / v
    assert np.diff(run.contacts.of("rubbing", "slip").t) == pytest.approx(np.full(3, period), abs=1e-9)
    assert np.abs(run.contact_forces()["rubbing"]).max() <= 1 + 1e-12


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize(
    ("text", "start", "duration", "kinds", "steps"),
    [
        (BOUNCING, [1.0, 0.0], 1.3, {"impact"}, 16),
        (RESTING, [1.0, 0.0], 2.6, {"impact", "rest", "release"}, 32),
        (RUBBING, [0.5, 0.6], 2.0, {"stick", "slip"}, 32),
    ],
)
@pytest.mark.parametrize(("scheme", "order"), [("simpson", 4), ("lobatto4", 6)])
def test_the_order_is_kept(text, start, duration, kinds, steps, formulation, scheme, order):
    starts = {name: {"position": value} for name, value in zip(("pivot", "elbow"), start, strict=True)}
    model = Model(**(dict(from_yaml(text)) | {"initial": starts}))

    def last(scheme: str, count: int) -> np.ndarray:
        run = mbvi.simulate(model, scheme, step=duration / count, duration=duration, formulation=formulation)
        assert {each.kind for each in run.contacts} == kinds
        return np.concatenate([run.pose("b")[0][-1], run.contacts.t])

    exact = last("gauss4", 256)
    errors = [np.abs(last(scheme, n) - exact).max() for n in (steps, 2 * steps, 4 * steps)]
    assert np.diff(-np.log2(errors)).mean() == pytest.approx(order, abs=0.35)


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_loops_hit_stops_and_rub(formulation):
    def run(scheme: str, count: int) -> mbvi.Trajectory:
        return mbvi.simulate(from_yaml(FOUR_BAR), scheme, step=1 / count, duration=1, formulation=formulation)

    exact, one, other = run("lobatto5", 128), run("lobatto4", 32), run("lobatto4", 64)
    assert {"impact", "slip"} <= {each.kind for each in exact.contacts}
    assert len(exact.contacts) == len(one.contacts) == len(other.contacts)
    errors = [np.abs(each.contacts.t - exact.contacts.t).max() for each in (one, other)]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(6, abs=0.6)
    assert other.constraint_residual().max() < 1e-13
    assert np.ptp(exact.energy() + exact.energy_taken()) < 1e-9


def test_a_billiard_in_an_ellipse_keeps_its_second_integral():
    model = Model(
        name="billiard",
        gravity=(0, 0, 0),
        bodies={"carriage": mbvi.Body(mass=0), "ball": mbvi.Body(mass=1)},
        joints={
            "x": mbvi.Prismatic(parent="world", child="carriage", axis=(1, 0, 0)),
            "y": mbvi.Prismatic(parent="carriage", child="ball", axis=(0, 1, 0)),
        },
        contacts={
            "wall": mbvi.CoordinateStop(
                joint_a="x", joint_b="y", lower="-sqrt(1 - x**2/4)", upper="sqrt(1 - x**2/4)", restitution=1
            )
        },
    )
    run = mbvi.simulate(model, "simpson", step=0.05, duration=20, initial_q=[0.2, 0.1], initial_v=[0.3, 1.0])
    foci = math.sqrt(3)
    product = [(x + s * foci) * w - y * u for s in (1, -1) for (x, y), (u, w) in [(run.q.T, run.v.T)]]
    assert len(run.contacts) > 10
    assert np.ptp(product[0] * product[1]) < 1e-12


def test_a_run_goes_on_bit_by_bit(tmp_path):
    for text, duration in ((RUBBING, 1.2), (BALL, 4.2)):
        model = from_yaml(text)
        whole = mbvi.simulate(model, "lobatto4", step=0.01, duration=duration)
        mbvi.simulate(model, "lobatto4", step=0.01, duration=0.5 * duration, path=tmp_path / "run.h5", force=True)
        found = mbvi.resume(tmp_path / "run.h5", duration=duration)
        assert np.array_equal(found.q, whole.q)
        assert np.array_equal(found.contacts.rows, whole.contacts.rows)
        simulator = mbvi.Simulator(model, "lobatto4", step=0.01)
        simulator.run(0.5 * duration)
        state = simulator.state()
        simulator.run(0.5 * duration)
        assert np.array_equal(simulator.q, whole.q[-1])
        simulator.set_state(state)
        simulator.run(0.5 * duration)
        assert np.array_equal(simulator.q, whole.q[-1])


def test_what_cannot_be_done_is_refused():
    model = from_yaml(BALL)
    with pytest.raises(ModelError) as error:
        mbvi.simulate(model, "simpson", step=0.01, duration=1, initial_q=[-0.5])
    assert str(error.value) == (
        "contacts.fall.displacement.lower: expected a start with its gap open, found it closed by 0.5 m too far; start "
        "elsewhere, by other initial coordinates, or change the stop"
    )
    with pytest.raises(ModelError) as error:
        mbvi.simulate(model, "rk4", step=0.01, duration=1)
    assert str(error.value) == (
        "ball: expected a Galerkin scheme, since it has stops or dry friction, found scheme rk4; take midpoint, simpson or "
        "lobatto4"
    )


@pytest.mark.parametrize(
    ("contact", "message"),
    [
        (
            "{type: dry_friction, joint: fall}",
            "contacts.c.kinetic: expected a friction, found none, and 'fall' has no friction",
        ),
        ("{type: distance_stop, body_a: world, body_b: ball}", "contacts.c: expected a lower or an upper bound"),
        (
            "{type: plane_stop, body_a: world, body_b: ball, normal: [0, 0, 1], restitution: 2}",
            "contacts.c.restitution: expected",
        ),
    ],
)
def test_wrong_contacts_are_refused(contact, message):
    with pytest.raises(ModelError) as error:
        from_yaml(f"{BALL}contacts: {{c: {contact}}}\n")
    assert message in str(error.value)


@given(st.integers(1, 5), st.integers(0, 10**6))
@example(2, 600)  # all forces at a bound
def test_bounded_forces_are_the_least(size, seed):
    random = np.random.default_rng(seed)
    root = random.standard_normal((size, random.integers(1, 6)))
    W, b = root @ root.T, root @ random.standard_normal(root.shape[1])
    low, high = np.where(random.random(size) < 0.5, 0.0, -1.0), np.where(random.random(size) < 0.5, np.inf, 1.0)
    x = bounded(W, b, low, high)
    slope = W @ x + b
    inside = (x > low + 1e-9) & (x < high - 1e-9)
    assert ((low <= x) & (x <= high)).all()
    assert np.abs(slope[inside]).max(initial=0.0) < 1e-7
    assert (slope[x <= low] > -1e-7).all()
    assert (slope[x >= high] < 1e-7).all()


@given(st.integers(1, 6), st.integers(1, 3), st.integers(0, 10**6))
def test_stops_of_one_motion_leave_it_to_the_fastest(size, motions, seed):
    """Each stop wants a speed of one of some motions, which have masses, and it has the largest of all that are wanted."""
    random = np.random.default_rng(seed)
    rows = np.zeros((size, motions))
    which, lever = random.integers(motions, size=size), random.uniform(0.3, 3, size)
    rows[np.arange(size), which] = lever
    wanted, masses = random.uniform(-1, 1, size), random.uniform(0.5, 2, motions)
    x = bounded(rows / masses @ rows.T, -lever * wanted, 0.0, np.inf)
    speeds = [max(0.0, *wanted[which == i]) if (which == i).any() else 0.0 for i in range(motions)]
    np.testing.assert_allclose(x @ rows / masses, speeds, rtol=0, atol=1e-12)
    slower = wanted < np.array(speeds)[which] - 1e-3
    np.testing.assert_array_equal(x[slower], 0.0)


def test_a_bouncing_lift_takes_a_body_from_a_floor_that_does_not_bounce():
    """Both are struck at 1 s with 1 m/s; the lift, which rises with 0.5 m/s, gives 0.5 + 0.6·1.5 m/s, and the floor nothing."""
    text = """
name: lift
gravity: [0, 0, 0]
bodies: {box: {mass: 2}}
joints: {way: {type: prismatic, parent: world, child: box, axis: [0, 0, 1]}}
contacts:
  floor: {type: plane_stop, body_a: world, body_b: box, normal: [0, 0, 1]}
  lift: {type: plane_stop, body_a: world, body_b: box, normal: [0, 0, 1], height: 0.5*(t - 1), restitution: 0.6}
initial: {way: {position: 1, velocity: -1}}
"""
    run = mbvi.simulate(mbvi.assemble(from_yaml(text)), "midpoint", step=0.25, duration=2)
    np.testing.assert_allclose(run.v[[3, 5], 0], [-1, 1.4], rtol=0, atol=1e-12)
    assert [(each.name, each.kind, round(each.impulse, 12)) for each in run.contacts] == [("lift", "impact", 4.8)]


@pytest.mark.parametrize(("b", "force"), [((-5.0, 1.0), 2.0), ((-5.0, 9.0), -2.0), ((-5.0, 4.0), 2.0)])
def test_a_friction_on_what_a_stop_moves_is_at_its_bound(b, force):
    """The stop of the first force moves the coordinate of the second: W has no inverse, and b is not in its range."""
    row = np.array([0.8, -0.7])
    W, b = np.outer(row, row), np.array(b)
    x = bounded(W, b, np.array([0.0, -2.0]), np.array([np.inf, 2.0]))
    slope = W @ x + b
    assert x[1] == force
    assert x[0] > 0
    assert slope[0] == pytest.approx(0, abs=1e-12)
    assert slope[1] * force < 0  # the coordinate moves against its friction


LOCKED = """
name: a bar that a rod locks, with a stop and a friction that nothing moves, and a ball
gravity: [0, 0, -10]
parameters: {angle: 0.7}
bodies:
  bar: {mass: 1.3, center_of_mass: [0.3, 0.1, 0.2], inertia: [0.1, 0.2, 0.3]}
  ball: {mass: 1}
joints:
  hinge: {type: revolute, parent: world, child: bar, axis: [0.15, 0.5, -0.76], position: [0.4, -0.1, 0]}
  fall: {type: prismatic, parent: world, child: ball, axis: [0, 0, 1], limits: {displacement: {lower: 0, restitution: 0.5}}}
constraints:
  rod: {type: distance, body_a: world, point_a: [0.3, 0.6, 0.5], body_b: bar, point_b: [0.3, 0.2, 0.1], length: sqrt(0.57)}
contacts:
  table: {type: plane_stop, body_a: world, body_b: bar, point_a: [0.7, 0.1, 0.1], point_b: [0.3, 0.2, 0.1],
          normal: [0, 0.6, 0.8]}
  rub: {type: dry_friction, joint: hinge, kinetic: 0.3}
initial: {fall: {position: 0.45}}
"""


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_what_constraints_lock_is_not_pressed(formulation):
    """The mobilities of the bar's stop and friction are those of rounding, of either sign."""
    run = mbvi.simulate(mbvi.assemble(from_yaml(LOCKED), formulation), "simpson", step=0.01, duration=0.7)
    impacts = [each for each in run.contacts if each.kind == "impact"]
    assert [each.name for each in impacts] == ["fall.displacement.lower"] * 2
    np.testing.assert_allclose(
        [each.t for each in impacts], [0.3, 0.6], rtol=0, atol=1e-12
    )  # a fall from 0.45 m, 3 → 1.5 m/s
    np.testing.assert_allclose(run.contact_forces()["table"], 0, rtol=0, atol=1e-9)
    assert np.abs(run.contact_forces()["rub"]).max() <= 0.3
    hinge = run.v[:, run.system.coordinate_names.index("hinge.angle")]
    np.testing.assert_allclose(hinge, 0, rtol=0, atol=1e-12)


def test_what_nothing_moves_has_no_force():
    W = np.array([[2.0, 0.0], [1e-17, 0.0]])
    np.testing.assert_array_equal(bounded(W, np.array([-3.0, -1e-14]), 0.0, np.inf), [1.5, 0.0])


@pytest.mark.parametrize("velocity", [20, 30])
def test_a_step_that_is_too_long_says_so(velocity):
    """With 30 rad/s the loop's step is done, and a part of it is not."""
    with pytest.raises(
        StepError, match=r"^step 0 \(t = 0 s\): Newton's iteration did not converge: residual .*try step=[0-9.]+\.$"
    ):
        mbvi.simulate(from_yaml(BOUNCING), "lobatto4", step=0.2, duration=2, initial_v=[velocity, -velocity])


@pytest.mark.parametrize("bounces", [(0, 0), (0.3, 0)])
def test_rounds_without_end_come_to_the_edge_of_a_wedge(bounces):
    """A point between two walls is hit by one after the other, ever more slowly: it is left with its speed along the edge."""
    normals = [(sign * math.cos(0.1), math.sin(0.1), 0) for sign in (1, -1)]
    axes, bodies = [(1, 0, 0), (0, 1, 0), (0, 0, 1)], ("world", "a", "b", "c")
    model = Model(
        name="wedge",
        gravity=(0, 0, 0),
        bodies={"a": mbvi.Body(mass=0), "b": mbvi.Body(mass=0), "c": mbvi.Body(mass=2)},
        joints={f"j{i}": mbvi.Prismatic(parent=bodies[i], child=bodies[i + 1], axis=axes[i]) for i in range(3)},
        contacts={
            f"wall{i}": mbvi.PlaneStop(body_a="world", body_b="c", normal=normals[i], restitution=bounces[i])
            for i in range(2)
        },
    )
    start = np.array([0.11, -1, 0.5])
    with pytest.warns(AccuracyWarning, match="did not end in 200 rounds of those that approach"):
        run = mbvi.simulate(model, "simpson", step=0.1, duration=0.2, initial_v=start)
    np.testing.assert_allclose(run.v[-1], [0, 0, 0.5], rtol=0, atol=1e-14)
    assert run.energy_taken()[-1] == pytest.approx(0.11**2 + 1, rel=1e-12)
    assert np.ptp(run.energy() + run.energy_taken()) < 1e-12  # the first state is that before the impact at the start
    (finding,) = (each for each in run.findings if each.kind == "impact")
    if bounces == (0, 0):
        first, other = start @ normals[1], start @ normals[0]
        left = (other + first * math.cos(0.2)) / first * math.cos(0.2) ** 199
        assert f"took the {left:.2g} of the first speed that was left" in finding.text


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_what_a_closed_stop_takes_after_an_impact_of_others_is_reported(formulation):
    """A ball in a box strikes its lid: the floor keeps the box, whose speed then is below that of rest."""
    model = from_yaml("""
name: box
gravity: [0, 0, -10]
bodies: {box: {mass: 10}, ball: {mass: 0.1}}
joints:
  floor: {type: prismatic, parent: world, child: box, axis: [0, 0, 1], limits: {displacement: {lower: 0, restitution: 0,
    rest_speed: 0.1}}}
  lid: {type: prismatic, parent: box, child: ball, axis: [0, 0, 1], limits: {displacement: {upper: 1, restitution: 1}}}
initial: {lid: {velocity: 6}}
""")
    run = mbvi.simulate(mbvi.assemble(model, formulation), "simpson", step=0.03, duration=0.3)
    impact, rest = list(run.contacts)[1:]
    assert (impact.name, impact.kind, impact.t) == ("lid.displacement.upper", "impact", pytest.approx(0.2, abs=1e-14))
    assert (rest.name, rest.kind) == ("floor.displacement.lower", "rest")
    speed = 2 * 0.1 / 10.1 * 4  # of the box, from the 4 m/s of the ball
    assert rest.energy == pytest.approx(5 * speed**2, rel=1e-12)
    assert np.ptp(run.energy() + run.energy_taken()) < 1e-13


BRAKED = """
name: a driven hinge with dry friction
bodies: {arm: {mass: 1, center_of_mass: [0, 0, -0.5], inertia: [0.1, 0.1, 0.1]}}
joints: {hinge: {type: revolute, parent: world, child: arm, axis: [0, 1, 0]}}
constraints: {drive: {type: prescribed_coordinate, joint: hinge, value: "%s"}}
contacts: {rub: {type: dry_friction, joint: hinge, kinetic: 0.3, static: 0.5}}
initial: {hinge: {position: 0.2, velocity: %s}}
"""


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_a_drive_turns_against_dry_friction(formulation):
    """Where it turns friction cannot hold it: its torque has the other sign from then on."""
    model = from_yaml(BRAKED % ("0.2 + 0.1*sin(3*t)", 0.3))
    run = mbvi.simulate(mbvi.assemble(model, formulation), "simpson", step=0.01, duration=2)
    assert [each.kind for each in run.contacts] == ["slip"] * 3
    np.testing.assert_allclose(run.contacts.t, [0, math.pi / 6, math.pi / 2], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(run.contacts.sign, [1, -1, 1])
    np.testing.assert_array_equal(run.contact_forces()["rub"][[10, 100, 190]], [-0.3, 0.3, -0.3])


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_what_a_drive_holds_slips_when_it_moves(formulation):
    """From rest, without an acceleration at first: until then the friction has no force."""
    model = from_yaml(BRAKED % ("0.2 + 0.3*max(t - 0.5, 0)**4", 0))
    run = mbvi.simulate(mbvi.assemble(model, formulation), "simpson", step=0.01, duration=1)
    first, then = run.contacts
    assert str(first) == "stick of rub at t = 0 s, without force since other elements hold it"
    assert (then.kind, then.sign) == ("slip", 1)
    assert then.t == pytest.approx(0.5 + (1e-9 / 1.2) ** (1 / 3), abs=1e-5)
    forces = run.contact_forces()["rub"]
    assert (forces[:50] == 0).all()
    assert (forces[51:] == -0.3).all()


def test_what_constraints_hold_does_not_slip():
    run = mbvi.simulate(from_yaml(LOCKED), "simpson", step=0.01, duration=0.2)
    assert [each.kind for each in run.contacts] == ["stick"]
    np.testing.assert_array_equal(run.contact_forces()["rub"], 0)


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize("static", [2, 8, 14])
def test_what_a_stop_holds_does_not_slip(static, formulation):
    """A ball that is pressed against its stop: the stop has all of its weight, and friction none, until a force lifts it."""
    rub = {"rub": mbvi.DryFriction(joint="fall", kinetic=1, static=static)}
    lift = {"lift": mbvi.JointForce(joint="fall", value="30*t")}
    model = from_yaml(BALL).replaced({"contacts": rub, "forces": lift, "initial": {}})
    run = mbvi.simulate(mbvi.assemble(model, formulation), "simpson", step=0.03, duration=0.9)
    assert [(each.name, each.kind) for each in run.contacts] == [
        ("fall.displacement.lower", "rest"),
        ("rub", "stick"),
        ("fall.displacement.lower", "release"),
        ("rub", "stick"),
        ("rub", "slip"),
    ]
    np.testing.assert_allclose(run.contacts.t, [0, 0, 1 / 3, 1 / 3, (10 + static) / 30], rtol=0, atol=1e-13)
    forces = run.contact_forces()
    np.testing.assert_allclose(forces["fall.displacement.lower"], np.maximum(10 - 30 * run.t, 0), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(forces["rub"][:11], 0)


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_what_a_stop_holds_does_not_slip_when_others_do(formulation):
    """Its rate is that of rounding then, which is larger where coordinates are those of bodies."""
    model = from_yaml(DOUBLE).replaced(
        {
            "joints": {
                "pivot": mbvi.Revolute(parent="world", child="a", axis=(0, 1, 0)),
                "elbow": mbvi.Revolute(
                    parent="a",
                    child="b",
                    axis=(0, 1, 0),
                    position=(0, 0, -1),
                    limits={"angle": mbvi.Limits(lower=-0.3, upper=0.4, restitution=0.5)},
                ),
            },
            "contacts": {
                "at pivot": mbvi.DryFriction(joint="pivot", kinetic=1.5, static=3),
                "at elbow": mbvi.DryFriction(joint="elbow", kinetic=0.4),
            },
            "initial": {"pivot": mbvi.Initial(position=1.2)},
        }
    )
    run = mbvi.simulate(mbvi.assemble(model, formulation), "gauss4", step=0.01, duration=1.7)
    assert [(each.name, each.kind) for each in run.contacts][-6:] == [
        ("elbow.angle.lower", "rest"),
        ("at elbow", "stick"),
        ("at pivot", "slip"),
        ("elbow.angle.lower", "release"),
        ("at elbow", "stick"),
        ("at elbow", "slip"),
    ]


@pytest.mark.parametrize("kinetic", [0.0, 1e-3])
def test_a_friction_that_vanishes_lets_go(kinetic, tmp_path):
    """As at the end of a sweep: one of 0 is none, and nothing holds what falls."""
    model = mbvi.Model(
        name="slide",
        bodies={"load": mbvi.Body(mass=2)},
        joints={"rail": mbvi.Prismatic(parent="world", child="load", axis=(0, 0, 1))},
        contacts={"rubbing": mbvi.DryFriction(joint="rail", kinetic=kinetic)},
    )
    run = mbvi.simulate(model, "simpson", step=0.01, duration=0.5, path=tmp_path / "a.h5")
    assert run.v[-1, 0] == pytest.approx(-0.5 * (9.81 - kinetic / 2), abs=1e-12)
    assert list(mbvi.read(tmp_path / "a.h5").contact_forces()) == (["rubbing"] if kinetic else [])


@pytest.mark.parametrize("gap", [1e-9, 1e-10, 1e-12, 1e-7, 0.0])
def test_a_body_that_comes_to_rest_at_once_warns_of_nothing(gap):
    """Up to 1e-9 m from its stop it is moved there, by which its energy is another one; from farther away it falls."""
    model = from_yaml(BALL.replace("{position: 1}", f"{{position: {gap}}}"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = mbvi.simulate(model, "simpson", step=0.01, duration=3)
    assert run.findings == ()
    np.testing.assert_allclose(run.q[-1], 0, rtol=0, atol=1e-15)


@pytest.mark.parametrize("speed", [0.0, 0.05, -0.05])
def test_what_a_stop_and_a_friction_take_together_is_the_energy_that_is_lost(speed):
    """A carriage sticks at once as the load on it comes to rest on a plane at 45°, which ties their last speeds together.

    Stops touch within 1e-10 m, along which the friction of 100 N does work of 1e-8 J.
    """
    model = from_yaml(f"""
name: load on a carriage
gravity: [0, 0, -10]
bodies: {{carriage: {{mass: 1}}, load: {{mass: 2}}}}
joints:
  rail: {{type: prismatic, parent: world, child: carriage, axis: [1, 0, 0]}}
  fall: {{type: prismatic, parent: carriage, child: load, axis: [0, 0, 1]}}
contacts:
  plane: {{type: plane_stop, body_a: world, body_b: load, normal: [1, 0, 1], rest_speed: 0.1}}
  rub: {{type: dry_friction, joint: rail, kinetic: 100}}
initial: {{rail: {{velocity: {speed}}}, fall: {{velocity: -0.05}}}}
""")
    run = mbvi.simulate(model, "simpson", step=0.01, duration=0.1)
    assert run.energy_taken()[-1] == pytest.approx(run.energy()[0] - run.energy()[-1], rel=0, abs=2e-8)
    assert run.kinetic_energy()[0] == pytest.approx(0.5 * 3 * speed**2 + 0.5 * 2 * 0.05**2)
    np.testing.assert_allclose(run.v[-1], 0, rtol=0, atol=1e-15)
