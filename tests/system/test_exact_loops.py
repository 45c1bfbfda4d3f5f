"""Loops in rounded numbers: their joints' numbers are moved until they move exactly, with a report; others are left alone."""

import re
import warnings

import numpy as np
import pytest

import mbvi
from mbvi.cli.check_report import check_report
from mbvi.cli.run_report import run_report
from mbvi.system.assemble import built
from mbvi.system.closures import closures
from mbvi.system.initial import find_start
from mbvi.system.joint_numbers import changed, numbers, sensitivity
from tests.campaigns.rounded_loops import LINKAGES, door, rounded
from tests.folders import load

FORMULATIONS = ["tree", "embedding"]


def four_bar(axis):
    """models/four_bar.yaml with another axis of the support."""
    model = load("four_bar")
    support = model.joints["support"].model_copy(update={"axis": axis})
    return model.model_copy(update={"joints": {**model.joints, "support": support}})


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_four_bar_with_an_axis_off_by_1e_12(formulation):
    system = mbvi.assemble(four_bar((1e-12, -1, 0)), formulation)
    assert system.mobility[:2] == (1, 3)
    run = mbvi.simulate(system, step=0.005, duration=0.5)
    expected = mbvi.simulate(load("four_bar"), step=0.005, duration=0.5, formulation=formulation)
    assert np.abs(run.q - expected.q).max() < 3e-11
    assert run.constraint_residual().max() < 1e-14


def test_what_was_moved_is_reported():
    """The model stays as it was given, its resolved form is what the system has, and the difference is reported."""
    model = four_bar((1e-9, -1, 0))
    given, system = model.resolved(), mbvi.assemble(model)
    (loop,) = system.moved_loops
    assert loop.where == "joints.rocker pin" and "coupler - crank - world - rocker - coupler" in loop.bodies
    assert loop.redundant == 3 and 1e-10 < loop.gap < 1e-8 and 1e-10 < loop.moved < 1e-9
    assert system.model == model and model.resolved() == given and system.model.resolved() != given
    before, after = loop.changes["support", "axis"]
    assert before == given.joints["support"].axis and after == system.model.resolved().joints["support"].axis
    (line,) = system.model.mended
    assert re.match(
        r"joints\.rocker pin: 3 constraints of the loop .* follow from others but for 2\.\de-09; taken", line
    )
    assert mbvi.assemble(system.model).moved_loops == system.moved_loops  # and not again


def test_reports_tell_it():
    system = mbvi.assemble(four_bar((1e-9, -1, 0)))
    run = mbvi.simulate(system, step=0.01, duration=0.02)
    for report in (check_report(system, find_start(system)), run_report(run)):
        assert f"{system.moved_loops[0]}" in report


@pytest.mark.parametrize("name", ["four_bar", "bricard", "slider_crank", "stewart_platform", "n_four_bars"])
def test_exact_loops_are_left_alone(name):
    model = load(name)
    system = mbvi.assemble(model)
    assert system.model is model and system.moved_loops == ()


def test_a_leaning_door_moves_with_rounded_hinges():
    for formulation in FORMULATIONS:
        system = mbvi.assemble(rounded(door(), 1e-7), formulation)
        assert system.mobility.degrees_of_freedom == 1
        assert system.moved_loops[0].redundant == 5


def test_a_loop_that_contradicts_itself_is_refused():
    """With its name, by how much, and the tolerance that would do; with that it moves, and with 0 it is taken as it is."""
    model = four_bar((1e-4, -1, 0))
    expected = (
        r"^joints\.rocker pin: expected a loop that moves, found that constraints that follow from others of the loop coupler - "
        r"crank - world - rocker - coupler contradict them by 0\.00022, more than rounding explains; if numbers are rounded so, "
        r"write loop_tolerance: (\S+), which moves them; if they are meant, 0$"
    )
    with pytest.raises(mbvi.ModelError, match=expected) as caught:
        mbvi.assemble(model)
    enough = re.match(expected, str(caught.value))[1]
    system = mbvi.assemble(model.model_copy(update={"loop_tolerance": enough}))
    assert system.mobility[:2] == (1, 3) and system.moved_loops[0].moved < 1e-4
    with pytest.raises(mbvi.ModelError, match="m left in the loop"):
        find_start(mbvi.assemble(model.model_copy(update={"loop_tolerance": 0})))


def test_a_loop_far_from_closed_is_reported_as_before():
    with pytest.raises(mbvi.ModelError, match="expected constraints that can be satisfied"):
        find_start(mbvi.assemble(four_bar((0.1, -1, 0))))


@pytest.mark.parametrize("tolerance", [-1e-6, 0.1])
def test_tolerances_that_are_none(tolerance):
    with pytest.raises(mbvi.ModelError, match=r"^loop_tolerance: expected a number between 0 and 0\.01"):
        load("four_bar").model_copy(update={"loop_tolerance": tolerance}).resolved()


@pytest.mark.parametrize("name", ["turned frames", "spherical", "Bennett", "delta-like", "door, 3 hinges"])
def test_derivatives_by_the_numbers_are_those_of_differences(name):
    """At closed positions, where they are needed."""
    model = LINKAGES[name]().resolved()
    system = built(model).system(model, None)
    (closure,) = closures(system)
    start = closure.projected(system.given_q, 1e-6)
    q = [*closure.walk(start, 1e-6, 3)][-1].q
    of = numbers(closure)
    found, step = sensitivity(closure, q[None], of)[0], 1e-5
    for i, change in enumerate(step * np.eye(3 * len(of))):
        one, other = (changed(model, of, sign * change.reshape(-1, 3), closure.size) for sign in (1, -1))
        g = [built(each).system(each, None).constraint(q)[closure.rows] * closure.row_scales for each in (one, other)]
        np.testing.assert_allclose(found[:, i], (g[0] - g[1]) / (2 * step), rtol=0, atol=1e-8, err_msg=str(of[i // 3]))


def test_a_run_s_file_is_read_with_the_same_numbers(tmp_path):
    system = mbvi.assemble(four_bar((1e-8, -1, 0)))
    mbvi.simulate(system, step=0.01, duration=0.1, path=tmp_path / "run.h5")
    read = mbvi.read(tmp_path / "run.h5")
    assert read.system.model.resolved() == system.model.resolved()
    mbvi.read(tmp_path / "run.h5", system=system)


def test_an_almost_singular_start_is_no_rounding():
    """A parallelogram whose bars are almost in line is left alone, and warns of nothing."""
    model = load("n_four_bars")
    places = dict.fromkeys(("A0", "A1", "A2"), 1.5707) | dict.fromkeys(("B0", "B1 right"), -1.5707)
    initial = {name: each.model_copy(update={"position": places.get(name)}) for name, each in model.initial.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mbvi.assemble(model.model_copy(update={"initial": initial})).moved_loops == ()
