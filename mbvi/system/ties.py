"""Constraints of a model as rows of the kernels: joints that are cut, and constraint elements.

With the joint frame of the parent at its place a and that of the child at b, both turned alike at zero coordinates, a joint
that is cut leaves of the six conditions

    e_i·(x_b − x_a) = 0  (along, i = x, y, z)        e_i·e′_j = 0  (across: xy, yz, zx)

those that its coordinates do not change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from mbvi.errors import ModelError
from mbvi.kernels import layout
from mbvi.model.constraints import (
    CoincidentFrames,
    CoincidentPoints,
    Coupling,
    Distance,
    PointOnCurve,
    PointOnLine,
    PointOnPlane,
    PrescribedCoordinate,
    PrescribedPoint,
)
from mbvi.model.expressions import wrong
from mbvi.model.forces import Between
from mbvi.model.joints import Ball, Cylindrical, Free, Joint, Planar, Prismatic, Revolute, Universal, Weld
from mbvi.model.rotations import rotation_matrix
from mbvi.system.given import cross
from mbvi.system.tables import SLIDING, Entry, Row, Tables

Array = np.ndarray
AXES = np.eye(3)
AROUND = ((0, 1, "xy"), (1, 2, "yz"), (2, 0, "zx"))


class End(NamedTuple):
    """A frame on one of the two sides of a constraint: link, place in it (3,), axes of the frame in it (3, 3) as columns."""

    link: int
    place: Array
    axes: Array


def joint_rows(tables: Tables, name: str, joint: Joint, a: End, b: End) -> Iterator[Row]:
    """The constraints of a joint between the end on its parent and that on its child."""
    match joint:
        case Weld():
            yield from along(tables, name, a, b, AXES)
            yield from parallel(tables, name, a, b)
        case Revolute():
            yield from along(tables, name, a, b, AXES)
            yield from aligned(tables, name, a, b, joint.axis)
        case Prismatic():
            yield from parallel(tables, name, a, b)
            yield from along(tables, name, a, b, normals(joint.axis))
        case Cylindrical():
            yield from along(tables, name, a, b, normals(joint.axis))
            yield from aligned(tables, name, a, b, joint.axis)
        case Universal():
            first, second = np.array(joint.axes[0]), np.array(joint.axes[1])
            yield from along(tables, name, a, b, AXES)
            yield across(tables, f"{name}.angle", a, b, first, second, first @ second)
        case Planar():
            yield from along(tables, name, a, b, [np.array(joint.normal)])
            yield from aligned(tables, name, a, b, joint.normal)
        case Ball():
            yield from along(tables, name, a, b, AXES)
        case Free():
            return  # it holds nothing
        case _:
            raise ModelError(f"joints.{name}: {wrong('a joint whose constraints are known', repr(joint))}")


def joint_ends(joint: Joint, frames: Any) -> tuple[End, End]:
    """The joint frame on the parent and on the child."""
    parent, child = frames[joint.parent], frames[joint.child]
    turned = child.rotation @ rotation_matrix(joint.orientation).T
    return (
        End(parent.link, parent.point(joint.position), parent.rotation),
        End(child.link, child.point(joint.offset), turned),
    )


def normals(axis: Any) -> list[Array]:
    """Two unit vectors at right angles to a unit vector and to each other."""
    axis = np.array(axis)
    first = cross(AXES[np.argmin(np.abs(axis))], axis)
    first /= np.linalg.norm(first)
    return [first, cross(axis, first)]


def along(tables: Tables, name: str, a: End, b: End, directions: Any, **function: Any) -> Iterator[Row]:
    """u·(x_b − x_a) = 0 for directions u fixed in a."""
    entries = tables.entries(a.link, b.link)
    for i, u in enumerate(directions):
        short = "xyz"[i] if len(directions) == 3 else f"{'uvw'[i]}"
        yield Row(
            f"{name}.{short}", layout.ALONG, entries, (a.link, b.link), (a.place, b.place), u=a.axes @ u, **function
        )


def across(tables: Tables, name: str, a: End, b: End, u: Array, w: Array, cosine: float = 0.0) -> Row:
    """u·w = c for a direction u of a and a direction w of b; what does not turn has no part in it, unless nothing turns."""
    every = tables.entries(a.link, b.link)
    entries = [e for e in every if tables.links[e.link][layout.KIND] not in SLIDING] or every
    return Row(name, layout.ACROSS, entries, (a.link, b.link), u=a.axes @ u, w=b.axes @ w, offset=float(cosine))


def aligned(tables: Tables, name: str, a: End, b: End, axis: Any) -> Iterator[Row]:
    """The axis of b has the direction of that of a."""
    for i, u in enumerate(normals(axis)):
        yield across(tables, f"{name}.turn_{'uv'[i]}", a, b, u, np.array(axis))


def parallel(tables: Tables, name: str, a: End, b: End) -> Iterator[Row]:
    """The axes of b have the directions of those of a."""
    for i, j, short in AROUND:
        yield across(tables, f"{name}.turn_{short}", a, b, AXES[i], AXES[j])


def distance(tables: Tables, name: str, a: End, b: End, length: Any) -> Row:
    """|x_b − x_a| = length, a number or a function of time."""
    links, points = (a.link, b.link), (a.place, b.place)
    entries = tables.entries(a.link, b.link)
    return Row(f"{name}.length", layout.DISTANCE, entries, links, points, **followed(tables, length))


def followed(tables: Tables, value: Any) -> dict[str, Any]:
    """What a constraint holds, a constant or a function of time, as fields of its row."""
    return {"offset": value} if isinstance(value, float) else {"function": tables.add_function(value, is_motion=True)}


def element_rows(tables: Tables, name: str, element: Any, frames: Any, coordinate: Any) -> Iterator[Row]:
    """The constraints of an element.

    `coordinate(joint, name)` gives the index of a joint's coordinate, or of the parameter of a curve.
    """
    match element:
        case Coupling():
            i = coordinate(element.joint_a, element.coordinate_a)
            j = coordinate(element.joint_b, element.coordinate_b)
            entries = [Entry(j, tables.link_of(j), 1.0), Entry(i, tables.link_of(i), -float(element.ratio))]
            yield Row(name, layout.COORDINATES, entries, offset=float(element.offset))
        case PrescribedCoordinate():
            i = coordinate(element.joint, element.coordinate)
            yield Row(name, layout.COORDINATES, [Entry(i, tables.link_of(i), 1.0)], **followed(tables, element.value))
        case PrescribedPoint():
            b = _end(frames, element.body, element.point)
            links, points, entries = (-1, b.link), (np.zeros(3), b.place), tables.entries(-1, b.link)
            for i, component in enumerate(element.position):
                held = followed(tables, component)
                yield Row(f"{name}.{'xyz'[i]}", layout.ALONG, entries, links, points, AXES[i], **held)
        case PointOnCurve():
            a, b = _end(frames, element.body_a, (0.0, 0.0, 0.0)), _end(frames, element.body_b, element.point_b)
            s = coordinate(name, "s")
            parameter = Entry(s, tables.link_of(s), 0.0)
            for i, component in enumerate(element.curve):
                function = tables.add_function(component)
                for row in along(tables, name, a, b, [AXES[i]], function=function, argument=s):
                    yield Row(**{**vars(row), "name": f"{name}.{'xyz'[i]}", "entries": [*row.entries, parameter]})
        case Between():
            a = _end(frames, element.body_a, element.point_a)
            b = _end(frames, element.body_b, element.point_b)
            yield from _between_rows(tables, name, element, a, b)
        case _:
            raise _unknown(name, element)


def _between_rows(tables: Tables, name: str, element: Any, a: End, b: End) -> Iterator[Row]:
    match element:
        case Distance():
            yield distance(tables, name, a, b, element.length)
        case CoincidentPoints():
            yield from along(tables, name, a, b, AXES)
        case CoincidentFrames():
            yield from along(tables, name, a, b, AXES)
            yield from parallel(tables, name, a, b._replace(axes=b.axes @ rotation_matrix(element.orientation).T))
        case PointOnLine():
            yield from along(tables, name, a, b, normals(element.direction))
        case PointOnPlane():
            yield from along(tables, name, a, b, [np.array(element.normal)])
        case _:
            raise _unknown(name, element)


def _unknown(name: str, element: Any) -> ModelError:
    return ModelError(f"constraints.{name}: {wrong('an element whose constraints are known', repr(element))}")


def _end(frames: Any, body: str, point: Any) -> End:
    frame = frames[body]
    return End(frame.link, frame.point(point), frame.rotation)
