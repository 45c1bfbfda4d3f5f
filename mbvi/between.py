"""States of a run between those that it stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError, StepError
from mbvi.floats import as_floats
from mbvi.model.arguments import check_flag, check_kind
from mbvi.model.expressions import show, wrong
from mbvi.results.samples import with_samples
from mbvi.results.trajectory import Trajectory, seen_trajectory
from mbvi.schemes.tableau import Tableau
from mbvi.steppers.arcs import Arc, Arcs
from mbvi.steppers.part_step import PartStep
from mbvi.system.copies import as_run
from mbvi.system.cubics import on_cubics
from mbvi.system.feedback import check_same_values, seen_values, with_functions_again
from mbvi.system.system import System

Array = np.ndarray
ROUNDING = 1e-9  # part of a step by which a time may lie before the first state or after the last


def states_at(
    trajectory: Trajectory,
    times: ArrayLike,
    fast: bool = False,
    inputs: Mapping[Any, Callable[..., Any]] | None = None,
) -> Trajectory:
    """The states of a run at given times: each by a step of its scheme that ends there.

    Parameters
    ----------
    trajectory : Trajectory
    times : float or (m,)
        Increasing, none before the first state or after the last [s].
    fast : bool
        Take the cubic through q and v of the two stored states around each time instead, which costs no step. For states that are
        H apart its q errs by up to H⁴ |d⁴q/dt⁴|/384, and its v by a multiple of H³; constraints hold as exactly as that. By a
        step both have the order of the scheme. Between states where something happened to stops or dry friction, steps are
        taken all the same.
    inputs : mapping, optional
        The functions of the state that gave inputs, as `simulate` was given them: for a trajectory that was read from a file,
        which cannot hold them.

    Returns
    -------
    Trajectory
        A trajectory of m states.

    Raises
    ------
    ModelError
        If the times are none, the trajectory was read from a file without its system, or the functions are missing, or others
        than those of the run.
    StepError
        If a step does not converge.

    Examples
    --------
    >>> import mbvi
    >>> bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))
    >>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    >>> model = mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot})
    >>> run = mbvi.simulate(model, "gauss4", step=0.1, duration=2.0, initial_q=[0.5])
    >>> finer = mbvi.simulate(model, "gauss4", step=0.05, duration=2.0, initial_q=[0.5])
    >>> bool(abs(states_at(run, finer.t).q - finer.q).max() < 1e-10)
    True
    """
    check_kind(trajectory, Trajectory, "trajectory", "make one by simulate or read")
    check_flag(fast, "fast")
    wanted = _checked(trajectory, times)
    rows = np.clip(np.searchsorted(trajectory.t, wanted, side="right") - 1, 0, max(len(trajectory) - 2, 0))
    trajectory = _with_functions(trajectory, inputs, np.unique(rows))
    if fast:
        q, p = _by_cubics(trajectory, wanted, rows)
        is_broken = _has_happenings(trajectory, rows)
        q[is_broken], p[is_broken] = _by_steps(trajectory, wanted[is_broken], rows[is_broken])
    else:
        q, p = _by_steps(trajectory, wanted, rows)
    sizes = np.diff(wanted)
    mean = float(sizes.mean()) if len(sizes) else trajectory.step
    found = replace(trajectory, t=wanted, q=q, p=p, every=1, step=mean, step_sizes=sizes)
    happened = trajectory.contact_events
    if happened is not None:
        steps = np.searchsorted(wanted, happened[:, 3], side="right") - 1.0
        happened = np.column_stack([steps, happened[:, 1:]])
    found = replace(found, stored=None, start=None, findings=(), events={}, end="", contact_events=happened)
    return seen_trajectory(found)


def _with_functions(trajectory: Trajectory, inputs: Any, rows: Array) -> Trajectory:
    """The trajectory with the system that has the functions which gave inputs, by those in the states of some rows."""
    seen = getattr(trajectory.system, "_seen", None)
    if inputs is None and (seen is None or seen.run is not None):
        return trajectory if seen is None else replace(trajectory, system=seen.run)
    names, remedy = () if seen is None else seen.names, "pass them as to simulate: trajectory.at(times, inputs=…)"
    system = with_functions_again(as_run(_without_inputs(trajectory.system)), inputs, names, remedy)
    if seen is None:
        return trajectory
    t, q, v = (each[rows] for each in (trajectory.t, trajectory.q, trajectory.v))
    check_same_values(system, t, q, v, seen_values(trajectory.system, t))
    return replace(trajectory, system=with_samples(system, trajectory.samples))


def _without_inputs(system: System) -> System:
    """The system of a run before its inputs became known."""
    return system if system._given_inputs is None else _without_inputs(system._given_inputs[0])


def _checked(trajectory: Trajectory, times: ArrayLike) -> Array:
    """Times (m,) within a run, in increasing order; what is outside of it by rounding is moved to its ends."""
    array = as_floats(times)
    if array is None or array.ndim > 1 or not array.size or not np.isfinite(array).all():
        raise ModelError(f"times: {wrong('finite numbers of seconds', show(times))}")
    wanted = np.atleast_1d(array)
    if not (np.diff(wanted) > 0).all():
        first = int(np.argmin(np.diff(wanted) > 0))
        found = f"{wanted[first + 1]:.9g} after {wanted[first]:.9g}"
        raise ModelError(f"times: {wrong('increasing times', found, 'sort them, each once')}")
    begin, end = float(trajectory.t[0]), float(trajectory.t[-1])
    inside = np.clip(wanted, begin, end)
    off = np.abs(inside - wanted) > ROUNDING * trajectory.step
    if off.any():
        expected = f"times from {begin:.9g} s to {end:.9g} s, as the trajectory has"
        raise ModelError(f"times: {wrong(expected, f'{wanted[np.argmax(off)]:.9g} s')}")
    return inside


def _has_happenings(trajectory: Trajectory, rows: Array) -> Array:
    """Whether something happened to contacts after the stored state of each row (m,), until the next."""
    if trajectory.contact_events is None:
        return np.zeros(len(rows), bool)
    steps, first = trajectory.contact_events[:, 0], rows * trajectory.every
    return np.searchsorted(steps, first) < np.searchsorted(steps, first + trajectory.every)


def _by_steps(trajectory: Trajectory, times: Array, rows: Array) -> tuple[Array, Array]:
    """Coordinates and momenta (m, n), each by steps from the stored state before it, of which the last ends there."""
    arcs_of, every = _arcs_of(trajectory), trajectory.every
    found = np.empty((2, len(times), trajectory.q.shape[1]))
    for i, (time, row) in enumerate(zip(times, rows.tolist(), strict=True)):
        t, (q, p) = float(trajectory.t[row]), np.array([trajectory.q[row], trajectory.p[row]])
        if row + 1 < len(trajectory) and time == trajectory.t[row + 1]:
            found[:, i] = trajectory.q[row + 1], trajectory.p[row + 1]
            continue
        sizes = trajectory.step_sizes
        lengths = [trajectory.step] * every if sizes is None else sizes[row * every : (row + 1) * every].tolist()
        for number, h in enumerate(lengths):
            for arc in arcs_of(row * every + number, t, h, q, p):
                if arc.t <= time:
                    q, p = _along(trajectory, arc, time)
            t += h
            if t >= time:
                break
        found[:, i] = q, p
    return found[0], found[1]


def _arcs_of(trajectory: Trajectory) -> Callable[..., list[Arc]]:
    """What gives the arcs of a step, by its number, time and length, from a state: one, but where contacts break it."""
    if trajectory.contact_events is None:
        part = PartStep(trajectory.system, trajectory.scheme)
        return lambda step, t, h, q, p: [Arc(t, h, q, p, part)]
    assert isinstance(trajectory.scheme, Tableau)
    arcs = Arcs(trajectory.system, trajectory.scheme, np.array(trajectory.q[0]), float(trajectory.t[0]))
    return partial(arcs.of_step, trajectory.contact_events)


def _along(trajectory: Trajectory, arc: Arc, time: float) -> tuple[Array, Array]:
    """The state (n,) on an arc at a time, at most at its end."""
    at, (q, p) = arc.t, (arc.q, arc.p)
    for each in _parts(trajectory, arc.t, arc.h):
        length = min(each, time - at)
        if length > 0.0:
            try:
                q, p = arc.part(at, length, q, p)
            except StepError as error:
                raise StepError(
                    f"the part of a step from t = {at:.6g} s to {at + length:.6g} s: {error.reason}"
                ) from None
        at += each
    return q, p


def _parts(trajectory: Trajectory, t: float, h: float) -> list[float]:
    """The lengths of the parts of a step of length h from a time, which is divided where an input jumps in it."""
    if not trajectory.samples:
        return [h]
    jumps = np.concatenate([[t, t + h], *(each.acts for each in trajectory.samples.values())])
    near = ROUNDING * trajectory.step
    ends = np.unique(jumps[(jumps == t) | ((jumps > t + near) & (jumps < t + h - near)) | (jumps == t + h)])
    return np.diff(ends).tolist()


def _by_cubics(trajectory: Trajectory, times: Array, rows: Array) -> tuple[Array, Array]:
    """Coordinates and momenta (m, n) on the cubics through the stored states before and after each time."""
    if len(trajectory) == 1:
        return np.array(trajectory.q), np.array(trajectory.p)
    t, q, v = (np.asarray(each)[np.stack([rows, rows + 1])] for each in (trajectory.t, trajectory.q, trajectory.v))
    h = t[1] - t[0]
    places, rates = on_cubics((times - t[0]) / h, h, q, v)
    return places, trajectory.system._energies_and_momenta(times, places, rates)[2]
