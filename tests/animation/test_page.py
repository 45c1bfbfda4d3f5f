"""The page: what stands in it, its JavaScript in V8, and the whole of it in a browser where there is one."""

import base64
import json
import re
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest
from py_mini_racer import MiniRacer

import mbvi
from mbvi.animation import curves
from mbvi.animation.motion import pictures

HERE = files("mbvi.animation")


@pytest.fixture(scope="module")
def path(double_pendulum, tmp_path_factory):
    return mbvi.animate(double_pendulum, tmp_path_factory.mktemp("page") / "a.html", trails=["lower"])


@pytest.fixture(scope="module")
def page(path):
    return path.read_text(encoding="utf-8")


def content(page):
    """The data, and its block of numbers."""
    data, numbers = (re.search(rf'id="{key}">([^<]*)<', page)[1] for key in ("data", "numbers"))
    return json.loads(data), np.frombuffer(base64.b64decode(numbers), "<f4")


def part(block, place_and_length, *shape):
    place, length = place_and_length
    return block[place : place + length].reshape(-1, *shape)


@pytest.fixture(scope="module")
def v8():
    """An engine with three.js and the functions of poses.js."""
    engine = MiniRacer()
    for name in ("vendor/three.min.js", "poses.js"):
        engine.eval((HERE / name).read_text(encoding="utf-8"))
    return engine


# ---------------------------------------------------------------------------------------------- its content


def test_the_page_needs_nothing_else(page):
    assert "@@" not in page
    assert not re.search(r"""<(script|img|iframe|link)[^>]*\s(src|href)=""", page)
    own = "".join((HERE / name).read_text(encoding="utf-8") for name in ("viewer.html", "viewer.js", "poses.js"))
    assert not re.search(r"url\(|@import|fetch\(|https?:", own)
    assert "The MIT License" in page  # of three.js
    assert page.count("</script>") == page.count("<script")


def test_a_page_can_be_made_again(page, double_pendulum, tmp_path):
    again = mbvi.animate(double_pendulum, tmp_path / "a.html", trails=["lower"])
    assert again.read_text(encoding="utf-8") == page


def test_names_are_text_and_not_markup(models, tmp_path):
    text = (models / "pendulum.yaml").read_text().replace("name: pendulum", 'name: "<script>&</script>"')
    (tmp_path / "a.yaml").write_text(text)
    trajectory = mbvi.simulate(mbvi.load(tmp_path / "a.yaml"), duration=0.1)
    page = mbvi.animate(trajectory, tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<h1>&lt;script&gt;&amp;&lt;/script&gt;</h1>" in page
    assert page.count("</script>") == page.count("<script") and content(page)[0]["name"] == "<script>&</script>"


def test_the_poses_are_those_of_the_trajectory(page, double_pendulum):
    data, block = content(page)
    things = {thing["name"]: thing for thing in data["things"]}
    for body in ("upper", "lower"):
        places, _ = double_pendulum.pose(body)
        np.testing.assert_allclose(part(block, things[body]["places"], 3), places, rtol=0, atol=1e-7)
    assert (data["start"], data["end"], data["frames"]) == (0, 0.5, 31)
    energy = double_pendulum.energy()
    np.testing.assert_allclose(part(block, data["curves"][0]["values"]), energy - energy[0], rtol=1e-6)
    assert [curve["name"] for curve in data["curves"]] == ["energy error", *double_pendulum.system.coordinate_names]


def test_rounding_is_no_value_and_no_scale_of_an_axis(double_pendulum, tmp_path):
    """A coordinate that a projection leaves at 2e-33 begins at 0, and one that rounding alone moves stands still."""
    q = double_pendulum.q.copy()
    q[:, 0] = 2.0 + 1e-15 * np.sin(np.arange(len(q)))
    q[0, 1] = 2.3e-33
    page = mbvi.animate(replace(double_pendulum, q=q), tmp_path / "a.html").read_text(encoding="utf-8")
    data, block = content(page)
    still, moving = (part(block, curve["values"]) for curve in data["curves"][1:])
    assert set(still) == {2.0} and moving[0] == 0.0
    np.testing.assert_allclose(moving[-1], q[-1, 1], rtol=1e-6)


def test_angular_momentum_is_the_conserved_one(models):
    """About the fixed point of a top the vertical part, and of a free body all of it, is known by other means."""
    top = mbvi.simulate(mbvi.load(models / "lagrange_top.yaml"), step=0.001, duration=0.2)
    momentum = curves.angular_momentum(top, pictures(top, 1.0))
    (vertical,) = (values for name, values in top.momenta().items() if name == "angular momentum (z)")
    np.testing.assert_allclose(momentum.vectors[:, 2], vertical[0], rtol=0, atol=1e-6 * abs(vertical[0]))
    body = mbvi.simulate(mbvi.load(models / "free_rigid_body.yaml"), duration=5)
    momentum = curves.angular_momentum(body, pictures(body, 1.0))
    np.testing.assert_allclose(momentum.vectors, np.tile([0.05, 20, 0], (len(momentum.vectors), 1)), rtol=0, atol=1e-5)


def test_a_small_work_is_not_lost_in_a_large_energy():
    """Force times way, beside a kinetic energy that numbers of a page could not tell it from."""
    sledge = mbvi.Body(mass=2)
    ice = mbvi.Prismatic(parent="world", child="sledge", axis=(1, 0, 0))
    push = mbvi.JointForce(joint="ice", value="1e-6*t")
    initial = {"ice": mbvi.Initial(velocity=100)}
    model = mbvi.Model(name="a", bodies={"sledge": sledge}, joints={"ice": ice}, forces={"push": push}, initial=initial)
    trajectory = mbvi.simulate(model, step=0.01, duration=1)
    energy, _ = curves.curves(trajectory, pictures(trajectory, 1.0))
    assert energy.name == "change of energy"
    assert energy.values.astype("<f4")[-1] == pytest.approx(50e-6, rel=1e-4)


def test_a_body_that_nothing_holds_has_no_reactions(tmp_path):
    body, flight = mbvi.Body(mass=1, inertia=(1, 1, 1)), mbvi.Free(parent="world", child="stone")
    model = mbvi.Model(name="thrown", bodies={"stone": body}, joints={"flight": flight})
    page = mbvi.animate(mbvi.simulate(model, step=0.01, duration=0.1), tmp_path / "a.html").read_text(encoding="utf-8")
    assert content(page)[0]["reactions"] == []


@pytest.mark.parametrize("formulation", ["tree", "embedding"])
def test_reactions_carry_the_weight(formulation):
    """The force of the pivot of a pendulum at rest is its weight."""
    bob = mbvi.Body(mass=2, inertia=(0.1, 0.1, 0.1))
    pivot = mbvi.Revolute(parent="world", child="bob", axis=(0, 1, 0), offset=(0, 0, 1), position=(1, 2, 3))
    model = mbvi.Model(name="a", formulation=formulation, bodies={"bob": bob}, joints={"pivot": pivot})
    trajectory = mbvi.simulate(model, step=0.01, duration=0.1)  # at rest
    (arrow,) = curves.reactions(trajectory, pictures(trajectory, 1.0))
    np.testing.assert_allclose(arrow.vectors, np.tile([0, 0, 19.62], (7, 1)), rtol=0, atol=1e-9)
    np.testing.assert_allclose(arrow.places, np.tile([1, 2, 3], (7, 1)), rtol=0, atol=1e-9)


# ------------------------------------------------------------------------------------------- its JavaScript


def test_all_scripts_are_javascript(v8):
    source = (HERE / "viewer.js").read_text(encoding="utf-8")
    v8.eval(f"new Function({json.dumps(source)})")  # reads it, and does not run it


def test_poses_between_frames(v8):
    """A body that turns by 15° from frame to frame on a circle: the error is below half a pixel of a radius of 1000."""
    angle = np.radians(15) * np.arange(20)
    places = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1).ravel().tolist()
    quaternions = np.stack([0 * angle, 0 * angle, np.sin(angle / 2), np.cos(angle / 2)], axis=1).ravel().tolist()
    for u in (0, 1, 3.25, 7.5, 12.9, 19):
        place = json.loads(v8.eval(f"JSON.stringify(placeAt({places}, {u}, new THREE.Vector3()).toArray())"))
        turn = json.loads(v8.eval(f"JSON.stringify(rotationAt({quaternions}, {u}, new THREE.Quaternion()).toArray())"))
        now = np.radians(15) * u
        np.testing.assert_allclose(place, [np.cos(now), np.sin(now), 0], rtol=0, atol=5e-4)
        np.testing.assert_allclose(turn, [0, 0, np.sin(now / 2), np.cos(now / 2)], rtol=0, atol=1e-12)


# ---------------------------------------------------------------------------------------------- in a browser

WATCH = """<script>
const problems = [];
addEventListener('error', event => problems.push(String(event.message)));
for (const key of ['error', 'warn']) console[key] = (...words) => problems.push(words.join(' '));
</script>"""
TRY = """<script>
setTimeout(async () => {
  const found = { problems }, wait = () => new Promise(done => setTimeout(done, 70));
  const colors = () => {
    const copy = document.createElement('canvas'), { domElement } = renderer;
    [copy.width, copy.height] = [domElement.width, domElement.height];
    copy.getContext('2d').drawImage(domElement, 0, 0);
    return copy.getContext('2d');
  };
  try {
    const tip = %(tip)s;
    found.scrubbed = %(times)s.map(t => {
      slider.value = t / data.end;
      slider.dispatchEvent(new Event('input'));
      viewer.setTime(viewer.time());
      const [x, y] = viewer.pixel('lower', tip), scale = renderer.getPixelRatio();
      const { left, top } = renderer.domElement.getBoundingClientRect();
      const { data: color } = colors().getImageData((x - left) * scale, (y - top) * scale, 1, 1);
      return { time: viewer.time(), pixel: [x, y], color: [...color] };
    });
    found.expected = %(places)s.map(viewer.worldPixel);
    const { width, height } = renderer.domElement;
    found.colors = new Set(new Uint32Array(colors().getImageData(0, 0, width, height).data.buffer)).size;
    for (const id of ['frames', 'momentum', 'trails', 'panel', 'panel']) byId(id).click();
    viewer.setTime(0);
    const before = viewer.pixel('lower', tip);
    play.click();
    for (let i = 0; i < 800 && viewer.time() < 0.2; i++) await wait();
    found.moved = viewer.pixel('lower', tip).map((x, i) => Math.abs(x - before[i]));
    found.played = viewer.time();
    pause();
  } catch (error) { problems.push(String(error)); }
  document.title = 'found ' + JSON.stringify(found);
}, 500);
</script>"""


UNREACHABLE = """[...document.querySelectorAll('nav button, nav select, nav input')].filter(each => {
  const { left, right, top, bottom } = each.getBoundingClientRect();
  const hit = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  return left < 0 || right > innerWidth || top < 0 || bottom > innerHeight || !each.contains(hit);
}).map(each => each.id)"""


def test_numbers_of_large_meshes_are_read(browser, page, tmp_path):
    """As many as an array of letters, one for each byte, could not hold in V8; and the title is that of the model."""
    path = tmp_path / "a.html"
    path.write_text(page, encoding="utf-8")
    with browser() as driver:
        tab = driver.new_page()
        tab.goto(path.as_uri(), timeout=120_000)
        assert tab.evaluate("bytes('/'.repeat(1.8e8)).byteLength") == 1.35e8
        assert tab.evaluate("[...new Uint8Array(bytes('AAECA/7/'))]") == [0, 1, 2, 3, 254, 255]
        assert tab.evaluate("getComputedStyle(document.querySelector('h1'), '::first-letter').textTransform") == "none"


def test_the_page_in_a_browser(browser, page, double_pendulum, tmp_path):
    rows = [5, 12, 29]
    places, rotations = double_pendulum.pose("lower")
    tip = [0, 0, -double_pendulum.system.model.resolved().parameters["length"]]
    values = {
        "tip": tip,
        "times": double_pendulum.t[rows].tolist(),
        "places": (places + rotations @ tip)[rows].tolist(),
    }
    script = TRY % {key: json.dumps(value) for key, value in values.items()}
    path = tmp_path / "a.html"
    path.write_text(page.replace("<head>", "<head>" + WATCH).replace("</body>", script + "</body>"), encoding="utf-8")
    with browser() as driver:
        tab = driver.new_page(viewport={"width": 1200, "height": 800})
        tab.goto(path.as_uri(), timeout=120_000)
        tab.wait_for_function("document.title.startsWith('found')", timeout=120_000)
        found = json.loads(tab.title().removeprefix("found "))
        ticks = tab.evaluate(
            "[[-1000.00012, -1000.0001], [-2e-5, 3e-5], [0, 0.98]].map(ends => ticksBetween(...ends, 2))"
        )
        for width, height in ((320, 568), (400, 800), (800, 700), (1400, 900)):
            tab.set_viewport_size({"width": width, "height": height})
            assert tab.evaluate(UNREACHABLE) == []
            tab.evaluate(
                "if (byId('plots').hidden === innerWidth < 800) byId('panel').click()"
            )  # the plots are beside it or below
            assert tab.evaluate(UNREACHABLE) == []
            assert tab.evaluate("document.documentElement.scrollWidth") == width  # and nothing is beside the window
    assert found["problems"] == []
    assert found["colors"] > 100
    for scrubbed, expected, t in zip(found["scrubbed"], found["expected"], values["times"], strict=True):
        assert scrubbed["time"] == pytest.approx(t, abs=1e-9)
        assert np.hypot(*np.subtract(scrubbed["pixel"], expected)) < 1
        red, _, blue, _ = scrubbed["color"]
        assert red > blue + 60  # the bob, which is orange, is drawn there
    texts = [[tick["text"] for tick in each] for each in ticks]
    assert texts[0][:2] == ["−1000.00012", "−1000.00011"]
    assert texts[1] == ["−2·10⁻⁵", "0", "2·10⁻⁵"]
    assert texts[2] == ["0", "0.2", "0.4", "0.6", "0.8"]
    assert found["played"] > 0.1 and max(found["moved"]) > 5


def test_what_impacts_took_is_no_error_of_the_energy():
    fall = mbvi.Prismatic(
        parent="world", child="ball", axis=(0, 0, 1), limits={"displacement": mbvi.Limits(lower=0, restitution=0.5)}
    )
    model = mbvi.Model(name="ball", bodies={"ball": mbvi.Body(mass=1)}, joints={"fall": fall})
    trajectory = mbvi.simulate(model, "simpson", step=0.01, duration=1, initial_q=[1.0])
    assert np.ptp(trajectory.energy()) > 5
    error, _ = curves.curves(trajectory, pictures(trajectory, 1.0))
    assert error.name == "energy error"
    np.testing.assert_allclose(error.values, 0, rtol=0, atol=1e-12)
