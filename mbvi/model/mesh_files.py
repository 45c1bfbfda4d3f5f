"""Mesh files, whose contents a model keeps, and the surface in each.

A mesh is one file, of which the vertices and faces are used, and of DAE files the colours of materials: what it says of
textures, and the files that these are in, do not matter. A file is read once, so that what was run is what is stored and drawn,
whatever becomes of the file meanwhile. What is larger than the mesh's `max_bytes` is not read.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mbvi.errors import ModelError, said_by_system
from mbvi.model.expressions import wrong
from mbvi.model.surfaces import Surface, surface_of, volume_of
from mbvi.model.triangles import check_size, read_triangles

Floats = NDArray[np.float64]
Volume = tuple[float, Floats, Floats]
"""Volume, its centre, and its inertia about the centre at density 1."""


class MeshInFile(Protocol):
    """What is known of a mesh shape, without expressions; `mbvi.model.Mesh` says what its fields mean."""

    file: str
    max_bytes: Any
    density: Any
    mass: Any

    @property
    def factors(self) -> Floats:
        """The scale of every axis (3,)."""


MESH_FORMATS = (".stl", ".obj", ".ply", ".off", ".glb", ".dae", ".msh")


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
        self.warned: set[str] = set()
        """What has been warned of."""

    def joined(self, contents: Mapping[str, bytes]) -> Files:
        """These files and others, whose contents are given by name."""
        files = Files(self.folder, self._contents | dict(contents))
        files.is_given = self.is_given
        return files

    def read(self, name: str, limit: float) -> bytes:
        """The content of a file of at most so many bytes, as it was when it was first read.

        Raises
        ------
        ModelError
            If it is missing, cannot be read, is too large or of another kind.
        """
        if Path(name).suffix.lower() not in MESH_FORMATS:
            raise ModelError(wrong(f"a mesh file of the type {', '.join(MESH_FORMATS)}", repr(Path(name).name)))
        if name not in self._contents:
            self._contents[name] = self._read(name, limit)
        check_size(Path(name).name, len(self._contents[name]), limit)
        return self._contents[name]

    def _read(self, name: str, limit: float) -> bytes:
        if self.is_given:
            remedy = "build the system again, and pass it: mbvi.read(path, system=system)"
            raise ModelError(wrong("a mesh that is stored with the model", f"none of the name {name!r}", remedy))
        path = (self.folder or Path()) / name
        if not path.is_file():
            raise ModelError(
                wrong("the path of a mesh file", f"no file {str(path)!r}", "paths start at the model's folder")
            )
        try:
            check_size(path.name, path.stat().st_size, limit)
            return path.read_bytes()
        except OSError as error:
            raise ModelError(wrong("a readable mesh", f"{path.name!r} ({said_by_system(error)})")) from None


def has_volume(mesh: MeshInFile) -> bool:
    """Whether a mesh is more than a picture."""
    return mesh.density is not None or mesh.mass is not None


def read_mesh(mesh: MeshInFile, files: Files | Path | None = None) -> Surface:
    """The surface of a mesh shape without expressions, in its own units (`scale` is not applied).

    Raises
    ------
    ModelError
        If the file is missing, too large or not a mesh, or if it has a mass or density but encloses no volume.
    """
    files = files if isinstance(files, Files) else Files(files)
    if has_volume(mesh):
        mesh_volume(mesh, files)
    return _surface(*_key(mesh, files))


def mesh_volume(mesh: MeshInFile, files: Files | Path | None = None) -> Volume:
    """The volume [m³] of a mesh shape, its centre [m], and its inertia about the centre at density 1 [m⁵].

    Raises
    ------
    ModelError
        If the file is missing, too large or not a mesh, or if it encloses no volume.
    """
    files = files if isinstance(files, Files) else Files(files)
    volume, center, inertia = _volume(*_key(mesh, files))
    factors = mesh.factors
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        size = abs(factors.prod())
        second = (np.trace(inertia) / 2 * np.eye(3) - inertia) * np.outer(factors, factors) * size
        scaled = volume * size, center * factors, np.trace(second) * np.eye(3) - second
    if not (0 < scaled[0] < np.inf and np.isfinite(scaled[1]).all() and 0 < np.trace(scaled[2]) < np.inf):
        by = " · ".join(f"{each:.3g}" for each in factors) if np.ptp(factors) else f"{factors[0]:.3g}³"
        found = f"{volume:.3g} times {by} in {Path(mesh.file).name!r}"
        raise ModelError(wrong("a mesh of a size that numbers can hold", found, "change its scale"))
    return float(scaled[0]), scaled[1], scaled[2]


def _key(mesh: MeshInFile, files: Files) -> tuple[str, bytes, float]:
    return Path(mesh.file).name, content(mesh, files), float(mesh.max_bytes)


def content(mesh: MeshInFile, files: Files) -> bytes:
    """The bytes of a mesh's file."""
    return files.read(mesh.file, float(mesh.max_bytes))


@functools.lru_cache(maxsize=64)
def _surface(name: str, content: bytes, limit: float) -> Surface:
    corners, colors = read_triangles(name, content, limit)
    surface = surface_of(corners)
    if colors is not None:
        surface = surface._replace(colors=colors[surface.numbers])
    if not len(surface.faces):
        raise ModelError(wrong("a mesh with faces", f"none in {name!r} with three corners"))
    return surface


@functools.lru_cache(maxsize=64)
def _volume(name: str, content: bytes, limit: float) -> Volume:
    return volume_of(_surface(name, content, limit), name)
