"""A video in H.264 of high quality, which all browsers and players know."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from mbvi.animation.format import Format, Show
from mbvi.animation.video import drawn
from mbvi.results.output import replace_file

Array = np.ndarray
SIZE = 1920, 1080


def write(show: Show, path: Path) -> None:
    """Write a video, of as many pictures per second as are asked for."""
    scene, shown = drawn(show, SIZE)
    replace_file(path, lambda part: _encode(shown, part, len(scene.motion.t), show.rate))


def _encode(shown: Iterator[Array], path: Path, count: int, rate: int) -> None:
    """Encode `count` pictures (H, W, 3)."""
    import imageio_ffmpeg

    options = ["-crf", "18", "-preset", "veryfast", "-movflags", "+faststart"]
    coding = {"codec": "libx264", "pix_fmt_out": "yuv420p", "quality": None, "output_params": options}
    writer = imageio_ffmpeg.write_frames(
        str(path), SIZE, fps=rate, macro_block_size=1, ffmpeg_log_level="quiet", **coding
    )
    writer.send(None)
    try:
        with suppress(OSError):  # whose text is the encoder's command line; what is missing is seen below
            for picture in shown:
                writer.send(picture)
    finally:
        writer.close()
    if _pictures_in(path) != count:
        raise OSError("an encoder that stopped, as on a full disk")


def _pictures_in(path: Path) -> int:
    """How many pictures a video has, 0 if it is none."""
    import imageio_ffmpeg

    try:
        return int(imageio_ffmpeg.count_frames_and_secs(str(path))[0])
    except (OSError, RuntimeError):
        return 0


FORMAT = Format(write, 30, has_other_rates=True)
