"""The equations of a model in symbols, found from the model alone: M(q), V(q), forces, constraints and momenta.

    L = ½ vᵀ M(q) v − V(q),     d/dt (∂L/∂v) − ∂L/∂q = F(t, q, v) + Gᵀλ,     g(t, q) = 0,  G = ∂g/∂q,     p = M v

and for what rolls A(q) v = 0, of which the rows of A are rows of G,

with  M = Σ m U_cᵀU_c + ΩᵀI Ω  over the bodies, U_c and Ω the columns of the velocity of the centre of mass and of the angular
velocity; V = −Σ m g·c and the potentials of springs; F the virtual work of forces without one. Nothing of the kernels is used, so
that each can be compared with the other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sympy
from numpy.typing import ArrayLike

from mbvi.errors import ModelError
from mbvi.model.arguments import checked_names
from mbvi.model.expressions import MARK, nearest, show, wrong
from mbvi.model.fields import kinds
from mbvi.model.forces import (
    BallSpring,
    Between,
    Bushing,
    Force,
    FrameActuator,
    HasInput,
    HasPotential,
    OnGear,
    OnJoint,
    OnTendon,
    Torque,
)
from mbvi.model.holds import ByExpression
from mbvi.model.model import Model
from mbvi.model.quantities import put_aside
from mbvi.model.tendons import length_of
from mbvi.results.output import check_output, replace_file
from mbvi.symbolic import written
from mbvi.symbolic.bodies import Bodies, put_in
from mbvi.symbolic.constraints import constraints
from mbvi.symbolic.rolling import Motion
from mbvi.symbolic.short import short
from mbvi.symbolic.springs import Springs
from mbvi.symbolic.values import T, Values
from mbvi.system.assemble import Builder, assemble
from mbvi.system.forms import with_all_cut
from mbvi.system.system import System

Array = np.ndarray
MOST_COORDINATES = 10
PARTS = ("mass_matrix", "potential", "forces", "constraints")


@dataclass(frozen=True, eq=False)
class Equations:
    """The equations of motion of a model in SymPy's symbols; parts that were not asked for are None.

    Attributes
    ----------
    name : str
    coordinate_names, coordinate_units : tuple of str
    t : Symbol
        The time.
    q, v : tuple of n Symbol
        Coordinates, with their names, and their rates.
    parameters : dict of Symbol to float
        The parameters of the model that are symbols, with their values.
    mass_matrix : Matrix (n, n)
        M(q).
    potential : expression
        V(q), of gravity, springs and constant forces.
    forces : Matrix (n, 1)
        Generalized forces F(t, q, v) that derive from no potential.
    constraints : dict of str to expression
        g(t, q), zero on the constraints, by the names that a system has for them.
    velocity_constraints : dict of str to expression
        A(q) v, zero on the constraints that hold velocities alone, as those of rolling. They are a part of `constraints`. On a
        sphere the tangents are e × n and n × (e × n), with the axis e of body_a that is farthest from n at the start.
    """

    name: str
    coordinate_names: tuple[str, ...]
    coordinate_units: tuple[str, ...]
    t: Any
    q: tuple[Any, ...]
    v: tuple[Any, ...]
    parameters: dict[Any, float]
    mass_matrix: Any = None
    potential: Any = None
    forces: Any = None
    constraints: dict[str, Any] | None = None
    velocity_constraints: dict[str, Any] | None = None

    def __repr__(self) -> str:
        """What they are of."""
        return f"<Equations of {self.name!r}: {len(self.q)} coordinates, {len(self.parameters)} parameters>"

    @property
    def momenta(self) -> Any:
        """p = M(q) v, (n, 1)."""
        return self._part("mass_matrix") * sympy.Matrix(self.v)

    @property
    def kinetic_energy(self) -> Any:
        """T = ½ vᵀ M(q) v."""
        v = sympy.Matrix(self.v)
        return (v.T * self._part("mass_matrix") * v)[0] / 2

    @property
    def lagrangian(self) -> Any:
        """L = T − V."""
        return self.kinetic_energy - self._part("potential")

    def constraint_jacobian(self) -> Any:
        """G = ∂g/∂q, and below it A, (k, n): what Gᵀλ in the equations is made of."""
        places, rates = self._part("constraints"), self._part("velocity_constraints")
        G = sympy.Matrix(len(places), 1, list(places.values())).jacobian(list(self.q))
        return G.col_join(sympy.Matrix(len(rates), 1, list(rates.values())).jacobian(list(self.v)))

    def values(self, part: Any) -> Callable[[float, ArrayLike, ArrayLike], Array]:
        """A function of t, q (n,) and v (n,) that gives the numbers of an expression or a matrix of these symbols.

        Parameters of the model have the values that it gives them.

        Examples
        --------
        >>> import mbvi
        >>> found = mbvi.symbolic.equations(mbvi.load("models/pendulum.yaml"))
        >>> found.values(found.mass_matrix)(0.0, [0.3], [0.0]).shape
        (1, 1)
        """
        known = {symbol: sympy.Float(value) for symbol, value in self.parameters.items()}
        part = sympy.Matrix(part) if isinstance(part, sympy.MatrixBase | list) else sympy.sympify(part)
        compiled = sympy.lambdify([self.t, list(self.q), list(self.v)], part.xreplace(known), "numpy", cse=True)
        return lambda t, q, v: np.array(compiled(float(t), np.asarray(q), np.asarray(v)), dtype=float)

    def text(self) -> str:
        """All parts as text, for terminals."""
        return written.text(self)

    def latex(self) -> str:
        """All parts as LaTeX."""
        return written.latex(self)

    def page(self) -> str:
        """All parts as an HTML page that needs no other file and no network."""
        return written.page(self)

    def save(self, path: str | os.PathLike[str], force: bool = False) -> Path:
        """Write the page to a .html file, or LaTeX to a .tex file.

        Raises
        ------
        ModelError
            If the ending is another, the file exists and `force` is not set, or it cannot be written.
        """
        checked = check_output(path, force, (".html", ".tex"))
        content = self.page() if checked.suffix.lower() == ".html" else self.latex() + "\n"
        replace_file(checked, lambda part: part.write_text(content, encoding="utf-8"))
        return checked

    def _repr_html_(self) -> str:
        """The page, for notebooks."""
        return self.page()

    def _part(self, name: str) -> Any:
        """A part that something follows from."""
        value = getattr(self, name)
        if value is None:
            raise ModelError(f"equations: {wrong(f'the part {name}', 'others alone', 'ask for it in parts')}")
        return value


def equations(model: Model | System, parts: Sequence[str] | None = None) -> Equations:
    """The equations of a model, or of a system's model, in symbols, with its parameters by their names.

    Parameters
    ----------
    model : Model or System
    parts : sequence of str, optional
        Some of mass_matrix, potential, forces, constraints; by default all, of at most 10 coordinates.

    Returns
    -------
    Equations
        Equations in the coordinates of the system that `assemble` makes. Directions of axes and sizes of shapes are numbers,
        and so are parameters that they depend on.

    Raises
    ------
    ModelError
        If a system was not made from a model or has a force of the user's own, there is no such part, or all parts are asked for
        of a model that has more coordinates.

    Examples
    --------
    >>> import mbvi
    >>> bob = mbvi.Body(mass="m", center_of_mass=(0, 0, "-l"))
    >>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    >>> parts = {"bodies": {"bob": bob}, "joints": {"pivot": pivot}, "parameters": {"m": 2, "l": 0.5}}
    >>> found = mbvi.symbolic.equations(mbvi.Model(name="pendulum", gravity=(0, 0, -9.81), **parts))
    >>> found.mass_matrix, found.potential.subs(found.q[0], 0)
    (Matrix([[l**2*m]]), -981*l*m/100)
    """
    system = model if isinstance(model, System) else assemble(model)
    if system.model is None or system.arrays.force:
        found = "a force of the user's own" if system.model else "functions or symbols"
        raise ModelError(f"equations: {wrong('a model, or a system that was assembled from one', found)}")
    chosen = list(PARTS) if parts is None else checked_names(parts, "parts")
    for each in chosen:
        if each not in PARTS:
            raise ModelError(f"parts: {wrong('parts of the equations', show(each), nearest(each, PARTS))}")
    if parts is None and system.dimension > MOST_COORDINATES:
        remedy = (
            f"name the parts that you need, of {', '.join(PARTS)}; each takes longer the more coordinates there are"
        )
        expected = f"at most {MOST_COORDINATES} coordinates of a model whose equations are all asked for"
        raise ModelError(f"equations: {wrong(expected, f'{system.dimension} of {system.name!r}', remedy)}")
    return _Finder(system).find(chosen)


class _Finder:
    """What the equations of a system's model are found with."""

    def __init__(self, system: System) -> None:
        assert system.model is not None
        self.system = system
        builder, model = _built(system.model)
        self.values = Values(model, put_in(model))
        self.q = tuple(sympy.Symbol(name, real=True) for name in system.coordinate_names)
        self.v = tuple(sympy.Symbol(f"rate of {name}", real=True) for name in system.coordinate_names)
        self.bodies = Bodies(self.values, builder, self.q)

    def find(self, parts: Sequence[str]) -> Equations:
        """The parts asked for."""
        system, symbols = self.system, self.values.symbols
        find: Mapping[str, Callable[[], Any]] = {
            "mass_matrix": self.mass_matrix,
            "potential": self.potential,
            "forces": self.forces,
            "constraints": self.constraints,
        }
        names, units = system.coordinate_names, system.coordinate_units
        known = {symbol: float(self.values.resolved.parameters[name]) for name, symbol in symbols.items()}
        found = {part: find[part]() for part in parts}
        if "constraints" in found:
            of_rates = [system.constraint_names[row] for row in system.arrays.rates]
            found["velocity_constraints"] = {name: found["constraints"].pop(name) for name in of_rates}
        return Equations(system.name, names, units, T, self.q, self.v, known, **found)

    def mass_matrix(self) -> Any:
        """Σ m U_cᵀU_c + ΩᵀI Ω."""
        M = sympy.zeros(len(self.q), len(self.q))
        for name, body in self.bodies.masses.items():
            center = self.bodies.frames[name].moved(body.center)
            M += body.mass * center.speed.T * center.speed + center.spin.T * body.inertia * center.spin
        for i, armature in self.bodies.armatures():
            M[i, i] += armature
        lower = {(i, j): short(M[i, j]) for i in range(len(self.q)) for j in range(i + 1)}
        return sympy.Matrix(len(self.q), len(self.q), lambda i, j: lower[max(i, j), min(i, j)])

    def potential(self) -> Any:
        """−Σ m g·c, and what forces derive from."""
        V, gravity = sympy.Integer(0), self.values.vector(self.values.model.gravity)
        for name, body in self.bodies.masses.items():
            if self.is_still(name):
                continue
            V -= body.mass * gravity.dot(self.bodies.frames[name].moved(body.center).place)
        for name, force in self.values.resolved.forces.items():
            if force.derives_from_potential or isinstance(force, Bushing | BallSpring):
                V += self.potential_of(name, force)
        return short(V)

    def forces(self) -> Any:
        """The generalized forces of all that derives from no potential."""
        F = sympy.zeros(len(self.q), 1)
        for name, force in self.values.resolved.forces.items():
            if not force.derives_from_potential:
                F += self.force_of(name, force)
        return F.applyfunc(short)

    def constraints(self) -> dict[str, Any]:
        """The constraints by their names, in the order of the system."""
        turning = sympy.Matrix([rate / square for rate, square in zip(self.v, self.squares(), strict=True)])
        known = {symbol: float(self.values.resolved.parameters[name]) for name, symbol in self.values.symbols.items()}
        start = known | dict(zip(self.q, self.system.given_q, strict=True))
        found = constraints(self.bodies, Motion(sympy.Matrix(self.q), sympy.Matrix(self.v), turning, start))
        return {name: short(found[name]) for name in self.system.constraint_names}

    # ---------------------------------------------------------------------------------------- forces

    def potential_of(self, name: str, force: Any) -> Any:
        """The potential of a force."""
        raw: Any = self.values.model.forces[name]
        if isinstance(force, Bushing | BallSpring):
            return Springs(self.bodies, raw, force).potential
        if isinstance(force, HasInput):
            return sympy.Integer(0)  # one that never pushes
        if isinstance(force, OnJoint | Between | OnTendon):
            x = self.extent(raw, force)
            if isinstance(force, HasPotential):
                return self.values.scalar(raw.potential, "x", x)
            return self.law("potential", raw, force, x)
        if isinstance(force, Force):
            vector = self.values.vector(raw.vector)
            return (
                sympy.Integer(0) if self.is_still(force.body) else -vector.dot(self.bodies.point(force.body, raw.point))
            )
        raise ModelError(f"forces.{name}: {wrong('a force of which the potential is known', repr(force))}")

    def force_of(self, name: str, force: Any) -> Any:
        """The generalized forces (n, 1) of a force that derives from no potential."""
        raw: Any = self.values.model.forces[name]
        if isinstance(force, Bushing | BallSpring):
            return self.of_springs(Springs(self.bodies, raw, force))
        if isinstance(force, OnJoint):
            F, i = sympy.zeros(len(self.q), 1), self.q.index(self.coordinate(force))
            F[i] = (
                self.of_actuator(name, raw, force, i)
                if isinstance(force, OnGear)
                else self.on_coordinate(name, raw, force, self.v[i])
            )
            return F
        if isinstance(force, OnTendon):
            return self.of_tendon(name, raw, force)
        if isinstance(force, FrameActuator):
            return self.of_frame(name, raw, force)
        if isinstance(force, Between):
            r = self.way(raw, force)
            length, by_q = _length(r), r.jacobian(list(self.q))
            rate = (r.T * by_q * self.displacements())[0] / length
            return by_q.T * r * (self.law("force_of_rate", raw, force, rate) / length)
        if isinstance(force, Force):
            place = self.bodies.point(force.body, raw.point)
            return place.jacobian(list(self.q)).T * self.vector_of(name, raw, force)
        if isinstance(force, Torque):
            frame, torque = self.bodies.frames[force.body], self.functions_of(name, raw, force)
            own = frame.rotation.T * torque if force.frame == "world" else torque
            return self.of_torque(frame, own)
        raise ModelError(f"forces.{name}: {wrong('a force of which it is known what it exerts', repr(force))}")

    def on_coordinate(self, name: str, raw: Any, force: Any, rate: Any) -> Any:
        """A force on a coordinate: of its rate, or of the time."""
        if force.force_of_rate:
            return self.law("force_of_rate", raw, force, rate)
        law = force.law()
        if law.kind != "force of time":
            raise ModelError(f"forces.{name}: {wrong('a law of which the expression is known', law.kind)}")
        return self.values.of_time(raw.value, law.function, f"{name}.value")

    def of_torque(self, frame: Any, own: Any) -> Any:
        """The generalized forces (n, 1) of a torque (3, 1) along the axes of its frame."""
        return sympy.diag(*(1 / each for each in self.squares())) * frame.spin.T * own

    def of_tendon(self, name: str, raw: Any, force: Any) -> Any:
        """The generalized forces (n, 1) along a tendon, of its rate or of a motor."""
        length = self.extent(raw, force)
        by_q = sympy.Matrix([length]).jacobian(list(self.q))
        rate = (by_q * self.displacements())[0]
        if not isinstance(force, HasInput):
            return by_q.T * self.law("force_of_rate", raw, force, rate)
        gear = self.values.scalar(raw.gear)
        return by_q.T * (gear * self.of_motor(name, raw, force, gear * length, gear * rate))

    def extent(self, raw: Any, force: Any) -> Any:
        """What a potential depends on: a coordinate, the distance of two points, or the length of a tendon."""
        if isinstance(force, OnJoint):
            return self.coordinate(force)
        if isinstance(force, Between):
            return _length(self.way(raw, force))
        if force.length is not None:
            return self.measured(raw.length, length_of(force, self.values.resolved))
        return self.bodies.path_length(raw.points, force.points)

    def measured(self, text: str, found: ByExpression) -> Any:
        """An expression of coordinates and of places of bodies and frames."""
        text, quantities = put_aside(text)
        values = {}
        for i, (quantity, variable) in enumerate(zip(quantities, found.variables, strict=True)):
            if variable.kind == "q":
                at = self.bodies.builder.coordinate(variable.joint, variable.coordinate)
                values[f"{MARK}{i}"] = self.q[at]
            elif variable.kind != "t":
                frame = quantity.name[len(variable.body) + 1 :]
                place = self.bodies.point(variable.body, frame or variable.point)
                values[f"{MARK}{i}"] = place["xyz".index(variable.kind)]
        return self.values.of_several(text, values)

    def of_frame(self, name: str, raw: Any, force: FrameActuator) -> Any:
        """The generalized forces (n, 1) of an actuator of a frame."""
        frame, place = self.bodies.frames[force.body], self.bodies.point(force.body, raw.point)
        axes = self.values.rotation(raw.orientation)
        along, about = (axes * self.values.vector(each) for each in (raw.force, raw.torque))
        by_force = place.jacobian(list(self.q)).T * frame.rotation * along
        by_torque, v = frame.spin.T * about, sympy.Matrix(self.v)
        rate = (by_force.T * self.displacements() + by_torque.T * v)[0]
        return (by_force + self.of_torque(frame, about)) * self.of_motor(name, raw, force, 0, rate)

    def of_actuator(self, name: str, raw: Any, force: Any, i: int) -> Any:
        """The force of an actuator on its coordinate: that of its motor times the gear."""
        gear = self.values.scalar(raw.gear)
        return gear * self.of_motor(name, raw, force, gear * self.q[i], gear * self.v[i])

    def of_motor(self, name: str, raw: Any, force: Any, place: Any, rate: Any) -> Any:
        """The force of a motor within its effort, at its place and rate."""
        numbers = (each for each in ("gain", "bias", "stiffness", "damping") if hasattr(raw, each))
        known = {each: self.values.scalar(getattr(raw, each)) for each in numbers}
        by_input, bias, by_place, by_rate = force.replaced(known).factors()
        u = self.values.of_time(raw.input, force.input, f"{name}.input")
        motor = by_input * u + bias + by_place * place + by_rate * rate
        if raw.effort is not None:
            bounds = raw.effort if isinstance(raw.effort, tuple) else (raw.effort, raw.effort)
            lowest, highest = map(self.values.scalar, bounds)
            lowest = lowest if isinstance(raw.effort, tuple) else -highest
            motor = sympy.Min(sympy.Max(motor, lowest), highest)
        return motor

    def of_springs(self, springs: Springs) -> Any:
        """The generalized forces (n, 1) of the dampers of a bushing or a ball spring."""
        by_q, v = springs.gaps.jacobian(list(self.q)), sympy.Matrix(self.v)
        forces = springs.damping.multiply_elementwise(by_q * self.displacements())
        torques = springs.turning_damping.multiply_elementwise(springs.turns * v)
        return -by_q.T * forces - sympy.diag(*(1 / each for each in self.squares())) * springs.turns.T * torques

    def is_still(self, body: str) -> bool:
        """Whether a body is welded to the world: its potential is a number, which is left out, as it is in a system."""
        return self.bodies.builder.frames[body].link < 0

    def law(self, key: str, raw: Any, force: Any, x: Any) -> Any:
        """The law of a force, its potential or its force of a rate: an expression of its fields, and of x."""
        numbers = (each for each, kind in kinds(force.__class__).items() if kind is not None and kind.name == "numbers")
        fields = {each: self.values.scalar(getattr(raw, each)) for each in numbers}
        return self.values.of_fields(getattr(force, key), fields | {"x": x})

    def coordinate(self, force: Any) -> Any:
        """The symbol of the coordinate that a force acts on."""
        return self.q[self.bodies.builder.coordinate(force.joint, str(force.coordinate))]

    def way(self, raw: Any, force: Any) -> Any:
        """The way from the first to the second point of a force (3, 1)."""
        (a, _), (b, _) = force.ends()
        (_, place_a), (_, place_b) = raw.ends()
        return self.bodies.point(b, place_b) - self.bodies.point(a, place_a)

    def functions_of(self, name: str, raw: Any, force: Any) -> Any:
        """The components of a force or torque, (3, 1)."""
        pairs = enumerate(zip(raw.vector, force.vector, strict=True))
        return sympy.Matrix([self.values.of_time(a, b, f"{name}.{'xyz'[i]}") for i, (a, b) in pairs])

    def vector_of(self, name: str, raw: Any, force: Any) -> Any:
        """A force or torque along the world's axes, (3, 1)."""
        own = self.functions_of(name, raw, force)
        return self.bodies.frames[force.body].rotation * own if force.frame == "body" else own

    def squares(self) -> list[Any]:
        """|a|² for the components of a quaternion a, 1 for other coordinates: a rate moves so much more than a displacement."""
        squares = [sympy.Integer(1)] * len(self.q)
        for i, name in enumerate(self.system.coordinate_names):
            if name.endswith(".qw") and self.system.coordinate_units[i] == "-":
                squares[i : i + 4] = [sum(each**2 for each in self.q[i : i + 4])] * 4
        return squares

    def displacements(self) -> Any:
        """The rates (n, 1), as displacements of the coordinates."""
        return sympy.Matrix([square * rate for square, rate in zip(self.squares(), self.v, strict=True)])


def _length(r: Any) -> Any:
    """|r|, of short squares."""
    return sympy.sqrt(short(sum(each**2 for each in r)))


def _built(model: Model) -> tuple[Builder, Model]:
    """The bookkeeping of a model's coordinates; of one that cannot move, as in `assemble`, with all joints cut."""
    builder = Builder(model.resolved())
    builder.build()
    if not builder.tables.names:
        model = with_all_cut(model)
        builder = Builder(model.resolved())
        builder.build()
    return builder, model
