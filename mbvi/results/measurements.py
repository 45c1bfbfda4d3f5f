"""What the sensors of a model measured in a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mbvi.errors import ModelError
from mbvi.model.expressions import wrong
from mbvi.results.phases import RunStates, measured_in
from mbvi.results.tables import Quantity, Table
from mbvi.system.feedback import seen_in
from mbvi.system.sensors import SystemSensor, system_sensors
from mbvi.system.system import System

Array = np.ndarray
SAME = 1e-9  # part of a step by which a sample may be from a stored state, and be of it


@dataclass(frozen=True, eq=False)
class Measured:
    """What a sensor measured.

    Attributes
    ----------
    t : ndarray (m,)
        Times of its samples [s].
    values : ndarray (m,) or (m, 3)
        What it measured, with its noise.
    exact : ndarray (m,) or (m, 3)
        The same without noise.
    components : tuple of str
        x, y and z of a vector; empty of a number.
    unit : str
    """

    t: Array
    values: Array
    exact: Array
    components: tuple[str, ...]
    unit: str

    def __len__(self) -> int:
        """Number of samples."""
        return len(self.t)

    def __repr__(self) -> str:
        """How many, and when."""
        return f"<Measured: {len(self)} samples from t = {self.t[0]:g} s to {self.t[-1]:g} s, in {self.unit or 1}>"


class Course(NamedTuple):
    """The states of a run.

    step      size of its steps, or the mean one [s]
    is_even   whether they all have this size
    t, q, p   (states,), (states, n), (states, n)
    happened  (m, 7 + 2 n), what happened to contacts; None of a system without
    known     (m, 1 + 2 w), samples of sensors that a file has: time, values, and the same without noise
    at        gives the states at other times, which have q and p
    """

    system: System
    step: float
    is_even: bool
    t: Array
    q: Array
    p: Array
    happened: Array | None
    at: Callable[[Array], Any]
    known: Mapping[str, Array]


def measurements(course: Course, names: Sequence[str] | None) -> dict[str, Measured]:
    """What some sensors, or all, measured in a run, see `Trajectory.measurements`."""
    return {each.name: _measured(course, each) for each in system_sensors(course.system, names)}


def _measured(course: Course, sensor: SystemSensor) -> Measured:
    known = course.known.get(sensor.name)
    if known is not None and _are_all(known[:, 0], course, sensor.period):
        values, exact = np.split(known[:, 1:], 2, axis=1)
        return _as_measured(known[:, 0].copy(), values, exact, sensor)
    t, q, p = _sampled_states(course, sensor.period)
    v = course.system.velocities(t, q, p)
    system = seen_in(course.system, t, q, v)
    exact = measured_in(RunStates(system, course.happened, t, q, v), SystemSensor(system, sensor.name))
    is_by_number = sensor.period is None and not course.is_even
    samples = np.arange(len(t)) if is_by_number else sensor.samples(t, course.step)
    values = sensor.noisy(samples, exact)
    return _as_measured(t, values, exact, sensor)


def _as_measured(t: Array, values: Array, exact: Array, sensor: SystemSensor) -> Measured:
    """What a sensor measured, of components (m, w)."""
    if not sensor.labels:
        values, exact = values[:, 0], exact[:, 0]
    return Measured(t, values.copy(), exact.copy(), sensor.labels, sensor.unit)


def _are_all(times: Array, course: Course, period: float | None) -> bool:
    """Whether these are the times of all samples of a run."""
    expected = _sample_times(course, period)
    return len(times) == len(expected) and bool(np.all(np.abs(times - expected) <= SAME * course.step))


def _sample_times(course: Course, period: float | None) -> Array:
    """The times (m,) of all samples: of the stored states, or of the first and all multiples of a period."""
    if period is None:
        return course.t
    first, last, near = course.t[0], course.t[-1], SAME * course.step
    multiples = period * np.arange(np.ceil((first - near) / period), np.floor((last + near) / period) + 1)
    return np.concatenate([course.t[:1], multiples[multiples > first + near]])


def _sampled_states(course: Course, period: float | None) -> tuple[Array, Array, Array]:
    """Times, coordinates and momenta of samples: of the stored states, or of the first and at all multiples of a period."""
    stored, q, p = course.t, course.q, course.p
    if period is None:
        return stored, q, p
    near = SAME * course.step
    t = _sample_times(course, period)
    rows = np.clip(np.searchsorted(stored, t - near), 0, len(stored) - 1)
    between = np.abs(stored[rows] - t) > near
    t[~between] = stored[rows[~between]]
    q, p = q[rows], p[rows]
    if between.any():
        found = course.at(t[between])
        q[between], p[between] = found.q, found.p
    return t, q, p


def measurement_table(course: Course, names: Sequence[str] | None) -> Table:
    """What sensors measured as one table, see `Trajectory.measurement_table`."""
    found = measurements(course, names)
    first, *others = found
    for name in others:
        if not np.array_equal(found[name].t, found[first].t):
            expected, remedy = f"sensors that sample together, as {first!r}", "name those of one period"
            raise ModelError(f"names: {wrong(expected, f'{name!r}, which samples at other times', remedy)}")
    quantities = tuple(
        Quantity(name, f"what the sensor {name} measured", ("axis",) if each.components else (), each.unit, each.values)
        for name, each in found.items()
    )
    return Table(found[first].t, quantities, {"axis": tuple("xyz")}, {}, {"name": course.system.name})
