"""Ways of stepping: one file each, which announces its schemes as `SCHEMES` and whose function `run` runs them."""

from collections.abc import Callable, Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from mbvi.results.trajectory import Trajectory
from mbvi.schemes.method import Method
from mbvi.schemes.tableau import Tableau
from mbvi.steppers.run import Run


def announced(name: str) -> Iterator[Any]:
    """What the files of this folder announce under a name, as SCHEMES."""
    for module in iter_modules(__path__):
        yield from getattr(import_module(f"{__name__}.{module.name}"), name, ())


def runner_of(method: Tableau | Method) -> Callable[[Run], Trajectory]:
    """What runs a scheme: the function `run` of the file that it names as `runner`."""
    run: Callable[[Run], Trajectory] = import_module(f"{__name__}.{method.runner}").run
    return run
