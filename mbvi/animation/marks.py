"""Marks on the time line: what happened to stops and dry friction in a run, and the events that it looked for.

Of those that are so near to each other that a screen shows them at one place, a page has one mark for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from mbvi.results.trajectory import Trajectory

PLACES = 1000
"""Places on a time line at which marks may stand."""
MOST_LINES = 5
"""Lines of what a mark says."""
SEVERAL = "several"
"""The kind of a mark of things of different kinds."""


class Mark(NamedTuple):
    """Something that happened.

    t      when [s]
    kind   impact, rest, release, stick, slip, or event; or of several
    name   of the stop, the friction or the event
    text   in one line, or of several in more
    """

    t: float
    kind: str
    name: str
    text: str


def marks(trajectory: Trajectory) -> list[Mark]:
    """All that happened, in the order of its times."""
    found: list[Mark] = []
    if trajectory.contact_events is not None:
        each_of_all = map(trajectory.contacts.__getitem__, range(len(trajectory.contacts)))
        found = [Mark(each.t, each.kind, each.name, str(each)) for each in each_of_all]
    for name, event in trajectory.events.items():
        found += [Mark(t, "event", name, f"event {name} at t = {t:.6g} s") for t in event.t.tolist()]
    return sorted(found, key=lambda mark: mark.t)


def merged(found: Sequence[Mark], start: float, end: float) -> list[Mark]:
    """One mark for all at the same place of a time line from start to end.

    Examples
    --------
    >>> near = [Mark(1.0, "impact", "floor", "first"), Mark(1.0001, "rest", "floor", "second")]
    >>> merged(near, 0.0, 2.0)
    [Mark(t=1.0, kind='several', name='floor', text='first\\nsecond')]
    """

    def place(mark: Mark) -> int:
        return round(PLACES * (mark.t - start) / (end - start)) if end > start else 0

    return [_one(list(each)) for _, each in groupby(found, place)]


def _one(some: list[Mark]) -> Mark:
    """The mark of some that are near to each other."""
    first = some[0]
    kinds = {each.kind for each in some}
    lines = [each.text for each in some]
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], f"and {len(lines) - MOST_LINES + 1} more"]
    return first._replace(kind=first.kind if len(kinds) == 1 else SEVERAL, text="\n".join(lines))
