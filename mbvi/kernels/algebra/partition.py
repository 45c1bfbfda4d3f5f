"""Newton's direction for few coordinates with constraints, by coordinate partitioning.

(`saddle` finds it for any number.) At a control point the k constraints determine k of the n coordinates, x_D, by the
others, x_I. With G = (G_D, G_I) and T = G_D⁻¹ G_I

    x_D = G_D⁻¹ c − T x_I  solves  G x = c,      λ = G_D⁻ᵀ w_D  solves the dependent rows of  Gᵀ λ = w,

and w_I − Tᵀ w_D does not contain λ. So the equations of all s control points,

    Σ_l A_jl x_l + G_jᵀ λ_j = r_j,  j = 0 … s−1,      G_l x_l = c_l,  l = 1 … s,

are reduced, with Â_jl = (A_jl)_I − T_jᵀ (A_jl)_D and y_l = G_D⁻¹ c_l, to those for the x_I:

    Σ_l (Â_jl,I − Â_jl,D T_l) x_l,I = (r_j)_I − T_jᵀ (r_j)_D − Σ_l Â_jl,D y_l

The dependent coordinates are those of the largest pivots of G at the step's end, relative to the largest entries of
their rows. Where one of these pivots is small there or at another control point, near a singular configuration, nothing
is factored.

Up to four control points stand side by side in lanes: lane j of rows of the Jacobian, lane l of its columns. A lane
without a control point holds 0, except in G, which has to be regular there too. Coordinates are in the order of their
elimination.

The arrays of `space`, and their shapes, are those of `galerkin.workspace._partition`.

Units, with u the unit of a coordinate: h [s]; W, sizes [unit of g/u]; rows, columns, A, B, A_rows, B_rows, weights, least
[1].

Source: Wehage & Haug, J. Mech. Des. 104 (1982).
"""

from mbvi.kernels.algebra.saddle import SINGULAR_PIVOT, invert_block, place_in_order
from mbvi.kernels.compiler.decorators import copied_solver_kernel
from mbvi.kernels.compiler.lanes import WIDTH, lanes, lanes_at, larger, of_four, part, put_lanes, total, widest
from mbvi.kernels.layout import (
    BLOCK_COLUMN,
    BLOCK_ROW,
    BLOCK_SECOND,
    ENTRIES,
    FIRST_ENTRY,
    FIRST_MEMBER,
    NODE_COORDINATES,
)

SMALL_PIVOT = 1e-2  # a pivot of G, relative to the largest entry of its row, that is too small
ROWS, COLUMNS = 0, 1  # sides of a Jacobian: control points j, and l


@copied_solver_kernel
def fill_borders(space, system, s):
    """Fill space.borders with G at the control points of rows and of columns.

    Lanes without a control point have G of the first one.
    """
    n, G = system.n, space.G
    second, third, fourth = min(1, s - 1), 2 if s > 2 else 0, 3 if s > 3 else 0
    for side in range(2):
        border = lanes(space.borders[side])
        for i in range(space.used.shape[0]):
            for a in range(n):
                border[i * n + a] = 0.0 * border[i * n + a]
            first = system.constraints[space.used[i], FIRST_ENTRY]
            for e in range(first, first + system.constraints[space.used[i], ENTRIES]):
                points = of_four(G[side, e], G[side + second, e], G[side + third, e], G[side + fourth, e])
                at = i * n + place_in_order(system, system.entries[e])
                border[at] = border[at] + points


@copied_solver_kernel
def choose_pivots(space, n, s):
    """Order the rows and columns of G by its pivots at the step's end; False if one of these is small.

    The orders go into space.row_order and space.column_order. The largest entries of the rows of G go into
    space.row_sizes. space.pivoting is overwritten.
    """
    rows, columns, sizes, W = space.row_order, space.column_order, space.row_sizes, space.pivoting
    border, count = lanes(space.borders[COLUMNS]), space.used.shape[0]
    for i in range(count):
        size = 0.0 * border[0]
        for a in range(n):
            size = larger(size, border[i * n + a])
            W[i * n + a] = part(border[i * n + a], s - 1)
        rows[i], sizes[i] = i, widest(size)
    for a in range(n):
        columns[a] = a
    return find_pivots(W, rows, columns, sizes, n, count, SMALL_PIVOT)


@copied_solver_kernel
def find_pivots(W, rows, columns, sizes, n, count, least):
    """Bring the rows and columns of the `count` largest pivots of a matrix W to the front.

    Pivots are taken relative to the sizes of their rows. Returns False if one of these is smaller than `least`. The
    pivots are left in W, at their rows and columns.

    W         (r n,)    in and out, row by row, r ≥ count; overwritten by elimination
    rows      (r,)      in and out: the rows, those with pivots first
    columns   (n,)      in and out: the columns, those with pivots first
    sizes     (r,)      sizes of the rows, in their original order
    """
    for p in range(count):
        best, row, column = least, -1, p
        for i in range(p, rows.shape[0]):
            for a in range(p, n):
                size = abs(W[rows[i] * n + columns[a]])
                if size > best * sizes[rows[i]]:
                    best, row, column = size / sizes[rows[i]], i, a
        if row < 0:
            return False
        rows[p], rows[row] = rows[row], rows[p]
        columns[p], columns[column] = columns[column], columns[p]
        top = rows[p] * n
        for i in range(p + 1, rows.shape[0]):
            factor = W[rows[i] * n + columns[p]] / W[top + columns[p]]
            for a in range(p + 1, n):
                W[rows[i] * n + columns[a]] -= factor * W[top + columns[a]]
    return True


@copied_solver_kernel
def invert_borders(space, n):
    """G_D⁻¹ and T at all control points into space.inverses and space.ties; False if a pivot is small."""
    rows, columns, count = space.row_order, space.column_order, space.used.shape[0]
    free = n - count
    for side in range(2):
        border, inverse, ties = lanes(space.borders[side]), lanes(space.inverses[side]), lanes(space.ties[side])
        for p in range(count):
            for r in range(count):
                inverse[p * count + r] = border[rows[p] * n + columns[r]]
        for p in range(count):
            pivot, least = inverse[p * count + p], SMALL_PIVOT * space.row_sizes[rows[p]]
            for lane in range(WIDTH):
                if not abs(part(pivot, lane)) > least:
                    return False
            inverse[p * count + p] = 1.0 + 0.0 * pivot
            for r in range(count):
                inverse[p * count + r] = inverse[p * count + r] / pivot
            for q in range(count):
                if q != p:
                    factor = inverse[q * count + p]
                    inverse[q * count + p] = 0.0 * pivot
                    for r in range(count):
                        inverse[q * count + r] = inverse[q * count + r] - factor * inverse[p * count + r]
        for r in range(count):
            for b in range(free):
                value = 0.0 * border[0]
                for q in range(count):
                    value = value + inverse[r * count + q] * border[rows[q] * n + columns[count + b]]
                ties[r * free + b] = value
    return True


@copied_solver_kernel
def add_blocks(space, system, A, B, A_rows, B_rows, weights, h):
    """Add the contribution of up to four quadrature nodes i to space.blocks, the A_jl of every two coordinates:

    Σ_i b_i [B_il (B_ij Lvv_i + h A_ij Kqv_i) + h A_il (B_ij Lvq_i + h A_ij Kqq_i)]

    A, B             (m, s+1)     coefficients of these nodes
    A_rows, B_rows   (m, 1, 4)    those of j = 0 … s−1, in lanes, with zeros behind
    weights          (m,)         b_i
    """
    m, s, nodes = A.shape[0], A.shape[1] - 1, system.nodes
    places, moves, blocks = lanes(A_rows), lanes(B_rows), lanes(space.blocks)
    second, third, fourth = min(2, s), min(3, s), min(4, s)
    for block in range(system.blocks.shape[0]):
        row, column = system.blocks[block, BLOCK_ROW], system.blocks[block, BLOCK_COLUMN]
        columns, source = nodes[column, NODE_COORDINATES], system.blocks[block, BLOCK_SECOND] * WIDTH
        for a in range(nodes[row, FIRST_MEMBER], nodes[row, FIRST_MEMBER] + nodes[row, NODE_COORDINATES]):
            for b in range(nodes[column, FIRST_MEMBER], nodes[column, FIRST_MEMBER] + columns):
                at = (a * system.n + b) * WIDTH
                x, y, z, w = blocks[at], blocks[at + 1], blocks[at + 2], blocks[at + 3]
                for i in range(m):
                    k = source + i
                    move, place = weights[i] * moves[i, 0], (h * weights[i]) * places[i, 0]
                    v = move * space.Lvv[k] + place * space.Kqv[k]
                    q = h * (move * space.Lvq[k] + place * space.Kqq[k])
                    x = x + (B[i, 1] * v + A[i, 1] * q)
                    y = y + (B[i, second] * v + A[i, second] * q)
                    z = z + (B[i, third] * v + A[i, third] * q)
                    w = w + (B[i, fourth] * v + A[i, fourth] * q)
                blocks[at], blocks[at + 1], blocks[at + 2], blocks[at + 3] = x, y, z, w
                source += WIDTH


@copied_solver_kernel
def add_diagonal(space, n, s):
    """Add the curvatures at the control points 1 … s−1, which stand in the first lanes, to the blocks A_jl with j = l."""
    blocks, units = lanes(space.blocks), lanes(space.units)
    for entry in range(n * n):
        value = lanes_at(space.curvatures, entry * WIDTH)
        for l in range(s - 1):
            at = entry * WIDTH + l
            blocks[at] = blocks[at] + part(value, l) * units[l + 1]


@copied_solver_kernel
def reduce_blocks(space, n, s):
    """Â into space.free_rows and the inverse of the matrix for x_I into space.reduced; False if that is singular."""
    columns, count = space.column_order, space.used.shape[0]
    free = n - count
    blocks, kept, reduced = lanes(space.blocks), lanes(space.free_rows), lanes(space.reduced)
    left, right = lanes(space.ties[ROWS]), lanes(space.ties[COLUMNS])
    for a in range(free):
        for b in range(n):
            for l in range(s):
                value = blocks[(columns[count + a] * n + columns[b]) * WIDTH + l]
                for r in range(count):
                    value = value - left[r * free + a] * blocks[(columns[r] * n + columns[b]) * WIDTH + l]
                kept[(a * n + b) * WIDTH + l] = value
    for b in range(free):
        for l in range(WIDTH):
            for a in range(free):
                value = 0.0 * blocks[0]
                if l < s:
                    value = kept[(a * n + count + b) * WIDTH + l]
                    for r in range(count):
                        value = value - kept[(a * n + r) * WIDTH + l] * part(right[r * free + b], l)
                elif a == b:
                    value = lanes(space.units)[l]
                reduced[(b * WIDTH + l) * free + a] = value
    width = WIDTH * free
    return (
        invert_block(
            space.reduced, 0, width, width, free, space.reduced_pivots, space.reduced_above, 0.0, 0, SINGULAR_PIVOT
        )
        > 0
    )


@copied_solver_kernel
def solve_reduced(space, system, s, h):
    """space.delta = −J⁻¹ R, in increments and impulses, with the factors of `reduce_blocks`; space.R is read."""
    n, members, rows, columns = system.n, system.members, space.row_order, space.column_order
    used, R, delta = space.used, space.R, space.delta
    count, behind, is_point = used.shape[0], space.behind, lanes(space.is_point)[0]
    free = n - count
    x, multipliers, rights = lanes(space.unknowns), lanes(space.multipliers), lanes(space.rights)
    blocks, kept, reduced = lanes(space.blocks), lanes(space.free_rows), lanes(space.reduced)
    upper, lower = lanes(space.inverses[ROWS]), lanes(space.inverses[COLUMNS])
    left, right = lanes(space.ties[ROWS]), lanes(space.ties[COLUMNS])
    for r in range(count):
        value = 0.0 * is_point
        for q in range(count):
            value = value + lower[r * count + q] * (is_point * lanes_at(R, behind + used[rows[q]] * s))
        x[columns[r]] = value
    for a in range(free):
        rest = is_point * lanes_at(R, members[columns[count + a]] * s)
        for r in range(count):
            rest = rest - left[r * free + a] * (is_point * lanes_at(R, members[columns[r]] * s))
            y = x[columns[r]]
            for l in range(s):
                rest = rest - kept[(a * n + r) * WIDTH + l] * part(y, l)
        rights[a] = rest
    for b in range(free):
        one = two = three = four = 0.0 * is_point
        at = b * WIDTH * free
        for a in range(free):
            one = one + reduced[at + a] * rights[a]
            two = two + reduced[at + free + a] * rights[a]
            three = three + reduced[at + 2 * free + a] * rights[a]
            four = four + reduced[at + 3 * free + a] * rights[a]
        x[columns[count + b]] = of_four(total(one), total(two), total(three), total(four))
    for r in range(count):
        value = x[columns[r]]
        for b in range(free):
            value = value - right[r * free + b] * x[columns[count + b]]
        x[columns[r]] = value
    for q in range(count):
        multipliers[q] = 0.0 * is_point
    for r in range(count):
        i = columns[r]
        rest = is_point * lanes_at(R, members[i] * s)
        for b in range(n):
            y = x[b]
            for l in range(s):
                rest = rest - blocks[(i * n + b) * WIDTH + l] * part(y, l)
        for q in range(count):
            multipliers[rows[q]] = multipliers[rows[q]] + upper[r * count + q] * rest
    for a in range(n):
        put_lanes(delta, a * s, -h * x[place_in_order(system, a)])
    put_lanes(delta, n * s, 0.0 * is_point)
    for row in range(behind // WIDTH, space.rows):
        lanes(delta)[row] = 0.0 * is_point
    for q in range(count):
        put_lanes(delta, behind + used[q] * s, -multipliers[q])
