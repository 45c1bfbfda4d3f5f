"""Forces other than gravity: on joint coordinates, on body points, and between two body points.

A force f on a point x of link b, and −f on a point of link a, has the generalized force (virtual work, D_j the
displacement column of coordinate j, taken at the point)

    F_j = D_j(x_b)·f − D_j(x_a)·f

and with δx_k = D_k(x), δẋ_k = θ_k × ẋ + U_k(x) (θ_k the angular part of D_k), K = ∂f/∂r, C = ∂f/∂ṙ, r = x_b − x_a,

    ∂F_j/∂q_k = δr_j·(K δr_k + C δṙ_k) + f·∂(D_j(x_b) − D_j(x_a))/∂q_k,     ∂F_j/∂v_k = δr_j·C S_k(r)

where ∂D_j(x)/∂q_k = θ_k × D_j(x) for k nearer the root than j, θ_j × D_k(x) for j nearer the root than k.

A force between two points acts along the line between them: with ℓ = |r|, n = r/ℓ and ℓ̇ = n·ṙ its law is φ(ℓ, ℓ̇), and

    f = φ n,     K δr + C δṙ = (φ/ℓ) δr + ((∂φ/∂ℓ − φ/ℓ) n·δr + ∂φ/∂ℓ̇ δℓ̇) n,     δℓ̇ = n·δṙ + ṙ·(δr − n n·δr)/ℓ.

Constant world forces, springs, potentials and gravity derive from a potential; all are handled here by their forces.

Arguments of the kernels, with u the unit of a coordinate:

t            float             time  [s]
f            (n,)              in and out: generalized forces  [J/u]
q, v         (n,)              configuration and velocity  [u, u/s]
world        (L, 18)           poses and velocities of links, by `tree.fill_world`  [1, m, m/s, rad/s]
links        (L, 7)            System.links  [1]
S, D, U      (n, 6)            columns of the coordinates, by `tree.fill_screws` and `tree.fill_convective`
                               [rad/u, m/u], of U [rad/(s u), m/(s u)]
columns      (n, 6)            S, D or U, with their units  [mixed]
wrench       (L, 6)            in and out: [moment; force] on each link, about its origin  [N m, N]
a, b         (6,)              tuples: position from its anchor and velocity of the point of force i on link a, or b
                               [m, m/s]
point        (6,)              tuple: a or b  [m, m/s]
r            (3,)              tuple: r from a to b  [m]
Kqv, Kqq     (second_size,)    in and out: ∂f/∂v, ∂f/∂q, in blocks of second derivatives  [J s/u², J/u²]

Units of numbers: x, y, z [m]; fx, fy, fz [N]; dx, dy, dz [m/u]; ex, ey, ez [m/u or m/(s u)].

Source: Featherstone 2008, chapter 2 (forces as wrenches, and their virtual work).
"""

import math

from numba import types

from mbvi.kernels.algebra.saddle import second_block
from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.compiler.late import late_kernel
from mbvi.kernels.layout import (
    ACTUATOR,
    BIAS,
    BY_FUNCTION,
    BY_INPUT,
    BY_PLACE,
    BY_RATE,
    CONSTANT,
    DAMPER,
    DOF,
    FORCE_BODY,
    FORCE_WORLD,
    HIGHEST,
    INPUT,
    JOINT_DAMPER,
    JOINT_FORCE,
    JOINT_POTENTIAL,
    JOINT_RATE_FORCE,
    JOINT_SPRING,
    KIND,
    LENGTH_POTENTIAL,
    LOWEST,
    NODE_COORDINATES,
    NUMBER,
    PARENT,
    PITCH,
    PRISMATIC,
    QUATERNION,
    REVOLUTE,
    SPRING,
    TABLE,
    TORQUE_BODY,
    TORQUE_WORLD,
    TRANSLATION,
)
from mbvi.kernels.mechanics.functions import function_of, time_inside
from mbvi.kernels.mechanics.rotation import cross, product_with_vector, rotate, rotate_back
from mbvi.kernels.mechanics.tree import (
    WORLD_LINEAR,
    WORLD_OMEGA,
    WORLD_PLACE,
    WORLD_ROTATION,
    anchor_place,
    columns_origin,
    displacement_derivative,
    from_last,
    link_width,
)


@kernel
def value_of(system, work, function, t):
    """The value of a function of time, of a table on this side of the step's ends."""
    time = time_inside(work.step, t) if system.time_functions[function, 0] == TABLE else t
    return function_of(system.time_functions, system.operations, system.numbers, work.stack, function, time)[0]


@kernel
def jet_of(system, work, function, x):
    """A function of a length, a coordinate or a rate, not of time, at x: (φ, φ′, φ″)."""
    return function_of(system.time_functions, system.operations, system.numbers, work.stack, function, x)


@kernel
def joint_force(system, work, i, t, x, rate):
    """Force φ of joint force i on its coordinate of value x and rate x′, and what it derives from: (φ, ∂φ/∂x, ∂φ/∂x′, V).

    Spring: φ = −k (x − x₀).  Damper: φ = −c x′.  Potential: φ = −V′(x).  Actuator: see `actuator_force`.  Where it derives from
    no potential, V = 0.

    x, rate    float    [u, u/s], or of a length [m, m/s]
    """
    kind, function = system.joint_forces[i, 0], system.joint_forces[i, 2]
    constant, rest = system.joint_force_data[i, 0], system.joint_force_data[i, 1]
    if kind == JOINT_SPRING:
        return -constant * (x - rest), -constant, 0.0, 0.5 * constant * (x - rest) * (x - rest)
    if kind == JOINT_DAMPER:
        return -constant * rate, 0.0, -constant, 0.0
    if kind == JOINT_POTENTIAL:
        V, slope, curvature = jet_of(system, work, function, x)
        return -slope, -curvature, 0.0, V
    if kind == JOINT_RATE_FORCE:
        value, slope, _ = jet_of(system, work, function, rate)
        return value, 0.0, slope, 0.0
    if kind == ACTUATOR:
        force, by_place, by_rate = actuator_force(system, work, i, t, x, rate)
        return force, by_place, by_rate, 0.0
    return value_of(system, work, function, t), 0.0, 0.0, 0.0


@kernel
def actuator_force(system, work, i, t, x, rate):
    """Force φ of an actuator, joint force i, on its coordinate of value x and rate x′: (φ, ∂φ/∂x, ∂φ/∂x′).

    φ = α u + β + σ x + δ x′ with its input u, but within its lowest and highest force.

    x, rate    float    [u, u/s], or of a length [m, m/s]
    """
    data, u = system.joint_force_data, input_of(system, work, i, t)
    force = data[i, BY_INPUT] * u + data[i, BIAS] + data[i, BY_PLACE] * x + data[i, BY_RATE] * rate
    if force < data[i, LOWEST]:
        return data[i, LOWEST], 0.0, 0.0
    if force > data[i, HIGHEST]:
        return data[i, HIGHEST], 0.0, 0.0
    return force, data[i, BY_PLACE], data[i, BY_RATE]


@kernel
def input_of(system, work, i, t):
    """The input of an actuator, joint force i: at a time, a number, or what the function force gave it last, in work.own."""
    function = system.joint_forces[i, 2]
    if function <= BY_FUNCTION:
        return work.own[system.n + BY_FUNCTION - function]
    return system.inputs[system.joint_forces[i, INPUT]] if function == NUMBER else value_of(system, work, function, t)


@kernel
def by_input(system, i, force):
    """How much the force of an actuator, joint force i, which is known, changes with its input; not at all at its limits."""
    data = system.joint_force_data
    return data[i, BY_INPUT] if data[i, LOWEST] < force < data[i, HIGHEST] else 0.0


@kernel
def add_joint_forces(f, system, work, t, q, v):
    """Add the forces on single coordinates to f [N, N m]. Arguments: see the head of this file."""
    for i in range(system.joint_forces.shape[0]):
        dof = system.joint_forces[i, 1]
        if dof >= 0:
            f[dof] += joint_force(system, work, i, t, q[dof], v[dof])[0]


@kernel
def point_motion(world, link, x, y, z):
    """Position from its anchor and velocity of a point of a link, in world axes; link −1 is the world.

    Arguments: see the head of this file.
    """
    if link < 0:
        return x, y, z, 0.0, 0.0, 0.0
    x, y, z = rotate(world, link, WORLD_ROTATION, x, y, z)
    ux, uy, uz = cross(world[link, WORLD_OMEGA], world[link, WORLD_OMEGA + 1], world[link, WORLD_OMEGA + 2], x, y, z)
    return (
        x + world[link, WORLD_PLACE], y + world[link, WORLD_PLACE + 1], z + world[link, WORLD_PLACE + 2],
        ux + world[link, WORLD_LINEAR], uy + world[link, WORLD_LINEAR + 1], uz + world[link, WORLD_LINEAR + 2],
    )  # fmt: skip


@kernel
def element_points(system, world, i, q):
    """The two points of body force i, (a, b, r): position from its anchor and velocity of each, and r from a to b.

    Arguments: see the head of this file.
    """
    data = system.body_force_data
    a = point_motion(world, system.body_forces[i, 1], data[i, 0], data[i, 1], data[i, 2])
    b = point_motion(world, system.body_forces[i, 2], data[i, 3], data[i, 4], data[i, 5])
    x, y, z = between_anchors(system, world, system.body_forces[i, 1], system.body_forces[i, 2], q)
    return a, b, (b[0] - a[0] + x, b[1] - a[1] + y, b[2] - a[2] + z)


@kernel
def between_anchors(system, world, a, b, q):
    """The vector from the anchor of link a to that of link b [m].

    world     (L, 18)    poses of links  [1, m, m/s, rad/s]
    q         (n,)       configuration  [u]
    """
    ax, ay, az = anchor_place(system.links, system.geometry, world, a, q)
    bx, by, bz = anchor_place(system.links, system.geometry, world, b, q)
    return bx - ax, by - ay, bz - az


@kernel
def is_between_points(system, i):
    """Whether body force i acts on two points, along the line between them."""
    return system.body_forces[i, 0] >= SPRING


@kernel
def line_between(a, b, r):
    """Length ℓ of r, its direction n (0 where ℓ is), and its rate ℓ̇ = n·ṙ: (ℓ, nx, ny, nz, ℓ̇).

    Arguments: see the head of this file.
    """
    rx, ry, rz = r
    length = math.sqrt(rx * rx + ry * ry + rz * rz)
    inverse = 1.0 / length if length > 0.0 else 0.0
    nx, ny, nz = inverse * rx, inverse * ry, inverse * rz
    return length, nx, ny, nz, nx * (b[3] - a[3]) + ny * (b[4] - a[4]) + nz * (b[5] - a[5])


@kernel
def force_along(system, work, i, length, rate):
    """Law of body force i between two points: (φ/ℓ, ∂φ/∂ℓ, ∂φ/∂ℓ̇, V), φ the force on b along the line from a.

    Spring: φ = −k (ℓ − ℓ₀).  Damper: φ = −c ℓ̇.  Potential: φ = −V′(ℓ).  φ/ℓ has a limit at ℓ = 0 where φ is 0 and depends on ℓ;
    elsewhere it is not finite there. Where a force derives from no potential, V = 0.

    length, rate    float    ℓ and ℓ̇  [m, m/s]
    """
    kind, constant, rest = system.body_forces[i, 0], system.body_force_data[i, 6], system.body_force_data[i, 7]
    if kind == SPRING:
        factor = -constant if rest == 0.0 else -constant * (1.0 - rest / length)
        return factor, -constant, 0.0, 0.5 * constant * (length - rest) * (length - rest)
    if kind == DAMPER:
        return -constant * rate / length, 0.0, -constant, 0.0
    if kind == LENGTH_POTENTIAL:
        V, slope, curvature = jet_of(system, work, system.body_forces[i, 3], length)
        return -curvature if length == slope == 0.0 else -slope / length, -curvature, 0.0, V
    value, slope, _ = jet_of(system, work, system.body_forces[i, 3], rate)  # LENGTH_RATE_FORCE
    return value / length, 0.0, slope, 0.0


@kernel
def element_force(system, work, i, t, a, b, r):
    """World components of the force (or torque) that body force i exerts on link b.

    Arguments: see the head of this file.
    """
    kind = system.body_forces[i, 0]
    if is_between_points(system, i):
        length, _, _, _, rate = line_between(a, b, r)
        factor = force_along(system, work, i, length, rate)[0]
        return factor * r[0], factor * r[1], factor * r[2]
    fx = value_of(system, work, system.body_forces[i, 3], t)
    fy = value_of(system, work, system.body_forces[i, 4], t)
    fz = value_of(system, work, system.body_forces[i, 5], t)
    if kind == FORCE_BODY or kind == TORQUE_BODY:
        fx, fy, fz = rotate(system.body_force_data, i, 8, fx, fy, fz)
        return rotate(work.world, system.body_forces[i, 2], WORLD_ROTATION, fx, fy, fz)
    return fx, fy, fz


@kernel
def add_wrench(wrench, world, link, x, y, z, fx, fy, fz):
    """Add a force at a world point to a link's wrench about its own origin. Arguments: see the head of this file."""
    if link >= 0:
        Nx, Ny, Nz = cross(
            x - world[link, WORLD_PLACE], y - world[link, WORLD_PLACE + 1], z - world[link, WORLD_PLACE + 2], fx, fy, fz
        )
        wrench[link, 0] += Nx
        wrench[link, 1] += Ny
        wrench[link, 2] += Nz
        wrench[link, 3] += fx
        wrench[link, 4] += fy
        wrench[link, 5] += fz


@kernel
def add_body_forces(f, system, work, t, q):
    """Add the generalized forces of all forces and torques on bodies to f, by one sweep from the leaves.

    Arguments: see the head of this file. Poses and velocities at q, v are in work.world; work.wrench has other wrenches on the
    links, and is overwritten by the wrench on each link and what hangs on it.
    """
    links, geometry, wrench, world = system.links, system.geometry, work.wrench, work.world
    for i in range(system.body_forces.shape[0]):
        a, b, r = element_points(system, world, i, q)
        fx, fy, fz = element_force(system, work, i, t, a, b, r)
        kind = system.body_forces[i, 0]
        if kind == TORQUE_WORLD or kind == TORQUE_BODY:
            link = system.body_forces[i, 2]
            wrench[link, 0] += fx
            wrench[link, 1] += fy
            wrench[link, 2] += fz
        else:
            add_wrench(wrench, world, system.body_forces[i, 2], b[0], b[1], b[2], fx, fy, fz)
            if is_between_points(system, i):
                add_wrench(wrench, world, system.body_forces[i, 1], a[0], a[1], a[2], -fx, -fy, -fz)
    for i in range(links.shape[0] - 1, -1, -1):
        parent, kind, dof = links[i, PARENT], links[i, KIND], links[i, DOF]
        Nx, Ny, Nz = rotate_back(world, i, WORLD_ROTATION, wrench[i, 0], wrench[i, 1], wrench[i, 2])
        if kind == QUATERNION:
            a0, a1, a2, a3 = q[dof], q[dof + 1], q[dof + 2], q[dof + 3]
            scale = 2.0 / (a0 * a0 + a1 * a1 + a2 * a2 + a3 * a3)
            f0, f1, f2, f3 = product_with_vector(a0, a1, a2, a3, scale * Nx, scale * Ny, scale * Nz)
            f[dof], f[dof + 1], f[dof + 2], f[dof + 3] = f[dof] + f0, f[dof + 1] + f1, f[dof + 2] + f2, f[dof + 3] + f3
        elif kind == TRANSLATION:
            for j in range(3):
                f[dof + j] += wrench[i, 3 + j]
        else:
            if kind != PRISMATIC:
                f[dof] += Nz
            if kind != REVOLUTE:
                Px, Py, Pz = rotate_back(world, i, WORLD_ROTATION, wrench[i, 3], wrench[i, 4], wrench[i, 5])
                f[dof] += geometry[i, PITCH] * Pz
        if parent >= 0:
            for j in range(3, 6):
                wrench[parent, j] += wrench[i, j]
            Nx, Ny, Nz = cross(
                world[i, WORLD_PLACE] - world[parent, WORLD_PLACE],
                world[i, WORLD_PLACE + 1] - world[parent, WORLD_PLACE + 1],
                world[i, WORLD_PLACE + 2] - world[parent, WORLD_PLACE + 2],
                wrench[i, 3], wrench[i, 4], wrench[i, 5],
            )  # fmt: skip
            wrench[parent, 0] += wrench[i, 0] + Nx
            wrench[parent, 1] += wrench[i, 1] + Ny
            wrench[parent, 2] += wrench[i, 2] + Nz


@late_kernel(types.float64)
def force_potential(system, work, q):
    """Potential energy of springs, potentials and constant world forces [J]; poses at q are in work.world.

    Arguments: see the head of this file.
    """
    V, world = 0.0, work.world
    for i in range(system.joint_forces.shape[0]):
        kind = system.joint_forces[i, 0]
        if (kind == JOINT_SPRING or kind == JOINT_POTENTIAL) and system.joint_forces[i, 1] >= 0:
            V += joint_force(system, work, i, 0.0, q[system.joint_forces[i, 1]], 0.0)[3]
    for i in range(system.body_forces.shape[0]):
        kind = system.body_forces[i, 0]
        a, b, r = element_points(system, world, i, q)
        if kind == SPRING or kind == LENGTH_POTENTIAL:
            V += force_along(system, work, i, line_between(a, b, r)[0], 0.0)[3]
        elif kind == FORCE_WORLD and is_constant(system, i):
            fx, fy, fz = element_force(system, work, i, 0.0, a, b, r)
            x, y, z = anchor_place(system.links, system.geometry, world, system.body_forces[i, 2], q)
            V -= fx * (b[0] + x) + fy * (b[1] + y) + fz * (b[2] + z)
    return V


@kernel
def is_constant(system, i):
    """Whether the three components of body force i do not depend on time."""
    for j in range(3, 6):
        if system.time_functions[system.body_forces[i, j], 0] != CONSTANT:
            return False
    return True


@kernel
def from_columns_origin(links, world, link, point):
    """A point of a link, from the origin of the tree's columns [m]. Arguments: see the head of this file."""
    x, y, z = columns_origin(links, world, link)
    return point[0] - x, point[1] - y, point[2] - z


@kernel
def at_point(columns, j, x, y, z):
    """Linear part of twist column j at a point given relative to the columns' origin.

    Arguments: see the head of this file.
    """
    rx, ry, rz = cross(columns[j, 0], columns[j, 1], columns[j, 2], x, y, z)
    return columns[j, 3] + rx, columns[j, 4] + ry, columns[j, 5] + rz


@kernel
def column_derivative(system, D, world, q, j_link, j, k_link, k, x, y, z):
    """∂D_j(x)/∂q_k of two coordinates that both carry the point x (relative to the columns' origin).

    Returns the angular and the linear part at the point, in world axes. Links are numbered from the root. Arguments:
    see the head of this file.
    """
    if j_link < k_link:
        lx, ly, lz = at_point(D, k, x, y, z)
        bx, by, bz = cross(D[j, 0], D[j, 1], D[j, 2], lx, ly, lz)
        return 0.0, 0.0, 0.0, bx, by, bz
    lx, ly, lz = at_point(D, j, x, y, z)
    ax, ay, az = cross(D[k, 0], D[k, 1], D[k, 2], D[j, 0], D[j, 1], D[j, 2])
    bx, by, bz = cross(D[k, 0], D[k, 1], D[k, 2], lx, ly, lz)
    if j_link == k_link and system.links[j_link, KIND] == QUATERNION:
        dof = system.links[j_link, DOF]
        cx, cy, cz = displacement_derivative(q, dof, j - dof, k - dof)
        cx, cy, cz = rotate(world, j_link, WORLD_ROTATION, cx, cy, cz)
        ox, oy, oz = from_last(system.links, world, j_link)
        lx, ly, lz = cross(cx, cy, cz, x - ox, y - oy, z - oz)
        ax, ay, az, bx, by, bz = ax + cx, ay + cy, az + cz, bx + lx, by + ly, bz + lz
    return ax, ay, az, bx, by, bz


@kernel
def second_place(system, j, k):
    """Place of the entry (j, k) of two coordinates in blocks of second derivatives."""
    a, b = system.coordinate_nodes[j, 0], system.coordinate_nodes[k, 0]
    place = second_block(system, a, b)
    return place + system.coordinate_nodes[j, 1] * system.nodes[b, NODE_COORDINATES] + system.coordinate_nodes[k, 1]


@kernel
def has_second_place(system, j, k):
    """Whether the block of two coordinates in second derivatives is stored."""
    return second_block(system, system.coordinate_nodes[j, 0], system.coordinate_nodes[k, 0]) >= 0


@late_kernel()
def add_force_hessian(Kqv, Kqq, system, work, t, q, v):
    """Add the derivatives of all forces with respect to q and v to Kqq and Kqv. Arguments: see the head of this file.

    The columns S, D and U at q and the velocities are in work.
    """
    D, world = work.D, work.world
    for i in range(system.joint_forces.shape[0]):
        dof = system.joint_forces[i, 1]
        if system.joint_forces[i, 0] != JOINT_FORCE and dof >= 0:
            _, by_place, by_rate, _ = joint_force(system, work, i, t, q[dof], v[dof])
            Kqq[second_place(system, dof, dof)] += by_place
            Kqv[second_place(system, dof, dof)] += by_rate
    for i in range(system.body_forces.shape[0]):
        a, b, r = element_points(system, world, i, q)
        force = element_force(system, work, i, t, a, b, r)
        if is_between_points(system, i):
            add_two_point_hessian(Kqv, Kqq, system, work, q, i, a, b, r, force)
        else:
            add_one_point_hessian(Kqq, system, D, world, q, i, b, force)


@kernel
def add_one_point_hessian(Kqq, system, D, world, q, i, b, force):
    """Add the derivatives of one force or torque on a body, of world components `force` at the point b, to Kqq.

    Arguments: see the head of this file.
    """
    links = system.links
    kind, link = system.body_forces[i, 0], system.body_forces[i, 2]
    is_torque = kind == TORQUE_WORLD or kind == TORQUE_BODY
    is_turning = kind == FORCE_BODY or kind == TORQUE_BODY
    fx, fy, fz = force
    x, y, z = from_columns_origin(links, world, link, b)
    j_link = link
    while j_link >= 0:
        for j in range(links[j_link, DOF], links[j_link, DOF] + link_width(links, j_link)):
            lx, ly, lz = at_point(D, j, x, y, z)
            if is_torque:
                lx, ly, lz = D[j, 0], D[j, 1], D[j, 2]
            k_link = link
            while k_link >= 0:
                for k in range(links[k_link, DOF], links[k_link, DOF] + link_width(links, k_link)):
                    ax, ay, az, bx, by, bz = column_derivative(system, D, world, q, j_link, j, k_link, k, x, y, z)
                    if is_torque:
                        bx, by, bz = ax, ay, az
                    place = second_place(system, j, k)
                    Kqq[place] += bx * fx + by * fy + bz * fz
                    if is_turning:
                        cx, cy, cz = cross(D[k, 0], D[k, 1], D[k, 2], fx, fy, fz)
                        Kqq[place] += lx * cx + ly * cy + lz * cz
                k_link = links[k_link, PARENT]
        j_link = links[j_link, PARENT]


@kernel
def two_point_slopes(law, line, a, b, dx, dy, dz, ex, ey, ez):
    """Change of a force between two points, on b, when r changes by d and ṙ by e: K d + C e.

    law      (φ/ℓ, ∂φ/∂ℓ, ∂φ/∂ℓ̇, V)    of `force_along`
    line     (ℓ, nx, ny, nz, ℓ̇)        of `line_between`

    Arguments: see the head of this file.
    """
    factor, by_length, by_rate, _ = law
    length, nx, ny, nz, rate = line
    along = nx * dx + ny * dy + nz * dz
    radial = (by_length - factor) * along
    if by_rate != 0.0:
        across = (b[3] - a[3]) * dx + (b[4] - a[4]) * dy + (b[5] - a[5]) * dz - rate * along
        radial += by_rate * (nx * ex + ny * ey + nz * ez + across / length)
    return factor * dx + radial * nx, factor * dy + radial * ny, factor * dz + radial * nz


@kernel
def add_two_point_hessian(Kqv, Kqq, system, work, q, i, a, b, r, force):
    """Add the derivatives of a force between two points, of components `force` on b, to Kqv and Kqq.

    Arguments: see the head of this file. The columns S, D and U at q and the velocities are in work.
    """
    links, S, D, U, world = system.links, work.S, work.D, work.U, work.world
    line = line_between(a, b, r)
    law = force_along(system, work, i, line[0], line[4])
    fx, fy, fz = force
    for j_end in range(2):
        j_sign = 2.0 * j_end - 1.0
        j_point = a if j_end == 0 else b
        jx, jy, jz = from_columns_origin(links, world, system.body_forces[i, 1 + j_end], j_point)
        for k_end in range(2):
            k_sign = 2.0 * k_end - 1.0
            k_point = a if k_end == 0 else b
            kx, ky, kz = from_columns_origin(links, world, system.body_forces[i, 1 + k_end], k_point)
            k_link = system.body_forces[i, 1 + k_end]
            while k_link >= 0:
                for k in range(links[k_link, DOF], links[k_link, DOF] + link_width(links, k_link)):
                    dx, dy, dz = at_point(D, k, kx, ky, kz)
                    ex, ey, ez = at_point(U, k, kx, ky, kz)
                    cx, cy, cz = cross(D[k, 0], D[k, 1], D[k, 2], k_point[3], k_point[4], k_point[5])
                    qx, qy, qz = two_point_slopes(law, line, a, b, dx, dy, dz, ex + cx, ey + cy, ez + cz)
                    ex, ey, ez = at_point(S, k, kx, ky, kz)
                    vx, vy, vz = 0.0, 0.0, 0.0
                    if law[2] != 0.0:  # it depends on rates
                        vx, vy, vz = two_point_slopes(law, line, a, b, 0.0, 0.0, 0.0, ex, ey, ez)
                    j_link = system.body_forces[i, 1 + j_end]
                    while j_link >= 0:
                        for j in range(links[j_link, DOF], links[j_link, DOF] + link_width(links, j_link)):
                            lx, ly, lz = at_point(D, j, jx, jy, jz)
                            sign = j_sign * k_sign
                            place = second_place(system, j, k)
                            Kqq[place] += sign * (lx * qx + ly * qy + lz * qz)
                            Kqv[place] += sign * (lx * vx + ly * vy + lz * vz)
                            if j_end == k_end:
                                _, _, _, bx, by, bz = column_derivative(
                                    system, D, world, q, j_link, j, k_link, k, jx, jy, jz
                                )
                                Kqq[place] += j_sign * (bx * fx + by * fy + bz * fz)
                        j_link = links[j_link, PARENT]
                k_link = links[k_link, PARENT]
