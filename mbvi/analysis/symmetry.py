"""Momenta that linear symmetries conserve, found from the system itself by Noether's theorem.

A linear vector field ξ(q) = A q + b is a symmetry when L_q·ξ + L_v·(A v) + F·ξ = 0 for all (q, v) and G ξ = 0;
then J = p·ξ(q) is conserved, by the motion and, exactly, by every Galerkin variational scheme (they are equivariant under
linear maps).
First are tried the motions of all bodies as one, along and about the world's axes, and their combinations: what these conserve
are total momentum and total angular momentum about the world's origin. Coordinates have such a motion where they are places and
quaternions, or where joints that bodies hang in the world by can give it, at all positions, by a linear field.
The other candidates are translations of every coordinate; for every unit quaternion a, its rotations in the frame it hangs in
(a → e ⋆ a) and in its own (a → a ⋆ e); for every place x, y, z of a free joint or a body, or x, y of a planar joint, the
rotations e × x, which become symmetries together with those of its orientation; and for the few coordinates of a system that is
not made from a model, all linear fields. Candidates that follow from the conserved totals are left out. The symmetries are the
linear combinations that vanish at random states; where there are many candidates, only each by itself is tried.

Source: Marsden & West, Acta Numerica 10 (2001), section 1.3.3 (discrete Noether theorem).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mbvi.errors import ModelError
from mbvi.floats import as_floats
from mbvi.kernels import layout
from mbvi.model.arguments import check_kind, checked_names
from mbvi.model.directions import cross
from mbvi.model.expressions import show, wrong
from mbvi.model.fields import WORLD
from mbvi.model.rotations import rotation_matrix
from mbvi.system.given import Motion, joint_motion
from mbvi.system.projection import project_position
from mbvi.system.system import System

Array = np.ndarray
TOLERANCE = 1e-9
MOST_COMBINED = 300
"""With more candidates than this, each is tried by itself only."""
FEW_STATES = 6
LEAST_WEIGHT = 1e-8
"""Weights of a combination, in the measure of the terms of its rate, below this part of the largest are rounding."""
REACHES = (0.3, 0.03, 0.003)
"""How far from the initial position random ones are tried, the largest first."""
SMALLEST_PART = 1e-4
"""Rates are judged against at least this part of the kinetic energy."""
LINEAR, ANGULAR = "kg m/s", "kg m²/s"
MOTION_STATES = 4
"""Number of random states at which it is tested whether a field moves a body as it should."""


@dataclass(frozen=True, eq=False)
class Invariant:
    """A conserved momentum J = Σ p_part·ξ(q_part).

    Attributes
    ----------
    name : str
    parts : tuple of (int, ndarray)
        First coordinate and, for a translation, a vector (1,): ξ = b; for a rotation, of a quaternion or a place, a matrix:
        ξ = A q.
    si : str
        Its unit, or nothing where the coordinates have it.
    """

    name: str
    parts: tuple[tuple[int, Array], ...]
    si: str = ""

    def value(self, q: Array, p: Array) -> Array:
        """J at states q, p (..., n)."""
        q, p = self._states(q=q, p=p)
        total = np.zeros(q.shape[:-1])
        for first, factor in self.parts:
            place = slice(first, first + len(factor))
            field = factor
            if factor.ndim == 2:  # not as a matrix product, whose rounding depends on the number of states
                field = sum(q[..., first + j, None] * factor[:, j] for j in range(len(factor)))
            total = total + np.sum(p[..., place] * field, axis=-1)
        return total

    def unit(self, units: Sequence[str]) -> str:
        """The unit, from those of all coordinates (n,), or nothing where coordinates have none."""
        units = checked_names(units, "units", "the units of all coordinates")
        if len(units) < self._width:
            raise ModelError(f"units: {wrong(f'those of at least {self._width} coordinates', str(len(units)))}")
        return self._unit(units)

    def _unit(self, units: Sequence[str]) -> str:
        """What `unit` finds, of those of a system."""
        if self.si:
            return self.si
        translation = {"m": LINEAR, "rad": ANGULAR}
        used = {
            ANGULAR if factor.ndim == 2 else translation.get(units[first], "")  # a rotation, or along one coordinate
            for first, factor in self.parts
        }
        return used.pop() if len(used) == 1 else ""

    def rate(self, q: Array, v: Array, p: Array, f: Array) -> float:
        """dJ/dt = f·ξ(q) + p·A v at one state, f = ∂L/∂q + F."""
        q, v, p, f = self._states(q=q, v=v, p=p, f=f)
        if q.ndim != 1:
            raise ModelError(f"q: {wrong('one state', f'an array of shape {q.shape}')}")
        return float(_rate(_terms([self]), 1, q, v, p, f)[0])

    @property
    def _width(self) -> int:
        """How many coordinates it needs at least."""
        return max((first + len(factor) for first, factor in self.parts), default=0)

    def _states(self, **values: ArrayLike) -> list[Array]:
        """Arrays of one shape (..., n), by their names."""
        arrays = {what: as_floats(each) for what, each in values.items()}
        shapes = {None if each is None else each.shape for each in arrays.values()}
        for what, each in arrays.items():
            if each is None or not each.ndim or each.shape[-1] < self._width or len(shapes) > 1:
                expected = f"numbers (..., n), at least {self._width} of a state, of the same shape as the others"
                raise ModelError(f"{what}: {wrong(expected, show(values[what]))}")
        return [each for each in arrays.values() if each is not None]


class _Terms(NamedTuple):
    """The entries of the fields ξ of candidates: factor × q[column] in the row of ξ, or factor alone where column is −1."""

    candidate: Array
    row: Array
    column: Array
    factor: Array

    def times(self, x: Array) -> Array:
        """The entries at x, in which the constant of an affine x = (q, 1) or, of rates, (v, 0) is the last."""
        return self.factor * x[self.column]


def find_invariants(system: System) -> tuple[Invariant, ...]:
    """The conserved momenta of a system: total momentum and angular momentum first, then as simple combinations as there are.

    Of functions of your own in Python or SymPy, what they do is looked at in random states near the initial one, at times up to
    10 s: a force of theirs that begins later or acts only far away is not seen.

    Examples
    --------
    >>> import mbvi
    >>> body = mbvi.Body(mass=1, inertia=(1, 2, 2))
    >>> joint = mbvi.Ball(parent="world", child="rotor", coordinates="zxz")
    >>> model = mbvi.Model(name="rotor", bodies={"rotor": body}, joints={"joint": joint})
    >>> [invariant.name for invariant in find_invariants(mbvi.assemble(model))]
    ['angular momentum (z)']
    """
    check_kind(system, System, "system", "mbvi.assemble makes one of a model")
    candidates = _candidates(system)
    positions = _positions_on_constraints(system, len(candidates))
    wholes = _wholes(system, candidates)
    together = [wholes.invariant(twist) for twist in wholes.twists]
    conserved = _conserved(system, together, positions)
    twists = np.array([weights @ wholes.twists[used] for used, weights in conserved]).reshape(-1, 6)
    dropped = _last_entries(twists @ wholes.weights)
    rest = [each for i, each in enumerate(candidates) if i not in dropped]
    found = sorted(map(wholes.invariant, twists), key=_order)
    found += [_combined(rest, *each) for each in _conserved(system, rest, positions)]
    return tuple(each for each, is_new in zip(found, _news(found, len(twists), positions), strict=True) if is_new)


def _news(found: Sequence[Invariant], totals: int, positions: list[tuple[float, Array]]) -> Array:
    """Which fields are not zero wherever constraints hold, nor there the same as a combination of the first, the totals."""
    from scipy.sparse import vstack

    if not positions or not found:
        return np.ones(len(found), bool)
    terms = _terms(found)
    fields = vstack([_fields(terms, len(found), q) for _, q in positions]).tocsc()
    sizes = np.sqrt(np.asarray(fields.multiply(fields).sum(axis=0)).ravel())
    is_new = sizes > TOLERANCE
    U, singular, _ = np.linalg.svd(fields[:, :totals].toarray(), full_matrices=False)
    along = np.linalg.norm(fields.T @ U[:, singular > TOLERANCE * singular.max(initial=0.0)], axis=1)
    is_new[totals:] &= (along < (1.0 - TOLERANCE) * sizes)[totals:]
    return is_new


def _conserved(
    system: System, candidates: Sequence[Invariant], positions: list[tuple[float, Array]]
) -> Iterator[tuple[Array, Array]]:
    """The combinations of candidates that are symmetries: numbers of candidates, and their weights."""
    terms, count = _terms(candidates), len(candidates)
    rates, sizes = _rates(system, terms, count)
    if len(rates) and count:
        yield from _combinations(rates, sizes, _across_constraints(system, terms, count, positions))


def _combined(candidates: Sequence[Invariant], used: Array, weights: Array) -> Invariant:
    """The sum of those candidates with those weights."""
    each = [(candidates[i], float(weight)) for i, weight in zip(used, weights, strict=True)]
    parts = tuple((first, weight * factor) for one, weight in each for first, factor in one.parts)
    return Invariant(_sum_name([(weight, one.name) for one, weight in each]), parts)


def _sum_name(terms: Sequence[tuple[float, str]]) -> str:
    return " + ".join(_term(weight, name) for weight, name in terms).replace("+ -", "- ")


def _order(total: Invariant) -> tuple[bool, bool]:
    """Linear momenta come first, then angular ones, then combinations of them."""
    return total.name not in TOTALS, total.si == ANGULAR


def _last_entries(rows: Array) -> set[int]:
    """A column for each of independent rows, as far to the right as can be, such that these columns are independent too."""
    reduced = _in_echelon_form(rows[:, ::-1])
    return {rows.shape[1] - 1 - int(np.flatnonzero(row)[0]) for row in reduced}


def _with_any_forces(system: System, random: np.random.Generator) -> System:
    """The system with a random straight line for every function: what the forces of all of them conserve, no function changes.

    So a force is seen that begins later, or that acts only at other distances than those near the initial position.
    """
    arrays = system.arrays
    depends = np.flatnonzero(arrays.time_functions[:, 0] != layout.CONSTANT)
    if not len(depends):
        return system
    lines, first = (
        np.zeros((len(depends), 1 + 2 * 4)),
        len(arrays.numbers),
    )  # a break at 0, and the same cubic on both sides
    lines[:, [1, 2]] = lines[:, [5, 6]] = random.uniform(1.0, 2.0, (len(depends), 2))
    functions = arrays.time_functions.copy()
    functions[depends] = [[layout.TABLE, first + i * lines.shape[1], 1] for i in range(len(depends))]
    fields = {name: getattr(arrays, name) for name in arrays._numba_type_.layout}
    fields |= {"time_functions": functions, "numbers": np.concatenate([arrays.numbers, lines.ravel()])}
    other = copy(system)
    other.arrays = layout.System(**fields)
    return other


def _combinations(rates: Array, sizes: Array, across: Array) -> Iterator[tuple[Array, Array]]:
    """The combinations of candidates whose rates (states, candidates), in the measure of `sizes`, vanish, and which constraints
    do not hinder: G ξ (rows, candidates), looked at in those combinations alone, whose measure does not blur it.

    Each is the numbers of its candidates and their weights, the first of which is 1.
    """
    if rates.shape[1] > MOST_COMBINED:
        largest = np.abs(np.vstack([rates / sizes, across])).max(axis=0)
        for i in np.flatnonzero(largest <= TOLERANCE):
            yield np.array([i]), np.ones(1)
        return
    free = np.linalg.qr((_null_space(rates / sizes) / sizes).T)[0]
    combinations = _null_space(across @ free) @ free.T
    for parts in _in_echelon_form(combinations * sizes):
        used = np.flatnonzero(np.abs(parts) > LEAST_WEIGHT * np.abs(parts).max())
        weights = parts[used] / sizes[used]
        yield used, weights / weights[0]


def _term(weight: float, name: str) -> str:
    if abs(weight - 1) < 1e-9:
        return name
    if abs(weight + 1) < 1e-9:
        return f"-{name}"
    return f"{weight:.6g} {name}"


def _candidates(system: System) -> list[Invariant]:
    quaternions = _quaternions(system)
    inside = {first + i for first in quaternions for i in range(4)}
    found = [
        Invariant(f"p({name})", ((i, np.ones(1)),)) for i, name in enumerate(system.coordinate_names) if i not in inside
    ]
    for first in quaternions:
        name, turned = system.coordinate_names[first].rsplit(".", 1)[0], _turned(system, first)
        for axis in range(3):
            for side, frame, e in (("left", "fixed", np.eye(3)[axis]), ("right", "body", turned[:, axis])):
                of = f"angular momentum ({name}, {frame} {'xyz'[axis]})"
                found.append(Invariant(of, ((first, 0.5 * _product_matrix(e, side)),)))
    return found + _orbital_candidates(system) + _linear_candidates(system)


def _turned(system: System, first: int) -> Array:
    """Matrix (3, 3) from the axes of the body that a quaternion turns to those about which it does: a joint's orientation."""
    if system.model is None or system.homes is None:
        return np.eye(3)
    joints = system.model.resolved().joints
    for name, start in system.homes.joints.items():
        if "qw" in joints[name].coordinate_names and first == start + joints[name].coordinate_names.index("qw"):
            return rotation_matrix(joints[name].orientation)
    return np.eye(3)


def _linear_candidates(system: System) -> list[Invariant]:
    """All linear fields on the coordinates of a system that is not made from a model, if these are few."""
    n, names = system.dimension, system.coordinate_names
    if system.model is not None or n * (n + 1) > MOST_COMBINED:
        return []
    found = []
    for i in range(n):
        for j in range(n):
            first = min(i, j)
            matrix = np.zeros((abs(i - j) + 1,) * 2)
            matrix[i - first, j - first] = 1.0
            found.append(Invariant(f"{names[j]} p({names[i]})", ((first, matrix),)))
    return found


# ------------------------------------------------------------------------------------------ all bodies as one

TOTALS = [f"{kind} momentum ({axis})" for kind in ("angular", "linear") for axis in "xyz"]
"""What turns about the world's axes and shifts along them conserve."""


class _Hanger(NamedTuple):
    """Coordinates that place a body in the world: the first, their number, the body's motion by them and their rates, and
    whether it is a point.
    """

    first: int
    width: int
    motion: Callable[[Array, Array], Motion]
    is_point: bool


class _Wholes(NamedTuple):
    """The motions of all bodies as one that linear fields give.

    twists    (d, 6)           their turns about the world's axes, and shifts along them
    weights   (6, candidates)  of the fields, for every turn and shift
    fields    of every hanger, the first coordinate and the field (6, width, width + 1) for every turn and shift
    """

    twists: Array
    weights: Array
    fields: Sequence[tuple[int, Array]]

    def invariant(self, twist: Array) -> Invariant:
        """What such a twist (6,) conserves."""
        moving = [(first, np.tensordot(twist, field, 1)) for first, field in self.fields]
        parts = [(first, part) for first, field in moving for part in (field[:, :-1], field[:, -1])]
        used = np.flatnonzero(np.abs(twist) > LEAST_WEIGHT * np.abs(twist).max())
        name = _sum_name([(float(twist[i]), TOTALS[i]) for i in used])
        return Invariant(name, tuple(parts), ANGULAR if used[0] < 3 else LINEAR)


def _wholes(system: System, candidates: Sequence[Invariant]) -> _Wholes:
    """The combinations of the candidates that give the bodies of all hangers the same turn and shift."""
    of_coordinate: dict[int, list[int]] = {}
    for i, each in enumerate(candidates):
        of_coordinate.setdefault(each.parts[0][0], []).append(i)
    weights, found = np.zeros((6, len(candidates))), []
    known: dict[Any, tuple[Array, Array]] = {}  # of bodies with coordinates of their own, which are all alike
    for hanger in _hangers(system):
        used = [i for j in range(hanger.width) for i in of_coordinate.get(hanger.first + j, [])]
        fields = [_affine(candidates[i], hanger) for i in used]
        key = hanger.motion, hanger.width
        if key not in known:
            known[key] = _moving_weights(hanger, fields)
        weights[:, used] = known[key][0]
        found.append((hanger.first, np.tensordot(known[key][0], fields, 1)))
    if not found:
        return _Wholes(np.zeros((0, 6)), weights, [])
    twists = _in_echelon_form(_null_space(np.vstack([off for _, off in known.values()])))
    return _Wholes(_without_rounding(twists), weights, found)


def _hangers(system: System) -> list[_Hanger]:
    """What all bodies hang in the world by; none if one of them cannot move, or the system is not made from a model."""
    if system.model is None or system.homes is None:
        return []
    homes, model = system.homes, system.model.resolved()
    for branch in homes.plan.branches:
        if branch.inner == WORLD and branch.outer not in homes.roots and branch.joint not in homes.joints:
            return []
    found = [_Hanger(first, 3 if is_point else 7, _free_motion, is_point) for first, is_point in homes.roots.values()]
    for name, first in homes.joints.items():
        joint = model.joints[name]
        if WORLD in (joint.parent, joint.child):
            found.append(_Hanger(first, len(joint.coordinate_names), _world_motion(joint), False))
    return found


def _world_motion(joint: Any) -> Callable[[Array, Array], Motion]:
    """The motion of the body that a joint ties to the world."""
    if joint.parent == WORLD:
        return lambda q, v: joint_motion(joint, q, v)
    return lambda q, v: joint_motion(joint, q, v).inverse()


def _free_motion(q: Array, v: Array) -> Motion:
    """The motion of a body that has a place and a quaternion, or a place alone."""
    if len(q) == 3:
        return Motion(np.eye(3), q, np.zeros(3), v)
    a, rate = q[3:], v[3:]
    body = 2.0 * (a[0] * rate[1:] - a[1:] * rate[0] - cross(a[1:], rate[1:]))
    rotation = rotation_matrix(a)
    return Motion(rotation, q[:3], rotation @ body, v[:3])


def _affine(candidate: Invariant, hanger: _Hanger) -> Array:
    """The field of a candidate on the coordinates of a hanger: (A, b) as a matrix (width, width + 1)."""
    field = np.zeros((hanger.width, hanger.width + 1))
    for first, factor in candidate.parts:
        at = slice(first - hanger.first, first - hanger.first + len(factor))
        if factor.ndim == 2:
            field[at, at] += factor
        else:
            field[at, -1] += factor
    return field


def _moving_weights(hanger: _Hanger, fields: Sequence[Array]) -> tuple[Array, Array]:
    """Weights (6, fields) with which the fields turn and shift the body along with the world's axes, and by what (rows, 6) they
    miss that.
    """
    random = np.random.default_rng(5)
    columns, wanted = [], []
    for _ in range(MOTION_STATES):
        q = random.standard_normal(hanger.width)
        if hanger.width > 3:
            q[-4:] /= np.linalg.norm(q[-4:])  # a quaternion, or no worse a state for what is none
        motions = [hanger.motion(q, field @ np.append(q, 1.0)) for field in fields]
        place = hanger.motion(q, np.zeros(hanger.width)).place
        turning, still = np.eye(3) * (not hanger.is_point), np.zeros((3, 3))
        columns.append(np.array([np.append(each.omega, each.velocity) for each in motions]).reshape(-1, 6).T)
        wanted.append(np.block([[turning, still], [-_cross_matrix(place), np.eye(3)]]))
    A, B = np.vstack(columns), np.vstack(wanted)
    weights = _without_rounding(np.linalg.lstsq(A, B, rcond=TOLERANCE)[0])
    return weights.T, (A @ weights - B) / np.abs(B).max()


def _without_rounding(x: Array) -> Array:
    """x with whole numbers where it is nearly a whole number."""
    return np.where(np.abs(x - np.round(x)) < TOLERANCE, np.round(x), x)


def _orbital_candidates(system: System) -> list[Invariant]:
    """Rotations of the place x, y, z of every free joint, and of x, y of every planar one."""
    found = []
    names = system.coordinate_names
    known = set(names)
    for first, name in enumerate(names):
        joint, _, short = name.rpartition(".")
        if short != "x" or not joint:
            continue
        size = 3 if f"{joint}.z" in known else 2
        for axis in range(3) if size == 3 else [2]:
            matrix = _cross_matrix(np.eye(3)[axis])[:size, :size]
            found.append(Invariant(f"orbital momentum ({joint}, {'xyz'[axis]})", ((first, matrix),)))
    return found


def _cross_matrix(e: Array) -> Array:
    """Matrix of x → e × x, (3, 3)."""
    return np.array([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]])


def _quaternions(system: System) -> list[int]:
    rows = system.arrays.constraints
    firsts = rows[rows[:, layout.CONSTRAINT_KIND] == layout.UNIT_QUATERNION, layout.FIRST_ENTRY]
    return [int(first) for first in system.arrays.entries[firsts]]


def _product_matrix(e: Array, side: str) -> Array:
    """Matrix of a → e ⋆ a (left) or a → a ⋆ e (right) for the imaginary unit e along an axis, (4, 4)."""
    cross = _cross_matrix(e)
    matrix = np.zeros((4, 4))
    matrix[0, 1:], matrix[1:, 0] = -e, e
    matrix[1:, 1:] = cross if side == "left" else -cross
    return matrix


def _terms(candidates: Sequence[Invariant]) -> _Terms:
    """The entries of the fields of candidates."""
    places, factors = [np.zeros((3, 0), int)], [np.zeros(0)]
    for i, each in enumerate(candidates):
        for first, factor in each.parts:
            used = np.nonzero(factor)
            columns = first + used[1] if factor.ndim == 2 else np.full(len(used[0]), -1)
            places.append(np.array([np.full(len(used[0]), i), first + used[0], columns]))
            factors.append(factor[used])
    candidate, row, column = np.concatenate(places, axis=1)
    return _Terms(candidate, row, column, np.concatenate(factors))


def _rates(system: System, terms: _Terms, count: int) -> tuple[Array, Array]:
    """d/dt (p·ξ) for every candidate at random states, (states, candidates), and the size of its terms, (candidates,).

    The size is at least a small part of the kinetic energy, since the terms themselves may be rounding.
    """
    random = np.random.default_rng(1)
    n = system.dimension
    magnitudes = terms._replace(factor=np.abs(terms.factor))
    rates, sizes = [], []
    for _ in range(2 * count + 4 if count <= MOST_COMBINED else FEW_STATES):
        q = system.given_q + random.standard_normal(n)
        v = random.standard_normal(n)
        t = random.uniform(0.0, 10.0)
        for first in _quaternions(system):
            q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
            v[first : first + 4] -= (q[first : first + 4] @ v[first : first + 4]) * q[first : first + 4]
        p, f = _with_any_forces(system, random).gradient(q, v, t)
        if np.all(np.isfinite(f)):  # at some states a force may be undefined
            rates.append(_rate(terms, count, q, v, p, f))
            part = SMALLEST_PART * np.abs(p) @ np.abs(v)
            sizes.append(np.maximum(part, _rate(magnitudes, count, *map(np.abs, (q, v, p, f)))))
    return np.array(rates), np.array(sizes).max(axis=0, initial=0.0)


def _rate(terms: _Terms, count: int, q: Array, v: Array, p: Array, f: Array) -> Array:
    """dJ/dt = f·ξ(q) + p·A v of every candidate at one state, (candidates,), f = ∂L/∂q + F."""
    values = terms.times(np.append(q, 1.0)) * f[terms.row] + terms.times(np.append(v, 0.0)) * p[terms.row]
    return np.bincount(terms.candidate, values, count)


def _across_constraints(system: System, terms: _Terms, count: int, positions: list[tuple[float, Array]]) -> Array:
    """G ξ of every candidate at times and positions on the constraints, (rows, candidates), in parts of the largest G and ξ.

    Beyond MOST_COMBINED candidates every position gives one row, of the largest, in parts of what each candidate could be.
    """
    found = [np.zeros((0, count))]
    for t, q in positions:
        G, fields = _sparse_jacobian(system, t, q), _fields(terms, count, q)
        scale = np.maximum((abs(G) @ abs(fields)).max(axis=0).toarray().ravel(), 1e-300)
        across = G @ fields
        if count > MOST_COMBINED:
            found.append((abs(across).max(axis=0).toarray().ravel() / scale)[None])
        else:
            found.append(across.toarray() / scale.max())
    return np.vstack(found)


def _positions_on_constraints(system: System, count: int) -> list[tuple[float, Array]]:
    """Random times and positions, enough for so many candidates; beyond MOST_COMBINED two, near, since few are found."""
    random = np.random.default_rng(3)
    if not system.constraint_count:
        return []
    if count > MOST_COMBINED:
        return [_position_on_constraints(system, random, REACHES[-1:]) for _ in range(2)]
    positions = 2 * (2 + count // system.constraint_count)
    return [_position_on_constraints(system, random, REACHES) for _ in range(positions)]


def _position_on_constraints(
    system: System, random: np.random.Generator, reaches: Sequence[float]
) -> tuple[float, Array]:
    """A random time and position not far from the initial ones; nearer, if from there none on the constraints is found."""
    for reach in reaches:
        with contextlib.suppress(ModelError):
            q = system.given_q + reach * random.standard_normal(system.dimension)
            t = reach * random.uniform(0.0, 10.0)
            return t, project_position(system, q, t)
    return 0.0, system.given_q


def _sparse_jacobian(system: System, t: float, q: Array) -> Any:
    """G at a time and a position, (k, n)."""
    from scipy.sparse import coo_array

    _, entries, _ = system._constraint_entries(q, t)
    rows = np.repeat(np.arange(system.constraint_count), system.arrays.constraints[:, layout.ENTRIES])
    columns = system.arrays.entries
    return coo_array((entries, (rows, columns)), (system.constraint_count, system.dimension)).tocsr()


def _fields(terms: _Terms, count: int, q: Array) -> Any:
    """ξ of every candidate at q, (n, candidates)."""
    from scipy.sparse import coo_array

    return coo_array((terms.times(np.append(q, 1.0)), (terms.row, terms.candidate)), (len(q), count)).tocsr()


def _null_space(matrix: Array) -> Array:
    """Orthonormal basis (rows) of the vectors that a matrix (rows, columns) annihilates."""
    if len(matrix) > matrix.shape[1]:
        matrix = np.linalg.qr(matrix)[1]  # which annihilates the same
    _, singular, right = np.linalg.svd(matrix)
    return right[int(np.sum(singular > TOLERANCE * max(1.0, singular.max(initial=0.0)))) :]


def _in_echelon_form(basis: Array) -> Array:
    """A basis (rows) of the same space in reduced echelon form."""
    basis = basis / np.abs(basis).max(axis=1, initial=1e-300, keepdims=True)
    row = 0
    for column in range(basis.shape[1]):
        if row == len(basis):
            break
        best = row + int(np.argmax(np.abs(basis[row:, column])))
        if abs(basis[best, column]) < 1e-6:
            continue
        basis[[row, best]] = basis[[best, row]]
        basis[row] /= basis[row, column]
        for other in range(len(basis)):
            if other != row:
                basis[other] -= basis[other, column] * basis[row]
        row += 1
    basis[np.abs(basis) < 1e-8] = 0.0
    return basis
