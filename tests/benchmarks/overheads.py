"""What it costs to send members to threads, processes and a cluster, and what a model of that says of many cores.

    cores that are busy = cores · t / (t + c), at most t / c and m / w

A chunk of t seconds costs a worker c seconds besides its members, and the scheduler as much. A member of m seconds costs w
seconds where it is taken and written; if members leave more behind, w is greater.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import mbvi
from mbvi.ensembles import driver, ensemble, executors
from mbvi.ensembles.chunks import Chunk, Recipe
from mbvi.ensembles.members import Members
from mbvi.ensembles.plan import Plan
from mbvi.ensembles.store import Ended, InFile
from tests.folders import MODELS

CHUNKS, MEMBERS, MANY, REPEATS = 100, 500, 4096, 6
STORED = ("q", "v", "energy")
CORES = (10, 100, 1000, 10_000)


def overheads() -> list[dict[str, Any]]:
    """Seconds until members run, the cost of a chunk besides its members, and the part of the time that members of 10 ms lose."""
    rows = []
    for name, one, two in (
        ("threads", lambda: given(threads=1), lambda: given(threads=2)),
        ("processes", lambda: given(processes=1), lambda: given(processes=2)),
        ("dask", lambda: cluster(1), lambda: cluster(2)),
    ):
        with one() as options:
            began = time.perf_counter()
            run(np.linspace(1, 2, 2), 0.01, **options)
            start = time.perf_counter() - began
            cost = chunk_cost(options)
            lost = 1 - busy(options)
        with two() as options:
            run(np.linspace(1, 2, 8), 0.01, **options)
            rows.append(
                {
                    "executor": name,
                    "start [s]": start,
                    "cost of a chunk [ms]": 1e3 * cost,
                    "lost with 1 worker [%]": 100 * lost,
                    "busy of 2 workers": busy(options),
                }
            )
    return rows


def cores() -> list[dict[str, Any]]:
    """How many cores of a cluster members keep busy, by the model above with what was measured of it here."""
    with cluster(1) as options:
        run(np.linspace(1, 2, 2), 0.01, **options)
        cost, written = chunk_cost(options), member_cost(options)
    rows = []
    for count in CORES:
        row: dict[str, Any] = {"cores": count, "c [ms]": 1e3 * cost, "w [µs]": 1e6 * written}
        chunk = max(executors.LEAST_SECONDS, executors.SCHEDULING * count)
        for seconds in (0.01, 0.1, 1.0, 10.0):
            length = max(chunk, seconds)
            found = min(count * length / (length + cost), length / cost, seconds / written)
            row[f"busy, members of {seconds:g} s"] = round(found)
        rows.append(row)
    return rows


@contextmanager
def given(**options: int) -> Iterator[dict[str, Any]]:
    """The arguments of `ensemble`."""
    yield options


@contextmanager
def cluster(workers: int) -> Iterator[dict[str, Any]]:
    """The same for a cluster of this machine."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as local,
        Client(local) as client,
    ):
        yield {"executor": client}


def model() -> mbvi.Model:
    """A double pendulum, of which other masses are assembled one by one."""
    return mbvi.load(MODELS / "double_pendulum.yaml")


def run(masses: np.ndarray, duration: float, **options: Any) -> None:
    """An ensemble of members that store few states."""
    found = mbvi.ensemble(model(), {"mass": masses}, duration=duration, store=("q",), every=1, **options)
    assert (found.status == 0).all()


def busy(options: dict[str, Any]) -> float:
    """How many workers run members, on average between the first chunks and the last, of members of about 10 ms."""
    took: list[tuple[float, float]] = []
    keep = driver._Driver._take

    def noted(self: Any, future: Any, *rest: Any) -> None:
        keep(self, future, *rest)
        took.append((time.perf_counter(), future.result().seconds))

    driver._Driver._take = noted
    try:
        step = float(model().resolved().simulation.step)
        duration = 0.008 / 0.8e-6 * step  # about 0.8 µs a step
        found = mbvi.ensemble(
            model(), {"mass": np.linspace(1, 2, MEMBERS)}, duration=duration, store=("q",), every=100, **options
        )
        assert (found.status == 0).all()
    finally:
        driver._Driver._take = keep
    some = len(took) // 4
    first, last = took[some][0], took[-some][0]
    return sum(seconds for at, seconds in took if first < at <= last) / (last - first)


def chunk_cost(options: dict[str, Any]) -> float:
    """Seconds besides its members for a chunk of one member, of many that follow each other."""
    with closing(executor(options)) as runs:
        chunk = Chunk(np.zeros(1, np.int64), np.ones((1, 1)))
        runs.submit(chunk).result()
        began, running, inside = time.perf_counter(), [runs.submit(chunk) for _ in range(driver.AHEAD)], 0.0
        for i in range(CHUNKS):
            inside += running.pop(0).result().seconds
            if i + driver.AHEAD < CHUNKS:
                running.append(runs.submit(chunk))
        return (time.perf_counter() - began - inside) / CHUNKS


def executor(options: dict[str, Any], duration: float = 0.01) -> executors.Executor:
    """That of one worker, for double pendulums of one step or more."""
    members, common = Members.of({"mass": [1.0]}), (None, 0.01, duration, None, 1)
    plan = Plan.of(model(), members, *common)
    recipe = Recipe((model(), members.first(), *common), ensemble._variables(plan, STORED, {}), {})
    return ensemble._executor(recipe, plan, 1, options.get("processes"), options.get("executor"))


def member_cost(options: dict[str, Any]) -> float:
    """Seconds for a member that leaves 101 states of a double pendulum behind, to be sent from a worker, taken and written."""
    members, common = Members.of({"mass": np.linspace(1, 2, MANY)}), (None, 0.01, 1.0, None, 1)
    plan = Plan.of(model(), members, *common)
    structure = ensemble._structure(plan, ensemble._variables(plan, STORED, {}), STORED, {}, ())
    chunk = Chunk(np.arange(MANY), np.ones((MANY, 1)))

    def send() -> float:
        """Beside the seconds in which the members run."""
        began = time.perf_counter()
        ended: Ended = runs.submit(chunk).result()
        kept.put(ended)
        return time.perf_counter() - began - ended.seconds

    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        runs = stack.enter_context(closing(executor(options, 1.0)))
        kept = stack.enter_context(closing(InFile(structure, Path(folder, "runs.h5"))))
        return min(send() for _ in range(REPEATS)) / MANY
