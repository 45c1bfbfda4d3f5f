"""Ropes over several points: Atwood's machine, blocks and tackles, slack and taut again, against closed forms."""

import math

import numpy as np
import pytest

import mbvi
from mbvi.animation.motion import pictures
from mbvi.animation.scene import make_scene
from mbvi.errors import ModelError
from mbvi.model import Model, RopePoint, from_yaml, to_yaml

G = 10.0
KINDS = {"constraints": mbvi.Rope, "contacts": mbvi.RopeStop}


def hung(masses: dict[str, float], points: list, length: float, kind: str = "contacts", **other) -> Model:
    """Loads that move along z, each with a start of a place and a velocity, on a rope over points (body, place, factor)."""
    start = other.pop("start")
    names = "body", "point", "factor"
    fields = {"points": [RopePoint(**dict(zip(names, each, strict=False))) for each in points], "length": length}
    fields |= other
    joints = {f"{name} slide": mbvi.Prismatic(parent="world", child=name, axis=(0, 0, 1)) for name in masses}
    return Model(
        name="hung",
        gravity=(0, 0, -G),
        bodies={name: mbvi.Body(mass=mass) for name, mass in masses.items()},
        joints=joints,
        initial={f"{name} slide": mbvi.Initial(position=z, velocity=w) for name, (z, w) in start.items()},
        **{kind: {"rope": KINDS[kind](**fields)}},
    )


def atwood(left: float, right: float, kind: str = "contacts", thrown: float = 0.0, **other) -> Model:
    """Two loads on a rope over a point 2 m above them."""
    points = [("left", (0, 0, 0)), ("world", (0, 0, 2)), ("right", (0, 0, 0))]
    start = {"left": (0.0, thrown), "right": (0.0, 0.0)}
    return hung({"left": left, "right": right}, points, 4.0, kind, start=start, **other)


def tension(run, kind):
    """Of the rope, at all states."""
    return run.forces(["rope"])["rope"].values[:, 0] if kind == "constraints" else run.contact_forces()["rope"]


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("left", "right"), [(3.0, 2.0), (2.0, 2.0)])
def test_atwoods_machine(kind, formulation, left, right):
    run = mbvi.simulate(atwood(left, right, kind), "simpson", step=0.01, duration=0.5, formulation=formulation)
    a = (right - left) * G / (left + right)
    for body, sign in (("left", 1), ("right", -1)):
        assert run.pose(body)[0][:, 2] == pytest.approx(sign * a * run.t**2 / 2, abs=1e-13)
    assert tension(run, kind) == pytest.approx(np.full(51, 2 * left * right * G / (left + right)), abs=1e-11)


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_drawn", [True, False])
@pytest.mark.parametrize("turns", [1, 2])
def test_a_block_and_tackle(kind, formulation, turns, is_drawn):
    """A block on 2 n parts of a rope, which goes up and down n times, or in one part that counts as often, and a load.

    The parts may be two branches. x is what the block sinks.
    """
    block, load, parts = 5.0, 1.5, 2 * turns
    above = ("world", (0, 0, 2))
    points = [above, ("block", (0, 0, 0))] * turns + [above, ("load", (0, 0, 0))]
    if not is_drawn:
        points = [above, ("load", (0, 0, 0)), (*above, 0), ("block", (0, 0, 0), parts)]
    start = {"block": (0.0, 0.0), "load": (0.5, 0.0)}
    model = hung({"block": block, "load": load}, points, 2.0 * parts + 1.5, kind, start=start)
    run = mbvi.simulate(model, "simpson", step=0.01, duration=0.3, formulation=formulation)
    a = (block - parts * load) * G / (block + parts**2 * load)
    assert run.pose("block")[0][:, 2] == pytest.approx(-a * run.t**2 / 2, abs=1e-13)
    assert run.pose("load")[0][:, 2] == pytest.approx(0.5 + parts * a * run.t**2 / 2, abs=1e-13)
    assert tension(run, kind) == pytest.approx(np.full(31, load * (G + parts * a)), abs=1e-11)


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
@pytest.mark.parametrize("e", [0.0, 0.4])
def test_a_rope_goes_slack_and_becomes_taut_with_an_impact(formulation, e):
    """One load is thrown up; both then fall freely until the rope is taut."""
    left, right, up = 3.0, 2.0, 1.5
    model = atwood(left, right, thrown=up, restitution=e)
    run = mbvi.simulate(model, "lobatto4", step=0.02, duration=0.25, formulation=formulation)
    taut, mass = up / G, left * right / (left + right)
    first = run.contacts.of("rope", "impact")[0]
    assert first.t == pytest.approx(taut, abs=1e-14)
    assert first.impulse == pytest.approx((1 + e) * mass * up, abs=1e-12)
    assert first.energy == pytest.approx(mass * up**2 * (1 - e**2) / 2, abs=1e-12)
    t = run.t[run.t < taut]
    assert run.gaps()["rope"][: len(t)] == pytest.approx(up * t - G * t**2, abs=1e-13)
    assert np.all(tension(run, "contacts")[: len(t)] == 0.0)
    if e == 0.0:
        a, v = (right - left) * G / (left + right), (1 + e) * mass * up / left
        late = run.t[run.t >= taut] - taut
        assert run.pose("left")[0][len(t) :, 2] == pytest.approx(
            up**2 / (2 * G) + v * late + a * late**2 / 2, abs=1e-13
        )
        assert tension(run, "contacts")[len(t) :] == pytest.approx(np.full(len(late), 2 * mass * G), abs=1e-11)
    assert np.ptp(run.energy() + run.energy_taken()) < 1e-12


def test_a_rope_lets_go_of_what_swings_over_its_point():
    """A bead on a rope of the length 1, thrown at the bottom: it leaves the circle where cos φ = −(v²/(g ℓ) − 2)/3."""
    speed = math.sqrt(3.5 * G)
    model = from_yaml(f"""
name: bead
gravity: [0, 0, {-G}]
bodies: {{bead: {{mass: 2}}}}
joints: {{free: {{type: free, parent: world, child: bead}}}}
contacts: {{rope: {{type: rope_stop, points: [{{body: world}}, {{body: bead}}], length: 1}}}}
initial: {{free: {{position: [0, 0, -1], velocity: [{speed!r}, 0, 0]}}}}
""")
    run = mbvi.simulate(model, "lobatto4", step=0.005, duration=0.7)
    (let_go,) = run.contacts.of("rope", "release")
    height = run.contacts.of("rope", "release").q[0, 2]
    assert height == pytest.approx((3.5 - 2) / 3, abs=1e-11)
    assert let_go.t < 0.7


def tackle() -> Model:
    """Three bodies in space on a rope that comes back to the first, at points off their centres."""
    body = mbvi.Body(
        mass=1, center_of_mass=(0.1, 0.2, -0.1), inertia=(0.1, 0.2, 0.25), points={"eye": (0.3, 0.1, -0.2)}
    )
    return Model(
        name="tackle",
        parameters={"reach": 5.7, "off": 0.1},
        bodies={"a": body, "b": body, "c": body},
        joints={
            "ball": mbvi.Ball(parent="world", child="a", position=(0.1, 0.2, 0.3)),
            "hinge": mbvi.Revolute(parent="a", child="b", axis=(1, 2, 3), position=(0.4, 0.1, 0)),
            "free": mbvi.Free(parent="world", child="c", position=(1, 1, 0.5)),
        },
        constraints={
            "rope": mbvi.Rope(
                points=[
                    RopePoint(body="a", point="eye"),
                    RopePoint(body="c", point=("off", 0, 0)),
                    RopePoint(body="world", point=(1, "2*off", 2)),
                    RopePoint(body="b", point="eye"),
                    RopePoint(body="a", point=(0, 0, -1)),
                ],
                length="reach",
            )
        },
    )


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_values_and_derivatives_are_those_of_distances(formulation):
    system, random = mbvi.assemble(tackle(), formulation), np.random.default_rng(3)
    row, h = system.constraint_names.index("rope"), 1e-6
    q = system.given_q + 0.2 * random.standard_normal(system.dimension)

    def left(q):
        a, b, c = (system.poses(body, q[None]) for body in "abc")
        places = [each[0][0] + each[1][0] @ x for each, x in ((a, (0.3, 0.1, -0.2)), (c, (0.1, 0, 0)))]
        places += [np.array([1, 0.2, 2]), b[0][0] + b[1][0] @ (0.3, 0.1, -0.2), a[0][0] + a[1][0] @ (0, 0, -1)]
        return 5.7 - sum(np.linalg.norm(np.diff(places, axis=0), axis=1))

    assert system.constraint(q)[row] == pytest.approx(left(q), abs=1e-14)
    differences = [(left(q + h * e) - left(q - h * e)) / (2 * h) for e in np.eye(len(q))]
    assert system.constraint_jacobian(q)[row] == pytest.approx(differences, abs=1e-8)


def test_parameters_change_lengths_and_points_without_assembling_anew():
    model = tackle()
    changed = mbvi.assemble(model).with_parameters({"reach": 5.4, "off": 0.2})
    made = mbvi.assemble(model.with_parameters({"reach": 5.4, "off": 0.2}))
    q = made.given_q + 0.1
    row = made.constraint_names.index("rope")
    assert np.array_equal(changed.constraint(q), made.constraint(q))
    assert abs(changed.constraint(q) - mbvi.assemble(model).constraint(q))[row] > 0.1


def test_a_rope_is_written_and_read_and_attached():
    model = tackle()
    assert from_yaml(to_yaml(model)) == model
    both = mbvi.attach(model, model, to="world", prefix="other/", position=(5, 0, 0))
    (far,) = (each for name, each in both.resolved().constraints.items() if name == "other/rope")
    assert [each.body for each in far.points] == ["other/a", "other/c", "other/world", "other/b", "other/a"]
    run = mbvi.simulate(both, "simpson", step=0.01, duration=0.1)
    assert run.constraint_residual().max() < 1e-12
    here, there = (run.forces([name])[name].values for name in ("rope", "other/rope"))
    assert there == pytest.approx(here, rel=1e-9)


def test_stops_by_places_of_the_world_are_not_attached():
    wall = mbvi.ExpressionStop(gap="z('a') + 5")
    other = tackle().replaced({"contacts": {"wall": wall}})
    with pytest.raises(
        ModelError, match=r"contacts\.wall: expected a model that can be put anywhere, found 'wall', by"
    ):
        mbvi.attach(tackle(), other, prefix="other/")
    turned = tackle().replaced({"contacts": {"wall": mbvi.ExpressionStop(gap="1 - q('hinge')**2")}})
    both = mbvi.attach(tackle(), turned, prefix="other/")
    assert both.contacts["other/wall"].gap == "1 - q('other/hinge')**2"


def test_what_is_not_known_of_ropes_is_said():
    run = mbvi.simulate(tackle(), "simpson", step=0.01, duration=0.02)
    with pytest.raises(
        ModelError, match="expected a joint other than a free one, or a constraint between bodies, found"
    ):
        run.reaction("rope")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"length": 0}, "length: expected a length greater than 0, found 0"),
        ({"points": []}, "points: expected points of two or more bodies, found none"),
        (
            {"points": [{"body": "world"}, {"body": "load", "factor": -2}]},
            "points.1.factor: expected a factor of at least 0, found -2; change its sign",
        ),
        (
            {"points": [{"body": "world", "factor": 2}, {"body": "load"}]},
            "points.0.factor: expected no factor at the first point, which ends no part, found 2; give it to the point at",
        ),
        (
            {"points": [{"body": "world"}, {"body": "load", "factor": 0}]},
            "points: expected points of two or more bodies, found none; write for example",
        ),
        (
            {"points": [{"body": "load"}, {"body": "load", "point": [1, 0, 0]}]},
            "points: expected points of two or more bodies, found 2 of 'load'; write for example [{body: world}, {body: load}]",
        ),
        (
            {"points": [{"body": "world"}, {"body": "load"}, {"body": "load"}]},
            "points.2: expected another point than the one before, found the same; name it once; where the rope comes back, "
            "another point is between",
        ),
        (
            {"points": [{"body": "world"}, {"body": "laod"}]},
            "points.1.body: expected a body or world, found 'laod'; did you",
        ),
        ({"restitution": 2}, "restitution: expected"),
    ],
)
def test_wrong_ropes_are_refused(fields, message):
    given = {"points": [{"body": "world"}, {"body": "load"}], "length": 1} | fields
    with pytest.raises(ModelError) as error:
        Model(
            name="hung",
            bodies={"load": mbvi.Body(mass=1)},
            joints={"free": mbvi.Free(parent="world", child="load")},
            contacts={"rope": mbvi.RopeStop(**given)},
        ).resolved()
    assert f"contacts.rope.{message}" in str(error.value)


def test_a_rope_that_is_too_short_at_the_start_is_refused():
    with pytest.raises(
        ModelError, match=r"contacts\.rope: expected a start with its gap open, found it closed by 0\.5 m too"
    ):
        mbvi.simulate(
            atwood(1, 1).replaced({"contacts": {"rope": atwood(1, 1).contacts["rope"].replaced({"length": 3.5})}})
        )


@pytest.mark.parametrize("kind", KINDS)
def test_ropes_are_drawn_as_their_straight_parts(kind):
    run = mbvi.simulate(atwood(3, 2, kind), "simpson", step=0.1, duration=0.2)
    scene = make_scene(run.system, pictures(run, 1.0), None)
    parts = {thing.name: thing for thing in scene.things if thing.kind == "link"}
    assert list(parts) == ["rope 1", "rope 2"]
    for name, body in (("rope 1", "left"), ("rope 2", "right")):
        assert parts[name].scales[-1, 2] == pytest.approx(2 - run.pose(body)[0][-1, 2], abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_load_that_comes_to_its_pulley_is_named(kind):
    """The lighter load rises by the 2 m to the pulley in sqrt(4/a) seconds, a = g/5; Simpson's rule steps over that."""
    with pytest.raises(mbvi.StepError, match=rf"two points of {kind}\.rope meet there") as caught:
        mbvi.simulate(atwood(3.0, 2.0, kind), "midpoint", step=0.01, duration=2.0)
    assert caught.value.trajectory.t[-1] == pytest.approx(math.sqrt(2), abs=0.02)
    assert "smaller step" not in str(caught.value)
    with pytest.warns(mbvi.AccuracyWarning, match=rf"from t = 1\.41 s .* since two points of {kind}\.rope meet"):
        mbvi.simulate(atwood(3.0, 2.0, kind), "simpson", step=0.01, duration=2.0)
