"""The free rotation of a rigid body: Euler's equations, solved to rounding.

With the body's unit quaternion x and its angular momentum ℓ, both along principal axes, of moments of inertia I_i,

    ℓ' = ℓ × ω,    x' = ½ x ⋆ (0, ω),    ω_i = ℓ_i/I_i

Of a symmetric body (I₁ = I₂), with δ = (1/I₃ − 1/I₁) ℓ₃, the motion through h is

    x(h) = x ⋆ exp(½ h ℓ/I₁) ⋆ exp(½ h δ e₃),    ℓ(h) = ℓ turned through −h δ about e₃

Of others it is a Taylor series, whose coefficients follow from those before, through as long a part of h as its last terms are
rounding, and the next from there.

A state y is seven numbers, x (scalar part first) and ℓ; `low` keeps what rounding leaves of them.

Sources: Whittaker, A Treatise on the Analytical Dynamics of Particles and Rigid Bodies, § 69; Jorba & Zou, Exp. Math. 14 (2005).
"""

import math

from mbvi.kernels.compensated import add_compensated
from mbvi.kernels.layout import inlined_kernel, kernel

TERMS = 22  # of a series at most
SMALL = 1e-17  # relative, of terms that are rounding
TINY = 1e-290  # least momentum that matters
MAX_SERIES = 100_000  # through one h; a state that needs more is not a number then


@kernel
def add_rotated(y, low, turn, u0_less_1, u1, u2, u3):
    """x ← x ⋆ u, of a unit quaternion u; `turn` is no more than room (4,)."""
    turn[0] = y[0] * u0_less_1 - y[1] * u1 - y[2] * u2 - y[3] * u3
    turn[1] = y[0] * u1 + y[1] * u0_less_1 + y[2] * u3 - y[3] * u2
    turn[2] = y[0] * u2 - y[1] * u3 + y[2] * u0_less_1 + y[3] * u1
    turn[3] = y[0] * u3 + y[1] * u2 - y[2] * u1 + y[3] * u0_less_1
    for i in range(4):
        add_compensated(y, low, i, turn[i])


@inlined_kernel
def turn_symmetric(y, low, inverse, room, h):
    """The free rotation of a body whose first two moments of inertia are equal."""
    size = math.sqrt(y[4] * y[4] + y[5] * y[5] + y[6] * y[6])
    angle = 0.5 * h * inverse[0] * size
    part = math.sin(angle) / size if size > 0.0 else 0.0
    a0 = -2.0 * math.sin(0.5 * angle) ** 2  # cos − 1
    rate = (inverse[2] - inverse[0]) * y[6]
    spin = math.sin(0.5 * h * rate)
    b0 = -2.0 * math.sin(0.25 * h * rate) ** 2
    a1, a2, a3 = part * y[4], part * y[5], part * y[6]
    u0 = a0 + b0 + a0 * b0 - a3 * spin
    u1, u2 = a1 + a1 * b0 + a2 * spin, a2 + a2 * b0 - a1 * spin
    add_rotated(y, low, room, u0, u1, u2, a3 + a3 * b0 + spin + a0 * spin)
    sine, versed = math.sin(h * rate), 2.0 * spin * spin
    gain, loss = sine * y[5] - versed * y[4], -sine * y[4] - versed * y[5]
    add_compensated(y, low, 4, gain)
    add_compensated(y, low, 5, loss)


@inlined_kernel
def fill_series(series, inverse, h):
    """Rows 1, 2, … of `series` from row 0: coefficients times powers of h, until two are rounding; how many."""
    size = max(abs(series[0, 4]), abs(series[0, 5]), abs(series[0, 6]), TINY)
    quiet = 0
    for k in range(TERMS):
        s = x1 = x2 = x3 = l1 = l2 = l3 = 0.0
        for j in range(k + 1):
            m1, m2, m3 = series[k - j, 4], series[k - j, 5], series[k - j, 6]
            l1 += series[j, 5] * m3
            l2 += series[j, 6] * m1
            l3 += series[j, 4] * m2
            w1, w2, w3 = m1 * inverse[0], m2 * inverse[1], m3 * inverse[2]
            a0, a1, a2, a3 = series[j, 0], series[j, 1], series[j, 2], series[j, 3]
            s -= a1 * w1 + a2 * w2 + a3 * w3
            x1 += a0 * w1 + a2 * w3 - a3 * w2
            x2 += a0 * w2 + a3 * w1 - a1 * w3
            x3 += a0 * w3 + a1 * w2 - a2 * w1
        factor = h / (k + 1)
        series[k + 1, 0], series[k + 1, 1] = 0.5 * factor * s, 0.5 * factor * x1
        series[k + 1, 2], series[k + 1, 3] = 0.5 * factor * x2, 0.5 * factor * x3
        series[k + 1, 4] = factor * (inverse[2] - inverse[1]) * l1
        series[k + 1, 5] = factor * (inverse[0] - inverse[2]) * l2
        series[k + 1, 6] = factor * (inverse[1] - inverse[0]) * l3
        quiet = quiet + 1 if largest_part(series, k + 1, size) <= SMALL else 0
        if quiet == 2:
            return k + 1
    return TERMS


@kernel
def largest_part(series, k, size):
    """Largest entry of row k: of the quaternion, and of the momentum as part of `size`."""
    momentum = max(abs(series[k, 4]), abs(series[k, 5]), abs(series[k, 6]))
    return max(abs(series[k, 0]), abs(series[k, 1]), abs(series[k, 2]), abs(series[k, 3]), momentum / size)


@inlined_kernel
def turn_by_series(y, low, inverse, series, h):
    """The free rotation through h, in as many parts as it takes for the terms to fall to rounding."""
    left = h
    for _ in range(MAX_SERIES):
        for i in range(7):
            series[0, i] = y[i]
        terms = fill_series(series, inverse, left)
        size = max(abs(y[4]), abs(y[5]), abs(y[6]), TINY)
        rest = max(largest_part(series, terms, size), largest_part(series, terms - 1, size))
        fraction = 1.0 if rest <= SMALL else (SMALL / rest) ** (1.0 / (terms - 1))
        for i in range(7):
            total = 0.0
            for k in range(terms, 0, -1):
                total = (total + series[k, i]) * fraction
            add_compensated(y, low, i, total)
        if fraction == 1.0:
            return
        left -= fraction * left
    for i in range(7):
        y[i] = math.nan


@kernel
def turn_freely(y, low, inverse, series, h):
    """Advance y (7,) and low (7,) through the time h of a free rotation.

    inverse   (3,)             1/I₁, 1/I₂, 1/I₃ [1/(kg m²)]
    series    (TERMS + 1, 8)   overwritten
    h         [s], of either sign
    """
    if inverse[0] == inverse[1]:
        turn_symmetric(y, low, inverse, series[0], h)
    else:
        turn_by_series(y, low, inverse, series, h)
    excess = y[0] * y[0] + y[1] * y[1] + y[2] * y[2] + y[3] * y[3] - 1.0
    for i in range(4):
        add_compensated(y, low, i, -0.5 * excess * y[i])
