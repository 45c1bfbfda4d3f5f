"""The kernels are plain Python too, and are kept compiled where the user can write."""

import gc
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numba import errors, njit, types
from numba.extending import overload

import mbvi
from mbvi.kernels.compiler.compiling import RARELY, Compiling
from mbvi.kernels.compiler.decorators import compiled
from mbvi.kernels.mechanics.rotation import cross
from mbvi.steppers.branches import BranchWatch
from tests.folders import MODELS

SCRIPT = """
import json, sys
import mbvi

def mass(q, M):
    M[0, 0] = 1.0 + q[0] ** 2

def potential(q):
    return q[0] ** 4

def force(t, q, v, F):
    F[0] -= 0.1 * v[0]

folder, results = sys.argv[1], {}
for name, scheme, step in (
    ("lagrange_top", "simpson", 0.01),
    ("free_rigid_body", "gauss2", 0.01),
    ("spring_damper", "suzuki4", 0.01),
    ("gantry_crane", "lobatto4", 0.05),
    ("chain_10", "midpoint", 0.002),
    ("branched_tree", "midpoint", 0.005),
    ("double_pendulum", "gauss6", 0.05),
    ("double_pendulum", "rk4", 0.01),
    ("double_pendulum", "direct_midpoint", 0.01),
    ("spring_damper", "midpoint_variation", 0.01),
    ("double_spherical_pendulum", "energy_momentum", 0.05),
    ("double_pendulum", "chorin", 0.01),
    ("heavy_top_quaternion", "blanes_moan4", 0.01),
    ("free_rigid_body", "splitting", 0.1),
):
    run = mbvi.simulate(mbvi.load(f"{folder}/{name}.yaml"), scheme, step=step, duration=3 * step)
    results[f"{name} {scheme}"] = [run.q[-1].tolist(), run.v[-1].tolist(), float(run.energy()[-1])]
own = mbvi.from_functions(["x"], mass, potential, force=force, initial_q=[1.0])
results["functions"] = mbvi.simulate(own, "gauss3", step=0.05, duration=0.2).q[-1].tolist()
print(json.dumps(results))
"""


def results(**environment):
    command = [sys.executable, "-c", SCRIPT, str(MODELS)]
    run = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def flat(values):
    return [x for each in values for x in (flat(each) if isinstance(each, list) else [each])]


@pytest.mark.filterwarnings("default")
def test_interpreted_equals_compiled():
    compiled, interpreted = results(NUMBA_DISABLE_JIT="0"), results(NUMBA_DISABLE_JIT="1")
    assert compiled.keys() == interpreted.keys()
    for name, values in compiled.items():
        # Compiled code rounds once where a product is added to a sum.
        assert np.allclose(flat(values), flat(interpreted[name]), rtol=1e-11, atol=1e-12), name


def test_unwritable_home_compiles_for_the_process_alone(tmp_path):
    blocked = tmp_path / "file"
    blocked.touch()
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    code = "from mbvi.kernels.compiler import decorators; print(decorators._CACHE_FOLDER)"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**environment, "XDG_CACHE_HOME": str(blocked), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(run.stdout.strip()).parent == tmp_path


@pytest.mark.parametrize(
    ("usual", "expected"), [((700, 10, 10), RARELY), ((0, 5, 5), 0), ((2 * RARELY, 10, 10), 2 * RARELY)]
)
def test_garbage_is_rarely_looked_for_while_numba_compiles(usual, expected):
    """Unless that is switched off or rarer yet; and afterwards, also of what does not compile, as before."""
    seen, before = [], gc.get_threshold()

    def look(is_wrong):
        pass

    @overload(look)
    def generate(is_wrong):
        seen.append(gc.get_threshold())
        if not isinstance(is_wrong, types.Boolean):
            raise errors.TypingError("not a boolean")
        return lambda is_wrong: None

    def asked(is_wrong):
        look(is_wrong)

    gc.set_threshold(*usual)
    try:
        compiled(types.none(types.boolean), asked)
        with pytest.raises(errors.TypingError):
            compiled(types.none(types.float64), asked)
        assert gc.get_threshold() == usual
    finally:
        gc.set_threshold(*before)
    assert set(seen) == {(expected, *usual[1:])}


def test_several_threads_that_compile_leave_the_collector_as_it_was(monkeypatch):
    """Also where one comes while another is just about to change it."""
    listener, before, change = Compiling(), gc.get_threshold(), gc.set_threshold

    def slow_change(*thresholds):
        change(*thresholds)
        time.sleep(0.01)

    def events(_):
        for _ in range(3):
            listener.on_start(None)
            listener.on_end(None)

    monkeypatch.setattr(gc, "set_threshold", slow_change)
    try:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(events, range(4)))
        assert gc.get_threshold() == before
    finally:
        change(*before)


def test_the_time_of_several_threads_that_compile_is_counted_once(monkeypatch):
    now, listener = [0.0], Compiling()
    monkeypatch.setattr("mbvi.kernels.compiler.compiling.time", SimpleNamespace(perf_counter=lambda: now[0]))
    for now[0], event in ((1, listener.on_start), (3, listener.on_start), (7, listener.on_end), (8, listener.on_end)):
        event(None)
    now[0] = 20
    assert listener.seconds == 7
    listener.on_start(None)
    now[0] = 25
    assert listener.seconds == 12


def test_the_time_of_a_run_is_that_of_its_steps_alone(monkeypatch):
    """Not of what numba compiles meanwhile, as for the look at the branches of a loop."""
    model, look, spent = mbvi.load(MODELS / "four_bar.yaml"), BranchWatch._first_jump, []

    def compile_and_look(*arguments):
        began = time.perf_counter()
        njit(lambda x: np.sin(x) + np.linspace(0.0, x, 3).sum())(1.0)
        spent.append(time.perf_counter() - began)
        return look(*arguments)

    mbvi.simulate(model, "simpson", 0.01, 0.1)
    monkeypatch.setattr(BranchWatch, "_first_jump", compile_and_look)
    assert mbvi.simulate(model, "simpson", 0.01, 0.1).statistics.seconds < 0.5 * sum(spent)


def test_a_kernel_is_called_by_kernels_and_by_python():
    """Without its wrapper, which kernels do not have that kernels call, a call from Python would end the process."""

    @njit
    def from_kernel(a, b):
        return cross(*a, *b)

    a, b = (1.0, 2.0, 3.0), (-2.0, 0.5, 4.0)
    assert from_kernel(a, b) == cross(*a, *b) == tuple(np.cross(a, b))
