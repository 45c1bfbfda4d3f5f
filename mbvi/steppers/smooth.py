"""Steps of a Galerkin scheme from any state on: the smooth parts of a motion with events."""

from __future__ import annotations

import numpy as np

from mbvi.kernels.galerkin import steps as galerkin
from mbvi.kernels.galerkin.workspace import make_space
from mbvi.kernels.mechanics.lagrangian import make_work
from mbvi.schemes.tableau import Tableau
from mbvi.system.scheme import scheme_arrays
from mbvi.system.system import System

Array = np.ndarray


class Smooth:
    """Steps of equal size, as long as nothing happens.

    Parameters
    ----------
    system : System
    method : Tableau

    Attributes
    ----------
    space : Space
        The workspace.
    """

    def __init__(self, system: System, method: Tableau) -> None:
        arrays, scheme = system.arrays, scheme_arrays(method)
        work, space = make_work(arrays), make_space(arrays, scheme)
        self._to_kernel, self.space = (arrays, scheme, work, space), space
        self._renewed = tuple((each.memory, each.memory.copy()) for each in (space, work))
        self._nothing = np.empty((2, 0, system.dimension))

    def begin(self, q: Array, p: Array) -> None:
        """Begin from a state, as if nothing had been done."""
        for own, new in self._renewed:
            own[...] = new
        self.space.q[:], self.space.p[:] = q, p

    def advance(self, t: float, h: float, first: int, last: int) -> tuple[Array, int, int]:
        """Do the steps from `first` to before `last`: states (2, steps, n), a status, and the steps done since the start."""
        states = np.empty((2, last - first, len(self.space.q)))
        status, done = galerkin.run(*self._to_kernel, t, h, first, last, 1, *states, *self._nothing)
        return states[:, : done - first], status, done
