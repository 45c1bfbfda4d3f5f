"""Velocities as unknowns of Gauss schemes, against the step equations at the head of `mbvi.kernels.galerkin`."""

import numba
import numpy as np
import pytest
import sympy

import mbvi
from mbvi.catalog import find_scheme
from mbvi.kernels.galerkin import equations as step_equations
from mbvi.kernels.galerkin import simplified, workspace
from mbvi.kernels.galerkin.workspace import make_space
from mbvi.kernels.mechanics.lagrangian import make_work
from mbvi.schemes.tableau import Tableau, gauss, lobatto
from mbvi.system.scheme import scheme_arrays

from ...benchmarks.systems import load
from ...system import mechanisms

T, H = 0.4, 0.1
GAUSS9 = Tableau("gauss9", lobatto(10)[0], *gauss(9), 18, "")  # more nodes than are ever evaluated at once
KINDS = ("revolute", "prismatic", "screw", "universal", "ball euler")


@numba.njit(error_model="numpy")
def fill(system, scheme, work, space):
    """Residual and correction of the simplified iteration at space.z; the largest entry of the residual."""
    size = step_equations.fill_residual(system, scheme, work, space, T, H)
    simplified.factor_simplified(system, scheme, work, space, T, H)
    simplified.solve_simplified(system, scheme, work, space, T, H)
    return size


@pytest.mark.parametrize("count", [1, 3, 5, 10])
@pytest.mark.parametrize("name", ["gauss2", "gauss3", "gauss4", "gauss5", "gauss6", "gauss8", GAUSS9])
def test_residual_and_correction(name, count):
    """Few coordinates have second derivatives of each node, more the M of the middle."""
    system = mbvi.assemble(mechanisms.random_tree(3, kinds=(KINDS * 2)[:count]))
    check_residual_and_correction(system, name, system.dimension >= workspace.ARTICULATED_FROM)


@pytest.mark.parametrize("name", ["gauss3", "gauss5", "gauss8", GAUSS9])
@pytest.mark.parametrize("model", ["double_pendulum", "chain_10"])
def test_planar_trees(model, name):
    system = mbvi.assemble(load(model))
    assert system.arrays.is_planar
    check_residual_and_correction(system, name, system.dimension >= workspace.ARTICULATED_FROM)


@pytest.mark.parametrize("name", ["gauss4", "gauss6"])
def test_forces(name):
    """Whose derivatives no correction takes."""
    system = mbvi.assemble(mechanisms.random_tree(3, kinds=KINDS, forces=("spring", "joint spring")))
    assert len(system.arrays.body_forces) or len(system.arrays.joint_forces)
    check_residual_and_correction(system, name, system.dimension >= workspace.ARTICULATED_FROM)


def test_functions_of_ones_own():
    """M of the middle serves all nodes."""
    x, y = sympy.symbols("x y")
    masses = [[2 + sympy.cos(x), y / 9], [y / 9, 1 + x**2]]
    system = mbvi.from_sympy([x, y], masses, x**4 + x * y + y**2)
    check_residual_and_correction(system, "gauss4", True)


def check_residual_and_correction(system, name, is_middle):
    """At random velocities, with second derivatives at the nodes or M at the middle of the step."""
    tableau, arrays = find_scheme(name), system.arrays
    scheme, work = scheme_arrays(tableau), make_work(system.arrays)
    space = make_space(arrays, scheme)
    assert space.has_velocities
    assert space.has_wide_nodes == (arrays.is_tree and 4 < tableau.stages <= 8)
    s, n, random = tableau.stages, system.dimension, np.random.default_rng(5)
    q, v = 0.5 * random.normal(size=(2, n))
    space.q[:], space.p[:] = q, system.momentum(q, v, T)
    V = v[:, None] + 0.1 * random.normal(size=(n, s))
    unknowns = space.z.reshape(n, -1)
    unknowns[:, :s] = V
    size = fill(arrays, scheme, work, space)
    Y = H * np.linalg.solve(tableau.B[:, 1:], V.T)
    expected, momenta = np.zeros((s, n)), 0.0
    expected[0] = space.p
    for c, b, A, B in zip(tableau.nodes, tableau.weights, tableau.A, tableau.B, strict=True):
        p, f = system.gradient(q + A[1:] @ Y, B[1:] @ Y / H, T + c * H)
        expected += b * (H * np.outer(A[:s], f) + np.outer(B[:s], p))
        momenta = max(momenta, np.abs(p).max())
    r = space.R.reshape(n, -1)
    assert not r[:, s:].any()
    found = (tableau.B[:, :s] * np.array(tableau.weights)[:, None]).T @ r[:, :s].T
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * momenta * np.abs(tableau.B).max())
    assert size == np.abs(r).max()
    correction = space.delta.reshape(n, -1)
    assert not correction[:, s:].any()
    correction, r = correction[:, :s].T, r[:, :s].T
    if is_middle or s > 8:
        places = q + (0.5 * np.tile(Y[-1], (s, 1)) if is_middle else tableau.A[:, 1:] @ Y)
        M = [system.mass_matrix(place) for place in places]
        np.testing.assert_allclose(np.einsum("iab,ib->ia", M, correction), -r, rtol=0, atol=1e-9 * np.abs(r).max())
        return
    check_two_terms_of_the_series(system, tableau, q, V.T, r, correction)


def check_two_terms_of_the_series(system, tableau, q, V, r, correction):
    """Against r_i/b_i linearized about V (s, n), with M_i at the nodes: M⁻¹ − M⁻¹ E M⁻¹."""
    unforced = mbvi.assemble(system.model.model_copy(update={"forces": {}}), "tree")
    a, b = tableau.a, np.array(tableau.weights)
    derivatives = [unforced.second_derivatives(*state) for state in zip(q + H * a @ V, V, strict=True)]
    M, pq, fv, fq = (np.array(each) for each in zip(*derivatives, strict=True))

    def solved(x):
        return np.array([np.linalg.solve(*each) for each in zip(M, x, strict=True)])

    first = -solved(r)
    moves = H * a @ first
    forces = np.einsum("iab,ib->ia", fv, first) + np.einsum("iab,ib->ia", fq, moves)
    rest = np.einsum("iab,ib->ia", pq, moves) + (a.T - b[:, None]) / b[:, None] @ (H * b[:, None] * forces)
    np.testing.assert_allclose(correction, first - solved(rest), rtol=0, atol=1e-9 * np.abs(first).max())
    assert np.abs(rest).max() > 1e-4 * np.abs(r).max()


@pytest.mark.parametrize(("name", "step", "error"), [("gauss6", 2 / 3, 0.2), ("gauss8", 0.8, 0.1)])
def test_long_steps_lead_to_the_same_solution(name, step, error):
    """Where Newton's method is judged by other residuals, these steps fail or lead to another."""
    system = mbvi.assemble(load("double_pendulum"))
    run, fine = (mbvi.simulate(system, each, step=h, duration=4.0) for each, h in ((name, step), ("gauss8", 0.01)))
    places = np.array([np.interp(run.t, fine.t, q) for q in fine.q.T]).T
    assert np.abs(run.q - places).max() < error
