"""A small sample of the campaign."""

import pytest

from tests.marks import coarse

from .rolling_models import trial


@coarse
@pytest.mark.parametrize("seed", range(20))
def test_random_models_that_roll_keep_to_mechanics(seed):
    assert trial(seed).startswith("ran")
