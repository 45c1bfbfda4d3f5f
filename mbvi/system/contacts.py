"""Stops and dry frictions of a system: their gaps, and the systems in which some of them are closed.

A stop is a constraint with a sign, and so is friction, which may hold its coordinate. One system, the gauge, has all of them as
constraints besides those of the model: its kernels give gaps, their gradients and how they bend. A *mode* says which stops are
closed and which frictions hold; the system of a mode has these as constraints, and is what a smooth part of the motion obeys.

All these systems have the same coordinates. The mode's sliding frictions are constant forces, of which `numbers` has the places.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mbvi.errors import ModelError
from mbvi.kernels import layout
from mbvi.kernels.mechanics.gaps import fill_gap_curvatures, fill_gaps
from mbvi.model.contacts import Friction, Stop
from mbvi.model.expressions import wrong
from mbvi.model.forces import JointForce
from mbvi.model.touching import frictions_of, stops_of
from mbvi.system.copies import as_run
from mbvi.system.forms import with_held
from mbvi.system.inputs import take_inputs, told_like
from mbvi.system.redundancy import count_redundant
from mbvi.system.system import System

Array = np.ndarray


class Mode(NamedTuple):
    """Which stops are closed (stops,), and how coordinates with friction slide (frictions,): 0 held, or the sign of the rate."""

    closed: tuple[bool, ...]
    slides: tuple[int, ...]


class Contacts:
    """The stops and dry frictions of a system.

    Parameters
    ----------
    system : System
        Of a model that has some.
    q, t : (n,), float
        Where a run starts.

    Attributes
    ----------
    system : System
        Without any of them.
    stops : tuple of Stop
    frictions : tuple of Friction
    names : tuple of str
        Those of stops, then of frictions.
    coordinates : ndarray of int
        Those of the frictions.
    kinetic, static : ndarray
        Of the frictions [N m or N].
    """

    def __init__(self, system: System, q: Array, t: float) -> None:
        assert system.model is not None
        model = system.model.resolved()
        self.system, self._start = system, (q, t)
        self.stops: tuple[Stop, ...] = tuple(stops_of(model))
        self.frictions: tuple[Friction, ...] = tuple(frictions_of(model))
        self.names = (*(each.name for each in self.stops), *(each.name for each in self.frictions))
        self.restitutions = np.array([each.restitution for each in self.stops])
        self.rest_speeds = np.array([each.rest_speed for each in self.stops])
        self.kinetic = np.array([each.kinetic for each in self.frictions])
        self.static = np.array([each.static for each in self.frictions])
        self._signs = np.array([each.sign for each in self.stops])
        self._gauge = self._with((*self.stops, *self.frictions), {})
        self._rows = self._rows_of(self._gauge, self.stops)
        arrays = self._gauge.arrays
        firsts = arrays.constraints[self._rows_of(self._gauge, self.frictions), layout.FIRST_ENTRY]
        self.coordinates = arrays.entries[firsts]
        self._work = np.zeros(arrays.k), np.zeros(len(arrays.entries)), np.zeros(arrays.k)
        self._modes: dict[Mode, ModeSystem] = {}

    def _with(self, held: Sequence[Stop | Friction], forces: Mapping[str, Any]) -> System:
        """The system of the model in which some stops and frictions are constraints, and with other forces."""
        system = self.system
        assert system.model is not None and system._assemble is not None
        other = system._assemble(with_held(system.model.resolved(), held, forces), force=system._own_force)
        if other.coordinate_names != system.coordinate_names:
            expected = f"the coordinates {', '.join(system.coordinate_names)}"
            raise ModelError(f"contacts: {wrong(expected, ', '.join(other.coordinate_names))}")
        return other

    @staticmethod
    def _rows_of(system: System, held: Sequence[Stop | Friction]) -> Array:
        """The constraints that these are."""
        names = system.constraint_names
        places = {name.rsplit(".", 1)[0]: i for i, name in enumerate(names)} | {name: i for i, name in enumerate(names)}
        found = [places[f"contacts.{each.name}"] for each in held]
        return np.array(found, np.int64)

    # ---------------------------------------------------------------------------------------------- gaps

    def gaps(self, t: Array, q: Array) -> Array:
        """Gaps (states, stops) [m or rad] in many states: t (states,), q (states, n)."""
        out = np.empty((len(q), len(self.stops)))
        fill_gaps(out, self._rows, self._signs, *self._work, self._gauge.arrays, self._gauge.work, t, q)
        return out

    def gap_gradients(self, t: float, q: Array) -> tuple[Array, Array]:
        """∂φ/∂q (stops, n) and ∂φ/∂t (stops,)."""
        _, G, g_t = self._gauge._constraints(q, t)
        return self._signs[:, None] * G[self._rows], self._signs * g_t[self._rows]

    def gap_curvatures(self, t: float, q: Array, v: Array) -> Array:
        """What φ̈ (stops,) is without acceleration."""
        out = np.zeros(self._gauge.arrays.k)
        fill_gap_curvatures(out, self._gauge.arrays, self._gauge.work, t, q, v)
        return self._signs * (out + self._gauge._time_rates(t, q, v)[1])[self._rows]

    # --------------------------------------------------------------------------------------------- modes

    def of_mode(self, mode: Mode) -> ModeSystem:
        """The system of a mode."""
        if mode not in self._modes:
            self._modes[mode] = ModeSystem(self, mode)
            self._modes[mode].take_inputs()
        return self._modes[mode]

    def take_inputs(self) -> None:
        """Let the systems of all modes have the inputs that the system has now."""
        for each in self._modes.values():
            each.take_inputs()


class ModeSystem:
    """The system of a mode: with closed stops and held frictions as constraints, and sliding frictions as forces.

    Attributes
    ----------
    system : System
    closed, held : ndarray of int
        Numbers of the stops that are closed, and of the frictions that hold their coordinate.
    """

    def __init__(self, contacts: Contacts, mode: Mode) -> None:
        stops, frictions = contacts.stops, contacts.frictions
        self.closed = np.flatnonzero(mode.closed)
        self.held = np.array([j for j, slides in enumerate(mode.slides) if slides == 0], np.int64)
        held = [stops[i] for i in self.closed], [frictions[j] for j in self.held]
        forces = {
            f"contacts.{each.name}": JointForce(
                joint=each.held.joint, coordinate=each.held.coordinate, value=-sign * each.kinetic
            )
            for each, sign in zip(frictions, mode.slides, strict=True)
            if sign != 0 and each.kinetic > 0
        }
        self.system = (
            as_run(told_like(contacts.system, contacts._with([*held[0], *held[1]], forces)))
            if held[0] or held[1] or forces
            else contacts.system
        )
        self._of, self._copies = contacts.system, list[System]()
        if self.system is not contacts.system:
            count_redundant(self.system, *contacts._start)
        self._stop_rows = contacts._rows_of(self.system, held[0])
        self._friction_rows = contacts._rows_of(self.system, held[1])
        self._signs = np.array([each.sign for each in held[0]])

    def has_copy(self, copy: System) -> None:
        """Let a copy of the system hold coordinates, and have inputs, as the system."""
        self._copies.append(copy)
        self.take_inputs()

    def hold_at(self, places: Array) -> None:
        """Hold the coordinates of the frictions that hold at places (held,) [rad or m]."""
        for system in (self.system, *self._copies):
            system.arrays.constraint_data[self._friction_rows, layout.OFFSET] = places

    def take_inputs(self) -> None:
        """Have the inputs that the system without contacts has now."""
        for system in (self.system, *self._copies):
            if system is not self._of:
                take_inputs(system, self._of)

    def forces(self, t: Array, q: Array, v: Array) -> tuple[Array, Array]:
        """Forces of closed stops (states, closed), which push where positive, and of frictions that hold (states, held)."""
        lam = self.system.multipliers(t, q, v)
        return self._signs * lam[:, self._stop_rows], lam[:, self._friction_rows]
