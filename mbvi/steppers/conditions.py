"""What methods that do not run every system ask of one."""

from __future__ import annotations

import numpy as np

from mbvi.errors import ModelError
from mbvi.model.expressions import wrong
from mbvi.schemes.method import Method
from mbvi.schemes.tableau import Tableau
from mbvi.steppers.run import Run
from mbvi.system.system import System
from mbvi.system.work import what_does_work

Array = np.ndarray
TOLERANCE, ROUNDING = 1e-9, 1e-14  # tolerances relative to a coordinate's own numbers, and to the largest
STATES = 4  # number of random states at which M and the constraints are evaluated


def refused(system: System, scheme: str, expected: str, found: str, remedy: str = "") -> ModelError:
    """The error of a scheme that does not apply to the system."""
    remedy = remedy or "take midpoint or simpson, which run any system"
    return ModelError(f"{system.name}: scheme {scheme}: expected {expected}, found {found}; {remedy}")


def check_conservative(system: System, scheme: str) -> None:
    """Refuse a system whose energy is not conserved.

    Raises
    ------
    ModelError
    """
    if not system.is_conservative or system.is_driven:
        raise refused(system, scheme, "an energy that the motion conserves", what_does_work(system))


def check_momentum(system: System, scheme: str) -> None:
    """Refuse a system whose momenta are not M v.

    Raises
    ------
    ModelError
    """
    if system.arrays.vector_potential:
        raise refused(system, scheme, "momenta M(q) v", "a potential that depends on velocities")


def check_rates(system: System, method: Tableau | Method) -> None:
    """Refuse a scheme that has no place for constraints on velocities, if the system has some.

    They hold at the middle of a straight segment, so that the scheme is midpoint or a composition of it.

    Raises
    ------
    ModelError
    """
    if system.is_nonholonomic and not is_midpoint(method):
        found = f"{system.constraint_names[system.arrays.rates[0]]}, which holds a velocity"
        remedy = "take midpoint, or a composition of it: suzuki4, kahan_li6 or kahan_li8"
        raise refused(system, method.name, "constraints on positions", found, remedy)


def is_midpoint(method: Tableau | Method) -> bool:
    """Whether a scheme is the midpoint rule, or a composition of it."""
    return isinstance(method, Tableau) and method.stages == 1 and tuple(method.nodes) == (0.5,)


def check_contacts(run: Run) -> None:
    """Refuse stops and dry friction of schemes that do not solve steps of any length, or that have several parts.

    Raises
    ------
    ModelError
    """
    if run.chart is not None or not isinstance(run.method, Tableau):
        found = "a chart" if run.chart is not None else f"scheme {run.method.name}"
        expected = "a Galerkin scheme, since it has stops or dry friction"
        raise ModelError(f"{run.system.name}: {wrong(expected, found, 'take midpoint, simpson or lobatto4')}")


def positions(system: System) -> Array:
    """Random positions about the initial one, (STATES, n)."""
    return system.given_q + np.random.default_rng(5).standard_normal((STATES, system.dimension))
