"""The meshes of a model: where they stand in it, what is wrong with them, and what they may not mean."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from mbvi.errors import ModelError, ModelWarning, stack_level
from mbvi.model.description import Description
from mbvi.model.expressions import Problem, Where
from mbvi.model.mesh_files import content, has_volume, mesh_volume, read_mesh
from mbvi.model.model import Model
from mbvi.model.shapes import Mesh
from mbvi.model.surfaces import Surface, odd_shells

LONG = 10.0  # m; what is longer, or heavier than HEAVY, may be in millimetres if no scale is given
HEAVY = 1e5  # kg
SINGLE = (".stl", ".ply", ".glb", ".gltf")  # files whose numbers mostly have seven digits
ROUGH = 1e-3  # part of a mesh's size that the rounding of its corners may be


def meshes_of(model: Description) -> Iterator[tuple[Where, Mesh]]:
    """The meshes of a model, and where they stand in it."""
    for name, body in model.bodies.items():
        for i, shape in enumerate(body.shapes):
            if isinstance(shape, Mesh):
                yield ("bodies", name, "shapes", i), shape


def mesh_files(model: Model) -> dict[str, bytes]:
    """The contents of a model's mesh files by name.

    Raises
    ------
    ModelError
        If one cannot be read.
    """
    return {mesh.file: content(mesh, model.files) for _, mesh in meshes_of(model.resolved())}


def problems(model: Model) -> Iterator[Problem]:
    """What is wrong with the meshes of a model."""
    if any(meshes_of(model)):
        for where, mesh in meshes_of(model.resolved()):
            try:
                read_mesh(mesh, model.files)
            except ModelError as error:
                yield Problem((*where, "file"), str(error))


def odd_meshes(model: Model) -> Iterator[Problem]:
    """What the meshes of a model may not mean: millimetres taken for metres, shells that are turned wrong, rounded corners."""
    if not any(meshes_of(model)):
        return
    for (where, mesh), (_, given) in zip(meshes_of(model.resolved()), meshes_of(model), strict=True):
        length = mesh.extent(model.files)
        mass = float(mesh.density or 0.0) * mesh_volume(mesh, model.files)[0] if has_volume(mesh) else 0.0
        if given.scale is None and (length > LONG or mass > HEAVY):
            weight = f" and weighs {mass:.3g} kg" if mass else ""
            remedy = "if the file is in millimetres, write scale: 0.001; if it is as large as that, scale: 1"
            yield Problem((*where, "scale"), f"{Path(mesh.file).name!r} is {length:.4g} m long{weight}; {remedy}")
        if has_volume(mesh) and (odd := odd_shells(read_mesh(mesh, model.files))):
            yield Problem((*where, "file"), f"{Path(mesh.file).name!r}: {odd}")
        if rounding := _rounding(mesh, read_mesh(mesh, model.files)):
            remedy = "write the file with its origin near the mesh, or in a format with more digits"
            found = f"its corners are so far from its origin that seven digits round them by {rounding:.1g} of its size"
            yield Problem((*where, "file"), f"{Path(mesh.file).name!r}: {found}; {remedy}")


def _rounding(mesh: Mesh, surface: Surface) -> float:
    """How much of its size the corners of a mesh are rounded by that has single precision; 0 if that does no harm."""
    corners = surface.vertices
    if Path(mesh.file).suffix.lower() not in SINGLE or not np.array_equal(corners, corners.astype(np.float32)):
        return 0.0
    part = float(np.spacing(np.float32(np.abs(corners).max())) / 2 / np.ptp(corners, axis=0).max())
    return part if part > ROUGH else 0.0


def warn(model: Model) -> None:
    """Warn of what the meshes of a model may not mean, once in all copies of the model."""
    for problem in odd_meshes(model):
        if str(problem) not in model.files.warned:
            model.files.warned.add(str(problem))
            warnings.warn(str(problem), ModelWarning, stacklevel=stack_level())
