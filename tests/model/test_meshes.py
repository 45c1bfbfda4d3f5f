"""What a mesh file says besides its vertices and faces does not matter, nor do the files that it names."""

import errno
import os
import struct
from pathlib import Path

import numpy as np
import pytest
import trimesh

import mbvi.model as mm
from mbvi import ModelError
from mbvi.model.meshes import read_mesh

CUBE = trimesh.creation.box((1, 1, 1))


def write_textured(path):
    """A cube as editors write it: every corner of a face has a place of its own in the texture, and every face a normal."""
    corners = range(1, 37)
    lines = ["mtllib cube.mtl", *(f"v {x} {y} {z}" for x, y, z in CUBE.vertices)]
    lines += [f"vt {i / 36} {i * i % 37 / 37}" for i in corners]
    lines += [f"vn {x} {y} {z}" for x, y, z in CUBE.face_normals]
    for i, face in enumerate(CUBE.faces):
        lines += [f"usemtl {'ab'[i // 6]}"] if i % 6 == 0 else []
        lines += ["f " + " ".join(f"{vertex + 1}/{3 * i + k + 1}/{i + 1}" for k, vertex in enumerate(face))]
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("kind", ["obj", "ply", "glb"])
def test_seams_of_a_texture_are_no_holes(kind, tmp_path, caplog):
    write_textured(tmp_path / "cube.obj")
    if kind != "obj":
        content = trimesh.load(tmp_path / "cube.obj", force="mesh").export(file_type=kind)
        if kind == "ply":
            content = content.replace(b" 1.0\n", b" 1.0\ncomment TextureFile wood.png\n", 1)
        (tmp_path / f"cube.{kind}").write_bytes(content)
    body = mm.Body(shapes=[mm.Mesh(file=f"cube.{kind}", density=6)])
    found = mm.mass_properties(body, tmp_path)
    assert found.mass == pytest.approx(6, rel=1e-12)
    np.testing.assert_allclose(found.inertia, np.eye(3), rtol=0, atol=1e-12)
    assert len(read_mesh(body.shapes[0], tmp_path).vertices) == 8
    assert not [record for record in caplog.records if record.levelname == "WARNING"]


@pytest.mark.parametrize("kind", ["stl", "obj", "ply", "off", "glb"])
def test_every_format_has_the_same_surface(kind, tmp_path):
    CUBE.export(tmp_path / f"cube.{kind.upper()}", file_type=kind)
    surface = read_mesh(mm.Mesh(file=f"cube.{kind.upper()}", density=1), tmp_path)
    assert {tuple(vertex) for vertex in surface.vertices} == {tuple(vertex) for vertex in CUBE.vertices}
    assert surface.volume == pytest.approx(1, rel=1e-12)


def test_a_glb_with_its_buffers_elsewhere_is_refused(tmp_path):
    text = CUBE.export(file_type="gltf")["model.gltf"]
    text += b" " * (-len(text) % 4)
    header = struct.pack("<4sIIII", b"glTF", 2, 20 + len(text), len(text), 0x4E4F534A)
    (tmp_path / "cube.glb").write_bytes(header + text)
    with pytest.raises(ModelError) as caught:
        mm.mass_properties(mm.Body(shapes=[mm.Mesh(file="cube.glb", density=1)]), tmp_path)
    message = "expected a readable mesh, found 'cube.glb' (TypeError); export it again, all of it in one file"
    assert str(caught.value) == message


def test_a_file_that_cannot_be_read(tmp_path, monkeypatch):
    def read_bytes(path):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    CUBE.export(tmp_path / "cube.stl")
    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    with pytest.raises(ModelError) as caught:
        read_mesh(mm.Mesh(file="cube.stl"), tmp_path)
    assert str(caught.value) == f"expected a readable mesh, found 'cube.stl' ({os.strerror(errno.EIO)})"
