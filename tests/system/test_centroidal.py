"""Centre of mass and momentum against Pinocchio; inertia that a frame feels, and how the mass matrix changes."""

import numpy as np
import pytest

import mbvi
from tests.folders import load
from tests.marks import sample

from . import mechanisms, reference_dynamics
from .test_closed_loops import free, state_of
from .test_dynamics import of_pinocchio
from .test_kinematics import arm, close, random_motion

pin = pytest.importorskip("pinocchio")  # which has no wheels for Windows


@pytest.fixture(params=range(2), scope="module")
def tree(request):
    system = mbvi.assemble(mechanisms.random_tree(request.param, ("ball", "free", "slot", "revolute", "screw", "ball")))
    return system, *random_motion(system, request.param)


def test_momenta_are_those_of_pinocchio(tree):
    system, q, v, a = tree
    robot, q_pin, v_pin, a_pin, E = of_pinocchio(system, q, v, a)
    data = robot.createData()
    close(system.center_of_mass(q), pin.centerOfMass(robot, data, q_pin))
    close(system.center_of_mass_jacobian(q), pin.jacobianCenterOfMass(robot, data, q_pin) @ E)
    close(system.centroidal_momentum(q, v), pin.computeCentroidalMomentum(robot, data, q_pin, v_pin).vector)
    pin.ccrba(robot, data, q_pin, v_pin)
    close(system.centroidal_momentum_matrix(q), data.Ag @ E)
    found = system.centroidal_momentum_derivatives(q, v)
    pin.computeCentroidalMomentumTimeVariation(robot, data, q_pin, v_pin, a_pin)
    close(found.by_q @ v + found.by_v @ a, data.dhg.vector)
    many = system.centroidal_momentum_derivatives([q, q], v).by_q
    np.testing.assert_array_equal(many, [found.by_q, found.by_q])
    velocity = system.center_of_mass_derivatives(q, v)
    close(velocity.by_q * pin.computeTotalMass(robot), found.by_q[:3])
    close(velocity.by_v, system.center_of_mass_jacobian(q))


def test_derivatives_of_momenta(tree):
    system, q, v, _ = tree
    small, units = 1e-5, np.eye(system.nv)
    after, before = (
        system.centroidal_momentum(system.integrate(q, sign * small * units), np.tile(v, (system.nv, 1)))
        for sign in (1, -1)
    )
    close(system.centroidal_momentum_derivatives(q, v).by_q, (after - before).T / (2 * small), 1e-8)


@pytest.mark.parametrize("tree", sample(range(2), 2), indirect=True)
def test_what_the_mass_matrix_changes_by(tree):
    system, q, _, _ = tree
    rest = np.zeros(system.nv)

    def masses(q, v, a):
        return np.array([reference_dynamics.forces(system, q, rest, unit) for unit in np.eye(system.nv)]) - (
            reference_dynamics.forces(system, q, rest, rest)
        )

    expected = reference_dynamics.derivatives(system, masses, q, rest, rest)[0]
    close(system.tangent_mass_matrix_derivative(q), expected)
    close(system.tangent_mass_matrix_derivative([q, q])[1], expected)


def test_inertia_at_a_frame(tree):
    system, q, _, _ = tree
    body = "b5"
    J, M = system.frame_jacobian(body, q), system.tangent_mass_matrix(q)
    close(system.operational_mobility(body, q), J @ np.linalg.solve(M, J.T), 1e-10)
    inertia = system.operational_inertia(body, q)
    close(inertia @ J @ np.linalg.solve(M, J.T), np.eye(6), 1e-9)
    small, units = 1e-5, np.eye(system.nv)
    after, before = (system.operational_inertia(body, system.integrate(q, sign * small * units)) for sign in (1, -1))
    found = system.operational_inertia_derivative(body, q)
    close(np.moveaxis(found, -1, 0), (after - before) / (2 * small), 1e-6)


def test_inertia_of_a_plate_that_loops_hold():
    """A wrench at the plate of a platform, and the acceleration that forces of its joints of the same virtual work cause."""
    system = mbvi.assemble(free(load("stewart_platform")))
    q, _, _ = state_of(system)
    wrench, rest = np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3]), np.zeros(system.nv)
    J = system.frame_jacobian("plate", q)
    change = system.forward_dynamics(q, rest, J.T @ wrench) - system.forward_dynamics(q, rest, rest)
    close(system.operational_inertia("plate", q) @ J @ change, wrench, 1e-8)
    with pytest.raises(mbvi.ModelError, match="expected a tree of joints, found constraints that close loops"):
        system.operational_inertia_derivative("plate", q)


def test_frames_that_cannot_move_in_six_ways():
    with pytest.raises(mbvi.ModelError) as error:
        arm().operational_inertia("arm.tool", [0.3])
    assert str(error.value) == (
        "arm: expected arm.tool as a frame that can move in six ways, found one that constraints or its joints keep from some; "
        "take System.operational_mobility"
    )
