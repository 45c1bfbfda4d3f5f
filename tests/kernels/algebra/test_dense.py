"""Inverses of mass matrices, of one and of four at once, against numpy's."""

import numpy as np
import pytest
from numba import njit

from mbvi.kernels.algebra.dense import invert
from mbvi.kernels.compiler.lanes import lanes


@njit
def inverted_in_lanes(M, rows, n):
    return invert(lanes(M), lanes(rows), n)


def positive_definite(n, condition, seed=1):
    random = np.random.default_rng(seed)
    axes, _ = np.linalg.qr(random.normal(size=(n, n)))
    return axes * np.geomspace(1.0, condition, n) @ axes.T


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 11])
@pytest.mark.parametrize("condition", [1.0, 1e3, 1e8])
def test_inverse(n, condition):
    matrices = [positive_definite(n, condition, seed) for seed in range(4)]
    rows = np.full(8 * n, np.nan)
    together = np.stack([each.ravel() for each in matrices], axis=-1)
    assert inverted_in_lanes(together, rows, n)
    for lane, each in enumerate(matrices):
        M = each.ravel().copy()
        assert invert(M, rows, n)
        expected = np.linalg.inv(each)
        for found in (M, together[:, lane]):
            error = np.abs(found.reshape(n, n) - expected).max() / np.abs(expected).max()
            assert error < 1e-14 * condition
            np.testing.assert_array_equal(found.reshape(n, n), found.reshape(n, n).T)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan])
def test_what_is_not_positive_definite(n, value):
    for bad in range(n):
        M = positive_definite(n, 10.0)
        axes = np.linalg.eigh(M)[1]
        M += (value - axes[:, bad] @ M @ axes[:, bad]) * np.outer(axes[:, bad], axes[:, bad])
        if value == 0.0:  # exactly
            M = np.diag(np.where(np.arange(n) == bad, 0.0, 1.0))
        assert not invert(M.ravel(), np.zeros(8 * n), n)
        if value <= 0.0:
            together = np.repeat(np.eye(n).ravel()[:, None], 4, axis=1)
            together[:, bad % 4] = M.ravel()
            assert not inverted_in_lanes(together, np.zeros(8 * n), n)
