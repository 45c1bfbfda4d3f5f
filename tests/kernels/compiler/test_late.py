"""Kernels that are compiled when they are first called."""

import numpy as np
import pytest

from mbvi.kernels.compiler import late
from mbvi.kernels.compiler.compiling import COMPILING
from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.compiler.packed import Packed, call


class Numbers(Packed):
    """Numbers x, and the address of what scales them."""


def scaled_sum(t, numbers, h):
    """t + h Σ x."""
    total = 0.0
    for a in range(numbers.x.shape[0]):
        total += numbers.x[a]
    return t + h * total


@kernel
def ask(numbers, t, h):
    """What the kernel of the field gives."""
    return call(numbers.scaled_sum, t, (numbers, h))


def test_the_first_call_compiles_and_later_ones_do_not(monkeypatch):
    found = late.late_kernel(Numbers)(scaled_sum)
    first, second = (Numbers(x=np.array([1.0, 2.0, scale]), scaled_sum=found) for scale in (3.0, 4.0))
    _, word = Numbers.kind.layout["scaled_sum"]
    before, stub = COMPILING.seconds, found.address
    assert ask(first, 10.0, 2.0) == 22.0
    assert COMPILING.seconds > before
    later = Numbers(x=np.array([1.0, 2.0, 5.0]), scaled_sum=found)
    assert second.words[word] == stub != first.words[word] == later.words[word]
    monkeypatch.setattr(late, "compiled_on_disk", None)
    assert [ask(each, 0.0, 1.0) for each in (first, second, later)] == [6.0, 7.0, 8.0]
    assert first.words[word] == second.words[word]


def test_an_interrupt_while_it_compiles_is_raised_when_its_caller_has_returned(monkeypatch):
    found = late.late_kernel(Numbers)(scaled_sum)
    numbers = Numbers(x=np.ones(2), scaled_sum=found)

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(late, "compiled_on_disk", interrupted)
        assert np.isnan(ask(numbers, 0.0, 1.0))
    with pytest.raises(KeyboardInterrupt):
        found.raise_error()
    found.raise_error()  # once
    assert ask(numbers, 0.0, 1.0) == 2.0


def test_objects_of_a_class_have_the_same_fields():
    Numbers(x=np.ones(2), scaled_sum=0)
    with pytest.raises(TypeError, match="Numbers: expected the fields of Numbers"):
        Numbers(x=np.ones((2, 2)), scaled_sum=0)


def test_it_is_the_function_where_numba_is_switched_off():
    numbers = Numbers(x=np.ones(2), scaled_sum=0)
    assert late.late_kernel(Numbers)(scaled_sum)(1.0, numbers, 3.0) == 7.0
