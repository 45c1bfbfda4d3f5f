"""What expressions of quantities are in states of a system: see `mbvi.model.quantities`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError
from mbvi.kernels.mechanics.functions import OPERATIONS, STACK_SIZE
from mbvi.kernels.mechanics.several import VARIABLE, fill_derivatives, fill_values
from mbvi.model.expressions import MARK, nearest, show, wrong
from mbvi.model.quantities import Measure, Quantity, measure
from mbvi.system.system import System

Array = np.ndarray


class Evaluator:
    """An expression of quantities as kernels take it.

    Attributes
    ----------
    quantities : tuple of Quantity
        Its variables; the time is the first.

    Examples
    --------
    >>> from mbvi.model.quantities import measure
    >>> product = Evaluator(measure("q('a') * q('b')**2", {}))
    >>> value, gradient, second = product.derivatives([0, 2, 3])
    >>> value, gradient.tolist(), second[1:, 1:].tolist()
    (18.0, [0.0, 9.0, 12.0], [[0.0, 6.0], [6.0, 4.0]])
    """

    def __init__(self, found: Measure) -> None:
        self.quantities = found.quantities
        operations: list[int] = []
        numbers: list[float] = []
        for item in found.program:
            if isinstance(item, float):
                operations += [0, len(numbers)]
                numbers.append(item)
            elif item == "t" or item.startswith(MARK):
                operations += [VARIABLE, int(item.removeprefix(MARK)) if item != "t" else 0]
            else:
                operations += [OPERATIONS.index(item), 0]
        self._program = np.array(operations, np.int64), np.array(numbers), np.zeros((STACK_SIZE, 3))

    def values(self, x: ArrayLike) -> Array:
        """Its values (states,) where the quantities have the values x (states, m)."""
        places = np.ascontiguousarray(x, dtype=float)
        out = np.zeros(len(places))
        fill_values(out, *self._program, places, np.zeros(places.shape[1]))
        return out

    def derivatives(self, x: ArrayLike) -> tuple[float, Array, Array]:
        """Its value, its gradient (m,) and its second derivatives (m, m) by the quantities, where these are x (m,)."""
        place = np.ascontiguousarray(x, dtype=float)
        gradient, second = np.zeros(len(place)), np.zeros((len(place), len(place)))
        value = fill_derivatives(gradient, second, *self._program, place, np.zeros(len(place)))
        return float(value), gradient, second


class Measurement:
    """An expression of quantities of a system, whose values in its states are asked for many times.

    Parameters
    ----------
    system : System
        The system of a model, whose parameters the expression may use.
    text : str
        The expression.

    Raises
    ------
    ModelError
        If the text is no such expression, or names what the system does not have.
    """

    def __init__(self, system: System, text: str) -> None:
        if system.model is None:
            found = f"one of {system.name!r}, which has no names"
            raise ModelError(wrong("the run of a model", found, "use its coordinates"))
        parameters = {name: float(value) for name, value in system.model.resolved().parameters.items()}
        self._evaluator = Evaluator(measure(text, parameters))
        self._columns = [_values_of(system, each) for each in self._evaluator.quantities]

    def __call__(self, t: Array, q: Array, v: Array) -> Array:
        """Its values (states,) at times t (states,) with coordinates and rates q and v (states, n)."""
        return self._evaluator.values(np.stack([values(t, q, v) for values in self._columns], axis=1))


def measured(system: System, text: str, t: Array, q: Array, v: Array) -> Array:
    """The values (states,) of an expression of quantities in states of a system, as a `Measurement` gives them."""
    return Measurement(system, text)(t, q, v)


def _values_of(system: System, quantity: Quantity) -> Callable[[Array, Array, Array], Array]:
    """What gives the values of a quantity in states."""
    kind, name, _ = quantity
    if kind == "t":
        return lambda t, q, v: t
    if kind in ("x", "y", "z"):
        system.poses(name, system.given_q[None])  # refuses what is no body
        return lambda t, q, v: system.poses(name, q)[0][:, "xyz".index(kind)]
    column = _coordinate(system, quantity)
    return lambda t, q, v: (q if kind == "q" else v)[:, column]


def _coordinate(system: System, quantity: Quantity) -> int:
    """The index of a coordinate of a joint."""
    names, (kind, joint, coordinate) = list(system.coordinate_names), quantity
    joints = system.model.joints if system.model else {}
    if joint not in joints:
        raise ModelError(f"{kind}({joint!r}): {wrong('a joint', show(joint), nearest(joint, joints))}")
    own = [name for name in joints[joint].coordinate_names if f"{joint}.{name}" in names]
    chosen = own[0] if coordinate is None and len(own) == 1 else coordinate
    if chosen not in own:
        listed = ", ".join(own) or "none: it is a weld, or cut, as joints are in the embedding"
        raise ModelError(f"{kind}({joint!r}): {wrong('one of its coordinates', show(coordinate), listed)}")
    return names.index(f"{joint}.{chosen}")
