"""The energy balance of a run, and where it leaves its level.

    U = (T + V) − (T + V)₀ − W,     dW/dt = v·F − λ·∂g/∂t,

with the work W of forces that derive from no potential and of prescribed motions. A variational scheme lets U oscillate; a
collision or a dead point that is stepped over, a step that is too large or a method that drifts moves its level, which does not
come back. The level is the median of eight samples, during which an oscillation, or a close passage, returns. It is compared with
the energies that the motion exchanges: the mean of T and the standard deviation of V until then.

The work between two samples is not integrated. It is known from the powers at both, up to their difference; what the energy
changes in addition belongs to U.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mbvi.errors import ModelError
from mbvi.kernels.layout import TABLE
from mbvi.kernels.mechanics.power import fill_powers, subtract_drive_powers
from mbvi.system.system import System

Array = np.ndarray
BEFORE_IT, AFTER = -1.0, 1.0  # sides of a time
SAMPLES = 8  # number of samples whose median is the level
LEVEL = 0.1  # change of the level, relative to the energies' scale, from which the level is left
FEW = 40  # number of first steps in which the level must also exceed LEVEL of the work: from rest, energies grow from 0
JUMP, BEFORE = 0.01, 10.0  # a smaller change that is enough where it is BEFORE times the largest balance before,
ESTABLISHED = 24  # which is judged from this number of samples on
QUIET = 1e4  # factor of the first level beyond which it is left for good, where no level after it is below JUMP
WIDER = 1.5  # factor of the difference of two powers: how far the mean power between them may be from their mean
ROUNDING = 1e-10  # part of |T| + |V| below which a balance is round-off
ROUNDINGS = 1e3  # roundings of a coordinate by which a step may move it: the energy of such a motion is round-off too
LARGEST = 1e300  # value that stands for an infinite energy
GROWS = 1.8  # factor by which powers grow in one step towards a pole from both sides, at least 2 by 1/x
REACH = 10.0  # factor of the largest power near, which no power between stored states exceeds
SHIFTS = np.array(
    [-0.71, -0.43, -0.17, 0.0, 0.29, 0.59, 0.83]
)  # parts of the time between states at which forces are evaluated


class Energies(NamedTuple):
    """What states have: times (states,) [s], kinetic and potential energies [J], and the power that changes their sum [W].

    Where a force jumps, `power` is that after the jump and `before` that before it.
    """

    t: Array
    kinetic: Array
    potential: Array
    power: Array
    before: Array

    def since(self, before: Energies) -> Energies:
        """These energies after those of the states before."""
        return Energies(*map(np.concatenate, zip(before, self, strict=True)))

    def last(self) -> Energies:
        """The energies of the last state alone."""
        return Energies(*(each[-1:] for each in self))

    def gains(self) -> Array:
        """What the energy changes from state to state (…, states − 1) [J] beyond the work that their powers explain."""
        time, change = np.diff(self.t), np.diff(self.kinetic + self.potential)
        begin, end = self.power[..., :-1], self.before[..., 1:]
        work, uncertainty = 0.5 * time * (begin + end), WIDER * np.abs(end - begin) * time
        return change - np.clip(change, work - uncertainty, work + uncertainty)

    def jumps(self) -> Array:
        """What the energy changes from state to state (states − 1,) [J] beyond any work that powers like those near explain.

        Like them are those between the least and the largest of four neighbours, and as far beyond.
        """
        before, after = (_four_neighbours(each) for each in (self.before, self.power))
        least, largest = np.minimum(before, after).min(axis=1), np.maximum(before, after).max(axis=1)
        time, change, width = np.diff(self.t), np.diff(self.kinetic + self.potential), largest - least
        return change - np.clip(change, time * (least - width), time * (largest + width))

    def spike(self, least: float, factor: float) -> int | None:
        """The step in which most of a change of more than `least` [J] happens, by powers `factor` times those beside them.

        So it is where a force has a pole: its work is that of one value, at whatever distance from the pole a state lies.
        """
        change = np.nan_to_num(np.abs(np.diff(self.kinetic + self.potential)))
        if len(change) < 3 or not change.max() > least:
            return None
        step, powers = int(np.argmax(change)), np.pad(np.abs(self.power), 1, "edge")
        inside, beside = powers[step + 1 : step + 3].max(), max(powers[step], powers[step + 3])
        return step if inside > factor * beside else None

    def changes_of_sign(self) -> list[int]:
        """The pairs of states between which powers change their sign, and towards which they grow from both sides.

        So it is where a force has a pole like 1/x: a zero of a smooth power has small powers beside it.
        """
        before, begin, end, after = _four_neighbours(self.power).T
        grows = (np.abs(begin) > GROWS * np.abs(before)) & (np.abs(end) > GROWS * np.abs(after))
        return np.flatnonzero(grows & (begin * end < 0.0)).tolist()

    def unexplained(self, step: int) -> float:
        """What the energy changes in a step [J] beyond the mean of the powers at its ends."""
        change = np.diff(self.kinetic + self.potential)[step]
        return float(abs(change - 0.5 * (self.t[step + 1] - self.t[step]) * (self.power[step] + self.power[step + 1])))

    def leaps(self, powers: Array) -> Array:
        """What the energy changes from state to state (states − 1,) [J] beyond any work of powers (states,) like those near.

        The states between are not known, so that the work is bounded by several times the largest power near.
        """
        change, bound = np.diff(self.kinetic + self.potential), REACH * _four_neighbours(powers).max(axis=1)
        return change - np.clip(change, -bound * np.diff(self.t), bound * np.diff(self.t))


def _four_neighbours(values: Array) -> Array:
    """For each pair of consecutive states, their values and those before and after them, (states − 1, 4)."""
    return np.lib.stride_tricks.sliding_window_view(np.pad(values, 1, "edge"), 4)


def is_known(system: System) -> bool:
    """Whether all that changes the energy of a system is known: not where a Lagrangian of one's own depends on the time."""
    return system.is_driven or system.unforced.is_conservative


def energies_of(system: System, t: Array, q: Array, p: Array) -> Energies:
    """Energies of many states: t (states,), q and p (states, n); not a number where the mass matrix is singular."""
    try:
        v = system.velocities(t, q, p)
    except ModelError:
        if len(t) > 1:
            parts = [energies_of(system, t[i : i + 1], q[i : i + 1], p[i : i + 1]) for i in range(len(t))]
            return Energies(*map(np.concatenate, zip(*parts, strict=True)))
        v = np.full_like(q, np.nan)
    kinetic, potential = (np.clip(each, -LARGEST, LARGEST) for each in system.energies(t, q, v))
    power = powers_of_forces(system, t, q, v, AFTER)
    has_tables = (system.arrays.time_functions[:, 0] == TABLE).any()
    return Energies(t, kinetic, potential, power, powers_of_forces(system, t, q, v, BEFORE_IT) if has_tables else power)


def largest_powers(system: System, t: Array, q: Array, p: Array, apart: float) -> Array:
    """The largest |power| (states,) [W] of states at times t, and at times less than `apart` before and after them."""
    v = system.velocities(t, q, p)
    return np.max([np.abs(powers_of_forces(system, t + shift * apart, q, v, AFTER)) for shift in SHIFTS], axis=0)


def powers_of_forces(system: System, t: Array, q: Array, v: Array, side: float) -> Array:
    """v·F − λ·∂g/∂t (states,) [W], on a side of the times t where a force jumps."""
    out = np.zeros(len(t))
    if system.unforced is not system:
        fill_powers(out, system.arrays, system.unforced.arrays, system.work, side, t, q, v)
    if system.is_driven:
        subtract_drive_powers(out, system.arrays, system.work, t, q, system.multipliers(t, q, v))
    return out


def energies_of_rounding(system: System, q: Array, step: float, t: float) -> Array:
    """Energies (states,) [J] of what round-off of coordinates q (states, n) moves in a step: of that motion, and forces' work."""
    move = ROUNDINGS * np.finfo(float).eps
    v = move * np.maximum(1.0, np.abs(q)) / step
    return np.abs(system.energies(np.full(len(q), t), q, v)[0]) + move * first_works(system, q, t)


def first_works(system: System, q: Array, t: float) -> Array:
    """Works (states,) [J] of the forces at q (states, n) along 1 m or 1 rad, or along coordinates that are larger."""
    forces = system._forces_at_rest(np.full(len(q), t), q)
    return (np.abs(forces) * np.maximum(1.0, np.abs(q))).sum(axis=1)


def exchanged(kinetic: Array, potential: Array) -> Array:
    """Scale of the energies (…, samples) [J] that a motion exchanges until each sample: the mean of T and the deviation of V."""
    count, largest = np.arange(1, kinetic.shape[-1] + 1), np.maximum(np.abs(potential).max(initial=0.0), 1.0)
    relative = (potential - potential[..., :1]) / largest
    mean, square = (np.cumsum(each, axis=-1) / count for each in (relative, relative**2))
    return np.cumsum(np.abs(kinetic), axis=-1) / count + largest * np.sqrt(np.maximum(square - mean**2, 0.0))


def first_departure(
    steps: Array, balance: Array, kinetic: Array, potential: Array, rounding: Array, work: float = 0.0
) -> tuple[int, float] | None:
    """Where a balance leaves its level for good, and by how much of the energies' scale; None if it does not.

    Parameters
    ----------
    steps : (samples,)
        Numbers of the steps after which the samples stand.
    balance : (samples,)
        U [J], 0 at the start.
    kinetic, potential : (samples,)
        T and V [J], of which `exchanged` until the end of eight samples is the scale there.
    rounding : (samples,)
        Energy [J] below which a balance is round-off; the largest until a sample counts.
    work : float
        What `first_work` gives of the start [J].

    Returns
    -------
    (int, float) or None
        The first sample of those that have left, and their level.

    Examples
    --------
    >>> n, ones, zeros = np.arange(100), np.ones(100), np.zeros(100)
    >>> first_departure(n, np.where(n < 60, 0.0, 0.5), ones, zeros, zeros)
    (60, 0.5)
    >>> first_departure(n, 0.01 * np.cos(n), ones, zeros, zeros) is None
    True
    """
    if len(balance) < 2:
        return None
    width = min(SAMPLES, len(balance) - 1)
    windows = np.lib.stride_tricks.sliding_window_view(balance[1:], width)
    levels, ends = np.abs(np.median(windows, axis=1)), slice(width, None)
    rounding = np.maximum.accumulate(rounding)
    scale = (exchanged(kinetic, potential) + rounding)[ends]
    before = np.maximum.accumulate(np.abs(balance))[: len(levels)]
    before[:ESTABLISHED] = np.inf
    is_off = (levels > LEVEL * scale) | ((levels > JUMP * scale) & (levels > BEFORE * before))
    is_off |= _growth(balance, kinetic, potential, rounding, width) > LEVEL
    is_off |= _is_gone(levels, scale, float(np.abs(balance[1 : width + 1]).max()), width)
    is_off &= levels > rounding[ends] + np.where(steps[ends] < FEW, LEVEL * work, 0.0)
    if not is_off.any():
        return None
    window = int(np.argmax(is_off))
    first = window + 1 + int(np.argmax(np.abs(windows[window]) > 0.5 * levels[window]))
    return first, float(abs(np.median(balance[first : first + width])) / scale[window])


def _growth(balance: Array, kinetic: Array, potential: Array, rounding: Array, width: int) -> Array:
    """The median over windows of |U| relative to the largest energy until then: near 1 where each sample is beyond all before."""
    size = np.maximum.accumulate(np.abs(kinetic) + np.abs(potential - potential[0])) + rounding
    parts = np.abs(balance) / np.maximum(size, np.finfo(float).tiny)
    return np.median(np.lib.stride_tricks.sliding_window_view(parts[1:], width), axis=1)


def _is_gone(levels: Array, scale: Array, first: float, width: int) -> Array:
    """Which levels are followed by none below JUMP, where the first samples were nothing beside them.

    An oscillation returns. Errors of single steps, as at close passages, add up in both directions, and may never be ten times
    what they were before.
    """
    stay = np.logical_and.accumulate((levels > JUMP * scale)[::-1])[::-1]
    places = np.arange(len(levels))
    return stay & (levels > QUIET * first) & (places >= width) & (places <= len(levels) - width)
