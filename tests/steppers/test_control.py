"""Sampled controllers: what they see and when, and that a run goes on with them."""

import numpy as np
import pytest

import mbvi


class Integral:
    """A law with a state: the sum of the errors that it was shown."""

    def __init__(self, fails_at=np.inf):
        self.fails_at, self.times, self.total = fails_at, [], 0.0

    def begin(self, system, t, q, v):
        self.total = 0.0

    def __call__(self, t, q, v):
        if t > self.fails_at:
            raise ValueError("no more power")
        self.times.append(t)
        self.total += 0.5 - q[0]
        return 0.4 * (0.5 - q[0]) - 0.02 * v[0] + 0.02 * self.total

    def state(self):
        return {"total": np.array(self.total)}

    def set_state(self, state):
        self.total = float(state["total"])


@pytest.fixture
def double_pendulum(models):
    """With motors in both joints."""
    model = mbvi.load(models / "double_pendulum.yaml")
    forces = {"shoulder": mbvi.Motor(joint="shoulder"), "elbow": mbvi.Motor(joint="elbow")}
    return model.model_copy(update={"forces": forces})


@pytest.mark.parametrize(("period", "delay"), [(0.02, 0.03), (0.0237, 0.0), (0.0237, 0.0301)])
@pytest.mark.parametrize("every", [1, 5])
def test_a_resumed_run_is_the_uninterrupted_one(period, delay, every, double_pendulum, tmp_path):
    """To the last bit, where steps are divided too; and a file has what the controller gave."""
    arguments = {"scheme": "simpson", "step": 0.01, "every": every}

    def controllers():
        return {"hold": mbvi.Controller(Integral(), period, ["elbow"], delay=delay, limits=0.3)}

    whole = mbvi.simulate(double_pendulum, duration=1, controllers=controllers(), **arguments)
    path = tmp_path / "run.h5"
    mbvi.simulate(double_pendulum, duration=0.45, controllers=controllers(), path=path, **arguments)
    resumed = mbvi.resume(path, duration=1, controllers=controllers())
    assert np.array_equal(resumed.q, whole.q) and np.array_equal(resumed.p, whole.p)
    whole.save(tmp_path / "whole.h5")
    for other in (resumed, mbvi.read(path), mbvi.read(tmp_path / "whole.h5")):
        for key in ("t", "acts", "asked", "values"):
            assert np.array_equal(getattr(other.samples["hold"], key), getattr(whole.samples["hold"], key)), key
        assert np.array_equal(other.forces(["elbow"])["elbow"].values, whole.forces(["elbow"])["elbow"].values)
    assert (abs(whole.samples["hold"].asked) > 0.3).any() and abs(whole.samples["hold"].values).max() == 0.3


def test_it_is_called_at_its_times(double_pendulum):
    """With the state there, and what it asks for acts after the delay."""
    law = Integral()
    controller = mbvi.Controller(law, 0.025, ["elbow"], delay=0.013)
    run = mbvi.simulate(double_pendulum, "gauss4", step=0.01, duration=0.2, controllers={"hold": controller})
    assert law.times == pytest.approx(0.025 * np.arange(8), abs=1e-15)
    samples = run.samples["hold"]
    assert samples.t.tolist() == law.times and samples.acts == pytest.approx(samples.t + 0.013)
    force = run.forces(["elbow"])["elbow"].values[:, 0]
    expected = [samples.values[samples.acts <= t + 1e-12, 0][-1] if t >= 0.013 else 0.0 for t in run.t]
    assert force == pytest.approx(np.array(expected), abs=1e-12)
    seen = run.at(samples.t)
    errors = 0.5 - seen.q[:, 0]
    found = 0.4 * errors - 0.02 * seen.v[:, 0] + 0.02 * np.cumsum(errors)
    assert samples.values[:, 0] == pytest.approx(found, abs=1e-9)


@pytest.mark.parametrize("scheme", ["simpson", "rk4", "suzuki4"])
def test_it_is_a_loop_around_a_simulator(scheme, double_pendulum):
    """The same states to the last bit, where the period is that of the steps."""
    controllers = {"hold": mbvi.Controller(Integral(), 0.01, ["elbow"])}
    run = mbvi.simulate(double_pendulum, scheme, step=0.01, duration=0.3, controllers=controllers)
    simulator, law = mbvi.Simulator(double_pendulum, scheme, step=0.01), Integral()
    for t in run.t[:-1]:
        simulator.step({"elbow": law(t, simulator.q, simulator.v)})
    found = simulator.trajectory()
    assert np.array_equal(found.q, run.q)
    assert np.array_equal(found.samples["simulator"].values[:, 1:], run.samples["hold"].values)


def test_dividing_steps_keeps_the_order(double_pendulum):
    """A held input that jumps within steps costs nothing, since these end there."""

    def law(t, q, v):
        return np.sin(40 * t)

    ends = []
    for h in (0.02, 0.01, 0.005, 0.001):
        controllers = {"wave": mbvi.Controller(law, 0.0437, ["elbow"])}
        ends.append(mbvi.simulate(double_pendulum, "lobatto4", step=h, duration=1, controllers=controllers).q[-1])
    errors = np.abs(np.array(ends[:3]) - ends[3]).max(axis=1)
    assert (np.log2(errors[:-1] / errors[1:]) > 5.3).all(), errors


def test_events_and_loops(models):
    """A run of a loop with a controller ends at an event, and has no calls after it."""
    model = mbvi.load(models / "four_bar.yaml")
    model = model.model_copy(update={"forces": {"motor": mbvi.Motor(joint=next(iter(model.joints)))}})

    def law(t, q, v):
        return 0.5 - 0.1 * v[0]

    def late(t, q, v):
        return t - 0.051

    controllers = {"motor": mbvi.Controller(law, 0.004)}
    run = mbvi.simulate(model, "simpson", step=0.002, duration=0.2, until=late, controllers=controllers)
    assert run.t[-1] == pytest.approx(0.051) and run.samples["motor"].t[-1] == pytest.approx(0.048)
    plain = mbvi.simulate(model, "simpson", step=0.002, duration=0.05, controllers=controllers)
    assert np.array_equal(plain.q, run.q[:-1])
    odd = {"motor": mbvi.Controller(law, 0.003)}
    with pytest.raises(mbvi.ModelError, match=r"controllers.motor: expected a period of whole steps, where events are"):
        mbvi.simulate(model, "simpson", step=0.002, duration=0.2, until=late, controllers=odd)
    assert (
        mbvi.simulate(model, "simpson", step=0.002, duration=0.1, controllers=odd).constraint_residual().max() < 1e-12
    )


def test_what_was_computed_is_kept(double_pendulum, tmp_path):
    """Where a controller raises: the error says where."""
    for path in (None, tmp_path / "run.h5"):
        controllers = {"hold": mbvi.Controller(Integral(fails_at=0.5), 0.02, ["elbow"])}
        with pytest.raises(mbvi.StepError) as raised:
            mbvi.simulate(double_pendulum, step=0.01, duration=1, controllers=controllers, path=path)
        text = "controllers.hold: at t = 0.52 s it raised ValueError: no more power. The stored states before it are in"
        assert str(raised.value).startswith(text) and isinstance(raised.value.__cause__, ValueError)
        kept = raised.value.trajectory
        assert kept.t[-1] == pytest.approx(0.52) and kept.samples["hold"].t[-1] == 0.5
    assert mbvi.read(path).t[-1] == pytest.approx(0.52)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (lambda t, q, v: [1.0, np.nan], "[1, nan]"),
        (lambda t, q, v: 1.0, "1"),
        (lambda t, q, v: "full", "'full'"),
        (lambda t, q, v: None, "nothing"),
    ],
)
def test_what_are_no_inputs(given, found, double_pendulum):
    """The error says when, what was expected, and what was found."""
    with pytest.raises(mbvi.StepError) as raised:
        mbvi.simulate(double_pendulum, step=0.01, duration=1, controllers={"hold": mbvi.Controller(given, 0.02)})
    text = "controllers.hold: at t = 0 s: expected finite numbers for shoulder, elbow, found"
    assert str(raised.value).startswith(f"{text} {found}. "), raised.value


class Stateful:
    """A law that has a state, and begins another."""

    def __init__(self, first, then):
        self.now, self.then = first, then

    def __call__(self, t, q, v):
        self.now = self.then
        return [0.0, 0.0]

    def state(self):
        return self.now

    def set_state(self, state):
        self.now = state


@pytest.mark.parametrize(
    ("first", "then", "message"),
    [
        (3, 3, r"controllers.hold: state: expected a mapping of names to arrays, found 3"),
        (
            {1: 2.0},
            None,
            r"controllers.hold: state: expected a mapping of names to arrays, found a mapping with the keys 1",
        ),
        ({"a": "b"}, None, r"controllers.hold: state: a: expected an array of numbers, found 'b'"),
        (
            {"a": [[1], [1, 2]]},
            None,
            r"controllers.hold: state: a: expected an array of numbers, found \[\[1\], \[1, 2\]\]",
        ),
        (
            {"a": 0},
            {"a": 0.5},
            r"state: ValueError: a is of the type int64 at first, and float64 now; let it begin with",
        ),
        ({"a": 0.0}, {"a": [0.5]}, r"state: ValueError: its state became one of other names or shapes"),
    ],
)
def test_what_is_no_state(first, then, message, double_pendulum):
    """Whole numbers that become others would lose what is behind the point."""
    controllers = {"hold": mbvi.Controller(Stateful(first, then), 0.02)}
    with pytest.raises((mbvi.ModelError, mbvi.StepError), match=message):
        mbvi.simulate(double_pendulum, step=0.01, duration=0.1, controllers=controllers)


def zero(t, q, v):
    """A law."""
    return 0.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: mbvi.Controller(1, 0.1),
            "law: expected a function (t, q, v), or (t, measured), or an object that can be called so, found 1",
        ),
        (lambda: mbvi.Controller(zero, 0), "period: expected a time greater than 0, found 0"),
        (lambda: mbvi.Controller(zero, 0.1, delay=-1), "delay: expected a time of at least 0, found -1"),
        (lambda: zero, "controllers.hold: expected a Controller, found"),
        (
            lambda: mbvi.Controller(zero, 0.1, ["elbov"]),
            "controllers.hold: inputs: expected an input of an actuator, found",
        ),
        (
            lambda: mbvi.Controller(zero, 0.1, limits={"wrist": 1}),
            "controllers.hold: limits: expected one of shoulder, elbow",
        ),
        (
            lambda: mbvi.Controller(zero, 0.1, limits=(2, 1)),
            "controllers.hold: limits: expected a number greater than 0, or",
        ),
    ],
)
def test_controllers_that_cannot_be(make, message, double_pendulum):
    """Each is refused before the run."""
    with pytest.raises(mbvi.ModelError) as raised:
        mbvi.simulate(double_pendulum, step=0.01, duration=1, controllers={"hold": make()})
    assert str(raised.value).startswith(message)


def test_two_controllers(double_pendulum):
    """Each has inputs of its own."""
    one, two = mbvi.Controller(zero, 0.02, ["elbow"]), mbvi.Controller(lambda t, q, v: [0, 0], 0.03)
    with pytest.raises(
        mbvi.ModelError, match=r"controllers.b: inputs: expected an input that a does not have, found 'elbow'"
    ):
        mbvi.simulate(double_pendulum, step=0.01, duration=1, controllers={"a": one, "b": two})
    two = mbvi.Controller(zero, 0.03, ["shoulder"])
    run = mbvi.simulate(double_pendulum, step=0.01, duration=0.3, controllers={"a": one, "b": two})
    assert (len(run.samples["a"]), len(run.samples["b"])) == (15, 10)


def test_another_controller_cannot_go_on(double_pendulum, tmp_path):
    """A run that is resumed needs those of its file."""
    path, controllers = tmp_path / "run.h5", {"a": mbvi.Controller(zero, 0.02, ["elbow"])}
    mbvi.simulate(double_pendulum, step=0.01, duration=0.3, controllers=controllers, path=path)
    with pytest.raises(mbvi.ModelError, match=r"controllers: expected a, found none; pass them as to simulate"):
        mbvi.resume(path, duration=1)
    with pytest.raises(mbvi.ModelError, match=r"expected a, found a with other inputs, periods, delays or sensors"):
        mbvi.resume(path, duration=1, controllers={"a": mbvi.Controller(zero, 0.01, ["elbow"])})
