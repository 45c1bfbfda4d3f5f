"""Arguments of another kind, and numbers."""

import re
from fractions import Fraction

import numpy as np
import pytest

import mbvi
from mbvi.analysis.convergence import convergence_order
from mbvi.model.arguments import is_number

LOAD, READ = "mbvi.load reads one from a file", "mbvi.read reads one from a file"


@pytest.mark.parametrize(
    ("call", "argument", "message"),
    [
        (mbvi.analysis.find_invariants, "model", "system: expected a System, found <Model 'pendulum': "),
        (mbvi.pictures.draw_graph, "system", "model: expected a Model, found <System 'pendulum': "),
        (mbvi.pictures.draw_graph, "a.yaml", f"model: expected a Model, found 'a.yaml'; {LOAD}"),
        (lambda given: mbvi.save(given, "a.yaml"), "system", "model: expected a Model, found <System 'pendulum': "),
        (mbvi.plot, "a.h5", f"trajectory: expected a Trajectory, found 'a.h5'; {READ}"),
        (
            lambda given: mbvi.animate(given, "a.html"),
            "a.h5",
            f"trajectory: expected a Trajectory, found 'a.h5'; {READ}",
        ),
    ],
)
def test_first_arguments_of_another_kind(call, argument, message, models, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = mbvi.load(models / "pendulum.yaml")
    given = {"model": model, "system": mbvi.assemble(model)}.get(argument, argument)
    with pytest.raises(mbvi.ModelError, match=f"^{re.escape(message)}"):
        call(given)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("value", [1, -2.5, np.int8(3), np.float16(0.5), np.float32(0.01), Fraction(1, 3)])
def test_numbers(value):
    assert is_number(value)


@pytest.mark.parametrize("value", [True, "1", None, 1j, 10**400, np.nan, np.inf, np.float32("inf"), np.ones(1)])
def test_what_is_no_number(value):
    assert not is_number(value)


@pytest.mark.parametrize("path", [None, 3, b"a.h5"])
def test_what_is_no_path(path, models):
    model = mbvi.load(models / "pendulum.yaml")
    run = mbvi.simulate(model, duration=0.1)
    calls = [mbvi.load, mbvi.read, mbvi.resume, run.save, run.export, lambda path: mbvi.save(model, path)]
    if path is not None:
        calls.append(lambda path: mbvi.simulate(model, duration=0.1, path=path))
    for call in calls:
        with pytest.raises(mbvi.ModelError, match=r"^path: expected the path of a file, found "):
            call(path)


@pytest.mark.parametrize(
    ("errors", "steps", "start"),
    [
        ([1e-3, 1e-4], [0.1, 0.1], "steps: expected different ones, found 0.1 alone"),
        ([1, np.inf], [1, 2], "errors: expected two or more positive errors, one for every step, found"),
        ([[1], [1, 2]], [1, 2], "errors: expected two or more positive errors, one for every step, found"),
        ("text", [1, 2], "errors: expected two or more positive errors, one for every step, found 'text'"),
    ],
)
def test_errors_that_have_no_order(errors, steps, start):
    with pytest.raises(mbvi.ModelError, match=f"^{re.escape(start)}"):
        convergence_order(errors, steps)
