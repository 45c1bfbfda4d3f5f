"""Chunks of members: what goes to a worker and what comes back, wherever the worker is.

    run_chunk(version, crew, chunk)  →  Ended

A chunk has the numbers of some members and what varies of each. All else they have in common stands in a `Recipe`, of which
every thread, process or machine makes its own `Crew` once. What comes back depends on the chunk and the recipe alone.
"""

from __future__ import annotations

import functools
import os
import pickle
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import mbvi
from mbvi.ensembles.plan import Plan
from mbvi.ensembles.store import NOT_RUN, Ended, Result, Variable
from mbvi.ensembles.worker import Measures, StoppedError, Worker, check_scheme, compile_kernels, worker_of_dask
from mbvi.errors import ModelError
from mbvi.model.expressions import wrong

Array = np.ndarray
SAME_VERSION = "install the same version there"


def version() -> str:
    """The version of mbvi here."""
    return mbvi.__version__


class Chunk(NamedTuple):
    """Some members: their numbers (k,), and the values (k, names) of what varies."""

    numbers: Array
    values: Array


@dataclass(frozen=True, eq=False)
class Recipe:
    """What all members have in common.

    Attributes
    ----------
    plan : tuple
        The arguments of `Plan.of`, with the first member alone.
    variables : dict of str to Variable
        What every member leaves behind.
    measures : dict of str to callable
        The variables that are functions of the trajectory, with these functions.
    time_limit : float or None
        The time after which a member is given up [s].
    """

    plan: tuple[Any, ...]
    variables: Mapping[str, Variable]
    measures: Measures
    time_limit: float | None = None


class Crew:
    """The workers of a process, one for each of its threads, who share a plan."""

    def __init__(self, recipe: Recipe, plan: Plan | None = None) -> None:
        self._recipe, self._plan = recipe, plan or Plan.of(*recipe.plan)
        self._stopped, self._of_thread = threading.Event(), threading.local()

    def prepare(self) -> None:
        """Load kernels, or compile them."""
        with suppress(ModelError):  # which refuses members
            check_scheme(self._plan)
        compile_kernels(self._plan, [name for name in self._recipe.variables if name not in self._recipe.measures])

    def stop(self) -> None:
        """Run no more members, and end those that run."""
        self._stopped.set()

    def run(self, chunk: Chunk) -> Ended:
        """Run the members of a chunk, as far as neither `stop` nor an error ends that."""
        began, results, error = time.perf_counter(), list[Result](), None
        try:
            for result in self._worker().run(chunk.numbers, chunk.values):
                results.append(result)
        except StoppedError:
            pass
        except Exception as raised:
            error = raised
        return ended(results, self._recipe.variables, time.perf_counter() - began, error)

    def _worker(self) -> Worker:
        """The worker of this thread."""
        if not hasattr(self._of_thread, "worker"):
            of = self._recipe
            self._of_thread.worker = Worker(self._plan, of.variables, of.measures, of.time_limit, self._stopped)
        return self._of_thread.worker


def ended(
    results: Sequence[Result], variables: Mapping[str, Variable], seconds: float, error: Exception | None
) -> Ended:
    """What members leave behind, in arrays."""
    numbers, status, steps = (np.array([each[i] for each in results], np.int64) for i in range(3))
    rows = {name: [each.values[name] for each in results] for name in variables}
    values = {name: np.array(rows[name], float).reshape(len(results), *each.shape) for name, each in variables.items()}
    return Ended(numbers, status, steps, [each.reason for each in results], values, seconds, error)


def lost(chunk: Chunk, variables: Mapping[str, Variable], reason: str) -> Ended:
    """What members leave behind that were not run, for this reason."""
    empty = {name: np.full(each.shape, np.nan) for name, each in variables.items()}
    results = [Result(int(number), NOT_RUN, 0, reason, empty) for number in chunk.numbers]
    return ended(results, variables, 0.0, None)


def run_chunk(expected: str, crew: Crew | bytes, chunk: Chunk) -> Ended:
    """What the members of a chunk leave behind.

    Parameters
    ----------
    expected : str
        The version of mbvi where the chunk comes from.
    crew : Crew or bytes
        A crew of this process, or a pickled recipe.
    chunk : Chunk

    Raises
    ------
    ModelError
        If mbvi has another version here, or the recipe cannot be read.
    """
    if expected != version():
        found = f"{version()} on {worker_name()}"
        raise ModelError(f"executor: {wrong(f'workers with mbvi {expected}', found, SAME_VERSION)}")
    return (crew if isinstance(crew, Crew) else _crew_of(crew)).run(chunk)


def worker_name() -> str:
    """What runs this: a worker of dask by its address, or else a process of a machine."""
    worker = worker_of_dask()
    return f"process {os.getpid()} of {socket.gethostname()}" if worker is None else f"worker {worker.address}"


@functools.lru_cache(maxsize=4)
def _crew_of(recipe: bytes) -> Crew:
    """The crew of this process for a recipe, with its kernels, so that no member has to wait for them."""
    read: Recipe = pickle.loads(recipe)
    crew = Crew(read)
    crew.prepare()
    return crew
