"""Forces as things of a scene: arrows that turn and grow, and have no size while nothing acts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbvi.animation import geometry
from mbvi.animation.curves import Arrow, lengths_of, usual_length
from mbvi.animation.scene import Carried, Thing, quaternions_of

COLOR = "#C2185B"
WIDTH, LENGTH, LONGEST = 0.0045, 0.25, 1.0
"""Radius of a shaft, length of an arrow of the usual force, and of the longest, in the size of a scene."""


def force_things(arrows: Sequence[Arrow], size: float) -> list[Thing]:
    """Arrows of forces in all frames of a scene, of which the size is given [m], named after what exerts them."""
    usual, look = max(map(usual_length, arrows), default=0.0), geometry.arrow()
    return [_thing(each, LENGTH * size / usual, size, look) for each in arrows if usual > 0]


def _thing(arrow: Arrow, scale: float, size: float, look: geometry.Geometry) -> Thing:
    lengths = np.minimum(lengths_of(arrow) * scale, LONGEST * size)
    widths = np.where(lengths > 0, WIDTH * size, 0.0)
    acts = np.flatnonzero(lengths > 0)
    last = acts[np.maximum(np.searchsorted(acts, np.arange(len(lengths)), side="right") - 1, 0)] if len(acts) else 0
    turned = quaternions_of(geometry.directions(np.nan_to_num(arrow.vectors)[last].reshape(-1, 3)))
    scales = np.stack([widths, widths, lengths], axis=1)
    return Thing(f"force of {arrow.name}", "force", look, COLOR, arrow.places, turned, scales, Carried("world"))
