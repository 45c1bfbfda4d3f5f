"""Reactions of joints of the spanning tree, in loops: against those of the embedding, and by Newton's and Euler's laws."""

import numpy as np
import pytest
import sympy

import mbvi
from mbvi.system.reactions import known_names, reactions

OFFSET = """
name: offset four-bar
bodies:
  crank: {mass: 1, center_of_mass: [0.1, 0.05, 0], inertia: [0.01, 0.02, 0.03]}
  coupler: {mass: 1, center_of_mass: [0.2, -0.1, 0.02], inertia: [0.02, 0.02, 0.03, 0.002, 0, 0.001]}
  rocker: {mass: 1, center_of_mass: [0.1, 0.02, 0], inertia: [0.01, 0.02, 0.03]}
joints:
  shaft: {type: revolute, parent: world, child: crank, axis: [0, 1, 0]}
  pin: {type: revolute, parent: crank, child: coupler, axis: [0, 1, 0], position: [0.2, 0, 0]}
  support: {type: revolute, parent: world, child: rocker, axis: [0, 1, 0], position: [0.4, 0, 0]}
  end: {type: revolute, parent: coupler, child: rocker, axis: [0, 1, 0], position: [0.4, 0, 0], offset: [0.3, 0, 0]}
forces:
  coil: {type: spring, body_a: world, point_a: [0, 0, 1], body_b: coupler, point_b: [0.2, 0.1, 0], stiffness: 20}
  return: {type: joint_spring, joint: pin, stiffness: 2}
initial: {shaft: {position: 60 deg, velocity: 3}}
simulation: {scheme: gauss3, step: 1/1000, duration: 0.1}
"""


def wrenches(motion):
    """Forces and torques about the world's origin (states, 3) on the child of every joint."""
    names = [name for name in known_names(motion.system) if name in motion.system.model.joints]
    found = {}
    for name, (force, torque) in zip(names, motion.reactions(names), strict=True):
        joint = motion.system.model.resolved().joints[name]
        place, rotation = motion.pose(joint.parent)
        found[name] = force, torque + np.cross(place + rotation @ np.array(joint.position), force)
    return found


def momentum_rates(motion, body):
    """Rates of the momentum and of the angular momentum about the world's origin, by differences of order 4."""
    mass, center, inertia = mbvi.mass_properties(motion.system.model.resolved().bodies[body])
    place, rotation = motion.pose(body)
    x, h = place + rotation @ center, motion.step

    def rate(values):
        return (8 * (values[3:-1] - values[1:-3]) - (values[4:] - values[:-4])) / (12 * h)

    velocity, spin = rate(x), rate(rotation)
    rotation, x = rotation[2:-2], x[2:-2]
    turn = spin @ rotation.transpose(0, 2, 1)
    omega = np.stack([turn[:, 2, 1], turn[:, 0, 2], turn[:, 1, 0]], axis=1)
    inertial = rotation @ inertia @ rotation.transpose(0, 2, 1)
    angular = np.einsum("fij,fj->fi", inertial, omega) + mass * np.cross(x, velocity)
    return rate(mass * velocity), rate(angular)


def test_all_forces_on_a_body_change_its_momentum():
    """Also out of the plane, where constraints are redundant."""
    motion = mbvi.simulate(mbvi.from_yaml(OFFSET))
    assert motion.system.mobility.redundant == 3
    on_children, g = wrenches(motion), np.array([0, 0, -9.81])
    model = motion.system.model.resolved()
    hook = motion.pose("coupler")[0] + motion.pose("coupler")[1] @ [0.2, 0.1, 0]
    pull = 20 * ([0, 0, 1] - hook)
    for body in motion.system.body_names:
        mass, center, _ = mbvi.mass_properties(model.bodies[body])
        place, rotation = motion.pose(body)
        force = mass * g + (pull if body == "coupler" else 0.0)
        moment = np.cross(place + rotation @ center, mass * g) + (np.cross(hook, pull) if body == "coupler" else 0.0)
        for name, joint in model.joints.items():
            sign = 1 if joint.child == body else -1 if joint.parent == body else 0
            force, moment = force + sign * on_children[name][0], moment + sign * on_children[name][1]
        change, turn = momentum_rates(motion, body)
        # two differences of order 4 in steps of 0.001 s
        np.testing.assert_allclose(force[4:-4], change, rtol=0, atol=1e-6 * np.abs(change).max())
        np.testing.assert_allclose(moment[4:-4], turn, rtol=0, atol=1e-6 * np.abs(turn).max())
    assert max(np.abs(force[:, 1]).max() for force, _ in on_children.values()) > 0.1


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "chain_10", "branched_tree", "stewart_platform"])
def test_they_are_those_of_the_embedding(name, models):
    tree, whole = (mbvi.assemble(mbvi.load(models / f"{name}.yaml"), each) for each in ("tree", "embedding"))
    motion, other = (mbvi.simulate(system, "gauss3", step=0.001, duration=0.05) for system in (tree, whole))
    names = known_names(tree)
    assert set(known_names(whole)) == set(names) and len(names) >= len(tree.model.joints) - 1
    found, expected = motion.reactions(names), other.reactions(names)
    for i in range(2):
        np.testing.assert_allclose(
            found[:, i], expected[:, i], rtol=0, atol=1e-6 * max(1e-3, np.abs(expected[:, i]).max())
        )


def test_of_a_pendulum():
    """Centripetal force and weight along the rod; across it, what the weight does not accelerate."""
    bob = mbvi.Body(mass=2, center_of_mass=(0, 0, -0.5), inertia=(0.3, 0.3, 0.01))
    pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    initial = {"pivot": mbvi.Initial(position=1.0, velocity=2.0)}
    model = mbvi.Model(name="a", bodies={"bob": bob}, joints={"pivot": pivot}, initial=initial)
    motion = mbvi.simulate(model, "gauss3", step=0.01, duration=1)
    angle, rate, about = motion.q[:, 0], motion.v[:, 0], 0.3 + 2 * 0.5**2
    turn = -2 * 9.81 * 0.5 * np.sin(angle) / about
    down, aside = (np.stack(each, axis=1) for each in (
        (-np.sin(angle), 0 * angle, -np.cos(angle)), (-np.cos(angle), 0 * angle, np.sin(angle))
    ))  # fmt: skip
    acceleration = 0.5 * (turn[:, None] * aside - (rate**2)[:, None] * down)
    force, torque = motion.reaction("pivot")
    np.testing.assert_allclose(force, 2 * (acceleration - [0, 0, -9.81]), rtol=0, atol=1e-9)
    np.testing.assert_allclose(torque, 0, rtol=0, atol=1e-9)


def test_what_has_none(models):
    motion = mbvi.simulate(mbvi.load(models / "heavy_top_quaternion.yaml"), duration=0.01)
    message = "reaction: expected a joint other than a free one, or a constraint between bodies, found 'hinge'; known: "
    with pytest.raises(mbvi.ModelError, match=message):
        motion.reaction("hinge")
    x = sympy.Symbol("x")
    with pytest.raises(mbvi.ModelError, match=r"found 'a'; known: none$"):
        mbvi.simulate(mbvi.from_sympy([x], [[1]], x**2), step=0.1, duration=1).reaction("a")


def test_with_a_force_of_ones_own_only_joints_that_are_cut_have_reactions(models):
    system = mbvi.assemble(mbvi.load(models / "four_bar.yaml"), force=lambda t, q, v, F: None)
    assert known_names(system) == ["rocker pin"]
    motion = mbvi.simulate(system, duration=0.01)
    assert np.isfinite(reactions(system, ["rocker pin"], motion.t, motion.q, motion.v, motion.multipliers)).all()


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_of_balls_whose_parent_is_the_outer_body(formulation):
    """Newton's law for a slider on which a body hangs by two balls, as on a hinge: constraints are redundant, and those of a ball
    that has coordinates are not along the axes of one that has none.
    """
    axis, angle = np.array([1, 0, 0.3]) / np.hypot(1, 0.3), -1.0
    run = mbvi.simulate(
        mbvi.Model(
            name="a",
            gravity=(0, 0, -10),
            bodies={
                "slider": mbvi.Body(mass=1, inertia=(1, 1, 1)),
                "flap": mbvi.Body(mass=1, center_of_mass=(0, 0.5, 0), inertia=(0.1, 0.1, 0.1)),
            },
            joints={
                "rail": mbvi.Prismatic(parent="world", child="slider", axis=(0, 0, 1)),
                "one": mbvi.Ball(parent="flap", child="slider"),
                "other": mbvi.Ball(parent="flap", child="slider", position=(1, 0, 0.3), offset=(1, 0, 0.3)),
            },
            initial={"one": mbvi.Initial(position=(np.cos(angle / 2), *(np.sin(angle / 2) * axis)))},
            forces={
                "spring": mbvi.model.Spring(
                    body_a="world", body_b="flap", point_a=(0.7, 0, 2), point_b=(0.2, 0.3, 0), stiffness=30
                )
            },
        ),
        "gauss4",
        0.001,
        0.02,
        formulation=formulation,
    )
    held = sum(run.reaction(name)[0] for name in ("rail", "one", "other")) + np.array([0, 0, -10])
    place = run.pose("slider")[0]
    accelerations = (place[2:] - 2 * place[1:-1] + place[:-2]) / 0.001**2  # to about 1e-4 m/s²
    np.testing.assert_allclose(held[1:-1], accelerations, rtol=0, atol=1e-3)
    assert np.abs(run.reaction("rail")[0][:, 0]).min() > 10
