"""How long numba compiles, or loads what it compiled; and rare garbage collection during that time.

The objects that numba makes stay, and searching them for garbage again and again takes an eighth of the time.
"""

import gc
import threading
import time
from typing import Any

from numba.core.event import Listener

RARELY = 100_000  # objects made between two searches


class Compiling(Listener):
    """Listens to the events of numba's lock, which may come from several threads, and several times from one.

    Attributes
    ----------
    seconds : float
        How long the lock was held in this process, until now.
    lasting : float
        How long it has been held now [s]; 0.0 if it is free.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held = 0
        self._usual = gc.get_threshold()
        self._seconds = self._began = 0.0

    @property
    def seconds(self) -> float:
        """How long the lock was held [s]."""
        with self._lock:
            return self._seconds + (time.perf_counter() - self._began if self._held else 0.0)

    @property
    def lasting(self) -> float:
        """How long it has been held now [s]."""
        with self._lock:
            return time.perf_counter() - self._began if self._held else 0.0

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
        """Search as before."""
        with self._lock:
            self._held -= 1
            if self._held == 0:
                self._seconds += time.perf_counter() - self._began
                gc.set_threshold(*self._usual)


COMPILING = Compiling()
