"""Explicit Runge–Kutta methods by their numbers: coefficients A, weights b, and c, the sums of the rows of A."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray


class ButcherTableau(NamedTuple):
    """A (s, s), strictly lower triangular, and b (s,)."""

    A: Array
    b: Array

    @property
    def c(self) -> Array:
        """Times of the stages, (s,)."""
        return self.A.sum(axis=1)


EXPLICIT = {
    "rk4": ButcherTableau(
        np.array([[0, 0, 0, 0], [1 / 2, 0, 0, 0], [0, 1 / 2, 0, 0], [0, 0, 1, 0]]),
        np.array([1 / 6, 1 / 3, 1 / 3, 1 / 6]),
    ),
    "explicit_midpoint": ButcherTableau(np.array([[0, 0], [1 / 2, 0]]), np.array([0.0, 1.0])),
    "heun": ButcherTableau(np.array([[0.0, 0], [1, 0]]), np.array([1 / 2, 1 / 2])),
}
"""By their names in `simulate`."""
