"""The friction of stops by their own force: along which tangent it acts, and what holds or pushes there.

Where a stop is closed its two sides slip along the tangents of its surface. Friction acts on a stop whose sides slip along one of
these alone, as in a motion in a plane: that one is found at the start. Of a point on a plane it is a direction fixed in the
plane, and the point that sticks is held by a constraint. What is round rolls while it sticks, and its slip is a velocity along
two tangents that `mbvi.kernels.mechanics.rolling` knows, of which it has constant parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mbvi.errors import ModelError
from mbvi.model.constraints import PointOnPlane
from mbvi.model.contacts import Stop
from mbvi.model.expressions import wrong
from mbvi.model.holds import normals
from mbvi.model.touching import friction_name
from mbvi.system.forms import Held

Array = np.ndarray
ONE_WAY = 1e-12  # largest part of the mobility along a tangent that there may be across it
SNAP = 1e-12  # component of a direction that is rounding


class Rub(NamedTuple):
    """The friction of a stop, by the force of that.

    name              of the stop, with friction
    stop              number of the stop
    kinetic, static   coefficients
    is_round          whether its sides roll while they stick
    """

    name: str
    stop: int
    kinetic: float
    static: float
    is_round: bool


def rubs_of(stops: tuple[Stop, ...]) -> tuple[Rub, ...]:
    """The frictions of stops."""
    return tuple(
        Rub(friction_name(each), i, *each.friction, not isinstance(each.held, PointOnPlane))
        for i, each in enumerate(stops)
        if each.friction[1] > 0
    )


def rolls(stop: Stop) -> Stop:
    """A stop of what is round, which rolls while it is closed."""
    return stop._replace(held=stop.held.model_copy(update={"slips": False}))


def along(stop: Stop, directions: Array) -> list[Held]:
    """Constraints that hold the point of a stop along directions (., 3) in the plane, in the frame of body_a."""
    held = stop.held
    names = (friction_name(stop), f"{stop.name}.across")
    return [
        Held(
            name,
            PointOnPlane.model_construct(
                normal=tuple(direction.tolist()),
                point_a=held.point_a,
                point_b=held.point_b,
                body_a=held.body_a,
                body_b=held.body_b,
                height=0.0,
            ),
        )
        for name, direction in zip(names, directions, strict=False)
    ]


def basis(stop: Stop) -> Array:
    """Two directions (2, 3) along the plane of a stop, in the frame of body_a."""
    return np.array([[float(x) for x in each] for each in normals(stop.held.normal)])


def slip_parts(rub: Rub, T: Array, responses: Callable[[Array], Array]) -> Array:
    """The parts (2,) of the slip along two tangents, of which the rows are T (2, n).

    Raises
    ------
    ModelError
        If the sides of the stop slip along both, or along none.
    """
    mobility = T @ responses(T).T
    sizes, vectors = np.linalg.eigh(0.5 * (mobility + mobility.T))
    where = f"contacts.{rub.name}"
    if not sizes[1] > 0.0:
        found = "one whose sides do not slip against each other, or only as drives move them"
        raise ModelError(f"{where}: {wrong('a stop that slips', found, 'leave the friction out')}")
    if sizes[0] > ONE_WAY * sizes[1]:
        found = "one that slips along both tangents of its surface"
        remedy = "hold the motion in a plane, as by a planar joint, or leave the friction out"
        raise ModelError(f"{where}: {wrong('a stop that slips along one direction', found, remedy)}")
    parts = np.where(np.abs(vectors[:, 1]) > SNAP, vectors[:, 1], 0.0)
    return parts * np.sign(parts[np.argmax(np.abs(parts))]) / np.linalg.norm(parts)


def tangent_of(stop: Stop, parts: Array) -> Array:
    """The direction of the slip of a point on a plane, and that across it (2, 3), forwards along its largest component."""
    directions = basis(stop)
    slip = parts @ directions
    slip = np.where(np.abs(slip) > SNAP, slip, 0.0)
    slip *= np.sign(slip[np.argmax(np.abs(slip))]) / np.linalg.norm(slip)
    return np.stack([slip, np.cross([float(x) for x in stop.held.normal], slip)])
