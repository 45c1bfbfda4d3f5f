"""Runs that are killed while they stream into a file: nothing written is lost, and they go on bit for bit.

    python -m tests.campaigns.kill [--count 100] [--seed 0]

A process begins a run, or resumes it, and is killed by SIGKILL at a random time, some times over; after each, what is in the file
is the beginning of the run that was not interrupted, as another program reads it. Then the run is resumed to its end.
"""

from __future__ import annotations

import atexit
import multiprocessing
import random
import shutil
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

import h5py
import numpy as np

import mbvi
from mbvi.steppers import loop, record
from tests.folders import MODELS

from . import campaign

RUNS = [
    ("double_pendulum", {"scheme": "simpson", "step": 0.002, "duration": 100.0, "every": 2}),
    ("four_bar", {"scheme": "midpoint", "step": 0.002, "duration": 60.0}),
    ("heavy_top_quaternion", {"scheme": "simpson", "step": 0.001, "duration": 30.0, "every": 3}),
    ("double_pendulum", {"scheme": "rk4", "step": 0.002, "duration": 100.0}),
]


@cache
def whole(index: int) -> tuple[mbvi.Model, dict[str, np.ndarray], float]:
    """A model, all that an uninterrupted run of it gives, with kernels from the disk, and how long that takes [s]."""
    name, options = RUNS[index]
    code = f"import mbvi; mbvi.simulate(mbvi.load({str(MODELS / name)!r} + '.yaml'), **{options | {'duration': 0.1}!r})"
    subprocess.run([sys.executable, "-c", code], check=True)
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    model = mbvi.load(MODELS / f"{name}.yaml")
    mbvi.simulate(model, **options | {"duration": 0.1})
    begin = time.perf_counter()
    run = mbvi.simulate(model, path=Path(folder, "whole.h5"), **options)
    return model, contents(run), time.perf_counter() - begin


def contents(trajectory: mbvi.Trajectory) -> dict[str, np.ndarray]:
    """All variables."""
    return {each.name: np.asarray(each.values) for each in trajectory.table().quantities} | {
        "t": np.asarray(trajectory.t)
    }


def advance(path: Path, index: int, pipe: Any) -> None:
    """Begin or go on, and tell of every piece."""
    if path.exists():
        mbvi.resume(path, progress=lambda done, _: pipe.send(done))
    else:
        mbvi.simulate(whole(index)[0], path=path, progress=lambda done, _: pipe.send(done), **RUNS[index][1])


def killed(path: Path, index: int, chance: random.Random, longest: float) -> None:
    """Run in a process that is killed within so many seconds after its first piece, or before its first word."""
    context = multiprocessing.get_context("fork")
    out, into = context.Pipe(duplex=False)
    process = context.Process(target=advance, args=(path, index, into))
    process.start()
    if chance.random() < 0.8:
        assert out.poll(60), "no progress within a minute"
        out.recv()
    time.sleep(chance.uniform(0.0, longest))
    process.kill()
    process.join()
    process.close()


def check_rows(path: Path, expected: dict[str, np.ndarray], before: int) -> int:
    """The rows of a file, which are those of the whole run, and not less than before."""
    with h5py.File(path) as file:
        rows = min(len(file[key]) for key in expected)
        assert rows >= before, f"{before - rows} rows are lost"
        for key, values in expected.items():
            assert file[key][:rows].tobytes() == values[:rows].tobytes(), f"{key} differs"
    return rows


def trial(seed: int) -> str:
    """Kill a run, some times over, and resume it."""
    chance = random.Random(seed)
    index = chance.randrange(len(RUNS))
    _, expected, seconds = whole(index)
    loop.PIECE_SECONDS = chance.choice([0.001, 0.01, 0.1])
    record.BLOCK_SECONDS = chance.choice([0.0, 0.01, 0.1])
    with tempfile.TemporaryDirectory() as folder:
        path, rows, kills = Path(folder, "a.h5"), 0, chance.randint(1, 3)
        for _ in range(kills):
            if rows < len(expected["t"]):  # else the run came to its end before it was killed
                killed(path, index, chance, seconds / kills)
                rows = check_rows(path, expected, rows) if path.exists() else 0
        if not path.exists():
            return "killed before there was a file"
        is_whole = rows == len(expected["t"])
        found = mbvi.read(path) if is_whole else mbvi.resume(path)
        for key, values in contents(found).items():
            assert values.tobytes() == expected[key].tobytes(), f"{key} differs after the run was resumed"
        return "at their end before" if is_whole else "killed and resumed"


if __name__ == "__main__":
    campaign.main(trial, "killed runs", 100)
