"""What a trajectory says of itself in a few numbers: ranges, errors of the energy, and whether they have a trend."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mbvi.results.trajectory import Trajectory

Array = np.ndarray
FEWEST_STATES = 10
MOST_BINS = 1 << 16
BLOCK_ROWS = 1 << 17  # states of which a summary reads at a time
SIGNIFICANT = 3.0
RESTING = 64 * np.finfo(float).eps
"""Part of a coordinate, or of 1, that may change at rest, and of the energy that may be kinetic."""


class Trend(NamedTuple):
    """Slope [1/s] of a least-squares line over time and its standard error, which allows for correlated values."""

    slope: float
    error: float

    @property
    def is_significant(self) -> bool:
        """Whether the slope is more than three standard errors."""
        return abs(self.slope) > SIGNIFICANT * self.error

    def __str__(self) -> str:
        """The trend as a text such as (1.2 ± 3.4)e-15 per second."""
        size = max(abs(self.slope), self.error)
        if size == 0:
            return "0 per second"
        exponent = math.floor(math.log10(size))
        slope, error = (round(value / 10.0**exponent, 1) + 0.0 for value in self)  # without a negative zero
        return f"({slope:.1f} ± {error:.1f})e{exponent:+03d} per second"


def fit_trend(t: Array, values: Array) -> Trend:
    """The linear trend of values (N,) over times t (N,).

    An energy error oscillates, so that its values are not independent: the variance of the slope is σ² τ / Σ (t − t̄)²,
    where σ² is that of the residuals, and τ = 1 + 2 Σ ρ_k their correlation time, ρ_k the autocorrelation up to its
    first zero.

    Examples
    --------
    >>> t = np.linspace(0.0, 100.0, 1001)
    >>> fit_trend(t, np.sin(2.0 * t)).is_significant
    False
    >>> fit_trend(t, np.sin(2.0 * t) + 0.1 * t).is_significant
    True
    """
    x, y = _binned(t, values, -(-len(t) // MOST_BINS))
    x, y = x - x.mean(), y - y.mean()
    slope = float(x @ y / (x @ x))
    residual = y - slope * x
    variance = float(residual @ residual) / (len(x) - 2)
    return Trend(slope, math.sqrt(variance * _correlation_time(residual) / float(x @ x)))


def _correlation_time(residual: Array) -> float:
    """τ = 1 + 2 Σ ρ_k up to the first zero of the autocorrelation ρ, in numbers of values."""
    n = len(residual)
    spectrum = np.fft.rfft(residual, 2 * n)
    correlation = np.fft.irfft(spectrum * spectrum.conj())[:n]
    if correlation[0] <= 0:
        return 1.0
    correlation /= correlation[0]
    first = int(np.argmax(correlation <= 0)) or n
    return 1.0 + 2.0 * float(correlation[1:first].sum())


class Summary(NamedTuple):
    """What is said of all states of a trajectory.

    energy         (2,)   at the start and at the end [J]
    energy_error          largest of `energy_error`; what impacts and dry friction took is no error
    is_resting            whether nothing moves beyond rounding
    energy_change         largest change of the energy [J]
    trend                 of that, None if the states are few
    residual              largest |g|
    momenta               by name, at the start and the largest drift
    """

    energy: tuple[float, float]
    energy_error: float
    is_resting: bool
    energy_change: float
    trend: Trend | None
    residual: float
    momenta: dict[str, tuple[float, float]]


def summarized(trajectory: Trajectory, rows: int = BLOCK_ROWS) -> Summary:
    """The summary of a trajectory, by blocks of states, so that it need not fit into memory."""
    size = -(-len(trajectory) // MOST_BINS)
    first, momenta = math.nan, {}
    kinetic, sizes, errors, residuals, drifts, ranges = [], [], [], [], [], []
    bins: list[Array] = []
    for block in trajectory.blocks(-(-rows // size) * size):
        energy = block.energy()
        if not bins:
            first, momenta = float(energy[0]), {name: float(values[0]) for name, values in block.momenta().items()}
        error = energy + block.energy_taken() - first
        bins.append(_binned(block.t, error, size))
        errors.append(np.abs(error).max())
        kinetic.append(block.kinetic_energy().max())
        sizes.append(np.abs(energy).max())
        ranges.append((block.q.min(axis=0), block.q.max(axis=0)))
        residuals.append(block.constraint_residual().max())
        drifts.append([np.abs(values - momenta[name]).max() for name, values in block.momenta().items()])
    low, high = np.min([each for each, _ in ranges], axis=0), np.max([each for _, each in ranges], axis=0)
    is_resting = _is_resting(low, high, float(np.max(kinetic)), float(np.max(sizes)))
    scale = float(np.max(sizes if is_resting else kinetic)) or 1.0
    t, error = np.concatenate(bins, axis=1)
    has_trend = len(trajectory) >= FEWEST_STATES and not is_resting and np.isfinite(error).all()
    trend = fit_trend(t, error / scale) if has_trend else None
    largest = dict(zip(momenta, np.max(drifts, axis=0), strict=True))
    return Summary(
        (first, float(energy[-1])),
        float(np.max(errors)) / scale,
        is_resting,
        float(np.max(errors)),
        trend,
        float(np.max(residuals)),
        {name: (momenta[name], float(largest[name])) for name in momenta},
    )


def _is_resting(low: Array, high: Array, kinetic: float, energy: float) -> bool:
    """Whether rounding explains that coordinates are between low and high (n,), or the kinetic part of the energy."""
    moved = high - low > RESTING * np.maximum(1.0, np.maximum(np.abs(low), np.abs(high)))
    return bool(not moved.any() or kinetic <= RESTING * energy)


def _binned(t: Array, values: Array, size: int) -> Array:
    """Means (2, bins) of times and values, each over the same number of states."""
    whole = len(t) // size * size
    return np.stack([each[:whole].reshape(-1, size).mean(axis=1) for each in (t, values)])


def energy_error(trajectory: Trajectory) -> Array:
    """Energy with what contacts took, less that at the start, divided by the largest kinetic energy, (N + 1,).

    Unlike an error divided by the energy, this does not depend on where the potential is zero. Where nothing moves beyond
    rounding, it is divided by the largest energy, or by 1 J if there is none.
    """
    energy, q = trajectory.energy(), trajectory.q
    kinetic, size = float(trajectory.kinetic_energy().max()), float(np.abs(energy).max())
    is_resting = _is_resting(q.min(axis=0), q.max(axis=0), kinetic, size)
    error: Array = (energy + trajectory.energy_taken() - energy[0]) / ((size if is_resting else kinetic) or 1.0)
    return error
