"""Balls, coins and ellipsoids that strike planes, cylinders and spheres, against closed forms."""

import math

import numpy as np
import pytest

import mbvi
from mbvi.errors import ModelError
from mbvi.model import Model

FREE = {"free": mbvi.Free(parent="world", child="body")}


def falling(stop, body, gravity=10.0, position=(0, 0, 1, 1, 0, 0, 0), velocity=(0, 0, 0, 0, 0, 0)) -> Model:
    """A free body above what it strikes."""
    return Model(
        name="falling",
        gravity=(0, 0, -gravity),
        bodies={"body": body},
        joints=FREE,
        contacts={"stop": stop},
        initial={"free": mbvi.Initial(position=position, velocity=velocity)},
    )


def test_a_tilted_coin_strikes_with_its_edge():
    tilt, r, m, e = 0.4, 0.3, 2.0, 0.6
    coin = mbvi.Body(mass=m, inertia=(m * r * r / 4, m * r * r / 2, m * r * r / 4))
    stop = mbvi.WheelStop(body_a="world", body_b="body", radius=r, axis=(0, 1, 0), restitution=e)
    start = (0, 0, 1, math.cos(tilt / 2), math.sin(tilt / 2), 0, 0)
    run = mbvi.simulate(falling(stop, coin, position=start), "lobatto4", step=0.02, duration=0.8)
    first = math.sqrt(2 * (1 - r * math.cos(tilt)) / 10)
    mass = m / (1 + 4 * math.sin(tilt) ** 2)  # at the edge, r sin(tilt) from the centre
    assert run.contacts.t[0] == pytest.approx(first, abs=1e-14)
    assert run.contacts.impulse[0] == pytest.approx(mass * 10 * first * (1 + e), abs=1e-12)
    assert np.ptp(run.energy() + run.energy_taken()) < 1e-12
    assert run.gaps()["stop"].min() > -1e-12


def test_a_ball_in_a_tube_is_a_billiard():
    stop = mbvi.BallStop(
        body_a="world",
        body_b="body",
        radius=0.1,
        surface="cylinder",
        surface_radius=1,
        inside=True,
        restitution=1,
    )
    ball = mbvi.Body(mass=1, inertia=(1, 1, 1))
    model = falling(stop, ball, gravity=0, position=(0.2, 0.1, 0, 1, 0, 0, 0), velocity=(1, 0.5, 0.3, 0, 0, 0))
    run = mbvi.simulate(model, "simpson", step=0.1, duration=10)
    distance = abs(0.2 * 0.5 - 0.1 * 1) / math.sqrt(1.25)  # of the ball's line from the axis
    chord = 2 * math.sqrt(0.9**2 - distance**2) / math.sqrt(1.25)
    assert np.diff(run.contacts.t) == pytest.approx(np.full(len(run.contacts) - 1, chord), abs=1e-12)
    assert run.q[-1, 2] == pytest.approx(3, abs=1e-13)


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_a_ball_slides_in_a_bowl_as_a_pendulum_swings(formulation):
    stop = mbvi.BallStop(body_a="world", body_b="body", radius=0.1, surface="sphere", surface_radius=0.6, inside=True)
    start = (0.5 * math.sin(0.6), 0, -0.5 * math.cos(0.6), 1, 0, 0, 0)
    ball = mbvi.Body(mass=1, inertia=(0.01, 0.01, 0.01))
    model = falling(stop, ball, position=start)
    bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -0.5))
    pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    swinging = Model(name="pendulum", gravity=(0, 0, -10), bodies={"bob": bob}, joints={"pivot": pivot})
    exact = mbvi.simulate(swinging, "gauss8", step=0.02, duration=0.6, initial_q=[-0.6])
    errors = []
    for step in (0.02, 0.01):
        run = mbvi.simulate(model, "lobatto4", step=step, duration=0.6, formulation=formulation)
        assert [each.kind for each in run.contacts] == ["rest"]
        every = round(0.02 / step)
        errors.append(np.abs(run.pose("body")[0][::every, 0] + 0.5 * np.sin(exact.q[:, 0])).max())
    assert errors[1] < 1e-11
    assert math.log2(errors[0] / errors[1]) == pytest.approx(6, abs=0.5)


def test_an_ellipsoid_falls_on_what_is_lowest():
    stop = mbvi.EllipsoidStop(body_a="world", body_b="body", semi_axes=(0.1, 0.2, 0.3), restitution=0.5)
    turn = 0.7  # about x
    start = (0, 0, 1, math.cos(turn / 2), math.sin(turn / 2), 0, 0)
    run = mbvi.simulate(
        falling(stop, mbvi.Body(mass=1, inertia=(0.02, 0.02, 0.02)), position=start), "simpson", step=0.05, duration=0.5
    )
    height = math.hypot(0.2 * math.sin(turn), 0.3 * math.cos(turn))
    assert run.contacts.t[0] == pytest.approx(math.sqrt(2 * (1 - height) / 10), abs=1e-14)


def test_a_ball_that_does_not_fit_is_refused():
    stop = mbvi.BallStop(body_a="world", body_b="body", radius=2, surface="sphere", surface_radius=1, inside=True)
    with pytest.raises(ModelError, match=r"contacts\.stop\.radius: expected a ball smaller than the sphere, found 2"):
        falling(stop, mbvi.Body(mass=1)).resolved()
