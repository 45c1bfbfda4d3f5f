"""The inverse of a mass matrix in place, for small ones."""

from mbvi.kernels.lanes import widest
from mbvi.kernels.layout import solver_kernel


@solver_kernel
def invert(M, n):
    """Overwrite a symmetric positive definite M (n², row by row) by its inverse; False if a pivot is not positive. On numbers,
    or on four matrices in lanes.

    Gauss–Jordan elimination.
    """
    for k in range(n):
        if not widest(-M[k * n + k]) < 0.0:
            return False
        inverse = 1.0 / M[k * n + k]
        M[k * n + k] = 1.0
        for j in range(n):
            M[k * n + j] *= inverse
        for i in range(n):
            if i != k:
                factor = M[i * n + k]
                M[i * n + k] = 0.0
                for j in range(n):
                    M[i * n + j] -= factor * M[k * n + j]
    return True


@solver_kernel
def multiply_symmetric(out, M, x):
    """out = M x, (n,), of a symmetric M (n², row by row)."""
    n = x.shape[0]
    for i in range(n):
        out[i] = 0.0
    for j in range(n):
        for i in range(n):
            out[i] += M[j * n + i] * x[j]
