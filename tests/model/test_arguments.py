"""Functions of mbvi that are given a first argument of another kind."""

import re

import pytest

import mbvi

LOAD, READ = "mbvi.load reads one from a file", "mbvi.read reads one from a file"


@pytest.mark.parametrize(
    ("call", "argument", "message"),
    [
        (mbvi.find_invariants, "model", "system: expected a System, found <Model 'pendulum': "),
        (mbvi.draw_graph, "system", "model: expected a Model, found <System 'pendulum': "),
        (mbvi.draw_graph, "a.yaml", f"model: expected a Model, found 'a.yaml'; {LOAD}"),
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
