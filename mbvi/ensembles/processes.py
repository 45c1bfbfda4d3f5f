"""Members run by processes: where parameters vary, Python assembles a system for each, and threads would wait for each other."""

from __future__ import annotations

import itertools
import math
import pickle
import signal
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, NamedTuple

from mbvi.ensembles.plan import Plan
from mbvi.ensembles.store import Result, Variable
from mbvi.ensembles.worker import POLL_SECONDS, Measures, Worker
from mbvi.errors import ModelError
from mbvi.model.expressions import wrong

MOST_AT_ONCE = 16  # members that a process is given, which an interruption waits for
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
    count, done = plan.members.count, 0
    size = min(MOST_AT_ONCE, math.ceil(count / (4 * processes)))
    order = iter(plan.order().tolist())
    waiting: set[Future[list[Result]]] = set()
    with ProcessPoolExecutor(processes, get_context("spawn"), _begin, task) as pool:
        try:
            while True:
                while len(waiting) < 2 * processes and (members := list(itertools.islice(order, size))):
                    waiting.add(pool.submit(_run, members))
                if not waiting:
                    return
                ended, waiting = wait(waiting, POLL_SECONDS, FIRST_COMPLETED)
                for result in (each for future in ended for each in future.result()):
                    put(result)
                    done += 1
                if progress is not None:
                    progress(done, count)
        except BrokenProcessPool:
            raise ModelError(f"processes: {wrong('processes that run', 'one that ended', REMEDY)}") from None
        finally:
            pool.shutdown(cancel_futures=True)


_worker: Worker
"""That of this process."""


def _begin(plan: tuple[Any, ...], variables: Mapping[str, Variable], measures: Measures) -> None:
    """Make this process ready; what interrupts the others does not interrupt it."""
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _worker = Worker(Plan.of(*plan), variables, measures, threading.Event())


def _run(members: list[int]) -> list[Result]:
    return list(_worker.run(members))
