"""Elimination along the graph against dense matrices: random graphs, random saddle-point matrices, whole systems."""

import networkx as nx
import numpy as np
import pytest

import mbvi
from mbvi.kernels import layout
from mbvi.kernels.algebra.saddle import JACOBIAN, MASS, factor_saddle, products_size, scales_size, solve_saddle
from mbvi.kernels.mechanics import lagrangian as kernels
from mbvi.system.elimination import Atom, Block, Border, Node, Pair, elimination
from mbvi.system.redundancy import leave_out_rows
from tests.marks import sample

from . import mechanisms

TREES = {
    "chain": nx.path_graph(12),
    "star": nx.star_graph(11),
    "star, the hub last": nx.relabel_nodes(nx.star_graph(11), {i: 11 - i for i in range(12)}),
    "binary tree": nx.balanced_tree(2, 3),
    "random tree": nx.from_prufer_sequence([3, 3, 1, 7, 0, 7, 7, 2, 5, 5]),
    "isolated atoms": nx.empty_graph(5),
    "forest": nx.disjoint_union(nx.path_graph(4), nx.star_graph(5)),
    "one atom": nx.empty_graph(1),
}
LOOPED = {
    "ring": nx.cycle_graph(10),
    "ladder": nx.ladder_graph(6),
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(4, 4)),
    "wheel": nx.wheel_graph(8),
    "complete": nx.complete_graph(6),
    **{f"random {seed}": nx.gnm_random_graph(14, 20, seed) for seed in range(4)},
}


class Problem:
    """A saddle-point matrix of s stages whose blocks lie on a graph: of bodies, and of loops that its other edges close.

    Edges of a spanning tree share second derivatives, constraint rows, or both; every other edge is an atom of one row
    that comes after the bodies of its loop.
    """

    def __init__(self, graph, seed, copies=0):
        random = np.random.default_rng(seed)
        self.atoms, self.coupled, self.entries = [], [], []
        self.n = self.k = 0
        forest = nx.minimum_spanning_tree(graph)
        trees = [nx.bfs_tree(forest, min(part)) for part in nx.connected_components(forest)]
        for _ in graph:
            self.add_atom(random.integers(4, 7), random.integers(0, 2))
            for row in self.atoms[-1].rows:
                self.tie(row, len(self.atoms) - 1)
        for inner, outer in (edge for tree in trees for edge in tree.edges):
            kind = random.integers(3)
            if kind < 2 or not self.atoms[outer].rows:
                self.coupled.append((inner, outer))
            if kind > 0:
                for row in self.atoms[outer].rows:
                    self.tie(row, inner)
        for a, b in sorted(set(graph.edges) - set(forest.edges)):
            for _ in range(1 + copies):
                self.add_atom(0, 1)
                self.atoms[-1].before |= set(nx.shortest_path(forest, a, b))
                for body in (a, b):
                    self.tie(self.k - 1, body)
        blocks = elimination(self.atoms, self.coupled, self.entries)
        template = vars(mbvi.assemble(FREE).arrays)
        fields = {
            key: value for key, value in template.items() if key not in ("memory", "words", "address", "_numba_type_")
        }
        self.arrays = layout.System(**fields | {"n": self.n, "k": self.k} | blocks)
        self.arrays.scales[:] = random.uniform(0.5, 2.0, len(self.arrays.scales))

    def add_atom(self, coordinates, rows):
        self.atoms.append(
            Atom(
                list(range(self.n, self.n + coordinates)), list(range(self.k, self.k + rows)), is_loop=not coordinates
            ),
        )
        self.n, self.k = self.n + coordinates, self.k + rows

    def tie(self, row, atom):
        self.entries += [(row, j) for j in self.atoms[atom].coordinates]

    def matrix(self, s, seed=0, copies=0):
        """A random matrix of s stages, in the order of elimination, and of the identity in the places of no unknown."""
        random = np.random.default_rng(seed)
        A = np.diag(self.is_filling(s).astype(float))
        is_coupled = np.zeros((self.n, self.n), bool)
        for a, b in [*self.coupled, *((i, i) for i in range(len(self.atoms)))]:
            of = np.ix_(self.atoms[a].coordinates, self.atoms[b].coordinates)
            is_coupled[of] = is_coupled.T[of] = True
        stages = np.array([[1.0, -0.4], [0.3, 0.8]])[:s, :s]
        places = [mechanisms.stage_places(self.arrays, s, stage) for stage in range(s)]
        G = np.zeros((self.k, self.n))
        G[tuple(np.transpose(self.entries).astype(int).reshape(2, -1))] = random.normal(size=len(self.entries))
        originals = self.originals(copies)
        for row, first in originals.items():
            G[row] = random.normal() * G[first]
        for j, (momenta, _) in enumerate(places):
            for l, (coordinates, _) in enumerate(places):
                noise = 0.1 * random.normal(size=(self.n, self.n)) * is_coupled
                A[np.ix_(momenta, coordinates)] = stages[j, l] * 3.0 * np.eye(self.n) + noise
        for momenta, rows in places:
            A[np.ix_(momenta, rows)], A[np.ix_(rows, momenta)] = G.T, G
        return A

    def originals(self, copies):
        """Of every row that follows from another one, that one."""
        loops = [atom.rows[0] for atom in self.atoms if not atom.coordinates]
        return {row: loops[i - i % (copies + 1)] for i, row in enumerate(loops) if i % (copies + 1)}

    def is_filling(self, s):
        """Of every place of a right side whether it only fills up lanes."""
        places = [mechanisms.stage_places(self.arrays, s, stage) for stage in range(s)]
        filling = np.ones(s * self.arrays.side_size, bool)
        filling[np.concatenate([each for pair in places for each in pair])] = False
        return filling

    def vector(self, s, seed):
        """A random right side."""
        return np.where(self.is_filling(s), 0.0, np.random.default_rng(seed).normal(size=s * self.arrays.side_size))

    def solve(self, A, right, kind, s):
        """The solution by blocks; every entry of A, or that across the diagonal, must have a place."""
        rows, columns = mechanisms.places(self.arrays, kind, s)
        left = A - np.diag(self.is_filling(s).astype(float))
        stored = np.where(rows >= 0, left[rows, columns], 0.0)
        is_stored = rows >= 0
        left[rows[is_stored], columns[is_stored]] = 0.0
        if kind == MASS:
            left[columns[is_stored], rows[is_stored]] = 0.0
        assert not left.any()
        pivots, above = np.zeros((len(A), 2), np.int64), np.zeros(len(A))
        x, y = right.copy(), np.zeros(len(A))
        products, ranks = np.zeros(s * s * products_size(self.arrays)), np.zeros(len(self.arrays.nodes), np.int64)
        scales = np.zeros(scales_size(self.arrays, s))
        assert factor_saddle(stored, products, scales, pivots, above, ranks, self.arrays, kind, s)
        solve_saddle(y, x, stored, self.arrays, kind, s, 1)
        return y


FREE = mbvi.Model(
    name="free",
    bodies={"a": mbvi.Body(mass=1, inertia=(1, 1, 1))},
    joints={"j": mbvi.Free(parent="world", child="a")},
)


@pytest.mark.parametrize(
    ("record", "columns"),
    [
        (Node, {"coordinates": "NODE_COORDINATES", "rows": "NODE_ROWS", "start": "NODE_START", "lanes": "NODE_LANES"}),
        (Node, {f"mass_{name.lower()}": name for name in ("DIAGONAL", "UPPER", "LOWER")}),
        (
            Node,
            {name.lower(): name for name in ("SECOND_DIAGONAL", "FIRST_PAIR", "PAIRS", "FIRST_TARGET", "TIES_FROM")},
        ),
        (Node, {name.lower(): name for name in ("FIRST_MEMBER", "TIED", "TIED_LANES", "STRIDE", "FIRST_BLOCK")}),
        (Node, {name.lower(): name for name in ("BLOCKS", "FIRST_BORDER", "BORDERS")}),
        (Pair, {name.lower(): name for name in ("LATER", "COLUMN", "SECOND_UPPER")}),
        (Block, {name: f"BLOCK_{name.upper()}" for name in Block._fields}),
        (Border, {name: f"BORDER_{name.upper()}" for name in Border._fields}),
    ],
)
def test_fields_of_records_are_the_columns_of_the_layout(record, columns):
    assert {field: record._fields.index(field) for field in columns} == {
        field: getattr(layout, column) for field, column in columns.items()
    }


def test_places_in_a_jacobian_are_those_behind_the_places_in_the_mass_matrix():
    assert Node._fields.index("jacobian_diagonal") == layout.DIAGONAL + JACOBIAN
    assert [name.split("_")[1] for name in Node._fields[-6:]] == 2 * ["diagonal", "upper", "lower"]


@pytest.mark.parametrize("s", [1, 2])
@pytest.mark.parametrize("name", [*TREES, *LOOPED])
def test_solution(name, s):
    for seed in range(3):
        problem = Problem((TREES | LOOPED)[name], seed)
        A = problem.matrix(s, seed)
        right = problem.vector(s, seed)
        expected = np.linalg.solve(A, right)
        assert np.abs(problem.solve(A, right, JACOBIAN, s) - expected).max() < 1e-9 * np.abs(expected).max()


@pytest.mark.parametrize("name", [*TREES, *LOOPED])
def test_solution_of_a_symmetric_matrix(name):
    """Of which half the blocks stand, without the rows that hold nothing."""
    for seed in range(3):
        problem = Problem((TREES | LOOPED)[name], seed)
        A = problem.matrix(1, seed)
        A, right = 0.5 * (A + A.T), problem.vector(1, seed)
        expected = np.linalg.solve(A, right)
        assert np.abs(problem.solve(A, right, MASS, 1) - expected).max() < 1e-9 * np.abs(expected).max()
        assert problem.arrays.mass_size < problem.arrays.matrix_size or not len(problem.arrays.pairs)


@pytest.mark.parametrize("s", [1, 2])
@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("name", LOOPED)
def test_redundant_rows(name, copies, s):
    """Rows that follow from others, with right sides that fit: the increments are unique, the equations hold."""
    problem = Problem(LOOPED[name], 0, copies)
    problem.arrays.reference[:] = np.where(problem.arrays.nodes[:, layout.NODE_COORDINATES] > 0, 0.0, 1.0)
    problem.arrays.redundant[:] = -1
    A = problem.matrix(s, 1, copies)
    expected = problem.vector(s, 2)
    right = A @ expected
    found = problem.solve(A, right, JACOBIAN, s)
    assert np.abs(A @ found - right).max() < 1e-9 * np.abs(right).max()
    assert np.abs(found - expected).max() > 1e-3  # multipliers are not unique
    for stage in range(s):
        coordinates, _ = mechanisms.stage_places(problem.arrays, s, stage)
        assert np.abs((found - expected)[coordinates]).max() < 1e-9 * np.abs(right).max()


def test_singular_matrices_are_reported():
    problem = Problem(TREES["chain"], 0)
    A = problem.matrix(1)
    place = mechanisms.stage_places(problem.arrays)[0][0]
    A[place] = 0.0
    with pytest.raises(AssertionError, match="factor_saddle"):
        problem.solve(A, problem.vector(1, 0), JACOBIAN, 1)


def original_size(problem):
    """Entries of the blocks of atoms that share a row, second derivatives, or nothing but themselves, rows in whole lanes.

    Of the later of two, its coordinates alone, unless a row of it ties an earlier one.
    """
    width = [len(atom.coordinates) + len(atom.rows) for atom in problem.atoms]
    tied = [len(atom.coordinates) for atom in problem.atoms]
    node = [
        (problem.arrays.coordinate_nodes[a.coordinates] if a.coordinates else problem.arrays.row_nodes[a.rows])[0, 0]
        for a in problem.atoms
    ]
    of_row = {row: i for i, atom in enumerate(problem.atoms) for row in atom.rows}
    of_coordinate = {j: i for i, atom in enumerate(problem.atoms) for j in atom.coordinates}
    pairs = {tuple(sorted((of_row[row], of_coordinate[j]))) for row, j in problem.entries}
    pairs |= {tuple(sorted(pair)) for pair in problem.coupled}
    for row, j in problem.entries:
        if node[of_coordinate[j]] < node[of_row[row]]:
            tied[of_row[row]] = width[of_row[row]]
    ordered = [sorted(pair, key=node.__getitem__) for pair in pairs if pair[0] != pair[1]]
    lanes = [[-(-w // 4) * 4 for w in each] for each in (width, tied)]
    return sum(w * l for w, l in zip(width, lanes[0], strict=True)) + sum(
        2 * width[a] * lanes[1][b] for a, b in ordered
    )


@pytest.mark.parametrize("name", TREES)
def test_trees_do_not_fill(name):
    for seed in range(5):
        problem = Problem(TREES[name], seed)
        assert problem.arrays.matrix_size == original_size(problem)


@pytest.mark.parametrize(
    ("kind", "formulation"),
    [("star", "tree"), *((kind, "embedding") for kind in ("chain", "ring", "star", "ladder of four-bars"))],
)
def test_storage_is_linear(kind, formulation):
    """So many bodies more add so many entries more. (A serial chain in joint coordinates is dense.)"""
    sizes = [mbvi.assemble(mechanisms.linked(kind, count), formulation).arrays.matrix_size for count in (30, 60, 90)]
    assert sizes[2] - sizes[1] == sizes[1] - sizes[0] > 0


def nothing(t, q, v, F):
    pass


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("seed", sample(range(3), 3))
def test_blocks_hold_all_second_derivatives(seed, mixed, formulation):
    """As one dense block of all coordinates, which a force function asks for, and in blocks along the graph."""
    model = mechanisms.random_graph(
        seed, formulation=formulation, mixed=mixed, ties=(), forces=mechanisms.POTENTIAL + mechanisms.OTHER
    )
    sparse, dense = mbvi.assemble(model), mbvi.assemble(model, force=nothing)
    assert sparse.arrays.second_size < dense.arrays.second_size == dense.dimension**2
    q, v = mechanisms.random_state(sparse, seed)
    assert np.array_equal(sparse.mass_matrix(q), dense.mass_matrix(q))
    for a, b in zip(sparse.second_derivatives(q, v, 0.3), dense.second_derivatives(q, v, 0.3), strict=True):
        assert np.abs(a - b).max() < 1e-14 * np.abs(b).max()


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_massless_rungs_go_with_their_loops(formulation):
    """Each with its own, so that storage stays linear; what has mass is in no block whose rows may be redundant."""
    sizes = []
    for count in (20, 40, 60):
        model = mechanisms.linked("ladder of four-bars", count)
        rungs = {name: mbvi.Body() for name in model.bodies if name.startswith("rung")}
        light = model.model_copy(update={"bodies": model.bodies | rungs})
        heavy, light = (mbvi.assemble(each, formulation) for each in (model, light))
        assert not np.any(heavy.arrays.reference[heavy.arrays.coordinate_nodes[:, 0]])
        in_loops = np.flatnonzero(light.arrays.reference[light.arrays.coordinate_nodes[:, 0]])
        names = [light.coordinate_names[i] for i in in_loops]
        assert len(names) == len(rungs) * {"tree": 1, "embedding": 7}[formulation]
        assert all("rung" in name for name in names)
        sizes.append(light.arrays.matrix_size)
    if formulation == "embedding":  # where blocks of the square of the length would add 5/3 as many
        assert sizes[2] - sizes[1] == pytest.approx(sizes[1] - sizes[0], rel=0.1)


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize("seeds", sample([range(16), range(16, 32)], 2))
def test_velocities_with_massless_bodies(seeds, formulation):
    """Random graphs in which some bodies are massless: M v + Gᵀμ = p, G v + ∂g/∂t = 0 as by an orthonormal basis of G v = 0.

    Where v is not unique it is not asked for, nor where a model is refused.
    """
    solved = 0
    for seed in seeds:
        random = np.random.default_rng(seed)
        chords = random.choice(mechanisms.KINDS[1:], random.integers(1, 4))
        model = mechanisms.random_graph(
            seed, chords=chords, ties=["point on plane"], formulation=formulation, mixed=seed % 2
        )
        bodies = {name: mbvi.Body() if random.random() < 0.15 else body for name, body in model.bodies.items()}
        try:
            system = mbvi.assemble(mbvi.Model(**dict(model) | {"bodies": bodies}))
        except mbvi.ModelError:
            continue
        q, p = mechanisms.random_state(system, seed)
        _, G, g_t = system._constraints(q, 0.0)
        _, singular, right = np.linalg.svd(G)
        free = right[np.sum(singular > 1e-9 * singular.max()) :].T
        M = free.T @ system.mass_matrix(q) @ free
        if len(M) and np.linalg.cond(M) < 1e8:
            leave_out_rows(system, [q], 0.0)
            assert kernels.solve_velocity(system.arrays, system.work, 0.0, q, p), seed
            driven = -np.linalg.lstsq(G, g_t, rcond=1e-9)[0]
            expected = driven + free @ np.linalg.solve(M, free.T @ (p - system.mass_matrix(q) @ driven))
            assert np.abs(system.work.solution[: len(q)] - expected).max() < 1e-8 * np.abs(expected).max(), seed
            solved += 1
    assert solved >= 4


@pytest.mark.parametrize("scheme", ["simpson", "gauss2", "gauss6", "chorin", "rk4"])
@pytest.mark.parametrize("count", [3, 8, 11, 30])
def test_a_free_joint_closes_no_loop(count, scheme):
    """Bodies that a free joint ties as well are held by nothing more: as many pendulums, one by one."""
    rod = mbvi.Body(mass=1, inertia=(1, 1, 1))
    hinges = {
        f"j{i}": mbvi.Revolute(parent="world", child=f"b{i}", axis=(0, 1, 0), position=(3 * i, 0, 0), offset=(0, 0, -1))
        for i in range(count)
    }
    joints = {**hinges, "free": mbvi.Free(parent="b1", child="b2")}
    model = mbvi.Model(name="pendulums", bodies={f"b{i}": rod for i in range(count)}, joints=joints)
    start = np.linspace(0.1, 1, count)
    run = mbvi.simulate(model, scheme, step=0.01, duration=0.3, initial_q=start)
    one = mbvi.Model(name="pendulum", bodies={"b0": rod}, joints={"j0": hinges["j0"]})
    for i in (0, count // 2, count - 1):
        alone = mbvi.simulate(one, scheme, step=0.01, duration=0.3, initial_q=start[i : i + 1])
        assert np.abs(run.q[:, i] - alone.q[:, 0]).max() < (1e-6 if scheme == "chorin" else 1e-13)
