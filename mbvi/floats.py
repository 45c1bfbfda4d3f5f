"""Arrays of floats, of whatever a user gives."""

from __future__ import annotations

from typing import Any

import numpy as np


def as_floats(value: Any) -> np.ndarray | None:
    """The contiguous array of floats that a value is, or None: text, complex numbers and dates are none, nor are lists of unequal
    lengths. Masked numbers of a masked array are not a number.
    """
    try:
        array = np.asarray(value)
        floats = np.asarray(array, dtype=float, order="C") if array.dtype.kind in "biufO" else None
    except (TypeError, ValueError, OverflowError):
        return None
    mask = getattr(value, "mask", None)
    return np.where(mask, np.nan, floats) if floats is not None and isinstance(mask, np.ndarray) else floats
