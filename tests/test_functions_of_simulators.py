"""A `Simulator` whose actuators functions of the state drive, as those of `simulate`."""

import copy
import io
import pickle

import numpy as np
import pytest

import mbvi
from mbvi.control import PD

H, START = 0.02, {"initial_q": [1.0, 0.5]}
SECOND = ([0.0, 0.3, 1.0], [0.0, 0.4, 0.1])


def arm(length=1.0):
    """Two links, whose motors are a geared one with a limit, which is reached, one, and one that is a number."""
    rod = mbvi.Body(mass=2, center_of_mass=(0, 0, -0.5), inertia=(0.2, 0.2, 0.01))
    hand = mbvi.Body(mass="load", center_of_mass=(0, 0, -0.3), inertia=(0.05, 0.05, 0.01))
    return mbvi.Model(
        name="arm",
        parameters={"load": 1.0},
        bodies={"rod": rod, "hand": hand},
        joints={
            "shoulder": mbvi.Revolute(parent="world", child="rod", axis=(0, 1, 0)),
            "elbow": mbvi.Revolute(parent="rod", child="hand", position=(0, 0, -length), axis=(0, 1, 0)),
        },
        forces={
            "first": mbvi.Motor(joint="shoulder", gear=3, effort=1.5),
            "second": mbvi.Motor(joint="elbow"),
            "trim": mbvi.Motor(joint="elbow"),
        },
        sensors={"pull": mbvi.ForceSensor(joint="elbow", period=0.03)},
    )


def law(t, q, v):
    return 0.5 * np.sin(3 * t) - 2 * q[0] - 0.3 * v[0]


INPUTS = {"first": law, "second": SECOND}


def simulator(scheme="lobatto4", inputs=INPUTS, **options):
    return mbvi.Simulator(arm(), scheme, step=H, inputs=inputs, **START, **options)


@pytest.mark.parametrize(("scheme", "formulation"), [("lobatto4", "tree"), ("rk4", "tree"), ("kahan_li6", "embedding")])
def test_it_equals_simulate_to_the_last_bit(scheme, formulation):
    """States, forces, reactions and sensors, by steps and by `run`, and from the file of either."""
    options = {"step": H, "inputs": INPUTS, "formulation": formulation} | (START if formulation == "tree" else {})
    run = mbvi.simulate(arm(), scheme, duration=1, **options)
    by_steps, at_once = (mbvi.Simulator(arm(), scheme, **options) for _ in range(2))
    for _ in range(50):
        by_steps.step()
    at_once.run(1.0)
    for found in (by_steps.trajectory(), at_once.trajectory()):
        assert np.array_equal(found.q, run.q) and np.array_equal(found.p, run.p)
        for name in ("first", "second", "trim"):
            assert np.array_equal(found.forces([name])[name].values, run.forces([name])[name].values)
        assert np.array_equal(found.reaction("elbow")[0], run.reaction("elbow")[0])
    assert by_steps.measurements()["pull"] == pytest.approx(run.measurements()["pull"].values[-1], abs=1e-9)
    assert np.array_equal(by_steps.now.forces(["first"])["first"].values[0], run.forces(["first"])["first"].values[-1])


def test_others_can_still_be_set(tmp_path):
    """By a loop, while functions give theirs; files keep both, and states between follow when the functions are given again."""
    actions = np.sin(np.arange(50) / 7)
    loop = simulator()
    assert loop.inputs == {"trim": 0.0}
    for u in actions:
        loop.step([u])
    table = mbvi.Table(times=(H * np.arange(50)).tolist(), values=actions.tolist(), interpolation="hold")
    run = mbvi.simulate(arm(), "lobatto4", step=H, duration=1, inputs=INPUTS | {"trim": table}, **START)
    found = loop.trajectory()
    assert np.array_equal(found.q, run.q)
    found.save(tmp_path / "loop.h5")
    for each in (mbvi.read(tmp_path / "loop.h5"), pickle.loads(pickle.dumps(found))):
        assert np.array_equal(each.forces(["trim"])["trim"].values, run.forces(["trim"])["trim"].values)
        between = each.at([0.013, 0.5, 0.77], inputs={"first": law})
        assert np.array_equal(between.q, found.at([0.013, 0.5, 0.77]).q)
        assert np.array_equal(between.reaction("elbow")[0], found.at([0.013, 0.5, 0.77]).reaction("elbow")[0])
    with pytest.raises(
        mbvi.ModelError, match="u: expected an input that is a number, found 'first', a function of the"
    ):
        loop.step({"first": 1.0})


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_copies_go_on_by_themselves(copied):
    one, other = simulator(), simulator()
    one.run(0.2)
    other.run(0.2)
    twin = copied(one)
    twin.run(0.3, u=[0.3])
    one.run(0.1)
    other.run(0.3, u=[0.3])
    assert np.array_equal(twin.q, other.q) and np.array_equal(twin.p, other.p)
    twin.reset()
    twin.run(0.1)
    assert np.array_equal(twin.q, one.trajectory().q[5])


def test_what_is_changed_between_steps_leaves_the_functions():
    """Parameters, locks and a restart: the rest is as with the same force in a model of other numbers."""
    one = simulator("gauss4")
    one.run(0.1)
    one.set_parameters({"load": 2.0})
    model = arm().model_copy(update={"parameters": {"load": 2.0}})
    other = mbvi.Simulator(model, "gauss4", step=H, initial_q=one.q, initial_v=one.v, start_time=one.t, inputs=INPUTS)
    one.run(0.2)
    other.run(0.2)
    assert one.q == pytest.approx(other.q, abs=1e-13) and one.now.forces(["first"])["first"].values[0] != 0
    one.lock("shoulder")
    one.run(0.1)
    assert one.now.forces(["first"])["first"].values[0, 0] == pytest.approx(
        np.clip(3 * law(one.t, one.q, one.v), -4.5, 4.5)
    )
    one.reset()
    assert one.system.input_names and one.now.forces(["first"])["first"].values[0, 0] == pytest.approx(-4.5)


def test_a_saved_state_goes_on_where_the_same_actuators_have_functions():
    one, other = simulator(), simulator()
    one.run(0.3, u=[0.2])
    file = io.BytesIO()
    np.savez(file, **one.state())
    file.seek(0)
    with np.load(file) as state:
        other.set_state(state)
        with pytest.raises(mbvi.ModelError, match=r"joints, and the inputs by functions .*first.*, found \['lobatto4'"):
            simulator(inputs={"first": law, "second": lambda t, q, v: 0.0}).set_state(state)
    one.run(0.3)
    other.run(0.3)
    assert np.array_equal(one.q, other.q)


GAIN = 2.0


def gained(t, q, v):
    return -GAIN * q[0]


def test_a_changed_value_from_outside_is_refused_until_it_is_made_again():
    """Also after a reset and in a copy that shares it, so that it is never stale; with a force of one's own beside it too."""
    global GAIN
    own = mbvi.assemble(arm(), force=lambda t, q, v, F: None)
    for model in (arm(), own):
        loop = mbvi.Simulator(model, step=H, inputs={"first": gained}, **START)
        twin = copy.deepcopy(loop)
        loop.step()
        try:
            GAIN = 3.0
            for each in (loop, twin):
                with pytest.raises(
                    mbvi.ModelError, match=r"inputs.first: expected GAIN, which the function reads, as it"
                ):
                    each.step()
                each.reset()
                with pytest.raises(mbvi.ModelError, match="GAIN"):
                    each.run(0.1)
        finally:
            GAIN = 2.0
        loop.run(0.1)
        assert loop.steps == 5


def own_force(t, q, v, F):
    F[0] -= GAIN * v[0]


def test_a_value_that_changed_before_the_run_is_refused_with_functions_too():
    """A force of one's own was compiled with the system, and functions of the state do not renew it."""
    global GAIN
    system = mbvi.assemble(arm(), force=own_force)
    try:
        GAIN = 3.0
        for inputs in (None, {"first": law}):
            with pytest.raises(
                mbvi.ModelError, match="GAIN, which the function reads, as it was when the system was made"
            ):
                mbvi.simulate(system, step=H, duration=0.1, inputs=inputs)
    finally:
        GAIN = 2.0


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"frist": law}, "inputs: expected an actuator, found 'frist'; did you mean 'first'?"),
        ({"first": lambda t, q: 0.0}, r"inputs.first: expected a function input\(t, q, v\), found"),
        (
            {"first": lambda t, q, v: 1 / (t - t)},
            r"inputs.first: expected a finite number, found .* at the start, t = 0 s",
        ),
        ({("first", "first"): law}, "inputs: expected one function for each actuator, found two for 'first'"),
        ([law], "inputs: expected a mapping of actuators to their inputs"),
        (
            {"first": mbvi.Controller(law, period=0.1)},
            r"inputs.first: expected an input over time, or a function input\(t, q, v\), found Controller\(.*; simulate calls "
            r"objects between steps, as controllers={NAME: mbvi.Controller\(…, period=…\)}; a loop calls them itself, as simul",
        ),
        (
            {("first", "second"): PD(["first", "second"], 0.0, stiffness=1, damping=1)},
            r"inputs.first, second: expected an input over time, or a function inputs\(t, q, v, u\), found .*PD object",
        ),
    ],
)
def test_inputs_that_cannot_be(inputs, message):
    with pytest.raises(mbvi.ModelError, match=message):
        simulator(inputs=inputs)


def logarithm(t, q, v):
    return np.log(0.5 - t)


def test_a_function_without_a_value_ends_it_and_names_the_actuator():
    loop = simulator(inputs={"first": logarithm})
    with pytest.raises(mbvi.StepError, match="the function that gives first has no finite value there") as caught:
        loop.run(1.0)
    assert len(caught.value.trajectory) == loop.steps + 1 == 26  # the last is at its limit, to which −inf is cut


# --------------------------------------------------------------------------- states between those of a file


@pytest.fixture
def read(tmp_path):
    """A run with a function and a controller, and the same from its file."""
    hold = mbvi.Controller(lambda t, q, v: [0.3 - q[1]], period=0.05, delay=0.013, inputs=["trim"])
    path = tmp_path / "run.h5"
    options = {"inputs": INPUTS, "controllers": {"hold": hold}, "path": path} | START
    return mbvi.simulate(arm(), "lobatto4", step=H, duration=1, every=2, **options), mbvi.read(path)


TIMES = np.linspace(0.001, 0.999, 37)


def test_states_between_those_of_a_file(read):
    """As of the run itself, to the last bit, when the functions are given again; also on cubics, and again between those."""
    run, found = read
    for fast in (False, True):
        one, other = run.at(TIMES, fast), found.at(TIMES, fast, inputs={"first": law})
        assert np.array_equal(one.q, other.q) and np.array_equal(one.p, other.p)
        for name in ("first", "trim"):
            assert np.array_equal(one.forces([name])[name].values, other.forces([name])[name].values)
    assert np.array_equal(run.at(TIMES, inputs={"first": law}).q, run.at(TIMES).q)


def other_law(t, q, v):
    return 0.5 * np.sin(3 * t) - 2 * q[0] - 0.31 * v[0]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (
            None,
            r"inputs: expected functions for first, found none; pass them as to simulate: trajectory.at\(times, inputs=",
        ),
        ({"second": law}, "inputs: expected functions for first, found second; pass them"),
        ({"first": 1.0}, "inputs: expected functions of the state alone, found 'first'; "),
        (
            {"first": other_law},
            r"inputs.first: expected the function of the run, which gave it .* at t = .* s, found one that",
        ),
    ],
)
def test_functions_that_are_none_of_the_run(inputs, message, read):
    with pytest.raises(mbvi.ModelError, match=message):
        read[1].at([0.11], inputs=inputs)


def test_a_run_without_functions_takes_none():
    run = mbvi.simulate(arm(), step=H, duration=0.1)
    with pytest.raises(mbvi.ModelError, match="inputs: expected functions for none, found first"):
        run.at([0.03], inputs={"first": law})
