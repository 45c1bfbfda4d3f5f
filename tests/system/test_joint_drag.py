"""Quadratic drag against its closed forms."""

import numpy as np
import pytest

import mbvi

MASS, COEFFICIENT = 1.7, 0.6


def falling(gravity, velocity):
    body = mbvi.Body(mass=MASS, inertia=(1, 1, 1))
    return mbvi.assemble(
        mbvi.Model(
            name="falling",
            gravity=(0, 0, -gravity),
            bodies={"a": body},
            joints={"fall": mbvi.Prismatic(parent="world", child="a", axis=(0, 0, -1))},
            forces={"air": mbvi.JointDrag(joint="fall", coefficient=COEFFICIENT)},
            initial={"fall": mbvi.Initial(velocity=velocity)},
        )
    )


def test_a_fall_from_rest_tends_to_its_last_speed():
    """v = u tanh(g t/u) with u² = m g/c, and x = u²/g log cosh(g t/u)."""
    g = 9.81
    run = mbvi.simulate(falling(g, 0.0), "gauss4", step=0.01, duration=1.5)
    u = np.sqrt(MASS * g / COEFFICIENT)
    np.testing.assert_allclose(run.v[:, 0], u * np.tanh(g * run.t / u), rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.q[:, 0], u**2 / g * np.log(np.cosh(g * run.t / u)), rtol=0, atol=1e-9)
    assert not run.system.is_conservative


@pytest.mark.parametrize("velocity", [4.0, -4.0])
def test_a_body_slows_down_in_both_directions(velocity):
    """v = v₀/(1 + c |v₀| t/m)."""
    run = mbvi.simulate(falling(0.0, velocity), "gauss4", step=0.01, duration=1)
    np.testing.assert_allclose(
        run.v[:, 0], velocity / (1 + COEFFICIENT * abs(velocity) * run.t / MASS), rtol=0, atol=1e-9
    )
