"""The rows of the arrays of a System as they grow: links, forces, constraints, functions of time, atoms of elimination."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from mbvi.kernels import layout
from mbvi.kernels.mechanics.functions import OPERATIONS
from mbvi.kernels.mechanics.several import VARIABLE
from mbvi.model.fields import Table
from mbvi.model.interpolation import cubics
from mbvi.recording import are_equal, array, dot, plain
from mbvi.system.elimination import Atom

Array = np.ndarray
WIDTHS = {layout.QUATERNION: 4, layout.TRANSLATION: 3}  # coordinates of an elementary joint that has more than one
SLIDING = (layout.PRISMATIC, layout.TRANSLATION)


class BodyFrame(NamedTuple):
    """Where a body's frame lies: on a link (−1: the world), at a rotation (3, 3) and a place (3,) [m] in its frame."""

    link: int
    rotation: Array
    place: Array

    def point(self, p: Any) -> Array:
        """A point of the body, in the link's frame."""
        return self.place + dot(self.rotation, array(p))


class Entry(NamedTuple):
    """One entry of a row of the constraint Jacobian: coordinate, its link, sign or factor."""

    coordinate: int
    link: int
    sign: float


class Touch(NamedTuple):
    """A constraint of a contact or an edge: see `mbvi.kernels.mechanics.rolling`."""

    surface: int
    part: int
    shape: Array = np.zeros((3, 3))
    rounding: float = 0.0
    radius: float = 0.0


class Variable(NamedTuple):
    """A variable of an expression: its kind, coordinate or link, place in the link, and entries of coordinates that move it."""

    kind: int
    of: int = -1
    point: Any = (0.0, 0.0, 0.0)
    entries: tuple[Entry, ...] = ()


class Expression(NamedTuple):
    """An expression of a constraint or a tendon: see `mbvi.kernels.mechanics.expressed`.

    program      start and end in the table of operations
    variables    the time first
    """

    program: tuple[int, int]
    variables: tuple[Variable, ...]

    @property
    def entries(self) -> list[Entry]:
        """The coordinates that it depends on, each once."""
        return list(dict.fromkeys(entry for each in self.variables for entry in each.entries))


class Tendon(NamedTuple):
    """A force along an expression: see `mbvi.kernels.mechanics.tendons`.

    force        row in the table of forces on coordinates
    entries      of the coordinates that its length depends on
    """

    force: int
    expression: Expression
    entries: list[Entry]


@dataclass
class Row:
    """One constraint: see `mbvi.kernels.mechanics.constraints`."""

    name: str
    kind: int
    entries: list[Entry]
    links: tuple[int, int] = (-1, -1)
    points: tuple[Array, Array] = (np.zeros(3), np.zeros(3))
    u: Any = (0.0, 0.0, 0.0)
    w: Any = (0.0, 0.0, 0.0)
    offset: float = 0.0
    function: int = -1
    argument: int = -1
    touch: Touch | None = None
    expression: Expression | None = None

    def shares_points(self, other: Row | None) -> bool:
        """Whether the points of both, and the links that these are on, are the same."""
        return (
            other is not None
            and self.kind in (layout.ALONG, layout.DISTANCE)
            and other.kind in (layout.ALONG, layout.DISTANCE)
            and self.links == other.links
            and are_equal(self.points, other.points)
        )


@dataclass
class Tables:
    """The rows of the arrays of a System, as they grow."""

    links: list = field(default_factory=list)
    geometry: list = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    joint_forces: list = field(default_factory=list)
    joint_force_data: list = field(default_factory=list)
    inputs: list[float] = field(default_factory=list)
    body_forces: list = field(default_factory=list)
    body_force_data: list = field(default_factory=list)
    bushings: list = field(default_factory=list)
    bushing_data: list = field(default_factory=list)
    frame_actuators: list = field(default_factory=list)
    frame_actuator_data: list = field(default_factory=list)
    tendons: list[Tendon] = field(default_factory=list)
    time_functions: list = field(default_factory=list)
    operations: list = field(default_factory=list)
    numbers: list = field(default_factory=list)
    armature: list[float] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    units: list[str] = field(default_factory=list)
    atoms: list[Atom] = field(default_factory=list)
    atom_of_link: list[int] = field(default_factory=list)

    def add_function(self, value: Any, is_motion: bool = False) -> int:
        """Add a function of one variable, a number, a postfix program or a table; its index. A table of a motion goes on at its
        ends.
        """
        start = len(self.numbers)
        if isinstance(value, Table):
            breaks, coefficients = cubics(value, goes_on=is_motion)
            self.time_functions.append([layout.TABLE, start, len(breaks)])
            self.numbers += [*breaks, *coefficients.ravel()]
        elif isinstance(value, tuple):
            self.time_functions.append([layout.PROGRAM, len(self.operations), len(value)])
            for item in value:
                is_number = isinstance(item, float)
                self.operations += [0 if is_number else OPERATIONS.index(item), len(self.numbers)]
                self.numbers += [item] if is_number else []
        else:
            self.time_functions.append([layout.CONSTANT, start, 1])
            self.numbers.append(plain(value))
        return len(self.time_functions) - 1

    def add_program(
        self, program: Sequence[float | str], variables: int, number: Callable[[str], int]
    ) -> tuple[int, int]:
        """Add a postfix program of several variables, `variables` the operation that takes one and `number` which; its place."""
        start = len(self.operations)
        for item in program:
            if isinstance(item, float):
                self.operations += [0, len(self.numbers)]
                self.numbers.append(item)
            elif item in OPERATIONS and item != "t":
                self.operations += [OPERATIONS.index(item), 0]
            else:
                self.operations += [variables, number(item)]
        return start, len(self.operations)

    def add_atom(self) -> int:
        """Add an empty atom; its index."""
        self.atoms.append(Atom())
        return len(self.atoms) - 1

    def add_row(self, row: Row, atom: int) -> None:
        """Add a constraint to an atom."""
        self.atoms[atom].rows.append(len(self.rows))
        self.rows.append(row)

    def make_idle(self, rows: set[int]) -> None:
        """Take constraints that hold whatever the coordinates are from their atoms."""
        for row in rows:
            self.rows[row].entries = []
        for atom in self.atoms:
            atom.rows = [row for row in atom.rows if row not in rows]

    def add_coordinate(self, name: str, unit: str, atom: int, armature: float = 0.0) -> int:
        """Add a coordinate, with the inertia that it has by itself, to an atom; its index."""
        self.atoms[atom].coordinates.append(len(self.names))
        self.names.append(name)
        self.units.append(unit)
        self.armature.append(armature)
        return len(self.names) - 1

    def path(self, link: int) -> list[int]:
        """A link and those that it hangs on, up to the root."""
        found = []
        while link >= 0:
            found.append(link)
            link = self.links[link][layout.PARENT]
        return found

    def entries(self, a: int, b: int) -> list[Entry]:
        """The coordinates that move link b (+1) or link a (−1), but not both; of either from the root on."""
        up, down = self.path(b), self.path(a)
        common = set(up) & set(down)
        return [
            Entry(j, link, sign)
            for sign, path in ((1.0, up), (-1.0, down))
            for link in reversed(path)
            if link not in common
            for j in self.coordinates_of(link)
        ]

    def link_of(self, coordinate: int) -> int:
        """The link of a joint's coordinate that is not of a quaternion."""
        return next(i for i, link in enumerate(self.links) if link[layout.DOF] == coordinate)

    def coordinates_of(self, link: int) -> range:
        """The coordinates of a link."""
        first = self.links[link][layout.DOF]
        return range(first, first + WIDTHS.get(self.links[link][layout.KIND], 1))

    def coordinate_links(self) -> Array:
        """The link of every coordinate."""
        found = np.zeros(len(self.names), np.int64)
        for i in range(len(self.links)):
            found[self.coordinates_of(i)] = i
        return found

    def before(self) -> Array:
        """The coordinate before every one on its path from the world: of its link, or else the last of the link before; or -1."""
        found = np.full(len(self.names), -1, np.int64)
        for i, (parent, *_) in enumerate(self.links):
            first, *rest = self.coordinates_of(i)
            found[first] = self.coordinates_of(parent)[-1] if parent >= 0 else -1
            found[rest] = np.array(rest, np.int64) - 1
        return found

    def anchors_and_lasts(self) -> list[tuple[int, int, int]]:
        """For every link the last of the sliders and translations that its path from the world begins with, or else the first
        link, and the last link of its tree, and of the smallest run of links around it that contains whole trees.
        """
        anchors: list[int] = []
        roots: list[int] = []
        for i, (parent, kind, *_) in enumerate(self.links):
            goes_on = kind in SLIDING and parent >= 0 and parent == anchors[parent] and self._slides(parent)
            anchors.append(i if parent < 0 or goes_on else anchors[parent])
            roots.append(roots[parent] if parent >= 0 else i)
        last_of = {root: i for i, root in enumerate(roots)}
        lasts = [last_of[root] for root in roots]
        ends = [i for i, last in enumerate(accumulate(lasts, max)) if i == last]
        return [(*pair, ends[bisect_left(ends, i)]) for i, pair in enumerate(zip(anchors, lasts, strict=True))]

    def _slides(self, link: int) -> bool:
        return self.links[link][layout.KIND] in SLIDING

    def is_open(self) -> bool:
        """Whether nothing but unit quaternions is constrained, and none of them turns what is a point of its own."""
        points = {i for i, link in enumerate(self.links) if link[layout.KIND] == layout.TRANSLATION}
        turned = {link[layout.PARENT] for link in self.links}
        return all(row.kind == layout.UNIT_QUATERNION for row in self.rows) and not points & turned

    def is_planar(self) -> bool:
        """Whether all links are revolute, about axes that point as those of their parents do."""
        axis = slice(layout.ROTATION + 6, layout.ROTATION + 9)  # of the parent, in the joint's frame
        return all(
            link[layout.KIND] == layout.REVOLUTE and (link[layout.PARENT] < 0 or are_equal(row[axis], (0.0, 0.0, 1.0)))
            for link, row in zip(self.links, self.geometry, strict=True)
        )

    def anchored(self) -> Array:
        """1 for every coordinate of a slider or translation that is part of an anchor, 0 for others."""
        found = np.zeros(len(self.names), np.int64)
        for i, (anchor, *_) in enumerate(self.anchors_and_lasts()):
            found[self.coordinates_of(i)] = anchor == i and self._slides(i)
        return found

    def periodic(self) -> Array:
        """1 for the angle of every revolute link that no force and no constraint takes as a number, 0 for others."""
        found = np.zeros(len(self.names), np.int64)
        for link in self.links:
            found[link[layout.DOF]] = link[layout.KIND] == layout.REVOLUTE
        found[[row[1] for row in self.joint_forces if row[1] >= 0]] = 0
        found[[entry.coordinate for tendon in self.tendons for entry in tendon.entries]] = 0
        for row in self.rows:
            if row.kind in (layout.COORDINATES, layout.EXPRESSED):
                found[[entry.coordinate for entry in row.entries]] = 0
            if row.argument >= 0:
                found[row.argument] = 0
        return found

    def arrays(self) -> dict[str, Any]:
        """What the kernels read of the links, forces, functions and constraints."""
        entries = [entry for row in self.rows for entry in row.entries]
        counts = [len(row.entries) for row in self.rows]
        firsts = np.cumsum([0, *counts], dtype=int)[:-1]
        before: Row | None = None
        same = []
        for row in self.rows:
            same.append(int(row.shares_points(before)))
            before = row if row.entries else before
        return {
            "links": _integers(
                [[*link, *more] for link, more in zip(self.links, self.anchors_and_lasts(), strict=True)], 7
            ),
            "coordinate_links": self.coordinate_links(),
            "armature": np.array(self.armature if any(self.armature) else [], dtype=float),
            "before": self.before(),
            "anchored": self.anchored(),
            "periodic": self.periodic(),
            "geometry": _floats(self.geometry, 24),
            "joint_forces": _integers(self.joint_forces, 4),
            "joint_force_data": _floats(self.joint_force_data, 6),
            "inputs": np.array(self.inputs, dtype=float),
            "body_forces": _integers(self.body_forces, 6),
            "body_force_data": _floats(self.body_force_data, 17),
            "bushings": _integers(self.bushings, 2),
            "bushing_data": _floats(self.bushing_data, 36),
            "frame_actuators": _integers(self.frame_actuators, 2),
            "frame_actuator_data": _floats(self.frame_actuator_data, 9),
            "time_functions": _integers(self.time_functions, 3),
            "operations": np.array(self.operations, dtype=np.int64),
            "numbers": array(self.numbers),
            "constraints": _integers(
                [
                    [row.kind, *row.links, row.function, row.argument, first, count, is_same]
                    for row, first, count, is_same in zip(self.rows, firsts, counts, same, strict=True)
                ],
                8,
            ),
            "constraint_data": _floats(
                [np.concatenate([*row.points, row.u, row.w, array([row.offset])]) for row in self.rows], 13
            ),
            **_touches(self.rows),
            **_expressions(self.rows, self.tendons),
            "rates": np.array([i for i, row in enumerate(self.rows) if row.kind == layout.ROLL], dtype=np.int64),
            "signs": array([entry.sign for entry in entries]),
            "is_open": int(self.is_open()),
            "is_planar": int(self.is_planar()),
            "is_geometric": int(
                any(row.kind in (*layout.GEOMETRIC, *layout.TOUCHING, layout.EXPRESSED) for row in self.rows)
            ),
        }


def _touches(rows: list[Row]) -> dict[str, Array]:
    """The contacts and edges among the constraints."""
    found = [(i, row.touch) for i, row in enumerate(rows) if row.touch is not None]
    data = [[*each.shape[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]], each.rounding, each.radius] for _, each in found]
    numbers = [[i, each.surface, each.part] for i, each in found]
    return {"touches": _integers(numbers, 3), "touch_data": _floats(data, 8)}


def _expressions(rows: list[Row], tendons: list[Tendon]) -> dict[str, Array]:
    """The constraints by expressions, and the tendons."""
    variables, terms = list[tuple[Variable, int, int]](), list[int]()

    def added(owner: int, expression: Expression, entries: list[Entry]) -> list[int]:
        first = len(variables)
        for each in expression.variables:
            own = [entries.index(entry) for entry in each.entries] if entries else []
            variables.append((each, len(terms), len(own)))
            terms.extend(own)
        return [owner, first, len(expression.variables), *expression.program]

    expressions = [added(i, row.expression, row.entries) for i, row in enumerate(rows) if row.expression is not None]
    along, coordinates = list[list[int]](), list[int]()
    for each in tendons:
        along.append([*added(*each), len(coordinates), len(each.entries)])
        coordinates += [entry.coordinate for entry in each.entries]
    return {
        "expressions": _integers(expressions, 5),
        "tendons": _integers(along, 7),
        "tendon_coordinates": np.array(coordinates, dtype=np.int64),
        "variables": _integers([[each.kind, each.of, first, count] for each, first, count in variables], 4),
        "variable_points": _floats([each.point for each, _, _ in variables], 3),
        "terms": np.array(terms, dtype=np.int64),
    }


def _integers(rows: list, width: int) -> Array:
    return np.array(rows, dtype=np.int64).reshape(-1, width)


def _floats(rows: list, width: int) -> Array:
    return array(rows).reshape(-1, width)


def functions_of_time(arrays: layout.System) -> Array:
    """Indices of the functions that depend on time, in their order: of forces, torques and prescribed motions."""
    joint, body = arrays.joint_forces, arrays.body_forces
    used = [
        joint[np.isin(joint[:, 0], (layout.JOINT_FORCE, layout.ACTUATOR)) & (joint[:, 2] >= 0), 2],
        body[body[:, 0] < layout.SPRING, 3:].ravel(),
        arrays.constraints[driven_rows(arrays), layout.FUNCTION],
    ]
    functions = np.unique(np.concatenate(used))
    return functions[arrays.time_functions[functions, 0] != layout.CONSTANT]


def driven_rows(arrays: layout.System) -> Array:
    """Indices of the constraints that prescribe motions as functions of time; of an assembled system."""
    functions = arrays.constraints[:, layout.FUNCTION]
    rows = np.flatnonzero((arrays.constraints[:, layout.ARGUMENT] < 0) & (functions >= 0))
    rows = rows[arrays.time_functions[functions[rows], 0] != layout.CONSTANT]
    programs = arrays.expressions[:, layout.EXPRESSION_START : layout.EXPRESSION_END + 1]
    takes_time = [
        (arrays.operations[start:end].reshape(-1, 2) == (VARIABLE, 0)).all(axis=1).any() for start, end in programs
    ]
    return np.concatenate([rows, arrays.expressions[np.array(takes_time, bool), layout.EXPRESSION_ROW]])
