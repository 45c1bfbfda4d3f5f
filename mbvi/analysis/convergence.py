"""The order at which errors fall with the step, fitted: log(error) = order · log(step) + constant."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError
from mbvi.floats import as_floats


def convergence_order(errors: ArrayLike, steps: ArrayLike) -> float:
    """The order fitted, by least squares, to the errors at several step sizes.

    Parameters
    ----------
    errors : (m,)
        Errors in any norm, m ≥ 2. Leave out those at round-off and those of steps too large for the asymptotic rate.
    steps : (m,)
        Step sizes [s].

    Returns
    -------
    float
        The slope of log(error) over log(step).

    Raises
    ------
    ModelError
        If there are not two or more positive errors, one for every step, or all steps are equal.

    Examples
    --------
    >>> round(convergence_order([3.2e-3, 2.0e-4, 1.25e-5], [0.1, 0.05, 0.025]), 6)
    4.0
    """
    e, h = (np.zeros(0) if each is None else each for each in (as_floats(errors), as_floats(steps)))
    if e.shape != h.shape or e.ndim != 1 or len(e) < 2 or not all(np.all((x > 0) & (x < np.inf)) for x in (e, h)):
        found = f"{errors!r} for steps {steps!r}"
        raise ModelError(f"errors: expected two or more positive errors, one for every step, found {found}")
    if np.all(h == h[0]):
        raise ModelError(f"steps: expected different ones, found {h[0]:g} alone")
    return float(np.polyfit(np.log(h), np.log(e), 1)[0])
