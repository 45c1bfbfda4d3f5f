"""The simplified iteration with constraints, by the equations at the head of `mbvi.kernels.galerkin.simplified`."""

import numba
import numpy as np
import pytest

import mbvi
from mbvi.catalog import find_scheme
from mbvi.kernels.galerkin import simplified
from mbvi.kernels.galerkin.workspace import make_space
from mbvi.kernels.mechanics.lagrangian import make_work
from mbvi.system.scheme import scheme_arrays

from ...benchmarks.systems import load

H = 0.01


@numba.njit(error_model="numpy")
def correct(system, scheme, work, space):
    """The correction to the residual in space.R into space.delta; whether M and G are regular."""
    is_regular = simplified.factor_simplified(system, scheme, work, space, 0.0, H)
    simplified.solve_simplified(system, scheme, work, space, 0.0, H)
    return is_regular


@pytest.mark.parametrize("name", ["simpson", "gauss3", "lobatto5", "gauss6"])
@pytest.mark.parametrize(
    ("model", "is_small"),
    [
        ("spherical_pendulum", True),
        ("double_spherical_pendulum", True),
        ("heavy_top_quaternion", True),
        ("double_pendulum", False),
        ("four_bar", False),
    ],
)
def test_corrections(model, is_small, name):
    """M and G are those of the middle where their inverse is formed, and else those of the step's start."""
    system, scheme = mbvi.assemble(load(model), "embedding"), scheme_arrays(find_scheme(name))
    space, work = make_space(system.arrays, scheme), make_work(system.arrays)
    assert (len(space.inverse) > 0) == is_small
    n, k, s, random = system.dimension, system.constraint_count, len(scheme.K), np.random.default_rng(3)
    start = mbvi.simulate(system, "simpson", step=0.001, duration=0.05)
    space.q[:], space.p[:] = start.q[-1], start.p[-1]
    move = 0.01 * random.normal(size=n)
    space.z[: n * s] = np.outer(move, scheme.d[1:]).ravel()
    R = random.normal(size=(n, s))
    g = random.normal(size=(k, s))
    if not is_small and model == "four_bar":  # of constraints that follow from others, as those of a motion
        g = system.constraint_jacobian(space.q) @ random.normal(size=(n, s))
    space.R[: n * s] = R.ravel()
    space.R[space.behind : space.behind + k * s] = g.ravel()
    assert correct(system.arrays, scheme, work, space)
    q = space.q + 0.5 * move if is_small else space.q
    M, G = system.mass_matrix(q), system.constraint_jacobian(q)
    Y = space.delta[: n * s].reshape(n, s)
    impulses = space.delta[space.behind : space.behind + k * s].reshape(k, s)
    mu = np.linalg.solve(scheme.K, impulses.T).T
    assert np.allclose(G @ Y / H, -g, rtol=0, atol=1e-9 * np.abs(g).max())
    expected = -R @ scheme.K_inverse.T
    assert np.allclose(M @ Y / H + G.T @ mu, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    assert not space.delta[n * s : space.behind].any()
    assert not space.delta[space.behind + k * s :].any()
