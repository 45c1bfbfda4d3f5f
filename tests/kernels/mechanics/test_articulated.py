"""The articulated-body recursion beside dense solutions, on random trees with balls on balls and on other joints."""

import numpy as np
import pytest

import mbvi

from ...benchmarks.systems import hung_chain, load
from ...system import mechanisms

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
    trajectory = mbvi.simulate(mbvi.assemble(hung_chain(10, "ball"), "tree"), scheme, step=1e-3, duration=0.1)
    assert trajectory.statistics.newton_factorizations == 0
    assert trajectory.constraint_residual().max() < 1e-15


def hung_figure():
    """A torso that hangs by one arm, with a head, the other arm and two legs, all in motion."""
    parts = {
        "arm": (2, 0.3),
        "torso": (30, 0.5),
        "head": (5, 0.2),
        "other": (2, 0.5),
        "left": (8, 0.8),
        "right": (8, 0.8),
    }
    bodies = {
        name: mbvi.Body(shapes=[mbvi.Box(size=(0.1 * z, 0.1 * z, z), mass=mass)]) for name, (mass, z) in parts.items()
    }
    joints = {
        "grip": mbvi.Ball(parent="world", child="arm", offset=(0, 0, 0.3)),
        "shoulder": mbvi.Ball(parent="arm", child="torso", position=(0, 0, -0.3), offset=(-0.2, 0, 0.2)),
        "neck": mbvi.Ball(parent="torso", child="head", position=(0, 0, 0.27), offset=(0, 0, -0.12)),
        "second": mbvi.Ball(parent="torso", child="other", position=(0.2, 0, 0.2), offset=(0, 0, 0.25)),
        "hip": mbvi.Ball(parent="torso", child="left", position=(-0.1, 0, -0.27), offset=(0, 0, 0.4)),
        "knee": mbvi.Revolute(
            parent="torso", child="right", axis=(1, 0, 0), position=(0.1, 0, -0.27), offset=(0, 0, 0.4)
        ),
    }
    initial = {
        "grip": mbvi.Initial(velocity=(0, 2.0, 1.0)),
        "hip": mbvi.Initial(velocity=(1.0, 0, 0.5)),
        "second": mbvi.Initial(velocity=(-2.0, 0.5, 0)),
    }
    return mbvi.Model(name="hung figure", bodies=bodies, joints=joints, initial=initial)


@pytest.mark.parametrize(("scheme", "step"), [("gauss4", 0.00125), ("gauss3", 0.0025), ("simpson", 0.0025)])
def test_angular_momentum_of_a_figure_on_balls(scheme, step):
    """An iteration that ends before rounding, where accelerated corrections happen to grow, shows in the momentum."""
    run = mbvi.simulate(hung_figure(), scheme, step=step, duration=1.0, formulation="tree")
    momentum = run.momenta()["angular momentum (z)"]
    assert np.ptp(momentum) < 1e-11 * np.abs(momentum).max()


def test_discrete_momenta_are_given_out_as_they_are():
    """SHAKE moves as RATTLE does, and its momenta are those of the step equations, in part along the quaternion."""
    system = mbvi.assemble(load("free_rigid_body"))
    shake, rattle = (mbvi.simulate(system, scheme, step=0.02, duration=1) for scheme in ("shake", "rattle"))
    np.testing.assert_allclose(shake.q, rattle.q, rtol=0, atol=1e-14)
    along = np.sum(shake.q * shake.p, axis=1, keepdims=True)
    assert np.abs(along[1:]).min() > 0.1
    np.testing.assert_allclose(shake.p - shake.q * along, rattle.p, rtol=0, atol=1e-12)


def test_the_third_step_starts_along_the_polynomials_of_the_first_two():
    """From the increments of the second step the simplified iteration does not converge."""
    run = mbvi.simulate(load("free_rigid_body"), "gauss8", step=0.4, duration=2)
    assert run.statistics.newton_factorizations == 0
