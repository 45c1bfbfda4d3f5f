"""What a stepper carries from one call to the next, of which a file keeps the contents, and which contents it takes back.

Floating-point numbers may be any: kernels compute with what they find. Integers choose a row, a column or a branch, so that a
kernel would read and write beyond an array with a value that no run leaves there. Constants are not carried, nor is work that
every call writes before it reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from mbvi.kernels import layout
from mbvi.kernels.compiler.packed import Packed
from mbvi.kernels.galerkin.workspace import MAX_ORDER

Array = np.ndarray
MOST_COUNTED = 2**53


def _places(array: Array) -> tuple[int, int]:
    """The least and the largest place in an array of coordinates or constraints in some order."""
    return 0, len(array) - 1


INTEGERS: Mapping[str, Callable[[Array], tuple[int, int]]] = {
    "count": lambda _: (0, MOST_COUNTED),
    "turns": lambda _: (-MOST_COUNTED, MOST_COUNTED),
    "history": lambda _: (-1, MAX_ORDER + 1),
    "is_current": lambda _: (0, 1),
    "order": _places,
    "places": _places,
    "rows": _places,
    "row_order": _places,
    "column_order": _places,
}
"""The least and the largest that may stand in the integer arrays of workspaces."""
WORK = {"pivots", "reduced_pivots", "ranks"}
"""Integer arrays of workspaces that every call writes before it reads them."""


class Carried(NamedTuple):
    """An array that is carried; of integers, between which they are."""

    array: Array
    least: int | Array = 0
    most: int | Array = 0


def carried(*spaces: Packed) -> list[Carried]:
    """What is carried of workspaces."""
    found = []
    for space in spaces:
        arrays = {name: getattr(space, name) for name in space._numba_type_.layout}
        for name, array in arrays.items():
            if not isinstance(array, np.ndarray) or not array.flags.writeable:
                continue
            if array.dtype.kind == "f":
                found.append(Carried(array))
            elif name not in WORK:
                found.append(Carried(array, *INTEGERS[name](array)))
    return found


def counts_of(system: layout.System) -> list[Carried]:
    """What a system itself carries: how many constraints of each node are redundant, and since which state."""
    widths = system.nodes[:, layout.NODE_COORDINATES] + system.nodes[:, layout.NODE_ROWS]
    return [Carried(system.redundant, -1, widths), Carried(system.reference)]


def to_bytes(state: Sequence[Carried]) -> bytes:
    """The contents of all arrays."""
    return b"".join(each.array.tobytes() for each in state)


def take_back(state: Sequence[Carried], content: bytes) -> None:
    """Put contents back, all or none.

    Raises
    ------
    ValueError
        If they are of another size, or hold integers that no run leaves there.
    """
    first, taken = 0, []
    if len(content) != sum(each.array.nbytes for each in state):
        raise ValueError("one of another stepper")
    for array, least, most in state:
        values = np.frombuffer(content, array.dtype, array.size, first).reshape(array.shape)
        if array.dtype.kind == "i" and not ((least <= values) & (values <= most)).all():
            raise ValueError("one with numbers that no run leaves in it")
        taken.append(values)
        first += array.nbytes
    for each, values in zip(state, taken, strict=True):
        each.array[...] = values
