"""Values printed in papers, recomputed.

Rojas-Quintero, Dubois & Jourdan, Simpson variational integrator for nonlinear systems: a tutorial on the Lagrange top;
Dubois & Rojas-Quintero, Simpson's quadrature for a nonlinear variational symplectic scheme.
"""

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

import mbvi
from mbvi.analysis.convergence import convergence_order

from . import systems


def exact_nutation(system):
    """The angle θ of the Lagrange top as a function of time, and its period, for a start with dθ/dt = 0.

    For u = cos θ, with the constants p_φ, p_ψ and E of the motion and w = m g l, dθ/dt = 0 and energy give

        (du/dt)² = (1 − u²) (2/I) (E − p_ψ²/(2 I₃) − w u) − (p_φ − p_ψ u)²/I²

    a cubic with leading term (2 w/I) u³ and roots u₁ = u(0) ≤ u₂ ≤ 1 ≤ u₃, so that
    u = u₁ + (u₂ − u₁) sn²(κ t | m), κ² = (2 w/I) (u₃ − u₁)/4, m = (u₂ − u₁)/(u₃ − u₁).
    """
    resolved = system.model.resolved()
    body = resolved.bodies["top"]
    I, I3 = body.inertia[0][0], body.inertia[2][2]
    w = body.mass * -resolved.gravity[2] * body.center_of_mass[2]
    p_phi, _, p_psi = system.momentum(system.initial_q, system.initial_v)
    E = system.energy(system.initial_q, system.initial_v)
    u = np.polynomial.Polynomial([0, 1])
    cubic = (1 - u**2) * (2 / I) * (E - p_psi**2 / (2 * I3) - w * u) - (p_phi - p_psi * u) ** 2 / I**2
    u1, u2, u3 = np.sort(cubic.roots().real)
    assert u1 == pytest.approx(np.cos(system.initial_q[1]), rel=1e-12)
    kappa, m = np.sqrt(w / (2 * I) * (u3 - u1)), (u2 - u1) / (u3 - u1)

    def theta(t):
        return np.arccos(u1 + (u2 - u1) * ellipj(kappa * t, m)[0] ** 2)

    return theta, 2 * ellipk(m) / kappa


@pytest.fixture(scope="module")
def top():
    return mbvi.assemble(systems.model("lagrange_top"))


def test_nutation_is_that_of_a_runge_kutta_method(top):
    theta, period = exact_nutation(top)
    assert period == pytest.approx(1.84724, abs=5e-6)  # the paper, at a g that it does not print: 1.84671

    def rates(t, y):
        return np.concatenate([y[3:], top.acceleration(y[:3], y[3:])])

    times = np.linspace(0, period, 30)
    start = np.concatenate([top.initial_q, top.initial_v])
    found = solve_ivp(rates, (0, period), start, method="DOP853", rtol=1e-13, atol=1e-13, t_eval=times).y[1]
    np.testing.assert_allclose(found, theta(times), rtol=1e-8)  # arccos near θ = 2.7° and 6.7 rad of spin per step


def test_simpson_on_the_top(top):
    """Over one nutation at a step of about 0.05 s: 9.3e-4 of θ and 1.2e-7 of the energy, and at order 4 from there."""
    theta, period = exact_nutation(top)
    counts = (37, 74, 148, 296)
    errors = []
    for count in counts:
        run = mbvi.simulate(top, "simpson", step=period / count, duration=period)
        errors.append(np.abs(run.q[:, 1] / theta(run.t) - 1).max())
        if count == counts[0]:
            energy = run.energy()
            assert np.abs(energy / energy[0] - 1).max() == pytest.approx(1.2e-7, rel=0.05)
    assert errors[0] == pytest.approx(9.3e-4, rel=0.01)
    assert convergence_order(errors, 1 / np.array(counts)) == pytest.approx(4, abs=0.15)


# Table 1 of the paper on the nonlinear pendulum: errors of momentum, state and relative energy for 50, 100, 200 steps.
PENDULUM = {
    "midpoint": ([2.93e-2, 7.32e-3, 1.83e-3], [5.26e-3, 1.31e-3, 3.29e-4], [9.06e-4, 2.29e-4, 5.73e-5]),
    "simpson": ([6.08e-6, 3.78e-7, 2.36e-8], [1.05e-6, 6.51e-8, 4.06e-9], [1.30e-6, 8.42e-8, 5.25e-9]),
}


@pytest.mark.parametrize("scheme", PENDULUM)
@pytest.mark.parametrize("column", range(3))
def test_nonlinear_pendulum(scheme, column):
    """One period from rest at π/2 with ω = 2π: sin(q/2) = k sn(K − ω t), p = dq/dt."""
    q = sympy.Symbol("q")
    omega, k = 2 * np.pi, np.sin(np.pi / 4)
    K = ellipk(k**2)
    system = mbvi.from_sympy([q], [[1]], omega**2 * (1 - sympy.cos(q)), initial_q=[np.pi / 2])
    period, count = 4 * K / omega, (50, 100, 200)[column]
    run = mbvi.simulate(system, scheme, step=period / count, duration=period)
    sn, cn, _, _ = ellipj(K - omega * run.t, k**2)
    angle, momentum = 2 * np.arcsin(k * sn), -2 * omega * k * cn
    energy = run.energy()
    found = (
        np.abs(run.p[:, 0] - momentum).max(),
        np.abs(run.q[:, 0] - angle).max(),
        np.abs(energy / energy[0] - 1).max(),
    )
    for value, row in zip(found, PENDULUM[scheme], strict=True):
        unit = 10 ** (np.floor(np.log10(row[column])) - 2)  # of the third digit; some are rounded, some cut off
        assert abs(value - row[column]) < unit
