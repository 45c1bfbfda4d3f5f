"""Where what members of an ensemble leave behind goes: to arrays in memory, or to a file of the same structure.

The file is HDF5 in the manner of netCDF-4. All of its structure is written first; then every variable has its place, in which the
rows of a member are at a distance that its number tells, and nothing but these rows is written while members run. So they may end
in any order, and whatever ends the run, the members that are done are there.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbvi.model.stored import write_model
from mbvi.results import storage
from mbvi.results.output import replace_file, reported
from mbvi.results.tables import needed

if TYPE_CHECKING:
    import h5py
    import xarray

    from mbvi.model import Model

Array = np.ndarray
FORMAT = "mbvi ensemble 1"
NOT_RUN, DONE, FAILED, REFUSED = -1, 0, 1, 2
STATUS = {
    "long_name": "how a member ended",
    "flag_values": np.array([NOT_RUN, DONE, FAILED, REFUSED], np.int8),
    "flag_meanings": "not_run done failed refused",
}
STEPS = {"long_name": "steps done"}
REASON = {"long_name": "why a member failed or was refused, or what makes the result of one that is done doubtful"}


class Variable(NamedTuple):
    """A variable: its dimensions after those of the members, their lengths, its units, and what it is."""

    dimensions: tuple[str, ...]
    shape: tuple[int, ...]
    units: str
    text: str

    @property
    def attributes(self) -> dict[str, str]:
        """Its attributes as datasets have them."""
        return {key: text for key, text in (("long_name", self.text), ("units", self.units)) if text}


class Result(NamedTuple):
    """How a member ended: its number, status, steps done, the reason if it failed, and the values (…) of all variables."""

    member: int
    status: int
    steps: int
    reason: str
    values: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Structure:
    """What an ensemble holds.

    Attributes
    ----------
    sizes : dict of str to int
        Dimensions of the members.
    coordinates : dict of str to tuple
        Dimensions, values and attributes of what varies, of the dimensions that have no values of their own, and of the time.
    labels : dict of str to tuple of str
        Names of the system's coordinates, and their units.
    variables : dict of str to Variable
    attributes : dict
        What is said of the whole.
    model : Model or None
    """

    sizes: Mapping[str, int]
    coordinates: Mapping[str, tuple[tuple[str, ...], Array, Mapping[str, Any]]]
    labels: Mapping[str, tuple[str, ...]]
    variables: Mapping[str, Variable]
    attributes: Mapping[str, Any]
    model: Model | None = None

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the dimensions of the members."""
        return tuple(self.sizes.values())

    @cached_property
    def members(self) -> int:
        """Number of members."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Size of all variables."""
        return self.members * sum(8 * math.prod(each.shape) for each in self.variables.values())


class InMemory:
    """Arrays of all members, whose rows threads fill."""

    def __init__(self, structure: Structure) -> None:
        self._structure, count = structure, structure.members
        self._values = {name: np.empty((count, *each.shape)) for name, each in structure.variables.items()}
        self._status, self._steps = np.full(count, NOT_RUN, np.int8), np.zeros(count, np.int64)
        self._reasons = np.full(count, "", object)

    @property
    def done(self) -> int:
        """How many members have ended."""
        return int(np.count_nonzero(self._status != NOT_RUN))

    def put(self, result: Result) -> None:
        """Keep what a member leaves behind."""
        for name, values in result.values.items():
            self._values[name][result.member] = values
        self._steps[result.member], self._reasons[result.member] = result.steps, result.reason
        self._status[result.member] = result.status

    def close(self) -> None:
        """Nothing is left to do."""

    def dataset(self) -> xarray.Dataset:
        """As an xarray Dataset, when all members have been put."""
        of, sizes = self._structure, tuple(self._structure.sizes)
        variables: dict[str, Any] = {
            name: ((*sizes, *each.dimensions), self._values[name].reshape(*of.shape, *each.shape), each.attributes)
            for name, each in of.variables.items()
        }
        ends = (("status", self._status, STATUS), ("steps", self._steps, STEPS), ("reason", self._reasons, REASON))
        variables |= {name: (sizes, values.reshape(of.shape), attributes) for name, values, attributes in ends}
        labels = {name: ("coordinate", list(texts), _label_attributes(name)) for name, texts in of.labels.items()}
        unit = {name: labels.pop(name) for name in tuple(labels) if name != "coordinate"}
        return needed("xarray").Dataset(variables | unit, {**of.coordinates, **labels}, of.attributes)


class InFile:
    """A file of all members. Several threads may put what they have into it.

    Parameters
    ----------
    structure : Structure
    path : Path

    Raises
    ------
    ModelError
        If the file cannot be written.
    """

    def __init__(self, structure: Structure, path: Path) -> None:
        self._structure, self._path, self._lock = structure, path, threading.Lock()
        self._status = np.full(structure.members, NOT_RUN, np.int8)
        self._reasons = np.full(structure.members, "", object)
        self._places: dict[str, int] = {}
        replace_file(path, lambda part: self._places.update(self._lay_out(part)))
        with reported(path, "a file that can be written"):
            self._raw = path.open("r+b", buffering=0)

    @property
    def done(self) -> int:
        """How many members have ended."""
        return int(np.count_nonzero(self._status != NOT_RUN))

    def put(self, result: Result) -> None:
        """Write what a member leaves behind; its status is written last.

        Raises
        ------
        ModelError
            If the disk is full.
        """
        with self._lock, reported(self._path, "room on the disk", "the members that are done are in the file"):
            for name, values in result.values.items():
                self._write(name, result.member, np.ascontiguousarray(values, "<f8"))
            self._write("steps", result.member, np.int64(result.steps))
            self._write("status", result.member, np.int8(result.status))
        self._status[result.member], self._reasons[result.member] = result.status, result.reason

    def close(self) -> None:
        """Write reasons, and that members which were not run have no numbers."""
        import h5py

        empty = {name: np.full(each.shape, np.nan) for name, each in self._structure.variables.items()}
        with reported(self._path, "room on the disk", "the members that are done are in the file"):
            try:
                for member in np.flatnonzero(self._status == NOT_RUN):
                    for name, values in empty.items():
                        self._write(name, member, values)
            finally:
                self._raw.close()
            with h5py.File(self._path, "r+") as file:
                file["reason"][...] = self._reasons.reshape(self._structure.shape)

    def dataset(self) -> xarray.Dataset:
        """As an xarray Dataset, which reads what is used."""
        dataset = needed("xarray").open_dataset(self._path, engine="h5netcdf")
        return dataset.set_coords([name for name in self._structure.coordinates if name not in dataset.coords])

    def _write(self, name: str, member: Any, values: Any) -> None:
        storage.write_at(self._raw, self._places[name] + int(member) * values.nbytes, values)

    def _lay_out(self, path: Path) -> dict[str, int]:
        """Write the structure; the places of all variables in the file."""
        import h5py

        of, sizes = self._structure, tuple(self._structure.sizes)
        with h5py.File(path, "w") as file:
            file.attrs.update({"format": FORMAT, **of.attributes})
            for name, texts in of.labels.items():
                storage.labels(file, name, texts, _label_attributes(name)["long_name"])
            scales: dict[str, tuple[str, ...]] = {name: (name,) for name in of.labels if name == "coordinate"}
            for name, (dimensions, values, attributes) in of.coordinates.items():
                file.create_dataset(name, data=values).attrs.update(attributes)
                scales[name] = dimensions
            for name, dimensions in scales.items():
                if dimensions == (name,):
                    file[name].make_scale(name)
            if of.model is not None:
                write_model(file, of.model)
            file.create_dataset("status", data=np.full(of.shape, NOT_RUN, np.int8)).attrs.update(STATUS)
            file.create_dataset("steps", data=np.zeros(of.shape, np.int64)).attrs.update(STEPS)
            file.create_dataset("reason", of.shape, h5py.string_dtype()).attrs.update(REASON)
            for name, each in of.variables.items():
                _make_room(file, name, (*of.shape, *each.shape))
                file[name].attrs.update(each.attributes)
            dimensions_of = {name: (*sizes, *each.dimensions) for name, each in of.variables.items()}
            dimensions_of |= dict.fromkeys(("status", "steps", "reason"), sizes)
            dimensions_of |= {name: dimensions for name, dimensions in scales.items() if dimensions != (name,)}
            dimensions_of |= {name: ("coordinate",) for name in of.labels if name != "coordinate"}
            for name, dimensions in dimensions_of.items():
                for axis, dimension in enumerate(dimensions):
                    file[name].dims[axis].attach_scale(file[dimension])
            return {name: file[name].id.get_offset() for name in (*of.variables, "status", "steps")}


def _make_room(file: h5py.File, name: str, shape: tuple[int, ...]) -> None:
    """A dataset of floating-point numbers whose place in the file is known before anything is written to it."""
    import h5py

    plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plan.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    plan.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    h5py.h5d.create(file.id, name.encode(), h5py.h5t.IEEE_F64LE, h5py.h5s.create_simple(shape), plan)


def _label_attributes(name: str) -> dict[str, str]:
    return {"long_name": "name of every coordinate" if name == "coordinate" else "unit of every coordinate"}
