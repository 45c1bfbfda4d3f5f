"""Functions of several variables: value, gradient and second derivatives of a program in postfix form.

Along a line x + s d the jet (f, f′, f″) of a program is that of `functions`, with the jet (x_i, d_i, 0) of variable i. So

    ∂f/∂x_i = f′ along e_i,     ∂²f/∂x_i² = f″ along e_i,     2 ∂²f/∂x_i∂x_j = f″ along e_i + e_j − those along e_i and e_j

which are exact to the rounding of the largest of them.

Arguments of the kernels:

operations   (2 L,)             pairs (operation, index of a number or variable)
numbers      (.,)               constants
x, d         (m,)               place and direction; of `fill_derivatives` d is work
stack        (STACK_SIZE, 3)    work: jets

Units: operations [1]; numbers, x, d, gradient, second, out [any unit].

Source: Griewank & Walther, Evaluating Derivatives (2008), section 13.2 (propagation of univariate Taylor series).
"""

from mbvi.kernels.compiler.decorators import kernel
from mbvi.kernels.mechanics.functions import OPERATIONS, binary, chain, unary

VARIABLE = len(OPERATIONS)
"""Operation that pushes a variable."""


@kernel
def jet_along(operations, numbers, stack, x, d):
    """The jet (f, f′, f″) of a program at x, along d. Arguments: see the head of this file."""
    top = -1
    for i in range(0, operations.shape[0], 2):
        code, at = operations[i], operations[i + 1]
        if code == 0:
            top += 1
            f, df, ddf = numbers[at], 0.0, 0.0
        elif code == VARIABLE:
            top += 1
            f, df, ddf = x[at], d[at], 0.0
        elif code in (2, 3, 4, 5, 6, 14, 22, 23):
            top -= 1
            f, df, ddf = binary(code, stack, top)
        else:
            u, du, ddu = unary(code, stack[top, 0])
            f, df, ddf = chain(u, du, ddu, stack[top, 1], stack[top, 2])
        stack[top, 0], stack[top, 1], stack[top, 2] = f, df, ddf
    return stack[0, 0], stack[0, 1], stack[0, 2]


@kernel
def fill_derivatives(gradient, second, operations, numbers, stack, x, d):
    """The value of a program at x, and its derivatives. Arguments: see the head of this file.

    gradient   (m,)      out
    second     (m, m)    out
    """
    m = x.shape[0]
    value = 0.0
    for i in range(m):
        d[i] = 0.0
    for i in range(m):
        d[i] = 1.0
        value, gradient[i], second[i, i] = jet_along(operations, numbers, stack, x, d)
        for j in range(i):
            d[j] = 1.0
            along = jet_along(operations, numbers, stack, x, d)[2]
            second[i, j] = second[j, i] = 0.5 * (along - second[i, i] - second[j, j])
            d[j] = 0.0
        d[i] = 0.0
    return value


@kernel
def fill_values(out, operations, numbers, stack, x, d):
    """The values of a program at many places.

    out       (states,)      out
    operations, numbers, stack    (.,), (.,), (.,)    the program, see `functions`
    x         (states, m)
    d         (m,)           a direction, which does not matter
    """
    for i in range(x.shape[0]):
        out[i] = jet_along(operations, numbers, stack, x[i], d)[0]
