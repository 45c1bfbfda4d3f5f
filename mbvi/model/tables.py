"""What tables of a model say that its author may not mean: splines that swing, ends within a run, kinks within steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mbvi.model.base import Element
from mbvi.model.description import Description
from mbvi.model.expressions import Where, dotted
from mbvi.model.fields import Table, kinds
from mbvi.model.interpolation import cubics, find_overshoot

ON_GRID = 1e-6
"""Part of a step by which a kink may be away from its end."""


class Placed(NamedTuple):
    """A table of a resolved model, where it stands, and whether it is a prescribed motion."""

    where: str
    table: Table
    is_motion: bool


def tables(model: Description) -> Iterator[Placed]:
    """The tables of the forces and constraints of a resolved model."""
    for section in ("forces", "constraints"):
        for name, element in getattr(model, section).items():
            yield from _of_element(element, (section, name))


def _of_element(element: Element, where: Where) -> Iterator[Placed]:
    for key, kind in kinds(type(element)).items():
        if kind is None or kind.name not in ("time", "times"):
            continue
        value = getattr(element, key)
        parts = (
            [((*where, key), value)] if kind.name == "time" else [((*where, key, i), x) for i, x in enumerate(value)]
        )
        yield from (Placed(dotted(place), part, kind.is_motion) for place, part in parts if isinstance(part, Table))


def overshoots(model: Description) -> Iterator[str]:
    """Where splines through tables leave the values that these have."""
    for where, table, _ in tables(model):
        if found := find_overshoot(table):
            (t0, x0), (t1, x1) = found.before, found.after
            yield (
                f"{where}: the spline through its table reaches {found.value:.4g} at t = {found.time:.6g} s, between {x0:.6g} at "
                f"{t0:.6g} s and {x1:.6g} at {t1:.6g} s, and rates of {found.rate:.3g} per second; write interpolation: smooth, "
                "which stays between the entries, or add entries there"
            )


def short_tables(model: Description, duration: float) -> Iterator[str]:
    """Tables that do not cover a run."""
    for where, table, is_motion in tables(model):
        first, last = float(table.times[0]), float(table.times[-1])
        if first > 0 or last < duration:
            span = f"a table from {first:.6g} s to {last:.6g} s for a run from 0 s to {duration:.6g} s"
            yield f"{where}: {span}; outside it {_beyond(table) if is_motion else 'keeps its end values'}"


def _beyond(table: Table) -> str:
    coefficients = cubics(table, goes_on=True).coefficients
    return f"goes on at its end rates, {coefficients[0, 1]:.4g} and {coefficients[-1, 1]:.4g} per second"


def kinks_in_steps(model: Description, step: float, end: float) -> Iterator[str]:
    """Tables of forces with jumps or corners within steps, where few orders of a scheme are left."""
    for where, table, _ in tables(model):
        times = np.unique(table.times) if table.interpolation in ("linear", "hold") else np.empty(0)
        jumps = times if table.interpolation == "hold" else _repeated(np.array(table.times))
        for what, places, order in (("jumps", jumps, 1), ("has corners", np.setdiff1d(times, jumps), 2)):
            inside = within_steps(places, step, end)
            if len(inside):
                place = f"first at t = {inside[0]:.6g} s"
                yield f"{where}: {what} within steps, {place}, where order {order} is left; let steps end there"
                break


def within_steps(times: ArrayLike, step: float, end: float) -> np.ndarray:
    """The times [s] that are within steps of a run from 0."""
    found = np.asarray(times, dtype=float)
    found = found[(found > 0) & (found < end)]
    return found[np.abs(found / step - np.round(found / step)) > ON_GRID]


def _repeated(times: np.ndarray) -> np.ndarray:
    return times[1:][np.diff(times) == 0]
