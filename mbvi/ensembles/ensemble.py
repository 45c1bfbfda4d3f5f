"""Many variations of a model at once: other parameters, other starts, on all cores or on a cluster.

Every member is assembled, started and run as `simulate` would, by the same kernels. These run without Python's global lock, so
that threads are enough on one machine where Python has little to do. The states of a member are those of `simulate` bit for bit,
whatever else runs and in what order.
(So the compiled loop over members is the one by which `simulate` runs its own: compilers contract a b + c to one rounding where
they see it, which depends on what a kernel is compiled into.)
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import mbvi
from mbvi.ensembles.chunks import Recipe
from mbvi.ensembles.driver import run_members
from mbvi.ensembles.executors import Cluster, Executor, Processes, Threads, check_client
from mbvi.ensembles.members import Members
from mbvi.ensembles.plan import Plan
from mbvi.ensembles.sampling import SamplingPlan, values_of
from mbvi.ensembles.statistics import OTHER, PROBABILITIES, SummedUp, summaries
from mbvi.ensembles.store import InFile, InMemory, Structure, Variable
from mbvi.ensembles.worker import check_scheme, compile_kernels
from mbvi.errors import AccuracyWarning, ModelError, stack_level
from mbvi.model import Model
from mbvi.model.arguments import check_flag, checked_names, checked_number
from mbvi.model.expressions import nearest, show, wrong
from mbvi.model.fields import idle_parameters
from mbvi.model.file import to_yaml
from mbvi.model.sensing import names_in_texts
from mbvi.results import storage
from mbvi.results.output import check_output, check_overwriting
from mbvi.results.tables import needed
from mbvi.results.trajectory import Trajectory
from mbvi.run_arguments import MAX_STORED_BYTES, check_room, note_corners, note_overshoots
from mbvi.schemes.method import Method
from mbvi.schemes.tableau import Tableau
from mbvi.system.system import System

if TYPE_CHECKING:
    import xarray
    from distributed import Client

Array = np.ndarray
STORED = {
    "q": ("coordinate_unit", "coordinates"),
    "v": ("coordinate_unit/s", "rates of the coordinates"),
    "p": ("J s/coordinate_unit", "momenta of the coordinates"),
    "energy": ("J", "kinetic and potential energy"),
    "constraint_residual": ("", "largest constraint |g|"),
}
OF_COORDINATES = ("q", "v", "p")
BY_DEFAULT = ("q", "v", "energy")
ALWAYS, LABELS = ("status", "steps", "reason", "model"), ("coordinate", "coordinate_unit")  # names in the result


def ensemble(
    model: Model | System,
    over: Mapping[str, Any] | SamplingPlan,
    scheme: str | Tableau | Method | None = None,
    step: float | str | None = None,
    duration: float | str | None = None,
    *,
    formulation: str | None = None,
    every: int = 1,
    store: Sequence[str] | None = None,
    measure: Mapping[str, Callable[[Trajectory], float]] | None = None,
    statistics: Sequence[str] | None = None,
    threads: int | None = None,
    processes: int | None = None,
    executor: Client | None = None,
    time_limit: float | None = None,
    progress: Callable[[int, int], Any] | None = None,
    path: str | os.PathLike[str] | None = None,
    force: bool = False,
    resume: bool = False,
) -> xarray.Dataset:
    """Run variations of a model, on all cores or on a cluster.

    Every member is what `simulate` gives of the model with these values, bit for bit, whatever runs it. One that fails does not
    end the others. It needs the extra ``mbvi[export]``.

    Parameters
    ----------
    model : Model or System
    over : SamplingPlan, or mapping of str to array, number, or pair of dimensions and array
        What varies: parameters of the model, and the initial ``q.JOINT.COORDINATE`` and ``v.JOINT.COORDINATE`` of its joints (of
        a system without a model, ``q.COORDINATE`` and ``v.COORDINATE``), angles in rad. The members are all combinations of the
        values: each list is a dimension, named as what varies. Values that go together share a dimension, whose name stands
        before them: ``{"mass": ("member", m), "length": ("member", l)}``.
    scheme, step, duration : optional
        As for `simulate`; the same for all members.
    formulation : str, optional
        tree or embedding, of a model.
    every : int
        Number of steps per stored state; the initial state is always stored.
    store : sequence of str, optional
        What to store at these times, of q, v, p, energy and constraint_residual; by default q, v and energy or, with `measure` or
        `statistics`, nothing.
    measure : mapping of str to callable, optional
        Numbers to store of every member: by names, functions of its `Trajectory`.
    statistics : sequence of str, optional
        What to find mean, covariance (or variance) and quantiles of, over all members that are done: names of what can be
        stored, or is measured. What is not stored takes no memory of its own, however many members there are.
    threads : int, optional
        How many members run at once; by default as many as there are processors.
    processes : int, optional
        So many processes instead of threads, for many values of parameters or many starts of loops: Python assembles a system
        for each, or closes its loops, and only one thread at a time is in Python. A script then needs
        ``if __name__ == "__main__":``, and what measures must be functions of a module. If a process is killed, its members run
        again, once.
    executor : distributed.Client, optional
        A client of a dask cluster, whose workers run the members instead, and are that many at every moment as there are. They
        need the same version of mbvi, and no files. It needs the extra ``mbvi[cluster]``.
    time_limit : float, optional
        Seconds after which a member is given up.
    progress : callable, optional
        Called as ``progress(members_done, members)`` several times per second.
    path : str or path, optional
        A file to which the members go when they end, instead of into memory.
    force : bool
        Whether an existing file is overwritten.
    resume : bool
        Whether to go on with the file if it is there: with the members that have not been run.

    Returns
    -------
    xarray.Dataset
        What is stored, over the dimensions of the members, with the varied values as coordinates. ``status`` is 0 of members that
        are done, 1 of those of which a step failed, 2 of those that cannot start, -1 of those not run; ``reason`` says why, and
        ``steps`` how many steps were done. What is missing is not a number. With `path` it reads the file where it is used.

    Raises
    ------
    ModelError
        If an argument cannot be used, the values make a model wrong, or the file cannot be written; if the scheduler or the
        workers of a cluster cannot be used, or are lost. The members that were done are in the file then.

    Examples
    --------
    >>> import mbvi
    >>> bob = mbvi.Body(mass="mass", center_of_mass=(0, 0, -1))
    >>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    >>> model = mbvi.Model(name="pendulum", parameters={"mass": 1}, bodies={"bob": bob}, joints={"pivot": pivot})
    >>> runs = ensemble(model, {"mass": [1, 2], "q.pivot.angle": [0.1, 0.2, 0.3]}, step=0.01, duration=1)
    >>> dict(runs.q.sizes)
    {'mass': 2, 'q.pivot.angle': 3, 't': 101, 'coordinate': 1}
    """
    needed("xarray", "ensemble")
    path = _checked_file(path, force, resume)
    if progress is not None and not callable(progress):
        raise ModelError(f"progress: expected a function of members done and members, found {progress!r}")
    if time_limit is not None:
        time_limit = checked_number(time_limit, "time_limit", "a number of seconds greater than 0", above=0.0)
    members = Members.of(values_of(over, model))
    count = min(_worker_count(threads, processes, executor), members.count)
    stored, measures = _content(store, measure, statistics)
    summed = _checked_statistics(statistics, measures)
    _check_names(members, stored, measures, summed)
    common = scheme, step, duration, formulation, every
    plan = Plan.of(model, members, *common)
    _note_idle(plan)
    note_overshoots(plan.first)
    note_corners(plan.first, 0.0, plan.steps * plan.step)
    variables = _variables(plan, dict.fromkeys((*stored, *summed)), measures)
    structure = _structure(plan, variables, stored, measures, summed)
    check_room(count * plan.rows, plan.steps, plan.every, plan.first, None)
    if path is None or not (resume and path.exists()):
        _check_room(plan, structure, path)
    check_scheme(plan)
    compile_kernels(plan, [name for name in variables if name not in measures])
    recipe = Recipe((model, members.first(), *common), variables, measures, time_limit)
    with closing(_executor(recipe, plan, count, processes, executor)) as runs:
        kept = InMemory(structure) if path is None else InFile(structure, path, resume)
        of = {name: variables[name] for name in summed}
        with closing(kept), _interruption_reported(kept, path), SummedUp(kept, of) as put:
            order = plan.order()
            run_members(runs, members, order[~kept.is_done[order]], variables, put, progress)
    found = kept.dataset()
    _warn_of_doubtful(found)
    return found


@contextmanager
def _interruption_reported(kept: InMemory | InFile, path: Path | None) -> Iterator[None]:
    """Let an interruption say what is in a file."""
    try:
        yield
    except KeyboardInterrupt:
        done = f"{kept.is_done.sum()} of {kept.is_done.size} members are in {path}" if path else ""
        raise KeyboardInterrupt(done) from None


def _executor(recipe: Recipe, plan: Plan, count: int, processes: int | None, client: Client | None) -> Executor:
    """What runs members."""
    if client is not None:
        return Cluster(recipe, client)
    return Threads(recipe, plan, count) if processes is None else Processes(recipe, count)


def _checked_file(path: Any, force: bool, resume: bool) -> Path | None:
    """The file that is written, tried out."""
    check_flag(resume, "resume")
    check_overwriting(force)
    if path is None:
        if resume:
            raise ModelError("resume: expected the path of a file, found none; give path")
        return None
    needed("h5netcdf", "ensemble")
    return check_output(path, force or resume, storage.ENDINGS)


def _warn_of_doubtful(found: xarray.Dataset) -> None:
    """Warn of members that are done with results that cannot be trusted."""
    doubtful = found.reason.values[found.status.values == 0]
    doubtful = doubtful[doubtful != ""]
    if len(doubtful):
        text = f"{len(doubtful)} of {found.status.size} members are doubtful, see reason; the first: {doubtful[0]}"
        warnings.warn(f"{found.attrs['name']}: {text}", AccuracyWarning, stacklevel=stack_level())


def _note_idle(plan: Plan) -> None:
    """Warn of parameters that vary and make no difference."""
    model, names = plan.variation.model, plan.variation.parameters
    used = {*plan.first._force_names, *(names_in_texts(model) if model is not None else ())}
    for name in idle_parameters(model, used) if names and model is not None else ():
        if name in names:
            warnings.warn(f"over: {name}: nothing in the model uses it, so that it makes no difference", stacklevel=3)


def _worker_count(threads: Any, processes: Any, executor: Any) -> int:
    """How many members run at once here: by default one for each processor that this process may use."""
    given = {"threads": threads, "processes": processes, "executor": executor}
    given = {name: value for name, value in given.items() if value is not None}
    if len(given) > 1:
        raise ModelError(
            f"{next(iter(given))}: expected one of threads, processes and executor, found {show(list(given))}"
        )
    if executor is not None:
        check_client(executor)
        return 1
    if not given:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    ((name, number),) = given.items()
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
        raise ModelError(f"{name}: expected a whole number of at least 1, found {number!r}")
    return int(number)


def _checked_statistics(statistics: Sequence[str] | None, measures: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of what statistics are made of, checked."""
    names = () if statistics is None else checked_names(statistics, "statistics")
    known = [*STORED, *measures]
    for name in names:
        if name not in known:
            expected = "what can be stored, or is measured"
            raise ModelError(f"statistics: {wrong(expected, show(name), nearest(str(name), known))}")
    return tuple(dict.fromkeys(names))


def _content(
    store: Sequence[str] | None, measure: Mapping[str, Callable[[Trajectory], float]] | None, statistics: Any
) -> tuple[tuple[str, ...], dict[str, Callable[[Trajectory], float]]]:
    """What is stored of every state, and what is measured of every member."""
    if store is not None:
        store = checked_names(store, "store")
    for name in store or ():
        if name not in STORED:
            raise ModelError(f"store: {wrong('what can be stored', show(name), nearest(str(name), STORED))}")
    if measure is not None and not (isinstance(measure, Mapping) and all(map(callable, measure.values()))):
        raise ModelError(f"measure: expected a mapping of names to functions of a trajectory, found {measure!r}")
    if store is None:
        store = () if measure or statistics is not None else BY_DEFAULT
    return tuple(dict.fromkeys(store)), dict(measure or {})


def _check_names(members: Members, stored: Sequence[str], measures: Mapping[str, Any], summed: Sequence[str]) -> None:
    """All variables and dimensions of the dataset need names of their own."""
    at_times = {*stored, *summed} - {*measures}
    taken = {*ALWAYS, *stored, *(("t",) if at_times else ()), *(LABELS if _has_labels([*at_times]) else ())}
    taken |= {f"{name}_{kind}" for name in summed for kind in ("mean", "covariance", "variance", "quantiles")}
    taken |= {"quantile", OTHER} if summed else set()
    varied = {*members.given, *members.sizes}
    for where, names, others in (("over", varied, taken), ("measure", measures, taken | varied)):
        for name in names:
            if isinstance(name, str) and "/" in name:
                expected = "a name without /, which separates groups in files"
                raise ModelError(f"{where}: {wrong(expected, show(name), 'rename what has it')}")
            if name in others or not isinstance(name, str) or not name:
                is_parameter = where == "over" and name in members.given
                remedy = (
                    "rename the parameter, or leave what has its name out of store"
                    if is_parameter
                    else "choose another"
                )
                raise ModelError(f"{where}: {wrong('a name of its own in the result', show(name), remedy)}")


def _has_labels(stored: Sequence[str]) -> bool:
    """Whether something is stored of every coordinate."""
    return not set(OF_COORDINATES).isdisjoint(stored)


def _variables(plan: Plan, names: Iterable[str], measures: Mapping[str, Any]) -> dict[str, Variable]:
    """What every member leaves behind."""
    variables = {name: Variable((), (), "", "measured of the trajectory") for name in measures}
    for name in names:
        if name in OF_COORDINATES:
            variables[name] = Variable(("t", "coordinate"), (plan.rows, plan.first.dimension), *STORED[name])
        elif name not in measures:
            variables[name] = Variable(("t",), (plan.rows,), *STORED[name])
    return variables


def _structure(
    plan: Plan,
    variables: Mapping[str, Variable],
    stored: Sequence[str],
    measures: Mapping[str, Any],
    summed: Sequence[str],
) -> Structure:
    """Names, shapes and units of all that is kept."""
    members, system = plan.members, plan.first
    coordinates: dict[str, Any] = {
        name: (dimensions, values, _attributes(plan, name)) for name, (dimensions, values) in members.given.items()
    }
    for name, size in members.sizes.items():
        coordinates.setdefault(name, ((name,), np.arange(size), {"long_name": "number of the member"}))
    at_times = [name for name in variables if name not in measures]
    if at_times:
        coordinates["t"] = ("t",), plan.times, {"units": "s", "long_name": "time"}
    if summed:
        coordinates["quantile"] = ("quantile",), np.array(PROBABILITIES), {"long_name": "part of the members below"}
    labels = dict(zip(LABELS, (system.coordinate_names, system.coordinate_units), strict=True))
    if not set(OF_COORDINATES).isdisjoint(summed):
        labels[OTHER] = system.coordinate_names
    about: dict[str, Any] = {"name": system.name, "mbvi_version": mbvi.__version__, "scheme": plan.method.name}
    about |= {"scheme_numbers": json.dumps(asdict(plan.method))}
    about |= {"step": plan.step, "steps": plan.steps, "every": plan.every}
    model = _stored_model(plan.variation.model, system)
    about |= {} if model is not None else {"system": _digest(plan)}
    return Structure(
        members.sizes,
        coordinates,
        labels if _has_labels(at_times) else {},
        {name: each for name, each in variables.items() if name in (*stored, *measures)},
        about,
        model,
        summaries({name: variables[name] for name in summed}),
    )


def _stored_model(model: Model | None, system: System) -> Model | None:
    """The model with its expressions, in the formulation of its system; None where it does not describe it whole."""
    if model is None or system.model is None or system.arrays.force:
        return None
    return model.replaced({"formulation": system.model.formulation})


def _digest(plan: Plan) -> str:
    """What distinguishes a system that a file does not hold from others: a digest of its model and of its force's parameters."""
    given = plan.variation.model
    text = "" if given is None or given._is_resolved else to_yaml(given)
    numbers = dict(zip(plan.first._force_names, plan.first.arrays.force_parameters.tolist(), strict=True))
    return hashlib.sha256((text + json.dumps(numbers)).encode()).hexdigest()


def _attributes(plan: Plan, name: str) -> dict[str, str]:
    """The attributes of what varies, as datasets have them."""
    if name not in plan.variation.places:
        return {"long_name": f"parameter {name}"}
    place = plan.variation.places[name]
    return {"long_name": f"initial {place.key}"} | ({"units": place.unit} if place.unit else {})


def _check_room(plan: Plan, structure: Structure, path: Path | None) -> None:
    """Refuse what does not fit into memory or on the disk."""
    free = MAX_STORED_BYTES if path is None else shutil.disk_usage(path.resolve().parent).free
    if structure.nbytes > free:
        what = "states" if path is None else "a file"
        times = math.ceil(plan.every * structure.nbytes / max(free, 1))
        remedy = f"store every {times}th state, or less by store or measure" + ("" if path else ", or give a path")
        found = f"{structure.nbytes / 1e9:.3g} GB of {structure.members} members"
        raise ModelError(f"every: {wrong(f'{what} of at most {free / 1e9:.3g} GB', found, remedy)}")
