"""The direct midpoint method: a parabola over the step, whose acceleration is that of the system in the middle of the
step.

    q' = q + 2τ v + 2τ² a,     v' = v + 2τ a,     a = A(t + τ, q + τ v + g τ² a, v + τ a),     2τ = h.

g = 0 is the direct midpoint method, g = 1 the implicit midpoint rule. The equation for a is solved by

    a₀ = A(t + τ, q + τ v, v),     a* = A(… aₙ …),     a** = A(… a* …),     aₙ₊₁ = (a* + a**)/2,

which contracts where the derivative of A with respect to a has eigenvalues between −2 and 1. Where it does not,
Newton's iteration solves (1 − ∂A/∂a) δ = A − a with a difference quotient, which is exact where A is linear in q and v.

Units, with u the unit of a coordinate: t, tau, h [s]; out, a, change, change_before [u/s²]; g [1].

Source: Mutze, A simple variational integrator for general holonomic mechanical systems, section 6, equations 73 to 80.
"""

import numpy as np

from mbvi.kernels.algebra.saddle import SINGULAR_PIVOT, invert_block, multiply_block
from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.compiler.lanes import WIDTH
from mbvi.kernels.compiler.packed import Packed
from mbvi.kernels.galerkin import tolerances
from mbvi.kernels.galerkin.tolerances import EPS
from mbvi.kernels.layout import NOT_CONVERGED, NOT_FINITE, OK, SINGULAR, System
from mbvi.kernels.mechanics.acceleration import fill_acceleration
from mbvi.kernels.methods.stored_state import store_state

MAX_ITERATIONS = 30
# So many corrections of this size that do not shrink are the rounding of the forces themselves.
MAX_STALLS, SMALL = tolerances.VALUES[[tolerances.MAX_STALLS, tolerances.SMALL]].tolist()
DIFFERENCE = 1e-6  # relative step of the difference quotients, of velocities
# Columns of Space.count: totals of a run, and the iterations of the last step.
ITERATIONS, WORST, FACTORS, LAST = 0, 1, 2, 3


class Space(Packed):
    """The arrays that a run overwrites, with m = n filled up to whole lanes.

    q, v, a           (n,)      the state, and the acceleration of the last step  [u, u/s, u/s²], u the unit of a
                                coordinate
    once, twice       (m,), (n,)    a* and a**
    node_q, node_v    (n,)      state in the middle of the step
    matrix            (n m,)    1 − ∂A/∂a, row by row, each of n numbers and zeros that fill up the lanes; then its
                                inverse
    side, above       (m,)      A − a, and work
    pivots            (n, 2)    work
    count             (4,)      see the columns above
    """


def make_space(system: System, q: np.ndarray, v: np.ndarray) -> Space:
    """Workspace of a run from q, v (n,)."""
    n, m = system.n, -(-system.n // WIDTH) * WIDTH
    return Space(
        q=q.copy(),
        v=v.copy(),
        a=np.zeros(n),
        once=np.zeros(m),
        twice=np.zeros(n),
        node_q=np.zeros(n),
        node_v=np.zeros(n),
        matrix=np.zeros(n * m),
        side=np.zeros(m),
        above=np.zeros(m),
        pivots=np.zeros((n, 2), np.int64),
        count=np.zeros(4, np.int64),
    )


@kernel
def fill_middle(out, a, system, work, space, t, tau, g):
    """out = A(t + τ, q + τ v + g τ² a, v + τ a); False where the mass matrix is singular.

    out       (n,)    out, or longer; may be `a`
    a         (n,)    acceleration, or longer
    """
    for i in range(system.n):
        space.node_v[i] = space.v[i] + tau * a[i]
        space.node_q[i] = space.q[i] + tau * (space.v[i] + g * tau * a[i])
    return fill_acceleration(out, system, work, t + tau, space.node_q, space.node_v)


@kernel
def size_of(space, tau):
    """The largest velocity, or gain of velocity in half a step."""
    size = 0.0
    for i in range(space.v.shape[0]):
        size = max(size, abs(space.v[i]), abs(tau * space.a[i]))
    return size


@kernel
def is_finished(space, change, change_before, stalls, tau):
    """Whether a change of the acceleration is round-off, and the number of changes that were small and did not shrink."""
    size = size_of(space, tau) / tau
    stalls += change_before >= 0.0 and change > 0.5 * change_before and change <= SMALL * size
    return change <= EPS * size or stalls >= MAX_STALLS, stalls


@kernel
def iterate(system, work, space, t, tau, g, iterations):
    """Iterate a, so many times, or to round-off if that number is negative; returns a status, NOT_CONVERGED where that
    is slow.
    """
    n, a, once, twice, count = system.n, space.a, space.once, space.twice, space.count
    before, stalls, growths = -1.0, 0, 0
    limit = MAX_ITERATIONS if iterations < 0 else iterations
    for _ in range(limit):
        if not (
            fill_middle(once, a, system, work, space, t, tau, g)
            and fill_middle(twice, once, system, work, space, t, tau, g)
        ):
            return SINGULAR
        count[LAST] += 1
        change = check = 0.0
        for i in range(n):
            new = 0.5 * (once[i] + twice[i])
            change = max(change, abs(new - a[i]))
            check += 0.0 * new
            a[i] = new
        if iterations < 0:
            is_done, stalls = is_finished(space, change, before, stalls, tau)
            if is_done:
                return OK
            growths += before >= 0.0 and change > before
            if growths > 1 or check != 0.0:
                break
        before = change
    return NOT_CONVERGED if iterations < 0 else OK


@kernel
def iterate_newton(system, work, space, t, tau, g):
    """Newton's iteration for a; returns a status."""
    n, a, once, twice, matrix, count = system.n, space.a, space.once, space.twice, space.matrix, space.count
    side, m = space.side, space.side.shape[0]
    before, stalls = -1.0, 0
    for _ in range(MAX_ITERATIONS):
        if not fill_middle(once, a, system, work, space, t, tau, g):
            return SINGULAR
        step = DIFFERENCE * max(size_of(space, tau), DIFFERENCE) / tau
        for j in range(n):
            kept = a[j]
            a[j] += step
            if not fill_middle(twice, a, system, work, space, t, tau, g):
                return SINGULAR
            for i in range(n):
                matrix[i * m + j] = (1.0 if i == j else 0.0) - (twice[i] - once[i]) / (a[j] - kept)
            a[j] = kept
        check = 0.0
        for i in range(n):
            side[i] = once[i] - a[i]
            check += 0.0 * side[i]
        if check != 0.0:
            return NOT_FINITE
        if invert_block(matrix, 0, n, m, m // WIDTH, space.pivots, space.above, 0.0, 0, SINGULAR_PIVOT) < 0:
            return SINGULAR
        multiply_block(once, side, 0, matrix, 0, n, m, m // WIDTH)
        count[LAST] += 1
        count[FACTORS] += 1
        change = 0.0
        for i in range(n):
            change = max(change, abs(once[i]))
            a[i] += once[i]
        is_done, stalls = is_finished(space, change, before, stalls, tau)
        if is_done:
            return OK
        before = change
    return NOT_CONVERGED


@kernel
def fill_start(system, work, space, t, tau):
    """a₀ into space.a; False where the mass matrix is singular."""
    for i in range(system.n):
        space.a[i] = 0.0
    return fill_middle(space.a, space.a, system, work, space, t, tau, 0.0)


@kernel
def solve(system, work, space, t, tau, g, iterations):
    """The acceleration of a step into space.a; returns a status."""
    if not fill_start(system, work, space, t, tau):
        return SINGULAR
    status = iterate(system, work, space, t, tau, g, iterations)
    if status != NOT_CONVERGED:
        return status
    if not fill_start(system, work, space, t, tau):
        return SINGULAR
    return iterate_newton(system, work, space, t, tau, g)


@kernel
def advance(system, work, space, t, h, g, iterations):
    """One step of size h from the time t; returns a status."""
    q, v, a, count, tau = space.q, space.v, space.a, space.count, 0.5 * h
    count[LAST] = 0
    status = solve(system, work, space, t, tau, g, iterations)
    check = 0.0
    for i in range(system.n):
        v[i] += tau * a[i]
        q[i] += h * v[i]
        v[i] += tau * a[i]
        check += 0.0 * (q[i] + v[i])
    count[ITERATIONS] += count[LAST]
    count[WORST] = max(count[WORST], count[LAST])
    return status if status != OK or check == 0.0 else NOT_FINITE


@kernel
def run(system, work, space, g, iterations, t, h, every, out_q, out_p):
    """Advance through steps of sizes h, storing every `every`-th state; returns a status and the number of steps done.

    iterations     int            for a; −1: to round-off
    t, h           (steps,)       times at which the steps begin, and sizes [s]
    out_q, out_p   (stored, n)    out: coordinates and momenta  [u, J s/u]
    """
    for step in range(h.shape[0]):
        status = advance(system, work, space, t[step], h[step], g, iterations)
        if status != OK:
            return status, step
        if (step + 1) % every == 0:
            store_state(out_q, out_p, step // every, system, work, t[step] + h[step], space.q, space.v)
    return OK, h.shape[0]
