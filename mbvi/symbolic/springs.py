"""Bushings and ball springs in symbols: their potential, and what their dampers act on.

With axes e_m fixed in body a, e'_m those that body b carries along, and r the way from a point of a to one of b,

    V = ½ Σ k_m (e_m·r)² + Σ s_m (1 − e_m·e'_m),        s_m = ½ (κ_x + κ_y + κ_z) − κ_m,

so that a small turn about e_m has the stiffness κ_m. Dampers act on the rates of e_m·r, and on turns of b against a about e_m.
"""

from __future__ import annotations

from typing import Any

import sympy

from mbvi.model.forces import BallSpring
from mbvi.symbolic.bodies import Bodies


class Springs:
    """A bushing, or the ball spring of a joint.

    Attributes
    ----------
    potential : expression
        V.
    gaps : Matrix (3, 1)
        e_m·r.
    turns : Matrix (3, n)
        Columns of the rates: the turning of b against a about the axes e_m.
    damping, turning_damping : Matrix (3, 1)
    """

    def __init__(self, bodies: Bodies, raw: Any, force: Any) -> None:
        values = bodies.values
        if isinstance(force, BallSpring):
            joint, raw_joint = bodies.resolved.joints[force.joint], bodies.model.joints[force.joint]
            a, b = bodies.frames[joint.parent], bodies.frames[joint.child]
            axes, rest = sympy.eye(3), values.rotation(raw.rest) * values.rotation(raw_joint.orientation)
            stiffness = self.damping = sympy.zeros(3, 1)
            turning = sympy.Matrix([values.scalar(raw.stiffness)] * 3)
            self.turning_damping = sympy.Matrix([values.scalar(raw.damping)] * 3)
        else:
            places = zip(raw.ends(), force.ends(), strict=True)
            a, b = (bodies.frames[body].moved(values.place(body, place)) for (_, place), (body, _) in places)
            axes, rest = values.rotation(raw.orientation), values.rotation(raw.rest_orientation)
            stiffness, turning = values.vector(raw.stiffness), values.vector(raw.turning_stiffness)
            self.damping, self.turning_damping = values.vector(raw.damping), values.vector(raw.turning_damping)
        of_a, against = (a.rotation * axes).T, a.rotation.T * b.rotation
        self.gaps = of_a * (b.place - a.place)
        self.turns = axes.T * (against * b.spin - a.spin)
        carried = axes.T * against * rest.T * axes
        weights = [sum(turning) / 2 - each for each in turning]
        self.potential = sum(stiffness[m] * self.gaps[m] ** 2 / 2 + weights[m] * (1 - carried[m, m]) for m in range(3))
