"""Stiff springs and dampers for stops and bristles, as peers need them in the place of laws of impact and friction."""

from __future__ import annotations

import math

from scipy.optimize import brentq

STEPS = (1e-3, 3e-4, 1e-4, 3e-5)
"""Steps that are tried [s]."""
TURN = 0.2
"""How far an oscillation on a stop's spring turns in the largest of these steps [rad]."""
POWERS = {"": 1, ", stiffer": 2}
"""How fast the stiffness grows, and what methods are called by it."""


def stiffness(step: float, power: int) -> float:
    """Of the spring of a stop, per mass [1/s²], which grows with a power of 1/step.

    With 1, an impact becomes shorter and has more steps, each with the root of the step; with 2 it has as many steps always.
    """
    return (TURN / STEPS[0]) ** 2 * (STEPS[0] / step) ** power


def restitution(ratio: float, may_pull: bool) -> float:
    """The part of the speed that a spring with a damping ratio leaves; it may pull, or lets go where its force is zero.

    Of r'' + 2 ζ r' + r = 0 from r = 0 and r' = −1: until r is zero again, or until r + 2 ζ r' is.
    """
    rate = math.sqrt(1 - ratio**2)
    angle = math.pi if may_pull else math.pi - math.atan2(2 * ratio * rate, 1 - 2 * ratio**2)
    late = angle / rate
    decay = math.exp(-ratio * late)
    return decay * abs(math.cos(angle) - ratio / rate * math.sin(angle))


def damping_ratio(part: float, may_pull: bool) -> float:
    """The damping ratio that leaves a part of the speed."""
    if part == 1.0:
        return 0.0
    return float(brentq(lambda ratio: restitution(ratio, may_pull) - part, 0.0, 0.7))
