"""Inputs of actuators that are functions of the state, which numba compiles."""

import pickle
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mbvi
from mbvi.control import PD, CompiledModel
from mbvi.system.feedback import with_functions
from tests.folders import load
from tests.system import mechanisms

H, START = 0.02, {"initial_q": [1.0, 0.5]}


def arm(without=()):
    """Two links with motors, of which the first is geared and limited, and reaches its limit."""
    rod = mbvi.Body(mass=2, center_of_mass=(0, 0, -0.5), inertia=(0.2, 0.2, 0.01))
    hand = mbvi.Body(mass=1, center_of_mass=(0, 0, -0.3), inertia=(0.05, 0.05, 0.01))
    motors = {"first": mbvi.Motor(joint="shoulder", gear=3, effort=1.5), "second": mbvi.Motor(joint="elbow")}
    return mbvi.Model(
        name="arm",
        bodies={"rod": rod, "hand": hand},
        joints={
            "shoulder": mbvi.Revolute(parent="world", child="rod", axis=(0, 1, 0)),
            "elbow": mbvi.Revolute(parent="rod", child="hand", position=(0, 0, -1), axis=(0, 1, 0)),
        },
        forces={name: each for name, each in motors.items() if name not in without},
        sensors={"pull": mbvi.ForceSensor(joint="elbow", period=0.03)},
    )


def law(t, q, v):
    return 0.5 * np.sin(3 * t) - 2 * q[0] - 0.3 * v[0]


def same_force(t, q, v, F):
    u = 0.5 * np.sin(3 * t) - 2 * q[0] - 0.3 * v[0]
    F[0] += 3 * min(max(u, -1.5), 1.5)


def both(t, q, v, u):
    u[0], u[1] = 0.5 * np.sin(3 * t) - 2 * q[0] - 0.3 * v[0], 0.4 - q[1]


@pytest.fixture(scope="module")
def run():
    return mbvi.simulate(arm(), "lobatto4", step=H, duration=2, inputs={"first": law, "second": "0.1*t"}, **START)


def own_system():
    """The same with a force of the user's own."""
    model = mbvi.simulate(arm(without=("first",)), step=H, duration=H, inputs={"second": "0.1*t"}).system.model
    return mbvi.assemble(model, force=same_force)


def test_it_is_the_run_with_the_same_force_of_the_users_own(run):
    """To the last bit, beside an input over time, with a gear, and where the effort is reached."""
    own = mbvi.simulate(own_system(), "lobatto4", step=H, duration=2, **START)
    assert np.array_equal(run.q, own.q) and np.array_equal(run.p, own.p)
    motor = run.forces(["first"])["first"]
    exact = [3 * np.clip(law(*state), -1.5, 1.5) for state in zip(run.t, run.q, run.v, strict=True)]
    assert motor.values[:, 0] == pytest.approx(np.array(exact), abs=1e-14) and abs(motor.values).max() == 4.5
    assert motor.power == pytest.approx(motor.values[:, 0] * run.v[:, 0], abs=1e-13)
    assert run.forces(["second"])["second"].values[:, 0] == pytest.approx(0.1 * run.t)


def test_reactions_and_sensors_are_those_of_the_motion(run):
    """By Newton's law of the hand, whose acceleration follows from differences of the places of a finer run."""
    h = 1e-3
    fine = mbvi.simulate(arm(), "lobatto4", step=h, duration=0.2, inputs={"first": law, "second": "0.1*t"}, **START)
    places, rotations = fine.pose("hand")
    centers = places + rotations @ [0, 0, -0.3]
    acceleration = (centers[2:] - 2 * centers[1:-1] + centers[:-2]) / h**2
    force, _ = fine.reaction("elbow")
    before = slice(0, 70)  # the motor leaves its limit at t = 0.078 s, where differences are less exact
    assert force[1:-1][before] == pytest.approx((acceleration + np.array([0, 0, 9.81]))[before], abs=1e-4)
    pull = fine.measurements()["pull"]  # a sample every 30 steps
    body = np.einsum("kji,kj->ki", rotations, force)
    assert pull.values == pytest.approx(body[:: round(0.03 / h)], abs=1e-12)
    between = run.measurements()["pull"]  # every other one between stored states
    assert between.values[1] == pytest.approx(pull.values[1], abs=1e-7)


def test_it_goes_with_one_function_for_several_with_events_and_with_controllers(run):
    model = arm()
    one = mbvi.simulate(model, step=H, duration=1, inputs={("first", "second"): both}, **START)
    apart = mbvi.simulate(
        model, step=H, duration=1, inputs={"first": law, "second": lambda t, q, v: 0.4 - q[1]}, **START
    )
    assert np.array_equal(one.q, apart.q)
    found = mbvi.simulate(model, "lobatto4", step=H, duration=2, inputs={"first": law, "second": "0.1*t"},
                          events={"down": "q('shoulder')"}, **START)  # fmt: skip
    assert np.array_equal(found.q, run.q) and abs(found.events["down"].q[:, 0]).max() < 1e-14
    ended = mbvi.simulate(model, "lobatto4", step=H, duration=2, inputs={"first": law}, until="q('shoulder')", **START)
    last = ended.forces(["first"])["first"].values[-1, 0]
    assert last == pytest.approx(3 * np.clip(law(ended.t[-1], ended.q[-1], ended.v[-1]), -1.5, 1.5), abs=1e-14)

    hold = mbvi.Controller(lambda t, q, v: 0.4 - q[1], period=H, inputs=["second"])
    mixed = mbvi.simulate(model, step=H, duration=1, inputs={"first": law}, controllers={"hold": hold}, **START)
    samples = mixed.samples["hold"]
    forces = mixed.forces(["first", "second"])
    assert forces["second"].values[: len(samples), 0] == pytest.approx(samples.values[:, 0])
    exact = [3 * np.clip(law(*state), -1.5, 1.5) for state in zip(mixed.t, mixed.q, mixed.v, strict=True)]
    assert forces["first"].values[:, 0] == pytest.approx(np.array(exact), abs=1e-14)
    text = "controllers.hold: inputs: expected an input that is a number, found 'first', a function of the state"
    wrong = mbvi.Controller(lambda t, q, v: 0.0, period=H, inputs=["first"])
    with pytest.raises(mbvi.ModelError, match=text):
        mbvi.simulate(model, step=H, duration=1, inputs={"first": law}, controllers={"hold": wrong})


def oscillator():
    mass = mbvi.Body(mass=2.0)
    track = mbvi.Prismatic(parent="world", child="mass", axis=(1, 0, 0))
    spring = mbvi.JointSpring(joint="track", stiffness=3.0)
    return mbvi.Model(
        name="oscillator",
        gravity=(0, 0, 0),
        bodies={"mass": mass},
        joints={"track": track},
        forces={"spring": spring, "drive": mbvi.Motor(joint="track")},
    )


def pd(t, q, v):
    return 5.0 * (1.0 - q[0]) - 2.0 * v[0] + np.sin(2 * t)


def exact_pd(t):
    """2 x″ + 2 x′ + 8 x = 5 + sin 2t from rest at 0: x = 5/8 + a cos 2t + b sin 2t + e^(−t/2)(c cos ωt + d sin ωt)."""
    a, b = -0.25, 0.0  # (8 − 8) and 4: −4 a = 1
    omega = np.sqrt(4 - 0.25)
    c = -5 / 8 - a
    d = 0.5 * c / omega
    return (
        5 / 8 + a * np.cos(2 * t) + b * np.sin(2 * t) + np.exp(-t / 2) * (c * np.cos(omega * t) + d * np.sin(omega * t))
    )


@pytest.mark.parametrize(("scheme", "order"), [("simpson", 4), ("lobatto4", 6), ("gauss3", 6)])
def test_schemes_keep_their_order(scheme, order):
    """A law of springs, dampers and a driven target, against the closed form."""
    errors = []
    for h in (0.2, 0.1, 0.05):
        found = mbvi.simulate(oscillator(), scheme, step=h, duration=4, inputs={"drive": pd})
        errors.append(abs(found.q[:, 0] - exact_pd(found.t)).max())
    assert np.log2(np.divide(errors[:-1], errors[1:])) == pytest.approx([order, order], abs=0.35)


def test_an_arm_is_held_still_by_its_gravity():
    """By what the model says, which the compiled function calls; and a frame is pulled along its Jacobian."""
    model = arm()
    known = CompiledModel(model)
    gravity, jacobian, pose = known.gravity, known.frame_jacobian("hand"), known.frame_pose("hand")

    def hold(t, q, v, u):
        gravity(q, u)
        u[0] /= 3

    free = model.model_copy(update={"forces": {**model.forces, "first": mbvi.Motor(joint="shoulder", gear=3)}})
    held = mbvi.simulate(free, step=H, duration=2, inputs={("first", "second"): hold}, **START)
    assert abs(held.q - held.q[0]).max() < 1e-14

    def pull(t, q, v, u):
        J, place, rotation = np.zeros((6, 2)), np.zeros(3), np.zeros((3, 3))
        jacobian(q, J)
        pose(q, place, rotation)
        gravity(q, u)
        for a in range(2):
            u[a] -= 4.0 * v[a]
            for i in range(3):
                u[a] += J[i, a] * 20.0 * ((0.6, 0.0, -0.7)[i] - place[i])
        u[0] /= 3

    pulled = mbvi.simulate(free, step=H, duration=20, inputs={("first", "second"): pull}, **START)
    assert pulled.pose("hand")[0][-1] == pytest.approx(np.array([0.6, 0.0, -0.7]) * 1.0 / np.hypot(0.6, 0.7), abs=1e-3)


def test_functions_of_a_model_are_those_of_its_system():
    """With quaternions, and in several threads at once."""
    system = mbvi.assemble(load("lagrange_top"))
    known, random = CompiledModel(system), np.random.default_rng(5)
    body, n, nv = system.body_names[-1], system.dimension, system.nv
    jacobian, pose = known.frame_jacobian(body, "body"), known.frame_pose(body)

    def check(q):
        tau, J, place, rotation = np.zeros(nv), np.zeros((6, nv)), np.zeros(3), np.zeros((3, 3))
        for _ in range(50):
            known.gravity(q, tau)
            jacobian(q, J)
            pose(q, place, rotation)
        at, turned = system.frame_pose(body, q)
        assert tau == pytest.approx(system.gravity(q), abs=1e-13)
        assert pytest.approx(system.frame_jacobian(body, q, "body"), abs=1e-13) == J
        assert place == pytest.approx(at, abs=1e-13) and rotation == pytest.approx(turned, abs=1e-13)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(check, system.initial_q + 0.3 * random.standard_normal((8, n))))
    with pytest.raises(ValueError, match=re.escape(f"gravity(q, out): shapes of q and out must be ({n},) and ({nv},)")):
        known.gravity(np.zeros(n + 1), np.zeros(nv))
    with pytest.raises(mbvi.ModelError, match=r"frame: expected a body or BODY.FRAME, found 'wheel'"):
        known.frame_pose("wheel")
    with pytest.raises(mbvi.ModelError, match=r"reference: expected world or body or world-aligned, found 'here'"):
        known.frame_jacobian(body, "here")


def test_files_have_the_inputs_and_resumed_runs_their_functions(run, tmp_path):
    """The states to the last bit; forces, reactions and samples without the functions."""
    path, inputs = tmp_path / "run.h5", {"first": law, "second": "0.1*t"}
    mbvi.simulate(arm(), "lobatto4", step=H, duration=1, inputs=inputs, path=path, **START)
    with pytest.raises(
        mbvi.ModelError, match=r"inputs: expected functions for first, found none; pass them as to simulate"
    ):
        mbvi.resume(path, duration=2)
    with pytest.raises(mbvi.ModelError, match="inputs: expected functions for first, found second"):
        mbvi.resume(path, duration=2, inputs={"second": law})
    with pytest.raises(
        mbvi.ModelError, match="inputs: expected functions of the state alone, found 'second'; the file has"
    ):
        mbvi.resume(path, duration=2, inputs=inputs)
    resumed = mbvi.resume(path, duration=2, inputs={"first": law})
    assert np.array_equal(resumed.q, run.q) and np.array_equal(resumed.p, run.p)
    run.save(tmp_path / "saved.h5")
    for found in (mbvi.read(path), mbvi.read(tmp_path / "saved.h5"), pickle.loads(pickle.dumps(run)), resumed):
        for name in ("first", "second"):
            assert np.array_equal(found.forces([name])[name].values, run.forces([name])[name].values)
        assert np.array_equal(found.reaction("elbow")[0], run.reaction("elbow")[0])
    values = np.array([law(*state) for state in zip(run.t, run.q, run.v, strict=True)])
    assert mbvi.read(path).to_xarray()["inputs"].sel(input="first").values == pytest.approx(values, abs=1e-14)
    with pytest.raises(
        mbvi.ModelError,
        match="inputs: expected functions for first, found none; pass them as to simulate: trajectory",
    ):
        mbvi.read(path).at([0.03])


def test_states_between_are_to_the_order_of_the_scheme(run):
    fine = mbvi.simulate(arm(), "lobatto4", step=H / 4, duration=2, inputs={"first": law, "second": "0.1*t"}, **START)
    found = run.at(fine.t[:200])
    smooth = 12  # before the motor leaves its limit
    assert abs(found.q[:smooth] - fine.q[:smooth]).max() < 1e-11
    assert found.forces(["first"])["first"].values == pytest.approx(
        fine.forces(["first"])["first"].values[:200], abs=1e-3
    )


GAIN = 2.0


def gained(t, q, v):
    return -GAIN * q[0]


def test_a_changed_value_from_outside_is_taken_by_the_next_run_and_ends_one_that_goes_on():
    """So it is never stale."""
    global GAIN
    try:
        before = mbvi.simulate(arm(), step=H, duration=0.2, inputs={"first": gained}, **START)
        GAIN = 0.5
        after = mbvi.simulate(arm(), step=H, duration=0.2, inputs={"first": gained}, **START)
        assert after.forces(["first"])["first"].values[0, 0] == pytest.approx(-1.5)
        assert before.forces(["first"])["first"].values[0, 0] == pytest.approx(-4.5)

        def change(t, q, v):
            global GAIN
            GAIN += 1.0
            return 0.0

        turn = mbvi.Controller(change, period=H, inputs=["second"])
        with pytest.raises(mbvi.StepError, match=r"GAIN, which the function reads, as it was when the system was made"):
            mbvi.simulate(arm(), step=H, duration=0.2, inputs={"first": gained}, controllers={"turn": turn})
    finally:
        GAIN = 2.0


def into_q(t, q, v):
    q[0] = 1.0
    return 0.0


def sorts(t, q, v):
    if t < 0:
        return len(open("a.txt").read())
    return 0.0


def pair(t, q, v):
    return np.array([1.0, 2.0])


def nothing(t, q, v, u):
    u = q  # noqa: F841


def too_many(t, q, v, u):
    u[2] = 1.0


def half(t, q, v, u):
    u[0] = 1.0


def infinite(t, q, v):
    return 1 / (t - 0.0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"first": into_q}, r"inputs.first: expected a function that leaves q and v as they are, found one that writes into them "
         r"in line \d+ of test_inputs_of_state.py, `q\[0\] = 1.0`; write into a copy"),
        ({"first": sorts}, r"inputs.first: expected a function that numba can compile, found one that it cannot in line \d+ of"),
        ({"first": pair}, r"inputs.first: expected a function that returns a number, found an array of shape \(2,\) in line"),
        ({("first", "second"): nothing}, r"first, second: expected values written into u, found the name bound to another"),
        ({("first", "second"): too_many}, r"first, second: expected indices within the arrays, found"),
        ({("first", "second"): half}, r"inputs.second: expected a finite number, found nan at the start, t = 0 s; look"),
        ({("first", "second"): law}, r"first, second: expected a function inputs\(t, q, v, u\), found law\(t, q, v\)"),
        ({"first": both}, r"inputs.first: expected a function input\(t, q, v\), found both\(t, q, v, u\)"),
        ({"frist": law}, r"inputs: expected an actuator, found 'frist'; did you mean 'first'\?"),
        ({(): law}, r"inputs: expected at least one actuator for a function, found none"),
        ({"first": law, ("first",): both}, r"inputs: expected one function for each actuator, found two for 'first'"),
        ({"first": mbvi.Controller(law, period=0.1)}, r"inputs.first: expected an input over time, or a function input\(t, q, v"
         r"\), found Controller\(.*; simulate calls objects between steps, as controllers={NAME: mbvi.Controller\(…, period="),
        ({"first": PD(["first"], 0.0, stiffness=1, damping=1)}, r"inputs.first: expected .*, found .*PD object.* controllers="),
        ({"first": infinite}, r"inputs.first: expected a finite number, found inf at the start, t = 0 s"),
    ],
)  # fmt: skip
def test_what_cannot_be_an_input(given, message):
    with pytest.raises(mbvi.ModelError, match=message):
        mbvi.simulate(arm(), step=H, duration=0.1, inputs=given)


def test_a_function_without_a_value_ends_the_run_and_is_named():
    """And what was computed until then is kept."""

    def logarithm(t, q, v):
        return np.log(q[0] - 0.9)

    message = "the function that gives first has no finite value there, or within the step"
    with pytest.raises(mbvi.StepError, match=message) as caught:
        mbvi.simulate(arm(), step=H, duration=2, inputs={"first": logarithm}, **START)
    kept = caught.value.trajectory
    assert len(kept) > 3 and np.isfinite(kept.forces(["first"])["first"].values).all()


def test_stops_act_besides():
    """A link that a function drives onto a stop, and holds there: the stop has what is beyond the weight."""
    rod = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))
    pivot = mbvi.Revolute(
        parent="world", child="rod", axis=(0, 1, 0), limits={"angle": {"lower": -2, "upper": 0.5, "restitution": 0}}
    )
    model = mbvi.Model(
        name="stopped", bodies={"rod": rod}, joints={"pivot": pivot}, forces={"motor": mbvi.Motor(joint="pivot")}
    )

    def push(t, q, v):
        return 8.0 + 3.0 * (1.0 - q[0]) - 2.0 * v[0]

    found = mbvi.simulate(model, step=0.01, duration=3, inputs={"motor": push})
    assert found.q[-1, 0] == pytest.approx(0.5, abs=1e-9)
    upper = next(force for name, force in found.contact_forces().items() if "upper" in name)
    assert upper[-1] == pytest.approx(9.5 - 9.81 * np.sin(0.5), abs=1e-8)


def boat(forces, formulation="tree"):
    """A body in the plane z = 0 with its centre beside its origin."""
    body = mbvi.Body(mass=2, center_of_mass=(0.1, 0, 0), inertia=(1, 1, 0.7))
    sea = mbvi.Planar(parent="world", child="hull", normal=(0, 0, 1))
    start = {"sea": mbvi.Initial(position=(0, 0, 0.4), velocity=(0.3, 0, -0.5))}
    parts = {"bodies": {"hull": body}, "joints": {"sea": sea}, "forces": forces, "initial": start}
    return mbvi.Model(name="boat", gravity=(0, 0, 0), formulation=formulation, **parts)


def steer(t, q, v):
    return 1.5 - q[2] - 0.4 * v[0] + np.sin(t)


def steered(t, q, v, F):
    """What the screw does to the coordinates x, y and angle of the boat."""
    p = min(max(2 * (1.5 - q[2] - 0.4 * v[0] + np.sin(t)) + 0.5, -1), 4)
    F[0] += p * np.cos(q[2])
    F[1] += p * np.sin(q[2])
    F[2] -= 0.3 * p


SCREW = mbvi.FrameActuator(body="hull", point=(0, 0.3, 0), force=(1, 0, 0), gain=2, bias=0.5, effort=(-1, 4))


def test_it_tells_an_actuator_of_a_frame():
    """As a force of the user's own does, with its effort reached for a while, beside such a force, and in the embedding."""
    given = {"scheme": "gauss3", "step": 0.05, "duration": 2}
    run = mbvi.simulate(boat({"screw": SCREW}), **given, inputs={"screw": steer})
    own = mbvi.simulate(mbvi.assemble(boat({}), force=steered), **given)
    np.testing.assert_allclose(run.q, own.q, rtol=0, atol=1e-12)
    pull = np.linalg.norm(run.forces(["screw"])["screw"].values[:, :3], axis=1)
    exact = [abs(np.clip(2 * steer(*each) + 0.5, -1, 4)) for each in zip(run.t, run.q, run.v, strict=True)]
    np.testing.assert_allclose(pull, exact, rtol=0, atol=1e-12)
    assert max(exact) == 4 > min(exact)

    beside = mbvi.assemble(boat({"screw": SCREW}), force=lambda t, q, v, F: None)
    np.testing.assert_allclose(mbvi.simulate(beside, **given, inputs={"screw": steer}).q, own.q, rtol=0, atol=1e-12)

    embedding = mbvi.assemble(boat({"screw": SCREW}), "embedding")
    assert embedding.coordinate_names[:4] == ("hull.x", "hull.y", "hull.z", "hull.qw")
    fixed = mbvi.simulate(
        embedding, **given, inputs={"screw": lambda t, q, v: np.sin(3 * t) - 2 * np.arctan2(q[6], q[3])}
    )
    tree = mbvi.simulate(boat({"screw": SCREW}), **given, inputs={"screw": lambda t, q, v: np.sin(3 * t) - q[2]})
    np.testing.assert_allclose(fixed.pose("hull")[0], tree.pose("hull")[0], rtol=0, atol=1e-8)


def test_a_simulator_and_a_file_of_it_have_what_it_gave(tmp_path):
    given = {"scheme": "gauss2", "step": 0.05}
    run = mbvi.simulate(
        boat({"screw": SCREW}), **given, duration=0.5, inputs={"screw": steer}, path=tmp_path / "boat.h5"
    )
    live = mbvi.Simulator(boat({"screw": SCREW}), **given, inputs={"screw": steer})
    live.run(0.5)
    assert np.array_equal(live.q, run.q[-1])
    found = mbvi.read(tmp_path / "boat.h5").forces(["screw"])["screw"]
    np.testing.assert_allclose(found.values, run.forces(["screw"])["screw"].values, rtol=0, atol=1e-12)
    further = mbvi.resume(tmp_path / "boat.h5", 1.0, inputs={"screw": steer})
    whole = mbvi.simulate(boat({"screw": SCREW}), **given, duration=1, inputs={"screw": steer})
    assert np.array_equal(further.q[-1], whole.q[-1])


def star(forces):
    """Thirty pendulums on the first one, whose second derivatives are blocks of their own."""
    return mbvi.Model(**dict(mechanisms.linked("star", 30)) | {"forces": forces})


def apart(t, q, v):
    return -3 * q[20] - v[3]


def apart_of_ones_own(t, q, v, F):
    F[3] += -3 * q[20] - v[3]


def test_derivatives_between_blocks_are_left_out_and_others_are_right():
    """Newton's iteration goes on without them, to the same motion as with all of them."""
    system = mbvi.assemble(star({"m": mbvi.Motor(joint="b0 b3")}))
    assert len(system.arrays.nodes) > 1
    applied, dense = with_functions(system, {"m": apart}), mbvi.assemble(star({}), force=apart_of_ones_own)
    q, v = mechanisms.random_state(system, 2)
    for found, whole in zip(applied.second_derivatives(q, v), dense.second_derivatives(q, v), strict=True):
        whole[3, 20] = found[3, 20]  # of the input alone, between two blocks
        np.testing.assert_allclose(found, whole, rtol=0, atol=1e-6)
    given = {"scheme": "simpson", "step": 0.02, "duration": 0.2}
    start = {"initial_q": 0.3 * q}
    runs = mbvi.simulate(system, **given, **start, inputs={"m": apart}), mbvi.simulate(dense, **given, **start)
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-11)
    with pytest.raises(mbvi.ModelError) as error:
        mbvi.simulate(system, "three_point", step=0.02, duration=0.2, inputs={"m": apart})
    assert str(error.value) == (
        "star: scheme three_point: expected inputs by functions of the state of a system whose second derivatives are one block, "
        "found 30 coordinates in 30 blocks; take midpoint or simpson, which run any system"
    )


def test_functions_see_how_often_an_angle_has_turned():
    """A mass that is pushed by the angle ω t of a wheel, on which nothing acts, is at ω t³/6."""
    bodies = {"wheel": mbvi.Body(inertia=(1, 1, 1), mass=1), "mass": mbvi.Body(mass=1)}
    joints = {
        "spin": mbvi.Revolute(parent="world", child="wheel", axis=(0, 0, 1)),
        "slide": mbvi.Prismatic(parent="world", child="mass", axis=(1, 0, 0)),
    }
    parts = {"bodies": bodies, "joints": joints, "forces": {"push": mbvi.Motor(joint="slide")}}
    model = mbvi.Model(name="wheel", gravity=(0, 0, 0), initial={"spin": mbvi.Initial(velocity=4)}, **parts)
    run = mbvi.simulate(model, "gauss2", step=0.1, duration=3, inputs={"push": lambda t, q, v: q[0]})
    np.testing.assert_allclose(run.q[:, 1], 4 * run.t**3 / 6, rtol=0, atol=1e-12)
