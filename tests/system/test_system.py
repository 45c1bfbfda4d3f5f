"""The functions of a System: what they take, from several threads, and what they refuse."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mbvi
from mbvi.errors import ModelError
from mbvi.schemes.tableau import Tableau


@pytest.fixture(scope="module")
def chain():
    rod = mbvi.Body(mass=1, center_of_mass=(0.5, 0, 0), inertia=(0, 0.1, 0.1))
    first = mbvi.Revolute(parent="world", child="a", axis=(0, 1, 0))
    second = mbvi.Revolute(parent="a", child="b", axis=(0, 1, 0), position=(1, 0, 0))
    model = mbvi.Model(name="two rods", bodies={"a": rod, "b": rod}, joints={"i": first, "j": second})
    return mbvi.assemble(model)


def test_whole_numbers_do_as_times(chain):
    q, v = [0, 1], [2, 3]
    assert chain.energy(q, v, 1) == chain.energy(q, v, 1.0)
    assert np.array_equal(chain.acceleration(q, v, 1), chain.acceleration(q, v, 1.0))
    assert np.array_equal(chain.mass_matrix(q, 1), chain.mass_matrix(q))
    assert mbvi.simulate(chain, step=0.01, duration=1, start_time=2).t[0] == 2.0


def test_threads_share_a_system(chain):
    def final(speed):
        return mbvi.simulate(chain, "gauss3", step=0.002, duration=10, initial_v=[speed, 0]).q[-1]

    speeds = np.linspace(0.1, 1.0, 8)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(final, speeds))
    assert np.array_equal(together, [final(speed) for speed in speeds])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.velocities(np.zeros(2), np.zeros((2, 1)), np.ones((2, 2))), r"q: expected .* \(states, 2\)"),
        (lambda s: s.velocities(np.zeros(3), np.zeros((2, 2)), np.ones((2, 2))), "t: expected one time for each of 2"),
        (lambda s: s.poses("a", np.zeros((1, 1))), r"q: expected an array of shape \(states, 2\)"),
        (lambda s: s.energy(["a", 1], [0, 0]), "q: expected 2 numbers"),
        (lambda s: s.energy([0, 1], [0, 0], np.nan), "t: expected a finite number of seconds, found nan"),
        (lambda s: s.mass_matrix([0, 1], "now"), "t: expected a finite number of seconds, found 'now'"),
        (lambda s: s.acceleration([0, 1], [0, 0], np.nan), "t: expected a finite number of seconds, found nan"),
        (lambda s: s.acceleration([0, 1], [0, 0], "now"), "t: expected a finite number of seconds, found 'now'"),
        (
            lambda s: s.energies([0.0], 1.0, 1.0),
            r"q: expected an array of shape \(states, 2\), found one of shape \(\)",
        ),
        (lambda s: s.energies([0.0], "at", 1.0), r"q: expected an array of shape \(states, 2\), found 'at'"),
        (
            lambda s: s.energies([0.0], [[0, 1]], np.ones((2, 2))),
            "v: expected as many states of q and v, found 1 and 2",
        ),
        (
            lambda s: s.velocities(["a"], [[0, 1]], [[0, 1]]),
            r"t: expected one time for each of 1 states, found \['a'\]",
        ),
        (lambda s: mbvi.simulate(s, step=0.01, duration=1, start_time=np.nan), "start_time: expected a number"),
        (lambda s: mbvi.simulate(s, step=True, duration=1), "step: expected a time greater than 0, found True"),
        (lambda s: mbvi.simulate(s, step=1e-300, duration=1e300), r"step: expected at most 1e\+15 steps"),
        (lambda s: mbvi.simulate(s, step=0.1, duration=1, every=11), "every: expected at most the number of steps, 10"),
        (lambda s: mbvi.simulate(s, step=0.1, duration=1, progress=3), "progress: expected a function"),
        (lambda s: mbvi.simulate(s, step=0.1, duration=1, initial_v=[1e200, 0]), "expected a state of finite energy"),
        (lambda s: mbvi.simulate("model.yaml"), "model: expected a Model, found 'model.yaml'; mbvi.load reads one"),
    ],
)
def test_refused(chain, call, message):
    with pytest.raises(ModelError, match=message):
        call(chain)


def test_the_last_state_is_stored(chain):
    run = mbvi.simulate(chain, step=0.01, duration=0.1, every=7)
    assert run.t == pytest.approx([0, 0.07, 0.14])
    assert run.statistics.steps == 14


def test_step_may_be_an_expression(chain):
    assert mbvi.simulate(chain, step="1/100", duration="0.2").statistics.steps == 20


@pytest.mark.parametrize("sequence", ["zxz", "xyz"])
def test_velocities_at_a_gimbal_lock(sequence):
    body = mbvi.Body(mass=1, center_of_mass=(0, 0, 1), inertia=(0.1, 0.2, 0.3))
    ball = mbvi.Ball(parent="world", child="a", coordinates=sequence, orientation=(0.3, 0.2, 0.1))
    system = mbvi.assemble(mbvi.Model(name="top", bodies={"a": body}, joints={"j": ball}))
    q = np.array([[0.4, np.pi / 2 if sequence == "xyz" else 0.0, 0.2]])
    with pytest.raises(ModelError, match="the mass matrix is singular"):
        system.velocities(np.zeros(1), q, np.ones((1, 3)))


@pytest.mark.parametrize(
    ("points", "nodes", "weights", "message"),
    [
        ((0, 0.5, 2), (0.2, 0.8), (0.5, 0.5), "control_points: expected increasing numbers from 0 to 1"),
        ((0, 1), (0.2, 0.8), (1.0, 1.0), "weights: expected weights and fractions that sum to 1"),
        ((0, 1), (0.5,), (0.5, 0.5), "nodes: expected as many as weights"),
        ((0, 0.5, 1), (0.5,), (1.0,), "nodes: expected as many as weights, and at least 2, found 1"),
        ("abc", (0.5,), (1.0,), "control_points: expected a list of finite numbers, found 'abc'"),
        ((0, 1), (np.nan,), (1.0,), r"nodes: expected a list of finite numbers, found \(nan,\)"),
        ((0, 1), (0.5,), (np.nan,), "weights: expected a list of finite numbers"),
        ((0, 1), 5, 6, "nodes: expected a list of finite numbers, found 5"),
        ((0, [1], 1), (0.5,), (1.0,), "control_points: expected a list of finite numbers"),
    ],
)
def test_numbers_that_are_no_scheme(points, nodes, weights, message):
    with pytest.raises(ModelError, match=message):
        Tableau("mine", points, nodes, weights, order=2, source="")
