"""Where the forces of stops act in space, and along which direction: what arrows show.

    a plane, a ball, a wheel, an ellipsoid   at the point of contact, on body_b, with the friction there
    a distance, as of a rope of two points   at the point of body_b
    an expression, a rope over points        at every place that it depends on, λ ∂φ/∂x

Limits of coordinates, and what relates coordinates, act on these alone: the reactions of their joints contain them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mbvi.kernels import layout
from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.mechanics.expressed import SLOPE, fill_slopes, fill_variables
from mbvi.kernels.mechanics.lagrangian import fill_constraint_geometry
from mbvi.kernels.mechanics.rolling import touch_place
from mbvi.kernels.mechanics.tree import fill_world
from mbvi.model.contacts import PlaneStop, Stop
from mbvi.model.holds import ByExpression
from mbvi.recording import plain
from mbvi.results.phases import Phase, RunStates, multipliers_of, phases
from mbvi.system.reactions import owners, reactions
from mbvi.system.system import System

Array = np.ndarray


class ForceInSpace(NamedTuple):
    """A force that a stop exerts on a body: its name, places (states, 3) [m] and vectors (states, 3) [N], 0 while it is open."""

    name: str
    places: Array
    vectors: Array


@kernel
def fill_touch_places(out, c, system, work, q):  # type: ignore[no-untyped-def]
    """Where a contact of rolling bodies touches in many states.

    out    (states, 3)    out, places in the world [m]
    c      int            row of System.touches
    q      (states, n)    configurations [u], u the unit of a coordinate
    """
    for s in range(q.shape[0]):
        fill_constraint_geometry(system, work, q[s])
        out[s, 0], out[s, 1], out[s, 2] = touch_place(system, work, c, q[s])


@kernel
def fill_place_slopes(out, c, system, work, t, q):  # type: ignore[no-untyped-def]
    """Derivatives of an expression by its variables in many states.

    out    (states, variables)    out [any unit], that of the expression over that of the variable
    c      int                    row of System.expressions
    t      (states,)              [s]
    q      (states, n)            configurations [u], u the unit of a coordinate
    """
    for s in range(q.shape[0]):
        fill_world(system, work, q[s], work.zero)
        fill_variables(system, work, system.expressions, c, t[s], q[s])
        fill_slopes(system, work, system.expressions, c)
        for a in range(out.shape[1]):
            out[s, a] = work.express[SLOPE, a]


def contact_forces_in_space(run: RunStates) -> list[ForceInSpace]:
    """The forces of all stops that act in space, and are closed in a state of a run."""
    found: dict[str, ForceInSpace] = {}
    for phase in phases(run):
        if phase.mode is None:
            continue
        for name, places, vectors in _of_phase(phase):
            if name not in found:
                found[name] = ForceInSpace(name, np.full((len(run.t), 3), np.nan), np.zeros((len(run.t), 3)))
            found[name].places[phase.states], found[name].vectors[phase.states] = places, vectors
    return [each._replace(places=_held(each.places)) for each in found.values()]


def _held(places: Array) -> Array:
    """Places (states, 3), those that are not known as the last one before, or the first one."""
    known = np.flatnonzero(np.isfinite(places[:, 0]))
    last: Array = places[known[np.maximum(np.searchsorted(known, np.arange(len(places)), side="right") - 1, 0)]]
    return last


def _of_phase(phase: Phase) -> Iterator[ForceInSpace]:
    """The forces of stops that are closed in a phase."""
    assert phase.mode is not None
    system, contacts, lam = phase.system, phase.mode.contacts, multipliers_of(phase)
    rows, holding = dict(phase.mode.acting()), owners(system)
    for i in phase.mode.closed:
        stop = contacts.stops[i]
        if isinstance(stop.held, ByExpression):
            yield from _of_expression(system, stop, int(rows[stop.name][0]), phase, lam)
        elif f"contacts.{stop.name}" in holding:
            own = [f"contacts.{stop.name}", f"contacts.{stop.name}.friction"]
            wrenches = reactions(system, [each for each in own if each in holding], phase.t, phase.q, phase.v, lam)
            forces: Array = wrenches[:, 0].sum(axis=0)
            yield ForceInSpace(stop.name, _place(system, stop, int(rows[stop.name][0]), phase.q, forces), forces)


def _place(system: System, stop: Stop, row: int, q: Array, forces: Array) -> Array:
    """Where a stop between two bodies acts on body_b, in states with forces (states, 3)."""
    (touch,) = (*np.flatnonzero(system.arrays.touches[:, layout.TOUCH_ROW] == row), -1)[:1]
    if touch >= 0:
        out = np.empty((len(q), 3))
        fill_touch_places(out, int(touch), system.arrays, system.work, np.ascontiguousarray(q))
        return out
    body, point = stop.held.ends()[1]
    places, rotations = system.poses(body, q)
    out = places + rotations @ np.array(point)
    element = system.model.contacts.get(stop.name)  # type: ignore[union-attr]
    if isinstance(element, PlaneStop) and plain(element.radius) > 0:  # from the centre of a ball to its lowest point
        sizes = np.linalg.norm(forces, axis=1, keepdims=True)
        out -= plain(element.radius) * np.divide(forces, sizes, out=np.zeros_like(forces), where=sizes > 0)
    return out


def _of_expression(system: System, stop: Stop, row: int, phase: Phase, lam: Array) -> Iterator[ForceInSpace]:
    """The forces at the places that the gap of a stop depends on; named after it, and of several after the bodies too."""
    (c,) = np.flatnonzero(system.arrays.expressions[:, layout.EXPRESSION_ROW] == row)
    variables = stop.held.variables
    slopes = np.empty((len(phase.t), len(variables)))
    fill_place_slopes(slopes, int(c), system.arrays, system.work, phase.t, np.ascontiguousarray(phase.q))
    points = dict.fromkeys((each.body, tuple(each.point)) for each in variables if each.kind in ("x", "y", "z"))
    for number, (body, point) in enumerate(points):
        vectors = np.zeros((len(phase.t), 3))
        for a, each in enumerate(variables):
            if each.kind in ("x", "y", "z") and (each.body, tuple(each.point)) == (body, point):
                vectors[:, "xyz".index(each.kind)] += lam[:, row] * slopes[:, a]
        places, rotations = system.poses(body, phase.q)
        name = stop.name if len(points) == 1 else f"{stop.name} at {body}, {number + 1}"
        yield ForceInSpace(name, places + rotations @ np.array(point), vectors)
