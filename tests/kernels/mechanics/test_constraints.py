"""Constraints by differences and by power: joints of all types that are cut and all constraints, on random mechanisms."""

import numpy as np
import pytest

from mbvi.kernels import layout
from mbvi.kernels.mechanics.constraints import add_curvature, fill_curvature_rate
from mbvi.kernels.mechanics.lagrangian import fill_poses, fill_wrenches
from mbvi.system.assemble import built

from ...system import mechanisms
from .test_derivatives import close, derivative, jacobian

T = 0.4
GRAPHS = {
    "tree": {"formulation": "tree"},
    "tree, forces on joints": {"formulation": "tree", "forces": ("joint spring", "joint damper"), "ties": ()},
    "tree, half cut": {"formulation": "tree", "mixed": True},
    "embedding": {"formulation": "embedding"},
    "embedding, half kept": {"formulation": "embedding", "mixed": True},
}


@pytest.fixture(params=GRAPHS, scope="module")
def system(request):
    model = mechanisms.random_graph(list(GRAPHS).index(request.param), **GRAPHS[request.param])
    return built(model).system(model, None)  # no start is looked for, since the constraints do not fit together


@pytest.fixture(params=[True, False], ids=["unit quaternions", "quaternions of norm 1.2"])
def state(system, request):
    return mechanisms.random_state(system, 1, on_sphere=request.param)


def test_every_kind_is_there(system):
    kinds = system.arrays.constraints[:, layout.CONSTRAINT_KIND]
    is_tied = bool(system.model.constraints)
    assert set(kinds) >= {layout.UNIT_QUATERNION, layout.ALONG, layout.ACROSS}
    assert is_tied == (layout.DISTANCE in kinds) == (layout.COORDINATES in kinds)
    assert is_tied == np.any(system.arrays.constraints[:, layout.ARGUMENT] >= 0)


def test_jacobian(system, state):
    q, _ = state
    assert close(system.constraint_jacobian(q, T), jacobian(lambda x: system.constraint(x, T), q), 1e-11)


def test_rate_by_time(system, state):
    q, _ = state
    _, _, g_t = system._constraints(q, T)
    assert close(g_t, derivative(lambda s: system.constraint(q, T + s)), 1e-11)
    assert system.is_driven == bool(np.any(g_t)) == bool(system.model.constraints)


def test_what_the_time_adds_to_the_second_rate(system, state):
    """2 (∂G/∂t) v + ∂²g/∂t²."""
    q, v = state

    def rate(s):
        _, G, g_t = system._constraints(q, T + s)
        return 2 * G @ v + g_t

    p_t, g_tt = system._time_rates(T, q, v)
    assert close(g_tt, derivative(rate), 1e-11)
    assert not p_t.any()


def test_curvature_along_a_velocity(system, state):
    q, v = state
    found = np.zeros(system.constraint_count)
    fill_curvature_rate(found, system.arrays, system.work, T, q, v)
    assert close(found, derivative(lambda s: system.constraint_jacobian(q + s * v, T) @ v), 1e-10)


@pytest.mark.parametrize(("s", "row_stage", "column_stage"), [(1, 0, 0), (2, 1, 0)])
def test_curvature_of_all_constraints(system, state, s, row_stage, column_stage):
    q, _ = state
    arrays, lam = system.arrays, np.random.default_rng(2).normal(size=system.constraint_count)
    stored = np.zeros(s * s * arrays.matrix_size)
    add_curvature(stored, arrays, system.work, T, q, lam, 0.5, s, row_stage, column_stage)
    full = mechanisms.full_matrix(arrays, stored, s)
    rows, columns = (mechanisms.stage_places(arrays, s, stage)[0] for stage in (row_stage, column_stage))
    expected = 0.5 * jacobian(lambda x: system.constraint_jacobian(x, T).T @ lam, q)
    assert close(full[np.ix_(rows, columns)], expected, 1e-10)
    full[np.ix_(rows, columns)] = 0.0
    assert not full.any()


def twist(system, link, q, v):
    """Moment-like first: angular velocity, and velocity of what is at the world's origin, by differences along q + s v."""
    if link < 0:
        return np.zeros(6)

    def pose(s):
        place, rotation = np.zeros((1, 3)), np.zeros((1, 3, 3))
        fill_poses(place, rotation, system.arrays, system.work, link, (q + s * v)[None])
        return np.hstack([rotation[0], place[0][:, None]])

    now, rate = pose(0.0), derivative(pose)
    spin = rate[:, :3] @ now[:, :3].T
    omega = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
    return np.concatenate([omega, rate[:, 3] - np.cross(omega, now[:, 3])])


def test_power_of_wrenches(system):
    """λ G v is the power of the wrench on link b and its opposite on link a; a function's argument has its own."""
    q, v = mechanisms.random_state(system, 1)
    wrenches = np.zeros((system.constraint_count, 6))
    fill_wrenches(wrenches, system.arrays, system.work, T, q)
    G = system.constraint_jacobian(q, T)
    twists = [twist(system, link, q, v) for link in range(len(system.arrays.links))] + [np.zeros(6)]
    for i, (kind, a, b, _, argument, *_) in enumerate(system.arrays.constraints):
        if kind in (layout.UNIT_QUATERNION, layout.COORDINATES):
            assert not wrenches[i].any()
            continue
        rate = G[i] @ v - (G[i, argument] * v[argument] if argument >= 0 else 0.0)
        scale = np.abs(wrenches[i]) @ (np.abs(twists[a]) + np.abs(twists[b]))
        assert abs(wrenches[i] @ (twists[b] - twists[a]) - rate) < 1e-11 * scale
