"""Prescribed motions: which constraints they are, and whether the mechanism reaches what they prescribe."""

from __future__ import annotations

import numpy as np

from mbvi.errors import ModelError
from mbvi.system.projection import project_position
from mbvi.system.system import System
from mbvi.system.tables import driven_rows


def driven_names(system: System) -> list[str]:
    """The constraints that prescribe motions as functions of time."""
    return list(dict.fromkeys(system.constraint_names[i].rsplit(".", 1)[0] for i in driven_rows(system.arrays)))


def is_in_reach(system: System, q: np.ndarray, t: float) -> bool:
    """Whether a position on the constraints is found from q."""
    try:
        project_position(system, q, t)
    except ModelError:
        return False
    return True
