"""Steps are solved to rounding: what Newton's iteration, by the Jacobian at the accepted solution, still changes."""

import numba
import numpy as np
import pytest
import sympy

import mbvi
from mbvi.catalog import find_scheme
from mbvi.kernels.galerkin import equations as step_equations
from mbvi.kernels.galerkin import iterations, newton
from mbvi.kernels.galerkin import steps as galerkin
from mbvi.kernels.galerkin.workspace import NEWTON_FACTORS, make_space
from mbvi.kernels.mechanics.lagrangian import make_work
from mbvi.system.initial import find_start
from mbvi.system.scheme import scheme_arrays

from ...benchmarks.systems import chain, hung_chain, load


@numba.njit(error_model="numpy")
def polish(system, scheme, work, space, h):
    """More iterations of Newton's method from space.z, where it is good."""
    iterations.forget_angles(space)
    for _ in range(4):
        step_equations.fill_residual(system, scheme, work, space, 0.0, h)
        newton.factor_newton(system, scheme, work, space, 0.0, h)
        newton.solve_newton(system, scheme, work, space, 0.0, h)
        iterations.correct(space, 1.0, space.delta)


def left_after(system, scheme, h, steps, push=0.0):
    """What polishing still changes of the unknowns of so many steps, relative, at most; steps done, and Newton's Jacobians.

    push   added to the momenta of the start, each by a factor of its own
    """
    tableau = scheme_arrays(find_scheme(scheme))
    start, n = find_start(system), system.dimension
    spaces = [make_space(system.arrays, tableau) for _ in range(2)]
    works = [make_work(system.arrays) for _ in range(2)]
    space, other = spaces
    space.q[:], space.p[:] = start.q, start.p + push * np.cos(np.arange(n))
    unused, none, left = np.zeros((2, 1, n)), np.zeros((2, 0, n)), 0.0
    for step in range(steps):
        for field in ("q", "q_low", "p", "p_low"):
            getattr(other, field)[:] = getattr(space, field)
        status, _ = galerkin.run(system.arrays, tableau, works[0], space, 0.0, h, step, step + 1, 1, *unused, *none)
        if status:  # too long a step, which is refused
            break
        other.z[:], other.measure[:] = space.z, space.measure
        polish(system.arrays, tableau, works[1], other, h)
        left = max(left, np.abs(other.z - space.z).max() / np.abs(space.z).max())
    return left, step, space.count[NEWTON_FACTORS]


@pytest.mark.parametrize(
    ("name", "scheme", "h", "limit"),
    [
        ("double_pendulum", "midpoint", 0.25, 2e-13),
        ("double_pendulum", "gauss3", 0.25, 1e-13),
        ("double_pendulum", "gauss4", 0.3, 1e-13),
        ("chain_10", "gauss3", 0.01, 1e-12),
        ("chain_10", "gauss3", 0.02, 1e-12),
    ],
)
def test_long_steps_are_solved_to_rounding(name, scheme, h, limit):
    """Accelerated corrections may grow once while they are a thousand roundings."""
    left, step, _ = left_after(mbvi.assemble(load(name)), scheme, h, 250)
    assert step > 90
    assert left < limit


@pytest.mark.parametrize(
    ("joint", "links", "scheme", "h", "pushes", "limit"),
    [
        ("ball", 20, "simpson", 0.005, 8, 4e-11),
        ("ball", 20, "gauss3", 0.005, 8, 4e-11),
        ("universal", 50, "midpoint", 0.005, 1, 1e-9),
        ("universal", 50, "simpson", 0.01, 1, 4e-9),
    ],
)
def test_long_trees_are_solved_without_a_dense_matrix(joint, links, scheme, h, pushes, limit):
    """The simplified iteration alone would diverge: h² times the second derivatives are up to ten times M.

    The rounding of forces is large beside small spins: Newton's iteration leaves up to 1.7e-11 of the balls, 1.2e-10 and 4e-10 of
    the others. That an accelerated correction grows by much at the end shows in one of a few hundred steps.
    """
    system = mbvi.assemble(hung_chain(links, joint), "tree")
    for push in range(pushes):
        left, step, jacobians = left_after(system, scheme, h, 30, 1e-6 * push)
        assert (step, jacobians) == (29, 0)
        assert left < limit


@pytest.mark.parametrize("push", [3e-6, 4.5e-5, 5.9e-5])
def test_noise_is_not_accelerated(push):
    """A correction that follows one which was noise is noise too, and its acceleration could lengthen it a thousand times."""
    left, step, jacobians = left_after(mbvi.assemble(hung_chain(20, "ball"), "tree"), "gauss3", 0.005, 30, push)
    assert (step, jacobians) == (29, 0)
    assert left < 2e-11


def test_slow_corrections_of_newton_are_no_rounding():
    """With the Jacobian of a step before they shrink slowly while they are 1e-9 of the unknowns, and Newton's method goes on."""
    system = mbvi.assemble(hung_chain(20, "ball"), "tree")
    left, step, jacobians = zip(
        *(left_after(system, "gauss3", 0.005, 2, push) for push in (3e-4, 3.003e-4)), strict=True
    )
    assert step == (1, 1) and min(jacobians) > 0
    assert max(left) < 4e-11


@pytest.mark.parametrize(("start", "speed"), [(1.0, 0.0), (1.0, -0.3), (0.1, 1.0)])
def test_a_correction_to_where_there_is_no_force_is_halved(start, speed):
    """V = x^(3/2), which is not a number where x < 0, with a step that Newton's first correction leads there."""
    x, h = sympy.symbols("x"), 3.0
    system = mbvi.from_sympy([x], [[1.0]], x ** sympy.Rational(3, 2))
    run = mbvi.simulate(system, "midpoint", step=h, duration=h, initial_q=[start], initial_v=[speed])
    move = run.q[1, 0] - start
    force = -1.5 * np.sqrt(start + 0.5 * move)
    assert speed - move / h + 0.5 * h * force == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize(
    ("scheme", "h", "most"), [("midpoint", 0.001, 5), ("simpson", 0.005, 12), ("gauss3", 0.005, 11)]
)
@pytest.mark.parametrize("count", [20, 100])
def test_rounding_of_long_chains_is_taken_for_that(count, scheme, h, most):
    """It is many times that of one momentum, and no reason for Newton's iteration, with a dense matrix."""
    found = mbvi.simulate(mbvi.assemble(chain(count)), scheme, step=h, duration=100 * h).statistics
    assert found.newton_factorizations == 0
    assert found.iterations <= most * found.steps
