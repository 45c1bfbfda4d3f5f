"""Marks of tests, and grids of cases of which the suite runs a sample."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest

coarse = pytest.mark.filterwarnings("ignore::mbvi.errors.AccuracyWarning")
"""Of tests whose runs are coarse on purpose. Elsewhere a warning that a run is inaccurate fails the test."""

campaign = pytest.mark.campaign
"""Of cases that the suite leaves out because they take long: `python -m tests.campaigns.grids` runs them."""


def sample(cases: Iterable[Any], every: int) -> list:
    """All cases, for `pytest.mark.parametrize`, of which all but each one of so many are cases of a campaign."""
    return [pytest.param(case, marks=() if i % every == 0 else campaign) for i, case in enumerate(cases)]


def pairs(rows: Iterable[str], columns: Iterable[str], whole: Collection[str] = ()) -> list:
    """All pairs of a row and a column, for `pytest.mark.parametrize`; all but a sample are cases of a campaign.

    The sample has every row and every column, each with some of the others: pair (i, j) where i and j are equal modulo the
    number of columns (or of rows, if these are fewer); and of the rows in `whole` all pairs.
    """
    rows, columns = list(rows), list(columns)
    count = min(len(rows), len(columns))
    return [
        pytest.param(row, column, marks=() if row in whole or i % count == j % count else campaign)
        for i, row in enumerate(rows)
        for j, column in enumerate(columns)
    ]
