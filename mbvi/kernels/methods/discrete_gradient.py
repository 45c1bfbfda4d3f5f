"""Steps that conserve the energy, by discrete gradients: the energy–momentum method, and the scheme of Chorin et al.

A discrete gradient of H satisfies ∇̄H · (z' − z) = H(z') − H(z); the step z' − z = h J ∇̄H then conserves H, since J is
skew.

ENERGY_MOMENTUM, for a constant M and constraints g that are at most quadratic in q, with q̄, p̄ the means of a step's
ends:

    q' − q = h M⁻¹(p̄ + Ḡᵀμ),   p' − p = −h ∇̄V − ḠᵀΛ − h C(μ) M⁻¹p̄,   g(q') = 0,   G(q') M⁻¹p' = 0

    ∇̄V = ∇V(q̄) + (V' − V − ∇V(q̄)·Δq) M d/(dᵀM d),   Ḡ = G(q̄),   C(μ) = ∂²(μᵀg)/∂q²

These are Hamilton's equations of H + λᵀg + μᵀ(G M⁻¹p) with their discrete gradients. Those of g and G M⁻¹p, which are
quadratic in (q, p), are the gradients at the middle, and neither function changes in a step. d is the increment Δq less
its part along the fields ξ(q̄) of linear symmetries, in the metric M: so the momenta p·ξ(q) are conserved as well.

CHORIN, without constraints, with constants α, β, γ, δ between 0 and 1:

    q' − q = h (H(q', p') − H(q', p))/(λ·Δp) λ,   p' − p = −h (H(q', p) − H(q, p))/(μ·Δq) μ
    λ = ∂H/∂p at q + α Δq, p + β Δp,   μ = ∂H/∂q at q + γ Δq, p + δ Δp

Differences of H that are rounding alone are taken as those of these gradients. The step equations are solved by
Newton's iteration; its Jacobian, by differences, is kept while it contracts well.

Units, with u the unit of a coordinate: t, h [s]; x, A [any unit]; out [J s/u]; impulses [J s/unit of g]; G [unit of g/u];
difference, size [J]; out_q [u]; out_p [J s/u]; product [J]; factor, of_q, of_p [1].

Sources: Gonzalez, J. Nonlinear Sci. 6 (1996) and Physica D 132 (1999); Chorin, Hughes, McCracken & Marsden, Commun.
Pure Appl. Math. 31 (1978).
"""

import math

import numpy as np

from mbvi.kernels.algebra.saddle import SINGULAR_PIVOT, invert_block, multiply_block
from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.compiler.lanes import WIDTH
from mbvi.kernels.compiler.packed import Packed, read_only
from mbvi.kernels.galerkin import tolerances
from mbvi.kernels.galerkin.tolerances import EPS
from mbvi.kernels.layout import ENTRIES, FIRST_ENTRY, NOT_CONVERGED, NOT_FINITE, OK, SINGULAR, System
from mbvi.kernels.mechanics.constraints import fill_constraints
from mbvi.kernels.mechanics.lagrangian import fill_gradient, potential, solve_velocity

ENERGY_MOMENTUM, CHORIN = 0, 1
ROUNDINGS = 4.0  # a difference of energies up to so many roundings of its terms counts as rounding
DIFFERENCE = 1.5e-8  # relative step of the differences in the Jacobian
CONTRACTION = 0.1  # ratio of a correction to the one before from which the Jacobian is formed anew
NOISE = 100.0  # roundings of positions below which a correction that no longer shrinks is rounding
# Relative correction below which one by the newest Jacobian that no longer shrinks is rounding.
SMALL = float(tolerances.VALUES[tolerances.SMALL])
SMALLEST_FIELD = 1e-12  # part of the square of a field that is independent of others; less is rounding
MAX_ITERATIONS, MAX_HALVINGS = 50, 10

# Columns of Energies.count: totals of a run, and what the solver remembers.
ITERATIONS, FACTORS, WORST, IS_FACTORED, STEPS = 0, 1, 2, 3, 4


class Energies(Packed):
    """The arrays that a run by discrete gradients overwrites, and the constants that it needs; `make_energies` makes
    them once.

    With N unknowns, n + 2 k or 2 n, in rows of W numbers, N filled up to whole lanes, m fields, and u the unit of a
    coordinate:

    M, M_inverse              (n, n)            constant mass matrix and its inverse
    fields                    (m, n, n + 1)     ξ(q) = A q + b of linear symmetries, as [A b]
    redundant                 (1,)              number of unknowns that are not determined
    constants                 (4,)              α, β, γ, δ
    q, p, q_next, p_next      (n,)              states at the start and at the end of the step  [u, J s/u]
    energy                    (1,)              H, or V of ENERGY_MOMENTUM, at the start [J]
    middle, middle_p          (n,)              q̄ and p̄ + Ḡᵀμ, or another place between the ends
    v, side, force, unused    (n,)              velocity, work, −∇V, work
    directions, weighted      (m + 1, n)        ξ(q̄), orthonormal, and d; and M times these
    g, g_t                    (k,)              constraints
    G, G_side                 (E,)              entries of their Jacobian, at two places
    z, z_kept, R, R_kept      (N,)              unknowns, residual, and what they were before
    before                    (2, N)            unknowns of the last two steps
    delta, right, above       (W,)              correction, right side, work
    J                         (N W,)            the Jacobian, then its inverse
    pivots                    (N, 2)            work
    count                     (5,)              see the columns above
    """


def make_energies(
    kind: int, system: System, M: np.ndarray, fields: np.ndarray, redundant: int, numbers: np.ndarray
) -> Energies:
    """Workspace of a run.

    kind        int             ENERGY_MOMENTUM or CHORIN
    M           (n, n)          constant mass matrix, of ENERGY_MOMENTUM
    fields      (m, n, n+1)     ξ(q) = A q + b of linear symmetries, as [A b]
    redundant   int             number of constraints that follow from others
    numbers     (4,)            α, β, γ, δ, of CHORIN
    """
    n, k = system.n, system.k
    N = n + 2 * k if kind == ENERGY_MOMENTUM else 2 * n
    stride = -(-N // WIDTH) * WIDTH  # length of a row of J, in whole lanes
    return Energies(
        kind=kind,
        **read_only(
            redundant=np.array([2 * redundant], np.int64),
            M=M,
            M_inverse=np.linalg.inv(M),
            fields=fields,
            constants=numbers,
        ),
        q=np.zeros(n),
        p=np.zeros(n),
        energy=np.zeros(1),
        q_next=np.zeros(n),
        p_next=np.zeros(n),
        middle=np.zeros(n),
        middle_p=np.zeros(n),
        v=np.zeros(n),
        side=np.zeros(n),
        force=np.zeros(n),
        unused=np.zeros(n),
        directions=np.zeros((len(fields) + 1, n)),
        weighted=np.zeros((len(fields) + 1, n)),
        g=np.zeros(k),
        g_t=np.zeros(k),
        G=np.zeros(len(system.entries)),
        G_side=np.zeros(len(system.entries)),
        z=np.zeros(N),
        z_kept=np.zeros(N),
        before=np.zeros((2, N)),
        delta=np.zeros(stride),
        R=np.zeros(N),
        R_kept=np.zeros(N),
        J=np.zeros(N * stride),
        pivots=np.zeros((N, 2), np.int64),
        above=np.zeros(stride),
        right=np.zeros(stride),
        count=np.zeros(5, np.int64),
    )


@kernel
def is_rounding(difference, size):
    """Whether a difference of energies is no more than the rounding of terms of that size."""
    return abs(difference) <= ROUNDINGS * EPS * size


@kernel
def multiply(out, A, x):
    """out = A x.

    out, x    (n,)      out: written; x: read  [any unit]
    A         (n, n)    [any unit]
    """
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[0]):
            total += A[i, j] * x[j]
        out[i] = total


@kernel
def add_transposed(out, G, system, impulses, start, factor):
    """out += factor Gᵀ impulses[start : start + k].

    out         (n,)    in and out (or longer)
    G           (E,)    entries of the constraint Jacobian
    impulses    (.,)    k numbers from `start` on are read
    """
    for b in range(system.k):
        first = system.constraints[b, FIRST_ENTRY]
        for e in range(first, first + system.constraints[b, ENTRIES]):
            out[system.entries[e]] += factor * G[e] * impulses[start + b]


@kernel
def fill_across(space):
    """d, the increment Y of coordinates less its part along symmetries at the middle, in the metric M; returns dᵀM d.

    It returns 0 where the increment is along symmetries, and rounding alone is left of it. d and M d are the last rows
    of space.directions and space.weighted.
    """
    n, m = space.q.shape[0], space.fields.shape[0]
    d, Md = space.directions, space.weighted
    for i in range(m + 1):
        for a in range(n):
            if i == m:
                d[i, a] = space.z[a]
            else:
                total = space.fields[i, a, n]
                for b in range(n):
                    total += space.fields[i, a, b] * space.middle[b]
                d[i, a] = total
        multiply(Md[i], space.M, d[i])
        whole = square = 0.0
        for a in range(n):
            whole += d[i, a] * Md[i, a]
        for j in range(2 * i):  # twice, so that no rounding error along these is left
            product = 0.0
            for a in range(n):
                product += d[i, a] * Md[j % i, a]
            for a in range(n):
                d[i, a] -= product * d[j % i, a]
                Md[i, a] -= product * Md[j % i, a]
        for a in range(n):
            square += d[i, a] * Md[i, a]
        if i == m:
            return square if square > (NOISE * EPS) ** 2 * whole else 0.0
        scale = 1.0 / math.sqrt(square) if square > SMALLEST_FIELD * whole else 0.0
        for a in range(n):
            d[i, a] *= scale
            Md[i, a] *= scale
    return 0.0


@kernel
def fill_energy_momentum(system, work, space, t, h):
    """Residual of the energy–momentum method at z = (Y, Λ, μ), and the state at the step's end."""
    n, k = system.n, system.k
    z, R, middle, force, v = space.z, space.R, space.middle, space.force, space.v
    for a in range(n):
        middle[a] = space.q[a] + 0.5 * z[a]
        space.q_next[a] = space.q[a] + z[a]
        space.side[a] = z[a] / h
        v[a] = 0.0
    multiply(space.middle_p, space.M, space.side)
    if k > 0:
        fill_constraints(space.g, space.G, space.g_t, system, work, t, middle)
        add_transposed(space.middle_p, space.G, system, z, n + k, -1.0)
    fill_gradient(space.unused, force, system, work, t, middle, v)
    multiply(v, space.M_inverse, space.middle_p)
    after = potential(system, work, t, space.q_next)
    excess = after - space.energy[0]
    size = abs(after) + abs(space.energy[0])
    for a in range(n):
        excess += force[a] * z[a]
        size += abs(force[a] * z[a])
    for a in range(n):
        space.p_next[a] = 2.0 * space.middle_p[a] - space.p[a]
        R[a] = 2.0 * (space.middle_p[a] - space.p[a]) - h * force[a]
    square = 0.0 if is_rounding(excess, size) else fill_across(space)
    if square > 0.0:
        factor = h * excess / square
        for a in range(n):
            R[a] += factor * space.weighted[space.fields.shape[0], a]
    if k == 0:
        return
    add_transposed(R, space.G, system, z, n, 1.0)
    for a in range(n):
        space.side[a] = middle[a] + 0.5 * h * v[a]
    fill_constraints(space.g, space.G_side, space.g_t, system, work, t, space.side)
    for e in range(space.G.shape[0]):
        space.G_side[e] -= space.G[e]
    add_transposed(R, space.G_side, system, z, n + k, 2.0)  # h C(μ) v
    multiply(space.side, space.M_inverse, space.p_next)
    fill_constraints(space.g, space.G_side, space.g_t, system, work, t, space.q_next)
    for b in range(k):
        rate = 0.0
        first = system.constraints[b, FIRST_ENTRY]
        for e in range(first, first + system.constraints[b, ENTRIES]):
            rate += space.G_side[e] * space.side[system.entries[e]]
        R[n + b] = space.g[b] / h
        R[n + k + b] = rate


@kernel
def hamiltonian(system, work, space, t, q, p):
    """H(q, p) [J], without constraints; leaves the velocities M(q)⁻¹ p in space.v.

    q, p      (n,)    [u, J s/u], u the unit of a coordinate
    """
    if not solve_velocity(system, work, t, q, p):
        return math.nan
    kinetic = 0.0
    for a in range(system.n):
        space.v[a] = work.solution[a]
        kinetic += 0.5 * p[a] * space.v[a]
    return kinetic + potential(system, work, t, q)


@kernel
def ratio(difference, product, size):
    """The factor of a gradient that makes it a discrete gradient."""
    return 1.0 if is_rounding(difference - product, size) else difference / product


@kernel
def fill_velocity_between(system, work, space, t, of_q, of_p):
    """∂H/∂p at q + of_q Δq, p + of_p Δp into space.v; the place is left in space.middle and space.middle_p."""
    for a in range(system.n):
        space.middle[a] = space.q[a] + of_q * space.z[a]
        space.middle_p[a] = space.p[a] + of_p * space.z[system.n + a]
    hamiltonian(system, work, space, t, space.middle, space.middle_p)


@kernel
def fill_chorin(system, work, space, t, h):
    """Residual of the scheme of Chorin et al. at z = (Δq, Δp), and the state at the step's end."""
    n = system.n
    z, constants = space.z, space.constants
    for a in range(n):
        space.q_next[a] = space.q[a] + z[a]
        space.p_next[a] = space.p[a] + z[n + a]
    before = space.energy[0]
    between = hamiltonian(system, work, space, t, space.q_next, space.p)
    after = hamiltonian(system, work, space, t, space.q_next, space.p_next)
    size = abs(before) + abs(between) + abs(after)
    fill_velocity_between(system, work, space, t, constants[0], constants[1])
    of_p = of_q = 0.0
    for a in range(n):
        of_p += space.v[a] * z[n + a]
    by_p = ratio(after - between, of_p, size + abs(of_p))
    for a in range(n):
        space.R[a] = z[a] / h - by_p * space.v[a]
    if constants[2] != constants[0] or constants[3] != constants[1]:
        fill_velocity_between(system, work, space, t, constants[2], constants[3])
    fill_gradient(space.unused, space.force, system, work, t, space.middle, space.v)
    for a in range(n):
        of_q -= space.force[a] * z[a]
    by_q = ratio(between - before, of_q, size + abs(of_q))
    for a in range(n):
        space.R[n + a] = z[n + a] / h - by_q * space.force[a]


@kernel
def fill_residual(system, work, space, t, h):
    """Residual of the step equations at space.z; returns its largest entry, inf if one is not finite."""
    if space.kind == ENERGY_MOMENTUM:
        fill_energy_momentum(system, work, space, t, h)
    else:
        fill_chorin(system, work, space, t, h)
    check = 0.0
    for a in range(space.R.shape[0]):
        check += 0.0 * space.R[a]
    return largest(space.R, 0, space.R.shape[0]) if check == 0.0 else math.inf


@kernel
def largest(x, first, last):
    """The largest |x| of the entries from `first` to `last` − 1.

    x         (.,)
    """
    size = 0.0
    for a in range(first, last):
        size = max(size, abs(x[a]))
    return size


@kernel
def factor_jacobian(system, work, space, t, h):
    """Invert the Jacobian at space.z, where the residual is space.R; False if it is singular."""
    n, N, stride = system.n, space.z.shape[0], space.right.shape[0]
    z, R, kept, J = space.z, space.R, space.R_kept, space.J
    for i in range(N):
        kept[i] = R[i]
    momentum = max(1.0, largest(space.p, 0, n))
    for j in range(N):
        value = z[j]
        z[j] = value + DIFFERENCE * (max(1.0, abs(space.q[j])) if j < n else momentum)
        fill_residual(system, work, space, t, h)
        step = z[j] - value
        z[j] = value
        for i in range(N):
            J[i * stride + j] = (R[i] - kept[i]) / step
    for i in range(N):
        R[i] = kept[i]
    space.count[FACTORS] += 1
    space.count[IS_FACTORED] = 1
    redundant = space.redundant[0]
    reference = 1e-290 if redundant > 0 else 0.0
    width = stride // WIDTH
    return invert_block(J, 0, N, stride, width, space.pivots, space.above, reference, redundant, SINGULAR_PIVOT) >= 0


@kernel
def solve_step(system, work, space, t, h):
    """Solve the step equations from space.z; returns a status."""
    n, N, stride = system.n, space.z.shape[0], space.right.shape[0]
    z, delta = space.z, space.delta
    before = math.inf
    size_before = 0.0
    is_fresh = is_newest = False
    halvings = iteration = 0
    while iteration < MAX_ITERATIONS:
        residual = fill_residual(system, work, space, t, h)
        if residual > 2.0 * before and size_before > SMALL and is_fresh and halvings < MAX_HALVINGS:
            halvings += 1
            for a in range(N):
                delta[a] *= 0.5
                z[a] = space.z_kept[a] + delta[a]
            continue
        if not residual < math.inf:
            return NOT_FINITE
        if space.count[IS_FACTORED] == 0:
            if not factor_jacobian(system, work, space, t, h):
                return SINGULAR
            is_fresh = is_newest = True
        for a in range(N):
            space.right[a] = -space.R[a]
        multiply_block(delta, space.right, 0, space.J, 0, N, stride, stride // WIDTH)
        for a in range(N):
            space.z_kept[a] = z[a]
            z[a] += delta[a]
        iteration += 1
        space.count[ITERATIONS] += 1
        momentum = max(largest(space.p, 0, n), largest(space.p_next, 0, n))
        size = max(
            largest(delta, 0, n) / max(largest(z, 0, n), 1e-290),
            largest(delta, n, N) / max(momentum, largest(z, n, N), 1e-290),
        )
        is_stalled = size_before > 0.0 and size > 0.5 * size_before
        place = max(1.0, largest(space.q, 0, n) / max(largest(z, 0, n), 1e-290))
        if size <= 2.0 * EPS or (is_stalled and (size <= NOISE * EPS * place or (is_newest and size < SMALL))):
            space.count[WORST] = max(space.count[WORST], iteration)
            return OK
        is_newest = False
        if size_before > 0.0 and size > CONTRACTION * size_before:
            space.count[IS_FACTORED] = 0
        before, size_before, halvings = residual, size, 0
    return NOT_CONVERGED


@kernel
def fill_start(system, work, space, t, h, is_first):
    """The start of a step, and the energy before it.

    The start is an extrapolation of the last two steps, or a step of constant force without impulses if `is_first`.
    """
    n, before, force, middle_p = system.n, space.before, space.force, space.middle_p
    if space.kind == ENERGY_MOMENTUM:
        multiply(space.v, space.M_inverse, space.p)
        space.energy[0] = potential(system, work, t, space.q)
    else:
        space.energy[0] = hamiltonian(system, work, space, t, space.q, space.p)
    if not is_first:
        for a in range(space.z.shape[0]):
            space.z[a] = 2.0 * before[0, a] - before[1, a]
        return
    fill_gradient(space.unused, force, system, work, t, space.q, space.v)
    for a in range(n):
        middle_p[a] = space.p[a] + 0.5 * h * force[a]
    if space.kind == ENERGY_MOMENTUM:
        multiply(space.side, space.M_inverse, middle_p)
    elif solve_velocity(system, work, t, space.q, middle_p):
        for a in range(n):
            space.side[a] = work.solution[a]
    for a in range(space.z.shape[0]):
        space.z[a] = h * space.side[a] if a < n else 0.0
        if space.kind == CHORIN and a >= n:
            space.z[a] = h * force[a - n]
    space.count[IS_FACTORED] = 0


@kernel
def advance(system, work, space, t, h):
    """One step from space.q, space.p; returns a status."""
    n, N = system.n, space.z.shape[0]
    before = space.before
    status = NOT_CONVERGED
    for attempt in range(2):
        fill_start(system, work, space, t, h, attempt == 1 or space.count[STEPS] < 2)
        status = solve_step(system, work, space, t, h)
        if status == OK:
            break
    if status != OK:
        return status
    fill_residual(system, work, space, t, h)
    for a in range(n):
        space.q[a] = space.q_next[a]
        space.p[a] = space.p_next[a]
    for a in range(N):
        before[1, a] = before[0, a]
        before[0, a] = space.z[a]
    space.count[STEPS] += 1
    return OK


@kernel
def run(system, work, space, t, h, first, last, every, out_q, out_p):
    """Advance from step `first` to step `last`, storing every `every`-th state; returns a status and the number of
    steps done.

    t, h           float          any time, since the system does not depend on it, and the step [s]
    out_q, out_p   (stored, n)    out: states after the steps first + every, first + 2 every, …
    """
    stored = 0
    for step in range(first, last):
        status = advance(system, work, space, t, h)
        if status != OK:
            return status, step
        if (step + 1) % every == 0:
            for a in range(system.n):
                out_q[stored, a] = space.q[a]
                out_p[stored, a] = space.p[a]
            stored += 1
    return OK, last
