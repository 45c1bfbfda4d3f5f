"""The meshes of a model: where they stand in it, what is wrong with them, and what they may not mean."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

from mbvi.errors import ModelError, ModelWarning, stack_level
from mbvi.model.description import Description
from mbvi.model.expressions import Problem, Where
from mbvi.model.mesh_files import content, read_mesh
from mbvi.model.model import Model
from mbvi.model.odd_meshes import oddities
from mbvi.model.shapes import Mesh


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
    if any(meshes_of(model)):
        for where, mesh in meshes_of(model.resolved()):
            for field, text in oddities(mesh, model.files):
                yield Problem((*where, field), text)


def warn(model: Model) -> None:
    """Warn of what the meshes of a model may not mean, once in all copies of the model."""
    for problem in odd_meshes(model):
        if str(problem) not in model.files.warned:
            model.files.warned.add(str(problem))
            warnings.warn(str(problem), ModelWarning, stacklevel=stack_level())
