"""Poles of functions of time: times at which they grow without bound, which no scheme notices between its nodes; and gaps, times
from which they have no value, as sqrt(1 - t) from 1 on.

A pole comes from a divisor that becomes 0: what stands below a fraction, to a negative power, or cos x of tan x. The divisors of
an expression are looked at for zeros between many times, where the sign changes or the size has a minimum that touches 0. What is
bounded there, as sin(t)/t, or grows less than any power, has no pole.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator

from mbvi.model.base import Element
from mbvi.model.expressions import UNARY, Program, value_at
from mbvi.model.fields import kinds

MOST_TIMES = 2000  # number of times between which zeros are looked for
REFINED = 200  # number of steps of a search
TOUCHES = 1e-12  # size of a divisor at a minimum, relative to that near it, below which it is 0
NEAR, NEARER, GROWTH = (
    1e-3,
    1e-6,
    10.0,
)  # of the time between two looks: distances over which a function with a pole grows so
PARTIAL = frozenset(("sqrt", "asin", "acos", "log", "**", "exp", "sinh", "cosh"))
"""What has no value for some numbers, or one beyond floats."""
MOST_KNOWN = 256  # functions and times about which it is remembered what was found, as runs are repeated
GOLDEN = (math.sqrt(5) - 1) / 2


def programs(element: Element) -> Iterator[Program]:
    """The functions of time among the values of an element."""
    for key, kind in kinds(type(element)).items():
        if kind and kind.name in ("time", "times"):
            values = getattr(element, key) if kind.name == "times" else (getattr(element, key),)
            yield from (each for each in values if isinstance(each, tuple))


@functools.lru_cache(maxsize=MOST_KNOWN)
def first_pole(program: Program, start: float, end: float) -> float | None:
    """The first time from start to end [s] at which a function of time has a pole; None if there is none.

    Examples
    --------
    >>> from mbvi.model.expressions import postfix
    >>> round(first_pole(postfix("1/(t - 0.3)", {}), 0.0, 1.0), 12)
    0.3
    >>> first_pole(postfix("sin(t)/t", {}), -1.0, 1.0) is None
    True
    """
    step = (end - start) / MOST_TIMES
    found = (zero for divisor in divisors(program) for zero in zeros(divisor, start, end))
    return min((zero for zero in found if _is_pole(program, zero, step)), default=None)


@functools.lru_cache(maxsize=MOST_KNOWN)
def first_gap(program: Program, start: float, end: float) -> float | None:
    """The first time from start to end [s] from which a function of time has no value for a while; None if there is none.

    Examples
    --------
    >>> from mbvi.model.expressions import postfix
    >>> first_gap(postfix("sqrt(0.5 - t)", {}), 0.0, 1.0), first_gap(postfix("sqrt(t)", {}), 0.0, 1.0)
    (0.5000000000000001, None)
    """
    if "t" not in program or PARTIAL.isdisjoint(program):
        return None
    low = start
    for i in range(MOST_TIMES):
        # No time at which one value alone is missing falls on these.
        high = start + (end - start) * (i + GOLDEN) / MOST_TIMES
        if not math.isfinite(value_at(program, high)):
            return start if i == 0 else _first_without(program, low, high)
        low = high
    return None


def _first_without(program: Program, low: float, high: float) -> float:
    """The first time at which a function has no value, between a time at which it has one and a time at which it has none."""
    for _ in range(REFINED):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if math.isfinite(value_at(program, middle)) else (low, middle)
    return high


def is_empty_quotient(program: Program, t: float) -> bool:
    """Whether a function of time has no value at a time because it divides 0 by 0 there."""
    return any(
        item == "/" and value_at(operands[0], t) == value_at(operands[1], t) == 0
        for item, operands in operations(program)
    )


def operations(program: Program) -> Iterator[tuple[str, list[Program]]]:
    """Every operation of a program, and the programs of its operands."""
    stack: list[Program] = []
    for item in program:
        if isinstance(item, float) or item == "t":
            stack.append((item,))
            continue
        count = 1 if item in UNARY or item == "neg" else 2
        operands = stack[-count:]
        yield item, operands
        stack[-count:] = [(*(part for operand in operands for part in operand), item)]


def divisors(program: Program) -> Iterator[Program]:
    """The parts of a program whose zeros may be its poles."""
    for item, operands in operations(program):
        divisor: Program = ()
        if item == "/":
            divisor = operands[1]
        elif item == "**" and not value_at(operands[1], 0.0) >= 0:
            divisor = operands[0]
        elif item == "tan":
            divisor = (*operands[0], "cos")
        if "t" in divisor:
            yield divisor


def zeros(divisor: Program, start: float, end: float) -> Iterator[float]:
    """Times at which a divisor is 0, as far as they lie apart."""
    times = [start + (end - start) * i / MOST_TIMES for i in range(MOST_TIMES + 1)]
    values = [value_at(divisor, t) for t in times]
    for i, value in enumerate(values):
        if value == 0:
            yield times[i]
        elif i and value * values[i - 1] < 0:
            yield _bisected(divisor, times[i - 1], times[i])
        elif 0 < i < MOST_TIMES and abs(value) <= min(abs(values[i - 1]), abs(values[i + 1])):
            t = _minimum(divisor, times[i - 1], times[i + 1])
            if abs(value_at(divisor, t)) <= TOUCHES * max(abs(values[i - 1]), abs(values[i + 1])):
                yield t


def _bisected(divisor: Program, low: float, high: float) -> float:
    """Where a divisor changes its sign."""
    sign = value_at(divisor, low)
    for _ in range(REFINED):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if value_at(divisor, middle) * sign > 0 else (low, middle)
    return high


def _minimum(divisor: Program, low: float, high: float) -> float:
    """Where the size of a divisor is least, by golden sections."""
    for _ in range(REFINED):
        a, b = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        low, high = (low, b) if abs(value_at(divisor, a)) < abs(value_at(divisor, b)) else (a, high)
    return 0.5 * (low + high)


def _is_pole(program: Program, t: float, step: float) -> bool:
    """Whether a function grows on one of the sides of a time as a power of the distance does."""
    for side in (-1, 1):
        far, near = (abs(value_at(program, t + side * part * step)) for part in (NEAR, NEARER))
        if near > GROWTH * far or (math.isnan(near) and not math.isnan(far)):
            return True
    return False
