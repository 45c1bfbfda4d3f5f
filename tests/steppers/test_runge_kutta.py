"""Explicit Runge–Kutta methods on coordinates and velocities."""

import math

import numpy as np
import pytest
import sympy
from scipy.integrate import RK23, RK45, solve_ivp
from scipy.integrate._ivp import dop853_coefficients as dop853

import mbvi
from mbvi.analysis.convergence import convergence_order
from mbvi.catalog import METHODS
from mbvi.exact import DampedOscillator
from mbvi.schemes.runge_kutta import ButcherTableau
from mbvi.steppers.runge_kutta import RK4

from ..physics import systems

ORDERS = {"rk4": 4, "explicit_midpoint": 2, "heun": 2}
every_method = pytest.mark.parametrize("scheme", ORDERS)


def euler_top():
    """A heavy top in Euler angles, with a damper: a tree whose mass matrix depends on the state."""
    made = systems.top("zxz")
    damper = {"air": mbvi.JointDamper(joint="contact", coordinate="theta", damping=1e-4)}
    return mbvi.assemble(made.model_copy(update={"forces": {**made.forces, **damper}}))


CASES = {"elastic pendulum": (systems.elastic_pendulum(True), 2.0), "top": (euler_top(), 0.3)}


def exact_end(system, duration, start_time=0.0):
    """q, v at the end by DOP853."""
    n = system.dimension

    def rates(t, y):
        return np.concatenate([y[n:], system.acceleration(y[:n], y[n:], t)])

    start = np.concatenate([system.initial_q, system.initial_v])
    span = (start_time, start_time + duration)
    return solve_ivp(rates, span, start, method="DOP853", rtol=3e-14, atol=1e-14).y[:, -1]


def changing_steps(count, duration):
    """So many steps that swing between 0.5 and 1.5 of their mean."""
    sizes = 1 + 0.5 * np.sin(2 * np.pi * (np.arange(count) + 0.5) / count)
    return sizes * (duration / sizes.sum())


def measured_order(system, duration, scheme, counts, start_time=0.0):
    """By changing steps; errors of coordinates and velocities, relative."""
    exact = exact_end(system, duration, start_time)
    errors = []
    for count in counts:
        run = mbvi.simulate(system, scheme, step=changing_steps(count, duration), start_time=start_time)
        assert run.t[-1] == pytest.approx(start_time + duration, rel=1e-13)
        errors.append(np.linalg.norm((np.concatenate([run.q[-1], run.v[-1]]) - exact) / np.abs(exact).max()))
    assert 1e-11 < errors[-1] < 1e-2
    return convergence_order(errors, 1 / np.array(counts))


@every_method
@pytest.mark.parametrize("name", CASES)
def test_order_with_forces_that_depend_on_velocity_and_time(scheme, name):
    order = mbvi.SCHEMES[scheme].order
    counts = (80, 160, 320) if order == 4 else (400, 800, 1600)
    assert measured_order(*CASES[name], scheme, counts, start_time=0.3) == pytest.approx(order, abs=0.1)


@every_method
def test_linear_motion_is_the_exponential_series(scheme):
    """Of order r in r stages: y' = (1 + hA + … + (hA)^r/r!) y."""
    random = np.random.default_rng(5)
    K, C = random.standard_normal((2, 3, 3))
    x, v = sympy.symbols("x:3"), sympy.symbols("v:3")
    forces = -sympy.Matrix(K) * sympy.Matrix(x) - sympy.Matrix(C) * sympy.Matrix(v)
    system = mbvi.from_sympy(x, sympy.diag(1, 2, 4), 0, velocities=v, forces=list(forces), initial_q=[1, 2, 3])
    inverse = np.diag([1, 1 / 2, 1 / 4])
    A = np.block([[np.zeros((3, 3)), np.eye(3)], [-inverse @ K, -inverse @ C]])
    h, order = 0.2, mbvi.SCHEMES[scheme].order
    step = sum(np.linalg.matrix_power(h * A, k) / math.factorial(k) for k in range(order + 1))
    run = mbvi.simulate(system, scheme, step=h, duration=20 * h)
    y = np.array([1.0, 2, 3, 0, 0, 0])
    for q, v in zip(run.q, run.v, strict=True):
        np.testing.assert_allclose(np.concatenate([q, v]), y, rtol=0, atol=2e-14 * np.abs(y).max())
        y = step @ y


def test_the_classical_step_on_a_nonlinear_system():
    """One step, by the four stages as every textbook writes them."""
    system, t, h = CASES["elastic pendulum"][0], 0.4, 0.1

    def rates(t, y):
        return np.concatenate([y[2:], system.acceleration(y[:2], y[2:], t)])

    y = np.concatenate([system.initial_q, system.initial_v])
    a = rates(t, y)
    b = rates(t + h / 2, y + h / 2 * a)
    c = rates(t + h / 2, y + h / 2 * b)
    d = rates(t + h, y + h * c)
    expected = y + h / 6 * (a + 2 * b + 2 * c + d)
    run = mbvi.simulate(system, "rk4", step=h, duration=h, start_time=t)
    np.testing.assert_allclose(np.concatenate([run.q[1], run.v[1]]), expected, rtol=1e-14)


def test_a_mass_that_grows_with_time():
    """M = e^(ct): ẍ + c ẋ + x = 0 (Caldirola and Kanai)."""
    x, t = sympy.symbols("x t")
    growing = sympy.exp(t / 2)
    system = mbvi.from_sympy([x], [[growing]], growing * x**2 / 2, time=t, initial_q=[1.0])
    run = mbvi.simulate(system, "rk4", step=0.01, duration=3)
    q, v = DampedOscillator(mass=1, damping=0.5, stiffness=1, position=1.0)(run.t)
    assert np.abs(run.q[:, 0] - q).max() < 1e-9
    assert np.abs(run.v[:, 0] - v).max() < 1e-9
    rates = [system.acceleration(*each)[0] for each in zip(run.q, run.v, run.t, strict=True)]
    np.testing.assert_allclose(rates, -(0.5 * v + q), rtol=0, atol=1e-9)


def test_momenta_and_storage():
    system = CASES["top"][0]
    dense = mbvi.simulate(system, "rk4", step=0.001, duration=0.1)
    reported = []
    sparse = mbvi.simulate(
        system, "rk4", step=0.001, duration=0.1, every=10, progress=lambda *each: reported.append(each)
    )
    np.testing.assert_array_equal(sparse.q, dense.q[::10])
    np.testing.assert_array_equal(sparse.p, dense.p[::10])
    np.testing.assert_allclose(sparse.t, 0.01 * np.arange(11), rtol=1e-15)
    assert reported[-1] == (100, 100)
    assert sparse.statistics.steps == 100
    for q, v, p in zip(dense.q, dense.v, dense.p, strict=True):
        np.testing.assert_allclose(system.mass_matrix(q) @ v, p, rtol=1e-12, atol=1e-18)


def test_a_motion_that_overflows():
    """A force v² without bound: v = 1/(1 − t)."""
    x, v = sympy.symbols("x v")
    system = mbvi.from_sympy([x], [[1]], 0, velocities=[v], forces=[v**2], initial_v=[1.0])
    with pytest.raises(
        mbvi.StepError, match=r"step \d+ \(t = .* s\): the state became infinite or not a number"
    ) as error:
        mbvi.simulate(system, "rk4", step=0.01, duration=3)
    kept = error.value.trajectory
    assert 1.0 < kept.t[-1] < 1.5
    assert np.isfinite(kept.q).all()
    assert len(kept) == kept.statistics.steps + 1


@every_method
def test_constraints_are_refused(scheme, models):
    found = f"expected a system without constraints for scheme {scheme}, found .*"
    message = f"{found}; take midpoint or simpson, which run any system"
    with pytest.raises(mbvi.ModelError, match=message + "$"):
        mbvi.simulate(mbvi.load(models / "pendulum_cartesian.yaml"), scheme, step=0.1, duration=1)
    instead = ", or write joints in generalized coordinates, as Euler angles instead of quaternions$"
    with pytest.raises(mbvi.ModelError, match=message + instead):
        mbvi.simulate(systems.top("quaternion"), scheme, step=0.1, duration=1)


@pytest.mark.parametrize("rate", [1.0, 1e4])
def test_masses_that_change_fast(rate):
    """The same order, however fast the mass matrix changes with time."""
    x, t = sympy.symbols("x t")
    system = mbvi.from_sympy(
        [x], [[2 + sympy.sin(rate * t)]], rate**2 * x**2, time=t, initial_q=[1.0], initial_v=[rate]
    )
    exact = mbvi.simulate(system, "gauss6", step=0.1 / rate, duration=4 / rate).q[-1, 0]
    steps = (0.1, 0.05, 0.025)
    for scheme, order in (("rk4", 4), ("direct_midpoint", 2)):
        errors = [abs(mbvi.simulate(system, scheme, h / rate, 4 / rate).q[-1, 0] - exact) for h in steps]
        assert errors[-1] < 1e-3
        assert convergence_order(errors, steps) == pytest.approx(order, abs=0.15)


# -------------------------------------------------------------------------------------------- methods of one's own


def of_scipy(method, name):
    A = np.zeros((method.n_stages, method.n_stages))
    A[:, : method.A.shape[1]] = method.A
    return ButcherTableau(A, method.B, name)


OWN = {
    2: ButcherTableau([[0, 0], [2 / 3, 0]], [1 / 4, 3 / 4], "ralston"),
    3: of_scipy(RK23, "bogacki_shampine"),
    5: of_scipy(RK45, "dormand_prince"),
    8: ButcherTableau(dop853.A[:12, :12], dop853.B, "dop853"),
}


@pytest.mark.parametrize("order", OWN)
def test_order_of_a_method_follows_from_its_numbers(order):
    assert OWN[order].checked().order == order


def test_every_method_has_its_order():
    found = {name: each.order for name, each in METHODS.items() if each.runner == "runge_kutta"}
    assert found == ORDERS


@pytest.mark.parametrize(("order", "counts"), [(2, (200, 400)), (3, (100, 200)), (5, (50, 100)), (8, (16, 32))])
def test_a_method_of_ones_own_converges(order, counts):
    system, duration = CASES["elastic pendulum"]
    assert measured_order(system, duration, OWN[order], counts) == pytest.approx(order, abs=0.6)


def test_rk4_by_its_numbers_is_rk4():
    system, _ = CASES["elastic pendulum"]
    own = ButcherTableau(RK4.A.tolist(), list(RK4.b))
    one, other = (mbvi.simulate(system, scheme, step=0.01, duration=0.5) for scheme in (own, "rk4"))
    np.testing.assert_array_equal(one.q, other.q)
    assert (one.scheme.name, one.scheme.order) == ("runge_kutta", 4)


def test_a_run_by_a_method_of_ones_own_goes_on_from_its_file(tmp_path, models):
    model = mbvi.load(models / "double_pendulum.yaml")
    whole = mbvi.simulate(model, OWN[3], step=0.01, duration=0.4)
    mbvi.simulate(model, OWN[3], step=0.01, duration=0.2, path=tmp_path / "a.h5")
    gone_on = mbvi.resume(tmp_path / "a.h5", duration=0.4)
    np.testing.assert_array_equal(gone_on.q, whole.q)
    assert gone_on.scheme == whole.scheme
    assert mbvi.simulate(model, gone_on.scheme, step=0.01, duration=0.1).scheme == whole.scheme


@pytest.mark.parametrize(
    ("tableau", "message"),
    [
        (ButcherTableau([[0.5]], [1]), "expected an explicit method, A strictly lower triangular, found A = "),
        (ButcherTableau([[0]], [0.9]), "expected weights b whose sum is 1, found 0.9"),
        (ButcherTableau([[0, 0]], [1]), "expected as many rows and columns of A as numbers of b, found A = "),
        (ButcherTableau("text", [1]), "expected lists of numbers, found A = 'text'"),
        (ButcherTableau([[0, 0], [math.inf, 0]], [1, 0]), "expected finite numbers, found A = "),
        (ButcherTableau([[0]], [1], "rk4"), "expected a name of its own, found that of 'rk4'; choose another"),
        (ButcherTableau([[0]], [1], ""), "expected a name of printable characters, found ''"),
    ],
)
def test_numbers_that_are_no_explicit_method_are_refused(tableau, message):
    with pytest.raises(mbvi.ModelError) as error:
        mbvi.simulate(CASES["elastic pendulum"][0], tableau, step=0.01, duration=0.1)
    assert str(error.value).startswith("scheme")
    assert message in str(error.value)
