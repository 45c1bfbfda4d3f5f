"""Expressions of coordinates, rates, places and the time: derivatives against SymPy, and values along runs."""

import itertools

import numpy as np
import pytest
import sympy

import mbvi
from mbvi.model.quantities import Quantity, measure
from mbvi.system.measures import Evaluator
from tests.folders import MODELS

EXPRESSIONS = (
    "a*sin(q('u'))*v('u') - q('w.1', 'x')**3/(2 + t**2)",
    "atan2(q('u'), x('b.tool/1')) + exp(-y('b')*z('b')) * sqrt(1 + q('u')**2)",
    "max(q('u'), q('w.1', 'x'), t) + abs(v('u'))*min(q('u'), 2) + log(3 + t*v('u'))",
    "q('u')**q('w.1', 'x') * tanh(v('u')/x('b.tool/1'))",
    "2*a",
)


def as_sympy(text, found):
    """The same with symbols for quantities."""
    symbols = [sympy.Symbol(f"x{i}", real=True) for i in range(len(found.quantities))]
    names = {"a": sympy.Float(1.5), "t": symbols[0], "max": sympy.Max, "min": sympy.Min, "abs": sympy.Abs}
    calls = {kind: lambda *args, kind=kind: symbols[found.quantities.index(Quantity(kind, *args))] for kind in "qvxyz"}
    return eval(text, {**vars(sympy), **names, **calls}), symbols


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_value_gradient_and_second_derivatives(text):
    found = measure(text, {"a": 1.5})
    function, symbols = as_sympy(text, found)
    x = np.random.default_rng(1).uniform(0.5, 1.5, len(symbols))
    at = dict(zip(symbols, map(sympy.Float, x), strict=True))
    value, gradient, second = Evaluator(found).derivatives(x)
    assert value == pytest.approx(float(sympy.N(sympy.sympify(function).subs(at))), rel=1e-14)
    slopes = [sympy.diff(function, each) for each in symbols]
    np.testing.assert_allclose(gradient, [float(sympy.N(each.subs(at))) for each in slopes], rtol=1e-13, atol=1e-14)
    curves = [[float(sympy.N(sympy.diff(slope, each).subs(at))) for each in symbols] for slope in slopes]
    np.testing.assert_allclose(second, curves, rtol=1e-12, atol=1e-13)
    assert Evaluator(found).values([x, x]).tolist() == [value, value]


def test_values_along_a_run():
    run = mbvi.simulate(mbvi.load(MODELS / "spring_damper.yaml"), "midpoint", step=0.01, duration=0.1)
    names, body = run.system.coordinate_names, next(iter(run.system.model.bodies))
    joint, short = names[0].rsplit(".", 1)
    found = run.evaluate(f"q('{joint}', \"{short}\") * v('{joint}', '{short}') + t*z('{body}')")
    np.testing.assert_allclose(
        found, run.q[:, 0] * run.v[:, 0] + run.t * run.pose(body)[0][:, 2], rtol=1e-14, atol=1e-15
    )
    faults = {
        "q(lift)": r"expression: expected a name in quotes, found 'q\(lift\)' in 'q\(lift\)'; write for example q\('elbow'\)",
        "q('lift')": r"expression: q\('lift'\): expected a joint, found 'lift'; ",
        f"q('{joint}', 'qx')": "expected one of its coordinates, found 'qx'",
        "z('lift')": r"body: expected the name of a body, or BODY\.FRAME, found 'lift'; ",
        f"z('{body}x')": f"found '{body}x'; did you mean '{body}'",
        "__import__('os')": "expression: expected a known function, found '__import__' in ",
        "ξ1": "expression: expected numbers, names, operators and quantities, found 'ξ' in 'ξ1'",
        "q('a').real": "an attribute in",
    }
    for text, message in faults.items():
        with pytest.raises(mbvi.ModelError, match=message):
            run.evaluate(text)


def test_names_may_have_any_characters():
    names = "60 deg", "a(b)", "0x10", "x('y')"[:3] + "y)", "arm/1 . ξ", 'it"s'
    for name, kind in itertools.product(names, "qvxyz"):
        quote = "'" if '"' in name else '"'
        assert measure(f"2*{kind}({quote}{name}{quote})", {}).quantities[1:] == (Quantity(kind, name),)
