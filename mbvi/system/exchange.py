"""Coordinates and rates in the orders of other programs: those of a model in Pinocchio or MuJoCo, and joint states of ROS.

Pinocchio has quaternions as x, y, z, w, velocities of free, ball and planar joints along the axes of the child, and angles
without bounds as cosine and sine. mbvi turns the child before the joint's orientation, Pinocchio behind it.

A joint is converted motion by motion: turns, slides and screws are one number in all three programs, and a rotation, which mbvi
may have as a quaternion or as Euler angles, goes over by its matrix R and its angular velocity along the axes of the child.
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
from mbvi.model.motions import rotation
from mbvi.model.rotations import rotation_matrix
from mbvi.system.elementary import elementary
from mbvi.system.euler_angles import angles_of_rotation
from mbvi.system.given import at, elementary_motion, quaternion_rates, rotation_quaternion
from mbvi.system.system import System

Array = np.ndarray
ROOT = "root_joint"
"""What Pinocchio calls the joint that it adds below a floating robot."""
PREFIX = "JointModel"
COMPOSITE = "Composite"
FLYING = ("slide", "slide", "slide", "rotation")
PLANAR = ("slide", "slide", "turn")
OF_PINOCCHIO = {
    "FreeFlyer": FLYING,
    "Translation": FLYING[:3],
    "Planar": PLANAR,
    "Universal": ("turn", "turn"),
    "Spherical": ("rotation",),
}
"""The motions of Pinocchio's joints with several, by their names without the prefix."""
SINGLE = {"R": ("turn",), "P": ("slide",), "H": ("screw",)}
"""The motion of its other joints, by the first letters of their names, as RX, PrismaticUnaligned."""
OF_MUJOCO = (FLYING, ("rotation",), ("slide",), ("turn",))
"""The motions of MuJoCo's joints, in the order of mjtJoint: free, ball, slide, hinge."""


class JointState(NamedTuple):
    """A state of joints as in sensor_msgs/JointState of ROS: names, and by their order positions and velocities."""

    name: tuple[str, ...]
    position: Array
    velocity: Array


class _Place(NamedTuple):
    """A part of a joint, and where its numbers stand: in a system, and in the q and v of another program.

    name, joint    the whole joint
    motions        of the part, with the words of `OF_PINOCCHIO`
    own, q, v      its numbers here and there
    """

    name: str
    joint: Joint
    motions: tuple[str, ...]
    own: slice
    q: slice
    v: slice


def to_pinocchio(system: System, robot: Any, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """Pinocchio's q and v of a state.

    Parameters
    ----------
    system : System
        The system of a model whose joints have the names of Pinocchio's; its root, if it floats, may have any.
    robot : pinocchio.Model
        Its joints have the motions of those of the system, in their order, as JointModelComposite if there is no other type.
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
        q_there[place.q], v_there[place.v] = _to(place, q[place.own], v[place.own])
    return q_there, v_there


def from_pinocchio(system: System, robot: Any, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """The state (n,), (n,) of a system from Pinocchio's q (nq,) and v (nv,).

    Coordinates that Pinocchio has not start as the model says. The second of Euler angles is from 0 to π, or from −π/2 to π/2 if
    the three axes differ; in gimbal lock the first one lets the body turn as it does. Arguments and errors are those of
    `to_pinocchio`.
    """
    _check(system)
    places = list(_places(system, robot))
    q, v = (
        checked_vector(each, key, [f"{key}[{i}]" for i in range(n)])
        for each, key, n in ((q, "q", robot.nq), (v, "v", robot.nv))
    )
    q_here, v_here = system.given_q.copy(), np.zeros(system.dimension)
    for place in places:
        q_here[place.own], v_here[place.own] = _from(place, q[place.q], v[place.v])
    return q_here, v_here


def to_mujoco(system: System, robot: Any, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """MuJoCo's qpos (nq,) and qvel (nv,) of a state.

    Parameters
    ----------
    system : System
        The system of a model that was imported from the same file.
    robot : mujoco.MjModel
    q, v : (n,)
        Coordinates and rates of the system.

    Raises
    ------
    ModelError
        If MuJoCo has a joint that the system has not, or one of another kind.
    """
    _check(system)
    q, v = system._vector(q, "q"), system._vector(v, "v")
    q_there, v_there = np.zeros(robot.nq), np.zeros(robot.nv)
    for place in _mujoco_places(system, robot):
        here, rates = q[place.own], v[place.own]
        if "rotation" in place.motions:
            split = len(place.motions) - 1
            own, omega = _rotation_there(place.joint, here[split:], rates[split:])
            here = np.concatenate([here[:split], rotation_quaternion(own)])
            rates = np.concatenate([rates[:split], omega])
        q_there[place.q], v_there[place.v] = here, rates
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
    for place in places:
        there, rates = q[place.q], v[place.v]
        if "rotation" in place.motions:
            a, a_rates = _rotation_here(place.joint, rotation_matrix(there[-4:]), rates[-3:])
            there, rates = np.concatenate([there[:-4], a]), np.concatenate([rates[:-3], a_rates])
        q_here[place.own], v_here[place.own] = there, rates
    return q_here, v_here


def _mujoco_places(system: System, robot: Any) -> Iterator[_Place]:
    """Where the numbers of MuJoCo's joints stand; those without a name have their number."""
    _, joints = _joints(system)
    if not all(hasattr(robot, key) for key in ("njnt", "jnt_type", "jnt_qposadr", "jnt_dofadr", "nq", "nv")):
        raise ModelError(
            f"robot: {wrong('an MjModel of MuJoCo', show(robot), 'as mujoco.MjModel.from_xml_path makes it')}"
        )
    for i in range(robot.njnt):
        name = robot.joint(i).name or f"joint {i}"
        if name not in joints:
            raise ModelError(f"robot: {wrong('joints of the system', show(name), nearest(name, joints))}")
        joint, own = joints[name]
        motions = OF_MUJOCO[robot.jnt_type[i]]
        _check_motions(name, joint, motions, "take the MjModel of the file that the model was read from")
        at_q, at_v, turns = int(robot.jnt_qposadr[i]), int(robot.jnt_dofadr[i]), motions.count("rotation")
        count = len(motions) + 2 * turns
        yield _Place(name, joint, motions, own, slice(at_q, at_q + count + turns), slice(at_v, at_v + count))


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
        parts = _parts(there)
        motions = [_motions_of(part) for part in parts]
        remedy = "build it of the same motions in the same order, as a JointModelComposite"
        _check_motions(own, joint, tuple(each for part in motions for each in part), remedy)
        first, at_q, at_v = here.start, there.idx_q, there.idx_v
        for part, moves in zip(parts, motions, strict=True):
            count = len(moves) + moves.count("rotation") * (2 if joint.has_euler_angles else 3)
            at = (slice(at_q, at_q + part.nq), slice(at_v, at_v + part.nv))
            yield _Place(own, joint, moves, slice(first, first + count), *at)
            first, at_q, at_v = first + count, at_q + part.nq, at_v + part.nv


def _parts(there: Any) -> list[Any]:
    """The joints of which one of Pinocchio consists: itself, or those of a composite one."""
    if there.shortname() != PREFIX + COMPOSITE:
        return [there]
    return [part for each in there.extract().joints for part in _parts(each)]


def _motions_of(part: Any) -> tuple[str, ...]:
    """The motions of one of Pinocchio's joints; its name, if it has others than those of `OF_PINOCCHIO` and `SINGLE`."""
    name = part.shortname().removeprefix(PREFIX)
    return OF_PINOCCHIO.get(name) or SINGLE.get(name[:1], (name,))


def _check_motions(name: str, joint: Joint, there: tuple[str, ...], remedy: str) -> None:
    """Refuse a joint of another program that moves in another way than that of the system."""
    here = tuple("rotation" if motion.kind == "quaternion" else motion.kind for motion in joint.motions())
    if joint.has_euler_angles and "rotation" in there:
        here = (*here[:-3], "rotation")
    if here != there:
        expected, found = (", ".join(motions) or "nothing" for motions in (here, there))
        raise ModelError(f"robot: {wrong(f'a joint {name!r} that moves by {expected}', f'one by {found}', remedy)}")


def _to(place: _Place, q: Array, v: Array) -> tuple[Array, Array]:
    """Pinocchio's q and v of a part of a joint."""
    if "rotation" in place.motions:
        split, turned = len(place.motions) - 1, rotation_matrix(place.joint.orientation)
        own, omega = _rotation_there(place.joint, q[split:], v[split:])
        a = np.roll(rotation_quaternion(own), -1)
        if not split:
            return a, omega
        return np.concatenate([turned.T @ q[:3], a]), np.concatenate([own.T @ turned.T @ v[:3], omega])
    width = place.q.stop - place.q.start
    if place.motions == PLANAR:
        c, s = np.cos(q[2]), np.sin(q[2])
        return np.array([q[0], q[1], c, s]), np.array([c * v[0] + s * v[1], c * v[1] - s * v[0], v[2]])
    if width == len(q) + 1:
        return np.array([np.cos(q[0]), np.sin(q[0])]), v
    return q, v


def _from(place: _Place, q: Array, v: Array) -> tuple[Array, Array]:
    """Coordinates and rates of a part of a joint from Pinocchio's."""
    if "rotation" in place.motions:
        turned, own = rotation_matrix(place.joint.orientation), rotation_matrix(np.roll(q[-4:], 1))
        a, rates = _rotation_here(place.joint, own, v[-3:])
        if len(q) == 4:
            return a, rates
        return np.concatenate([turned @ q[:3], a]), np.concatenate([turned @ own @ v[:3], rates])
    if place.motions == PLANAR:
        c, s = q[2], q[3]
        return np.array([q[0], q[1], np.arctan2(s, c)]), np.array([c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]])
    if len(q) == len(v) + 1:
        return np.array([np.arctan2(q[1], q[0])]), v
    return q, v


def _rotation(joint: Joint, q: Array, v: Array) -> tuple[Array, Array]:
    """R (3, 3) of the rotation of a joint, by its Euler angles or quaternion, and the angular velocity (3,) along R's axes."""
    motion, first = at(np.zeros(3)), 0
    for each in joint.motions()[-3:] if joint.has_euler_angles else rotation("quaternion"):
        part = slice(first, first + len(each.names))
        motion, first = motion.then(elementary_motion(elementary(each), q[part], v[part])), part.stop
    return motion.rotation, motion.rotation.T @ motion.omega


def _rotation_there(joint: Joint, q: Array, v: Array) -> tuple[Array, Array]:
    """Rotation and angular velocity behind the joint's orientation, as the other programs have them."""
    turned, (own, omega) = rotation_matrix(joint.orientation), _rotation(joint, q, v)
    return turned.T @ own @ turned, turned.T @ omega


def _rotation_here(joint: Joint, own: Array, omega: Array) -> tuple[Array, Array]:
    """Coordinates and rates of a joint's rotation from what `_rotation_there` gives."""
    turned = rotation_matrix(joint.orientation)
    own, omega = turned @ own @ turned.T, turned @ omega
    if not joint.has_euler_angles:
        a = rotation_quaternion(own)
        return a, quaternion_rates(a, omega)
    angles = angles_of_rotation([np.array(motion.axis) for motion in joint.motions()[-3:]], own, own @ omega)
    columns = np.column_stack([_rotation(joint, angles, unit)[1] for unit in np.eye(3)])
    return angles, np.linalg.lstsq(columns, omega)[0]
