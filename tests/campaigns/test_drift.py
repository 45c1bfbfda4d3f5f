"""A small sample of the campaign: momenta change by parts of a rounding a step, though steps end in rounding."""

import numpy as np
import pytest

from .drift import CASES, changes, walks

EPS = np.finfo(float).eps
STARTS, STEPS = 4, 64_000


@pytest.mark.parametrize(
    ("name", "step"),
    [("free body, tree", 0.0031), ("free body, embedding", 0.005), ("heavy top, embedding", 0.0031)],
)
def test_forces_are_those_of_the_step_s_end(name, step):
    """Those from before the last correction have its error, which moves momenta by 0.1 to 0.5 roundings times √steps and more."""
    momenta = [each for each in walks(CASES[name], step, STARTS, STEPS) if each.name != "energy"]
    assert momenta
    assert max(each.change for each in momenta) < 0.05 * EPS * np.sqrt(STEPS)


@pytest.mark.parametrize(("name", "step"), [("steady body, tree", 0.0073), ("steady body, embedding", 0.0031)])
def test_steady_turns_have_no_drift(name, step):
    """The force on a rounded quaternion, and the error left in impulses, moved these means by 6 and 10 roundings."""
    change = changes(CASES[name], step, 12, STEPS)["angular momentum (y)"]
    assert abs(change[:, -1].mean()) < 3 * EPS


def test_a_steady_top_drifts_by_few_roundings():
    """A velocity turned into the body's frame and back is not quite the same: that moved these momenta by 40 roundings."""
    momenta = [each for each in walks(CASES["steady top, embedding"], 0.005, STARTS, STEPS) if each.name != "energy"]
    assert len(momenta) == 3
    assert max(each.change for each in momenta) < 0.05 * EPS * np.sqrt(STEPS)
