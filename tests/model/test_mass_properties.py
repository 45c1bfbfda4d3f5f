"""Mass properties: closed forms, tessellations, the parallel axis theorem, and what is no rigid body."""

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from mbvi.errors import ModelError
from mbvi.model import Body, Box, Capsule, Cone, Cylinder, Mesh, PointMass, Sphere, mass_properties
from mbvi.model.rotations import quaternion, rotation_matrix

FINE = {"sections": 512}
SOLIDS = [
    (Box(size=(1, 2, 3), density=2), trimesh.creation.box(extents=(1, 2, 3)), 1e-12),
    (Sphere(radius=0.7, density=2), trimesh.creation.icosphere(subdivisions=6, radius=0.7), 1e-3),
    (Cylinder(radius=0.5, length=2, density=2), trimesh.creation.cylinder(radius=0.5, height=2, **FINE), 1e-4),
    (Capsule(radius=0.5, length=2, density=2), trimesh.creation.capsule(radius=0.5, height=2, count=[256, 256]), 1e-3),
    (Cone(radius=0.5, height=2, density=2), trimesh.creation.cone(radius=0.5, height=2, **FINE), 1e-4),
]


@pytest.mark.parametrize(("shape", "mesh", "tolerance"), SOLIDS, ids=lambda value: getattr(value, "type", ""))
def test_primitives_against_fine_meshes(shape, mesh, tolerance):
    mesh = mesh.copy()
    if shape.type == "capsule":
        mesh.apply_translation(-mesh.bounds.mean(axis=0))
    mesh.density = 2
    found = mass_properties(Body(shapes=[shape]))
    assert found.mass == pytest.approx(mesh.mass, rel=tolerance)
    np.testing.assert_allclose(found.center_of_mass, mesh.center_mass, rtol=0, atol=tolerance)
    np.testing.assert_allclose(found.inertia, mesh.moment_inertia, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("shape", "mass", "moments"),
    [
        (Box(size=(3, 2, 1), mass=12), 12, (5, 10, 13)),
        (Sphere(radius=2, mass=5), 5, (8, 8, 8)),
        (Cylinder(radius=2, length=6, mass=3), 3, (12, 12, 6)),
        (Cone(radius=2, height=4, mass=80), 80, (96, 96, 96)),
        (Capsule(radius=1, length=0.0 + 1e-12, mass=5), 5, (2, 2, 2)),
    ],
    ids=lambda value: getattr(value, "type", ""),
)
def test_closed_forms(shape, mass, moments):
    found = mass_properties(Body(shapes=[shape]))
    assert found.mass == pytest.approx(mass, rel=1e-14)
    np.testing.assert_allclose(found.inertia, np.diag(moments), rtol=1e-11, atol=1e-12)


def test_cone_points_up_from_its_base():
    assert mass_properties(Body(shapes=[Cone(radius=1, height=4, mass=1)])).center_of_mass == pytest.approx((0, 0, 1))


def test_inertia_about_a_point():
    rod = {"mass": 3, "center_of_mass": (1, 0, 0)}
    about = [
        {"inertia": (0, 1, 1)},
        {"inertia": (0, 4, 4), "inertia_about": "origin"},
        {"inertia": (0, 4, 4, 0, 0, 0), "inertia_about": "end", "points": {"end": (2, 0, 0)}},
        {"inertia": ((12, 6, 0), (6, 4, 0), (0, 0, 16)), "inertia_about": "off", "points": {"off": (0, 2, 0)}},
    ]
    for arguments in about:
        found = mass_properties(Body(**rod, **arguments))
        np.testing.assert_allclose(found.inertia, np.diag((0, 1, 1)), rtol=0, atol=1e-14)


def test_parts_are_summed():
    """Two halves of a dumbbell, one explicit, one a point mass, and a box that a rotation has put upright."""
    body = Body(
        mass=1,
        center_of_mass=(1, 0, 0),
        point_masses={"other": PointMass(mass=1, position="end")},
        points={"end": (-1, 0, 0)},
        shapes=[Box(size=(1, 2, 3), mass=12, orientation=(np.pi / 2, 0, 0)), Sphere(radius=9)],
    )
    found = mass_properties(body)
    assert found.mass == pytest.approx(14)
    np.testing.assert_allclose(found.center_of_mass, 0, rtol=0, atol=1e-15)
    np.testing.assert_allclose(found.inertia, np.diag((13, 5 + 2, 10 + 2)), rtol=0, atol=1e-12)


@given(st.lists(st.tuples(st.floats(0.1, 5), *[st.floats(-3, 3)] * 3), min_size=1, max_size=5))
def test_point_masses_against_their_sums(points):
    body = Body(point_masses={f"p{i}": PointMass(mass=m, position=x) for i, (m, *x) in enumerate(points)})
    found = mass_properties(body)
    masses, places = np.array([p[0] for p in points]), np.array([p[1:] for p in points])
    center = masses @ places / masses.sum()
    d = places - center
    inertia = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, d, strict=True))
    np.testing.assert_allclose(found.center_of_mass, center, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.inertia, inertia, rtol=0, atol=1e-10)


@given(st.tuples(*[st.floats(-10, 10)] * 3))
def test_rotation_vectors(vector):
    expected = Rotation.from_rotvec(vector)
    np.testing.assert_allclose(rotation_matrix(vector), expected.as_matrix(), rtol=0, atol=1e-13)
    np.testing.assert_allclose(rotation_matrix(quaternion(vector)), expected.as_matrix(), rtol=0, atol=1e-13)


LIMIT = "rounding explains 0.0005 of the trace"
ABOUT = f"about the center of mass; {LIMIT}; check inertia, which is given about the center_of_mass, and mass"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mass": -1}, "mass: expected a mass of at least 0, found -1; change its sign"),
        (
            {"mass": 1, "inertia": (1, 1, 3)},
            f"inertia: expected principal moments of which none exceeds the sum of the others, found [1, 1, 3] "
            f"about the center of mass, of which the largest does by 1 kg m², 0.2 of the trace; {LIMIT}; check inertia, which is "
            "given about the center_of_mass, and mass",
        ),
        (
            {"mass": 1, "inertia": (1, 1, -0.5)},
            f"inertia: expected a positive semidefinite matrix about the center of mass, "
            f"found principal moments [-0.5, 1, 1] {ABOUT}",
        ),
        (
            {"mass": 1, "inertia": (0.1,) * 6},  # whose two other moments are 0, and not what rounding leaves of it
            "inertia: expected principal moments of which none exceeds the sum of the others, found [0, 0, 0.3] "
            "about the center of mass, of which the largest does by 0.3 kg m², 1 of the trace; "
            f"{LIMIT}; check inertia, which is given about the center_of_mass, and mass",
        ),
        (
            {"mass": 1, "inertia": (1, 1, 1, 2, 0, 0)},
            f"inertia: expected a positive semidefinite matrix about the center of mass, "
            f"found principal moments [-1, 1, 3] {ABOUT}",
        ),
        (
            {"mass": 1, "inertia": (1, 1, 1), "inertia_about": "origin", "center_of_mass": (2, 0, 0)},
            "inertia: expected a positive semidefinite matrix about the center of mass, found principal moments "
            f"[-3, -3, 1] about the center of mass; {LIMIT}; check inertia, which is given about the origin, and mass",
        ),
        (
            {"mass": 1, "inertia": ((1, 0.1, 0), (0, 1, 0), (0, 0, 1))},
            "inertia: expected a symmetric matrix, found [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]], off by 0.1 kg m², 0.033 of the "
            f"trace; {LIMIT}",
        ),
        (
            {"point_masses": {"bob": PointMass(mass=-2, position=(0, 0, 0))}},
            "point_masses.bob.mass: expected a mass of at least 0, found -2; change its sign",
        ),
        (
            {"shapes": [Sphere(radius=1, density=-2)]},
            "shapes.0.density: expected a density of at least 0, found -2; change its sign",
        ),
        (
            {"shapes": [Sphere(radius=0)]},
            "shapes.0.radius: expected lengths greater than 0, found 0; write for example 0.1",
        ),
        (
            {"shapes": [Box(size=(1, -1, 1))]},
            "shapes.0.size: expected lengths greater than 0, found [1, -1, 1]; write for example 0.1",
        ),
        (
            {"shapes": [Box(size=(1, 1, 1), density=1, mass=3)]},
            "shapes.0.mass: expected density or mass, found both; remove one of them",
        ),
        (
            {"shapes": [Box(size=(1, 1, 1), density=1, orientation=(2, 0, 0, 0))]},
            "shapes.0.orientation: expected a unit quaternion (w, x, y, z), found [2, 0, 0, 0] of norm 2; write for example "
            "[1, 0, 0, 0]",
        ),
        *(
            (
                arguments,
                "body: expected numbers, found the expression '2*m'; take the body of Model.resolved().bodies, in which "
                "expressions are evaluated",
            )
            for arguments in (
                {"mass": "2*m"},
                {"shapes": [Box(size=(1, "2*m", 1), density=1)]},
                {"points": {"end": (0, 0, "2*m")}, "point_masses": {"bob": PointMass(mass=1, position="end")}},
            )
        ),
        (
            {"inertia_about": "tip", "points": {"top": (0, 0, 1)}},
            "inertia_about: expected a point, found 'tip'; did you mean 'top'?",
        ),
    ],
)
def test_messages(arguments, message):
    with pytest.raises(ModelError) as caught:
        mass_properties(Body(**arguments))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "arguments",
    [
        {"mass": 1, "inertia": (0, 1, 1)},
        {"mass": 1, "inertia": (1, 1, 2)},
        {"inertia": (1, 1, 1)},
        {
            "mass": 0.1,
            "center_of_mass": (0.3, 0, 0),
            "inertia": (0, 0.1 * 0.3**2, 0.1 * 0.3**2),
            "inertia_about": "origin",
        },
    ],
    ids=["rod", "disc", "massless", "point mass about the origin"],
)
def test_limits_of_what_a_rigid_body_can_be(arguments):
    assert mass_properties(Body(**arguments)).mass == arguments.get("mass", 0)


@pytest.fixture
def folder(tmp_path):
    cube = trimesh.creation.box(extents=(2, 2, 2))
    cube.export(tmp_path / "cube.stl")
    cube.export(tmp_path / "cube.obj")
    trimesh.Trimesh(cube.vertices, cube.faces[:-1]).export(tmp_path / "open.stl")
    trimesh.Trimesh(cube.vertices, cube.faces[:, ::-1]).export(tmp_path / "inside_out.stl")
    (tmp_path / "garbage.stl").write_bytes(b"not a mesh")
    (tmp_path / "script.py").write_text("raise SystemExit")
    return tmp_path


@pytest.mark.parametrize("file", ["cube.stl", "cube.obj"])
def test_mesh(folder, file):
    body = Body(shapes=[Mesh(file=file, scale=0.5, density=6, position=(0, 0, 1))])
    found = mass_properties(body, folder)
    assert found.mass == pytest.approx(6)
    np.testing.assert_allclose(found.center_of_mass, (0, 0, 1), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.inertia, np.eye(3), rtol=0, atol=1e-12)
    by_mass = mass_properties(Body(shapes=[Mesh(file=file, scale=0.5, mass=6)]), folder)
    np.testing.assert_allclose(by_mass.inertia, np.eye(3), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (
            "open.stl",
            "expected a closed surface, found 'open.stl' with a hole of 3 edges, at faces 6, 9, 10 (counted from 0, in the "
            "file's order; near [1, 0, 0]); close it",
        ),
        ("inside_out.stl", "expected a mesh of positive volume, found -8 in 'inside_out.stl'; flip its faces"),
        ("script.py", "expected a mesh file of the type .stl, .obj, .ply, .off, .glb, .dae, .msh, found 'script.py'"),
    ],
)
def test_bad_meshes(folder, file, message):
    with pytest.raises(ModelError) as caught:
        mass_properties(Body(shapes=[Mesh(file=file, density=1)]), folder)
    assert str(caught.value) == message


@pytest.mark.parametrize("file", ["missing.stl", "garbage.stl"])
def test_meshes_that_cannot_be_read(folder, file):
    with pytest.raises(ModelError, match=f"found .*{file}") as caught:
        mass_properties(Body(shapes=[Mesh(file=file, density=1)]), folder)
    assert "\n" not in str(caught.value)
