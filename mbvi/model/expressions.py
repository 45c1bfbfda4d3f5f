"""Numbers as text: "pi/3", "60 deg", "9.81/(2*pi)**2", names of parameters, and functions of one variable.

A text is parsed into Python's syntax tree, of which only arithmetic is accepted, and compiled into a postfix program,
(2.0, "t", "*", "sin") for "sin(2*t)". Constants are folded, so a text without t compiles into one number: its value.
All arithmetic is that of floats. Nothing is ever executed as Python.

The words of every message of this layer are here too: "expected …, found …; remedy".
"""

from __future__ import annotations

import ast
import difflib
import functools
import graphlib
import keyword
import math
import numbers
import operator
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from mbvi.errors import ModelError
from mbvi.recording import apply, is_finite, known, plain

Program = tuple[float | str, ...]
"""Numbers, "t" for the only variable or names of several, and operations, each after its operands."""
Where = tuple[str | int, ...]

CONSTANTS = {"pi": math.pi, "e": math.e, "deg": math.pi / 180, "rad": 1.0, "rpm": math.pi / 30}
OPERATORS: dict[str, Callable[..., float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "neg": operator.neg,
}
UNARY: dict[str, Callable[..., float]] = {
    name: functools.partial(apply, name) for name in "sin cos tan asin acos atan sinh cosh tanh exp log sqrt".split()
} | {"abs": abs}
BINARY: dict[str, Callable[..., float]] = {"atan2": functools.partial(apply, "atan2"), "min": min, "max": max}
FUNCTIONS: dict[str, Callable[..., float]] = UNARY | BINARY
_OPERATIONS = OPERATORS | FUNCTIONS
RESERVED = frozenset(CONSTANTS) | frozenset(FUNCTIONS) | {"t", "s"}

MAX_LENGTH = 1000
MAX_DEPTH = 200
MAX_STACK = 64
"""The most numbers that a program may hold at once: the size of the stack that kernels run it on."""

MARK = "ξ"
"""How names of several variables begin; those of parameters do not."""

_SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "**",
}
_NOT_ARITHMETIC = {
    ast.Attribute: "an attribute",
    ast.Subscript: "an index",
    ast.Lambda: "a function definition",
    ast.Constant: "a value that is not a number",
    ast.JoinedStr: "text",
    ast.Compare: "a comparison",
    ast.IfExp: "a condition",
    ast.BoolOp: "a logical operation",
    ast.Tuple: "a list",
    ast.List: "a list",
    ast.Dict: "a mapping",
}
_UNIT = re.compile(r"(?<=[\w.)])\s+(deg|rad|rpm)\b(\s*/\s*s\b(\s*\*\*\s*2(?![\w.]))?)?")
PER_TIME = ("", "per_s", "per_s2")
"""How the syntax tree names the orders of rates: "deg/s" is the attribute per_s of the name deg."""
_UNKNOWN_UNIT = re.compile(r"(?<=[\d.)])\s+([A-Za-z]\w*)")
_NOT_DECIMAL = re.compile(r"(?<![\w.])(0[xXoObB]\w*|\.?\d[\w.]*_[\w.]*)")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)


class Problem(NamedTuple):
    """What is wrong, and where: the keys that lead there, ("joints", "crank", "axis")."""

    where: Where
    text: str

    def __str__(self) -> str:
        return f"{dotted(self.where)}: {self.text}" if self.where else self.text


def dotted(where: Where) -> str:
    """Keys as messages show them: joints.crank.axis."""
    return ".".join(str(key) if str(key).isprintable() and len(str(key)) < 60 else show(key) for key in where)


def placed(problems: Iterable[Problem], *where: str | int) -> Iterator[Problem]:
    """The problems of what is at `where`."""
    return (Problem((*where, *problem.where), problem.text) for problem in problems)


def wrong(expected: str, found: str, remedy: str = "") -> str:
    """The words of a message: expected …, found …; remedy."""
    return f"expected {expected}, found {found}" + (f"; {remedy}" if remedy else "")


def show(value: object, width: int = 60) -> str:
    """A value as a message shows it: on one line, lists in square brackets, cut at `width` characters."""
    if value is None:
        return "nothing"
    text = _shown(value)
    return text if len(text) <= width else text[: width - 1] + "…"


def _shown_key(key: object) -> str:
    return key if isinstance(key, str) and key.isprintable() else _shown(key)


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(_shown(item) for item in value[:20])}]"
    if isinstance(value, Mapping):
        return "a mapping with the keys " + ", ".join(map(_shown_key, value)) if value else "an empty mapping"
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.6g}"
    try:
        return " ".join(repr(value).split())
    except Exception:  # an integer too long to be written, or an object that cannot say what it is
        return f"a value of type {type(value).__name__}"


def nearest(name: str, known: Iterable[str]) -> str:
    """The remedy for an unknown name: the nearest known one, or a list of those known."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return "known: " + (", ".join(names if len(names) <= 15 else [*names[:12], "…"]) if names else "none")


def as_number(text: str) -> float | None:
    """The number that a text spells out in decimal digits, or None: for "pi", "nan", "0x10", and "1e999", too large."""
    number = float(text) if _NUMBER.fullmatch(text) else math.inf
    return number if math.isfinite(number) else None


def evaluate(text: str | float, parameters: Mapping[str, float]) -> float:
    """The value of an expression.

    Parameters
    ----------
    text : str or float
        A number or an expression of numbers, parameters, pi, e, + - * / **, parentheses and the functions sin cos tan
        asin acos atan atan2 sinh cosh tanh exp log sqrt abs min max. A unit deg, rad, rpm, deg/s, rad/s, deg/s**2 or
        rad/s**2 may follow a number, a name or a parenthesis after a blank; it multiplies what stands before it. A
        power of it needs parentheses, as (60 deg)**2.
    parameters : mapping of str to float
        Values of the names that the text may use.

    Returns
    -------
    float
        A finite number, angles in rad.

    Raises
    ------
    ModelError
        If the text is no such expression, or has no finite value.

    Examples
    --------
    >>> evaluate("3 * sqrt(length) / 4", {"length": 4.0})
    1.5
    """
    return _evaluated(text, _checked(text, parameters))


def _evaluated(text: str | float, parameters: Mapping[str, float]) -> float:
    """The value of an expression with parameters that were checked."""
    (value,) = _compile(text, parameters, variable="")
    return plain(value)


def postfix(text: str | float, parameters: Mapping[str, float], variable: Literal["t", "s", "x"] = "t") -> Program:
    """The postfix program of a function of the time t [s], of the parameter s of a curve, or of x in the law of a force.

    Parameters
    ----------
    text : str or float
        A number or an expression as in `evaluate`, which may also use the variable.
    parameters : mapping of str to float
        Values of the names that the text may use.
    variable : str
        Name of the variable.

    Returns
    -------
    tuple of float or str
        Numbers, "t" for the variable whatever its name, the operators "+", "-", "*", "/", "**", "neg", and names of
        functions, each after its operands.

    Raises
    ------
    ModelError
        If the text is no such expression, is nested too deeply, or a part without the variable has no finite value.

    Examples
    --------
    >>> postfix("f0 * sin(2*pi*t)", {"f0": 3.0})
    (3.0, 6.283185307179586, 't', '*', 'sin', '*')
    """
    values = _checked(text, parameters)
    if not isinstance(variable, str) or variable not in ("t", "s", "x"):
        raise ModelError(f"variable: {wrong('t, s or x', show(variable))}")
    program = _compile(text, values, variable)
    return _checked_size(program, variable)


def postfix_of_several(text: str, parameters: Mapping[str, float], variables: tuple[str, ...]) -> Program:
    """The postfix program of a function of several variables, t or others whose names begin with `MARK`; see `postfix`."""
    scope = _Scope(text, _checked(text, parameters), "", variables)
    return _checked_size(_program(parse(text), scope, 0), "several variables")


def _checked_size(program: Program, variable: str) -> Program:
    """A program that fits onto the stack of the kernels."""
    size = _stack_size(program)
    if size > MAX_STACK:
        remedy = "nest fewer parentheses, or use parameters for its parts"
        expected = f"an expression of {variable} that keeps at most {MAX_STACK} numbers at once"
        raise ModelError(wrong(expected, str(size), remedy))
    return program


def _checked(text: object, parameters: object) -> dict[str, float]:
    """The values of parameters; what is neither a number nor a text, and parameters without names or values, are refused."""
    _check_text(text)
    if not isinstance(parameters, Mapping):
        raise ModelError(f"parameters: {wrong('a mapping of names to numbers', show(parameters))}")
    for name, value in parameters.items():
        if not isinstance(name, str) or not is_number(value):
            raise ModelError(f"parameters: {wrong('a finite number for a name', f'{show(value)} for {show(name)}')}")
    return {name: plain(value) for name, value in parameters.items()}


def _check_text(text: object) -> None:
    if not isinstance(text, str) and not is_number(text):
        raise ModelError(wrong("a number or an expression", show(text)))


def is_number(value: object) -> bool:
    """Whether it is a real number that has a finite floating-point value; truth values are none."""
    try:
        return isinstance(value, numbers.Real) and not isinstance(value, bool) and is_finite(plain(value))
    except OverflowError:
        return False


def _stack_size(program: Program) -> int:
    """The most numbers that a program holds at once."""
    size = most = 0
    for item in program:
        if isinstance(item, float) or item == "t" or item.startswith(MARK):
            size += 1
        elif item not in UNARY and item != "neg":
            size -= 1
        most = max(most, size)
    return most


def value_at(program: Program, x: float) -> float:
    """The value of a postfix program where its variable is x; not a number where it has none."""
    stack: list[float] = []
    try:
        for item in program:
            if isinstance(item, float) or item == "t":
                stack.append(x if item == "t" else plain(item))
            else:
                count = 1 if item in UNARY or item == "neg" else 2
                stack[-count:] = [plain(_OPERATIONS[item](*stack[-count:]))]
    except (ArithmeticError, ValueError, TypeError):  # TypeError: of a power that is complex
        return math.nan
    return stack[0]


def infix(program: Program, variable: str = "t") -> str:
    """A postfix program as text again, with the name of its variable and a parenthesis around every operation."""
    stack: list[str] = []
    for item in program:
        if isinstance(item, float):
            stack.append(repr(item) if item >= 0 else f"({item!r})")
        elif item == "t":
            stack.append(variable)
        elif item == "neg":
            stack.append(f"(-{stack.pop()})")
        elif item in UNARY:
            stack.append(f"{item}({stack.pop()})")
        else:
            right, left = stack.pop(), stack.pop()
            stack.append(f"{item}({left}, {right})" if item in BINARY else f"({left} {item} {right})")
    return stack[0]


@functools.lru_cache(maxsize=1024)
def names_in(text: str | float) -> frozenset[str]:
    """The names that an expression uses, without constants and functions."""
    if not isinstance(text, str):
        return frozenset()
    return frozenset(node.id for node in ast.walk(parse(text)) if isinstance(node, ast.Name)) - RESERVED


def check_parameter_name(name: str) -> str:
    """The name itself, if a parameter can have it; ModelError otherwise."""
    if name in RESERVED:
        raise ModelError(wrong("a name of its own", f"{name!r}, which is predefined", "rename the parameter"))
    if not name.isidentifier() or keyword.iskeyword(name) or not name.isascii():
        raise ModelError(wrong("a name of letters, digits and _", show(name), "rename the parameter"))
    return name


def resolve_parameters(parameters: Mapping[str, str | float]) -> tuple[dict[str, float], list[Problem]]:
    """The values of parameters that may refer to each other in any order, and what is wrong with them."""
    problems: list[Problem] = []
    uses: dict[str, frozenset[str]] = {}
    for name, text in parameters.items():
        try:
            uses[name] = names_in(text) & parameters.keys()
        except ModelError as error:
            problems.append(Problem(("parameters", name), str(error)))
    try:
        order = list(graphlib.TopologicalSorter(uses).static_order())
    except graphlib.CycleError as error:
        cycle = error.args[1][::-1]
        text = wrong("parameters without a cycle", " -> ".join(cycle), "give one of them a number")
        return {}, [*problems, Problem(("parameters", cycle[0]), text)]
    values: dict[str, float] = {}
    for name in order:
        try:
            _check_text(parameters[name])
            values[name] = _evaluated(parameters[name], values)
        except ModelError as error:
            if name in uses and uses[name] <= values.keys():
                problems.append(Problem(("parameters", name), str(error)))
    return values, problems


class _Scope(NamedTuple):
    text: str
    parameters: Mapping[str, float]
    variable: str
    """The name of the variable; empty for a constant expression."""
    variables: tuple[str, ...] = ()
    """The names of several variables."""


def _compile(text: str | float, parameters: Mapping[str, float], variable: str) -> Program:
    if not isinstance(text, str):
        return (_finite(plain(text), repr(text)),)
    return _program(parse(text), _Scope(text, parameters, variable), 0)


@functools.lru_cache(maxsize=1024)
def parse(text: str) -> ast.expr:
    """The syntax tree of an expression, of which only arithmetic is meant; units are factors."""
    if len(text) > MAX_LENGTH:
        raise ModelError(wrong(f"at most {MAX_LENGTH} characters", f"{len(text)}", "use parameters for its parts"))
    text = " ".join(text.split())
    _check_notation(text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of text that is refused below anyway
            return ast.parse(_UNIT.sub(_factor, text), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        if odd := _UNKNOWN_UNIT.search(_UNIT.sub("", text)):
            expected = "an operator or a unit of angle (deg, rad, rpm, also with /s) after a number"
            remedy = "write * for a product; other quantities are numbers alone, in m, kg, s and N"
            raise ModelError(wrong(expected, f"{odd[1]!r} in {show(text)}", remedy)) from None
        remedy = "write for example 'pi/3', '2*length' or '60 deg' (units: deg, rad, rpm, also with /s)"
        raise ModelError(wrong("an arithmetic expression", show(text), remedy)) from None


def _factor(unit: re.Match[str]) -> str:
    """A unit as a factor: *deg, *deg.per_s, *deg.per_s2."""
    order = PER_TIME[(unit[2] is not None) + (unit[3] is not None)]
    return f"*{unit[1]}.{order}" if order else f"*{unit[1]}"


def _check_notation(text: str) -> None:
    """Units have no powers, and numbers only decimal digits, though Python would read more."""
    for match in _UNIT.finditer(text):
        if text[match.end() :].lstrip().startswith("**"):
            found, remedy = f"a power of it in {show(text)}", "write for example 60 deg/s**2, or (60 deg)**2"
            raise ModelError(wrong(f"+ - * / or nothing after the unit {match[0].strip()!r}", found, remedy))
    if odd := _NOT_DECIMAL.search(text):
        raise ModelError(wrong("a number in decimal digits", f"{odd[0]!r} in {show(text)}", "write for example 1000"))


def _program(node: ast.expr, scope: _Scope, depth: int) -> Program:
    """The program of a node of the syntax tree; anything but arithmetic is an error."""
    if depth > MAX_DEPTH:
        raise ModelError(wrong(f"at most {MAX_DEPTH} nested operations", "more", "use parameters for its parts"))
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return (_number(value, scope.text),)
        case ast.Name(id=scope.variable):
            return ("t",)
        case ast.Name(id=name) if name in scope.variables:
            return (name,)
        case ast.Name(id=name):
            return (_lookup(name, scope),)
        case ast.Attribute(value=ast.Name(id="deg" | "rad" | "rpm" as unit), attr=order) if order in PER_TIME:
            return (CONSTANTS[unit],)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _program(operand, scope, depth + 1)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _fold("neg", [_program(operand, scope, depth + 1)], scope)
        case ast.BinOp(op=op, left=left, right=right) if type(op) in _SYMBOLS:
            sides = [_program(side, scope, depth + 1) for side in (left, right)]
            return _fold(_SYMBOLS[type(op)], sides, scope)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            return _call(name, [_program(arg, scope, depth + 1) for arg in args], scope)
    raise ModelError(_not_arithmetic(node, scope.text))


def _call(name: str, args: list[Program], scope: _Scope) -> Program:
    is_nary = name in ("min", "max")
    count = 1 if name in UNARY else 2
    if len(args) < count or (len(args) > count and not is_nary):
        expected = f"{count} argument{'s' if count > 1 else ''}{' or more' if is_nary else ''} of {name}"
        raise ModelError(wrong(expected, f"{len(args)} in {show(scope.text)}"))
    if count == 1:
        return _fold(name, args, scope)
    return functools.reduce(lambda left, right: _fold(name, [left, right], scope), args)


def _fold(name: str, operands: list[Program], scope: _Scope) -> Program:
    """The operands' programs followed by the operation, or its value where all operands are numbers."""
    numbers = [item for program in operands if len(program) == 1 for item in program if isinstance(item, float)]
    if len(numbers) < len(operands):
        return (*(item for program in operands for item in program), name)
    return (_value(name, numbers, scope.text),)


def _value(name: str, numbers: list[float], text: str) -> float:
    where = f"in {show(text)}"
    try:
        value = _OPERATIONS[name](*numbers)
    except ZeroDivisionError:
        raise ModelError(wrong("a finite number", f"a division by zero {where}", "change the divisor")) from None
    except OverflowError:
        raise ModelError(wrong("a finite number", f"an overflow {where}", "use smaller numbers")) from None
    except ValueError:
        value = math.nan
    if isinstance(value, complex) or math.isnan(known(value)):
        operation = f"{name}({', '.join(f'{number:g}' for number in numbers)})"
        remedy = "keep its arguments where it is defined"
        raise ModelError(wrong("a real number", f"{operation} {where}", remedy))
    return _finite(value, text)


def _number(value: float, text: str) -> float:
    try:
        return _finite(float(value), text)
    except OverflowError:
        return _finite(math.inf, text)


def _finite(value: float, text: str) -> float:
    if not is_finite(value):
        raise ModelError(wrong("a finite number", f"an overflow in {show(text)}", "use smaller numbers"))
    return value


def _lookup(name: str, scope: _Scope) -> float:
    if name in scope.parameters:
        return scope.parameters[name]
    if name in CONSTANTS:
        return CONSTANTS[name]
    found = f"{show(name)} in {show(scope.text)}"
    if name == "t" and scope.variable == "s":
        remedy = "a curve depends on its parameter s alone, not on the time t"
    elif name == "t":
        remedy = "only values of forces and constraints may depend on the time t"
    elif name == "s":
        remedy = "only curves may depend on a parameter s"
    elif name in FUNCTIONS:
        remedy = f"write {name}(…)"
    else:
        remedy = nearest(name, [*filter(None, [scope.variable]), *scope.parameters, *CONSTANTS])
    raise ModelError(wrong("a parameter or a constant", found, remedy))


def _not_arithmetic(node: ast.expr, text: str) -> str:
    where = f"in {show(text)}"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id in FUNCTIONS:
            return wrong(f"plain arguments of {node.func.id}", f"a named one {where}")
        remedy = nearest(node.func.id, FUNCTIONS)
        return wrong("a known function", f"{show(node.func.id)} {where}", remedy)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitXor):
        return wrong("arithmetic", f"'^' {where}", "write ** for a power")
    what = "a call of a computed function" if isinstance(node, ast.Call) else _NOT_ARITHMETIC.get(type(node))
    remedy = "use only numbers, parameters, + - * / ** ( ) and functions such as sin"
    return wrong("arithmetic", f"{what or 'something else'} {where}", remedy)
