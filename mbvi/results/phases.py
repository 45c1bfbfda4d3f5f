"""What holds in the states of a run: accelerations, multipliers, reactions and forces of elements.

Where stops and dry frictions act, the states of each mode obey the equations of the system of that mode, in which closed stops
and frictions that hold are constraints, and what slides is a force (`mbvi.system.contacts`). Elsewhere there is one system.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mbvi.model.touching import has_contacts
from mbvi.results.contacts import Modes, contact_names
from mbvi.system.contacts import Contacts, ModeSystem
from mbvi.system.element_forces import ElementForce, checked_forces, element_forces, force_names
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


def multipliers_of(phase: Phase) -> Array:
    """The multipliers (states, k) of all constraints of a phase, those that are closed among them."""
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
        out[:, :, each.states] = reactions(each.system, names, each.t, each.q, each.v, multipliers_of(each))
    return out


def names_of_forces(system: System) -> list[str]:
    """Names of all that exerts something in a run of a system: see `mbvi.system.element_forces`, then its stops and frictions."""
    return [*force_names(system), *_names_of_contacts(system)]


def _names_of_contacts(system: System) -> tuple[str, ...]:
    return contact_names(system) if system.model is not None and has_contacts(system.model.resolved()) else ()


def forces_of_run(run: RunStates, names: Sequence[str] | None) -> dict[str, ElementForce]:
    """What elements exert, see `mbvi.system.element_forces`, and stops and frictions, as the constraints that they are."""
    of_contacts = () if run.rows is None else _names_of_contacts(run.system)
    known = [*force_names(run.system), *of_contacts]
    chosen = known if names is None else checked_forces(names, known)
    others, touching = ([each for each in chosen if (each in of_contacts) == has] for has in (False, True))
    whole = _idle(run, touching) if touching else {}
    for phase in phases(run):
        lam = multipliers_of(phase)
        found = element_forces(phase.system, others, phase.t, phase.q, phase.v, lam)
        if touching and phase.mode is not None:
            found |= _of_contacts(phase, lam, touching)
        for name, each in found.items():
            if name not in whole:
                whole[name] = _unknown(each, run.t)
            own = whole[name]
            own.values[phase.states], own.power[phase.states] = each.values, each.power
            if own.energy is not None:
                own.energy[phase.states] = each.energy
    jumps = run.rows is not None and len(run.rows) > 0
    return {name: replace(whole[name], jumps=jumps) for name in chosen}


def _unknown(each: ElementForce, t: Array) -> ElementForce:
    """What an element exerts at other times, to be filled."""
    energy = None if each.energy is None else np.empty(len(t))
    return replace(each, t=t, values=np.empty((len(t), len(each.components))), power=np.empty(len(t)), energy=energy)


def _idle(run: RunStates, names: Sequence[str]) -> dict[str, ElementForce]:
    """Stops and frictions, which exert nothing in any state."""
    contacts = Contacts(run.system, run.q[0], float(run.t[0]))
    elements = {name: contacts.element(name) for name in names}
    whole, state = contacts.with_all, (run.t[:1], run.q[:1], run.v[:1])
    lam, count = np.zeros((1, whole.constraint_count)), len(run.t)
    found = element_forces(whole, list(dict.fromkeys(elements.values())), *state, lam)
    out = {}
    for name, each in elements.items():
        still, kind = np.zeros((count, len(found[each].components))), contacts.kind(name)
        idle = replace(found[each], name=name, type=kind, t=run.t, values=still, power=np.zeros(count))
        out[name] = replace(idle, components=("push",)) if kind == "expression_stop" else idle
    return out


def _of_contacts(phase: Phase, lam: Array, names: Sequence[str]) -> dict[str, ElementForce]:
    """What those of some stops and frictions exert that act in a phase, of which lam are all multipliers (states, k)."""
    mode, state, found = phase.mode, (phase.t, phase.q, phase.v), dict[str, ElementForce]()
    assert mode is not None
    lost = mode.friction_powers(*state) if mode.slides else None
    for name, rows in mode.acting():
        if name not in names:
            continue
        own, element = np.zeros_like(lam), mode.contacts.element(name)
        own[:, rows] = lam[:, rows]
        each = element_forces(mode.system, [element], *state, own)[element]
        rub = mode.contacts.rub_number(name)
        found[name] = each if lost is None or rub < 0 else replace(each, power=-lost[:, rub])
    return found
