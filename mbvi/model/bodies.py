"""Bodies: explicit mass, point masses and shapes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from mbvi.model.base import Element
from mbvi.model.directions import orientation_problems, orientation_roundings, quaternion
from mbvi.model.expressions import Problem, nearest, placed, show, wrong
from mbvi.model.fields import Inertia, Kind, Name, Orientation, Place, PointName, Points, Scalar, Vector
from mbvi.model.inertia import inertia_problems, inertia_roundings, mended_inertia
from mbvi.model.shapes import AnyShape, negative_mass
from mbvi.recording import array, plain

Floats = NDArray[np.float64]


class PointMass(Element):
    """A mass at a point of a body.

    Parameters
    ----------
    mass : number
        Mass [kg].
    position : vector or str
        Place in the body frame [m], or the name of one of the body's points.
    """

    mass: Scalar
    position: Annotated[Place, Kind("place")]

    def problems(self) -> Iterator[Problem]:
        """A mass of at least 0."""
        yield from negative_mass(self.mass, "mass")


class Frame(Element):
    """A named frame of a body, as the flange for a tool or the place of a sensor.

    Parameters
    ----------
    position : vector
        Its place in the body frame [m].
    orientation : vector or quaternion
        Its orientation in the body frame: rotation vector (axis times angle) [rad] or unit quaternion (w, x, y, z).
    """

    position: Vector = (0.0, 0.0, 0.0)
    orientation: Orientation = (0.0, 0.0, 0.0)

    def problems(self) -> Iterator[Problem]:
        """A unit quaternion."""
        yield from orientation_problems(self.orientation)

    def roundings(self) -> Iterator[Problem]:
        """A rounded quaternion."""
        yield from orientation_roundings(self.orientation)

    def canonical(self) -> dict[str, Any]:
        """The orientation as a unit quaternion."""
        return {"orientation": quaternion(self.orientation)}


class Body(Element):
    """A rigid body: the sum of its explicit mass properties, its point masses and its shapes.

    Parameters
    ----------
    mass : number
        Explicit mass [kg].
    center_of_mass : vector
        Centre of the explicit mass, in the body frame [m].
    inertia : list
        Inertia of the explicit mass: [Ixx, Iyy, Izz], or [Ixx, Iyy, Izz, Ixy, Ixz, Iyz] with the products as they
        stand in the inertia matrix, signs included, or the matrix of 3 rows [kg m²].
    inertia_about : str
        The point that the inertia is about: center_of_mass (of the explicit mass), origin (of the body frame), or one
        of points.
    points : mapping
        Named points of the body, in the body frame [m].
    frames : mapping
        Named frames of the body. Their places may be named where points may, and their poses are asked for as BODY.FRAME.
    point_masses : mapping
        Named point masses.
    shapes : list
        Shapes, with a density or a mass, or for viewing only.
    """

    mass: Scalar = 0.0
    center_of_mass: Vector = (0.0, 0.0, 0.0)
    inertia: Inertia = (0.0, 0.0, 0.0)
    inertia_about: str = "center_of_mass"
    points: Points = Field(default={})
    frames: dict[PointName, Frame] = Field(default={})
    point_masses: dict[Name, PointMass] = Field(default={})
    shapes: tuple[AnyShape, ...] = ()

    def place(self, place: Any) -> Floats:
        """A place (3,) of a body of numbers [m]: numbers, or the name of a point or frame."""
        if isinstance(place, str):
            place = self.points[place] if place in self.points else self.frames[place].position
        return array(place)

    @property
    def arm(self) -> Floats | None:
        """The way from the point that a body's inertia is about to its centre of mass (3,) [m]; None if that is the point."""
        if self.inertia_about == "center_of_mass":
            return None
        point = (0.0, 0.0, 0.0) if self.inertia_about == "origin" else self.points[self.inertia_about]
        return array(self.center_of_mass) - array(point)

    @property
    def mended_inertia(self) -> Floats:
        """The inertia matrix (3, 3) of a body of numbers, about the point that it is given about; if rounded, the nearest one."""
        return mended_inertia(self.inertia, plain(self.mass), self.arm)

    def problems(self) -> Iterator[Problem]:
        """A body's masses, inertia and shapes."""
        places = ["center_of_mass", "origin", *self.points]
        if self.inertia_about not in places:
            remedy = nearest(self.inertia_about, places)
            yield Problem(("inertia_about",), wrong("a point", show(self.inertia_about), remedy))
            return
        mass = plain(self.mass)
        if mass < 0:
            yield from negative_mass(mass, "mass")
        else:
            yield from inertia_problems(self.inertia, mass, self.arm, self.inertia_about)
        for name, point in self.point_masses.items():
            yield from placed(point.problems(), "point_masses", name)
        for name, frame in self.frames.items():
            if name in self.points:
                found = f"{name!r}, a point"
                yield Problem(
                    ("frames", name), wrong("a name that no point of the body has", found, "rename one of them")
                )
            yield from placed(frame.problems(), "frames", name)
        for i, shape in enumerate(self.shapes):
            yield from placed(shape.problems(), "shapes", i)

    def roundings(self) -> Iterator[Problem]:
        """Rounded inertias and quaternions."""
        yield from inertia_roundings(self.inertia, plain(self.mass), self.arm)
        for name, frame in self.frames.items():
            yield from placed(frame.roundings(), "frames", name)
        for i, shape in enumerate(self.shapes):
            yield from placed(shape.roundings(), "shapes", i)

    def canonical(self) -> dict[str, Any]:
        """Inertia as a matrix, that of a rigid body, and frames and shapes with unit quaternions."""
        turned = tuple(shape.replaced(shape.canonical()) for shape in self.shapes)
        frames = {name: frame.replaced(frame.canonical()) for name, frame in self.frames.items()}
        return {"inertia": tuple(map(tuple, self.mended_inertia.tolist())), "frames": frames, "shapes": turned}
