"""Functions of one variable with their first two derivatives: constants, programs in postfix form, tables.

A *jet* is (f, f′, f″) at x. Every operation on jets follows from the chain rule

    (u∘y)′ = u′ y′,     (u∘y)″ = u″ y′² + u′ y″

and from the product rule. abs, min and max have the derivatives of the branch that they take: of the first argument
where both are equal.

Arguments of the kernels:

time_functions    (F, 3)             System.time_functions: kind, start, length
operations        (.,)               System.operations: programs
numbers           (.,)               System.numbers: constants and tables
stack             (STACK_SIZE, 3)    work: jets

Units: x, numbers [any unit]; time_functions, operations [1]; t [s]; y, u, du, ddu, dx, ddx, dy, ddy [any unit].

Source: Griewank & Walther, Evaluating Derivatives (2008) (propagation of derivatives through a program).
"""

import math

from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.layout import CONSTANT, TABLE

# Operation codes of the programs: PUSH takes the next of the program's numbers, t pushes the variable.
OPERATIONS = (
    "push", "t", "+", "-", "*", "/", "**", "neg", "sin", "cos", "tan", "asin", "acos", "atan", "atan2",
    "sinh", "cosh", "tanh", "exp", "log", "sqrt", "abs", "min", "max",
)  # fmt: skip
STACK_SIZE = 64

NODE_ROUNDING = 32 * 2.0**-52  # relative: t₀ + n h, and the times in a model, are each rounded a few times


@kernel
def function_of(time_functions, operations, numbers, stack, index, x):
    """The jet (f, f′, f″) of function `index` at x. Arguments: see the head of this file."""
    kind, start, length = time_functions[index, 0], time_functions[index, 1], time_functions[index, 2]
    if kind == CONSTANT:
        return numbers[start], 0.0, 0.0
    if kind == TABLE:
        return interpolate(numbers, start, length, x)
    return run_program(operations, numbers, stack, start, length, x)


@kernel
def interpolate(numbers, start, length, x):
    """The jet of a table at x.

    A table is a cubic polynomial c_0 + c_1 z + c_2 z² + c_3 z³ between each two of its breaks and beyond its ends. The
    breaks, increasing, stand in numbers[start : start + length], and behind them the four coefficients of each of the
    length + 1 pieces. z is x less the break before x; before the first break, x less that one. At a break the piece
    behind it holds.

    numbers   (.,)    System.numbers
    """
    lower, upper = 0, length  # breaks before `lower` are not beyond x, those from `upper` on are
    while lower < upper:
        middle = (lower + upper) // 2
        if x < numbers[start + middle]:
            upper = middle
        else:
            lower = middle + 1
    z = x - numbers[start + max(lower - 1, 0)]
    at = start + length + 4 * lower
    a, b, c, d = numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]
    return a + z * (b + z * (c + z * d)), b + z * (2.0 * c + z * (3.0 * d)), 2.0 * c + 6.0 * d * z


@kernel
def time_inside(step, t):
    """The time at which a table is read for the time t.

    At an end of a step it is inside the step, by as much as the rounding of such times may be. So a function that jumps
    where two steps meet has its value before the jump in the step that ends there, and the one after the jump in the
    step that begins there.

    step    (2,)    times at which the step begins and ends [s]; nan between steps
    """
    rounding = NODE_ROUNDING * max(abs(step[0]), abs(step[1]))
    inwards = math.copysign(rounding, step[1] - step[0])
    if abs(t - step[0]) <= rounding:
        return t + inwards
    if abs(t - step[1]) <= rounding:
        return t - inwards
    return t


@kernel
def run_program(operations, numbers, stack, start, length, x):
    """The jet of a postfix program at x. Arguments: see the head of this file.

    operations[start : start + 2 length] are pairs (operation, index of a number).
    """
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
    """The jet of an operation on the jets in rows `top` and `top + 1` of the stack.

    Arguments: see the head of this file.
    """
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
    if code == 14:  # its derivatives are those of atan(x/y), in any quadrant
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
    """The value of an operation of one argument, and its first two derivatives with respect to that."""
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
