"""Systems given by expressions or functions: what cannot be one is refused with a message."""

from fractions import Fraction

import numba
import numpy as np
import pytest
import sympy

import mbvi
from mbvi.errors import ModelError
from mbvi.system.chart import sympy_chart
from tests.marks import sample

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
        (
            ([X], [[1]], sympy.Abs(X) + sympy.cos(X)),
            {},
            "lagrangian: expected expressions of elementary functions that are smooth, found one that cannot be compiled: Abs",
        ),
        (([X], [[1]], 0), {"constraints": X}, "lagrangian: expected a square matrix, an expression and lists"),
        (([X], [[1]], 0), {"time": X}, "time: expected a symbol that is no coordinate, found x"),
        (([X], [[1]], 0), {"time": []}, "time: expected a symbol that is no coordinate, found []"),
        (([X], [[1]], 0), {"velocities": [X]}, "velocities: expected symbols that are no coordinates, found [x]"),
        (([X], [[1]], 0), {"parameters": [1]}, "parameters: expected a mapping of symbols to numbers, found [1]"),
        (([X], [[1]], 0), {"parameters": {1: 2.0}}, "parameters: expected a finite number for a symbol"),
        (([X], [[1]], 0), {"initial_q": "text"}, "initial_q: expected 1 number, found 'text'"),
        (([X], [[1]], 0), {"initial_v": [np.inf]}, "initial_v: expected finite numbers, found inf for x"),
        (([X], [[1]], 0), {"name": "a\0b"}, "name: expected a name of printable characters, found 'a\\x00b'"),
        (
            ([X, sympy.Symbol("x", real=True)], sympy.eye(2), 0),
            {},
            "coordinates: expected a list of names, all different and",
        ),
    ],
)
def test_expressions_that_are_refused(arguments, options, start):
    assert refused(mbvi.from_sympy, *arguments, **options).startswith(start)


@pytest.mark.parametrize("what", ["mass_matrix", "potential", "constraints", "forces"])
@pytest.mark.parametrize("value", ["open('made', 'w')", None, True, X > 0])
def test_only_expressions_and_numbers_are_read(what, value, tmp_path, monkeypatch):
    """Of text, SymPy would execute what stands in it."""
    monkeypatch.chdir(tmp_path)
    values = {"mass_matrix": [[1]], "potential": 0}
    values |= {what: {"mass_matrix": [[value]], "potential": value}.get(what, [value])}
    message = refused(mbvi.from_sympy, [X], **values)
    assert message == (
        "lagrangian: expected a square matrix, an expression and lists of expressions, found "
        f"{'nothing' if value is None else repr(value)} in {what}; give SymPy expressions and numbers"
    )
    assert not list(tmp_path.iterdir())


def test_fractions_are_numbers():
    assert mbvi.from_sympy([X], [[Fraction(1, 2)]], X**2).mass_matrix([0.0])[0, 0] == 0.5


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


def writes_two(q, g):
    g[0] = g[1] = q[0]


def writes_one(q, g):
    g[0] = q[0]


def beyond_the_coordinates(*arguments):
    return arguments[-1][3]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"constraints": writes_two, "constraint_count": 1},
            "constraints: expected indices within the arrays, found index 1 is out of bounds for axis 0 with size 1",
        ),
        (
            {"constraints": writes_one, "constraint_count": 2},
            "constraints: expected a function that writes all 2 of g, found g[1] not written",
        ),
        ({"mass_matrix": beyond_the_coordinates}, "mass_matrix: expected indices within the arrays"),
        ({"potential": beyond_the_coordinates}, "potential: expected indices within the arrays"),
        ({"force": beyond_the_coordinates}, "force: expected indices within the arrays"),
        ({"constraints": writes_one, "constraint_count": 1.0}, "constraint_count: expected the number of constraints"),
    ],
)
def test_sizes_that_do_not_fit(options, message):
    functions = {"mass_matrix": mass, "potential": potential}
    assert refused(mbvi.from_functions, ["x"], **(functions | options)).startswith(message)


def forgotten(q):
    q[0] ** 2


def an_array(q):
    return q


def of_one(q):
    return np.array([q[0]])


def complex_number(q):
    return 1j + q[0]


def of_text(q):
    return "a"


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (forgotten, "nothing in line {} of test_own_lagrangian.py, `def forgotten(q):`; end it with return …"),
        (
            an_array,
            "an array of shape (1,) in line {} of test_own_lagrangian.py, `return q`; return one number",
        ),
        (
            of_one,
            "an array of shape (1,) in line {} of test_own_lagrangian.py, `return np.array([q[0]])`; return one number",
        ),
        (complex_number, "1j in line {} of test_own_lagrangian.py, `return 1j + q[0]`; return one number"),
        (of_text, "'a' in line {} of test_own_lagrangian.py, `return \"a\"`; return one number"),
    ],
)
def test_a_potential_that_is_no_number(function, found):
    line = function.__code__.co_firstlineno + (function is not forgotten)
    message = f"potential: expected a function that returns a number, found {found.format(line)}"
    assert refused(mbvi.from_functions, ["x"], mass, function) == message


def test_a_potential_that_is_no_number_where_it_is_defined():
    """What it returns is asked of numba where calling it at the start tells nothing."""

    def text_or_error(q):
        if q[0].real > 5:
            return "a"
        raise ValueError

    message = refused(mbvi.from_functions, ["x"], mass, text_or_error)
    assert message.startswith("potential: expected a function that returns a number, found one that may return ")


def test_a_whole_number_is_one():
    assert mbvi.from_functions(["x"], mass, lambda q: 3).energy([0.0], [1.0]) == 4.0


def test_functions_that_are_not_defined_everywhere():
    """What they write is looked at at the start, and other places need not make sense."""
    table = np.linspace(0.0, 1.0, 10)

    def bend(q, g):
        g[0] = np.sqrt(2.0 - q[0]) + 0.0 / (q[0] - 1.0) - 1.0

    def looked_up(t, q, v, F):
        if q[0] > 0.8:
            raise RuntimeError("beyond its table")
        F[0] += table[int(10 * q[0])]

    arguments = {"constraints": bend, "constraint_count": 1, "force": looked_up, "initial_q": [0.5]}
    found = mbvi.from_functions(np.array(["x"]), mass, potential, **arguments).gradient([0.5], [0.0])
    assert found[1][0] == pytest.approx(-3.0 + 5 / 9, rel=1e-15)


def test_unsymmetric_mass_matrix():
    def skewed(q, M):
        M[0, 0] = M[1, 1] = 1.0
        M[0, 1], M[1, 0] = 0.5, 0.0

    assert "expected a symmetric matrix" in refused(mbvi.from_functions, ["x", "y"], skewed, potential)


@pytest.mark.parametrize("names", ["x", ["x", "x"], [1], [], None, ["a\0b"]])
def test_names_are_a_list(names):
    assert refused(mbvi.from_functions, names, mass, potential).startswith("coordinate_names: expected a list of names")


def test_force_of_ones_own_takes_the_energy_it_should():
    # x'' = −3 x − |x'| x'/2 against the same by Runge and Kutta.
    from scipy.integrate import solve_ivp

    system = mbvi.from_functions(["x"], mass, potential, force=drag, initial_q=[1.0])
    run = mbvi.simulate(system, "gauss4", step=0.05, duration=5)
    exact = solve_ivp(
        lambda t, y: [y[1], -3 * y[0] - abs(y[1]) * y[1] / 2], (0, 5), [1, 0], "DOP853", rtol=1e-12, atol=1e-13
    )
    assert run.q[-1, 0] == pytest.approx(exact.y[0, -1], abs=1e-6)  # |v| v has only one derivative


# A particle with a mass for each direction on the unit sphere, and on it in a plane, held by rows that follow from others.
POINT = X, Y, Z = sympy.symbols("x y z")
TIME = sympy.Symbol("t")
SPHERE = (X**2 + Y**2 + Z**2 - 1) / 2
PLANE = X - Y / 3 - Z / 9 - 13 / sympy.Integer(15)
SWAYING = ((X - TIME**2 / 5) ** 2 + Y**2 + Z**2 - 1) / 2
REDUNDANT = {  # all rows, and how many of the first are independent
    "a copy": ([SPHERE, SPHERE], 1),
    "multiples": ([SPHERE, 3 * SPHERE, -SPHERE], 1),
    "dependent on the sphere only": ([SPHERE, (2 + X) * SPHERE], 1),
    "a sum": ([SPHERE, PLANE, SPHERE + 2 * PLANE], 2),
    "a copy of a function of time": ([SWAYING, SWAYING], 1),
}


def particle(constraints):
    start = {"initial_q": [0.8, 0.0, -0.6], "initial_v": [0.0, 1.5, 0.0]}
    return mbvi.from_sympy(
        POINT, sympy.diag(1, 2, 3), 5 * Z, time=TIME, constraints=constraints, name="particle", **start
    )


@pytest.mark.parametrize("scheme", ["midpoint", "gauss4"])
@pytest.mark.parametrize("case", REDUNDANT)
def test_redundant_constraints_of_ones_own(case, scheme):
    """Motion and forces as without the redundant rows; of all multipliers for these forces, those of least norm."""
    rows, independent = REDUNDANT[case]
    found, expected = (
        mbvi.simulate(particle(each), scheme, step=0.01, duration=2) for each in (rows, rows[:independent])
    )
    assert np.abs(found.q - expected.q).max() < 1e-13
    assert np.abs(found.p - expected.p).max() < 1e-12
    for i in range(0, 201, 20):
        G = found.system.constraint_jacobian(found.q[i], found.t[i])
        force = expected.multipliers[i] @ expected.system.constraint_jacobian(expected.q[i], expected.t[i])
        least = np.linalg.lstsq(G.T, force, rcond=1e-9)[0]
        assert found.multipliers[i] == pytest.approx(least, abs=1e-9 if case.endswith("time") else 1e-11)
    mobility = found.system.mobility
    assert (mobility.degrees_of_freedom, mobility.redundant) == (3 - independent, len(rows) - independent)
    assert mobility.origins == tuple(f"g{i}" for i in range(len(rows)))


def test_redundant_constraints_of_functions():
    def mass_of_two(q, M):
        M[0, 0] = M[1, 1] = 2.0

    def weight(q):
        return 5.0 * q[1]

    def circle(q, g):
        g[0] = 0.5 * (q[0] ** 2 + q[1] ** 2 - 1.0)

    def circle_twice(q, g):
        g[0] = 0.5 * (q[0] ** 2 + q[1] ** 2 - 1.0)
        g[1] = -2.0 * g[0]

    found, expected = (
        mbvi.simulate(
            mbvi.from_functions(
                ["x", "y"], mass_of_two, weight, constraints=g, constraint_count=k, initial_q=[0.8, -0.6]
            ),
            "simpson",
            step=0.01,
            duration=2,
        )
        for g, k in ((circle_twice, 2), (circle, 1))
    )
    assert np.abs(found.q - expected.q).max() < 1e-13
    assert found.multipliers == pytest.approx(expected.multipliers * [[0.2, -0.4]], abs=1e-11)
    assert found.system.mobility.origins == ("g0", "g1")


SMALL = [(1.0, 1e-11), (1e-2, 1e-11), (1e-4, 1e-7), (1e-6, 1e-6)]


@pytest.mark.parametrize("length_and_error", sample(SMALL, 3))
def test_multipliers_of_small_coordinates(length_and_error):
    """The curvature of a constraint is a difference of its exact Jacobians; here it is nearly all of the multiplier."""
    length, error = length_and_error

    def unit_mass(q, M):
        M[0, 0] = M[1, 1] = 1.0

    def rod(q, g):
        g[0] = np.sqrt(q[0] ** 2 + q[1] ** 2) - length

    q, v = [0.6 * length, -0.8 * length], [0.8, 0.6]
    system = mbvi.from_functions(
        ["x", "y"], unit_mass, lambda q: 0.0 * q[0], constraints=rod, constraint_count=1, initial_q=q
    )
    (((found,),),) = system.accelerations_and_multipliers([0.0], [q], [v])[1:]
    assert found == pytest.approx(-1 / length, rel=error)


def test_redundant_constraints_before_any_run():
    found, expected = particle([SPHERE, 3 * SPHERE]), particle([SPHERE])
    state = [0.8, 0.0, -0.6], [0.0, 1.5, 0.0]
    assert found.acceleration(*state) == pytest.approx(expected.acceleration(*state), rel=1e-14)


def test_start_where_no_constraint_is_independent_loses_none():
    """At the origin the sphere's gradient is 0: a system that was made there still has its constraint elsewhere."""
    found = mbvi.from_sympy(POINT, sympy.eye(3), 5 * Z, constraints=[SPHERE])
    assert found.acceleration([0.0, 0.0, -1.0], [2.0, 0.0, 0.0]) == pytest.approx([0.0, 0.0, 4.0], abs=1e-15)


@pytest.mark.parametrize(
    ("rows", "left"),
    [([X, X - 1], "0.5 left of g0, g1"), ([X, Y, SPHERE, X + Y - 1], "0.333 left of g0, g1, g3")],
)
def test_constraints_that_contradict_each_other(rows, left):
    assert refused(mbvi.simulate, particle(rows), step=0.01, duration=1) == (
        f"particle: expected constraints that can be satisfied, found |g| = {left}; if they do not contradict each other, "
        "start nearer, by initial_q"
    )


def test_numbers_keep_all_their_digits():
    number = 0.12349476185750342
    system = mbvi.from_sympy([X], [[number]], X**2 / 3 * number)
    assert system.mass_matrix([0.0])[0, 0] == number
    assert system.gradient([1.0], [0.0])[1][0] == pytest.approx(-2 / 3 * number, rel=2e-16)


def test_poles_are_infinite():
    """Of powers below 0 too, of which numba's are an exception that nobody sees and leave outputs as they were."""
    for potential in (1 / X, X**-3 + 2 / X**2, sympy.sqrt(X) ** -1):
        system = mbvi.from_sympy([X], [[1]], potential, initial_q=[1.0])
        assert system.potential([0.0]) == np.inf
        assert system.gradient([0.0], [0.0])[1][0] == np.inf
        slope = float(-sympy.diff(potential, X).subs(X, 2))
        assert system.gradient([2.0], [0.0])[1][0] == pytest.approx(slope, rel=1e-15)


@pytest.mark.parametrize(
    ("mass", "names"), [([[-1, 0], [0, 1]], "x"), ([[1, 0], [0, 0]], "y"), ([[1, 1], [1, 1]], "x and y")]
)
def test_mass_matrices_that_are_not_positive_definite(mass, names):
    x, y = sympy.symbols("x y")
    message = (
        f"mass_matrix: expected a positive definite matrix at the start, found one by which motion along {names} has no"
    )
    with pytest.raises(mbvi.ModelError, match=message):
        mbvi.simulate(mbvi.from_sympy([x, y], mass, x**2), step=0.1, duration=1)


def test_a_parameter_is_named_whatever_its_symbol_assumes():
    m = sympy.Symbol("m", positive=True)
    assert mbvi.from_sympy([X], [[m]], X**2, parameters={"m": 2.0}).mass_matrix([0.0])[0, 0] == 2.0
    chart = sympy_chart([X], [m * sympy.sin(X)], [0.0], parameters={"m": 2.0})
    np.testing.assert_allclose(chart.coordinates([1.0]), [np.pi / 6], rtol=1e-14)


@pytest.mark.parametrize("number", [6 * 10**24, 2**63])
def test_numbers_longer_than_those_of_a_processor(number):
    system = mbvi.from_sympy([X], [[Y]], number * X**2, parameters={Y: number})
    assert (system.mass_matrix([0.0])[0, 0], system.potential([1.0])) == (float(number), float(number))


def test_truth_is_no_value():
    message = refused(mbvi.from_sympy, [X], [[Y]], 0, parameters={Y: True})
    assert message == "parameters: expected a finite number for a symbol that is no coordinate, found True for y"


def test_a_chart_is_of_expressions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "open('made', 'w')" in refused(sympy_chart, [X], ["open('made', 'w')"], [0.0])
    assert refused(sympy_chart, "x", [X], [0.0]).startswith("coordinates: expected a list of different SymPy symbols")
    assert not list(tmp_path.iterdir())


@numba.njit
def far(q):
    if q[0].real > 1.5:
        raise ValueError("far")


def far_mass(q, M):
    M[0, 0] = 2.0
    far(q)


def far_potential(q):
    far(q)
    return -0.1 * q[0]


def far_force(t, q, v, F):
    far(q)


def far_constraint(q, g):
    g[0] = q[0] - q[1]
    far(q)


def unit_masses(q, M):
    M[:] = np.eye(2)


def of_functions(**functions):
    given = {"mass_matrix": mass, "potential": potential, "force": None, "constraints": None} | functions
    n = 2 if given["constraints"] else 1
    return mbvi.from_functions(["x", "y"][:n], **given, constraint_count=n - 1, initial_v=[3.0] * n)


@pytest.mark.parametrize(
    "functions",
    [
        {"mass_matrix": far_mass, "potential": lambda q: -0.1 * q[0]},
        {"potential": far_potential},
        {"potential": lambda q: -0.1 * q[0], "force": far_force},
        {"mass_matrix": unit_masses, "potential": lambda q: -0.1 * q[0], "constraints": far_constraint},
    ],
)
def test_a_step_fails_where_a_function_raises(functions, capfd):
    """Compiled, what they raise would be lost, and with it what they had not yet written."""
    with pytest.raises(mbvi.StepError, match="infinite or not a number") as caught:
        mbvi.simulate(of_functions(**functions), "midpoint", 0.01, 2.0)
    assert abs(caught.value.trajectory.q[-1, 0] - 1.5) < 0.05
    assert capfd.readouterr().err == ""
