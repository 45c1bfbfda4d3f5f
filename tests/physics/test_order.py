"""The order of every scheme, measured on nonlinear systems: conservative, forced and constrained."""

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.integrate import solve_ivp

import mbvi
from mbvi.analysis.convergence import convergence_order
from mbvi.schemes.galerkin import TABLEAUX
from tests.marks import coarse, pairs

from . import systems

ALIASES = ("gauss1", "implicit_midpoint", "lobatto2", "lobatto3")  # of midpoint, trapezoidal, simpson
SCHEMES = [name for name in TABLEAUX if name not in ALIASES]
SYSTEMS = systems.CONSERVATIVE + systems.FORCED + systems.CONSTRAINED + systems.LOOPED
LADDER = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 256)
FINE_LADDER = (1024, 2048, 4096)  # for order 1
LARGE_STEP = 0.1  # [s] of motions with periods of about a second


def errors_between(name, scheme, fine, coarse):
    """Errors and steps down a ladder of steps, while the errors are in a range; large steps may fail to converge."""
    errors, steps = [], []
    for rung in LADDER if mbvi.SCHEMES[scheme].order > 1 else FINE_LADDER:
        count = rung * systems.SAMPLES
        step = systems.case(name).duration / count
        try:
            error = systems.error(name, scheme, count)
        except mbvi.StepError:
            assert step * max(map(abs, mbvi.SCHEMES[scheme].fractions)) > LARGE_STEP
            continue
        if error < fine:
            break
        if error < coarse:
            errors.append(error)
            steps.append(step)
    return errors, steps


@pytest.mark.parametrize("name", SYSTEMS)
def test_reference_is_that_of_a_runge_kutta_method(name):
    q, v = systems.integrated_end(name)
    exact = systems.reference(name)
    tolerance = 1e-10 if exact.system.constraint_count else 1e-11  # by accelerations alone, positions leave constraints
    np.testing.assert_allclose(exact.q[-1], q, rtol=0, atol=tolerance * np.abs(exact.q).max())
    np.testing.assert_allclose(exact.v[-1], v, rtol=0, atol=tolerance * np.abs(exact.v).max())


def test_reference_of_the_driven_pendulum():
    """In the angle a to the vertical: x = pivot + sin a, y = −cos a, a″ = −5 sin a − pivot″ cos a."""

    def rates(t, y):
        return y[1], -5 * np.sin(y[0]) + 0.8 * np.sin(2 * t) * np.cos(y[0])

    exact = systems.reference("driven pendulum")
    start = np.arcsin(0.6), 0.0
    angle = solve_ivp(rates, (0, exact.t[-1]), start, method="DOP853", rtol=1e-13, atol=1e-13).y[0, -1]
    x = np.sin(2 * exact.t[-1]) / 5 + np.sin(angle)
    np.testing.assert_allclose(exact.q[-1], [x, -np.cos(angle)], rtol=0, atol=1e-11)


@coarse
@pytest.mark.parametrize(("scheme", "name"), pairs(SCHEMES, SYSTEMS, whole=("simpson",)))
def test_order(scheme, name):
    """Up to order 8 the three smallest steps show the asymptotic rate; above, round-off comes before it settles."""
    order = mbvi.SCHEMES[scheme].order
    coarse = 3e-2 if order == 1 else 1e-2 if order <= 8 else 1e-4
    fine = 1e-10 if order <= 4 else 1e-12 if order <= 6 or name in systems.LOOPED else 1e-13
    errors, steps = errors_between(name, scheme, fine, coarse)
    assert len(errors) >= 3
    if order <= 8:
        assert convergence_order(errors[-3:], steps[-3:]) == pytest.approx(order, abs=0.1 if order <= 6 else 0.3)
    else:  # it is seen in test_high_order
        assert convergence_order(errors, steps) > 0.7 * order


@pytest.mark.parametrize("scheme", ["gauss6", "lobatto8", "kahan_li8", "sofroniou_spaletta10"])
@pytest.mark.parametrize("name", SYSTEMS)
def test_small_steps_end_at_round_off(name, scheme):
    """The error of these schemes is below 1e-14 here; what is left is their solver's, and what a linkage makes of it."""
    assert systems.error(name, scheme, 800) < (1e-12 if name in systems.LOOPED else 1e-13)


# Orders beyond 8, in 50 digits: one degree of freedom, L = (2 + cos q) v²/2 + 3 cos q, F = cos 2t − v/4, by the step
# equations at the head of mbvi/kernels/galerkin.py with nodes computed anew.


def polished(x, degree, is_slope):
    """The root of the Legendre polynomial P of a degree, or of P', near x: by Newton from 16 digits."""
    x = mpf(float(x))
    for _ in range(3):
        P, before = mp.legendre(degree, x), mp.legendre(degree - 1, x)
        slope = degree * (x * P - before) / (x * x - 1)
        curvature = (2 * x * slope - degree * (degree + 1) * P) / (1 - x * x)
        x -= slope / curvature if is_slope else P / slope
    return x


def precise_tableau(scheme):
    """Control points, nodes and weights in full precision, from those of the scheme."""

    def gauss(values):
        return [(1 + polished(2 * c - 1, len(values), False)) / 2 for c in values]

    def lobatto(values):
        inner = [(1 + polished(2 * c - 1, len(values) - 1, True)) / 2 for c in values[1:-1]]
        return [mpf(0), *inner, mpf(1)]

    c = (gauss if scheme.nodes[0] > 0 else lobatto)(scheme.nodes)
    powers = mp.matrix([[x**k for x in c] for k in range(len(c))])
    b = list(mp.lu_solve(powers, mp.matrix([mpf(1) / (k + 1) for k in range(len(c))])))
    return lobatto(scheme.control_points), c, b


def basis(points, x):
    """Values and derivatives of the Lagrange polynomials of points at x."""
    values, slopes = [], []
    for j, own in enumerate(points):
        others = points[:j] + points[j + 1 :]
        scale = 1 / mp.fprod(own - p for p in others)
        values.append(scale * mp.fprod(x - p for p in others))
        products = (mp.fprod(x - p for i, p in enumerate(others) if i != left) for left in range(len(others)))
        slopes.append(scale * mp.fsum(products))
    return values, slopes


def precise_steps(tableau, h, count):
    """The state (q, p) after a number of steps."""
    d, c, b = tableau
    s = len(d) - 1
    A, B = zip(*(basis(d, x) for x in c), strict=True)
    q, p, t = mpf(1), mpf(1), mpf(0)
    for _ in range(count):
        Y = mp.matrix([d[l + 1] * h * p / (2 + mp.cos(q)) for l in range(s)])
        for _ in range(20):
            D = [mpf(0)] * (s + 1)
            J = mp.zeros(s, s)
            for i in range(len(c)):
                x = q + mp.fsum(A[i][l + 1] * Y[l] for l in range(s))
                v = mp.fsum(B[i][l + 1] * Y[l] for l in range(s)) / h
                sine, cosine = mp.sin(x), mp.cos(x)
                momentum, slope = (2 + cosine) * v, -sine * v
                f = slope * v / 2 - 3 * sine + mp.cos(2 * (t + c[i] * h)) - v / 4
                f_q, f_v = -cosine * v * v / 2 - 3 * cosine, slope - mpf(1) / 4
                for j in range(s + 1):
                    D[j] += b[i] * (h * A[i][j] * f + B[i][j] * momentum)
                    for l in range(s * (j < s)):
                        a, e = A[i][l + 1], B[i][l + 1] / h
                        J[j, l] += b[i] * (h * A[i][j] * (f_q * a + f_v * e) + B[i][j] * (slope * a + (2 + cosine) * e))
            R = mp.matrix([D[j] + (p if j == 0 else 0) for j in range(s)])
            correction = mp.lu_solve(J, R)
            Y -= correction
            if mp.norm(correction) < mpf(10) ** -45:
                break
        q, p, t = q + Y[s - 1], D[s], t + h
    return q, p


HIGH = [name for name in SCHEMES if mbvi.SCHEMES[name].order > 8 and len(mbvi.SCHEMES[name].fractions) == 1]


@pytest.fixture(scope="module")
def precise_end():
    with mp.workdps(50):
        return precise_steps(precise_tableau(mbvi.SCHEMES["gauss8"]), mpf(1) / 120, 30)


@pytest.mark.parametrize("name", HIGH)
def test_high_order(name, precise_end):
    scheme = mbvi.SCHEMES[name]
    with mp.workdps(50):
        tableau = precise_tableau(scheme)
        for ours, precise in zip((scheme.control_points, scheme.nodes, scheme.weights), tableau, strict=True):
            np.testing.assert_allclose(ours, np.array(precise, dtype=float), rtol=1e-14)
        counts = (8, 12, 16)
        ends = [precise_steps(tableau, mpf(1) / (4 * n), n) for n in counts]
        errors = [mp.hypot(q - precise_end[0], p - precise_end[1]) for q, p in ends]
    assert convergence_order(errors, [1 / n for n in counts]) == pytest.approx(scheme.order, abs=0.3)
