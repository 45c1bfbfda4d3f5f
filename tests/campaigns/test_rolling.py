"""A small sample of the campaign: what rolling conserves does not drift."""

import pytest

from .rolling import CASES, changes


@pytest.mark.parametrize("name", ["disc", "cylinder"])
def test_what_is_conserved_does_not_drift(name):
    for each in changes(CASES[name], 10_000):
        assert each.last < max(1.5 * each.first, 1e-11), each.name
