"""Dense factorizations in place, for the small matrices of one step."""

from mbvi.kernels.layout import solver_kernel


@solver_kernel
def invert(M):
    """Overwrite a symmetric positive definite M (n, n) by its inverse (Gauss–Jordan); False if a pivot is not positive."""
    n = M.shape[0]
    for k in range(n):
        if not M[k, k] > 0.0:
            return False
        inverse = 1.0 / M[k, k]
        M[k, k] = 1.0
        for j in range(n):
            M[k, j] *= inverse
        for i in range(n):
            if i != k:
                factor = M[i, k]
                M[i, k] = 0.0
                for j in range(n):
                    M[i, j] -= factor * M[k, j]
    return True


@solver_kernel
def multiply_symmetric(out, M, x):
    """out = M x, (n,), of a symmetric M (n, n)."""
    n = M.shape[0]
    for i in range(n):
        out[i] = 0.0
    for j in range(n):
        for i in range(n):
            out[i] += M[j, i] * x[j]


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
