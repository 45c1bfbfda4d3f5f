"""`mbvi warmup`: after it a run compiles nothing."""

import os
import subprocess
import sys

from mbvi import warmup
from mbvi.kernels.compiler.compiling import COMPILING
from mbvi.simulation import simulate

MBVI = [sys.executable, "-m", "mbvi"]
PENDULUM = """
name: pendulum
bodies: {bob: {mass: 1, center_of_mass: [0, 0, -1]}}
joints: {pivot: {type: revolute, parent: world, child: bob, axis: [0, 1, 0]}}
initial: {pivot: {velocity: 1}}
simulation: {scheme: midpoint, step: 0.01, duration: 1}
"""


def test_a_run_after_it_compiles_nothing(tmp_path):
    (tmp_path / "pendulum.yaml").write_text(PENDULUM)
    environment = {key: value for key, value in os.environ.items() if key != "MBVI_QUIET"}

    def said(*line):
        run = subprocess.run([*MBVI, *line], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        return run.stdout, run.stderr

    out, _ = said("warmup", "pendulum.yaml", "--scheme", "midpoint")
    assert out.startswith("compiled kernels are kept in ")
    assert said("run", "pendulum.yaml")[1] == ""


def test_typical_models_are_run_in_both_formulations_but_for_independent_coordinates():
    done = []
    warmup.warm_up(schemes=["midpoint", "independent4"], progress=lambda *counts: done.append(counts))
    assert done == [(i, 9) for i in range(9)]
    count = COMPILING.count
    for model in warmup.typical_models():
        simulate(model, "midpoint", warmup.STEP, warmup.STEP)
    assert COMPILING.count == count
