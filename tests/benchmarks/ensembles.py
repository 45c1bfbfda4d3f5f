"""Ensembles beside a loop over `simulate`, on one core and on all: what a step of a member costs, and what cores gain.

No more can be gained than by programs that know nothing of each other and run their part of the members at the same time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np

import mbvi
from tests.folders import MODELS

REPEATS = 2
SAMPLE = 100  # members that are simulated one by one


class Case(NamedTuple):
    """A model of which a parameter or an initial value varies, and how long each member runs [s]."""

    title: str
    model: str
    name: str
    values: np.ndarray
    duration: float


def cases(members: int) -> list[Case]:
    """Double pendulums and chains of ten rods, from other starts and with other parameters."""
    return [
        Case("double pendulums, other starts", "double_pendulum", "q.elbow.angle", np.linspace(-3, 3, members), 3.0),
        Case("double pendulums, other masses", "double_pendulum", "mass", np.linspace(1, 3, members), 10.0),
        Case("chains of 10 rods, other starts", "chain_10", "q.hinge1.angle", np.linspace(-1, 1, members), 0.2),
        Case("chains of 10 rods, other lengths", "chain_10", "length", np.linspace(0.2, 0.3, members), 1.0),
    ]


def ensembles(members: int = 10_000) -> list[dict[str, Any]]:
    """Wall time of ensembles [s], and of a step of a member [µs], beside those of `simulate` of members of the same ensemble."""
    return [measured(case, members) for case in cases(members)]


def parameters(members: int = 10_000) -> list[dict[str, Any]]:
    """Processor time of ensembles over parameters beside that of as many members over starts, in one thread: of whole runs, and
    of runs of one step, which is what a member costs besides its steps.
    """
    return [of_parameters(*pair, members) for pair in zip(*[iter(cases(members))] * 2, strict=True)]


def of_parameters(starts: Case, varied: Case, members: int) -> dict[str, Any]:
    """One row: the median of the ratios of several repeats, interleaved."""
    step = float(_model(varied).resolved().simulation.step)
    found: dict[str, Any] = {"ensemble": f"{members} {varied.title}", "steps": round(varied.duration / step)}
    for title, duration in (("", varied.duration), (", 1 step", step)):
        times = []
        for _ in range(REPEATS + 1):
            times.append([])
            for case in (starts, varied):
                began = time.process_time()
                seconds(case._replace(duration=duration), case.values, threads=1)
                times[-1].append(1e3 * (time.process_time() - began) / members)
        of_starts, of_varied = np.median(times, axis=0)  # the first compiles
        found |= {f"starts{title} [ms]": of_starts, f"parameters{title} [ms]": of_varied}
        found |= {f"ratio{title}": float(np.median([b / a for a, b in times]))}
    return found


def measured(case: Case, members: int) -> dict[str, Any]:
    """One row: the best of several repeats, interleaved."""
    cores = len(os.sched_getaffinity(0))
    few = case.values[:: max(1, members // SAMPLE)]
    step = float(_model(case).resolved().simulation.step)
    seconds(case, few, threads=cores)  # compiles
    times: dict[str, list[float]] = {}
    for _ in range(REPEATS):
        for key, workers in (
            ("one", {"threads": 1}),
            ("threads", {"threads": cores}),
            ("processes", {"processes": cores}),
        ):
            times.setdefault(key, []).append(seconds(case, case.values, **workers))
        times.setdefault("programs", []).append(apart(case, few, cores))
        for key, value in simulated(case, few).items():
            times.setdefault(key, []).append(value)
    best = {key: min(values) for key, values in times.items()}
    steps = round(case.duration / step)
    per_step = 1e6 / steps
    return {
        "ensemble": f"{members} {case.title}",
        "steps": steps,
        "1 thread [s]": best["one"],
        f"{cores} threads [s]": best["threads"],
        f"{cores} processes [s]": best["processes"],
        "gain of threads": best["one"] / best["threads"],
        "gain of processes": best["one"] / best["processes"],
        f"gain of {cores} programs": best["one"] / best["programs"],
        "µs per step, 1 thread": per_step * best["one"] / members,
        "µs per step, simulate": per_step * best["simulate"],
        "µs per step, its kernel": per_step * best["kernel"],
    }


def _model(case: Case) -> mbvi.Model:
    return mbvi.load(MODELS / f"{case.model}.yaml")


def seconds(case: Case, values: np.ndarray, **workers: int) -> float:
    """Wall time of the members with these values [s]."""
    model, began = _model(case), time.perf_counter()
    found = mbvi.ensemble(model, {case.name: values}, duration=case.duration, store=("q", "p"), **workers)
    assert (found.status == 0).all()
    return time.perf_counter() - began


def apart(case: Case, few: np.ndarray, parts: int) -> float:
    """Wall time of so many programs [s], each of which runs its part of the members in one thread, once all have begun."""
    context = get_context("spawn")
    begin, found = context.Barrier(parts), context.Queue()
    programs = [context.Process(target=_part, args=(case, few, i, parts, begin, found)) for i in range(parts)]
    for each in programs:
        each.start()
    longest = max(found.get() for _ in programs)
    for each in programs:
        each.join()
    return longest


def _part(case: Case, few: np.ndarray, number: int, parts: int, begin: Any, found: Any) -> None:
    try:
        seconds(case, few, threads=1)
        begin.wait()
        found.put(seconds(case, case.values[number::parts], threads=1))
    except BaseException:  # no one is to wait for what does not come
        begin.abort()
        found.put(np.inf)
        raise


def simulated(case: Case, values: np.ndarray) -> Mapping[str, float]:
    """Mean seconds for a member by `simulate`: in all, and in its kernels."""
    model, kernel, began = _model(case), 0.0, time.perf_counter()
    for value in values:
        if case.name in model.parameters:
            varied = model.with_parameters({case.name: float(value)})
        else:
            joint = case.name.split(".")[1]
            varied = model.model_copy(update={"initial": {**model.initial, joint: mbvi.Initial(position=float(value))}})
        kernel += mbvi.simulate(varied, duration=case.duration).statistics.seconds
    return {"simulate": (time.perf_counter() - began) / len(values), "kernel": kernel / len(values)}
