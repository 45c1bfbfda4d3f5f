"""Accelerations and multipliers by the Euler–Lagrange equations with constraints.

    M a − Gᵀ λ = f − (∂p/∂q) v − ∂p/∂t        G a = −vᵀ (∂²g/∂q²) v − 2 (∂G/∂t) v − ∂²g/∂t²

Where constraints are redundant, many λ give the same force Gᵀ λ. The one of least norm is taken: it has no part N with
Gᵀ N = 0, and so lies in the span of the columns of G.

Near a singular configuration a pivot of elimination is as small as the square of the distance from it. One step of iterative
refinement gives back the digits that this costs.

Units, with u the unit of a coordinate: t [s]; q [u]; v [u/s]; a [u/s²]; lam [J/unit of g]; p_t [J/u]; g_tt [unit of g/s²];
columns [unit of g/u]; lost [1]; x, y, factor [any unit].

Sources: Hairer & Wanner, Solving Ordinary Differential Equations II (1996), section VII.1 (constrained mechanical
systems); Higham, Accuracy and Stability of Numerical Algorithms (2002), chapter 12 (iterative refinement) and section 19.8 (the
method of Gram and Schmidt).
"""

import numpy as np

from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.compiler.packed import call
from mbvi.kernels.layout import ENTRIES, FIRST_ENTRY, NODE_COORDINATES
from mbvi.kernels.mechanics.lagrangian import (
    solve_acceleration,
    solve_mass_saddle,
    subtract_second_product,
)

REMAINDER = 1e-9  # part of a row of G that is left, from which on it does not follow from the others
LEAST_ROW = 1e-3  # size of a row of G, relative to the largest, below which parts are those of this


@kernel
def fill_acceleration(a, system, work, t, q, v):
    """The acceleration of a system without constraints at (t, q, v); False where the mass matrix is singular.

    a         (n,)    out  [u/s²] (or longer), u the unit of a coordinate; not written where the mass matrix is singular
    q, v      (n,)    [u, u/s]
    """
    if not solve_acceleration(system, work, t, q, v, work.rate):
        return False
    for i in range(system.n):
        a[i] = work.solution[i]
    if system.time_rates != 0:
        fill_time_rates(work.low, work.g, system, t, q, v)
        for i in range(system.n):
            work.solution[i] = -work.low[i]
        solve_mass_saddle(system, work)
        for i in range(system.n):
            a[i] += work.solution[i]
    return True


@kernel
def fill_time_rates(p_t, g_tt, system, t, q, v):
    """∂p/∂t and 2 (∂G/∂t) v + ∂²g/∂t² of a user's M and g that depend on time; nothing is written where they do not.

    p_t       (n,)    out  [J/u]
    g_tt      (k,)    out  [unit of g/s²]
    q, v      (n,)    [u, u/s]
    """
    if system.time_rates != 0:
        call(system.time_rates, t, (q, v, p_t, g_tt))


@kernel
def fill_accelerations(a, lam, lost, system, work, rows, p_t, g_tt, t, q, v):
    """Accelerations and multipliers of many states, but of those where elimination leaves out more than rows that follow from
    others: where the equations are singular, and near singular configurations of loops (`system.null_motions`).

    a         (states, n)    out  [u/s²]
    lam       (states, k)    out  [J/unit of g]
    lost      (states,)      out: 1 where elimination leaves out more, and a and λ are not a number; else 0
    rows      (n, k)         work: overwritten by G transposed, where constraints are redundant
    p_t       (states, n)    ∂p/∂t; or (1, n) where it is 0
    g_tt      (states, k)    2 (∂G/∂t) v + ∂²g/∂t²; or (1, k) where it is 0
    t         (states,)      [s]
    q, v      (states, n)    [u, u/s]
    """
    n, k = system.n, system.k
    for i in range(q.shape[0]):
        row, lost[i] = min(i, p_t.shape[0] - 1), 0
        if not solve_acceleration(system, work, t[i], q[i], v[i], g_tt[row]):
            a[i, :], lam[i, :], lost[i] = np.nan, np.nan, 1
            continue
        for c in range(n):
            a[i, c] = work.solution[c]
        for b in range(k):
            lam[i, b] = -work.solution[n + b]
            work.rate[b] += g_tt[row, b]
        if system.time_rates != 0:
            for c in range(n):
                work.side[c] -= p_t[row, c]
            refine(a[i], lam[i], system, work)
        if k > 0:
            refine(a[i], lam[i], system, work)
        rank = count_independent(system, work)
        if rank < k and not keep_least(lam[i], rows, min(rank, n), system, work):
            a[i, :], lam[i, :], lost[i] = np.nan, np.nan, 1


@kernel
def refine(a, lam, system, work):
    """Add to a and λ what the equations, solved with the factors of `factor_mass_saddle`, make of what is left of them.

    a         (n,)    in and out  [u/s²]
    lam       (k,)    in and out

    The forces are in work.side, and −G a in work.rate.
    """
    n, x = system.n, work.solution
    for c in range(n):
        x[c] = work.side[c]
    subtract_second_product(x, work.M, system, a)
    for b in range(system.k):
        x[n + b] = -work.rate[b]
        first = system.constraints[b, FIRST_ENTRY]
        for e in range(first, first + system.constraints[b, ENTRIES]):
            c = system.entries[e]
            x[c] += work.G[e] * lam[b]
            x[n + b] -= work.G[e] * a[c]
    solve_mass_saddle(system, work)
    for c in range(n):
        a[c] += x[c]
    for b in range(system.k):
        lam[b] -= x[n + b]


@kernel
def count_independent(system, work):
    """The number of independent constraints, by the ranks that `factor_mass_saddle` left in work."""
    rank = 0
    for i in range(system.nodes.shape[0]):
        rank += work.ranks[i] - system.nodes[i, NODE_COORDINATES]
    return rank


@kernel
def keep_least(lam, columns, rank, system, work):
    """Replace λ by the least one with the same force Gᵀ λ, its projection on the span of G's columns.

    An orthonormal basis of that span is made by the method of Gram and Schmidt, from the longest remainder to the
    shortest. Each vector is made orthogonal once more to those before it, since one that lost digits is no longer
    orthogonal to round-off.

    lam       (k,)      in and out
    columns   (n, k)    work: G transposed, overwritten from the first row on by the basis
    rank      int       number of independent constraints

    G is that in work.G; work.rate is overwritten. Returns False where G has more independent rows than that: elimination has no
    pivot for what moves without inertia either, nor for some rows near a singular configuration.
    """
    n, k = system.n, system.k
    columns[:, :] = 0.0
    for b in range(k):
        first = system.constraints[b, FIRST_ENTRY]
        for e in range(first, first + system.constraints[b, ENTRIES]):
            columns[system.entries[e], b] += work.G[e]
    total = work.rate  # sum of the projections
    total[:] = 0.0
    for i in range(rank):
        longest, best = i, -1.0
        for c in range(i, n):
            size = product(columns[c], columns[c], k)
            if size > best:
                longest, best = c, size
        for b in range(k):
            columns[i, b], columns[longest, b] = columns[longest, b], columns[i, b]
        u = columns[i]
        for j in range(i):
            subtract_multiple(u, product(u, columns[j], k), columns[j], k)
        length = np.sqrt(product(u, u, k))
        for b in range(k):
            u[b] /= length
        for c in range(i + 1, n):
            subtract_multiple(columns[c], product(columns[c], u, k), u, k)
        subtract_multiple(total, -product(lam, u, k), u, k)
    for b in range(k):
        lam[b] = total[b]
    return is_nothing_left(columns, rank, system, work)


@kernel
def is_nothing_left(columns, rank, system, work):
    """Whether the remainders of G's rows, from a rank on, are next to nothing beside these; of a small row, beside the largest.

    columns   (n, k)    as `keep_least` leaves them
    """
    largest = 0.0
    for e in range(system.entries.shape[0]):
        largest = max(largest, abs(work.G[e]))
    for b in range(system.k):
        first, size = system.constraints[b, FIRST_ENTRY], LEAST_ROW * largest
        for e in range(first, first + system.constraints[b, ENTRIES]):
            size = max(size, abs(work.G[e]))
        for c in range(max(rank, 0), system.n):
            if not abs(columns[c, b]) <= REMAINDER * size:
                return False
    return True


@kernel
def product(x, y, size):
    """The scalar product of x and y.

    x, y      (size,)    or longer
    """
    total = 0.0
    for i in range(size):
        total += x[i] * y[i]
    return total


@kernel
def subtract_multiple(x, factor, y, size):
    """x −= factor y.

    x, y      (size,)    x: in and out; y: read (or longer)
    """
    for i in range(size):
        x[i] -= factor * y[i]
