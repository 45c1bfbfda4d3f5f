"""The table of thresholds, and a small sample of the campaign that varies them."""

import mbvi
from mbvi.kernels.galerkin import tolerances

from ..folders import load
from . import thresholds


def test_thresholds_stand_where_their_names_say():
    for i, tolerance in enumerate(tolerances.TABLE):
        assert getattr(tolerances, tolerance.name) == i
        assert tolerances.VALUES[i] == tolerance.value
        assert tolerance.meaning and tolerance.value != tolerance.off


def test_a_threshold_that_is_switched_off_costs_iterations():
    """Without the rounding of positions, loops iterate until corrections no longer shrink; later runs are as before."""
    system = mbvi.assemble(load("four_bar"))
    chosen = thresholds.cases([("four_bar", system, 0.005)])
    before = thresholds.run(chosen, 10)
    with thresholds.changed("OF_PLACES", 0.0):
        changed = thresholds.run(chosen, 10)
    assert not before.failed.any() and changed.iterations.sum() > before.iterations.sum()
    assert thresholds.compared(chosen, before, changed).startswith("+0 −0 | +")
    assert (thresholds.run(chosen, 10).iterations == before.iterations).all()
