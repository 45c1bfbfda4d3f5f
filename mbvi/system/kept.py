"""What was made once and is kept for the next time, as long as there is room for it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any


class Kept:
    """Values by their keys, of which those are forgotten that were not asked for the longest.

    Several threads may use it: what two of them ask for at once may be made twice.

    Parameters
    ----------
    most : int
        How many are kept.

    Examples
    --------
    >>> squares = Kept(2)
    >>> [squares.get(n, lambda n=n: print("of", n) or n * n) for n in (2, 3, 2, 4, 2)]
    of 2
    of 3
    of 4
    [4, 9, 4, 16, 4]
    """

    def __init__(self, most: int) -> None:
        self._most, self._values, self._looking = most, dict[Hashable, Any](), Lock()

    def __len__(self) -> int:
        """How many are kept now."""
        return len(self._values)

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The value of a key, made if it is not kept."""
        with self._looking:
            if key in self._values:
                self._values[key] = self._values.pop(key)  # the last that was asked for stands last
                return self._values[key]
        value = make()
        with self._looking:
            self._values.pop(key, None)
            while len(self._values) >= self._most:
                del self._values[next(iter(self._values))]
            self._values[key] = value
        return value
