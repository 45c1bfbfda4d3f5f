"""The numbers of joints that decide whether loops fit: places, axes and orientations, their changes, and what these change.

A change of a joint's number moves its child against its parent by a twist t: angular velocity ω, and velocity v of the point at
the world's origin. With the joint's frame at x_a, R_a on the parent and at x_b, R_b on the child, those of a change δ in the
joint's frame (ω@x turns about x) are

    position     v = R_parent δ                      axis           R_a δ @ x_a − R_b δ @ x_b
    offset       v = −R_child δ                      orientation    R_b δ @ x_b

where of two axes the first is turned between the frames a and that behind its own motion, the second between this and b.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mbvi.kernels.mechanics.lagrangian import fill_wrenches
from mbvi.model.directions import quaternion, unit
from mbvi.model.joints import Joint
from mbvi.model.model import Model
from mbvi.model.rotations import rotation_matrix
from mbvi.system.base import BaseSystem
from mbvi.system.closures import Closure
from mbvi.system.poses import Pose, all_poses

Array = np.ndarray
IDENTITY = (1.0, 0.0, 0.0, 0.0)
LENGTHS = "position", "offset"
FIELDS = *LENGTHS, "axis", "normal", "x_axis", "axes", "orientation"


class Number(NamedTuple):
    """A place, a direction or an orientation of a joint, which has three changes.

    joint   str
    field   str   position, offset, axis, normal, axes or orientation
    which   int   of two axes, which; 0 of others
    """

    joint: str
    field: str
    which: int = 0


def numbers(closure: Closure) -> list[Number]:
    """The numbers of a loop's joints; none of those of point masses, which have no axes."""
    system, found = closure.system, []
    assert system.model is not None and system.homes is not None
    joints = system.model.resolved().joints
    points = {body for body, (_, is_point) in system.homes.roots.items() if is_point}
    for name in dict.fromkeys(joint for each in closure.signs for joint in each):
        joint = joints[name]
        if points.isdisjoint((joint.parent, joint.child)):
            found += [Number(name, field) for field in (*LENGTHS, "axis", "normal") if hasattr(joint, field)]
            found += [Number(name, "axes", i) for i in (0, 1) if hasattr(joint, "axes")]
            found += [Number(name, "orientation")] if tuple(joint.orientation) != IDENTITY else []
    return found


def changed(model: Model, of: Sequence[Number], changes: Array, size: float) -> Model:
    """A resolved model with changes (numbers, 3) of some numbers, those of places in parts of a size [m]."""
    joints = dict(model.joints)
    for number, change in zip(of, changes, strict=True):
        joint = joints[number.joint]
        joints[number.joint] = joint.replaced(
            _changed(joint, number, change * (size if number.field in LENGTHS else 1))
        )
    return model.replaced({"joints": joints})


def _changed(joint: Any, number: Number, change: Array) -> dict[str, Any]:
    """The fields of a joint with one number changed."""
    value: Any = getattr(joint, number.field)
    if number.field in LENGTHS:
        return {number.field: tuple((np.array(value) + change).tolist())}
    turn = rotation_matrix(change)
    if number.field == "orientation":
        w, x, y, z = quaternion(change.tolist())
        left = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
        return {"orientation": quaternion((left @ np.array(value)).tolist())}
    if number.field == "axes":
        axes = [unit(turn @ np.array(axis)) if i == number.which else axis for i, axis in enumerate(value)]
        return {"axes": tuple(axes)}
    turned: dict[str, Any] = {number.field: unit(turn @ np.array(value))}
    if number.field == "normal":
        across, normal = turn @ np.array(joint.x_axis), np.array(turned["normal"])
        turned["x_axis"] = unit(across - (across @ normal) * normal)
    return turned


def sensitivity(closure: Closure, q: Array, of: Sequence[Number]) -> Array:
    """How a loop's scaled constraints change with numbers (states, rows, 3 numbers), at coordinates (states, n)."""
    system = closure.system
    assert system.model is not None
    model, poses, wrenches = system.model.resolved(), all_poses(system, q), _wrenches(system, q)[:, closure.rows]
    signs = closure.signs
    columns = []
    for number in of:
        twists = _twists(model.joints[number.joint], number, poses)
        scale = closure.size if number.field in LENGTHS else 1.0
        sign = np.array([each.get(number.joint, 0) for each in signs])
        columns.append(closure.row_scales[:, None] * sign[:, None] * scale * (wrenches @ twists))
    return np.concatenate(columns, axis=2)


def _wrenches(system: BaseSystem, q: Array) -> Array:
    """The wrench of every constraint on its end b (states, k, 6): moment about the world's origin, and force."""
    out = np.zeros((len(q), system.constraint_count, 6))
    for each, state in zip(out, q, strict=True):
        fill_wrenches(each, system.arrays, system.work, 0.0, state)
    return out


def _twists(joint: Joint, number: Number, poses: Mapping[str, Pose]) -> Array:
    """Twists (states, 6, 3) of the child against the parent for unit changes of a number."""
    parent, child = poses[joint.parent], poses[joint.child]
    x_a, x_b = parent.point(joint.position), child.point(joint.offset)
    R_a, R_b = parent.rotations, child.rotations @ rotation_matrix(joint.orientation).T
    none = np.zeros_like(R_a)
    match number:
        case Number(_, "position"):
            return np.concatenate([none, parent.rotations], axis=1)
        case Number(_, "offset"):
            return np.concatenate([none, -child.rotations], axis=1)
        case Number(_, "orientation"):
            return _about(R_b, x_b)
        case Number(_, "axes", which):
            middle = _between(joint, R_a, R_b)
            ends = ((R_a, x_a), (middle, x_a), (R_b, x_b))
            return _about(*ends[which]) - _about(*ends[which + 1])
    return _about(R_a, x_a) - _about(R_b, x_b)


def _about(axes: Array, place: Array) -> Array:
    """Twists (states, 6, 3) of turns about axes (states, 3, 3), the columns, through a place (states, 3)."""
    return np.concatenate([axes, np.cross(place[:, :, None], axes, axis=1)], axis=1)


def _between(joint: Any, R_a: Array, R_b: Array) -> Array:
    """The frame behind the first axis of a universal joint, in which both axes stand still."""
    first, second = (np.array(axis) for axis in joint.axes)
    there = (R_a.transpose(0, 2, 1) @ R_b) @ second
    across, beside = second - (second @ first) * first, np.cross(first, second)
    angle = np.arctan2(there @ beside, there @ across)[:, None, None]
    along = np.outer(first, first)
    cross = np.cross(first, np.eye(3)).T  # cross x = first × x
    turn = along + np.cos(angle) * (np.eye(3) - along) + np.sin(angle) * cross
    return np.asarray(R_a @ turn)
