"""Inputs and parameters of a `Simulator`, changed between its steps."""

import io

import numpy as np
import pytest

import mbvi


@pytest.fixture
def cart_pole():
    """A cart with a motor and a spring of a parameter, and a pole with a servo whose input is a function of time."""
    return mbvi.Model(
        name="cart-pole",
        parameters={"mass": 0.1, "stiffness": 2.0},
        bodies={"cart": mbvi.Body(mass=1), "pole": mbvi.Body(mass="mass", center_of_mass=(0, 0, 0.5))},
        joints={
            "track": mbvi.Prismatic(parent="world", child="cart", axis=(1, 0, 0)),
            "hinge": mbvi.Revolute(parent="cart", child="pole", axis=(0, 1, 0)),
        },
        forces={
            "friction": mbvi.VelocityServo(joint="hinge", damping=0.01, input="sin(t)"),
            "motor": mbvi.Motor(joint="track", effort=10),
            "spring": mbvi.JointSpring(joint="track", stiffness="stiffness"),
            "trim": mbvi.Motor(joint="hinge", input=0.01),
        },
    )


def test_inputs_are_held_during_a_step(cart_pole):
    """By order and by name, and the stored states know what acted when: the same run has a table as input."""
    actions = 3 * np.sin(np.arange(50))
    simulator = mbvi.Simulator(cart_pole, "simpson", step=0.02, initial_q=[0, 0.1])
    assert simulator.inputs == {"motor": 0.0, "trim": 0.01}
    for i, u in enumerate(actions):
        simulator.step([u, 0.01] if i % 2 else {"motor": u})
    assert simulator.inputs == {"motor": actions[-1], "trim": 0.01}
    table = mbvi.Table(times=(0.02 * np.arange(50)).tolist(), values=actions.tolist(), interpolation="hold")
    motor = mbvi.Motor(joint="track", effort=10, input=table)
    same = cart_pole.model_copy(update={"forces": {**cart_pole.forces, "motor": motor}})
    run = mbvi.simulate(same, "simpson", step=0.02, duration=1, initial_q=[0, 0.1])
    found = simulator.trajectory()
    assert np.array_equal(found.q, run.q) and np.array_equal(found.p, run.p)
    assert np.array_equal(found.forces(["motor"])["motor"].values, run.forces(["motor"])["motor"].values)
    assert abs(found.reaction("hinge")[0] - run.reaction("hinge")[0]).max() < 1e-12
    simulator.step({"motor": 9.0})
    assert np.array_equal(found.forces(["motor"])["motor"].values, run.forces(["motor"])["motor"].values)
    assert mbvi.assemble(cart_pole).arrays.inputs.tolist() == [0.0, 0.0, 0.01]


def test_a_saved_state_has_the_inputs(cart_pole):
    """It goes on the same in another simulator, and from a stored state back."""
    simulator = mbvi.Simulator(cart_pole, "simpson", step=0.02)
    simulator.run(0.1, u=[1.0, 0.0])
    file = io.BytesIO()
    np.savez(file, **simulator.state())
    file.seek(0)
    other = mbvi.Simulator(cart_pole, "simpson", step=0.02)
    with np.load(file) as state:
        other.set_state(state)
        simulator.run(0.1, u={"trim": 0.3})
        simulator.set_state(state)
    for each in (simulator, other):
        each.run(0.2)
    assert np.array_equal(simulator.q, other.q) and simulator.inputs == {"motor": 1.0, "trim": 0.0}
    assert len(simulator.trajectory()) == 16
    whole = mbvi.Simulator(cart_pole, "simpson", step=0.02)
    whole.run(0.3, u=[1.0, 0.0])
    assert np.array_equal(whole.trajectory().q, simulator.trajectory().q)
    assert np.array_equal(whole.trajectory().forces()["trim"].values, simulator.trajectory().forces()["trim"].values)


def test_parameters_change_between_steps(cart_pole):
    """The state stays but for the momenta, and what follows is what a new simulator does from there."""
    simulator = mbvi.Simulator(cart_pole, "gauss4", step=0.02, initial_v=[1.0, 0.5])
    simulator.run(0.1, u=[1.0, 0.0])
    q, v = simulator.q, simulator.v
    simulator.set_parameters({"mass": 0.3})
    simulator.set_parameters({"stiffness": 5.0})
    assert np.array_equal(simulator.q, q) and abs(simulator.v - v).max() < 1e-15
    assert (simulator.t, simulator.steps, len(simulator.trajectory())) == (0.1, 5, 1)
    changed = mbvi.assemble(cart_pole).with_parameters({"mass": 0.3, "stiffness": 5.0})
    other = mbvi.Simulator(changed, "gauss4", step=0.02, initial_q=q, initial_v=v, start_time=0.1)
    simulator.run(0.2)
    other.run(0.2, u=[1.0, 0.0])
    assert abs(simulator.q - other.q).max() < 1e-14 and simulator.inputs["motor"] == 1.0
    state = simulator.state()
    with pytest.raises(mbvi.ModelError, match=r"state: expected the parameters mass, stiffness: \[0.1, 2\], found"):
        mbvi.Simulator(cart_pole, "gauss4", step=0.02).set_state(state)
    simulator.reset()
    assert simulator.system.model.resolved().parameters["mass"] == 0.3 and simulator.inputs["motor"] == 0.0


def test_lengths_of_loops_may_change(models):
    """The state is then moved onto the constraints."""
    simulator = mbvi.Simulator(mbvi.load(models / "four_bar.yaml"), step=0.002)
    simulator.run(0.02)
    name, value = next(iter(simulator.system.model.resolved().parameters.items()))
    simulator.set_parameters({name: 1.01 * value})
    simulator.run(0.02)
    run = simulator.trajectory()
    assert len(run) == 11 and run.constraint_residual().max() < 1e-12


@pytest.mark.parametrize(
    ("u", "message"),
    [
        ({"moter": 1.0}, "u: expected an input of an actuator, found 'moter'; did you mean 'motor'?"),
        ({"friction": 1.0}, "u: expected an input that is a number, found 'friction', a function of time"),
        ([1.0], r"u: expected numbers for motor, trim in this order, found \[1\]; or give some by their names"),
        (2.0, "u: expected numbers for motor, trim in this order, found 2; or"),
        (np.zeros((1, 2)), "u: expected numbers for motor, trim in this order, found array"),
        ([1.0, np.nan], "u: expected finite numbers, found nan for trim"),
        (np.ma.masked_array([1.0, 2.0], [True, False]), "u: expected finite numbers, found nan for motor"),
        ({"trim": 1.0, "motor": "fast"}, "u.motor: expected a finite number, found 'fast'"),
    ],
)
def test_inputs_that_cannot_be_set(u, message, cart_pole):
    """Nothing changes, and no step is done."""
    simulator = mbvi.Simulator(cart_pole, step=0.02)
    with pytest.raises(mbvi.ModelError, match=message):
        simulator.step(u)
    assert simulator.inputs == {"motor": 0.0, "trim": 0.01} and simulator.steps == 0


def test_a_model_without_actuators_has_no_inputs(models):
    simulator = mbvi.Simulator(mbvi.load(models / "pendulum.yaml"), step=0.02)
    with pytest.raises(
        mbvi.ModelError, match=r"u: expected none, since no actuator takes a number, found \[1\]; add an"
    ):
        simulator.step([1.0])
    assert simulator.steps == 0


def test_parameters_that_cannot_be(cart_pole):
    """The simulator goes on with what it had."""
    simulator = mbvi.Simulator(cart_pole, step=0.02)
    with pytest.raises(mbvi.ModelError, match="did you mean 'mass'"):
        simulator.set_parameters({"mas": 1.0})
    with pytest.raises(mbvi.ModelError, match="mass"):
        simulator.set_parameters({"mass": -1.0})
    simulator.step({"motor": 1.0})
    assert simulator.system.model.resolved().parameters["mass"] == 0.1
