"""While numba compiles, or loads what it compiled: how long that takes, and garbage collection meanwhile.

What it makes stays, and to search it for garbage again and again takes an eighth of the time.
"""

import gc
import threading
import time
from typing import Any

from numba.core.event import Listener

RARELY = 100_000  # objects made between two searches


class Compiling(Listener):
    """Of the events of numba's lock, each of which may come from several threads, and from one several times over.

    Attributes
    ----------
    seconds : float
        How long it was held in this process, until now.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held = 0
        self._usual = gc.get_threshold()
        self._seconds = self._began = 0.0

    @property
    def seconds(self) -> float:
        """How long the lock was held."""
        with self._lock:
            return self._seconds + (time.perf_counter() - self._began if self._held else 0.0)

    @property
    def lasting(self) -> float:
        """How long it has been held now [s]."""
        with self._lock:
            return time.perf_counter() - self._began if self._held else 0.0

    def on_start(self, event: Any) -> None:
        """Search rarely, unless it is switched off or rarer yet."""
        with self._lock:
            if self._held == 0:
                self._began = time.perf_counter()
                self._usual = gc.get_threshold()
                if 0 < self._usual[0] < RARELY:
                    gc.set_threshold(RARELY, *self._usual[1:])
            self._held += 1

    def on_end(self, event: Any) -> None:
        """As it was."""
        with self._lock:
            self._held -= 1
            if self._held == 0:
                self._seconds += time.perf_counter() - self._began
                gc.set_threshold(*self._usual)


COMPILING = Compiling()
