"""Stops by expressions of coordinates, places and the time."""

import math

import numpy as np
import pytest

import mbvi
from mbvi.errors import ModelError
from mbvi.model import Model
from mbvi.system.contacts import Contacts


def arm() -> Model:
    """Three bodies on a ball joint, a hinge and a slide, in front of a wall of no sense that moves."""
    frames = {"tip": mbvi.Frame(position=(0.3, 0.1, -0.2))}
    body = mbvi.Body(mass=1, center_of_mass=(0.1, 0.2, 0.3), inertia=(0.1, 0.1, 0.1), frames=frames)
    gap = "5 + x('c.tip')**2*y('b') + sin(q('hinge')*z('a.tip')) + t*q('slide')*x('b') + exp(z('c')*t)"
    return Model(
        name="arm",
        bodies={"a": body, "b": body, "c": body},
        joints={
            "ball": mbvi.Ball(parent="world", child="a", position=(0.1, 0.2, 0.3)),
            "hinge": mbvi.Revolute(parent="a", child="b", axis=(1, 2, 3), position=(0.4, 0.1, 0)),
            "slide": mbvi.Prismatic(parent="b", child="c", axis=(0, 1, 1), position=(0.2, 0.1, 0.3)),
        },
        contacts={"wall": mbvi.ExpressionStop(gap=gap)},
    )


def shaken(gap: str) -> Model:
    """A ball of 2 kg above a table of height 0.2 m sin(9 t)."""
    return Model(
        name="shaken",
        gravity=(0, 0, -10),
        parameters={"A": 0.2},
        bodies={"ball": mbvi.Body(mass=2)},
        joints={"fall": mbvi.Prismatic(parent="world", child="ball", axis=(0, 0, 1))},
        contacts={"table": mbvi.ExpressionStop(gap=gap)},
    )


def plane(contact, position=(0.5, 0.25), velocity=(0.0, 0.0), gravity=9.81) -> Model:
    """A bead that moves along x and z."""
    slides = {
        "x": mbvi.Prismatic(parent="world", child="cart", axis=(1, 0, 0)),
        "z": mbvi.Prismatic(parent="cart", child="bead", axis=(0, 0, 1)),
    }
    starts = zip(slides, position, velocity, strict=True)
    return Model(
        name="bead",
        gravity=(0, 0, -gravity),
        bodies={"cart": mbvi.Body(mass=0), "bead": mbvi.Body(mass=1)},
        joints=slides,
        contacts={"wall": contact},
        initial={name: mbvi.Initial(position=q, velocity=v) for name, q, v in starts},
    )


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_derivatives_of_gaps_are_those_of_differences(formulation):
    system, random, t, h = mbvi.assemble(arm(), formulation), np.random.default_rng(1), 0.7, 1e-6
    contacts = Contacts(system, system.given_q, 0.0)
    q, v = system.given_q + 0.3 * random.standard_normal(system.dimension), random.standard_normal(system.dimension)

    def gap(t: float, q: np.ndarray) -> float:
        return contacts.gaps(np.array([t]), q[None])[0, 0]

    def rate(late: float) -> float:
        J, J_t = contacts.gap_gradients(t + late, q + late * v)
        return (J @ v + J_t)[0]

    J, J_t = contacts.gap_gradients(t, q)
    assert J[0] == pytest.approx([(gap(t, q + h * e) - gap(t, q - h * e)) / (2 * h) for e in np.eye(len(q))], abs=1e-8)
    assert J_t[0] == pytest.approx((gap(t + h, q) - gap(t - h, q)) / (2 * h), abs=1e-8)
    assert contacts.gap_curvatures(t, q, v)[0] == pytest.approx((rate(h) - rate(-h)) / (2 * h), abs=1e-6)


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_a_billiard_in_an_ellipse_keeps_its_second_integral(formulation):
    wall = mbvi.ExpressionStop(gap="1 - x('bead')**2/4 - z('bead')**2", restitution=1)
    model = plane(wall, (0.2, 0.1), (0.3, 1.0), gravity=0)
    run = mbvi.simulate(model, "simpson", step=0.05, duration=20, formulation=formulation)
    x, _, z = run.pose("bead")[0].T
    names = ("x.displacement", "z.displacement") if formulation == "tree" else ("bead.x", "bead.z")
    u, w = (run.v[:, run.system.coordinate_names.index(name)] for name in names)
    products = ((x + math.sqrt(3)) * w - z * u) * ((x - math.sqrt(3)) * w - z * u)
    assert len(run.contacts) > 10
    assert np.ptp(products) < 1e-12


def test_a_ball_leaves_a_table_that_moves():
    run = mbvi.simulate(shaken("z('ball') - A*sin(9*t)"), "lobatto4", step=0.01, duration=0.1, initial_v=[1.8])
    assert [each.kind for each in run.contacts] == ["rest", "release"]
    assert run.contacts.t[1] == pytest.approx(math.asin(10 / (0.2 * 81)) / 9, abs=1e-14)
    assert not run.findings


def test_a_bead_rests_on_a_curve_as_on_that_of_a_coordinate():
    stops = (
        mbvi.ExpressionStop(gap="z('bead') - x('bead')**2"),
        mbvi.CoordinateStop(joint_a="x", joint_b="z", lower="x**2"),
    )
    one, other = (mbvi.simulate(plane(stop), "lobatto4", step=0.02, duration=1) for stop in stops)
    assert np.abs(one.q - other.q).max() < 1e-13
    assert one.contact_forces()["wall"] == pytest.approx(other.contact_forces()["wall.lower"], abs=1e-11)


def test_places_of_what_is_welded_to_the_world_are_where_it_is():
    model = shaken("z('ball')")
    fields = {
        "contacts": {"table": mbvi.ExpressionStop(gap="z('ball') - z('post.top')")},
        "bodies": {
            **model.bodies,
            "base": mbvi.Body(),
            "post": mbvi.Body(frames={"top": mbvi.Frame(position=(1, 0, 0))}),
        },
        "joints": {
            **model.joints,
            "base": mbvi.Weld(parent="world", child="base", position=(0, 0, -0.3)),
            "post": mbvi.Weld(parent="base", child="post", orientation=(0, "pi/2", 0)),
        },
        "initial": {"fall": mbvi.Initial(position=0.5)},
    }
    for formulation in ("tree", "embedding"):
        run = mbvi.simulate(model.replaced(fields), "simpson", step=0.05, duration=1, formulation=formulation)
        assert run.contacts[0].t == pytest.approx(math.sqrt(2 * (0.5 + 1.3) / 10), abs=1e-14)


@pytest.mark.parametrize(
    ("gap", "message"),
    [
        ("v('fall')", "expected coordinates and places, found a rate, v('fall'); write q for a coordinate"),
        ("z('bal')", "expected a body, or a frame as BODY.FRAME, found 'bal'; did you mean 'ball'?"),
        ("q('fall', 'y')", "q('fall'): expected one of its coordinates, found 'y'; displacement"),
        ("1 + t", "expected an expression of coordinates or places, found '1 + t'; write for example z('ball')"),
        ("__import__('os')", "expected a known function, found '__import__'"),
    ],
)
def test_wrong_expressions_are_refused(gap, message):
    with pytest.raises(ModelError) as error:
        shaken(gap).resolved()
    assert f"contacts.table.gap: {message}" in str(error.value)


@pytest.mark.parametrize("key", ["contacts", "sensors"])
def test_a_point_is_no_frame(key):
    model = shaken("z('ball')")
    bodies = {"ball": model.bodies["ball"].replaced({"points": {"tip": (0.5, 0, 1)}})}
    stop, sensor = mbvi.ExpressionStop(gap="z('ball.tip')"), mbvi.ExpressionSensor(expression="z('ball.tip')")
    remedy = r"found 'ball.tip'; make the point a frame: frames: {tip: {position: \[0.5, 0, 1\]}} in bodies.ball"
    with pytest.raises(ModelError, match=remedy):
        model.replaced({"bodies": bodies, key: {"wrong": stop if key == "contacts" else sensor}}).resolved()


def cart(gap, start):
    rail = mbvi.Prismatic(parent="world", child="cart", axis=(1, 0, 0))
    return Model(
        name="cart",
        gravity=(0, 0, 0),
        bodies={"cart": mbvi.Body(mass=1)},
        joints={"rail": rail},
        contacts={"wall": mbvi.ExpressionStop(gap=gap)},
        initial={"rail": mbvi.Initial(position=start, velocity=1)},
    )


@pytest.mark.parametrize(
    ("gap", "found"),
    [
        ("sqrt(0.1015 - q('rail'))", "nan at t = 0.1015 s"),
        ("log(1.1015 - q('rail')) + sqrt(0.1015 - q('rail'))", "nan at t = 0.1015 s"),
        ("1/(0.1015 - q('rail'))", "-118 at t = 0.11 s"),
    ],
)
@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_gaps_that_have_no_value_beyond_the_stop_are_refused(gap, found, formulation):
    """Where the gap has a pole, or no value beyond its zero, the stop would be passed in silence."""
    with pytest.raises(mbvi.StepError) as error:
        mbvi.simulate(cart(gap, 0.0), "simpson", step=0.01, duration=1, formulation=formulation)
    assert str(error.value).startswith(
        "step 10 (t = 0.1 s): wall: expected a gap that is continuous and has a zero at the stop, "
        f"found {found} without one before; write it such that it has a value beyond the stop too"
    )
    assert error.value.trajectory.q[-1, 0] <= 0.1015


def test_a_gap_may_have_no_value_where_there_is_no_stop():
    """Beyond the edge of a hill; a start there is reported."""
    gap = "1 + sqrt(0.1 - q('rail'))"
    run = mbvi.simulate(cart(gap, 0.0), "simpson", step=0.01, duration=1)
    assert len(run.contacts) == 0 and run.q[-1, 0] == pytest.approx(1, abs=1e-14)
    with pytest.warns(
        mbvi.errors.ModelWarning,
        match="^contacts.wall: its gap has no value at the start, so that it stops nothing there$",
    ):
        mbvi.simulate(cart(gap, 0.2), "simpson", step=0.01, duration=0.1)
