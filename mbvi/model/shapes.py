"""Shapes of a body, of a material or for viewing only: each says its volume, its bounds and what it looks like.

Volumes have closed forms (a tessellation of a cylinder is 0.6 % light); meshes are integrated.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from mbvi.model.base import Element
from mbvi.model.directions import orientation_problems, orientation_roundings, quaternion
from mbvi.model.expressions import Problem, show, wrong
from mbvi.model.fields import Color, OptionalScalar, Orientation, Scalar, Scale, Vector
from mbvi.model.mesh_files import Files, Volume, mesh_volume, read_mesh
from mbvi.recording import array, plain

if TYPE_CHECKING:
    import trimesh

__all__ = ["Box", "Capsule", "Cone", "Cylinder", "Ellipsoid", "Mesh", "Sphere"]

Floats = NDArray[np.float64]

LEAST_LENGTH = 1e-50  # least length of a shape, whose volume is then not 0
SLENDER = 0.35
"""Largest thickness of a rod, relative to its length."""


def negative_mass(value: Any, key: str) -> Iterator[Problem]:
    """A mass or density, if it is given, that is less than 0."""
    if value is not None and value < 0:
        yield Problem((key,), wrong(f"a {key} of at least 0", show(value), "change its sign"))


class Posed(Element, ABC):
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

    @abstractmethod
    def volume(self, files: Files) -> Volume:
        """The volume of a shape of numbers [m³], its centre (3,) [m] and its inertia (3, 3) about it at density 1 [m⁵]."""

    @abstractmethod
    def bounds(self, files: Files) -> tuple[Floats, Floats]:
        """The lowest and the highest corner (3,) of the box around it, along its own axes [m]."""

    @abstractmethod
    def surface(self, files: Files) -> trimesh.Trimesh:
        """What it looks like."""

    @property
    def hides_turns(self) -> bool:
        """Whether it is so round and thick that only a dark sector about z shows how it turns."""
        return False

    def problems(self) -> Iterator[Problem]:
        """Density or mass of at least 0, not both, lengths that are not 0, and a unit quaternion."""
        for key in ("density", "mass"):
            yield from negative_mass(getattr(self, key), key)
        yield from self.length_problems()
        yield from orientation_problems(self.orientation)
        if self.density is not None and self.mass is not None:
            yield Problem(("mass",), wrong("density or mass", "both", "remove one of them"))

    def length_problems(self) -> Iterator[Problem]:
        """Lengths that are 0, less, or too small."""
        for key in self.lengths:
            value = getattr(self, key)
            if (least := min(value) if isinstance(value, tuple) else value) < LEAST_LENGTH:
                expected = f"lengths {f'of at least {LEAST_LENGTH:g}' if least > 0 else 'greater than 0'}"
                yield Problem((key,), wrong(expected, show(value), "write for example 0.1"))

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

    def volume(self, files: Files) -> Volume:
        """The volume of a solid box."""
        x, y, z = map(plain, self.size)
        volume = x * y * z
        return volume, np.zeros(3), volume / 12 * np.diag(array([y**2 + z**2, x**2 + z**2, x**2 + y**2]))

    def bounds(self, files: Files) -> tuple[Floats, Floats]:
        """Its own corners."""
        half = _numbers(self.size) / 2
        return -half, half

    def surface(self, files: Files) -> trimesh.Trimesh:
        """A box with bevelled edges."""
        return bevelled(_numbers(self.size))


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

    def volume(self, files: Files) -> Volume:
        """The volume of a solid ball."""
        r = plain(self.radius)
        volume = 4 / 3 * np.pi * r**3
        return volume, np.zeros(3), volume * 2 / 5 * r**2 * np.eye(3)

    def bounds(self, files: Files) -> tuple[Floats, Floats]:
        """The corners of the cube around it."""
        half = np.full(3, float(self.radius))
        return -half, half

    def surface(self, files: Files) -> trimesh.Trimesh:
        """A sphere of quadrangles between circles."""
        from trimesh import creation

        return creation.uv_sphere(self.radius, count=(24, 48))


class Ellipsoid(Posed):
    """An ellipsoid with its centre at the shape's place.

    Parameters
    ----------
    semi_axes : vector
        Lengths from the centre to the surface along x, y, z [m].
    """

    type: Literal["ellipsoid"] = "ellipsoid"
    semi_axes: Vector
    lengths: ClassVar[tuple[str, ...]] = ("semi_axes",)

    def volume(self, files: Files) -> Volume:
        """The volume of a solid ellipsoid."""
        x, y, z = _numbers(self.semi_axes).tolist()
        volume = 4 / 3 * np.pi * x * y * z
        return volume, np.zeros(3), volume / 5 * np.diag([y**2 + z**2, x**2 + z**2, x**2 + y**2])

    def bounds(self, files: Files) -> tuple[Floats, Floats]:
        """The corners of the box around it."""
        half = _numbers(self.semi_axes)
        return -half, half

    def surface(self, files: Files) -> trimesh.Trimesh:
        """A sphere of quadrangles between circles, stretched."""
        from trimesh import creation

        stretched: trimesh.Trimesh = creation.uv_sphere(1.0, count=(24, 48))
        stretched.apply_scale(_numbers(self.semi_axes))
        return stretched


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

    def volume(self, files: Files) -> Volume:
        """The volume of a solid cylinder."""
        r, l = plain(self.radius), plain(self.length)
        volume = np.pi * r**2 * l
        across = (3 * r**2 + l**2) / 12
        return volume, np.zeros(3), volume * np.diag(array([across, across, r**2 / 2]))

    def bounds(self, files: Files) -> tuple[Floats, Floats]:
        """The corners of the box around it."""
        half = _numbers([self.radius, self.radius, self.length]) * [1, 1, 0.5]
        return -half, half

    def surface(self, files: Files) -> trimesh.Trimesh:
        """A prism of 64 sides."""
        from trimesh import creation

        return creation.cylinder(float(self.radius), float(self.length), sections=64)

    @property
    def hides_turns(self) -> bool:
        """Whether it is thicker than a rod."""
        return float(self.radius) > SLENDER * float(self.length)


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

    def volume(self, files: Files) -> Volume:
        """A cylinder and two half spheres of volume V_s in all, whose centres are 3r/8 beyond its ends."""
        r, l = plain(self.radius), plain(self.length)
        cylinder, _, inertia = Cylinder.model_construct(radius=r, length=l).volume(files)
        sphere = 4 / 3 * np.pi * r**3
        across = sphere * (2 / 5 * r**2 + l**2 / 4 + 3 / 8 * r * l)
        return cylinder + sphere, np.zeros(3), inertia + np.diag(array([across, across, sphere * 2 / 5 * r**2]))

    def bounds(self, files: Files) -> tuple[Floats, Floats]:
        """The corners of the box around it."""
        r, l = float(self.radius), float(self.length)
        half = np.array([r, r, l / 2 + r])
        return -half, half

    def surface(self, files: Files) -> trimesh.Trimesh:
        """A cylinder between two half spheres."""
        from trimesh import creation

        return creation.capsule(self.length, self.radius, count=(24, 48))


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

    def volume(self, files: Files) -> Volume:
        """The volume of a solid cone, whose centre is at a quarter of its height."""
        r, l = plain(self.radius), plain(self.height)
        volume = np.pi / 3 * r**2 * l
        across = 3 / 80 * (4 * r**2 + l**2)
        return volume, array([0.0, 0.0, l / 4]), volume * np.diag(array([across, across, 3 / 10 * r**2]))

    def bounds(self, files: Files) -> tuple[Floats, Floats]:
        """The corners of the box around it."""
        r, l = float(self.radius), float(self.height)
        return np.array([-r, -r, 0.0]), np.array([r, r, l])

    def surface(self, files: Files) -> trimesh.Trimesh:
        """A pyramid of 64 sides."""
        from trimesh import creation

        return creation.cone(self.radius, self.height, sections=64)

    @property
    def hides_turns(self) -> bool:
        """True: a cone is always round."""
        return True


class Mesh(Posed):
    """A triangle mesh from a file. To have mass it must be closed (watertight), with its faces outward.

    Parameters
    ----------
    file : str
        Path of an STL, OBJ, PLY, OFF, GLB, DAE or MSH file, relative to the folder of the model file. Textures do not
        matter, and materials only of DAE files: a mesh without a color has those of the file. The buffers of a GLB must be
        in it, and not compressed. DAE files need the extra `robots`; their unit counts, their up axis does not.
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
    lengths: ClassVar[tuple[str, ...]] = ("scale",)

    @property
    def factors(self) -> Floats:
        """The scale of every axis (3,)."""
        return np.ones(3) * _numbers(1.0 if self.scale is None else self.scale)

    def length_problems(self) -> Iterator[Problem]:
        """A scale that is 0, or a single negative one; one of three may be negative."""
        factors, is_one = self.factors, not isinstance(self.scale, tuple)
        if np.min(factors if is_one else np.abs(factors)) < LEAST_LENGTH:
            expected = f"{'a factor' if is_one else 'factors'} greater than 0{'' if is_one else ', or less'}"
            yield Problem(("scale",), wrong(expected, show(self.scale), "write for example 0.001"))

    def volume(self, files: Files) -> Volume:
        """The volume of the solid that the mesh bounds."""
        return mesh_volume(self, files)

    def bounds(self, files: Files) -> tuple[Floats, Floats]:
        """The corners of the box around its vertices."""
        low, high = np.sort(read_mesh(self, files).bounds * self.factors, axis=0)
        return low, high

    def extent(self, files: Files) -> float:
        """The longest edge of the box around its vertices [m]."""
        low, high = self.bounds(files)
        return float((high - low).max())

    def surface(self, files: Files) -> trimesh.Trimesh:
        """The triangles of the file, turned over if they are mirrored."""
        import trimesh

        surface = read_mesh(self, files)
        faces = surface.faces if self.factors.prod() > 0 else surface.faces[:, ::-1]
        return trimesh.Trimesh(surface.vertices * self.factors, faces, process=False)

    def colors(self, files: Files | None) -> Floats | None:
        """Red, green and blue (m, 3) of the triangles from 0 to 1, in sRGB, as their file has them; None if it has none."""
        return read_mesh(self, files).colors


AnyShape = Annotated[Box | Sphere | Ellipsoid | Cylinder | Capsule | Cone | Mesh, Field(discriminator="type")]


def _numbers(values: Any) -> Floats:
    return np.array(values, dtype=float)


def bevelled(size: Floats) -> trimesh.Trimesh:
    """A box with bevelled edges, which catch the light."""
    import trimesh

    bevel = 0.04 * size.min()
    corners = np.array(np.meshgrid(*[(-1, 1)] * 3)).reshape(3, -1).T * size / 2
    points = [corners - np.sign(corners) * bevel * (np.arange(3) != axis) for axis in range(3)]
    return trimesh.convex.convex_hull(np.concatenate(points))
