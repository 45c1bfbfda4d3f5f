"""Poses of frames in other frames, and how they follow one another."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbvi.model.rotations import rotation_matrix

Floats = NDArray[np.float64]


class Pose(NamedTuple):
    """A frame in another one.

    place    (3,)    of its origin  [m]
    turned   (3, 3)  rotation matrix of its orientation
    """

    place: Floats
    turned: Floats

    def then(self, inner: Pose) -> Pose:
        """The pose, in the same frame as this one, of a frame whose pose in this one is given."""
        return Pose(self.place + self.turned @ inner.place, self.turned @ inner.turned)

    def inverse(self) -> Pose:
        """The pose of the other frame in this one."""
        return Pose(-self.turned.T @ self.place, self.turned.T)

    @property
    def position(self) -> tuple[Any, ...]:
        """The place as elements of models have it."""
        return tuple(self.place.tolist())

    @property
    def orientation(self) -> tuple[Any, ...]:
        """The orientation as elements of models have it: a unit quaternion w, x, y, z, or the rotation vector 0."""
        from scipy.spatial.transform import Rotation

        if np.array_equal(self.turned, np.eye(3)):
            return (0.0, 0.0, 0.0)
        return tuple(np.roll(Rotation.from_matrix(self.turned).as_quat(canonical=True), 1).tolist())


AT_ORIGIN = Pose(np.zeros(3), np.eye(3))


def fixed_angles(angles: Any) -> tuple[float, ...]:
    """The orientation of turns about the fixed axes x, y and z, in this order, by three angles [rad].

    It is a unit quaternion w, x, y, z, or the rotation vector 0.
    """
    if not any(angles):
        return (0.0, 0.0, 0.0)
    (a, b, c), (sa, sb, sc) = (each(np.array(angles) / 2).tolist() for each in (np.cos, np.sin))
    w, x = a * b * c + sa * sb * sc, sa * b * c - a * sb * sc
    return w, x, a * sb * c + sa * b * sc, a * b * sc - sa * sb * c


def posed(place: Any, orientation: Any) -> Pose:
    """The pose of a place (3,) and an orientation, a quaternion w, x, y, z or a rotation vector."""
    return Pose(np.array(place, dtype=float), rotation_matrix(orientation))
