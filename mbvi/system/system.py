"""A system: its Lagrangian L(q, v) = 1/2 vᵀ M(q) v − V(q), constraints g(q) = 0 and forces, ready for any scheme."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError
from mbvi.kernels import lagrangian as kernels
from mbvi.kernels import layout
from mbvi.kernels.constraints import add_curvature, fill_constraints
from mbvi.model.elements import Model

Array = np.ndarray
TIME_DIFFERENCE = 1e-5  # [s]


class BodyFrame(NamedTuple):
    """Where a body's frame lies: on a link (−1: the world), at a rotation (3, 3) and a place (3,) [m] in its frame."""

    link: int
    rotation: Array
    place: Array


class System:
    """A mechanical system as compiled functions of its coordinates.

    Made by `assemble`, `from_sympy` or `from_functions`; several threads may use one. All functions take coordinates q and
    velocities v of shape (n,), in the order and units of `coordinate_names` and `coordinate_units`.

    Attributes
    ----------
    name : str
    coordinate_names, coordinate_units : tuple of str
    initial_q, initial_v : ndarray (n,)
        Initial coordinates and velocities.
    is_conservative : bool
        Whether all forces derive from a potential that does not depend on time.
    model : Model or None
        The model it was assembled from.
    """

    def __init__(
        self,
        name: str,
        arrays: layout.System,
        coordinate_names: Sequence[str],
        coordinate_units: Sequence[str],
        initial_q: Array,
        initial_v: Array,
        is_conservative: bool,
        model: Model | None = None,
        frames: dict[str, BodyFrame] | None = None,
    ) -> None:
        self.name = name
        self.arrays = arrays
        self.coordinate_names = tuple(coordinate_names)
        self.coordinate_units = tuple(coordinate_units)
        self.initial_q = initial_q
        self.initial_v = initial_v
        self.is_conservative = is_conservative
        self.model = model
        self.frames = frames or {}
        self._local = threading.local()

    def __repr__(self) -> str:
        """Name, dimensions and coordinates."""
        count = f"{self.degrees_of_freedom} degrees of freedom, {self.dimension} coordinates"
        return f"<System {self.name!r}: {count}, {self.constraint_count} constraints>"

    @property
    def dimension(self) -> int:
        """Number n of coordinates."""
        return self.arrays.n

    @property
    def constraint_count(self) -> int:
        """Number k of constraints."""
        return self.arrays.k

    @property
    def degrees_of_freedom(self) -> int:
        """Coordinates less independent constraints, at the initial state."""
        if not self.constraint_count:
            return self.dimension
        return self.dimension - int(np.linalg.matrix_rank(self.constraint_jacobian(self.initial_q)))

    @property
    def work(self) -> kernels.Work:
        """Workspace of the functions below, one for each thread."""
        if not hasattr(self._local, "work"):
            self._local.work = kernels.make_work(self.arrays)
        return self._local.work

    def _vector(self, values: ArrayLike, what: str) -> Array:
        try:
            array = np.array(values, dtype=float)
        except (TypeError, ValueError):
            raise ModelError(f"{what}: expected {self.dimension} numbers, found {values!r}") from None
        if array.shape != (self.dimension,):
            raise ModelError(f"{what}: expected {self.dimension} numbers, found an array of shape {array.shape}")
        if not np.all(np.isfinite(array)):
            name = self.coordinate_names[int(np.argmin(np.isfinite(array)))]
            raise ModelError(f"{what}: expected finite numbers, found {array[~np.isfinite(array)][0]} for {name}")
        return array

    def _states(self, values: ArrayLike, what: str) -> Array:
        array = np.ascontiguousarray(values, dtype=float)
        if array.ndim != 2 or array.shape[1] != self.dimension:
            raise ModelError(
                f"{what}: expected an array of shape (states, {self.dimension}), found one of shape {array.shape}"
            )
        return array

    def mass_matrix(self, q: ArrayLike, t: float = 0.0) -> Array:
        """Mass matrix M(q), (n, n) [kg, kg m or kg m²]."""
        M = np.zeros((self.dimension, self.dimension))
        kernels.fill_mass_matrix(M, self.arrays, self.work, float(t), self._vector(q, "q"))
        return M

    def potential(self, q: ArrayLike, t: float = 0.0) -> float:
        """Potential energy V(q) of gravity, springs and constant forces [J]."""
        return float(kernels.potential(self.arrays, self.work, float(t), self._vector(q, "q")))

    def momentum(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Array:
        """Momentum p = ∂L/∂v = M(q) v, (n,) [kg m²/s or kg m/s]."""
        return self.gradient(q, v, t)[0]

    def gradient(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> tuple[Array, Array]:
        """∂L/∂v and ∂L/∂q + F, (n,) each: the momentum and the force of the Lagrangian with all other forces."""
        p, f = np.zeros(self.dimension), np.zeros(self.dimension)
        work = self.work
        kernels.fill_gradient(p, f, work.row, self.arrays, work, float(t), self._vector(q, "q"), self._vector(v, "v"))
        return p, f

    def second_derivatives(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> tuple[Array, Array, Array, Array]:
        """∂p/∂v, ∂p/∂q, ∂f/∂v, ∂f/∂q of p and f as `gradient` gives them, (n, n) each."""
        n = self.dimension
        out = tuple(np.zeros((n, n)) for _ in range(4))
        kernels.fill_hessian(*out, self.arrays, self.work, float(t), self._vector(q, "q"), self._vector(v, "v"))
        return out  # type: ignore[return-value]

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> float:
        """Kinetic energy 1/2 vᵀ M(q) v [J]."""
        return 0.5 * float(self._vector(v, "v") @ self.momentum(q, v, t))

    def energy(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> float:
        """Kinetic and potential energy [J]."""
        return self.kinetic_energy(q, v, t) + self.potential(q, t)

    def lagrangian(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> float:
        """Kinetic less potential energy [J]."""
        return self.kinetic_energy(q, v, t) - self.potential(q, t)

    def velocities(self, t: Array, q: Array, p: Array) -> Array:
        """Velocities M⁻¹ p on the constraints (states, n) of many states: t (states,), q and p (states, n).

        Raises
        ------
        ModelError
            If the mass matrix is singular at one of them.
        """
        t, q, p = self._times(t, q), self._states(q, "q"), self._states(p, "p")
        v = np.empty_like(q)
        if not kernels.fill_velocities(v, self.arrays, self.work, t, q, p):
            raise ModelError(f"velocities of {self.name!r}: the mass matrix is singular at one of the states")
        return v

    def _times(self, t: ArrayLike, q: ArrayLike) -> Array:
        times = np.ascontiguousarray(t, dtype=float)
        if times.shape != (len(np.asarray(q)),):
            raise ModelError(f"t: expected one time for each of {len(np.asarray(q))} states, found shape {times.shape}")
        return times

    def energies(self, t: Array, q: Array, v: Array) -> tuple[Array, Array]:
        """Kinetic and potential energy (states,) [J] of many states: t (states,), q and v (states, n)."""
        t, q, v = self._times(t, q), self._states(q, "q"), self._states(v, "v")
        kinetic, potential, p = np.zeros(len(q)), np.zeros(len(q)), np.zeros_like(q)
        kernels.fill_energies(kinetic, potential, p, self.arrays, self.work, t, q, v)
        return kinetic, potential

    def constraint_residuals(self, t: Array, q: Array) -> Array:
        """Largest |g| (states,) at each of many states: t (states,), q (states, n)."""
        t, q = self._times(t, q), self._states(q, "q")
        out = np.zeros(len(q))
        kernels.fill_constraint_residuals(out, self.arrays, self.work, t, q)
        return out

    def constraint(self, q: ArrayLike, t: float = 0.0) -> Array:
        """Constraint values g(q), (k,), zero on the constraints."""
        return self._constraints(q, t)[0]

    def constraint_jacobian(self, q: ArrayLike, t: float = 0.0) -> Array:
        """Jacobian G = ∂g/∂q, (k, n)."""
        return self._constraints(q, t)[1]

    def _constraints(self, q: ArrayLike, t: float) -> tuple[Array, Array, Array]:
        k = self.constraint_count
        g, G, g_t = np.zeros(k), np.zeros((k, self.dimension)), np.zeros(k)
        fill_constraints(g, G, g_t, self.arrays, float(t), self._vector(q, "q"))
        return g, G, g_t

    def acceleration(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Array:
        """Acceleration (n,) by the Euler–Lagrange equations.

        M a + Gᵀ λ = f − (∂p/∂q) v,  G a = −vᵀ (∂²g/∂q²) v − 2 (∂G/∂t) v − ∂²g/∂t². Derivatives of constraints with respect to
        time are differences, exact to about 1e-10.

        Raises
        ------
        ModelError
            If the mass matrix is singular there.
        """
        n, k = self.dimension, self.constraint_count
        q, v = self._vector(q, "q"), self._vector(v, "v")
        _, f = self.gradient(q, v, t)
        M, Lvq, _, _ = self.second_derivatives(q, v, t)
        matrix, right = np.zeros((n + k, n + k)), np.zeros(n + k)
        matrix[:n, :n] = M
        right[:n] = f - Lvq @ v
        if k:
            G = self.constraint_jacobian(q, t)
            matrix[:n, n:], matrix[n:, :n] = G.T, G
            for i in range(k):
                curvature = np.zeros((n, n))
                add_curvature(curvature, self.arrays, float(t), q, np.eye(k)[i])
                right[n + i] = -v @ curvature @ v
            (_, G_after, rate_after), (_, G_before, rate_before) = (
                self._constraints(q, t + sign * TIME_DIFFERENCE) for sign in (1.0, -1.0)
            )
            right[n:] -= (2.0 * (G_after - G_before) @ v + rate_after - rate_before) / (2.0 * TIME_DIFFERENCE)
        try:
            return np.linalg.solve(matrix, right)[:n]
        except np.linalg.LinAlgError:
            raise ModelError(f"the mass matrix of {self.name!r} is singular at q = {q}") from None

    def poses(self, body: str, q: Array) -> tuple[Array, Array]:
        """Places (states, 3) [m] of a body's origin and rotations (states, 3, 3), body to world, for q (states, n)."""
        if body not in self.frames:
            known = ", ".join(name for name in self.frames if name != "world") or "none: it has no bodies"
            raise ModelError(f"pose: expected the name of a body, found {body!r}; known: {known}")
        q = self._states(q, "q")
        frame = self.frames[body]
        places, rotations = np.zeros((len(q), 3)), np.tile(np.eye(3), (len(q), 1, 1))
        if frame.link >= 0:
            kernels.fill_poses(places, rotations, self.arrays, self.work, frame.link, q)
        return places + rotations @ frame.place, rotations @ frame.rotation
