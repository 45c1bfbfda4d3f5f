"""Joints as sequences of elementary joints: revolute, prismatic, screw, unit quaternion."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mbvi.kernels import layout
from mbvi.model.joints import Ball, Cylindrical, Free, Joint, Planar, Prismatic, Revolute, Screw, Universal, Weld

Array = np.ndarray


class Elementary(NamedTuple):
    """One elementary joint: kind, axis in the joint frame, and advance per coordinate."""

    kind: int
    axis: Array
    pitch: float


def elementary_joints(joint: Joint) -> list[Elementary]:
    """The sequence of elementary joints of a resolved joint, one per coordinate (one for the four of a quaternion)."""
    match joint:
        case Weld():
            return []
        case Revolute():
            return [revolute(joint.axis)]
        case Prismatic():
            return [prismatic(joint.axis)]
        case Screw():
            return [Elementary(layout.SCREW, np.array(joint.axis), float(joint.pitch))]
        case Cylindrical():
            return [revolute(joint.axis), prismatic(joint.axis)]
        case Universal():
            return [revolute(joint.axes[0]), revolute(joint.axes[1])]
        case Planar():
            normal, x = np.array(joint.normal), np.array(joint.x_axis)
            return [prismatic(x), prismatic(np.cross(normal, x)), revolute(normal)]
        case Ball():
            return rotation(joint.coordinates)
        case Free():
            return [*translation(), *rotation(joint.coordinates)]
    raise TypeError(f"no elementary joints are known for {type(joint).__name__}")


def revolute(axis: Any) -> Elementary:
    """Rotation about an axis."""
    return Elementary(layout.REVOLUTE, np.array(axis), 0.0)


def prismatic(axis: Any) -> Elementary:
    """Translation along an axis."""
    return Elementary(layout.PRISMATIC, np.array(axis), 1.0)


def translation() -> list[Elementary]:
    """Translation along x, y, z."""
    return [prismatic(axis) for axis in np.eye(3)]


def rotation(coordinates: str) -> list[Elementary]:
    """Rotation by a unit quaternion or by three angles."""
    if coordinates == "quaternion":
        return [Elementary(layout.QUATERNION, np.array([0.0, 0.0, 1.0]), 0.0)]
    return [revolute(np.eye(3)["xyz".index(letter)]) for letter in coordinates]
