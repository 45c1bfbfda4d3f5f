"""What holds in the states of a run: accelerations, multipliers, reactions and forces of elements.

Where stops and dry frictions act, the states of each mode obey the equations of the system of that mode, in which closed stops
and frictions that hold are constraints, and what slides is a force (`mbvi.system.contacts`). Elsewhere there is one system.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mbvi.results.contacts import Modes
from mbvi.system.contacts import Contacts, ModeSystem
from mbvi.system.element_forces import ElementForce, element_forces, force_names
from mbvi.system.reactions import checked_reactions, reactions
from mbvi.system.sensors import SystemSensor
from mbvi.system.system import System

Array = np.ndarray


class RunStates(NamedTuple):
    """States of a run.

    system                  of the run
    rows      (m, 7 + 2 n)  what happened to its contacts, or None
    t         (states,)     increasing times [s]
    q, v      (states, n)   coordinates and velocities
    lam       (states, k)   multipliers, if they are known
    """

    system: System
    rows: Array | None
    t: Array
    q: Array
    v: Array
    lam: Array | None = None


class Phase(NamedTuple):
    """The states of a run in which the same contacts are closed.

    states    (m,)     their numbers, or all
    system             that they obey
    mode               that of the contacts, where there are some
    own       (k,)     places of the constraints of the run's system among those of this one
    t, q, v, lam       of these states
    """

    states: Array | slice
    system: System
    mode: ModeSystem | None
    own: Array | slice
    t: Array
    q: Array
    v: Array
    lam: Array | None


def phases(run: RunStates) -> Iterator[Phase]:
    """The phases of a run."""
    system, rows, t, q, v, lam = run
    if rows is None or not len(rows):
        yield Phase(slice(None), system, None, slice(None), t, q, v, lam)
        return
    contacts = Contacts(system, q[0], float(t[0]))
    modes = Modes(contacts)
    found = [modes.after(rows, count)[0] for count in range(len(rows) + 1)]
    of_state = [found[count] for count in np.searchsorted(rows[:, 3], t, side="right").tolist()]
    for mode in dict.fromkeys(of_state):
        of_mode = contacts.of_mode(mode)
        names = of_mode.system.constraint_names
        own = np.array([names.index(name) for name in system.constraint_names], np.int64)
        states = np.flatnonzero([each == mode for each in of_state])
        yield Phase(states, of_mode.system, of_mode, own, t[states], q[states], v[states], None)


def accelerations_and_multipliers(run: RunStates) -> tuple[Array, Array]:
    """Accelerations (states, n), and multipliers (states, k) of the constraints of the run's system."""
    a, lam = np.empty_like(run.q), np.empty((len(run.t), run.system.constraint_count))
    for each in phases(run):
        a[each.states], found = (each.mode or each.system).accelerations_and_multipliers(each.t, each.q, each.v)
        lam[each.states] = found[:, each.own]
    return a, lam


def _multipliers(phase: Phase) -> Array:
    if phase.lam is not None:
        return phase.lam
    if not phase.system.constraint_count:
        return np.empty((len(phase.t), 0))
    if phase.mode is not None and phase.mode.slides:
        return phase.mode.accelerations_and_multipliers(phase.t, phase.q, phase.v)[1]
    return phase.system.multipliers(phase.t, phase.q, phase.v)


def measured_in(run: RunStates, sensor: SystemSensor) -> Array:
    """What a sensor would measure in the states of a run without noise, (states, components).

    Where something happens to contacts at the time of a state, it is what holds just after that.
    """
    if run.rows is None or not sensor.needs_forces:
        return sensor.exact(run.t, run.q, run.v)
    out = np.empty((len(run.t), len(sensor.labels)))
    for each in phases(run):
        solve = (each.mode or each.system).accelerations_and_multipliers
        out[each.states] = sensor.exact(each.t, each.q, each.v, each.system, solve)
    return out


def reactions_of_run(run: RunStates, names: Sequence[str]) -> Array:
    """Forces and torques (names, 2, states, 3), see `mbvi.system.reactions`."""
    names = checked_reactions(run.system, names)
    out = np.empty((len(names), 2, len(run.t), 3))
    for each in phases(run):
        out[:, :, each.states] = reactions(each.system, names, each.t, each.q, each.v, _multipliers(each))
    return out


def forces_of_run(run: RunStates, names: Sequence[str] | None) -> dict[str, ElementForce]:
    """What elements exert, see `mbvi.system.element_forces`."""
    known, t = force_names(run.system) if names is None else names, run.t
    whole: dict[str, ElementForce] = {}
    for phase in phases(run):
        found = element_forces(phase.system, known, phase.t, phase.q, phase.v, _multipliers(phase))
        for name, each in found.items():
            if name not in whole:
                values, energy = np.empty((len(t), len(each.components))), np.empty(len(t))
                given = None if each.energy is None else energy
                whole[name] = replace(each, t=t, values=values, power=np.empty(len(t)), energy=given)
            own = whole[name]
            own.values[phase.states], own.power[phase.states] = each.values, each.power
            if own.energy is not None:
                own.energy[phase.states] = each.energy
    return whole
