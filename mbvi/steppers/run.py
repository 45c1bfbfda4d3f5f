"""What a stepper is asked to do, and the loop over steps that those written in Python share."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mbvi.errors import StepError
from mbvi.schemes.method import Method
from mbvi.schemes.tableau import Tableau
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
    method : Method or Tableau
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
    """

    system: System
    method: Method | Tableau
    step: float
    steps: int
    every: int
    start_time: float
    q: Array
    v: Array
    p: Array
    progress: Callable[[int, int], Any] | None

    def advance(self, one_step: Callable[[Array, Array], tuple[Array, Array]], dtype: type = float) -> Trajectory:
        """Repeat a step (p, q) → (p', q') on arrays (n,) of a floating-point type.

        Raises
        ------
        StepError
            If the state becomes infinite or not a number, or the step raises an ArithmeticError that says why it fails.
        """
        p: Array = self.p.astype(dtype)
        q: Array = self.q.astype(dtype)
        out_p, out_q = (np.empty((self.steps // self.every + 1, len(q))) for _ in range(2))
        out_p[0], out_q[0] = p, q
        began = told = time.perf_counter()
        with np.errstate(over="ignore", invalid="ignore"):
            for stored in range(1, len(out_q)):
                try:
                    for _ in range(self.every):
                        p, q = one_step(p, q)
                    out_p[stored], out_q[stored] = p, q
                    if not (np.isfinite(out_p[stored]).all() and np.isfinite(out_q[stored]).all()):
                        raise ArithmeticError("the state became infinite or not a number")
                except ArithmeticError as error:
                    kept = self._trajectory(out_q[:stored], out_p[:stored], time.perf_counter() - began)
                    raise StepError(self._failure(stored, str(error)), kept) from None
                if self.progress is not None and time.perf_counter() - told > PROGRESS_SECONDS:
                    told = time.perf_counter()
                    self.progress(stored * self.every, self.steps)
        seconds = time.perf_counter() - began
        if self.progress is not None:
            self.progress(self.steps, self.steps)
        return self._trajectory(out_q, out_p, seconds)

    def _trajectory(self, q: Array, p: Array, seconds: float) -> Trajectory:
        stride = self.step * self.every
        return Trajectory(
            system=self.system,
            scheme=self.method,
            step=self.step,
            every=self.every,
            t=self.start_time + stride * np.arange(len(q)),
            q=q,
            p=p,
            statistics=Statistics((len(q) - 1) * self.every, seconds, 0, 0, 0, 0),
        )

    def _failure(self, stored: int, reason: str) -> str:
        step = stored * self.every
        return (
            f"step {step} (t = {self.start_time + step * self.step:g} s): {reason}. The stored "
            f"states before it are in error.trajectory. A smaller step may help: try step={self.step / 2:g}."
        )
