"""Euler angles of joints, and gimbal lock: where the second angle lets the first and the last turn about the same axis.

There the angles of an attitude are not unique, and a finite velocity of the body may need infinite ones of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mbvi.model.directions import cross
from mbvi.model.rotations import rotation_matrix
from mbvi.system.system import System

Array = np.ndarray
NEAR = 0.1  # distance from gimbal lock at which steps are looked at [rad]
LOCKED = 1e-6  # distance at which angles are in it
ROUNDED = 1e-14  # distance at which rounding decides about the first angle
UNRESOLVED = 0.5  # turn of a step, relative to the distance from gimbal lock, that no scheme resolves


class EulerAngles(NamedTuple):
    """Three angles of a joint.

    joint      its name
    place      number of the first of their coordinates
    is_proper  whether the first and the last turn about the same axis, so that lock is at θ = 0, π and not at θ = ±π/2
    """

    joint: str
    place: int
    is_proper: bool

    def distance(self, theta: Array) -> Array:
        """Distance of the second angle from lock, |sin θ| or |cos θ|."""
        return np.abs(np.sin(theta) if self.is_proper else np.cos(theta))

    def first_unresolved(self, angles: Array) -> tuple[int, float] | None:
        """The first step between angles (states, 3) that turns by more than a part of its distance from lock, and by how much.

        The first state is that before the one at which the steps begin. Near lock, at a distance δ, a turn of the body by ε turns
        the first and the last angle by about ε/δ. A step's own is ε² = Δθ² + (δ Δ²φ)², where Δ²φ is what Δφ has more than that of
        the step before: a steady precession near lock is as exact as any.
        """
        distance = self.distance(angles[1:, 1])
        near = np.flatnonzero((distance[1:] < NEAR) | (distance[:-1] < NEAR))
        if not len(near):
            return None
        turn, distance = np.diff(angles[1:, 1])[near], np.minimum(distance[near], distance[near + 1])
        bend = np.nan_to_num(np.diff(angles[:, 0], n=2)[near])  # no more than the step before, where that is not known
        ratio = np.hypot(turn, distance * bend) / np.maximum(distance, np.finfo(float).tiny)
        passing = np.flatnonzero(ratio > UNRESOLVED)
        return (int(near[passing[0]]), float(ratio[passing[0]])) if len(passing) else None


def euler_angles(system: System) -> list[EulerAngles]:
    """The Euler angles of the joints of a tree."""
    if system.model is None or system.homes is None:
        return []
    found = []
    for name, first in system.homes.joints.items():
        joint = system.model.joints[name]
        if joint.has_euler_angles:
            place = first + len(joint.coordinate_names) - 3
            first_axis, _, last_axis = (motion.axis for motion in joint.motions()[-3:])
            found.append(EulerAngles(name, place, first_axis == last_axis))
    return found


def joints_in_gimbal_lock(system: System, q: Array) -> list[str]:
    """The joints whose Euler angles are in gimbal lock at q (n,)."""
    return [each.joint for each in euler_angles(system) if each.distance(q[each.place + 1]) < LOCKED]


def angles_of_rotation(axes: Sequence[Array], rotation: Array, omega: Array) -> Array:
    """φ, θ, ψ (3,) of R = exp(φ i) exp(θ j) exp(ψ k), of which j is across both i and k, and i and k are the same or across.

    R k = exp(φ i) exp(θ j) k has no part along exp(φ i) j: that is φ, of whose two values the one with sin θ ≥ 0 is taken, or
    with cos θ ≥ 0 if i and k differ. In gimbal lock, where φ may be anything, j turns into the part of the angular velocity ω
    across i, which no other angles let the body have. The rest is a rotation about j, and then one about k.
    """
    i, j, k = axes
    across, end = cross(i, j), rotation @ k
    sign = across @ k or -1.0
    y, x = -sign * (j @ end), sign * (across @ end)
    if np.hypot(x, y) < ROUNDED:
        y, x = across @ omega, j @ omega
    phi = np.arctan2(y, x)
    rest = rotation_matrix(phi * i).T @ rotation
    theta = np.arctan2(cross(j, k) @ rest @ k, k @ rest @ k)
    rest = rotation_matrix(theta * j).T @ rest
    return np.array([phi, theta, np.arctan2(cross(k, j) @ rest @ j, j @ rest @ j)])
