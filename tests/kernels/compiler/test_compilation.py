"""Kernels are kept compiled where the user can write, and compiling leaves all else as it was."""

import gc
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
from mbvi.kernels.compiler.compiling import COMPILING, RARELY, Compiling
from mbvi.kernels.compiler.decorators import compiled
from mbvi.kernels.mechanics.rotation import cross
from mbvi.steppers.branches import BranchWatch
from tests.folders import load


def test_unwritable_home_compiles_for_the_process_alone(tmp_path):
    blocked = tmp_path / "file"
    blocked.touch()
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    code = "from mbvi.kernels.compiler.folder import FOLDER; print(FOLDER)"
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
    """Not of what numba compiles meanwhile. Here the clock stands still but for that."""
    now, advance = [0.0], BranchWatch.advance
    for module in ("mbvi.steppers.loop", "mbvi.kernels.compiler.compiling"):
        monkeypatch.setattr(f"{module}.time", SimpleNamespace(perf_counter=lambda: now[0]))

    def compile_and_advance(*arguments):
        COMPILING.on_start(None)
        now[0] += 1000.0
        COMPILING.on_end(None)
        return advance(*arguments)

    monkeypatch.setattr(BranchWatch, "advance", compile_and_advance)
    assert mbvi.simulate(load("four_bar"), "simpson", 0.01, 0.1).statistics.seconds == 0
    assert now[0] >= 1000.0


def test_a_kernel_is_called_by_kernels_and_by_python():
    """Without its wrapper, which kernels do not have that kernels call, a call from Python would end the process."""

    @njit
    def from_kernel(a, b):
        return cross(*a, *b)

    a, b = (1.0, 2.0, 3.0), (-2.0, 0.5, 4.0)
    assert from_kernel(a, b) == cross(*a, *b) == tuple(np.cross(a, b))
