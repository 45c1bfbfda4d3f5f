"""A short run that several tests show."""

import pytest

import mbvi


@pytest.fixture(scope="session")
def double_pendulum(models):
    """States at the times of pictures."""
    return mbvi.simulate(mbvi.load(models / "double_pendulum.yaml"), step=1 / 240, duration=0.5, every=4)
