"""Motion under a force in proportion to the inverse square of the distance, against Kepler's equation."""

import numpy as np
import pytest

import mbvi

PERIHELION, SPEED, STRENGTH, MASS = 0.5, 2.2, 3.0, 2.0


def kepler(t):
    """Place on the ellipse from its perihelion on x, by Kepler's equation M = E − e sin E."""
    mu = STRENGTH / MASS
    a = 1 / (2 / PERIHELION - SPEED**2 / mu)
    e = 1 - PERIHELION / a
    mean = np.sqrt(mu / a**3) * t
    E = mean
    for _ in range(50):
        E = E - (E - e * np.sin(E) - mean) / (1 - e * np.cos(E))
    return a, e, np.array([a * (np.cos(E) - e), a * np.sqrt(1 - e**2) * np.sin(E), 0])


def planet(strength=STRENGTH):
    point = mbvi.Body(point_masses={"m": mbvi.PointMass(mass=MASS, position=(0, 0, 0))})
    return mbvi.Model(
        name="planet",
        gravity=(0, 0, 0),
        bodies={"planet": point},
        joints={"flight": mbvi.Free(parent="world", child="planet")},
        forces={"sun": mbvi.InverseSquare(body_a="world", body_b="planet", strength=strength)},
        initial={"flight": mbvi.Initial(position=(PERIHELION, 0, 0), velocity=(0, SPEED, 0))},
    )


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_a_planet_moves_on_its_ellipse(formulation):
    run = mbvi.simulate(mbvi.assemble(planet(), formulation), "gauss4", step=0.01, duration=4)
    a, e, place = kepler(4)
    assert 0.5 < e < 0.9
    assert np.pi * np.sqrt(a**3 * MASS / STRENGTH) < 4  # past the aphelion
    np.testing.assert_allclose(run.pose("planet")[0][-1], place, rtol=0, atol=1e-8)
    energy = sum(run.system.energies(run.t, run.q, run.v))
    np.testing.assert_allclose(energy, MASS * SPEED**2 / 2 - STRENGTH / PERIHELION, rtol=1e-8)
    momentum = np.cross(run.pose("planet")[0], MASS * run.v[:, :3])
    np.testing.assert_allclose(momentum[:, 2], MASS * SPEED * PERIHELION, rtol=1e-11)


def test_a_negative_strength_repels():
    system = mbvi.assemble(planet(-STRENGTH))
    np.testing.assert_allclose(system.acceleration(system.initial_q, system.initial_v)[:3], (STRENGTH / MASS * 4, 0, 0))


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_a_start_at_the_centre_is_refused_with_its_cause(formulation):
    """The energy is infinite there, whatever the rates."""
    start = {"flight": mbvi.Initial(position=(0, 0, 0))}
    with pytest.raises(mbvi.ModelError, match=r"expected a state of finite energy, .* look for points that coincide"):
        mbvi.simulate(planet().replaced({"initial": start}), "gauss4", step=0.01, duration=1, formulation=formulation)
