"""The saddle-point matrix of a step, in blocks along the graph: places of its blocks, LU factors, solution.

A node holds coordinates of one or several bodies and the constraint rows that tie them; nodes are eliminated in order, and
a pair is a node and a later one that it is tied to, or becomes tied to on the way (the pattern is found once, see
`mbvi.system.elimination`). With diagonal block D of a node, A_b the block (node, b) and B_b the block (b, node) for each later
node b of its pairs,

    W_b = D⁻¹ A_b,     (b, c) −= B_b W_c;      x_b −= B_b (D⁻¹ x);      backwards  x ← D⁻¹ x − Σ_b W_b x_b.

D is factored with pivoting inside the block. For s stages every block is s times as wide and high. Of the later node a block
holds the first unknowns alone, as many as earlier nodes are tied to: most often its coordinates, and not its constraints.

Blocks stand row by row in one array. Where a node has a reference, its constraints close loops and may be redundant: then the
pivot is the largest entry left, and as many rows as are redundant anywhere on the constraints are left out at last (their
unknowns become 0); in a singular configuration those below 1e-10 of the reference as well. To count these, System.redundant
is −1: then rows are left out whose pivots are below 1e-9 of the reference.

Source: Wendlandt & Marsden 1997, section 6 (linear cost on trees); Duff, Erisman & Reid 2017, chapters 5 and 9.
"""

import numpy as np

from mbvi.kernels.layout import (
    BLOCK_COLUMN,
    BLOCK_MATRIX,
    BLOCK_MIRROR,
    BLOCK_ROW,
    BLOCK_SECOND,
    DIAGONAL,
    FIRST_PAIR,
    FIRST_TARGET,
    LATER,
    NODE_COORDINATES,
    NODE_ROWS,
    NODE_START,
    PAIRS,
    TIED,
    UPPER,
    kernel,
    solver_kernel,
)

REDUNDANT = 1e-9  # a pivot, relative to the node's reference, whose constraint follows from others
LOST = 1e-10  # the same in a singular configuration, where a constraint is lost for a moment
ONE_STAGE, FIRST_STAGE = np.int64(1), np.int64(0)  # numba would compile what takes literal numbers once more
SINGULAR_PIVOT = 1e-16  # a pivot, relative to what stands above it in its column, that is rounding


@kernel
def block_place(system, a, b, diagonal, upper):
    """Place of block (a, b) of nodes, −1 if there is none: in the matrix, or in the second derivatives.

    The columns `diagonal` of System.nodes and `upper` of System.pairs tell in which.
    """
    if a == b:
        return system.nodes[a, diagonal]
    early, late = (a, b) if a < b else (b, a)
    first = system.nodes[early, FIRST_PAIR]
    for i in range(first, first + system.nodes[early, PAIRS]):
        if system.pairs[i, LATER] == late:
            return system.pairs[i, upper + (a > b)]
    return -1


@kernel
def node_width(system, a, s):
    """Number of unknowns of a node in s stages."""
    return s * (system.nodes[a, NODE_COORDINATES] + system.nodes[a, NODE_ROWS])


@kernel
def side_width(system, a, b):
    """Number of unknowns per stage of node a that its blocks with node b hold."""
    return system.nodes[a, TIED] if a > b else node_width(system, a, 1)


@kernel
def fill_transposed(out, X, system):
    """out = Xᵀ, in blocks of second derivatives."""
    for i in range(system.blocks.shape[0]):
        rows = system.nodes[system.blocks[i, BLOCK_ROW], NODE_COORDINATES]
        columns = system.nodes[system.blocks[i, BLOCK_COLUMN], NODE_COORDINATES]
        place, mirror = system.blocks[i, BLOCK_SECOND], system.blocks[i, BLOCK_MIRROR]
        for a in range(rows):
            for b in range(columns):
                out[place + a * columns + b] = X[mirror + b * rows + a]


@solver_kernel
def add_second(J, system, s, j, l, vv, vq, qv, qq, Lvv, Lvq, Kqv, Kqq):
    """Add vv Lvv + vq Lvq + qv Kqv + qq Kqq to the blocks of momentum rows j and columns l of a matrix of s stages."""
    for i in range(system.blocks.shape[0]):
        A, B = system.blocks[i, BLOCK_ROW], system.blocks[i, BLOCK_COLUMN]
        rows, columns = system.nodes[A, NODE_COORDINATES], system.nodes[B, NODE_COORDINATES]
        width = side_width(system, B, A)
        wide = s * width
        place = s * s * system.blocks[i, BLOCK_MATRIX] + j * side_width(system, A, B) * wide + l * width
        source = system.blocks[i, BLOCK_SECOND]
        for _ in range(rows):
            for b in range(columns):
                J[place + b] += vv * Lvv[source] + vq * Lvq[source] + qv * Kqv[source] + qq * Kqq[source]
                source += 1
            place += wide


@solver_kernel
def factor_node(A, at, w, pivots, first, reference, redundant):
    """LU factors of the block A[at : at + w²]; its rank, −1 if it is singular though nothing may be redundant.

    redundant         how many rows are left out, −1: those below REDUNDANT · reference

    pivots   (., 2)   out, rows first … first + w: row and column that were exchanged with each
    """
    for j in range(w):
        row = column = j
        best = above = 0.0
        for i in range(j):
            above = max(above, abs(A[at + i * w + j]))
        for i in range(j, w):
            for k in range(j, w if reference > 0.0 else j + 1):
                if abs(A[at + i * w + k]) > best:
                    best, row, column = abs(A[at + i * w + k]), i, k
        smallest = (REDUNDANT if redundant < 0 else LOST) * reference
        if reference > 0.0 and (best <= smallest or j >= w - max(redundant, 0)):
            return j
        if not best > SINGULAR_PIVOT * above:
            return -1
        pivots[first + j, 0], pivots[first + j, 1] = row, column
        if row != j:
            for k in range(w):
                A[at + j * w + k], A[at + row * w + k] = A[at + row * w + k], A[at + j * w + k]
        if column != j:
            for i in range(w):
                A[at + i * w + j], A[at + i * w + column] = A[at + i * w + column], A[at + i * w + j]
        inverse = 1.0 / A[at + j * w + j]
        A[at + j * w + j] = inverse
        for i in range(j + 1, w):
            ratio = A[at + i * w + j] * inverse
            A[at + i * w + j] = ratio
            if ratio != 0.0:
                for k in range(j + 1, w):
                    A[at + i * w + k] -= ratio * A[at + j * w + k]
    return w


@solver_kernel
def solve_node(A, at, w, rank, pivots, first, X, place, columns):
    """Overwrite X[place : place + w · columns], w rows, by D⁻¹ X; rows beyond the rank become 0."""
    for j in range(rank):
        row = pivots[first + j, 0]
        if row != j:
            for k in range(columns):
                X[place + j * columns + k], X[place + row * columns + k] = (
                    X[place + row * columns + k], X[place + j * columns + k],
                )  # fmt: skip
    for i in range(1, rank):
        for j in range(i):
            ratio = A[at + i * w + j]
            if ratio != 0.0:
                for k in range(columns):
                    X[place + i * columns + k] -= ratio * X[place + j * columns + k]
    for i in range(rank, w):
        for k in range(columns):
            X[place + i * columns + k] = 0.0
    for i in range(rank - 1, -1, -1):
        for j in range(i + 1, rank):
            ratio = A[at + i * w + j]
            if ratio != 0.0:
                for k in range(columns):
                    X[place + i * columns + k] -= ratio * X[place + j * columns + k]
        inverse = A[at + i * w + i]
        for k in range(columns):
            X[place + i * columns + k] *= inverse
    for j in range(rank - 1, -1, -1):
        column = pivots[first + j, 1]
        if column != j:
            for k in range(columns):
                X[place + j * columns + k], X[place + column * columns + k] = (
                    X[place + column * columns + k], X[place + j * columns + k],
                )  # fmt: skip


@solver_kernel
def subtract_product(A, system, out, left, right, b, c, inner, s):
    """A[out] −= A[left] A[right], blocks (b, c), (b, a) and (a, c) of two nodes b and c after a node a of `inner` unknowns."""
    rows, columns = system.nodes[b, TIED], system.nodes[c, TIED]
    high, wide = side_width(system, b, c), side_width(system, c, b)
    for i in range(s * rows):
        to = out + (i // rows * high + i % rows) * s * wide
        for j in range(inner):
            factor = A[left + i * inner + j]
            if factor != 0.0:
                for stage in range(s):
                    source = right + (j * s + stage) * columns
                    for k in range(columns):
                        A[to + stage * wide + k] -= factor * A[source + k]


@solver_kernel
def factor_saddle(A, pivots, ranks, system, s):
    """Overwrite the matrix A of s stages by its factors; False if it is singular."""
    for a in range(system.nodes.shape[0]):
        w, at, first = node_width(system, a, s), s * s * system.nodes[a, DIAGONAL], s * system.nodes[a, NODE_START]
        ranks[a] = factor_node(A, at, w, pivots, first, system.reference[a], s * system.redundant[a])
        if ranks[a] < 0:
            return False
        start = system.nodes[a, FIRST_PAIR]
        end = start + system.nodes[a, PAIRS]
        target = system.nodes[a, FIRST_TARGET]
        for j in range(start, end):
            columns = s * system.nodes[system.pairs[j, LATER], TIED]
            solve_node(A, at, w, ranks[a], pivots, first, A, s * s * system.pairs[j, UPPER], columns)
        for i in range(start, end):
            for j in range(start, end):
                subtract_product(
                    A, system, s * s * system.targets[target], s * s * system.pairs[i, UPPER + 1],
                    s * s * system.pairs[j, UPPER], system.pairs[i, LATER], system.pairs[j, LATER], w, s,
                )  # fmt: skip
                target += 1
    return True


@solver_kernel
def solve_saddle(x, A, pivots, ranks, system, s):
    """Overwrite x, in the order of elimination, by the solution; A, pivots and ranks from `factor_saddle`."""
    count = system.nodes.shape[0]
    for a in range(count):
        w, at, first = node_width(system, a, s), s * s * system.nodes[a, DIAGONAL], s * system.nodes[a, NODE_START]
        solve_node(A, at, w, ranks[a], pivots, first, x, first, 1)
        start = system.nodes[a, FIRST_PAIR]
        for i in range(start, start + system.nodes[a, PAIRS]):
            b = system.pairs[i, LATER]
            to, block = s * system.nodes[b, NODE_START], s * s * system.pairs[i, UPPER + 1]
            tied, width = system.nodes[b, TIED], node_width(system, b, 1)
            for row in range(s * tied):
                total = 0.0
                for k in range(w):
                    total += A[block + row * w + k] * x[first + k]
                x[to + row // tied * width + row % tied] -= total
    for a in range(count - 1, -1, -1):
        w, first = node_width(system, a, s), s * system.nodes[a, NODE_START]
        start = system.nodes[a, FIRST_PAIR]
        for i in range(start, start + system.nodes[a, PAIRS]):
            b = system.pairs[i, LATER]
            source, block = s * system.nodes[b, NODE_START], s * s * system.pairs[i, UPPER]
            tied, width = system.nodes[b, TIED], node_width(system, b, 1)
            for row in range(w):
                total = 0.0
                for stage in range(s):
                    for k in range(tied):
                        total += A[block + (row * s + stage) * tied + k] * x[source + stage * width + k]
                x[first + row] -= total
