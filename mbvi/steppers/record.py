"""Where the states of a run go while it runs: to arrays in memory or, block by block, to a file."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from types import TracebackType

import numpy as np

from mbvi import storage
from mbvi.errors import ModelError
from mbvi.schemes.method import Method
from mbvi.schemes.tableau import Tableau
from mbvi.system.system import System
from mbvi.trajectory import Statistics, Trajectory, columns, derived, header, known_invariants, read

Array = np.ndarray
BLOCK_BYTES = 1 << 22  # of coordinates that wait for the disk
BLOCK_SECONDS = 1.0  # after which they are written


class Record:
    """The states of a run. With a file, a block of them is written at a time, and with it the state of the stepper.

    Parameters
    ----------
    system, scheme, step, every, start_time
        As in a `Trajectory`.
    steps : int
        Number of steps, a multiple of `every`.
    q, p : ndarray (n,)
        The first state.
    state : list of ndarray
        All that the stepper carries from one call to the next; its contents at a call of `add` are what the run goes on from.
    path : Path or None
        The file; it is made when the first states come.
    is_resumed : bool
        Whether the file is there, and its last state of the stepper is to be put into `state`.

    Attributes
    ----------
    done : int
        Number of steps done.
    seconds : float
        Wall time in the kernels until then [s].
    """

    def __init__(
        self,
        system: System,
        scheme: Tableau | Method,
        step: float,
        every: int,
        steps: int,
        start_time: float,
        q: Array,
        p: Array,
        state: list[Array],
        path: Path | None,
        is_resumed: bool,
    ) -> None:
        self._system, self._scheme, self._step, self._every = system, scheme, step, every
        self._steps, self._start_time, self._path, self._state = steps, start_time, path, state
        self._statistics = Statistics(0, 0.0, 0, 0, 0, 0)
        self._writer: storage.Writer | None = None
        self._before = None if is_resumed or path is None else _file_number(path)
        self._written, self._written_at = 0, -np.inf
        self.done, rows = 0, steps // every + 1
        if path:
            rows = min(rows, max(2, BLOCK_BYTES // q.nbytes))
        self._q, self._p = np.empty((rows, len(q))), np.empty((rows, len(q)))
        self._q[0], self._p[0] = q, p
        if path and is_resumed:
            self._resume(path)
        self._invariants = known_invariants(system) if path else ()

    def __enter__(self) -> Record:
        """Itself."""
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close the file. An interruption tells what is in it."""
        if self._writer is not None:
            self._writer.close()
        if isinstance(error, KeyboardInterrupt) and self._path and _file_number(self._path) != self._before:
            kept = read(self._path, self._system)
            raise KeyboardInterrupt(
                f"{len(kept)} states until t = {kept.t[-1]:.6g} s are in {self._path}; go on by: "
                f"mbvi run --resume {self._path}"
            ) from None

    @property
    def seconds(self) -> float:
        """Wall time in the kernels until now [s]."""
        return self._statistics.seconds

    def room(self) -> tuple[Array, Array]:
        """Where the next coordinates and momenta are put, (rows, n) each, at least one row."""
        count = self._stored - self._written
        rows = min(len(self._q) - count, (self._steps - self.done) // self._every)
        return self._q[count : count + rows], self._p[count : count + rows]

    def add(self, done: int, statistics: Statistics, is_state: bool = True) -> None:
        """Note that the rows until so many steps are filled, and whether the state of the stepper belongs to them.

        Raises
        ------
        ModelError
            If the disk is full; what was written before stays.
        """
        self.done, self._statistics = done, statistics
        is_full = self._stored - self._written == len(self._q)
        is_over = done == self._steps or not is_state
        is_late = time.perf_counter() - self._written_at > BLOCK_SECONDS
        if self._path and (is_full or is_over or is_late):
            self._write(self._path, is_state)

    def trajectory(self) -> Trajectory:
        """All states, in memory or in the file."""
        if self._path:
            return read(self._path, self._system)
        count = self._stored
        return self._trajectory(0, self._q[:count], self._p[:count])

    @property
    def _stored(self) -> int:
        """How many states there are."""
        return self.done // self._every + 1

    def _trajectory(self, first: int, q: Array, p: Array) -> Trajectory:
        return Trajectory(
            system=self._system,
            scheme=self._scheme,
            step=self._step,
            every=self._every,
            t=self._start_time + self._step * self._every * np.arange(first, first + len(q)),
            q=q,
            p=p,
            statistics=self._statistics,
        )

    def _write(self, path: Path, is_state: bool) -> None:
        """Write the states that wait, and the state of the stepper."""
        count = self._stored - self._written
        block = self._trajectory(self._written, self._q[:count], self._p[:count])
        stored = derived(self._system, self._invariants, block.t, block.q, block.p)
        rows = columns(block.t, block.q, block.p, stored)
        state = b"".join(each.tobytes() for each in self._state)
        if self._writer is None:
            storage.make(path, header(block, self._steps, stored), rows, state, self.done)
            self._writer = storage.Writer(path)
        else:
            if count:
                self._writer.append(rows)
            self._writer.keep(asdict(self._statistics), self.done, state if is_state else b"")
        self._written, self._written_at = self._stored, time.perf_counter()

    def _resume(self, path: Path) -> None:
        """Open the file and put the state of the stepper back."""
        self._statistics = read(path, self._system).statistics
        self._writer = storage.Writer(path)
        self.done, state = self._writer.last_state()
        self._written = self._stored
        if len(state) != sum(each.nbytes for each in self._state):
            self._writer.close()
            raise ModelError(f"{path}: expected the state of the same stepper, found one of another size")
        first = 0
        for each in self._state:
            each[...] = np.frombuffer(state, each.dtype, each.size, first).reshape(each.shape)
            first += each.nbytes


def _file_number(path: Path) -> int | None:
    """What tells a file from one that takes its place; none if there is no file."""
    return path.stat().st_ino if path.exists() else None
