"""Steppers of methods that are no Galerkin schemes: one file each, with a function from a `Run` to a trajectory."""

from collections.abc import Callable

from mbvi.results.trajectory import Trajectory
from mbvi.steppers import direct_midpoint, discrete_gradient, independent, linear, parabola, runge_kutta, splitting
from mbvi.steppers.run import Run

RUNNERS: dict[str, Callable[[Run], Trajectory]] = {
    "linear": linear.run,
    "direct_midpoint": direct_midpoint.run,
    "parabola": parabola.run,
    "runge_kutta": runge_kutta.run,
    "discrete_gradient": discrete_gradient.run,
    "splitting": splitting.run,
    "independent": independent.run,
}
"""By the names that `Method.runner` has."""
