"""What bodies look like: shapes as given; of bodies without shapes, solids that have the body's own inertia."""

import re

import numpy as np
import pytest
import trimesh

import mbvi
from mbvi.animation.geometry import body_geometry, hull, linear_rgb, simplified
from mbvi.animation.motion import pictures
from mbvi.animation.scene import layers_of_bodies, make_scene
from tests.folders import MODELS, load
from tests.marks import campaign

HOLDS = [np.zeros(3)]


def surface(geometry):
    """The triangles as a closed surface."""
    mesh = trimesh.Trimesh(geometry.vertices, geometry.faces)
    mesh.merge_vertices(merge_tex=True, merge_norm=True)
    return mesh


def scene_of(model, trails=None, q=None, **run):
    trajectory = mbvi.simulate(model, **{"step": 0.01, "duration": 0.1} | run)
    return make_scene(trajectory.system, pictures(trajectory, 1.0), trails), trajectory


@pytest.mark.parametrize(
    ("shape", "volume"),
    [
        (mbvi.model.Box(size=(1, 2, 3), position=(5, 0, 0), mass=1), 6),
        (mbvi.model.Sphere(radius=2, mass=1), 32 / 3 * np.pi),
        (mbvi.model.Cylinder(radius=1, length=3, orientation=(1, 2, 3), mass=1), 3 * np.pi),
        (mbvi.model.Capsule(radius=1, length=3, mass=1), (3 + 4 / 3) * np.pi),
        (mbvi.model.Cone(radius=1, height=3, position=(0, 1, 0), orientation=(1, 0, 0), mass=1), np.pi),
    ],
    ids=lambda value: getattr(value, "type", None),
)
def test_shapes_have_the_volume_place_and_normals_that_their_bodies_have(shape, volume):
    body = mbvi.Body(shapes=[shape])
    mesh = surface(body_geometry(body, HOLDS, None, 0.01))
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(
        volume, rel=0.02
    )  # of a round shape less than 2 % is lost, of a box's edges as well
    # The tessellation keeps two planes of symmetry, so the centre is off by less than its loss of volume.
    np.testing.assert_allclose(mesh.center_mass, mbvi.model.mass_properties(body).center_of_mass, rtol=0, atol=5e-3)
    geometry = body_geometry(body, HOLDS, None, 0.01)
    a, b, c = (geometry.vertices[geometry.faces[:, i]] for i in range(3))
    outward = np.cross(b - a, c - a)
    is_area = np.linalg.norm(outward, axis=1) > 1e-9
    assert (np.sum(outward * geometry.normals[geometry.faces[:, 0]], axis=1)[is_area] > 0).all()
    np.testing.assert_allclose(np.linalg.norm(geometry.normals, axis=1), 1, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "shape",
    [
        mbvi.model.Box(size=(1, 2, 3), mass=2),
        mbvi.model.Sphere(radius=1, mass=2),
        mbvi.model.Cylinder(radius=0.6, length=2, orientation=(0, 1, 0), mass=2),
        mbvi.model.Cone(
            radius=0.8, height=2, position=(0, 0, 2), orientation=(np.pi, 0, 0), mass=2
        ),  # its apex is held
    ],
    ids=lambda shape: shape.type,
)
def test_a_body_without_shapes_is_drawn_as_the_solid_of_its_inertia(shape):
    mass, center, inertia = mbvi.model.mass_properties(mbvi.Body(shapes=[shape]))
    body = mbvi.Body(mass=mass, center_of_mass=center.tolist(), inertia=inertia.tolist())
    mesh = surface(body_geometry(body, HOLDS, None, 1e-4))
    assert mesh.is_watertight
    mesh.density = mass / mesh.volume
    np.testing.assert_allclose(mesh.center_mass, center, rtol=0, atol=0.01)
    np.testing.assert_allclose(mesh.moment_inertia, inertia, rtol=0, atol=0.02 * np.abs(inertia).max())


def test_bodies_of_all_sizes_look_alike():
    def drawn(L):
        rod = mbvi.Body(
            mass=1, center_of_mass=(0, 0, -L), point_masses={"a": mbvi.model.PointMass(mass=1, position=[L, 0, 0])}
        )
        ring = mbvi.Body(mass=1, inertia=(L**2, 2 * L**2, L**2))
        cone = mbvi.Body(shapes=[mbvi.model.Cone(radius=L, height=2 * L, mass=1, position=(0, L, 0))])
        return [body_geometry(body, HOLDS, None, 0.003 * L) for body in (rod, ring, cone)]

    for L in (1e-6, 1e-3, 1e6):
        for geometry, expected in zip(drawn(L), drawn(1.0), strict=True):
            assert np.array_equal(geometry.faces, expected.faces)
            np.testing.assert_allclose(geometry.vertices / L, expected.vertices, rtol=0, atol=1e-9)


def test_a_flat_round_body_is_a_ring_and_a_thin_one_a_rod():
    ring = mbvi.Body(mass=2, inertia=(1, 2, 1))  # m r² = 2 about y
    mesh = surface(body_geometry(ring, HOLDS, None, 1e-4))
    assert np.linalg.norm(mesh.vertices, axis=1).min() > 0.9
    assert np.ptp(mesh.vertices, axis=0) == pytest.approx([2.12, 0.12, 2.12], abs=0.01)
    rod = mbvi.Body(mass=12, center_of_mass=(1, 0, 0), inertia=(0, 4, 4))  # m l²/12 = 4: from 0 to 2
    low, high = surface(body_geometry(rod, HOLDS, None, 1e-4)).bounds
    assert (low[0], high[0]) == pytest.approx((0, 2), abs=0.06)
    assert high[1] < 0.06


@pytest.mark.parametrize("inertia", [(0.01, 0.02, 0.03), (1, 2, 3), (1e-9, 2e-9, 3e-9)])
def test_a_plate_without_thickness_is_drawn_as_a_thin_one(inertia):
    """Its greatest moment is the sum of the others: b² = 12 I_x/m, a² = 12 I_y/m."""
    mesh = surface(body_geometry(mbvi.Body(mass=2, inertia=inertia), [], None, 1e-9))
    a, b = np.sqrt(6 * inertia[1]), np.sqrt(6 * inertia[0])
    np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), [a, b, 0.01 * a], rtol=1e-5)
    assert mesh.volume > 0.99 * a * b * 0.01 * a


def test_joints_and_masses_are_held_together():
    points = np.array([[0, 0, 0], [2, 0, 0], [0, 3, 0], [0.5, 0.5, 0]])
    mesh = surface(hull(list(points), 0.01))
    assert mesh.is_watertight and mesh.is_convex
    inside = points @ mesh.face_normals.T - np.sum(mesh.triangles_center * mesh.face_normals, axis=1)
    assert (inside < -0.009).all()  # of a ball of two refinements of the icosahedron no face is 10 % nearer
    assert mesh.volume == pytest.approx(3 * 0.02, rel=0.1)


def test_a_mesh_is_drawn_in_metres(tmp_path):
    trimesh.creation.box((1000, 2000, 3000)).export(tmp_path / "box.stl")
    text = "name: a\nbodies: {a: {shapes: [{type: mesh, file: box.stl, scale: 0.001, density: 1}]}}\n"
    (tmp_path / "a.yaml").write_text(text + "joints: {j: {type: free, parent: world, child: a}}\n")
    model = mbvi.load(tmp_path / "a.yaml")
    scene, _ = scene_of(model)
    assert np.ptp(scene.things[0].geometry.vertices, axis=0) == pytest.approx([1, 2, 3])


def test_a_point_of_the_embedding_hangs_on_its_joint(models):
    """The tree formulation knows how the rod is turned, the embedding only where its mass is."""
    scene, trajectory = scene_of(mbvi.load(models / "spherical_pendulum.yaml"), duration=1)
    assert trajectory.system.dimension == 3
    rod = next(thing for thing in scene.things if thing.kind == "body")
    places = rod.places[:, None] + np.array([[0, 0, 0], [0, 0, -1.0]]) @ rod.rotations().transpose(0, 2, 1)
    np.testing.assert_allclose(places[:, 0], 0, rtol=0, atol=1e-7)  # a cubic leaves the sphere by h⁴ x⁗/384
    np.testing.assert_allclose(places[:, 1], pictures(trajectory, 1.0).q, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("bounds", "drawn"), [({"upper": 3}, ["hook"]), ({"lower": 1, "upper": 3}, ["hook"]), ({"lower": 1}, [])]
)
def test_a_cable_is_drawn_and_a_bumper_is_not(bounds, drawn):
    """From the hook at the origin to the ball, which falls from 2 m below it, also while it is slack."""
    hook = mbvi.DistanceStop(body_a="world", body_b="ball", **bounds)
    model = mbvi.Model(
        name="hung",
        bodies={"ball": mbvi.Body(mass=1)},
        joints={"fly": mbvi.Free(parent="world", child="ball")},
        contacts={"hook": hook},
        initial={"fly": mbvi.model.Initial(position=[0, 0, -2])},
    )
    scene, _ = scene_of(model, duration=0.1)
    links = [thing for thing in scene.things if thing.kind == "link"]
    assert [thing.name for thing in links] == drawn
    for thing in links:
        end = thing.places[0] + thing.rotations()[0] @ [0, 0, 1]  # of a rod of length 1, scaled
        np.testing.assert_allclose([thing.places[0], end], [[0, 0, 0], [0, 0, -2]], rtol=0, atol=1e-9)


def test_links_join_their_points_and_pins_move_with_their_joints(models):
    scene, trajectory = scene_of(mbvi.load(models / "branched_tree.yaml"))
    string = next(thing for thing in scene.things if thing.name == "string")
    q = scene.motion.q
    place, rotation = trajectory.system.poses("torso", q)
    ends = string.places + string.rotations() @ [0, 0, 1.0]
    np.testing.assert_allclose(ends, place + rotation @ [0, 0, 0.45], rtol=0, atol=1e-9)
    pin = next(thing for thing in scene.things if thing.name == "left knee")
    middle = pin.places + pin.rotations() @ pin.geometry.vertices.mean(axis=0)
    place, rotation = trajectory.system.poses("left shin", q)
    np.testing.assert_allclose(middle, place, rtol=0, atol=1e-9)


GUIDED = """
name: guided
bodies:
  wheel: {mass: 1, inertia: [0.1, 0.1, 0.1]}
  a: {mass: 1, inertia: [0.1, 0.1, 0.1], points: {hook: [0, 0, 0.1]}}
  b: {mass: 1, inertia: [0.1, 0.1, 0.1]}
  c: {mass: 1, inertia: [0.1, 0.1, 0.1]}
  d: {mass: 1, inertia: [0.1, 0.1, 0.1]}
joints:
  axle: {type: revolute, parent: world, child: wheel, axis: [0, 1, 0], position: [0, 0, 1]}
  fa: {type: free, parent: world, child: a, position: [0.5, 0, 0.9]}
  fb: {type: free, parent: world, child: b, position: [2, 0, 0]}
  fc: {type: free, parent: world, child: c, position: [0, 3, 1]}
  fd: {type: free, parent: world, child: d, position: [0, -3, 0.25]}
constraints:
  ring: {type: point_on_curve, body_a: wheel, curve: [0.5*cos(s), 0.3*sin(s), 0], body_b: a, point_b: hook}
  wire: {type: point_on_line, body_a: world, point_a: [2, 0, 0], direction: [1, 0, -1], body_b: b}
  slope: {type: point_on_plane, body_a: world, point_a: [0, 3, 1], normal: [0.6, 0, 0.8], body_b: c}
  arc: {type: point_on_curve, body_a: world, curve: [s, -3, (s - 0.5)**2], body_b: d}
initial: {axle: {velocity: 2}}
"""


def test_guides_are_where_the_points_go():
    scene, _ = scene_of(mbvi.from_yaml(GUIDED), duration=2)
    things = {thing.name: thing for thing in scene.things if thing.kind == "joint"}

    def way(name, guide):
        """Of a point in the frame of its guide, where its bead is."""
        bead, frame = things[f"{name} point"], things[guide]
        middle = bead.places + bead.rotations() @ bead.geometry.vertices.mean(axis=0)
        return np.einsum("fji,fj->fi", np.broadcast_to(frame.rotations(), (len(middle), 3, 3)), middle - frame.places)

    radius, margin = 0.27 * 0.009 * scene.size, 0.1 * scene.size
    near = 0.05 * radius  # the balls at the ends of bars have 162 corners
    x, y, z = things["wire"].geometry.vertices.T
    assert np.hypot(y, (x - 2 + z) / np.sqrt(2)).max() < radius + near
    along = (way("wire", "wire") - [2, 0, 0]) @ [np.sqrt(0.5), 0, -np.sqrt(0.5)]
    reach = (np.stack([x - 2, y, z], 1)) @ [np.sqrt(0.5), 0, -np.sqrt(0.5)]
    assert np.ptp(along) > 1
    expected = [along.min() - margin - radius, along.max() + margin + radius]
    np.testing.assert_allclose([reach.min(), reach.max()], expected, rtol=0, atol=near)

    border = things["slope"].geometry.vertices - [0, 3, 1]
    assert np.abs(border @ [0.6, 0, 0.8]).max() < radius + near
    places = way("slope", "slope") - [0, 3, 1]
    for axis in ([0, 1, 0], [0.8, 0, -0.6]):
        low, high = (places @ axis).min() - margin - radius, (places @ axis).max() + margin + radius
        ends = [(border @ axis).min(), (border @ axis).max()]
        np.testing.assert_allclose(ends, [low, high], rtol=0, atol=near)

    rings = things["ring"].geometry.vertices.reshape(-1, 8, 3)
    assert np.abs(rings[0].mean(axis=0) - rings[-1].mean(axis=0)).max() < 1e-12  # one round
    x, y, z = rings.mean(axis=1).T
    np.testing.assert_allclose((x / 0.5) ** 2 + (y / 0.3) ** 2, 1, rtol=0, atol=1e-12)
    np.testing.assert_allclose(z, 0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(rings - rings.mean(axis=1)[:, None], axis=2), radius, rtol=1e-9)
    places = way("ring", "ring")  # of the motion between states by cubics
    np.testing.assert_allclose((places[:, 0] / 0.5) ** 2 + (places[:, 1] / 0.3) ** 2, 1, rtol=0, atol=1e-5)

    middles = things["arc"].geometry.vertices.reshape(-1, 8, 3).mean(axis=1)
    np.testing.assert_allclose(middles[:, 2], (middles[:, 0] - 0.5) ** 2, rtol=0, atol=1e-12)
    places = way("arc", "arc")
    assert middles[0, 0] < places[:, 0].min() and places[:, 0].max() < middles[-1, 0]


def test_all_is_inside_the_extent_and_above_the_floor(models):
    scene, _ = scene_of(mbvi.load(models / "bricard.yaml"))
    assert np.array_equal(scene.up, [0, 1, 0])
    low, high = scene.extent.min(axis=0), scene.extent.max(axis=0)
    for thing in scene.things:
        vertices = thing.places[:, None] + thing.geometry.vertices @ thing.rotations().transpose(0, 2, 1)
        assert (vertices > low - 0.02).all() and (vertices < high + 0.02).all()
        assert vertices[..., 1].min() > scene.floor
    assert scene.view @ scene.up > 0


def test_bodies_differ_in_colour(models):
    for name in ("four_bar", "branched_tree"):
        scene, _ = scene_of(mbvi.load(models / f"{name}.yaml"))
        colors = [thing.color for thing in scene.things if thing.kind == "body"]
        assert len(set(colors)) == len(colors)


def test_faces_of_bodies_that_meet_lie_apart():
    """Of boxes and a cylinder of the same thickness on pins: each a little thinner than those before it that it meets."""
    kinds = [
        mbvi.model.Box(size=(1, 0.1, 0.1), mass=1),
        mbvi.model.Cylinder(radius=0.2, length=0.1, orientation=("pi/2", 0, 0), mass=1),
        mbvi.model.Box(size=(1, 0.1, 0.1), orientation=(0, 0.3, 0), mass=1),
    ]
    bodies = {f"body {i}": mbvi.Body(shapes=[shape]) for i, shape in enumerate(kinds)}
    pins = [("world", "body 0"), ("body 0", "body 1"), ("body 1", "body 2")]
    joints = {
        f"pin {i}": mbvi.Revolute(parent=a, child=b, axis=(0, 1, 0), position=(0.1, 0, 0))
        for i, (a, b) in enumerate(pins)
    }
    scene, _ = scene_of(mbvi.Model(name="flat", bodies=bodies, joints=joints))
    meshes = [surface(thing.geometry) for thing in scene.things if thing.kind == "body"]
    assert all(mesh.is_watertight for mesh in meshes)
    thickness = [float(np.ptp(mesh.vertices[:, 1])) for mesh in meshes]
    assert thickness[0] == pytest.approx(0.1, rel=1e-12)
    assert np.all(np.diff(thickness) < -2e-4 * scene.size)  # several times what a page tells apart in depth
    assert thickness[-1] > 0.95 * thickness[0]


def test_layers_of_bodies_that_meet_differ(models):
    """Of bodies tied to each other, and of those on one pin."""
    model = mbvi.load(models / "n_four_bars.yaml")
    layers = layers_of_bodies(model)
    assert all(layers[each.parent] != layers[each.child] for each in model.joints.values() if each.parent != "world")
    assert layers["coupler1"] != layers["coupler2"]
    wheel = {f"spoke {i}": mbvi.Body(mass=1, inertia=(1, 1, 1)) for i in range(9)}
    joints = {f"pin {i}": mbvi.Ball(parent="spoke 0" if i else "world", child=f"spoke {i}") for i in range(9)}
    found = layers_of_bodies(
        mbvi.Model(name="wheel", bodies=wheel, joints=joints)
    )  # more on one body than there are layers
    assert set(found.values()) == set(range(5))
    assert list(found.values()).count(found["spoke 0"]) == 1


def test_trails_are_the_ways_of_points(models):
    model = mbvi.load(models / "double_pendulum.yaml")
    scene, trajectory = scene_of(model, ["lower", "upper.tip", "lower.origin"])
    place, rotation = trajectory.system.poses("lower", scene.motion.q)
    length = model.resolved().parameters["length"]
    np.testing.assert_allclose(scene.trails[0].places, place + rotation @ [0, 0, -length], rtol=0, atol=1e-12)
    np.testing.assert_allclose(scene.trails[1].places, place, rtol=0, atol=1e-12)
    np.testing.assert_allclose(scene.trails[2].places, place, rtol=0, atol=1e-12)
    assert [trail.name for trail in scene_of(model)[0].trails] == ["lower"]
    for trail, message in (
        ("lowr", "the name of a body, found 'lowr'; did you mean 'lower'?"),
        ("lower.tap", "a point of 'lower', found 'tap'; did you mean 'tip'?"),
    ):
        with pytest.raises(mbvi.ModelError, match=f"^trail: expected {re.escape(message)}$"):
            scene_of(model, [trail])


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(path.stem, marks=campaign if path.stem == "rope_1000" else ())
        for path in sorted(MODELS.glob("*.yaml"))
    ],
)
def test_every_model_has_a_look(name, tmp_path):
    """Bodies of some size, not of one place alone, and a page and a 3D file of them."""
    model = load(name)
    trajectory = mbvi.simulate(model, duration=5 * model.resolved().simulation.step)
    scene = make_scene(trajectory.system, pictures(trajectory, 1.0), None)
    assert {thing.name for thing in scene.things if thing.kind == "body"} == set(model.bodies)
    for thing in scene.things:
        assert np.isfinite(thing.places).all() and np.isfinite(thing.geometry.vertices).all()
        size = np.ptp(thing.geometry.vertices, axis=0)
        assert (size > 0).all()
        assert thing.kind != "body" or np.linalg.norm(size) > 1e-3 * scene.size
    assert np.isfinite(scene.extent).all() and scene.size > 0
    for suffix in ("glb", "html"):
        assert mbvi.animate(trajectory, tmp_path / f"a.{suffix}").stat().st_size > 10_000


def test_shapes_have_their_colours_and_mirrored_meshes_face_outward(tmp_path):
    trimesh.creation.annulus(0.5, 1, 1, sections=8).export(tmp_path / "ring.stl")
    shapes = [
        mbvi.Box(size=(1, 1, 1), mass=1, color=(1, 0, 0.5)),
        mbvi.Sphere(radius=1, position=(3, 0, 0)),
        mbvi.Mesh(file="ring.stl", scale=(1, 1, -1), color="#00ff00"),
    ]
    assert [shape.color for shape in shapes] == ["#FF0080", None, "#00FF00"]
    model = mbvi.Model(
        name="colours",
        bodies={"one": mbvi.Body(shapes=shapes), "two": mbvi.Body(shapes=shapes[:1])},
        joints={name: mbvi.Free(parent="world", child=name) for name in ("one", "two")},
    )
    model._files.folder = tmp_path
    one, two = scene_of(model)[0].things[:2]
    assert one.color == two.color == "#FFFFFF"
    tones = {tuple(np.round(255 * tone).astype(int)) for tone in one.geometry.tones}
    assert tones == {(255, 0, 55), (0, 43, 114), (0, 255, 0)}  # of the sphere that of the body
    mirrored, plain = (mbvi.Mesh(file="ring.stl", scale=scale) for scale in ((1, 1, -1), 1))
    volumes = [
        surface(body_geometry(mbvi.Body(shapes=[each]), HOLDS, model.files, 0.01)).volume for each in (mirrored, plain)
    ]
    assert volumes[0] == pytest.approx(volumes[1]) and volumes[1] > 0


def test_frames_are_axes_and_bare_welded_bodies_are_not_drawn():
    model = mbvi.Model(
        name="frames",
        bodies={
            "arm.1": mbvi.Body(
                shapes=[mbvi.Box(size=(1, 1, 1), mass=1)],
                frames={"tool.a": {"position": (1, 2, 3), "orientation": (0, 0, "90 deg")}},
            ),
            "flange": mbvi.Body(),
        },
        joints={
            "free": mbvi.Free(parent="world", child="arm.1"),
            "weld": mbvi.Weld(parent="arm.1", child="flange", position=(0, 0, 1)),
        },
    )
    scene, trajectory = scene_of(model, ["arm.1.tool.a", "flange"])
    assert [thing.name for thing in scene.things] == ["arm.1", "arm.1.tool.a"]
    axes = scene.things[1].geometry
    colors = np.round(axes.tones, 3)
    tips = [
        axes.vertices[(colors == color).all(axis=1)].mean(axis=0) - (1, 2, 3) for color in np.unique(colors, axis=0)
    ]
    half = 0.02 * scene.size  # blue along z, green along y, which points to -x, red along x, which points to y
    np.testing.assert_allclose(tips, half * np.array([(0, 0, 1), (-1, 0, 0), (0, 1, 0)]), rtol=0, atol=1e-12)
    place, rotation = trajectory.pose("arm.1.tool.a")
    np.testing.assert_allclose(place[0], (1, 2, 3), rtol=0, atol=1e-15)
    np.testing.assert_allclose(rotation[0], [[0, -1, 0], [1, 0, 0], [0, 0, 1]], rtol=0, atol=1e-15)
    np.testing.assert_array_equal(scene.trails[0].places[0], (1, 2, 3))


def test_robots_have_no_pins_and_no_inertias_of_links_without_shapes(tmp_path):
    """Of links with meshes for viewing only; a link between them that has none is a bar, and one welded to them is not drawn."""
    trimesh.creation.box((0.1, 0.1, 1)).export(tmp_path / "bar.stl")
    clad = mbvi.Body(mass=1, inertia=(1, 1, 1), shapes=[mbvi.Mesh(file="bar.stl")])
    bare = mbvi.Body(mass=1, inertia=(9, 9, 9))
    hinge = {"axis": (0, 1, 0), "offset": (0, 0, -0.5), "position": (0, 0, 0.5)}
    model = mbvi.Model(
        name="robot",
        bodies={"a": clad, "b": bare, "c": clad, "camera": bare},
        joints={
            "ab": mbvi.Revolute(parent="world", child="a", **hinge),
            "bc": mbvi.Revolute(parent="a", child="b", **hinge),
            "cd": mbvi.Revolute(parent="b", child="c", **hinge),
            "mount": mbvi.Weld(parent="c", child="camera", position=(0, 0, 0.5)),
        },
    )
    model._files.folder = tmp_path
    things = scene_of(model)[0].things
    assert [thing.name for thing in things] == ["a", "b", "c"]
    assert np.ptp(things[1].geometry.vertices, axis=0).max() < 1.2  # 7 of the box with its inertia


# ----------------------------------------------------------------------------------------------------- robots

MATERIAL = """<material id="{0}"><instance_effect url="#{0}-e"/></material>"""
EFFECT = """<effect id="{0}-e"><profile_COMMON><technique sid="t"><lambert><diffuse><color>{1} 1</color></diffuse></lambert>
</technique></profile_COMMON></effect>"""
TRIANGLES = (
    """<triangles count="1" material="{0}"><input semantic="VERTEX" source="#v" offset="0"/><p>{1}</p></triangles>"""
)
DAE = f"""<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset><unit meter="1"/></asset>
<library_effects>{EFFECT.format("red", "1 0 0")}{EFFECT.format("blue", "0 0 1")}</library_effects>
<library_materials>{MATERIAL.format("red")}{MATERIAL.format("blue")}</library_materials>
<library_geometries><geometry id="g"><mesh><source id="p">
<float_array id="a" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array>
<technique_common><accessor source="#a" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source><vertices id="v"><input semantic="POSITION" source="#p"/>
</vertices>{TRIANGLES.format("red", "0 1 2")}{TRIANGLES.format("blue", "0 3 1")}{TRIANGLES.format("none", "0 2 3")}
</mesh></geometry>
</library_geometries><library_visual_scenes><visual_scene id="s"><node><instance_geometry url="#g"><bind_material>
<technique_common><instance_material symbol="red" target="#red"/><instance_material symbol="blue" target="#blue"/>
</technique_common></bind_material></instance_geometry></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


def test_a_mesh_has_the_colours_of_its_file_or_one_of_its_own(tmp_path, monkeypatch):
    pytest.importorskip("collada")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "part.dae").write_text(DAE)

    def colors(**fields):
        body = mbvi.Body(shapes=[mbvi.Mesh(file="part.dae", scale=1, **fields)])
        geometry = body_geometry(body, HOLDS, None, 0.01)
        return {tuple(tone) for tone in geometry.tones[geometry.faces[:, 0]].round(3).tolist()}

    assert colors() == {(1, 0, 0), (0, 0, 1), (0.521, 0.521, 0.521)}
    assert colors(color="#FFFFFF") == {(0.82, 0.82, 0.82)}
    assert colors(color="#004080") == {tuple(linear_rgb("#004080").round(3))}


def robot(*, base, arm, mesh):
    """A base that is fixed, with a body that hangs on it; each is a ball of a mesh at a height."""
    bodies = {}
    for name, height, color in (("base", base, "#FF0000"), ("arm", arm, "#00FF00")):
        shape = mesh.replaced({"position": (0, 0, height), "color": color})
        bodies[name] = mbvi.Body(mass=1, center_of_mass=(0, 0, height), inertia=(0.1, 0.1, 0.1), shapes=[shape])
    joints = {
        "held": mbvi.Weld(parent="world", child="base"),
        "j": mbvi.Revolute(parent="base", child="arm", axis=(0, 1, 0), position=(0, 0, 2)),
    }
    return mbvi.Model(name="robot_1", bodies=bodies, joints=joints)


@pytest.fixture
def ball(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trimesh.creation.icosphere(4, 0.5).export("ball.stl")
    return mbvi.Mesh(file="ball.stl", scale=1)


def test_the_floor_is_where_a_robot_stands_or_below_all_that_hangs(ball):
    """The arm falls to 1 m below the world's origin, where the base stands; a base at 5 m lets it hang."""
    standing, run = scene_of(robot(base=0.5, arm=2.5, mesh=ball), initial_q=[0.5], duration=3, step=0.05)
    assert run.pose("arm")[1][:, 2, 2].min() < -0.9
    assert -0.05 < standing.floor < 0
    hanging, _ = scene_of(robot(base=5, arm=-1, mesh=ball), initial_q=[0.3], duration=0.1)
    assert hanging.floor < 0.51


def test_meshes_may_be_simplified(ball):
    """The surface stays where it was, with fewer triangles; colours of triangles stay with them."""
    full = ball.surface(mbvi.model.mesh_files.Files())
    fewer, kept = simplified(full, 1000)
    assert 300 < len(fewer.faces) == len(kept) <= 1000 < len(full.faces)
    np.testing.assert_allclose(np.linalg.norm(fewer.vertices, axis=1), 0.5, atol=0.02)
    assert fewer.area == pytest.approx(np.pi, rel=0.03)
    np.testing.assert_allclose(fewer.triangles_center, full.triangles_center[kept], atol=0.1)
    run = mbvi.simulate(robot(base=0.5, arm=2.5, mesh=ball), step=0.01, duration=0.02)
    scene = make_scene(run.system, pictures(run, 1.0), None, triangles=1500)
    assert sum(len(thing.geometry.faces) for thing in scene.things) <= 1500


def test_pins_and_rings_of_a_robot_without_meshes_are_not_longer_than_its_links():
    """A small link with the inertia of a motor, on a long trunk along the axis of its hinge."""
    bodies = {
        "trunk": mbvi.Body(mass=10, inertia=(0.05, 1, 1)),
        "hip": mbvi.Body(mass=1, inertia=(0.1, 0.1, 0.2)),
        "leg": mbvi.Body(mass=1, center_of_mass=(0, 0, -0.1), inertia=(0.003, 0.003, 0.0001)),
    }
    joints = {
        "base": mbvi.Free(parent="world", child="trunk"),
        "roll": mbvi.Revolute(parent="trunk", child="hip", axis=(1, 0, 0), position=(0.5, 0, 0)),
        "pitch": mbvi.Revolute(parent="hip", child="leg", axis=(0, 1, 0), position=(0.05, 0, 0)),
    }
    scene, _ = scene_of(mbvi.Model(name="robot", bodies=bodies, joints=joints))
    sizes = {thing.name: np.ptp(thing.geometry.vertices, axis=0) for thing in scene.things}
    assert np.linalg.norm(sizes["hip"]) < 0.15 and sizes["roll"][0] < 0.15
