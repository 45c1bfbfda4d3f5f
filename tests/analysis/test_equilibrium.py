"""Statics against closed forms: springs, loops, reactions without a degree of freedom, stability, buckling."""

import numpy as np
import pytest

import mbvi
from mbvi.analysis.equilibrium import buckling_factors, find_equilibrium

COLUMN = """
name: column of two rods
parameters: {length: 0.7, stiffness: 3, load: 1}
gravity: [0, 0, 0]
bodies:
  lower: {mass: 1, inertia: [1, 1, 1]}
  upper: {mass: 1, inertia: [1, 1, 1], points: {top: [0, 0, length]}}
joints:
  foot: {type: revolute, parent: world, child: lower, axis: [0, 1, 0]}
  knee: {type: revolute, parent: lower, child: upper, axis: [0, 1, 0], position: [0, 0, length]}
forces:
  at foot: {type: joint_spring, joint: foot, stiffness: stiffness}
  at knee: {type: joint_spring, joint: knee, stiffness: stiffness}
  weight: {type: force, body: upper, point: top, vector: [0, 0, -load]}
"""


def pendulum(angle, **more):
    bob = mbvi.Body(mass=2, center_of_mass=(0, 0, -0.5))
    pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    parts = {"bodies": {"bob": bob}, "joints": {"pivot": pivot}, "gravity": (0, 0, -9.81), **more}
    return mbvi.Model(name="pendulum", initial={"pivot": {"position": angle}}, **parts)


def test_a_pendulum_hangs():
    found = find_equilibrium(pendulum(2.5))
    assert abs(found.q[0]) < 1e-9 and found.stability == "stable"
    np.testing.assert_allclose(found.stiffnesses, [2 * 9.81 * 0.5], rtol=1e-9)
    upright = find_equilibrium(pendulum(np.pi))
    assert upright.q[0] == pytest.approx(np.pi) and upright.stability == "unstable" and not upright.is_stable


def test_nothing_is_left_at_rest():
    """Acceleration of what is found, of which Newton's method has more digits than its tolerance asks for."""
    spring = mbvi.Spring(
        body_a="world", point_a=(1, 0, 1), body_b="bob", point_b=(0, 0, -0.5), stiffness=7.0, rest_length=0.3
    )
    found = find_equilibrium(pendulum(-1.35, forces={"spring": spring}))
    assert abs(found.q[0]) > 0.1
    np.testing.assert_allclose(found.system.acceleration(found.q, [0.0]), 0.0, rtol=0, atol=1e-13)


def test_a_torque_and_a_spring():
    """A motor's torque, which derives from no potential, and a torsion spring: k q = τ − m g l sin q."""
    forces = {
        "spring": mbvi.JointSpring(joint="pivot", stiffness=30.0),
        "motor": mbvi.JointForce(joint="pivot", value="4 + t"),
    }
    found = find_equilibrium(pendulum(0.0, forces=forces), t=1.0)
    assert 30.0 * found.q[0] + 9.81 * np.sin(found.q[0]) == pytest.approx(5.0, rel=1e-9)
    assert found.forces(["motor"])["motor"].values.tolist() == [[5.0]]


def test_a_beam_on_two_supports():
    """No degree of freedom: a weight of 30 N at a third of the length."""
    beam = mbvi.Body(mass=3, center_of_mass=(1, 0, 0))
    left = mbvi.Revolute(parent="world", child="beam", axis=(0, 1, 0))
    right = mbvi.PointOnLine(body_a="world", point_a=(3, 0, 0), body_b="beam", point_b=(3, 0, 0), direction=(1, 0, 0))
    parts = {"bodies": {"beam": beam}, "joints": {"left": left}, "constraints": {"right": right}}
    found = find_equilibrium(mbvi.Model(name="beam", gravity=(0, 0, -10), **parts))
    assert found.stability == "rigid" and found.is_stable and found.stiffnesses.shape == (0,)
    forces = found.forces()
    np.testing.assert_allclose(forces["right"].values[0, :3], [0, 0, 10], atol=1e-9)
    np.testing.assert_allclose(forces["left"].values[0, :3], [0, 0, 20], atol=1e-9)


def test_a_column_buckles():
    """Two rods with springs: (3 ∓ √5)/2 · stiffness/length, by det(K₀ − P K₁) = 0."""
    model = mbvi.from_yaml(COLUMN)
    expected = (3 + np.array([-1, 1]) * np.sqrt(5)) / 2 * 3 / 0.7
    np.testing.assert_allclose(buckling_factors(model, "weight"), expected, rtol=1e-10)
    below, above = (find_equilibrium(model.with_parameters({"load": factor * expected[0]})) for factor in (0.99, 1.01))
    assert below.stability == "stable" and above.stability == "unstable"


def test_what_is_wrong():
    with pytest.raises(mbvi.ModelError) as caught:
        buckling_factors(mbvi.from_yaml(COLUMN), "wait")
    assert str(caught.value) == "load: expected gravity or a force, found 'wait'; did you mean 'weight'?"
    aside = mbvi.from_yaml(COLUMN.replace("[0, 0, -load]", "[load, 0, 0]"))
    with pytest.raises(mbvi.ModelError, match="a load that moves it bends it"):
        buckling_factors(aside, "weight")
    falling = mbvi.Model(
        name="stone",
        bodies={"stone": mbvi.Body(mass=1)},
        joints={"rail": mbvi.Prismatic(parent="world", child="stone", axis=(0, 0, 1))},
    )
    with pytest.raises(
        mbvi.ModelError, match=r"stone: expected an equilibrium, found forces left on rail.displacement"
    ):
        find_equilibrium(falling)


def scales(height):
    """A load on a spring, over a floor; it rests 0.1962 m below the start."""
    return mbvi.from_yaml(f"""
name: scales
gravity: [0, 0, -9.81]
bodies: {{load: {{mass: 2}}}}
joints: {{rail: {{type: prismatic, parent: world, child: load, axis: [0, 0, 1]}}}}
forces: {{spring: {{type: joint_spring, joint: rail, stiffness: 100}}}}
contacts: {{floor: {{type: plane_stop, body_a: world, body_b: load, normal: [0, 0, 1], point_a: [0, 0, {height}]}}}}
""")


def test_stops_hold_nothing_and_may_not_be_passed():
    assert find_equilibrium(scales(-0.2)).q == pytest.approx([-0.1962], abs=1e-12)
    text = (
        "scales: expected an equilibrium that stops allow, found floor passed by 0.0962; stops hold nothing here: take a "
        "constraint in the place of what holds it"
    )
    with pytest.raises(mbvi.ModelError) as error:
        find_equilibrium(scales(-0.1))
    assert str(error.value) == text
    with pytest.raises(mbvi.ModelError) as error:
        mbvi.linearize(scales(-0.1), at=[-0.1962])
    assert str(error.value) == text
    assert mbvi.linearize(scales(-0.2), at=[-0.1962]).squares == pytest.approx([50.0], rel=1e-12)
    with pytest.raises(
        mbvi.ModelError, match="let it rest on something; stops and dry friction of its contacts hold not"
    ):
        find_equilibrium(scales(0).replaced({"forces": {}}))


def test_dry_friction_is_said_to_be_left_out():
    rubbing = scales(-0.2).replaced({"contacts": {"rub": mbvi.DryFriction(joint="rail", kinetic=3)}})
    with pytest.warns(mbvi.errors.ModelWarning) as warned:
        found = find_equilibrium(rubbing)
    assert found.q == pytest.approx([-0.1962], abs=1e-12)
    assert str(warned[0].message) == (
        "scales: dry friction is left out, of rub; with it the system may also rest where other forces are left"
    )


def test_a_damped_pendulum_falls_from_where_nothing_stiffens():
    """At 90° the stiffness is 0; with a damper there is no potential by which steps are chosen."""
    damped = pendulum(np.pi / 2, forces={"oil": mbvi.JointDamper(joint="pivot", damping=0.1)})
    found = find_equilibrium(damped)
    assert np.sin(found.q[0]) == pytest.approx(0, abs=1e-10)
    assert found.stability == "stable"


def test_forces_that_are_rounding_do_not_bend():
    """Of a pendulum that hangs the forces left are rounding: gravity does not move it, nor can it buckle."""
    bodies = {"bob": mbvi.Body(mass=2, center_of_mass=(0, 0, 0.5))}
    found = find_equilibrium(pendulum(3.0).replaced({"bodies": bodies}))
    assert found.q == pytest.approx([np.pi], abs=1e-12)
    assert buckling_factors(found).tolist() == []
