"""A small sample of the campaign."""

import pytest

from . import rounded_loops


@pytest.mark.parametrize("formulation", rounded_loops.FORMULATIONS)
@pytest.mark.parametrize(("name", "error"), [("spherical", 1e-13), ("turned frames", 1e-4), ("door", 1e-6)])
def test_rounded_loops_move_as_exact_ones(name, formulation, error):
    row = rounded_loops.compared(name, formulation, error, duration=0.2)
    assert rounded_loops.is_good(row, rounded_loops.exact(name, formulation, 0.2).energy)
    assert row.moved < 2 and row.residual < 1e-13 and row.reaction < rounded_loops.MOST
