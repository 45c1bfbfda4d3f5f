"""The same mechanism in other coordinates, or given otherwise, moves alike."""

import numpy as np
import pytest

import mbvi
from mbvi.analysis.convergence import convergence_order

from . import systems

STEP, DURATION = 0.01, 5.0


def run(system, scheme, step=STEP, duration=DURATION):
    return mbvi.simulate(system, scheme, step=step, duration=duration)


@pytest.mark.parametrize("scheme", ["midpoint", "simpson", "gauss4", "kahan_li6"])
def test_top_as_graph_and_in_sympy(scheme):
    """Step by step: differences are round-off, which θ near 0 (2.7°) amplifies."""
    graph = run(mbvi.assemble(systems.model("lagrange_top")), scheme)
    symbols = run(systems.lagrange_top_in_sympy(), scheme)
    for a, b in ((graph.q, symbols.q), (graph.p, symbols.p)):
        assert np.abs(a[1] - b[1]).max() < 1e-14 * np.abs(b).max()
        assert np.abs(a - b).max() < 1e-11 * np.abs(b).max()


def test_top_in_quaternions_differs_at_the_order_of_the_scheme():
    differences, steps = [], [0.004, 0.002, 0.001]
    exact = run(mbvi.assemble(systems.top("zxz", "lagrange_top", spin=40.0)), "gauss6", 0.001, 0.8)
    for step in steps:
        quaternion = run(mbvi.assemble(systems.top("quaternion", "lagrange_top", spin=40.0)), "simpson", step, 0.8)
        every = round(step / 0.001)
        differences.append(np.abs(quaternion.pose("top")[1] - exact.pose("top")[1][::every]).max())
    assert convergence_order(differences, steps) == pytest.approx(4, abs=0.1)
    fine = run(mbvi.assemble(systems.top("quaternion", "lagrange_top", spin=40.0)), "gauss6", 0.001, 0.8)
    np.testing.assert_allclose(fine.pose("top")[1], exact.pose("top")[1], atol=1e-10)


@pytest.mark.parametrize("scheme", ["midpoint", "simpson", "gauss4", "kahan_li6"])
def test_double_pendulum_in_relative_and_absolute_angles(scheme):
    """Polynomial schemes are equivariant under linear maps: the same trajectory, to round-off."""
    relative = run(mbvi.assemble(systems.model("double_pendulum")), scheme)
    absolute = run(systems.double_pendulum_in_absolute_angles(), scheme)
    assert np.abs(np.cumsum(relative.q, axis=1) - absolute.q)[1].max() < 1e-14
    assert np.abs(np.cumsum(relative.q, axis=1) - absolute.q).max() < 1e-11


def mass(q, M):
    M[0, 0], M[0, 1], M[1, 0], M[1, 1] = 1.0, 0.0, 0.0, q[0] ** 2


def potential(q):
    return 8 * (q[0] - 1) ** 2 - 4 * q[0] * np.cos(q[1])


@pytest.mark.parametrize("scheme", ["midpoint", "simpson", "gauss4"])
def test_lagrangian_in_sympy_and_as_functions(scheme):
    symbols = systems.elastic_pendulum()
    functions = mbvi.from_functions(
        ["r", "a"], mass, potential, initial_q=symbols.initial_q, initial_v=symbols.initial_v
    )
    a, b = run(symbols, scheme), run(functions, scheme)
    assert np.abs(a.q - b.q).max() < 1e-11


@pytest.mark.parametrize("sequence", ["xyz", "zyx", "yxy", "zxz"])
def test_euler_sequences_move_alike(sequence):
    """A body thrown in any sequence of Euler angles, compared by its poses at small steps."""
    rotation = np.array([0.9, 0.3, -0.2, np.sqrt(1 - 0.94)])

    def thrown(coordinates, position, velocity):
        body = mbvi.Body(mass=1, center_of_mass=(0.1, 0.2, 0.3), inertia=(0.2, 0.3, 0.45))
        joint = mbvi.Free(parent="world", child="body", coordinates=coordinates)
        initial = {"flight": mbvi.Initial(position=position, velocity=velocity)}
        model = mbvi.Model(name="thrown", bodies={"body": body}, joints={"flight": joint}, initial=initial)
        return mbvi.assemble(model)

    free = thrown("quaternion", (1, 2, 3, *rotation), (1, 0, 2, 0.5, 0.7, -0.4))
    angles, rates = euler_state(sequence, free)
    euler = thrown(sequence, (1, 2, 3, *angles), (1, 0, 2, *rates))
    a, b = (run(system, "gauss5", 0.01, 0.5) for system in (free, euler))
    for x, y in zip(a.pose("body"), b.pose("body"), strict=True):
        np.testing.assert_allclose(x, y, atol=1e-12)


def euler_state(sequence, free):
    """Angles and rates of a sequence with the rotation and its rate of a free body in a quaternion, by Newton."""
    from scipy.spatial.transform import Rotation

    def matrix(angles):
        return Rotation.from_euler(sequence.upper(), angles).as_matrix()

    q, v = free.initial_q, free.initial_v
    angles = Rotation.from_matrix(free.poses("body", q[None])[1][0]).as_euler(sequence.upper())
    h = 1e-5
    columns = [((matrix(angles + h * e) - matrix(angles - h * e)) / (2 * h)).ravel() for e in np.eye(3)]
    rate = (free.poses("body", (q + h * v)[None])[1] - free.poses("body", (q - h * v)[None])[1]).ravel() / (2 * h)
    return angles, np.linalg.lstsq(np.array(columns).T, rate, rcond=None)[0]
