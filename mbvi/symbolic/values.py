"""Fields of a model as SymPy expressions: numbers exactly as they are written, and parameters by their names.

    "mass*length**2/12"  →  length²·mass/12          0.1  →  1/10          "60 deg"  →  π/3

Directions, rotations about an axis that is none of the frame's, and sizes of shapes are numbers of the resolved model: a
parameter that they depend on is put in by its value, everywhere.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from sympy.utilities.lambdify import implemented_function

from mbvi.model.directions import quaternion
from mbvi.model.expressions import CONSTANTS, names_in, parse
from mbvi.model.fields import Table
from mbvi.model.interpolation import cubics
from mbvi.model.model import Model
from mbvi.model.rotations import rotation_matrix

Array = np.ndarray
MOST_DIGITS = 12  # digits of a number that is taken exactly; one of more is a rounded one
SMALL = 100  # largest denominator of squares that are distinguished from rounded numbers
ROUNDING = 4e-16  # by how much rounded numbers differ from such
T = sympy.Symbol("t", real=True)
"""The time."""
CONSTANT_VALUES = {"pi": sympy.pi, "e": sympy.E, "deg": sympy.pi / 180, "rad": sympy.Integer(1), "rpm": sympy.pi / 30}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(sympy, name) for name in "sin cos tan asin acos atan atan2 sinh cosh tanh exp log sqrt".split()},
    "abs": sympy.Abs,
    "min": sympy.Min,
    "max": sympy.Max,
}
assert CONSTANT_VALUES.keys() == CONSTANTS.keys()


class Values:
    """What stands in the fields of a model, as SymPy expressions.

    Attributes
    ----------
    symbols : dict of str to Symbol
        The parameters that stay symbols, by their names.
    """

    def __init__(self, model: Model, put_in: Iterable[str]) -> None:
        self.model, self.resolved = model, model.resolved()
        fixed = _with_what_they_need(model.parameters, put_in)
        values = self.resolved.parameters
        self.symbols = {name: sympy.Symbol(name, real=True) for name in model.parameters if name not in fixed}
        self._names = {**self.symbols, **{name: exact(float(values[name])) for name in fixed}}

    def scalar(self, value: Any, variable: str = "", at: Any = None) -> Any:
        """A number, an expression of parameters, or a function of a variable at an expression."""
        if isinstance(value, str):
            return _of_tree(parse(value), {**self._names, **({variable: at} if variable else {})})
        return exact(float(value))

    def of_several(self, text: str, variables: Mapping[str, Any]) -> Any:
        """An expression of parameters and of variables by their names."""
        return _of_tree(parse(text), {**self._names, **variables})

    def of_fields(self, text: str, fields: Mapping[str, Any]) -> Any:
        """The law of a force: an expression of its fields and of x."""
        return _of_tree(parse(text), fields)

    def of_time(self, value: Any, resolved: Any, name: str, is_motion: bool = False) -> Any:
        """A function of the time; a table, of which the numbers are those resolved, is a function of that name."""
        if not isinstance(value, Table):
            return self.scalar(value, "t", T)
        return implemented_function(re.sub(r"\W", "_", f"table_{name}"), _interpolation(resolved, is_motion))(T)

    def vector(self, values: Iterable[Any]) -> Any:
        """A vector as a matrix (3, 1)."""
        return sympy.Matrix([self.scalar(value) for value in values])

    def place(self, body: str, value: Any) -> Any:
        """A place on a body, or that of one of its points or frames, (3, 1)."""
        if isinstance(value, str):
            points, frames = self.model.bodies[body].points, self.model.bodies[body].frames
            value = points[value] if value in points else frames[value].position
        return self.vector(value)

    def rotation(self, orientation: Any) -> Any:
        """The rotation matrix (3, 3) of a rotation vector about an axis of the frame, or of any in numbers."""
        values = list(self.vector(orientation))
        turns = [i for i, value in enumerate(values) if value != 0]
        if len(values) == 3 and len(turns) <= 1:
            axis = turns[0] if turns else 0
            return rotation_about(sympy.Matrix([int(i == axis) for i in range(3)]), values[axis])
        numbers = [float(value) for value in values]
        return sympy.Matrix(3, 3, lambda i, j: exact(float(rotation_matrix(quaternion(numbers))[i, j])))


def rotation_about(axis: Any, angle: Any) -> Any:
    """The rotation matrix (3, 3) about a unit vector."""
    c, s = sympy.cos(angle), sympy.sin(angle)
    return c * sympy.eye(3) + s * cross_matrix(axis) + (1 - c) * axis * axis.T


def cross_matrix(a: Any) -> Any:
    """The matrix (3, 3) of a × b as a product with b."""
    x, y, z = a
    return sympy.Matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def exact(value: float) -> Any:
    """The simplest exact number that rounds to a float: of few digits, or the root of a fraction; or else the float.

    Examples
    --------
    >>> exact(0.1), exact(2.0), exact(-0.7071067811865476), exact(1 / 3)
    (1/10, 2, -sqrt(2)/2, 1/3)
    """
    digits = repr(value).split("e")[0].replace(".", "").lstrip("-").strip("0")
    if len(digits) <= MOST_DIGITS:
        return sympy.Rational(repr(value))
    square = Fraction(value * value).limit_denominator(SMALL)
    if abs(value * value - float(square)) <= ROUNDING * float(square):
        return (1 if value > 0 else -1) * sympy.sqrt(sympy.Rational(square.numerator, square.denominator))
    return sympy.Float(value)


def number(value: Any) -> Any:
    """An expression that it is already, or an exact number."""
    return value if isinstance(value, sympy.Expr) else exact(float(value))


def _with_what_they_need(parameters: Mapping[str, Any], names: Iterable[str]) -> set[str]:
    """Names of parameters, and of those that their values are computed from."""
    found: set[str] = set()
    waiting = [name for name in names if name in parameters]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += names_in(parameters[name]) & parameters.keys()
    return found


def _of_tree(node: ast.AST, names: Mapping[str, Any]) -> Any:
    """The expression of a syntax tree that the model was resolved with, and which has therefore no other parts."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return sympy.Rational(str(value))
        case ast.Name(id=name):
            return names[name] if name in names else CONSTANT_VALUES[name]
        case ast.Attribute(value=unit):  # a unit per second
            return _of_tree(unit, names)
        case ast.UnaryOp(op=sign, operand=operand):
            value = _of_tree(operand, names)
            return -value if isinstance(sign, ast.USub) else value
        case ast.BinOp(left=left, op=operator, right=right):
            a, b = _of_tree(left, names), _of_tree(right, names)
            match operator:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case ast.Div():
                    return a / b
                case ast.Pow():
                    return a**b
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return FUNCTIONS[name](*(_of_tree(each, names) for each in arguments))
    raise AssertionError(ast.dump(node))


def _interpolation(table: Table, is_motion: bool) -> Callable[[Any], Any]:
    """The cubics of a table of numbers as a function of times."""
    from scipy.interpolate import PPoly

    breaks, coefficients = cubics(table, goes_on=is_motion)
    inside = PPoly(coefficients[1:].T[::-1], [*breaks, breaks[-1] + 1.0], extrapolate=True)
    before = coefficients[0]
    return lambda t: np.where(
        np.less(t, breaks[0]), np.polynomial.polynomial.polyval(np.subtract(t, breaks[0]), before), inside(t)
    )
