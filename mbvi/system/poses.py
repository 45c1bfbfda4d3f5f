"""Poses and velocities of all bodies at once: one walk through the tree for every state, and not one for every body."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mbvi.kernels.layout import kernel
from mbvi.kernels.tree import WORLD_PLACE, anchor_place, fill_world
from mbvi.system.system import System

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
    rotations  (links, states, 3, 3)    out, link to world
    q          (states, n)
    """
    for i in range(q.shape[0]):
        fill_world(work.world, system.links, system.geometry, q[i], work.zero)
        for link in range(places.shape[0]):
            anchor = anchor_place(system.links, system.geometry, work.world, link, q[i])
            for a in range(3):
                places[link, i, a] = anchor[a] + work.world[link, WORLD_PLACE + a]
                for b in range(3):
                    rotations[link, i, a, b] = work.world[link, 3 * a + b]


def all_poses(system: System, q: Array) -> dict[str, Pose]:
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


def all_velocities(system: System, q: Array, v: Array) -> dict[str, Velocity]:
    """Velocities of all bodies, by differences: R(q + εv) R(q − εv)ᵀ is a rotation by 2ε ω, but for ε³."""
    step = DIFFERENCE / np.maximum(1.0, np.abs(v).max(axis=1, keepdims=True))  # so coordinates change by 1e-4 at most
    after, before = (all_poses(system, q + sign * step * v) for sign in (1.0, -1.0))
    velocities = {}
    for name in after:
        turn = after[name].rotations @ before[name].rotations.transpose(0, 2, 1)
        spin = np.stack([turn[:, i, j] - turn[:, j, i] for i, j in ((2, 1), (0, 2), (1, 0))], axis=1)
        velocities[name] = Velocity((after[name].places - before[name].places) / (2 * step), spin / (4 * step))
    return velocities
