"""What happened to stops and dry frictions of a run, and what follows from it: forces, gaps, and the energy that they took."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mbvi.errors import ModelError
from mbvi.model.expressions import nearest, show, wrong
from mbvi.model.touching import frictions_of, stops_of
from mbvi.system.contacts import FREE, Contacts, Mode, ModeSystem, pushing
from mbvi.system.cubics import on_cubics
from mbvi.system.rubbing import rubs_of

if TYPE_CHECKING:
    from mbvi.system.system import System

Array = np.ndarray
IMPACT, REST, RELEASE, STICK, SLIP = range(5)
KINDS = ("impact", "rest", "release", "stick", "slip")
"""What may happen to a contact."""
WIDTH = 7
"""Numbers of a row before its state: step, contact, kind, time, impulse, energy, sign of the rate after a slip."""


@dataclass(frozen=True, eq=False)
class ContactEvents:
    """What happened to stops and dry frictions, in the order of the times.

    Attributes
    ----------
    system : System
    names : tuple of str
        All stops and frictions of the system.
    rows : ndarray (m, 7 + 2 n)
        What the properties below are the columns of.

    Examples
    --------
    >>> import mbvi
    >>> ball = mbvi.Body(mass=1)
    >>> fall = mbvi.Prismatic(
    ...     parent="world", child="ball", axis=(0, 0, 1), limits={"displacement": mbvi.Limits(lower=0, restitution=0.5)}
    ... )
    >>> model = mbvi.Model(name="ball", gravity=(0, 0, -2), bodies={"ball": ball}, joints={"fall": fall})
    >>> run = mbvi.simulate(model, "simpson", step=0.03, duration=2.5, initial_q=[1.0])
    >>> for each in run.contacts:
    ...     print(each)
    impact of fall.displacement.lower at t = 1 s: impulse 3 N s, took 1.5 J
    impact of fall.displacement.lower at t = 2 s: impulse 1.5 N s, took 0.375 J
    impact of fall.displacement.lower at t = 2.5 s: impulse 0.75 N s, took 0.09375 J
    """

    system: System
    names: tuple[str, ...]
    rows: Array

    @property
    def step(self) -> Array:
        """Numbers (m,) of the steps, from 0 on, within which it happened; −1 of what is so at the start."""
        return self.rows[:, 0].astype(int)

    @property
    def contact(self) -> Array:
        """Places of the contacts among the names (m,)."""
        return self.rows[:, 1].astype(int)

    @property
    def kind(self) -> Array:
        """What happened, as a place among impact, rest, release, stick and slip (m,)."""
        return self.rows[:, 2].astype(int)

    @property
    def t(self) -> Array:
        """Times (m,) [s]."""
        return self.rows[:, 3]

    @property
    def impulse(self) -> Array:
        """Impulses (m,) [N s or N m s]."""
        return self.rows[:, 4]

    @property
    def energy(self) -> Array:
        """Energies that were taken (m,) [J]."""
        return self.rows[:, 5]

    @property
    def sign(self) -> Array:
        """Signs of the rates after a slip (m,); 3 after a stick of what is locked without its friction, which has no force."""
        return self.rows[:, 6]

    @property
    def q(self) -> Array:
        """Coordinates (m, n)."""
        return self.rows[:, WIDTH : WIDTH + self._n]

    @property
    def p(self) -> Array:
        """Momenta (m, n) just after it."""
        return self.rows[:, WIDTH + self._n :]

    @property
    def _n(self) -> int:
        return len(self.system.coordinate_names)

    def __len__(self) -> int:
        """How much happened."""
        return len(self.rows)

    def __getitem__(self, number: int) -> ContactEvent:
        """One of what happened."""
        step, contact, kind, t, impulse, energy, sign = self.rows[number, :WIDTH].tolist()
        name = self.names[int(contact)]
        unit = self._units[int(contact)]
        return ContactEvent(int(step), name, KINDS[int(kind)], t, impulse, energy, sign, unit)

    def __repr__(self) -> str:
        """How many of each kind."""
        counts = [f"{int(np.sum(self.kind == i))} {name}" for i, name in enumerate(KINDS) if (self.kind == i).any()]
        return f"<ContactEvents: {', '.join(counts) or 'nothing'}>"

    def of(self, name: str, kind: str | None = None) -> ContactEvents:
        """What happened to one contact, or what of one kind did.

        Raises
        ------
        ModelError
            If there is no such contact or kind.
        """
        if name not in self.names:
            raise ModelError(f"contacts: {wrong('a stop or friction', show(name), nearest(str(name), self.names))}")
        if kind is not None and kind not in KINDS:
            raise ModelError(f"contacts: {wrong('impact, rest, release, stick or slip', show(kind))}")
        chosen = self.contact == self.names.index(name)
        return replace(self, rows=self.rows[chosen if kind is None else chosen & (self.kind == KINDS.index(kind))])

    @cached_property
    def _units(self) -> tuple[str, ...]:
        assert self.system.model is not None
        model = self.system.model.resolved()
        stops = tuple(stops_of(model))
        return (
            *(each.unit for each in stops),
            *(each.unit for each in frictions_of(model)),
            *("N" for _ in rubs_of(stops)),
        )

    def energy_taken(self, t: Array, q: Array, v: Array) -> Array:
        """The energy (states,) [J] that impacts and friction took until times t (states,), of q and v (states, n).

        A coordinate that slides loses its kinetic friction times its way, which Galerkin schemes keep to rounding. What the
        friction of stops takes is integrated by Simpson's rule between the states and events, with an error of the fourth order
        of their distance.
        """
        taken = energy_taken(self.system, self.rows, t, q)
        return taken + rubbed_away(self, t, q, v) if self._has_rubs else taken

    @property
    def _has_rubs(self) -> bool:
        assert self.system.model is not None
        return bool(rubs_of(tuple(stops_of(self.system.model.resolved()))))


@dataclass(frozen=True)
class ContactEvent:
    """Something that happened to a contact: see `ContactEvents`."""

    step: int
    name: str
    kind: str
    t: float
    impulse: float
    energy: float
    sign: float
    unit: str

    def __str__(self) -> str:
        """The event as a text such as impact of stop at t = 1 s: impulse 2 N s, took 0.5 J."""
        text = f"{self.kind} of {self.name} at t = {self.t:.6g} s"
        if self.kind == "impact":
            return f"{text}: impulse {self.impulse:.4g} {self.unit} s, took {self.energy:.4g} J"
        if self.kind == "rest" and self.energy:
            return f"{text}: took {self.energy:.4g} J"
        if self.kind == "slip":
            return f"{text}, {'forwards' if self.sign > 0 else 'backwards'}"
        return f"{text}, without force since other elements hold it" if self.sign == FREE else text


def contact_names(system: System) -> tuple[str, ...]:
    """The names of the stops and frictions of a system with a model."""
    assert system.model is not None
    model = system.model.resolved()
    stops = tuple(stops_of(model))
    names = [each.name for each in stops] + [each.name for each in frictions_of(model)]
    return (*names, *(each.name for each in rubs_of(stops)))


def energy_taken(system: System, rows: Array, t: Array, q: Array) -> Array:
    """What `ContactEvents.energy_taken` gives, of rows (m, 7 + 2 n)."""
    assert system.model is not None
    model = system.model.resolved()
    stops, names = len(list(stops_of(model))), list(system.coordinate_names)
    if not len(rows):
        return np.zeros(len(t))
    taken = np.concatenate([[0.0], np.cumsum(rows[:, 5])])
    times = np.where(rows[:, 0] < 0, np.nextafter(rows[:, 3], np.inf), rows[:, 3])  # at the start, after its state
    out = taken[np.searchsorted(times, t, side="right")]
    for j, friction in enumerate(frictions_of(model)):
        own = rows[rows[:, 1] == stops + j]
        if not len(own):
            continue
        coordinate = names.index(f"{friction.held.joint}.{friction.held.coordinate}")
        places, signs = own[:, WIDTH + coordinate], pushing(own[:, 6])
        losses = np.concatenate([[0.0], np.cumsum(friction.kinetic * signs[:-1] * np.diff(places))])
        last = np.searchsorted(own[:, 3], t, side="right") - 1
        at, has_begun = last[last >= 0], last >= 0
        out[has_begun] += losses[at] + friction.kinetic * signs[at] * (q[has_begun, coordinate] - places[at])
    return out


class Modes:
    """The modes of a run, as what happens makes them.

    Parameters
    ----------
    contacts : Contacts
    """

    def __init__(self, contacts: Contacts) -> None:
        self._contacts, self._stops = contacts, len(contacts.stops)
        self._rub_of = {stop: len(contacts.frictions) + j for j, stop in enumerate(contacts.rubbing.tolist())}
        slides = (0,) * len(contacts.frictions) + (FREE,) * len(contacts.rubs)
        self._found = [(Mode((False,) * self._stops, slides), np.zeros(len(slides)))]

    def after(self, rows: Array, count: int) -> tuple[Mode, Array]:
        """The mode after so many of all happenings (m, 7 + 2 n), and the places (frictions,) at which coordinates are held."""
        for row in rows[len(self._found) - 1 : count]:
            (closed, slides), places = self._found[-1]
            contact, kind = int(row[1]), int(row[2])
            if contact < self._stops:
                closed = (*closed[:contact], kind == REST, *closed[contact + 1 :])
                if kind != REST and contact in self._rub_of:
                    j = self._rub_of[contact]
                    slides = (*slides[:j], FREE, *slides[j + 1 :])
            elif kind != IMPACT:
                j = contact - self._stops
                slides = (*slides[:j], int(row[6]), *slides[j + 1 :])
                places = places.copy()
                n = (len(row) - WIDTH) // 2
                places[j] = self._contacts.places(float(row[3]), row[WIDTH : WIDTH + n])[j]
            self._found.append((Mode(closed, slides), places))
        return self._found[count]


class _State(NamedTuple):
    """A state of a run: time, q and v (n,), how much happened before it, and its number among the stored ones, or −1."""

    t: float
    q: Array
    v: Array
    happened: int
    number: int


def rubbed_away(events: ContactEvents, t: Array, q: Array, v: Array) -> Array:
    """The energy (states,) [J] that friction of stops took until states at increasing times, see `ContactEvents.energy_taken`."""
    contacts = Contacts(events.system, q[0], float(t[0]))
    modes, rows, out = Modes(contacts), events.rows, np.zeros(len(t))
    total, before = 0.0, None
    for state in _states_of(events, t, q, v):
        if before is not None and state.t > before.t:
            mode, _ = modes.after(rows, before.happened)
            if any(sign not in (0, FREE) for sign in mode.slides[len(contacts.frictions) :]):
                end = state.v - _jump(contacts, rows[before.happened : state.happened], state)
                total += _lost(contacts.of_mode(mode), before, state._replace(v=end))
        if state.number >= 0:
            out[state.number] = total
        before = state
    return out


def _states_of(events: ContactEvents, t: Array, q: Array, v: Array) -> Iterator[_State]:
    """The states at times t, and those after each instant at which something happened, in the order of their times."""
    rows = events.rows[events.t <= t[-1]]
    counts = np.searchsorted(rows[:, 3], t, side="right").tolist()
    instants = np.flatnonzero(np.diff(rows[:, 3], append=np.inf) > 0) if len(rows) else np.zeros(0, int)
    at = replace(events, rows=rows[instants])
    rates = np.empty((0, q.shape[1]))
    if len(instants):
        rates = events.system.velocities(at.t, np.ascontiguousarray(at.q), np.ascontiguousarray(at.p))
    found = [_State(float(t[i]), q[i], v[i], counts[i], i) for i in range(len(t))]
    found += [_State(float(at.t[i]), at.q[i], rates[i], int(instants[i]) + 1, -1) for i in range(len(instants))]
    yield from sorted(found, key=lambda each: (each.t, each.number))


def _jump(contacts: Contacts, rows: Array, state: _State) -> Array:
    """What the impacts of an instant changed in the velocity (n,)."""
    hits = rows[np.isin(rows[:, 2], (IMPACT, REST)) & (rows[:, 4] != 0.0)]
    if not len(hits):
        return np.zeros_like(state.v)
    J, _ = contacts.gap_gradients(state.t, state.q)
    first = len(contacts.stops) + len(contacts.frictions)
    directions = np.concatenate(
        [J, np.zeros((len(contacts.frictions), len(state.q))), contacts.slip_gradients(state.t, state.q)]
    )
    assert len(directions) == first + len(contacts.rubs)
    impulse: Array = (hits[:, 4] @ directions[hits[:, 1].astype(int)])[None]
    return contacts.responses(state.t, state.q, impulse)[0]


def _lost(system: ModeSystem, begin: _State, end: _State) -> float:
    """What stops that slide lose between two states of a mode [J], by Simpson's rule on the cubic through both."""
    h = end.t - begin.t
    pair = np.stack([begin.q, end.q])[:, None], np.stack([begin.v, end.v])[:, None]
    q, v = on_cubics(np.array([0.5]), np.array([h]), *pair)
    q, v = (np.stack([x, y.reshape(-1), z]) for x, y, z in ((begin.q, q, end.q), (begin.v, v, end.v)))
    power = system.friction_powers(np.array([begin.t, begin.t + 0.5 * h, end.t]), q, v).sum(axis=1)
    return float(h / 6.0 * (power[0] + 4.0 * power[1] + power[2]))


def contact_forces(events: ContactEvents, t: Array, q: Array, v: Array) -> dict[str, Array]:
    """Forces (states,) of all stops and frictions in states at increasing times."""
    contacts = Contacts(events.system, q[0], float(t[0]))
    out = np.zeros((len(t), len(contacts.names)))
    stops, count, modes = len(contacts.stops), len(contacts.frictions), Modes(contacts)
    for i, happened in enumerate(np.searchsorted(events.rows[:, 3], t, side="right").tolist()):
        mode, places = modes.after(events.rows, happened)
        system = contacts.of_mode(mode)
        out[i, stops : stops + count] = -pushing(np.array(mode.slides[:count])) * contacts.kinetic
        if len(system.closed) or len(system.held):
            system.hold_at(places[system.held])
            push, hold = system.forces(t[i : i + 1], q[i : i + 1], v[i : i + 1])
            out[i, system.closed], out[i, stops + system.held] = push[0], hold[0]
            for j, sign in system.slides.items():
                out[i, stops + count + j] = -sign * contacts.rubs[j].kinetic * out[i, contacts.rubs[j].stop]
    return {name: out[:, i] for i, name in enumerate(contacts.names)}


def slips(system: System, t: Array, q: Array, v: Array) -> dict[str, Array]:
    """Rates (states,) [m/s or rad/s] at which all dry frictions slip in many states, those of stops also while these are open."""
    contacts = Contacts(system, q[0], float(t[0]))
    values = contacts.friction_rates(t, q, v)
    return {name: values[:, i] for i, name in enumerate(contacts.names[len(contacts.stops) :])}


def gaps(system: System, t: Array, q: Array) -> dict[str, Array]:
    """Gaps (states,) [m or rad] of all stops in many states."""
    contacts = Contacts(system, q[0], float(t[0]))
    values = contacts.gaps(t, np.ascontiguousarray(q))
    return {each.name: values[:, i] for i, each in enumerate(contacts.stops)}
