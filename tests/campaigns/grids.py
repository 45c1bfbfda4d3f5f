"""The cases that tests leave out of their grids, of which the suite runs a sample, and runs that take long.

    python -m tests.campaigns.grids [arguments of pytest]

They are marked by `tests.marks.campaign`, most of them by `tests.marks.pairs`: every scheme on every system, walks of 10⁶ steps,
models of a thousand bodies, papers in full.
"""

from __future__ import annotations

import sys

import pytest

from tests.folders import ROOT

if __name__ == "__main__":
    sys.exit(pytest.main(["-m", "campaign", str(ROOT / "tests"), *sys.argv[1:]]))
