"""What rolling bodies and edges hold in symbols: the gap g(q), and velocities A(q) v of the point of contact.

A body b, of centre x_b, touches a surface of a at x_b + s, where it is farthest along −n. With S of an ellipsoid and a
rounding ρ,

    s = −S n/√(nᵀ S n) − ρ n,      g = h − √(nᵀ S n) − ρ,      A v = d·(ẋ_b − ẋ_a) + ω_b·(s × d) − ω_a·((r + s) × d),

with r = x_b − x_a, the height h of x_b above the surface, and tangents d. An edge holds the velocity of its point along a
direction d of b. Products with ω_b are taken in the frame of b, and those with ω_a in that of a.

Source: Neimark & Fufaev, Dynamics of Nonholonomic Systems (1972), chapter 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import sympy

from mbvi.model.holds import Edge, Rolls, normals
from mbvi.symbolic.frames import Frame
from mbvi.symbolic.short import short
from mbvi.symbolic.values import exact, number


class Motion(NamedTuple):
    """Symbols of a motion.

    q, v, turning    (n, 1)    coordinates, their rates, and rates that spins of frames are columns of
    start            numbers of a state and of parameters, as `subs` takes them
    """

    q: Any
    v: Any
    turning: Any
    start: Mapping[Any, float]


def slip(
    name: str, hold: Rolls | Edge, is_inside: bool, a: Frame, b: Frame, motion: Motion
) -> Iterator[tuple[str, Any]]:
    """Names and expressions of what a contact or an edge holds between two frames."""
    if isinstance(hold, Edge):
        yield f"{name}.across", _slip(a, b, sympy.zeros(3, 1), b.rotation * _exact(hold.direction), motion)
        return
    direction = a.rotation * _exact(hold.direction)
    normal, height = _normal(hold, is_inside, b.place - a.place, direction)
    own = b.rotation.T * normal
    shape = sympy.Matrix(3, 3, lambda i, j: number(hold.shape[i][j])).replace(
        _is_float, lambda each: exact(float(each))
    )
    reach, rounding = sympy.Integer(0), number(hold.rounding)
    s = -rounding * own
    if any(shape):
        reach = sympy.sqrt(short((own.T * shape * own)[0]))
        s -= shape * own / reach
    yield f"{name}.gap", height - reach - rounding
    first = _tangent(hold, a, normal, direction, motion.start)
    for part, tangent in (("roll_u", first), ("roll_v", normal.cross(first))):
        yield f"{name}.{part}", _slip(a, b, s, tangent, motion)


def _is_float(expression: Any) -> bool:
    return bool(expression.is_Float)


def _normal(hold: Rolls, is_inside: bool, r: Any, direction: Any) -> tuple[Any, Any]:
    """The surface's normal (3, 1), and the height of the centre of b above it."""
    if hold.surface == "plane":
        return direction, direction.dot(r)
    away = r - direction.dot(r) * direction if hold.surface == "cylinder" else r
    length, sign = sympy.sqrt(short(away.dot(away))), -1 if is_inside else 1
    return sign * away / length, sign * length - number(hold.surface_radius)


def _tangent(hold: Rolls, a: Frame, normal: Any, direction: Any, start: Mapping[Any, float]) -> Any:
    """The first tangent (3, 1): fixed in a, the cylinder's axis, or e × n, e the axis of a farthest from n at a state."""
    if hold.surface == "cylinder":
        return direction
    if hold.surface == "plane":
        return a.rotation * _exact(normals(hold.direction)[0])
    own = np.abs(np.array((a.rotation.T * normal).subs(start), dtype=float)).ravel()
    return (a.rotation * sympy.eye(3)[:, int(own.argmin())]).cross(normal)


def _slip(a: Frame, b: Frame, s: Any, along: Any, motion: Motion) -> Any:
    """The velocity of the point of b at s (3, 1), in the frame of b, against that of a, along a direction (3, 1) of the world."""
    r = b.place - a.place
    speed = along.dot(r.jacobian(motion.q) * motion.v)
    spin = (b.spin * motion.turning).dot(s.cross(b.rotation.T * along))
    if any(a.spin):
        arm = a.rotation.T * (r + b.rotation * s)
        spin -= (a.spin * motion.turning).dot(arm.cross(a.rotation.T * along))
    return speed + spin


def _exact(direction: Any) -> Any:
    return sympy.Matrix([exact(float(each)) for each in np.asarray(direction, dtype=float)])
