"""The direct midpoint method and its family, on coordinates and velocities.

Source: Mutze, A simple variational integrator for general holonomic mechanical systems, section 6.
"""

from __future__ import annotations

import numpy as np

from mbvi.errors import ModelError
from mbvi.kernels.mechanics.lagrangian import make_work
from mbvi.kernels.methods import direct_midpoint as kernels
from mbvi.model.arguments import check_fraction
from mbvi.schemes.method import Method
from mbvi.steppers.loop import Stepper, stepper_of_velocities
from mbvi.steppers.run import Run, check_unconstrained

MUTZE = "Mutze, A simple variational integrator for general holonomic mechanical systems"


def begin(run: Run) -> Stepper:
    """What does the steps of a method that `direct_midpoint` gives: its numbers are g, and the iterations or −1.

    Raises
    ------
    ModelError
        If the system has constraints.
    """
    check_unconstrained(run)
    arrays, work = run.system.arrays, make_work(run.system.arrays)
    space = kernels.make_space(arrays, run.q, run.v)
    assert isinstance(run.method, Method)
    g, iterations = run.method.numbers
    return stepper_of_velocities(
        run,
        lambda *steps: kernels.run(arrays, work, space, g, int(iterations), *steps),
        space,
        work,
        space.count,
    )


def direct_midpoint(g: float = 0.0, iterations: int | None = None) -> Method:
    """The direct midpoint method and its family: parabolas with the system's acceleration in the middle of the step.

    On a step h = 2τ from (t, q, v), with the system's acceleration A(t, q, v),

        q' = q + 2τ v + 2τ² a,    v' = v + 2τ a,    a = A(t + τ, q + τ v + g τ² a, v + τ a)

    It is explicit where g = 0 and A does not depend on v.

    Parameters
    ----------
    g : float
        0 is the method of choice, 1 the implicit midpoint rule on coordinates and velocities.
    iterations : int, optional
        How often a ← (a* + a**)/2 is applied, a* being the right side at a and a** that at a*, after the start with
        A(t + τ, q + τ v, v); by default until the equation is solved.

    Raises
    ------
    ModelError
        If g is not between 0 and 1, or iterations no whole number of at least 0.

    Examples
    --------
    >>> direct_midpoint(g=0.6).name
    'direct_midpoint(g=0.6)'

    Source: Mutze, section 6.
    """
    check_fraction(g, "g")
    is_count = False
    if isinstance(iterations, int | np.integer) and not isinstance(iterations, bool):
        is_count = bool(0 <= iterations < 2**31)
    if not (iterations is None or is_count):
        raise ModelError(
            f"iterations: expected a whole number of at least 0, or none to solve the equation, found {iterations!r}"
        )
    given = [f"g={float(g)!r}"] * (g != 0) + [f"iterations={iterations}"] * is_count
    return Method(
        f"direct_midpoint({', '.join(given)})" if given else "direct_midpoint",
        1 if iterations == 0 else 2,
        MUTZE,
        "parabolas with the acceleration in the middle of the step; explicit where that does not depend on velocities",
        "direct_midpoint",
        is_symmetric=iterations is None,
        is_variable=True,
        numbers=(float(g), -1.0 if iterations is None else float(iterations)),
    )


SCHEMES = (direct_midpoint(),)
FAMILIES = (direct_midpoint,)
