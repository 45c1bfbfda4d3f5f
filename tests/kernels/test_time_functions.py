"""Functions of time: programs against Python, tables against a slow formula of the partition of unity."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

import mbvi

TIMES = (0.0, 0.3, 1.0, 1.2, 2.0, 3.5)
VALUES = (1.0, -0.5, 2.0, 2.5, -1.0, 0.5)


def values(function, times):
    """A function of time, as the force on a mass on a rail."""
    rail = mbvi.Prismatic(parent="world", child="mass", axis=(1, 0, 0))
    force = mbvi.JointForce(joint="rail", value=function)
    model = mbvi.Model(
        name="rail", gravity=(0, 0, 0), bodies={"mass": mbvi.Body(mass=1)}, joints={"rail": rail}, forces={"f": force}
    )
    system = mbvi.assemble(model)
    return np.array([system.gradient([0.0], [0.0], t)[1][0] for t in times])


def table(times=TIMES, values=VALUES):
    return mbvi.Table(times=times, values=values)


def r(z):
    """The smooth step from 0 to 1 [Mutze, section 2]."""
    if z <= 0 or z >= 1:
        return mpf(z >= 1)
    return 1 / (1 + mp.exp(mpf("0.810747") * (1 / z + 1 / (z - 1))))


def lagrange(points, x):
    return sum(y * mp.fprod((x - b) / (a - b) for b, _ in points if b != a) for a, y in points)


def partition_of_unity(times, values, x):
    """Σ w_i f_i with w_i = r_{i−1} − r_i; lines at the ends and parabolas between."""
    points = [(mpf(a), mpf(b)) for a, b in zip(times, values, strict=True)]
    m = len(points)
    x = mpf(x)
    steps = [mpf(1), *(r((x - points[i][0]) / (points[i + 1][0] - points[i][0])) for i in range(m - 1)), mpf(0)]
    return float(
        sum((steps[i] - steps[i + 1]) * lagrange(points[max(i - 1, 0) : min(i + 1, m - 1) + 1], x) for i in range(m))
    )


def test_table_takes_its_values_at_its_times():
    np.testing.assert_array_equal(values(table(), TIMES), VALUES)


@pytest.mark.parametrize("count", [2, 3, 6])
def test_table_is_the_partition_of_unity(count):
    times = np.linspace(-0.4, 4.0, 89)
    found = values(table(TIMES[:count], VALUES[:count]), times)
    expected = [partition_of_unity(TIMES[:count], VALUES[:count], t) for t in times]
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


def test_table_reproduces_a_parabola():
    times = np.linspace(TIMES[1], TIMES[-2], 50)  # lines are mixed in on the first and the last interval

    def parabola(t):
        return 3.0 - t + 2.0 * t**2

    found = values(table(TIMES, [parabola(t) for t in TIMES]), times)
    np.testing.assert_allclose(found, parabola(times), rtol=1e-13)


def test_table_is_smooth_across_its_times():
    """Near a node the blend leaves its ends by exp(−p/z): all that is left is the parabola of the node's neighbours."""
    node = TIMES[2]
    times = node + 5e-4 * np.arange(-6, 7)  # z < 0.015, exp(−p/z) < 1e-23
    local = [lagrange([(mpf(x), mpf(y)) for x, y in zip(TIMES[1:4], VALUES[1:4], strict=True)], t) for t in times]
    np.testing.assert_allclose(values(table(), times), np.array(local, dtype=float), rtol=1e-14)


numbers = st.floats(0.1, 3.0).map(lambda x: f"{x:.3f}")
leaves = st.one_of(numbers, st.just("t"), st.just("pi"))
FUNCTIONS = {
    name: getattr(math, name) for name in "sin cos tan atan sinh cosh tanh exp asin acos log sqrt atan2".split()
}
FUNCTIONS |= {"abs": abs, "min": min, "max": max, "pi": math.pi, "e": math.e}


def larger(inner):
    one = ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "abs", "-", "+")
    unary = st.tuples(st.sampled_from(one), inner).map(lambda x: f"{x[0]}({x[1]})")
    operator = st.sampled_from(["+", "-", "*", "/", "**"])
    binary = st.tuples(inner, operator, inner).map(lambda x: f"({x[0]} {x[1]} {x[2]})")
    function = st.tuples(st.sampled_from(["atan2", "min", "max"]), inner, inner).map(
        lambda x: f"{x[0]}({x[1]}, {x[2]})"
    )
    return st.one_of(unary, binary, function)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(text=st.recursive(leaves, larger, max_leaves=10), t=st.floats(-2.0, 2.0).map(lambda x: round(x, 3)))
def test_programs_are_like_python(text, t):
    try:
        expected = eval(text, {"__builtins__": {}}, {**FUNCTIONS, "t": t})  # the text is made above
    except (ArithmeticError, ValueError):
        assume(False)
    assume(isinstance(expected, float) and math.isfinite(expected))
    try:
        (found,) = values(text, [t])
    except mbvi.ModelError:  # a part without t that has no value, in Python too; or one that is beyond floats
        assume(False)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_programs_without_a_real_value_are_not_a_number():
    found = values("sqrt(t) + log(t) * asin(2 + t)", [-1.5])
    assert np.isnan(found).all()
