"""The members of an ensemble: which values are combined, and along which dimensions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mbvi.errors import ModelError
from mbvi.model.expressions import show, wrong
from mbvi.run_arguments import MAX_STORED_BYTES

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Members:
    """The members of an ensemble: all combinations along its dimensions, the last of which varies fastest.

    Attributes
    ----------
    sizes : dict of str to int
        The dimensions.
    given : dict of str to tuple
        Dimensions and values of what varies.
    values : ndarray (members, names)
        The values of every member.
    numbers : ndarray (members,)
        The numbers by which messages call them.
    """

    sizes: Mapping[str, int]
    given: Mapping[str, tuple[tuple[str, ...], Array]]
    values: Array
    numbers: Array

    @classmethod
    def of(cls, over: Mapping[str, Any]) -> Members:
        """The members that `ensemble` is asked for.

        Raises
        ------
        ModelError
            If values are no finite numbers, or do not fit their dimensions, or the members do not fit into memory.
        """
        if not isinstance(over, Mapping) or not over:
            example = 'write for example {"length": [0.5, 1.0]}'
            raise ModelError(f"over: {wrong('a mapping of names to values', repr(over), example)}")
        given = {name: _given(name, value) for name, value in over.items()}
        sizes: dict[str, int] = {}
        for name, (dimensions, values) in given.items():
            for dimension, size in zip(dimensions, values.shape, strict=True):
                if sizes.setdefault(dimension, size) != size:
                    found = f"{size} of {name!r}, along the dimension {dimension!r}"
                    raise ModelError(f"over: expected {sizes[dimension]} values as before, found {found}")
        for dimension in sizes:
            if dimension in given and given[dimension][0] != (dimension,):
                remedy = "choose another name"
                raise ModelError(f"over: {wrong('a dimension other than what varies', show(dimension), remedy)}")
        shape = tuple(sizes.values())
        check_count(math.prod(shape), len(given))
        columns = []
        for dimensions, values in given.values():
            order = sorted(range(len(dimensions)), key=lambda axis: list(sizes).index(dimensions[axis]))
            along = [sizes[each] if each in dimensions else 1 for each in sizes]
            columns.append(np.broadcast_to(values.transpose(order).reshape(along), shape).ravel())
        return cls(sizes, given, np.stack(columns, axis=1), np.arange(math.prod(shape)))

    def first(self) -> Members:
        """The first member alone."""
        return Members.of(self.of_member(0))

    def others(self, numbers: Array, values: Array) -> Members:
        """Members with these numbers (k,) and values (k, names) of what varies here."""
        return replace(self, numbers=numbers, values=values)

    @property
    def count(self) -> int:
        """Number of members."""
        return len(self.values)

    def of_member(self, member: int) -> dict[str, float]:
        """The values of a member by name."""
        return dict(zip(self.given, self.values[member].tolist(), strict=True))

    def describe(self, member: int) -> str:
        """A member for a message: its number, and what it has."""
        values = ", ".join(f"{name} = {value:.6g}" for name, value in self.of_member(member).items())
        return f"member {self.numbers[member]} ({values})"

    @contextmanager
    def named(self, member: int) -> Iterator[None]:
        """Let errors say which member they are of."""
        try:
            yield
        except ModelError as error:
            raise ModelError(f"over: {self.describe(member)}: {error}") from error.__cause__


def check_count(count: int, names: int) -> None:
    """Refuse more members than fit into memory, each with values by names, steps and a reason, of eight bytes."""
    needed = 8.0 * (names + 2) * count
    if needed > MAX_STORED_BYTES:
        expected, found = f"members of at most {MAX_STORED_BYTES / 1e9:.3g} GB", f"{count} of {needed / 1e9:.3g} GB"
        raise ModelError(f"over: {wrong(expected, found, 'give fewer values')}")


def _given(name: Any, value: Any) -> tuple[tuple[str, ...], Array]:
    """Dimensions and values of what varies, checked."""
    where = f"over: {name}"
    dimensions: Any = None
    if isinstance(value, tuple) and len(value) == 2 and _are_names(value[0]):
        dimensions, value = value
        dimensions = (dimensions,) if isinstance(dimensions, str) else tuple(dimensions)
        if len(set(dimensions)) < len(dimensions):
            raise ModelError(f"{where}: expected different names of dimensions, found {show(dimensions)}")
    try:
        values = np.asarray(value)
    except ValueError:  # rows of different lengths
        values = np.array("")
    if values.dtype.kind not in "iuf":
        remedy = 'angles are in rad, and a dimension stands before its values, as ("member", [1, 2])'
        raise ModelError(f"{where}: {wrong('numbers', show(value), remedy)}")
    if np.ma.is_masked(value):
        remedy = "leave it out, or give it a value"
        raise ModelError(
            f"{where}: {wrong('numbers', f'a masked one at {int(np.ma.getmaskarray(value).argmax())}', remedy)}"
        )
    with np.errstate(over="ignore"):
        values = values.astype(float)
    if dimensions is None:
        dimensions = (name,) * values.ndim
    if values.ndim != len(dimensions) or (values.ndim > 1 and set(dimensions) == {name}):
        remedy = f'name them: {{"{name}": (("a", "b"), values)}}'
        expected = f"values of {len(set(dimensions))} dimension{'s' if len(set(dimensions)) > 1 else ''}"
        raise ModelError(f"{where}: {wrong(expected, f'an array of shape {values.shape}', remedy)}")
    if not values.size:
        raise ModelError(f"{where}: expected at least one value, found none")
    if not np.isfinite(values).all():
        at = int(np.argmin(np.isfinite(values.ravel())))
        raise ModelError(f"{where}: expected finite numbers, found {values.ravel()[at]} at {at}")
    return dimensions, values


def _are_names(dimensions: Any) -> bool:
    """Whether these are dimensions: a name, or several."""
    return isinstance(dimensions, str) or (
        isinstance(dimensions, tuple | list) and all(isinstance(each, str) for each in dimensions)
    )
