"""Broyden's rank-one updates of the simplified iteration.

From the corrections s_0 … s_{n−1} of this step alone, and delta, the next one without updates,

    z_0 = delta,  z_{j+1} = z_j + c_j s_{j+1},  c_j = s_jᵀ z_j/|s_j|² in turn,  delta ← s_n = z_{n−1}/(1 − c_{n−1}).

Units, with u the unit of a coordinate: x, y [u], or [u/s] where velocities are the unknowns; parallel [1].

Source: Kelley, Iterative Methods for Linear and Nonlinear Equations (1995), section 7.3 (algorithm brsol).
"""

from mbvi.kernels.compiler.decorators import copied_kernel, solver_kernel
from mbvi.kernels.compiler.lanes import lanes, total
from mbvi.kernels.galerkin.tolerances import LEAST_DIVISOR


@solver_kernel
def accelerate(space, iteration, is_known, parallel):
    """delta ← z_{n−1}, by the equations at the head of this file; returns the factor 1/(1 − c_{n−1}).

    `correct` applies the factor. Products are those of increments alone. Those of corrections with each other, s_iᵀ
    s_j, are known, and those with delta are formed. Without `is_known`, delta is noise in part: it becomes z_{n−1}, by
    the updates that are known, and no s_n. A correction of which the part `parallel` or more is along the one before is not
    lengthened by 1/(1 − c_{n−1}).

    Arrays are those of space, see `workspace._broyden`.
    """
    delta, products, along, c = lanes(space.delta), space.step_products, space.along, space.update
    count, increments, last, inverses = space.rows, space.increment_rows, iteration - 1, space.inverse_squares
    for j in range(iteration):
        along[j] = product_of(lanes(space.steps[j]), delta, increments)
    for j in range(iteration):
        product = along[j]
        for i in range(j):
            product += c[i] * products[j, i + 1]
        c[j] = product * inverses[j]
    is_used = iteration > 0 and c[last] < parallel and abs(1.0 - c[last]) > space.tolerances[LEAST_DIVISOR]
    scale = 1.0 / (1.0 - c[last]) if is_used else 1.0
    for j in range(last):
        step = lanes(space.steps[j + 1])
        for a in range(count):
            delta[a] = delta[a] + c[j] * step[a]
        for i in range(iteration):
            along[i] += c[j] * products[i, j + 1]
    if not is_known:
        return 1.0
    for j in range(iteration):
        products[j, iteration] = products[iteration, j] = scale * along[j]
    return scale


@copied_kernel
def product_of(x, y, count):
    """xᵀ y, in two sums, so that not every addition waits for the one before.

    x, y      (count,)    arrays of lanes (or longer)
    """
    one = other = 0.0 * x[0]
    for a in range(0, count - 1, 2):
        one = one + x[a] * y[a]
        other = other + x[a + 1] * y[a + 1]
    if count % 2 == 1:
        one = one + x[count - 1] * y[count - 1]
    return total(one + other)
