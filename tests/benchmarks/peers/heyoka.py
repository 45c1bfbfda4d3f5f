"""heyoka: Taylor series of high order, compiled for each system."""

from __future__ import annotations

import time

import heyoka as hy
import numpy as np

from tests.benchmarks.peers import Array, Contender
from tests.benchmarks.peers.program import right_side
from tests.benchmarks.peers.tree import Tree

TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-15)
LARGE, FEW = 12, (1e-6, 1e-12)  # a state of more numbers has few tolerances, since one takes 25 s to compile


def contenders(tree: Tree, times: Array, q: Array, v: Array) -> list[Contender]:
    """Taylor integrators of several tolerances."""
    start = np.concatenate([q, v])
    names = {"sin": hy.sin, "cos": hy.cos}
    exec("def rates(u, du):\n" + right_side(tree, "du[{}] = ") + "\n", names)
    u = hy.make_vars(*(f"u{i}" for i in range(len(start))))
    du = [hy.expression(0.0)] * len(start)
    names["rates"](u, du)
    du = [each if isinstance(each, hy.expression) else hy.expression(each) for each in du]
    rates = hy.cfunc(du, u)
    integrators = {}
    tolerances = TOLERANCES if len(start) <= LARGE else FEW

    def solve(tolerance: float) -> tuple[float, Array, Array]:
        if tolerance not in integrators:
            integrators[tolerance] = hy.taylor_adaptive(list(zip(u, du, strict=True)), start, tol=tolerance)
        integrator = integrators[tolerance]
        integrator.time, integrator.state[:] = 0.0, start
        began = time.perf_counter()
        found = integrator.propagate_grid(times)[-1]
        return time.perf_counter() - began, *np.split(found, [len(q)], axis=1)

    return [Contender("heyoka", lambda q, v: rates(np.concatenate([q, v]))[len(q) :], tolerances, solve)]
