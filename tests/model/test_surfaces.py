"""What closed surfaces of triangles enclose, against closed forms, wherever they are; and what is said of others."""

import numpy as np
import pytest
import trimesh

import mbvi
import mbvi.model as mm
from mbvi import ModelError
from mbvi.model.surfaces import odd_shells, surface_of, volume_of, winding_number

CUBE = trimesh.creation.box((1, 1, 1))


def surface(*parts):
    """A surface of meshes, each as vertices and faces."""
    return surface_of(np.concatenate([np.asarray(vertices, dtype=float)[faces] for vertices, faces in parts]))


def cube(at=(0, 0, 0), edge=1.0, is_outward=True):
    return CUBE.vertices * edge + np.asarray(at), CUBE.faces if is_outward else CUBE.faces[:, ::-1]


def ball(radius, is_outward=True, at=(0, 0, 0)):
    sphere = trimesh.creation.icosphere(3, radius)
    return sphere.vertices + np.asarray(at), sphere.faces if is_outward else sphere.faces[:, ::-1]


def message_of(found):
    with pytest.raises(ModelError) as caught:
        volume_of(found, "part.stl")
    return str(caught.value)


@pytest.mark.parametrize("edge", [1e-30, 1e-7, 1.0, 30.0, 1e9])
@pytest.mark.parametrize("distance", [0.0, 1.0, 1e3, 1e5, 1e6, 1e8])
def test_a_cube_has_its_inertia_wherever_it_is(edge, distance):
    """I = m a²/6 about the centre; corners at a distance d are rounded by ε d, and so the edges."""
    at = edge * distance * np.array([1.0, -0.7, 0.3])
    volume, center, inertia = volume_of(surface(cube(at, edge)), "cube.stl")
    tolerance = 1e-15 * (10 + 10 * distance)
    np.testing.assert_allclose(volume, edge**3, rtol=tolerance)
    np.testing.assert_allclose(center, at, rtol=0, atol=tolerance * edge)
    np.testing.assert_allclose(inertia, edge**5 / 6 * np.eye(3), rtol=0, atol=tolerance * edge**5)


def test_a_far_mesh_in_a_model(tmp_path):
    """The inertia of the file's cube is that of the primitive, and positive; it was -60 000 kg m²."""
    trimesh.Trimesh(CUBE.vertices + 1e6, CUBE.faces, process=False).export(tmp_path / "far.obj", digits=12)
    found = mm.mass_properties(mm.Body(shapes=[mm.Mesh(file="far.obj", mass=6)]), tmp_path)
    np.testing.assert_allclose(found.inertia, np.eye(3), rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.center_of_mass, np.full(3, 1e6), rtol=1e-15)


def test_a_hollow_ball():
    """The moment of a hollow ball about its centre is that of the outer less that of the inner."""
    whole, void = (volume_of(surface(ball(radius)), "ball.stl") for radius in (1.0, 0.5))
    hollow = surface(ball(1.0), ball(0.5, is_outward=False))
    volume, center, inertia = volume_of(hollow, "ball.stl")
    assert volume == pytest.approx(whole[0] - void[0], rel=1e-13)
    assert volume == pytest.approx(4 / 3 * np.pi * (1 - 0.5**3), rel=0.02)  # of a sphere of 1280 triangles
    np.testing.assert_allclose(inertia, whole[2] - void[2], rtol=0, atol=1e-13)
    np.testing.assert_allclose(center, 0.0, rtol=0, atol=1e-14)
    assert odd_shells(hollow) == ""


def test_a_cavity_that_is_turned_wrong():
    found = surface(ball(1.0), ball(0.5))
    void = volume_of(surface(ball(0.5)), "ball.stl")[0]
    assert odd_shells(found) == (
        f"a shell inside another is turned outwards, so that its volume of {void:.3g} counts twice (faces 1280, 1281, "
        "1282, 1283, 1284, … (1280)); flip it if it bounds a cavity"
    )


def test_a_shell_that_is_turned_inwards_outside_of_others():
    found = surface(cube(edge=2.0), cube(at=(2.5, 0, 0), edge=0.5, is_outward=False))
    assert odd_shells(found).startswith(
        "a shell outside of others is turned inwards, so that its volume of 0.125 is taken"
    )
    far = surface(cube(edge=2.0), cube(at=(9, 0, 0), edge=1.0, is_outward=False))
    assert message_of(far).startswith("expected a mesh with the inertia of a body, found moments [")


@pytest.mark.parametrize(
    ("parts", "is_odd"),
    [
        ([cube(edge=4), cube(edge=3, is_outward=False), cube(edge=2), cube(edge=1, is_outward=False)], False),
        ([cube(edge=4), cube(edge=3, is_outward=False), cube(edge=2), cube(edge=1)], True),
        ([cube(edge=4), cube(edge=2, is_outward=False), cube(edge=1, is_outward=False)], True),
        ([cube(), cube(at=(3, 0, 0)), cube(at=(6, 0, 0))], False),
        ([cube(), cube(at=(0.5, 0.25, 1), edge=0.5)], False),  # one stands on the other, and over its side
    ],
)
def test_shells_in_each_other(parts, is_odd):
    assert bool(odd_shells(surface(*parts))) == is_odd


def test_winding_numbers():
    triangles = surface(ball(1.0)).triangles()
    assert winding_number(np.array([0.1, 0.2, 0.1]), triangles) == pytest.approx(1, abs=1e-13)
    assert winding_number(np.array([0.49, 0.49, 0.49]), triangles) == pytest.approx(0, abs=1e-13)
    assert winding_number(np.zeros(3), triangles[:, ::-1]) == pytest.approx(-1, abs=1e-13)
    center = np.array([0.5, 0, 0])
    assert abs(winding_number(center, surface(cube()).triangles())) == pytest.approx(0.5, abs=1e-13)  # on a side


@pytest.mark.parametrize("at", [(1, 1, 1), (1, 1, 0), (1, 0, 0)], ids=["a corner", "an edge", "a side"])
def test_cubes_that_touch(at):
    """Their masses are right whatever they have in common: 2 m, and m a²/6 and m d²/4 each about the middle."""
    volume, center, inertia = volume_of(surface(cube(), cube(at)), "cubes.stl")
    d = np.array(at, dtype=float)
    assert volume == pytest.approx(2, rel=1e-14)
    np.testing.assert_allclose(center, d / 2, rtol=0, atol=1e-14)
    np.testing.assert_allclose(inertia, np.eye(3) / 3 + (d @ d * np.eye(3) - np.outer(d, d)) / 2, rtol=0, atol=1e-14)


def test_faces_without_area_do_not_matter():
    vertices, faces = cube()
    middle = (vertices[faces[0, 0]] + vertices[faces[0, 1]]) / 2
    needle = [[*vertices[faces[0, :2]], middle]]
    point = [[vertices[0], vertices[0], vertices[1]]]
    for flat in (needle, point, needle + point):
        found = surface_of(np.concatenate([vertices[faces], flat]))
        volume, _, inertia = volume_of(found, "cube.stl")
        assert volume == pytest.approx(1, rel=1e-14)
        np.testing.assert_allclose(inertia, np.eye(3) / 6, rtol=0, atol=1e-15)


def with_a_hole():
    vertices, faces = cube()
    return vertices[faces[:-1]], "a hole of 3 edges, at faces 6, 9, 10", "close it"


def with_two_holes():
    vertices, faces = cube()
    return (
        vertices[faces[[1, 2, 3, 4, 5, 6, 7, 8, 9, 11]]],
        "2 holes of 6 edges, at faces 0, 1, 3, 4, 7, … (6)",
        "close them",
    )


def with_a_turned_face():
    vertices, faces = cube()
    faces = faces.copy()
    faces[3] = faces[3, ::-1]
    return vertices[faces], "face 3 turned against its neighbours", "flip what is turned"


def with_a_wall():
    """Two cubes that have one side in common, which has its faces once."""
    corners = np.concatenate([vertices[faces] for vertices, faces in (cube(), cube((1, 0, 0)))])
    is_between = (corners[:, :, 0] == 0.5).all(axis=1)
    is_between[:12] = False
    found = corners[~is_between]
    wall = np.flatnonzero((found[:, :, 0] == 0.5).sum(axis=1) >= 2)
    numbers = ", ".join(map(str, wall[:5]))
    return (
        found,
        f"4 edges of more than two faces, at faces {numbers}, … ({len(wall)})",
        "give every body faces of its own",
    )


def with_a_needle_in_a_hole():
    vertices, faces = cube()
    corners = vertices[faces[:-1]]
    needle = [[vertices[0], vertices[1], (vertices[0] + vertices[1]) / 2]]
    return np.concatenate([corners, needle]), "face 11 without area", "remove what has none"


@pytest.mark.parametrize("bad", [with_a_hole, with_two_holes, with_a_turned_face, with_a_wall, with_a_needle_in_a_hole])
def test_what_is_not_closed_is_named(bad):
    corners, found, remedy = bad()
    text = message_of(surface_of(corners))
    assert text.startswith(f"expected a closed surface, found 'part.stl' with {found}")
    assert "(counted from 0, in the file's order; near [" in text and remedy in text.rsplit("; ", 1)[1]


def test_turned_faces_are_those_of_the_smaller_part():
    sphere = trimesh.creation.icosphere(2)
    is_cap = sphere.triangles_center[:, 2] > 0.8
    faces = np.where(is_cap[:, None], sphere.faces[:, ::-1], sphere.faces)
    numbers = np.flatnonzero(is_cap)
    text = message_of(surface((sphere.vertices, faces)))
    assert f"faces {', '.join(map(str, numbers[:5]))}, … ({len(numbers)}) turned against their neighbours" in text


def test_what_encloses_nothing():
    sheet = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    text = "expected a mesh of positive volume, found 0 in 'part.stl'; it encloses nothing"
    assert message_of(surface_of(np.stack([sheet, sheet[::-1]]))) == text
    assert message_of(surface_of(np.zeros((2, 3, 3)))) == text
    text = "expected a mesh of positive volume, found -8 in 'part.stl'; flip its faces"
    assert message_of(surface(cube(edge=2, is_outward=False))) == text


# ------------------------------------------------------------------------------------------ warnings of models

FREE = mm.Free(parent="world", child="part")


def model_of(folder, monkeypatch, mesh, **keys):
    monkeypatch.chdir(folder)
    mesh.export(folder / "part.stl")
    body = mm.Body(shapes=[mm.Mesh(file="part.stl", **keys)], mass=1, inertia=(1, 1, 1))
    return mm.Model(name="part", bodies={"part": body}, joints={"free": FREE})


def test_millimetres(tmp_path, monkeypatch):
    model = model_of(tmp_path, monkeypatch, trimesh.creation.box((100, 200, 150)), density=7800)
    text = (
        r"bodies\.part\.shapes\.0\.scale: 'part\.stl' is 200 m long and weighs 2\.34e\+10 kg; if the file is in millimetres, "
        r"write scale: 0\.001; if it is as large as that, scale: 1"
    )
    with pytest.warns(mbvi.errors.ModelWarning, match=f"^{text}$"):
        mbvi.assemble(model)
    mbvi.assemble(model.with_parameters({}))  # once in all copies
    for scale in (0.001, 1):
        mbvi.assemble(model_of(tmp_path, monkeypatch, CUBE.copy().apply_scale(200), density=7800, scale=scale))
    with pytest.warns(mbvi.errors.ModelWarning, match="is 200 m long; if"):
        mbvi.assemble(model_of(tmp_path, monkeypatch, CUBE.copy().apply_scale(200)))
    with pytest.warns(mbvi.errors.ModelWarning, match="is 5 m long and weighs 9.75e"):
        mbvi.assemble(model_of(tmp_path, monkeypatch, CUBE.copy().apply_scale(5), density=7800))
    mbvi.assemble(model_of(tmp_path, monkeypatch, CUBE.copy().apply_scale(5), mass=7800))
    with pytest.warns(mbvi.errors.ModelWarning, match="is 20 m long; if") as warned:
        mbvi.simulate(model_of(tmp_path, monkeypatch, CUBE.copy().apply_scale(20)), step=0.1, duration=0.1)
    assert [each.filename for each in warned] == [__file__]


def test_mass_properties_of_a_body_by_itself_warn_too(tmp_path, monkeypatch):
    text = r"^shapes\.0\.scale: 'part\.stl' is 200 m long and weighs 2\.34e\+10 kg; if the file is in millimetres"
    model = model_of(tmp_path, monkeypatch, trimesh.creation.box((100, 200, 150)), density=7800)
    for body, files in ((model.bodies["part"], None), (model.resolved().bodies["part"], model.files)):
        with pytest.warns(mbvi.errors.ModelWarning, match=text) as warned:
            mm.mass_properties(body, files)
        assert [each.filename for each in warned] == [__file__]
    in_metres = model_of(tmp_path, monkeypatch, CUBE, density=7800)
    assert mm.mass_properties(in_metres.bodies["part"]).mass == pytest.approx(1 + 7800)


def test_a_scale_of_one_stays_in_the_file(tmp_path, monkeypatch):
    text = mm.to_yaml(model_of(tmp_path, monkeypatch, CUBE, scale=1))
    assert "scale: 1\n" in text and mm.from_yaml(text).bodies["part"].shapes[0].scale == 1


def test_a_wrong_cavity_is_in_the_warning_and_in_the_check(tmp_path, monkeypatch):
    from mbvi.cli.check_report import oddities
    from mbvi.system.initial import find_start

    wrong = trimesh.util.concatenate([trimesh.Trimesh(*ball(1.0)), trimesh.Trimesh(*ball(0.5))])
    model = model_of(tmp_path, monkeypatch, wrong, mass=1)
    with pytest.warns(
        mbvi.errors.ModelWarning, match=r"^bodies\.part\.shapes\.0\.file: 'part\.stl': a shell inside another"
    ):
        system = mbvi.assemble(model)
    assert [
        text for text in oddities(system, find_start(system)) if "a shell inside another is turned outwards" in text
    ]
    assert not [text for text in oddities(system, find_start(system)) if "scale" in text]


def test_sizes_beyond_numbers(tmp_path):
    CUBE.export(tmp_path / "cube.stl")
    for scale in (1e-50, 1e50):
        body = mm.Body(shapes=[mm.Mesh(file="cube.stl", mass=1, scale=scale)])
        found = mm.mass_properties(body, tmp_path)
        np.testing.assert_allclose(found.inertia, scale**2 / 6 * np.eye(3), rtol=1e-12, atol=scale**2 * 1e-15)
    CUBE.copy().apply_scale(1e30).export(tmp_path / "large.stl")
    with pytest.raises(
        ModelError, match=r"^expected a mesh of a size that numbers can hold, found 1e.90 times 1e.50³ in 'large"
    ):
        mm.mass_properties(mm.Body(shapes=[mm.Mesh(file="large.stl", mass=1, scale=1e50)]), tmp_path)


def test_corners_that_single_precision_has_rounded_are_reported(tmp_path):
    """A cube of 10 cm, 100 km from the origin of its file: 7.8 mm between two numbers there. With more digits nothing is lost."""
    box = trimesh.creation.box((0.1, 0.1, 0.1))
    box.apply_translation((1e5, 0, 0))
    box.export(tmp_path / "far.ply")
    box.export(tmp_path / "far.obj", digits=12)

    def model(name):
        shape = mm.Mesh(file=str(tmp_path / name), density=1000, scale=1)
        return mm.Model(name="far", bodies={"part": mm.Body(shapes=[shape])}, joints={"free": FREE})

    with pytest.warns(mbvi.errors.ModelWarning) as warned:
        mbvi.assemble(model("far.ply"))
    assert [str(each.message) for each in warned] == [
        "bodies.part.shapes.0.file: 'far.ply': its corners are so far from its origin that seven digits round them by 0.04 "
        "of its size; write the file with its origin near the mesh, or in a format with more digits"
    ]
    mbvi.assemble(model("far.obj"))  # without a warning
