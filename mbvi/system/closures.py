"""Loops as sets of constraints that share coordinates, and a walk along their motion, which shows how many are independent.

With rows of length divided by the loop's size L, and coordinates of length counted in L, G = U Σ Vᵀ. Singular values up to a
tolerance τ count as 0: what is left of the constraints is U_rᵀ g = 0, the motion leads along the other columns of V, and

    γ = N ᵀ g,    N the columns of U beyond the largest r of all positions,

is by how much redundant constraints contradict the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from mbvi.kernels import layout
from mbvi.model.fields import WORLD
from mbvi.model.joints import Free
from mbvi.system.base import BaseSystem
from mbvi.system.poses import Pose, all_poses
from mbvi.system.projection import owner_of
from mbvi.system.tables import driven_rows

Array = np.ndarray
NEWTON_STEPS = 60
LONGEST_STEP = 0.3  # of a scaled coordinate in one step of Newton's method
CONVERGED = 1e-15
OPEN = 1e-10  # what is left of constraints that cannot be satisfied
STEP = 0.2  # from one position of a walk to the next, in scaled coordinates
TURNED = 0.1  # part of a direction that is along the motion, below which a walk ends
LEAST_SIZE = 1e-3  # of a loop [m]
DIRECTIONS = 4  # of a walk where there are several, each both ways


class Position(NamedTuple):
    """A position of a loop's walk.

    q          (n,)     coordinates of the system
    singular   (min,)   singular values of the scaled Jacobian
    left       (k, k)   its left singular vectors, as columns
    g          (k,)     scaled constraints
    right      (n, n)   its right singular vectors, as rows
    """

    q: Array
    singular: Array
    left: Array
    g: Array
    right: Array

    def rank(self, tolerance: float) -> int:
        """How many constraints are independent there."""
        return int(np.sum(self.singular > tolerance))

    def gaps(self, rank: int) -> Array:
        """The amounts by which the constraints that depend on the independent ones contradict them."""
        return np.asarray(self.left[:, rank:].T @ self.g)

    def open(self, rank: int) -> float:
        """What is left of the independent constraints."""
        return float(np.abs(self.left[:, :rank].T @ self.g).max(initial=0.0))


class Closure:
    """Constraints of a system that share coordinates, directly or by others.

    Attributes
    ----------
    rows, columns : ndarray
        The constraints and their coordinates.
    size : float
        How far apart its joints are; 1 where they are at one place [m].
    row_scales, column_scales : ndarray
        The scales of constraints, and of coordinates.
    """

    def __init__(self, system: BaseSystem, rows: Array, columns: Array, size: float) -> None:
        self.system, self.rows, self.columns, self.size = system, rows, columns, size
        row_scales, column_scales = scales_by_size(system, size)
        self.row_scales, self.column_scales = row_scales[rows], column_scales[columns]
        of_row = np.repeat(np.arange(system.constraint_count), system.arrays.constraints[:, layout.ENTRIES])
        self._entries = np.flatnonzero(np.isin(of_row, rows))
        at_row, at_column = np.zeros(system.constraint_count, int), np.zeros(system.dimension, int)
        at_row[rows], at_column[columns] = np.arange(len(rows)), np.arange(len(columns))
        self._places = at_row[of_row[self._entries]], at_column[system.arrays.entries[self._entries]]

    @cached_property
    def signs(self) -> list[dict[str, int]]:
        """The joints by whose numbers every constraint changes, see `moved_by`."""
        return [moved_by(self.system, int(row)) for row in self.rows]

    def at(self, q: Array) -> Position:
        """The position of coordinates (n,)."""
        g, entries, _ = self.system._constraint_entries(q, 0.0)
        G = np.zeros((len(self.rows), len(self.columns)))
        np.add.at(G, self._places, entries[self._entries])
        left, singular, right = np.linalg.svd(self.row_scales[:, None] * G * self.column_scales)
        return Position(q, singular, left, self.row_scales * g[self.rows], right)

    def projected(self, q: Array, tolerance: float, rank: int | None = None) -> Position:
        """The position near q at which the independent constraints hold, which are `rank` or those beyond the tolerance."""
        last = np.inf
        for _ in range(NEWTON_STEPS):
            here = self.at(q)
            r = here.rank(tolerance) if rank is None else rank
            change = -here.right[:r].T @ (here.left[:, :r].T @ here.g / here.singular[:r])
            longest = float(np.abs(change).max(initial=0.0))
            if longest < CONVERGED or (longest > 0.5 * last and longest < 1e-12):
                break
            q, last = q.copy(), longest
            q[self.columns] += change * self.column_scales * min(1.0, LONGEST_STEP / longest)
        return here

    def walk(self, start: Position, tolerance: float, steps: int) -> Iterator[Position]:
        """Positions along the motion from a start, some steps both ways, in some directions where there are several."""
        random = np.random.default_rng(0)
        free = start.right[start.rank(tolerance) :]
        for _ in range(DIRECTIONS if len(free) > 1 else len(free)):
            direction = random.standard_normal(len(free)) @ free
            for sign in (1.0, -1.0):
                yield from self._path(start, sign * direction, tolerance, steps)

    def _path(self, here: Position, direction: Array, tolerance: float, steps: int) -> Iterator[Position]:
        """Positions along the motion in a direction that it keeps."""
        for _ in range(steps):
            free = here.right[here.rank(tolerance) :]
            along = free @ direction
            if np.linalg.norm(along) < TURNED * np.linalg.norm(direction):
                return
            direction = along @ free / np.linalg.norm(along)
            q = here.q.copy()
            q[self.columns] += STEP * self.column_scales * direction
            here = self.projected(q, tolerance)
            if here.open(here.rank(tolerance)) > OPEN:
                return
            yield here


def scales_by_size(system: BaseSystem, size: float) -> tuple[Array, Array]:
    """Scales of all constraints (k,) and coordinates (n,) by which lengths are counted in a size [m]."""
    arrays, units = system.arrays, np.array(system.coordinate_units)
    kinds = arrays.constraints[:, layout.CONSTRAINT_KIND]
    powers = np.where(np.isin(kinds, (layout.ALONG, layout.DISTANCE)), 1, 0)
    powers[kinds == layout.DISTANCE] = 2  # (|r|² − ℓ²)/2
    related = np.flatnonzero((kinds == layout.COORDINATES) & (arrays.constraints[:, layout.ENTRIES] > 0))
    powers[related] = units[arrays.entries[arrays.constraints[related, layout.FIRST_ENTRY]]] == "m"
    return size ** -powers.astype(float), np.where(units == "m", size, 1.0)


def closures(system: BaseSystem) -> list[Closure]:
    """The loops of a model's system, each with all that shares coordinates; without what prescribes single coordinates."""
    arrays = system.arrays
    kinds, counts = arrays.constraints[:, layout.CONSTRAINT_KIND], arrays.constraints[:, layout.ENTRIES]
    used = (counts > 0) & ~((kinds == layout.COORDINATES) & (counts == 1))
    used[driven_rows(arrays)] = False
    row = np.repeat(np.arange(arrays.k), counts)
    joined = nx.utils.UnionFind(range(arrays.n + arrays.k))
    for i, j in zip(row.tolist(), arrays.entries.tolist(), strict=True):
        if used[i]:
            joined.union(arrays.n + i, j)
    found: dict[int, list[int]] = {}
    for i in np.flatnonzero(used).tolist():
        found.setdefault(joined[arrays.n + i], []).append(i)
    rows = [np.array(each) for each in found.values() if (kinds[each] != layout.UNIT_QUATERNION).any()]
    poses = all_poses(system, system.given_q[None])
    sizes = [extent(system, each, poses) for each in rows]
    return [
        Closure(system, each, np.unique(arrays.entries[np.isin(row, each)]), size)
        for each, size in zip(rows, sizes, strict=True)
    ]


def moved_by(system: BaseSystem, row: int) -> dict[str, int]:
    """The joints by whose numbers a constraint changes: +1 where a motion of the child moves its end b, −1 where its end a."""
    assert system.model is not None and system.homes is not None
    owner, model, homes = owner_of(system, row), system.model.resolved(), system.homes
    kind = system.arrays.constraints[row, layout.CONSTRAINT_KIND]
    if kind not in layout.GEOMETRIC:
        return {}
    if owner in model.joints:
        ends, signs = (model.joints[owner].parent, model.joints[owner].child), {owner: -1}
    else:
        element: Any = model.constraints[owner]
        ends, signs = tuple(body for body, _ in element.ends()), {}
    inward = {branch.outer: branch for branch in homes.plan.branches}
    for body, side in zip(ends, (-1, 1), strict=True):
        while body in inward and body not in homes.roots:
            joint, body, _, is_reversed = inward[body]
            signs[joint] = signs.get(joint, 0) + (-side if is_reversed else side)
    return {joint: sign for joint, sign in signs.items() if sign}


def extent(system: BaseSystem, rows: Array, poses: Mapping[str, Pose]) -> float:
    """How far apart the joints are whose numbers change some constraints, and the centres of mass of their bodies [m].

    A free joint is nowhere: its bodies move away from each other.
    """
    assert system.model is not None and system.homes is not None
    names = {joint for row in rows for joint in moved_by(system, int(row))}
    joints = [system.model.resolved().joints[name] for name in names]
    bodies = {body for joint in joints for body in (joint.parent, joint.child)} - {WORLD}
    places = [poses[joint.parent].point(joint.position)[0] for joint in joints if not isinstance(joint, Free)]
    places += [poses[body].point(system.homes.centers[body])[0] for body in bodies]
    return max(LEAST_SIZE, float(np.linalg.norm(np.ptp(places, axis=0)))) if places else 1.0
