"""The recomputations of papers in examples/papers, which import one another as scripts do."""

import sys
from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "examples" / "papers"


def load(name):
    if str(FOLDER) not in sys.path:
        sys.path.insert(0, str(FOLDER))
    return import_module(name)
