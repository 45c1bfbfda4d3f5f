"""Problems with impacts and dry friction: their closed forms, and that peers run the same ones. No times."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tests.benchmarks import nonsmooth
from tests.benchmarks.nonsmooth import problems
from tests.benchmarks.peers import stiff

PROBLEMS = {problem.name: problem for problem in problems()}
COARSE, FINE = 0, 2
TOLERANCES = {"simpson": 1e-4, "gauss6": 1e-13}


@pytest.mark.parametrize("scheme", TOLERANCES)
@pytest.mark.parametrize("name", PROBLEMS)
def test_our_runs_are_those_of_closed_forms(name, scheme):
    problem = PROBLEMS[name]
    (run,) = (each for each in nonsmooth.ours(problem) if each.name == scheme)
    _, x = run.solve(run.settings[1])
    exact = problem.exact(np.linspace(0, problem.duration, nonsmooth.STATES + 1))
    assert np.abs(x - exact).max() < TOLERANCES[scheme]


@pytest.mark.parametrize("may_pull", [True, False])
@pytest.mark.parametrize("part", [0.3, 0.8])
def test_springs_and_dampers_leave_the_restitution(part, may_pull):
    ratio = stiff.damping_ratio(part, may_pull)

    def ends(t, u):
        return u[0] if may_pull else u[0] + 2 * ratio * u[1]

    ends.terminal, ends.direction = True, 1
    rates = solve_ivp(
        lambda t, u: [u[1], -u[0] - 2 * ratio * u[1]],
        (0, 10),
        [-1e-12, -1.0] if may_pull else [0.0, -1.0],
        "DOP853",
        events=ends,
        rtol=1e-12,
        atol=1e-14,
    )
    assert rates.y_events[0][0][1] == pytest.approx(part, abs=1e-8)
    assert stiff.damping_ratio(1.0, may_pull) == 0.0


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("peer", nonsmooth.PEERS)
def test_peers_come_near_the_closed_forms(peer, name):
    module = pytest.importorskip(f"tests.benchmarks.peers.{peer}_contacts")
    problem = PROBLEMS[name]
    times = np.linspace(0, problem.duration, nonsmooth.STATES + 1)
    found = module.contenders(problem, times)
    if not found:
        assert peer == "drake" and problem.stop == 0.8
        return
    exact = problem.exact(times)
    far, near = (min(np.abs(each.solve(each.settings[i])[1] - exact).max() for each in found) for i in (COARSE, FINE))
    assert near < 0.5 * far
    assert near < 0.03


def test_the_table_has_all_problems(monkeypatch):
    monkeypatch.setattr(nonsmooth, "PEERS", ())
    monkeypatch.setattr(nonsmooth, "PARTS", (1,))
    monkeypatch.setattr(nonsmooth, "REPEATS", 1)
    rows = nonsmooth.nonsmooth()
    assert {row["problem"] for row in rows} == set(PROBLEMS)
    assert [row["error [m]"] for row in rows[:4]] == [1e-2, 1e-4, 1e-6, 1e-8]
