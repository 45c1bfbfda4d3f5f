"""The energy balance of a run, and where it leaves its level.

    U = (T + V) − (T + V)₀ − W,     dW/dt = v·F − λ·∂g/∂t,

with the work W of forces that derive from no potential and of prescribed motions. A variational scheme lets U oscillate; a
collision or a dead point that is stepped over, a step that is too large or a method that drifts moves its level, and what moved
stays. So samples tell, of which the median of eight decides: over those an oscillation, or a close passage, returns.

The work between two samples is not integrated: it is known from the powers at both, up to their difference, and what the energy
changes beyond belongs to U.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mbvi.errors import ModelError
from mbvi.kernels.power import fill_powers, subtract_drive_powers
from mbvi.system.system import System

Array = np.ndarray
SAMPLES = 8  # of which the median is the level
LEVEL = 0.1  # of the energies' scale, which no level may leave
JUMP, BEFORE = 0.01, 10.0  # the same of a level that is so many times all that the balance was before,
ESTABLISHED = 24  # in so many samples
WIDER = 1.5  # of the difference of two powers, by which their mean between may be off their mean
ROUNDING = 1e-10  # of |T| + |V|, below which a balance is round-off
ROUNDINGS = 1e3  # of coordinates, by which a step may move them: the energy of such a motion is round-off too


class Energies(NamedTuple):
    """What states have: times (states,) [s], kinetic and potential energies [J], and the power that changes their sum [W]."""

    t: Array
    kinetic: Array
    potential: Array
    power: Array

    def since(self, before: Energies) -> Energies:
        """With those of states before."""
        return Energies(*map(np.concatenate, zip(before, self, strict=True)))

    def last(self) -> Energies:
        """The last alone."""
        return Energies(*(each[-1:] for each in self))

    def gains(self) -> Array:
        """What the energy changes from state to state (…, states − 1) [J] beyond the work that their powers explain."""
        time, change, power = np.diff(self.t), np.diff(self.kinetic + self.potential), np.diff(self.power)
        work, uncertainty = time * (self.power[..., 1:] - 0.5 * power), WIDER * np.abs(power) * time
        return change - np.clip(change, work - uncertainty, work + uncertainty)

    def jumps(self) -> Array:
        """What the energy changes from state to state (states − 1,) [J] beyond any work that powers like those near explain.

        Like them are those between the least and the largest of four neighbours, and as far beyond.
        """
        near = np.lib.stride_tricks.sliding_window_view(np.pad(self.power, 1, "edge"), 4)
        least, largest = near.min(axis=1), near.max(axis=1)
        time, change, width = np.diff(self.t), np.diff(self.kinetic + self.potential), largest - least
        return change - np.clip(change, time * (least - width), time * (largest + width))


def is_known(system: System) -> bool:
    """Whether all that changes the energy of a system is known: not where a Lagrangian of one's own depends on the time."""
    return system.is_driven or system.unforced.is_conservative


def energies_of(system: System, t: Array, q: Array, p: Array) -> Energies:
    """Those of many states: t (states,), q and p (states, n); not a number where the mass matrix is singular."""
    try:
        v = system.velocities(t, q, p)
    except ModelError:
        if len(t) > 1:
            parts = [energies_of(system, t[i : i + 1], q[i : i + 1], p[i : i + 1]) for i in range(len(t))]
            return Energies(*map(np.concatenate, zip(*parts, strict=True)))
        v = np.full_like(q, np.nan)
    return Energies(t, *system.energies(t, q, v), _powers(system, t, q, v))


def _powers(system: System, t: Array, q: Array, v: Array) -> Array:
    """v·F − λ·∂g/∂t (states,) [W]."""
    out = np.zeros(len(t))
    if system.unforced is not system:
        fill_powers(out, system.arrays, system.unforced.arrays, system.work, t, q, v)
    if system.is_driven:
        subtract_drive_powers(out, system.arrays, system.work, t, q, system.multipliers(t, q, v))
    return out


def energy_of_rounding(system: System, q: Array, step: float, t: float) -> float:
    """Kinetic energy [J] of what round-off of coordinates q (n,) moves in a step."""
    v = ROUNDINGS * np.finfo(float).eps * np.maximum(1.0, np.abs(q)) / step
    return abs(system.kinetic_energy(q, v, t))


def first_departure(balance: Array, size: Array, rounding: Array) -> tuple[int, float] | None:
    """Where a balance leaves its level for good, and by how much of the energies' scale; None if it does not.

    Parameters
    ----------
    balance : (samples,)
        U [J], 0 at the start.
    size : (samples,)
        T + |V − V₀| [J], of which the mean until the end of eight samples is the scale there.
    rounding : (samples,)
        Energy [J] below which a balance is round-off; the largest until a sample counts.

    Returns
    -------
    (int, float) or None
        The first sample of those that have left, and their level.

    Examples
    --------
    >>> step = np.where(np.arange(100) < 60, 0.0, 0.5)
    >>> first_departure(step, np.ones(100), np.zeros(100))
    (60, 0.5)
    >>> first_departure(0.01 * np.cos(np.arange(100)), np.ones(100), np.zeros(100)) is None
    True
    """
    known = np.flatnonzero(np.isfinite(balance) & np.isfinite(size))
    if len(known) < 2:
        return None
    balance, size, rounding = (each[known] for each in (balance, size, rounding))
    width = min(SAMPLES, len(balance) - 1)
    windows = np.lib.stride_tricks.sliding_window_view(balance[1:], width)
    levels, ends = np.abs(np.median(windows, axis=1)), slice(width, None)
    rounding = np.maximum.accumulate(rounding)
    scale = (np.cumsum(size) / np.arange(1, len(size) + 1) + rounding)[ends]
    before = np.maximum.accumulate(np.abs(balance))[: len(levels)]
    before[:ESTABLISHED] = np.inf
    is_off = (levels > LEVEL * scale) | ((levels > JUMP * scale) & (levels > BEFORE * before))
    is_off &= levels > rounding[ends]
    if not is_off.any():
        return None
    window = int(np.argmax(is_off))
    first = window + 1 + int(np.argmax(np.abs(windows[window]) > 0.5 * levels[window]))
    return int(known[first]), float(abs(np.median(balance[first : first + width])) / scale[window])
