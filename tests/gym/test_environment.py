"""Models as environments of Gymnasium: its own checker, the states of `simulate`, and many at once as one by one."""

import importlib
import pickle
import sys

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import mbvi
from mbvi.gym import Environment, VectorEnvironment

MODEL = mbvi.Model(
    name="cart-pole",
    parameters={"length": 0.5},
    bodies={"cart": mbvi.Body(mass=1), "pole": mbvi.Body(mass=0.1, center_of_mass=(0, 0, "length"))},
    joints={
        "track": mbvi.Prismatic(parent="world", child="cart", axis=(1, 0, 0)),
        "hinge": mbvi.Revolute(parent="cart", child="pole", axis=(0, 1, 0)),
    },
    forces={
        "motor": mbvi.Motor(joint="track", effort=10),
        "spring": mbvi.PositionServo(joint="hinge", stiffness=1, damping=0.1),
    },
)
LEANS = "abs(q('hinge')) - 12*deg"
STARTS = {"q.hinge.angle": (-0.1, 0.1), "v.track.displacement": (1, 2)}
OPTIONS = {"actions": ["motor"], "starts": STARTS, "scheme": "simpson", "step": 0.01, "period": 0.02}


@pytest.mark.filterwarnings("ignore:.*A Box observation space m.*infinity:UserWarning")
@pytest.mark.filterwarnings("ignore:.*symmetric and normalized space:UserWarning")
def test_the_checker_of_gymnasium():
    check_env(Environment(MODEL, "1 - q('hinge')**2", until=LEANS, duration=0.1, **OPTIONS), skip_render_check=True)


def test_a_period_is_a_run_with_that_input():
    """A position servo holds the pole, and the motor pushes; the same model with the numbers in it."""
    actions = {"motor": (-3, 3), "spring": (-1, 1)}
    environment = Environment(MODEL, "x('cart')", **OPTIONS | {"actions": actions, "period": "0.05", "duration": 0.1})
    first, _ = environment.reset(seed=5)
    assert -0.1 < first[1] < 0.1 and 1 < first[2] < 2 and first[0] == 0 and first[3] == pytest.approx(0, abs=1e-14)
    environment.reset(options={"q.hinge.angle": 0.06, "v.track.displacement": 1.5})
    forces = {"motor": {"input": 3.0}, "spring": {"input": 0.4}}
    model = MODEL.replaced({"forces": {name: force.replaced(forces[name]) for name, force in MODEL.forces.items()}})
    run = mbvi.simulate(model, "simpson", step=0.01, duration=0.1, initial_q=[0, 0.06], initial_v=[1.5, 0])
    found, reward, terminated, truncated, info = environment.step([7.0, 0.4])  # 3 is the most
    assert found.tolist() == [*run.q[5], *run.v[5]] and reward == run.q[5, 0]
    assert (terminated, truncated, info) == (False, False, {})
    assert environment.step([3.0, 0.4])[3] is True
    assert np.array_equal(environment.simulator.trajectory().q, run.q)


def righting(t, q, v):
    return -2.0 * q[1] - 0.1 * v[1]


def test_functions_may_tell_the_other_actuators():
    """They are no actions; what acts is the run with that function."""
    inputs, options = {"spring": righting}, OPTIONS | {"actions": None, "period": 0.05}
    environment = Environment(MODEL, "x('cart')", inputs=inputs, **options)
    assert environment.action_space.shape == (1,)
    environment.reset(options={"q.hinge.angle": 0.06, "v.track.displacement": 1.5})
    environment.step([3.0])
    start = {"initial_q": [0, 0.06], "initial_v": [1.5, 0]}
    run = mbvi.simulate(MODEL, "simpson", step=0.01, duration=0.05, inputs=inputs | {"motor": 3.0}, **start)
    assert np.array_equal(environment.simulator.trajectory().q, run.q)
    with pytest.raises(mbvi.ModelError, match=r"actions: expected an actuator whose input is a number, found 'spring'"):
        Environment(MODEL, "1", inputs=inputs, **options | {"actions": ["spring"]})


def test_many_at_once_are_those_one_by_one():
    """With episodes that end at different times, and begin anew."""

    def reward(t, q, v, u):
        return t - u[0] * v[0]

    options = OPTIONS | {"until": LEANS, "duration": 0.3, "observations": ["sin(q('hinge'))", "v('track')*t"]}
    many = VectorEnvironment(3, MODEL, reward, **options)
    ones = [Environment(MODEL, reward, **options) for _ in range(3)]
    random = np.random.default_rng(2)
    found, _ = many.reset(seed=11)
    assert found.tolist() == [each.reset(seed=11 + i)[0].tolist() for i, each in enumerate(ones)]
    is_over, ends = [False] * 3, 0
    for _ in range(40):
        actions = random.uniform(-10, 10, (3, 1))
        results = [
            (each.reset()[0], 0.0, False, False) if is_over[i] else each.step(actions[i])[:4]
            for i, each in enumerate(ones)
        ]
        is_over = [each[2] or each[3] for each in results]
        ends += sum(is_over)
        for a, b in zip(many.step(actions)[:4], zip(*results, strict=True), strict=True):
            assert np.array_equal(a, b)
    assert ends > 3 and many.observation_space.shape == (3, 2)


def test_functions_are_expressions():
    """A reward, an end and observations by functions and by expressions."""
    by_text = Environment(MODEL, "q('hinge')*v('track')", until=LEANS, observations=["z('pole')", "t"], **OPTIONS)
    by_function = Environment(
        MODEL,
        lambda t, q, v, u: q[1] * v[0],
        until=lambda t, q, v: abs(q[1]) > np.radians(12),
        observations=lambda t, q, v: [0.0, t],
        **OPTIONS,
    )
    assert np.array_equal(by_text.reset(seed=1)[0], by_function.reset(seed=1)[0])
    for _ in range(30):
        one, other = by_text.step([5.0]), by_function.step([5.0])
        assert np.allclose(one[0], other[0]) and one[1:] == other[1:]
    assert one[2]


def test_starts_of_loops_are_moved_onto_them(models):
    model = mbvi.load(models / "four_bar.yaml")
    joint = next(iter(model.joints))
    model = model.replaced({"forces": {"motor": mbvi.Motor(joint=joint, effort=1)}})
    options = {"starts": {f"q.{joint}.angle": (0.5, 0.6)}, "step": 0.01}
    environment = Environment(model, "1", **options)
    environment.reset(seed=2)
    simulator = environment.simulator
    assert np.abs(simulator.system.constraint(simulator.q)).max() < 1e-12
    before = simulator.q
    environment.reset(options={f"q.{joint}.angle": 0.55})
    assert environment.step([0.5])[0].shape == (2 * len(before),) and not np.array_equal(simulator.q, before)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"actions": ["moter"]}, r"actions: expected an actuator whose input is a number, found 'moter'; did you mean"),
        ({"actions": None}, r"actions.spring: expected limits of the input, found none; write for example actions="),
        (
            {"actions": {"motor": (1, -1)}},
            r"actions.motor: expected a pair of numbers, the lower first, found \[1, -1\]",
        ),
        ({"actions": []}, r"actions: expected at least one actuator, and each once, found \[\]"),
        (
            {"actions": ["motor"] * 2},
            r"actions: expected at least one actuator, and each once, found \['motor', 'motor'\]",
        ),
        ({"starts": {"q.hing.angle": (0, 1)}}, "starts: expected a parameter, or an initial value as q"),
        ({"starts": {"length": (0, 1)}}, "starts: expected initial values as q.…, found the parameter 'length'"),
        ({"starts": [1]}, "starts: expected a mapping of names to pairs"),
        ({"period": 0.025}, r"period: expected a multiple of the step, found 2.5 steps; write for example 0.02"),
        ({"period": float("nan")}, r"period: expected a time greater than 0, found nan; write for example 0\.1 \[s\]"),
        ({"period": 0}, r"period: expected a time greater than 0, found 0; write for example 0\.1 \[s\]"),
        ({"observations": ["w('a')"]}, r"observations\[0\]: expected"),
        ({"observations": []}, "observations: expected at least one expression, found none"),
        ({"observations": lambda t, q, v: 1.0}, r"observations: expected a function that returns an array \(k,\)"),
        ({"until": "q('hing')"}, r"until: q\('hing'\): expected a joint, found 'hing'"),
        ({"reward": "1/q('track')"}, r"reward: expected finite numbers, found inf at t = 0 s"),
        ({"reward": lambda t, q, v, u: q}, "reward: expected a function that returns one number, found"),
    ],
)
def test_what_cannot_be_learned(changes, message):
    reward = changes.pop("reward", "1")
    with pytest.raises(mbvi.ModelError, match=message):
        Environment(MODEL, reward, **OPTIONS | changes)


def rewarded(t, q, v, u):
    return float(np.cos(q[1]) - 0.1 * u[0] ** 2)


def test_pickled_ones_go_on_as_those_they_were():
    """In the middle of an episode, and with the random starts of the next ones."""
    one = Environment(MODEL, rewarded, **OPTIONS)
    many = VectorEnvironment(3, MODEL, "1", **OPTIONS)
    one.reset(seed=4)
    many.reset(seed=4)
    for _ in range(5):
        one.step([0.3])
        many.step([[0.3]] * 3)
    for environment, action in ((one, [0.5]), (many, [[0.5]] * 3)):
        other = pickle.loads(pickle.dumps(environment))
        for _ in range(10):
            for found, expected in zip(other.step(action), environment.step(action), strict=True):
                assert np.array_equal(found, expected) if not isinstance(found, dict) else found == expected
        assert np.array_equal(other.reset()[0], environment.reset()[0])


def test_wrong_actions_and_starts(models):
    environment = Environment(MODEL, "1", **OPTIONS)
    for action in ([], [np.nan], [1, 2], "a"):
        with pytest.raises(mbvi.ModelError, match=r"action: expected finite numbers for motor, of shape \(1,\), found"):
            environment.step(action)
        assert environment.simulator.steps == 0
    with pytest.raises(mbvi.ModelError, match=r"options: expected one of the starts, found 'q.hinge'; did you mean"):
        environment.reset(options={"q.hinge": 0.1})
    with pytest.raises(mbvi.ModelError, match=r"options.q.hinge.angle: expected a finite number, found 'up'"):
        environment.reset(options={"q.hinge.angle": "up"})
    with pytest.raises(mbvi.ModelError, match=r"options: expected a mapping of initial values to numbers, found \[1\]"):
        environment.reset(options=[1])
    with pytest.raises(mbvi.ModelError, match="seed: expected a whole number of at least 0, found -1"):
        environment.reset(seed=-1)
    many = VectorEnvironment(2, MODEL, "1", **OPTIONS)
    with pytest.raises(
        mbvi.ModelError, match=r"action: expected finite numbers for motor, of shape \(2, 1\), found \[1\]"
    ):
        many.step([1])
    for seed in ([1], 1.5, "ab"):
        with pytest.raises(mbvi.ModelError, match="seed: expected a whole number, or 2 of them, one for each, found"):
            many.reset(seed=seed)
    with pytest.raises(mbvi.ModelError, match=r"seed\[1\]: expected a whole number of at least 0, found 0.5"):
        many.reset(seed=[1, 0.5])
    with pytest.raises(
        mbvi.ModelError, match="actions: expected a model with actuators whose inputs are numbers, found"
    ):
        Environment(mbvi.load(models / "pendulum.yaml"), "1")


def test_the_one_of_many_that_fails_is_named():
    """By a force without a value beyond some place, which one of two carts reaches."""
    force = mbvi.JointPotential(joint="track", potential="sqrt(1.5 - x)")
    model = MODEL.model_copy(update={"forces": {**MODEL.forces, "edge": force}})
    many = VectorEnvironment(
        2, model, "1", **OPTIONS | {"starts": {"q.track.displacement": (0, 1.4)}, "initial_v": [1.0, 0.0]}
    )
    first, _ = many.reset(seed=3)
    assert first[0, 0] + 0.2 < first[1, 0]

    def go_on():
        while True:
            many.step(np.zeros((2, 1)))

    with pytest.raises(mbvi.StepError, match=r"simulators\[1\]: step \d+ \(t = ") as caught:
        go_on()
    assert len(caught.value.trajectory) == many.simulators[1].steps + 1 <= many.simulators[0].steps


def test_without_gymnasium(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("mbvi.gym")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(
        mbvi.ModelError, match=r"mbvi.gym: expected gymnasium, found none; install it with: pip install"
    ):
        importlib.import_module("mbvi.gym")
