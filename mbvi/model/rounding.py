"""What rounding explains: numbers given to four digits are mended, and what was done is said; beyond that they are refused.

A body of density ρ has the second moments s_i = ∫ x_i² ρ dV ≥ 0 along its principal axes, and the principal moments s_j + s_k. So
none of these exceeds the sum of the other two. Rounded ones may; the nearest that do not are those of the nearest inertia matrix,
with the same axes. Likewise the nearest unit quaternion has the direction of the one given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbvi import recording
from mbvi.model.expressions import Problem, show, wrong
from mbvi.recording import array

Floats = NDArray[np.float64]

ROUNDING = 5e-4
"""What rounding to four digits changes a number by, at most, relative to it."""
ROUND_OFF = 1e-9
"""What is no rounding of digits, relative to the trace of an inertia or the norm of a quaternion, and not said."""
LEAST_RADIUS = 1e-12
"""Radius of gyration up to which a body has no inertia, less than that of an atom [m]."""


CONSISTENT = np.array([[-1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, -1.0]])


def excess(moments: NDArray[Any]) -> float:
    """The largest of three principal moments minus the sum of the others; at most 0 for those of a body."""
    low, middle, high = np.sort(moments)
    return float(high - middle - low)


def nearest_moments(moments: Floats) -> Floats:
    """The nearest principal moments of which none exceeds the sum of the others: a projection onto a cone.

    Of m, it is m + Cᵀ λ with the λ ≥ 0 that makes this the least, where the rows of C m are the second moments 2 s; where λ > 0,
    s is 0.
    """
    from scipy.optimize import nnls

    pulls = nnls(CONSISTENT.T, -moments)[0]
    second = np.maximum(CONSISTENT @ (moments + CONSISTENT.T @ pulls) / 2, 0.0)
    second[pulls > 0] = 0.0
    return np.asarray(second.sum() - second)


def nearest_inertia(inertia: Floats) -> Floats:
    """The nearest inertia matrix (3, 3) of a rigid body to a symmetric one; itself if it is one."""
    moments, axes = np.linalg.eigh(inertia)
    if excess(moments) <= 0:
        return inertia
    return np.asarray(axes * nearest_moments(moments) @ axes.T)


def is_unit(norm: float) -> bool:
    """Whether rounding explains how far the norm of a quaternion is from 1."""
    return abs(norm - 1) <= ROUNDING


def off_unit(norm: float) -> str:
    """A norm near 1, with the digits of what it is off."""
    return f"1 {'+' if norm > 1 else '-'} {abs(norm - 1):.2g}"


def quaternion_problems(values: Sequence[Any], *where: str | int) -> Iterator[Problem]:
    """A norm that rounding does not explain."""
    norm = recording.norm(array(values))
    if not is_unit(norm):
        found = f"{show(values)} of norm {norm:.6g}" if norm else "the zero quaternion"
        yield Problem(where, wrong("a unit quaternion (w, x, y, z)", found, "write for example [1, 0, 0, 0]"))


def quaternion_roundings(values: Sequence[Any], *where: str | int) -> Iterator[Problem]:
    """Say that a quaternion, which has no problems, is divided by its norm."""
    norm = recording.norm(array(values))
    if abs(norm - 1) > ROUND_OFF:
        yield Problem(where, f"the norm of {show(values)} is {off_unit(norm)}; taken as rounded, and divided by it")
