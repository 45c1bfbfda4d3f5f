"""The damped oscillator, m ẍ + b ẋ + k x = 0, with a damping b of any strength and sign."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mbvi.exact.checks import check, times

Array = np.ndarray


@dataclass(frozen=True)
class DampedOscillator:
    """A mass on a spring and a damper; negative damping drives it.

    With ρ = b/2m and D = ρ² − k/m, and C, S = e^(−ρt) times cos ωt, sin ωt/ω (D = −ω² < 0), 1, t (D = 0), or cosh σt, sinh σt/σ
    (D = σ² > 0):

        x = x₀ C + (v₀ + ρ x₀) S,    ẋ = v₀ C − (ρ v₀ + k/m x₀) S

    Parameters
    ----------
    mass : float
        m > 0 [kg].
    damping : float
        b [N s/m].
    stiffness : float
        k ≥ 0 [N/m].
    position, velocity : float
        At t = 0, from the rest of the spring [m], [m/s].

    Raises
    ------
    ModelError
        If a number is not finite, the mass not positive or the stiffness negative.

    Examples
    --------
    >>> x, v = DampedOscillator(mass=1.0, damping=2.0, stiffness=1.0, position=1.0)([0.0, 1.0])  # (1 + t) e^(−t)
    >>> [round(float(each), 6) for each in x]
    [1.0, 0.735759]

    Source: any textbook; Mutze, section 7, for the negative damping.
    """

    mass: float
    damping: float
    stiffness: float
    position: float
    velocity: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what is no oscillator."""
        check(self, (), "mass", above=0)
        check(self, (), "stiffness", least=0)
        check(self, (), "damping", "position", "velocity")

    def __call__(self, t: ArrayLike) -> tuple[Array, Array]:
        """Position [m] and velocity [m/s], of the shape of the times t [s]."""
        C, S = self._waves(times(self, t))
        x, v, rho = self.position, self.velocity, self.decay
        return x * C + (v + rho * x) * S, v * C - (rho * v + self.stiffness / self.mass * x) * S

    @property
    def decay(self) -> float:
        """ρ = b/2m [1/s]."""
        return self.damping / (2 * self.mass)

    @property
    def discriminant(self) -> float:
        """D = ρ² − k/m [1/s²]: negative if underdamped, 0 if critically, positive if overdamped."""
        return (self.damping**2 - 4 * self.mass * self.stiffness) / (4 * self.mass**2)

    @property
    def period(self) -> float:
        """2π/ω of the underdamped oscillator, otherwise infinite [s]."""
        return 2 * math.pi / math.sqrt(-self.discriminant) if self.discriminant < 0 else math.inf

    def _waves(self, t: Array) -> tuple[Array, Array]:
        """C and S; where overdamped, by the larger of the two exponentials and their ratio, which is at most 1."""
        rho, D = self.decay, self.discriminant
        if D < 0:
            omega = math.sqrt(-D)
            return np.exp(-rho * t) * np.cos(omega * t), np.exp(-rho * t) * np.sin(omega * t) / omega
        if D == 0:
            return np.exp(-rho * t), np.exp(-rho * t) * t
        sigma = math.sqrt(D)
        slow, fast = sigma - rho, -sigma - rho
        if rho > 0:
            slow = self.stiffness / self.mass / fast
        else:
            fast = self.stiffness / self.mass / slow
        larger = np.exp(np.where(t > 0, slow, fast) * t)
        shrink = np.expm1(-2 * sigma * np.abs(t))
        return larger * (1 + shrink / 2), larger * np.sign(t) * -shrink / (2 * sigma)
