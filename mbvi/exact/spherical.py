"""The spherical pendulum: height by Jacobi functions, azimuth by integrals of the third kind."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError
from mbvi.exact.axis import Axis
from mbvi.exact.checks import check, times

Array = np.ndarray


@dataclass(frozen=True)
class SphericalPendulum:
    """A point mass on a massless rod about a fixed point, at any energy: a heavy axis without spin (`mbvi.exact.axis`).

    Parameters
    ----------
    length : float
        ℓ [m].
    gravity : float
        g [m/s²], along −z.
    angles, rates : (2,)
        At t = 0, azimuth from the x axis about z, and angle from the downward vertical, between 0 and π [rad], [rad/s].

    Raises
    ------
    ModelError
        If a number is not finite, length or gravity not positive, or the angle not between 0 and π.

    Examples
    --------
    >>> pendulum = SphericalPendulum(1.0, 9.81, angles=(0.0, 1.0), rates=(2.0, 0.0))
    >>> place, velocity = pendulum([0.0, 0.5, 1.0])
    >>> place.shape
    (3, 3)

    Source: Whittaker, Analytical Dynamics, section 55.
    """

    length: float
    gravity: float
    angles: tuple[float, float]
    rates: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        """Refuse what is no spherical pendulum, and places where the azimuth is undefined."""
        check(self, (), "length", "gravity", above=0)
        check(self, (2,), "angles", "rates")
        if not 0 < self.angles[1] < math.pi:
            raise ModelError(f"SphericalPendulum: angles[1]: expected 0 < angle < π, found {self.angles[1]!r}")

    def __call__(self, t: ArrayLike) -> tuple[Array, Array]:
        """Place (..., 3) [m] and velocity (..., 3) [m/s] at times t (...) [s]; smooth also through the vertical."""
        t = times(self, t)
        lower, upper, theta_rate = self._axis.nutation(t)
        radius, height = lower * upper, (lower**2 - upper**2) / 2
        azimuth = self.azimuth(t)
        across = np.divide(self._momentum, radius, out=np.zeros_like(radius), where=self._momentum != 0)
        outward, along = np.stack([np.cos(azimuth), np.sin(azimuth)]), np.stack([-np.sin(azimuth), np.cos(azimuth)])
        place = [*(radius * outward), height]
        velocity = [*(height * theta_rate * outward + across * along), -radius * theta_rate]
        return self.length * np.stack(place, axis=-1), self.length * np.stack(velocity, axis=-1)

    def azimuth(self, t: ArrayLike) -> Array:
        """Azimuth, which counts turns, of the shape of the times t [rad]; in a plane it jumps by π at the vertical."""
        lower, upper = self._axis.turns(times(self, t))
        return self.angles[0] + lower + upper

    def angle(self, t: ArrayLike) -> Array:
        """Angle from the downward vertical, of the shape of the times t [rad]."""
        lower, upper, _ = self._axis.nutation(times(self, t))
        return 2 * np.arctan2(lower, upper)

    @property
    def period(self) -> float:
        """Period of the height; infinite on the separatrix [s]."""
        return self._axis.period

    @cached_property
    def _axis(self) -> Axis:
        half = math.sin(self.angles[1] / 2), math.cos(self.angles[1] / 2)
        return Axis(2 * self.gravity / self.length, 0.0, half, -self.rates[1], self.rates[0])

    @property
    def _momentum(self) -> float:
        """Vertical angular momentum over m ℓ² [1/s]."""
        return math.sin(self.angles[1]) ** 2 * self.rates[0]
