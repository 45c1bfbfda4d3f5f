"""A GIF in 256 colours, those of a few of its pictures, which are the same in all, so that what stands still costs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mbvi.animation.format import Format, Show
from mbvi.animation.scene import Scene
from mbvi.animation.video import Painter, drawn
from mbvi.results.output import replace_file

Array = np.ndarray
SIZE = 640, 360
SMALL = 96
"""How many of the colours are for what is small."""


def write(show: Show, path: Path) -> None:
    """Write a GIF."""
    scene, shown = drawn(show, SIZE)
    replace_file(path, lambda part: _encode(shown, part, scene, show.rate))


def _encode(shown: Iterator[Array], path: Path, scene: Scene, rate: int) -> None:
    """Encode pictures (H, W, 3) of a scene."""
    from PIL import Image

    rows = np.unique(np.linspace(0, len(scene.motion.t) - 1, 6).round().astype(int))
    painter = Painter(scene, SIZE)
    palette = _palette(np.concatenate([painter.paint(int(row)) for row in rows]))
    images = (Image.fromarray(picture).quantize(palette=palette, dither=Image.Dither.NONE) for picture in shown)
    next(images).save(path, save_all=True, append_images=images, duration=round(1000 / rate), loop=0)


def _palette(shown: Array) -> Any:
    """An image with 256 colours of a picture (H, W, 3): most by how often they are there, the others for what is small in it."""
    from PIL import Image

    places = np.array([16, 8, 0])
    each = np.unique((shown & 0xFC | 2).reshape(-1, 3) @ (1 << places))  # every colour once, to six bits
    small = (each[:, None] >> places & 0xFF).astype(np.uint8)
    colours: list[int] = []
    for part, count in ((shown, 256 - SMALL), (small[None], SMALL)):
        colours += (Image.fromarray(part).quantize(count).getpalette() or [])[: 3 * count]
    image = Image.new("P", (1, 1))
    image.putpalette(colours)
    return image


FORMAT = Format(write, 25)
