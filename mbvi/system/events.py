"""Events that a run looks for: functions ψ(t, q, v) that are zero where they happen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mbvi.errors import ModelError
from mbvi.kernels.compiler.decorators import compiled
from mbvi.kernels.layout import READ
from mbvi.kernels.mechanics.event_values import EVENT, EventFunction
from mbvi.model.arguments import check_flag
from mbvi.model.expressions import show, wrong
from mbvi.system.own_functions import check_returns_number, checked_function, compile_own, read_only

Array = np.ndarray
SIGNATURE = "event(t, q, v)"
UNTIL = "until"
"""The name of the event that a run goes on to."""


@dataclass(frozen=True)
class Event:
    """Something that happens where a function ψ(t, q, v) passes zero.

    Parameters
    ----------
    function : callable
        ``function(t, q, v)`` gives one number, of the time [s] and coordinates and velocities (n,); numba compiles it. Where it
        touches zero, and does not change its sign, nothing happens.
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

    function: Callable[..., float]
    direction: int = 0
    terminal: bool = False

    def __post_init__(self) -> None:
        """Check the direction."""
        if isinstance(self.direction, bool) or not isinstance(self.direction, int) or abs(self.direction) > 1:
            raise ModelError(f"direction: {wrong('-1, 0 or 1', show(self.direction))}")
        check_flag(self.terminal, "terminal")


class CompiledEvent:
    """An event whose function is checked at a state, and compiled.

    Attributes
    ----------
    name : str
    direction : int
    terminal : bool
    function : EventFunction
        For kernels.
    """

    def __init__(self, name: str, event: Event, t: float, q: Array, v: Array) -> None:
        where = UNTIL if name == UNTIL else f"events.{name}"
        self.name, self.direction, self.terminal = name, int(event.direction), bool(event.terminal)
        plain = checked_function(where, event.function, SIGNATURE, has_output=False)
        check_returns_number(where, plain, t, read_only(q), read_only(v))
        inner = compile_own(where, plain, ((EVENT.args[0], READ, READ),), has_output=False)
        try:
            self.function = EventFunction(function=compiled(EVENT, _never_raising(inner)))
        except Exception as error:  # numba raises many
            raise ModelError(f"{where}: {wrong('a function that returns one number', 'one that does not')}") from error


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


def compiled_events(events: Any, until: Any, t: float, q: Array, v: Array) -> tuple[CompiledEvent, ...]:
    """The events that a run looks for, checked at its start, and compiled.

    Parameters
    ----------
    events : mapping of str to Event or callable, or None
    until : Event, callable or None
        That which ends the run.
    t, q, v : float, (n,), (n,)
        Where the run starts.

    Raises
    ------
    ModelError
        If a function cannot be used.
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
    return tuple(CompiledEvent(name, each, t, q, v) for name, each in given.items())


def _as_event(where: str, given: Any) -> Event:
    if isinstance(given, Event):
        return given
    if not callable(given):
        expected = f"an Event, or a function {SIGNATURE}"
        raise ModelError(f"{where}: {wrong(expected, show(given), f'write def {SIGNATURE}: …')}")
    return Event(given)
