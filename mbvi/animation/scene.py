"""A trajectory as a scene: things with triangles, colours and poses in time, and what pages and pictures need around them.

    Scene  =  motion, things, trails, up and the floor
    Thing  =  triangles, colour, and a place, rotation and scale at every time

The things are the bodies, the pins and rails of joints, and springs, dampers and rods between points.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import networkx
import numpy as np

from mbvi.animation import geometry as shapes
from mbvi.animation.geometry import Geometry
from mbvi.animation.guides import guides, wires
from mbvi.animation.motion import Motion
from mbvi.errors import ModelError
from mbvi.model import Body, Mesh, Model
from mbvi.model.expressions import nearest, wrong
from mbvi.model.fields import WORLD
from mbvi.model.forces import Between, OnTendon
from mbvi.model.joints import Joint
from mbvi.model.mass_properties import checked_properties, is_massless
from mbvi.model.mesh_files import Files, has_volume, read_mesh
from mbvi.model.ropes import Look, OverPoints
from mbvi.model.rotations import rotation_matrix
from mbvi.system.poses import Pose, all_poses, unit_quaternions
from mbvi.system.system import System

Array = np.ndarray

SWELLS = (1.0, 1.05, 0.95, 1.1, 0.9)  # factors of the radii of bars of bodies that meet
# How much deeper faces of shapes lie than those of the layer before: in radii of the thinnest bar, and at most in their extent.
INSET = 0.06, 0.005
# Okabe & Ito's colours, which all readers can tell apart, without the black and the yellow that are lost on dark and light.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7")
# Of many bodies: from blue over yellow to red, after the scheme RdYlBu of ColorBrewer, which is safe for them too.
GRADIENT = ("#1F5FA8", "#5AA3D6", "#B9D3D8", "#F4CF6A", "#E88B2E", "#B7410E")
GREY, DARK, METAL, WHITE, PLAIN = "#6E7681", "#3A424B", "#9AA4AF", "#FFFFFF", "#C4C8CC"

LEAST = 0.003
"""Radius of the thinnest bar, in the size of the scene."""
AXIS = 0.04
"""Length of the axes of named frames, in the size of the scene."""
PIN = 0.009
"""Radius of a pin, in the size of the scene."""
RAIL = 0.1
"""How much longer a rail is than what moves on it, at each end, in the size of the scene."""
STILL = 0.01
"""A point whose way is shorter, in the size of the scene, has no trail unless asked for."""
STANDING = 0.15
"""A robot stands on the lowest point of a fixed body that is at most so high, in its size, above its lowest at the start."""
STILL_POSE = Pose(np.zeros((1, 3)), np.eye(3)[None])
WIRE = 0.27
"""Radius of the lines, curves and borders of planes that guide points, in that of a pin."""
SAMPLES = 200
MOST_SHOWN = 200_000
"""Triangles of all meshes together, beyond which they are simplified unless others are asked for."""


class Carried(NamedTuple):
    """What a body carries, or the world, where it stands still."""

    body: str

    def placed(self, poses: dict[str, Pose]) -> tuple[Array, Array, Array | None]:
        """Places (F, 3), quaternions (F, 4) and scales; where it stands still of one time."""
        pose = STILL_POSE if self.body == WORLD else poses[self.body]
        return pose.places, quaternions_of(pose.rotations), None


class Spanned(NamedTuple):
    """What reaches from a point of a body to one of another, of length 1 along z before it is scaled.

    ends     a body and a point, and another
    radius   [m]
    least    its least length, of which nothing is left to see  [m]
    """

    ends: tuple[tuple[str, Any], tuple[str, Any]]
    radius: float
    least: float

    def placed(self, poses: dict[str, Pose]) -> tuple[Array, Array, Array | None]:
        """Places (F, 3), quaternions (F, 4) and scales (F, 3)."""
        start, end = (poses[body].point(point) for body, point in self.ends)
        lengths = np.linalg.norm(end - start, axis=1)
        scales = np.stack([np.full_like(lengths, self.radius)] * 2 + [np.maximum(lengths, self.least)], axis=1)
        return start, quaternions_of(shapes.directions(end - start)), scales


@dataclass(frozen=True, eq=False)
class Thing:
    """What moves as one.

    Attributes
    ----------
    name : str
        The name of the body, joint or element of the model.
    kind : str
        body, joint, frame, or link for springs, dampers, rods and cables.
    geometry : Geometry
        Shared by things that look the same.
    color : str
        As #RRGGBB, in sRGB.
    places : ndarray (F, 3)
        [m]; F is 1 if it stands still.
    quaternions : ndarray (F, 4)
        x, y, z, w, of one sign over time.
    scales : ndarray (F, 3) or None
        Along its own axes; of a link.
    hold : Carried or Spanned
        What it moves with.
    """

    name: str
    kind: str
    geometry: Geometry
    color: str
    places: Array
    quaternions: Array
    scales: Array | None
    hold: Carried | Spanned

    def rotations(self) -> Array:
        """Rotation matrices (F, 3, 3), with the scale."""
        from scipy.spatial.transform import Rotation

        matrices = Rotation.from_quat(self.quaternions).as_matrix()
        return matrices if self.scales is None else matrices * self.scales[:, None, :]


@dataclass(frozen=True, eq=False)
class Trail:
    """The way of a point of a body: its name, colour, and places (F, 3) [m]."""

    name: str
    color: str
    places: Array
    body: str
    point: Array


@dataclass(frozen=True, eq=False)
class Scene:
    """What is shown.

    Attributes
    ----------
    name : str
    motion : Motion
    things : tuple of Thing
    trails : tuple of Trail
    up : ndarray (3,)
        Against gravity, or z without it.
    floor : float or None
        Height of the floor along `up` [m]; None without gravity.
    extent : ndarray (n, 3)
        Points around all that is ever seen [m].
    size : float
        Length of the diagonal of all that moves [m].
    view : ndarray (3,)
        Unit vector towards the camera.
    """

    name: str
    motion: Motion
    things: tuple[Thing, ...]
    trails: tuple[Trail, ...]
    up: Array
    floor: float | None
    extent: Array
    size: float
    view: Array


def make_scene(system: System, motion: Motion, trails: Sequence[str] | None, triangles: int | None = None) -> Scene:
    """The scene of a motion.

    Parameters
    ----------
    system : System
        The system of a model.
    motion : Motion
    trails : sequence of str or None
        Points whose ways are shown: a body, for its centre of mass, or body.point; if None, of the body that goes furthest.
    triangles : int, optional
        About how many triangles all meshes may have together; if they have more, they are simplified. None shows all.

    Raises
    ------
    ModelError
        If a trail is of no point of the model.
    """
    model = _model(system)
    holds = _holds(model)
    poses = find_poses(system, motion.q)
    drawn = _without_inertias(model)
    size = _size(drawn, holds, poses)
    least = LEAST * size
    painted = [name for name, body in model.bodies.items() if _is_painted(body, model)]
    colors = _colors(list(model.bodies)) | dict.fromkeys(_plain(model, painted), PLAIN)
    marks = _marks(drawn)
    looks = _looks(drawn, holds, least, {name: colors[name] for name in painted}, _share(model, triangles))
    paints = colors | dict.fromkeys(painted, WHITE)
    things = [
        _thing(name, "body", looks[name], paints[name], Carried(name), poses)
        for name in model.bodies
        if name not in marks
    ]
    things += _links(model, poses, size)
    up = np.array(model.gravity, dtype=float)
    up = -up / np.linalg.norm(up) if up.any() else np.array([0.0, 0.0, 1.0])
    things += _joints(model, poses, looks, size)
    things += _frames(model, poses, size)
    things += _guides(model, system, motion.q, poses, size)
    extent = _extent(things)
    floor = _floor(model, things, extent, up, size) if np.any(model.gravity) else None
    ways = _trails(model, poses, looks, holds, colors, trails, size)
    return Scene(system.name, motion, tuple(things), ways, up, floor, extent, size, _view(extent, up))


def _thing(
    name: str, kind: str, geometry: Geometry, color: str, hold: Carried | Spanned, poses: dict[str, Pose]
) -> Thing:
    return Thing(name, kind, geometry, color, *hold.placed(poses), hold)


def _model(system: System) -> Model:
    """The model in numbers of a system that has bodies."""
    return cast(Model, system.model).resolved()


# ------------------------------------------------------------------------------------------------- bodies


def find_poses(system: System, q: Array) -> dict[str, Pose]:
    """Places (F, 3) and rotations (F, 3, 3) of the world and all bodies, of which points of the embedding look at their joint."""
    model = _model(system)
    poses = all_poses(system, q)
    centers: dict[str, Array] = {}  # of the points
    if system.homes is not None:
        centers = {name: system.homes.centers[name] for name, (_, is_point) in system.homes.roots.items() if is_point}
    turned = dict(poses)
    for joint in model.joints.values():
        ends = (joint.parent, joint.position), (joint.child, joint.offset)
        for (body, place), (other, end) in (ends, ends[::-1]):
            arm = np.array(place, dtype=float) - centers.get(body, place)
            if np.linalg.norm(arm) > 1e-12 and not joint.is_free:
                center = poses[body].point(centers[body])
                towards = shapes.directions(poses[other].point(end) - center)
                rotations = towards @ shapes.rotation_to(arm / np.linalg.norm(arm)).T
                turned[body] = Pose(center - rotations @ centers[body], rotations)
    return turned


def _holds(model: Model) -> dict[str, list[Array]]:
    """Where joints, springs and rods hold every body, without repetition."""
    holds: dict[str, list[Array]] = {name: [] for name in (WORLD, *model.bodies)}
    ends = [
        *((joint.parent, joint.position) for joint in model.joints.values() if not joint.is_free),
        *((joint.child, joint.offset) for joint in model.joints.values() if not joint.is_free),
        *(end for _, _, ends in _between(model) for end in ends),
        *(guide.guided for guide in guides(model).values()),
    ]
    for body, point in ends:
        place = np.array(point, dtype=float)
        if not any(np.allclose(place, other) for other in holds[body]):
            holds[body].append(place)
    return holds


def _between(model: Model) -> Iterator[tuple[str, Look, Any]]:
    """What is drawn between two points, with its name: springs, dampers, rods, cables and the straight parts of ropes."""
    elements: dict[str, Any] = {**model.forces, **model.constraints, **model.contacts}
    for name, element in elements.items():
        if isinstance(element, OverPoints | OnTendon):
            yield from ((f"{name} {i}", element.drawn_as, ends) for i, ends in enumerate(element.spans(), 1))
        elif isinstance(element, Between) and element.look():
            yield name, element.look(), element.ends()


def _looks(
    model: Model, holds: dict[str, list[Array]], least: float, painted: dict[str, str], share: float
) -> dict[str, Geometry]:
    """The geometry of every body, shared by those that look the same; of meshes about a share of the triangles.

    Those that meet at a joint differ a little in thickness: which of two faces in one plane is in front would be chance.
    Shapes of a painted body that have no colour get its own, which is given.
    """

    @functools.cache
    def drawn(_key: str, layer: int, name: str) -> Geometry:
        body = bodies[name]
        geometry = shapes.body_geometry(body, holds[name], model.files, least, SWELLS[layer], share)
        if not body.shapes or any(shape.type == "mesh" for shape in body.shapes):
            return geometry
        depth = min(INSET[0] * least, INSET[1] * float(np.ptp(geometry.vertices, axis=0).min()))
        return _inset(geometry, layer * depth) if layer else geometry

    first: dict[tuple[str, int], str] = {}
    looks = {}
    layers = layers_of_bodies(model)
    bodies = dict(model.bodies) | {
        name: _painted(model.bodies[name], color, model.files) for name, color in painted.items()
    }
    for name, body in bodies.items():
        key = repr((body, holds[name])), layers[name]
        looks[name] = drawn(*key, first.setdefault(key, name))
    return looks


def _is_painted(body: Body, model: Model) -> bool:
    """Whether a body has shapes with colours of their own, or meshes with those of their files."""
    return any(shape.color or shapes.own_colors(shape, model.files) is not None for shape in body.shapes)


def _plain(model: Model, painted: list[str]) -> list[str]:
    """Bodies of a robot, of which most have colours of their own, that have none: they are grey."""
    clad = [name for name, body in model.bodies.items() if _is_clad(body)]
    bare = [name for name in clad if name not in painted]
    return bare if 2 * len(bare) < len(clad) else []


def _painted(body: Body, color: str, files: Files | None) -> Body:
    """The body with this colour for shapes that have none."""
    given = [shape.color or (color if shapes.own_colors(shape, files) is None else None) for shape in body.shapes]
    colored = (shape.replaced({"color": each}) for shape, each in zip(body.shapes, given, strict=True))
    return body.replaced({"shapes": tuple(colored)})


def _inset(geometry: Geometry, depth: float) -> Geometry:
    """The geometry with its faces deeper by `depth`: every corner moves against the sum of the normals that meet there."""
    grid = np.round(geometry.vertices / (1e-6 * np.ptp(geometry.vertices, axis=0).max()))
    corner = np.unique(grid, axis=0, return_inverse=True)[1].ravel()
    sums = np.zeros((corner.max() + 1, 3))
    np.add.at(sums, corner, geometry.normals)
    deepest = np.ones(len(sums))  # that a face at the corner would be, if it moved by the sum
    np.maximum.at(deepest, corner, np.einsum("vi,vi->v", geometry.normals, sums[corner]))
    return geometry._replace(vertices=geometry.vertices - depth * (sums / deepest[:, None])[corner])


def _share(model: Model, triangles: int | None) -> float:
    """The share of the triangles of all meshes that are shown, of which there may be so many."""
    if triangles is None:
        return 1.0
    total = max(1, triangles_of(model))
    return min(triangles, total) / total


def triangles_of(model: Model) -> int:
    """The number of triangles of all meshes of a model."""
    meshes = [shape for body in model.bodies.values() for shape in body.shapes if isinstance(shape, Mesh)]
    return sum(len(read_mesh(mesh, model.files).faces) for mesh in meshes)


def _is_clad(body: Body | None) -> bool:
    """Whether a body has a mesh for viewing only, as the links of robots have: it looks as it is, and needs no pins of joints."""
    shapes_of = () if body is None else body.shapes
    return any(isinstance(shape, Mesh) and not has_volume(shape) for shape in shapes_of)


def _without_inertias(model: Model) -> Model:
    """The model without masses of bodies without shapes where others are clad: these are drawn as bars between their joints."""
    if not any(_is_clad(body) for body in model.bodies.values()):
        return model
    bare = Body().replaced(Body().canonical())
    return model.replaced({"bodies": {name: body if body.shapes else bare for name, body in model.bodies.items()}})


def _marks(model: Model) -> set[str]:
    """Bodies that are mere places, as the flanges of robots: without mass and shapes, and welded, where others have shapes."""
    if not any(body.shapes for body in model.bodies.values()):
        return set()
    moving = {each for joint in model.joints.values() if joint.motions() for each in (joint.parent, joint.child)}
    tied = {each for _, _, ends in _between(model) for each, _ in ends}
    bare = {name for name, body in model.bodies.items() if not body.shapes and is_massless(body)}
    return bare - moving - tied


def layers_of_bodies(model: Model) -> dict[str, int]:
    """One of a few numbers for every body, other than those of bodies tied to it and, if it can be, of others tied to these."""
    ties: networkx.Graph = networkx.Graph()
    ties.add_nodes_from(model.bodies)
    ties.add_edges_from(each for joint in model.joints.values() if WORLD not in (each := (joint.parent, joint.child)))
    found: dict[str, int] = {}
    for name in model.bodies:
        tied = {found.get(other) for other in ties[name]}
        near = [found.get(other) for body in ties[name] for other in (body, *ties[body])]
        found[name] = min(range(len(SWELLS)), key=lambda layer: (layer in tied, near.count(layer)))
    return found


def _colors(names: list[str]) -> dict[str, str]:
    """A colour for every body: one of a few, or, of many, on a gradient."""
    if len(names) <= len(COLOURS):
        return dict(zip(names, COLOURS, strict=False))
    stops = np.array([shapes.rgb(color) for color in GRADIENT])
    at = np.linspace(0, len(stops) - 1, len(names))
    mixed = np.stack([np.interp(at, np.arange(len(stops)), channel) for channel in stops.T], axis=1)
    return {
        name: "#{:02X}{:02X}{:02X}".format(*color.round().astype(int)) for name, color in zip(names, mixed, strict=True)
    }


def quaternions_of(rotations: Array) -> Array:
    """Quaternions (F, 4) x, y, z, w, without jumps of sign; of one rotation only, if it is constant."""
    quaternions: Array = unit_quaternions(rotations)[:, [1, 2, 3, 0]]
    return quaternions


# -------------------------------------------------------------------------------- between bodies, and the ground


def _links(model: Model, poses: dict[str, Pose], size: float) -> Iterator[Thing]:
    """Springs as coils, dampers and rods of given length as cylinders; all of length 1 along z, scaled."""
    looks: dict[str, tuple[Geometry, float]] = {
        "coil": (shapes.coil(), 0.012 * size),
        "thick rod": (shapes.rod(np.zeros(3), np.array([0.0, 0.0, 1.0]), 1.0), 0.006 * size),
        "thin rod": (shapes.rod(np.zeros(3), np.array([0.0, 0.0, 1.0]), 1.0), 0.004 * size),
    }
    for name, look, ends in _between(model):
        geometry, radius = looks[look]
        yield _thing(name, "link", geometry, METAL, Spanned(ends, radius, 1e-6 * size), poses)


def _joints(model: Model, poses: dict[str, Pose], looks: dict[str, Geometry], size: float) -> Iterator[Thing]:
    """Pins of hinges, which move with the parent, and what other joints of the world stand on: balls and rails."""
    for name, joint in model.joints.items():
        ends = [
            _End(joint.parent, joint.position, np.eye(3)),
            _End(joint.child, joint.offset, rotation_matrix(joint.orientation).T),
        ]
        end, other = ends if joint.child != WORLD else ends[::-1]
        place = np.array(end.point, dtype=float)
        motions, rail = joint.motions(), _rail(joint)
        if any(_is_clad(model.bodies.get(each.body)) for each in ends):
            continue
        if [motion.kind for motion in motions] == ["turn"]:
            hinge = np.array(motions[0].axis)
            low, high, radius = _pin([each for each in ends if each.body != WORLD], hinge, looks, size)
            axis = end.turn @ hinge
            part = shapes.rod(place + low * axis, place + high * axis, radius)
        elif end.body == WORLD and rail is not None:
            axis = end.turn @ rail
            along = (poses[other.body].point(other.point) - place) @ axis
            margin = RAIL * size
            part = shapes.rod(
                place + (along.min() - margin) * axis, place + (along.max() + margin) * axis, 0.6 * PIN * size
            )
        elif end.body == WORLD and joint.is_pivot:
            part = shapes.ball(place, PIN * size)
        else:
            continue
        yield _thing(name, "joint", part, GREY if end.body == WORLD else DARK, Carried(end.body), poses)


def _frames(model: Model, poses: dict[str, Pose], size: float) -> Iterator[Thing]:
    """The axes of the named frames of bodies."""
    for body in poses:
        for name, frame in model.bodies[body].frames.items() if body != WORLD else ():
            part = shapes.triad(np.array(frame.position), rotation_matrix(frame.orientation), AXIS * size)
            yield _thing(f"{body}.{name}", "frame", part, WHITE, Carried(body), poses)


def _rail(joint: Joint) -> Array | None:
    """The axis of the line on which a joint moves its place and which its other motions leave as it is; None if there is none."""
    lines = [motion for motion in joint.motions() if motion.kind in ("slide", "screw")]
    if len(lines) != 1:
        return None
    is_fixed = all(motion.kind != "quaternion" and motion.axis == lines[0].axis for motion in joint.motions())
    return np.array(lines[0].axis) if is_fixed or joint.parent == WORLD else None


def _guides(model: Model, system: System, q: Array, poses: dict[str, Pose], size: float) -> Iterator[Thing]:
    """Lines, borders of planes, and curves that guide points, which move with their body, and the points."""
    for name, guide in guides(model).items():
        (body_a, _), (body_b, point_b) = guide.of, guide.guided
        pose, held = poses[body_a], poses[body_b]
        way = np.einsum("fji,fj->fi", pose.rotations, held.point(point_b) - pose.places)
        column: int = system.homes.curves.get(name, 0)  # type: ignore[union-attr]
        lines = wires(guide, way, q[:, column], size, WIRE * PIN * size)
        bead = shapes.ball(np.array(point_b, dtype=float), 0.8 * PIN * size)
        for title, body, part in ((name, body_a, lines), (f"{name} point", body_b, bead)):
            yield _thing(title, "joint", part, GREY if body == WORLD else DARK, Carried(body), poses)


class _End(NamedTuple):
    """The body that a joint's frame belongs to, the joint's place in that body's frame, and the rotation (3, 3) into it."""

    body: str
    point: Any
    turn: Array


def _pin(ends: Sequence[_End], axis: Array, looks: dict[str, Geometry], size: float) -> tuple[float, float, float]:
    """Where a pin begins and ends along an axis, and its radius, through two bodies that turn, or one that turns in the world.

    It is not longer than the smaller of the bodies.
    """
    vertices = [looks[end.body].vertices - np.array(end.point, dtype=float) for end in ends]
    sizes = [float(np.linalg.norm(np.ptp(each, axis=0))) for each in vertices]
    radius = min([PIN * size, *(0.045 * each for each in sizes)])
    reaches = [_along(each, end.turn @ axis, radius) for each, end in zip(vertices, ends, strict=True)]
    most = max(2 * radius, min(sizes) / 2)
    low = max(-most, min(-2 * radius, *(each[0] for each in reaches)))
    return low, min(most, max(2 * radius, *(each[1] for each in reaches))), radius


def _along(vertices: Array, axis: Array, radius: float) -> tuple[float, float]:
    """The two ends of the part of an axis that a body reaches near it, and a little more."""
    along = vertices @ axis
    near = along[np.linalg.norm(vertices - along[:, None] * axis, axis=1) < 2.5 * radius]
    return float(near.min(initial=0.0)) - 0.6 * radius, float(near.max(initial=0.0)) + 0.6 * radius


# ------------------------------------------------------------------------------------------------ extents


def _size(model: Model, holds: dict[str, list[Array]], poses: dict[str, Pose]) -> float:
    """The diagonal of the box around all bodies at all times, and around the joints of the world."""
    rows = _rows(len(poses[WORLD].places))
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for name, body in model.bodies.items():
        for point in _corners(shapes.reach(body, holds[name], model.files)):
            places = poses[name].places[rows] + poses[name].rotations[rows] @ point
            low, high = np.minimum(low, places.min(axis=0)), np.maximum(high, places.max(axis=0))
    for hold in holds[WORLD]:
        low, high = np.minimum(low, hold), np.maximum(high, hold)
    return float(np.linalg.norm(high - low)) or 1.0


def _rows(count: int) -> Array:
    return np.unique(np.linspace(0, count - 1, SAMPLES).round().astype(int))


def _corners(points: Array) -> Array:
    """The corners of the box around points, if these are many."""
    if len(points) <= 8:
        return points
    low, high = points.min(axis=0), points.max(axis=0)
    return np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T


def _extent(things: Sequence[Thing]) -> Array:
    """Points of the convex hull of all things at all times, or all if they lie in a plane."""
    from scipy.spatial import ConvexHull, QhullError

    clouds = []
    for thing in things:
        rows = _rows(len(thing.places))
        corners = _corners(thing.geometry.vertices)
        clouds.append((thing.places[rows, None] + corners @ thing.rotations()[rows].transpose(0, 2, 1)).reshape(-1, 3))
    cloud = np.concatenate(clouds)
    try:
        hull = cloud[ConvexHull(cloud).vertices]
    except QhullError:
        hull = cloud
    return hull[_rows(len(hull))] if len(hull) > 5 * SAMPLES else hull


def _floor(model: Model, things: Sequence[Thing], extent: Array, up: Array, size: float) -> float:
    """The height of the floor: where a robot stands that is fixed to the world; else below all that is ever seen."""
    bodies = [thing for thing in things if thing.kind == "body"]
    fixed = [each for each in bodies if _is_still(each) and _is_clad(model.bodies[each.name])]
    foot = min((_lowest(each, up) for each in fixed), default=np.inf)
    is_standing = foot < min(_lowest(each, up) for each in bodies) + STANDING * _spread(bodies)
    return (foot if is_standing else float((extent @ up).min())) - 0.004 * size


def _is_still(thing: Thing) -> bool:
    """Whether a thing never moves."""
    return bool(np.all(thing.places == thing.places[0]) and np.all(thing.quaternions == thing.quaternions[0]))


def _lowest(thing: Thing, up: Array) -> float:
    """The height of the lowest point of a thing at the start."""
    return float(thing.places[0] @ up + (thing.geometry.vertices @ thing.rotations()[0].T @ up).min())


def _spread(things: Sequence[Thing]) -> float:
    """The diagonal of the box around things at the start."""
    clouds = [each.places[0] + _corners(each.geometry.vertices) @ each.rotations()[0].T for each in things]
    return float(np.linalg.norm(np.ptp(np.concatenate(clouds), axis=0)))


def _view(extent: Array, up: Array) -> Array:
    """The unit vector towards the camera, which stands above and to one side, but more in front of a scene that is flat."""
    across = shapes.rotation_to(up)[:, :2]
    flat = (extent - extent.mean(axis=0)) @ across
    broad = np.linalg.svd(flat, full_matrices=False)[2][0] @ across.T
    broad *= np.sign(broad[np.argmax(np.abs(broad))])  # to the right
    front = np.cross(broad, up)
    widths = np.ptp(flat @ across.T @ np.stack([broad, front], axis=1), axis=0)
    is_flat = widths[1] < 0.45 * widths[0]
    azimuth, elevation = np.radians((20.0, 12.0) if is_flat else (35.0, 20.0))
    aside = np.cos(azimuth) * front + np.sin(azimuth) * broad
    return np.cos(elevation) * aside + np.sin(elevation) * up


def _tip(look: Geometry, holds: Sequence[Array], center: Array) -> Array:
    """The end of the line through the centre of mass of a body that is held at one place; else the centre of mass."""
    if len(holds) != 1 or np.linalg.norm(center - holds[0]) < 1e-9:
        return center
    direction = center - holds[0]
    direction = direction / np.linalg.norm(direction)
    return holds[0] + direction * ((look.vertices - holds[0]) @ direction).max()


def _trails(
    model: Model,
    poses: dict[str, Pose],
    looks: dict[str, Geometry],
    holds: dict[str, list[Array]],
    colors: dict[str, str],
    names: Sequence[str] | None,
    size: float,
) -> tuple[Trail, ...]:
    if names is not None:
        points = {name: _point(model, name) for name in names}
    else:
        tips = {name: _tip(looks[name], holds[name], _point(model, name)[1]) for name in model.bodies}
        ways = {name: poses[name].point(tip) for name, tip in tips.items()}
        lengths = {name: float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum()) for name, way in ways.items()}
        furthest = max(lengths, key=lengths.__getitem__)
        points = {furthest: (furthest, tips[furthest])} if lengths[furthest] > STILL * size else {}
    return tuple(
        Trail(name, colors[body], poses[body].point(point), body, point) for name, (body, point) in points.items()
    )


def _point(model: Model, name: str) -> tuple[str, Array]:
    """The body and the point, in its frame, that a trail names."""
    body_name, point = _body_and_point(model, name)
    if body_name not in model.bodies:
        raise ModelError(f"trail: {wrong('the name of a body', repr(body_name), nearest(body_name, model.bodies))}")
    body = model.bodies[body_name]
    if point == "origin" or (not point and is_massless(body)):
        return body_name, np.zeros(3)
    if point in ("", "center_of_mass"):
        return body_name, checked_properties(body, model.files).center_of_mass
    if point not in body.points and point not in body.frames:
        known = ["origin", "center_of_mass", *body.points, *body.frames]
        raise ModelError(f"trail: {wrong(f'a point of {body_name!r}', repr(point), nearest(point, known))}")
    return body_name, body.place(point)


def _body_and_point(model: Model, name: str) -> tuple[str, str]:
    """The names of a body and of its point, if any, in a name with dots, which either of them may have too."""
    ends = [len(name), *(i for i in reversed(range(len(name))) if name[i] == ".")]
    end = next((end for end in ends if name[:end] in model.bodies), ends[-1])
    return name[:end], name[end + 1 :]
