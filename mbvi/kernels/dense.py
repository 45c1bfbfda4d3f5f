"""Dense factorizations in place, for the small matrices of one step."""

import math

from mbvi.kernels.layout import solver_kernel


@solver_kernel
def cholesky(M):
    """Overwrite a symmetric positive definite M (n, n) by its factor L below and Lᵀ above; False if it is not.

    The diagonal holds the reciprocals of the factor's, so that a solve divides nothing.
    """
    n = M.shape[0]
    for j in range(n):
        largest = M[j, j]
        total = M[j, j]
        for k in range(j):
            total -= M[j, k] * M[j, k]
        if not total > 1e-14 * abs(largest):
            return False
        inverse = 1.0 / math.sqrt(total)
        M[j, j] = inverse
        for i in range(j + 1, n):
            total = M[i, j]
            for k in range(j):
                total -= M[i, k] * M[j, k]
            M[i, j] = M[j, i] = total * inverse
    return True


@solver_kernel
def cholesky_solve(L, x):
    """Overwrite x (n,) by the solution of L Lᵀ y = x, L from `cholesky`."""
    n = L.shape[0]
    for i in range(n):
        x[i] *= L[i, i]
        for k in range(i + 1, n):
            x[k] -= L[i, k] * x[i]
    for i in range(n - 1, -1, -1):
        x[i] *= L[i, i]
        for k in range(i):
            x[k] -= L[i, k] * x[i]


@solver_kernel
def lu(A, pivots):
    """Overwrite A (n, n) by its LU factors with partial pivoting; False if it is singular to working precision."""
    n = A.shape[0]
    largest = 0.0
    for i in range(n):
        for j in range(n):
            largest = max(largest, abs(A[i, j]))
    for j in range(n):
        best = j
        for i in range(j + 1, n):
            if abs(A[i, j]) > abs(A[best, j]):
                best = i
        pivots[j] = best
        if not abs(A[best, j]) > 1e-15 * largest:
            return False
        if best != j:
            for k in range(n):
                A[j, k], A[best, k] = A[best, k], A[j, k]
        inverse = 1.0 / A[j, j]
        for i in range(j + 1, n):
            factor = A[i, j] * inverse
            A[i, j] = factor
            if factor != 0.0:
                for k in range(j + 1, n):
                    A[i, k] -= factor * A[j, k]
    return True


@solver_kernel
def lu_solve(A, pivots, x):
    """Overwrite x (n,) by the solution of A y = x, A and pivots from `lu`."""
    n = A.shape[0]
    for i in range(n):
        best = pivots[i]
        if best != i:
            x[i], x[best] = x[best], x[i]
    for i in range(n):
        total = x[i]
        for k in range(i):
            total -= A[i, k] * x[k]
        x[i] = total
    for i in range(n - 1, -1, -1):
        total = x[i]
        for k in range(i + 1, n):
            total -= A[i, k] * x[k]
        x[i] = total / A[i, i]
