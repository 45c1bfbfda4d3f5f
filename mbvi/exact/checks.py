"""What all exact motions demand of their numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError
from mbvi.floats import as_floats

Array = np.ndarray


def check(owner: Any, shape: tuple[int, ...], *names: str, least: float = -np.inf, above: float = -np.inf) -> None:
    """Refuse attributes of an exact motion that are not finite numbers of a shape, at least or above a bound."""
    for name in names:
        value = getattr(owner, name)
        numbers = _numbers(value)
        if numbers is None or numbers.shape != shape or not np.all((numbers >= least) & (numbers > above)):
            count = f"{shape[0]} finite numbers" if shape else "a finite number"
            bound = f" above {above:g}" if above > -np.inf else f" of at least {least:g}" if least > -np.inf else ""
            raise ModelError(f"{type(owner).__name__}: {name}: expected {count}{bound}, found {value!r}")


def times(owner: Any, t: ArrayLike) -> Array:
    """Times as an array of any shape [s]."""
    numbers = _numbers(t)
    if numbers is None:
        raise ModelError(f"{type(owner).__name__}: t: expected finite times, found {t!r}")
    return numbers


def _numbers(value: Any) -> Array | None:
    """An array of finite floats, or None."""
    numbers = as_floats(value)
    return numbers if numbers is not None and np.all(np.isfinite(numbers)) else None
