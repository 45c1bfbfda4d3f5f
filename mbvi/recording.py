"""Numbers that write down what is computed with them, so that the same can be computed from other numbers, of many cases at once.

What is computed with a `Number` is a Number again, and a step of a program. A comparison gives a plain answer, and is a condition
of the program. A case in which the answer would be another is not valid: for it something else would have been computed. For all
others the program gives what the same code gives of their numbers, bit for bit, since the same operations follow each other.

>>> import numpy as np
>>> recording = Recording({"mass": 2.0, "length": 0.5})
>>> mass, length = recording.inputs.values()
>>> moment = mass * length**2 / 3 if length > 0 else 0.0
>>> values, is_valid = recording.program([moment]).run(np.array([[3.0, 1.0], [2.0, -1.0]]))
>>> is_valid.tolist(), values[0, is_valid].tolist()
([True, False], [4.0])

Nothing is lost in silence: numpy and `float` refuse a Number, and functions of `math` see one that is not a number.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray


def _each(function: Callable[..., float]) -> Callable[..., Array]:
    """A function of floats, of every case in turn: numpy's own need not round alike. Where it has no value, not a number."""

    def of_all(*arguments: Any) -> Array:
        return np.array([value(*case) for case in zip(*np.broadcast_arrays(*arguments), strict=True)], float)

    def value(*case: np.float64) -> float:
        try:
            found = function(*map(float, case))
        except (ArithmeticError, ValueError):
            return math.nan
        return math.nan if isinstance(found, complex) else found

    return of_all


UNARY = {name: getattr(math, name) for name in "sin cos tan asin acos atan sinh cosh tanh exp log".split()}
ONE: dict[str, Callable[..., Any]] = UNARY | {"neg": operator.neg, "abs": operator.abs, "sqrt": math.sqrt}
TWO: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "atan2": math.atan2,
}
RELATIONS = {"<": operator.lt, "<=": operator.le, "==": operator.eq}
ROUNDED_ALIKE: dict[str, Callable[..., Any]] = {"neg": np.negative, "abs": np.abs, "sqrt": np.sqrt}
ROUNDED_ALIKE |= {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
OF_ALL = {name: _each(function) for name, function in (ONE | TWO).items()} | ROUNDED_ALIKE


class Number(float):
    """A number of a recording: its value there, and its place in the program."""

    __slots__ = ("place", "recording", "value")
    __array_ufunc__ = None  # arrays leave operations to it

    recording: Recording
    place: int
    value: float

    def __new__(cls, recording: Recording, place: int, value: float) -> Number:
        """A number that is none for those who do not know it."""
        own = super().__new__(cls, math.nan)
        own.recording, own.place, own.value = recording, place, value
        return own

    def __float__(self) -> float:
        raise TypeError("a recorded number has no value of its own")

    def __hash__(self) -> int:
        return hash((id(self.recording), self.place))

    def __repr__(self) -> str:
        return repr(self.value)

    def __bool__(self) -> bool:
        return self != 0.0

    def __neg__(self) -> Number:
        return self.recording.computed("neg", self)

    def __abs__(self) -> Number:
        return self.recording.computed("abs", self)

    def __pos__(self) -> Number:
        return self


def _operator(name: str, is_swapped: bool) -> Callable[[Number, Any], Any]:
    def operate(self: Number, other: Any) -> Any:
        if isinstance(other, np.ndarray) and other.ndim:
            return np.array([operate(self, each) for each in other.flat], object).reshape(other.shape)
        if not isinstance(other, float | int | np.number):
            return NotImplemented
        return self.recording.computed(name, *((other, self) if is_swapped else (self, other)))

    return operate


def _relation(name: str, is_swapped: bool, is_negated: bool) -> Callable[[Number, Any], Any]:
    def relate(self: Number, other: Any) -> Any:
        if not isinstance(other, float | int | np.number):
            return NotImplemented
        pair = (other, self) if is_swapped else (self, other)
        return self.recording.decided(name, *pair) is not is_negated

    return relate


for _name, _symbol in (("add", "+"), ("sub", "-"), ("mul", "*"), ("truediv", "/"), ("pow", "**")):
    setattr(Number, f"__{_name}__", _operator(_symbol, is_swapped=False))
    setattr(Number, f"__r{_name}__", _operator(_symbol, is_swapped=True))
for _name, _symbol, _is_swapped, _is_negated in (
    ("lt", "<", False, False),
    ("le", "<=", False, False),
    ("gt", "<", True, False),
    ("ge", "<=", True, False),
    ("eq", "==", False, False),
    ("ne", "==", False, True),
):
    setattr(Number, f"__{_name}__", _relation(_symbol, _is_swapped, _is_negated))


class Step(NamedTuple):
    """A step of a program: an operation on numbers that were found before, by their places."""

    operation: str
    arguments: tuple[int, ...]


class Condition(NamedTuple):
    """What must be as it was: a relation between numbers, or a function of them, by their places."""

    holds: Callable[..., Any]
    arguments: tuple[Any, ...]
    expected: Any


class Recording:
    """A program that is written down while its numbers are computed.

    Parameters
    ----------
    values : mapping of str to float
        Its inputs.

    Attributes
    ----------
    inputs : dict of str to Number
    """

    def __init__(self, values: Mapping[str, float]) -> None:
        self._steps: list[Step | float | None] = [None] * len(values)  # a float is a constant, None an input
        self._places: dict[Any, int] = {}
        self._conditions: dict[Condition, None] = {}
        self.inputs = {name: Number(self, i, value) for i, (name, value) in enumerate(values.items())}

    def computed(self, operation: str, *arguments: Any) -> Any:
        """The result of an operation, as a Number."""
        value = (ONE if len(arguments) == 1 else TWO)[operation](*map(known, arguments))
        if isinstance(value, complex):
            return value
        step = Step(operation, tuple(map(self._place, arguments)))
        return Number(self, self._add(step, step), value)

    def decided(self, relation: str, *arguments: Any) -> bool:
        """Whether a relation holds, which is then a condition."""
        answer = bool(RELATIONS[relation](*map(known, arguments)))
        self.require(RELATIONS[relation], arguments, answer)
        return answer

    def require(self, holds: Callable[..., Any], arguments: Sequence[Any], expected: Any) -> None:
        """Make it a condition that a function of numbers, or of arrays of them, gives what it gave."""
        self._conditions[Condition(holds, tuple(map(self._places_of, arguments)), expected)] = None

    def _places_of(self, argument: Any) -> Any:
        """The place of a number; of an array its shape and the places of its numbers."""
        if isinstance(argument, np.ndarray):
            return argument.shape, tuple(map(self._place, argument.ravel().tolist()))
        return self._place(argument)

    def _place(self, number: Any) -> int:
        if isinstance(number, Number):
            if number.recording is not self:
                raise TypeError("a number of another recording")
            return number.place
        value = float(number)
        return self._add((value, math.copysign(1.0, value)), value)

    def _add(self, key: Any, step: Step | float) -> int:
        """The place of a step, which is not repeated."""
        if key not in self._places:
            self._places[key] = len(self._steps)
            self._steps.append(step)
        return self._places[key]

    def program(self, outputs: Sequence[float]) -> Program:
        """What computes these numbers, and no others but those of the conditions."""
        places = [self._place(each) for each in outputs]
        needed = {*places}
        for condition in self._conditions:
            for argument in condition.arguments:
                needed.update((argument,) if isinstance(argument, int) else argument[1])
        for place in range(len(self._steps) - 1, -1, -1):
            step = self._steps[place]
            if place in needed and isinstance(step, Step):
                needed.update(step.arguments)
        steps = [(place, step) for place, step in enumerate(self._steps) if place in needed]
        return Program(len(self._steps), len(self.inputs), steps, list(self._conditions), places)


class Program:
    """What was written down, for the numbers of other cases. Made by `Recording.program`."""

    def __init__(
        self,
        size: int,
        inputs: int,
        steps: Sequence[tuple[int, Any]],
        conditions: Sequence[Condition],
        outputs: Sequence[int],
    ) -> None:
        self._size, self._inputs, self._outputs = size, inputs, outputs
        self._constants = [(place, step) for place, step in steps if isinstance(step, float)]
        self._steps = [(place, OF_ALL[step[0]], step[1]) for place, step in steps if isinstance(step, Step)]
        self._conditions = conditions

    def run(self, values: Array) -> tuple[Array, Array]:
        """The outputs (outputs, cases) for the inputs (inputs, cases), and which cases are valid, (cases,)."""
        found: list[Any] = [None] * self._size
        found[: self._inputs] = values
        for place, constant in self._constants:
            found[place] = constant
        is_valid = np.ones(values.shape[1], bool)
        with np.errstate(all="ignore"):
            for place, operation, arguments in self._steps:
                found[place] = operation(*[found[i] for i in arguments])
            for holds, arguments, expected in self._conditions:
                is_valid &= holds(*[_numbers(found, each, is_valid.size) for each in arguments]) == expected
            outputs = np.empty((len(self._outputs), is_valid.size))
            for row, place in enumerate(self._outputs):
                outputs[row] = found[place]
            is_valid &= np.isfinite(outputs).all(axis=0)
        return outputs, is_valid


def _numbers(found: Sequence[Any], argument: Any, cases: int) -> Any:
    """The numbers (cases,) at a place, or the arrays (cases, …) of those at many."""
    if isinstance(argument, int):
        return found[argument]
    shape, places = argument
    return np.stack([np.broadcast_to(found[i], cases) for i in places], axis=-1).reshape(cases, *shape)


# ------------------------------------------------------------- for code that computes with plain numbers too


def known(number: Any) -> float:
    """A plain number, the value at which it was recorded if it is a Number."""
    return number.value if isinstance(number, Number) else float(number)


def is_finite(number: float) -> bool:
    """Whether a number is finite."""
    if isinstance(number, Number):
        number.recording.require(np.isfinite, [number], math.isfinite(number.value))
    return math.isfinite(known(number))


def plain(number: Any) -> Any:
    """A number as a float; a Number stays what it is, and so does an expression in symbols."""
    return number if isinstance(number, Number) or hasattr(number, "free_symbols") else float(number)


def apply(name: str, *numbers: Any) -> Any:
    """A function of numbers: sin, sqrt, atan2, …, as `math` has it."""
    for number in numbers:
        if isinstance(number, Number):
            return number.recording.computed(name, *numbers)
    return getattr(math, name)(*numbers)


def array(values: Any) -> Array:
    """Numbers as an array of floats, or of objects where one of them is a Number."""
    try:
        return np.array(values, dtype=float)
    except TypeError:
        return np.array(values, dtype=object)


def dot(a: Array, b: Array) -> Any:
    """The product a @ b, its terms added in their order, so that it is the same of floats and of Numbers."""
    product = a.astype(object) @ b.astype(object)
    return product if a.dtype == object or b.dtype == object or not a.ndim + b.ndim > 2 else product.astype(float)


def norm(vector: Array) -> Any:
    """The length of a vector (n,)."""
    return apply("sqrt", dot(vector, vector))


def decide(holds: Callable[..., Any], *arguments: Array) -> bool:
    """Whether a function of arrays holds; it also takes arrays (cases, …), for which it says the same of every case."""
    plain = [np.array([known(each) for each in a.flat]).reshape(a.shape) for a in arguments]
    answer = bool(holds(*plain))
    numbers = (each for a in arguments for each in a.flat if isinstance(each, Number))
    if (first := next(numbers, None)) is not None:
        first.recording.require(holds, arguments, answer)
    return answer


def are_equal(a: Any, b: Any) -> bool:
    """Whether all numbers of one array are those of another."""
    return decide(_equal, array(a).ravel(), array(b).ravel())


def _equal(a: Array, b: Array) -> Any:
    return (a == b).all(-1)


def is_zero(values: Any) -> bool:
    """Whether all of some numbers are 0."""
    found = array(values).ravel()
    return are_equal(found, np.zeros(found.size)) if found.dtype == object else not found.any()
