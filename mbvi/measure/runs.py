"""What `compare` and `bench` share: a run and its wall time, and the picture of errors over steps and over wall times."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from mbvi.catalog import find_scheme
from mbvi.errors import ModelError, doubts_expected
from mbvi.model import Model
from mbvi.model.expressions import show, wrong
from mbvi.model.mass_properties import checked_properties
from mbvi.pictures import style
from mbvi.results.trajectory import Trajectory
from mbvi.schemes.method import Method
from mbvi.schemes.tableau import Tableau
from mbvi.simulation import simulate
from mbvi.steppers.independent import applicable
from mbvi.system.poses import all_poses
from mbvi.system.system import System

Array = np.ndarray
ABOVE = 30.0  # factor of the reference's own error from which an error is well resolved
CONVERGED = 1e-3  # part of its largest error below which a scheme converges
MOST_TICKS = 6  # steps up to which each has its number at the axis
ROOM = 0.13  # part of the axis that such a number takes
SHORT, LONG, LEAST_RUNS, MOST_RUNS = (
    0.05,
    0.5,
    3,
    20,
)  # runs are repeated within this time, and the fastest one counts


def entries(values: Any, where: str) -> list[Any]:
    """What a list contains; a text is none."""
    if (
        isinstance(values, str)
        or not isinstance(values, Iterable)
        or (isinstance(values, np.ndarray) and not values.ndim)
    ):
        raise ModelError(f"{where}: {wrong('a list', show(values))}")
    return list(values)


def chosen_schemes(names: Any, system: System) -> list[Tableau | Method]:
    """The schemes of a list of names, as they run the system, each once."""
    found = list(dict.fromkeys(applicable(system, find_scheme(name)) for name in entries(names, "schemes")))
    if not found:
        raise ModelError("schemes: expected one or more names of schemes, found none")
    return found


def timed(system: System, scheme: Tableau | Method, step: float, duration: float, every: int) -> Trajectory:
    """A run; if it is short, the fastest of some."""
    runs: list[Trajectory] = []
    spent = 0.0
    while spent < SHORT or (spent < LONG and len(runs) < LEAST_RUNS):
        if len(runs) == MOST_RUNS:
            break
        with doubts_expected():
            runs.append(simulate(system, scheme, step, duration, every=every))
        spent += runs[-1].statistics.seconds
    return min(runs, key=lambda run: run.statistics.seconds)


class BodyPoints:
    """Points of all bodies of a system, by which runs are compared: a function of coordinates (states, n).

    They are the centre of mass of each body, and three points that lie off it along the body's axes by its radius of gyration k,
    m k² = ½ tr J. A system without a model has its coordinates instead.
    """

    def __init__(self, system: System) -> None:
        self.system = system
        self.arms = dict(_arms(system.model)) if system.model else {}

    def __call__(self, q: Array) -> Array:
        """Places (states, points, 3) [m], or the coordinates (states, n, 1)."""
        if not self.arms:
            return q[:, :, None]
        poses = all_poses(self.system, q)
        return np.stack([poses[name].point(arm) for name, arms in self.arms.items() for arm in arms], axis=1)


def _arms(model: Model) -> Iterator[tuple[str, list[Array]]]:
    """The points of every body, in its frame (3,) [m]."""
    for name, body in model.resolved().bodies.items():
        mass, center, inertia = checked_properties(body, model.files)
        radius = math.sqrt(max(0.0, np.trace(inertia)) / (2 * mass)) if mass > 0 else 0.0
        yield name, [center, *(center + radius * axis for axis in np.eye(3))] if radius > 0 else [center]


def largest_distance(places: Array, others: Array) -> float:
    """The largest distance of a point in one run from where it is in another."""
    return float(np.linalg.norm(places - others, axis=2).max())


class Curve(NamedTuple):
    """Errors (m,) of a scheme over descending steps (m,) [s] and wall times (m,) [s]; nan where a run failed."""

    label: str
    steps: Array
    errors: Array
    seconds: Array

    def until_round_off(self, unresolved: float) -> Curve:
        """The curve to where smaller steps, of a scheme that converges, do not even halve the error: there begins round-off."""
        if np.isnan(self.errors).all():
            return self
        small = max(ABOVE * unresolved, CONVERGED * float(np.nanmax(self.errors)))
        for k, error in enumerate(self.errors):
            if error <= small and not np.any(self.errors[k + 1 :] < error / 2):
                return Curve(self.label, self.steps[: k + 1], self.errors[: k + 1], self.seconds[: k + 1])
        return self

    def without_zeros(self) -> Curve:
        """The curve without errors of 0, for which logarithmic axes have no place; its label says if it has no others."""
        kept = self.errors != 0.0
        label = self.label if kept.any() else f"{self.label}: without error"
        return Curve(label, self.steps[kept], self.errors[kept], self.seconds[kept])


def _labels(steps: Sequence[float]) -> list[str]:
    """Labels of increasing steps on a logarithmic axis, of which those are empty that would be written over the one before.

    Examples
    --------
    >>> _labels([0.001, 0.0125, 0.01429, 0.1])
    ['0.001', '0.0125', '', '0.1']
    >>> _labels([])
    []
    """
    found, last, room = [], 0.0, (max(steps, default=1.0) / min(steps, default=1.0)) ** ROOM
    for step in steps:
        is_free = step > last * room
        found.append(f"{step:.4g}" if is_free else "")
        last = step if is_free else last
    return found


def draw(title: str, details: str, label: str, curves: Sequence[Curve], unresolved: float, goal: float = 0.0) -> Any:
    """Errors over steps, and over wall times, to where round-off begins, as a matplotlib.figure.Figure.

    Errors below `unresolved` are on grey; a line stands at `goal`.
    """
    curves = [curve.until_round_off(unresolved) for curve in curves]
    is_logarithmic = any(np.any(curve.errors > 0) for curve in curves)
    curves = [curve.without_zeros() for curve in curves] if is_logarithmic else curves
    with style.fonts(title):
        drawing = style.new_figure(9.5, 4.0)
        left, right = drawing.subplots(1, 2, sharey=True)
        for i, curve in enumerate(curves):
            k = i % len(style.COLOURS)
            others = (i + i // len(style.COLOURS)) % len(style.COLOURS)  # a second curve of a colour has other dashes
            look = {"color": style.COLOURS[k], "linestyle": style.DASHES[others], "marker": style.MARKERS[others]}
            left.plot(curve.steps, curve.errors, markerfacecolor="none", label=curve.label, **look)
            right.plot(1e3 * curve.seconds, curve.errors, markerfacecolor="none", **look)
        left.set_ylabel(label)
        for axes, text in ((left, "step [s]"), (right, "wall time [ms]")):
            style.dress(axes)
            axes.set(xscale="log", yscale="log" if is_logarithmic else "linear", xlabel=text)
            style.plain_log(axes.xaxis)
            if goal:
                axes.axhline(goal, color=style.GREY, linewidth=0.8, zorder=0)
        steps = {float(step) for curve in curves for step in curve.steps}
        if len(steps) <= MOST_TICKS:
            left.set_xticks(sorted(steps), _labels(sorted(steps)))
        low, high = left.get_ylim()
        for axes in (left, right):
            axes.axhspan(low, max(low, unresolved), color="#EEEEEE", zorder=0)
        left.set_ylim(low, high)
        handles, labels = left.get_legend_handles_labels()
        drawing.legend(handles, labels, loc="outside right center", frameon=False)
        grey = "; what is grey, the reference does not resolve" if unresolved > low else ""
        style.entitle(drawing, title, f"{details}{grey}")
    return drawing
