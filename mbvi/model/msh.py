"""Vertices and triangles of MSH files, the old binary format of MuJoCo.

Four numbers of 32 bits say how many vertices, normals, places in a texture and triangles follow; then there are the places of the
vertices, the normals and the places in the texture, of 32 bits each, and the vertices of the triangles, counted from 0.

Source: the documentation of MuJoCo, "XML Reference", asset/mesh.
"""

from __future__ import annotations

import numpy as np

from mbvi.errors import ModelError
from mbvi.model.expressions import wrong
from mbvi.model.polygons import Polygons

HEAD_BYTES, NUMBER_BYTES = 16, 4
NUMBERS = 3, 3, 2, 3  # of a vertex, a normal, a place in a texture and a triangle


def read_msh(name: str, content: bytes) -> Polygons:
    """The triangles of an MSH file, whose normals and textures are left out.

    Raises
    ------
    ModelError
        If it is another file, is cut off, or has triangles of vertices that it has not.
    """
    if content.startswith(b"$MeshFormat"):
        found = f"{name!r}, which is one of Gmsh"
        raise ModelError(wrong("an MSH file of MuJoCo", found, "export it as STL or OBJ"))
    if len(content) < HEAD_BYTES:
        raise ModelError(wrong("an MSH file of MuJoCo", f"{name!r}, a file of {len(content)} bytes", "export it again"))
    counts = [int(each) for each in np.frombuffer(content, "<i4", 4)]
    size = HEAD_BYTES + NUMBER_BYTES * sum(each * numbers for each, numbers in zip(counts, NUMBERS, strict=True))
    if min(counts) < 0 or size != len(content):
        expected = f"{size} bytes, as the file claims" if min(counts) >= 0 else "an MSH file of MuJoCo"
        raise ModelError(wrong(expected, f"{len(content)} in {name!r}", "export it again"))
    vertices = np.frombuffer(content, "<f4", 3 * counts[0], HEAD_BYTES).reshape(-1, 3).astype(float)
    corners = np.frombuffer(content, "<i4", 3 * counts[3], size - 3 * NUMBER_BYTES * counts[3]).astype(np.int64)
    if len(corners) and not 0 <= corners.min() <= corners.max() < counts[0]:
        expected = f"faces of the {counts[0]} vertices, which are counted from 0"
        raise ModelError(wrong(expected, f"{corners.min()} to {corners.max()} in {name!r}", "export it again"))
    return Polygons(vertices, corners, np.full(counts[3], 3, np.int64))
