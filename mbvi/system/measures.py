"""What expressions of quantities are in states of a system: see `mbvi.model.quantities`."""

from __future__ import annotations

from typing import Any

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


def measured(system: System, text: str, t: Array, q: Array, v: Array) -> Array:
    """The values (states,) of an expression of quantities in states of a system.

    Parameters
    ----------
    system : System
        Of a model, whose parameters the expression may use.
    text : str
        The expression.
    t : (states,)
        Times [s].
    q, v : (states, n)
        Coordinates and their rates.

    Raises
    ------
    ModelError
        If the text is no such expression, or names what the system does not have.
    """
    if system.model is None:
        raise ModelError(
            wrong("the run of a model", f"one of {system.name!r}, which has no names", "use its coordinates")
        )
    parameters = {name: float(value) for name, value in system.model.resolved().parameters.items()}
    evaluator = Evaluator(measure(text, parameters))
    columns = [_values(system, each, t, q, v) for each in evaluator.quantities]
    return evaluator.values(np.stack(columns, axis=1))


def _values(system: System, quantity: Quantity, t: Array, q: Array, v: Array) -> Any:
    """The values of a quantity in all states."""
    if quantity.kind == "t":
        return t
    if quantity.kind in ("x", "y", "z"):
        return system.poses(quantity.name, q)[0][:, "xyz".index(quantity.kind)]
    return (q if quantity.kind == "q" else v)[:, _coordinate(system, quantity)]


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
