"""Newmark's and Simpson's scheme for quadratic Lagrangians: matrices built once, and applied step by step.

Products are in extended precision where the machine has it, so that the conserved form φ(p, q) keeps to the rounding of the
stored states, however many steps.

Source: Rojas-Quintero, Dubois & Cabrera-Díaz 2024.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from mbvi.errors import ModelError, StabilityWarning, stack_level
from mbvi.results.trajectory import Trajectory
from mbvi.schemes import linear
from mbvi.schemes.method import Method
from mbvi.steppers.loop import Stepper, stepper_of_map
from mbvi.steppers.run import Run
from mbvi.system.quadratic import QuadraticLagrangian, quadratic_lagrangian

Array = np.ndarray
LARGEST_GROWTH = {"newmark": 2.0, "simpson_linear": math.sqrt(24.0), "simpson_condensed": math.sqrt(24.0)}
"""The h times the rate of a growing mode at which the equations of a step are singular."""
NEWMARK = "Newmark, J. Eng. Mech. Div. 85 (1959); Kane, Marsden, Ortiz & West, Int. J. Numer. Methods Eng. 49 (2000)"
QUADRATIC = "Rojas-Quintero, Dubois & Cabrera-Díaz, Axioms 13 (2024)"
SCHEMES = (
    Method(
        "newmark",
        2,
        NEWMARK,
        "midpoint for quadratic Lagrangians: matrices built once; stable at every step",
        "linear",
    ),
    Method(
        "simpson_linear",
        4,
        QUADRATIC,
        "simpson for quadratic Lagrangians: matrices built once, with the internal point; stable for h ω < 2√2",
        "linear",
    ),
    Method(
        "simpson_condensed",
        4,
        QUADRATIC,
        "simpson_linear's motion, the internal point eliminated beforehand",
        "linear",
    ),
)


def begin(run: Run) -> Stepper:
    """What does the steps of newmark, simpson_linear (with the internal point among the unknowns) or simpson_condensed (without).

    Raises
    ------
    ModelError
        If the Lagrangian is not quadratic, or the equations of a step are singular.

    Warns
    -----
    StabilityWarning
        If h ω ≥ 2√2 for the fastest mode, with Simpson's scheme.
    """
    lagrangian = quadratic_lagrangian(run.system, run.method.name)
    _check_step(run, lagrangian)
    if run.method.name == "simpson_linear":
        return _with_internal_point(run, lagrangian)
    try:
        step, exact = linear.STEPS[run.method.name](*lagrangian, run.step), np.longdouble
    except np.linalg.LinAlgError:
        raise ModelError(
            f"step: expected other than 2√2/ω of every mode, found {run.step:g} s: with scheme {run.method.name} its equations "
            "are singular; take simpson_linear, or another step"
        ) from None
    Y, drift, y = step.Y.astype(exact), 2 * step.xi.astype(exact), step.y.astype(exact)

    def one_step(p: Array, q: Array) -> tuple[Array, Array]:
        middle = p + (y - Y @ q)
        q = q + drift @ middle
        return middle + (y - Y @ q), q

    return stepper_of_map(run, one_step, exact)


def _with_internal_point(run: Run, lagrangian: QuadraticLagrangian) -> Stepper:
    n, C = run.system.dimension, linear.simpson_with_internal_point(*lagrangian, run.step)
    of_p, of_q, shift = C[n:, :n], C[n:, n : 2 * n], C[n:, 2 * n]

    def one_step(p: Array, q: Array) -> tuple[Array, Array]:
        after = of_p @ p + of_q @ q + shift
        return after[:n], after[n:]

    return stepper_of_map(run, one_step, np.longdouble)


def internal_points(trajectory: Trajectory) -> Array:
    """The coordinates (N + 1, n) half a step after every stored state, by Simpson's scheme.

    Parameters
    ----------
    trajectory : Trajectory
        A run of simpson_linear or simpson_condensed, or of simpson on a quadratic Lagrangian.

    Raises
    ------
    ModelError
        If the run was of another scheme.

    Examples
    --------
    >>> import mbvi, sympy
    >>> x = sympy.Symbol("x")
    >>> system = mbvi.from_sympy([x], [[1]], x**2 / 2, initial_q=[1.0])
    >>> run = mbvi.simulate(system, "simpson_linear", step=0.1, duration=1.0)
    >>> bool(abs(internal_points(run)[:, 0] - np.cos(run.t + 0.05)).max() < 1e-6)
    True
    """
    name = trajectory.scheme.name
    if linear.STEPS.get(name) is not linear.simpson:
        raise ModelError(f"internal_points: expected a run of simpson_linear or simpson_condensed, found one of {name}")
    lagrangian = quadratic_lagrangian(trajectory.system)
    C = linear.simpson_with_internal_point(*lagrangian, trajectory.step)[: len(lagrangian.f)].astype(float)
    return np.hstack([trajectory.p, trajectory.q, np.ones((len(trajectory), 1))]) @ C.T


def _check_step(run: Run, lagrangian: QuadraticLagrangian) -> None:
    """Warn of a step that is not stable; refuse one whose equations are singular."""
    from scipy.linalg import eigvalsh

    squares = eigvalsh(lagrangian.K, lagrangian.M)
    name, h = run.method.name, run.step
    growth = math.sqrt(max(-squares[0], 0.0))
    if growth * h >= LARGEST_GROWTH[name]:
        raise ModelError(
            f"step: expected less than {LARGEST_GROWTH[name] / growth:.6g} s, found {h:g} s: with scheme {name} there is "
            f"no longer step for a mode that grows by itself at {growth:.6g} 1/s"
        )
    fastest = math.sqrt(max(squares[-1], 0.0))
    if name != "newmark" and fastest * h >= linear.SIMPSON_LIMIT:
        warnings.warn(
            f"step: scheme {name} is stable for steps below 2√2/ω_max, here {linear.SIMPSON_LIMIT / fastest:.6g} s with "
            f"ω_max = {fastest:.6g} rad/s, found {h:g} s; take a smaller step, or newmark",
            StabilityWarning,
            stacklevel=stack_level(),
        )
