"""Pictures against a pinhole camera and geometry; videos read back."""

import imageio_ffmpeg
import numpy as np
import pytest
from matplotlib.colors import rgb_to_hsv
from PIL import Image

import mbvi
from mbvi.animation import raster, video
from mbvi.animation.formats import gif
from mbvi.animation.motion import pictures
from mbvi.animation.scene import make_scene

SIZE = (480, 270)
pytestmark = pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # imageio-ffmpeg leaves pipes open


def seen(painter, places):
    """Pixels (n, 2) of places (n, 3)."""
    right, up, forward, place = painter.camera.astype(float)
    offset = places - place
    scale = painter.focus / raster.SAMPLES / (offset @ forward)
    return np.stack([SIZE[0] / 2 + scale * (offset @ right), SIZE[1] / 2 - scale * (offset @ up)], axis=1)


def painter_of(trajectory, trails=()):
    return video.Painter(make_scene(trajectory.system, pictures(trajectory, 1.0), trails), SIZE)


def orange(picture):
    """Where it is of the colour of a second body."""
    r, g, b = picture.astype(int).transpose(2, 0, 1)
    return (r > 150) & (r > g + 30) & (g > b + 60)


def test_a_ball_is_seen_where_it_is_and_as_large_as_it_is():
    ball = mbvi.Body(shapes=[mbvi.model.Sphere(radius=0.3, mass=1)])
    other = mbvi.Body(shapes=[mbvi.model.Box(size=(0.1, 0.1, 0.1), mass=1)])
    joints = {
        "a": mbvi.Free(parent="world", child="other", position=(0, 0, 0)),
        "b": mbvi.Free(parent="world", child="ball", position=(1, 0.5, 1.5)),
    }
    model = mbvi.Model(name="ball", bodies={"other": other, "ball": ball}, joints=joints)
    trajectory = mbvi.simulate(model, step=0.01, duration=0.3)
    painter = painter_of(trajectory)
    for number in (0, 18):
        rows, columns = np.nonzero(orange(painter.paint(number)))
        center = trajectory.system.poses("ball", painter.scene.motion.q[number : number + 1])[0]
        distance = (center[0] - painter.camera[3]) @ painter.camera[2]
        # The outline of a ball at (x, y, z) with radius r is an ellipse of area π (f r)² z / (z² − r²)^(3/2), about.
        area = np.pi * (painter.focus / raster.SAMPLES * 0.3) ** 2 / (distance**2 - 0.3**2)
        assert len(rows) == pytest.approx(area, rel=0.05)
        middle = np.array([columns.mean(), rows.mean()]) + 0.5
        np.testing.assert_allclose(middle, seen(painter, center)[0], rtol=0, atol=1.0)


def test_all_is_in_the_picture_at_all_times(models):
    for name in ("lagrange_top", "four_bar", "gantry_crane"):
        trajectory = mbvi.simulate(mbvi.load(models / f"{name}.yaml"), duration=1)
        painter = painter_of(trajectory)
        pixels = seen(painter, painter.scene.extent)
        assert (pixels > 0).all() and (pixels < SIZE).all()
        assert np.ptp(pixels, axis=0)[0] > 0.8 * SIZE[0] or np.ptp(pixels, axis=0)[1] > 0.7 * SIZE[1]


def test_what_is_behind_is_hidden_and_what_is_below_lies_in_shadow():
    """A plate between camera and ball hides it; on the floor below it is dark, beside it is not."""
    wide = mbvi.Body(shapes=[mbvi.model.Box(size=(1, 1, 0.02), mass=1)])
    small = mbvi.Body(shapes=[mbvi.model.Sphere(radius=0.1, mass=1)])
    joints = {
        "a": mbvi.Prismatic(parent="world", child="plate", axis=(0, 0, 1), position=(0, 0, 1)),
        "b": mbvi.Free(parent="world", child="ball"),
    }
    model = mbvi.Model(name="plate", bodies={"plate": wide, "ball": small}, joints=joints)
    painter = painter_of(mbvi.simulate(model, step=0.001, duration=0.02))
    before = orange(painter.paint(0)).sum()
    painter.matrices[1] = painter.matrices[1].copy()
    down = np.array([0, 0, 1.0]) - 0.3 * painter.scene.view  # below the plate, on the camera's line of sight
    painter.matrices[1][:, :, 3] = down
    assert before > 20 and orange(painter.paint(0)).sum() == 0
    ray = painter.sun[2].astype(float)
    light = ray * (painter.scene.floor - 1) / ray[2]
    under = light + np.array([0, 0, 1])  # where the light past the plate's middle would meet the floor
    beside = under + np.array([0.8, 0.8, 0])
    picture = painter.paint(0).astype(float).sum(axis=2)
    bright = painter.to_srgb[(4095 * painter.background).astype(int)].astype(float).sum(axis=2)
    for place, is_dark in ((under, True), (beside, False)):
        ((x, y),) = seen(painter, place[None]).astype(int)
        assert (picture[y, x] < 0.9 * bright[y, x]) == is_dark


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # imageio-ffmpeg leaves pipes to the collector
def test_an_mp4_has_its_size_length_and_rate(double_pendulum, tmp_path):
    calls = []
    path = mbvi.animate(double_pendulum, tmp_path / "a.mp4", speed=4, progress=lambda *each: calls.append(each))
    reader = imageio_ffmpeg.read_frames(str(path))
    about = next(reader)
    assert (about["size"], about["fps"], about["codec"]) == ((1920, 1080), 30.0, "h264")
    frames = [np.frombuffer(frame, np.uint8).reshape(1080, 1920, 3) for frame in reader]
    about = next(imageio_ffmpeg.read_frames(str(mbvi.animate(double_pendulum, tmp_path / "b.mp4", speed=4, rate=60))))
    assert (about["fps"], round(60 * about["duration"])) == (60.0, 9)
    assert len(frames) == 5  # 0.5 s at fourfold speed, and the first
    assert calls == [(i, 5) for i in range(1, 6)]
    assert frames[0].std() > 5 and np.abs(frames[0].astype(int) - frames[-1]).max() > 50


def test_an_encoder_that_stops_leaves_no_file(double_pendulum, tmp_path, monkeypatch):
    """As on a full disk: here after one picture."""
    monkeypatch.setattr(video, "pictures", lambda scene, size: iter([np.zeros((1080, 1920, 3), np.uint8)]))
    with pytest.raises(
        mbvi.ModelError, match=r"a.mp4: expected a file that can be written, found an encoder that stopped"
    ):
        mbvi.animate(double_pendulum, tmp_path / "a.mp4", speed=4)
    assert not list(tmp_path.iterdir())


def test_small_bodies_of_a_gif_keep_their_colour(tmp_path):
    """A vermilion ball beside a large yellow box, which has more shades of a colour that is near."""
    sizes = {"post": 0.02, "box": 0.8, "peg": 0.02}
    bodies = {name: mbvi.Body(shapes=[mbvi.model.Box(size=(size,) * 3, mass=1)]) for name, size in sizes.items()} | {
        "ball": mbvi.Body(shapes=[mbvi.model.Sphere(radius=0.05, mass=1)])
    }
    joints = {
        name: mbvi.Prismatic(parent="world", child=name, axis=(0, 0, 1), position=(0.7 * i, 0, 0))
        for i, name in enumerate(bodies)
    }
    run = mbvi.simulate(mbvi.Model(name="still", bodies=bodies, joints=joints), step=0.01, duration=0.2)
    scene = make_scene(run.system, pictures(run, 1.0), [])
    drawn = video.Painter(scene, gif.SIZE).paint(0)
    with Image.open(mbvi.animate(run, tmp_path / "a.gif", speed=1)) as image:
        hue, saturation, _ = rgb_to_hsv(drawn / 255).transpose(2, 0, 1)
        kept = rgb_to_hsv(np.array(image.convert("RGB")) / 255)[..., 0]
    is_ball = (abs(hue - 26 / 360) < 6 / 360) & (saturation > 0.5)
    assert is_ball.sum() > 100
    assert abs(kept - hue)[is_ball].max() < 8 / 360  # the box is 15 degrees away


def test_a_gif_has_its_pictures(double_pendulum, tmp_path):
    with Image.open(mbvi.animate(double_pendulum, tmp_path / "a.gif", speed=1)) as image:
        assert (image.size, image.n_frames, image.info["duration"], image.info["loop"]) == ((640, 360), 14, 40, 0)
        first = np.array(image.convert("RGB"), dtype=int)
        image.seek(13)
        assert np.abs(np.array(image.convert("RGB"), dtype=int) - first).max() > 50


def test_a_rate_is_a_whole_number_and_of_a_video(double_pendulum, tmp_path):
    message = "rate: expected whole pictures per second, from 1 to 240, found "
    for rate in (0, 241, 29.97, "30"):
        with pytest.raises(mbvi.ModelError, match=message):
            mbvi.animate(double_pendulum, tmp_path / "a.mp4", rate=rate)
    with pytest.raises(mbvi.ModelError, match=r"rate: expected none but of an .mp4, found 50 of a.gif; leave it out"):
        mbvi.animate(double_pendulum, tmp_path / "a.gif", rate=50)


def test_a_picture_does_not_depend_on_those_before(double_pendulum):
    """What was drawn before lies in the painter's buffers."""
    painter = painter_of(double_pendulum, None)
    before = painter.paint(25)
    painter.paint(0)
    assert np.array_equal(painter.paint(25), before) and np.array_equal(painter.twin().paint(25), before)
    assert np.abs(painter.paint(0).astype(int) - before).max() > 50


def test_what_stands_still_in_a_picture_is_the_same_in_all(double_pendulum):
    """The floor and what is behind it, besides bodies, shadows and letters: in more than two thirds of the picture."""
    painter = painter_of(double_pendulum, [])
    for number in (0, 25):
        changed = (painter.paint(number) != painter.plain).any(axis=2)
        assert 0.005 < changed.mean() < 0.3


def test_pictures_come_in_order(double_pendulum):
    scene = make_scene(double_pendulum.system, pictures(double_pendulum, 1.0, 20), [])
    painter = video.Painter(scene, SIZE)
    for number, picture in enumerate(video.pictures(scene, SIZE)):
        assert np.array_equal(picture, painter.paint(number))
    assert number == len(scene.motion.t) - 1
