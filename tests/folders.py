"""Where the project's files are, and the models that come with it."""

from functools import cache
from pathlib import Path

import mbvi

ROOT = Path(__file__).parents[1]
MODELS = ROOT / "models"


@cache
def load(name: str) -> mbvi.Model:
    """A model that comes with mbvi. Nothing changes a model, so that all tests share what is read once."""
    return mbvi.load(MODELS / f"{name}.yaml")
