"""Friction of stops by their own force, and simultaneous impacts, against closed forms and other equations of motion."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mbvi
from mbvi.errors import ModelError, StepError
from mbvi.model import Model, from_yaml
from mbvi.system.contacts import Contacts, Mode, ModeSystem

BLOCK = """
name: block
parameters: {angle: 30 deg, mu: 0.3, static: mu, speed: 0}
gravity: [9.81*sin(angle), 0, -9.81*cos(angle)]
bodies: {block: {mass: 2, inertia: [0.1, 0.1, 0.1]}}
joints: {motion: {type: planar, parent: world, child: block, normal: [0, 1, 0]}}
contacts:
  left: &corner {type: plane_stop, body_a: world, body_b: block, point_b: [-0.5, 0, -0.2], normal: [0, 0, 1],
    friction: mu, static_friction: static}
  right: {<<: *corner, point_b: [0.5, 0, -0.2]}
initial: {motion: {position: [0, -0.2, 0], velocity: [speed, 0, 0]}}
"""
BLOCK = BLOCK.replace("&corner ", "").replace(
    "{<<: *corner, point_b: [0.5, 0, -0.2]}",
    "{type: plane_stop, body_a: world, body_b: block, point_b: [0.5, 0, -0.2], normal: [0, 0, 1], friction: mu, "
    "static_friction: static}",
)
SLED = """
name: sled
parameters: {angle: 30 deg, mu: 0.3, static: mu}
bodies: {rail: {mass: 0}, sled: {mass: 2}}
joints:
  along: {type: prismatic, parent: world, child: rail, axis: [cos(angle), 0, -sin(angle)]}
  above: {type: prismatic, parent: rail, child: sled, axis: [sin(angle), 0, cos(angle)]}
contacts:
  plane: {type: plane_stop, body_a: world, body_b: sled, normal: [sin(angle), 0, cos(angle)],
    friction: mu, static_friction: static}
"""
BALL = """
name: ball
parameters: {mu: 0.2, bounce: 0.8, speed: 1, spin: 0, height: 1}
bodies: {ball: {mass: 2, inertia: [0.008, 0.008, 0.008]}}
joints: {motion: {type: planar, parent: world, child: ball, normal: [0, 1, 0]}}
contacts: {floor: {type: ball_stop, body_a: world, body_b: ball, radius: 0.1, friction: mu, restitution: bounce}}
initial: {motion: {position: [0, -0.1-height, 0], velocity: [speed, 0, spin]}}
"""
ROD = """
name: rod
parameters: {mu: 2, angle: 60 deg, speed: -1, spin: 0}
bodies: {rod: {mass: 1, inertia: [1/3, 1/3, 0.001]}}
joints: {motion: {type: planar, parent: world, child: rod, normal: [0, 1, 0]}}
contacts:
  floor: {type: plane_stop, body_a: world, body_b: rod, point_b: [-1, 0, 0], normal: [0, 0, 1], friction: mu}
initial: {motion: {position: [0, -sin(angle), -angle], velocity: [speed-spin*sin(angle), -spin*cos(angle), -spin]}}
"""
LADDER = """
name: ladder
parameters: {floor: 0.4, wall: 0.3, angle: 1}
bodies: {ladder: {mass: 10, inertia: [10/3, 10/3, 0.001]}}
joints: {motion: {type: planar, parent: world, child: ladder, normal: [0, 1, 0]}}
contacts:
  foot: {type: plane_stop, body_a: world, body_b: ladder, point_b: [1, 0, 0], normal: [0, 0, 1], friction: floor}
  top: {type: plane_stop, body_a: world, body_b: ladder, point_b: [-1, 0, 0], normal: [1, 0, 0], friction: wall}
initial: {motion: {position: [cos(angle), -sin(angle), angle]}}
"""
BEAM = """
name: beam
bodies: {beam: {mass: 1, inertia: [0.1, 0.1, 0.1]}, puck: {mass: 2, inertia: [0.1, 0.1, 0.1]}}
joints:
  pivot: {type: revolute, parent: world, child: beam, axis: [0, -1, 0]}
  motion: {type: planar, parent: world, child: puck, normal: [0, 1, 0]}
constraints: {motor: {type: prescribed_coordinate, joint: pivot, value: "0.5*sin(2*t)"}}
contacts:
  floor: {type: plane_stop, body_a: beam, body_b: puck, normal: [0, 0, 1], friction: 0.3, static_friction: 0.35}
initial: {pivot: {velocity: 1}, motion: {position: [1, 0, 0], velocity: [0.5, -1, 0]}}
"""
BOTH = pytest.mark.parametrize("formulation", ["tree", "embedding"])


@BOTH
@pytest.mark.parametrize("excess", [1e-12, -1e-12])
def test_a_sled_slides_beyond_the_angle_of_coulomb(excess, formulation):
    mu = math.tan(0.4) * (1 + excess)
    model = from_yaml(SLED).with_parameters({"angle": 0.4, "mu": mu})
    run = mbvi.simulate(model, "simpson", step=0.05, duration=1, formulation=formulation)
    kind = run.contacts.of("plane.friction")[0].kind
    assert kind == ("stick" if excess > 0 else "slip")
    assert len(run.contacts.of("plane.friction")) == 1


@BOTH
def test_a_block_slides_with_the_friction_of_both_corners(formulation):
    model = from_yaml(BLOCK).with_parameters({"speed": 1})
    run = mbvi.simulate(model, "simpson", step=0.02, duration=1, formulation=formulation)
    a = 9.81 * (math.sin(math.pi / 6) - 0.3 * math.cos(math.pi / 6))
    assert run.pose("block")[0][:, 0] == pytest.approx(run.t + 0.5 * a * run.t**2, abs=1e-13)
    forces, weight = run.contact_forces(), 2 * 9.81 * math.cos(math.pi / 6)
    assert forces["left"] + forces["right"] == pytest.approx(weight, abs=1e-11)
    assert forces["right"] - forces["left"] == pytest.approx(
        0.3 * weight * 0.2 / 0.5, abs=1e-11
    )  # moments about the middle
    assert forces["left.friction"] == pytest.approx(-0.3 * forces["left"], abs=1e-12)
    assert np.ptp(run.energy() + run.energy_taken()) < 1e-12


@BOTH
def test_a_block_comes_to_rest_where_friction_took_its_energy(formulation):
    model = from_yaml(BLOCK).with_parameters({"speed": 1, "mu": 0.7})
    run = mbvi.simulate(model, "lobatto4", step=0.1, duration=2, formulation=formulation)
    a = 9.81 * (0.7 * math.cos(math.pi / 6) - math.sin(math.pi / 6))
    assert run.pose("block")[0][-1, 0] == pytest.approx(0.5 / a, abs=1e-13)
    assert run.contacts[-1].kind == "stick"
    assert run.contacts.t[-1] == pytest.approx(1 / a, abs=1e-13)
    assert np.ptp(run.energy() + run.energy_taken()) < 1e-12


def test_friction_of_a_stop_and_of_a_coordinate_hold_together():
    push = mbvi.Force(body="sled", vector=("3*t", 0, 0))
    model = from_yaml(SLED).with_parameters({"angle": 0, "static": 0.5})
    rail = mbvi.DryFriction(joint="along", kinetic=4)
    model = model.replaced({"forces": {"push": push}, "contacts": {**model.contacts, "rail": rail}})
    run = mbvi.simulate(model, "lobatto4", step=0.1, duration=6)
    starts = (0.5 * 2 * 9.81 + 4) / 3
    slips = [each for each in run.contacts if each.kind == "slip" and each.t > 0]
    assert slips[-1].t == pytest.approx(starts, abs=1e-12)
    late = run.t[-1] - starts
    rate = (3 * starts - 0.3 * 2 * 9.81 - 4) / 2
    assert run.pose("sled")[0][-1, 0] == pytest.approx(0.5 * rate * late**2 + 0.25 * late**3, abs=1e-12)


def test_static_friction_holds_until_a_push_exceeds_it():
    push = mbvi.Force(body="sled", vector=("3*t", 0, 0))
    model = from_yaml(SLED).with_parameters({"angle": 0, "static": 0.5}).replaced({"forces": {"push": push}})
    run = mbvi.simulate(model, "lobatto4", step=0.1, duration=5)
    starts = 0.5 * 2 * 9.81 / 3
    slip = run.contacts.of("plane.friction", "slip")
    assert slip.t == pytest.approx([starts], abs=1e-13)
    late = run.t[-1] - starts
    rate = (3 * starts - 0.3 * 2 * 9.81) / 2
    assert run.pose("sled")[0][-1, 0] == pytest.approx(0.5 * rate * late**2 + 0.25 * late**3, abs=1e-12)
    assert run.contact_forces()["plane.friction"][10] == pytest.approx(-3, abs=1e-12)


@BOTH
@pytest.mark.parametrize(("speed", "spin"), [(1, 0), (10, 0), (1, -10), (-1, -80), (0, 3)])
def test_a_ball_with_spin_bounces(speed, spin, formulation):
    model = from_yaml(BALL).with_parameters({"speed": speed, "spin": spin})
    run = mbvi.simulate(model, "simpson", step=0.01, duration=0.7, formulation=formulation)
    normal = 2 * 1.8 * math.sqrt(2 * 9.81)
    slip = speed - 0.1 * spin
    tangential = -math.copysign(min(0.2 * normal, 2 / 3.5 * abs(slip)), slip)  # sliding, or gripping with I = 2 m r²/5
    impacts = run.contacts.impulse
    assert impacts == pytest.approx([normal, tangential], abs=1e-12)
    assert run.contacts.energy.min() >= 0
    assert run.pose("ball")[0][-1, 0] == pytest.approx(
        speed * 0.7 + tangential / 2 * (0.7 - run.contacts.t[0]), abs=1e-12
    )
    assert np.ptp(run.energy() + run.energy_taken()) < 1e-12


@pytest.mark.parametrize(
    ("scheme", "formulation", "error"),  # turns of quaternions err by the order of the scheme
    [("midpoint", "tree", 1e-11), ("kahan_li6", "tree", 1e-11), ("kahan_li6", "embedding", 1e-9)],
)
def test_a_ball_slides_until_it_rolls(scheme, formulation, error):
    model = from_yaml(BALL).with_parameters({"height": 0, "speed": 3})
    run = mbvi.simulate(model, scheme, step=0.01, duration=1, formulation=formulation)
    rolls = run.contacts.of("floor.friction", "stick").t
    assert rolls == pytest.approx([2 * 3 / (7 * 0.2 * 9.81)], abs=1e-12)
    place = 3 * rolls[0] - 0.1 * 9.81 * rolls[0] ** 2 + 5 / 7 * 3 * (1 - rolls[0])
    assert run.pose("ball")[0][-1, 0] == pytest.approx(place, abs=error)
    assert np.ptp(run.energy() + run.energy_taken()) < (1e-11 if formulation == "tree" else 1e-6)


def test_a_ball_that_would_roll_ends_with_the_schemes_that_can():
    model = from_yaml(BALL).with_parameters({"height": 0, "speed": 3})
    with pytest.raises(StepError) as error:
        mbvi.simulate(model, "simpson", step=0.01, duration=1)
    assert str(error.value) == (
        "step 43 (t = 0.43 s): contacts.floor: expected a scheme with a place for what rolls, as it begins to do, found simpson; "
        "take midpoint, suzuki4, kahan_li6 or kahan_li8. The stored states before it are in error.trajectory."
    )


@BOTH
@pytest.mark.parametrize("excess", [1e-2, 1e-10, -1e-10, -1e-2])
def test_a_ladder_slides_where_it_leans_too_far(excess, formulation):
    angle = math.atan((1 - 0.4 * 0.3) / (2 * 0.4)) * (1 + excess)
    model = from_yaml(LADDER).with_parameters({"angle": angle})
    run = mbvi.simulate(model, "simpson", step=0.02, duration=0.4, formulation=formulation)
    kind = run.contacts.of("foot.friction")[0].kind
    assert kind == ("stick" if excess > 0 else "slip")
    if excess > -1e-3:  # it is in balance
        forces = run.contact_forces()
        assert forces["top"][0] == pytest.approx(-forces["foot.friction"][0], abs=1e-7)
        assert forces["foot"][0] + abs(forces["top.friction"][0]) == pytest.approx(98.1, abs=1e-7)


@pytest.mark.parametrize(
    ("spin", "found"),
    [(0, "none"), (5, "2")],
)
def test_the_paradox_of_painleve_is_named(spin, found):
    with pytest.raises(ModelError) as error:
        mbvi.simulate(from_yaml(ROD).with_parameters({"spin": spin}), "simpson", step=0.01, duration=0.1)
    assert str(error.value) == (
        "Painlevé's paradox at floor, at t = 0 s: expected one motion of rigid bodies by Coulomb's law of friction, found "
        f"{found}; take a smaller friction, or a spring and a damper instead of the stop"
    )


@pytest.mark.parametrize(("mu", "angle"), [(0.3, 60), (1.3, 45), (2, 80), (2, 30)])
def test_a_rod_slides_where_there_is_no_paradox(mu, angle):
    model = from_yaml(ROD).with_parameters({"mu": mu, "angle": math.radians(angle)})
    run = mbvi.simulate(model, "lobatto4", step=0.001, duration=0.002)
    sine, cosine = math.sin(math.radians(angle)), math.cos(math.radians(angle))
    force = 9.81 / (1 + 3 * cosine * (cosine - mu * sine))
    assert run.contact_forces()["floor"][0] == pytest.approx(force, rel=1e-12)


def sliding_on_the_beam(end: float) -> tuple[np.ndarray, list[float]]:
    """Place and speed on the beam at the end, and when it sticks and slips, by its equation of motion along the beam."""

    def turn(t):
        return 0.5 * np.sin(2 * t), np.cos(2 * t), -2 * np.sin(2 * t)

    def normal(t, s, v):
        angle, rate, second = turn(t)
        return 9.81 * np.cos(angle) + s * second + 2 * v * rate

    def drive(t, s):
        angle, rate, _ = turn(t)
        return s * rate**2 - 9.81 * np.sin(angle)

    t, y, sign, times = 0.0, np.array([1.0, 0.5]), 1.0, []
    while True:
        if sign:

            def rate_of(t, y, sign=sign):
                return [y[1], drive(t, y[0]) - 0.3 * sign * normal(t, *y)]

            def event(t, y, sign=sign):
                return sign * y[1]

        else:

            def rate_of(t, y):
                return [0.0, 0.0]

            def event(t, y):
                return 0.35 * normal(t, y[0], 0.0) - abs(drive(t, y[0]))

        event.terminal, event.direction = True, -1
        found = solve_ivp(rate_of, (t, end), y, "DOP853", rtol=1e-13, atol=1e-14, events=[event], max_step=0.02)
        t, y = found.t[-1], found.y[:, -1]
        if t >= end:
            return y, times
        times.append(t)
        pull = drive(t, y[0])
        sign = 0.0 if sign and abs(pull) <= 0.35 * normal(t, y[0], 0.0) else float(np.sign(pull))
        y = np.array([y[0], 0.0])


@BOTH
@pytest.mark.parametrize(("scheme", "order"), [("simpson", 4), ("gauss2", 4), ("lobatto4", 6), ("gauss3", 6)])
def test_orders_are_kept_from_stick_to_slip(scheme, order, formulation):
    (place, _), times = sliding_on_the_beam(3.0)
    errors = []
    for h in (0.1, 0.05, 0.025):
        run = mbvi.simulate(from_yaml(BEAM), scheme, step=h, duration=3, formulation=formulation)
        x, z = run.pose("puck")[0][-1, [0, 2]]
        angle = 0.5 * math.sin(6)
        errors.append(abs(x * math.cos(angle) + z * math.sin(angle) - place))
    assert run.contacts.of("floor.friction").t[1:] == pytest.approx(times, abs=1e-8)
    assert [each.kind for each in run.contacts.of("floor.friction")] == ["slip", "stick", "slip", "stick", "slip"]
    assert np.log2(errors[0] / errors[2]) / 2 == pytest.approx(order, abs=0.25)


def test_a_stop_that_slides_lets_go_and_bounces():
    shaken = BEAM.replace("0.5*sin(2*t)", "0.1*sin(12*t)")
    model = from_yaml(
        shaken.replace("{velocity: 1}", "{velocity: 1.2}").replace("velocity: [0.5, -1, 0]", "velocity: [0.5, -1.2, 0]")
    )
    coarse, fine = (mbvi.simulate(model, "lobatto4", step=h, duration=0.5) for h in (0.01, 0.005))
    assert coarse.contacts.of("floor", "release").t == pytest.approx(fine.contacts.of("floor", "release").t, abs=1e-9)
    assert len(fine.contacts.of("floor", "release"))
    assert len(fine.contacts.of("floor.friction", "impact"))
    assert coarse.q[-1] == pytest.approx(fine.q[-1], abs=1e-8)
    assert fine.gaps()["floor"].min() > -1e-11
    assert fine.contacts.of("floor.friction", "impact").energy.min() >= 0


@BOTH
@pytest.mark.parametrize("duration", [0.2, 0.6, 2.4])  # of which the halves slide, stick and slide
def test_runs_go_on_bit_by_bit(tmp_path, duration, formulation):
    model = from_yaml(BEAM).replaced({"formulation": formulation})
    whole = mbvi.simulate(model, "lobatto4", step=0.02, duration=duration)
    mbvi.simulate(model, "lobatto4", step=0.02, duration=0.5 * duration, path=tmp_path / "run.h5", force=True)
    found = mbvi.resume(tmp_path / "run.h5", duration=duration)
    assert np.array_equal(found.q, whole.q)
    assert np.array_equal(found.contacts.rows, whole.contacts.rows)
    simulator = mbvi.Simulator(model, "lobatto4", step=0.02)
    simulator.run(0.5 * duration)
    state = simulator.state()
    simulator.run(0.5 * duration)
    assert np.array_equal(simulator.q, whole.q[-1])
    simulator.set_state(state)
    simulator.run(0.5 * duration)
    assert np.array_equal(simulator.q, whole.q[-1])


def test_states_between_steps_and_events_are_exact():
    def middle(t, q, v):
        return q[1] - 1.02

    coarse = mbvi.simulate(from_yaml(BEAM), "lobatto4", step=0.1, duration=2.4)
    fine = mbvi.simulate(from_yaml(BEAM), "lobatto4", step=0.0125, duration=2.4, events={"middle": middle})
    assert np.abs(coarse.at(fine.t).q - fine.q).max() < 2 * np.abs(coarse.q - fine.q[::8]).max()
    assert len(fine.events["middle"])
    assert np.abs(fine.at(fine.events["middle"].t).q[:, 1] - 1.02).max() < 1e-12


@pytest.mark.parametrize("impacts", ["rounds", "simultaneous"])
@pytest.mark.parametrize("seed", range(12))
def test_impacts_with_friction_never_add_energy(seed, impacts):
    random = np.random.default_rng(seed)
    text = """
name: walker
gravity: [0, 0, 0]
bodies:
  a: {mass: 1, center_of_mass: [0.4, 0, 0], inertia: [0.1, 0.1, 0.1]}
  b: {mass: 1, center_of_mass: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1]}
joints:
  motion: {type: planar, parent: world, child: a, normal: [0, 1, 0]}
  hip: {type: revolute, parent: a, child: b, axis: [0, 1, 0]}
"""
    feet = {
        f"foot{i}": mbvi.PlaneStop(
            body_a="world", body_b="ab"[i], point_b=(1, 0, 0), normal=(0, 0, 1), height=-1,
            friction=random.uniform(0.1, 1.5), restitution=random.uniform(0, 1),
        )
        for i in range(2)
    }  # fmt: skip
    angle = 0.5 * math.pi - random.uniform(0.1, 1)
    start = mbvi.Initial(position=(0, -(math.sin(angle) - 1), angle), velocity=(random.normal(), 0.2, random.normal()))
    other = mbvi.Initial(position=math.pi - 2 * angle, velocity=random.normal())
    model = from_yaml(text).replaced({"contacts": feet, "impacts": impacts, "initial": {"motion": start, "hip": other}})
    run = mbvi.simulate(model, "lobatto4", step=0.01, duration=1)
    hits = run.contacts.of("foot0", "impact"), run.contacts.of("foot1", "impact")
    assert sum(map(len, hits))
    energy = run.energy()
    assert np.diff(energy).max() < 1e-9
    assert run.contacts.energy.min() > -1e-14
    assert (energy + run.energy_taken())[1:] == pytest.approx(
        energy[0], abs=1e-6
    )  # the first is before impacts at the start


def three_balls(impacts: str, start: dict) -> Model:
    """Balls in a row, which touch."""
    bodies = {f"b{i}": mbvi.Body(mass=1) for i in range(3)}
    joints = {
        f"j{i}": mbvi.Prismatic(parent="world", child=f"b{i}", axis=(1, 0, 0), position=(i, 0, 0)) for i in range(3)
    }
    contacts = {
        f"c{i}": mbvi.DistanceStop(body_a=f"b{i}", body_b=f"b{i + 1}", lower=1, restitution=1) for i in range(2)
    }
    return Model(name="row", bodies=bodies, joints=joints, contacts=contacts, impacts=impacts, initial=start)


@pytest.mark.parametrize(("impacts", "after"), [("rounds", [0, 0, 1]), ("simultaneous", [-1 / 3, 2 / 3, 2 / 3])])
def test_a_row_of_balls_by_rounds_and_at_once(impacts, after):
    model = three_balls(impacts, {"j0": {"position": -0.5, "velocity": 1}})
    run = mbvi.simulate(model, "lobatto4", step=0.02, duration=0.6)
    assert run.v[-1] == pytest.approx(after, abs=1e-13)
    assert np.ptp(run.energy()) < 1e-14


@pytest.mark.parametrize("impacts", ["rounds", "simultaneous"])
def test_a_symmetric_collision_is_right_in_both(impacts):
    start = {"j0": {"position": -0.5, "velocity": 1}, "j2": {"position": 0.5, "velocity": -1}}
    run = mbvi.simulate(three_balls(impacts, start), "lobatto4", step=0.02, duration=0.9)
    assert run.v[-1] == pytest.approx([-1, 0, 1], abs=1e-14)
    assert run.q[-1, 0] == -run.q[-1, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            "friction: 0.3, radius: 0.1",
            "contacts.stop.radius: expected a point, of radius 0, found 0.1 with friction, which turns what is round; take a "
            "ball_stop",
        ),
        ("friction: -0.1", "contacts.stop.friction: expected a coefficient of at least 0, found -0.1; change its sign"),
        (
            "friction: 0.3, static_friction: 0.2",
            "contacts.stop.static_friction: expected a static friction of at least the kinetic one, found 0.2 below 0.3; "
            "exchange them",
        ),
    ],
)
def test_wrong_frictions_are_refused(change, message):
    with pytest.raises(ModelError) as error:
        from_yaml(SLED.replace("plane:", "stop:").replace("friction: mu, static_friction: static", change))
    assert str(error.value).endswith(message)


def test_friction_along_two_tangents_is_refused():
    free = {"free": mbvi.Free(parent="world", child="puck")}
    contacts = {"floor": mbvi.PlaneStop(body_a="world", body_b="puck", normal=(0, 0, 1), friction=0.3)}
    model = Model(name="puck", bodies={"puck": mbvi.Body(mass=1)}, joints=free, contacts=contacts)
    with pytest.raises(ModelError) as error:
        mbvi.simulate(model, "simpson", step=0.1, duration=1)
    assert str(error.value) == (
        "contacts.floor.friction: expected a stop that slips along one direction, found one that slips along both tangents of "
        "its surface; hold the motion in a plane, as by a planar joint, or leave the friction out"
    )


def test_a_motion_that_leaves_its_plane_is_refused():
    text = """
name: turntable
bodies: {base: {mass: 1, inertia: [1, 1, 1]}, puck: {mass: 1, inertia: [0.1, 0.1, 0.1]}}
joints:
  turn: {type: revolute, parent: world, child: base, axis: [0, 0, 1]}
  motion: {type: planar, parent: base, child: puck, normal: [0, 1, 0]}
contacts: {floor: {type: plane_stop, body_a: world, body_b: puck, normal: [0, 0, 1], friction: 0.3}}
initial: {turn: {velocity: 1}, motion: {velocity: [1, 0, 0]}}
"""
    with pytest.raises(StepError) as error:
        mbvi.simulate(from_yaml(text), "simpson", step=0.01, duration=1)
    assert str(error.value).startswith("step ")
    assert (
        "contacts.floor.friction: expected a stop that slips along one direction, found one that slips across it by "
        in str(error.value)
    )


@BOTH
def test_accelerations_of_a_run_are_those_that_friction_leaves(formulation):
    model = from_yaml(SLED).replaced({"initial": {"along": mbvi.Initial(velocity=1)}})
    run = mbvi.simulate(model, "simpson", step=0.1, duration=1, formulation=formulation)
    a = 9.81 * (math.sin(math.pi / 6) - 0.3 * math.cos(math.pi / 6))
    found = run.kinematics(["sled"])["acceleration"][:, 0]
    assert np.linalg.norm(found[1:], axis=1) == pytest.approx(abs(a), abs=1e-12)


FOUR_BAR = """
name: four_bar
bodies:
  crank: {mass: 1, center_of_mass: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1]}
  coupler: {mass: 1, center_of_mass: [1, 0, 0], inertia: [0.3, 0.3, 0.3]}
  rocker: {mass: 1, center_of_mass: [0, 0, -1], inertia: [0.3, 0.3, 0.3]}
  box: {mass: 0.5, inertia: [0.1, 0.1, 0.1]}
joints:
  a: {type: revolute, parent: world, child: crank, axis: [0, 1, 0]}
  b: {type: revolute, parent: crank, child: coupler, axis: [0, 1, 0], position: [1, 0, 0]}
  d: {type: revolute, parent: world, child: rocker, axis: [0, 1, 0], position: [3, 0, 3]}
  c: {type: revolute, parent: coupler, child: rocker, axis: [0, 1, 0], position: [2, 0, 1], offset: [0, 0, -2], cut: true}
  g: {type: planar, parent: world, child: box, normal: [0, 1, 0]}
contacts:
  floor: {type: plane_stop, body_a: coupler, body_b: box, normal: [0, 0, 1], friction: 0.2, static_friction: 0.25}
initial: {g: {position: [1.5, 0, 0]}}
"""


@BOTH
@pytest.mark.parametrize(("scheme", "order", "step"), [("simpson", 4, 0.02), ("lobatto4", 6, 0.02)])
def test_orders_are_kept_on_loops_with_redundant_constraints(scheme, order, step, formulation):
    model = from_yaml(FOUR_BAR)
    fine, *others = (
        mbvi.simulate(model, scheme, step=h, duration=0.4, formulation=formulation) for h in (0.00125, step, 0.5 * step)
    )
    assert fine.system.mobility.redundant == 3
    assert [each.kind for each in fine.contacts] == ["rest", "stick", "slip", "slip"]
    errors = [np.abs(each.pose("box")[0][-1] - fine.pose("box")[0][-1]).max() for each in others]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.2)
    assert np.ptp((fine.energy() + fine.energy_taken())[1:]) < 1e-9
    assert fine.constraint_residual().max() < 1e-13


@BOTH
def test_a_ball_slides_around_in_a_drum(formulation):
    drum = mbvi.BallStop(
        body_a="world", body_b="ball", radius=0.1, surface="cylinder", direction=(0, 1, 0), surface_radius=1,
        inside=True, friction=0.3,
    )  # fmt: skip
    start = mbvi.Initial(position=(0.9, 0, 0), velocity=(0, 2, 0))
    model = from_yaml(BALL).replaced({"gravity": (0, 0, 0), "contacts": {"drum": drum}, "initial": {"motion": start}})
    run = mbvi.simulate(model, "lobatto4", step=0.02, duration=0.4, formulation=formulation)
    speed = 2 / (1 + 0.3 * 2 / 0.9 * run.t)  # m dv/dt = −μ m v²/0.9, while it slips
    x = run.pose("ball")[0]
    assert np.linalg.norm(x, axis=1) == pytest.approx(0.9, abs=1e-13)
    angle = np.log(2 / speed) / 0.3  # dv/dangle = −μ v
    assert np.abs(np.unwrap(np.arctan2(x[:, 2], x[:, 0]))) == pytest.approx(angle, abs=1e-9)
    assert run.contact_forces()["drum"] == pytest.approx(2 * speed**2 / 0.9, rel=1e-8)


def test_a_wheel_grips_where_it_strikes():
    wheel = mbvi.WheelStop(body_a="world", body_b="ball", radius=0.1, axis=(0, 1, 0), friction=0.2, restitution=0.5)
    body = mbvi.Body(mass=2, inertia=(0.005, 0.01, 0.005))
    model = from_yaml(BALL).replaced({"bodies": {"ball": body}, "contacts": {"floor": wheel}})
    run = mbvi.simulate(model, "simpson", step=0.02, duration=0.6)
    assert run.contacts.impulse == pytest.approx([2 * 1.5 * math.sqrt(2 * 9.81), -2 / 3 * 1], abs=1e-12)


@BOTH
@pytest.mark.parametrize("angle", [30, 60, 80])
@pytest.mark.parametrize("sign", [-1, 1])
def test_the_regularity_of_what_slides_is_that_of_a_rod(angle, sign, formulation):
    system = mbvi.assemble(from_yaml(ROD).with_parameters({"angle": math.radians(angle)}), formulation)
    contacts = Contacts(system, system.given_q, 0.0)
    mode = contacts.of_mode(Mode((True,), (sign,)))
    sine, cosine = math.sin(math.radians(angle)), math.cos(math.radians(angle))
    expected = (1 + 3 * cosine * (cosine + sign * 2 * sine)) / (1 + 3 * cosine**2)
    assert mode.regularity(np.zeros(1), system.given_q[None]) == pytest.approx([expected], rel=1e-12)


def test_a_motion_that_comes_into_the_paradox_ends(monkeypatch):
    model = from_yaml(SLED).replaced({"initial": {"along": mbvi.Initial(velocity=1)}})
    monkeypatch.setattr(ModeSystem, "regularity", lambda self, t, q: np.where(t > 0.25, -0.1, 1.0))
    with pytest.raises(StepError) as error:
        mbvi.simulate(model, "simpson", step=0.1, duration=1)
    assert str(error.value).endswith(
        "Painlevé's paradox at plane, at t = 0.3 s: expected one motion of rigid bodies by Coulomb's law of friction, found none "
        "or several; take a smaller friction, or a spring and a damper instead of the stop. The stored states before it are in "
        "error.trajectory."
    )


@pytest.mark.parametrize("spin", [0, 1])
def test_a_step_that_is_too_long_while_a_stop_slides_says_so(spin):
    """With a spin the loop's step fails, and without one a part of it."""
    expected = (
        r"^step 0 \(t = 0 s\): Newton's iteration did not converge\. The stored states before it are in error\.trajectory\. "
        r"A smaller step may help: try step=[0-9.]+\.$"
    )
    with pytest.raises(StepError, match=expected):
        mbvi.simulate(from_yaml(ROD).with_parameters({"mu": 0.2, "spin": spin}), "simpson", step=1, duration=2)


@BOTH
def test_friction_of_what_a_drive_moves_is_refused(formulation):
    drive = {"drive": mbvi.PrescribedCoordinate(joint="along", value="sin(t)")}
    model = from_yaml(SLED).replaced({"constraints": drive})
    expected = (
        "contacts.plane.friction: expected a stop that slips, found one whose sides do not slip against each other, or only as "
        "drives move them; leave the friction out"
    )
    with pytest.raises(ModelError) as error:
        mbvi.simulate(mbvi.assemble(model, formulation), "simpson", step=0.1, duration=1)
    assert str(error.value) == expected


def test_a_block_begins_to_slide_at_the_side_of_a_drum():
    """It falls along the wall at first: its stop closes where it is 1e-10 m beyond, and the way back is that of a sliding block.

    With N = m (v² + g cos θ) on a circle of 1 m, the angle from below obeys θ″ = −g sin θ − μ (θ′² + g cos θ).
    """
    model = from_yaml("""
name: drum
bodies: {block: {mass: 0.7, inertia: [1e9, 1e9, 1e9]}}
joints: {motion: {type: planar, parent: world, child: block, normal: [0, 1, 0]}}
contacts:
  drum: {type: ball_stop, body_a: world, body_b: block, radius: 0.05, surface: cylinder, direction: [0, 1, 0],
         surface_radius: 1.05, inside: true, friction: 0.2}
initial: {motion: {position: [-1, 0, 0]}}
""")
    run = mbvi.simulate(model, "gauss4", step=0.005, duration=1.0)
    places = run.pose("block")[0]
    rate = lambda t, y: [y[1], -9.81 * np.sin(y[0]) - 0.2 * (y[1] ** 2 + 9.81 * np.cos(y[0]))]  # noqa: E731
    exact = solve_ivp(rate, (0, 1), [-np.pi / 2, 0], "DOP853", t_eval=run.t, rtol=1e-13, atol=1e-14).y[0]
    np.testing.assert_allclose(np.arctan2(places[:, 0], -places[:, 2]), exact, rtol=0, atol=2e-12)
