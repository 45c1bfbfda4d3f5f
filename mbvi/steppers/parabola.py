"""One-step variational methods on coordinates and velocities: the parabola over the step makes its action stationary.

parabolic_path takes forces without potential by their virtual work, midpoint_variation by a term of the action, and
three_point is the latter by the place in the middle of the step.

Source: Mutze, A simple variational integrator for general holonomic mechanical systems, equations 44, 54 and 57.
"""

from __future__ import annotations

from mbvi.analysis.small_step import POINTS, WEIGHTS
from mbvi.kernels.mechanics.lagrangian import make_work
from mbvi.kernels.methods import parabola
from mbvi.schemes.method import Method
from mbvi.steppers.conditions import refused
from mbvi.steppers.loop import Stepper, stepper_of_velocities
from mbvi.steppers.run import Run, check_unconstrained

MUTZE = "Mutze, A simple variational integrator for general holonomic mechanical systems"
TEXTS = {
    "parabolic_path": "stationary action of a parabola, with the virtual work of forces",
    "midpoint_variation": "stationary action of a parabola, to which forces contribute their own",
    "three_point": "midpoint_variation's motion, from the place in the middle of the step",
}
SCHEMES = tuple(Method(name, 2, MUTZE, text, "parabola", is_variable=True) for name, text in TEXTS.items())


def begin(run: Run) -> Stepper:
    """What does the steps of parabolic_path, midpoint_variation or three_point.

    Raises
    ------
    ModelError
        If the system has constraints, or forces contribute to the action of which not all derivatives are known.
    """
    check_unconstrained(run)
    system, name = run.system, run.method.name
    is_force_varied = name != "parabolic_path" and system.unforced is not system
    if is_force_varied and system._feedback is not None and system.arrays.second_size < system.dimension**2:
        expected = "inputs by functions of the state of a system whose second derivatives are one block"
        raise refused(system, name, expected, f"{system.dimension} coordinates in {len(system.arrays.nodes)} blocks")
    own = system.unforced.arrays if is_force_varied else system.arrays
    arrays, work = system.arrays, make_work(system.arrays)
    space = parabola.make_space(
        arrays,
        POINTS,
        WEIGHTS,
        run.q,
        run.v,
        is_three_point=name == "three_point",
        is_force_varied=is_force_varied,
    )
    return stepper_of_velocities(
        run, lambda *steps: parabola.run(arrays, own, work, space, *steps), space, work, space.count
    )
