"""What all tests share."""

import os
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the threads of several test processes get in each other's way
os.environ.setdefault(
    "MBVI_QUIET", "1"
)  # so that messages that kernels are compiled are not among those that are compared

import pytest

from tests.folders import MODELS


@pytest.fixture(scope="session")
def models() -> Path:
    """The folder of the models that come with mbvi."""
    return MODELS
