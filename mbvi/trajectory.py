"""The result of a run: states at times, everything that was run, and what follows from them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mbvi.analysis.symmetry import Invariant, find_invariants
from mbvi.errors import ModelError
from mbvi.schemes.tableau import Tableau
from mbvi.system.system import System

Array = np.ndarray
FORMAT = "mbvi trajectory 1"


@dataclass(frozen=True)
class Statistics:
    """What a run cost.

    Attributes
    ----------
    steps : int
    seconds : float
        Wall time in the kernels [s].
    iterations : int
        Newton or simplified iterations in all; a composition counts those of all its substeps.
    most_iterations : int
        The most that one substep took.
    mass_factorizations, newton_factorizations : int
        How often the mass matrix and the whole Jacobian were factored.
    """

    steps: int
    seconds: float
    iterations: int
    most_iterations: int
    mass_factorizations: int
    newton_factorizations: int


@dataclass(frozen=True, eq=False)
class Trajectory:
    """States of a system at times.

    Attributes
    ----------
    t : ndarray (N + 1,)
        Times [s].
    q, v, p : ndarray (N + 1, n)
        Coordinates, velocities and momenta, in the order of ``system.coordinate_names``.
    system : System
    scheme : Tableau
    step : float
        Step size [s].
    every : int
        Every so-manyth state is stored.
    statistics : Statistics
    """

    system: System
    scheme: Tableau
    step: float
    every: int
    t: Array
    q: Array
    p: Array
    statistics: Statistics
    stored: dict[str, Array] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        """What was run."""
        return (
            f"<Trajectory of {self.system.name!r}: {len(self.t)} states from t = {self.t[0]:g} s to {self.t[-1]:g} s, "
            f"{self.scheme.name}, step {self.step:g} s>"
        )

    def __len__(self) -> int:
        """Number of stored states."""
        return len(self.t)

    @cached_property
    def v(self) -> Array:
        """Velocities (N + 1, n): M⁻¹ p, on the constraints."""
        return self.system.velocities(self.t, self.q, self.p)

    @cached_property
    def _energies(self) -> tuple[Array, Array]:
        return self.system.energies(self.t, self.q, self.v)

    def energy(self) -> Array:
        """Kinetic and potential energy (N + 1,) [J]."""
        return self._energies[0] + self._energies[1]

    def kinetic_energy(self) -> Array:
        """Kinetic energy (N + 1,) [J]."""
        return self._energies[0]

    def potential_energy(self) -> Array:
        """Potential energy (N + 1,) [J]."""
        return self._energies[1]

    @cached_property
    def invariants(self) -> tuple[Invariant, ...]:
        """The momenta that the system's linear symmetries conserve."""
        return find_invariants(self.system)

    def momenta(self) -> dict[str, Array]:
        """Every conserved momentum (N + 1,) by name [kg m²/s or kg m/s]."""
        return {invariant.name: invariant.value(self.q, self.p) for invariant in self.invariants}

    def constraint_residual(self) -> Array:
        """Largest |g| at every state, (N + 1,)."""
        if not self.system.constraint_count:
            return np.zeros(len(self.t))
        return np.array([np.abs(self.system.constraint(q, t)).max() for q, t in zip(self.q, self.t, strict=True)])

    def pose(self, body: str) -> tuple[Array, Array]:
        """Places and rotations of a body.

        Parameters
        ----------
        body : str
            Name of a body of the model, or "world".

        Returns
        -------
        positions : ndarray (N + 1, 3)
            Origin of the body's frame, in the world [m].
        rotations : ndarray (N + 1, 3, 3)
            Rotation matrices, body to world.

        Raises
        ------
        ModelError
            If there is no such body.
        """
        return self.system.poses(body, self.q)
