"""Inverse and forward dynamics against Pinocchio; their derivatives against complex steps of plain NumPy, and differences."""

import numpy as np
import pytest

import mbvi

from . import mechanisms, reference_dynamics
from .mechanisms import FORCES, KINDS
from .test_against_pinocchio import build, convert
from .test_kinematics import close, random_motion

pin = pytest.importorskip("pinocchio")  # which has no wheels for Windows


@pytest.fixture(params=range(4), scope="module")
def tree(request):
    system = mbvi.assemble(mechanisms.random_tree(request.param))
    return system, *random_motion(system, request.param)


@pytest.fixture(params=range(2), scope="module")
def small(request):
    """A tree of half of all kinds of joints; balls hang on balls."""
    system = mbvi.assemble(mechanisms.random_tree(request.param, ("ball", "ball", *KINDS[request.param :: 2])))
    return system, *random_motion(system, request.param)


@pytest.fixture(scope="module")
def forced():
    """A tree with all kinds of forces, and one of a function."""

    def drag(t, q, v, F):
        for i in range(len(v)):
            F[i] -= 0.1 * v[i] * (1 + q[i] * q[i] + t)

    model = mechanisms.random_tree(3, ("ball", "revolute", "prismatic", "free", "revolute"), forces=FORCES)
    system = mbvi.assemble(model, force=drag)
    return system, *random_motion(system, 5)


def of_pinocchio(system, q, v, a):
    """The robot, its state and acceleration, and E with v_pin = E v."""
    robot, ids, _ = build(system.model)
    q_pin, v_pin, E, bias = convert(system.model, system, robot, ids, q, system.rates_of_velocity(q, v))
    tangents = np.array([system.rates_of_velocity(q, unit) for unit in np.eye(system.nv)]).T
    return robot, q_pin, v_pin, E @ system.rates_of_velocity(q, a) + bias, E @ tangents


def test_forces_and_accelerations_are_those_of_pinocchio(tree):
    system, q, v, a = tree
    robot, q_pin, v_pin, a_pin, E = of_pinocchio(system, q, v, a)
    data = robot.createData()
    forces = system.inverse_dynamics(q, v, a)
    close(forces, E.T @ pin.rnea(robot, data, q_pin, v_pin, a_pin))
    close(system.gravity(q), E.T @ pin.computeGeneralizedGravity(robot, data, q_pin))
    M = pin.crba(robot, data, q_pin)
    M = E.T @ (np.triu(M) + np.triu(M, 1).T) @ E
    close(system.tangent_mass_matrix(q), M)
    close(forces - system.bias(q, v), M @ a)
    close(system.forward_dynamics(q, v, forces), a, 1e-15 * np.linalg.cond(M) + 1e-12)


def test_derivatives_are_exact(small):
    system, q, v, a = small

    def forces(q, v, a):
        return reference_dynamics.forces(system, q, v, a)

    tau = system.inverse_dynamics(q, v, a)
    close(tau, forces(q, v, a))
    found, expected = (
        system.inverse_dynamics_derivatives(q, v, a),
        reference_dynamics.derivatives(system, forces, q, v, a),
    )
    for mine, theirs in zip(found, expected, strict=True):
        close(mine, theirs)
    by_q, by_v, by_a = expected
    forward = system.forward_dynamics_derivatives(q, v, tau)
    tolerance = 1e-15 * np.linalg.cond(by_a) + 1e-12
    close(forward.by_q, -np.linalg.solve(by_a, by_q), tolerance)
    close(forward.by_v, -np.linalg.solve(by_a, by_v), tolerance)
    close(forward.by_forces, np.linalg.inv(by_a), tolerance)


def test_forces_of_the_model_count(forced):
    system, q, v, a = forced
    t, rates = 0.4, system.rates_of_velocity(q, v)
    squares = np.array([w @ w for w in v[balls(system)].reshape(-1, 3)])
    accelerations = system.rates_of_velocity(q, a)
    for i, square in zip(mechanisms.quaternions(system), squares, strict=True):
        accelerations[i : i + 4] -= square / 4 * q[i : i + 4]  # ä = ½ a ω̇ − ¼ |ω|² a
    whole = system.guiding_forces([t], [q], [rates], [accelerations])[0]
    tangents = np.array([system.rates_of_velocity(q, unit) for unit in np.eye(system.nv)])
    close(system.inverse_dynamics(q, v, a, t), tangents @ whole)
    tau = np.arange(system.nv) / 10
    acceleration = system.forward_dynamics(q, v, tau, t)
    close(system.inverse_dynamics(q, v, acceleration, t), tau, 1e-10)
    at_times = system.inverse_dynamics(q, v, a, [t, 0.9])
    np.testing.assert_array_equal(at_times[0], system.inverse_dynamics(q, v, a, t))
    assert np.abs(at_times[1] - at_times[0]).max() > 0.1


def balls(system):
    return [i for i, name in enumerate(system.velocity_names) if name.rpartition(".")[2] in ("wx", "wy", "wz")]


def test_derivatives_of_forces_of_the_model(forced):
    system, q, v, a = forced
    small, units = 1e-5, np.eye(system.nv)
    found = system.inverse_dynamics_derivatives(q, v, a, 0.4)
    steps = [system.integrate(q, sign * small * units) for sign in (1, -1)]
    by_q = (system.inverse_dynamics(steps[0], v, a, 0.4) - system.inverse_dynamics(steps[1], v, a, 0.4)) / (2 * small)
    by_v = [system.inverse_dynamics(q, v + sign * small * units, a, 0.4) for sign in (1, -1)]
    close(found.by_q, by_q.T, 1e-8)
    close(found.by_v, (by_v[0] - by_v[1]).T / (2 * small), 1e-8)


def test_many_states_are_many_single_ones(small):
    system = small[0]
    many = [
        np.array(each).reshape(2, 2, -1) for each in zip(*(random_motion(system, i) for i in range(4)), strict=True)
    ]
    q, v, a = many
    for function in (
        system.inverse_dynamics,
        system.forward_dynamics,
        lambda *state: system.inverse_dynamics_derivatives(*state).by_q,
        lambda *state: system.forward_dynamics_derivatives(*state).by_v,
    ):
        found = function(q, v, a)
        for i, j in np.ndindex(2, 2):
            np.testing.assert_array_equal(found[i, j], function(q[i, j], v[i, j], a[i, j]))


def test_a_mass_matrix_that_is_singular():
    body, massless = mbvi.Body(mass=1), mbvi.Body()
    joints = {
        "pivot": mbvi.Revolute(parent="world", child="arm", axis=(0, 1, 0)),
        "slide": mbvi.Prismatic(parent="arm", child="bob", axis=(1, 0, 0)),
    }
    system = mbvi.assemble(mbvi.Model(name="arm", bodies={"arm": massless, "bob": body}, joints=joints))
    np.testing.assert_allclose(system.inverse_dynamics([0.0, 2.0], [1.0, 1.0], [0.0, 0.0]), [4 - 2 * 9.81, -2.0])
    with pytest.raises(mbvi.ModelError) as error:
        system.forward_dynamics([[0.0, 1.0], [0.0, 0.0]], [0.0, 0.0], [0.0, 0.0])
    assert str(error.value) == (
        "arm: expected a regular mass matrix, found that motion along pivot.angle has no inertia in state 1; "
        "give what moves some mass or inertia, or take another state"
    )


def test_numbers_that_are_not_finite(small):
    system, q, v, a = small
    with pytest.raises(mbvi.ModelError, match=r"^forces: expected finite numbers, found inf at place 1$"):
        system.forward_dynamics(q, v, np.where(np.arange(system.nv) == 1, np.inf, a))
    with pytest.raises(mbvi.ModelError, match=r"^t: expected finite numbers, found nan at place 0$"):
        system.inverse_dynamics(q, v, a, np.nan)


def test_bodies_that_nothing_holds_in_the_embedding():
    """With centres of mass at their origins, their coordinates are those of free joints; unit quaternions alone are held."""
    bodies = {
        "hull": mbvi.Body(mass=1.4, inertia=(0.3, 0.2, 0.5), frames={"bow": mbvi.Frame()}),
        "raft": mbvi.Body(mass=2, inertia=(1, 2, 2.5)),
        "bob": mbvi.Body(mass=3),
    }
    joints = {name: mbvi.Free(parent="world", child=name) for name in bodies}
    rope = mbvi.Spring(
        body_a="hull", point_a=(0.1, 0, 0), body_b="raft", point_b=(0, 0.3, 0), stiffness=20, rest_length=0.5
    )
    model = mbvi.Model(name="loose", bodies=bodies, joints=joints, forces={"rope": rope}, gravity=(0, 0, -9.81))
    tree, embedding = (mbvi.assemble(model, each) for each in ("tree", "embedding"))
    q, v, tau = random_motion(tree, 1)
    close(embedding.forward_dynamics(q, v, tau), tree.forward_dynamics(q, v, tau))
    pairs = zip(
        embedding.forward_dynamics_derivatives(q, v, tau), tree.forward_dynamics_derivatives(q, v, tau), strict=True
    )
    for found, expected in pairs:
        close(found, expected)
    close(embedding.operational_inertia("hull.bow", q), tree.operational_inertia("hull.bow", q))
