"""Marsden & Wendlandt 1997: the page of its figures and numbers, over short times."""

import re

import numpy as np
import pytest

import mbvi
from mbvi.papers import mechanical_integrators as paper
from mbvi.papers.report import Figure, Number
from tests.folders import MODELS

MODEL = MODELS / "double_spherical_pendulum.yaml"
DURATION = 4.0  # of the double spherical pendulum in the short report [s]


@pytest.fixture(scope="module")
def parts():
    return {part.title.split(":")[0]: part for part in paper.report(quick=True).computed().parts}


def test_printed_energies_of_the_rigid_body(parts):
    """To all eleven digits at 10⁻³ s; at 10⁻⁴ s within the paper's spread of 10⁻⁸ J."""
    rows = parts["Energy, momentum and position of the rigid body"].rows
    assert all(number.agrees for number in rows[1][1:3])
    assert 32.999999349 < rows[0][1].value < rows[0][2].value < 32.999999359
    for row in rows[:4]:
        assert row[3].value < 1e-9  # the energy is constant
    assert [number.value for number in rows[4][4:6]] == pytest.approx([2, 2], abs=0.05)
    errors = np.array(parts["Figure 1"].panels[0].lines[1].y)  # from the exact motion; the start's is seen below 10⁻³ s
    assert np.log10(errors[3] / errors[2]) == pytest.approx(2, abs=0.05)


def test_energy_of_the_rigid_body_is_that_of_the_discrete_lagrangian():
    """33 J − 62.75 h², by expansion: −33 ω²/12 − ω̇·Iω̇/24 + ω̇·Iω̇/12 with ω² = 25, ω̇ = (−12, 0, 0)."""
    for step in (1e-3, 1e-2):
        q = paper.body_run(step, 1.0)[1]
        assert paper.discrete_energy(paper.body(), q, step)[0] == pytest.approx(
            33 - (33 * 25 / 12 + 144 / 24 - 144 / 12) * step**2, abs=2e-8 + 100 * step**4
        )


def test_initial_state_of_the_pendulum():
    q, v = paper.pendulum_state(paper.STARTS)
    model_q, model_v = (getattr(mbvi.assemble(mbvi.load(MODEL)), each) for each in ("initial_q", "initial_v"))
    np.testing.assert_allclose(q, model_q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(v, model_v, rtol=0, atol=1e-12)
    assert paper.energy_and_momentum(np.array(paper.STARTS)) == pytest.approx([24.939585, 199.831905], abs=5e-7)


def test_printed_energy_and_momentum_are_within_the_rounding_of_the_initial_values(parts):
    values = np.array(paper.unrounded(DURATION))
    assert 0 < np.abs(values - paper.STARTS).max() < paper.HALF_UNIT
    assert paper.discrete_mean(DURATION, tuple(values)) == pytest.approx(paper.PRINTED_MEAN, abs=1e-8)
    rows = parts["Energy and momentum of the double spherical pendulum"].rows
    for number in rows[0][4:6]:
        assert not number.agrees and number.reason
    energies = [each for row in rows for each in row[2:4]]
    assert not any(isinstance(each, Number) for each in energies)  # the paper's extremes are of longer runs
    assert rows[4][6].value == pytest.approx(24.944499828 - 24.944495109, rel=0.05)  # their spread, in a shorter time
    for row in rows:
        assert row[7].value < 1e-8
    text = parts["Energy and momentum of the double spherical pendulum"].text
    orders = re.search(r"with orders (\S+) and (\S+)\. ", text).groups()
    assert [float(each) for each in orders] == pytest.approx([2, 2], abs=0.05)


def test_printed_extreme_energies_of_the_pendulum():
    """20.9108 J and 25.5833 J at 0.1 s over 20 s: exactly from unrounded initial values, near them from the printed."""
    assert paper.extreme_energies(paper.unrounded(DURATION)) == pytest.approx(paper.PRINTED_EXTREMES, abs=1e-9)
    assert paper.extreme_energies(paper.STARTS) == pytest.approx([20.9087, 25.5769], abs=5e-5)


def test_printed_energies_and_momenta_of_the_pendulum_at_the_smallest_step():
    """24.9445 J and 199.825467 kg m²/s over 20 s: from unrounded initial values to the paper's own round-off, as it shows in
    the momentum; from the printed ones at another value, and with the same swing.
    """
    ends = [[float(end) for end in printed[1e-4]] for printed in (paper.PRINTED_ENDS, paper.PRINTED_MOMENTA)]
    for values in (paper.unrounded(paper.PENDULUM_TIME), paper.STARTS):
        q = paper.pendulum_run("wendlandt_marsden", 1e-4, paper.PENDULUM_TIME, values)[1]
        energy, momentum = paper.discrete_energy(paper.pendulum(), q, 1e-4), paper.vertical_momentum(q, 1e-4)
        assert np.ptp(energy) == pytest.approx(4.8e-6, abs=1e-9)
        assert np.ptp(momentum) < (ends[1][1] - ends[1][0]) / 20
        if values != paper.STARTS:
            assert [energy.min(), energy.max()] == pytest.approx(ends[0], rel=0, abs=5e-8)
            assert ends[1][0] < momentum.min() < momentum.max() < ends[1][1]
        else:
            assert [energy.min(), energy.max()] == pytest.approx([24.939577435, 24.939582236], rel=0, abs=1e-9)
            assert momentum[0] == pytest.approx(199.8319025, rel=0, abs=1e-7)


def test_orders_and_errors_of_the_pendulum(parts):
    variational, other = parts["Figure 3"].panels[0].lines
    for line in (variational, other):
        assert np.log10(np.array(line.y)[1:] / np.array(line.y)[:-1]) == pytest.approx([2, 2], abs=0.1)
    for row in parts["Position errors and cost of both methods"].rows:
        assert row[3].value > 0


def test_examples_of_section_4(parts):
    rows = {row[0]: row[2:] for row in parts["The integrators of section 4 on a pendulum"].rows}
    for name, (order, energy) in rows.items():
        assert order.value == pytest.approx(mbvi.SCHEMES[name].order, abs=0.1 if name == "rk4" else 0.05)
        assert (energy.value < 1e-12) == (name in ("chorin", "energy_momentum"))


def test_energy_follows_the_multipliers(parts):
    figure = parts["Figure 5"]
    assert "their sum is 0.9" in figure.text
    assert np.ptp(figure.panels[2].lines[0].y) > 80 * np.ptp(figure.panels[2].lines[1].y)  # 0.1 s and 0.01 s


def test_every_figure_is_there(parts):
    for number in range(1, 6):
        assert isinstance(parts[f"Figure {number}"], Figure)
    for panel in parts["Figure 2"].panels + parts["Figure 4"].panels:
        assert np.isfinite(np.concatenate([np.asarray(line.y) for line in panel.lines])).all()
