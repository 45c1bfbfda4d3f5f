"""What a mesh file says besides its vertices and faces does not matter, nor do the files that it names."""

import errno
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import trimesh

import mbvi.model as mm
from mbvi import ModelError
from mbvi.model.mesh_files import read_mesh
from mbvi.model.surfaces import volume_of

CUBE = trimesh.creation.box((1, 1, 1))
STL_TEXT = CUBE.export(file_type="stl_ascii").encode()
TETRAHEDRON = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 6\n"
TRIANGLE = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


def msh(vertices, faces, normals=0, textures=0):
    """A file of MuJoCo's old format, of which the normals and the places in a texture are any numbers."""
    head = struct.pack("<4i", len(vertices), normals, textures, len(faces) // 3)
    numbers = np.concatenate([np.ravel(vertices), np.full(3 * normals + 2 * textures, 7.0)])
    return head + numbers.astype("<f4").tobytes() + np.array(faces, "<i4").tobytes()


BEGINS = "expected a GLB file, found 'cube.glb', whose first four bytes are not 'glTF'; export it again"


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


@pytest.mark.parametrize("kind", ["stl", "obj", "ply", "off", "glb", "dae"])
def test_every_format_has_the_same_surface(kind, tmp_path):
    CUBE.export(tmp_path / f"cube.{kind.upper()}", file_type=kind)
    surface = read_mesh(mm.Mesh(file=f"cube.{kind.upper()}", density=1), tmp_path)
    assert {tuple(vertex) for vertex in surface.vertices} == {tuple(vertex) for vertex in CUBE.vertices}
    assert volume_of(surface, f"cube.{kind}")[0] == pytest.approx(1, rel=1e-12)


def test_a_glb_with_its_buffers_elsewhere_is_refused(tmp_path):
    text = CUBE.export(file_type="gltf")["model.gltf"]
    text += b" " * (-len(text) % 4)
    header = struct.pack("<4sIIII", b"glTF", 2, 20 + len(text), len(text), 0x4E4F534A)
    (tmp_path / "cube.glb").write_bytes(header + text)
    with pytest.raises(ModelError) as caught:
        mm.mass_properties(mm.Body(shapes=[mm.Mesh(file="cube.glb", density=1)]), tmp_path)
    message = "expected a mesh in one file, found 'cube.glb', whose numbers are in another; export it as one .glb file"
    assert str(caught.value) == message


def glb(header, binary):
    """A GLB file of a header and its numbers."""
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(binary), 0x004E4942) + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def glb_header(**keys):
    """The header of a GLB file with a cube, and its numbers."""
    places, indices = CUBE.vertices.astype("<f4").tobytes(), CUBE.faces.astype("<u4").tobytes()
    header = {
        "asset": {"version": "2.0"},
        "buffers": [{"byteLength": len(places + indices)}],
        "bufferViews": [
            {"buffer": 0, "byteLength": len(places)},
            {"buffer": 0, "byteOffset": len(places), "byteLength": len(indices)},
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5125, "count": 36, "type": "SCALAR"},
        ],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "nodes": [{"mesh": 0}],
        "scenes": [{"nodes": [0]}],
        "scene": 0,
    }
    return header | keys, places + indices


def mass_of(folder, name, content, **keys):
    (folder / name).write_bytes(content)
    return mm.mass_properties(mm.Body(shapes=[mm.Mesh(file=name, density=1, **keys)]), folder)


def message_of(folder, name, content, **keys):
    with pytest.raises(ModelError) as caught:
        mass_of(folder, name, content, **keys)
    return str(caught.value)


def test_nodes_of_a_glb_move_scale_and_mirror(tmp_path):
    """Beside a camera, which has a child: two cubes of 2 x 1 x 1 at 2 (±5, 0, 0), the second mirrored."""
    nodes = [
        {"scale": [2, 1, 1], "children": [1], "camera": 0},
        {"mesh": 0, "translation": [5, 0, 0]},
        {"mesh": 0, "matrix": [-2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -10, 0, 0, 1]},
    ]
    cameras = [{"type": "perspective", "perspective": {"yfov": 1, "znear": 1}}]
    header, numbers = glb_header(nodes=nodes, scenes=[{"nodes": [0, 2]}], cameras=cameras)
    found = mass_of(tmp_path, "cubes.glb", glb(header, numbers), scale=1)  # they are 22 m long
    assert found.mass == pytest.approx(4, rel=1e-12)
    np.testing.assert_allclose(found.center_of_mass, 0, rtol=0, atol=1e-12)
    own, across = 4 * 2 / 12, 4 * (5 / 12 + 100)
    np.testing.assert_allclose(found.inertia, np.diag([own, across, across]), rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"extensionsRequired": ["KHR_draco_mesh_compression"]},
            "expected a mesh without compression or other extensions, found 'cube.glb', which needs "
            "KHR_draco_mesh_compression; export it without",
        ),
        (
            {"extensionsRequired": ["EXT_meshopt_compression", "KHR_materials_unlit"]},
            "expected a mesh without compression or other extensions, found 'cube.glb', which needs EXT_meshopt_compression; "
            "export it without",
        ),
        (
            {"extensionsUsed": ["EXT_mesh_gpu_instancing"]},
            "expected a mesh without compression or other extensions, found 'cube.glb', which needs EXT_mesh_gpu_instancing; "
            "export it without",
        ),
        (
            {
                "nodes": [{"mesh": 0, "children": [2]}, {"mesh": 0, "children": [2]}, {"mesh": 0}],
                "scenes": [{"nodes": [0, 1]}],
            },
            "expected every node of a mesh in one place, found some of 'cube.glb' in several; export it again",
        ),
        (
            {"meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "mode": 6}]}]},
            "expected a mesh of triangles or a strip, found other primitives in 'cube.glb' (mode 6); export it as triangles",
        ),
    ],
)
def test_what_of_a_glb_is_not_read_is_refused(tmp_path, keys, message):
    assert message_of(tmp_path, "cube.glb", glb(*glb_header(**keys))) == message


@pytest.mark.parametrize("what", ["bufferView", "sparse", "normalized"])
@pytest.mark.parametrize("index", [0, 1])
def test_numbers_of_a_glb_that_are_elsewhere(tmp_path, what, index):
    header, numbers = glb_header()
    header["meshes"][0]["primitives"][0]["extensions"] = {
        "KHR_draco_mesh_compression": {"bufferView": 0, "attributes": {}}
    }
    header["accessors"][index] |= {"sparse": {}} if what == "sparse" else {"normalized": True}
    if what == "bufferView":
        header["accessors"][index] = {key: value for key, value in header["accessors"][index].items() if key != what}
    message = (
        "expected a mesh without compression, found 'cube.glb', whose places or indices are not in it as plain numbers "
        "(KHR_draco_mesh_compression); export it without"
    )
    assert message_of(tmp_path, "cube.glb", glb(header, numbers)) == message


def test_an_extension_that_has_no_say_is_none(tmp_path):
    keys = {
        "extensionsRequired": ["KHR_materials_unlit", "KHR_texture_transform"],
        "extensionsUsed": ["VENDOR_something"],
    }
    assert mass_of(tmp_path, "cube.glb", glb(*glb_header(**keys))).mass == pytest.approx(1, rel=1e-12)


def claim_of_glb(count, **accessor):
    header, numbers = glb_header()
    header["accessors"].append({"componentType": 5126, "count": count, "type": "MAT4", **accessor})
    return glb(header, numbers)


def chain_of_glb(count):
    nodes = [{"mesh": 0, "children": [i + 1]} for i in range(count - 1)]
    return glb(*glb_header(nodes=[*nodes, {"mesh": 0}]))


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("cube.glb", claim_of_glb(10**10), "that unfolds to 6.4e+05 MB"),
        ("cube.glb", claim_of_glb(10**10, bufferView=0), "that unfolds to 6.4e+05 MB"),
        ("cube.glb", chain_of_glb(30000), "that unfolds to 150.03 MB"),
        ("part.off", b"OFF\n1 1 0\n0 0 0\n3000002" + 3_000_002 * b" 0", "whose faces take 150 MB"),
        ("part.ply", b"ply\nformat ascii 1.0\nelement face 4000000\nend_header\n", "whose faces take 200 MB"),
        ("part.obj", b"v 0 0 0\nf" + 3_000_002 * b" 1", "whose faces take 150 MB"),
    ],
)
def test_claims_are_checked_before_anything_is_read(tmp_path, name, content, found):
    message = f"expected a mesh of at most 100 MB, found {name!r} {found}; reduce it, or raise max_bytes of the shape"
    assert message_of(tmp_path, name, content) == message


def test_a_file_that_is_mostly_empty(tmp_path):
    """A sparse file of 50 GB, which takes no space."""
    with open(tmp_path / "part.stl", "wb") as file:
        file.truncate(84 + 50 * 10**9)
    body = mm.Body(shapes=[mm.Mesh(file="part.stl", density=1)])
    with pytest.raises(ModelError) as caught:
        mm.mass_properties(body, tmp_path)
    remedy = "reduce it, or raise max_bytes of the shape"
    assert str(caught.value) == f"expected a mesh of at most 100 MB, found 'part.stl' of 50000 MB; {remedy}"


def test_the_limit_is_an_argument(tmp_path):
    content = CUBE.export(file_type="stl")
    assert mass_of(tmp_path, "cube.stl", content, max_bytes=len(content)).mass == pytest.approx(1, rel=1e-12)
    text = message_of(tmp_path, "cube.stl", content, max_bytes=len(content) - 1)
    remedy = "reduce it, or raise max_bytes of the shape"
    assert text == f"expected a mesh of at most 0.000683 MB, found 'cube.stl' of 0.000684 MB; {remedy}"
    assert mass_of(tmp_path, "cube.glb", chain_of_glb(2), max_bytes="50e3").mass == pytest.approx(2, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "cube.stl",
            CUBE.export(file_type="stl")[:-20],
            "expected an STL file with as many triangles as it claims, found 'cube.stl', which claims 12 and has bytes for 11.6; "
            "export it again",
        ),
        (
            "cube.off",
            b"\n".join(CUBE.export(file_type="off").encode().splitlines()[:20]),
            "expected 8 vertices and 12 faces, as the file claims, found 8 and 10 in 'cube.off'; export it again",
        ),
        (
            "cube.ply",
            CUBE.export(file_type="ply", encoding="ascii")[:-12],
            "expected 8 vertices and at least 12 triangles, as the file claims, found 8 and 10 in 'cube.ply'; export it again",
        ),
        (
            "cube.ply",
            CUBE.export(file_type="ply", encoding="ascii").replace(b"\n3 7 5", b"\n3 7 9"),
            "expected faces of the 8 vertices, which are counted from 0, found 0 to 9 in 'cube.ply'; export it again",
        ),
        (
            "cube.ply",
            CUBE.export(file_type="ply", encoding="ascii").replace(b"\n3 7 5", b"\n3 x 9"),
            "expected a readable mesh, found 'cube.ply', which does not follow its format; export it again",
        ),
        ("cube.glb", b"x" + CUBE.export(file_type="glb")[1:], BEGINS),
        ("empty.stl", b"", "expected an STL file, found 'empty.stl', a file of 0 bytes; export it again"),
        ("part.stl", b"hello\n", "expected an STL file, found 'part.stl', a text of 6 bytes; export it again"),
        ("part.stl", 20 * b"hello\n", "expected an STL file, found 'part.stl', a text of 120 bytes; export it again"),
        (
            "cube.stl",
            STL_TEXT[:-200],
            "expected an STL text with its endsolid, found 'cube.stl', which was cut off; export it again",
        ),
        (
            "cube.stl",
            STL_TEXT.replace(b".", b","),
            "expected a readable mesh, found 'cube.stl', which does not follow its format; export it with decimal points",
        ),
        (
            "part.obj",
            b"v 0 0 0\nv 1,5 0 0\n",
            "expected a vertex of three numbers, found 'v 1,5 0 0' in line 2 of 'part.obj'; export it with decimal points",
        ),
        (
            "part.obj",
            TETRAHEDRON + b"f 1 2\\\n  \\\n 3 # with\nf 0 1 2\n",
            "expected a face of the 4 vertices, which are counted from 1, found 'f 0 1 2' in line 8 of 'part.obj'; "
            "export it again",
        ),
        (
            "part.obj",
            TETRAHEDRON + b"f 1/1 2/1 5/1\n",
            "expected a face of the 4 vertices, which are counted from 1, found 'f 1/1 2/1 5/1' in line 5 of 'part.obj'; "
            "export it again",
        ),
        (
            "part.obj",
            TETRAHEDRON + b"f -1 -2 -5\n",
            "expected a face of the 4 vertices, which are counted from 1, found 'f -1 -2 -5' in line 5 of 'part.obj'; "
            "export it again",
        ),
        (
            "part.obj",
            TETRAHEDRON + b"f 1 2 x\n",
            "expected a face of indices of vertices, found 'f 1 2 x' in line 5 of 'part.obj'; export it again",
        ),
        (
            "part.obj",
            TETRAHEDRON + b"f 1 2 99999999999999999999\n",
            "expected a face of indices of vertices, found 'f 1 2 99999999999999999999' in line 5 of 'part.obj'; export it again",
        ),
        (
            "part.off",
            b"8 6 0\n",
            "expected OFF and the numbers of vertices and faces, found '8 6 0' in line 1 of 'part.off'; export it again",
        ),
        (
            "part.off",
            b"OFF # 3\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n",
            "expected a face of the 3 vertices, which are counted from 0, found '3 0 1 3' in line 6 of 'part.off'; "
            "export it again",
        ),
        (
            "part.off",
            b"OFF 3 1\n0 0 0\n1 0 0\n0 1 0\n4 0 1 2\n",
            "expected a face of indices of vertices, found '4 0 1 2' in line 5 of 'part.off'; export it again",
        ),
        (
            "part.msh",
            b"\0" * 12,
            "expected an MSH file of MuJoCo, found 'part.msh', a file of 12 bytes; export it again",
        ),
        (
            "part.msh",
            b"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n",
            "expected an MSH file of MuJoCo, found 'part.msh', which is one of Gmsh; export it as STL or OBJ",
        ),
        (
            "part.msh",
            msh(TRIANGLE, [0, 1, 2])[:-4],
            "expected 64 bytes, as the file claims, found 60 in 'part.msh'; export it again",
        ),
        (
            "part.msh",
            msh(TRIANGLE, [0, 1, 3]),
            "expected faces of the 3 vertices, which are counted from 0, found 0 to 3 in 'part.msh'; export it again",
        ),
        (
            "part.msh",
            struct.pack("<4i", -1, 0, 0, 0),
            "expected an MSH file of MuJoCo, found 16 in 'part.msh'; export it again",
        ),
        (
            "cube.obj",
            b"v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
            "expected finite numbers, found others among the vertices of 'cube.obj'; export it again",
        ),
        (
            "cube.ply",
            b"ply\nformat ascii 1.0\nelement vertex 1\n" + b"property list uchar float a\n" * 300 + b"end_header\n",
            "expected at most 256 properties of a mesh, found 301 in 'cube.ply'; export places and faces alone",
        ),
    ],
)
def test_damaged_files(tmp_path, name, content, message):
    assert message_of(tmp_path, name, content) == message


@pytest.mark.parametrize(
    "faces",
    [
        b"f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4",
        b"f 1/7/1 3/8/2 2/9/3 # base\nf 1//1 2 4/5 \nf 1 4 3# last\nf 2 3 4\ng\ns 1\nl 1 2",
        b"f -4 -2 -3\nv 0 0 9\nf -5 -4 -2\nv 0 0 9\nf 1 -3 \\\n 3\nf 2 3 4",
    ],
)
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_what_lines_of_an_obj_may_hold(tmp_path, faces, end):
    """Comments, textures, normals, weights or colours, negative indices among vertices; a comment that ends in a backslash."""
    vertices = TETRAHEDRON.replace(b"v 1 0 0", b"\tv 1 0 0 0.5 0.5 1.0").replace(b"v 0 1 0", b"v 0 1 0 2 # corner")
    content = b"\xef\xbb\xbf# of C:\\parts\\\n" + vertices + faces
    assert mass_of(tmp_path, "part.obj", content.replace(b"\n", end)).mass == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("name", ["prism.obj", "prism.off", "prism.ply"])
def test_faces_of_any_number_of_corners(tmp_path, name):
    """A prism of 2 m on a polygon of five corners, one of them inwards, of 3 m²."""
    outline = [(0, 0), (2, 0), (2, 2), (1, 1), (0, 2)]
    places = [f"{x} {y} {z}" for z in (0, 2) for x, y in outline]
    sides = [(i, (i + 1) % 5, (i + 1) % 5 + 5, i + 5) for i in range(5)]
    faces = [(4, 3, 2, 1, 0), (5, 6, 7, 8, 9), *sides]
    polygons = [f"{len(face)} {' '.join(map(str, face))}" for face in faces]
    header = "ply\nformat ascii 1.0\nelement vertex 10\nproperty float x\nproperty float y\nproperty float z\n"
    header += "element face 7\nproperty list uchar int vertex_indices\nend_header"
    lines = {
        "prism.obj": [f"v {place}" for place in places] + ["f " + " ".join(str(i + 1) for i in face) for face in faces],
        "prism.off": [
            "COFF",
            "10 7 0",
            *(f"{place} 0 0 1 1" for place in places),
            *(f"{each} 9 9 9" for each in polygons),
        ],
        "prism.ply": [header, *places, *polygons],
    }[name]
    found = mass_of(tmp_path, name, "\n".join(lines).encode())
    assert found.mass == pytest.approx(6, rel=1e-12)
    np.testing.assert_allclose(found.center_of_mass, [1, 7 / 9, 1], rtol=1e-12)


@pytest.mark.parametrize(("normals", "textures"), [(0, 0), (8, 0), (2, 5)])
def test_the_old_format_of_mujoco(tmp_path, normals, textures):
    content = msh(2 * CUBE.vertices + [3, 0, 0], np.ravel(CUBE.faces), normals, textures)
    found = mass_of(tmp_path, "cube.msh", content)
    assert found.mass == pytest.approx(8, rel=1e-6)
    np.testing.assert_allclose(found.center_of_mass, [3, 0, 0], rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", ["stl_ascii", "obj", "off", "ply"])
def test_comments_may_be_in_any_code(kind, tmp_path):
    options = {"encoding": "ascii"} if kind == "ply" else {}
    content = CUBE.export(file_type=kind, **options)
    content = content if isinstance(content, bytes) else content.encode()
    line = {"stl_ascii": b"solid K\xf6rper\n", "ply": b"ply\nformat ascii 1.0\ncomment K\xf6rper\n"}.get(
        kind, b"# K\xf6rper\n"
    )
    body = {"stl_ascii": content.split(b"\n", 1)[-1], "ply": content.split(b"\n", 2)[-1]}.get(kind, content)
    assert mass_of(tmp_path, f"cube.{kind[:3]}", line + body).mass == pytest.approx(1, rel=1e-12)


def test_solids_of_a_text_are_one(tmp_path):
    """Thousands of them take no longer than one."""
    text = CUBE.export(file_type="stl_ascii").encode()
    facets = text.split(b"facet normal")[1:]
    solids = [b"solid part\nfacet normal" + facet.rsplit(b"endsolid", 1)[0] + b"endsolid part\n" for facet in facets]
    assert mass_of(tmp_path, "cube.stl", b"".join(solids)).mass == pytest.approx(1, rel=1e-12)


def test_a_file_that_cannot_be_read(tmp_path, monkeypatch):
    def read_bytes(path):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    CUBE.export(tmp_path / "cube.stl")
    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    with pytest.raises(ModelError) as caught:
        read_mesh(mm.Mesh(file="cube.stl"), tmp_path)
    assert str(caught.value) == "expected a readable mesh, found 'cube.stl' (input/output error)"


def test_nothing_is_printed_of_bad_normals(tmp_path):
    """Which do not matter; the reader's notes on them are for its log alone."""
    content = CUBE.export(file_type="stl_ascii").replace("facet normal ", "facet normal x", 1)
    (tmp_path / "cube.stl").write_text(content)
    program = "import pathlib, sys, mbvi.model as mm; body = mm.Body(shapes=[mm.Mesh(file='cube.stl', density=1)])"
    program += "; print(mm.mass_properties(body, pathlib.Path(sys.argv[1])).mass)"
    done = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True)
    assert (done.stdout[:3], done.stderr) == ("1.0", "")


def test_every_axis_may_have_a_scale_and_negative_ones_mirror(tmp_path):
    """Against the same surface with its vertices moved, whose volume, centre and inertia trimesh integrates."""
    solid = trimesh.util.concatenate(
        [trimesh.creation.box((1, 2, 3)), trimesh.creation.icosphere(1, 0.5).apply_translation((3, 1, 0.5))]
    )
    solid.export(tmp_path / "solid.ply")
    factors = (0.5, -2.0, 3.0)
    moved = solid.copy().apply_transform(np.diag([*factors, 1.0]))
    moved.density = 7.0
    found = mm.mass_properties(mm.Body(shapes=[mm.Mesh(file="solid.ply", scale=factors, density=7)]), tmp_path)
    assert found.mass == pytest.approx(moved.mass, rel=1e-6)  # the file has single precision
    np.testing.assert_allclose(found.center_of_mass, moved.center_mass, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found.inertia, moved.moment_inertia, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        (-1, "scale: expected a factor greater than 0, found -1; write for example 0.001"),
        ([1, 0, 1], "scale: expected factors greater than 0, or less, found [1, 0, 1]; write for example 0.001"),
        ([1, 2], "scale: expected a number or 3 numbers, found [1, 2]; write for example 0.001, or [1, 1, -1]"),
    ],
)
def test_scales_that_cannot_be(scale, message):
    with pytest.raises(ModelError) as error:
        next(iter(mm.mass_properties(mm.Body(shapes=[mm.Mesh(file="solid.ply", scale=scale)]))))
    assert str(error.value).endswith(message)


def test_the_unit_of_a_dae_file_counts(tmp_path):
    content = CUBE.export(file_type="dae")
    (tmp_path / "cube.dae").write_bytes(content.replace(b"</asset>", b'<unit name="mm" meter="0.001"/></asset>'))
    assert mm.mass_properties(mm.Body(shapes=[mm.Mesh(file="cube.dae", density=6e9)]), tmp_path).mass == pytest.approx(
        6
    )
