"""The plane pendulum, q̈ + ω² sin q = 0 with ω² = g/ℓ, and two of them hung together, linearized."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from mbvi.exact.checks import check, times
from mbvi.exact.elliptic import Jacobi

Array = np.ndarray


@dataclass(frozen=True)
class Pendulum:
    """A point mass on a massless rod, at any energy.

    With κ² = sin²(q₀/2) + (q̇₀/2ω)² the energy over twice the weight's moment, and u = u₀ + ω t:

        swinging, κ < 1:  q = 2 atan2(κ sn u, dn u),   q̇ = 2ω κ cn u,      m = κ²
        turning,  κ > 1:  q = ±2 am(κ u),              q̇ = ±2ω κ dn(κ u),  m = 1/κ²

    and 1 − m comes from (cos(q₀/2) − q̇₀/2ω)(cos(q₀/2) + q̇₀/2ω) without cancellation. At κ = 1, the separatrix, both are
    q = 2 gd u.

    Parameters
    ----------
    length : float
        ℓ [m]; of a rigid body, inertia about the pivot over mass times distance of the centre of mass.
    gravity : float
        g [m/s²].
    angle, rate : float
        At t = 0, from the stable vertical [rad], [rad/s].

    Raises
    ------
    ModelError
        If a number is not finite, or length or gravity is not positive.

    Examples
    --------
    >>> swing = Pendulum(length=1.0, gravity=9.81, angle=2.0, rate=0.0)
    >>> round(swing.period, 6)
    2.665871

    Source: Dubois & Rojas-Quintero 2023, annex (swinging, from rest); Whittaker, Analytical Dynamics, section 44.
    """

    length: float
    gravity: float
    angle: float
    rate: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what is no pendulum."""
        check(self, (), "length", "gravity", above=0)
        check(self, (), "angle", "rate")

    def __call__(self, t: ArrayLike) -> tuple[Array, Array]:
        """Angle, which counts turns [rad], and rate [rad/s], of the shape of the times t [s]."""
        omega, kappa = self.frequency, self._kappa
        u = self._start + omega * max(kappa, 1.0) * times(self, t)
        am, sn, cn, dn = self._jacobi.functions(u)
        if self.is_turning:
            return 2 * self._sign * am + 2 * math.pi * self._turn, 2 * omega * kappa * self._sign * dn
        return 2 * np.arctan2(kappa * sn, dn) + 2 * math.pi * self._turn, 2 * omega * kappa * cn

    @property
    def frequency(self) -> float:
        """ω = √(g/ℓ) of small swings [rad/s]."""
        return math.sqrt(self.gravity / self.length)

    @property
    def is_turning(self) -> bool:
        """Whether it goes over the top."""
        return self._complement < 0

    @property
    def period(self) -> float:
        """Time of a swing to and fro, or of a whole turn; infinite on the separatrix [s]."""
        K = self._jacobi.K
        return 2 * K / (self.frequency * self._kappa) if self.is_turning else 4 * K / self.frequency

    @cached_property
    def _turn(self) -> float:
        """Turns in the initial angle."""
        return float(np.round(self.angle / (2 * math.pi)))

    @cached_property
    def _half(self) -> tuple[float, float, float]:
        """sin and cos of half the initial angle less its turns, and q̇₀/2ω."""
        parity = 1 - 2 * (self._turn % 2)
        rate = self.rate / (2 * self.frequency)
        return parity * math.sin(self.angle / 2), parity * math.cos(self.angle / 2), rate

    @property
    def _kappa(self) -> float:
        return math.hypot(self._half[0], self._half[2])

    @property
    def _sign(self) -> float:
        return math.copysign(1.0, self.rate)

    @property
    def _complement(self) -> float:
        """1 − κ²."""
        _, cosine, rate = self._half
        return (cosine - rate) * (cosine + rate)

    @cached_property
    def _jacobi(self) -> Jacobi:
        if self.is_turning:
            return Jacobi(self._kappa**-2, -self._complement / self._kappa**2)
        return Jacobi(1 - self._complement if self._complement < 0.5 else self._kappa**2, self._complement)

    @cached_property
    def _start(self) -> float:
        sine, cosine, rate = self._half
        if self.is_turning:
            return self._jacobi.argument(self._sign * sine, cosine)
        return self._jacobi.argument(sine, rate)


@dataclass(frozen=True)
class LinearDoublePendulum:
    """Two point masses on massless rods, the second hung on the first, linearized about the vertical: M q̈ + K q = 0.

        M = [[(m₁ + m₂) ℓ₁², m₂ ℓ₁ ℓ₂], [m₂ ℓ₁ ℓ₂, m₂ ℓ₂²]],    K = diag((m₁ + m₂) g ℓ₁, m₂ g ℓ₂)

    Its motion is Σ xᵢ (aᵢ cos ωᵢt + bᵢ sin ωᵢt/ωᵢ) with the roots ω² of m₁ℓ₁ℓ₂ ω⁴ − (m₁ + m₂)(ℓ₁ + ℓ₂) g ω² + (m₁ + m₂) g² = 0.

    Parameters
    ----------
    masses, lengths : (2,)
        [kg], [m], the upper first.
    gravity : float
        [m/s²].
    angles, rates : (2,)
        At t = 0, both angles from the vertical [rad], [rad/s].

    Raises
    ------
    ModelError
        If a number is not finite, or a mass, a length or gravity is not positive.

    Source: Rojas-Quintero, Dubois & Cabrera-Díaz 2024, section 5. (In the matrix before their equation 50 the last entry has a
    μ too many.)
    """

    masses: tuple[float, float]
    lengths: tuple[float, float]
    gravity: float
    angles: tuple[float, float]
    rates: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        """Refuse what is no double pendulum."""
        check(self, (2,), "masses", "lengths", above=0)
        check(self, (), "gravity", above=0)
        check(self, (2,), "angles", "rates")

    def __call__(self, t: ArrayLike) -> tuple[Array, Array]:
        """Angles (..., 2) [rad] and rates (..., 2) [rad/s] at times t (...) [s]."""
        phase = times(self, t)[..., None] * self.frequencies
        a, b = self._amplitudes
        wave = a * np.cos(phase) + b / self.frequencies * np.sin(phase)
        slope = b * np.cos(phase) - a * self.frequencies * np.sin(phase)
        # Sums of two products, which round alike whatever the shape of t, as a product of matrices does not.
        return np.sum(wave[..., None] * self._modes, axis=-2), np.sum(slope[..., None] * self._modes, axis=-2)

    @cached_property
    def frequencies(self) -> Array:
        """Frequencies of the slow and of the fast mode (2,) [rad/s]."""
        (m1, m2), (l1, l2) = self.masses, self.lengths
        m = m1 + m2
        root = math.sqrt(m * (m * (l1 - l2) ** 2 + 4 * m2 * l1 * l2))
        fast = (m * (l1 + l2) + root) / (2 * m1 * l1 * l2)
        return np.sqrt(self.gravity * np.array([m / (m1 * l1 * l2 * fast), fast]))

    @property
    def mass_matrix(self) -> Array:
        """M (2, 2) [kg m²]."""
        (m1, m2), (l1, l2) = self.masses, self.lengths
        return np.array([[(m1 + m2) * l1**2, m2 * l1 * l2], [m2 * l1 * l2, m2 * l2**2]])

    @property
    def stiffness_matrix(self) -> Array:
        """K (2, 2) [N m]."""
        (m1, m2), (l1, l2) = self.masses, self.lengths
        return self.gravity * np.diag([(m1 + m2) * l1, m2 * l2])

    @cached_property
    def _modes(self) -> Array:
        """Rows (2, 2): null vectors of K − ω² M, from that of its rows which does not nearly vanish."""
        (m1, m2), (l1, l2) = self.masses, self.lengths
        modes = []
        for x in self.frequencies**2 / self.gravity:
            upper = (m2 * l2 * x, (m1 + m2) * (1 - l1 * x))
            lower = (1 - l2 * x, l1 * x)
            modes.append(lower if abs(lower[0]) > abs(1 - l1 * x) else upper)
        return np.array(modes)

    @cached_property
    def _amplitudes(self) -> tuple[Array, Array]:
        """Amplitudes of angles and of rates along the modes, which are orthogonal with M."""
        along = self._modes @ self.mass_matrix
        norms = np.sum(along * self._modes, axis=1)
        return along @ np.array(self.angles) / norms, along @ np.array(self.rates) / norms
