"""Errors of an oscillation in the interaction picture: the computed state, taken back to the start by the exact motion.

    s_int(t) = Φ_exact(−t) Φ_approximate(t) s(0)

would stay at s(0) if the computation were exact, and the error does not depend on how far the oscillation has grown or decayed.

Source: Mutze, A simple variational integrator for general holonomic mechanical systems, section 7.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError
from mbvi.exact.oscillator import DampedOscillator
from mbvi.floats import as_floats
from mbvi.model.arguments import check_kind
from mbvi.model.expressions import show, wrong

Array = np.ndarray


class OscillationErrors(NamedTuple):
    """Errors (states,) of an oscillation against the exact one from the same start.

    amplitude     relative
    phase         of the oscillation, without jumps  [rad]
    """

    amplitude: Array
    phase: Array


def oscillation_errors(oscillator: DampedOscillator, t: ArrayLike, x: ArrayLike, v: ArrayLike) -> OscillationErrors:
    """Relative amplitude error and phase error of a computed motion of a damped oscillator.

    With the exact motions e^(−ρt) cos(ωt + φ), a state has the complex amplitude x − i (v + ρ x)/ω, which the exact motion
    back to the start multiplies by e^((ρ − iω) t).

    Parameters
    ----------
    oscillator : DampedOscillator
        Underdamped; its own position and velocity do not matter.
    t : (states,)
        Times [s]; the motion is compared with the exact one from its first state.
    x, v : (states,)
        Positions [m] and velocities [m/s].

    Raises
    ------
    ModelError
        If the oscillator does not oscillate, the shapes do not fit, a number is not finite, or the motion starts at rest in its
        place of rest.

    Examples
    --------
    >>> exact = DampedOscillator(mass=1.0, damping=-0.2, stiffness=4.0, position=1.0)
    >>> t = np.linspace(0.0, 50.0, 501)
    >>> bool(max(np.abs(each).max() for each in oscillation_errors(exact, t, *exact(t))) < 1e-12)
    True

    Source: Mutze, section 7, from equation 92.
    """
    check_kind(oscillator, DampedOscillator, "oscillator", "make one of mbvi.exact")
    times, positions, velocities = (_numbers(each, what) for each, what in ((t, "t"), (x, "x"), (v, "v")))
    if not times.shape == positions.shape == velocities.shape or times.ndim != 1 or not len(times):
        raise ModelError(
            f"x: expected a position and a velocity for each time, found shapes {times.shape}, {positions.shape}, "
            f"{velocities.shape}"
        )
    if not np.isfinite([times, positions, velocities]).all():
        raise ModelError("x: expected finite times, positions and velocities, found some that are not")
    if not math.isfinite(oscillator.period):
        raise ModelError(f"oscillator: expected an underdamped one, found damping {oscillator.damping:g} N s/m")
    omega, rho = 2 * math.pi / oscillator.period, oscillator.decay
    amplitude = positions - 1j * (velocities + rho * positions) / omega
    if amplitude[0] == 0:
        raise ModelError("x: expected a motion that starts away from rest, found position and velocity 0")
    back = amplitude / amplitude[0] * np.exp((rho - 1j * omega) * (times - times[0]))
    return OscillationErrors(np.abs(back) - 1, np.unwrap(np.angle(back)))


def _numbers(values: ArrayLike, what: str) -> Array:
    array = as_floats(values)
    if array is None:
        raise ModelError(f"{what}: {wrong('numbers', show(values))}")
    return array
