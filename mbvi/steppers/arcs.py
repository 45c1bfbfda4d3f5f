"""The smooth arcs of the steps of a run with contacts: from one happening to the next, each in its mode."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mbvi.results.contacts import WIDTH, Modes
from mbvi.schemes.tableau import Tableau
from mbvi.steppers.part_step import PartStep
from mbvi.steppers.sliding import SlidingPart, part_of
from mbvi.system.contacts import Contacts, Mode, ModeSystem
from mbvi.system.system import System

Array = np.ndarray


class Arc(NamedTuple):
    """A part of a step in which the motion is smooth.

    t, h    float   when it begins, and its length [s]
    q, p    (n,)    the state at its begin
    part            does steps of any length in it
    """

    t: float
    h: float
    q: Array
    p: Array
    part: PartStep | PartInMode


class PartInMode:
    """Steps of any length in a mode, in which some coordinates are held at places."""

    def __init__(self, part: PartStep | SlidingPart, system: ModeSystem, places: Array) -> None:
        self._part, self._system, self._places = part, system, places[system.held]
        self.velocity = part.velocity

    def __call__(self, t: float, h: float, q: Array, p: Array) -> tuple[Array, Array]:
        """Coordinates and momenta (n,) after a step of length h from q, p (n,) at time t."""
        self._system.hold_at(self._places)
        return self._part(t, h, q, p)


class Arcs:
    """The arcs of steps, by what happened to the contacts.

    Parameters
    ----------
    system : System
    method : Tableau or Method
        A method of Galerkin's kind.
    q, t : (n,), float
        Where the run starts.
    """

    def __init__(self, system: System, method: Tableau, q: Array, t: float) -> None:
        self.contacts = Contacts(system, q, t)  # its own, whose coordinates it may hold elsewhere
        self._method, self._modes = method, Modes(self.contacts)
        self._parts, self._free = dict[Mode, PartStep | SlidingPart](), PartStep(system, method)

    def of_step(self, rows: Array, step: int, t: float, h: float, q: Array, p: Array) -> list[Arc]:
        """The arcs of a step of length h from a state at time t, by all that happened in the run, (m, 7 + 2 n)."""
        first, last = np.searchsorted(rows[:, 0], [step, step + 1]).tolist()
        ends = [i + 1 for i in range(first, last) if i + 1 == last or rows[i + 1, 3] > rows[i, 3]]
        found, begin, count = [], t, first
        for end in ends:
            at = float(rows[end - 1, 3])
            if at > begin:
                found.append(Arc(begin, at - begin, q, p, self._part(rows, count)))
            begin, count = at, end
            q, p = rows[end - 1, WIDTH : WIDTH + len(q)], rows[end - 1, WIDTH + len(q) :]
        if t + h > begin or not found:
            found.append(Arc(begin, t + h - begin, q, p, self._part(rows, count)))
        return found

    def _part(self, rows: Array, count: int) -> PartInMode:
        """Steps in the mode after so many happenings."""
        mode, places = self._modes.after(rows, count)
        system = self.contacts.of_mode(mode)
        if mode not in self._parts:
            self._parts[mode] = part_of(system, self._method, self._free)
            system.has_copy(self._parts[mode].system)
        return PartInMode(self._parts[mode], system, places)
