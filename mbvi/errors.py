"""What a user can get wrong (ModelError), what a step can fail at (StepError), and what may go wrong (MbviWarning)."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class ModelError(ValueError):
    """A model, an argument or a file that cannot be used.

    The message is one line: where, what was expected, what was found, what to do.
    """

    def __init__(self, message: str) -> None:
        super().__init__(re.sub(r"\s*\n\s*", " ", str(message)))  # arrays are shown in several


KEPT = "The stored states before it are in error.trajectory."


class StepError(ArithmeticError):
    """A step that did not converge.

    Attributes
    ----------
    trajectory : Trajectory
        All steps before the one that failed.
    """

    def __init__(self, message: str, trajectory: Any = None) -> None:
        super().__init__(message)
        self.trajectory = trajectory

    @property
    def reason(self) -> str:
        """The message without where the states are, for those who do not keep them."""
        return str(self).replace(f" {KEPT}", "")


class EventError(StepError):
    """An event that a run was to go on to and that did not come, or one whose function has no value.

    Attributes
    ----------
    trajectory : Trajectory
        All states until then.
    """


class MbviWarning(UserWarning):
    """The family of all warnings of mbvi, by which they can be shown, refused or kept quiet."""


class ModelWarning(MbviWarning):
    """What a model says, and its author may not mean."""


class AccuracyWarning(MbviWarning):
    """A run whose result cannot be trusted from some time on: what was found says why, as `Trajectory.findings` do."""


class LimitWarning(MbviWarning):
    """A run that exceeds limits of its model."""


class SingularityWarning(MbviWarning):
    """A step that fell on a singular configuration of loops, and was done in two parts."""


class StabilityWarning(MbviWarning):
    """A step that is too large for a scheme to be stable: the motion may grow without bound."""


@contextmanager
def doubts_expected() -> Iterator[None]:
    """Hide what runs warn of where it is measured or reported in another way: `AccuracyWarning` and `LimitWarning`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        warnings.simplefilter("ignore", LimitWarning)
        yield


def said_by_system(error: OSError) -> str:
    """What the operating system says of a file, as a part of a sentence."""
    text = error.strerror or str(error) or "none"
    return text[:1].lower() + text[1:]


def stack_level() -> int:
    """Which of the callers of a function that warns is the first outside mbvi, as `warnings.warn` counts them."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "mbvi":
        level, frame = level + 1, frame.f_back
    return level
