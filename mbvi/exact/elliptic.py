"""Jacobi's elliptic functions and Legendre's third integral, without loss near any end of their parameters.

    u = ∫₀^am dφ / √(1 − m sin² φ),    sn = sin am,  cn = cos am,  dn = √(cn² + m₁ sn²),    m + m₁ = 1

The parameter comes with its complement, and so do the characteristics n of Π(n; u) = ∫₀^u du / (1 − n sn²): near a separatrix
the complements decide, and a difference from one would lose them. (`scipy.special.ellipj` knows only m, and at 1 − m < 1e-10 it
gives numbers of any size for u > K.) Everything is reduced to −K ≤ u ≤ K, so that errors grow with u as rounding alone.

Source: Abramowitz & Stegun, Handbook of Mathematical Functions, 16.4 (arithmetic-geometric mean) and 17.7 (third kind); NIST
Digital Library of Mathematical Functions, 19.7 (iii) (change of characteristic) and 19.25 (symmetric integrals).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import elliprf, elliprj

Array = np.ndarray


@dataclass(frozen=True)
class Jacobi:
    """Jacobi's functions of one parameter m, 0 ≤ m ≤ 1, given with its complement m1 = 1 − m."""

    m: float
    m1: float

    @cached_property
    def _means(self) -> list[tuple[float, float, float]]:
        """Arithmetic means a, geometric means b and half differences c, down to c = 0 in rounding."""
        a, b, c = 1.0, math.sqrt(self.m1), math.sqrt(self.m)
        means = [(a, b, c)]
        while abs(c) > 1e-17 * a:
            a, b = (a + b) / 2, math.sqrt(a * b)
            c *= c / (4 * a)
            means.append((a, b, c))
        return means

    @cached_property
    def K(self) -> float:
        """The quarter period, infinite at m = 1."""
        return math.pi / (2 * self._means[-1][0]) if self.m1 > 0 else math.inf

    def reduce(self, u: Array) -> tuple[Array, Array]:
        """Half periods j and rest r: u = 2 K j + r with −K ≤ r ≤ K."""
        if math.isinf(self.K):
            return np.zeros_like(u), u
        j = np.round(u / (2 * self.K))
        return j, u - 2 * self.K * j

    def _amplitude(self, r: Array) -> Array:
        """am r for −K ≤ r ≤ K < ∞. No step of the descent enlarges an error."""
        means = self._means
        phi = 2.0 ** (len(means) - 1) * means[-1][0] * r
        for a, b, c in reversed(means[1:]):
            sine = np.sin(phi)
            phi = (phi + np.arctan2(c * sine, np.hypot(a * np.cos(phi), b * sine))) / 2
        return phi

    def functions(self, u: Array) -> tuple[Array, Array, Array, Array]:
        """am, sn, cn, dn of u; am grows without bound."""
        if self.m1 == 0:
            decay = np.exp(-np.abs(u))
            sech = 2 * decay / (1 + decay**2)
            return 2 * np.arctan(np.tanh(u / 2)), np.tanh(u), sech, sech
        j, r = self.reduce(u)
        is_far, root = np.abs(r) > self.K / 2, math.sqrt(self.m1)
        phi = self._amplitude(np.where(is_far, self.K - np.abs(r), r))
        sn, cn = np.sin(phi), np.cos(phi)
        dn = np.hypot(cn, root * sn)
        far = np.copysign(cn / dn, r), root * sn / dn, root / dn  # those of K − |r|, where cn and dn may be small
        sn, cn, dn = (np.where(is_far, *each) for each in zip(far, (sn, cn, dn), strict=True))
        sign = 1 - 2 * np.mod(j, 2)
        return np.where(is_far, np.arctan2(sn, cn), phi) + math.pi * j, sign * sn, sign * cn, dn

    def argument(self, sine: float, cosine: float) -> float:
        """The u in (−2 K, 2 K] at which sn : cn = sine : cosine."""
        size = math.hypot(sine, cosine)
        if sine == 0 or size == 0:
            return 0.0 if cosine >= 0 else 2 * self.K
        s, c = sine / size, cosine / size
        u = s * float(elliprf(c * c, c * c + self.m1 * s * s, 1.0))
        return u if c >= 0 else math.copysign(2 * self.K, s) - u

    def continued(self, odd: Callable[[Array, Array, Array], Array], u: Array) -> Array:
        """An odd function of sn, cn, dn on −K ≤ u ≤ K, that gains the same in every 2 K, continued to all u."""
        j, r = self.reduce(u)
        value = odd(*self.functions(r)[1:])
        if math.isinf(self.K):
            return value
        quarter = odd(np.array(1.0), np.array(0.0), np.array(math.sqrt(self.m1)))
        return value + 2 * j * quarter


@dataclass(frozen=True)
class ThirdKind:
    """√((1 − n)(1 − m/n)) Π(n; u) for m ≤ n ≤ 1, as slope·u + rest(u).

    Of n and m/n the one farther from 1 enters the symmetric integral R_J, by

        κ Π(n; u) + κ Π(m/n; u) = κ u + arctan(κ sn / (cn dn)),    κ² = (1 − n)(1 − m/n)

    so that a pole near the path leaves an arctangent and no large terms that cancel.

    Parameters
    ----------
    n, n1 : float
        Characteristic and 1 − n.
    other, other1 : float
        m/n and 1 − m/n.
    """

    n: float
    n1: float
    other: float
    other1: float

    @property
    def _kappa(self) -> float:
        return math.sqrt(self.n1 * self.other1)

    @property
    def slope(self) -> float:
        """The factor of u."""
        return self._kappa if self.n <= self.other else 0.0

    def rest(self, sn: Array, cn: Array, dn: Array) -> Array:
        """What remains, for −K ≤ u ≤ K."""
        if self.n <= self.other:
            return self._kappa * _excess(self.n, self.n1, sn, cn, dn)
        turn = np.arctan2(self._kappa * sn, cn * dn)
        if self._kappa == 0:  # the path goes through the pole, at u = ±K
            turn = np.where(cn == 0, np.copysign(math.pi / 2, sn), turn)
        return turn - self._kappa * _excess(self.other, self.other1, sn, cn, dn)


def _excess(n: float, n1: float, sn: Array, cn: Array, dn: Array) -> Array:
    """Π(n; u) − u = n/3 sn³ R_J(cn², dn², 1, 1 − n sn²)."""
    return n / 3 * sn**3 * elliprj(cn * cn, dn * dn, 1.0, cn * cn + n1 * sn * sn)
