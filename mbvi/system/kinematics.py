"""Where frames are, how they move, and how that depends on the coordinates: what `System.frame_…` calls.

The functions stand here and not in the class, so that each idea has its file; they are methods of `System` too. All take one
state (n,) or many (…, n), and give arrays of as many.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError
from mbvi.kernels.mechanics import frames as kernels
from mbvi.model.expressions import nearest, show, wrong
from mbvi.system.base import BaseSystem
from mbvi.system.states import ABSENT, Given, dynamics_work, shared

Array = np.ndarray
REFERENCES = {"world": kernels.WORLD, "body": kernels.BODY, "world-aligned": kernels.WORLD_ALIGNED}


class VelocityDerivatives(NamedTuple):
    """How a velocity changes (…, 6, nv): along the tangents of q, and with v."""

    by_q: Array
    by_v: Array


class AccelerationDerivatives(NamedTuple):
    """How an acceleration changes (…, 6, nv): along the tangents of q, with v, and with a."""

    by_q: Array
    by_v: Array
    by_a: Array


def frame_pose(system: BaseSystem, frame: str, q: ArrayLike) -> tuple[Array, Array]:
    """Place and rotation of a frame.

    Parameters
    ----------
    frame : str
        A body, whose own frame is meant; a frame of it, BODY.FRAME; or world.
    q : (…, nq)
        Coordinates of one state or many.

    Returns
    -------
    place : ndarray (…, 3)
        The frame's origin [m].
    rotation : ndarray (…, 3, 3)
        From the frame to the world.

    Raises
    ------
    ModelError
        If there is no such frame, or `q` has another shape or numbers that are not finite.

    Examples
    --------
    >>> import mbvi
    >>> arm = mbvi.Body(mass=1, frames={"tool": {"position": (0, 0, 0.5)}})
    >>> pivot = mbvi.Revolute(parent="world", child="arm", axis=(0, 1, 0))
    >>> system = mbvi.assemble(mbvi.Model(name="arm", bodies={"arm": arm}, joints={"pivot": pivot}))
    >>> system.frame_pose("arm.tool", [np.pi / 2])[0].round(12)
    array([0.5, 0. , 0. ])
    """
    out = _asked(system, frame, kernels.POSE, 12, q)
    return out[..., :3], out[..., 3:].reshape(*out.shape[:-1], 3, 3)


def frame_velocity(
    system: BaseSystem, frame: str, q: ArrayLike, v: ArrayLike, reference: str = "world-aligned"
) -> Array:
    """Velocity of a frame (…, 6): linear [m/s], then angular [rad/s].

    Parameters
    ----------
    frame : str
        As for `frame_pose`.
    q, v : (…, nq), (…, nv)
        Coordinates and velocities.
    reference : str
        world-aligned: of the frame's origin, along the world's axes; body: of the same point, along the frame's axes; world:
        along the world's axes, of the point of the body, extended, that passes through the world's origin.

    Raises
    ------
    ModelError
        As for `frame_pose`, or if there is no such reference.
    """
    return _asked(system, frame, kernels.VELOCITY, 6, q, v, reference=reference)


def frame_acceleration(
    system: BaseSystem, frame: str, q: ArrayLike, v: ArrayLike, a: ArrayLike, reference: str = "world-aligned"
) -> Array:
    """Acceleration of a frame (…, 6), the rate of the numbers of `frame_velocity`: linear [m/s²], then angular [rad/s²].

    World-aligned, the linear part is the acceleration of the frame's origin. Along the body's axes it is the rate of the
    components there, without ω × u.

    Parameters
    ----------
    frame, q, v, reference
        As for `frame_velocity`.
    a : (…, nv)
        Accelerations, the rates of `v`.
    """
    return _asked(system, frame, kernels.ACCELERATION, 6, q, v, a, reference)


def frame_jacobian(system: BaseSystem, frame: str, q: ArrayLike, reference: str = "world-aligned") -> Array:
    """The Jacobian J (…, 6, nv) of a frame: its velocity is J v.

    Parameters are those of `frame_velocity`. Loops leave only such v as hold them closed.
    """
    return _matrix(system, _asked(system, frame, kernels.JACOBIAN, 6, q, reference=reference))


def frame_jacobian_rate(
    system: BaseSystem, frame: str, q: ArrayLike, v: ArrayLike, reference: str = "world-aligned"
) -> Array:
    """The time derivative J̇ (…, 6, nv) of the Jacobian of a frame: its acceleration is J a + J̇ v.

    Parameters are those of `frame_velocity`.
    """
    return _matrix(system, _asked(system, frame, kernels.JACOBIAN_RATE, 6, q, v, reference=reference))


def frame_jacobian_derivative(system: BaseSystem, frame: str, q: ArrayLike, reference: str = "world-aligned") -> Array:
    """The derivatives (…, 6, nv, nv) of the Jacobian of a frame; the last axis is the tangent of q along which it changes.

    Parameters are those of `frame_velocity`.
    """
    nv = dynamics_work(system).nv
    out = _asked(system, frame, kernels.JACOBIAN_BY_Q, 6 * nv, q, reference=reference)
    return out.reshape(*out.shape[:-1], 6, nv, nv)


def frame_velocity_derivatives(
    system: BaseSystem, frame: str, q: ArrayLike, v: ArrayLike, reference: str = "world-aligned"
) -> VelocityDerivatives:
    """The derivatives of `frame_velocity`, exact.

    Parameters are those of `frame_velocity`. A change of q is one along the tangent space, as `System.integrate` adds it.
    """
    by_q = _asked(system, frame, kernels.VELOCITY_BY_Q, 6, q, v, reference=reference)
    return VelocityDerivatives(_matrix(system, by_q), frame_jacobian(system, frame, q, reference))


def frame_acceleration_derivatives(
    system: BaseSystem, frame: str, q: ArrayLike, v: ArrayLike, a: ArrayLike, reference: str = "world-aligned"
) -> AccelerationDerivatives:
    """The derivatives of `frame_acceleration`, exact.

    Parameters are those of `frame_acceleration`. A change of q is one along the tangent space, as `System.integrate` adds it.
    """
    by_q, by_v = (
        _matrix(system, _asked(system, frame, what, 6, q, v, a, reference))
        for what in (kernels.ACCELERATION_BY_Q, kernels.ACCELERATION_BY_V)
    )
    return AccelerationDerivatives(by_q, by_v, frame_jacobian(system, frame, q, reference))


def _asked(
    system: BaseSystem,
    frame: str,
    what: int,
    rows: int,
    q: ArrayLike,
    v: ArrayLike = ABSENT,
    a: ArrayLike = ABSENT,
    reference: str = "body",
) -> Array:
    """What is asked of a frame (…, rows), or (…, rows nv) of what is a matrix, at states of which some parts may be left out."""
    work, arrays = dynamics_work(system), system._arrays
    link, own = checked_frame(system, frame)
    number = checked_reference(reference)
    state = Given(system, 0.0, q=q, v=v, a=a)
    width = rows if what <= kernels.ACCELERATION else rows * work.nv
    out = np.empty((len(state.q), width))

    def run(out: Array, t: Array, *at: Array) -> int:
        of = link, own, number, what
        return kernels.fill_frame_quantities(out, arrays, dynamics_work(system), *of, *at)

    state.check(shared(run, (out,), state))
    return state.shaped(out)


def _matrix(system: BaseSystem, out: Array) -> Array:
    return out.reshape(*out.shape[:-1], 6, dynamics_work(system).nv)


def checked_reference(reference: str) -> int:
    """The number by which kernels know a reference.

    Raises
    ------
    ModelError
        If there is no such.
    """
    if not isinstance(reference, str) or reference not in REFERENCES:
        raise ModelError(f"reference: {wrong(' or '.join(REFERENCES), show(reference))}")
    return REFERENCES[reference]


def checked_frame(system: BaseSystem, frame: str) -> tuple[int, Array]:
    """The link of a frame, and its rotation in that, row by row, and place (12,)."""
    known = system._local.__dict__.setdefault("known_frames", {})
    if isinstance(frame, str) and frame in known:
        return known[frame]
    found = system._frame(frame) if isinstance(frame, str) else None
    if found is None:
        raise ModelError(
            f"frame: {wrong('a body or BODY.FRAME', show(frame), nearest(str(frame), frame_names(system)))}"
        )
    known[frame] = found.link, np.concatenate([found.rotation.ravel(), found.place])
    return known[frame]


def frame_names(system: BaseSystem) -> Iterator[str]:
    """The names of all frames: bodies, the world, and the frames of bodies."""
    yield from system.frames
    if system.model is not None:
        for body, element in system.model.bodies.items():
            yield from (f"{body}.{own}" for own in element.frames)
