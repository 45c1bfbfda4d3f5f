"""What a stepper carries from one call to the next, and what a file may put back into it."""

import numpy as np
import pytest

import mbvi
from mbvi.kernels.compiler.packed import Packed, read_only
from mbvi.steppers import carried, discrete_gradient, galerkin, independent, loop, splitting

CASES = [
    ("double_pendulum", "simpson"),
    ("double_pendulum", "gauss6"),
    ("lagrange_top", "suzuki4"),
    ("heavy_top_quaternion", "midpoint"),
    ("four_bar", "simpson"),
    ("four_bar", "independent4"),
    ("double_pendulum", "rk4"),
    ("double_pendulum", "direct_midpoint"),
    ("double_pendulum", "midpoint_variation"),
    ("double_pendulum", "chorin"),
    ("heavy_top_quaternion", "blanes_moan4"),
]


@pytest.fixture
def spaces(monkeypatch):
    """The workspaces of the runs that follow."""
    found = []

    def noted(*spaces):
        found.extend(spaces)
        return carried.carried(*spaces)

    for module in (galerkin, loop, independent, splitting, discrete_gradient):
        monkeypatch.setattr(module, "carried", noted)
    return found


def arrays_of(spaces, is_wanted):
    """The arrays of workspaces of which that holds, of their name and contents."""
    every = ((name, getattr(space, name)) for space in spaces for name in space._numba_type_.layout)
    return [each for name, each in every if isinstance(each, np.ndarray) and is_wanted(name, each)]


@pytest.mark.parametrize(("name", "scheme"), CASES)
def test_what_is_not_carried_does_not_matter(name, scheme, models, spaces, monkeypatch):
    """No kernel writes to constants, and none reads work that it did not write in the same call."""
    monkeypatch.setattr(loop, "PIECE_SECONDS", 0.0)
    monkeypatch.setattr(loop, "FIRST_STEPS", 0.0)
    model, before, disturbed = mbvi.load(models / f"{name}.yaml"), [], []

    def is_constant(_, each):
        return not each.flags.writeable

    def disturb(done, steps):
        if not before:
            before.extend(each.copy() for each in arrays_of(spaces, is_constant))
        for each in arrays_of(spaces, lambda key, each: each.dtype.kind == "i" and key in carried.WORK):
            disturbed.append(each.size)
            each[...] = np.arange(each.size).reshape(each.shape) // 2

    options = {"step": 0.002, "duration": 0.04}
    run = mbvi.simulate(model, scheme, progress=disturb, **options)
    after = arrays_of(spaces, is_constant)
    assert all(map(np.array_equal, before, after)) and len(before) == len(after)
    assert sum(disturbed) > 0
    assert np.array_equal(run.q, mbvi.simulate(model, scheme, **options).q)


def test_integers_that_no_run_leaves_are_refused():
    """Before anything is put back."""

    class Some(Packed):
        """A workspace."""

    q, order = np.array([1.0, 2.0]), np.arange(3)
    space = Some(q=q, order=order, count=np.zeros(2, np.int64), pivots=order, **read_only(b=q))
    state = carried.carried(space)
    assert [each.array.size for each in state] == [2, 3, 2]  # in the order of their names: count, order, q
    content = carried.to_bytes(state)
    space.q[:], space.order[:] = 0.0, [2, 1, 0]
    carried.take_back(state, content)
    assert space.q.tolist() == [1.0, 2.0] and space.order.tolist() == [0, 1, 2]
    for place, value in ((0, -1), (1, 2**62), (2, -1), (4, 3), (3, -(2**63))):
        forged = np.frombuffer(content, np.int64).copy()
        forged[place] = value
        forged[5] = np.float64(7.0).view(np.int64)
        with pytest.raises(ValueError, match="one with numbers that no run leaves in it"):
            carried.take_back(state, forged.tobytes())
        assert space.q.tolist() == [1.0, 2.0] and space.order.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="one of another stepper"):
        carried.take_back(state, content[:-8])


def test_integers_of_which_nothing_is_known_are_an_error():
    """So that what a kernel newly carries is not read back unchecked."""

    class Other(Packed):
        """A workspace."""

    with pytest.raises(KeyError, match="unheard_of"):
        carried.carried(Other(unheard_of=np.zeros(1, np.int64)))
