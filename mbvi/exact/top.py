"""The Lagrange top: a heavy symmetric body about a fixed point of its axis, in Euler angles φ, θ, ψ (about z, x', z'')."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError
from mbvi.exact.axis import Axis
from mbvi.exact.checks import check, times
from mbvi.exact.elliptic import Jacobi
from mbvi.exact.weierstrass import weierstrass

Array = np.ndarray


@dataclass(frozen=True)
class LagrangeTop:
    """A top of any speed: nutation by Jacobi or Weierstrass functions, precession and spin by integrals of the third kind.

    With A∓ the integrals of (p_φ ∓ p_ψ)/(2I(1 ∓ cos θ)) that `mbvi.exact.axis` gives,

        φ = φ₀ + A₋ + A₊,    ψ = ψ₀ + (1/I₃ − 1/I) p_ψ t + A₊ − A₋

    Parameters
    ----------
    inertia, axial_inertia : float
        I about axes across the body's through the fixed point, and I₃ about it [kg m²].
    weight_moment : float
        w = m g ℓ > 0, with the distance ℓ of the centre of mass from the fixed point [N m].
    angles, rates : (3,)
        φ, θ, ψ at t = 0, 0 < θ < π from the upward vertical [rad], [rad/s].

    Raises
    ------
    ModelError
        If a number is not finite, an inertia or the moment not positive, or θ not between 0 and π.

    Examples
    --------
    >>> top = LagrangeTop(0.002329969592394382, 0.000125, 0.1 * 9.81 * 0.15, (0.0, 3.141592653589793 / 3, 0.0), (9.2, 0.0, 252.0))
    >>> round(top.period, 5)
    1.84724

    Source: Whittaker, Analytical Dynamics, sections 71 to 74; Rojas-Quintero, Dubois & Jourdan 2025, section 4 (in their equation
    18aa the denominator 6Im is to be 6I²m).
    """

    inertia: float
    axial_inertia: float
    weight_moment: float
    angles: tuple[float, float, float]
    rates: tuple[float, float, float]

    def __post_init__(self) -> None:
        """Refuse what is no top, and places where Euler angles are singular."""
        check(self, (), "inertia", "axial_inertia", "weight_moment", above=0)
        check(self, (3,), "angles", "rates")
        if not 0 < self.angles[1] < math.pi:
            raise ModelError(f"LagrangeTop: angles[1]: expected 0 < theta < π, found {self.angles[1]!r}")

    def __call__(self, t: ArrayLike) -> tuple[Array, Array]:
        """Angles φ, θ, ψ (..., 3), which count turns [rad], and rates (..., 3) [rad/s] at times t (...) [s].

        If the axis passes through a vertical, φ and ψ jump by π there.
        """
        t = times(self, t)
        lower, upper, theta_rate = self._axis.nutation(t)
        about_lower, about_upper = self._axis.turns(t)
        spin = (1 / self.axial_inertia - 1 / self.inertia) * self.spin_momentum
        phi = self.angles[0] + about_lower + about_upper
        psi = self.angles[2] + spin * t + about_lower - about_upper
        up, down = (
            np.divide(momentum, 2 * root**2, out=np.zeros_like(root), where=momentum != 0)
            for momentum, root in zip(self._axis.momenta, (lower, upper), strict=True)
        )
        angles = np.stack([phi, 2 * np.arctan2(upper, lower), psi], axis=-1)
        return angles, np.stack([up + down, theta_rate, spin + up - down], axis=-1)

    def height(self, t: ArrayLike) -> Array:
        """cos θ by Jacobi functions, of the shape of the times t."""
        lower, upper, _ = self._axis.nutation(times(self, t))
        return (lower**2 - upper**2) / 2

    def height_by_weierstrass(self, t: ArrayLike) -> Array:
        """cos θ = (2I/w) ℘(t + t₀ + ω₃) + β, β a third of the sum of the roots, of the shape of the times t."""
        axis, t = self._axis, times(self, t)
        (low, middle, high), scale = axis.heights.below, self.weight_moment / (2 * self.inertia)
        beta = (low + middle + high) / 3 - 1
        shifted = t + axis.start / axis.rate
        roots = scale * (low - 1 - beta), scale * axis.heights.span, scale * axis.heights.gap
        return weierstrass(shifted, *roots) / scale + beta

    @property
    def period(self) -> float:
        """Period of the nutation; infinite on the separatrix [s]."""
        return self._axis.period

    @property
    def spin_momentum(self) -> float:
        """p_ψ = I₃ (ψ̇ + φ̇ cos θ) [kg m²/s]."""
        return self.axial_inertia * (self.rates[2] + self.rates[0] * math.cos(self.angles[1]))

    @cached_property
    def _axis(self) -> Axis:
        half = math.cos(self.angles[1] / 2), math.sin(self.angles[1] / 2)
        pull, spin = 2 * self.weight_moment / self.inertia, self.spin_momentum / self.inertia
        return Axis(pull, spin, half, self.rates[1], self.rates[0])


@dataclass(frozen=True)
class CuspedTop:
    """The top released with its axis at rest, reduced to its one degree of freedom, the nutation θ.

    The axis falls by y = cos θ₀ − cos θ, where with λ = (I₃ ψ̇₀)²/(2wI)

        ẏ² = (2w/I) y (sin²θ₀ + (2 cos θ₀ − λ) y − y²) = (2w/I) y (a − y)(y + b)
        y = a m₁ sd²(κt),    m = a/(a + b),    κ² = w (a + b)/(2I)

    and draws a cusp whenever it is back.

    Parameters
    ----------
    inertia, axial_inertia : float
        I and I₃ [kg m²].
    weight_moment : float
        w = m g ℓ > 0 [N m].
    angle : float
        θ₀, 0 < θ₀ < π [rad].
    spin : float
        ψ̇₀ [rad/s].

    Raises
    ------
    ModelError
        If a number is not finite, an inertia or the moment not positive, or the angle not between 0 and π.

    Source: Rojas-Quintero, Dubois & Jourdan 2025, section 4.3, their equations 18aq.
    """

    inertia: float
    axial_inertia: float
    weight_moment: float
    angle: float
    spin: float

    def __post_init__(self) -> None:
        """Refuse what is no top, and an axis along the vertical."""
        check(self, (), "inertia", "axial_inertia", "weight_moment", above=0)
        check(self, (), "angle", "spin")
        if not 0 < self.angle < math.pi:
            raise ModelError(f"CuspedTop: angle: expected 0 < angle < π, found {self.angle!r}")

    def __call__(self, t: ArrayLike) -> tuple[Array, Array]:
        """θ [rad] and θ̇ [rad/s], of the shape of the times t [s]."""
        a, b = self._turning
        _, sn, cn, dn = self._jacobi.functions(self._rate * times(self, t))
        fall = a * self._jacobi.m1 * (sn / dn) ** 2
        cosine, sine = (
            np.sqrt(2 * math.cos(self.angle / 2) ** 2 - fall),
            np.sqrt(2 * math.sin(self.angle / 2) ** 2 + fall),
        )
        fall_rate = 2 * self._rate * a * self._jacobi.m1 * sn * cn / dn**3
        return 2 * np.arctan2(sine, cosine), fall_rate / (sine * cosine)

    @property
    def period(self) -> float:
        """Time from cusp to cusp [s]."""
        return 2 * self._jacobi.K / self._rate

    @cached_property
    def _turning(self) -> tuple[float, float]:
        """a and b, of product sin²θ₀ and difference 2 cos θ₀ − λ."""
        momentum = self.axial_inertia * self.spin
        difference = 2 * math.cos(self.angle) - momentum**2 / (2 * self.weight_moment * self.inertia)
        product = math.sin(self.angle) ** 2
        larger = (abs(difference) + math.hypot(difference, 2 * math.sin(self.angle))) / 2
        return (larger, product / larger) if difference > 0 else (product / larger, larger)

    @cached_property
    def _jacobi(self) -> Jacobi:
        a, b = self._turning
        return Jacobi(a / (a + b), b / (a + b))

    @property
    def _rate(self) -> float:
        """κ [1/s]."""
        return math.sqrt(self.weight_moment * sum(self._turning) / (2 * self.inertia))
