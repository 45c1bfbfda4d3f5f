"""A small sample of the campaign."""

import pytest

from tests.marks import coarse

from .rubbing import trial


@coarse
@pytest.mark.parametrize("seed", range(6))
def test_random_models_with_friction_of_stops_keep_to_mechanics(seed):
    assert trial(seed).startswith(("ran", "ended by"))
