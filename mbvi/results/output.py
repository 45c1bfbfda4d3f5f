"""Files that are written: their paths tried out before a long run, and themselves there at once or not at all."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from mbvi.errors import ModelError
from mbvi.model.arguments import check_ending, check_flag, checked_path
from mbvi.model.expressions import wrong


def check_overwriting(force: Any) -> None:
    """Refuse an argument `force` that does not say whether a file is overwritten, as a force of one's own does not."""
    if callable(force):
        remedy = "give a force of your own to assemble(model, force=…)"
        raise ModelError(f"force: {wrong('True or False, for files', 'a function', remedy)}")
    check_flag(force, "force")


def check_output(path: str | os.PathLike[str], force: bool = False, endings: Sequence[str] = ()) -> Path:
    """A path that can be written, tried out, so that one knows before a long run; if there are some, with one of the endings.

    Raises
    ------
    ModelError
        If the ending is another, there is such a file and `force` is not set or no truth value, or its folder is missing or
        cannot be written.
    """
    path = checked_path(path)
    check_overwriting(force)
    with reported(path, "a file that can be written"):
        if path.exists() and not path.is_file():
            raise ModelError(f"{path}: {wrong('a file', 'a folder' if path.is_dir() else 'a device')}")
        if endings:
            check_ending(path, endings)
        if path.exists() and not force:
            remedy = "choose another name, or overwrite it by force=True (--force)"
            raise ModelError(f"{path}: {wrong('a new file', 'one that exists', remedy)}")
        if not path.resolve().parent.is_dir():
            found = f"no folder {str(path.parent)!r}"
            raise ModelError(f"{path}: {wrong('a file in a folder', found, 'make it first')}")
        partial_path(path).touch()
        partial_path(path).unlink()
    return path


def replace_file(path: Path, write: Callable[[Path], Any]) -> None:
    """Let a function write a file, under another name with the same ending, at once or not at all.

    Raises
    ------
    ModelError
        If it cannot be written.
    """
    part = partial_path(path)
    try:
        with reported(path, "a file that can be written"):
            write(part)
            os.replace(part, path.resolve())
    except ModelError as error:
        raise ModelError(str(error).replace(str(part), str(path))) from None
    finally:
        part.unlink(missing_ok=True)


def partial_path(path: Path) -> Path:
    """Where a file is written before it gets its name."""
    return path.resolve().with_name(f".{path.stem.lstrip('.')}.{os.getpid()}.part{path.suffix}")


@contextlib.contextmanager
def reported(path: Path, expected: str, remedy: str = "") -> Iterator[None]:
    """Turn what the operating system or HDF5 says into a ModelError."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        raise ModelError(f"{path}: {wrong(expected, _reason(error), remedy)}") from None


def _reason(error: Exception) -> str:
    number = getattr(error, "errno", None)
    said = re.search(r"error message = '([^']+)'", str(error))
    text = os.strerror(number) if number else said[1] if said else " ".join(str(error).split())
    return text[:1].lower() + text[1:]
