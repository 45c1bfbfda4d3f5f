"""The direct midpoint method and its family, on coordinates and velocities.

Source: Mutze, A simple variational integrator for general holonomic mechanical systems, section 6.
"""

from __future__ import annotations

from mbvi.kernels.mechanics.lagrangian import make_work
from mbvi.kernels.methods import direct_midpoint
from mbvi.results.trajectory import Trajectory
from mbvi.schemes.method import Method
from mbvi.steppers.loop import advance_velocities
from mbvi.steppers.run import Run, check_unconstrained


def run(run: Run) -> Trajectory:
    """Run a method that `mbvi.schemes.catalog.direct_midpoint` gives: its numbers are g, and the iterations or −1.

    Raises
    ------
    ModelError
        If the system has constraints.
    StepError
        If the equation for the acceleration of a step cannot be solved, or the state becomes infinite or not a number.
    """
    check_unconstrained(run)
    arrays, work = run.system.arrays, make_work(run.system.arrays)
    space = direct_midpoint.make_space(arrays, run.q, run.v)
    assert isinstance(run.method, Method)
    g, iterations = run.method.numbers
    return advance_velocities(
        run,
        lambda *steps: direct_midpoint.run(arrays, work, space, g, int(iterations), *steps),
        space,
        work,
        space.count,
    )
