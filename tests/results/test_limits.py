"""Limits that a run exceeds: a slide that is driven along t², and thus at the rate 2 t by the force 2 m."""

import pytest
from typer.testing import CliRunner

import mbvi
from mbvi.cli import app
from mbvi.results.limits import exceeded_limits, unchecked_limits

LIMITS = {"lower": -1, "upper": 1, "speed": 3, "effort": 5}


def slide(limits, drive=None, **fields):
    drive = drive or {"constraints": {"drive": mbvi.PrescribedCoordinate(joint="slide", value="t**2")}}
    joint = mbvi.Prismatic(parent="world", child="cart", axis=(1, 0, 0), limits={"displacement": limits}, **fields)
    return mbvi.Model(
        name="slide", bodies={"cart": mbvi.Body(mass=3, inertia=(1, 1, 1))}, joints={"slide": joint}, **drive
    )


def output(*arguments):
    return CliRunner().invoke(app, [str(each) for each in arguments]).stdout


def found(model):
    trajectory = mbvi.simulate(model, step=0.01, duration=2)
    return [(each.limit, each.extreme, each.time) for each in exceeded_limits(trajectory)]


@pytest.mark.filterwarnings("ignore::mbvi.errors.LimitWarning")
def test_every_limit_is_looked_at():
    expected = [("upper limit", 4, 1.01), ("largest speed", 4, 1.51), ("largest effort", 6, 0)]
    assert found(slide(LIMITS)) == [(limit, pytest.approx(value), pytest.approx(t)) for limit, value, t in expected]
    force = {"forces": {"motor": mbvi.JointForce(joint="slide", value="-6*t")}}
    expected = [("lower limit", -8 / 3, 1.45), ("largest speed", 4, 1.74), ("largest effort", 12, 0.84)]
    assert found(slide(LIMITS, force)) == [
        (limit, pytest.approx(value, rel=1e-3), pytest.approx(t)) for limit, value, t in expected
    ]
    assert found(slide({"lower": -9, "upper": 9, "speed": 9, "effort": 13}, force)) == []


def test_a_run_warns():
    message = "^slide: slide.displacement: up to 4 m, beyond the upper limit of 1 m, first at t = 1.01 s$"
    with pytest.warns(mbvi.errors.LimitWarning, match=message):
        mbvi.simulate(slide({"upper": 1}), step=0.01, duration=2)


def test_joints_without_coordinates_are_named():
    system = mbvi.assemble(slide(LIMITS, {"constraints": {}}), "embedding")
    assert unchecked_limits(system) == ("slide",)
    assert unchecked_limits(mbvi.assemble(slide(LIMITS))) == ()


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (
            {"angle": {"upper": 1}},
            "joints.slide.limits.angle: expected an angle or a displacement, found 'angle'; known: displacement",
        ),
        (
            {"displacement": {"lower": 2, "upper": 1}},
            "limits.displacement.lower: expected a lower limit, found 2 above the upper",
        ),
        ({"displacement": {"upper": "3 deg"}}, "limits.displacement.upper: expected a value in m, found '3 deg'"),
        (
            {"displacement": {"speed": 0}},
            "limits.displacement.speed: expected a speed greater than 0, found 0; leave it out",
        ),
    ],
)
def test_limits_that_cannot_be(limits, message):
    joint = {"type": "prismatic", "parent": "world", "child": "cart", "axis": (1, 0, 0), "limits": limits}
    with pytest.raises(mbvi.ModelError) as error:
        mbvi.Model(name="slide", bodies={"cart": {"mass": 1}}, joints={"slide": joint})
    assert message in str(error.value)


def test_reports_tell_of_limits_and_of_friction(tmp_path):
    model = slide({"upper": -1}, {"initial": {"slide": {"velocity": 1}}}, friction=0.5)
    mbvi.save(model, tmp_path / "slide.yaml")
    text = output("check", tmp_path / "slide.yaml")
    assert "joints.slide.friction: dry friction of 0.5, which no dry_friction lets act" in text
    assert "joints.slide: displacement starts at 0, above its upper limit -1" in text
    text = output("run", tmp_path / "slide.yaml", "-o", tmp_path / "slide.h5")
    assert "slide.displacement: up to 10 m, beyond the upper limit of -1 m, first at t = 0 s" in text
