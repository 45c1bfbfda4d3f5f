"""Third derivatives in jets of complex numbers: against SymPy's, and against the jets of the kernels."""

from types import SimpleNamespace

import numpy as np
import pytest
import sympy

from mbvi.kernels import layout
from mbvi.kernels.mechanics.functions import OPERATIONS, STACK_SIZE, interpolate, run_program
from mbvi.model.expressions import postfix
from mbvi.system.jets import jet_of_function
from mbvi.system.touching import TINY

X, RATE, BEND = 0.37, -1.3, 0.8
TEXTS = [
    "x**3 - 2*x + 5",
    "-x/(1 + x**2)",
    "sin(2*x) - cos(x**2)*x",
    "tan(x) + tanh(3*x)",
    "asin(x/2) + acos(x**2)*x",
    "atan(4*x) + atan2(x, x**2 - 1) + atan2(-1, x)",
    "sinh(x)*cosh(2*x)",
    "exp(-x**2)*log(x + 2)",
    "sqrt(2 + x)",
    "(x + 1)**2.5 + (x - 2)**3 + (x + 1)**0 + (x + 2)**(-1.5)",
    "(1 + x)**(x**2) + 2**x",
    "abs(x - 1)*x**2 + abs(x)*x",
    "min(x**2, x**3) + max(x, 1 - x**4)",
]


def arrays_of(program):
    """The tables of one program."""
    operations, numbers = [], []
    for item in program:
        if isinstance(item, float):
            numbers.append(item)
        operations += [OPERATIONS.index("push" if isinstance(item, float) else item), max(len(numbers) - 1, 0)]
    functions = np.array([[layout.PROGRAM, 0, len(program)]])
    return SimpleNamespace(time_functions=functions, operations=np.array(operations), numbers=np.array([*numbers, 0.0]))


def moved_by(by_x, by_rate, by_bend):
    return tuple(np.array([a + 1j * TINY * b]) for a, b in ((X, by_x), (RATE, by_rate), (BEND, by_bend)))


@pytest.mark.parametrize("text", TEXTS)
def test_every_operation(text):
    arrays = arrays_of(postfix(text, {}, "x"))
    x = sympy.Symbol("x", real=True)
    names = {"abs": sympy.Abs, "min": sympy.Min, "max": sympy.Max, "x": x}
    f = sympy.sympify(text, locals=names)
    derivatives = [float(f.diff(x, i).subs(x, sympy.Float(X, 40))) for i in range(4)]
    f0, f1, f2, f3 = derivatives
    kernel = run_program(
        arrays.operations, arrays.numbers, np.zeros((STACK_SIZE, 3)), 0, len(arrays.operations) // 2, X
    )
    size = np.abs(derivatives).max()
    assert kernel == pytest.approx((f0, f1, f2), abs=1e-13 * size)
    for way in np.eye(3):
        value, rate, bend = (each[0] for each in jet_of_function(arrays, 0, moved_by(*way)))
        dx, drate, dbend = way
        found = value.real, rate.real, bend.real
        assert found == pytest.approx((f0, f1 * RATE, f2 * RATE**2 + f1 * BEND), abs=1e-13 * size)
        changes = value.imag / TINY, rate.imag / TINY, bend.imag / TINY
        of_bend = (f3 * RATE**2 + f2 * BEND) * dx + 2 * f2 * RATE * drate + f1 * dbend
        assert changes == pytest.approx((f1 * dx, f2 * RATE * dx + f1 * drate, of_bend), abs=1e-12 * size)


@pytest.mark.parametrize("at", [-1.0, 0.2, 1.0, 1.7, 4.0])
def test_tables_by_their_pieces(at):
    """Before the first break, within, at one, and beyond the last: f‴ is that of the piece which the kernel takes."""
    random = np.random.default_rng(5)
    numbers = np.concatenate([[0.0, 1.0, 2.5], random.normal(size=16)])
    arrays = SimpleNamespace(time_functions=np.array([[layout.TABLE, 0, 3]]), operations=np.zeros(0), numbers=numbers)
    x = np.array([at + 1j * TINY]), np.array([1.0 + 0j]), np.array([0j])
    found = [each[0] for each in jet_of_function(arrays, 0, x)]
    kernel = interpolate(numbers, 0, 3, at)
    assert [each.real for each in found] == pytest.approx(kernel, abs=1e-13)
    beside = interpolate(numbers, 0, 3, at + 1e-3)
    third = (beside[2] - kernel[2]) / 1e-3
    assert [each.imag / TINY for each in found] == pytest.approx([kernel[1], kernel[2], third], abs=1e-9)


def test_constants_and_what_stands_still():
    """Where the argument of a root stands still at 0, its infinite slope does not count."""
    still = arrays_of(postfix("sqrt(max(x, 2) - 2) + 3", {}, "x"))
    assert [each[0] for each in jet_of_function(still, 0, moved_by(1.0, 0.0, 0.0))] == [3.0, 0.0, 0.0]
    constant = SimpleNamespace(time_functions=np.array([[layout.CONSTANT, 0, 1]]), numbers=np.array([4.0]))
    assert [each[0] for each in jet_of_function(constant, 0, moved_by(1.0, 0.0, 0.0))] == [4.0, 0.0, 0.0]
