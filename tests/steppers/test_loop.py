"""The pieces that a run is made in."""

import pytest

import mbvi

from ..benchmarks.systems import hung_chain


@pytest.mark.parametrize(("links", "first"), [(2, 40), (120, 4)], ids=["small", "large"])
def test_runs_of_small_systems_begin_with_a_longer_piece(links, first):
    """Of a large one progress is reported after the first state that is stored."""
    reported = []
    model = hung_chain(links, "revolute")
    mbvi.simulate(model, "midpoint", step=1e-3, duration=0.04, every=4, progress=lambda *each: reported.append(each))
    assert reported[0] == (first, 40)
    assert reported[-1] == (40, 40)
