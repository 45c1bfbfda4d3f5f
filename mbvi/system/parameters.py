"""From a model's parameters to the tables of its system, without assembling it anew.

Once, the model is resolved and assembled with parameters that are recorded numbers (`mbvi.recording`). That gives a program for
the numbers in the tables that depend on them, and all that was decided on the way: that a mass is not negative, that two axes are
parallel, that a body is a point. For other values the program is run, and the tables are filled. Where a decision would be
another, the structure of the system may be another: then it is assembled anew.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from mbvi.kernels import layout
from mbvi.model.model import Model
from mbvi.recording import Number, Recording, known
from mbvi.system.base import MOST_HELD
from mbvi.system.kept import Kept
from mbvi.system.scales import set_scales
from mbvi.system.system import System
from mbvi.system.tables import BodyFrame

Array = np.ndarray
OF_NUMBERS = ("unforced", "_all_cut", "_initial_state", "mobility")  # what a system keeps that follows from them


class UnrecordedError(Exception):
    """The tables of a system cannot be written down as a program of its parameters."""


class Pattern(NamedTuple):
    """An array of which some numbers are outputs of a program.

    recorded   the array at the values that were recorded
    at, rows   flat indices of these numbers, and of the outputs that they are
    """

    recorded: Array
    at: Array
    rows: Array

    def filled(self, outputs: Array) -> Array:
        """The array with outputs (outputs,) of a program."""
        own = self.recorded.copy()
        if len(self.at):
            self.fill(own, outputs)
        return own

    def filled_all(self, outputs: Array) -> Array:
        """The arrays (cases, …) with outputs (cases, outputs)."""
        own = np.repeat(self.recorded[None], len(outputs), axis=0)
        own.reshape(len(outputs), -1)[:, self.at] = outputs[:, self.rows]
        return own

    def fill(self, own: Array, outputs: Array) -> None:
        """Write the outputs into an array."""
        own.reshape(-1)[self.at] = outputs[self.rows]


class _Outputs:
    """The outputs of a program, and the arrays that have them."""

    def __init__(self) -> None:
        self.numbers: dict[Number, int] = {}

    def pattern(self, values: Array) -> Pattern:
        """The pattern of an array of numbers, some of them recorded."""
        places = [(i, each) for i, each in enumerate(values.flat) if isinstance(each, Number)]
        rows = [self.numbers.setdefault(each, len(self.numbers)) for _, each in places]
        recorded = np.array([known(each) for each in values.flat], float).reshape(values.shape)
        return Pattern(recorded, np.array([i for i, _ in places], np.int64), np.array(rows, np.int64))


class ParameterMap:
    """The map from values of some parameters to the tables of a system.

    Parameters
    ----------
    system : System
        An assembled one.
    names : sequence of str
        Parameters of its model.
    build : callable
        Gives the tables of a model.
    find_idle : callable
        Gives the idle constraints of a system.

    Raises
    ------
    UnrecordedError
        If what is computed from them cannot be written down, as where an inertia is mended.
    """

    def __init__(
        self,
        system: System,
        names: Sequence[str],
        build: Callable[[Any], Any],
        find_idle: Callable[[System], set[int]],
    ) -> None:
        assert system.model is not None
        self.names, self._system, self._find_idle = tuple(names), system, find_idle
        values = system.model.resolved().parameters
        recording = Recording({name: float(values[name]) for name in names})
        model = system.model.replaced({"parameters": {**system.model.parameters, **recording.inputs}})
        model._parts = {}
        self._outputs, self._looking = _Outputs(), threading.Lock()
        try:
            self._record(build, model)
        except Exception as error:  # whatever a recorded number leads to where none is expected
            raise UnrecordedError(str(error)) from error
        self._program = recording.program(list(self._outputs.numbers))

    def _record(self, build: Callable[[Any], Any], model: Model) -> None:
        """Assemble a model of recorded numbers, as far as its numbers go."""
        system, pattern = self._system, self._outputs.pattern
        builder = build(model)
        if any(isinstance(each, Number) for each in vars(builder.model.simulation).values()):
            raise UnrecordedError("the step or the duration depend on parameters")
        builder.atoms(is_dense=bool(system._arrays.force))  # which decides by numbers too
        entries = system._arrays.constraints[:, layout.ENTRIES]
        self._idle = {i for i, row in enumerate(builder.tables.rows) if row.entries and not entries[i]}
        self._whole = build(system.model).system(system.model, None) if self._idle else None
        self._of_whole = dict(self._patterns(self._whole, builder.arrays(()))) if self._whole else {}
        builder.tables.make_idle(self._idle)
        self._tables = dict(self._patterns(system, builder.arrays(system._force_names)))
        self._state = [pattern(each) for each in builder.given_state()]
        frames, homes = builder.frames, builder.homes()
        self._frames = {name: (pattern(frame.rotation), pattern(frame.place)) for name, frame in frames.items()}
        self._centers = {name: pattern(each) for name, each in homes.centers.items()}

    def _patterns(self, system: System, arrays: dict[str, Any]) -> Iterator[tuple[str, Pattern]]:
        """The tables of a system that depend on the parameters. All others are as they are."""
        for name, value in arrays.items():
            own = np.asarray(getattr(system._arrays, name))
            pattern = self._outputs.pattern(value) if own.dtype.kind == "f" else None
            recorded = np.asarray(value) if pattern is None else pattern.recorded
            if recorded.tobytes() != own.tobytes() and name != "periodic":
                raise UnrecordedError(f"{name} is not what it was")
            if pattern is not None and len(pattern.at):
                yield name, pattern

    @property
    def changes_functions(self) -> bool:
        """Whether functions, as those of the time, depend on the parameters."""
        return "numbers" in self._tables

    def outputs(self, values: Array) -> tuple[Array, Array]:
        """What the tables have for values (cases, names): outputs (cases, outputs), and which cases have this structure."""
        found, is_valid = self._program.run(np.ascontiguousarray(values.T))
        return np.ascontiguousarray(found.T), is_valid

    def system(self, values: Sequence[float]) -> System | None:
        """The system with these values; None where its structure may be another."""
        outputs, is_valid = self.outputs(np.array([values], float))
        return self.system_of(values, outputs[0]) if is_valid[0] else None

    def system_of(self, values: Sequence[float], outputs: Array) -> System | None:
        """The system with these values, whose outputs are known; None where other constraints are idle."""
        own = self._with_own_arrays()
        for name, pattern in self._tables.items():
            pattern.fill(getattr(own._arrays, name), outputs)
        if own._starts_as_its_model:
            own.given_q, own.given_v = (pattern.filled(outputs) for pattern in self._state)
        if self._has_other_idle(own, outputs):
            return None
        model, homes = self._system.model, self._system.homes
        assert model is not None and homes is not None
        own.model = model.replaced({"parameters": {**model.parameters, **dict(zip(self.names, values, strict=True))}})
        own.frames = {
            name: BodyFrame(self._system.frames[name].link, *(each.filled(outputs) for each in pair))
            for name, pair in self._frames.items()
        }
        own.homes = replace(homes, centers={name: each.filled(outputs) for name, each in self._centers.items()})
        own._maps = {self.names: self}
        if own.constraint_count:
            set_scales(own)
        return own

    def cases(self, outputs: Array) -> Cases:
        """The systems of many cases, of outputs (cases, outputs), as one."""
        own = _as_cases(self._with_own_arrays())
        patterns = [(getattr(own._arrays, name).reshape(-1), each) for name, each in self._tables.items()]
        own._tables = [(flat, each.at, outputs[:, each.rows]) for flat, each in patterns]
        own.given_q, own.given_v = (each.filled_all(outputs) for each in self._state)
        return own

    def _with_own_arrays(self) -> System:
        """The system with tables that no other has, and nothing else that depends on them."""
        own, arrays = copy(self._system), self._system._arrays
        own._arrays = layout.System(**{name: getattr(arrays, name) for name in arrays._numba_type_.layout})
        for name in OF_NUMBERS:
            own.__dict__.pop(name, None)
        own._held_systems = Kept(MOST_HELD)
        return own

    def _has_other_idle(self, system: System, outputs: Array) -> bool:
        """Whether other constraints of loops are idle than were: then these lie otherwise, as no longer in a plane."""
        if not system._arrays.reference.any():
            return False
        if self._whole is None:
            return bool(self._find_idle(system))
        with self._looking:
            for name, pattern in self._of_whole.items():
                pattern.fill(getattr(self._whole._arrays, name), outputs)
            return self._find_idle(self._whole) != self._idle


class Cases(System):
    """The systems of many cases as one, whose states belong to the cases in equal shares, in their order.

    Its model, the frames of bodies and the centres of mass are not those of the cases.
    """

    _tables: list[tuple[Array, Array, Array]]  # a table, flat indices in it, and the numbers there (cases, .)

    def chosen(self, are_chosen: Array) -> Cases:
        """Some of the cases (cases,)."""
        own = copy(self)
        own._tables = [(flat, at, values[are_chosen]) for flat, at, values in self._tables]
        own.given_q, own.given_v = self.given_q[are_chosen], self.given_v[are_chosen]
        return own

    def _parts(self, states: int) -> Iterator[slice]:
        """The states of every case."""
        share = states // max(1, len(self.given_q))
        for case in range(len(self.given_q)):
            for flat, at, values in self._tables:
                flat[at] = values[case]
            yield slice(case * share, (case + 1) * share)


def _as_cases(system: System) -> Cases:
    """A system that becomes the cases of a map."""
    own = object.__new__(Cases)
    own.__dict__.update(system.__dict__)
    return own
