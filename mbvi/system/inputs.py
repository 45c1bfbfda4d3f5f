"""Inputs of actuators that are numbers: what they are between steps, and the same, once it is known, as functions of time.

Input i of a run that was given values u_0, u_1, … at times t_0 < t_1 < … is u_k from t_k to before t_{k+1}: a table of time that
holds its values. A system with such tables in the place of the numbers has at every time the force that acted then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from mbvi.errors import ModelError
from mbvi.floats import as_floats
from mbvi.kernels import layout
from mbvi.model.arguments import checked_number, checked_vector, is_number
from mbvi.model.expressions import nearest, show, wrong
from mbvi.model.forces import FrameActuator, OnTendon
from mbvi.model.inputs import with_inputs as replaced_inputs
from mbvi.system.system import System
from mbvi.system.tables import Tables

Array = np.ndarray
FLOAT = np.dtype(float)
FUNCTION = 2  # column of joint forces


def settable_inputs(system: System) -> dict[str, int]:
    """The inputs that are numbers, and not functions of time, with their places in ``system.arrays.inputs``."""
    rows = system.arrays.joint_forces
    rows = rows[(rows[:, 0] == layout.ACTUATOR) & (rows[:, FUNCTION] == layout.NUMBER)]
    settable = set(rows[:, layout.INPUT].tolist())
    return {name: i for i, name in enumerate(system.input_names) if i in settable}


def check_settable(name: Any, system: System, where: str) -> None:
    """Refuse a name that is none of an input that is a number.

    Raises
    ------
    ModelError
        Naming the nearest.
    """
    settable = settable_inputs(system)
    if name in settable:
        return
    if name in system.input_names:
        of = "the state" if system._feedback is not None and name in system._feedback.names else "time"
        remedy = "give it a number as input in the model"
        raise ModelError(f"{where}: {wrong('an input that is a number', f'{name!r}, a function of {of}', remedy)}")
    if not settable:
        remedy = "add an actuator to the forces of the model"
        raise ModelError(f"{where}: {wrong('an input of an actuator', f'{show(name)}, and no such input', remedy)}")
    raise ModelError(f"{where}: {wrong('an input of an actuator', show(name), nearest(str(name), settable))}")


class ToldInputs:
    """The inputs of a system that are numbers, to be read and set.

    Parameters
    ----------
    system : System
        The system whose arrays are written into.

    Attributes
    ----------
    names : tuple of str
    """

    def __init__(self, system: System) -> None:
        settable = settable_inputs(system)
        self._system, self.names, self._inputs = system, tuple(settable), system.arrays.inputs
        self._shape = (len(settable),)
        self._places, self._of_all = settable, ... if len(settable) == len(self._inputs) else [*settable.values()]

    def now(self) -> dict[str, float]:
        """Their values."""
        return dict(zip(self.names, self._inputs[self._of_all].tolist(), strict=True))

    def set(self, given: Any, where: str = "u") -> None:
        """Set all of them, by order, or some, by their names.

        Raises
        ------
        ModelError
            If one is unknown or no finite number, or they are not as many.
        """
        if type(given) is np.ndarray and given.dtype is FLOAT and given.shape == self._shape:
            if isfinite(sum(given.tolist())):  # the quick way; a sum may overflow
                self._inputs[self._of_all] = given
                return
        elif isinstance(given, Mapping):
            self._set_some(given, where)
            return
        array = as_floats([given] if is_number(given) else given)
        if array is None or array.shape != self._shape:
            raise ModelError(f"{where}: {self._wrong(given)}")
        if not all(map(isfinite, array.tolist())):
            checked_vector(array, where, self.names)
        self._inputs[self._of_all] = array

    def _wrong(self, given: Any) -> str:
        """What is said of what are no numbers for all inputs."""
        if not self.names:
            remedy = "add an actuator to the forces of the model"
            return wrong("none, since no actuator takes a number", show(given), remedy)
        return wrong(f"numbers for {', '.join(self.names)} in this order", show(given), "or give some by their names")

    def _set_some(self, given: Mapping, where: str) -> None:
        for name in given:
            if name not in self._places:
                check_settable(name, self._system, where)
        values = {name: checked_number(value, f"{where}.{name}") for name, value in given.items()}
        for name, value in values.items():
            self._inputs[self._places[name]] = value


def where_of(system: System, name: str) -> str:
    """Where an actuator acts, in words."""
    assert system.model is not None
    force = system.model.forces[name]
    if isinstance(force, OnTendon):
        return "along a tendon"
    return "at a frame" if isinstance(force, FrameActuator) else "on a coordinate"


def with_own_inputs(system: System) -> System:
    """A copy with inputs of its own, which may do work; itself where no input is a number."""
    if not settable_inputs(system):
        return system
    own = with_arrays(system)
    own._given_inputs = system, partial(_with_inputs_of, other=own)
    return own


def _with_inputs_of(system: System, other: System) -> System:
    """A copy with the inputs that another system of the same model has now."""
    return with_arrays(system, inputs=other.arrays.inputs)


def row_of_input(system: System, place: int) -> int:
    """The row, among the forces on coordinates, of the actuator whose input has a place."""
    rows = system.arrays.joint_forces
    return int(np.flatnonzero((rows[:, 0] == layout.ACTUATOR) & (rows[:, layout.INPUT] == place)).item())


def with_tables(system: System, places: Sequence[int], times: Array, pieces: Array) -> System:
    """A copy whose inputs at some places are tables over increasing times (m,).

    pieces   (places, m + 1, 4)   coefficients before the first time, and from each time on, as `functions.interpolate` reads them
    """
    arrays = system.arrays
    functions, numbers, forces = [*arrays.time_functions.tolist()], [arrays.numbers], arrays.joint_forces.copy()
    start = len(arrays.numbers)
    for place, coefficients in zip(places, pieces, strict=True):
        forces[row_of_input(system, place), FUNCTION] = len(functions)
        functions.append([layout.TABLE, start, len(times)])
        numbers += [times, coefficients.ravel()]
        start += len(times) + coefficients.size
    tables = np.array(functions, np.int64).reshape(-1, 3)
    return with_arrays(system, time_functions=tables, numbers=np.concatenate(numbers), joint_forces=forces)


def with_held_inputs(system: System, places: Sequence[int], times: Array, values: Array) -> System:
    """A copy whose inputs at some places are functions of time: values (m, places), each from its time (m,) to the next.

    Before the first time they are what the system has. The values stay in the copy's table of numbers: see `held_values`.
    """
    pieces = np.zeros((len(places), len(times) + 1, 4))
    pieces[:, 0, 0], pieces[:, 1:, 0] = system.arrays.inputs[list(places)], np.asarray(values, float).T
    own = with_tables(system, places, times, pieces)
    own._given_inputs = system, partial(_with_held_inputs_of, places=places, times=times, other=own)
    return own


def _with_held_inputs_of(system: System, places: Sequence[int], times: Array, other: System) -> System:
    """A copy with the values that the inputs of another system of the same model are known to have by now."""
    return with_held_inputs(system, places, times, np.stack([held_values(other, each) for each in places], axis=1))


def held_values(system: System, place: int) -> Array:
    """The values (m,) that an input of `with_held_inputs` has from each time on, to be written into."""
    arrays = system.arrays
    function = arrays.joint_forces[row_of_input(system, place), FUNCTION]
    _, start, count = arrays.time_functions[function]
    return arrays.numbers[start + count : start + 5 * count + 4].reshape(-1, 4)[1:, 0]


def with_same_inputs(system: System, other: System) -> System:
    """Another system of the same actuators, with the inputs that were given to a system after it was assembled."""
    if system._given_inputs is None:
        return other
    before, give = system._given_inputs
    return give(with_same_inputs(before, other))


def take_inputs(system: System, other: System) -> None:
    """Give a system the inputs that another of the same actuators has now, held ones included."""
    system.arrays.inputs[:] = other.arrays.inputs
    rows, functions = other.arrays.joint_forces, other.arrays.time_functions
    rows = rows[(rows[:, 0] == layout.ACTUATOR) & (rows[:, FUNCTION] >= 0)]
    for place in rows[functions[rows[:, FUNCTION], 0] == layout.TABLE, layout.INPUT].tolist():
        held_values(system, place)[:] = held_values(other, place)


def with_arrays(system: System, **changed: Any) -> System:
    """A copy with arrays of its own, of which some fields are others; its actuators may do work."""
    own, arrays = copy(system), system.arrays
    fields = {name: getattr(arrays, name) for name in arrays._numba_type_.layout}
    own.arrays, own.is_conservative = layout.System(**fields | changed), False
    own._given_inputs = None
    for name in ("unforced", "_all_cut"):
        own.__dict__.pop(name, None)
    return own


def with_inputs(system: System, inputs: Mapping[str, Any]) -> System:
    """A copy whose actuators have other inputs: see `mbvi.model.inputs.with_inputs`.

    Raises
    ------
    ModelError
        If the system has no model, or no such actuators.
    """
    if system.model is None:
        raise ModelError(f"inputs: {wrong('the run of a model', f'{system.name!r}, which has no actuators')}")
    model, arrays = replaced_inputs(system.model, inputs), system.arrays
    tables = Tables(
        time_functions=arrays.time_functions.tolist(),
        operations=arrays.operations.tolist(),
        numbers=arrays.numbers.tolist(),
    )
    forces, values = arrays.joint_forces.copy(), arrays.inputs.copy()
    for name in inputs:
        place = system.input_names.index(name)
        value = model.resolved().forces[name].input  # type: ignore[union-attr]
        forces[row_of_input(system, place), FUNCTION] = -1 if isinstance(value, float) else tables.add_function(value)
        values[place] = value if isinstance(value, float) else 0.0
    own = with_arrays(
        system,
        joint_forces=forces,
        inputs=values,
        time_functions=np.array(tables.time_functions, np.int64).reshape(-1, 3),
        operations=np.array(tables.operations, np.int64),
        numbers=np.array(tables.numbers, float),
    )
    own.model, own._maps = model, {}
    own.is_conservative = system.is_conservative and all(
        each.derives_from_potential for each in model.resolved().forces.values()
    )
    return own
