"""The simulator converges to the exact motions, at the order of its scheme, in models of models/ and some of a few lines."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import sympy

import mbvi
from mbvi.analysis.convergence import convergence_order
from mbvi.exact import (
    CuspedTop,
    DampedOscillator,
    FreeBody,
    LagrangeTop,
    LinearDoublePendulum,
    Pendulum,
    SphericalPendulum,
)

from ..physics import systems

G = 9.81


@dataclass(frozen=True)
class Case:
    """A system, its exact motion, and which coordinate it gives, if not all."""

    system: Any
    exact: Any
    steps: tuple
    column: int | None = None

    def of(self, q):
        """The coordinates that the exact motion gives, as a table."""
        return q.reshape(len(q), -1) if self.column is None else q[:, self.column, None]


def from_model(name, exact, steps, column=None):
    return Case(mbvi.assemble(systems.model(name)), exact, steps, column)


def oscillator():
    """A mass on a rail with a spring and a damper."""
    model = mbvi.Model(
        name="oscillator",
        gravity=(0, 0, 0),
        bodies={"cart": mbvi.Body(mass=2.0)},
        joints={"rail": mbvi.Prismatic(parent="world", child="cart", axis=(1, 0, 0))},
        forces={
            "spring": mbvi.JointSpring(joint="rail", stiffness=5.0),
            "damper": mbvi.JointDamper(joint="rail", damping=-0.3),
        },
        initial={"rail": mbvi.Initial(position=(0.3,), velocity=(-0.7,))},
    )
    return Case(mbvi.assemble(model), DampedOscillator(2.0, -0.3, 5.0, 0.3, -0.7), (0.1, 0.05, 0.025))


def double_pendulum():
    """The quadratic Lagrangian."""
    exact = LinearDoublePendulum((1.5, 0.7), (0.4, 1.1), G, (0.1, -0.2), (0.3, 0.5))
    q = sympy.Matrix(sympy.symbols("q1 q2"))
    potential = (q.T * sympy.Matrix(exact.stiffness_matrix) * q)[0] / 2
    system = mbvi.from_sympy(
        list(q), exact.mass_matrix.tolist(), potential, initial_q=exact.angles, initial_v=exact.rates
    )
    return Case(system, exact, (0.05, 0.025, 0.0125))


INERTIA = 0.002329969592394382
CASES = {
    "pendulum": lambda: from_model("pendulum", Pendulum(1.0, G, 2 * np.pi / 3), (0.04, 0.02, 0.01)),
    "oscillator": oscillator,
    "double pendulum": double_pendulum,
    "top, loops": lambda: from_model(
        "lagrange_top",
        LagrangeTop(INERTIA, 0.000125, 0.1 * G * 0.15, (0, np.pi / 3, 0), (9.2, 0, 252)),
        (0.01, 0.005, 0.0025),
    ),
    "top, cusps": lambda: from_model(
        "lagrange_top_cusps",
        LagrangeTop(1.0, 2.0, 4 * np.pi**2, (0, np.pi / 6, 0), (0, 0, 2 * np.pi)),
        (0.02, 0.01, 0.005),
    ),
    "top, reduced": lambda: from_model(
        "lagrange_top_cusps", CuspedTop(1.0, 2.0, 4 * np.pi**2, np.pi / 6, 2 * np.pi), (0.02, 0.01, 0.005), 1
    ),
    "spherical pendulum": lambda: from_model(
        "spherical_pendulum", SphericalPendulum(1.0, G, (0.0, np.pi / 3), (1.5, 0.0)), (0.04, 0.02, 0.01)
    ),
    "body": lambda: from_model("free_rigid_body", FreeBody((5.0, 10.0, 13.0), (0.01, 2.0, 0.0)), (0.1, 0.05, 0.025)),
    "body of Wendlandt and Marsden": lambda: from_model(
        "free_rigid_body_quaternion", FreeBody((1.0, 2.0, 3.0), (0.0, 3.0, 4.0)), (0.04, 0.02, 0.01)
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_simpson_converges_at_its_order(name):
    case = CASES[name]()
    errors = []
    for step in case.steps:
        run = mbvi.simulate(case.system, "simpson", step=step, duration=2.0)
        exact = case.exact(run.t)[0].reshape(len(run), -1)
        errors.append(np.abs(case.of(run.q) - exact).max())
    assert convergence_order(errors, case.steps) == pytest.approx(4, abs=0.1), errors


@pytest.mark.parametrize("name", CASES)
def test_a_high_order_is_the_exact_motion(name):
    """Coordinates and velocities at order 12 differ by round-off alone; measured: 1e-15 and 1e-14 of the largest."""
    case = CASES[name]()
    run = mbvi.simulate(case.system, "gauss6", step=case.steps[-1], duration=2.0)
    q, v = (each.reshape(len(run), -1) for each in case.exact(run.t))
    assert np.abs(case.of(run.q) - q).max() < 1e-14 * (1 + np.abs(q).max())
    if v.shape[1] == q.shape[1]:  # all but those of quaternions
        assert np.abs(case.of(run.v) - v).max() < 1e-13 * (1 + np.abs(v).max())
