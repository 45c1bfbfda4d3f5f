"""What a stepper is asked to do, and the loop over steps that those written in Python share."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mbvi.errors import StepError
from mbvi.schemes.method import Method
from mbvi.schemes.tableau import Tableau
from mbvi.steppers.record import Record
from mbvi.system.system import System
from mbvi.trajectory import Statistics, Trajectory

Array = np.ndarray
PROGRESS_SECONDS = 0.1


@dataclass(frozen=True, eq=False)
class Run:
    """A run, its arguments checked.

    Attributes
    ----------
    system : System
    method : Tableau or Method
    step : float
        Step size h [s].
    steps : int
        Their number, a multiple of `every`.
    every : int
        Every so-manyth state is stored.
    start_time : float
        [s]
    q, v, p : ndarray (n,)
        The state to start from.
    progress : callable or None
        Called as ``progress(steps_done, steps)`` several times per second.
    path : Path or None
        The file that the states go to, instead of memory.
    is_resumed : bool
        Whether the file holds the first part of the run, which goes on from its last state.
    """

    system: System
    method: Tableau | Method
    step: float
    steps: int
    every: int
    start_time: float
    q: Array
    v: Array
    p: Array
    progress: Callable[[int, int], Any] | None = None
    path: Path | None = None
    is_resumed: bool = False

    def record(self, state: list[Array]) -> Record:
        """Where the states go; of a run that is resumed, the state of the stepper is put back into its arrays."""
        return Record(
            system=self.system,
            scheme=self.method,
            step=self.step,
            every=self.every,
            steps=self.steps,
            start_time=self.start_time,
            q=self.q,
            p=self.p,
            state=state,
            path=self.path,
            is_resumed=self.is_resumed,
        )

    def advance(self, one_step: Callable[[Array, Array], tuple[Array, Array]], dtype: type = float) -> Trajectory:
        """Repeat a step (p, q) → (p', q') on arrays (n,) of a floating-point type.

        Raises
        ------
        StepError
            If the state becomes infinite or not a number.
        """
        kept: list[Array] = [self.p.astype(dtype), self.q.astype(dtype)]
        with self.record(kept) as record, np.errstate(over="ignore", invalid="ignore"):
            p, q = kept
            seconds, is_finite = record.seconds, True
            while record.done < self.steps and is_finite:
                out_q, out_p = record.room()
                rows, began = 0, time.perf_counter()
                while rows < len(out_q) and time.perf_counter() - began < PROGRESS_SECONDS:
                    for _ in range(self.every):
                        p, q = one_step(p, q)
                    out_q[rows], out_p[rows] = q, p
                    is_finite = bool(np.isfinite(out_p[rows]).all() and np.isfinite(out_q[rows]).all())
                    if not is_finite:
                        break
                    rows += 1
                seconds += time.perf_counter() - began
                kept[0][:], kept[1][:] = p, q
                done = record.done + rows * self.every
                record.add(done, Statistics(done, seconds, 0, 0, 0, 0), is_finite)
                if self.progress is not None:
                    self.progress(done, self.steps)
            trajectory = record.trajectory()
        if not is_finite:
            raise StepError(self._failure(len(trajectory)), trajectory)
        return trajectory

    def _failure(self, stored: int) -> str:
        step = stored * self.every
        return (
            f"step {step} (t = {self.start_time + step * self.step:g} s): the state became infinite or not a number. The stored "
            f"states before it are in error.trajectory. A smaller step may help: try step={self.step / 2:g}."
        )
