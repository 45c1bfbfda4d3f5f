"""Cosine and sine of an angle, of numbers and of lanes alike: arithmetic alone, without a branch.

With k = round(2 x/π) and r = x − k π/2, |r| ≤ π/4, held as a number and a rest, polynomials in r give cos r and sin r
within one rounding of 1; x is k quarters of a turn further, whose cosine and sine, 0 and ±1, are exact polynomials in k
− 4 round(k/4). Beyond 1e6 rad the error is that of a rounding of x.

Units: x, d [rad]; c, s [1].

Source: the coefficients and the splitting of π/2 are those of fdlibm (k_sin.c, k_cos.c, e_rem_pio2.c).
"""

from mbvi.kernels.compiler.decorators import copied_kernel, kernel

ROUND = 1.5 * 2.0**52  # added to a number and subtracted again, it rounds that to an integer
QUARTERS = 0.6366197723675814  # 2/π
QUARTER_HIGH, QUARTER_LOW = 1.5707963267341256, 6.077100506506192e-11  # the first 33 bits of π/2, and the rest of it
S1, S2, S3 = -0.16666666666666632, 0.00833333333332249, -0.0001984126982985795
S4, S5, S6 = 2.7557313707070068e-06, -2.5050760253406863e-08, 1.58969099521155e-10
C1, C2, C3 = 0.0416666666666666, -0.001388888888887411, 2.480158728947673e-05
C4, C5, C6 = -2.7557314351390663e-07, 2.087572321298175e-09, -1.1359647557788195e-11


@kernel
def cosine_and_sine(x):
    """(cos x, sin x), x in rad."""
    k = (x * QUARTERS + ROUND) - ROUND
    far = x - k * QUARTER_HIGH
    w = k * QUARTER_LOW
    r = far - w
    rest = (far - r) - w
    z = r * r
    v = z * r
    high = S2 + z * (S3 + z * (S4 + z * (S5 + z * S6)))
    s = r - ((z * (0.5 * rest - v * high) - rest) - v * S1)
    high = z * (C1 + z * (C2 + z * (C3 + z * (C4 + z * (C5 + z * C6)))))
    half = 0.5 * z
    near = 1.0 - half
    c = near + (((1.0 - near) - half) + (z * high - r * rest))
    m = k - 4.0 * ((k * 0.25 + ROUND) - ROUND)
    square = m * m
    u, w = (1.0 - square) * (6.0 - square) * (1.0 / 6.0), m * (4.0 - square) * (1.0 / 3.0)
    return c * u - s * w, s * u + c * w


NEAR = 0.125  # angle [rad] up to which `turned` is accurate to a rounding
# Columns of a link's angle: a known angle (infinity, which is far from all, where none is known), cosine and sine of the link's
# angle when that was known, how far the link has turned since, and its cosine and sine now.
KNOWN, KNOWN_COSINE, KNOWN_SINE, TURN, COSINE, SINE = 0, 1, 2, 3, 4, 5
ANGLE_WIDTH = 6


@copied_kernel
def turned(c, s, d):
    """(cos(x + d), sin(x + d)) for cos x = c, sin x = s and |d| ≤ NEAR, to half a rounding more than those of c and s.

    By the Taylor polynomials of sin d and 1 − cos d, whose next terms are d¹¹/11! and d¹²/12!.
    """
    z = d * d
    zz = z * z
    sine = d + (d * z) * ((-1.0 / 6.0 + z * (1.0 / 120.0)) + zz * (-1.0 / 5040.0 + z * (1.0 / 362880.0)))
    versine = 0.5 * z - zz * ((1.0 / 24.0 - z * (1.0 / 720.0)) + zz * (1.0 / 40320.0 - z * (1.0 / 3628800.0)))
    return c - (c * versine + s * sine), s + (c * sine - s * versine)
