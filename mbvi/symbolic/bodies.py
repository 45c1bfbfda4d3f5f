"""Frames of all bodies of a model, and their masses, in symbols: the walk along the spanning tree that a system's coordinates
come from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import sympy

from mbvi.model.expressions import names_in
from mbvi.model.fields import WORLD, Kind, Table, expressions, kinds
from mbvi.model.joints import Joint
from mbvi.model.mass_properties import checked_properties
from mbvi.model.model import Model
from mbvi.model.ropes import RopePoint
from mbvi.model.shapes import AnyShape
from mbvi.symbolic.frames import Frame, world
from mbvi.symbolic.short import short
from mbvi.symbolic.values import Values, cross_matrix, exact, number
from mbvi.system.assemble import Builder

SYMBOLIC_PLACES = ("position", "orientation", "offset")
ORIENTATIONS = ("orientation", "rest_orientation", "rest")
SAME = 1e-12  # by how much numbers of expressions may differ from those that the resolved model has


class Mass:
    """Mass, centre of mass (3, 1) and inertia about it (3, 3) of a body."""

    def __init__(self, mass: Any, center: Any, inertia: Any) -> None:
        self.mass, self.center, self.inertia = mass, center, inertia


def put_in(model: Model) -> Iterator[str]:
    """Names in the fields that are taken as numbers: directions of joints and constraints, turns about axes that are none of a
    frame's, tables, and sizes of shapes with mass.
    """
    resolved = model.resolved()
    for name, joint in model.joints.items():
        for key, kind in kinds(joint.__class__).items():
            is_number = isinstance(getattr(resolved.joints[name], key), float)
            if kind is not None and kind.name != "name" and key not in SYMBOLIC_PLACES and not is_number:
                yield from _names(getattr(joint, key))
    for element in (*model.joints.values(), *model.constraints.values(), *model.forces.values()):
        for orientation in (getattr(element, key, ()) for key in ORIENTATIONS):
            if isinstance(orientation, tuple) and sum(each != 0.0 for each in orientation) > 1:
                yield from _names(orientation)
    for other in (*model.forces.values(), *model.constraints.values()):
        for key, kind in kinds(other.__class__).items():
            value = getattr(other, key)
            tables = [each for each in (value if isinstance(value, tuple) else (value,)) if isinstance(each, Table)]
            yield from _names(value if kind == Kind("direction") else tuple(tables))
    for body in model.bodies.values():
        for shape in body.shapes:
            if shape.mass is not None or shape.density is not None:
                for key, kind in kinds(shape.__class__).items():
                    if kind is not None and key not in ("mass", "density", "position"):
                        yield from _names(getattr(shape, key))


def _names(value: Any) -> Iterator[str]:
    """Names of parameters in a field."""
    if isinstance(value, str):
        yield from names_in(value)
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _names(each)
    else:
        for text in expressions(value):
            yield from names_in(text)


class Bodies:
    """Frames and masses of the bodies of a model.

    Attributes
    ----------
    q : tuple of Symbol
        Coordinates.
    frames : dict of str to Frame
    norms : dict of str to expression
        Constraints of the unit quaternions, by their names.
    """

    def __init__(self, values: Values, builder: Builder, q: Sequence[Any]) -> None:
        self.values, self.builder, self.q = values, builder, tuple(q)
        self.model, self.resolved = values.model, values.resolved
        self.frames = {WORLD: world(len(self.q))}
        self.norms: dict[str, Any] = {}
        self.masses = {name: self.mass(name) for name in self.model.bodies}
        for branch in builder.plan.branches:
            if branch.outer in builder.root_coordinates:
                self.frames[branch.outer] = self.root(branch.outer)
            else:
                self.frames[branch.outer] = self.behind(branch.joint, self.frames[branch.inner], branch.is_reversed)

    def root(self, body: str) -> Frame:
        """The frame of a body that has coordinates of its own: the place of its centre of mass, and a quaternion."""
        first, is_point = self.builder.root_coordinates[body]
        frame = self.frames[WORLD]
        for i in range(3):
            frame = frame.slid(sympy.eye(3)[:, i], self.q[first + i], 1, first + i)
        if not is_point:
            frame = self.turned_freely(f"{body}", frame, first + 3)
        return frame.moved(-self.masses[body].center)

    def point(self, body: str, place: Any) -> Any:
        """A point of a body in the world (3, 1)."""
        return self.frames[body].moved(self.values.place(body, place)).place

    def path_length(self, raw: Sequence[RopePoint], points: Sequence[RopePoint]) -> Any:
        """Σ f_{i+1} |x_{i+1} − x_i| over points, as a model has them and resolved, of the parts that count."""
        places = [self.point(b.body, a.point) for a, b in zip(raw, points, strict=True)]
        ways = zip(pairwise(places), raw[1:], points[1:], strict=True)
        counted = [(b - a, self.values.scalar(each.factor)) for (a, b), each, known in ways if not known.begins]
        return sum(factor * sympy.sqrt(short(sum(each**2 for each in way))) for way, factor in counted)

    def turned_freely(self, name: str, frame: Frame, first: int) -> Frame:
        """Behind the quaternion of a joint or body, whose norm is a constraint."""
        a = self.q[first : first + 4]
        self.norms[f"{name}.norm"] = (sum(each**2 for each in a) - 1) / 2
        return frame.turned_by_quaternion(a, first)

    def behind(self, name: str, frame: Frame, is_reversed: bool = False) -> Frame:
        """The body frame behind a joint, from its parent to its child, or reversed."""
        joint, raw = self.symbolic_joint(name), self.model.joints[name]
        rotation = self.values.rotation(raw.orientation)
        position, offset = self.values.vector(raw.position), self.values.vector(raw.offset)
        if is_reversed:
            frame = frame.moved(offset).rotated(rotation.T)
            return self.moved_by(name, joint, frame, -1).moved(-position)
        return self.moved_by(name, joint, frame.moved(position), 1).rotated(rotation).moved(-offset)

    def moved_by(self, name: str, joint: Joint, frame: Frame, sign: int) -> Frame:
        """Behind the motions of a joint, or, with the sign −1, from its last to its first."""
        column, steps = self.builder.coordinates.get(name, 0), []
        for motion in joint.motions():
            steps.append((motion, column))
            column += len(motion.names)
        for motion, i in steps[::sign]:
            axis = sign * sympy.Matrix([number(each) for each in motion.axis])
            if motion.kind == "quaternion":
                frame = self.turned_freely(name, frame, i)
            if motion.kind in ("slide", "screw"):
                pitch = number(motion.pitch)
                frame = frame.slid(axis, pitch * self.q[i], pitch, i)
            if motion.kind in ("turn", "screw"):
                frame = frame.turned(axis, self.q[i], i)
        return frame

    def symbolic_joint(self, name: str) -> Joint:
        """The joint of the resolved model with symbols for its numbers that are no directions."""
        raw, joint = self.model.joints[name], self.resolved.joints[name]
        numbers = {
            key: self.values.scalar(getattr(raw, key))
            for key, kind in kinds(type(joint)).items()
            if kind is not None and isinstance(getattr(joint, key), float)
        }
        return joint.replaced(numbers)

    def armatures(self) -> Iterator[tuple[int, Any]]:
        """Coordinates whose joints have rotors, with the inertias of these."""
        for name, joint in self.model.joints.items():
            for coordinate, value in joint.armatures.items():
                yield self.builder.coordinate(name, coordinate), self.values.scalar(value)

    # ------------------------------------------------------------------------------------------ masses

    def mass(self, name: str) -> Mass:
        """The mass of a body: of its own numbers, of its point masses and its shapes."""
        parts = [self.explicit(name), *self.points(name), *self.shapes(name)]
        mass = sum(part.mass for part in parts)
        moment = sum((part.mass * part.center for part in parts), sympy.zeros(3, 1))
        heavy = [part for part in parts if part.mass != 0]
        if len(heavy) == 1:
            center = heavy[0].center
        else:
            center = moment / mass if mass != 0 else sympy.zeros(3, 1)
        inertia = sum((part.inertia + steiner(part.mass, part.center - center) for part in parts), sympy.zeros(3, 3))
        return Mass(mass, center, inertia.applyfunc(sympy.expand))

    def explicit(self, name: str) -> Mass:
        """The explicit mass of a body; rounded numbers that the model mends are those of the resolved model."""
        raw, body, values = self.model.bodies[name], self.resolved.bodies[name], self.values
        mass, center = values.scalar(raw.mass), values.vector(raw.center_of_mass)
        inertia = self.inertia_matrix(raw.inertia)
        mended = np.array(body.mended_inertia)
        known = {symbol: values.resolved.parameters[key] for key, symbol in values.symbols.items()}
        found = np.array(inertia.subs(known), dtype=float)
        if np.abs(found - mended).max() > SAME * max(np.abs(mended).max(), 1e-300):
            inertia = sympy.Matrix(3, 3, lambda i, j: exact(float(mended[i, j])))
        if raw.inertia_about != "center_of_mass":
            about = sympy.zeros(3, 1) if raw.inertia_about == "origin" else values.place(name, raw.inertia_about)
            inertia = inertia - steiner(mass, center - about)
        return Mass(mass, center, inertia)

    def inertia_matrix(self, given: Any) -> Any:
        """The matrix (3, 3) of three principal values, six entries, or three rows."""
        if isinstance(given[0], tuple | list):
            return sympy.Matrix([[self.values.scalar(each) for each in row] for row in given])
        xx, yy, zz, *rest = (self.values.scalar(each) for each in given)
        xy, xz, yz = rest or (0, 0, 0)
        return sympy.Matrix([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    def points(self, name: str) -> Iterator[Mass]:
        """The point masses of a body."""
        for point in self.model.bodies[name].point_masses.values():
            yield Mass(self.values.scalar(point.mass), self.values.place(name, point.position), sympy.zeros(3, 3))

    def shapes(self, name: str) -> Iterator[Mass]:
        """The shapes of a body that have mass, whose sizes are numbers."""
        resolved = self.resolved.bodies[name]
        for raw, shape in zip(self.model.bodies[name].shapes, resolved.shapes, strict=True):
            if shape.density is None and shape.mass is None:
                continue
            yield self.shape(raw, shape, type(resolved)(shapes=(shape,)))

    def shape(self, raw: AnyShape, shape: AnyShape, alone: Any) -> Mass:
        """The mass of one shape: its mass or density times what its form gives in numbers."""
        numbers = checked_properties(alone, self.model.files)
        per_mass = numbers.inertia / numbers.mass if numbers.mass else np.zeros((3, 3))
        mass = (
            self.values.scalar(raw.mass)
            if raw.mass is not None
            else (
                self.values.scalar(raw.density) * exact(numbers.mass / float(shape.density))
                if shape.density
                else sympy.Integer(0)
            )
        )
        from_place = numbers.center_of_mass - np.array(shape.position, dtype=float)
        center = self.values.vector(raw.position) + sympy.Matrix([exact(float(each)) for each in from_place])
        return Mass(mass, center, mass * sympy.Matrix(3, 3, lambda i, j: exact(float(per_mass[i, j]))))


def steiner(mass: Any, arm: Any) -> Any:
    """m (|d|² 1 − d dᵀ) (3, 3)."""
    return -mass * cross_matrix(arm) ** 2
