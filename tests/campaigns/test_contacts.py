"""A small sample of the campaign."""

import pytest

from tests.marks import coarse

from .contacts import LONG, trial


@coarse  # one warns that the rounds of an impact did not end
@pytest.mark.parametrize(
    "seed", [*range(6), 59, 100070, 100202, 100425, 101185, 120789, 121004, 122148, 133569, 180116, 190930, 301330]
)
def test_random_models_with_contacts_keep_to_mechanics(seed):
    """Of larger numbers: a rope and a rod move a coordinate that rubs, frictions hold what others hold, stops bounce in turn;
    two stops of one motion want different speeds, stops close within 1e-10 m of each other, and a
    slip ends where its values are the same rounding over many places;
    a stop and a friction come to rest at once; forces become very large for an instant."""
    assert trial(seed).startswith(("ran", "without contacts"))


@pytest.mark.parametrize(("name", "impacts"), list(zip(LONG, (60, 50, 30, 20), strict=True)))
def test_impacts_keep_what_they_should(name, impacts):
    error, _, most = LONG[name]
    assert error(impacts) <= most
