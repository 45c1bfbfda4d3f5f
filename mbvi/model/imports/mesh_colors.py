"""The colour that a mesh file gives its surface: that of the material of most of its faces, in OBJ and DAE files.

An OBJ file names a file of materials, which may be read where the mesh may.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from mbvi.model.expressions import as_number
from mbvi.model.imports.xml import Node, parse_xml

Colors = dict[str, tuple[float, ...]]
LONG_TEXTS = re.compile(rb"(<(?:float_array|Name_array|p|vcount)\b[^>]*>)[^<]*")
"""Numbers of a DAE file, which say nothing of colours."""
FACES = "triangles", "polylist", "polygons"


def mesh_color(path: Path, find: Callable[[str], Path | None]) -> tuple[tuple[float, ...] | None, int]:
    """The colour of most faces of a mesh file, and of how many colours it is; none if the file says none.

    Parameters
    ----------
    path : Path
        The file.
    find : callable
        ``find(name)`` gives the file of a name beside it, or None.

    Raises
    ------
    ModelError
        If a file of materials may not be read, or a DAE file is no XML.
    """
    reader = {".obj": _of_obj, ".dae": _of_dae}.get(path.suffix.lower())
    if reader is None:
        return None, 0
    faces, colors = reader(path, find)
    found: Counter[tuple[float, ...]] = Counter()
    for material, number in faces.items():
        if material in colors:
            found[colors[material]] += number
    return (found.most_common(1)[0][0], len(found)) if found else (None, 0)


def _of_obj(path: Path, find: Callable[[str], Path | None]) -> tuple[Counter[str], Colors]:
    """The number of faces of every material of an OBJ file, and the materials' colours."""
    faces: Counter[str] = Counter()
    colors: Colors = {}
    material = ""
    for line in path.read_text("utf-8", "replace").splitlines():
        word, _, rest = line.strip().partition(" ")
        if word == "f":
            faces[material] += 1
        elif word == "usemtl":
            material = rest.strip()
        elif word == "mtllib" and (library := find(rest.strip())):
            colors |= _materials(library.read_text("utf-8", "replace"))
    return faces, colors


def _materials(text: str) -> Colors:
    """The diffuse colours of a file of materials."""
    found: Colors = {}
    name = ""
    for line in text.splitlines():
        word, _, rest = line.strip().partition(" ")
        if word == "newmtl":
            name = rest.strip()
        elif word == "Kd" and (color := _color(rest)):
            found[name] = color
    return found


def _of_dae(path: Path, find: Callable[[str], Path | None]) -> tuple[Counter[str], Colors]:
    """The number of faces of every material of a DAE file, and the materials' colours."""
    root = parse_xml(LONG_TEXTS.sub(rb"\1", path.read_bytes()), str(path))
    nodes: dict[str, list[Node]] = {}
    for node in root.walk():
        nodes.setdefault(node.tag, []).append(node)
    effects = {node.get("id"): color for node in nodes.get("effect", ()) if (color := _diffuse(node))}
    colors: Colors = {}
    for node in nodes.get("material", ()):
        effect = node.first("instance_effect")
        if effect is not None and (color := effects.get((effect.get("url") or "").lstrip("#"))):
            colors[node.get("id") or ""] = color
    for node in nodes.get("instance_material", ()):  # of what faces call it by
        if target := colors.get((node.get("target") or "").lstrip("#")):
            colors[node.get("symbol") or ""] = target
    faces: Counter[str] = Counter()
    for tag in FACES:
        for node in nodes.get(tag, ()):
            faces[node.get("material") or ""] += int(as_number(node.get("count") or "1") or 0)
    return faces, colors


def _diffuse(effect: Node) -> tuple[float, ...] | None:
    """The diffuse colour of an effect, if it is no texture."""
    for node in effect.walk():
        if node.tag == "diffuse" and (color := node.first("color")):
            return _color(color.text)
    return None


def _color(text: str) -> tuple[float, ...] | None:
    """Red, green and blue of a text, from 0 to 1."""
    numbers = [as_number(word) for word in text.split()[:3]]
    if len(numbers) < 3 or None in numbers:
        return None
    return tuple(min(max(float(each or 0.0), 0.0), 1.0) for each in numbers)
