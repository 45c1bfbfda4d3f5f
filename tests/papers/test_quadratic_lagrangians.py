"""Table 2 and the figures of the paper on quadratic Lagrangians, as examples/papers/quadratic_lagrangians.py recomputes them."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PATH = Path(__file__).parents[2] / "examples" / "papers" / "quadratic_lagrangians.py"

# Entries of Table 2 that are not what they should be: periods, scheme, quantity, column (3: the order).
WRONG = {
    (10, "Newmark", "p", 2): (0.782, 0.0782),
    (10, "RK4", "p", 2): (0.0137, 0.000638),
    (10, "RK4", "p", 3): (1.29, 3.51),
    (10, "RK4", "q", 2): (0.0157, 0.00217),
    (10, "RK4", "q", 3): (2.09, 3.52),
    (1000, "Newmark", "q", 3): (0.01, -0.01),
}


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("quadratic_lagrangians", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def table(example):
    return example.table_2()


@pytest.fixture(scope="module")
def figures(example):
    return example.main(quick=True)["figures"]


def test_linearization_is_that_of_the_paper(example):
    """M and K before equation 49, from the nonlinear Lagrangian; and the exact solution after it."""
    system, exact = example.small_motions(), example.EXACT
    np.testing.assert_allclose(system.mass_matrix([0, 0]), exact.mass_matrix, rtol=1e-15)
    np.testing.assert_allclose(system.gradient([1, 2], [0, 0])[1], -exact.stiffness_matrix @ [1, 2], rtol=1e-14)
    t = np.linspace(0, 3, 40)
    fast, slow = (2 * np.pi * np.sqrt(2 + sign * np.sqrt(2)) for sign in (1, -1))
    q = np.pi / 12 * np.array([(np.cos(slow * t) - np.cos(fast * t)) / np.sqrt(2), np.cos(slow * t) + np.cos(fast * t)])
    np.testing.assert_allclose(exact(t)[0].T, q, atol=1e-13)


def test_table_2(table):
    assert len(table) == 24
    found = {}
    for row in table:
        key = row["periods"], row["scheme"], row["quantity"]
        for column, verdict in enumerate(row["verdicts"]):
            assert verdict in ("agrees", "agrees, cut off", "differs")
            if verdict == "agrees, cut off":
                assert row["scheme"] == "RK4"
            if verdict == "differs":
                printed, ours = [*row["printed errors"], row["printed order"]], [*row["errors"], row["order"]]
                found[(*key, column)] = printed[column], ours[column]
        assert bool(row["reason"]) == ("differs" in row["verdicts"])
    assert found.keys() == WRONG.keys()
    for key, (printed, ours) in WRONG.items():
        assert found[key][0] == printed
        assert found[key][1] == pytest.approx(ours, rel=0.002 if key[3] < 3 else 0, abs=0 if key[3] < 3 else 0.006)


def test_errors_of_long_runs_contain_those_of_short_ones(table):
    """The argument against the entries that differ: with the same step, the largest error cannot fall with the duration."""
    for row in table:
        for other in table:
            if (
                row["scheme"] == other["scheme"]
                and row["quantity"] == other["quantity"]
                and row["periods"] < other["periods"]
            ):
                assert all(a <= b for a, b in zip(row["errors"], other["errors"], strict=True))


def test_runge_kutta_is_the_classical_method(example):
    """Four evaluations per step, as textbooks have it."""
    system, h = example.small_motions(), 0.1
    found, momenta = example.runge_kutta(system, h, 10)
    M, K = example.EXACT.mass_matrix, example.EXACT.stiffness_matrix
    x = np.concatenate([system.initial_q, np.zeros(2)])

    def rate(x):
        return np.concatenate([np.linalg.solve(M, x[2:]), -K @ x[:2]])

    for _ in range(10):
        a = rate(x)
        b = rate(x + h / 2 * a)
        c = rate(x + h / 2 * b)
        x = x + h / 6 * (a + 2 * b + 2 * c + rate(x + h * c))
    np.testing.assert_allclose(np.concatenate([found[-1], momenta[-1]]), x, rtol=1e-12, atol=1e-14)


def test_figures_2_to_5(figures):
    """Simpson's points lie on the exact curves, the Runge–Kutta method's near them, Newmark's do not."""
    for name, key, periods in (
        ("figure 2", "q", 1),
        ("figure 3", "q", 10),
        ("figure 4", "p", 10),
        ("figure 5", "q", 3),
    ):
        series = figures[name]
        assert list(series) == ["exact", "Newmark", "RK4", "Simpson"]
        assert series["exact"]["t"][-1] == periods
        left = {}
        for scheme in ("Newmark", "RK4", "Simpson"):
            exact = series["exact"][key][::10]
            assert len(series[scheme]["t"]) == 10 * periods + 1
            left[scheme] = np.abs(series[scheme][key] - exact).max() / np.abs(exact).max()
        assert left["Simpson"] < left["RK4"] / 10 < left["Newmark"] / 10
        assert left["Simpson"] < 0.05
        assert left["Newmark"] > 0.4


def test_figure_6(figures):
    """Newmark's scheme conserves the energy, Simpson's to 1e-3 without growth and 10⁴ times better with a tenth of the step."""
    series = figures["figure 6"]
    largest = {name: np.abs(each["error"]).max() for name, each in series.items()}
    assert largest["Newmark, h = 0.1"] < 1e-14
    assert largest["Newmark, h = 0.01"] < 1e-14
    assert 1e-3 < largest["Simpson, h = 0.1"] < 1e-2
    assert largest["Simpson, h = 0.1"] / largest["Simpson, h = 0.01"] == pytest.approx(1e4, rel=0.3)
    error = np.abs(series["Simpson, h = 0.1"]["error"])
    assert error[51:].max() < 1.1 * error[:51].max()
    drift = series["RK4, h = 0.1"]["error"]
    assert np.all(np.diff(drift) < 0)
    assert drift[-1] < -0.3


def test_figure_7(figures):
    """The paper has 1e-15; φ itself is about 0.01 J s with h = 0.1."""
    for each in figures["figure 7"].values():
        assert np.abs(each["error"]).max() < 1e-16


def test_figure_8(figures):
    orders = {name: each["order"] for name, each in figures["figure 8"].items()}
    assert orders == pytest.approx({"Newmark": 2, "RK4": 4, "Simpson": 4}, abs=0.12)
    errors = {name: each["error"] for name, each in figures["figure 8"].items()}
    assert np.all(errors["Simpson"] < errors["RK4"] / 10)
    assert np.all(errors["RK4"] < errors["Newmark"])


def test_misprint_of_the_largest_frequency(example):
    """The largest eigenvalue of K over the smallest of M is more than the largest of M⁻¹K."""
    M, K = example.EXACT.mass_matrix, example.EXACT.stiffness_matrix
    bound = np.linalg.eigvalsh(K)[-1] / np.linalg.eigvalsh(M)[0] / (2 * np.pi) ** 2
    sharp = example.EXACT.frequencies[-1] ** 2 / (2 * np.pi) ** 2
    (text,) = (correct for where, _, correct in example.MISPRINTS if where == "after equation 40")
    assert f"{bound:.2f} ω0² against {sharp:.2f} ω0²" in text


def test_quick_leaves_out_long_runs(example):
    data = example.main(quick=True)
    assert {row["periods"] for row in data["tables"]["table 2"]} == {1, 10}
    assert list(data["figures"]) == list(example.TITLES)


def test_figures_are_drawn(example, figures, tmp_path):
    paths = example.draw(figures, str(tmp_path))
    assert [Path(path).name for path in paths] == [f"figure_{i}.png" for i in range(2, 9)]
    assert all(Path(path).stat().st_size > 10_000 for path in paths)


def test_it_runs_as_a_script():
    result = subprocess.run([sys.executable, PATH], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.splitlines()) == 1 + 24 + 4 + 3
