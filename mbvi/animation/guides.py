"""Lines, planes and curves on which constraints keep points: wires along them, as far as the points go and a little further."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from mbvi.animation.geometry import Geometry, hull, merged, rotation_to, tube
from mbvi.model.expressions import value_at
from mbvi.model.holds import Across, Hold, OnCurve
from mbvi.model.model import Model

Array = np.ndarray
MARGIN = 0.1
"""How much longer a wire is at each end than the way of the point, in the size of the scene."""
TURN_PIECES, FEWEST_PIECES, MOST_PIECES = 120, 60, 3000
"""Number of pieces of a curve: for a parameter that grows by 2π, the least, and the most."""


class Guide(NamedTuple):
    """What keeps a point on a line, a plane or a curve, and the body and point of the guide and of what it guides."""

    hold: Hold
    of: tuple[str, Any]
    guided: tuple[str, Any]


def guides(model: Model) -> dict[str, Guide]:
    """The guides among the constraints of a model of numbers, by name."""
    found = {}
    for name, element in model.constraints.items():
        for hold in element.holds():
            if isinstance(hold, OnCurve) or (isinstance(hold, Across) and len(hold.directions) < 3):
                found[name] = Guide(hold, *element.ends())  # type: ignore[union-attr]
    return found


def wires(guide: Guide, way: Array, s: Array, size: float, radius: float) -> Geometry:
    """The wires of a guide, in the frame of the body that it belongs to.

    Parameters
    ----------
    guide : Guide
        One of those of a model.
    way : ndarray (F, 3)
        Places of the point in that frame [m].
    s : ndarray (F,)
        Values of the curve's parameter; of other guides any.
    size : float
        The size of the scene [m].
    radius : float
        The radius of the wires [m].
    """
    margin, place = MARGIN * size, np.array(guide.of[1], dtype=float)
    match guide.hold:
        case Across((first, second)):
            along = np.cross(first, second)
            reach = (way - place) @ along
            return hull([place + end * along for end in (reach.min() - margin, reach.max() + margin)], radius)
        case Across((normal,)):
            return _border(place, np.array(normal, dtype=float), way, margin, radius)
        case OnCurve() as curve:
            return tube(_curve(curve, s, margin), radius)
    raise TypeError(f"nothing is drawn for {guide.hold!r}")


def _border(place: Array, normal: Array, way: Array, margin: float, radius: float) -> Geometry:
    """The border of a rectangle in a plane."""
    axes = rotation_to(normal)[:, :2]
    reach = (way - place) @ axes
    (x0, y0), (x1, y1) = reach.min(axis=0) - margin, reach.max(axis=0) + margin
    corners = place + np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)]) @ axes.T
    return merged([hull(ends, radius) for ends in zip(corners, np.roll(corners, -1, axis=0), strict=True)])


def _curve(curve: OnCurve, s: Array, margin: float) -> Array:
    """Points (n, 3) of a curve; of one that is closed after 2π, as circles are, one round."""
    first, last = float(s.min()), float(s.max())
    ends = [_point(curve, value) for value in (first, first + 2 * math.pi, first + 1.0, first + 1.0 + 2 * math.pi)]
    is_closed = np.allclose(ends[0::2], ends[1::2], rtol=0, atol=1e-9 * margin)
    if is_closed:
        first, last = first, first + 2 * math.pi
    else:
        first, last = first - _further(curve, first, -1, margin), last + _further(curve, last, 1, margin)
    pieces = int(np.clip((last - first) / (2 * math.pi) * TURN_PIECES, FEWEST_PIECES, MOST_PIECES))
    points = np.array([_point(curve, value) for value in np.linspace(first, last, pieces + 1)])
    return points[np.isfinite(points).all(axis=1)]


def _further(curve: OnCurve, s: float, sign: int, margin: float) -> float:
    """How much the parameter changes along a further length of the curve; none if the curve has an end near."""
    step = 1e-6 * max(1.0, abs(s))
    speed = float(np.linalg.norm(_point(curve, s + sign * step) - _point(curve, s))) / step
    more = margin / speed if speed > 0 else 0.0
    return more if np.isfinite(_point(curve, s + sign * more)).all() else 0.0


def _point(curve: OnCurve, s: float) -> Array:
    with np.errstate(all="ignore"):
        return np.array([value_at(each, s) if isinstance(each, tuple) else float(each) for each in curve.curve])
