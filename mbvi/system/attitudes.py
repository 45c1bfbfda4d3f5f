"""Directions that constraints tie: at which of their roots they stand, and axes turned so that the root meant is the nearest.

Rows e_i·e′_j = 0 of frames that are parallel hold at eight attitudes, rows u·w = v·w = 0 of axes that are aligned at two. One is
meant: with the axes of a as U and those of b as W, or n = u × v and w,

    W = exp(φ) U,     w = exp(φ) n  (the least such φ)

at φ = 0. If the axes of b are turned back by what of φ exceeds REACH, the same rows have a root within REACH, and Newton's
steps on them lead from any attitude to the one that is meant, and to no other. From a state on the constraints no step leads to
another root.
"""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import numpy as np

from mbvi.kernels import layout
from mbvi.system.base import BaseSystem
from mbvi.system.poses import fill_all_poses

Array = np.ndarray
REACH = 0.3  # [rad]
AT_ANOTHER_ROOT = 0.1  # angle from which directions on their constraints stand at another root [rad]
OPPOSITE = 1e-9  # sine of an angle below which opposite axes do not show about what to turn
U, W = (slice(first, first + 3) for first in (layout.DIRECTION_U, layout.DIRECTION_W))


class Attitudes:
    """The directions that the constraints of a system tie.

    Attributes
    ----------
    first, count : ndarray (sets,)
        First row of every set of directions that are tied together, and how many there are: 3 of frames, 2 of axes.
    """

    def __init__(self, system: BaseSystem) -> None:
        across = np.flatnonzero(system.arrays.constraints[:, layout.CONSTRAINT_KIND] == layout.ACROSS)
        owners = np.array([system.constraint_names[row].rsplit(".", 1)[0] for row in across])
        _, first, count = np.unique(owners, return_index=True, return_counts=True)
        several = count > 1  # that of a universal joint holds at attitudes without a gap between them
        self.first, self.count = across[first[several]], count[several]
        self._system = system
        self._turned: BaseSystem | None = None

    def rows(self, sets: Array) -> Array:
        """The rows of some sets."""
        chosen = [self.first[i] + np.arange(self.count[i]) for i in np.flatnonzero(sets)]
        return np.concatenate([np.zeros(0, np.int64), *chosen])

    def angles(self, q: Array) -> Array:
        """The angles by which sets are turned from where they are meant to be, (sets,) [rad]."""
        if not len(self.first):
            return np.zeros(0)
        axes = self._axes(q)
        cosine = np.where(
            self.count == 3, 0.5 * (np.sum(axes.U * axes.W, axis=(1, 2)) - 1), np.sum(axes.n * axes.w, axis=1)
        )
        return np.arccos(np.clip(cosine, -1.0, 1.0))

    def turned(self, q: Array) -> BaseSystem:
        """The system with the axes of b turned, so that the root that is meant is at most REACH away."""
        from scipy.spatial.transform import Rotation  # takes a tenth of a second to import

        angles = self.angles(q)
        if not (angles > REACH).any():
            return self._system
        if self._turned is None:
            self._turned = _with_own_directions(self._system)
        axes, data = self._axes(q), self._turned.arrays.constraint_data
        data[...] = self._system.arrays.constraint_data
        for i in np.flatnonzero(angles > REACH):
            phi = Rotation.from_matrix(axes.W[i] @ axes.U[i].T).as_rotvec() if self.count[i] == 3 else axes.shortest(i)
            back = Rotation.from_rotvec(phi * (REACH / angles[i] - 1.0)).as_matrix()
            rows = self.first[i] + np.arange(self.count[i])
            data[rows, W] = data[rows, W] @ (axes.of_b[i].T @ back @ axes.of_b[i]).T
        return self._turned

    def _axes(self, q: Array) -> _Axes:
        """The axes at q."""
        arrays, first = self._system.arrays, self.first
        places, rotations = np.zeros((arrays.links.shape[0], 1, 3)), np.zeros((arrays.links.shape[0], 1, 3, 3))
        fill_all_poses(places, rotations, arrays, self._system.work, np.ascontiguousarray(q)[None])
        rotations = np.concatenate([rotations[:, 0], np.eye(3)[None]])  # −1: the world
        of_a, of_b = (rotations[arrays.constraints[first, link]] for link in (layout.LINK_A, layout.LINK_B))
        data, last = arrays.constraint_data, first + self.count - 1
        three = [data[row] for row in (first, first + 1, last)]
        u = of_a @ np.stack([row[:, U] for row in three], axis=2)
        w = of_b @ np.stack([row[:, W] for row in (three[2], three[0], three[1])], axis=2)
        return _Axes(of_b, u, w, np.cross(u[:, :, 0], u[:, :, 1]), w[:, :, 0])


class _Axes(NamedTuple):
    """Axes of all sets in the world.

    of_b    (sets, 3, 3)   rotation of the link of b
    U, W    (sets, 3, 3)   axes of a and of b, as columns, where a set is of frames
    n, w    (sets, 3)      the axis of a and that of b, where it is of axes
    """

    of_b: Array
    U: Array
    W: Array
    n: Array
    w: Array

    def shortest(self, i: np.intp) -> Array:
        """The least rotation vector that turns the axis of a to that of b; where they are opposite, about any axis across."""
        across, along = np.cross(self.n[i], self.w[i]), float(self.n[i] @ self.w[i])
        sine = float(np.linalg.norm(across))
        if sine < OPPOSITE:
            return np.pi * (0.8 * self.U[i, :, 0] + 0.6 * self.U[i, :, 1])
        turn: Array = across / sine * np.arctan2(sine, along)
        return turn


def _with_own_directions(system: BaseSystem) -> BaseSystem:
    """The same system with directions of its own."""
    own = copy(system)
    own.arrays = layout.System(**{name: getattr(system.arrays, name) for name in system.arrays._numba_type_.layout})
    return own
