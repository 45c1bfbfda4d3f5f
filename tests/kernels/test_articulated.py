"""The articulated-body recursion beside dense solutions, on random trees with balls on balls and on other joints."""

import numpy as np
import pytest

import mbvi

from ..benchmarks.systems import hung_chain
from ..system import mechanisms

BALLS = ("ball", "ball", "ball", "revolute", "ball", "free", "ball", "prismatic", "ball")


def dense_velocities(system, q, p):
    """v of M v + Gᵀμ = p, G v = 0, and μ."""
    G = system.constraint_jacobian(q)
    zero = np.zeros((len(G), len(G)))
    solution = np.linalg.solve(np.block([[system.mass_matrix(q), G.T], [G, zero]]), np.append(p, np.zeros(len(G))))
    return solution[: len(q)]


@pytest.mark.parametrize("on_sphere", [True, False], ids=["unit quaternions", "quaternions of norm 1.2"])
@pytest.mark.parametrize("kinds", [BALLS, mechanisms.KINDS, ("ball",), ("free",)], ids=["balls", "all", "ball", "free"])
@pytest.mark.parametrize("seed", range(4))
def test_velocities(seed, kinds, on_sphere):
    system = mbvi.assemble(mechanisms.random_tree(seed, kinds, depth_bias=2))
    assert system.arrays.is_open
    q, _ = mechanisms.random_state(system, seed, on_sphere=on_sphere)
    p = np.random.default_rng(100 + seed).normal(size=len(q))
    expected = dense_velocities(system, q, p)
    v = system.velocities(np.zeros(1), q[None], p[None])[0]
    assert np.abs(v - expected).max() < 1e-9 * np.abs(expected).max()


@pytest.mark.parametrize("seed", range(4))
def test_multipliers(seed):
    system = mbvi.assemble(mechanisms.random_tree(seed, BALLS, forces=(*mechanisms.POTENTIAL, *mechanisms.OTHER)))
    states = [mechanisms.random_state(system, 7 * seed + i) for i in range(3)]
    q, v = map(np.array, zip(*states, strict=True))
    t = np.array([0.0, 0.3, 2.0])
    _, expected = system.accelerations_and_multipliers(t, q, v)
    found = system.multipliers(t, q, v)
    assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()


def test_a_loop_or_a_drive_is_not_open():
    model = mechanisms.random_graph(0, kinds=("ball", "revolute"), chords=(), ties=("prescribed coordinate",))
    assert not mbvi.assemble(model).arrays.is_open
    bodies = mbvi.assemble(mechanisms.random_tree(0, kinds=("free", "free")), "embedding")
    assert not bodies.arrays.is_open  # a quaternion turns what a translation moves


@pytest.mark.parametrize("scheme", ["midpoint", "simpson", "gauss3"])
def test_a_chain_of_balls_needs_no_jacobian(scheme):
    trajectory = mbvi.simulate(mbvi.assemble(hung_chain(50, "ball"), "tree"), scheme, step=1e-3, duration=0.1)
    assert trajectory.statistics.newton_factorizations == 0
    assert trajectory.constraint_residual().max() < 1e-15
