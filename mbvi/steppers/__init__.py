"""Ways of stepping: one file each, which announces its schemes as `SCHEMES` and by `begin` makes what does the steps of a run."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from mbvi.steppers.conditions import check_contacts
from mbvi.steppers.loop import Stepper
from mbvi.steppers.run import Run


def announced(name: str) -> Iterator[Any]:
    """What the files of this folder announce under a name, as SCHEMES."""
    for module in iter_modules(__path__):
        yield from getattr(import_module(f"{__name__}.{module.name}"), name, ())


def stepper_of(run: Run, is_smooth: bool = False) -> Stepper:
    """What does the steps of a run: by the function `begin` of the file that its scheme names as `runner`, or that of charts.

    Parameters
    ----------
    run : Run
    is_smooth : bool
        Whether nothing of its contacts happens in these steps.

    Raises
    ------
    ModelError
        If the scheme does not apply to the system.
    """
    name = "chart" if run.chart is not None else run.method.runner
    if run.system.has_contacts and not is_smooth:
        check_contacts(run)
        name = "contacts"
    stepper: Stepper = import_module(f"{__name__}.{name}").begin(run)
    return stepper
