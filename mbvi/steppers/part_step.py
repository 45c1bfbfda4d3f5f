"""Steps of a scheme of any length, from any state: those that end between two others, at a time or on an event."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from mbvi.errors import StepError
from mbvi.kernels import layout
from mbvi.kernels.galerkin import steps as galerkin
from mbvi.kernels.galerkin.workspace import make_space
from mbvi.kernels.mechanics.lagrangian import fill_tree_velocities, fill_velocities, make_work
from mbvi.schemes.method import Method
from mbvi.schemes.tableau import Tableau
from mbvi.steppers import stepper_of
from mbvi.steppers.run import Run
from mbvi.system.copies import as_run
from mbvi.system.scheme import scheme_arrays
from mbvi.system.system import System

Array = np.ndarray


class PartStep:
    """One step from a state, of whatever length; the run that the state is of is not touched.

    The result depends on the state alone, to the last bit.

    Parameters
    ----------
    system : System
    method : Tableau or Method

    Attributes
    ----------
    system : System
        A copy of it.
    """

    def __init__(self, system: System, method: Tableau | Method) -> None:
        self.system, self._method, self._given = as_run(system), method, system
        self._work = make_work(self.system.arrays)
        self._fresh = self._work.memory.copy()

    @cached_property
    def _to_kernel(self) -> tuple[Any, ...]:
        """What the kernels take of a Galerkin scheme, and the memory of the workspaces with what it is when they are new."""
        assert isinstance(self._method, Tableau)
        arrays, scheme = self.system.arrays, scheme_arrays(self._method)
        work, space = make_work(arrays), make_space(arrays, scheme)
        renewed = (space.memory, space.memory.copy()), (work.memory, work.memory.copy())
        return arrays, scheme, work, space, renewed

    def __call__(self, t: float, h: float, q: Array, p: Array) -> tuple[Array, Array]:
        """Coordinates and momenta (n,) after a step of length h from q, p (n,) at time t.

        Raises
        ------
        StepError
            If it does not converge.
        """
        if h == 0.0:
            return q.copy(), p.copy()
        if self.system is not self._given:  # controllers write into the tables of what was given
            self.system.arrays.numbers[:] = self._given.arrays.numbers
        ends = np.empty((2, 1, len(q)))
        if not (isinstance(self._method, Tableau) and self._is_solved(t, h, q, p, ends)):
            run = Run(self.system, self._method, h, None, 1, 1, t, q, self.velocity(t, q, p), p, is_part=True)
            stepper = stepper_of(run, is_smooth=True)
            status, _ = stepper.piece(0, 1, *ends)
            if status != layout.OK:
                raise StepError(stepper.reason(run, 0, status))
        return ends[0, 0], ends[1, 0]

    def velocity(self, t: float, q: Array, p: Array) -> Array:
        """The velocity (n,) of a state, whose last bits do not depend on what was asked before.

        Raises
        ------
        StepError
            If the mass matrix is singular there.
        """
        self._work.memory[:] = self._fresh  # kernels go on from the angles that they know
        v, arrays = np.empty((1, len(q))), self.system.arrays
        if arrays.is_open:
            is_regular = fill_tree_velocities(v, arrays, self._work, q[None], p[None])
        else:
            is_regular = fill_velocities(v, arrays, self._work, np.array([t]), q[None], p[None])
        if not is_regular:
            raise StepError(f"the mass matrix is singular at t = {t:.9g} s")
        return v[0]

    def _is_solved(self, t: float, h: float, q: Array, p: Array, ends: Array) -> bool:
        """Do the step by a Galerkin scheme in workspaces that are as new, into `ends` (2, 1, n)."""
        status, done = np.zeros((2, 1), np.int64)
        nothing = np.empty((2, 0, len(q)))
        *to_kernel, renewed = self._to_kernel
        begin = renewed, q[None], p[None], status, done
        galerkin.advance_runs(*to_kernel, t, h, 0, 1, 1, *ends[:, None], *nothing, *begin)
        return bool(status[0] == layout.OK)
