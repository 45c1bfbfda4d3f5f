"""Robots' files of other programs: one reader for each format, and what they share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mbvi.errors import ModelError
from mbvi.model.expressions import wrong
from mbvi.model.imports.mjcf import read_mjcf
from mbvi.model.imports.robot import Options, Robot
from mbvi.model.imports.sdf import read_sdf
from mbvi.model.imports.urdf import read_urdf
from mbvi.model.imports.xml import Node, parse_xml
from mbvi.model.model import Model

READERS: dict[str, Callable[[Node, Robot], Model]] = {"robot": read_urdf, "mujoco": read_mjcf, "sdf": read_sdf}
"""The reader of every format, by the outermost element of its files."""
OTHERS = {"html": "an HTML page"}


def import_robot(content: bytes, path: Path, options: Options) -> Model:
    """The model of a robot's file.

    Parameters
    ----------
    content : bytes
        XML, of which the outermost element says the format.
    path : Path
        Where the file is, which meshes are relative to.
    options : Options

    Raises
    ------
    ModelError
        If it is of another format, or anything in it is wrong; the message begins with file and line.
    """
    root = parse_xml(content, str(path))
    if root.tag not in READERS:
        found = f"{OTHERS.get(root.tag, 'an XML file')}, which mbvi does not read"
        raise ModelError(f"{path}:{root.line}: {wrong('a model file (YAML), a URDF, SDF or MJCF file', found)}")
    try:
        return READERS[root.tag](root, Robot(path, options))
    except ModelError as error:
        where = "" if str(error).startswith(f"{path}:") else f"{path}: "
        raise ModelError(f"{where}{error}") from None
