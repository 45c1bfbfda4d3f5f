"""A method that is no Galerkin scheme: its name, what is known of it, and which stepper runs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Method:
    """What `simulate` needs of a method that is not given by the numbers of a `Tableau`.

    Parameters
    ----------
    name : str
        Name in `simulate` and on the command line.
    order : int
    source : str
        Where it comes from.
    description : str
        One line for people.
    runner : str
        Name of the file in `mbvi/steppers` that announces and runs it.
    is_symmetric : bool
        Whether a step back undoes a step.
    is_variable : bool
        Whether the step may change from one step to the next.
    numbers : tuple of float
        What else the stepper takes.
    """

    name: str
    order: int
    source: str
    description: str
    runner: str
    is_symmetric: bool = True
    is_variable: bool = False
    numbers: tuple[float, ...] = ()

    fractions: ClassVar[tuple[float, ...]] = (1.0,)
    """A step is one step, as in a `Tableau` that is no composition."""
