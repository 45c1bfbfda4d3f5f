"""Bushings: against closed forms and differences; more of their derivatives is tested with those of all forces."""

import numpy as np
import pytest

import mbvi
from tests.system.mechanisms import random_state

SMALL_TURN = 14 * np.pi / 180


def mounted(coordinates="quaternion", **fields):
    """A body on a bushing, without gravity."""
    body = mbvi.Body(mass=2, inertia=(0.3, 0.5, 0.4))
    free = mbvi.Free(parent="world", child="b", coordinates=coordinates)
    forces = {"mount": mbvi.Bushing(body_a="world", body_b="b", **fields)}
    return mbvi.Model(name="mount", bodies={"b": body}, joints={"free": free}, forces=forces, gravity=(0, 0, 0))


def test_a_turn_about_an_axis():
    """V = κ (1 − cos θ), within 1 % of a linear spring up to 14 degrees; about the axes as they are turned."""
    turn = np.array([0.3, -0.4, 0.5])
    for axis in range(3):
        kappa = 1.0 + np.arange(3)
        system = mbvi.assemble(mounted(turning_stiffness=kappa, orientation=turn))
        from scipy.spatial.transform import Rotation

        e = Rotation.from_rotvec(turn).as_matrix()[:, axis]
        for theta in (1e-6, SMALL_TURN, 2.5, np.pi):
            q = np.concatenate([np.zeros(3), [np.cos(theta / 2)], np.sin(theta / 2) * e])
            assert system.potential(q) == pytest.approx(kappa[axis] * 2 * np.sin(theta / 2) ** 2, rel=1e-9)
    assert np.sin(SMALL_TURN) == pytest.approx(SMALL_TURN, rel=0.01)


def test_frequencies_are_those_of_six_springs():
    k, kappa = np.array([50.0, 70.0, 90.0]), np.array([2.0, 3.0, 4.0])
    found = mbvi.linearize(mounted("zxy", stiffness=k, turning_stiffness=kappa)).frequencies
    np.testing.assert_allclose(found, np.sort(np.sqrt([*(k / 2), *(kappa / (0.3, 0.5, 0.4))])), rtol=1e-12)


def test_damping_takes_what_the_energy_loses():
    """Its power is −c ẋ² − γ ω², and a run loses the energy that its powers say."""
    c, gamma = np.array([0.5, 0.7, 0.9]), np.array([0.1, 0.2, 0.3])
    system = mbvi.assemble(mounted("zxy", damping=c, turning_damping=gamma, stiffness=(9, 8, 7)))
    assert not system.is_conservative
    q, v = np.zeros(6), np.array([1.0, -2.0, 0.5, 0.3, 0.2, -0.7])
    power = v @ (system.gradient(q, v)[1] - system.unforced.gradient(q, v)[1])
    omega = np.array([v[4], v[5], v[3]])  # of zxy at zero angles
    assert power == pytest.approx(-c @ v[:3] ** 2 - gamma @ omega**2, rel=1e-13)
    run = mbvi.simulate(system, "gauss3", step=0.01, duration=1, initial_v=v)
    assert run.energy()[-1] < run.energy()[0] and run.findings == ()


@pytest.mark.parametrize("coordinates", [("quaternion", "zxy"), ("zxy", "quaternion")])
@pytest.mark.parametrize("parent", ["world", "a"])
def test_forces_and_derivatives(parent, coordinates):
    """Momentum is kept between two bodies, the force is that of the potential, and second derivatives are those of it."""
    bodies = {
        "a": mbvi.Body(mass=2, inertia=(0.3, 0.5, 0.4)),
        "b": mbvi.Body(mass=1, center_of_mass=(0.1, 0, 0), inertia=(1, 1, 1)),
    }
    joints = {
        "first": mbvi.Free(parent="world", child="a", coordinates=coordinates[0], position=(0.1, 0.2, -0.3)),
        "second": mbvi.Free(parent=parent, child="b", coordinates=coordinates[1], position=(0.3, 0.5, 0.7)),
    }
    ends = {"body_a": "a", "point_a": (0.1, 0.2, 0.3), "body_b": "b", "point_b": (0.05, -0.1, 0.2)}
    turns = {"orientation": (0.1, 0.5, 0.2), "rest_orientation": (0.3, -0.2, 0.4)}
    springs = {"stiffness": (3, 4, 5), "turning_stiffness": (1, 2, 1.5)}
    dampers = {"damping": (0.3, 0.4, 0.5), "turning_damping": (0.1, 0.2, 0.3)}
    parts = {"name": "two", "bodies": bodies, "joints": joints, "gravity": (0, 0, 0)}
    system = mbvi.assemble(mbvi.Model(**parts, forces={"mount": mbvi.Bushing(**ends, **turns, **springs, **dampers)}))
    q, v = random_state(system, 2)

    def differences(function, x):
        h, steps = 1e-4, np.eye(len(x))
        parts = [
            8 * (function(x + h * e) - function(x - h * e)) - function(x + 2 * h * e) + function(x - 2 * h * e)
            for e in steps
        ]
        return np.moveaxis(np.array(parts), 0, -1) / (12 * h)

    _, _, by_v, by_q = system.second_derivatives(q, v)
    np.testing.assert_allclose(by_q, differences(lambda x: system.gradient(x, v)[1], q), rtol=0, atol=1e-8)
    np.testing.assert_allclose(by_v, differences(lambda x: system.gradient(q, x)[1], v), rtol=0, atol=1e-8)
    rest = np.zeros_like(v)
    np.testing.assert_allclose(-differences(system.potential, q), system.gradient(q, rest)[1], rtol=0, atol=1e-9)
    names = {each.name for each in mbvi.analysis.find_invariants(mbvi.assemble(system.model, "embedding"))}
    assert {f"{kind} momentum ({axis})" for kind in ("linear", "angular") for axis in "xyz"} <= names


def test_a_ball_spring_is_a_torsion_spring_of_a_pendulum():
    """I θ̈ = −κ sin(θ − θ₀): about its rest it swings as a pendulum of κ for m g l."""
    joint = mbvi.Ball(parent="world", child="b", orientation=(0, 0, 0.4), coordinates="zxy")
    body = mbvi.Body(mass=2, inertia=(0.3, 0.5, 0.4))
    spring = mbvi.BallSpring(joint="ball", stiffness=2.0, rest=(0, 0, 0.3))
    parts = {"bodies": {"b": body}, "joints": {"ball": joint}, "forces": {"spring": spring}, "gravity": (0, 0, 0)}
    for formulation in ("tree", "embedding"):
        model = mbvi.Model(name="ball", formulation=formulation, **parts)
        frequencies = mbvi.linearize(model, at=_rest(model)).frequencies
        np.testing.assert_allclose(frequencies[-3:], np.sqrt(2.0 / np.array([0.5, 0.4, 0.3])), rtol=1e-9)
    system = mbvi.assemble(model, "tree")
    assert system.potential([0.3 + 0.8, 0, 0]) == pytest.approx(2 * (1 - np.cos(0.8)), rel=1e-12)


def _rest(model):
    """Coordinates at the spring's rest."""
    started = model.model_copy(update={"initial": {"ball": mbvi.Initial(position=(0.3, 0, 0))}})
    return mbvi.assemble(started).initial_q
