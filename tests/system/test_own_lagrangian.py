"""Systems given by expressions or functions: what cannot be one is refused with a message."""

import numpy as np
import pytest
import sympy

import mbvi
from mbvi.errors import ModelError

X, Y = sympy.symbols("x y")


def mass(q, M):
    M[0, 0] = 2.0


def potential(q):
    return 3.0 * q[0] ** 2


def drag(t, q, v, F):
    F[0] -= abs(v[0]) * v[0]


def refused(call, *arguments, **options):
    with pytest.raises(ModelError) as caught:
        call(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "options", "start"),
    [
        ((X, [[1]], 0), {}, "coordinates: expected a list of different SymPy symbols"),
        (([X, X], [[1, 0], [0, 1]], 0), {}, "coordinates: expected a list of different SymPy symbols"),
        (([X], [[1, 0]], 0), {}, "mass_matrix: expected 1 × 1 expressions, found 1 × 2"),
        (([X, Y], [[1, X], [0, 1]], 0), {}, "mass_matrix: expected a symmetric matrix"),
        (([X], [[Y]], 0), {}, "mass_matrix: expected a value for every symbol, found none for y"),
        (([X], [[Y]], 0), {"parameters": {Y: np.nan}}, "parameters: expected a finite number"),
        (
            ([X], [[1]], X),
            {"parameters": {X: 3.0}},
            "parameters: expected a finite number for a symbol that is no coord",
        ),
        (([X], [[1]], sympy.Function("f")(X)), {}, "lagrangian: expected expressions of elementary functions"),
        (([X], [[1]], 0), {"constraints": X}, "lagrangian: expected a square matrix, an expression and lists"),
    ],
)
def test_expressions_that_are_refused(arguments, options, start):
    assert refused(mbvi.from_sympy, *arguments, **options).startswith(start)


def test_wrong_derivatives_are_found_also_beside_a_force():
    message = refused(mbvi.from_functions, ["x"], mass, lambda q: abs(q[0]) ** 3, force=drag, initial_q=[0.5])
    assert "expected functions that continue analytically, found ∂L/∂x" in message


def test_wrong_derivatives_of_constraints_are_found():
    def constraint(q, g):
        g[0] = abs(q[0]) - 0.5

    message = refused(
        mbvi.from_functions, ["x"], mass, potential, constraints=constraint, constraint_count=1, initial_q=[0.5]
    )
    assert "found ∂g/∂x" in message


def test_unsymmetric_mass_matrix():
    def skewed(q, M):
        M[0, 0] = M[1, 1] = 1.0
        M[0, 1], M[1, 0] = 0.5, 0.0

    assert "expected a symmetric matrix" in refused(mbvi.from_functions, ["x", "y"], skewed, potential)


def test_names_are_a_list():
    assert refused(mbvi.from_functions, "x", mass, potential).startswith("coordinate_names: expected a list of names")


def test_force_of_ones_own_takes_the_energy_it_should():
    # x'' = −3 x − |x'| x'/2 against the same by Runge and Kutta.
    from scipy.integrate import solve_ivp

    system = mbvi.from_functions(["x"], mass, potential, force=drag, initial_q=[1.0])
    run = mbvi.simulate(system, "gauss4", step=0.05, duration=5)
    exact = solve_ivp(
        lambda t, y: [y[1], -3 * y[0] - abs(y[1]) * y[1] / 2], (0, 5), [1, 0], "DOP853", rtol=1e-12, atol=1e-13
    )
    assert run.q[-1, 0] == pytest.approx(exact.y[0, -1], abs=1e-6)  # |v| v has only one derivative
