"""Where the files lie that a robot's file names, and which of them may be read.

These are the files of the package that the robot's file belongs to, which is the nearest folder above it with a package.xml, or
else the parent of its folder, and those in folders that the user names, in the call or by ROS_PACKAGE_PATH and AMENT_PREFIX_PATH.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from copy import copy
from pathlib import Path
from urllib.parse import unquote, urlsplit

from mbvi.errors import ModelError
from mbvi.model.expressions import show, wrong

SCHEMES = "package", "model", "file"


class Folders:
    """The folders from which a robot's file may have others.

    Parameters
    ----------
    file : Path
        The robot's file.
    search : sequence of Path
        Folders that the user names: packages, or folders with packages.
    """

    def __init__(self, file: Path, search: Sequence[Path]) -> None:
        self.folder = file.resolve().parent
        self.package = next(
            (each for each in _above(self.folder) if (each / "package.xml").is_file()), self.folder.parent
        )
        self.search = [Path(each).resolve() for each in (*search, *_from_environment())]

    def at(self, file: Path) -> Folders:
        """The same folders for another file that may be read, from which its names start."""
        found = copy(self)
        found.folder = file.resolve().parent
        return found

    def find(self, name: str) -> Path | None:
        """The file of a name, as package://arm/meshes/base.stl; None if there is none.

        Raises
        ------
        ModelError
            If it lies where it may not be read.
        """
        outside = None
        for path in self._candidates(name):
            if os.path.isfile(path):  # which a name that is too long is not
                real = path.resolve()
                if any(real.is_relative_to(each) for each in (self.package, *self.search)):
                    return real
                outside = outside or real
        if outside is not None:
            expected = f"a file in the package {str(self.package)!r} or in a folder of search"
            remedy = f"name its folder by search=[{str(outside.parent)!r}], or --search in a command, if it may be read"
            raise ModelError(wrong(expected, f"{show(name)}, which is {str(outside)!r}", remedy))
        return None

    def _candidates(self, name: str) -> Iterator[Path]:
        """Where a file of that name may lie, the nearest first."""
        scheme, _, rest = name.partition("://")
        if not rest:
            yield self.folder / name
        elif scheme == "file":
            yield Path(unquote(urlsplit(name).path))
        elif scheme in ("package", "model"):
            package, _, inside = rest.partition("/")
            for folder in self._packages(package):
                yield folder / inside

    def _packages(self, name: str) -> Iterator[Path]:
        """Folders that a package of that name may be."""
        yield from (each for each in _above(self.folder) if each.name == name and each.is_relative_to(self.package))
        yield self.package / name
        yield self.package.parent / name
        for folder in self.search:
            yield from (each for each in (folder, *folder.parents) if each.name == name)
            yield from (folder / name, folder / "share" / name)


def _above(folder: Path) -> Iterator[Path]:
    """A folder and those above it."""
    yield from (folder, *folder.parents)


def _from_environment() -> Iterator[Path]:
    """The folders that two variables of ROS name."""
    for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        yield from (Path(each) for each in os.environ.get(variable, "").split(os.pathsep) if each)
