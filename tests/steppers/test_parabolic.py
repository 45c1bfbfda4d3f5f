"""Methods with a parabola over the step: the direct midpoint method, its family, and those by variation of an action.

Mutze, A simple variational integrator for general holonomic mechanical systems.
"""

import numpy as np
import pytest
import sympy

import mbvi
from mbvi.analysis.convergence import convergence_order
from mbvi.analysis.small_step import action_variation
from mbvi.analysis.symplecticity import symplecticity_defect
from mbvi.steppers.direct_midpoint import direct_midpoint
from tests.marks import campaign, coarse

from ..physics import systems
from .test_runge_kutta import CASES, changing_steps, measured_order

VARIATIONAL = ("parabolic_path", "midpoint_variation", "three_point")
METHODS = (direct_midpoint(), direct_midpoint(g=0.6), direct_midpoint(g=1), *map(mbvi.SCHEMES.get, VARIATIONAL))
every_method = pytest.mark.parametrize("method", METHODS, ids=lambda each: each.name)
MASS, DAMPING, STIFFNESS = 2.0, -0.7, 3.0


def oscillator(**start):
    x, v = sympy.symbols("x v")
    return mbvi.from_sympy([x], [[MASS]], STIFFNESS * x**2 / 2, velocities=[v], forces=[-DAMPING * v], **start)


def two_coordinates(linear=True):
    """Masses that depend on the place, a potential, and forces that do not derive from one and depend on v and t."""
    x, y, u, w, t = sympy.symbols("x y u w t")
    forces = [-u / 3 + w + y / 2 + sympy.cos(t), -u - w / 2 - x / 4]
    if not linear:
        forces = [forces[0] - u * w**2 / 3, forces[1] + x**2 * sympy.sin(u)]
    M = [[2 + sympy.cos(y), sympy.sin(x - y) / 3], [sympy.sin(x - y) / 3, 1]]
    V = x**2 + x * y / 2 + y**4
    return mbvi.from_sympy(
        [x, y], M, V, velocities=[u, w], time=t, forces=forces, initial_q=[0.5, -0.8], initial_v=[1.0, 0.4]
    )


# -------------------------------------------------------------------------------------------------- order


@every_method
@pytest.mark.parametrize("name", CASES)
def test_order_with_forces_that_depend_on_velocity_and_time(method, name):
    counts = (40, 80, 160)
    assert measured_order(*CASES[name], method, counts, start_time=0.3) == pytest.approx(method.order, abs=0.1)


@pytest.mark.parametrize("method", METHODS[::2], ids=lambda each: each.name)
def test_order_with_every_force_of_a_model(method):
    """A tree of five joints in generalized coordinates, with all kinds of forces."""
    kinds = ("revolute", "ball euler", "prismatic", "screw", "revolute")
    system = systems.tree(systems.mechanisms.POTENTIAL + systems.mechanisms.OTHER, kinds, seed=4)
    assert measured_order(system, 0.4, method, (16, 32, 64)) == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize(("iterations", "order"), [(0, 1), (1, 2)])
def test_few_iterations(iterations, order):
    method = direct_midpoint(iterations=iterations)
    assert method.order == order
    assert measured_order(*CASES["elastic pendulum"], method, (100, 200, 400)) == pytest.approx(order, abs=0.1)


# ------------------------------------------------------------------------------------- what a step satisfies


def accelerations(run):
    """Of the parabola over every step, from its velocities; and half the step."""
    h = np.diff(run.t) if run.step_sizes is None else run.step_sizes
    return np.diff(run.v, axis=0) / h[:, None], h / 2


@every_method
def test_steps_are_parabolas(method):
    run = mbvi.simulate(two_coordinates(False), method, step=changing_steps(20, 1.0))
    a, tau = accelerations(run)
    end = run.q[:-1] + 2 * tau[:, None] * run.v[:-1] + 2 * tau[:, None] ** 2 * a
    np.testing.assert_allclose(run.q[1:], end, rtol=0, atol=1e-13)


@pytest.mark.parametrize("g", [0.0, 0.25, 1.0])
def test_acceleration_is_that_in_the_middle(g):
    """Equation 76, and with the guiding force, which then vanishes, 72."""
    system = two_coordinates(False)
    run = mbvi.simulate(system, direct_midpoint(g), step=changing_steps(20, 1.0))
    a, tau = accelerations(run)
    for i, half in enumerate(tau):
        t, q = run.t[i] + half, run.q[i] + half * run.v[i] + g * half**2 * a[i]
        v = run.v[i] + half * a[i]
        np.testing.assert_allclose(system.acceleration(q, v, t), a[i], rtol=0, atol=1e-12)
        assert np.abs(system.guiding_forces([t], [q], [v], [a[i]])).max() < 1e-11


@pytest.mark.parametrize("name", VARIATIONAL)
def test_the_action_is_stationary(name):
    system = two_coordinates(False)
    run = mbvi.simulate(system, name, step=changing_steps(20, 1.0))
    a, tau = accelerations(run)
    is_force_varied = name != "parabolic_path"
    for i, half in enumerate(tau):
        state = run.t[i], run.q[i], run.v[i], a[i], half
        assert np.abs(action_variation(system, *state, is_force_varied=is_force_varied)).max() < 1e-11
        assert np.abs(action_variation(system, *state, is_force_varied=not is_force_varied)).max() > 1e-8


def test_variation_is_the_derivative_of_the_action():
    """∂S/∂x₂ by differences of S, integrated along parabolas through three points with another rule."""
    system = two_coordinates(False)
    lagrangian, t, tau = system.unforced, 0.3, 0.1
    x, v, a = np.array([0.5, -0.8]), np.array([1.0, 0.4]), np.array([-0.7, 2.0])
    points, weights = np.polynomial.legendre.leggauss(12)
    points, weights = tau * (points + 1), tau * weights
    first, middle, last = x, x + v * tau + a * tau**2 / 2, x + 2 * v * tau + 2 * a * tau**2

    def action(middle):
        speed, rate = (-3 * first + 4 * middle - last) / (2 * tau), (first - 2 * middle + last) / tau**2
        total = 0.0
        for h, weight in zip(points, weights, strict=True):
            q, velocity = first + h * speed + h**2 / 2 * rate, speed + h * rate
            force = system.gradient(q, velocity, t + h)[1] - lagrangian.gradient(q, velocity, t + h)[1]
            off = h / 2 * (h - 2 * tau) * rate
            total += weight * (lagrangian.lagrangian(q, velocity, t + h) + off @ force)
        return total

    step = 1e-4
    slope = [(action(middle + step * e) - action(middle - step * e)) / (2 * step) for e in np.eye(2)]
    found = action_variation(system, t, x, v, a, tau)
    np.testing.assert_allclose(found, 3 / (4 * tau) * np.array(slope), rtol=0, atol=1e-7)


@pytest.mark.parametrize(("name", "g"), [(None, 0.0), (None, 0.3), (None, 1.0), *((name, 0.6) for name in VARIATIONAL)])
def test_closed_form_of_the_damped_oscillator(name, g):
    """m a = −b (v + τ a) − k (x + τ v + g τ² a); by variation of the action it comes out with g = 3/5 (equations 89, 90)."""
    method = direct_midpoint(g) if name is None else name
    run = mbvi.simulate(oscillator(initial_q=[1.0], initial_v=[0.4]), method, step=changing_steps(50, 10.0))
    x, v = 1.0, 0.4
    for i, h in enumerate(run.step_sizes):
        tau = h / 2
        a = -(DAMPING * v + STIFFNESS * (x + v * tau)) / (MASS + tau * DAMPING + g * STIFFNESS * tau**2)
        x, v = x + h * v + h**2 / 2 * a, v + h * a
        np.testing.assert_allclose([run.q[i + 1, 0], run.v[i + 1, 0]], [x, v], rtol=0, atol=1e-13 * max(abs(x), abs(v)))


# ------------------------------------------------------------------------------------------- equivalences


def test_three_points_move_as_the_midpoint_variation():
    system = two_coordinates(False)
    sizes = changing_steps(60, 3.0)
    ours, theirs = (mbvi.simulate(system, name, step=sizes) for name in ("three_point", "midpoint_variation"))
    np.testing.assert_allclose(ours.q, theirs.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ours.v, theirs.v, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("name", "is_conservative"), [("elastic pendulum", True), ("elastic pendulum, forced", False)])
def test_both_variational_methods_agree_where_all_forces_have_a_potential(name, is_conservative):
    system = systems.case(name).system
    assert (system.unforced is system) is is_conservative
    runs = [mbvi.simulate(system, each, step=0.02, duration=0.4) for each in VARIATIONAL[:2]]
    difference = np.abs(runs[0].q - runs[1].q).max()
    assert difference < 1e-13 if is_conservative else difference > 1e-8


def test_explicit_without_velocities():
    """Constant mass, forces of the place alone: drift, kick, drift, by the first evaluation; symplectic."""
    x, y = sympy.symbols("x y")
    system = mbvi.from_sympy([x, y], [[2, 0], [0, 3]], x**4 + x * y + y**2, initial_q=[1.0, 0.5], initial_v=[0, 1.0])
    h, q, v = 0.1, np.array([1.0, 0.5]), np.array([0, 1.0])
    run = mbvi.simulate(system, "direct_midpoint", step=h, duration=5)
    bare = mbvi.simulate(system, direct_midpoint(iterations=0), step=h, duration=5)
    np.testing.assert_array_equal(run.q, bare.q)
    for i in range(50):
        q = q + h / 2 * v
        v = v - h * np.array([(4 * q[0] ** 3 + q[1]) / 2, (q[0] + 2 * q[1]) / 3])
        q = q + h / 2 * v
        np.testing.assert_allclose(run.q[i + 1], q, rtol=0, atol=1e-13)
    energy = mbvi.simulate(system, "direct_midpoint", step=h, duration=2000).energy()
    assert np.ptp(energy[:2000]) == pytest.approx(np.ptp(energy[-2000:]), rel=0.1)  # no trend


def step_matrix(method):
    """Of one step of the undamped oscillator in (x, p)."""
    x = sympy.Symbol("x")
    system = mbvi.from_sympy([x], [[MASS]], STIFFNESS * x**2 / 2)
    columns = []
    for q, v in (([1.0], [0.0]), ([0.0], [1 / MASS])):
        run = mbvi.simulate(system, method, step=0.3, duration=0.3, initial_q=q, initial_v=v)
        columns.append([run.q[1, 0], run.p[1, 0]])
    return np.array(columns).T


@every_method
def test_area_of_the_linear_oscillator(method):
    """Steps are symmetric and linear, so that their determinant is 1."""
    assert symplecticity_defect(step_matrix(method)) < 1e-14


def swing(mass, method, h):
    """Symplecticity defect of a step of two coupled coordinates, with a mass 1 + mass y² of the first."""
    x, y = sympy.symbols("x y")
    V = (x**2 + y**2) / 2 + x**2 * y - y**3 / 3
    system = mbvi.from_sympy([x, y], [[1 + mass * y**2, 0], [0, 2]], V)

    def step(state):
        q, p = state[:2], state[2:]
        v = np.linalg.solve(system.mass_matrix(q), p)
        run = mbvi.simulate(system, method, step=h, duration=h, initial_q=q, initial_v=v)
        return np.concatenate([run.q[1], run.p[1]])

    state, d = np.array([0.1, -0.3, 0.2, 0.2]), 1e-3  # differences of order 4
    near, far = ([(step(state + k * e) - step(state - k * e)) / (2 * k) for e in np.eye(4)] for k in (d, 2 * d))
    return symplecticity_defect((4 * np.array(near) - far).T / 3)


@pytest.mark.parametrize("g", [0.0, 0.5, 1.0])
def test_symplectic_for_constant_mass(g):
    assert swing(0, direct_midpoint(g), 0.3) < 1e-10


@pytest.mark.parametrize(("mass", "method"), [(0, "parabolic_path"), (0, "three_point"), (1, "direct_midpoint")])
def test_not_symplectic_otherwise(mass, method):
    """By O(h³), as the documentation has it."""
    steps = (0.2, 0.1, 0.05)
    defects = [swing(mass, method, h) for h in steps]
    assert defects[-1] > 1e-6
    assert convergence_order(defects, steps) == pytest.approx(3, abs=0.2)


@every_method
def test_momentum_of_a_rotation(method):
    """A central force: exact for the direct midpoint method and its family, near it for the others."""
    x, y = sympy.symbols("x y")
    V = -1 / sympy.sqrt(x**2 + y**2)
    system = mbvi.from_sympy([x, y], [[1, 0], [0, 1]], V, initial_q=[1, 0], initial_v=[0, 1.2])
    run = mbvi.simulate(system, method, step=0.05, duration=50)
    change = np.ptp(run.q[:, 0] * run.p[:, 1] - run.q[:, 1] * run.p[:, 0])
    assert change < 1e-13 if method.runner == "direct_midpoint" else 1e-5 < change < 1e-3


@every_method
def test_a_step_back_undoes_a_step(method):
    """Backwards, time and velocities change their signs: F(t, q, v) becomes F(−t, q, −v)."""
    assert method.is_symmetric
    x, y, u, w, t = sympy.symbols("x y u w t")

    def system(sign):
        forces = [-sign * u + y * sympy.cos(sign * t), -sign * w * u**2 * sign / 3 * sign]
        M = [[2 + sympy.cos(y), 0], [0, 1]]
        return mbvi.from_sympy([x, y], M, x**2 + y**4, velocities=[u, w], time=t, forces=forces)

    there = mbvi.simulate(system(1), method, step=0.2, duration=1, initial_q=[0.5, -0.8], initial_v=[1.0, 0.4])
    back = mbvi.simulate(
        system(-1), method, step=0.2, duration=1, start_time=-1, initial_q=there.q[-1], initial_v=-there.v[-1]
    )
    np.testing.assert_allclose(back.q, there.q[::-1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(back.v, -there.v[::-1], rtol=0, atol=1e-12)


# ---------------------------------------------------------------------------------- solving for the acceleration


@coarse
def test_stiff_dampers_are_solved_beyond_the_iteration():
    """τ b/m = 50: the iteration diverges; the linear solution, equation 79, does not."""
    x, y, u, w = sympy.symbols("x y u w")
    C, h = np.array([[1000.0, 200.0], [-300.0, 800.0]]), 0.1
    forces = list(-sympy.Matrix(C) * sympy.Matrix([u, w]))
    system = mbvi.from_sympy([x, y], [[1, 0], [0, 1]], x**2 / 2, velocities=[u, w], forces=forces, initial_v=[1.0, 2.0])
    run = mbvi.simulate(system, "direct_midpoint", step=h, duration=h)
    v = np.array([1.0, 2.0])
    start = -C @ v - [h / 2 * v[0], 0]  # A(t + τ, x + τ v, v)
    a = np.linalg.solve(np.eye(2) + h / 2 * C, start)
    np.testing.assert_allclose(run.v[1], v + h * a, rtol=1e-12)
    assert run.statistics.newton_factorizations > 0


def test_gentle_forces_need_no_derivatives():
    run = mbvi.simulate(two_coordinates(False), "direct_midpoint", step=0.02, duration=1)
    assert run.statistics.newton_factorizations == 0
    assert 1 < run.statistics.iterations / run.statistics.steps < 15


def test_a_system_at_rest_stays_at_rest():
    system = mbvi.assemble(systems.model("double_pendulum"))
    for method in METHODS:
        run = mbvi.simulate(system, method, step=0.1, duration=1, initial_q=[0, 0])
        assert np.abs(run.q).max() < 1e-15


@every_method
def test_a_step_without_a_solution(method):
    """A force that pushes harder the faster it moves: m a = 40 (v + τ a)² has no real solution for large steps."""
    x, v = sympy.symbols("x v")
    system = mbvi.from_sympy([x], [[1]], 0, velocities=[v], forces=[40 * v**2], initial_v=[1.0])
    with pytest.raises(
        mbvi.StepError, match=r"step 0 \(t = 0 s\): .*The stored states before it are in error.trajectory"
    ):
        mbvi.simulate(system, method, step=0.5, duration=1)


# --------------------------------------------------------------------------------------- forces without potential


def test_unforced_is_the_lagrangian_alone(models):
    def drag(t, q, v, F):
        F[0] -= v[0]

    model = systems.model("double_pendulum")
    system = mbvi.assemble(model, force=drag)
    plain = mbvi.assemble(model)
    assert plain.unforced is plain
    q, v = np.array([0.3, -0.4]), np.array([1.0, 2.0])
    np.testing.assert_array_equal(system.unforced.gradient(q, v), plain.gradient(q, v))
    np.testing.assert_allclose(system.gradient(q, v)[1] - plain.gradient(q, v)[1], [-1, 0], rtol=0, atol=1e-15)


def test_unforced_without_functions_of_time():
    """Springs and dampers alone: at rest the same forces, moving those of the dampers apart."""
    system = mbvi.assemble(systems.model("spring_damper"))
    q, v = np.array([0.2, -0.3]), np.array([1.0, 2.0])
    at_rest, moving = (system.gradient(q, x)[1] - system.unforced.gradient(q, x)[1] for x in (0 * v, v))
    assert np.abs(at_rest).max() < 1e-14
    assert moving @ v < -0.1


def test_unforced_tree():
    kinds = ("revolute", "ball euler", "prismatic", "screw", "revolute")
    every = systems.mechanisms.POTENTIAL + systems.mechanisms.OTHER
    system = systems.tree(every, kinds, seed=4)
    lagrangian = system.unforced
    q, v, n = system.initial_q, system.initial_v, system.dimension
    slopes = [(system.potential(q + 1e-6 * e) - system.potential(q - 1e-6 * e)) / 2e-6 for e in np.eye(n)]
    np.testing.assert_allclose(lagrangian.gradient(q, 0 * v)[1], -np.array(slopes), rtol=0, atol=1e-7)
    assert np.abs(system.gradient(q, 0 * v)[1] + slopes).max() > 0.1
    np.testing.assert_array_equal(lagrangian.gradient(q, v)[0], system.gradient(q, v)[0])


def test_unforced_functions():
    def mass(q, M):
        M[0, 0] = 2.0

    def potential(q):
        return 3.0 * q[0] ** 2

    def drag(t, q, v, F):
        F[0] -= v[0] * t

    system = mbvi.from_functions(["x"], mass, potential, force=drag)
    assert system.gradient([1.0], [2.0], 3.0)[1] == [-12.0]
    assert system.unforced.gradient([1.0], [2.0], 3.0)[1] == [-6.0]


@pytest.mark.parametrize(("size", "error"), [(1.0, 1e-13), pytest.param(1e-3, 1e-9, marks=campaign), (1e-6, 1e-4)])
def test_force_function_is_varied_as_expressions_are(size, error):
    """Derivatives of a force are in the equations of a step: central differences keep all but the last digits, and of the
    same motion in a unit by which coordinates are small not quite as many.
    """

    def unit_mass(q, M):
        M[0, 0] = 1.0

    def drag(t, q, v, F):
        F[0] -= size * np.sin(q[0] / size) * (v[0] / size) ** 3

    x, v = sympy.symbols("x v")
    start = {"initial_q": [size], "initial_v": [0.5 * size]}
    ours = mbvi.from_functions(["x"], unit_mass, lambda q: q[0] ** 2, force=drag, **start)
    theirs = mbvi.from_sympy(
        [x], [[1]], x**2, velocities=[v], forces=[-size * sympy.sin(x / size) * (v / size) ** 3], **start
    )
    for name in ("midpoint_variation", "three_point"):
        found, expected = (mbvi.simulate(each, name, step=0.05, duration=2).q for each in (ours, theirs))
        assert np.abs(found - expected).max() < error * size


# --------------------------------------------------------------------------------------------- as any other run


def test_iteration_by_hand():
    """Equation 80, twice, then the state of equation 73."""
    system, h, g = two_coordinates(False), 0.3, 0.4
    x, v, tau = system.initial_q, system.initial_v, 0.15

    def rate(a):
        return system.acceleration(x + v * tau + a * tau**2 * g, v + a * tau, tau)

    a = system.acceleration(x + v * tau, v, tau)
    for _ in range(2):
        once = rate(a)
        a = (once + rate(once)) / 2
    run = mbvi.simulate(system, direct_midpoint(g, iterations=2), step=h, duration=h)
    np.testing.assert_allclose(run.q[1], x + h * v + h**2 / 2 * a, rtol=1e-13)
    np.testing.assert_allclose(run.v[1], v + h * a, rtol=1e-13)


@every_method
def test_equal_sizes_are_a_step(method):
    system = two_coordinates()
    alike = mbvi.simulate(system, method, step=np.full(10, 0.1))
    run = mbvi.simulate(system, method, step=0.1, duration=1)
    np.testing.assert_allclose(alike.q, run.q, rtol=0, atol=1e-13)
    np.testing.assert_allclose(alike.t, run.t, rtol=1e-14)


@pytest.mark.parametrize("method", [direct_midpoint(0.6, 3), "midpoint_variation", "rk4"])
def test_file_and_another_run(method, tmp_path):
    system = two_coordinates()
    run = mbvi.simulate(system, method, step=changing_steps(30, 2.0), every=3, start_time=1.0)
    np.testing.assert_allclose(run.t, 1.0 + np.concatenate([[0], np.cumsum(changing_steps(30, 2.0))])[::3], rtol=1e-15)
    assert run.statistics.steps == 30
    assert "11 states from t = 1 s to 3 s" in repr(run)
    assert repr(run).endswith("mean step 0.0666667 s>")
    run.save(tmp_path / "run.h5")
    again = mbvi.read(tmp_path / "run.h5", system=system)
    assert again.scheme == run.scheme
    np.testing.assert_array_equal(again.step_sizes, run.step_sizes)
    np.testing.assert_array_equal(again.t, run.t)
    repeated = mbvi.simulate(system, again.scheme, step=again.step_sizes, every=again.every, start_time=again.t[0])
    np.testing.assert_array_equal(repeated.q, run.q)


def test_failed_run_keeps_its_sizes():
    x, v = sympy.symbols("x v")
    system = mbvi.from_sympy([x], [[1]], 0, velocities=[v], forces=[v**2], initial_v=[1.0])
    with pytest.raises(mbvi.StepError) as error:
        mbvi.simulate(system, "direct_midpoint", step=np.linspace(0.01, 0.05, 100))
    kept = error.value.trajectory
    assert len(kept.step_sizes) == kept.statistics.steps == len(kept) - 1
    assert kept.t[-1] == pytest.approx(kept.step_sizes.sum())


# ------------------------------------------------------------------------------------------- what they refuse


@pytest.mark.parametrize(
    ("scheme", "options", "message"),
    [
        ("simpson", {"step": [0.1, 0.2]}, "step: expected one number of seconds with scheme simpson, found list; steps that "
         "change are for direct_midpoint, parabolic_path, midpoint_variation, three_point, rk4, .*heun"),
        ("newmark", {"step": [0.1, 0.2]}, "step: expected one number of seconds with scheme newmark, found list"),
        ("rk4", {"step": [0.1, -0.2]}, r"step: expected numbers of seconds greater than 0, .* found \[0.1, -0.2\]"),
        ("rk4", {"step": []}, "step: expected numbers of seconds greater than 0, one for each step"),
        ("rk4", {"step": [0.1, np.nan]}, "step: expected numbers of seconds greater than 0, one for each step"),
        ("rk4", {"step": ["a", 1]}, "step: expected numbers of seconds greater than 0, one for each step"),
        ("rk4", {"step": [[0.1], [0.2, 0.3]]}, "step: expected numbers of seconds greater than 0, one for each step"),
        ("rk4", {"step": [[0.1], [0.2]]}, "step: expected numbers of seconds greater than 0, one for each step"),
        ("rk4", {"step": [0.1, 0.2], "duration": 1}, "duration: expected none where the sizes of all steps are given, found 1"),
        ("rk4", {"step": [0.1, 0.2, 0.1], "every": 2}, "step: expected a multiple of every = 2 step sizes, found 3"),
    ],
)  # fmt: skip
def test_sizes_that_are_refused(scheme, options, message):
    with pytest.raises(mbvi.ModelError, match=message):
        mbvi.simulate(oscillator(initial_q=[1.0]), scheme, **options)


@every_method
def test_constraints_are_refused(method, models):
    with pytest.raises(
        mbvi.ModelError, match=r"expected a system without constraints for scheme .*; take midpoint or simp"
    ):
        mbvi.simulate(mbvi.load(models / "pendulum_cartesian.yaml"), method, step=0.1, duration=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"g": -0.1}, "g: expected a number from 0 to 1, found -0.1"),
        ({"g": "3/5"}, "g: expected a number from 0 to 1, found '3/5'"),
        ({"g": np.nan}, "g: expected a number from 0 to 1, found nan"),
        (
            {"iterations": -1},
            "iterations: expected a whole number of at least 0, or none to solve the equation, found -1",
        ),
        ({"iterations": 1.5}, "iterations: expected a whole number of at least 0"),
    ],
)
def test_families_that_are_refused(options, message):
    with pytest.raises(mbvi.ModelError, match=message):
        direct_midpoint(**options)


@pytest.mark.parametrize("tau", [0.0, -0.1, np.nan])
def test_half_steps_that_are_refused(tau):
    with pytest.raises(mbvi.ModelError, match="tau: expected a time greater than 0, found"):
        action_variation(oscillator(), 0.0, [1.0], [0.0], [0.0], tau)


def test_convergence_order_of_the_theorem():
    """D S = −G in the middle of the step, to O(τ²), whatever g; L and F of a general system (equation 60)."""
    system = two_coordinates(False)
    t, x, v, a = 0.3, np.array([0.5, -0.8]), np.array([1.0, 0.4]), np.array([-0.7, 2.0])
    taus = np.array([0.02, 0.01, 0.005])
    for g in (0.0, 0.5, 0.6, 1.0, -3.0):
        middle = [(t + s, x + v * s + a * s**2 * g, v + a * s, a) for s in taus]
        G = np.concatenate([system.guiding_forces(*([each] for each in state)) for state in middle])
        differences = [action_variation(system, t, x, v, a, s) + force for s, force in zip(taus, G, strict=True)]
        errors = np.linalg.norm(differences, axis=1)
        assert convergence_order(errors, taus) == pytest.approx(2, abs=0.1)


def test_a_motion_that_blows_up_is_not_blamed_on_the_mass_matrix():
    """Angles that grow beyond what numbers tell of them, where M is regular."""
    rod = mbvi.Body(mass=1, center_of_mass=(0, 0, -0.25), inertia=(0.02, 0.02, 0))
    below = {"axis": (0, 1, 0), "position": (0, 0, -0.5)}
    joints = {
        "a": mbvi.Revolute(parent="world", child="a", axis=(0, 1, 0)),
        "b": mbvi.Revolute(parent="a", child="b", **below),
    }
    oil = {"oil": mbvi.JointDamper(joint="b", damping=-100)}
    start = {"a": mbvi.Initial(position=1)}
    model = mbvi.Model(name="arm", bodies={"a": rod, "b": rod}, joints=joints, forces=oil, initial=start)
    with pytest.raises(mbvi.StepError, match="the state became infinite or not a number"):
        mbvi.simulate(model, "rk4", step=0.005, duration=1)
