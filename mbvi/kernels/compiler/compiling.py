"""How long numba compiles, or loads what it compiled; a message to whoever waits; and rare garbage collection during that time.

The objects that numba makes stay, and searching them for garbage again and again takes an eighth of the time.
"""

import gc
import logging
import os
import threading
import time
from typing import Any

from numba.core.event import Listener

from mbvi.kernels.compiler.folder import FOLDER, Turn

LOG = logging.getLogger("mbvi.compiling")  # on stderr, where a program has not configured logging
PROGRESS = LOG.getChild("progress")  # which something else may show
if os.environ.get("MBVI_QUIET"):
    LOG.disabled = PROGRESS.disabled = True
RARELY = 100_000  # objects made between two searches
REPORT_EVERY = 10.0  # seconds


class Compiling(Listener):
    """Listens to the events of numba's lock, which may come from several threads, and several times from one.

    Attributes
    ----------
    seconds : float
        How long the lock was held in this process, until now.
    errors : list of exceptions
        What was raised where compiled code called a kernel that had to be compiled first.
    name : str
        The kernel that Python or compiled code has called, and that is compiled now; else empty.
    count : int
        How many kernels this process has compiled.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turn = Turn()
        self._held = 0
        self._usual = gc.get_threshold()
        self._seconds = self._began = self._reported = 0.0
        self.errors: list[BaseException] = []
        self.name = ""
        self.count = 0

    @property
    def seconds(self) -> float:
        """How long the lock was held [s]."""
        with self._lock:
            return self._seconds + (time.perf_counter() - self._began if self._held else 0.0)

    def on_start(self, event: Any) -> None:
        """Search for garbage rarely, unless that is switched off or rarer yet."""
        with self._lock:
            if self._held == 0:
                self._began = time.perf_counter()
                self._usual = gc.get_threshold()
                if 0 < self._usual[0] < RARELY:
                    gc.set_threshold(RARELY, *self._usual[1:])
            self._held += 1

    def on_end(self, event: Any) -> None:
        """Search as before, and let other processes compile."""
        with self._lock:
            self._held -= 1
            if self._held == 0:
                self._seconds += time.perf_counter() - self._began
                gc.set_threshold(*self._usual)
                self.name = ""
                self._turn.give()

    def begin(self, name: str, key: str) -> bool:
        """Take the turn to compile a kernel that is not on disk; whether it may be there now, since others had the turn.

        name, key   the name of the kernel, and one that no other kernel has, nor this for other arguments
        """
        if self.name:
            return False
        self.name = name
        self._turn.take(key)
        return True

    def report(self) -> None:
        """Count a kernel that is compiled now, and say at first, and then from time to time, how far it is."""
        now, self.count = time.perf_counter(), self.count + 1
        if self.count == 1:
            LOG.warning("mbvi compiles its kernels for this processor, once; they are kept in %s", FOLDER)
        elif now > self._reported + REPORT_EVERY:
            PROGRESS.warning("mbvi has compiled %d kernels in %.0f s; now %s", self.count - 1, self.seconds, self.name)
        else:
            return
        self._reported = now

    def raise_error(self) -> None:
        """Raise the first error of compiling a kernel that compiled code had called, through which it cannot pass."""
        if self.errors:
            error = self.errors[0]
            self.errors.clear()
            raise error


COMPILING = Compiling()
