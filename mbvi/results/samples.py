"""The inputs that controllers gave in a run, call by call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mbvi.system.inputs import with_held_inputs
from mbvi.system.system import System

Array = np.ndarray
ABOUT = 3
"""Numbers of a row before the inputs: number of the controller, time of the call, time from which on it acts."""


@dataclass(frozen=True, eq=False)
class Samples:
    """The inputs that a controller gave to actuators.

    Attributes
    ----------
    inputs : tuple of str
        The actuators.
    period, delay : float
        [s]; a period of 0 where a loop of the user's gave them.
    t : ndarray (m,)
        Times of its calls [s].
    acts : ndarray (m,)
        Times from which on the actuators had what it asked for [s].
    asked : ndarray (m, inputs)
        What it asked for.
    values : ndarray (m, inputs)
        The same, within its limits.
    sensors : tuple of str
        The sensors that it had instead of the state.
    """

    inputs: tuple[str, ...]
    period: float
    delay: float
    t: Array
    acts: Array
    asked: Array
    values: Array
    sensors: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Number of calls."""
        return len(self.t)

    def __repr__(self) -> str:
        """How many, and of what."""
        return f"<Samples: {len(self)} calls for {', '.join(self.inputs)}>"

    @property
    def numbers(self) -> dict[str, Any]:
        """What a file says of the controller besides its name."""
        times = {"period": self.period, "delay": self.delay}
        return {"inputs": list(self.inputs), **times, "sensors": list(self.sensors)}


def samples_of(
    system_inputs: Sequence[str], controllers: Iterable[Mapping[str, Any]], rows: Array, end: float
) -> dict[str, Samples]:
    """The samples of every controller until a time, of rows (rows, 3 + 2 inputs) as a file keeps them.

    system_inputs   the names of all inputs of the system
    controllers     name, inputs, period, delay and sensors of each
    """
    found, count = {}, len(system_inputs)
    for number, each in enumerate(controllers):
        own = rows[(rows[:, 0] == number) & (rows[:, 1] < end)] if len(rows) else np.zeros((0, ABOUT + 2 * count))
        columns = ABOUT + np.array([list(system_inputs).index(name) for name in each["inputs"]], int)
        about = tuple(each["inputs"]), float(each["period"]), float(each["delay"])
        numbers = own[:, 1], own[:, 2], own[:, columns], own[:, columns + count]
        found[each["name"]] = Samples(*about, *numbers, tuple(each["sensors"]))
    return found


def rows_of(samples: Mapping[str, Samples], system_inputs: Sequence[str]) -> Array:
    """What `samples_of` takes apart, in the order of the calls."""
    count, blocks = len(system_inputs), [np.zeros((0, ABOUT + 2 * len(system_inputs)))]
    for number, each in enumerate(samples.values()):
        block = np.zeros((len(each), ABOUT + 2 * count))
        columns = ABOUT + np.array([list(system_inputs).index(name) for name in each.inputs], int)
        block[:, 0], block[:, 1], block[:, 2] = number, each.t, each.acts
        block[:, columns], block[:, columns + count] = each.asked, each.values
        blocks.append(block)
    joined = np.concatenate(blocks)
    return joined[np.argsort(joined[:, 1], kind="stable")]


def with_samples(system: System, samples: Mapping[str, Samples]) -> System:
    """The system whose inputs are at every time what they were in the run."""
    for each in samples.values():
        if len(each):
            places = [system.input_names.index(name) for name in each.inputs]
            system = with_held_inputs(system, places, each.acts, each.values)
    return system
