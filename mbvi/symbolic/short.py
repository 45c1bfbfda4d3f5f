"""Expressions made short: products of sines and cosines as sines and cosines of sums, collected, where that is shorter."""

from __future__ import annotations

from math import prod
from typing import Any

import sympy
from sympy.simplify.fu import TR8

MOST_TERMS, LONGEST_PRODUCT = 100, 200
"""Terms of a sum that expressions are made into, and operations of what is made a product; longer ones stay as they are."""


def short(expression: Any) -> Any:
    """The shortest of some equal forms of an expression."""
    plain = sympy.sympify(expression)
    if plain.is_number or _terms(plain) > MOST_TERMS:
        return plain
    expanded = sympy.expand(plain)
    forms = [plain, expanded, factored(expanded)]
    if expanded.has(sympy.sin, sympy.cos):
        sums = sympy.expand(TR8(expanded))
        forms += [sums, factored(sums)]
    if expanded.count_ops() <= LONGEST_PRODUCT:
        forms.append(sympy.factor(expanded))
    return min(reversed(forms), key=lambda form: form.count_ops())


def factored(expression: Any) -> Any:
    """An expression with what all terms have in common outside, and terms of the same sines and cosines together."""
    waves = sorted(expression.atoms(sympy.sin, sympy.cos), key=sympy.default_sort_key)
    collected = sympy.collect(expression, waves, func=sympy.factor_terms) if waves else expression
    return sympy.factor_terms(collected)


def _terms(expression: Any) -> int:
    """The number of terms of an expression, multiplied out, with those of what its functions are of."""
    inside = [_terms(each) for each in expression.args]
    if expression.is_Mul:
        return prod(inside)
    if expression.is_Pow and expression.exp.is_Integer and expression.exp > 1:
        return inside[0] ** int(expression.exp)
    return sum(inside) if expression.is_Add else max(1, *inside, 1)
