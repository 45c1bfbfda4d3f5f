"""Kernels that are compiled when they are first called."""

import math
import subprocess
import sys

import numpy as np
import pytest
from numba import njit, types

from mbvi.kernels.compiler.compiling import COMPILING
from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.compiler.late import LateKernel, late_kernel
from mbvi.kernels.compiler.packed import Packed


class Numbers(Packed):
    """Numbers x."""


@late_kernel(types.float64)
def scaled_sum(numbers, t, h):
    """t + h Σ x."""
    total = 0.0
    for a in range(numbers.x.shape[0]):
        total += numbers.x[a]
    return t + h * total


@late_kernel()
def shift(x, by):
    """Add a number to all of x."""
    for a in range(x.shape[0]):
        x[a] += by


@late_kernel(types.boolean)
def is_positive(x):
    """Whether a number is."""
    return x > 0


@late_kernel(types.int64)
def sign(x):
    """Of a number."""
    return 1 if is_positive(x) else -1


@kernel
def ask(numbers, t, h):
    """What the late kernel gives."""
    return scaled_sum(numbers, t, h)


def test_the_first_call_compiles_and_later_ones_do_not():
    first, second = (Numbers(x=np.array([1.0, 2.0, scale])) for scale in (3.0, 4.0))
    before = len(scaled_sum.entry.overloads)
    assert ask(first, 10.0, 2.0) == 22.0
    assert len(scaled_sum.entry.overloads) == before + 1
    spent = COMPILING.seconds
    assert [ask(each, 0.0, 1.0) for each in (first, second)] == [6.0, 7.0]
    assert COMPILING.seconds == spent


def test_it_returns_numbers_or_nothing_and_changes_arrays():
    @njit
    def shifted(x, by):
        shift(x, by)
        return sign(by), is_positive(x[0])

    x = np.array([1.0, 2.0])
    assert shifted(x, -3.0) == (-1, False)
    assert (x == [-2.0, -1.0]).all()
    assert sign(2.0) == 1  # from Python


def test_an_interrupt_while_it_compiles_is_raised_when_its_caller_has_returned(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    @late_kernel(types.float64)
    def doubled(x):
        return 2.0 * x

    @kernel
    def asked(x):
        return doubled(x)

    with monkeypatch.context() as patched:
        patched.setattr(doubled.entry, "compile", interrupted)
        with pytest.raises(KeyboardInterrupt):
            asked(1.0)
    assert asked(2.0) == 4.0


def test_what_fails_to_compile_gives_no_number():
    @late_kernel(types.float64)
    def lost(x):
        return x.nothing

    @njit
    def asked(x):
        return lost(x)

    assert math.isnan(asked(1.0))
    with pytest.raises(Exception, match="nothing"):
        COMPILING.raise_error()
    COMPILING.raise_error()  # once


def test_it_returns_what_was_said():
    @late_kernel(types.float64)
    def halves(x):
        return x, x

    @kernel
    def asked(x):
        return halves(x)

    with pytest.raises(Exception, match="Tuple"):
        asked(1.0)


def test_callers_contain_it_where_calls_are_direct(monkeypatch):
    """As on a processor that cannot call the host."""
    monkeypatch.setattr(LateKernel, "is_direct", True)

    @late_kernel(types.float64)
    def halved(x):
        return 0.5 * x

    @njit
    def asked(x):
        return halved(x)

    assert asked(3.0) == 1.5
    assert not halved.entry.overloads


def test_it_is_the_function_where_numba_is_switched_off():
    code = "from mbvi.kernels.compiler.late import late_kernel; print(late_kernel()(abs) is abs)"
    run = subprocess.run(
        [sys.executable, "-c", code], env={"NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "True"


def test_objects_of_a_class_have_the_same_fields():
    class Pairs(Packed):
        """Numbers x."""

    Pairs(x=np.ones(2))
    with pytest.raises(TypeError, match="Pairs: expected the fields of Pairs"):
        Pairs(x=np.ones((2, 2)))
