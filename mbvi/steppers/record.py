"""Where the states of a run go while it runs: to arrays in memory or, block by block, to a file."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from mbvi.errors import ModelError
from mbvi.model.expressions import wrong
from mbvi.results import storage, stored_measurements
from mbvi.results.samples import samples_of
from mbvi.results.trajectory import (
    Finding,
    Statistics,
    Stored,
    Trajectory,
    columns,
    derived,
    header,
    known_invariants,
    last_rotation,
    occurrences_of,
    read,
)
from mbvi.steppers.carried import Carried, counts_of, take_back, to_bytes
from mbvi.steppers.contact_log import ContactLog
from mbvi.steppers.happened import Happened, Happenings
from mbvi.steppers.run import Run

Array = np.ndarray
BLOCK_BYTES = 1 << 23  # size of the states that wait for the disk
BLOCK_SECONDS = 1.0  # time after which they are written


class Record:
    """The states of a run. With a file, a block of them is written at a time, and with it the state of the stepper.

    Parameters
    ----------
    run : Run
    state : sequence of Carried
        All that the stepper carries from one call to the next; its contents at a call of `add` are what the run goes on from. Of
        a run that is resumed, the last state of the stepper is put back into it.
    happenings : Happenings, optional
        The events that happened, which a file gets with the states; of a run that is resumed, those that it has are put back.
    contacts : ContactLog, optional
        What happened to contacts, likewise.

    Attributes
    ----------
    done : int
        Number of steps done.
    findings : list of Finding
        The findings of the first part of a run that is resumed, as far as its later states do not show them.
    """

    def __init__(
        self,
        run: Run,
        state: Sequence[Carried],
        happenings: Happenings | None = None,
        contacts: ContactLog | None = None,
    ) -> None:
        self._run, self._state = run, [*counts_of(run.system.arrays), *state]
        self._statistics = Statistics(0, 0.0, 0, 0, 0, 0)
        self._writer: storage.Writer | None = None
        self._rotation: Array | None = None  # the last in the file
        self._before = None if run.is_resumed or run.path is None else _file_number(run.path)
        self._written, self._written_at = 0, -np.inf
        self._happenings, self._happened = happenings or Happenings(()), 0  # in the file
        self._contacts, self._touched = contacts, 0  # in the file
        self._sampled = 0  # in the file
        self.findings: list[Finding] = []
        self.done, rows = 0, run.steps // run.every + 1
        if run.path:
            rows = min(rows, max(2, BLOCK_BYTES // storage.row_bytes(run.system, run.store)))
        self._q, self._p = np.empty((rows, len(run.q))), np.empty((rows, len(run.q)))
        self._q[0], self._p[0] = run.q, run.p
        if run.path and run.is_resumed:
            self._resume(run.path)
        self._invariants = known_invariants(run.system) if run.path else ()

    def __enter__(self) -> Record:
        """The record itself."""
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close the file. An interruption says what is in it."""
        if self._writer is not None:
            self._writer.close()
        if isinstance(error, KeyboardInterrupt) and self._run.path and _file_number(self._run.path) != self._before:
            path, system = self._run.path, self._run.system
            kept, go_on = (
                read(path, system),
                storage.resumption(path, storage.holds(system), self._run.chart is not None, *self._has_functions),
            )
            raise KeyboardInterrupt(
                f"{len(kept)} states until t = {kept.t[-1]:.6g} s are in {path}; go on by: {go_on}"
            ) from None

    @property
    def _has_functions(self) -> tuple[bool, bool, bool]:
        """Whether there are events, controllers, and inputs by functions."""
        return bool(self._run.events), bool(self._run.controllers), self._run.system._feedback is not None

    @property
    def seconds(self) -> float:
        """Wall time in the kernels until now [s]."""
        return self._statistics.seconds

    def room(self) -> tuple[Array, Array]:
        """Where the next coordinates and momenta are put, (rows, n) each, at least one row."""
        count = self._stored - self._written
        rows = min(len(self._q) - count, (self._run.steps - self.done) // self._run.every)
        return self._q[count : count + rows], self._p[count : count + rows]

    def add(self, done: int, statistics: Statistics, is_state: bool = True) -> None:
        """Note that the rows until `done` steps are filled, and whether the state of the stepper belongs to them.

        Raises
        ------
        ModelError
            If the disk is full; what was written before stays.
        """
        self.done, self._statistics = done, statistics
        is_full = self._stored - self._written == len(self._q)
        is_over = done == self._run.steps or not is_state
        is_late = time.perf_counter() - self._written_at > BLOCK_SECONDS
        if self._run.path and (is_full or is_over or is_late):
            self._write(self._run.path, is_state)

    def trajectory(self) -> Trajectory:
        """All states, in memory or in the file."""
        if self._run.path:
            return replace(read(self._run.path, self._run.system), start=self._run.start)
        count = self._stored
        found = self._trajectory(0, self._q[:count], self._p[:count])
        touched = None if self._contacts is None else self._contacts.rows().copy()
        events = occurrences_of(found.system, self._happenings.names, self._happenings.rows())
        numbers, rows = [each.numbers for each in self._run.controllers], np.array(self._run.samples)
        samples = samples_of(found.system.input_names, numbers, rows, found.t[-1]) if numbers else {}
        return replace(found, events=events, contact_events=touched, samples=samples)

    def ended(self, trajectory: Trajectory, findings: tuple[Finding, ...]) -> Trajectory:
        """The trajectory with what makes its result doubtful and the event that ended it, which are written to the file too."""
        if findings and self._writer is not None:
            self._writer.note([each._asdict() for each in findings])
        trajectory = replace(trajectory, findings=findings)
        end = self._happenings.end
        if end is not None:
            trajectory = self._with_end(trajectory, end, self._happenings.names[end.event])
        if self._writer is not None and stored_measurements.GROUP in self._run.store:
            self._writer.measure(stored_measurements.rows_of(trajectory))
        return trajectory

    def _with_end(self, trajectory: Trajectory, end: Happened, name: str) -> Trajectory:
        """The trajectory with the event that ended the run, whose state is the last, unless a stored one is at the same time."""
        t, q, p = np.array([end.t]), end.q[None], end.p[None]
        if end.t == trajectory.t[-1]:
            t, q, p = t[:0], q[:0], p[:0]
        if self._writer is not None and self._run.path:
            stored = derived(self._run.system, self._invariants, t, q, p, self._run.store, self._rotation)
            if len(t):
                self._writer.append(columns(t, q, p, stored))
            self._writer.end(name)
            return self.trajectory()
        t, q, p = (np.concatenate(pair) for pair in ((trajectory.t, t), (trajectory.q, q), (trajectory.p, p)))
        return replace(trajectory, t=t, q=q, p=p, end=name)

    @property
    def _stored(self) -> int:
        """How many states there are."""
        return self.done // self._run.every + 1

    def _trajectory(self, first: int, q: Array, p: Array) -> Trajectory:
        run = self._run
        return Trajectory(
            system=run.system,
            scheme=run.method,
            step=run.step,
            every=run.every,
            t=run.stored_times(first, first + len(q)),
            q=q,
            p=p,
            statistics=self._statistics,
            step_sizes=None if run.step_sizes is None else run.step_sizes[: self.done],
            start=run.start,
        )

    def _write(self, path: Path, is_state: bool) -> None:
        """Write the states that wait, and the state of the stepper."""
        count = self._stored - self._written
        block = self._trajectory(self._written, self._q[:count], self._p[:count])
        stored = derived(self._run.system, self._invariants, block.t, block.q, block.p, self._run.store, self._rotation)
        rows = columns(block.t, block.q, block.p, stored)
        state = to_bytes(self._state)
        if self._writer is None:
            storage.make(path, self._header(block, stored), rows, state if is_state else b"", self.done)
            self._writer = storage.Writer(path)
            self._rotation = last_rotation(stored)
            self._write_samples()
        else:
            if count:
                self._writer.append(rows)
                self._rotation = last_rotation(stored)
            self._write_samples()
            self._writer.keep(asdict(self._statistics), self.done, state if is_state else b"")
        self._writer.happen(self._happenings.rows(self._happened))
        self._happened = len(self._happenings.found)
        if self._contacts is not None:
            self._writer.happen(self._contacts.rows(self._touched), storage.CONTACTS)
            self._touched = self._contacts.count
        self._written, self._written_at = self._stored, time.perf_counter()

    def _write_samples(self) -> None:
        """Write the inputs that the controllers gave until now, before the state of the stepper, which counts it."""
        if self._writer is not None:
            self._writer.sample(np.array(self._run.samples[self._sampled :]))
            self._sampled = len(self._run.samples)

    def _header(self, block: Trajectory, stored: Stored) -> storage.Header:
        """What the file says of the whole run."""
        run, of_block = self._run, header(block, self._run.steps, stored)
        names = run.chart.coordinate_names if run.chart else ()
        touching = () if self._contacts is None else self._contacts.names
        controllers = tuple(each.numbers for each in run.controllers)
        own: dict[str, Any] = {
            "chart": names,
            "events": self._happenings.names,
            "contacts": touching,
            "controllers": controllers,
        }
        if stored_measurements.GROUP in run.store:
            own["measured"] = stored_measurements.no_rows(run.system)
        return replace(of_block, step_sizes=run.step_sizes, **own)

    def _resume(self, path: Path) -> None:
        """Open the file and put the state of the stepper back."""
        kept = read(path, self._run.system)
        self._statistics = kept.statistics
        self.findings = [each for each in kept.findings if each.where]
        self._writer = storage.Writer(path)
        self.done, state = self._writer.last_state()
        self._written = self._stored
        self._happenings.take_back(self._writer.happened(self.done))
        self._happened = len(self._happenings.found)
        if self._contacts is not None:
            self._contacts.take_back(self._writer.happened(self.done, storage.CONTACTS))
            self._touched = self._contacts.count
        self._rotation = last_rotation(kept.rows(slice(self._written)).stored)
        try:
            take_back(self._state, state)
        except ValueError as error:
            self._writer.close()
            expected = "the state of the stepper as a run leaves it"
            raise ModelError(f"{path}: {wrong(expected, str(error), storage.RESTART)}") from None
        self._run.samples[:] = self._writer.sampled(self._run.start_time + self._run.step * self.done)
        self._sampled = len(self._run.samples)


def _file_number(path: Path) -> int | None:
    """What distinguishes a file from one that takes its place; none if there is no file."""
    return path.stat().st_ino if path.exists() else None
