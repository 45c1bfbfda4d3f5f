"""The saddle-point matrix of a step, in blocks along the graph: places of its blocks, elimination, solution.

A node holds coordinates of one or several bodies and the constraint rows that tie them; nodes are eliminated in order, and
a pair is a node and a later one that it is tied to, or becomes tied to on the way (the pattern is found once, see
`mbvi.system.elimination`). With diagonal block D of a node, A_b the block (node, b) and B_b the block (b, node) for each later
node b of its pairs,

    W_b = D⁻¹ A_b,     (b, c) −= B_b W_c;      y = D⁻¹ x,     x_b −= B_b y;      backwards  y ← y − Σ_b W_b y_b.

D is inverted by Gauss–Jordan elimination with pivoting inside the block.

All blocks of a node stand side by side in its panel, row by row: a row of D, of every A_b, then of every transposed B_b. Each has
whole lanes (`lanes`), filled up with zeros, so that rows are added four numbers at a time; so has the part of a node in a right
side. For s stages a node has s times as many unknowns, the coordinates of all stages before the rows of all; every block and
every panel is s times as wide. Of the later node a block holds the first unknowns alone, as many as earlier nodes are tied to:
most often its coordinates, and not its constraints.

Where a node has a reference, its constraints close loops and may be redundant: then the pivot is the largest entry left, and as
many rows as are redundant anywhere on the constraints are left out at last (their unknowns become 0); in a singular
configuration those below 1e-10 of the reference as well. To count these, System.redundant is −1: then rows are left out whose
pivots are below 1e-9 of the reference.

Source: Wendlandt & Marsden 1997, section 6 (linear cost on trees); Duff, Erisman & Reid 2017, chapters 5 and 9.
"""

import numpy as np

from mbvi.kernels.lanes import WIDTH, lanes, larger, prefetch, total
from mbvi.kernels.layout import (
    BLOCK_COLUMN,
    BLOCK_MIRROR,
    BLOCK_ROW,
    BLOCK_SECOND,
    BLOCKS,
    BORDER_END,
    BORDER_FIRST,
    BORDER_LOCAL,
    BORDER_LOWER,
    BORDER_NODE,
    BORDER_ROW,
    BORDER_ROW_NODE,
    BORDER_UPPER,
    BORDERS,
    FIRST_BLOCK,
    FIRST_BORDER,
    FIRST_PAIR,
    FIRST_TARGET,
    LATER,
    LOWER,
    NODE_COORDINATES,
    NODE_LANES,
    NODE_ROWS,
    NODE_START,
    PAIRS,
    PANEL,
    SECOND_DIAGONAL,
    SECOND_UPPER,
    STRIDE,
    TIED,
    TIED_LANES,
    UPPER,
    copied_solver_kernel,
    kernel,
    solver_kernel,
)

REDUNDANT = 1e-9  # a pivot, relative to the node's reference, whose constraint follows from others
LOST = 1e-10  # the same in a singular configuration, where a constraint is lost for a moment
# numba would compile what takes literal numbers once more.
ONE_STAGE, FIRST_STAGE, ONE_SIDE = np.int64(1), np.int64(0), np.int64(1)
LANES_OF_LINE = 2  # lanes that a line of the cache holds
AHEAD = 3  # nodes between what is read and what is asked for
SINGULAR_PIVOT = 1e-16  # a pivot, relative to what stands above it in its column, that is rounding


@kernel
def find_pair(system, early, late):
    """The pair of a node and a later one, −1 if they are not tied."""
    first = system.nodes[early, FIRST_PAIR]
    for i in range(first, first + system.nodes[early, PAIRS]):
        if system.pairs[i, LATER] == late:
            return i
    return -1


@kernel
def second_block(system, a, b):
    """Place of block (a, b) of nodes in the second derivatives, −1 if it is not stored."""
    if a == b:
        return system.nodes[a, SECOND_DIAGONAL]
    i = find_pair(system, min(a, b), max(a, b))
    return system.pairs[i, SECOND_UPPER + (a > b)] if i >= 0 else -1


@kernel
def node_width(system, a, s):
    """Number of unknowns of a node in s stages."""
    return s * (system.nodes[a, NODE_COORDINATES] + system.nodes[a, NODE_ROWS])


@kernel
def panel_place(system, s, a, i, column):
    """Place in the matrix of s stages of row i of the panel of node a, at the block that begins at a column."""
    return s * (s * system.nodes[a, PANEL] + i * system.nodes[a, STRIDE] + column)


@kernel
def matrix_place(system, s, a, i, b, j):
    """Place in the matrix of s stages of the entry in row i of node a and column j of node b."""
    if a == b:
        return panel_place(system, s, a, i, 0) + j
    if a < b:
        return panel_place(system, s, a, i, system.pairs[find_pair(system, a, b), UPPER]) + j
    return panel_place(system, s, b, j, system.pairs[find_pair(system, b, a), LOWER]) + i


@kernel
def block_place(system, s, i):
    """Of block i of second derivatives in a matrix of s stages: its place, the steps down and across, and its size."""
    row, column = system.blocks[i, BLOCK_ROW], system.blocks[i, BLOCK_COLUMN]
    rows, columns = system.nodes[row, NODE_COORDINATES], system.nodes[column, NODE_COORDINATES]
    place = matrix_place(system, s, row, 0, column, 0)
    if row > column:
        return place, 1, s * system.nodes[column, STRIDE], rows, columns
    return place, s * system.nodes[row, STRIDE], 1, rows, columns


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


@copied_solver_kernel
def add_stages(J, system, A, B, weight, h, Lvv, Lvq, Kqv, Kqq):
    """Add what a quadrature node, with its row of A and B (s+1,), gives to a matrix of s stages:

    weight · [B_j (B_l Lvv + h A_l Lvq) + h A_j (B_l Kqv + h A_l Kqq)]   in momentum rows j = 0 … s−1 and columns l = 1 … s.
    """
    s = A.shape[0] - 1
    for i in range(system.blocks.shape[0]):
        place, down, across, rows, columns = block_place(system, s, i)
        source = system.blocks[i, BLOCK_SECOND]
        for a in range(rows):
            for b in range(columns):
                for l in range(1, s + 1):
                    v = weight * (B[l] * Lvv[source] + h * A[l] * Lvq[source])
                    q = weight * (B[l] * Kqv[source] + h * A[l] * Kqq[source])
                    to = place + a * down + ((l - 1) * columns + b) * across
                    for j in range(s):
                        J[to + j * rows * down] += B[j] * v + h * A[j] * q
                source += 1


@solver_kernel
def add_second(J, system, vv, vq, qv, qq, Lvv, Lvq, Kqv, Kqq):
    """Add vv Lvv + vq Lvq + qv Kqv + qq Kqq to a matrix of one stage."""
    for i in range(system.blocks.shape[0]):
        place, down, across, rows, columns = block_place(system, ONE_STAGE, i)
        source = system.blocks[i, BLOCK_SECOND]
        for _ in range(rows):
            for b in range(columns):
                J[place + b * across] += vv * Lvv[source] + vq * Lvq[source] + qv * Kqv[source] + qq * Kqq[source]
                source += 1
            place += down


@solver_kernel
def add_mass(J, M, system, a):
    """Add M to the panel of node a in a matrix of one stage."""
    first = system.nodes[a, FIRST_BLOCK]
    for i in range(first, first + system.nodes[a, BLOCKS]):
        place, down, across, rows, columns = block_place(system, ONE_STAGE, i)
        source = system.blocks[i, BLOCK_SECOND]
        for _ in range(rows):
            for b in range(columns):
                J[place + b * across] += M[source + b]
            source += columns
            place += down


@copied_solver_kernel
def add_jacobian(J, G_upper, G_lower, system, s, row_stage, column_stage, a):
    """Add the borders in the panel of node a of a matrix of s stages: G_upperᵀ in the momentum rows and impulse columns of
    row_stage, G_lower in the constraint rows and coordinate columns of column_stage.

    G_upper, G_lower   (E,)   entries of the constraint Jacobian at the two control points
    """
    first = system.nodes[a, FIRST_BORDER]
    for i in range(first, first + system.nodes[a, BORDERS]):
        border = system.borders[i]
        node, other = border[BORDER_ROW_NODE], border[BORDER_NODE]
        rows, width = system.nodes[node, NODE_ROWS], system.nodes[other, NODE_COORDINATES]
        row = s * system.nodes[node, NODE_COORDINATES] + border[BORDER_ROW]
        up, left = row + row_stage * rows, border[BORDER_LOCAL] + row_stage * width
        down, right = row + column_stage * rows, border[BORDER_LOCAL] + column_stage * width
        # In the panel stand the rows of G_upperᵀ and those of G_lower, or, of a later node, what is transposed.
        step = mirror_step = s * system.nodes[a, STRIDE]
        place = panel_place(system, s, a, left, border[BORDER_UPPER]) + up
        mirror = panel_place(system, s, a, right, border[BORDER_LOWER]) + down
        if other > node:
            place, step = panel_place(system, s, a, up, border[BORDER_UPPER]) + left, 1
        if other >= node:
            mirror, mirror_step = panel_place(system, s, a, down, border[BORDER_LOWER]) + right, 1
        for e in range(border[BORDER_FIRST], border[BORDER_END]):
            J[place] += G_upper[e]
            J[mirror] += G_lower[e]
            place, mirror = place + step, mirror + mirror_step


@solver_kernel
def exchange_rows(rows, a, b, count):
    """Exchange two rows of `count` lanes that begin at a and b."""
    for k in range(count):
        kept = rows[a + k]
        rows[a + k] = rows[b + k]
        rows[b + k] = kept


@solver_kernel
def exchange_columns(A, a, b, w, stride):
    """Exchange two columns of w numbers that begin at a and b."""
    for i in range(w):
        kept = A[a + i * stride]
        A[a + i * stride] = A[b + i * stride]
        A[b + i * stride] = kept


@copied_solver_kernel
def factor_panel(A, at, w, stride, wide, width, pivots, above, reference, redundant):
    """Overwrite [D A_b …] by [D⁻¹ D⁻¹ A_b …]; the rank of D, −1 if it is singular though nothing may be redundant.

    at, w, stride     place, number and length of the panel's rows, of which `wide` lanes hold D and A_b, `width` of them D
    redundant         how many rows are left out, −1: those below REDUNDANT · reference

    pivots   (., 2)   work: row and column that were exchanged with each
    above    (.,)     work: largest entry above the diagonal of every column
    """
    rows, largest = lanes(A), lanes(above)
    top, step, rank = at // WIDTH, stride // WIDTH, w
    for k in range(width):
        largest[k] = 0.0
    for j in range(w):
        row = column = j
        best = 0.0
        for i in range(j, w):
            if abs(A[at + i * stride + j]) > best:
                best, row = abs(A[at + i * stride + j]), i
        if reference > 0.0:
            for i in range(j, w):
                for k in range(j + 1, w):
                    if abs(A[at + i * stride + k]) > best:
                        best, row, column = abs(A[at + i * stride + k]), i, k
        smallest = (REDUNDANT if redundant < 0 else LOST) * reference
        if reference > 0.0 and (best <= smallest or j >= w - max(redundant, 0)):
            rank = j
            break
        if not best > SINGULAR_PIVOT * above[j]:
            return -1
        pivots[j, 0], pivots[j, 1] = row, column
        pivot = top + j * step
        if row != j:
            exchange_rows(rows, pivot, top + row * step, wide)
        if column != j:
            exchange_columns(A, at + j, at + column, w, stride)
        inverse = 1.0 / A[at + j * stride + j]
        for k in range(width):
            largest[k] = larger(largest[k], rows[pivot + k])
        for k in range(wide):
            rows[pivot + k] = rows[pivot + k] * inverse
        for i in range(w):
            ratio = A[at + i * stride + j]
            if i != j and ratio != 0.0:
                for k in range(wide):
                    rows[top + i * step + k] = rows[top + i * step + k] - ratio * rows[pivot + k]
                A[at + i * stride + j] = -ratio * inverse
        A[at + j * stride + j] = inverse
    for i in range(rank, w):
        for k in range(wide):
            rows[top + i * step + k] = 0.0
        for j in range(rank):
            A[at + j * stride + i] = 0.0
    for j in range(rank - 1, -1, -1):
        row, column = pivots[j, 0], pivots[j, 1]
        if row != j:
            exchange_columns(A, at + j, at + row, w, stride)
        if column != j:
            exchange_rows(rows, top + j * step, top + column * step, wide)
    return rank


@solver_kernel
def multiply_panel(y, x, first, A, at, w, stride, width):
    """y = D⁻¹ x, from the place `first` on; `at` to `width` as in `factor_panel`."""
    rows, right = lanes(A), lanes(x)
    for i in range(w):
        row = (at + i * stride) // WIDTH
        product = rows[row] * right[first // WIDTH]
        for k in range(1, width):
            product = product + rows[row + k] * right[first // WIDTH + k]
        y[first + i] = total(product)


@solver_kernel
def subtract_product(A, out, out_stride, left, right, stride, inner, high, wide):
    """A[out] −= A[left]ᵀ A[right], of `high` rows and `wide` lanes; left and right are in the panel of a node of `inner` rows."""
    rows = lanes(A)
    for i in range(high):
        for k in range(wide):
            rest = rows[(out + i * out_stride) // WIDTH + k]
            for j in range(inner):
                rest = rest - A[left + j * stride + i] * rows[(right + j * stride) // WIDTH + k]
            rows[(out + i * out_stride) // WIDTH + k] = rest


@copied_solver_kernel
def eliminate(A, pivots, above, ranks, system, s, a):
    """Eliminate node a, whose panel is complete, of the matrix A of s stages, in place; False if that is singular."""
    nodes, pairs = system.nodes, system.pairs
    at, stride = s * s * nodes[a, PANEL], s * nodes[a, STRIDE]
    w = node_width(system, a, s)
    width = -(-w // WIDTH)
    wide = (stride // WIDTH + s * nodes[a, NODE_LANES]) // 2 if nodes[a, PAIRS] > 0 else width
    ranks[a] = factor_panel(A, at, w, stride, wide, width, pivots, above, system.reference[a], s * system.redundant[a])
    if ranks[a] < 0:
        return False
    start = nodes[a, FIRST_PAIR]
    end = start + nodes[a, PAIRS]
    target = nodes[a, FIRST_TARGET]
    for i in range(start, end):
        for j in range(start, end):
            b, c = pairs[i, LATER], pairs[j, LATER]
            B, W, owner = at + s * pairs[i, LOWER], at + s * pairs[j, UPPER], min(b, c)
            out, out_stride = panel_place(system, s, owner, 0, system.targets[target]), s * nodes[owner, STRIDE]
            if b <= c:
                subtract_product(A, out, out_stride, B, W, stride, w, s * nodes[b, TIED], s * nodes[c, TIED_LANES])
            else:
                subtract_product(A, out, out_stride, W, B, stride, w, s * nodes[c, TIED], s * nodes[b, TIED_LANES])
            target += 1
    return True


@solver_kernel
def factor_saddle(A, pivots, above, ranks, system, s):
    """Eliminate all nodes of the matrix A of s stages in turn; False if it is singular."""
    for a in range(system.nodes.shape[0]):
        if not eliminate(A, pivots, above, ranks, system, s, a):
            return False
    return True


@solver_kernel
def prefetch_blocks(rows, system, s, a):
    """Ask for the blocks W_b of node a: to a processor, places read against their order come as a surprise."""
    top, step = s * s * system.nodes[a, PANEL] // WIDTH, s * system.nodes[a, STRIDE] // WIDTH
    for pair in range(system.nodes[a, FIRST_PAIR], system.nodes[a, FIRST_PAIR] + system.nodes[a, PAIRS]):
        block, wide = (
            top + s * system.pairs[pair, UPPER] // WIDTH,
            s * system.nodes[system.pairs[pair, LATER], TIED_LANES],
        )
        for i in range(node_width(system, a, s)):
            for k in range(0, wide, LANES_OF_LINE):
                prefetch(rows, block + i * step + k)


@solver_kernel
def solve_saddle(y, x, A, system, s, sides):
    """Solve for y, in the order of elimination, and overwrite right sides x, one behind the other; A of s stages, eliminated."""
    nodes, pairs, rows, left, right = system.nodes, system.pairs, lanes(A), lanes(x), lanes(y)
    count, size = nodes.shape[0], s * system.side_size
    for a in range(count):
        top, step = s * s * nodes[a, PANEL] // WIDTH, s * nodes[a, STRIDE] // WIDTH
        w = node_width(system, a, s)
        for side in range(0, sides * size, size):
            first = side + s * nodes[a, NODE_START]
            multiply_panel(y, x, first, A, top * WIDTH, w, step * WIDTH, -(-w // WIDTH))
            for pair in range(nodes[a, FIRST_PAIR], nodes[a, FIRST_PAIR] + nodes[a, PAIRS]):
                b = pairs[pair, LATER]
                to, block = (side + s * nodes[b, NODE_START]) // WIDTH, top + s * pairs[pair, LOWER] // WIDTH
                for k in range(s * nodes[b, TIED_LANES]):
                    rest = left[to + k]
                    for i in range(w):
                        rest = rest - y[first + i] * rows[block + i * step + k]
                    left[to + k] = rest
    for a in range(count - 1, -1, -1):
        if a >= AHEAD:
            prefetch_blocks(rows, system, s, a - AHEAD)
        top, step = s * s * nodes[a, PANEL] // WIDTH, s * nodes[a, STRIDE] // WIDTH
        w = node_width(system, a, s)
        for side in range(0, sides * size, size):
            first = side + s * nodes[a, NODE_START]
            for pair in range(nodes[a, FIRST_PAIR], nodes[a, FIRST_PAIR] + nodes[a, PAIRS]):
                b = pairs[pair, LATER]
                source, block = (side + s * nodes[b, NODE_START]) // WIDTH, top + s * pairs[pair, UPPER] // WIDTH
                for i in range(w):
                    product = rows[block + i * step] * right[source]
                    for k in range(1, s * nodes[b, TIED_LANES]):
                        product = product + rows[block + i * step + k] * right[source + k]
                    y[first + i] -= total(product)
