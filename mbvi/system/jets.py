"""Functions along a motion, of which one more derivative is known: jets of complex numbers.

A *jet* is (f, ḟ, f̈) along a motion. Of variables y with the jets (y, ẏ, ÿ) a function f(y) has

    ḟ = f′ ẏ,     f̈ = f″ ẏ² + f′ ÿ,

operation by operation of its program, as `mbvi.kernels.mechanics.functions` describes. Here y, ẏ and ÿ are moved by i ε δ: then
the imaginary part of f̈ is ε times its derivative along δ, in which f‴ is contained, exact to round-off.

Sources: Squire & Trapp, SIAM Review 40 (1998); Griewank & Walther, Evaluating Derivatives (2008).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mbvi.kernels import layout
from mbvi.kernels.mechanics.functions import OPERATIONS
from mbvi.kernels.mechanics.several import VARIABLE

Array = np.ndarray
Jet = tuple[Array, Array, Array]
"""Three complex arrays of one shape."""


def jet_of_function(arrays: layout.System, index: int, x: Jet) -> Jet:
    """The jet of a function of one variable: a constant, a program or a table.

    Parameters
    ----------
    arrays : System
        The tables that the function is in.
    index : int
        Row of `System.time_functions`.
    x : Jet
    """
    kind, start, length = arrays.time_functions[index].tolist()
    if kind == layout.CONSTANT:
        return _constant(arrays.numbers[start], x)
    if kind == layout.TABLE:
        return _chain(_of_table(arrays.numbers, start, length, x[0]), x)
    return jet_of_program(arrays.operations[start : start + 2 * length], arrays.numbers, [x])


def jet_of_program(operations: Array, numbers: Array, variables: Sequence[Jet]) -> Jet:
    """The jet of a program in postfix form of one or more variables.

    Parameters
    ----------
    operations : (2 L,)
        Pairs of an operation and the index of a number or a variable.
    numbers : (.,)
    variables : sequence of Jet
    """
    stack: list[Jet] = []
    with np.errstate(all="ignore"):  # branches that are not taken
        for code, at in operations.reshape(-1, 2).tolist():
            if code == VARIABLE:
                stack.append(variables[at])
                continue
            name = OPERATIONS[code]
            if name == "push":
                stack.append(_constant(numbers[at], variables[0]))
            elif name == "t":
                stack.append(variables[0])
            elif name in _BINARY:
                y, x = stack.pop(), stack.pop()
                stack.append(_BINARY[name](x, y))
            else:
                stack.append(_chain(_UNARY[name](stack[-1][0]), stack.pop()))
    return stack[0]


def _constant(value: float, like: Jet) -> Jet:
    nothing = np.zeros_like(like[0])
    return nothing + value, nothing, nothing


def _chain(u: Jet, y: Jet) -> Jet:
    """The jet of u∘y, with u, u′ and u″ at y. Where y stands still, u′ and u″ may be infinite."""
    still = (y[1] == 0.0) & (y[2] == 0.0)
    return u[0], np.where(still, 0.0, u[1] * y[1]), np.where(still, 0.0, u[2] * y[1] ** 2 + u[1] * y[2])


def _of_table(numbers: Array, start: int, length: int, x: Array) -> Jet:
    """A table and its derivatives by its variable, by the piece that x is in."""
    breaks = numbers[start : start + length]
    piece = np.searchsorted(breaks, x.real, side="right")
    z = x - breaks[np.maximum(piece - 1, 0)]
    a, b, c, d = (numbers[start + length + 4 * piece + i] for i in range(4))
    return a + z * (b + z * (c + z * d)), b + z * (2.0 * c + z * (3.0 * d)), 2.0 * c + 6.0 * d * z


def _lifted(value: Array, slope: Array, x: Array) -> Array:
    """A function of complex numbers by its value and derivative at their real parts; infinite slopes count where x moves."""
    lifted: Array = value + 1j * np.where(x.imag == 0.0, 0.0, slope * x.imag)
    return lifted


def _product(x: Jet, y: Jet) -> Jet:
    return x[0] * y[0], x[1] * y[0] + x[0] * y[1], x[2] * y[0] + 2.0 * x[1] * y[1] + x[0] * y[2]


def _quotient(x: Jet, y: Jet) -> Jet:
    f = x[0] / y[0]
    rate = (x[1] - f * y[1]) / y[0]
    return f, rate, (x[2] - 2.0 * rate * y[1] - f * y[2]) / y[0]


def _power(x: Jet, y: Jet) -> Jet:
    """x**y: of a constant power at any x where it has one, or as exp(y log x)."""
    (f, df, ddf), exponent = x, y[0].real
    factors = [np.ones_like(exponent), exponent, exponent * (exponent - 1.0)]
    factors.append(factors[2] * (exponent - 2.0))
    values = [np.where(c == 0.0, 0.0, c * f.real ** (exponent - i)) for i, c in enumerate(factors)]
    constant = _chain(tuple(_lifted(values[i], values[i + 1], f) for i in range(3)), x)  # type: ignore[arg-type]
    rate, log = df / f, np.log(f)
    dw = y[1] * log + y[0] * rate
    ddw = y[2] * log + 2.0 * y[1] * rate + y[0] * (ddf / f - rate * rate)
    power = np.exp(y[0] * log)
    is_constant = (y[0].imag == 0.0) & (y[1] == 0.0) & (y[2] == 0.0)
    moving = power, power * dw, power * (ddw + dw * dw)
    return _chosen(is_constant, constant, moving)


def _angle(x: Jet, y: Jet) -> Jet:
    """atan2(x, y), whose derivatives are those of atan(x/y), in any quadrant."""
    square = x[0] * x[0] + y[0] * y[0]
    turn = (x[0].imag * y[0].real - x[0].real * y[0].imag) / square.real
    rate = (x[1] * y[0] - x[0] * y[1]) / square
    bend = (x[2] * y[0] - x[0] * y[2] - 2.0 * rate * (x[0] * x[1] + y[0] * y[1])) / square
    return np.arctan2(x[0].real, y[0].real) + 1j * turn, rate, bend


def _chosen(which: Array, x: Jet, y: Jet) -> Jet:
    a, b, c = (np.where(which, one, other) for one, other in zip(x, y, strict=True))
    return a, b, c


def _arc(x: Array) -> tuple[Array, Array]:
    """Derivatives of asin."""
    slope = np.sqrt(1.0 / ((1.0 - x) * (1.0 + x)))
    return slope, x * slope**3


def _asin(x: Array) -> Jet:
    slope, bend = _arc(x)
    return _lifted(np.arcsin(x.real), slope.real, x), slope, bend


def _acos(x: Array) -> Jet:
    slope, bend = _arc(x)
    return _lifted(np.arccos(x.real), -slope.real, x), -slope, -bend


def _atan(x: Array) -> Jet:
    slope = 1.0 / (1.0 + x * x)
    return _lifted(np.arctan(x.real), slope.real, x), slope, -2.0 * x * slope**2


def _tangent(function: Callable[[Array], Array], sign: float) -> Callable[[Array], Jet]:
    """tan with the sign +1, tanh with −1: the derivative is 1 ± u²."""

    def found(x: Array) -> Jet:
        at = function(x.real)
        u = _lifted(at, 1.0 + sign * at * at, x)
        slope = 1.0 + sign * u * u
        return u, slope, 2.0 * sign * u * slope

    return found


def _sqrt(x: Array) -> Jet:
    root = _lifted(np.sqrt(x.real), 0.5 / np.sqrt(x.real), x)
    return root, 0.5 / root, -0.25 / (root * x)


def _size(x: Array) -> Jet:
    sign = np.where(x.real < 0.0, -1.0, 1.0)
    return sign * x, sign + 0j, 0.0 * x


_UNARY: dict[str, Callable[[Array], Jet]] = {
    "neg": lambda x: (-x, 0.0 * x - 1.0, 0.0 * x),
    "sin": lambda x: (np.sin(x), np.cos(x), -np.sin(x)),
    "cos": lambda x: (np.cos(x), -np.sin(x), -np.cos(x)),
    "tan": _tangent(np.tan, 1.0),
    "asin": _asin,
    "acos": _acos,
    "atan": _atan,
    "sinh": lambda x: (np.sinh(x), np.cosh(x), np.sinh(x)),
    "cosh": lambda x: (np.cosh(x), np.sinh(x), np.cosh(x)),
    "tanh": _tangent(np.tanh, -1.0),
    "exp": lambda x: (np.exp(x),) * 3,
    "log": lambda x: (np.log(x), 1.0 / x, -1.0 / (x * x)),
    "sqrt": _sqrt,
    "abs": _size,
}
_BINARY: dict[str, Callable[[Jet, Jet], Jet]] = {
    "+": lambda x, y: (x[0] + y[0], x[1] + y[1], x[2] + y[2]),
    "-": lambda x, y: (x[0] - y[0], x[1] - y[1], x[2] - y[2]),
    "*": _product,
    "/": _quotient,
    "**": _power,
    "atan2": _angle,
    "min": lambda x, y: _chosen(y[0].real < x[0].real, y, x),
    "max": lambda x, y: _chosen(y[0].real > x[0].real, y, x),
}
