"""`Equations` as text, as LaTeX and as a page: coordinates as q₁, q₂, …, which a table names, numbers with six digits.

Formulas of the page are MathML, which browsers draw themselves: the page needs no other file and no network.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from typing import Any

import sympy
from sympy.printing.mathml import MathMLPresentationPrinter

DIGITS = 6
MOST_OPERATIONS = 1500  # operations of an expression that a page shows; longer ones are in LaTeX and SymPy
SIMPLE = 12  # largest denominator of a number that stays a fraction
STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { font-weight: 600; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { text-align: left; padding: 0.2rem 1rem 0.2rem 0; border-bottom: 1px solid #8884; }
math { font: 1.1em "STIX Two Math", "Cambria Math", "Latin Modern Math", "DejaVu Math TeX Gyre", math; }
.formula { overflow-x: auto; padding: 0.4rem 0; }
.note { color: #777; }
"""


def text(equations: Any) -> str:
    """All parts as text, for terminals."""
    names = zip(equations.coordinate_names, equations.coordinate_units, strict=True)
    lines = [f"q_{i}  {name} [{unit}]" for i, (name, unit) in enumerate(names, 1)]
    lines += [f"{symbol} = {value:.6g}" for symbol, value in equations.parameters.items()]
    for title, formulas in groupby(_formulas(equations), key=lambda each: each[0]):
        lines += ["", title]
        for _, left, _, expression in formulas:
            lines += _lines(left.replace("{", "").replace("}", ""), expression)
    return "\n".join(lines)


def _lines(left: str, expression: Any) -> list[str]:
    """A formula for a terminal; a long matrix, which is symmetric, entry by entry."""
    if (size := _operations(expression)) <= MOST_OPERATIONS:
        return [sympy.pretty(sympy.Eq(sympy.Symbol(left), expression, evaluate=False), wrap_line=False)]
    if not isinstance(expression, sympy.MatrixBase):
        return [f"{sympy.pretty(sympy.Symbol(left))} = ({_too_long(size)})"]
    entries = [(i, j) for i in range(expression.rows) for j in range(i, expression.cols)]
    comma = "," if expression.cols > 9 else ""
    found = [_lines(f"{left[0]}_{i + 1}{comma}{j + 1}", expression[i, j]) for i, j in entries]
    return ["The matrix is symmetric.", *(line for lines in found for line in lines)]


def _too_long(size: int) -> str:
    return f"{size} operations, too many to be read: take them from SymPy or LaTeX"


def latex(equations: Any) -> str:
    """All parts as LaTeX, an equation each, in the order of the page."""
    names = {symbol: rf"\mathit{{{_spaced(str(symbol))}}}" for symbol in equations.parameters if len(str(symbol)) > 1}
    return "\n\n".join(
        f"% {title}\n\\[ {left} = {sympy.latex(expression, symbol_names=names, mul_symbol='dot')} \\]"
        for title, left, _, expression in _formulas(equations)
    )


def _spaced(name: str) -> str:
    """A name in LaTeX, in which an underscore begins an index."""
    return name.replace("_", r"\_")


def page(equations: Any) -> str:
    """All parts as an HTML page."""
    lines = [f"<h1>{escape(equations.name)}</h1>", "<h2>Coordinates</h2>", _coordinates(equations)]
    if equations.parameters:
        lines += ["<h2>Parameters</h2>", _parameters(equations)]
    for title, formulas in groupby(_formulas(equations), key=lambda each: each[0]):
        lines.append(f"<h2>{escape(title)}</h2>")
        lines += [_formula(left, expression) for _, _, left, expression in formulas]
    lines.append(f'<p class="note">{_laws(equations)}</p>')
    head = f'<meta charset="utf-8"><title>{escape(equations.name)}: equations</title><style>{STYLE}</style>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n' + "\n".join(lines) + "\n</body></html>\n"


def shown(equations: Any, expression: Any) -> Any:
    """An expression with the symbols of the page, and numbers with six digits."""
    return _rounded(expression.xreplace(_symbols(equations)))


def _symbols(equations: Any) -> dict[Any, Any]:
    """The symbols of the page for coordinates and rates."""
    own = {q: sympy.Symbol(f"q_{i}") for i, q in enumerate(equations.q, 1)}
    return own | {v: sympy.Symbol(f"v_{i}") for i, v in enumerate(equations.v, 1)}


def _rounded(expression: Any) -> Any:
    """An expression with decimals for fractions that are not simple."""

    def decimal(number: Any) -> Any:
        return sympy.Float(number, DIGITS) if number.is_Float or number.q > SIMPLE else number

    return expression.replace(lambda each: each.is_Float or (each.is_Rational and not each.is_Integer), decimal)


def _formulas(equations: Any) -> Iterator[tuple[str, str, str, Any]]:
    """Title of the part, left side in LaTeX and in MathML, and the expression or matrix, as they are shown."""
    if equations.mass_matrix is not None:
        yield "Mass matrix", "M(q)", "<mi>M</mi>", shown(equations, equations.mass_matrix)
        for i, momentum in enumerate(equations.momenta, 1):
            yield "Momenta p = ∂L/∂v", f"p_{{{i}}}", _indexed("p", i), shown(equations, momentum)
    if equations.potential is not None:
        yield "Potential", "V(q)", "<mi>V</mi>", shown(equations, equations.potential)
    if equations.forces is not None and any(equations.forces):
        for i, force in enumerate(equations.forces, 1):
            yield "Generalized forces without a potential", f"F_{{{i}}}", _indexed("F", i), shown(equations, force)
    for i, (name, g) in enumerate((equations.constraints or {}).items(), 1):
        label = f"{_indexed('g', i)}<mspace width='0.5em'/><mtext>({escape(name)})</mtext>"
        yield "Constraints g = 0", f"g_{{{i}}}", label, shown(equations, g)
    for i, (name, held) in enumerate((equations.velocity_constraints or {}).items(), 1):
        row = f"<msub><mrow><mo>(</mo><mi>A</mi><mi>v</mi><mo>)</mo></mrow><mn>{i}</mn></msub>"
        label = f"{row}<mspace width='0.5em'/><mtext>({escape(name)})</mtext>"
        yield "Constraints on velocities A v = 0", f"(A v)_{{{i}}}", label, shown(equations, held)


def _indexed(letter: str, i: int) -> str:
    return f"<msub><mi>{letter}</mi><mn>{i}</mn></msub>"


def _formula(left: str, expression: Any) -> str:
    """A line of the page; a long matrix, which is symmetric, entry by entry."""
    if isinstance(expression, sympy.MatrixBase) and _operations(expression) > MOST_OPERATIONS:
        entries = [
            _formula(f"<msub>{left}<mrow><mn>{i + 1}</mn><mo>,</mo><mn>{j + 1}</mn></mrow></msub>", expression[i, j])
            for i in range(expression.rows)
            for j in range(i, expression.cols)
        ]
        return '<p class="note">The matrix is symmetric.</p>' + "\n".join(entries)
    if (size := _operations(expression)) > MOST_OPERATIONS:
        return f'<div class="formula"><math>{left}</math> <span class="note">{_too_long(size)}</span></div>'
    right = MathMLPresentationPrinter({"mul_symbol": "dot"}).doprint(expression)
    return f'<div class="formula"><math display="block"><mrow>{left}<mo>=</mo>{right}</mrow></math></div>'


def _operations(expression: Any) -> int:
    """The size of an expression or a matrix."""
    entries = expression if isinstance(expression, sympy.MatrixBase) else [expression]
    return sum(int(each.count_ops()) for each in entries)


def _coordinates(equations: Any) -> str:
    """A table of the coordinates."""
    rows = zip(range(1, len(equations.q) + 1), equations.coordinate_names, equations.coordinate_units, strict=True)
    head = ("", "rate", "coordinate", "unit")
    return _table(
        head,
        (
            (f"<math>{_indexed('q', i)}</math>", f"<math>{_indexed('v', i)}</math>", escape(name), escape(unit))
            for i, name, unit in rows
        ),
    )


def _parameters(equations: Any) -> str:
    """A table of the parameters."""
    printer = MathMLPresentationPrinter()
    rows = (
        (f"<math>{printer.doprint(symbol)}</math>", f"{value:.6g}") for symbol, value in equations.parameters.items()
    )
    return _table(("parameter", "value"), rows)


def _table(head: Sequence[str], rows: Any) -> str:
    top = "".join(f"<th>{cell}</th>" for cell in head)
    lines = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{top}</tr>{lines}</table>"


def _laws(equations: Any) -> str:
    """What the parts are parts of."""
    places, rates = equations.constraints, equations.velocity_constraints
    law = "d/dt (∂L/∂v) − ∂L/∂q = F" + (" + Gᵀλ" if places else "") + (" + Aᵀμ" if rates else "")
    law += (", g = 0, G = ∂g/∂q" if places else "") + (", A v = 0" if rates else "")
    return f"L = ½ vᵀ M v − V, {law}. Numbers are shown with six digits."
