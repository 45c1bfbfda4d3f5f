"""Hostile mesh files: each is refused by a ModelError, or has a mass that is positive and consistent, in bounded time and memory.

    python -m tests.campaigns.hostile_meshes [--count 5000] [--seed 0]

Files of every format and of several solids are mutated at random: bytes, numbers, lines and lengths. Others are made to lie: to
claim more than they hold, to unfold to more than there is, or to be slow to read.
"""

from __future__ import annotations

import json
import re
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import trimesh

import mbvi
import mbvi.model as mm
from mbvi.model.mesh_files import Files, read_mesh
from mbvi.model.surfaces import odd_shells, signed_volumes

from . import campaign

SECONDS = 10.0  # of processor time for one file
MEGABYTES = 1500.0  # of memory in all
SOLIDS = (
    trimesh.creation.box((1, 2, 3)),
    trimesh.creation.icosphere(1),
    trimesh.creation.annulus(0.5, 1, 1, sections=8),
    trimesh.util.concatenate(
        [trimesh.creation.box((1, 1, 1)), trimesh.creation.box((1, 1, 1)).apply_translation((3, 0, 0))]
    ),
)
FORMATS = {
    "binary.stl": {"file_type": "stl"},
    "text.stl": {"file_type": "stl_ascii"},
    "part.obj": {"file_type": "obj"},
    "binary.ply": {"file_type": "ply"},
    "text.ply": {"file_type": "ply", "encoding": "ascii"},
    "part.off": {"file_type": "off"},
    "part.glb": {"file_type": "glb"},
    "part.dae": {"file_type": "dae"},
    "part.msh": {},
}
EXTREMES = (
    b"0",
    b"-1",
    b"nan",
    b"inf",
    b"-1e308",
    b"1e-320",
    b"4294967295",
    b"99999999999999999999",
    b"",
    b"1e3",
    b"x",
    b"3",
)
WORDS = (0, 1, 0x7F800000, 0x7FC00000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def original(index: int) -> tuple[str, bytes]:
    """The name and the content of a whole file; all formats and solids in turn."""
    name = tuple(FORMATS)[index % len(FORMATS)]
    solid = SOLIDS[index // len(FORMATS) % len(SOLIDS)]
    content = msh_of(solid) if name.endswith("msh") else solid.export(**FORMATS[name])
    return name, content if isinstance(content, bytes) else content.encode()


def msh_of(solid: trimesh.Trimesh) -> bytes:
    """A file of MuJoCo's old format, which trimesh does not write, with normals."""
    counts = struct.pack("<4i", len(solid.vertices), len(solid.vertices), 0, len(solid.faces))
    numbers = (each.astype("<f4").tobytes() for each in (solid.vertices, solid.vertex_normals))
    return counts + b"".join(numbers) + solid.faces.astype("<i4").tobytes()


# ---------------------------------------------------------------------------------------------------- mutations


def flip_bit(content: bytearray, random: np.random.Generator) -> None:
    content[random.integers(len(content))] ^= 1 << int(random.integers(8))


def replace_word(content: bytearray, random: np.random.Generator) -> None:
    at = int(random.integers(len(content)))
    content[at : at + 4] = struct.pack("<I", WORDS[random.integers(len(WORDS))])


def remove(content: bytearray, random: np.random.Generator) -> None:
    at = int(random.integers(len(content)))
    del content[at : at + int(random.integers(1, 60))]


def repeat(content: bytearray, random: np.random.Generator) -> None:
    at = int(random.integers(len(content)))
    content[at:at] = content[at : at + int(random.integers(1, 200))] * int(random.integers(1, 4))


def cut(content: bytearray, random: np.random.Generator) -> None:
    del content[int(random.integers(1, len(content))) :]


def insert(content: bytearray, random: np.random.Generator) -> None:
    at = int(random.integers(len(content)))
    content[at:at] = random.bytes(int(random.integers(1, 20)))


def replace_number(content: bytearray, random: np.random.Generator) -> None:
    """Replace a number in the text, wherever one seems to be."""
    numbers = list(re.finditer(rb"-?\d+(\.\d+)?(e-?\d+)?", content))
    if numbers:
        found = numbers[int(random.integers(len(numbers)))]
        content[found.start() : found.end()] = EXTREMES[random.integers(len(EXTREMES))]


def swap_lines(content: bytearray, random: np.random.Generator) -> None:
    lines = content.split(b"\n")
    i, k = random.integers(len(lines), size=2)
    lines[i], lines[k] = lines[k], lines[i]
    content[:] = b"\n".join(lines)


MUTATIONS = (flip_bit, replace_word, remove, repeat, cut, insert, replace_number, replace_number, swap_lines)


def mutated(seed: int) -> tuple[str, bytes]:
    """A file with one to three mutations."""
    random = np.random.default_rng(seed)
    name, content = original(seed)
    changed = bytearray(content)
    for _ in range(int(random.integers(1, 4))):
        if len(changed) > 1:
            MUTATIONS[random.integers(len(MUTATIONS))](changed, random)
    return name, bytes(changed)


# ------------------------------------------------------------------------------------------------ files that lie


def glb(header: dict[str, object], numbers: bytes) -> bytes:
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(numbers), 0x004E4942) + numbers
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def glb_of(**keys: object) -> bytes:
    """A GLB file of a box, with other values of some keys."""
    content = SOLIDS[0].export(file_type="glb")
    length = int.from_bytes(content[12:16], "little")
    return glb(json.loads(content[20 : 20 + length]) | keys, content[28 + length :])


def lying() -> Iterator[tuple[str, bytes]]:
    """Files that claim, or unfold to, more than they are, or that readers take long for."""
    facet = b"facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
    corners = b"v 0 0 0\nv 1 0 0\nv 0 1 0\n"
    many = range(20_000)
    yield "claim.stl", bytes(80) + struct.pack("<I", 2**32 - 1) + bytes(500)
    yield "solids.stl", (b"solid a\n" + facet + b"endsolid a\n") * 20_000
    yield (
        "polygon.obj",
        b"".join(b"v %d %d 0\n" % (i, i * i % 7) for i in many) + b"f " + b" ".join(b"%d" % (i + 1) for i in many),
    )
    yield "huge.obj", corners + b"f" + b" 1 2 3" * 1_500_000
    yield "materials.obj", corners + b"".join(b"usemtl m%d\nf 1 2 3\n" % i for i in many)
    yield (
        "lists.ply",
        b"ply\nformat binary_little_endian 1.0\nelement vertex 1\n"
        + b"".join(b"property list uchar float a%d\n" % i for i in range(2000))
        + b"end_header\n"
        + bytes(3000),
    )
    yield (
        "claim.ply",
        b"ply\nformat ascii 1.0\nelement vertex 9000000000\nproperty float x\nelement face 9000000000\nend_header\n",
    )
    yield "comments.off", b"OFF\n" + b"#\n" * 500_000
    yield "claim.off", b"OFF\n1000000000 1000000000 0\n0 0 0\n"
    matrix = {"componentType": 5126, "count": 10**10, "type": "MAT4"}
    yield "claim.glb", glb_of(accessors=[matrix, matrix])
    yield "views.glb", glb_of(bufferViews=[{"buffer": 0, "byteLength": 200}] * 500_000)
    box: dict[str, object] = {"mesh": 0}
    yield (
        "nested.glb",
        glb_of(nodes=[box | {"children": [i + 1]} for i in range(4000)] + [box], scenes=[{"nodes": [0]}]),
    )
    yield "deeper.glb", glb_of(nodes=[box | {"children": [i + 1]} for i in many] + [box], scenes=[{"nodes": [0]}])
    yield "shared.glb", glb_of(nodes=[box | {"children": [1, 1]}, box | {"children": [0]}], scenes=[{"nodes": [0]}])
    dae = trimesh.creation.box((1, 2, 3)).export(file_type="dae").decode()
    yield "entity.dae", ("<!DOCTYPE a [<!ENTITY b 'b'>]>" + dae).encode()
    doubled = "".join(f'<node id="n{i}">' + f'<instance_node url="#n{i + 1}"/>' * 2 + "</node>" for i in range(40))
    shown = '<visual_scene id="scene"><instance_node url="#n0"/>'
    yield "doubled.dae", re.sub("<visual_scene[^>]*>", f"{shown}{doubled}<node id='n40'/>", dae).encode()
    yield (
        "circle.dae",
        re.sub("<visual_scene[^>]*>", shown + '<node id="n0"><instance_node url="#n0"/></node>', dae).encode(),
    )
    yield "brackets.glb", struct.pack("<4sII", b"glTF", 2, 100) + struct.pack("<II", 10**6, 0x4E4F534A) + b"[" * 10**6


LYING = list(lying())

# ---------------------------------------------------------------------------------------------------- outcomes


def outcome(name: str, content: bytes) -> str:
    """Whether a file is refused or has a mass.

    Raises
    ------
    AssertionError
        If it has one that is not that of a body, or takes too long.
    Exception
        Whatever else than a ModelError came through.
    """
    begin, result = time.process_time(), "accepted"
    body = mm.Body(shapes=[mm.Mesh(file=name, density=2)])
    files = Files(contents={name: content})
    try:
        found = mm.mass_properties(body, files)
    except mbvi.ModelError as error:
        check(name in str(error) and "\n" not in str(error), f"no message of one line that names the file: {error}")
        result = "refused"
    else:
        check_mass(body.shapes[0], files, found)
    seconds = time.process_time() - begin
    check(seconds < SECONDS, f"{seconds:.1f} s")
    return result


def check(is_right: bool, text: str) -> None:
    """An AssertionError unless it is right."""
    if not is_right:
        raise AssertionError(text)


def check_mass(shape: mm.Mesh, files: Files, found: mm.MassProperties) -> None:
    """Mass and moments are positive and a body's, and the volume is the flux of (x, 0, 0), (0, y, 0) and (0, 0, z) alike."""
    moments = np.linalg.eigvalsh(found.inertia)
    check(0 < found.mass < np.inf and bool(np.isfinite(found.center_of_mass).all()), f"mass {found.mass}")
    check(moments[0] >= -1e-12 * moments[2], f"moments {moments}")
    check(moments[2] <= (moments[0] + moments[1]) * (1 + 1e-9), f"moments {moments}")
    surface = read_mesh(shape, files)
    triangles = surface.triangles()
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]) / 2
    parts = normals * triangles.mean(axis=1)
    volume, scale = found.mass / 2 / surface.size**3, np.abs(signed_volumes(triangles)).sum() + np.abs(parts).sum()
    check(bool(np.all(np.abs(parts.sum(axis=0) - volume) < 1e-9 * scale)), f"fluxes {parts.sum(axis=0)} of {volume}")
    odd_shells(surface)


def trial(seed: int) -> str:
    """The outcome of a file by its seed: first those that lie, then mutated ones."""
    result = outcome(*(LYING[seed] if seed < len(LYING) else mutated(seed)))
    memory = most_memory()
    check(memory < MEGABYTES, f"{memory:.0f} MB of memory")
    return result


def most_memory() -> float:
    """The most that this process had so far [MB]; getrusage would also count what its parent had when it was started."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return float(line.split()[1]) / 1024
    raise AssertionError("expected the process to tell its memory")


if __name__ == "__main__":
    campaign.main(trial, "hostile meshes", 5000)
