"""The saddle-point matrix of a step, in blocks along the graph: places of its blocks, elimination, solution.

A node holds the coordinates of one or several bodies and the constraint rows that tie them. Nodes are eliminated in
order. A pair is a node and a later one that it is tied to, or that elimination ties it to (the pattern is found once,
see `mbvi.system.elimination`). With D the diagonal block of a node, A_b the block (node, b) and B_b the block (b, node)
for each later node b of its pairs, the node is eliminated, and solved for, by

    (b, c) −= B_b D⁻¹ A_c;      y = D⁻¹ x,     x_b −= B_b y;      backwards  y ← y − D⁻¹ Σ_b A_b y_b.

D is inverted by Gauss–Jordan elimination with pivoting inside the block, and its inverse is transposed, so that D⁻¹ x
is a sum of rows; A_b and B_b stay as they are.

The rows of D of a node come first in memory, then those of all its A_b side by side, then those of all transposed B_b.
Each block has whole lanes (`lanes`), filled up with zeros, so that rows are added four numbers at a time; so has the
part of a node in a right side. For s stages a node has s times as many unknowns, the coordinates of all stages before
the rows of all; every block is s times as wide and as high. A block holds only the first unknowns of the later node, as
many as earlier nodes are tied to: most often its coordinates, and not its constraints.

The matrix of M and G, [M Gᵀ; G 0], is symmetric: its transposed B_b are its A_b, and it has only those rows of A_b that
M and G tie to later nodes. A Jacobian has all of them.

Where a node has a reference, its constraints close loops and may be redundant: then the pivot is the largest entry
left, and as many rows as are redundant everywhere on the constraints are left out at last (their unknowns become 0); in
a singular configuration rows below 1e-10 of the reference are left out as well. While System.redundant is −1 these rows
are being counted: then rows are left out whose pivots are below 1e-9 of the reference.

Masses, moments of inertia and directions stand side by side in D, and their units decide which entries are large. A
block with constraint rows is therefore scaled by System.scales while it is inverted, so that units do not decide which
are pivots.

Example. Two points in a plane hang as a chain on two rods, rows 0 and 1; row 2, which holds a coordinate of the second
one, closes a loop. These are three nodes with two pairs, (0, 1) and (1, 2), and the matrix of one stage has the blocks

               q0  q1  λ0   q2  q3  λ1   λ2
    q0 q1 g0   D    (0)     A   (12)            node 0 at  0 of a right side (λ0 at 2)
    q2 q3 g1   Bᵀ  (24)     D   (36)     A (48)  node 1 at  4 (λ1 at 6)
    g2                      Bᵀ  (60)     D (72)  node 2 at  8

with the first place of each in parentheses. Blocks of node 0 and 1 have three rows of one lane (12 numbers), D of node
2 has one row: 76 numbers in all. The block (1, 0) holds row g1 as well as q2 and q3, since that row ties node 0.
`elimination` makes these.

Units, with u the unit of a coordinate: J, A, x, y, products, scales, left, right [mixed]; rows, out, X [any unit]; M, Lvv
[J s²/u²]; Lvq, Kqv [J s/u²]; Kqq [J/u²]; G_upper, G_lower [unit of g/u]; A_points, B_points, weights, ranks, least [1]; h
[s]; vv, vq, qv, qq [any unit]; reference [mixed].

Sources: Wendlandt & Marsden 1997, section 6 (linear cost on trees); Duff, Erisman & Reid 2017, chapters 5 and 9;
Higham, Accuracy and Stability of Numerical Algorithms (2002), section 14.4 (Gauss–Jordan elimination).
"""

import numpy as np

from mbvi.kernels.compiler.decorators import copied_kernel, copied_solver_kernel, kernel, solver_kernel
from mbvi.kernels.compiler.lanes import WIDTH, lanes, larger, prefetch, total
from mbvi.kernels.layout import (
    BLOCK_COLUMN,
    BLOCK_MIRROR,
    BLOCK_ROW,
    BLOCK_SECOND,
    BLOCKS,
    BORDER_COLUMN,
    BORDER_END,
    BORDER_FIRST,
    BORDER_LOCAL,
    BORDER_NODE,
    BORDER_ROW,
    BORDER_ROW_NODE,
    BORDERS,
    COLUMN,
    DIAGONAL,
    FIRST_BLOCK,
    FIRST_BORDER,
    FIRST_MEMBER,
    FIRST_PAIR,
    FIRST_TARGET,
    LATER,
    LOWER,
    NODE_COORDINATES,
    NODE_LANES,
    NODE_ROWS,
    NODE_START,
    PAIRS,
    SECOND_DIAGONAL,
    SECOND_UPPER,
    STRIDE,
    TIED,
    TIED_LANES,
    TIES_FROM,
    UPPER,
    System,
)

REDUNDANT = 1e-9  # a pivot, relative to the node's reference, whose constraint follows from others
NEARLY = 0.1  # a pivot on the diagonal, relative to the largest entry of its column, that needs no exchange of rows
CLEAR = (
    1e-3  # a pivot, relative to the reference, that needs no search of other columns where no constraint is redundant
)
LOST = 1e-10  # a pivot, relative to the reference, whose constraint is lost for a moment in a singular configuration
# numba would compile kernels once more for literal numbers.
ONE_STAGE, FIRST_STAGE, ONE_SIDE = np.int64(1), np.int64(0), np.int64(1)
MASS, JACOBIAN = (
    np.int64(0),
    np.int64(3),
)  # kinds of a matrix, and how far its places in System.nodes are behind those of MASS
LINE = 8  # numbers that a line of the cache holds
AHEAD = 8  # nodes between the one that is read and the one that the memory is asked for
UNCACHED = 1 << 16  # numbers of a matrix that does not stay in a processor's own cache
SINGULAR_PIVOT = 1e-16  # a pivot, relative to the entries above it in its column, that is rounding


def products_size(system: System) -> int:
    """Numbers that `eliminate` needs as work for products, for one stage; s² times as many for s stages."""
    nodes = system.nodes
    rows = nodes[:, NODE_COORDINATES] + nodes[:, NODE_ROWS]
    return int((rows * nodes[:, STRIDE]).max(initial=0))


def scales_size(system: System, stages: int = 1) -> int:
    """Numbers of the scales of one node, which `eliminate` needs as work too."""
    return int(stages * WIDTH * system.nodes[:, NODE_LANES].max(initial=0))


@kernel
def find_pair(system, early, late):
    """The pair of a node and a later one; −1 if they are not tied."""
    first = system.nodes[early, FIRST_PAIR]
    for i in range(first, first + system.nodes[early, PAIRS]):
        if system.pairs[i, LATER] == late:
            return i
    return -1


@kernel
def second_block(system, a, b):
    """Place of the block (a, b) of nodes in the second derivatives; −1 if it is not stored."""
    if a == b:
        return system.nodes[a, SECOND_DIAGONAL]
    i = find_pair(system, min(a, b), max(a, b))
    return system.pairs[i, SECOND_UPPER + (a > b)] if i >= 0 else -1


@copied_kernel
def place_in_order(system, j):
    """Place of coordinate j in the order of elimination."""
    return system.nodes[system.coordinate_nodes[j, 0], FIRST_MEMBER] + system.coordinate_nodes[j, 1]


@copied_kernel
def node_width(system, a, s):
    """Number of unknowns of node a in s stages."""
    return s * (system.nodes[a, NODE_COORDINATES] + system.nodes[a, NODE_ROWS])


@copied_kernel
def diagonal_place(system, kind, s, a, i):
    """Place in a matrix of s stages of row i of D of node a."""
    return s * (s * system.nodes[a, DIAGONAL + kind] + i * WIDTH * system.nodes[a, NODE_LANES])


@copied_kernel
def tie_place(system, kind, s, a, i, side, column):
    """Place in a matrix of s stages of row i of A_b (side UPPER), or of transposed B_b (LOWER), of node a.

    column    int   first column of the block in the rows of one stage, a column of System.pairs
    """
    return s * (s * system.nodes[a, side + kind] + i * system.nodes[a, STRIDE] + column)


@copied_kernel
def block_place(system, kind, s, a, b):
    """Place of the block (a, b) of nodes in a matrix of s stages, and the steps to its next row and to its next column."""
    if a == b:
        return diagonal_place(system, kind, s, a, 0), s * WIDTH * system.nodes[a, NODE_LANES], 1
    early = min(a, b)
    column, stride = system.pairs[find_pair(system, early, max(a, b)), COLUMN], s * system.nodes[early, STRIDE]
    if a < b:
        return tie_place(system, kind, s, a, 0, UPPER, column), stride, 1
    return tie_place(system, kind, s, b, 0, LOWER, column), 1, stride


@kernel
def fill_transposed(out, X, system):
    """out = Xᵀ, in blocks of second derivatives.

    out, X    (second_size,)    out: written; X: read, another array
    """
    for i in range(system.blocks.shape[0]):
        rows = system.nodes[system.blocks[i, BLOCK_ROW], NODE_COORDINATES]
        columns = system.nodes[system.blocks[i, BLOCK_COLUMN], NODE_COORDINATES]
        place, mirror = system.blocks[i, BLOCK_SECOND], system.blocks[i, BLOCK_MIRROR]
        for a in range(rows):
            for b in range(columns):
                out[place + a * columns + b] = X[mirror + b * rows + a]


@copied_kernel
def place_of_second(system, kind, s, i):
    """Place in a matrix of s stages of block i of second derivatives, its steps and its size.

    The steps are those of `block_place`; the size is the numbers of rows and of columns.
    """
    row, column = system.blocks[i, BLOCK_ROW], system.blocks[i, BLOCK_COLUMN]
    place, down, across = block_place(system, kind, s, row, column)
    return place, down, across, system.nodes[row, NODE_COORDINATES], system.nodes[column, NODE_COORDINATES]


@solver_kernel
def add_stages(J, system, A, B, A_points, B_points, weights, h, Lvv, Lvq, Kqv, Kqq, width, sums):
    """Add to a Jacobian of s stages the contribution of some quadrature nodes i:

    Σ_i b_i [B_ij (B_il Lvv_i + h A_il Lvq_i) + h A_ij (B_il Kqv_i + h A_il Kqq_i)]

    in momentum rows j = 0 … s−1 and columns l = 1 … s, for four rows and four columns at a time.

    J                    (s² matrix_size,)       in and out
    A, B                 (m, s+1)                coefficients of these nodes, m ≤ width  [1]
    A_points, B_points   (m, groups, 4)          those of l = 1 … s, with zeros behind
    weights              (m,)                    b_i
    Lvv, Lvq, Kqv, Kqq   (width second_size,)    second derivatives, every entry of all nodes side by side
    width                int                     places for each entry, of which the first m are read
    sums                 (4, 4)                  work
    """
    m, s = A.shape[0], A.shape[1] - 1
    places, moves, out = lanes(A_points), lanes(B_points), lanes(sums)
    for block in range(system.blocks.shape[0]):
        place, down, across, rows, columns = place_of_second(system, JACOBIAN, s, block)
        source = system.blocks[block, BLOCK_SECOND]
        for entry in range(rows * columns):
            a, b = entry // columns, entry % columns
            for j in range(0, s, WIDTH):
                second, third, fourth = min(j + 1, s - 1), min(j + 2, s - 1), min(j + 3, s - 1)
                for c in range(A_points.shape[1]):
                    x = y = z = w = 0.0 * places[0, c]
                    for i in range(m):
                        move, at = weights[i] * moves[i, c], (h * weights[i]) * places[i, c]
                        k = source * width + i
                        v = move * Lvv[k] + at * Lvq[k]
                        q = h * (move * Kqv[k] + at * Kqq[k])
                        x = x + (B[i, j] * v + A[i, j] * q)
                        y = y + (B[i, second] * v + A[i, second] * q)
                        z = z + (B[i, third] * v + A[i, third] * q)
                        w = w + (B[i, fourth] * v + A[i, fourth] * q)
                    out[0], out[1], out[2], out[3] = x, y, z, w
                    for row in range(min(WIDTH, s - j)):
                        to = place + (a + (j + row) * rows) * down + (b + c * WIDTH * columns) * across
                        for l in range(min(WIDTH, s - c * WIDTH)):
                            J[to + l * columns * across] += sums[row, l]
            source += 1


@solver_kernel
def add_second(J, system, vv, vq, qv, qq, Lvv, Lvq, Kqv, Kqq):
    """Add vv Lvv + vq Lvq + qv Kqv + qq Kqq to a Jacobian of one stage.

    J                    (matrix_size,)    in and out
    Lvv, Lvq, Kqv, Kqq   (second_size,)    second derivatives
    """
    for i in range(system.blocks.shape[0]):
        place, down, across, rows, columns = place_of_second(system, JACOBIAN, ONE_STAGE, i)
        source = system.blocks[i, BLOCK_SECOND]
        for _ in range(rows):
            for b in range(columns):
                J[place + b * across] += vv * Lvv[source] + vq * Lvq[source] + qv * Kqv[source] + qq * Kqq[source]
                source += 1
            place += down


@solver_kernel
def add_mass(J, M, system, a):
    """Add the blocks of M that node a has with itself and with later nodes to the matrix of M and G.

    J         (mass_size,)      in and out
    M         (second_size,)    in blocks of second derivatives
    """
    first = system.nodes[a, FIRST_BLOCK]
    for i in range(first, first + system.nodes[a, BLOCKS]):
        if system.blocks[i, BLOCK_ROW] > system.blocks[i, BLOCK_COLUMN]:
            continue
        place, down, across, rows, columns = place_of_second(system, MASS, ONE_STAGE, i)
        source = system.blocks[i, BLOCK_SECOND]
        for _ in range(rows):
            for b in range(columns):
                J[place + b * across] += M[source + b]
            source += columns
            place += down


@copied_solver_kernel
def add_jacobian(J, G_upper, G_lower, system, kind, s, row_stage, column_stage, a):
    """Add the borders of node a to a matrix of s stages.

    G_upperᵀ stands in the momentum rows and impulse columns of row_stage, G_lower in the constraint rows and coordinate
    columns of column_stage.

    J                  (s² size,)   in and out, size = matrix_size, or mass_size of kind MASS
    G_upper, G_lower   (E,)         entries of the constraint Jacobian at the two control points
    """
    first, stride = system.nodes[a, FIRST_BORDER], s * system.nodes[a, STRIDE]
    for i in range(first, first + system.nodes[a, BORDERS]):
        border = system.borders[i]
        node, other, column = border[BORDER_ROW_NODE], border[BORDER_NODE], border[BORDER_COLUMN]
        rows, width = system.nodes[node, NODE_ROWS], system.nodes[other, NODE_COORDINATES]
        row = s * system.nodes[node, NODE_COORDINATES] + border[BORDER_ROW]
        up, left = row + row_stage * rows, border[BORDER_LOCAL] + row_stage * width
        down, right = row + column_stage * rows, border[BORDER_LOCAL] + column_stage * width
        if other == node:
            place, step = diagonal_place(system, kind, s, a, left) + up, s * WIDTH * system.nodes[a, NODE_LANES]
            mirror, mirror_step = diagonal_place(system, kind, s, a, down) + right, 1
        elif other > node:
            place, step = tie_place(system, kind, s, a, up, LOWER, column) + left, 1
            mirror, mirror_step = tie_place(system, kind, s, a, down, UPPER, column) + right, 1
        else:
            place, step = tie_place(system, kind, s, a, left, UPPER, column) + up, stride
            mirror, mirror_step = tie_place(system, kind, s, a, right, LOWER, column) + down, stride
        is_mirrored = other == node or kind == JACOBIAN
        for e in range(border[BORDER_FIRST], border[BORDER_END]):
            J[place] += G_upper[e]
            if is_mirrored:
                J[mirror] += G_lower[e]
            place, mirror = place + step, mirror + mirror_step


@solver_kernel
def exchange_rows(rows, a, b, count):
    """Exchange two rows of `count` lanes that begin at a and b.

    rows      (count,)    in and out, an array of lanes (longer than that: it contains both rows)
    """
    for k in range(count):
        kept = rows[a + k]
        rows[a + k] = rows[b + k]
        rows[b + k] = kept


@solver_kernel
def exchange_columns(A, a, b, w, stride):
    """Exchange two columns of w numbers, in rows of length `stride`, that begin at a and b.

    A         (w stride,)    in and out (or longer)
    """
    for i in range(w):
        kept = A[a + i * stride]
        A[a + i * stride] = A[b + i * stride]
        A[b + i * stride] = kept


@solver_kernel
def transpose(A, at, w, stride):
    """Exchange rows and columns of the w × w numbers from `at` on, in rows of length `stride`.

    A         (w stride,)    in and out (or longer)
    """
    for i in range(1, w):
        for j in range(i):
            kept = A[at + i * stride + j]
            A[at + i * stride + j] = A[at + j * stride + i]
            A[at + j * stride + i] = kept


@copied_solver_kernel
def invert_block(A, at, w, stride, width, pivots, above, reference, redundant, least):
    """Overwrite D by its transposed inverse. Returns its rank, or −1 if it is singular though nothing may be redundant.

    A                 (w stride,)    in and out: contains D (or longer)
    at, w, stride     int            place of D, number of its rows, and their length; the first `width` lanes of each
                                     hold D
    pivots            (w, 2)         work: row and column that were exchanged with each (or longer)
    above             (4 width,)     work: largest entry above the diagonal of every column (or longer)
    reference         float          size of the pivots of a node whose constraints may be redundant; 0.0 of others
    redundant         int            number of rows that are left out; −1: all that are below REDUNDANT · reference
    least             float          a pivot of this size, relative to the entries above it in its column, counts as
                                     zero
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
        if abs(A[at + j * stride + j]) >= NEARLY * best:
            best, row = abs(A[at + j * stride + j]), j
        if reference > 0.0 and not (redundant == 0 and best > CLEAR * reference):
            for i in range(j, w):
                for k in range(j + 1, w):
                    if abs(A[at + i * stride + k]) > best:
                        best, row, column = abs(A[at + i * stride + k]), i, k
        smallest = (REDUNDANT if redundant < 0 else LOST) * reference
        if reference > 0.0 and (best <= smallest or j >= w - max(redundant, 0)):
            rank = j
            break
        if not best > least * above[j]:
            return -1
        pivots[j, 0], pivots[j, 1] = row, column
        pivot = top + j * step
        if row != j:
            exchange_rows(rows, pivot, top + row * step, width)
        if column != j:
            exchange_columns(A, at + j, at + column, w, stride)
        inverse = 1.0 / A[at + j * stride + j]
        for k in range(width):
            largest[k] = larger(largest[k], rows[pivot + k])
            rows[pivot + k] = rows[pivot + k] * inverse
        for i in range(w):
            ratio = A[at + i * stride + j]
            if i != j and ratio != 0.0:
                for k in range(width):
                    rows[top + i * step + k] = rows[top + i * step + k] - ratio * rows[pivot + k]
                A[at + i * stride + j] = -ratio * inverse
        A[at + j * stride + j] = inverse
    for i in range(rank, w):
        for k in range(width):
            rows[top + i * step + k] = 0.0
        for j in range(rank):
            A[at + j * stride + i] = 0.0
    transpose(A, at, w, stride)
    for j in range(rank - 1, -1, -1):
        row, column = pivots[j, 0], pivots[j, 1]
        if row != j:
            exchange_rows(rows, top + j * step, top + row * step, width)
        if column != j:
            exchange_columns(A, at + j, at + column, w, stride)
    return rank


@copied_solver_kernel
def scale_block(A, at, w, stride, scales):
    """Multiply the rows and columns of D, which begins at `at`, by their scales.

    A         (w stride,)    in and out: contains D (or longer)
    scales    (stride,)      scales of the w unknowns; what is behind these meets zeros alone (or longer)
    """
    rows, of_columns = lanes(A), lanes(scales)
    for i in range(w):
        first = (at + i * stride) // WIDTH
        for k in range(stride // WIDTH):
            rows[first + k] = rows[first + k] * of_columns[k] * scales[i]


@solver_kernel
def fill_scales(scales, system, s, a):
    """Fill the scales of the unknowns of node a in s stages, coordinates of all stages before the rows of all.

    scales    (4 s NODE_LANES,)    out; what only fills up lanes is not written (or longer)
    """
    start, coordinates, rows = (
        system.nodes[a, NODE_START],
        system.nodes[a, NODE_COORDINATES],
        system.nodes[a, NODE_ROWS],
    )
    for l in range(s):
        for i in range(coordinates):
            scales[l * coordinates + i] = system.scales[start + i]
        for i in range(rows):
            scales[s * coordinates + l * rows + i] = system.scales[start + coordinates + i]


@copied_kernel
def ties_from(system, kind, s, a):
    """The first unknown of node a, in s stages, that is tied to later nodes."""
    return 0 if kind == JACOBIAN else s * system.nodes[a, TIES_FROM]


@copied_solver_kernel
def add_columns(y, x, first, A, at, w, stride, width, start):
    """y += D⁻¹ x from the place `first` on; only the unknowns of x from `start` on are taken.

    The last unknowns, which earlier nodes do not change, are taken first, so that nothing waits for these.

    y, x      (size,)        right sides, in whole lanes; y: out, added to; x: read, another array
    A         (w stride,)    contains the D⁻¹ of `invert_block`, at `at` (or longer)
    """
    rows, out = lanes(A), lanes(y)
    to, last, step = first // WIDTH, (at + (w - 1) * stride) // WIDTH, stride // WIDTH
    k = 0
    while k + 4 <= width:
        row = last + k
        a, b, c, d = out[to + k], out[to + k + 1], out[to + k + 2], out[to + k + 3]
        for i in range(first + w - 1, first + start - 1, -1):
            a = a + x[i] * rows[row]
            b = b + x[i] * rows[row + 1]
            c = c + x[i] * rows[row + 2]
            d = d + x[i] * rows[row + 3]
            row -= step
        out[to + k], out[to + k + 1], out[to + k + 2], out[to + k + 3] = a, b, c, d
        k += 4
    while k < width:
        row = last + k
        a = out[to + k]
        for i in range(first + w - 1, first + start - 1, -1):
            a = a + x[i] * rows[row]
            row -= step
        out[to + k] = a
        k += 1


@copied_solver_kernel
def multiply_block(y, x, first, A, at, w, stride, width):
    """y = D⁻¹ x, from the place `first` on.

    y, x      (size,)        y: out; x: read, another array
    A         (w stride,)    contains the D⁻¹ of `invert_block`, at `at` (or longer)
    """
    out = lanes(y)
    for k in range(first // WIDTH, first // WIDTH + width):
        out[k] = 0.0
    add_columns(y, x, first, A, at, w, stride, width, 0)


@solver_kernel
def fill_products(products, A, at, row, ties, stride, count):
    """D⁻¹ A_b of a node for all later b.

    products      (count stride,)    out, row by row (or longer)
    A             (size,)            the matrix
    at, ties      int                places in D and in A_b of the first of the `count` unknowns of the node that are
                                     tied
    row, stride   int                lengths of the rows of D and of A_b
    """
    rows, out, wide = lanes(A), lanes(products), stride // WIDTH
    for j in range(count):
        k = 0
        while k + 4 <= wide:
            a = b = c = d = 0.0 * rows[ties // WIDTH]
            factor, tie = at + j, ties // WIDTH + k
            for _ in range(count):
                a = a + A[factor] * rows[tie]
                b = b + A[factor] * rows[tie + 1]
                c = c + A[factor] * rows[tie + 2]
                d = d + A[factor] * rows[tie + 3]
                factor, tie = factor + row, tie + wide
            to = j * wide + k
            out[to], out[to + 1], out[to + 2], out[to + 3] = a, b, c, d
            k += 4
        while k < wide:
            a = 0.0 * rows[ties // WIDTH]
            factor, tie = at + j, ties // WIDTH + k
            for _ in range(count):
                a = a + A[factor] * rows[tie]
                factor, tie = factor + row, tie + wide
            out[j * wide + k] = a
            k += 1


@solver_kernel
def subtract_product(A, out, out_stride, left, left_at, right, right_at, stride, inner, high, wide):
    """A[out] −= leftᵀ right, of `high` rows and `wide` lanes.

    A              (size,)            in and out: the matrix; the block begins at `out`, with rows of length out_stride
    left, right    (inner stride,)    `inner` rows from left_at and right_at on (or longer); A itself, or products
    """
    rows, others = lanes(A), lanes(right)
    for i in range(high):
        for k in range(wide):
            rest = rows[(out + i * out_stride) // WIDTH + k]
            for j in range(inner):
                rest = rest - left[left_at + j * stride + i] * others[(right_at + j * stride) // WIDTH + k]
            rows[(out + i * out_stride) // WIDTH + k] = rest


@copied_solver_kernel
def eliminate(A, products, scales, pivots, above, ranks, system, kind, s, a):
    """Eliminate node a, whose blocks are complete, of a matrix of s stages, in place; False if the node is singular.

    A           (s² size,)              in and out, size = mass_size of kind MASS (the matrix of M and G), matrix_size
                                        of JACOBIAN
    products    (s² products_size,)     work, of the size that `products_size` gives
    scales      (scales_size,)          work, of the size that `scales_size` gives for s stages
    pivots      (w, 2)                  work, of the widest node in s stages
    above       (w,)                    work, in whole lanes
    ranks       (nodes,)                out: the rank of D, entry a alone; −1 where it is singular
    """
    nodes, pairs = system.nodes, system.pairs
    at, row, w = diagonal_place(system, kind, s, a, 0), s * WIDTH * nodes[a, NODE_LANES], node_width(system, a, s)
    is_scaled = nodes[a, NODE_ROWS] > 0
    if is_scaled:
        fill_scales(scales, system, s, a)
        scale_block(A, at, w, row, scales)
    left_out = s * system.redundant[a]
    ranks[a] = invert_block(A, at, w, row, -(-w // WIDTH), pivots, above, system.reference[a], left_out, SINGULAR_PIVOT)
    if is_scaled:
        scale_block(A, at, w, row, scales)
    if ranks[a] < 0:
        return False
    start = nodes[a, FIRST_PAIR]
    end = start + nodes[a, PAIRS]
    if start == end:
        return True
    tie, stride, target = ties_from(system, kind, s, a), s * nodes[a, STRIDE], nodes[a, FIRST_TARGET]
    upper, lower = tie_place(system, kind, s, a, tie, UPPER, 0), tie_place(system, kind, s, a, tie, LOWER, 0)
    fill_products(products, A, at + tie * (row + 1), row, upper, stride, w - tie)
    for i in range(start, end):
        for j in range(start, end):
            b, c, column = pairs[i, LATER], pairs[j, LATER], system.targets[target]
            B, W = lower + s * pairs[i, COLUMN], s * pairs[j, COLUMN]
            target += 1
            if b <= c:
                out, out_stride = tie_place(system, kind, s, b, 0, UPPER, column), s * nodes[b, STRIDE]
                if b == c:
                    out, out_stride = diagonal_place(system, kind, s, b, 0), s * WIDTH * nodes[b, NODE_LANES]
                high, wide = s * nodes[b, TIED], s * nodes[c, TIED_LANES]
                subtract_product(A, out, out_stride, A, B, products, W, stride, w - tie, high, wide)
            elif kind == JACOBIAN:
                out, out_stride = tie_place(system, kind, s, c, 0, LOWER, column), s * nodes[c, STRIDE]
                high, wide = s * nodes[c, TIED], s * nodes[b, TIED_LANES]
                subtract_product(A, out, out_stride, products, W, A, B, stride, w - tie, high, wide)
    return True


@solver_kernel
def factor_saddle(A, products, scales, pivots, above, ranks, system, kind, s):
    """Eliminate all nodes of a matrix of s stages in turn; False if it is singular. Arguments are those of `eliminate`."""
    for a in range(system.nodes.shape[0]):
        if not eliminate(A, products, scales, pivots, above, ranks, system, kind, s, a):
            return False
    return True


@solver_kernel
def prefetch_rows(A, system, kind, s, a, start):
    """Ask the memory for the rows of node a, from row `start` on, that a solution reads.

    A         (s² size,)    the matrix; only its places matter
    """
    rows, w = lanes(A), node_width(system, a, s)
    for k in range(diagonal_place(system, kind, s, a, start), diagonal_place(system, kind, s, a, w), LINE):
        prefetch(rows, k // WIDTH)
    tie = max(start, ties_from(system, kind, s, a))
    for k in range(tie_place(system, kind, s, a, tie, UPPER, 0), tie_place(system, kind, s, a, w, UPPER, 0), LINE):
        prefetch(rows, k // WIDTH)


@solver_kernel
def solve_saddle(y, x, A, system, kind, s, sides):
    """Solve for y, in the order of elimination, with an eliminated matrix of s stages.

    y, x      (sides s side_size,)    y: out, solutions; x: overwritten, right sides; each side behind the one before
    A         (s² size,)              eliminated by `eliminate`, size as there
    """
    nodes, pairs, rows, left, right = system.nodes, system.pairs, lanes(A), lanes(x), lanes(y)
    count, size = nodes.shape[0], s * system.side_size
    ahead = AHEAD if A.shape[0] >= UNCACHED else count
    for a in range(count):
        if a + ahead < count:
            prefetch_rows(A, system, kind, s, a + ahead, 0)
        at, row, w = diagonal_place(system, kind, s, a, 0), s * WIDTH * nodes[a, NODE_LANES], node_width(system, a, s)
        tie, step = ties_from(system, kind, s, a), s * nodes[a, STRIDE] // WIDTH
        for side in range(0, sides * size, size):
            first = side + s * nodes[a, NODE_START]
            multiply_block(y, x, first, A, at, w, row, -(-w // WIDTH))
            for pair in range(nodes[a, FIRST_PAIR], nodes[a, FIRST_PAIR] + nodes[a, PAIRS]):
                b = pairs[pair, LATER]
                block = tie_place(system, kind, s, a, tie, LOWER, pairs[pair, COLUMN]) // WIDTH
                to = (side + s * nodes[b, NODE_START]) // WIDTH
                for k in range(s * nodes[b, TIED_LANES]):
                    rest = left[to + k]
                    for i in range(w - tie):
                        rest = rest - y[first + tie + i] * rows[block + i * step + k]
                    left[to + k] = rest
    for a in range(count - 1, -1, -1):
        if a >= ahead:
            prefetch_rows(A, system, kind, s, a - ahead, ties_from(system, kind, s, a - ahead))
        if nodes[a, PAIRS] == 0:
            continue
        at, row, w = diagonal_place(system, kind, s, a, 0), s * WIDTH * nodes[a, NODE_LANES], node_width(system, a, s)
        tie, step = ties_from(system, kind, s, a), s * nodes[a, STRIDE] // WIDTH
        for side in range(0, sides * size, size):
            first = side + s * nodes[a, NODE_START]
            for i in range(first + tie, first + w):
                x[i] = 0.0
            for pair in range(nodes[a, FIRST_PAIR], nodes[a, FIRST_PAIR] + nodes[a, PAIRS]):
                b = pairs[pair, LATER]
                block = tie_place(system, kind, s, a, tie, UPPER, pairs[pair, COLUMN]) // WIDTH
                source = (side + s * nodes[b, NODE_START]) // WIDTH
                for i in range(w - tie):
                    product = rows[block + i * step] * right[source]
                    for k in range(1, s * nodes[b, TIED_LANES]):
                        product = product + rows[block + i * step + k] * right[source + k]
                    x[first + tie + i] -= total(product)
            add_columns(y, x, first, A, at, w, row, -(-w // WIDTH), tie)
