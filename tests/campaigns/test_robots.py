"""A sample of the campaign."""

from . import campaign, robots


def test_mutated_files():
    result = campaign.run(robots.trial, range(70))
    assert result.wrong == {}
    assert result.ends["refused"] > result.ends["accepted"] > 10
