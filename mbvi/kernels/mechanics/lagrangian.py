"""The functions that every scheme needs of a system: L_v, L_q + F, their derivatives, V, g.

Each kernel chooses between the two kinds of systems: trees of joints, and a user's own functions. The unit of a
coordinate is u: rad, m, or 1 of a quaternion's. Second derivatives, in blocks of nodes, are arrays (second_size,): see
System.blocks.

Arguments of the kernels:

t         float     time [s]
q, v      (n,)      configuration and velocity  [u, u/s]
p, f      (n,)      out: ∂L/∂v and ∂L/∂q + F  [J s/u, J/u]
angles    (L, 6)    in and out: cosines and sines, see `sines`  [rad, 1]
row       (R, 27)    work of `fill_gradient_tree`
Lvv, Lvq, Kqv, Kqq    (second_size,)    out: ∂p/∂v (the mass matrix), ∂p/∂q, ∂f/∂v, ∂f/∂q in blocks
                      [J s²/u², J s/u², J s/u², J/u²]

Units of others: Lqv [J s/u²]; Lqq [J/u²]; M [J s²/u²]; drives [J/u per unit of the input]; rotations [1]; g_tt
[unit of g/s²]; x, X [any unit].

Sources: those of `tree`, `forces` and `constraints`, of which these kernels are made.
"""

import numpy as np
from numba import types

from mbvi.kernels.algebra.saddle import (
    AHEAD,
    FIRST_STAGE,
    MASS,
    ONE_SIDE,
    ONE_STAGE,
    UNCACHED,
    add_jacobian,
    add_mass,
    eliminate,
    prefetch_rows,
    products_size,
    scales_size,
    solve_saddle,
)
from mbvi.kernels.compiler.decorators import copied_kernel, kernel
from mbvi.kernels.compiler.lanes import WIDE, WIDTH, lanes
from mbvi.kernels.compiler.late import late_kernel
from mbvi.kernels.compiler.packed import Packed, call
from mbvi.kernels.layout import (
    BLOCK_COLUMN,
    BLOCK_ROW,
    BLOCK_SECOND,
    BY_FUNCTION,
    CONSTRAINT_KIND,
    COORDINATES_OF_TENDON,
    ENTRIES,
    EXPRESSION_ROW,
    FIRST_ENTRY,
    FIRST_MEMBER,
    GEOMETRIC,
    LAST_OF_RUN,
    LINK_B,
    NODE_COORDINATES,
    NODE_LANES,
    POINT_B,
    TOUCH_ROW,
    VARIABLES,
    System,
)
from mbvi.kernels.mechanics.articulated import (
    ARTICULATED_WIDTH,
    SOLUTION_WIDTH,
    factor_articulated,
    solve_articulated,
    to_rate,
    to_torque,
)
from mbvi.kernels.mechanics.bushings import (
    BUSHING_WIDTH,
    CHANGE_WIDTH,
    add_bushing_hessian,
    add_bushing_wrenches,
    bushing_potential,
)
from mbvi.kernels.mechanics.constraints import (
    fill_all_rows,
    fill_constraint_geometry,
    fill_constraints,
    fill_curvature_rate,
    fill_functions,
    fill_parts,
    fill_wrench,
)
from mbvi.kernels.mechanics.forces import (
    add_body_forces,
    add_force_hessian,
    add_joint_forces,
    force_potential,
    has_second_place,
    second_place,
)
from mbvi.kernels.mechanics.frame_actuators import add_frame_actuators, add_frame_actuators_hessian, fill_frame_drives
from mbvi.kernels.mechanics.functions import STACK_SIZE
from mbvi.kernels.mechanics.planar_tree import (
    fill_directions,
    fill_gradient_planar,
    fill_hessian_planar,
    turn_directions,
)
from mbvi.kernels.mechanics.rolling import TOUCH_WIDTH, fill_touch_wrenches
from mbvi.kernels.mechanics.rotation import cross
from mbvi.kernels.mechanics.sines import ANGLE_WIDTH
from mbvi.kernels.mechanics.tendons import add_tendons, add_tendons_hessian, fill_tendon_drives, tendon_potential
from mbvi.kernels.mechanics.tree import (
    INERTIA_WIDTH,
    SWEEP_WIDTH,
    WORLD_PLACE,
    WORLD_WIDTH,
    accumulate,
    anchor_place,
    columns_origin,
    fill_cosines,
    fill_gradient_tree,
    fill_hessian_tree,
    fill_hessians_tree,
    fill_inertia,
    fill_mass_matrix_tree,
    fill_screws,
    fill_world,
    gravity_potential,
    turn_cosines,
)
from mbvi.kernels.mechanics.wrenches import WRENCH_PARTS, WRENCH_WIDTH, anchor_of_point


class Work(Packed):
    """Arrays that the evaluation of a system overwrites.

    Their shapes stand in `make_work`, their contents at the kernels of a tree.

    step (2,)   times at which the step that is made begins and ends [s]; nan between steps
    """


class LaneWork(Packed):
    """Arrays that the second derivatives and the constraints of a tree at four states overwrite, in lanes.

    Names are those of `Work`.
    """

    width = WIDTH


class WideWork(Packed):
    """Arrays that the second derivatives of a tree at eight states overwrite, in lanes.

    `fill_node_hessians` takes them. Names are those of `Work`.
    """

    width = WIDE


def make_wide_work(system: System, is_needed: bool) -> WideWork:
    """Workspace for eight states at once, without room where that is not needed."""
    n, count = (system.n, len(system.links)) if is_needed else (0, 0)
    return WideWork(**_tree_work(n, count, WIDE))


def _tree_work(n: int, count: int, width: int) -> dict[str, np.ndarray]:
    return {
        "world": np.zeros((count, WORLD_WIDTH, width)),
        "S": np.zeros((n, 6, width)),
        "D": np.zeros((n, 6, width)),
        "U": np.zeros((n, 6, width)),
        "inertia": np.zeros((count, 10, width)),
        "momentum": np.zeros((count, 6, width)),
        "pair": np.zeros((4, 6, width)),
    }


def make_lane_work(system: System, is_needed: bool) -> LaneWork:
    """Workspace for four states at once, without room where that is not needed."""
    n, k, count = (system.n, system.k, len(system.links)) if is_needed else (0, 0, 0)
    entries = system.constraints[:k, ENTRIES]
    return LaneWork(
        q=np.zeros((n, WIDTH)),
        v=np.zeros((n, WIDTH)),
        low=np.zeros((n, WIDTH)),
        zero=np.zeros((n, WIDTH)),
        force=np.zeros((n, WIDTH)),
        **_tree_work(n, count, WIDTH),
        wrench_of=np.zeros((WRENCH_PARTS, WIDTH)),
        wrench_rate=np.zeros((WRENCH_WIDTH, WIDTH)),
        wrench_sum=np.zeros((WRENCH_WIDTH, WIDTH)),
        wrench_rates=np.zeros((int(entries.max(initial=0)), WRENCH_WIDTH, WIDTH)),
        functions=np.zeros((k, 3, WIDTH)),
        g_t=np.zeros((k, WIDTH)),
        G=np.zeros((len(system.entries) if is_needed else 0, WIDTH)),
        impulse=np.zeros((k, WIDTH)),
    )


def make_work(system: System) -> Work:
    """Workspace for the evaluation of a system."""
    n, k, count = system.n, system.k, len(system.links)
    width = WIDTH * int(system.nodes[:, NODE_LANES].max(initial=0))
    run = int(np.diff(np.unique(system.links[:, LAST_OF_RUN]), prepend=-1).max(initial=0))
    variables = max(int(each[:, VARIABLES].max(initial=0)) for each in (system.expressions, system.tendons))
    of_constraints = int(system.constraints[system.expressions[:, EXPRESSION_ROW], ENTRIES].max(initial=0))
    by_function = int((system.joint_forces[:, 2] <= BY_FUNCTION).sum())  # inputs, of what acts on bodies
    of_tendons = int(system.tendons[:, COORDINATES_OF_TENDON].max(initial=0))
    return Work(
        row=np.zeros((run, SWEEP_WIDTH)),
        lane_row=np.zeros((run, SWEEP_WIDTH, WIDTH)),
        angles=np.zeros((count, ANGLE_WIDTH)),
        world=np.zeros((count, WORLD_WIDTH)),
        wrench=np.zeros((count, 6)),
        S=np.zeros((n, 6)),
        D=np.zeros((n, 6)),
        U=np.zeros((n, 6)),
        columns=np.zeros((n, 6, WIDTH)),
        factors=np.zeros((6, WIDTH)),
        inertia=np.zeros((count, 10)),
        momentum=np.zeros((count, 6)),
        pair=np.zeros((4, 6)),
        stack=np.zeros((STACK_SIZE, 3)),
        step=np.full(2, np.nan),
        base=np.zeros(n),
        side=np.zeros(n),
        own=np.zeros(n + by_function),
        own_ahead=np.zeros(n + by_function),
        own_behind=np.zeros(n + by_function),
        drives=np.zeros((by_function, n)),
        lane_q=np.zeros(n),
        lane_v=np.zeros(n),
        zero=np.zeros(n),
        unit=np.zeros(k),
        rate=np.zeros(k),
        articulated=np.zeros((count, ARTICULATED_WIDTH)),
        solved=np.zeros((count, SOLUTION_WIDTH)),
        M=np.zeros(system.second_size),
        Lvq=np.zeros(system.second_size),
        Kqv=np.zeros(system.second_size),
        Kqq=np.zeros(system.second_size),
        curvature=np.zeros(n * n if system.constraint else 0),
        wrench_of=np.zeros(WRENCH_PARTS),
        wrench_rate=np.zeros(WRENCH_WIDTH),
        wrench_sum=np.zeros(WRENCH_WIDTH),
        wrench_rates=np.zeros((int(system.constraints[:, ENTRIES].max(initial=0)), WRENCH_WIDTH)),
        bushing=np.zeros(BUSHING_WIDTH),
        bushing_change=np.zeros(CHANGE_WIDTH),
        bushing_rate=np.zeros(6),
        touch=np.zeros(TOUCH_WIDTH),
        touch_matrix=np.zeros(int(system.constraints[system.touches[:, TOUCH_ROW], ENTRIES].max(initial=0)) ** 2),
        express=np.zeros((5, max(3, variables) if variables else 0)),
        express_columns=np.zeros((variables, max(of_constraints, of_tendons))),
        tendon=np.zeros((3, of_tendons)),
        functions=np.zeros((k, 3)),
        low=np.zeros(n),
        g=np.zeros(k),
        g_t=np.zeros(k),
        G=np.zeros(len(system.entries)),
        saddle=np.zeros(system.mass_size),
        pivots=np.zeros((width, 2), np.int64),
        above=np.zeros(width),
        products=np.zeros(products_size(system)),
        scales=np.zeros(scales_size(system)),
        ranks=np.zeros(len(system.nodes), np.int64),
        permuted=np.zeros(system.side_size),
        eliminated=np.zeros(system.side_size),
        solution=np.zeros(n + k),
    )


@copied_kernel
def fill_angles(angles, system, q):
    """Cosines and sines of all joint angles of a tree; of a planar tree those of its links. On numbers or on lanes.

    Arguments: see the head of this file.
    """
    if system.is_planar == 1:
        fill_directions(angles, system, q)
    else:
        fill_cosines(angles, system.links, q)


@copied_kernel
def turn_angles(angles, system, q):
    """What `fill_angles` does, at less cost, from known angles; False if one is too far from these.

    Arguments: see the head of this file.
    """
    if system.is_planar == 1:
        return turn_directions(angles, system, q)
    return turn_cosines(angles, system.links, q)


@copied_kernel
def fill_gradient_links(p, f, row, angles, system, q, v):
    """p = ∂L/∂v and f = ∂L/∂q of a tree under gravity, with shorter formulas where it is planar.

    On numbers or on lanes. Arguments: see the head of this file.
    """
    if system.is_planar == 1:
        fill_gradient_planar(p, f, row, angles, system, v)
    else:
        fill_gradient_tree(p, f, row, angles, system, q, v)


@copied_kernel
def fill_gradient(p, f, system, work, t, q, v):
    """p = ∂L/∂v and f = ∂L/∂q + F at (t, q, v). Arguments: see the head of this file."""
    if system.is_tree == 1:
        fill_angles(work.angles, system, q)
        fill_gradient_links(p, f, work.row, work.angles, system, q, v)
    else:
        call(system.gradient, t, (q, v, p, f))
    if has_forces(system):
        add_forces(f, system, work, t, q, v)


@late_kernel()
def add_forces(f, system, work, t, q, v):
    """Add the forces other than gravity to f. Arguments: see the head of this file.

    f         (n,)    in and out  [J/u]
    """
    if system.force != 0:
        work.own[:] = 0.0  # so a function that sets F, and does not add to it, leaves the other forces unchanged
        call(system.force, t, (q, v, system.force_parameters, work.own))
    if system.joint_forces.shape[0] > 0:
        add_joint_forces(f, system, work, t, q, v)
    if acts_on_links(system):
        fill_world(system, work, q, v)
        work.wrench[:, :] = 0.0
        if system.bushings.shape[0] > 0:
            add_bushing_wrenches(work.wrench, system, work, q)
        if system.frame_actuators.shape[0] > 0:
            add_frame_actuators(work.wrench, system, work, t)
        if system.tendons.shape[0] > 0:
            add_tendons(f, work.wrench, system, work, t, q, v)
        add_body_forces(f, system, work, t, q)
    if system.force != 0:
        for a in range(system.n):
            f[a] += work.own[a]


@copied_kernel
def fill_gradients(p, f, angles, system, work, t, q, v):
    """p = ∂L/∂v and f = ∂L/∂q + F at up to four states at once. Further lanes may hold anything.

    p, f, q, v    (n, 4)          p, f: out; q, v: read
    angles        (L, 6, 4)       in and out: the angles of the last call, which are known
    t             (states,)       [s]
    """
    if system.is_tree == 1:
        if not turn_angles(lanes(angles), system, lanes(q)):
            fill_angles(lanes(angles), system, lanes(q))
        fill_gradient_links(lanes(p), lanes(f), lanes(work.lane_row), lanes(angles), system, lanes(q), lanes(v))
        if not has_forces(system):
            return
    for lane in range(t.shape[0]):
        for a in range(system.n):
            work.lane_q[a], work.lane_v[a], work.base[a], work.side[a] = q[a, lane], v[a, lane], p[a, lane], f[a, lane]
        if system.is_tree == 0:
            call(system.gradient, t[lane], (work.lane_q, work.lane_v, work.base, work.side))
        if has_forces(system):
            add_forces(work.side, system, work, t[lane], work.lane_q, work.lane_v)
        for a in range(system.n):
            p[a, lane], f[a, lane] = work.base[a], work.side[a]


@late_kernel()
def fill_hessian(Lvv, Lvq, Kqv, Kqq, system, work, t, q, v):
    """Derivatives of p = ∂L/∂v and of f = ∂L/∂q + F. Arguments: see the head of this file."""
    fill_lagrangian_hessian(Lvv, Lvq, Kqv, Kqq, system, work, t, q, v)
    add_hessian_of_forces(Kqv, Kqq, system, work, t, q, v)


@kernel
def add_hessian_of_forces(Kqv, Kqq, system, work, t, q, v):
    """Derivatives of the forces F other than gravity. Arguments: see the head of this file; columns of links are known."""
    if work.drives.shape[0] > 0:
        call(system.force, t, (q, v, system.force_parameters, work.own))  # which gives inputs
    if system.is_tree == 1 and has_element_forces(system):
        add_force_hessian(Kqv, Kqq, system, work, t, q, v)
        if system.bushings.shape[0] > 0:
            add_bushing_hessian(Kqv, Kqq, system, work, q, v)
        if system.frame_actuators.shape[0] > 0:
            add_frame_actuators_hessian(Kqv, Kqq, system, work, t, q)
        if system.tendons.shape[0] > 0:
            add_tendons_hessian(Kqv, Kqq, system, work, t, q, v)
    if system.force != 0:
        add_force_function_hessian(Kqv, Kqq, system, work, t, q, v)


@kernel
def fill_lagrangian_hessian(Lvv, Lvq, Kqv, Kqq, system, work, t, q, v):
    """Derivatives of p = ∂L/∂v and of f = ∂L/∂q, without forces, whose derivatives accelerations do not need.

    Arguments: see the head of this file.
    """
    if system.is_tree == 1:
        fill_world(system, work, q, v)
        fill_hessian_tree(Lvv, Lvq, Kqv, Kqq, system, work, q, v)
    else:
        call(system.hessian, t, (q, v, Lvv, Lvq, Kqv, Kqq))


@copied_kernel
def has_forces(system):
    """Whether there are forces other than gravity."""
    return has_element_forces(system) or system.force != 0


@copied_kernel
def has_element_forces(system):
    """Whether elements of the model are forces, on joints or on bodies."""
    return system.joint_forces.shape[0] > 0 or acts_on_links(system)


@copied_kernel
def acts_on_links(system):
    """Whether elements of the model are forces on bodies, or along tendons, which may be."""
    on_bodies, at_frames = system.body_forces.shape[0], system.frame_actuators.shape[0]
    return on_bodies > 0 or at_frames > 0 or system.bushings.shape[0] > 0 or system.tendons.shape[0] > 0


@kernel
def fill_hessians(Lvv, Lvq, Kqv, Kqq, system, work, lane_work, t, q, v):
    """What `fill_hessian` does for a tree, at up to four states at once. Further lanes may hold anything.

    Lvv, Lvq, Kqv, Kqq   (4 second_size,)    out: every entry of the four states side by side
    q, v                 (n, 4)              configurations and velocities
    t                    (states,)           [s]
    """
    if not has_forces(system):
        fill_world(system, lane_work, lanes(q), lanes(v))
        fill_hessians_tree(lanes(Lvv), lanes(Lvq), lanes(Kqv), lanes(Kqq), system, lane_work, lanes(q), lanes(v))
        return
    for lane in range(t.shape[0]):
        for a in range(system.n):
            work.lane_q[a], work.lane_v[a] = q[a, lane], v[a, lane]
        fill_hessian(work.M, work.Lvq, work.Kqv, work.Kqq, system, work, t[lane], work.lane_q, work.lane_v)
        for i in range(system.second_size):
            at = i * WIDTH + lane
            Lvv[at], Lvq[at], Kqv[at], Kqq[at] = work.M[i], work.Lvq[i], work.Kqv[i], work.Kqq[i]


@kernel
def size_for_steps(x, a):
    """A size for steps of x[a]: its own, or up to 1 that of the largest entry, and at least 1e-3.

    x         (n,)    [any unit]
    """
    largest = 1e-3
    for b in range(x.shape[0]):
        largest = max(largest, abs(x[b]))
    return max(abs(x[a]), min(largest, 1.0))


@kernel
def add_force_function_hessian(Kqv, Kqq, system, work, t, q, v):
    """Derivatives of a user's force function by central differences, added to Kqv and Kqq.

    Arguments: see the head of this file.

    Most schemes only steer Newton's method by them; those of `parabola` have them in their equations. q and v are
    changed meanwhile, and restored. Derivatives between coordinates whose block is not stored are left out.

    Kqv, Kqq   (second_size,)    in and out
    q, v       (n,)              in and out
    """
    n = system.n
    base, side = work.own_behind, work.own_ahead
    fill_drives(work.drives, system, work, t, q, v)
    for j in range(2 * n):
        x = q if j < n else v
        K = Kqq if j < n else Kqv
        column = j if j < n else j - n
        kept = x[column]
        step = 6e-6 * size_for_steps(x, column)
        x[column] = kept + step
        side[:] = 0.0
        call(system.force, t, (q, v, system.force_parameters, side))
        x[column] = kept - step
        base[:] = 0.0
        call(system.force, t, (q, v, system.force_parameters, base))
        x[column] = kept
        for i in range(n):
            change = side[i] - base[i]
            for row in range(work.drives.shape[0]):
                change += work.drives[row, i] * (side[n + row] - base[n + row])
            if change != 0.0 and has_second_place(system, i, column):
                K[second_place(system, i, column)] += change / (2.0 * step)


@kernel
def fill_drives(drives, system, work, t, q, v):
    """The generalized forces per input of actuators at frames and along tendons whose inputs the function force gives.

    drives    (by_function, n)    out
    t         float        [s]
    q, v      (n,)         configuration and velocity
    """
    drives[:] = 0.0
    if drives.shape[0] > 0:
        fill_frame_drives(drives, system, work, t)
        fill_tendon_drives(drives, system, work, t, q, v)


@kernel
def fill_mass_matrix(M, system, work, t, q):
    """M(q) = ∂²L/∂v².

    M         (second_size,)    out, in blocks of second derivatives
    q         (n,)              configuration
    """
    if system.is_tree == 1:
        fill_world(system, work, q, work.zero)
        fill_inertia(system, work)
        accumulate(work.inertia, system.links, INERTIA_WIDTH)
        fill_screws(system, work, q)
        fill_mass_matrix_tree(M, system, work)
    else:
        for j in range(system.n):
            work.zero[j] = 1.0
            call(system.gradient, t, (q, work.zero, work.base, work.side))
            work.zero[j] = 0.0
            subtract_vector_potential(work.base, system, work, t, q)
            for i in range(system.n):
                M[i * system.n + j] = work.base[i]


@kernel
def subtract_vector_potential(p, system, work, t, q):
    """Subtract A(t, q), the momentum at rest, of the momentum ∂L/∂v = M v + A of a user's Lagrangian.

    work.side is overwritten.

    p         (n,)    in and out  [J s/u] (or longer)
    q         (n,)    configuration
    """
    if system.vector_potential != 0:
        call(system.vector_potential, t, (q, work.side))
        for a in range(system.n):
            p[a] -= work.side[a]


@kernel
def fill_node_hessians(Lvv, Lvq, Lqv, Lqq, angles, system, lane_work, q, v):
    """Second derivatives of the Lagrangian of a tree of few coordinates at as many states as there are lanes.

    Lvv, Lvq, Lqv, Lqq   (n²,)     out, row by row, in lanes; where the tree is planar Lqv, the transpose of Lvq, is not
                                   written
    angles               (L, 6)    in lanes: out where the tree is planar, else not used
    q, v                 (n,)      in lanes
    """
    if system.is_planar == 1:
        fill_angles(angles, system, q)
        fill_hessian_planar(Lvv, Lvq, Lqq, lane_work.inertia, angles, system, v)
    else:
        fill_world(system, lane_work, q, v)
        fill_hessians_tree(Lvv, Lvq, Lqv, Lqq, system, lane_work, q, v)


@kernel
def potential(system, work, t, q):
    """V(t, q) [J]: that of gravity, springs and constant forces, or the user's own.

    Arguments: see the head of this file.
    """
    if system.is_tree == 1:
        fill_world(system, work, q, work.zero)
        V = gravity_potential(system.links, system.geometry, system.gravity, work.world, q)
        if has_element_forces(system):
            V += force_potential(system, work, q)
        if system.bushings.shape[0] > 0:
            V += bushing_potential(system, work, q)
        if system.tendons.shape[0] > 0:
            V += tendon_potential(system, work, q)
        return V
    return call(system.potential, t, (q,))


@kernel
def fill_energies(kinetic, potentials, p, system, work, t, q, v):
    """Kinetic and potential energy, and momentum, of many states.

    kinetic, potentials   (states,)      out  [J]
    p                     (states, n)    out  [J s/u]
    t                     (states,)      [s]
    q, v                  (states, n)    [u, u/s]
    """
    for i in range(q.shape[0]):
        fill_gradient(p[i], work.base, system, work, t[i], q[i], v[i])
        for a in range(system.n):
            work.base[a] = p[i, a]
        subtract_vector_potential(work.base, system, work, t[i], q[i])
        total = 0.0
        for a in range(system.n):
            total += v[i, a] * work.base[a]
        kinetic[i] = 0.5 * total
        potentials[i] = potential(system, work, t[i], q[i])


@kernel
def fill_poses(places, rotations, system, work, link, q):
    """Place and rotation of one link's frame in many states.

    places       (states, 3)       out  [m]
    rotations    (states, 3, 3)    out, link to world
    q            (states, n)       configurations
    """
    for i in range(q.shape[0]):
        fill_world(system, work, q[i], work.zero)
        places[i, 0], places[i, 1], places[i, 2] = anchor_place(system.links, system.geometry, work.world, link, q[i])
        for a in range(3):
            places[i, a] += work.world[link, WORLD_PLACE + a]
            for b in range(3):
                rotations[i, a, b] = work.world[link, 3 * a + b]


@late_kernel(types.boolean)
def factor_mass_saddle(system, work, t, q):
    """Factor [M Gᵀ; G 0] at (t, q) into work.saddle; False if it is singular. Arguments: see the head of this file.

    work.M, work.g, work.G and work.g_t are filled.
    """
    A = work.saddle
    A[:] = 0.0
    fill_mass_matrix(work.M, system, work, t, q)
    if system.k > 0:
        fill_all_rows(work.g, work.G, work.g_t, system, work, t, q)
    for a in range(system.nodes.shape[0]):  # blocks are filled when they are needed, so that they are in the cache
        if A.shape[0] >= UNCACHED and a + AHEAD < system.nodes.shape[0]:
            prefetch_rows(A, system, MASS, ONE_STAGE, a + AHEAD, 0)
        add_mass(A, work.M, system, a)
        add_jacobian(A, work.G, work.G, system, MASS, ONE_STAGE, FIRST_STAGE, FIRST_STAGE, a)
        if not eliminate(
            A, work.products, work.scales, work.pivots, work.above, work.ranks, system, MASS, ONE_STAGE, a
        ):
            return False
    return True


@kernel
def solve_mass_saddle(system, work):
    """Overwrite work.solution (n + k,), a right side, by the solution with the factors of `factor_mass_saddle`."""
    x, y, places = work.permuted, work.solution, system.places
    for a in range(places.shape[0]):
        x[places[a]] = y[a]
    solve_saddle(work.eliminated, x, work.saddle, system, MASS, ONE_STAGE, ONE_SIDE)
    for a in range(places.shape[0]):
        y[a] = work.eliminated[places[a]]


@kernel
def solve_velocity(system, work, t, q, p):
    """Solve M v + A + Gᵀμ = p, G v + ∂g/∂t = 0 into work.solution = (v, μ); False where the matrix is singular.

    q, p      (n,)    configuration and momentum  [u, J s/u]
    """
    if system.is_open == 1:
        return solve_velocity_tree(system, work, q, p)
    if not factor_mass_saddle(system, work, t, q):
        return False
    solve_velocity_saddle(system, work, t, q, p)
    return True


@kernel
def solve_velocity_tree(system, work, q, p):
    """What `solve_velocity` does for an open tree, whose only constraints are those of unit quaternions.

    Arguments are those of `solve_velocity`.
    """
    x = work.solution
    for a in range(system.n):
        x[a] = p[a]
    if not factor_articulated(work.articulated, system.links, system.geometry, system.armature, q):
        return False
    for b in range(system.k):
        a = quaternion_place(system, b)
        to_torque(x, q, a, a, system)
        x[system.n + b] = x[a]
        x[a] = 0.0
    solve_articulated(x, work.solved, work.articulated, system.links)
    for b in range(system.k - 1, -1, -1):
        a = quaternion_place(system, b)
        to_rate(x, q, a, a, system)
    return True


@copied_kernel
def quaternion_place(system, b):
    """The first coordinate of the quaternion that constraint b of an open tree holds to unit length."""
    return system.entries[system.constraints[b, FIRST_ENTRY]]


@kernel
def solve_velocity_saddle(system, work, t, q, p):
    """What `solve_velocity` does, with the factors of `factor_mass_saddle` at (t, q).

    Arguments are those of `solve_velocity`.
    """
    for a in range(system.n):
        work.solution[a] = p[a]
    subtract_vector_potential(work.solution, system, work, t, q)
    for b in range(system.k):
        work.solution[system.n + b] = -work.g_t[b]
    solve_mass_saddle(system, work)


@kernel
def fill_velocities(v, system, work, t, q, p):
    """v = M⁻¹ (p − A) on the constraints for many states, but of open trees; False where M is singular.

    v         (states, n)    out  [u/s]
    q, p      (states, n)    configurations and momenta  [u, J s/u]
    t         (states,)      [s]
    """
    for i in range(q.shape[0]):
        if not factor_mass_saddle(system, work, t[i], q[i]):
            return False
        solve_velocity_saddle(system, work, t[i], q[i], p[i])
        for a in range(system.n):
            v[i, a] = work.solution[a]
    return True


@kernel
def fill_tree_velocities(v, system, work, q, p):
    """What `fill_velocities` does, for an open tree.

    Arguments are those of `fill_velocities`.
    """
    for i in range(q.shape[0]):
        if not solve_velocity_tree(system, work, q[i], p[i]):
            return False
        for a in range(system.n):
            v[i, a] = work.solution[a]
    return True


@kernel
def solve_acceleration(system, work, t, q, v, g_tt):
    """Solve M a + Gᵀλ = f − (∂p/∂q) v, G a = −vᵀ(∂²g/∂q²)v − g_tt into work.solution = (a, λ).

    Returns False where the matrix is singular.

    q, v      (n,)    configuration and velocity  [u, u/s]
    g_tt      (k,)    the contribution of the explicit time: 2 (∂G/∂t) v + ∂²g/∂t²
    """
    n = system.n
    if not factor_mass_saddle(system, work, t, q):
        return False
    if system.k > 0:
        fill_curvature_rate(work.rate, system, work, t, q, v)
    fill_lagrangian_hessian(work.M, work.Lvq, work.Kqv, work.Kqq, system, work, t, q, v)
    fill_gradient(work.base, work.side, system, work, t, q, v)
    subtract_second_product(work.side, work.Lvq, system, v)
    for a in range(n):
        work.solution[a] = work.side[a]
    for b in range(system.k):
        work.solution[n + b] = -work.rate[b] - g_tt[b]
    solve_mass_saddle(system, work)
    return True


@kernel
def subtract_second_product(out, X, system, v):
    """out −= X v.

    out, v    (n,)              out: in and out; v: read  [any unit]
    X         (second_size,)    in blocks of second derivatives
    """
    for i in range(system.blocks.shape[0]):
        A, B = system.blocks[i, BLOCK_ROW], system.blocks[i, BLOCK_COLUMN]
        rows, columns = system.nodes[A, FIRST_MEMBER], system.nodes[B, FIRST_MEMBER]
        place = system.blocks[i, BLOCK_SECOND]
        for a in range(rows, rows + system.nodes[A, NODE_COORDINATES]):
            for b in range(columns, columns + system.nodes[B, NODE_COORDINATES]):
                out[system.members[a]] -= X[place] * v[system.members[b]]
                place += 1


@kernel
def fill_wrenches(out, system, work, t, q):
    """The wrench of every constraint between two links on its link b, for a multiplier of 1.

    out   (k, 6)    out: moment about the world's origin [m or 1], force [1]; zero for other constraints
    q     (n,)      configuration
    """
    fill_functions(system, work, t, q)
    fill_constraint_geometry(system, work, q)
    for i in range(system.k):
        out[i, :] = 0.0
        if system.constraints[i, CONSTRAINT_KIND] in GEOMETRIC:
            fill_parts(system, work, i, q, False)
            fill_wrench(system, work, i)
            row = work.wrench_of
            b = system.constraints[i, LINK_B]
            x, y, z = columns_origin(system.links, work.world, b)
            ax, ay, az = anchor_of_point(system, work.world, i, b, POINT_B, q)
            Nx, Ny, Nz = cross(x + ax, y + ay, z + az, row[3], row[4], row[5])
            out[i, 0], out[i, 1], out[i, 2] = row[0] + Nx, row[1] + Ny, row[2] + Nz
            out[i, 3], out[i, 4], out[i, 5] = row[3], row[4], row[5]
    if system.touches.shape[0] > 0:
        fill_touch_wrenches(out, system, work, q)


@kernel
def fill_constraint_residuals(out, system, work, t, q):
    """The largest |g| at each of many states, or what out had if that is larger.

    out   (states,)      in and out  [unit of g]
    t     (states,)      [s]
    q     (states, n)    configurations
    """
    for i in range(q.shape[0]):
        fill_constraints(work.g, work.G, work.g_t, system, work, t[i], q[i])
        for b in range(system.k):
            out[i] = max(out[i], abs(work.g[b]))
