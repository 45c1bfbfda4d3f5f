"""The height of a heavy axis about a fixed point, and the angles by which it goes round: what tops and spherical pendulums share.

The axis of a symmetric top, at an angle θ from the upward vertical, has u = cos θ with

    u̇² = (1 − u²)(F + c (u₀ − u)) − (h − P u)² = c (u − u₁)(u − u₂)(u − u₃),    u₁ ≤ u ≤ u₂ ≤ 1 ≤ u₃,
    c = 2w/I,    P = p_ψ/I,    h = p_φ/I,    F = θ̇₀² + sin²θ₀ φ̇₀²

and weight's moment w, so that u = u₁ + (u₂ − u₁) sn²(τ), τ = τ₀ + κ t, κ² = c (u₃ − u₁)/4, m = (u₂ − u₁)/(u₃ − u₁).
Its precession is

    φ̇ = (h − P u)/(1 − u²) = ((h − P)/(1 − u) + (h + P)/(1 + u))/2

two integrals of the third kind, one for each pole. The cubic is −(h ∓ P)² at the poles, which makes their factors those of
`ThirdKind`, up to sign: near a pole the precession is an arctangent of height one half turn, for all parameters.

Source: Whittaker, Analytical Dynamics, sections 71 to 74 (top), 55 (spherical pendulum); the arrangement is this project's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mbvi.exact.elliptic import Jacobi, ThirdKind

Array = np.ndarray


@dataclass(frozen=True)
class Heights:
    """The roots, as what is free of cancellation: their distances from each other and from the poles.

    Attributes
    ----------
    below, above : (3,) tuple of float
        1 + u and |1 − u| of u₁, u₂, u₃.
    span, gap : float
        u₂ − u₁ and u₃ − u₂.
    start : (float, float)
        u₀ − u₁ and u₂ − u₀.
    """

    below: tuple[float, float, float]
    above: tuple[float, float, float]
    span: float
    gap: float
    start: tuple[float, float]


@dataclass(frozen=True)
class Axis:
    """The motion of the axis.

    Parameters
    ----------
    pull : float
        c = 2w/I > 0 [1/s²].
    spin : float
        P = p_ψ/I [1/s].
    half : (float, float)
        cos θ/2 and sin θ/2 at t = 0, both positive.
    theta_rate, phi_rate : float
        At t = 0 [rad/s].
    """

    pull: float
    spin: float
    half: tuple[float, float]
    theta_rate: float
    phi_rate: float

    @property
    def poles(self) -> tuple[float, float]:
        """1 + u₀ and 1 − u₀."""
        return 2 * self.half[0] ** 2, 2 * self.half[1] ** 2

    @cached_property
    def momenta(self) -> tuple[float, float]:
        """h + P and h − P [1/s]."""
        a, b = self.poles
        return a * (b * self.phi_rate + self.spin), b * (a * self.phi_rate - self.spin)

    @property
    def _speed2(self) -> float:
        """F [1/s²]."""
        a, b = self.poles
        return self.theta_rate**2 + a * b * self.phi_rate**2

    @cached_property
    def heights(self) -> Heights:
        """The roots, from the cubic shifted to the initial height: there its constant is not negative."""
        a, b = self.poles
        c, u, sine2 = self.pull, (a - b) / 2, a * b
        F = self._speed2
        cubic = (
            c,
            2 * c * u - F - self.spin**2,
            sine2 * (2 * self.spin * self.phi_rate - c) - 2 * u * F,
            sine2 * self.theta_rate**2,
        )
        x1, x2, x3 = np.sort(np.roots(cubic).real)
        if x3 - x2 > x2 - x1:
            return self._upper_root_apart(cubic, _polished(cubic, x3))
        return self._lower_root_apart(cubic, min(_polished(cubic, x1), 0.0))

    def _upper_root_apart(self, cubic: tuple[float, ...], x3: float) -> Heights:
        """The other two are roots of opposite signs, or zero, of what is left when x₃ is divided out."""
        b, product = self.poles[1], -cubic[3] / (cubic[0] * x3)
        x2, x1 = _opposite_roots((cubic[2] / cubic[0] - product) / x3, product)
        top, beyond = b - x2, x3 - b
        if top < beyond:
            top = self.momenta[1] ** 2 / (self.pull * (b - x1) * beyond)
        else:
            beyond = self.momenta[1] ** 2 / (self.pull * (b - x1) * top)
        return self._heights((x1, x2, x3), (top, beyond), x3 - x2)

    def _lower_root_apart(self, cubic: tuple[float, ...], x1: float) -> Heights:
        """The other two, below and above the upper pole, are roots of a quadratic in 1 − u = d.

        In d, u̇² = −(h − P)² + 2 (F − c (1 − u₀) − P (h − P)) d + … − c d³.
        """
        b, down = self.poles[1], self.momenta[1]
        largest = b - x1
        product = -(down**2) / (self.pull * largest)
        energy = self._speed2 - self.pull * b - self.spin * down
        top, minus_beyond = _opposite_roots(-(2 * energy / self.pull + product) / largest, product)
        x2, x3 = b - top, b - minus_beyond
        if x2 < -x1:
            x2 = -cubic[3] / (cubic[0] * x1 * x3)
        return self._heights((x1, x2, x3), (top, -minus_beyond), top - minus_beyond)

    def _heights(self, x: tuple[float, float, float], top: tuple[float, float], gap: float) -> Heights:
        a, b = self.poles
        below2, below3 = a + x[1], 2 + top[1]
        below1 = self.momenta[0] ** 2 / (self.pull * below2 * below3)
        return Heights((below1, below2, below3), (b - x[0], *top), x[1] - x[0], gap, (-x[0], x[1]))

    @cached_property
    def jacobi(self) -> Jacobi:
        """The elliptic functions of the nutation."""
        span, gap = self.heights.span, self.heights.gap
        return Jacobi(span / (span + gap), gap / (span + gap))

    @cached_property
    def rate(self) -> float:
        """κ [1/s]."""
        return math.sqrt(self.pull * (self.heights.span + self.heights.gap)) / 2

    @property
    def period(self) -> float:
        """Period of the nutation [s]."""
        return 2 * self.jacobi.K / self.rate

    @cached_property
    def start(self) -> float:
        """τ₀."""
        up, down = self.heights.start
        return self.jacobi.argument(math.copysign(math.sqrt(up), -self.theta_rate), math.sqrt(down))

    def nutation(self, t: Array) -> tuple[Array, Array, Array]:
        """√(1 + u), √(1 − u) and θ̇ = −u̇/√(1 − u²) [1/s]."""
        _, sn, cn, dn = self.jacobi.functions(self.start + self.rate * t)
        lower, sine, _ = self._near_lower(sn)
        across = math.sqrt(self.heights.span) * cn
        upper = np.hypot(math.sqrt(self.heights.above[1]), across)
        return lower, upper, -2 * self.rate * dn * sine * across / upper

    def _near_lower(self, sn: Array) -> tuple[Array, Array, Array]:
        """√(1 + u), and by it √(u₂ − u₁) sn and √(1 + u₁); a path through the lower pole takes there the values after it."""
        across, least = math.sqrt(self.heights.span) * sn, math.sqrt(self.heights.below[0])
        root = np.hypot(across, least)
        sine = np.divide(across, root, out=np.ones_like(root), where=root > 0)
        return root, sine, np.divide(least, root, out=np.zeros_like(root), where=root > 0)

    def turns(self, t: Array) -> tuple[Array, Array]:
        """Integrals of (h + P)/2(1 + u) and (h − P)/2(1 − u) from 0 to t [rad], about the lower and the upper pole."""
        jacobi, tau = self.jacobi, self.start + self.rate * t
        found = []
        for momentum, slope, rest in zip(self.momenta, self._slopes, (self._lower, self._upper), strict=True):
            gained = jacobi.continued(rest, tau) - jacobi.continued(rest, np.array(self.start))
            found.append((1.0 if momentum >= 0 else -1.0) * (slope * self.rate * t + gained))
        return found[0], found[1]

    @property
    def _slopes(self) -> tuple[float, float]:
        (e1, e2, e3), whole = self.heights.below, self.heights.span + self.heights.gap
        return math.sqrt(e1 * e2 / (e3 * whole)) + self._lower_pole.slope, self._upper_pole.slope

    @cached_property
    def _upper_pole(self) -> ThirdKind:
        """n = (u₂ − u₁)/(1 − u₁)."""
        (d1, d2, d3), whole = self.heights.above, self.heights.span + self.heights.gap
        return ThirdKind(self.heights.span / d1, d2 / d1, d1 / whole, d3 / whole)

    @cached_property
    def _lower_pole(self) -> ThirdKind:
        """The integral with N = (m − n)/(1 − n), which stands for the negative n = −(u₂ − u₁)/(1 + u₁)."""
        (e1, e2, e3), span, gap = self.heights.below, self.heights.span, self.heights.gap
        return ThirdKind(span * e3 / ((span + gap) * e2), e1 * gap / ((span + gap) * e2), e2 / e3, gap / e3)

    def _upper(self, sn: Array, cn: Array, dn: Array) -> Array:
        return self._upper_pole.rest(sn, cn, dn)

    def _lower(self, sn: Array, cn: Array, dn: Array) -> Array:
        """κ Π(n) − slope·u = arctan((1 − n)^(-1/2) (−n (m − n))^(1/2) sn cn/dn) + that of N (Abramowitz & Stegun 17.7.15)."""
        (_, e2, e3), span, gap = self.heights.below, self.heights.span, self.heights.gap
        _, sine, cosine = self._near_lower(sn)
        across, along = math.sqrt(span * e3) * cn * sine, math.sqrt(e2 * (span + gap)) * dn * cosine
        return np.arctan2(across, along) + self._lower_pole.rest(sn, cn, dn)


def _polished(cubic: tuple[float, ...], x: float) -> float:
    """A simple root, by Newton's iteration."""
    for _ in range(5):
        slope = (3 * cubic[0] * x + 2 * cubic[1]) * x + cubic[2]
        if slope == 0:
            break
        x -= (((cubic[0] * x + cubic[1]) * x + cubic[2]) * x + cubic[3]) / slope
    return float(x)


def _opposite_roots(total: float, product: float) -> tuple[float, float]:
    """Roots ≥ 0 and ≤ 0 of x² − total x + product, product ≤ 0."""
    larger = (abs(total) + math.sqrt(total * total - 4 * product)) / 2
    smaller = product / larger if larger > 0 else 0.0
    return (larger, smaller) if total >= 0 else (-smaller, -larger)
