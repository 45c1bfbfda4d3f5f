"""Closed surfaces of triangles: whether they are closed, what they enclose, and what is odd about their shells.

A surface is closed if its boundary is zero: every edge a → b of a face is met by as many edges b → a of others. Then the
divergence theorem gives volume, centre and inertia, of bodies that touch too. All of it is done in coordinates about the
surface's own centre, in which its largest extent is 1: a part far from the origin has the inertia that it has near it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbvi.errors import ModelError
from mbvi.model.expressions import show, wrong
from mbvi.model.rounding import excess, nearest_inertia

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROUND_OFF = 1e-12  # part of the volume, and of the inertia's trace, that is round-off
INSIDE = 0.9  # winding number from which a point is inside, which on a surface is at most 7/8 at a corner
MOST_SHELLS = 200  # number of the largest shells that are tested for how they lie in each other
MOST_NAMED = 5


class Surface(NamedTuple):
    """Triangles with their vertices, one at each place.

    vertices   (n, 3)  in the unit of the file
    faces      (m, 3)  indices of their vertices
    numbers    (m,)    their numbers in the file, from 0; those with less than three vertices are left out
    colors     (m, 3)  red, green and blue from 0 to 1, in sRGB, not a number where there is none; None if there are none
    """

    vertices: Floats
    faces: Ints
    numbers: Ints
    colors: Floats | None = None

    @property
    def bounds(self) -> Floats:
        """The least and the largest coordinates, (2, 3)."""
        return np.array([self.vertices.min(axis=0), self.vertices.max(axis=0)])

    @property
    def size(self) -> float:
        """The largest extent."""
        return float(np.ptp(self.bounds, axis=0).max())

    def triangles(self) -> Floats:
        """The corners (m, 3, 3), in coordinates about the centre in which the largest extent is 1."""
        return ((self.vertices - self.bounds.mean(axis=0)) / self.size)[self.faces]


def surface_of(corners: Floats) -> Surface:
    """The surface of triangles (m, 3, 3), at least one: corners at one place are one vertex, as at the seams of textures."""
    from trimesh.grouping import unique_rows

    places = corners.reshape(-1, 3)
    low, high = places.min(axis=0), places.max(axis=0)
    size = float((high - low).max()) or 1.0
    unique, inverse = unique_rows((places - (low + high) / 2) / size)
    faces = inverse.reshape(-1, 3)
    is_face = (faces != np.roll(faces, 1, axis=1)).all(axis=1)
    return Surface(places[unique], faces[is_face], np.flatnonzero(is_face))


def volume_of(surface: Surface, name: str) -> tuple[float, Floats, Floats]:
    """Volume, its centre, and its inertia about the centre at density 1, of a closed surface, in powers of the file's unit.

    Raises
    ------
    ModelError
        If it is not closed, or what it encloses is not a body.
    """
    from trimesh.triangles import mass_properties

    if (found := defects(surface)) and defects(surface := _without_flat(surface)):
        raise ModelError(wrong("a closed surface", f"{name!r} with {found[0]}", found[1]))
    triangles = surface.triangles() if len(surface.faces) else np.zeros((1, 3, 3))
    parts = signed_volumes(triangles)
    if not parts.sum() > ROUND_OFF * np.abs(parts).sum():
        found_volume, is_turned = f"{parts.sum() * surface.size**3:.6g} in {name!r}", parts.sum() < -ROUND_OFF
        remedy = "flip its faces" if is_turned else "it encloses nothing"
        raise ModelError(wrong("a mesh of positive volume", found_volume, remedy))
    values = mass_properties(triangles)
    volume, inertia = float(values["volume"]), np.array(values["inertia"], dtype=float)
    moments = np.linalg.eigvalsh(inertia)
    if excess(moments) > ROUND_OFF * moments.sum():
        remedy = "its shells enclose less than they leave out; check how they are turned"
        raise ModelError(
            wrong("a mesh with the inertia of a body", f"moments {show(moments.tolist())} in {name!r}", remedy)
        )
    size, center = (
        surface.size,
        surface.bounds.mean(axis=0) + surface.size * np.array(values["center_mass"], dtype=float),
    )
    return volume * size**3, center, nearest_inertia(inertia) * size**5


def signed_volumes(triangles: Floats) -> Floats:
    """The volumes of the tetrahedra of triangles (m, 3, 3) and the origin, positive if it sees their insides."""
    a, b, c = np.moveaxis(triangles, 1, 0)
    return np.asarray(np.einsum("ij,ij->i", a, np.cross(b, c)) / 6)


# ---------------------------------------------------------------------------------------------- what is not closed


class Edges(NamedTuple):
    """The edges of a surface, each once.

    ends       (e, 2)  vertices
    counts     (e,)    how many faces have it
    net        (e,)    of how many more in one direction than in the other
    of_faces   (3 m,)  the edge of every side of the faces
    """

    ends: Ints
    counts: Ints
    net: Ints
    of_faces: Ints


def edges_of(surface: Surface) -> Edges:
    """The edges of a surface."""
    sides = surface.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    low, high = sides.min(axis=1), sides.max(axis=1)
    keys, of_faces, counts = np.unique(low * len(surface.vertices) + high, return_inverse=True, return_counts=True)
    net = np.bincount(of_faces, weights=np.where(sides[:, 0] == low, 1, -1), minlength=len(keys))
    return Edges(np.column_stack(np.divmod(keys, len(surface.vertices))), counts, net.astype(np.int64), of_faces)


def defects(surface: Surface) -> tuple[str, str] | None:
    """What keeps a surface from being closed, of which faces, and what to do; nothing if it is closed."""
    edges = edges_of(surface)
    if not edges.net.any():
        return None
    kinds = [*_flat(surface, edges), *_crowded(surface, edges), *_turned(surface, edges), *_holes(surface, edges)]
    where = f" (counted from 0, in the file's order; near {show(_place(surface, edges).tolist())})"
    return " and ".join(found for found, _ in kinds) + where, ", ".join(remedy for _, remedy in kinds)


def _place(surface: Surface, edges: Edges) -> Floats:
    """The middle of the first edge that is not met."""
    return np.asarray(surface.vertices[edges.ends[np.argmax(edges.net != 0)]].mean(axis=0))


def _at(edges: Edges, is_wrong: NDArray[np.bool_]) -> Ints:
    """The faces at some edges."""
    return np.flatnonzero(is_wrong[edges.of_faces].reshape(-1, 3).any(axis=1))


def _named(surface: Surface, faces: Ints) -> str:
    """Some faces by their numbers, in a text such as face 3, or faces 1, 2, 5, … (12)."""
    numbers = surface.numbers[faces].tolist()
    more = f", … ({len(numbers)})" if len(numbers) > MOST_NAMED else ""
    return f"face{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers[:MOST_NAMED]))}{more}"


def _is_flat(surface: Surface) -> NDArray[np.bool_]:
    from trimesh.triangles import area

    return np.asarray(area(surface.triangles()) <= ROUND_OFF)


def _without_flat(surface: Surface) -> Surface:
    """A surface without the faces without area, which enclose nothing."""
    is_kept = ~_is_flat(surface)
    return surface._replace(faces=surface.faces[is_kept], numbers=surface.numbers[is_kept])


def _flat(surface: Surface, edges: Edges) -> Iterator[tuple[str, str]]:
    """Faces without area among those at edges that are not met."""
    faces = _at(edges, edges.net != 0)
    faces = faces[_is_flat(surface)[faces]]
    if len(faces):
        yield f"{_named(surface, faces)} without area", "remove what has none"


def _crowded(surface: Surface, edges: Edges) -> Iterator[tuple[str, str]]:
    is_wrong = (edges.counts > 2) & (edges.net != 0)
    if is_wrong.any():
        edge = f"{is_wrong.sum()} edge{'s' if is_wrong.sum() > 1 else ''}"
        found = f"{edge} of more than two faces, at {_named(surface, _at(edges, is_wrong))}"
        yield found, "give every body faces of its own"


def _turned(surface: Surface, edges: Edges) -> Iterator[tuple[str, str]]:
    """Faces turned against their neighbours: of parts that are joined by edges of one direction each, all but the largest."""
    from trimesh.graph import connected_component_labels

    if not ((edges.counts == 2) & (edges.net != 0)).any():
        return
    pairs, net = _pairs(edges)
    count = len(surface.faces)
    parts = connected_component_labels(pairs[net == 0], node_count=count)
    bodies = connected_component_labels(pairs, node_count=count)
    sizes = np.bincount(parts)[parts]
    largest = np.zeros(bodies.max() + 1, dtype=np.int64)
    np.maximum.at(largest, bodies, sizes)
    is_other = sizes < largest[bodies]
    faces = np.flatnonzero(is_other) if is_other.any() else _at(edges, (edges.counts == 2) & (edges.net != 0))
    yield (
        f"{_named(surface, faces)} turned against {'its' if len(faces) == 1 else 'their'} neighbours",
        "flip what is turned",
    )


def _pairs(edges: Edges) -> tuple[Ints, Ints]:
    """The pairs of faces (k, 2) that have an edge in common, of edges with two of them, and the net direction of these edges."""
    order = np.argsort(edges.of_faces, kind="stable")
    first = np.cumsum(edges.counts) - edges.counts
    is_two = edges.counts == 2
    return np.column_stack([order[first[is_two]] // 3, order[first[is_two] + 1] // 3]), edges.net[is_two]


def _holes(surface: Surface, edges: Edges) -> Iterator[tuple[str, str]]:
    """Edges of one face, joined to the boundaries of holes."""
    from trimesh.graph import connected_component_labels

    is_wrong = edges.counts == 1
    if not is_wrong.any():
        return
    labels = connected_component_labels(edges.ends[is_wrong], node_count=len(surface.vertices))
    count = np.count_nonzero(np.bincount(labels[edges.ends[is_wrong, 0]]))
    holes = f"{count} holes" if count > 1 else "a hole"
    faces = _named(surface, _at(edges, is_wrong))
    yield f"{holes} of {is_wrong.sum()} edges, at {faces}", f"close {'them' if count > 1 else 'it'}"


# -------------------------------------------------------------------------------------------------- what is odd


def odd_shells(surface: Surface) -> str:
    """What is odd about how the shells of a closed surface lie in each other, the first found; empty if nothing is.

    A point of a shell has the winding number of the others around it: the sum of their triangles' solid angles over 4π. It is 0
    for a shell turned outwards, and 1 for one turned inwards, which bounds a cavity of another.
    """
    from trimesh.graph import connected_component_labels

    triangles, edges = surface.triangles(), edges_of(surface)
    order = np.argsort(edges.of_faces, kind="stable") // 3
    is_same = np.diff(np.repeat(np.arange(len(edges.counts)), edges.counts)) == 0
    labels = connected_component_labels(np.column_stack([order[:-1], order[1:]])[is_same], node_count=len(triangles))
    if labels.max() == 0:
        return ""
    shells = np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1])
    volumes = [float(signed_volumes(triangles[shell]).sum()) for shell in shells]
    largest = sorted(range(len(shells)), key=lambda i: -abs(volumes[i]))[:MOST_SHELLS]
    for i in reversed(largest):
        others = [triangles[shells[k]] for k in largest if k != i]
        winding = sum(winding_number(triangles[shells[i][0], 0], other) for other in others)
        if abs(winding - (volumes[i] < 0)) > INSIDE:
            return _odd(surface, shells[i], volumes[i])
    return ""


def _odd(surface: Surface, shell: Ints, volume: float) -> str:
    faces, amount = _named(surface, shell), f"volume of {abs(volume) * surface.size**3:.3g}"
    if volume > 0:
        effect = f"its {amount} counts twice ({faces}); flip it if it bounds a cavity"
        return f"a shell inside another is turned outwards, so that {effect}"
    return f"a shell outside of others is turned inwards, so that its {amount} is taken away ({faces}); flip it"


def winding_number(point: Floats, triangles: Floats) -> float:
    """How often closed triangles (m, 3, 3) go around a point: 1 inside of those turned outwards, 0 outside.

    With the corners a, b, c seen from the point, tan(Ω/2) = a·(b × c) / (abc + (a·b) c + (b·c) a + (c·a) b) of each.

    Source: van Oosterom & Strackee 1983.
    """
    low, high = triangles.min(axis=(0, 1)), triangles.max(axis=(0, 1))
    if np.any(point < low) or np.any(point > high):
        return 0.0
    a, b, c = np.moveaxis(triangles - point, 1, 0)
    x, y, z = (np.linalg.norm(each, axis=1) for each in (a, b, c))
    ab, bc, ca = (np.einsum("ij,ij->i", *pair) for pair in ((a, b), (b, c), (c, a)))
    above = np.einsum("ij,ij->i", a, np.cross(b, c))
    return float(np.arctan2(above, x * y * z + ab * z + bc * x + ca * y).sum() / (2 * np.pi))
