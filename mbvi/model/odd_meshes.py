"""What a mesh may not mean, although it can be used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from mbvi.model.mesh_files import Files, has_volume, mesh_volume, read_mesh
from mbvi.model.shapes import Mesh
from mbvi.model.surfaces import Surface, odd_shells

LONG = 10.0  # m; what is longer, or heavier than HEAVY, may be in millimetres if no scale is given
HEAVY = 1e5  # kg
SINGLE = (".stl", ".ply", ".glb", ".gltf", ".msh")  # files whose numbers mostly have seven digits
ROUGH = 1e-3  # part of a mesh's size that the rounding of its corners may be


def oddities(mesh: Mesh, files: Files) -> Iterator[tuple[str, str]]:
    """The fields of a mesh, without expressions, that may not mean what they say, and why."""
    name, surface = Path(mesh.file).name, read_mesh(mesh, files)
    length = mesh.extent(files)
    mass = float(mesh.density or 0.0) * mesh_volume(mesh, files)[0] if has_volume(mesh) else 0.0
    if mesh.scale is None and (length > LONG or mass > HEAVY):
        weight = f" and weighs {mass:.3g} kg" if mass else ""
        remedy = "if the file is in millimetres, write scale: 0.001; if it is as large as that, scale: 1"
        yield "scale", f"{name!r} is {length:.4g} m long{weight}; {remedy}"
    if has_volume(mesh) and (odd := odd_shells(surface)):
        yield "file", f"{name!r}: {odd}"
    if rounding := _rounding(mesh, surface):
        remedy = "write the file with its origin near the mesh, or in a format with more digits"
        found = f"its corners are so far from its origin that seven digits round them by {rounding:.1g} of its size"
        yield "file", f"{name!r}: {found}; {remedy}"


def _rounding(mesh: Mesh, surface: Surface) -> float:
    """How much of its size the corners of a mesh are rounded by that has single precision; 0 if that does no harm."""
    corners = surface.vertices
    if Path(mesh.file).suffix.lower() not in SINGLE or not np.array_equal(corners, corners.astype(np.float32)):
        return 0.0
    part = float(np.spacing(np.float32(np.abs(corners).max())) / 2 / np.ptp(corners, axis=0).max())
    return part if part > ROUGH else 0.0
