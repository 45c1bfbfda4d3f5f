"""What a user can get wrong (ModelError) and what a step can fail at (StepError)."""

from __future__ import annotations

from typing import Any


class ModelError(ValueError):
    """A model, an argument or a file that cannot be used.

    The message is one line: where, what was expected, what was found, what to do.
    """


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
