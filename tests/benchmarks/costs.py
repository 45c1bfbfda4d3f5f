"""What a step costs against the number of bodies, and one evaluation, beside MuJoCo's steps and Pinocchio's evaluations."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numba import njit

import mbvi
from mbvi.kernels.mechanics.lagrangian import fill_gradient, fill_hessian
from tests.benchmarks import peers
from tests.benchmarks.measure import REPEATS, medians, step_cost
from tests.benchmarks.peers.tree import tree_of
from tests.benchmarks.systems import branches, chain, four_bars, hung_chain, load

STEPS = {"midpoint": 0.001, "simpson": 0.005, "lobatto4": 0.005, "gauss3": 0.005}  # [s]
LENGTHS = (2, 5, 10, 20, 50, 100, 200)
LONGEST = 2000  # with the midpoint rule alone: MuJoCo's step would take a second, and larger steps need Newton's method


def targets() -> list[dict]:
    """Cost per step of the double pendulum and of the chain of 10 rods."""
    pendulum, rods = (mbvi.assemble(load(name)) for name in ("double_pendulum", "chain_10"))
    costs = medians(
        {
            "double pendulum, simpson, 10 ms": step_cost(pendulum, "simpson", 0.01, 100.0),
            "chain of 10 rods, midpoint, 1 ms": step_cost(rods, "midpoint", 0.001, 2.0),
            "chain of 10 rods, simpson, 5 ms": step_cost(rods, "simpson", 0.005, 2.0),
        }
    )
    return [{"case": case, "µs per step": cost} for case, cost in costs.items()]


def _beside_mujoco(model: mbvi.Model, head: dict, steps: int, repeats: int) -> dict:
    """Cost per step of a tree by several schemes, and of MuJoCo's steps."""
    system = mbvi.assemble(model, "tree")
    measures = {
        f"{scheme}, {1e3 * step:g} ms": step_cost(system, scheme, step, steps * step) for scheme, step in STEPS.items()
    }
    mujoco = peers.peer("mujoco")
    if mujoco is None:
        return head | medians(measures, repeats) | {"MuJoCo": "missing"}
    costs = medians(measures | mujoco.step_costs(tree_of(model), system.initial_q), repeats)
    costs["midpoint / Euler"] = costs["midpoint, 1 ms"] / costs["MuJoCo Euler"]
    costs["simpson / RK4"] = costs["simpson, 5 ms"] / costs["MuJoCo RK4"]
    return head | costs


def chains() -> list[dict]:
    """Cost per step [µs] of planar chains of n rods beside MuJoCo's."""
    rows = [_beside_mujoco(chain(n), {"rods": n}, 200, REPEATS) for n in LENGTHS]
    system = mbvi.assemble(chain(LONGEST), "tree")
    return [*rows, {"rods": LONGEST} | medians({"midpoint, 1 ms": step_cost(system, "midpoint", 0.001, 0.05)}, 3)]


def spatial() -> list[dict]:
    """Cost per step [µs] of spatial chains and branched trees of n links on universal and ball joints beside MuJoCo's."""
    rows = []
    for n in (2, 10, 50):
        for name, model in (
            ("chain, universal", hung_chain(n, "universal")),
            ("chain, ball", hung_chain(n, "ball")),
            ("branches, universal", branches(n)),
        ):
            rows.append(_beside_mujoco(model, {"system": name, "links": n}, 40, 3))
    return rows


def embedding() -> list[dict]:
    """Cost per body and step [µs] of chains in the embedding: seven coordinates and four to six constraints per body."""
    rows = []
    for n, step in (*((n, 1e-3) for n in (1, 10, 50, 100, 1000, 4000)), (1000, 2.2e-4), (4000, 1.1e-4)):
        measures = {}
        for joint in ("revolute", "ball"):
            system = mbvi.assemble(hung_chain(n, joint), "embedding")
            for scheme in STEPS:
                measures[f"{joint}, {scheme}"] = step_cost(system, scheme, step, (50 if n > 10 else 500) * step)
        costs = medians(measures, 3)
        rows.append({"bodies": n, "step": f"{1e3 * step:g} ms"} | {case: cost / n for case, cost in costs.items()})
    return rows


def loops() -> list[dict]:
    """Cost per loop and step of 2 ms [µs] of n four-bars side by side, in both formulations."""
    rows = []
    for n in (1, 10, 40, 100, 200, 400):
        systems = {formulation: mbvi.assemble(four_bars(n), formulation) for formulation in ("tree", "embedding")}
        measures = {
            f"{formulation}, {scheme}": step_cost(system, scheme, 0.002, 0.002 * max(50, 2000 // n))
            for formulation, system in systems.items()
            for scheme in STEPS
        }
        rows.append({"loops": n} | {case: cost / n for case, cost in medians(measures, 3).items()})
    return rows


def evaluations() -> list[dict]:
    """One evaluation of L_q and L_v, and of all second derivatives [µs], beside Pinocchio's RNEA, ABA and derivatives."""
    rows = []
    pinocchio = peers.peer("pinocchio")
    for n in (5, 20, 100):
        model = chain(n)
        theirs = pinocchio.evaluations(tree_of(model)) if pinocchio else {}
        row = {"rods": n} | medians(_evaluations(mbvi.assemble(model)) | theirs)
        if pinocchio:
            row["gradient / RNEA"] = row["gradient"] / row["RNEA"]
            row["second derivatives / RNEA derivatives"] = row["second derivatives"] / row["RNEA derivatives"]
        rows.append(row if pinocchio else row | {"Pinocchio": "missing"})
    return rows


@njit
def _repeat_gradient(count, p, f, system, work, q, v):
    for _ in range(count):
        for a in range(q.shape[0]):
            q[a] += 1e-9  # so that no sine is kept from the evaluation before
        fill_gradient(p, f, system, work, 0.0, q, v)


@njit
def _repeat_hessian(count, Lvv, Lvq, Kqv, Kqq, system, work, q, v):
    for _ in range(count):
        fill_hessian(Lvv, Lvq, Kqv, Kqq, system, work, 0.0, q, v)


def _evaluations(system: mbvi.System, count: int = 500) -> dict[str, Callable[[], float]]:
    """Measures of the time [µs] of one evaluation of ∂L/∂v and ∂L/∂q, and of all second derivatives, in a compiled loop."""
    n = system.dimension
    q, v = np.linspace(-1, 1, n), np.linspace(1, 2, n)
    p, f = np.zeros(n), np.zeros(n)
    matrices = [np.zeros(system.arrays.second_size) for _ in range(4)]

    def gradient() -> float:
        began = time.perf_counter()
        _repeat_gradient(count, p, f, system.arrays, system.work, q, v)
        return 1e6 * (time.perf_counter() - began) / count

    def hessian() -> float:
        began = time.perf_counter()
        _repeat_hessian(count, *matrices, system.arrays, system.work, q, v)
        return 1e6 * (time.perf_counter() - began) / count

    gradient(), hessian()  # compile
    return {"gradient": gradient, "second derivatives": hessian}
