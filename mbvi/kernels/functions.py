"""Functions of one variable with their first two derivatives: constants, programs in postfix form, smooth tables.

A *jet* is (f, f′, f″) at x. Every operation on jets follows from the chain rule

    (u∘y)′ = u′ y′,     (u∘y)″ = u″ y′² + u′ y″

and from the product rule. abs, min and max have the derivatives of the branch that they take: of the first argument
where both are equal.
"""

import math

from mbvi.kernels.layout import CONSTANT, TABLE, kernel

# Operation codes of the programs: PUSH takes the next of the program's numbers, t pushes the variable.
OPERATIONS = (
    "push", "t", "+", "-", "*", "/", "**", "neg", "sin", "cos", "tan", "asin", "acos", "atan", "atan2",
    "sinh", "cosh", "tanh", "exp", "log", "sqrt", "abs", "min", "max",
)  # fmt: skip
STACK_SIZE = 64

SMOOTHNESS = 0.810747  # Mutze's p: least L² norm of the second derivative of the blending function
EDGE = 2e-3  # nearer than this to 0 or 1, the blending function differs from them by less than 1e-175


@kernel
def function_of(time_functions, operations, numbers, stack, index, x):
    """The jet (f, f′, f″) of function `index` at x.

    stack    (STACK_SIZE, 3)    work: jets
    """
    kind, start, length = time_functions[index, 0], time_functions[index, 1], time_functions[index, 2]
    if kind == CONSTANT:
        return numbers[start], 0.0, 0.0
    if kind == TABLE:
        return interpolate(numbers, start, length, x)
    return run_program(operations, numbers, stack, start, length, x)


@kernel
def interpolate(numbers, start, length, x):
    """C^∞ interpolation of a table by a partition of unity.

    Local interpolants f_i (parabolas through three neighbours, lines at the ends) are blended on each interval:
    f = (1 − r) f_i + r f_{i+1}.  Arguments stand in numbers[start : start + length], values behind.

    Source: Mutze, The direct midpoint method as a quantum mechanical integrator, section 2.
    """
    i = 0
    while i < length - 2 and x >= numbers[start + i + 1]:
        i += 1
    left, right = numbers[start + i], numbers[start + i + 1]
    r, dr, ddr = blend((x - left) / (right - left))
    dr /= right - left
    ddr /= (right - left) * (right - left)
    f, df, ddf = local_interpolant(numbers, start, length, i, x)
    g, dg, ddg = local_interpolant(numbers, start, length, i + 1, x)
    return (
        (1.0 - r) * f + r * g,
        (1.0 - r) * df + r * dg + dr * (g - f),
        (1.0 - r) * ddf + r * ddg + 2.0 * dr * (dg - df) + ddr * (g - f),
    )


@kernel
def blend(z):
    """The smooth step r(z) = 1/(1 + w), w = exp φ, φ = p (1/z + 1/(z − 1)), from 0 at 0 to 1 at 1, and r′, r″.

    r′ = −φ′ r (1 − r),  r″ = (φ′² (1 − 2r) − φ″) r (1 − r),  where 1 − r = w r.
    """
    if z <= EDGE:
        return 0.0, 0.0, 0.0
    if z >= 1.0 - EDGE:
        return 1.0, 0.0, 0.0
    a, b = 1.0 / z, 1.0 / (z - 1.0)
    w = math.exp(SMOOTHNESS * (a + b))
    r = 1.0 / (1.0 + w)
    dphi, ddphi = -SMOOTHNESS * (a * a + b * b), 2.0 * SMOOTHNESS * (a * a * a + b * b * b)
    product = w * r * r
    return r, -dphi * product, (dphi * dphi * (1.0 - 2.0 * r) - ddphi) * product


@kernel
def local_interpolant(numbers, start, length, i, x):
    """The parabola through points i − 1, i, i + 1 of a table, or at its ends the line through the last two: its jet."""
    lower = max(i - 1, 0)
    upper = min(i + 1, length - 1)
    f, df, ddf = 0.0, 0.0, 0.0
    for j in range(lower, upper + 1):
        l, dl, ddl = 1.0, 0.0, 0.0
        for k in range(lower, upper + 1):
            if k != j:
                width = numbers[start + j] - numbers[start + k]
                factor = (x - numbers[start + k]) / width
                ddl = ddl * factor + 2.0 * dl / width
                dl = dl * factor + l / width
                l *= factor
        value = numbers[start + length + j]
        f += l * value
        df += dl * value
        ddf += ddl * value
    return f, df, ddf


@kernel
def run_program(operations, numbers, stack, start, length, x):
    """Run a postfix program: operations[start : start + 2 length] are pairs (operation, index of a number)."""
    top = -1
    for i in range(start, start + 2 * length, 2):
        code = operations[i]
        if code == 0:
            top += 1
            f, df, ddf = numbers[operations[i + 1]], 0.0, 0.0
        elif code == 1:
            top += 1
            f, df, ddf = x, 1.0, 0.0
        elif code in (2, 3, 4, 5, 6, 14, 22, 23):
            top -= 1
            f, df, ddf = binary(code, stack, top)
        else:
            u, du, ddu = unary(code, stack[top, 0])
            f, df, ddf = chain(u, du, ddu, stack[top, 1], stack[top, 2])
        stack[top, 0], stack[top, 1], stack[top, 2] = f, df, ddf
    return stack[0, 0], stack[0, 1], stack[0, 2]


@kernel
def chain(u, du, ddu, dy, ddy):
    """The jet of u∘y. Where y does not move, u may have infinite derivatives, as sqrt(max(t, 0)) for t < 0."""
    if dy == 0.0 and ddy == 0.0:
        return u, 0.0, 0.0
    return u, du * dy, ddu * dy * dy + du * ddy


@kernel
def binary(code, stack, top):
    """The jet of one of the operations of two arguments, the jets at the top of the stack."""
    x, dx, ddx = stack[top, 0], stack[top, 1], stack[top, 2]
    y, dy, ddy = stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2]
    if code == 2:
        return x + y, dx + dy, ddx + ddy
    if code == 3:
        return x - y, dx - dy, ddx - ddy
    if code == 4:
        return x * y, dx * y + x * dy, ddx * y + 2.0 * dx * dy + x * ddy
    if code == 5:
        f = x / y
        df = (dx - f * dy) / y
        return f, df, (ddx - 2.0 * df * dy - f * ddy) / y
    if code == 6:
        return power(x, dx, ddx, y, dy, ddy)
    if code == 14:  # of x/y, whatever the quadrant
        square = x * x + y * y
        df = (dx * y - x * dy) / square
        return math.atan2(x, y), df, (ddx * y - x * ddy - 2.0 * df * (x * dx + y * dy)) / square
    if (code == 22 and y < x) or (code == 23 and y > x):
        return y, dy, ddy
    return x, dx, ddx


@kernel
def power(x, dx, ddx, y, dy, ddy):
    """The jet of x**y: of a constant power at any x where it has one, or as exp(y log x)."""
    f = x**y
    if dy == 0.0 and ddy == 0.0:
        du = 0.0 if y == 0.0 else y * x ** (y - 1.0)
        ddu = 0.0 if y == 0.0 or y == 1.0 else y * (y - 1.0) * x ** (y - 2.0)
        return chain(f, du, ddu, dx, ddx)
    rate, log = dx / x, math.log(x) if x > 0.0 else math.nan
    dw = dy * log + y * rate
    ddw = ddy * log + 2.0 * dy * rate + y * (ddx / x - rate * rate)
    return f, f * dw, f * (ddw + dw * dw)


@kernel
def unary(code, x):
    """One of the operations of one argument, and its first two derivatives by it."""
    if code == 7:
        return -x, -1.0, 0.0
    if code == 8 or code == 9:
        s, c = math.sin(x), math.cos(x)
        return (s, c, -s) if code == 8 else (c, -s, -c)
    if code == 10:
        u = math.tan(x)
        du = 1.0 + u * u
        return u, du, 2.0 * u * du
    if code == 11 or code == 12:
        du = math.sqrt(1.0 / ((1.0 - x) * (1.0 + x)))
        ddu = x * du * du * du
        return (math.asin(x), du, ddu) if code == 11 else (math.acos(x), -du, -ddu)
    if code == 13:
        du = 1.0 / (1.0 + x * x)
        return math.atan(x), du, -2.0 * x * du * du
    if code == 15 or code == 16:
        s, c = math.sinh(x), math.cosh(x)
        return (s, c, s) if code == 15 else (c, s, c)
    if code == 17:
        u = math.tanh(x)
        du = 1.0 - u * u
        return u, du, -2.0 * u * du
    if code == 18:
        u = math.exp(x)
        return u, u, u
    if code == 19:
        return math.log(x), 1.0 / x, -1.0 / (x * x)
    if code == 20:
        du = 0.5 * math.sqrt(1.0 / x)
        return math.sqrt(x), du, -0.5 * du / x
    return abs(x), -1.0 if x < 0.0 else 1.0, 0.0
