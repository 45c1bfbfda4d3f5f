"""What bodies look like: triangles of a model's shapes or, of a body that has none, of what is known about it.

A body without shapes is drawn from its own numbers. Its joints and masses are held together by a bar, the convex hull of balls
around them; a mass at a point is a ball; a body with an inertia is the solid that has this inertia: a rod, a ring if it is flat
and round (so that one sees what it carries), a cone if it is held at a point of its axis of symmetry, or else a cylinder or box.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbvi.model.bodies import Body
from mbvi.model.mass_properties import checked_properties
from mbvi.model.mesh_files import Files
from mbvi.model.rotations import rotation_matrix
from mbvi.model.shapes import SLENDER, Mesh, bevelled

if TYPE_CHECKING:
    import trimesh

Array = np.ndarray

BAR, BALL = 0.025, 0.06
"""Radii of bars and masses, in lengths of the body."""
LONELY = 7
"""Radius of a body that is, or looks like, a mere place, in that of the thinnest bar."""
AXES = "#D62728", "#2CA02C", "#1F77B4"
"""Colours of the axes x, y and z."""
FEWEST = 100
"""Faces that every mesh may keep when it is simplified."""
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
"""Luminances of red, green and blue in linear light."""
BRIGHTEST = 0.82
"""Luminance of colours at most: white in full light would show no shades."""
CREASE = np.radians(35)
"""Edges that are sharper are not shaded smoothly."""
DARK = 0.55
"""Brightness of the sector that shows how a round body turns."""
WIDEST = 2.5
"""Width of the widest ring, in the distance of the joints of its body: that of a ring with a radius of this distance."""
PLAIN = 0.75
"""Brightness of triangles without a material in a mesh where others have one."""
ROUND = 0.05
"""Relative difference of moments of inertia that count as equal."""
SHEET = 0.01
"""Thickness of a plate without thickness, relative to its longest edge."""
SIDES = 8
"""Sides of a wire's cross-section."""


class Geometry(NamedTuple):
    """Triangles in the frame of a body.

    vertices   (n, 3)  [m]
    normals    (n, 3)
    tones      (n, 3)  factors of red, green and blue of the colour, in linear light, 0 to 1
    faces      (m, 3)  indices of vertices, counterclockwise from outside
    """

    vertices: Array
    normals: Array
    tones: Array
    faces: Array


def body_geometry(
    body: Body, holds: Sequence[Array], files: Files | None, least: float, swell: float = 1.0, share: float = 1.0
) -> Geometry:
    """The triangles of a body.

    Parameters
    ----------
    body : Body
        A body of numbers, as in `Model.resolved().bodies`.
    holds : sequence of ndarray (3,)
        Where joints and forces hold it, in its frame [m].
    files : Files or None
        The model's mesh files.
    least : float
        Radius of the thinnest bar [m].
    swell : float
        Factor of the radii of bars without shapes, so that the round ends of equal neighbours do not coincide.
    share : float
        The part of the triangles of meshes that is kept, at least roughly.
    """
    points = reach(body, holds, files)
    unit = float(np.ptp(points, axis=0).max()) or least or 1.0
    drawn = _scaled(body, 1 / unit)  # trimesh drops triangles that are small in metres
    if body.shapes:
        geometry = merged([_shape(shape, files, share) for shape in drawn.shapes])
    else:
        geometry = merged(_default(drawn, [hold / unit for hold in holds], least / unit, swell))
    return geometry._replace(vertices=geometry.vertices * unit)


def reach(body: Body, holds: Sequence[Array], files: Files | None) -> Array:
    """Points (n, 3) that show how large a body is."""
    if body.shapes:
        return np.concatenate([_corners(shape, files) for shape in body.shapes])
    solid = _solid(body, holds)
    corners = [] if solid is None else solid.center + [sign * solid.axes @ solid.extents / 2 for sign in (-1, 1)]
    return np.array([*holds, *_masses(body), *corners, np.zeros(3)])


def _corners(shape: Any, files: Files | None) -> Array:
    """Corners (8, 3) of the box around a shape, in the body's frame."""
    low, high = shape.bounds(files)
    corners = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T
    return corners @ rotation_matrix(shape.orientation).T + np.array(shape.position)


def _scaled(body: Body, factor: float) -> Body:
    """The body with all lengths multiplied by a factor, of the same mass."""

    def times(value: Any, power: int = 1) -> Any:
        return (np.array(1.0 if value is None else value, dtype=float) * factor**power).tolist()  # a scale may be none

    def stretched(part: Any, *keys: str) -> Any:
        return part.replaced({key: times(getattr(part, key)) for key in keys})

    masses = {
        name: mass if isinstance(mass.position, str) else stretched(mass, "position")
        for name, mass in body.point_masses.items()
    }
    return stretched(body, "center_of_mass").replaced(
        {
            "inertia": times(body.inertia, 2),
            "points": {name: times(point) for name, point in body.points.items()},
            "frames": {name: stretched(frame, "position") for name, frame in body.frames.items()},
            "point_masses": masses,
            "shapes": [stretched(shape, "position", *shape.lengths) for shape in body.shapes],
        }
    )


def merged(parts: Sequence[Geometry]) -> Geometry:
    """One geometry of several."""
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    faces = [part.faces + start for part, start in zip(parts, starts[:-1], strict=True)]
    vertices, normals, tones = (np.concatenate([part[i] for part in parts]) for i in range(3))
    return Geometry(vertices, normals, tones, np.concatenate(faces))


def turned(geometry: Geometry, rotation: Array, place: Array) -> Geometry:
    """The geometry rotated (3, 3) and moved (3,)."""
    return geometry._replace(vertices=geometry.vertices @ rotation.T + place, normals=geometry.normals @ rotation.T)


def rotation_to(axis: Array) -> Array:
    """A rotation (3, 3) that turns z into a unit vector."""
    helper = np.eye(3)[np.argmin(np.abs(axis))]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(axis, x), axis], axis=1)


def ball(center: Array, radius: float) -> Geometry:
    """A sphere."""
    import trimesh

    return _of(trimesh.creation.uv_sphere(1.0, count=(18, 36)), place=center, scale=radius)


def rod(start: Array, end: Array, radius: float) -> Geometry:
    """A cylinder from one point to another."""
    import trimesh

    length = float(np.linalg.norm(end - start))
    rotation = rotation_to((end - start) / length)
    return _of(trimesh.creation.cylinder(radius / length, 1.0, sections=32), rotation, (start + end) / 2, scale=length)


def arrow() -> Geometry:
    """An arrow along z from 0 to 1, with a shaft of radius 1 before it is scaled."""
    import trimesh

    shaft = trimesh.creation.cylinder(1.0, segment=[[0, 0, 0], [0, 0, 0.8]], sections=16)
    head = trimesh.creation.cone(
        2.6, 0.2, sections=24, transform=trimesh.transformations.translation_matrix([0, 0, 0.8])
    )
    return merged([_of(shaft), _of(head)])


def triad(place: Array, rotation: Array, length: float) -> Geometry:
    """The axes of a frame, red, green and blue, of a white thing."""
    ends = place + length * rotation.T
    return merged([_colored(rod(place, end, 0.06 * length), color) for end, color in zip(ends, AXES, strict=True)])


def tube(path: Array, radius: float) -> Geometry:
    """A wire along points (n, 3)."""
    import trimesh

    unit = float(np.ptp(path, axis=0).max())
    frames = directions(np.gradient(path / unit, axis=0))
    circle = 2 * np.pi * np.arange(SIDES) / SIDES
    ring = radius / unit * np.stack([np.cos(circle), np.sin(circle), 0 * circle])
    vertices = (path / unit)[:, None] + (frames @ ring).transpose(0, 2, 1)
    surface = trimesh.Trimesh(vertices.reshape(-1, 3), _strips(len(path), SIDES), process=False)
    return _of(surface, crease=np.pi, scale=unit)


def _strips(rows: int, columns: int) -> Array:
    """Triangles between successive rings of `columns` vertices."""
    i, j = (each.ravel() for each in np.meshgrid(np.arange(rows - 1), np.arange(columns), indexing="ij"))
    a, b, c, d = (k * columns + m % columns for k in (i, i + 1) for m in (j, j + 1))
    return np.concatenate([np.stack([a, b, d], 1), np.stack([a, d, c], 1)])


def directions(vectors: Array) -> Array:
    """Rotations (F, 3, 3) that turn z into each vector by the shortest way from the one before."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    z = np.where(lengths > 0, vectors / np.where(lengths > 0, lengths, 1), [0.0, 0.0, 1.0])
    rotations = np.empty((len(z), 3, 3))
    x = rotation_to(z[0])[:, 0]
    for i, axis in enumerate(z):
        x = x - (x @ axis) * axis
        x = x / np.linalg.norm(x) if np.linalg.norm(x) > 1e-6 else rotation_to(axis)[:, 0]
        rotations[i] = np.stack([x, np.cross(axis, x), axis], axis=1)
    return rotations


def coil(turns: int = 12, radius: float = 1.0, wire: float = 0.18) -> Geometry:
    """A helix along z from 0 to 1, with straight ends; radius and wire are for a scale across z."""
    import trimesh

    steps = np.linspace(0, 1, 20 * turns + 1)
    grown = np.clip(np.minimum(steps, 1 - steps) * 20 - 1, 0, 1)[:, None] * radius
    angle = 2 * np.pi * turns * steps[:, None]
    path = np.hstack([grown * np.cos(angle), grown * np.sin(angle), steps[:, None]])
    circle = 2 * np.pi * np.arange(SIDES) / SIDES
    across = np.hstack([np.cos(angle), np.sin(angle), np.zeros_like(angle)])
    # The coil is flat where it is made, so its wire is round across the radius and z only after a scale by its length.
    ring = (
        across[:, None] * np.cos(circle)[None, :, None] * wire
        + np.array([0, 0, wire / 30]) * np.sin(circle)[None, :, None]
    )
    vertices = (path[:, None] + ring).reshape(-1, 3)
    return _of(trimesh.Trimesh(vertices, _strips(len(steps), SIDES), process=False), crease=np.pi)


# ----------------------------------------------------------------------------------------- shapes of the model


def own_colors(shape: Any, files: Files | None) -> Array | None:
    """The colours (m, 3) that a shape without one has in its file, red, green and blue from 0 to 1; None if it has none."""
    return shape.colors(files) if isinstance(shape, Mesh) and shape.color is None else None


def simplified(surface: trimesh.Trimesh, faces: int) -> tuple[trimesh.Trimesh, Array]:
    """A surface with at most so many faces, and the numbers that they have in the given one.

    All vertices in a cell of a grid become one, at their mean, and faces vanish that had several there.
    """
    import trimesh

    cell, kept, vertices, corners = (
        np.sqrt(2 * surface.area / faces),
        np.arange(len(surface.faces)),
        None,
        surface.faces,
    )
    while len(kept) > faces:
        grid = np.floor((surface.vertices - surface.bounds[0]) / cell).astype(np.int64)
        x, y, z = grid.max(axis=0) + 1
        _, cells = np.unique((grid[:, 0] * y + grid[:, 1]) * z + grid[:, 2], return_inverse=True)
        corners = cells[surface.faces]
        kept = np.flatnonzero((corners != np.roll(corners, 1, axis=1)).all(axis=1))
        counts = np.bincount(cells)
        vertices = np.stack([np.bincount(cells, weights=column) / counts for column in surface.vertices.T], axis=1)
        cell *= 1.25
    if vertices is None:
        return surface, kept
    return trimesh.Trimesh(vertices, corners[kept], process=False), kept


def _shape(shape: Any, files: Files | None, share: float) -> Geometry:
    """The triangles of a shape in its colour, or in those of its file; others are white. Of meshes about a share is kept."""
    rotation, place = rotation_matrix(shape.orientation), np.array(shape.position, dtype=float)
    surface, colors = shape.surface(files), own_colors(shape, files)
    if share < 1 and isinstance(shape, Mesh):
        surface, kept = simplified(surface, max(int(share * len(surface.faces)), FEWEST))
        colors = None if colors is None else colors[kept]
    if colors is None:
        return _colored(_of(surface, rotation, place, sector=shape.hides_turns), shape.color)
    known, of_face = np.unique(np.nan_to_num(colors, nan=PLAIN), axis=0, return_inverse=True)
    parts = []
    for i, color in enumerate(known):
        part = surface.submesh([np.flatnonzero(of_face.ravel() == i)], append=True, repair=False)
        parts.append(
            _colored(_of(part, rotation, place), "#{:02X}{:02X}{:02X}".format(*np.rint(255 * color).astype(int)))
        )
    return merged(parts)


def _colored(geometry: Geometry, color: str | None) -> Geometry:
    """The geometry in a colour of its own, of a white body; colours near white are a little darker."""
    if color is None:
        return geometry
    light = linear_rgb(color)
    return geometry._replace(
        tones=geometry.tones * light * min(1.0, BRIGHTEST / max(float(LUMINANCE @ light), BRIGHTEST))
    )


def rgb(color: str) -> list[int]:
    """Red, green and blue, 0 to 255, of #RRGGBB."""
    return [int(color[i : i + 2], 16) for i in (1, 3, 5)]


def linear_rgb(color: str) -> Array:
    """Linear red, green and blue (3,) of a colour in sRGB."""
    value = np.array(rgb(color)) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def _of(
    surface: trimesh.Trimesh,
    rotation: Array | None = None,
    place: Array | None = None,
    sector: bool = False,
    crease: float = CREASE,
    scale: float = 1.0,
) -> Geometry:
    """Triangles of a surface of a size about 1, with normals that are smooth up to creases, and perhaps a dark sector about z."""
    import trimesh

    if sector:
        middle = surface.triangles_center
        is_dark = np.abs(np.arctan2(middle[:, 1], middle[:, 0])) < np.pi / 4
        parts = [
            _of(surface.submesh([np.flatnonzero(chosen)], append=True, repair=False), rotation, place, crease=crease)
            for chosen in (is_dark, ~is_dark)
        ]
        return merged([parts[0]._replace(tones=parts[0].tones * DARK), parts[1]])
    smooth = trimesh.graph.smooth_shade(surface, angle=crease, facet_minarea=None) if crease < np.pi else surface
    geometry = Geometry(
        np.array(smooth.vertices, dtype=float) * scale,
        _unit(np.array(smooth.vertex_normals, dtype=float)),
        np.ones((len(smooth.vertices), 3)),
        np.array(smooth.faces, dtype=np.int64),
    )
    return turned(geometry, np.eye(3) if rotation is None else rotation, np.zeros(3) if place is None else place)


def _unit(normals: Array) -> Array:
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.where(lengths > 0, normals / np.where(lengths > 0, lengths, 1), [0.0, 0.0, 1.0])


# ------------------------------------------------------------------------------------------ without shapes


class Solid(NamedTuple):
    """The box that has an inertia: its centre (3,), principal axes in columns (3, 3), edges (3,) in rising order [m]."""

    center: Array
    axes: Array
    extents: Array


def _solid(body: Body, holds: Sequence[Array]) -> Solid | None:
    """The box of a body's explicit mass and inertia: I_x = m (y² + z²)/12 of a box with the edges x, y, z.

    None if it would be a ring much wider than the body's joints are apart, as that of a robot's link with the inertia of a motor.
    """
    explicit = checked_properties(body.replaced({"point_masses": {}}))
    if explicit.mass <= 0 or not explicit.inertia.any():
        return None
    moments, axes = np.linalg.eigh(explicit.inertia)
    squares = 6 * (moments.sum() - 2 * moments) / explicit.mass
    extents = np.sqrt(np.maximum(squares, 0))
    if np.linalg.det(axes) < 0:
        axes = -axes
    thin, middle, long = extents[::-1]
    apart = max((float(np.linalg.norm(place - other)) for place in holds for other in holds), default=0.0)
    is_ring = long - middle < ROUND * long and thin < SLENDER / 2 * long
    if is_ring and apart > 0 and long > WIDEST * apart:
        return None
    return Solid(explicit.center_of_mass, axes[:, ::-1] * [1, 1, -1], extents[::-1])


def _masses(body: Body) -> list[Array]:
    """Places of the point masses, among which is an explicit mass without inertia."""
    places: list[Any] = [point.position for point in body.point_masses.values()]
    if body.mass and not np.any(body.inertia):
        places.append(body.center_of_mass)
    return [body.place(place) for place in places]


def _default(body: Body, holds: Sequence[Array], least: float, swell: float) -> list[Geometry]:
    solid, masses = _solid(body, holds), _masses(body)
    points = reach(body, holds, None)[:-1]
    length = float(np.linalg.norm(np.ptp(points, axis=0))) if len(points) else 0.0
    if length == 0.0 or (not holds and length < LONELY * least):
        return [ball(np.zeros(3) if not len(points) else points[0], LONELY * least)]
    bar = swell * max(BAR * length, least)
    parts = [ball(place, max(BALL * length, 2 * least)) for place in masses]
    held = [*holds, *masses]
    if solid is None:
        return [*parts, hull(held, bar)]
    thin, middle, long = solid.extents
    if middle < SLENDER * long:  # a rod, whose thickness follows from its moments as that of a cylinder
        half = solid.axes[:, 2] * long / 2
        return [*parts, hull([*held, solid.center - half, solid.center + half], max(swell * thin / np.sqrt(3), bar))]
    shape, inner = _thick(solid, holds)
    far = [place for place in held if np.linalg.norm(place - solid.center) > inner]
    arms = [_arm(place, solid, bar) for place in far]
    return [*parts, *arms, shape]


def _thick(solid: Solid, holds: Sequence[Array]) -> tuple[Geometry, float]:
    """The solid that has the inertia, and from which distance of its centre on a place needs an arm."""
    from trimesh import creation

    thin, middle, long = solid.extents
    is_flat, is_oblong = long - middle < ROUND * long, middle - thin < ROUND * long
    if is_flat and is_oblong:
        radius = float(long * np.sqrt(5 / 12))
        return _of(creation.uv_sphere(radius, count=(24, 48)), solid.axes, solid.center, sector=True), radius
    if not (is_flat or is_oblong):
        edges = np.maximum(solid.extents, SHEET * long)
        return _of(bevelled(edges), solid.axes, solid.center), edges[0] / 2
    along, width = (thin, middle) if is_flat else (long, middle)
    axis = solid.axes[:, 0 if is_flat else 2]
    ring = float(width / np.sqrt(6))  # m r² = m (x² + y²)/12 with x = y
    if is_flat and thin < SLENDER / 2 * long:
        return _of(creation.torus(ring, 0.06 * ring, 64, 12), rotation_to(axis), solid.center), 0.1 * ring
    offsets = [place - solid.center for place in holds if np.linalg.norm(place - solid.center) > ROUND * long]
    if len(offsets) == 1 and abs(offsets[0] @ axis) > (1 - ROUND**2) * np.linalg.norm(offsets[0]):
        height = 4 / 3 * float(np.linalg.norm(offsets[0]))  # the apex is held, the base is height/4 beyond the centre
        direction = offsets[0] / np.linalg.norm(offsets[0])
        cone = creation.cone(float(width * np.sqrt(5) / 3), height, sections=64)  # 3/10 r² = width²/6
        return _of(cone, rotation_to(direction), solid.center - direction * height / 4, sector=True), height
    radius = float(width / np.sqrt(3))
    cylinder = creation.cylinder(radius, float(along), sections=64)
    return _of(cylinder, rotation_to(axis), solid.center, sector=True), float(min(radius, along / 2))


def _arm(place: Array, solid: Solid, radius: float) -> Geometry:
    """A bar from a place to the solid or, of a ring, to its rim."""
    thin, _, long = solid.extents
    offset = place - solid.center
    inside = long / np.sqrt(6) if thin < SLENDER / 2 * long else 0.0
    return hull([place, solid.center + offset / np.linalg.norm(offset) * inside], radius)


def hull(points: Sequence[Array], radius: float) -> Geometry:
    """The convex hull of balls around points: a ball, a bar with round ends, a plate with round edges."""
    import trimesh

    sphere = trimesh.creation.icosphere(2, radius).vertices
    return _of(trimesh.convex.convex_hull(np.concatenate([sphere + point for point in points])))
