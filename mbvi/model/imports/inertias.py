"""Inertias as files of robots have them: their numbers are rounded, and some of them no body can have."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbvi.model.rounding import LEAST_RADIUS, ROUND_OFF, excess, nearest_inertia

Floats = NDArray[np.float64]
SMALL = 1e-3  # m, of a radius of gyration
NOTHING = 1e-30  # kg m², far less than a grain of dust has


class Mended(NamedTuple):
    """An inertia of a rigid body, and how far it is from that given.

    inertia   (3, 3)  about the centre of mass  [kg m²]
    change    largest change of an entry, in mass times the square of the radius of gyration, which counts as 1 mm at least, so
              that what arithmetic leaves of no inertia is no large change; 0 if there is none
    """

    inertia: Floats
    change: float


def mended(mass: float, inertia: Floats) -> Mended:
    """The nearest inertia (3, 3) of a rigid body to a symmetric one; itself if round-off explains how far that is from one."""
    size = float(np.abs(inertia).max())
    if size <= max(mass * LEAST_RADIUS**2, NOTHING):
        return Mended(np.zeros((3, 3)), 0.0)
    if excess(np.linalg.eigvalsh(inertia)) <= ROUND_OFF * size:
        return Mended(inertia, 0.0)
    nearest = nearest_inertia(inertia)
    gyration = float(np.trace(nearest)) / 2  # ∫ r² dm
    change = float(np.abs(nearest - inertia).max())
    return Mended((nearest + nearest.T) / 2, change / (max(gyration, mass * SMALL**2) or size))
