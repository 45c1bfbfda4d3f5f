"""Corners of functions of time: times at which abs, min or max go over to another branch, so that the rate jumps.

At a corner of a prescribed motion the velocity jumps, by an impulse that no step resolves. A corner of a force inside a step
lowers the order of a scheme. A function whose rate does not jump, as max(0, t)**3, has no corner.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from mbvi.model.description import Description
from mbvi.model.expressions import Program, infix, value_at
from mbvi.model.poles import MOST_TIMES, operations, programs, zeros
from mbvi.model.tables import within_steps

FAR, NEAR = 1e-3, 1e-5  # of the time between two looks: distances at which rates are compared
LASTING = 0.5  # part of a jump at the larger distance that is left of it at the smaller
LEAST = 1e-6  # jump of the rate, relative to it, or to the value and the length of the run


class Corner(NamedTuple):
    """A time [s], and the rates before and after it [1/s]."""

    time: float
    before: float
    after: float


def corners(program: Program, start: float, end: float) -> list[Corner]:
    """The corners of a function of time within a run, in their order.

    Examples
    --------
    >>> from mbvi.model.expressions import postfix
    >>> [round(each.time, 12) for each in corners(postfix("abs(t - 0.505) + max(0, t - 1)**3", {}), 0.0, 2.0)]
    [0.505]
    """
    times = {zero for switch in _switches(program) for zero in zeros(switch, start, end) if start < zero < end}
    found = (_corner(program, time, start, end) for time in sorted(times))
    return [corner for corner in found if corner is not None]


def _switches(program: Program) -> Iterator[Program]:
    """What changes its sign where abs, min or max go over to another branch."""
    for item, operands in operations(program):
        switch = operands[0] if item == "abs" else (*operands[0], *operands[1], "-") if item in ("min", "max") else ()
        if "t" in switch:
            yield switch


def _corner(program: Program, time: float, start: float, end: float) -> Corner | None:
    """The corner at a time, if there is one: its jump stays the nearer one looks."""
    far, near = (_rates(program, time, part * (end - start) / MOST_TIMES) for part in (FAR, NEAR))
    jump, before = abs(near[1] - near[0]), abs(far[1] - far[0])
    distance = NEAR * (end - start) / MOST_TIMES
    size = max(map(abs, near))
    least = LEAST * (size + abs(value_at(program, time)) / (end - start)) + 4 * size * math.ulp(time) / distance
    return Corner(time, *near) if jump > LASTING * before and jump > least else None


def _rates(program: Program, time: float, distance: float) -> tuple[float, float]:
    """The rates before and after a time, from values at so small a distance."""
    far_before, before, after, far_after = (value_at(program, time + i * distance) for i in (-2, -1, 1, 2))
    return (before - far_before) / distance, (far_after - after) / distance


def corners_of_motions(model: Description, start: float, end: float) -> Iterator[str]:
    """Prescribed motions of a resolved model whose rates jump within a run: where, and the first jump."""
    for name, element in model.constraints.items():
        for program in programs(element):
            for corner in corners(program, start, end)[:1]:
                yield (
                    f"constraints.{name}: the rate of {infix(program)} jumps from {corner.before:.4g} to {corner.after:.4g} per "
                    f"second at t = {corner.time:.6g} s, as in an impact, which no step resolves; prescribe a motion without "
                    "corners"
                )


def corners_in_steps(model: Description, step: float, end: float) -> Iterator[str]:
    """Forces of a resolved model with corners within steps of a run from 0, where few orders of a scheme are left."""
    for name, element in model.forces.items():
        for program in programs(element):
            inside = within_steps([corner.time for corner in corners(program, 0.0, end)], step, end)
            if len(inside):
                what = f"{infix(program)} has corners within steps, first at t = {inside[0]:.6g} s"
                yield f"forces.{name}: {what}, where order 2 is left; let steps end there"
