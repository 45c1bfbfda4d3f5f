"""Quadratic differential equations integrated to 30 digits by Taylor series, knowing nothing of elliptic functions.

    yᵢ' = cᵢ + Σⱼ aᵢⱼ yⱼ + Σⱼₖ bᵢⱼₖ yⱼ yₖ

Every mechanical system here is of that form in the right variables: sines and cosines, quaternions, a multiplier. An equation
is a dict of coefficients by the indices of the factors: (), (j,) or (j, k).
"""

from mpmath import mp

DIGITS = 32
ORDER = 36


def flow(equations, start, times):
    """States (list of lists of mpf) at increasing times from 0."""
    with mp.workdps(DIGITS):
        y, t, states = [mp.mpf(each) for each in start], mp.zero, []
        for end in times:
            while t < end:
                series = _series(equations, y)
                h = min(end - t, _step(series))
                y = _at(series, h)
                t += h
            states.append(y)
        return states


def period(equations, start, returning, guess):
    """The period near a guess of double precision, and the state after it.

    By Newton's iteration on Σ (y(T) − y(0))·y'(0) + (y'(T) − y'(0))·y''(0) = 0 over the variables that return after a period.
    """
    with mp.workdps(DIGITS):
        T = mp.mpf(guess)
        (state,) = flow(equations, start, [T])
        first = _series(equations, [mp.mpf(each) for each in start])
        for _ in range(3):
            series = _series(equations, state)
            pairs = [(series[i][n], series[i][n + 1], first[i][n], first[i][n + 1]) for i in returning for n in (0, 1)]
            missing = mp.fsum((y - target) * slope for y, _, target, slope in pairs)
            shift = -missing / mp.fsum(rate * slope for _, rate, _, slope in pairs)
            state, T = _at(series, shift), T + shift
        return T, state


def _at(series, h):
    return [mp.polyval(each[::-1], h) for each in series]


def _series(equations, y):
    series = [[each] for each in y]
    pairs = {key: [] for equation in equations for key in equation if len(key) == 2}
    for n in range(ORDER):
        for (j, k), product in pairs.items():
            product.append(mp.fdot(series[j], series[k][::-1]))
        rates = [
            mp.fsum(
                factor * (pairs[key][n] if len(key) == 2 else series[key[0]][n] if key else mp.mpf(n == 0))
                for key, factor in equation.items()
            )
            for equation in equations
        ]
        for each, rate in zip(series, rates, strict=True):
            each.append(rate / (n + 1))
    return series


def _step(series):
    """Such that the last terms are below the precision, beside the largest variable."""
    size = max(abs(each[0]) for each in series)
    last = max(mp.root(abs(each[n]) / size, n) for each in series for n in (ORDER - 1, ORDER))
    return mp.mpf(10) ** (-mp.mpf(DIGITS) / ORDER) / last if last else mp.inf
