"""Centre of mass and momentum about it, of all bodies together, with their Jacobians and derivatives.

With the columns S_k of the velocities about the centre of mass c, in world axes, and of what hangs on k the inertia Iᶜ_k
and the momentum p_k about c too, the momentum h = [l; P] of all bodies about c is

    h = A v,    A_k = Iᶜ_k S_k,    ∂h/∂q_k = S_k ×* p_k + Iᶜ_k (V_λ × S_k) − (∂c/∂q_k × P of the whole, 0),

with V_λ the twist of the link before k; and P is the mass times dc/dt, so that the last three rows of A are those of the
Jacobian of c times the mass.

Units, with u the unit of a coordinate, rad of a ball joint: q [u]; v [u/s]; center, x, y, z [m]; total [kg]; matrix
[kg m/u, kg m²/u]; by_q [kg m/(s u), kg m²/(s u)]; row [kg, kg m, kg m²].

Source: Orin, Goswami & Lee, Autonomous Robots 35 (2013) (the centroidal momentum matrix).
"""

from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.layout import KIND, MASS, MOMENT, PARENT
from mbvi.kernels.mechanics.dynamics_derivatives import AT, PSI, TWIST, S, fill_poses_of_links, wrench_product
from mbvi.kernels.mechanics.frames import put_six, six_of, twist_product, velocity_column, width_of_link
from mbvi.kernels.mechanics.rotation import apply_inertia, cross, rotate
from mbvi.kernels.mechanics.tangent import FINE, KINDS, NOT_FINITE, is_finite
from mbvi.kernels.mechanics.tree import anchor_place, turned_inertia

MOMENTUM_OF, WIDTH = 10, 16  # of a row of own.composite: inertia (10), momentum (6)


@kernel
def fill_centroidal(center, matrix, by_q, system, own, q, v):
    """The centre of mass, A and ∂h/∂q in many states.

    center    (states, 3)        out  [m]
    matrix, by_q    (states, 6, nv)    out: linear rows first
    own       DynamicsWork
    q, v      (states, nq), (states, nv)

    Returns FINE, or the first state with a number that is not finite.
    """
    for i in range(q.shape[0]):
        if not is_finite(q[i], v[i], v[i]):
            return NOT_FINITE + KINDS * i
        fill_poses_of_links(system, own, q[i])
        total = fill_center(center[i], system, own, q[i])
        fill_columns_about(center[i], system, own, q[i], v[i])
        fill_momenta(matrix[i], by_q[i], total, system, own)
    return FINE


@kernel
def fill_center(center, system, own, q):
    """The centre of mass of all links, not a number without mass; the mass is returned. Places in own.world become absolute.

    center    (3,)     out
    q         (nq,)
    """
    geometry, world = system.geometry, own.world
    total = x = y = z = 0.0
    for i in range(system.links.shape[0]):
        ax, ay, az = anchor_place(system.links, geometry, world, i, q)
        own.row[i, 0], own.row[i, 1], own.row[i, 2] = ax, ay, az
    for i in range(system.links.shape[0]):
        m = geometry[i, MASS]
        hx, hy, hz = rotate(world, i, 0, geometry[i, MOMENT], geometry[i, MOMENT + 1], geometry[i, MOMENT + 2])
        for c in range(3):
            world[i, AT + c] += own.row[i, c]
        total += m
        x, y, z = x + m * world[i, AT] + hx, y + m * world[i, AT + 1] + hy, z + m * world[i, AT + 2] + hz
    center[0], center[1], center[2] = x / total, y / total, z / total
    return total


@kernel
def fill_columns_about(center, system, own, q, v):
    """S and V_λ × S of all velocities, and of every link its inertia and momentum, about a point.

    center    (3,)
    q, v      (nq,), (nv,)
    """
    links, geometry, world, row = system.links, system.geometry, own.world, own.composite
    for i in range(links.shape[0]):
        parent, kind = links[i, PARENT], links[i, KIND]
        x, y, z = world[i, AT] - center[0], world[i, AT + 1] - center[1], world[i, AT + 2] - center[2]
        v0 = v1 = v2 = v3 = v4 = v5 = 0.0
        if parent >= 0:
            v0, v1, v2, v3, v4, v5 = six_of(world, parent, TWIST)
        p0, p1, p2, p3, p4, p5 = v0, v1, v2, v3, v4, v5
        for c in range(width_of_link(links, i)):
            k = own.first[i] + c
            e0, e1, e2, l0, l1, l2 = velocity_column(world, geometry, kind, i, c, x, y, z)
            s0, s1, s2, s3, s4, s5 = twist_product(p0, p1, p2, p3, p4, p5, e0, e1, e2, l0, l1, l2)
            put_six(own.columns, k, S, e0, e1, e2, l0, l1, l2)
            put_six(own.columns, k, PSI, s0, s1, s2, s3, s4, s5)
            r = v[k]
            v0, v1, v2, v3, v4, v5 = v0 + e0 * r, v1 + e1 * r, v2 + e2 * r, v3 + l0 * r, v4 + l1 * r, v5 + l2 * r
        put_six(world, i, TWIST, v0, v1, v2, v3, v4, v5)
        fill_inertia_about(row, i, system, own, x, y, z)
        put_six(own.pair, 0, 0, v0, v1, v2, v3, v4, v5)
        apply_inertia(own.pair, 1, row, i, own.pair, 0)
        n0, n1, n2, n3, n4, n5 = six_of(own.pair, 1, 0)
        put_six(row, i, MOMENTUM_OF, n0, n1, n2, n3, n4, n5)
    for i in range(links.shape[0] - 1, -1, -1):
        for c in range(WIDTH if links[i, PARENT] >= 0 else 0):
            row[links[i, PARENT], c] += row[i, c]


@kernel
def fill_inertia_about(row, i, system, own, x, y, z):
    """Mass, first and second moments of link i about a point from which it is at (x, y, z).

    row       (L, 28)    out, ten columns of row i alone
    """
    geometry, world = system.geometry, own.world
    m = geometry[i, MASS]
    hx, hy, hz = rotate(world, i, 0, geometry[i, MOMENT], geometry[i, MOMENT + 1], geometry[i, MOMENT + 2])
    xx, yy, zz, xy, xz, yz = turned_inertia(world, geometry, i)
    trace = 2.0 * (x * hx + y * hy + z * hz) + m * (x * x + y * y + z * z)
    row[i, 0], row[i, 1], row[i, 2], row[i, 3] = m, hx + m * x, hy + m * y, hz + m * z
    row[i, 4], row[i, 5] = xx + trace - 2.0 * hx * x - m * x * x, yy + trace - 2.0 * hy * y - m * y * y
    row[i, 6], row[i, 7] = zz + trace - 2.0 * hz * z - m * z * z, xy - hx * y - x * hy - m * x * y
    row[i, 8], row[i, 9] = xz - hx * z - x * hz - m * x * z, yz - hy * z - y * hz - m * y * z


@kernel
def fill_momenta(matrix, by_q, total, system, own):
    """A and ∂h/∂q by the formulas at the head of this file, after `fill_columns_about`.

    matrix, by_q    (6, nv)    out: linear rows first
    """
    links, row, pair = system.links, own.composite, own.pair
    px = py = pz = 0.0
    for i in range(links.shape[0]):
        if links[i, PARENT] < 0:
            px, py, pz = px + row[i, MOMENTUM_OF + 3], py + row[i, MOMENTUM_OF + 4], pz + row[i, MOMENTUM_OF + 5]
    for k in range(own.nv):
        for c in range(6):
            matrix[c, k] = by_q[c, k] = 0.0
    for i in range(links.shape[0]):
        for k in range(own.first[i], own.first[i] + width_of_link(links, i)):
            apply_inertia(pair, 0, row, i, own.columns, k)
            s0, s1, s2, s3, s4, s5 = six_of(own.columns, k, PSI)
            put_six(pair, 1, 0, s0, s1, s2, s3, s4, s5)
            apply_inertia(pair, 2, row, i, pair, 1)
            e0, e1, e2, l0, l1, l2 = six_of(own.columns, k, S)
            n0, n1, n2, n3, n4, n5 = six_of(row, i, MOMENTUM_OF)
            f0, f1, f2, f3, f4, f5 = wrench_product(e0, e1, e2, l0, l1, l2, n0, n1, n2, n3, n4, n5)
            x, y, z = cross(pair[0, 3] / total, pair[0, 4] / total, pair[0, 5] / total, px, py, pz)
            f0, f1, f2 = f0 + pair[2, 0] - x, f1 + pair[2, 1] - y, f2 + pair[2, 2] - z
            f3, f4, f5 = f3 + pair[2, 3], f4 + pair[2, 4], f5 + pair[2, 5]
            for c in range(3):
                matrix[c, k], matrix[3 + c, k] = pair[0, 3 + c], pair[0, c]
            by_q[0, k], by_q[1, k], by_q[2, k] = f3, f4, f5
            by_q[3, k], by_q[4, k], by_q[5, k] = f0, f1, f2
