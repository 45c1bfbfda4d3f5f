"""Steps of loops that pass a singular configuration: one that falls on it is done in two parts.

In a singular configuration constraints depend on each other that elsewhere do not. A step passes it, unless one of its nodes or
control points lies so near that rounding decides which do: then its equations have no solution to rounding. Such a step is
divided at the golden section, so that the nodes and control points of its parts lie elsewhere. Each part is a step of the scheme
of another size: momenta and constraints are conserved as by any step, and the energy changes by what a step errs, once.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from mbvi.errors import ModelError, SingularityWarning, stack_level
from mbvi.kernels import layout
from mbvi.kernels.galerkin import steps as galerkin
from mbvi.kernels.galerkin.workspace import Space
from mbvi.kernels.layout import Scheme
from mbvi.kernels.mechanics.lagrangian import Work
from mbvi.steppers.loop import AHEAD
from mbvi.steppers.run import Run
from mbvi.system.redundancy import is_nearly_singular
from mbvi.system.system import System

Array = np.ndarray
GOLDEN = (math.sqrt(5) - 1) / 2
UNKNOWN = (-1, -1, 0, 0)  # a history of steps from which none is extrapolated


class Steps:
    """The steps of a run by a Galerkin scheme, those that fall on a singular configuration in two parts.

    Parameters
    ----------
    run : Run
    scheme, work, space
        What the kernels take.
    """

    def __init__(self, run: Run, scheme: Scheme, work: Work, space: Space) -> None:
        self._run, self._space = run, space
        self._to_kernel = run.system.arrays, scheme, work, space
        self._memory = space.memory, work.memory
        self._is_divisible = len(scheme.fractions) == 1
        self._ends = np.zeros((2, 1), np.int64)
        nothing = np.empty((2, 0, run.system.dimension))
        self._one_run = galerkin.NOTHING, *nothing, *self._ends
        self._before_number = *self._to_kernel, run.start_time, run.step
        self._one_step = *nothing, *self._one_run

    def advance(self, first: int, last: int, every: int, *out: Array) -> tuple[int, int]:
        """Do steps as `galerkin.run` does, into its out_q, out_p, all_q and all_p; a status and the steps done."""
        begin, rest = first, out
        while True:
            status, done = self._done(begin, last, every, *rest)
            if status in (layout.OK, layout.NOT_FINITE):
                return status, done
            passed = self._pass(done)
            if passed is None:
                return status, done
            if len(out[0]):  # else the step is only looked at, and taken back
                self._warn(done)
            begin = done + 1
            if begin % every == 0:
                row = done // every - first // every
                out[0][row], out[1][row] = passed[0]
            if len(out[2]):
                out[2][done - first], out[3][done - first] = passed[1]
            rows, states = begin // every - first // every, begin - first
            rest = *(each[rows:] for each in out[:2]), *(each[states:] for each in out[2:])

    def _done(self, first: int, last: int, every: int, q: Array, p: Array, *others: Array) -> tuple[int, int]:
        """What `galerkin.run` does, with all that it needs at hand: a call of it costs as much as a short step."""
        clock = self._run.start_time, self._run.step, first, last, every
        galerkin.advance_runs(*self._to_kernel, *clock, q[None], p[None], *others, *self._one_run)
        return self._ends.item(0), self._ends.item(1)

    def one(self, number: int, out_q: Array, out_p: Array) -> int:
        """Do a step of a system without loops into out_q and out_p (1, 1, n); its status."""
        galerkin.advance_runs(*self._before_number, number, number + 1, 1, out_q, out_p, *self._one_step)
        return self._ends.item(0)

    def _pass(self, step: int) -> Array | None:
        """Do a step from where the workspace is in two parts, if it comes near a singular configuration.

        Its end (2, 2, n), as it is stored and as the steps leave it, q and p of each; none where it does not come near, or the
        parts fail too.
        """
        t, h, system = self._run.start_time + self._run.step * step, self._run.step, self._run.system
        if not self._is_divisible or not comes_near_singular(system, self._space, t, h):
            return None
        kept = [each.copy() for each in self._memory]
        ends = np.empty((4, 1, system.dimension))
        for begin, end in ((0.0, GOLDEN), (GOLDEN, 1.0)):
            self._space.history[:] = UNKNOWN
            status, _ = galerkin.run(*self._to_kernel, t + begin * h, (end - begin) * h, 0, 1, 1, *ends)
            if status != layout.OK:
                for each, old in zip(self._memory, kept, strict=True):
                    each[...] = old
                return None
        self._space.history[:] = UNKNOWN
        return ends.reshape(2, 2, -1)

    def _warn(self, step: int) -> None:
        """Say that a step was done in two parts."""
        t = self._run.start_time + self._run.step * step
        warnings.warn(
            f"step {step} (t = {t:.6g} s): falls on a singular configuration of the loops, and was done in two parts; the energy "
            "may change there by the error of one step",
            SingularityWarning,
            stacklevel=stack_level(),
        )


def comes_near_singular(system: System, space: Space, t: float, h: float) -> bool:
    """Whether loops come near a singular configuration within a step from where the workspace is, if they flew on."""
    moves = np.outer(AHEAD, h * start_velocity(system, space, t))
    return any(is_nearly_singular(system, q, t) for q in space.q + moves)


def start_velocity(system: System, space: Space, t: float) -> Array:
    """The velocity at the start of a step, zero where the mass matrix is singular."""
    try:
        return system.velocities(np.array([t]), space.q[None], space.p[None])[0]
    except ModelError:
        return np.zeros(system.dimension)
