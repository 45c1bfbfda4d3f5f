"""Members run by processes: where parameters vary, Python assembles a system for each, and threads would wait for each other.

One of the processes is this one, which runs members while the others start.
"""

from __future__ import annotations

import pickle
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from mbvi.ensembles.plan import Plan
from mbvi.ensembles.store import Result, Variable
from mbvi.ensembles.worker import Measures, StoppedError, Worker, run_members
from mbvi.errors import ModelError
from mbvi.model.expressions import wrong

REMEDY = "call it below if __name__ == '__main__', with measures that are functions of a module, or leave processes out"

MESSAGE_SECONDS = 0.2  # between messages of a process: to receive one disturbs the members that run here


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
    others = [_OtherProcess(task) for _ in range(processes - 1)]
    run_members(plan, put, *task[1:], 1, progress, others)


class _OtherProcess:
    """Runs members in a process, which ends when it is told to stop or has lost this one."""

    def __init__(self, task: Task) -> None:
        context = get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(task, theirs), daemon=True)
        self._process.start()
        theirs.close()
        self._is_stopped = False

    def run(self, members: Sequence[int]) -> Iterator[Result]:
        """What members leave behind."""
        try:
            self._connection.send(members)
            missing = len(members)
            while missing:
                results = self._connection.recv()
                if isinstance(results, ModelError):
                    raise results
                yield from results
                missing -= len(results)
        except (EOFError, OSError):
            if self._is_stopped:
                raise StoppedError from None
            raise ModelError(f"processes: {wrong('processes that run', 'one that ended', REMEDY)}") from None

    def stop(self) -> None:
        """End the process, whatever it does."""
        self._is_stopped = True
        self._process.terminate()
        self._process.join()


def _serve(task: Task, connection: Connection) -> None:
    """Run the members that are received, and send back what they leave behind: a ModelError, if a measure raises it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that began this one ends it
    worker = Worker(Plan.of(*task.plan), task.variables, task.measures)
    with suppress(EOFError, OSError):  # when that process is no more
        while members := connection.recv():
            try:
                for results in _in_turn(worker.run(members)):
                    connection.send(results)
            except ModelError as error:
                connection.send(error)


def _in_turn(results: Iterable[Result]) -> Iterator[list[Result]]:
    """What comes within some time, together."""
    ready, since = [], time.perf_counter()
    for result in results:
        ready.append(result)
        if time.perf_counter() - since > MESSAGE_SECONDS:
            yield ready
            ready, since = [], time.perf_counter()
    if ready:
        yield ready
