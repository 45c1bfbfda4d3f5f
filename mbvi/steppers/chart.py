"""The discrete Euler–Lagrange equations in the generalized coordinates of a chart ψ, without multipliers.

With the discrete momentum p of the step before and x = ψ(a), the equations of a step from a to b,

    Dψ(a)ᵀ (p + D_1 L_d(x, ψ(b))) = 0,     p' = D_2 L_d(x, ψ(b))

are those of the discrete Lagrangian restricted to the constraint manifold, L_d(ψ(a), ψ(b)). They have the same solutions as those
with constraints g(q) = 0 and multipliers.

Source: Marsden & Wendlandt 1997, equations 48 to 50 and theorem 6.1.
"""

from __future__ import annotations

import numpy as np

from mbvi.analysis.noether import discrete_momenta
from mbvi.errors import ModelError
from mbvi.model.arguments import check_kind
from mbvi.model.expressions import wrong
from mbvi.schemes.tableau import Tableau
from mbvi.steppers.loop import Stepper, stepper_of_map
from mbvi.steppers.run import Run
from mbvi.system.chart import Chart
from mbvi.system.work import what_does_work

Array = np.ndarray
MAX_ITERATIONS = 50
ON_CONSTRAINTS = 1e-9
SMALL = 1e-8  # relative corrections below which one that no longer shrinks is rounding


def begin(run: Run) -> Stepper:
    """What does the steps of a Galerkin scheme of one stage in the generalized coordinates of a chart.

    Raises
    ------
    ModelError
        If the scheme has more than one stage, or the chart does not fit the system, reach its initial position or stay on its
        constraints.
    """
    scheme, chart = run.method, run.chart
    assert chart is not None
    if not isinstance(scheme, Tableau) or scheme.stages != 1 or len(scheme.fractions) != 1:
        raise ModelError(f"chart: expected a Galerkin scheme of one stage, as midpoint or shake, found {scheme.name!r}")
    check_kind(chart, Chart, "chart", "make one by joint_chart or sympy_chart")
    if run.system.is_nonholonomic:
        found = run.system.constraint_names[run.system.arrays.rates[0]]
        raise ModelError(f"chart: {wrong('a system of constraints on positions', found, 'run it without a chart')}")
    _check(run, chart)
    a = chart.coordinates(run.q)
    before = a - run.step * np.linalg.lstsq(chart.place(a, run.q)[1], run.v, rcond=None)[0]

    def one_step(p: Array, q: Array) -> tuple[Array, Array]:
        b = _solve(run, scheme, chart, a, 2 * a - before, p, q)
        end = chart.place(b, q)[0]
        _check_place(run, end, b)
        p = discrete_momenta(run.system, scheme, run.step, q, end)[1]
        if scheme.is_projected:
            p = run.system.momentum(end, run.system.velocities(np.zeros(1), end[None], p[None])[0])
        before[:], a[:] = a, b
        return p, end

    return stepper_of_map(run, one_step, state=[a, before])


def _solve(run: Run, scheme: Tableau, chart: Chart, a: Array, b: Array, p: Array, q: Array) -> Array:
    """The generalized coordinates (m,) at the end of the step from a at q, by Newton's iteration from b."""
    x, D = chart.place(a, q)
    size_before = 0.0
    for _ in range(MAX_ITERATIONS):
        y, E = chart.place(b, q)
        residual = D.T @ (p - discrete_momenta(run.system, scheme, run.step, x, y)[0])
        correction = -np.linalg.solve(D.T @ _mixed(run, scheme, x, y) @ E, residual)
        b = b + correction
        size = np.abs(correction).max() / max(np.abs(b - a).max(), 1e-290)
        if size < 1e-15 or (size < SMALL and size > 0.5 * size_before > 0.0):
            return b
        size_before = size
    raise ArithmeticError("Newton's iteration did not converge")


def _mixed(run: Run, scheme: Tableau, x: Array, y: Array) -> Array:
    """∂²L_d/∂x∂y, (n, n)."""
    h, total = run.step, np.zeros((len(x), len(x)))
    for b, A, B in zip(scheme.weights, scheme.A, scheme.B, strict=True):
        p_v, p_q, f_v, f_q = run.system.second_derivatives(x + A[1] * (y - x), B[1] * (y - x) / h)
        total += b * (A[0] * (h * A[1] * f_q + B[1] * f_v) + B[0] * (A[1] * p_q + B[1] / h * p_v))
    return total


def _check(run: Run, chart: Chart) -> None:
    """The chart must give positions on the system's constraints, and as many coordinates as it has degrees of freedom."""
    system = run.system
    if not system.is_conservative or system.is_driven:
        raise ModelError(
            f"chart: expected a system that conserves its energy, found {what_does_work(system)} in {system.name!r}; run it with "
            "its constraints"
        )
    place, D = chart.place(chart.start, run.q)
    m, freedom = len(chart.start), system.dimension - np.linalg.matrix_rank(system.constraint_jacobian(run.q))
    if D.shape != (system.dimension, m) or m != freedom:
        raise ModelError(
            f"chart: expected {system.dimension} positions of {freedom} generalized coordinates, found {D.shape[0]} of "
            f"{D.shape[1]}"
        )
    _check_place(run, place, chart.start)


def _check_place(run: Run, place: Array, a: Array) -> None:
    """A position must be on the constraints; at its start a wrong chart may be so by chance."""
    violation = np.abs(run.system.constraint(place)).max(initial=0.0)
    if not violation <= ON_CONSTRAINTS:
        raise ModelError(
            f"chart: expected positions on the constraints, found |g| = {violation:.3g} at generalized coordinates {a}"
        )
