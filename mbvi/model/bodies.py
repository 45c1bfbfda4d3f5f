"""Bodies: explicit mass, point masses, and shapes of a material or for viewing only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from mbvi.model.base import Element
from mbvi.model.directions import orientation_problems, orientation_roundings, quaternion
from mbvi.model.expressions import Problem, nearest, placed, show, wrong
from mbvi.model.fields import (
    Color,
    Inertia,
    Kind,
    Name,
    OptionalScalar,
    Orientation,
    Place,
    PointName,
    Points,
    Scalar,
    Scale,
    Vector,
)
from mbvi.model.inertia import inertia_problems, inertia_roundings, mended_inertia

Floats = NDArray[np.float64]

LEAST_LENGTH = 1e-50  # of a shape, whose volume is then not 0


def negative_mass(value: Any, key: str) -> Iterator[Problem]:
    """A mass or density, if it is given, that is less than 0."""
    if value is not None and value < 0:
        yield Problem((key,), wrong(f"a {key} of at least 0", show(value), "change its sign"))


class Posed(Element):
    """The common part of shapes.

    Parameters
    ----------
    position : vector
        The shape's place in the body frame [m].
    orientation : vector or quaternion
        The shape's orientation in the body frame: rotation vector (axis times angle) [rad] or unit quaternion (w, x,
        y, z).
    density : number
        Density of the material [kg/m³]. With neither density nor mass the shape is for viewing only.
    mass : number
        Mass, instead of density [kg].
    color : str or list
        Colour in pictures: '#RRGGBB', or red, green and blue from 0 to 1, in sRGB. By default that of the body.
    """

    position: Vector = (0.0, 0.0, 0.0)
    orientation: Orientation = (0.0, 0.0, 0.0)
    density: OptionalScalar = None
    mass: OptionalScalar = None
    color: Color = None

    lengths: ClassVar[tuple[str, ...]]
    """The fields that hold lengths or factors of them."""

    def problems(self) -> Iterator[Problem]:
        """Density or mass of at least 0, not both, lengths that are not 0, and a unit quaternion."""
        for key in ("density", "mass"):
            yield from negative_mass(getattr(self, key), key)
        for key in self.lengths:
            value = getattr(self, key)
            if value is not None and (least := np.min(value)) < LEAST_LENGTH:
                expected = f"lengths {f'of at least {LEAST_LENGTH:g}' if least > 0 else 'greater than 0'}"
                yield Problem((key,), wrong(expected, show(value), "write for example 0.1"))
        yield from orientation_problems(self.orientation)
        if self.density is not None and self.mass is not None:
            yield Problem(("mass",), wrong("density or mass", "both", "remove one of them"))

    def roundings(self) -> Iterator[Problem]:
        """A rounded quaternion."""
        yield from orientation_roundings(self.orientation)

    def canonical(self) -> dict[str, Any]:
        """The orientation as a unit quaternion."""
        return {"orientation": quaternion(self.orientation)}


class Box(Posed):
    """A box with its centre at the shape's place.

    Parameters
    ----------
    size : vector
        Lengths of the edges along x, y, z [m].
    """

    type: Literal["box"] = "box"
    size: Vector
    lengths: ClassVar[tuple[str, ...]] = ("size",)


class Sphere(Posed):
    """A sphere with its centre at the shape's place.

    Parameters
    ----------
    radius : number
        Radius [m].
    """

    type: Literal["sphere"] = "sphere"
    radius: Scalar
    lengths: ClassVar[tuple[str, ...]] = ("radius",)


class Cylinder(Posed):
    """A cylinder along z with its centre at the shape's place.

    Parameters
    ----------
    radius : number
        Radius [m].
    length : number
        Length along z [m].
    """

    type: Literal["cylinder"] = "cylinder"
    radius: Scalar
    length: Scalar
    lengths: ClassVar[tuple[str, ...]] = (
        "radius",
        "length",
    )


class Capsule(Posed):
    """A cylinder along z, closed by two half spheres, with its centre at the shape's place.

    Parameters
    ----------
    radius : number
        Radius [m].
    length : number
        Length of the cylinder; the capsule is longer by two radii [m].
    """

    type: Literal["capsule"] = "capsule"
    radius: Scalar
    length: Scalar
    lengths: ClassVar[tuple[str, ...]] = (
        "radius",
        "length",
    )


class Cone(Posed):
    """A cone with the centre of its base at the shape's place and its apex at +z.

    Parameters
    ----------
    radius : number
        Radius of the base [m].
    height : number
        Height, from base to apex [m].
    """

    type: Literal["cone"] = "cone"
    radius: Scalar
    height: Scalar
    lengths: ClassVar[tuple[str, ...]] = (
        "radius",
        "height",
    )


class Mesh(Posed):
    """A triangle mesh from a file. To have mass it must be closed (watertight), with its faces outward.

    Parameters
    ----------
    file : str
        Path of an STL, OBJ, PLY, OFF, GLB or DAE file, relative to the folder of the model file. Materials and textures do
        not matter; the buffers of a GLB must be in it, and not compressed. DAE files need the extra `robots`; their unit
        counts, their up axis does not.
    scale : number or list
        Factor from the file's unit of length to the metre, or one for each axis of the file, of which negative ones
        mirror; 1 if left out, and then a mesh of more than 10 m or 100 000 kg gives a warning, since many files are in
        millimetres.
    max_bytes : number
        Size up to which the file is read, in bytes; its triangles are counted too, with 50 bytes each.
    """

    type: Literal["mesh"] = "mesh"
    file: str
    scale: Scale = None
    max_bytes: Scalar = 1e8
    lengths: ClassVar[tuple[str, ...]] = ()

    @property
    def factors(self) -> Floats:
        """The scale of every axis (3,)."""
        return np.ones(3) * np.array(1.0 if self.scale is None else self.scale, dtype=float)

    def problems(self) -> Iterator[Problem]:
        """Those of all shapes, and a scale that is 0, or negative for all axes at once."""
        yield from super().problems()
        factors, is_one = self.factors, not isinstance(self.scale, tuple)
        if np.min(factors if is_one else np.abs(factors)) < LEAST_LENGTH:
            expected = f"{'a factor' if is_one else 'factors'} greater than 0{'' if is_one else ', or less'}"
            yield Problem(("scale",), wrong(expected, show(self.scale), "write for example 0.001"))

    def canonical(self) -> dict[str, Any]:
        """The orientation as a unit quaternion, and a scale."""
        return {**super().canonical(), "scale": 1.0 if self.scale is None else self.scale}


Shape = Annotated[Box | Sphere | Cylinder | Capsule | Cone | Mesh, Field(discriminator="type")]


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
    shapes: tuple[Shape, ...] = ()

    def place(self, place: Any) -> Floats:
        """A place (3,) of a body of numbers [m]: numbers, or the name of a point or frame."""
        if isinstance(place, str):
            place = self.points[place] if place in self.points else self.frames[place].position
        return np.array(place, dtype=float)

    @property
    def arm(self) -> Floats | None:
        """From the point that the inertia of a body of numbers is about to its centre of mass (3,); None if it is that [m]."""
        if self.inertia_about == "center_of_mass":
            return None
        point = (0.0, 0.0, 0.0) if self.inertia_about == "origin" else self.points[self.inertia_about]
        return np.array(self.center_of_mass, dtype=float) - np.array(point, dtype=float)

    @property
    def mended_inertia(self) -> Floats:
        """The inertia matrix (3, 3) of a body of numbers, about the point that it is given about; if rounded, the nearest one."""
        return mended_inertia(self.inertia, float(self.mass), self.arm)

    def problems(self) -> Iterator[Problem]:
        """A body's masses, inertia and shapes."""
        places = ["center_of_mass", "origin", *self.points]
        if self.inertia_about not in places:
            remedy = nearest(self.inertia_about, places)
            yield Problem(("inertia_about",), wrong("a point", show(self.inertia_about), remedy))
            return
        mass = float(self.mass)
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
        yield from inertia_roundings(self.inertia, float(self.mass), self.arm)
        for name, frame in self.frames.items():
            yield from placed(frame.roundings(), "frames", name)
        for i, shape in enumerate(self.shapes):
            yield from placed(shape.roundings(), "shapes", i)

    def canonical(self) -> dict[str, Any]:
        """Inertia as a matrix, that of a rigid body, and frames and shapes with unit quaternions."""
        turned = tuple(shape.replaced(shape.canonical()) for shape in self.shapes)
        frames = {name: frame.replaced(frame.canonical()) for name, frame in self.frames.items()}
        return {"inertia": tuple(map(tuple, self.mended_inertia.tolist())), "frames": frames, "shapes": turned}
