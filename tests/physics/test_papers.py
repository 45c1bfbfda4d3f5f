"""The nutation of the Lagrange top by a formula of its own, beside a Runge-Kutta method and Simpson's rule.

Rojas-Quintero, Dubois & Jourdan, Simpson variational integrator for nonlinear systems: a tutorial on the Lagrange top. All that
the papers print is in tests/papers.
"""

import numpy as np
import pytest
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
