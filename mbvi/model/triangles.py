"""The triangles in a mesh file. OBJ, OFF and MSH are read here, others by trimesh after a look at what the file claims to hold.

A file may claim, in a few bytes, to hold more than any memory has, or be written so that a reader takes hours. So one
number of bytes bounds the file, and the arrays and triangles that are made of it, before they are made. What does not
matter for a surface (materials, names, colours, normals) is taken out of what the readers get.
"""

from __future__ import annotations

import importlib.util
import io
import json
import logging
import re
import struct
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbvi.errors import ModelError
from mbvi.model.expressions import wrong
from mbvi.model.msh import read_msh
from mbvi.model.polygons import Polygons, read_obj, read_off

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TRIANGLE_BYTES = 50  # as in a binary STL file
ENTRY_BYTES = 5000  # what a node or array of a GLB file costs a reader, as bytes
MOST_PROPERTIES = 256  # number of properties of a PLY file, whose reader takes time that grows with its square
HARMLESS = (
    "KHR_materials_",
    "KHR_texture_",
    "EXT_texture_",
    "KHR_lights_",
    "KHR_xmp",
    "KHR_animation_",
    "MSFT_texture_",
)
"""How extensions of glTF begin that say nothing of surfaces."""
ITEM_BYTES = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
ITEMS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
SOLIDS = re.compile(rb"endsolid[^\n]*\n\s*solid[^\n]*\n")
"""The end of one solid of an STL text and the beginning of the next."""
COMMA = re.compile(r"(?m)^[ \t]*(?:vertex[ \t])?[-+.,\de \t]*\d,\d")
"""A line of numbers in which one has a decimal comma."""
MODES = {4: "triangles", 5: "a strip"}


class Content(NamedTuple):
    """What a reader gets of a file, and the numbers of vertices and faces that it claims to hold; 0 where it does not say."""

    content: bytes
    vertices: int = 0
    faces: int = 0


class Triangles(NamedTuple):
    """The triangles in a mesh file, in its order.

    corners   (n, 3, 3)
    colors    (n, 3)  red, green and blue from 0 to 1, in sRGB, not a number where there is none; None if no triangle has one
    """

    corners: Floats
    colors: Floats | None = None


def read_triangles(name: str, content: bytes, limit: float) -> Triangles:
    """The triangles in a mesh file, whose type its name says. Colours are read of DAE files.

    Raises
    ------
    ModelError
        If it cannot be read, holds no triangles, or more than `limit` bytes of anything.
    """
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "string or file could not be read")  # numpy's, of text that is no number
            triangles = _read(name, content, limit)
    except ModelError:
        raise
    except Exception as error:  # trimesh's readers raise whatever a bad file makes them stumble over
        is_comma = b"\0" not in content and COMMA.search(content.decode("utf-8", "replace").lower())
        remedy = "export it with decimal points" if is_comma else "export it again"
        raise ModelError(wrong("a readable mesh", f"{name!r}, which does not follow its format", remedy)) from error
    if not len(triangles.corners):
        raise ModelError(wrong("a mesh with faces", f"none in {name!r}"))
    if not np.isfinite(triangles.corners).all():
        raise ModelError(wrong("finite numbers", f"others among the vertices of {name!r}", "export it again"))
    return triangles


def check_size(name: str, size: float, limit: float, what: str = "") -> None:
    """Refuse what is larger than the limit, in bytes."""
    if size > limit:
        found, remedy = f"{name!r} {what or 'of'} {size / 1e6:.5g} MB", "reduce it, or raise max_bytes of the shape"
        raise ModelError(wrong(f"a mesh of at most {limit / 1e6:.5g} MB", found, remedy))


def _read(name: str, content: bytes, limit: float) -> Triangles:
    from trimesh.exchange.load import mesh_loaders

    kind = name.rsplit(".", 1)[-1].lower()
    if kind in _POLYGONS:
        return Triangles(_cut(name, _POLYGONS[kind](name, content), limit))
    if not (log := logging.getLogger("trimesh")).handlers:
        log.addHandler(logging.NullHandler())  # else its notes on bad files, tracebacks in them, are printed
    given = _PREPARED[kind](name, content, limit)
    check_size(name, given.faces * TRIANGLE_BYTES, limit, "whose faces take")
    loaded = mesh_loaders[kind](io.BytesIO(given.content), skip_materials=True)
    placed = list(_instances(name, loaded))
    vertices, count = sum(len(part.vertices) for part, _ in placed), sum(len(part.faces) for part, _ in placed)
    check_size(name, count * TRIANGLE_BYTES, limit, "whose triangles take")
    if vertices < given.vertices or count < given.faces:
        found = f"{vertices} and {count} in {name!r}"
        expected = f"{given.vertices} vertices and at least {given.faces} triangles, as the file claims"
        raise ModelError(wrong(expected, found, "export it again"))
    corners = np.concatenate([np.zeros((0, 3, 3)), *(_corners(part, matrix) for part, matrix in placed)])
    if kind != "dae":
        return Triangles(corners)
    colors = np.concatenate([np.zeros((0, 3)), *(np.tile(part.color, (len(part.faces), 1)) for part, _ in placed)])
    return Triangles(corners * _unit(content), None if np.isnan(colors).all() else colors)


def _cut(name: str, polygons: Polygons, limit: float) -> Floats:
    """The corners (m, 3, 3) of the triangles that polygons are cut into, each as a fan from its first corner."""
    counts = np.maximum(polygons.sizes - 2, 0)
    total = int(counts.sum())
    check_size(name, total * TRIANGLE_BYTES, limit, "whose faces take")
    first = np.repeat(np.cumsum(polygons.sizes) - polygons.sizes, counts)
    second = first + 1 + np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    return polygons.vertices[polygons.corners[np.column_stack([first, second, second + 1])]]


class Part(NamedTuple):
    """Vertices (n, 3), triangles (m, 3), and the colour (3,) of its material, not a number if it has none."""

    vertices: Floats
    faces: Ints
    color: Floats = np.full(3, np.nan)


def _part(name: str, loaded: dict[str, Any]) -> Part:
    """A part of what a reader gave, its polygons cut into triangles; lines and points have none."""
    from trimesh.geometry import triangulate_quads

    polygons = loaded.get("faces")
    if polygons is None or not len(polygons):
        return Part(np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64))
    vertices = np.asarray(loaded["vertices"], dtype=float).reshape(-1, 3)
    faces = np.asarray(triangulate_quads(polygons)).reshape(-1, 3)
    if len(faces) and not 0 <= faces.min() <= faces.max() < len(vertices):
        expected = f"faces of the {len(vertices)} vertices, which are counted from 0"
        raise ModelError(wrong(expected, f"{faces.min()} to {faces.max()} in {name!r}", "export it again"))
    return Part(vertices, faces, _color(loaded))


def _color(loaded: dict[str, Any]) -> Floats:
    """The colour (3,) of a part's material."""
    given = getattr(getattr(loaded.get("visual"), "material", None), "baseColorFactor", None)
    return np.full(3, np.nan) if given is None else np.asarray(given, dtype=float)[:3] / 255


def _corners(part: Part, matrix: Floats) -> Floats:
    """The corners (m, 3, 3) of a part's triangles where a matrix moves it; what it mirrors is turned, as the format says."""
    corners = part.vertices[part.faces] @ matrix[:3, :3].T + matrix[:3, 3]
    return corners if np.linalg.det(matrix[:3, :3]) > 0 else corners[:, ::-1]


def _instances(name: str, loaded: dict[str, Any]) -> Iterator[tuple[Part, Floats]]:
    """The parts of what a reader gave, each with the matrix (4, 4) that moves it to its place."""
    parts = {key: _part(name, each) for key, each in loaded.get("geometry", {"": loaded}).items()}
    if "graph" not in loaded:
        yield from ((part, np.eye(4)) for part in parts.values())
        return
    frames = {loaded.get("base_frame", "world"): np.eye(4)}
    for edge in loaded["graph"]:
        outer, inner = edge.get("frame_from", "world"), edge["frame_to"]
        if inner in frames:
            raise ModelError(
                wrong("every node of a mesh in one place", f"some of {name!r} in several", "export it again")
            )
        frames[inner] = frames[outer] @ edge["matrix"] if "matrix" in edge else frames[outer]
        if "geometry" in edge:
            yield parts[edge["geometry"]], frames[inner]


# ------------------------------------------------------------------------------------------------- types of files


def _legible(content: bytes) -> bytes:
    """A text in UTF-8; letters of comments and names may be in another code."""
    return content.decode("utf-8", "replace").encode()


def _stl(name: str, content: bytes, limit: float) -> Content:
    """A binary file with as many triangles as it claims; or a text, whose solids become one."""
    count = int.from_bytes(content[80:84], "little")
    if len(content) == 84 + TRIANGLE_BYTES * count:
        return Content(content, faces=count)
    text = _legible(content).lower().replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b"endsolid" not in text:
        raise _no_stl(name, content, count)
    return Content(SOLIDS.sub(b"", text), faces=text.count(b"endfacet"))


def _no_stl(name: str, content: bytes, count: int) -> ModelError:
    """What is raised for a file that is no whole STL file."""
    if content[:5].lower() == b"solid" and b"\0" not in content:
        return ModelError(wrong("an STL text with its endsolid", f"{name!r}, which was cut off", "export it again"))
    if len(content) < 84 or b"\0" not in content:
        kind = "a text" if content and b"\0" not in content else "a file"
        return ModelError(wrong("an STL file", f"{name!r}, {kind} of {len(content)} bytes", "export it again"))
    found = f"{name!r}, which claims {count} and has bytes for {(len(content) - 84) / TRIANGLE_BYTES:g}"
    return ModelError(wrong("an STL file with as many triangles as it claims", found, "export it again"))


def _ply(name: str, content: bytes, limit: float) -> Content:
    end = content.find(b"end_header") + 1
    header = _legible(content[:end])
    count = len(re.findall(rb"(?m)^[ \t]*(?:property|element)\b", header))
    if count > MOST_PROPERTIES:
        found = f"{count} in {name!r}"
        raise ModelError(
            wrong(f"at most {MOST_PROPERTIES} properties of a mesh", found, "export places and faces alone")
        )
    claims = dict(re.findall(rb"(?m)^[ \t]*element[ \t]+(vertex|face)[ \t]+(\d+)", header))
    return Content(header + content[end:], int(claims.get(b"vertex", 0)), int(claims.get(b"face", 0)))


def _glb(name: str, content: bytes, limit: float) -> Content:
    """The places and indices of its triangles, and its nodes."""
    if content[:4] != b"glTF":
        raise ModelError(wrong("a GLB file", f"{name!r}, whose first four bytes are not 'glTF'", "export it again"))
    length = int.from_bytes(content[12:16], "little")
    header = json.loads(content[20 : 20 + length])
    if any(not str(each.get("uri", "data:")).startswith("data:") for each in header.get("buffers", [])):
        found = f"{name!r}, whose numbers are in another"
        raise ModelError(wrong("a mesh in one file", found, "export it as one .glb file"))
    _check_extensions(name, header)
    meshes = [
        {"primitives": [_primitive(name, each, header) for each in mesh["primitives"]]}
        for mesh in header.get("meshes", [])
    ]
    keys = ("mesh", "children", "matrix", "translation", "rotation", "scale")
    nodes = [{key: node[key] for key in keys if key in node} for node in header.get("nodes", [])]
    kept = {
        key: header[key] for key in ("asset", "buffers", "bufferViews", "accessors", "scenes", "scene") if key in header
    }
    check_size(name, _unfolded(header, meshes, nodes), limit, "that unfolds to")
    text = json.dumps({**kept, "meshes": meshes, "nodes": nodes}).encode()
    return Content(content[:12] + struct.pack("<I", len(text)) + content[16:20] + text + content[20 + length :])


def _check_extensions(name: str, header: dict[str, Any]) -> None:
    """Refuse a GLB file that nothing can be known of without an extension of the format that is not read."""
    needed = {str(each) for each in header.get("extensionsRequired", []) if not str(each).startswith(HARMLESS)}
    needed |= {"EXT_mesh_gpu_instancing"} & set(header.get("extensionsUsed", []))
    if needed:
        found = f"{name!r}, which needs {', '.join(sorted(needed))}"
        raise ModelError(wrong("a mesh without compression or other extensions", found, "export it without"))


def _primitive(name: str, primitive: dict[str, Any], header: dict[str, Any]) -> dict[str, Any]:
    """The places and indices of a primitive of triangles, which are in the file as numbers."""
    kept = {"attributes": {"POSITION": primitive["attributes"]["POSITION"]}, "mode": primitive.get("mode", 4)}
    if "indices" in primitive:
        kept["indices"] = primitive["indices"]
    for index in (*kept["attributes"].values(), *([kept["indices"]] if "indices" in kept else [])):
        accessor = header["accessors"][index]
        if "bufferView" not in accessor or "sparse" in accessor or accessor.get("normalized"):
            how = ", ".join(primitive.get("extensions", {}))
            found = f"{name!r}, whose places or indices are not in it as plain numbers" + (f" ({how})" if how else "")
            raise ModelError(wrong("a mesh without compression", found, "export it without"))
    if kept["mode"] > max(MODES):
        found = f"other primitives in {name!r} (mode {kept['mode']})"
        raise ModelError(wrong(f"a mesh of {' or '.join(MODES.values())}", found, "export it as triangles"))
    return kept


def _unfolded(header: dict[str, Any], meshes: list[dict[str, Any]], nodes: list[dict[str, Any]]) -> int:
    """The bytes that the arrays, triangles and nodes of a GLB file are when they are read."""
    accessors, views = header.get("accessors", []), header.get("bufferViews", [])
    sizes = [max(0, int(each["count"])) * ITEM_BYTES[each["componentType"]] * ITEMS[each["type"]] for each in accessors]
    sizes += [max(0, int(view["byteLength"])) for view in views]
    primitives = [primitive for mesh in meshes for primitive in mesh["primitives"]]
    for primitive in primitives:
        corners = accessors[primitive.get("indices", primitive["attributes"]["POSITION"])]["count"]
        sizes.append(int(corners) * TRIANGLE_BYTES // (1 if primitive["mode"] == 5 else 3))
    return sum(sizes) + ENTRY_BYTES * len([*accessors, *views, *primitives, *nodes])


def _dae(name: str, content: bytes, limit: float) -> Content:
    """A COLLADA file without entities."""
    import defusedxml.ElementTree
    from defusedxml.common import DefusedXmlException

    if importlib.util.find_spec("collada") is None:
        remedy = "pip install 'mbvi[robots]', or export it in another format"
        raise ModelError(wrong("pycollada, which reads DAE files", f"none for {name!r}", remedy))
    try:
        root = defusedxml.ElementTree.fromstring(content)
    except DefusedXmlException:
        raise ModelError(wrong("a mesh without entities", f"some in {name!r}", "export it again")) from None
    check_size(name, _unfolded_nodes(name, root), limit, "that unfolds to")
    return Content(content)


def _unfolded_nodes(name: str, root: Any) -> int:
    """The bytes that nodes and triangles of a COLLADA file unfold to, where nodes may stand for others."""
    kinds = {kind: [each for each in root.iter() if each.tag.endswith(f"}}{kind}")] for kind in ("node", "geometry")}
    nodes = {f"#{each.get('id')}": each for each in kinds["node"]}
    corners = {
        f"#{each.get('id')}": sum(len((p.text or "").split()) for p in each.iter()) for each in kinds["geometry"]
    }
    sizes: dict[int, int] = {}
    open_: set[int] = set()

    def size(node: Any) -> int:
        if id(node) in open_:
            raise ModelError(wrong("nodes that do not stand for themselves", f"one in {name!r}", "export it again"))
        if id(node) not in sizes:
            open_.add(id(node))
            parts = [nodes.get(each.get("url")) if each.tag.endswith("}instance_node") else each for each in node]
            own = ENTRY_BYTES + corners.get(node.get("url"), 0) // 3 * TRIANGLE_BYTES
            sizes[id(node)] = own + sum(size(each) for each in parts if each is not None)
            open_.discard(id(node))
        return sizes[id(node)]

    return sum(size(each) for each in root.iter() if each.tag.endswith("}visual_scene"))


def _unit(content: bytes) -> float:
    """The unit of a COLLADA file [m]; its up axis is not used, as in ROS."""
    found = re.search(rb"<unit\b[^>]*\bmeter\s*=\s*[\"']([^\"']+)[\"']", content)
    return float(found[1]) if found else 1.0


_PREPARED: dict[str, Callable[[str, bytes, float], Content]] = {"stl": _stl, "ply": _ply, "glb": _glb, "dae": _dae}
_POLYGONS: dict[str, Callable[[str, bytes], Polygons]] = {"obj": read_obj, "off": read_off, "msh": read_msh}
