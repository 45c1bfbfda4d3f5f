"""Axes and orientations as tuples: unit vectors, unit quaternions, and what is wrong with those given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mbvi.model import rotations
from mbvi.model.expressions import Problem, show, wrong
from mbvi.model.rounding import quaternion_problems, quaternion_roundings
from mbvi.recording import array, is_zero, norm


def unit(vector: Any) -> tuple[float, ...]:
    """The unit vector in the direction of a non-zero vector."""
    values = array(vector)
    values = values / max(map(abs, values.tolist()))
    return tuple((values / norm(values)).tolist())


def quaternion(orientation: Sequence[Any]) -> tuple[float, ...]:
    """The unit quaternion (w, x, y, z) of a rotation vector (3,) [rad] or a quaternion (4,)."""
    return tuple(rotations.quaternion(orientation).tolist())


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a × b of two vectors (3,), faster than numpy's of many."""
    return array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def is_parallel(a: Any, b: Any) -> bool:
    """True if the directions differ by less than 1e-6 rad, or b is zero."""
    return is_zero(b) or norm(cross(array(unit(a)), array(unit(b)))) < 1e-6


def direction_problems(vector: Any, *where: str | int) -> Iterator[Problem]:
    """The zero vector has no direction."""
    if is_zero(vector):
        yield Problem(where, wrong("a non-zero 3-vector", show(vector), "write for example [0, 0, 1]"))


def orientation_problems(orientation: Sequence[Any]) -> Iterator[Problem]:
    """Any rotation vector is an orientation, but a quaternion only if its norm is 1, but for rounding."""
    if len(orientation) == 4:
        yield from quaternion_problems(orientation, "orientation")


def orientation_roundings(orientation: Sequence[Any]) -> Iterator[Problem]:
    """Say that a quaternion, which has no problems, was rounded."""
    if len(orientation) == 4:
        yield from quaternion_roundings(orientation, "orientation")
