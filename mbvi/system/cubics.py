"""States between the ends of a step on cubics.

Where q₀, v₀ and q₁, v₁ are known a time h apart, the cubic through them and its rate are, at the part x of h,

    q(x) = q₀ + x² (3 − 2x) Δq + h x (1 − x) ((1 − x) v₀ − x v₁)
    v(x) = 6 x (1 − x) Δq/h + (1 − x) (1 − 3x) v₀ + x (3x − 2) v₁
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def on_cubics(x: Array, h: Array, q: Array, v: Array) -> tuple[Array, Array]:
    """Coordinates and rates (…, n) at parts x (…) of times h (…), between states q and v (2, …, n); shapes are broadcast."""
    x, h = x[..., None], h[..., None]
    move, rest = q[1] - q[0], 1 - x
    places = q[0] + x**2 * (3 - 2 * x) * move + h * x * rest * (rest * v[0] - x * v[1])
    rates = 6 * x * rest * move / h + rest * (1 - 3 * x) * v[0] + x * (3 * x - 2) * v[1]
    return places, rates
