"""Where a function of the place in a step is zero or least, to rounding: of stops, frictions and the user's events."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

RESOLUTION = 1e-15  # of a zero, as part of the step
OF_EXTREMUM = 1e-9  # the same of an extremum, at which the function is then known to its square
MOST = 3000  # evaluations; bisection needs 50, and Brent's method at most the square of that, where the function is rounding


def find_zero(f: Callable[[float], float], a: float, b: float) -> float:
    """Where a function is zero, which has different signs at a and b, by Brent's method."""
    from scipy.optimize import brentq  # takes a tenth of a second to import

    return float(brentq(f, a, b, xtol=RESOLUTION, rtol=4 * np.finfo(float).eps, maxiter=MOST))


def find_least(f: Callable[[float], float], a: float, b: float) -> float:
    """Where a function is least between a and b, by Brent's method."""
    from scipy.optimize import minimize_scalar  # takes a tenth of a second to import

    return float(minimize_scalar(f, bounds=(a, b), method="bounded", options={"xatol": OF_EXTREMUM}).x)
