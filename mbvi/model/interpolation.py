"""Tables as piecewise cubic polynomials, and where a spline through one leaves the values that it has.

    f(t) = c₀ + c₁ z + c₂ z² + c₃ z³,   z = t − t_i,   t_i ≤ t < t_{i+1}

All interpolations are of this form: `hold` has c₀ alone, `linear` c₀ and c₁, `smooth` the slopes of Fritsch and Butland at the
entries, with which f keeps between its neighbours, `spline` those with which f″ is continuous. A time that stands twice parts
a table into two, each with an interpolation of its own.

Sources: Fritsch & Butland, SIAM J. Sci. Stat. Comput. 5 (1984); de Boor, A Practical Guide to Splines (1978), chapter IV.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mbvi.model.expressions import Problem, show, wrong
from mbvi.model.fields import Table

Array = np.ndarray
BEYOND = 0.1
"""How far a spline may leave its neighbours, relative to the range of the entries near."""
NEAR = 2
"""Entries on each side of the two neighbours that are near."""
LAST = 1e-14
"""Relative: what rounding may leave of the last time of a run."""
ROUNDING = 1e-9
"""Difference of values, relative to them, below which a spline does not leave them."""


class Cubics(NamedTuple):
    """A piecewise cubic polynomial.

    breaks         (m,)        increasing times [s]
    coefficients   (m + 1, 4)  c₀ … c₃ of the piece before the first break, of those between breaks, and of that after the last
    """

    breaks: Array
    coefficients: Array


class Overshoot(NamedTuple):
    """Where a spline is farthest from its neighbours.

    value, time      what it reaches there, and when [s]
    before, after    times and values (2,) of the entries between which it lies
    rate             largest size of the rate, of all of the table
    """

    value: float
    time: float
    before: Array
    after: Array
    rate: float

    def size(self) -> float:
        """The distance by which it leaves the range between its neighbours."""
        return max(self.value - max(self.before[1], self.after[1]), min(self.before[1], self.after[1]) - self.value)


def cubics(table: Table, goes_on: bool) -> Cubics:
    """A resolved table as polynomials.

    Before its first entry and after its last it has their values; if it goes on, it continues at its rates there.
    """
    times, values = np.array(table.times, dtype=float), np.array(table.values, dtype=float)
    if table.interpolation == "hold":
        last_at = np.append(np.diff(times) > 0, True)  # of a time that stands twice, the second value is held
        breaks, inner = times[last_at], _constant(values[last_at][:-1])
    else:
        parts = list(_parts(times, values))
        breaks = np.unique(times)
        inner = np.concatenate([_pieces(*part, table.interpolation) for part in parts if len(part[0]) > 1])
    first, last = _constant(values[:1]), _constant(values[-1:])
    if goes_on:
        breaks[-1] += LAST * abs(breaks[-1])  # a run that ends with the table ends within it, with its acceleration
        first[0, 1] = inner[0, 1]
        last[0, :2] = _jet(inner[-1], breaks[-1] - breaks[-2])
    return Cubics(breaks, np.concatenate([first, inner, last]))


def rate_problems(table: Table) -> Iterator[Problem]:
    """Polynomials of a table, otherwise without problems, that are not finite."""
    try:
        with np.errstate(all="ignore"):
            is_finite = np.isfinite(cubics(table, goes_on=True).coefficients).all()
    except ValueError:  # raised by the spline, whose equations are not finite
        is_finite = False
    if not is_finite:
        found = f"{show(table.values)} at {show(table.times)}"
        yield Problem(("values",), wrong("values whose rates are finite", found, "check the times"))


def _constant(values: Array) -> Array:
    """Coefficients (m, 4) of constant pieces."""
    found = np.zeros((len(values), 4))
    found[:, 0] = values
    return found


def _parts(times: Array, values: Array) -> Iterator[tuple[Array, Array]]:
    """Times and values between jumps."""
    jumps = np.flatnonzero(np.diff(times) == 0) + 1
    return zip(np.split(times, jumps), np.split(values, jumps), strict=True)


def _pieces(times: Array, values: Array, interpolation: str | None) -> Array:
    """Coefficients (m − 1, 4) of a table without jumps."""
    from scipy.interpolate import CubicSpline, PchipInterpolator  # takes a fifth of a second to import

    if interpolation == "linear":
        found = _constant(values[:-1])
        found[:, 1] = np.diff(values) / np.diff(times)
        return found
    spline = CubicSpline if interpolation == "spline" else PchipInterpolator
    with np.errstate(over="ignore"):  # of slopes that are hardly any, whose harmonic means are 0
        return spline(times, values).c[::-1].T


def _jet(c: Array, z: Array) -> tuple[Array, Array]:
    """f and f′ of pieces with coefficients c (…, 4) at z (…)."""
    value = c[..., 0] + z * (c[..., 1] + z * (c[..., 2] + z * c[..., 3]))
    return value, c[..., 1] + z * (2 * c[..., 2] + z * 3 * c[..., 3])


def find_overshoot(table: Table) -> Overshoot | None:
    """Where the spline through a resolved table leaves its two neighbours most, if it does so somewhere by more than a tenth of
    the range of the entries near; else None.

    The range is that of the neighbours and of two entries on each side of them: that of the neighbours alone is nothing where
    they lie on both sides of the top of a smooth curve.
    """
    if table.interpolation != "spline":
        return None
    parts = _parts(np.array(table.times), np.array(table.values))
    found = [_largest(*part) for part in parts if len(part[0]) > 1]
    return max(filter(None, found), key=Overshoot.size, default=None)


def _largest(times: Array, values: Array) -> Overshoot | None:
    """The `Overshoot` between entries without jumps, if there is one."""
    c, widths = _pieces(times, values, "spline"), np.diff(times)
    low, high = np.minimum(values[:-1], values[1:]), np.maximum(values[:-1], values[1:])
    near = np.lib.stride_tricks.sliding_window_view(np.pad(values, NEAR, mode="edge"), 2 * NEAR + 2)
    bends = _bends(c, widths)
    reached = _jet(c[:, None], bends)[0]
    beyond = np.maximum(reached - high[:, None], low[:, None] - reached) - ROUNDING * np.abs(values).max()
    if not (beyond > BEYOND * np.ptp(near, axis=1)[:, None]).any():
        return None
    i, j = np.unravel_index(np.argmax(beyond), beyond.shape)
    turn = np.clip(-_quotient(c[:, 2], 3 * c[:, 3]), 0, widths)  # where f″ = 0
    rate = max(float(np.abs(_jet(c, z)[1]).max()) for z in (0 * widths, turn, widths))
    before, after = (np.array([times[k], values[k]]) for k in (i, i + 1))
    return Overshoot(float(reached[i, j]), float(times[i] + bends[i, j]), before, after, rate)


def _bends(c: Array, widths: Array) -> Array:
    """The two places (m, 2) of every piece where f′ = 0, or one of its ends where there is none within."""
    a, b = 3 * c[:, 3], c[:, 2]  # f′ = c₁ + 2 b z + a z²
    root = np.sqrt(np.maximum(b * b - a * c[:, 1], 0))
    larger = -(b + np.copysign(root, b))
    return np.clip(np.stack([_quotient(larger, a), _quotient(c[:, 1], larger)], axis=1), 0, widths[:, None])


def _quotient(x: Array, y: Array) -> Array:
    """x/y, 0 where y is 0."""
    return np.divide(x, y, out=np.zeros_like(x), where=y != 0)
