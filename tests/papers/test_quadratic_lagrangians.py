"""Rojas-Quintero, Dubois & Cabrera-Díaz 2024: every printed number of Table 2, and what the figures show."""

import numpy as np
import pytest

from mbvi.papers import quadratic_lagrangians as script
from mbvi.papers.report import Number
from tests.marks import coarse

pytestmark = coarse  # the paper's steps are large

COLUMNS = ("10 meshes in a period", "20 meshes in a period", "40 meshes in a period", "order")

# Entries of Table 2 that are not what they should be: what is printed, and what it should be.
WRONG = {
    ("10 periods", "Newmark", "p", COLUMNS[2]): ("0.782", 0.0782),
    ("10 periods", "RK4", "p", COLUMNS[2]): ("0.0137", 0.000638),
    ("10 periods", "RK4", "p", "order"): ("1.29", 3.51),
    ("10 periods", "RK4", "q", COLUMNS[2]): ("0.0157", 0.00217),
    ("10 periods", "RK4", "q", "order"): ("2.09", 3.52),
    ("1000 periods", "Newmark", "q", "order"): ("0.01", -0.01),
}
PERIODS = {"1 period": 1, "10 periods": 10, "100 periods": 100, "1000 periods": 1000}


@pytest.fixture(scope="module")
def table():
    return script.table_2()


def test_linearization_is_that_of_the_paper():
    """M and K before equation 49, from the nonlinear Lagrangian; and the exact solution after it."""
    system, exact = script.small_motions(), script.EXACT
    np.testing.assert_allclose(system.mass_matrix([0, 0]), exact.mass_matrix, rtol=1e-15)
    np.testing.assert_allclose(system.gradient([1, 2], [0, 0])[1], -exact.stiffness_matrix @ [1, 2], rtol=1e-14)
    t = np.linspace(0, 3, 40)
    fast, slow = (2 * np.pi * np.sqrt(2 + sign * np.sqrt(2)) for sign in (1, -1))
    q = np.pi / 12 * np.array([(np.cos(slow * t) - np.cos(fast * t)) / np.sqrt(2), np.cos(slow * t) + np.cos(fast * t)])
    np.testing.assert_allclose(exact(t)[0].T, q, rtol=0, atol=1e-13)


def test_table_2(table):
    """Within one unit of the last printed digit, but for six; five were filled up by zeros after the fourth decimal."""
    assert table.columns == ("length", "scheme", "of", *COLUMNS)
    assert len(table.numbers) == 96
    filled = 0
    for row in table.rows:
        for column, number in zip(COLUMNS, row[3:], strict=True):
            if (*row[:3], column) in WRONG:
                printed, correct = WRONG[(*row[:3], column)]
                assert number.printed == printed
                assert not number.agrees and number.reason
                assert number.value == pytest.approx(correct, rel=0.002, abs=0.006 if column == "order" else 0)
                continue
            is_filled = number.decimals is not None
            assert abs(number.value - float(number.printed)) < (1e-4 if is_filled else number.unit), (row, column)
            assert number.agrees
            if is_filled:
                filled += 1
                assert row[1] == "RK4" and number.decimals == 4
                assert float(number.printed) == np.floor(number.value * 1e4) / 1e4
    assert filled == 5
    assert len(table.differing) == len(WRONG)


def test_errors_of_long_runs_contain_those_of_short_ones(table):
    """The argument against the entries that differ: with the same step, the largest error cannot fall with the duration."""
    errors = {row[:3]: [number.value for number in row[3:6]] for row in table.rows}
    for (length, *what), short in errors.items():
        for (other, *same), long in errors.items():
            if what == same and PERIODS[length] < PERIODS[other]:
                assert all(a <= b for a, b in zip(short, long, strict=True))


def test_runge_kutta_is_the_classical_method():
    """Four evaluations per step, as textbooks have it."""
    h, found = 0.1, script.run("RK4", 10, 1)
    M, K = script.EXACT.mass_matrix, script.EXACT.stiffness_matrix
    x = np.concatenate([script.START, np.zeros(2)])

    def rate(x):
        return np.concatenate([np.linalg.solve(M, x[2:]), -K @ x[:2]])

    for _ in range(10):
        a = rate(x)
        b = rate(x + h / 2 * a)
        c = rate(x + h / 2 * b)
        x = x + h / 6 * (a + 2 * b + 2 * c + rate(x + h * c))
    np.testing.assert_allclose(np.concatenate([found.q[-1], found.p[-1]]), x, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("figure", "key", "periods"),
    [(script.figure_2, "q", 1), (script.figure_3, "q", 10), (script.figure_4, "p", 10)],
)
def test_figures_2_to_4(figure, key, periods):
    """Simpson's points lie on the exact curves, the Runge–Kutta method's near them, Newmark's do not."""
    for panel in figure().panels:
        exact, *found = panel.lines
        assert [line.label for line in panel.lines] == ["exact", "Newmark", "RK4", "Simpson"]
        assert panel.y_label[0] == key
        assert exact.x[-1] == periods
        at_steps = np.asarray(exact.y)[::10]
        newmark, rk4, simpson = (np.abs(line.y - at_steps).max() / np.abs(at_steps).max() for line in found)
        assert simpson < rk4 / 10 < newmark / 10
        assert simpson < 0.05
        assert newmark > 0.4


def test_figure_5():
    """Distances of the points in phase space from the exact motion at the same times."""
    for panel in script.figure_5().panels:
        exact, *found = panel.lines
        x, y = (np.asarray(each)[::10] for each in (exact.x, exact.y))
        newmark, rk4, simpson = (np.hypot((line.x - x) / np.ptp(x), (line.y - y) / np.ptp(y)).max() for line in found)
        assert simpson < rk4 / 10 < newmark / 10
        assert len(x) == 31


def test_figure_6():
    """Newmark's scheme conserves the energy, Simpson's to 1e-3 without growth and 10⁴ times better with a tenth of the step."""
    coarse, fine = ({line.label: np.asarray(line.y) for line in panel.lines} for panel in script.figure_6().panels)
    assert max(coarse["Newmark"].max(), fine["Newmark"].max()) < 1e-14
    assert 1e-3 < coarse["Simpson"].max() < 1e-2
    assert coarse["Simpson"].max() / fine["Simpson"].max() == pytest.approx(1e4, rel=0.3)
    assert coarse["Simpson"][50:].max() < 1.1 * coarse["Simpson"][:50].max()
    assert np.all(np.diff(coarse["RK4"]) > 0)
    assert coarse["RK4"][-1] > 0.3


def test_figure_7():
    """The paper has 1e-15; φ itself is about 0.01 J s with ten steps in a period."""
    for panel, size in zip(script.figure_7().panels, (1e-2, 1e-3), strict=True):
        (line,) = panel.lines
        assert 0 < np.abs(line.y).max() < 1e-16
        t, error, start = script.form_error(round(1 / line.x[1]), 10)
        assert size / 3 < start < 3 * size


def test_figure_8():
    figure = script.figure_8()
    errors = {line.label: np.array(line.y) for line in figure.panels[0].lines}
    for (name, order), values in zip({"Newmark": 2, "RK4": 4, "Simpson": 4}.items(), errors.values(), strict=True):
        assert script.convergence_order(values, figure.panels[0].lines[0].x) == pytest.approx(order, abs=0.12), name
    assert np.all(errors["Simpson"] < errors["RK4"] / 10)
    assert np.all(errors["RK4"] < errors["Newmark"])


def test_misprint_of_the_largest_frequency():
    """The largest eigenvalue of K over the smallest of M is more than the largest of M⁻¹K."""
    M, K = script.EXACT.mass_matrix, script.EXACT.stiffness_matrix
    bound = np.linalg.eigvalsh(K)[-1] / np.linalg.eigvalsh(M)[0] / (2 * np.pi) ** 2
    sharp = script.EXACT.frequencies[-1] ** 2 / (2 * np.pi) ** 2
    (text,) = (reason for where, _, _, reason in script.MISPRINTS.rows if where == "after equation 40")
    assert f"{bound:.2f} ω0² against {sharp:.2f} ω0²" in text


def test_misprint_of_the_inverse_matrices():
    """The bound after equation 38 holds for M⁻¹ and K⁻¹ and not for M and K."""
    for A in (script.EXACT.mass_matrix, script.EXACT.stiffness_matrix):
        least, largest = np.linalg.eigvalsh(A)[[0, -1]]
        inverse = np.linalg.eigvalsh(np.linalg.inv(A))
        assert inverse == pytest.approx([1 / largest, 1 / least])
        assert not 1 / largest <= least or not largest <= 1 / least


def test_the_report_has_all_of_the_paper():
    report = script.report().computed()
    assert [part.title.split(":")[0] for part in report.parts] == [
        "Table 2",
        *(f"Figure {i}" for i in range(2, 9)),
        "Misprints",
    ]
    assert all(isinstance(cell, str | Number) for row in report.tables[0].rows for cell in row)
    assert report.count == "Of 96 printed numbers 90 agree and 6 differ."
