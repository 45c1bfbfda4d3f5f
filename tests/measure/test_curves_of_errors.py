"""Where curves of errors over steps end."""

import numpy as np
import pytest

from mbvi.measure.runs import Curve, draw

STEPS = 0.1 / 2.0 ** np.arange(6)


@pytest.mark.parametrize(
    ("errors", "count"),
    [
        ([1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8], 6),  # never there
        ([1e-9, 1e-11, 3e-14, 2e-14, 6e-14, 9e-14], 3),  # folds back
        ([1e-9, 1e-11, 3e-14, 2.9e-14, 2.8e-14, 1e-15], 6),  # does not, after all
        ([1e-14, 2e-14, 3e-14, 1e-13, 1e-13, 2e-13], 1),  # there from the first step on
        ([1.0, 2.0, 1.5, 1.2, 1.1, 1.3], 6),  # too large steps, with which nothing converges
        ([1.0, 2.0, 1e-2, 1e-4, 1e-6, 1e-8], 6),
        ([1e-3, 1e-5, 1e-7, 1e-9, 2e-9, 5e-9], 4),  # round-off of the runs, above that of the reference
        ([np.nan, 1e-3, 1e-9, 1e-14, 2e-14, np.nan], 4),
        ([np.nan] * 6, 6),
    ],
)
def test_a_curve_ends_where_round_off_begins(errors, count):
    curve = Curve("a", STEPS, np.array(errors), 1 / STEPS).until_round_off(1e-15)
    np.testing.assert_array_equal(curve.errors, errors[:count])
    np.testing.assert_array_equal(curve.steps, STEPS[:count])
    assert len(curve.seconds) == count


def test_no_drawn_curve_folds_back():
    errors = np.array([1e-6, 1e-9, 1e-12, 2e-15, 9e-15, 4e-14])
    figure = draw("title", "details", "error", [Curve("a", STEPS, errors, 1 / STEPS)], 1e-15)
    for axes in figure.axes:
        assert np.all(np.diff(axes.lines[0].get_ydata()) < 0)


def test_errors_of_zero_are_not_drawn_as_a_fall():
    errors = np.array([1e-3, 1e-6, 0.0, 0.0])
    curves = [Curve("a", STEPS[:4], errors, 1 / STEPS[:4]), Curve("b", STEPS[:4], 0 * errors, 1 / STEPS[:4])]
    (left, _) = draw("title", "details", "error", curves, 1e-15).axes
    first, second = (line for line in left.get_lines() if not line.get_label().startswith("_"))
    assert first.get_ydata().tolist() == [1e-3, 1e-6] and len(second.get_ydata()) == 0
    assert [first.get_label(), second.get_label()] == ["a", "b: without error"]
