"""Schemes compared on one system: error at the end over step and over cost, as a table and as a picture.

    error(h) = |q_h(T) − q_ref(T)|_∞ ,   order = slope of log(error) over log(h)

The reference is a run of a scheme of high order with half the smallest step; how far it may be off itself is measured by one
with a quarter of it, and errors near that are marked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mbvi.analysis.convergence import convergence_order
from mbvi.errors import ModelError, StepError, doubts_expected
from mbvi.measure.runs import ABOVE, Curve, chosen_schemes, draw, entries, timed
from mbvi.model.model import Model
from mbvi.run_arguments import as_system, checked_time, chosen_duration
from mbvi.schemes.method import Method
from mbvi.schemes.tableau import Tableau
from mbvi.simulation import simulate
from mbvi.system.system import System
from mbvi.text import aligned, rounded

Array = np.ndarray
REFERENCE = "gauss6"
DEFAULT_STEPS = 4
FITTED = 3  # number of the smallest errors that count
WHOLE = 1e-9  # by how much the number of steps may differ from a whole number


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """What `compare` found; it prints as a table.

    Attributes
    ----------
    system : System
    duration : float
        Simulated time of each run [s].
    schemes : tuple of str
        The schemes that apply to the system.
    orders : tuple of int
        What the schemes declare.
    steps : ndarray (m,)
        Step sizes, descending [s].
    errors : ndarray (schemes, m)
        Largest difference of a coordinate from the reference at the end, in the units of coordinates; nan where a run failed.
    seconds : ndarray (schemes, m)
        Wall time of a run in the kernels [s].
    iterations : ndarray (schemes, m)
        Iterations per step.
    uncertainty : float
        How far the reference changed when its step was halved, at least the rounding of its largest coordinate at the start
        and at the end: errors below a multiple of it are not resolved.
    failures : dict of (str, float) to str
        Why a scheme failed at a step.
    unsuited : dict of str to str
        Why a scheme does not apply.
    """

    system: System
    duration: float
    schemes: tuple[str, ...]
    orders: tuple[int, ...]
    steps: Array
    errors: Array
    seconds: Array
    iterations: Array
    uncertainty: float
    failures: dict[tuple[str, float], str]
    unsuited: dict[str, str]

    def measured_order(self, scheme: str) -> float:
        """The order fitted to the smallest errors of a scheme that are well above the reference's own; nan of fewer than two."""
        row = self.errors[self.schemes.index(scheme)]
        counted = np.flatnonzero(row > ABOVE * self.uncertainty)[-FITTED:]
        if len(counted) < 2:
            return math.nan
        return convergence_order(row[counted], self.steps[counted])

    def __repr__(self) -> str:
        """A table with one row for each run, then which schemes do not apply, and why runs failed."""
        head = ("scheme", "step [s]", "error", "order", "time [ms]", "per step [µs]", "iterations")
        lines = aligned([head, *self._rows()], right=range(1, len(head)))
        lines += ["", *aligned(self._order_rows())]
        if self.unsuited:
            lines += ["", "do not apply:", *aligned(self.unsuited.items(), "  ")]
        lines += [
            "",
            f"errors: largest of a coordinate at t = {self.duration:g} s; the reference is known to {self.uncertainty:.0e}",
        ]
        lines += [f"{scheme}, step {step:g} s: {reason}" for (scheme, step), reason in self.failures.items()]
        return "\n".join([self.system.name, "", *lines])

    def _rows(self) -> Iterator[tuple[str, ...]]:
        for name, errors, seconds, iterations in zip(
            self.schemes, self.errors, self.seconds, self.iterations, strict=True
        ):
            before = math.nan
            for k, (h, error) in enumerate(zip(self.steps, errors, strict=True)):
                first = name if k == 0 else ""
                if math.isnan(error):
                    yield first, f"{h:g}", "failed", "", "", "", ""
                else:
                    is_resolved = min(before, error) > ABOVE * self.uncertainty
                    slope = math.log(before / error) / math.log(self.steps[k - 1] / h) if is_resolved else math.nan
                    per_step = 1e6 * seconds[k] * h / self.duration
                    costs = rounded(1e3 * seconds[k]), rounded(per_step), f"{iterations[k]:.1f}"
                    yield first, f"{h:g}", f"{error:.2e}", "" if math.isnan(slope) else f"{slope:.2f}", *costs
                before = error

    def _order_rows(self) -> Iterator[tuple[str, str]]:
        for name, order in zip(self.schemes, self.orders, strict=True):
            measured = self.measured_order(name)
            text = "too few errors above those of the reference" if math.isnan(measured) else f"measured {measured:.2f}"
            yield name, f"order {order}, {text}"

    def plot(self) -> Any:
        """Error over step, and error over wall time, as a matplotlib.figure.Figure.

        Raises
        ------
        ModelError
            If matplotlib is missing.
        """
        units = set(self.system.coordinate_units)
        unit = f" [{units.pop()}]" if len(units) == 1 and not units & {"", "-"} else ""
        curves = []
        for name, errors, seconds in zip(self.schemes, self.errors, self.seconds, strict=True):
            order = self.measured_order(name)
            label = name if math.isnan(order) else f"{name}: order {order:.2f}"
            curves.append(Curve(label, self.steps, errors, seconds))
        label = f"largest error of a coordinate at the end{unit}"
        return draw(self.system.name, f"errors at t = {self.duration:g} s", label, curves, self.uncertainty)


def compare(
    model: Model | System,
    schemes: Sequence[str] = ("midpoint", "simpson", "gauss3"),
    steps: Sequence[float] = (),
    duration: float | str | None = None,
    *,
    formulation: str | None = None,
    reference: str = REFERENCE,
) -> Comparison:
    """Run several schemes with several steps, and measure errors, orders and costs.

    Parameters
    ----------
    model : Model or System
    schemes : sequence of str
        Names of schemes.
    steps : sequence of float
        Two or more step sizes, descending, of which whole numbers make the duration [s]; by default the model's step, its half,
        and so on, four in all.
    duration : float or str, optional
        Simulated time [s]; by default the model's.
    formulation : str, optional
        tree or embedding, of a model.
    reference : str
        The scheme of the reference.

    Returns
    -------
    Comparison
        A run that fails at a step is missing there, and a scheme that does not apply, with the reason; the others go on.

    Raises
    ------
    ModelError
        If a scheme is not known, none applies to the system, or steps or duration cannot be used.
    StepError
        If the reference fails.

    Examples
    --------
    >>> import mbvi
    >>> bob = mbvi.Body(mass=1, center_of_mass=(0, 0, -1))
    >>> pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    >>> model = mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot}, initial={"pivot": {"position": 1}})
    >>> found = compare(model, ["midpoint", "simpson"], [0.1, 0.05, 0.025], duration=1)
    >>> [round(found.measured_order(name)) for name in found.schemes]
    [2, 4]
    """
    system = as_system(model, formulation)
    found = chosen_schemes(schemes, system)
    length = chosen_duration(system, duration)
    ladder = _check_steps(system, steps, length)
    (_, exact), (start, finer) = (_reference(system, reference, ladder[-1] / part, length) for part in (2, 4))
    rounding = np.spacing(np.abs([start, finer]).max())  # where a coordinate ends near 0, it is that of the way there
    failures: dict[tuple[str, float], str] = {}
    unsuited: dict[str, str] = {}

    def measured(scheme: Tableau | Method, h: float) -> tuple[float, float, float]:
        """Error, wall time and iterations per step."""
        try:
            run = timed(system, scheme, h, length, round(length / h))
        except StepError as error:
            failures[scheme.name, h] = error.reason
            return (math.nan,) * 3
        cost = run.statistics
        return float(np.abs(run.q[-1] - finer).max()), cost.seconds, cost.iterations / cost.steps

    rows = {}
    for scheme in found:
        try:
            rows[scheme] = [measured(scheme, h) for h in ladder]
        except ModelError as error:
            unsuited[scheme.name] = str(error)
    if not rows:
        raise ModelError(f"{found[0].name}: {unsuited[found[0].name]}")
    errors, seconds, iterations = np.array(list(rows.values())).transpose(2, 0, 1)
    return Comparison(
        system=system,
        duration=length,
        schemes=tuple(scheme.name for scheme in rows),
        orders=tuple(scheme.order for scheme in rows),
        steps=np.array(ladder),
        errors=errors,
        seconds=seconds,
        iterations=iterations,
        uncertainty=float(max(np.abs(exact - finer).max(), rounding)),
        failures=failures,
        unsuited=unsuited,
    )


def _check_steps(system: System, steps: Sequence[float], duration: float) -> list[float]:
    """The steps, or four by default, each a whole part of the duration."""
    ladder = [checked_time(step, "steps", system) for step in entries(steps, "steps")]
    if not ladder and system.model is not None:
        count = math.ceil(duration / float(system.model.resolved().simulation.step) * (1 - WHOLE))
        return [duration / (count * 2**k) for k in range(DEFAULT_STEPS)]
    if len(ladder) < 2:
        raise ModelError(f"steps: expected two or more, found {len(ladder)}; write for example 0.02, 0.01, 0.005 [s]")
    for before, step in zip([math.inf, *ladder], ladder, strict=False):
        if not 0 < step < before:
            found = f"{step:g}" if step <= 0 or math.isinf(before) else f"{step:g} after {before:g}"
            raise ModelError(f"steps: expected steps greater than 0, descending, found {found}")
        count = max(1, round(duration / step))
        if abs(count * step / duration - 1) > WHOLE:
            raise ModelError(
                f"steps: expected steps of which whole numbers make {duration:g} s, so that all runs end there, found {step:g}; "
                f"write for example {duration:g}/{count}"
            )
    return ladder


def _reference(system: System, scheme: str, step: float, duration: float) -> Array:
    """The coordinates (2, n) at the start and at the end of a fine run."""
    try:
        with doubts_expected():
            return simulate(system, scheme, step, duration, every=round(duration / step)).q
    except StepError as error:
        raise StepError(f"the reference, {scheme} with step {step:g} s: {error}", error.trajectory) from None
