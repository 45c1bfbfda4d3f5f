"""The file of a trajectory: HDF5 in the manner of netCDF-4, whole at every moment, also while a run still writes it.

The datasets t, q, v, p, energies, momenta, constraint residual, multipliers and poses hang on dimension scales, as t, coordinate
and body, with units; the model is in it, as a text and with its mesh files, and the scheme as its numbers. The first rows are the
initial state. So the file alone can be read by other tools, run again, and continued.

Nothing in the file moves once it is made. The room for all rows is laid out then, in chunks without an index, and takes no disk
before it is written; rows are written to their places, and after them the lengths of the datasets, a few bytes each. The state of
the stepper has two places, which take turns, with a checksum. So whatever ends a run, signal, full disk or kill, all before
the last rows stays as it was, and nothing has to be repaired. The file has version 2 of HDF5's superblock, since version 3
marks a file that is open for writing, and other tools refuse one that a killed run left so marked.
"""

from __future__ import annotations

import contextlib
import json
import math
import mmap
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import version
from io import RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

import mbvi
from mbvi.errors import ModelError
from mbvi.model import Model, to_yaml
from mbvi.model.arguments import checked_names
from mbvi.model.description import MAX_STEPS
from mbvi.model.expressions import show, wrong
from mbvi.model.meshes import mesh_files
from mbvi.model.stored import read_model, stored_files, write_model
from mbvi.results import stored_measurements
from mbvi.results.contacts import contact_names
from mbvi.results.output import replace_file, reported
from mbvi.results.tables import UNIT
from mbvi.schemes.method import Method
from mbvi.schemes.runge_kutta import ButcherTableau
from mbvi.schemes.tableau import Tableau
from mbvi.system.assemble import assemble
from mbvi.system.system import System

if TYPE_CHECKING:
    import h5py

Array = np.ndarray
FORMAT = "mbvi trajectory 2"
ENDINGS = (".h5", ".hdf5", ".nc")
"""Format of the files of runs and ensembles, which therefore replace no other files."""
CHUNK_NUMBERS = 1 << 17  # numbers in a chunk: 1 MB
FINDINGS_LENGTH = 4000  # characters, as of the
NAME_LENGTH = 400  # characters, so that it is overwritten in place; a name in JSON
OCCURRENCES, MOST_OCCURRENCES = "occurrences", 1 << 20  # events that happened, and how many a file has room for
CONTACTS = "contacts"  # what happened to stops and dry frictions
SAMPLES = "samples"  # the inputs that controllers gave
OF_CONTROLLER = ("name", "inputs", "period", "delay", "sensors")
STATISTICS_LENGTH = 400  # characters, so that they are overwritten in place
HEAD = 2  # integers before a state: checksum, and steps done
HEAP, HEAP_OBJECT = (
    b"GCOL\x01\0\0\0",
    16,
)  # what a global heap of HDF5 begins with, and bytes of an object's head, as of its own
RESTART = "start a new run with its last state as initial_q and initial_v"
PAGE_BYTES = 4096  # size of a page of memory: no header crosses its end, so that even a kill leaves it old or new
READING_ERRORS = (OSError, RuntimeError, LookupError, TypeError, ValueError, OverflowError, MemoryError, AttributeError)


class Variable(NamedTuple):
    """A dataset of a file: its dimensions, of which the first is t, its units, and what it is."""

    dimensions: tuple[str, ...]
    units: str
    text: str


VARIABLES = {
    "t": Variable((), "s", "time"),
    "q": Variable(("coordinate",), "coordinate_unit", "coordinates"),
    "v": Variable(("coordinate",), "coordinate_unit/s", "rates of the coordinates"),
    "p": Variable(("coordinate",), "J s/coordinate_unit", "momenta of the coordinates"),
    "energy": Variable((), "J", "kinetic and potential energy"),
    "kinetic_energy": Variable((), "J", "kinetic energy"),
    "potential_energy": Variable((), "J", "potential energy"),
    "constraint_residual": Variable((), "", "largest constraint |g|"),
    "momenta": Variable(("momentum",), "momentum_unit", "conserved momenta"),
    "multipliers": Variable(("constraint",), "constraint_unit", "Lagrange multipliers of the constraints"),
    "position": Variable(("body", "axis"), "m", "positions of the bodies' origins in the world"),
    "rotation": Variable(("body", "component"), "", "rotations of the bodies to the world, unit quaternions"),
    "inputs": Variable(("input",), "", "the inputs that functions of the state gave"),
}
PARTS = {"poses": ("position", "rotation"), "multipliers": ("multipliers",)}
"""What a file holds if it is to, and its variables."""
ALL_PARTS = (*PARTS, stored_measurements.GROUP)
"""The same with what sensors measured, which are no variables."""
LARGEST, MOST_COORDINATES = 1e100, 10**9
SCALARS = 6  # numbers of a state besides its coordinates: time, energies, residual, about one momentum
NUMBERS: dict[str, tuple[type, float, float]] = {
    "step": (float, math.ulp(0.0), LARGEST),
    "steps": (int, 0, MAX_STEPS),
    "every": (int, 1, MAX_STEPS),
    "start_time": (float, -LARGEST, LARGEST),
    "degrees_of_freedom": (int, 0, MOST_COORDINATES),
    "constraint_count": (int, 0, MOST_COORDINATES),
    "is_conservative": (int, 0, 1),
}
"""A file's attributes: their types, and the least and the largest values that they may have."""
COUNTED = ("steps", "iterations", "most_iterations", "mass_factorizations", "newton_factorizations")
STATISTICS = (*COUNTED, "seconds")
"""The numbers of a `Statistics`."""
TABLEAU = tuple(each.name for each in fields(Tableau))
UNIT_QUATERNIONS = 1e-6  # how far squares of the norms of rotations may be from 1
OF_A_STEP = 1e-6
"""Part of a step by which a file's times may differ from the ends of steps, besides a rounding for every row."""
OPTIONAL = {"momenta", "inputs", *(key for keys in PARTS.values() for key in keys)}
DIMENSIONS = tuple(dict.fromkeys(key for variable in VARIABLES.values() for key in variable.dimensions))


@dataclass(frozen=True, eq=False)
class Nameplate:
    """What a file says of a system that it cannot rebuild: enough for labels. Its functions raise a ModelError.

    Attributes
    ----------
    name : str
    coordinate_names, coordinate_units : tuple of str
    degrees_of_freedom, constraint_count : int
    is_conservative : bool
    constraint_names, constraint_units, body_names : tuple of str
        The names and units of the multipliers and poses that are in the file.
    """

    name: str
    coordinate_names: tuple[str, ...]
    coordinate_units: tuple[str, ...]
    degrees_of_freedom: int
    constraint_count: int
    is_conservative: bool
    constraint_names: tuple[str, ...] = ()
    constraint_units: tuple[str, ...] = ()
    body_names: tuple[str, ...] = ()
    _feedback = _seen = None  # no function gives inputs

    @property
    def keeps_energy(self) -> bool:
        """Whether the energy is conserved, as far as the file says."""
        return self.is_conservative

    def __repr__(self) -> str:
        """What it is, as messages say it."""
        return f"the name {self.name!r} of a system that its file cannot hold"

    def __getattr__(self, key: str) -> Any:
        """No function of the system is there."""
        if key.startswith("_"):
            raise AttributeError(key)
        raise ModelError(
            f"{key}: expected a system, found only the name {self.name!r}: the trajectory's file cannot hold a system "
            "of functions or symbols; build the system and pass it: mbvi.read(path, system=system)"
        )


@dataclass(frozen=True, eq=False)
class Header:
    """What a file says of a run besides its rows.

    Attributes
    ----------
    system : System
        A `Nameplate` where a file cannot hold the system.
    scheme : Tableau or Method
    step : float
        [s]
    steps : int
        How many were asked for.
    every : int
        Number of steps per stored state.
    start_time : float
        [s]
    degrees_of_freedom : int
    labels : mapping of str to tuple of str
        The labels of every dimension, as the names of the coordinates.
    units : mapping of str to tuple of str
        Units of the labels of a dimension that has such.
    statistics : dict
        The numbers of a `Statistics`.
    findings : list of dict
        What each `Finding` has.
    step_sizes : ndarray or None
        Sizes of all steps that were asked for, where they change [s].
    chart : tuple of str
        Generalized coordinates in which the steps are solved, if they are.
    events : tuple of str
        Names of the events that the run looks for.
    occurrences : ndarray (m, 3 + 2 n)
        The events that happened: number of the step, number of the event, time, coordinates and momenta.
    end : str
        The event that ended the run, whose state is the last row.
    contacts : tuple of str
        Names of the stops and dry frictions that act.
    contact_events : ndarray (m, 7 + 2 n)
        What happened to them, see `mbvi.results.contacts`.
    controllers : tuple of dict
        Name, inputs, period, delay and sensors of the controllers of the run.
    samples : ndarray (m, 3 + 2 inputs)
        The inputs that they gave: number of the controller, times of the call and from which on it acts, what was asked for,
        and what was given.
    measured : mapping of str to ndarray (m, 1 + 2 w)
        What sensors measured, see `mbvi.results.stored_measurements`.
    """

    system: System
    scheme: Tableau | Method
    step: float
    steps: int
    every: int
    start_time: float
    degrees_of_freedom: int
    labels: Mapping[str, tuple[str, ...]]
    units: Mapping[str, tuple[str, ...]]
    statistics: dict[str, Any]
    findings: list[dict[str, Any]]
    step_sizes: Array | None = None
    chart: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    occurrences: Array = field(default_factory=lambda: np.empty((0, 3)))
    end: str = ""
    contacts: tuple[str, ...] = ()
    contact_events: Array = field(default_factory=lambda: np.empty((0, 7)))
    controllers: tuple[dict[str, Any], ...] = ()
    samples: Array = field(default_factory=lambda: np.empty((0, 3)))
    measured: Mapping[str, Array] = field(default_factory=dict)

    @property
    def sample_room(self) -> int:
        """Number of samples for which a file has room."""
        ends = self.steps * self.step
        return 1 + max(
            len(self.samples), sum(2 + int(ends / each["period"]) for each in self.controllers if each["period"])
        )

    @property
    def rows(self) -> int:
        """Number of stored states that were asked for, one more where an event may end the run between two of them."""
        return self.steps // self.every + 1 + bool(self.events)


class Writer:
    """A file that grows by rows; they may be read from it at any time.

    Parameters
    ----------
    path : Path
        The path of a file that `make` made.

    Attributes
    ----------
    path : Path
    rows : int
        Number of rows to which the next are appended.
    room : int
        Number of rows for which there is room.
    every : int
        Number of steps per stored state.
    is_variable : bool
        Whether the sizes of the steps change.

    Raises
    ------
    ModelError
        If the file cannot be written, or another process does.
    """

    def __init__(self, path: Path) -> None:
        import h5py

        self.path = path
        with reported(path, "a file that can be written"):
            self._raw = path.open("r+b", buffering=0)
            try:
                lock(self._raw, path)
                self._file = h5py.File(path, "r+", libver=("v108", "latest"), locking=False)
            except BaseException:
                self._raw.close()
                raise
        self._data = {key: self._file[key] for key in VARIABLES if key in self._file}
        places = {key: _place(data) for key, data in self._data.items()}
        self._places = {key: place for key, place in places.items() if place is not None}
        self.rows = min(map(len, self._data.values()))
        rooms = {data.maxshape[0] for data in self._data.values()}
        if len(self._places) < len(self._data) or len(rooms) > 1 or None in rooms:
            self.close()
            raise ModelError(f"{path}: {wrong('a file as mbvi wrote it', 'one that another tool has repacked')}")
        self.room = rooms.pop()
        tables = {key: self._file[key] for key in (OCCURRENCES, CONTACTS) if key in self._file}
        self._tables = {key: (table, _place(table) or 0) for key, table in tables.items()}
        self._samples = self._file.get(SAMPLES)
        self._samples_place = 0 if self._samples is None else _place(self._samples) or 0
        self._measured = {
            name: (data, _place(data) or 0) for name, data in stored_measurements.datasets(self._file).items()
        }
        self.every = _number(self._file, "every")
        self.is_variable = "step_sizes" in self._file
        states = self._states()
        self._turn = 1 - max(states)[1] if states else 0  # the newest whole one stays

    def append(self, columns: Mapping[str, Array]) -> None:
        """Append rows (rows, …) of all variables.

        Raises
        ------
        ModelError
            If the disk is full; the rows before are not touched.
        """
        count = self.rows + len(columns["t"])
        with self._saved():
            for key, place in self._places.items():
                values = np.ascontiguousarray(columns[key], dtype="<f8")
                write_at(self._raw, place + self.rows * values[:1].nbytes, values)
            for data in self._data.values():
                if count > len(data):
                    data.resize(count, axis=0)
            self._file.flush()
        self.rows = count

    def happen(self, rows: Array, key: str = OCCURRENCES) -> None:
        """Append events that happened, (rows, 3 + 2 n), or what happened to contacts, (rows, 7 + 2 n).

        Raises
        ------
        ModelError
            If the disk is full, or there is no room for so many.
        """
        if not len(rows):
            return
        events, place = self._tables[key]
        first = len(events)
        if first + len(rows) > events.maxshape[0]:
            expected = f"at most {events.maxshape[0] - 1} events that happen"
            raise ModelError(f"{self.path}: {wrong(expected, 'more', 'look for fewer, or store no file')}")
        with self._saved():
            values = np.ascontiguousarray(rows, dtype="<f8")
            write_at(self._raw, place + first * values[:1].nbytes, values)
            events.resize(first + len(rows), axis=0)
            self._file.flush()

    def happened(self, steps: int, key: str = OCCURRENCES) -> Array:
        """The events that happened in the first `steps` steps, after which the next are appended, as `happen` takes them."""
        if key not in self._tables:  # a run that looks for no events
            return np.empty((0, 3))
        rows = _happened(self._file, self.path, key)
        rows = rows[: int(np.sum(rows[:, 0] < steps))]
        self._tables[key][0].resize(1 + len(rows), axis=0)
        return rows

    def sample(self, rows: Array) -> None:
        """Append the inputs that controllers gave, (rows, 3 + 2 inputs).

        Raises
        ------
        ModelError
            If the disk is full.
        """
        if not len(rows):
            return
        first = len(self._samples)
        with self._saved():
            values = np.ascontiguousarray(rows, dtype="<f8")
            write_at(self._raw, self._samples_place + first * values[:1].nbytes, values)
            self._samples.resize(first + len(rows), axis=0)
            self._file.flush()

    def sampled(self, before: float) -> Array:
        """The inputs that controllers gave before a time, after which the next is appended, (rows, 3 + 2 inputs)."""
        if self._samples is None:
            return np.empty((0, 3))
        rows = _sample_rows(self._file, self.path)
        rows = rows[rows[:, 1] < before]
        self._samples.resize(1 + len(rows), axis=0)
        return rows

    def measure(self, measured: Mapping[str, Array]) -> None:
        """Write what sensors measured in all the run, (m, 1 + 2 w) of each, in the place of what was there.

        Raises
        ------
        ModelError
            If the disk is full.
        """
        with self._saved():
            for name, rows in measured.items():
                data, place = self._measured[name]
                values = np.ascontiguousarray(rows, dtype="<f8")
                if len(values):
                    write_at(self._raw, place + 8 * data.shape[1], values)
                data.resize(1 + len(values), axis=0)
            self._file.flush()

    def end(self, name: str) -> None:
        """Note the event that ended the run."""
        with self._saved():
            self._file.attrs.modify("end", _name(name))
            self._file.flush()

    def keep(self, statistics: Mapping[str, Any], steps: int, state: bytes = b"") -> None:
        """Note the statistics and, if it is given, the state of the stepper after `steps` steps."""
        with self._saved():
            if state:
                head = np.array([checksum_of(steps, state), steps], dtype="<i8").tobytes()
                slots = self._file["restart/state"]
                write_at(self._raw, slots.id.get_offset() + self._turn * slots.shape[1], head + state)
                self._turn = 1 - self._turn
            self._file.attrs.modify("statistics", _statistics(statistics))
            self._file.flush()

    def note(self, findings: Sequence[Mapping[str, Any]]) -> None:
        """Note what makes the result doubtful."""
        with self._saved():
            self._file.attrs.modify("findings", _findings(findings))
            self._file.flush()

    @property
    def ended(self) -> str:
        """The event that ended the run."""
        return "".join(_names(self._file, "end"))

    def last_state(self) -> tuple[int, bytes]:
        """Steps done, and the last state of the stepper; the next rows are appended after those of these steps.

        Raises
        ------
        ModelError
            If there is none.
        """
        found = _text(self._file, "mbvi_version")
        if found != mbvi.__version__:
            raise ModelError(
                f"{self.path}: {wrong(f'a run of mbvi {mbvi.__version__}', f'one of mbvi {found}', RESTART)}"
            )
        states = self._states()
        if not states:
            raise ModelError(f"{self.path}: {wrong('a file that a run wrote', 'no state to go on from', RESTART)}")
        steps, _, state = max(states)
        self.rows = steps // self.every + 1
        return steps, state

    def _states(self) -> list[tuple[int, int, bytes]]:
        """Steps done, place and contents of the states that are whole, and whose rows are there."""
        found = []
        for turn, slot in enumerate(self._file["restart/state"][()] if "restart/state" in self._file else ()):
            checksum, steps = map(int, slot[: 8 * HEAD].view("<i8"))
            state = slot[8 * HEAD :].tobytes()
            has_rows = 0 <= steps < self.every * self.rows and steps % self.every == 0
            if has_rows and checksum == checksum_of(steps, state):
                found.append((steps, turn, state))
        return found

    def set_steps(self, steps: int) -> None:
        """Note how many steps are asked for."""
        self._file.attrs.modify("steps", steps)

    def close(self) -> None:
        """Close the file; nothing of it is lost if that fails."""
        with contextlib.suppress(OSError, RuntimeError):
            self._file.close()
        self._raw.close()

    def _saved(self) -> contextlib.AbstractContextManager[None]:
        attributes = self._file.attrs
        has = ("chart" in attributes, "events" in attributes, "controllers" in attributes, "inputs" in self._data)
        go_on = resumption(self.path, "model" in self._file, *has)
        remedy = "make room" + (f", and go on by: {go_on}" if self.rows else "")
        return reported(self.path, "room on the disk", remedy)


def checksum_of(steps: int, state: bytes) -> int:
    """What stands before a stepper's state after a number of steps, so that a half-written one is recognised."""
    return zlib.crc32(state, zlib.crc32(str(steps).encode()))


def make(path: Path, header: Header, columns: Mapping[str, Array], state: bytes = b"", steps: int = 0) -> None:
    """Make a file with its first rows (rows, …), and with a state of the stepper; at once or not at all.

    Raises
    ------
    ModelError
        If it cannot be written.
    """

    def write(part: Path) -> None:
        _lay_out(part, header, columns, state)
        with contextlib.closing(Writer(part)) as writer:
            writer.rows = 0
            writer.keep(header.statistics, steps, state)
            writer.append(columns)
            writer.happen(header.occurrences)
            writer.happen(header.contact_events, CONTACTS)
            writer.sample(header.samples)
            writer.measure(header.measured)

    replace_file(path, write)


def prepare(path: Path, system: System, steps: int) -> None:
    """Make a file ready to be continued to more steps: where it has no room for them, a copy that has takes its place.

    Raises
    ------
    ModelError
        If the run is at its end, was written by another version of mbvi or process, or the copy cannot be written.
    """
    with readable(path), contextlib.closing(Writer(path)) as writer:
        if ended := writer.ended:
            raise ModelError(f"{path}: {wrong('a run that can go on', f'one that the event {ended} ended', RESTART)}")
        done, state = writer.last_state()
        if done >= steps:
            remedy = RESTART if writer.is_variable else "give a longer duration (--duration)"
            raise ModelError(f"{path}: {wrong(f'less than {steps} steps done', f'{done} steps', remedy)}")
        writer.set_steps(steps)
        rows, room, every = writer.rows, writer.room, writer.every
    if steps // every + 1 > room:
        _lengthen(path, system, steps, rows, done, state)


def _lengthen(path: Path, system: System, steps: int, rows: int, done: int, state: bytes) -> None:
    """Copy the rows, and the state of the stepper, to a file with room for more steps."""
    header, columns = read(path, system)
    block = max(1, CHUNK_NUMBERS // columns["q"].shape[1])

    def write(longer: Path) -> None:
        make(longer, header, {key: values[: min(rows, block)] for key, values in columns.items()}, state)
        with contextlib.closing(Writer(longer)) as writer:
            for first in range(block, rows, block):
                writer.append({key: values[first : min(rows, first + block)] for key, values in columns.items()})
            writer.keep(header.statistics, done, state)

    replace_file(path, write)


def holds(system: System) -> bool:
    """Whether a file can hold the system: one of a model, without a force of the user's own."""
    return not isinstance(system, Nameplate) and system.model is not None and system._own_force is None


def resumption(
    path: Path, has_system: bool, has_chart: bool, has_events: bool, has_controllers: bool, has_inputs: bool
) -> str:
    """How a run goes on, whose file holds its system or not, and that has a chart, events, controllers, or inputs by functions,
    which no file can hold, or none.
    """
    if has_system and not (has_chart or has_events or has_controllers or has_inputs):
        return f"mbvi run --resume {path}"
    arguments = [repr(str(path)), *([] if has_system else ["system=system"]), *(["chart=chart"] if has_chart else [])]
    arguments += ["events=events"] * has_events + ["controllers=controllers"] * has_controllers
    arguments += ["inputs=inputs"] * has_inputs
    return f"mbvi.resume({', '.join(arguments)})"


def parts(columns: Mapping[str, Array]) -> tuple[str, ...]:
    """Which of PARTS the variables of a file hold; a system without constraints or bodies has none of some."""
    return tuple(part for part, keys in PARTS.items() if keys[0] in columns)


def check_parts(store: Sequence[str] | None) -> tuple[str, ...]:
    """The parts that a file is to hold, by default all.

    Raises
    ------
    ModelError
        If there is no such part.
    """
    expected = f"some of {', '.join(ALL_PARTS)}"
    found = list(ALL_PARTS) if store is None else checked_names(store, "store", expected)
    if not set(found) <= set(ALL_PARTS):
        raise ModelError(f"store: {wrong(expected, show(found))}")
    return tuple(found)


def block(values: Array, first: int, last: int) -> Array:
    """Some rows; of an array in a file they are mapped into memory anew, which is free again when they are no longer used."""
    rows = values[first:last]
    mapped = getattr(values, "_mmap", None)
    if not isinstance(values, np.memmap) or mapped is None:
        return rows
    into = rows.__array_interface__["data"][0] - np.frombuffer(mapped, np.uint8).__array_interface__["data"][0]
    begins = values.offset - values.offset % mmap.ALLOCATIONGRANULARITY
    return np.memmap(str(values.filename), rows.dtype, "c", begins + into, rows.shape)


def row_bytes(system: System, store: Sequence[str]) -> int:
    """Bytes of a state in a file with those parts."""
    more = {"poses": 7 * len(system.body_names), "multipliers": system.constraint_count}
    return 8 * (3 * system.dimension + SCALARS + sum(more.get(part, 0) for part in store))


def write_at(file: RawIOBase, place: int, data: Any) -> None:
    """Write the bytes of data to a place in a file."""
    rest = memoryview(data).cast("B")
    file.seek(place)
    while len(rest):
        rest = rest[file.write(rest) :]


def read(path: Path, system: System | None = None) -> tuple[Header, dict[str, Array]]:
    """What a file says of a run, and all variables by name, (rows, …): as parts of the file, read where they are used.

    Raises
    ------
    ModelError
        If the file is missing, damaged, of another kind, or of another system or model.
    """
    import h5py

    with reported(path, "a trajectory file"):
        if not path.is_file():
            found = "a folder" if path.is_dir() else "no such file"
            raise ModelError(f"{path}: {wrong('a trajectory file', found, 'check the path')}")
    with readable(path), h5py.File(path, "r", locking=False) as file:
        _check_inside(file)
        _check_heaps(file, path)
        found = _printable("format", str(file.attrs.get("format", "an HDF5 file of another program")))
        if found != FORMAT:
            remedy = "read it with xarray.open_dataset" if found.startswith("mbvi ensemble") else ""
            raise ModelError(f"{path}: {wrong(f'a file in the format {FORMAT!r}', found, remedy)}")
        header = _header(file, system, str(path))
        keys = [key for key in VARIABLES if key in file or key not in OPTIONAL]
        for key in keys:
            _check_numbers(file, key)
        rows = min(len(file[key]) for key in keys)
        columns = {key: _values(file[key], path)[:rows] for key in keys}
        _check_parts(header, columns)
        _check_slots(file)
    return header, columns


@contextlib.contextmanager
def readable(path: Path, kind: str = "a trajectory file") -> Iterator[None]:
    """Turn whatever reading a damaged file raises into a ModelError."""
    try:
        yield
    except ModelError:
        raise
    except READING_ERRORS as error:
        raise ModelError(f"{path}: {wrong(kind, _damage(error))}") from None


# ---------------------------------------------------------------------------------------------- writing


def _lay_out(path: Path, header: Header, columns: Mapping[str, Array], state: bytes) -> None:
    """Make a file with room for all rows, and for the states of the stepper."""
    import h5py

    # with version 2 of the superblock
    with h5py.File(path, "w", libver=("v108", "latest"), fs_strategy="page", fs_page_size=PAGE_BYTES):
        pass
    with h5py.File(path, "r+", libver=("v110", "latest")) as file:
        _write_header(file, header)
        for key in dict.fromkeys(key for name in columns for key in VARIABLES[name].dimensions):
            _scale(file, key, header.labels[key], f"name of every {key}")
            if key in header.units:
                labels(file, key + UNIT, header.units[key], f"unit of every {key}", key)
        if header.step_sizes is not None:
            file["step_sizes"] = header.step_sizes
            file["step_sizes"].attrs.update(long_name="sizes of all steps", units="s")
            file["step_sizes"].make_scale("step_sizes")
        if header.events:
            room = min(len(header.events) * header.steps, MOST_OCCURRENCES) + 1
            _rows(file, OCCURRENCES, room, (3 + 2 * columns["q"].shape[1],))
            file[OCCURRENCES].attrs["long_name"] = (
                "events: number of the step, of the event, time, coordinates, momenta"
            )
            file[OCCURRENCES][0] = -1.0  # a row that is no event, since room is laid out for rows alone
        if header.contacts:
            _rows(
                file,
                CONTACTS,
                min(1000 + 16 * len(header.contacts) * header.steps, MOST_OCCURRENCES),
                (7 + 2 * columns["q"].shape[1],),
            )
            file[CONTACTS].attrs["long_name"] = (
                "stops and frictions: step, contact, kind (impact, rest, release, stick, slip), time, impulse, energy, sign, "
                "coordinates, momenta"
            )
            file[CONTACTS][0] = -1.0
        if header.controllers:
            _rows(file, SAMPLES, header.sample_room, (3 + 2 * len(header.system.input_names),))
            file[SAMPLES].attrs["long_name"] = (
                "controllers: number, times of the call and from which on it acts, what was asked for, and what was given"
            )
            file[SAMPLES][0] = -1.0  # a row that is no sample, as above
        for number, (name, rows) in enumerate(header.measured.items()):
            file.require_group(stored_measurements.GROUP)
            key = f"{stored_measurements.GROUP}/{number}"
            room = stored_measurements.room_of(header.system, name, header.rows, header.steps * header.step)
            _rows(file, key, max(room, 1 + len(rows)), rows.shape[1:])
            file[key].attrs.update(stored_measurements.about(header.system, name))
            file[key][0] = -1.0  # a row that is no sample, as above
        for key, variable in VARIABLES.items():
            if key in columns:
                data = _rows(file, key, header.rows, columns[key].shape[1:])
                data.attrs["long_name"] = variable.text
                if variable.units:
                    data.attrs["units"] = variable.units
                if key == "t":
                    data.make_scale(key)
                for axis, scale in enumerate(() if key == "t" else ("t", *variable.dimensions)):
                    data.dims[axis].attach_scale(file[scale])
        if state:
            plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plan.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
            space = h5py.h5s.create_simple((2, 8 * HEAD + len(state)))
            group = file.create_group("restart")
            h5py.h5d.create(group.id, b"state", h5py.h5t.STD_U8LE, space, plan)
            group["state"].attrs["long_name"] = "last two states of the stepper, from which mbvi continues the run"


def _rows(file: h5py.File, key: str, room: int, shape: tuple[int, ...]) -> h5py.Dataset:
    """A dataset (1, …) with room for all rows, one after another in the file, which take no disk yet."""
    import h5py

    width = int(np.prod(shape))
    plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plan.set_chunk((min(room, max(1, CHUNK_NUMBERS // width)), *shape))
    plan.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    plan.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    space = h5py.h5s.create_simple((1, *shape), (room, *shape))
    h5py.h5d.create(file.id, key.encode(), h5py.h5t.IEEE_F64LE, space, plan)
    return file[key]


def _write_header(file: h5py.File, header: Header) -> None:
    system = header.system
    file.attrs["format"] = FORMAT
    file.attrs["mbvi_version"] = mbvi.__version__
    for library in ("numpy", "numba"):
        file.attrs[f"{library}_version"] = version(library)
    file.attrs["name"] = system.name
    for key in ("constraint_count", "is_conservative"):
        file.attrs[key] = int(getattr(system, key))  # netCDF has no booleans
    for key in ("step", "steps", "every", "start_time", "degrees_of_freedom"):
        file.attrs[key] = getattr(header, key)
    file.attrs["scheme"] = header.scheme.name
    file.attrs["scheme_numbers"] = json.dumps(asdict(header.scheme))
    file.attrs["statistics"] = _statistics(header.statistics)
    file.attrs["findings"] = _findings(header.findings)
    if header.events:
        file.attrs["events"] = json.dumps(header.events)
        file.attrs["end"] = _name(header.end)
    if header.contacts:
        file.attrs["contact_names"] = json.dumps(header.contacts)
    if header.controllers:
        file.attrs["controllers"] = json.dumps(header.controllers)
    if header.chart:
        file.attrs["chart"] = json.dumps(header.chart)
    if holds(system):
        write_model(file, cast(Model, system.model))


def _findings(findings: Sequence[Mapping[str, Any]]) -> np.bytes_:
    return np.bytes_(json.dumps(findings).ljust(FINDINGS_LENGTH))


def _name(text: str) -> np.bytes_:
    return np.bytes_(json.dumps([text]).ljust(NAME_LENGTH))


def _statistics(numbers: Mapping[str, Any]) -> np.bytes_:
    return np.bytes_(json.dumps(numbers).ljust(STATISTICS_LENGTH))


def labels(file: h5py.File, key: str, texts: Sequence[str], text: str, *scales: str) -> None:
    """Write texts as a dataset on these scales; `text` says what they are."""
    import h5py

    data = file.create_dataset(key, data=np.array(texts, dtype=object), dtype=h5py.string_dtype())
    data.attrs["long_name"] = text
    for axis, scale in enumerate(scales):
        data.dims[axis].attach_scale(file[scale])


def _scale(file: h5py.File, key: str, texts: Sequence[str], text: str) -> None:
    labels(file, key, texts, text)
    file[key].make_scale(key)


def lock(file: Any, path: Path) -> None:
    """Keep other processes from writing the same file; they may read it."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        remedy = "wait for the run that writes it, or end it"
        raise ModelError(
            f"{path}: {wrong('a file that nothing else writes', 'one that another process writes', remedy)}"
        ) from None


# ---------------------------------------------------------------------------------------------- reading


def _place(data: h5py.Dataset) -> int | None:
    """Where the rows of a dataset begin in the file, None if they do not follow one another there."""
    plan, rows = data.id.get_create_plist(), len(data)
    if data.chunks is None or plan.get_nfilters() or data.chunks[1:] != data.shape[1:] or rows == 0:
        return None
    last = (rows - 1) // data.chunks[0]
    chunks = [data.id.get_chunk_info_by_coord((index * data.chunks[0], *(0,) * (data.ndim - 1))) for index in (0, last)]
    first, distance = chunks[0].byte_offset, chunks[1].byte_offset - chunks[0].byte_offset
    return first if plan.get_alloc_time() == 1 and distance == last * chunks[0].size else None


def _values(data: h5py.Dataset, path: Path) -> Array:
    """The values of a dataset, as a part of the file if they follow one another in it."""
    place = _place(data)
    if place is None or data.dtype != np.dtype("<f8"):
        return np.asarray(data[()], dtype=float)
    return np.memmap(path, data.dtype, "c", place, data.shape)


def _check_inside(file: h5py.File) -> None:
    """All that is in a file stands in it, and none in another, to which HDF5 has several ways; ValueError otherwise."""
    import h5py

    groups, seen = [file.id], {h5py.h5o.get_info(file.id).addr}
    while groups:
        group = groups.pop()
        for name in group:
            if group.links.get_info(name).type != h5py.h5l.TYPE_HARD:
                raise ValueError(f"{name.decode(errors='replace')} is a link, maybe to another file")
            found = h5py.h5o.open(group, name)
            address = h5py.h5o.get_info(found).addr
            if isinstance(found, h5py.h5g.GroupID) and address not in seen:
                groups.append(found)
            seen.add(address)
            if isinstance(found, h5py.h5d.DatasetID):
                plan = found.get_create_plist()
                if plan.get_external_count() or plan.get_layout() == h5py.h5d.VIRTUAL:
                    raise ValueError(f"{name.decode(errors='replace')} has its values in another file")


def _check_heaps(file: h5py.File, path: Path) -> None:
    """The HDF5 library, before it gives a text, goes through a heap of texts from object to object, and from one of length 0, as
    a wrong byte makes it, to itself for ever; ValueError there. Rows of numbers are not looked at.
    """
    content, begin = np.memmap(path, np.uint8, "r"), 0
    for first, end in [*sorted(_extents(file)), (len(content), len(content))]:
        part = content[begin:first].tobytes()
        at = part.find(HEAP)
        while at >= 0:
            place, last = at + HEAP_OBJECT, at + int.from_bytes(part[at + 8 : at + 16], "little")
            while place + HEAP_OBJECT <= min(last, len(part)):
                index = int.from_bytes(part[place : place + 2], "little")
                length = int.from_bytes(part[place + 8 : place + 16], "little")
                if index == 0 and length == 0:
                    raise ValueError("a heap of texts with an object of length 0")
                place += length if index == 0 else HEAP_OBJECT + -(-length // 8) * 8
            at = part.find(HEAP, at + 1)
        begin = max(begin, end)


def _extents(file: h5py.File) -> Iterator[tuple[int, int]]:
    """The places where the rows of a dataset begin and end in a file, for every dataset whose rows follow one another."""
    known = [file.get(key) for key in (*VARIABLES, OCCURRENCES, CONTACTS, SAMPLES)]
    for data in (*known, *stored_measurements.datasets(file).values()):
        place = getattr(data, "chunks", None) and _place(data)
        if place:
            yield place, place + data.nbytes


def _number(file: h5py.File, key: str) -> Any:
    """One of NUMBERS, which ValueError names if it is none."""
    kind, least, most = NUMBERS[key]
    found = _attribute(file, key)
    if np.ndim(found) or not isinstance(found, int | float | np.integer | np.floating | np.bool_):
        raise ValueError(f"{key} is no number")
    if not least <= found <= most or kind(found) != found:
        raise ValueError(f"{key} is {found:g}")
    return kind(found)


def _attribute(file: h5py.File, key: str) -> Any:
    """An attribute of a file; ValueError where there is none, or bytes that are no text stand in the place of one."""
    if key not in file.attrs:
        raise ValueError(f"no {key}")
    value = file.attrs[key]
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:  # h5py keeps such bytes as surrogates
            raise ValueError(f"{key} is no text in UTF-8") from None
    return value


def _text(file: h5py.File, key: str) -> str:
    """A text among the attributes, which a terminal may show."""
    return _printable(key, str(_attribute(file, key)))


def _printable(what: str, text: str) -> str:
    """A text itself; ValueError where it holds codes that move a terminal's cursor, or worse."""
    if not text.isprintable():
        raise ValueError(f"{what} has characters that cannot be printed")
    return text


def _decoded(file: h5py.File, key: str, kind: type) -> Any:
    """What an attribute in JSON holds, a list or a mapping."""
    text = _attribute(file, key)
    try:
        found = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        found = None
    if not isinstance(found, kind):
        raise ValueError(f"{key} must be a {'list' if kind is list else 'mapping'}")
    return found


def _scheme(file: h5py.File) -> Tableau | Method:
    """The scheme, whose name stands in two places."""
    found, name = _scheme_of(_decoded(file, "scheme_numbers", dict)), _text(file, "scheme")
    if found.name != name:
        raise ValueError(f"scheme is {name}, and scheme_numbers are of {found.name}")
    return found


def _scheme_of(numbers: dict[str, Any]) -> Tableau | Method:
    """A Galerkin scheme by its numbers, another method by its name, of which the file's numbers are those known."""
    is_galerkin = "nodes" in numbers
    _check_keys("scheme_numbers", numbers, TABLEAU if is_galerkin else ("name", "numbers"), is_whole=is_galerkin)
    try:
        if is_galerkin:
            return Tableau(**numbers)
        name = str(numbers["name"])
        if numbers.get("runner") == "runge_kutta" and name not in mbvi.SCHEMES:
            return mbvi.catalog.find_scheme(ButcherTableau.of(numbers["numbers"], name))
        known = mbvi.catalog.find_scheme(name)
    except ModelError as error:
        raise ValueError(str(error)) from None
    if not isinstance(known, Method) or list(known.numbers) != numbers["numbers"]:
        raise ValueError(f"scheme {known.name} has other numbers")
    return known


def _counts(file: h5py.File) -> dict[str, Any]:
    """The numbers of a `Statistics`."""
    found: dict[str, Any] = _decoded(file, "statistics", dict)
    _check_keys("statistics", found, STATISTICS)
    for key, value in found.items():
        is_number = isinstance(value, int if key in COUNTED else int | float) and not isinstance(value, bool)
        if not (is_number and 0 <= value < math.inf):
            raise ValueError(f"{key} is {show(value, 40)}")
    return found


def _check_keys(what: str, found: Mapping[str, Any], expected: Sequence[str], is_whole: bool = True) -> None:
    """The keys of a mapping are those expected; if it is not whole, it may have others; ValueError names one that is not."""
    for key in expected:
        if key not in found:
            raise ValueError(f"{what} has no {key}")
    for key in found if is_whole else ():
        if key not in expected:
            raise ValueError(f"{what} has {show(key)}, which is unknown")


def _doubts(file: h5py.File) -> list[dict[str, Any]]:
    """What each `Finding` has."""
    found: list[dict[str, Any]] = _decoded(file, "findings", list)
    texts, numbers = ("kind", "text", "where"), ("t", "size")
    for each in found:
        if not isinstance(each, dict):
            raise ValueError("findings are no mappings")
        _check_keys("a finding", each, texts + numbers)
        if not all(isinstance(each[key], str) for key in texts):
            raise ValueError("findings have parts that are no texts")
        if not all(isinstance(each[key], int | float) and math.isfinite(each[key]) for key in numbers):
            raise ValueError("findings have parts that are no numbers")
        for key in texts:
            _printable("a finding", each[key])
    return found


def _step_sizes(file: h5py.File) -> Array | None:
    """The sizes of all steps, if they are given."""
    if "step_sizes" not in file:
        return None
    _check_numbers(file, "step_sizes")
    return np.asarray(file["step_sizes"][()], dtype=float)


def _names(file: h5py.File, key: str) -> tuple[str, ...]:
    """Names that an attribute lists, as those of the coordinates of a chart; none where it is not there."""
    names = _decoded(file, key, list) if key in file.attrs else []
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"{key} has names that are no texts")
    return tuple(_printable(key, name) for name in names)


def _contact_names(file: h5py.File, system: System) -> tuple[str, ...]:
    """The names of stops and dry frictions; ValueError if they are not those of the system."""
    found = _names(file, "contact_names")
    has_model = not isinstance(system, Nameplate) and system.model is not None
    if has_model and found != (contact_names(system) if system.has_contacts else ()):
        raise ValueError("contact_names are not those of the model")
    return found


def _measured(file: h5py.File, system: System, path: Path) -> dict[str, Array]:
    """What sensors measured, by their names; ValueError if it is nothing."""
    found = stored_measurements.datasets(file)
    rows = {name: np.array(_values(data, path)[1:]) for name, data in found.items()}
    if not isinstance(system, Nameplate):
        stored_measurements.check_rows(system, found, rows)
    return rows


def _header(file: h5py.File, system: System | None, source: str) -> Header:
    built = _system(file, system, source)
    return Header(
        system=built,
        scheme=_scheme(file),
        step=_number(file, "step"),
        steps=_number(file, "steps"),
        every=_number(file, "every"),
        start_time=_number(file, "start_time"),
        degrees_of_freedom=_number(file, "degrees_of_freedom"),
        labels={key: _texts(file, key) for key in DIMENSIONS if key in file},
        units={key: _texts(file, key + UNIT) for key in DIMENSIONS if key + UNIT in file},
        statistics=_counts(file),
        findings=_doubts(file),
        step_sizes=_step_sizes(file),
        chart=_names(file, "chart"),
        events=_names(file, "events"),
        occurrences=_happened(file, Path(source), OCCURRENCES),
        contacts=_contact_names(file, built),
        contact_events=_happened(file, Path(source), CONTACTS),
        end="".join(_names(file, "end")),
        controllers=_controllers(file),
        samples=_sample_rows(file, Path(source)),
        measured=_measured(file, built, Path(source)),
    )


def _controllers(file: h5py.File) -> tuple[dict[str, Any], ...]:
    """What the file says of the controllers; ValueError if that is nothing."""
    found = _decoded(file, "controllers", list) if "controllers" in file.attrs else []
    for each in found:
        if not isinstance(each, dict):
            raise ValueError("controllers are no mappings")
        _check_keys("a controller", each, OF_CONTROLLER)
        lists = each["inputs"], each["sensors"]
        texts: list[Any] = [each["name"], *lists[0], *lists[1]] if all(isinstance(x, list) for x in lists) else [None]
        if not all(isinstance(text, str) for text in texts):
            raise ValueError("controllers have names that are no texts")
        for text in texts:
            _printable("a controller", text)
        if not all(isinstance(each[key], int | float) and 0 <= each[key] < LARGEST for key in ("period", "delay")):
            raise ValueError("controllers have times that are no numbers")
    return tuple(found)


def _sample_rows(file: h5py.File, path: Path) -> Array:
    """The inputs that controllers gave, (rows, 3 + 2 inputs); ValueError if it is nothing."""
    if SAMPLES not in file:
        return np.empty((0, 3))
    _check_numbers(file, SAMPLES)
    rows, controllers = np.array(_values(file[SAMPLES], path)[1:]), _controllers(file)
    if rows.ndim != 2 or rows.shape[1] < 3 or rows.shape[1] % 2 == 0 or not np.isfinite(rows).all():
        raise ValueError("samples are no times and values")
    if not np.isin(rows[:, 0], np.arange(len(controllers))).all():
        raise ValueError("samples are of other controllers than the file names")
    return rows


def _happened(file: h5py.File, path: Path, key: str) -> Array:
    """The events that happened, (rows, 3 + 2 n), or what happened to contacts, (rows, 7 + 2 n); ValueError if they are none."""
    columns, names = (7, "contact_names") if key == CONTACTS else (3, "events")
    events = _names(file, names)
    if key not in file and not events:
        return np.empty((0, columns))
    _check_numbers(file, key)
    rows = np.array(_values(file[key], path)[1:])
    if rows.ndim != 2 or rows.shape[1] != columns + 2 * len(_texts(file, "coordinate")) or not np.isfinite(rows).all():
        raise ValueError(f"{key} are no times and states")
    if not np.isin(rows[:, 1], np.arange(len(events))).all():
        raise ValueError(f"{key} are of others than the file names")
    if key == CONTACTS and not np.isin(rows[:, 2], np.arange(5)).all():
        raise ValueError(f"{key} are of kinds that there are not")
    return rows


def _check_numbers(file: h5py.File, key: str) -> None:
    """A variable is a dataset of real numbers, in rows; ValueError otherwise."""
    import h5py

    if key not in file:
        raise ValueError(f"no {key}")
    data = file[key]
    if not (isinstance(data, h5py.Dataset) and data.ndim and data.dtype.kind in "fiu"):
        raise ValueError(f"{key} is no list of numbers")


def _check_parts(header: Header, columns: Mapping[str, Array]) -> None:
    """Variables of the shapes that their labels say, and times; the ValueError names what is not. Of states the first and the
    last are looked at.
    """
    n, k, free = len(header.labels.get("coordinate", ())), header.system.constraint_count, header.degrees_of_freedom
    if not n - k <= free <= n:
        raise ValueError(f"degrees_of_freedom is {free}, of {n} coordinates and {k} constraints")
    for key, units in header.units.items():
        if len(units) != len(header.labels.get(key, ())):
            raise ValueError(f"{key} has {len(units)} units")
    for keys in PARTS.values():
        missing = [key for key in keys if key not in columns]
        if 0 < len(missing) < len(keys):
            raise ValueError(f"no {missing[0]}")
    for key, values in columns.items():
        shape = tuple(len(header.labels.get(each, ())) for each in VARIABLES[key].dimensions)
        if values.shape[1:] != shape:
            raise ValueError(f"{key} has rows of shape {values.shape[1:]}, its labels are of {shape}")
    if not len(columns["t"]):
        raise ValueError("no row is there")
    _check_times(header, columns["t"])
    inputs = () if isinstance(header.system, Nameplate) else header.system.input_names
    known = {name for each in header.controllers for name in each["inputs"]}
    if inputs and not (known <= set(inputs) and header.samples.shape[1] in (3, 3 + 2 * len(inputs))):
        raise ValueError("controllers have other inputs than the system")
    names = header.labels.get("input", ())
    if inputs and not set(names) <= set(inputs):
        raise ValueError("input has other names than the actuators of the system")
    for key in ("q", "p", *(["inputs"] if "inputs" in columns else [])):
        if not np.isfinite(columns[key][[0, -1]]).all():
            raise ValueError(f"{key} has numbers that are not finite")
    if "rotation" in columns and not np.all(
        np.abs(np.sum(columns["rotation"][[0, -1]] ** 2, axis=2) - 1) <= UNIT_QUATERNIONS
    ):
        raise ValueError("rotation has quaternions whose norm is not 1")


def _check_times(header: Header, t: Array) -> None:
    """Times (rows,) are those at which the stored steps end, as far as rounding lets them; ValueError says which is not."""
    sizes, every, rows = header.step_sizes, header.every, len(t)
    if sizes is not None and not (sizes.shape == (header.steps,) and np.all((sizes > 0) & np.isfinite(sizes))):
        raise ValueError("step_sizes are no sizes of all steps")
    if header.end:
        rows -= 1
        if not (rows and 0 < t[-1] - t[-2] <= every * header.step * (1 + OF_A_STEP)):
            raise ValueError("t of the last row is not within a step of the row before")
        t = t[:-1]
    if every * (rows - 1) > header.steps:
        raise ValueError(f"{rows} rows of every = {every} are more than steps = {header.steps}")
    if sizes is None:
        expected = header.start_time + header.step * every * np.arange(rows)
    else:
        expected = header.start_time + np.concatenate([[0.0], np.cumsum(sizes)])[::every][:rows]
    off = ~(np.abs(t - expected) <= OF_A_STEP * header.step + rows * np.spacing(np.abs(expected).max()))
    if off.any():
        row = int(np.argmax(off))
        raise ValueError(f"t is {t[row]:.9g} in row {row}, where the steps end at {expected[row]:.9g}")
    if rows > 1 and not t[0] < t[-1]:
        raise ValueError("t does not increase")


def _check_slots(file: h5py.File) -> None:
    """The states of the stepper, if there are any, are rows of bytes; ValueError otherwise."""
    slots = file.get("restart/state")
    if slots is None:
        return
    is_of_bytes = slots.dtype == np.uint8 and slots.ndim == 2
    if not is_of_bytes or len(slots) != 2 or slots.shape[1] < 8 * HEAD or slots.id.get_offset() is None:
        raise ValueError("restart/state is no state of a stepper")


def _texts(file: h5py.File, key: str) -> tuple[str, ...]:
    if key not in file:
        return ()
    import h5py

    data = file[key]
    if not (isinstance(data, h5py.Dataset) and data.ndim == 1 and h5py.check_string_dtype(data.dtype)):
        raise ValueError(f"{key} is no list of texts")
    return tuple(_printable(key, str(text)) for text in data.asstr()[()])


def _system(file: h5py.File, system: System | None, source: str) -> System:
    """The given system, or that of the model, or else its nameplate."""
    plate = Nameplate(
        name=_text(file, "name"),
        coordinate_names=_texts(file, "coordinate"),
        coordinate_units=_texts(file, "coordinate_unit"),
        constraint_names=_texts(file, "constraint"),
        constraint_units=_texts(file, "constraint_unit"),
        body_names=_texts(file, "body"),
        degrees_of_freedom=_number(file, "degrees_of_freedom"),
        constraint_count=_number(file, "constraint_count"),
        is_conservative=bool(_number(file, "is_conservative")),
    )
    if system is None and "model" in file:
        system = assemble(read_model(file, source))
    if system is None:
        return cast(System, plate)
    if system.coordinate_names != plate.coordinate_names:
        expected, found = (", ".join(each.coordinate_names) for each in (plate, system))
        raise ModelError(f"{source}: system: {wrong(f'the coordinates {expected}', found)}")
    for key in ("constraint_count", "is_conservative", "constraint_names", "body_names"):
        if (
            key == "is_conservative" and system.input_names
        ):  # actuators may have been given inputs by which they do work
            continue
        expected, found = getattr(plate, key), getattr(system, key)
        if expected != found and expected != ():  # names are there with the parts that need them
            raise ModelError(f"{source}: system: {wrong(f'{key} = {show(expected)}', show(found))}")
    _check_model(file, system, source)
    return system


def _check_model(file: h5py.File, system: System, source: str) -> None:
    """A given system's model is that of the file, if both have one; parameters may have become numbers."""
    if isinstance(system, Nameplate) or system.model is None or "model" not in file:
        return
    different: list[str] = []
    if to_yaml(system.model) != file["model"].asstr()[()]:
        expected, found = read_model(file, source).resolved(), system.model.replaced({}).resolved()  # as it was given
        different += [key for key in Model.model_fields if getattr(expected, key) != getattr(found, key)]
    if not different and not stored_files(file, source).items() <= mesh_files(system.model).items():
        different += ["meshes"]
    if different:
        expectation, remedy = f"the file's model {file.attrs['name']!r}", "leave system out to take that of the file"
        found_text = f"{system.name!r} with other {', '.join(different)}"
        raise ModelError(f"{source}: system: {wrong(expectation, found_text, remedy)}")


def _damage(error: Exception) -> str:
    """What is wrong with a file that could not be read, from HDF5's words."""
    text = " ".join(str(error).split())
    if "signature not found" in text:
        return "a file that is not HDF5"
    if "truncated" in text:
        return "a truncated one; copy it again"
    return f"a damaged one ({text})"
