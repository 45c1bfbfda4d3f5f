"""Quaternions among the coordinates of a system: where they are, and that they have a length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbvi.errors import ModelError
from mbvi.kernels import layout
from mbvi.model.expressions import wrong

Array = np.ndarray
NO_LENGTH = 1e-200  # square of the length of a quaternion that is none


def quaternion_places(arrays: layout.System) -> Array:
    """The coordinates (b, 4) of every quaternion."""
    links = arrays.links
    first = np.sort(links[links[:, layout.KIND] == layout.QUATERNION, layout.DOF])
    found: Array = first[:, None] + np.arange(4)
    return found


def check_quaternions(what: str, q: Array, places: Array, names: Sequence[str]) -> None:
    """An error for a quaternion that has no length, and so no orientation.

    Parameters
    ----------
    what : str
        Name of the coordinates.
    q : (states, n)
    places : (b, 4)
        See `quaternion_places`.
    names : sequence of str
        The names of coordinates.

    Raises
    ------
    ModelError
        If there is one.
    """
    if not len(places):
        return
    parts = q[:, places]
    none = np.argwhere(np.einsum("sbi,sbi->sb", parts, parts) <= NO_LENGTH)
    if len(none):
        state, ball = none[0]
        name = names[places[ball, 0]].rpartition(".")[0]
        found = "the zero quaternion" + (f" in state {state}" if len(q) > 1 else "")
        remedy = "write for example 1, 0, 0, 0"
        raise ModelError(f"{what}: {wrong(f'a unit quaternion (qw, qx, qy, qz) of {name}', found, remedy)}")
