"""Functions of time and their derivatives: programs against Python and mpmath, tables against scipy."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy.interpolate import CubicSpline, PchipInterpolator, interp1d

import mbvi
from mbvi.kernels.mechanics.functions import OPERATIONS, STACK_SIZE, function_of
from mbvi.model.expressions import postfix
from mbvi.system.tables import Tables

TIMES = (0.0, 0.3, 1.0, 1.2, 2.0, 3.5)
VALUES = (1.0, -0.5, 2.0, 2.5, -1.0, 0.5)


def jets(function, times, is_motion=False):
    """Rows (f, f′, f″) of a number, an expression or a table."""
    tables = Tables()
    tables.add_function(7.0)  # no function under test is the first
    index = tables.add_function(postfix(function, {}) if isinstance(function, str) else function, is_motion)
    functions, operations = np.array(tables.time_functions, np.int64), np.array(tables.operations, np.int64)
    numbers, stack = np.array(tables.numbers, np.float64), np.full((STACK_SIZE, 3), np.nan)
    return np.array([function_of(functions, operations, numbers, stack, index, float(t)) for t in times])


def values(function, times):
    return jets(function, times)[:, 0]


def expected_jet(function, t):
    """f, f′ and f″ of a function of multiple-precision numbers."""
    with mp.workdps(40):
        return [float(mp.diff(function, mpf(t), order)) for order in range(3)]


def table(times=TIMES, values=VALUES, interpolation="smooth"):
    return mbvi.Table(times=times, values=values, interpolation=interpolation)


REFERENCES = {
    "linear": lambda times, values: lambda t: np.interp(t, times, values),
    "hold": lambda times, values: interp1d(times, values, kind="previous"),
    "smooth": PchipInterpolator,
    "spline": CubicSpline,
}


@pytest.mark.parametrize("interpolation", REFERENCES)
def test_table_takes_its_values_at_its_times(interpolation):
    np.testing.assert_array_equal(values(table(interpolation=interpolation), TIMES), VALUES)


@pytest.mark.parametrize("count", [2, 3, 6])
@pytest.mark.parametrize("interpolation", REFERENCES)
def test_table_is_interpolated_as_scipy_does(interpolation, count):
    points = TIMES[:count], VALUES[:count]
    times = np.linspace(TIMES[0], TIMES[count - 1], 83, endpoint=False)
    reference = REFERENCES[interpolation](*points)
    found = jets(table(*points, interpolation), times)
    np.testing.assert_allclose(found[:, 0], reference(times), rtol=1e-13, atol=1e-14)
    for order in (1, 2) if interpolation in ("smooth", "spline") else ():
        np.testing.assert_allclose(found[:, order], reference(times, order), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("interpolation", ["linear", "hold"])
def test_derivatives_of_lines(interpolation):
    slopes = np.diff(VALUES) / np.diff(TIMES) * (interpolation == "linear")
    middles = np.array(TIMES[:-1]) + 0.5 * np.diff(TIMES)
    found = jets(table(interpolation=interpolation), middles)
    np.testing.assert_allclose(found[:, 1], slopes, rtol=1e-15)
    assert not found[:, 2].any()


@pytest.mark.parametrize("interpolation", REFERENCES)
def test_table_keeps_its_end_values(interpolation):
    found = jets(table(interpolation=interpolation), [-1e9, -1.0, np.nextafter(0.0, -1), TIMES[-1], 4.0, 1e9])
    np.testing.assert_array_equal(found[:, 0], [VALUES[0]] * 3 + [VALUES[-1]] * 3)
    assert not found[:, 1:].any()


@pytest.mark.parametrize("interpolation", ["smooth", "spline"])
def test_motion_goes_on_at_its_end_rates(interpolation):
    times = np.array([-2.0, -0.5, TIMES[-1] + 1e-9, TIMES[-1] + 3])
    reference = REFERENCES[interpolation](TIMES, VALUES)
    ends = np.clip(times, TIMES[0], TIMES[-1])
    found = jets(table(interpolation=interpolation), times, is_motion=True)
    expected = reference(ends) + (times - ends) * reference(ends, 1)
    np.testing.assert_allclose(found, np.stack([expected, reference(ends, 1), 0 * ends], axis=1), rtol=1e-12)
    at_end = [reference(TIMES[-1], order) for order in range(3)]
    np.testing.assert_allclose(
        jets(table(interpolation=interpolation), TIMES[-1:], is_motion=True)[0], at_end, rtol=1e-12
    )


def test_table_jumps_where_a_time_stands_twice():
    found = values(table((0, 0, 1, 1, 2, 2), (5, 1, 2, 7, 7, 3), "linear"), [-0.1, 0, 0.5, 1 - 1e-9, 1, 1.5, 2, 9])
    np.testing.assert_allclose(found, [5, 1, 1.5, 2, 7, 7, 3, 3], atol=2e-9)


@pytest.mark.parametrize("interpolation", ["smooth", "spline"])
def test_parts_between_jumps_know_nothing_of_each_other(interpolation):
    first, second = ((0, 1, 2, 3), (0, 1, 0, 2)), ((3, 4, 5, 6), (-5, 2, 2, 1))
    both = table(first[0] + second[0], first[1] + second[1], interpolation)
    for part in (first, second):
        times = np.linspace(part[0][0], part[0][-1], 40, endpoint=False)
        found = values(table(*part, interpolation), times)
        np.testing.assert_array_equal(values(both, times), found)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.floats(1e-3, 10), st.floats(-5, 5)), min_size=2, max_size=8))
def test_smooth_table_keeps_between_its_neighbours(entries):
    steps, points = np.array(entries).T
    times = np.cumsum(steps)
    for i in range(len(times) - 1):
        found = values(table(times, points), np.linspace(times[i], times[i + 1], 20))
        low, high = sorted(points[i : i + 2])
        assert low - 1e-12 <= found.min() and found.max() <= high + 1e-12


def test_spline_reproduces_a_cubic():
    times = np.linspace(TIMES[0], TIMES[-1], 50, endpoint=False)
    cubic = np.polynomial.Polynomial([3, -1, 2, 0.5])
    found = jets(table(TIMES, cubic(np.array(TIMES)), "spline"), times)
    expected = np.stack([cubic(times), cubic.deriv()(times), cubic.deriv(2)(times)], axis=-1)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


numbers = st.floats(0.1, 3.0).map(lambda x: f"{x:.3f}")
leaves = st.one_of(numbers, st.just("t"), st.just("pi"))
NAMES = "sin cos tan atan sinh cosh tanh exp asin acos log sqrt atan2".split()
FUNCTIONS = {name: getattr(math, name) for name in NAMES} | {"pi": math.pi, "e": math.e}
EXACT = {name: getattr(mp, name) for name in NAMES} | {"pi": mpf(math.pi), "e": mpf(math.e)}
for functions in (FUNCTIONS, EXACT):
    functions |= {"abs": abs, "min": min, "max": max, "__builtins__": {}}


def exact(text):
    """The function of multiple-precision numbers that a text made here spells out."""
    return lambda t: eval(text, EXACT, {"t": t})


SINGLE = {
    "push": "3.5 + 0*t", "t": "t", "+": "t**2 + 1/t", "-": "t**2 - 1/t", "*": "sin(t) * exp(t)", "/": "sin(t) / exp(t)",
    "**": "(1 + t**2) ** sin(t)", "neg": "-(t**2)", "sin": "sin(t**2)", "cos": "cos(t**2)", "tan": "tan(t**2)",
    "asin": "asin(t**2/2)", "acos": "acos(t**2/2)", "atan": "atan(t**2)", "atan2": "atan2(sin(3*t), cos(2*t))",
    "sinh": "sinh(t**2)", "cosh": "cosh(t**2)", "tanh": "tanh(t**2)", "exp": "exp(t**2)", "log": "log(t**2)",
    "sqrt": "sqrt(1 + t**3)", "abs": "abs(t**3)", "min": "min(t**2, sin(3*t))", "max": "max(t**2, sin(3*t))",
}  # fmt: skip
POWERS = ("t**0", "t**1", "t**2", "t**3", "t**7", "t**(-1)", "t**(-2)", "(t - 3)**2", "(t - 3)**3", "(t - 3)**(-2)")
ROOTS = ("(2 + t)**0.5", "(2 + t)**1.5", "(2 + t)**(-0.7)", "2**t", "(2 + t)**t", "(2 + t)**(t**2)")


def test_every_operation_is_tested():
    assert tuple(SINGLE) == OPERATIONS


@pytest.mark.parametrize("text", [*SINGLE.values(), *POWERS, *ROOTS])
def test_derivatives_of_an_operation(text):
    times = [-0.93, -0.35, 0.21, 0.87, 1.12]
    expected = [expected_jet(exact(text), t) for t in times]
    np.testing.assert_allclose(jets(text, times), expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    ("text", "t", "expected"),
    [
        ("t**0", 0.0, [1, 0, 0]),
        ("t**1", 0.0, [0, 1, 0]),
        ("t**2", 0.0, [0, 0, 2]),
        ("t**3", 0.0, [0, 0, 0]),
        ("t**1.5", 0.0, [0, 0, math.inf]),
        ("(t**2)**2", 0.0, [0, 0, 0]),
        ("sqrt(max(t, 0))", -1.0, [0, 0, 0]),
        ("max(t, 0)**0.5", -1.0, [0, 0, 0]),
        ("asin(min(t, 1))", 2.0, [math.pi / 2, 0, 0]),
        ("acos(min(t, 1))", 2.0, [0, 0, 0]),
        ("abs(t)", 0.0, [0, 1, 0]),
        ("min(t, 1)", 1.0, [1, 1, 0]),
        ("max(t, 1)", 1.0, [1, 1, 0]),
        ("t**(t - t + 2)", -3.0, [9, -6, 2]),
    ],
)
def test_derivatives_at_the_ends_of_an_operation(text, t, expected):
    np.testing.assert_allclose(jets(text, [t])[0], expected, rtol=1e-15)


def test_constants_have_no_derivatives():
    np.testing.assert_array_equal(jets(-2.5, [0.0, 1.0]), [[-2.5, 0, 0]] * 2)
    np.testing.assert_array_equal(jets("sqrt(6.25)", [0.0]), [[2.5, 0, 0]])


def larger(inner):
    one = ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "abs", "-", "+")
    unary = st.tuples(st.sampled_from(one), inner).map(lambda x: f"{x[0]}({x[1]})")
    operator = st.sampled_from(["+", "-", "*", "/", "**"])
    binary = st.tuples(inner, operator, inner).map(lambda x: f"({x[0]} {x[1]} {x[2]})")
    function = st.tuples(st.sampled_from(["atan2", "min", "max"]), inner, inner).map(
        lambda x: f"{x[0]}({x[1]}, {x[2]})"
    )
    return st.one_of(unary, binary, function)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(text=st.recursive(leaves, larger, max_leaves=10), t=st.floats(-2.0, 2.0).map(lambda x: round(x, 3)))
def test_programs_are_like_python(text, t):
    try:
        expected = eval(text, FUNCTIONS, {"t": t})  # the text is made above
    except (ArithmeticError, TypeError, ValueError):  # TypeError of functions of complex numbers
        assume(False)
    assume(isinstance(expected, float) and math.isfinite(expected))
    try:
        (found,) = jets(text, [t])
    except mbvi.ModelError:  # a part without t that has no value, in Python too; or one that is beyond floats
        assume(False)
    assert found[0] == pytest.approx(expected, rel=1e-12, abs=1e-12)
    if abs(t) > 0.01:  # away from the kinks and ends of |t|, sqrt(t) …
        try:
            exact_jet = expected_jet(exact(text), t)
        except (AttributeError, TypeError):  # of complex numbers: differences reach beyond where asin(t) ends
            assume(False)
        size = max(1.0, *map(abs, exact_jet))
        if size < 1e4:
            np.testing.assert_allclose(found, exact_jet, rtol=0, atol=1e-13 * size**2)


def test_programs_without_a_real_value_are_not_a_number():
    assert np.isnan(jets("sqrt(t) + log(t) * asin(2 + t)", [-1.5])).all()


@pytest.mark.parametrize("function", [2.5, "sin(2*t) + t**2", table()])
def test_a_force_is_its_function_of_time(function):
    rail = mbvi.Prismatic(parent="world", child="mass", axis=(1, 0, 0))
    force = mbvi.JointForce(joint="rail", value=function)
    model = mbvi.Model(
        name="rail", gravity=(0, 0, 0), bodies={"mass": mbvi.Body(mass=1)}, joints={"rail": rail}, forces={"f": force}
    )
    system, times = mbvi.assemble(model), (-1.0, 0.3, 0.7, 5.0)
    found = [system.gradient([0.0], [0.0], t)[1][0] for t in times]
    np.testing.assert_allclose(found, values(function, times), rtol=1e-15)
