"""What the members of an ensemble have in common, and the system and the start of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mbvi.ensembles.members import Members
from mbvi.ensembles.variation import Variation
from mbvi.errors import ModelError
from mbvi.model.expressions import wrong
from mbvi.model.model import Model
from mbvi.run_arguments import check_functions, chosen_scheme, clock
from mbvi.schemes.method import Method
from mbvi.schemes.tableau import Tableau
from mbvi.system.initial import starting_momenta
from mbvi.system.parameters import ParameterMap
from mbvi.system.system import System

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Plan:
    """What is common to all members of an ensemble.

    Attributes
    ----------
    members : Members
    variation : Variation
    first : System
        The system of the first member.
    method : Tableau or Method
    step : float
        [s]
    steps, every : int
    given : tuple
        Scheme, step and duration as they were given: None where they are the model's.
    """

    members: Members
    variation: Variation
    first: System
    method: Tableau | Method
    step: float
    steps: int
    every: int
    given: tuple[Any, Any, Any]

    @classmethod
    def of(
        cls,
        model: Model | System,
        members: Members,
        scheme: Any,
        step: Any,
        duration: Any,
        formulation: str | None,
        every: Any,
    ) -> Plan:
        """A plan, checked by the members that have the least and the greatest of every value.

        Raises
        ------
        ModelError
            If one of them cannot be assembled, or has another scheme, step or duration.
        """
        variation = Variation(model, formulation, members.given)
        with members.named(0):
            first = variation.system({name: members.of_member(0)[name] for name in variation.parameters})
        method = chosen_scheme(first, scheme)
        h, steps, every = clock(first, step, duration, every)
        plan = cls(members, variation, first, method, h, steps, every, (scheme, step, duration))
        for member in plan.extremes:
            with members.named(member):
                plan.starting(plan.system(member)[0], member)
        return plan

    @property
    def extremes(self) -> list[int]:
        """The first member, and those that have the least and the greatest of every value."""
        values = self.members.values
        return sorted({0, *values.argmin(axis=0).tolist(), *values.argmax(axis=0).tolist()})

    @property
    def rows(self) -> int:
        """Number of stored states."""
        return self.steps // self.every + 1

    @property
    def times(self) -> Array:
        """Times of the stored states, (rows,) [s]."""
        return self.step * self.every * np.arange(self.rows)

    def parameters(self, member: int) -> dict[str, float]:
        """The parameters that vary, with their values for a member."""
        values = self.members.of_member(member)
        return {name: values[name] for name in self.variation.parameters}

    def order(self) -> Array:
        """The members such that those of the same parameters follow each other, (members,)."""
        columns = [i for i, name in enumerate(self.members.given) if name in self.variation.parameters]
        if not columns:
            return np.arange(self.members.count)
        return np.lexsort(self.members.values[:, columns[::-1]].T)

    def system(self, member: int, outputs: Array | None = None) -> tuple[System, bool]:
        """The system of a member, its start left out, and whether its tables were filled with these outputs of the map.

        Raises
        ------
        ModelError
            If its values make the model wrong, or it is not like that of the first.
        """
        parameters = self.parameters(member)
        if outputs is not None and self.map is not None:
            system = self.map.system_of([parameters[name] for name in self.map.names], outputs)
            if system is not None:
                return self.checked(system) if self.map.changes_functions else system, True
        return self.checked(self.variation.system(parameters)), False

    def checked(self, system: System) -> System:
        """The system of a member, if it is like that of the first.

        Raises
        ------
        ModelError
            If it is not.
        """
        if system.coordinate_names != self.first.coordinate_names:
            expected, found = (", ".join(each.coordinate_names) for each in (self.first, system))
            raise ModelError(f"over: expected the coordinates of the first member, {expected}, found {found}")
        scheme, step, duration = self.given
        h, steps, _ = clock(system, step, duration, self.every)
        own = chosen_scheme(system, scheme).name, h, steps
        if own != (self.method.name, self.step, self.steps):
            expected, found = (f"{each[2]} steps of {each[1]:.6g} s" for each in ((None, self.step, self.steps), own))
            raise ModelError(f"step: {wrong(f'{expected} as the first member', found, 'give step and duration')}")
        check_functions(system, self.step, self.steps)
        return system

    @property
    def map(self) -> ParameterMap | None:
        """The map from the parameters that vary to the tables of a system like the first; None where there is none."""
        may_depend = any(isinstance(each, str) for each in self.given[1:])  # the step, or the duration
        names = self.variation.parameters
        return self.first.parameter_map(names) if names and not may_depend else None

    def starting(self, system: System, member: int) -> System:
        """The system with the start of a member.

        Raises
        ------
        ModelError
            If a joint cannot start so.
        """
        values = self.members.of_member(member)
        return self.variation.starting(system, {name: values[name] for name in self.variation.places})

    def starts(self, system: System, members: Sequence[int]) -> tuple[Array, Array] | None:
        """Coordinates and momenta (members, n) from which members with this system start, where they can be found together."""
        if system.constraint_count:
            return None
        columns = [i for i, name in enumerate(self.members.given) if name in self.variation.places]
        states = self.variation.states(system, self.members.values[np.ix_(members, columns)])
        p = None if states is None else starting_momenta(system, *states)
        return None if states is None or p is None else (states[0], p)
