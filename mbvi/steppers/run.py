"""What a stepper is asked to do, and the loop over steps that those written in Python share."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mbvi.errors import ModelError, StepError
from mbvi.kernels import layout
from mbvi.schemes.method import Method
from mbvi.schemes.tableau import Tableau
from mbvi.system.system import System
from mbvi.trajectory import Statistics, Trajectory

Array = np.ndarray
Piece = Callable[[Array, Array, int, Array, Array], tuple[int, int]]
PROGRESS_SECONDS = 0.1
REASONS = {
    layout.NOT_CONVERGED: "the iteration for the acceleration did not converge",
    layout.SINGULAR: "the mass matrix became singular",
    layout.NOT_FINITE: "the state became infinite or not a number",
}


def check_unconstrained(run: Run) -> None:
    """Refuse constraints, those of unit quaternions among them."""
    if run.system.constraint_count:
        raise ModelError(
            f"{run.system.name}: expected a system without constraints for scheme {run.method.name}, found "
            f"{run.system.constraint_names[0]}; take midpoint or simpson, which run any system, or write joints in "
            "generalized coordinates, as Euler angles instead of quaternions"
        )


@dataclass(frozen=True, eq=False)
class Run:
    """A run, its arguments checked.

    Attributes
    ----------
    system : System
    method : Method or Tableau
    step : float
        Step size h [s]; the mean one where `step_sizes` are given.
    step_sizes : ndarray (steps,) or None
        Sizes of all steps, where they change [s].
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
    step_sizes: Array | None
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
                    raise StepError(self._failure(stored * self.every, str(error)), kept) from None
                if self.progress is not None and time.perf_counter() - told > PROGRESS_SECONDS:
                    told = time.perf_counter()
                    self.progress(stored * self.every, self.steps)
        seconds = time.perf_counter() - began
        if self.progress is not None:
            self.progress(self.steps, self.steps)
        return self._trajectory(out_q, out_p, seconds)

    def advance_pieces(self, piece: Piece, count: Array | None = None) -> Trajectory:
        """Advance by a function of times t and sizes h (m,) of the next m steps, `every` and arrays to store states in.

        Parameters
        ----------
        piece : callable
            ``piece(t, h, every, out_q, out_p)`` writes m/every states (n,) and returns a status and the steps done.
        count : ndarray of int (3,), optional
            Where it counts iterations in all, the most of a step, and factorizations.

        Raises
        ------
        StepError
            If a step fails.
        """
        out_q, out_p = (np.empty((self.steps // self.every + 1, self.system.dimension)) for _ in range(2))
        out_q[0], out_p[0] = self.q, self.p
        piece(np.empty(0), np.empty(0), self.every, out_q[:0], out_p[:0])  # compiles, or loads what was compiled
        done, length, seconds, status = 0, self.every, 0.0, layout.OK
        while done < self.steps and status == layout.OK:
            last, stored = min(self.steps, done + length), done // self.every + 1
            t, h = self._clock(done, last)
            began = time.perf_counter()
            status, advanced = piece(t, h, self.every, out_q[stored:], out_p[stored:])
            spent = time.perf_counter() - began
            done, seconds = done + advanced, seconds + spent
            length = self.every * max(1, round(min(4.0, PROGRESS_SECONDS / max(spent, 1e-6)) * length / self.every))
            if self.progress is not None:
                self.progress(done, self.steps)
        counted = (0, 0, 0) if count is None else tuple(map(int, count[:3]))
        kept = done // self.every + 1
        trajectory = self._trajectory(out_q[:kept], out_p[:kept], seconds, done, counted)
        if status != layout.OK:
            raise StepError(self._failure(done, REASONS[status]), trajectory)
        return trajectory

    def _clock(self, first: int, last: int) -> tuple[Array, Array]:
        """Times at which the steps from `first` to before `last` begin, and their sizes."""
        if self.step_sizes is None:
            return self.start_time + self.step * np.arange(first, last), np.full(last - first, self.step)
        return self._times[first:last], self.step_sizes[first:last]

    @cached_property
    def _times(self) -> Array:
        """Times of all states, where the steps change."""
        assert self.step_sizes is not None
        return self.start_time + np.concatenate([[0.0], np.cumsum(self.step_sizes)])

    def _trajectory(
        self, q: Array, p: Array, seconds: float, steps: int | None = None, count: tuple[int, ...] = (0, 0, 0)
    ) -> Trajectory:
        stride = self.step * self.every
        is_uniform = self.step_sizes is None
        done = (len(q) - 1) * self.every if steps is None else steps
        iterations, most, factorizations = count
        return Trajectory(
            system=self.system,
            scheme=self.method,
            step=self.step,
            every=self.every,
            t=self.start_time + stride * np.arange(len(q)) if is_uniform else self._times[:: self.every][: len(q)],
            q=q,
            p=p,
            statistics=Statistics(done, seconds, iterations, most, 0, factorizations),
            step_sizes=None if self.step_sizes is None else self.step_sizes[:done],
        )

    def _failure(self, step: int, reason: str) -> str:
        t, h = (float(each[0]) for each in self._clock(step, step + 1))
        return (
            f"step {step} (t = {t:g} s): {reason}. The stored states before it are in error.trajectory. A smaller step may help: "
            f"try step={h / 2:g}."
        )
