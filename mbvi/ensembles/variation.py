"""Variations of a model: other values of its parameters, and other initial coordinates and rates of its joints.

What varies is addressed by names: that of a parameter, or q.JOINT.COORDINATE and v.JOINT.COORDINATE, as the columns of a table
are called; of a system without a model q.COORDINATE and v.COORDINATE. Other parameters need another system; other initial values
another state of the same one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from mbvi.errors import ModelError
from mbvi.model.description import Initial
from mbvi.model.expressions import nearest, show, wrong
from mbvi.model.model import Model
from mbvi.model.resolve import checked_initial
from mbvi.model.units import ANGULAR, check_unit, unit_of
from mbvi.run_arguments import as_system
from mbvi.system.assemble import assemble
from mbvi.system.copies import as_run, starting
from mbvi.system.given import given_joint_state, given_state
from mbvi.system.scales import set_scales
from mbvi.system.system import System

Array = np.ndarray


class Place(NamedTuple):
    """Where an initial value belongs: position or velocity; the joint, if there is a model; its number there; its unit."""

    key: str
    joint: str
    number: int
    unit: str


class Variation:
    """What may vary of a model or a system.

    Parameters
    ----------
    model : Model or System
    formulation : str or None
        The formulation of a model, see `assemble`.
    names : iterable of str
        What varies.
    where : str
        What messages call it.

    Attributes
    ----------
    model : Model or None
    parameters : tuple of str
        The names that are parameters.
    places : dict of str to Place
        The other names.

    Raises
    ------
    ModelError
        If nothing has a name, or parameters of a system vary that cannot be assembled again.
    """

    def __init__(
        self, model: Model | System, formulation: str | None, names: Iterable[str], where: str = "over"
    ) -> None:
        if not isinstance(model, Model | System):
            raise ModelError(f"model: expected a Model or a System, found {model!r}; mbvi.load reads one from a file")
        self._system = as_system(model, formulation) if isinstance(model, System) else None
        self.model = model.model if isinstance(model, System) else model
        self._formulation = formulation
        parameters = model.parameter_names if self.model is None else tuple(self.model.parameters)  # type: ignore[union-attr]
        places = _places(model)
        for name in names:
            if name not in parameters and name not in places:
                bare = {place.partition(".")[2]: place for place in reversed(places)}  # q.… rather than v.…
                bare |= _by_bodies(self.model, places)
                remedy = f"did you mean {bare[name]!r}?" if name in bare else nearest(str(name), [*parameters, *places])
                raise ModelError(f"{where}: {wrong('a parameter, or an initial value as q.…', show(name), remedy)}")
        self.parameters = tuple(name for name in names if name in parameters)
        self.places = {name: places[name] for name in names if name not in parameters}
        if self.parameters and self.model is not None and self.model._is_resolved:
            found = f"{self.parameters[0]!r} of a resolved one; take the model it came from"
            raise ModelError(f"{where}: expected parameters of a model with expressions, found {found}")

    def system(self, parameters: Mapping[str, float]) -> System:
        """A system with these values of the parameters, whose arrays nothing else uses.

        Raises
        ------
        ModelError
            If they make the model wrong.
        """
        if self._system is not None:
            return as_run(self._system._assembled_with(parameters) if parameters else self._system)
        assert self.model is not None
        values = {**self.model.parameters, **parameters}
        return assemble(self.model.replaced({"parameters": values}), self._formulation)

    def starting(self, system: System, values: Mapping[str, float]) -> System:
        """The same system with these initial values, by name.

        Raises
        ------
        ModelError
            If a joint cannot start so.
        """
        if not values:
            return system
        model = None if system.model is None else self._starting_model(system.model.resolved(), values)
        if model is None:
            q, v = system.given_q.copy(), system.given_v.copy()
            for name, value in values.items():
                (q if self.places[name].key == "position" else v)[self.places[name].number] = value
        else:
            assert system.homes is not None
            q, v = given_state(model, system.homes, system.dimension)
        started = starting(system, q, v, model)
        if started.model is not None and started.constraint_count:
            set_scales(started)
        return started

    def states(self, system: System, values: Array) -> tuple[Array, Array] | None:
        """Coordinates and velocities (members, n) of the same system with these initial values (members, names).

        None where bodies have coordinates instead of their joints. It has no quaternions, whose rates depend on where they are.
        """
        state, first = (system.given_q, system.given_v), 0
        if not system._starts_as_its_model and system.model is not None and self.places:
            assert system.homes is not None
            state = given_state(system.model.resolved(), system.homes, system.dimension)
        q, v = (np.broadcast_to(each, (len(values), each.shape[-1])).copy() for each in state)
        for place, column in zip(self.places.values(), values.T, strict=True):
            if system.model is not None:
                assert system.homes is not None
                if place.joint not in system.homes.joints:
                    return None
                first = system.homes.joints[place.joint]
            (q if place.key == "position" else v)[:, first + place.number] = column
        return q, v

    def _starting_model(self, model: Model, values: Mapping[str, float]) -> Model:
        """A resolved model with these initial values."""
        initial = dict(model.initial)
        for joint in dict.fromkeys(self.places[name].joint for name in values):
            given = initial.get(joint, Initial())
            for i, key in enumerate(("position", "velocity")):  # in turn: a quaternion's rates depend on where it is
                own = {
                    self.places[name].number: value for name, value in values.items() if self._is_at(name, joint, key)
                }
                if own:
                    state = given_joint_state(model.joints[joint], given)[i]
                    state[list(own)] = list(own.values())
                    changed = given.replaced({key: tuple(state.tolist())})
                    initial[joint] = given = checked_initial(joint, changed, model.joints[joint])
        return model.replaced({"initial": initial})

    def _is_at(self, name: str, joint: str, key: str) -> bool:
        """Whether what varies is of the position, or velocity, of a joint."""
        return self.places[name].joint == joint and self.places[name].key == key


def check_text(model: Model, name: str, text: str) -> None:
    """Refuse an expression whose value has a unit of angle that what varies has not.

    Raises
    ------
    ModelError
        If it has such a unit; for parameters, if it makes the model wrong.
    """
    places = _places(model)
    if name in places and name not in model.parameters:
        check_unit(text, {}, places[name].unit)
    elif name in model.parameters and unit_of(text, {}) in ANGULAR:
        model.with_parameters({name: text})


def _by_bodies(model: Model | None, places: Mapping[str, Place]) -> dict[str, str]:
    """The initial values of free joints by the names of their bodies, which the coordinates of these may have."""
    joints = {} if model is None else model.joints
    bodies = {name: joint.child for name, joint in joints.items() if joint.is_free}
    return {
        f"{name[0]}.{bodies[place.joint]}.{name.rsplit('.', 1)[1]}": name
        for name, place in places.items()
        if place.joint in bodies
    }


def _places(model: Model | System) -> dict[str, Place]:
    """All initial values by name."""
    described = model.model if isinstance(model, System) else model
    joints = {} if described is None else described.joints
    found = [
        (joint, i, f"{joint}.{name}", unit)
        for joint, element in joints.items()
        for i, (name, unit) in enumerate(zip(element.coordinate_names, element.coordinate_units, strict=True))
    ]
    if isinstance(model, System) and described is None:
        names = enumerate(zip(model.coordinate_names, model.coordinate_units, strict=True))
        found = [("", i, name, unit) for i, (name, unit) in names]
    units = {name: "" if unit == "-" else unit for _, _, name, unit in found}
    positions = {f"q.{name}": Place("position", joint, i, units[name]) for joint, i, name, _ in found}
    return positions | {
        f"v.{name}": Place("velocity", joint, i, f"{units[name] or 1}/s") for joint, i, name, _ in found
    }
