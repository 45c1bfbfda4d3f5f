"""Discrete momentum maps on pairs of positions: the discrete Noether theorem."""

import numpy as np
import pytest
import sympy

import mbvi
from mbvi.analysis.convergence import convergence_order
from mbvi.analysis.noether import discrete_momenta, linear_generator

from ..physics import systems

ONE_STAGE = ("midpoint", "trapezoidal", "shake", "wendlandt_marsden", "symplectic_euler", "lie_trotter")
STEP = 0.02


@pytest.fixture(scope="module")
def pendulum():
    return mbvi.assemble(systems.model("double_spherical_pendulum"), "embedding")


def vertical(count):
    """Rotation of points in space about the vertical."""
    return linear_generator(np.kron(np.eye(count), [[0, -1, 0], [1, 0, 0], [0, 0, 0]]))


def product_matrix(axis):
    """a → e ⋆ a/2 of quaternions."""
    e = np.eye(3)[axis]
    matrix = np.zeros((4, 4))
    matrix[0, 1:], matrix[1:, 0] = -e / 2, e / 2
    matrix[1:, 1:] = np.cross(e, np.eye(3)).T / 2
    return matrix


@pytest.mark.parametrize("scheme", ONE_STAGE)
def test_it_is_constant_on_pairs_of_positions(pendulum, scheme):
    run, J = mbvi.simulate(pendulum, scheme, step=STEP, duration=2), vertical(2)
    minus, plus = discrete_momenta(pendulum, scheme, STEP, run.q[:-1], run.q[1:])
    before, after = J.value(run.q[:-1], minus), J.value(run.q[1:], plus)
    assert abs(before[0]) > 100
    np.testing.assert_allclose(before, before[0], rtol=0, atol=1e-12 * abs(before[0]) / STEP)
    np.testing.assert_allclose(after, before[0], rtol=0, atol=1e-12 * abs(before[0]) / STEP)
    np.testing.assert_allclose(J.value(run.q, run.p), before[0], rtol=0, atol=1e-12 * abs(before[0]) / STEP)


def test_free_body_in_a_quaternion():
    """All three components, of left multiplication: the angular momentum 2 I ω turned into the world, about (0, 6, 12)."""
    system = mbvi.assemble(systems.model("free_rigid_body_quaternion"))
    run = mbvi.simulate(system, "midpoint", step=0.1, duration=30)
    minus, _ = discrete_momenta(system, "midpoint", 0.1, run.q[:-1], run.q[1:])
    for axis, expected in enumerate((0, 6, 12)):
        J = linear_generator(product_matrix(axis)).value(run.q[:-1], minus)
        assert np.ptp(J) < 1e-12
        assert J[0] == pytest.approx(expected, abs=1e-12)


def test_what_is_no_symmetry_is_not_conserved(pendulum):
    """Rotation about a horizontal axis: gravity turns it."""
    run = mbvi.simulate(pendulum, "midpoint", step=STEP, duration=2)
    minus, _ = discrete_momenta(pendulum, "midpoint", STEP, run.q[:-1], run.q[1:])
    tilt = linear_generator(np.kron(np.eye(2), [[0, 0, 0], [0, 0, -1], [0, 1, 0]]))
    assert np.ptp(tilt.value(run.q[:-1], minus)) > 10


@pytest.mark.parametrize("scheme", ["midpoint", "symplectic_euler"])
def test_it_approaches_the_momentum_of_the_motion(pendulum, scheme):
    """Of two positions of the exact motion; of both in second order, since nothing turns them about the vertical."""
    J, steps, found = vertical(2), (0.02, 0.01, 0.005), []
    for step in steps:
        exact = mbvi.simulate(pendulum, "gauss6", step=step, duration=step)
        minus, _ = discrete_momenta(pendulum, scheme, step, exact.q[0], exact.q[1])
        found.append(abs(float(J.value(exact.q[0], minus) - J.value(exact.q[0], exact.p[0]))))
    assert convergence_order(found, steps) == pytest.approx(2, abs=0.1)


def test_affine_fields():
    """Rotation about the point (1, 2), the centre of the force."""
    x, y = sympy.symbols("x y")
    square = (x - 1) ** 2 + (y - 2) ** 2
    system = mbvi.from_sympy([x, y], sympy.eye(2), square**2, initial_q=[2, 2], initial_v=[0.3, 1])
    run = mbvi.simulate(system, "midpoint", step=0.05, duration=5)
    J = linear_generator([[0, -1], [1, 0]], [2, -1])
    assert np.ptp(J.value(run.q, run.p)) < 1e-13
    (found,) = mbvi.analysis.find_invariants(system)
    ratio = found.value(run.q, run.p) / J.value(run.q, run.p)
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)


def test_rotations_are_found_in_coordinates_of_ones_own():
    system = systems.spherical_pendulum()
    (found,) = mbvi.analysis.find_invariants(system)
    assert found.name == "y p(x) - x p(y)"
    run = mbvi.simulate(system, "simpson", step=0.05, duration=5)
    assert np.ptp(run.momenta()[found.name]) < 1e-14


def test_errors(pendulum):
    q = pendulum.initial_q
    with pytest.raises(mbvi.ModelError, match="expected a scheme of one stage, as midpoint or shake, found 'simpson'"):
        discrete_momenta(pendulum, "simpson", 0.1, q, q)
    with pytest.raises(mbvi.ModelError, match="expected a Galerkin scheme, found 'newmark'"):
        discrete_momenta(pendulum, "newmark", 0.1, q, q)
    with pytest.raises(mbvi.ModelError, match=r"after: expected \d coordinates before and after, of each pair, found"):
        discrete_momenta(pendulum, "midpoint", 0.1, [q, q], q)
    with pytest.raises(mbvi.ModelError, match=r"after: expected \d coordinates before and after, of each pair, found"):
        discrete_momenta(pendulum, "midpoint", 0.1, q[:1], q[:1])
    for step in (0.0, -0.1, np.nan):
        with pytest.raises(mbvi.ModelError, match="step: expected a time greater than 0, found"):
            discrete_momenta(pendulum, "midpoint", step, q, q)
    for matrix in ([[1, 2], [3]], "turn", 3.0):
        with pytest.raises(mbvi.ModelError, match="generator: expected a square matrix and a vector, found"):
            linear_generator(matrix)
    with pytest.raises(
        mbvi.ModelError, match=r"generator: expected a square matrix .* found shapes \(2, 3\) and \(2,\)"
    ):
        linear_generator(np.zeros((2, 3)))
