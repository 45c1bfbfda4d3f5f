"""What happens to the contacts of a run, as its stepper finds it and its record keeps it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mbvi.results.contacts import WIDTH, energy_taken
from mbvi.system.system import System

Array = np.ndarray
Present = Callable[[float, Array, Array], list[tuple[float, ...]]]
FIRST_ROOM = 64


class ContactLog:
    """All that happened to the contacts until now, see `mbvi.results.contacts`.

    Parameters
    ----------
    system : System
    names : tuple of str
        The names of all stops and frictions.
    present : callable
        ``present(t, q, p)`` gives numbers of rows, without the state, which say what is closed, sticks and slides now.

    Attributes
    ----------
    names : tuple of str
    count : int
    """

    def __init__(self, system: System, names: tuple[str, ...], present: Present) -> None:
        self._system, self.names, self._present = system, names, present
        self._rows, self.count = np.empty((FIRST_ROOM, WIDTH + 2 * system.dimension)), 0

    def add(self, numbers: list[tuple[float, ...]], q: Array, p: Array) -> None:
        """Note what happened at an instant: numbers of a row each, and the state after it."""
        while self.count + len(numbers) > len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        for each in numbers:
            row = self._rows[self.count]
            row[:WIDTH], row[WIDTH : WIDTH + len(q)], row[WIDTH + len(q) :] = each, q, p
            self.count += 1

    def cut(self, step: int, t: float = -np.inf) -> None:
        """Forget what happened from a step on, except what did in it until a time."""
        rows = self.rows()
        first, last = np.searchsorted(rows[:, 0], [step, step + 1]).tolist()
        self.count = first + int(np.sum(rows[first:last, 3] <= t))

    def forget(self) -> None:
        """Forget all."""
        self.count = 0

    def rows(self, first: int = 0) -> Array:
        """What a file keeps of all from number `first` on, (rows, 7 + 2 n)."""
        return self._rows[first : self.count]

    def present(self, t: float, q: Array, p: Array) -> Array:
        """What is so at a state, (rows, 7 + 2 n), as if it had happened there."""
        numbers = np.reshape(self._present(t, q, p), (-1, WIDTH))
        return np.column_stack([numbers, np.tile(q, (len(numbers), 1)), np.tile(p, (len(numbers), 1))])

    def take_back(self, rows: Array) -> None:
        """Go on after those that a file kept."""
        self._rows, self.count = np.concatenate([rows, np.empty_like(self._rows)]), len(rows)

    def taken(self, t: Array, q: Array) -> Array:
        """The energy [J] that impacts and friction took until times t (states,), of coordinates q (states, n)."""
        return energy_taken(self._system, self.rows(), t, q)
