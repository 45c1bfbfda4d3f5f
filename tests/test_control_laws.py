"""Laws of controllers, against closed forms and the equations of motion."""

import numpy as np
import pytest
from scipy.linalg import expm

import mbvi
from mbvi.control import PD, PID, ComputedTorque, GravityCompensation


@pytest.fixture
def oscillator():
    """x'' + x = u, by a motor with a gear."""
    cart, rail = mbvi.Body(mass=1), mbvi.Prismatic(parent="world", child="cart", axis=(1, 0, 0))
    forces = {"spring": mbvi.JointSpring(joint="rail", stiffness=1), "motor": mbvi.Motor(joint="rail", gear=4)}
    return mbvi.Model(name="oscillator", gravity=(0, 0, 0), bodies={"cart": cart}, joints={"rail": rail}, forces=forces)


def test_a_sampled_pid_has_its_closed_form(oscillator):
    """Of the linear recursion from call to call; the errors have the order of the scheme."""
    period, gains = 0.1, (3.0, 1.5, 0.8)
    whole = expm(period * np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]))
    x, total = np.array([1.0, 0.0]), 0.0
    for call in range(50):
        total += period * -x[0] if call else 0.0
        u = gains[0] * -x[0] - gains[1] * x[1] + gains[2] * total
        x = whole[:2] @ np.array([*x, u])
    errors = []
    for step in (0.1, 0.05, 0.025):
        law = PID(["motor"], 0.0, stiffness=gains[0], damping=gains[1], integral=gains[2])
        controllers = {"pid": mbvi.Controller(law, period)}
        run = mbvi.simulate(oscillator, "simpson", step=step, duration=5, initial_q=[1], controllers=controllers)
        errors.append(np.abs([run.q[-1, 0] - x[0], run.v[-1, 0] - x[1]]).max())
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx([4, 4], abs=0.1)


def test_a_shorter_period_approaches_the_continuous_pid(oscillator):
    """By order 1, as a held input does."""
    matrix = np.array([[0.0, 1.0, 0.0], [-4.0, -1.5, 0.8], [-1.0, 0.0, 0.0]])
    exact = (expm(5 * matrix) @ [1.0, 0.0, 0.0])[0]
    errors = []
    for period in (0.02, 0.01, 0.005):
        law = PID(["motor"], 0.0, stiffness=3, damping=1.5, integral=0.8)
        controllers = {"pid": mbvi.Controller(law, period)}
        run = mbvi.simulate(oscillator, "simpson", step=period, duration=5, initial_q=[1], controllers=controllers)
        errors.append(abs(run.q[-1, 0] - exact))
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx([1, 1], abs=0.1)


def test_gravity_is_compensated(models):
    """An arm stays where it is; a push moves it against the damping alone."""
    model = mbvi.load(models / "double_pendulum.yaml")
    forces = {"shoulder": mbvi.Motor(joint="shoulder", gear=10), "elbow": mbvi.Motor(joint="elbow")}
    model = model.model_copy(update={"forces": forces})
    controllers = {"hold": mbvi.Controller(GravityCompensation(["elbow", "shoulder"]), 0.01)}
    run = mbvi.simulate(model, step=0.01, duration=2, initial_q=[1.2, 0.7], initial_v=[0, 0], controllers=controllers)
    assert abs(run.q - [1.2, 0.7]).max() < 1e-12
    held = run.samples["hold"].values[0]
    assert held * [1, 10] == pytest.approx(run.system.gravity(np.array([1.2, 0.7]))[::-1])


def test_computed_torque_of_a_loop(models):
    """The crank of a four-bar moves as the controller asks, and a resumed run goes on the same."""
    model = mbvi.load(models / "four_bar.yaml")
    joint = next(iter(model.joints))
    model = model.model_copy(update={"forces": {"motor": mbvi.Motor(joint=joint)}})
    start = mbvi.simulate(model, step=0.002, duration=0.002)
    (x, *_), (rate, *_) = start.q[0], start.v[0]

    def target(t):
        return x + rate * t + 0.5 * np.sin(3 * t) ** 2, rate + 1.5 * np.sin(6 * t), 9 * np.cos(6 * t)

    ends = []
    for period in (0.008, 0.004, 0.002):
        law = ComputedTorque(["motor"], target, stiffness=100, damping=20)
        run = mbvi.simulate(model, step=0.002, duration=0.4, controllers={"path": mbvi.Controller(law, period)})
        ends.append(abs(run.q[:, 0] - [target(t)[0] for t in run.t]).max())
    assert np.log2(np.array(ends[:-1]) / ends[1:]) == pytest.approx([1, 1], abs=0.25) and ends[-1] < 0.01


def test_pd_follows(oscillator):
    """A moving target with its rate."""
    law = PD(["motor"], lambda t: (np.sin(t), np.cos(t)), stiffness=400, damping=40)
    run = mbvi.simulate(oscillator, step=0.005, duration=5, controllers={"pd": mbvi.Controller(law, 0.005)})
    assert abs(run.q[-200:, 0] - np.sin(run.t[-200:])).max() < 1e-2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: PD(["motor"], 0, stiffness=[1, 2], damping=1),
            "PD: stiffness: expected a finite number, found [1, 2]",
        ),
        (lambda: PD([], 0, stiffness=1, damping=1), "inputs: expected at least one actuator, found none"),
        (
            lambda: PID(["moter"], 0, stiffness=1, damping=1),
            "controllers.a: inputs: expected an input of an actuator, found",
        ),
        (
            lambda: ComputedTorque(["motor"], 1, stiffness=1, damping=1),
            "ComputedTorque: target: expected a function of the",
        ),
    ],
)
def test_laws_that_cannot_be(make, message, oscillator):
    """Each is refused before the run."""
    with pytest.raises(mbvi.ModelError) as raised:
        mbvi.simulate(oscillator, step=0.01, duration=0.1, controllers={"a": mbvi.Controller(make(), 0.01)})
    assert str(raised.value).startswith(message)
