"""The same model with other joints cut, so that other coordinates describe it, or with stops that are closed."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any, NamedTuple

from mbvi.model.contacts import Friction, Stop
from mbvi.model.model import Model


class Held(NamedTuple):
    """A constraint of a name of its own, as stops and dry frictions have one."""

    name: str
    held: Any


def with_all_cut(model: Model) -> Model:
    """The model in the embedding with all joints as constraints."""
    joints = {name: joint.replaced({"cut": None}) for name, joint in model.joints.items()}
    return _with(model, joints, "embedding")


def with_tree(model: Model, chords: Container[str]) -> Model:
    """The model with the joints of its spanning tree as coordinates, and those that close its loops as constraints."""
    joints = {name: joint.replaced({"cut": name in chords or None}) for name, joint in model.joints.items()}
    return _with(model, joints, "tree")


def with_held(model: Model, held: Iterable[Stop | Friction | Held], forces: Mapping[str, Any] | None = None) -> Model:
    """A resolved model in which some stops are closed and frictions hold, as constraints, and with some more forces."""
    constraints = {**model.constraints, **{f"contacts.{each.name}": each.held for each in held}}
    other = model.replaced({"constraints": constraints, "forces": {**model.forces, **(forces or {})}})
    other._moved_loops = model._moved_loops or ()
    return other


def _with(model: Model, joints: dict[str, Any], formulation: str) -> Model:
    """The model with other cuts of its joints, whose numbers are the same."""
    other = model.replaced({"joints": joints, "formulation": formulation})
    other._moved_loops = model._moved_loops
    return other
