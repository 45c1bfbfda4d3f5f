"""Ensembles whose workers are killed by SIGKILL at random moments, in pools and on clusters: no member is lost, or another.

    python -m tests.campaigns.clusters [--count 10] [--seed 0]

A member that was lost twice is not run, and says so; the file is resumed until all are done. The first case has 100 000 members.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import psutil

import mbvi
from tests.folders import MODELS

from . import campaign

MANY, FEW = 100_000, 3000
MOST_KILLS = 6
OPTIONS = {"duration": 1.0, "every": 25, "store": ("q", "energy")}


class Killer:
    """A progress of an ensemble that kills one of some processes each time that one of some numbers of members are done.

    Between two kills a member ends: processes that are killed one after another as they begin are given up, also by dask.
    """

    def __init__(self, chance: random.Random, count: int, pids: Callable[[], list[int]]) -> None:
        self._chance, self._pids, self.killed = chance, pids, list[int]()
        self._at, self._last = sorted(chance.randrange(1, int(0.9 * count)) for _ in range(MOST_KILLS)), 0

    def __call__(self, done: int, members: int) -> None:
        if not self._at or done < max(self._at[0], self._last + 1):
            return
        with suppress(ProcessLookupError, IndexError):
            pid = self._chance.choice(self._pids())
            os.kill(pid, signal.SIGKILL)
            self.killed.append(pid)
            del self._at[0]
            self._last = done


def children() -> list[int]:
    """The processes of a pool."""
    return [each.pid for each in psutil.Process().children() if "spawn_main" in " ".join(each.cmdline())]


@contextmanager
def executor(kind: str) -> Iterator[tuple[dict[str, Any], Callable[[], list[int]]]]:
    """The arguments of `ensemble`, and the processes that can be killed."""
    if kind == "pool":
        yield {"processes": 2}, children
        return
    import dask
    from distributed import Client, LocalCluster, Status

    # a busy machine takes long to begin another worker
    dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"})
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with LocalCluster(**options) as cluster, Client(cluster) as client:

        def begun() -> list[int]:
            workers = (each.process for each in cluster.workers.values())
            return [each.pid for each in workers if each is not None and each.status is Status.running and each.pid]

        yield {"executor": client}, begun


@cache
def compile_all() -> None:
    """So that all processes have their kernels from the disk: what a process compiles may differ in the last bit."""
    code = f"""
import mbvi
for over in ("q.elbow.angle", "mass"):
    mbvi.ensemble(mbvi.load({str(MODELS / "double_pendulum.yaml")!r}), {{over: [0.5, 1.0]}}, **{OPTIONS!r})
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def trial(seed: int) -> str:
    """Run an ensemble while its workers are killed, and compare it with one in threads."""
    compile_all()
    chance = random.Random(seed)
    count, kind = (MANY, "cluster") if seed == 0 else (FEW, chance.choice(["cluster", "pool"]))
    model = mbvi.load(MODELS / "double_pendulum.yaml")
    varied = "q.elbow.angle" if seed == 0 else chance.choice(["q.elbow.angle", "mass"])
    over = {varied: np.linspace(0.5, 1.5, count)}
    expected = mbvi.ensemble(model, over, threads=1, **OPTIONS)
    with tempfile.TemporaryDirectory() as folder, executor(kind) as (workers, pids):
        path, resumed = Path(folder, "runs.h5"), 0
        killer = Killer(chance, count, pids)
        found = mbvi.ensemble(model, over, path=path, progress=killer, **workers, **OPTIONS)
        while (found.status != 0).any():
            lost = set(found.reason.values[found.status.values != 0].tolist())
            assert all("lost with two" in each for each in lost), lost
            found.close()
            found, resumed = mbvi.ensemble(model, over, path=path, resume=True, **workers, **OPTIONS), resumed + 1
        with found:
            for name in ("q", "energy", "steps"):
                one, other = (np.asarray(runs[name].values, float).reshape(count, -1) for runs in (found, expected))
                wrong = np.flatnonzero((one != other).any(axis=1))
                differences = f"{name} of {len(wrong)} members differs, by {np.abs(one - other).max():.2g}: {wrong[:8]}"
                assert not len(wrong), differences
    killed = len(killer.killed)
    assert killed, "no worker was killed"
    print(
        f"seed {seed}: {count} members over {varied}, {kind}, {killed} workers killed, resumed {resumed} times",
        flush=True,
    )
    return kind


if __name__ == "__main__":
    campaign.main(trial, "ensembles whose workers are killed", 10, limit=1200.0)
