"""The meshes of a model: their files, whose contents the model keeps, and the surfaces in them.

A mesh is one file, of which the vertices and faces are used: what it says of materials and textures, and the files that these are
in, do not matter. A file is read once, so that what was run is what is stored and drawn, whatever becomes of the file meanwhile.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbvi.errors import ModelError
from mbvi.model.expressions import Problem, Where, wrong

if TYPE_CHECKING:
    from mbvi.model.elements import Mesh, Model

MESH_FORMATS = (".stl", ".obj", ".ply", ".off", ".glb")


class Files:
    """The mesh files of a model, which its copies share.

    Parameters
    ----------
    folder : Path, optional
        Folder that they are read from, each once; the working directory if None.
    contents : mapping of str to bytes, optional
        Their contents by name, which are then read from no folder.
    """

    def __init__(self, folder: Path | None = None, contents: Mapping[str, bytes] | None = None) -> None:
        self.folder = folder
        self.is_given = contents is not None
        self._contents = dict(contents or {})

    def read(self, name: str) -> bytes:
        """The content of a file, as it was when it was first read.

        Raises
        ------
        ModelError
            If it is missing, cannot be read, or is of another kind.
        """
        if Path(name).suffix.lower() not in MESH_FORMATS:
            raise ModelError(wrong(f"a mesh file of the type {', '.join(MESH_FORMATS)}", repr(Path(name).name)))
        if name not in self._contents:
            self._contents[name] = self._read(name)
        return self._contents[name]

    def _read(self, name: str) -> bytes:
        if self.is_given:
            remedy = "build the system anew, and pass it: mbvi.read(path, system=system)"
            raise ModelError(wrong("a mesh that is stored with the model", f"none of the name {name!r}", remedy))
        path = (self.folder or Path()) / name
        if not path.is_file():
            raise ModelError(
                wrong("the path of a mesh file", f"no file {str(path)!r}", "paths start at the model's folder")
            )
        try:
            return path.read_bytes()
        except OSError as error:
            raise ModelError(wrong("a readable mesh", f"{path.name!r} ({error.strerror})")) from None


def meshes_of(model: Model) -> Iterator[tuple[Where, Mesh]]:
    """The meshes of a model, and where they stand in it."""
    for name, body in model.bodies.items():
        for i, shape in enumerate(body.shapes):
            if shape.type == "mesh":
                yield ("bodies", name, "shapes", i), shape


def mesh_files(model: Model) -> dict[str, bytes]:
    """The contents of a model's mesh files by name.

    Raises
    ------
    ModelError
        If one cannot be read.
    """
    return {mesh.file: model.files.read(mesh.file) for _, mesh in meshes_of(model)}


def problems(model: Model) -> Iterator[Problem]:
    """What is wrong with the meshes of a model."""
    if any(meshes_of(model)):
        for where, mesh in meshes_of(model.resolved()):
            try:
                read_mesh(mesh, model.files)
            except ModelError as error:
                yield Problem((*where, "file"), str(error))


def read_mesh(mesh: Mesh, files: Files | Path | None = None) -> Any:
    """The trimesh of a mesh shape, in its own units (`scale` is not applied).

    Raises
    ------
    ModelError
        If the file is missing or not a mesh, or if it has a mass or density but encloses no volume.
    """
    files = files if isinstance(files, Files) else Files(files)
    surface = _surface(mesh.file, files.read(mesh.file))
    if mesh.density is None and mesh.mass is None:
        return surface
    if not surface.is_watertight:
        raise ModelError(wrong("a closed surface", f"{mesh.file!r}, which is not watertight", "close its holes"))
    if not surface.is_winding_consistent or surface.volume <= 0:
        raise ModelError(wrong("a mesh of positive volume", f"{surface.volume:.6g} in {mesh.file!r}", "flip its faces"))
    return surface


@functools.lru_cache(maxsize=64)
def _surface(name: str, content: bytes) -> Any:
    import trimesh

    path = Path(name)
    kind = path.suffix[1:].lower()
    try:
        surface = trimesh.load(io.BytesIO(content), file_type=kind, force="mesh", skip_materials=True)
    except Exception as error:  # trimesh's readers raise whatever a bad file makes them stumble over
        found = f"{path.name!r} ({type(error).__name__})"
        raise ModelError(wrong("a readable mesh", found, "export it again, all of it in one file")) from error
    if not isinstance(surface, trimesh.Trimesh) or surface.is_empty:
        raise ModelError(wrong("a mesh with faces", f"none in {path.name!r}"))
    return trimesh.Trimesh(surface.vertices, surface.faces)  # one vertex at each place: seams of textures are no holes
