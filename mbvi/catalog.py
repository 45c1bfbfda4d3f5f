"""Every scheme by its name: the Galerkin schemes, and those that the files of `mbvi/steppers` announce.

A file announces its schemes as `SCHEMES`. Functions that make methods with constants, which a name may give as in
direct_midpoint(g=0.5), it announces as `FAMILIES`.
"""

from __future__ import annotations

import ast
import difflib
import inspect
from collections.abc import Callable
from typing import Any

from mbvi.errors import ModelError
from mbvi.schemes.galerkin import TABLEAUX
from mbvi.schemes.method import Method
from mbvi.schemes.runge_kutta import ButcherTableau
from mbvi.schemes.tableau import Tableau
from mbvi.steppers import announced
from mbvi.steppers.runge_kutta import method_of

METHODS: dict[str, Method] = {each.name: each for each in announced("SCHEMES")}
"""All schemes that are no Galerkin schemes."""
SCHEMES: dict[str, Tableau | Method] = {**TABLEAUX, **METHODS}
"""All schemes by name."""
FAMILIES: dict[str, Callable[..., Method]] = {each.__name__: each for each in announced("FAMILIES")}
"""Methods with constants, which their names may give."""


def find_scheme(name: str | Tableau | ButcherTableau | Method) -> Tableau | Method:
    """A scheme by name, which may give the constants of a method that has some, or one of your own.

    Raises
    ------
    ModelError
        If there is no scheme of that name, where the nearest is suggested, its constants are none of the method's, or a method
        has other numbers or another stepper than that of its name.

    Examples
    --------
    >>> find_scheme("simpson").order
    4
    >>> find_scheme("direct_midpoint(g=0.5)").numbers
    (0.5, -1.0)
    """
    if isinstance(name, Tableau):
        return name
    if isinstance(name, ButcherTableau):
        return _own(name)
    if isinstance(name, Method):
        return _known(name)
    if isinstance(name, str) and name in SCHEMES:
        return SCHEMES[name]
    if str(name).partition("(")[0] in FAMILIES:
        return _member(str(name))
    near = difflib.get_close_matches(str(name), SCHEMES, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(SCHEMES)}."
    raise ModelError(f"scheme: expected the name of a scheme, found {name!r}; {hint}")


def _own(tableau: ButcherTableau) -> Method:
    """The method of a tableau of your own, which has a name of its own."""
    method = method_of(tableau)
    if _is_taken(method.name):
        raise ModelError(f"scheme: expected a name of its own, found that of {method.name!r}; choose another")
    return method


def _is_taken(name: str) -> bool:
    """Whether it names a scheme of mbvi, also with constants."""
    return name in SCHEMES or name.partition("(")[0] in FAMILIES


def _known(method: Method) -> Method:
    """A method, if it is that of its name: what a stepper reads besides stands in its numbers."""
    if method.runner == "runge_kutta" and not _is_taken(str(method.name)):
        return _own(ButcherTableau.of(method.numbers, method.name))
    known = find_scheme(str(method.name))
    if not isinstance(known, Method) or (method.runner, method.numbers) != (known.runner, known.numbers):
        raise ModelError(f"scheme: expected the method {known.name} as mbvi has it, found {method!r}; give its name")
    return method


def _member(name: str) -> Method:
    """The method whose name gives constants, as direct_midpoint(g=0.5)."""
    family = name.partition("(")[0]
    known = inspect.signature(FAMILIES[family]).parameters
    constants = _constants(name)
    if constants is None or not constants.keys() <= known.keys():
        raise ModelError(
            f"scheme: expected {family} with constants by their names ({', '.join(known)}), found {name!r}"
        )
    return FAMILIES[family](**constants)


def _constants(name: str) -> dict[str, Any] | None:
    """The constants that a name gives, each once and by its own name; None if it is no such name."""
    try:
        call = ast.parse(name, mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            return None
        constants = {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return constants if len(constants) == len(call.keywords) else None
