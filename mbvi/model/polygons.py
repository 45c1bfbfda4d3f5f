"""Vertices and polygons of the mesh files that are lines of words, OBJ and OFF; errors name the line.

Of a vertex the place matters, of a corner of a polygon its vertex: weights, colours, textures and normals are left out.
"""

from __future__ import annotations

import codecs
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbvi.errors import ModelError
from mbvi.model.expressions import show, wrong

Line = tuple[int, list[bytes]]
"""The number of a line, from 1, and its words."""


class Polygons(NamedTuple):
    """Vertices, and polygons one after another.

    vertices  (n, 3)
    corners   (k,)    indices of their vertices, from 0
    sizes     (m,)    how many of the corners each polygon has
    """

    vertices: NDArray[np.float64]
    corners: NDArray[np.int64]
    sizes: NDArray[np.int64]


class Reader:
    """Vertices and polygons as the lines of a file give them.

    Parameters
    ----------
    name : str
        The name of the file.
    content : bytes
    """

    def __init__(self, name: str, content: bytes) -> None:
        self._name, self._content = name, content.removeprefix(codecs.BOM_UTF8)
        self._places, self._corners = array("d"), array("q")
        self._sizes, self._numbers = array("q"), array("q")

    @property
    def count(self) -> int:
        """The number of vertices so far."""
        return len(self._places) // 3

    def lines(self) -> Iterator[Line]:
        """The lines with words in them, without comments; a backslash at the end joins the next."""
        words: list[bytes] = []
        for number, line in enumerate([*self._content.splitlines(), b""], 1):
            text = line.partition(b"#")[0].rstrip()
            words += text.rstrip(b"\\").split()
            if words and not text.endswith(b"\\"):
                yield number, words
                words = []

    def vertex(self, number: int, words: Sequence[bytes]) -> None:
        """Take a vertex from the words of a line."""
        try:
            x, y, z = map(float, words[:3])
        except ValueError:
            raise self.refusal(number, "a vertex of three numbers") from None
        self._places.extend((x, y, z))

    def polygon(self, number: int, corners: Iterable[int]) -> None:
        """Take a polygon of a line; its corners are indices of vertices from 0, of words that may be none."""
        before = len(self._corners)
        try:
            self._corners.extend(corners)
        except (ValueError, OverflowError):
            raise self.refusal(number, "a face of indices of vertices") from None
        self._sizes.append(len(self._corners) - before)
        self._numbers.append(number)

    def polygons(self, first: int) -> Polygons:
        """All of them, of vertices that there are; the file counts them from `first`."""
        corners, sizes = np.array(self._corners, dtype=np.int64), np.array(self._sizes, dtype=np.int64)
        is_outside = (corners < 0) | (corners >= self.count)
        if is_outside.any():
            number = int(np.repeat(self._numbers, sizes)[np.argmax(is_outside)])
            raise self.refusal(number, f"a face of the {self.count} vertices, which are counted from {first}")
        return Polygons(np.array(self._places).reshape(-1, 3), corners, sizes)

    def check_claims(self, vertices: int, polygons: int) -> None:
        """Refuse less than the file claims to hold."""
        if self.count < vertices or len(self._sizes) < polygons:
            found = f"{self.count} and {len(self._sizes)} in {self._name!r}"
            expected = f"{vertices} vertices and {polygons} faces, as the file claims"
            raise ModelError(wrong(expected, found, "export it again"))

    def refusal(self, number: int, expected: str) -> ModelError:
        """What is raised for a line that is not as expected."""
        lines = self._content.splitlines()[number - 1 : number]
        line = lines[0].decode("utf-8", "replace").strip() if lines else ""
        remedy = "export it with decimal points" if re.search(r"\d,\d", line) else "export it again"
        return ModelError(wrong(expected, f"{show(line)} in line {number} of {self._name!r}", remedy))


def read_obj(name: str, content: bytes) -> Polygons:
    """The polygons of an OBJ file; negative indices count back from the last vertex above.

    Raises
    ------
    ModelError
        If a vertex is not three numbers, or a face has vertices that there are not.
    """
    reader = Reader(name, content)
    for number, (key, *words) in reader.lines():
        if key == b"v":
            reader.vertex(number, words)
        elif key == b"f":
            indices = (int(word.partition(b"/")[0]) for word in words)
            reader.polygon(number, (index + reader.count if index < 0 else index - 1 for index in indices))
    return reader.polygons(first=1)


def read_off(name: str, content: bytes) -> Polygons:
    """The polygons of an OFF file.

    Raises
    ------
    ModelError
        If it does not begin with OFF and its numbers of vertices and faces, holds fewer, a vertex is not three numbers, or a
        face has vertices that there are not.
    """
    reader = Reader(name, content)
    lines = reader.lines()
    number, words = next(lines, (1, [b""]))
    head = words if len(words) > 1 else words + next(lines, (1, []))[1]
    if not re.fullmatch(rb"(ST)?C?N?OFF \d{1,12} \d{1,12}", b" ".join(head[:3])):
        raise reader.refusal(number, "OFF and the numbers of vertices and faces")
    vertices, faces = int(head[1]), int(head[2])
    for number, words in islice(lines, vertices):
        reader.vertex(number, words)
    for number, words in islice(lines, faces):
        reader.polygon(number, _corners(words))
    reader.check_claims(vertices, faces)
    return reader.polygons(first=0)


def _corners(words: Sequence[bytes]) -> Iterator[int]:
    """The corners of a face of an OFF file, behind their number; colours follow them."""
    count = int(words[0])
    if not 0 <= count < len(words):
        raise ValueError
    yield from map(int, words[1 : count + 1])
