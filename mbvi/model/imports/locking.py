"""Joints that are locked on import: welds in the place where their coordinates put the child."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbvi.model.joints import Joint, Weld
from mbvi.model.rotations import rotation_matrix

Floats = NDArray[np.float64]


def zero_of(joint: Joint) -> Floats:
    """The coordinates of a joint (n,) at which parent and child are as its orientation says: zeros, or the identity."""
    return np.array([float(name == "qw") for name in joint.coordinate_names])


def locked(joint: Joint, q: Floats) -> Weld:
    """A joint, in numbers, welded at the coordinates q (n,)."""
    from scipy.spatial.transform import Rotation

    turned, place, left = np.eye(3), np.array(joint.position, dtype=float), list(q)
    for motion in joint.replaced(joint.canonical()).motions():
        own, left = left[: len(motion.names)], left[len(motion.names) :]
        if motion.kind == "quaternion":
            turned = turned @ rotation_matrix(own)
            continue
        axis = np.array(motion.axis, dtype=float)
        place = place + turned @ axis * (float(motion.pitch) * own[0])
        if motion.kind != "slide":
            turned = turned @ rotation_matrix(axis * own[0])
    whole = np.roll(Rotation.from_matrix(turned @ rotation_matrix(joint.orientation)).as_quat(), 1)
    pose: dict[str, Any] = {"position": place.tolist(), "orientation": whole.tolist(), "offset": joint.offset}
    return Weld(parent=joint.parent, child=joint.child, **pose)
