"""The free rigid body: angular velocity by Jacobi functions, orientation by an integral of the third kind.

In a frame of the principal axes x, y, z, where y is the middle one and the angular momentum circulates about z,

    L_x = A cn τ,   L_y = σ (A/√ρ) sn τ,   L_z = C dn τ,   τ = τ₀ + κt,   κ = |a_x − a_z| √ρ C,   m = (1 − ρ) A²/(ρ C²)
    ρ = (a_y − a_z)/(a_x − a_z),   A² = L_x² + ρ L_y²,   C² = L_z² + (1 − ρ) L_y²,   σ = sign (a_x − a_z)

with the inverse moments a. Seen along the fixed momentum, G = |L|, the body precesses by

    φ̇ = G (a_x L_x² + a_y L_y²)/(L_x² + L_y²),   φ = G a_z t + σ √((1 − n)(1 − m/n)) Π(n; τ),   n = −(1 − ρ)/ρ

and its orientation is that turn by φ + ψ, ψ = arctan (L_x/L_y), after the shortest rotation of L onto z: regular for all bodies,
symmetric ones too.

Source: Landau & Lifshitz, Mechanics, section 37; Whittaker, Analytical Dynamics, section 69.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError
from mbvi.exact.checks import check, times
from mbvi.exact.elliptic import Jacobi, ThirdKind

Array = np.ndarray


@dataclass(frozen=True)
class FreeBody:
    """A rigid body that turns freely about its centre of mass, with any moments of inertia.

    Parameters
    ----------
    inertia : (3,)
        Principal moments [kg m²].
    angular_velocity : (3,)
        At t = 0, along the body's principal axes [rad/s].
    orientation : (4,)
        Quaternion at t = 0, from the body to the world, scalar first; it is normalized.

    Raises
    ------
    ModelError
        If a number is not finite, a moment not positive, or the quaternion zero.

    Examples
    --------
    >>> body = FreeBody(inertia=(1.0, 2.0, 3.0), angular_velocity=(0.0, 3.0, 4.0))
    >>> quaternion, angular_velocity = body(0.5)
    >>> [round(float(each), 6) for each in quaternion]
    [0.339546, -0.218076, 0.142173, 0.903846]
    """

    inertia: tuple[float, float, float]
    angular_velocity: tuple[float, float, float]
    orientation: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        """Refuse moments of inertia that no body has."""
        check(self, (3,), "inertia", above=0)
        check(self, (3,), "angular_velocity")
        check(self, (4,), "orientation")
        if not any(self.orientation):
            raise ModelError(
                f"FreeBody: orientation: expected a quaternion other than zero, found {self.orientation!r}"
            )

    def __call__(self, t: ArrayLike) -> tuple[Array, Array]:
        """Quaternion (..., 4), continuous in time, and angular velocity along the axes (..., 3) [rad/s] at times t (...) [s]."""
        t = times(self, t)
        start = np.array(self.orientation) / np.linalg.norm(self.orientation)
        if self._circulation is None:
            speed = float(np.linalg.norm(self.angular_velocity))
            axis = np.array(self.angular_velocity) / speed if speed else np.zeros(3)
            turn = np.concatenate([np.cos(speed * t / 2)[..., None], np.sin(speed * t / 2)[..., None] * axis], axis=-1)
            return _product(start, turn), np.tile(self.angular_velocity, (*t.shape, 1))
        momentum, turn = self._circulation(t)
        return _product(start, turn), momentum / np.array(self.inertia)

    def rotation(self, t: ArrayLike) -> Array:
        """Orientation as matrices (..., 3, 3), from the body to the world, at times t (...) [s]."""
        s, x, y, z = np.moveaxis(self(t)[0], -1, 0)
        rows = [
            [s * s + x * x - y * y - z * z, 2 * (x * y - s * z), 2 * (x * z + s * y)],
            [2 * (x * y + s * z), s * s - x * x + y * y - z * z, 2 * (y * z - s * x)],
            [2 * (x * z - s * y), 2 * (y * z + s * x), s * s - x * x - y * y + z * z],
        ]
        return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)

    @property
    def period(self) -> float:
        """Period of the angular velocity along the body axes; infinite on the separatrix, and where it is constant [s]."""
        return 4 * self._circulation.jacobi.K / self._circulation.rate if self._circulation else math.inf

    @cached_property
    def _circulation(self) -> Circulation | None:
        """The circulation; None where the angular velocity is constant: about a principal axis, of a sphere, …"""
        inertia, omega = np.array(self.inertia), np.array(self.angular_velocity)
        torque = (np.roll(inertia, 1) - np.roll(inertia, -1)) * np.roll(omega, 1) * np.roll(omega, -1)
        return Circulation(self.inertia, self.angular_velocity) if torque.any() else None


@dataclass(frozen=True)
class Circulation:
    """The motion of the momentum along the body axes, and the turn of the body since t = 0."""

    inertia: tuple[float, float, float]
    angular_velocity: tuple[float, float, float]

    @cached_property
    def _axes(self) -> tuple[int, int, int]:
        """x, y and z among the body's axes: of the two outer ones, that about which the momentum circulates is z."""
        x, y, z = (int(i) for i in np.argsort(self.inertia, kind="stable"))
        rho, rest = self._ratios((x, y, z))
        momentum = np.array(self.inertia) * self.angular_velocity
        return (x, y, z) if rho * momentum[z] ** 2 >= rest * momentum[x] ** 2 else (z, y, x)

    def _ratios(self, axes: tuple[int, int, int]) -> tuple[float, float]:
        """ρ and 1 − ρ; ρ = 1 of a sphere."""
        Ix, Iy, Iz = (self.inertia[i] for i in axes)
        if Ix == Iz:
            return 1.0, 0.0
        whole = abs(Ix - Iz) * Iy
        return abs(Iy - Iz) * Ix / whole, abs(Ix - Iy) * Iz / whole

    @cached_property
    def _frame(self) -> Array:
        """Columns (3, 3) x, y, z: right-handed, with the initial momentum not negative along x and z."""
        x, y, z = self._axes
        omega, unit = self.angular_velocity, np.eye(3)
        parity = round(float(np.linalg.det(unit[[x, y, z]])))
        upright = math.copysign(1.0, omega[z])
        forward = math.copysign(1.0, parity * upright * omega[x])
        return np.stack([parity * upright * forward * unit[x], forward * unit[y], upright * unit[z]], axis=1)

    @cached_property
    def _start(self) -> tuple[float, float, float]:
        """Initial momentum along x, y, z."""
        x, y, z = self._frame.T @ (np.array(self.inertia) * self.angular_velocity)
        return float(x), float(y), float(z)

    @cached_property
    def _sizes(self) -> tuple[float, float, float, float, float]:
        """A, C, G, √ρ and σ."""
        (x, y, z), (rho, rest) = self._start, self._ratios(self._axes)
        sigma = math.copysign(1.0, self.inertia[self._axes[2]] - self.inertia[self._axes[0]])
        root = math.sqrt(rho)
        return math.hypot(x, root * y), math.hypot(z, math.sqrt(rest) * y), math.hypot(x, y, z), root, sigma

    @cached_property
    def jacobi(self) -> Jacobi:
        """The elliptic functions of the motion."""
        A, C, _, root, _ = self._sizes
        rest = math.sqrt(self._ratios(self._axes)[1])
        x, _, z = self._start
        return Jacobi((rest * A / (root * C)) ** 2, (root * z - rest * x) * (root * z + rest * x) / (root * C) ** 2)

    @cached_property
    def rate(self) -> float:
        """κ [1/s]."""
        _, C, _, root, _ = self._sizes
        Ix, _, Iz = (self.inertia[i] for i in self._axes)
        return abs(Ix - Iz) / (Ix * Iz) * root * C

    @cached_property
    def _phase(self) -> float:
        """τ₀."""
        _, _, _, root, sigma = self._sizes
        return self.jacobi.argument(sigma * root * self._start[1], self._start[0])

    def __call__(self, t: Array) -> tuple[Array, Array]:
        """Momentum along the body axes (..., 3) [kg m²/s] and the quaternion (..., 4) of the body at t as seen from it at 0."""
        momentum, place = self._momentum(t), self._place(t)
        start = self._place(np.array(0.0)) * (1, -1, -1, -1)
        turn = _product(start, place)
        return momentum @ self._frame.T, np.concatenate([turn[..., :1], turn[..., 1:] @ self._frame.T], axis=-1)

    def _momentum(self, t: Array) -> Array:
        """Along x, y, z."""
        A, C, _, root, sigma = self._sizes
        _, sn, cn, dn = self.jacobi.functions(self._phase + self.rate * t)
        return np.stack([A * cn, sigma * A / root * sn, C * dn], axis=-1)

    def _place(self, t: Array) -> Array:
        """Quaternion (..., 4) from x, y, z to a frame whose third axis is the momentum: first the shortest way, then the turn."""
        x, y, z = np.moveaxis(self._momentum(t), -1, 0) / self._sizes[2]
        half = self._turn(t) / 2
        turn = np.stack([np.cos(half), 0 * half, 0 * half, np.sin(half)], axis=-1)
        return _product(turn, np.stack([1 + z, y, -x, 0 * z], axis=-1) / np.sqrt(2 + 2 * z)[..., None])

    def _turn(self, t: Array) -> Array:
        """φ + ψ up to a constant [rad]."""
        A, C, G, root, sigma = self._sizes
        slope = A * A / (root * C * G) + self._third_kind.slope
        rest = self.jacobi.continued(self._rest, self._phase + self.rate * t)
        return G / self.inertia[self._axes[2]] * t + sigma * (slope * self.rate * t + rest)

    @cached_property
    def _third_kind(self) -> ThirdKind:
        """The integral with the parameter N that stands for the negative n = −(1 − ρ)/ρ: N = (m − n)/(1 − n) = ρ m + 1 − ρ."""
        A, C, G, root, _ = self._sizes
        m, m1 = self.jacobi.m, self.jacobi.m1
        n = root**2 * m + self._ratios(self._axes)[1]
        return ThirdKind(n, root**2 * m1, (A / (root * G)) ** 2, m1 * (C / G) ** 2)

    def _rest(self, sn: Array, cn: Array, dn: Array) -> Array:
        """√((1 − n)(1 − m/n)) Π(n) − slope·τ, by Abramowitz & Stegun 17.7.15, and ψ."""
        _, C, G, root, _ = self._sizes
        across = self._ratios(self._axes)[1] * G * sn * cn
        return np.arctan2(across, root * C * dn) + self._third_kind.rest(sn, cn, dn) - np.arctan2(sn, root * cn)


def _product(a: Array, b: Array) -> Array:
    """The quaternion a ⋆ b (..., 4)."""
    (s, x, y, z), (w, u, v, r) = np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0)
    return np.stack(
        [
            s * w - x * u - y * v - z * r,
            s * u + x * w + y * r - z * v,
            s * v - x * r + y * w + z * u,
            s * r + x * v - y * u + z * w,
        ],
        axis=-1,
    )
