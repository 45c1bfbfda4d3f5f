"""Derivatives by differences, and the power of forces, on random trees of all joints with all forces."""

import itertools

import numpy as np
import pytest

import mbvi
from mbvi.model.expressions import evaluate
from mbvi.model.forces import Between, OnJoint, OnTendon
from mbvi.model.rotations import rotation_matrix

from ...system import mechanisms

ALL_FORCES = mechanisms.POTENTIAL + mechanisms.OTHER
SEEDS = range(6)


def push(t, q, v, F):
    F[0] += np.sin(t) * np.cos(q[1]) - 0.3 * v[0] * v[2]
    F[2] += 0.5 * q[0] * v[1]


def derivative(function, step=4e-3):
    """d/ds at s = 0 of a function of s, by central differences of order 8: error about step⁸ or 1e-16/step."""
    offsets, weights = np.arange(1, 5), (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    return sum(w * (function(step * i) - function(-step * i)) for i, w in zip(offsets, weights, strict=True)) / step


def jacobian(function, x):
    """Jacobian of a function by differences, columns last."""
    return np.stack([derivative(lambda s, e=e: function(x + s * e)) for e in np.eye(len(x))], axis=-1)


def close(found, expected, tolerance):
    scale = max(1.0, np.abs(expected).max())
    return np.abs(found - expected).max() < tolerance * scale


@pytest.fixture(params=SEEDS, scope="module")
def forced(request):
    return mbvi.assemble(mechanisms.random_tree(request.param, forces=ALL_FORCES))


@pytest.fixture(params=[True, False], ids=["unit quaternions", "quaternions of norm 1.2"])
def state(forced, request):
    return mechanisms.random_state(forced, 1, on_sphere=request.param)


def test_second_derivatives(forced, state):
    q, v = state
    t = 0.4
    Lvv, Lvq, Kqv, Kqq = forced.second_derivatives(q, v, t)
    by_v = jacobian(lambda x: np.stack(forced.gradient(q, x, t)), v)
    by_q = jacobian(lambda x: np.stack(forced.gradient(x, v, t)), q)
    assert close(Lvv, by_v[0], 1e-11)
    assert close(Lvq, by_q[0], 1e-10)
    assert close(Kqv, by_v[1], 1e-10)
    assert close(Kqq, by_q[1], 1e-9)


def test_momentum_is_mass_times_velocity(forced, state):
    q, v = state
    M = forced.mass_matrix(q)
    assert close(M, M.T, 1e-15)
    assert close(forced.momentum(q, v), M @ v, 1e-14)
    assert close(forced.second_derivatives(q, v)[0], M, 1e-14)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("on_sphere", [True, False])
def test_force_is_derivative_of_lagrangian(seed, on_sphere):
    system = mbvi.assemble(mechanisms.random_tree(seed, forces=mechanisms.POTENTIAL))
    q, v = mechanisms.random_state(system, seed, on_sphere=on_sphere)
    _, f = system.gradient(q, v)
    assert close(f, jacobian(lambda x: system.lagrangian(x, v), q), 1e-10)


def test_second_derivatives_of_a_function_of_force():
    model = mechanisms.random_tree(1)
    with_force, without = mbvi.assemble(model, force=push), mbvi.assemble(model)
    q, v = mechanisms.random_state(without, 2)
    t = 0.3
    F = np.zeros(len(q))
    push(t, q, v, F)
    assert close(with_force.gradient(q, v, t)[1] - without.gradient(q, v, t)[1], F, 1e-14)
    by_v = jacobian(lambda x: with_force.gradient(q, x, t)[1], v)
    by_q = jacobian(lambda x: with_force.gradient(x, v, t)[1], q)
    _, _, Kqv, Kqq = with_force.second_derivatives(q, v, t)
    assert close(Kqv, by_v, 1e-6)  # forward differences of step 1.5e-8
    assert close(Kqq, by_q, 1e-6)


def body_motion(system, body, q, v):
    """Place, rotation, velocity and angular velocity (world) of a body, the last two by differences along q + s v."""

    def pose(s):
        places, rotations = system.poses(body, (q + s * v)[None])
        return np.hstack([rotations[0], places[0][:, None]])

    now, rate = pose(0.0), derivative(pose)
    spin = rate[:, :3] @ now[:, :3].T
    return now[:, 3], now[:, :3], rate[:, 3], np.array([spin[2, 1], spin[0, 2], spin[1, 0]])


def value(component, t):
    return {"t**2": t**2, "sin(t)": np.sin(t), "cos(t)": np.cos(t)}[component]


def distance_and_rate(system, force, q, v):
    """Distance of the two points of a force, and its rate."""
    (xa, Ra, ua, wa), (xb, Rb, ub, wb) = (body_motion(system, body, q, v) for body in (force.body_a, force.body_b))
    a, b = Ra @ np.array(force.point_a), Rb @ np.array(force.point_b)
    r, rate = xb + b - xa - a, ub + np.cross(wb, b) - ua - np.cross(wa, a)
    return np.linalg.norm(r), r @ rate / np.linalg.norm(r)


def length_and_rate(system, force, q, v):
    """Length of a tendon and its rate, by differences along q + s v."""
    names = list(system.coordinate_names)

    def place(body, q, point=(0, 0, 0)):
        if body == "world":
            return np.array(point)
        places, rotations = system.poses(body, q[None])
        return places[0] + rotations[0] @ np.array(point)

    def length(s):
        x = q + s * v
        if force.points:
            ends = [(place(each.body, x, each.point), each.factor) for each in force.points]
            return sum(factor * np.linalg.norm(b - a) for (a, _), (b, factor) in itertools.pairwise(ends))
        known = {axis: lambda body, i=i: place(body, x)[i] for i, axis in enumerate("xyz")}
        return eval(force.length, known | {"sin": np.sin, "q": lambda *name: x[names.index(".".join(name))]})

    return length(0.0), derivative(length)


def power_of_bushing(system, force, q, v):
    """Power of the dampers of a bushing [W], along and about axes of its first body."""
    (xa, Ra, ua, wa), (xb, Rb, ub, wb) = (body_motion(system, body, q, v) for body in (force.body_a, force.body_b))
    axes, b = Ra @ rotation_matrix(force.orientation), Rb @ np.array(force.point_b)
    along = axes.T @ (ub + np.cross(wb, b) - ua - np.cross(wa, xb + b - xa))
    about = axes.T @ (wb - wa)
    return -np.array(force.damping) @ along**2 - np.array(force.turning_damping) @ about**2


def power(system, force, q, v, t):
    """Power of one force [W], from the motion of its points."""
    if isinstance(force, mbvi.Bushing):
        return power_of_bushing(system, force, q, v)
    if isinstance(force, OnJoint):
        rate = v[list(system.coordinate_names).index(f"{force.joint}.{force.coordinate}")]
    elif isinstance(force, Between):
        _, rate = distance_and_rate(system, force, q, v)
    elif isinstance(force, OnTendon):
        length, rate = length_and_rate(system, force, q, v)
    match force.type:
        case "joint_damper" | "damper" | "tendon_damper":
            return -force.damping * rate**2
        case "joint_force":
            return value(force.value, t) * rate
        case "motor" | "position_servo" | "velocity_servo" | "actuator":
            at = list(system.coordinate_names).index(f"{force.joint}.{force.coordinate}")
            by_input, bias, by_place, by_rate = force.factors()
            pull = by_input * np.exp(-t) * np.cos(3 * t) + bias + force.gear * (by_place * q[at] + by_rate * rate)
            return force.gear * pull * rate
        case "tendon_actuator":
            by_input, bias, by_place, by_rate = force.factors()
            pull = by_input * np.exp(-t) * np.cos(3 * t) + bias + force.gear * (by_place * length + by_rate * rate)
            return force.gear * pull * rate
        case "frame_actuator":
            _, R, u, w = body_motion(system, force.body, q, v)
            axes = R @ rotation_matrix(force.orientation)
            along, about = axes @ np.array(force.force), axes @ np.array(force.torque)
            rate = along @ (u + np.cross(w, R @ np.array(force.point))) + about @ w
            return (force.gain * np.exp(-t) * np.cos(3 * t) + force.bias - force.damping * rate) * rate
        case "force" | "torque":
            _, R, u, w = body_motion(system, force.body, q, v)
            vector = np.array([value(c, t) if isinstance(c, str) else c for c in force.vector])
            vector = R @ vector if force.frame == "body" else vector
            return vector @ w if force.type == "torque" else vector @ (u + np.cross(w, R @ np.array(force.point)))
        case _:  # of a force with a law of its own, what its expression says
            fields = {key: each for key, each in vars(force).items() if isinstance(each, float)}
            return evaluate(force.force_of_rate, fields | {"x": rate}) * rate


@pytest.mark.parametrize("kind", mechanisms.OTHER)
@pytest.mark.parametrize("seed", SEEDS[:3])
def test_power_balance(seed, kind):
    """Along the acceleration, dE/dt is the power of the forces that derive from no potential."""
    model = mechanisms.without_tables(mechanisms.random_tree(seed, forces=(*mechanisms.POTENTIAL, kind)))
    system = mbvi.assemble(model)
    q, v = mechanisms.random_state(system, seed)
    t = 0.6
    a = system.acceleration(q, v, t)
    s = 4e-3 / max(1.0, np.abs(a).max() / np.abs(v).max())
    rate = derivative(lambda s: system.energy(q + s * v, v + s * a, t), s)
    forces = [force for name, force in model.forces.items() if name.startswith(kind)]
    expected = sum(power(system, force, q, v, t) for force in forces)
    p, f = system.gradient(q, v, t)
    scale = np.abs(v) @ np.abs(f) + np.abs(a) @ np.abs(p)  # of the terms that cancel in the rate
    assert abs(expected) > 1e-7 * scale
    assert abs(rate - expected) < 1e-10 * scale


def test_forces_without_potential_are_separated():
    for kind in mechanisms.POTENTIAL:
        assert mbvi.assemble(mechanisms.random_tree(0, forces=(kind,))).is_conservative
    for kind in mechanisms.OTHER:
        assert not mbvi.assemble(mechanisms.random_tree(0, forces=(kind,))).is_conservative
