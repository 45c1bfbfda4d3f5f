"""What a system is computed with: M(q), V(q), constraints g(q) and forces, as compiled functions of its coordinates."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterator, Sequence
from copy import copy, deepcopy
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError
from mbvi.floats import as_floats
from mbvi.kernels import layout
from mbvi.kernels.algebra.saddle import JACOBIAN, block_place
from mbvi.kernels.mechanics import lagrangian as kernels
from mbvi.kernels.mechanics.acceleration import fill_accelerations, fill_time_rates
from mbvi.kernels.mechanics.bushings import DAMPING, TURNING_DAMPING
from mbvi.kernels.mechanics.constraints import add_curvature, fill_constraints, fill_curvature_rate
from mbvi.kernels.mechanics.expressed import add_expressed_curvature, fill_expressed_time_rates
from mbvi.kernels.mechanics.functions import function_of
from mbvi.kernels.mechanics.rolling import fill_touch_derivatives
from mbvi.model.arguments import checked_number, checked_vector
from mbvi.model.expressions import nearest, show, wrong
from mbvi.model.forces import HasInput
from mbvi.model.model import Model
from mbvi.model.rotations import rotation_matrix
from mbvi.model.touching import has_contacts, has_moving_stops
from mbvi.system.forms import with_all_cut
from mbvi.system.given import Homes
from mbvi.system.kept import Kept
from mbvi.system.null_motions import null_acceleration
from mbvi.system.own_functions import OwnForce, OwnValues
from mbvi.system.quaternions import check_quaternions, quaternion_places
from mbvi.system.tables import BodyFrame, driven_rows

Array = np.ndarray
MOST_SHOWN = 6  # coordinates named in a line
MOST_HELD = 64  # systems with some stops and frictions held that are kept
MADE_AGAIN = "_local", "_maps", "_held_systems"  # what a system keeps, and no file or copy of it
PLACES = "q", "start", "at", "initial_q", "previous_q"  # arguments that are coordinates


class BaseSystem:
    """A mechanical system as compiled functions of its coordinates: what a `System` is made of, and what finds its start uses.

    All functions take coordinates q and velocities v of shape (n,), in the order and units of `coordinate_names` and
    `coordinate_units`. Several threads may use one system. Attributes are those of `System`.
    """

    def __init__(
        self,
        name: str,
        arrays: layout.System,
        coordinate_names: Sequence[str],
        coordinate_units: Sequence[str],
        initial_q: Array,
        initial_v: Array,
        is_conservative: bool,
        constraint_names: Sequence[str],
        model: Model | None = None,
        frames: dict[str, BodyFrame] | None = None,
        homes: Homes | None = None,
        unforced: Self | Callable[[], Self] | None = None,
        assemble: Callable[..., Self] | None = None,
        record: Callable[[Any, tuple[str, ...]], Any] | None = None,
    ) -> None:
        self.name = name
        self._own_values: OwnValues | None = None
        self._values_of_run: OwnValues | None = None  # of the system that a run was made of
        self._force_names: tuple[str, ...] = ()  # parameters of a force of the user's own, in its order
        self._arrays = arrays
        self.coordinate_names = tuple(coordinate_names)
        self.coordinate_units = tuple(coordinate_units)
        self.given_q = initial_q
        self.given_v = initial_v
        self._starts_as_its_model = model is not None
        self.is_conservative = is_conservative
        self.constraint_names = tuple(constraint_names)
        self.model = model
        self.frames = frames or {}
        self.homes = homes
        self._unforced = unforced
        self._assemble = assemble
        self._record = record
        self._maps: dict[tuple[str, ...], Any] = {}  # of parameters, by their names
        self._held_systems = Kept(MOST_HELD)  # see `mbvi.system.held_systems`
        self._given_inputs: tuple[Self, Callable[[Self], Self]] | None = (
            None  # what it was before its inputs became others, and how
        )
        self._feedback: Any = None  # functions of the state that give inputs, see `mbvi.system.feedback`
        self._seen: Any = None  # inputs that are known in the states of a run alone, see there
        self._local = threading.local()

    def __copy__(self) -> Self:
        """A copy that shares everything, also the workspaces."""
        own = object.__new__(type(self))
        own.__dict__.update(self.__dict__)
        if own.__dict__.get("unforced") is self:  # a copy without such forces is its own unforced system
            own.__dict__["unforced"] = own
        return own

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A copy that shares nothing."""
        own = memo[id(self)] = object.__new__(type(self))
        own.__setstate__(deepcopy(self._without_work(), memo))
        return own

    def __getstate__(self) -> dict[str, Any]:
        """Everything except the workspaces, which are made again; functions are stored as their source.

        Raises
        ------
        ModelError
            If a function closes over what cannot be pickled.
        """
        for name in ("force", "potential", "constraint"):
            try:
                pickle.dumps(getattr(self.arrays, name))
            except Exception as error:  # whatever those of other libraries raise
                remedy = "let it close over numbers and arrays alone"
                expected = f"a {name} of functions that can be pickled"
                raise ModelError(f"{self.name}: {wrong(expected, str(error), remedy)}") from None
        seen = None if self._seen is None else self._seen._replace(run=None)
        # elsewhere it is as it was made
        return self._without_work() | {"_own_values": None, "_values_of_run": None, "_seen": seen}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """The system as it was stored."""
        self.__dict__.update(state)
        self._local, self._maps, self._held_systems = threading.local(), {}, Kept(MOST_HELD)

    def _without_work(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in MADE_AGAIN}

    def __repr__(self) -> str:
        """Name, coordinates and constraints."""
        names = self.coordinate_names
        shown = ", ".join(names if len(names) <= MOST_SHOWN else (*names[: MOST_SHOWN - 2], "…", names[-1]))
        return f"<System {self.name!r}: {self.dimension} coordinates ({shown}), {self.constraint_count} constraints>"

    def _start_elsewhere(self, q: Array, v: Array, model: Model | None = None) -> None:
        """Start from other coordinates and velocities: those of a model that differs in these alone, or of none."""
        self.given_q, self.given_v, self._starts_as_its_model = q, v, model is not None
        self.model, self._maps = model or self.model, {}

    @property
    def arrays(self) -> layout.System:
        """The arrays of the kernels, as long as what the user's functions read from outside is what was compiled."""
        if self._own_values is not None:
            self._own_values.check()
        return self._arrays

    @arrays.setter
    def arrays(self, arrays: layout.System) -> None:
        self._arrays = arrays

    @property
    def _own_force(self) -> OwnForce | None:
        """A force of the user's own, compiled, with which another system can be assembled."""
        if self._feedback is not None:
            own: OwnForce | None = self._feedback.own
            return own
        return OwnForce(self.arrays.force, self._force_names) if self._arrays.force else None

    @property
    def dimension(self) -> int:
        """Number n of coordinates."""
        return self._arrays.n

    @property
    def constraint_count(self) -> int:
        """Number k of constraints."""
        return self._arrays.k

    @property
    def constraint_units(self) -> tuple[str, ...]:
        """Units of the multipliers: N of what holds points, N m of what holds directions, J per unit of a coordinate; of a user's
        constraints none is known.
        """
        units = {layout.ALONG: "N", layout.DISTANCE: "N", layout.ACROSS: "N m", layout.UNIT_QUATERNION: "N m"}
        units |= {layout.CONTACT: "N", layout.ROLL: "N", layout.OWN: "", layout.OWN_RATE: "", layout.EXPRESSED: "N"}
        force = {"m": "N", "rad": "N m"}
        found = []
        for row in self.arrays.constraints:
            first = self.arrays.entries[row[layout.FIRST_ENTRY]] if row[layout.ENTRIES] else 0
            of_coordinate = force.get(self.coordinate_units[first], "")
            found.append(units.get(row[layout.CONSTRAINT_KIND], of_coordinate))
        return tuple(found)

    @property
    def body_names(self) -> tuple[str, ...]:
        """The bodies of the model it was assembled from."""
        return tuple(name for name in self.frames if name != "world")

    @property
    def input_names(self) -> tuple[str, ...]:
        """The actuators of the model it was assembled from, in the order of `arrays.inputs`."""
        forces = {} if self.model is None else self.model.forces
        return tuple(name for name, force in forces.items() if isinstance(force, HasInput))

    @cached_property
    def _driven_rows(self) -> Array:
        return driven_rows(self.arrays)

    @property
    def is_nonholonomic(self) -> bool:
        """Whether constraints hold velocities alone, A(q) v = a, as those of rolling do."""
        return len(self.arrays.rates) > 0

    @cached_property
    def has_contacts(self) -> bool:
        """Whether its model has stops or dry friction that act."""
        return self.model is not None and has_contacts(self.model)

    @cached_property
    def keeps_energy(self) -> bool:
        """Whether the energy is conserved, but for what impacts and friction take: not where forces, drives or stops do work."""
        moves = self.has_contacts and has_moving_stops(self.model.resolved())  # type: ignore[union-attr]
        return self.is_conservative and not moves

    @property
    def is_driven(self) -> bool:
        """Whether constraints prescribe motions as functions of time; of an assembled system."""
        return len(self._driven_rows) > 0

    @cached_property
    def unforced(self) -> Self:
        """The system without the forces that derive from no potential, its Lagrangian alone; itself if it has none."""
        if self._unforced is not None:
            unforced = self._unforced if isinstance(self._unforced, BaseSystem) else self._unforced()
            return unforced._as_made() if self._own_values is None else unforced
        if self.is_conservative or not self.arrays.is_tree:
            return self
        return type(self)(
            self.name,
            _without_forces(self.arrays),
            self.coordinate_names,
            self.coordinate_units,
            self.given_q,
            self.given_v,
            not self.is_driven,
            self.constraint_names,
            self.model,
            self.frames,
            self.homes,
            assemble=self._assemble,
            record=self._record,
        )

    @property
    def work(self) -> kernels.Work:
        """Workspace that kernels take beside `arrays`, one for each thread."""
        try:
            return self._local.work
        except AttributeError:
            work = self._local.work = kernels.make_work(self.arrays)
            return work

    def _as_made(self) -> Self:
        """The system with what the user's functions read from outside when it was made, whatever that becomes.

        While it runs, `check_own_values` finds out whether it became something else.
        """
        if self._own_values is self._values_of_run is None:
            return self
        own = copy(self)
        own._own_values, own._values_of_run = None, self._own_values
        own.__dict__.pop("unforced", None)
        return own

    def check_own_values(self) -> None:
        """Refuse to go on with a run after what the user's functions read from outside became something else.

        Raises
        ------
        ModelError
            Naming it.
        """
        if self._values_of_run is not None:
            self._values_of_run.check()

    def _vector(self, values: ArrayLike, what: str, names: Sequence[str] | None = None) -> Array:
        """Finite numbers, one for each coordinate or of these names, as an array of their own."""
        array = checked_vector(values, what, self.coordinate_names if names is None else names)
        if what in PLACES:
            self._check_quaternions(what, array[None])
        return array

    @cached_property
    def _quaternion_places(self) -> Array:
        """The coordinates (b, 4) of every quaternion."""
        return quaternion_places(self._arrays)

    def _check_quaternions(self, what: str, q: Array) -> None:
        """Refuse coordinates (states, n) of which a quaternion has no length."""
        check_quaternions(what, q, self._quaternion_places, self.coordinate_names)

    def _states(self, values: ArrayLike, what: str) -> Array:
        array = _floats(values, what, f"an array of shape (states, {self.dimension})")
        if array.ndim != 2 or array.shape[1] != self.dimension:
            raise ModelError(
                f"{what}: expected an array of shape (states, {self.dimension}), found one of shape {array.shape}"
            )
        if what in PLACES:
            self._check_quaternions(what, array)
        return array

    def _series(self, t: ArrayLike, **states: ArrayLike) -> list[Array]:
        """Times (states,), and coordinates, rates … (states, n) by their names, as many of each."""
        arrays = [self._states(values, what) for what, values in states.items()]
        count = len(arrays[0])
        if any(len(array) != count for array in arrays):
            names, counts = list(states), [str(len(array)) for array in arrays]
            raise ModelError(f"{names[-1]}: expected as many states of {_listed(names)}, found {_listed(counts)}")
        expected = f"one time for each of {count} states"
        times = _floats(t, "t", expected)
        if times.shape != (count,):
            raise ModelError(f"t: expected {expected}, found shape {times.shape}")
        if not np.all(np.isfinite(times)):
            raise ModelError(f"t: expected finite numbers, found {times[~np.isfinite(times)][0]}")
        return [times, *arrays]

    def _parts(self, states: int) -> Iterator[slice]:
        """The parts of so many states whose tables are the same, and filled now: all of them."""
        yield slice(0, states)

    def mass_matrix(self, q: ArrayLike, t: float = 0.0) -> Array:
        """Mass matrix M(q), (n, n) [kg, kg m or kg m²]."""
        M = np.zeros(self.arrays.second_size)
        kernels.fill_mass_matrix(M, self.arrays, self.work, _time(t), self._vector(q, "q"))
        return self._dense(M)

    def _mass_matrices(self, t: Array, q: Array) -> Array:
        """Mass matrices (states, n, n) of many states: t (states,), q (states, n)."""
        t, q = self._series(t, q=q)
        M = np.zeros((len(q), self.arrays.second_size))
        for part in self._parts(len(q)):
            for stored, *at in zip(M[part], t[part], q[part], strict=True):
                kernels.fill_mass_matrix(stored, self.arrays, self.work, *at)
        return self._dense(M)

    def _dense(self, stored: Array) -> Array:
        """Matrices (…, n, n) of the stored blocks of second derivatives (…, .)."""
        arrays, full = self.arrays, np.zeros((*stored.shape[:-1], self.dimension, self.dimension))
        for row, column, place, *_ in arrays.blocks:
            of_row, of_column = self._members(row), self._members(column)
            size = len(of_row), len(of_column)
            block = stored[..., place : place + size[0] * size[1]]
            full[..., of_row[:, None], of_column] = block.reshape(*stored.shape[:-1], *size)
        return full

    def _members(self, node: int) -> Array:
        """Coordinates of a node of elimination."""
        row = self.arrays.nodes[node]
        return self.arrays.members[row[layout.FIRST_MEMBER] : row[layout.FIRST_MEMBER] + row[layout.NODE_COORDINATES]]

    def potential(self, q: ArrayLike, t: float = 0.0) -> float:
        """Potential energy V(q) of gravity, springs and constant forces [J]."""
        return float(kernels.potential(self.arrays, self.work, _time(t), self._vector(q, "q")))

    def momentum(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Array:
        """Momentum p = ∂L/∂v = M(q) v + A(t, q), (n,) [kg m²/s or kg m/s]; A is the vector potential of your own Lagrangian."""
        return self.gradient(q, v, t)[0]

    def gradient(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> tuple[Array, Array]:
        """∂L/∂v and ∂L/∂q + F, (n,) each: the momentum and the force of the Lagrangian with all other forces."""
        p, f = np.zeros(self.dimension), np.zeros(self.dimension)
        work = self.work
        kernels.fill_gradient(p, f, self.arrays, work, _time(t), self._vector(q, "q"), self._vector(v, "v"))
        return p, f

    def second_derivatives(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> tuple[Array, Array, Array, Array]:
        """∂p/∂v, ∂p/∂q, ∂f/∂v, ∂f/∂q of p and f as `gradient` gives them, (n, n) each."""
        out = tuple(np.zeros(self.arrays.second_size) for _ in range(4))
        kernels.fill_hessian(*out, self.arrays, self.work, _time(t), self._vector(q, "q"), self._vector(v, "v"))
        return tuple(map(self._dense, out))  # type: ignore[return-value]

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> float:
        """Kinetic energy 1/2 vᵀ M(q) v [J]."""
        return 0.5 * float(self._vector(v, "v") @ (self.momentum(q, v, t) - self._vector_potential(q, t)))

    def _vector_potential(self, q: ArrayLike, t: float) -> Array:
        """The momentum A(t, q) that a Lagrangian has at rest, (n,)."""
        A = np.zeros(self.dimension)
        kernels.subtract_vector_potential(A, self.arrays, self.work, _time(t), self._vector(q, "q"))
        return -A

    def energy(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> float:
        """Kinetic and potential energy [J]."""
        return self.kinetic_energy(q, v, t) + self.potential(q, t)

    def lagrangian(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> float:
        """Kinetic less potential energy, and A·v where there is a vector potential A [J]."""
        of_velocity = float(self._vector(v, "v") @ self._vector_potential(q, t))
        return self.kinetic_energy(q, v, t) + of_velocity - self.potential(q, t)

    def velocities(self, t: Array, q: Array, p: Array) -> Array:
        """Velocities M⁻¹ p on the constraints (states, n) of many states: t (states,), q and p (states, n).

        Raises
        ------
        ModelError
            If the mass matrix is singular at one of them.
        """
        t, q, p = self._series(t, q=q, p=p)
        v = np.empty_like(q)
        for part in self._parts(len(q)):
            if self.arrays.is_open:
                is_regular = kernels.fill_tree_velocities(v[part], self.arrays, self.work, q[part], p[part])
            else:
                is_regular = kernels.fill_velocities(v[part], self.arrays, self.work, t[part], q[part], p[part])
            if not is_regular:
                raise ModelError(f"velocities of {self.name!r}: the mass matrix is singular at one of the states")
        return v

    def energies(self, t: Array, q: Array, v: Array) -> tuple[Array, Array]:
        """Kinetic and potential energy (states,) [J] of many states: t (states,), q and v (states, n)."""
        return self._energies_and_momenta(t, q, v)[:2]

    def _energies_and_momenta(self, t: Array, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """Kinetic and potential energies (states,) [J] and momenta (states, n) of many states."""
        t, q, v = self._series(t, q=q, v=v)
        kinetic, potential, p = np.zeros(len(q)), np.zeros(len(q)), np.zeros_like(q)
        for part in self._parts(len(q)):
            states = t[part], q[part], v[part]
            kernels.fill_energies(kinetic[part], potential[part], p[part], self.arrays, self.work, *states)
        return kinetic, potential, p

    def _forces_at_rest(self, t: Array, q: Array) -> Array:
        """∂L/∂q + F (states, n) of many states at rest: t (states,), q (states, n)."""
        t, q = self._series(t, q=q)
        f, p, rest = np.zeros_like(q), np.zeros(self.dimension), np.zeros(self.dimension)
        for part in self._parts(len(q)):
            for own, *at in zip(f[part], t[part], q[part], strict=True):
                kernels.fill_gradient(p, own, self.arrays, self.work, *at, rest)
        return f

    def constraint_residuals(self, t: Array, q: Array) -> Array:
        """Largest |g| (states,) at each of many states: t (states,), q (states, n)."""
        t, q = self._series(t, q=q)
        if self.arrays.is_open:
            return np.abs(self._norms(q)).max(axis=1, initial=0.0)
        out = np.zeros(len(q))
        if self.constraint_count > 0:
            kernels.fill_constraint_residuals(out, self.arrays, self.work, t, q)
        return out

    def _norms(self, q: Array) -> Array:
        """Constraint values (…, k) of an open tree, (|a|² − 1)/2 of its quaternions, at q (…, n)."""
        return 0.5 * (np.sum(self._quaternions(q) ** 2, axis=-1) - 1.0)

    def _quaternions(self, x: Array) -> Array:
        """The parts (…, k, 4) of x (…, n), by the coordinates of an open tree, that belong to its unit quaternions."""
        return x[..., self.arrays.entries].reshape(*x.shape[:-1], self.constraint_count, 4)

    def constraint(self, q: ArrayLike, t: float = 0.0) -> Array:
        """Constraint values g(q), (k,), zero on the constraints."""
        return self._constraint_entries(q, t)[0]

    def constraint_jacobian(self, q: ArrayLike, t: float = 0.0) -> Array:
        """Jacobian G = ∂g/∂q, (k, n); of constraints on velocities A, those hold A v."""
        return self._constraints(q, t)[1]

    def constraint_curvature(self, q: ArrayLike, multipliers: ArrayLike, t: float = 0.0) -> Array:
        """Second derivatives ∂²(λᵀg)/∂q², (n, n), for multipliers λ (k,); of constraints on velocities ∂(Aᵀλ)/∂q."""
        arrays, full = self.arrays, np.zeros((self.dimension, self.dimension))
        if not self.constraint_count:
            return full
        stored, lam = np.zeros(arrays.matrix_size), self._vector(multipliers, "multipliers", self.constraint_names)
        add_curvature(stored, arrays, self.work, _time(t), self._vector(q, "q"), lam, 1.0, 1, 0, 0)
        for a, b, place, down, across in self._matrix_blocks():
            of_row, of_column = self._members(a), self._members(b)
            rows, columns = np.ogrid[: len(of_row), : len(of_column)]
            full[np.ix_(of_row, of_column)] = stored[place + rows * down + columns * across]
        for c, row in enumerate(arrays.touches[:, layout.TOUCH_ROW]):
            each = np.zeros_like(full)
            fill_touch_derivatives(each, arrays, self.work, c, self._vector(q, "q"))
            full += lam[row] * each
        if len(arrays.expressions):
            add_expressed_curvature(full, arrays, self.work, _time(t), self._vector(q, "q"), lam)
        return full

    def _matrix_blocks(self) -> Iterator[tuple[int, int, int, int, int]]:
        """Row node, column node, place, and steps to the next row and column of every block of a Jacobian."""
        arrays = self.arrays
        for node, row in enumerate(arrays.nodes):
            pairs = arrays.pairs[row[layout.FIRST_PAIR] : row[layout.FIRST_PAIR] + row[layout.PAIRS]]
            others = [int(other) for other in pairs[:, layout.LATER]]
            for a, b in [(node, node), *((node, other) for other in others), *((other, node) for other in others)]:
                yield a, b, *block_place(arrays, JACOBIAN, 1, a, b)

    def _constraints(self, q: ArrayLike, t: float) -> tuple[Array, Array, Array]:
        g, G, g_t = self._constraint_entries(q, t)
        full = np.zeros((self.constraint_count, self.dimension))
        rows = np.repeat(np.arange(self.constraint_count), self.arrays.constraints[:, layout.ENTRIES])
        np.add.at(full, (rows, self.arrays.entries), G)
        return g, full, g_t

    def _position_constraints(self, q: ArrayLike, t: float) -> tuple[Array, Array]:
        """g and its derivatives ∂g/∂q, which are 0 in the rows of constraints on velocities."""
        g, G, _ = self._constraints(q, t)
        G[self.arrays.rates] = 0.0
        return g, G

    def _constraint_entries(self, q: ArrayLike, t: float) -> tuple[Array, Array, Array]:
        """g, the entries of G, and ∂g/∂t."""
        g, g_t = np.zeros(self.constraint_count), np.zeros(self.constraint_count)
        G, q = np.zeros(len(self.arrays.entries)), self._vector(q, "q")
        if self.arrays.is_open:  # what is not called is not compiled
            return self._norms(q), q[self.arrays.entries], g_t
        if self.constraint_count > 0:
            fill_constraints(g, G, g_t, self.arrays, self.work, _time(t), q)
        return g, G, g_t

    def acceleration(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Array:
        """Acceleration (n,) by the Euler–Lagrange equations, see `accelerations_and_multipliers`."""
        state = self._vector(q, "q")[None], self._vector(v, "v")[None]
        return self.accelerations_and_multipliers(np.array([_time(t)]), *state)[0][0]

    def accelerations_and_multipliers(self, t: Array, q: Array, v: Array) -> tuple[Array, Array]:
        """Accelerations (states, n) and multipliers (states, k) of many states, by the Euler–Lagrange equations.

        M a − Gᵀ λ = f − (∂p/∂q) v − ∂p/∂t,  G a = −vᵀ (∂²g/∂q²) v − 2 (∂G/∂t) v − ∂²g/∂t². All derivatives by the time are exact.

        Raises
        ------
        ModelError
            If the equations are singular at one of them.
        """
        t, q, v = self._series(t, q=q, v=v)
        for what, values in (("q", q), ("v", v)):
            for i in np.flatnonzero(~np.isfinite(values).all(axis=1)):
                self._vector(values[i], what)
        a, lam, singular = self._solved(t, q, v)
        if singular:
            where = f"t = {t[singular[0]]:g}, q = {q[singular[0]]}"
            remedy = "something moves without inertia there: give it mass or inertia, or take another state"
            raise ModelError(f"the equations of motion of {self.name!r} are singular at {where}; {remedy}")
        return a, lam

    def multipliers(self, t: Array, q: Array, v: Array) -> Array:
        """The multipliers (states, k) alone, not a number where the equations are singular.

        Those of the unit quaternions a of a tree follow from the momenta, λ = (aᵀṗ − aᵀ(∂L/∂q + F))/|a|²: with p = 2 a N, aᵀṗ and
        −aᵀ ∂L/∂q are both −pᵀȧ, and of the forces F only a user's have a part along a. So nothing is compiled for them.
        """
        t, q, v = self._series(t, q=q, v=v)
        if not self.arrays.is_open:
            return self._solved(t, q, v)[1]
        a, rate, p = map(self._quaternions, (q, v, self._energies_and_momenta(t, q, v)[2]))
        of_momenta = of_forces = np.sum(p * rate, axis=2)
        if self.arrays.force:
            own, f = np.empty(self.dimension), np.empty_like(q)
            for i in range(len(q)):
                kernels.fill_gradient(own, f[i], self.arrays, self.work, t[i], q[i], v[i])
            of_forces = np.sum(a * self._quaternions(f), axis=2)
        return -(of_momenta + of_forces) / np.sum(a * a, axis=2)

    def _solved(self, t: Array, q: Array, v: Array) -> tuple[Array, Array, list[int]]:
        """Accelerations, multipliers, and the states of which they are not a number, since the equations are singular."""
        n, k = self.dimension, self.constraint_count
        a, lam = np.empty_like(q), np.empty((len(q), k))
        is_moving = self.arrays.time_rates != 0 or self.is_driven
        p_t, g_tt = np.zeros((len(q) if is_moving else 1, n)), np.zeros((len(q) if is_moving else 1, k))
        for i in range(len(q) if is_moving else 0):
            p_t[i], g_tt[i] = self._time_rates(t[i], q[i], v[i])
        lost = np.empty(len(q), np.int64)
        fill_accelerations(a, lam, lost, self.arrays, self.work, np.empty((n, k)), p_t, g_tt, t, q, v)
        singular = []
        for i in map(int, np.flatnonzero(lost)):
            found = (
                self._along_null_motions(float(t[i]), q[i], v[i], np.zeros(n))
                if np.isfinite(q[i] + v[i]).all()
                else None
            )
            if found is None:
                singular.append(i)
            else:
                a[i], lam[i] = found
        return a, lam, singular

    def _along_null_motions(self, t: float, q: Array, v: Array, forces: Array) -> tuple[Array, Array] | None:
        """The acceleration (n,) and the multipliers (k,) by `null_acceleration`, with forces (n,) beside those of the system."""
        if not self.constraint_count:
            return None
        rate = np.empty(self.constraint_count)
        fill_curvature_rate(rate, self.arrays, self.work, t, q, v)
        f, r = forces - self.guiding_forces([t], [q], [v], [np.zeros_like(q)])[0], -rate - self._time_rates(t, q, v)[1]
        return null_acceleration(self.mass_matrix(q, t), self.constraint_jacobian(q, t), f, r, self._quaternion_places)

    def guiding_forces(self, t: ArrayLike, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """The generalized forces (states, n) that the environment must exert to enforce a path: inverse dynamics.

            G(t, q, v, a) = d/dt (∂L/∂v) − ∂L/∂q − F = M a + (∂p/∂q) v + ∂p/∂t − f

        Their power G·v is what the environment gives. A path that the system takes by itself needs none; those of constraints
        are contained.

        Parameters
        ----------
        t : (states,)
            Times [s].
        q, v, a : (states, n)
            Coordinates of the path, their first and their second rates.

        Raises
        ------
        ModelError
            If the shapes do not fit, or a number is not finite.

        Examples
        --------
        >>> import mbvi, sympy
        >>> z = sympy.Symbol("z")
        >>> shot = mbvi.from_sympy([z], [[7.26]], 7.26 * 9.81 * z)
        >>> shot.guiding_forces([0.0, 0.0], [[1.5], [1.5]], [[0.0], [0.0]], [[50.0], [-9.81]]).round(6).tolist()
        [[434.2206], [0.0]]

        Source: Mutze, A simple variational integrator for general holonomic mechanical systems, equation 10.
        """
        t, q, v, a = self._series(t, q=q, v=v, a=a)
        forces = np.empty_like(q)
        for i, (q_i, v_i, a_i) in enumerate(zip(q, v, a, strict=True)):
            M, p_q, *_ = self.second_derivatives(q_i, v_i, t[i])
            f = self.gradient(q_i, v_i, t[i])[1]
            forces[i] = M @ self._vector(a_i, "a") + p_q @ v_i + self._time_rates(t[i], q_i, v_i)[0] - f
        return forces

    def _time_rates(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """∂p/∂t (n,) and 2 (∂G/∂t) v + ∂²g/∂t² (k,): what the explicit time adds to the equations of motion."""
        p_t, g_tt = np.zeros(self.dimension), np.zeros(self.constraint_count)
        if self.arrays.time_rates != 0:
            fill_time_rates(p_t, g_tt, self.arrays, t, q, v)
        if self.is_driven:
            self._fill_driven_rates(g_tt, t, q, v)
        return p_t, g_tt

    def _fill_driven_rates(self, g_tt: Array, t: float, q: Array, v: Array) -> None:
        """2 (∂G/∂t) v + ∂²g/∂t² of prescribed motions: g = … − f(t), and g = (|r|²/f − f)/2 of a length f(t)."""
        arrays, rows = self.arrays, self._driven_rows
        kinds = arrays.constraints[rows, layout.CONSTRAINT_KIND]
        of = arrays.time_functions, arrays.operations, arrays.numbers, self.work.stack
        if len(arrays.expressions):
            fill_expressed_time_rates(g_tt, arrays, self.work, t, q, v)
        for i in rows[kinds != layout.EXPRESSED]:
            f, rate, second = function_of(*of, arrays.constraints[i, layout.FUNCTION], t)
            g_tt[i] = -second
            if arrays.constraints[i, layout.CONSTRAINT_KIND] == layout.DISTANCE:
                g, G, _ = self._constraints(q, t)
                square = 1 + 2 * g[i] / f  # |r|²/f²
                g_tt[i] = -second * (square + 1) / 2 + (rate * square - 2 * G[i] @ v) * rate / f

    @property
    def _embedded(self) -> Self:
        """The system of the same model with all joints cut, and with its inputs; of an assembled system."""
        if self._given_inputs is None:
            return self._all_cut
        before, give = self._given_inputs
        return give(before._embedded)

    @cached_property
    def _all_cut(self) -> Self:
        assert self.model is not None
        return self._of_model(with_all_cut(self.model.resolved()))

    def _of_model(self, model: Model) -> Self:
        """The system of another model, such as another form of its own; of an assembled system."""
        assert self._assemble is not None
        return self._assemble(model)

    def _frame(self, name: str) -> BodyFrame | None:
        """Where the frame of a body lies, or one of its named frames, whose names may both have dots; None if there is none."""
        if name in self.frames or self.model is None:
            return self.frames.get(name)
        bodies = self.model.resolved().bodies
        for end in (i for i, letter in enumerate(name) if letter == "."):
            body, own = name[:end], name[end + 1 :]
            if body in bodies and own in bodies[body].frames:
                on, frame = self.frames[body], bodies[body].frames[own]
                turned = on.rotation @ rotation_matrix(frame.orientation)
                return on._replace(rotation=turned, place=on.point(frame.position))
        return None

    def poses(self, body: str, q: Array) -> tuple[Array, Array]:
        """Places (states, 3) [m] of a body's origin and rotations (states, 3, 3), body to world, for q (states, n).

        Of a frame of a body, BODY.FRAME, those of the frame.
        """
        frame = self._frame(body) if isinstance(body, str) else None
        if frame is None:
            known = [name for name in self.frames if name != "world"]
            remedy = nearest(str(body), known) if known else "it has no bodies"
            raise ModelError(f"body: {wrong('the name of a body, or BODY.FRAME', show(body), remedy)}")
        q = self._states(q, "q")
        places, rotations = np.zeros((len(q), 3)), np.tile(np.eye(3), (len(q), 1, 1))
        if frame.link >= 0:
            kernels.fill_poses(places, rotations, self.arrays, self.work, frame.link, q)
        return places + rotations @ frame.place, rotations @ frame.rotation


def _floats(values: ArrayLike, what: str, expected: str) -> Array:
    array = as_floats(values)
    if array is None:
        raise ModelError(f"{what}: expected {expected}, found {show(values)}")
    return array if array.flags.writeable else array.copy()  # kernels are compiled for arrays that are


def _time(t: float) -> float:
    return checked_number(t, "t", "a finite number of seconds")


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _without_forces(arrays: layout.System) -> layout.System:
    """The arrays without the forces that derive from no potential: all but springs and constant forces along the world's axes."""
    joint = np.isin(arrays.joint_forces[:, 0], layout.CONSERVATIVE_JOINT_FORCES)
    body = np.isin(arrays.body_forces[:, 0], layout.CONSERVATIVE_BODY_FORCES)
    along_world = np.flatnonzero(arrays.body_forces[:, 0] == layout.FORCE_WORLD)
    functions = arrays.time_functions[arrays.body_forces[along_world, 3:6], 0]
    body[along_world] = (functions == layout.CONSTANT).all(axis=1)
    fields = {name: getattr(arrays, name) for name in arrays._numba_type_.layout}
    fields |= {name: fields[name][joint] for name in ("joint_forces", "joint_force_data")}
    fields |= {name: fields[name][body] for name in ("body_forces", "body_force_data")}
    fields |= {name: fields[name][:0] for name in ("frame_actuators", "frame_actuator_data")}
    tendons = arrays.tendons[joint[arrays.tendons[:, layout.TENDON_FORCE]]]
    tendons[:, layout.TENDON_FORCE] = (np.cumsum(joint) - 1)[
        tendons[:, layout.TENDON_FORCE]
    ]  # those before it that stay
    fields |= {"tendons": tendons}
    bushings = arrays.bushing_data.copy()
    bushings[:, [*range(DAMPING, DAMPING + 3), *range(TURNING_DAMPING, TURNING_DAMPING + 3)]] = 0.0
    return layout.System(**fields | {"force": 0, "force_parameters": np.zeros(0), "bushing_data": bushings})
