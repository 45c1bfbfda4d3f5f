"""Units of angle: which one an expression has, and that every field of a model takes only its own."""

import pytest

import mbvi.model as mm
from mbvi.errors import ModelError
from mbvi.model.units import check_unit, unit_of

from .test_elements import CURVE, DISTANCE, FORCE, GEAR, SLIDE, SPRING, changed

UNITS = {"tilt": "rad", "spin": "rad/s"}
"""Those of parameters; others, as length, have none."""


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        # a value with a unit keeps it under signs, sums and numbers as factors
        ("30 deg", "rad"),
        ("-(30 + 15) deg", "rad"),
        ("2*30 deg/3", "rad"),
        ("60*deg", "rad"),
        ("1 + 30 deg", "rad"),
        ("length deg", "rad"),
        ("2*tilt + 5 deg", "rad"),
        ("30 deg * sin(2*pi*t)", "rad"),
        ("max(tilt, 0, abs(-1 rad))", "rad"),
        ("10 rpm", "rad/s"),
        ("2*pi rad/s", "rad/s"),
        ("spin - 30 deg / s", "rad/s"),
        ("30 deg/s**2", "rad/s²"),
        ("10 rpm/s", "rad/s²"),
        # a rate times the time is of the next lower order
        ("90 deg/s * t", "rad"),
        ("t*spin + tilt", "rad"),
        ("30 deg/s**2 * (t - 0.5)", "rad/s"),
        ("t deg/s", "rad"),
        # numbers alone and the time may be anything
        ("pi/3", ""),
        ("sin(30 deg)", ""),
        ("exp(-t deg/s)", ""),
        ("2*t", "t"),
        # products with what may have any unit are not judged: an arc, a pitch, an acceleration across a circle
        ("length * 30 deg", None),
        ("0.01/(360 deg)", None),
        ("length*spin**2", None),
        ("tilt*tilt", None),
        ("180 deg / pi / 1 rad", None),
        ("sqrt(tilt)", None),
        ("atan2(tilt, 1 rad)", None),
        ("1 + length", None),
    ],
)
def test_unit_of_an_expression(text, unit):
    assert unit_of(text, UNITS) == unit


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("30 deg + 10 rpm", "terms of one unit, found rad and rad/s in '30 deg + 10 rpm'; give all terms one unit"),
        ("max(tilt, spin)", "terms of one unit, found rad and rad/s in 'max(tilt, spin)'; give all terms one unit"),
        ("sin(spin)", "an angle in sin(…), found rad/s in 'sin(spin)'; multiply it by a time"),
        (
            "tilt deg",
            "a number before a unit, found 'tilt' in 'tilt deg', which is in rad already; remove one of the units",
        ),
    ],
)
def test_units_that_conflict_within_an_expression(text, message):
    with pytest.raises(ModelError) as caught:
        check_unit(text, UNITS, None)
    assert str(caught.value) == f"expected {message}"


def in_a_body(**values):
    return {"bodies__rod": {"mass": 1, "inertia": [1, 1, 1], **values}}


def with_gear(**values):
    return {"joints__hub": ..., "joints__slide": SLIDE, "constraints": {"gear": {**GEAR, **values}}}


def shape(**values):
    return in_a_body(shapes=[{"radius": 1, "mass": 1, **values}])


ANGLE, RATE = "'30 deg', which is in rad", "'30 rpm', which is in rad/s"
TABLE = {"times": [0, 1], "values": [1, "30 deg"]}
WRONG = {
    "bodies.rod.mass": (in_a_body(mass="30 deg"), "kg", ANGLE),
    "bodies.rod.center_of_mass.1": (in_a_body(center_of_mass=[0, "30 deg", 0]), "m", ANGLE),
    "bodies.rod.inertia.0": (in_a_body(inertia=["30 deg", 1, 1]), "kg m²", ANGLE),
    "bodies.rod.points.p.2": (in_a_body(points={"p": [0, 0, "30 rpm"]}), "m", RATE),
    "bodies.rod.point_masses.bob.mass": (
        in_a_body(point_masses={"bob": {"mass": "30 deg", "position": [0, 0, 0]}}),
        "kg",
        ANGLE,
    ),
    "bodies.rod.shapes.0.radius": (shape(type="sphere", radius="30 deg"), "m", ANGLE),
    "bodies.rod.shapes.0.length": (shape(type="cylinder", length="30 deg"), "m", ANGLE),
    "bodies.rod.shapes.0.density": (shape(type="sphere", mass=None, density="30 deg"), "kg/m³", ANGLE),
    "bodies.rod.shapes.0.orientation.0": (shape(type="sphere", orientation=["30 rpm", 0, 0]), "rad", RATE),
    "joints.crank.position.0": ({"joints__crank__position": ["30 deg", 0, 0]}, "m", ANGLE),
    "joints.crank.orientation.2": ({"joints__crank__orientation": [0, 0, "30 rpm"]}, "rad", RATE),
    "gravity.2": ({"gravity": [0, 0, "30 deg/s**2"]}, "m/s²", "'30 deg/s**2', which is in rad/s²"),
    "forces.f.vector.0": ({"forces__f": {**FORCE, "vector": ["30 deg", 0, 0]}}, "N", ANGLE),
    "forces.f.point.0": ({"forces__f": {**FORCE, "point": ["30 deg", 0, 0]}}, "m", ANGLE),
    "forces.s.rest_length": ({"forces__s": {**SPRING, "rest_length": "30 deg"}}, "m", ANGLE),
    "forces.s.stiffness": ({"forces__s": {**SPRING, "stiffness": "30 deg"}}, "N/m", ANGLE),
    "forces.j.rest": (
        {"forces__j": {"type": "joint_spring", "joint": "crank", "stiffness": 1, "rest": "30 rpm"}},
        "rad",
        RATE,
    ),
    "forces.j.stiffness": (
        {"forces__j": {"type": "joint_spring", "joint": "crank", "stiffness": "30 deg"}},
        "N m/rad or N/m",
        ANGLE,
    ),
    "forces.j.value": (
        {"forces__j": {"type": "joint_force", "joint": "crank", "value": "30 deg * sin(t)"}},
        "N m or N",
        "'30 deg * sin(t)', which is in rad",
    ),
    "constraints.d.length": ({"constraints__d": {**DISTANCE, "length": "30 deg"}}, "m", ANGLE),
    "constraints.d.length.values.1": ({"constraints__d": {**DISTANCE, "length": TABLE}}, "m", ANGLE),
    "constraints.d.length.times.1": (
        {"constraints__d": {**DISTANCE, "length": {"times": [0, "30 deg"], "values": [1, 2]}}},
        "s",
        ANGLE,
    ),
    "constraints.c.curve.1": ({"constraints__c": {**CURVE, "curve": ["s", "30 deg", 0]}}, "m", ANGLE),
    "constraints.c.start_rate": ({"constraints__c": {**CURVE, "start_rate": "30 deg"}}, "rad/s", ANGLE),
    "constraints.p.position.0": (
        {"constraints__p": {"type": "prescribed_point", "body": "rod", "position": ["30 deg/s * t", 0, 0]}},
        "m",
        "'30 deg/s * t', which is in rad",
    ),
    "constraints.p.value": (
        {"constraints__p": {"type": "prescribed_coordinate", "joint": "crank", "value": "30 rpm"}},
        "rad",
        RATE,
    ),
    "constraints.gear.offset": (with_gear(offset="30 deg"), "m", ANGLE),
    "initial.crank.position": ({"initial__crank__position": "30 rpm"}, "rad", RATE),
    "initial.crank.velocity": ({"initial__crank__velocity": "30 deg"}, "rad/s", ANGLE),
    "initial.hub.velocity.1": ({"initial__hub__velocity": [0, "30 deg", 0]}, "rad/s", ANGLE),
    "simulation.step": ({"simulation__step": "30 deg"}, "s", ANGLE),
    "simulation.duration": (
        {"parameters__tilt": "30 deg", "simulation__duration": "2*tilt"},
        "s",
        "'2*tilt', which is in rad",
    ),
}


@pytest.mark.parametrize("place", WRONG)
def test_wrong_units(place):
    changes, expected, found = WRONG[place]
    with pytest.raises(ModelError) as caught:
        mm.Model(**changed(**changes))
    message = f"{place}: expected a value in {expected}, found {found}; a number alone is in {expected}"
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"joints__crank__axis": [0, "30 deg", 1]}, "joints.crank.axis.1"),
        ({"initial__hub__position": [1, "30 deg", 0, 0]}, "initial.hub.position.1"),
    ],
)
def test_units_where_there_are_none(changes, place):
    with pytest.raises(ModelError) as caught:
        mm.Model(**changed(**changes))
    assert str(caught.value) == f"{place}: expected no unit, found {ANGLE}; a number alone has none"


@pytest.mark.parametrize(
    "changes",
    [
        {"joints__crank__orientation": [0, "30 deg", "1 rad"]},
        {"initial__crank": {"position": "-30 deg", "velocity": "30 rpm"}},
        {"initial__hub__velocity": ["30 deg/s", 0, "2*pi rad/s"]},
        {"parameters__tilt": "30 deg", "initial__crank__position": "tilt/2 + 0.1"},
        {
            "parameters__rate": "30 rpm",
            "constraints__p": {"type": "prescribed_coordinate", "joint": "crank", "value": "rate*t"},
        },
        {
            "constraints__p": {
                "type": "prescribed_coordinate",
                "joint": "crank",
                "value": {"times": [0, 1], "values": ["10 deg", "60 deg"]},
            }
        },
        {"forces__j": {"type": "joint_spring", "joint": "crank", "stiffness": "2/(1 deg)", "rest": "30 deg"}},
        {
            "constraints__c": {
                **CURVE,
                "curve": ["cos(s)", "length*sin(s + 30 deg)", 0],
                "start": "90 deg",
                "start_rate": "5 rpm",
            }
        },
        {"constraints__d": {**DISTANCE, "length": "length * 30 deg"}},
        {"constraints__d": {**DISTANCE, "length": "length*cos(30 deg) + 0.1"}},
        with_gear(offset=0.1, ratio="0.02/(360 deg)"),
        with_gear(joint_a="slide", joint_b="crank", offset="30 deg"),
    ],
)
def test_right_units(changes):
    mm.Model(**changed(**changes))


def test_several_units_for_the_coordinates_of_one_joint():
    slide = {"type": "cylindrical", "parent": "rod", "child": "top", "axis": [0, 0, 1]}
    mm.Model(**changed(joints__hub=slide, initial__hub={"position": ["30 deg", 1], "velocity": ["30 rpm", 1]}))
    with pytest.raises(ModelError, match=r"initial\.hub\.position\.1: expected a value in m, found '30 deg'"):
        mm.Model(**changed(joints__hub=slide, initial__hub={"position": [1, "30 deg"]}))


def test_units_that_conflict_in_a_parameter():
    with pytest.raises(
        ModelError, match=r"parameters\.b: expected terms of one unit, found rad and rad/s in 'tilt \+ 1 rpm'"
    ):
        mm.Model(**changed(parameters={"b": "tilt + 1 rpm", "tilt": "30 deg", "length": 2}))
