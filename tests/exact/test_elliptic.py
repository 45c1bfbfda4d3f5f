"""Jacobi functions and the third integral against mpmath, up to both ends of their parameters."""

import numpy as np
import pytest
from mpmath import mp

from mbvi.exact.elliptic import Jacobi, ThirdKind
from mbvi.exact.weierstrass import weierstrass

EPS = 2.0**-52
ENDS = [1.0, 1 - 1e-9, 0.9, 0.5, 0.1, 1e-3, 1e-6, 1e-9, 1e-12, 1e-20, 1e-33]  # of 1 − m


def jacobi(m1):
    with mp.workdps(50):
        return Jacobi(float(1 - mp.mpf(m1)), m1)


@pytest.mark.parametrize("m1", ENDS)
def test_functions(m1):
    """Over three half periods, within a few roundings of u."""
    each = jacobi(m1)
    with mp.workdps(50):
        m = 1 - mp.mpf(m1)
        assert abs(float(each.K - mp.ellipk(m))) < 2 * EPS * each.K
        for u in np.linspace(-3.1, 3.1, 15) * each.K:
            found = each.functions(np.array(u))[1:]
            exact = [mp.ellipfun(kind, mp.mpf(u), m=m) for kind in ("sn", "cn", "dn")]
            assert max(abs(float(a - b)) for a, b in zip(found, exact, strict=True)) < 4 * EPS * (1 + abs(u))


def test_on_the_separatrix():
    u = np.linspace(-40, 40, 201)
    am, sn, cn, dn = Jacobi(1.0, 0.0).functions(u)
    np.testing.assert_allclose(sn, np.tanh(u), rtol=0, atol=4 * EPS)
    np.testing.assert_allclose(cn, 1 / np.cosh(u), rtol=0, atol=4 * EPS)
    np.testing.assert_allclose(dn, 1 / np.cosh(u), rtol=0, atol=4 * EPS)
    np.testing.assert_allclose(am, 2 * np.arctan(np.exp(u)) - np.pi / 2, rtol=0, atol=4 * EPS)


@pytest.mark.parametrize("m1", ENDS)
def test_argument_is_the_inverse(m1):
    each = jacobi(m1)
    for phi in np.linspace(-3.1, 3.1, 24):
        u = each.argument(3 * np.sin(phi), 3 * np.cos(phi))
        assert each.functions(np.array(u))[0] == pytest.approx(phi, abs=8 * EPS * (1 + abs(u)))


def test_amplitude_counts_turns():
    each = Jacobi(0.8, 0.2)
    u = each.K * np.arange(-6, 7) * 1000
    np.testing.assert_allclose(each.functions(u)[0], np.pi / 2 * 1000 * np.arange(-6, 7), rtol=4 * EPS)


@pytest.mark.parametrize(
    ("m", "n"),
    [(0.3, 0.4), (0.3, 0.9), (0.3, 1 - 1e-6), (0.99, 0.995), (1e-6, 2e-6), (1e-6, 0.5), (1 - 1e-6, 1 - 1e-7)],
)
def test_third_kind(m, n):
    """Rounding of u changes it at its rate κ/(1 − n sn²), which is large near a pole."""
    with mp.workdps(40):
        m_, n_ = mp.mpf(m), mp.mpf(n)
        each, third = Jacobi(m, float(1 - m_)), ThirdKind(n, float(1 - n_), float(m_ / n_), float(1 - m_ / n_))
        kappa = mp.sqrt((1 - n_) * (1 - m_ / n_))
        steepest = float(kappa / (1 - n_))
        for u in np.linspace(-2.3, 2.3, 8) * each.K:
            found = third.slope * u + each.continued(third.rest, np.array(u))
            amplitude = mp.asin(mp.ellipfun("sn", mp.mpf(u), m=m_))  # within a quarter period
            half_turns = round(u / (2 * each.K))
            exact = kappa * (2 * half_turns * mp.ellippi(n_, m_) + (-1) ** half_turns * mp.ellippi(n_, amplitude, m_))
            assert abs(float(found - exact)) < 4 * EPS * (1 + abs(u)) * (1 + steepest)


@pytest.mark.parametrize(("span", "gap"), [(1e-12, 3.0), (0.5, 3.0), (2.0, 2.0), (3.0, 0.2), (3.0, 1e-9), (3.0, 0.0)])
def test_weierstrass_solves_its_equation(span, gap):
    """℘'' = 6 ℘² − g₂/2, g₂ = 2 Σ eᵢ² as the roots sum to zero; from e₃ at t = 0, by its Taylor series in 30 digits."""
    from .taylor import flow

    lowest = -(2 * span + gap) / 3
    with mp.workdps(32):
        roots = [mp.mpf(lowest), mp.mpf(lowest) + span, mp.mpf(lowest) + span + gap]
        c = -sum(roots) / 3
        roots = [root + c for root in roots]
        half_g2 = sum(root**2 for root in roots)
        times = (0.05, 0.4, 1.3)
        states = flow([{(1,): 1}, {(0, 0): 6, (): -half_g2}], [roots[0], 0], times)
        exact = np.array([float(state[0] - c) for state in states])
    size = abs(lowest) + span + gap
    np.testing.assert_allclose(weierstrass(np.array(times), lowest, span, gap), exact, rtol=0, atol=32 * EPS * size)
    np.testing.assert_array_equal(weierstrass(np.array(times), lowest, 0.0, gap), lowest)
