"""Dynamics of what constraints tie: forces of named drives, accelerations, and states that the constraints allow.

`System.inverse_dynamics` and `System.forward_dynamics` come here where a system has constraints other than those of unit
quaternions.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError, ModelWarning, stack_level
from mbvi.kernels.mechanics import closed_loops as kernels
from mbvi.kernels.mechanics.tangent import KINDS, OFF_CONSTRAINTS, OVERDRIVEN, SINGULAR_MASS, UNDRIVEN, fill_rates
from mbvi.model.arguments import checked_names, checked_number
from mbvi.model.expressions import nearest, show, wrong
from mbvi.system.base import BaseSystem
from mbvi.system.projection import (
    CONSTRAINT_TOLERANCE,
    metric,
    nearest_step,
    owner_of,
    project_position,
    project_velocity,
)
from mbvi.system.states import Given, dynamics_work, shared
from mbvi.system.tangent import rates_of_velocity, velocity_names, velocity_of_rates

Array = np.ndarray
WHAT = {kernels.POSITION: "", kernels.VELOCITY: "the velocity of ", kernels.ACCELERATION: "the acceleration of "}
TELLING = 0.1  # part of the largest velocity of a motion from which on a velocity is named


def loop_work(system: BaseSystem) -> kernels.LoopWork:
    """The workspace of this thread for dynamics on constraints."""
    if not hasattr(system._local, "loops"):
        system._local.loops = kernels.make_loop_work(system._arrays, dynamics_work(system).nv)
    return system._local.loops


def refuse_unnamed(system: BaseSystem) -> None:
    """An error where forces of a motion are asked for that are not unique.

    Raises
    ------
    ModelError
        If constraints carry some of them.
    """
    names = velocity_names(system)
    shown = ", ".join(names[:4]) + (", …" if len(names) > 4 else "")
    remedy = f"name those that drives act on, as actuated=[…] of {shown}"
    found = "constraints that may carry any part of the forces"
    raise ModelError(f"{system.name}: {wrong('the velocities that are driven', found, remedy)}")


def drive_forces(system: BaseSystem, state: Given, actuated: Sequence[str]) -> tuple[Array, Array]:
    """The forces (states, nv) of drives at a motion, and multipliers (states, k)."""
    mask = _mask(system, actuated)
    out, lam = np.empty_like(state.v), np.empty((len(state.q), system.constraint_count))
    arrays, excess = system.arrays, []

    def run(out: Array, lam: Array, *at: Array) -> int:
        loops = loop_work(system)
        loops.is_actuated[:] = mask
        own, near = dynamics_work(system), CONSTRAINT_TOLERANCE
        status = kernels.fill_driven_motion(out, lam, arrays, system.work, own, loops, near, *at)
        excess.append(int(loops.found[3]))
        return status

    check_constraints(system, state, (out, lam), run)
    if max(excess):
        warnings.warn(
            f"{system.name}: {int(mask.sum())} velocities are driven, {max(excess)} more than there are motions; of all forces "
            "of the drives that make the motion, those of least norm are given",
            ModelWarning,
            stacklevel=stack_level(),
        )
    return out, lam


def drive_derivatives(system: BaseSystem, state: Given, actuated: Sequence[str]) -> tuple[Array, Array, Array]:
    """Derivatives (states, nv, nv) of the forces of drives, by q, v and a, along motions that the constraints allow."""
    mask, (count, nv), arrays = _mask(system, actuated), state.v.shape, system.arrays
    outs = np.empty((count, nv, nv)), np.empty((count, nv, nv)), np.empty((count, nv, nv))

    def run(by_q: Array, by_v: Array, by_a: Array, lam: Array, *at: Array) -> int:
        loops = loop_work(system)
        loops.is_actuated[:] = mask
        of = arrays, system.work, dynamics_work(system), loops, CONSTRAINT_TOLERANCE
        return kernels.fill_driven_derivatives(by_q, by_v, by_a, lam, *of, *at)

    check_constraints(system, state, (*outs, np.empty((count, system.constraint_count))), run)
    return outs


def accelerations(system: BaseSystem, state: Given, tolerance: float = CONSTRAINT_TOLERANCE) -> tuple[Array, Array]:
    """The accelerations (states, nv) that forces cause on the constraints, and multipliers (states, k).

    Raises
    ------
    ModelError
        If a state is off the constraints by more than the tolerance, or a motion that they leave has no inertia.
    """
    out, lam = np.empty_like(state.v), np.empty((len(state.q), system.constraint_count))
    arrays = system.arrays

    def run(out: Array, lam: Array, *at: Array) -> int:
        of = arrays, system.work, dynamics_work(system), loop_work(system), tolerance
        return kernels.fill_constrained_motion(out, lam, *of, *at)

    check_constraints(system, state, (out, lam), run)
    for i in map(int, np.flatnonzero(np.isnan(out).any(axis=1))):
        rates, forces, q = np.empty(system.dimension), np.empty(system.dimension), state.q[i]
        fill_rates(rates, arrays, q, state.v[i])
        kernels.fill_covector(forces, arrays, q, state.a[i])
        found = system._along_null_motions(float(state.t[min(i, len(state.t) - 1), 0]), q, rates, forces)
        if found is None:
            state.check(SINGULAR_MASS + KINDS * i)
        else:
            kernels.fill_tangent_acceleration(out[i], arrays, q, found[0])
            lam[i] = found[1]
    return out, lam


def responses(system: BaseSystem, state: Given) -> Array:
    """Accelerations (states, nv, nv) on the constraints per force on each velocity, of a change of the forces, at any time."""
    count, nv = state.v.shape
    _check_places(system, state)
    units = np.tile(np.vstack([np.zeros(nv), np.eye(nv)]), (count, 1))
    q, rest = np.repeat(state.q, nv + 1, axis=0), np.zeros_like(units)
    every = Given(system, 0.0, q=q, v=rest, forces=units)
    every.each = nv + 1
    found = accelerations(system, every, np.inf)[0].reshape(count, nv + 1, nv)
    return np.swapaxes(found[:, 1:] - found[:, :1], 1, 2)


def project_state(
    system: BaseSystem, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None, t: float = 0.0
) -> tuple[Array, Array, Array]:
    """The nearest state that constraints allow, in the metric of the mass matrix.

    Parameters
    ----------
    q, v, a : (…, nq), (…, nv), (…, nv)
        Coordinates, velocities and accelerations; those left out are zero before they are moved.
    t : float
        Time, for constraints that depend on it [s].

    Returns
    -------
    q, v, a : ndarray (…, nq), (…, nv), (…, nv)

    Raises
    ------
    ModelError
        If shapes do not fit, a number is not finite, or no such state is near.
    """
    nothing = np.zeros(dynamics_work(system).nv)
    t = checked_number(t, "t", "a finite number of seconds")
    state = Given(system, t, q=q, v=nothing if v is None else v, a=nothing if a is None else a)
    found = state.q.copy(), state.v.copy(), state.a.copy()
    for q_i, v_i, a_i in zip(*found, strict=True):
        for what, values, names in (
            ("q", q_i, system.coordinate_names),
            ("v", v_i, velocity_names(system)),
            ("a", a_i, velocity_names(system)),
        ):
            system._vector(values, what, names)
        q_i[:] = project_position(system, q_i, t)
        if system.constraint_count:
            rates, fixed = rates_of_velocity(system, q_i, v_i), np.zeros(system.dimension, bool)
            v_i[:] = velocity_of_rates(system, q_i, project_velocity(system, q_i, rates, t, fixed))
            a_i[:] = _nearest_acceleration(system, q_i, v_i, a_i, t)
    q_at, v_at, a_at = map(state.shaped, found)
    return q_at, v_at, a_at


def _nearest_acceleration(system: BaseSystem, q: Array, v: Array, a: Array, t: float) -> Array:
    """The acceleration on the constraints nearest to one, in the metric of the mass matrix."""
    loops, M = loop_work(system), _mass_matrix(system, q)
    kernels.fill_loops(loops, dynamics_work(system), system.arrays, system.work, t, q, v)
    return a + nearest_step(metric(M), loops.G, -(loops.G @ a + loops.gamma), np.zeros_like(a))


def _mass_matrix(system: BaseSystem, q: Array) -> Array:
    """The mass matrix of the tangent space (nv, nv)."""
    tangents = np.array([rates_of_velocity(system, q, unit) for unit in np.eye(dynamics_work(system).nv)])
    return tangents @ system.mass_matrix(q) @ tangents.T


def _mask(system: BaseSystem, actuated: Sequence[str]) -> Array:
    """1 for every velocity that is driven, 0 for others; a joint names all of its own."""
    names = velocity_names(system)
    mask = np.zeros(len(names), np.int64)
    for name in checked_names(actuated, "actuated"):
        own = [i for i, each in enumerate(names) if name in (each, each.rpartition(".")[0])]
        if not own:
            raise ModelError(f"actuated: {wrong('a velocity or a joint', show(name), nearest(name, names))}")
        mask[own] = 1
    return mask


def check_constraints(system: BaseSystem, state: Given, outs: Sequence[Array], run: Callable[..., int]) -> None:
    """Let a function of `shared` work, and make an error of what is wrong with a state, which is looked at once more for that."""
    status = shared(run, outs, state)
    bad, kind = divmod(status, KINDS)
    if status < 0 or kind not in (OFF_CONSTRAINTS, UNDRIVEN, OVERDRIVEN):
        state.check(status)
        return
    if kind == OVERDRIVEN:
        expected, found = "as many drives as motions, of whose forces derivatives are asked for", "more"
        raise ModelError(f"actuated: {wrong(expected, found, 'name fewer')}")
    one = slice(bad, bad + 1)
    t = state.t if len(state.t) == 1 else state.t[one]
    run(*(out[one] for out in outs), t, state.q[one], state.v[one], state.a[one])
    loops, where = loop_work(system), f" in state {bad // state.each}" if len(state.q) > state.each else ""
    if kind == UNDRIVEN:
        names, motion = velocity_names(system), _undriven(loops, int(loops.found[0]))
        moving = " and ".join(names[i] for i in np.flatnonzero(np.abs(motion) > TELLING * np.abs(motion).max()))
        expected = "a drive for every motion that the constraints leave"
        found = f"none for that of {moving}{where}"
        raise ModelError(f"actuated: {wrong(expected, found, f'add {names[int(loops.found[0])]}')}")
    raise ModelError(_off(system, WHAT[int(loops.found[0])], int(loops.found[1]), loops.found[2], where))


def _off(system: BaseSystem, what: str, row: int, gap: float, where: str) -> str:
    """What is off a constraint, and by how much."""
    found = f"{what}{owner_of(system, row)} off by {abs(gap):.3g}{where}"
    remedy = "System.project_state moves it there"
    return f"{system.name}: {wrong('a state that the constraints allow', found, remedy)}"


def _check_places(system: BaseSystem, state: Given) -> None:
    """An error where coordinates are not on the constraints, of which those that depend on time hold them at some time."""
    loops, rest = loop_work(system), np.zeros(state.v.shape[1])
    for i, q in enumerate(state.q):
        kernels.fill_loops(loops, dynamics_work(system), system.arrays, system.work, 0.0, q, rest)
        gaps = np.abs(loops.gap)
        gaps[system._driven_rows] = 0.0
        row = int(np.argmax(gaps))
        if gaps[row] > CONSTRAINT_TOLERANCE:
            raise ModelError(_off(system, "", row, gaps[row], f" in state {i}" if len(state.q) > 1 else ""))


def _undriven(loops: kernels.LoopWork, i: int) -> Array:
    """The velocities of the motion by velocity i alone, with all drives at rest."""
    motion = np.zeros(len(loops.pivot))
    motion[i] = 1.0
    for column, row in enumerate(loops.pivot):
        if row >= 0:
            motion[column] = -loops.W[row, i]
    return motion
