"""What sensors measured, as datasets of a file: for readers without mbvi, and where states between cannot be found again.

A row of a dataset (1 + m, 1 + 2 w) is the time of a sample, what the sensor measured, and the same without noise, of w = 1 or 3
components. Row 0 is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mbvi.errors import ModelError, StepError
from mbvi.system.sensors import SystemSensor, sensor_names
from mbvi.system.system import System

if TYPE_CHECKING:
    import h5py

Array = np.ndarray
GROUP = "measurements"
"""The group of the datasets, which are numbered and have the name of the sensor as an attribute."""


def no_rows(system: System) -> dict[str, Array]:
    """The names of all sensors, each without a sample yet (0, 1 + 2 w)."""
    sensors = {name: SystemSensor(system, name) for name in sensor_names(system)}
    return {name: np.empty((0, 1 + 2 * (len(each.labels) or 1))) for name, each in sensors.items()}


def rows_of(trajectory: Any) -> dict[str, Array]:
    """The samples (m, 1 + 2 w) of every sensor of a run; of one that cannot be computed none."""
    found = no_rows(trajectory.system)
    for name in found:
        try:
            each = trajectory.measurements([name])[name]
        except (ModelError, StepError):
            continue
        parts = (part.reshape(len(each), -1) for part in (each.t, each.values, each.exact))
        found[name] = np.concatenate(list(parts), axis=1)
    return found


def about(system: System, name: str) -> dict[str, Any]:
    """What a file says of a sensor."""
    assert system.model is not None
    sensor: Any = system.model.resolved().sensors[name]
    found = {"name": name, "type": sensor.type, "noise": float(sensor.noise), "seed": int(sensor.seed)}
    found |= {
        "units": SystemSensor(system, name).unit,
        "long_name": "time, what the sensor measured, and without noise",
    }
    return found if sensor.period is None else found | {"period": float(sensor.period)}


def room_of(system: System, name: str, rows: int, duration: float) -> int:
    """How many rows a dataset needs, of a file with so many states and of a run of a duration [s]."""
    period = SystemSensor(system, name).period
    return 2 + (rows if period is None else 2 + int(duration / period))


def datasets(file: h5py.File) -> dict[str, h5py.Dataset]:
    """The datasets of a file by the names of the sensors; ValueError if they are none."""
    import h5py

    if GROUP not in file:
        return {}
    group, found = file[GROUP], {}
    if not isinstance(group, h5py.Group):
        raise ValueError(f"{GROUP} is no group")
    for key in sorted(group, key=lambda each: (len(each), each)):
        data = group[key]
        name = data.attrs.get("name") if isinstance(data, h5py.Dataset) else None
        is_table = name is not None and data.ndim == 2 and len(data) and data.dtype.kind == "f"
        if not is_table or not isinstance(name, str) or not name.isprintable() or name in found:
            raise ValueError(f"{GROUP}/{key!s:.40} is no dataset of a sensor")
        found[name] = data
    return found


def check_rows(system: System, datasets: Mapping[str, h5py.Dataset], rows: Mapping[str, Array]) -> None:
    """Samples are those of the sensors that the model has; ValueError says which are not."""
    widths = no_rows(system)
    for name, values in rows.items():
        if name not in widths or values.shape[1] != widths[name].shape[1]:
            raise ValueError(f"{GROUP} has a sensor {name!r:.40} that the model has not, or has as another")
        for key, value in about(system, name).items():
            if key != "long_name" and datasets[name].attrs.get(key) != value:
                raise ValueError(f"{GROUP} of {name!r} have another {key} than the model")
        t = values[:, 0]
        if not (np.isfinite(t).all() and (np.diff(t) > 0).all()):
            raise ValueError(f"{GROUP} of {name!r} have times that do not increase")
