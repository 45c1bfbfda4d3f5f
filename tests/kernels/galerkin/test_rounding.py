"""What rounding does to momenta that has one sign is taken back, or does not arise."""

import numpy as np
import pytest

import mbvi
from mbvi.catalog import find_scheme
from mbvi.kernels.galerkin import steps as galerkin
from mbvi.kernels.galerkin.workspace import make_space
from mbvi.kernels.mechanics.lagrangian import make_work
from mbvi.system.initial import find_start
from mbvi.system.scheme import scheme_arrays

from ...campaigns.drift import free_body, heavy_top, steady_body


def turned(a):
    """½ e a for turns about the world's axes e, (3, 4)."""
    w, x, y, z = a
    return np.array([[-x, w, -z, y], [-y, z, w, -x], [-z, -y, x, w]]) / 2


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize("scheme", ["midpoint", "simpson"])
@pytest.mark.parametrize("body", [free_body, steady_body])
def test_momenta_do_not_know_how_quaternions_were_rounded(body, scheme, formulation):
    """A force at a rounded quaternion would change momenta by what follows from its rounding, unless that is taken back."""
    system = mbvi.assemble(body(np.random.default_rng(5)), formulation)
    tableau, h, n = scheme_arrays(find_scheme(scheme)), 0.005, system.dimension
    space, work, start = make_space(system.arrays, tableau), make_work(system.arrays), find_start(system)
    space.q[:], space.p[:] = start.q, start.p
    unused, none, turn = np.zeros((2, 1, n)), np.zeros((2, 0, n)), slice(3, 7)

    def exact(x, low):
        return np.asarray(x[turn], np.longdouble) + low[turn]

    moved, caused = [], []
    for step in range(2000):
        q, low, p = space.q.copy(), space.q_low.copy(), exact(space.p, space.p_low)
        before = turned(exact(q, low)) @ p
        status, _ = galerkin.run(system.arrays, tableau, work, space, 0.0, h, step, step + 1, 1, *unused, *none)
        assert status == 0
        moved.append(turned(exact(space.q, space.q_low)) @ exact(space.p, space.p_low) - before)
        y = space.z[: n * tableau.K.shape[0]].reshape(n, -1)
        cause = np.zeros(3)
        for c, b, A, B in zip(tableau.c, tableau.b, tableau.A, tableau.B, strict=True):
            rounded = q + (low + y @ A[1:])
            rounding = np.asarray(q, np.longdouble) + low + y.astype(np.longdouble) @ A[1:] - rounded
            force = system.gradient(rounded, y @ B[1:] / h, c * h)[1]
            cause += h * b * turned(rounding[turn].astype(float)) @ force[turn]
        caused.append(cause)
    moved, caused = np.array(moved, float), np.array(caused)
    assert abs((moved * caused).sum() / (caused**2).sum()) < 0.3


def test_the_momentum_of_a_place_is_exact():
    """A velocity turned into the body's frame and back would be another by a rounding, which depends on the attitude."""
    for seed in range(50):
        system = mbvi.assemble(heavy_top(np.random.default_rng(seed)), "embedding")
        assert (system.momentum(system.initial_q, system.initial_v)[:3] == system.initial_v[:3]).all()  # of 1 kg
