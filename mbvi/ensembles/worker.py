"""Members run one after another by a worker, who has a thread of its own.

Threads take turns in Python, and run at once in kernels alone. So a worker takes several members, and where they share a system
without constraints and nothing is measured, it finds their starts together, and does some thousands of their steps in one call.
"""

from __future__ import annotations

import faulthandler
import itertools
import math
import multiprocessing
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import numpy as np

from mbvi.ensembles.plan import Plan
from mbvi.ensembles.store import DONE, FAILED, REFUSED, Result, Variable
from mbvi.errors import ModelError, StepError
from mbvi.kernels import layout
from mbvi.kernels.galerkin import steps as galerkin
from mbvi.kernels.galerkin import workspace
from mbvi.kernels.galerkin.workspace import make_space
from mbvi.kernels.mechanics.lagrangian import make_work
from mbvi.model.expressions import wrong
from mbvi.results.trajectory import Statistics, Trajectory
from mbvi.run_arguments import check_driven
from mbvi.schemes.method import Method
from mbvi.schemes.tableau import Tableau
from mbvi.steppers import stepper_of
from mbvi.steppers.audit import Audit, are_doubtful
from mbvi.steppers.branches import BranchWatch
from mbvi.steppers.galerkin import step_message
from mbvi.steppers.loop import advance
from mbvi.steppers.parts import Steps
from mbvi.steppers.run import Run
from mbvi.system.copies import is_like, share_work
from mbvi.system.initial import Start, find_start
from mbvi.system.parameters import Cases
from mbvi.system.scheme import scheme_arrays
from mbvi.system.system import System

Array = np.ndarray
Measures = Mapping[str, Callable[[Trajectory], float]]
COUNTED = [workspace.ITERATIONS, workspace.WORST, workspace.SIMPLIFIED_FACTORS, workspace.NEWTON_FACTORS]
PIECE_STEPS = 4096  # between looks at whether to stop,
FEW_STEPS = 64  # or at the clock
PIECE_STATES = 1 << 17  # that members leave behind who are run together
WORTH_A_MAP = 32  # values of parameters that take as long to be assembled as a map of them to be written down
GRACE = 2.0  # seconds that a member is over its time before what hangs ends its process
OF_VELOCITIES = {"v", "energy"}
TIME_REMEDY = "give it more time, or longer steps"


class StoppedError(Exception):
    """What a worker is doing is not wanted any more."""


class OverdueError(Exception):
    """A member takes longer than its time limit: the steps that it has done."""


def is_expendable() -> bool:
    """Whether this process was begun by another to run members one after another, and may end with one that hangs."""
    worker = worker_of_dask()
    is_main = threading.current_thread() is threading.main_thread()
    return multiprocessing.parent_process() is not None and (is_main if worker is None else worker.state.nthreads == 1)


def worker_of_dask() -> Any:
    """The worker of dask that runs this, if one does."""
    distributed = sys.modules.get("distributed")
    with suppress(ValueError):
        return None if distributed is None else distributed.get_worker()
    return None


def compile_kernels(plan: Plan, stored: Sequence[str]) -> None:
    """Run a step of the first member, and find of it what is stored: here an interruption ends what compiles, in a thread not."""
    system = plan.starting(plan.system(0)[0], 0)
    with suppress(ModelError):  # which refuses this member alone
        run = _run(plan, system, find_start(system), 1, 1)
        if system.has_contacts:
            with suppress(StepError):
                advance(run, stepper_of(run))
        elif isinstance(plan.method, Tableau):  # others `check_scheme` ran
            _Galerkin(system, plan.method).run(run)
        stored_values(system, np.zeros(1), run.q[None], run.p[None], stored)


def check_scheme(plan: Plan) -> None:
    """Refuse a method that does not apply to the extremes of a plan, by a step of each.

    Raises
    ------
    ModelError
        Naming the member, unless it applies to none of them.
    """
    if not isinstance(plan.method, Method):
        return
    suited, refused = 0, []
    for member in plan.extremes:
        system = plan.starting(plan.system(member)[0], member)
        try:
            start = find_start(system)
        except ModelError:  # which refuses this member alone
            continue
        try:
            with suppress(StepError):
                one = _run(plan, system, start, 1, 1)
                advance(one, stepper_of(one))
            suited += 1
        except ModelError as error:
            refused.append((member, error))
    if not refused:
        return
    member, reason = refused[0]
    if not suited:
        raise reason
    with plan.members.named(member):
        raise reason


def _run(
    plan: Plan, system: System, start: Start, steps: int, every: int, progress: Callable[[int, int], Any] | None = None
) -> Run:
    """A run of a member's system from its start."""
    state = start.q, start.v, start.p
    return Run(system, plan.method, plan.step, None, steps, every, 0.0, *state, progress=progress, start=start)


class Worker:
    """Runs members, one after another. Those of the same parameters share a system.

    Parameters
    ----------
    plan : Plan
    variables : mapping of str to Variable
        What every member leaves behind.
    measures : mapping of str to callable
        The variables that are functions of the trajectory, with these functions.
    time_limit : float or None
        The time after which a member is given up [s].
    stopped : Event
        Set when what runs is not wanted any more.
    """

    def __init__(
        self,
        plan: Plan,
        variables: Mapping[str, Variable],
        measures: Measures,
        time_limit: float | None,
        stopped: threading.Event,
    ) -> None:
        self._plan, self._measures, self._stopped = plan, measures, stopped
        self._time_limit, self._deadline = time_limit, math.inf
        self._most_steps = PIECE_STEPS if time_limit is None else FEW_STEPS
        self._shapes = {name: each.shape for name, each in variables.items()}
        self._stored = [name for name in variables if name not in measures]
        self._parameters: dict[str, float] | None = None
        self._system = plan.first
        self._is_filled = False  # whether the system's tables were filled by the map
        self._count = 0  # of values of parameters
        self._own: list[tuple[Array, Array]] = []
        self._galerkin: _Galerkin | None = None

    def run(self, numbers: Array, values: Array) -> Iterator[Result]:
        """Run members with these numbers (k,) and values (k, names), those of the same parameters one after another.

        Raises
        ------
        StoppedError
            Once `stopped` is set.
        """
        self._plan = replace(self._plan, members=self._plan.members.others(numbers, values))
        groups = [list(same) for _, same in itertools.groupby(range(len(numbers)), self._plan.parameters)]
        outputs = self._mapped([members[0] for members in groups])
        for result in itertools.chain(self._run_cases(groups, outputs), self._run_groups(groups, outputs)):
            yield result._replace(member=int(numbers[result.member]))

    def _mapped(self, members: Sequence[int]) -> list[Array | None]:
        """What the tables of members have; None of those that have to be assembled."""
        plan = self._plan
        self._count += len(members)
        if self._count < WORTH_A_MAP or plan.map is None:
            return [None] * len(members)
        columns = [list(plan.members.given).index(name) for name in plan.map.names]
        outputs, is_like_first = plan.map.outputs(plan.members.values[np.ix_(members, columns)])
        return [each if is_like_it else None for each, is_like_it in zip(outputs, is_like_first, strict=True)]

    def _run_cases(self, groups: list[list[int]], outputs: Sequence[Array | None]) -> Iterator[Result]:
        """Run members that are alone in their group, of parameters of their own, together; they leave their group."""
        plan, first = self._plan, self._plan.first
        alone = {i: each for i, each in enumerate(outputs) if len(groups[i]) == 1 and each is not None}
        is_fit = self._runs_together() and first.unforced is first and not first.constraint_count
        known = plan.map if alone and is_fit else None
        if known is None or known.changes_functions:
            return
        size, order = max(1, PIECE_STATES // plan.rows), list(alone)
        for part in (order[begin : begin + size] for begin in range(0, len(order), size)):
            system = known.cases(np.stack([alone[i] for i in part]))
            self._go_on(system)
            found = self._run_together(system, [groups[i][0] for i in part])
            yield from found.values()
            for i in part:
                groups[i] = [member for member in groups[i] if member not in found]

    def _run_groups(self, groups: Sequence[list[int]], outputs: Sequence[Array | None]) -> Iterator[Result]:
        """Run the members of all groups."""
        for members, of_tables in zip(groups, outputs, strict=True):
            if members:
                yield from self._run_same(members, of_tables)

    def _run_same(self, members: Sequence[int], outputs: Array | None) -> Iterator[Result]:
        """Run members of the same parameters, each in its turn but those that were run together."""
        self._look()
        try:
            self._take_system(members[0], outputs)
        except ModelError as error:
            for member in members:
                yield self._refused(member, error)
            return
        size = max(1, PIECE_STEPS // self._plan.steps) if self._runs_together() else 1
        for first in range(0, len(members), size):
            part = members[first : first + size]
            self._look()
            found = self._run_together(self._system, part) if self._runs_together() else {}
            yield from found.values()
            for member in part:
                if member not in found:
                    self._look()
                    yield self._run(member)

    def _runs_together(self) -> bool:
        """Whether members may be run in one call: a measure sees the system of its member, and a time limit is of one member."""
        plan = self._plan
        return (
            plan.steps <= PIECE_STEPS
            and self._time_limit is None
            and not self._measures
            and not self._system.has_contacts
        )

    def _run_together(self, system: System, members: Sequence[int]) -> dict[int, Result]:
        """Run members of one system in one call, or of the cases of one; those that need more than that are left out."""
        plan = self._plan
        start = None if isinstance(plan.method, Method) else plan.starts(system, members)
        if start is None or isinstance(plan.method, Method):
            return {}
        q, p, status = self._stepper(system, plan.method).run_all(system, plan, *start, self._look)
        is_done = status == layout.OK
        system, members, q, p = _chosen(is_done, system, members, q, p)
        is_done = ~are_doubtful(system, plan.times, q, p, plan.step, plan.every)
        system, members, q, p = _chosen(is_done, system, members, q, p)
        states = q.reshape(-1, system.dimension), p.reshape(-1, system.dimension)
        try:
            rows = stored_values(system, np.tile(plan.times, len(members)), *states, self._stored)
        except ModelError:
            return {}
        each = {name: values.reshape(-1, *self._shapes[name]) for name, values in rows.items()}
        return {
            member: Result(member, DONE, plan.steps, "", {name: values[i] for name, values in each.items()})
            for i, member in enumerate(members)
        }

    def _refused(self, member: int, error: ModelError) -> Result:
        return Result(member, REFUSED, 0, str(error), self._values(None))

    def _run(self, member: int) -> Result:
        """Run a member."""
        try:
            with self._timed():
                return self._run_timed(member)
        except OverdueError as error:
            reason = wrong(f"at most {self._time_limit:g} s for a member", "one that takes longer", TIME_REMEDY)
            return Result(member, FAILED, error.args[0], f"time_limit: {reason}", self._values(None))

    @contextmanager
    def _timed(self) -> Iterator[None]:
        """Within the time limit of a member. A function that hangs ends the process, where that is there for members alone."""
        limit = self._time_limit
        if limit is None:
            yield
            return
        self._deadline, may_end = time.monotonic() + limit, is_expendable()
        if may_end:
            faulthandler.dump_traceback_later(GRACE + 2 * limit, exit=True)
        try:
            yield
        finally:
            self._deadline = math.inf
            if may_end:
                faulthandler.cancel_dump_traceback_later()

    def _run_timed(self, member: int) -> Result:
        """Run a member, whatever time it takes."""
        plan = self._plan
        try:
            renew(self._own)
            system = plan.starting(self._system, member)
            start = find_start(system)
            check_driven(system, start, 0.0, plan.step)
            run = _run(plan, system, start, plan.steps, plan.every, self._look)
            trajectory, failure = self._advanced(run)
        except ModelError as error:
            return self._refused(member, error)
        with plan.members.named(member):
            values = self._values(trajectory, is_done=not failure)
        reason = failure or "; ".join(finding.text for finding in trajectory.findings)
        return Result(member, FAILED if failure else DONE, trajectory.statistics.steps, reason, values)

    def _look(self, done: int = 0, steps: int = 0) -> None:
        """Whether to go on with a run."""
        if self._stopped.is_set():
            raise StoppedError
        if time.monotonic() > self._deadline:
            raise OverdueError(done)

    def _take_system(self, member: int, outputs: Array | None) -> None:
        """Go on with the system of a member."""
        parameters = self._plan.parameters(member)
        if parameters != self._parameters:
            system, is_filled = self._plan.system(member, outputs)
            self._go_on(system, is_like_that_before=is_filled and self._is_filled)
            self._parameters, self._is_filled = parameters, is_filled
            self._own = as_new(system.arrays.reference, system.arrays.redundant)

    def _go_on(self, system: System, is_like_that_before: bool = False) -> None:
        """Go on with another system, in the workspaces of that before if it is like it."""
        if is_like_that_before or is_like(system, self._system):
            share_work(system, self._system)
        else:
            self._galerkin = None
        self._system, self._parameters, self._is_filled = system, None, False

    def _advanced(self, run: Run) -> tuple[Trajectory, str]:
        """The states of a run, and why it ended early if it did."""
        if isinstance(run.method, Method) or run.system.has_contacts:
            try:
                return advance(run, stepper_of(run), self._most_steps), ""
            except StepError as error:
                return error.trajectory, error.reason
        return self._stepper(run.system, run.method).run(run)

    def _stepper(self, system: System, tableau: Tableau) -> _Galerkin:
        """What does the steps of this system and those that are like it."""
        if self._galerkin is None:
            self._galerkin = _Galerkin(system, tableau, self._most_steps)
        return self._galerkin

    def _values(self, trajectory: Trajectory | None, is_done: bool = False) -> dict[str, Any]:
        """The values of all variables; not a number where there are none."""
        found: dict[str, Any] = {}
        if trajectory is not None:
            states = trajectory.system, trajectory.t, trajectory.q, trajectory.p
            try:
                found |= stored_values(*states, self._stored)
            except ModelError:
                found |= stored_values(*states, [name for name in self._stored if name not in OF_VELOCITIES])
        if trajectory is not None and is_done:
            found |= {name: _measured(name, measure, trajectory) for name, measure in self._measures.items()}
        return {name: _filled(found.get(name), shape) for name, shape in self._shapes.items()}


def _filled(rows: Any, shape: tuple[int, ...]) -> Array:
    """An array of a shape that begins with these rows, if there are any; others are not numbers."""
    if np.shape(rows) == shape and rows is not None:
        return np.asarray(rows)
    filled = np.full(shape, np.nan)
    if rows is not None:
        filled[: len(rows)] = rows
    return filled


def as_new(*arrays: Array) -> list[tuple[Array, Array]]:
    """Arrays with copies of what is in them now."""
    return [(each, each.copy()) for each in arrays]


def renew(kept: list[tuple[Array, Array]]) -> None:
    """Put back into arrays what was in them."""
    for each, new in kept:
        each[...] = new


class _Galerkin:
    """Runs of a Galerkin scheme on systems that are like each other, in a workspace that is as new before each."""

    def __init__(self, system: System, tableau: Tableau, piece: int = PIECE_STEPS) -> None:
        self._tableau, self._scheme, self._piece = tableau, scheme_arrays(tableau), piece
        self._work, self._space = make_work(system.arrays), make_space(system.arrays, self._scheme)
        self._own = as_new(self._space.memory, self._work.memory)

    def run_all(
        self, system: System, plan: Plan, q: Array, p: Array, look: Callable[[], None]
    ) -> tuple[Array, Array, Array]:
        """States (members, rows, n) of members that start from q, p (members, n), and how each ended; `look` between calls."""
        to_kernel = system.arrays, self._scheme, self._work, self._space, plan.step, plan.steps, plan.every
        runs = []
        for part in system._parts(len(q)):
            look()
            runs.append(galerkin.run_all(*to_kernel, tuple(self._own), q[part], p[part]))
        states_q, states_p, status = runs[0] if len(runs) == 1 else map(np.concatenate, zip(*runs, strict=True))
        return states_q, states_p, status

    def run(self, run: Run) -> tuple[Trajectory, str]:
        """The states of a run, and why it ended early if it did."""
        renew(self._own)
        system, space, every = run.system, self._space, run.every
        steps = Steps(run, self._scheme, self._work, space)
        q, p = np.empty((2, run.steps // every + 1, system.dimension))
        q[0], p[0] = run.q, run.p
        space.q[:], space.p[:] = run.q, run.p
        audit = Audit(run)
        watch = BranchWatch(run, self._tableau, [each for each, _ in self._own], audit.look)
        done, status, began = 0, layout.OK, time.perf_counter()
        while done < run.steps and status == layout.OK:
            row, last = done // every + 1, min(done + self._piece, run.steps)
            status, done = watch.advance(steps.advance, done, last, q[row:], p[row:])
            new = slice(row, done // every + 1)
            audit.add(row, run.stored_times(row, new.stop), q[new], p[new])
            if run.progress is not None:
                run.progress(done, run.steps)
        rows = done // every + 1
        statistics = Statistics(done, time.perf_counter() - began, *map(int, space.count[COUNTED]))
        times = run.stored_times(0, rows)
        trajectory = Trajectory(
            system, self._tableau, run.step, every, times, q[:rows], p[:rows], statistics, start=run.start
        )
        trajectory = replace(trajectory, findings=audit.end(trajectory))
        reason = ""
        if status != layout.OK:
            reason = StepError(watch.message(done) or step_message(run, self._tableau, space, status, done)).reason
        return trajectory, reason


def _chosen(are_chosen: Array, system: System, members: Sequence[int], *states: Array) -> tuple[Any, ...]:
    """Some of the members, and of their systems and states."""
    if are_chosen.all():
        return system, members, *states
    own = system.chosen(are_chosen) if isinstance(system, Cases) else system
    return own, np.array(members)[are_chosen].tolist(), *(each[are_chosen] for each in states)


def stored_values(system: System, t: Array, q: Array, p: Array, names: Sequence[str]) -> dict[str, Array]:
    """The named variables (states, …) of all states.

    Raises
    ------
    ModelError
        If velocities are asked for, or energies, and there are none at one of them.
    """
    found = {"q": q, "p": p}
    if "constraint_residual" in names:
        found["constraint_residual"] = system.constraint_residuals(t, q)
    if not OF_VELOCITIES.isdisjoint(names):
        found["v"] = system.velocities(t, q, p)
        found["energy"] = np.add(*system.energies(t, q, found["v"]))
    return {name: found[name] for name in names}


def _measured(name: str, measure: Callable[[Trajectory], float], run: Trajectory) -> float:
    """What a measure gives."""
    try:
        value = measure(run)
    except Exception as error:
        raise ModelError(f"measure: {name}: expected a number, found {type(error).__name__}: {error}") from error
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ModelError(f"measure: {name}: expected a number, found {value!r}") from None
