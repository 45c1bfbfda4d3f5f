"""Systems and trajectories in other processes, and copies of them."""

import copy
import ctypes
import ctypes.util
import pickle
import subprocess
import sys

import numpy as np
import pytest
import sympy

import mbvi

from .results.test_trajectory import bits, error_of

SCRIPT = """
import pickle, sys
import mbvi

for system in pickle.load(sys.stdin.buffer):
    run = mbvi.simulate(system, "midpoint", step=0.01, duration=0.2)
    print(run.q.tobytes().hex(), run.p.tobytes().hex(), system.unforced.is_conservative)
"""


def mass(q, M):
    M[0, 0] = 2.0 + q[0] ** 2


def potential(q):
    return q[0] ** 4


def damping(coefficient):
    """A force that closes over a number."""

    def force(t, q, v, F):
        F[0] -= coefficient * v[0]

    return force


@pytest.fixture(scope="module")
def systems(models):
    """One of each kind."""
    x, u = sympy.symbols("x u")
    pendulum = mbvi.load(models / "double_pendulum.yaml")
    return [
        mbvi.assemble(pendulum),
        mbvi.assemble(mbvi.load(models / "four_bar.yaml")),
        mbvi.assemble(pendulum, force=damping(0.3)),
        mbvi.from_sympy([x], [[2 + x**2]], x**4, velocities=[u], forces=[-u], initial_q=[1.0]),
        mbvi.from_functions(["x"], mass, potential, force=damping(0.1), initial_q=[1.0]),
    ]


def run(system):
    return mbvi.simulate(system, "midpoint", step=0.01, duration=0.2)


@pytest.mark.filterwarnings("default")
def test_a_system_runs_alike_in_another_process(systems):
    expected = [run(system) for system in systems]
    process = subprocess.run(
        [sys.executable, "-c", SCRIPT], input=pickle.dumps(systems), capture_output=True, check=True
    )
    for line, whole in zip(process.stdout.decode().splitlines(), expected, strict=True):
        assert line.split() == [whole.q.tobytes().hex(), whole.p.tobytes().hex(), "True"]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_copies_share_nothing_that_changes(copied, systems):
    for system in systems:
        other = copied(system)
        assert bits(run(other)) == bits(run(system))
        other.arrays.scales[:] = np.nan
        other.given_q[:], given = np.nan, system.given_q.copy()
        other.initial_q = given + 0.01
        assert np.isfinite(system.arrays.scales).all() and np.array_equal(system.given_q, given)
        assert other.work is not system.work


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_trajectories_and_what_holds_them(copied, models, tmp_path):
    model = mbvi.load(models / "double_pendulum.yaml")
    in_memory, in_file = (mbvi.simulate(model, duration=0.3, path=path) for path in (None, tmp_path / "a.h5"))
    for whole in (in_memory, in_file, mbvi.read(tmp_path / "a.h5")):
        other = copied(whole)
        assert bits(other) == bits(whole) and repr(other) == repr(whole)
        assert np.array_equal(other.v, whole.v) and np.array_equal(other.pose("lower")[1], whole.pose("lower")[1])
    with pytest.raises(mbvi.StepError) as caught:
        mbvi.simulate(model, step=5.0, duration=500.0)
    other = copied(caught.value)
    assert str(other) == str(caught.value) and bits(other.trajectory) == bits(caught.value.trajectory)


def lifted(models):
    """A double pendulum with a lock, other parameters and an input."""
    motor = {"motor": mbvi.Motor(joint="shoulder")}
    model = mbvi.load(models / "double_pendulum.yaml").model_copy(update={"forces": motor})
    simulator = mbvi.Simulator(model, "gauss2", step=0.01, every=2)
    simulator.step({"motor": 3.0})
    simulator.set_parameters({"mass": 2.0})
    simulator.lock("elbow")
    return simulator


SIMULATORS = {
    "a tree": lambda models: mbvi.Simulator(mbvi.load(models / "double_pendulum.yaml"), step=0.01),
    "a loop": lambda models: mbvi.Simulator(mbvi.load(models / "four_bar.yaml"), step=0.01),
    "independent coordinates": lambda models: mbvi.Simulator(
        mbvi.load(models / "four_bar.yaml"), "independent4", step=0.01
    ),
    "stops": lambda models: mbvi.Simulator(mbvi.load(models / "bouncing_ball.yaml"), step=0.01),
    "velocities": lambda models: mbvi.Simulator(mbvi.load(models / "double_pendulum.yaml"), "rk4", step=0.01, every=0),
    "what was changed": lifted,
}


@pytest.mark.parametrize("name", SIMULATORS)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_simulators_go_on_by_themselves(name, copied, models):
    """In turn, as one that is not copied does, and to its stored states."""
    one, other = (SIMULATORS[name](models) for _ in range(2))
    for simulator in (one, other):
        simulator.run(1.0)
    twin = copied(one)
    for simulator in (twin, one, twin, one, other, other):
        simulator.step()
        simulator.run(0.3)
    kept = [each.trajectory() if name != "velocities" else each.now for each in (one, twin, other)]
    for found in kept[:2]:
        assert found.q.tobytes() == kept[2].q.tobytes() and found.p.tobytes() == kept[2].p.tobytes()
        assert np.array_equal(found.energy(), kept[2].energy())
        if name == "stops":
            np.testing.assert_array_equal(found.contact_events, kept[2].contact_events)
    assert twin.inputs == other.inputs and twin.locked == other.locked and twin.steps == other.steps
    twin.reset()
    other.reset()
    twin.step()
    other.step()
    assert np.array_equal(twin.q, other.q)


def test_a_file_that_cannot_hold_its_system(systems, tmp_path):
    mbvi.simulate(systems[3], "midpoint", step=0.01, duration=0.2, path=tmp_path / "a.h5")
    whole = mbvi.read(tmp_path / "a.h5")
    for other in (copy.deepcopy(whole), pickle.loads(pickle.dumps(whole))):
        assert bits(other) == bits(whole) and repr(other.system) == repr(whole.system)


def test_a_function_that_cannot_be_pickled(models):
    """It calls one of the C library by its address in this process. Copies are of no use elsewhere, and go."""
    cosine = ctypes.CDLL(ctypes.util.find_library("m")).cos
    cosine.restype, cosine.argtypes = ctypes.c_double, [ctypes.c_double]

    def force(t, q, v, F):
        F[0] += cosine(t)

    system = mbvi.assemble(mbvi.load(models / "pendulum.yaml"), force=force)
    message = error_of(pickle.dumps, system)
    assert message.startswith("pendulum: expected a force of functions that can be pickled, found ")
    assert message.endswith("; let it close over numbers and arrays alone")
    assert bits(run(copy.deepcopy(system))) == bits(run(system))


def test_a_system_without_forces_of_its_own_is_itself_in_its_copies(systems):
    """Where it is not, a run is judged as one on which forces do work."""
    system = systems[0]
    assert system.unforced is system
    for copied in (copy.copy(system), copy.deepcopy(system), pickle.loads(pickle.dumps(system))):
        assert copied is not system and copied.unforced is copied
