"""Steps that leave the branch of a motion: at a singular configuration of loops several branches meet.

So do those of a parallelogram with all bars in line. The equations of a large step may have solutions on all of them, and its
iteration may find another than the one that goes on smoothly. The velocities show it: on a smooth motion their mean over a step
moves the coordinates as the step does,

    d = |v − Δq/h|/(|v| + |Δq/h|) ≪ 1,     v = (v_k + v_{k+1})/2,     |x|² = xᵀ M x.

A step between branches, near a singular configuration or over it, turns the velocity at once: d > 0.2, or d > 0.1 and three times
that of the step before, measured on four-bars that fold flat. Where what turns is light, the energy does, if nothing does work:
it jumps by 4 to 80 % of the kinetic energy, where steps of the same length along a branch change it by 1.5 % at most. A step of
more than about 1 rad may leave the branch elsewhere. Where d > 0.15, and not because the motion turns back, two half steps are
taken from the same state: if they end elsewhere, by more than 0.3 of the step's length, or do not converge, the step is no
approximation of a motion. A system at rest moves by rounding alone, and is not looked at.

Whether the motion bends at the end of a step, the next one shows, and at the start of the first the initial velocity, as if
the step before it had been 2 h v − Δq; after the last step of a piece the next one is made and taken back. Large
systems, whose steps take long, are spared that: the last step of a piece is always looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mbvi.errors import ModelError
from mbvi.kernels import layout
from mbvi.kernels.algebra.bends import next_bend
from mbvi.kernels.galerkin import steps as galerkin
from mbvi.kernels.galerkin.workspace import make_space
from mbvi.kernels.mechanics.lagrangian import make_work
from mbvi.schemes.tableau import Tableau
from mbvi.steppers.run import Run
from mbvi.system.projection import LARGE
from mbvi.system.redundancy import singularity
from mbvi.system.scheme import scheme_arrays

Array = np.ndarray
Piece = Callable[[int, int, int, Array, Array, Array, Array], tuple[int, int]]
FAR_APART = 0.2  # d of a step between branches
APART, SUDDENLY = 0.1, 3.0  # d of a step between branches whose d is also SUDDENLY times that of the step before
GAIN = 0.03  # change of energy in a step between branches, relative to the kinetic energy, if it is SUDDENLY times that before
SLOW = 0.3  # length of a step, relative to the longest before, below which the motion may turn back
ROUGH = 0.15  # d from which half steps are taken
ELSEWHERE = 0.3  # how far off they may end, relative to the step's length
AT_REST = 1e-12  # length of a step, relative to the coordinates, below which it may be rounding, which points anywhere
BEND = 0.2  # |Δq_{k+1} − Δq_k|/(|Δq_{k+1}| + |Δq_k|) from which steps are looked at
INSIDE = np.linspace(0, 1, 5)  # places on a step where a singular configuration is looked for
NEAR, NOT_FAR = 0.25, 0.5  # distances from a singular configuration, relative to the start's, where branches may meet
CHUNK = 4096  # steps whose states are kept at a time


def has_loops(run: Run) -> bool:
    """Whether loops may leave the branch of their motion, so that the run is watched."""
    return bool(run.system.arrays.is_geometric and (run.system.arrays.reference > 0).any())


class BranchWatch:
    """Looks at all steps of a run for one between branches, at which the run ends, if its system has loops.

    Parameters
    ----------
    run : Run
    tableau : Tableau
    carried : sequence of ndarray
        All that the stepper carries from one step to the next.
    look : callable
        ``look(first, q)`` is shown the coordinates (steps, n) after all steps from number first on, where not all are stored.

    Attributes
    ----------
    state : tuple of ndarray
        What is carried from one call of `advance` to the next besides.
    is_needed : bool
        Whether the system has loops.
    """

    def __init__(
        self, run: Run, tableau: Tableau, carried: Sequence[Array], look: Callable[[int, Array], None]
    ) -> None:
        self._reason, self._look = "", look
        self._run, self._tableau, self.is_needed = run, tableau, has_loops(run)
        self._carried = [run.system.arrays.redundant, run.system.arrays.reference, *carried]
        self._is_small = run.system.dimension + run.system.constraint_count <= LARGE  # else its matrices take too long
        self._start = singularity(run.system, run.q, run.start_time) if self.is_needed and self._is_small else 0.0
        self._nothing = np.empty((2, 0, run.system.dimension))
        self._longest = np.zeros(1)
        self._last = np.array([[run.q, run.q], [run.p, run.p]])  # q and p of the last two states
        self.state = (self._longest, self._last)

    def advance(self, piece: Piece, first: int, last: int, out_q: Array, out_p: Array) -> tuple[int, int]:
        """Do steps as ``piece(first, last, every, out_q, out_p, all_q, all_p)`` does, which returns a status and the steps done.

        All states are checked, and one of `every` steps goes into out_q and out_p (rows, n). SINGULAR where a step is between
        branches.
        """
        every, n = self._run.every, self._run.system.dimension
        if first == last or (every == 1 and not self.is_needed):
            return piece(first, last, every, out_q, out_p, *self._nothing)
        for begin in range(first, last, CHUNK):
            end, row = min(begin + CHUNK, last), begin // every - first // every
            states = np.empty((2, end - begin + 3, n))  # the last two, all after these steps, and after the next
            states[:, :2] = self._last
            status, done = piece(begin, end, every, out_q[row:], out_p[row:], *states[:, 2:-1])
            count = done - begin + 2
            if every > 1:
                self._look(begin, states[0, 2:count])
            if self.is_needed:
                is_looked_ahead = status == layout.OK and self._is_small
                after = int(is_looked_ahead and self._fill_next(piece, done, states[:, count : count + 1]))
                jump = self._first_jump(begin, states[:, int(begin == 0) : count + after], after)
                if jump is not None:
                    return layout.SINGULAR, jump
            if status != layout.OK:
                break
        return status, done

    def message(self, step: int) -> str:
        """What a `StepError` says if the run ended at a step between branches, else nothing."""
        return self._run.failure(step, self._reason) if self._reason else ""

    def _fill_next(self, piece: Piece, number: int, states: Array) -> bool:
        """The state (2, 1, n) after the next step, which is made and taken back; whether that goes."""
        kept = [each.copy() for each in self._carried]
        status, _ = piece(number, number + 1, number + 2, *self._nothing, *states)
        for each, old in zip(self._carried, kept, strict=True):
            each[...] = old
        return status == layout.OK

    def _first_jump(self, first: int, states: Array, after: int) -> int | None:
        """The number of the first step between branches; none if there is none.

        states   (2, ., n)   q and p: the last two before step `first`, or the run's first, those after all steps, and the next
        after    int         how many of the next there are
        """
        q, p = states
        known = min(first, 1)  # how many steps of q were looked at before
        k, steps = known - 1, len(q) - 1 - after
        if steps == known:
            return None
        self._last[...] = states[:, steps - 1 : steps + 1]
        before = np.full(q.shape[1], np.nan) if first else 2 * self._run.step * self._run.v - (q[1] - q[0])
        while True:
            k, length, self._longest[0] = next_bend(q, before, k + 1, steps, self._longest[0], BEND, AT_REST)
            if k == steps:
                return None
            part = slice(max(k - 1, 0), k + 2)
            self._reason = self.reason_of(first - known + k, q[part], p[part], length < SLOW * self._longest[0])
            if self._reason:
                return first - known + k

    def reason_of(self, step: int, q: Array, p: Array, is_slow: bool) -> str:
        """Why a step may be between branches, of its states and the one before it, if there is one; nothing if it is not."""
        system = self._run.system
        t = self._run.start_time + self._run.step * (step + np.arange(2 - len(q), 2))
        try:
            v = system.velocities(t, q, p)
        except ModelError:
            return ""
        *before, apart = self._apart(t, q, v)
        is_turned = apart > min(FAR_APART, max(APART, SUDDENLY * sum(before)))
        near = NOT_FAR if self._gains(t, q, v) else NEAR if is_turned else 0.0
        if near and self._singularity(t[-2], q[-2:]) < near * self._start:
            return "at a singular configuration the loops would leave the branch of their motion"
        if apart > ROUGH and not is_slow and self._end_elsewhere(t[-2], q[-2:], p[-2]):
            return "the loops may leave the branch of their motion, since two half steps end elsewhere"
        return ""

    def _apart(self, t: Array, q: Array, v: Array) -> list[float]:
        """d of steps, of the states (states, n) before and after them."""
        mean, move = (v[:-1] + v[1:]) / 2, np.diff(q, axis=0) / self._run.step
        sizes = self._sizes(t[:-1], (q[:-1] + q[1:]) / 2, np.array([mean - move, mean, move]))
        d: list[float] = (sizes[0] / np.maximum(sizes[1] + sizes[2], np.finfo(float).tiny)).tolist()
        return d

    def _gains(self, t: Array, q: Array, v: Array) -> bool:
        """Whether the last step changes the energy, and the one before it did not; of a system on which nothing does work."""
        system = self._run.system
        if not system.is_conservative or system.is_driven:
            return False
        kinetic, potential = system.energies(t, q, v)
        *before, gain = np.abs(np.diff(kinetic + potential)) / max(kinetic.max(), np.finfo(float).tiny)
        return bool(gain > max(GAIN, SUDDENLY * sum(before)))

    def _sizes(self, t: Array, q: Array, x: Array) -> Array:
        """|x| (vectors, states) in the metric of M(t, q), of vectors (vectors, states, n) at states (states, n)."""
        kinetic, _ = self._run.system.energies(np.tile(t, len(x)), np.tile(q, (len(x), 1)), x.reshape(-1, q.shape[1]))
        found: Array = np.sqrt(np.maximum(2 * kinetic, 0.0)).reshape(len(x), -1)
        return found

    def _singularity(self, t: float, q: Array) -> float:
        """How near to a singular configuration a step comes, of states q (2, n)."""
        if self._start == 0.0:
            return np.inf
        return min(singularity(self._run.system, each, t) for each in q[0] + np.outer(INSIDE, q[1] - q[0]))

    def _end_elsewhere(self, t: float, q: Array, p: Array) -> bool:
        """Whether two half steps from a state end far from where the step does, of its states q (2, n), or do not converge."""
        system, scheme = self._run.system, scheme_arrays(self._tableau)
        space, work = make_space(system.arrays, scheme), make_work(system.arrays)
        space.q[:], space.p[:] = q[0], p
        ends = np.empty((2, 1, system.dimension))
        to_kernel = system.arrays, scheme, work, space, t, self._run.step / 2
        status, _ = galerkin.run(*to_kernel, 0, 2, 2, *ends, *self._nothing)
        middle = q.mean(axis=0)
        off, length = self._sizes(np.array([t]), middle[None], np.array([[ends[0, 0] - q[1]], [q[1] - q[0]]]))
        return status != layout.OK or off > ELSEWHERE * length
