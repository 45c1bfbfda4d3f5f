"""What statics and small motions leave out: stops, and dry friction. They hold nothing there, so no stop may be passed."""

from __future__ import annotations

import warnings

import numpy as np

from mbvi.errors import ModelError, ModelWarning, stack_level
from mbvi.model.expressions import wrong
from mbvi.model.touching import has_contacts
from mbvi.system.contacts import Contacts
from mbvi.system.system import System

Array = np.ndarray
PASSED = 1e-9  # by which a stop may be passed, as by rounding [m or rad]


def check_contacts(system: System, q: Array, t: float, expected: str) -> None:
    """Refuse a state in which a stop is passed, and warn of dry friction, which would hold a system also elsewhere.

    Parameters
    ----------
    system : System
    q, t : (n,), float
        The state of rest.
    expected : str
        What is looked for, as the message says it.
    """
    if system.model is None or not has_contacts(system.model.resolved()):
        return
    contacts = Contacts(system, q, t)
    gaps = contacts.gaps(np.array([t]), q[None])[0]
    if len(gaps) and gaps.min() < -PASSED:
        worst = int(np.argmin(gaps))
        found = f"{contacts.stops[worst].name} passed by {-gaps[worst]:.3g}"
        remedy = "stops hold nothing here: take a constraint in the place of what holds it"
        raise ModelError(f"{system.name}: {wrong(f'{expected} that stops allow', found, remedy)}")
    if contacts.frictions:
        names = ", ".join(each.name for each in contacts.frictions)
        warnings.warn(
            f"{system.name}: dry friction is left out, of {names}; with it the system may also rest where other forces are left",
            ModelWarning,
            stacklevel=stack_level(),
        )


def of_contacts(system: System) -> str:
    """What to say of stops where no rest is found."""
    has_any = system.model is not None and has_contacts(system.model.resolved())
    return "; stops and dry friction of its contacts hold nothing here" if has_any else ""
