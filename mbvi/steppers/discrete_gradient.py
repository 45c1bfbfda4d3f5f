"""The energy–momentum method, and the energy-preserving scheme of Chorin et al.: what they apply to, and what does their steps.

Sources: Gonzalez, Physica D 132 (1999); Chorin, Hughes, McCracken & Marsden, Commun. Pure Appl. Math. 31 (1978).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mbvi.analysis.symmetry import find_invariants
from mbvi.errors import ModelError
from mbvi.kernels.mechanics.lagrangian import make_work
from mbvi.kernels.methods import discrete_gradient as kernels
from mbvi.model.arguments import check_fraction
from mbvi.schemes.method import Method
from mbvi.steppers.carried import carried
from mbvi.steppers.conditions import ROUNDING, TOLERANCE, check_conservative, check_momentum, positions, refused
from mbvi.steppers.loop import REASONS, Stepper
from mbvi.steppers.run import Run
from mbvi.system.assemble import assemble
from mbvi.system.system import System

Array = np.ndarray
QUATERNION = ("qw", "qx", "qy", "qz")
GONZALEZ = "Gonzalez, J. Nonlinear Sci. 6 (1996); Physica D 132 (1999)"
CHORIN = "Chorin, Hughes, McCracken & Marsden, Commun. Pure Appl. Math. 31 (1978)"


def begin(run: Run) -> Stepper:
    """What does the steps of energy_momentum, or a method that `chorin` gives: its numbers are the four constants.

    Raises
    ------
    ModelError
        If the method does not apply to the system.
    """
    system, method = run.system, run.method
    assert isinstance(method, Method)
    is_chorin = bool(method.numbers)
    check_conservative(system, method.name)
    check_momentum(system, method.name)
    if is_chorin:
        if system.constraint_count:
            raise refused(system, method.name, "no constraints", f"constraints, as {system.constraint_names[0]}")
        M, fields = np.eye(system.dimension), np.zeros((0, system.dimension, system.dimension + 1))
    else:
        M = _constant_mass_matrix(system)
        fields = _symmetries(system)
    arrays = system.arrays
    redundant = np.maximum(arrays.redundant[arrays.reference > 0], 0).sum() + np.sum(arrays.row_nodes[:, 0] < 0)
    kind = kernels.CHORIN if is_chorin else kernels.ENERGY_MOMENTUM
    space = kernels.make_energies(kind, arrays, M, fields, int(redundant), np.array(method.numbers))
    space.q[:], space.p[:] = run.q, run.p
    work = make_work(arrays)
    to_kernel = arrays, work, space, run.start_time, run.step
    return Stepper(
        lambda first, last, *out: kernels.run(*to_kernel, first, last, run.every, *out),
        carried(space, work),
        lambda: (space.count[kernels.ITERATIONS], space.count[kernels.WORST], 0, space.count[kernels.FACTORS]),
        lambda step, status: run.failure(step, REASONS[status], _remedy(system) if is_chorin else ""),
    )


def _remedy(system: System) -> str:
    """Instead of chorin, where a smaller step may not help."""
    if system.dimension == 1:
        return ""
    others = "midpoint or simpson" if _mass_problem(system) else "energy_momentum, midpoint or simpson"
    return f"Where the force is across the motion, a step of chorin may have no solution, however small: take {others}."


class _Problem(NamedTuple):
    """What energy_momentum expects of a system, what is there instead, and what may be done about it besides another scheme."""

    expected: str
    found: str
    remedy: str = ""


def _constant_mass_matrix(system: System) -> Array:
    """M, of a system to which the method applies.

    Raises
    ------
    ModelError
        If it does not; another formulation is named if it applies there.
    """
    problem = _mass_problem(system) or _constraint_problem(system)
    if problem:
        remedies = [problem.remedy, _other_formulation(system), "take midpoint or simpson, which run any system"]
        raise refused(system, "energy_momentum", *problem[:2], ", or ".join(filter(None, remedies)))
    return system.mass_matrix(system.given_q)


def _other_formulation(system: System) -> str:
    """The other formulation of a model as a remedy; nothing if the method does not apply there either."""
    if system.model is None:
        return ""
    other = "tree" if system.model.formulation == "embedding" else "embedding"
    try:
        there = assemble(system.model, other)
    except ModelError:
        return ""
    return "" if _mass_problem(there) or _constraint_problem(there) else f"take formulation: {other}"


def _mass_problem(system: System) -> _Problem | None:
    """A mass matrix that is not constant, or singular."""
    M = system.mass_matrix(system.given_q)
    inertias = np.sqrt(np.outer(np.diag(M), np.diag(M)))
    bounds = TOLERANCE * inertias + ROUNDING * inertias.max()
    for q in positions(system):
        change = np.abs(system.mass_matrix(q) - M)
        if not (change <= bounds).all():
            with np.errstate(divide="ignore", invalid="ignore"):
                name = system.coordinate_names[int(np.argmax(np.nan_to_num(change / bounds).max(axis=0)))]
            return _Problem("a constant mass matrix", f"the inertia of {name}, which depends on the position")
    scales = np.sqrt(np.where(np.diag(M) > 0, np.diag(M), 1.0))
    sizes, directions = np.linalg.eigh(M / np.outer(scales, scales))
    if sizes[0] > TOLERANCE:
        return None
    name = system.coordinate_names[int(np.abs(directions[:, 0]).argmax())]
    is_turn = name.rsplit(".", 1)[-1] in QUATERNION  # whose inertia, if there was some, would depend on the position
    return _Problem("a regular mass matrix", f"no inertia of {name}", "" if is_turn else "give the body some")


def _constraint_problem(system: System) -> _Problem | None:
    """Constraints at most quadratic in q have a Jacobian that is affine: G(a) + G(b) = G(0) + G(a + b)."""
    if not system.constraint_count:
        return None
    zero = np.zeros(system.dimension)
    for a, b in zip(positions(system), positions(system)[::-1], strict=True):
        corners = [system.constraint_jacobian(q) for q in (zero, a, b, a + b)]
        excess = np.abs(corners[0] - corners[1] - corners[2] + corners[3]).max(axis=1)
        excess /= np.maximum(np.max(np.abs(corners), axis=(0, 2)), 1e-300)
        if not excess.max() <= TOLERANCE:
            name = system.constraint_names[int(np.argmax(excess))]
            return _Problem("constraints at most quadratic in the coordinates", name)
    return None


def _symmetries(system: System) -> Array:
    """The fields ξ(q) = A q + b of the system's linear symmetries, as [A b], (m, n, n + 1)."""
    n, found = system.dimension, find_invariants(system)
    fields = np.zeros((len(found), n, n + 1))
    for field, invariant in zip(fields, found, strict=True):
        for first, factor in invariant.parts:
            rows = slice(first, first + len(factor))
            if factor.ndim == 2:
                field[rows, rows] += factor
            else:
                field[rows, n] += factor
    return fields


def chorin(alpha: float = 0.5, beta: float = 0.5, gamma: float = 0.5, delta: float = 0.5) -> Method:
    """The energy-preserving scheme of Chorin, Hughes, McCracken and Marsden, with its four constants.

        q' = q + h (H(q', p') − H(q', p))/(λ·(p' − p)) λ,    λ = ∂H/∂p(α q' + (1 − α) q, β p' + (1 − β) p)
        p' = p − h (H(q', p) − H(q, p))/(μ·(q' − q)) μ,      μ = ∂H/∂q(γ q' + (1 − γ) q, δ p' + (1 − δ) p)

    The energy is conserved with any of them. Of order 2 where M is constant and β = γ = ½, and of order 1 elsewhere, but for
    systems of one coordinate, whose steps do not depend on them if M is constant.

    Parameters
    ----------
    alpha, beta, gamma, delta : float
        From 0 to 1.

    Raises
    ------
    ModelError
        If one is not between 0 and 1.

    Examples
    --------
    >>> chorin(beta=0.75).name
    'chorin(beta=0.75)'

    Source: Marsden & Wendlandt 1997, equations 20 to 23.
    """
    constants = {"alpha": alpha, "beta": beta, "gamma": gamma, "delta": delta}
    for name, value in constants.items():
        check_fraction(value, name)
    given = [f"{name}={float(value)!r}" for name, value in constants.items() if value != 0.5]
    return Method(
        f"chorin({', '.join(given)})" if given else "chorin",
        2 if beta == gamma == 0.5 else 1,
        CHORIN,
        "discrete gradients: energy kept, without constraints; of order 1 where M depends on q",
        "discrete_gradient",
        is_symmetric=False,
        numbers=tuple(map(float, constants.values())),
    )


SCHEMES = (
    Method(
        "energy_momentum",
        2,
        GONZALEZ,
        "discrete gradients: energy, momenta and constraints kept, for constant M; not symplectic",
        "discrete_gradient",
    ),
    chorin(),
)
FAMILIES = (chorin,)
