"""Ways of stepping: one file each, whose function `run` takes a `Run` to a trajectory; a scheme names its file as `runner`."""

from collections.abc import Callable
from importlib import import_module

from mbvi.results.trajectory import Trajectory
from mbvi.schemes.method import Method
from mbvi.schemes.tableau import Tableau
from mbvi.steppers.run import Run


def runner_of(method: Tableau | Method) -> Callable[[Run], Trajectory]:
    """What runs a scheme: the function `run` of the file that it names."""
    run: Callable[[Run], Trajectory] = import_module(f"mbvi.steppers.{method.runner}").run
    return run
