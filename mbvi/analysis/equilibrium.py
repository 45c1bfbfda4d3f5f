"""Statics: where a system stays at rest, what holds it there, whether it is stable, and at which load it buckles.

At rest the forces f(q) of gravity, springs and all else balance with those of the constraints, f + Gᵀλ = 0 and g = 0. With N a
basis of the motions that the constraints leave, G N = 0, and the stiffness

    K = −∂f/∂q − ∂²(λᵀg)/∂q²,     reduced to  Nᵀ K N,

an equilibrium is stable if all eigenvalues of the reduced stiffness are positive. It is looked for by Newton's method in N, with
the sizes of the eigenvalues instead of them where forces derive from a potential, which then falls: so a minimum is found and no
saddle, unless the start is one.

Where an equilibrium stays one for any size s of a load, f = f₀ + s f₁ and λ = λ₀ + s λ₁, it buckles at the s > 0 with

    (N ᵀK₀N + s NᵀK₁N) y = 0,

K₀ and K₁ of (f₀, λ₀) and of (f₁, λ₁).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbvi.analysis.contacts_left_out import check_contacts, of_contacts
from mbvi.errors import ModelError
from mbvi.model.arguments import checked_number
from mbvi.model.expressions import nearest, show, wrong
from mbvi.model.model import Model
from mbvi.system.assemble import assemble
from mbvi.system.element_forces import ElementForce, element_forces
from mbvi.system.initial import find_start
from mbvi.system.projection import project_position
from mbvi.system.redundancy import RANK, null_space
from mbvi.system.system import System

Array = np.ndarray
MOST_STEPS = 200
LONGEST_STEP = 0.3  # change of a coordinate in one step [rad, m]
HALVINGS = 30
BALANCED = 1e-10  # force left, relative to the forces that there are, that counts as none
SOFT = 1e-9  # eigenvalue of a reduced stiffness, relative to the largest, that counts as 0
GRAVITY = "gravity"


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A state of rest.

    Attributes
    ----------
    system : System
    q : ndarray (n,)
        Coordinates, on the constraints.
    t : float
        Time at which forces and prescribed motions are taken [s].
    multipliers : ndarray (k,)
        λ, of least norm where constraints are redundant.
    stiffnesses : ndarray (m,)
        Eigenvalues of the reduced stiffness, increasing, for motions of length 1 in the coordinates of the system; none where
        nothing can move.
    """

    system: System
    q: Array
    t: float
    multipliers: Array
    stiffnesses: Array

    def __repr__(self) -> str:
        """Coordinates, and whether it is stable."""
        named = zip(self.system.coordinate_names, self.q, strict=True)
        where = ", ".join(f"{name} = {value:.6g}" for name, value in named if len(self.q) <= 6)
        return f"<Equilibrium of {self.system.name!r}: {where or f'{len(self.q)} coordinates'}, {self.stability}>"

    @property
    def stability(self) -> str:
        """stable, unstable, neutral (some eigenvalue is 0, and none negative), or rigid (nothing can move)."""
        if not len(self.stiffnesses):
            return "rigid"
        if self.stiffnesses[0] > 0:
            return "stable"
        return "neutral" if self.stiffnesses[0] == 0 else "unstable"

    @property
    def is_stable(self) -> bool:
        """Whether nothing can move, or all eigenvalues of the reduced stiffness are positive."""
        return self.stability in ("stable", "rigid")

    def forces(self, names: Sequence[str] | None = None) -> dict[str, ElementForce]:
        """What forces, constraints and joints exert at rest, by their names, as `Trajectory.forces`: reactions among them."""
        state = np.array([self.t]), self.q[None], np.zeros((1, self.system.dimension))
        return element_forces(self.system, names, *state, self.multipliers[None])


def find_equilibrium(model: Model | System, start: ArrayLike | None = None, t: float = 0.0) -> Equilibrium:
    """A state of rest near a start.

    Parameters
    ----------
    model : Model or System
    start : (n,), optional
        Coordinates near which it is looked for; by default the initial ones. They are moved onto the constraints.
    t : float
        Time at which forces and prescribed motions are taken [s].

    Returns
    -------
    Equilibrium

    Raises
    ------
    ModelError
        If none is found, the one that is found passes a stop, or a potential depends on velocities.

    Warns
    -----
    ModelWarning
        If there is dry friction, which is left out.

    Examples
    --------
    >>> import mbvi
    >>> bob = mbvi.Body(mass=2)
    >>> rail = mbvi.Prismatic(parent="world", child="bob", axis=(0, 0, 1))
    >>> spring = mbvi.JointSpring(joint="rail", stiffness=100)
    >>> parts = {"bodies": {"bob": bob}, "joints": {"rail": rail}, "forces": {"spring": spring}}
    >>> find_equilibrium(mbvi.Model(name="scales", gravity=(0, 0, -9.81), **parts))
    <Equilibrium of 'scales': rail.displacement = -0.1962, stable>
    """
    system = model if isinstance(model, System) else assemble(model)
    time = checked_number(t, "t", "a finite number of seconds")
    if system.arrays.vector_potential:
        found = "one that depends on velocities, on which rest alone does not depend"
        raise ModelError(f"{system.name}: {wrong('a potential of the coordinates', found)}")
    if start is None:
        q = find_start(system, t=time).q
    else:
        q = project_position(system, system._vector(start, "start").copy(), time)
    rest = _Rest(system, time)
    q = rest.settled(q)
    check_contacts(system, q, time, "an equilibrium")
    lam = rest.multipliers(q)
    return Equilibrium(system, q, time, lam, rest.stiffnesses(q, lam))


def buckling_factors(model: Model | System | Equilibrium, load: str = GRAVITY) -> Array:
    """Factors of a load at which an equilibrium buckles, increasing.

    Parameters
    ----------
    model : Model or System or Equilibrium
        For a model or a system, the equilibrium is looked for at its initial coordinates.
    load : str
        ``gravity``, or the name of a force, which is scaled.

    Returns
    -------
    ndarray (m,)
        Positive factors of the load as the model gives it; none if it never buckles.

    Raises
    ------
    ModelError
        If there is no such force, or the load moves the equilibrium, so that it bends and does not buckle.

    Examples
    --------
    >>> import mbvi
    >>> rod = mbvi.Body(mass=1, center_of_mass=(0, 0, 0.5))
    >>> hinge = mbvi.Revolute(parent="world", child="rod", axis=(0, 1, 0))
    >>> spring = mbvi.JointSpring(joint="hinge", stiffness=9.81)
    >>> parts = {"bodies": {"rod": rod}, "joints": {"hinge": hinge}, "forces": {"spring": spring}}
    >>> buckling_factors(mbvi.Model(name="rod", gravity=(0, 0, -9.81), **parts))
    array([2.])
    """
    from scipy.linalg import eig

    found = model if isinstance(model, Equilibrium) else find_equilibrium(model)
    system, q, t = found.system, found.q, found.t
    bare = _Rest(_without(system, load), t)
    whole = _Rest(system, t)
    f, f0, G = whole.forces(q), bare.forces(q), system.constraint_jacobian(q, t)
    lam0, lam1 = (np.linalg.lstsq(G.T, -part, rcond=RANK)[0] for part in (f0, f - f0))
    size = max(bare.size(q, f0, lam0), whole.size(q, f, lam0 + lam1))
    for part, lam in ((f0, lam0), (f - f0, lam1)):
        left = part + G.T @ lam
        worst = int(np.argmax(np.abs(left)))
        if np.abs(left[worst]) > 1e-7 * size:
            name = system.coordinate_names[worst]
            expected = f"an equilibrium that stays one for any size of the load {load!r}"
            remedy = "a load that moves it bends it: find the equilibrium for several sizes of it"
            raise ModelError(f"{system.name}: {wrong(expected, f'{left[worst]:.3g} left on {name}', remedy)}")
    basis = null_space(G).T if len(G) else np.eye(system.dimension)
    K0 = basis.T @ bare.stiffness(q, lam0) @ basis
    K1 = basis.T @ (whole.stiffness(q, lam0 + lam1)) @ basis - K0
    numerators, denominators = eig(K0, -K1, right=False, homogeneous_eigvals=True)
    largest = np.abs(denominators).max(initial=0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = np.where(np.abs(denominators) > SOFT * largest, numerators / denominators, np.inf)
    is_real = np.isfinite(factors) & (np.abs(factors.imag) <= 1e-9 * np.abs(factors)) & (factors.real > 0)
    return np.sort(factors.real[is_real])


def _without(system: System, load: str) -> System:
    """The system without a load."""
    if system.model is None:
        expected = "a system that was assembled of a model, of which a load can be taken away"
        raise ModelError(f"load: {wrong(expected, repr(system.name))}")
    forces = dict(system.model.forces)
    if not isinstance(load, str) or load not in (GRAVITY, *forces):
        raise ModelError(f"load: {wrong('gravity or a force', show(load), nearest(str(load), [GRAVITY, *forces]))}")
    update: dict[str, Any] = {"gravity": (0.0, 0.0, 0.0)}
    if load != GRAVITY:
        del forces[load]
        update = {"forces": forces}
    bare = system._of_model(system.model.replaced(update))
    if bare.coordinate_names != system.coordinate_names:
        remedy = "let another force of no size act on the same joint"
        raise ModelError(f"load: {wrong('a load without which the coordinates are the same', show(load), remedy)}")
    return bare


class _Rest:
    """Forces and stiffness of a system at rest."""

    def __init__(self, system: System, t: float) -> None:
        self.system, self.t = system, t
        self.rest = np.zeros(system.dimension)

    def forces(self, q: Array) -> Array:
        """f (n,) without those of constraints."""
        return self.system.gradient(q, self.rest, self.t)[1]

    def multipliers(self, q: Array) -> Array:
        """λ (k,) that balances f as far as constraints can."""
        G = self.system.constraint_jacobian(q, self.t)
        lam: Array = np.linalg.lstsq(G.T, -self.forces(q), rcond=RANK)[0]
        return lam

    def stiffness(self, q: Array, lam: Array) -> Array:
        """The stiffness K (n, n), with the curvature of the constraints that have the multipliers lam."""
        by_q = self.system.second_derivatives(q, self.rest, self.t)[3]
        return -by_q - self.system.constraint_curvature(q, lam, self.t)

    def basis(self, q: Array) -> Array:
        """A matrix N (n, m), whose columns span the motions that constraints leave."""
        G = self.system.constraint_jacobian(q, self.t)
        return null_space(G).T if len(G) else np.eye(self.system.dimension)

    def stiffnesses(self, q: Array, lam: Array) -> Array:
        """Eigenvalues of the reduced stiffness, increasing; those that are rounding are 0."""
        basis = self.basis(q)
        reduced = basis.T @ self.stiffness(q, lam) @ basis
        found = np.linalg.eigvalsh(0.5 * (reduced + reduced.T))
        found[np.abs(found) <= SOFT * np.abs(found).max(initial=0.0)] = 0.0
        return found

    def settled(self, q: Array) -> Array:
        """The equilibrium (n,) that is found from q."""
        for _ in range(MOST_STEPS):
            basis, f, lam = self.basis(q), self.forces(q), self.multipliers(q)
            along = basis.T @ f
            is_found = np.abs(along).max(initial=0.0) <= BALANCED * self.size(q, f, lam)
            if is_found and not along.any():
                return q
            step = basis @ self.step(basis.T @ self.stiffness(q, lam) @ basis, along)
            step *= min(1.0, LONGEST_STEP / float(np.abs(step).max()))
            q_next = self.better(q, step, float(np.linalg.norm(along)))
            if is_found:  # and one step more leaves rounding alone
                return q if q_next is None else q_next
            if q_next is None:
                break
            q = q_next
        worst = int(np.argmax(np.abs(self.basis(q) @ (self.basis(q).T @ self.forces(q)))))
        remedy = "nothing holds it there: give a start that is nearer, or a spring, or let it rest on something"
        remedy += of_contacts(self.system)
        name = self.system.coordinate_names[worst]
        raise ModelError(f"{self.system.name}: {wrong('an equilibrium', f'forces left on {name}', remedy)}")

    def step(self, K: Array, f: Array) -> Array:
        """Newton's step, down the potential where there is one."""
        if self.system.unforced is not self.system:
            step: Array = np.linalg.lstsq(K, f, rcond=SOFT)[0]
            return step if step.any() else f / np.abs(f).max()  # along the force, where nothing stiffens
        values, vectors = np.linalg.eigh(0.5 * (K + K.T))
        least = 1e-6 * max(float(np.abs(values).max(initial=0.0)), 1e-300)
        found: Array = vectors @ ((vectors.T @ f) / np.maximum(np.abs(values), least))
        return found

    def better(self, q: Array, step: Array, force: float) -> Array | None:
        """After the step, or a part of it, with which the potential falls, or the force left; None if there is no such."""
        is_potential = self.system.unforced is self.system
        before = self.system.potential(q, self.t)
        for halving in range(HALVINGS):
            try:
                after = project_position(self.system, q + 0.5**halving * step, self.t)
            except ModelError:
                continue
            left = float(np.linalg.norm(self.basis(after).T @ self.forces(after)))
            falls = is_potential and self.system.potential(after, self.t) < before
            if falls or left < force:
                return after
        return None

    def size(self, q: Array, f: Array, lam: Array) -> float:
        """The size of the forces that there are, or that a displacement of 1 rad, 1 m or 1 would make."""
        G = self.system.constraint_jacobian(q, self.t)
        made = np.abs(self.stiffness(q, lam)).max(initial=0.0)
        return max(float(np.abs(f).max()), float(np.abs(G.T * lam).max(initial=0.0)), float(made), 1e-300)
