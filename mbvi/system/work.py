"""What does work, so that the energy is not conserved."""

from __future__ import annotations

from mbvi.system.system import System


def what_does_work(system: System) -> str:
    """What does work on a system that does not conserve its energy, as messages name it."""
    if system.is_driven:
        return "prescribed motions"
    forces = {} if system.model is None else system.model.resolved().forces
    names = [f"{force.type} {name!r}" for name, force in forces.items() if not force.derives_from_potential]
    if names:
        return f"the {names[0]}, which does work" + (f", and {len(names) - 1} more" if len(names) > 1 else "")
    return "dampers, functions of time or forces of your own" if system.model is None else "a force of your own"
