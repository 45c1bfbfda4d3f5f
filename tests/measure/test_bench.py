"""The cheapest scheme for an error: that the chosen runs reach it, what is reported of the others, and what is refused."""

import io
import json
import time
from types import SimpleNamespace

import numpy as np
import pytest
import sympy
from matplotlib.text import Text
from typer.testing import CliRunner

import mbvi
from mbvi.cli import app
from mbvi.exact import Pendulum
from mbvi.kernels.compiler.compiling import Compiling
from mbvi.measure.bench import Bench, _Search, bench
from mbvi.model.mass_properties import mass_properties

WANTED = 1e-6


def pendulum():
    bob = mbvi.Body(mass=2, center_of_mass=(0, 0, -1))
    pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0))
    run = mbvi.Simulation(step=0.02, duration=4)
    start = {"pivot": mbvi.Initial(position=2)}
    return mbvi.Model(name="pendulum", bodies={"bob": bob}, joints={"pivot": pivot}, initial=start, simulation=run)


@pytest.fixture(scope="module")
def found():
    return bench(pendulum(), WANTED, ["midpoint", "simpson", "gauss3", "newmark"], budget=20)


def test_chosen_runs_reach_the_error_against_the_closed_form(found):
    exact = Pendulum(length=1, gravity=9.81, angle=2, rate=0)
    assert sorted(found.ranking) == ["gauss3", "midpoint", "simpson"]
    for name in found.ranking:
        run = found.chosen(name)
        motion = mbvi.simulate(pendulum(), name, step=mbvi.evaluate(found.step_text(name), {}))
        assert motion.step == pytest.approx(run.step, rel=1e-15)
        where, should = motion.q[:, 0], exact(motion.t)[0]
        distance = np.hypot(np.sin(where) - np.sin(should), np.cos(where) - np.cos(should))
        assert distance.max() < 1.2 * WANTED  # at all times, of which the search looks at some
        stored = len(motion.t) // 20
        assert distance[::stored].max() == pytest.approx(run.error, rel=1e-3)


def test_smaller_steps_have_smaller_errors_and_larger_ones_than_chosen_do_not_reach_it(found):
    for name, runs in found.runs.items():
        steps, errors = np.array([(run.step, run.error) for run in runs]).T
        assert np.all(np.diff(steps) < 0) and np.all(np.diff(errors[-3:]) < 0)
        larger = [run for run in runs if run.step > found.chosen(name).step]
        assert larger and all(run.error > WANTED for run in larger)
        assert all(run.steps * run.step == pytest.approx(4, rel=1e-14) for run in runs)
    assert found.chosen("midpoint").step < found.chosen("simpson").step < found.chosen("gauss3").step


def test_the_table_the_record_and_the_picture_say_the_same(found):
    text = repr(found)
    assert text.splitlines()[2].split()[:4] == ["scheme", "order", "step", "[s]"]
    assert [line.split()[0] for line in text.splitlines()[3:6]] == found.ranking
    assert "\n\ndo not apply: newmark (--json FILE has the reasons)\n" in text
    assert "expected a quadratic Lagrangian" in found.unsuited["newmark"]
    assert text.endswith(
        f"cheapest for 1e-06 m: --scheme {found.ranking[0]} --step {found.step_text(found.ranking[0])}"
    )
    record = json.loads(json.dumps(found.record()))
    assert record["cheapest"] == {"scheme": found.ranking[0], "step": found.step_text(found.ranking[0])}
    assert [run["error"] for run in record["runs"]["simpson"]] == [run.error for run in found.runs["simpson"]]
    assert list(record["do not apply"]) == ["newmark"]
    figure = found.plot()
    figure.savefig(io.BytesIO(), format="png")
    for name, line in zip(found.ranking, figure.axes[0].lines, strict=False):
        errors = np.array([run.error for run in found.runs[name]])
        drawn = line.get_ydata()
        np.testing.assert_array_equal(drawn, errors[: len(drawn)])
        assert not np.any(errors[len(drawn) :] < drawn[-1] / 2)  # a curve ends where smaller steps hardly help


def test_compilation_costs_nothing_of_the_budget(monkeypatch):
    late = []  # seconds that kernels were compiled in

    def simulate(*arguments, **options):
        late.append(100.0)
        monkeypatch.setattr(Compiling, "seconds", sum(late))
        return mbvi.simulate(*arguments, **options)

    clock = time.perf_counter
    monkeypatch.setattr("mbvi.measure.bench.time", SimpleNamespace(perf_counter=lambda: clock() + sum(late)))
    monkeypatch.setattr("mbvi.measure.bench.simulate", simulate)
    assert bench(pendulum(), 1e-4, ["simpson"], duration=1, budget=90).ranking == ["simpson"]
    assert len(late) > 2


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_loops_in_both_formulations(models, formulation):
    model = mbvi.load(models / "four_bar.yaml")
    found = bench(model, 1e-5, ["gauss3", "rk4"], duration=0.5, formulation=formulation)
    assert found.ranking == ["gauss3"]
    assert "expected a system without constraints for scheme rk4" in found.unsuited["rk4"]
    coarse = mbvi.simulate(model, "gauss3", found.chosen("gauss3").step, 0.5, formulation=formulation)
    exact = mbvi.simulate(model, "gauss4", 0.0005, 0.5, formulation=formulation)
    for name in model.bodies:
        center = mass_properties(model.resolved().bodies[name]).center_of_mass
        (x, R), (y, S) = coarse.pose(name), exact.pose(name)
        assert np.linalg.norm(x[-1] + R[-1] @ center - y[-1] - S[-1] @ center) < 1e-5


def test_rotations_about_a_resting_center_of_mass_are_errors(models):
    model = mbvi.load(models / "free_rigid_body.yaml")
    found = bench(model, 1e-7, ["simpson"], duration=5)
    coarse = found.runs["simpson"][0]
    assert coarse.error > 1e-7
    ends = [mbvi.simulate(model, "simpson", h, 5).pose("brick")[1][-1] for h in (coarse.step, found.reference_step)]
    radius = np.sqrt((5 + 10 + 13) / 2 / 12)
    assert coarse.error > 0.99 * radius * np.linalg.norm(ends[0] - ends[1], axis=0).max()


def test_schemes_of_which_none_applies_are_refused():
    with pytest.raises(
        mbvi.ModelError, match=r"^schemes: expected one that applies to 'pendulum', found newmark: .*linear"
    ):
        bench(pendulum(), WANTED, ["newmark"])


def test_the_picture_tells_how_many_schemes_it_has():
    names = ["midpoint", "simpson", "lobatto4", "gauss2", "gauss3", "gauss4", "gauss5", "gauss6"]
    found = bench(pendulum(), 1e-3, names, duration=1)
    assert len(found.runs) == 8
    notes = [text.get_text() for text in found.plot().findobj(Text)]
    assert any(note.startswith("the 7 cheapest of 8; ") for note in notes)
    fewer = bench(pendulum(), 1e-3, names[:7], duration=1)
    assert not any("cheapest of" in text.get_text() for text in fewer.plot().findobj(Text))


def test_own_lagrangians_have_errors_of_coordinates():
    x = sympy.symbols("x")
    system = mbvi.from_sympy([x], [[1]], potential=1 - sympy.cos(x), initial_q=[1.0])
    found = bench(system, 1e-7, ["simpson"], duration=2)
    run = found.chosen("simpson")
    exact = float(Pendulum(length=1, gravity=1, angle=1, rate=0)(2.0)[0])
    end = mbvi.simulate(system, "simpson", run.step, 2).q[-1, 0]
    assert 0 < abs(end - exact) <= run.error + 1e-12 <= 1e-7
    assert "errors: largest of a coordinate over 2 s" in repr(found)


def test_failed_steps_and_schemes_that_do_not_get_there_are_reported(models):
    model = mbvi.load(models / "double_pendulum.yaml")
    model = model.model_copy(update={"simulation": mbvi.Simulation(step=0.08, duration=16)})
    found = bench(model, 1e-11, ["midpoint", "gauss6"], budget=8)  # of which midpoint needs ten times as much
    assert found.ranking == ["gauss6"]
    assert ("gauss6", 0.8) in found.failures
    assert "error.trajectory" not in str(found.failures)
    text = repr(found)
    assert "\nnot reached:\n  midpoint  " in text
    assert " s; its share of " in text or " s; it would take a run of about " in text


def test_a_result_without_a_scheme_that_gets_there_says_so():
    system = mbvi.assemble(pendulum())
    nothing = Bench(system, 4.0, 1e-6, 1e-12, 0.01, 0.08, {"simpson": 4}, {"simpson": ()}, {"simpson": "no time"})
    assert "not reached:\n  simpson  no time\n" in repr(nothing)
    assert repr(nothing).endswith("no scheme reached 1e-06 m; give it more time, or a shorter duration")
    assert nothing.record()["cheapest"] is None
    with pytest.raises(mbvi.ModelError, match="scheme: expected one that reaches 1e-06, found 'simpson'"):
        nothing.step_text("simpson")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"error": 0}, "error: expected a number greater than 0, found 0"),
        ({"error": float("nan")}, "error: expected a number greater than 0, found nan"),
        ({"error": "text"}, "error: expected a number greater than 0, found 'text'"),
        ({"schemes": "simpson"}, "schemes: expected a list, found 'simpson'"),
        ({"budget": -1}, "budget: expected a number greater than 0, found -1"),
        ({"schemes": []}, "schemes: expected one or more names of schemes, found none"),
        ({"schemes": ["simpsn"]}, "scheme: expected the name of a scheme, found 'simpsn'; did you mean 'simpson'?"),
        ({"duration": 0}, "duration: expected a time greater than 0, found 0; write for example 10 [s]"),
        ({"duration": "soon"}, "duration: expected a parameter or a constant, found 'soon'"),
        (
            {"error": 1e-18},
            "error: expected one that the reference can resolve over 4 s in 15 s, found 1e-18 where it ",
        ),
        (
            {"budget": 1e-9},
            "budget: expected enough time [s], found 1e-09 s, in half of which the reference is not com",
        ),
    ],
)
def test_what_cannot_be_measured_is_one_line(keys, message):
    with pytest.raises(mbvi.ModelError) as error:
        bench(pendulum(), **keys)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_a_reference_that_fails_is_tried_with_smaller_steps(models):
    model = mbvi.load(models / "double_pendulum.yaml")
    model = model.model_copy(update={"simulation": mbvi.Simulation(step=0.8, duration=4)})
    with pytest.raises(mbvi.StepError):
        mbvi.simulate(model, "gauss6")
    found = bench(model, 1e-4, ["gauss4"], budget=5)
    assert found.ranking == ["gauss4"] and found.reference_step < 0.8


def test_a_reference_that_always_fails_is_named():
    def ends(t, q, v, F):
        F[0] += np.sqrt(1 - t)

    model = mbvi.assemble(pendulum().replaced({"simulation": mbvi.Simulation(step=0.1)}), force=ends)
    with pytest.raises(
        mbvi.StepError, match=r"^the reference, gauss6 with step 0\.0\d+ s: step \d+ .*not a finite number"
    ):
        bench(model, duration=4)


def test_a_scheme_for_which_no_time_is_left_has_no_share():
    system = mbvi.assemble(pendulum())
    search = _Search(system, 4.0, WANTED, 20.0, lambda done, of: None)
    found = Bench(system, 4.0, WANTED, search.uncertainty, search.reference_step, 4.0 / search.states)
    search.measure(mbvi.catalog.find_scheme("midpoint"), found, -0.1)
    assert found.stopped == {"midpoint": "the others took all the time"} and found.runs == {"midpoint": ()}
    repr(found)


def test_a_run_longer_than_the_budget_is_reported_at_once():
    """2e12 steps of the model: as many as are probed take no time."""
    with pytest.raises(mbvi.ModelError, match=r"^budget: expected enough time"):
        bench(pendulum(), duration=1e9)


def test_the_largest_step_tried_is_reported():
    found = bench(pendulum(), 1e-3, ["gauss8", "trapezoidal"], duration=4)
    assert found.chosen("gauss8").step == found.longest_step == max(run.step for run in found.runs["trapezoidal"])
    assert f"\nat the largest step tried, {found.longest_step:.4g} s: gauss8\n" in repr(found)


def test_the_command(models, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mbvi.save(pendulum(), "pendulum.yaml")
    line = ["bench", "pendulum.yaml", "--error", "1e-4", "--schemes", "simpson, gauss2", "--duration", "2"]
    result = CliRunner().invoke(app, [*line, "--json", "a.json", "-o", "a.svg"])
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("pendulum\n\nscheme ")
    assert result.stdout.endswith("\n\nwritten to a.json\n\nwritten to a.svg\n")
    assert json.loads((tmp_path / "a.json").read_text())["duration [s]"] == 2
    assert (tmp_path / "a.svg").exists()
    result = CliRunner().invoke(app, [*line, "--json", "a.json"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("a.json: expected a new file, found one that exists; ")
    result = CliRunner().invoke(app, [*line, "--time", "-1"])
    assert (result.exit_code, result.stderr) == (2, "--time: expected a number greater than 0, found -1\n")
