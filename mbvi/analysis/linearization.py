"""Small motions about an equilibrium: M ẍ + C ẋ + K x = 0 along the constraints, and the modes of M ẍ + K x = 0.

At rest at q the forces f = −∂V/∂q + F and those of the constraints balance, f + Gᵀλ = 0. A motion q + x with G x = 0 feels, to
first order,

    M = ∂p/∂v,     C = −∂f/∂v,     K = −∂f/∂q − ∂²(λᵀg)/∂q²

where the last term is what the curvature of the constraints adds: the stiffness of a taut string, or of a pendulum in Cartesian
coordinates. With N a basis of the null space of G, modes x = N y and squares ω² solve NᵀK N y = ω² NᵀM N y.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from mbvi.analysis.autonomous import check_autonomous
from mbvi.analysis.contacts_left_out import check_contacts
from mbvi.errors import ModelError
from mbvi.model.expressions import wrong
from mbvi.model.model import Model
from mbvi.system.assemble import assemble
from mbvi.system.initial import find_start
from mbvi.system.redundancy import RANK, null_space
from mbvi.system.system import System

Array = np.ndarray
AT_REST = 1e-8  # size of the forces, relative to those that a displacement of 1 rad, 1 m or 1 would cause
SYMMETRIC = 1e-6  # relative asymmetry: some derivatives of a user's own functions are differences, exact to about 1e-8
NEUTRAL = 1e-12  # size of ω², relative to the largest, that counts as 0


@dataclass(frozen=True, eq=False)
class Linearization:
    """The linear equations of small motions x = q(t) − q about an equilibrium.

    Attributes
    ----------
    name : str
    coordinate_names : tuple of str
    q : ndarray (n,)
        The equilibrium.
    mass_matrix, damping_matrix, stiffness_matrix : ndarray (n, n)
        M, C and K; in K is what the multipliers and the curvature of the constraints add.
    constraint_jacobian : ndarray (k, n)
        G: small motions have G x = 0.
    multipliers : ndarray (k,)
        λ at the equilibrium, of least norm where constraints are redundant.
    squares : ndarray (m,)
        ω² of the m = n − rank G modes without damping, increasing [rad²/s²]; negative ones grow.
    modes : ndarray (m, n)
        Their shapes, with G x = 0 and xᵢᵀM xⱼ = δᵢⱼ; the largest entry is positive.
    """

    name: str
    coordinate_names: tuple[str, ...]
    q: Array
    mass_matrix: Array
    damping_matrix: Array
    stiffness_matrix: Array
    constraint_jacobian: Array
    multipliers: Array
    squares: Array
    modes: Array

    def __repr__(self) -> str:
        """Frequencies, and growth rates if there are any."""
        text = ", ".join(f"{each:.6g}" for each in self.frequencies)
        grows = [f"{each:.6g}" for each in self.growth_rates if each > 0]
        more = f"; unstable, growing at {', '.join(grows)} 1/s" if grows else ""
        return f"<Linearization of {self.name!r}: frequencies {text} rad/s{more}>"

    @cached_property
    def frequencies(self) -> Array:
        """ω (m,) [rad/s]; 0 for modes that drift, or grow."""
        return np.sqrt(np.maximum(self.squares, 0.0))

    @cached_property
    def growth_rates(self) -> Array:
        """Rates (m,) [1/s] at which unstable modes grow, as cosh; 0 for those that swing, or drift."""
        return np.sqrt(np.maximum(-self.squares, 0.0))

    @property
    def is_stable(self) -> bool:
        """Whether no mode grows."""
        return not self.growth_rates.any()


def linearize(model: Model | System, at: ArrayLike | None = None) -> Linearization:
    """The linear equations of a model or a system at an equilibrium, and their modes.

    Parameters
    ----------
    model : Model or System
    at : (n,), optional
        Coordinates of the equilibrium; by default the initial ones. They are moved onto constraints as the start of a run.

    Returns
    -------
    Linearization

    Raises
    ------
    ModelError
        If it is no equilibrium or passes a stop, forces, inertias or constraints depend on time, or forces derive from no
        potential, or from one that depends on velocities.

    Warns
    -----
    ModelWarning
        If there is dry friction, which is left out.

    Examples
    --------
    >>> import mbvi
    >>> bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -0.5))
    >>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    >>> model = mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot})
    >>> linearize(model)
    <Linearization of 'pendulum': frequencies 4.42945 rad/s>
    >>> linearize(model, at=[np.pi])
    <Linearization of 'pendulum': frequencies 0 rad/s; unstable, growing at 4.42945 1/s>

    Source: Rojas-Quintero, Dubois & Cabrera-Díaz 2024, section 5, for the double pendulum.
    """
    system = model if isinstance(model, System) else assemble(model)
    rest = np.zeros(system.dimension)
    q = find_start(system).q if at is None else find_start(system, system._vector(at, "at"), rest).q
    check_autonomous(system, q, rest)
    check_contacts(system, q, 0.0, "an equilibrium")
    if system.arrays.vector_potential:
        found = "one that depends on velocities, by which modes are no oscillations along lines"
        raise ModelError(
            f"{system.name}: {wrong('a potential of the coordinates', found, 'take System.second_derivatives')}"
        )
    f, G = system.gradient(q, rest)[1], system.constraint_jacobian(q)
    lam = np.linalg.lstsq(G.T, -f, rcond=RANK)[0]
    M, _, by_v, by_q = system.second_derivatives(q, rest)
    K = -by_q - system.constraint_curvature(q, lam)
    _check_equilibrium(system, f + G.T @ lam, np.abs(K).max() + np.abs(G.T * lam).max(initial=0.0))
    if not np.abs(K - K.T).max() <= SYMMETRIC * np.abs(K).max():
        row, column = np.unravel_index(np.argmax(np.abs(K - K.T)), K.shape)
        raise ModelError(
            f"{system.name}: expected forces that derive from a potential, found that of {system.coordinate_names[row]} on "
            f"{system.coordinate_names[column]} other than the reverse; without modes, take System.second_derivatives"
        )
    K = 0.5 * (K + K.T)
    squares, modes = _modes(M, K, G)
    return Linearization(system.name, system.coordinate_names, q, M, -by_v, K, G, lam, squares, modes)


def _modes(M: Array, K: Array, G: Array) -> tuple[Array, Array]:
    """Squares (m,) and shapes (m, n) of the modes along the constraints."""
    from scipy.linalg import eigh

    basis = null_space(G).T
    squares, shapes = eigh(basis.T @ K @ basis, basis.T @ M @ basis)
    squares[np.abs(squares) <= NEUTRAL * np.abs(squares).max(initial=0.0)] = 0.0
    modes = (basis @ shapes).T
    largest = np.argmax(np.abs(modes), axis=1)
    return squares, modes * np.sign(modes[np.arange(len(modes)), largest])[:, None]


def _check_equilibrium(system: System, left: Array, size: float) -> None:
    """The forces left over must be small against those that displacements make."""
    worst = int(np.argmax(np.abs(left)))
    if not np.abs(left[worst]) <= AT_REST * size:
        raise ModelError(
            f"{system.name}: expected an equilibrium, found a force of {left[worst]:.6g} left on "
            f"{system.coordinate_names[worst]}; give the coordinates of one: at=[…]"
        )
