"""The kernels are plain Python too."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from tests.folders import ROOT
from tests.marks import campaign


def ends(every: int, **environment: str) -> dict[str, list[float]]:
    """What each of so many runs ends with, in a process of its own."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.kernels.interpreted", str(every)],
        env=os.environ | environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(run.stdout)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("every", [3, pytest.param(1, marks=campaign)])
def test_interpreted_equals_compiled(every):
    compiled, interpreted = ends(every, NUMBA_DISABLE_JIT="0"), ends(every, NUMBA_DISABLE_JIT="1")
    assert compiled.keys() == interpreted.keys()
    for name, values in compiled.items():
        # Compiled code rounds once where a product is added to a sum.
        assert np.allclose(values, interpreted[name], rtol=1e-11, atol=1e-12), name
