"""Splittings of H = T + V: kicks by the forces of V, and the exact free motion of T.

T is that of coordinates of constant inertia, which drift, and of balls: bodies with a unit quaternion that T leaves to
themselves, which turn as free rigid bodies do (`free_rotation`):

    kick:  p ← p − h ∇V(q),  and of a ball ℓ ← ℓ − ½ h vec(x̄ ⋆ ∂V/∂x)
    free motion:  q ← q + h M⁻¹ p,  and of a ball (x, ℓ) → their free rotation through h

Both are solved exactly, so that any sequence of them is symplectic; unit quaternions stay so, and p = 2 x ⋆ (0, ℓ) is
tangent.

Units, with u the unit of a coordinate: t, h [s]; a0 … a3, b0 … b3 [any unit]; out_q [u]; out_p [J s/u].

Source: McLachlan & Quispel, Acta Numerica 11 (2002).
"""

import numpy as np

from mbvi.kernels.algebra.compensated import add_compensated
from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.compiler.packed import Packed, read_only
from mbvi.kernels.layout import NOT_FINITE, OK, System
from mbvi.kernels.mechanics.free_rotation import SERIES, turn_freely
from mbvi.kernels.mechanics.lagrangian import fill_gradient
from mbvi.kernels.mechanics.rotation import conjugate_product_vector, product_with_vector


class Space(Packed):
    """A splitting of a system, and the arrays that a run overwrites, for c drifting coordinates and b balls.

    numbers             (r,)             kicks and free motions in turn, as fractions of the step, from a kick on
    drifting            (c,)             coordinates of constant inertia
    starts              (c + 1,)         first entry of each row of M⁻¹ of these, and the end
    columns, values     (entries,)       entries of that M⁻¹ that are not 0
    balls               (b,)             first coordinate of each quaternion
    inverse             (b, 3)           inverse principal moments of inertia [1/(kg m²)]
    axes                (b, 4)           rotation from principal to body axes
    q, p                (n,)             the state  [u, J s/u], u the unit of a coordinate
    q_low, p_low        (n,)             rounding errors of drifting coordinates and of their momenta
    y, y_low            (b, 7)           quaternion and angular momentum of each ball along principal axes, and their
                                         rounding errors
    series              (93, 4)          work of free rotations
    force, unused       (n,)             −∇V, and momenta that are not needed
    rest                (n,)             a velocity of zero
    is_current          (1,)             1 if `force` is that at q, else 0
    """


def make_space(
    system: System,
    numbers: np.ndarray,
    drifting: np.ndarray,
    M_inverse: tuple[np.ndarray, np.ndarray, np.ndarray],
    balls: np.ndarray,
    inverse: np.ndarray,
    axes: np.ndarray,
) -> Space:
    """Workspace of a run; see `Space` for the shapes. M_inverse holds starts, columns and values."""
    n, b = system.n, len(balls)
    return Space(
        **read_only(
            numbers=numbers,
            drifting=drifting,
            starts=M_inverse[0],
            columns=M_inverse[1],
            values=M_inverse[2],
            balls=balls,
            inverse=inverse,
            axes=axes,
        ),
        q=np.zeros(n),
        p=np.zeros(n),
        q_low=np.zeros(n),
        p_low=np.zeros(n),
        y=np.zeros((b, 7)),
        y_low=np.zeros((b, 7)),
        series=np.zeros(SERIES),
        force=np.zeros(n),
        unused=np.zeros(n),
        rest=np.zeros(n),
        is_current=np.zeros(1, np.int64),
    )


@kernel
def product(a0, a1, a2, a3, b0, b1, b2, b3):
    """The product a ⋆ b of quaternions."""
    v0, v1, v2, v3 = product_with_vector(a0, a1, a2, a3, b1, b2, b3)
    return a0 * b0 + v0, a1 * b0 + v1, a2 * b0 + v2, a3 * b0 + v3


@kernel
def begin(space):
    """Quaternions and angular momenta of balls, from q and p."""
    for b in range(space.balls.shape[0]):
        a, e, y = space.balls[b], space.axes[b], space.y[b]
        q, p = space.q, space.p
        y[0], y[1], y[2], y[3] = product(q[a], q[a + 1], q[a + 2], q[a + 3], e[0], e[1], e[2], e[3])
        p0, p1, p2, p3 = product(p[a], p[a + 1], p[a + 2], p[a + 3], e[0], e[1], e[2], e[3])
        l1, l2, l3 = conjugate_product_vector(y[0], y[1], y[2], y[3], p0, p1, p2, p3)
        y[4], y[5], y[6] = 0.5 * l1, 0.5 * l2, 0.5 * l3


@kernel
def kick(system, work, space, t, h):
    """Add to the momenta what the forces of V give them through h."""
    if h == 0.0:
        return
    force = space.force
    if space.is_current[0] == 0:
        fill_gradient(space.unused, force, system, work, t, space.q, space.rest)
        space.is_current[0] = 1
    for c in range(space.drifting.shape[0]):
        a = space.drifting[c]
        add_compensated(space.p, space.p_low, a, h * force[a])
    for b in range(space.balls.shape[0]):
        a, e, y, low = space.balls[b], space.axes[b], space.y[b], space.y_low[b]
        f0, f1, f2, f3 = product(force[a], force[a + 1], force[a + 2], force[a + 3], e[0], e[1], e[2], e[3])
        l1, l2, l3 = conjugate_product_vector(y[0], y[1], y[2], y[3], f0, f1, f2, f3)
        add_compensated(y, low, 4, 0.5 * h * l1)
        add_compensated(y, low, 5, 0.5 * h * l2)
        add_compensated(y, low, 6, 0.5 * h * l3)


@kernel
def move_freely(space, h):
    """Move by T alone through h."""
    q, p = space.q, space.p
    for c in range(space.drifting.shape[0]):
        v = 0.0
        for i in range(space.starts[c], space.starts[c + 1]):
            v += space.values[i] * p[space.drifting[space.columns[i]]]
        add_compensated(q, space.q_low, space.drifting[c], h * v)
    for b in range(space.balls.shape[0]):
        a, e, y = space.balls[b], space.axes[b], space.y[b]
        turn_freely(y, space.y_low[b], space.inverse[b], space.series, h)
        q[a], q[a + 1], q[a + 2], q[a + 3] = product(y[0], y[1], y[2], y[3], e[0], -e[1], -e[2], -e[3])
    space.is_current[0] = 0


@kernel
def finish(space):
    """Momenta of balls into space.p; returns a status."""
    p, check = space.p, 0.0
    for b in range(space.balls.shape[0]):
        a, e, y = space.balls[b], space.axes[b], space.y[b]
        p0, p1, p2, p3 = product_with_vector(y[0], y[1], y[2], y[3], 2.0 * y[4], 2.0 * y[5], 2.0 * y[6])
        p[a], p[a + 1], p[a + 2], p[a + 3] = product(p0, p1, p2, p3, e[0], -e[1], -e[2], -e[3])
    for a in range(p.shape[0]):
        check += 0.0 * (space.q[a] + p[a])
    return OK if check == 0.0 else NOT_FINITE


@kernel
def run(system, work, space, t, h, first, last, every, out_q, out_p):
    """Advance from step `first` to step `last`, storing every `every`-th state; returns a status and the number of
    steps done.

    t, h           float          any time, since the system does not depend on it, and the step [s]
    out_q, out_p   (stored, n)    out: states after the steps first + every, first + 2 every, …
    """
    stored = 0
    for step in range(first, last):
        for i in range(space.numbers.shape[0]):
            part = space.numbers[i] * h
            if i % 2 == 0:
                kick(system, work, space, t, part)
            else:
                move_freely(space, part)
        status = finish(space)
        if status != OK:
            return status, step
        if (step + 1) % every == 0:
            for a in range(system.n):
                out_q[stored, a] = space.q[a]
                out_p[stored, a] = space.p[a]
            stored += 1
    return OK, last
