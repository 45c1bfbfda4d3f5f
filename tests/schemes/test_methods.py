"""What is known of every method that is no Galerkin scheme."""

import pytest

import mbvi
from mbvi.schemes.catalog import METHODS, TABLEAUX, find_scheme, find_tableau
from mbvi.steppers import RUNNERS


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_name_source_and_runner(method):
    assert mbvi.SCHEMES[method.name] is method
    assert find_scheme(method.name) is method
    assert find_scheme(method) is method
    assert method.runner in RUNNERS
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
