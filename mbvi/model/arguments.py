"""Checks of arguments that functions of several layers take."""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from mbvi.errors import ModelError
from mbvi.model.expressions import show, wrong


def is_number(value: Any) -> bool:
    """Whether it is a real number that has a finite floating-point value; truth values are none."""
    try:
        return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(float(value))
    except OverflowError:
        return False


def check_flag(value: Any, where: str) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise ModelError(f"{where}: {wrong('True or False', show(value))}")


def checked_path(value: Any, where: str = "path") -> Path:
    """A path, of what names one."""
    if not isinstance(value, str | os.PathLike):
        raise ModelError(f"{where}: {wrong('the path of a file', show(value))}")
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
