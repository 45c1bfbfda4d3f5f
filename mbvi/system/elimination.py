"""The order in which the unknowns of a step are eliminated, and the blocks that fill on the way; found once.

An *atom* holds the coordinates of a body or of several and the constraints that tie it to the rest; a constraint that closes a
loop is an atom of its own, eliminated after the bodies of its loop, without which its block would be singular. The order is
that of minimum degree. Atoms whose ties nest become one *node*, so that what is dense is one dense block. Coordinates of bodies
without inertia, which only the constraints of a loop determine, are in the atom of that loop.

Source: George & Liu, Computer Solution of Large Sparse Positive Definite Systems (1981), chapter 5.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations, groupby
from typing import Any

import networkx as nx
import numpy as np

from mbvi.kernels.compiler.lanes import WIDTH
from mbvi.kernels.layout import NODE_COORDINATES, NODE_START

Array = np.ndarray


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


def elimination(
    atoms: Sequence[Atom], coupled: Iterable[tuple[int, int]], entries: Sequence[tuple[int, int]], idle: int = 0
) -> dict[str, Any]:
    """The arrays of a System that describe its elimination.

    Parameters
    ----------
    atoms : sequence of Atom
    coupled : pairs of atoms
        Those whose coordinates share second derivatives.
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
    """The same, of what `Atom` holds of every atom. All who ask share these arrays, which a System copies."""
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
    groups, ties = nested(order, ties, is_loop)
    node_of = {atom: node for node, group in enumerate(groups) for atom in group}
    pairs = [sorted({node_of[other] for other in ties[group[-1]]}) for group in groups]
    coupled_nodes = {tuple(sorted((node_of[a], node_of[b]))) for a, b in second}
    return _arrays(
        [[j for i in group for j in coordinates[i]] for group in groups],
        [[j for i in group for j in rows[i]] for group in groups],
        [any(is_loop[i] for i in group) for group in groups],
        pairs,
        coupled_nodes,  # type: ignore[arg-type]
        (n, k),
        entries,
    )


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
    coordinates: list[list[int]],
    rows: list[list[int]],
    is_loop: list[bool],
    later: list[list[int]],
    coupled: set[tuple[int, int]],
    shape: tuple[int, int],
    entries: Sequence[tuple[int, int]],
) -> dict[str, Any]:
    n, k = shape
    size = [len(a) for a in coordinates]
    width = [len(a) + len(b) for a, b in zip(coordinates, rows, strict=True)]
    coordinate_nodes, row_nodes = np.full((n, 2), -1), np.full((k, 2), -1)
    for place, groups in ((coordinate_nodes, coordinates), (row_nodes, rows)):
        for node, group in enumerate(groups):
            place[group] = np.stack([np.full(len(group), node), np.arange(len(group))], axis=1)
    of_row, of_coordinate = row_nodes[:, 0], coordinate_nodes[:, 0]
    tied, ties_from = size.copy(), size.copy()
    for row, j in entries:
        if of_coordinate[j] < of_row[row]:
            tied[of_row[row]] = width[of_row[row]]
            ties_from[of_coordinate[j]] = 0
    for pair in [*coupled, *(pair for others in later for pair in combinations(others, 2))]:  # the latter fill
        ties_from[min(pair)] = 0
    lanes, tied_lanes = ([-(-w // WIDTH) for w in each] for each in (width, tied))
    stride, column = [0] * len(size), {(a, a): 0 for a in range(len(size))}
    for a, others in enumerate(later):
        for b in others:
            column[a, b] = column[b, a] = stride[a]
            stride[a] += WIDTH * tied_lanes[b]
    second: dict[tuple[int, int], int] = {}
    second_size = 0
    for a, b in [*((a, a) for a in range(len(size))), *((a, b) for a, others in enumerate(later) for b in others)]:
        for pair in dict.fromkeys([(a, b), (b, a)]):
            if (a == b or (a, b) in coupled) and size[a] * size[b]:
                second[pair], second_size = second_size, second_size + size[a] * size[b]
    blocks = sorted(([a, b, at, second[b, a]] for (a, b), at in second.items()), key=lambda block: min(block[:2]))
    borders = []
    for begin, end in runs([(i, of_coordinate[j], coordinate_nodes[j, 1] - e) for e, (i, j) in enumerate(entries)]):
        (node, local), (row_node, row) = coordinate_nodes[entries[begin][1]], row_nodes[entries[begin][0]]
        borders.append([node, local, row_node, row, begin, end, column[node, row_node]])
    borders.sort(key=lambda border: min(border[0], border[2]))
    nodes: list[list[int]] = []
    pairs: list[list[int]] = []
    targets: list[int] = []
    places: list[list[int]] = []
    start = mass = matrix = member = 0
    for a, others in enumerate(later):
        diagonal = second.get((a, a), -1)
        nodes.append([size[a], len(rows[a]), start, diagonal, len(pairs), len(others), len(targets), member, tied[a]])
        nodes[-1] += [lanes[a], tied_lanes[a], stride[a]]
        start, member, own = start + WIDTH * lanes[a], member + size[a], WIDTH * lanes[a] * width[a]
        ties, first_tie = width[a] * stride[a], ties_from[a] * stride[a]
        places.append([mass, *[mass + own - first_tie] * 2, matrix, matrix + own, matrix + own + ties])
        mass, matrix = mass + own + ties - first_tie, matrix + own + 2 * ties
        for b in others:
            pairs.append([b, column[a, b], second.get((a, b), -1), second.get((b, a), -1)])
        targets += [column[b, c] for b in others for c in others]
    table = np.array(nodes, np.int64).reshape(-1, 12)
    for owners in ([min(block[:2]) for block in blocks], [min(border[0], border[2]) for border in borders]):
        count = np.bincount(np.array(owners, np.int64), minlength=len(nodes))
        table = np.column_stack([table, np.cumsum(count) - count, count])
    table = np.column_stack([table, np.array(ties_from, np.int64), np.array(places, np.int64).reshape(-1, 6)])
    first, first_row = table[:, NODE_START], table[:, NODE_START] + table[:, NODE_COORDINATES]
    return {
        "nodes": table,
        "members": np.array([j for group in coordinates for j in group], np.int64),
        "pairs": np.array(pairs, np.int64).reshape(-1, 4),
        "targets": np.array(targets, np.int64),
        "blocks": np.array(blocks, np.int64).reshape(-1, 4),
        "entries": np.array([j for _, j in entries], np.int64),
        "borders": np.array(borders, np.int64).reshape(-1, 7),
        "coordinate_nodes": coordinate_nodes,
        "row_nodes": row_nodes,
        "places": np.concatenate(
            [
                first[of_coordinate] + coordinate_nodes[:, 1],
                np.where(of_row < 0, start, first_row[of_row] + row_nodes[:, 1]),
            ]
        ),
        "side_size": start + WIDTH,
        "reference": np.array(is_loop, float),
        "redundant": np.zeros(len(nodes), np.int64),
        "scales": np.ones(start + WIDTH),
        "mass_size": mass,
        "matrix_size": matrix,
        "second_size": second_size,
    }


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
