"""A sample of the campaign."""

import warnings
from collections import Counter

from . import robots


def test_mutated_files():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ends = Counter(robots.trial(seed) for seed in range(49))
    assert ends["refused"] > ends["accepted"] > 5
