"""Explicit Runge–Kutta methods on coordinates and velocities, for reference: they conserve nothing."""

from __future__ import annotations

from mbvi.kernels import runge_kutta
from mbvi.kernels.lagrangian import make_work
from mbvi.schemes.runge_kutta import EXPLICIT
from mbvi.steppers.loop import advance_velocities
from mbvi.steppers.run import Run, check_unconstrained
from mbvi.trajectory import Trajectory


def run(run: Run) -> Trajectory:
    """Run one of the methods of `mbvi.schemes.runge_kutta.EXPLICIT`.

    Raises
    ------
    ModelError
        If the system has constraints.
    StepError
        If the mass matrix becomes singular, or the state infinite or not a number.
    """
    check_unconstrained(run)
    arrays, tableau = run.system.arrays, EXPLICIT[run.method.name]
    space = runge_kutta.make_space(arrays, *tableau, tableau.c, run.q, run.v)
    work = make_work(arrays)
    return advance_velocities(run, lambda *steps: runge_kutta.run(arrays, work, space, *steps), space, work)
