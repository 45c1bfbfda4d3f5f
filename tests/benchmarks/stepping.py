"""What a step of a `Simulator` costs beside the kernel."""

from __future__ import annotations

import time

import numpy as np

import mbvi
from mbvi.kernels.galerkin import steps as galerkin
from mbvi.kernels.galerkin.workspace import make_space
from mbvi.kernels.mechanics.lagrangian import make_work
from mbvi.system.scheme import scheme_arrays
from tests.benchmarks.systems import load

ROUNDS, FEW, OF_A_ROUND = 5000, 200, 200  # of every way of stepping: 1e6 steps of the first model


def stepping() -> list[dict]:
    """What a `Simulator` costs per step [µs], of 1e6 steps, and how long a loop of 1e7 additions takes [s].

    Of all rounds of some steps the quickest counts. "kernel" is a call of the compiled function for one step, with all that it
    takes at hand; "run()" is a step's share of a call for many. What `step()` and `step(u)` take beside the kernel is Python.
    """
    rows = []
    for name in ("double_pendulum", "chain_10", "four_bar"):
        simulator = _driven(load(name))
        costs = _quickest(simulator, ROUNDS if name == "double_pendulum" else FEW)
        rows.append(
            {"model": name} | costs | {f"{key} beside": costs[key] - costs["kernel"] for key in ("step()", "step(u)")}
        )
    return rows


def _driven(model: mbvi.Model) -> mbvi.Simulator:
    """A simulator of a model with a motor in every joint."""
    motors = {f"drive {joint}": mbvi.Motor(joint=joint) for joint in mbvi.assemble(model).homes.joints}
    return mbvi.Simulator(model.model_copy(update={"forces": {**model.forces, **motors}}), "gauss4", step=0.001)


def _quickest(simulator: mbvi.Simulator, rounds: int) -> dict[str, float]:
    """The least cost of a step [µs] in so many rounds by each way of stepping, and the least time of the loop [s]."""
    u = np.zeros(len(simulator.inputs))
    arrays, scheme = simulator.system.arrays, scheme_arrays(simulator.scheme)
    work, space = make_work(arrays), make_space(arrays, scheme)
    out, nothing = np.empty((2, 1, 1, arrays.n)), np.empty((2, 0, arrays.n))
    clock, ends = (0.0, simulator.step_size, 0, 1, 1), np.zeros((2, 1), np.int64)
    given = arrays, scheme, work, space, *clock, *out, *nothing, galerkin.NOTHING, *nothing, *ends

    def kernel() -> None:
        space.q[:], space.p[:] = simulator.q, simulator.p
        for _ in range(OF_A_ROUND):
            galerkin.advance_runs(*given)

    def steps() -> None:
        for _ in range(OF_A_ROUND):
            simulator.step()

    def steps_with_inputs() -> None:
        for i in range(OF_A_ROUND):
            u[0] = 1e-9 * i
            simulator.step(u)

    def run() -> None:
        simulator.run(OF_A_ROUND * simulator.step_size)

    ways = {"kernel": kernel, "step()": steps, "step(u)": steps_with_inputs, "run()": run}
    least = dict.fromkeys(["loop [s]", *ways], np.inf)
    for _ in range(rounds):
        least["loop [s]"] = min(least["loop [s]"], 100 * _loop(100_000))
        for key, way in ways.items():
            simulator.reset()
            began = time.perf_counter()
            way()
            least[key] = min(least[key], 1e6 * (time.perf_counter() - began) / OF_A_ROUND)
    return least


def _loop(additions: int) -> float:
    """The wall time of a plain loop [s]."""
    began, total = time.perf_counter(), 0
    for i in range(additions):
        total += i
    return time.perf_counter() - began
