"""Bodies: explicit mass, point masses, and shapes of a material or for viewing only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from mbvi.model import shapes
from mbvi.model.base import Element
from mbvi.model.directions import orientation_problems, orientation_roundings, quaternion
from mbvi.model.expressions import Problem, nearest, placed, show, wrong
from mbvi.model.fields import Inertia, Kind, Name, OptionalScalar, Orientation, Place, Points, Scalar, Vector


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
    """

    position: Vector = (0.0, 0.0, 0.0)
    orientation: Orientation = (0.0, 0.0, 0.0)
    density: OptionalScalar = None
    mass: OptionalScalar = None

    def problems(self) -> Iterator[Problem]:
        """Density or mass, not both, and a unit quaternion."""
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


class Sphere(Posed):
    """A sphere with its centre at the shape's place.

    Parameters
    ----------
    radius : number
        Radius [m].
    """

    type: Literal["sphere"] = "sphere"
    radius: Scalar


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


class Mesh(Posed):
    """A triangle mesh from a file. To have mass it must be closed (watertight), with its faces outward.

    Parameters
    ----------
    file : str
        Path of an STL, OBJ, PLY, OFF or GLB file, relative to the folder of the model file. Materials and textures do not
        matter; the buffers of a GLB must be in it, and not compressed.
    scale : number
        Factor from the file's unit of length to the metre; 1 if left out, and then a mesh of more than 10 m or 100 000 kg
        gives a warning, since many files are in millimetres.
    max_bytes : number
        Size up to which the file is read, in bytes; its triangles are counted too, with 50 bytes each.
    """

    type: Literal["mesh"] = "mesh"
    file: str
    scale: OptionalScalar = None
    max_bytes: Scalar = 1e8

    @property
    def factor(self) -> float:
        """The scale as a number."""
        return 1.0 if self.scale is None else float(self.scale)

    def canonical(self) -> dict[str, Any]:
        """The orientation as a unit quaternion, and a scale."""
        return {**super().canonical(), "scale": self.factor}


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
    point_masses: dict[Name, PointMass] = Field(default={})
    shapes: tuple[Shape, ...] = ()

    def problems(self) -> Iterator[Problem]:
        """A body's masses, inertia and shapes."""
        places = ["center_of_mass", "origin", *self.points]
        if self.inertia_about not in places:
            remedy = nearest(self.inertia_about, places)
            yield Problem(("inertia_about",), wrong("a point", show(self.inertia_about), remedy))
            return
        yield from shapes.problems(self)
        for i, shape in enumerate(self.shapes):
            yield from placed(shape.problems(), "shapes", i)

    def roundings(self) -> Iterator[Problem]:
        """Rounded inertias and quaternions."""
        yield from shapes.roundings(self)
        for i, shape in enumerate(self.shapes):
            yield from placed(shape.roundings(), "shapes", i)

    def canonical(self) -> dict[str, Any]:
        """Inertia as a matrix, that of a rigid body, and shapes with unit quaternions."""
        inertia = shapes.mended_inertia(self).tolist()
        turned = tuple(shape.replaced(shape.canonical()) for shape in self.shapes)
        return {"inertia": tuple(map(tuple, inertia)), "shapes": turned}
