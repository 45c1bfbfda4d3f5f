"""Sampled controllers: what is called between the steps of a run, at a period of its own, and tells actuators what to do.

Call j is at t_j = t_0 + j T, and what it asks for acts from t_j + d on, until what the next call asks for does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from mbvi.errors import ModelError
from mbvi.floats import as_floats
from mbvi.model.arguments import checked_names, checked_number
from mbvi.model.expressions import show, wrong
from mbvi.system.feedback import ONE, SEVERAL
from mbvi.system.inputs import check_settable, settable_inputs
from mbvi.system.sensors import system_sensors
from mbvi.system.system import System

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Controller:
    """What tells actuators of a run what to do, at a period of its own.

    Parameters
    ----------
    law : callable
        ``law(t, q, v)`` gives the inputs (m,), or one number for one input, of the time [s], coordinates and velocities (n,);
        with `sensors`, ``law(t, measured)`` does.
        It may have ``begin(system, t, q, v)``, which is called at the start of a run; and ``state()``, which returns a mapping
        of names to arrays, whose shapes stay the same, and ``set_state(state)``, if what it returns depends on what was before.
    period : float
        Time from one call to the next [s]. Where it is no multiple of the step, steps are divided.
    inputs : sequence of str, optional
        The actuators that it tells what to do; by default ``law.inputs``, or all whose inputs are numbers.
    delay : float
        Time from a call until what it asks for acts [s]; until the first does, the inputs are those of the model.
    limits : float, pair or mapping of str to them, optional
        The largest size of the inputs, or their lowest and highest value; what is asked for beyond is taken as that.
    sensors : sequence of str, optional
        The sensors of the model that it has instead of the state: `measured` has by their names the last samples, numbers or
        vectors (3,). Steps are divided where these samples are taken.

    Raises
    ------
    ModelError
        If an argument cannot be used.

    Examples
    --------
    >>> import mbvi
    >>> bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))
    >>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    >>> motor = mbvi.Motor(joint="pivot")
    >>> model = mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot}, forces={"motor": motor})
    >>> def damp(t, q, v):
    ...     return -8 * v[0]
    >>> run = mbvi.simulate(model, step=0.01, duration=4, initial_q=[1], controllers={"damp": Controller(damp, period=0.02)})
    >>> bool(abs(run.q[-1, 0]) < 0.1), len(run.samples["damp"].t)
    (True, 200)
    """

    law: Callable[..., Any]
    period: float
    inputs: Sequence[str] | None = None
    delay: float = 0.0
    limits: Any = None
    sensors: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Check what does not depend on the model."""
        if not callable(self.law):
            expected = "a function (t, q, v), or (t, measured), or an object that can be called so"
            raise ModelError(f"law: {wrong(expected, show(self.law))}")
        if hasattr(self.law, "state") != hasattr(self.law, "set_state"):
            raise ModelError(f"law: {wrong('both state and set_state, or none of them', 'one')}")
        checked_number(self.period, "period", "a time greater than 0", above=0.0)
        if checked_number(self.delay, "delay") < 0:
            raise ModelError(f"delay: {wrong('a time of at least 0', show(self.delay))}")
        if self.inputs is not None and not checked_names(self.inputs, "inputs"):
            raise ModelError(f"inputs: {wrong('at least one actuator', 'none', 'leave it out for all')}")
        checked_names(self.sensors, "sensors", "a list of names of sensors")


@dataclass(frozen=True, eq=False)
class CheckedController:
    """A controller of a system.

    Attributes
    ----------
    name : str
    law : callable
    period, delay : float
        [s]
    inputs : tuple of str
    low, high : ndarray (m,)
        Limits of the inputs.
    sensors : tuple of str
    """

    name: str
    law: Callable[..., Any]
    period: float
    delay: float
    inputs: tuple[str, ...]
    low: Array
    high: Array
    sensors: tuple[str, ...]

    @property
    def numbers(self) -> dict[str, Any]:
        """What a file says of it."""
        times = {"period": self.period, "delay": self.delay}
        return {"name": self.name, "inputs": list(self.inputs), **times, "sensors": list(self.sensors)}


def checked_controllers(given: Any, system: System) -> tuple[CheckedController, ...]:
    """The controllers of a run.

    Raises
    ------
    ModelError
        If one cannot be used with the system, or two have the same input.
    """
    if given is None:
        return ()
    if not isinstance(given, Mapping):
        raise ModelError(f"controllers: {wrong('a mapping of names to controllers', show(given))}")
    found: list[CheckedController] = []
    owners: dict[str, str] = {}
    for name, each in given.items():
        if not isinstance(name, str) or not name.isprintable() or not name:
            raise ModelError(f"controllers: {wrong('names as texts', show(name))}")
        if not isinstance(each, Controller):
            remedy = f"write mbvi.Controller({show(each, 20)}, period=0.01)"
            raise ModelError(f"controllers.{name}: {wrong('a Controller', show(each), remedy)}")
        found.append(_checked(name, each, system))
        for key in found[-1].inputs:
            if key in owners:
                expected = f"an input that {owners[key]} does not have"
                raise ModelError(f"controllers.{name}: inputs: {wrong(expected, show(key))}")
            owners[key] = name
    return tuple(found)


def refuse_controllers(inputs: Any) -> None:
    """Refuse, among inputs of actuators, what is called between steps and not compiled: controllers, and other objects.

    Raises
    ------
    ModelError
        Saying where they are given.
    """
    for key, each in inputs.items() if isinstance(inputs, Mapping) else ():
        is_function = isinstance(getattr(each, "py_func", each), FunctionType)
        if isinstance(each, Controller) or (callable(each) and not is_function):
            expected = f"an input over time, or a function {SEVERAL if isinstance(key, tuple) else ONE}"
            remedy = (
                "simulate calls objects between steps, as controllers={NAME: mbvi.Controller(…, period=…)}; a loop calls them "
                "itself, as simulator.step(law(simulator.t, simulator.q, simulator.v))"
            )
            names = ", ".join(map(str, key)) if isinstance(key, tuple) else key
            raise ModelError(f"inputs.{names}: {wrong(expected, show(each), remedy)}")


def _checked(name: str, given: Controller, system: System) -> CheckedController:
    where = f"controllers.{name}"
    own = getattr(given.law, "inputs", settable_inputs(system))
    inputs = tuple(own if given.inputs is None else given.inputs)
    if not inputs:
        remedy = "add a motor to the forces of the model"
        raise ModelError(f"{where}: {wrong('actuators whose inputs are numbers', 'none', remedy)}")
    for key in inputs:
        check_settable(key, system, f"{where}: inputs")
    if len(set(inputs)) < len(inputs):
        raise ModelError(f"{where}: inputs: {wrong('each actuator once', show(list(inputs)))}")
    low, high = np.array([_limits(given.limits, key, inputs, where) for key in inputs]).T
    sensors = (
        tuple(each.name for each in system_sensors(system, given.sensors, f"{where}: sensors")) if given.sensors else ()
    )
    return CheckedController(name, given.law, float(given.period), float(given.delay), inputs, low, high, sensors)


def _limits(given: Any, name: str, inputs: Sequence[str], where: str) -> tuple[float, float]:
    """The lowest and the highest value of an input."""
    if isinstance(given, Mapping):
        for key in given:
            if key not in inputs:
                raise ModelError(f"{where}: limits: {wrong('one of ' + ', '.join(inputs), show(key))}")
        given = given.get(name)
    if given is None:
        return -np.inf, np.inf
    pair = as_floats(given)
    pair = np.array([-pair, pair]) if pair is not None and pair.shape == () else pair
    if pair is None or pair.shape != (2,) or not pair[0] < pair[1]:
        raise ModelError(
            f"{where}: limits: {wrong('a number greater than 0, or the lowest and the highest', show(given))}"
        )
    return float(pair[0]), float(pair[1])
