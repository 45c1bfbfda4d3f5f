"""Explicit Runge–Kutta methods on coordinates and velocities, for reference: they conserve nothing."""

from __future__ import annotations

import numpy as np

from mbvi.kernels.mechanics.lagrangian import make_work
from mbvi.kernels.methods import runge_kutta as kernels
from mbvi.schemes.method import Method
from mbvi.schemes.runge_kutta import ButcherTableau
from mbvi.steppers.loop import Stepper, stepper_of_velocities
from mbvi.steppers.run import Run, check_unconstrained

KUTTA = "Kutta, Z. Math. Phys. 46 (1901)"
RUNGE = "Runge, Math. Ann. 46 (1895)"
HEUN = "Heun, Z. Math. Phys. 45 (1900)"
RK4 = ButcherTableau(
    np.array([[0, 0, 0, 0], [1 / 2, 0, 0, 0], [0, 1 / 2, 0, 0], [0, 0, 1, 0]]),
    np.array([1 / 6, 1 / 3, 1 / 3, 1 / 6]),
    "rk4",
)
EXPLICIT_MIDPOINT = ButcherTableau(np.array([[0, 0], [1 / 2, 0]]), np.array([0.0, 1.0]), "explicit_midpoint")
EXPLICIT_TRAPEZOIDAL = ButcherTableau(np.array([[0.0, 0], [1, 0]]), np.array([1 / 2, 1 / 2]), "heun")


def begin(run: Run) -> Stepper:
    """What does the steps of an explicit method: its numbers are those of a `ButcherTableau`.

    Raises
    ------
    ModelError
        If the system has constraints.
    """
    check_unconstrained(run)
    method, arrays = run.method, run.system.arrays
    assert isinstance(method, Method)
    tableau = ButcherTableau.of(method.numbers, method.name)
    space = kernels.make_space(arrays, tableau.A, tableau.b, tableau.c, run.q, run.v)
    work = make_work(arrays)
    return stepper_of_velocities(run, lambda *steps: kernels.run(arrays, work, space, *steps), space, work)


def method_of(tableau: ButcherTableau, source: str = "the user's own", text: str = "a method of your own") -> Method:
    """The method of an explicit tableau.

    Raises
    ------
    ModelError
        If it is no explicit method.
    """
    tableau = tableau.checked()
    return Method(
        tableau.name,
        tableau.order,
        source,
        f"{text}; explicit, on coordinates and velocities, conserves nothing",
        "runge_kutta",
        is_symmetric=False,
        is_variable=True,
        numbers=tableau.numbers,
    )


SCHEMES = (
    method_of(RK4, KUTTA, "the classical method of four stages"),
    method_of(EXPLICIT_MIDPOINT, RUNGE, "half an Euler step, then a step with the rates found there"),
    method_of(EXPLICIT_TRAPEZOIDAL, HEUN, "mean of the rates at the start and after an Euler step"),
)
