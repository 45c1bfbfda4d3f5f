"""Joints as sequences of elementary joints, which the links of the kernels have: revolute, prismatic, screw, unit quaternion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mbvi.kernels import layout
from mbvi.model.joints import Joint
from mbvi.model.motions import ElementaryMotion
from mbvi.recording import array, plain

Array = np.ndarray
KINDS = {
    "turn": layout.REVOLUTE,
    "slide": layout.PRISMATIC,
    "screw": layout.SCREW,
    "quaternion": layout.QUATERNION,
}


class Elementary(NamedTuple):
    """One elementary joint: kind, axis in the joint frame, and advance per coordinate."""

    kind: int
    axis: Array
    pitch: float


def elementary_joints(joint: Joint) -> list[Elementary]:
    """The sequence of elementary joints of a resolved joint, one per coordinate (one for the four of a quaternion)."""
    return [elementary(motion) for motion in joint.motions()]


def elementary(motion: ElementaryMotion) -> Elementary:
    """The elementary joint of an elementary motion."""
    return Elementary(KINDS[motion.kind], array(motion.axis), plain(motion.pitch))
