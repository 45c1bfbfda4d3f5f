"""Linear equations at an equilibrium, against closed forms, difference quotients and the motion itself."""

import itertools

import numpy as np
import pytest
import sympy

import mbvi
from mbvi.exact import LinearDoublePendulum
from mbvi.system.initial import find_start
from tests.steppers.test_ropes import tackle

G = 9.81
POINTS = {"gravity": (0, 0, -G)}


def rod_pendulum(formulation="tree", **extra):
    """Two bobs on massless rods of different lengths, in relative angles about the y axis."""
    upper, lower = (mbvi.Body(mass=m, center_of_mass=(0, 0, -l)) for m, l in ((2.0, 0.7), (0.5, 0.4)))
    return mbvi.Model(
        name="double pendulum",
        bodies={"upper": upper, "lower": lower},
        joints={
            "first": mbvi.Revolute(parent="world", child="upper", axis=(0, -1, 0)),
            "second": mbvi.Revolute(parent="upper", child="lower", axis=(0, -1, 0), position=(0, 0, -0.7)),
        },
        formulation=formulation,
        **POINTS,
        **extra,
    )


def test_double_pendulum():
    exact = LinearDoublePendulum(masses=(2.0, 0.5), lengths=(0.7, 0.4), gravity=G, angles=(0, 0))
    found = mbvi.linearize(rod_pendulum())
    absolute = np.array([[1.0, 0.0], [-1.0, 1.0]])  # relative angles from those of the paper
    np.testing.assert_allclose(absolute.T @ found.mass_matrix @ absolute, exact.mass_matrix, rtol=1e-14)
    np.testing.assert_allclose(
        absolute.T @ found.stiffness_matrix @ absolute, exact.stiffness_matrix, rtol=1e-14, atol=1e-14
    )
    np.testing.assert_allclose(found.frequencies, exact.frequencies, rtol=1e-14)
    assert found.is_stable
    assert not found.damping_matrix.any()


def test_modes_are_orthogonal_and_solve_the_equations():
    found = mbvi.linearize(rod_pendulum())
    M, K, modes = found.mass_matrix, found.stiffness_matrix, found.modes
    np.testing.assert_allclose(modes @ M @ modes.T, np.eye(2), rtol=0, atol=1e-14)
    np.testing.assert_allclose(K @ modes.T, M @ modes.T * found.squares, rtol=0, atol=1e-13)
    assert np.all(modes[np.arange(2), np.abs(modes).argmax(axis=1)] > 0)


def test_all_equilibria_of_a_double_pendulum():
    """Each pendulum hangs or stands: as many modes grow as stand."""
    for first, second in ((0, 0), (0, np.pi), (np.pi, np.pi), (np.pi, 0)):
        found = mbvi.linearize(rod_pendulum(), at=[first, second])
        stands = int(np.isclose(first, np.pi)) + int(np.isclose((first + second) % (2 * np.pi), np.pi))
        assert np.sum(found.growth_rates > 0) == stands
        assert np.all((found.frequencies > 0) ^ (found.growth_rates > 0))
        assert found.is_stable == (stands == 0)
        assert ("unstable, growing at" in repr(found)) == (stands > 0)


def chain(count, mass=0.3, stiffness=40.0, formulation="tree"):
    """Masses on a line, each tied to the next by a spring, and both ends to walls; each slides on a rail in the world."""
    names = [f"m{i}" for i in range(count)]
    rails = {
        f"r{i}": mbvi.Prismatic(parent="world", child=name, axis=(1, 0, 0), position=(i + 1, 0, 0))
        for i, name in enumerate(names)
    }
    points = ["world", *names, "world"]
    springs = {
        f"s{i}": mbvi.Spring(
            body_a=a,
            body_b=b,
            point_a=(0, 0, 0),
            point_b=(count + 1, 0, 0) if i == count else (0, 0, 0),
            stiffness=stiffness,
            rest_length=1,
        )
        for i, (a, b) in enumerate(itertools.pairwise(points))
    }
    return mbvi.Model(
        name="chain",
        gravity=(0, 0, 0),
        bodies={name: mbvi.Body(mass=mass, inertia=(1, 1, 1)) for name in names},
        joints=rails,
        forces=springs,
        formulation=formulation,
    )


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_chain_of_springs(formulation):
    """ω_j = 2 √(k/m) sin(π j/(2 (n + 1))), shapes sin(π i j/(n + 1))."""
    n = 5
    found = mbvi.linearize(chain(n, formulation=formulation))
    j = np.arange(1, n + 1)
    np.testing.assert_allclose(found.frequencies, 2 * np.sqrt(40 / 0.3) * np.sin(np.pi * j / (2 * (n + 1))), rtol=1e-12)
    columns = [
        i for i, name in enumerate(found.coordinate_names) if name in {f"r{k}" for k in range(n)} or name.endswith(".x")
    ]
    columns = columns if formulation == "embedding" else list(range(n))
    for mode, wave in zip(found.modes[:, columns], np.sin(np.pi * np.outer(j, j) / (n + 1)), strict=True):
        assert abs(abs(mode @ wave) / np.linalg.norm(mode) / np.linalg.norm(wave) - 1) < 1e-12


def test_pendulum_in_cartesian_coordinates():
    """All of its stiffness comes from the multiplier, λ/ℓ = m g/ℓ, and the curvature of the constraint."""
    found = mbvi.linearize(cartesian(0.8))
    np.testing.assert_allclose(found.frequencies, [np.sqrt(G / 0.8)] * 2, rtol=1e-14)
    np.testing.assert_allclose(found.modes[:, 2], 0, rtol=0, atol=1e-15)


def cartesian(length):
    x, y, z = sympy.symbols("x y z")
    return mbvi.from_sympy(
        [x, y, z],
        2 * sympy.eye(3),
        2 * G * z,
        constraints=[x**2 + y**2 + z**2 - length**2],
        initial_q=[0, 0, -length],
    )


def test_pendulum_in_cartesian_coordinates_stands():
    found = mbvi.linearize(cartesian(0.8), at=[0, 0, 0.8])
    np.testing.assert_allclose(found.growth_rates, [np.sqrt(G / 0.8)] * 2, rtol=1e-14)
    assert not found.frequencies.any()


@pytest.mark.parametrize("at", [None, (np.pi, 0)])
def test_formulations_agree(at):
    """In the embedding, with quaternions and reactions, the modes are those of the joint angles."""
    initial = {} if at is None else {"initial": {"first": mbvi.Initial(position=np.pi)}}
    tree, embedding = (mbvi.linearize(rod_pendulum(each, **initial)) for each in ("tree", "embedding"))
    assert embedding.modes.shape[1] > tree.modes.shape[1] == 2
    np.testing.assert_allclose(embedding.squares, tree.squares, rtol=1e-11)
    np.testing.assert_allclose(embedding.constraint_jacobian @ embedding.modes.T, 0, rtol=0, atol=1e-12)
    assert np.abs(embedding.multipliers).max() > 1


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_hanging_loop_with_redundant_constraints(formulation):
    """A parallelogram of rods on two pivots: a point-like platform swings as a pendulum, in space with redundant equations."""
    length, mass = 0.6, 1.5
    rod = mbvi.Body(mass=1e-9, center_of_mass=(0, 0, -0.3), inertia=(1e-12, 1e-12, 1e-12))
    platform = mbvi.Body(mass=mass, center_of_mass=(0.5, 0, 0), inertia=(1, 1, 1))
    axis = {"axis": (0, 1, 0)}
    model = mbvi.Model(
        name="swing",
        bodies={"left": rod, "right": rod, "platform": platform},
        joints={
            "a": mbvi.Revolute(parent="world", child="left", **axis),
            "b": mbvi.Revolute(parent="world", child="right", position=(1, 0, 0), **axis),
            "c": mbvi.Revolute(parent="left", child="platform", position=(0, 0, -length), **axis),
            "d": mbvi.Revolute(parent="right", child="platform", position=(0, 0, -length), offset=(1, 0, 0), **axis),
        },
        formulation=formulation,
        **POINTS,
    )
    found = mbvi.linearize(model)
    np.testing.assert_allclose(found.frequencies, [np.sqrt(G / length)], rtol=1e-8)


def test_against_difference_quotients(models):
    """M, C and K of what a model with springs, dampers and couplings has, from its momentum and force."""
    x, y, u, v = sympy.symbols("x y u v")
    potential = (x - y) ** 2 + sympy.cosh(x) + y**2 * (1 + x)
    mass = [[2 + sympy.cos(y), sympy.sin(x)], [sympy.sin(x), 3]]
    system = mbvi.from_sympy([x, y], mass, potential, velocities=[u, v], forces=[-0.5 * u + 0.1 * v, -0.2 * v])
    found = mbvi.linearize(system)
    h = 1e-5
    K = np.array([system.gradient(-h * e, [0, 0])[1] - system.gradient(h * e, [0, 0])[1] for e in np.eye(2)]).T / (
        2 * h
    )
    np.testing.assert_allclose(found.stiffness_matrix, K, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.damping_matrix, [[0.5, -0.1], [0.0, 0.2]], rtol=0, atol=1e-14)
    np.testing.assert_allclose(found.mass_matrix, [[3, 0], [0, 3]], rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", ["four_bar", "bricard", "slider_crank"])
@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_constraint_curvature(name, formulation, models):
    """∂(Gᵀλ)/∂q by differences, in all directions."""
    check_curvature(mbvi.assemble(mbvi.load(models / f"{name}.yaml"), formulation))


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_curvature_of_a_rope(formulation):
    check_curvature(mbvi.assemble(tackle(), formulation))


def check_curvature(system):
    random = np.random.default_rng(2)
    q = find_start(system).q
    lam = random.standard_normal(system.constraint_count)
    h = 1e-5
    jacobian = system.constraint_jacobian
    quotients = [(jacobian(q + h * e).T @ lam - jacobian(q - h * e).T @ lam) / (2 * h) for e in np.eye(len(q))]
    np.testing.assert_allclose(system.constraint_curvature(q, lam), quotients, rtol=0, atol=1e-8)


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_a_bead_on_a_rope_swings(formulation):
    """As a pendulum of the rope's length in both directions; hung on two points, along an ellipse and across it."""
    free = mbvi.Free(parent="world", child="bead", position=(0, 0, -2))
    ends = {"one": [(0, 0, 0)], "two": [(-1.5, 0, 0), (1.5, 0, 0)]}
    along = G * 2 / 2.5**2  # the bead is on an ellipse with the half axes a = 2.5 and b = 2, at its bottom: ω² = g b/a²
    for points, length, squares in (
        (ends["one"], 2, [G / 2, G / 2]),
        (ends["two"], 5, [along, G / 2]),
    ):
        places = [mbvi.model.RopePoint(body="world", point=point) for point in points]
        places.insert(1, mbvi.model.RopePoint(body="bead"))
        model = mbvi.Model(
            name="bead",
            bodies={"bead": mbvi.Body(mass=2, inertia=(0.1, 0.1, 0.1))},
            joints={"free": free},
            constraints={"rope": mbvi.Rope(points=places, length=length)},
            formulation=formulation,
            **POINTS,
        )
        found = mbvi.linearize(model)
        np.testing.assert_allclose(found.squares, [0, 0, 0, *sorted(squares)], rtol=1e-11, atol=1e-11)


def test_small_motion_is_that_of_the_modes():
    """A start along a mode swings in it, at its frequency, up to the square of its amplitude."""
    model = rod_pendulum()
    found = mbvi.linearize(model)
    for omega, mode in zip(found.frequencies, found.modes, strict=True):
        size = 1e-4 / np.abs(mode).max()
        run = mbvi.simulate(model, "gauss4", step=0.02, duration=3, initial_q=size * mode)
        wave = size * np.outer(np.cos(omega * run.t), mode)
        assert np.abs(run.q - wave).max() < 1e-7 * np.abs(wave).max()


def test_linear_scheme_runs_the_linearization():
    """M and K make a system that the linear schemes take: it swings as the model for small angles."""
    model = rod_pendulum()
    found = mbvi.linearize(model)
    q = sympy.Matrix(sympy.symbols("a b"))
    small = [1e-4, -2e-4]
    linear = mbvi.from_sympy(list(q), found.mass_matrix, (q.T * sympy.Matrix(found.stiffness_matrix) * q)[0] / 2)
    ours = mbvi.simulate(linear, "simpson_condensed", step=0.01, duration=3, initial_q=small)
    theirs = mbvi.simulate(model, "simpson", step=0.01, duration=3, initial_q=small)
    assert np.abs(ours.q - theirs.q).max() < 1e-6 * np.abs(theirs.q).max()


def test_free_coordinates_drift():
    """Two masses and a spring: one mode drifts, one swings with the reduced mass."""
    x, y = sympy.symbols("x y")
    found = mbvi.linearize(mbvi.from_sympy([x, y], [[1, 0], [0, 3]], 2 * (x - y) ** 2))
    np.testing.assert_allclose(found.frequencies, [0, np.sqrt(4 / 0.75)], rtol=1e-14)
    assert found.squares[0] == 0.0
    assert found.is_stable


# -------------------------------------------------------------------------------------------------- errors


def test_no_equilibrium():
    with pytest.raises(mbvi.ModelError) as error:
        mbvi.linearize(rod_pendulum(), at=[np.pi / 2, 0])
    torque = -G * (2.5 * 0.7 + 0.5 * 0.4)
    expected = (
        f"double pendulum: expected an equilibrium, found a force of {torque:.6g} left on first.angle; give the coordinates of "
        "one: at=[…]"
    )
    assert str(error.value) == expected


def test_no_equilibrium_of_a_free_body():
    stone, free = mbvi.Body(mass=1, inertia=(1, 1, 1)), mbvi.Free(parent="world", child="stone")
    model = mbvi.Model(name="stone", bodies={"stone": stone}, joints={"free": free})
    with pytest.raises(mbvi.ModelError, match=r"stone: expected an equilibrium, found a force of -9\.8.* left on"):
        mbvi.linearize(model)


def test_wrong_number_of_coordinates():
    with pytest.raises(mbvi.ModelError, match="at: expected 2 numbers, found an array of shape"):
        mbvi.linearize(rod_pendulum(), at=[0.0])


X, Y, TIME = sympy.symbols("x y t")


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        ({"forces": [sympy.sin(TIME), 0]}, "x"),
        ({"mass_matrix": [[1, 0], [0, 1 + TIME**2]]}, "y"),
        ({"constraints": [Y - X * TIME]}, "g0"),
    ],
)
def test_functions_of_time(arguments, where):
    plain = {"mass_matrix": sympy.eye(2), "potential": X**2 + Y**2}
    with pytest.raises(
        mbvi.ModelError, match=f"expected forces and constraints that do not depend on time, found a change at {where};"
    ):
        mbvi.linearize(mbvi.from_sympy([X, Y], **(plain | arguments), time=TIME))


def test_functions_of_time_that_begin_late():
    late = mbvi.model.JointForce(joint="first", value="max(t - 20, 0)")
    with pytest.raises(mbvi.ModelError, match=r"that do not depend on time, found functions of time; replace"):
        mbvi.linearize(rod_pendulum(forces={"late": late}))


def test_laws_of_rates_are_no_functions_of_time():
    """A drag with the square of the rate does nothing to small motions."""
    drag = mbvi.JointDrag(joint="first", coefficient=0.3)
    found, expected = (mbvi.linearize(rod_pendulum(forces=forces)) for forces in ({"air": drag}, {}))
    assert not found.damping_matrix.any()
    np.testing.assert_allclose(found.frequencies, expected.frequencies, rtol=1e-14)


def test_follower_forces():
    x, y = sympy.symbols("x y")
    system = mbvi.from_sympy([x, y], [[1, 0], [0, 1]], x**2 + y**2, forces=[y, 0])
    with pytest.raises(
        mbvi.ModelError, match="expected forces that derive from a potential, found that of x on y other than"
    ):
        mbvi.linearize(system)
