"""Advance a system: check, allocate, run the kernel in pieces, report progress, turn a status into an error."""

from __future__ import annotations

import math
import os
import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbvi import storage
from mbvi.analysis.noether import discrete_momenta
from mbvi.errors import KEPT, AccuracyWarning, ModelError, ModelWarning, StepError, stack_level
from mbvi.kernels import functions, galerkin, layout, workspace
from mbvi.kernels.lagrangian import make_work
from mbvi.model.arguments import check_flag, check_kind, check_progress, checked_path, is_number
from mbvi.model.constraints import FARTHEST
from mbvi.model.corners import corners_of_motions
from mbvi.model.elements import MAX_STEPS, Model, count_steps
from mbvi.model.expressions import evaluate, infix, wrong
from mbvi.model.poles import first_gap, first_pole, programs
from mbvi.model.tables import overshoots
from mbvi.model.units import check_unit
from mbvi.schemes.catalog import SCHEMES, find_scheme
from mbvi.schemes.method import Method
from mbvi.schemes.runge_kutta import ButcherTableau
from mbvi.schemes.tableau import Tableau
from mbvi.steppers import RUNNERS, independent
from mbvi.steppers.audit import Audit
from mbvi.steppers.branches import BranchWatch
from mbvi.steppers.carried import Carried, carried
from mbvi.steppers.chart import run as run_in_chart
from mbvi.steppers.loop import AHEAD, REASONS, advance_pieces
from mbvi.steppers.parts import Steps, comes_near_singular, start_velocity
from mbvi.steppers.run import Run
from mbvi.system.assemble import assemble
from mbvi.system.causes import almost_no_inertia, force_without_value
from mbvi.system.chart import Chart
from mbvi.system.euler_angles import joints_in_gimbal_lock
from mbvi.system.initial import Start, find_start, is_nearly_singular, weightless_near
from mbvi.system.projection import CONSTRAINT_TOLERANCE, project_position
from mbvi.system.scheme import scheme_arrays
from mbvi.system.system import System
from mbvi.trajectory import Trajectory, derived, known_invariants

LONG_CHAIN = 20  # bodies from which another formulation is proposed where steps fail
MAX_STORED_BYTES = 8e9
MOST_SAMPLES = 10_000
MOST_NAMES = 4
SAME = 1e-6  # relative difference of energies up to which a given system is that of a file
LONGEST = 1e20  # step [s]: its square, and products with it, are far from an overflow
RESOLVED = 100  # parts of a step that times at the start are to tell apart
EXAMPLES = {"step": 0.01, "steps": 0.01, "duration": 10, "start_time": 0}  # [s]


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
        Store every so-manyth state (and the initial one).
    progress : callable, optional
        Called as ``progress(steps_done, steps)`` several times per second.
    path : str or path, optional
        A file to which the states go while they are computed, at least once per second, instead of into memory: it can be read
        at any time, and a run that was interrupted be continued by `resume`.
    force : bool
        Whether an existing file is overwritten.
    store : sequence of str, optional
        What the file holds besides the states and energies, for readers without mbvi, in which these follow by themselves: some
        of poses and multipliers, by default both.

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
    system = as_system(model, formulation).with_own_counts()
    check_progress(progress)
    if project is not None:
        check_flag(project, "project")
    method = chosen_scheme(system, scheme)
    step_sizes = _given_sizes(step, method, duration)
    if step_sizes is None:
        h, steps, every = clock(system, step, duration, every)
    else:
        h = float(step_sizes.mean())
        steps, every = _counted_steps(len(step_sizes), every)
        if steps != len(step_sizes):
            raise ModelError(f"step: expected a multiple of every = {every} step sizes, found {len(step_sizes)}")
    path = None if path is None else storage.check_output(path, force, storage.ENDINGS)
    if path is None and store is not None:
        raise ModelError(f"store: expected none without a file, found {store!r}; give a path, or leave it out")
    parts = storage.check_parts(store)
    check_room(steps // every + 1, steps, every, system, path, parts)
    start_time = checked_time(start_time, "start_time", system)
    _check_resolution(start_time, h if step_sizes is None else step_sizes.min())
    check_functions(system, h, steps, start_time)
    note_overshoots(system)
    note_corners(system, start_time, start_time + steps * h)
    start = find_start(system, initial_q, initial_v, start_time, project)
    check_driven(system, start, start_time, h)
    q, p = start.q, start.p
    if previous_q is not None:
        p = momentum_from_positions(system, method, h, system._vector(previous_q, "previous_q"), q, start_time)
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
        )
    )


def resume(
    path: str | os.PathLike[str],
    duration: float | str | None = None,
    *,
    system: System | None = None,
    chart: Chart | None = None,
    progress: Callable[[int, int], Any] | None = None,
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
        _check_system(system, header, columns, path)
    system = system.with_own_counts()
    _check_chart(chart, header, path)
    steps = header.steps
    if duration is not None:
        if header.step_sizes is not None:
            found = f"{duration!r}; leave it out, or {storage.RESTART}"
            raise ModelError(f"duration: expected none where the sizes of all steps were given, found {found}")
        steps, _ = _counted_steps(_positive(duration, "duration", system) / h, every)
        check_functions(system, h, steps, header.start_time)
        note_corners(system, float(columns["t"][-1]), header.start_time + steps * h)
    check_room(steps // every + 1, steps, every, system, path, storage.parts(columns))
    first = columns["q"][0].copy(), columns["v"][0].copy(), columns["p"][0].copy()
    storage.prepare(path, system, steps)
    clock = h, header.step_sizes, steps, every, header.start_time
    store = storage.parts(columns)
    return _watched(Run(system, header.scheme, *clock, *first, chart, progress, path, is_resumed=True, store=store))


def _check_system(system: System, header: storage.Header, columns: Mapping[str, np.ndarray], path: Path) -> None:
    """A run goes on with the system with which it began, of which a given one has the energies and the momenta."""
    last = {key: values[-1:] for key, values in columns.items()}
    found = derived(system, known_invariants(system), last["t"], last["q"], last["p"])
    one = np.ravel([found.kinetic_energy, found.potential_energy])
    other = np.ravel([last["kinetic_energy"], last["potential_energy"]])
    if not np.allclose(one, other, rtol=0, atol=SAME * np.abs(other).max(), equal_nan=True):
        expected = f"the energies of the run's system at t = {last['t'][0]:.6g} s"
        raise ModelError(f"{path}: system: {wrong(expected, f'others of {system.name!r}', 'pass the same system')}")
    names = header.labels.get("momentum", ())
    if found.momentum_names != names:
        expected, conserved = (", ".join(each) or "none" for each in (names, found.momentum_names))
        raise ModelError(
            f"{path}: system: {wrong(f'the conserved momenta {expected}', conserved, 'pass the same system')}"
        )


def _check_chart(chart: Chart | None, header: storage.Header, path: Path) -> None:
    """A run goes on in the chart in which it began, which its file cannot hold."""
    if chart is not None:
        check_kind(chart, Chart, "chart", "make one by joint_chart or sympy_chart")
    names = chart.coordinate_names if chart else ()
    if names != header.chart:
        expected, found = (f"that of {', '.join(each)}" if each else "none" for each in (header.chart, names))
        remedy = "build it, and pass it: mbvi.resume(path, chart=chart)" if not names else ""
        raise ModelError(f"{path}: chart: {wrong(expected, found, remedy)}")


def note_overshoots(system: System) -> None:
    """Warn of splines through tables that leave the values that these have."""
    for text in overshoots(system.model.resolved()) if system.model is not None else ():
        warnings.warn(text, ModelWarning, stacklevel=stack_level())


def note_corners(system: System, start: float, end: float) -> None:
    """Warn of prescribed motions whose rates jump within a run."""
    for text in corners_of_motions(system.model.resolved(), start, end) if system.model is not None else ():
        warnings.warn(text, ModelWarning, stacklevel=stack_level())


def as_system(model: Model | System, formulation: str | None = None) -> System:
    """The system of a model in a formulation, or a system itself, which has one."""
    if not isinstance(model, System):
        return assemble(model, formulation)
    if formulation is not None:
        raise ModelError(f"formulation: expected none of a System, which has one, found {formulation!r}")
    return model


def check_functions(system: System, h: float = 0.0, steps: int = 0, start_time: float = 0.0) -> None:
    """Refuse functions of time with a pole within a run or without a value in a part of it, and in constraints those that are not
    finite or too large, or lengths not greater than 0, at some time of it.

    Parameters
    ----------
    system : System
    h : float
        Step size [s].
    steps : int
        Their number; with 0 only the start is looked at, of many about MOST_SAMPLES times.
    start_time : float
        Time of the initial state [s].

    Raises
    ------
    ModelError
        Naming the force or constraint, and the first such time.
    """
    if system.model is None:
        return
    times = np.linspace(start_time, start_time + steps * h, min(steps, MOST_SAMPLES) + 1)
    arrays, stack = system.arrays, np.zeros((functions.STACK_SIZE, 3))
    of = arrays.time_functions, arrays.operations, arrays.numbers, stack
    for i in system.driven_rows:
        row, name = arrays.constraints[i], system.constraint_names[i]
        least, expected = -math.inf, "finite values"
        if row[layout.CONSTRAINT_KIND] == layout.DISTANCE:
            least, expected = 0.0, "a length greater than 0"
        for t in times:
            value, rate, _ = functions.function_of(*of, row[layout.FUNCTION], t)
            if math.isfinite(rate) and least < value <= FARTHEST and -value <= FARTHEST:
                continue
            is_far = FARTHEST < abs(value) < math.inf
            expected = f"values of size at most {FARTHEST:g}" if is_far else expected
            found = f"the rate {rate:.6g}" if least < value < math.inf and not is_far else f"{value:.6g}"
            raise ModelError(
                f"constraints.{name}: expected {expected} all the time, found {found} at t = {t:.6g} s; end the run before, "
                "or change the function"
            )
    if steps:
        _check_poles(system.model.resolved(), start_time, start_time + steps * h)


def _check_poles(model: Model, start: float, end: float) -> None:
    """Refuse functions of time that grow without bound within a run, or have no value in a part of it."""
    for section, elements in (("forces", model.forces), ("constraints", model.constraints)):
        for name, element in elements.items():
            for program in programs(element):
                pole, gap = (find(program, start, end) for find in (first_pole, first_gap))
                if pole is not None or gap is not None:
                    what, t = ("a pole", pole) if pole is not None else ("no value", gap)
                    found = f"{what} of {infix(program)} at t = {t:.6g} s"
                    remedy = "end the run before, or change the function"
                    raise ModelError(f"{section}.{name}: {wrong('finite values all the time', found, remedy)}")


def check_driven(system: System, start: Start, t: float, h: float) -> None:
    """Refuse prescribed motions that no position satisfies at the end of the first step, of size h from the start at time t."""
    driven = _driven(system)
    if driven and not _is_in_reach(system, start.q + h * start.v, t + h):
        raise ModelError(
            f"constraints.{driven[0]}: expected motions that the mechanism can follow, found no position for t = {t + h:.6g} s, "
            f"where the first step ends; those prescribed by {', '.join(driven)} contradict each other, or leave the reach, or "
            "the step is too large"
        )


def momentum_from_positions(
    system: System, scheme: Tableau | Method, h: float, before: np.ndarray, q: np.ndarray, t: float
) -> np.ndarray:
    """The discrete momentum D_2 L_d(before, q) (n,) of a scheme of one stage, at time t, the second position's.

    Source: Wendlandt & Marsden 1997, sections 5 and 6.
    """
    if isinstance(scheme, Method) or scheme.stages != 1 or len(scheme.fractions) != 1:
        raise ModelError(f"previous_q: expected a scheme of one stage, as midpoint or shake, found {scheme.name!r}")
    violation = np.abs(system.constraint(before, t - h)).max(initial=0.0)
    if violation > CONSTRAINT_TOLERANCE:
        raise ModelError(f"previous_q: expected a position on the constraints, found |g| = {violation:.3g}")
    return discrete_momenta(system, scheme, h, before, q, t - h)[1]


def chosen_scheme(system: System, scheme: str | Tableau | ButcherTableau | Method | None) -> Tableau | Method:
    """The scheme of that name; by default the model's, or simpson. Without constraints independent4 is gauss4."""
    return independent.applicable(system, find_scheme(_default(scheme, system, "scheme", "simpson")))


def clock(system: System, step: Any, duration: Any, every: Any) -> tuple[float, int, int]:
    """Step size [s], number of steps and `every`, checked; by default those of the model."""
    h = _positive(_default(step, system, "step", None), "step", system)
    if h > LONGEST:
        raise ModelError(f"step: expected at most {LONGEST:g} s, found {h:g}")
    return h, *_counted_steps(chosen_duration(system, duration) / h, every)


def chosen_duration(system: System, duration: Any) -> float:
    """The simulated time [s], checked; by default the model's."""
    return _positive(_default(duration, system, "duration", None), "duration", system)


def _default(value: Any, system: System, key: str, otherwise: Any) -> Any:
    if value is not None:
        return value
    if system.model is not None:
        return getattr(system.model.resolved().simulation, key)
    if otherwise is None:
        raise ModelError(f"{key}: expected a number of seconds, found nothing; a system without a model has no default")
    return otherwise


def checked_time(value: Any, what: str, system: System, expected: str = "a number of seconds") -> float:
    """A finite number, or the value of an expression, which may use the model's parameters."""
    number = value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if isinstance(value, str):
        parameters = {} if system.model is None else system.model.resolved().parameters
        try:
            number = evaluate(value, parameters)  # type: ignore[arg-type]
            check_unit(value, {}, "s")
        except ModelError as error:
            raise ModelError(f"{what}: {error}") from None
    if not is_number(number):
        raise ModelError(f"{what}: expected {expected}, found {value!r:.60}; write for example {EXAMPLES[what]} [s]")
    return float(number)


def _positive(value: Any, what: str, system: System) -> float:
    expected = "a time greater than 0"
    number = checked_time(value, what, system, expected)
    if number <= 0:
        raise ModelError(f"{what}: expected {expected}, found {value!r}; write for example {EXAMPLES[what]} [s]")
    return number


def _check_resolution(start_time: float, h: float) -> None:
    """Refuse a start so late that times, of 53 binary digits, hardly tell steps of size h apart."""
    apart = float(np.spacing(abs(start_time)))
    if h < RESOLVED * apart:
        raise ModelError(
            f"start_time: expected one near which times differ by far less than steps of {h:g} s, found {start_time:g}, where "
            f"they differ by {apart:.2g} s; start nearer to 0, or take steps of at least {RESOLVED * apart:.2g} s"
        )


def _given_sizes(step: Any, method: Tableau | Method, duration: Any) -> np.ndarray | None:
    """The sizes of all steps, checked; None where the step is one number."""
    if step is None or isinstance(step, str | int | float | np.number) or getattr(step, "ndim", 1) == 0:
        return None
    if not (isinstance(method, Method) and method.is_variable):
        allowed = ", ".join(name for name, each in SCHEMES.items() if isinstance(each, Method) and each.is_variable)
        raise ModelError(
            f"step: expected one number of seconds with scheme {method.name}, found {type(step).__name__}; steps that change are "
            f"for {allowed}"
        )
    try:
        sizes = np.array(step, dtype=float)
    except (TypeError, ValueError, OverflowError):
        sizes = np.zeros(1)
    if sizes.ndim != 1 or not sizes.size or not (np.isfinite(sizes).all() and (sizes > 0).all()):
        raise ModelError(f"step: expected numbers of seconds greater than 0, one for each step, found {step!r}")
    if duration is not None:
        raise ModelError(
            f"duration: expected none where the sizes of all steps are given, found {duration!r}; leave it out"
        )
    return sizes


def _counted_steps(ratio: float, every: Any) -> tuple[int, int]:
    """The number of steps, the smallest multiple of `every` that reaches the duration; and `every`, checked."""
    if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
        raise ModelError(f"every: expected a whole number of at least 1, found {every!r}")
    if not ratio < MAX_STEPS:
        raise ModelError(f"step: expected at most {MAX_STEPS:.0e} steps, found {ratio:.0e}; choose a larger step")
    every = int(every)
    steps = count_steps(ratio)
    if every > steps:
        raise ModelError(f"every: expected at most the number of steps, {steps}, found {every}")
    return -(-steps // every) * every, every


def check_room(rows: int, steps: int, every: int, system: System, path: Path | None, store: Sequence[str] = ()) -> None:
    """Refuse so many states of a system as do not fit into memory or, with a path, on its disk."""
    n = system.dimension
    if path is None:
        what, room, needed = "a trajectory", MAX_STORED_BYTES, 16.0 * n * rows
    else:
        what, room = "a file", shutil.disk_usage(path.resolve().parent).free
        needed = float(storage.row_bytes(system, store)) * rows
    if needed > room:
        coordinates = f"{n} coordinate{'' if n == 1 else 's'}"
        raise ModelError(
            f"every: expected {what} of at most {room / 1e9:.3g} GB, found {steps} steps of {coordinates} "
            f"({needed / 1e9:.3g} GB); store every {math.ceil(every * needed / max(room, 1))}th state"
        )


def _watched(run: Run) -> Trajectory:
    """Run, and warn of what makes the result doubtful."""
    try:
        trajectory = _run(run)
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


def _run(run: Run) -> Trajectory:
    if run.chart is not None:
        return run_in_chart(run)
    if isinstance(run.method, Method):
        return RUNNERS[run.method.runner](run)
    return _run_galerkin(run, run.method)


def _run_galerkin(run: Run, tableau: Tableau) -> Trajectory:
    system, scheme = run.system, scheme_arrays(tableau)
    space, work = galerkin.make_space(system.arrays, scheme), make_work(system.arrays)
    space.q[:], space.p[:] = run.q, run.p
    steps = Steps(run, scheme, work, space)
    columns = [workspace.ITERATIONS, workspace.WORST, workspace.SIMPLIFIED_FACTORS, workspace.NEWTON_FACTORS]
    audit = Audit(run)
    watch = BranchWatch(run, tableau, [space.memory, work.memory], audit.look)

    def piece(first: int, last: int, *out: np.ndarray) -> tuple[int, int]:
        return watch.advance(steps.advance, first, last, *out)

    def failure(step: int, status: int) -> str:
        return watch.message(step) or step_message(run, tableau, space, status, step)

    state = [*carried(space, work), *map(Carried, watch.state)]
    return advance_pieces(run, piece, state, lambda: space.count[columns], failure, audit)


def step_message(run: Run, tableau: Tableau, space: workspace.Space, status: int, step: int) -> str:
    """Why a step of a Galerkin scheme failed, and what to do."""
    system, h = run.system, run.step
    t = run.start_time + h * step
    residual = space.measure[workspace.RESIDUAL]
    size = space.measure[workspace.MOMENTUM_SIZE]
    worst = int(np.argmax(np.abs(np.nan_to_num(space.delta[: tableau.stages * system.dimension])))) // tableau.stages
    name = system.coordinate_names[worst]
    head = f"step {step} (t = {t:.6g} s): {REASONS[status]}"
    rest = np.zeros(system.dimension)
    if not all(np.isfinite(system.gradient(space.q, rest, at)[1]).all() for at in t + h * AHEAD):
        found, remedy = force_without_value(system, space.q, t + h * AHEAD)
        return f"{head}: a force is not a finite number there, or within the step{found}. {KEPT} {remedy}"
    driven = ", ".join(_driven(system))
    if driven and not _is_in_reach(system, space.q, t + h):
        return (
            f"{head}: no position near satisfies the constraints at t = {t + h:.6g} s; the motions prescribed by {driven} leave "
            f"the reach of the mechanism, or contradict each other. {KEPT} Prescribe smaller motions, or change lengths."
        )
    if locked := joints_in_gimbal_lock(system, space.q):
        remedy = f"Write coordinates: quaternion in joints.{locked[0]}, or start beside it."
        return f"{head}: the Euler angles of {_listed(locked)} are in gimbal lock. {KEPT} {remedy}"
    if comes_near_singular(system, space, t, h):
        return f"{head}: {_singular_loops(system, space.q, t, driven, step)}"
    if light := weightless_near(system, (run.q, run.start_time), space.q, h * start_velocity(system, space, t), t):
        cause, remedy = almost_no_inertia(system, light)
        return (
            f"{head}: near a position in which {_listed(light)} can move almost without inertia{cause}. {KEPT} {remedy}"
        )
    if status == layout.SINGULAR and np.any(system.arrays.reference > 0):
        return f"{head}, largest at {name}. {KEPT} Look in the loops for a body without inertia, and give it some."
    return (
        f"{head}: residual {residual:.2g} where round-off is {workspace.EPS * size:.2g}, after "
        f"{int(space.count[workspace.LAST])} iterations, largest at {name}. {KEPT} "
        f"A smaller step may help: try step={h / 2:.3g}{_other_remedies(system, tableau)}."
    )


def _singular_loops(system: System, q: np.ndarray, t: float, driven: str, step: int) -> str:
    """That loops are near a singular configuration at q, where a step starts, or within that step, and what to do."""
    if names := system.mobility.first_order:
        return (
            "the loops are in a singular configuration there and wherever they can go, since the constraints of "
            f"{_listed([*names])} fit to first order alone. {KEPT} No step passes that; let one of them hold less, as a "
            "point_on_line instead of a revolute joint."
        )
    if step == 0 and is_nearly_singular(system, q, t):
        return (
            f"the loops start in a singular configuration, in which more motions are possible than nearby. {KEPT} Start a little "
            "beside it, by initial coordinates with which bars are not in line."
        )
    limit = f" It may be the end of the reach, which the motions prescribed by {driven} leave." if driven else ""
    return (
        "the loops are near a singular configuration there, or come near it within the step, in which constraints are lost for "
        f"a moment.{limit} {KEPT} Another step may pass it."
    )


def _listed(names: list[str]) -> str:
    """The first few of some names."""
    return ", ".join(names[:MOST_NAMES]) + (f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else "")


def _driven(system: System) -> list[str]:
    """The constraints that prescribe motions as functions of time."""
    return list(dict.fromkeys(system.constraint_names[i].rsplit(".", 1)[0] for i in system.driven_rows))


def _is_in_reach(system: System, q: np.ndarray, t: float) -> bool:
    """Whether a position on the constraints is found from q."""
    try:
        project_position(system, q, t)
    except ModelError:
        return False
    return True


def _other_remedies(system: System, tableau: Tableau) -> str:
    """What else may help a long chain in the coordinates of its joints.

    There the momentum N of all that hangs on a joint cancels in the equation of the spin of its link, of inertia I, to (h ω)² N:
    of order 2, a step has a solution up to about h² N ω = 2.5 I alone.
    """
    if system.model is None or system.model.formulation != "tree" or len(system.model.bodies) < LONG_CHAIN:
        return ""
    return ", or formulation: embedding" + (", or scheme: simpson" if tableau.order == 2 else "")
