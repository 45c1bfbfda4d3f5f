"""The free rotation of a rigid body: Euler's equations, solved to rounding.

With the body's unit quaternion x and its angular momentum ℓ, both along principal axes, of moments of inertia I_i,

    ℓ' = ℓ × ω,    x' = ½ x ⋆ (0, ω),    ω_i = ℓ_i/I_i

The motion of a symmetric body (I₁ = I₂) through h is, with δ = (1/I₃ − 1/I₁) ℓ₃,

    x(h) = x ⋆ exp(½ h ℓ/I₁) ⋆ exp(½ h δ e₃),    ℓ(h) = ℓ turned through −h δ about e₃

That of other bodies is found by Taylor series, whose terms follow from those before, through a part of h in which the
last ones are rounding, and then on from there. The unknowns are the direction n = ℓ/G of the momentum, G = |ℓ|, in axes
of which it is nearest to the third, and χ, the turn about the momentum in addition to the shortest rotation s(n) that
takes n to the third axis:

    n₀' = G (a₂ − a₁) n₁ n₂ and in turn,    a_i = 1/I_i
    χ' = G a₂ + G ((a₀ − a₂) n₀² + (a₁ − a₂) n₁²)/(1 + n₂)
    x(h) = x ⋆ s(n)* ⋆ exp(½ χ e₂) ⋆ s(n(h)),    s(n) = (1 + n₂, n₁, −n₀, 0)/√(2 (1 + n₂))

The numerator of χ' is a constant of the motion, since the energy is. Differences are added to the state, so that short
steps lose no digits.

Arguments of the kernels:

y         (7,)             in and out: the quaternion x (scalar part first), and ℓ along principal axes  [–, kg m²/s]
low       (7,)             in and out: the rounding errors of y  [–, kg m²/s]
h         float            time  [s]
inverse   (3,)             1/I₁, 1/I₂, 1/I₃  [1/(kg m²)]
series    (3 TERMS + 3, 4)    work: terms of a series, in lanes
room      (4,)             work, or more than four numbers

Units of numbers: n0 … n2, g0 … g2, u0_less_1, u1 … u3, x, rates, weight [1]; turn [rad].

Sources: Whittaker, A Treatise on the Analytical Dynamics of Particles and Rigid Bodies, § 69; Jorba & Zou, Exp. Math.
14 (2005).
"""

import math

from mbvi.kernels.algebra.compensated import add_compensated
from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.compiler.lanes import WIDTH, lanes, larger, of_four, part, widest
from mbvi.kernels.mechanics.sines import cosine_and_sine

TERMS = 30
FACTOR, OTHER = TERMS + 1, 2 * (TERMS + 1)  # rows where the factors of their products begin
SERIES = (3 * (TERMS + 1), WIDTH)  # shape of the work array
SMALL = 1e-17  # relative size of terms that are rounding
TINY = 1e-150  # momentum below which a body is at rest [kg m²/s]
MAX_SERIES = 100_000  # of one h; a state that needs more becomes not a number


@kernel
def add_rotated(y, low, turn, u0_less_1, u1, u2, u3):
    """x ← x ⋆ u for a unit quaternion u, given by u0 − 1, u1, u2, u3. Arguments: see the head of this file.

    turn      (4,)    work: what is added to x  [1]
    """
    turn[0] = y[0] * u0_less_1 - y[1] * u1 - y[2] * u2 - y[3] * u3
    turn[1] = y[0] * u1 + y[1] * u0_less_1 + y[2] * u3 - y[3] * u2
    turn[2] = y[0] * u2 - y[1] * u3 + y[2] * u0_less_1 + y[3] * u1
    turn[3] = y[0] * u3 + y[1] * u2 - y[2] * u1 + y[3] * u0_less_1
    for i in range(4):
        add_compensated(y, low, i, turn[i])


@kernel
def turn_symmetric(y, low, inverse, room, h):
    """The free rotation through h of a body whose first two moments of inertia are equal.

    Arguments: see the head of this file.
    """
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
def size_of(x):
    """The largest magnitude of four lanes."""
    return widest(larger(0.0 * x, x))


@kernel
def fill_series(series, n0, n1, n2, rates, weight):
    """Terms of n, and of the integral w of χ' − G a₂, until two are rounding compared with 1; their number.

    series    (3 TERMS + 3, 4)    out: rows 1 to the number that is returned, in lanes n₀, n₁, n₂, w; further rows are
                                  work
    rates     lanes               of n, so that h n₀' = r₀ n₁ n₂ and in turn; last −1/(1 + n₂), by which w' (1 + n₂) is
                                  constant
    weight    float               h w' at the start
    """
    rows, quiet = lanes(series), 0
    first, other = of_four(n1, n2, n0, weight), of_four(n2, n0, n1, 0.0)
    rows[FACTOR], rows[OTHER] = first, other
    rate = rates * (first * of_four(n2, n0, n1, -1.0 - n2))
    for k in range(TERMS):
        term = (1.0 / (k + 1)) * rate
        n0, n1, n2 = part(term, 0), part(term, 1), part(term, 2)
        a, b = of_four(n1, n2, n0, 0.0), of_four(n2, n0, n1, n2)
        rows[k + 1] = term
        quiet = quiet + 1 if size_of(term) <= SMALL else 0
        if quiet == 2:
            return k + 1
        middle = (k + 1) // 2
        sum = others = 0.0 * rates
        if k % 2 == 1:
            sum = sum + rows[FACTOR + middle] * rows[OTHER + middle]
        for j in range(k // 2, 0, -1):
            sum = sum + rows[FACTOR + j] * rows[OTHER + k + 1 - j]
            others = others + rows[FACTOR + k + 1 - j] * rows[OTHER + j]
        rate = rates * ((sum + first * b) + (others + a * other))
        rows[FACTOR + k + 1], rows[OTHER + k + 1] = of_four(n1, n2, n0, part(rate, 3)), b
    return TERMS


@kernel
def add_turn(y, low, room, n0, n1, n2, g0, g1, g2, turn, a, b, c, sign):
    """x ← x ⋆ s(n)* ⋆ exp(½ χ e₂) ⋆ s(n + g) along the axes a, b, c, of which the last two are reversed if sign < 0.

    Arguments: see the head of this file. `turn` is χ.
    """
    cosine, sine = cosine_and_sine(0.25 * turn)
    S, C = 2.0 * sine * cosine, 1.0 - 2.0 * sine * sine
    before, after = math.sqrt(2.0 * (1.0 + n2)), math.sqrt(2.0 * (1.0 + n2 + g2))
    gain, over_before, over_after = 2.0 * g2 / (before + after), 1.0 / before, 1.0 / after
    s0, s1, s2 = 0.5 * before, over_before * n1, -over_before * n0
    e0, e1, e2 = 0.5 * gain, over_after * (g1 - s1 * gain), over_after * (-g0 - s2 * gain)
    f0, f1, f2, f3 = C * e0, C * e1 - S * e2, C * e2 + S * e1, S * e0
    u0 = s0 * f0 + s1 * f1 + s2 * f2 - 2.0 * sine * sine
    room[a] = s0 * f1 - s1 * f0 - s2 * f3 + S * n0
    room[b] = sign * (s0 * f2 - s2 * f0 + s1 * f3 + S * n1)
    room[c] = sign * (s0 * f3 - s1 * f2 + s2 * f1 + S * n2)
    add_rotated(y, low, room, u0, room[0], room[1], room[2])


@kernel
def turn_by_series(y, low, inverse, series, h):
    """The free rotation through h, in as many parts as it takes for the terms to fall to rounding.

    Arguments: see the head of this file. y is made not a number if that takes more than MAX_SERIES parts.
    """
    rows, left = lanes(series), h
    for _ in range(MAX_SERIES):
        c = 0
        for i in range(1, 3):
            if abs(y[4 + i]) > abs(y[4 + c]):
                c = i
        a, b, sign = (c + 1) % 3, (c + 2) % 3, math.copysign(1.0, y[4 + c])
        size = math.sqrt(y[4] * y[4] + y[5] * y[5] + y[6] * y[6])
        if size < TINY:
            return
        unit = 1.0 / size
        n0, n1, n2 = unit * y[4 + a], sign * unit * y[4 + b], sign * unit * y[4 + c]
        d0, d1 = inverse[a] - inverse[c], inverse[b] - inverse[c]
        rate, over = left * size, 1.0 / (1.0 + n2)
        rates = of_four(-rate * d1, rate * d0, rate * (inverse[b] - inverse[a]), -over)
        terms = fill_series(series, n0, n1, n2, rates, over * rate * (d0 * n0 * n0 + d1 * n1 * n1))
        rest = max(size_of(rows[terms]), size_of(rows[terms - 1]))
        fraction = 1.0 if rest <= SMALL else (SMALL / rest) ** (1.0 / (terms - 1))
        gain = 0.0 * rates
        for k in range(terms, 0, -1):
            gain = (gain + rows[k]) * fraction
        g0, g1, g2 = part(gain, 0), part(gain, 1), part(gain, 2)
        turn = fraction * rate * inverse[c] + part(gain, 3)
        add_turn(y, low, series[0], n0, n1, n2, g0, g1, g2, turn, a, b, c, sign)
        add_compensated(y, low, 4 + a, size * g0)
        add_compensated(y, low, 4 + b, sign * size * g1)
        add_compensated(y, low, 4 + c, sign * size * g2)
        if fraction == 1.0:
            return
        left -= fraction * left
    for i in range(7):
        y[i] = math.nan


@kernel
def turn_freely(y, low, inverse, series, h):
    """Advance y and low through the time h [s], of either sign, of a free rotation.

    Arguments: see the head of this file.
    """
    if inverse[0] == inverse[1]:
        turn_symmetric(y, low, inverse, series[0], h)
    else:
        turn_by_series(y, low, inverse, series, h)
    excess = y[0] * y[0] + y[1] * y[1] + y[2] * y[2] + y[3] * y[3] - 1.0
    for i in range(4):
        add_compensated(y, low, i, -0.5 * excess * y[i])
