"""Rows that several reports have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mbvi.text import count

if TYPE_CHECKING:
    from mbvi.system.initial import Move, Start
    from mbvi.system.system import System

MOST_REASONS = 5


def moves_as_text(start: Start, most: int) -> Iterator[str]:
    """Which coordinates and rates do not start as they were given, and then which of those that were not given; at most `most`.

    Those of one unit follow one another, the largest changes first.
    """
    units = list(
        dict.fromkeys((move.is_rate, move.unit) for move in sorted(start.moves, key=lambda move: move.is_rate))
    )
    place = {unit: i for i, unit in enumerate(units)}
    moves = sorted(start.moves, key=lambda move: (place[move.is_rate, move.unit], -abs(move.reached - move.given)))
    left = most
    for is_given, what in ((True, "from what is given:"), (False, "where nothing is given:")):
        own = [move for move in moves if move.is_given == is_given]
        if own and left:
            yield f"moved onto the constraints {what}"
            yield from map(_move_as_text, own[:left])
            left -= len(own[:left])
    if len(moves) > most:
        yield f"and {len(moves) - most} more"


def _move_as_text(move: Move) -> str:
    """The text that says by how much a coordinate or rate was changed, and to what."""
    unit = "" if move.unit == "-" else move.unit
    unit = f" {unit or '1'}/s" if move.is_rate else f" {unit}".rstrip()
    name = f"rate of {move.name}" if move.is_rate else move.name
    return f"{name} by {move.reached - move.given:+.2g}{unit} to {value_as_text(move.reached)}"


def dimensions(system: System) -> str:
    """How many bodies, coordinates, constraints and degrees of freedom a system has."""
    parts = [
        count(system.degrees_of_freedom, "degree of freedom"),
        count(len(system.coordinate_names), "coordinate"),
        count(system.constraint_count, "constraint"),
    ]
    return ", ".join(parts)


def what_works(system: System) -> str:
    """Why the energy is not conserved."""
    if system.is_conservative:
        return "not conserved: moving stops do work"
    return f"not conserved: {'forces or prescribed motions' if system.is_driven else 'forces'} do work"


def value_as_text(number: float) -> str:
    """A number, without the rounding that a projection onto constraints leaves of zero."""
    return f"{0.0 if abs(number) < 1e-12 else number:.6g}"
