"""Members run by processes: where parameters vary, Python assembles a system for each, and threads would wait for each other.

One of the processes is this one, which runs members while the others start.
"""

from __future__ import annotations

import pickle
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, NamedTuple

from mbvi.ensembles.plan import Plan
from mbvi.ensembles.store import Result, Variable
from mbvi.ensembles.worker import Measures, Worker, run_members
from mbvi.errors import ModelError
from mbvi.model.expressions import wrong

REMEDY = "call it below if __name__ == '__main__', with measures that are functions of a module, or leave processes out"


class Task(NamedTuple):
    """What every process needs: the arguments of `Plan.of`, what members leave behind, and the functions that measure it."""

    plan: tuple[Any, ...]
    variables: Mapping[str, Variable]
    measures: Measures


def run_in_processes(
    task: Task,
    plan: Plan,
    put: Callable[[Result], Any],
    processes: int,
    progress: Callable[[int, int], Any] | None = None,
) -> None:
    """Run all members, and put away what each leaves behind. See `run_members`.

    Raises
    ------
    ModelError
        If the processes do not start.
    Exception
        The first that `put` raises, or that a measure does, as a ModelError; it ends the others.
    """
    try:
        pickle.dumps(task)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ModelError(f"processes: {wrong('what can be sent to a process', str(error), REMEDY)}") from None
    if processes == 1:
        run_members(plan, put, *task[1:], 1, progress)
        return
    with ProcessPoolExecutor(processes - 1, get_context("spawn"), _begin, task) as pool:
        try:
            run_members(plan, put, *task[1:], 1, progress, [_OtherProcess(pool)] * (processes - 1))
        except BrokenProcessPool:
            raise ModelError(f"processes: {wrong('processes that run', 'one that ended', REMEDY)}") from None


class _OtherProcess:
    """Runs members in one of the processes of a pool."""

    most_at_once = 16  # which an interruption waits for

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self._pool = pool

    def run(self, members: Sequence[int]) -> list[Result]:
        """What members leave behind."""
        return self._pool.submit(_run, members).result()


_worker: Worker
"""That of this process."""


def _begin(plan: tuple[Any, ...], variables: Mapping[str, Variable], measures: Measures) -> None:
    """Make this process ready; what interrupts the others does not interrupt it."""
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _worker = Worker(Plan.of(*plan), variables, measures, threading.Event())


def _run(members: Sequence[int]) -> list[Result]:
    return list(_worker.run(members))
