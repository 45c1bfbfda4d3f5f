"""The result of a run: states at times, everything that was run, and what follows from them."""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

import mbvi
from mbvi.analysis.control_points import ControlPoints, solve_control_points
from mbvi.analysis.symmetry import Invariant, find_invariants
from mbvi.errors import ModelError
from mbvi.model.arguments import check_kind, checked_path
from mbvi.model.expressions import show, wrong
from mbvi.results import phases, storage, stored_measurements
from mbvi.results.contacts import WIDTH, ContactEvents, contact_forces, contact_names, gaps, slips
from mbvi.results.force_table import force_table
from mbvi.results.frame_table import frame_table
from mbvi.results.measurements import Course, Measured, measurement_table, measurements
from mbvi.results.output import check_output, replace_file
from mbvi.results.phases import accelerations_and_multipliers, forces_of_run, names_of_forces, reactions_of_run
from mbvi.results.samples import Samples, rows_of, samples_of, with_samples
from mbvi.results.tables import Quantity, Table, find_writer, write_csv
from mbvi.schemes.linear import STEPS
from mbvi.schemes.method import Method
from mbvi.schemes.tableau import Tableau
from mbvi.system.element_forces import ElementForce, forces_on_coordinates
from mbvi.system.feedback import Seen, as_seen, input_values, seen_values, with_values, without_feedback
from mbvi.system.measures import measured
from mbvi.system.poses import continuous, positions_and_quaternions
from mbvi.system.quadratic import quadratic_lagrangian
from mbvi.system.reactions import known_names
from mbvi.system.system import System, html_table

if TYPE_CHECKING:
    import pandas
    import xarray

    from mbvi.system.initial import Start

Array = np.ndarray
EXPORTED_ROWS = 10_000  # number of rows of a CSV file that are written at a time
MOST_SHOWN = 20_000  # states of a trajectory that a notebook shows moving


@dataclass(frozen=True)
class Statistics:
    """What a run cost.

    Attributes
    ----------
    steps : int
    seconds : float
        Wall time in the kernels [s].
    iterations : int
        Newton or simplified iterations in all; a composition counts those of all its substeps.
    most_iterations : int
        The most that one substep took.
    mass_factorizations, newton_factorizations : int
        How often the mass matrix and the whole Jacobian were factored.
    """

    steps: int
    seconds: float
    iterations: int
    most_iterations: int
    mass_factorizations: int
    newton_factorizations: int


class Finding(NamedTuple):
    """What makes the result of a run doubtful.

    kind    energy: its balance leaves its level; gimbal lock: a step of Euler angles passes it; inertia: a motion has almost none
    t       since when [s]
    size    by how much: relative to the energies' scale; turn of the step, relative to the distance from lock; inertia, relative
            to that at the start
    text    with the likely cause and the remedy
    where   joint
    """

    kind: str
    t: float
    size: float
    text: str
    where: str = ""


@dataclass(frozen=True, eq=False)
class Occurrences:
    """When and where an event happened.

    Attributes
    ----------
    system : System
    t : ndarray (m,)
        Times [s].
    q, v, p : ndarray (m, n)
        Coordinates, velocities and momenta there.
    step : ndarray of int (m,)
        Numbers of the steps, from 0 on, within which it happened.
    """

    system: System
    t: Array
    q: Array
    p: Array
    step: Array

    def __len__(self) -> int:
        """How often it happened."""
        return len(self.t)

    def __repr__(self) -> str:
        """How often and when."""
        span = f" from t = {self.t[0]:.6g} s to {self.t[-1]:.6g} s" if len(self) else ""
        return f"<Occurrences: {len(self)}{span}>"

    @cached_property
    def v(self) -> Array:
        """Velocities (m, n): M⁻¹ p, on the constraints."""
        return self.system.velocities(self.t, self.q, self.p) if len(self) else self.q.copy()

    def pose(self, body: str) -> tuple[Array, Array]:
        """Places (m, 3) [m] and rotations (m, 3, 3) of a body or frame, as `Trajectory.pose` gives them."""
        return self.system.poses(body, self.q)


@dataclass(frozen=True, eq=False)
class Stored:
    """What a file holds besides t, q and p, and what need not be computed again.

    Attributes
    ----------
    v : ndarray (N + 1, n)
    energy, kinetic_energy, potential_energy, constraint_residual : ndarray (N + 1,)
    momenta : ndarray (N + 1, m)
    momentum_names, momentum_units : tuple of str
    multipliers : ndarray (N + 1, k) or None
    position, rotation : ndarray (N + 1, bodies, 3), (N + 1, bodies, 4), or None
        Places of the bodies' origins and unit quaternions w, x, y, z, body to world, whose signs do not jump from state to
        state.
    inputs : ndarray (N + 1, m) or None
        The inputs that functions of the state gave.
    measured : mapping of str to ndarray (m, 1 + 2 w)
        What sensors measured, see `mbvi.results.stored_measurements`.
    """

    v: Array
    energy: Array
    kinetic_energy: Array
    potential_energy: Array
    constraint_residual: Array
    momenta: Array
    momentum_names: tuple[str, ...]
    momentum_units: tuple[str, ...]
    multipliers: Array | None = None
    position: Array | None = None
    rotation: Array | None = None
    inputs: Array | None = None
    measured: Mapping[str, Array] = field(default_factory=dict)

    def taken(self, take: Callable[[Array], Array]) -> Stored:
        """What is stored, with the part of every array that a function takes."""
        arrays: dict[str, Any] = {key: take(each) for key, each in vars(self).items() if isinstance(each, np.ndarray)}
        return replace(self, **arrays)


@dataclass(frozen=True, eq=False)
class Trajectory:
    """States of a system at times.

    Attributes
    ----------
    t : ndarray (N + 1,)
        Times [s].
    q, v, p : ndarray (N + 1, n)
        Coordinates, velocities and momenta, in the order of ``system.coordinate_names``.
    system : System
        A `Nameplate` if it was read from a file that cannot hold the system.
    scheme : Tableau or Method
    step : float
        Step size [s]; the mean one where they change.
    every : int
        Number of steps per stored state.
    statistics : Statistics
    stored : Stored or None
        What was read from a file.
    step_sizes : ndarray (steps,) or None
        Sizes of all steps that were done, where they change [s].
    start : Start or None
        The state it began from, and how far what was given violated the constraints; None if it was read from a file.
    findings : tuple of Finding
        What makes its result doubtful, as an `AccuracyWarning` said when it was computed.
    events : mapping of str to Occurrences
        When and where the events happened that the run looked for.
    end : str
        The event that ended the run, whose state is then the last; empty where it went on to the end of its duration.
    contact_events : ndarray (m, 7 + 2 n) or None
        What `contacts` has, of a system with stops or dry friction.
    samples : mapping of str to Samples
        The inputs that controllers gave.
    """

    system: System
    scheme: Tableau | Method
    step: float
    every: int
    t: Array
    q: Array
    p: Array
    statistics: Statistics
    stored: Stored | None = None
    step_sizes: Array | None = None
    start: Start | None = None
    findings: tuple[Finding, ...] = ()
    events: Mapping[str, Occurrences] = field(default_factory=dict)
    end: str = ""
    contact_events: Array | None = None
    samples: Mapping[str, Samples] = field(default_factory=dict)

    def __repr__(self) -> str:
        """What was run."""
        return (
            f"<Trajectory of {self.system.name!r}: {len(self.t)} states from t = {self.t[0]:g} s to {self.t[-1]:g} s, "
            f"{self._scheme_text}>"
        )

    @property
    def is_ended(self) -> bool:
        """Whether the last state is that of an event, which ended the run."""
        return bool(self.end) and len(self) > 1 and self.t[-1] == self.events[self.end].t[-1]

    @property
    def contacts(self) -> ContactEvents:
        """What happened to stops and dry frictions: impacts, rests, releases, sticks and slips.

        Raises
        ------
        ModelError
            If the system has none that act, or its file cannot hold the model.
        """
        if self.contact_events is None or isinstance(self.system, storage.Nameplate):
            expected = "a system with stops or dry friction that act"
            raise ModelError(f"contacts: {wrong(expected, repr(self.system.name), 'give limits a restitution')}")
        return ContactEvents(self.system, contact_names(self.system), self.contact_events)

    def contact_forces(self) -> dict[str, Array]:
        """Forces (states,) of all stops, which push where positive, and dry frictions, by name [N or N m]; without impacts."""
        return contact_forces(self.contacts, np.array(self.t), np.array(self.q), np.array(self.v))

    def gaps(self) -> dict[str, Array]:
        """Gaps (states,) of all stops by name [m or rad]."""
        return gaps(self.contacts.system, np.array(self.t), np.array(self.q))

    def slips(self) -> dict[str, Array]:
        """Rates (states,) at which all dry frictions slip, by name, those of stops also while these are open [m/s or rad/s]."""
        return slips(self.contacts.system, np.array(self.t), np.array(self.q), np.array(self.v))

    def energy_taken(self) -> Array:
        """The energy (states,) [J] that impacts and dry friction took until each state, 0 where there are none."""
        if self.contact_events is None:
            return np.zeros(len(self))
        return self.contacts.energy_taken(np.array(self.t), np.array(self.q), np.array(self.v))

    @property
    def _scheme_text(self) -> str:
        mean = "" if self.step_sizes is None else "mean "
        return f"{self.scheme.name}, {mean}step {self.step:g} s"

    def __len__(self) -> int:
        """Number of stored states."""
        return len(self.t)

    @cached_property
    def v(self) -> Array:
        """Velocities (N + 1, n): M⁻¹ p, on the constraints."""
        return self.stored.v if self.stored else self.system.velocities(self.t, self.q, self.p)

    @cached_property
    def _energies(self) -> tuple[Array, Array]:
        if self.stored:
            return self.stored.kinetic_energy, self.stored.potential_energy
        return self.system.energies(self.t, self.q, self.v)

    def energy(self) -> Array:
        """Kinetic and potential energy (N + 1,) [J]."""
        return self.stored.energy if self.stored else self._energies[0] + self._energies[1]

    def kinetic_energy(self) -> Array:
        """Kinetic energy (N + 1,) [J]."""
        return self._energies[0].copy()

    def potential_energy(self) -> Array:
        """Potential energy (N + 1,) [J]."""
        return self._energies[1].copy()

    @cached_property
    def invariants(self) -> tuple[Invariant, ...]:
        """The momenta that the system's linear symmetries conserve; none of a system with contacts, which may break them."""
        return () if self.system.has_contacts else find_invariants(self.system)

    def momenta(self) -> dict[str, Array]:
        """Every conserved momentum (N + 1,) by name [kg m²/s or kg m/s]."""
        if self.stored:
            return dict(zip(self.stored.momentum_names, self.stored.momenta.T, strict=True))
        return {invariant.name: invariant.value(self.q, self.p) for invariant in self.invariants}

    @property
    def momentum_units(self) -> tuple[str, ...]:
        """Units of the momenta, or nothing where coordinates have none."""
        if self.stored:
            return self.stored.momentum_units
        return tuple(each._unit(self.system.coordinate_units) for each in self.invariants)

    def quadratic_form(self) -> Array:
        """The quadratic form φ(p, q) (N + 1,) [J s] that the scheme conserves instead of the energy E, on a quadratic Lagrangian.

        φ = ½ pᵀξ p + ½ qᵀζ q, and about h E/2; see `mbvi.schemes.linear`.

        Raises
        ------
        ModelError
            If the scheme has none, or the Lagrangian is not quadratic.

        Source: Rojas-Quintero, Dubois & Cabrera-Díaz 2024, equation 42.
        """
        if self.scheme.name not in STEPS:
            raise ModelError(f"quadratic_form: expected a run of {', '.join(STEPS)}, found one of {self.scheme.name}")
        return STEPS[self.scheme.name](*quadratic_lagrangian(self.system), self.step).form(self.q, self.p)

    def constraint_residual(self) -> Array:
        """Largest |g| at every state, (N + 1,)."""
        if self.stored:
            return self.stored.constraint_residual
        return self.system.constraint_residuals(self.t, self.q)

    @cached_property
    def multipliers(self) -> Array:
        """Lagrange multipliers λ (N + 1, k) of the constraints, by the equations of motion at every state.

        In the order of ``system.constraint_names``; where constraints are redundant, those of least norm. Units: N for what holds
        points, N m for what holds directions; those of a user's constraints are the user's. In a file they are not a number in
        a singular position.
        """
        if self.stored and self.stored.multipliers is not None:
            return self.stored.multipliers
        if not self.system.constraint_count:
            return np.empty((len(self), 0))
        return accelerations_and_multipliers(self._states)[1]

    @property
    def _states(self) -> phases.RunStates:
        """The states in memory, with multipliers if a file has them."""
        lam = None if self.stored is None else self.stored.multipliers
        t, q, v = (np.asarray(each) for each in (self.t, self.q, self.v))
        return phases.RunStates(self.system, self.contact_events, t, q, v, lam)

    def reaction(self, name: str) -> tuple[Array, Array]:
        """The force and torque by which a joint acts on its child, or a constraint on its body_b.

        Parameters
        ----------
        name : str
            Name of the joint or of the constraint.

        Returns
        -------
        force : ndarray (N + 1, 3)
            Along the world's axes [N].
        torque : ndarray (N + 1, 3)
            About the joint's place on the parent, or about the point of body_b, along the world's axes [N m]. With a joint whose
            coordinates have springs, dampers, forces or couplings, these are contained.

        Raises
        ------
        ModelError
            If there is no such joint or constraint, the joint is free, or the constraint is none between bodies.
        """
        if not isinstance(name, str):
            raise ModelError(f"reaction: {wrong('the name of a joint or a constraint', show(name))}")
        (found,) = self.reactions([name])
        return found[0], found[1]

    def reactions(self, names: Sequence[str]) -> Array:
        """Forces and torques (names, 2, N + 1, 3) of several joints and constraints at once, as `reaction` gives them.

        Raises
        ------
        ModelError
            As there.
        """
        return reactions_of_run(self._states, names)

    def at(
        self, times: ArrayLike, fast: bool = False, inputs: Mapping[Any, Callable[..., Any]] | None = None
    ) -> Trajectory:
        """The states at given times, each by a step that ends there, or on cubics: see `mbvi.between.states_at`."""
        return mbvi.between.states_at(self, times, fast, inputs)

    def forces(self, names: Sequence[str] | None = None) -> dict[str, ElementForce]:
        """What forces, drives, couplings, other constraints, joints and contacts exert, with their power and energy, by name.

        Parameters
        ----------
        names : sequence of str, optional
            Names of forces, constraints, joints, and stops and frictions as `contacts` has them, and ``"own force"`` for a force
            of your own; by default all.

        Returns
        -------
        dict of str to ElementForce
            In the order of the names.

        Raises
        ------
        ModelError
            If nothing that exerts a force has one of the names.

        Examples
        --------
        >>> import mbvi
        >>> bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))
        >>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
        >>> spring = mbvi.JointSpring(joint="pivot", stiffness=2.0)
        >>> parts = {"bodies": {"bob": bob}, "joints": {"pivot": pivot}, "forces": {"spring": spring}}
        >>> trajectory = mbvi.simulate(mbvi.Model(name="pendulum", **parts), step=0.01, duration=1.0, initial_q=[0.5])
        >>> spring = trajectory.forces(["spring"])["spring"]
        >>> spring.components, spring.units, spring.values[0].tolist(), float(spring.energy[0])
        (('pivot.angle',), ('N m',), [-1.0], 0.25)
        """
        return forces_of_run(self._states, names)

    def coordinate_forces(self) -> Array:
        """Torques and forces (N + 1, n) on coordinates [N m for angles, N for displacements]: the sum of all springs, dampers,
        forces, drives and couplings on joints, of limits and dry frictions, and of a force of your own.
        """
        acting = [name for name in names_of_forces(self.system) if name not in known_names(self.system)]
        return forces_on_coordinates(self.system, self.forces(acting).values(), len(self))

    def force_table(self, names: Sequence[str] | None = None) -> Table:
        """What `forces` gives as a table, for files, pandas and xarray: forces, powers, works and energies of the elements."""
        return force_table(self.system.name, self.t, self.forces(names))

    def kinematics(self, frames: Sequence[str]) -> Table:
        """Places, rotations, velocities and accelerations of frames as a table, for arrays with labels, pandas, xarray and files.

        Parameters
        ----------
        frames : sequence of str
            Bodies, BODY.FRAME of their named frames, or the name of a frame alone where one body has it.

        Returns
        -------
        Table
            ``place`` [m], ``rotation`` (unit quaternions w, x, y, z, frame to world), ``velocity`` [m/s], ``angular_velocity``
            [rad/s], ``acceleration`` [m/s²] and ``angular_acceleration`` [rad/s²], along the world's axes. Accelerations are
            those of the equations of motion in every state.

        Raises
        ------
        ModelError
            If there is no such frame, or the equations are singular in a state.

        Examples
        --------
        >>> import mbvi
        >>> arm = mbvi.Body(mass=1, center_of_mass=(0, 0, -1), frames={"tool": {"position": (0, 0, -2)}})
        >>> pivot = mbvi.Revolute(parent="world", child="arm", axis=(0, 1, 0))
        >>> model = mbvi.Model(name="pendulum", bodies={"arm": arm}, joints={"pivot": pivot})
        >>> motion = mbvi.simulate(model, step=0.01, duration=1.0, initial_v=[1.0]).kinematics(["tool"])
        >>> motion["velocity"].shape, motion["velocity"][0, 0].round(9).tolist()
        ((101, 1, 3), [-2.0, 0.0, 0.0])
        """
        run = self._states
        accelerations = accelerations_and_multipliers(run)[0]
        return frame_table(self.system, frames, run.t, run.q, run.v, accelerations)

    def measurements(self, names: Sequence[str] | None = None) -> dict[str, Measured]:
        """What the sensors of the model measured, by their names.

        A sensor with a period takes a sample of the first state, and at all times that are multiples of its period; one without
        takes one of every stored state. Samples between stored states are of states as `at` gives them. Accelerations and
        forces are those that acted until then, where an input jumps at that time.

        Parameters
        ----------
        names : sequence of str, optional
            Names of sensors; by default all.

        Raises
        ------
        ModelError
            If there is no such sensor, or the equations are singular in a state.

        Examples
        --------
        >>> import mbvi
        >>> bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))
        >>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
        >>> sensors = {"gyro": mbvi.Gyroscope(frame="bob", period=0.25, noise=1e-3)}
        >>> model = mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot}, sensors=sensors)
        >>> gyro = mbvi.simulate(model, step=0.01, duration=1.0, initial_v=[1.0]).measurements()["gyro"]
        >>> gyro.t.tolist(), gyro.unit, gyro.exact[0].tolist()
        ([0.0, 0.25, 0.5, 0.75, 1.0], 'rad/s', [0.0, 1.0, 0.0])
        """
        return measurements(self._course, names)

    def measurement_table(self, names: Sequence[str] | None = None) -> Table:
        """What `measurements` gives as a table, for files, pandas and xarray, of sensors that sample at the same times.

        Raises
        ------
        ModelError
            If they do not, or there is no such sensor.
        """
        return measurement_table(self._course, names)

    @property
    def _course(self) -> Course:
        if isinstance(self.system, storage.Nameplate):
            remedy = "read it with its system: mbvi.read(path, system=system)"
            raise ModelError(f"measurements: {wrong('a run with its system', 'one without', remedy)}")
        t, q, p = (np.asarray(each) for each in (self.t, self.q, self.p))
        known = {} if self.stored is None else self.stored.measured
        return Course(self.system, self.step, self.step_sizes is None, t, q, p, self.contact_events, self.at, known)

    def control_points(self, state: int) -> ControlPoints:
        """The control points of the step from a stored state, solved again: places, and impulses and multipliers of constraints.

        The impulses are what the equations of the step contain; their sum tends to the integral of the multipliers over it. At
        its ends, which it shares with other steps, they are its own part.

        Parameters
        ----------
        state : int
            Its number among those stored; negative ones count from the end. From the last one, the step that a run would do next.

        Returns
        -------
        ControlPoints
            ``t`` (c,), ``q`` (c, n), ``impulses`` and ``multipliers`` (c, k), ``weights`` (c,): see
            `mbvi.analysis.control_points`. Where constraints are redundant, impulses are those of least norm.

        Raises
        ------
        ModelError
            If the scheme is no Galerkin scheme, or there is no such state.
        StepError
            If the step does not converge.

        Examples
        --------
        >>> import mbvi, sympy
        >>> x, z = sympy.symbols("x z")
        >>> bob = mbvi.from_sympy([x, z], sympy.eye(2), 9.81 * z, constraints=[x**2 + z**2 - 1], initial_q=[1, 0])
        >>> points = mbvi.simulate(bob, "simpson", step=0.01, duration=1.0).control_points(50)
        >>> points.t.round(6).tolist(), points.multipliers.shape
        ([0.5, 0.505, 0.51], (3, 1))
        """
        if isinstance(self.scheme, Method):
            raise ModelError(
                f"control_points: expected a run of a Galerkin scheme, as midpoint or simpson, found one of {self.scheme.name}"
            )
        if not isinstance(state, int | np.integer) or not -len(self) <= state < len(self):
            raise ModelError(f"control_points: expected the number of one of {len(self)} states, found {state!r}")
        return solve_control_points(self.system, self.scheme, self.step, self.t[state], self.q[state], self.p[state])

    def pose(self, body: str) -> tuple[Array, Array]:
        """Places and rotations of a body.

        Parameters
        ----------
        body : str
            Name of a body of the model, BODY.FRAME of one of its frames, or "world".

        Returns
        -------
        positions : ndarray (N + 1, 3)
            Origin of the body's frame, in the world [m].
        rotations : ndarray (N + 1, 3, 3)
            Rotation matrices, body to world.

        Raises
        ------
        ModelError
            If there is no such body.
        """
        system, stored = self.system, self.stored
        if isinstance(system, storage.Nameplate) and isinstance(body, str) and body in system.body_names and stored:
            from scipy.spatial.transform import Rotation

            i = system.body_names.index(body)
            position, rotation = np.asarray(stored.position)[:, i], np.asarray(stored.rotation)[:, i]
            return position, Rotation.from_quat(rotation[:, [1, 2, 3, 0]]).as_matrix()
        return system.poses(body, self.q)

    def evaluate(self, expression: str) -> Array:
        """The values of an expression of coordinates, rates, places and the time, at every state.

        Parameters
        ----------
        expression : str
            As in a model, with its parameters, and with ``q('JOINT')`` and ``v('JOINT')`` for a coordinate and its rate,
            ``q('JOINT', 'x')`` for one of several, ``x('BODY')``, ``y('BODY.FRAME')`` and ``z('BODY')`` for the place of a body
            or frame in the world [m], and ``t`` for the time [s].

        Returns
        -------
        ndarray (N + 1,)

        Raises
        ------
        ModelError
            If it is no such expression, or names what the model does not have.

        Examples
        --------
        >>> import mbvi
        >>> run = mbvi.simulate(mbvi.load("models/pendulum.yaml"), step=0.01, duration=0.1)
        >>> height = run.evaluate("1 - cos(q('pivot'))")
        >>> bool(abs(height - (1 - np.cos(run.q[:, 0]))).max() < 1e-15)
        True
        """
        if isinstance(self.system, storage.Nameplate):
            remedy = "read it with its system: mbvi.read(path, system=system)"
            raise ModelError(f"expression: {wrong('a run with its system', 'one without', remedy)}")
        try:
            return measured(self.system, expression, np.asarray(self.t), np.asarray(self.q), np.asarray(self.v))
        except ModelError as error:
            raise ModelError(f"expression: {error}") from None

    def plot(self, *what: str, names: Sequence[str] | None = None, section: str | None = None) -> Any:
        """Draw quantities, or an overview: a matplotlib.figure.Figure, see `mbvi.plot`."""
        return mbvi.plot(self, *what, names=names, section=section)

    def _repr_html_(self) -> str:
        """What notebooks show: a table of the run, the page of its animation if it has bodies and at most MOST_SHOWN states, and
        curves of coordinates and energies; the latter two with the extra ``mbvi[viz]``.
        """
        rows = [
            ("scheme", self._scheme_text),
            ("states", f"{len(self)} from t = {self.t[0]:g} s to {self.t[-1]:g} s"),
            ("energy", f"{self.energy()[0]:.6g} J at the start, {self.energy()[-1]:.6g} J at the end"),
        ]
        if self.system.constraint_count:
            rows.append(("constraints", f"largest residual {self.constraint_residual().max():.1e}"))
        viewer = picture = ""
        with contextlib.suppress(ModelError), tempfile.TemporaryDirectory() as folder:
            if len(self) <= MOST_SHOWN:
                page = mbvi.animate(self, Path(folder, "page.html")).read_text(encoding="utf-8")
                source = escape(page).encode("ascii", "xmlcharrefreplace").decode()  # whatever the notebook's encoding
                viewer = f'<iframe srcdoc="{source}" style="width: 100%; height: 32rem; border: 0"></iframe>'
        with contextlib.suppress(ModelError):
            picture = getattr(self.plot("coordinates", "energy"), "_repr_svg_", str)()
        return html_table(self.system.name, rows) + viewer + picture

    def to_xarray(self) -> xarray.Dataset:
        """All quantities as an xarray Dataset, with names and units; it needs the extra ``mbvi[export]``.

        Those of a file, and what follows from them by the system: the multipliers of constraints, and for every body of a model
        the position of its origin in the world and its rotation, a unit quaternion (w, x, y, z) from body to world. Its sign does
        not jump from state to state.

        Raises
        ------
        ModelError
            If xarray is missing.
        """
        return self.table().to_xarray()

    def to_pandas(self) -> pandas.DataFrame:
        """All quantities as a pandas DataFrame over t: columns q.hinge.angle, …, units in ``attrs["units"]``.

        It needs the extra ``mbvi[export]``.

        Raises
        ------
        ModelError
            If pandas is missing.
        """
        return self.table().to_pandas()

    def export(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write all quantities to a file for other tools, with names and units.

        A .csv file has one line of names and units, as q.hinge.angle [rad], and one for every state; a .nc file (netCDF-4) is
        what `to_xarray` gives, and needs the extra ``mbvi[export]``.

        Raises
        ------
        ModelError
            If the ending is another, a library is missing, the file exists and `force` is not set, or it cannot be written.
        """
        write = find_writer(checked_path(path))
        tables = self._tables(EXPORTED_ROWS if write is write_csv else len(self))
        replace_file(check_output(path, force), lambda part: write(part, tables))

    def _tables(self, size: int) -> Iterator[Table]:
        """Tables of blocks of the states, one after another."""
        whole, before = self._completed(()), None
        for first in range(0, len(self), size):
            block = whole.rows(slice(first, first + size))._completed(before=before)
            before = last_rotation(block.stored)
            yield block.table()

    def _completed(self, store: Sequence[str] = tuple(storage.PARTS), before: Array | None = None) -> Trajectory:
        """The trajectory with all that a file holds, and some of its parts; before it the `last_rotation` was `before`."""
        stored = self.stored or derived(self.system, known_invariants(self.system), self.t, self.q, self.p)
        if not isinstance(self.system, storage.Nameplate):
            stored = with_parts(stored, self.system, self.t, self.q, store, before)
        return replace(self, stored=stored)

    def table(self) -> Table:
        """All quantities by name, with units, as `to_xarray` has them."""
        stored = self._completed().stored
        assert stored is not None
        labels, units = labels_and_units(self.system, stored)
        values = columns(self.t, self.q, self.p, stored)
        variables = {key: storage.VARIABLES[key] for key in values if key != "t"}
        quantities = (
            Quantity(key, each.text, each.dimensions, each.units, values[key]) for key, each in variables.items()
        )
        about: dict[str, Any] = {"name": self.system.name, "mbvi_version": mbvi.__version__, "scheme": self.scheme.name}
        about |= {"step": self.step, "every": self.every}
        return Table(self.t, tuple(quantities), labels, units, about)

    def rows(self, part: slice) -> Trajectory:
        """The trajectory of some of its states, at least one, in their order; ModelError if there is none."""
        numbers = range(len(self))[part] if isinstance(part, slice) else range(0)
        if not numbers or numbers.step < 0:
            raise ModelError(f"rows: expected a slice of some of the {len(self)} states in their order, found {part!r}")
        sizes = self.step_sizes
        if sizes is not None:
            sizes = sizes[numbers[0] * self.every : numbers[-1] * self.every]
        taken = self._taken(lambda values: values[part])
        stored = taken.stored
        if numbers.step > 1 and stored is not None and stored.rotation is not None:  # half a turn may lie between rows
            stored = replace(stored, rotation=continuous(stored.rotation))
        return replace(taken, every=self.every * numbers.step, step_sizes=sizes, stored=stored)

    def blocks(self, size: int) -> Iterator[Trajectory]:
        """Trajectories of `size` states each, one after another, without memory for those of a file that were before; a run in
        memory is one of them.
        """
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
            raise ModelError(f"size: expected a whole number of at least 1, found {size!r}")
        if self.stored is None:
            yield self
            return
        for first in range(0, len(self), size):
            yield self._taken(functools.partial(storage.block, first=first, last=first + size))

    def _taken(self, take: Callable[[Array], Array]) -> Trajectory:
        stored = self.stored.taken(take) if self.stored else None
        return replace(self, t=take(self.t), q=take(self.q), p=take(self.p), stored=stored)

    def save(self, path: str | os.PathLike[str], force: bool = False, store: Sequence[str] | None = None) -> None:
        """Write a file that `read` turns into an equal trajectory, at once or not at all.

        Parameters
        ----------
        path : str or path
            The file; its ending is .h5, .hdf5 or .nc.
        force : bool
            Whether an existing file is overwritten.
        store : sequence of str, optional
            What is in it of poses, multipliers and measurements, by default all; see `simulate`.

        Raises
        ------
        ModelError
            If the ending is another, the file exists or cannot be written, or there is no such part.
        """
        path, parts = check_output(path, force, storage.ENDINGS), storage.check_parts(store)
        stored = self._completed(parts).stored
        assert stored is not None
        steps = (len(self) - 1 - self.is_ended) * self.every
        made = header(self, steps, stored)
        if stored_measurements.GROUP in parts and not isinstance(self.system, storage.Nameplate):
            made = replace(made, measured=stored_measurements.rows_of(self))
        storage.make(path, made, columns(self.t, self.q, self.p, stored))


def _touched(found: storage.Header) -> Array | None:
    """What happened to contacts, nothing to those of which no friction is left; None without any."""
    if found.contacts:
        return found.contact_events
    has_some = not isinstance(found.system, storage.Nameplate) and found.system.has_contacts
    return np.empty((0, WIDTH + 2 * found.system.dimension)) if has_some else None


def read(path: str | os.PathLike[str], system: System | None = None) -> Trajectory:
    """Read a trajectory's file, also one that a run still writes or did not end.

    The arrays are parts of the file, which are read when they are used: a long trajectory need not fit into memory.

    Parameters
    ----------
    path : str or path
        A file that `Trajectory.save` or a run wrote.
    system : System, optional
        The system, which is needed for poses if it was not made from a model, or had a force of your own.

    Raises
    ------
    ModelError
        If the file is missing, damaged, of another kind, or of another system or model.

    Examples
    --------
    >>> import mbvi, tempfile
    >>> bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))
    >>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    >>> model = mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot})
    >>> trajectory = mbvi.simulate(model, "simpson", step=0.01, duration=1.0, initial_q=[0.5])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     trajectory.save(folder + "/pendulum.h5")
    ...     read(folder + "/pendulum.h5")
    <Trajectory of 'pendulum': 101 states from t = 0 s to 1 s, simpson, step 0.01 s>
    """
    if system is not None:
        check_kind(system, System, "system", "make one by assemble")
    path = checked_path(path)
    found, values = storage.read(path, system)
    with storage.readable(path):
        statistics = Statistics(**found.statistics)
        findings = tuple(Finding(**each) for each in found.findings)
    stored_steps = (len(values["t"]) - 1) * found.every
    samples = (
        samples_of(found.system.input_names, found.controllers, found.samples, float(values["t"][-1]))
        if found.controllers and not isinstance(found.system, storage.Nameplate)
        else {}
    )
    return Trajectory(
        system=_seen_system(found, values, samples),
        scheme=found.scheme,
        step=found.step,
        every=found.every,
        t=values["t"],
        q=values["q"],
        p=values["p"],
        statistics=statistics,
        stored=Stored(
            v=values["v"],
            energy=values["energy"],
            kinetic_energy=values["kinetic_energy"],
            potential_energy=values["potential_energy"],
            constraint_residual=values["constraint_residual"],
            momenta=values.get("momenta", np.empty((len(values["t"]), 0))),
            momentum_names=found.labels.get("momentum", ()),
            momentum_units=found.units.get("momentum", ()),
            multipliers=values.get("multipliers"),
            position=values.get("position"),
            rotation=values.get("rotation"),
            inputs=values.get("inputs"),
            measured=found.measured,
        ),
        step_sizes=None if found.step_sizes is None else found.step_sizes[: max(statistics.steps, stored_steps)],
        findings=findings,
        events=occurrences_of(found.system, found.events, found.occurrences),
        end=found.end,
        contact_events=_touched(found),
        samples=samples,
    )


def _seen_system(found: storage.Header, values: Mapping[str, Array], samples: Mapping[str, Samples]) -> System:
    """The system whose inputs are in the states what they were in the run."""
    run, names = found.system, found.labels.get("input", ())
    if isinstance(run, storage.Nameplate) or not names:
        return with_samples(run, samples)
    known = Seen(names, None if run._feedback is None else with_samples(run, samples))
    return with_values(with_samples(without_feedback(run), samples), known, values["t"], values["inputs"])


def seen_trajectory(trajectory: Trajectory) -> Trajectory:
    """The trajectory whose system has, instead of functions of the state, the inputs that they gave in its states."""
    if trajectory.system._feedback is None:
        return trajectory
    t, q, v = trajectory.t, trajectory.q, trajectory.v
    return replace(trajectory, system=as_seen(trajectory.system, t, q, v))


def occurrences_of(system: System, names: Sequence[str], rows: Array) -> dict[str, Occurrences]:
    """The occurrences of every event, of rows (rows, 3 + 2 n) as a file keeps them: step, number of the event, time, q and p."""
    n, found = len(system.coordinate_names), {}
    rows = rows.reshape(len(rows), 3 + 2 * n)
    for number, name in enumerate(names):
        own = rows[rows[:, 1] == number]
        found[name] = Occurrences(system, own[:, 2], own[:, 3 : 3 + n], own[:, 3 + n :], own[:, 0].astype(int))
    return found


def _rows_of(events: Mapping[str, Occurrences], n: int) -> Array:
    """What `occurrences_of` takes apart, in the order of the times."""
    rows = [
        np.column_stack([each.step, np.full(len(each), number), each.t, each.q, each.p])
        for number, each in enumerate(events.values())
    ]
    joined = np.concatenate([np.empty((0, 3 + 2 * n)), *rows])
    return joined[np.argsort(joined[:, 2], kind="stable")]


def derived(
    system: System,
    invariants: Sequence[Invariant],
    t: Array,
    q: Array,
    p: Array,
    store: Sequence[str] = (),
    before: Array | None = None,
) -> Stored:
    """What a file holds besides t, q and p, with those of its parts; `before` is the `last_rotation` of the states before.

    Nothing that cannot be computed, as velocities in a singular position, keeps a run from being saved: it is then not
    a number.
    """
    v = np.full_like(q, np.nan)
    kinetic = potential = np.full(len(q), np.nan)
    with contextlib.suppress(ModelError):
        v = system.velocities(t, q, p)
        kinetic, potential = system.energies(t, q, v)
    momenta = np.array([each.value(q, p) for each in invariants]).reshape(len(invariants), len(q)).T
    names = tuple(each.name for each in invariants)
    units = tuple(each._unit(system.coordinate_units) for each in invariants)
    residual = system.constraint_residuals(t, q)
    stored = Stored(v, kinetic + potential, kinetic, potential, residual, momenta, names, units)
    if system._feedback is not None:
        stored = replace(stored, inputs=input_values(system, t, q, v))
    elif system._seen is not None:
        stored = replace(stored, inputs=seen_values(system, t))
    return with_parts(stored, system, t, q, store, before)


def last_rotation(stored: Stored | None) -> Array | None:
    """Quaternions (bodies, 4) of the last state, which those of the next follow without a jump of sign."""
    return None if stored is None or stored.rotation is None else np.array(stored.rotation[-1])


def with_parts(
    stored: Stored, system: System, t: Array, q: Array, store: Sequence[str], before: Array | None = None
) -> Stored:
    """What is stored, and multipliers and poses if they are asked for, not there, and the system has constraints and bodies."""
    has_one_system = not system.has_contacts  # else multipliers depend on what is closed
    if "multipliers" in store and stored.multipliers is None and system.constraint_count and has_one_system:
        stored = replace(stored, multipliers=system.multipliers(t, q, stored.v))
    if "poses" in store and stored.position is None and system.body_names:
        position, rotation = positions_and_quaternions(system, q, before)
        stored = replace(stored, position=position, rotation=rotation)
    return stored


def labels_and_units(system: System, stored: Stored) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """The labels of every dimension, and their units where they have some."""
    labels = {"coordinate": system.coordinate_names, "momentum": stored.momentum_names}
    labels |= {"constraint": system.constraint_names, "body": system.body_names}
    labels |= {"axis": tuple("xyz"), "component": tuple("wxyz")}
    if (known := system._feedback or system._seen) is not None:
        labels["input"] = known.names
    units = {
        "coordinate": system.coordinate_units,
        "momentum": stored.momentum_units,
        "constraint": system.constraint_units,
    }
    return labels, units


def columns(t: Array, q: Array, p: Array, stored: Stored) -> dict[str, Array]:
    """All variables of a file by name, (rows, …)."""
    values = {
        "t": t,
        "q": q,
        "v": stored.v,
        "p": p,
        "energy": stored.energy,
        "kinetic_energy": stored.kinetic_energy,
        "potential_energy": stored.potential_energy,
        "constraint_residual": stored.constraint_residual,
    }
    if stored.momentum_names:
        values["momenta"] = stored.momenta
    optional = {"multipliers": stored.multipliers, "position": stored.position, "rotation": stored.rotation}
    optional["inputs"] = stored.inputs
    return values | {key: each for key, each in optional.items() if each is not None}


def header(trajectory: Trajectory, steps: int, stored: Stored) -> storage.Header:
    """What a file says of a run, besides its rows."""
    labels, units = labels_and_units(trajectory.system, stored)
    return storage.Header(
        system=trajectory.system,
        scheme=trajectory.scheme,
        step=trajectory.step,
        steps=steps,
        every=trajectory.every,
        start_time=float(trajectory.t[0]),
        degrees_of_freedom=_degrees_of_freedom(trajectory),
        labels=labels,
        units=units,
        statistics=asdict(trajectory.statistics),
        findings=[each._asdict() for each in trajectory.findings],
        step_sizes=trajectory.step_sizes,
        events=tuple(trajectory.events),
        occurrences=_rows_of(trajectory.events, trajectory.q.shape[1]),
        end=trajectory.end if trajectory.is_ended else "",
        contacts=() if trajectory.contact_events is None else contact_names(trajectory.system),
        contact_events=np.empty((0, 7)) if trajectory.contact_events is None else trajectory.contact_events,
        controllers=tuple({"name": name, **each.numbers} for name, each in trajectory.samples.items()),
        samples=rows_of(trajectory.samples, trajectory.system.input_names) if trajectory.samples else np.empty((0, 3)),
    )


def known_invariants(system: System) -> tuple[Invariant, ...]:
    """The invariants of the system, none where they cannot be found, or where contacts may break them."""
    if system.has_contacts:
        return ()
    with contextlib.suppress(ModelError, np.linalg.LinAlgError):
        return find_invariants(system)
    return ()


def _degrees_of_freedom(trajectory: Trajectory) -> int:
    """Degrees of freedom of the system or, if its own start cannot be used, at the first state of the run."""
    system = trajectory.system
    try:
        return system.degrees_of_freedom
    except ModelError:
        G = system.constraint_jacobian(trajectory.q[0], trajectory.t[0])
        return system.dimension - int(np.linalg.matrix_rank(G))
