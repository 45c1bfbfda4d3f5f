"""Steps that leave the branch of a motion: at a singular configuration of loops several branches meet.

So do those of a parallelogram with all bars in line. The equations of a large step may have solutions on all of them, and its
iteration may find another than the one that goes on smoothly. Then the velocities tell: on a smooth motion their mean over a step
moves the coordinates as the step does,

    d = |v − Δq/h|/(|v| + |Δq/h|) ≪ 1,     v = (v_k + v_{k+1})/2,     |x|² = xᵀ M x.

A step between branches turns the velocity at once: d > 0.2, or d > 0.1 and three times that of the step before, measured on
four-bars that fold flat.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mbvi.errors import ModelError
from mbvi.kernels import layout
from mbvi.steppers.run import Run
from mbvi.system.initial import LARGE, singularity

Array = np.ndarray
Piece = Callable[[int, int, int, Array, Array], tuple[int, int]]
FAR_APART = 0.2  # d of a step between branches
APART, SUDDENLY = 0.1, 3.0  # the same after a step with a smaller one: d, and d relative to that
BEND = 0.2  # |Δq_{k+1} − Δq_k|/(|Δq_{k+1}| + |Δq_k|) from which steps are looked at
NEAR = 0.25  # distance from a singular configuration, relative to the start's, at which branches may meet in a step
CHUNK = 4096  # steps whose states are kept at a time


class BranchWatch:
    """Looks at all steps of a run for one between branches, at which the run ends, if its system has loops."""

    def __init__(self, run: Run) -> None:
        self._found = False
        self._run, self._is_needed = run, self._has_loops(run)
        self._start = singularity(run.system, run.q, run.start_time) if self._is_needed else np.inf
        self._before: tuple[Array, Array] | None = None if run.is_resumed else (run.q, run.p)

    @staticmethod
    def _has_loops(run: Run) -> bool:
        """Whether the system has loops, and not so many that their matrices take too long."""
        system = run.system
        return bool(np.any(system.arrays.reference > 0)) and system.dimension + system.constraint_count <= LARGE

    def advance(self, piece: Piece, first: int, last: int, out_q: Array, out_p: Array) -> tuple[int, int]:
        """Do steps as ``piece(first, last, every, out_q, out_p)`` does, which returns a status and the steps done.

        All states are looked at, and every so-manyth goes into out_q and out_p (rows, n). SINGULAR where a step is between
        branches.
        """
        every, n = self._run.every, self._run.system.dimension
        if first == last or not self._is_needed:
            return piece(first, last, every, out_q, out_p)
        for begin in range(first, last, CHUNK):
            end = min(begin + CHUNK, last)
            q, p = np.empty((2, end - begin, n))
            status, done = piece(begin, end, 1, q, p)
            number = np.arange(begin + 1, done + 1)
            is_stored = number % every == 0
            rows = number[is_stored] // every - first // every - 1
            out_q[rows], out_p[rows] = q[: len(number)][is_stored], p[: len(number)][is_stored]
            jump = self._first_jump(begin, q[: len(number)], p[: len(number)])
            if jump is not None:
                self._found = True
                return layout.SINGULAR, jump
            if status != layout.OK:
                break
        return status, done

    def message(self, step: int) -> str:
        """What a `StepError` says if the run ended at a step between branches, else nothing."""
        if not self._found:
            return ""
        return self._run.failure(step, "at a singular configuration the loops would leave the branch of their motion")

    def _first_jump(self, first: int, q: Array, p: Array) -> int | None:
        """The number of the first step between branches, of states after the steps from `first` on; none if there is none."""
        if self._before is not None:
            q, p, first = np.vstack([self._before[0], q]), np.vstack([self._before[1], p]), first - 1
        if not len(q):
            return None
        self._before = q[-1].copy(), p[-1].copy()
        moves = np.diff(q, axis=0)
        lengths = np.linalg.norm(moves, axis=1)
        bends = np.linalg.norm(np.diff(moves, axis=0), axis=1) > BEND * (lengths[1:] + lengths[:-1])
        looked_at = np.zeros(len(moves), bool)
        looked_at[:1] = looked_at[-1:] = True
        looked_at[:-1] |= bends
        looked_at[1:] |= bends
        for k in np.flatnonzero(looked_at):
            t = self._run.start_time + self._run.step * (first + k + np.arange(3))
            part = slice(k, k + 2)
            if not self._is_near_singular(t[1], q[part]):
                continue
            apart = self._apart(t[1:], q[part], p[part])
            before = self._apart(t[:2], q[k - 1 : k + 1], p[k - 1 : k + 1]) if k else 0.0
            if apart > min(FAR_APART, max(APART, SUDDENLY * before)):
                return int(first + 1 + k)
        return None

    def _apart(self, t: Array, q: Array, p: Array) -> float:
        """d of a step, of its states (2, n); 0 where velocities cannot be computed."""
        system = self._run.system
        try:
            v = system.velocities(t, q, p).mean(axis=0)
        except ModelError:
            return 0.0
        middle, move = q.mean(axis=0), (q[1] - q[0]) / self._run.step

        def size(x: Array) -> float:
            return float(np.sqrt(max(x @ system.momentum(middle, x, t[0]), 0.0)))

        return size(v - move) / max(size(v) + size(move), np.finfo(float).tiny)

    def _is_near_singular(self, t: float, q: Array) -> bool:
        return min(singularity(self._run.system, each, t) for each in q) < NEAR * self._start
