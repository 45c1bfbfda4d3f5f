"""One-step variational methods on coordinates and velocities: the parabola over the step makes its action stationary.

The parabolic Euler–Lagrange equation takes forces by their virtual work, the midpoint variation method by a term of the action,
the latter also in the three-point form, whose unknown is the place in the middle of the step; see `mbvi.analysis.small_step`. The
derivatives of the action are at hand, so a step may be of any size.

Source: Mutze, A simple variational integrator for general holonomic mechanical systems, equations 44, 54 and 57.
"""

from __future__ import annotations

import numpy as np

from mbvi.analysis.small_step import by_acceleration, by_middle, variation, variation_derivative
from mbvi.kernels.layout import NOT_CONVERGED, NOT_FINITE, OK, SINGULAR
from mbvi.steppers.run import Run, check_unconstrained
from mbvi.system.system import System
from mbvi.trajectory import Trajectory

Array = np.ndarray
EPS = float(np.finfo(float).eps)
MAX_ITERATIONS = 30
SLOW = 0.1  # ratio of successive corrections from which the derivative is formed anew
MAX_STALLS, SMALL = 3, 1e-8  # so many small corrections that do not shrink are the rounding of the forces themselves
ITERATIONS, WORST, FACTORS = 0, 1, 2


def run(run: Run) -> Trajectory:
    """Run parabolic_path, midpoint_variation or three_point.

    Raises
    ------
    ModelError
        If the system has constraints.
    StepError
        If the equations of a step cannot be solved.
    """
    check_unconstrained(run)
    stepper = Stepper(run.system, run.method.name, run.q, run.v)
    return run.advance_pieces(stepper.advance, stepper.count)


class Stepper:
    """The state q, v (n,) of a run, the last acceleration, and counts of iterations."""

    def __init__(self, system: System, name: str, q: Array, v: Array) -> None:
        self.system, self.q, self.v, self.a = system, q, v, np.zeros_like(q)
        self.is_three_point = name == "three_point"
        self.is_force_varied = name != "parabolic_path"
        self.count = np.zeros(3, np.int64)

    def advance(self, t: Array, h: Array, every: int, out_q: Array, out_p: Array) -> tuple[int, int]:
        """Steps of sizes h from the times t (m,), storing every `every`-th state; a status and the steps done."""
        for step, (start, size) in enumerate(zip(t.tolist(), h.tolist(), strict=True)):
            status = self._step(start, size / 2)
            if status != OK:
                return status, step
            if (step + 1) % every == 0:
                out_q[step // every] = self.q
                out_p[step // every] = self.system.momentum(self.q, self.v, start + size)
        return OK, len(h)

    def _step(self, t: float, tau: float) -> int:
        paths = (by_middle if self.is_three_point else by_acceleration)(t, self.q, self.v, tau)
        u = tau * (self.v + tau * self.a / 2) if self.is_three_point else self.a
        scale = tau if self.is_three_point else 1 / tau  # of u, times a velocity
        before, stalls, derivative = np.inf, 0, None
        for iteration in range(1, MAX_ITERATIONS + 1):
            if derivative is None:
                derivative = variation_derivative(self.system, paths, u, self.is_force_varied)
                self.count[FACTORS] += 1
            residual = variation(self.system, paths, u, self.is_force_varied)
            if not (np.isfinite(residual).all() and np.isfinite(derivative).all()):
                return NOT_FINITE
            try:
                correction = np.linalg.solve(derivative, residual)
            except np.linalg.LinAlgError:
                return SINGULAR
            u = u - correction
            change, size = np.abs(correction).max(), max(np.abs(self.v).max() * scale, np.abs(u).max())
            stalls += change > 0.5 * before and change <= SMALL * size
            if change <= EPS * size or stalls >= MAX_STALLS:
                self.count[ITERATIONS] += iteration
                self.count[WORST] = max(self.count[WORST], iteration)
                self._finish(u, tau)
                return OK
            if change > SLOW * before:
                derivative = None
            before = change
        return NOT_CONVERGED

    def _finish(self, u: Array, tau: float) -> None:
        if self.is_three_point:
            move = 4 * u - 2 * tau * self.v
            self.a = (move - 2 * u) / tau**2
            self.q, self.v = self.q + move, (1.5 * (move - u) - 0.5 * u) / tau
        else:
            self.a = u
            self.q, self.v = self.q + 2 * tau * (self.v + tau * u), self.v + 2 * tau * u
