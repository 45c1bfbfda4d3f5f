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
from mbvi.kernels.lanes import WIDTH, lanes, lanes_at, larger, of_four, part, widest
from mbvi.kernels.layout import inlined_kernel, kernel

TERMS = 22  # of a series at most
SERIES = (TERMS + 1, 7, WIDTH)  # shape of the room for one
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


@kernel
def put_coefficients(rows, k, x, l, inverse):
    """Those of power k: x, all x ⋆ e_i/(2 I_i), ℓ, and (ℓ₂, ℓ₃, ℓ₁) and (ℓ₃, ℓ₁, ℓ₂)."""
    x0, x1, x2, x3 = part(x, 0), part(x, 1), part(x, 2), part(x, 3)
    l1, l2, l3 = part(l, 0), part(l, 1), part(l, 2)
    rows[k, 0] = x
    rows[k, 1] = (0.5 * inverse[0]) * of_four(-x1, x0, x3, -x2)
    rows[k, 2] = (0.5 * inverse[1]) * of_four(-x2, -x3, x0, x1)
    rows[k, 3] = (0.5 * inverse[2]) * of_four(-x3, x2, -x1, x0)
    rows[k, 4] = l
    rows[k, 5] = of_four(l2, l3, l1, 0.0)
    rows[k, 6] = of_four(l3, l1, l2, 0.0)


@inlined_kernel
def fill_series(series, inverse, size, h):
    """Coefficients times powers of h from those of power 0 on, until two are rounding, beside 1 and `size`; the last power."""
    rows = lanes(series)
    d = of_four(inverse[2] - inverse[1], inverse[0] - inverse[2], inverse[1] - inverse[0], 0.0)
    quiet = 0
    for k in range(TERMS):
        x1 = x2 = x3 = l = 0.0 * d
        for j in range(k + 1):
            x1 = x1 + series[k - j, 4, 0] * rows[j, 1]
            x2 = x2 + series[k - j, 4, 1] * rows[j, 2]
            x3 = x3 + series[k - j, 4, 2] * rows[j, 3]
            l = l + rows[j, 5] * rows[k - j, 6]
        factor = h / (k + 1)
        put_coefficients(rows, k + 1, factor * (x1 + x2 + x3), factor * (d * l), inverse)
        quiet = quiet + 1 if largest_part(rows, k + 1, size) <= SMALL else 0
        if quiet == 2:
            return k + 1
    return TERMS


@kernel
def largest_part(rows, k, size):
    """Largest entry of power k: of the quaternion, and of the momentum as part of `size`."""
    none = 0.0 * rows[k, 0]
    return max(widest(larger(none, rows[k, 0])), widest(larger(none, rows[k, 4])) / size)


@inlined_kernel
def turn_by_series(y, low, inverse, series, h):
    """The free rotation through h, in as many parts as it takes for the terms to fall to rounding."""
    rows, left = lanes(series), h
    for _ in range(MAX_SERIES):
        put_coefficients(rows, 0, lanes_at(y, 0), of_four(y[4], y[5], y[6], 0.0), inverse)
        size = max(abs(y[4]), abs(y[5]), abs(y[6]), TINY)
        terms = fill_series(series, inverse, size, left)
        rest = max(largest_part(rows, terms, size), largest_part(rows, terms - 1, size))
        fraction = 1.0 if rest <= SMALL else (SMALL / rest) ** (1.0 / (terms - 1))
        x = l = 0.0 * rows[0, 0]
        for k in range(terms, 0, -1):
            x, l = (x + rows[k, 0]) * fraction, (l + rows[k, 4]) * fraction
        for i in range(4):
            add_compensated(y, low, i, part(x, i))
        for i in range(3):
            add_compensated(y, low, 4 + i, part(l, i))
        if fraction == 1.0:
            return
        left -= fraction * left
    for i in range(7):
        y[i] = math.nan


@kernel
def turn_freely(y, low, inverse, series, h):
    """Advance y (7,) and low (7,) through the time h of a free rotation.

    inverse   (3,)     1/I₁, 1/I₂, 1/I₃ [1/(kg m²)]
    series    SERIES   overwritten
    h         [s], of either sign
    """
    if inverse[0] == inverse[1]:
        turn_symmetric(y, low, inverse, series[0, 0], h)
    else:
        turn_by_series(y, low, inverse, series, h)
    excess = y[0] * y[0] + y[1] * y[1] + y[2] * y[2] + y[3] * y[3] - 1.0
    for i in range(4):
        add_compensated(y, low, i, -0.5 * excess * y[i])
