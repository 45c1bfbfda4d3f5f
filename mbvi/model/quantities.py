"""Expressions of quantities of a mechanism: coordinates, their rates, places of bodies and frames, and the time.

    q('elbow')   q('base', 'x')      a coordinate of a joint [rad or m]
    v('elbow')   v('base', 'x')      its rate [rad/s or m/s]
    x('arm.tool')  y(…)  z(…)        place of the origin of a body, or of a frame as BODY.FRAME, along an axis of the world [m]
    t                                the time [s]

Names stand in quotes, since they may have any characters. All else is as in `expressions.evaluate`. Nothing is ever executed as
Python: quantities are put aside, by what stands in the quotes, before the rest is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

from mbvi.errors import ModelError
from mbvi.model.expressions import MARK, Program, names_in, postfix_of_several, show, wrong

_TEXT = r"""'[^']*'|"[^"]*\""""
_QUANTITY = re.compile(rf"\b(?P<kind>[qvxyz])\(\s*(?P<name>{_TEXT})\s*(?:,\s*(?P<coordinate>{_TEXT})\s*)?\)")
_NAME = re.compile(r"\b[A-Za-z_]\w*\b(?!\s*\()")
_BARE = re.compile(r"\b([qvxyz])\s*\([^)]*\)?")


class Quantity(NamedTuple):
    """A quantity.

    kind         t, q, v, x, y or z
    name         of its joint, or of its body or frame
    coordinate   short name of the coordinate; None for the joint's only one
    """

    kind: Literal["t", "q", "v", "x", "y", "z"]
    name: str = ""
    coordinate: str | None = None


class Measure(NamedTuple):
    """An expression of quantities.

    program      postfix program, in which t is the time, and ξ with its number another quantity
    quantities   the time first, then the others as they come
    """

    program: Program
    quantities: tuple[Quantity, ...]


def measure(text: str, parameters: Mapping[str, float]) -> Measure:
    """The program of an expression of quantities.

    Parameters
    ----------
    text : str
        The expression.
    parameters : mapping of str to float
        Values of the names that the text may use.

    Raises
    ------
    ModelError
        If the text is no such expression, is nested too deeply, or a part without quantities has no finite value.

    Examples
    --------
    >>> found = measure("2*q('elbow')**2 + k*z('arm.tool')", {"k": 3.0})
    >>> found.program
    (2.0, 'ξ1', 2.0, '**', '*', 3.0, 'ξ2', '*', '+')
    >>> [each.name for each in found.quantities]
    ['', 'elbow', 'arm.tool']
    """
    if not isinstance(text, str):
        raise ModelError(wrong("an expression of quantities", show(text), "write for example q('elbow')"))
    rest, found = put_aside(text)
    if MARK in _QUANTITY.sub("", text):
        raise ModelError(wrong("numbers, names, operators and quantities", f"{MARK!r} in {show(text)}"))
    if bare := _BARE.search(rest):
        example = f"{bare[1]}('arm.tool')" if bare[1] in "xyz" else f"{bare[1]}('elbow')"
        raise ModelError(wrong("a name in quotes", f"{bare[0]!r} in {show(text)}", f"write for example {example}"))
    variables = ("t", *(f"{MARK}{i}" for i in range(1, len(found))))
    return Measure(postfix_of_several(rest, parameters, variables), found)


def put_aside(text: str) -> tuple[str, tuple[Quantity, ...]]:
    """A text with ξ and a number for each quantity, and the quantities, the time first.

    Examples
    --------
    >>> put_aside("k*q('hinge')")[0]
    'k*ξ1'
    """
    found = [Quantity("t")]

    def marked(match: re.Match[str]) -> str:
        kind, name, coordinate = match["kind"], match["name"], match["coordinate"]
        quantity = Quantity(kind, name[1:-1], coordinate and coordinate[1:-1])  # type: ignore[arg-type]
        if quantity not in found:
            found.append(quantity)
        return f"{MARK}{found.index(quantity)}"

    return _QUANTITY.sub(marked, text), tuple(found)


def names_in_measure(text: str) -> frozenset[str]:
    """The names that an expression of quantities uses, without those of quantities, constants and functions.

    Examples
    --------
    >>> sorted(names_in_measure("k*q('hinge') + length*sin(pi*t)"))
    ['k', 'length']
    """
    return names_in(_QUANTITY.sub("0", text)) - {"t"}


def with_prefix(text: str, prefix: str, parameters: Mapping[str, float]) -> str:
    """An expression with a prefix before the names of its quantities, and numbers for parameters.

    Examples
    --------
    >>> with_prefix("k*q('hinge') + t", "left/", {"k": 2.0})
    "(2.0)*q('left/hinge') + t"
    """

    def number(match: re.Match[str]) -> str:
        return f"({float(parameters[match[0]])!r})" if match[0] in parameters else match[0]

    def renamed(match: re.Match[str]) -> str:
        name, rest = match["name"], match[0][match.end("name") - match.start() :]
        return f"{match['kind']}({name[0]}{prefix}{name[1:]}{rest}"

    ends = [0, *(end for match in _QUANTITY.finditer(text) for end in match.span()), len(text)]
    between = [_NAME.sub(number, text[a:b]) for a, b in zip(ends[::2], ends[1::2], strict=True)]
    found = [renamed(match) for match in _QUANTITY.finditer(text)]
    return "".join(part for pair in zip(between, [*found, ""], strict=True) for part in pair)
