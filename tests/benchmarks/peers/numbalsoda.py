"""numbalsoda's DOP853 (Hairer's Fortran code), which calls a compiled right-hand side without Python."""

from __future__ import annotations

import ctypes
import time

import numba
import numbalsoda
import numpy as np

from tests.benchmarks.peers import Array, Contender
from tests.benchmarks.peers.dop853 import TOLERANCES
from tests.benchmarks.peers.program import right_side
from tests.benchmarks.peers.tree import Tree

SECONDS = 50  # of one call at most, if not of one state alone: it takes 10 000 steps at most


def contenders(tree: Tree, times: Array, q: Array, v: Array) -> list[Contender]:
    """DOP853 from numbalsoda."""
    names = {"sin": np.sin, "cos": np.cos}
    exec("def rates(t, u, du, p):\n" + right_side(tree, "du[{}] = ") + "\n", names)
    rates, start = numba.cfunc(numbalsoda.lsoda_sig)(names["rates"]), np.concatenate([q, v])

    def acceleration(q: Array, v: Array) -> Array:
        u, du = np.concatenate([q, v]), np.zeros(len(q) + len(v))
        rates.ctypes(0.0, *(numba_pointer(x) for x in (u, du)), None)
        return du[len(q) :]

    def solve(tolerance: float) -> tuple[float, Array, Array]:
        found = np.full((len(times), len(start)), np.nan)
        found[0] = start
        count = max(1, round(SECONDS / (times[1] - times[0])))
        began = time.perf_counter()
        for first in range(0, len(times) - 1, count):
            part = times[first : first + count + 1]
            states, is_solved = numbalsoda.dop853(
                rates.address, found[first], part - part[0], rtol=max(tolerance, 3e-14), atol=tolerance
            )
            if not is_solved:
                break
            found[first + 1 : first + len(part)] = states[1:]
        spent = time.perf_counter() - began
        return spent, *np.split(found, [len(q)], axis=1)

    return [Contender("numbalsoda DOP853", acceleration, TOLERANCES, solve)]


def numba_pointer(array: Array) -> object:
    """What a function that numba compiled for C takes."""
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
