"""Mutze: what the text prints of the direct midpoint method, its figures and the appendix, by the report that users see."""

import math

import numpy as np
import pytest

from mbvi.papers import direct_midpoint as paper
from mbvi.papers.report import Table
from mbvi.steppers.direct_midpoint import direct_midpoint


@pytest.fixture(scope="module")
def numbers():
    return {row[1]: row[2] for row in paper.numbers().rows}


@pytest.mark.parametrize(
    ("what", "value", "agrees"),
    [
        ("growth of the exact amplitude", 1024, True),
        ("direct midpoint: phase error at the end [degrees]", 11.884, False),
        ("the same with one simple iteration, a = A(t + τ, x + τv, v + τa₀)", 11.463, True),
        ("g without phase error, as in equation 72", 0.340, False),
        ("twice this g", 0.680, True),
        ("Runge-Kutta over midpoint variation: amplitude errors", 7.225, False),
        ("Runge-Kutta over midpoint variation: phase errors", 4.855, False),
        ("factor of kτ²", 0.6, True),
        ("p of the smoothest step function", 0.810747, True),
    ],
)
def test_number(numbers, what, value, agrees):
    """To the printed digits where they agree, with a reason where not."""
    number = numbers[what]
    assert number.value == pytest.approx(value, abs=5e-4)
    assert number.agrees is agrees
    assert bool(number.reason) or agrees
    if agrees:
        assert abs(number.value - float(number.printed)) <= number.unit / 2


def test_all_numbers_are_tested(numbers):
    assert len(numbers) == 9


def closed_form(g=0.0, start=(1.0, 0.0), is_runge_kutta=False):
    """Amplitude and phase [degrees] errors by powers of the step's matrix, from the formulas of section 7 alone."""
    h, omega, rho = 1 / 32, 2 * np.pi, -np.log(2) / 2
    b, k, tau = 2 * rho, omega**2 + rho**2, h / 2
    a = -np.array([k, b + k * tau]) / (1 + tau * (b + g * k * tau))  # of (x, v)
    step = np.array([[1, h], [0, 1]]) + np.outer([h**2 / 2, h], a)
    if is_runge_kutta:
        rates = h * np.array([[0, 1], [-k, -b]])
        step = np.eye(2) + rates + rates @ rates / 2
    states = [np.linalg.matrix_power(step, i) @ start for i in range(641)]
    complex_amplitude = np.array([x - 1j * (v + rho * x) / omega for x, v in states])
    back = complex_amplitude * np.exp((rho - 1j * omega) * h * np.arange(641)) / complex_amplitude[0]
    return np.abs(back) - 1, np.degrees(np.unwrap(np.angle(back)))


@pytest.mark.parametrize("number", [2, 3])
def test_lines_of_the_figures(number):
    """Every line against the closed form of its step; the midpoint variation is g = 3/5."""
    figure = paper.figure_2() if number == 2 else paper.figure_3()
    component = 0 if "amplitude" in figure.title else 1
    expected = {"direct midpoint, g = 0": 0.0, "g = 0.34 (paper: 0.68)": 0.34, "g = 0.5 (paper: 1)": 0.5}
    expected["midpoint variation"] = 0.6
    for panel in figure.panels:
        for line in panel.lines:
            is_runge_kutta = line.label not in expected
            found = closed_form(expected.get(line.label, 0.0), is_runge_kutta=is_runge_kutta)[component]
            np.testing.assert_allclose(line.y, found, rtol=0, atol=1e-9)
    assert [len(panel.lines) for panel in figure.panels] == [4, 5]


def test_what_the_text_says_of_the_figures():
    amplitude, phase = (
        {line.label: np.asarray(line.y) for line in figure.panels[1].lines}
        for figure in (paper.figure_2(), paper.figure_3())
    )
    parabolic = list(paper.ONE_STEP)
    by_amplitude = sorted(parabolic, key=lambda each: np.abs(amplitude[each]).max())
    by_phase = sorted(parabolic, key=lambda each: abs(phase[each][-1]))
    assert by_amplitude[0] == by_phase[-1] == "direct midpoint, g = 0"
    assert by_amplitude[-1] == by_phase[-2] == "midpoint variation"
    swing = amplitude[by_amplitude[0]].reshape(-1)[1:].reshape(20, 32)
    assert np.ptp(swing.max(axis=1)) < 0.01 * np.abs(amplitude["midpoint variation"]).max()  # no visible trend
    assert abs(phase["g = 0.34 (paper: 0.68)"][-1]) < 0.01
    first_order = paper.errors(direct_midpoint(iterations=0))
    assert np.abs(first_order.amplitude).max() < np.abs(amplitude["Runge-Kutta, order 2"]).max()
    assert abs(math.degrees(first_order.phase[-1])) < abs(phase["Runge-Kutta, order 2"][-1])


def test_the_phase_error_for_any_start():
    """It is nowhere 11.5 degrees at the end, whatever the phase of the start."""
    ends = [closed_form(start=(np.cos(x), 2 * np.pi * np.sin(x)))[1][-1] for x in np.linspace(0, np.pi, 40)]
    assert 11.75 < min(ends) < max(ends) < 11.9


def test_theorem():
    for name, g, *remainders, order in paper.theorem().rows:
        if (name, g) == ("harmonic oscillators", "0.6"):
            assert order == "none left"
            assert max(each.value for each in remainders) < 1e-12
        else:
            assert order.value == pytest.approx(2, abs=0.05)
            assert min(each.value for each in remainders) > 1e-7


def test_remainder_of_the_harmonic_oscillator():
    """(g − 3/5) τ² K a, which the table's text says; K and a by hand."""
    force = np.array([[6.0, 1.0], [1.0, 2.0]]) @ [-0.7, 2.0]
    for g in (0.0, 1.0):
        assert paper.remainder(paper.undamped(), 0.1, g) == pytest.approx(abs(g - 0.6) * 0.01 * np.linalg.norm(force))


def test_appendix():
    """All 142 printed coefficients are right, no term is missing, and DIFF begins with τ²."""
    rows = paper.appendix().rows
    assert [row[:2] for row in rows] == [
        *(("S", f"τ^{i}") for i in range(1, 6)),
        *(("LHS", f"τ^{i}") for i in range(3)),
        ("DIFF", "τ^2"),
    ]
    for _, _, same, count in rows:
        assert same.value == float(same.printed) == float(count)
    assert sum(row[2].value for row in rows) == 142


def test_a_wrong_coefficient_would_be_found():
    right = paper.printed_coefficients(paper.PRINTED_S)
    wrong = paper.printed_coefficients(paper.PRINTED_S.replace("8/5*aDx*aDv*aDv", "7/5*aDx*aDv*aDv"))
    assert right != wrong
    assert {power: right[power] for power in range(1, 6)} == {
        power: paper.series()["S"][power] for power in range(1, 6)
    }


def test_the_signs_of_equation_48():
    """The last integral of 47 for F = (λ x + μ v) with constant f₁ = λ a, f₂ = μ a, by the variation it stands for."""
    tau, a, e, along, against = 0.3, 0.7, 1.0, 2.0, -1.5
    h, weights = (np.array(each) for each in np.polynomial.legendre.leggauss(8))
    h, weights = tau * (h + 1), tau * weights
    sigma, rate = 3 / (4 * tau**3) * h * (2 * tau - h), 3 / (2 * tau**3) * (tau - h)
    true = weights @ (h / 2 * (h - 2 * tau) * a * e * (along * sigma + against * rate))
    first = weights @ (0.25 * (h * (h - 2 * tau)) ** 2) * along * a * e
    second = weights @ (h / 2 * (h - 2 * tau) * (h - tau)) * against * a * e
    assert true == pytest.approx(-3 / (2 * tau**3) * (first + second))


def test_report():
    quick = paper.report(quick=True).computed()
    assert [part.title.split(":")[0] for part in quick.parts] == [
        "Numbers of the text",
        "Figure 2",
        "Figure 3",
        "Theorem of section 5",
        "Appendix",
        "Misprints",
    ]
    for part in quick.parts:
        if isinstance(part, Table):
            assert all(len(row) == len(part.columns) for row in part.rows)
    assert all(number.agrees or number.reason for number in quick.numbers)


def test_other_dampings():
    """What the text of the table of claims says."""
    methods = [*paper.ONE_STEP.values(), *paper.RUNGE_KUTTA.values()]
    for doubling in (8.0, -2.0):
        worst = [np.abs(paper.errors(method, doubling).amplitude).max() for method in methods]
        assert min(worst) == worst[0]
    first_order = paper.errors(direct_midpoint(iterations=0), -2.0)
    assert np.abs(first_order.amplitude).max() > worst[-1]
    assert paper.g_without_phase_error(8.0) == pytest.approx(0.3344, abs=1e-4)
