"""All members of an ensemble, in chunks that an executor runs, and one place that takes what they leave behind.

A chunk is as large as takes some tenths of a second. Members that are lost with their worker run again, once, each alone.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

import numpy as np

from mbvi.ensembles.chunks import Chunk, lost
from mbvi.ensembles.executors import Executor
from mbvi.ensembles.members import Members
from mbvi.ensembles.store import Ended, Variable

Array = np.ndarray
POLL_SECONDS = 0.1
AHEAD = 2  # chunks for each that can run, so that none waits for the next
SHARES = (
    4  # a chunk has at most this part of what is left for each that can run, so that they end at about the same time
)
GROWTH = 8  # of the size of chunks, until they take long enough
MOST_BYTES = 16e6  # of what a chunk leaves behind
LOST = (
    "executor: expected a worker that lasts, found this member lost with two of them, as by a kill, too little memory, or a \
function that hangs; resume runs it again"
)


def run_members(
    executor: Executor,
    members: Members,
    order: Array,
    variables: Mapping[str, Variable],
    put: Callable[[Ended], Any],
    progress: Callable[[int, int], Any] | None = None,
) -> None:
    """Run members in this order, and put away what they leave behind when they end.

    Parameters
    ----------
    executor : Executor
    members : Members
        All there are.
    order : ndarray (k,)
        The numbers of those that are to run, those of the same parameters one after another.
    variables : dict of str to Variable
        What every member leaves behind.
    put : callable
        Takes what the members of a chunk leave behind.
    progress : callable, optional
        ``progress(members_done, members)``

    Raises
    ------
    Exception
        The first that `put` raises, or that a measure does, as a ModelError; it ends the others.
    """
    driver = _Driver(executor, members, order, variables, put)
    while driver.is_busy():
        driver.advance()
        if progress is not None:
            progress(members.count - len(order) + driver.done, members.count)


class _Driver:
    """What is under way."""

    def __init__(
        self,
        executor: Executor,
        members: Members,
        order: Array,
        variables: Mapping[str, Variable],
        put: Callable[[Ended], Any],
    ) -> None:
        self._executor, self._members, self._variables, self._put = executor, members, variables, put
        self._order, self._taken, self.done = order, 0, 0
        self._running: dict[Future[Any], tuple[Chunk, bool]] = {}
        self._again: deque[Chunk] = deque()
        self._size = 1
        row_bytes = 8 * sum(math.prod(each.shape) for each in variables.values())
        self._most = max(1, int(MOST_BYTES // max(1, row_bytes)))

    def is_busy(self) -> bool:
        """Whether something runs or is to run."""
        return bool(self._running or self._again or self._taken < len(self._order))

    def advance(self) -> None:
        """Keep the executor busy, and take what has ended."""
        slots = self._executor.slots()
        while len(self._running) < AHEAD * slots and (self._again or self._taken < len(self._order)):
            is_again = bool(self._again)
            chunk = self._again.popleft() if is_again else self._next(slots)
            self._running[self._executor.submit(chunk)] = chunk, is_again
        ended, _ = wait(self._running, POLL_SECONDS, FIRST_COMPLETED)
        for future in ended:
            self._take(future, *self._running.pop(future))

    def _next(self, slots: int) -> Chunk:
        """The members that come next."""
        share = math.ceil((len(self._order) - self._taken) / (SHARES * slots))
        numbers = self._order[self._taken : self._taken + min(self._size, self._most, share)]
        self._taken += len(numbers)
        return Chunk(numbers, self._members.values[numbers])

    def _take(self, future: Future[Any], chunk: Chunk, is_again: bool) -> None:
        """Put away what a chunk leaves behind, or run it again if it is lost."""
        try:
            ended: Ended = future.result()
        except Exception as error:
            if not self._executor.is_lost(error):
                raise
            if not is_again:
                self._again.extend(Chunk(*(rows[i : i + 1] for rows in chunk)) for i in range(len(chunk.numbers)))
                return
            ended = lost(chunk, self._variables, LOST)
        self._put(ended)
        self.done += len(ended.numbers)
        if ended.error is not None:
            raise ended.error
        if ended.seconds and len(ended.numbers):
            wanted = len(ended.numbers) * self._executor.seconds / ended.seconds
            self._size = max(1, min(GROWTH * len(ended.numbers), int(wanted)))
