"""Which scheme reaches a wanted error in the least time, with which step: measured for a model, on this machine.

    error(h) = max |x_h(t) − x_ref(t)|   over the points of all bodies and the stored times   [m]

The points of a body are its centre of mass and three that lie off it along the body's axes by its radius of gyration k,
m k² = ½ tr J; so a rotation counts as far as it moves mass. Of a system of one's own Lagrangian, x are the coordinates.

Steps are halved until the error is reached, and then the largest step that reaches it is looked for between the last two. The
reference is a run of a scheme of high order; its own error is taken to be what halving its step changed.
"""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

import mbvi
from mbvi.catalog import find_scheme
from mbvi.errors import ModelError, StepError, doubts_expected
from mbvi.kernels.compiler.compiling import COMPILING
from mbvi.measure.runs import BodyPoints, Curve, chosen_schemes, draw, largest_distance, timed
from mbvi.model.arguments import is_number
from mbvi.model.expressions import wrong
from mbvi.model.model import Model
from mbvi.run_arguments import as_system, chosen_duration
from mbvi.schemes.method import Method
from mbvi.schemes.tableau import Tableau
from mbvi.simulation import simulate
from mbvi.system.system import System
from mbvi.text import aligned, rounded

Array = np.ndarray
REFERENCE = "gauss6"
TRIED = (
    "midpoint", "trapezoidal", "simpson", "lobatto4", "lobatto5", "gauss2", "gauss3", "gauss4", "gauss6",
    "suzuki4", "kahan_li6", "kahan_li8", "energy_momentum", "splitting", "blanes_moan6", "splitting8", "rk4",
    "independent4", "independent8",
)  # fmt: skip
MARGIN = 10.0  # factor by which the reference is to be better than the wanted error
STATES = 50  # number of states at which errors are measured; fewer where ten of the model's steps would not lie between
LONGEST = 10  # times the model's step: the largest step that is tried, or the time between states if that is longer
CURVES = 7  # number of curves in the picture
PROBED = 1000  # number of steps from which the time of a run is estimated
FAILURES = 8  # steps of the reference that may fail, each half of the one before
SAFETY = 1.2  # factor below the wanted error at which a step between two is aimed


class Measurement(NamedTuple):
    """One run: its steps, their size [s], its error [m], wall time [s] and iterations per step."""

    steps: int
    step: float
    error: float
    seconds: float
    iterations: float


@dataclass(frozen=True, eq=False, repr=False)
class Bench:
    """What `bench` found; it prints as a table.

    Attributes
    ----------
    system : System
    duration : float
        Simulated time of each run [s].
    wanted : float
        The error to be reached [m], or in the units of coordinates where the system has no bodies.
    uncertainty : float
        What halving the step of the reference changed, in the same units.
    reference_step : float
        Step of the reference [s].
    longest_step : float
        The largest that was tried: from one of the times at which errors are measured to the next [s].
    orders : dict of str to int
        The declared order of every scheme that applies.
    runs : dict of str to tuple of Measurement
        All runs of a scheme, with descending steps.
    stopped : dict of str to str
        Why the search ended for a scheme that did not reach the error.
    failures : dict of (str, float) to str
        Why a scheme failed at a step.
    unsuited : dict of str to str
        Why a scheme does not apply.
    """

    system: System
    duration: float
    wanted: float
    uncertainty: float
    reference_step: float
    longest_step: float
    orders: dict[str, int] = field(default_factory=dict)
    runs: dict[str, tuple[Measurement, ...]] = field(default_factory=dict)
    stopped: dict[str, str] = field(default_factory=dict)
    failures: dict[tuple[str, float], str] = field(default_factory=dict)
    unsuited: dict[str, str] = field(default_factory=dict)

    def chosen(self, scheme: str) -> Measurement | None:
        """The run of a scheme with the largest step that reaches the error; None if none does."""
        reached = (run for run in self.runs[scheme] if run.error + self.uncertainty <= self.wanted)
        return max(reached, key=lambda run: run.step, default=None)

    @property
    def ranking(self) -> list[str]:
        """The schemes that reach the error, the cheapest first."""
        seconds = {name: run.seconds for name in self.runs if (run := self.chosen(name))}
        return sorted(seconds, key=seconds.__getitem__)

    def __repr__(self) -> str:
        """A table with one row for each scheme, what failed, which do not apply (why is in `unsuited`), and the cheapest."""
        head = ("scheme", "order", "step [s]", self._label, "run [ms]", "per step [µs]", "iterations")
        lines = aligned([head, *map(self._row, self.ranking)], right=range(1, len(head)))
        missed = [name for name in self.runs if name not in self.ranking]
        if missed:
            lines += ["", "not reached:", *aligned(self._missed(missed), "  ")]
        if self.unsuited:
            lines += ["", f"do not apply: {', '.join(self.unsuited)} (--json FILE has the reasons)"]
        what = "of a point of a body" if self.system.model else "of a coordinate"
        lines += [
            "",
            f"errors: largest {what} over {self.duration:g} s; the reference, {REFERENCE} with step "
            f"{self.reference_step:.3g} s, is known to {self.uncertainty:.0e}",
        ]
        chosen = {name: run.step for name in self.ranking if (run := self.chosen(name))}
        if longest := [name for name, step in chosen.items() if step >= self.longest_step]:
            lines += [f"at the largest step tried, {self.longest_step:.4g} s: {', '.join(longest)}"]
        if self.ranking:
            best = self.ranking[0]
            lines += [f"cheapest for {self.wanted:g}{self._unit}: --scheme {best} --step {self.step_text(best)}"]
        else:
            lines += [f"no scheme reached {self.wanted:g}{self._unit}; give it more time, or a shorter duration"]
        return "\n".join([self.system.name, "", *lines])

    def step_text(self, scheme: str) -> str:
        """The step of the chosen run, as an expression that makes the duration a whole number of steps."""
        run = self.chosen(scheme)
        if run is None:
            raise ModelError(f"scheme: expected one that reaches {self.wanted:g}, found {scheme!r}")
        short = f"{self.duration:g}"
        return f"{short if float(short) == self.duration else repr(self.duration)}/{run.steps}"

    @property
    def _unit(self) -> str:
        """What stands after an error."""
        return " m" if self.system.model else ""

    @property
    def _label(self) -> str:
        return "error [m]" if self.system.model else "error"

    def _row(self, name: str) -> tuple[str, ...]:
        run = self.chosen(name)
        assert run is not None
        costs = rounded(1e3 * run.seconds), rounded(1e6 * run.seconds / run.steps), f"{run.iterations:.1f}"
        return name, str(self.orders[name]), f"{run.step:.4g}", f"{run.error:.1e}", *costs

    def _missed(self, names: Sequence[str]) -> Iterator[tuple[str, str]]:
        for name in names:
            nearest = min(self.runs[name], key=lambda run: run.error, default=None)
            failed = [text for (scheme, _), text in self.failures.items() if scheme == name]
            if nearest is None:
                yield name, f"{self.stopped[name]}; {failed[-1]}" if failed else self.stopped[name]
            else:
                yield name, f"{nearest.error:.1e} with step {nearest.step:.3g} s; {self.stopped[name]}"

    def record(self) -> dict[str, Any]:
        """All of it as dictionaries, lists and numbers, with machine and versions, for JSON."""
        packages = {name: version(name) for name in ("numpy", "numba")}
        best = self.ranking[0] if self.ranking else None
        return {
            "environment": {
                "machine": platform.processor() or platform.machine(),
                "python": platform.python_version(),
                "mbvi": mbvi.__version__,
                **packages,
            },
            "system": self.system.name,
            "duration [s]": self.duration,
            "wanted error": self.wanted,
            "unit": self._unit.strip(),
            "largest step tried [s]": self.longest_step,
            "reference": {"scheme": REFERENCE, "step": self.reference_step, "error": self.uncertainty},
            "runs": {name: [run._asdict() for run in runs] for name, runs in self.runs.items()},
            "stopped": self.stopped,
            "failures": [{"scheme": name, "step": h, "reason": text} for (name, h), text in self.failures.items()],
            "do not apply": self.unsuited,
            "cheapest": best and {"scheme": best, "step": self.step_text(best)},
        }

    def plot(self) -> Any:
        """Errors over steps and over wall times of the best schemes, as a matplotlib.figure.Figure.

        Raises
        ------
        ModelError
            If matplotlib is missing.
        """
        found = [*self.ranking, *(name for name in self.runs if name not in self.ranking)]
        names = [name for name in found if self.runs[name]]
        some = f"the {CURVES} cheapest of {len(names)}; " if len(names) > CURVES else ""
        curves = [
            Curve(
                name,
                *(np.array([getattr(run, key) for run in self.runs[name]]) for key in ("step", "error", "seconds")),
            )
            for name in names[:CURVES]
        ]
        details = f"{some}largest over {self.duration:g} s; line: {self.wanted:g}{self._unit}"
        return draw(self.system.name, details, self._label, curves, self.uncertainty, self.wanted)


def bench(
    model: Model | System,
    error: float = 1e-6,
    schemes: Sequence[str] = TRIED,
    duration: float | str | None = None,
    *,
    formulation: str | None = None,
    budget: float = 30.0,
    progress: Callable[[int, int], Any] | None = None,
) -> Bench:
    """Find, for every scheme, the largest step whose error over the run is small enough, and what the run then costs.

    The largest step tried is a fiftieth of the duration, or ten steps of the model where that is more.

    Parameters
    ----------
    model : Model or System
    error : float
        Wanted: the largest distance of a point of a body from where it should be, at any of about fifty times of the run [m].
    schemes : sequence of str
        Names of schemes.
    duration : float or str, optional
        Simulated time [s]; by default the model's.
    formulation : str, optional
        tree or embedding, of a model.
    budget : float
        About how long to measure [s], besides compilation: half of it at most for the reference, and what is left, shared among
        the schemes. The report names schemes that do not reach the error in their share.
    progress : callable, optional
        Called as ``progress(seconds_spent, budget)``.

    Returns
    -------
    Bench
        Schemes that fail or do not apply are in it with the reason.

    Raises
    ------
    ModelError
        If a scheme is not known, an argument cannot be used, or the reference cannot resolve the error in the time.
    StepError
        If the reference fails.

    Examples
    --------
    >>> bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))
    >>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    >>> model = mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot}, initial={"pivot": {"position": 1}})
    >>> found = bench(model, 1e-6, ["midpoint", "gauss4"], duration=1)
    >>> found.chosen("gauss4").step > 10 * found.chosen("midpoint").step
    True
    """
    system = as_system(model, formulation)
    methods = chosen_schemes(schemes, system)
    length = chosen_duration(system, duration)
    for key, value in (("error", error), ("budget", budget)):
        if not (is_number(value) and value > 0):
            raise ModelError(f"{key}: {wrong('a number greater than 0', repr(value))}")
    search = _Search(system, length, error, budget, progress)
    found = Bench(system, length, error, search.uncertainty, search.reference_step, length / search.states)
    methods.sort(key=lambda method: -method.order)  # the cheap ones first, which leave their time to others
    for i, method in enumerate(methods):
        search.measure(method, found, (budget - search.spent) / (len(methods) - i))
    if not found.runs:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in found.unsuited.items())
        raise ModelError(f"schemes: {wrong(f'one that applies to {system.name!r}', reasons)}")
    return found


class _Search:
    """The reference, and the search for the steps of one scheme after the other, within a budget of time."""

    def __init__(
        self,
        system: System,
        duration: float,
        wanted: float,
        budget: float,
        progress: Callable[[int, int], Any] | None,
    ) -> None:
        self.system, self.duration, self.wanted, self.budget = system, duration, wanted, budget
        self.progress = progress or (lambda spent, budget: None)
        self.spent = 0.0
        self.points = BodyPoints(system)
        usual = float(system.model.resolved().simulation.step) if system.model else duration / (STATES * LONGEST)
        self.states = min(STATES, max(1, round(duration / usual / LONGEST)))
        self.exact, self.uncertainty, self.reference_step = self._reference(math.ceil(duration / usual / self.states))

    @contextmanager
    def _clock(self) -> Iterator[None]:
        """Counts the time of what is done within, without that of compilation."""
        began = time.perf_counter() - COMPILING.seconds
        try:
            yield
        finally:
            self.spent += time.perf_counter() - COMPILING.seconds - began
            self.progress(int(min(self.spent, self.budget)), math.ceil(self.budget))

    def _probe(self, method: Tableau | Method, per_state: int) -> float:
        """Wall time of a run [s], by that of its first steps, which compile what is not yet compiled."""
        count, step = min(per_state, PROBED), self.duration / (self.states * per_state)
        with suppress(StepError), doubts_expected():
            run = simulate(self.system, method, step, count * step, every=count)
            return self.states * per_state / count * run.statistics.seconds
        return 0.0

    def _reference(self, per_state: int) -> tuple[Array, float, float]:
        """Places in a run that resolves the wanted error, how far they may be off, and its step."""
        method, limit = find_scheme(REFERENCE), self.budget / 2
        before, uncertainty, expected, failures = None, math.inf, self._probe(method, per_state), 0
        while True:
            if self.spent + expected > limit:
                raise ModelError(self._unresolved(uncertainty))
            step = self.duration / (self.states * per_state)
            spent = self.spent
            try:
                with self._clock(), doubts_expected():
                    run = simulate(self.system, method, step, self.duration, every=per_state)
            except StepError as error:
                failures, per_state, expected = failures + 1, 2 * per_state, 2 * (self.spent - spent)
                if failures < FAILURES and self.spent + expected <= limit:
                    continue
                raise StepError(f"the reference, {REFERENCE} with step {step:g} s: {error}", error.trajectory) from None
            places = self.points(run.q)
            if before is not None:
                change = max(largest_distance(places, before), float(np.spacing(np.abs(places).max())))
                if change <= self.wanted / MARGIN:
                    return places, change, step
                if change > uncertainty / 2:  # round-off, or a motion too chaotic
                    raise ModelError(self._unresolved(min(change, uncertainty)))
                uncertainty = change
            before, per_state, expected = places, 2 * per_state, 2 * (self.spent - spent)

    def _unresolved(self, uncertainty: float) -> str:
        if math.isinf(uncertainty):
            found = f"{self.budget:g} s, in half of which the reference is not computed"
            return f"budget: {wrong('enough time [s]', found, 'give it more time, or a shorter duration')}"
        least = f"{2 * MARGIN * uncertainty:.0e}"
        expected = f"one that the reference can resolve over {self.duration:g} s in {self.budget / 2:g} s"
        remedy = f"write for example {least}, give it more time, or a shorter duration"
        return f"error: {wrong(expected, f'{self.wanted:g} where it is known to {uncertainty:.0e}', remedy)}"

    def measure(self, method: Tableau | Method, found: Bench, share: float) -> None:
        """Halve the steps of a scheme until the error is reached, and look for the largest step that reaches it."""
        try:
            self._probe(method, 1)
        except ModelError as error:
            found.unsuited[method.name] = str(error)
            return
        runs: dict[int, Measurement] = {}
        end, per_state, expected = self.spent + share, 1, 0.0
        reason = f"its share of {rounded(share)} s was not enough" if share > 0 else "the others took all the time"
        found.stopped[method.name] = reason
        while self.spent + expected <= end:
            spent = self.spent
            runs |= self._run(method, per_state, found)
            expected = 2 * (self.spent - spent)
            last = list(runs.values())[-3:]
            errors = [run.error for run in last]
            if last and errors[-1] + self.uncertainty <= self.wanted:
                runs |= self._refined(method, runs, found)
                del found.stopped[method.name]
                break
            if len(last) == 3 and errors == sorted(errors):
                found.stopped[method.name] = "smaller steps do not lower it"
                break
            if len(last) > 1 and errors[-2] > errors[-1] * 2 ** (method.order - 1):  # so it falls as its order promises
                needed = last[-1].seconds * (errors[-1] / self.wanted) ** (1 / method.order)
                if self.spent + needed > end:
                    found.stopped[method.name] = f"it would take a run of about {rounded(needed, 2)} s"
                    break
            per_state *= 2
        found.orders[method.name] = method.order
        found.runs[method.name] = tuple(runs[key] for key in sorted(runs))

    def _run(self, method: Tableau | Method, per_state: int, found: Bench) -> dict[int, Measurement]:
        """A run with `per_state` steps from one stored state to the next, or none if it fails, which is noted."""
        count = self.states * per_state
        step = self.duration / count
        try:
            with self._clock():
                run = timed(self.system, method, step, self.duration, per_state)
        except StepError as error:
            found.failures[method.name, step] = error.reason
            return {}
        cost, distance = run.statistics, largest_distance(self.points(run.q), self.exact)
        return {per_state: Measurement(count, step, distance, cost.seconds, cost.iterations / cost.steps)}

    def _refined(self, method: Tableau | Method, runs: dict[int, Measurement], found: Bench) -> dict[int, Measurement]:
        """A run with a step between the last two, where the wanted error is expected."""
        last = max(runs)
        if last // 2 not in runs or last == 1:
            return {}
        before, after = runs[last // 2].error, runs[last].error
        order = math.log2(before / max(after, self.uncertainty))
        per_state = math.ceil(last // 2 * (SAFETY * before / self.wanted) ** (1 / order))
        return self._run(method, per_state, found) if per_state < last else {}
