"""The correction of the simplified iteration, Y ← Y − h (K⁻¹ ⊗ M⁻¹) R, with M at the predicted middle.

It costs little and is linear. With constraints it takes M and G of one place for all control points, so that one
factor, of a single stage, serves all s of them: those of the predicted middle where n + k is small and there are no
loops, whose inverse is formed and applied to four control points at once, else those of the step's start, whose factor
serves the momentum given out as well:

    M δY_l/h + Gᵀ μ_l = −Σ_j K⁻¹_lj R_j,     G δY_l/h = −g(Q_l)/h,     δΛ_j = Σ_l K_jl μ_l.

In an open tree, whose only constraints are those of unit quaternions, each is solved for by itself (`articulated`):
with a_j that of Q_j, δΛ_j = −a_jᵀR_j/|a_j|², the corrections of quaternions are turns of the a_l, and M and K act on
torques and turns.

Where velocities at the nodes are the unknowns, M is that of each node if it is a dense matrix, and the correction takes
a second term of the series of Newton's matrix: `velocities`.

Arrays are those of `workspace.Space`, whose functions give their shapes.

Units, with u the unit of a coordinate: t, h [s]; out, x [u].

Source: Hairer & Wanner, Solving Ordinary Differential Equations II (1996), section IV.8 (simplified Newton iterations).
"""

from numba import types

from mbvi.kernels.algebra.dense import invert
from mbvi.kernels.algebra.saddle import MASS, ONE_STAGE, solve_saddle
from mbvi.kernels.compiler.decorators import copied_kernel, kernel, solver_kernel
from mbvi.kernels.compiler.lanes import WIDTH, first_halves, lanes, lanes_at, put_lanes, wide_lanes
from mbvi.kernels.compiler.late import late_kernel
from mbvi.kernels.galerkin.equations import has_saddle
from mbvi.kernels.galerkin.velocities import (
    factor_by_fours,
    factor_eight,
    increment,
    put_at_nodes,
    solve_velocities,
    solve_with_derivatives,
)
from mbvi.kernels.galerkin.workspace import (
    ARTICULATED_FROM,
    HAS_JACOBIAN,
    IS_FACTORED,
    SIMPLIFIED_FACTORS,
    copy,
)
from mbvi.kernels.layout import CONSTRAINT_KIND, FIRST_ENTRY, UNIT_QUATERNION
from mbvi.kernels.mechanics.articulated import factor_articulated, solve_articulated, to_rate, to_torque
from mbvi.kernels.mechanics.constraints import fill_constraints
from mbvi.kernels.mechanics.lagrangian import (
    factor_mass_saddle,
    fill_angles,
    fill_mass_matrix,
    quaternion_place,
    solve_mass_saddle,
)
from mbvi.kernels.mechanics.planar_tree import fill_masses_planar


@late_kernel(types.boolean)
def factor_nodes(system, scheme, work, space, t, h):
    """Second derivatives at the nodes, and inverses of M; returns False if one is not positive definite."""
    return factor_by_fours(system, space, h)


@late_kernel(types.boolean)
def factor_wide(system, scheme, work, space, t, h):
    """What `factor_nodes` does, at up to eight nodes at once."""
    return factor_eight(system, space, h)


@late_kernel()
def solve_wide(system, scheme, work, space, t, h):
    """What `solve_velocities` does, with the factors of `factor_wide`."""
    R, delta, b, inverse = (
        wide_lanes(space.R),
        wide_lanes(space.delta),
        wide_lanes(space.b),
        wide_lanes(space.b_inverse),
    )
    M, Lvq, Lqq = wide_lanes(space.wide_masses), wide_lanes(space.wide_Lvq), wide_lanes(space.wide_Lqq)
    columns, rows = wide_lanes(space.a_columns), wide_lanes(space.a_rows)
    moves, impulses = wide_lanes(space.moves), wide_lanes(space.impulses)
    solve_with_derivatives(delta, R, M, Lvq, Lqq, columns, rows, b, inverse, moves, impulses, system.n, h)


@kernel
def is_articulated(system):
    """Whether M is inverted by the articulated-body recursion, in O(n), and not as a dense matrix."""
    return system.is_open == 1 and (system.k > 0 or system.n >= ARTICULATED_FROM)


@kernel
def factor_simplified(system, scheme, work, space, t, h):
    """Invert M at the middle of the predicted polynomial, or factor it for the articulated-body recursion.

    With constraints M and G are inverted there, or factored at the step's start. Returns False if the matrix is
    singular.
    """
    n = system.n
    if has_saddle(system) and space.inverse.shape[0] == 0:
        return factor_start(system, scheme, work, space, t, h)
    s = scheme.K.shape[0]
    for a in range(n):
        move = increment(space, a, h) if space.has_velocities == 1 else space.z[a * s + s - 1]
        space.node_q[a] = space.q[a] + 0.5 * move
    if has_saddle(system):
        return invert_middle(system, scheme, work, space, t, h)
    space.count[SIMPLIFIED_FACTORS] += 1
    if is_articulated(system):
        return factor_articulated(work.articulated, system.links, system.geometry, system.armature, space.node_q)
    if space.wide_Lvq.shape[0] > 0:
        return factor_wide(system, scheme, work, space, t, h)
    if space.node_Lvq.shape[1] > 0:
        return factor_nodes(system, scheme, work, space, t, h)
    if system.is_planar == 1:
        fill_angles(work.angles, system, space.node_q)
        fill_masses_planar(space.M, work.inertia, work.angles, system)
    else:
        fill_mass_matrix(space.M, system, work, t + 0.5 * h, space.node_q)
    is_regular = invert(space.M, space.pivot_rows, n)
    if space.has_velocities == 1:
        put_at_nodes(space)
    return is_regular


@kernel
def factor_start(system, scheme, work, space, t, h):
    """Factor [M Gᵀ; G 0] at the step's start, unless it is factored; returns False if it is singular. Fills G(Q_0)."""
    if space.count[IS_FACTORED] == 0:
        space.count[SIMPLIFIED_FACTORS] += 1
        space.count[HAS_JACOBIAN] = 1
        is_regular = factor_mass_saddle(system, work, t, space.q)
        copy(space.G[0], work.G)
        if not is_regular:
            return False
        space.count[IS_FACTORED] = 1
    return True


@late_kernel(types.boolean)
def invert_middle(system, scheme, work, space, t, h):
    """Invert [M Gᵀ; G 0] at space.node_q, the middle, into space.inverse; returns False if it is singular. Fills G(Q_0)."""
    size = space.inverse.shape[0]
    fill_start_jacobian(system, scheme, work, space, t, h)
    space.count[SIMPLIFIED_FACTORS] += 1
    space.count[IS_FACTORED] = 0
    if not factor_mass_saddle(system, work, t + 0.5 * h, space.node_q):
        return False
    for i in range(size):
        for j in range(size):
            work.solution[j] = 1.0 * (j == i)
        solve_mass_saddle(system, work)
        for j in range(size):
            space.inverse[j, i] = work.solution[j]
    return True


@kernel
def fill_start_jacobian(system, scheme, work, space, t, h):
    """Fill G(Q_0), unless it is filled."""
    if space.count[HAS_JACOBIAN] == 0:
        space.count[HAS_JACOBIAN] = 1
        fill_constraints(space.g, space.G[0], space.g_t, system, work, t, space.q)


@late_kernel()
def solve_small_saddle(system, scheme, work, space, t, h):
    """What `solve_simplified_saddle` does by space.inverse, for four control points at once."""
    n, s, behind, size = system.n, scheme.K.shape[0], space.behind, space.inverse.shape[0]
    R, delta, inverse, groups = space.R, space.delta, space.inverse, space.points.shape[0]
    columns, impulse_columns = lanes(space.K_inverse), lanes(space.K)
    x, y = lanes(space.small_sides), lanes(space.small_solutions)
    for c in range(groups):
        for a in range(n):
            value = columns[0, c] * R[a * s]
            for j in range(1, s):
                value = value + columns[j, c] * R[a * s + j]
            x[c, a] = -1.0 * value
        for b in range(system.k):
            x[c, n + b] = -1.0 * lanes_at(R, behind + b * s + c * WIDTH)
        for i in range(size):
            value = inverse[i, 0] * x[c, 0]
            for j in range(1, size):
                value = value + inverse[i, j] * x[c, j]
            y[c, i] = value
    for a in range(n):
        for c in range(groups):
            put_lanes(delta, a * s + c * WIDTH, h * y[c, a])
    put_lanes(delta, n * s, 0.0 * columns[0, 0])
    for b in range(system.k):
        for c in range(groups):
            value = 0.0 * columns[0, 0]
            for l in range(s):
                value = value + impulse_columns[l, c] * space.small_solutions[l // WIDTH, n + b, l % WIDTH]
            put_lanes(delta, behind + b * s + c * WIDTH, value)
    put_lanes(delta, behind + system.k * s, 0.0 * columns[0, 0])


@late_kernel()
def solve_simplified_saddle(system, scheme, work, space, t, h):
    """The correction of the simplified iteration with constraints, by the equations at the head of this file."""
    n, k, s, behind = system.n, system.k, scheme.K.shape[0], space.behind
    R, delta, x, y, places, size = space.R, space.delta, space.sides, space.solutions, system.places, system.side_size
    for l in range(s):
        for a in range(n):
            value = 0.0
            for j in range(s):
                value -= scheme.K_inverse[l, j] * R[a * s + j]
            x[l * size + places[a]] = value
        for b in range(k):
            x[l * size + places[n + b]] = -R[behind + b * s + l]
    solve_saddle(y, x, work.saddle, system, MASS, ONE_STAGE, s)
    for l in range(s):
        for a in range(n):
            delta[a * s + l] = h * y[l * size + places[a]]
    for j in range(s):
        for b in range(k):
            value = 0.0
            for l in range(s):
                value += scheme.K[j, l] * y[l * size + places[n + b]]
            delta[behind + b * s + j] = value


@solver_kernel
def solve_simplified(system, scheme, work, space, t, h):
    """space.delta = −h (K⁻¹ ⊗ M⁻¹) R."""
    if space.inverse.shape[0] > 0:
        solve_small_saddle(system, scheme, work, space, t, h)
    elif has_saddle(system):
        solve_simplified_saddle(system, scheme, work, space, t, h)
    elif scheme.K.shape[0] == 1:
        solve_only_stage(system, scheme, work, space, h)
    elif space.has_velocities == 1:
        if space.wide_Lvq.shape[0] > 0:
            solve_wide(system, scheme, work, space, t, h)
        else:
            solve_velocities(system, work, space, h)
    elif system.k > 0:
        solve_quaternion_stages(system, scheme, work, space, t, h)
    else:
        solve_stages(system, work, space, scheme.K.shape[0], h)


@kernel
def correct_impulses(system, scheme, work, space, t, h):
    """Correct the impulses Λ alone, by the residual of momenta at the step's end; space.R is overwritten.

    The last correction of the iteration leaves them an error that its matrix, of another place, makes of those of q.
    """
    first, end = space.behind, space.behind + system.k * scheme.K.shape[0]
    for a in range(first, end):
        space.R[a] = 0.0
    solve_simplified(system, scheme, work, space, t, h)
    for a in range(first, end):
        space.z[a] += space.delta[a]


@kernel
def correct_quaternion_impulses(system, scheme, space):
    """Correct the impulses Λ_j of unit quaternions alone, so that no residual of momenta is left along Q_j: −Q_jᵀR_j/|Q_j|² each.

    It would turn with the quaternion, and change the momenta of rotations by that.
    """
    s = scheme.K.shape[0]
    for b in range(system.k):
        if system.constraints[b, CONSTRAINT_KIND] != UNIT_QUATERNION:
            continue
        first, entry = quaternion_place(system, b), system.constraints[b, FIRST_ENTRY]
        for j in range(s):
            along = size = 0.0
            for c in range(4):
                a = space.G[j, entry + c]
                along += a * space.R[(first + c) * s + j]
                size += a * a
            space.z[space.behind + b * s + j] -= along / size


@solver_kernel
def solve_only_stage(system, scheme, work, space, h):
    """What `solve_simplified` does for a scheme with one control point."""
    n, behind, factor = system.n, space.behind, -h * scheme.K_inverse[0, 0]
    R, delta = space.R, space.delta
    if not is_articulated(system):
        for a in range(n):
            value = 0.0
            for b in range(n):
                value += space.M[a * n + b] * R[b]
            delta[a] = factor * value
        return
    for a in range(n):
        delta[a] = R[a]
    for b in range(system.k):
        first = quaternion_place(system, b)
        to_torque(delta, space.G[0], system.constraints[b, FIRST_ENTRY], first, system)
        delta[behind + b] = -delta[first]
    solve_articulated(delta, work.solved, work.articulated, system.links)
    for a in range(n):
        delta[a] *= factor
    for b in range(system.k - 1, -1, -1):
        first = quaternion_place(system, b)
        delta[first] = -h * R[behind + b]
        to_rate(delta, space.G[1], system.constraints[b, FIRST_ENTRY], first, system)


@solver_kernel
def solve_stages(system, work, space, s, h):
    """What `solve_simplified` does for all control points, four at once."""
    R, M, delta, columns, x = space.R, space.M, space.delta, lanes(space.K_inverse), lanes(space.points)
    n, groups = system.n, space.points.shape[0]
    for c in range(groups):
        for a in range(n):
            value = columns[0, c] * R[a * s]
            for j in range(1, s):
                value = value + columns[j, c] * R[a * s + j]
            x[c, a] = -h * value
    if is_articulated(system):
        for c in range(groups):
            solve_articulated(lanes(space.points[c]), lanes(space.solved), work.articulated, system.links)
        put_points(delta, x, n, s)
        return
    solved = lanes(space.mixed)
    for a in range(n):
        for c in range(groups):
            value = M[a * n] * x[c, 0]
            for b in range(1, n):
                value = value + M[a * n + b] * x[c, b]
            solved[c, a] = value
    put_points(delta, solved, n, s)


@copied_kernel
def put_points(out, x, n, s):
    """Put the numbers of s control points, which are in lanes, where unknowns stand.

    out       (N,)           out, the increments; up to three numbers behind them are overwritten
    x         (groups, n)    array of lanes, four control points each

    Two coordinates are put at once where they fill the lanes: memory that two writes share cannot be read before both
    are done.
    """
    if s == 2:
        for a in range(0, n - 1, 2):
            put_lanes(out, 2 * a, first_halves(x[0, a], x[0, a + 1]))
        if n % 2 == 1:
            put_lanes(out, 2 * n - 2, x[0, n - 1])
        return
    for a in range(n):
        for first in range(0, s, WIDTH):
            put_lanes(out, a * s + first, x[first // WIDTH, a])


@late_kernel()
def solve_quaternion_stages(system, scheme, work, space, t, h):
    """What `solve_stages` does where there are quaternions, of which Q_j have torques and Q_l turns."""
    n, s, behind, groups = system.n, scheme.K.shape[0], space.behind, space.points.shape[0]
    for c in range(groups):
        x, quaternions = lanes(space.points[c]), lanes(space.quaternions[0, c])
        for a in range(n):
            x[a] = lanes_at(space.R, a * s + c * WIDTH)
        for b in range(system.k):
            to_torque(x, quaternions, system.constraints[b, FIRST_ENTRY], quaternion_place(system, b), system)
        solve_articulated(x, lanes(space.solved), work.articulated, system.links)
    for b in range(system.k):
        for j in range(s):
            space.delta[behind + b * s + j] = -space.points[j // WIDTH, quaternion_place(system, b), j % WIDTH]
    columns, mixed = lanes(space.K_inverse), lanes(space.mixed)
    for a in range(n):
        for c in range(groups):
            value = columns[0, c] * space.points[0, a, 0]
            for j in range(1, s):
                value = value + columns[j, c] * space.points[j // WIDTH, a, j % WIDTH]
            mixed[c, a] = -h * value
    for c in range(groups):
        x, quaternions = lanes(space.mixed[c]), lanes(space.quaternions[1, c])
        for b in range(system.k - 1, -1, -1):
            first = quaternion_place(system, b)
            x[first] = -h * lanes_at(space.R, behind + b * s + c * WIDTH)
            to_rate(x, quaternions, system.constraints[b, FIRST_ENTRY], first, system)
    put_points(space.delta, mixed, n, s)
    put_lanes(space.delta, n * s, 0.0 * lanes(space.delta)[0])
