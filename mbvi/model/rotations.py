"""Orientations as unit quaternions and as rotation matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def quaternion(orientation: ArrayLike) -> Floats:
    """The unit quaternion (w, x, y, z) of an orientation: a rotation vector (3,) [rad] or a quaternion (4,)."""
    values = np.array(orientation, dtype=float)
    if values.size == 4:
        return values / np.linalg.norm(values)
    angle = float(np.linalg.norm(values))
    return np.array([np.cos(angle / 2), *(values * (np.sinc(angle / (2 * np.pi)) / 2))])


def rotation_matrix(orientation: ArrayLike) -> Floats:
    """The rotation matrix (3, 3) of an orientation: a rotation vector (3,) [rad] or a quaternion (4,)."""
    w, x, y, z = quaternion(orientation)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross
