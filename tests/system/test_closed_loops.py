"""Dynamics on constraints: against the equations of a four-bar in 50 digits, both formulations, runs, and forth and back."""

import numpy as np
import pytest
import sympy
from scipy.linalg import null_space, qr

import mbvi
from mbvi.kernels.mechanics.closed_loops import fill_loops
from mbvi.system.closed import loop_work
from mbvi.system.states import dynamics_work
from tests.folders import load
from tests.steppers.test_ropes import tackle

from . import mechanisms


def close(found, expected, tolerance=1e-11):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max()))


def free(model):
    """The model without what holds and drives its joints."""
    return mbvi.Model(**dict(model) | {"constraints": {}})


def state_of(system, seed=0):
    """A state on the constraints near the start, moving."""
    random = np.random.default_rng(seed)
    q = system.integrate(system.initial_q, 0.05 * random.normal(size=system.nv))
    return system.project_state(q, random.normal(size=system.nv), random.normal(size=system.nv))


@pytest.fixture(scope="module")
def four_bar():
    return mbvi.assemble(load("four_bar"))


def saddle_point_of_four_bar(q, v, torque, densities=(2700, 2700, 2700)):
    """Accelerations of its three angles in 50 digits, by M a − Gᵀλ = f and G a = −vᵀ (∂²g/∂q²) v from T, V and g as functions."""
    x, u, width = sympy.symbols("x:3"), sympy.symbols("u:3"), sympy.Rational(4, 100)
    lengths = sympy.Rational(3, 10), sympy.Rational(9, 10), sympy.Rational(7, 10)
    e = [sympy.Matrix([sympy.cos(angle), sympy.sin(angle)]) for angle in (x[0], x[0] + x[1], x[2])]
    starts = sympy.zeros(2, 1), lengths[0] * e[0], sympy.Matrix([1, 0])
    T = V = sympy.Integer(0)
    links = zip(densities, lengths, starts, e, (u[0], u[0] + u[1], u[2]), strict=True)
    for density, length, start, along, spin in links:
        m, place = density * length * width**2 / 2, start + length / 2 * along
        rate = place.jacobian(x) * sympy.Matrix(u)
        T += m * rate.dot(rate) / 2 + m * (length**2 + width**2) / 24 * spin**2
        V += m * sympy.Rational(981, 100) * place[1]
    g = starts[1] + lengths[1] * e[1] - starts[2] - lengths[2] * e[2]
    p, G = sympy.Matrix([T.diff(each) for each in u]), g.jacobian(x)
    M, speed = p.jacobian(u), sympy.Matrix(u)
    f = sympy.Matrix([(T - V).diff(each) for each in x]) - p.jacobian(x) * speed + sympy.Matrix([torque, 0, 0])
    bend = -(G * speed).jacobian(x) * speed
    matrix = sympy.Matrix(sympy.BlockMatrix([[M, G.T], [G, sympy.zeros(2, 2)]]))
    values = dict(zip((*x, *u), [sympy.Float(each, 60) for each in (*q, *v)], strict=True))
    return matrix.evalf(50, subs=values).LUsolve(f.col_join(bend).evalf(50, subs=values))[:3]


def test_four_bar_in_fifty_digits(four_bar):
    q, v, _ = state_of(four_bar)
    a = four_bar.forward_dynamics(q, v, [2.0, 0.0, 0.0])
    close(a, [float(each) for each in saddle_point_of_four_bar(q, v, 2)], 1e-12)
    close(four_bar.inverse_dynamics(q, v, a, actuated=["shaft"]), [2.0, 0.0, 0.0])


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize("massless", [("coupler",), ("crank", "coupler"), ("coupler", "rocker")])
def test_links_without_mass_move_as_the_loop_lets_them(massless, formulation):
    """In 50 digits, beside constraints that are redundant."""
    model, names = free(load("four_bar")), ("crank", "coupler", "rocker")
    bodies = {name: mbvi.Body(mass=0) if name in massless else each for name, each in model.bodies.items()}
    system = mbvi.assemble(model.replaced({"bodies": bodies}), formulation)
    q, v, _ = state_of(system)
    G, rates = system.constraint_jacobian(q), system.rates_of_velocity(q, v)
    v = system.velocity_of_rates(q, rates - np.linalg.lstsq(G, G @ rates, rcond=1e-9)[0])  # to rounding
    along = [system.frame_pose(name, q)[1][:, 0] for name in names]
    angles, rates = (
        [np.arctan2(each[2], each[0]) for each in along],
        [-system.frame_velocity(name, q, v)[4] for name in names],
    )
    parts = np.array([[angles[0], angles[1] - angles[0], angles[2]], [rates[0], rates[1] - rates[0], rates[2]]])
    densities = [0 if name in massless else 2700 for name in names]
    expected = np.array(saddle_point_of_four_bar(*parts, 0, densities), dtype=float)
    a = system.velocity_of_rates(q, system.acceleration(q, system.rates_of_velocity(q, v)))
    for own in (a, system.forward_dynamics(q, v, np.zeros(system.nv))):
        found = [-system.frame_acceleration(name, q, v, own)[4] for name in names]
        close([found[0], found[1] - found[0], found[2]], expected, 1e-12)


def independent(system, q, v):
    """Names of velocities by which the constraints leave all others determined."""
    fill_loops(loop_work(system), dynamics_work(system), system.arrays, system.work, 0.0, q, v)
    motions = null_space(loop_work(system).G, rcond=1e-9)
    return [system.velocity_names[i] for i in qr(motions.T, pivoting=True)[2][: motions.shape[1]]]


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "stewart_platform"])
def test_forces_of_drives_cause_the_motion(name, formulation):
    """Redundant loops, balls, and bodies of their own."""
    system = mbvi.assemble(free(load(name)), formulation)
    q, v, a = state_of(system)
    drives = independent(system, q, v)
    forces = system.inverse_dynamics(q, v, a, actuated=drives)
    assert len(drives) == system.degrees_of_freedom
    assert {system.velocity_names[i] for i in np.flatnonzero(forces)} <= set(drives)
    close(system.forward_dynamics(q, v, forces), a, 1e-9)
    many = system.inverse_dynamics([q, q], v, a, actuated=drives)
    np.testing.assert_array_equal(many, [forces, forces])


@pytest.mark.parametrize("tie", ["coupling", "prescribed coordinate", "driven distance", "point on curve"])
def test_couplings_curves_and_prescribed_motions(tie):
    """Against accelerations by the equations of motion in all rates."""
    kinds = ("free", "ball", "revolute", "free", "prismatic", "universal")
    system = mbvi.assemble(mechanisms.random_graph(1, kinds, (), (tie,), forces=mechanisms.FORCES))
    random, t = np.random.default_rng(2), 0.3
    q, v, a = system.project_state(system.given_q, *random.normal(size=(2, system.nv)), t=t)
    found = system.forward_dynamics(q, v, np.zeros(system.nv), t)
    close(found, system.velocity_of_rates(q, system.acceleration(q, system.rates_of_velocity(q, v), t)))
    names = independent(system, q, v)
    forces = system.inverse_dynamics(q, v, a, t, actuated=names)
    close(system.forward_dynamics(q, v, forces, t), a, 1e-8)


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_derivatives_along_motions_that_loops_leave(formulation):
    """Against differences between states that are moved onto the constraints: there all of q, v and a change."""
    model = free(load("four_bar"))
    spring = mbvi.Spring(body_a="world", body_b="coupler", point_b=(0.3, 0, 0), stiffness=50, rest_length=0.2)
    system = mbvi.assemble(mbvi.Model(**dict(model) | {"forces": {"spring": spring}}), formulation)
    q, v, a = state_of(system)
    drives, random, small = independent(system, q, v), np.random.default_rng(2), 1e-5
    dq, dv, da = random.normal(size=(3, system.nv))
    states = [
        system.project_state(system.integrate(q, sign * small * dq), v + sign * small * dv, a + sign * small * da)
        for sign in (1, -1)
    ]
    forces = [system.inverse_dynamics(*state, actuated=drives) for state in states]
    found = system.inverse_dynamics_derivatives(q, v, a, actuated=drives)
    changes = [system.difference(states[1][0], states[0][0]), states[0][1] - states[1][1], states[0][2] - states[1][2]]
    change = sum(each @ step for each, step in zip(found, changes, strict=True))
    close(change / small, (forces[0] - forces[1]) / small, 1e-7)
    tau = random.normal(size=system.nv)
    accelerations = [system.forward_dynamics(*state[:2], tau) for state in states]
    by_q, by_v, by_forces = system.forward_dynamics_derivatives(q, v, tau)
    change = by_q @ changes[0] + by_v @ changes[1]
    close(change / small, (accelerations[0] - accelerations[1]) / small, 1e-7)
    units = np.eye(system.nv)
    close(by_forces.T, system.forward_dynamics(q, v, tau + units) - system.forward_dynamics(q, v, tau))


def test_more_drives_than_motions(four_bar):
    q, v, a = state_of(four_bar)
    alone = [four_bar.inverse_dynamics(q, v, a, actuated=[name]) for name in ("shaft", "support.angle")]
    with pytest.warns(mbvi.errors.ModelWarning) as warned:
        both = four_bar.inverse_dynamics(q, v, a, actuated=["shaft", "support"])
    assert str(warned[0].message) == (
        "four-bar linkage: 2 velocities are driven, 1 more than there are motions; of all forces of the drives that make the "
        "motion, those of least norm are given"
    )
    part = (both[0] - alone[1][0]) / (alone[0][0] - alone[1][0])
    close(both, part * alone[0] + (1 - part) * alone[1])  # all that do the same work
    assert abs(both @ (alone[0] - alone[1])) < 1e-10 * (alone[0] @ alone[0])
    with pytest.raises(
        mbvi.ModelError, match="expected as many drives as motions, of whose forces derivatives are asked"
    ):
        four_bar.inverse_dynamics_derivatives(q, v, a, actuated=["shaft", "support"])


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda s, q, v, a: s.inverse_dynamics(q, v, a),
            "four-bar linkage: expected the velocities that are driven, found constraints that may carry any part of the "
            "forces; name those that drives act on, as actuated=[…] of shaft.angle, crank pin.angle, support.angle",
        ),
        (
            lambda s, q, v, a: s.inverse_dynamics(q, v, a, actuated=["shaft.angel"]),
            "actuated: expected a velocity or a joint, found 'shaft.angel'; did you mean 'shaft.angle'?",
        ),
        (
            lambda s, q, v, a: s.inverse_dynamics([q, q], v, a, actuated=[]),
            "actuated: expected a drive for every motion that the constraints leave, found none for that of shaft.angle and "
            "crank pin.angle and support.angle in state 0; add crank pin.angle",
        ),
        (
            lambda s, q, v, a: s.forward_dynamics([q, q + np.array([0.1, 0, 0])], v, a),
            "four-bar linkage: expected a state that the constraints allow, found rocker pin off by 0.0221 in state 1; "
            "System.project_state moves it there",
        ),
        (
            lambda s, q, v, a: s.inverse_dynamics(q, v, a + np.array([0.1, 0, 0]), actuated=["shaft"]),
            "four-bar linkage: expected a state that the constraints allow, found the acceleration of rocker pin off by "
            "0.0273; System.project_state moves it there",
        ),
    ],
)
def test_what_cannot_be_asked(four_bar, ask, message):
    with pytest.raises(mbvi.ModelError) as error:
        ask(four_bar, *four_bar.project_state(four_bar.initial_q, [6.0, 0.0, 0.0]))
    assert str(error.value) == message


@pytest.mark.parametrize("name", ["slider_crank", "stewart_platform"])
def test_derivatives_of_accelerations(name):
    """Of lines, planes, directions, and balls."""
    system = mbvi.assemble(free(load(name)))
    q, v, _ = state_of(system)
    dq, dv, tau = np.random.default_rng(3).normal(size=(3, system.nv))
    small = 1e-5
    states = [
        system.project_state(system.integrate(q, sign * small * dq), v + sign * small * dv)[:2] for sign in (1, -1)
    ]
    by_q, by_v, _ = system.forward_dynamics_derivatives(q, v, tau)
    accelerations = [system.forward_dynamics(*state, tau) for state in states]
    change = by_q @ system.difference(states[1][0], states[0][0]) + by_v @ (states[0][1] - states[1][1])
    close(change / small, (accelerations[0] - accelerations[1]) / small, 1e-6)


def bead_on_wire():
    """A body that slides down a helix without friction, and turns."""
    return mbvi.Model(
        name="bead",
        bodies={"bead": mbvi.Body(mass=0.5, inertia=(0.01, 0.02, 0.03))},
        joints={"place": mbvi.Free(parent="world", child="bead", position=(0.5, 0, 0))},
        constraints={"wire": mbvi.PointOnCurve(curve=("cos(s)/2", "sin(s)/2", "-0.15*s"), body_b="bead")},
    )


def cam():
    """A pendulum that lifts a slider by a function of its angle, and carries another one."""
    rod = mbvi.Body(mass=1, center_of_mass=(0, 0, -0.5), inertia=(0.1, 0.1, 0.02))
    return mbvi.Model(
        name="cam",
        bodies={"wheel": rod, "follower": rod, "bob": rod},
        joints={
            "axle": mbvi.Revolute(parent="world", child="wheel", axis=(0, 1, 0)),
            "slide": mbvi.Prismatic(parent="world", child="follower", axis=(0, 0.6, 0.8)),
            "pin": mbvi.Revolute(parent="wheel", child="bob", axis=(0, 1, 0), position=(0, 0, -1)),
        },
        constraints={
            "cam": mbvi.Coupling(joint_a="axle", joint_b="slide", function="0.3*sin(2*x) + x**3/5 + sqrt(2 + cos(x))")
        },
    )


def test_a_bead_on_a_helix():
    """Its acceleration is the same everywhere, and so has no derivative along the helix."""
    system = mbvi.assemble(bead_on_wire())
    q, v, _ = state_of(system)
    nothing = np.zeros(system.nv)
    a = system.forward_dynamics(q, v, nothing)
    assert system.velocity_names[-1] == "wire.s"
    assert a[-1] == pytest.approx(9.81 * 0.15 / (0.25 + 0.15**2), rel=1e-12)
    by_q, by_v, _ = system.forward_dynamics_derivatives(q, v, nothing)
    s = q[-1]
    along = np.array([-np.sin(s) / 2, np.cos(s) / 2, -0.15, 0, 0, 0, 1])
    acceleration = a[-1]
    bend = np.array([-np.cos(s) / 2, -np.sin(s) / 2, 0, 0, 0, 0, 0])  # of the helix, in its place
    jerk = np.array([np.sin(s) / 2, -np.cos(s) / 2, 0, 0, 0, 0, 0])
    close(by_q @ along + by_v @ (bend * v[-1]), jerk * v[-1] ** 2 + bend * acceleration)
    close(by_v @ along, 2 * bend * v[-1])


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize("make", [bead_on_wire, cam, tackle], ids=["curve", "cam", "rope"])
def test_derivatives_of_functions_of_coordinates(make, formulation):
    """Third derivatives of curves, cams and ropes: against differences of order 4 along the constraints."""
    system = mbvi.assemble(make(), formulation)
    random, small = np.random.default_rng(0), 2e-4
    q = system.integrate(system.initial_q, 0.1 * random.normal(size=system.nv))
    q, v, a = system.project_state(q, *random.normal(size=(2, system.nv)))
    dq, dv, da, tau = random.normal(size=(4, system.nv))
    drives = independent(system, q, v)

    def moved(i):
        step = i * small
        return system.project_state(system.integrate(q, step * dq), v + step * dv, a + step * da)

    def rate(function):
        return (8 * (function(1) - function(-1)) - (function(2) - function(-2))) / (12 * small)

    states = {i: moved(i) for i in (-2, -1, 1, 2)}
    changes = [
        rate(lambda i: system.difference(q, states[i][0])),
        rate(lambda i: states[i][1]),
        rate(lambda i: states[i][2]),
    ]
    by_q, by_v, _ = system.forward_dynamics_derivatives(q, v, tau)
    close(by_q @ changes[0] + by_v @ changes[1], rate(lambda i: system.forward_dynamics(*states[i][:2], tau)), 1e-9)
    found = system.inverse_dynamics_derivatives(q, v, a, actuated=drives)
    close(
        sum(each @ change for each, change in zip(found, changes, strict=True)),
        rate(lambda i: system.inverse_dynamics(*states[i], actuated=drives)),
        1e-9,
    )
    many = system.forward_dynamics_derivatives([q, q], v, tau)
    np.testing.assert_allclose(many.by_q, [by_q, by_q], rtol=0, atol=1e-12 * np.abs(by_q).max())


def ball_ended_rod(inertia):
    """A crank and a slider, joined by a rod that ball joints leave free to turn about its axis."""
    hinge = {"axis": (0, 1, 0), "parent": "world"}
    return mbvi.Model(
        name="slider-crank in space",
        gravity=(0, 0, -9.81),
        bodies={
            "crank": mbvi.Body(mass=1, inertia=(0.1, 0.1, 0.1)),
            "rod": mbvi.Body(mass=1, inertia=(0.1, 0.1, inertia)),
            "slider": mbvi.Body(mass=1),
        },
        joints={
            "shaft": mbvi.Revolute(child="crank", **hinge),
            "pin": mbvi.Ball(parent="crank", child="rod", position=(0, 0, 1)),
            "guide": mbvi.Prismatic(parent="world", child="slider", axis=(0, 0, 1), position=(0, 0, 2.5)),
        },
        constraints={"eye": mbvi.CoincidentPoints(body_a="rod", body_b="slider", point_a=(0, 0, 1.5))},
    )


@pytest.mark.parametrize(("formulation", "owner"), [("tree", "pin"), ("embedding", "rod")])
def test_what_moves_without_inertia_on_loops_is_refused(formulation, owner):
    """The turn of a rod about its axis, which has no pivot in elimination, as rows that follow from others have none."""
    torque = 2.0
    for inertia in (0.01, 0.0):
        system = mbvi.assemble(ball_ended_rod(inertia), formulation)
        q, _, _ = system.project_state(system.initial_q)
        nothing, forces = np.zeros(system.nv), np.zeros(system.nv)
        turn = system.velocity_names.index(f"{owner}.wz")
        forces[turn] = torque
        if inertia:
            assert system.forward_dynamics(q, nothing, forces)[turn] == pytest.approx(torque / inertia, rel=1e-12)
            assert system.operational_mobility("rod", q)[5, 5] == pytest.approx(1 / inertia, rel=1e-12)
    text = f"expected a regular mass matrix, found that motion along {owner}.qz has no inertia"
    for ask in (system.forward_dynamics, system.forward_dynamics_derivatives):
        with pytest.raises(mbvi.ModelError, match=f"{text}; give what moves some mass or inertia, or take another"):
            ask(q, nothing, nothing)
        with pytest.raises(mbvi.ModelError, match=f"{text} in state 0; give"):
            ask([q, q], nothing, forces)
    with pytest.raises(mbvi.ModelError, match=f"{text}; give"):
        system.operational_mobility("rod", q)


def test_inertia_at_a_frame_is_that_of_a_closed_mechanism(four_bar):
    """Coordinates off the loops are refused, by the number of the state; what holds them at some time is allowed at any."""
    q, _, _ = four_bar.project_state(four_bar.initial_q)
    text = "four-bar linkage: expected a state that the constraints allow, found rocker pin off by 0.104 in state 1; System"
    with pytest.raises(mbvi.ModelError, match=text):
        four_bar.operational_mobility("coupler", [q, q + np.array([0.1, 0, 0])])
    with pytest.raises(mbvi.ModelError, match="q: expected finite numbers, found nan at place 0 of state 1"):
        four_bar.operational_mobility("coupler", [q, np.nan * q])
    driven = mbvi.assemble(
        ball_ended_rod(0.01).replaced(
            {"constraints": {"drive": mbvi.PrescribedCoordinate(joint="shaft", value="0.3 + t")}}
        )
    )
    turned = driven.given_q + 0.1 * (np.arange(driven.dimension) == 0)
    np.testing.assert_allclose(driven.operational_mobility("crank", turned), 0.0, rtol=0, atol=1e-30)


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize("seed", range(6))
def test_what_rounding_leaves_of_a_motion_is_no_mobility(seed, formulation):
    """Of a tool on a gantry whose first guide is driven: its mobility along that is some 1e-17 or 1e-33, of either sign."""
    random, body = (
        np.random.default_rng(seed),
        mbvi.Body(mass=1.3, center_of_mass=(0.1, 0.2, 0.3), inertia=(0.1, 0.2, 0.3)),
    )
    joints = {
        f"guide {i}": mbvi.Prismatic(parent=f"b{i - 1}" if i else "world", child=f"b{i}", axis=tuple(axis))
        for i, axis in enumerate(np.eye(3))
    }
    model = mbvi.Model(
        name="gantry",
        bodies=dict.fromkeys(("b0", "b1", "b2", "tool"), body),
        joints={**joints, "hand": mbvi.Ball(parent="b2", child="tool", position=tuple(random.normal(size=3)))},
        constraints={"drive": mbvi.PrescribedCoordinate(joint="guide 0", value="0.3 + t")},
    )
    system = mbvi.assemble(model, formulation)
    q = system.initial_q
    if formulation == "tree":
        q = system.integrate(q, [0.0, *random.normal(size=5)])
    text = "gantry: expected tool as a frame that can move in six ways, found one that constraints or its joints keep from some"
    with pytest.raises(mbvi.ModelError, match=text):
        system.operational_inertia("tool", q)
