"""Checks of arguments that functions of several layers take."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mbvi.errors import ModelError
from mbvi.floats import as_floats
from mbvi.model.expressions import is_number, show, wrong

__all__ = [
    "check_choice",
    "check_ending",
    "check_flag",
    "check_fraction",
    "check_kind",
    "check_progress",
    "checked_count",
    "checked_names",
    "checked_number",
    "checked_path",
    "checked_vector",
    "is_number",
]


def check_flag(value: Any, where: str) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise ModelError(f"{where}: {wrong('True or False', show(value))}")


def checked_path(value: Any, where: str = "path") -> Path:
    """A path, of what names one."""
    if not isinstance(value, str | os.PathLike) or isinstance(os.fspath(value), bytes):
        raise ModelError(f"{where}: {wrong('the path of a file', show(value))}")
    if "\0" in str(value):
        raise ModelError(f"{where}: {wrong('the path of a file', show(str(value)))}")
    return Path(value)


def check_ending(path: Path, endings: Collection[str]) -> str:
    """The ending of a file, in small letters, if it is one of these."""
    ending = path.suffix.lower()
    if ending not in endings:
        *others, last = endings
        expected = f"a file that ends in {' or '.join(filter(None, (', '.join(others), last)))}"
        raise ModelError(f"{path}: {wrong(expected, repr(path.suffix) if path.suffix else 'no ending')}")
    return ending


def check_kind(value: Any, kind: type, where: str, remedy: str) -> None:
    """Refuse what is not of a class, and say how one gets it."""
    if not isinstance(value, kind):
        raise ModelError(f"{where}: {wrong(f'a {kind.__name__}', show(value), remedy)}")


def check_progress(value: Any) -> None:
    """Refuse what cannot be called, if it is given."""
    if value is not None and not callable(value):
        raise ModelError(f"progress: {wrong('a function of steps done and steps', show(value))}")


def check_choice(value: Any, choices: Sequence[str], where: str) -> None:
    """Refuse what is none of some words."""
    if not isinstance(value, str) or value not in choices:
        raise ModelError(f"{where}: {wrong(' or '.join(choices), show(value))}")


def checked_number(value: Any, where: str, expected: str = "a finite number", above: float = -np.inf) -> float:
    """A finite number above a bound."""
    array = as_floats(value) if not isinstance(value, bool) else None
    if array is None or array.ndim or not np.isfinite(array) or not array > above:
        raise ModelError(f"{where}: {wrong(expected, show(value))}")
    return float(array)


def check_fraction(value: Any, where: str) -> None:
    """Refuse what is no number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ModelError(f"{where}: {wrong('a number from 0 to 1', show(value))}")


def checked_count(value: Any, where: str, least: int, most: float = np.inf) -> int:
    """A whole number within bounds."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
        upper = f" and at most {most:.6g}" if most < np.inf else ""
        raise ModelError(f"{where}: {wrong(f'a whole number of at least {least}{upper}', show(value))}")
    return int(value)


def checked_vector(values: Any, where: str, names: Sequence[str]) -> np.ndarray:
    """Finite numbers, one for each of some names, as an array of their own."""
    array, expected = as_floats(values), "1 number" if len(names) == 1 else f"{len(names)} numbers"
    if array is None:
        raise ModelError(f"{where}: {wrong(expected, show(values))}")
    if array.shape != (len(names),):
        raise ModelError(f"{where}: expected {expected}, found an array of shape {array.shape}")
    if not np.isfinite(array).all():
        name = names[int(np.argmin(np.isfinite(array)))]
        raise ModelError(f"{where}: expected finite numbers, found {array[~np.isfinite(array)][0]} for {name}")
    return array.copy()


def checked_names(values: Any, where: str, expected: str = "a list of names") -> list[str]:
    """Names in a list, which is no single one."""
    is_list = isinstance(values, Collection) and not isinstance(values, str | bytes | Mapping)
    if isinstance(values, np.ndarray):
        is_list, values = values.ndim == 1, values.tolist()
    if not is_list or not all(isinstance(each, str) for each in values):
        raise ModelError(f"{where}: {wrong(expected, show(values))}")
    return list(values)
