"""A model as peers take it: a tree of hinges, with a loop that may be closed, or a free body."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import mbvi
from mbvi.model.mass_properties import mass_properties
from mbvi.model.rotations import rotation_matrix

Array = np.ndarray


class Link(NamedTuple):
    """A body on a hinge.

    parent     index of a link, or −1, the world
    place      (3,)    of the hinge in the parent's frame [m]
    axis       (3,)    unit vector; None of a ball joint
    mass       [kg]; 0 of a link between two hinges of one joint
    center     (3,)    from the hinge [m]
    inertia    (3, 3)  about the centre of mass [kg m²]
    body       name of the body, or of the joint
    """

    parent: int
    place: Array
    axis: Array | None
    mass: float
    center: Array
    inertia: Array
    body: str


class Tree(NamedTuple):
    """Links and gravity (3,) [m/s²]; the two ends of a loop, each a link and a point of it; or the inertia of a free body."""

    name: str
    gravity: Array
    links: list[Link]
    loop: tuple[tuple[int, Array], tuple[int, Array]] | None
    free: Array | None


def tree_of(model: mbvi.Model) -> Tree:
    """The tree of a model of revolute and universal joints, a ball joint by Euler angles, or one free ball joint."""
    resolved = model.resolved()
    links: list[Link] = []
    last = {"world": -1}
    loop, free = None, None
    for name, joint in resolved.joints.items():
        place = np.array(joint.position, dtype=float)
        mass, center, inertia = mass_properties(resolved.bodies[joint.child])
        is_ball = joint.type == "ball" and joint.coordinates != "zxz"
        if is_ball and len(resolved.joints) == 1:
            assert not np.any(center) and not np.any(resolved.gravity)
            free = inertia
            continue
        if joint.child in last:  # the joint that closes the loop
            loop = (last[joint.parent], place), (last[joint.child], np.array(joint.offset, dtype=float))
            continue
        assert not np.any(joint.offset) and np.array_equal(rotation_matrix(joint.orientation), np.eye(3)), name
        parent = last[joint.parent]
        for axis in [None] if is_ball else _axes(joint):
            direction = None if axis is None else np.array(axis, dtype=float) / np.linalg.norm(axis)
            links.append(Link(parent, place, direction, 0.0, np.zeros(3), np.zeros((3, 3)), name))
            parent, place = len(links) - 1, np.zeros(3)
        links[-1] = links[-1]._replace(mass=mass, center=np.array(center), inertia=np.array(inertia), body=joint.child)
        last[joint.child] = parent
    return Tree(model.name, np.array(resolved.gravity, dtype=float), links, loop, free)


def _axes(joint: Any) -> list[Any]:
    """The axes about which a joint turns one after the other."""
    if joint.type == "ball":
        return [(0, 0, 1), (1, 0, 0), (0, 0, 1)]  # zxz
    return [joint.axis] if joint.type == "revolute" else list(joint.axes)
