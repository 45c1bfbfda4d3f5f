"""The events that happened in a run, as the loop over its steps finds them and its record keeps them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mbvi.system.events import UNTIL, CheckedEvent

Array = np.ndarray


class Happened(NamedTuple):
    """An event that happened.

    step    int     number of the step in which it did
    event   int     which
    t       float   when [s]
    q, p    (n,)    the state
    """

    step: int
    event: int
    t: float
    q: Array
    p: Array


class Happenings:
    """All events that happened until now.

    Parameters
    ----------
    events : tuple of CheckedEvent

    Attributes
    ----------
    names : tuple of str
    found : list of Happened
    end : Happened or None
        The event that ended the run.
    failure : str
        Why the run cannot go on: an event has no value, or cannot be located.
    """

    def __init__(self, events: tuple[CheckedEvent, ...]) -> None:
        self.names = tuple(each.name for each in events)
        self.found: list[Happened] = []
        self.end: Happened | None = None
        self.failure = ""

    @property
    def is_to_come(self) -> bool:
        """Whether the event that the run was to go on to has not happened."""
        return UNTIL in self.names and self.end is None

    def rows(self, first: int = 0) -> Array:
        """What a file keeps of all from number `first` on, (rows, 3 + 2 n): step, event, time, q and p."""
        return np.array([[each.step, each.event, each.t, *each.q, *each.p] for each in self.found[first:]])

    def take_back(self, rows: Array) -> None:
        """Go on after those that a file kept."""
        self.found = [Happened(int(row[0]), int(row[1]), float(row[2]), *np.split(row[3:], 2)) for row in rows]
