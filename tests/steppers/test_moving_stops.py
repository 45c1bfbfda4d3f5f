"""Stops that move, and models whose impacts have closed forms."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import mbvi
from mbvi.errors import ModelError
from mbvi.model import Model
from tests.folders import load

HEIGHT, RATE = 0.2, 9.0  # of the table


def table(t: float) -> float:
    return HEIGHT * math.sin(RATE * t)


def shaken(**stop) -> Model:
    """A ball of 2 kg on a table that moves up and down."""
    return Model(
        name="shaken",
        gravity=(0, 0, -10),
        bodies={"ball": mbvi.Body(mass=2)},
        joints={"fall": mbvi.Prismatic(parent="world", child="ball", axis=(0, 0, 1))},
        contacts={
            "table": mbvi.PlaneStop(body_a="world", body_b="ball", normal=(0, 0, 1), height="0.2*sin(9*t)", **stop)
        },
    )


def test_a_ball_leaves_a_table_that_falls_faster_than_it():
    run = mbvi.simulate(shaken(), "lobatto4", step=0.01, duration=0.2, initial_v=[HEIGHT * RATE])
    release = math.asin(10 / (HEIGHT * RATE**2)) / RATE
    assert [each.kind for each in run.contacts] == ["rest", "release"]
    assert run.contacts.t[1] == pytest.approx(release, abs=1e-14)
    t = run.t[run.t < release]
    force = 2 * (10 - HEIGHT * RATE**2 * np.sin(RATE * t))
    assert run.contact_forces()["table"][: len(t)] == pytest.approx(force, abs=1e-12)
    late = 0.2 - release
    thrown = table(release) + HEIGHT * RATE * math.cos(RATE * release) * late - 5 * late**2
    assert run.q[-1, 0] == pytest.approx(thrown, abs=1e-13)


def test_a_ball_bounces_on_a_table_that_moves():
    run = mbvi.simulate(shaken(restitution=0.7), "simpson", step=0.01, duration=1.2, initial_q=[0.7])
    t, x, v, times = 0.0, 0.7, 0.0, []
    while True:
        after = t + 1e-3
        while x + v * (after - t) - 5 * (after - t) ** 2 > table(after):
            after += 1e-3
        s = brentq(lambda s: x + v * (s - t) - 5 * (s - t) ** 2 - table(s), after - 1e-3, after, xtol=1e-15)  # noqa: B023
        if s > 1.2:
            break
        v, x, t = v - 10 * (s - t), table(s), s
        wall = HEIGHT * RATE * math.cos(RATE * s)
        v = wall - 0.7 * (v - wall)
        times.append(s)
    assert run.contacts.t == pytest.approx(times, abs=1e-13)
    assert not run.findings


def test_a_rope_that_is_drawn_in_lifts_its_load():
    rope = mbvi.DistanceStop(body_a="world", body_b="load", upper="1 - 0.2*t")
    model = Model(
        name="hoist",
        bodies={"load": mbvi.Body(mass=2)},
        joints={"free": mbvi.Free(parent="world", child="load")},
        contacts={"rope": rope},
        initial={"free": {"position": [0, 0, -1, 1, 0, 0, 0], "velocity": [0, 0, 0.2, 0, 0, 0]}},
    )
    run = mbvi.simulate(model, "simpson", step=0.05, duration=1)
    assert run.q[:, 2] == pytest.approx(0.2 * run.t - 1, abs=1e-13)
    assert run.contact_forces()["rope.upper"] == pytest.approx(np.full(21, 2 * 9.81), abs=1e-11)


def test_a_rocking_block_loses_what_housner_found():
    run = mbvi.simulate(load("rocking_block"), duration=1.5)
    hits = run.contacts.rows[run.contacts.kind == 0]
    assert len(hits) == 3
    of = run.contacts.of("left", "impact")
    rates = run.system.velocities(of.t, of.q, of.p)
    kinetic = np.array([run.system.kinetic_energy(q, v) for q, v in zip(of.q, rates, strict=True)])
    ratio = 1 - 1.5 * math.sin(math.atan(0.25)) ** 2
    assert np.sqrt(kinetic / (kinetic + of.energy)) == pytest.approx(np.full(len(of), ratio), abs=1e-12)


def test_a_pin_stays_in_its_hole():
    run = mbvi.simulate(load("slider_crank_clearance"), duration=0.1)
    ends = [run.pose(body) for body in ("crank", "rod")]
    pin, hole = (place + turned @ [x, 0, 0] for (place, turned), x in zip(ends, (0.05, -0.12), strict=True))
    assert np.linalg.norm(pin - hole, axis=1).max() < 0.0005 + 1e-14
    assert len(run.contacts) > 3


def test_a_stop_that_jumps_is_refused():
    jump = {"times": [0, 1], "values": [0, 1], "interpolation": "hold"}
    table = mbvi.PlaneStop(body_a="world", body_b="ball", normal=(0, 0, 1), height=jump)
    with pytest.raises(
        ModelError, match=r"contacts\.table\.height.*a motion that can be differentiated twice, found hold"
    ):
        shaken().replaced({"contacts": {"table": table}}).resolved()


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize("height", [0.0, -0.3])
def test_a_drive_that_goes_through_a_stop_is_named(height, formulation):
    """No impulse stops what a drive moves: the run ends there, and says so at once."""
    model = mbvi.Model(
        name="press",
        bodies={"ram": mbvi.Body(mass=1)},
        joints={"rail": mbvi.Prismatic(parent="world", child="ram", axis=(0, 0, 1))},
        constraints={"motor": mbvi.PrescribedCoordinate(joint="rail", value="-t")},
        contacts={"anvil": mbvi.PlaneStop(body_a="world", body_b="ram", normal=(0, 0, 1), height=height)},
    )
    with pytest.raises(mbvi.StepError, match=rf"move anvil into its stop at t = {abs(height):.6g} s"):
        mbvi.simulate(model, "simpson", step=0.01, duration=1.0, formulation=formulation)


@pytest.mark.parametrize("every", [1, 10])
def test_all_states_before_a_step_that_fails_are_kept(every):
    """The steps are done many at once; those before the one that fails count."""
    model = mbvi.Model(
        name="press",
        bodies={"ram": mbvi.Body(mass=1)},
        joints={"rail": mbvi.Prismatic(parent="world", child="ram", axis=(0, 0, 1))},
        constraints={"motor": mbvi.PrescribedCoordinate(joint="rail", value="-t")},
        contacts={"anvil": mbvi.PlaneStop(body_a="world", body_b="ram", normal=(0, 0, 1), height=-0.7305)},
    )
    with pytest.raises(mbvi.StepError, match=r"step 730 \(t = 0\.73 s\): .*t = 0\.7305 s") as error:
        mbvi.simulate(model, "simpson", step=0.001, duration=1.0, every=every)
    trajectory = error.value.trajectory
    np.testing.assert_allclose(trajectory.t, 0.001 * every * np.arange(730 // every + 1), rtol=0, atol=1e-12)
    np.testing.assert_allclose(trajectory.q[:, 0], -trajectory.t, rtol=0, atol=1e-12)


@pytest.mark.parametrize("friction", [0.0, 1000.0])
def test_a_bound_of_a_distance_that_passes_zero_is_named(friction):
    """The gap to it has a pole there, and changes its sign without a zero, also of an arm that friction holds."""
    ends = {"body_a": "world", "body_b": "arm", "point_b": (0, 0, -1)}
    model = mbvi.Model(
        name="shrinking",
        bodies={"arm": mbvi.Body(mass=1, center_of_mass=(0, 0, -1))},
        joints={"pivot": mbvi.Revolute(parent="world", child="arm", axis=(0, 1, 0))},
        contacts={
            "bound": mbvi.DistanceStop(**ends, lower="0.5*cos(t)"),
            "rub": mbvi.DryFriction(joint="pivot", kinetic=friction),
        },
    )
    with pytest.raises(
        mbvi.StepError, match=r"bound\.lower: expected a gap that is continuous .* at t = 1\.5[78]\d* s .*above 0"
    ):
        mbvi.simulate(model, "simpson", step=0.01, duration=3.0, initial_q=[0.3])
