"""Between stored states: against finer runs and closed forms; pictures close enough in time to see what turns."""

import dataclasses

import numpy as np
import pytest
import sympy

import mbvi
from mbvi.animation.motion import (
    MOST_KEY_TURN,
    MOST_TURN,
    RATE,
    Spin,
    check,
    check_gaps,
    fastest_spin,
    key_frames,
    natural_speed,
    pictures,
)
from mbvi.results.storage import Nameplate
from mbvi.system.poses import all_poses, all_velocities


def rotor(rate):
    wheel = mbvi.Body(mass=1, inertia=(0.5, 1, 0.5))
    axle = mbvi.Revolute(parent="world", child="wheel", axis=(0, 1, 0))
    model = mbvi.Model(name="wheel", bodies={"wheel": wheel}, joints={"axle": axle})
    return mbvi.simulate(model, "midpoint", step=0.05, duration=0.5, initial_v=[rate])


def test_coordinates_between_states_are_those_of_a_finer_run(models):
    model = mbvi.load(models / "double_pendulum.yaml")
    coarse, fine = (mbvi.simulate(model, "lobatto4", step=0.01, duration=1, every=every) for every in (2, 1))
    motion = pictures(coarse, 1.0, 100)
    assert np.array_equal(motion.q[::2], coarse.q)
    # A cubic is off by h⁴ q⁗/384, where h = 0.02 and the fastest mode has 11.6 rad/s and less than 1 rad: 8e-6.
    np.testing.assert_allclose(motion.q, fine.q, rtol=0, atol=8e-6)
    np.testing.assert_allclose(motion.v, fine.v, rtol=0, atol=8e-4)


def test_turns_between_stored_states_are_kept():
    trajectory = rotor(300.0)  # 15 rad from state to state
    motion = pictures(trajectory, 1.0, 1000)
    _, rotation = trajectory.system.poses("wheel", motion.q)
    np.testing.assert_allclose(rotation[:, 0, 0], np.cos(300 * motion.t), rtol=0, atol=1e-10)


def test_nothing_turns_by_more_than_the_bound_between_key_frames():
    trajectory = rotor(300.0)
    spin = fastest_spin(trajectory)
    assert spin.body == "wheel" and spin.rate == pytest.approx(300, rel=1e-6)
    for speed in (1.0, 0.1):
        motion = key_frames(trajectory, speed, spin)
        turn = 300 * np.diff(motion.t)
        assert turn.max() <= MOST_KEY_TURN * (1 + 1e-6)
        assert (np.diff(motion.t) <= speed / RATE * (1 + 1e-9)).all()


def test_the_natural_speed_shows_every_turn_and_is_real_time_where_that_does():
    assert natural_speed(Spin("a", MOST_TURN * RATE)) == 1.0
    for rate in (126, 300, 3000, 99999):
        speed = natural_speed(Spin("a", rate))
        assert 0.9 * MOST_TURN < rate * speed / RATE <= MOST_TURN
    assert natural_speed(Spin("a", 300.0)) == 0.41


def test_angular_velocity_is_that_of_euler_angles():
    ball = mbvi.Ball(parent="world", child="wheel", coordinates="zxz")
    wheel = mbvi.Body(mass=1, inertia=(0.5, 1, 0.5))
    model = mbvi.Model(name="wheel", bodies={"wheel": wheel}, joints={"axle": ball})
    trajectory = mbvi.simulate(model, step=0.01, duration=0.02, initial_q=[0.1, 0.7, 0.3], initial_v=[1, 2, 3])
    phi, theta, _ = q = trajectory.q[0]
    line = np.array([np.cos(phi), np.sin(phi), 0])
    axis = np.array([np.sin(phi) * np.sin(theta), -np.cos(phi) * np.sin(theta), np.cos(theta)])
    velocity = all_velocities(trajectory.system, q[None], np.array([[1.0, 2.0, 3.0]]))["wheel"]
    np.testing.assert_allclose(velocity.linear[0], 0, rtol=0, atol=1e-9)
    np.testing.assert_allclose(velocity.angular[0], [0, 0, 1] + 2 * line + 3 * axis, rtol=0, atol=1e-7)


def test_quaternions_too_far_apart_do_not_tell_how_a_body_turns(models):
    model = mbvi.load(models / "free_rigid_body.yaml")
    trajectory = mbvi.simulate(model, step=0.01, duration=4, every=50)
    check_gaps(trajectory, fastest_spin(trajectory))  # 1 rad
    motion = pictures(trajectory, 1.0, 100)
    fine = mbvi.simulate(model, step=0.01, duration=4)
    _, found = trajectory.system.poses("brick", motion.q)
    np.testing.assert_allclose(found, fine.pose("brick")[1], rtol=0, atol=5e-3)
    trajectory = mbvi.simulate(model, step=0.01, duration=4, every=200)
    expected = r"at most 120° between them, found turns of 2\d\d° of 'brick' between them; store more states \(every, --every\)"
    with pytest.raises(mbvi.ModelError, match=expected):
        check_gaps(trajectory, fastest_spin(trajectory))


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_poses_of_all_bodies_are_those_of_each(formulation, models):
    for name in ("branched_tree", "gantry_crane", "double_spherical_pendulum"):
        system = mbvi.assemble(mbvi.load(models / f"{name}.yaml"), formulation)
        q = system.initial_q + 0.1 * np.random.default_rng(1).normal(size=(3, system.dimension))
        found = all_poses(system, q)
        for body in system.frames:
            places, rotations = system.poses(body, q)
            np.testing.assert_allclose(found[body].places, places, rtol=0, atol=1e-14)
            np.testing.assert_allclose(found[body].rotations, rotations, rtol=0, atol=1e-14)


def test_what_cannot_be_shown_is_refused():
    trajectory = rotor(1.0)
    one = dataclasses.replace(trajectory, t=trajectory.t[:1], q=trajectory.q[:1], p=trajectory.p[:1])
    with pytest.raises(mbvi.ModelError, match=r"^animate: expected at least two stored states, found 1; run longer"):
        check(one)
    q = trajectory.q.copy()
    q[3] = np.nan
    with pytest.raises(mbvi.ModelError, match=r"finite numbers, found nan at t = 0.15 s; run with a smaller step$"):
        check(dataclasses.replace(trajectory, q=q))
    with pytest.raises(
        mbvi.ModelError, match=r"expected at most 100,000 pictures, found 3,000,001 at the speed 1e-05; "
    ):
        pictures(trajectory, 1e-5)


def test_a_lagrangian_without_bodies_is_refused():
    x = sympy.symbols("x")
    system = mbvi.from_sympy([x], [[1]], x**2 / 2, name="oscillator")
    with pytest.raises(
        mbvi.ModelError, match="'oscillator', a Lagrangian without; describe the system as a model, or draw"
    ):
        check(dataclasses.replace(rotor(1.0), system=system))
    plate = Nameplate("oscillator", ("x",), ("",), 1, 0, True)  # what a file tells of it
    with pytest.raises(mbvi.ModelError, match="found only the name 'oscillator' of a system that its file cannot hold"):
        check(dataclasses.replace(rotor(1.0), system=plate))


@pytest.mark.parametrize("speed", ["1", 0, np.nan, True, 10**400])
def test_speeds_that_are_none(speed, tmp_path):
    with pytest.raises(mbvi.ModelError, match=r"^speed: expected simulated seconds per second, greater than 0, found "):
        mbvi.animate(rotor(1.0), tmp_path / "a.glb", speed=speed)
