"""Garbage collection while numba compiles: what it makes stays, and to search it again and again takes an eighth of the time."""

import gc
import threading
from typing import Any

from numba.core.event import Listener

RARELY = 100_000  # objects made between two searches


class RareCollection(Listener):
    """Of the events of numba's lock, each of which may come from several threads, and from one several times over."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held = 0
        self._usual = gc.get_threshold()

    def on_start(self, event: Any) -> None:
        """Search rarely, unless it is switched off or rarer yet."""
        with self._lock:
            if self._held == 0:
                self._usual = gc.get_threshold()
                if 0 < self._usual[0] < RARELY:
                    gc.set_threshold(RARELY, *self._usual[1:])
            self._held += 1

    def on_end(self, event: Any) -> None:
        """As it was."""
        with self._lock:
            self._held -= 1
            if self._held == 0:
                gc.set_threshold(*self._usual)
