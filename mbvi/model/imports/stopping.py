"""Limits of imported joints that stop, and their friction, which acts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mbvi.model.contacts import DryFriction
from mbvi.model.import_report import Notes

KEPT = "kept with the joint, and acts only on import with stops"
"""What the report says of friction that does not act."""


def with_stops(joint: Any, name: str, notes: Notes) -> Any:
    """A joint whose limits stop it, without a bounce; those that leave no motion are noted."""
    limits = {}
    for short, each in joint.limits.items():
        has_bounds = each.lower is not None or each.upper is not None
        if has_bounds and each.lower == each.upper:
            notes.add("approximated", "limits", "lower and upper are the same, and stop nothing", f"joint {name!r}")
            has_bounds = False
        limits[short] = each.replaced({"restitution": 0.0}) if has_bounds else each
    return joint.replaced({"limits": limits})


def frictions(joint: Any, name: str) -> Iterator[tuple[str, DryFriction]]:
    """The dry friction of all coordinates of a joint that has some, with their names."""
    names = joint.coordinate_names if joint.friction else ()
    for short in names:
        yield f"friction of {name}" + (f" {short}" if len(names) > 1 else ""), DryFriction(joint=name, coordinate=short)
