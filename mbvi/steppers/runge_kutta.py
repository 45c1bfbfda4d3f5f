"""Explicit Runge–Kutta methods on coordinates and velocities, for reference: they conserve nothing."""

from __future__ import annotations

from mbvi.kernels.mechanics.lagrangian import make_work
from mbvi.kernels.methods import runge_kutta
from mbvi.results.trajectory import Trajectory
from mbvi.schemes.method import Method
from mbvi.schemes.runge_kutta import ButcherTableau
from mbvi.steppers.loop import advance_velocities
from mbvi.steppers.run import Run, check_unconstrained


def run(run: Run) -> Trajectory:
    """Run an explicit method: its numbers are those of a `ButcherTableau`.

    Raises
    ------
    ModelError
        If the system has constraints.
    StepError
        If the mass matrix becomes singular, or the state infinite or not a number.
    """
    check_unconstrained(run)
    method, arrays = run.method, run.system.arrays
    assert isinstance(method, Method)
    tableau = ButcherTableau.of(method.numbers, method.name)
    space = runge_kutta.make_space(arrays, tableau.A, tableau.b, tableau.c, run.q, run.v)
    work = make_work(arrays)
    return advance_velocities(run, lambda *steps: runge_kutta.run(arrays, work, space, *steps), space, work)
