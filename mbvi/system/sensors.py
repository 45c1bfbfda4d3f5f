"""What the sensors of a system measure in states, and their noise.

The noise of sample j is the j-th block of a stream of random numbers that belongs to the seed and the sensor's name (Philox, by
which any block is found at once), as quantiles of the normal distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any
from zlib import crc32

import numpy as np

from mbvi.errors import ModelError
from mbvi.model.arguments import checked_names
from mbvi.model.expressions import nearest, show, wrong
from mbvi.model.sensors import (
    Accelerometer,
    Encoder,
    ExpressionSensor,
    ForceSensor,
    Gyroscope,
    InJoint,
    PositionSensor,
    TorqueSensor,
)
from mbvi.system.measures import Measurement
from mbvi.system.reactions import reactions
from mbvi.system.system import System

Array = np.ndarray
Solve = Callable[[Array, Array, Array], tuple[Array, Array]]
NEAR = 1e-6  # part of a period by which a time may be before a sample, and be at it
BLOCKS, NUMBERS = 1, 4  # of Philox for a sample, and random numbers in them
UNITS: dict[Any, str] = {
    Gyroscope: "rad/s",
    Accelerometer: "m/s²",
    PositionSensor: "m",
    ForceSensor: "N",
    TorqueSensor: "N m",
}
AXES = ("x", "y", "z")


def noise_of(name: str, seed: int, samples: Array, width: int) -> Array:
    """Normal numbers (m, width ≤ 4) of samples (m,) of a sensor, which are whole numbers."""
    from scipy.special import ndtri  # takes a while to import

    first = int(samples.min())
    count = int(samples.max()) - first + 1
    stream = np.random.Philox(np.random.SeedSequence([seed, crc32(name.encode())]))
    stream.advance(BLOCKS * first % 2**256)
    raw = stream.random_raw(NUMBERS * count).reshape(count, NUMBERS)[samples - first, :width]
    return np.asarray(ndtri(((raw >> np.uint64(11)) + 0.5) * 2.0**-53))


class SystemSensor:
    """A sensor of a system.

    Parameters
    ----------
    system : System
    name : str
        The name of the sensor in the system's model.

    Attributes
    ----------
    system : System
    name : str
    period : float or None
        [s]
    labels : tuple of str
        Names of its components; empty if it has only one.
    unit : str
    """

    def __init__(self, system: System, name: str) -> None:
        assert system.model is not None
        model = system.model.resolved()
        self.system, self._sensor, self.name = system, model.sensors[name], name
        self._gravity = np.array(model.gravity, dtype=float)
        sensor: Any = self._sensor
        self.period = None if sensor.period is None else float(sensor.period)
        self.labels = AXES if type(sensor) in UNITS else ()
        self.unit = UNITS.get(type(sensor), "")
        self._measurement: Measurement | None = None
        if isinstance(sensor, Encoder):
            joint = model.joints[sensor.joint]
            units = dict(zip(joint.coordinate_names, joint.coordinate_units, strict=True))
            self.unit = units[str(sensor.coordinate)]
            self._measurement = Measurement(system, f"q({_quoted(sensor.joint)}, {_quoted(str(sensor.coordinate))})")
        elif isinstance(sensor, ExpressionSensor):
            self._measurement = Measurement(system, sensor.expression)

    @property
    def needs_forces(self) -> bool:
        """Whether what it measures depends on the forces that act."""
        return isinstance(self._sensor, Accelerometer | InJoint)

    def exact(self, t: Array, q: Array, v: Array, system: System | None = None, solve: Solve | None = None) -> Array:
        """What it would measure without noise, (states, components), in states at t (states,) with q and its rates v (states, n).

        Forces are those that act until then: an input that jumps at the time is that before.

        Parameters
        ----------
        t, q, v : (states,), (states, n), (states, n)
        system : System, optional
            Where stops and dry friction act, that in which those are constraints or forces which act in these states.
        solve : callable, optional
            Then what gives accelerations (states, n) and multipliers (states, k) at t, q and v.

        Raises
        ------
        ModelError
            If the equations are singular in a state.
        """
        sensor: Any = self._sensor
        if self._measurement is not None:
            return self._measurement(t, q, v)[:, None]
        if isinstance(sensor, PositionSensor):
            return self.system.frame_pose(sensor.frame, q)[0]
        velocities = self.system.velocity_of_rates(q, v)
        if isinstance(sensor, Gyroscope):
            return self.system.frame_velocity(sensor.frame, q, velocities, "body")[:, 3:]
        before, system = np.nextafter(t, -np.inf), system or self.system
        a, lam = (solve or system.accelerations_and_multipliers)(before, q, v)
        if isinstance(sensor, InJoint):
            return self._in_joint(system, before, q, v, lam)
        accelerations = self.system.velocity_of_rates(q, a)
        of_frame = self.system.frame_acceleration(sensor.frame, q, velocities, accelerations)[:, :3]
        return _turned(self.system.frame_pose(sensor.frame, q)[1], of_frame - self._gravity)

    def _in_joint(self, system: System, t: Array, q: Array, v: Array, lam: Array) -> Array:
        """The force or torque (states, 3) in a joint."""
        sensor: Any = self._sensor
        force, torque = reactions(system, [sensor.joint], t, q, v, lam)[0]
        child = self.system.model.joints[sensor.joint].child  # type: ignore[union-attr]
        return _turned(self.system.frame_pose(child, q)[1], force if isinstance(sensor, ForceSensor) else torque)

    def samples(self, t: Array, step: float) -> Array:
        """The numbers (states,) of its last samples until times t [s], of a run with steps of that size."""
        return np.floor(t / (self.period or step) + NEAR).astype(np.int64)

    def noisy(self, samples: Array, exact: Array) -> Array:
        """What it measures (states, components) in samples (states,)."""
        sensor: Any = self._sensor
        if not sensor.noise or not len(samples):
            return exact
        return exact + float(sensor.noise) * noise_of(self.name, int(sensor.seed), samples, exact.shape[1])


def _turned(rotations: Array, vectors: Array) -> Array:
    """Vectors (states, 3) along the axes of frames, whose rotations to the world are (states, 3, 3)."""
    return np.einsum("kji,kj->ki", rotations, vectors)


def _quoted(name: str) -> str:
    """A name in such quotes as it does not have itself."""
    return f'"{name}"' if "'" in name else f"'{name}'"


def sensor_names(system: System) -> list[str]:
    """The names of the sensors of a system."""
    return [] if system.model is None else list(system.model.sensors)


def system_sensors(system: System, names: Iterable[str] | None, where: str = "names") -> list[SystemSensor]:
    """Some sensors of a system, or all.

    Raises
    ------
    ModelError
        If it has none, or none of such a name.
    """
    known = sensor_names(system)
    if not known:
        remedy = "add sensors to the model, as gyro: {type: gyroscope, frame: BODY}"
        raise ModelError(f"{where}: {wrong('a model with sensors', repr(system.name), remedy)}")
    chosen: Sequence[str] = known if names is None else checked_names(names, where, "a list of names of sensors")
    if not chosen:
        raise ModelError(f"{where}: {wrong('at least one sensor', 'none', 'leave it out for all')}")
    for name in chosen:
        if name not in known:
            raise ModelError(f"{where}: {wrong('a sensor', show(name), nearest(name, known))}")
    return [SystemSensor(system, name) for name in chosen]
