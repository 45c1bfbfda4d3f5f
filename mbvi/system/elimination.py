"""The order in which the unknowns of a step are eliminated, and the blocks that fill on the way; found once.

An *atom* holds the coordinates of a body or of several and the constraints that tie it to the rest; a constraint that closes a
loop is an atom of its own, eliminated after the bodies of its loop, without which its block would be singular. The order is
that of minimum degree. Atoms whose ties nest become one *node*, so that what is dense is one dense block. Coordinates of bodies
without inertia, which only the constraints of a loop determine, are in the atom of that loop.

Example: two points in a plane hang as a chain on two rods; a guide holds a coordinate of the second one, which closes a loop.

    ceiling ──── row 0 ──── q0, q1 ──── row 1 ──── q2, q3 ──── row 2 ──── guide
                 └───── node 0 ───┘     └───── node 1 ───┘     node 2

Every node is tied to the next one, so that there are two pairs, and nothing fills. Of node 1 earlier nodes are tied to all three
unknowns, since row 1 holds q0 and q1 too; of node 2, to its row.

>>> atoms = [Atom([0, 1], [0]), Atom([2, 3], [1]), Atom([], [2], before={0, 1}, is_loop=True)]
>>> entries = [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (1, 3), (2, 2)]  # of G: row, coordinate
>>> found = elimination(atoms, [], entries)
>>> nodes, pairs = [Node(*row) for row in found["nodes"]], [Pair(*row) for row in found["pairs"]]
>>> [int(pair.later) for pair in pairs]
[1, 2]
>>> [int(node.tied) for node in nodes]
[2, 3, 1]

In a right side node 0 begins at 0, node 1 at 4 and node 2 at 8, since each takes whole lanes. The blocks of a Jacobian begin
at the places below: D of a node, A to the later node, and the transposed block back (`saddle` draws them).

>>> for node in nodes:
...     print(node.start, node.jacobian_diagonal, node.jacobian_upper, node.jacobian_lower)
0 0 12 24
4 36 48 60
8 72 76 76
>>> found["matrix_size"]
76

Second derivatives have one block for each body, and G one border for each row and body.

>>> [tuple(map(int, row)) for row in found["blocks"]]  # row node, column node, place, place of the mirror
[(0, 0, 0, 0), (1, 1, 4, 4)]
>>> [(int(border.node), int(border.row_node)) for border in (Border(*row) for row in found["borders"])]
[(0, 0), (0, 1), (1, 1), (1, 2)]

Source: George & Liu, Computer Solution of Large Sparse Positive Definite Systems (1981), chapter 5.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations, groupby
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from mbvi.kernels.compiler.lanes import WIDTH

Array = np.ndarray
Pairs = dict[tuple[int, int], int]


@dataclass
class Atom:
    """What is eliminated together: coordinates and constraint rows.

    before    the atoms that must come before
    is_loop   whether rows of it close a loop, and may follow from others
    """

    coordinates: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    before: set[int] = field(default_factory=set)
    is_loop: bool = False


@dataclass
class Group:
    """The unknowns of a node, and its ties.

    coordinates, rows   its coordinates and constraint rows
    is_loop             whether rows of it close a loop
    later               the later nodes that it is tied to
    tied                the number of its unknowns, from the first on, that earlier nodes are tied to: its coordinates, or all
    ties_from           the first of its unknowns that M and G tie to later nodes
    columns             of each later node, the first column of their blocks in the rows of this one
    stride              the length of the rows of those blocks
    """

    coordinates: list[int]
    rows: list[int]
    is_loop: bool
    later: list[int]
    tied: int = 0
    ties_from: int = 0
    columns: dict[int, int] = field(default_factory=dict)
    stride: int = 0

    def __post_init__(self) -> None:
        self.tied = self.ties_from = self.size

    @property
    def size(self) -> int:
        """The number of its coordinates."""
        return len(self.coordinates)

    @property
    def width(self) -> int:
        """The number of its unknowns."""
        return len(self.coordinates) + len(self.rows)

    @property
    def lanes(self) -> int:
        """The number of lanes that hold its unknowns."""
        return -(-self.width // WIDTH)

    @property
    def tied_lanes(self) -> int:
        """The number of lanes that hold those that earlier nodes are tied to."""
        return -(-self.tied // WIDTH)


class Node(NamedTuple):
    """A row of System.nodes; the fields are its columns, which `layout` explains."""

    coordinates: int
    rows: int
    start: int
    second_diagonal: int
    first_pair: int
    pairs: int
    first_target: int
    first_member: int
    tied: int
    lanes: int
    tied_lanes: int
    stride: int
    first_block: int
    blocks: int
    first_border: int
    borders: int
    ties_from: int
    mass_diagonal: int
    mass_upper: int
    mass_lower: int
    jacobian_diagonal: int
    jacobian_upper: int
    jacobian_lower: int


class Pair(NamedTuple):
    """A row of System.pairs; the fields are its columns."""

    later: int
    column: int
    second_upper: int
    second_lower: int


class Block(NamedTuple):
    """A row of System.blocks; the fields are its columns."""

    row: int
    column: int
    second: int
    mirror: int

    @property
    def owner(self) -> int:
        """The earlier of its nodes."""
        return min(self.row, self.column)


class Border(NamedTuple):
    """A row of System.borders; the fields are its columns."""

    node: int
    local: int
    row_node: int
    row: int
    first: int
    end: int
    column: int

    @property
    def owner(self) -> int:
        """The earlier of its nodes."""
        return min(self.node, self.row_node)


def elimination(
    atoms: Sequence[Atom], coupled: Iterable[tuple[int, int]], entries: Sequence[tuple[int, int]], idle: int = 0
) -> dict[str, Any]:
    """The arrays of a System that describe its elimination.

    Parameters
    ----------
    atoms : sequence of Atom
    coupled : pairs of atoms
        The pairs whose coordinates share second derivatives.
    entries : pairs of row and coordinate
        The constraint Jacobian's, in order.
    idle : int
        How many rows are of no atom, since they have no entries.
    """
    kept = tuple((*atom.coordinates,) for atom in atoms), tuple((*atom.rows,) for atom in atoms)
    before, is_loop = tuple(frozenset(atom.before) for atom in atoms), tuple(atom.is_loop for atom in atoms)
    return dict(_elimination(*kept, before, is_loop, frozenset(coupled), tuple(entries), idle))


@lru_cache(maxsize=2)  # models that differ in their numbers follow each other
def _elimination(
    coordinates: tuple[tuple[int, ...], ...],
    rows: tuple[tuple[int, ...], ...],
    before: tuple[frozenset[int], ...],
    is_loop: tuple[bool, ...],
    coupled: frozenset[tuple[int, int]],
    entries: tuple[tuple[int, int], ...],
    idle: int,
) -> dict[str, Any]:
    """`elimination`, with what `Atom` holds of every atom. All who ask share these arrays, which a System copies."""
    n, k = sum(map(len, coordinates)), sum(map(len, rows)) + idle
    atom_of_coordinate, atom_of_row = np.zeros(n, int), np.zeros(k, int)
    for i in range(len(coordinates)):
        atom_of_coordinate[list(coordinates[i])] = i
        atom_of_row[list(rows[i])] = i
    second = {(min(pair), max(pair)) for pair in coupled if pair[0] != pair[1]}
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(len(coordinates)))
    graph.add_edges_from(second)
    for tied in rows_atoms(entries, atom_of_row, atom_of_coordinate):
        graph.add_edges_from(clique(tied))
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    order, ties = minimum_degree(graph, dict(enumerate(before)))
    found, ties = nested(order, ties, is_loop)
    node_of = {atom: node for node, group in enumerate(found) for atom in group}
    groups = [
        Group(
            coordinates=[j for i in group for j in coordinates[i]],
            rows=[j for i in group for j in rows[i]],
            is_loop=any(is_loop[i] for i in group),
            later=sorted({node_of[other] for other in ties[group[-1]]}),
        )
        for group in found
    ]
    coupled_nodes = {(min(node_of[a], node_of[b]), max(node_of[a], node_of[b])) for a, b in second}
    return _arrays(groups, coupled_nodes, (n, k), entries)


def rows_atoms(entries: Sequence[tuple[int, int]], atom_of_row: Array, atom_of_coordinate: Array) -> Iterable[set[int]]:
    """The atoms of every row: its own, and those of its coordinates, which share its curvature."""
    tied: dict[int, set[int]] = {}
    for row, j in entries:
        tied.setdefault(row, {int(atom_of_row[row])}).add(int(atom_of_coordinate[j]))
    return tied.values()


def minimum_degree(graph: nx.Graph[int], before: Mapping[int, frozenset[int]]) -> tuple[list[int], dict[int, set[int]]]:
    """An order of elimination, and for each atom those later in it that it is tied to, fill included."""
    neighbours = {i: set(graph[i]) for i in graph}
    waiting = {i: set(first) for i, first in before.items()}
    followers: dict[int, list[int]] = {}
    for i, first in before.items():
        for j in first:
            followers.setdefault(j, []).append(i)
    heap = [(len(neighbours[i]), -i) for i in graph if not waiting[i]]
    heapq.heapify(heap)
    order: list[int] = []
    ties: dict[int, set[int]] = {}
    while heap:
        degree, i = heapq.heappop(heap)
        i = -i
        if i in ties or degree != len(neighbours[i]):
            continue
        order.append(i)
        ties[i] = neighbours.pop(i)
        for j in ties[i]:
            neighbours[j] |= ties[i]
            neighbours[j] -= {i, j}
        for j in followers.get(i, ()):
            waiting[j].discard(i)
        for j in {*ties[i], *followers.get(i, ())}:
            if j not in ties and not waiting[j]:
                heapq.heappush(heap, (len(neighbours[j]), -j))
    return order, ties


def nested(
    order: Sequence[int], ties: dict[int, set[int]], is_loop: Sequence[bool]
) -> tuple[list[list[int]], dict[int, set[int]]]:
    """Groups of atoms that are eliminated as one: an atom goes with the first that it is tied to, if that adds no entries.

    Then both are tied to the same atoms, before them and after.
    """
    position = {atom: i for i, atom in enumerate(order)}
    earlier: dict[int, set[int]] = {atom: set() for atom in order}
    for atom, others in ties.items():
        for other in others:
            earlier[other].add(atom)
    groups: dict[int, list[int]] = {}
    for atom in order:
        group = [*groups.pop(atom, []), atom]
        first = min(ties[atom], key=position.__getitem__, default=atom)
        is_alike = ties[atom] == {first} | ties[first] and earlier[first] == {atom} | earlier[atom]
        if first != atom and is_alike and is_loop[atom] == is_loop[first]:
            groups[first] = group
        else:
            groups[atom] = group
    return [groups[atom] for atom in order if atom in groups], ties


def _arrays(
    groups: list[Group], coupled: set[tuple[int, int]], shape: tuple[int, int], entries: Sequence[tuple[int, int]]
) -> dict[str, Any]:
    """The arrays of a System, from its nodes in their order and the pairs of nodes that share second derivatives."""
    n, k = shape
    coordinate_nodes = _places_in_nodes([group.coordinates for group in groups], n)
    row_nodes = _places_in_nodes([group.rows for group in groups], k)
    _find_ties(groups, coupled, [(row_nodes[row, 0], coordinate_nodes[j, 0]) for row, j in entries])
    _place_columns(groups)
    second, second_size = _place_second_derivatives(groups, coupled)
    blocks = [Block(*pair, place, second[pair[::-1]]) for pair, place in second.items()]
    blocks.sort(key=lambda block: block.owner)
    borders = _borders(groups, entries, coordinate_nodes, row_nodes)
    pairs = [
        Pair(b, group.columns[b], second.get((a, b), -1), second.get((b, a), -1))
        for a, group in enumerate(groups)
        for b in group.later
    ]
    nodes, sizes = _nodes(groups, second, blocks, borders)
    starts = np.array([(node.start, node.start + node.coordinates) for node in nodes], np.int64).reshape(-1, 2)
    of_row, of_coordinate = row_nodes[:, 0], coordinate_nodes[:, 0]
    return {
        "nodes": _table(nodes, Node),
        "members": np.array([j for group in groups for j in group.coordinates], np.int64),
        "pairs": _table(pairs, Pair),
        "targets": np.array(_targets(groups), np.int64),
        "blocks": _table(blocks, Block),
        "entries": np.array([j for _, j in entries], np.int64),
        "borders": _table(borders, Border),
        "coordinate_nodes": coordinate_nodes,
        "row_nodes": row_nodes,
        "places": np.concatenate(
            [
                starts[of_coordinate, 0] + coordinate_nodes[:, 1],
                np.where(of_row < 0, sizes["side_size"] - WIDTH, starts[of_row, 1] + row_nodes[:, 1]),
            ]
        ),
        "reference": np.array([group.is_loop for group in groups], float),
        "redundant": np.zeros(len(groups), np.int64),
        "scales": np.ones(sizes["side_size"]),
        "second_size": second_size,
        **sizes,
    }


def _table(records: Sequence[tuple[int, ...]], kind: Any) -> Array:
    """The rows of an array, one for each record."""
    return np.array(records, np.int64).reshape(-1, len(kind._fields))


def _places_in_nodes(groups: Sequence[Sequence[int]], count: int) -> Array:
    """Node of every coordinate or row, and its index in the node, (count, 2); −1 for those of no node."""
    places = np.full((count, 2), -1)
    for node, group in enumerate(groups):
        places[group] = np.stack([np.full(len(group), node), np.arange(len(group))], axis=1)
    return places


def _find_ties(groups: list[Group], coupled: set[tuple[int, int]], entries: Sequence[tuple[int, int]]) -> None:
    """Fill `tied` and `ties_from` of all nodes; entries are pairs of the row's node and the coordinate's."""
    for row_node, node in entries:
        if node < row_node:
            groups[row_node].tied = groups[row_node].width
            groups[node].ties_from = 0
    filled = (pair for group in groups for pair in combinations(group.later, 2))
    for pair in (*coupled, *filled):
        groups[min(pair)].ties_from = 0


def _place_columns(groups: list[Group]) -> None:
    """Fill `columns` and `stride` of all nodes: blocks to later nodes stand side by side, in whole lanes."""
    for group in groups:
        for b in group.later:
            group.columns[b] = group.stride
            group.stride += WIDTH * groups[b].tied_lanes


def _place_second_derivatives(groups: list[Group], coupled: set[tuple[int, int]]) -> tuple[Pairs, int]:
    """Places of the blocks of second derivatives, by row node and column node, and the size of all: diagonal blocks first."""
    places: Pairs = {}
    size = 0
    diagonal = [(a, a) for a in range(len(groups))]
    for a, b in [*diagonal, *((a, b) for a, group in enumerate(groups) for b in group.later)]:
        for pair in dict.fromkeys([(a, b), (b, a)]):
            if (a == b or (a, b) in coupled) and groups[a].size * groups[b].size:
                places[pair], size = size, size + groups[a].size * groups[b].size
    return places, size


def _borders(
    groups: list[Group], entries: Sequence[tuple[int, int]], coordinate_nodes: Array, row_nodes: Array
) -> list[Border]:
    """Runs of entries of a row whose coordinates follow each other in one node, by the earlier of their nodes."""
    borders = []
    keys = [(i, coordinate_nodes[j, 0], coordinate_nodes[j, 1] - e) for e, (i, j) in enumerate(entries)]
    for first, end in runs(keys):
        row, j = entries[first]
        (node, local), (row_node, index) = coordinate_nodes[j], row_nodes[row]
        column = 0 if node == row_node else groups[min(node, row_node)].columns[max(node, row_node)]
        borders.append(Border(node, local, row_node, index, first, end, column))
    return sorted(borders, key=lambda border: border.owner)


def _targets(groups: list[Group]) -> list[int]:
    """The column of the pair of every two later nodes of a node; 0 for a node with itself."""
    return [
        0 if b == c else groups[min(b, c)].columns[max(b, c)]
        for group in groups
        for b in group.later
        for c in group.later
    ]


def _nodes(
    groups: list[Group], second: Pairs, blocks: Sequence[Block], borders: Sequence[Border]
) -> tuple[list[Node], dict[str, int]]:
    """All nodes, each behind the one before, and the sizes of a right side and of either matrix."""
    nodes = []
    start = member = pair = target = mass = matrix = 0
    of_blocks, of_borders = (_ranges([each.owner for each in records], len(groups)) for records in (blocks, borders))
    for a, group in enumerate(groups):
        own, ties = WIDTH * group.lanes * group.width, group.width * group.stride
        mass_ties = mass + own - group.ties_from * group.stride  # of row 0, which is not there: the first is ties_from
        node = Node(
            coordinates=group.size,
            rows=len(group.rows),
            start=start,
            second_diagonal=second.get((a, a), -1),
            first_pair=pair,
            pairs=len(group.later),
            first_target=target,
            first_member=member,
            tied=group.tied,
            lanes=group.lanes,
            tied_lanes=group.tied_lanes,
            stride=group.stride,
            first_block=of_blocks[a][0],
            blocks=of_blocks[a][1],
            first_border=of_borders[a][0],
            borders=of_borders[a][1],
            ties_from=group.ties_from,
            mass_diagonal=mass,
            mass_upper=mass_ties,
            mass_lower=mass_ties,
            jacobian_diagonal=matrix,
            jacobian_upper=matrix + own,
            jacobian_lower=matrix + own + ties,
        )
        nodes.append(node)
        start, member = start + WIDTH * group.lanes, member + group.size
        pair, target = pair + len(group.later), target + len(group.later) ** 2
        mass, matrix = mass_ties + ties, matrix + own + 2 * ties
    return nodes, {"side_size": start + WIDTH, "mass_size": mass, "matrix_size": matrix}


def _ranges(owners: Sequence[int], count: int) -> list[tuple[int, int]]:
    """First and number of the records of every owner; records are sorted by owners."""
    numbers = np.bincount(np.array(owners, np.int64), minlength=count)
    return list(zip(np.cumsum(numbers) - numbers, numbers, strict=True))


def runs(keys: Sequence[Any]) -> Iterable[tuple[int, int]]:
    """First and end of every run of equal keys."""
    first = 0
    for _, run in groupby(keys):
        end = first + sum(1 for _ in run)
        yield first, end
        first = end


def dense(n: int, k: int) -> Atom:
    """Everything as one atom."""
    return Atom(list(range(n)), list(range(k)))


def clique(atoms: Iterable[int]) -> Iterable[tuple[int, int]]:
    """All pairs."""
    return combinations(sorted(set(atoms)), 2)
