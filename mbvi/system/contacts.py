"""Stops and dry frictions of a system: their gaps, and the systems in which some of them are closed.

A stop is a constraint with a sign, and so is friction, which may hold its coordinate. One system, the gauge, has all of them as
constraints besides those of the model: its kernels give gaps, their gradients and how they bend. A *mode* says which stops are
closed and which frictions hold; the system of a mode has these as constraints, and is what a smooth part of the motion obeys.

All these systems have the same coordinates. The mode's sliding frictions are constant forces, of which `numbers` has the places.

The friction of a stop (`mbvi.system.rubbing`) is one of the frictions, behind those of coordinates. Where it slides, its tangents
are rows of the system that are not held, but pushed along as `mbvi.kernels.methods.sliding` describes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbvi.errors import ModelError
from mbvi.kernels import layout
from mbvi.kernels.mechanics.gaps import fill_gap_curvatures, fill_gaps
from mbvi.kernels.mechanics.lagrangian import make_work
from mbvi.model.contacts import Friction, Stop
from mbvi.model.expressions import wrong
from mbvi.model.forces import JointForce
from mbvi.model.touching import frictions_of, stops_of
from mbvi.system.held_systems import held_system
from mbvi.system.inputs import take_inputs, with_same_inputs
from mbvi.system.rubbing import Rub, along, basis, rolls, rubs_of, slip_parts, tangent_of
from mbvi.system.system import System

if TYPE_CHECKING:
    from mbvi.kernels.methods.sliding import Sliding

Array = np.ndarray
FREE = 3
"""How a friction slides that does nothing: of an open stop, or of what is locked without it."""
PENETRATION = 1e-9  # gap [m or rad] at the start, on either side of zero, up to which a stop touches
LOCKED = 1e-12  # mobility of a direction, as part of the least that it has where no constraint holds it, that is none
INDEPENDENT = 1e-9  # least part of a row of G that those before it do not span


def pushing(slides: Array) -> Array:
    """The signs of the rates of frictions that slide, and 0 of those that hold or do nothing."""
    return np.where(slides == FREE, 0, slides)


class Mode(NamedTuple):
    """Which stops are closed (stops,), and how frictions slide (frictions,): 0 held, the sign of the rate, or FREE."""

    closed: tuple[bool, ...]
    slides: tuple[int, ...]


class Contacts:
    """The stops and dry frictions of a system.

    Parameters
    ----------
    system : System
        The system of a model that has some.
    q, t : (n,), float
        Where a run starts.

    Attributes
    ----------
    system : System
        Without any of them.
    stops : tuple of Stop
    frictions : tuple of Friction
    rubs : tuple of Rub
        The frictions of stops, which are numbered behind the others.
    names : tuple of str
        The names of stops, then of frictions, then of rubs.
    coordinates : ndarray of int
        The coordinates of the frictions.
    kinetic, static : ndarray
        The largest forces of the frictions in motion and at rest [N m or N].
    rubbing : ndarray of int
        The stops of the rubs.
    is_simultaneous : bool
        Whether impacts of several at once are simultaneous, and not in rounds.
    """

    def __init__(self, system: System, q: Array, t: float) -> None:
        assert system.model is not None
        model = system.model.resolved()
        self.system, self._start = system, (q, t)
        self.is_simultaneous = model.impacts == "simultaneous"
        self.stops: tuple[Stop, ...] = tuple(stops_of(model))
        self.frictions: tuple[Friction, ...] = tuple(frictions_of(model))
        self.rubs: tuple[Rub, ...] = rubs_of(self.stops)
        names = [each.name for each in self.stops] + [each.name for each in self.frictions]
        self.names = (*names, *(each.name for each in self.rubs))
        self.rubbing = np.array([each.stop for each in self.rubs], np.int64)
        self.restitutions = np.array([each.restitution for each in self.stops])
        self.rest_speeds = np.array([each.rest_speed for each in self.stops])
        self.kinetic = np.array([each.kinetic for each in self.frictions])
        self.static = np.array([each.static for each in self.frictions])
        self._signs = np.array([each.sign for each in self.stops])
        at = [self.stops[each.stop] for each in self.rubs]
        self._tangents = [
            [] if rub.is_round else along(stop, basis(stop)) for rub, stop in zip(self.rubs, at, strict=True)
        ]
        self._parts = np.tile([1.0, 0.0], (len(self.rubs), 1))
        self._set_gauge()
        if self.rubs:
            self._find_slips()
        self._modes: dict[Mode, ModeSystem] = {}

    def _set_gauge(self) -> None:
        """Make the system that has all of them as constraints."""
        round_ones = {each.stop for each in self.rubs if each.is_round}
        stops = [rolls(each) if i in round_ones else each for i, each in enumerate(self.stops)]
        tangents = [
            each for rub, pair in zip(self.rubs, self._tangents, strict=True) if not rub.is_round for each in pair
        ]
        self._gauge = held_system(self.system, (*stops, *self.frictions, *tangents)).copy()
        self._rows = self._rows_of(self._gauge, self.stops)
        arrays = self._gauge.arrays
        firsts = arrays.constraints[self._rows_of(self._gauge, self.frictions), layout.FIRST_ENTRY]
        self.coordinates = arrays.entries[firsts]
        self._work = np.zeros(arrays.k), np.zeros(len(arrays.entries)), np.zeros(arrays.k)
        self._slips = np.array([self.tangent_rows(self._gauge, j) for j in range(len(self.rubs))], np.int64).reshape(
            -1, 2
        )

    def _find_slips(self) -> None:
        """Find the tangents along which stops with friction slip."""
        q, t = self._start
        _, G, _ = self._gauge._constraints(q, t)
        for j, rub in enumerate(self.rubs):
            parts = slip_parts(rub, G[self._slips[j]], lambda rows: self.responses(t, q, rows))
            if rub.is_round:
                self._parts[j] = parts
            else:
                stop = self.stops[rub.stop]
                self._tangents[j] = along(stop, tangent_of(stop, parts))
        self._set_gauge()

    def responses(self, t: float, q: Array, rows: Array) -> Array:
        """The change of velocity (m, n) by impulses along rows (m, n), on the model's constraints: none along what these hold."""
        if not len(rows):
            return rows
        p = np.concatenate([rows, np.zeros((1, len(q)))])
        v = self.system.velocities(np.full(len(p), t), np.tile(q, (len(p), 1)), p)
        X: Array = v[:-1] - v[-1]
        if self.system.constraint_count:
            most = np.trace(self.system.mass_matrix(q, t))  # no direction has a larger mass
            X[np.einsum("in,in->i", rows, X) * most <= LOCKED * np.einsum("in,in->i", rows, rows)] = 0.0
        return X

    @property
    def with_all(self) -> System:
        """The system that has all of them as constraints."""
        return self._gauge

    def rub_number(self, name: str) -> int:
        """The number of a friction of a stop; −1 of another name."""
        return next((j for j, each in enumerate(self.rubs) if each.name == name), -1)

    def element(self, name: str) -> str:
        """The constraint, or the force, that one of them is in the systems of modes: of what rolls that of its stop."""
        rub = self.rub_number(name)
        own = self.stops[self.rubs[rub].stop].name if rub >= 0 and self.rubs[rub].is_round else name
        return f"contacts.{own}"

    def kind(self, name: str) -> str:
        """The type of the element of the model that one of them belongs to; limits of those of joints."""
        contacts = self.system.model.contacts  # type: ignore[union-attr]
        own = [each for each in contacts if name == each or name.startswith(f"{each}.")]
        return str(contacts[max(own, key=len)].type) if own else "limits"

    def rubbing_names(self, rubs: Iterable[int]) -> str:
        """The names of the stops of some rubs."""
        return ", ".join(self.stops[self.rubs[j].stop].name for j in rubs)

    def tangent_rows(self, system: System, j: int) -> Array:
        """The two constraints along the tangents of a rub, in a system in which they are; of a point −1 for one that is not."""
        stop, names = self.stops[self.rubs[j].stop], system.constraint_names
        if self.rubs[j].is_round:
            return np.array([names.index(f"contacts.{stop.name}.{part}") for part in ("roll_u", "roll_v")])
        held = [each for each in self._tangents[j] if any(name.startswith(f"contacts.{each.name}.") for name in names)]
        return np.array([*self._rows_of(system, held), -1][:2])

    @staticmethod
    def _rows_of(system: System, held: Sequence[Any]) -> Array:
        """The constraints that these are; of what is round that of the gap."""
        names = system.constraint_names
        places = {name.rsplit(".", 1)[0]: i for i, name in enumerate(names)} | {name: i for i, name in enumerate(names)}
        found = [places.get(f"contacts.{each.name}.gap", places[f"contacts.{each.name}"]) for each in held]
        return np.array(found, np.int64)

    # ---------------------------------------------------------------------------------------------- gaps

    def gaps(self, t: Array, q: Array) -> Array:
        """Gaps (states, stops) [m or rad] in many states: t (states,), q (states, n)."""
        out = np.empty((len(q), len(self.stops)))
        fill_gaps(out, self._rows, self._signs, *self._work, self._gauge.arrays, self._gauge.work, t, q)
        return out

    def gap_gradients(self, t: float, q: Array) -> tuple[Array, Array]:
        """∂φ/∂q (stops, n) and ∂φ/∂t (stops,)."""
        _, G, g_t = self._gauge._constraints(q, t)
        return self._signs[:, None] * G[self._rows], self._signs * g_t[self._rows]

    def gap_curvatures(self, t: float, q: Array, v: Array) -> Array:
        """What φ̈ (stops,) is without acceleration."""
        out = np.zeros(self._gauge.arrays.k)
        fill_gap_curvatures(out, self._gauge.arrays, self._gauge.work, t, q, v)
        return self._signs * (out + self._gauge._time_rates(t, q, v)[1])[self._rows]

    # --------------------------------------------------------------------------------------------- slips

    def slip_gradients(self, t: float, q: Array) -> Array:
        """The rows (rubs, n) whose products with the velocity are the slips [m/s]."""
        _, G, _ = self._gauge._constraints(q, t)
        return np.einsum("jp,jpn->jn", self._parts, G[self._slips])

    def slips_across(self, t: float, q: Array, v: Array) -> Array:
        """The slips (rubs,) along the other tangent, which are 0 where stops slip along one direction alone [m/s]."""
        _, G, _ = self._gauge._constraints(q, t)
        return np.einsum("jp,jpn,n->j", np.stack([-self._parts[:, 1], self._parts[:, 0]], axis=1), G[self._slips], v)

    def slip_curvatures(self, t: float, q: Array, v: Array) -> Array:
        """What the rates of the slips (rubs,) are without acceleration [m/s²]."""
        out = np.zeros(self._gauge.arrays.k)
        fill_gap_curvatures(out, self._gauge.arrays, self._gauge.work, t, q, v)
        return np.einsum("jp,jp->j", self._parts, out[self._slips])

    def friction_rates(self, t: Array, q: Array, v: Array, has_slips: bool = True) -> Array:
        """Rates (states, frictions) of coordinates with friction, then slips of stops, or zeros, in many states."""
        rates = v[:, self.coordinates]
        if not self.rubs:
            return rates
        slips = self.slips(t, q, v) if has_slips else np.zeros((len(t), len(self.rubs)))
        return np.concatenate([rates, slips], axis=1)

    def slips(self, t: Array, q: Array, v: Array) -> Array:
        """Slips (states, rubs) of stops with friction, in many states [m/s]."""
        found = [self.slip_gradients(float(t_i), q_i) @ v_i for t_i, q_i, v_i in zip(t, q, v, strict=True)]
        return np.reshape(found, (len(t), len(self.rubs)))

    def places(self, t: float, q: Array) -> Array:
        """Where frictions (frictions,) are held: coordinates, and places of points along their tangents; 0 of what is round."""
        if not self.rubs:
            return q[self.coordinates]
        g, _, _ = self._gauge._constraints(q, t)
        return np.concatenate([q[self.coordinates], g[self._slips[:, 0]]])

    # --------------------------------------------------------------------------------------------- modes

    def of_mode(self, mode: Mode) -> ModeSystem:
        """The system of a mode."""
        if mode not in self._modes:
            self._modes[mode] = ModeSystem(self, mode)
            self._modes[mode].take_inputs()
        return self._modes[mode]

    def take_inputs(self) -> None:
        """Let the systems of all modes have the inputs that the system has now."""
        for each in self._modes.values():
            each.take_inputs()


class ModeSystem:
    """The system of a mode: with closed stops and held frictions as constraints, and sliding frictions as forces.

    Attributes
    ----------
    contacts : Contacts
    system : System
        Where stops slide with friction, with rows for their tangents, which are not held.
    closed, held : ndarray of int
        Numbers of the stops that are closed, and of the frictions that hold.
    slides : dict
        How the rubs slide that do, by their numbers among the rubs: −1 or 1.
    """

    def __init__(self, contacts: Contacts, mode: Mode) -> None:
        self.contacts, count = contacts, len(contacts.frictions)
        self.closed = np.flatnonzero(mode.closed)
        self.held = np.array([j for j, slides in enumerate(mode.slides) if slides == 0], np.int64)
        rubs = {j: slides for j, slides in enumerate(mode.slides[count:]) if slides != FREE}
        self.slides = {j: float(slides) for j, slides in rubs.items() if slides != 0}
        self.round = [j for j in rubs if contacts.rubs[j].is_round]
        turning = {contacts.rubs[j].stop for j in self.round}
        stops = [contacts.stops[i] for i in self.closed]
        taken = [rolls(each) if i in turning else each for i, each in zip(self.closed, stops, strict=True)]
        frictions = [contacts.frictions[j] for j in self.held if j < count]
        tangents = [contacts._tangents[j][0] for j in rubs if not contacts.rubs[j].is_round]
        forces = {
            f"contacts.{each.name}": JointForce(
                joint=each.held.joint, coordinate=each.held.coordinate, value=-sign * each.kinetic
            )
            for each, sign in zip(contacts.frictions, mode.slides[:count], strict=True)
            if sign not in (0, FREE) and each.kinetic > 0
        }
        held: list[Any] = [*taken, *frictions, *tangents]
        self.system = self._of = contacts.system
        self._copies = list[System]()
        if held or forces:
            found = held_system(contacts.system, held, forces)
            self.system = with_same_inputs(contacts.system, found.copy())
            found.count_redundant(self.system, *contacts._start)
        self._stop_rows = contacts._rows_of(self.system, stops)
        self._friction_rows = contacts._rows_of(self.system, frictions)
        self._tangent_rows = {j: contacts.tangent_rows(self.system, j) for j in rubs}
        self._signs = np.array([each.sign for each in stops])

    def acting(self) -> Iterator[tuple[str, Array]]:
        """The names of those that act, with their constraints in the system, none of a force."""
        contacts, count = self.contacts, len(self.contacts.frictions)
        yield from (
            (contacts.stops[i].name, rows) for i, rows in zip(self.closed, self._stop_rows[:, None], strict=True)
        )
        rows_of = dict(zip(self.held[self.held < count].tolist(), self._friction_rows[:, None], strict=True))
        for j, friction in enumerate(contacts.frictions):
            if j in rows_of or f"contacts.{friction.name}" in self.system.model.forces:  # type: ignore[union-attr]
                yield friction.name, rows_of.get(j, np.zeros(0, np.int64))
        yield from ((contacts.rubs[j].name, rows[rows >= 0]) for j, rows in self._tangent_rows.items())

    @property
    def rolls(self) -> str:
        """The name of a stop that sticks by rolling; empty where none does."""
        held = (self.contacts.rubs[j] for j in self.round if j not in self.slides)
        return next((self.contacts.stops[each.stop].name for each in held), "")

    def has_copy(self, copy: System) -> None:
        """Let a copy of the system hold coordinates, and have inputs, as the system."""
        self._copies.append(copy)
        self.take_inputs()

    def hold_at(self, places: Array) -> None:
        """Hold the frictions that hold at places (held,) [rad or m], see `Contacts.places`."""
        count = len(self.contacts.frictions)
        for system in (self.system, *self._copies):
            data = system.arrays.constraint_data
            data[self._friction_rows, layout.OFFSET] = places[self.held < count]
            for j, place in zip(self.held[self.held >= count] - count, places[self.held >= count], strict=True):
                if not self.contacts.rubs[j].is_round:
                    data[self._tangent_rows[j][0], layout.OFFSET] = place

    def take_inputs(self) -> None:
        """Have the inputs that the system without contacts has now."""
        for system in (self.system, *self._copies):
            if system is not self._of:
                take_inputs(system, self._of)

    # ------------------------------------------------------------------------------------------- states

    def velocities(self, t: Array, q: Array, p: Array) -> Array:
        """Velocities (states, n) of states: tangents that are not held are no constraints of these."""
        return (self._of if self.slides else self.system).velocities(t, q, p)

    def accelerations_and_multipliers(self, t: Array, q: Array, v: Array) -> tuple[Array, Array]:
        """Accelerations (states, n), and multipliers (states, k)."""
        if not self.slides:
            return self.system.accelerations_and_multipliers(t, q, v)
        system, (n, k) = self.system, (self.system.dimension, self.system.constraint_count)
        a, lam, p_t, g_tt = (np.zeros((len(t), size)) for size in (n, k, n, k))
        for i in range(len(t)):
            p_t[i], g_tt[i] = system._time_rates(float(t[i]), q[i], v[i])
        arrays, space = system.arrays, self._space
        states = (np.ascontiguousarray(each) for each in (t, q, v))
        from mbvi.kernels.methods.sliding import fill_forces  # of few runs

        fill_forces(a, lam, arrays, self._work, space, p_t, g_tt, *states)
        return a, lam

    def forces(self, t: Array, q: Array, v: Array) -> tuple[Array, Array]:
        """Forces of closed stops (states, closed), which push where positive, and of frictions that hold (states, held)."""
        lam = self.accelerations_and_multipliers(t, q, v)[1] if self.slides else self.system.multipliers(t, q, v)
        hold, count = lam[:, self._friction_rows], len(self.contacts.frictions)
        if (self.held >= count).any():
            along = [self._along(lam, int(j) - count) for j in self.held if j >= count]
            hold = np.concatenate([hold, np.stack(along, axis=1)], axis=1)
        return self._signs * lam[:, self._stop_rows], hold

    def regularity(self, t: Array, q: Array) -> Array:
        """How far forces are determined while stops slide (states,), see `sliding.fill_regularity`."""
        out = np.empty(len(t))
        from mbvi.kernels.methods.sliding import fill_regularity  # of few runs

        fill_regularity(out, self.system.arrays, self._work, self._space, t, np.ascontiguousarray(q))
        return out

    def friction_powers(self, t: Array, q: Array, v: Array) -> Array:
        """What the rubs that slide lose (states, rubs) [W], 0 of the others."""
        push, contacts = self.forces(t, q, v)[0], self.contacts
        slips, lost = contacts.slips(t, q, v), np.zeros((len(t), len(contacts.rubs)))
        for j, sign in self.slides.items():
            stop = int(np.flatnonzero(self.closed == contacts.rubs[j].stop)[0])
            lost[:, j] = contacts.rubs[j].kinetic * sign * push[:, stop] * slips[:, j]
        return lost

    def _along(self, lam: Array, j: int) -> Array:
        """The force (states,) of a rub along its slip."""
        rows, parts = self._tangent_rows[j], self.contacts._parts[j]
        force = parts[0] * lam[:, rows[0]]
        return force + parts[1] * lam[:, rows[1]] if rows[1] >= 0 else force

    # --------------------------------------------------------------------------------------------- steps

    @cached_property
    def _work(self) -> Any:
        return make_work(self.system.arrays)

    @cached_property
    def _space(self) -> Sliding:
        return self.sliding(self.system.arrays, 1)

    def sliding(self, arrays: layout.System, stages: int) -> Sliding:
        """A workspace of the steps of a mode in which stops slide, with so many control points behind the first.

        Raises
        ------
        ModelError
            If the force of such a stop does not follow from the motion.
        """
        rows, tangents, factors = self._to_kernel
        is_rate = np.isin(rows, self.system.arrays.rates).astype(np.int64)
        from mbvi.kernels.methods.sliding import make_sliding  # of few runs

        return make_sliding(arrays, stages, rows, tangents, factors, is_rate)

    @cached_property
    def _to_kernel(self) -> tuple[Array, Array, Array]:
        """The rows that are held and independent, tangents along which they slide (2, d), and their factors (2, d)."""
        contacts, k = self.contacts, self.system.constraint_count
        pushed = {int(row) for j in self.slides for row in self._tangent_rows[j]}
        normals = {
            int(self._stop_rows[np.flatnonzero(self.closed == contacts.rubs[j].stop)[0]]): j for j in self.slides
        }
        rows = self._independent([i for i in range(k) if i not in pushed and i not in normals], list(normals))
        tangents, factors = np.full((2, len(rows)), -1, np.int64), np.zeros((2, len(rows)))
        for row, j in normals.items():
            rub, place = contacts.rubs[j], rows.index(row)
            sign = contacts.stops[rub.stop].sign
            tangents[:, place] = self._tangent_rows[j]
            factors[:, place] = -self.slides[j] * sign * rub.kinetic * contacts._parts[j]
        return np.array(rows, np.int64), tangents, factors

    def _independent(self, rows: list[int], needed: list[int]) -> list[int]:
        """Rows that do not follow from those before, in their order; the needed ones stand last.

        Raises
        ------
        ModelError
            If a needed one does follow: then its force may be any.
        """
        q, t = self.contacts._start
        _, G, _ = self.system._constraints(q, t)
        basis, found = np.zeros((0, len(q))), []
        for row in (*rows, *needed):
            size = float(np.linalg.norm(G[row]))
            rest = G[row] - basis.T @ (basis @ G[row])
            rest = rest - basis.T @ (basis @ rest)
            if size > 0.0 and np.linalg.norm(rest) > INDEPENDENT * size:
                basis = np.concatenate([basis, rest[None] / np.linalg.norm(rest)])
                found.append(row)
            elif row in needed:
                name = self.system.constraint_names[row]
                expected = "a stop whose force follows from the motion, since it slides with friction"
                remedy = "leave out its friction, or what holds the same"
                raise ModelError(f"{name}: {wrong(expected, 'one that other constraints hold too', remedy)}")
        return sorted(found)
