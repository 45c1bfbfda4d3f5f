"""What happens to the contacts of a run, as its stepper finds it and its record keeps it."""

from __future__ import annotations

import numpy as np

from mbvi.results.contacts import WIDTH, energy_taken
from mbvi.system.system import System

Array = np.ndarray
FIRST_ROOM = 64


class ContactLog:
    """All that happened to the contacts until now, see `mbvi.results.contacts`.

    Parameters
    ----------
    system : System
    names : tuple of str
        Of all stops and frictions.

    Attributes
    ----------
    names : tuple of str
    count : int
    """

    def __init__(self, system: System, names: tuple[str, ...]) -> None:
        self._system, self.names = system, names
        self._rows, self.count = np.empty((FIRST_ROOM, WIDTH + 2 * system.dimension)), 0

    def add(self, numbers: list[tuple[float, ...]], q: Array, p: Array) -> None:
        """Note what happened at an instant: numbers of a row each, and the state after it."""
        while self.count + len(numbers) > len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        for each in numbers:
            row = self._rows[self.count]
            row[:WIDTH], row[WIDTH : WIDTH + len(q)], row[WIDTH + len(q) :] = each, q, p
            self.count += 1

    def rows(self, first: int = 0) -> Array:
        """What a file keeps of all from number `first` on, (rows, 7 + 2 n)."""
        return self._rows[first : self.count]

    def take_back(self, rows: Array) -> None:
        """Go on after those that a file kept."""
        self._rows, self.count = np.concatenate([rows, np.empty_like(self._rows)]), len(rows)

    def taken(self, t: Array, q: Array) -> Array:
        """The energy [J] that impacts and friction took until times t (states,), of coordinates q (states, n)."""
        return energy_taken(self._system, self.rows(), t, q)
