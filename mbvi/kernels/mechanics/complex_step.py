"""Derivatives of a user's M(q), V(q), g(q) by complex steps: ∂f/∂q_j = Im f(q + i ε e_j)/ε, exact to round-off.

Second derivatives are central differences of these. Those of L only steer Newton's method; those of g are also part of
accelerations and multipliers, and so their differences are of order 4.

Source: Squire & Trapp, SIAM Review 40 (1998).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import config, njit

from mbvi.kernels import layout
from mbvi.kernels.compiler import decorators
from mbvi.kernels.mechanics.lagrangian import size_for_steps

TINY = 1e-200
WIDE = 1e-5  # step of differences; for g it is relative to a size of the coordinates


def compile_functions(
    n: int, k: int, r: int, mass: Callable, potential: Callable, constraints: Callable | None, rates: Callable | None
) -> dict[str, Any]:
    """The compiled functions of a system: gradient, hessian, potential, and with constraints constraint, curvature.

    There are k constraints on positions and then r on velocities, A(q) v = 0. The user's functions are `decorators.protected`.
    """
    jit = (lambda function: function) if config.DISABLE_JIT else njit(error_model="numpy")

    @jit
    def M_of(q, M):
        M[:] = 0.0
        try:  # no exception can leave compiled code
            mass(q, M)
        except Exception:
            M[:] = np.nan

    @jit
    def V_of(q):
        try:
            return potential(q) + 0.0 * q[0]
        except Exception:
            return np.nan * q[0]

    @jit
    def gradient(t, q, v, p, f):
        M = np.zeros((n, n))
        M_of(q, M)
        for i in range(n):
            p[i] = 0.0
            for j in range(n):
                p[i] += M[i, j] * v[j]
        x = q.astype(np.complex128)
        Mx = np.zeros((n, n), np.complex128)
        for a in range(n):
            x[a] = q[a] + 1j * TINY
            M_of(x, Mx)
            total = -V_of(x)
            for i in range(n):
                for j in range(n):
                    total += 0.5 * v[i] * Mx[i, j] * v[j]
            f[a] = total.imag / TINY
            x[a] = q[a]
        return 0.0

    @jit
    def hessian(t, q, v, flat_Lvv, flat_Lvq, flat_Kqv, flat_Kqq):
        Lvv, Lvq = flat_Lvv.reshape((n, n)), flat_Lvq.reshape((n, n))
        Kqv, Kqq = flat_Kqv.reshape((n, n)), flat_Kqq.reshape((n, n))
        p, f, f_back = np.zeros(n), np.zeros(n), np.zeros(n)
        M_of(q, Lvv)
        x = q.astype(np.complex128)
        y = q.copy()
        Mx = np.zeros((n, n), np.complex128)
        for a in range(n):
            x[a] = q[a] + 1j * TINY
            M_of(x, Mx)
            x[a] = q[a]
            for i in range(n):
                Lvq[i, a] = 0.0
                for j in range(n):
                    Lvq[i, a] += Mx[i, j].imag / TINY * v[j]
                Kqv[a, i] = Lvq[i, a]
            y[a] = q[a] + WIDE
            gradient(t, y, v, p, f)
            y[a] = q[a] - WIDE
            gradient(t, y, v, p, f_back)
            y[a] = q[a]
            for i in range(n):
                Kqq[i, a] = (f[i] - f_back[i]) / (2.0 * WIDE)
        return 0.0

    @jit
    def real_potential(t, q):
        return V_of(q)

    functions = {
        "gradient": decorators.compiled(layout.GRADIENT, gradient),
        "hessian": decorators.compiled(layout.HESSIAN, hessian),
        "potential": decorators.compiled(layout.POTENTIAL, real_potential),
    }
    if constraints is None and rates is None:
        return functions
    positions = constraints or jit(lambda q, g: None)
    velocities = rates or jit(lambda q, A: None)

    @jit
    def g_of(q, g):
        try:
            positions(q, g)
        except Exception:
            g[:] = np.nan

    @jit
    def A_of(q, A):
        A[:] = 0.0
        try:
            velocities(q, A)
        except Exception:
            A[:] = np.nan

    @jit
    def constraint(t, q, g, G, g_t):
        g[k:] = 0.0
        g_of(q, g[:k])
        A_of(q, G[k * n :].reshape((r, n)))
        x = q.astype(np.complex128)
        gx = np.zeros(k, np.complex128)
        for a in range(n):
            x[a] = q[a] + 1j * TINY
            g_of(x, gx)
            x[a] = q[a]
            for i in range(k):
                G[i * n + a] = gx[i].imag / TINY
        g_t[:] = 0.0
        return 0.0

    @jit
    def curvature(t, q, lam, out):
        rows = k + r
        g, g_t, G, change = np.zeros(rows), np.zeros(rows), np.zeros(rows * n), np.zeros(rows * n)
        y = q.copy()
        for a in range(n):
            change[:] = 0.0
            step = WIDE * size_for_steps(q, a)
            for steps, weight in ((1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)):
                y[a] = q[a] + steps * step
                constraint(t, y, g, G, g_t)
                change += weight * G
            y[a] = q[a]
            for b in range(n):
                for i in range(rows):
                    out[b * n + a] += lam[i] * change[i * n + b] / (12.0 * step)
        return 0.0

    return functions | {
        "constraint": decorators.compiled(layout.CONSTRAINT, constraint),
        "curvature": decorators.compiled(layout.CURVATURE, curvature),
    }
