"""Inertia of coordinates by themselves, as of rotors on joints: M, its derivatives, and motions in both formulations."""

import numpy as np
import pytest

import mbvi
from mbvi.exact.pendulum import Pendulum

from . import mechanisms

INERTIA = 0.7


def with_armature(model, value=INERTIA):
    """The model with an inertia of every coordinate that is not of a quaternion."""
    joints = {}
    for name, joint in model.joints.items():
        names = [each for each in joint.coordinate_names if not each.startswith("q")]
        joints[name] = joint.model_copy(update={"armature": {each: value + i for i, each in enumerate(names)}})
    return model.model_copy(update={"joints": joints})


def diagonal(system):
    """The inertia of every coordinate."""
    found = np.zeros(system.dimension)
    for i, name in enumerate(system.coordinate_names):
        joint, short = name.rsplit(".", 1)
        found[i] = system.model.joints[joint].armatures.get(short, 0.0)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_it_is_on_the_diagonal_of_the_mass_matrix(seed):
    plain = mechanisms.random_tree(seed, forces=("joint spring",))
    system, without = mbvi.assemble(with_armature(plain)), mbvi.assemble(plain)
    q, v = mechanisms.random_state(system, seed, on_sphere=False)
    A = np.diag(diagonal(system))
    M = without.mass_matrix(q) + A
    np.testing.assert_allclose(system.mass_matrix(q), M, rtol=0, atol=1e-13 * np.abs(M).max())
    p, f = system.gradient(q, v)
    np.testing.assert_allclose(p, M @ v, rtol=0, atol=1e-13 * np.abs(M @ v).max())
    np.testing.assert_array_equal(f, without.gradient(q, v)[1])
    found, expected = system.second_derivatives(q, v), without.second_derivatives(q, v)
    np.testing.assert_allclose(found[0], M, rtol=0, atol=1e-13 * np.abs(M).max())
    for one, other in zip(found[1:], expected[1:], strict=True):
        np.testing.assert_array_equal(one, other)
    assert system.kinetic_energy(q, v) == pytest.approx(without.kinetic_energy(q, v) + v @ A @ v / 2, rel=1e-12)


@pytest.mark.parametrize("name", ["double_pendulum", "branched_tree", "four_bar", "heavy_top_quaternion", "chain_10"])
def test_velocities_follow_from_momenta(name, models):
    """By articulated bodies in trees, by elimination in loops."""
    system = mbvi.assemble(with_armature(mbvi.load(models / f"{name}.yaml")))

    def velocity(p):
        return system.velocities(np.zeros(1), system.initial_q[None], p[None])[0]

    v = velocity(np.linspace(1, 2, system.dimension))
    np.testing.assert_allclose(
        velocity(system.mass_matrix(system.initial_q) @ v), v, rtol=0, atol=1e-11 * np.abs(v).max()
    )


def cart(formulation="tree", **given):
    """A pendulum on a cart on a slope, with rotors on both joints."""
    rail = mbvi.Prismatic(parent="world", child="cart", axis=(1, 0, 0.2), armature=0.5)
    pivot = mbvi.Revolute(parent="cart", child="bob", axis=(0, 1, 0), armature={"angle": "0.01*6**2"})
    bob = mbvi.Body(mass=1, center_of_mass=(0.1, 0.2, -0.8), inertia=(0.1, 0.2, 0.15))
    cart = mbvi.Body(mass=2, inertia=(1, 1, 1))
    start = {"pivot": mbvi.Initial(position=1.0, velocity=2.0), "rail": mbvi.Initial(velocity=-1.0)}
    parts = {"bodies": {"cart": cart, "bob": bob}, "joints": {"rail": rail, "pivot": pivot}, "initial": start}
    return mbvi.Model(name="cart", formulation=formulation, **parts, **given)


def test_it_moves_alike_in_both_formulations():
    runs = [mbvi.simulate(cart(each), "gauss4", step=0.01, duration=1) for each in ("tree", "embedding")]
    for body in ("cart", "bob"):
        for one, other in zip(runs[0].pose(body), runs[1].pose(body), strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-10)
    np.testing.assert_allclose(*(run.energy() for run in runs), rtol=0, atol=1e-10)
    for run in runs:
        assert np.ptp(run.energy()) < 1e-10


SCHEMES = ("midpoint", "rattle", "gauss3", "gauss6", "yoshida6", "direct_midpoint", "parabolic_path", "chorin", "rk4")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_pendulum_with_a_rotor_is_a_longer_one(scheme):
    """Of the length (m ℓ² + A)/(m ℓ)."""
    bob = mbvi.Body(mass=2, center_of_mass=(0, 0, -0.5))
    pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0), armature=0.25)
    start = {"pivot": mbvi.Initial(position=1.2, velocity=0.5)}
    model = mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot}, initial=start)
    exact = Pendulum(length=0.75, gravity=9.81, angle=1.2, rate=0.5)
    errors = []
    for step in (0.04, 0.02):
        run = mbvi.simulate(model, scheme, step=step, duration=1)
        errors.append(np.abs(run.q[:, 0] - exact(run.t)[0]).max())
    order = mbvi.catalog.find_scheme(scheme).order
    assert errors[1] < 1e-11 or np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)


def test_a_rotor_alone_may_move():
    """θ = τ t²/(2 A): nothing else has inertia about the axis."""
    joint = mbvi.Revolute(parent="world", child="flange", axis=(0, 0, 1), armature=0.2)
    push = mbvi.JointForce(joint="shaft", value=0.3)
    model = mbvi.Model(name="rotor", bodies={"flange": mbvi.Body()}, joints={"shaft": joint}, forces={"push": push})
    run = mbvi.simulate(model, "midpoint", step=0.01, duration=1)
    np.testing.assert_allclose(run.q[:, 0], 0.3 * run.t**2 / 0.4, rtol=0, atol=1e-13)
    with pytest.raises(mbvi.ModelError, match="expected mass or inertia that the joint moves"):
        model.model_copy(update={"joints": {"shaft": joint.model_copy(update={"armature": 0})}}).resolved()


@pytest.mark.parametrize(
    ("joint", "armature", "message"),
    [
        (mbvi.Revolute, -1, "joints.j.armature.angle: expected an inertia of at least 0, found -1; change its sign"),
        (mbvi.Revolute, {"angel": 1}, "joints.j.armature.angel: expected an angle or a displacement, found .angel.; did you"),
        (mbvi.Cylindrical, 1, "joints.j.armature: expected the inertia of one coordinate, found 1 for angle, displacement; name"),
        (mbvi.Ball, 1, "joints.j.armature: expected the inertia of one coordinate, found 1 for qw, qx, qy, qz; leave it out"),
        (mbvi.Revolute, "1 deg", "joints.j.armature: expected a value in kg m² or kg, found '1 deg', which is in rad; "),
    ],
)  # fmt: skip
def test_what_is_no_inertia_of_a_coordinate(joint, armature, message):
    axis = {} if joint is mbvi.Ball else {"axis": (0, 1, 0)}
    parts = {"bodies": {"b": mbvi.Body(mass=1, inertia=(1, 1, 1))}}
    with pytest.raises(mbvi.ModelError, match="^" + message.replace("[", r"\[")):
        mbvi.Model(name="m", joints={"j": joint(parent="world", child="b", armature=armature, **axis)}, **parts)


def test_momenta_of_what_floats_are_conserved():
    """A rotor that turns in its link adds nothing to the total, which the base alone carries."""
    model = mbvi.Model(
        name="floating",
        gravity=(0, 0, 0),
        bodies={name: mbvi.Body(mass=1, center_of_mass=(0.1, 0, 0.2), inertia=(1, 1.5, 2)) for name in ("base", "arm")},
        joints={
            "fly": mbvi.Free(parent="world", child="base"),
            "elbow": mbvi.Revolute(parent="base", child="arm", axis=(0, 1, 0), position=(0, 0, 0.5), armature=0.8),
        },
        forces={"motor": mbvi.Motor(joint="elbow", input="sin(5*t)", gear=3)},
        initial={"fly": mbvi.Initial(velocity=(0.1, 0.2, 0, 1, -2, 0.5))},
    )
    run = mbvi.simulate(model, "gauss3", step=0.02, duration=0.5)
    names = [f"{kind} momentum ({axis})" for kind in ("linear", "angular") for axis in "xyz"]
    assert set(names) <= set(run.momenta())
    for name in names:
        assert np.ptp(run.momenta()[name]) < 1e-13
