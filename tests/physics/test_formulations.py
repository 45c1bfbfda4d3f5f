"""The same mechanism in other coordinates, or given otherwise, moves alike."""

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mbvi
from mbvi.analysis.convergence import convergence_order
from mbvi.system.given import joint_motion, nearest_joint_state
from mbvi.system.initial import find_start
from tests.marks import pairs, sample

from ..system import mechanisms
from . import systems

STEP, DURATION = 0.01, 5.0


def run(system, scheme, step=STEP, duration=DURATION):
    return mbvi.simulate(system, scheme, step=step, duration=duration)


@pytest.mark.parametrize("scheme", ["midpoint", "simpson", "gauss4", "kahan_li6"])
def test_top_as_graph_and_in_sympy(scheme):
    """Step by step: differences are round-off, which θ near 0 (2.7°) amplifies."""
    graph = run(mbvi.assemble(systems.model("lagrange_top")), scheme)
    symbols = run(systems.lagrange_top_in_sympy(), scheme)
    for a, b in ((graph.q, symbols.q), (graph.p, symbols.p)):
        assert np.abs(a[1] - b[1]).max() < 1e-14 * np.abs(b).max()
        assert np.abs(a - b).max() < 1e-11 * np.abs(b).max()


def test_top_in_quaternions_differs_at_the_order_of_the_scheme():
    differences, steps = [], [0.004, 0.002, 0.001]
    exact = run(mbvi.assemble(systems.top("zxz", "lagrange_top", spin=40.0)), "gauss6", 0.001, 0.8)
    for step in steps:
        quaternion = run(mbvi.assemble(systems.top("quaternion", "lagrange_top", spin=40.0)), "simpson", step, 0.8)
        every = round(step / 0.001)
        differences.append(np.abs(quaternion.pose("top")[1] - exact.pose("top")[1][::every]).max())
    assert convergence_order(differences, steps) == pytest.approx(4, abs=0.1)
    fine = run(mbvi.assemble(systems.top("quaternion", "lagrange_top", spin=40.0)), "gauss6", 0.001, 0.8)
    np.testing.assert_allclose(fine.pose("top")[1], exact.pose("top")[1], rtol=0, atol=1e-10)


@pytest.mark.parametrize("scheme", ["midpoint", "simpson", "gauss4", "kahan_li6"])
def test_double_pendulum_in_relative_and_absolute_angles(scheme):
    """Polynomial schemes are equivariant under linear maps: the same trajectory, to round-off."""
    relative = run(mbvi.assemble(systems.model("double_pendulum")), scheme)
    absolute = run(systems.double_pendulum_in_absolute_angles(), scheme)
    assert np.abs(np.cumsum(relative.q, axis=1) - absolute.q)[1].max() < 1e-14
    assert np.abs(np.cumsum(relative.q, axis=1) - absolute.q).max() < 1e-11


def mass(q, M):
    M[0, 0], M[0, 1], M[1, 0], M[1, 1] = 1.0, 0.0, 0.0, q[0] ** 2


def potential(q):
    return 8 * (q[0] - 1) ** 2 - 4 * q[0] * np.cos(q[1])


@cache
def elastic_pendulums():
    """The same system, given in symbols and as functions."""
    symbols = systems.elastic_pendulum()
    start = {"initial_q": symbols.initial_q, "initial_v": symbols.initial_v}
    return symbols, mbvi.from_functions(["r", "a"], mass, potential, **start)


@pytest.mark.parametrize("scheme", ["midpoint", "simpson", "gauss4"])
def test_lagrangian_in_sympy_and_as_functions(scheme):
    a, b = (run(system, scheme) for system in elastic_pendulums())
    assert np.abs(a.q - b.q).max() < 1e-11


@pytest.mark.parametrize("sequence", ["xyz", "zyx", "yxy", "zxz"])
def test_euler_sequences_move_alike(sequence):
    """A body thrown in any sequence of Euler angles, compared by its poses at small steps."""
    rotation = np.array([0.9, 0.3, -0.2, np.sqrt(1 - 0.94)])

    def thrown(coordinates, position, velocity):
        body = mbvi.Body(mass=1, center_of_mass=(0.1, 0.2, 0.3), inertia=(0.2, 0.3, 0.45))
        joint = mbvi.Free(parent="world", child="body", coordinates=coordinates)
        initial = {"flight": mbvi.Initial(position=position, velocity=velocity)}
        model = mbvi.Model(name="thrown", bodies={"body": body}, joints={"flight": joint}, initial=initial)
        return mbvi.assemble(model)

    free = thrown("quaternion", (1, 2, 3, *rotation), (1, 0, 2, 0.5, 0.7, -0.4))
    angles, rates = euler_state(sequence, free)
    euler = thrown(sequence, (1, 2, 3, *angles), (1, 0, 2, *rates))
    a, b = (run(system, "gauss5", 0.01, 0.5) for system in (free, euler))
    for x, y in zip(a.pose("body"), b.pose("body"), strict=True):
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-11)  # measured: 6e-12, by rounding of rates of the angles


def euler_state(sequence, free):
    """Angles and rates of a sequence with the rotation and its rate of a free body in a quaternion, by Newton."""
    from scipy.spatial.transform import Rotation

    def matrix(angles):
        return Rotation.from_euler(sequence.upper(), angles).as_matrix()

    q, v = free.initial_q, free.initial_v
    angles = Rotation.from_matrix(free.poses("body", q[None])[1][0]).as_euler(sequence.upper())
    h = 1e-5
    columns = [((matrix(angles + h * e) - matrix(angles - h * e)) / (2 * h)).ravel() for e in np.eye(3)]
    rate = (free.poses("body", (q + h * v)[None])[1] - free.poses("body", (q - h * v)[None])[1]).ravel() / (2 * h)
    return angles, np.linalg.lstsq(np.array(columns).T, rate, rcond=None)[0]


# The same model in the coordinates of its joints, in those of its bodies, and in some of both.

ALL_FORCES = mechanisms.POTENTIAL + mechanisms.OTHER
LINKAGES = {
    **{f"{kind}": (kind, 0, False, False) for kind in mechanisms.KINDS},
    **{f"{kind}, reversed": (kind, 0, True, False) for kind in mechanisms.KINDS},
    **{f"{kind} in a loop": (kind, 0, False, True) for kind in mechanisms.KINDS},
    **{f"{kind} in a loop, reversed": (kind, kind == "weld", True, True) for kind in mechanisms.KINDS},
}
FORMULATIONS = {
    "tree": lambda model: mbvi.assemble(model),
    "one joint cut": lambda model: mbvi.assemble(mechanisms.with_cut(model, "kind", True)),
    "embedding": lambda model: mbvi.assemble(model, "embedding"),
    "embedding, one joint kept": lambda model: mbvi.assemble(mechanisms.with_cut(model, "kind", False), "embedding"),
}


@cache
def linkage_systems(name):
    """A model of LINKAGES, or of a tie, in all formulations that differ."""
    if name in LINKAGES:
        model = mechanisms.with_start(mechanisms.linkage(*LINKAGES[name], ALL_FORCES))
    else:
        random, model = np.random.default_rng(5), mechanisms.linkage("free euler", 0, forces=ALL_FORCES)
        on = [("kind", "phi"), ("slide", "displacement"), *[("kind", "psi")] * (name == "differential")]
        tie = mechanisms.random_tie(random, name, "a", "c", ["c"], on)
        model = mbvi.Model(**dict(model) | {"constraints": {"tie": tie}})
    made = {key: make(model) for key, make in FORMULATIONS.items()}
    return {k: s for k, s in made.items() if k == "tree" or s.coordinate_names != made["tree"].coordinate_names}


def poses(system, q):
    """Places and rotations of the bodies with mass, in one row."""
    each = [system.poses(body, q[None]) for body in "abc"]
    return np.concatenate([part[0].ravel() for pair in each for part in pair])


def second_derivative(function, step):
    """d²/ds² at s = 0 by central differences of order 8: error about step⁸ or 1e-15/step²."""
    weights = (-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560)
    outer = (w * (function(i * step) + function(-i * step)) for i, w in enumerate(weights) if i > 0)
    return weights[0] * function(0.0) + sum(outer)


@pytest.mark.parametrize("name", sample([*LINKAGES, *mechanisms.TIES, mechanisms.ROPE], 2))
def test_accelerations_are_those_of_the_tree(name):
    """Of places and rotations of all bodies, along q + s v + s² a/2."""
    found = {}
    for key, system in linkage_systems(name).items():
        start = find_start(system)
        a = system.acceleration(start.q, start.v)
        step = 8e-3 / max(1.0, np.abs(start.v).max(), np.sqrt(np.abs(a).max()))
        along = second_derivative(lambda s, x=start, a=a, y=system: poses(y, x.q + s * x.v + s * s / 2 * a), step)
        found[key] = along / step**2
    expected = found.pop("tree")
    assert "embedding" in found
    for key in found:
        assert np.abs(found[key] - expected).max() < 1e-9 * np.abs(expected).max(), key


LARGEST = {"midpoint": 0.02, "simpson": 0.02}  # steps [s]


@pytest.mark.filterwarnings("ignore:.*the spline through its table:mbvi.errors.ModelWarning")  # of one of the ties
@pytest.mark.parametrize(("name", "scheme"), pairs([*LINKAGES, *mechanisms.TIES, mechanisms.ROPE], LARGEST))
def test_motions_differ_at_the_order_of_the_scheme(name, scheme):
    made, order, largest = linkage_systems(name), mbvi.SCHEMES[scheme].order, LARGEST[scheme]
    steps = [largest, largest / 2, largest / 4]
    ends = {key: [poses(made[key], run(made[key], scheme, h, 16 * largest).q[-1]) for h in steps] for key in made}
    expected = ends.pop("tree")
    for key, found in ends.items():
        differences = [np.linalg.norm(x - y) for x, y in zip(found, expected, strict=True)]
        if (name, key) == ("ball, reversed", "one joint cut"):  # in the tree too the parent has coordinates of its own
            assert max(differences) < 1e-13
        else:
            assert convergence_order(differences, steps) == pytest.approx(order, abs=0.05 * order), key


def swapped(model, name):
    """The model with parent and child of a joint exchanged, its pose and rates inverted."""
    joint = model.resolved().joints[name]
    turned = {"position": joint.offset, "offset": joint.position, "orientation": -np.array(joint.orientation)}
    other = type(joint)(parent=joint.child, child=joint.parent, **turned)
    initial = model.initial[name]
    relative = joint_motion(joint, np.array(initial.position), np.array(initial.velocity)).inverse()
    position, velocity = nearest_joint_state(other, relative)
    start = model.initial | {name: mbvi.Initial(position=position, velocity=velocity)}
    return mbvi.Model(**dict(model) | {"joints": model.joints | {name: other}, "initial": start})


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize("is_loop", [False, True])
@pytest.mark.parametrize("kind", ["ball", "free"])
def test_quaternion_of_a_child_nearer_the_world(kind, is_loop, formulation):
    """As with parent and child exchanged; the joint's coordinates are the pose of the child in the parent."""
    model = mechanisms.with_start(mechanisms.linkage(kind, 1, is_reversed=True, is_loop=is_loop))
    model = mechanisms.with_cut(model, "last", True) if is_loop else model
    branch = next(each for each in mbvi.model.plan(model).branches if each.joint == "kind")
    assert branch.is_reversed
    found, other = (
        mbvi.simulate(each, "gauss5", step=0.005, duration=0.3, formulation=formulation)
        for each in (model, swapped(model, "kind"))
    )
    for body in "abc":
        for x, y in zip(found.pose(body), other.pose(body), strict=True):
            np.testing.assert_allclose(x, y, rtol=0, atol=1e-10)
    names = found.system.coordinate_names
    assert ("kind.qw" in names) == (formulation == "tree")
    if formulation == "tree":
        joint = model.resolved().joints["kind"]
        part = [names.index(f"kind.{short}") for short in joint.coordinate_names]
        (place_a, turn_a), (place_b, turn_b) = found.pose("a"), found.pose("b")  # of the child, of the parent
        for i, (q, v) in enumerate(zip(found.q[:, part], found.v[:, part], strict=True)):
            pose = joint_motion(joint, q, v)
            np.testing.assert_allclose(turn_b[i] @ pose.rotation, turn_a[i], rtol=0, atol=1e-13)
            np.testing.assert_allclose(place_b[i] + turn_b[i] @ pose.place, place_a[i], rtol=0, atol=1e-13)


def point_chain(is_closed):
    """Point masses on massless rods from universal joints, and a spring and a damper between them."""
    bodies, joints, initial = {}, {}, {}
    for i, (parent, angles) in enumerate((("world", (0.3, 0.7)), ("b0", (-0.4, 0.2)), ("b1", (0.9, -0.3)))):
        bodies[f"b{i}"] = mbvi.Body(point_masses={"m": mbvi.PointMass(mass=1 + i, position=(0, 0, -1 - 0.2 * i))})
        place = (0, 0, -1 - 0.2 * (i - 1)) if i else (0, 0, 0)
        joints[f"j{i}"] = mbvi.Universal(parent=parent, child=f"b{i}", axes=((1, 0, 0), (0, 1, 0)), position=place)
        initial[f"j{i}"] = mbvi.Initial(position=angles, velocity=(1.0 - i, 0.5 * i))
    ends = {"body_a": "world", "point_a": (1, 0, 0), "body_b": "b2", "point_b": (0, 0, -1.4)}
    return mbvi.Model(
        name="points",
        bodies=bodies,
        joints=joints,
        initial=initial,
        forces={"spring": mbvi.Spring(**ends, stiffness=8), "damper": mbvi.Damper(**ends, damping=0.4)},
        constraints={"rod": mbvi.Distance(**ends, length="2 + 0.2*sin(3*t)")} if is_closed else {},
    )


@pytest.mark.parametrize("is_closed", [False, True])
@pytest.mark.parametrize(("scheme", "coarse"), [("midpoint", 0.02), ("simpson", 0.02)])
def test_points_in_space_and_universal_joints(scheme, coarse, is_closed):
    tree, embedding = (mbvi.assemble(point_chain(is_closed), each) for each in ("tree", "embedding"))
    assert (embedding.dimension, embedding.constraint_count) == (9, 3 + is_closed)
    steps = [coarse, coarse / 2, coarse / 4]
    differences = []
    for h in steps:
        joints, points = (run(system, scheme, h, 16 * coarse) for system in (tree, embedding))
        places = [joints.pose(f"b{i}")[0][-1] + joints.pose(f"b{i}")[1][-1] @ (0, 0, -1 - 0.2 * i) for i in range(3)]
        differences.append(np.linalg.norm(np.concatenate(places) - points.q[-1]))
    assert convergence_order(differences, steps) == pytest.approx(mbvi.SCHEMES[scheme].order, abs=0.2)


def pendulum_of_three():
    """Bodies, joints and initial values of three rods."""
    bodies = {f"rod{i}": mbvi.Body(mass=1 + i, center_of_mass=(0, 0, -0.25), inertia=(0.1, 0.1, 0)) for i in range(3)}
    joints = {
        f"hinge{i}": mbvi.Revolute(
            parent=f"rod{i - 1}" if i else "world", child=f"rod{i}", axis=(0, 1, 0), position=(0, 0, -0.5 * (i > 0))
        )
        for i in range(3)
    }
    return bodies, joints, {"hinge0": mbvi.Initial(position=1.0)}


def test_points_among_links_move_by_newtons_law():
    """Five points that springs join in a ring, in one system with a pendulum, without constraints: M⁻¹ is a recursion."""
    m, stiffness, rest = np.arange(1.0, 6.0), 40.0, 0.8
    turn = 2 * np.pi * np.arange(5) / 5
    x = np.stack([np.cos(turn), np.sin(turn), 0.2 * np.cos(2 * turn)], axis=1)
    v = np.stack([-np.sin(turn), np.cos(turn), 0.3 * turn], axis=1)
    bodies, joints, initial = pendulum_of_three()
    alone = mbvi.Model(name="pendulum", bodies=bodies, joints=joints, initial=initial)
    forces = {}
    for i in range(5):
        bodies[f"p{i}"] = mbvi.Body(point_masses={"m": mbvi.PointMass(mass=m[i], position=(0, 0, 0))})
        joints[f"f{i}"] = mbvi.Free(parent="world", child=f"p{i}", coordinates="xyz")
        initial[f"f{i}"] = mbvi.Initial(position=(*x[i], 0, 0, 0), velocity=(*v[i], 0, 0, 0))
        ends = {"body_a": f"p{i}", "body_b": f"p{(i + 1) % 5}"}
        forces[f"s{i}"] = mbvi.Spring(**ends, stiffness=stiffness, rest_length=rest)
    system = mbvi.assemble(mbvi.Model(name="ring", bodies=bodies, joints=joints, initial=initial, forces=forces))
    assert (system.dimension, system.constraint_count) == (18, 0)
    found = run(system, "gauss4", 0.01, 1.0)

    def rates(_, y):
        place, rate = y.reshape(2, 5, 3)
        gap = np.roll(place, -1, axis=0) - place
        length = np.linalg.norm(gap, axis=1, keepdims=True)
        pull = stiffness * (1 - rest / length) * gap
        return np.stack([rate, (pull - np.roll(pull, 1, axis=0)) / m[:, None] + (0, 0, -9.81)]).ravel()

    expected = solve_ivp(rates, (0, 1), np.stack([x, v]).ravel(), method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    columns = [system.coordinate_names.index(f"p{i}.{axis}") for i in range(5) for axis in "xyz"]
    np.testing.assert_allclose(found.q[-1, columns], expected[:15], rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.v[-1, columns], expected[15:], rtol=0, atol=1e-8)
    angles = [system.coordinate_names.index(f"hinge{i}.angle") for i in range(3)]
    np.testing.assert_allclose(found.q[:, angles], run(alone, "gauss4", 0.01, 1.0).q, rtol=0, atol=1e-12)


# Theorem 6.1 of Wendlandt & Marsden: the constrained midpoint rule in space, and its discrete action in a chart of the sphere.


def circle(a):
    """ψ of an angle to the vertical, and its derivative (2, 1)."""
    (c,), (s,) = np.cos(a), np.sin(a)
    return np.array([s, -c]), np.array([[c], [s]])


def sphere(a):
    """ψ of two successive rotations about x and y, and its derivative (3, 2)."""
    (c, d), (s, e) = np.cos(a), np.sin(a)
    return np.array([e, s * d, -c * d]), np.array([[0.0, d], [c * d, -s * e], [s * d, c * e]])


def chart_steps(chart, a, momentum, gravity, h, count):
    """Places by eq. 50: stationary Σ h L((ψ(a₁) + ψ(a₀))/2, (ψ(a₁) − ψ(a₀))/h), of a mass of 1, by Newton's method."""
    place, tangent = chart(a)
    places = [place]
    for _ in range(count):
        for _ in range(20):
            next_place, next_tangent = chart(a)
            residual = tangent.T @ (momentum - (next_place - place) / h + h / 2 * gravity)
            correction = np.linalg.solve(tangent.T @ next_tangent / h, residual)
            a = a + correction
            if np.abs(correction).max() < 1e-15:
                break
        next_place, tangent = chart(a)
        momentum, place = (next_place - place) / h + h / 2 * gravity, next_place
        places.append(place)
    return np.array(places)


def bob_on_a_joint():
    """The mass of `systems.spherical_pendulum` as a body in the embedding, a point in space."""
    bob = mbvi.Body(point_masses={"m": mbvi.PointMass(mass=1, position=(0, 0, -1))})
    joint = mbvi.Universal(parent="world", child="bob", axes=((1, 0, 0), (0, 1, 0)))
    model = mbvi.Model(name="bob", gravity=(0, 0, -5), bodies={"bob": bob}, joints={"j": joint})
    return mbvi.assemble(model, "embedding")


@pytest.mark.parametrize(
    ("make", "chart", "angles", "rates"),
    [
        (systems.planar_pendulum, circle, (0.7,), (1.5,)),
        (systems.spherical_pendulum, sphere, (0.5, 0.6), (0.8, 1.4)),
        (bob_on_a_joint, sphere, (0.5, 0.6), (0.8, 1.4)),
    ],
    ids=["circle", "sphere", "sphere, of a model"],
)
def test_midpoint_is_that_of_a_chart(make, chart, angles, rates):
    (q, tangent), h, count = chart(np.array(angles)), 0.05, 100
    v = tangent @ rates
    gravity = np.array([0.0] * (len(q) - 1) + [-5.0])
    system = make()
    assert (system.dimension, system.constraint_count) == (len(q), 1)
    found = mbvi.simulate(system, "midpoint", step=h, duration=count * h, initial_q=q, initial_v=v).q
    expected = chart_steps(chart, np.array(angles), v, gravity, h, count)
    assert np.abs(found[1] - expected[1]).max() < 1e-15
    assert np.abs(found - expected).max() < 1e-12
    assert np.abs(expected[count] - expected[0]).max() > 0.1
