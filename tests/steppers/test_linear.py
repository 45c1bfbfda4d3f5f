"""Newmark's and Simpson's scheme for quadratic Lagrangians.

Rojas-Quintero, Dubois & Cabrera-Díaz, Simpson's variational integrator for systems with quadratic Lagrangians (2024).
"""

import warnings

import numpy as np
import pytest
import sympy

import mbvi
from mbvi.analysis.convergence import convergence_order
from mbvi.analysis.symplecticity import symplecticity_defect
from mbvi.exact import LinearDoublePendulum
from mbvi.schemes.linear import newmark, simpson, simpson_with_internal_point
from mbvi.steppers.linear import internal_points
from tests.marks import coarse

LINEAR = ("newmark", "simpson_linear", "simpson_condensed")
GRAVITY = 9.81
LENGTH = GRAVITY / (2 * np.pi) ** 2
PENDULUM = LinearDoublePendulum(masses=(1, 1), lengths=(LENGTH, LENGTH), gravity=GRAVITY, angles=(0, np.pi / 6))
every_scheme = pytest.mark.parametrize("scheme", LINEAR)


def quadratic(M, K, f=None, **start):
    """A system with L = ½ vᵀM v − ½ qᵀK q + fᵀq."""
    n = len(M)
    q = sympy.Matrix(sympy.symbols(f"q:{n}"))
    linear = (sympy.Matrix([0] * n if f is None else f).T * q)[0]
    return mbvi.from_sympy(list(q), M, (q.T * sympy.Matrix(K) * q)[0] / 2 - linear, **start)


@pytest.fixture(scope="module")
def pendulum():
    return quadratic(PENDULUM.mass_matrix, PENDULUM.stiffness_matrix, initial_q=[0, np.pi / 6])


def random_quadratic(n=3, seed=4):
    """Three coordinates, all coupled, fastest frequency 3 rad/s, one of them free to drift; M, K, f."""
    random = np.random.default_rng(seed)
    a, b = random.standard_normal((2, n, n))
    M = a @ a.T + np.eye(n)
    root = np.linalg.cholesky(M)
    turn = np.linalg.qr(b)[0]
    K = root @ turn @ np.diag([0.0, 2.0, 9.0][:n]) @ turn.T @ root.T
    return M, 0.5 * (K + K.T), random.standard_normal(n)


def errors(run):
    """Largest errors of momenta and coordinates, each in the Euclidean norm."""
    q, v = PENDULUM(run.t)
    return tuple(np.linalg.norm(x, axis=1).max() for x in (run.p - v @ PENDULUM.mass_matrix, run.q - q))


# --------------------------------------------------------------------------------------------- the motion


@pytest.mark.parametrize(("scheme", "order"), [("newmark", 2), ("simpson_linear", 4), ("simpson_condensed", 4)])
def test_order(scheme, order, pendulum):
    assert mbvi.SCHEMES[scheme].order == order
    steps = [0.02, 0.01, 0.005]
    found = [errors(mbvi.simulate(pendulum, scheme, step=h, duration=1)) for h in steps]
    for each in zip(*found, strict=True):
        assert convergence_order(each, steps) == pytest.approx(order, abs=0.05)


@pytest.mark.parametrize(
    ("scheme", "galerkin"), [("newmark", "midpoint"), ("simpson_linear", "simpson"), ("simpson_condensed", "simpson")]
)
def test_motion_is_that_of_the_galerkin_scheme(scheme, galerkin):
    """With constant forces and a coordinate without stiffness too: there both take the very same step."""
    M, K, f = random_quadratic()
    system = quadratic(M, K, f, initial_q=[1, 2, 3], initial_v=[-1, 0, 1])
    ours, theirs = (mbvi.simulate(system, each, step=0.5, duration=20) for each in (scheme, galerkin))
    assert np.abs(ours.q - theirs.q).max() < 1e-12 * np.abs(theirs.q).max()
    assert np.abs(ours.p - theirs.p).max() < 1e-12 * np.abs(theirs.p).max()


def test_a_model_runs():
    """A mass on a spring that bears its weight, from the place where the spring is at rest."""
    mass = mbvi.Body(mass=2)
    rail = mbvi.Prismatic(parent="world", child="mass", axis=(0, 0, 1))
    spring = mbvi.JointSpring(joint="rail", stiffness=50)
    model = mbvi.Model(
        name="weight", gravity=(0, 0, -10), bodies={"mass": mass}, joints={"rail": rail}, forces={"spring": spring}
    )
    run = mbvi.simulate(model, "simpson_linear", step=0.01, duration=2)
    assert np.abs(run.q[:, 0] - 0.4 * (np.cos(5 * run.t) - 1)).max() < 1e-6


@pytest.mark.parametrize(("build", "scheme"), [(newmark, "newmark"), (simpson, "simpson_condensed")])
def test_matrix_is_that_of_the_paper(build, scheme):
    """A⁻¹B of equations 10 and 30, and the run is its powers."""
    M, K, f = random_quadratic()
    h, one = 0.3, np.eye(3)
    L = one - h**2 / 8 * np.linalg.solve(M, K)
    X, Y = (
        (2 / h * M, h / 2 * K) if build is newmark else (2 / h * M - h / 6 * K, h / 3 * (K @ np.linalg.inv(L) + K / 2))
    )
    A, B = np.block([[one, -X], [one, Y]]), np.block([[-one, -X], [one, -Y]])
    step = build(M, K, f, h)
    np.testing.assert_allclose(step.matrix, np.linalg.solve(A, B), rtol=0, atol=1e-13)
    assert symplecticity_defect(step.matrix) < 1e-12
    run = mbvi.simulate(quadratic(M, K, f, initial_q=[1, 0, 0]), scheme, step=h, duration=10 * h)
    eta = np.concatenate([run.p[0], run.q[0]])
    for p, q in zip(run.p[1:], run.q[1:], strict=True):
        eta = step.matrix @ eta + step.shift
        np.testing.assert_allclose(np.concatenate([p, q]), eta, rtol=1e-12, atol=1e-12)


def test_internal_points_satisfy_the_equation_at_the_middle():
    """M (q − 2 q½ + q') 4/h² + K q½ = f, equation 18, in the matrix and in the points of a run."""
    M, K, f = random_quadratic()
    h = 0.3
    for scheme in ("simpson_linear", "simpson_condensed", "simpson"):
        run = mbvi.simulate(quadratic(M, K, f, initial_q=[1, 2, 3]), scheme, step=h, duration=3)
        middle = internal_points(run)[:-1]
        left = (run.q[:-1] - 2 * middle + run.q[1:]) * 4 / h**2 @ M + middle @ K - f
        assert np.abs(left).max() < 1e-11 * np.abs(run.q).max() * np.abs(M).max() * 4 / h**2
    C = simpson_with_internal_point(M, K, f, h)
    np.testing.assert_allclose(
        C.astype(float) @ [*run.p[0], *run.q[0], 1], [*middle[0], *run.p[1], *run.q[1]], rtol=1e-12
    )


def test_internal_points_need_the_scheme(pendulum):
    run = mbvi.simulate(pendulum, "newmark", step=0.1, duration=1)
    with pytest.raises(
        mbvi.ModelError, match=r"internal_points: expected a run of simpson_linear .* found one of newmark"
    ):
        internal_points(run)


# -------------------------------------------------------------------------------------- the conserved form


@pytest.mark.parametrize(
    ("scheme", "bound"), [("newmark", 1e-15), ("simpson_condensed", 1e-15), ("simpson_linear", 1.5e-14)]
)
def test_form_is_conserved_over_many_steps(scheme, bound, pendulum):
    """100 000 steps. With the internal point the matrix, rounded to 64 bits, is symplectic to 1e-19 only: that adds up."""
    if np.finfo(np.longdouble).eps > 1e-18:
        pytest.skip("no extended precision on this machine")
    phi = mbvi.simulate(pendulum, scheme, step=0.1, duration=10_000).quadratic_form()
    assert len(phi) == 100_001
    assert np.abs(phi / phi[0] - 1).max() < bound


@pytest.mark.parametrize("scheme", [*LINEAR, "midpoint", "simpson"])
def test_form_is_conserved_with_constant_forces(scheme):
    """Without an equilibrium too: the force has a part along the coordinate that no spring holds."""
    M, K, f = random_quadratic()
    drift = np.linalg.eigh(K)[1][:, 0]
    assert abs(f @ drift) > 0.1
    run = mbvi.simulate(quadratic(M, K, f, initial_v=[1, 2, 3]), scheme, step=0.3, duration=30)
    phi = run.quadratic_form()
    terms = 0.3 * np.abs(K).max() * np.abs(run.q).max() ** 2  # which cancel
    assert np.abs(phi - phi[0]).max() < 1e-15 * terms
    assert np.ptp(run.kinetic_energy()) > 1


@every_scheme
def test_form_is_about_half_a_step_times_the_energy(scheme, pendulum):
    steps = np.array([0.02, 0.01])
    left = []
    for h in steps:
        run = mbvi.simulate(pendulum, scheme, step=h, duration=1)
        left.append(np.abs(run.quadratic_form() / (h / 2 * run.energy()) - 1).max())
    assert left[0] < 0.01
    assert np.log2(left[0] / left[1]) == pytest.approx(2, abs=0.1)


def test_newmark_conserves_the_energy(pendulum):
    energy = mbvi.simulate(pendulum, "newmark", step=0.1, duration=100).energy()
    assert np.abs(energy / energy[0] - 1).max() < 5e-15


def test_form_needs_a_scheme_that_has_one(pendulum):
    run = mbvi.simulate(pendulum, "gauss3", step=0.1, duration=1)
    with pytest.raises(mbvi.ModelError, match=r"quadratic_form: expected a run of newmark, .* found one of gauss3"):
        run.quadratic_form()


# ------------------------------------------------------------------------------------------------ stability


def oscillators(*frequencies, **start):
    n = len(frequencies)
    return quadratic(np.eye(n), np.diag(np.square(frequencies)), **start)


@coarse
@pytest.mark.parametrize("scheme", ["simpson_linear", "simpson_condensed"])
def test_stability_limit_is_sharp(scheme):
    """ω_max h just below and above 2√2: bounded, and growing as the trace 2 (X − Y)/(X + Y) of the step tells."""
    system = oscillators(1.0, 7.0, initial_q=[1.0, 1.0])
    limit = 2 * np.sqrt(2) / 7
    below = mbvi.simulate(system, scheme, step=0.999 * limit, duration=1000 * limit)
    assert np.abs(below.q).max() < 1 + 1e-9
    with pytest.warns(
        mbvi.errors.StabilityWarning, match=r"stable for steps below 2√2/ω_max, here 0\.404061 s with ω_max = 7 rad/s"
    ):
        above = mbvi.simulate(system, scheme, step=1.001 * limit, duration=1000 * limit)
    assert np.abs(above.q[:, 0]).max() < 1 + 1e-9
    growth = np.polyfit(np.arange(500, 900), np.log(np.abs(above.q[500:900, 1])), 1)[0]
    z = 8 * 1.001**2
    X, Y = 2 - z / 6, z / 3 * (1 / (1 - z / 8) + 0.5)  # times h
    half_trace = (X - Y) / (X + Y)
    assert growth == pytest.approx(np.arccosh(np.abs(half_trace)), rel=1e-6)


@coarse
def test_the_internal_point_keeps_the_step_regular_at_the_limit():
    system = oscillators(2.0, initial_q=[1.0])
    with pytest.warns(mbvi.errors.StabilityWarning) as warned:
        run = mbvi.simulate(system, "simpson_linear", step=np.sqrt(2), duration=10)
    assert warned[0].filename == __file__  # where the step was given
    assert np.abs(np.abs(run.q) - 1).max() < 1e-12


def test_without_the_internal_point_the_step_is_singular_there():
    with pytest.warns(mbvi.errors.StabilityWarning), pytest.raises(mbvi.ModelError) as error:
        mbvi.simulate(quadratic(np.eye(1), [[8]]), "simpson_condensed", step=1, duration=5)
    assert str(error.value) == (
        "step: expected other than 2√2/ω of every mode, found 1 s: with scheme simpson_condensed its equations are singular; "
        "take simpson_linear, or another step"
    )


def test_newmark_is_stable_at_every_step():
    system = oscillators(1.0, 7.0, initial_q=[1.0, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for step in (1.0, 30.0, 1e4):
            assert np.abs(mbvi.simulate(system, "newmark", step=step, duration=1000 * step).q).max() < 1 + 1e-9


@every_scheme
def test_a_mode_that_grows_by_itself(scheme):
    """An upright pendulum: cosh t, no warning; a step too long for it is refused."""
    system = quadratic([[1]], [[-1]], initial_q=[1.0])
    run = mbvi.simulate(system, scheme, step=0.01, duration=3)
    assert np.abs(run.q[:, 0] / np.cosh(run.t) - 1).max() < (1e-4 if scheme == "newmark" else 1e-8)
    with pytest.raises(
        mbvi.ModelError, match=r"step: expected less than .* no longer step for a mode that grows by itself at 1 1/s"
    ):
        mbvi.simulate(system, scheme, step=5, duration=10)


@coarse
def test_a_motion_that_overflows():
    system = oscillators(1.0, initial_q=[1.0])
    with (
        pytest.warns(mbvi.errors.StabilityWarning),
        pytest.raises(mbvi.StepError, match="the state became infinite") as error,
    ):
        mbvi.simulate(system, "simpson_condensed", step=3.4, duration=3.4e4)
    assert np.isfinite(error.value.trajectory.q).all()
    assert np.abs(error.value.trajectory.q[-1]).max() > 1e300


# ----------------------------------------------------------------------------------------- what they refuse


def refused(system):
    with pytest.raises(mbvi.ModelError) as error:
        mbvi.simulate(system, "newmark", step=0.1, duration=1)
    expected = (
        "expected a quadratic Lagrangian, with constant mass matrix, forces that are linear in the coordinates and nothing "
        "else, "
    )
    where, _, rest = str(error.value).partition(f": {expected}")
    assert where.endswith(": scheme newmark")
    found, _, remedy = rest.partition("; ")
    assert remedy == "take midpoint or simpson, which run any system, or mbvi.linearize"
    return found


def test_nonlinear_force_is_refused(models):
    system = mbvi.assemble(mbvi.load(models / "pendulum.yaml"))
    assert (
        refused(system)
        == f"found the force on {system.coordinate_names[0]}, which is not linear in {system.coordinate_names[0]}"
    )


def test_force_of_two_coordinates_is_refused():
    x, y = sympy.symbols("x y")
    system = mbvi.from_sympy([x, y], [[1, 0], [0, 1]], x**2 + y**2 + x**2 * y**2)
    assert refused(system) in {
        f"found the force on {a}, which is not linear in several coordinates together" for a in "xy"
    }


def test_inertia_that_changes_is_refused():
    x, y = sympy.symbols("x y")
    system = mbvi.from_sympy([x, y], [[2 + y**2, 1], [1, 2]], x**2 + y**2)
    assert refused(system) == "found the inertia of x, which depends on y"


def test_constraints_are_refused(models):
    assert refused(mbvi.load(models / "pendulum_cartesian.yaml")).startswith("found constraints, as ")


def test_dampers_are_refused():
    x, v = sympy.symbols("x v")
    damped = mbvi.from_sympy([x], [[1]], x**2, velocities=[v], forces=[-v])
    assert refused(damped) == "found dampers, functions of time or forces of your own"


# ------------------------------------------------------------------------------------------- as any other run


@every_scheme
def test_stored_states_and_progress(scheme, pendulum):
    reported = []
    run = mbvi.simulate(
        pendulum, scheme, step=0.1, duration=1, every=5, start_time=2, progress=lambda *each: reported.append(each)
    )
    dense = mbvi.simulate(pendulum, scheme, step=0.1, duration=1)
    np.testing.assert_array_equal(run.q, dense.q[::5])
    np.testing.assert_allclose(run.t, [2, 2.5, 3])
    assert run.statistics.steps == 10
    assert reported[-1] == (10, 10)


@every_scheme
def test_file(scheme, pendulum, tmp_path):
    run = mbvi.simulate(pendulum, scheme, step=0.1, duration=1)
    run.save(tmp_path / "run.h5")
    again = mbvi.read(tmp_path / "run.h5", system=pendulum)
    assert again.scheme == run.scheme
    np.testing.assert_array_equal(again.quadratic_form(), run.quadratic_form())


def test_two_positions_are_refused(pendulum):
    with pytest.raises(mbvi.ModelError, match=r"previous_q: expected a scheme of one stage, .* found 'newmark'"):
        mbvi.simulate(pendulum, "newmark", step=0.1, duration=1, previous_q=[0, 0.5])


def test_a_small_part_beside_a_large_one_is_seen():
    """A pendulum beside a spring 10⁹ times as stiff, and a changing inertia beside one 10¹⁰ times as large."""
    x, y = sympy.symbols("x y")
    stiff = mbvi.from_sympy([x, y], sympy.eye(2), 1e10 * x**2 / 2 - 10 * sympy.cos(y), initial_q=[0, 1.0])
    assert "the force on y, which is not linear in y" in refused(stiff)
    heavy = mbvi.from_sympy([x, y], sympy.diag(1e10, 2 + sympy.cos(y)), y**2, initial_q=[0, 1.0])
    assert "the inertia of y, which depends on y" in refused(heavy)
    mbvi.simulate(quadratic([[1e10, 0], [0, 1e-3]], [[1e7, 2], [2, 1e-3]]), "newmark", step=0.1, duration=1)
