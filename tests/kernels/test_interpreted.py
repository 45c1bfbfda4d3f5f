"""The kernels are plain Python too."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from tests.folders import ROOT


def ends(**environment: str) -> dict[str, list[float]]:
    """What the runs end with, in a process of its own."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.kernels.interpreted"],
        env=os.environ | environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(run.stdout)


@pytest.mark.filterwarnings("default")
def test_interpreted_equals_compiled():
    compiled, interpreted = ends(NUMBA_DISABLE_JIT="0"), ends(NUMBA_DISABLE_JIT="1")
    assert compiled.keys() == interpreted.keys()
    for name, values in compiled.items():
        # Compiled code rounds once where a product is added to a sum.
        assert np.allclose(values, interpreted[name], rtol=1e-11, atol=1e-12), name
