"""Velocities in the tangent space: the rates of coordinates, and of a ball joint the angular velocity ω of its link.

A unit quaternion a has four rates ȧ, but three ways to move. In the tangent space they are ω = 2 vec(ā ȧ), relative to
the parent and along the axes of the link, so that ȧ = ½ a ω/|a|². What does work on ω is a torque N = ½ vec(ā f) of a
covector f of the four rates, and f = 2 a N/|a|² of a torque; a change of q along the tangent turns the link by it. All
other entries are those of the coordinates.

nq and nv are the numbers of coordinates and of velocities, nv = nq − number of ball joints.

Units, with u the unit of a coordinate, rad of a ball joint: q [u]; v [u/s]; a [u/s²]; f [J/u]; columns [1 or 1/s]; K
[J/u² or J s/u²]; dense, stored [J/u², J s/u² or J s²/u²]; out [J/u² or J s/u²]; factor [1].

Source: Nikravesh, Computer-Aided Analysis of Mechanical Systems (1988), chapter 6 (Euler parameters: their rates, and
torques).
"""

import numpy as np

from mbvi.kernels.compiler.decorators import copied_kernel, kernel
from mbvi.kernels.compiler.lanes import WIDTH
from mbvi.kernels.compiler.packed import Packed
from mbvi.kernels.layout import (
    BLOCK_COLUMN,
    BLOCK_ROW,
    BLOCK_SECOND,
    CONSTRAINT_KIND,
    DOF,
    ENTRIES,
    FIRST_MEMBER,
    KIND,
    NODE_COORDINATES,
    PARENT,
    QUATERNION,
    TRANSLATION,
    UNIT_QUATERNION,
    System,
)
from mbvi.kernels.mechanics.rotation import conjugate_product_vector, product_with_vector

# Widths of rows whose columns `inverse_dynamics`, `dynamics_derivatives` and `frames` name.
ROW_WIDTH, WORLD_WIDTH, COLUMN_WIDTH, COMPOSITE_WIDTH = 33, 24, 24, 28
TOGETHER = 16  # columns that are solved at a time

# What is wrong with a state: kernels return this plus KINDS times the number of the first such state, or FINE.
FINE, NOT_FINITE, SINGULAR_MASS, OFF_CONSTRAINTS, UNDRIVEN, OVERDRIVEN, KINDS = -1, 0, 1, 2, 3, 4, 8


class DynamicsWork(Packed):
    """Arrays that kinematics and dynamics overwrite, and where the velocities of every link stand.

    has_loops      1 where constraints hold more than unit quaternions
    is_articulated 1 where articulated bodies invert M: without loops, and where nothing turns about a translation of its own
    first (L,)     first entry of v of every link
    before (nv,)   entry of v before each on its path from the world, −1 for the first; of what has no link, −1
    """


def make_dynamics_work(system: System) -> DynamicsWork:
    """Workspace for the kinematics and dynamics of a system of links."""
    n, links = system.n, system.links
    nv, count = n - int(np.sum(links[:, KIND] == QUATERNION)), len(links)
    is_held = (system.constraints[:, CONSTRAINT_KIND] != UNIT_QUATERNION) & (system.constraints[:, ENTRIES] > 0)
    has_loops = bool(is_held.any())
    return DynamicsWork(
        nv=nv,
        has_loops=int(has_loops),
        is_articulated=int(
            not has_loops and not np.isin(np.flatnonzero(links[:, KIND] == TRANSLATION), links[:, PARENT]).any()
        ),
        first=first_velocities(system),
        before=_velocities_before(system, nv),
        **_arrays(n, nv, count),
        **_dense_arrays(system, nv),
    )


def first_velocities(system: System) -> np.ndarray:
    """The first entry of v of every link (L,): its first coordinate, less one for every quaternion before."""
    links = system.links
    balls = links[links[:, KIND] == QUATERNION, DOF]
    return np.asarray(links[:, DOF] - np.sum(balls[None, :] < links[:, DOF, None], axis=1), dtype=np.int64)


def _velocities_before(system: System, nv: int) -> np.ndarray:
    links, first, found = system.links, first_velocities(system), np.full(nv, -1, np.int64)
    for (parent, kind), k in zip(links[:, [PARENT, KIND]], first, strict=True):
        if parent >= 0:
            found[k] = first[parent] + _width(links[parent, KIND]) - 1
        found[k + 1 : k + _width(kind)] = np.arange(k, k + _width(kind) - 1)
    return found


def _width(kind: int) -> int:
    """Number of velocities of an elementary joint."""
    return 3 if kind in (QUATERNION, TRANSLATION) else 1


@copied_kernel
def columns_of(count, together):
    """So many columns in whole groups: the width of a row of own.M and own.solved."""
    return (count + together - 1) // together * together


def _arrays(n: int, nv: int, count: int) -> dict[str, np.ndarray]:
    return {
        "row": np.zeros((count, ROW_WIDTH)),
        "world": np.zeros((count, WORLD_WIDTH)),
        "columns": np.zeros((nv, COLUMN_WIDTH)),
        "composite": np.zeros((count, COMPOSITE_WIDTH)),
        "pairs": np.zeros((nv, 9, WIDTH)),
        "pair": np.zeros((5, 6)),
        "frame": np.zeros(24),
        "rates": np.zeros(n),
        "force": np.zeros(n),
        "zero": np.zeros(nv),
        "B": np.ones((nv, 4)),
        "turned": np.zeros((nv, 4)),
        "acceleration": np.zeros(nv),
        "M": np.zeros(nv * columns_of(nv, WIDTH)),
        "solved": np.zeros(nv * columns_of(3 * nv, TOGETHER)),
    }


def _dense_arrays(system: System, nv: int) -> dict[str, np.ndarray]:
    """Arrays of the derivatives of forces and constraints, without room where there are none."""
    is_needed = len(system.joint_forces) + len(system.body_forces) > 0 or system.force != 0 or system.k > 0
    n, nv = (system.n, nv) if is_needed else (0, 0)
    return {"by_place": np.zeros((n, n)), "by_rate": np.zeros((n, n)), "product": np.zeros((n, nv))}


@copied_kernel
def is_ball(system, j):
    """Whether a quaternion begins at coordinate j."""
    link = system.coordinate_links[j]
    return system.links[link, KIND] == QUATERNION and system.links[link, DOF] == j


@copied_kernel
def is_finite(q, v, a):
    """Whether all numbers of a state are finite.

    q, v, a   (nq,), (nv,), (nv,)
    """
    nothing = 0.0
    for c in range(q.shape[0]):
        nothing += 0.0 * q[c]
    for c in range(v.shape[0]):
        nothing += 0.0 * v[c] + 0.0 * a[c]
    return nothing == 0.0


@kernel
def fill_rates(rates, system, q, v):
    """The rates of all coordinates from velocities in the tangent space.

    rates     (nq,)    out  [u/s], u the unit of a coordinate
    q, v      (nq,), (nv,)
    """
    c = i = 0
    while c < system.n:
        if is_ball(system, c):
            a0, a1, a2, a3 = q[c], q[c + 1], q[c + 2], q[c + 3]
            half = 0.5 / (a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3)
            r0, r1, r2, r3 = product_with_vector(a0, a1, a2, a3, half * v[i], half * v[i + 1], half * v[i + 2])
            rates[c], rates[c + 1], rates[c + 2], rates[c + 3] = r0, r1, r2, r3
            c, i = c + 4, i + 3
        else:
            rates[c] = v[i]
            c, i = c + 1, i + 1


@kernel
def subtract_covector(tau, system, q, f):
    """Subtract the covector of the tangent space that a covector f of all rates is.

    tau       (nv,)    in and out  [J/u]
    q, f      (nq,), (nq,)
    """
    c = i = 0
    while c < system.n:
        if is_ball(system, c):
            x, y, z = conjugate_product_vector(q[c], q[c + 1], q[c + 2], q[c + 3], f[c], f[c + 1], f[c + 2], f[c + 3])
            size = q[c] * q[c] + q[c + 1] * q[c + 1] + q[c + 2] * q[c + 2] + q[c + 3] * q[c + 3]
            half = 0.5 / size
            tau[i], tau[i + 1], tau[i + 2] = tau[i] - half * x, tau[i + 1] - half * y, tau[i + 2] - half * z
            c, i = c + 4, i + 3
        else:
            tau[i] -= f[c]
            c, i = c + 1, i + 1


@kernel
def fill_tangents(own, system, q, v):
    """∂q/∂δ of every tangent, into own.B, and ∂q̇/∂δ, into own.turned: one number, or the four of a quaternion.

    With e the axis, ½ a e of a quaternion a; and of its rate ½ a ω, ¼ a e ω. Both are of a unit quaternion.

    q, v      (nq,), (nv,)
    """
    c = i = 0
    while c < system.n:
        if is_ball(system, c):
            a0, a1, a2, a3 = 0.25 * q[c], 0.25 * q[c + 1], 0.25 * q[c + 2], 0.25 * q[c + 3]
            for axis in range(3):
                e0, e1, e2 = 1.0 * (axis == 0), 1.0 * (axis == 1), 1.0 * (axis == 2)
                b0, b1, b2, b3 = product_with_vector(a0, a1, a2, a3, e0, e1, e2)
                B, turned = own.B[i + axis], own.turned[i + axis]
                B[0], B[1], B[2], B[3] = 2.0 * b0, 2.0 * b1, 2.0 * b2, 2.0 * b3
                turned[0], turned[1], turned[2], turned[3] = product_with_vector(
                    b0, b1, b2, b3, v[i], v[i + 1], v[i + 2]
                )
            c, i = c + 4, i + 3
        else:
            c, i = c + 1, i + 1


@kernel
def fill_product(own, system, K, columns):
    """K times the columns of all tangents, into own.product.

    K         (nq, nq)
    columns   (nv, 4)     own.B or own.turned, after `fill_tangents`; of what is no quaternion own.turned is 0
    """
    for row in range(system.n):
        c = i = 0
        while c < system.n:
            if is_ball(system, c):
                for axis in range(3):
                    total = 0.0
                    for b in range(4):
                        total += K[row, c + b] * columns[i + axis, b]
                    own.product[row, i + axis] = total
                c, i = c + 4, i + 3
            else:
                own.product[row, i] = K[row, c] * columns[i, 0]
                c, i = c + 1, i + 1


@kernel
def add_product(out, factor, own, system):
    """Add Bᵀ times own.product, B = ∂q/∂δ of all tangents.

    out       (nv, nv)    in and out
    """
    c = i = 0
    while c < system.n:
        width = 4 if is_ball(system, c) else 1
        for axis in range(3 if width == 4 else 1):
            for j in range(own.nv):
                total = 0.0
                for b in range(width):
                    total += own.B[i + axis, b] * own.product[c + b, j]
                out[i + axis, j] += factor * total
        c, i = c + width, i + (3 if width == 4 else 1)


@kernel
def add_turn_of_covector(out, factor, system, q, f):
    """Add how the covector of the tangent space changes that a covector f of all rates is, since the tangents turn.

    For a unit quaternion a, with N = ½ vec(ā f), it is −¼ (a·f) 1 + ½ [N]×.

    out       (nv, nv)    in and out
    q, f      (nq,), (nq,)
    """
    c = i = 0
    while c < system.n:
        if is_ball(system, c):
            x, y, z = conjugate_product_vector(q[c], q[c + 1], q[c + 2], q[c + 3], f[c], f[c + 1], f[c + 2], f[c + 3])
            x, y, z = 0.25 * factor * x, 0.25 * factor * y, 0.25 * factor * z
            along = q[c] * f[c] + q[c + 1] * f[c + 1] + q[c + 2] * f[c + 2] + q[c + 3] * f[c + 3]
            for axis in range(3):
                out[i + axis, i + axis] -= 0.25 * factor * along
            out[i, i + 1] -= z
            out[i + 1, i] += z
            out[i, i + 2] += y
            out[i + 2, i] -= y
            out[i + 1, i + 2] -= x
            out[i + 2, i + 1] += x
            c, i = c + 4, i + 3
        else:
            c, i = c + 1, i + 1


@kernel
def fill_dense(dense, stored, system):
    """A matrix from the blocks of second derivatives.

    dense     (nq, nq)          out
    stored    (second_size,)
    """
    dense[:, :] = 0.0
    for i in range(system.blocks.shape[0]):
        A, B = system.blocks[i, BLOCK_ROW], system.blocks[i, BLOCK_COLUMN]
        rows, columns = system.nodes[A, FIRST_MEMBER], system.nodes[B, FIRST_MEMBER]
        place = system.blocks[i, BLOCK_SECOND]
        for a in range(rows, rows + system.nodes[A, NODE_COORDINATES]):
            for b in range(columns, columns + system.nodes[B, NODE_COORDINATES]):
                dense[system.members[a], system.members[b]] = stored[place]
                place += 1
