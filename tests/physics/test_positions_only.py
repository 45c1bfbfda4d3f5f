"""The three-term form on Q × Q: position constraints alone, started by two positions, with its discrete momentum map.

Source: Wendlandt & Marsden, Physica D 106 (1997), equations 44 to 46 and 59, and their section on the discrete momentum map.
"""

import numpy as np
import pytest

import mbvi

from . import systems

STEP = 0.02
TWINS = (("wendlandt_marsden", "midpoint"), ("shake", "rattle"))


@pytest.fixture(scope="module")
def pendulum():
    return mbvi.assemble(systems.model("double_spherical_pendulum"), "embedding")


def run(system, scheme, **options):
    return mbvi.simulate(system, scheme, step=STEP, duration=100 * STEP, **options)


def across_constraints(system, q, vector):
    """The part of a force that no multiplier can balance: its projection onto the null space of G(q)."""
    _, singular, right = np.linalg.svd(system.constraint_jacobian(q))
    free = right[len(singular) :]
    return free @ vector


def mixed_derivatives(system, before, after):
    """−D_1 L_d and D_2 L_d of the midpoint discrete Lagrangian h L((x + y)/2, (y − x)/h)."""
    p, f = system.gradient(0.5 * (before + after), (after - before) / STEP)
    return p - 0.5 * STEP * f, p + 0.5 * STEP * f


def test_three_term_equation(pendulum):
    """D_2 L_d(q_{k−1}, q_k) + D_1 L_d(q_k, q_{k+1}) + Gᵀ(q_k) λ_k = 0, written out of the system's own L, at every step."""
    q = run(pendulum, "wendlandt_marsden").q
    for before, here, after in zip(q, q[1:], q[2:], strict=False):
        rest = mixed_derivatives(pendulum, before, here)[1] - mixed_derivatives(pendulum, here, after)[0]
        assert np.abs(rest).max() > 0.1  # of the constraint forces
        assert np.abs(across_constraints(pendulum, here, rest)).max() < 1e-12


def test_it_is_shake_for_a_constant_mass_matrix_and_gravity(pendulum):
    """(1/h) M (q_{k+1} − 2 q_k + q_{k−1}) + h u − h Gᵀ λ = 0, u the weights."""
    q = run(pendulum, "shake").q
    M, weights = pendulum.mass_matrix(q[0]), -pendulum.gradient(q[0], 0 * q[0])[1]
    for before, here, after in zip(q, q[1:], q[2:], strict=False):
        rest = M @ (after - 2 * here + before) / STEP + STEP * weights
        assert np.abs(across_constraints(pendulum, here, rest)).max() < 1e-12
    np.testing.assert_allclose(run(pendulum, "wendlandt_marsden").q, q, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("positions", "projected"), TWINS)
def test_motion_is_that_of_the_projected_scheme(pendulum, positions, projected):
    ours, twin = run(pendulum, positions), run(pendulum, projected)
    np.testing.assert_allclose(ours.q, twin.q, rtol=0, atol=1e-12)
    hidden = [np.abs(pendulum.constraint_jacobian(q) @ np.linalg.solve(pendulum.mass_matrix(q), p)).max() for q, p in
              ((each.q[-1], each.p[-1]) for each in (ours, twin))]  # fmt: skip
    assert hidden[1] < 1e-12 < 1e-3 < hidden[0]


def test_stored_momentum_is_the_discrete_one(pendulum):
    trajectory = run(pendulum, "wendlandt_marsden")
    for i in range(1, len(trajectory)):
        expected = mixed_derivatives(pendulum, trajectory.q[i - 1], trajectory.q[i])[1]
        np.testing.assert_allclose(trajectory.p[i], expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("scheme", [name for pair in TWINS for name in pair])
def test_start_from_two_positions(pendulum, scheme):
    """The second run starts from two positions of the first and goes on along it."""
    whole = run(pendulum, scheme)
    rest = mbvi.simulate(
        pendulum,
        scheme,
        step=STEP,
        duration=50 * STEP,
        initial_q=whole.q[50],
        previous_q=whole.q[49],
        start_time=50 * STEP,
    )
    np.testing.assert_allclose(rest.q, whole.q[50:], rtol=0, atol=1e-11)


@pytest.mark.parametrize("scheme", ["wendlandt_marsden", "shake"])
def test_discrete_momentum_map_is_constant(pendulum, scheme):
    trajectory = run(pendulum, scheme)
    (name,) = trajectory.momenta()
    values = trajectory.momenta()[name]
    assert abs(values[0]) > 100
    assert np.ptp(values) < 1e-12 * abs(values[0])


def test_schemes_of_more_stages_do_not_start_from_two_positions(pendulum):
    q = pendulum.initial_q
    with pytest.raises(
        mbvi.ModelError, match="previous_q: expected a scheme of one stage, as midpoint or shake, found 'simpson'"
    ):
        run(pendulum, "simpson", previous_q=q)


def test_previous_position_off_the_constraints(pendulum):
    with pytest.raises(mbvi.ModelError, match=r"previous_q: expected a position on the constraints, found \|g\| ="):
        run(pendulum, "midpoint", previous_q=pendulum.initial_q + 0.1)
