"""How the accelerations change that rolling bodies and edges hold, by complex steps, which are exact to round-off.

A contact or an edge holds the velocity w of a point of b against a along a direction d, and so

    d·ẇ + ḋ·w = 0,      w = ẋ_b + ω_b × s − ẋ_a − ω_a × (r + s),      r = x_b − x_a,

where s leads from x_b to the point of contact, as `mbvi.kernels.mechanics.rolling` describes. The gap is held along the
normal, for its rate is n·w. In complex numbers all of this is analytic: of states that are moved by i ε δ the imaginary part
is ε times the derivative along δ.

Source: Squire & Trapp, SIAM Review 40 (1998).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mbvi.kernels import layout
from mbvi.system.base import BaseSystem

Array = np.ndarray
Rated = tuple[Array, Array]  # a vector and its rate
TINY = 1e-200  # ε


class Moving(NamedTuple):
    """A point of a link and its axes in the world, with their rates, moved along every tangent: (states, nv, 3), axes (…, 3)."""

    place: Array
    velocity: Array
    acceleration: Array
    axes: Array
    spin: Array
    spin_rate: Array


def moved(at: Array, change: Array) -> Array:
    """Vectors (states, 3) and their derivatives (states, 3, nv) as complex vectors (states, nv, 3)."""
    complex_step: Array = at[:, None, :] + 1j * TINY * np.swapaxes(change, 1, 2)
    return complex_step


def slip_derivatives(system: BaseSystem, row: int, a: Moving, b: Moving) -> Array:
    """Derivatives (states, nv) of d·ẇ + ḋ·w of a constraint that holds it."""
    arrays, data = system.arrays, system.arrays.constraint_data[row]
    contact = int(np.flatnonzero(arrays.touches[:, layout.TOUCH_ROW] == row)[0])
    surface, part = arrays.touches[contact, layout.SURFACE], arrays.touches[contact, layout.PART]
    u, tangent = data[layout.DIRECTION_U : layout.DIRECTION_U + 3], data[layout.DIRECTION_W : layout.DIRECTION_W + 3]
    if surface == layout.EDGE:
        along, centre = _fixed(b, u), (np.zeros_like(a.place), np.zeros_like(a.place))
    else:
        axis = _fixed(a, u)
        normal, radial = _normal(surface, arrays.touch_data[contact, layout.SURFACE_RADIUS], axis, a, b)
        centre = _to_contact(arrays.touch_data[contact], normal, b)
        along = normal if part == layout.OF_GAP else _tangent(surface, _fixed(a, tangent), axis, radial, normal, a)
        if part == layout.SECOND_TANGENT:
            along = _product(normal, along)
    slip, change = _slip(a, b, *centre)
    derivative: Array = (_dot(along[0], change) + _dot(along[1], slip))[..., 0].imag / TINY
    return derivative


def _slip(a: Moving, b: Moving, s: Array, ds: Array) -> Rated:
    """The velocity w of the point of b against a, and its rate."""
    arm, rate = b.place - a.place + s, b.velocity - a.velocity + ds
    slip = b.velocity + np.cross(b.spin, s) - a.velocity - np.cross(a.spin, arm)
    change = b.acceleration + np.cross(b.spin_rate, s) + np.cross(b.spin, ds)
    return slip, change - a.acceleration - np.cross(a.spin_rate, arm) - np.cross(a.spin, rate)


def _normal(surface: int, radius: float, axis: Rated, a: Moving, b: Moving) -> tuple[Rated, Rated]:
    """The normal of the surface and the direction away from its axis or centre, with their rates."""
    if surface == layout.PLANE:
        return axis, axis
    r, dr = b.place - a.place, b.velocity - a.velocity
    if surface == layout.CYLINDER:
        (u, du), height = axis, _dot(r, axis[0])
        r, dr = r - height * u, dr - (_dot(dr, u) + _dot(r, du)) * u - height * du
    length, sign = np.sqrt(_dot(r, r)), np.sign(radius)
    radial = r / length
    rate = (dr - _dot(radial, dr) * radial) / length
    return (sign * radial, sign * rate), (radial, rate)


def _tangent(surface: int, tangent: Rated, axis: Rated, radial: Rated, normal: Rated, a: Moving) -> Rated:
    """The first tangent and its rate: fixed in a, the cylinder's axis, or at right angles to the axis of a farthest from n."""
    if surface == layout.PLANE:
        return tangent
    if surface == layout.CYLINDER:
        return axis
    own = np.abs(_in_link(a, radial[0]).real)
    farthest = np.eye(3)[np.argmin(own, axis=-1)]
    return _product(_fixed(a, farthest), normal)


def _to_contact(touch: Array, normal: Rated, b: Moving) -> Rated:
    """The way s = −S n/√(nᵀ S n) − ρ n from the centre of b, and its rate."""
    n, dn = normal
    xx, yy, zz, xy, xz, yz = touch[layout.SHAPE : layout.SHAPE + 6]
    shape, rounding = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), touch[layout.ROUNDING]
    if not shape.any():
        return -rounding * n, -rounding * dn
    own, rate = _in_link(b, n), _in_link(b, dn - np.cross(b.spin, n))
    outline = own @ shape
    root = np.sqrt(_dot(own, outline))
    s = _in_world(b, -outline / root)
    bend = _in_world(b, outline * _dot(outline, rate) / root**3 - rate @ shape / root)
    return s - rounding * n, np.cross(b.spin, s) + bend - rounding * dn


def _fixed(link: Moving, direction: Array) -> Rated:
    """A direction (…, 3) that is fixed in a link, and its rate."""
    found = _in_world(link, np.broadcast_to(direction, link.place.shape))
    return found, np.cross(link.spin, found)


def _in_world(link: Moving, x: Array) -> Array:
    found: Array = (link.axes @ x[..., None])[..., 0]
    return found


def _in_link(link: Moving, x: Array) -> Array:
    found: Array = (x[..., None, :] @ link.axes)[..., 0, :]
    return found


def _product(x: Rated, y: Rated) -> Rated:
    """x × y and its rate."""
    return np.cross(x[0], y[0]), np.cross(x[1], y[0]) + np.cross(x[0], y[1])


def _dot(x: Array, y: Array) -> Array:
    """Products (…, 1), of complex numbers without conjugates."""
    products: Array = (x * y).sum(axis=-1, keepdims=True)
    return products
