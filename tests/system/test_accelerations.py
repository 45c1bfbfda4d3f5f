"""Multipliers of redundant constraints: of all with the same forces the least."""

import numpy as np
import pytest

import mbvi

from .test_closed_loops import ball_ended_rod, state_of


@pytest.mark.parametrize(
    ("name", "formulation"),
    [("four_bar", "tree"), ("four_bar", "embedding"), ("n_four_bars", "embedding"), ("bricard", "tree")],
)
def test_least_multipliers_with_the_forces_of_the_motion(name, formulation, models):
    system = mbvi.assemble(mbvi.load(models / f"{name}.yaml"), formulation)
    assert system.mobility.redundant
    motion = mbvi.simulate(system, duration=0.2)
    a, lam = system.accelerations_and_multipliers(motion.t, motion.q, motion.v)
    forces = system.guiding_forces(motion.t, motion.q, motion.v, a)  # of the environment, here the constraints
    for t, q, each, force in zip(motion.t, motion.q, lam, forces, strict=True):
        G = system.constraint_jacobian(q, t)
        least = np.linalg.lstsq(G.T, force, rcond=1e-9)[0]
        np.testing.assert_allclose(each, least, rtol=0, atol=1e-9 * max(1.0, np.abs(least).max()))


def test_where_the_equations_are_singular_they_are_not_a_number():
    """In the singular position of Euler angles, at theta = 0."""
    top = mbvi.Body(mass=1, center_of_mass=(0, 0, 1), inertia=(1, 1, 0.5))
    ball = mbvi.Ball(parent="world", child="top", coordinates="zxz")
    plane = mbvi.model.PointOnPlane(body_a="world", normal=(1, 0, 0), body_b="top", point_b=(0, 0, 1))
    system = mbvi.assemble(mbvi.Model(name="a", bodies={"top": top}, joints={"b": ball}, constraints={"p": plane}))
    q = np.array([[0.0, 0.5, 0.0], [0.0, 0.0, 0.0], [0.0, 0.4, 1.0]])
    lam = system.multipliers(np.zeros(3), q, np.zeros_like(q))
    assert np.isfinite(lam).all(axis=1).tolist() == [True, False, True]
    with pytest.raises(
        mbvi.ModelError,
        match=r"^the equations of motion of 'a' are singular at t = 0, q = \[0. 0. 0.\]; something moves without",
    ):
        system.accelerations_and_multipliers(np.zeros(3), q, np.zeros_like(q))
    q[1, 1] = np.nan
    with pytest.raises(mbvi.ModelError, match=r"^q: expected finite numbers, found nan for b.theta$"):
        system.accelerations_and_multipliers(np.zeros(3), q, np.zeros_like(q))


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_what_moves_without_inertia_on_loops_has_no_acceleration(formulation):
    """A rod that turns about its axis: elimination has no pivot for it, as for rows that follow from others."""
    system, regular = (mbvi.assemble(ball_ended_rod(inertia), formulation) for inertia in (0.0, 0.01))
    (q, v, _), nothing = state_of(regular), np.zeros(system.nv)
    rates = system.rates_of_velocity(q, v)
    found = regular.velocity_of_rates(q, regular.acceleration(q, rates))
    np.testing.assert_allclose(found, regular.forward_dynamics(q, v, nothing), rtol=0, atol=1e-11 * abs(found).max())
    with pytest.raises(
        mbvi.ModelError, match="the equations of motion of 'slider-crank in space' are singular at t = 0"
    ):
        system.acceleration(q, rates)
    assert np.isnan(system.multipliers([0.0, 0.0], [q, q], [rates, rates])).all()


PARALLELOGRAM = """
name: parallelogram
bodies:
  crank: {mass: 1, center_of_mass: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1]}
  coupler: {mass: 1, center_of_mass: [1, 0, 0], inertia: [0.1, 0.1, 0.1]}
  rocker: {mass: 1, center_of_mass: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1]}
joints:
  a: {type: revolute, parent: world, child: crank, axis: [0, -1, 0]}
  b: {type: revolute, parent: crank, child: coupler, axis: [0, -1, 0], position: [1, 0, 0]}
  c: {type: revolute, parent: world, child: rocker, axis: [0, -1, 0], position: [2, 0, 0]}
  d: {type: revolute, parent: coupler, child: rocker, axis: [0, -1, 0], position: [2, 0, 0], offset: [1, 0, 0]}
initial: {a: {position: 1}, b: {position: -1}, c: {position: 1}}
"""


def test_accelerations_near_a_singular_configuration():
    """Of cranks that are parallel, I φ̈ = −g (m₁ + m₂ + m₃) l cos φ, down to where the links lie on a line."""
    system = mbvi.assemble(mbvi.from_yaml(PARALLELOGRAM), "tree")
    inertia, weight = 2 * (0.1 + 0.25) + 1, 9.81 * (0.5 + 1 + 0.5)
    for angle in 10.0 ** np.arange(-1, -9, -0.5):
        found = system.acceleration([angle, -angle, angle], [1.0, -1.0, 1.0])
        expected = -weight * np.cos(angle) / inertia
        np.testing.assert_allclose(found, [expected, -expected, expected], rtol=2e-16 / angle + 2e-15)


def test_multipliers_of_quaternions_with_a_force_along_them():
    """Those of the momenta are those of the equations of motion, with a user's force that is not one of a torque alone."""

    def force(t, q, v, F):
        for i in range(8):
            F[i] += 0.3 * np.sin(i + t) - 0.1 * v[i] + 0.2 * q[i]

    body = mbvi.Body(mass=1, center_of_mass=(0.1, 0.2, -0.3), inertia=(0.2, 0.3, 0.4))
    joints = {
        "a": mbvi.Ball(parent="world", child="one"),
        "b": mbvi.Ball(parent="one", child="two", position=(0, 0, -1)),
    }
    system = mbvi.assemble(mbvi.Model(name="a", bodies={"one": body, "two": body}, joints=joints), force=force)
    run = mbvi.simulate(system, "gauss2", 0.05, 1.0, initial_v=[0, 0.3, 0.2, 0.1, 0, 0.5, -0.4, 0.3])
    found, expected = (
        system.multipliers(run.t, run.q, run.v),
        system.accelerations_and_multipliers(run.t, run.q, run.v)[1],
    )
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar"])
def test_arrays_that_may_only_be_read(name, models):
    system = mbvi.assemble(mbvi.load(models / f"{name}.yaml"))
    run = mbvi.simulate(system, duration=0.05)
    t, q, v, p = (each.copy() for each in (run.t, run.q, run.v, run.p))
    expected = system.accelerations_and_multipliers(t, q, v), system.velocities(t, q, p), system.energies(t, q, v)
    for each in (t, q, v, p):
        each.setflags(write=False)
    found = system.accelerations_and_multipliers(t, q, v), system.velocities(t, q, p), system.energies(t, q, v)
    np.testing.assert_equal(found, expected)
    np.testing.assert_equal(system.acceleration(q[0], v[0]), expected[0][0][0])


def test_complex_numbers_are_no_coordinates(models):
    system = mbvi.assemble(mbvi.load(models / "double_pendulum.yaml"))
    with pytest.raises(mbvi.ModelError, match=r"^q: expected 2 numbers, found "):
        system.mass_matrix(np.array([1.0, 2.0 + 1j]))
