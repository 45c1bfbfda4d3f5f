"""What became of a robot's file: what was taken, what is only nearly the same, and what was dropped and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from mbvi.text import count

KINDS = "taken", "approximated", "dropped"
MOST_PLACES = 4


class Note(NamedTuple):
    """What became of something.

    kind     taken, approximated or dropped
    what     what it is, as <collision>
    why      what it means for the model
    places   where it stands, as link 'arm', without repetition
    """

    kind: Literal["taken", "approximated", "dropped"]
    what: str
    why: str
    places: tuple[str, ...]

    def __str__(self) -> str:
        """What, why and where."""
        more = f" and {len(self.places) - MOST_PLACES} more" if len(self.places) > MOST_PLACES else ""
        where = f" ({', '.join(self.places[:MOST_PLACES])}{more})" if self.places else ""
        return f"{self.what}{': ' if self.why else ''}{self.why}{where}"


class ImportReport(NamedTuple):
    """What became of all that a robot's file says.

    source       the file
    format       URDF, SDF or MJCF
    notes        those of what was taken first, then of what was approximated, then of what was dropped
    reductions   by the names of joints, how often their motor turns while the joint turns once
    mended       by the names of bodies, how much their inertia was changed, in mass times the square of the radius of gyration
    """

    source: str
    format: str
    notes: tuple[Note, ...]
    reductions: Mapping[str, float]
    mended: Mapping[str, float]

    def of_kind(self, kind: str) -> tuple[Note, ...]:
        """The notes of one kind."""
        return tuple(note for note in self.notes if note.kind == kind)

    @property
    def summary(self) -> str:
        """A line: what was taken, and how many things are not as in the file."""
        taken = ", ".join(note.what for note in self.of_kind("taken"))
        others = [f"{count(len(self.of_kind(kind)), 'thing')} {kind}" for kind in KINDS[1:]]
        return f"{self.format}: {taken}; {', '.join(others)}"

    def __str__(self) -> str:
        """All notes, a line each."""
        lines = [f"{self.source}, read as {self.format}"]
        for kind in KINDS:
            notes = self.of_kind(kind)
            lines += ["", kind.capitalize(), *(f"  - {note}" for note in notes)] if notes else []
        return "\n".join(lines)


def joined(first: ImportReport | None, others: Sequence[tuple[str, str, ImportReport | None]]) -> ImportReport | None:
    """The report of a model that others were put onto; None if none has one.

    Parameters
    ----------
    first : ImportReport, optional
        The report of the model.
    others : sequence of (str, str, ImportReport or None)
        What each of the others is called in the report, the prefix of its names, and its report.
    """
    named = [(name, prefix, report) for name, prefix, report in others if report is not None]
    reports = [*([] if first is None else [first]), *(report for _, _, report in named)]
    if not reports:
        return None
    notes = list(() if first is None else first.notes)
    reductions, mended = ({}, {}) if first is None else (dict(first.reductions), dict(first.mended))
    for name, prefix, report in named:
        notes += [
            note._replace(places=tuple(f"{name}: {place}" for place in note.places) or (name,)) for note in report.notes
        ]
        reductions |= {prefix + joint: value for joint, value in report.reductions.items()}
        mended |= {prefix + body: value for body, value in report.mended.items()}
    notes.sort(key=lambda note: KINDS.index(note.kind))
    sources, formats = (dict.fromkeys(getattr(each, key) for each in reports) for key in ("source", "format"))
    return ImportReport(", ".join(sources), " and ".join(formats), tuple(notes), reductions, mended)


class Notes:
    """A report that grows."""

    def __init__(self) -> None:
        self.places: dict[tuple[str, str, str], dict[str, None]] = {}
        self.reductions: dict[str, float] = {}
        self.mended: dict[str, float] = {}

    def add(self, kind: str, what: str, why: str = "", place: str = "") -> None:
        """Note what became of something, in one place of several."""
        places = self.places.setdefault((kind, what, why), {})
        if place:
            places[place] = None

    def report(self, source: str, name: str) -> ImportReport:
        """The report of a file of the format of that name."""
        notes = [Note(kind, what, why, tuple(at)) for (kind, what, why), at in self.places.items()]  # type: ignore[arg-type]
        notes.sort(key=lambda note: KINDS.index(note.kind))
        return ImportReport(source, name, tuple(notes), self.reductions, self.mended)
