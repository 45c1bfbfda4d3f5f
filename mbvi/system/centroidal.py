"""Centre of mass and momentum of all bodies, and how they change: what `System.center_of_mass` and others call.

All take one state (n,) or many (…, n), with velocities in the tangent space (`System.integrate`), and give arrays of as many.
Bodies that are fixed to the world do not count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError
from mbvi.kernels import layout
from mbvi.kernels.mechanics.centroidal import fill_centroidal
from mbvi.model.expressions import wrong
from mbvi.system.base import BaseSystem
from mbvi.system.kinematics import VelocityDerivatives
from mbvi.system.states import Given, dynamics_work, shared

Array = np.ndarray


class _Centroidal(NamedTuple):
    center: Array
    matrix: Array
    by_q: Array


def center_of_mass(system: BaseSystem, q: ArrayLike) -> Array:
    """The centre of mass (…, 3) of all bodies that move [m].

    Parameters
    ----------
    q : (…, nq)
        Coordinates of one state or many.

    Raises
    ------
    ModelError
        If shapes do not fit, a number is not finite, or nothing that moves has mass.
    """
    return _centroidal(system, q=q).center


def center_of_mass_jacobian(system: BaseSystem, q: ArrayLike) -> Array:
    """The Jacobian (…, 3, nv) of the centre of mass: its velocity is J v. Errors are those of `center_of_mass`."""
    return _centroidal(system, q=q).matrix[..., :3, :] / _mass(system)


def center_of_mass_derivatives(system: BaseSystem, q: ArrayLike, v: ArrayLike) -> VelocityDerivatives:
    """The derivatives (…, 3, nv) of the velocity of the centre of mass. Errors are those of `center_of_mass`."""
    found, mass = _centroidal(system, q=q, v=v), _mass(system)
    return VelocityDerivatives(found.by_q[..., :3, :] / mass, found.matrix[..., :3, :] / mass)


def centroidal_momentum(system: BaseSystem, q: ArrayLike, v: ArrayLike) -> Array:
    """The momentum (…, 6) of all bodies about their centre of mass: linear [kg m/s], then angular [kg m²/s].

    Parameters
    ----------
    q, v : (…, nq), (…, nv)
        Coordinates and velocities of one state or many.

    Raises
    ------
    ModelError
        As for `center_of_mass`.
    """
    matrix = _centroidal(system, q=q, v=v).matrix
    return np.einsum("...ij,...j->...i", matrix, np.asarray(v, dtype=float))


def centroidal_momentum_matrix(system: BaseSystem, q: ArrayLike) -> Array:
    """The matrix A (…, 6, nv) with `centroidal_momentum` A v. Errors are those of `center_of_mass`."""
    return _centroidal(system, q=q).matrix


def centroidal_momentum_derivatives(system: BaseSystem, q: ArrayLike, v: ArrayLike) -> VelocityDerivatives:
    """The derivatives (…, 6, nv) of `centroidal_momentum`, exact; by_v is A, and by_q v the rate Ȧ v.

    Errors are those of `center_of_mass`.
    """
    found = _centroidal(system, q=q, v=v)
    return VelocityDerivatives(found.by_q, found.matrix)


def _mass(system: BaseSystem) -> float:
    return float(system._arrays.geometry[:, layout.MASS].sum())


def _centroidal(system: BaseSystem, **given: ArrayLike) -> _Centroidal:
    state = Given(system, 0.0, **given)
    if not _mass(system) > 0.0:
        raise ModelError(f"{system.name}: {wrong('bodies that move and have mass', 'none')}")
    count, nv = state.v.shape
    outs = np.empty((count, 3)), np.empty((count, 6, nv)), np.empty((count, 6, nv))

    def run(center: Array, matrix: Array, by_q: Array, t: Array, q: Array, v: Array, a: Array) -> int:
        return fill_centroidal(center, matrix, by_q, system._arrays, dynamics_work(system), q, v)

    state.check(shared(run, outs, state))
    return _Centroidal(*map(state.shaped, outs))
