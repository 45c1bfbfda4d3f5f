"""Where a run exceeds the limits that the joints of its model have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mbvi.errors import ModelError
from mbvi.kernels import layout
from mbvi.kernels.mechanics.functions import function_of
from mbvi.kernels.mechanics.tendons import add_efforts
from mbvi.model.constraints import PrescribedCoordinate
from mbvi.model.expressions import show, wrong
from mbvi.model.limits import Limits

if TYPE_CHECKING:
    from mbvi.model import Model
    from mbvi.results.trajectory import Trajectory
    from mbvi.system.system import System

Array = np.ndarray
NOTICED = 1e-9
"""The part of a limit, or of 1, by which a value must exceed it."""


class Excess(NamedTuple):
    """A limit that a run exceeds.

    coordinate   full name, as elbow.angle
    limit        lower limit, upper limit, largest speed or largest effort
    value        of the limit, in `unit`
    extreme      the value that is furthest beyond it
    time         of the first state beyond it  [s]
    """

    coordinate: str
    limit: str
    value: float
    extreme: float
    unit: str
    time: float

    def __str__(self) -> str:
        """A text such as elbow.angle: up to 2.2 rad, beyond the upper limit of 2 rad, first at t = 0.4 s."""
        reached = f"up to {self.extreme:.4g} {self.unit}, beyond the {self.limit} of {self.value:.4g} {self.unit}"
        return f"{self.coordinate}: {reached}, first at t = {self.time:.4g} s"


def exceeded_limits(trajectory: Trajectory) -> tuple[Excess, ...]:
    """The limits that the stored states of a run exceed, in the order of the model's joints.

    Joints that are cut, as all are in the embedding, have no coordinates, and their limits are not looked at: `unchecked_limits`.
    """
    if not hasattr(trajectory, "system"):
        raise ModelError(f"trajectory: {wrong('a Trajectory', show(trajectory), 'mbvi.simulate makes one')}")
    model, homes = trajectory.system.model, getattr(trajectory.system, "homes", None)
    if model is None or homes is None:
        return ()
    found: list[Excess] = []
    for joint, short, limits in _limits(model.resolved()):
        if joint in homes.joints:
            names = model.joints[joint].coordinate_names
            found += _exceeded(trajectory, homes.joints[joint] + names.index(short), limits)
    return tuple(found)


def unchecked_limits(system: System) -> tuple[str, ...]:
    """The joints with limits that have no coordinates in a system."""
    if system.model is None or system.homes is None:
        return ()
    joints = (joint for joint, _, _ in _limits(system.model))
    return tuple(dict.fromkeys(joint for joint in joints if joint not in system.homes.joints))


def _limits(model: Model) -> Iterator[tuple[str, str, Limits]]:
    """All limits of a model, with their joints and the short names of their coordinates."""
    for name, joint in model.joints.items():
        yield from ((name, short, limits) for short, limits in joint.limits.items())


def _exceeded(trajectory: Trajectory, i: int, limits: Limits) -> Iterator[Excess]:
    """The limits of a coordinate that a run exceeds."""
    name, unit = trajectory.system.coordinate_names[i], trajectory.system.coordinate_units[i]
    effort = "N m" if unit == "rad" else "N"
    q = np.asarray(trajectory.q[:, i])
    candidates = [
        ("lower limit", limits.lower, lambda: -q, -1.0, unit),
        ("upper limit", limits.upper, lambda: q, 1.0, unit),
        ("largest speed", limits.speed, lambda: np.abs(trajectory.v[:, i]), 1.0, f"{unit}/s"),
        ("largest effort", limits.effort, lambda: np.abs(efforts(trajectory, i)), 1.0, effort),
    ]
    for kind, limit, values, sign, its_unit in candidates:
        if limit is None:
            continue
        size, bound = values(), sign * float(limit)
        beyond = np.flatnonzero(size > bound + NOTICED * max(1.0, abs(bound)))
        if len(beyond):
            extreme = sign * float(size[beyond].max())
            yield Excess(name, kind, float(limit), extreme, its_unit, float(trajectory.t[beyond[0]]))


def efforts(trajectory: Trajectory, i: int) -> Array:
    """Torque or force (N + 1,) of what drives coordinate i at every state [N m or N].

    Joint forces, actuators on it and along tendons, and prescribed motions.
    """
    system, model = trajectory.system, trajectory.system.model
    arrays, total = system.arrays, np.zeros(len(trajectory.t))
    of = arrays.time_functions, arrays.operations, arrays.numbers, system.work.stack
    for row, (kind, coordinate, function, number) in enumerate(arrays.joint_forces):
        if kind not in (layout.JOINT_FORCE, layout.ACTUATOR) or coordinate != i:
            continue
        driven = (
            arrays.inputs[number] if function < 0 else [function_of(*of, function, float(t))[0] for t in trajectory.t]
        )
        if kind == layout.ACTUATOR:
            data = arrays.joint_force_data[row]
            by_input, bias, by_place, by_rate = data[: layout.LOWEST]
            driven = by_input * np.asarray(driven) + bias + by_place * trajectory.q[:, i] + by_rate * trajectory.v[:, i]
            driven = np.clip(driven, data[layout.LOWEST], data[layout.HIGHEST])
        total += driven
    if len(arrays.tendons):
        along = np.zeros_like(trajectory.q)
        add_efforts(along, arrays, system.work, trajectory.t, trajectory.q, trajectory.v)
        total += along[:, i]
    name = system.coordinate_names[i]
    for row, owner in enumerate(each.rsplit(".", 1)[0] for each in system.constraint_names):
        element = None if model is None else model.resolved().constraints.get(owner)
        if isinstance(element, PrescribedCoordinate) and f"{element.joint}.{element.coordinate}" == name:
            total += trajectory.multipliers[:, row]
    return total
