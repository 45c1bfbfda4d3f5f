"""Bodies that a joint moves in some way without inertia: massless ones, point masses on a hinge, thin rods on a ball joint.

With the body nearer the world at rest, the rates v of a joint give the other one the twist J v. What is welded to it and has
mass or inertia resists some of its twists, E J v ≠ 0: E has a row for each component of the velocity of a centre of mass, and
for that of the angular velocity along each axis about which there is inertia. The joint has motions without kinetic energy
if rank E J < rank J. At random coordinates this is a property of bodies and joint, not of a position.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial

import numpy as np

from mbvi.model.graph import Branch, Plan
from mbvi.model.joints import Joint
from mbvi.model.mass_properties import MassProperties
from mbvi.model.model import Model
from mbvi.recording import array, decide, dot
from mbvi.system.given import Motion, given_joint_state, joint_motion

Array = np.ndarray
NO_INERTIA = 1e-14  # part of the mass times 1 m² plus the square of its distance from the body's origin that counts as no inertia
RANK = 1e-9  # singular value that counts as zero, relative to the size of the matrix


def weightless_bodies(
    model: Model, plan: Plan, properties: Mapping[str, MassProperties], bodies: Container[str]
) -> set[str]:
    """The names of the bodies that their joint to the spanning tree moves in some way without kinetic energy."""
    random, found = np.random.default_rng(3), set()
    rigid = {name: [(each, np.eye(6))] for name, each in properties.items()}
    for branch in reversed(plan.branches):
        joint = model.joints[branch.joint]
        if not joint.coordinate_names:
            if branch.inner in rigid:
                T = twists_of_welded(branch_motion(joint, branch, np.zeros(0), np.zeros(0)))
                rigid[branch.inner] += [(each, dot(own, T)) for each, own in rigid[branch.outer]]
        elif branch.outer in bodies:
            q, _ = given_joint_state(joint, None)
            J = joint_twists(joint, branch, q + random.standard_normal(len(q)))
            if decide(_has_weightless_motion, J, *_stacked(rigid[branch.outer])):
                found.add(branch.outer)
    return found


def _stacked(rigid: Sequence[tuple[MassProperties, Array]]) -> tuple[Array, ...]:
    """Masses (b,), centres (b, 3) and inertias (b, 3, 3) of bodies, and their twists from that of the first, (b, 6, 6)."""
    masses, centers, inertias = zip(*(each for each, _ in rigid), strict=True)
    return array(masses), np.stack(centers), np.stack(inertias), np.stack([T for _, T in rigid])


def _of_every_case(holds: Callable[..., bool], signature: str) -> Callable[..., Array]:
    """A function of arrays, and of arrays (cases, …) where it looks at every case; it does not hold of what is not finite."""

    def is_held(*arrays: Array) -> bool:
        return all(np.isfinite(each).all() for each in arrays) and holds(*arrays)

    return np.vectorize(is_held, otypes=[bool], signature=signature)


def _resisted(m: Array, center: Array, inertia: Array, T: Array) -> Array:
    """E of bodies that are welded together, for twists of the first."""
    return np.vstack(
        [resisted_twists(MassProperties(*each)) @ of for *each, of in zip(m, center, inertia, T, strict=True)]
    )


@partial(_of_every_case, signature="(d,n),(b),(b,c),(b,c,c),(b,d,d)->()")
def _has_weightless_motion(J: Array, *bodies: Array) -> bool:
    """Whether a joint with twists J moves bodies in some way without kinetic energy."""
    E = _resisted(*bodies)
    return rank(E, size(E)) < 6 and rank(E @ J, size(E) * size(J)) < rank(J, size(J))


@partial(_of_every_case, signature="(d,n),(b),(b,c),(b,c,c),(b,d,d)->()")
def _resists_both(J: Array, *bodies: Array) -> bool:
    """Whether bodies resist all twists, of which J has two."""
    E = _resisted(*bodies)
    return rank(E, size(E)) == 6 and rank(J, size(J)) == 2


def crosses(model: Model, plan: Plan, properties: Mapping[str, MassProperties], bodies: Container[str]) -> set[str]:
    """The names of the bodies between two hinges or guides with a body of mass and inertia behind, which resists both motions."""
    branch_to, found = {branch.outer: branch for branch in plan.branches}, set()
    for branch in plan.branches:
        inner = branch_to.get(branch.inner)
        if branch.inner not in bodies or inner is None:
            continue
        first, second = model.joints[inner.joint], model.joints[branch.joint]
        if len(first.coordinate_names) == len(second.coordinate_names) == 1:
            zero = np.zeros(1)
            behind = dot(twists_of_welded(branch_motion(second, branch, zero, zero)), joint_twists(first, inner, zero))
            J = np.hstack([behind, joint_twists(second, branch, zero)])
            if decide(_resists_both, J, *_stacked([(properties[branch.outer], np.eye(6))])):
                found.add(branch.inner)
    return found


def joint_twists(joint: Joint, branch: Branch, q: Array) -> Array:
    """J (6, n) of a joint at coordinates q, in the outer body's frame."""
    moved = [branch_motion(joint, branch, q, rate) for rate in np.eye(len(q))]
    return np.column_stack([np.concatenate([dot(m.omega, m.rotation), dot(m.velocity, m.rotation)]) for m in moved])


def resisted_twists(properties: MassProperties) -> Array:
    """E of a body (., 6), for twists [ω; velocity of the origin] in its frame."""
    m, (x, y, z), inertia = properties
    moments, axes = np.linalg.eigh(inertia)
    turned = axes.T[moments > NO_INERTIA * m * (1.0 + x * x + y * y + z * z)]
    moved = np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]]) if m else np.zeros((0, 3))
    return np.block([[moved, np.eye(3)[: len(moved)]], [turned, np.zeros_like(turned)]])


def twists_of_welded(motion: Motion) -> Array:
    """The matrix (6, 6) that gives the twist of a body at a place in another one, in its own frame, from that one's."""
    (x, y, z), back = motion.place, motion.rotation.T
    return np.block([[back, np.zeros((3, 3))], [dot(back, array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])), back]])


def branch_motion(joint: Joint, branch: Branch, q: Array, v: Array) -> Motion:
    """Motion of the outer body in the inner one."""
    motion = joint_motion(joint, q, v)
    return motion.inverse() if branch.is_reversed else motion


def size(A: Array) -> float:
    """Root of the sum of squares of a matrix."""
    return float(np.linalg.norm(A))


def rank(A: Array, beside: float) -> int:
    """Number of singular values that are not zero compared with this size."""
    return int(np.sum(np.linalg.svd(A, compute_uv=False) > RANK * beside))
