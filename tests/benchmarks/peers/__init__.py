"""Other programs that run the same mechanical systems, one module each; one that is not installed is reported as missing."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray
SAME = 1e-10  # as far as accelerations may differ, relative to the largest

PACKAGES = {
    "mujoco": "mujoco",
    "pinocchio": "pin",
    "heyoka": "heyoka",
    "dop853": "scipy",
    "numbalsoda": "numbalsoda",
    "exudyn": "exudyn",
    "drake": "drake",
    "trep": "trep",
}
"""Modules of this folder and the packages that they need."""


class Contender(NamedTuple):
    """A method of a peer on one system.

    name          e.g. MuJoCo RK4
    acceleration  (q, v) → accelerations, in the coordinates of `tree.Tree`
    settings      steps [s] or tolerances, from the coarsest
    solve         setting → wall time [s], and positions and velocities (states, n) at the times asked for
    agreement     as far as its accelerations may differ from ours, relative to the largest; more where loops are soft
    """

    name: str
    acceleration: Callable[[Array, Array], Array]
    settings: tuple[float, ...]
    solve: Callable[[float], tuple[float, Array, Array]]
    agreement: float = SAME


def versions() -> dict[str, str]:
    """The version of each package, or that it is missing."""
    found = {}
    for package in PACKAGES.values():
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "missing"
    return found


def peer(name: str) -> Any | None:
    """A module of this folder; None where its package is missing."""
    if versions()[PACKAGES[name]] == "missing":
        return None
    return import_module(f"{__name__}.{name}")
