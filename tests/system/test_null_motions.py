"""Accelerations near singular configurations of loops, against the saddle-point equations in 50 digits."""

import mpmath
import numpy as np
import pytest

import mbvi
from mbvi.system.null_motions import null_acceleration, null_motions

MASSES, CENTERS, LENGTHS = (1.0, 1.0, 2.0), (0.5, 0.625, 0.25), (1, 2, 1)
NAMES = "crank", "coupler", "rocker"
ANGLES = 10.0 ** -np.arange(2.0, 7.6, 0.5)


def parallelogram(formulation):
    """Its masses couple its motion to that as an antiparallelogram, which begins where all links lie on one line."""
    bodies = {
        name: mbvi.Body(mass=mass, center_of_mass=(center, 0, 0), inertia=(0.1, 0.1, 0.1))
        for name, mass, center in zip(NAMES, MASSES, CENTERS, strict=True)
    }

    def hinge(parent, child, x, offset=0.0):
        return mbvi.Revolute(parent=parent, child=child, axis=(0, -1, 0), position=(x, 0, 0), offset=(offset, 0, 0))

    joints = {
        "a": hinge("world", "crank", 0),
        "b": hinge("crank", "coupler", 1),
        "c": hinge("world", "rocker", 2),
        "d": hinge("coupler", "rocker", 2, 1),
    }
    initial = {"a": {"position": 1}, "b": {"position": -1}, "c": {"position": 1}}
    model = mbvi.Model(name="parallelogram", gravity=(0, 0, -9.81), bodies=bodies, joints=joints, initial=initial)
    return mbvi.assemble(model, formulation)


def angular_accelerations(angle, speed, torque):
    """Of the bodies of the parallelogram with a torque on its crank, in as many digits as mpmath has.

    M a − Gᵀ λ = f, G a = r for the three angles from the x-axis, with the Jacobian G of the gap along x and z at the pin d.
    """
    m, L, c = ([mpmath.mpf(each) for each in every] for every in (MASSES, LENGTHS, CENTERS))
    g, tie = mpmath.mpf(9.81), m[1] * L[0] * c[1]
    w, cos, sin = (speed, 0, speed), mpmath.cos(angle), mpmath.sin(angle)
    f = [
        torque - g * cos * (m[0] * c[0] + m[1] * L[0]),
        tie * sin * speed**2 - g * m[1] * c[1],
        -g * cos * m[2] * c[2],
    ]
    along, across = (L[0] * cos, L[1], -L[2] * cos), (L[0] * sin, 0, -L[2] * sin)
    K = mpmath.zeros(5)
    for i in range(3):
        K[i, i] = m[i] * c[i] ** 2 + mpmath.mpf(0.1)
        K[3, i], K[4, i] = -across[i], along[i]
        K[i, 3], K[i, 4] = across[i], -along[i]
    K[0, 0] += m[1] * L[0] ** 2
    K[0, 1] = K[1, 0] = tie * cos
    r = [sum(x * u**2 for x, u in zip(each, w, strict=True)) for each in (along, across)]
    return mpmath.lu_solve(K, mpmath.matrix([*f, *r]))[:3]


def in_fifty_digits(angle, speed, torque=0):
    with mpmath.workdps(50):
        return np.array([float(each) for each in angular_accelerations(mpmath.mpf(angle), mpmath.mpf(speed), torque)])


def change_in_fifty_digits(angle, speed):
    """The derivatives of the acceleration of the crank by the angle and by the speed."""
    with mpmath.workdps(50):
        x, h = (mpmath.mpf(angle), mpmath.mpf(speed)), mpmath.mpf("1e-20")

        def change(by_angle, by_speed):
            ends = [angular_accelerations(x[0] + s * by_angle, x[1] + s * by_speed, 0)[0] for s in (1, -1)]
            return float((ends[0] - ends[1]) / (2 * h))

        return change(h, 0), change(0, h)


def state_at(system, angle, speed):
    """The state q, v of the parallelogram where its cranks have an angle and a speed."""
    if system.dimension == 3:
        return np.array([angle, -angle, angle]), speed * np.array([1.0, -1.0, 1.0])
    q, v = np.zeros(21), np.zeros(18)
    cos, sin = np.cos(angle), np.sin(angle)
    for name, center in zip(NAMES, CENTERS, strict=True):
        first, _ = system.homes.roots[name]
        turned, arm, x = (0.0, 1.0, center) if name == "coupler" else (1.0, center, 2.0 if name == "rocker" else 0.0)
        q[first : first + 3] = x + arm * cos, 0, arm * sin
        q[first + 3 : first + 7] = np.cos(turned * angle / 2), 0, -np.sin(turned * angle / 2), 0
        at = first - first // 7
        v[at : at + 3] = -speed * arm * sin, 0, speed * arm * cos
        v[at + 4] = -turned * speed
    return q, v


def torque_on_crank(system, torque):
    """As forces (nv,)."""
    forces = np.zeros(system.nv)
    if system.dimension == 3:
        forces[0] = torque
    else:
        first, _ = system.homes.roots["crank"]
        forces[first - first // 7 + 4] = -torque
    return forces


def spins(system, q, v, a):
    """Angular accelerations (3,) of the bodies."""
    return np.array([-system.frame_acceleration(name, q, v, a)[4] for name in NAMES])


@pytest.mark.parametrize("speed", [0.0, 0.7])
@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_accelerations_in_fifty_digits(formulation, speed):
    """To what rounding of the state makes of them, in inverse proportion to the angle from the singular configuration."""
    system = parallelogram(formulation)
    for angle in ANGLES:
        (q, v), rounding = state_at(system, angle, speed), 1e-14 / angle
        a = system.velocity_of_rates(q, system.acceleration(q, system.rates_of_velocity(q, v)))
        free = in_fifty_digits(angle, speed)
        np.testing.assert_allclose(spins(system, q, v, a), free, rtol=0, atol=rounding)
        a = system.forward_dynamics(q, v, torque_on_crank(system, 30.0))
        driven = in_fifty_digits(angle, speed, 30)
        np.testing.assert_allclose(spins(system, q, v, a), driven, rtol=0, atol=rounding)


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_within_rounding_of_a_singular_configuration_it_is_one(formulation):
    """Nothing is refused there, and all motions that it leaves count."""
    system, forces = parallelogram(formulation), np.zeros(parallelogram(formulation).nv)
    found = []
    for angle in (0.0, 1e-12, 1e-9):
        q, v = state_at(system, angle, 0.7)
        a = system.velocity_of_rates(q, system.acceleration(q, system.rates_of_velocity(q, v)))
        found.append(spins(system, q, v, a))
        np.testing.assert_allclose(
            spins(system, q, v, system.forward_dynamics(q, v, forces)), found[-1], rtol=0, atol=1e-6
        )
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-10)


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_multipliers_are_the_least_with_the_forces_of_the_motion(formulation):
    system = parallelogram(formulation)
    for angle in ANGLES:
        q, v = state_at(system, angle, 0.7)
        state = np.zeros(1), q[None], system.rates_of_velocity(q, v)[None]
        a, lam = system.accelerations_and_multipliers(*state)
        G, force = system.constraint_jacobian(q), system.guiding_forces(*state, a)[0]
        np.testing.assert_allclose(G.T @ lam[0], force, rtol=0, atol=3e-14 / angle)
        least = G @ np.linalg.lstsq(G, lam[0], rcond=1e-9)[0]
        np.testing.assert_allclose(lam[0], least, rtol=0, atol=1e-6 * abs(least).max())


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_derivatives_in_fifty_digits(formulation):
    """Along the motion, by the speed, and by the torque of the crank."""
    system, speed = parallelogram(formulation), 0.7
    for angle in ANGLES:
        q, v = state_at(system, angle, speed)
        by_q, by_v, by_forces = system.forward_dynamics_derivatives(q, v, np.zeros(system.nv))
        turned = np.zeros_like(v) if system.nv == 3 else state_at(system, angle + np.pi / 2, speed)[1]
        turned[[i for i, name in enumerate(system.velocity_names) if ".w" in name]] = 0.0
        found = [by_q @ v / speed + by_v @ turned, by_v @ v / speed, by_forces @ torque_on_crank(system, 1.0)]
        found = [spins(system, q, np.zeros_like(v), each)[0] for each in found]
        of_torque = in_fifty_digits(angle, speed, 1)[0] - in_fifty_digits(angle, speed)[0]
        expected = [*change_in_fifty_digits(angle, speed), of_torque]
        np.testing.assert_allclose(found[0], expected[0], rtol=0, atol=1e-13 + 1e-14 / angle**2)
        np.testing.assert_allclose(found[1:], expected[1:], rtol=0, atol=1e-13 + 1e-15 / angle)


def test_regular_equations():
    """Of random matrices, many at once, against the inverse of the saddle-point matrix."""
    random = np.random.default_rng(1)
    A, G = random.normal(size=(5, 7, 7)), random.normal(size=(5, 3, 7))
    M = A @ np.swapaxes(A, 1, 2) + np.eye(7)
    P, H, _, rank, is_regular = null_motions(M, G)
    inverse = np.linalg.inv(np.block([[M, -np.swapaxes(G, 1, 2)], [G, np.zeros((5, 3, 3))]]))
    np.testing.assert_allclose(P, inverse[:, :7, :7], rtol=0, atol=1e-13)
    np.testing.assert_allclose(H, inverse[:, :7, 7:], rtol=0, atol=1e-12)
    assert is_regular.all() and (rank == 3).all()
    f, r = random.normal(size=7), random.normal(size=3)
    np.testing.assert_allclose(
        np.concatenate(null_acceleration(M[0], G[0], f, r)), inverse[0] @ [*f, *r], rtol=0, atol=1e-12
    )


def test_a_motion_without_inertia():
    """That no row holds; one that a row holds needs none."""
    M, row = np.diag([1.0, 0.0, 2.0]), np.array([[0.0, 1.0, 1.0]])
    assert null_motions(M, row).is_regular
    assert not null_motions(M, np.array([[1.0, 0.0, 1.0]])).is_regular
    assert null_acceleration(M, np.array([[1.0, 0.0, 1.0]]), np.ones(3), np.zeros(1)) is None
