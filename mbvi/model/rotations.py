"""Orientations as unit quaternions and as rotation matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbvi.recording import apply, array, dot, norm

Floats = NDArray[np.float64]


def quaternion(orientation: ArrayLike) -> Floats:
    """The unit quaternion (w, x, y, z) of an orientation: a rotation vector (3,) [rad] or a quaternion (4,)."""
    values = array(orientation)
    if values.size == 4:
        return values / norm(values)
    angle = norm(values)
    factor = apply("sin", angle / 2) / angle if angle else 0.5
    return array([apply("cos", angle / 2), *(values * factor)])


def rotation_matrix(orientation: ArrayLike) -> Floats:
    """The rotation matrix (3, 3) of an orientation: a rotation vector (3,) [rad] or a quaternion (4,)."""
    w, x, y, z = quaternion(orientation)
    cross = array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + 2 * w * cross + 2 * dot(cross, cross)
