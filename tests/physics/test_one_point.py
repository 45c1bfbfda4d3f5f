"""The discrete Lagrangians h L(q', v) and h L(q, v), v = (q' − q)/h: symplectic Euler, splitting, Verlet, SHAKE.

And the midpoint discrete Lagrangian as the midpoint rule of Hamilton's equations, for any mass matrix.

Source: Marsden & Wendlandt, Current and Future Directions in Applied Mathematics (1997), equations 16 to 18, 51, example 5.
"""

import numpy as np
import pytest
import sympy

import mbvi

from . import systems

STEP = 0.1
UNCONSTRAINED = ("double pendulum", "top, Euler angles", "elastic pendulum")


def run(system, scheme, count=20, h=STEP, **options):
    return mbvi.simulate(system, scheme, step=h, duration=count * h, **options)


def steps(trajectory):
    """Successive pairs of states."""
    return zip(trajectory.q, trajectory.p, trajectory.q[1:], trajectory.p[1:], strict=False)


def hamilton(system, q, p):
    """∂H/∂p and −∂H/∂q."""
    v = system.velocities(np.zeros(1), q[None], p[None])[0]
    return v, system.gradient(q, v)[1]


@pytest.fixture(scope="module")
def pendulum():
    q = sympy.Symbol("q")
    return mbvi.from_sympy([q], [[1]], -sympy.cos(q), initial_q=[1.0], initial_v=[0.5])


@pytest.fixture(scope="module")
def separable():
    """Constant M that couples, and a potential that is not quadratic."""
    x, y = q = sympy.symbols("x y")
    return mbvi.from_sympy(q, [[2, 1], [1, 3]], (x**2 + x * y + y**4) / 2, initial_q=[1, -0.5], initial_v=[0.2, 1])


def test_splitting_of_the_pendulum(pendulum):
    """F(φ, p) = (φ + τ p − τ² sin φ, p − τ sin φ)."""
    for q, p, q_next, p_next in steps(run(pendulum, "lie_trotter")):
        np.testing.assert_allclose(q_next, q + STEP * p - STEP**2 * np.sin(q), rtol=0, atol=1e-15)
        np.testing.assert_allclose(p_next, p - STEP * np.sin(q), rtol=0, atol=1e-15)


def test_symplectic_euler_of_the_pendulum(pendulum):
    """q = q0 + h p0, p = p0 − h V'(q0 + h p0)."""
    for q, p, q_next, p_next in steps(run(pendulum, "symplectic_euler")):
        np.testing.assert_allclose(q_next, q + STEP * p, rtol=0, atol=1e-15)
        np.testing.assert_allclose(p_next, p - STEP * np.sin(q + STEP * p), rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", UNCONSTRAINED)
@pytest.mark.parametrize(("scheme", "first"), [("symplectic_euler", False), ("lie_trotter", True)])
def test_symplectic_euler_of_any_hamiltonian(name, scheme, first):
    """q' = q + h ∂H/∂p, p' = p − h ∂H/∂q at (q', p), and at (q, p') its adjoint."""
    system, h = systems.case(name).system, 0.02
    for q, p, q_next, p_next in steps(run(system, scheme, h=h)):
        rate, force = hamilton(system, *((q, p_next) if first else (q_next, p)))
        scale = np.abs(q_next).max(), np.abs(p_next).max()
        np.testing.assert_allclose(q_next, q + h * rate, rtol=0, atol=1e-14 * scale[0])
        np.testing.assert_allclose(p_next, p + h * force, rtol=0, atol=1e-14 * scale[1])


def test_half_a_step_of_each_is_the_leapfrog(separable):
    q, v = separable.initial_q, separable.initial_v
    for _ in range(10):
        for scheme in ("lie_trotter", "symplectic_euler"):
            end = run(separable, scheme, 1, STEP / 2, initial_q=q, initial_v=v)
            q, v = end.q[-1], end.v[-1]
    leapfrog = run(separable, "trapezoidal", 10)
    np.testing.assert_allclose(q, leapfrog.q[-1], rtol=0, atol=1e-13)
    np.testing.assert_allclose(v, leapfrog.v[-1], rtol=0, atol=1e-13)


@pytest.mark.parametrize("scheme", ["symplectic_euler", "lie_trotter"])
def test_they_are_explicit_where_the_mass_matrix_is_constant(separable, scheme):
    """One correction solves a step; another one sees that it did."""
    statistics = run(separable, scheme, 100).statistics
    assert statistics.iterations <= 2.1 * statistics.steps
    assert statistics.newton_factorizations == 0


@pytest.mark.parametrize("scheme", ["symplectic_euler", "lie_trotter"])
def test_on_pairs_of_positions_they_are_verlet_and_shake(separable, scheme):
    spherical = mbvi.assemble(systems.model("double_spherical_pendulum"), "embedding")
    for system, h in ((separable, STEP), (spherical, 0.02)):
        shake = run(system, "shake", 50, h)
        ours = run(system, scheme, 49, h, initial_q=shake.q[1], previous_q=shake.q[0])
        np.testing.assert_allclose(ours.q, shake.q[1:], rtol=0, atol=1e-11)
        assert np.abs(ours.p - shake.p[1:]).max() > 1e-3  # another momentum goes with the same positions


@pytest.mark.parametrize("name", UNCONSTRAINED)
def test_the_midpoint_discrete_lagrangian_is_the_midpoint_rule(name):
    """z' = z + h X_H((z + z')/2) for any M(q): in canonical variables it is the same scheme."""
    system, h = systems.case(name).system, 0.02
    for q, p, q_next, p_next in steps(run(system, "implicit_midpoint", h=h)):
        rate, force = hamilton(system, 0.5 * (q + q_next), 0.5 * (p + p_next))
        scale = np.abs(q_next).max(), np.abs(p_next).max()
        np.testing.assert_allclose(q_next, q + h * rate, rtol=0, atol=1e-14 * scale[0])
        np.testing.assert_allclose(p_next, p + h * force, rtol=0, atol=1e-14 * scale[1])


def test_poincares_generating_function(pendulum):
    """q = q0 + h (p + p0)/2, p = p0 − h V'((q + q0)/2)."""
    for q, p, q_next, p_next in steps(run(pendulum, "implicit_midpoint")):
        np.testing.assert_allclose(q_next, q + STEP * (p + p_next) / 2, rtol=0, atol=1e-15)
        np.testing.assert_allclose(p_next, p - STEP * np.sin((q + q_next) / 2), rtol=0, atol=1e-15)
