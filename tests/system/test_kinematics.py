"""Poses, velocities and accelerations of frames against Pinocchio; their derivatives against complex steps of plain NumPy."""

import numpy as np
import pytest

import mbvi
from mbvi.system.tangent import from_xyzw, to_xyzw
from tests.folders import load

from . import mechanisms, reference_dynamics
from .mechanisms import KINDS
from .test_against_pinocchio import build, convert

pin = pytest.importorskip("pinocchio")  # which has no wheels for Windows

REFERENCES = {"world": pin.WORLD, "body": pin.LOCAL, "world-aligned": pin.LOCAL_WORLD_ALIGNED}


def random_motion(system, seed):
    """Random coordinates, velocities and accelerations in the tangent space."""
    random = np.random.default_rng(seed)
    q, rates = mechanisms.random_state(system, seed)
    return q, system.velocity_of_rates(q, rates), random.normal(size=system.nv)


@pytest.fixture(params=range(4), scope="module")
def tree(request):
    system = mbvi.assemble(mechanisms.random_tree(request.param))
    return system, *random_motion(system, request.param)


@pytest.fixture(params=["tree 0", "tree 1", "bodies 0"], scope="module")
def system(request):
    """Trees, and bodies with coordinates of their own: of loops, in the embedding."""
    of, seed = request.param.split()
    if of == "tree":
        return mbvi.assemble(mechanisms.random_tree(int(seed), KINDS[int(seed) :: 2]))
    model = mechanisms.random_graph(
        int(seed), ("ball", "screw"), chords=("revolute",), ties=("distance",), formulation="embedding"
    )
    return mbvi.assemble(model)


def close(found, expected, tolerance=1e-12):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("reference", REFERENCES)
def test_velocities_and_accelerations_are_those_of_pinocchio(tree, reference):
    system, q, v, a = tree
    robot, ids, frames = build(system.model)
    rates = system.rates_of_velocity(q, v)
    q_pin, v_pin, E, bias = convert(system.model, system, robot, ids, q, rates)
    turned = system.rates_of_velocity(q, a)  # ä = ½ a ω̇ − ¼ |ω|² a, of which E drops the part along a
    a_pin, data = E @ turned + bias, robot.createData()
    pin.forwardKinematics(robot, data, q_pin, v_pin, a_pin)
    own = REFERENCES[reference]
    acceleration = pin.getFrameClassicalAcceleration if reference == "world-aligned" else pin.getFrameAcceleration
    for body in system.model.bodies:
        joint, place = frames[body]
        of = joint, place, own
        close(system.frame_velocity(body, q, v, reference), pin.getFrameVelocity(robot, data, *of).vector)
        close(system.frame_acceleration(body, q, v, a, reference), acceleration(robot, data, *of).vector)
        pose = data.oMi[joint] * place
        close(system.frame_pose(body, q)[0], pose.translation)
        close(system.frame_pose(body, q)[1], pose.rotation)


def in_reference(reference, R, x, twist, rate):
    """A twist and its rate in a reference, of those along the world's axes at the frame's origin."""
    (u, w), (b, al) = np.split(twist, 2), np.split(rate, 2)
    if reference == "body":
        return np.concatenate([R.T @ u, R.T @ w]), np.concatenate([R.T @ (b - np.cross(w, u)), R.T @ al])
    if reference == "world":
        at = u + np.cross(x, w)
        return np.concatenate([at, w]), np.concatenate([b + np.cross(x, al) + np.cross(u, w), al])
    return twist, rate


def test_derivatives_are_exact(system):
    q, v, a = random_motion(system, 4)
    bodies = list(system.model.bodies)[-1:-6:-2]

    def values(q, v, a):
        states = [reference_dynamics.frame_motion(system, body, q, v, a) for body in bodies]
        return np.array([[in_reference(reference, *state) for reference in REFERENCES] for state in states])

    by_q, by_v, by_a = reference_dynamics.derivatives(system, values, q, v, a)
    for i, body in enumerate(bodies):
        for j, reference in enumerate(REFERENCES):
            velocity = system.frame_velocity_derivatives(body, q, v, reference)
            close(velocity.by_q, by_q[i, j, 0])
            close(velocity.by_v, by_v[i, j, 0])
            J = system.frame_jacobian(body, q, reference)
            close(J, by_v[i, j, 0])
            acceleration = system.frame_acceleration_derivatives(body, q, v, a, reference)
            close(acceleration.by_q, by_q[i, j, 1])
            close(acceleration.by_v, by_v[i, j, 1])
            close(acceleration.by_a, by_a[i, j, 1])
            # The acceleration is J a + J̇ v, and J̇ what moves J along v; ∂J/∂q v is how the velocity changes.
            rate = system.frame_jacobian_rate(body, q, v, reference)
            close(rate @ v + J @ a, system.frame_acceleration(body, q, v, a, reference))
            derivative = system.frame_jacobian_derivative(body, q, reference)
            close(np.einsum("rkj,k->rj", derivative, v), velocity.by_q)
            close(derivative @ v, rate)


def test_many_states_are_many_single_ones(tree):
    system = tree[0]
    many = [np.array(each) for each in zip(*(random_motion(system, seed) for seed in range(6)), strict=True)]
    q, v, a = (each.reshape(2, 3, -1) for each in many)
    body = list(system.model.bodies)[-1]
    found = system.frame_acceleration(body, q, v, a)
    assert found.shape == (2, 3, 6)
    for i, j in np.ndindex(2, 3):
        np.testing.assert_array_equal(found[i, j], system.frame_acceleration(body, q[i, j], v[i, j], a[i, j]))
    by_q = system.frame_velocity_derivatives(body, q, v).by_q
    assert by_q.shape == (2, 3, 6, system.nv)
    place, rotation = system.frame_pose(body, q)
    assert place.shape == (2, 3, 3) and rotation.shape == (2, 3, 3, 3)
    np.testing.assert_array_equal(
        system.frame_velocity(body, q[0, 0], v)[1, 2], system.frame_velocity(body, q[0, 0], v[1, 2])
    )


def test_many_states_are_shared_among_cores(tree, monkeypatch):
    system, q, v, _ = tree
    monkeypatch.setattr("mbvi.system.states.cores", lambda: 3)
    random = np.random.default_rng(3)
    q, v = np.tile(q, (2001, 1)), random.normal(size=(2001, system.nv))
    body = list(system.model.bodies)[-1]
    found = system.frame_velocity(body, q, v)
    close(found, np.einsum("rk,sk->sr", system.frame_jacobian(body, q[0]), v))
    v[1500, 2] = np.nan
    with pytest.raises(mbvi.ModelError, match=r"^v: expected finite numbers, found nan at place 2 of state 1500$"):
        system.frame_velocity(body, q, v)


def test_steps_along_the_tangent_space(tree):
    system, q, v, _ = tree
    other = system.integrate(q, 0.3 * v)
    close(system.difference(q, other), 0.3 * v)
    rates = system.rates_of_velocity(q, v)
    close(system.velocity_of_rates(q, rates), v)
    close((system.integrate(q, 1e-6 * v) - system.integrate(q, -1e-6 * v)) / 2e-6, rates, 1e-9)
    assert len(system.velocity_names) == system.nv == system.nq - len(mechanisms.quaternions(system))
    turned = system.difference(
        q, q * np.where([name.endswith(("qw", "qx", "qy", "qz")) for name in system.coordinate_names], -1, 1)
    )
    close(turned, np.zeros(system.nv))  # a and −a are one orientation


def test_orders_of_quaternions():
    np.testing.assert_array_equal(to_xyzw([[1, 2, 3, 4]]), [[2, 3, 4, 1]])
    np.testing.assert_array_equal(from_xyzw(to_xyzw([1.0, 2.0, 3.0, 4.0])), [1, 2, 3, 4])
    with pytest.raises(
        mbvi.ModelError, match=r"^quaternions: expected an array of shape \(…, 4\), found an array of shape \(3,\)$"
    ):
        to_xyzw([1, 2, 3])


def arm():
    body = mbvi.Body(mass=1, center_of_mass=(0, 0, 1), frames={"tool": {"position": (0, 0, 2)}})
    joint = mbvi.Revolute(parent="world", child="arm", axis=(0, 1, 0))
    return mbvi.assemble(mbvi.Model(name="arm", bodies={"arm": body}, joints={"pivot": joint}))


@pytest.mark.parametrize(
    ("name", "given", "missing"),
    [
        ("frame_velocity", {"v": None}, "v"),
        ("frame_jacobian_rate", {"v": None}, "v"),
        ("center_of_mass", {"q": None}, "q"),
        ("frame_acceleration", {"v": [0.0], "a": None}, "a"),
        ("frame_acceleration", {"v": None, "a": [0.0]}, "v"),
        ("inverse_dynamics", {"v": None, "a": [0.0]}, "v"),
        ("forward_dynamics", {"v": [0.0], "forces": None}, "forces"),
    ],
)
def test_what_is_left_out_is_not_taken_as_rest(name, given, missing):
    frame = {"frame": "arm.tool"} if name.startswith("frame") else {}
    with pytest.raises(
        mbvi.ModelError, match=rf"^{missing}: expected an array of shape \(…, 1\), found one of shape \(\)"
    ):
        getattr(arm(), name)(**frame | {"q": [0.0]} | given)


def test_frames_of_bodies_and_the_world():
    system = arm()
    np.testing.assert_allclose(system.frame_velocity("arm.tool", [0.0], [3.0]), [6, 0, 0, 0, 3, 0])
    np.testing.assert_array_equal(system.frame_pose("world", [1.0])[1], np.eye(3))
    np.testing.assert_array_equal(system.frame_jacobian("world", [1.0]), np.zeros((6, 1)))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda s: s.frame_pose("arm.tol", [0.0]),
            "frame: expected a body or BODY.FRAME, found 'arm.tol'; did you mean 'arm.tool'?",
        ),
        (lambda s: s.frame_pose("arm", [0.0, 1.0]), "q: expected an array of shape (…, 1), found one of shape (2,)"),
        (lambda s: s.frame_pose("arm", "a"), "q: expected an array of shape (…, 1), found 'a'"),
        (lambda s: s.frame_pose("arm", [np.nan]), "q: expected finite numbers, found nan at place 0"),
        (
            lambda s: s.frame_velocity("arm", [0.0], [[0.0]] * 2, "local"),
            "reference: expected world or body or world-aligned, found 'local'",
        ),
        (
            lambda s: s.frame_velocity("arm", [[0.0]] * 3, [[0.0]] * 2),
            "q, v: expected as many states of each, found q of shape (3, 1), v of shape (2, 1)",
        ),
    ],
)
def test_what_cannot_be_asked(ask, message):
    with pytest.raises(mbvi.ModelError) as error:
        ask(arm())
    assert str(error.value) == message


def test_coordinates_without_an_orientation_are_refused():
    """Zeros are no coordinates of what turns by a quaternion: all that takes q says so, and nothing is nan."""
    system = mbvi.assemble(load("heavy_top_quaternion"))
    (body,) = (name for name in system.frames if name != "world")
    q, v, rates = np.zeros(4), np.zeros(3), np.zeros(4)
    questions = [
        lambda q: system.frame_pose(body, q),
        lambda q: system.forward_dynamics(q, v, v),
        lambda q: system.tangent_mass_matrix(q),
        lambda q: system.integrate(q, v),
        lambda q: system.rates_of_velocity(q, v),
        lambda q: system.mass_matrix(q),
        lambda q: system.potential(q),
        lambda q: system.gradient(q, rates),
        lambda q: system.project_state(q),
    ]
    text = "expected a unit quaternion (qw, qx, qy, qz) of contact, found the zero quaternion"
    for ask in questions:
        ask(np.array([1.0, 0, 0, 0]))
        with pytest.raises(mbvi.ModelError) as error:
            ask(q)
        assert str(error.value) == f"q: {text}; write for example 1, 0, 0, 0"
    for ask in (lambda q: system.frame_pose(body, q), lambda q: system.poses(body, q)):
        with pytest.raises(mbvi.ModelError) as error:
            ask(np.array([[1.0, 0, 0, 0], q]))
        assert str(error.value) == f"q: {text} in state 1; write for example 1, 0, 0, 0"
    with pytest.raises(mbvi.ModelError, match=r"^start: expected a unit quaternion"):
        mbvi.find_equilibrium(system, q)
    with pytest.raises(mbvi.ModelError, match=r"^start: expected a unit quaternion"):
        system.inverse_kinematics({body: (0, 0, 0)}, start=q)


def test_steps_of_what_is_not_finite_are_refused(tree):
    system, q = tree[0], np.array(tree[0].given_q)
    off, step = np.where(np.arange(len(q)) == 0, np.nan, q), np.zeros(system.nv)
    for ask in (lambda: system.integrate([q, off], step), lambda: system.rates_of_velocity([q, off], step)):
        with pytest.raises(mbvi.ModelError, match=r"^q: expected finite numbers, found nan at place 0 of state 1$"):
            ask()
    with pytest.raises(mbvi.ModelError, match=r"^other: expected finite numbers, found nan at place 0$"):
        system.difference(q, off)
    with pytest.raises(mbvi.ModelError, match=r"^rates: expected finite numbers, found nan at place 0$"):
        system.velocity_of_rates(q, off)


def test_a_lagrangian_has_no_frames():
    import sympy

    q = sympy.Symbol("q")
    system = mbvi.from_sympy([q], [[1]], q**2, name="mass")
    with pytest.raises(mbvi.ModelError) as error:
        system.frame_pose("world", [0.0])
    assert str(error.value) == (
        "mass: expected a system of bodies and joints, as mbvi.assemble makes it, found a Lagrangian of your own, without links; "
        "take System.guiding_forces and System.acceleration"
    )
