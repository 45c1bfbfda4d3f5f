"""Planar trees against the same trees beside one that is not planar, where all are swept as trees in space."""

import numba
import numpy as np
import pytest

import mbvi
from mbvi.kernels import layout
from mbvi.kernels.compiler.lanes import lanes
from mbvi.kernels.mechanics.lagrangian import fill_gradients, make_work
from mbvi.kernels.mechanics.planar_tree import fill_directions, fill_hessian_planar, fill_masses_planar
from mbvi.kernels.mechanics.sines import ANGLE_WIDTH

from ...system import mechanisms


@numba.njit
def fill_masses(M, row, angles, system, q):
    fill_directions(angles, system, q)
    fill_masses_planar(M, row, angles, system)


@numba.njit
def fill_masses_in_lanes(M, row, angles, system, q):
    fill_directions(lanes(angles), system, lanes(q))
    fill_masses_planar(lanes(M), lanes(row), lanes(angles), system)


@numba.njit
def fill_hessian(Lvv, Lvq, Lqq, row, angles, system, q, v):
    fill_directions(lanes(angles), system, lanes(q))
    fill_hessian_planar(lanes(Lvv), lanes(Lvq), lanes(Lqq), lanes(row), lanes(angles), system, lanes(v))


def planar_tree(seed, count, is_turned, beside=False):
    """Two trees that turn about one axis each, of any bodies, with joints at any places; beside them a slider, if wanted."""
    random = np.random.default_rng(seed)
    bodies, joints = {}, {}
    for i in range(count):
        tree = i % 2
        parents, axis = [f"b{j}" for j in range(tree, i, 2)], np.eye(3)[1 + tree]
        joints[f"j{i}"] = mbvi.Revolute(
            parent=str(random.choice(parents[-2:])) if parents else "world",
            child=f"b{i}",
            axis=axis,
            position=random.normal(size=3),
            offset=random.normal(size=3),
            orientation=random.normal() * is_turned * axis,
        )
        bodies[f"b{i}"] = mechanisms.random_body(random, False)
    if beside:
        bodies["other"] = mbvi.Body(mass=1.0)
        joints["other"] = mbvi.Prismatic(parent="world", child="other", axis=(0, 0, 1))
    return mbvi.assemble(mbvi.Model(name="planar", gravity=random.normal(size=3), bodies=bodies, joints=joints))


@pytest.mark.parametrize("is_turned", [True, False])
@pytest.mark.parametrize("count", [1, 2, 5, 10])
@pytest.mark.parametrize("seed", [1, 2])
def test_gradient_and_masses(seed, count, is_turned):
    system, spatial = (planar_tree(seed, count, is_turned, beside) for beside in (False, True))
    assert system.arrays.is_planar
    assert not spatial.arrays.is_planar
    links = system.arrays.links
    is_aligned = links[links[:, layout.PARENT] >= 0, layout.ALIGNED]
    assert is_aligned.all() or is_turned
    assert (
        not is_aligned.all() or not is_turned or count < 10
    )  # rounding decides which turned frames have the axis exactly
    q, v = np.random.default_rng(seed).normal(size=(2, count))
    of = [spatial.coordinate_names.index(name) for name in system.coordinate_names]
    q_all, v_all = np.zeros((2, count + 1))
    q_all[of], v_all[of] = q, v
    for found, expected in zip(system.gradient(q, v), spatial.gradient(q_all, v_all), strict=True):
        np.testing.assert_allclose(found, expected[of], rtol=0, atol=1e-13 * np.abs(expected).max())
    expected = spatial.mass_matrix(q_all)[np.ix_(of, of)]
    M, row = np.zeros(count**2), np.zeros((count, 10))
    angles = np.zeros((count, ANGLE_WIDTH))
    fill_masses(M, row, angles, system.arrays, q)
    np.testing.assert_allclose(M.reshape(count, count), expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    M, row = np.zeros((count**2, 4)), np.zeros((count, 10, 4))
    angles = np.zeros((count, ANGLE_WIDTH, 4))
    fill_masses_in_lanes(M, row, angles, system.arrays, np.repeat(q[:, None], 4, axis=1))
    for lane in range(4):
        np.testing.assert_allclose(
            M[:, lane].reshape(count, count), expected, rtol=0, atol=1e-12 * np.abs(expected).max()
        )


@pytest.mark.parametrize("is_turned", [True, False])
@pytest.mark.parametrize("count", [1, 2, 5, 10])
def test_second_derivatives(count, is_turned):
    system, random = planar_tree(3, count, is_turned), np.random.default_rng(count)
    q, v = random.normal(size=(2, count, 4))
    found = np.zeros((3, count**2, 4))
    fill_hessian(*found, np.zeros((count, 10, 4)), np.zeros((count, ANGLE_WIDTH, 4)), system.arrays, q, v)
    for lane in range(4):
        Lvv, Lvq, _, Lqq = system.second_derivatives(q[:, lane], v[:, lane])
        for each, expected in zip(found, (Lvv, Lvq, Lqq), strict=True):
            np.testing.assert_allclose(
                each[:, lane].reshape(count, count), expected, rtol=0, atol=1e-12 * np.abs(expected).max()
            )


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("is_turned", [True, False])
def test_states_near_and_far_from_those_before(is_turned, beside):
    """What four states take from those before changes no more than roundings; at first no angles are known, not even 0."""
    system, random = planar_tree(3, 9, is_turned, beside), np.random.default_rng(4)
    q, v = np.zeros((system.dimension, 4)), random.normal(size=(system.dimension, 4))
    angles, work, p, f = (
        np.full((len(system.arrays.links), ANGLE_WIDTH, 4), np.inf),
        make_work(system.arrays),
        *np.zeros((2, *q.shape)),
    )
    for move in (0.0, 1e-9, 1e-3, 0.02, -0.02, 0.12, 0.1, 0.2, 7.0, 0.01, 1e-3, -0.15, 1e4, 0.05):
        q = q + move * random.uniform(-1, 1, q.shape)
        fill_gradients(p, f, angles, system.arrays, work, np.zeros(4), q, v)
        for lane in range(4):
            for found, expected in zip((p, f), system.gradient(q[:, lane], v[:, lane]), strict=True):
                np.testing.assert_allclose(found[:, lane], expected, rtol=0, atol=2e-15 * np.abs(expected).max())


@pytest.mark.parametrize("axis", [(0.0, 1e-3, 1.0), (0.0, 1.0, 0.0), (0.0, 0.0, -1.0)])
def test_what_is_not_planar(axis):
    link = mbvi.Body(mass=1.0, inertia=(1.0, 1.0, 1.0))
    joints = {
        "first": mbvi.Revolute(parent="world", child="a", axis=(0, 0, 1)),
        "second": mbvi.Revolute(parent="a", child="b", axis=axis),
    }
    model = mbvi.Model(name="turned", bodies={"a": link, "b": link}, joints=joints)
    assert not mbvi.assemble(model).arrays.is_planar
