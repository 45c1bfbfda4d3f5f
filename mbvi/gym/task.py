"""What is to be learned: inputs that actions set, observations, the reward, where an episode starts and where it ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from mbvi.ensembles.variation import Variation
from mbvi.errors import ModelError
from mbvi.floats import as_floats
from mbvi.model import Model
from mbvi.model.arguments import checked_names, checked_number
from mbvi.model.expressions import nearest, show, wrong
from mbvi.model.forces import HasInput
from mbvi.run_arguments import as_system, positive_time
from mbvi.simulator import Simulator
from mbvi.system.inputs import settable_inputs
from mbvi.system.measures import Measurement
from mbvi.system.system import System

Array = np.ndarray
Pair = tuple[float, float]
WHOLE = 1e-9
"""How far, in steps, a period may be from a whole number of steps."""


class States(NamedTuple):
    """Times (states,) [s], and coordinates and velocities (states, n), of several simulators."""

    t: Array
    q: Array
    v: Array


class Task:
    """What is to be learned of a model; the parameters are those of `mbvi.gym.Environment`.

    Attributes
    ----------
    low, high : ndarray (actions,)
        Limits of the inputs that actions set.
    size : int
        Number of observations.
    """

    def __init__(
        self,
        model: Model | System,
        reward: Any,
        *,
        until: Any = None,
        actions: Any = None,
        observations: Any = None,
        starts: Mapping[str, Sequence[float]] | None = None,
        period: Any = None,
        duration: Any = None,
        formulation: str | None = None,
        **options: Any,
    ) -> None:
        self.system = as_system(model, formulation)
        self._options = options
        self._given = {"reward": reward, "until": until, "actions": actions, "observations": observations}
        self._given |= {"starts": starts, "period": period, "duration": duration, **options}
        first = self.simulator()
        self._inputs, self.low, self.high = _actions(first.system, actions)
        self._places = [self.system.input_names.index(name) for name in self._inputs]
        self._starts = _ranges(starts)
        self._variation = Variation(self.system, None, self._starts, "starts")
        if self._variation.parameters:
            found = f"the parameter {self._variation.parameters[0]!r}"
            raise ModelError(f"starts: {wrong('initial values as q.…', found, 'make an environment of another model')}")
        h = first.step_size
        self._steps = 1 if period is None else _whole(positive_time(period, "period", self.system) / h, h)
        self._last = np.inf if duration is None else positive_time(duration, "duration", self.system) / h - WHOLE
        self._observed = _observed(self.system, observations)
        self._reward, self._until = _reward(self.system, reward), _end(self.system, until)
        states = self.states([first])
        self.size = self.observe(states).shape[1]
        self.judge([first], states, np.zeros((1, len(self.low))))

    def __reduce__(self) -> Any:
        """The arguments, of which it is made again elsewhere."""
        return _task_of, (self.system, self._given)

    # --------------------------------------------------------------------------------------------- what is done

    def simulator(self) -> Simulator:
        """A simulator whose inputs no other has."""
        return Simulator(deepcopy(self.system), **self._options)

    def begin(self, simulator: Simulator, random: np.random.Generator, given: Mapping[str, float] | None) -> None:
        """Begin an episode: at random within the ranges, but for what is given."""
        values = {name: float(random.uniform(low, high)) for name, (low, high) in self._starts.items()}
        if given is not None and not isinstance(given, Mapping):
            raise ModelError(f"options: {wrong('a mapping of initial values to numbers', show(given))}")
        for name, value in (given or {}).items():
            if name not in values:
                raise ModelError(f"options: {wrong('one of the starts', show(name), nearest(str(name), values))}")
            values[name] = checked_number(value, f"options.{name}")
        if not values:
            return simulator.reset()
        row, system = np.array([list(values.values())]), self.system
        states = None if system.constraint_count else self._variation.states(system, row)
        if states is not None:
            return simulator.reset(states[0][0], states[1][0])
        started = self._variation.starting(system, values)
        return simulator.reset(started.initial_q, started.initial_v)

    def inputs(self, actions: Any, *count: int) -> Array:
        """Actions of one simulator (actions,), or of so many (count, actions), within the limits.

        Raises
        ------
        ModelError
            If they are of another shape, or not finite.
        """
        array, shape = as_floats(actions), (*count, len(self.low))
        if array is None or array.shape != shape or not np.isfinite(array).all():
            names = ", ".join(self._inputs)
            raise ModelError(f"action: {wrong(f'finite numbers for {names}, of shape {shape}', show(actions))}")
        return np.clip(array, self.low, self.high)

    def go_on(self, simulator: Simulator, inputs: Array) -> None:
        """Go on by a period with the same inputs."""
        simulator.system.arrays.inputs[self._places] = inputs
        for _ in range(self._steps):
            simulator.step()

    # ------------------------------------------------------------------------------------------- what is asked

    def states(self, simulators: Sequence[Simulator]) -> States:
        """Where simulators are."""
        t = np.array([each.t for each in simulators])
        q, p = np.array([each.q for each in simulators]), np.array([each.p for each in simulators])
        return States(t, q, self.system.velocities(t, q, p))

    def observe(self, states: States) -> Array:
        """What is observed in states, (states, size)."""
        return self._observed(states)

    def judge(self, simulators: Sequence[Simulator], states: States, inputs: Array) -> tuple[Array, Array, Array]:
        """Rewards, and whether the task and the time have ended, (states,) each."""
        is_late = np.array([each.steps >= self._last for each in simulators])
        return self._reward(states, inputs), self._until(states) > 0, is_late


def _task_of(system: System, given: Mapping[str, Any]) -> Task:
    return Task(system, **given)


# ------------------------------------------------------------------------------------------------ what is given


def _actions(system: System, given: Any) -> tuple[tuple[str, ...], Array, Array]:
    """The inputs that actions set, with their lowest and highest values."""
    forces = {} if system.model is None else system.model.resolved().forces
    settable = settable_inputs(system)
    known = {name: force for name, force in forces.items() if isinstance(force, HasInput) and name in settable}
    if not known:
        remedy = "add a motor to its forces"
        raise ModelError(f"actions: {wrong('a model with actuators whose inputs are numbers', 'none', remedy)}")
    chosen = known if given is None else given if isinstance(given, Mapping) else checked_names(given, "actions")
    for name in chosen:
        if name not in known:
            expected = "an actuator whose input is a number"
            raise ModelError(f"actions: {wrong(expected, show(name), nearest(str(name), known))}")
    if not chosen or len(set(chosen)) < len(chosen):
        raise ModelError(f"actions: {wrong('at least one actuator, and each once', show(list(chosen)))}")
    limits = dict(_ranges(given, "actions")) if isinstance(given, Mapping) else {}
    found = [limits[name] if name in limits else _own_limits(name, known[name]) for name in chosen]
    low, high = np.array(found, dtype=float).reshape(-1, 2).T
    return tuple(chosen), low, high


def _own_limits(name: str, actuator: HasInput) -> Pair:
    """The limits that an input has without others: of a motor its effort."""
    if actuator.input_range is not None:
        return actuator.input_range
    remedy = f"write for example actions={{{name!r}: (-1, 1)}}"
    raise ModelError(f"actions.{name}: {wrong('limits of the input', 'none', remedy)}")


def _ranges(given: Any, where: str = "starts") -> dict[str, Pair]:
    """Pairs of a lower and a higher number by names."""
    if given is not None and not isinstance(given, Mapping):
        raise ModelError(f"{where}: {wrong('a mapping of names to pairs of numbers', show(given))}")
    found = {}
    for name, pair in (given or {}).items():
        ends = as_floats(pair)
        if ends is None or ends.shape != (2,) or not np.isfinite(ends).all() or not ends[0] <= ends[1]:
            raise ModelError(f"{where}.{name}: {wrong('a pair of numbers, the lower first', show(pair))}")
        found[name] = (float(ends[0]), float(ends[1]))
    return found


def _whole(ratio: float, step: float) -> int:
    """A number of steps."""
    steps = round(ratio)
    if steps < 1 or abs(ratio - steps) > WHOLE * steps:
        found = f"{ratio:.6g} steps"
        raise ModelError(
            f"period: {wrong('a multiple of the step', found, f'write for example {max(steps, 1) * step:g}')}"
        )
    return steps


def _observed(system: System, given: Any) -> Callable[[States], Array]:
    """What gives observations (states, size)."""
    if given is None:
        return lambda states: np.concatenate([states.q, states.v], axis=1)
    if callable(given):
        return lambda states: np.array([_vector_of(given, *each) for each in zip(*states, strict=True)])
    names = checked_names(given, "observations", "a list of expressions, or a function (t, q, v)")
    if not names:
        raise ModelError(f"observations: {wrong('at least one expression', 'none', 'leave it out for q and v')}")
    columns = [_expression(system, f"observations[{i}]", text) for i, text in enumerate(names)]
    return lambda states: np.stack([each(*states) for each in columns], axis=1)


def _vector_of(function: Callable[..., Any], t: float, q: Array, v: Array) -> Array:
    """What a function of the user's observes in a state."""
    found = as_floats(function(float(t), q.copy(), v.copy()))
    if found is None or found.ndim != 1 or not found.size:
        raise ModelError(f"observations: {wrong('a function that returns an array (k,) of numbers', show(found))}")
    return found


def _reward(system: System, given: Any) -> Callable[[States, Array], Array]:
    """What gives rewards (states,)."""
    if not callable(given):
        expression = _expression(system, "reward", given)
        return lambda states, inputs: _finite("reward", expression(*states), states.t)

    def reward(states: States, inputs: Array) -> Array:
        found = [_number(given, "reward", *each) for each in zip(*states, inputs, strict=True)]
        return _finite("reward", np.array(found), states.t)

    return reward


def _end(system: System, given: Any) -> Callable[[States], Array]:
    """What gives numbers (states,) that are greater than 0 where an episode ends."""
    if given is None:
        return lambda states: np.zeros(len(states.t))
    if not callable(given):
        expression = _expression(system, "until", given)
        return lambda states: _finite("until", expression(*states), states.t)
    return lambda states: _finite(
        "until", np.array([_number(given, "until", *each) for each in zip(*states, strict=True)]), states.t
    )


def _expression(system: System, where: str, text: Any) -> Measurement:
    """An expression of quantities."""
    try:
        return Measurement(system, text)
    except ModelError as error:
        raise ModelError(f"{where}: {error}") from None


def _number(function: Callable[..., Any], where: str, t: float, *arrays: Array) -> float:
    """What a function of the user's returns for a state: one number."""
    found = function(float(t), *(each.copy() for each in arrays))
    array = as_floats(found)
    if array is None or array.size != 1:
        raise ModelError(f"{where}: {wrong('a function that returns one number', show(found))}")
    return float(array.item())


def _finite(where: str, values: Array, t: Array) -> Array:
    """Values, of which none may be infinite or not a number."""
    if not np.isfinite(values).all():
        first = int(np.argmin(np.isfinite(values)))
        raise ModelError(f"{where}: {wrong('finite numbers', f'{values[first]} at t = {t[first]:.6g} s')}")
    return values
