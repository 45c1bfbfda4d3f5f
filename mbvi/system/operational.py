"""Inertia that a frame feels, and how the mass matrix changes: what `System.operational_inertia` and others call.

A force f at a frame, with its torque, causes the acceleration J P Jᵀ f of the frame, where a = P τ is what forces τ cause:
P = M⁻¹ of a tree, and on constraints what these leave of it. The inverse is the inertia in operational space.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError
from mbvi.kernels.mechanics.inverse_dynamics import WITHOUT_FORCES
from mbvi.model.expressions import wrong
from mbvi.system import closed
from mbvi.system.base import BaseSystem
from mbvi.system.dynamics import derivatives, tangent_mass_matrix
from mbvi.system.kinematics import frame_jacobian, frame_jacobian_derivative
from mbvi.system.null_motions import unit_rates
from mbvi.system.states import Given, dynamics_work

Array = np.ndarray
SINGULAR = 1e-12  # smallest eigenvalue of a mobility, in units of its diagonal, that is none


def tangent_mass_matrix_derivative(system: BaseSystem, q: ArrayLike) -> Array:
    """The derivatives (…, nv, nv, nv) of `System.tangent_mass_matrix`, exact; the last axis is the tangent of q.

    They are those of the forces that accelerations of 1 need, less those of none.
    """
    state, nv = Given(system, 0.0, q=q), dynamics_work(system).nv
    units = np.vstack([np.zeros(nv), np.eye(nv)])
    every = Given(system, 0.0, q=state.q[:, None, :], v=np.zeros(nv), a=units)
    every.each = nv + 1
    by_q = derivatives(system, every, False, WITHOUT_FORCES)[0]
    return state.shaped(np.swapaxes(by_q[:, 1:] - by_q[:, :1], 1, 2))


def operational_mobility(system: BaseSystem, frame: str, q: ArrayLike, reference: str = "world-aligned") -> Array:
    """The acceleration (…, 6, 6) of a frame per force and torque at it, J P Jᵀ; also where the frame cannot move in all ways.

    Parameters are those of `System.frame_jacobian`, and so are the errors; in addition the mass matrix must be regular.
    """
    J = frame_jacobian(system, frame, q, reference)
    found: Array = J @ _responses(system, q) @ np.swapaxes(J, -1, -2)
    return found


def operational_inertia(system: BaseSystem, frame: str, q: ArrayLike, reference: str = "world-aligned") -> Array:
    """The inertia (…, 6, 6) that a force and torque at a frame feel, (J P Jᵀ)⁻¹: linear rows first.

    Parameters
    ----------
    frame, q, reference
        As for `System.frame_jacobian`.

    Raises
    ------
    ModelError
        As for `System.frame_jacobian`, or if the frame cannot move in all six ways.
    """
    return _inverse(system, frame, q, frame_jacobian(system, frame, q, reference), _responses(system, q))


def operational_inertia_derivative(
    system: BaseSystem, frame: str, q: ArrayLike, reference: str = "world-aligned"
) -> Array:
    """The derivatives (…, 6, 6, nv) of `operational_inertia` of a tree, exact; the last axis is the tangent of q.

    Raises
    ------
    ModelError
        As for `operational_inertia`, or if constraints close loops.
    """
    if dynamics_work(system).has_loops:
        raise ModelError(f"{system.name}: {wrong('a tree of joints', 'constraints that close loops')}")
    J, P = frame_jacobian(system, frame, q, reference), _responses(system, q)
    JP = J @ P
    turned = np.einsum("...rik,...si->...rsk", frame_jacobian_derivative(system, frame, q, reference), JP)
    by_mass = np.einsum("...ri,...ijk,...sj->...rsk", JP, tangent_mass_matrix_derivative(system, q), JP)
    change = turned + np.swapaxes(turned, -3, -2) - by_mass
    inertia = _inverse(system, frame, q, J, P)
    found: Array = -np.einsum("...ri,...ijk,...js->...rsk", inertia, change, inertia)
    return found


def _responses(system: BaseSystem, q: ArrayLike) -> Array:
    """P (…, nv, nv): accelerations per force."""
    state = Given(system, 0.0, q=q)
    if not dynamics_work(system).is_articulated:
        return state.shaped(closed.responses(system, state))
    return derivatives(system, state, True, WITHOUT_FORCES)[2]


def _inverse(system: BaseSystem, frame: str, q: ArrayLike, J: Array, P: Array) -> Array:
    """(J P Jᵀ)⁻¹, where no motion has only what rounding leaves of one that constraints forbid."""
    mobility = J @ P @ np.swapaxes(J, -1, -2)
    own, of_tree = np.diagonal(mobility, axis1=-2, axis2=-1), _square(J, unit_rates(tangent_mass_matrix(system, q)))
    scale = 1.0 / np.sqrt(np.maximum(own, 1e-300))
    scaled = mobility * scale[..., :, None] * scale[..., None, :]
    if mobility.size and not (np.linalg.eigvalsh(scaled).min() > SINGULAR and (own > SINGULAR * of_tree).all()):
        found = "one that constraints or its joints keep from some"
        raise ModelError(
            f"{system.name}: {wrong(f'{frame} as a frame that can move in six ways', found, 'take System.operational_mobility')}"
        )
    found_inverse: Array = np.linalg.inv(scaled) * scale[..., :, None] * scale[..., None, :]
    return found_inverse


def _square(J: Array, rates: Array) -> Array:
    """The squares (…, 6) of the largest velocities of a frame that rates (…, nv) of either sign cause."""
    return (np.abs(J) @ rates[..., None])[..., 0] ** 2
