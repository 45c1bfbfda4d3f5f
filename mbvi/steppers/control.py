"""Controllers of a run: called between its steps, of which those are divided within which a call is, or begins to act.

The times of all calls are known before the run. The inputs of the run's system are tables of time that hold, laid out for all
of them, and a call writes its values into them. So the force at a time is what acted then, during the run and after it.

The parts of a divided step are steps of the scheme of other lengths, and the next step begins as the first of a run does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mbvi.errors import KEPT, ModelError, StepError
from mbvi.floats import as_floats
from mbvi.kernels import layout
from mbvi.model.expressions import show, wrong
from mbvi.results.phases import RunStates, measured_in
from mbvi.results.samples import ABOUT
from mbvi.steppers.audit import Audit
from mbvi.steppers.carried import MOST_COUNTED, Carried
from mbvi.steppers.loop import Stepper
from mbvi.steppers.part_step import PartStep
from mbvi.steppers.run import Run
from mbvi.system.controllers import CheckedController
from mbvi.system.inputs import held_values, with_held_inputs
from mbvi.system.sensors import SystemSensor
from mbvi.system.system import System

Array = np.ndarray
NEAR = 1e-9  # steps by which a call may be from the end of one, and be at it
FAILED = -2
"""The status of steps before which a controller fails, besides those of kernels."""


class Schedule:
    """When the calls of a controller are, and act, in steps of size h since the start of a run of so many steps.

    Attributes
    ----------
    calls, acts : ndarray (m,)
    """

    def __init__(self, controller: CheckedController, h: float, steps: int) -> None:
        ratio = controller.period / h
        calls = _on_grid(ratio * np.arange(int(steps / ratio) + 2))
        self.calls = calls[calls < steps]
        self.acts = _on_grid(ratio * np.arange(len(self.calls)) + controller.delay / h)


def _on_grid(x: Array) -> Array:
    """Numbers of steps, whole where they nearly are."""
    whole = np.round(x)
    return np.where(np.abs(x - whole) <= NEAR * (1 + 1e-6 * x), whole, x)


def controlled_system(system: System, run: Run) -> System:
    """The system with tables for all values that the controllers of a run will give."""
    for each in run.controllers:
        acts = run.start_time + run.step * Schedule(each, run.step, run.steps).acts
        places = [system.input_names.index(name) for name in each.inputs]
        before = np.tile(system.arrays.inputs[places], (len(acts), 1))
        system = with_held_inputs(system, places, acts, before)
    return system


class _Loop:
    """A controller in a run, with its state in arrays, to which a file can keep it."""

    def __init__(self, number: int, controller: CheckedController, run: Run) -> None:
        self.number, self.controller = number, controller
        self.schedule, names = Schedule(controller, run.step, run.steps), run.system.input_names
        self.places = [names.index(name) for name in controller.inputs]
        self._tables = [held_values(run.system, place) for place in self.places]
        where = f"controllers.{controller.name}: state"
        given = self._state()
        if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
            raise ModelError(f"{where}: {wrong('a mapping of names to arrays', show(given))}")
        for key, value in given.items():
            if not _is_array(value):
                raise ModelError(f"{where}: {key}: {wrong('an array of numbers', show(value))}")
        self.buffers = {key: np.array(value) for key, value in given.items()}

    def _state(self) -> Any:
        return self.controller.law.state() if hasattr(self.controller.law, "state") else {}

    @property
    def carried(self) -> list[Carried]:
        """The arrays of its state."""
        bounds = {"i": (-MOST_COUNTED, MOST_COUNTED)}
        return [Carried(each, *bounds.get(each.dtype.kind, ())) for each in self.buffers.values()]

    def keep(self) -> None:
        """Take its state to the arrays.

        Raises
        ------
        ValueError
            If it has become one of other arrays, or of a type that those at first do not hold.
        """
        state = {key: np.asarray(value) for key, value in self._state().items()}
        if {key: each.shape for key, each in state.items()} != {key: each.shape for key, each in self.buffers.items()}:
            raise ValueError("its state became one of other names or shapes")
        for key, each in state.items():
            if not np.can_cast(each.dtype, self.buffers[key].dtype, "same_kind"):
                kinds = f"{self.buffers[key].dtype} at first, and {each.dtype} now"
                raise ValueError(f"{key} is of the type {kinds}; let it begin with the latter, as 0.0 instead of 0")
            self.buffers[key][...] = each

    def put_back(self) -> None:
        """Give it the state that is in the arrays."""
        if self.buffers:
            self.controller.law.set_state({key: each.copy() for key, each in self.buffers.items()})  # type: ignore[attr-defined]

    def write(self, call: int, values: Array) -> None:
        """Let values (m,) act from a call on, and until it is known better, also from the next."""
        for table, value in zip(self._tables, values, strict=True):
            table[call : call + 2] = value


def _is_array(value: Any) -> bool:
    """Whether a value is an array of numbers, and no list of unequal lengths."""
    try:
        return np.asarray(value).dtype.kind in "fiubc"
    except ValueError:
        return False


class _Sampled:
    """A sensor that controllers ask, with its last sample in an array, to which a file can keep it."""

    def __init__(self, name: str, run: Run, asked: Array) -> None:
        """The controllers ask after so many steps (m,)."""
        self.sensor, self._run = SystemSensor(run.system, name), run
        self.value = np.zeros(len(self.sensor.labels) or 1)
        self.stops = np.unique([self._sampled(each) for each in asked.tolist()])

    def _sampled(self, at: float) -> float:
        """After how many steps it takes its last sample before or at a number of steps."""
        period, t0, h = self.sensor.period, self._run.start_time, self._run.step
        if period is None:
            return float(np.floor(at))
        number = self.sensor.samples(np.array([t0 + h * at]), h)[0]
        taken = max(0.0, float(_on_grid(np.array((number * period - t0) / h))))
        return at if abs(taken - at) <= NEAR * (1 + 1e-6 * at) else taken  # the same instant, whatever rounding says

    def take(self, t: float, q: Array, v: Array, happened: Array | None) -> None:
        """Take a sample; `happened` is what happened to contacts until then, (m, 7 + 2 n)."""
        times = np.array([t])
        exact = measured_in(RunStates(self._run.system, happened, times, q[None], v[None]), self.sensor)
        self.value[:] = self.sensor.noisy(self.sensor.samples(times, self._run.step), exact)[0]

    @property
    def last(self) -> Any:
        """The last sample, a number or a vector (3,)."""
        return self.value.copy() if self.sensor.labels else float(self.value[0])


class ControlWatch:
    """Does the steps of a run, and calls its controllers between them.

    Parameters
    ----------
    run : Run
        A run whose system is a `controlled_system`.
    make : callable
        Makes the `Stepper` of a run.

    Attributes
    ----------
    stepper : Stepper
        All of it as one.
    """

    def __init__(self, run: Run, make: Any) -> None:
        self._run, self._make, self._single = run, make, replace(run, every=1)
        self._inner: Stepper = make(self._single)
        self._part = PartStep(run.system, run.method)
        self._audit = Audit(run)
        self._audit.join(self._inner.audit)
        for each in run.controllers:
            if hasattr(each.law, "begin"):
                each.law.begin(run.system, run.start_time, run.q.copy(), run.v.copy())
        self._loops = [_Loop(number, each, run) for number, each in enumerate(run.controllers)]
        stops = [part for each in self._loops for part in (each.schedule.calls, each.schedule.acts)]
        self._sensors = self._asked_sensors()
        stops += [each.stops for each in self._sensors.values()]
        self._stops = np.unique(np.concatenate(stops))
        self._last, self._counts = np.stack([run.q, run.p]), np.zeros(len(self._loops), np.int64)
        self._message = ""
        self._cause: Exception | None = None
        self.log = run.samples
        state = [*self._inner.state, Carried(self._last), Carried(self._counts, 0, MOST_COUNTED)]
        state += [each for loop in self._loops for each in loop.carried]
        state += [Carried(each.value) for each in self._sensors.values()]
        own: dict[str, Any] = {"failure": self._failure, "audit": self._audit, "cause": lambda: self._cause}
        self.stepper = replace(self._inner, piece=self.advance, state=state, **own)

    def _asked_sensors(self) -> dict[str, _Sampled]:
        """The sensors that controllers ask, by name."""
        asked: dict[str, list[Array]] = {}
        for each in self._loops:
            for name in each.controller.sensors:
                asked.setdefault(name, []).append(each.schedule.calls)
        return {name: _Sampled(name, self._run, np.concatenate(calls)) for name, calls in asked.items()}

    def advance(self, first: int, last: int, out_q: Array, out_p: Array) -> tuple[int, int]:
        """Do steps as a stepper does, with the calls that are at their starts and within them; FAILED where one fails."""
        if first == last:
            self._go_on_from(first)
            return self._inner.piece(first, last, out_q[:0], out_p[:0])
        every, begin, status, row = self._run.every, first, layout.OK, 0
        while begin < last and status == layout.OK:
            end, states, status = self._piece(begin, last)
            stored = np.arange(begin + every - begin % every, end + 1, every)
            rows = slice(row, row + len(stored))
            out_q[rows], out_p[rows] = states[:, stored - begin - 1]
            if every > 1:
                self._audit.look(begin, states[0])
            row, begin = rows.stop, end
        if status == layout.OK:
            status = self._kept(begin)
        return status, begin

    def _go_on_from(self, step: int) -> None:
        """Give the controllers the states, and the tables the values, that a file kept."""
        if step == 0:
            return
        for loop, count in zip(self._loops, self._counts, strict=True):
            loop.put_back()
            columns = [ABOUT + len(self._run.system.input_names) + place for place in loop.places]
            own = [row[columns] for row in self.log if row[0] == loop.number]
            for call, values in enumerate(own[:count]):
                loop.write(call, values)

    def _piece(self, begin: int, last: int) -> tuple[int, Array, int]:
        """Steps from `begin` to the next with a call, at most to `last`: where they end, states (2, steps, n), and the status."""
        nothing = np.empty((2, 0, self._last.shape[1]))
        if not self._called(float(begin)):
            return begin, nothing, FAILED
        stops = self._stops
        ahead = stops[np.searchsorted(stops, begin, side="right") :][:1]
        end = int(min(last, ahead[0] // 1)) if len(ahead) else last
        if end == begin:
            return self._divided(begin)
        states = np.empty((2, end - begin, self._last.shape[1]))
        status, done = self._inner.piece(begin, end, *states)
        states = states[:, : done - begin]
        if done > begin:
            self._last[...] = states[:, -1]
        return done, states, status

    def _divided(self, step: int) -> tuple[int, Array, int]:
        """A step that ends and begins anew at the stops within it."""
        nothing, stops = np.empty((2, 0, self._last.shape[1])), self._stops
        within = stops[np.searchsorted(stops, step, side="right") : np.searchsorted(stops, step + 1)]
        at, h, part = float(step), self._run.step, self._inner.part or (lambda step, *arc: self._part(*arc))
        for stop in (*within.tolist(), step + 1.0):
            try:
                self._last[...] = part(step, self._time(at), h * (stop - at), *self._last)
            except StepError as error:
                self._message = f"step {step}, which is divided at t = {self._time(at):.6g} s: {error}"
                return step, nothing, FAILED
            at = stop
            if stop < step + 1 and not self._called(stop):
                return step, nothing, FAILED
        q, p = self._last.copy()
        self._begin_anew(step + 1, q, p)
        return step + 1, self._last[:, None].copy(), layout.OK

    def _begin_anew(self, step: int, q: Array, p: Array) -> None:
        """Let the next step begin as the first of a run does."""
        if self._inner.anew is not None:
            self._inner.anew(step, q, p)
            return
        at = float(step)
        v = self._part.velocity(self._time(at), q, p)
        fresh = self._make(replace(self._single, start_time=self._time(at), q=q, v=v, p=p))
        for own, new in zip(self._inner.state, fresh.state, strict=True):
            own.array[...] = new.array

    def _time(self, at: float) -> float:
        return self._run.start_time + self._run.step * at

    def _called(self, at: float) -> bool:
        """Take the samples that are then, and call the controllers whose call is; whether none failed."""
        due = [each for each in self._sensors.values() if at in each.stops]
        if due:
            t, (q, p) = self._time(at), self._last
            v = self._part.velocity(t, q, p)
            happened = None if self._inner.contacts is None else self._inner.contacts.rows()
            for sampled in due:
                try:
                    sampled.take(t, q, v, happened)
                except ModelError as error:
                    self._message = f"the sensor {sampled.sensor.name}: at t = {t:.6g} s: {error}. {KEPT}"
                    return False
        for loop in self._loops:
            call, calls = int(self._counts[loop.number]), loop.schedule.calls
            if call < len(calls) and calls[call] == at and not self._ask(loop, call, at):
                return False
        return True

    def _ask(self, loop: _Loop, call: int, at: float) -> bool:
        """Call a controller; whether it gave inputs."""
        controller, t = loop.controller, self._time(at)
        where = f"controllers.{controller.name}: at t = {t:.6g} s"
        try:
            found = controller.law(t, *self._shown(controller, t))
        except Exception as error:  # whatever a function of the user's raises
            self._message, self._cause = f"{where} it raised {type(error).__name__}: {error}. {KEPT}", error
            return False
        try:
            self._run.system.check_own_values()
        except ModelError as error:
            self._message = f"{where}: after it was called, {error}. {KEPT}"
            return False
        asked = as_floats(found)
        asked = asked.reshape(1) if asked is not None and asked.ndim == 0 else asked
        if asked is None or asked.shape != controller.low.shape or not np.isfinite(asked).all():
            listed = ", ".join(controller.inputs)
            self._message = f"{where}: expected finite numbers for {listed}, found {show(found)}. {KEPT}"
            return False
        values = np.clip(asked, controller.low, controller.high)
        loop.write(call, values)
        names = self._run.system.input_names
        row = np.zeros(ABOUT + 2 * len(names))
        row[:ABOUT] = loop.number, t, self._time(float(loop.schedule.acts[call]))
        columns = ABOUT + np.array(loop.places)
        row[columns], row[columns + len(names)] = asked, values
        self.log.append(row)
        self._counts[loop.number] += 1
        return True

    def _shown(self, controller: CheckedController, t: float) -> tuple[Any, ...]:
        """What a controller is shown besides the time: the state, or what its sensors measured."""
        if controller.sensors:
            return ({name: self._sensors[name].last for name in controller.sensors},)
        q, p = self._last
        return q.copy(), self._part.velocity(t, q, p)

    def _kept(self, step: int) -> int:
        """Keep the states of the controllers."""
        for loop in self._loops:
            try:
                loop.keep()
            except Exception as error:  # whatever a function of the user's raises
                where = f"controllers.{loop.controller.name}: at t = {self._time(step):.6g} s"
                self._message, self._cause = f"{where}: state: {type(error).__name__}: {error}. {KEPT}", error
                return FAILED
        return layout.OK

    def _failure(self, step: int, status: int) -> str:
        if status == FAILED:
            return self._message
        return self._inner.reason(self._single, step, status)
