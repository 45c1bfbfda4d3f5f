"""The state that a model describes: poses and velocities of all bodies from its initial joint coordinates, walking outwards.

A motion is that of a body's frame in another: rotation R, place x, and in the other's axes angular velocity ω and velocity
u of the frame's origin. Of B in A and C in B follows that of C in A:

    R = R_A R_B,   x = x_A + R_A x_B,   ω = ω_A + R_A ω_B,   u = u_A + ω_A × R_A x_B + R_A u_B.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mbvi.kernels import layout
from mbvi.model.directions import cross
from mbvi.model.fields import WORLD
from mbvi.model.graph import Plan
from mbvi.model.holds import OnCurve
from mbvi.model.joints import Joint
from mbvi.model.model import Model
from mbvi.model.rotations import quaternion, rotation_matrix
from mbvi.recording import array, dot, norm, plain
from mbvi.system.elementary import Elementary, elementary_joints

Array = np.ndarray
NEWTON_STEPS = 50


class Motion(NamedTuple):
    """Motion of one frame in another: rotation (3, 3), place (3,) [m], angular velocity (3,) [rad/s], velocity (3,) [m/s]."""

    rotation: Array
    place: Array
    omega: Array
    velocity: Array

    def then(self, other: Motion) -> Motion:
        """The motion of what moves so in this frame."""
        arm = dot(self.rotation, other.place)
        return Motion(
            dot(self.rotation, other.rotation),
            self.place + arm,
            self.omega + dot(self.rotation, other.omega),
            self.velocity + cross(self.omega, arm) + dot(self.rotation, other.velocity),
        )

    def inverse(self) -> Motion:
        """The motion of the other frame in this one."""
        back = self.rotation.T
        return Motion(
            back,
            dot(-back, self.place),
            dot(-back, self.omega),
            dot(back, cross(self.omega, self.place) - self.velocity),
        )


def at(place: Any) -> Motion:
    """A frame at rest at a place."""
    return Motion(np.eye(3), array(place), np.zeros(3), np.zeros(3))


@dataclass(frozen=True)
class Homes:
    """Where the coordinates of a system come from.

    plan         spanning tree of the model
    joints       first coordinate of every joint that has any
    roots        first coordinate of every body with coordinates of its own, and whether it is a point
    centers      centre of mass of every body, in its frame
    curves       first coordinate of every point on a curve
    """

    plan: Plan
    joints: Mapping[str, int]
    roots: Mapping[str, tuple[int, bool]]
    centers: Mapping[str, Array]
    curves: Mapping[str, int]


def given_joint_state(joint: Joint, initial: Any) -> tuple[Array, Array]:
    """Coordinates and rates that a resolved model gives a joint; zero, or the identity, where it gives none."""
    names = joint.coordinate_names
    q, v = np.zeros(len(names)), np.zeros(len(names))
    if "qw" in names:
        q[names.index("qw")] = 1.0
    if initial is not None and initial.position is not None:
        q = array(initial.position)
    if initial is not None and initial.velocity is not None:
        rates = list(initial.velocity)
        if len(rates) < len(names):
            omega = dot(rotation_matrix(joint.orientation), array(rates[-3:]))
            rates[-3:] = quaternion_rates(q[-4:], omega)
        v = array(rates)
    return q, v


def given_state(model: Model, homes: Homes, n: int) -> tuple[Array, Array]:
    """Coordinates and velocities (n,) that a resolved model gives a system."""
    return state_from_joints(model, homes, given_joint_states(model, homes), given_curves(model), n)


def given_joint_states(model: Model, homes: Homes) -> dict[str, tuple[Array, Array]]:
    """Coordinates and rates that a resolved model gives the joints of the spanning tree, and others that are held."""
    tree = [branch.joint for branch in homes.plan.branches]
    held = [name for name, initial in model.initial.items() if initial.hold]
    return {name: given_joint_state(model.joints[name], model.initial.get(name)) for name in (*tree, *held)}


def given_curves(model: Model) -> dict[str, tuple[float, float]]:
    """Parameters of the points on curves, and their rates, that a resolved model gives."""
    return {name: (plain(each.start), plain(each.start_rate or 0.0)) for name, each in curves(model).items()}


def curves(model: Model) -> dict[str, OnCurve]:
    """The curves of a resolved model on which constraints keep points, by the names of these."""
    held = ((name, hold) for name, constraint in model.constraints.items() for hold in constraint.holds())
    return {name: hold for name, hold in held if isinstance(hold, OnCurve)}


def quaternion_rates(a: Array, omega: Array) -> Array:
    """Rates ȧ = 1/2 a ⋆ (0, ω) of a quaternion (4,) turning with body angular velocity ω (3,) [rad/s]."""
    scalar, vector = a[0], a[1:]
    return 0.5 * np.concatenate([array([dot(-vector, omega)]), scalar * omega + cross(vector, omega)])


def elementary_motion(each: Elementary, q: Array, v: Array) -> Motion:
    """Motion of the frame behind an elementary joint in that before it."""
    kind, axis, pitch = each
    if kind == layout.QUATERNION:
        product = q[0] * v[1:] - q[1:] * v[0] - cross(q[1:], v[1:])
        turned = rotation_matrix(q / norm(q))
        return Motion(turned, np.zeros(3), dot(turned, 2.0 * product), np.zeros(3))
    turn = 0.0 if kind == layout.PRISMATIC else 1.0
    return Motion(rotation_matrix(turn * q[0] * axis), pitch * q[0] * axis, turn * v[0] * axis, pitch * v[0] * axis)


def joint_motion(joint: Joint, q: Array, v: Array) -> Motion:
    """Motion of the child's frame in the parent's."""
    motion, first = at(joint.position), 0
    for each in elementary_joints(joint):
        width = 4 if each.kind == layout.QUATERNION else 1
        motion = motion.then(elementary_motion(each, q[first : first + width], v[first : first + width]))
        first += width
    end = Motion(rotation_matrix(joint.orientation), np.zeros(3), np.zeros(3), np.zeros(3))
    return motion.then(end).then(at(-array(joint.offset)))


def body_motions(model: Model, plan: Plan, states: Mapping[str, tuple[Array, Array]]) -> dict[str, Motion]:
    """Motions of all bodies in the world, from the states of the joints of the spanning tree."""
    motions = {WORLD: at(np.zeros(3))}
    for name, inner, outer, is_reversed in plan.branches:
        relative = joint_motion(model.joints[name], *states[name])
        motions[outer] = motions[inner].then(relative.inverse() if is_reversed else relative)
    return motions


def state_from_joints(
    model: Model,
    homes: Homes,
    states: Mapping[str, tuple[Array, Array]],
    curves: Mapping[str, tuple[float, float]],
    n: int,
) -> tuple[Array, Array]:
    """Coordinates and velocities (n,) of a system, from the states of the joints of the spanning tree.

    Coordinates of a joint that closes a loop come from the motions of its bodies where `states` does not have them, near those
    that the model gives, which give whole turns, and which of several equal Euler angles are meant.
    """
    q, v = np.zeros((2, n), object)
    is_followed = bool(homes.roots) or not homes.joints.keys() <= states.keys()
    motions = body_motions(model, homes.plan, states) if is_followed else {}
    for name, first in homes.joints.items():
        joint = model.joints[name]
        part = slice(first, first + len(joint.coordinate_names))
        if name in states:
            q[part], v[part] = states[name]
        else:
            relative = motions[joint.parent].inverse().then(motions[joint.child])
            q[part], v[part] = nearest_joint_state(joint, relative, model.initial.get(name))
    for body, (first, is_point) in homes.roots.items():
        center = motions[body].then(at(homes.centers[body]))
        q[first : first + 3], v[first : first + 3] = center.place, center.velocity
        if not is_point:
            a = rotation_quaternion(center.rotation)
            q[first + 3 : first + 7] = a
            v[first + 3 : first + 7] = quaternion_rates(a, dot(center.rotation.T, center.omega))
    for name, first in homes.curves.items():
        q[first], v[first] = curves[name]
    return array(q), array(v)


def rotation_quaternion(rotation: Array) -> Array:
    """The unit quaternion (4,), scalar part first and not negative, of a rotation matrix, by its largest component (Shepperd)."""
    R, trace = rotation, rotation[0, 0] + rotation[1, 1] + rotation[2, 2]
    sizes = [trace, R[0, 0], R[1, 1], R[2, 2]]
    if (largest := sizes.index(max(sizes))) == 0:
        a = quaternion((1.0 + trace, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]))
    else:  # of the vector part's components, which is the largest
        i, j, k = np.roll(range(3), 1 - largest)
        vector = {i: 1.0 - trace + 2.0 * R[i, i], j: R[i, j] + R[j, i], k: R[i, k] + R[k, i]}
        a = quaternion((R[k, j] - R[j, k], vector[0], vector[1], vector[2]))
    return a if a[0] >= 0 else -a


def nearest_joint_state(joint: Joint, relative: Motion, initial: Any = None) -> tuple[Array, Array]:
    """Coordinates and rates of a joint that come nearest to a motion of its child in its parent (Gauss–Newton).

    They begin at those given, of which an angle has the whole turns; a screw without any, at the angle of its displacement.
    """
    q, _ = given_joint_state(joint, initial)
    zero = np.zeros(len(q))

    def columns() -> Array:
        found = [joint_motion(joint, q, rate) for rate in np.eye(len(q))]
        return np.column_stack([np.concatenate([each.omega, each.velocity]) for each in found])

    if [each.kind for each in joint.motions()] == ["screw"] and initial is None:
        axis, advance = np.split(columns()[:, 0], 2)
        q = q + (relative.place - joint_motion(joint, q, zero).place) @ axis / (advance @ axis)
    for _ in range(NEWTON_STEPS):
        motion = joint_motion(joint, q, zero)
        turn = rotation_vector(relative.rotation @ motion.rotation.T)
        step = np.linalg.lstsq(columns(), np.concatenate([turn, relative.place - motion.place]), rcond=1e-9)[0]
        q = q + step
        if "qw" in joint.coordinate_names:
            q[-4:] /= np.linalg.norm(q[-4:])
        if np.abs(step).max(initial=0.0) < 1e-15:
            break
    rates = np.linalg.lstsq(columns(), np.concatenate([relative.omega, relative.velocity]), rcond=1e-9)[0]
    return q, rates


def rotation_vector(rotation: Array) -> Array:
    """The axis times the angle, of at most π, of a rotation matrix."""
    from scipy.spatial.transform import Rotation

    vector: Array = Rotation.from_matrix(rotation).as_rotvec()
    return vector
