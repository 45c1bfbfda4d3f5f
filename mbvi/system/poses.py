"""Poses and velocities of all bodies at once: one walk through the tree for every state, and not one for every body."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.mechanics.tree import WORLD_PLACE, anchor_place, fill_world
from mbvi.system.base import BaseSystem

Array = np.ndarray

DIFFERENCE = 1e-4


class Pose(NamedTuple):
    """Places (F, 3) of the origin of a body's frame [m] and its rotations (F, 3, 3), body to world."""

    places: Array
    rotations: Array

    def point(self, point: ArrayLike) -> Array:
        """Places (F, 3) of a point of the body."""
        places: Array = self.places + self.rotations @ np.asarray(point, dtype=float)
        return places


class Velocity(NamedTuple):
    """Velocities (F, 3) of the origin of a body's frame [m/s] and angular velocities (F, 3) [rad/s], along the world's axes."""

    linear: Array
    angular: Array


@kernel
def fill_all_poses(places, rotations, system, work, q):  # type: ignore[no-untyped-def]
    """Places and rotations of all links in many states.

    places     (links, states, 3)       out  [m]
    rotations  (links, states, 3, 3)    out, link to world  [1]
    q          (states, n)              [u], u the unit of a coordinate
    """
    for i in range(q.shape[0]):
        fill_world(system, work, q[i], work.zero)
        for link in range(places.shape[0]):
            anchor = anchor_place(system.links, system.geometry, work.world, link, q[i])
            for a in range(3):
                places[link, i, a] = anchor[a] + work.world[link, WORLD_PLACE + a]
                for b in range(3):
                    rotations[link, i, a, b] = work.world[link, 3 * a + b]


@kernel
def fill_quaternions(quaternions, rotations):  # type: ignore[no-untyped-def]
    """Unit quaternions w, x, y, z of rotations, with w ≥ 0, from the largest of their components.

    quaternions   (states, 4)       out  [1]
    rotations     (states, 3, 3)    [1]

    Source: Shepperd 1978.
    """
    for i in range(rotations.shape[0]):
        R, out = rotations[i], quaternions[i]
        trace = R[0, 0] + R[1, 1] + R[2, 2]
        a = 0
        if R[1, 1] > R[0, 0]:
            a = 1
        if R[2, 2] > R[a, a]:
            a = 2
        b, c = (a + 1) % 3, (a + 2) % 3
        if trace > R[a, a]:
            out[0] = 1.0 + trace
            out[1], out[2], out[3] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
        else:
            out[0] = R[c, b] - R[b, c]
            out[1 + a] = 1.0 + 2.0 * R[a, a] - trace
            out[1 + b], out[1 + c] = R[a, b] + R[b, a], R[a, c] + R[c, a]
        size = np.sqrt(out[0] ** 2 + out[1] ** 2 + out[2] ** 2 + out[3] ** 2)
        if out[0] < 0.0:
            size = -size
        for k in range(4):
            out[k] /= size


def unit_quaternions(rotations: Array, before: Array | None = None) -> Array:
    """Unit quaternions w, x, y, z (F, 4) of rotations (F, 3, 3), of those before and after them without jumps of sign.

    before   (4,)   that of the state before the first; without it, w ≥ 0 at the first
    """
    quaternions = np.empty((len(rotations), 4))
    fill_quaternions(quaternions, rotations)
    return continuous(quaternions, before)


def continuous(quaternions: Array, before: Array | None = None) -> Array:
    """Quaternions (F, …, 4) with their signs such that each lies on the side of the one before it: q and −q are one rotation.

    before   (…, 4)   that before the first; without it, the first keeps its sign
    """
    first = quaternions[:1] if before is None else before[None]
    products = np.sum(quaternions * np.concatenate([first, quaternions[:-1]]), axis=-1, keepdims=True)
    turned: Array = quaternions * np.cumprod(np.where(products < 0.0, -1.0, 1.0), axis=0)
    return turned


def positions_and_quaternions(system: BaseSystem, q: Array, before: Array | None = None) -> tuple[Array, Array]:
    """Positions (F, bodies, 3) [m] and unit quaternions w, x, y, z (F, bodies, 4), body to world, of all bodies, for q (F, n).

    before   (bodies, 4)   the quaternions of the state before the first, if there is one: signs do not jump
    """
    poses, names = all_poses(system, q), system.body_names
    positions, quaternions = np.empty((len(q), len(names), 3)), np.empty((len(q), len(names), 4))
    for i, name in enumerate(names):
        positions[:, i] = poses[name].places
        quaternions[:, i] = unit_quaternions(poses[name].rotations, None if before is None else before[i])
    return positions, quaternions


def all_poses(system: BaseSystem, q: Array) -> dict[str, Pose]:
    """The poses of all bodies and the world, as `System.poses` gives them, for q (F, n)."""
    links = len(system.arrays.links)
    places, rotations = np.zeros((links, len(q), 3)), np.zeros((links, len(q), 3, 3))
    fill_all_poses(places, rotations, system.arrays, system.work, np.ascontiguousarray(q))
    still = np.zeros((len(q), 3)), np.tile(np.eye(3), (len(q), 1, 1))
    poses = {}
    for name, frame in system.frames.items():
        place, rotation = (places[frame.link], rotations[frame.link]) if frame.link >= 0 else still
        poses[name] = Pose(place + rotation @ frame.place, rotation @ frame.rotation)
    return poses


def all_velocities(system: BaseSystem, q: Array, v: Array) -> dict[str, Velocity]:
    """Velocities of all bodies, by differences: R(q + εv) R(q − εv)ᵀ is a rotation by 2ε ω, but for ε³."""
    step = DIFFERENCE / np.maximum(1.0, np.abs(v).max(axis=1, keepdims=True))  # so coordinates change by 1e-4 at most
    after, before = (all_poses(system, q + sign * step * v) for sign in (1.0, -1.0))
    velocities = {}
    for name in after:
        turn = after[name].rotations @ before[name].rotations.transpose(0, 2, 1)
        spin = np.stack([turn[:, i, j] - turn[:, j, i] for i, j in ((2, 1), (0, 2), (1, 0))], axis=1)
        velocities[name] = Velocity((after[name].places - before[name].places) / (2 * step), spin / (4 * step))
    return velocities
