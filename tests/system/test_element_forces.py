"""What elements exert: against generalized forces of each alone, velocities of points by differences, and the power of all."""

import numpy as np
import pytest

import mbvi
from mbvi.analysis.balance import AFTER, powers_of_forces
from mbvi.model.forces import Between, OnJoint
from mbvi.system.assemble import built
from mbvi.system.element_forces import element_forces

from . import mechanisms

STATES = 3
SPRINGS = mbvi.Bushing, mbvi.BallSpring
"""Elements that store energy beside their dampers."""


@pytest.fixture(scope="module")
def everything():
    """A system with all forces and constraints, in states that need not fit together, with any multipliers."""
    model = mechanisms.random_graph(3, chords=(), forces=tuple(mechanisms.FORCES))
    system, random = with_forces(model, model.forces), np.random.default_rng(1)
    t = np.array([0.3, 0.8, 1.4])
    q = system.given_q + 0.1 * random.standard_normal((STATES, system.dimension))
    for first in (i for i, name in enumerate(system.coordinate_names) if name.endswith(".qw")):
        q[:, first : first + 4] /= np.linalg.norm(q[:, first : first + 4], axis=1, keepdims=True)
    v = random.standard_normal((STATES, system.dimension))
    lam = random.standard_normal((STATES, system.constraint_count))
    return system, t, q, v, lam


@pytest.fixture(scope="module")
def found(everything):
    system, *states = everything
    names = [*system.model.forces, *system.model.constraints]
    return element_forces(system, names, *states)


def with_forces(model, forces):
    """The system with these forces alone; no start is looked for, since its constraints do not fit together."""
    model = model.model_copy(update={"forces": forces})
    return built(model).system(model, None)


def along(function, q, v):
    """The rate of a function of q along v, by differences of order 4."""
    h = 1e-3
    near, far = (function(q + step * v) - function(q - step * v) for step in (h, 2 * h))
    return (8 * near - far) / (12 * h)


def place(system, end):
    """The place of a point of a body as a function of q."""

    def at(q):
        places, rotations = system.poses(end[0], q)
        return places + rotations @ np.array(end[1])

    return at


def distance(system, force):
    """The distance of the two points of a force as a function of q."""
    a, b = (place(system, end) for end in force.ends())
    return lambda q: np.linalg.norm(b(q) - a(q), axis=1)


def energy(system, name, t, v):
    """The potential energy of a force as a function of q."""
    lam = np.zeros((len(t), system.constraint_count))
    return lambda q: element_forces(system, [name], t, q, v, lam)[name].energy


def test_power_of_each_force_is_that_of_its_generalized_force(everything, found):
    system, t, q, v, _ = everything
    model = system.model
    bare = with_forces(model, {})
    for name, force in model.forces.items():
        alone = with_forces(model, {name: force})
        for i in range(STATES):
            Q = alone.gradient(q[i], v[i], t[i])[1] - bare.gradient(q[i], v[i], t[i])[1]
            assert found[name].power[i] == pytest.approx(Q @ v[i], rel=1e-9, abs=1e-9), name
            if isinstance(force, OnJoint):
                assert Q @ np.ones(len(Q)) == pytest.approx(found[name].values[i, 0], abs=1e-10)


def test_values_of_forces_do_their_power(everything, found):
    """With velocities of points, and rates of distances, by differences."""
    system, _, q, v, _ = everything
    for name, force in system.model.resolved().forces.items():
        element = found[name]
        if isinstance(force, mbvi.Bushing):
            continue  # whose power has a part of turns
        if isinstance(force, Between):
            power = element.values[:, 0] * along(distance(system, force), q, v)
        elif force.type == "force":
            power = np.sum(element.values * along(place(system, (force.body, force.point)), q, v), axis=1)
        else:
            continue
        np.testing.assert_allclose(power, element.power, rtol=1e-8, atol=1e-9)


def test_potential_energies(everything, found):
    system, t, q, v, _ = everything
    forces = system.model.resolved().forces
    storing = [name for name, force in forces.items() if force.derives_from_potential or isinstance(force, SPRINGS)]
    assert storing == [name for name in system.model.forces if found[name].energy is not None]
    potential = sum(found[name].energy for name in storing)
    bare = with_forces(system.model, {})
    expected = np.array([system.potential(each) - bare.potential(each) for each in q])
    np.testing.assert_allclose(potential - potential[0], expected - expected[0], rtol=1e-10)
    for name in storing:
        rate = along(energy(system, name, t, v), q, v)
        if forces[name].derives_from_potential:
            np.testing.assert_allclose(found[name].power, -rate, rtol=1e-8, atol=1e-8)


def test_the_powers_without_potentials_are_that_of_the_system(everything, found):
    system, t, q, v, lam = everything
    lam_of = type(system).multipliers
    try:
        type(system).multipliers = lambda *_: lam
        expected = powers_of_forces(system, t, q, v, AFTER)
    finally:
        type(system).multipliers = lam_of
    rates = [along(energy(system, name, t, v), q, v) for name, each in found.items() if each.energy is not None]
    np.testing.assert_allclose(sum(each.power for each in found.values()) + sum(rates), expected, rtol=1e-7)
