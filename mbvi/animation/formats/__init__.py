"""Formats of animations: each file is named by the ending of the files that it writes, and says how as `FORMAT`."""

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mbvi.animation.format import Format

ENDINGS = tuple(f".{module.name}" for module in iter_modules(__path__))


def format_of(ending: str) -> "Format":
    """The format of files with one of the ENDINGS."""
    found: Format = import_module(f"{__name__}{ending}").FORMAT
    return found
