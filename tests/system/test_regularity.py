"""What moves almost without inertia, where steps that fail have led."""

import numpy as np
import pytest

import mbvi
from mbvi.system.regularity import weightless_near

from ..folders import load


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_nothing_is_named_where_the_mass_matrix_is_not_finite(formulation):
    system = mbvi.assemble(load("free_rigid_body_quaternion"), formulation)
    q = system.initial_q
    far = 1e200 * q
    with np.errstate(all="ignore"):
        assert not np.isfinite(system.mass_matrix(far)).all()
        assert weightless_near(system, (q, 0.0), far, np.zeros_like(q), 0.0) == []
