"""Rolling and edges: against closed forms and an independent integration, orders, both formulations, reactions, refusals."""

import numpy as np
import pytest
import sympy

import mbvi
from mbvi.kernels import layout
from mbvi.model.rotations import rotation_matrix
from mbvi.system.initial import find_start
from tests.folders import load
from tests.marks import pairs
from tests.system.mechanisms import random_state
from tests.system.test_closed_loops import independent

GRAVITY = 9.81
COMPOSITIONS = {
    "midpoint": (2, (0.02, 0.01, 0.005)),
    "suzuki4": (4, (0.08, 0.04, 0.02)),
    "kahan_li6": (6, (0.08, 0.04, 0.02)),
}


def disc(position=(0, 0, 0.7, 1, 0, 0, 0), velocity=(2.1, 0, 0, 0.3, 3, 0.5), formulation="tree", **more):
    """A disc of radius 0.7 that rolls on the ground; its start is moved onto the constraints."""
    body = mbvi.Body(mass=2, inertia=(0.3, 0.5, 0.3))
    coordinates = "quaternion" if len(position) == 7 else "zxy"
    return mbvi.Model(
        name="disc",
        gravity=(0, 0, -GRAVITY),
        formulation=formulation,
        bodies={"disc": body},
        joints={"free": mbvi.Free(parent="world", child="disc", coordinates=coordinates)},
        constraints={"rolling": mbvi.RollingWheel(body_a="world", body_b="disc", radius=0.7, axis=(0, 1, 0), **more)},
        initial={"free": mbvi.Initial(position=position, velocity=velocity)},
        simulation=mbvi.Simulation(scheme="midpoint"),
    )


def two_bodies(kind, formulation="tree", **fields):
    """Two free bodies, of which one rolls on the other."""
    bodies = {
        "a": mbvi.Body(mass=2, inertia=(0.3, 0.5, 0.4)),
        "b": mbvi.Body(mass=1, center_of_mass=(0.1, 0, 0), inertia=(1, 1, 1)),
    }
    joints = {
        "first": mbvi.Free(parent="world", child="a", position=(0.1, 0.2, -0.3)),
        "second": mbvi.Free(parent="world", child="b", position=(0.3, 0.5, 0.7), coordinates="zxy"),
    }
    tie = kind(body_a="a", point_a=(0.1, 0.2, 0.3), body_b="b", point_b=(0.05, -0.1, 0.2), **fields)
    return mbvi.Model(name="two", bodies=bodies, joints=joints, constraints={"tie": tie}, formulation=formulation)


KINDS = {
    "ball on a plane": (mbvi.RollingBall, {"radius": 0.2, "direction": (1, 2, 3)}),
    "ball on a cylinder": (
        mbvi.RollingBall,
        {"radius": 0.2, "direction": (1, 2, 3), "surface": "cylinder", "surface_radius": 0.7},
    ),
    "ball in a sphere": (
        mbvi.RollingBall,
        {"radius": 0.2, "surface": "sphere", "surface_radius": 0.7, "inside": True},
    ),
    "tyre": (mbvi.RollingWheel, {"radius": 0.3, "tyre": 0.1, "axis": (1, 2, 3), "normal": (3, 2, 1)}),
    "ellipsoid": (
        mbvi.RollingEllipsoid,
        {"semi_axes": (0.2, 0.3, 0.4), "orientation": (0.1, 0.2, 0.3), "normal": (3, 2, 1)},
    ),
    "edge": (mbvi.KnifeEdge, {"across": (1, 2, 3)}),
}


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_are_those_of_differences(kind, formulation):
    element, fields = KINDS[kind]
    system = mbvi.assemble(two_bodies(element, formulation, **fields))
    q, _ = random_state(system, 3)
    q[:3] = 0.1
    steps, h = np.eye(system.dimension), 2e-5

    def differences(function):
        parts = [
            8 * (function(q + h * e) - function(q - h * e)) - function(q + 2 * h * e) + function(q - 2 * h * e)
            for e in steps
        ]
        return np.moveaxis(np.array(parts), 0, -1) / (12 * h)

    rates, G = system.arrays.rates, system.constraint_jacobian(q)
    positions = np.delete(np.arange(system.constraint_count), rates)
    np.testing.assert_allclose(G[positions], differences(system.constraint)[positions], rtol=1e-9, atol=1e-9)
    slopes = differences(system.constraint_jacobian)
    for row in range(system.constraint_count):
        unit, rounding = np.eye(system.constraint_count)[row], 1e-9 * max(1.0, np.abs(slopes[row]).max())
        np.testing.assert_allclose(system.constraint_curvature(q, unit), slopes[row], rtol=0, atol=rounding)


@pytest.mark.parametrize(("kind", "formulation"), pairs(KINDS, ["tree", "embedding"]))
def test_derivatives_of_dynamics(kind, formulation):
    """Against differences of order four between states that are moved onto the constraints, with forces of drives."""
    element, fields = KINDS[kind]
    system = mbvi.assemble(two_bodies(element, formulation, **fields))
    random, h = np.random.default_rng(1), 1e-4
    start, dv, da, dq, torques = random.normal(size=(5, system.nv))
    q, v, a = system.project_state(system.integrate(system.given_q, 0.3 * start), dv, da)

    def state(step):
        return system.project_state(system.integrate(q, step * dq), v + step * dv, a + step * da)

    states = [state(step) for step in (-2 * h, -h, h, 2 * h)]

    def difference(function):
        return np.dot((1, -8, 8, -1), [function(*each) for each in states]) / (12 * h)

    along = (
        difference(lambda q_i, *_: system.difference(q, q_i)),
        *(difference(lambda *state, i=i: state[i]) for i in (1, 2)),
    )
    by_q, by_v, _ = system.forward_dynamics_derivatives(q, v, torques)
    found, expected = (
        by_q @ along[0] + by_v @ along[1],
        difference(lambda q, v, a: system.forward_dynamics(q, v, torques)),
    )
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    drives = independent(system, q, v)
    by_qva = system.inverse_dynamics_derivatives(q, v, a, actuated=drives)
    found = sum(matrix @ step for matrix, step in zip(by_qva, along, strict=True))
    expected = difference(lambda *state: system.inverse_dynamics(*state, actuated=drives))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_the_gap_is_the_least_height_of_an_ellipsoid(formulation):
    """Against points of its surface."""
    semi_axes, turn, normal = np.array([0.2, 0.3, 0.4]), (0.1, 0.2, 0.3), np.array([3, 2, 1]) / np.sqrt(14)
    system = mbvi.assemble(
        two_bodies(mbvi.RollingEllipsoid, formulation, semi_axes=semi_axes, orientation=turn, normal=normal)
    )
    q, _ = random_state(system, 5)
    u, v = np.meshgrid(np.linspace(0, np.pi, 2001), np.linspace(0, 2 * np.pi, 2001))
    surface = np.stack([np.sin(u) * np.cos(v), np.sin(u) * np.sin(v), np.cos(u)], axis=-1).reshape(-1, 3) * semi_axes
    (a, A), (b, B) = ([each[0] for each in system.poses(body, q[None])] for body in "ab")
    places = b + (np.array([0.05, -0.1, 0.2]) + surface @ rotation_matrix(turn).T) @ B.T
    heights = (places - a - A @ (0.1, 0.2, 0.3)) @ (A @ normal)
    gap = system.constraint(q)[system.constraint_names.index("tie.gap")]
    assert gap == pytest.approx(heights.min(), abs=2e-6)


# --------------------------------------------------------------------------------------------- closed forms


def test_a_disc_rolls_in_a_circle():
    """(C + m r²) ω Ω cos θ + A Ω² sin θ cos θ = m g r sin θ: the turning Ω of a disc that leans by θ and spins at ω."""
    m, r, A, C, lean, turning = 2.0, 0.7, 0.3, 0.5, 0.3, 1.7
    spin = (m * GRAVITY * r * np.tan(lean) / turning - A * turning * np.sin(lean)) / (C + m * r**2)
    rate = spin + turning * np.sin(lean)  # of the angle about the axis, besides what turning adds
    run = mbvi.simulate(
        disc((0, 0, r * np.cos(lean), 0, lean, 0), (r * spin, 0, 0, -turning, 0, rate)),
        "kahan_li6",
        step=0.05,
        duration=4,
    )
    assert run.findings == ()
    np.testing.assert_allclose(run.q[:, 4], lean, rtol=0, atol=1e-7)
    centre = np.array([0.0, -r * spin / turning])
    distances = np.linalg.norm(run.q[:, :2] - centre, axis=1)
    np.testing.assert_allclose(distances, r * spin / turning, rtol=0, atol=1e-7)
    np.testing.assert_allclose(run.q[:, 3], -turning * run.t, rtol=0, atol=1e-7)


def test_chaplygins_sleigh():
    """ω = Ω sech(k t), v = b Ω tanh(k t), b² = (I + m a²)/m, k = a Ω/b; heading (2 Ω/k) atan(tanh(k t/2))."""
    m, inertia, a, omega = 1.3, 0.4, 0.5, 1.5
    body = mbvi.Body(mass=m, center_of_mass=(a, 0, 0), inertia=(1, 1, inertia))
    model = mbvi.Model(
        name="sleigh",
        bodies={"sleigh": body},
        joints={"ice": mbvi.Planar(parent="world", child="sleigh", normal=(0, 0, 1))},
        constraints={"blade": mbvi.KnifeEdge(body_a="world", body_b="sleigh", across=(0, 1, 0))},
        initial={"ice": mbvi.Initial(velocity=(0, 0, omega))},
    )
    run = mbvi.simulate(model, "kahan_li6", step=0.1, duration=6)
    b = np.sqrt((inertia + m * a**2) / m)
    k = a * omega / b
    np.testing.assert_allclose(run.v[:, 2], omega / np.cosh(k * run.t), rtol=0, atol=1e-7)
    speed = run.v[:, 0] * np.cos(run.q[:, 2]) + run.v[:, 1] * np.sin(run.q[:, 2])
    np.testing.assert_allclose(speed, b * omega * np.tanh(k * run.t), rtol=0, atol=1e-7)
    heading = 2 * omega / k * np.arctan(np.tanh(k * run.t / 2))
    np.testing.assert_allclose(run.q[:, 2], heading, rtol=0, atol=1e-7)


def ball(**fields):
    """A solid ball, without gravity along its table."""
    return mbvi.Body(shapes=[mbvi.Sphere(radius=0.1, mass=0.5)]), mbvi.RollingBall(body_b="ball", radius=0.1, **fields)


def test_a_ball_on_a_turntable_moves_in_circles():
    """Its centre turns at 2/7 of the table's rate, wherever it is."""
    body, rolling = ball(body_a="table")
    model = mbvi.Model(
        name="turntable",
        gravity=(0, 0, -GRAVITY),
        bodies={"ball": body, "table": mbvi.Body(mass=1, inertia=(1, 1, 1))},
        joints={
            "axle": mbvi.Revolute(parent="world", child="table", axis=(0, 0, 1)),
            "free": mbvi.Free(parent="world", child="ball"),
        },
        constraints={"rolling": rolling, "motor": mbvi.PrescribedCoordinate(joint="axle", value="3*t")},
        initial={"free": mbvi.Initial(position=(0.5, 0, 0.1, 1, 0, 0, 0), velocity=(0.2, 0.1, 0, 0, 0, 0))},
    )
    run = mbvi.simulate(model, "kahan_li6", step=0.02, duration=4)
    place, velocity = run.pose("ball")[0][:, :2], run.v[:, 1:3]
    rate = 3 * 2 / 7
    centre = place[0] + np.array([-velocity[0, 1], velocity[0, 0]]) / rate
    angle = rate * run.t
    turned = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    expected = centre + np.einsum("ijt,j->ti", turned, place[0] - centre)
    np.testing.assert_allclose(place, expected, rtol=0, atol=1e-7)
    assert run.findings == ()  # the motor's power is known


def test_a_ball_in_a_cylinder_does_not_fall_out():
    """Upright: its height swings at √(2/7) times its angular rate about the axis."""
    rate, radius, size = 6.0, 0.5, 0.3
    rolling = mbvi.RollingBall(
        body_a="world", body_b="ball", radius=size, surface="cylinder", surface_radius=radius + size, inside=True
    )
    start = {"position": (radius, 0, 0, 1, 0, 0, 0), "velocity": (0, radius * rate, 0, 0, 0, -radius * rate / size)}
    model = mbvi.Model(
        name="ball in a cylinder",
        gravity=(0, 0, -GRAVITY),
        bodies={"ball": mbvi.Body(shapes=[mbvi.Sphere(radius=size, mass=0.5)])},
        joints={"free": mbvi.Free(parent="world", child="ball")},
        constraints={"rolling": rolling},
        initial={"free": mbvi.Initial(**start, hold=True)},
    )
    run = mbvi.simulate(model, "kahan_li6", step=0.005, duration=2)
    swing = np.sqrt(2 / 7) * rate
    middle = -5 / 7 * GRAVITY / swing**2
    np.testing.assert_allclose(run.q[:, 2], middle * (1 - np.cos(swing * run.t)), rtol=0, atol=1e-7)
    np.testing.assert_allclose(np.hypot(run.q[:, 0], run.q[:, 1]), radius, rtol=0, atol=1e-13)


def test_the_rattleback_turns_back():
    run = mbvi.simulate(load("rattleback"))
    a, rate = run.q[:, 3:7], run.v[:, 3:7]
    spin = 2 * (a[:, 0] * rate[:, 3] - a[:, 3] * rate[:, 0] - a[:, 1] * rate[:, 2] + a[:, 2] * rate[:, 1])
    assert spin[0] < -4.9 and spin.max() > 1.0
    energy, scale = run.energy(), run.kinetic_energy()[0]
    assert np.ptp(energy) < 0.05 * scale and abs(energy[-1] - energy[0]) < 2e-3 * scale


# ------------------------------------------------------------------------------------- orders, formulations


@pytest.fixture(scope="module")
def ends():
    """Places of the disc after 1.6 s by compositions of midpoint in both formulations, by step."""

    def end(formulation, scheme, h):
        run = mbvi.simulate(disc(formulation=formulation), scheme, step=h, duration=1.6)
        return np.append(run.pose("disc")[0][-1], run.energy()[-1] - run.energy()[0])

    return {
        (formulation, scheme): [end(formulation, scheme, h) for h in (*steps, 0.01)[: 3 + (scheme == "kahan_li6")]]
        for formulation in ("tree", "embedding")
        for scheme, (_, steps) in COMPOSITIONS.items()
    }


@pytest.mark.parametrize("scheme", COMPOSITIONS)
@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_orders_of_compositions(ends, formulation, scheme):
    order, steps = COMPOSITIONS[scheme]
    exact = ends["tree", "kahan_li6"][-1]
    errors = [np.abs(end - exact).max() for end in ends[formulation, scheme][:3]]
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert slope == pytest.approx(order, abs=0.15)


def test_a_bicycle_moves_alike_in_both_formulations():
    """It has contacts, velocities that are held and, in the embedding, joints as constraints."""
    places = []
    for formulation in ("tree", "embedding"):
        run = mbvi.simulate(load("bicycle"), "kahan_li6", formulation=formulation, step=0.02, duration=1)
        assert run.constraint_residual().max() < 1e-13
        places.append(run.pose("handlebar")[0])
    np.testing.assert_allclose(*places, rtol=0, atol=1e-7)


def test_a_step_back_undoes_a_step():
    system = mbvi.assemble(disc())
    there = mbvi.simulate(system, "suzuki4", step=0.05, duration=1)
    back = mbvi.simulate(system, "suzuki4", step=0.05, duration=1, initial_q=there.q[-1], initial_v=-there.v[-1])
    np.testing.assert_allclose(back.q[-1], there.q[0], rtol=0, atol=1e-12)


# -------------------------------------------------------------------------------------- starts and reactions


def test_reactions_of_a_disc_that_leans():
    """They are what its centre's acceleration leaves of its weight, and have no moment about the contact."""
    system = mbvi.assemble(disc())
    run = mbvi.simulate(system, "kahan_li6", step=0.02, duration=1)
    force, torque = run.reaction("rolling")
    a = system.accelerations_and_multipliers(run.t, run.q, run.v)[0]
    np.testing.assert_allclose(force, 2 * (a[:, :3] + [0, 0, GRAVITY]), rtol=0, atol=1e-9)
    axis = run.pose("disc")[1][:, :, 1]
    up = np.array([0, 0, 1]) - axis[:, 2:] * axis
    arm = -0.7 * up / np.linalg.norm(up, axis=1)[:, None]
    np.testing.assert_allclose(torque, np.cross(arm, force), rtol=0, atol=1e-9)


def test_a_start_is_moved_onto_the_constraints_or_refused():
    start = find_start(mbvi.assemble(disc((0, 0, 0.75, 1, 0, 0, 0))))
    assert start.q[2] == pytest.approx(0.7, abs=1e-12)
    assert {move.name for move in start.moves} >= {"free.z"}
    model = disc(velocity=(1, 1, 0, 0, 0, 0))
    system = mbvi.assemble(model)
    assert np.abs(system.constraint_jacobian(system.initial_q) @ system.initial_v).max() < 1e-12
    with pytest.raises(
        mbvi.ModelError, match=r"initial_v: expected a velocity along the constraints.*largest of rolling"
    ):
        mbvi.simulate(model, step=0.01, duration=0.1, project=False)


@pytest.mark.parametrize(
    "scheme", ["simpson", "gauss2", "rattle", "independent4", "energy_momentum", "symplectic_euler"]
)
def test_other_schemes_are_refused(scheme):
    found = "rolling.roll_u, which holds a velocity"
    expected = f"disc: scheme {scheme}: expected constraints on positions, found {found}; take midpoint"
    with pytest.raises(mbvi.ModelError, match=expected):
        mbvi.simulate(disc(), scheme, step=0.01, duration=0.1)


@pytest.mark.parametrize(
    ("kind", "fields", "message"),
    [
        (mbvi.RollingBall, {"radius": 0.0}, "radius: expected a length greater than 0, found 0"),
        (mbvi.RollingBall, {"radius": 1, "surface": "sphere"}, "surface_radius: expected the radius of the sphere"),
        (mbvi.RollingBall, {"radius": 1, "inside": True}, "inside: expected the radius of a cylinder or a sphere"),
        (
            mbvi.RollingBall,
            {"radius": 1, "surface": "sphere", "surface_radius": 0.5, "inside": True},
            "radius: expected a ball smaller than the sphere, found 1 in one of 0.5",
        ),
        (
            mbvi.RollingWheel,
            {"radius": 1, "axis": (0, 1, 0), "tyre": 1},
            "tyre: expected the radius of a cross-section",
        ),
        (mbvi.RollingEllipsoid, {"semi_axes": (1, 0, 1)}, "semi_axes.1: expected a length greater than 0"),
        (mbvi.KnifeEdge, {"across": (0, 0, 0)}, "across: expected a non-zero 3-vector"),
    ],
)
def test_wrong_fields(kind, fields, message):
    with pytest.raises(mbvi.ModelError, match=message):
        two_bodies(kind, **fields).resolved()


def test_momenta_that_rolling_does_not_conserve_are_none():
    """A ball on the floor keeps its angular momentum about the vertical through its centre, and no momentum along the floor."""
    model = mbvi.Model(
        name="ball",
        bodies={"ball": ball(body_a="world")[0]},
        joints={"free": mbvi.Free(parent="world", child="ball", position=(0, 0, 0.1))},
        constraints={"rolling": ball(body_a="world")[1]},
    )
    names = [each.name for each in mbvi.analysis.find_invariants(mbvi.assemble(model))]
    assert not any("linear" in name for name in names)


# ------------------------------------------------------------------------------------- systems of one's own


def particle(is_driven=False):
    """The nonholonomic particle ż = y ẋ (+ cos t) in an anharmonic potential."""
    (x, y, z), (u, v, w), t = sympy.symbols("x y z"), sympy.symbols("u v w"), sympy.Symbol("t")
    V = (x**2 + y**2 + z**2) / 2 + (x**4 + z**4) / 4
    held = w - y * u - (sympy.cos(t) if is_driven else 0)
    start = {"initial_q": (1.0, 0.2, -0.3), "initial_v": (0.3, 0.5, 0.06 + is_driven)}
    return mbvi.from_sympy(
        [x, y, z], sympy.eye(3), V, velocities=[u, v, w], time=t, velocity_constraints=[held], name="particle", **start
    )


def own_mass(q, M):
    M[0, 0] = M[1, 1] = M[2, 2] = 1.0


def own_potential(q):
    x, y, z = q[0] * q[0], q[1] * q[1], q[2] * q[2]
    return (x + y + z) / 2 + (x * x + z * z) / 4


def own_rates(q, A):
    A[0, 0], A[0, 2] = -q[1], 1.0


@pytest.mark.parametrize("is_driven", [False, True])
def test_the_nonholonomic_particle_against_an_integration(is_driven):
    from scipy.integrate import solve_ivp

    def rates(t, state):
        q, v = state[:3], state[3:]
        f, row = -q - np.array([q[0] ** 3, 0, q[2] ** 3]), np.array([-q[1], 0, 1.0])
        change = v[1] * v[0] - (np.sin(t) if is_driven else 0.0)  # A a
        lam = (change - row @ f) / (row @ row)
        return np.concatenate([v, f + row * lam])

    system = particle(is_driven)
    exact = solve_ivp(
        rates, (0, 3), np.concatenate([system.given_q, system.given_v]), method="DOP853", rtol=1e-13, atol=1e-13
    )
    for scheme, (order, _) in COMPOSITIONS.items():
        steps = 3 / np.array([20, 40, 80])
        errors = [
            np.abs(mbvi.simulate(system, scheme, step=h, duration=3).q[-1] - exact.y[:3, -1]).max() for h in steps
        ]
        assert np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(order, abs=0.3)
    with pytest.raises(mbvi.ModelError, match="expected constraints on positions, found a0, which holds a velocity"):
        mbvi.simulate(system, "gauss2", step=0.1, duration=1)


def test_functions_are_as_good_as_symbols():
    system = mbvi.from_functions(
        ["x", "y", "z"],
        own_mass,
        own_potential,
        velocity_constraints=own_rates,
        velocity_constraint_count=1,
        initial_q=(1.0, 0.2, -0.3),
        initial_v=(0.3, 0.5, 0.06),
    )
    one, other = (mbvi.simulate(each, "suzuki4", step=0.05, duration=2) for each in (system, particle()))
    np.testing.assert_allclose(one.q, other.q, rtol=0, atol=1e-12)
    assert system.arrays.constraints[0, layout.CONSTRAINT_KIND] == layout.OWN_RATE
    with pytest.raises(mbvi.ModelError, match="velocity_constraint_count: expected the number of constraints"):
        mbvi.from_functions(["x", "y", "z"], own_mass, own_potential, velocity_constraints=own_rates)


def test_constraints_that_are_not_linear_in_velocities_are_refused():
    x, u = sympy.symbols("x u")
    with pytest.raises(
        mbvi.ModelError, match="velocity_constraints: expected expressions that are linear in the velocities"
    ):
        mbvi.from_sympy([x], [[1]], 0, velocities=[u], velocity_constraints=[u**2 - 1])
