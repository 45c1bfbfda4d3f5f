"""Steps of Galerkin schemes while stops slide with friction, whose force pushes across what it holds.

The friction of a closed stop is φ times its force, along the tangent: φ = −μ where it slides forwards. With G_n and G_t the rows
of the gap and of the slip, and C the Jacobian in which G_n + φ G_t stands in the place of G_n, a step solves

    R_j = [j = 0] p_k + Σ_i b_i (h A_ij f_i + B_ij p_i) + C(Q_j)ᵀ Λ_j = 0,     g(Q_l) = 0,  l = 1 … s,

and p_{k+1} = D_s + C(Q_s)ᵀ Λ_s with Λ_s such that G v + ∂g/∂t = 0 at its end: without the friction of Λ_s the order would be 0.
Accelerations and forces are those of M a − Cᵀ λ = f − (∂p/∂q) v − ∂p/∂t, G a = −vᵀ (∂²g/∂q²) v − g_tt.

The slip of what is round has constant parts along two tangents. Constraints on velocities hold
at the middle of steps of one segment, as in `mbvi.kernels.galerkin.equations`. Matrices are dense.
The equations are solved by Newton's iteration; its Jacobian, by differences, is kept while it contracts well.

Arguments of the kernels:

t, h      float     time at the start of a step, and its length [s]
q, v, p   (n,)      configuration, velocity and momentum  [u, u/s, J s/u], u the unit of a coordinate

Units of others: t0 [s]; out_q [u]; out_p [J s/u]; p_t [J/u]; g_tt [unit of g/s²]; lam [J/unit of g]; impulse [J s/unit of g].

Sources: those of `mbvi.kernels.galerkin.steps`; Glocker, Set-Valued Force Laws (2001) (friction of constraints).
"""

import math

import numpy as np

from mbvi.kernels.algebra.saddle import SINGULAR_PIVOT, invert_block, multiply_block
from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.compiler.lanes import WIDTH
from mbvi.kernels.compiler.packed import Packed, read_only
from mbvi.kernels.galerkin.tolerances import EPS
from mbvi.kernels.layout import (
    BLOCK_COLUMN,
    BLOCK_ROW,
    BLOCK_SECOND,
    ENTRIES,
    FIRST_ENTRY,
    FIRST_MEMBER,
    NODE_COORDINATES,
    NOT_CONVERGED,
    NOT_FINITE,
    OK,
    SINGULAR,
    System,
)
from mbvi.kernels.mechanics.constraints import fill_constraints, fill_curvature_rate
from mbvi.kernels.mechanics.lagrangian import (
    fill_gradient,
    fill_lagrangian_hessian,
    fill_mass_matrix,
    subtract_second_product,
    subtract_vector_potential,
)
from mbvi.kernels.methods.discrete_gradient import (
    CONTRACTION,
    DIFFERENCE,
    MAX_HALVINGS,
    MAX_ITERATIONS,
    NOISE,
    SMALL,
)

IS_FACTORED, STEPS = 0, 1  # columns of Sliding.count


class Sliding(Packed):
    """The arrays that steps with sliding stops overwrite, and what slides; `make_sliding` makes them once.

    With s control points behind the first, m nodes, d constraints that are held, N = s (n + d) unknowns in rows of W numbers,
    and n + d unknowns of a state in rows of V numbers, N and n + d filled up to whole lanes:

    rows                 (d,)         rows of the constraints that are held
    tangents, factors    (2, d)       rows of the tangents along which each slides, −1 where it does not, and the parts of φ
    is_rate              (d,)         1 of a constraint on velocities
    q, p                 (n,)         state at the step's start
    at, velocity, end    (n,)         a place, a velocity there, and the momentum at the step's end
    g, g_t, G            (k,), (k,), (E,)    constraints at a place
    node_p, node_f       (n,)         ∂L/∂v and ∂L/∂q + F at a node
    z, z_kept, R_kept    (N,)         unknowns, increments Y_l before impulses Λ_j, and what these and the residual were before
    R                    (N,)         residual
    delta, right, above  (W,)         correction, right side, work
    J                    (N W,)       the Jacobian, then its inverse
    pivots               (N, 2)       work
    side, solution       (V,)         right side and solution at a state
    S                    ((n + d) V,) [M Cᵀ; G 0] at a state, then its inverse
    count                (2,)         see the columns above
    """


def make_sliding(
    system: System, s: int, rows: np.ndarray, tangents: np.ndarray, factors: np.ndarray, is_rate: np.ndarray
) -> Sliding:
    """Workspace of steps in which the constraints `rows` are held, and some slide: see `Sliding`."""
    n, k, d = system.n, system.k, len(rows)
    N, V = s * (n + d), _in_lanes(n + d)
    W = _in_lanes(N)
    return Sliding(
        **read_only(rows=rows, tangents=tangents, factors=factors, is_rate=is_rate),
        **{name: np.zeros(n) for name in ("q", "p", "at", "velocity", "end", "node_p", "node_f")},
        **{name: np.zeros(N) for name in ("z", "z_kept", "R", "R_kept")},
        **{name: np.zeros(W) for name in ("delta", "right", "above")},
        g=np.zeros(k),
        g_t=np.zeros(k),
        G=np.zeros(len(system.entries)),
        J=np.zeros(N * W),
        pivots=np.zeros((max(N, n + d), 2), np.int64),
        side=np.zeros(V),
        solution=np.zeros(V),
        S=np.zeros((n + d) * V),
        count=np.zeros(2, np.int64),
    )


def _in_lanes(count: int) -> int:
    return -(-count // WIDTH) * WIDTH


@kernel
def fill_place(space, work, l):
    """Control point l, q + Y_l, into space.at, and its rounding error into work.low. Arguments: see the head of this file."""
    n = space.q.shape[0]
    for a in range(n):
        y = space.z[(l - 1) * n + a] if l > 0 else 0.0
        place = space.q[a] + y
        space.at[a] = place
        work.low[a] = (space.q[a] - place) + y


@kernel
def fill_node(system, scheme, work, space, t, h, i):
    """Momentum and force at node i into space.node_p and space.node_f. Arguments: see the head of this file."""
    n, s = system.n, scheme.K.shape[0]
    for a in range(n):
        place = rate = 0.0
        for l in range(1, s + 1):
            place += scheme.A[i, l] * space.z[(l - 1) * n + a]
            rate += scheme.B[i, l] * space.z[(l - 1) * n + a]
        space.at[a] = space.q[a] + place
        space.velocity[a] = rate / h
    fill_gradient(space.node_p, space.node_f, system, work, t + scheme.c[i] * h, space.at, space.velocity)


@kernel
def add_push(out, first, system, space, r, impulse):
    """Add C_rᵀ Λ_r of the held constraint r to out[first : first + n]; its entries are in space.G.

    out       (.,)    in and out  [J s/u]
    """
    for part in range(-1, space.tangents.shape[0]):
        b, factor = (
            (space.rows[r], impulse) if part < 0 else (space.tangents[part, r], impulse * space.factors[part, r])
        )
        if b >= 0:
            entry = system.constraints[b, FIRST_ENTRY]
            for e in range(entry, entry + system.constraints[b, ENTRIES]):
                out[first + system.entries[e]] += factor * space.G[e]


@kernel
def fill_residual(system, scheme, work, space, t, h):
    """Residual of the step equations at space.z, and D_s into space.end; its largest entry, inf if one is not finite.

    Arguments: see the head of this file.
    """
    n, s, d, m, R, end = system.n, scheme.K.shape[0], space.rows.shape[0], scheme.b.shape[0], space.R, space.end
    for a in range(n):
        R[a], end[a] = space.p[a], 0.0
        for j in range(1, s):
            R[j * n + a] = 0.0
    for i in range(m):
        fill_node(system, scheme, work, space, t, h, i)
        for a in range(n):
            for j in range(s):
                R[j * n + a] += scheme.b[i] * (h * scheme.A[i, j] * space.node_f[a] + scheme.B[i, j] * space.node_p[a])
            end[a] += scheme.b[i] * (h * scheme.A[i, s] * space.node_f[a] + scheme.B[i, s] * space.node_p[a])
    for l in range(s + 1):
        fill_place(space, work, l)
        fill_constraints(space.g, space.G, space.g_t, system, work, t + scheme.d[l] * h, space.at)
        for r in range(d):
            if l < s:
                add_push(R, l * n, system, space, r, space.z[s * n + l * d + r])
            if l > 0:
                R[s * n + (l - 1) * d + r] = space.g[space.rows[r]] / h
    fill_rates(system, work, space, t, h)
    check = size = 0.0
    for a in range(R.shape[0]):
        check += 0.0 * R[a]
        size = max(size, abs(R[a]))
    return size if check == 0.0 else math.inf


@kernel
def fill_rates(system, work, space, t, h):
    """Overwrite the rows of constraints on velocities by A Y/h + ∂g/∂t at the middle of a step of one segment.

    Arguments: see the head of this file.
    """
    n, has_rates = system.n, False
    for r in range(space.rows.shape[0]):
        if space.is_rate[r] == 1:
            has_rates = True
    if not has_rates:
        return
    for a in range(n):
        space.at[a], work.low[a] = space.q[a] + 0.5 * space.z[a], 0.0
    fill_constraints(space.g, space.G, space.g_t, system, work, t + 0.5 * h, space.at)
    for r in range(space.rows.shape[0]):
        if space.is_rate[r] == 1:
            b = space.rows[r]
            space.R[n + r] = rate_of(system, space, b, space.z) / h + space.g_t[b]


@kernel
def rate_of(system, space, b, x):
    """G_b x of constraint b, whose entries are in space.G.

    x         (n,)    [u or u/s] (or longer)
    """
    total, first = 0.0, system.constraints[b, FIRST_ENTRY]
    for e in range(first, first + system.constraints[b, ENTRIES]):
        total += space.G[e] * x[system.entries[e]]
    return total


@kernel
def factor_jacobian(system, scheme, work, space, t, h):
    """Invert the Jacobian at space.z, where the residual is space.R; False if it is singular.

    Arguments: see the head of this file.
    """
    n, s, N, stride = system.n, scheme.K.shape[0], space.z.shape[0], space.right.shape[0]
    z, R, kept, J = space.z, space.R, space.R_kept, space.J
    momentum = 1.0
    for a in range(N):
        kept[a] = R[a]
    for a in range(n):
        momentum = max(momentum, abs(space.p[a]))
    for j in range(N):
        value = z[j]
        z[j] = value + DIFFERENCE * (max(1.0, abs(space.q[j % n])) if j < s * n else momentum)
        fill_residual(system, scheme, work, space, t, h)
        step = z[j] - value
        z[j] = value
        for i in range(N):
            J[i * stride + j] = (R[i] - kept[i]) / step
    for a in range(N):
        R[a] = kept[a]
    space.count[IS_FACTORED] = 1
    return invert_block(J, 0, N, stride, stride // WIDTH, space.pivots, space.above, 0.0, 0, SINGULAR_PIVOT) >= 0


@kernel
def relative_size(x, y, first, last, least):
    """The largest |x| of some entries, relative to the largest |y|, at least `least`.

    x, y      (.,)    [mixed]
    """
    size, other = 0.0, least
    for a in range(first, last):
        size, other = max(size, abs(x[a])), max(other, abs(y[a]))
    return size / other


@kernel
def solve_step(system, scheme, work, space, t, h):
    """Solve the step equations from space.z; a status. Arguments: see the head of this file."""
    N, stride, increments = space.z.shape[0], space.right.shape[0], scheme.K.shape[0] * system.n
    z, delta = space.z, space.delta
    before, size_before = math.inf, 0.0
    is_fresh = is_newest = False
    halvings = iteration = 0
    momentum, place = 1e-290, 1.0
    for a in range(system.n):
        momentum, place = max(momentum, abs(space.p[a])), max(place, abs(space.q[a]))
    while iteration < MAX_ITERATIONS:
        residual = fill_residual(system, scheme, work, space, t, h)
        if residual > 2.0 * before and size_before > SMALL and is_fresh and halvings < MAX_HALVINGS:
            halvings += 1
            for a in range(N):
                delta[a] *= 0.5
                z[a] = space.z_kept[a] + delta[a]
            continue
        if not residual < math.inf:
            return NOT_FINITE
        if space.count[IS_FACTORED] == 0:
            if not factor_jacobian(system, scheme, work, space, t, h):
                return SINGULAR
            is_fresh = is_newest = True
        for a in range(N):
            space.right[a] = -space.R[a]
        multiply_block(delta, space.right, 0, space.J, 0, N, stride, stride // WIDTH)
        longest = 1e-290
        for a in range(N):
            space.z_kept[a] = z[a]
            z[a] += delta[a]
            if a < increments:
                longest = max(longest, abs(z[a]))
        iteration += 1
        size = max(relative_size(delta, z, 0, increments, 1e-290), relative_size(delta, z, increments, N, momentum))
        is_stalled = size_before > 0.0 and size > 0.5 * size_before
        rounding = NOISE * EPS * max(1.0, place / longest)
        if size <= 2.0 * EPS or (is_stalled and (size <= rounding or (is_newest and size < SMALL))):
            return OK
        is_newest = False
        if size_before > 0.0 and size > CONTRACTION * size_before:
            space.count[IS_FACTORED] = 0
        before, size_before, halvings = residual, size, 0
    return NOT_CONVERGED


@kernel
def invert_state(system, work, space, t, q):
    """Invert [M Cᵀ; G 0] at (t, q) into space.S; False if it is singular. Arguments: see the head of this file.

    space.G and space.g_t are filled.
    """
    n, d, stride, S = system.n, space.rows.shape[0], space.side.shape[0], space.S
    S[:] = 0.0
    work.low[:] = 0.0
    fill_mass_matrix(work.M, system, work, t, q)
    fill_constraints(space.g, space.G, space.g_t, system, work, t, q)
    for i in range(system.blocks.shape[0]):
        A, B = system.blocks[i, BLOCK_ROW], system.blocks[i, BLOCK_COLUMN]
        rows, columns = system.nodes[A, FIRST_MEMBER], system.nodes[B, FIRST_MEMBER]
        place = system.blocks[i, BLOCK_SECOND]
        for a in range(rows, rows + system.nodes[A, NODE_COORDINATES]):
            for b in range(columns, columns + system.nodes[B, NODE_COORDINATES]):
                S[system.members[a] * stride + system.members[b]] = work.M[place]
                place += 1
    for r in range(d):
        space.velocity[:] = 0.0
        add_push(space.velocity, 0, system, space, r, 1.0)
        for a in range(n):
            S[a * stride + n + r] = space.velocity[a]
        first = system.constraints[space.rows[r], FIRST_ENTRY]
        for e in range(first, first + system.constraints[space.rows[r], ENTRIES]):
            S[(n + r) * stride + system.entries[e]] += space.G[e]
    width = stride // WIDTH
    return invert_block(S, 0, n + d, stride, width, space.pivots, space.above, 0.0, 0, SINGULAR_PIVOT) >= 0


@kernel
def solve_state(space):
    """Solve for space.solution with the inverse of `invert_state`, of the right side in space.side."""
    stride = space.side.shape[0]
    size = space.S.shape[0] // stride
    multiply_block(space.solution, space.side, 0, space.S, 0, size, stride, stride // WIDTH)


@kernel
def solve_momentum(system, work, space, t, q, p):
    """v and ν of M v + A + Cᵀν = p, G v + ∂g/∂t = 0 into space.solution; False where singular.

    Arguments: see the head of this file.
    """
    if not invert_state(system, work, space, t, q):
        return False
    for a in range(system.n):
        space.side[a] = p[a]
    subtract_vector_potential(space.side, system, work, t, q)
    for r in range(space.rows.shape[0]):
        space.side[system.n + r] = -space.g_t[space.rows[r]]
    solve_state(space)
    return True


@kernel
def fill_start(system, scheme, work, space, t, h):
    """The start of the iteration: free flight; False where singular. Arguments: see the head of this file."""
    n, s = system.n, scheme.K.shape[0]
    if not solve_momentum(system, work, space, t, space.q, space.p):
        return False
    space.z[:] = 0.0
    for l in range(1, s + 1):
        for a in range(n):
            space.z[(l - 1) * n + a] = scheme.d[l] * h * space.solution[a]
    space.count[IS_FACTORED] = 0
    return True


@kernel
def advance(system, scheme, work, space, t, h):
    """A step from space.q, space.p; a status. Arguments: see the head of this file."""
    n, s, status = system.n, scheme.K.shape[0], NOT_CONVERGED
    work.step[0], work.step[1] = t, t + h
    for attempt in range(2):
        if (attempt == 1 or space.count[STEPS] == 0) and not fill_start(system, scheme, work, space, t, h):
            return SINGULAR
        status = solve_step(system, scheme, work, space, t, h)
        if status == OK:
            break
    if status != OK:
        return status
    fill_residual(system, scheme, work, space, t, h)
    for a in range(n):
        space.q[a] += space.z[(s - 1) * n + a]
    if not solve_momentum(system, work, space, t + h, space.q, space.end):
        return SINGULAR
    for a in range(n):
        space.p[a] = space.end[a]
    for r in range(space.rows.shape[0]):
        add_push(space.p, 0, system, space, r, -space.solution[n + r])
    space.count[STEPS] += 1
    return OK


@kernel
def run(system, scheme, work, space, t0, h, first, last, out_q, out_p):
    """Advance from step `first` to step `last`; a status and the steps done.

    t0, h          float         start time and step [s]
    out_q, out_p   (steps, n)    out: states after all steps
    """
    for step in range(first, last):
        done = 0.0
        for r in range(scheme.fractions.shape[0]):
            part = scheme.fractions[r] * h
            if scheme.fractions.shape[0] > 1:
                space.count[STEPS] = 0  # the parts have other lengths
            status = advance(system, scheme, work, space, t0 + step * h + done, part)
            if status != OK:
                return status, step
            done += part
        for a in range(system.n):
            out_q[step - first, a], out_p[step - first, a] = space.q[a], space.p[a]
    return OK, last


@kernel
def fill_forces(a, lam, system, work, space, p_t, g_tt, t, q, v):
    """Accelerations and multipliers of many states, not a number where the equations are singular.

    a         (states, n)    out  [u/s²]
    lam       (states, k)    out: of rows that are neither held nor slide 0
    p_t       (states, n)    ∂p/∂t
    g_tt      (states, k)    2 (∂G/∂t) v + ∂²g/∂t²
    t         (states,)      [s]
    q, v      (states, n)
    """
    n, d, side = system.n, space.rows.shape[0], space.side
    for i in range(q.shape[0]):
        lam[i, :] = 0.0
        if not invert_state(system, work, space, t[i], q[i]):
            a[i, :], lam[i, :] = math.nan, math.nan
            continue
        fill_curvature_rate(work.rate, system, work, t[i], q[i], v[i])
        fill_lagrangian_hessian(work.M, work.Lvq, work.Kqv, work.Kqq, system, work, t[i], q[i], v[i])
        fill_gradient(space.node_p, space.node_f, system, work, t[i], q[i], v[i])
        subtract_second_product(space.node_f, work.Lvq, system, v[i])
        for b in range(n):
            side[b] = space.node_f[b] - p_t[i, b]
        for r in range(d):
            side[n + r] = -work.rate[space.rows[r]] - g_tt[i, space.rows[r]]
        solve_state(space)
        for b in range(n):
            a[i, b] = space.solution[b]
        for r in range(d):
            lam[i, space.rows[r]] = -space.solution[n + r]
            for part in range(space.tangents.shape[0]):
                if space.tangents[part, r] >= 0:
                    lam[i, space.tangents[part, r]] = -space.solution[n + r] * space.factors[part, r]


@kernel
def fill_regularity(out, system, work, space, t, q):
    """How far sliding leaves the forces of stops determined, in many states: 1 without friction, 0 where it is Painlevé's case.

    It is the determinant of [M Cᵀ; G 0] divided by that with one friction less, the least of all that slide.

    out       (states,)    out  [1]
    t         (states,)    [s]
    q         (states, n)
    """
    n, d, side = system.n, space.rows.shape[0], space.side
    for i in range(q.shape[0]):
        out[i] = math.inf
        if not invert_state(system, work, space, t[i], q[i]):
            out[i] = 0.0
            continue
        for r in range(d):
            for a in range(n + d):
                side[a] = 0.0
            for part in range(space.tangents.shape[0]):
                b = space.tangents[part, r]
                if b >= 0:
                    first = system.constraints[b, FIRST_ENTRY]
                    for e in range(first, first + system.constraints[b, ENTRIES]):
                        side[system.entries[e]] += space.factors[part, r] * space.G[e]
            if space.tangents[0, r] >= 0:
                solve_state(space)
                out[i] = min(out[i], 1.0 / (1.0 - space.solution[n + r]))
