"""Inputs of actuators that are functions of the state, u(t, q, v): compiled, and evaluated wherever forces are.

The force of such an actuator, φ = α u + β + σ x + δ x′ within its limits, is part of the force function of the system, behind a
force of the user's own, and its row in the tables exerts nothing. Of one that acts at a frame or along a tendon the force
function writes the input behind the generalized forces, and its row in the tables reads it there. So they act at every node of a
step as all forces do, and schemes keep their order.

In the states of a run u is known. As seen from its results, these inputs are tables through the known values: the same forces,
and no function. So reactions, which need other coordinates, pages and files have the forces of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import local
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from mbvi.errors import ModelError
from mbvi.kernels import layout
from mbvi.kernels.compiler.decorators import CompiledFunction, compiled
from mbvi.kernels.mechanics.functions import function_of
from mbvi.model.expressions import nearest, show, wrong
from mbvi.system.inputs import FUNCTION, row_of_input, with_arrays, with_inputs, with_tables
from mbvi.system.own_functions import (
    OwnForce,
    OwnValues,
    check_call,
    check_returns_number,
    checked_function,
    compile_own,
    read_only,
)
from mbvi.system.system import System

Array = np.ndarray
ONE, SEVERAL = "input(t, q, v)", "inputs(t, q, v, u)"
"""What functions take: of one actuator, which returns its input, and of several, which writes theirs into u."""
SAME = 1e-6  # relative difference of what functions give up to which they are those of a run
OF_ROW = (layout.BY_INPUT, layout.BIAS, layout.BY_PLACE, layout.BY_RATE, layout.LOWEST, layout.HIGHEST)
"""Columns of an actuator's data that stand, behind its coordinate, among the parameters of the force function."""


class InputFunction(NamedTuple):
    """A compiled function ``fill(t, q, v, u)``, which writes the inputs (m,) of some actuators into u."""

    names: tuple[str, ...]
    fill: Callable[[float, Array, Array, Array], None]


class Feedback(NamedTuple):
    """Functions of the state that give inputs of a system.

    functions the functions
    own       a force of the user's own, which acts besides
    force     the force function of all of them
    values    what the functions read from outside
    """

    functions: tuple[InputFunction, ...]
    own: OwnForce | None
    force: CompiledFunction
    values: OwnValues

    @property
    def names(self) -> tuple[str, ...]:
        """The actuators."""
        return tuple(name for each in self.functions for name in each.names)


class Seen(NamedTuple):
    """Inputs that are known in the states of a run alone.

    names    the actuators
    run      the system that has the functions; None where a file had none
    """

    names: tuple[str, ...]
    run: System | None


def split_inputs(inputs: Any) -> tuple[Any, dict[Any, Callable[..., Any]]]:
    """The inputs over time, and those that are functions of the state."""
    if not isinstance(inputs, Mapping):
        return inputs, {}
    functions = {key: each for key, each in inputs.items() if callable(each)}
    return {key: each for key, each in inputs.items() if key not in functions}, functions


def with_functions(system: System, given: Mapping[Any, Callable[..., Any]]) -> System:
    """The system, as a run has it, in which functions of the state give inputs.

    Parameters
    ----------
    system : System
    given : mapping
        The name of an actuator with a function ``input(t, q, v)`` that returns its input, or a tuple of names with one
        ``inputs(t, q, v, u)`` that writes theirs into u (m,).

    Raises
    ------
    ModelError
        If there is no such actuator, two functions give the input of one, or numba cannot compile a function.
    """
    names = [_names(key) for key in given]
    _check_names(system, [name for each in names for name in each])
    system = with_inputs(system, dict.fromkeys((name for each in names for name in each), 0.0))
    values = OwnValues({_where(each): function for each, function in zip(names, given.values(), strict=True)})
    functions = tuple(
        _input_function(system, key, each, function)
        for key, each, function in zip(given, names, given.values(), strict=True)
    )
    own = system._own_force
    force = compiled(layout.FORCE, _force(own, [(each.fill, len(each.names)) for each in functions]))
    return with_feedback(system, Feedback(functions, own, force, values))


def _names(key: Any) -> tuple[str, ...]:
    return tuple(key) if isinstance(key, tuple) else (key,)


def _where(names: Sequence[Any]) -> str:
    return f"inputs.{', '.join(map(str, names))}"


def _check_names(system: System, names: Sequence[Any]) -> None:
    """Refuse what is no actuator, and one that is named twice."""
    if system.model is None:
        raise ModelError(f"inputs: {wrong('the run of a model', f'{system.name!r}, which has no actuators')}")
    if not names:
        raise ModelError(f"inputs: {wrong('at least one actuator for a function', 'none')}")
    for i, name in enumerate(names):
        if name not in system.input_names:
            near = nearest(str(name), system.input_names) if system.input_names else "the model has none"
            raise ModelError(f"inputs: {wrong('an actuator', show(name), near)}")
        if name in names[:i]:
            raise ModelError(f"inputs: {wrong('one function for each actuator', f'two for {name!r}')}")


def _input_function(system: System, key: Any, names: tuple[str, ...], function: Callable[..., Any]) -> InputFunction:
    """A function of the user's, checked and compiled."""
    where, state = _where(names), (0.0, read_only(system.given_q), read_only(system.given_v))
    if isinstance(key, tuple):
        plain = checked_function(where, function, SEVERAL)
        check_call(where, plain, *state, np.zeros(len(names)))
        return InputFunction(names, compile_own(where, plain, layout.OWN_FORCE))
    plain = checked_function(where, function, ONE, has_output=False)
    check_returns_number(where, plain, *state)
    value = compile_own(where, plain, (layout.OWN_FORCE[0][:3],), has_output=False)
    fill = _into(value)
    try:
        fill(*state, np.zeros(1))
    except ArithmeticError:  # a value at another state
        pass
    except Exception as error:  # numba raises many
        raise ModelError(
            f"{where}: {wrong('a function that returns one number', 'one that fails or returns something else')}"
        ) from error
    return InputFunction(names, fill)


def _into(value: Callable[[float, Array, Array], float]) -> Callable[[float, Array, Array, Array], None]:
    """A function that writes what another returns."""

    def fill(t, q, v, u):  # type: ignore[no-untyped-def]
        u[0] = 1.0 * value(t, q, v)

    return njit(error_model="numpy")(fill)


def with_functions_again(system: System, inputs: Any, names: Sequence[str], remedy: str) -> System:
    """The system, as a run has it, with the functions that gave some inputs, by name, in a run that has been.

    Raises
    ------
    ModelError
        If the inputs are others; the remedy says how they are given.
    """
    over_time, functions = split_inputs({} if inputs is None else inputs)
    if not isinstance(over_time, Mapping) or over_time:
        found = show(inputs) if not isinstance(over_time, Mapping) else show(next(iter(over_time)))
        raise ModelError(f"inputs: {wrong('functions of the state alone', found, 'the file has all others')}")
    given = [name for key in functions for name in _names(key)]
    if given != list(names):
        expected, found = (", ".join(map(str, each)) or "none" for each in (names, given))
        raise ModelError(f"inputs: {wrong(f'functions for {expected}', found, remedy if names else '')}")
    return with_functions(system, functions) if functions else system


def check_same_values(system: System, t: Array, q: Array, v: Array, values: Array) -> None:
    """Refuse functions that give something else in states (states,) than those of the run did, (states, m).

    Raises
    ------
    ModelError
        Naming the actuator, and the first such time.
    """
    found = input_values(system, t, q, v)
    differs = ~np.isclose(found, values, rtol=SAME, atol=SAME * np.abs(values).max(initial=0.0), equal_nan=True)
    if not differs.any():
        return
    row, column = np.argwhere(differs)[0]
    expected = f"the function of the run, which gave it {values[row, column]:.6g} at t = {t[row]:.6g} s"
    found_there = f"one that gives {found[row, column]:.6g}"
    raise ModelError(
        f"inputs.{system._feedback.names[column]}: {wrong(expected, found_there, 'pass the same function')}"
    )


# ----------------------------------------------------------------------------------- the force of actuators


def _force(own: OwnForce | None, functions: Sequence[tuple[Any, int]]) -> Callable[..., float]:
    """A force function (t, q, v, values, F) of all actuators whose inputs are functions, behind a force of the user's own.

    Its values are the parameters of that force, and then for each actuator its coordinate, and what OF_ROW names. Of one that
    acts on no coordinate that is -1 - i, and its input is written into number i behind the forces.
    """
    jit, at = njit(error_model="numpy"), 0 if own is None else len(own.names)
    inner = jit(_nothing) if own is None else jit(_on_forces(jit(own.function._python)))
    for fill, count in functions:
        inner = jit(_with_actuators(inner, fill, count, at))
        at += count * (1 + len(OF_ROW))

    def outer(t, q, v, values, F):  # type: ignore[no-untyped-def]
        try:
            inner(t, q, v, values, F)
        except Exception:  # none can leave compiled code
            F[:] = np.nan
        return 0.0

    return outer


def _nothing(t, q, v, values, F):  # type: ignore[no-untyped-def]
    return 0.0


def _on_forces(function: Any) -> Callable[..., float]:
    """What a force of the user's own does, which knows of no numbers behind the forces."""

    def inner(t, q, v, values, F):  # type: ignore[no-untyped-def]
        function(t, q, v, values, F[: q.shape[0]])
        return 0.0

    return inner


def _with_actuators(before: Any, fill: Any, count: int, at: int) -> Callable[..., float]:
    """What does what another does, and adds the forces of actuators whose values begin at a place."""
    width = 1 + len(OF_ROW)

    def total(t, q, v, values, F):  # type: ignore[no-untyped-def]
        before(t, q, v, values, F)
        u = np.full(count, np.nan)
        fill(t, q, v, u)
        for i in range(count):
            first = at + i * width
            a = int(values[first])
            if a < 0:
                F[q.shape[0] - 1 - a] = u[i]
                continue
            force = values[first + 1] * u[i] + values[first + 2] + values[first + 3] * q[a] + values[first + 4] * v[a]
            if force < values[first + 5]:
                force = values[first + 5]
            if force > values[first + 6]:
                force = values[first + 6]
            F[a] += force
        return 0.0

    return total


def with_feedback(system: System, feedback: Feedback) -> System:
    """A system of the same actuators, as a run has it, of which some have functions as inputs.

    Those on coordinates have no force in its tables.
    """
    arrays = system.arrays
    forces, parameters = arrays.joint_forces.copy(), [arrays.force_parameters]
    behind = 0
    for row in _rows(system, feedback.names):
        place = int(arrays.joint_forces[row, 1])
        if place >= 0:
            forces[row, 0], forces[row, FUNCTION] = layout.JOINT_FORCE, len(arrays.time_functions)
        else:
            place, forces[row, FUNCTION], behind = -1 - behind, layout.BY_FUNCTION - behind, behind + 1
        parameters.append(np.array([place, *arrays.joint_force_data[row, OF_ROW]], float))
    nothing = np.array([[layout.CONSTANT, len(arrays.numbers), 1]], np.int64)
    found = with_arrays(
        system,
        joint_forces=forces,
        time_functions=np.concatenate([arrays.time_functions, nothing]),
        numbers=np.append(arrays.numbers, 0.0),
        force=feedback.force,
        force_parameters=np.concatenate(parameters),
        periodic=np.zeros_like(arrays.periodic),  # functions see how often an angle has turned
    )
    if behind:  # whose workspaces are larger
        found._local = local()
    before = system._values_of_run
    found._values_of_run = feedback.values if before is None else before.with_those_of(feedback.values)
    found._given_inputs, found._feedback = (system, partial(with_feedback, feedback=feedback)), feedback
    return found


def _places(system: System, names: Sequence[str]) -> list[int]:
    return [system.input_names.index(name) for name in names]


def _rows(system: System, names: Sequence[str]) -> list[int]:
    """The rows of some actuators among the forces on coordinates."""
    return [row_of_input(system, place) for place in _places(system, names)]


# ------------------------------------------------------------------------------------------ as it is known


def input_values(system: System, t: Array, q: Array, v: Array) -> Array:
    """The inputs that functions of the state give in states, (states, m); not a number where one raises an error."""
    assert system._feedback is not None
    blocks = [np.zeros((len(t), 0))]
    for each in system._feedback.functions:
        block = np.full((len(t), len(each.names)), np.nan)
        for i in range(len(t)):
            try:
                each.fill(float(t[i]), q[i], v[i], block[i])
            except Exception:  # whatever a function of the user's raises
                block[i] = np.nan
        blocks.append(block)
    return np.concatenate(blocks, axis=1)


def check_values(system: System, t: float, q: Array, v: Array) -> None:
    """Refuse functions that give no finite number in a state, where a run starts.

    Raises
    ------
    ModelError
        Naming the actuator.
    """
    if system._feedback is None:
        return
    (values,) = input_values(system, np.array([t]), q[None], v[None])
    for name, value in zip(system._feedback.names, values.tolist(), strict=True):
        if not np.isfinite(value):
            found, remedy = f"{value} at the start, t = {t:g} s", "look for a pole, or an error that it raises"
            raise ModelError(f"inputs.{name}: {wrong('a finite number', found, remedy)}")


def without_value(system: System, t: Array, q: Array, v: Array) -> str:
    """The first input by a function of the state that is no finite number in one of some states; empty if there is none."""
    if system._feedback is None:
        return ""
    is_finite = np.isfinite(input_values(system, t, q, v)).all(axis=0)
    return next((name for name, each in zip(system._feedback.names, is_finite, strict=True) if not each), "")


def as_seen(system: System, t: Array, q: Array, v: Array) -> System:
    """The system in which inputs by functions of the state are tables of time through their values in states (states,).

    Itself, where there are none.
    """
    if system._feedback is None:
        return system
    known = Seen(system._feedback.names, system)
    return with_values(without_feedback(system), known, t, input_values(system, t, q, v))


def seen_in(system: System, t: Array, q: Array, v: Array) -> System:
    """The system as it is seen in other states of the same run, if its functions are known."""
    return system if system._seen is None or system._seen.run is None else as_seen(system._seen.run, t, q, v)


def without_feedback(system: System) -> System:
    """The system in which no input is a function of the state."""
    if system._feedback is None or system._given_inputs is None:
        return system
    before, give = system._given_inputs
    return before if before._feedback is None else give(without_feedback(before))


def with_values(system: System, known: Seen, t: Array, values: Array) -> System:
    """A copy of which some inputs are tables of time, straight between their values (states, m) at increasing times (states,)."""
    t, values = np.asarray(t, float), np.asarray(values, float)
    pieces = np.zeros((values.shape[1], len(t) + 1, 4))
    pieces[:, 0, 0], pieces[:, 1:, 0] = values[0], values.T
    pieces[:, 1:-1, 1] = np.diff(values.T) / np.diff(t)
    found = with_tables(system, _places(system, known.names), t, pieces)
    give = partial(with_values, known=known._replace(run=None), t=t, values=values)  # others of the model have no run
    found._given_inputs, found._seen = (system, give), known
    return found


def seen_values(system: System, t: Array) -> Array:
    """The inputs (states, m) that are known in the states of a run, at their times."""
    assert system._seen is not None
    arrays, work = system.arrays, system.work
    of = arrays.time_functions, arrays.operations, arrays.numbers, work.stack
    numbers = [arrays.joint_forces[row, FUNCTION] for row in _rows(system, system._seen.names)]
    return np.array([[function_of(*of, number, time)[0] for number in numbers] for time in t.tolist()])
