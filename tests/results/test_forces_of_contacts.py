"""What stops and frictions exert in a run, by name: as elements, and as arrows where they act."""

import numpy as np
import pygltflib
import pytest
from typer.testing import CliRunner

import mbvi
from mbvi.cli import app
from mbvi.results.forces_in_space import contact_forces_in_space
from tests.animation.test_page import content
from tests.folders import MODELS

G = 9.81


@pytest.fixture(scope="module")
def ladder():
    """It slides on both ends, leaves the wall, and falls to the floor."""
    return mbvi.simulate(mbvi.load(MODELS / "sliding_ladder.yaml"))


def in_space(run):
    return {each.name: each for each in contact_forces_in_space(run._states)}


def test_forces_on_a_ladder_are_those_of_its_acceleration(ladder):
    found = ladder.forces(["foot", "foot.friction", "top", "top.friction", "fall", "fall.friction"])
    total = sum(each.values[:, :3] for each in found.values())
    acceleration = ladder.kinematics(["ladder"])["acceleration"][:, 0]
    np.testing.assert_allclose(total, 12 * (acceleration + np.array([0, 0, G])), atol=1e-8)
    assert [each.type for each in found.values()] == ["plane_stop"] * 6
    pushes = ladder.contact_forces()
    np.testing.assert_array_equal(found["foot"].values[:, 2], pushes["foot"])
    np.testing.assert_array_equal(found["top"].values[:, 0], pushes["top"])
    np.testing.assert_array_equal(found["foot.friction"].values[:, 0], pushes["foot.friction"])


def test_friction_does_the_work_that_it_takes(ladder):
    """Until the impacts, which are no work of forces; one of 3.8 W that ends within a step of 10 ms leaves some mJ."""
    slid, leant = (ladder.t < ladder.contacts.of(*each).t[0] for each in (("fall", "rest"), ("top", "release")))
    leant[np.flatnonzero(leant)[-2:]] = False
    work = sum(ladder.forces([name])[name].work for name in ("foot.friction", "top.friction"))
    np.testing.assert_allclose(work[leant], -ladder.energy_taken()[leant], atol=1e-4)
    np.testing.assert_allclose(work[slid], -ladder.energy_taken()[slid], atol=8e-3)
    assert work[slid][-1] < -40
    slips = ladder.slips()
    assert list(slips) == ["foot.friction", "top.friction", "fall.friction"]
    power = ladder.forces(["foot.friction"])["foot.friction"].power
    np.testing.assert_allclose(power, ladder.contact_forces()["foot.friction"] * slips["foot.friction"], atol=1e-12)


def test_arrows_are_where_a_ladder_touches(ladder):
    found = in_space(ladder)
    assert list(found) == ["foot", "top", "fall"]
    angle = ladder.q[:, 2]
    foot = ladder.q[:, :2] + np.stack([2 * np.cos(angle), 2 * np.sin(angle)], axis=1)
    np.testing.assert_allclose(found["foot"].places[:, 0], foot[:, 0], atol=1e-12)
    np.testing.assert_allclose(found["foot"].places[:, 2], 0, atol=1e-12)
    pushes = ladder.contact_forces()
    expected = np.stack([pushes["foot.friction"], 0 * angle, pushes["foot"]], axis=1)
    np.testing.assert_array_equal(found["foot"].vectors, expected)
    released = ladder.t > ladder.contacts.of("top", "release").t[0]
    assert released.any() and not found["top"].vectors[released].any() and found["top"].vectors[~released].all(0)[0]


def test_limits_and_dry_friction_act_on_their_coordinates():
    limits = {"displacement": mbvi.Limits(lower=0, upper=7, restitution=0.5)}
    fall = mbvi.Prismatic(parent="world", child="ball", axis=(0, 0, 1), limits=limits)
    model = mbvi.Model(name="ball", bodies={"ball": mbvi.Body(mass=1.2)}, joints={"fall": fall})
    run = mbvi.simulate(model, "lobatto4", step=0.01, duration=2.0, initial_q=[1.0])
    lower, upper = run.forces(["fall.displacement.lower", "fall.displacement.upper"]).values()
    assert lower.components == upper.components == ("fall.displacement",) and lower.units == ("N",)
    assert lower.type == "limits" and not upper.values.any()
    assert lower.values[-1, 0] == pytest.approx(1.2 * G) and lower.values[0, 0] == 0.0
    np.testing.assert_array_equal(run.coordinate_forces(), lower.values)
    assert contact_forces_in_space(run._states) == []
    turned = mbvi.Prismatic(
        parent="world", child="ball", axis=(0, 0, -1), limits={"displacement": mbvi.Limits(upper=0, restitution=0.5)}
    )
    run = mbvi.simulate(
        mbvi.Model(name="ball", bodies={"ball": mbvi.Body(mass=1.2)}, joints={"fall": turned}),
        "lobatto4",
        step=0.01,
        duration=2.0,
        initial_q=[-1.0],
    )
    assert run.coordinate_forces()[-1, 0] == pytest.approx(-1.2 * G)
    belt = mbvi.simulate(mbvi.load(MODELS / "stick_slip.yaml"))
    rubbing = belt.forces(["rubbing"])["rubbing"]
    np.testing.assert_array_equal(rubbing.values[:, 0], belt.contact_forces()["rubbing"])
    np.testing.assert_allclose(rubbing.work, -belt.energy_taken(), atol=1e-3)
    np.testing.assert_array_equal(
        belt.slips()["rubbing"], belt.v[:, list(belt.system.coordinate_names).index("slip.displacement")]
    )


def test_a_moving_stop_does_the_work_that_lifts():
    """A plane that rises with 0.5 m/s lifts 2 kg."""
    floor = mbvi.PlaneStop(body_a="world", body_b="load", normal=(0, 0, 1), height="0.5*t")
    model = mbvi.Model(
        name="lift",
        bodies={"load": mbvi.Body(mass=2)},
        joints={"rail": mbvi.Prismatic(parent="world", child="load", axis=(0, 0, 1))},
        contacts={"floor": floor},
    )
    run = mbvi.simulate(model, "lobatto4", step=0.01, duration=1.0, initial_v=[0.5])
    np.testing.assert_allclose(run.forces(["floor"])["floor"].power, 2 * G * 0.5, rtol=1e-9)
    np.testing.assert_allclose(run.forces(["floor"])["floor"].work, run.energy() - run.energy()[0], atol=1e-9)


def test_arrows_of_ropes_walls_and_what_rolls():
    rope = {"points": [{"body": "load"}, {"body": "world", "point": (0, 0, 1)}, {"body": "world", "point": (1, 0, 1)}]}
    model = mbvi.Model(
        name="pulleys",
        bodies={"load": mbvi.Body(mass=2), "other": mbvi.Body(mass=1)},
        joints={
            "a": mbvi.Prismatic(parent="world", child="load", axis=(0, 0, 1)),
            "b": mbvi.Prismatic(parent="world", child="other", axis=(0, 0, 1), position=(1, 0, 0)),
        },
        contacts={"rope": mbvi.RopeStop(points=[*rope["points"], {"body": "other"}], length=3.0)},
    )
    run = mbvi.simulate(model, "lobatto4", step=0.01, duration=0.5)
    tension = 2 * 2 * 1 * G / 3
    ends = in_space(run)
    assert list(ends) == ["rope at load, 1", "rope at other, 2"]
    for end, place in zip(ends.values(), ([0, 0, run.q[-1, 0]], [1, 0, run.q[-1, 1]]), strict=True):
        np.testing.assert_allclose(end.vectors[-1], [0, 0, tension], rtol=1e-9)
        np.testing.assert_allclose(end.places[-1], place, atol=1e-12)

    wall = mbvi.ExpressionStop(gap="1 - x('puck')**2/4 - y('puck')**2")
    model = mbvi.Model(
        name="wall",
        bodies={"carriage": mbvi.Body(mass=0), "puck": mbvi.Body(mass=1.5)},
        joints={
            "x": mbvi.Prismatic(parent="world", child="carriage", axis=(1, 0, 0)),
            "y": mbvi.Prismatic(parent="carriage", child="puck", axis=(0, 1, 0)),
        },
        contacts={"wall": wall},
    )
    run = mbvi.simulate(model, "lobatto4", step=0.02, duration=4.0, initial_v=[0.3, 1.0])
    (along,) = in_space(run).values()
    acceleration = run.kinematics(["puck"])["acceleration"][:, 0, :2]
    np.testing.assert_allclose(along.vectors[:, :2], 1.5 * acceleration, atol=1e-9)
    assert run.forces(["wall"])["wall"].components == ("push",) and np.abs(along.vectors[-1]).max() > 0.01

    for stop, gap in (
        (mbvi.PlaneStop(body_a="world", body_b="ball", normal=(0, 0, 1), radius=0.2), 0.2),
        (mbvi.BallStop(body_a="world", body_b="ball", radius=0.2), 0.2),
        (mbvi.EllipsoidStop(body_a="world", body_b="ball", semi_axes=(0.4, 0.4, 0.2)), 0.2),
    ):
        ball = mbvi.Body(mass=1, inertia=(0.01, 0.01, 0.01))
        model = mbvi.Model(
            name="ball",
            bodies={"ball": ball},
            joints={"free": mbvi.Free(parent="world", child="ball")},
            contacts={"floor": stop},
        )
        run = mbvi.simulate(model, "lobatto4", step=0.01, duration=0.1, initial_q=[0.3, 0, gap, 1, 0, 0, 0])
        (floor,) = in_space(run).values()
        np.testing.assert_allclose(floor.places[-1], [0.3, 0, 0], atol=1e-9)
        np.testing.assert_allclose(floor.vectors[-1], [0, 0, G], atol=1e-9)


def test_the_arrow_of_a_leaning_wheel_is_at_its_lowest_point():
    lean, radius = 0.5, 0.3
    stop = mbvi.WheelStop(body_a="world", body_b="wheel", radius=radius, axis=(0, 0, 1))
    model = mbvi.Model(
        name="wheel",
        bodies={"wheel": mbvi.Body(mass=1, inertia=(0.02, 0.02, 0.04))},
        joints={"free": mbvi.Free(parent="world", child="wheel")},
        contacts={"floor": stop},
    )
    start = [0.1, 0, radius * np.sin(lean), np.cos(lean / 2), 0, np.sin(lean / 2), 0]
    run = mbvi.simulate(model, "lobatto4", step=1e-3, duration=0.01, initial_q=start)
    (floor,) = in_space(run).values()
    np.testing.assert_allclose(floor.places[0], [0.1 + radius * np.cos(lean), 0, 0], atol=1e-12)
    np.testing.assert_allclose(floor.vectors[:, :2], 0, atol=1e-12)
    arm = (radius * np.cos(lean)) ** 2 / 0.02
    assert floor.vectors[0, 2] == pytest.approx(G / (1 + arm))


def test_friction_of_what_rolls_is_its_own_element():
    stop = mbvi.BallStop(body_a="world", body_b="ball", radius=0.1, friction=0.1)
    model = mbvi.Model(
        name="bowling",
        bodies={"ball": mbvi.Body(mass=7, inertia=(0.03, 0.03, 0.03))},
        joints={"motion": mbvi.Planar(parent="world", child="ball", normal=(0, 1, 0))},
        contacts={"lane": stop},
    )
    run = mbvi.simulate(model, "midpoint", step=0.01, duration=0.5, initial_q=[0, -0.1, 0], initial_v=[8, 0, 0])
    lane, friction = run.forces(["lane", "lane.friction"]).values()
    np.testing.assert_allclose(lane.values[:, 2], 7 * G, rtol=1e-9)
    np.testing.assert_allclose(lane.values[:, [0, 4]], 0, atol=1e-9)
    np.testing.assert_allclose(friction.values[1:, 0], -0.7 * G, rtol=1e-9)
    np.testing.assert_allclose(np.abs(friction.values[1:, 4]), 0.07 * G, rtol=1e-9)
    (arrow,) = in_space(run).values()
    np.testing.assert_allclose(arrow.vectors[1:], [[-0.7 * G, 0, 7 * G]] * (len(run) - 1), rtol=1e-9, atol=1e-9)


def test_pages_files_and_plots_show_them(ladder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data, _ = content(mbvi.animate(ladder, "ladder.html").read_text())
    (foot,) = (each for each in data["reactions"] if each["name"] == "foot")
    largest = np.linalg.norm(in_space(ladder)["foot"].vectors, axis=1).max()
    assert foot["longest"] == pytest.approx(largest, rel=1e-2) and 0 < foot["usual"] <= foot["longest"]
    document = pygltflib.GLTF2().load(mbvi.animate(ladder, "ladder.glb"))
    assert {"force of foot", "force of top", "force of fall"} <= {node.name for node in document.nodes}
    figure = ladder.plot("forces", names=["foot", "foot.friction"])
    assert [axes.get_ylabel() for axes in figure.axes] == ["force [N]", "torque [N m]"]
    ladder.save("ladder.h5")
    result = CliRunner().invoke(app, ["forces", "ladder.h5", "--names", "foot,top.friction", "-o", "ladder.csv"])
    assert result.exit_code == 0 and "plane_stop" in result.stdout
    with pytest.raises(mbvi.ModelError, match=r"did you mean 'foot\.friction'"):
        ladder.forces(["foot.fricton"])


def test_arrows_of_3d_files_vanish_while_nothing_acts(ladder, tmp_path):
    document = pygltflib.GLTF2().load(mbvi.animate(ladder, tmp_path / "ladder.glb"))
    (node,) = (i for i, each in enumerate(document.nodes) if each.name == "force of top")
    (animation,) = document.animations
    (channel,) = (each for each in animation.channels if each.target.node == node and each.target.path == "scale")
    sampler = animation.samplers[channel.sampler]
    view = document.bufferViews[document.accessors[sampler.output].bufferView]
    scales = np.frombuffer(document.binary_blob(), "<f4", view.byteLength // 4, view.byteOffset).reshape(-1, 3)
    assert scales[0].all() and not scales[-1].any()
