"""A small sample of every campaign."""

import os

import pytest

from mbvi import StepError

from . import campaign, kill, mechanisms, models, pages, trajectories


def check(trial, seeds):
    result = campaign.run(trial, seeds)
    assert result.wrong == {}
    assert sum(result.ends.values()) == len(seeds)


def test_mutated_models():
    check(models.trial, range(50))


def test_forged_trajectories():
    check(trajectories.trial, range(25))


@pytest.mark.skipif(os.name != "posix", reason="forks, and sends a signal")
def test_killed_runs():
    check(kill.trial, range(1))


def test_random_mechanisms():
    """The last have a drive on a coordinate of a joint that closes a loop, a screw of half a turn there, and Euler angles."""
    check(mechanisms.trial, [*range(4), 492, 514, 1122])


@pytest.mark.skipif(not pages.browser(), reason="no browser: install Chromium, or name one in MBVI_BROWSER")
def test_hostile_names():
    check(pages.trial, range(1))


def fails(seed):
    """One of each kind."""
    if seed == 1:
        raise ValueError("what is wrong")
    if seed == 2:
        os._exit(3)
    return "right"


def test_what_goes_wrong_is_reported():
    """Also where a case ends its process, after which the others go on."""
    result = campaign.run(fails, range(5))
    assert result.ends == {"right": 3} and set(result.wrong) == {1, 2}
    assert result.wrong[2] == "ended the process"
    assert result.wrong[1].startswith("ValueError at test_campaigns.py:") and "what is wrong" in result.wrong[1]


def check_balance(*errors, at_contacts=(0.0, 0.0, 0.0, 0.0)):
    first, *others = (campaign.Off(*each) for each in zip(errors, at_contacts, strict=True))
    return campaign.check_balance(first, lambda parts: others[(4, 16, 64).index(parts)], 1e-6)


def fails_with_a_finer_step(parts):
    raise StepError("a place that a coarse step passes")


def test_an_error_of_the_balance_must_shrink_with_the_step():
    """That of a scheme does, at the latest with a sixteenth and a 64th of the step; a jump does not, whether it comes or goes."""
    assert check_balance(1e-3, 4e-6, 1.0, 1.0) == "ran with a coarse step"
    check_balance(1e-3, 1e-3, 6e-5, 3e-6)
    check_balance(1e-3, 1e-3, 6e-5, 3e-6, at_contacts=(1e-3, 1e-3, 6e-5, 3e-6))
    with pytest.raises(AssertionError, match=r"with a step by 0\.001, and by 0\.0008, 0\.0004, 0\.0002 with a 4th"):
        check_balance(1e-3, 8e-4, 4e-4, 2e-4)
    with pytest.raises(AssertionError, match=r"contacts change by 0\.001, and by 0\.001, 0, 0\.5 with a 4th"):
        check_balance(1e-3, 1e-3, 0.0, 0.5, at_contacts=(1e-3, 1e-3, 0.0, 0.5))
    assert campaign.check_balance(campaign.Off(1e-3, 0.0), fails_with_a_finer_step, 1e-6).endswith(
        "failed with a finer one"
    )
