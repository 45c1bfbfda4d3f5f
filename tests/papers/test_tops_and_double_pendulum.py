"""Rojas-Quintero, Dubois & Jourdan 2025: what the text prints and says."""

import numpy as np
import pytest

import mbvi
from mbvi.papers import tops_and_double_pendulum as script
from mbvi.papers.report import Number


def numbers(row):
    return [cell.value for cell in row if isinstance(cell, Number)]


def rows_of(table, method):
    return {row[1]: row for row in table.rows if row[0] == method}


def orders(row):
    return [float(order) for order in row[-1].split(", ")]


# ------------------------------------------------------------------------------------ numbers and misprints


def test_numbers_in_the_text():
    """The momenta are 2π√3 and 4π; the nutation period is a misprint, or of another g."""
    period, p_phi, p_psi = script.printed_numbers().numbers
    assert p_phi.value == pytest.approx(2 * np.pi * np.sqrt(3), rel=1e-14)
    assert p_psi.value == pytest.approx(4 * np.pi, rel=1e-14)
    assert p_phi.agrees and p_psi.agrees and not period.agrees
    assert period.value == pytest.approx(1.84724, abs=5e-6)
    assert script.exact_top(script.gravity_of_the_printed_period()).period == pytest.approx(1.84671, rel=1e-12)
    assert "9.80991" in period.reason


def test_the_formula_of_the_nutation():
    """cos θ is 1/2 at the start with 6I²m, and is no cosine of the start with 6Im."""
    printed, correct = script.heights_at_the_start()
    assert correct == pytest.approx(0.5, rel=1e-13)
    assert abs(printed - 0.5) > 0.8


def test_misprinted_formulas():
    """As corrected they hold to 64 digits; as printed they miss by parts of the momenta, which are below 1."""
    found = script.residuals_of_formulas()
    assert len(found) > 1
    assert all(printed > 1e-4 and correct < 1e-64 for printed, correct in found.values()), found


def test_the_length_of_the_rods():
    """Only at g/ω₀² do the midpoint scheme and RK4 leave the motion while Simpson's rule follows it, as the paper reports."""
    assert script.double_pendulum_deviation("simpson") < 0.005
    assert script.double_pendulum_deviation("rk4") > 0.05
    assert script.double_pendulum_deviation("midpoint") > 0.5
    printed = script.G / script.OMEGA
    assert script.double_pendulum_deviation("rk4", printed) < 0.005


# ------------------------------------------------------------------------------------------ double pendulum


def test_angles_are_those_of_the_model(models):
    """The model's second angle is relative to the first rod; polynomial schemes do not care."""
    run = mbvi.simulate(mbvi.load(models / "double_pendulum.yaml"), "simpson", step=0.1, duration=10)
    found = script.double_pendulum_run("simpson", 0.1)
    np.testing.assert_allclose(np.cumsum(run.q, axis=1), found.q, rtol=0, atol=1e-11)
    np.testing.assert_allclose(run.energy(), found.energy(), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("name", "system"), [("lagrange_top", script.top), ("lagrange_top_cusps", script.cusped_top)])
def test_tops_are_those_of_the_models(name, system, models):
    """Mass matrix and potential at several states, up to the potential's constant, and the start."""
    ours, model = system(), mbvi.assemble(mbvi.load(models / f"{name}.yaml"))
    np.testing.assert_array_equal(ours.initial_q, model.initial_q)
    np.testing.assert_array_equal(ours.initial_v, model.initial_v)
    for q in np.random.default_rng(1).uniform(0.2, 1.5, (5, 3)):
        np.testing.assert_allclose(ours.mass_matrix(q), model.mass_matrix(q), rtol=1e-14)
        for found, expected in zip(ours.gradient(q, q), model.gradient(q, q), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_figures_2_and_3():
    for figure in (script.figure_2(), script.figure_3()):
        for panel in figure.panels:
            true, midpoint, simpson, rk4 = (np.asarray(line.y) for line in panel.lines)
            scale = np.abs(true).max()
            assert np.abs(simpson - true[::10]).max() < 0.02 * scale
            assert np.abs(midpoint - true[::10]).max() > 0.5 * scale
            assert np.abs(rk4 - true[::10]).max() > 0.05 * scale


def test_figure_4():
    """Orders 2 and 4; that of RK4 is higher than its own at large steps, where the drift of the energy prevails."""
    (panel,) = script.figure_4().panels
    orders = {line.label: script.successive_orders(line.y) for line in panel.lines}
    last = {label: each[-1] for label, each in orders.items()}
    assert last["implicit midpoint"] == pytest.approx(2, abs=0.01)
    assert last["Simpson"] == pytest.approx(4, abs=0.01)
    assert orders["RK4"][2] == pytest.approx(5, abs=0.1)
    assert 4 < last["RK4"] < orders["RK4"][2]


def test_figure_5():
    """RK4 loses energy all the time, the others do not: the last second is no worse than the first."""
    (panel,) = script.figure_5().panels
    for line in panel.lines:
        first, last = np.max(line.y[:10]), np.max(line.y[-10:])
        assert last > 5 * first if line.label == "RK4" else last < 2 * first


def test_table_2():
    table = script.table_2((1, 10))
    for method, order in (("implicit midpoint", 2), ("Simpson", 4)):
        short, long = rows_of(table, method).values()
        assert orders(long)[-1] == pytest.approx(order, abs=0.05)
        assert max(np.array(numbers(long)) / numbers(short)) < 1.2  # no growth with time
    short, long = rows_of(table, "RK4").values()
    assert min(np.array(numbers(long)) / numbers(short)) > 8


def test_kernels_against_64_digits():
    """Round-off of each coordinate's largest value: after a few steps a momentum of the top is still near 0, beside terms whose
    rounding is not. A hundred steps are those of test_reference.py."""
    table = script.table_of_64_digits(steps=20)
    assert len(table.rows) == 4
    for row in table.rows:
        assert all(value < 3 * np.finfo(float).eps for value in numbers(row)), row


def test_below_round_off():
    (panel,) = script.figure_below_round_off().panels
    lines = {line.label: np.asarray(line.y) for line in panel.lines}
    for name, order in (("implicit midpoint", 2), ("Simpson", 4)):
        exact, double = lines[f"{name}, 64 digits"], lines[f"{name}, double precision"]
        np.testing.assert_allclose(np.log10(exact[3:-1] / exact[4:]), order, rtol=0, atol=0.01)
        np.testing.assert_allclose(double[:2], exact[:2], rtol=1e-6)
        assert exact[-1] < 1e-17 < double.min()


# --------------------------------------------------------------------------------------------- top with loops


def test_figure_7():
    """The path is on the unit sphere's shadow, and nutation bounded by its start: 0 < θ ≤ π/3."""
    figure = script.figure_7()
    above, side = (panel.lines[0] for panel in figure.panels)
    np.testing.assert_allclose(above.x**2 + above.y**2 + side.y**2, 1, rtol=1e-14)
    assert np.min(side.y) == pytest.approx(0.5, rel=1e-12)
    assert np.max(side.y) < 1


def test_figure_8():
    """Simpson's rule at 9.3e-4; no visible deviation."""
    exact, *methods = script.figure_8().panels[0].lines
    assert exact.y[0] == pytest.approx(np.pi / 3)
    found = {line.label: np.abs(line.y - script.exact_top()(line.x)[0][:, 1]).max() for line in methods}
    assert found["Simpson"] < 2e-3 < found["RK4"] < 2e-2 < found["implicit midpoint"]
    assert script.nutation_errors("simpson", 37, 1).max() == pytest.approx(9.3e-4, rel=0.01)


def test_figure_9():
    """At the step of the figure: 1.2e-7 of Simpson's rule, closest to zero, and no trend of the variational schemes."""
    for line in script.figure_9().panels[0].lines:
        first, last = np.max(line.y[:37]), np.max(line.y[-37:])
        if line.label == "Simpson":
            assert last == pytest.approx(1.2e-7, rel=0.05)
        if line.label != "RK4":
            assert last == pytest.approx(first, rel=0.02)


def test_figure_10():
    for panel in script.figure_10().panels:
        for line in panel.lines:
            assert np.max(line.y) > 1e-6 if line.label == "RK4" else np.max(line.y) < 1e-14


def test_figure_11():
    for panel in script.figure_11().panels:
        for line in panel.lines:
            order = 2 if line.label == "implicit midpoint" else 4
            values = np.asarray(line.y)
            assert script.successive_orders(values[values > 1e-12])[-1] == pytest.approx(order, abs=0.05)


def test_tables_4_and_5():
    nutation, energy = script.table_4((1, 10)), script.table_5((1, 10))
    for table in (nutation, energy):
        for method, order in (("implicit midpoint", 2), ("Simpson", 4)):
            for row in rows_of(table, method).values():
                assert orders(row)[-1] == pytest.approx(order, abs=0.1)
        assert len(table.rows) == 6
    short, long = (numbers(row) for row in rows_of(energy, "Simpson").values())
    np.testing.assert_allclose(long, short, rtol=0.01)
    short, long = (numbers(row) for row in rows_of(nutation, "Simpson").values())
    assert max(np.array(long) / short) < 10  # the phase error grows linearly


def test_what_the_text_says_of_the_orders_of_long_runs():
    """Of the nutation, 0 by the midpoint scheme after 1000 periods and near 6 by RK4 after 100; of RK4's energy, near 5."""
    lost = [script.nutation_errors("midpoint", 37 * 2**k, 1000).max() for k in (2, 3)]
    assert script.successive_orders(lost)[0] == pytest.approx(0, abs=0.01)
    steep = [script.nutation_errors("rk4", 37 * 2**k, 100).max() for k in (1, 2)]
    assert script.successive_orders(steep)[0] == pytest.approx(5.5, abs=0.1)
    drift = [script.relative(script.top_run("rk4", 37 * 2**k, 100).energy()).max() for k in (1, 2)]
    assert script.successive_orders(drift)[0] == pytest.approx(5, abs=0.05)


def test_a_hundred_periods_of_simpson():
    """The order of the nutation error stays 4, and the energy error where it was."""
    errors = [script.nutation_errors("simpson", 37 * 2**k, 100).max() for k in (1, 2, 3)]
    np.testing.assert_allclose(script.successive_orders(errors), 4, rtol=0, atol=0.06)


def test_the_phase_locks_at_a_whole_number_of_steps():
    """The error swings within an island of the map of 37 steps; a tenth of a step beside, it grows with time."""
    locked, free = script.locked_and_free()
    assert script.nutation_errors("simpson", 37, 1000)[: 300 * 37].max() == pytest.approx(locked, rel=1e-3)
    assert locked < 0.1
    assert free == pytest.approx(1000 / 300 * script.nutation_errors("simpson", 37.1, 1000)[: 300 * 37].max(), rel=0.3)
    assert free > 0.5


# -------------------------------------------------------------------------------------------- top with cusps


def test_figure_12():
    """Cusps: the axis stands still at θ = 30 degrees whenever it is back there."""
    period = script.exact_cusped_top().period
    states = script.reduced_top(period / 1000, 3000)
    np.testing.assert_allclose(states[::1000, 1], np.pi / 6, rtol=1e-9)
    np.testing.assert_allclose(states[::1000, 2], 0, rtol=0, atol=1e-7)
    _, side = script.figure_12().panels
    assert np.max(side.lines[0].y) == pytest.approx(np.cos(np.pi / 6), rel=1e-12)


def test_figure_13():
    """Simpson on the complete system is nearer to the reference than RK4 on the reduced one, at the same step."""
    reference, *methods = script.figure_13().panels[0].lines
    found = {line.label.split(",")[0]: np.abs(line.y - reference.y[::1000]).max() for line in methods}
    assert found["Simpson"] < 0.6 * found["RK4"]
    assert found["RK4"] < 0.1 * found["implicit midpoint"]
    assert np.abs(reference.y - script.exact_cusped_top()(reference.x)[0]).max() < 1e-13


def test_figure_14():
    """Order 4 of the difference, as of both errors against the closed form."""
    _, errors = script.cusped_differences()
    np.testing.assert_allclose([script.successive_orders(each)[-3:] for each in errors], 4, rtol=0, atol=0.06)
