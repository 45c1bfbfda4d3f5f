"""What pages follow: a file that a run writes, or a simulator, which may be driven here."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mbvi.errors import ModelError, StepError
from mbvi.live.frames import Frames, Screen, State
from mbvi.model.arguments import check_flag, checked_number
from mbvi.model.expressions import names_in, nearest, show, wrong
from mbvi.results.trajectory import Trajectory, read
from mbvi.simulator import Simulator
from mbvi.system.feedback import without_feedback
from mbvi.system.inputs import settable_inputs, with_same_inputs
from mbvi.system.system import System

RATE = 30
"""Frames per second, at most."""
POLL = 0.2
"""Seconds between two looks into a file."""
MOST_ROWS, FIRST_ROWS = 25, 200
"""Frames per look, and of the first one."""
WINDOW = 20.0
"""Seconds of a simulator that a page keeps, of watching."""
BREATH = 0.001
"""Seconds for which others may use a simulator that cannot keep up with the clock, after every frame."""
TRIES = 10


class Source:
    """What a page follows, by a thread that goes on until it is closed.

    Attributes
    ----------
    frames : Frames
    """

    def __init__(self, system: System, start: State, trails: Sequence[str] | None) -> None:
        self.frames, self.screen = Frames(), Screen(system, start.q, trails)
        self._last, self._ended = start, threading.Event()
        self._threads: list[threading.Thread] = []

    def _begin(self, *loops: Callable[[], None]) -> None:
        self._threads = [threading.Thread(target=loop, daemon=True) for loop in loops]
        for thread in self._threads:
            thread.start()

    def _show(self, state: State) -> None:
        """Add a frame."""
        self._last = state
        self.frames.add(state.t, self.screen.row(state))

    def close(self) -> None:
        """End the threads."""
        self._ended.set()
        for thread in self._threads:
            thread.join()

    @property
    def controls(self) -> list[dict[str, Any]]:
        """No controls."""
        return []

    def page(self) -> str:
        """The page, with the newest state."""
        return self.screen.page(self._last, 1.0, {"window": None, "paced": False, "controls": self.controls})

    def change(self, changes: Any) -> None:
        """Refuse changes."""
        raise ModelError(f"follow: {wrong('a run that takes changes', 'one that is written to a file')}")


class FileSource(Source):
    """A file that a run writes."""

    def __init__(self, path: Path, trails: Sequence[str] | None) -> None:
        self._path, self._trails, self._rows = path, trails, 0
        first = _read(path)
        super().__init__(first.system, _state(first, 0), trails)
        self._begin(self._watch)

    def _watch(self) -> None:
        """Look into the file while someone watches."""
        while not self._ended.wait(POLL):
            if self.frames.are_watched:
                try:
                    self._look(self._now())
                    self.frames.status = ""
                except ModelError as error:
                    self.frames.status = str(error)

    def _now(self) -> Trajectory:
        """What the file has by now; a run of another model may have written it anew."""
        try:
            return read(self._path, self.screen.system)
        except ModelError:
            found = _read(self._path)
        if found.system.model != self.screen.system.model:  # else only what was read while it was replaced was wrong
            self._last, self.screen = _state(found, 0), Screen(found.system, found.q[0], self._trails)
            self.frames.look += 1
            self._rows = 0
        return found

    def _look(self, trajectory: Trajectory) -> None:
        """Show what is new, or some of it, to the last state."""
        if len(trajectory) < self._rows:  # it was written anew
            self._rows = 0
        count = min(MOST_ROWS if self._rows else FIRST_ROWS, len(trajectory) - self._rows)
        for row in np.linspace(len(trajectory) - 1, self._rows, count, endpoint=count > 1).round().astype(int)[::-1]:
            self._show(_state(trajectory, row))
        self._rows = len(trajectory)


class SimulatorSource(Source):
    """A simulator that someone else advances, or that is advanced here, so many seconds per second.

    Attributes
    ----------
    simulator : Simulator
        The simulator that runs: another one after a parameter was changed.
    """

    def __init__(self, simulator: Simulator, speed: float | None, trails: Sequence[str] | None) -> None:
        self.simulator, self._speed, self._is_playing, self._trails = simulator, speed, True, trails
        self._lock = threading.Lock()
        self._first, self._start = simulator.system, (simulator.q, simulator.v, simulator.t)
        self._inputs = _inputs(simulator.system) if speed else {}
        self._parameters = _parameters(simulator.system) if speed else {}
        self._changed: dict[str, float] = {}
        super().__init__(simulator.system, _snapshot(simulator), trails)
        self._begin(self._watch, *([self._drive] if speed else []))

    @property
    def controls(self) -> list[dict[str, Any]]:
        """The inputs and parameters that can be changed, with the values that they have, and the ranges of sliders."""
        return [
            {"kind": kind, "name": name, "value": value, "low": low, "high": high}
            for kind, found in (("inputs", self._inputs), ("parameters", self._parameters))
            for name, (value, low, high) in found.items()
        ]

    def page(self) -> str:
        """The page, with the state now and the controls."""
        speed = self._speed or 1.0
        live = {"window": WINDOW * speed, "paced": self._speed is not None, "controls": self.controls}
        return self.screen.page(_snapshot(self.simulator), speed, live)

    # -------------------------------------------------------------------------------------------------- going on

    def _watch(self) -> None:
        """Look at it while someone watches."""
        shown: tuple[Simulator, int] | None = None
        while not self._ended.wait(1 / RATE):
            if self.frames.are_watched and shown != (self.simulator, self.simulator.steps):
                with self._lock:
                    shown, system = (self.simulator, self.simulator.steps), self.simulator.system
                    if system.model is not self.screen.system.model:
                        # at the start: the page goes along with what is elsewhere
                        self.screen = Screen(system, self._start[0], self._trails)
                        self.frames.look += 1
                    self._show(_snapshot(self.simulator))

    def _drive(self) -> None:
        """Advance it, in time with the clock, or as fast as it can, from when it is first watched."""
        while not (self.frames.are_watched or self._ended.wait(1 / RATE)):
            pass
        due = time.perf_counter()
        while not self._ended.wait(max(BREATH, due - time.perf_counter())):
            with self._lock:
                assert self._speed is not None
                h = self.simulator.step_size
                steps = max(1, round(self._speed / RATE / h)) if self._is_playing else 0
                self._advance(steps)
                ahead = steps * h / self._speed or 1 / RATE
            due = max(due + ahead, time.perf_counter() - 1 / RATE)

    def _advance(self, steps: int) -> None:
        """Do so many steps, until one fails."""
        try:
            for _ in range(steps):
                self.simulator.step()
        except StepError as error:
            self._is_playing = False
            self.frames.status = f"{error.reason} Restart begins anew."

    # ------------------------------------------------------------------------------------------------- changes

    def change(self, changes: Any) -> None:
        """Take changes: inputs and parameters by name, the speed, whether it plays, and to begin anew.

        Raises
        ------
        ModelError
            If one cannot be done; those before it are.
        """
        if not isinstance(changes, Mapping):
            raise ModelError(f"follow: {wrong('a mapping of changes', show(changes))}")
        if self._speed is None:
            remedy = "follow it with a speed"
            raise ModelError(f"follow: {wrong('a simulator that is advanced here', 'one of another loop', remedy)}")
        takes: dict[str, Callable[[Any], None]] = {"inputs": self._set_inputs, "parameters": self._set_parameters}
        takes |= {"speed": self._set_speed, "playing": self._set_playing, "restart": self._restart}
        with self._lock:
            for key, value in changes.items():
                if key not in takes:
                    raise ModelError(f"follow: {wrong(' or '.join(takes), show(key))}")
                takes[key](value)

    def _set_inputs(self, values: Any) -> None:
        for name, value in _numbers(values, self._inputs, "inputs").items():
            self._inputs[name] = (value, *self._inputs[name][1:])
        self._put_inputs()

    def _put_inputs(self) -> None:
        """Write the inputs into the simulator."""
        names = self.simulator.system.input_names
        for name, (value, _, _) in self._inputs.items():
            self.simulator.system.arrays.inputs[names.index(name)] = value

    def _set_parameters(self, values: Any) -> None:
        changed = self._changed | _numbers(values, self._parameters, "parameters")
        now = self.simulator
        system = with_same_inputs(self._first, without_feedback(self._first).with_parameters(changed))
        self._put(system, now.q, now.v, now.t)
        self._changed = changed
        self._parameters |= {name: (value, *self._parameters[name][1:]) for name, value in changed.items()}

    def _set_speed(self, value: Any) -> None:
        self._speed = checked_number(value, "speed", "a number greater than 0", above=0.0)

    def _set_playing(self, value: Any) -> None:
        check_flag(value, "playing")
        self._is_playing = bool(value)

    def _restart(self, value: Any) -> None:
        check_flag(value, "restart")
        self._put(self.simulator.system, *self._start)
        self.frames.status, self._is_playing = "", True

    def _put(self, system: System, q: Any, v: Any, t: float) -> None:
        """Go on from a state with a system."""
        now = self.simulator
        self.simulator = Simulator(system, now.scheme, now.step_size, initial_q=q, initial_v=v, start_time=t, every=0)
        self._put_inputs()


def _read(path: Path) -> Trajectory:
    """The trajectory in a file, of a system with bodies."""
    found = read(path)
    if not isinstance(found.system, System):
        remedy = "build it, and follow a Simulator of it"
        raise ModelError(f"{path}: {wrong('a system with bodies', f'only {found.system!r}', remedy)}")
    return found


def _state(trajectory: Trajectory, row: int) -> State:
    return State(float(trajectory.t[row]), np.array(trajectory.q[row]), np.array(trajectory.p[row]))


def _snapshot(simulator: Simulator) -> State:
    """Where a simulator is, which another thread may advance meanwhile."""
    for _ in range(TRIES):
        steps, now = simulator.steps, simulator.now
        if simulator.steps == steps:
            break
    return _state(now, 0)


def _inputs(system: System) -> dict[str, tuple[float, float, float]]:
    """Inputs that are numbers, with their values and the ranges of sliders."""
    forces = {} if system.model is None else system.model.resolved().forces
    found = {}
    for name, place in settable_inputs(system).items():
        value = float(system.arrays.inputs[place])
        found[name] = value, *(getattr(forces[name], "input_range", None) or _around(value))
    return found


def _parameters(system: System) -> dict[str, tuple[float, float, float]]:
    """Parameters that depend on no others, with their values and the ranges of sliders."""
    if system.model is None or system.model._is_resolved:
        return {}
    given, values = system.model.parameters, system.model.resolved().parameters
    free = [name for name, text in given.items() if not names_in(text) & given.keys()]
    return {name: (float(values[name]), *_around(float(values[name]))) for name in free}


def _around(value: float) -> tuple[float, float]:
    """A range of a slider: to twice the value, or from -1 to 1."""
    return (-1.0, 1.0) if value == 0 else (min(0.0, 2 * value), max(0.0, 2 * value))


def _numbers(values: Any, known: Mapping[str, Any], where: str) -> dict[str, float]:
    """Numbers by known names."""
    if not isinstance(values, Mapping):
        raise ModelError(f"{where}: {wrong('a mapping of names to numbers', show(values))}")
    for name in values:
        if name not in known:
            raise ModelError(f"{where}.{name}: {wrong('a control', show(name), nearest(str(name), known))}")
    return {name: checked_number(value, f"{where}.{name}") for name, value in values.items()}
