"""scipy's DOP853, called from Python, on right-hand sides that numba compiles."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numba import njit
from scipy.integrate import solve_ivp

from tests.benchmarks.peers import Array, Contender
from tests.benchmarks.peers.program import right_side
from tests.benchmarks.peers.tree import Tree

TOLERANCES = tuple(10.0**-k for k in range(4, 14))


def compiled(tree: Tree) -> Any:
    """The right-hand side as a function of (t, u)."""
    text = "def rates(t, u):\n    du = np.empty_like(u)\n" + right_side(tree, "du[{}] = ") + "\n    return du\n"
    names = {"np": np, "sin": np.sin, "cos": np.cos}
    exec(text, names)
    return njit(names["rates"])


def contenders(tree: Tree, times: Array, q: Array, v: Array) -> list[Contender]:
    """DOP853 from scipy."""
    rates, start = compiled(tree), np.concatenate([q, v])

    def solve(tolerance: float) -> tuple[float, Array, Array]:
        began = time.perf_counter()
        found = solve_ivp(rates, (0, times[-1]), start, "DOP853", times, rtol=max(tolerance, 3e-14), atol=tolerance)
        return time.perf_counter() - began, *np.split(found.y.T, [len(q)], axis=1)

    return [Contender("scipy DOP853", lambda q, v: rates(0.0, np.concatenate([q, v]))[len(q) :], TOLERANCES, solve)]
