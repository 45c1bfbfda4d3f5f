"""Constraints by expressions of the time, of coordinates and of places of points along the axes of the world.

With the variables y of an expression ψ, of which y_0 is the time and the others are functions of q,

    g = ψ(y),     ∂g/∂t = ψ_0,     G_j = Σ ψ_a ∂y_a/∂q_j,     ∂G_j/∂q_k = Σ ψ_ab ∂y_a/∂q_j ∂y_b/∂q_k + Σ ψ_a ∂²y_a/∂q_j∂q_k.

A place e·x of a point of a link has the wrench W = (x × e, e), so that ∂y/∂q_j = W·D_j with the displacement columns D_j of the
coordinates that carry the link; W changes with x.

Work.express and Work.express_columns have what the expression that was evaluated last consists of.

Arguments of the kernels, with u the unit of a coordinate and E entries of the Jacobian:

t         float         time  [s]
table     (., 5)        System.expressions, or System.tendons, which has the same columns  [1]
c         int           row of the table, by default of System.expressions
q, v      (n,)          configuration and velocity  [u, u/s]
g, g_t    (k,)          in and out: values and ∂g/∂t, of expressions alone  [unit of g, unit of g/s]
G         (E,)          in and out: entries of the Jacobian, of expressions alone  [unit of g/u]

Poses are in work, and columns where derivatives are asked for.

Source: Griewank & Walther, Evaluating Derivatives (2008), section 13.2 (second derivatives along lines).
"""

from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.compiler.late import late_kernel
from mbvi.kernels.layout import (
    ENTRIES,
    EXPRESSION_END,
    EXPRESSION_ROW,
    EXPRESSION_START,
    FIRST_ENTRY,
    FIRST_TERM,
    FIRST_VARIABLE,
    OF_COORDINATE,
    OF_TIME,
    TERMS,
    VARIABLE_KIND,
    VARIABLE_OF,
    VARIABLES,
)
from mbvi.kernels.mechanics.rotation import cross
from mbvi.kernels.mechanics.several import jet_along
from mbvi.kernels.mechanics.tree import anchor_place, columns_origin
from mbvi.kernels.mechanics.wrenches import column_rate, place_from_anchor, set_nine, times_column

# Rows of Work.express (5, .): variables, a direction, ψ_a, work, and the rates of the variables of a tendon.
AT, WAY, SLOPE, RATE = 0, 1, 2, 4


@kernel
def fill_variables(system, work, table, c, t, q):
    """The variables of expression c of a table into work.express. Arguments: see the head of this file."""
    first = table[c, FIRST_VARIABLE]
    for a in range(table[c, VARIABLES]):
        kind, of = system.variables[first + a, VARIABLE_KIND], system.variables[first + a, VARIABLE_OF]
        if kind == OF_TIME:
            work.express[AT, a] = t
        elif kind == OF_COORDINATE:
            work.express[AT, a] = q[of]
        else:
            point = system.variable_points[first + a]
            px, py, pz = place_from_anchor(work.world, of, point[0], point[1], point[2])
            x, y, z = anchor_place(system.links, system.geometry, work.world, of, q)
            axis = kind - OF_COORDINATE - 1
            work.express[AT, a] = px + x if axis == 0 else (py + y if axis == 1 else pz + z)


@kernel
def jet(system, work, table, c):
    """The jet (ψ, ψ′, ψ″) of expression c of a table along work.express[WAY]. Arguments: see the head of this file."""
    start, end = table[c, EXPRESSION_START], table[c, EXPRESSION_END]
    return jet_along(system.operations[start:end], system.numbers, work.stack, work.express[AT], work.express[WAY])


@kernel
def fill_slopes(system, work, table, c):
    """ψ_a of expression c of a table into work.express; the value ψ. Arguments: see the head of this file."""
    value = 0.0
    work.express[WAY, :] = 0.0
    for a in range(table[c, VARIABLES]):
        work.express[WAY, a] = 1.0
        value, work.express[SLOPE, a], _ = jet(system, work, table, c)
        work.express[WAY, a] = 0.0
    return value


@kernel
def fill_place_wrench(system, work, variable):
    """The wrench of a place into work.wrench_of, and its point from the origin of the columns, which is returned.

    variable   int    row of System.variables
    """
    of, axis = system.variables[variable, VARIABLE_OF], system.variables[variable, VARIABLE_KIND] - OF_COORDINATE - 1
    point = system.variable_points[variable]
    px, py, pz = place_from_anchor(work.world, of, point[0], point[1], point[2])
    x, y, z = columns_origin(system.links, work.world, of)
    px, py, pz = px - x, py - y, pz - z
    ex, ey, ez = 1.0 * (axis == 0), 1.0 * (axis == 1), 1.0 * (axis == 2)
    mx, my, mz = cross(px, py, pz, ex, ey, ez)
    set_nine(work.wrench_of, mx, my, mz, ex, ey, ez, mx, my, mz)
    return px, py, pz


@kernel
def fill_variable_columns(system, work, c):
    """∂y_a/∂q_j of expression c into work.express_columns. Arguments: see the head of this file."""
    row, first = system.expressions[c, EXPRESSION_ROW], system.expressions[c, FIRST_VARIABLE]
    work.express_columns[:] = 0.0
    for a in range(system.expressions[c, VARIABLES]):
        kind, begin = system.variables[first + a, VARIABLE_KIND], system.variables[first + a, FIRST_TERM]
        if kind > OF_COORDINATE:
            fill_place_wrench(system, work, first + a)
        for term in range(begin, begin + system.variables[first + a, TERMS]):
            entry = system.terms[term]
            j = system.entries[system.constraints[row, FIRST_ENTRY] + entry]
            work.express_columns[a, entry] = (
                1.0 if kind == OF_COORDINATE else times_column(work.wrench_of, work.D, j, 1.0)
            )


@late_kernel()
def fill_expressed_rows(g, G, g_t, system, work, t, q):
    """Values, rows of the Jacobian and derivatives by the time. Arguments: see the head of this file."""
    for c in range(system.expressions.shape[0]):
        i = system.expressions[c, EXPRESSION_ROW]
        fill_variables(system, work, system.expressions, c, t, q)
        g[i] = fill_slopes(system, work, system.expressions, c)
        g_t[i] = work.express[SLOPE, 0]
        fill_variable_columns(system, work, c)
        first = system.constraints[i, FIRST_ENTRY]
        for entry in range(system.constraints[i, ENTRIES]):
            value = 0.0
            for a in range(system.expressions[c, VARIABLES]):
                value += work.express[SLOPE, a] * work.express_columns[a, entry]
            G[first + entry] = value


@late_kernel()
def fill_expressed_values(g, system, work, t, q):
    """Values alone, of which columns are not needed. Arguments: see the head of this file."""
    for c in range(system.expressions.shape[0]):
        fill_variables(system, work, system.expressions, c, t, q)
        work.express[WAY, :] = 0.0
        g[system.expressions[c, EXPRESSION_ROW]] = jet(system, work, system.expressions, c)[0]


@kernel
def place_second(system, work, q, row, j, k):
    """∂²y/∂q_j∂q_k of a place, whose wrench is in work.wrench_of, by two of the entries of its constraint.

    row     int     of the constraint
    j, k    int     entries, counted from the first of the row
    q       (n,)    configuration
    """
    first = system.constraints[row, FIRST_ENTRY]
    D, wrench, a, b = work.D, work.wrench_of, system.entries[first + j], system.entries[first + k]
    px, py, pz = work.express[3, 0], work.express[3, 1], work.express[3, 2]
    x, y, z = cross(D[b, 0], D[b, 1], D[b, 2], px, py, pz)
    x, y, z = cross(x + D[b, 3], y + D[b, 4], z + D[b, 5], wrench[3], wrench[4], wrench[5])
    return column_rate(system, work, q, first + j, first + k) + x * D[a, 0] + y * D[a, 1] + z * D[a, 2]


@kernel
def second_along(system, work, q, c, v):
    """vᵀ (∂²g/∂q²) v of expression c, whose variables, slopes and columns are in work. Arguments: see the head of this file."""
    row, first = system.expressions[c, EXPRESSION_ROW], system.expressions[c, FIRST_VARIABLE]
    begin, count = system.constraints[row, FIRST_ENTRY], system.expressions[c, VARIABLES]
    set_way(system, work, c, v)
    total = jet(system, work, system.expressions, c)[2]
    for a in range(count):
        if system.variables[first + a, VARIABLE_KIND] <= OF_COORDINATE:
            continue
        work.express[3, 0], work.express[3, 1], work.express[3, 2] = fill_place_wrench(system, work, first + a)
        start = system.variables[first + a, FIRST_TERM]
        for s in range(start, start + system.variables[first + a, TERMS]):
            for r in range(start, start + system.variables[first + a, TERMS]):
                j, k = system.terms[s], system.terms[r]
                product = v[system.entries[begin + j]] * v[system.entries[begin + k]]
                total += work.express[SLOPE, a] * product * place_second(system, work, q, row, j, k)
    return total


@late_kernel()
def add_expressed_curvature(out, system, work, t, q, lam):
    """Add ∂²(λᵀg)/∂q² of expressions. Arguments: see the head of this file.

    The part Σ ψ_ab ∂y_a/∂q_j ∂y_b/∂q_k is ψ″ along ½ (∂y/∂q_j + ∂y/∂q_k) less that along half their difference.

    out       (n, n)    in and out  [J/u²]
    lam       (k,)      [J/unit of g]
    """
    columns, way = work.express_columns, work.express[WAY]
    for c in range(system.expressions.shape[0]):
        row, count = system.expressions[c, EXPRESSION_ROW], system.expressions[c, VARIABLES]
        first, entries = system.constraints[row, FIRST_ENTRY], system.constraints[row, ENTRIES]
        fill_variables(system, work, system.expressions, c, t, q)
        fill_slopes(system, work, system.expressions, c)
        fill_variable_columns(system, work, c)
        for j in range(entries):
            for k in range(entries):
                for a in range(count):
                    way[a] = 0.5 * (columns[a, j] + columns[a, k])
                value = jet(system, work, system.expressions, c)[2]
                for a in range(count):
                    way[a] = 0.5 * (columns[a, j] - columns[a, k])
                value -= jet(system, work, system.expressions, c)[2]
                out[system.entries[first + j], system.entries[first + k]] += lam[row] * value
        for a in range(count):
            if system.variables[system.expressions[c, FIRST_VARIABLE] + a, VARIABLE_KIND] > OF_COORDINATE:
                add_place_curvature(out, system, work, q, c, a, lam[row])


@kernel
def add_place_curvature(out, system, work, q, c, a, weight):
    """Add w ψ_a ∂²y_a/∂q² of a place, whose poses, columns and slopes are in work. Arguments: see the head of this file.

    out       (n, n)    in and out  [J/u²]
    a         int       variable of expression c
    weight    float     w  [J/unit of g]
    """
    row, variable = system.expressions[c, EXPRESSION_ROW], system.expressions[c, FIRST_VARIABLE] + a
    begin, start, slope = (
        system.constraints[row, FIRST_ENTRY],
        system.variables[variable, FIRST_TERM],
        work.express[SLOPE, a],
    )
    work.express[3, 0], work.express[3, 1], work.express[3, 2] = fill_place_wrench(system, work, variable)
    for s in range(start, start + system.variables[variable, TERMS]):
        for r in range(start, start + system.variables[variable, TERMS]):
            j, k = system.terms[s], system.terms[r]
            second = weight * slope * place_second(system, work, q, row, j, k)
            out[system.entries[begin + j], system.entries[begin + k]] += second


@late_kernel()
def fill_expressed_time_rates(out, system, work, t, q, v):
    """2 (∂G/∂t) v + ∂²g/∂t² of expressions. Arguments: see the head of this file.

    out       (k,)    in and out, rows of expressions alone  [unit of g/s²]
    """
    for c in range(system.expressions.shape[0]):
        fill_variables(system, work, system.expressions, c, t, q)
        fill_variable_columns(system, work, c)
        set_way(system, work, c, v)
        still = jet(system, work, system.expressions, c)[2]
        work.express[WAY, 0] = 1.0
        out[system.expressions[c, EXPRESSION_ROW]] = jet(system, work, system.expressions, c)[2] - still


@kernel
def set_way(system, work, c, v):
    """The rates of the variables of expression c, that of the time as 0, as a direction. Arguments: see the head of this file."""
    row = system.expressions[c, EXPRESSION_ROW]
    for a in range(system.expressions[c, VARIABLES]):
        work.express[WAY, a] = 0.0
        for entry in range(system.constraints[row, ENTRIES]):
            rate = v[system.entries[system.constraints[row, FIRST_ENTRY] + entry]]
            work.express[WAY, a] += work.express_columns[a, entry] * rate


@late_kernel()
def fill_expressed_curvature_rates(out, system, work, t, q, v):
    """vᵀ (∂²g/∂q²) v of expressions. Arguments: see the head of this file.

    out       (k,)    in and out, rows of expressions alone  [unit of g/s²]
    """
    for c in range(system.expressions.shape[0]):
        fill_variables(system, work, system.expressions, c, t, q)
        fill_slopes(system, work, system.expressions, c)
        fill_variable_columns(system, work, c)
        out[system.expressions[c, EXPRESSION_ROW]] = second_along(system, work, q, c, v)
