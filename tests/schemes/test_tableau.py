"""What follows from the numbers of every scheme alone: exactness, symmetry, order conditions of the compositions."""

import itertools
import math

import numpy as np
import pytest

from mbvi.catalog import find_scheme
from mbvi.errors import ModelError
from mbvi.schemes.galerkin import TABLEAUX
from mbvi.schemes.tableau import Tableau, gauss, lobatto

SCHEMES = TABLEAUX
every_scheme = pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
COMPOSITIONS = {name: scheme for name, scheme in SCHEMES.items() if len(scheme.fractions) > 1}
every_composition = pytest.mark.parametrize("scheme", COMPOSITIONS.values(), ids=COMPOSITIONS)


def degree_of_exactness(nodes, weights):
    """The highest degree whose monomials, about 1/2, a quadrature on [0, 1] integrates exactly."""
    x = 2 * np.array(nodes) - 1
    basis = np.polynomial.legendre.Legendre.basis
    errors = (abs(weights @ basis(degree)(x) - (degree == 0)) for degree in itertools.count())
    return next(degree for degree, error in enumerate(errors) if error > 1e-13) - 1


def base_order(scheme):
    """Order of the scheme that a composition is made of: superconvergence takes the quadrature's degree + 1."""
    return min(degree_of_exactness(scheme.nodes, scheme.weights) + 1, 2 * scheme.stages)


@every_scheme
def test_control_points_run_from_0_to_1(scheme):
    points = np.array(scheme.control_points)
    assert (points[0], points[-1]) == (0.0, 1.0)
    assert np.all(np.diff(points) > 0)


@every_scheme
def test_quadrature_is_exact(scheme):
    assert sum(scheme.weights) == pytest.approx(1.0, abs=1e-15)
    assert min(scheme.weights) > 0
    m = len(scheme.nodes)
    ends = int(np.isclose(min(scheme.nodes), 0)) + np.isclose(max(scheme.nodes), 1)  # none: Gauss, both: Lobatto
    assert degree_of_exactness(scheme.nodes, scheme.weights) == 2 * m - 1 - ends


@every_scheme
def test_basis_interpolates(scheme):
    s = scheme.stages
    for degree in range(s + 1):
        at_points = np.array(scheme.control_points) ** degree
        c = np.array(scheme.nodes)
        np.testing.assert_allclose(scheme.A @ at_points, c**degree, rtol=0, atol=1e-13)
        slope = degree * c ** max(degree - 1, 0)
        np.testing.assert_allclose(scheme.B @ at_points, slope, rtol=0, atol=1e-12)


@every_scheme
def test_velocities_at_gauss_nodes_give_places(scheme):
    s, c = scheme.stages, np.array(scheme.nodes)
    if len(c) != s:
        assert scheme.a.size == 0
        return
    for degree in range(s):
        np.testing.assert_allclose(scheme.a @ c**degree, c ** (degree + 1) / (degree + 1), rtol=0, atol=1e-15)


def test_other_weights_are_not_those_of_velocities():
    assert Tableau("off", (0.0, 0.5, 1.0), (0.25, 0.75), (0.4, 0.6), 1, "").a.size == 0


@every_scheme
def test_velocities_ahead_are_those_of_the_polynomials_ahead(scheme):
    s = scheme.stages
    if not (scheme.a.size and scheme.ahead.size):
        assert not scheme.ahead_of_velocities.any()
        return
    increments = np.random.default_rng(1).normal(size=2 * s)
    rates = np.concatenate([scheme.B[:, 1:] @ each for each in (increments[:s], increments[s:])])
    expected = scheme.B[:, 1:] @ scheme.ahead[0] @ increments
    np.testing.assert_allclose(scheme.ahead_of_velocities[0] @ rates, expected, rtol=1e-9)


@every_scheme
def test_leading_matrix_is_regular(scheme):
    assert scheme.K.shape == (scheme.stages, scheme.stages)
    assert np.linalg.cond(scheme.K) < 1e4


@every_scheme
def test_control_weights_integrate(scheme):
    w = scheme.control_weights
    points = np.array(scheme.control_points)
    for degree in range(scheme.stages + 1):
        assert w @ points**degree == pytest.approx(1 / (degree + 1), abs=1e-14)
    assert np.all(w > 0)


@every_scheme
def test_extrapolation_is_exact_for_polynomials(scheme):
    """Of increments to degree s + 1, and of impulses h w λ to degree s in λ, from the two steps before [0, 1]."""
    s, points, w = scheme.stages, np.array(scheme.control_points), scheme.control_weights
    assert scheme.ahead.shape == (2, s, 2 * s if s >= 3 and len(scheme.fractions) == 1 else 0)
    if scheme.ahead.size == 0:
        return
    weights = np.array([w[0] + w[-1], *w[1:-1]])  # of a step's start, the end before it has its part
    for degree in range(s + 2):
        x = np.polynomial.Polynomial.basis(degree, domain=[-2, 1])

        def increments(start, x=x):
            return x(start + points[1:]) - x(start)

        found = scheme.ahead[0] @ np.concatenate([increments(-1), increments(-2)])
        np.testing.assert_allclose(found, increments(0), rtol=0, atol=1e-9)
        if degree <= s:
            impulses = [weights * x(start + points[:-1]) for start in (-1, -2, 0)]
            np.testing.assert_allclose(scheme.ahead[1] @ np.concatenate(impulses[:2]), impulses[2], rtol=0, atol=1e-9)


@every_scheme
def test_is_symmetric(scheme):
    assert scheme.is_symmetric == (scheme.order > 1)


@every_scheme
def test_order(scheme):
    if scheme.name in COMPOSITIONS:
        assert scheme.order > base_order(scheme)
    else:
        assert scheme.order == base_order(scheme)


@every_scheme
def test_name_and_source(scheme):
    assert SCHEMES[scheme.name] is scheme
    assert find_scheme(scheme.name) is scheme
    assert scheme.source and scheme.description
    assert "\n" not in scheme.description


def test_entries_differ_in_more_than_their_names():
    aliases = {("midpoint", "gauss1"), ("midpoint", "implicit_midpoint"), ("implicit_midpoint", "gauss1")}
    aliases |= {("simpson", "lobatto3"), ("trapezoidal", "lobatto2")}
    aliases |= {("trapezoidal", "rattle"), ("rattle", "lobatto2")}
    same = {
        (a.name, b.name)
        for a, b in itertools.combinations(SCHEMES.values(), 2)
        if (a.control_points, a.nodes, a.fractions, a.is_projected)
        == (b.control_points, b.nodes, b.fractions, b.is_projected)
    }
    assert same == aliases


# A symmetric base of order b is exp(h X_1 + h^(b+1) X_(b+1) + h^(b+3) X_(b+3) + …). A symmetric composition of it has
# order r if Π exp(γ h X_1 + …) and exp(h X_1) agree up to h^r for all X. In the free associative algebra of the X this
# is a condition for every word of letters 1, b + 1, b + 3, … whose weight, the sum of its letters, is at most r.


def free_series(base, order, fractions):
    """Coefficients, on words of weight ≤ order, of Π exp(γ X_1 + γ^(b+1) X_(b+1) + …)."""
    letters = [1, *range(base + 1, order + 1, 2)]

    def product(x, y):
        found = {}
        for (a, ca), (b, cb) in itertools.product(x.items(), y.items()):
            if sum(a) + sum(b) <= order:
                found[a + b] = found.get(a + b, 0.0) + ca * cb
        return found

    def exponential(gamma):
        x = {(letter,): gamma**letter for letter in letters}
        total = term = {(): 1.0}
        for k in range(1, order + 1):
            term = {word: value / k for word, value in product(term, x).items()}
            total = {word: total.get(word, 0.0) + term.get(word, 0.0) for word in {*total, *term}}
        return total

    result = {(): 1.0}
    for gamma in fractions:
        result = product(result, exponential(gamma))
    return result


@every_composition
def test_composition_is_consistent(scheme):
    gamma = np.array(scheme.fractions)
    assert math.fsum(gamma) == pytest.approx(1.0, abs=1e-15)
    np.testing.assert_array_equal(gamma, gamma[::-1])
    for power in range(base_order(scheme) + 1, scheme.order, 2):
        assert math.fsum(gamma**power) == pytest.approx(0.0, abs=1e-14)


@every_composition
def test_composition_order_conditions(scheme):
    series = free_series(base_order(scheme), scheme.order, scheme.fractions)
    exact = {(1,) * k: 1 / math.factorial(k) for k in range(scheme.order + 1)}
    worst = max(abs(value - exact.get(word, 0.0)) for word, value in series.items())
    assert worst < 1e-13


@every_composition
def test_composition_has_no_higher_order(scheme):
    gamma = np.array(scheme.fractions)
    next_power = scheme.order + 1
    series = free_series(base_order(scheme), next_power, scheme.fractions)
    exact = {(1,) * k: 1 / math.factorial(k) for k in range(next_power + 1)}
    assert max(abs(value - exact.get(word, 0.0)) for word, value in series.items()) > 1e-8
    assert abs(gamma).max() < 2.0


@pytest.mark.parametrize(("quadrature", "least"), [(gauss, 1), (lobatto, 2)])
def test_numbers_of_nodes_that_are_refused(quadrature, least):
    for count in (least - 1, "a", 2.5, None, True):
        with pytest.raises(ModelError) as caught:
            quadrature(count)
        assert str(caught.value) == f"count: expected a whole number from {least} to 50, found {count!r}"


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda values: np.array(values, np.float32)])
def test_numbers_become_tuples_of_float(kind):
    given = Tableau("mine", kind([0, 1]), kind([0.5]), kind([1]), order=2, source="here", fractions=kind([1]))
    assert given == Tableau("mine", (0.0, 1.0), (0.5,), (1.0,), order=2, source="here")
    assert {type(each) for each in (*given.control_points, *given.weights, *given.fractions)} == {float}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": 3}, "scheme: name: expected a text, found 3"),
        ({"order": 0}, "scheme 'own': order: expected a whole number of at least 1, found 0"),
        ({"is_projected": "no"}, "scheme 'own': is_projected: expected True or False, found 'no'"),
        ({"order": 2.5}, "scheme 'own': order: expected a whole number of at least 1, found 2.5"),
        (
            {"control_points": (0.0, 1e-200, 2e-200, 1.0), "nodes": (0.1, 0.5, 0.9), "weights": (0.3, 0.4, 0.3)},
            "scheme 'own': nodes: expected a quadrature that determines the polynomial, found one that does not",
        ),
        (
            {"nodes": (0.5,) * 51, "weights": (1 / 51,) * 51},
            "scheme 'own': nodes: expected at most 50 nodes and control points, found 51 and 2",
        ),
    ],
)
def test_numbers_that_are_no_scheme(change, message):
    numbers = {"name": "own", "control_points": (0, 1), "nodes": (0.5,), "weights": (1,), "order": 2, "source": "here"}
    with pytest.raises(ModelError) as caught:
        Tableau(**numbers | change)
    assert str(caught.value) == message
