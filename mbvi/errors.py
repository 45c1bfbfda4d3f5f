"""What a user can get wrong (ModelError), what a step can fail at (StepError), and what may go wrong (MbviWarning)."""

from __future__ import annotations

from typing import Any


class ModelError(ValueError):
    """A model, an argument or a file that cannot be used.

    The message is one line: where, what was expected, what was found, what to do.
    """


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
        return str(self).replace(f"{KEPT} ", "")


class MbviWarning(UserWarning):
    """The family of all warnings of mbvi, by which they can be shown, refused or kept quiet."""


class ModelWarning(MbviWarning):
    """What a model says, and its author may not mean."""


class StabilityWarning(MbviWarning):
    """A step that is too large for a scheme to be stable: the motion may grow without bound."""
