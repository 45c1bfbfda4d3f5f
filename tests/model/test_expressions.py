"""Expressions: values, postfix programs, and everything that is not arithmetic."""

import math
import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mbvi.errors import ModelError
from mbvi.kernels.mechanics.functions import STACK_SIZE
from mbvi.model.expressions import (
    BINARY,
    MAX_STACK,
    OPERATORS,
    UNARY,
    evaluate,
    infix,
    postfix,
    resolve_parameters,
    value_at,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (3, 3.0),
        ("pi/3", math.pi / 3),
        ("60 deg", math.pi / 3),
        ("-(30 + 15) deg", -math.pi / 4),
        ("2*pi rad/s", 2 * math.pi),
        ("30 deg/s", math.pi / 6),
        ("30 deg / s**2", math.pi / 6),
        ("10 rpm", math.pi / 3),
        ("90 deg + 1 rad", math.pi / 2 + 1),
        ("(180 deg)**2", math.pi**2),
        ("2 deg*90/(4 rad)", math.pi / 4),
        ("a deg", 2 * math.pi / 180),
        ("9.81/(2*pi)**2", 9.81 / (2 * math.pi) ** 2),
        ("2**3**2", 512.0),
        ("-2**2", -4.0),
        ("7 - 2 - 1", 4.0),
        ("+a*b", 6.0),
        ("max(a, b, 1) - min(a, b)", 1.0),
        ("atan2(1, -1)", 3 * math.pi / 4),
        ("abs(-3) + sqrt(16) + exp(0) + log(e)", 9.0),
        ("1e-3", 1e-3),
        ("1 +\n 2", 3.0),
    ],
)
def test_values(text, value):
    assert evaluate(text, {"a": 2.0, "b": 3.0}) == pytest.approx(value, rel=1e-15)


ARITHMETIC_ONLY = "use only numbers, parameters, + - * / ** ( ) and functions such as sin"
AFTER_A_NUMBER = "expected an operator or a unit of angle (deg, rad, rpm, also with /s) after a number"
SI = "write * for a product; other quantities are numbers alone, in m, kg, s and N"
SYNTAX = "write for example 'pi/3', '2*length' or '60 deg' (units: deg, rad, rpm, also with /s)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1/0", "expected a finite number, found a division by zero in '1/0'; change the divisor"),
        ("1/(a-2)", "expected a finite number, found a division by zero in '1/(a-2)'; change the divisor"),
        ("0**-1", "expected a finite number, found a division by zero in '0**-1'; change the divisor"),
        ("9**9**9", "expected a finite number, found an overflow in '9**9**9'; use smaller numbers"),
        ("1e308*10", "expected a finite number, found an overflow in '1e308*10'; use smaller numbers"),
        ("1e400", "expected a finite number, found an overflow in '1e400'; use smaller numbers"),
        (
            "sqrt(1-a)",
            "expected a real number, found sqrt(-1) in 'sqrt(1-a)'; keep its arguments where it is defined",
        ),
        (
            "(-8)**(1/3)",
            "expected a real number, found **(-8, 0.333333) in '(-8)**(1/3)'; keep its arguments where it is defined",
        ),
        (
            "lenght*2",
            "expected a parameter or a constant, found 'lenght' in 'lenght*2'; did you mean 'length'?",
        ),
        (
            "nan",
            "expected a parameter or a constant, found 'nan' in 'nan'; known: a, length, pi, e, deg, rad, rpm",
        ),
        (
            "2*t",
            "expected a parameter or a constant, found 't' in '2*t'; only values of forces and constraints may depend on "
            "the time t",
        ),
        (
            "2*s",
            "expected a parameter or a constant, found 's' in '2*s'; only curves may depend on a parameter s",
        ),
        ("2*sin", "expected a parameter or a constant, found 'sin' in '2*sin'; write sin(…)"),
        ("sine(1)", "expected a known function, found 'sine' in 'sine(1)'; did you mean 'sin'?"),
        (
            "__import__('os').system('true')",
            f"expected arithmetic, found a call of a computed function in \"__import__('os').system('true')\"; "
            f"{ARITHMETIC_ONLY}",
        ),
        (
            "open('x')",
            "expected a known function, found 'open' in \"open('x')\"; known: sin, cos, tan, asin, acos, atan, sinh, "
            "cosh, tanh, exp, log, sqrt, …",
        ),
        ("import os", f"expected an arithmetic expression, found 'import os'; {SYNTAX}"),
        ("a.real", f"expected arithmetic, found an attribute in 'a.real'; {ARITHMETIC_ONLY}"),
        ("a[0]", f"expected arithmetic, found an index in 'a[0]'; {ARITHMETIC_ONLY}"),
        ("lambda: 1", f"expected arithmetic, found a function definition in 'lambda: 1'; {ARITHMETIC_ONLY}"),
        ("[a][0]", f"expected arithmetic, found an index in '[a][0]'; {ARITHMETIC_ONLY}"),
        ("'text'", f"expected arithmetic, found a value that is not a number in \"'text'\"; {ARITHMETIC_ONLY}"),
        ("True", f"expected arithmetic, found a value that is not a number in 'True'; {ARITHMETIC_ONLY}"),
        ("1j", f"expected arithmetic, found a value that is not a number in '1j'; {ARITHMETIC_ONLY}"),
        ("1 if a else 2", f"expected arithmetic, found a condition in '1 if a else 2'; {ARITHMETIC_ONLY}"),
        ("2^3", "expected arithmetic, found '^' in '2^3'; write ** for a power"),
        ("7 // 2", f"expected arithmetic, found something else in '7 // 2'; {ARITHMETIC_ONLY}"),
        ("sin(x=1)", "expected plain arguments of sin, found a named one in 'sin(x=1)'"),
        ("sin(1, 2)", "expected 1 argument of sin, found 2 in 'sin(1, 2)'"),
        ("max(1)", "expected 2 arguments or more of max, found 1 in 'max(1)'"),
        ("0x10", "expected a number in decimal digits, found '0x10' in '0x10'; write for example 1000"),
        ("a + 1_0.5", "expected a number in decimal digits, found '1_0.5' in 'a + 1_0.5'; write for example 1000"),
        (
            "60 deg/s**3",
            "expected + - * / or nothing after the unit 'deg/s', found a power of it in '60 deg/s**3'; write for "
            "example 60 deg/s**2, or (60 deg)**2",
        ),
        (
            "60 deg ** 2",
            "expected + - * / or nothing after the unit 'deg', found a power of it in '60 deg ** 2'; write for "
            "example 60 deg/s**2, or (60 deg)**2",
        ),
        ("60deg", f"expected an arithmetic expression, found '60deg'; {SYNTAX}"),
        ("5 kg", f"{AFTER_A_NUMBER}, found 'kg' in '5 kg'; {SI}"),
        ("30 deg + 2 pi", f"{AFTER_A_NUMBER}, found 'pi' in '30 deg + 2 pi'; {SI}"),
        ("", f"expected an arithmetic expression, found ''; {SYNTAX}"),
        ("\0", f"expected an arithmetic expression, found '\\x00'; {SYNTAX}"),
        ("1+" * 500 + "1", "expected at most 1000 characters, found 1001; use parameters for its parts"),
        ("-" * 900 + "1", "expected at most 200 nested operations, found more; use parameters for its parts"),
    ],
)
def test_messages(text, message):
    with pytest.raises(ModelError) as caught:
        evaluate(text, {"a": 2.0, "length": 3.0})
    assert str(caught.value) == message


@pytest.mark.parametrize("text", ["(" * 400 + "1" + ")" * 400, "[" * 500, "(" * 900, "sin(" * 240 + "1" + ")" * 240])
def test_deep_nesting_is_an_error_and_not_a_crash(text):
    with pytest.raises(ModelError):
        evaluate(text, {})


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("t", ("t",)),
        ("2*3", (6.0,)),
        ("sin(2*t)", (2.0, "t", "*", "sin")),
        ("-t**2", ("t", 2.0, "**", "neg")),
        ("max(t, 1, a)", ("t", 1.0, "max", 2.0, "max")),
        ("atan2(t, 60 deg / 1 deg)", ("t", 60.0 * (math.pi / 180) / 1.0 * (math.pi / 180), "atan2")),
        ("sin(90 deg/s * t)", (90 * (math.pi / 180), "t", "*", "sin")),
        (1, (1.0,)),
    ],
)
def test_postfix(text, program):
    assert postfix(text, {"a": 2.0}) == program


def test_postfix_of_another_variable():
    program = postfix("a*cos(s)", {"a": 2.0}, "s")
    assert program == (2.0, "t", "cos", "*")
    assert infix(program, "s") == "(2.0 * cos(s))"
    with pytest.raises(ModelError) as caught:
        postfix("s*t", {}, "s")
    assert str(caught.value) == (
        "expected a parameter or a constant, found 't' in 's*t'; a curve depends on its parameter s alone, not on the "
        "time t"
    )
    with pytest.raises(ModelError, match="found 's' in 's\\*t'; only curves may depend on a parameter s"):
        postfix("s*t", {})


@pytest.mark.parametrize("text", ["1/t", "log(t)", "(t - 1)**0.5", "t**-1", "exp(1e3 + t)"])
def test_a_value_that_is_none(text):
    assert math.isnan(value_at(postfix(text, {}), 0.0))


def test_constant_part_of_a_time_function_is_checked():
    with pytest.raises(ModelError, match="a division by zero in 't/\\(1-1\\) \\+ 1/0'"):
        postfix("t/(1-1) + 1/0", {})


def test_nesting_of_a_time_function_is_limited_by_the_stack_of_the_kernels():
    assert MAX_STACK == STACK_SIZE
    nested = ["t+(" * depth + "t" + ")" * depth for depth in (63, 64)]
    assert run(postfix(nested[0], {}), 1.0) == 64.0
    message = f"expected an expression of t that keeps at most {MAX_STACK} numbers at once, found 65; nest fewer"
    with pytest.raises(ModelError, match=message):
        postfix(nested[1], {})
    assert run(postfix("+".join("t" * 150), {}), 1.0) == 150.0


def run(program, t):
    """The value of a postfix program at time t: a reference for whoever interprets them."""
    stack = []
    for item in program:
        if isinstance(item, float):
            stack.append(item)
        elif item == "t":
            stack.append(t)
        elif item == "neg" or item in UNARY:
            stack.append((OPERATORS | UNARY)[item](stack.pop()))
        else:
            right, left = stack.pop(), stack.pop()
            stack.append((OPERATORS | BINARY)[item](left, right))
    (value,) = stack
    return value


NUMBERS = st.floats(-1e3, 1e3, allow_nan=False, allow_subnormal=False)
SIGNS = {"+": operator.add, "-": operator.sub, "*": operator.mul}


@st.composite
def expressions(draw, depth=4):
    """A text and the function of t that it means, built side by side."""
    kind = draw(st.sampled_from(["number", "t", *(["+", "-", "*", "neg", "sin", "max"] if depth else [])]))
    if kind == "number":
        value = draw(NUMBERS)
        return f"({value!r})", lambda t: value
    if kind == "t":
        return "t", lambda t: t
    text, f = draw(expressions(depth=depth - 1))
    if kind == "neg":
        return f"-{text}", lambda t: -f(t)
    if kind == "sin":
        return f"sin({text})", lambda t: math.sin(f(t))
    other, g = draw(expressions(depth=depth - 1))
    if kind == "max":
        return f"max({text}, {other})", lambda t: max(f(t), g(t))
    return f"({text} {kind} {other})", lambda t: SIGNS[kind](f(t), g(t))


@given(expressions(), NUMBERS)
def test_postfix_means_what_the_text_means(built, t):
    text, f = built
    if len(text) > 1000:
        text, f = "t", lambda t: t
    program = postfix(text, {})
    assert run(program, t) == value_at(program, t) == f(t)
    assert run(postfix(infix(program), {}), t) == f(t)


@given(st.text(alphabet="abct019.+-*/()[] ,'\"_\\\n^%@=:", max_size=40))
def test_any_text_gives_a_finite_number_or_a_one_line_error(text):
    try:
        assert math.isfinite(evaluate(text, {"a": 1.0, "b": -2.0}))
    except ModelError as error:
        assert "\n" not in str(error)


def test_parameters_in_any_order():
    values, problems = resolve_parameters({"a": "b + c", "b": "2*c", "c": 1.5})
    assert (values, problems) == ({"a": 4.5, "b": 3.0, "c": 1.5}, [])


def test_a_long_chain_of_parameters():
    texts = {f"p{i}": f"p{i + 1} + 1" for i in range(3000)} | {"p3000": 0.0}
    assert resolve_parameters(texts)[0]["p0"] == 3000.0


@pytest.mark.parametrize(
    ("texts", "messages"),
    [
        (
            {"a": "b", "b": "c + 1", "c": "a"},
            ["parameters.a: expected parameters without a cycle, found a -> b -> c -> a; give one of them a number"],
        ),
        (
            {"a": "a"},
            ["parameters.a: expected parameters without a cycle, found a -> a; give one of them a number"],
        ),
        (
            {"a": "1/0", "b": "a", "c": "2+"},
            [
                f"parameters.c: expected an arithmetic expression, found '2+'; {SYNTAX}",
                "parameters.a: expected a finite number, found a division by zero in '1/0'; change the divisor",
            ],
        ),
    ],
)
def test_parameter_messages(texts, messages):
    assert list(map(str, resolve_parameters(texts)[1])) == messages
