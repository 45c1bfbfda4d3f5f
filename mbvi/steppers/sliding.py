"""Steps while stops slide with friction: what `Smooth` and `PartStep` are in other modes."""

from __future__ import annotations

import numpy as np

from mbvi.errors import KEPT, StepError
from mbvi.kernels import layout
from mbvi.kernels.mechanics.lagrangian import make_work
from mbvi.schemes.tableau import Tableau
from mbvi.steppers.contact_laws import paradox
from mbvi.steppers.loop import REASONS
from mbvi.steppers.part_step import PartStep
from mbvi.steppers.run import smaller_step
from mbvi.system.contacts import ModeSystem
from mbvi.system.scheme import scheme_arrays

Array = np.ndarray
NEAR_PARADOX = 0.1  # regularity of what slides, below which a step that fails comes near Painlevé's case


class SlidingSteps:
    """Steps of equal size in a mode in which stops slide, as long as nothing happens.

    Parameters
    ----------
    mode : ModeSystem
    method : Tableau
    """

    def __init__(self, mode: ModeSystem, method: Tableau) -> None:
        arrays, scheme = mode.system.arrays, scheme_arrays(method)
        work, self.space = make_work(arrays), mode.sliding(arrays, method.stages)
        self._to_kernel = arrays, scheme, work, self.space
        self._renewed = tuple((each.memory, each.memory.copy()) for each in (self.space, work))

    def begin(self, q: Array, p: Array) -> None:
        """Begin from a state, as if nothing had been done."""
        for own, new in self._renewed:
            own[...] = new
        self.space.q[:], self.space.p[:] = q, p

    def advance(self, t: float, h: float, first: int, last: int) -> tuple[Array, int, int]:
        """Do the steps from `first` to before `last`: states (2, steps, n), a status, and the steps done since the start."""
        from mbvi.kernels.methods.sliding import run  # of few runs

        states = np.empty((2, last - first, len(self.space.q)))
        status, done = run(*self._to_kernel, t, h, first, last, *states)
        return states[:, : done - first], status, done


class SlidingPart:
    """One step from a state in a mode in which stops slide, of whatever length.

    Parameters
    ----------
    mode : ModeSystem
    method : Tableau
    free : PartStep
        The step of the system without contacts.

    Attributes
    ----------
    system : System
        The system of the mode.
    """

    def __init__(self, mode: ModeSystem, method: Tableau, free: PartStep) -> None:
        self._mode, self._steps = mode, SlidingSteps(mode, method)
        self.system, self.velocity = mode.system, free.velocity

    def __call__(self, t: float, h: float, q: Array, p: Array) -> tuple[Array, Array]:
        """Coordinates and momenta (n,) after a step of length h from q, p (n,) at time t.

        Raises
        ------
        StepError
            If it does not converge.
        """
        if h == 0.0:
            return q.copy(), p.copy()
        self._steps.begin(q, p)
        states, status, _ = self._steps.advance(t, h, 0, 1)
        if status != layout.OK:
            raise StepError(paradox_near(self._mode, t, q) or f"{REASONS[status]}. {KEPT} {smaller_step(h)}")
        return states[0, 0], states[1, 0]


def paradox_near(mode: ModeSystem, t: float, q: Array) -> str:
    """What is said of Painlevé's case if a step from coordinates q (n,) that failed comes near it; nothing if it does not."""
    is_near = float(mode.regularity(np.array([t]), q[None])[0]) < NEAR_PARADOX
    return paradox(mode.contacts.rubbing_names(mode.slides), t) if is_near else ""


def part_of(system: ModeSystem, method: Tableau, free: PartStep) -> PartStep | SlidingPart:
    """Steps of a mode of any length; `free` does those of the system without contacts."""
    return SlidingPart(system, method, free) if system.slides else PartStep(system.system, method)
