"""What runs chunks: threads, processes of this machine, or the workers of a dask cluster.

Each is an executor that exists, and says how many chunks run at once. What is lost with a worker is the driver's to run again.
"""

from __future__ import annotations

import logging
import math
import os
import pickle
import signal
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.synchronize import Event
from typing import Any, Protocol

from mbvi.ensembles.chunks import SAME_VERSION, Chunk, Crew, Recipe, run_chunk, version
from mbvi.ensembles.plan import Plan
from mbvi.errors import MbviWarning, ModelError, stack_level
from mbvi.model.expressions import show, wrong

REMEDY = "call it below if __name__ == '__main__', with measures that are functions of a module, or leave processes out"
MOST_BREAKS = 3  # of a pool in succession, without a chunk that ends
CONNECT_SECONDS = 10.0
WITHOUT_PORT = "inproc:"  # addresses within this process
LEAST_SECONDS = 0.5  # of a chunk,
SCHEDULING = 0.01  # and for every worker: what it costs a scheduler on a busy machine to send one
ASK_SECONDS = 2.0  # between questions how many workers there are
LIKE_THESE = ("numba", "numpy")  # on whose versions the last bits of results depend


class Executor(Protocol):
    """What runs chunks."""

    @property
    def seconds(self) -> float:
        """How long a chunk should take, so that sending it costs little."""

    def slots(self) -> int:
        """How many chunks run at once, at present."""

    def submit(self, chunk: Chunk) -> Future[Any]:
        """Run a chunk."""

    def is_lost(self, error: BaseException) -> bool:
        """Whether an error of a chunk says that its worker is lost; then others can take its place."""

    def close(self) -> None:
        """End all that runs."""


class Threads:
    """Threads of this process."""

    seconds: float = 0.1

    def __init__(self, recipe: Recipe, plan: Plan, count: int) -> None:
        self._crew, self._count, self._pool = Crew(recipe, plan), count, ThreadPoolExecutor(count)

    def slots(self) -> int:
        """The number of threads."""
        return self._count

    def submit(self, chunk: Chunk) -> Future[Any]:
        """Run a chunk in a thread."""
        return self._pool.submit(run_chunk, version(), self._crew, chunk)

    def is_lost(self, error: BaseException) -> bool:
        """A thread is never lost."""
        return False

    def close(self) -> None:
        """End all that runs."""
        self._crew.stop()
        self._pool.shutdown(cancel_futures=True)


class Processes:
    """A pool of processes, which is made anew when one of them is killed."""

    seconds: float = 0.2

    def __init__(self, recipe: Recipe, count: int) -> None:
        self._recipe, self._count, self._breaks = packed(recipe, pickle.dumps, "processes"), count, 0
        context = get_context("spawn")
        self._theirs, self._line = context.Pipe(duplex=False)
        self._has_begun = context.Event()
        self._pool = self._make_pool()

    def _make_pool(self) -> ProcessPoolExecutor:
        begin = (self._theirs, self._has_begun)
        return ProcessPoolExecutor(self._count, get_context("spawn"), _begin, begin)

    def slots(self) -> int:
        """The number of processes."""
        return self._count

    def submit(self, chunk: Chunk) -> Future[Any]:
        """Run a chunk in a process; in a new pool if the one that was is broken.

        Raises
        ------
        ModelError
            If processes do not begin, or end one after another.
        """
        with _without_interruptions():
            try:
                future = self._pool.submit(run_chunk, version(), self._recipe, chunk)
            except BrokenExecutor:
                self._renew()
                future = self._pool.submit(run_chunk, version(), self._recipe, chunk)
        future.add_done_callback(self._note)
        return future

    def _note(self, future: Future[Any]) -> None:
        """A chunk that ends shows that processes can run."""
        if not future.cancelled() and future.exception() is None:
            self._breaks = 0

    def _renew(self) -> None:
        self._breaks += 1
        if not self._has_begun.is_set():
            raise ModelError(f"processes: {wrong('processes that run', 'one that ended', REMEDY)}")
        if self._breaks >= MOST_BREAKS:
            found = f"{MOST_BREAKS} in turn that ended before a member was done"
            remedy = "run a member by simulate to see why, and look at the memory that it takes"
            raise ModelError(f"processes: {wrong('processes that run', found, remedy)}")
        self._pool.shutdown()
        self._pool = self._make_pool()

    def is_lost(self, error: BaseException) -> bool:
        """One that was killed breaks the pool."""
        return isinstance(error, BrokenExecutor)

    def close(self) -> None:
        """End the processes, whatever they do."""
        self._line.close()
        self._pool.shutdown(cancel_futures=True)
        self._theirs.close()


def _begin(line: Connection, has_begun: Event) -> None:
    """Let a new process end when the one that began it closes a line, or has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that began this one ends it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with, args=(line,), daemon=True).start()
    has_begun.set()


def _end_with(line: Connection) -> None:
    """End this process, whatever it does, when the other end of a line is closed."""
    wait([line])
    os._exit(1)


@contextmanager
def _without_interruptions() -> Iterator[None]:
    """What begins meanwhile hears of no interruption before it can ignore them, and this thread hears of it afterwards."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # which lets interruptions through again when it begins
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Cluster:
    """The workers of a dask cluster, as many as there are at every moment."""

    def __init__(self, recipe: Recipe, client: Any) -> None:
        check_workers(client)  # of which the first question below finds out whether there are some
        dumps = import_module("cloudpickle").dumps
        self._client, self._executor = client, client.get_executor(pure=False)
        self._recipe = client.submit(bytes, packed(recipe, dumps, "executor"), pure=False)
        self._killed = import_module("distributed").KilledWorker
        self._slots, self._asked = 1, -math.inf

    @property
    def seconds(self) -> float:
        """So long that the scheduler, which sends one chunk after another, keeps all workers busy."""
        return max(LEAST_SECONDS, SCHEDULING * self._slots)

    def slots(self) -> int:
        """The number of threads of all workers, asked for now and then; at least 1, with a warning where there are none.

        Raises
        ------
        ModelError
            If the scheduler is lost.
        """
        if time.monotonic() > self._asked + ASK_SECONDS:
            try:
                threads = sum(self._client.nthreads().values())
            except Exception:
                raise _no_scheduler() from None
            if self._slots and not threads:
                text = "executor: no worker is there at present; members wait for one"
                warnings.warn(text, MbviWarning, stacklevel=stack_level())
            self._slots, self._asked = threads, time.monotonic()
        return max(1, self._slots)

    def submit(self, chunk: Chunk) -> Future[Any]:
        """Run a chunk on a worker.

        Raises
        ------
        ModelError
            If the scheduler is lost.
        """
        try:
            return self._executor.submit(run_chunk, version(), self._recipe, chunk)
        except Exception:
            if self._client.status != "running":
                raise _no_scheduler() from None
            raise

    def is_lost(self, error: BaseException) -> bool:
        """Whether dask has given a chunk up, since one worker after another was lost while it ran the chunk.

        Raises
        ------
        ModelError
            If the scheduler is lost.
        """
        if isinstance(error, CancelledError):
            raise _no_scheduler() from None
        return isinstance(error, self._killed)

    def close(self) -> None:
        """Cancel what has not ended, if there still is a scheduler."""
        if self._client.status == "running":
            self._executor.shutdown(wait=False)
            self._recipe.cancel()


def _no_scheduler() -> ModelError:
    """The error which says that the scheduler of a client has ended."""
    remedy = "start another; the members that are done are in the file, if there is one, and resume goes on with it"
    return ModelError(f"executor: {wrong('a scheduler that runs', 'one that ended', remedy)}")


def packed(recipe: Recipe, dumps: Callable[[Any], bytes], where: str) -> bytes:
    """A recipe for another process.

    Raises
    ------
    ModelError
        If it cannot be sent there.
    """
    try:
        return dumps(recipe)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ModelError(f"{where}: {wrong('what can be sent to a process', str(error), REMEDY)}") from None


def check_client(client: Any) -> None:
    """Refuse what is no client of dask."""
    if not isinstance(client, distributed("executor").Client):
        remedy = "make one: distributed.Client(address)"
        raise ModelError(f"executor: {wrong('a Client of dask.distributed', show(client), remedy)}")


def connect(address: str) -> Any:
    """A client of the scheduler at an address, which reports what goes wrong by errors alone.

    Raises
    ------
    ModelError
        If there is none.
    """
    dask = distributed("--scheduler")
    for name in ("distributed.client", "concurrent.futures"):  # which write tracebacks when a scheduler ends
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        _ask(dask, address)
        return dask.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        expected = "the address of a dask scheduler that runs, as tcp://host:8786"
        remedy = f"start one: dask scheduler, and workers: dask worker {address}"
        reason = " ".join(str(error).split())
        raise ModelError(f"--scheduler: {wrong(expected, f'{address!r}: {reason:.200}', remedy)}") from None


def _ask(dask: Any, address: str) -> None:
    """Connect to a port and leave it: a Client that finds nothing there would wait for itself when it is collected."""
    if not address.startswith(WITHOUT_PORT):
        socket.create_connection(dask.comm.get_address_host_port(address), CONNECT_SECONDS).close()


def distributed(what: str) -> Any:
    """dask.distributed, of the extra `cluster`.

    Raises
    ------
    ModelError
        If it is missing.
    """
    try:
        return import_module("distributed")
    except ImportError:
        remedy = "install it with: pip install 'mbvi[cluster]'"
        raise ModelError(f"{what}: {wrong('dask.distributed', 'none', remedy)}") from None


def check_workers(client: Any) -> None:
    """Refuse workers with another version of mbvi; warn if their results may differ in the last bits.

    Raises
    ------
    ModelError
        Naming a worker.
    """
    found = client.get_versions(packages=["mbvi", *LIKE_THESE])
    here, workers = found["client"]["packages"], found["workers"]
    for name, each in workers.items():
        there = each["packages"]["mbvi"]  # as it was installed; `run_chunk` looks at what is imported
        if there != here["mbvi"]:
            found_there = f"{there or 'none'} on worker {name}"
            raise ModelError(f"executor: {wrong(f'workers with mbvi {version()}', found_there, SAME_VERSION)}")
    others = {_about(each["packages"], each["host"]) for each in workers.values()} - {
        _about(here, found["client"]["host"])
    }
    if others:
        text = f"workers differ from this process ({', '.join(sorted(others))}): results may differ in their last bits"
        warnings.warn(f"executor: {text}", MbviWarning, stacklevel=stack_level())


def _about(packages: Mapping[str, Any], host: Mapping[str, Any]) -> str:
    """The versions and the machine on which the last bits of results depend, in one line."""
    return " ".join([*(f"{name} {packages[name]}" for name in LIKE_THESE), host["machine"]])
