"""The forces that the environment must exert to enforce a path."""

import numpy as np
import pytest
import sympy

import mbvi

from ..physics import systems
from . import mechanisms

KINDS = ("revolute", "ball euler", "prismatic", "screw", "revolute")


def time_dependent():
    x, y, u, w, t = sympy.symbols("x y u w t")
    M = [[2 + sympy.cos(y) * sympy.exp(t), sympy.sin(x - t) / 3], [sympy.sin(x - t) / 3, 3 + t**2]]
    return mbvi.from_sympy(
        [x, y], M, x**4 + t * x * y, velocities=[u, w], time=t, forces=[-u * w, sympy.cos(t) - x * u]
    )


SYSTEMS = {
    "tree": systems.tree(mechanisms.POTENTIAL + mechanisms.OTHER, KINDS, seed=4),
    "quaternion": systems.tree(mechanisms.POTENTIAL, ("ball", "free"), seed=2),
    "time-dependent mass": time_dependent(),
}


def path(n, t):
    """A path with its first and second rates, (n,) each."""
    i = np.arange(1, n + 1)
    return np.sin(i * t) + i / 10, i * np.cos(i * t), -(i**2) * np.sin(i * t)


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)
def test_rate_of_momentum_less_the_forces(system):
    """d/dt ∂L/∂v along the path by differences of sixth order."""
    n, t, step = system.dimension, 0.7, 1e-3
    weights = {-3: -1, -2: 9, -1: -45, 1: 45, 2: -9, 3: 1}
    rate = sum(w * system.momentum(*path(n, t + k * step)[:2], t + k * step) for k, w in weights.items()) / (60 * step)
    q, v, a = path(n, t)
    expected = rate - system.gradient(q, v, t)[1]
    found = system.guiding_forces([t], [q], [v], [a])[0]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["tree", "time-dependent mass"])
def test_free_motion_needs_none(name):
    system = SYSTEMS[name]
    q, v, _ = path(system.dimension, 0.4)
    a = system.acceleration(q, v, 0.4)
    size = np.abs(system.gradient(q, v, 0.4)[1]).max()
    assert np.abs(system.guiding_forces([0.4], [q], [v], [a])).max() < 1e-11 * size
    assert np.abs(system.guiding_forces([0.4], [q], [v], [a + 1])).max() > 1e-3 * size


def test_constraint_forces_are_contained():
    system = systems.spherical_pendulum()
    t, q, v = np.zeros(1), system.initial_q[None], system.initial_v[None]
    v = v - (v @ q[0]) * q
    a, multipliers = system.accelerations_and_multipliers(t, q, v)
    force = multipliers @ system.constraint_jacobian(q[0])
    np.testing.assert_allclose(system.guiding_forces(t, q, v, a), force, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("states", "message"),
    [
        (
            ([0.0], [[1, 2]], [[1, 2]], [[1]]),
            r"a: expected an array of shape \(states, 2\), found one of shape \(1, 1\)",
        ),
        (([0.0], [[1, 2]], [[1, 2], [3, 4]], [[1, 2]]), "a: expected as many states of q, v and a, found 1, 2 and 1"),
        (([0.0, 1.0], [[1, 2]], [[1, 2]], [[1, 2]]), "t: expected one time for each of 1 states"),
        (([0.0], [[1, 2]], [[1, 2]], [[np.nan, 2]]), "a: expected finite numbers, found nan for x"),
    ],
)
def test_refused(states, message):
    with pytest.raises(mbvi.ModelError, match=message):
        SYSTEMS["time-dependent mass"].guiding_forces(*states)
