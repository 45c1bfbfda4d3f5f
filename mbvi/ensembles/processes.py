"""Members run by processes: where parameters vary, Python assembles a system for each, and threads would wait for each other.

One of the processes is this one, which runs members while the others start.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
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
    others: list[_OtherProcess] = []
    try:
        for _ in range(processes - 1):
            others.append(_OtherProcess(task))
        run_members(plan, put, *task[1:], 1, progress, others)
    finally:
        for each in others:  # also where they were not all begun
            each.stop()


class _OtherProcess:
    """Runs members in a process, which ends when it is asked to stop or has lost the calling process.

    `run` sends it its task. Were the task among what a process begins with, this one would wait until it is read.
    """

    def __init__(self, task: Task) -> None:
        context = get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        with _without_interruptions():
            self._process.start()
        theirs.close()
        self._orders: list[Any] = [task]
        self._is_stopped = False

    def run(self, members: Sequence[int]) -> Iterator[Result]:
        """What members leave behind."""
        try:
            for order in (*self._orders, members):
                self._connection.send(order)
            self._orders, missing = [], len(members)
            while missing:
                for result in self._connection.recv():
                    if isinstance(result, Exception):
                        raise result
                    yield result
                    missing -= 1
        except (EOFError, OSError):
            if self._is_stopped:
                raise StoppedError from None
            raise ModelError(f"processes: {wrong('processes that run', 'one that ended', REMEDY)}") from None

    def stop(self) -> None:
        """End the process, whatever it does."""
        self._is_stopped = True
        self._process.kill()  # it may ignore gentler signals, as this one may
        self._process.join()


@contextmanager
def _without_interruptions() -> Iterator[None]:
    """A process that begins meanwhile receives no interruption before it can ignore it; this thread receives it afterwards."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # which lets interruptions through again when it begins
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection) -> None:
    """Run the members that are received after the task, and send back what they leave behind, or the error that ends them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that began this one ends it
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        task: Task = connection.recv()
    except EOFError:
        return
    worker = Worker(Plan.of(*task.plan), task.variables, task.measures)
    with suppress(EOFError, OSError):  # when that process is no more
        while members := connection.recv():
            for message in _in_turn(worker.run(members)):
                connection.send(message)


def _end_with_parent() -> None:
    """End this process, whatever it does, when the one that began it has ended."""
    parent = parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def _in_turn(results: Iterable[Result]) -> Iterator[list[Result | Exception]]:
    """What comes within some time, together; at last the error that ends it, if one does."""
    ready: list[Result | Exception] = []
    since = time.perf_counter()
    try:
        for result in results:
            ready.append(result)
            if time.perf_counter() - since > MESSAGE_SECONDS:
                yield ready
                ready, since = [], time.perf_counter()
    except Exception as error:
        ready.append(error)
    if ready:
        yield ready
