"""Inertias as they are given: matrices, what is wrong with one that no rigid body has, and the nearest one that a body has.

An inertia may be given about another point than the centre of mass. It is then larger than the body's own by m (|d|² 1 − d dᵀ),
where d is the arm from that point to the centre of mass.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbvi.model.expressions import Problem, show, wrong
from mbvi.model.rounding import LEAST_RADIUS, ROUND_OFF, ROUNDING, excess, nearest_inertia
from mbvi.recording import array, decide, dot

Floats = NDArray[np.float64]

NEAR = 0.03  # distance from a limit, as part of it, at which a number has one digit more
ZERO = 1e-12  # part of the largest principal moment that rounding leaves of a moment of 0


def inertia_matrix(inertia: Any) -> Floats:
    """The inertia matrix (3, 3) from [Ixx, Iyy, Izz], [Ixx, Iyy, Izz, Ixy, Ixz, Iyz] or the matrix itself."""
    values = array(inertia)
    if values.shape == (3,):
        return np.diag(values)
    if values.shape == (6,):
        xx, yy, zz, xy, xz, yz = values
        return array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return values


def steiner(mass: float, d: Floats) -> Floats:
    """Inertia of a point mass at d: m (|d|² 1 − d dᵀ)."""
    return mass * (dot(d, d) * np.eye(3) - d[:, None] * d)


class _Miss(NamedTuple):
    """The amounts by which a body's inertia misses that of a rigid body.

    given      (3, 3)  as it is given, symmetric  [kg m²]
    own        (3, 3)  the same about the centre of mass
    nearest  (3, 3)    the nearest of a rigid body to that
    asymmetry          largest difference of two products that should be equal
    excess             of the largest principal moment about the centre of mass over the sum of the others
    allowed            what rounding explains of either
    """

    given: Floats
    own: Floats
    nearest: Floats
    asymmetry: float
    excess: float
    allowed: float


def is_sound(inertia: Any, mass: float, arm: Floats | None) -> bool:
    """Whether an inertia, as for `mended_inertia`, misses that of a rigid body by no more than arithmetic leaves."""
    matrix = inertia_matrix(inertia)
    given = (matrix + matrix.T) / 2
    return decide(_is_round_off, matrix, given, given if arm is None else given - steiner(mass, arm))


def _is_round_off(matrix: Floats, given: Floats, own: Floats) -> Any:
    """Whether matrices (…, 3, 3) are symmetric, and their own moments those of rigid bodies, but for round-off."""
    size = ROUND_OFF * np.maximum(np.abs(given), np.abs(own)).max((-2, -1))
    low, middle, high = np.moveaxis(np.linalg.eigvalsh(np.nan_to_num(own, posinf=0.0, neginf=0.0)), -1, 0)
    asymmetry = np.abs(matrix - np.swapaxes(matrix, -2, -1)).max((-2, -1))
    return np.maximum(asymmetry, high - middle - low) <= size


def _miss(inertia: Any, mass: float, arm: Floats | None) -> _Miss:
    matrix = inertia_matrix(inertia)
    given = (matrix + matrix.T) / 2
    own = given - (0.0 if arm is None else steiner(mass, arm))
    least = mass * LEAST_RADIUS**2
    nearest = nearest_inertia(own) if np.abs(own).max() > least else np.zeros((3, 3))
    allowed = max(ROUNDING * float(np.trace(given)), least)
    asymmetry = float(np.abs(matrix - matrix.T).max())
    return _Miss(given, own, nearest, asymmetry, float(excess(np.linalg.eigvalsh(own))), allowed)


def mended_inertia(inertia: Any, mass: float, arm: Floats | None) -> Floats:
    """The inertia matrix (3, 3) about the point that it is given about; if rounded, the nearest of a rigid body.

    inertia   as `inertia_matrix` takes it  [kg m²]
    mass      float  [kg]
    arm       (3,)   from the point that the inertia is given about to the centre of mass; None if it is the same point  [m]
    """
    if is_sound(inertia, mass, arm):
        return inertia_matrix(inertia)
    miss = _miss(inertia, mass, arm)
    if max(miss.asymmetry, miss.excess) > miss.allowed:
        return inertia_matrix(inertia)
    return miss.nearest if arm is None else miss.given + (miss.nearest - miss.own)


def inertia_roundings(inertia: Any, mass: float, arm: Floats | None) -> Iterator[Problem]:
    """What `mended_inertia` changes in an inertia without problems."""
    if is_sound(inertia, mass, arm):
        return
    miss = _miss(inertia, mass, arm)
    trace = float(np.trace(miss.given))
    if miss.asymmetry > 0:
        yield Problem(
            ("inertia",), f"products differ by {_share(miss.asymmetry, trace)}; taken as rounded, the mean of both"
        )
    if miss.excess > 0:
        before, after = (show(_moments(matrix)) for matrix in (miss.own, miss.nearest))
        found = f"one of the principal moments {before} exceeds the sum of the others by {_share(miss.excess, trace)}"
        yield Problem(("inertia",), f"{found}; taken as rounded, and as {after}")


def _share(value: float, trace: float) -> str:
    """An inertia, and its part of the trace."""
    digits = 3 if abs(value - ROUNDING * trace) < NEAR * ROUNDING * trace else 2
    return f"{value:.3g} kg m²" + (f", {value / trace:.{digits}g} of the trace" if trace > 0 else "")


def _moments(inertia: Floats) -> list[float]:
    """Principal moments, without what rounding leaves of 0."""
    moments = np.linalg.eigvalsh(inertia)
    return [float(each) if abs(each) > ZERO * np.abs(moments).max() else 0.0 for each in moments]


def inertia_problems(inertia: Any, mass: float, arm: Floats | None, point: str) -> Iterator[Problem]:
    """What is wrong with an inertia, which is given as for `mended_inertia`, about a point of that name."""
    if is_sound(inertia, mass, arm):
        return
    miss = _miss(inertia, mass, arm)
    trace = float(np.trace(miss.given))
    limit = f"rounding explains {ROUNDING:g} of the trace"
    if miss.asymmetry > max(miss.allowed, ROUND_OFF * np.abs(miss.given).max()):
        found = f"{show(inertia_matrix(inertia).tolist())}, off by {_share(miss.asymmetry, trace)}"
        yield Problem(("inertia",), wrong("a symmetric matrix", found, limit))
        return
    if miss.excess <= miss.allowed:
        return
    moments, about = _moments(miss.own), " about the center of mass"
    found = show(moments)
    remedy = f"{limit}; check inertia, which is given about the {point}, and mass"
    if moments[0] < -miss.allowed:
        expected, found = f"a positive semidefinite matrix{about}", f"principal moments {found}{about}"
    else:
        expected = "principal moments of which none exceeds the sum of the others"
        found += f"{about}, of which the largest does by {_share(miss.excess, trace)}"
    yield Problem(("inertia",), wrong(expected, found, remedy))
