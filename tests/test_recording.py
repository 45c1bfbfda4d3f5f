"""Recorded numbers: programs give what the code gives that they were written down from, bit for bit, or say that they do not."""

import math

import numpy as np
import pytest

from mbvi.model.expressions import FUNCTIONS, evaluate
from mbvi.recording import Recording, apply, are_equal, array, decide, dot, is_finite, is_zero, norm

ONE = [
    f"{name}(x)" for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "sqrt")
]
EXPRESSIONS = [
    *ONE,
    "x + y",
    "1 - x",
    "x*y/3",
    "x**2",
    "x**y",
    "2**x",
    "-x",
    "abs(x - y)",
    "atan2(x, y)",
    "min(x, y, 0.5)",
    "max(x, 2*y)",
]


def bits(values):
    return np.asarray(values, float).tobytes()


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions(text):
    values = np.random.default_rng(3).uniform(0.1, 0.9, (2, 50))
    recording = Recording(dict(zip("xy", values[:, 0].tolist(), strict=True)))
    found, is_valid = recording.program([evaluate(text, recording.inputs)]).run(values)
    expected = [evaluate(text, {"x": x, "y": y}) for x, y in values.T.tolist()]
    assert is_valid.any() and bits(found[0, is_valid]) == bits(np.array(expected)[is_valid])
    assert is_valid.all() or "min" in text or "max" in text


def test_all_functions_of_expressions_are_tried():
    assert all(any(f"{name}(" in text for text in EXPRESSIONS) for name in FUNCTIONS)


@pytest.mark.parametrize(
    ("text", "case"), [("1/x", 0.0), ("log(x)", -1.0), ("x**0.5", -1.0), ("exp(x)", 1e4), ("1/(x*x)", 1e200)]
)
def test_a_case_without_a_finite_value_is_not_valid(text, case):
    recording = Recording({"x": 1.0})
    program = recording.program([evaluate(text, recording.inputs)])
    assert program.run(np.array([[2.0, case]]))[1].tolist() == [True, False]


def test_arrays():
    values = np.random.default_rng(4).normal(size=(6, 20))

    def computed(a, b, c, d, e, f):
        A, v = array([[a, b], [c, 1.0]]), array([d, e])
        w = dot(A, v) * f - 2.0 * np.eye(2)[0]
        return [*w, dot(v, w), norm(w), apply("atan2", a, b), *dot(A, A.T).ravel()]

    recording = Recording(dict(zip("abcdef", values[:, 0].tolist(), strict=True)))
    found, is_valid = recording.program(computed(**recording.inputs)).run(values)
    assert is_valid.all() and bits(found.T) == bits([computed(*case) for case in values.T.tolist()])


@pytest.mark.parametrize(
    ("decision", "valid"),
    [
        (lambda x: x > 1.5, [2.0, 3.0]),
        (lambda x: x <= 1.5, [2.0, 3.0]),
        (lambda x: x == 2.0, [2.0]),
        (lambda x: x != 2.0, [2.0]),
        (lambda x: bool(x), [1.0, 2.0, 3.0, -1.0]),
        (lambda x: is_zero([0.0, x]), [1.0, 2.0, 3.0, -1.0]),
        (lambda x: are_equal([1.0, x], [1.0, 2.0]), [2.0]),
        (lambda x: decide(lambda a: (a**2).sum(-1) > 3.0, array([x, 1.0])), [2.0, 3.0]),
        (is_finite, [1.0, 2.0, 3.0, -1.0, 0.0]),
    ],
)
def test_what_was_decided_is_a_condition(decision, valid):
    recording, cases = Recording({"x": 2.0}), np.array([[1.0, 2.0, 3.0, -1.0, 0.0]])
    decision(recording.inputs["x"])
    assert cases[0, recording.program([]).run(cases)[1]].tolist() == valid


@pytest.mark.parametrize(
    "use", [float, np.array, np.isfinite, lambda x: np.zeros(2).__setitem__(0, x), lambda x: np.eye(2) @ [x, x]]
)
def test_a_number_is_not_lost_in_silence(use):
    with pytest.raises(TypeError):
        use(Recording({"x": 2.0}).inputs["x"])


def test_what_does_not_know_recorded_numbers_sees_none():
    assert math.isnan(math.sin(Recording({"x": 2.0}).inputs["x"]))


def test_what_is_computed_twice_is_one_step():
    recording = Recording({"x": 2.0, "y": 3.0})
    x, y = recording.inputs.values()
    (x * y) / 7  # which nothing needs
    assert len(recording.program([x * y + 1.0, (x * y + 1.0) * 2.0])._steps) == 3
