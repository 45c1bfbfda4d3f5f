"""Beads on tracks: when they leave them, and how they rub along them, against closed forms."""

import math

import numpy as np
import pytest
from scipy.integrate import quad

import mbvi
from mbvi.model import Model

G, RADIUS = 10.0, 1.0


def hill(contact: mbvi.ExpressionStop | mbvi.CoordinateStop, speed: float) -> Model:
    """A bead at the top of a round hill."""
    return Model(
        name="hill",
        gravity=(0, 0, -G),
        bodies={"carriage": mbvi.Body(mass=0), "bead": mbvi.Body(mass=2)},
        joints={
            "x": mbvi.Prismatic(parent="world", child="carriage", axis=(1, 0, 0)),
            "z": mbvi.Prismatic(parent="carriage", child="bead", axis=(0, 0, 1)),
        },
        contacts={"hill": contact},
        initial={"x": mbvi.Initial(velocity=speed), "z": mbvi.Initial(position=RADIUS)},
    )


HILLS = {
    "expression": mbvi.ExpressionStop(gap="sqrt(x('bead')**2 + z('bead')**2) - 1"),
    "coordinate": mbvi.CoordinateStop(joint_a="x", joint_b="z", lower="sqrt(1 - x**2)"),
}


def leaving(speed: float) -> tuple[float, float]:
    """The height at which the bead leaves, where its weight's part across the hill is m v²/r, and when."""
    height = 2 / 3 + speed**2 / (3 * G * RADIUS)

    def slowness(angle: float) -> float:
        return RADIUS / math.sqrt(speed**2 + 2 * G * RADIUS * (1 - math.cos(angle)))

    return height, quad(slowness, 0, math.acos(height), epsabs=1e-15, epsrel=1e-14)[0]


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize("kind", HILLS)
def test_a_bead_leaves_a_round_hill(kind, formulation):
    speed = 1.0
    height, time = leaving(speed)
    run = mbvi.simulate(hill(HILLS[kind], speed), "lobatto4", step=0.01, duration=0.7, formulation=formulation)
    (release,) = (each for each in run.contacts if each.kind == "release")
    assert release.t == pytest.approx(time, abs=1e-12)
    at = run.at([release.t]).pose("bead")[0][0]
    assert at[2] == pytest.approx(height, abs=1e-12)
    fast, late = math.sqrt(speed**2 + 2 * G * (1 - height)), 0.7 - time
    along = np.array([height, 0, -math.sqrt(1 - height**2)])
    thrown = at + fast * late * along - [0, 0, G * late**2 / 2]
    assert run.pose("bead")[0][-1] == pytest.approx(thrown, abs=1e-11)
    before = run.t < time
    angle = np.arccos(run.pose("bead")[0][before, 2])
    push = 2 * (G * np.cos(angle) - speed**2 - 2 * G * (1 - np.cos(angle)))
    if kind == "expression":  # whose gap is a distance, so that its force is that of the hill
        assert run.contact_forces()["hill"][before] == pytest.approx(push, abs=1e-9)


@pytest.mark.parametrize(("scheme", "order"), [("simpson", 4), ("lobatto4", 6)])
def test_the_time_of_leaving_has_the_order_of_the_scheme(scheme, order):
    _, time = leaving(1.0)
    errors = []
    for step in (0.08, 0.04):
        run = mbvi.simulate(hill(HILLS["expression"], 1.0), scheme, step=step, duration=0.56)
        errors.append(abs(run.contacts.of("hill", "release").t[0] - time))
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.6)


def rail(static: float, speed: float, joint: str = "slot") -> Model:
    """A bead on a rail that falls by 3 per 4 along x, with a kinetic friction of 5 N."""
    on_rail = {"parent": "world", "child": "bead", "axis": (4, 0, -3)}
    own = mbvi.Slot(**on_rail) if joint == "slot" else mbvi.Prismatic(**on_rail)
    rate = (speed, 1, 2, 3) if joint == "slot" else speed
    return Model(
        name="rail",
        gravity=(0, 0, -G),
        bodies={"bead": mbvi.Body(mass=2, inertia=(0.01, 0.02, 0.03))},
        joints={"rail": own},
        contacts={"rub": mbvi.DryFriction(joint="rail", coordinate="displacement", kinetic=5, static=static)},
        initial={"rail": mbvi.Initial(velocity=rate)},
    )


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize("joint", ["slot", "prismatic"])
@pytest.mark.parametrize(("static", "sticks"), [(12 + 1e-9, True), (12 - 1e-9, False)])
def test_a_bead_that_is_thrown_up_a_rail_sticks_or_slides_back(static, sticks, joint, formulation):
    """Along the rail its weight is 12 N: it comes to rest after v/(6 + 5/2) s."""
    run = mbvi.simulate(rail(static, -1.0, joint), "simpson", step=0.01, duration=0.4, formulation=formulation)
    still = 1 / 8.5
    second = run.contacts[1]
    assert second.kind == ("stick" if sticks else "slip")
    assert second.t == pytest.approx(still, abs=1e-13)
    place = run.pose("bead")[0] @ [0.8, 0, -0.6]
    late = np.maximum(run.t - still, 0)
    up = np.minimum(run.t, still)
    expected = -up + 8.5 * up**2 / 2 + (0 if sticks else 3.5 * late**2 / 2)
    assert place == pytest.approx(expected, abs=1e-12)
    if sticks:
        assert run.contact_forces()["rub"][-1] == pytest.approx(-12, abs=1e-9)


def bowl(friction: float) -> Model:
    """A small ball that does not turn, at the side of a round track of radius 1 m around an axis along y."""
    return Model(
        name="bowl",
        gravity=(0, 0, -G),
        bodies={"carriage": mbvi.Body(mass=0), "bead": mbvi.Body(mass=2)},
        joints={
            "x": mbvi.Prismatic(parent="world", child="carriage", axis=(1, 0, 0)),
            "z": mbvi.Prismatic(parent="carriage", child="bead", axis=(0, 0, 1)),
        },
        contacts={
            "track": mbvi.BallStop(
                body_a="world",
                body_b="bead",
                radius=0.01,
                surface="cylinder",
                surface_radius=RADIUS + 0.01,
                direction=(0, 1, 0),
                inside=True,
                friction=friction,
            )
        },
        initial={"x": mbvi.Initial(position=-RADIUS)},
    )


def names(formulation: str) -> tuple[str, str]:
    """Coordinates along x and z of the bead."""
    return ("x.displacement", "z.displacement") if formulation == "tree" else ("bead.x", "bead.z")


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_a_bead_rubs_on_a_round_track_with_the_force_of_the_track(formulation):
    """With v² = u and the angle φ from the side, du/dφ = 2 g R cos φ − 2 μ (u + g R sin φ)."""
    mu = 0.3
    run = mbvi.simulate(bowl(mu), "lobatto4", step=0.01, duration=0.6, formulation=formulation)
    places = run.pose("bead")[0]
    angle = np.arctan2(-places[:, 2], -places[:, 0])
    speed = np.linalg.norm(run.v[:, [run.system.coordinate_names.index(each) for each in names(formulation)]], axis=1)
    exact = (1 - 2 * mu**2) * np.sin(angle) + 3 * mu * (np.cos(angle) - np.exp(-2 * mu * angle))
    assert angle[-1] > 1.2
    assert speed**2 == pytest.approx(2 * G * RADIUS / (1 + 4 * mu**2) * exact, abs=1e-8)
    assert np.linalg.norm(places, axis=1) == pytest.approx(np.full(len(run), RADIUS), abs=1e-12)
