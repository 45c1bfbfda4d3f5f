"""The inverse of a small mass matrix, in place.

Units: M, out, x [any unit].
"""

from mbvi.kernels.compiler.decorators import solver_kernel
from mbvi.kernels.compiler.lanes import widest


@solver_kernel
def invert(M, rows, n):
    """Overwrite a symmetric positive definite M by its inverse; False if a pivot is not positive.

    Pivots k, l = k + 1 are swept two at a time, in the lower triangle alone: with D = M_{kl,kl} and w_j = D⁻¹ M_{kl,j}
    in `rows`,

        M_ij ← M_ij − M_{kl,i}·w_j,     M_{kl,i} ← w_i,     M_{kl,kl} ← −D⁻¹,

    after which all pivots leave −M⁻¹. All entries may be lanes: then as many matrices are inverted as there are lanes.

    M         (n²,)     in and out, row by row
    rows      (2 n,)    work (or longer)

    Source: Goodnight, The American Statistician 33 (1979) (the sweep operator).
    """
    even = n - n % 2
    for k in range(0, even, 2):
        l = k + 1
        first = 1.0 / M[k * n + k]
        ratio = first * M[l * n + k]
        rest = M[l * n + l] - ratio * M[l * n + k]
        if not (widest(-M[k * n + k]) < 0.0 and widest(-rest) < 0.0):
            return False
        second = 1.0 / rest
        for j in range(n):
            x, y = (M[k * n + j], M[l * n + j]) if j < k else (M[j * n + k], M[j * n + l])
            y = second * (y - ratio * x)
            rows[2 * j], rows[2 * j + 1] = first * x - ratio * y, y
        for i in range(n):
            x, y = (M[k * n + i], M[l * n + i]) if i < k else (M[i * n + k], M[i * n + l])
            if i < k or i > l:
                for j in range(i + 1):
                    M[i * n + j] -= x * rows[2 * j] + y * rows[2 * j + 1]
            if i > l:
                M[i * n + k], M[i * n + l] = rows[2 * i], rows[2 * i + 1]
        for j in range(k):
            M[k * n + j], M[l * n + j] = rows[2 * j], rows[2 * j + 1]
        M[k * n + k], M[l * n + k], M[l * n + l] = (
            -1.0 * (first + ratio * (ratio * second)),
            ratio * second,
            -1.0 * second,
        )
    if even < n:
        k = even
        if not widest(-M[k * n + k]) < 0.0:
            return False
        first = 1.0 / M[k * n + k]
        for j in range(k):
            rows[j] = first * M[k * n + j]
        for i in range(k):
            x = M[k * n + i]
            for j in range(i + 1):
                M[i * n + j] -= x * rows[j]
        for j in range(k):
            M[k * n + j] = rows[j]
        M[k * n + k] = -1.0 * first
    for i in range(n):
        for j in range(i + 1):
            M[i * n + j] = M[j * n + i] = -1.0 * M[i * n + j]
    return True


@solver_kernel
def multiply_symmetric(out, M, x):
    """out = M x.

    out, x    (n,)      out: written; x: read
    M         (n²,)     symmetric, row by row
    """
    n = x.shape[0]
    for i in range(n):
        out[i] = 0.0
    for j in range(n):
        for i in range(n):
            out[i] += M[j * n + i] * x[j]
