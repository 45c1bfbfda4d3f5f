"""Models put together: a gripper on an arm, copies side by side.

All that the other model has gets a prefix to its name, and its world becomes a body without mass that is welded to a frame. Its
numbers are taken, and its initial values; its parameters, gravity, formulation and simulation are not.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mbvi.errors import ModelError
from mbvi.model import meshes
from mbvi.model.arguments import check_kind
from mbvi.model.base import Element
from mbvi.model.bodies import Body, Frame
from mbvi.model.constraints import PrescribedPoint
from mbvi.model.contacts import ExpressionStop
from mbvi.model.expressed import by_expression
from mbvi.model.expressions import nearest, show, wrong
from mbvi.model.fields import WORLD, Orientation, Vector, kinds
from mbvi.model.forces import OnTendon
from mbvi.model.import_report import joined
from mbvi.model.joints import Weld
from mbvi.model.model import Model
from mbvi.model.quantities import with_prefix
from mbvi.model.ropes import OverPoints
from mbvi.model.sensors import ExpressionSensor, OnFrame
from mbvi.model.shapes import Mesh
from mbvi.model.tendons import tendons_of

MOUNT = "mount"
"""The body that the world becomes where there is no prefix."""
GROUPS = "bodies", "joints", "forces", "constraints", "contacts", "sensors", "initial"
Parts = dict[str, dict[str, Any]]


class Attachment(Element):
    """Another model file that is put onto a frame of this one.

    Parameters
    ----------
    file : str
        Path of the model file, or of a robot's file, in the folder of this one or below.
    to : str
        Where its world is put: world, a body, or a frame of a body as BODY.FRAME.
    prefix : str
        What is put before all of its names; by default the name of the entry and a slash.
    position : vector
        Place of its world in the world or body that it is put on [m].
    orientation : vector or quaternion
        Orientation of its world in that: rotation vector (axis times angle) [rad] or unit quaternion (w, x, y, z).
    """

    file: str
    to: str = WORLD
    prefix: str | None = None
    position: Vector = (0.0, 0.0, 0.0)
    orientation: Orientation = (0.0, 0.0, 0.0)


def attach(
    base: Model,
    other: Model,
    to: str = WORLD,
    prefix: str = "",
    *,
    position: Sequence[float | str] = (0.0, 0.0, 0.0),
    orientation: Sequence[float | str] = (0.0, 0.0, 0.0),
) -> Model:
    """A model with another one on a frame of it.

    Parameters
    ----------
    base : Model
        The model that it is put onto.
    other : Model
        What is put on: its world becomes a massless body ``PREFIXworld``, or ``mount`` without a prefix, welded to the
        frame. Its numbers are taken, and its initial values; its parameters, gravity, formulation and simulation are not.
    to : str
        world, a body, or a frame of a body as BODY.FRAME.
    prefix : str
        What is put before all names of `other`, as ``left/``.
    position, orientation : vector
        Place [m] and orientation of the other's world in the world or body that it is put on, as those of a joint.

    Returns
    -------
    Model
        A new one; neither of the two is changed.

    Raises
    ------
    ModelError
        If there is no such frame, a name stands in both, or `other` prescribes the place of a point in the world.

    Examples
    --------
    >>> import mbvi
    >>> rod = mbvi.Body(mass=1, center_of_mass=(0, 0, -0.5), frames={"end": mbvi.Frame(position=(0, 0, -1))})
    >>> hinge = mbvi.Revolute(parent="world", child="rod", axis=(0, 1, 0))
    >>> one = mbvi.Model(name="pendulum", bodies={"rod": rod}, joints={"hinge": hinge})
    >>> two = attach(one, one, to="rod.end", prefix="lower ")
    >>> mbvi.assemble(two).coordinate_names
    ('hinge.angle', 'lower hinge.angle')
    """
    check_kind(base, Model, "base", "mbvi.load reads one from a file")
    check_kind(other, Model, "other", "mbvi.load reads one from a file")
    if not isinstance(prefix, str):
        raise ModelError(f"prefix: {wrong('text', show(prefix))}")
    pose: dict[str, Any] = {"position": position, "orientation": orientation}
    where = Attachment(file="", to=to, **pose)
    groups = {key: dict(getattr(base, key)) for key in GROUPS}
    paths = mesh_paths(other, base.folder)
    put_on(groups, other, where, prefix, paths)
    model = Model(**(dict(base) | groups))
    model._files = base.files.joined(renamed(other, paths))
    model._import_report = joined(base.import_report, [(prefix.strip(" /") or other.name, prefix, other.import_report)])
    return model


def put_on(groups: Parts, other: Model, where: Attachment, prefix: str, paths: Mapping[str, str]) -> None:
    """Add the parts of another model to those of one, or to what stands in a file for them, with its world welded to a frame."""
    other, mount = other.resolved(), prefix + WORLD if prefix else MOUNT
    for name, element in other.constraints.items():
        if isinstance(element, PrescribedPoint):
            found = f"{name!r}, which prescribes the place of a point in the world"
            raise ModelError(f"constraints.{name}: {wrong('a model that can be put anywhere', found, 'leave it out')}")
    for name, stop in other.contacts.items():
        if isinstance(stop, ExpressionStop) and by_expression(stop.gap, other).places:
            found = f"{name!r}, by places along the axes of the world"
            raise ModelError(f"contacts.{name}: {wrong('a model that can be put anywhere', found, 'leave it out')}")
    for name, tendon in tendons_of(other):
        if tendon.length is not None and by_expression(tendon.length, other).places:
            found = f"{name!r}, by places along the axes of the world"
            raise ModelError(f"forces.{name}: {wrong('a model that can be put anywhere', found, 'give it points')}")
    added: Parts = {key: {} for key in GROUPS}
    added["bodies"][mount] = Body()
    added["joints"][mount] = _weld(groups["bodies"], where, mount)
    for key in GROUPS:
        for name, element in getattr(other, key).items():
            added[key][prefix + name] = _prefixed(element, prefix, mount, paths, other.parameters)
    for key, entries in added.items():
        for name in entries:
            if name in groups[key]:
                remedy = "give it a prefix that makes its names different"
                raise ModelError(f"{key}.{name}: {wrong('a name of its own', f'{name!r} in both models', remedy)}")
        groups[key] |= entries


def _weld(bodies: Mapping[str, Any], where: Attachment, mount: str) -> Weld:
    """What holds the other model's world: on a body, or on a frame of one, whose place may be an expression."""
    to = where.to
    if to in bodies or to == WORLD:
        return Weld(parent=to, child=mount, position=where.position, orientation=where.orientation)
    for body, each in bodies.items():
        frames = each.frames if isinstance(each, Body) else each.get("frames") if isinstance(each, Mapping) else None
        name = to[len(body) + 1 :]
        if not to.startswith(f"{body}.") or not isinstance(frames, Mapping) or name not in frames:
            continue
        if any(where.position) or any(where.orientation):
            raise ModelError(
                wrong("a position and orientation on the world or a body", f"those on {to!r}", "move the frame")
            )
        frame = frames[name]
        pose = frame if isinstance(frame, Frame) else Frame.model_validate(frame)
        return Weld(parent=body, child=mount, position=pose.position, orientation=pose.orientation)
    raise ModelError(f"to: {wrong('world, a body or a frame as BODY.FRAME', show(to), nearest(to, [WORLD, *bodies]))}")


def _prefixed(
    element: Element, prefix: str, mount: str, paths: Mapping[str, str], parameters: Mapping[str, Any]
) -> Any:
    """An element with the prefix before all names of bodies and joints, numbers for parameters, and other paths of meshes."""
    names = {key: getattr(element, key) for key, kind in kinds(type(element)).items() if kind and kind.name == "name"}
    changed: dict[str, Any] = {key: mount if name == WORLD else prefix + name for key, name in names.items()}
    if isinstance(element, Body):
        changed["shapes"] = tuple(
            shape.replaced({"file": paths[shape.file]}) if isinstance(shape, Mesh) else shape
            for shape in element.shapes
        )
    if isinstance(element, OnFrame):
        changed["frame"] = prefix + element.frame
    if isinstance(element, OverPoints | OnTendon):
        changed["points"] = tuple(_prefixed(each, prefix, mount, paths, parameters) for each in element.points)
    if isinstance(element, OnTendon) and element.length is not None:
        changed["length"] = with_prefix(element.length, prefix, parameters)
    if isinstance(element, ExpressionSensor):
        changed["expression"] = with_prefix(element.expression, prefix, parameters)
    if isinstance(element, ExpressionStop):
        changed["gap"] = with_prefix(element.gap, prefix, parameters)
    return element.replaced(changed)


def mesh_paths(other: Model, folder: Path | None) -> dict[str, str]:
    """The paths of a model's mesh files as seen from a folder, by those that it has."""
    here, there = folder or Path(), other.folder or Path()
    return {mesh.file: os.path.relpath(there / mesh.file, here) for _, mesh in meshes.meshes_of(other)}


def renamed(other: Model, paths: Mapping[str, str]) -> dict[str, bytes]:
    """The contents of a model's mesh files by their new paths."""
    return {paths[name]: content for name, content in mesh_contents(other).items()}


def mesh_contents(model: Model) -> dict[str, bytes]:
    """The contents of a model's mesh files; a warning of what they may not mean."""
    meshes.warn(model)
    return meshes.mesh_files(model)
