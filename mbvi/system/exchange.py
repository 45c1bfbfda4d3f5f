"""Coordinates and rates in the orders of other programs: those of a model in Pinocchio or MuJoCo, and joint states of ROS.

Pinocchio has quaternions as x, y, z, w, velocities of free, ball and planar joints along the axes of the child, and angles
without bounds as cosine and sine. mbvi turns the child before the joint's orientation, Pinocchio behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError
from mbvi.model.arguments import check_kind, checked_names, checked_vector
from mbvi.model.expressions import nearest, show, wrong
from mbvi.model.fields import WORLD
from mbvi.model.joints import Joint
from mbvi.model.rotations import rotation_matrix
from mbvi.system.given import quaternion_rates, rotation_quaternion
from mbvi.system.system import System

Array = np.ndarray
ROOT = "root_joint"
"""What Pinocchio calls the joint that it adds below a floating robot."""


class JointState(NamedTuple):
    """A state of joints as in sensor_msgs/JointState of ROS: names, and by their order positions and velocities."""

    name: tuple[str, ...]
    position: Array
    velocity: Array


class _Place(NamedTuple):
    """Where a joint's numbers stand: in a system, and in Pinocchio's q and v."""

    name: str
    joint: Joint
    own: slice
    q: slice
    v: slice


def to_pinocchio(system: System, robot: Any, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """Pinocchio's q and v of a state.

    Parameters
    ----------
    system : System
        Of a model whose joints have the names of Pinocchio's; its root, if it floats, may have any.
    robot : pinocchio.Model
    q, v : (n,)
        Coordinates and rates of the system.

    Returns
    -------
    q, v : (nq,) and (nv,)
        In Pinocchio's order.

    Raises
    ------
    ModelError
        If Pinocchio has a joint that the system has not, or one of another kind.
    """
    _check(system)
    q, v = system._vector(q, "q"), system._vector(v, "v")
    q_there, v_there = np.zeros(robot.nq), np.zeros(robot.nv)
    for place in _places(system, robot):
        q_there[place.q], v_there[place.v] = _to(place.joint, q[place.own], v[place.own], place.q.stop - place.q.start)
    return q_there, v_there


def from_pinocchio(system: System, robot: Any, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """The state (n,), (n,) of a system from Pinocchio's q (nq,) and v (nv,).

    Coordinates that Pinocchio has not start as the model says. Arguments and errors are those of `to_pinocchio`.
    """
    _check(system)
    places = list(_places(system, robot))
    q, v = (
        checked_vector(each, key, [f"{key}[{i}]" for i in range(n)])
        for each, key, n in ((q, "q", robot.nq), (v, "v", robot.nv))
    )
    q_here, v_here = system.given_q.copy(), np.zeros(system.dimension)
    for place in places:
        q_here[place.own], v_here[place.own] = _from(place.joint, q[place.q], v[place.v])
    return q_here, v_here


def to_mujoco(system: System, robot: Any, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """MuJoCo's qpos (nq,) and qvel (nv,) of a state.

    Parameters
    ----------
    system : System
        Of a model that was imported from the same file.
    robot : mujoco.MjModel
    q, v : (n,)
        Coordinates and rates of the system.

    Raises
    ------
    ModelError
        If MuJoCo has a joint that the system has not.
    """
    _check(system)
    q, v = system._vector(q, "q"), system._vector(v, "v")
    q_there, v_there = np.zeros(robot.nq), np.zeros(robot.nv)
    for joint, own, at_q, at_v in _mujoco_places(system, robot):
        if joint.type in ("free", "ball"):
            turned, a, rate = rotation_matrix(joint.orientation), q[own][-4:], v[own][-4:]
            omega = turned.T @ (2.0 * (a[0] * rate[1:] - a[1:] * rate[0] - np.cross(a[1:], rate[1:])))
            there = rotation_quaternion(turned.T @ rotation_matrix(a) @ turned)
            q_there[at_q], v_there[at_v] = [*q[own][:-4], *there], [*v[own][:-4], *omega]
        else:
            q_there[at_q], v_there[at_v] = q[own], v[own]
    return q_there, v_there


def from_mujoco(system: System, robot: Any, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """The state (n,), (n,) of a system from MuJoCo's qpos (nq,) and qvel (nv,); see `to_mujoco`."""
    _check(system)
    places = list(_mujoco_places(system, robot))
    q, v = (
        checked_vector(each, key, [f"{key}[{i}]" for i in range(n)])
        for each, key, n in ((q, "q", robot.nq), (v, "v", robot.nv))
    )
    q_here, v_here = system.given_q.copy(), np.zeros(system.dimension)
    for joint, own, at_q, at_v in places:
        if joint.type in ("free", "ball"):
            turned = rotation_matrix(joint.orientation)
            a = rotation_quaternion(turned @ rotation_matrix(q[at_q][-4:]) @ turned.T)
            q_here[own] = [*q[at_q][:-4], *a]
            v_here[own] = [*v[at_v][:-3], *quaternion_rates(a, turned @ v[at_v][-3:])]
        else:
            q_here[own], v_here[own] = q[at_q], v[at_v]
    return q_here, v_here


def _mujoco_places(system: System, robot: Any) -> Iterator[tuple[Joint, slice, slice, slice]]:
    """The joints of MuJoCo's model, with their coordinates, qpos and qvel; those without a name have their number."""
    _, joints = _joints(system)
    if not all(hasattr(robot, key) for key in ("njnt", "jnt_qposadr", "jnt_dofadr", "nq", "nv")):
        raise ModelError(
            f"robot: {wrong('an MjModel of MuJoCo', show(robot), 'as mujoco.MjModel.from_xml_path makes it')}"
        )
    for i in range(robot.njnt):
        name = robot.joint(i).name or f"joint {i}"
        if name not in joints:
            raise ModelError(f"robot: {wrong('joints of the system', show(name), nearest(name, joints))}")
        joint, own = joints[name]
        at_q, at_v = int(robot.jnt_qposadr[i]), int(robot.jnt_dofadr[i])
        count = own.stop - own.start
        yield joint, own, slice(at_q, at_q + count), slice(at_v, at_v + count - (joint.type in ("free", "ball")))


def joint_state(system: System, q: ArrayLike, v: ArrayLike) -> JointState:
    """The joints with one coordinate, which are those that ROS knows, with their positions and velocities."""
    _check(system)
    q, v = system._vector(q, "q"), system._vector(v, "v")
    own = _single(system)
    rows = list(own.values())
    return JointState(tuple(own), q[rows], v[rows])


def from_joint_state(
    system: System, name: Sequence[str], position: ArrayLike, velocity: ArrayLike = ()
) -> tuple[Array, Array]:
    """The state (n,), (n,) of a system from a state of joints; other coordinates start as the model says, at rest.

    Parameters
    ----------
    system : System
    name : sequence of str
        Joints with one coordinate.
    position, velocity : (len(name),)
        Their coordinates and rates [rad, m, rad/s, m/s]; no velocities are those of rest.

    Raises
    ------
    ModelError
        If a name is that of no such joint, or there are other numbers of values.
    """
    _check(system)
    own, rows = _single(system), []
    for each in checked_names(name, "name"):
        if each not in own:
            raise ModelError(f"name: {wrong('a joint with one coordinate', show(each), nearest(str(each), own))}")
        rows.append(own[each])
    q, v = system.given_q.copy(), np.zeros(system.dimension)
    for values, out, key in ((position, q, "position"), (velocity, v, "velocity")):
        if key == "position" or np.size(values):
            out[rows] = checked_vector(values, key, name)
    return q, v


def _check(system: Any) -> None:
    """Refuse what is no system."""
    check_kind(system, System, "system", "mbvi.assemble makes one of a model")


def _single(system: System) -> dict[str, int]:
    """The joints with one coordinate, and where it stands."""
    _, joints = _joints(system)
    return {name: slot.start for name, (joint, slot) in joints.items() if len(joint.coordinate_names) == 1}


def _joints(system: System) -> tuple[str, dict[str, tuple[Joint, slice]]]:
    """The joint that ties a floating robot to the world, or none, and all joints with their coordinates."""
    if system.model is None or system.homes is None:
        raise ModelError(f"system: {wrong('one that was assembled of a model', repr(system.name))}")
    model, root = system.model.resolved(), ""
    found: dict[str, tuple[Joint, slice]] = {}
    for name, first in system.homes.joints.items():
        joint = model.joints[name]
        found[name] = joint, slice(first, first + len(joint.coordinate_names))
        root = name if joint.is_free and joint.parent == WORLD else root
    return root, found


def _places(system: System, robot: Any) -> Iterator[_Place]:
    """Where the numbers of Pinocchio's joints stand."""
    root, joints = _joints(system)
    if not all(hasattr(robot, key) for key in ("names", "joints", "nq", "nv")):
        raise ModelError(
            f"robot: {wrong('a Model of Pinocchio', show(robot), 'as pinocchio.buildModelFromUrdf makes it')}"
        )
    for i, name in enumerate(robot.names):
        there = robot.joints[i]
        if not i:
            continue  # the universe
        own = root if name == ROOT and ROOT not in joints else name
        if own not in joints:
            remedy = nearest(str(name), joints)
            raise ModelError(f"robot: {wrong('joints of the system', show(str(name)), remedy)}")
        joint, here = joints[own]
        if there.nv != 6 - joint.constraint_count:
            found = f"one of Pinocchio with {there.nv}"
            raise ModelError(f"robot: {wrong(f'a joint {own!r} with {6 - joint.constraint_count} motions', found)}")
        at_q, at_v = slice(there.idx_q, there.idx_q + there.nq), slice(there.idx_v, there.idx_v + there.nv)
        yield _Place(own, joint, here, at_q, at_v)


def _to(joint: Joint, q: Array, v: Array, width: int) -> tuple[Array, Array]:
    """Pinocchio's q and v of a joint, of which q has so many numbers."""
    turned = rotation_matrix(joint.orientation)
    if joint.type in ("free", "ball"):
        place, (a, rate) = q[:-4], (q[-4:], v[-4:])
        own = turned.T @ rotation_matrix(a) @ turned
        omega = turned.T @ (2.0 * (a[0] * rate[1:] - a[1:] * rate[0] - np.cross(a[1:], rate[1:])))
        quaternion = np.roll(rotation_quaternion(own), -1)
        if not len(place):
            return quaternion, omega
        return np.concatenate([turned.T @ place, quaternion]), np.concatenate([own.T @ turned.T @ v[:3], omega])
    if joint.type == "planar":
        c, s = np.cos(q[2]), np.sin(q[2])
        return np.array([q[0], q[1], c, s]), np.array([c * v[0] + s * v[1], c * v[1] - s * v[0], v[2]])
    if width == 2:
        return np.array([np.cos(q[0]), np.sin(q[0])]), v
    return q, v


def _from(joint: Joint, q: Array, v: Array) -> tuple[Array, Array]:
    """A joint's coordinates and rates from Pinocchio's."""
    turned = rotation_matrix(joint.orientation)
    if joint.type in ("free", "ball"):
        own = rotation_matrix(np.roll(q[-4:], 1))
        a = rotation_quaternion(turned @ own @ turned.T)
        rates = quaternion_rates(a, turned @ v[-3:])
        return np.concatenate([turned @ q[:-4], a]), np.concatenate([turned @ own @ v[:-3], rates])
    if joint.type == "planar":
        c, s = q[2], q[3]
        return np.array([q[0], q[1], np.arctan2(s, c)]), np.array([c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]])
    if len(q) == 2:
        return np.array([np.arctan2(q[1], q[0])]), v
    return q, v
