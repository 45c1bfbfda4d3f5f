"""Steps that leave the branch of a motion: at a singular configuration of loops several branches meet.

So do those of a parallelogram with all bars in line. The equations of a large step may have solutions on all of them, and its
iteration may find another than the one that goes on smoothly. Then the velocities tell: on a smooth motion their mean over a step
moves the coordinates as the step does,

    d = |v − Δq/h|/(|v| + |Δq/h|) ≪ 1,     v = (v_k + v_{k+1})/2,     |x|² = xᵀ M x.

A step between branches turns the velocity at once: near a singular configuration d > 0.2, or d > 0.1 and three times that of the
step before, measured on four-bars that fold flat. A step of more than about 1 rad may have the singular configuration inside,
and both ends far from it. Where d > 0.15, two half steps are taken from the same state: if they end elsewhere, by more than
0.15 of the step's length, or do not converge, the step is no approximation of a motion.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mbvi.errors import ModelError
from mbvi.kernels import galerkin, layout
from mbvi.kernels.lagrangian import make_work
from mbvi.schemes.tableau import Tableau
from mbvi.steppers.run import Run
from mbvi.system.initial import LARGE, singularity
from mbvi.system.scheme import scheme_arrays

Array = np.ndarray
Piece = Callable[[int, int, int, Array, Array], tuple[int, int]]
FAR_APART = 0.2  # d of a step between branches
APART, SUDDENLY = 0.1, 3.0  # the same after a step with a smaller one: d, and d relative to that
ELSEWHERE = 0.15  # d from which half steps are taken, and how far from the step they may end, relative to its length
BEND = 0.2  # |Δq_{k+1} − Δq_k|/(|Δq_{k+1}| + |Δq_k|) from which steps are looked at
NEAR = 0.25  # distance from a singular configuration, relative to the start's, at which branches may meet in a step
CHUNK = 4096  # steps whose states are kept at a time


class BranchWatch:
    """Looks at all steps of a run for one between branches, at which the run ends, if its system has loops."""

    def __init__(self, run: Run, tableau: Tableau) -> None:
        self._reason = ""
        self._run, self._tableau, self._is_needed = run, tableau, self._has_loops(run)
        is_small = run.system.dimension + run.system.constraint_count <= LARGE  # else its matrices take too long
        self._start = singularity(run.system, run.q, run.start_time) if self._is_needed and is_small else 0.0
        self._before: tuple[Array, Array] | None = None if run.is_resumed else (run.q, run.p)

    @staticmethod
    def _has_loops(run: Run) -> bool:
        return bool(np.any(run.system.arrays.reference > 0))

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
                return layout.SINGULAR, jump
            if status != layout.OK:
                break
        return status, done

    def message(self, step: int) -> str:
        """What a `StepError` says if the run ended at a step between branches, else nothing."""
        return self._run.failure(step, self._reason) if self._reason else ""

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
            self._reason = self._reason_of(int(first + 1 + k), q[max(k - 1, 0) : k + 2], p[max(k - 1, 0) : k + 2])
            if self._reason:
                return int(first + 1 + k)
        return None

    def _reason_of(self, step: int, q: Array, p: Array) -> str:
        """Why a step may be between branches, of its states and the one before it, if there is one; nothing if it is not."""
        t = self._run.start_time + self._run.step * (step + np.arange(2 - len(q), 2))
        apart = self._apart(t[-2:], q[-2:], p[-2:])
        if apart < APART:
            return ""
        before = self._apart(t[:2], q[:2], p[:2]) if len(q) > 2 else 0.0
        if apart > min(FAR_APART, max(APART, SUDDENLY * before)) and self._is_near_singular(t[-2], q[-2:]):
            return "at a singular configuration the loops would leave the branch of their motion"
        if apart > ELSEWHERE and self._end_elsewhere(t[-2], q[-2:], p[-2]):
            return "the loops may leave the branch of their motion, since two half steps end elsewhere"
        return ""

    def _apart(self, t: Array, q: Array, p: Array) -> float:
        """d of a step, of its states (2, n); 0 where velocities cannot be computed."""
        system = self._run.system
        try:
            v = system.velocities(t, q, p).mean(axis=0)
        except ModelError:
            return 0.0
        move = (q[1] - q[0]) / self._run.step
        apart, v, u = (self._size(q.mean(axis=0), x, t[0]) for x in (v - move, v, move))
        return apart / max(v + u, np.finfo(float).tiny)

    def _size(self, q: Array, x: Array, t: float) -> float:
        """|x| in the metric of M(q)."""
        return float(np.sqrt(max(x @ self._run.system.momentum(q, x, t), 0.0)))

    def _is_near_singular(self, t: float, q: Array) -> bool:
        return self._start > 0 and min(singularity(self._run.system, each, t) for each in q) < NEAR * self._start

    def _end_elsewhere(self, t: float, q: Array, p: Array) -> bool:
        """Whether two half steps from a state end far from where the step does, of its states q (2, n), or do not converge."""
        system, scheme = self._run.system, scheme_arrays(self._tableau)
        space, work = galerkin.make_space(system.arrays, scheme), make_work(system.arrays)
        space.q[:], space.p[:] = q[0], p
        ends = np.empty((2, 1, system.dimension))
        status, _ = galerkin.run(system.arrays, scheme, work, space, t, self._run.step / 2, 0, 2, 2, *ends)
        middle = q.mean(axis=0)
        off, length = (self._size(middle, x, t) for x in (ends[0, 0] - q[1], q[1] - q[0]))
        return status != layout.OK or off > ELSEWHERE * length
