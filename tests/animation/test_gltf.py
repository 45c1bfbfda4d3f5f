"""A 3D file, read by other libraries: nodes named as the bodies, with their poses in time."""

import numpy as np
import pygltflib
import pytest
import trimesh
from scipy.spatial.transform import Rotation

import mbvi

TYPES = {5121: np.uint8, 5125: np.uint32, 5126: np.float32}
WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}


@pytest.fixture(scope="module")
def path(double_pendulum, tmp_path_factory):
    return mbvi.animate(double_pendulum, tmp_path_factory.mktemp("glb") / "a.glb", trails=["lower"])


def values(document, index):
    accessor = document.accessors[index]
    view = document.bufferViews[accessor.bufferView]
    data = document.binary_blob()[view.byteOffset : view.byteOffset + view.byteLength]
    return np.frombuffer(data, TYPES[accessor.componentType]).reshape(accessor.count, WIDTHS[accessor.type]).squeeze()


def channels(document, name):
    """Key times, translations and rotations of a node."""
    (node,) = (i for i, node in enumerate(document.nodes) if node.name == name)
    (animation,) = document.animations
    found = {
        channel.target.path: animation.samplers[channel.sampler]
        for channel in animation.channels
        if channel.target.node == node
    }
    times = values(document, found["translation"].input)
    return times, *(values(document, found[path].output) for path in ("translation", "rotation"))


def test_nodes_move_as_the_bodies(path, double_pendulum):
    document = pygltflib.GLTF2().load(path)
    for body in ("upper", "lower"):
        times, places, quaternions = channels(document, body)
        np.testing.assert_allclose(times, double_pendulum.t, rtol=0, atol=1e-6)  # steps are those of pictures
        expected, rotations = double_pendulum.pose(body)
        np.testing.assert_allclose(places, expected, rtol=0, atol=1e-6)
        np.testing.assert_allclose(Rotation.from_quat(quaternions).as_matrix(), rotations, rtol=0, atol=1e-6)
        assert (np.sum(quaternions[1:] * quaternions[:-1], axis=1) > 0).all()


def test_the_file_is_what_the_specification_asks_for(path):
    content = path.read_bytes()
    assert content[:4] == b"glTF" and int.from_bytes(content[8:12], "little") == len(content)
    document = pygltflib.GLTF2().load(path)
    assert sum(view.byteLength for view in document.bufferViews) == document.buffers[0].byteLength
    for accessor in document.accessors:
        view = document.bufferViews[accessor.bufferView]
        size = np.dtype(TYPES[accessor.componentType]).itemsize * WIDTHS[accessor.type]
        assert view.byteOffset % 4 == 0 and view.byteLength == accessor.count * size
    for mesh in document.meshes:
        for primitive in mesh.primitives:
            position = document.accessors[primitive.attributes.POSITION]
            data = values(document, primitive.attributes.POSITION)
            np.testing.assert_allclose([position.min, position.max], [data.min(axis=0), data.max(axis=0)], rtol=1e-6)
            if primitive.indices is not None:
                assert values(document, primitive.indices).max() < position.count
                normals = values(document, primitive.attributes.NORMAL)
                np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1, rtol=0, atol=1e-5)
    for sampler in document.animations[0].samplers:
        assert document.accessors[sampler.input].count == document.accessors[sampler.output].count
        assert document.accessors[sampler.input].min is not None


def test_trimesh_sees_the_first_state_with_y_up(path, double_pendulum):
    scene = trimesh.load(path)
    assert {"double pendulum", "upper", "lower"} <= set(scene.graph.nodes)
    transform, _ = scene.graph.get("lower")
    place, rotation = double_pendulum.pose("lower")
    to_y_up = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])
    np.testing.assert_allclose(transform[:3, 3], to_y_up @ place[0], rtol=0, atol=1e-6)
    np.testing.assert_allclose(transform[:3, :3], to_y_up @ rotation[0], rtol=0, atol=1e-6)


def test_speed_is_in_the_key_times(double_pendulum, tmp_path):
    document = pygltflib.GLTF2().load(mbvi.animate(double_pendulum, tmp_path / "a.glb", speed=0.25))
    times, places, _ = channels(document, "lower")
    assert times[-1] == pytest.approx(4 * double_pendulum.t[-1])
    np.testing.assert_allclose(places[::4], double_pendulum.pose("lower")[0], rtol=0, atol=1e-6)


def test_like_bodies_share_their_triangles(models, tmp_path):
    trajectory = mbvi.simulate(mbvi.load(models / "chain_10.yaml"), duration=0.05)
    document = pygltflib.GLTF2().load(mbvi.animate(trajectory, tmp_path / "a.glb"))
    rods = [document.meshes[node.mesh].primitives[0] for node in document.nodes if node.name.startswith("rod")]
    # Three radii take turns; the last rod is held at one end only.
    assert len(rods) == 10 and len({rod.indices for rod in rods}) == 4 and len({rod.material for rod in rods}) == 10
