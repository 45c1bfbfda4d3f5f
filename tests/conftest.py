"""What all tests share."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def models() -> Path:
    """The folder of the models that come with mbvi."""
    return ROOT / "models"
