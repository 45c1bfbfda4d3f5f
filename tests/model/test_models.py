"""The models that come with mbvi: each loads, validates against the schema, and is what its comment says."""

import math
import re
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import yaml

import mbvi.model as mm
from mbvi.errors import ModelError
from mbvi.model.rotations import rotation_matrix
from tests.folders import MODELS, load
from tests.marks import campaign

FILES = sorted(MODELS.glob("*.yaml"))
NAMES = {
    "pendulum",
    "double_pendulum",
    "lagrange_top",
    "lagrange_top_cusps",
    "free_rigid_body",
    "chain_10",
    "branched_tree",
    "gantry_crane",
    "gyroscope",
    "spring_damper",
    "four_bar",
    "slider_crank",
    "bricard",
    "n_four_bars",
    "stewart_platform",
    "necklace_50",
    "rope_1000",
    "pendulum_cartesian",
    "spherical_pendulum",
    "double_spherical_pendulum",
    "free_rigid_body_quaternion",
    "heavy_top_quaternion",
    "rattleback",
    "bicycle",
}


def resolved(name):
    return load(name).resolved()


def test_all_are_there():
    assert {path.stem for path in FILES} >= NAMES


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_model(path):
    model = mm.load(path)
    assert model.description
    assert mm.from_yaml(mm.to_yaml(model)) == model
    assert len(mm.plan(model).branches) == len(model.bodies)
    total = sum(mm.mass_properties(body, model.folder).mass for body in model.resolved().bodies.values())
    assert total > 0
    jsonschema.validate(yaml.safe_load(path.read_text(encoding="utf-8")), mm.schema())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_opening_comment(path):
    first, *rest = path.read_text(encoding="utf-8").splitlines()
    reference = first.removeprefix("# yaml-language-server: $schema=")
    assert (path.parent / reference).resolve() == Path(mm.__file__).with_name("schema.json").resolve()
    assert any(line.startswith("# Look for:") for line in rest)
    assert max(map(len, rest)) <= 120


def test_double_pendulum_is_that_of_the_paper():
    model = resolved("double_pendulum")
    length = 9.81 / (2 * math.pi) ** 2
    for name in ("upper", "lower"):
        found = mm.mass_properties(model.bodies[name])
        assert found.mass == 1.0
        np.testing.assert_allclose(found.center_of_mass, (0, 0, -length), rtol=1e-15)
        assert not found.inertia.any()
    assert model.joints["elbow"].position == pytest.approx((0, 0, -length))
    angles = np.cumsum([model.initial["shoulder"].position[0], model.initial["elbow"].position[0]])
    np.testing.assert_allclose(angles, (math.pi / 4, math.pi / 3), rtol=1e-15)


def test_lagrange_top_is_that_of_the_paper():
    model = resolved("lagrange_top")
    found = mm.mass_properties(model.bodies["top"])
    across = 0.002329969592394382 - 0.1 * 0.15**2
    np.testing.assert_allclose(found.inertia, np.diag((across, across, 0.000125)), rtol=1e-12)
    assert (found.mass, *found.center_of_mass) == (0.1, 0, 0, 0.15)
    assert model.joints["contact"].coordinate_names == ("phi", "theta", "psi")
    assert model.initial["contact"].velocity == (9.2, 0.0, 252.0)


def test_lagrange_top_with_cusps_is_that_of_the_paper():
    model = resolved("lagrange_top_cusps")
    np.testing.assert_array_equal(mm.mass_properties(model.bodies["top"]).inertia, np.diag((1, 1, 2)))
    assert model.forces["pull"].vector == pytest.approx((0, 0, -4 * math.pi**2))
    assert model.forces["pull"].point == (0.0, 0.0, 1.0)
    assert model.gravity == (0.0, 0.0, 0.0)


def test_chain_is_of_thin_rods():
    model = resolved("chain_10")
    found = mm.mass_properties(model.bodies["rod7"])
    np.testing.assert_allclose(found.inertia, np.diag((0, 0.2**2 / 12, 0.2**2 / 12)), rtol=0, atol=1e-18)
    np.testing.assert_array_equal(found.center_of_mass, (0.1, 0, 0))
    assert len(model.bodies) == 10


def test_puppet_is_symmetric():
    model = resolved("branched_tree")
    for name in model.bodies:
        if name.startswith("left "):
            left, right = (mm.mass_properties(model.bodies[side + name[4:]]) for side in ("left", "right"))
            np.testing.assert_array_equal(left.inertia, right.inertia)
    left, right = (np.array(model.joints[f"{side} shoulder"].position) for side in ("left", "right"))
    np.testing.assert_array_equal(left * (1, -1, 1), right)


def poses_at_zero(model):
    """Place and rotation matrix of every body with all coordinates zero, along the spanning tree."""
    poses = {"world": (np.zeros(3), np.eye(3))}
    for branch in mm.plan(model).branches:
        joint = model.joints[branch.joint]
        place, rotation = poses[branch.inner]
        turn = rotation_matrix(joint.orientation)
        if branch.is_reversed:
            rotation = rotation @ turn.T
            at = place + poses[branch.inner][1] @ joint.offset
            poses[branch.outer] = at - rotation @ joint.position, rotation
        else:
            at = place + rotation @ joint.position
            poses[branch.outer] = at - rotation @ turn @ joint.offset, rotation @ turn
    return poses


@pytest.mark.parametrize("name", ["slider_crank", "bricard", "n_four_bars", "stewart_platform", "necklace_50"])
def test_loops_are_closed_at_zero_coordinates(name):
    model = resolved(name)
    poses, chords = poses_at_zero(model), mm.plan(model).chords
    assert chords
    for joint in (model.joints[name] for name in chords):
        (parent, R_parent), (child, R_child) = poses[joint.parent], poses[joint.child]
        np.testing.assert_allclose(
            parent + R_parent @ joint.position, child + R_child @ joint.offset, rtol=0, atol=1e-14
        )
        np.testing.assert_allclose(R_parent @ rotation_matrix(joint.orientation), R_child, rtol=0, atol=1e-13)


def test_four_bar_is_a_crank_rocker():
    lengths = sorted(
        mm.load(MODELS / "four_bar.yaml").parameters[key] for key in ("ground", "crank", "coupler", "rocker")
    )
    assert lengths[0] == 0.3
    assert lengths[0] + lengths[3] < lengths[1] + lengths[2]


def test_stewart_platform_is_upright():
    poses = poses_at_zero(resolved("stewart_platform"))
    place, rotation = poses["plate"]
    np.testing.assert_allclose(place, (0, 0, 1.2), rtol=0, atol=1e-15)
    np.testing.assert_allclose(rotation, np.eye(3), rtol=0, atol=1e-15)


@pytest.mark.parametrize(("name", "bodies", "chords"), [("necklace_50", 50, 1), ("rope_1000", 1000, 0)])
def test_chains_in_the_embedding(name, bodies, chords):
    model = resolved(name)
    plan = mm.plan(model)
    assert (model.formulation, len(model.bodies), len(plan.chords)) == ("embedding", bodies, chords)
    assert [branch.outer for branch in plan.branches] == list(model.bodies)


@pytest.mark.parametrize("name", ["pendulum_cartesian", "spherical_pendulum", "double_spherical_pendulum"])
def test_pendulums_of_points(name):
    """Point masses at the ends of massless rods, on universal joints: in the embedding they are points."""
    model = resolved(name)
    assert model.formulation == "embedding"
    for body in model.bodies.values():
        found = mm.mass_properties(body)
        assert found.mass > 0 and not found.inertia.any()
    assert {joint.type for joint in model.joints.values()} == {"universal"}


def test_free_rigid_body_is_that_of_the_paper():
    model = resolved("free_rigid_body_quaternion")
    found = mm.mass_properties(model.bodies["body"])
    np.testing.assert_array_equal(found.inertia, np.diag((1, 2, 3)))
    np.testing.assert_array_equal(found.center_of_mass, (0, 0, 0))
    assert model.initial["center"].velocity == (0.0, 3.0, 4.0)
    (plate,) = model.bodies["body"].shapes
    x, y, z = plate.size
    np.testing.assert_allclose((y**2 / 12, x**2 / 12, (x**2 + y**2) / 12), (1, 2, 3), rtol=1e-15)


def test_heavy_top_nearly_passes_straight_down():
    """About the point of contact, momenta about the vertical and about the axis at the start are nearly opposite."""
    model = resolved("heavy_top_quaternion")
    found = mm.mass_properties(model.bodies["top"])
    _, spin, precession = model.initial["contact"].velocity
    across = found.inertia[2, 2] + found.mass * found.center_of_mass[1] ** 2
    assert (found.mass, *found.center_of_mass) == (15, 0, 1, 0)
    assert found.inertia[1, 1] * spin == pytest.approx(-across * precession, rel=2e-6)


def test_bricard_is_along_the_edges_of_a_cube():
    """Each rod at zero coordinates goes from the last one's end; hinges are at right angles to both of their rods."""
    model = resolved("bricard")
    poses = poses_at_zero(model)
    ends = [2 * np.array(model.bodies[f"rod{i}"].center_of_mass) for i in range(1, 6)]
    for i, end in enumerate(ends[:-1]):
        np.testing.assert_allclose(poses[f"rod{i + 1}"][0] + end, poses[f"rod{i + 2}"][0], rtol=0, atol=1e-15)
        axis = model.joints[f"hinge{i + 2}"].axis
        assert np.dot(axis, end) == np.dot(axis, ends[i + 1]) == 0.0
    np.testing.assert_allclose(sum(ends), (0, 0, 1), rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    "name", [pytest.param(path.stem, marks=campaign if path.stem == "rope_1000" else ()) for path in FILES]
)
def test_a_copy_with_other_parameters_is_the_model_made_with_them(name):
    model = load(name)
    for parameter, value in model.resolved().parameters.items():
        other = {parameter: 1.01 * value}
        copied = model.model_copy(update={"parameters": {**model.parameters, **other}})
        try:
            made = model.with_parameters(other)
        except ModelError as error:  # a body of another size
            with pytest.raises(ModelError, match=re.escape(str(error))):
                copied.resolved()
        else:
            assert copied.resolved() == made.resolved() != model.resolved()
