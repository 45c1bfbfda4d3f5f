"""Mass, centre of mass and inertia of a body: explicit values, point masses and shapes, summed.

Primitives have closed forms (a tessellation of a cylinder is 0.6 % light); meshes are integrated by trimesh. A part
of mass m whose centre of mass is at c, with inertia I_c about it, adds I_c + m (|d|² 1 − d dᵀ), d = c − c_body, to
the inertia of the body about the body's centre of mass c_body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbvi.errors import ModelError
from mbvi.model.base import Element
from mbvi.model.expressions import Problem, show, wrong
from mbvi.model.meshes import Files, Volume, mesh_volume
from mbvi.model.rounding import LEAST_RADIUS, ROUND_OFF, ROUNDING, excess, nearest_inertia

if TYPE_CHECKING:
    from mbvi.model.bodies import Body

Floats = NDArray[np.float64]

ZERO = 1e-12  # of the largest principal moment: what rounding leaves of one that is 0
LEAST_LENGTH = 1e-50  # of a shape, whose volume is then not 0


class MassProperties(NamedTuple):
    """Mass, centre of mass and inertia of a rigid body.

    mass             float   [kg]
    center_of_mass   (3,)    in the body frame  [m]
    inertia          (3, 3)  about the centre of mass, along the body axes  [kg m²]
    """

    mass: float
    center_of_mass: Floats
    inertia: Floats


def mass_properties(body: Body, files: Files | Path | None = None) -> MassProperties:
    """The sum of a body's explicit mass properties, point masses and shapes.

    Parameters
    ----------
    body : Body
        A body without expressions, as in `Model.resolved().bodies`.
    files : Files or Path, optional
        The model's mesh files, `Model.files`, or the folder that they are in; the working directory if None.

    Returns
    -------
    MassProperties
        Mass [kg], centre of mass (3,) in the body frame [m] and inertia (3, 3) about the centre of mass [kg m²].

    Raises
    ------
    ModelError
        If a mass is negative, the inertia is not that of a rigid body, or a mesh cannot be used.

    Examples
    --------
    >>> from mbvi.model.bodies import Body, Box
    >>> mass_properties(Body(shapes=[Box(size=(1, 2, 3), density=2)])).mass
    12.0
    """
    if not isinstance(body, Element) or "point_masses" not in type(body).model_fields:
        raise ModelError(f"body: {wrong('a Body', show(body), 'take one of Model.resolved().bodies')}")
    if files is not None and not isinstance(files, Files | Path):
        raise ModelError(f"files: {wrong('Model.files or a folder as a Path', show(files))}")
    for problem in problems(body):
        raise ModelError(str(problem))
    return checked_properties(body, files)


def checked_properties(body: Body, files: Files | Path | None = None) -> MassProperties:
    """`mass_properties` of a body with no `problems`."""
    return _sum([_explicit(body), *_point_masses(body), *_shapes(body, files)])


def problems(body: Body) -> Iterator[Problem]:
    """What is wrong with a body's masses and inertia, short of reading meshes."""
    if float(body.mass) < 0:
        yield Problem(("mass",), wrong("a mass of at least 0", show(body.mass), "change its sign"))
        return
    yield from _inertia_problems(body)
    for name, point in body.point_masses.items():
        if float(point.mass) < 0:
            yield Problem(
                ("point_masses", name, "mass"), wrong("a mass of at least 0", show(point.mass), "change its sign")
            )
    for i, shape in enumerate(body.shapes):
        for key in ("density", "mass"):
            value = getattr(shape, key)
            if value is not None and value < 0:
                yield Problem(("shapes", i, key), wrong(f"a {key} of at least 0", show(value), "change its sign"))
        for key in ("size", "radius", "length", "height", "scale"):
            if getattr(shape, key, None) is not None and (least := np.min(getattr(shape, key))) < LEAST_LENGTH:
                expected = f"lengths {f'of at least {LEAST_LENGTH:g}' if least > 0 else 'greater than 0'}"
                remedy = "write for example 0.1"
                yield Problem(("shapes", i, key), wrong(expected, show(getattr(shape, key)), remedy))


def has_mass(body: Body) -> bool:
    """Whether a body, of numbers only, has mass; no mesh is read."""
    masses = [body.mass, *(point.mass for point in body.point_masses.values())]
    return any([*masses, *(shape.mass or shape.density or 0.0 for shape in body.shapes)])


def is_massless(body: Body) -> bool:
    """True if a body, of numbers only, has neither mass nor inertia; no mesh is read."""
    return not has_mass(body) and not np.any(inertia_matrix(body.inertia))


def is_point_mass(body: Body) -> bool:
    """True if all mass of a body, of numbers only, is at one place, and it has no inertia about it; no mesh is read."""
    parts = [part for part in (_explicit(body), *_point_masses(body)) if part.mass or part.inertia.any()]
    has_shape = any(shape.mass or shape.density for shape in body.shapes)
    is_one = all(np.array_equal(part.center_of_mass, parts[0].center_of_mass) for part in parts)
    return bool(parts) and is_one and not has_shape and not any(part.inertia.any() for part in parts)


def inertia_matrix(inertia: Any) -> Floats:
    """The inertia matrix (3, 3) from [Ixx, Iyy, Izz], [Ixx, Iyy, Izz, Ixy, Ixz, Iyz] or the matrix itself."""
    values = np.array(inertia, dtype=float)
    if values.shape == (3,):
        return np.diag(values)
    if values.shape == (6,):
        xx, yy, zz, xy, xz, yz = values
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return values


def quaternion(orientation: ArrayLike) -> Floats:
    """The unit quaternion (w, x, y, z) of an orientation: a rotation vector (3,) [rad] or a quaternion (4,)."""
    values = np.array(orientation, dtype=float)
    if values.size == 4:
        return values / np.linalg.norm(values)
    angle = float(np.linalg.norm(values))
    return np.array([np.cos(angle / 2), *(values * (np.sinc(angle / (2 * np.pi)) / 2))])


def rotation_matrix(orientation: ArrayLike) -> Floats:
    """The rotation matrix (3, 3) of an orientation: a rotation vector (3,) [rad] or a quaternion (4,)."""
    w, x, y, z = quaternion(orientation)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def _sum(parts: list[MassProperties]) -> MassProperties:
    mass = sum(part.mass for part in parts)
    center = sum((part.mass * part.center_of_mass for part in parts), np.zeros(3)) / (mass or 1.0)
    inertia = sum(
        (part.inertia + _steiner(part.mass, part.center_of_mass - center) for part in parts), np.zeros((3, 3))
    )
    return MassProperties(float(mass), center, (inertia + inertia.T) / 2)


def _steiner(mass: float, d: Floats) -> Floats:
    """Inertia of a point mass at d: m (|d|² 1 − d dᵀ)."""
    return mass * (d @ d * np.eye(3) - np.outer(d, d))


def _explicit(body: Body) -> MassProperties:
    center, about = np.array(body.center_of_mass, dtype=float), _about(body)
    inertia = mended_inertia(body) - (0.0 if about is None else _steiner(float(body.mass), about))
    return MassProperties(float(body.mass), center, inertia)


def _about(body: Body) -> Floats | None:
    """Where the explicit mass's centre is from the point that its inertia is about; None if that is the centre."""
    if body.inertia_about == "center_of_mass":
        return None
    point = (0.0, 0.0, 0.0) if body.inertia_about == "origin" else body.points[body.inertia_about]
    return np.array(body.center_of_mass, dtype=float) - np.array(point, dtype=float)


class _Miss(NamedTuple):
    """By how much a body's inertia misses that of a rigid body.

    given      (3, 3)  as it is given, symmetric  [kg m²]
    own        (3, 3)  the same about the centre of mass
    nearest  (3, 3)    the nearest of a rigid body to that
    asymmetry          largest difference of two products that should be equal
    excess             of the largest principal moment about the centre of mass over the sum of the others
    allowed            what rounding explains of either
    """

    given: Floats
    own: Floats
    nearest: Floats
    asymmetry: float
    excess: float
    allowed: float

    @property
    def is_round_off(self) -> bool:
        """Whether it misses by no more than arithmetic leaves."""
        return max(self.asymmetry, self.excess) <= ROUND_OFF * max(np.abs(self.given).max(), np.abs(self.own).max())


def _miss(body: Body) -> _Miss:
    matrix, about = inertia_matrix(body.inertia), _about(body)
    given = (matrix + matrix.T) / 2
    own = given - (0.0 if about is None else _steiner(float(body.mass), about))
    least = float(body.mass) * LEAST_RADIUS**2
    nearest = nearest_inertia(own) if np.abs(own).max() > least else np.zeros((3, 3))
    allowed = max(ROUNDING * float(np.trace(given)), least)
    asymmetry = float(np.abs(matrix - matrix.T).max())
    return _Miss(given, own, nearest, asymmetry, float(excess(np.linalg.eigvalsh(own))), allowed)


def mended_inertia(body: Body) -> Floats:
    """The inertia matrix (3, 3) of a body, about the point that it is given about; if rounded, the nearest of a rigid body."""
    miss = _miss(body)
    if miss.is_round_off or max(miss.asymmetry, miss.excess) > miss.allowed:
        return inertia_matrix(body.inertia)
    return miss.nearest if _about(body) is None else miss.given + (miss.nearest - miss.own)


def roundings(body: Body) -> Iterator[Problem]:
    """What was mended of the inertia of a body without problems."""
    miss = _miss(body)
    if miss.is_round_off:
        return
    trace = float(np.trace(miss.given))
    if miss.asymmetry > 0:
        yield Problem(
            ("inertia",), f"products differ by {_share(miss.asymmetry, trace)}; taken as rounded, the mean of both"
        )
    if miss.excess > 0:
        before, after = (show(_moments(matrix)) for matrix in (miss.own, miss.nearest))
        found = f"one of the principal moments {before} exceeds the sum of the others by {_share(miss.excess, trace)}"
        yield Problem(("inertia",), f"{found}; taken as rounded, and as {after}")


def _share(value: float, trace: float) -> str:
    """An inertia, and its part of the trace."""
    return f"{value:.3g} kg m²" + (f", {value / trace:.2g} of the trace" if trace > 0 else "")


def _moments(inertia: Floats) -> list[float]:
    """Principal moments, without what rounding leaves of 0."""
    moments = np.linalg.eigvalsh(inertia)
    return [float(each) if abs(each) > ZERO * np.abs(moments).max() else 0.0 for each in moments]


def _inertia_problems(body: Body) -> Iterator[Problem]:
    if not inertia_matrix(body.inertia).any() and body.inertia_about == "center_of_mass":
        return
    miss = _miss(body)
    trace = float(np.trace(miss.given))
    limit = f"rounding explains {ROUNDING:g} of the trace"
    if miss.asymmetry > max(miss.allowed, ROUND_OFF * np.abs(miss.given).max()):
        found = f"{show(inertia_matrix(body.inertia).tolist())}, off by {_share(miss.asymmetry, trace)}"
        yield Problem(("inertia",), wrong("a symmetric matrix", found, limit))
        return
    if miss.is_round_off or miss.excess <= miss.allowed:
        return
    moments, about = _moments(miss.own), " about the center of mass"
    found = show(moments)
    remedy = f"{limit}; check inertia, which is given about the {body.inertia_about}, and mass"
    if moments[0] < -miss.allowed:
        expected, found = f"a positive semidefinite matrix{about}", f"principal moments {found}{about}"
    else:
        expected = "principal moments of which none exceeds the sum of the others"
        found += f"{about}, of which the largest does by {_share(miss.excess, trace)}"
    yield Problem(("inertia",), wrong(expected, found, remedy))


def _point_masses(body: Body) -> Iterator[MassProperties]:
    for point in body.point_masses.values():
        place: Any = body.points[point.position] if isinstance(point.position, str) else point.position
        yield MassProperties(float(point.mass), np.array(place, dtype=float), np.zeros((3, 3)))


def _shapes(body: Body, files: Files | Path | None) -> Iterator[MassProperties]:
    for shape in body.shapes:
        if shape.density is None and shape.mass is None:
            continue
        volume, center, inertia = mesh_volume(shape, files) if shape.type == "mesh" else _PRIMITIVES[shape.type](shape)
        density = float(shape.density) if shape.density is not None else float(shape.mass or 0.0) / volume
        rotation = rotation_matrix(shape.orientation)
        place = np.array(shape.position, dtype=float) + rotation @ center
        yield MassProperties(density * volume, place, density * rotation @ inertia @ rotation.T)


def _box(shape: Any) -> Volume:
    x, y, z = shape.size
    volume = x * y * z
    return volume, np.zeros(3), volume / 12 * np.diag([y**2 + z**2, x**2 + z**2, x**2 + y**2])


def _sphere(shape: Any) -> Volume:
    volume = 4 / 3 * np.pi * shape.radius**3
    return volume, np.zeros(3), volume * 2 / 5 * shape.radius**2 * np.eye(3)


def _cylinder(shape: Any) -> Volume:
    r, l = shape.radius, shape.length
    volume = np.pi * r**2 * l
    across = (3 * r**2 + l**2) / 12
    return volume, np.zeros(3), volume * np.diag([across, across, r**2 / 2])


def _capsule(shape: Any) -> Volume:
    """A cylinder and two half spheres of volume V_s in all, whose centres are 3r/8 beyond its ends."""
    r, l = shape.radius, shape.length
    cylinder, _, inertia = _cylinder(shape)
    sphere = 4 / 3 * np.pi * r**3
    across = sphere * (2 / 5 * r**2 + l**2 / 4 + 3 / 8 * r * l)
    return cylinder + sphere, np.zeros(3), inertia + np.diag([across, across, sphere * 2 / 5 * r**2])


def _cone(shape: Any) -> Volume:
    r, l = shape.radius, shape.height
    volume = np.pi / 3 * r**2 * l
    across = 3 / 80 * (4 * r**2 + l**2)
    return volume, np.array([0.0, 0.0, l / 4]), volume * np.diag([across, across, 3 / 10 * r**2])


_PRIMITIVES: dict[str, Callable[[Any], Volume]] = {
    "box": _box,
    "sphere": _sphere,
    "cylinder": _cylinder,
    "capsule": _capsule,
    "cone": _cone,
}
