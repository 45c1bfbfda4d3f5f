"""What happened in a run, marked on the time line of its page and among the extras of its 3D file."""

import json
import re

import numpy as np
import pygltflib
import pytest

import mbvi
from mbvi.animation.marks import Mark, marks, merged
from mbvi.animation.motion import pictures
from mbvi.model import Model


@pytest.fixture(scope="module")
def ball() -> mbvi.Trajectory:
    """A ball that falls 1 m in 0.5 s, and bounces, with the event of its highest places."""
    limits = {"displacement": mbvi.Limits(lower=0, restitution=0.8)}
    model = Model(
        name="ball",
        gravity=(0, 0, -8),
        bodies={"ball": mbvi.Body(mass=1)},
        joints={"fall": mbvi.Prismatic(parent="world", child="ball", axis=(0, 0, 1), limits=limits)},
        initial={"fall": mbvi.Initial(position=1)},
    )
    events = {"<b>top": mbvi.Event("v('fall')", direction=-1)}
    return mbvi.simulate(model, "simpson", step=0.04, duration=2, events=events, every=5)


def test_marks_are_what_happened_in_the_order_of_times(ball):
    found = marks(ball)
    hits = [0.5, 1.3, 1.94]
    assert [(each.kind, each.name) for each in found] == [
        ("impact", "fall.displacement.lower"),
        ("event", "<b>top"),
    ] * 2 + [("impact", "fall.displacement.lower")]
    assert [each.t for each in found] == pytest.approx([0.5, 0.9, 1.3, 1.62, 1.94], abs=1e-13)
    assert found[0].text == "impact of fall.displacement.lower at t = 0.5 s: impulse 7.2 N s, took 2.88 J"
    assert found[1].text == "event <b>top at t = 0.9 s"
    assert [each.t for each in found if each.kind == "impact"] == pytest.approx(hits, abs=1e-13)


def test_a_run_in_which_nothing_happens_has_no_marks(double_pendulum):
    assert marks(double_pendulum) == []


def test_those_at_one_place_of_the_line_are_one_mark():
    every = [Mark(1.0 + 1e-6 * i, "impact", "floor", f"hit {i}") for i in range(8)]
    found = merged([Mark(0.0, "stick", "belt", "first"), *every, Mark(2.0, "slip", "belt", "last")], 0.0, 2.0)
    assert [(each.t, each.kind) for each in found] == [(0.0, "stick"), (1.0, "impact"), (2.0, "slip")]
    assert found[1].text == "hit 0\nhit 1\nhit 2\nhit 3\nand 4 more"
    (both,) = merged([every[0], Mark(1.0, "rest", "floor", "still")], 0.0, 2.0)
    assert both == Mark(1.0, "several", "floor", "hit 0\nstill")


def test_pictures_between_states_keep_above_the_floor(ball):
    """Stored states are 0.2 s apart: a cubic through those around an impact would go 0.2 m below it."""
    motion = pictures(ball, 1.0)
    assert motion.q.min() > -1e-12
    t = motion.t[motion.t < 1.3]
    late = np.maximum(t - 0.5, 0)
    expected = np.where(t < 0.5, 1 - 4 * t**2, 3.2 * late - 4 * late**2)
    assert motion.q[: len(t), 0] == pytest.approx(expected, abs=1e-12)


def test_a_3d_file_has_them_among_its_extras(ball, tmp_path, double_pendulum):
    path = mbvi.animate(ball, tmp_path / "a.glb", speed=0.5)
    (animation,) = pygltflib.GLTF2().load(path).animations
    events = animation.extras["events"]
    assert [each["time"] for each in events] == pytest.approx([1.0, 1.8, 2.6, 3.24, 3.88], abs=1e-12)
    assert [each["t"] for each in events] == pytest.approx([0.5, 0.9, 1.3, 1.62, 1.94], abs=1e-12)
    assert {(each["kind"], each["name"]) for each in events} == {
        ("impact", "fall.displacement.lower"),
        ("event", "<b>top"),
    }
    mbvi.animate(double_pendulum, tmp_path / "b.glb")
    assert not pygltflib.GLTF2().load(tmp_path / "b.glb").animations[0].extras


def test_the_page_says_what_a_mark_is(browser, ball, tmp_path):
    path = mbvi.animate(ball, tmp_path / "a.html")
    data = json.loads(re.search(r'id="data">([^<]*)<', path.read_text(encoding="utf-8"))[1])
    assert len(data["marks"]) == 5
    with browser() as driver:
        tab = driver.new_page(viewport={"width": 1000, "height": 700})
        problems = []
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.goto(path.as_uri() + "#t=0.1", timeout=120_000)
        tab.wait_for_function("window.viewer", timeout=120_000)
        box = tab.locator("#marks").bounding_box()

        def place(t):
            return box["x"] + box["width"] * t / 2, box["y"] + box["height"] / 2

        seen = []
        for each in data["marks"]:
            tab.mouse.move(*place(each["t"]))
            seen.append(tab.locator("#hint").inner_text())
            sides = tab.locator("#hint").bounding_box()
            assert sides["x"] >= 0 and sides["x"] + sides["width"] <= 1000
        assert seen == [each["text"] for each in data["marks"]]
        tab.mouse.move(*place(1.1))
        assert tab.locator("#hint").is_hidden()
        tab.mouse.click(*place(1.3))
        assert tab.evaluate("viewer.time()") == pytest.approx(1.3, abs=1e-12)
        slider = tab.locator("#time").bounding_box()
        assert tab.evaluate(
            "[...document.querySelectorAll('#marks i')].map(each => each.getBoundingClientRect().left)"
        )[2] == (
            pytest.approx(slider["x"] + 8 + (slider["width"] - 16) * 0.65 - 1, abs=0.5)  # above the middle of the thumb
        )
    assert problems == []


def test_a_page_without_marks_has_no_strip(browser, double_pendulum, tmp_path):
    path = mbvi.animate(double_pendulum, tmp_path / "a.html")
    with browser() as driver:
        tab = driver.new_page()
        tab.goto(path.as_uri() + "#t=0.1", timeout=120_000)
        tab.wait_for_function("window.viewer", timeout=120_000)
        assert tab.locator("#marks").is_hidden()
