"""Forces along tendons, whose length L = ψ(y) is an expression of variables y: of coordinates and of places of points.

With the force φ along the length, by `forces.joint_force`, the displacement column A of the length, and its rate,

    f_j = φ(L, L̇) A_j,     A_j = Σ ψ_a ∂y_a/∂q_j,     L̇ = Σ ψ_a ẏ_a,
    ∂f_j/∂q_k = A_j (∂φ/∂L A_k + ∂φ/∂L̇ ∂L̇/∂q_k) + φ ∂A_j/∂q_k,     ∂f_j/∂v_k = A_j ∂φ/∂L̇ ∂L̇/∂v_k,
    ∂A_j/∂q_k = Σ ψ_ab ∂y_a/∂q_j ∂y_b/∂q_k + Σ ψ_a ∂²y_a/∂q_j∂q_k,
    ∂L̇/∂q_k = Σ ψ_ab ẏ_a ∂y_b/∂q_k + Σ ψ_a ∂ẏ_a/∂q_k.

Of a place e·x of a point of a link, ∂y/∂q_j = e·D_j(x), ∂ẏ/∂v_k = e·S_k(x), and ∂ẏ/∂q_k = e·(θ_k × ẋ + U_k(x)), θ_k the angular
part of D_k. Such a place has a force φ ψ_a along the axis e of the world.

Arguments of the kernels, with u the unit of a coordinate:

c            int               row of System.tendons
t            float             time  [s]
q, v         (n,)              configuration and velocity  [u, u/s]
f            (n,)              in and out: generalized forces  [J/u]
wrench       (L, 6)            in and out: [moment; force] on each link, about its origin  [N m, N]
Kqv, Kqq     (second_size,)    in and out: ∂f/∂v, ∂f/∂q, in blocks of second derivatives  [J s/u², J/u²]

Poses and velocities are in work.world, and for second derivatives the columns S, D and U.

Source: Featherstone 2008, chapter 2 (virtual work of wrenches); Griewank & Walther 2008, section 13.2 (second derivatives along
lines).
"""

from numba import types

from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.compiler.late import late_kernel
from mbvi.kernels.layout import (
    ACTUATOR,
    BY_FUNCTION,
    COORDINATES_OF_TENDON,
    FIRST_COORDINATE,
    FIRST_TERM,
    FIRST_VARIABLE,
    OF_COORDINATE,
    OF_TIME,
    TENDON_FORCE,
    TERMS,
    VARIABLE_KIND,
    VARIABLE_OF,
    VARIABLES,
)
from mbvi.kernels.mechanics.expressed import RATE, SLOPE, WAY, fill_slopes, fill_variables, jet
from mbvi.kernels.mechanics.forces import (
    add_wrench,
    at_point,
    by_input,
    column_derivative,
    from_columns_origin,
    joint_force,
    point_motion,
    second_place,
)
from mbvi.kernels.mechanics.rotation import cross
from mbvi.kernels.mechanics.tree import fill_convective, fill_screws, fill_world

# Rows of Work.tendon (3, .), by the coordinates of a tendon: A, ∂L̇/∂q, ∂L̇/∂v.
COLUMN, BY_PLACE, BY_RATE = 0, 1, 2
KIND_OF_FORCE, FUNCTION_OF_FORCE = 0, 2  # columns of System.joint_forces


@kernel
def variable_point(system, work, variable):
    """Position from its anchor and velocity of the point of a place, and the axis: (6 numbers, axis).

    variable   int    row of System.variables
    """
    of, point = system.variables[variable, VARIABLE_OF], system.variable_points[variable]
    return point_motion(work.world, of, point[0], point[1], point[2]), (
        system.variables[variable, VARIABLE_KIND] - OF_COORDINATE - 1
    )


@kernel
def measure(system, work, c, q, v):
    """Length and rate of a tendon; variables, their slopes and rates are left in work. Arguments: see the head of this file."""
    fill_variables(system, work, system.tendons, c, 0.0, q)
    length, rate, first = fill_slopes(system, work, system.tendons, c), 0.0, system.tendons[c, FIRST_VARIABLE]
    for a in range(system.tendons[c, VARIABLES]):
        kind, of = system.variables[first + a, VARIABLE_KIND], system.variables[first + a, VARIABLE_OF]
        if kind == OF_TIME:
            work.express[RATE, a] = 0.0
        elif kind == OF_COORDINATE:
            work.express[RATE, a] = v[of]
        else:
            point, axis = variable_point(system, work, first + a)
            work.express[RATE, a] = point[3] if axis == 0 else (point[4] if axis == 1 else point[5])
        rate += work.express[SLOPE, a] * work.express[RATE, a]
    return length, rate


@kernel
def pull_of(system, work, c, t, q, v):
    """The force φ along a tendon, ∂φ/∂L, ∂φ/∂L̇ and its potential, and its rate. Arguments: see the head of this file."""
    length, rate = measure(system, work, c, q, v)
    force, by_place, by_rate, V = joint_force(system, work, system.tendons[c, TENDON_FORCE], t, length, rate)
    return force, by_place, by_rate, V, rate


@late_kernel()
def add_tendons(f, wrench, system, work, t, q, v):
    """Add the forces along tendons, on coordinates and to the wrenches on links. Arguments: see the head of this file."""
    for c in range(system.tendons.shape[0]):
        pull, first = pull_of(system, work, c, t, q, v)[0], system.tendons[c, FIRST_VARIABLE]
        for a in range(system.tendons[c, VARIABLES]):
            kind, of = system.variables[first + a, VARIABLE_KIND], system.variables[first + a, VARIABLE_OF]
            force = pull * work.express[SLOPE, a]
            if kind == OF_COORDINATE:
                f[of] += force
            elif kind > OF_COORDINATE:
                point, axis = variable_point(system, work, first + a)
                x, y, z = force * (axis == 0), force * (axis == 1), force * (axis == 2)
                add_wrench(wrench, work.world, of, point[0], point[1], point[2], x, y, z)


@late_kernel(types.float64)
def tendon_potential(system, work, q):
    """Potential energy of the springs along tendons [J]; poses at q, at rest, are in work.world.

    q       (n,)    configuration  [u]
    """
    V = 0.0
    for c in range(system.tendons.shape[0]):
        V += pull_of(system, work, c, 0.0, q, work.zero)[3]
    return V


@late_kernel()
def add_tendons_hessian(Kqv, Kqq, system, work, t, q, v):
    """Add the derivatives of the forces along tendons. Arguments: see the head of this file."""
    for c in range(system.tendons.shape[0]):
        pull, by_place, by_rate, _, _ = pull_of(system, work, c, t, q, v)
        fill_columns(system, work, c)
        begin, along = system.tendons[c, FIRST_COORDINATE], work.tendon
        for i in range(system.tendons[c, COORDINATES_OF_TENDON]):
            for m in range(system.tendons[c, COORDINATES_OF_TENDON]):
                j, k = system.tendon_coordinates[begin + i], system.tendon_coordinates[begin + m]
                place, columns = second_place(system, j, k), work.express_columns
                slope = by_place * along[COLUMN, m] + by_rate * along[BY_PLACE, m]
                Kqq[place] += along[COLUMN, i] * slope
                Kqq[place] += pull * bent(system, work, c, columns[:, i], columns[:, m])
                Kqv[place] += along[COLUMN, i] * by_rate * along[BY_RATE, m]
        add_curvature_of_places(Kqq, system, work, c, q, pull)


@kernel
def fill_tendon_drives(drives, system, work, t, q, v):
    """Generalized forces per input of actuators driven by functions of the state. Arguments: see the head of this file.

    drives    (by_function, n)    out, rows of tendons alone  [J/u per unit of the input]
    """
    for c in range(system.tendons.shape[0]):
        motor = system.tendons[c, TENDON_FORCE]
        if (
            system.joint_forces[motor, KIND_OF_FORCE] != ACTUATOR
            or system.joint_forces[motor, FUNCTION_OF_FORCE] > BY_FUNCTION
        ):
            continue
        per_input = by_input(system, motor, pull_of(system, work, c, t, q, v)[0])
        fill_columns(system, work, c)
        for i in range(system.tendons[c, COORDINATES_OF_TENDON]):
            j = system.tendon_coordinates[system.tendons[c, FIRST_COORDINATE] + i]
            drives[BY_FUNCTION - system.joint_forces[motor, FUNCTION_OF_FORCE], j] = per_input * work.tendon[COLUMN, i]


@kernel
def add_efforts(out, system, work, t, q, v):
    """Add the generalized forces of the actuators along tendons in many states.

    out     (states, n)    in and out  [J/u]
    t       (states,)      [s]
    q, v    (states, n)    [u, u/s]
    """
    for s in range(q.shape[0]):
        fill_world(system, work, q[s], v[s])
        fill_screws(system, work, q[s])
        fill_convective(system, work, q[s], v[s])
        for c in range(system.tendons.shape[0]):
            if system.joint_forces[system.tendons[c, TENDON_FORCE], KIND_OF_FORCE] != ACTUATOR:
                continue
            pull = pull_of(system, work, c, t[s], q[s], v[s])[0]
            fill_columns(system, work, c)
            for i in range(system.tendons[c, COORDINATES_OF_TENDON]):
                j = system.tendon_coordinates[system.tendons[c, FIRST_COORDINATE] + i]
                out[s, j] += pull * work.tendon[COLUMN, i]


@kernel
def bent(system, work, c, y, z):
    """Σ ψ_ab y_a z_b: ψ″ along half the sum less that along half the difference. Arguments: see the head of this file.

    y, z     (variables,)    ways of the variables  [mixed]
    """
    count = system.tendons[c, VARIABLES]
    for a in range(count):
        work.express[WAY, a] = 0.5 * (y[a] + z[a])
    value = jet(system, work, system.tendons, c)[2]
    for a in range(count):
        work.express[WAY, a] = 0.5 * (y[a] - z[a])
    return value - jet(system, work, system.tendons, c)[2]


@kernel
def along_axis(columns, j, axis, x, y, z):
    """The component along an axis of the world of a twist column at a point.

    columns    (n, 6)     S, D or U  [rad/u, m/u], of U [rad/(s u), m/(s u)]
    x, y, z    floats     the point, from the origin of the columns  [m]
    """
    a, b, c = at_point(columns, j, x, y, z)
    return a if axis == 0 else (b if axis == 1 else c)


@kernel
def fill_columns(system, work, c):
    """∂y_a/∂q_j into work.express_columns, and into work.tendon what the head of this file has of the length and its rate.

    Variables, slopes and rates are in work. Arguments: see the head of this file.
    """
    first, count = system.tendons[c, FIRST_VARIABLE], system.tendons[c, COORDINATES_OF_TENDON]
    work.express_columns[:] = 0.0
    work.tendon[:] = 0.0
    for a in range(system.tendons[c, VARIABLES]):
        kind, begin = system.variables[first + a, VARIABLE_KIND], system.variables[first + a, FIRST_TERM]
        slope = work.express[SLOPE, a]
        for term in range(begin, begin + system.variables[first + a, TERMS]):
            i = system.terms[term]
            column, by_place, by_rate = 1.0, 0.0, 1.0
            if kind > OF_COORDINATE:
                k = system.tendon_coordinates[system.tendons[c, FIRST_COORDINATE] + i]
                column, by_place, by_rate = place_columns(system, work, first + a, k)
            work.express_columns[a, i] = column
            work.tendon[COLUMN, i] += slope * column
            work.tendon[BY_PLACE, i] += slope * by_place
            work.tendon[BY_RATE, i] += slope * by_rate
    for i in range(count):
        work.tendon[BY_PLACE, i] += bent(system, work, c, work.express[RATE], work.express_columns[:, i])


@kernel
def place_columns(system, work, variable, k):
    """How a place y and its rate change with a coordinate: (∂y/∂q_k, ∂ẏ/∂q_k, ∂ẏ/∂v_k).

    variable   int    row of System.variables
    k          int    a coordinate that moves it
    """
    point, axis = variable_point(system, work, variable)
    x, y, z = from_columns_origin(system.links, work.world, system.variables[variable, VARIABLE_OF], point)
    D = work.D
    tx, ty, tz = cross(D[k, 0], D[k, 1], D[k, 2], point[3], point[4], point[5])
    turned = tx if axis == 0 else (ty if axis == 1 else tz)
    convective = along_axis(work.U, k, axis, x, y, z)
    return along_axis(D, k, axis, x, y, z), turned + convective, along_axis(work.S, k, axis, x, y, z)


@kernel
def add_curvature_of_places(Kqq, system, work, c, q, pull):
    """Add φ Σ ψ_a ∂²y_a/∂q_j∂q_k of places, whose slopes are in work. Arguments: see the head of this file.

    pull     float    φ  [N]
    """
    begin = system.tendons[c, FIRST_COORDINATE]
    for a in range(system.tendons[c, VARIABLES]):
        variable = system.tendons[c, FIRST_VARIABLE] + a
        if system.variables[variable, VARIABLE_KIND] <= OF_COORDINATE:
            continue
        point, axis = variable_point(system, work, variable)
        x, y, z = from_columns_origin(system.links, work.world, system.variables[variable, VARIABLE_OF], point)
        start, weight = system.variables[variable, FIRST_TERM], pull * work.express[SLOPE, a]
        for s in range(start, start + system.variables[variable, TERMS]):
            for r in range(start, start + system.variables[variable, TERMS]):
                j = system.tendon_coordinates[begin + system.terms[s]]
                k = system.tendon_coordinates[begin + system.terms[r]]
                links = system.coordinate_links[j], system.coordinate_links[k]
                second = column_derivative(system, work.D, work.world, q, links[0], j, links[1], k, x, y, z)
                bend = second[3] if axis == 0 else (second[4] if axis == 1 else second[5])
                Kqq[second_place(system, j, k)] += weight * bend
