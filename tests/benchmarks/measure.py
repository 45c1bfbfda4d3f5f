"""How figures are taken: interleaved repeats and their medians; machine and versions."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Hashable
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

import numpy as np

import mbvi
from tests.benchmarks import peers

Key = TypeVar("Key", bound=Hashable)
REPEATS = 7


def medians(measures: dict[Key, Callable[[], float]], repeats: int = REPEATS) -> dict[Key, float]:
    """The median of several repeats of each measure, interleaved: all once, then all again."""
    results: dict[Key, list[float]] = {name: [] for name in measures}
    for _ in range(repeats):
        for name, measure in measures.items():
            results[name].append(measure())
    return {name: float(np.median(values)) for name, values in results.items()}


def step_cost(system: mbvi.System, scheme: str, step: float, duration: float) -> Callable[[], float]:
    """Measures the wall time per step [µs], converged to round-off, compilation left out; nan if a step fails."""

    def measure() -> float:
        try:
            statistics = mbvi.simulate(system, scheme, step=step, duration=duration).statistics
        except mbvi.StepError:
            return float("nan")
        return 1e6 * statistics.seconds / statistics.steps

    return measure


def environment() -> dict[str, str]:
    """Machine and versions; peers that are not installed are missing."""
    found = {"machine": _processor(), "cores": str(os.cpu_count()), "python": platform.python_version()}
    return found | {name: version(name) for name in ("mbvi", "numpy", "numba")} | peers.versions()


def _processor() -> str:
    """The name of the processor, where the system tells."""
    path = Path("/proc/cpuinfo")
    names = [line for line in path.read_text().splitlines() if line.startswith("model name")] if path.exists() else []
    return names[0].split(":")[1].strip() if names else platform.processor() or platform.machine()
