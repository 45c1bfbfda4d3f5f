"""The energy–momentum method and the scheme of Chorin et al.: what they conserve at large steps, orders, and refusals."""

from functools import cache

import numpy as np
import pytest
import sympy

import mbvi
from mbvi.analysis.convergence import convergence_order
from mbvi.analysis.noether import linear_generator
from mbvi.steppers.discrete_gradient import chorin

from ..physics import systems

METHODS = ("energy_momentum", "chorin")
ROUND_OFF = 1e-12  # of a thousand steps


@cache
def two_bodies():
    """Two masses of 1 and 2 kg that a hardening spring ties, in space."""
    x = sympy.symbols("x:6")
    length = sympy.sqrt(sum((x[i] - x[i + 3]) ** 2 for i in range(3)))
    return mbvi.from_sympy(
        x,
        sympy.diag(1, 1, 1, 2, 2, 2),
        10 * (length - 1) ** 2 + 3 * (length - 1) ** 4,
        initial_q=[1, 0, 0, -0.5, 0, 0.2],
        initial_v=[0, 1, 0.5, 0.2, -0.5, 0.3],
        name="two bodies",
    )


@cache
def three_masses():
    """Three masses in the plane in a triangle of springs, which turns: of the forces, none is along the motion."""
    x = sympy.symbols("x:6")
    points = [sympy.Matrix(x[2 * i : 2 * i + 2]) for i in range(3)]
    springs = [sympy.sqrt((points[i] - points[i - 1]).dot(points[i] - points[i - 1])) for i in range(3)]
    return mbvi.from_sympy(
        x,
        sympy.diag(1, 1, 2, 2, 3, 3),
        sum((5 + i) * (length - 1) ** 2 + (length - 1) ** 4 for i, length in enumerate(springs)),
        initial_q=[0, 0, 1.2, 0, 0.3, 1],
        initial_v=[0.5, 0, 0, 1, -0.5, 0.2],
        name="three masses",
    )


@cache
def anharmonic():
    """A potential without symmetry, and masses that couple."""
    x, y = sympy.symbols("x y")
    return mbvi.from_sympy(
        [x, y], [[2, 1], [1, 3]], x**2 + x * y / 2 + y**4, initial_q=[1, -0.5], initial_v=[0.2, 1], name="anharmonic"
    )


@cache
def pendulum():
    q = sympy.Symbol("q")
    return mbvi.from_sympy([q], [[2]], -3 * sympy.cos(q), initial_q=[1.0], initial_v=[0.5], name="pendulum")


@cache
def spherical():
    return mbvi.assemble(systems.model("double_spherical_pendulum"), "embedding")


def redundant():
    """A pendulum on a sphere whose constraint stands there twice."""
    x, y, z = q = sympy.symbols("x y z")
    sphere = x**2 + y**2 + z**2 - 1
    start = {"initial_q": [0.8, 0.0, -0.6], "initial_v": [0.3, 1.5, 0.4]}
    return mbvi.from_sympy(q, sympy.eye(3), 5 * z, constraints=[sphere / 2, 3 * sphere], **start)


def turn(n, size):
    """The generator of rotations about the last axis, or in the plane, of points of that many coordinates."""
    block = np.zeros((size, size))
    block[0, 1], block[1, 0] = -1, 1
    return linear_generator(np.kron(np.eye(n // size), block))


def errors(system, scheme, steps, duration=2.0):
    exact = mbvi.simulate(system, "gauss6", step=min(steps) / 2, duration=duration)
    runs = [mbvi.simulate(system, scheme, step=step, duration=duration) for step in steps]
    return [max(np.abs(run.q[-1] - exact.q[-1]).max(), np.abs(run.p[-1] - exact.p[-1]).max()) for run in runs]


@pytest.mark.parametrize(
    ("scheme", "system", "order"),
    [
        ("energy_momentum", two_bodies, 2),
        ("energy_momentum", three_masses, 2),
        ("energy_momentum", anharmonic, 2),
        ("energy_momentum", systems.spherical_pendulum, 2),
        ("energy_momentum", spherical, 2),
        ("chorin", two_bodies, 2),
        ("chorin", pendulum, 2),
    ],
)
def test_order(scheme, system, order):
    steps = (0.01, 0.005, 0.0025)
    assert convergence_order(errors(system(), scheme, steps), steps) == pytest.approx(order, abs=0.1)


@pytest.mark.parametrize(("constants", "order"), [({"beta": 0.7}, 1), ({"gamma": 1}, 1), ({"alpha": 0, "delta": 1}, 2)])
def test_order_of_chorin_by_its_constants(constants, order):
    steps, scheme = (0.01, 0.005, 0.0025), chorin(**constants)
    assert scheme.order == order
    assert convergence_order(errors(two_bodies(), scheme, steps, 0.2), steps) == pytest.approx(order, abs=0.1)


def test_energy_with_all_constants():
    for constants in CONSTANTS:
        run = mbvi.simulate(two_bodies(), chorin(**constants), step=0.02, duration=0.4)
        assert np.ptp(run.energy()) < ROUND_OFF * np.abs(run.potential_energy() + run.kinetic_energy()).max()
        assert run.scheme.name.startswith("chorin(")


@pytest.mark.parametrize("value", [-0.1, 1.5, np.nan, "1", True])
def test_constants_that_are_refused(value):
    with pytest.raises(mbvi.ModelError, match="delta: expected a number from 0 to 1, found"):
        chorin(delta=value)


def test_order_of_chorin_where_the_mass_matrix_depends_on_the_position():
    """Halves or not, H(q', p) in both equations is of order 1."""
    steps = (0.002, 0.001, 0.0005)
    found = errors(systems.elastic_pendulum(), "chorin", steps, 0.5)
    assert convergence_order(found, steps) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("step", [0.02, 0.1, 0.3])
@pytest.mark.parametrize(
    ("scheme", "system"),
    [
        *(("energy_momentum", system) for system in (two_bodies, three_masses, anharmonic, spherical, redundant)),
        ("chorin", two_bodies),
        ("chorin", pendulum),
    ],
)
def test_energy_at_large_steps(scheme, system, step):
    run = mbvi.simulate(system(), scheme, step=step, duration=500 * step)
    scale = np.abs(run.kinetic_energy()).max() + np.abs(run.potential_energy()).max()
    assert np.abs(run.energy() - run.energy()[0]).max() < ROUND_OFF * scale


def test_midpoint_does_not_conserve_that_energy():
    run = mbvi.simulate(two_bodies(), "midpoint", step=0.1, duration=50)
    assert np.ptp(run.energy()) > 0.1


@pytest.mark.parametrize("step", [0.02, 0.1, 0.3])
@pytest.mark.parametrize(("system", "size"), [(two_bodies, 3), (three_masses, 2), (spherical, 3), (redundant, 3)])
def test_momenta_at_large_steps(system, size, step):
    """By the discrete gradient along what symmetries leave of the increment; that along the increment itself would not."""
    run = mbvi.simulate(system(), "energy_momentum", step=step, duration=500 * step)
    J = turn(run.system.dimension, size).value(run.q, run.p)
    assert abs(J[0]) > 0.1
    assert np.ptp(J) < ROUND_OFF * np.abs(run.p).max() * max(1.0, np.abs(run.q).max())
    for values in run.momenta().values():
        assert np.ptp(values) < ROUND_OFF * np.abs(run.p).max() * max(1.0, np.abs(run.q).max())


def test_of_two_bodies_both_are_the_same():
    """There ∇V is all that symmetries leave of the increment."""
    runs = [mbvi.simulate(two_bodies(), scheme, step=0.05, duration=5) for scheme in METHODS]
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-11)


CONSTANTS = {"beta": 0.7}, {"alpha": 0.2, "beta": 0.7, "gamma": 0.4, "delta": 0.9}, {"gamma": 0, "delta": 1}


@pytest.mark.parametrize("constants", [{}, *CONSTANTS])
@pytest.mark.parametrize(("system", "duration"), [(anharmonic(), 0.2), (systems.elastic_pendulum(), 0.5)])
def test_equations_of_chorin(system, duration, constants):
    """The scheme as it is printed, written out."""
    h = 0.1
    run = mbvi.simulate(system, chorin(**constants), step=h, duration=duration)
    alpha, beta, gamma, delta = (constants.get(name, 0.5) for name in ("alpha", "beta", "gamma", "delta"))

    def hamiltonian(q, p):
        return p @ np.linalg.solve(system.mass_matrix(q), p) / 2 + system.potential(q)

    for q, p, Q, P in zip(run.q, run.p, run.q[1:], run.p[1:], strict=False):
        of_p = np.linalg.solve(system.mass_matrix(q + alpha * (Q - q)), p + beta * (P - p))
        there = q + gamma * (Q - q)
        of_q = -system.gradient(there, np.linalg.solve(system.mass_matrix(there), p + delta * (P - p)))[1]
        first = (hamiltonian(Q, P) - hamiltonian(Q, p)) / (of_p @ (P - p))
        second = (hamiltonian(Q, p) - hamiltonian(q, p)) / (of_q @ (Q - q))
        np.testing.assert_allclose(Q, q + h * first * of_p, rtol=0, atol=1e-12)
        np.testing.assert_allclose(P, p - h * second * of_q, rtol=0, atol=1e-12)


def test_gravity_and_lengths_alone_give_gonzalez_equations():
    """M (q' − q)/h = p̄ + Ḡᵀμ, p' − p = −h ∇V − ḠᵀΛ − …: across Ḡ, the two equations without multipliers."""
    system, h = systems.spherical_pendulum(), 0.1
    run = mbvi.simulate(system, "energy_momentum", step=h, duration=1.0)
    for q, p, Q, P in zip(run.q, run.p, run.q[1:], run.p[1:], strict=False):
        normal = (q + Q) / 2
        assert np.abs(np.cross(normal, (Q - q) / h - (p + P) / 2)).max() < 1e-13
        mu = normal @ ((Q - q) / h - (p + P) / 2) / (normal @ normal)
        rest = P - p + h * np.array([0, 0, 5.0]) + h * mu * (p + P) / 2  # C(μ) p̄ = μ p̄
        assert np.abs(np.cross(normal, rest)).max() < 1e-13


def test_constraints_and_the_hidden_ones():
    run = mbvi.simulate(spherical(), "energy_momentum", step=0.1, duration=50)
    assert run.constraint_residual().max() < 1e-13
    for q, p in zip(run.q, run.p, strict=True):
        rate = spherical().constraint_jacobian(q) @ np.linalg.solve(spherical().mass_matrix(q), p)
        assert np.abs(rate).max() < 1e-12


def test_a_step_back_undoes_a_step():
    system = three_masses()
    there = mbvi.simulate(system, "energy_momentum", step=0.05, duration=2)
    back = mbvi.simulate(
        system, "energy_momentum", step=0.05, duration=2, initial_q=there.q[-1], initial_v=-there.v[-1]
    )
    np.testing.assert_allclose(back.q[-1], system.initial_q, rtol=0, atol=1e-11)


@pytest.mark.parametrize("scheme", ["midpoint", *METHODS])
def test_area_is_conserved_by_the_midpoint_rule_alone(scheme):
    """The determinant of a step (q, p) → (q', p') of the pendulum: energy and the symplectic form are not kept both."""

    def step(x, h=1.0):
        run = mbvi.simulate(pendulum(), scheme, step=h, duration=h, initial_q=x[:1], initial_v=x[1:] / 2)
        return np.array([run.q[-1, 0], run.p[-1, 0]])

    x, size = np.array([1.0, 0.6]), 1e-4
    J = np.column_stack([(step(x + size * e) - step(x - size * e)) / (2 * size) for e in np.eye(2)])
    defect = abs(np.linalg.det(J) - 1)
    assert defect < 1e-7 if scheme == "midpoint" else defect > 1e-3


@pytest.mark.parametrize("scheme", METHODS)
def test_at_rest_nothing_moves(scheme):
    x = sympy.Symbol("x")
    run = mbvi.simulate(mbvi.from_sympy([x], [[1]], x**4), scheme, step=0.1, duration=1)
    assert not run.q.any() and not run.p.any()


def rack():
    """A pinion that drives a rack without mass."""
    wheel = mbvi.Body(mass=2, inertia=(0.04, 0.04, 0.04))
    axle = mbvi.Revolute(parent="world", child="pinion", axis=(0, 0, 1))
    rail = mbvi.Prismatic(parent="world", child="rack", axis=(1, 0, 0))
    teeth = mbvi.Coupling(joint_a="axle", joint_b="rail", ratio=-0.2)
    bodies, joints = {"pinion": wheel, "rack": mbvi.Body()}, {"axle": axle, "rail": rail}
    return mbvi.assemble(mbvi.Model(name="rack", bodies=bodies, joints=joints, constraints={"teeth": teeth}))


REFUSED = {
    "M(q)": ("energy_momentum", systems.elastic_pendulum, "expected a constant mass matrix, found the inertia of a, which"),
    "forces": ("chorin", lambda: systems.elastic_pendulum(True), "expected an energy that the motion conserves, found dampers"),
    "constraints": ("chorin", systems.spherical_pendulum, "expected no constraints, found constraints, as g0; take midpoint"),
    "driven": ("energy_momentum", lambda: systems.driven_slider("embedding"), "energy that the motion conserves, found"),
    "massless": ("energy_momentum", rack, "a regular mass matrix, found no inertia of rail.displacement; give the body some"),
}  # fmt: skip


def double_pendulum(center, formulation, **points):
    joint = {"axis": (0, 1, 0), **points}
    joints = {
        "p": mbvi.Revolute(parent="world", child="a", **joint),
        "q": mbvi.Revolute(parent="a", child="b", **joint | ({} if points else {"position": (0, 0, -1)})),
    }
    bodies = {name: mbvi.Body(mass=1, center_of_mass=center) for name in "ab"}
    return mbvi.Model(name="points", bodies=bodies, joints=joints, formulation=formulation)


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize("model", [((0, 0, -1), {}), ((0, 0, 0), {"offset": (0, 0, 1)})])
def test_no_formulation_is_proposed_that_would_propose_the_other(model, formulation):
    """Of point masses on revolute joints, which have orientations, neither formulation has a constant, regular mass matrix."""
    center, points = model
    with pytest.raises(mbvi.ModelError) as error:
        mbvi.simulate(double_pendulum(center, formulation, **points), "energy_momentum", step=0.01, duration=0.1)
    assert str(error.value).endswith("; take midpoint or simpson, which run any system")
    assert "formulation" not in str(error.value) and "give the body some" not in str(error.value)


def test_the_formulation_that_is_proposed_runs():
    """Point masses on universal joints are points at distances in the embedding."""
    model = systems.model("double_spherical_pendulum")
    remedy = r"; take formulation: embedding, or take midpoint or simpson, which run any system$"
    with pytest.raises(mbvi.ModelError, match=remedy):
        mbvi.simulate(model, "energy_momentum", step=0.01, duration=0.1, formulation="tree")
    run = mbvi.simulate(model, "energy_momentum", step=0.01, duration=0.05, formulation="embedding")
    assert np.abs(run.energy() - run.energy()[0]).max() < 1e-12 * np.abs(run.energy()[0])


@pytest.mark.parametrize("scheme", ["energy_momentum", "splitting", "newmark"])
def test_a_force_that_does_work_is_named(scheme):
    rail = mbvi.Prismatic(parent="world", child="cart", axis=(1, 0, 0))
    forces = {"motor": mbvi.JointForce(joint="rail", value=5)}
    model = mbvi.Model(name="cart", bodies={"cart": mbvi.Body(mass=1)}, joints={"rail": rail}, forces=forces)
    with pytest.raises(mbvi.ModelError, match="found the joint_force 'motor', which does work; take midpoint"):
        mbvi.simulate(model, scheme, step=0.01, duration=0.1)


@pytest.mark.parametrize("case", REFUSED)
def test_what_they_do_not_apply_to(case):
    scheme, system, message = REFUSED[case]
    with pytest.raises(mbvi.ModelError, match=message):
        mbvi.simulate(system(), scheme, step=0.01, duration=0.1)


def test_an_inertia_that_changes_beside_a_large_one():
    x, y = sympy.symbols("x y")
    system = mbvi.from_sympy([x, y], sympy.diag(1e10, 2 + sympy.cos(y)), y**2, initial_v=[0, 1])
    with pytest.raises(mbvi.ModelError, match="found the inertia of y, which depends on the position"):
        mbvi.simulate(system, "energy_momentum", step=0.01, duration=0.1)


@pytest.mark.parametrize("offset", [1e-17, 1e-15, 1e-13])
def test_symmetric_but_for_rounding(offset):
    """A rotor whose centre of mass is off its axis by rounding: nothing across the symmetries is left of an increment."""
    model = mbvi.Model(
        name="rotor",
        bodies={"rotor": mbvi.Body(mass=1, center_of_mass=(offset, 0, 0), inertia=(1, 1, 1))},
        joints={"axle": mbvi.Revolute(parent="world", child="rotor", axis=(0, 1, 0))},
        initial={"axle": mbvi.Initial(velocity=1)},
    )
    run = mbvi.simulate(model, "energy_momentum", step=0.01, duration=1)
    np.testing.assert_allclose(run.q[:, 0], run.t, rtol=0, atol=1e-14 + 10 * offset)


def test_constraints_that_are_not_quadratic():
    x, y = sympy.symbols("x y")
    system = mbvi.from_sympy([x, y], sympy.eye(2), y, constraints=[x**4 + y**2 - 1], initial_q=[0, -1])
    with pytest.raises(
        mbvi.ModelError, match="constraints at most quadratic in the coordinates, found g0; take midpoint"
    ):
        mbvi.simulate(system, "energy_momentum", step=0.01, duration=0.1)


def test_where_the_scheme_of_chorin_has_no_solution():
    """Where the force is across the motion, μ·Δq = 0, and the potential changes nevertheless, in third order."""
    remedy = r"may have no solution, however small: take energy_momentum, midpoint or simpson\."
    with pytest.raises(mbvi.StepError, match=rf"Newton's iteration did not converge\. .* {remedy}$") as error:
        mbvi.simulate(anharmonic(), "chorin", step=0.1, duration=50)
    middle = error.value.trajectory.q[-1]
    force, velocity = anharmonic().gradient(middle, 0 * middle)[1], error.value.trajectory.v[-1]
    assert abs(force @ velocity) < 0.3 * np.linalg.norm(force) * np.linalg.norm(velocity)
    mbvi.simulate(anharmonic(), "energy_momentum", step=0.1, duration=50)


def test_what_is_taken_instead_of_chorin_if_the_mass_matrix_depends_on_the_position():
    """A smaller step fails as well, so that none is proposed."""
    system = mbvi.assemble(systems.model("double_pendulum"))
    for step in (0.1, 0.02):
        with pytest.raises(mbvi.StepError, match=r"however small: take midpoint or simpson\.$"):
            mbvi.simulate(system, "chorin", step=step, duration=20)
