"""Units of angle in expressions: which one a text's value has, and whether it may.

Only angles and their rates have units that are written, and a value keeps its unit under signs, sums and factors that are
numbers: "30 deg", "-2*pi rad", "rest/2 + 5 deg" with the parameter rest: "10 deg". A rate times t is of the next lower
order: "90 deg/s * t" is an angle. Whatever else a text multiplies or divides may have any unit, as "radius * 30 deg", which
is an arc's length.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from mbvi.errors import ModelError
from mbvi.model.expressions import PER_TIME, parse, show, wrong

ANGULAR = ("rad", "rad/s", "rad/s²", "rad/s³")
_NAMED = {"deg": 0, "rad": 0, "rpm": 1}
_OWN = ("t", "pi", "e")
_PURE = ""
_TIME = "t"

Unit = str | None
"""One of ANGULAR, "" of a number, "t" of the time, or None if it may be any."""


def check_unit(text: object, units: Mapping[str, str], expected: str | None) -> None:
    """Refuse an expression whose value has a unit of angle, other than the expected unit.

    Parameters
    ----------
    text : object
        A number or an expression as in `expressions.postfix`; anything else has no unit.
    units : mapping of str to str
        Units of angle of the parameters that have one.
    expected : str or None
        The unit that the value should have, empty if it has none; None for any.

    Raises
    ------
    ModelError
        If the value has another unit, or parts of it have units that conflict.

    Examples
    --------
    >>> check_unit("tilt + 30 deg", {"tilt": "rad"}, "rad")
    >>> check_unit("30 deg", {}, "kg")
    Traceback (most recent call last):
    mbvi.errors.ModelError: expected a value in kg, found '30 deg', which is in rad; a number alone is in kg
    """
    found = unit_of(text, units)
    if found in ANGULAR and expected is not None and found != expected:
        value, remedy = (f"a value in {expected}", f"is in {expected}") if expected else ("no unit", "has none")
        raise ModelError(wrong(value, f"{show(text)}, which is in {found}", f"a number alone {remedy}"))


def unit_of(text: object, units: Mapping[str, str]) -> Unit:
    """The unit of an expression's value; arguments and errors as in `check_unit`."""
    return _unit(parse(text), units, text) if isinstance(text, str) else None


def _unit(node: ast.expr, units: Mapping[str, str], text: str) -> Unit:
    """The unit of a node of the syntax tree, which `expressions` has found to be arithmetic."""

    def of(*nodes: ast.expr) -> list[Unit]:
        return [_unit(each, units, text) for each in nodes]

    match node:
        case ast.Constant() | ast.Name(id="pi" | "e"):
            return _PURE
        case ast.Name(id="t"):
            return _TIME
        case ast.Name(id=name):
            return ANGULAR[_NAMED[name]] if name in _NAMED else units.get(name)
        case ast.Attribute(value=ast.Name(id=name), attr=power):
            return ANGULAR[_NAMED[name] + PER_TIME.index(power)]
        case ast.UnaryOp(operand=operand):
            return of(operand)[0]
        case ast.BinOp(op=ast.Add() | ast.Sub(), left=left, right=right):
            return _common(of(left, right), text)
        case ast.BinOp(op=ast.Mult(), left=ast.Name(id=name), right=right) if _is_unit(right) and name not in _OWN:
            if name in units:
                found = f"{name!r} in {show(text)}, which is in {units[name]} already"
                raise ModelError(wrong("a number before a unit", found, "remove one of the units"))
            return of(right)[0]
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            return _product(of(left, right))
        case ast.BinOp(op=ast.Div(), left=left, right=right):
            numerator, denominator = of(left, right)
            return numerator if denominator == _PURE else None
        case ast.Call(func=ast.Name(id=name), args=args):
            return _of_function(name, of(*args), text)
    return None


def _is_unit(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) or (isinstance(node, ast.Name) and node.id in _NAMED)


def _common(found: Iterable[Unit], text: str) -> Unit:
    """The unit of the terms of a sum."""
    found = set(found)
    angular = [unit for unit in ANGULAR if unit in found]
    if len(angular) > 1:
        remedy = "give all terms one unit"
        raise ModelError(wrong("terms of one unit", f"{' and '.join(angular)} in {show(text)}", remedy))
    if angular:
        return angular[0]
    return None if None in found else _TIME if _TIME in found else _PURE


def _product(factors: list[Unit]) -> Unit:
    if _PURE in factors:
        return factors[1 - factors.index(_PURE)]
    rates = [unit for unit in factors if unit in ANGULAR[1:]]
    return ANGULAR[ANGULAR.index(rates[0]) - 1] if rates and _TIME in factors else None


def _of_function(name: str, found: list[Unit], text: str) -> Unit:
    match name:
        case "abs" | "min" | "max" | "atan2":
            unit = _common(found, text)
            return None if name == "atan2" else unit
        case "sqrt" | "asin" | "acos" | "atan":
            return None
        case "sin" | "cos" | "tan" if found[0] in ANGULAR[1:]:
            raise ModelError(wrong(f"an angle in {name}(…)", f"{found[0]} in {show(text)}", "multiply it by a time"))
    return _PURE
