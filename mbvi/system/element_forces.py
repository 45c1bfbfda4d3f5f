"""What every element of a model exerts in the states of a run: forces, constraints, joints, and a force of the user's own.

    an element of `forces`       by its law, on a coordinate, along the line between two points, or along the world's axes
    an actuator of a frame       by its law, as force and torque along the world's axes
    a bushing, a ball spring     by its law, as force and torque, or torque, along the world's axes
    a constraint                 by its multipliers; along the line of a distance, on coordinates, or as force and torque
    a joint                      its reaction, in which what acts on its coordinates is contained
    a force along a tendon       by its law, along the length
    a force of the user's own    on every coordinate

The power of an element is what it gives to the motion: v·F of a force, and −λ·∂g/∂t of a constraint g(t, q) = 0 with the
multiplier λ. The sum of the powers of all elements, and of the rates of the energies that they store, is the rate of the energy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mbvi.errors import ModelError
from mbvi.kernels import layout
from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.mechanics.bushings import FORCE, MOVING, TORQUE, TURNING, energy_of_bushing, fill_bushing
from mbvi.kernels.mechanics.forces import (
    element_force,
    element_points,
    force_along,
    is_between_points,
    joint_force,
    line_between,
)
from mbvi.kernels.mechanics.frame_actuators import ABOUT, along_world, pull_of
from mbvi.kernels.mechanics.frame_actuators import ALONG as ALONG_AXES
from mbvi.kernels.mechanics.functions import function_of
from mbvi.kernels.mechanics.lagrangian import fill_gradient
from mbvi.kernels.mechanics.power import subtract_drive_powers
from mbvi.kernels.mechanics.tendons import pull_of as pull_of_tendon
from mbvi.kernels.mechanics.tree import WORLD_OMEGA, anchor_place, fill_world
from mbvi.model.arguments import checked_names
from mbvi.model.expressions import nearest, show, wrong
from mbvi.model.forces import (
    BallSpring,
    Between,
    Bushing,
    Force,
    FrameActuator,
    HasInput,
    OnGear,
    OnJoint,
    OnTendon,
    Torque,
)
from mbvi.model.holds import Apart, Expressed, Follows, Related
from mbvi.model.tendons import length_of, length_unit
from mbvi.system.feedback import as_seen
from mbvi.system.projection import owner_of
from mbvi.system.reactions import known_names, reactions
from mbvi.system.system import System
from mbvi.system.tables import Tables

Array = np.ndarray
OWN_FORCE = "own force"
"""The name of the force of the user's own."""
XYZ = ("x", "y", "z")
WRENCH = (*(f"force_{axis}" for axis in XYZ), *(f"torque_{axis}" for axis in XYZ))
UNITS = ("N",) * 3 + ("N m",) * 3
FORCE_UNITS = {"rad": "N m", "m": "N", "-": "N m"}
ALONG, POWER, POTENTIAL = 3, 4, 5  # columns of what a force on bodies exerts, behind its components
POWER_OF_BUSHING, ENERGY_OF_BUSHING = 6, 7  # columns of what a bushing exerts, behind force and torque


@dataclass(frozen=True, eq=False)
class ElementForce:
    """What an element exerts in the states of a run.

    Attributes
    ----------
    name, type : str
        The name and the type of the element.
    components : tuple of str
        Names of the columns of `values`: the coordinate of a force on a joint; ``along`` of what acts along the line between two
        points, or along a tendon; ``x``, ``y``, ``z`` of a force or torque on a body, along the world's axes; the coordinates of
        a coupling, of a prescribed motion and of a force of your own; ``force_x``, …, ``torque_z`` of joints and of other
        constraints, as `Trajectory.reaction` gives them, and of a bushing, on body_b at point_b, and of an actuator of a frame,
        along the world's axes; ``x``, ``y``, ``z`` of the torque of a ball spring on the joint's child.
    units : tuple of str
        The units of the columns: N or N m.
    t : ndarray (states,)
        Times [s].
    values : ndarray (states, components)
        Forces and torques. What acts along a line is positive where it drives its points apart.
    power : ndarray (states,)
        What the element gives to the motion [W], negative where it takes. Of a joint, that of what acts on its coordinates.
    energy : ndarray (states,) or None
        The potential energy of a force that derives from a potential, or of the springs of a bushing [J].
    jumps : bool
        Whether powers may jump between states, as they do in a run in which stops or frictions act.
    """

    name: str
    type: str
    components: tuple[str, ...]
    units: tuple[str, ...]
    t: Array
    values: Array
    power: Array
    energy: Array | None = None
    jumps: bool = False

    def __repr__(self) -> str:
        """What it is, and its largest values."""
        sizes = zip(self.components, self.units, np.abs(self.values).max(axis=0, initial=0.0), strict=True)
        largest = ", ".join(f"{name} {size:.4g} {unit}".rstrip() for name, unit, size in sizes)
        return f"<ElementForce of the {self.type} {self.name!r}: at most {largest}>"

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the columns in tables: that of the element, and of its component if there are several."""
        if len(self.components) == 1:
            return (self.name,)
        return tuple(f"{self.name}.{each}" for each in self.components)

    @property
    def work(self) -> Array:
        """What the element gave since the first state (states,) [J], without impacts: the integral of a spline of its powers.

        Where powers may jump the spline is monotone between states, so that it does not go beyond them.
        """
        from scipy.interpolate import CubicSpline, PchipInterpolator

        if len(self.t) < 2 or not np.isfinite(self.power).all():
            return np.where(np.isfinite(self.power), 0.0, np.nan)
        spline = PchipInterpolator if self.jumps else CubicSpline
        return spline(self.t, self.power).antiderivative()(self.t)


@kernel
def fill_element_forces(on_coordinates, on_bodies, system, work, t, q, v):  # type: ignore[no-untyped-def]
    """What every force of a model exerts in many states, with its potential energy V, 0 where it derives from none.

    on_coordinates  (forces, states, 2)   out: force φ [N, N m], V [J]
    on_bodies       (forces, states, 6)   out: components along the world's axes [N, N m], φ along the line between its points
                                          [N], power [W], V [J]
    t               (states,)             [s]
    q, v            (states, n)           [u, u/s], u the unit of a coordinate
    """
    world = work.world
    for s in range(q.shape[0]):
        for i in range(on_coordinates.shape[0]):
            x = system.joint_forces[i, 1]
            if x >= 0:
                on_coordinates[i, s, 0], _, _, on_coordinates[i, s, 1] = joint_force(
                    system, work, i, t[s], q[s, x], v[s, x]
                )
        if on_bodies.shape[0] > 0:
            fill_world(system, work, q[s], v[s])
        for i in range(on_bodies.shape[0]):
            a, b, r = element_points(system, world, i, q[s])
            fx, fy, fz = element_force(system, work, i, t[s], a, b, r)
            link, kind = system.body_forces[i, 2], system.body_forces[i, 0]
            along = potential = 0.0
            ux, uy, uz = b[3], b[4], b[5]
            if is_between_points(system, i):
                length, nx, ny, nz, rate = line_between(a, b, r)
                along = nx * fx + ny * fy + nz * fz
                potential = force_along(system, work, i, length, rate)[3]
                ux, uy, uz = ux - a[3], uy - a[4], uz - a[5]
            elif kind == layout.FORCE_WORLD:
                x, y, z = anchor_place(system.links, system.geometry, world, link, q[s])
                potential = -(fx * (b[0] + x) + fy * (b[1] + y) + fz * (b[2] + z))
            elif kind != layout.FORCE_BODY:  # a torque
                ux, uy, uz = world[link, WORLD_OMEGA], world[link, WORLD_OMEGA + 1], world[link, WORLD_OMEGA + 2]
            row = on_bodies[i, s]
            row[0], row[1], row[2] = fx, fy, fz
            row[3], row[4], row[5] = along, fx * ux + fy * uy + fz * uz, potential


@kernel
def fill_bushing_forces(out, system, work, q, v):  # type: ignore[no-untyped-def]
    """What every bushing exerts in many states.

    out       (bushings, states, 8)    out: force [N] and torque [N m] on its second side along the world's axes, power [W], and
                                       energy [J]
    q, v      (states, n)              [u, u/s], u the unit of a coordinate
    """
    for s in range(q.shape[0]):
        fill_world(system, work, q[s], v[s])
        for i in range(out.shape[0]):
            fill_bushing(system, work, i, q[s])
            row, power = work.bushing, 0.0
            for c in range(3):
                out[i, s, c], out[i, s, 3 + c] = row[FORCE + c], row[TORQUE + c]
                power += row[FORCE + c] * row[MOVING + c] + row[TORQUE + c] * row[TURNING + c]
            out[i, s, 6], out[i, s, 7] = power, energy_of_bushing(system, work, i)


@kernel
def fill_frame_actuator_forces(out, system, work, t, q, v):  # type: ignore[no-untyped-def]
    """What every actuator of a frame exerts in many states.

    out       (actuators, states, 7)   out: force [N] and torque [N m] along the world's axes, and power [W]
    t         (states,)                [s]
    q, v      (states, n)              [u, u/s], u the unit of a coordinate
    """
    for s in range(q.shape[0]):
        fill_world(system, work, q[s], v[s])
        for i in range(out.shape[0]):
            pull, _, rate = pull_of(system, work, i, t[s])
            fx, fy, fz = along_world(system, work, i, ALONG_AXES)
            tx, ty, tz = along_world(system, work, i, ABOUT)
            row = out[i, s]
            row[0], row[1], row[2] = pull * fx, pull * fy, pull * fz
            row[3], row[4], row[5], row[6] = pull * tx, pull * ty, pull * tz, pull * rate


@kernel
def fill_tendon_forces(out, system, work, t, q, v):  # type: ignore[no-untyped-def]
    """What every force along a tendon exerts in many states.

    out       (tendons, states, 3)     out: force along the length [N or N m], power [W], V [J], 0 where it derives from none
    t         (states,)                [s]
    q, v      (states, n)              [u, u/s], u the unit of a coordinate
    """
    for s in range(q.shape[0]):
        fill_world(system, work, q[s], v[s])
        for i in range(out.shape[0]):
            force, _, _, potential, rate = pull_of_tendon(system, work, i, t[s], q[s], v[s])
            out[i, s, 0], out[i, s, 1], out[i, s, 2] = force, force * rate, potential


def force_names(system: System) -> list[str]:
    """Names of all that exerts something in a system: forces, a force of the user's own, constraints and joints."""
    model = system.model
    own = [OWN_FORCE] if _has_own_force(system) else []
    if model is None:
        return [*own, *system.constraint_names]
    return list(dict.fromkeys([*model.forces, *own, *model.constraints, *known_names(system)]))


def checked_forces(names: Sequence[str], known: Sequence[str]) -> Sequence[str]:
    """Names of elements that exert something.

    Raises
    ------
    ModelError
        If one is not among those known.
    """
    chosen = checked_names(names, "names", "a list of names of forces, constraints, contacts and joints")
    for name in chosen:
        if name not in known:
            raise ModelError(f"forces: {wrong('the name of what exerts a force', show(name), nearest(name, known))}")
    return chosen


def element_forces(
    system: System, names: Sequence[str] | None, t: Array, q: Array, v: Array, lam: Array
) -> dict[str, ElementForce]:
    """What elements exert in many states, by their names.

    Parameters
    ----------
    system : System
    names : sequence of str, optional
        Names of forces, constraints and joints; by default all.
    t : (states,)
        Times [s].
    q, v, lam : (states, n), (states, n), (states, k)
        Coordinates, velocities and multipliers.

    Raises
    ------
    ModelError
        If nothing has one of the names.
    """
    known = force_names(system)
    chosen = known if names is None else checked_forces(names, known)
    t, q, v = system._series(t, q=q, v=v)
    return _Elements(as_seen(system, t, q, v), t, q, v, np.asarray(lam)).of(chosen)


class _Elements:
    """Elements of a system in many states."""

    def __init__(self, system: System, t: Array, q: Array, v: Array, lam: Array) -> None:
        self.system, self.t, self.q, self.v, self.lam = system, t, q, v, lam
        self.model = None if system.model is None else system.model.resolved()
        self.owners = np.array([owner_of(system, row) for row in range(system.constraint_count)], dtype=object)

    def of(self, names: Sequence[str]) -> dict[str, ElementForce]:
        """The forces of some names, in their order."""
        model = self.model
        if model is None:
            every = {each.name: each for each in self.of_functions()}
            return {name: every[name] for name in names}
        laws = {each.name: each for each in self.of_forces()}
        constraints = {name: self.of_coordinates(name) for name in model.constraints}
        found = {**laws, **{name: each for name, each in constraints.items() if each is not None}}
        wrenches = [name for name in names if name not in found and name != OWN_FORCE]
        if OWN_FORCE in names:
            found[OWN_FORCE] = self.of_user()
        for name, wrench in zip(wrenches, self.reactions(wrenches), strict=True):
            values = np.concatenate(list(wrench), axis=1)
            power = self.power_of_rows(name) if name in model.constraints else self.power_in(name, found)
            kind = (model.constraints if name in model.constraints else model.joints)[name].type
            found[name] = ElementForce(name, kind, WRENCH, UNITS, self.t, values, power)
        return {name: found[name] for name in names}

    def reactions(self, names: Sequence[str]) -> Array:
        """Forces and torques (names, 2, states, 3) of joints and constraints; none are solved for if there is no name."""
        if not names:
            return np.empty((0, 2, len(self.t), 3))
        return reactions(self.system, names, self.t, self.q, self.v, self.lam)

    # ------------------------------------------------------------------------------------- forces

    def of_forces(self) -> Iterator[ElementForce]:
        """All elements of `forces`, whose rows in the tables are in their order."""
        arrays, count = self.system.arrays, len(self.t)
        coordinates = np.zeros((len(arrays.joint_forces), count, 2))
        bodies, bushings = np.zeros((len(arrays.body_forces), count, 6)), np.zeros((len(arrays.bushings), count, 8))
        fill_element_forces(coordinates, bodies, arrays, self.system.work, self.t, self.q, self.v)
        if len(bushings):
            fill_bushing_forces(bushings, arrays, self.system.work, self.q, self.v)
        frames = np.zeros((len(arrays.frame_actuators), count, 7))
        if len(frames):
            fill_frame_actuator_forces(frames, arrays, self.system.work, self.t, self.q, self.v)
        tendons = np.zeros((len(arrays.tendons), count, 3))
        if len(tendons):
            fill_tendon_forces(tendons, arrays, self.system.work, self.t, self.q, self.v)
        at_frames, along = iter(frames), iter(tendons)
        on_coordinates, on_bodies = zip(arrays.joint_forces, coordinates.transpose(0, 2, 1), strict=True), iter(bodies)
        of_bushings = iter(bushings)
        for name, force in self.model.forces.items():  # type: ignore[union-attr]
            match force:
                case OnJoint():
                    (_, coordinate, *_), (values, energy) = next(on_coordinates)
                    power = values * self.v[:, coordinate]
                    energy = None if isinstance(force, OnGear) else energy  # its input may make it push
                    yield self.on_coordinates(name, force, {coordinate: values}, power=power, energy=energy)
                case OnTendon():
                    next(on_coordinates)  # its law
                    yield self.along_tendon(name, force, next(along))
                case FrameActuator():
                    next(on_coordinates)  # its motor
                    values = next(at_frames)
                    yield ElementForce(name, force.type, WRENCH, UNITS, self.t, values[:, :6], values[:, 6])
                case Bushing() | BallSpring():
                    yield self.of_bushing(name, force, next(of_bushings))
                case Between():
                    yield self.on_bodies(name, force, next(on_bodies))
                case Force() | Torque():
                    is_still = self.system.frames[force.body].link < 0  # welded to the world: no row of the tables
                    yield self.on_bodies(name, force, self.on_still_body(force) if is_still else next(on_bodies))
                case _:
                    raise ModelError(f"forces.{name}: {wrong('a force of which is known what it exerts', repr(force))}")

    def on_coordinates(
        self, name: str, element: Any, values: Mapping[int, Array], power: Array, energy: Array | None = None
    ) -> ElementForce:
        """What acts on coordinates, forces (states,) by their numbers."""
        names, units = self.system.coordinate_names, self.system.coordinate_units
        return ElementForce(
            name,
            element.type,
            tuple(names[i] for i in values),
            tuple(FORCE_UNITS.get(units[i], "") for i in values),
            self.t,
            np.stack(list(values.values()), axis=1),
            power,
            energy if getattr(element, "derives_from_potential", False) else None,
        )

    def on_bodies(self, name: str, force: Any, values: Array) -> ElementForce:
        """What acts on bodies, of the columns (states, 6) of a kernel."""
        is_line = isinstance(force, Between)
        components, columns = (("along",), [ALONG]) if is_line else (XYZ, [0, 1, 2])
        units = ("N m" if isinstance(force, Torque) else "N",) * len(columns)
        energy = values[:, POTENTIAL] if force.derives_from_potential else None
        return ElementForce(name, force.type, components, units, self.t, values[:, columns], values[:, POWER], energy)

    def along_tendon(self, name: str, force: Any, values: Array) -> ElementForce:
        """What acts along a tendon, of the columns (states, 3) of a kernel."""
        model: Any = self.model
        unit = FORCE_UNITS[length_unit(length_of(force, model), model)]
        is_spring = force.derives_from_potential and not isinstance(force, HasInput)  # whose input may make it push
        energy = values[:, 2] if is_spring else None
        return ElementForce(name, force.type, ("along",), (unit,), self.t, values[:, :1], values[:, 1], energy)

    def of_bushing(self, name: str, force: Bushing | BallSpring, values: Array) -> ElementForce:
        """What a bushing or a ball spring exerts, of the columns (states, 8) of a kernel."""
        power, energy = values[:, POWER_OF_BUSHING], values[:, ENERGY_OF_BUSHING]
        if isinstance(force, BallSpring):
            return ElementForce(name, force.type, XYZ, ("N m",) * 3, self.t, values[:, 3:6], power, energy)
        return ElementForce(name, force.type, WRENCH, UNITS, self.t, values[:, :6], power, energy)

    def on_still_body(self, force: Any) -> Array:
        """What is exerted on a body that is welded to the world, in the columns of a kernel: it does no work."""
        tables = Tables()
        functions, frame = [tables.add_function(each) for each in force.vector], self.system.frames[force.body]
        arrays, out = tables.arrays(), np.zeros((len(self.t), 6))
        of = arrays["time_functions"], arrays["operations"], arrays["numbers"], self.system.work.stack
        for i, t in enumerate(self.t):
            out[i, :3] = [function_of(*of, each, t)[0] for each in functions]
        if force.frame == "body":
            out[:, :3] = out[:, :3] @ frame.rotation.T
        if force.derives_from_potential:
            out[:, POTENTIAL] = -out[:, :3] @ frame.point(force.point)
        return out

    # -------------------------------------------------------------------------------- constraints

    def of_coordinates(self, name: str) -> ElementForce | None:
        """What a constraint between coordinates or along a line exerts; None of another, which has a wrench."""
        element: Any = self.model.constraints[name]  # type: ignore[union-attr]
        rows, holds = np.flatnonzero(self.owners == name), element.holds()
        related = [isinstance(hold, Related | Follows) for hold in holds]
        if all(related):
            values = {i: values for row in rows for i, values in self.of_row(int(row))}
            return self.on_coordinates(name, element, values, power=self.power_of_rows(name))
        if any(related):
            expected = "a constraint that holds either coordinates or places and directions"
            raise ModelError(f"forces: {wrong(expected, f'both, for the type {element.type} of {name!r}')}")
        if len(holds) == 1 and isinstance(holds[0], Apart):
            power = self.power_of_rows(name)
            return ElementForce(name, element.type, ("along",), ("N",), self.t, self.lam[:, rows], power)
        if len(holds) == 1 and isinstance(holds[0], Expressed):
            return ElementForce(
                name, element.type, ("tension",), ("N",), self.t, self.lam[:, rows], self.power_of_rows(name)
            )
        return None

    def of_row(self, row: int) -> Iterator[tuple[int, Array]]:
        """The coordinates that a constraint relates, each with what it exerts on it (states,)."""
        arrays = self.system.arrays
        first, count = arrays.constraints[row, [layout.FIRST_ENTRY, layout.ENTRIES]]
        entries = slice(first, first + count)
        factors = np.tile(arrays.signs[entries], (len(self.t), 1))
        if arrays.constraints[row, layout.ARGUMENT] >= 0:  # which depend on where the mechanism is
            pairs = zip(self.q, self.t, strict=True)
            factors = np.array([self.system._constraint_entries(q, t)[1][entries] for q, t in pairs])
        for coordinate, factor in zip(arrays.entries[entries].tolist(), factors.T, strict=True):
            yield coordinate, factor * self.lam[:, row]

    def power_of_rows(self, name: str) -> Array:
        """−λ·∂g/∂t (states,) [W] of the constraints of an owner."""
        out, rows = np.zeros(len(self.t)), np.flatnonzero(self.owners == name)
        if np.isin(rows, self.system._driven_rows).any():
            lam = np.zeros_like(self.lam)
            lam[:, rows] = self.lam[:, rows]
            subtract_drive_powers(out, self.system.arrays, self.system.work, self.t, self.q, lam)
        return out

    def power_in(self, joint: str, found: Mapping[str, ElementForce]) -> Array:
        """The power (states,) [W] of what acts on the coordinates of a joint."""
        names = self.system.coordinate_names
        own = [i for i, name in enumerate(names) if name.rpartition(".")[0] == joint]
        forces = forces_on_coordinates(self.system, found.values(), len(self.t))
        return np.sum(forces[:, own] * self.v[:, own], axis=1)

    # ---------------------------------------------------------------------------- of the user's own

    def of_user(self) -> ElementForce:
        """A force of the user's own: what the system has beyond the same without it."""
        system, arrays = self.system, self.system.arrays
        fields = {name: getattr(arrays, name) for name in arrays._numba_type_.layout}
        bare = layout.System(**fields | {"force": 0}) if arrays.force else system.unforced.arrays
        values, p, f = np.zeros_like(self.q), np.zeros(system.dimension), np.zeros(system.dimension)
        for i, state in enumerate(zip(self.t, self.q, self.v, strict=True)):
            fill_gradient(p, values[i], arrays, system.work, *state)
            fill_gradient(p, f, bare, system.work, *state)
            values[i] -= f
        units = tuple(FORCE_UNITS.get(unit, "") for unit in system.coordinate_units)
        power = np.sum(values * self.v, axis=1)
        return ElementForce(OWN_FORCE, "force", system.coordinate_names, units, self.t, values, power)

    def of_functions(self) -> Iterator[ElementForce]:
        """What acts in a system of the user's own functions: its forces, and each of its constraints by its multiplier."""
        if _has_own_force(self.system):
            yield self.of_user()
        for row, name in enumerate(self.system.constraint_names):
            lam = self.lam[:, row : row + 1]
            g_t = [self.system._constraints(q, t)[2][row] for t, q in zip(self.t, self.q, strict=True)]
            yield ElementForce(name, "constraint", ("multiplier",), ("",), self.t, lam, -lam[:, 0] * np.array(g_t))


def forces_on_coordinates(system: System, elements: Iterable[ElementForce], states: int) -> Array:
    """The sum (states, n) of what elements exert on coordinates, those of joints above all."""
    index = {name: i for i, name in enumerate(system.coordinate_names)}
    out = np.zeros((states, system.dimension))
    for element in elements:
        for name, values in zip(element.components, element.values.T, strict=True):
            if name in index:
                out[:, index[name]] += values
    return out


def _has_own_force(system: System) -> bool:
    """Whether a force of the user's own acts."""
    return system._own_force is not None or (system.model is None and system._unforced is not None)
