"""The motion between the stored states, and the times at which it is shown.

Between states the coordinates are cubics with the states' values and rates (Hermite); between states where something happened to
stops or dry friction they are those of the run itself. Poses follow from coordinates, so that
joints stay closed and angles keep their turns. By default time runs so slowly that no body turns by more than 120° from picture
to picture, and key frames are so close that none turns by more than 15°.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mbvi.errors import ModelError
from mbvi.model.arguments import check_kind
from mbvi.model.expressions import wrong
from mbvi.model.fields import WORLD
from mbvi.results.storage import Nameplate
from mbvi.results.trajectory import Trajectory
from mbvi.system.poses import all_velocities

Array = np.ndarray

RATE = 60
"""Pictures per second of a screen, and key frames of a page and a 3D file."""
MOST_TURN = math.radians(120)
"""A body that turns by more from picture to picture seems to stand still or to turn backwards."""
MOST_KEY_TURN = math.radians(15)
"""Largest turn between key frames, between which players of files interpolate."""
MOST_GAP = math.radians(120)
"""Largest turn θ from one stored state to the next if coordinates are quaternions, whose cubics are off by (θ/2)⁴/384 = 0.3 %."""
MOST_POSES = 2_000_000
"""Key frames of all bodies in a file."""
MOST_PICTURES = 100_000
MOST_STATES = 400_000


class Motion(NamedTuple):
    """A trajectory at the times of pictures or key frames.

    speed   simulated seconds per second
    t       (F,)    from the first stored time to the last  [s]
    q, v    (F, n)  coordinates and rates
    """

    speed: float
    t: Array
    q: Array
    v: Array


class Spin(NamedTuple):
    """The fastest turning body and its largest angular speed [rad/s]."""

    body: str
    rate: float


def check(trajectory: Trajectory) -> None:
    """Refuse a trajectory without bodies, or without states to show.

    Raises
    ------
    ModelError
        If it is no trajectory, the system has no bodies, there are fewer than two states, or one that is not a number.
    """
    check_kind(trajectory, Trajectory, "trajectory", "mbvi.read reads one from a file")
    system = trajectory.system
    if isinstance(system, Nameplate):
        remedy = "if it has bodies, build it and read the file with it: mbvi.read(path, system=system)"
        raise ModelError(f"animate: {wrong('a system with bodies', f'only {system!r}', remedy)}")
    if not system.frames:
        remedy = "describe the system as a model, or draw its coordinates: trajectory.t, trajectory.q"
        raise ModelError(f"animate: {wrong('a system with bodies', f'{system.name!r}, a Lagrangian without', remedy)}")
    if len(trajectory) < 2:
        remedy = "run longer, or store more states"
        raise ModelError(f"animate: {wrong('at least two stored states', str(len(trajectory)), remedy)}")
    if not np.isfinite(trajectory.q).all():
        first = int(np.argmin(np.isfinite(trajectory.q).all(axis=1)))
        found = f"{trajectory.q[first][~np.isfinite(trajectory.q[first])][0]} at t = {trajectory.t[first]:g} s"
        raise ModelError(f"animate: {wrong('coordinates that are finite numbers', found, 'run with a smaller step')}")


def fastest_spin(trajectory: Trajectory) -> Spin:
    """The largest angular speed of any body at the stored states, or at some of them if these are many."""
    system, count = trajectory.system, len(trajectory)
    few = min(count, max(200, MOST_STATES // len(system.frames)))
    rows = np.unique(np.linspace(0, count - 1, few).round().astype(int))
    velocities = all_velocities(system, trajectory.q[rows], _rates(trajectory)[rows])
    rates = {
        name: float(np.linalg.norm(each.angular, axis=1).max()) for name, each in velocities.items() if name != WORLD
    }
    body = max(rates, key=rates.__getitem__)
    return Spin(body, rates[body])


def check_gaps(trajectory: Trajectory, spin: Spin) -> None:
    """Whether quaternions at stored states show how bodies turn between them; angles keep count of their turns.

    Raises
    ------
    ModelError
        If a body turns by more than `MOST_GAP` from one stored state to the next.
    """
    turn = spin.rate * float(np.diff(trajectory.t).max())
    if "-" in trajectory.system.coordinate_units and turn > MOST_GAP:
        found = f"turns of {math.degrees(turn):.0f}° of {spin.body!r} between them"
        remedy = "store more states (every, --every), or take a smaller step"
        most = f"stored states of quaternions with turns of at most {math.degrees(MOST_GAP):.0f}° between them"
        raise ModelError(f"animate: {wrong(most, found, remedy)}")


def natural_speed(spin: Spin, rate: float = RATE) -> float:
    """Real time, 1, or so slow that no body turns by more than `MOST_TURN` from picture to picture; of two digits."""
    if spin.rate <= MOST_TURN * rate:
        return 1.0
    speed = MOST_TURN * rate / spin.rate
    unit = 10.0 ** (math.floor(math.log10(speed)) - 1)
    return float(f"{math.floor(speed / unit) * unit:.2g}")


def pictures(trajectory: Trajectory, speed: float, rate: float = RATE) -> Motion:
    """The motion at the times of pictures, `rate` per second of watching.

    Raises
    ------
    ModelError
        If these are too many.
    """
    count = _count(trajectory, speed, rate)
    if count > MOST_PICTURES:
        _refuse("pictures", MOST_PICTURES, count, speed)
    return _sampled(trajectory, speed, rate)


def key_frames(trajectory: Trajectory, speed: float, spin: Spin) -> Motion:
    """The motion at 60 key frames per second of watching, or more where a body would turn by more than `MOST_KEY_TURN`.

    Raises
    ------
    ModelError
        If these are too many for a file.
    """
    rate = RATE * max(1, math.ceil(spin.rate * speed / RATE / MOST_KEY_TURN))
    poses = _count(trajectory, speed, rate) * (len(trajectory.system.frames) - 1)  # of the world there is none
    if poses > MOST_POSES:
        _refuse("key frames of bodies", MOST_POSES, poses, speed)
    return _sampled(trajectory, speed, rate)


def _refuse(what: str, most: int, count: int, speed: float) -> None:
    found, enough = f"{count:,} at the speed {speed:g}", speed * count / most
    remedy = f"raise the speed to {float(f'{enough:.2g}') * 1.1:.2g}, or run a shorter time"
    raise ModelError(f"animate: {wrong(f'at most {most:,} {what}', found, remedy)}")


def _rates(trajectory: Trajectory) -> Array:
    """The velocities or, where they could not be computed, differences of the coordinates."""
    if np.isfinite(trajectory.v).all():
        return trajectory.v
    return np.gradient(trajectory.q, trajectory.t, axis=0)


def _count(trajectory: Trajectory, speed: float, rate: float) -> int:
    return 1 + max(1, math.ceil((trajectory.t[-1] - trajectory.t[0]) / speed * rate - 1e-9))


def _sampled(trajectory: Trajectory, speed: float, rate: float) -> Motion:
    """q by Hermite's cubic on [0, 1]: (1 + 2s)(1 − s)² q₀ + s²(3 − 2s) q₁ + h s(1 − s)² v₀ − h s²(1 − s) v₁."""
    times, q, v = trajectory.t, trajectory.q, _rates(trajectory)
    t = np.linspace(times[0], times[-1], _count(trajectory, speed, rate))
    if trajectory.contact_events is not None and len(trajectory.contact_events):
        found = trajectory.at(t, fast=True)
        return Motion(speed, t, found.q, found.v)
    i = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2)
    h = (times[i + 1] - times[i])[:, None]
    s = (t[:, None] - times[i][:, None]) / h
    r = 1 - s
    a, b = (1 + 2 * s) * r**2, s**2 * (3 - 2 * s)
    sampled_q = a * q[i] + b * q[i + 1] + h * s * r * (r * v[i] - s * v[i + 1])
    sampled_v = 6 * s * r * (q[i + 1] - q[i]) / h + r * (1 - 3 * s) * v[i] - s * (2 - 3 * s) * v[i + 1]
    return Motion(speed, t, sampled_q, sampled_v)
