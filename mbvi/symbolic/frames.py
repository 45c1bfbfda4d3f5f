"""Frames of bodies in symbols: rotation R and place x in the world, and what the rates of the coordinates make of them.

The twist of a frame, along its own axes, is Ω v and U v with columns of the coordinates' rates. Behind a rotation Q that a rate
turns about a, and a way d of the rotated frame,

    Ω ← Qᵀ Ω + a,     U ← Qᵀ U          Ω ← Ω,     U ← U + Ω × d + ḋ

so that no angle of what carries a chain stands in the inertia of the chain. A unit quaternion a has the rotation of a/|a| and the
columns 2 vec(ā e_α), also where |a| is not 1. Turns that follow one another about the same axis are turns by the sum of their
angles.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import sympy

from mbvi.symbolic.values import cross_matrix, rotation_about


@dataclass(frozen=True)
class Frame:
    """A frame of a body.

    before        (3, 3)    rotation to the world of the frame before the last turn
    axis, angle   (3, 1)    of the last turn
    place         (3, 1)    of the origin, in the world
    spin, speed   (3, n)    Ω and U
    """

    before: Any
    axis: Any
    angle: Any
    place: Any
    spin: Any
    speed: Any

    @property
    def rotation(self) -> Any:
        """Rotation to the world (3, 3)."""
        return self.before if self.axis is None else self.before * rotation_about(self.axis, self.angle)

    def turned(self, axis: Any, angle: Any, column: int) -> Frame:
        """Behind a turn about an axis (3, 1) by a coordinate."""
        Q = rotation_about(axis, angle)
        spin, speed = Q.T * self.spin, Q.T * self.speed
        spin[:, column] += axis
        if self.axis is not None and self.axis in (axis, -axis):
            total = self.angle + (angle if self.axis == axis else -angle)
            return replace(self, angle=total, spin=spin, speed=speed)
        return Frame(self.rotation, axis, angle, self.place, spin, speed)

    def rotated(self, Q: Any) -> Frame:
        """Behind a constant rotation (3, 3)."""
        if sympy.eye(3) == Q:
            return self
        return Frame(self.rotation * Q, None, None, self.place, Q.T * self.spin, Q.T * self.speed)

    def turned_by_quaternion(self, a: Any, first: int) -> Frame:
        """Behind a rotation by a quaternion (4,) of coordinates from `first` on."""
        Q = quaternion_matrix(a)
        spin, speed = Q.T * self.spin, Q.T * self.speed
        w, x, y, z = a
        spin[:, first : first + 4] += 2 * sympy.Matrix([[-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]])
        return Frame(self.rotation * Q, None, None, self.place, spin, speed)

    def moved(self, way: Any) -> Frame:
        """The frame at a constant place (3, 1) in this frame."""
        if not any(way):
            return self
        return replace(self, place=self.place + self.rotation * way, speed=self.speed - cross_matrix(way) * self.spin)

    def slid(self, axis: Any, way: Any, rate: Any, column: int) -> Frame:
        """Behind a slide along an axis (3, 1), with its derivative by a coordinate."""
        frame = self.moved(axis * way)
        speed = frame.speed.copy()
        speed[:, column] += axis * rate
        return replace(frame, speed=speed)


def world(n: int) -> Frame:
    """The frame of the world, with n coordinates."""
    zero = sympy.zeros(3, n)
    return Frame(sympy.eye(3), None, None, sympy.zeros(3, 1), zero, zero)


def quaternion_matrix(a: Any) -> Any:
    """The rotation (3, 3) of a/|a|."""
    w, x, y, z = a
    vector = cross_matrix((x, y, z))
    return sympy.eye(3) + 2 * (w * vector + vector * vector) / (w**2 + x**2 + y**2 + z**2)
