"""Velocities in the tangent space, and steps along it: three numbers for a ball joint, whose quaternion has four rates.

Quaternions are scalar first, w x y z. What a ball joint has in v is the angular velocity of its child relative to its parent,
along the axes of the link; all other entries of v are the rates of the coordinates.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError
from mbvi.floats import as_floats
from mbvi.kernels import layout
from mbvi.model.expressions import show, wrong
from mbvi.system.base import BaseSystem
from mbvi.system.states import check_finite, states, together

Array = np.ndarray


def velocity_names(system: BaseSystem) -> tuple[str, ...]:
    """A name for every entry of v: that of the coordinate, or wx, wy, wz of the joint or body that turns by a quaternion."""
    names, balls = list(system.coordinate_names), set(_places(system))
    found: list[str] = []
    for i, name in enumerate(names):
        if i in balls:
            found += [f"{name.rpartition('.')[0]}.{each}" for each in ("wx", "wy", "wz")]
        elif not any(first < i < first + 4 for first in balls):
            found.append(name)
    return tuple(found)


def velocity_index(system: BaseSystem, coordinate: int) -> int:
    """The entry of v that is the rate of a coordinate which is no part of a quaternion."""
    return coordinate - sum(first < coordinate for first in _places(system))


def integrate(system: BaseSystem, q: ArrayLike, step: ArrayLike) -> Array:
    """The coordinates (…, nq) that a step (…, nv) along the tangent space leads to from q (…, nq).

    Coordinates are added; a quaternion becomes a exp(½ δ), a turn by the vector δ about the axes of the link. It is exact for a
    constant velocity times a time.

    Examples
    --------
    >>> import mbvi
    >>> joint = mbvi.Ball(parent="world", child="top")
    >>> system = mbvi.assemble(mbvi.Model(name="top", bodies={"top": mbvi.Body(mass=1)}, joints={"ball": joint}))
    >>> system.integrate([1.0, 0.0, 0.0, 0.0], [np.pi, 0.0, 0.0]).round(12)
    array([0., 1., 0., 0.])
    """
    shape, (q_at, at) = _tangent(system, q=states(system.dimension, "q", q), step=states(nv(system), "step", step))
    found = np.empty_like(q_at)
    scalars, balls, of_scalars, of_balls = _split(system)
    found[:, scalars] = q_at[:, scalars] + at[:, of_scalars]
    found[:, balls] = _product(q_at[:, balls], _exponential(at[:, of_balls]))
    return found.reshape(*shape, system.dimension)


def difference(system: BaseSystem, q: ArrayLike, other: ArrayLike) -> Array:
    """The step (…, nv) along the tangent space from q to other coordinates (…, nq), the inverse of `integrate`.

    Of the two turns from one orientation to another it is the shorter one, by π at most.
    """
    shape, (q_at, at) = _tangent(
        system, q=states(system.dimension, "q", q), other=states(system.dimension, "other", other)
    )
    found = np.empty((len(q_at), nv(system)))
    scalars, balls, of_scalars, of_balls = _split(system)
    found[:, of_scalars] = at[:, scalars] - q_at[:, scalars]
    found[:, of_balls] = _logarithm(_product(_conjugate(q_at[:, balls]), at[:, balls]))
    return found.reshape(*shape, nv(system))


def _tangent(system: BaseSystem, **arrays: Array) -> tuple[tuple[int, ...], list[Array]]:
    """What `together` gives, of finite numbers and of quaternions that have a length."""
    shape, at = together(**arrays)
    named = dict(zip(arrays, at, strict=True))
    for i in np.flatnonzero(~np.all([np.isfinite(each).all(axis=1) for each in at], axis=0)):
        check_finite(int(i), **named)
    for what in [each for each in named if each in ("q", "other")]:
        system._check_quaternions(what, named[what])
    return shape, at


def velocity_of_rates(system: BaseSystem, q: ArrayLike, rates: ArrayLike) -> Array:
    """Velocities v (…, nv) of the rates of all coordinates (…, nq), as a trajectory has them."""
    shape, (q_at, at) = _tangent(
        system, q=states(system.dimension, "q", q), rates=states(system.dimension, "rates", rates)
    )
    found = np.empty((len(q_at), nv(system)))
    scalars, balls, of_scalars, of_balls = _split(system)
    found[:, of_scalars] = at[:, scalars]
    found[:, of_balls] = 2.0 * _product(_conjugate(q_at[:, balls]), at[:, balls])[..., 1:]
    return found.reshape(*shape, nv(system))


def rates_of_velocity(system: BaseSystem, q: ArrayLike, v: ArrayLike) -> Array:
    """The rates (…, nq) of all coordinates, of velocities v (…, nv)."""
    shape, (q_at, at) = _tangent(system, q=states(system.dimension, "q", q), v=states(nv(system), "v", v))
    found = np.empty_like(q_at)
    scalars, balls, of_scalars, of_balls = _split(system)
    found[:, scalars] = at[:, of_scalars]
    a, omega = q_at[:, balls], at[:, of_balls]
    half = 0.5 * omega / np.sum(a * a, axis=-1, keepdims=True)
    found[:, balls] = _product(a, np.concatenate([np.zeros_like(half[..., :1]), half], axis=-1))
    return found.reshape(*shape, system.dimension)


def to_xyzw(quaternions: ArrayLike) -> Array:
    """Quaternions (…, 4) w, x, y, z in the order x, y, z, w, which SciPy, ROS and Pinocchio have."""
    return np.roll(_quaternions(quaternions), -1, axis=-1)


def from_xyzw(quaternions: ArrayLike) -> Array:
    """Quaternions (…, 4) x, y, z, w in the order w, x, y, z of mbvi."""
    return np.roll(_quaternions(quaternions), 1, axis=-1)


def _quaternions(values: ArrayLike) -> Array:
    array = as_floats(values)
    if array is None or not array.ndim or array.shape[-1] != 4:
        found = show(values) if array is None else f"an array of shape {array.shape}"
        raise ModelError(f"quaternions: {wrong('an array of shape (…, 4)', found)}")
    return array


def nv(system: BaseSystem) -> int:
    """Number of velocities: that of the coordinates, less one for every quaternion."""
    return system.dimension - len(_places(system))


def _places(system: BaseSystem) -> list[int]:
    """The first coordinate of every quaternion."""
    links = system._arrays.links
    return sorted(links[links[:, layout.KIND] == layout.QUATERNION, layout.DOF].tolist())


def _split(system: BaseSystem) -> tuple[Array, Array, Array, Array]:
    """The coordinates that are no quaternions (s,), those of quaternions (b, 4), and the entries of v of both (s,), (b, 3)."""
    first = np.array(_places(system), int)
    balls = first[:, None] + np.arange(4)
    scalars = np.setdiff1d(np.arange(system.dimension), balls.ravel())
    of_balls = (first - np.arange(len(first)))[:, None] + np.arange(3)
    return scalars, balls, np.setdiff1d(np.arange(nv(system)), of_balls.ravel()), of_balls


def _conjugate(a: Array) -> Array:
    return a * np.array([1.0, -1.0, -1.0, -1.0])


def _product(a: Array, b: Array) -> Array:
    """Products a b of quaternions (…, 4)."""
    aw, bw, a_vector, b_vector = a[..., :1], b[..., :1], a[..., 1:], b[..., 1:]
    w = aw * bw - np.sum(a_vector * b_vector, axis=-1, keepdims=True)
    return np.concatenate([w, aw * b_vector + bw * a_vector + np.cross(a_vector, b_vector)], axis=-1)


def _exponential(turn: Array) -> Array:
    """Unit quaternions (…, 4) of turns by vectors (…, 3) [rad]."""
    angle = np.linalg.norm(turn, axis=-1, keepdims=True)
    return np.concatenate([np.cos(0.5 * angle), 0.5 * np.sinc(angle / (2.0 * np.pi)) * turn], axis=-1)


def _logarithm(a: Array) -> Array:
    """The vectors (…, 3) of the turns of quaternions (…, 4), up to π."""
    a = np.where(a[..., :1] < 0.0, -a, a)
    size = np.linalg.norm(a[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(size, a[..., :1])
    scale = np.where(size > 0.0, angle / np.where(size > 0.0, size, 1.0), 2.0 / np.where(size > 0.0, 1.0, a[..., :1]))
    return scale * a[..., 1:]
