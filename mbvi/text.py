"""Rows and numbers as plain text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

MOST_LINES = 40


def aligned(rows: Iterable[Sequence[str]], indent: str = "", right: Sequence[int] = ()) -> list[str]:
    """Rows of cells as lines with aligned columns; those numbered in `right` are flush right.

    Examples
    --------
    >>> print(*aligned([("a", "1"), ("bcd", "20")], right=[1]), sep="\\n")
    a     1
    bcd  20
    """
    rows = [tuple(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append((indent + "  ".join(cells)).rstrip())
    return lines


def shortened(lines: Sequence[str]) -> list[str]:
    """Lines, of which those in the middle are left out if there are more than about forty.

    Examples
    --------
    >>> lines = shortened([f"line {i}" for i in range(100)])
    >>> len(lines), lines[20]
    (41, '… 60 more')
    """
    left_out = len(lines) - MOST_LINES
    if left_out <= 1:
        return list(lines)
    half = MOST_LINES // 2
    return [*lines[:half], f"… {left_out} more", *lines[-half:]]


def count(number: int, noun: str) -> str:
    """A number of things.

    Examples
    --------
    >>> count(1, "step"), count(0, "step"), count(2, "degree of freedom"), count(2, "position servo")
    ('1 step', 'no steps', '2 degrees of freedom', '2 position servos')
    """
    things, of, rest = noun.partition(" of ")
    return f"{number or 'no'} {things}{'' if number == 1 else 's'}{of}{rest}"


def file_size(size: int) -> str:
    """A number of bytes: 97.0 kB."""
    return f"{rounded(size / 1e6)} MB" if size >= 1e6 else f"{rounded(size / 1e3)} kB"


def rounded(value: float, digits: int = 3) -> str:
    """A number with `digits` significant digits, without an exponent: 312 000.

    Examples
    --------
    >>> rounded(312345.6), rounded(3.14159), rounded(0.0123456)
    ('312 000', '3.14', '0.0123')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, places):,.{max(places, 0)}f}".replace(",", " ")
