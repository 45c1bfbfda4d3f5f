"""Events of a run: every step is looked at, and solved again with the length that ends on what happens within it.

Where a step passes an event ψ = 0, the step's equations and this one determine the step's unknowns and its length τh together.
The outer iteration is for τ, by Brent's method, and every ψ(τ) is that after a whole step of length τh. So events have the order
of the scheme, and are solved to round-off; the velocity is that of the momentum at the end. The run goes on from its own
states, as if nothing had been looked for.

A cubic through the ends of a step shows where ψ may pass zero and come back, or how often: ψ is taken at five places of it, and
the polynomial of degree 4 through them has extrema. At these ψ is determined by steps that end there, and where it nearly
reaches zero, the extremum is too.

Source of the iteration: Brent, Algorithms for Minimization without Derivatives (1973).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from mbvi.errors import KEPT, ModelError, StepError
from mbvi.kernels import layout
from mbvi.schemes.tableau import Tableau
from mbvi.steppers import stepper_of
from mbvi.steppers.arcs import Arc, Arcs
from mbvi.steppers.audit import Audit
from mbvi.steppers.carried import Carried
from mbvi.steppers.control import ControlWatch
from mbvi.steppers.happened import Happened, Happenings
from mbvi.steppers.loop import ENDED, Stepper
from mbvi.steppers.part_step import PartStep
from mbvi.steppers.run import Run
from mbvi.steppers.zeros import find_least, find_zero
from mbvi.system.events import CheckedEvent

Array = np.ndarray
CHUNK = 1024  # steps that are looked at together
PLACES = 0.5 - 0.5 * np.cos(np.pi * np.arange(5) / 4)  # of Chebyshev's points, the ends among them
POLYNOMIAL = np.linalg.inv(np.vander(PLACES, increasing=True))
NEAR = (
    0.5  # least |ψ| at these places, relative to how far it goes in the step, from which ψ reaches zero nowhere in it
)
CLOSE, DOUBT = (
    0.01,
    10.0,
)  # |ψ| at an extremum, relative to the same, and to the polynomial's error, that is looked at closely
AT_START = 1e-12  # |ψ| at the start of a run, relative to the same in the first step, that is zero
REAL, DIGITS = 1e-6, 6  # of the polynomial's extrema, where they need not be known better


def stepper_with_events(run: Run) -> Stepper:
    """What does the steps of a run, and looks for its events."""
    single = replace(run, every=1)
    stepper, audit = ControlWatch(single, stepper_of).stepper if run.controllers else stepper_of(single), Audit(run)
    watch = EventWatch(run, stepper, audit.look)
    audit.join(stepper.audit)
    state = [*stepper.state, *map(Carried, watch.state)]
    return replace(stepper, piece=watch.advance, state=state, audit=audit, happenings=watch.happenings)


class EventWatch:
    """Looks for the events of a run in all its steps.

    Parameters
    ----------
    run : Run
    stepper : Stepper
        What does the steps, of which it gives every state.
    look : callable
        ``look(first, q)`` is shown the coordinates (steps, n) after all steps from number first on, where not all are stored.

    Attributes
    ----------
    happenings : Happenings
    state : tuple of ndarray
        What is carried from one call of `advance` to the next besides.
    """

    def __init__(self, run: Run, stepper: Stepper, look: Callable[[int, Array], None]) -> None:
        self._run, self._all, self._piece, self._look = run, replace(run, every=1), stepper.piece, look
        self._events, self.happenings = run.events, Happenings(run.events)
        self._part, self._contacts = PartStep(run.system, run.method), stepper.contacts
        if self._contacts is not None:
            assert isinstance(run.method, Tableau)
            self._arcs = Arcs(run.system, run.method, run.q, run.start_time)
        self._last = np.stack([run.q, run.p])
        self._signs = np.zeros(len(run.events))  # of ψ, when it last was not zero
        self.state = (self._last, self._signs)

    def advance(self, first: int, last: int, out_q: Array, out_p: Array) -> tuple[int, int]:
        """Do steps, one state of `every` into out_q and out_p (rows, n); a status, ENDED at an event, and the steps done."""
        if first == last:
            return self._piece(first, last, out_q[:0], out_p[:0])
        every, row = self._run.every, 0
        for begin in range(first, last, CHUNK):
            end = min(begin + CHUNK, last)
            states = np.empty((2, end - begin + 1, self._last.shape[1]))
            states[:, 0] = self._last
            status, done = self._piece(begin, end, *states[:, 1:])
            taken = self._taken(begin, states[:, : done - begin + 1])
            if taken < done - begin or self.happenings.failure:
                status, done, end_of_run = ENDED, begin + taken, self.happenings.end
                if self._contacts is not None:
                    self._contacts.cut(done, -np.inf if end_of_run is None else end_of_run.t)
            stored = range(begin + every - begin % every, done + 1, every)
            numbers = np.array(stored, int) - begin
            out_q[row : row + len(stored)], out_p[row : row + len(stored)] = states[:, numbers]
            row += len(stored)
            self._last[...] = states[:, done - begin]
            if every > 1:
                self._look(begin, states[0, 1 : done - begin + 1])
            if status != layout.OK:
                break
        return status, done

    # -------------------------------------------------------------------------------------------- all steps

    def _taken(self, begin: int, states: Array) -> int:
        """Find the events in all steps of states (2, steps + 1, n) from number `begin` on; how many steps are before the end."""
        q, p = states
        steps = len(q) - 1
        if not steps:
            return 0
        t = self._all.stored_times(begin, begin + steps + 1)
        try:
            v = self._run.system.velocities(t, q, p)
        except ModelError as error:
            self.happenings.failure = f"{self._head(begin, t[0])}: events cannot be looked for: {error}. {KEPT}"
            return 0
        values = np.array([self._values(each, t, q, v) for each in self._events])
        is_known = np.isfinite(values).all(axis=(0, 2))
        steps = steps if is_known.all() else int(np.argmin(is_known))
        if begin == 0 and steps:
            far = AT_START * np.ptp(values[:, 0], axis=1)
            self._signs[:] = np.where(np.abs(values[:, 0, 0]) > far, np.sign(values[:, 0, 0]), 0.0)
        may_pass = _may_pass(values[:, :steps]).any(axis=0)
        if self._contacts is not None:
            self._arcs.contacts.take_inputs()
            broken = self._contacts.rows()[:, 0]
            broken = broken[np.searchsorted(broken, begin) : np.searchsorted(broken, begin + steps)]
            may_pass |= np.isin(np.arange(begin, begin + steps), broken)
        for k in np.flatnonzero(may_pass).tolist():
            try:
                found = self._found(begin + k, t[k], t[k + 1] - t[k], states[:, k : k + 2], values[:, k])
            except StepError as error:
                self.happenings.failure = (
                    f"{self._head(begin + k, t[k])}: an event within it cannot be located: {error}"
                )
                return k
            for each in found:
                self.happenings.found.append(each)
                if self._events[each.event].terminal:
                    self.happenings.end = each
                    return k
        if steps < len(q) - 1:
            event = self._events[int(np.argmin(np.isfinite(values[:, steps]).all(axis=1)))]
            head = self._head(begin + steps, t[steps])
            self.happenings.failure = f"{head}: the function of the event {event.name} is not a number there. {KEPT}"
        return steps

    @staticmethod
    def _head(step: int, t: float) -> str:
        return f"step {step} (t = {t:.6g} s)"

    def _values(self, event: CheckedEvent, t: Array, q: Array, v: Array) -> Array:
        """ψ at the places of every step, (steps, places), of states at times t (steps + 1,)."""
        values = np.empty((len(t), len(PLACES)))
        sizes = np.append(np.diff(t), 1.0)
        ahead = [np.concatenate([each, each[-1:]]) for each in (q, v)]
        event.fill(values, PLACES, t, sizes, *ahead)
        values[:-1, -1] = values[1:, 0]  # at the same time, to the last bit
        return values[:-1]

    # --------------------------------------------------------------------------------------------- one step

    def _found(self, step: int, t: float, h: float, states: Array, values: Array) -> list[Happened]:
        """The events, in their order, within a step of size h from time t, of states (2, 2, n); ψ (events, places) on a cubic."""
        found = []
        for arc, ends, along_arc in self._arcs_of(step, t, h, states, values):
            for number, event in enumerate(self._events):
                along = _Along(arc, event, ends, along_arc[number])
                for tau, direction in along.crossings(self._signs[number]):
                    if event.direction in (0, direction):
                        found.append(Happened(step, number, arc.t + tau * arc.h, *along.state(tau)))
                self._signs[number] = along.last_sign
        found.sort(key=lambda each: each.t)
        return found

    def _arcs_of(
        self, step: int, t: float, h: float, states: Array, values: Array
    ) -> Iterator[tuple[Arc, Array, Array]]:
        """The smooth arcs of a step, the states (2, 2, n) at their ends, and ψ (events, places) on the cubic through them."""
        if self._contacts is None:
            yield Arc(t, h, states[0, 0], states[1, 0], self._part), states, values
            return
        for arc in self._arcs.of_step(self._contacts.rows(), step, t, h, *states[:, 0]):
            ends = np.stack([(arc.q, arc.p), arc.part(arc.t, arc.h, arc.q, arc.p)], axis=1)
            times = np.array([arc.t, arc.t + arc.h])
            v = np.stack([arc.part.velocity(*each) for each in zip(times, *ends, strict=True)])
            yield arc, ends, np.array([self._values(each, times, ends[0], v)[0] for each in self._events])


def _may_pass(values: Array) -> Array:
    """Where ψ (events, steps, places) may reach zero within a step, (events, steps)."""
    spread = np.ptp(values, axis=2)
    is_passed = (values.min(axis=2) <= 0.0) & (values.max(axis=2) >= 0.0)
    return (spread > 0.0) & (is_passed | (np.abs(values).min(axis=2) < NEAR * spread))


class _Along:
    """ψ(τ) along an arc of a step, each by a step of length τh."""

    def __init__(self, arc: Arc, event: CheckedEvent, ends: Array, values: Array) -> None:
        self._arc, self._event = arc, event
        self._known = {0.0: self._value(arc.t, arc.q, arc.p), 1.0: self._value(arc.t + arc.h, *ends[:, 1])}
        self._polynomial = np.polynomial.Polynomial(POLYNOMIAL @ values)
        self._spread = float(np.ptp(values))
        self.last_sign = 0.0

    def state(self, tau: float) -> tuple[Array, Array]:
        """q and p (n,) after τh."""
        return self._arc.part(self._arc.t, tau * self._arc.h, self._arc.q, self._arc.p)

    def __call__(self, tau: float) -> float:
        """ψ after τh."""
        if tau not in self._known:
            self._known[tau] = self._value(self._arc.t + tau * self._arc.h, *self.state(tau))
        return self._known[tau]

    def _value(self, t: float, q: Array, p: Array) -> float:
        """ψ of a state."""
        value, v = np.empty((1, 1)), self._arc.part.velocity(t, q, p)
        pair = np.stack([q, q]), np.stack([v, v])
        self._event.fill(value, np.zeros(1), np.array([t]), np.ones(1), *pair)
        if not np.isfinite(value[0, 0]):
            raise StepError(f"the function of the event {self._event.name} is not a number at t = {t:.9g} s")
        return float(value[0, 0])

    def crossings(self, sign: float) -> list[tuple[float, int]]:
        """Where ψ changes its sign, and the new one; `sign` is that before the arc, 0 if it is not known.

        An impact between two arcs may change it too, which is at the start of the second.
        """
        points = self._points()
        found = []
        for a, b in pairwise(points):
            new = np.sign(self(b))
            if sign and new == -sign:
                root = a if new * self(a) >= 0.0 else find_zero(self, a, b)
                found.append((root, int(new)))
            sign = new or sign
        self.last_sign = sign
        return found

    def _points(self) -> list[float]:
        """The ends of the step, and between them the extrema of ψ."""
        roots = self._polynomial.deriv().roots()
        real = np.round(roots.real[np.abs(roots.imag) < REAL], DIGITS)
        points = [0.0, *np.unique(real[(real > 0.0) & (real < 1.0)]).tolist(), 1.0]
        for i in range(1, len(points) - 1):
            value = self(points[i])
            is_close = abs(value) < CLOSE * self._spread + DOUBT * abs(value - self._polynomial(points[i]))
            if is_close and all(value * self(points[j]) > 0.0 for j in (i - 1, i + 1)):
                points[i] = find_least(self._toward(value), points[i - 1], points[i + 1])
        return points

    def _toward(self, value: float) -> Callable[[float], float]:
        """The function of τ that is least where ψ, with the sign of a value, is nearest to zero."""
        return lambda tau: float(np.sign(value)) * self(tau)
