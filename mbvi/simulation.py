"""Advance a system: choose the stepper, run it, and warn of what makes its result doubtful."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from mbvi.errors import AccuracyWarning, LimitWarning, ModelError, StepError, stack_level
from mbvi.model.arguments import check_flag, check_kind, check_progress, checked_path
from mbvi.model.expressions import wrong
from mbvi.model.model import Model
from mbvi.results import storage, stored_measurements
from mbvi.results.limits import exceeded_limits
from mbvi.results.output import check_output, check_overwriting
from mbvi.results.trajectory import Trajectory
from mbvi.run_arguments import (
    as_system,
    check_controlled,
    check_driven,
    check_functions,
    check_resolution,
    check_room,
    check_same_chart,
    check_same_controllers,
    check_same_events,
    check_same_system,
    checked_time,
    chosen_scheme,
    clock,
    counted_steps,
    given_sizes,
    momentum_from_positions,
    note_corners,
    note_overshoots,
    positive_time,
    resumed_inputs,
)
from mbvi.schemes.method import Method
from mbvi.schemes.runge_kutta import ButcherTableau
from mbvi.schemes.tableau import Tableau
from mbvi.steppers import stepper_of
from mbvi.steppers.control import ControlWatch, controlled_system
from mbvi.steppers.event_watch import stepper_with_events
from mbvi.steppers.loop import Stepper, advance
from mbvi.steppers.run import Run
from mbvi.system.chart import Chart
from mbvi.system.controllers import Controller, checked_controllers, refuse_controllers
from mbvi.system.copies import as_run
from mbvi.system.events import Event, checked_events
from mbvi.system.feedback import check_values, split_inputs, with_functions
from mbvi.system.initial import find_start
from mbvi.system.inputs import with_inputs
from mbvi.system.system import System


def simulate(
    model: Model | System,
    scheme: str | Tableau | ButcherTableau | Method | None = None,
    step: ArrayLike | None = None,
    duration: float | str | None = None,
    *,
    formulation: str | None = None,
    initial_q: ArrayLike | None = None,
    initial_v: ArrayLike | None = None,
    previous_q: ArrayLike | None = None,
    chart: Chart | None = None,
    start_time: float = 0.0,
    project: bool | None = None,
    every: int = 1,
    progress: Callable[[int, int], Any] | None = None,
    path: str | os.PathLike[str] | None = None,
    force: bool = False,
    store: Sequence[str] | None = None,
    events: Mapping[str, Event | Callable[..., float] | str] | None = None,
    until: Event | Callable[..., float] | str | None = None,
    inputs: Mapping[Any, Any] | None = None,
    controllers: Mapping[str, Controller] | None = None,
) -> Trajectory:
    """Run a model or a system from its initial state.

    Parameters
    ----------
    model : Model or System
    scheme : str, Tableau, ButcherTableau or Method, optional
        Name of a scheme (see `mbvi.SCHEMES`), or one of your own; by default the model's, or simpson.
    step : float, str or (N,), optional
        Step size h [s], a number or an expression as "1/120"; by default the model's. For schemes that allow it, the sizes of all
        N steps, a multiple of `every`, which are then the duration too.
    duration : float or str, optional
        Length of the simulated time [s]; by default the model's. The number of steps is the smallest multiple of `every` that
        reaches it.
    formulation : str, optional
        tree or embedding, of a model; by default the model's own. See `assemble`.
    initial_q, initial_v : (n,), optional
        Initial coordinates and velocities instead of the system's own; quaternions of norm 1, but for rounding (5e-4).
    previous_q : (n,), optional
        Coordinates one step before the initial ones, which take the place of velocities: the start on Q × Q, for schemes of one
        stage.
    chart : Chart, optional
        Generalized coordinates in which the steps are solved, instead of with constraints: for schemes of one stage. See
        `mbvi.system.chart`. The motion is the same.
    start_time : float
        Time of the initial state [s].
    project : bool, optional
        Whether an initial state that violates the constraints is moved onto them, or refused; by default as the model says.
    every : int
        Number of steps per stored state; the initial state is always stored.
    progress : callable, optional
        Called as ``progress(steps_done, steps)`` several times per second.
    path : str or path, optional
        A file to which the states go while they are computed, at least once per second, instead of into memory: it can be read
        at any time, and a run that was interrupted be continued by `resume`.
    force : bool
        Whether an existing file is overwritten.
    store : sequence of str, optional
        What the file holds besides the states and energies, for readers without mbvi, in which these follow by themselves: some
        of poses, multipliers and measurements, by default all.
    events : mapping of str to Event, callable or str, optional
        What is looked for in all steps, by name: functions ``event(t, q, v)`` that pass zero, expressions as those of
        `Trajectory.evaluate`, or `mbvi.Event` of one, which may have a direction and end the run. When and where they happened
        is in the trajectory's `events`.
    until : Event, callable or str, optional
        An event that ends the run, and must come within the duration; its state is the last of the trajectory.
    inputs : mapping of str to number, str, Table, pair of arrays, or callable, optional
        Inputs of actuators, by their names, instead of the inputs that the model has: numbers, expressions of the time t,
        tables, or pairs (times, values), between which the input is smooth. `mbvi.read_inputs` reads them from files. Or
        functions of the state ``input(t, q, v)``, which numba compiles; a tuple of names has one ``inputs(t, q, v, u)``, which
        writes theirs into u.
    controllers : mapping of str to Controller, optional
        What is called between steps, at periods of their own, and tells actuators what to do, by name. What they gave is in the
        trajectory's `samples`.

    Returns
    -------
    Trajectory
        States at the N/every + 1 stored times; with `path`, as parts of the file.

    Raises
    ------
    ModelError
        If an argument or the initial state cannot be used, the scheme does not apply to the system, or the file cannot be
        written.
    StepError
        If a step does not converge; ``error.trajectory`` holds all stored states before it.
        So does one before which a controller raises an error, or gives no inputs.
    EventError
        If `until` does not come, or the function of an event has no value; with the states until then too.

    Examples
    --------
    >>> import mbvi
    >>> bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))
    >>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    >>> model = mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot})
    >>> trajectory = simulate(model, "simpson", step=0.01, duration=1.0, initial_q=[0.5])
    >>> trajectory.q.shape
    (101, 1)
    """
    system = as_run(as_system(model, formulation))
    refuse_controllers(inputs)
    over_time, functions = split_inputs(inputs)
    system = system if over_time is None else with_inputs(system, over_time)
    system = with_functions(system, functions) if functions else system
    check_progress(progress)
    if project is not None:
        check_flag(project, "project")
    check_overwriting(force)
    method = chosen_scheme(system, scheme)
    step_sizes = given_sizes(step, method, duration)
    if step_sizes is None:
        h, steps, every = clock(system, step, duration, every)
    else:
        h = float(step_sizes.mean())
        steps, every = counted_steps(len(step_sizes), every)
        if steps != len(step_sizes):
            raise ModelError(f"step: expected a multiple of every = {every} step sizes, found {len(step_sizes)}")
    path = None if path is None else check_output(path, force, storage.ENDINGS)
    if path is None and store is not None:
        raise ModelError(f"store: expected none without a file, found {store!r}; give a path, or leave it out")
    parts = storage.check_parts(store)
    check_room(steps // every + 1, steps, every, system, path, parts)
    start_time = checked_time(start_time, "start_time", system)
    check_resolution(start_time, h if step_sizes is None else step_sizes.min())
    check_functions(system, h, steps, start_time)
    note_overshoots(system)
    note_corners(system, start_time, start_time + steps * h)
    start = find_start(system, initial_q, initial_v, start_time, project)
    check_driven(system, start, start_time, h)
    check_values(system, start_time, start.q, start.v)
    q, p = start.q, start.p
    if previous_q is not None:
        p = momentum_from_positions(system, method, h, system._vector(previous_q, "previous_q"), q, start_time)
    checked = checked_controllers(controllers, system)
    watched = checked_events(events, until, system, start_time, start.q, start.v)
    check_controlled(checked, h, step_sizes, has_events=bool(watched))
    return _watched(
        Run(
            system,
            method,
            h,
            step_sizes,
            steps,
            every,
            start_time,
            q,
            start.v,
            p,
            chart=chart,
            progress=progress,
            path=path,
            store=parts,
            start=start,
            events=watched,
            controllers=checked,
        )
    )


def resume(
    path: str | os.PathLike[str],
    duration: float | str | None = None,
    *,
    system: System | None = None,
    chart: Chart | None = None,
    progress: Callable[[int, int], Any] | None = None,
    events: Mapping[str, Event | Callable[..., float] | str] | None = None,
    until: Event | Callable[..., float] | str | None = None,
    controllers: Mapping[str, Controller] | None = None,
    inputs: Mapping[Any, Callable[..., Any]] | None = None,
) -> Trajectory:
    """Continue a run whose file `simulate` wrote, as if it had never stopped: all later states are the same.

    They are so bit for bit between processes that find the kernels on the disk; in one that compiled them, last bits may differ.

    Parameters
    ----------
    path : str or path
        The file, to which the states are added.
    duration : float or str, optional
        Length of the simulated time from the start of the run [s]; by default what the run was to reach. None where the sizes
        of all steps were given.
    system : System, optional
        The system, if the file cannot hold it: one of symbols or functions, or with a force of your own.
    chart : Chart, optional
        The chart, if the run had one.
    progress : callable, optional
        Called as ``progress(steps_done, steps)`` several times per second.
    events, until : optional
        The events of the run, whose functions its file cannot hold.
    controllers : optional
        The controllers of the run, which are given the states that they had.
    inputs : optional
        The inputs of the run that are functions of the state; all others are in the file.

    Returns
    -------
    Trajectory
        All states, from the start, as parts of the file.

    Raises
    ------
    ModelError
        If the file is none of a run that can go on, another process or version of mbvi wrote it, or the run is at its end.
    StepError
        If a step does not converge; ``error.trajectory`` holds all stored states before it.

    Examples
    --------
    >>> import mbvi, tempfile
    >>> bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))
    >>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    >>> model = mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot})
    >>> whole = mbvi.simulate(model, step=0.01, duration=2.0, initial_q=[0.5])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     half = mbvi.simulate(model, step=0.01, duration=1.0, initial_q=[0.5], path=folder + "/a.h5")
    ...     bool((resume(folder + "/a.h5", duration=2.0).q == whole.q).all())
    True
    """
    check_progress(progress)
    path = checked_path(path)
    if system is not None:
        check_kind(system, System, "system", "make one by assemble")
    header, columns = storage.read(path, system)
    system, h, every = header.system, header.step, header.every
    if isinstance(system, storage.Nameplate):
        raise ModelError(f"{path}: {wrong('a system', repr(system), 'build it, and pass it: system=system')}")
    if not storage.holds(system):
        check_same_system(system, header, columns, path)
    system = resumed_inputs(as_run(system), inputs, header, path)
    check_same_chart(chart, header, path)
    first = columns["q"][0].copy(), columns["v"][0].copy(), columns["p"][0].copy()
    looked_for = checked_events(events, until, system, header.start_time, *first[:2])
    check_same_events(looked_for, header, path)
    checked = checked_controllers(controllers, system)
    check_same_controllers(checked, header, path)
    steps = header.steps
    if duration is not None:
        if header.step_sizes is not None:
            found = f"{duration!r}; leave it out, or {storage.RESTART}"
            raise ModelError(f"duration: expected none where the sizes of all steps were given, found {found}")
        steps, _ = counted_steps(positive_time(duration, "duration", system) / h, every)
        check_functions(system, h, steps, header.start_time)
        note_corners(system, float(columns["t"][-1]), header.start_time + steps * h)
    check_room(steps // every + 1, steps, every, system, path, storage.parts(columns))
    storage.prepare(path, system, steps)
    clock = h, header.step_sizes, steps, every, header.start_time
    store = storage.parts(columns) + ((stored_measurements.GROUP,) if header.measured else ())
    return _watched(
        Run(
            system,
            header.scheme,
            *clock,
            *first,
            chart,
            progress,
            path,
            is_resumed=True,
            store=store,
            events=looked_for,
            controllers=checked,
        )
    )


def _stepper(run: Run) -> Stepper:
    """What does the steps of a run, with all that happens between them."""
    if run.events:
        return stepper_with_events(run)
    return ControlWatch(run, stepper_of).stepper if run.controllers else stepper_of(run)


def _watched(run: Run) -> Trajectory:
    """Run, and warn of what makes the result doubtful."""
    run = replace(run, system=controlled_system(run.system, run))
    try:
        trajectory = advance(run, _stepper(run))
    except StepError as error:
        try:
            _warn(error.trajectory)
        finally:
            raise error  # also where warnings are errors
    _warn(trajectory)
    return trajectory


def _warn(trajectory: Trajectory) -> None:
    for finding in trajectory.findings:
        warnings.warn(f"{trajectory.system.name}: {finding.text}", AccuracyWarning, stacklevel=stack_level())
    for excess in exceeded_limits(trajectory):
        warnings.warn(f"{trajectory.system.name}: {excess}", LimitWarning, stacklevel=stack_level())
