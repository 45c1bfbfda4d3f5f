"""The arguments of a run, checked and made numbers: system, scheme, clock, start, and the room that its states need."""

from __future__ import annotations

import math
import shutil
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mbvi.analysis.noether import discrete_momenta
from mbvi.catalog import SCHEMES, find_scheme
from mbvi.errors import ModelError, ModelWarning, stack_level
from mbvi.kernels import layout
from mbvi.kernels.mechanics import functions
from mbvi.model.arguments import check_kind, is_number
from mbvi.model.constraints import FARTHEST
from mbvi.model.corners import corners_of_motions
from mbvi.model.description import MAX_STEPS, count_steps
from mbvi.model.expressions import evaluate, infix, wrong
from mbvi.model.model import Model
from mbvi.model.poles import first_gap, first_pole, programs
from mbvi.model.tables import overshoots
from mbvi.model.units import check_unit
from mbvi.results import storage
from mbvi.results.trajectory import derived, known_invariants
from mbvi.schemes.method import Method
from mbvi.schemes.runge_kutta import ButcherTableau
from mbvi.schemes.tableau import Tableau
from mbvi.steppers import independent
from mbvi.steppers.conditions import check_rates
from mbvi.steppers.control import NEAR
from mbvi.system.assemble import assemble
from mbvi.system.chart import Chart
from mbvi.system.controllers import CheckedController, refuse_controllers
from mbvi.system.driven import driven_names, is_in_reach
from mbvi.system.events import CheckedEvent
from mbvi.system.feedback import with_functions_again
from mbvi.system.initial import Start
from mbvi.system.projection import CONSTRAINT_TOLERANCE
from mbvi.system.system import System
from mbvi.system.tables import driven_rows

MAX_STORED_BYTES = 8e9
MOST_SAMPLES = 10_000
SAME = 1e-6  # relative difference of energies up to which a given system is that of a file
LONGEST = 1e20  # step [s]: its square, and products with it, are far from an overflow
RESOLVED = 100  # number of different times that a step near the start must contain
EXAMPLES = {"step": 0.01, "steps": 0.01, "duration": 10, "start_time": 0, "period": 0.1}  # [s]


def check_same_system(system: System, header: storage.Header, columns: Mapping[str, np.ndarray], path: Path) -> None:
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


def check_same_chart(chart: Chart | None, header: storage.Header, path: Path) -> None:
    """A run goes on in the chart in which it began, which its file cannot hold."""
    if chart is not None:
        check_kind(chart, Chart, "chart", "make one by joint_chart or sympy_chart")
    names = chart.coordinate_names if chart else ()
    if names != header.chart:
        expected, found = (f"that of {', '.join(each)}" if each else "none" for each in (header.chart, names))
        remedy = "build it, and pass it: mbvi.resume(path, chart=chart)" if not names else ""
        raise ModelError(f"{path}: chart: {wrong(expected, found, remedy)}")


def check_same_events(events: Sequence[CheckedEvent], header: storage.Header, path: Path) -> None:
    """A run goes on with the events with which it began, whose functions its file cannot hold."""
    names = tuple(each.name for each in events)
    if names != header.events:
        expected, found = (", ".join(each) or "none" for each in (header.events, names))
        remedy = "pass them as to simulate: mbvi.resume(path, events=…)" if header.events else ""
        raise ModelError(f"{path}: events: {wrong(expected, found, remedy)}")


def check_same_controllers(controllers: Sequence[CheckedController], header: storage.Header, path: Path) -> None:
    """A run goes on with the controllers with which it began, whose functions its file cannot hold."""
    numbers = tuple(each.numbers for each in controllers)
    if numbers == header.controllers:
        return
    names = [", ".join(each["name"] for each in some) or "none" for some in (header.controllers, numbers)]
    remedy = "pass them as to simulate: mbvi.resume(path, controllers=…)" if header.controllers else ""
    if names[0] == names[1]:
        names[1] += " with other inputs, periods, delays or sensors"
    raise ModelError(f"{path}: controllers: {wrong(names[0], names[1], remedy)}")


def resumed_inputs(system: System, inputs: Any, header: storage.Header, path: Path) -> System:
    """The system with the functions that gave inputs when the run began, which its file cannot hold."""
    remedy = "pass them as to simulate: mbvi.resume(path, inputs=…)"
    try:
        refuse_controllers(inputs)
        return with_functions_again(system, inputs, header.labels.get("input", ()), remedy)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None


def check_controlled(
    controllers: Sequence[CheckedController],
    h: float,
    step_sizes: np.ndarray | None,
    has_events: bool,
) -> None:
    """Refuse controllers where steps cannot be divided."""
    if not controllers:
        return
    if step_sizes is not None:
        raise ModelError(f"step: {wrong('one size of all steps, with controllers', f'{len(step_sizes)} sizes')}")
    for each in controllers if has_events else ():
        for key in ("period", "delay"):
            ratio = getattr(each, key) / h
            if abs(ratio - round(ratio)) > NEAR * max(1.0, ratio):
                expected, found = f"a {key} of whole steps, where events are looked for", f"{ratio:.6g} steps"
                raise ModelError(f"controllers.{each.name}: {wrong(expected, found)}")


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
    for i in driven_rows(system.arrays):
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
    driven = driven_names(system)
    if driven and not is_in_reach(system, start.q + h * start.v, t + h):
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
    """The scheme of that name; by default the model's, or simpson. Without constraints independent4 is gauss4.

    Raises
    ------
    ModelError
        If there is none of that name, or it has no place for the constraints on velocities of the system.
    """
    method = independent.applicable(system, find_scheme(_given_or_own(scheme, system, "scheme", "simpson")))
    check_rates(system, method)
    return method


def clock(system: System, step: Any, duration: Any, every: Any) -> tuple[float, int, int]:
    """Step size [s], number of steps and `every`, checked; by default those of the model."""
    h = chosen_step(system, step)
    return h, *counted_steps(chosen_duration(system, duration) / h, every)


def chosen_step(system: System, step: Any) -> float:
    """Step size [s], checked; by default the model's."""
    h = positive_time(_given_or_own(step, system, "step", None), "step", system)
    if h > LONGEST:
        raise ModelError(f"step: expected at most {LONGEST:g} s, found {h:g}")
    return h


def chosen_duration(system: System, duration: Any) -> float:
    """The simulated time [s], checked; by default the model's."""
    return positive_time(_given_or_own(duration, system, "duration", None), "duration", system)


def _given_or_own(value: Any, system: System, key: str, otherwise: Any) -> Any:
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


def positive_time(value: Any, what: str, system: System) -> float:
    """A number of seconds greater than 0."""
    expected = "a time greater than 0"
    number = checked_time(value, what, system, expected)
    if number <= 0:
        raise ModelError(f"{what}: expected {expected}, found {value!r}; write for example {EXAMPLES[what]} [s]")
    return number


def check_resolution(start_time: float, h: float) -> None:
    """Refuse a start so late that times, of 53 binary digits, hardly separate steps of size h."""
    apart = float(np.spacing(abs(start_time)))
    if h < RESOLVED * apart:
        raise ModelError(
            f"start_time: expected one near which times differ by far less than steps of {h:g} s, found {start_time:g}, where "
            f"they differ by {apart:.2g} s; start nearer to 0, or take steps of at least {RESOLVED * apart:.2g} s"
        )


def given_sizes(step: Any, method: Tableau | Method, duration: Any) -> np.ndarray | None:
    """The sizes of all steps, checked; None where the step is one number."""
    if step is None or isinstance(step, str | int | float | np.number) or getattr(step, "ndim", 1) == 0:
        return None
    if not method.is_variable:
        allowed = ", ".join(name for name, each in SCHEMES.items() if each.is_variable)
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


def counted_steps(ratio: float, every: Any) -> tuple[int, int]:
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
