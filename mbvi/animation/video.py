"""A scene as a video, drawn on the processor, so that neither a display nor a graphics card is needed."""

from __future__ import annotations

import copy
import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mbvi.animation import raster
from mbvi.animation.format import Progress, Show
from mbvi.animation.geometry import linear_rgb
from mbvi.animation.motion import pictures as picture_times
from mbvi.animation.scene import Scene, make_scene
from mbvi.errors import ModelError
from mbvi.pictures import style

Array = np.ndarray
FIELD = np.radians(28)
"""Angle of view from the lower to the upper edge."""
SHADOWS = 2048
TAIL = 480
TAIL_SECONDS = 4.0
TITLE, MARGIN = 0.036, 0.035
"""Heights of letters and width of margins, in the height of the picture."""
CENTER, MIDDLE, EDGE = "#FFFFFF", "#EEF2F6", "#D5DDE6"
LINES = "#56667A"


def check_encoder() -> None:
    """Whether the libraries for videos are there.

    Raises
    ------
    ModelError
        If one is missing.
    """
    try:
        import imageio_ffmpeg  # noqa: F401
        import matplotlib  # noqa: F401
        import PIL.ImageDraw  # noqa: F401
    except ImportError as error:
        remedy = "install it with: pip install 'mbvi[viz]'"
        raise ModelError(f"animate: expected {error.name} for a video, found none; {remedy}") from None


def drawn(show: Show, size: tuple[int, int]) -> tuple[Scene, Iterator[Array]]:
    """The scene of a show, and its pictures (H, W, 3) in their order.

    Raises
    ------
    ModelError
        If a library is missing.
    """
    check_encoder()
    times = picture_times(show.trajectory, show.speed, show.rate)
    scene = make_scene(show.trajectory.system, times, show.trails, show.triangles)
    return scene, _counted(pictures(scene, size), len(scene.motion.t), show.progress)


def _counted(shown: Iterator[Array], count: int, progress: Progress | None) -> Iterator[Array]:
    for done, picture in enumerate(shown, 1):
        yield picture
        if progress:
            progress(done, count)


def pictures(scene: Scene, size: tuple[int, int]) -> Iterator[Array]:
    """The pictures (H, W, 3) of a scene at its motion's times, in order, drawn by as many threads as there are cores."""
    painter = Painter(scene, size)
    painters = [painter, *(painter.twin() for _ in range(min(os.cpu_count() or 1, 8) - 1))]
    with ThreadPoolExecutor(len(painters)) as threads:
        running: deque[Future[Array]] = deque()
        for number in range(len(scene.motion.t)):
            first = running.popleft().result() if len(running) == len(painters) else None
            running.append(threads.submit(painters[number % len(painters)].paint, number))
            if first is not None:  # while it is encoded, its painter draws the next
                yield first
        for each in running:
            yield each.result()


class Samples(NamedTuple):
    """The depth (H, W) and the triangle (H, W) in every sample of a picture, and the first and last with one in each row (H,).

    They are those of `raster.fill_nearest`.
    """

    depth: Array
    nearest: Array
    first: Array
    last: Array


def _no_samples(width: int, height: int) -> Samples:
    """Without a triangle."""
    empty = np.full(height, width, np.int32), np.full(height, -1, np.int32)
    return Samples(np.full((height, width), -np.inf, np.float32), np.full((height, width), -1, np.int32), *empty)


class Painter:
    """Draws pictures of a scene, one at a time."""

    def __init__(self, scene: Scene, size: tuple[int, int]) -> None:
        from scipy.interpolate import CubicSpline

        self.scene, self.size = scene, size
        self.camera, self.focus = _camera(scene, size)
        self._collect()
        self.sun, self.bias = _sun(scene)
        self.background = _background(scene, self.camera, self.focus / raster.SAMPLES, size)
        self.to_srgb = _srgb(np.linspace(0, 1, 4096))
        self.plain = self.to_srgb[np.minimum(4095, (4095 * self.background).astype(int))]
        self.ground = self._make_ground()
        self.letters = _letters(scene, size)
        self.ways = [CubicSpline(np.arange(len(trail.places)), trail.places) for trail in scene.trails]
        self._make_buffers()

    def twin(self) -> Painter:
        """Another one of the same scene, for another thread."""
        painter = copy.copy(self)
        painter._make_buffers()
        return painter

    def paint(self, number: int) -> Array:
        """The picture (H, W, 3) with this number, bytes in sRGB."""
        still = len(self.vertices) - self.tail_vertices
        matrices = np.array([matrix[min(number, len(matrix) - 1)] for matrix in self.matrices], np.float32)
        raster.fill_world(self.world, self.turned, self.vertices, self.normals, self.owners, matrices)
        self.world[still:] = self._tails(number)
        width, height = (raster.SAMPLES * edge for edge in self.size)
        raster.fill_screen(self.screen, self.world, self.sun, 0.0, SHADOWS, SHADOWS)
        raster.fill_nearest(*self.shadows, self.screen, self.faces[: self.casters], False)
        raster.fill_screen(self.screen, self.world, self.camera, self.focus, width, height)
        raster.fill_nearest(*self.samples, self.screen, self.faces, True)
        picture = self.plain.copy()
        raster.fill_picture(
            picture,
            self.background,
            *self.ground,
            *self.samples[1:],
            self.screen,
            self.world,
            self.turned,
            self.colors,
            self.faces,
            self.shadows.depth,
            self.shadows.first,
            self.shadows.last,
            self.camera,
            self.sun,
            self.scene.up.astype(np.float32),
            self.bias,
            self.to_srgb,
        )
        self._write(picture, float(self.scene.motion.t[number]))
        return picture

    def _make_ground(self) -> tuple[Array, Array]:
        """Where the floor lies in the sun's picture, see `raster.fill_ground`; nowhere, if there is none."""
        width, height = self.size
        places, limits = np.full((height, width, 2), -1, np.int32), np.zeros((height, width), np.float32)
        if self.scene.floor is not None:
            up, floor = self.scene.up.astype(np.float32), np.float32(self.scene.floor)
            focus = self.focus / np.float32(raster.SAMPLES)
            raster.fill_ground(places, limits, self.camera, focus, self.sun, up, floor, self.bias, SHADOWS)
        return places, limits

    def _make_buffers(self) -> None:
        self.samples = _no_samples(self.size[0] * raster.SAMPLES, self.size[1] * raster.SAMPLES)
        self.shadows = _no_samples(SHADOWS, SHADOWS)
        self.world, self.screen, self.turned = (np.empty_like(self.vertices) for _ in range(3))

    def _collect(self) -> None:
        """All triangles in one, with the thing that each vertex belongs to; trails, which are ribbons, come last."""
        things, trails = self.scene.things, self.scene.trails
        vertices, normals, colors, faces, owners, matrices = [], [], [], [], [], []
        start = 0
        for number, thing in enumerate(things):
            look = thing.geometry
            vertices.append(look.vertices)
            normals.append(look.normals)
            colors.append(look.tones * linear_rgb(thing.color))
            faces.append(look.faces + start)
            owners.append(np.full(len(look.vertices), number))
            matrices.append(np.concatenate([thing.rotations(), thing.places[:, :, None]], axis=2).astype(np.float32))
            start += len(look.vertices)
        self.casters = sum(len(each) for each in faces)
        self.tail_vertices = 2 * (TAIL + 1) * len(trails)
        pale = linear_rgb(MIDDLE)
        for trail in trails:
            mix = np.repeat(np.linspace(0, 1, TAIL + 1), 2)[:, None]
            colors.append(pale + mix * (linear_rgb(trail.color) - pale))
            vertices.append(np.zeros((2 * (TAIL + 1), 3)))
            normals.append(np.zeros((2 * (TAIL + 1), 3)))
            owners.append(np.zeros(2 * (TAIL + 1)))
            corners = np.array([[0, 1, 2], [1, 3, 2]])
            faces.append((start + 2 * np.arange(TAIL)[:, None, None] + corners).reshape(-1, 3))
            start += 2 * (TAIL + 1)
        self.vertices, self.normals, self.colors = (
            np.concatenate(each).astype(np.float32) for each in (vertices, normals, colors)
        )
        self.faces, self.owners = (np.concatenate(each).astype(np.int32) for each in (faces, owners))
        self.matrices = matrices

    def _tails(self, number: int) -> Array:
        """Corners of the ribbons of the trails, of the same width everywhere in the picture."""
        motion = self.scene.motion
        step = (motion.t[1] - motion.t[0]) / motion.speed
        at = np.maximum(number - np.arange(TAIL, -1, -1) * TAIL_SECONDS / step / TAIL, 0)
        corners = []
        for way in self.ways:
            places = way(at)
            offset = places - self.camera[3]
            depth = offset @ self.camera[2]
            flat = np.gradient(offset @ self.camera[:2].T / depth[:, None], axis=0)
            length = np.linalg.norm(flat, axis=1, keepdims=True)
            across = np.where(length > 1e-12, flat / np.where(length > 1e-12, length, 1), [1.0, 0.0]) @ [
                [0, 1],
                [-1, 0],
            ]
            half = max(0.0014 * self.size[1], 0.8) * raster.SAMPLES / self.focus * depth[:, None]
            sideways = half * (across @ self.camera[:2])
            corners.append(np.stack([places - sideways, places + sideways], axis=1).reshape(-1, 3))
        return np.concatenate(corners) if corners else np.zeros((0, 3))

    def _write(self, picture: Array, time: float) -> None:
        """Write the title and the time into the picture, at its upper edge."""
        from PIL import Image, ImageDraw

        letters, margin = self.letters, int(MARGIN * self.size[1])
        edge = picture[: int((MARGIN + 2 * TITLE) * self.size[1])]
        image = Image.fromarray(edge)
        draw = ImageDraw.Draw(image)
        now = f"{time:.2f} s"
        room = self.size[0] - 3 * margin - letters[1].getlength(now)
        title = style.fitted(self.scene.name, room, letters[0].getlength)
        draw.text((margin, margin), title, font=letters[0], fill="#1C2733")
        draw.text((self.size[0] - margin, margin), now, font=letters[1], fill="#5B6876", anchor="ra")
        edge[:] = np.asarray(image)


def _letters(scene: Scene, size: tuple[int, int]) -> tuple[Any, Any]:
    """Fonts of the title and of the time: those that matplotlib brings along, or one of the system if they lack letters."""
    from matplotlib import get_data_path
    from PIL import ImageFont

    folder = Path(get_data_path()) / "fonts" / "ttf"
    height = TITLE * size[1]
    return (
        ImageFont.truetype(style.font_with(scene.name) or str(folder / "DejaVuSans-Bold.ttf"), height),
        ImageFont.truetype(str(folder / "DejaVuSans.ttf"), 0.85 * height),
    )


# --------------------------------------------------------------------------------------------- camera and light


def _axes(view: Array, up: Array) -> Array:
    """Right, up and forward axes (3, 3) of a camera that is seen in the direction `view`."""
    right = np.cross(up, view)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(view, right), -view])


def _camera(scene: Scene, size: tuple[int, int]) -> tuple[Array, np.float32]:
    """Axes and place (4, 3) of a camera that has everything in view at all times, and f in samples."""
    axes = _axes(scene.view, scene.up)
    high = np.tan(FIELD / 2)
    limits = 0.92 * high * size[0] / size[1], 0.84 * high
    target, distance = scene.extent.mean(axis=0), 0.0
    for turn in range(6):  # the aim and the distance follow from each other
        x, y, z = ((scene.extent - target) @ axes.T).T
        distance = float(max((np.abs(x) / limits[0] - z).max(), (np.abs(y) / limits[1] - z).max()))
        if turn < 5:
            seen = np.stack([x, y]) / (distance + z)
            middle = (seen.min(axis=1) + seen.max(axis=1)) / 2 * distance
            target = target + middle @ axes[:2]
    target = target + 0.04 * distance * high * axes[1]
    place = target + distance * scene.view
    focus = size[1] * raster.SAMPLES / 2 / high
    return np.vstack([axes, place]).astype(np.float32), np.float32(focus)


def _sun(scene: Scene) -> tuple[Array, np.float32]:
    """Axes and place (4, 3) of the sun, the first two scaled to samples of its picture, and the depth that counts as equal."""
    low, high = scene.extent.min(axis=0), scene.extent.max(axis=0)
    center, radius = (low + high) / 2, float(np.linalg.norm(high - low)) / 2
    right = np.cross(scene.up, scene.view)
    towards = 2.2 * scene.up + 1.3 * scene.view - 0.9 * right / np.linalg.norm(right)
    towards /= np.linalg.norm(towards)
    axes = _axes(towards, right)
    axes[:2] *= SHADOWS / (2.1 * radius)
    return np.vstack([axes, center + 3 * radius * towards]).astype(np.float32), np.float32(0.004 * radius)


def _srgb(linear: Array) -> Array:
    """Bytes of linear values from 0 to 1."""
    value = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.maximum(linear, 1e-9) ** (1 / 2.4) - 0.055)
    return np.round(255 * value).astype(np.uint8)


def _background(scene: Scene, camera: Array, focus: np.floating, size: tuple[int, int]) -> Array:
    """A gradient (H, W, 3), linear, and the grid of the floor, which fades away."""
    width, height = size
    x, y = np.arange(width) + 0.5, np.arange(height)[:, None] + 0.5
    off = np.hypot((x / width - 0.5) / 0.5, (y / height - 0.35) / 0.65) / np.sqrt(2)
    stops = np.array([linear_rgb(color) for color in (CENTER, MIDDLE, EDGE)])
    behind = np.stack([np.interp(off, [0, 0.55, 1], channel) for channel in stops.T], axis=-1)
    if scene.floor is not None:
        rays = (
            camera[2]
            + ((x - width / 2) / focus)[..., None] * camera[0]
            + ((height / 2 - y) / focus)[..., None] * camera[1]
        )
        behind += _grid(scene, camera, rays)[..., None] * (linear_rgb(LINES) - behind)
    return behind.astype(np.float32)


def _grid(scene: Scene, camera: Array, rays: Array) -> Array:
    """How much (H, W) of each pixel is line, where its ray (H, W, 3) meets the floor."""
    low, high = scene.extent.min(axis=0), scene.extent.max(axis=0)
    radius = float(np.linalg.norm(high - low)) / 2
    fall = -rays @ scene.up
    distance = np.where(fall > 1e-6, (camera[3] @ scene.up - scene.floor) / np.maximum(fall, 1e-6), np.inf)
    helper = np.eye(3)[np.argmin(np.abs(scene.up))]
    first = np.cross(scene.up, helper)
    first /= np.linalg.norm(first)
    with np.errstate(invalid="ignore", over="ignore"):
        points = camera[3] + distance[..., None] * rays - (low + high) / 2
        plane = points @ np.stack([first, np.cross(scene.up, first)], axis=1)
        fade = 1 - np.clip((np.linalg.norm(plane, axis=-1) / (3.2 * radius) - 0.15) / 0.85, 0, 1)
        widths = np.hypot(*np.gradient(plane, axis=(0, 1)))
        cell = _round_step(radius / 2.5)
        amount = np.maximum(0.34 * _lines(plane, widths, cell), 0.13 * _lines(plane, widths, cell / 5))
        return np.nan_to_num(np.where(np.isfinite(distance), fade**2 * (3 - 2 * fade) * fade * amount, 0))


def _lines(plane: Array, widths: Array, cell: float) -> Array:
    """1 on the lines of a square grid, 0 a pixel away."""
    off = np.abs((plane / cell - 0.5) % 1 - 0.5) * cell / np.maximum(widths, 1e-12)
    return 1 - np.minimum(off.min(axis=-1), 1)


def _round_step(x: float) -> float:
    """A step of 1, 2 or 5 times a power of ten that is at most x."""
    unit = 10 ** np.floor(np.log10(x))
    return float(unit * max(m for m in (1, 2, 5) if m * unit <= x))
