"""The benchmarks measure what they say: the same systems, sound interpolation and growth, tables that are written. No times."""

import math

import numpy as np
import pytest

import mbvi
from mbvi.system.initial import find_start
from tests.benchmarks import document, peers, precision, runs
from tests.benchmarks.peers import dop853
from tests.benchmarks.peers.program import Program, Term
from tests.benchmarks.peers.tree import tree_of
from tests.benchmarks.systems import branches, hung_chain, problems

PROBLEMS = {problem.name: problem for problem in problems()}


@pytest.mark.parametrize("name", [name for name in PROBLEMS if name != "free rigid body"])
def test_the_accelerations_that_peers_integrate_are_ours(name):
    model = PROBLEMS[name].model
    system, tree, random = mbvi.assemble(model, "tree"), tree_of(model), np.random.default_rng(1)
    start, n = find_start(system), system.dimension
    q, v = (start.q, start.v) if tree.loop else (random.normal(0.5, 0.4, n), random.normal(size=n))
    rates = dop853.compiled(tree).py_func(0.0, np.concatenate([q, v]))
    a = system.acceleration(q, v)
    np.testing.assert_array_equal(rates[:n], v)
    np.testing.assert_allclose(rates[n:], a, rtol=0, atol=1e-12 * np.abs(a).max())


def test_the_free_body_that_peers_integrate_keeps_its_angular_momentum():
    problem = PROBLEMS["free rigid body"]
    tree, times = tree_of(problem.model), np.linspace(0, 1, 3)
    rates = dop853.compiled(tree).py_func
    q, w = np.array([0.5, 0.5, -0.5, 0.5]), np.array([0.3, 2.0, -1.0])
    turn, spin = np.split(rates(0.0, np.concatenate([q, w])), [4])
    assert abs(q @ turn) < 1e-16
    np.testing.assert_allclose(tree.free @ spin, np.cross(tree.free @ w, w), rtol=1e-14)
    exact, small = problem.exact(times)[0], 1e-4
    before, now, after = problem.exact(np.array([0.5 - small, 0.5, 0.5 + small]))[0]
    spin_now = problem.exact(0.5)[1]
    slope = rates(0.0, np.concatenate([now, spin_now]))[:4]
    np.testing.assert_allclose((after - before) / (2 * small), slope, rtol=0, atol=1e-8)
    assert exact.shape == (3, 4)


def test_mujoco_has_the_same_chains_and_trees():
    mujoco = pytest.importorskip("tests.benchmarks.peers.mujoco")
    random = np.random.default_rng(2)
    for model in (PROBLEMS["top"].model, hung_chain(3, "universal"), branches(5)):
        system, tree = mbvi.assemble(model, "tree"), tree_of(model)
        n = system.dimension
        q, v = random.normal(0.5, 0.4, n), random.normal(size=n)
        contender = mujoco.contenders(tree, np.linspace(0, 1, 5), q, v)[1]
        a = system.acceleration(q, v)
        np.testing.assert_allclose(contender.acceleration(q, v), a, rtol=0, atol=1e-10 * np.abs(a).max())
    times = np.linspace(0, 0.1, 5)
    _, positions, velocities = mujoco.contenders(tree, times, q, v)[1].solve(times[1] / 250)
    ours = mbvi.simulate(system, "gauss4", times[1] / 10, times[-1], initial_q=q, initial_v=v)
    np.testing.assert_allclose(positions[-1], ours.q[-1], rtol=0, atol=1e-8)
    np.testing.assert_allclose(velocities[-1], ours.v[-1], rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "method", "fine", "order"), [("mujoco", 1, 5, 2), ("exudyn", 0, 4, 2), ("drake", 0, 3, 1)]
)
def test_on_a_loop_peers_come_near_our_motion(name, method, fine, order):
    """Also with soft constraints, which MuJoCo's and Drake's are, the stiffer the smaller the step."""
    peer = pytest.importorskip(f"tests.benchmarks.peers.{name}")
    model = PROBLEMS["four-bar"].model
    system, times = mbvi.assemble(model, "tree"), np.linspace(0, 0.4, 11)
    start = find_start(system)
    contender = peer.contenders(tree_of(model), times, start.q, start.v)[method]
    precision._check(contender, system, None, start.q, start.v)
    ours = mbvi.simulate(system, "gauss4", times[1] / 10, times[-1], every=10)
    coarse, finer = (contender.settings[i] for i in (fine - 1, fine))
    far, near = (abs(contender.solve(step)[1] - ours.q).max() for step in (coarse, finer))
    assert near < 5e-3
    assert far > 0.8 * near * (coarse / finer) ** order


def test_a_peer_with_another_system_is_not_timed():
    system = mbvi.assemble(PROBLEMS["double pendulum"].model)
    other = peers.Contender("other", lambda q, v: system.acceleration(q, 1.001 * v), (), lambda setting: None)
    with pytest.raises(SystemExit, match=r"^other on double pendulum: accelerations differ from ours by "):
        precision._check(other, system, None, system.initial_q, system.initial_v)


def test_missing_peers_are_none(monkeypatch):
    monkeypatch.setitem(peers.PACKAGES, "mujoco", "no such package")
    assert peers.peer("mujoco") is None
    assert peers.versions()["no such package"] == "missing"


def test_operations_are_folded_and_done_once():
    program = Program()
    x, y = Term(program, "x"), Term(program, "y")
    assert x * 0 == 0 and x + 0 is x and 1 * x is x and x - x == 0
    assert (x * y + 2 * x) is (2 * x + y * x)
    assert program.lines == ["x0 = x * y", "x1 = (2.0) * x", "x2 = x0 + x1"]


def test_times_are_interpolated_in_logarithms():
    curve = [{"error": error, "seconds": error**-0.25} for error in (1e-2, 1e-4, 1e-8)]
    assert precision.seconds_at(curve, 1e-6) == pytest.approx(1e-6**-0.25)
    assert precision.seconds_at(curve, 1e-1) == pytest.approx(1e-2**-0.25)
    assert math.isnan(precision.seconds_at(curve, 1e-9))
    assert precision.seconds_at([*curve, {"error": 1e-10, "seconds": 1.0}], 1e-6) == 1.0  # finer, and yet cheaper


def test_ratios_and_what_was_not_reached():
    entry = {
        "problem": "a",
        "missing": {"trep": "not installed"},
        "curves": {
            "simpson": [{"error": 1e-3, "seconds": 1e-3}, {"error": 1e-11, "seconds": 1e-3}],
            "MuJoCo RK4": [{"error": 1e-3, "seconds": 1e-3}, {"error": 1e-7, "seconds": 4e-3}],
        },
    }
    rows = precision.ratios([entry])
    assert [row["error [m]"] for row in rows] == [1e-4, 1e-6, 1e-8, 1e-10]
    assert rows[0]["scheme"] == "simpson" and rows[0]["ms"] == pytest.approx(1)
    assert rows[0]["MuJoCo"] == pytest.approx(2**0.5)
    assert [row["MuJoCo"] for row in rows[2:]] == ["> 4", "> 4"]
    assert rows[0]["trep"] == "–"
    ours, theirs = document.diagrams([entry]).axes[0].lines
    np.testing.assert_allclose(ours.get_xydata(), [(1e-1, 1), (1e-3, 1), (1e-11, 1)])
    np.testing.assert_allclose(theirs.get_xydata(), [(1e-1, 1), (1e-3, 1), (1e-7, 4)])


def test_errors_beyond_a_diagram_stand_at_its_edge():
    curve = [(1.0, 1e-4), (1e-13, 1e-3), (1e-14, 2e-3)]
    entry = {"problem": "a", "curves": {"splitting": [{"error": error, "seconds": time} for error, time in curve]}}
    (line,) = document.diagrams([entry]).axes[0].lines
    np.testing.assert_allclose(line.get_xydata(), [(1e-1, 1), (1e-12, 1)])


def test_growth_of_a_random_walk_and_of_a_drift():
    random, t = np.random.default_rng(3), np.arange(100_001.0)
    walks = [runs.growth(np.cumsum(random.normal(size=len(t)))) for _ in range(20)]
    assert np.mean(walks) == pytest.approx(0.5, abs=0.1)
    assert runs.growth(1e-12 * t) == pytest.approx(1, abs=1e-3)
    assert runs.growth(np.sin(t)) == pytest.approx(0, abs=0.02)
    assert runs.growth(np.zeros(len(t))) == 0


def test_the_page_is_written_between_its_marks(monkeypatch, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "before\n<!-- figures: chains -->\nold\n<!-- end -->\nafter\n<!-- figures: loops -->\nkept\n<!-- end -->\n"
    )
    monkeypatch.setattr(document, "PAGES", (page,))
    document.write({"chains": [{"rods": 2, "µs": 0.12345}, {"rods": 100, "µs": 312.3}]})
    table = "| rods | µs |\n| --- | --- |\n| 2 | 0.12 |\n| 100 | 312 |\n"
    after = "<!-- end -->\nafter\n<!-- figures: loops -->\nkept\n<!-- end -->\n"
    assert page.read_text() == f"before\n<!-- figures: chains -->\n{table}{after}"
