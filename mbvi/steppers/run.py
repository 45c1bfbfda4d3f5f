"""What a stepper is asked to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mbvi.errors import KEPT, ModelError
from mbvi.kernels import layout
from mbvi.schemes.method import Method
from mbvi.schemes.tableau import Tableau
from mbvi.system.chart import Chart
from mbvi.system.controllers import CheckedController
from mbvi.system.events import CheckedEvent
from mbvi.system.initial import Start
from mbvi.system.system import System

Array = np.ndarray


def check_unconstrained(run: Run) -> None:
    """Refuse constraints, those of unit quaternions among them."""
    if run.system.constraint_count:
        kinds = run.system.arrays.constraints[:, layout.CONSTRAINT_KIND]
        remedy = "take midpoint or simpson, which run any system"
        if run.system.model is not None and (kinds == layout.UNIT_QUATERNION).all():
            remedy += ", or write joints in generalized coordinates, as Euler angles instead of quaternions"
        raise ModelError(
            f"{run.system.name}: expected a system without constraints for scheme {run.method.name}, found "
            f"{run.system.constraint_names[0]}; {remedy}"
        )


@dataclass(frozen=True, eq=False)
class Run:
    """A run, its arguments checked.

    Attributes
    ----------
    system : System
    method : Tableau or Method
    step : float
        Step size h [s]; the mean one where `step_sizes` are given.
    step_sizes : ndarray (steps,) or None
        Sizes of all steps, where they change [s].
    steps : int
        Their number, a multiple of `every`.
    every : int
        Number of steps per stored state.
    start_time : float
        [s]
    q, v, p : ndarray (n,)
        The state to start from.
    chart : Chart or None
        Generalized coordinates in which the steps are solved.
    progress : callable or None
        Called as ``progress(steps_done, steps)`` several times per second.
    path : Path or None
        The file that the states go to, instead of memory.
    is_resumed : bool
        Whether the file holds the first part of the run, which goes on from its last state.
    store : tuple of str
        What the file holds besides: poses, multipliers, measurements.
    start : Start or None
        How q, v and p were found.
    events : tuple of CheckedEvent
        What is looked for in all steps.
    controllers : tuple of CheckedController
        What is called between steps; the system is then a `controlled_system`.
    samples : list of ndarray
        The inputs that controllers gave until now, in rows as a file keeps them.
    done : int
        Number of the steps from the start time on after which the run starts.
    is_part : bool
        Whether it is a part of a step of another run: its messages leave it to others to say where that is.
    """

    system: System
    method: Tableau | Method
    step: float
    step_sizes: Array | None
    steps: int
    every: int
    start_time: float
    q: Array
    v: Array
    p: Array
    chart: Chart | None = None
    progress: Callable[[int, int], Any] | None = None
    path: Path | None = None
    is_resumed: bool = False
    store: tuple[str, ...] = ()
    start: Start | None = None
    events: tuple[CheckedEvent, ...] = ()
    controllers: tuple[CheckedController, ...] = ()
    samples: list[Array] = field(default_factory=list)
    done: int = 0
    is_part: bool = False

    def clock(self, first: int, last: int) -> tuple[Array, Array]:
        """Times at which the steps from `first` to before `last` begin, and their sizes."""
        if self.step_sizes is None:
            return self.start_time + self.step * np.arange(first, last), np.full(last - first, self.step)
        return self._times[first:last], self.step_sizes[first:last]

    def stored_times(self, first: int, last: int) -> Array:
        """Times of the stored states from `first` to before `last`."""
        if self.step_sizes is None:
            return self.start_time + self.step * self.every * np.arange(first, last)
        return self._times[:: self.every][first:last]

    @cached_property
    def _times(self) -> Array:
        """Times of all states, where the steps change."""
        assert self.step_sizes is not None
        return self.start_time + np.concatenate([[0.0], np.cumsum(self.step_sizes)])

    def failure(self, step: int, reason: str, remedy: str = "") -> str:
        """What a `StepError` says of a step; by default the remedy is a smaller one."""
        h = float(self.clock(step, step + 1)[1][0])
        return f"{self.head(step)}{reason}. {KEPT} {remedy or smaller_step(h)}"

    def head(self, step: int) -> str:
        """What messages about a step begin with: where it is."""
        return "" if self.is_part else f"step {step} (t = {self.clock(step, step + 1)[0][0]:.6g} s): "


def smaller_step(h: float) -> str:
    """The remedy for a step of length h that failed."""
    return f"A smaller step may help: try step={h / 2:g}."
