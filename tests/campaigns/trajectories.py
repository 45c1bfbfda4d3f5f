"""Forged and flipped trajectory files: each is refused, or gives the right data, and the process survives.

    python -m tests.campaigns.trajectories [--count 5000] [--seed 0]

Bytes are flipped, files cut, datasets replaced, taken away or linked, attributes and the state of the stepper forged, with
checksums that fit. Every file is read, and written as a table; then its run is resumed. Of flipped bytes no more than these may
differ in what is read.
"""

from __future__ import annotations

import atexit
import json
import random
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import h5py
import numpy as np

import mbvi
from mbvi.results import storage
from tests.folders import MODELS

from . import campaign

RUNS = [
    ("double_pendulum", "simpson"),
    ("four_bar", "midpoint"),
    ("double_pendulum", "rk4"),
    ("heavy_top_quaternion", "simpson"),
    ("bouncing_ball", "lobatto4"),
    ("rocking_block", "simpson"),
    ("stick_slip", "gauss3"),
    ("bicycle", "midpoint"),
    ("free_rigid_body", "splitting"),
]
STEP, STEPS, MORE = 0.005, 60, 80
INTEGERS = (-1, 0, 1, 2, 7, 255, 10**6, 2**31, 2**40, 2**62, -(2**63), 2**63 - 1)
NUMBERS = (0.0, -1.0, 1.0, 1e-300, 1e300, float("nan"), float("inf"), -float("inf"), 5e-324)
TEXTS = (
    "",
    "os.system",
    "simpson",
    "chorin",
    "newmark",
    "rk4",
    "\x00",
    "x" * 3000,
    "1",
    "[]",
    "{}",
    "null",
    "[1]",
    "chorin(beta=9)",
    "NaN",
)


@cache
def originals() -> list[tuple[bytes, mbvi.Trajectory]]:
    """Files of runs, and what is in them."""
    folder, found = Path(tempfile.mkdtemp()), []
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name, scheme in RUNS:
        path = folder / f"{name} {scheme}.h5"
        mbvi.simulate(mbvi.load(MODELS / f"{name}.yaml"), scheme, step=STEP, duration=STEPS * STEP, path=path)
        found.append((path.read_bytes(), mbvi.read(path)))
    return found


def value(chance: random.Random, old: Any) -> Any:
    """Something else than what stands there, often of its type."""
    kind = np.asarray(old).dtype.kind
    if chance.random() < 0.2:
        kind = chance.choice("ifO")
    if chance.random() < 0.1:
        return chance.choice([[], [1, 2, 3], np.zeros((2, 2)), np.float32(2), np.uint8(3), True])
    return chance.choice({"i": INTEGERS, "u": INTEGERS, "f": NUMBERS}.get(kind, TEXTS))


def forge_attribute(chance: random.Random, file: h5py.File) -> None:
    """Another value, or none."""
    key = chance.choice(sorted(file.attrs))
    old = file.attrs[key]
    del file.attrs[key]
    if chance.random() < 0.9:
        file.attrs[key] = value(chance, old)


def forge_numbers(chance: random.Random, file: h5py.File) -> None:
    """Other numbers of the scheme or the statistics."""
    key = chance.choice(["scheme_numbers", "statistics"])
    numbers = json.loads(file.attrs[key])
    name = chance.choice(sorted(numbers))
    if isinstance(numbers[name], list) and numbers[name] and chance.random() < 0.7:
        numbers[name][chance.randrange(len(numbers[name]))] = chance.choice([*NUMBERS, "x", None, [1.0]])
        numbers[name] *= chance.choice([1, 1, 2])
    elif chance.random() < 0.2:
        numbers[chance.choice([name + "s", "os.system", ""])] = numbers.pop(name)
    else:
        numbers[name] = chance.choice([*INTEGERS, *NUMBERS, *TEXTS, None, [], {}, [[1.0]], True])
    file.attrs[key] = json.dumps(numbers)


def forge_dataset(chance: random.Random, file: h5py.File) -> None:
    """Another dataset, or none."""
    key = chance.choice([key for key in file if isinstance(file[key], h5py.Dataset)])
    old = file[key]
    shape, values = old.shape, old[()] if old.shape else None
    match chance.randrange(6):
        case 0:
            del file[key]
        case 1 if shape and old.dtype.kind == "f":
            row = tuple(chance.randrange(length) for length in shape)
            old[row] = chance.choice(NUMBERS)
        case 2 if shape:
            cut = chance.randrange(shape[0])
            del file[key]
            file[key] = values[:cut]
        case 3 if shape and old.dtype.kind == "f":
            del file[key]
            file.create_dataset(key, data=values, dtype=chance.choice(["<f4", ">f8", "<i8"]), compression="gzip")
        case 4:
            del file[key]
            file.create_group(key)
        case _:
            other = chance.choice(
                [3, "x", np.zeros((0,)), np.zeros((61, 1)), np.full((61, 7), np.nan), np.zeros((2, 3, 4, 5))]
            )
            del file[key]
            file[key] = other


def forge_link(chance: random.Random, file: h5py.File) -> None:
    """A way to somewhere else."""
    key = chance.choice(sorted(file))
    del file[key]
    if chance.random() < 0.3:
        file.create_dataset(key, (61, 2), "<f8", external=[("/etc/passwd", 0, 976)])
    else:
        ends = [
            h5py.SoftLink(f"/{key}"),
            h5py.SoftLink("/q"),
            h5py.ExternalLink("/etc/passwd", "q"),
            h5py.ExternalLink("", key),
        ]
        file[key] = chance.choice(ends)


def forge_state(chance: random.Random, file: h5py.File) -> None:
    """Another state of the stepper, or another number of its steps, with the checksum that it has."""
    for i, slot in enumerate(file["restart/state"][()]):
        words = slot.view("<i8")
        if chance.random() < 0.1:
            words[1] = chance.choice(INTEGERS)
        for _ in range(chance.choice([1, 1, 3, 30, 300])):
            at = chance.randrange(storage.HEAD, len(words))
            is_number = chance.random() < 0.5
            words[at] = np.float64(chance.choice(NUMBERS)).view(np.int64) if is_number else chance.choice(INTEGERS)
        words[0] = storage.checksum_of(int(words[1]), slot[8 * storage.HEAD :].tobytes())
        file["restart/state"][i] = slot


FORGERIES: list[Callable[[random.Random, h5py.File], None]] = [
    *(forge_attribute, forge_numbers, forge_dataset, forge_link, forge_state, forge_state),
]


def flipped(chance: random.Random, content: bytes) -> tuple[bytes, int]:
    """Some bytes changed, which are most often those of the headers, or missing; how many."""
    found, count = bytearray(content), chance.choice([1, 1, 2, 10, 100])
    if chance.random() < 0.15:
        return bytes(found[: chance.randrange(len(found))]), len(found)
    first = chance.choice([0, 0, chance.randrange(len(found))])
    for _ in range(count):
        found[chance.randrange(first, min(len(found), first + 20_000))] ^= chance.choice([1, 2, 16, 128, 255])
    return bytes(found), count


def arrays(trajectory: mbvi.Trajectory) -> dict[str, np.ndarray]:
    """All that is in a file."""
    return {each.name: each.values for each in trajectory.table().quantities} | {"t": trajectory.t}


def check_same(found: mbvi.Trajectory, whole: mbvi.Trajectory, count: int) -> None:
    """What is read is what was written, but for so many bytes; a scheme may be described in other words."""
    schemes = (replace(each.scheme, description="", source="") for each in (found, whole))
    assert (found.step, found.every, next(schemes)) == (whole.step, whole.every, next(schemes))
    expected, rows, wrong = arrays(whole), len(found), 0
    for key, values in arrays(found).items():
        one, other = (
            np.frombuffer(np.ascontiguousarray(each).tobytes(), np.uint8) for each in (values, expected[key][:rows])
        )
        assert one.shape == other.shape, key
        wrong += int(np.count_nonzero(one != other))
    assert wrong <= count, f"{wrong} bytes differ"


def trial(seed: int) -> str:
    """Read, and resume, the file of a seed."""
    chance = random.Random(seed)
    content, whole = chance.choice(originals())
    with tempfile.TemporaryDirectory() as folder:
        path, count = Path(folder, "a.h5"), None
        if chance.random() < 0.3:
            content, count = flipped(chance, content)
        path.write_bytes(content)
        if count is None:
            with h5py.File(path, "r+") as file:
                for _ in range(chance.choice([1, 1, 2])):
                    with suppress(*storage.READING_ERRORS):  # of what the forgery before has left
                        chance.choice(FORGERIES)(chance, file)
        return outcome(path, whole, count)


def outcome(path: Path, whole: mbvi.Trajectory, count: int | None) -> str:
    """How reading and resuming a file end."""
    try:
        found = mbvi.read(path)
        arrays(found)
        if count is not None:
            check_same(found, whole, count)
    except mbvi.ModelError:
        found = None
    try:
        mbvi.resume(path, duration=MORE * STEP)
    except mbvi.ModelError:
        return "refused" if found is None else "read, and not resumed"
    except mbvi.StepError:
        return "resumed to a step that failed"
    assert found is not None, "resumed what cannot be read"
    return "read and resumed"


if __name__ == "__main__":
    campaign.main(trial, "forged and flipped trajectory files", 5_000)
