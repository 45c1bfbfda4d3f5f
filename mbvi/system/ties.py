"""Constraints of a model as rows of the kernels: joints that are cut, and constraint elements.

With the joint frame of the parent at its place a and that of the child at b, both turned alike at zero coordinates, a joint
that is cut leaves of the six conditions

    e_i·(x_b − x_a) = 0  (along, i = x, y, z)        e_i·e′_j = 0  (across: xy, yz, zx)

those that its coordinates do not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from mbvi.errors import ModelError
from mbvi.kernels import layout
from mbvi.kernels.mechanics.several import VARIABLE
from mbvi.model.expressions import MARK, wrong
from mbvi.model.holds import (
    Above,
    Across,
    Aligned,
    Angle,
    Apart,
    ByExpression,
    Edge,
    Follow,
    Follows,
    Hold,
    OnCurve,
    Parallel,
    Related,
    Rolls,
    normals,
    together,
)
from mbvi.model.joints import Joint
from mbvi.model.rotations import rotation_matrix
from mbvi.recording import array, dot, plain
from mbvi.system.tables import SLIDING, Entry, Expression, Row, Tables, Tendon, Touch, Variable

Array = np.ndarray
AXES = np.eye(3)
AROUND = ((0, 1, "xy"), (1, 2, "yz"), (2, 0, "zx"))
SURFACES = {"plane": layout.PLANE, "cylinder": layout.CYLINDER, "sphere": layout.SPHERE}
PARTS = ((layout.OF_GAP, "gap"), (layout.FIRST_TANGENT, "roll_u"), (layout.SECOND_TANGENT, "roll_v"))


class End(NamedTuple):
    """A frame on one of the two sides of a constraint: link, place in it (3,), axes of the frame in it (3, 3) as columns."""

    link: int
    place: Array
    axes: Array


def rows(
    tables: Tables, name: str, holds: Sequence[Hold], ends: tuple[End, End] | None, coordinate: Any
) -> Iterator[Row]:
    """The constraints of what a joint or an element holds.

    Parameters
    ----------
    tables : Tables
        The tables of the system, which grow by functions of time.
    name : str
        The joint or element.
    holds : sequence of Hold
        What it holds.
    ends : pair of End, or None
        The frames a and b; not needed for what relates coordinates.
    coordinate : callable
        ``coordinate(joint, name)`` gives the index of a joint's coordinate, or of the parameter of a curve.

    Raises
    ------
    ModelError
        If nothing here says what constraints follow.
    """
    for hold in holds:
        match hold, ends:
            case Across(directions), (a, b):
                yield from along(tables, name, a, b, list(map(array, directions)))
            case Above(normal, height), (a, b):
                yield from along(tables, name, a, b, [array(normal)], **followed(tables, height))
            case Aligned(axis), (a, b):
                yield from aligned(tables, name, a, b, axis)
            case Parallel(orientation), (a, b):
                yield from parallel(tables, name, a, b._replace(axes=dot(b.axes, rotation_matrix(orientation).T)))
            case Angle(u, w), (a, b):
                first, second = array(u), array(w)
                yield across(tables, f"{name}.angle", a, b, first, second, dot(first, second))
            case Apart(length), (a, b):
                yield distance(tables, name, a, b, length)
            case Follow(position), (a, b):
                for i, value in enumerate(position):
                    yield component(tables, name, a, b, i, **followed(tables, value))
            case OnCurve(curve), (a, b):
                s = coordinate(name, "s")
                parameter = Entry(s, tables.link_of(s), 0.0)
                for i, value in enumerate(curve):
                    row = component(tables, name, a, b, i, function=tables.add_function(value), argument=s)
                    yield replace(row, entries=[*row.entries, parameter])
            case Rolls(), (a, b):
                yield from rolls(tables, name, a, b, hold)
            case Edge(direction), (a, b):
                touch = Touch(layout.EDGE, layout.FIRST_TANGENT)
                yield _touching(tables, f"{name}.across", a, b, layout.ROLL, dot(b.axes, array(direction)), touch)
            case (Related() | Follows()) as related, _:
                places = [(coordinate(joint, short), plain(factor)) for joint, short, factor in related.terms]
                entries = [Entry(j, tables.link_of(j), factor) for j, factor in places]
                if isinstance(related, Follows):
                    held = {"function": tables.add_function(related.function), "argument": places[-1][0]}
                else:
                    held = followed(tables, related.value)
                yield Row(name, layout.COORDINATES, entries, **held)
            case _:
                raise ModelError(f"{name}: {wrong('what is known to follow from it', repr(hold))}")


def weld() -> list[Hold]:
    """What holds two frames together."""
    return [together(), Parallel()]


def joint_ends(joint: Joint, frames: Any) -> tuple[End, End]:
    """The joint frame on the parent and on the child."""
    parent, child = frames[joint.parent], frames[joint.child]
    turned = dot(child.rotation, rotation_matrix(joint.orientation).T)
    return (
        End(parent.link, parent.point(joint.position), parent.rotation),
        End(child.link, child.point(joint.offset), turned),
    )


def along(tables: Tables, name: str, a: End, b: End, directions: Any, **function: Any) -> Iterator[Row]:
    """u·(x_b − x_a) = 0 for directions u fixed in a."""
    entries = tables.entries(a.link, b.link)
    for i, u in enumerate(directions):
        short = "xyz"[i] if len(directions) == 3 else f"{'uvw'[i]}"
        yield Row(
            f"{name}.{short}", layout.ALONG, entries, (a.link, b.link), (a.place, b.place), u=dot(a.axes, u), **function
        )


def component(tables: Tables, name: str, a: End, b: End, i: int, **function: Any) -> Row:
    """e_i·(x_b − x_a) = f for the axis i of a."""
    (row,) = along(tables, name, a, b, [AXES[i]], **function)
    return replace(row, name=f"{name}.{'xyz'[i]}")


def across(tables: Tables, name: str, a: End, b: End, u: Array, w: Array, cosine: float = 0.0) -> Row:
    """u·w = c for a direction u of a and a direction w of b; what does not turn has no part in it, unless nothing turns."""
    every = tables.entries(a.link, b.link)
    entries = [e for e in every if tables.links[e.link][layout.KIND] not in SLIDING] or every
    return Row(name, layout.ACROSS, entries, (a.link, b.link), u=dot(a.axes, u), w=dot(b.axes, w), offset=plain(cosine))


def aligned(tables: Tables, name: str, a: End, b: End, axis: Any) -> Iterator[Row]:
    """The axis of b has the direction of that of a."""
    for i, u in enumerate(normals(axis)):
        yield across(tables, f"{name}.turn_{'uv'[i]}", a, b, u, array(axis))


def parallel(tables: Tables, name: str, a: End, b: End) -> Iterator[Row]:
    """The axes of b have the directions of those of a."""
    for i, j, short in AROUND:
        yield across(tables, f"{name}.turn_{short}", a, b, AXES[i], AXES[j])


def distance(tables: Tables, name: str, a: End, b: End, length: Any) -> Row:
    """|x_b − x_a| = length, a number or a function of time."""
    links, points = (a.link, b.link), (a.place, b.place)
    entries = tables.entries(a.link, b.link)
    return Row(f"{name}.length", layout.DISTANCE, entries, links, points, **followed(tables, length))


def rolls(tables: Tables, name: str, a: End, b: End, hold: Rolls) -> Iterator[Row]:
    """The gap between b and a surface of a, and unless it slips the velocities of the point of contact along two tangents."""
    tangent, direction = dot(a.axes, array(normals(hold.direction)[0])), dot(a.axes, array(hold.direction))
    shape = dot(dot(b.axes, array(hold.shape)), b.axes.T)
    for part, short in PARTS[:1] if hold.slips else PARTS:
        touch = Touch(SURFACES[hold.surface], part, shape, hold.rounding, hold.surface_radius)
        kind = layout.CONTACT if part == layout.OF_GAP else layout.ROLL
        yield replace(_touching(tables, f"{name}.{short}", a, b, kind, direction, touch), w=tangent)


def _touching(tables: Tables, name: str, a: End, b: End, kind: int, u: Array, touch: Touch) -> Row:
    links, points = (a.link, b.link), (a.place, b.place)
    return Row(name, kind, tables.entries(a.link, b.link), links, points, u=u, touch=touch)


def expressed(tables: Tables, name: str, element: ByExpression, frames: Any, coordinate: Any) -> Row:
    """An expression of coordinates and places is zero; frames are those of the bodies, and `coordinate` is as for `rows`."""
    found = program(tables, element, frames, coordinate)
    return Row(name, layout.EXPRESSED, found.entries, expression=found)


def tendon(tables: Tables, length: ByExpression, frames: Any, coordinate: Any) -> Tendon:
    """A tendon, whose force is the next one on coordinates; frames and `coordinate` are as for `expressed`."""
    found = program(tables, length, frames, coordinate)
    return Tendon(len(tables.joint_forces), found, found.entries)


def program(tables: Tables, element: ByExpression, frames: Any, coordinate: Any) -> Expression:
    """An expression of coordinates and places; places of bodies that are welded to the world are numbers."""
    found, numbers, still = list[Variable](), {"t": 0}, dict[str, float]()
    for i, each in enumerate(element.variables):
        numbers[f"{MARK}{i}"] = len(found)
        if each.kind == "q":
            j = coordinate(each.joint, each.coordinate)
            entry = Entry(j, int(tables.coordinate_links()[j]), 1.0)
            found.append(Variable(layout.OF_COORDINATE, j, entries=(entry,)))
        elif each.kind == "t":
            found.append(Variable(layout.OF_TIME))
        else:
            end, axis = _end(frames, each.body, each.point), "xyz".index(each.kind)
            if end.link < 0:
                still[f"{MARK}{i}"] = end.place[axis]
            else:
                kind = layout.OF_COORDINATE + 1 + axis
                found.append(Variable(kind, end.link, end.place, tuple(tables.entries(-1, end.link))))
    items = [still.get(item, item) if isinstance(item, str) else item for item in element.program]
    return Expression(tables.add_program(items, VARIABLE, numbers.__getitem__), tuple(found))


def followed(tables: Tables, value: Any) -> dict[str, Any]:
    """What a constraint holds, a constant or a function of time, as fields of its row."""
    return {"offset": value} if isinstance(value, float) else {"function": tables.add_function(value, is_motion=True)}


def element_ends(element: Any, frames: Any) -> tuple[End, End] | None:
    """The frames of an element's two points; None of one that relates coordinates."""
    if not hasattr(element, "ends"):
        return None
    a, b = (_end(frames, *end) for end in element.ends())
    return a, b


def _end(frames: Any, body: str, point: Any) -> End:
    frame = frames[body]
    return End(frame.link, frame.point(point), frame.rotation)
