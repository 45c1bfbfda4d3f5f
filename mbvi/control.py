"""Laws of controllers that are often needed: PD, PID, gravity compensation and computed torque, as laws of `mbvi.Controller`; and
functions of a model for your own.

All of them are for actuators on coordinates x of joints, whose forces are f = g u with the input u. A target is a function of the
time, r(t), or numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError
from mbvi.floats import as_floats
from mbvi.kernels import layout
from mbvi.model.arguments import checked_names
from mbvi.model.expressions import show, wrong
from mbvi.system.compiled_model import CompiledModel
from mbvi.system.inputs import check_settable, where_of, with_inputs
from mbvi.system.system import System

__all__ = ["PD", "PID", "CompiledModel", "ComputedTorque", "GravityCompensation"]
Array = np.ndarray
Target = Callable[[float], Any] | ArrayLike


class Drives:
    """The coordinates on which actuators of a system act.

    Parameters
    ----------
    system : System
    inputs : sequence of str
        The actuators, whose inputs are numbers or were before the run.

    Attributes
    ----------
    places, gains : ndarray (m,)
        Numbers of the coordinates, and force per input.
    velocities : ndarray (m,)
        Numbers of the same among the velocities (nv,).
    idle : System
        The system in which the inputs of these actuators are 0.
    """

    def __init__(self, system: System, inputs: Sequence[str]) -> None:
        arrays, own = system.arrays, [system.input_names.index(name) for name in inputs]
        rows = [int(np.flatnonzero(_acts(arrays, i))[0]) for i in own]
        self.places = arrays.joint_forces[rows, 1].copy()
        for name in np.array(inputs)[self.places < 0]:
            found = f"{str(name)!r}, which acts {where_of(system, str(name))}"
            remedy = "write a law of your own, or give its input by a function of the state"
            raise ModelError(f"inputs: {wrong('actuators on coordinates', found, remedy)}")
        self.gains = arrays.joint_force_data[rows, layout.BY_INPUT].copy()
        names = [system.coordinate_names[i] for i in self.places]
        self.velocities = np.array([system.velocity_names.index(name) for name in names], int)
        self.idle = with_inputs(system, dict.fromkeys(inputs, 0.0))


def _acts(arrays: layout.System, place: int) -> Array:
    return (arrays.joint_forces[:, 0] == layout.ACTUATOR) & (arrays.joint_forces[:, layout.INPUT] == place)


class _Law:
    """What the laws share: their actuators, and numbers for each of them."""

    def __init__(self, inputs: Sequence[str]) -> None:
        self.inputs = tuple(checked_names(inputs, "inputs"))
        if not self.inputs:
            raise ModelError(f"inputs: {wrong('at least one actuator', 'none')}")
        self._drives: Drives | None = None

    @property
    def drives(self) -> Drives:
        """Where the actuators act; known from the start of a run on."""
        if self._drives is None:
            raise ModelError(
                f"{type(self).__name__}: {wrong('a run', 'a call before it', 'call begin(system, t, q, v)')}"
            )
        return self._drives

    def begin(self, system: System, t: float, q: Array, v: Array) -> None:
        """Begin with a system; t, q and v are those of the start."""
        for name in self.inputs:
            if name not in system.input_names:
                check_settable(name, system, type(self).__name__)
        self._drives = Drives(system, self.inputs)

    def _each(self, values: Any, what: str) -> Array:
        """Finite numbers (m,), one for each actuator, or one for all."""
        array, count = as_floats(values), len(self.inputs)
        if array is None or array.shape not in ((), (count,)) or not np.isfinite(array).all():
            expected = "a finite number" if count == 1 else f"{count} finite numbers, or one for all"
            raise ModelError(f"{type(self).__name__}: {what}: {wrong(expected, show(values))}")
        return np.broadcast_to(array, count).copy()


class PID(_Law):
    """Springs and dampers to a target, and the integral of what is missing: f = k (r − x) + d (r' − x') + i ∫(r − x) dt.

    The integral is the sum of the errors at the calls, each times the time since the call before.

    Parameters
    ----------
    inputs : sequence of str
        The actuators.
    target : callable or array_like (m,)
        ``target(t)`` gives r (m,), or the pair r, r'; numbers rest.
    stiffness, damping, integral : float or (m,)
        k [N m/rad or N/m], d and i, which is 0 in a `PD`.

    Examples
    --------
    >>> import mbvi
    >>> bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))
    >>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    >>> motor = mbvi.Motor(joint="pivot")
    >>> model = mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot}, forces={"motor": motor})
    >>> hold = mbvi.Controller(PID(["motor"], 0.5, stiffness=40, damping=12, integral=60), period=0.01)
    >>> run = mbvi.simulate(model, step=0.01, duration=8, controllers={"hold": hold})
    >>> round(float(run.q[-1, 0]), 6)
    0.5
    """

    def __init__(
        self,
        inputs: Sequence[str],
        target: Target,
        *,
        stiffness: ArrayLike,
        damping: ArrayLike,
        integral: ArrayLike = 0.0,
    ) -> None:
        super().__init__(inputs)
        self._gains = [
            self._each(each, key)
            for each, key in ((stiffness, "stiffness"), (damping, "damping"), (integral, "integral"))
        ]
        self._target = target if callable(target) else self._each(target, "target")
        self._sum, self._last = np.zeros(len(self.inputs)), np.array(np.nan)

    def begin(self, system: System, t: float, q: Array, v: Array) -> None:
        """Begin with a system, and an integral of 0."""
        super().begin(system, t, q, v)
        self._sum[:], self._last = 0.0, np.array(np.nan)

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """The inputs (m,)."""
        drives, (place, rate) = self.drives, self._wanted(t)
        error, slip = place - q[drives.places], rate - v[drives.places]
        if np.isfinite(self._last):
            self._sum += (t - float(self._last)) * error
        self._last = np.array(t)
        stiffness, damping, integral = self._gains
        return (stiffness * error + damping * slip + integral * self._sum) / drives.gains

    def _wanted(self, t: float) -> tuple[Array, Array]:
        found = self._target(t) if callable(self._target) else self._target
        pair = found if isinstance(found, tuple) else (found, 0.0)
        return self._each(pair[0], "target"), self._each(pair[1], "target")

    def state(self) -> dict[str, Array]:
        """The integral, and when it was called last."""
        return {"sum": self._sum, "last": self._last}

    def set_state(self, state: Mapping[str, Array]) -> None:
        """Go on from a state."""
        self._sum, self._last = state["sum"].copy(), state["last"].copy()


class PD(PID):
    """Springs and dampers to a target: f = k (r − x) + d (r' − x'). Parameters are those of `PID`."""

    def __init__(self, inputs: Sequence[str], target: Target, *, stiffness: ArrayLike, damping: ArrayLike) -> None:
        super().__init__(inputs, target, stiffness=stiffness, damping=damping)


class _OfDynamics(_Law):
    """The part that laws by the equations of motion share."""

    def forces(self, t: float, q: Array, v: Array, wanted: Array) -> Array:
        """The forces (m,) on the driven coordinates that give these accelerations (m,), for velocities (nv,).

        Accelerations are a₀ + B f; the columns of B are found by unit forces, with loops too.
        """
        drives, count = self.drives, len(self.inputs)
        forces = np.zeros((count + 1, len(v)))
        forces[1 + np.arange(count), drives.velocities] = 1.0
        found = _accelerations(drives.idle, t, q, v, forces)[:, drives.velocities]
        return np.linalg.solve((found[1:] - found[0]).T, wanted - found[0])


def _accelerations(system: System, t: float, q: Array, v: Array, forces: Array) -> Array:
    """Accelerations (m, nv) in one state by each of several forces (m, nv).

    Without loops they follow from inverse dynamics, whose forces are M a + b for an acceleration a.
    """
    if not system.arrays.is_open:
        at_q, at_v = (np.tile(each, (len(forces), 1)) for each in (q, v))
        return system.forward_dynamics(at_q, at_v, forces, np.full(len(forces), t))
    units = np.vstack([np.zeros(system.nv), np.eye(system.nv)])
    at_q, at_v = (np.tile(each, (len(units), 1)) for each in (q, v))
    needed = system.inverse_dynamics(at_q, at_v, units, np.full(len(units), t))
    return np.linalg.solve((needed[1:] - needed[0]).T, (forces - needed[0]).T).T


class GravityCompensation(_OfDynamics):
    """What holds a system at rest where it is: against gravity and all other forces of the model that act then.

    There are as many actuators as the system has motions.

    Parameters
    ----------
    inputs : sequence of str
        The actuators.
    damping : float or (m,)
        The damping of the driven coordinates besides, f = … − d x'.
    """

    def __init__(self, inputs: Sequence[str], damping: ArrayLike = 0.0) -> None:
        super().__init__(inputs)
        self._damping = self._each(damping, "damping")

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """The inputs (m,)."""
        held = self.forces(t, q, np.zeros(self.drives.idle.nv), np.zeros(len(self.inputs)))
        return (held - self._damping * v[self.drives.places]) / self.drives.gains


class ComputedTorque(_OfDynamics):
    """What lets the driven coordinates move as r'' + d (r' − x') + k (r − x), by the equations of motion, with loops too.

    Parameters
    ----------
    inputs : sequence of str
        The actuators.
    target : callable
        ``target(t)`` gives r, r' and r'' (m,).
    stiffness, damping : float or (m,)
        k [1/s²] and d [1/s]: errors are those of an oscillator of unit mass.
    """

    def __init__(
        self, inputs: Sequence[str], target: Callable[[float], Any], *, stiffness: ArrayLike, damping: ArrayLike
    ) -> None:
        super().__init__(inputs)
        if not callable(target):
            raise ModelError(f"ComputedTorque: target: {wrong('a function of the time', show(target))}")
        self._target, self._gains = target, (self._each(stiffness, "stiffness"), self._each(damping, "damping"))

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """The inputs (m,)."""
        drives, (stiffness, damping) = self.drives, self._gains
        place, rate, acceleration = (self._each(each, "target") for each in self._target(t))
        wanted = acceleration + damping * (rate - v[drives.places]) + stiffness * (place - q[drives.places])
        return self.forces(t, q, drives.idle.velocity_of_rates(q, v), wanted) / drives.gains
