"""Large steps at in-line positions of a parallelogram, which is also an antiparallelogram there: never a silent change."""

import re

import numpy as np
import pytest
import sympy

import mbvi
from mbvi.steppers import branches
from tests.marks import coarse

from ..physics import systems
from ..physics.test_loops import change_point, check_parallelogram, directions, smooth_branch


def parallelogram(rate, is_driven=False):
    """Its crank at 90°, with a rate [rad/s], under gravity or turned at this rate."""
    model = change_point((1, 0.5, 1, 0.5), np.pi / 2, rate)
    if not is_driven:
        return model
    drive = mbvi.PrescribedCoordinate(joint="shaft", coordinate="angle", value=f"pi/2 + {rate}*t")
    return mbvi.Model(**{**dict(model), "constraints": {"drive": drive}})


LEAVING = [
    ("midpoint", 0.04, 6.0, False, 23),
    ("simpson", 0.025, 12.0, False, 4),
    ("gauss3", 0.08, 6.0, False, 34),
    ("simpson", 0.02, 17.0, True, 133),
]


@pytest.mark.parametrize(("scheme", "step", "rate", "is_driven", "number"), LEAVING)
@pytest.mark.parametrize("every", [1, 5])
def test_a_step_to_another_branch_is_an_error(scheme, step, rate, is_driven, number, every):
    """The states before it are on the branch, as many as are stored; a quarter of the step passes."""
    model = parallelogram(rate, is_driven)
    with pytest.raises(mbvi.StepError) as caught:
        mbvi.simulate(model, scheme, step=step, duration=100 * step + 1, formulation="embedding", every=every)
    message, found = str(caught.value), caught.value.trajectory
    reason = "at a singular configuration the loops would leave the branch of their motion"
    assert message.startswith(f"step {number} (t = {step * number:g} s): {reason}. ")
    assert message.endswith(f"A smaller step may help: try step={step / 2:g}.")
    assert len(found) == number // every + 1
    check_parallelogram(found, 1e-6)
    check_parallelogram(mbvi.simulate(model, scheme, step=step / 4, duration=1, formulation="embedding"), 1e-6)


def test_a_polynomial_leads_along_the_branch():
    """Steps of 0.4 rad stay on the branch when they start along the polynomial of the step before, not from increments."""
    run = mbvi.simulate(parallelogram(8.0), "gauss3", step=0.05, duration=6.0, formulation="embedding")
    check_parallelogram(run, 1e-6)


SIDES = {lengths: smooth_branch(lengths) for lengths in ((0.9, 0.5, 0.8, 0.6), (1.0, 0.4, 0.7, 0.7))}
VERY_LARGE = [  # lengths, formulation, scheme, step, rate, number of the step to another branch
    (0, "tree", "midpoint", 0.05, 20.0, 6),
    (0, "tree", "simpson", 0.05, 20.0, 5),
    (0, "tree", "gauss3", 0.05, 20.0, 5),
    (0, "embedding", "simpson", 0.05, 10.0, 3),
    (1, "embedding", "midpoint", 0.025, 14.0, 12),
    (1, "tree", "gauss3", 0.04, 20.0, 7),
]


@coarse
@pytest.mark.parametrize(("which", "formulation", "scheme", "step", "rate", "number"), VERY_LARGE)
def test_a_step_past_a_singular_configuration_to_another_branch(
    which, formulation, scheme, step, rate, number, monkeypatch
):
    """It turns bars by 0.5 to 3 rad, and is far from the position in line at both of its ends; without the watch it is taken."""
    lengths = list(SIDES)[which]
    s, angles = SIDES[lengths]
    coupler = sympy.lambdify(s, angles[1])

    def off(run):
        crank, found = np.moveaxis(directions(run, ["crank", "coupler"]), 1, 0)
        angle = coupler(np.unwrap(np.arctan2(crank[:, 1], crank[:, 0])))
        return np.linalg.norm(found - np.column_stack([np.cos(angle), np.sin(angle)]), axis=1)

    def run():
        model = change_point(lengths, np.pi / 2, rate)
        return mbvi.simulate(model, scheme, step=step, duration=3.0, formulation=formulation)

    with pytest.raises(mbvi.StepError) as caught:
        run()
    assert re.search("the loops (would|may) leave the branch of their motion", str(caught.value))
    assert len(caught.value.trajectory) <= number + 1
    np.testing.assert_allclose(off(caught.value.trajectory), 0, rtol=0, atol=1e-6)
    monkeypatch.setattr(branches, "has_loops", lambda run: False)
    try:
        found = run()
    except mbvi.StepError as error:
        found = error.trajectory
    assert off(found)[number + 1] > 0.05


@coarse
@pytest.mark.parametrize(
    ("scheme", "step", "rate"), [("midpoint", 0.02, 20.0), ("simpson", 0.05, 20.0), ("gauss3", 0.04, 20.0)]
)
def test_a_light_bar_that_leaves_its_branch(scheme, step, rate, monkeypatch):
    """The cranks are longer than the coupler, whose turn changes the velocity little in the metric of M: the energy tells."""

    def run():
        model = change_point((0.4, 1, 0.4, 1), np.pi / 2, rate)
        return mbvi.simulate(model, scheme, step=step, duration=2.0, formulation="embedding")

    with pytest.raises(mbvi.StepError, match="the loops would leave the branch of their motion") as caught:
        run()
    found = caught.value.trajectory
    check_parallelogram(found, 1e-6)
    monkeypatch.setattr(branches, "has_loops", lambda run: False)
    without = run()
    assert np.abs(directions(without)[len(found) : len(found) + 4, 1] - [1, 0]).max() > 0.05
    energy = without.energy()
    assert abs(energy[len(found)] - energy[len(found) - 1]) > 0.03 * without.kinetic_energy().max()


@pytest.mark.parametrize("name", ["four_bar", "bricard"])
def test_the_length_of_pieces_does_not_matter(name, monkeypatch):
    """Steps are looked at by what is before and after them, also where a piece begins and ends."""
    seen = {}
    for chunk in (4096, 1, 7):
        monkeypatch.setattr(branches, "CHUNK", chunk)
        looked_at = seen.setdefault(chunk, [])
        monkeypatch.setattr(
            branches.BranchWatch, "reason_of", lambda self, step, *_, looked_at=looked_at: looked_at.append(step) or ""
        )
        mbvi.simulate(systems.model(name), "midpoint", step=0.04, duration=4.0)
    assert seen[4096] == seen[1] == seen[7] and len(seen[1]) > 1


@coarse
def test_what_it_guards_against(monkeypatch):
    """Without the watch the run goes on, on the other branch and with half of its energy."""
    monkeypatch.setattr(branches, "has_loops", lambda run: False)
    found = mbvi.simulate(parallelogram(12.0), "simpson", step=0.025, duration=0.2, formulation="embedding")
    energy = found.energy()
    assert energy[5] < 0.5 * energy[4]


@pytest.mark.parametrize("name", ["n_four_bars", "bricard"])
def test_states_between_those_that_are_stored(name, monkeypatch):
    """They are looked at in chunks; what is stored is the same bit for bit."""
    monkeypatch.setattr(branches, "CHUNK", 13)
    every, all_states = (
        mbvi.simulate(systems.model(name), "midpoint", step=0.005, duration=0.7, every=every) for every in (7, 1)
    )
    np.testing.assert_array_equal(every.q, all_states.q[::7])
    np.testing.assert_array_equal(every.p, all_states.p[::7])


def test_a_motion_that_turns_back_beside_a_singular_configuration():
    """Its rate changes its sign, and large steps bend, without a change of branch."""
    model = change_point((1, 0.5, 1, 0.5), np.pi - 0.2, 0.0)
    found = mbvi.simulate(model, "simpson", step=0.04, duration=4.0, formulation="embedding")
    check_parallelogram(found, 1e-6)


def test_a_member_of_an_ensemble_ends_there_too():
    model = parallelogram(12.0)
    found = mbvi.ensemble(model, {"v.shaft.angle": [3.0, 12.0]}, "simpson", 0.025, 1.0, formulation="embedding")
    assert found.status.values.tolist() == [0, 1] and found.steps.values.tolist() == [40, 4]
    assert "would leave the branch of their motion" in found.reason.values[1]


def resting(name):
    """A system whose coordinates move by rounding alone, at first or for good."""
    if name == "stewart_platform":
        model = systems.model(name)
        return mbvi.Model(**dict(model) | {"parameters": model.parameters | {"stroke": 0.0}})
    if name == "slowing":  # by oil in its joint
        model = change_point((1.0, 3.0, 2.5, 3.0), np.pi / 2, 1.0)
        oil = mbvi.JointDamper(joint="shaft", coordinate="angle", damping=300.0)
        return mbvi.Model(**dict(model) | {"gravity": (0, 0, 0), "forces": {"oil": oil}})
    model = systems.model("four_bar")
    if name == "dwelling":  # its crank stands, then turns
        drive = mbvi.PrescribedCoordinate(joint="shaft", coordinate="angle", value="1.2 + max(0, t - 0.1)**3")
        return mbvi.Model(**dict(model) | {"constraints": {"drive": drive}, "initial": {}})
    return mbvi.Model(**dict(model) | {"gravity": (0, 0, 0), "initial": {}})


@coarse
@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize("name", ["standing", "stewart_platform", "dwelling", "slowing"])
def test_systems_at_rest(name, formulation):
    """Two half steps end elsewhere by rounding; that tells nothing."""
    found = mbvi.simulate(resting(name), "simpson", step=0.01, duration=5.0, formulation=formulation)
    resting_at = {"dwelling": slice(0, 10), "slowing": slice(-10, None)}.get(name, slice(None))
    assert np.abs(np.diff(found.q, axis=0)[resting_at]).max() < 1e-13


def antiparallelogram(rate):
    """Cranks of 1 m, ground and coupler of 1.5 m, crossed, the crank at 60°."""
    crank, coupler = np.array([np.cos(np.pi / 3), np.sin(np.pi / 3)]), 1.5
    to_support = np.array([coupler, 0.0]) - crank
    d = np.linalg.norm(to_support)
    along = (coupler**2 - 1 + d**2) / (2 * d)
    x, y = to_support / d
    pin = crank + along * np.array([x, y]) + np.sqrt(coupler**2 - along**2) * np.array([y, -x])
    model = change_point((coupler, 1.0, coupler, 1.0), np.pi / 3, rate, 0.0)
    angles = {
        "crank pin": np.arctan2(*(pin - crank)[::-1]) - np.pi / 3,
        "support": np.arctan2(pin[1], pin[0] - coupler),
    }
    initial = {name: mbvi.Initial(position=angle) for name, angle in angles.items()}
    return mbvi.Model(**dict(model) | {"initial": model.initial | initial})


def test_a_step_over_a_singular_configuration_that_does_not_converge_is_done_in_parts():
    """It stays on its branch: the energy changes by what steps of 0.1 s err, not by the 4 % and more of a jump."""
    with pytest.warns(
        mbvi.errors.SingularityWarning, match=r"^step 9 \(t = 0.9 s\): falls on a singular configuration"
    ):
        found = mbvi.simulate(antiparallelogram(-6.0), "simpson", step=0.1, duration=4.0)
    assert np.ptp(found.energy()) < 0.005 * found.kinetic_energy().max()
    assert found.constraint_residual().max() < 1e-13
