"""Inverse kinematics: coordinates with which frames are where they should be, loops closed and limits kept.

    min ½ Σ w² |x − x*|² + ½ Σ u² |log R R*ᵀ|²      with  g(t, q) = 0  and  lower ≤ q ≤ upper

by steps δ along the tangent space that are damped, of Levenberg's and Marquardt's kind, J the Jacobian of the weighted misses r:

    min |J δ + r|² + μ |δ|²      with  G δ = 0      and then Newton's method back onto g = 0.

A coordinate at a limit that a step would leave stays there. The gradient of ½ θ², θ the angle of a rotation, is exactly its
rotation vector, so that what is found is a minimum also where a target cannot be reached.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError
from mbvi.floats import as_floats
from mbvi.model.arguments import check_flag, check_kind, checked_count, checked_number, checked_vector
from mbvi.model.expressions import nearest, show, wrong
from mbvi.model.rotations import quaternion, rotation_matrix
from mbvi.system.initial import tree_system
from mbvi.system.reactions import embedded_coordinates
from mbvi.system.redundancy import null_space
from mbvi.system.system import System

Array = np.ndarray
MOST_STEPS = 300
CLOSED = 1e-13  # constraint that counts as satisfied, relative to the size of coordinates
CLOSING_STEPS = 12
LONGEST_STEP = 0.5  # change of a coordinate in one step [rad, m]
FLAT = 1e-15  # gain of a step, relative to the sum of squares, from which on nothing is gained any more
NOTHING = 1e-13  # entry of a constraint Jacobian that is rounding
SMALLEST, LARGEST = 1e-14, 1e8  # damping
KEYS = ("place", "rotation", "place_weight", "rotation_weight")


class Miss(NamedTuple):
    """How far a frame is from its target.

    frame      str
    distance   float   of its origin from the place; 0 if none was asked for [m]
    angle      float   of its orientation from the rotation; 0 if none was asked for [rad]
    """

    frame: str
    distance: float
    angle: float

    def __str__(self) -> str:
        return f"{self.frame} by {self.distance:.3g} m and {np.rad2deg(self.angle):.3g} deg"


@dataclass(frozen=True, eq=False)
class Posture:
    """Coordinates with which frames are at, or as near as possible to, their targets.

    Attributes
    ----------
    q : ndarray (n,)
        Coordinates, with loops closed and limits kept.
    misses : tuple of Miss
        The miss of every target.
    is_reached : bool
        Whether all misses are within the tolerance.
    starts : int
        From how many starts it was looked for.
    at_limits : tuple of str
        Coordinates that are at one of their limits.
    """

    q: Array
    misses: tuple[Miss, ...]
    is_reached: bool
    starts: int
    at_limits: tuple[str, ...]

    def __repr__(self) -> str:
        """What is missed."""
        missed = "; ".join(map(str, self.misses))
        return f"<Posture: {'reached' if self.is_reached else 'missed'}: {missed}>"


class _Target(NamedTuple):
    frame: str
    place: Array | None
    rotation: Array | None
    place_weight: float
    rotation_weight: float


def inverse_kinematics(
    system: System,
    targets: Mapping[str, Any],
    start: ArrayLike | None = None,
    *,
    starts: int = 1,
    seed: int = 0,
    t: float = 0.0,
    tolerance: float = 1e-9,
    nearest_if_missed: bool = False,
) -> Posture:
    """Coordinates with which frames are where they should be.

    Parameters
    ----------
    system : System
        The system of a model.
    targets : mapping of str to (3,) or mapping
        For bodies, or BODY.FRAME of their named frames: a place in the world [m], or a mapping with ``place``, ``rotation`` (a
        rotation vector [rad], a quaternion w, x, y, z or a matrix, frame to world), or both, and ``place_weight`` and
        ``rotation_weight`` [m/rad], 1 by default, which count where not all can be reached.
    start : (n,), optional
        Coordinates to start from; by default the initial ones.
    starts : int
        Number of starts: the first is `start`, the others are random, within the limits.
    seed : int
        The seed of the random starts.
    t : float
        Time at which prescribed motions are taken [s].
    tolerance : float
        Miss that counts as none [m and rad].
    nearest_if_missed : bool
        Whether coordinates that come nearest are given where a target is missed, instead of an error.

    Returns
    -------
    Posture

    Raises
    ------
    ModelError
        If a target is missed, there is no such frame, loops cannot be closed, or an argument is wrong.

    Examples
    --------
    >>> import mbvi
    >>> arm = mbvi.Body(mass=1, frames={"tool": {"position": (1, 0, 0)}})
    >>> pivot = mbvi.Revolute(parent="world", child="arm", axis=(0, 0, 1))
    >>> system = mbvi.assemble(mbvi.Model(name="arm", bodies={"arm": arm}, joints={"pivot": pivot}))
    >>> inverse_kinematics(system, {"arm.tool": (0, 1, 0)}).q.round(9).tolist()
    [1.570796327]
    >>> inverse_kinematics(system, {"arm.tool": (0, 2, 0)}, nearest_if_missed=True)
    <Posture: missed: arm.tool by 1 m and 0 deg>
    """
    check_kind(system, System, "system", "mbvi.assemble makes one of a model")
    asked, count = _targets(system, targets), checked_count(starts, "starts", 1)
    check_flag(nearest_if_missed, "nearest_if_missed")
    bound = checked_number(tolerance, "tolerance", "a number greater than 0", above=0.0)
    search = _Search(system, asked, checked_number(t, "t", "a finite number of seconds"))
    first = system.initial_q if start is None else system._vector(start, "start")
    best, tried = None, 0
    for q in search.starts(first, count, checked_count(seed, "seed", 0)):
        found, tried = search.run(q), tried + 1
        if found is not None and (best is None or search.size(found) < search.size(best)):
            best = found
        if best is not None and search.largest(best) <= bound:
            break
    if best is None:
        remedy = "give a start that is nearer, or more starts"
        raise ModelError(
            f"start: {wrong('coordinates from which loops can be closed within the limits', 'others', remedy)}"
        )
    misses = search.misses(best)
    posture = Posture(best, misses, search.largest(best) <= bound, tried, search.at_limits(best))
    if not posture.is_reached and not nearest_if_missed:
        missed = ", ".join(str(miss) for miss in misses if max(miss[1:]) > bound)
        limits = f"; {', '.join(posture.at_limits)} at a limit" if posture.at_limits else ""
        remedy = "move it within reach, take more starts, or set nearest_if_missed=True"
        raise ModelError(f"targets: {wrong('frames that reach their targets', f'{missed} missed{limits}', remedy)}")
    return posture


def _targets(system: System, targets: Any) -> list[_Target]:
    """The targets, checked."""
    if not isinstance(targets, Mapping) or not targets:
        remedy = "write for example {'arm.tool': (0.5, 0, 1)}"
        raise ModelError(f"targets: {wrong('a mapping of frames to places or rotations', show(targets), remedy)}")
    found = []
    for frame, value in targets.items():
        system.frame_pose(frame, system.given_q)  # that there is such a frame
        asked = value if isinstance(value, Mapping) else {"place": value}
        for key in asked:
            if key not in KEYS:
                raise ModelError(f"targets.{frame}: {wrong('known keys', show(key), nearest(str(key), KEYS))}")
        if asked.get("place") is None and asked.get("rotation") is None:
            raise ModelError(f"targets.{frame}: {wrong('a place, a rotation or both', 'neither')}")
        weights = [
            checked_number(asked.get(key, 1.0), f"targets.{frame}.{key}", "a number greater than 0", above=0.0)
            for key in KEYS[2:]
        ]
        found.append(
            _Target(frame, _place(frame, asked.get("place")), _rotation(frame, asked.get("rotation")), *weights)
        )
    return found


def _place(frame: str, value: Any) -> Array | None:
    return None if value is None else checked_vector(value, f"targets.{frame}.place", ("x", "y", "z"))


def _rotation(frame: str, value: Any) -> Array | None:
    """The matrix (3, 3) of a rotation vector, a quaternion or a matrix."""
    if value is None:
        return None
    array = as_floats(value)
    if array is not None and np.isfinite(array).all():
        if array.shape == (3,) or (array.shape == (4,) and abs(np.linalg.norm(array) - 1.0) < 1e-6):
            return rotation_matrix(quaternion(array))
        if array.shape == (3, 3) and np.abs(array @ array.T - np.eye(3)).max() < 1e-6 and np.linalg.det(array) > 0:
            return array
    expected = "a rotation vector (3,), a unit quaternion (4,) or a rotation matrix (3, 3)"
    raise ModelError(f"targets.{frame}.rotation: {wrong(expected, show(value))}")


class _Search:
    """The weighted misses of targets as functions of the coordinates, and steps that make them small."""

    def __init__(self, system: System, targets: Sequence[_Target], t: float) -> None:
        self.system, self.targets, self.t = system, targets, t
        self.lower, self.upper = limits(system)

    def starts(self, first: Array, count: int, seed: int) -> Iterator[Array]:
        """The first start, and random ones, in the embedding those of the joints of its tree: else hardly any loop closes."""
        yield np.clip(first, self.lower, self.upper)
        if count == 1:
            return
        system, random = self.system, np.random.default_rng(seed)
        tree = system if system.model is None or system.homes is None else tree_system(system)
        search = self if tree.coordinate_names == system.coordinate_names else _Search(tree, self.targets, self.t)
        for q in search.random_starts(first if search is self else tree.initial_q, count - 1, random):
            yield q if search is self else embedded_coordinates(tree, system, q[None])[0]

    def random_starts(self, first: Array, count: int, random: np.random.Generator) -> Iterator[Array]:
        """Angles of a turn, displacements and places near the first, quaternions of any; within the limits."""
        reach = np.array([np.pi if unit == "rad" else 1.0 for unit in self.system.coordinate_units])
        lower = np.where(np.isfinite(self.lower), self.lower, first - reach)
        upper = np.where(np.isfinite(self.upper), self.upper, first + reach)
        for _ in range(count):
            q = random.uniform(lower, upper)
            for place in self.quaternions():
                a = random.standard_normal(4)
                q[place] = a / np.linalg.norm(a)
            yield q

    def quaternions(self) -> Iterator[slice]:
        """Where the quaternions stand among the coordinates."""
        names, units = self.system.coordinate_names, self.system.coordinate_units
        for i, (name, unit) in enumerate(zip(names, units, strict=True)):
            if unit == "-" and name.endswith(".qw"):
                yield slice(i, i + 4)

    def run(self, q: Array) -> Array | None:
        """The coordinates (n,) of least weighted misses near a start; None if loops cannot be closed from there."""
        found = self.closed(q, np.zeros(self.system.dimension, bool))
        if found is None:
            return None
        q, damping = found, 1e-3
        size = self.size(q)
        for _ in range(MOST_STEPS):
            q_next = self.stepped(q, damping)
            gain = size - self.size(q_next) if q_next is not None else -1.0
            if q_next is None or gain < 0.0:
                damping *= 8.0
                if damping > LARGEST:
                    break
                continue
            q, size, damping = q_next, size - gain, max(damping / 8.0, SMALLEST)
            if gain <= FLAT * size or size < FLAT**2:
                break
        return q

    def stepped(self, q: Array, damping: float) -> Array | None:
        """After a damped step; None if loops cannot be closed again, or a limit is left."""
        system, r, J = self.system, self.residuals(q), self.jacobian(q)
        G = self.constraint_jacobian(q)
        free = np.ones(system.nv, bool)
        rows = self.rows_of_limits()
        while True:
            step = np.zeros(system.nv)
            step[free] = _damped(J[:, free], r, G[:, free], damping)
            after = system.integrate(q, step)
            blocked = ((q <= self.lower) & (after < q)) | ((q >= self.upper) & (after > q))
            new = [rows[i] for i in np.flatnonzero(blocked).tolist() if i in rows and free[rows[i]]]
            if not new:
                break
            free[new] = False
        change = after - q
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(
                change > 0, (self.upper - q) / change, np.where(change < 0, (self.lower - q) / change, np.inf)
            )
        part = min(
            1.0, float(room.min(initial=np.inf)), LONGEST_STEP / max(float(np.abs(step).max(initial=0.0)), 1e-300)
        )
        fixed = np.zeros(system.dimension, bool)
        fixed[[i for i, row in rows.items() if not free[row]]] = True
        return self.closed(np.clip(system.integrate(q, part * step), self.lower, self.upper), fixed)

    def closed(self, q: Array, fixed: Array) -> Array | None:
        """Moved onto the constraints by Newton's method, by other coordinates than those fixed; None if that fails."""
        system = self.system
        rows = self.rows_of_limits()
        free = np.ones(system.nv, bool)
        free[[rows[i] for i in np.flatnonzero(fixed).tolist() if i in rows]] = False
        for place in self.quaternions():
            q[place] /= np.linalg.norm(q[place])
        for _ in range(CLOSING_STEPS):
            g = system.constraint(q, self.t)
            if np.abs(g).max(initial=0.0) <= CLOSED * max(1.0, np.abs(q).max(initial=0.0)):
                is_inside = (q >= self.lower - CLOSED) & (q <= self.upper + CLOSED)
                return np.clip(q, self.lower, self.upper) if is_inside.all() else None
            step = np.zeros(system.nv)
            step[free] = -np.linalg.pinv(self.constraint_jacobian(q)[:, free], rcond=1e-9) @ g
            q = system.integrate(q, step)
        return None

    def constraint_jacobian(self, q: Array) -> Array:
        """G (k, nv) along the tangent space."""
        rates: Array = self.system.rates_of_velocity(q, np.eye(self.system.nv))
        G: Array = self.system.constraint_jacobian(q, self.t) @ rates.T
        return np.where(np.abs(G) > NOTHING, G, 0.0)  # norms of quaternions do not change along it

    def residuals(self, q: Array) -> Array:
        """Weighted misses of all targets."""
        from scipy.spatial.transform import Rotation

        parts = []
        for target in self.targets:
            place, rotation = self.system.frame_pose(target.frame, q)
            if target.place is not None:
                parts.append(target.place_weight * (place - target.place))
            if target.rotation is not None:
                turn = Rotation.from_matrix(rotation @ target.rotation.T).as_rotvec()
                parts.append(target.rotation_weight * turn)
        return np.concatenate(parts)

    def jacobian(self, q: Array) -> Array:
        """Jacobian of the weighted misses (., nv), where they are small; the gradient of half their squares is exact anywhere."""
        parts = []
        for target in self.targets:
            J = self.system.frame_jacobian(target.frame, q)
            if target.place is not None:
                parts.append(target.place_weight * J[:3])
            if target.rotation is not None:
                parts.append(target.rotation_weight * J[3:])
        return np.concatenate(parts)

    def size(self, q: Array) -> float:
        """The sum of the squares of the weighted misses."""
        r = self.residuals(q)
        return float(r @ r)

    def misses(self, q: Array) -> tuple[Miss, ...]:
        """The miss of every target, without weights."""
        from scipy.spatial.transform import Rotation

        found = []
        for target in self.targets:
            place, rotation = self.system.frame_pose(target.frame, q)
            distance = 0.0 if target.place is None else float(np.linalg.norm(place - target.place))
            turn = None if target.rotation is None else Rotation.from_matrix(rotation @ target.rotation.T)
            found.append(Miss(target.frame, distance, 0.0 if turn is None else float(turn.magnitude())))
        return tuple(found)

    def largest(self, q: Array) -> float:
        """The largest of all distances and angles."""
        return max(max(miss.distance, miss.angle) for miss in self.misses(q))

    def rows_of_limits(self) -> dict[int, int]:
        """The entry of a velocity of every coordinate that is no component of a quaternion."""
        velocities = {name: row for row, name in enumerate(self.system.velocity_names)}
        names = self.system.coordinate_names
        return {i: velocities[name] for i, name in enumerate(names) if name in velocities}

    def at_limits(self, q: Array) -> tuple[str, ...]:
        """Names of coordinates at a limit."""
        is_at = (q <= self.lower) | (q >= self.upper)
        return tuple(name for name, each in zip(self.system.coordinate_names, is_at, strict=True) if each)


def limits(system: System) -> tuple[Array, Array]:
    """The lower and upper limits (n,) of the coordinates; infinite where a model has none."""
    lower, upper = np.full(system.dimension, -np.inf), np.full(system.dimension, np.inf)
    joints = system.model.resolved().joints if system.model is not None else {}
    places = {name: i for i, name in enumerate(system.coordinate_names)}
    for name, joint in joints.items():
        for short, each in joint.limits.items():
            if (i := places.get(f"{name}.{short}")) is not None:
                lower[i] = -np.inf if each.lower is None else float(each.lower)
                upper[i] = np.inf if each.upper is None else float(each.upper)
    return lower, upper


def _damped(J: Array, r: Array, G: Array, damping: float) -> Array:
    """The δ of least |J δ + r|² + μ |δ|² with G δ = 0."""
    basis = null_space(G).T if len(G) else np.eye(J.shape[1])
    reduced = J @ basis
    weight = np.sqrt(damping)
    matrix = np.concatenate([reduced, weight * np.eye(basis.shape[1])])
    right = np.concatenate([-r, np.zeros(basis.shape[1])])
    step: Array = basis @ np.linalg.lstsq(matrix, right, rcond=None)[0]
    return step
