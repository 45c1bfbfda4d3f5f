"""Which forces a motion needs, which motion forces cause, and how both change: what `System.inverse_dynamics` and others call.

The functions stand here and not in the class, so that each idea has its file; they are methods of `System` too. All take one
state (n,) or many (…, n), with velocities in the tangent space (`System.integrate`), and give arrays of as many. The equations:

    M(q) a + bias(t, q, v) = τ,

with what the model has of gravity, springs, dampers and other forces in the bias, and τ what acts beside these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mbvi.kernels.mechanics import forward_dynamics as forward
from mbvi.kernels.mechanics import inverse_dynamics as inverse
from mbvi.system import closed
from mbvi.system.base import BaseSystem
from mbvi.system.closed_derivatives import acceleration_derivatives
from mbvi.system.states import Given, dynamics_work, shared

Array = np.ndarray


class InverseDynamicsDerivatives(NamedTuple):
    """How the forces of a motion change (…, nv, nv): along the tangents of q, with v, and with a, which is the mass matrix."""

    by_q: Array
    by_v: Array
    by_a: Array


class ForwardDynamicsDerivatives(NamedTuple):
    """How an acceleration changes (…, nv, nv): along the tangents of q, with v, and with forces, the inverse mass matrix."""

    by_q: Array
    by_v: Array
    by_forces: Array


def inverse_dynamics(
    system: BaseSystem,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    t: ArrayLike = 0.0,
    *,
    actuated: Sequence[str] | None = None,
) -> Array:
    """The forces (…, nv) that must act beside those of the model for a motion.

    Where constraints close loops, they may carry any part of these. Then `actuated` names the velocities that are driven, and on
    all others no force is given. Are more driven than there are motions, the forces are those of least norm, and a warning says
    so.

    Parameters
    ----------
    q, v, a : (…, nq), (…, nv), (…, nv)
        Coordinates, velocities and accelerations.
    t : float or (…,)
        Times, for forces that depend on them [s].
    actuated : sequence of str, optional
        What drives act on: of `System.velocity_names`, or joints, of which all are meant.

    Returns
    -------
    ndarray (…, nv)
        Torques for angles and turns, forces for displacements [N m, N].

    Raises
    ------
    ModelError
        If shapes do not fit, a number is not finite, the constraints do not allow the state, they carry forces and `actuated` is
        not given, or a motion that they leave is not driven.

    Examples
    --------
    >>> import mbvi
    >>> bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -2))
    >>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    >>> system = mbvi.assemble(mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot}))
    >>> system.inverse_dynamics([np.pi / 2], [0.0], [0.0]).round(3)
    array([19.62])
    """
    state = Given(system, t, q=q, v=v, a=a)
    if actuated is not None:
        return state.shaped(closed.drive_forces(system, state, actuated)[0])
    if state.own.has_loops:
        closed.refuse_unnamed(system)
    return _forces(system, state, inverse.WITH_FORCES)


def bias(system: BaseSystem, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0) -> Array:
    """The forces (…, nv) that a motion without acceleration needs: what gravity, velocities and the forces of the model demand.

    Parameters and errors are those of `inverse_dynamics`.
    """
    return _forces(system, Given(system, t, q=q, v=v), inverse.WITH_FORCES)


def gravity(system: BaseSystem, q: ArrayLike) -> Array:
    """The forces (…, nv) that hold the bodies at rest against gravity alone, without the other forces of the model.

    Parameters and errors are those of `inverse_dynamics`.
    """
    return _forces(system, Given(system, 0.0, q=q), inverse.WITHOUT_FORCES)


def _forces(system: BaseSystem, state: Given, forces: int) -> Array:
    arrays, out = system.arrays, np.empty(state.v.shape)

    def run(out: Array, *at: Array) -> int:
        return inverse.fill_inverse_dynamics(out, arrays, system.work, dynamics_work(system), forces, *at)

    state.check(shared(run, (out,), state))
    return state.shaped(out)


def forward_dynamics(system: BaseSystem, q: ArrayLike, v: ArrayLike, forces: ArrayLike, t: ArrayLike = 0.0) -> Array:
    """The acceleration (…, nv) that forces cause, beside those of the model.

    Parameters
    ----------
    q, v, forces : (…, nq), (…, nv), (…, nv)
        Coordinates, velocities, and forces as `inverse_dynamics` gives them.
    t : float or (…,)
        Times, for forces that depend on them [s].

    Raises
    ------
    ModelError
        If shapes do not fit, a number is not finite, the mass matrix is singular, or constraints do not allow the state.
    """
    state = Given(system, t, q=q, v=v, forces=forces)
    if not state.own.is_articulated:
        return state.shaped(closed.accelerations(system, state)[0])
    arrays, out = system.arrays, np.empty(state.v.shape)

    def run(out: Array, *at: Array) -> int:
        own = dynamics_work(system)
        return forward.fill_forward_dynamics(out, arrays, system.work, own, inverse.WITH_FORCES, *at)

    state.check(shared(run, (out,), state))
    return state.shaped(out)


def inverse_dynamics_derivatives(
    system: BaseSystem,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    t: ArrayLike = 0.0,
    *,
    actuated: Sequence[str] | None = None,
) -> InverseDynamicsDerivatives:
    """The derivatives of `inverse_dynamics`, exact; those of a force function of your own are central differences.

    Parameters and errors are those of `inverse_dynamics`. A change of q is one along the tangent space (`System.integrate`). With
    `actuated` they are those along the motions that constraints leave: for changes of q, v and a that keep loops closed
    by_q dq + by_v dv + by_a da is the change of the forces, if no more is driven than there are motions.
    """
    state = Given(system, t, q=q, v=v, a=a)
    if actuated is not None:
        return InverseDynamicsDerivatives(*map(state.shaped, closed.drive_derivatives(system, state, actuated)))
    if state.own.has_loops:
        closed.refuse_unnamed(system)
    return InverseDynamicsDerivatives(*derivatives(system, state, False))


def forward_dynamics_derivatives(
    system: BaseSystem, q: ArrayLike, v: ArrayLike, forces: ArrayLike, t: ArrayLike = 0.0
) -> ForwardDynamicsDerivatives:
    """The derivatives of `forward_dynamics`, exact; those of a force function of your own are central differences.

    Parameters are those of `forward_dynamics`. A change of q is one along the tangent space (`System.integrate`). Where
    constraints close loops, they are those along the motions that these leave: for changes of q and v that keep loops closed.

    Raises
    ------
    ModelError
        As for `forward_dynamics`.
    """
    state = Given(system, t, q=q, v=v, forces=forces)
    if not state.own.is_articulated:
        return ForwardDynamicsDerivatives(*map(state.shaped, acceleration_derivatives(system, state)))
    return ForwardDynamicsDerivatives(*derivatives(system, state, True))


def tangent_mass_matrix(system: BaseSystem, q: ArrayLike) -> Array:
    """The mass matrix M (…, nv, nv) of the velocities in the tangent space: the kinetic energy is ½ vᵀ M v.

    `System.mass_matrix` is that of the rates of all coordinates, the same where no quaternions are. Errors are those of
    `inverse_dynamics`.
    """
    return derivatives(system, Given(system, 0.0, q=q), False, inverse.WITHOUT_FORCES)[2]


def derivatives(
    system: BaseSystem, state: Given, is_forward: bool, forces: int = inverse.WITH_FORCES
) -> tuple[Array, Array, Array]:
    """Derivatives (…, nv, nv) of inverse or forward dynamics of a tree, by q, by v, and M or M⁻¹."""
    arrays, (count, nv) = system.arrays, state.v.shape
    outs = np.empty((count, nv, nv)), np.empty((count, nv, nv)), np.empty((count, nv, nv))

    def run(by_q: Array, by_v: Array, last: Array, *at: Array) -> int:
        own = dynamics_work(system)
        return forward.fill_derivatives(by_q, by_v, last, arrays, system.work, own, forces, int(is_forward), *at)

    state.check(shared(run, outs, state))
    by_q, by_v, last = map(state.shaped, outs)
    return by_q, by_v, last
