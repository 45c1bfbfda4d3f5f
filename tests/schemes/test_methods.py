"""What is known of every method that is no Galerkin scheme."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import mbvi
from mbvi.catalog import METHODS, find_scheme
from mbvi.schemes.galerkin import TABLEAUX, find_tableau
from mbvi.schemes.runge_kutta import ButcherTableau
from mbvi.steppers.direct_midpoint import direct_midpoint
from mbvi.steppers.discrete_gradient import chorin


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_name_source_and_runner(method):
    assert mbvi.SCHEMES[method.name] is method
    assert find_scheme(method.name) is method
    assert find_scheme(method) is method
    assert method in import_module(f"mbvi.steppers.{method.runner}").SCHEMES
    assert method.source and method.description
    assert "\n" not in method.description


def test_no_name_is_given_twice():
    assert len(mbvi.SCHEMES) == len(TABLEAUX) + len(METHODS)


def test_a_galerkin_scheme_is_asked_for():
    assert find_tableau("simpson") is mbvi.SCHEMES["simpson"]
    with pytest.raises(
        mbvi.ModelError, match="scheme: expected a Galerkin scheme, found 'newmark'; choose one of midpoint, simpson"
    ):
        find_tableau("newmark")


@pytest.mark.parametrize(
    "method",
    [direct_midpoint(0.5), direct_midpoint(0.25, 2), direct_midpoint(iterations=0), chorin(beta=0.75, delta=0.0)],
)
def test_a_name_gives_constants(method):
    assert find_scheme(method.name) == method
    assert find_scheme(method.name.replace("=", " = ").replace(", ", ",")) == method


@pytest.mark.parametrize(
    "name",
    [
        "direct_midpoint(",
        "direct_midpoint(0.5)",
        "direct_midpoint(h=0.5)",
        "direct_midpoint(g=half)",
        "direct_midpoint(g=0.5, g=0.6)",
        "direct_midpoint(g=0.5)(g=0.6)",
        "direct_midpoint(g=0.5) + chorin()",
        "direct_midpoint(**{})",
    ],
)
def test_names_with_constants_that_are_none(name):
    with pytest.raises(mbvi.ModelError) as error:
        find_scheme(name)
    assert str(error.value) == (
        f"scheme: expected direct_midpoint with constants by their names (g, iterations), found {name!r}"
    )


@pytest.mark.parametrize("method", [METHODS["rk4"], chorin(beta=0.75)])
def test_a_method_has_the_stepper_and_the_numbers_of_its_name(method):
    for change in ({"runner": "os.system"}, {"numbers": (0.5,)}):
        other = replace(method, **change)
        with pytest.raises(mbvi.ModelError) as error:
            find_scheme(other)
        expected = f"scheme: expected the method {method.name} as mbvi has it, found {other!r}; give its name"
        assert str(error.value) == expected


def test_a_method_of_an_unknown_name_is_refused_or_one_of_ones_own():
    """The numbers of a Runge–Kutta method say all; what else is said of it is not taken over."""
    with pytest.raises(mbvi.ModelError, match=r"found 'os\.system'"):
        find_scheme(replace(chorin(beta=0.75), name="os.system"))
    known = METHODS["rk4"]
    own = find_scheme(replace(known, name="own", order=7, source="Kutta"))
    assert (own.name, own.runner, own.numbers, own.order) == ("own", "runge_kutta", known.numbers, 4)
    assert own.source == "the user's own"
    assert find_scheme(own) == own


@pytest.mark.parametrize("numbers", [None, 3, ("a", "b"), ([1], 2), (0.0, 10**400), (0.5,), (0.0, 0.5)])
def test_numbers_that_are_no_method_are_refused(numbers):
    with pytest.raises(mbvi.ModelError, match=r"^scheme 'own': expected "):
        find_scheme(replace(METHODS["rk4"], name="own", numbers=numbers))


@pytest.mark.parametrize("name", ["rk4", "simpson", "direct_midpoint(g=0.5)", "chorin(beta=0.75)"])
def test_a_tableau_of_ones_own_has_a_name_of_its_own(name):
    with pytest.raises(mbvi.ModelError) as error:
        find_scheme(ButcherTableau([[0]], [1], name))
    assert str(error.value) == f"scheme: expected a name of its own, found that of {name!r}; choose another"


def test_constants_of_names_are_checked():
    with pytest.raises(mbvi.ModelError, match=r"^g: expected a number from 0 to 1, found 2$"):
        find_scheme("direct_midpoint(g=2)")


def test_a_model_file_and_the_command_line_give_constants(models, tmp_path):
    text = (models / "pendulum.yaml").read_text()
    (tmp_path / "model.yaml").write_text(text.replace("scheme: simpson", "scheme: direct_midpoint(g=0.5)"))
    model = mbvi.load(tmp_path / "model.yaml")
    run = mbvi.simulate(model, duration=0.1)
    assert run.scheme == direct_midpoint(g=0.5)
    given = mbvi.simulate(mbvi.load(models / "pendulum.yaml"), "direct_midpoint(g=0.5)", duration=0.1)
    assert (given.q == run.q).all()


@pytest.mark.parametrize("method", [direct_midpoint(g=1 / 3, iterations=np.int64(2)), chorin(alpha=np.float64(2 / 3))])
def test_names_tell_constants_to_the_last_digit(method):
    assert find_scheme(method.name) == method
