"""A Galerkin variational scheme as data, and what follows from the data alone.

Control points 0 = d_0 < … < d_s = 1 carry the polynomial of one step; nodes c_i with weights b_i are its quadrature.
A_ij = φ_j(c_i) and B_ij = φ_j'(c_i) are the Lagrange basis of the control points and its derivative at the nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, ClassVar

import numpy as np

from mbvi.errors import ModelError
from mbvi.floats import as_floats

Array = np.ndarray
MOST_POINTS = 50  # number of points of a polynomial: higher degrees are lost in rounding


@dataclass(frozen=True)
class Tableau:
    """A scheme's numbers.

    Parameters
    ----------
    name : str
        Name in `simulate` and on the command line.
    control_points : tuple of float
        d_0 = 0 … d_s = 1, increasing.
    nodes, weights : tuple of float
        Quadrature on [0, 1]; the weights sum to 1.
    order : int
        Order of the whole scheme, composition included.
    source : str
        Where it comes from.
    fractions : tuple of float
        Substeps of a composition as fractions of the step; they sum to 1.
    description : str
        One line for people.
    is_projected : bool
        Whether momenta are made to satisfy the hidden constraint G v + ∂g/∂t = 0; otherwise they are the discrete momenta
        D_2 L_d. The motion is the same.
    """

    name: str
    control_points: tuple[float, ...]
    nodes: tuple[float, ...]
    weights: tuple[float, ...]
    order: int
    source: str
    fractions: tuple[float, ...] = (1.0,)
    description: str = ""
    is_projected: bool = True

    runner: ClassVar[str] = "galerkin"
    """What runs it, as in a `Method`."""
    is_variable: ClassVar[bool] = False
    """Its steps are all of one size, as those of most methods."""

    def __post_init__(self) -> None:
        """Refuse numbers that are not a scheme."""
        if not isinstance(self.name, str):
            raise ModelError(f"scheme: name: expected a text, found {self.name!r}")
        if isinstance(self.order, bool) or not isinstance(self.order, int | np.integer) or self.order < 1:
            raise ModelError(
                f"scheme {self.name!r}: order: expected a whole number of at least 1, found {self.order!r}"
            )
        if not isinstance(self.is_projected, bool):
            raise ModelError(f"scheme {self.name!r}: is_projected: expected True or False, found {self.is_projected!r}")
        for what in ("control_points", "nodes", "weights", "fractions"):
            if not _are_numbers(getattr(self, what)):
                found = getattr(self, what)
                raise ModelError(f"scheme {self.name!r}: {what}: expected a list of finite numbers, found {found!r}")
            object.__setattr__(self, what, tuple(map(float, getattr(self, what))))
        points, problem = np.asarray(self.control_points), ""
        if max(len(points), len(self.nodes)) > MOST_POINTS:
            problem = f"nodes: expected at most {MOST_POINTS} nodes and control points, found {len(self.nodes)} and {len(points)}"
        elif len(points) < 2 or points[0] != 0 or points[-1] != 1 or np.any(np.diff(points) <= 0):
            problem = f"control_points: expected increasing numbers from 0 to 1, found {self.control_points}"
        elif len(self.nodes) != len(self.weights) or len(self.nodes) < self.stages:
            problem = f"nodes: expected as many as weights, and at least {self.stages}, found {len(self.nodes)}"
        elif abs(sum(self.weights) - 1) > 1e-12 or abs(sum(self.fractions) - 1) > 1e-12:
            problem = "weights: expected weights and fractions that sum to 1"
        elif not self._determines_polynomials():
            problem = "nodes: expected a quadrature that determines the polynomial, found one that does not"
        if problem:
            raise ModelError(f"scheme {self.name!r}: {problem}")

    def _determines_polynomials(self) -> bool:
        """Whether the quadrature sees every motion of the control points."""
        try:
            return bool(np.linalg.cond(self.K) <= 1e12)
        except (ZeroDivisionError, np.linalg.LinAlgError):  # raised by points too near to each other
            return False

    @property
    def stages(self) -> int:
        """Number s of unknown control points per substep."""
        return len(self.control_points) - 1

    @cached_property
    def A(self) -> Array:
        """Lagrange basis at the nodes, (m, s + 1)."""
        return np.array([lagrange_basis(self.control_points, c)[0] for c in self.nodes])

    @cached_property
    def B(self) -> Array:
        """Derivative of the Lagrange basis at the nodes, (m, s + 1)."""
        return np.array([lagrange_basis(self.control_points, c)[1] for c in self.nodes])

    @cached_property
    def K(self) -> Array:
        """K[j, l-1] = Σ_i b_i B_ij B_il, j = 0 … s−1, l = 1 … s: the leading part of the step equations, (s, s)."""
        return np.einsum("i,ij,il->jl", self.weights, self.B[:, :-1], self.B[:, 1:])

    @cached_property
    def a(self) -> Array:
        """a_ij = ∫_0^{c_i} ℓ_j of the Lagrange basis ℓ of the nodes, (s, s): places at the nodes from velocities there.

        (0, 0) where these do not determine the polynomial, or where the weights are not ∫_0^1 ℓ_j.
        """
        if len(self.nodes) != self.stages:
            return np.zeros((0, 0))
        x, w = gauss(self.stages)  # exact for the basis

        def integrals(end: float) -> Array:
            return end * np.dot(w, [lagrange_basis(self.nodes, end * each)[0] for each in x])

        if not np.allclose(integrals(1.0), self.weights, rtol=0, atol=1e-14):
            return np.zeros((0, 0))
        return np.array([integrals(c) for c in self.nodes])

    @cached_property
    def control_weights(self) -> Array:
        """Weights of the interpolatory quadrature on the control points, (s + 1,)."""
        points = np.asarray(self.control_points)
        powers = np.arange(len(points))
        return np.linalg.solve(points[None, :] ** powers[:, None], 1.0 / (powers + 1.0))

    @cached_property
    def ahead(self) -> Array:
        """Extrapolation of the unknowns of a step from those of the last and of that before, (2, s, 2 s): of increments by the
        polynomial through the last s + 2 control points, and of impulses h w_j λ_j by that of λ through the last s + 1.

        λ_0 has the weight of a step's start and of the end before it. It is (2, s, 0) with less than two points within a step,
        which alone have errors of another kind than the ends, and of a composition, whose steps have several lengths.
        """
        s, points = self.stages, self.control_points
        if s < 3 or len(self.fractions) > 1:
            return np.zeros((2, s, 0))
        weights = self.control_weights[:s].copy()
        weights[0] += self.control_weights[s]
        before = points[s - 1] - 2.0
        last = [d - 1.0 for d in points]
        found = np.zeros((2, s, 2 * s))
        for l in range(s):
            first, _, *values = lagrange_basis((before, *last), points[l + 1])[0]
            found[0, l, :s] = values
            found[0, l, s - 1] -= 1.0  # all increments are from the start of their step
            found[0, l, 2 * s - 2 :] = first, -first
            first, *values = np.array(lagrange_basis((before, *last[:s]), points[l])[0]) * weights[l]
            found[1, l, :s], found[1, l, -1] = values / weights, first / weights[-1]
        return found

    @cached_property
    def ahead_of_velocities(self) -> Array:
        """The same as `ahead` for velocities at the nodes, from the polynomials of increments, (2, s, 2 s); not for impulses."""
        found, s = np.zeros_like(self.ahead), self.stages
        if found.size and self.a.size:
            rates = self.B[:, 1:]
            increments = np.linalg.inv(rates)
            for columns in (slice(s), slice(s, None)):
                found[0, :, columns] = rates @ self.ahead[0, :, columns] @ increments
        return found

    @property
    def is_symmetric(self) -> bool:
        """Whether the scheme is its own adjoint: a step back undoes a step."""

        def mirrored(values: tuple[float, ...]) -> Array:
            return 1.0 - np.asarray(values)[::-1]

        return bool(
            np.allclose(mirrored(self.control_points), self.control_points, rtol=0.0, atol=1e-14)
            and np.allclose(mirrored(self.nodes), self.nodes, rtol=0.0, atol=1e-14)
            and np.allclose(self.weights[::-1], self.weights, rtol=0.0, atol=1e-14)
            and np.allclose(self.fractions[::-1], self.fractions, rtol=0.0, atol=1e-14)
        )


def lagrange_basis(points: tuple[float, ...], x: float) -> tuple[list[float], list[float]]:
    """Values and derivatives at x of the Lagrange polynomials of the given points."""
    places, at = as_floats(points), as_floats(x)
    if places is None or places.ndim != 1 or len(set(places)) < len(places) or not np.isfinite(places).all():
        raise ModelError(f"points: expected different finite numbers, found {points!r:.60}")
    if at is None or at.ndim or not np.isfinite(at):
        raise ModelError(f"x: expected a finite number, found {x!r:.60}")
    return _lagrange_basis(tuple(places.tolist()), float(at))


def _lagrange_basis(points: tuple[float, ...], x: float) -> tuple[list[float], list[float]]:
    values, derivatives = [], []
    for j, own in enumerate(points):
        others = [p for l, p in enumerate(points) if l != j]
        scale = 1.0 / prod(own - p for p in others)
        values.append(scale * prod(x - p for p in others))
        derivatives.append(scale * sum(prod(x - p for l, p in enumerate(others) if l != i) for i in range(len(others))))
    return values, derivatives


def _are_numbers(values: Any) -> bool:
    try:
        array = np.asarray(values)
    except ValueError:  # of lists of several lengths
        return False
    return array.ndim == 1 and array.dtype.kind in "iuf" and bool(np.isfinite(array).all())


def gauss(count: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Nodes and weights of Gauss quadrature on [0, 1]."""
    _check_count(count, 1)
    x, w = np.polynomial.legendre.leggauss(count)
    return tuple(0.5 + 0.5 * x), tuple(0.5 * w)


def lobatto(count: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Nodes and weights of Lobatto quadrature on [0, 1]: the ends and the roots of P'_{count−1}."""
    _check_count(count, 2)
    legendre = np.polynomial.legendre.Legendre.basis(count - 1)
    slope, curvature = legendre.deriv(), legendre.deriv(2)
    x = np.real(slope.roots())
    for _ in range(3):
        x = x - slope(x) / curvature(x)
    x = np.concatenate([[-1.0], 0.5 * (x - x[::-1]), [1.0]])
    w = 2.0 / (count * (count - 1) * legendre(x) ** 2)
    return tuple(0.5 + 0.5 * x), tuple(0.5 * w)


def _check_count(count: Any, least: int) -> None:
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or not least <= count <= MOST_POINTS:
        raise ModelError(f"count: expected a whole number from {least} to {MOST_POINTS}, found {count!r:.60}")
