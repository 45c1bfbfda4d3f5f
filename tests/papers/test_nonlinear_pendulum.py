"""Dubois & Rojas-Quintero 2023: every printed number of the pendulum."""

import numpy as np
import pytest
from scipy.special import ellipk

from mbvi.papers import nonlinear_pendulum as script


@pytest.fixture(scope="module")
def table():
    return script.table_1()


@pytest.mark.parametrize("row", range(6))
def test_table_1(table, row):
    numbers = table.rows[row][2:]
    assert len(numbers) == 4
    for number in numbers:
        assert abs(number.value - float(number.printed)) < number.unit, number
        assert number.agrees


def test_table_1_is_whole(table):
    assert len(table.numbers) == 24  # 18 errors and 6 orders
    assert all(
        number.printed == digits for number, digits in zip(table.numbers, sum(script.PRINTED.values(), ()), strict=True)
    )


def test_runge_kutta_for_reference(table):
    """Less accurate than Simpson's rule at the same step, and of order 4 at small ones."""
    simpson = {row[1]: row[2:] for row in table.rows if row[0] == "Symplectic Simpson"}
    coarse, fine = (script.errors(script.simulate("rk4", count)) for count in (800, 1600))
    for _, quantity, *numbers in table.rows[6:]:
        assert numbers[2].value > simpson[quantity][2].value
        assert np.log2(coarse[quantity] / fine[quantity]) == pytest.approx(4, abs=0.15)


def test_figure_1():
    """The motion starts at rest at 90 degrees, returns there five times, and is at most as fast as energy allows."""
    angle, momentum = (panel.lines[0] for panel in script.figure_1().panels)
    assert angle.x[-1] == pytest.approx(5 * 4 * ellipk(0.5) / (2 * np.pi), rel=1e-15)
    np.testing.assert_allclose(np.asarray(angle.y)[::200], np.pi / 2, rtol=1e-13)
    assert np.max(momentum.y) == pytest.approx(2 * np.pi * np.sqrt(2), rel=1e-4)  # p² = 2 V(π/2)


def test_figure_2():
    """Simpson's rule stays on the exact motion with ten steps in each period; the midpoint scheme is visibly late."""
    for panel in script.figure_2().panels:
        exact, newmark, simpson = panel.lines
        scale = np.max(np.abs(exact.y))
        at_steps = np.asarray(exact.y)[::20]
        assert np.abs(np.asarray(simpson.y) - at_steps).max() < 0.005 * scale
        assert np.abs(np.asarray(newmark.y) - at_steps).max() > 0.3 * scale
        assert len(newmark.y) == len(simpson.y) == 51


def test_the_misprinted_derivative():
    """∂L_S/∂q_m has g_ℓ − g_r, for that is (2m/3h)(−4q_ℓ + 8q_m − 4q_r) + …; with a plus it would not depend on q_m."""
    h, (ql, qm, qr) = 0.1, (0.3, 0.5, 0.4)
    gl, gr = (-3 * ql + 4 * qm - qr) / h, (ql - 4 * qm + 3 * qr) / h
    assert h / 6 * 4 / h * (gl - gr) == pytest.approx(2 / (3 * h) * (-4 * ql + 8 * qm - 4 * qr))
    assert h / 6 * 4 / h * (gl + gr) == pytest.approx(4 / 3 * (qr - ql) / h)
