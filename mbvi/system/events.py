"""Events that a run looks for: functions ψ(t, q, v), or expressions of quantities, that are zero where they happen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from mbvi.errors import ModelError
from mbvi.kernels.compiler.decorators import compiled
from mbvi.kernels.layout import READ
from mbvi.kernels.mechanics.event_values import EVENT, EventFunction, fill_event_values
from mbvi.model.arguments import check_flag
from mbvi.model.expressions import show, wrong
from mbvi.system.cubics import on_cubics
from mbvi.system.measures import Measurement
from mbvi.system.own_functions import check_returns_number, checked_function, compile_own, read_only
from mbvi.system.system import System

Array = np.ndarray
SIGNATURE = "event(t, q, v)"
UNTIL = "until"
"""The name of the event that a run goes on to."""


@dataclass(frozen=True)
class Event:
    """Something that happens where a function ψ(t, q, v) passes zero.

    Parameters
    ----------
    function : callable or str
        ``function(t, q, v)`` gives one number, of the time [s] and coordinates and velocities (n,); numba compiles it. Or an
        expression, as those of `Trajectory.evaluate`: ``"q('hinge') - pi"``. Where it touches zero, and does not change its
        sign, nothing happens.
    direction : int
        1: where ψ increases; −1: where it decreases; 0: both.
    terminal : bool
        Whether it ends the run.

    Raises
    ------
    ModelError
        If the direction is none of these.

    Examples
    --------
    >>> import mbvi
    >>> bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))
    >>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    >>> model = mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot})
    >>> def below(t, q, v):
    ...     return q[0]
    >>> run = mbvi.simulate(
    ...     model, "gauss4", step=0.1, duration=10, initial_q=[2.0], events={"below": Event(below, direction=-1)}
    ... )
    >>> run.events["below"].t.round(9).tolist()
    [0.666467736, 3.332338679, 5.998209622, 8.664080565]
    """

    function: Callable[..., float] | str
    direction: int = 0
    terminal: bool = False

    def __post_init__(self) -> None:
        """Check the direction."""
        if isinstance(self.direction, bool) or not isinstance(self.direction, int) or abs(self.direction) > 1:
            raise ModelError(f"direction: {wrong('-1, 0 or 1', show(self.direction))}")
        check_flag(self.terminal, "terminal")


class CheckedEvent(Protocol):
    """An event that a run can look for."""

    name: str
    direction: int
    terminal: bool

    def fill(self, values: Array, places: Array, t: Array, h: Array, q: Array, v: Array) -> None:
        """Write ψ at parts `places` (m,) of every step into values (steps, m), on the cubics between the states at its ends.

        t, h   (steps,)         where steps begin, and their sizes [s]
        q, v   (steps + 1, n)   states at the ends of the steps
        """


class MeasuredEvent:
    """An event by an expression of quantities.

    Attributes
    ----------
    name : str
    direction : int
    terminal : bool
    """

    def __init__(self, name: str, event: Event, system: System) -> None:
        self.name, self.direction, self.terminal = name, int(event.direction), bool(event.terminal)
        try:
            self._measurement = Measurement(system, str(event.function))
        except ModelError as error:
            raise ModelError(f"{_where(name)}: {error}") from None

    def fill(self, values: Array, places: Array, t: Array, h: Array, q: Array, v: Array) -> None:
        """See `CheckedEvent`."""
        steps, count = values.shape
        x, sizes = np.tile(places, steps), np.repeat(h, count)
        pairs = [np.repeat(np.stack([each[:-1], each[1:]]), count, axis=1) for each in (q, v)]
        with np.errstate(all="ignore"):
            found = self._measurement(np.repeat(t, count) + x * sizes, *on_cubics(x, sizes, *pairs))
        values[...] = found.reshape(values.shape)


class CompiledEvent:
    """An event whose function is checked at a state, and compiled.

    Attributes
    ----------
    name : str
    direction : int
    terminal : bool
    """

    def __init__(self, name: str, event: Event, t: float, q: Array, v: Array) -> None:
        where = _where(name)
        self.name, self.direction, self.terminal = name, int(event.direction), bool(event.terminal)
        self._work = np.empty((2, len(q)))
        plain = checked_function(where, event.function, SIGNATURE, has_output=False)
        check_returns_number(where, plain, t, read_only(q), read_only(v))
        inner = compile_own(where, plain, ((EVENT.args[0], READ, READ),), has_output=False)
        try:
            self._function = EventFunction(function=compiled(EVENT, _never_raising(inner)))
        except Exception as error:  # numba raises many
            raise ModelError(f"{where}: {wrong('a function that returns one number', 'one that does not')}") from error

    def fill(self, values: Array, places: Array, t: Array, h: Array, q: Array, v: Array) -> None:
        """See `CheckedEvent`."""
        fill_event_values(values, self._function, places, t, h, q, v, *self._work)


def _where(name: str) -> str:
    return UNTIL if name == UNTIL else f"events.{name}"


def _never_raising(inner: Callable) -> Callable:
    """A function that returns what another does, and not a number where that raises an error."""

    def outer(t: float, q: Array, v: Array) -> float:
        value = np.nan
        try:
            value = 1.0 * inner(t, q, v)
        except Exception:  # none can leave compiled code
            value = np.nan
        return value

    return outer


def checked_events(events: Any, until: Any, system: System, t: float, q: Array, v: Array) -> tuple[CheckedEvent, ...]:
    """The events that a run looks for, checked at its start, and functions compiled.

    Parameters
    ----------
    events : mapping of str to Event, callable or str, or None
    until : Event, callable, str or None
        The event that ends the run.
    system : System
    t, q, v : float, (n,), (n,)
        Where the run starts.

    Raises
    ------
    ModelError
        If a function or an expression cannot be used.
    """
    if events is not None and not isinstance(events, Mapping):
        raise ModelError(f"events: {wrong('a mapping of names to events', show(events))}")
    given: dict[str, Event] = {}
    for name, each in dict(events or {}).items():
        if not isinstance(name, str) or not name.isprintable() or not name or name == UNTIL:
            raise ModelError(f"events: {wrong('names of events, as texts other than until', show(name))}")
        given[name] = _as_event(f"events.{name}", each)
    if until is not None:
        found = _as_event(UNTIL, until)
        given[UNTIL] = Event(found.function, found.direction, terminal=True)
    return tuple(
        MeasuredEvent(name, each, system) if isinstance(each.function, str) else CompiledEvent(name, each, t, q, v)
        for name, each in given.items()
    )


def _as_event(where: str, given: Any) -> Event:
    if isinstance(given, Event):
        return given
    if not callable(given) and not isinstance(given, str):
        expected = f"an Event, a function {SIGNATURE}, or an expression"
        raise ModelError(f"{where}: {wrong(expected, show(given), f'write def {SIGNATURE}: …')}")
    return Event(given)
