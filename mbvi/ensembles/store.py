"""What is stored of the members of an ensemble: arrays in memory, or a file of the same structure.

The file is HDF5 in the manner of netCDF-4. All of its structure is written first; then every variable has its place, in which the
rows of a member are at a distance that follows from its number, and nothing but these rows is written while members run. So they
may end in any order, others may read the file meanwhile, and whatever ends the run, the members that are done are there.

Texts have no such places. While members run, what is said of them is appended to the file as lines of JSON, where HDF5 does
not look, and becomes the variable `reason` when the file is closed; or, after a kill, when the ensemble is resumed.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbvi.errors import ModelError
from mbvi.model.expressions import show, wrong
from mbvi.model.file import to_yaml
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
UNIT = "coordinate_unit"
END_ADDRESS = 40  # place of the end of the file in the superblock of HDF5, version 0
BLOCK = 256  # members of a file that are read at once
ROOM_REMEDY = "the members that are done are in the file; make room, and resume it"
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


class Ended(NamedTuple):
    """How members of a chunk ended: numbers, status and steps (k,), reasons, values (k, …) of all variables; the seconds that
    this took, and the error that ended the others if one did.
    """

    numbers: Array
    status: Array
    steps: Array
    reasons: Sequence[str]
    values: Mapping[str, Array]
    seconds: float
    error: Exception | None


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
    summaries : dict of str to Variable
        The variables of all members together.
    """

    sizes: Mapping[str, int]
    coordinates: Mapping[str, tuple[tuple[str, ...], Array, Mapping[str, Any]]]
    labels: Mapping[str, tuple[str, ...]]
    variables: Mapping[str, Variable]
    attributes: Mapping[str, Any]
    model: Model | None = None
    summaries: Mapping[str, Variable] = field(default_factory=dict)

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
    """Arrays of all members."""

    def __init__(self, structure: Structure) -> None:
        self._structure, count = structure, structure.members
        self._values = {name: np.full((count, *each.shape), np.nan) for name, each in structure.variables.items()}
        self._status, self._steps = np.full(count, NOT_RUN, np.int8), np.zeros(count, np.int64)
        self._reasons, self._summaries = np.full(count, "", object), dict[str, Array]()

    @property
    def is_done(self) -> Array:
        """Whether each member has ended, (members,)."""
        return self._status != NOT_RUN

    def put(self, ended: Ended) -> None:
        """Keep what members leave behind."""
        for name, values in self._values.items():
            values[ended.numbers] = ended.values[name]
        self._steps[ended.numbers], self._reasons[ended.numbers] = ended.steps, ended.reasons
        self._status[ended.numbers] = ended.status

    def summarize(self, summaries: Mapping[str, Array]) -> None:
        """Keep what is known of all members together."""
        self._summaries = dict(summaries)

    def close(self) -> None:
        """Nothing is left to do."""

    def dataset(self) -> xarray.Dataset:
        """The results as an xarray Dataset, when all members have been put."""
        of, sizes = self._structure, tuple(self._structure.sizes)
        variables: dict[str, Any] = {
            name: ((*sizes, *each.dimensions), self._values[name].reshape(*of.shape, *each.shape), each.attributes)
            for name, each in of.variables.items()
        }
        variables |= {
            name: (each.dimensions, self._summaries[name], each.attributes) for name, each in of.summaries.items()
        }
        ends = (("status", self._status, STATUS), ("steps", self._steps, STEPS), ("reason", self._reasons, REASON))
        variables |= {name: (sizes, values.reshape(of.shape), attributes) for name, values, attributes in ends}
        labels = {name: (_along(name), list(texts), _label_attributes(name)) for name, texts in of.labels.items()}
        unit = {name: labels.pop(name) for name in tuple(labels) if name == UNIT}
        return needed("xarray").Dataset(variables | unit, {**of.coordinates, **labels}, of.attributes)


class InFile:
    """A file of all members.

    Parameters
    ----------
    structure : Structure
    path : Path
    resume : bool
        Whether to go on with a file that is there.

    Raises
    ------
    ModelError
        If the file cannot be written, or is to be resumed and holds another ensemble.
    """

    def __init__(self, structure: Structure, path: Path, resume: bool = False) -> None:
        self._structure, self._path = structure, path
        self._status = np.full(structure.members, NOT_RUN, np.int8)
        self._reasons = np.full(structure.members, "", object)
        if resume and path.exists():
            self._places = self._take_up()
        else:
            replace_file(path, self._lay_out)
            with storage.readable(path, "an ensemble file"):
                self._places = self._find_places()
        with reported(path, "a file that can be written"):
            self._raw = path.open("r+b", buffering=0)
            storage.lock(self._raw, path)
            self._end = self._raw.seek(0, os.SEEK_END)

    @property
    def is_done(self) -> Array:
        """Whether each member has ended, (members,)."""
        return self._status != NOT_RUN

    def put(self, ended: Ended) -> None:
        """Write what members leave behind; their status is written last.

        Raises
        ------
        ModelError
            If the disk is full.
        """
        with reported(self._path, "room on the disk", ROOM_REMEDY):
            for rows in _neighbours(ended.numbers):
                first = ended.numbers[rows.start]
                for name in self._structure.variables:
                    self._write(name, first, np.ascontiguousarray(ended.values[name][rows], "<f8"))
                self._note(ended, rows)
                self._write("steps", first, ended.steps[rows].astype("<i8"))
                self._write("status", first, ended.status[rows].astype(np.int8))
                self._status[ended.numbers[rows]] = ended.status[rows]

    def summarize(self, summaries: Mapping[str, Array]) -> None:
        """Write what is known of all members together."""
        with reported(self._path, "room on the disk", ROOM_REMEDY):
            for name, values in summaries.items():
                self._write(name, 0, np.ascontiguousarray(values, "<f8")[None])

    def beside(self, ending: str) -> Path:
        """Another file, whose name is that of this one with an ending."""
        return self._path.with_name(self._path.name + ending)

    def has(self, names: Iterable[str]) -> bool:
        """Whether all of some variables are in the file."""
        return all(name in self._structure.variables for name in names)

    def forget(self, members: Array) -> None:
        """Let some members (members,) run again."""
        self._status[members] = NOT_RUN
        with reported(self._path, "a file that can be written"):
            self._write("status", 0, self._status)

    def done(self, names: Iterable[str]) -> Iterator[Ended]:
        """What members that were done before left behind of some variables, of some at a time."""
        import h5py

        numbers = np.flatnonzero(self._status == DONE)
        with storage.readable(self._path, "an ensemble file"), h5py.File(self._path, locking=False) as file:
            for part in np.split(numbers, range(BLOCK, len(numbers), BLOCK)):
                values = {name: _members_of(file[name], self._structure.shape, part) for name in names}
                yield Ended(part, self._status[part], np.zeros_like(part), [""] * len(part), values, 0.0, None)

    def _note(self, ended: Ended, rows: slice) -> None:
        """Append what is said of members."""
        said = zip(ended.numbers[rows].tolist(), ended.reasons[rows], strict=True)
        lines = "".join(json.dumps(each) + "\n" for each in said if each[1])
        self._reasons[ended.numbers[rows]] = ended.reasons[rows]
        if lines:
            storage.write_at(self._raw, self._end, lines.encode())
            self._end = self._raw.tell()

    def close(self) -> None:
        """Write reasons, and that members which were not run have no numbers."""
        import h5py

        empty = {name: np.full((1, *each.shape), np.nan) for name, each in self._structure.variables.items()}
        with reported(self._path, "room on the disk", ROOM_REMEDY):
            try:
                for member in np.flatnonzero(self._status == NOT_RUN):
                    for name, values in empty.items():
                        self._write(name, member, values)
            finally:
                self._raw.close()
        opened = reported(self._path, "a file that can be written", "close it where it is read, and resume it")
        with opened, h5py.File(self._path, "r+", locking=False) as file:  # others may read it
            file["reason"][...] = self._reasons.reshape(self._structure.shape)

    def dataset(self) -> xarray.Dataset:
        """The results as an xarray Dataset, which reads what is used."""
        dataset = needed("xarray").open_dataset(self._path, engine="h5netcdf")
        found = dataset.set_coords([name for name in self._structure.coordinates if name not in dataset.coords])
        found.set_close(dataset.close)
        return found

    def _write(self, name: str, first: Any, values: Array) -> None:
        """Write the values (k, …) of members that follow each other."""
        storage.write_at(self._raw, self._places[name] + int(first) * (values.nbytes // len(values)), values)

    def _find_places(self) -> dict[str, int]:
        """The places of all variables in the file."""
        import h5py

        with h5py.File(self._path) as file:
            of = self._structure
            return {name: file[name].id.get_offset() for name in (*of.variables, *of.summaries, "status", "steps")}

    def _take_up(self) -> dict[str, int]:
        """Read how members ended in a file that is to be resumed; the places of all variables in it."""
        import h5py

        with storage.readable(self._path, "an ensemble file"):
            with h5py.File(self._path) as file:
                _check_same(file, self._structure, self._path)
                self._status = file["status"][...].ravel()
                self._reasons = np.array(file["reason"].asstr()[...].ravel(), object)
            for number, reason in _lines_behind(self._path):
                self._reasons[number] = reason
            self._reasons[~self.is_done] = ""
            return self._find_places()

    def _lay_out(self, path: Path) -> None:
        """Write the structure."""
        import h5py

        of, sizes = self._structure, tuple(self._structure.sizes)
        with h5py.File(path, "w") as file:
            file.attrs.update({"format": FORMAT, **of.attributes})
            for name, texts in of.labels.items():
                storage.labels(file, name, texts, _label_attributes(name)["long_name"])
            scales: dict[str, tuple[str, ...]] = {name: (name,) for name in of.labels if name != UNIT}
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
            for name, each in of.summaries.items():
                file.create_dataset(name, data=np.full(each.shape, np.nan)).attrs.update(each.attributes)
            dimensions_of = {name: each.dimensions for name, each in of.summaries.items()}
            dimensions_of |= {name: (*sizes, *each.dimensions) for name, each in of.variables.items()}
            dimensions_of |= dict.fromkeys(("status", "steps", "reason"), sizes)
            dimensions_of |= {name: dimensions for name, dimensions in scales.items() if dimensions != (name,)}
            dimensions_of |= {name: (_along(name),) for name in of.labels if name == UNIT}
            for name, dimensions in dimensions_of.items():
                for axis, dimension in enumerate(dimensions):
                    file[name].dims[axis].attach_scale(file[dimension])


def _neighbours(numbers: Array) -> Iterator[slice]:
    """The longest parts of a list of whole numbers in which every number is by 1 larger than the one before it."""
    ends = [0, *(np.flatnonzero(np.diff(numbers) != 1) + 1).tolist(), len(numbers)]
    return (slice(*pair) for pair in itertools.pairwise(ends) if pair[0] < pair[1])


def _members_of(data: h5py.Dataset, shape: tuple[int, ...], numbers: Array) -> Array:
    """The rows (k, …) of members in a dataset over the dimensions of the members."""
    if not shape:
        return np.array([data[()]])
    places = np.unravel_index(numbers, shape)
    return np.array([data[tuple(map(int, place))] for place in zip(*places, strict=True)])


def _lines_behind(path: Path) -> Iterator[tuple[int, str]]:
    """Numbers of members and what is said of them, behind the end of what HDF5 knows; a kill may leave half a line."""
    with path.open("rb") as file:
        (end,) = struct.unpack_from("<q", file.read(END_ADDRESS + 8), END_ADDRESS)
        file.seek(end)
        for line in file:
            if line.endswith(b"\n"):
                number, reason = json.loads(line)
                yield int(number), str(reason)


def _check_same(file: h5py.File, structure: Structure, path: Path) -> None:
    """Refuse to go on with a file of another ensemble."""
    different = next(_differences(file, structure), None)
    if different is not None:
        remedy = "give what it was begun with, or begin anew without resume and with force (--force)"
        raise ModelError(f"{path}: {wrong('the ensemble that is to be resumed', f'another {different}', remedy)}")


def _differences(file: h5py.File, of: Structure) -> Iterator[str]:
    """What is not as it should be in a file that is to be resumed."""
    for key, value in {"format": FORMAT, **of.attributes}.items():
        if file.attrs.get(key) != value:
            yield f"{key}, {show(file.attrs.get(key, 'none'), 60)}"
    for name, (_, values, _) in of.coordinates.items():
        if name not in file or not np.array_equal(file[name][()], values):
            yield name
    shapes = {name: (*of.shape, *each.shape) for name, each in of.variables.items()}
    shapes |= {name: each.shape for name, each in of.summaries.items()}
    for name, shape in shapes.items():
        if name not in file or file[name].shape != shape:
            yield f"list of what is stored, without {name}"
    if of.model is not None and ("model" not in file or file["model"].asstr()[()] != to_yaml(of.model)):
        yield "model"


def _make_room(file: h5py.File, name: str, shape: tuple[int, ...]) -> None:
    """A dataset of floating-point numbers whose place in the file is known before anything is written to it."""
    import h5py

    plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plan.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    plan.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    h5py.h5d.create(file.id, name.encode(), h5py.h5t.IEEE_F64LE, h5py.h5s.create_simple(shape), plan)


def _label_attributes(name: str) -> dict[str, str]:
    return {"long_name": "unit of every coordinate" if name == UNIT else "name of every coordinate"}


def _along(label: str) -> str:
    """The dimension of labels."""
    return "coordinate" if label == UNIT else label
