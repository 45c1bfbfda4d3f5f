"""States between steps, events, inputs and simulators where stops and dry friction act."""

import math

import numpy as np
import pytest

import mbvi
from mbvi.model import Model, from_yaml
from tests.steppers.test_contacts import BALL, RESTING, RUBBING

PUCK = Model(
    name="puck",
    gravity=(0, 0, 0),
    bodies={"puck": mbvi.Body(mass=1)},
    joints={
        "x": mbvi.Prismatic(
            parent="world", child="puck", axis=(1, 0, 0), limits={"displacement": mbvi.Limits(lower=0, restitution=0.5)}
        )
    },
    forces={"motor": mbvi.Actuator(joint="x", input=0.0)},
    initial={"x": {"position": 0.5}},
)


def height(t: float, h: float = 1.0, g: float = 10.0, e: float = 0.8) -> float:
    """Of a ball that bounces."""
    begin, v = -math.sqrt(2 * h / g), math.sqrt(2 * h * g)
    while t > begin + 2 * v / g:
        begin, v = begin + 2 * v / g, e * v
    return v * (t - begin) - g * (t - begin) ** 2 / 2


def place(t: float) -> float:
    """Of the puck, which is pushed by −2 N until t = 1.7 s, and by 2 N from then on."""
    root = math.sqrt(0.5)
    if t <= root:
        return 0.5 - t * t
    if t <= 2 * root:
        return root * (t - root) - (t - root) ** 2
    late = min(t, 1.7) - 2 * root
    x, v = 0.5 * root * late - late**2, 0.5 * root - 2 * late
    return x + v * max(t - 1.7, 0.0) + max(t - 1.7, 0.0) ** 2


class Push:
    """The law of the puck's motor."""

    def __call__(self, t, q, v):
        return -2.0 if t < 1.69 else 2.0


@pytest.mark.parametrize("every", [1, 5])
def test_states_between_steps_are_those_of_the_part_that_they_are_in(every):
    run = mbvi.simulate(from_yaml(BALL), "simpson", step=0.1, duration=3, every=every)
    times = np.linspace(0, 3, 64)
    for found in (run.at(times), run.at(times, fast=True), run.at(np.linspace(0, 3, 7)).at(times)):
        assert found.q[:, 0] == pytest.approx([height(t) for t in times], abs=1e-13)
        assert np.ptp(found.energy() + found.energy_taken()) < 1e-13
    after = run.at(run.contacts.t[:1])
    assert after.p[0] == pytest.approx(0.8 * math.sqrt(20), abs=1e-13)


@pytest.mark.parametrize(("text", "start"), [(RUBBING, [0.5, 0.6]), (RESTING, [1.0, 0.0])])
def test_states_between_steps_are_as_exact_as_those_after_them(text, start):
    coarse, fine = (
        mbvi.simulate(from_yaml(text), "lobatto4", step=h, duration=2.4, initial_q=start) for h in (0.1, 0.0125)
    )
    assert np.abs(coarse.at(fine.t).q - fine.q).max() < 1.5 * np.abs(coarse.q - fine.q[::8]).max()


def test_events_are_found_before_and_after_impacts():
    def half(t, q, v):
        return q[0] - 0.5

    def turn(t, q, v):
        return v[0]

    run = mbvi.simulate(from_yaml(BALL), "simpson", step=0.3, duration=1.2, events={"half": half, "turn": turn})
    first, second = math.sqrt(0.2), math.sqrt(0.2) * 2.6
    assert run.events["half"].t == pytest.approx(
        [math.sqrt(0.1), *(1.8 * first + np.array([-1, 1]) * math.sqrt(0.028))]
    )
    assert run.events["turn"].t == pytest.approx([first, 1.8 * first, second], abs=1e-14)
    assert run.events["turn"].v[0] == pytest.approx(0.8 * math.sqrt(20), abs=1e-13)
    top = mbvi.simulate(from_yaml(BALL), "simpson", step=0.3, duration=9, until=mbvi.Event(turn, direction=-1))
    assert top.t[-1] == pytest.approx(1.8 * first, abs=1e-14)
    assert len(top.contacts) == 1


@pytest.mark.parametrize("period", [0.1, 0.17])
def test_controllers_push_what_bounces(tmp_path, period):
    def laws() -> dict:
        return {"push": mbvi.Controller(Push(), period=period, inputs=["motor"])}

    run = mbvi.simulate(PUCK, "simpson", step=0.05, duration=2, controllers=laws())
    assert len(run.contacts) == 2
    assert run.q[:, 0] == pytest.approx([place(t) for t in run.t], abs=1e-13)
    times = np.linspace(0, 2, 37)
    assert run.at(times).q[:, 0] == pytest.approx([place(t) for t in times], abs=1e-13)
    mbvi.simulate(PUCK, "simpson", step=0.05, duration=1, controllers=laws(), path=tmp_path / "run.h5")
    found = mbvi.resume(tmp_path / "run.h5", duration=2, controllers=laws())
    assert np.array_equal(found.q, run.q)
    assert np.array_equal(found.contacts.rows, run.contacts.rows)


def test_a_simulator_pushes_what_bounces_and_rubs():
    rubbing = PUCK.replaced({"contacts": {"rub": mbvi.DryFriction(joint="x", kinetic=0.5)}})
    simulator, pushes = mbvi.Simulator(rubbing, "simpson", step=0.05), [-2.5] * 34 + [0.2] * 8
    for push in pushes[:20]:
        simulator.step([push])
    assert simulator.now.contact_forces()["rub"] == 0.5
    state = simulator.state()
    for push in pushes[20:]:
        simulator.step([push])
    whole = simulator.trajectory()
    assert np.ptp(whole.energy_taken()) > 0.1
    simulator.set_state(state)
    other = mbvi.Simulator(rubbing, "simpson", step=0.05)
    other.set_state(state)
    for push in pushes[20:]:
        simulator.step([push])
        other.step([push])
    assert np.array_equal(simulator.q, whole.q[-1])
    assert np.array_equal(other.q, whole.q[-1])
    assert np.array_equal(simulator.trajectory().contacts.rows, whole.contacts.rows)
    late = other.trajectory()
    assert late.energy_taken() == pytest.approx(whole.energy_taken()[20:] - whole.energy_taken()[20], abs=1e-13)
    assert late.contact_forces()["rub"] == pytest.approx(whole.contact_forces()["rub"][20:])
