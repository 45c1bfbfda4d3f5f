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
        began = time.perf_counter()
        found, is_solved = numbalsoda.dop853(rates.address, start, times, rtol=max(tolerance, 3e-14), atol=tolerance)
        spent = time.perf_counter() - began
        return spent, *np.split(found if is_solved else np.full_like(found, np.nan), [len(q)], axis=1)

    return [Contender("numbalsoda DOP853", acceleration, TOLERANCES, solve)]


def numba_pointer(array: Array) -> object:
    """What a function that numba compiled for C takes."""
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
