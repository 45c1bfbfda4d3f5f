"""Constraints g(t, q) = 0 and A(q) v = 0 in symbols: what joints that are cut and elements hold, with the names of a system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import sympy

from mbvi.errors import ModelError
from mbvi.model.expressions import wrong
from mbvi.model.fields import Kind, kinds
from mbvi.model.holds import (
    Above,
    Across,
    Aligned,
    Angle,
    Apart,
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
from mbvi.model.ropes import Rope
from mbvi.symbolic.bodies import Bodies
from mbvi.symbolic.frames import Frame, world
from mbvi.symbolic.rolling import Motion, slip
from mbvi.symbolic.values import exact, number

AROUND = ((0, 1, "xy"), (1, 2, "yz"), (2, 0, "zx"))
Named = Iterator[tuple[str, Any]]


def constraints(bodies: Bodies, motion: Motion) -> dict[str, Any]:
    """Every constraint by its name; those of unit quaternions among them, and A(q) v of what rolls."""
    builder = bodies.builder
    found: dict[str, Any] = {}
    for branch in builder.plan.branches:
        if builder.is_tied(branch):
            found.update(_of_joint(bodies, branch.joint))
    for name in builder.plan.chords:
        found.update(_of_joint(bodies, name))
    for name in bodies.model.constraints:
        found.update(_of_element(bodies, name, motion))
    return {**bodies.norms, **found}


def _of_joint(bodies: Bodies, name: str) -> Named:
    """The constraints of a joint that is cut, or of the weld of a massless frame behind it to the child."""
    joint, builder, frames = bodies.resolved.joints[name], bodies.builder, bodies.frames
    holds = joint.holds()
    if name in builder.used or holds is None:
        ends = bodies.behind(name, frames[joint.parent]), frames[joint.child]
        yield from _rows(bodies, name, [together(), Parallel()], ends)
        return
    raw, values = bodies.model.joints[name], bodies.values
    position, offset = values.vector(raw.position), values.vector(raw.offset)
    a, b = frames[joint.parent].moved(position), frames[joint.child].moved(offset)
    if builder.points_arm(joint) is None:
        yield from _rows(bodies, name, holds, (a, b.rotated(values.rotation(raw.orientation).T)))
        return
    for body, place in ((joint.parent, position), (joint.child, offset)):
        if body in builder.points and any(place - bodies.masses[body].center):
            arm, center = place - bodies.masses[body].center, frames[body].moved(bodies.masses[body].center)
            ends = (center, b) if body == joint.parent else (a, center)
            yield from _rows(bodies, name, [Apart(sympy.sqrt(sum(each**2 for each in arm)))], ends)
            return


def _of_element(bodies: Bodies, name: str, motion: Motion) -> Named:
    """The constraints of an element of `constraints`."""
    raw: Any = bodies.model.constraints[name]
    element: Any = bodies.resolved.constraints[name]
    if isinstance(element, Rope):
        yield name, _slack(bodies, raw, element)
        return
    known: dict[str, Any] = {}
    for key, kind in kinds(element.__class__).items():
        value, resolved = getattr(raw, key), getattr(element, key)
        match kind:
            case Kind("numbers") if isinstance(resolved, float):
                known[key] = bodies.values.scalar(value)
            case Kind("numbers") if key == "orientation":
                known[key] = value
            case Kind("numbers") if key == "semi_axes":
                known[key] = [bodies.values.scalar(each) for each in value]
            case Kind("time"):
                known[key] = bodies.values.of_time(value, resolved, f"{name}.{key}", is_motion=True)
            case Kind("times"):
                pairs = enumerate(zip(value, resolved, strict=True))
                known[key] = [bodies.values.of_time(a, b, f"{name}.{'xyz'[i]}", is_motion=True) for i, (a, b) in pairs]
            case Kind("law") if value is not None:
                leader = bodies.q[bodies.builder.coordinate(element.joint_a, str(element.coordinate_a))]
                known[key] = bodies.values.scalar(value, "x", leader)
            case Kind("curve"):
                s = bodies.q[bodies.builder.curves[name]]
                known[key] = [bodies.values.scalar(each, "s", s) for each in value]
    ends: Any = ()
    if hasattr(element, "ends"):
        places = zip(raw.ends(), element.ends(), strict=True)
        ends = [bodies.frames[body].moved(bodies.values.place(body, place)) for (_, place), (body, _) in places]
    held = element.replaced(known).holds()
    if held and isinstance(held[0], Rolls | Edge):
        a, b = ends
        yield from slip(name, held[0], getattr(element, "inside", False), a, b, motion)
    else:
        yield from _rows(bodies, name, held, ends)


def _slack(bodies: Bodies, raw: Any, rope: Rope) -> Any:
    """What is left of the length of a rope."""
    return bodies.values.scalar(raw.length) - bodies.path_length(raw.points, rope.points)


def _rows(bodies: Bodies, name: str, holds: Sequence[Hold], ends: Any) -> Named:
    """Names and values of the constraints of what a joint or an element holds between two frames."""
    a, b = ends or (world(0), world(0))
    for hold in holds:
        match hold:
            case Across(directions):
                shorts = "xyz" if len(directions) == 3 else "uvw"
                for short, u in zip(shorts, directions, strict=False):
                    yield f"{name}.{short}", _way(a, b, u)
            case Above(normal, height):
                yield f"{name}.u", _way(a, b, normal) - height
            case Aligned(axis):
                for short, u in zip("uv", normals(axis), strict=True):
                    yield f"{name}.turn_{short}", _cosine(a, b, u, axis)
            case Parallel(orientation):
                turned = b.rotated(bodies.values.rotation(orientation).T)
                for i, j, short in AROUND:
                    yield f"{name}.turn_{short}", _cosine(a, turned, np.eye(3)[i], np.eye(3)[j])
            case Angle(u, w):
                yield f"{name}.angle", _cosine(a, b, u, w) - sum(_exact(u).multiply_elementwise(_exact(w)))
            case Apart(length):
                r = b.place - a.place
                yield f"{name}.length", (sum(each**2 for each in r) / length - length) / 2
            case Follow(functions) | OnCurve(functions):
                for i, function in enumerate(functions):
                    yield f"{name}.{'xyz'[i]}", _way(a, b, np.eye(3)[i]) - function
            case Related(terms, value):
                pairs = [(_coordinate(bodies, joint, short), factor) for joint, short, factor in terms]
                yield name, sum(number(factor) * q for q, factor in pairs) - value
            case Follows((joint, short), _, function):
                yield name, _coordinate(bodies, joint, short) - function
            case _:
                raise ModelError(f"{name}: {wrong('what is known to follow from it', repr(hold))}")


def _coordinate(bodies: Bodies, joint: str, short: str | None) -> Any:
    return bodies.q[bodies.builder.coordinate(joint, str(short))]


def _exact(direction: Any) -> Any:
    return sympy.Matrix([exact(float(each)) for each in direction])


def _way(a: Frame, b: Frame, u: Any) -> Any:
    """How far the origin of b is from that of a along a direction of a."""
    return (a.rotation * _exact(u)).dot(b.place - a.place)


def _cosine(a: Frame, b: Frame, u: Any, w: Any) -> Any:
    """The cosine of the angle between a direction of a and one of b."""
    return (a.rotation * _exact(u)).dot(b.rotation * _exact(w))
