"""A system: its Lagrangian L(q, v) = 1/2 vᵀ M(q) v − V(q), constraints g(q) = 0 and forces, ready for any scheme."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import mbvi
from mbvi.errors import ModelError
from mbvi.kernels import layout
from mbvi.model.arguments import checked_number
from mbvi.model.expressions import nearest, show, wrong
from mbvi.model.model import Model
from mbvi.model.moved_loops import MovedLoop
from mbvi.system import centroidal, closed, dynamics, kinematics, operational, tangent
from mbvi.system.base import BaseSystem
from mbvi.system.initial import initial_state
from mbvi.system.mobility import Mobility, find_mobility

Array = np.ndarray
MOST_ROWS = 30  # coordinates named in a table


def html_table(title: str, rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> str:
    """A table in HTML, with a title and heads of its columns."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{escape(title)}</caption><tr>{top}</tr>{lines}</table>"


class System(BaseSystem):
    """A mechanical system as compiled functions of its coordinates.

    Made by `assemble`, `from_sympy` or `from_functions`; several threads may use one. All functions take coordinates q and
    velocities v of shape (n,), in the order and units of `coordinate_names` and `coordinate_units`.

    Attributes
    ----------
    name : str
    coordinate_names, coordinate_units : tuple of str
    given_q, given_v : ndarray (n,)
        Initial coordinates and velocities as they were given, which constraints need not allow.
    is_conservative : bool
        Whether all forces derive from a potential that does not depend on time.
    constraint_names : tuple of str
        The name of every constraint g_i: that of its joint, element or coordinates, and a short one.
    model : Model or None
        The model it was assembled from.
    """

    def __setstate__(self, state: dict[str, Any]) -> None:
        """The same system, except for the initial state, which is computed again."""
        super().__setstate__(state)
        self.__dict__.pop("_initial_state", None)

    def with_parameters(self, values: Mapping[str, float]) -> System:
        """The same system with other values of some parameters of its model.

        Its tables are filled again, without assembling it anew, which a first call for these names prepares, and takes its time
        for. Where the new values change more than numbers, as a mass that becomes 0, it is assembled anew after all. The result
        is the same, bit for bit. A start that was set (`initial_q`) stays.

        Parameters
        ----------
        values : mapping of str to float
            New values of parameters that the model has, angles in rad.

        Raises
        ------
        ModelError
            If the system was not assembled from a model with such parameters, or the new values make the model wrong.

        Examples
        --------
        >>> import mbvi
        >>> system = mbvi.assemble(mbvi.load("models/double_pendulum.yaml"))
        >>> heavier = system.with_parameters({"mass": 2.0})
        >>> float(heavier.mass_matrix([0.0, 0.0])[1, 1] / system.mass_matrix([0.0, 0.0])[1, 1])
        2.0
        """
        numbers = self._checked_parameters(values)
        known = self.parameter_map(tuple(numbers))
        found: System | None = None if known is None else known.system(list(numbers.values()))
        if found is not None:
            return found
        found = self._assembled_with(numbers)
        if self.model is not None and not self._starts_as_its_model:
            found._start_elsewhere(self.given_q, self.given_v)
        return found

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The parameters that `with_parameters` changes: those of the model, or without one those of a force of your own."""
        if self.model is None:
            return self._force_names
        return () if self.model._is_resolved else tuple(self.model.parameters)

    def _with_force_parameters(self, values: Mapping[str, float]) -> System:
        """A copy with other parameters of a force of the user's own."""
        own, arrays = copy(self), self._arrays
        fields = {name: getattr(arrays, name) for name in arrays._numba_type_.layout}
        own._arrays = layout.System(**fields)
        own._arrays.force_parameters[[self._force_names.index(name) for name in values]] = list(values.values())
        return own

    def parameter_map(self, names: tuple[str, ...]) -> Any:
        """The `ParameterMap` of some parameters; None where there is none, and every value needs a system of its own."""
        if names not in self._maps:
            self._maps[names] = None if self._record is None else self._record(self, names)
        return self._maps[names]

    def _checked_parameters(self, values: Mapping[str, float]) -> dict[str, float]:
        """Values of parameters, if the system can have others."""
        if not self._force_names and (self.model is None or self._record is None):
            found = f"{self.name!r}, which was not assembled from one"
            raise ModelError(f"parameters: {wrong('a system of a model', found, 'make another one')}")
        if not isinstance(values, Mapping):
            raise ModelError(f"parameters: {wrong('a mapping of names to values', show(values))}")
        known = self.parameter_names
        for name in values:
            if name not in known:
                remedy = nearest(str(name), known) if known else "its model has none that could change"
                raise ModelError(f"parameters.{name}: {wrong('a parameter', show(name), remedy)}")
        return {name: checked_number(value, f"parameters.{name}") for name, value in values.items()}

    def _assembled_with(self, values: Mapping[str, float]) -> System:
        """The system with other parameters, which are known, its model assembled anew, so that it starts as that says."""
        if self.model is None:
            return self._with_force_parameters(values)
        assert self._assemble is not None
        system = self._assemble(self.model.with_parameters(values), force=self._own_force)
        system._own_values = self._own_values
        return system

    def _repr_html_(self) -> str:
        """A table of the coordinates, for notebooks."""
        rows = [
            (name, unit, f"{q:.6g}", f"{v:.6g}")
            for name, unit, q, v in zip(self.coordinate_names, self.coordinate_units, *self._shown_state(), strict=True)
        ]
        if len(rows) > MOST_ROWS:
            rows[MOST_ROWS - 1 : -1] = [(f"… {len(rows) - MOST_ROWS} more", "", "", "")]
        title = f"{self.name}: {self.dimension} coordinates, {self.constraint_count} constraints"
        return html_table(title, rows, ("coordinate", "unit", "at the start", "rate at the start"))

    def _shown_state(self) -> tuple[Array, Array]:
        """The coordinates and velocities from which runs start, or those that are given if no run can start from them."""
        try:
            return self.initial_q, self.initial_v
        except ModelError:
            return self.given_q, self.given_v

    @property
    def initial_q(self) -> Array:
        """The coordinates (n,) that a run starts from at t = 0: those given, moved onto the constraints. They can be set.

        Raises
        ------
        ModelError
            If they cannot be moved there, or may not be.
        """
        return self._initial_state[0]

    @initial_q.setter
    def initial_q(self, q: ArrayLike) -> None:
        self._start_elsewhere(self._vector(q, "initial_q"), self.given_v)

    @property
    def initial_v(self) -> Array:
        """The velocities (n,) that a run starts with at t = 0, see `initial_q`."""
        return self._initial_state[1]

    @initial_v.setter
    def initial_v(self, v: ArrayLike) -> None:
        self._start_elsewhere(self.given_q, self._vector(v, "initial_v"))

    @cached_property
    def _initial_state(self) -> tuple[Array, Array]:
        state = initial_state(self)
        for each in state:
            each.flags.writeable = False
        return state

    def _start_elsewhere(self, q: Array, v: Array, model: Model | None = None) -> None:
        """Start from other coordinates and velocities: those of a model that differs in these alone, or of none."""
        super()._start_elsewhere(q, v, model)
        for name in ("_initial_state", "mobility"):
            self.__dict__.pop(name, None)

    @property
    def degrees_of_freedom(self) -> int:
        """Coordinates less independent constraints, at the initial state."""
        return self.mobility.degrees_of_freedom

    @property
    def moved_loops(self) -> tuple[MovedLoop, ...]:
        """The loops whose joints' numbers were moved, since they were rounded, and by how much; see `Model.loop_tolerance`.

        The numbers that the system has are those of ``model.resolved()``; `model` itself is as it was given.
        """
        return () if self.model is None else self.model.resolved()._moved_loops or ()

    @cached_property
    def mobility(self) -> Mobility:
        """Degrees of freedom, redundant constraints and where they come from, at the initial state moved onto the constraints."""
        return find_mobility(self)

    def inverse_kinematics(
        self,
        targets: Mapping[str, Any],
        start: ArrayLike | None = None,
        *,
        starts: int = 1,
        seed: int = 0,
        t: float = 0.0,
        tolerance: float = 1e-9,
        nearest_if_missed: bool = False,
    ) -> Any:
        """Coordinates with which frames are where they should be: a `Posture`, see `mbvi.analysis.inverse_kinematics`."""
        options = {
            "starts": starts,
            "seed": seed,
            "t": t,
            "tolerance": tolerance,
            "nearest_if_missed": nearest_if_missed,
        }
        return mbvi.analysis.inverse_kinematics(self, targets, start, **options)

    def find_equilibrium(self, start: ArrayLike | None = None, t: float = 0.0) -> Any:
        """A state of rest: an `Equilibrium`, see `mbvi.find_equilibrium`."""
        return mbvi.find_equilibrium(self, start, t)

    def equations(self, parts: Sequence[str] | None = None) -> Any:
        """The equations of its model in symbols: an `Equations`, see `mbvi.symbolic.equations`."""
        return mbvi.symbolic.equations(self, parts)

    @property
    def nq(self) -> int:
        """Number of coordinates; the same as `dimension`."""
        return self.dimension

    @cached_property
    def nv(self) -> int:
        """Number of velocities: that of the coordinates, less one for every quaternion, see `integrate`."""
        return tangent.nv(self)

    @cached_property
    def velocity_names(self) -> tuple[str, ...]:
        """A name for every entry of v: that of the coordinate, or wx, wy, wz of a joint or body that turns by a quaternion."""
        return tangent.velocity_names(self)

    integrate = tangent.integrate
    difference = tangent.difference
    velocity_of_rates = tangent.velocity_of_rates
    rates_of_velocity = tangent.rates_of_velocity

    frame_pose = kinematics.frame_pose
    frame_velocity = kinematics.frame_velocity
    frame_acceleration = kinematics.frame_acceleration
    frame_jacobian = kinematics.frame_jacobian
    frame_jacobian_rate = kinematics.frame_jacobian_rate
    frame_jacobian_derivative = kinematics.frame_jacobian_derivative
    frame_velocity_derivatives = kinematics.frame_velocity_derivatives
    frame_acceleration_derivatives = kinematics.frame_acceleration_derivatives

    inverse_dynamics = dynamics.inverse_dynamics
    inverse_dynamics_derivatives = dynamics.inverse_dynamics_derivatives
    forward_dynamics = dynamics.forward_dynamics
    forward_dynamics_derivatives = dynamics.forward_dynamics_derivatives
    bias = dynamics.bias
    gravity = dynamics.gravity
    tangent_mass_matrix = dynamics.tangent_mass_matrix
    project_state = closed.project_state
    tangent_mass_matrix_derivative = operational.tangent_mass_matrix_derivative
    operational_inertia = operational.operational_inertia
    operational_inertia_derivative = operational.operational_inertia_derivative
    operational_mobility = operational.operational_mobility

    center_of_mass = centroidal.center_of_mass
    center_of_mass_jacobian = centroidal.center_of_mass_jacobian
    center_of_mass_derivatives = centroidal.center_of_mass_derivatives
    centroidal_momentum = centroidal.centroidal_momentum
    centroidal_momentum_matrix = centroidal.centroidal_momentum_matrix
    centroidal_momentum_derivatives = centroidal.centroidal_momentum_derivatives
